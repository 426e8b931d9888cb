#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "spheretree/mesh.h"

#define PI 3.141592653589793

static sac_mesh *make(const float (*vertices)[3], uint32_t vertex_count, const uint32_t (*triangles)[3],
                      uint32_t triangle_count)
{
    sac_mesh *mesh = NULL;
    sac_error error;
    assert_int_equal(
        sac_mesh_create(vertices, vertex_count, triangles, triangle_count, "test", &mesh, &error), SAC_OK);
    return mesh;
}

static sac_mesh *builtin(const char *name, uint32_t triangles)
{
    sac_mesh *mesh = NULL;
    sac_error error;
    if (sac_mesh_builtin(name, triangles, &mesh, &error) != SAC_OK)
        fail_msg("%s %u: %s", name, triangles, error.message);
    return mesh;
}

static sac_mesh_report repair(sac_mesh *mesh)
{
    sac_mesh_report report;
    sac_error error;
    assert_int_equal(sac_mesh_repair(mesh, &report, &error), SAC_OK);
    return report;
}

static double doubled_area(const sac_mesh *mesh, uint32_t t)
{
    const float *a = mesh->vertices[mesh->triangles[t][0]], *b = mesh->vertices[mesh->triangles[t][1]],
                *c = mesh->vertices[mesh->triangles[t][2]];
    double u[3], v[3];
    for (int i = 0; i < 3; i++) u[i] = (double)b[i] - a[i], v[i] = (double)c[i] - a[i];
    double x = u[1] * v[2] - u[2] * v[1], y = u[2] * v[0] - u[0] * v[2], z = u[0] * v[1] - u[1] * v[0];
    return sqrt(x * x + y * y + z * z);
}

static void turn(sac_mesh *mesh, uint32_t t)
{
    uint32_t corner = mesh->triangles[t][0];
    mesh->triangles[t][0] = mesh->triangles[t][1];
    mesh->triangles[t][1] = corner;
}

/* ---- create ---- */

static const float corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const uint32_t tetrahedron[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};

static void create_checks_its_arguments(void **state)
{
    (void)state;
    sac_mesh *mesh = NULL;
    sac_error error;
    uint32_t bad[1][3] = {{0, 1, 4}};
    assert_int_equal(sac_mesh_create(corners, 4, bad, 1, NULL, &mesh, &error), SAC_ERROR_ARGUMENT);
    assert_null(mesh);
    assert_int_equal(sac_mesh_create(corners, 4, tetrahedron, 0, NULL, &mesh, &error), SAC_ERROR_EMPTY);
    assert_int_equal(sac_mesh_create(NULL, 4, tetrahedron, 4, NULL, &mesh, &error), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_mesh_create(corners, 4, tetrahedron, SAC_MESH_MOST_TRIANGLES + 1, NULL, &mesh, NULL),
                     SAC_ERROR_LIMIT);
    const float values[] = {NAN, INFINITY, -INFINITY, 2e12f};
    for (int i = 0; i < 4; i++) {
        float points[4][3];
        memcpy(points, corners, sizeof points);
        points[3][1] = values[i];
        assert_int_equal(sac_mesh_create((const float(*)[3])points, 4, tetrahedron, 4, NULL, &mesh, &error),
                         i < 3 ? SAC_ERROR_ARGUMENT : SAC_ERROR_LIMIT);
        assert_null(mesh);
        assert_true(error.remedy[0]);
    }
    char name[200];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = 0;
    assert_int_equal(sac_mesh_create(corners, 4, tetrahedron, 4, name, &mesh, NULL), SAC_OK);
    assert_int_equal(strlen(mesh->name), sizeof mesh->name - 1);
    sac_mesh_destroy(&mesh);
    assert_null(mesh);
    sac_mesh_destroy(&mesh);
    sac_mesh_destroy(NULL);
}

/* ---- built-in shapes ---- */

