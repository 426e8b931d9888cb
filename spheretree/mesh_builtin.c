/* The built-in shapes by name, and the soup they are made of. */
#include "spheretree/mesh_internal.h"

static const struct {
    const char *name;
    sac_shape_maker *make;
    uint32_t triangles; /* when the caller leaves the choice */
} shapes[] = {
    {"torus", sac_shape_torus, 2000},   {"knot", sac_shape_knot, 3000},     {"l", sac_shape_l, 800},
    {"gear", sac_shape_gear, 4000},     {"star", sac_shape_star, 1500},     {"blob", sac_shape_blob, 6000},
    {"spring", sac_shape_spring, 4000}, {"table", sac_shape_table, 2000},   {"chair", sac_shape_chair, 2500},
    {"box", sac_shape_box, 300},        {"sphere", sac_shape_sphere, 1280},
};
enum { SHAPE_COUNT = sizeof shapes / sizeof *shapes, MOST_TRIANGLES = 4000000 };

uint32_t sac_soup_add_point(sac_soup *soup, double x, double y, double z)
{
    sac_soup_point point = {{x, y, z}};
    if (soup->failed || !sac_array_push(&soup->points, point)) {
        soup->failed = true;
        return 0;
    }
    return (uint32_t)soup->points.count - 1;
}

void sac_soup_add_triangle(sac_soup *soup, uint32_t a, uint32_t b, uint32_t c)
{
    sac_soup_triangle triangle = {{a, b, c}};
    if (soup->failed || !sac_array_push(&soup->triangles, triangle)) soup->failed = true;
}

static double squared_distance(const sac_soup *soup, uint32_t a, uint32_t b)
{
    const double *p = soup->points.data[a].at, *q = soup->points.data[b].at;
    return (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]);
}

void sac_soup_add_quad(sac_soup *soup, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    if (soup->failed) return;
    /* On a tie rounding must not decide, or a mirror image would be cut otherwise. */
    if (squared_distance(soup, a, c) <= squared_distance(soup, b, d) * (1 + 1e-9)) {
        sac_soup_add_triangle(soup, a, b, c);
        sac_soup_add_triangle(soup, a, c, d);
    } else {
        sac_soup_add_triangle(soup, a, b, d);
        sac_soup_add_triangle(soup, b, c, d);
    }
}

void sac_soup_fini(sac_soup *soup)
{
    sac_array_fini(&soup->points);
    sac_array_fini(&soup->triangles);
}

double sac_shape_size(sac_shape_count *count, const void *shape, uint32_t triangles)
{
    double fine = 1e-4, coarse = 10, best = coarse, best_miss = INFINITY;
    for (int i = 0; i < 60; i++) {
        double size = sqrt(fine * coarse), got = count(shape, size), miss = fabs(log(got / triangles));
        if (miss < best_miss) best_miss = miss, best = size;
        if (got > triangles)
            fine = size;
        else
            coarse = size;
    }
    return best;
}

static void copy_scaled(const sac_soup *soup, sac_mesh *mesh)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, extent = 0;
    for (size_t v = 0; v < soup->points.count; v++)
        for (int i = 0; i < 3; i++) {
            low[i] = fmin(low[i], soup->points.data[v].at[i]);
            high[i] = fmax(high[i], soup->points.data[v].at[i]);
        }
    for (int i = 0; i < 3; i++) extent = fmax(extent, high[i] - low[i]);
    for (size_t v = 0; v < soup->points.count; v++)
        for (int i = 0; i < 3; i++)
            mesh->vertices[v][i] = (float)((soup->points.data[v].at[i] - 0.5 * (low[i] + high[i])) / extent);
    for (size_t t = 0; t < soup->triangles.count; t++)
        memcpy(mesh->triangles[t], soup->triangles.data[t].corners, sizeof *mesh->triangles);
}

sac_result sac_soup_finish(sac_soup *soup, const char *name, sac_mesh **out_mesh, sac_error *error)
{
    *out_mesh = NULL;
    sac_mesh *mesh = NULL;
    sac_mesh_report report;
    sac_result result;
    if (soup->failed || soup->points.count > UINT32_MAX || soup->triangles.count > UINT32_MAX)
        result =
            sac_error_set(error, SAC_ERROR_MEMORY, "ask for fewer triangles", "no memory for the %s", name);
    else
        result = sac_mesh_allocate((uint32_t)soup->points.count, (uint32_t)soup->triangles.count, name, &mesh,
                                   error);
    if (result == SAC_OK) {
        copy_scaled(soup, mesh);
        result = sac_mesh_repair(mesh, &report, error);
        if (result == SAC_OK && (!report.closed || report.nonmanifold_edges))
            result = sac_error_set(error, SAC_ERROR_OPEN_MESH, "ask for another number of triangles",
                                   "the %s did not close: %u open and %u crowded edges", name,
                                   report.boundary_edges, report.nonmanifold_edges);
    }
    sac_soup_fini(soup);
    if (result != SAC_OK)
        sac_mesh_destroy(&mesh);
    else
        *out_mesh = mesh;
    return result;
}

const char *sac_mesh_builtin_name(uint32_t index) { return index < SHAPE_COUNT ? shapes[index].name : NULL; }

sac_result sac_mesh_builtin(const char *name, uint32_t triangles, sac_mesh **out_mesh, sac_error *error)
{
    SAC_NEED(error, out_mesh);
    *out_mesh = NULL;
    SAC_NEED(error, name);
    if (triangles > MOST_TRIANGLES)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "ask for fewer",
                             "%u triangles asked of a built-in mesh, the most is %d", triangles,
                             MOST_TRIANGLES);
    for (size_t i = 0; i < SHAPE_COUNT; i++) {
        if (strcmp(name, shapes[i].name) != 0) continue;
        sac_soup soup = {0};
        shapes[i].make(&soup, triangles ? triangles : shapes[i].triangles);
        return sac_soup_finish(&soup, name, out_mesh, error);
    }
    return sac_error_set(error, SAC_ERROR_ARGUMENT,
                         "use one of torus, knot, l, gear, star, blob, spring, table, chair, box, sphere",
                         "there is no built-in mesh called '%.60s'", name);
}