static void check_same_again(const char *name, uint32_t triangles)
{
    sac_mesh *mesh = builtin(name, triangles), *again = builtin(name, triangles);
    assert_int_equal(mesh->vertex_count, again->vertex_count);
    assert_int_equal(mesh->triangle_count, again->triangle_count);
    assert_memory_equal(mesh->vertices, again->vertices, mesh->vertex_count * sizeof *mesh->vertices);
    assert_memory_equal(mesh->triangles, again->triangles, mesh->triangle_count * sizeof *mesh->triangles);
    assert_string_equal(mesh->name, name);
    sac_mesh_destroy(&again);
    sac_mesh_destroy(&mesh);
}

static void check_builtin(const char *name, uint32_t triangles)
{
    sac_mesh *mesh = builtin(name, triangles);
    double ratio = (double)mesh->triangle_count / triangles;
    if (triangles >= 200 && (ratio > 1.6 || ratio < 1 / 1.6))
        fail_msg("%s: %u triangles asked, %u made", name, triangles, mesh->triangle_count);
    sac_box box = sac_box_empty();
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        assert_true(sac_vec3_is_finite(mesh->vertices[v]));
        sac_box_add(&box, mesh->vertices[v]);
    }
    float extent = 0;
    for (int i = 0; i < 3; i++) extent = fmaxf(extent, box.high[i] - box.low[i]);
    assert_float_equal(extent, 1, 1e-5);

    /* About square triangles: area of none is thousands of times under the mean. */
    double area = 0, smallest = INFINITY;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        double a = doubled_area(mesh, t);
        area += a;
        smallest = fmin(smallest, a);
    }
    if (smallest * mesh->triangle_count < 0.01 * area)
        fail_msg("%s %u: a triangle of %g of the mean area", name, triangles,
                 smallest * mesh->triangle_count / area);

    sac_mass mass;
    sac_error error;
    if (sac_mesh_mass(mesh, &mass, &error) != SAC_OK) fail_msg("%s %u: %s", name, triangles, error.message);
    assert_true(mass.volume > 0.01f && mass.volume < 1);
    uint32_t vertices = mesh->vertex_count, count = mesh->triangle_count;
    sac_mesh_report report = repair(mesh), fine = {.closed = true};
    assert_memory_equal(&report, &fine, sizeof report);
    assert_int_equal(vertices, mesh->vertex_count);
    assert_int_equal(count, mesh->triangle_count);
    sac_mesh_destroy(&mesh);
}

static void builtins_are_closed_outward_and_of_the_size_asked(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {4, 200, 700, 2500, 100, 300, 500, 1000, 7000, 20000};
    const char *name;
    for (uint32_t i = 0; (name = sac_mesh_builtin_name(i)); i++) {
        /* The blob is thinned out from the same fine mesh each time, which takes its while. */
        size_t count = strcmp(name, "blob") == 0 ? 4 : sizeof sizes / sizeof *sizes;
        for (size_t k = 0; k < count; k++) check_builtin(name, sizes[k]);
        check_same_again(name, 300);
    }
}

static void builtins_have_the_holes_they_should(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int euler; /* 2 - 2 * holes */
    } shapes[] = {{"torus", 0},  {"knot", 0},  {"l", 2},      {"gear", 0}, {"star", 2},  {"blob", 2},
                  {"spring", 2}, {"table", 2}, {"chair", -2}, {"box", 2},  {"sphere", 2}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (uint32_t triangles = 0; triangles < 3000; triangles = triangles * 2 + 1000) {
            sac_mesh *mesh = builtin(shapes[i].name, triangles);
            assert_int_equal((int)mesh->vertex_count - (int)mesh->triangle_count / 2, shapes[i].euler);
            sac_mesh_destroy(&mesh);
        }
    sac_mesh *fine = builtin("blob", 20000);
    assert_int_equal((int)fine->vertex_count - (int)fine->triangle_count / 2, 2);
    sac_mesh_destroy(&fine);
}

static void unknown_builtins_are_refused(void **state)
{
    (void)state;
    sac_mesh *mesh = NULL;
    sac_error error;
    assert_int_equal(sac_mesh_builtin("teapot", 0, &mesh, &error), SAC_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "teapot"));
    assert_non_null(strstr(error.remedy, "torus"));
    assert_int_equal(sac_mesh_builtin("torus", 4000001, &mesh, &error), SAC_ERROR_ARGUMENT);
    assert_null(mesh);
    assert_null(sac_mesh_builtin_name(1000));
}

/* ---- repair ---- */

static void a_shuffled_soup_is_welded_back(void **state)
{
    (void)state;
    sac_mesh *whole = builtin("knot", 1500);
    uint32_t count = whole->triangle_count;
    float(*points)[3] = malloc(sizeof *points * (3 * count + 2));
    uint32_t(*triangles)[3] = malloc(sizeof *triangles * (count + 3));
    for (uint32_t h = 0; h < 3 * count; h++) {
        memcpy(points[h], whole->vertices[whole->triangles[h / 3][h % 3]], sizeof *points);
        triangles[h / 3][h % 3] = h;
    }
    memset(points[3 * count], 0, 2 * sizeof *points);                   /* two equal vertices nobody uses */
    memcpy(triangles[count], (uint32_t[]){4, 5, 3}, sizeof *triangles); /* triangle 1 again */
    memcpy(triangles[count + 1], (uint32_t[]){6, 7, 7}, sizeof *triangles); /* no area */
    memcpy(triangles[count + 2], (uint32_t[]){8, 7, 6}, sizeof *triangles); /* triangle 2 backwards */
    sac_mesh *mesh =
        make((const float(*)[3])points, 3 * count + 2, (const uint32_t(*)[3])triangles, count + 3);
    sac_mesh_report report = repair(mesh);
    assert_int_equal(report.welded_vertices, 3 * count + 2 - whole->vertex_count - 1);
    assert_int_equal(report.unused_vertices, 1);
    assert_int_equal(report.degenerate_triangles, 1);
    assert_int_equal(report.duplicate_triangles, 2);
    assert_true(report.closed);
    assert_false(report.flipped);
    assert_int_equal(mesh->vertex_count, whole->vertex_count);
    assert_int_equal(mesh->triangle_count, count);
    free(points);
    free(triangles);
    sac_mesh_destroy(&mesh);
    sac_mesh_destroy(&whole);
}

static void minus_zero_is_zero(void **state)
{
    (void)state;
    float points[5][3];
    memcpy(points, corners, sizeof corners);
    for (int i = 0; i < 3; i++) points[4][i] = -0.0f;
    uint32_t triangles[4][3] = {{4, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 4, 3}};
    sac_mesh *mesh = make((const float(*)[3])points, 5, (const uint32_t(*)[3])triangles, 4);
    sac_mesh_report report = repair(mesh);
    assert_int_equal(report.welded_vertices, 1);
    assert_true(report.closed);
    sac_mesh_destroy(&mesh);
}

static void an_inside_out_mesh_is_turned(void **state)
{
    (void)state;
    sac_mesh *mesh = builtin("blob", 800);
    sac_mass before, after;
    assert_int_equal(sac_mesh_mass(mesh, &before, NULL), SAC_OK);
    for (uint32_t t = 0; t < mesh->triangle_count; t++) turn(mesh, t);
    assert_int_equal(sac_mesh_mass(mesh, &after, NULL), SAC_ERROR_ARGUMENT);
    sac_mesh_report report = repair(mesh);
    assert_true(report.closed && report.flipped);
    assert_int_equal(report.turned_triangles, mesh->triangle_count);
    assert_int_equal(sac_mesh_mass(mesh, &after, NULL), SAC_OK);
    assert_float_equal(before.volume, after.volume, 1e-6);
    sac_mesh_destroy(&mesh);
}

static void mixed_directions_are_made_to_agree(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(7);
    for (int share = 1; share < 10; share += 4) {
        sac_mesh *mesh = builtin("gear", 1500);
        sac_mass before, after;
        assert_int_equal(sac_mesh_mass(mesh, &before, NULL), SAC_OK);
        uint32_t turned = 0;
        for (uint32_t t = 0; t < mesh->triangle_count; t++)
            if (sac_rng_below(&rng, 10) < (uint32_t)share) turn(mesh, t), turned++;
        assert_int_equal(sac_mesh_mass(mesh, &after, NULL), SAC_ERROR_OPEN_MESH);
        sac_mesh_report report = repair(mesh);
        assert_true(report.closed);
        assert_false(report.flipped);
        assert_int_equal(report.turned_triangles, turned);
        assert_int_equal(report.nonmanifold_edges, 0);
        assert_int_equal(sac_mesh_mass(mesh, &after, NULL), SAC_OK);
        assert_float_equal(before.volume, after.volume, 1e-6);
        sac_mesh_destroy(&mesh);
    }
}

/* Spheres of these radii around these places, some inside out. */
static sac_mesh *spheres(int count, const float (*places)[4], const bool *inverted)
{
    sac_mesh *one = builtin("sphere", 320);
    uint32_t v = one->vertex_count, t = one->triangle_count;
    float(*points)[3] = malloc(sizeof *points * v * count);
    uint32_t(*triangles)[3] = malloc(sizeof *triangles * t * count);
    for (int s = 0; s < count; s++) {
        for (uint32_t i = 0; i < v; i++)
            for (int k = 0; k < 3; k++)
                points[s * v + i][k] = places[s][k] + 2 * places[s][3] * one->vertices[i][k];
        for (uint32_t i = 0; i < t; i++)
            for (int k = 0; k < 3; k++)
                triangles[s * t + i][k] = s * v + one->triangles[i][inverted[s] ? 2 - k : k];
    }
    sac_mesh *mesh = make((const float(*)[3])points, v * count, (const uint32_t(*)[3])triangles, t * count);
    free(points);
    free(triangles);
    sac_mesh_destroy(&one);
    return mesh;
}

static void parts_are_turned_one_by_one_and_cavities_stay(void **state)
{
    (void)state;
    static const float places[3][4] = {{0, 0, 0, 2}, {0, 0, 0, 1}, {5, 0, 0, 1}};
    double unit = 0;
    for (int mask = 0; mask < 8; mask++) {
        /* A hollow ball and a ball beside it; the mask says which of the three come inside out. */
        bool inverted[3] = {mask & 1, !(mask & 2), mask & 4};
        if (inverted[0] == inverted[1]) continue; /* then nobody can know whether it was a cavity */
        sac_mesh *mesh = spheres(3, places, inverted);
        sac_mesh_report report = repair(mesh);
        sac_mass mass;
        assert_true(report.closed);
        assert_int_equal(sac_mesh_mass(mesh, &mass, NULL), SAC_OK);
        if (unit == 0) unit = mass.volume / 8;
        assert_float_equal(mass.volume, 8 * unit, 1e-3);
        assert_int_equal(report.flipped, inverted[0] && inverted[2]);
        sac_mesh_destroy(&mesh);
    }
}

static void open_and_crowded_edges_are_counted(void **state)
{
    (void)state;
    sac_mesh *mesh = builtin("box", 300);
    mesh->triangles[mesh->triangle_count - 1][0] = mesh->triangles[mesh->triangle_count - 1][1];
    sac_mesh_report report = repair(mesh);
    assert_int_equal(report.degenerate_triangles, 1);
    assert_int_equal(report.boundary_edges, 3);
    assert_false(report.closed);
    sac_error error;
    sac_mass mass;
    assert_int_equal(sac_mesh_mass(mesh, &mass, &error), SAC_ERROR_OPEN_MESH);
    assert_true(error.remedy[0]);
    sac_mesh_destroy(&mesh);

    /* Two tetrahedra on one edge: four triangles there, but inside and outside are clear. */
    static const float points[6][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, -1, 0}, {0, 0, -1}};
    static const uint32_t triangles[8][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3},
                                             {0, 4, 1}, {0, 1, 5}, {1, 4, 5}, {4, 0, 5}};
    mesh = make(points, 6, triangles, 8);
    report = repair(mesh);
    assert_int_equal(report.nonmanifold_edges, 1);
    assert_true(report.closed);
    assert_int_equal(sac_mesh_mass(mesh, &mass, NULL), SAC_OK);
    assert_float_equal(mass.volume, 1.0 / 3, 1e-6);
    sac_mesh_destroy(&mesh);

    /* Three sails on a mast. */
    static const uint32_t sails[3][3] = {{0, 1, 2}, {0, 1, 3}, {1, 0, 4}};
    mesh = make(points, 5, sails, 3);
    report = repair(mesh);
    assert_int_equal(report.nonmanifold_edges, 1);
    assert_int_equal(report.boundary_edges, 6);
    assert_false(report.closed);
    sac_mesh_destroy(&mesh);
}

static void a_klein_bottle_has_no_inside(void **state)
{
    (void)state;
    enum { N = 12 };
    float points[N * N][3];
    uint32_t triangles[2 * N * N][3];
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t j = 0; j < N; j++) {
            double u = 2 * PI * i / N, v = 2 * PI * j / N;
            double r = 2 + cos(u / 2) * sin(v) - sin(u / 2) * sin(2 * v);
            points[i * N + j][0] = (float)(r * cos(u));
            points[i * N + j][1] = (float)(r * sin(u));
            points[i * N + j][2] = (float)(sin(u / 2) * sin(v) + cos(u / 2) * sin(2 * v));
            uint32_t k = (j + 1) % N, next = (i + 1) % N * N;
            uint32_t a = i * N + j, b = i * N + k;
            uint32_t c = next + (i + 1 < N ? k : (N - k) % N), d = next + (i + 1 < N ? j : (N - j) % N);
            memcpy(triangles[2 * a], (uint32_t[]){a, b, c}, sizeof *triangles);
            memcpy(triangles[2 * a + 1], (uint32_t[]){a, c, d}, sizeof *triangles);
        }
    sac_mesh *mesh = make((const float(*)[3])points, N * N, (const uint32_t(*)[3])triangles, 2 * N * N);
    sac_mesh_report report = repair(mesh);
    assert_false(report.closed);
    assert_int_equal(report.boundary_edges, 0);
    assert_int_equal(report.turned_triangles, 0);
    sac_mesh_destroy(&mesh);
}

static void a_flat_triangle_lends_its_edge(void **state)
{
    (void)state;
    /* A box whose top edge 2-3 has three more points on it, filled with triangles that have no area. */
    static const float points[11][3] = {{0, 0, 0}, {4, 0, 0}, {4, 4, 0}, {0, 4, 0}, {0, 0, 4}, {4, 0, 4},
                                        {4, 4, 4}, {0, 4, 4}, {1, 0, 4}, {2, 0, 4}, {3, 0, 4}};
    static const uint32_t triangles[18][3] = {{0, 2, 1}, {0, 3, 2},  {4, 5, 6}, {4, 6, 7},  {1, 2, 6},
                                              {1, 6, 5}, {2, 3, 7},  {2, 7, 6}, {3, 0, 4},  {3, 4, 7},
                                              {0, 8, 4}, {0, 9, 8},  {0, 1, 9}, {1, 10, 9}, {1, 5, 10},
                                              {4, 8, 9}, {4, 9, 10}, {4, 10, 5}};
    sac_mesh *mesh = make(points, 11, triangles, 18);
    sac_mesh_report report = repair(mesh);
    assert_int_equal(report.reshaped_triangles, 3);
    assert_int_equal(report.degenerate_triangles, 0);
    assert_true(report.closed);
    for (uint32_t t = 0; t < mesh->triangle_count; t++) assert_true(doubled_area(mesh, t) > 0);
    sac_mass mass;
    assert_int_equal(sac_mesh_mass(mesh, &mass, NULL), SAC_OK);
    assert_float_equal(mass.volume, 64, 1e-4);
    sac_mesh_destroy(&mesh);
}

static void nothing_left_is_an_error_and_changes_nothing(void **state)
{
    (void)state;
    static const float points[3][3] = {{0, 0, 0}, {1, 1, 1}, {3, 3, 3}};
    static const uint32_t triangles[2][3] = {{0, 1, 2}, {0, 0, 1}};
    sac_mesh *mesh = make(points, 3, triangles, 2);
    sac_error error;
    assert_int_equal(sac_mesh_repair(mesh, NULL, &error), SAC_ERROR_EMPTY);
    assert_int_equal(mesh->triangle_count, 2);
    assert_memory_equal(mesh->triangles, triangles, sizeof triangles);
    sac_mesh_destroy(&mesh);
}

/* Random indices over few points: everything that can be wrong at once, and repair is idempotent. */
static void repair_settles_random_junk(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(99);
    for (int round = 0; round < 400; round++) {
        float points[24][3];
        uint32_t triangles[60][3], vertex_count = 3 + sac_rng_below(&rng, 22),
                                   count = 1 + sac_rng_below(&rng, 60);
        for (uint32_t v = 0; v < vertex_count; v++)
            for (int i = 0; i < 3; i++) points[v][i] = (float)sac_rng_below(&rng, 3);
        for (uint32_t t = 0; t < count; t++)
            for (int i = 0; i < 3; i++) triangles[t][i] = sac_rng_below(&rng, vertex_count);
        sac_mesh *mesh =
            make((const float(*)[3])points, vertex_count, (const uint32_t(*)[3])triangles, count);
        sac_mesh_report first, second;
        if (sac_mesh_repair(mesh, &first, NULL) == SAC_OK) {
            assert_int_equal(first.degenerate_triangles + first.duplicate_triangles + mesh->triangle_count,
                             count);
            assert_int_equal(first.welded_vertices + first.unused_vertices + mesh->vertex_count,
                             vertex_count);
            second = repair(mesh);
            assert_int_equal(second.degenerate_triangles + second.duplicate_triangles +
                                 second.welded_vertices + second.unused_vertices + second.turned_triangles +
                                 second.reshaped_triangles,
                             0);
            assert_int_equal(first.boundary_edges, second.boundary_edges);
            assert_int_equal(first.nonmanifold_edges, second.nonmanifold_edges);
        }
        sac_mesh_destroy(&mesh);
    }
}

/* ---- mass ---- */

/* Rotate, scale per axis first, translate. */
static void place(sac_mesh *mesh, const double scale[3], const sac_transform *t)
{
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        float p[3];
        for (int i = 0; i < 3; i++) p[i] = (float)(mesh->vertices[v][i] * scale[i]);
        sac_transform_point(t, p, mesh->vertices[v]);
    }
}

/* Inertia of the placed body: R diag R^T, in the order of sac_mass. */
static void rotate_diagonal(const double diagonal[3], const sac_transform *t, double out[6])
{
    float rows[3][3];
    sac_transform_rows(t, rows);
    for (int k = 0; k < 6; k++) {
        int i = k % 3, j = k < 3 ? i : (i + 1) % 3;
        out[k] = 0;
        for (int d = 0; d < 3; d++) out[k] += (double)rows[i][d] * diagonal[d] * rows[j][d];
    }
}

static void check_mass(sac_mesh *mesh, const double scale[3], double volume, const double diagonal[3],
                       float offset, double tolerance)
{
    sac_transform t = {
        {offset, -2 * offset, 0.5f * offset}, 1, {0.18257419f, 0.36514837f, 0.54772256f, 0.73029674f}};
    double expected[6];
    place(mesh, scale, &t);
    rotate_diagonal(diagonal, &t, expected);
    sac_mass mass;
    assert_int_equal(sac_mesh_mass(mesh, &mass, NULL), SAC_OK);
    assert_float_equal(mass.volume / volume, 1, tolerance);
    for (int i = 0; i < 3; i++)
        assert_float_equal(mass.centre[i], t.translation[i], tolerance + 1e-7 * fabsf(t.translation[i]));
    double size = fmax(diagonal[0], fmax(diagonal[1], diagonal[2]));
    for (int k = 0; k < 6; k++) assert_float_equal((mass.inertia[k] - expected[k]) / size, 0, tolerance);
    sac_mesh_destroy(&mesh);
}

static void mass_of_a_box_is_exact(void **state)
{
    (void)state;
    /* The built-in is 1 by 0.7 by 0.5; offsets are powers of two that keep float corners exact enough. */
    double scale[3] = {2, 1, 3}, a = 2, b = 0.7, c = 1.5, m = a * b * c;
    double diagonal[3] = {m * (b * b + c * c) / 12, m * (a * a + c * c) / 12, m * (a * a + b * b) / 12};
    check_mass(builtin("box", 12), scale, m, diagonal, 0, 1e-5);
    check_mass(builtin("box", 5000), scale, m, diagonal, 0, 1e-5);
    check_mass(builtin("box", 12), scale, m, diagonal, 128, 1e-4);
    check_mass(builtin("box", 12), scale, m, diagonal, 4096, 2e-3);
}

static void mass_of_a_sphere_and_a_torus_converge(void **state)
{
    (void)state;
    double scale[3] = {2, 2, 2}, m = 4.0 / 3 * PI, i = 0.4 * m;
    check_mass(builtin("sphere", 80000), scale, m, (double[3]){i, i, i}, 0, 3e-4);
    double ellipsoid[3] = {2, 4, 6}; /* half axes 1, 2, 3 */
    m = 4.0 / 3 * PI * 6;
    check_mass(builtin("sphere", 80000), ellipsoid, m, (double[3]){m * 13 / 5, m * 10 / 5, m * 5 / 5}, 16,
               3e-4);
    /* Radii 1 and 1/3, so 8/3 across. */
    double big = 1, tube = 1.0 / 3, whole[3] = {8.0 / 3, 8.0 / 3, 8.0 / 3};
    m = 2 * PI * PI * big * tube * tube;
    double flat = m * (big * big / 2 + 5 * tube * tube / 8), axis = m * (big * big + 3 * tube * tube / 4);
    check_mass(builtin("torus", 100000), whole, m, (double[3]){flat, flat, axis}, 0, 1e-3);
}

static void mass_refuses_what_has_none(void **state)
{
    (void)state;
    sac_error error;
    sac_mass mass;
    sac_transform t = sac_transform_identity();
    sac_mesh *mesh = builtin("box", 300);
    place(mesh, (double[3]){1, 1, 0}, &t);
    assert_int_equal(sac_mesh_mass(mesh, &mass, &error), SAC_ERROR_EMPTY);
    sac_mesh_destroy(&mesh);
    mesh = builtin("box", 300);
    place(mesh, (double[3]){1e11, 1e11, 1e11}, &t);
    assert_int_equal(sac_mesh_mass(mesh, &mass, &error), SAC_ERROR_LIMIT);
    sac_mesh_destroy(&mesh);
    assert_int_equal(sac_mesh_mass(NULL, &mass, &error), SAC_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create_checks_its_arguments),
        cmocka_unit_test(builtins_are_closed_outward_and_of_the_size_asked),
        cmocka_unit_test(builtins_have_the_holes_they_should),
        cmocka_unit_test(unknown_builtins_are_refused),
        cmocka_unit_test(a_shuffled_soup_is_welded_back),
        cmocka_unit_test(minus_zero_is_zero),
        cmocka_unit_test(an_inside_out_mesh_is_turned),
        cmocka_unit_test(mixed_directions_are_made_to_agree),
        cmocka_unit_test(parts_are_turned_one_by_one_and_cavities_stay),
        cmocka_unit_test(open_and_crowded_edges_are_counted),
        cmocka_unit_test(a_klein_bottle_has_no_inside),
        cmocka_unit_test(a_flat_triangle_lends_its_edge),
        cmocka_unit_test(nothing_left_is_an_error_and_changes_nothing),
        cmocka_unit_test(repair_settles_random_junk),
        cmocka_unit_test(mass_of_a_box_is_exact),
        cmocka_unit_test(mass_of_a_sphere_and_a_torus_converge),
        cmocka_unit_test(mass_refuses_what_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
