/* Terrain of triangles and of heights against brute force over all triangles, and bodies that stand and roll
 * on it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spheretree/meeting.h"
#include "spheretree/terrain_internal.h"
#include "tests/tree_garden.h"

static sac_terrain *knot(void)
{
    sac_mesh *mesh;
    sac_terrain *terrain;
    assert_int_equal(sac_mesh_builtin("knot", 1500, &mesh, NULL), SAC_OK);
    assert_int_equal(sac_terrain_from_mesh(mesh, &terrain, NULL), SAC_OK);
    sac_mesh_destroy(&mesh);
    return terrain;
}

static sac_terrain *hills(sac_rng *rng, uint32_t columns, uint32_t rows, float spacing, float height)
{
    float *posts = malloc((size_t)columns * rows * sizeof *posts);
    for (uint32_t i = 0; i < columns * rows; i++) posts[i] = sac_rng_range(rng, -height, height);
    sac_terrain *terrain;
    assert_int_equal(sac_terrain_from_heights(posts, columns, rows, spacing, &terrain, NULL), SAC_OK);
    free(posts);
    return terrain;
}

/* A flat floor of crooked triangles, `n` by `n` vertices over [-4, 4]. */
static sac_mesh *crooked_floor(sac_rng *rng, uint32_t n, float rise)
{
    float(*vertices)[3] = malloc(sizeof(float[3]) * n * n);
    uint32_t(*triangles)[3] = malloc(sizeof(uint32_t[3]) * (n - 1) * (n - 1) * 2), count = 0;
    float step = 8.0f / (float)(n - 1);
    for (uint32_t z = 0; z < n; z++)
        for (uint32_t x = 0; x < n; x++) {
            float *v = vertices[z * n + x];
            v[0] = -4 + step * (float)x, v[2] = -4 + step * (float)z;
            v[1] = rise * sinf(v[0]) * cosf(v[2]);
            if (x % (n - 1) && z % (n - 1)) {
                v[0] += sac_rng_range(rng, -0.3f, 0.3f) * step;
                v[2] += sac_rng_range(rng, -0.3f, 0.3f) * step;
            }
        }
    for (uint32_t z = 0; z + 1 < n; z++)
        for (uint32_t x = 0; x + 1 < n; x++) {
            uint32_t a = z * n + x, b = a + 1, c = a + n, d = c + 1;
            uint32_t two[2][3] = {{a, c, b}, {d, b, c}};
            memcpy(triangles[count], two, sizeof two);
            count += 2;
        }
    sac_mesh *mesh;
    assert_int_equal(sac_mesh_create((const float(*)[3])vertices, n * n, (const uint32_t(*)[3])triangles,
                                     count, "floor", &mesh, NULL),
                     SAC_OK);
    free(vertices);
    free(triangles);
    return mesh;
}

static uint32_t feature_end(const sac_terrain *t)
{
    return t->posts ? (t->columns - 1) * (t->rows - 1) * 2 : t->source_count;
}

/* Closest point by looking at every triangle. */
static float nearest_of_all(const sac_terrain *t, const float p[3], float *side)
{
    float best = FLT_MAX;
    for (uint32_t f = 0; f < feature_end(t); f++) {
        sac_facet facet;
        float q[3], v[3];
        if (!sac_terrain_facet(t, f, &facet)) continue;
        sac_triangle_closest((const float(*)[3])facet.corner, p, q);
        for (int i = 0; i < 3; i++) v[i] = p[i] - q[i];
        float d = glm_vec3_norm(v);
        if (d < best) best = d, *side = glm_vec3_dot(v, facet.normal);
    }
    return best;
}

static void point_near(sac_rng *rng, const sac_terrain *t, float beyond, float out[3])
{
    sac_box box = sac_terrain_box(t);
    for (int i = 0; i < 3; i++) out[i] = sac_rng_range(rng, box.low[i] - beyond, box.high[i] + beyond);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    float heights[6] = {0, 1, 2, 3, 4, 5};
    sac_terrain *t = (sac_terrain *)heights;
    sac_error error;
    assert_int_equal(sac_terrain_from_heights(heights, 1, 6, 1, &t, NULL), SAC_ERROR_ARGUMENT);
    assert_null(t);
    assert_int_equal(sac_terrain_from_heights(heights, 6, 1, 1, &t, NULL), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_terrain_from_heights(NULL, 3, 2, 1, &t, NULL), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_terrain_from_heights(heights, 65536, 65536, 1, &t, NULL), SAC_ERROR_LIMIT);
    assert_int_equal(sac_terrain_from_heights(heights, 3, 2, 0, &t, NULL), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_terrain_from_heights(heights, 3, 2, NAN, &t, NULL), SAC_ERROR_ARGUMENT);
    heights[4] = NAN;
    assert_int_equal(sac_terrain_from_heights(heights, 3, 2, 1, &t, &error), SAC_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "column 1 of row 1"));
    heights[4] = INFINITY;
    assert_int_equal(sac_terrain_from_heights(heights, 3, 2, 1, &t, NULL), SAC_ERROR_ARGUMENT);

    float vertices[5][3] = {{0, 0, 0}, {1, 0, 0}, {0, 0, -1}, {2, 0, 0}, {1, 0, -1}};
    uint32_t triangles[3][3] = {{0, 1, 3}, {0, 1, 2}, {1, 1, 2}};
    sac_mesh mesh = {.vertices = vertices, .triangles = triangles, .vertex_count = 5, .triangle_count = 3};
    assert_int_equal(sac_terrain_from_mesh(NULL, &t, NULL), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_terrain_from_mesh(&mesh, &t, NULL), SAC_OK);
    sac_facet facet;
    assert_false(sac_terrain_facet(t, 0, &facet)); /* no area */
    assert_true(sac_terrain_facet(t, 1, &facet));
    assert_false(sac_terrain_facet(t, 2, &facet));
    assert_false(sac_terrain_facet(t, 3, &facet));
    assert_true(facet.normal[1] == 1);
    sac_terrain_destroy(&t);
    assert_null(t);
    mesh.triangle_count = 1;
    assert_int_equal(sac_terrain_from_mesh(&mesh, &t, NULL), SAC_ERROR_EMPTY);
    triangles[0][2] = 5;
    assert_int_equal(sac_terrain_from_mesh(&mesh, &t, NULL), SAC_ERROR_ARGUMENT);
    triangles[0][2] = 2;
    vertices[4][1] = NAN;
    assert_int_equal(sac_terrain_from_mesh(&mesh, &t, NULL), SAC_ERROR_ARGUMENT);
    sac_terrain_destroy(&t);
    sac_terrain_destroy(NULL);
}

static void nearest_is_what_brute_force_finds(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(41);
    for (int kind = 0; kind < 4; kind++) {
        sac_terrain *t = kind == 0   ? knot()
                         : kind == 1 ? hills(&rng, 2, 2, 1, 0.3f)
                         : kind == 2 ? hills(&rng, 40, 23, 0.25f, 0.3f)
                                     : hills(&rng, 3, 50, 0.2f, 0.5f);
        for (int i = 0; i < 300; i++) {
            float p[3], closest[3], normal[3], side = 0;
            point_near(&rng, t, 0.7f, p);
            float most = i % 2 ? FLT_MAX : sac_rng_range(&rng, 0, 0.5f);
            float want = nearest_of_all(t, p, &side), got = sac_terrain_nearest(t, p, most, closest, normal);
            if (want > most) {
                /* Below heights it is inside at any depth. */
                assert_true(got == FLT_MAX || (t->posts && got < 0 && fabsf(got + want) < 1e-4f));
                continue;
            }
            assert_true(fabsf(fabsf(got) - want) < 1e-5f);
            assert_true(fabsf(glm_vec3_distance(closest, p) - want) < 1e-5f);
            assert_true(fabsf(glm_vec3_norm(normal) - 1) < 1e-4f);
        }
        sac_terrain_destroy(&t);
    }
}

static void rays_hit_what_brute_force_hits(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(42);
    int hits = 0;
    for (int kind = 0; kind < 3; kind++) {
        sac_terrain *t =
            kind == 0 ? knot() : hills(&rng, kind == 1 ? 33 : 7, kind == 1 ? 18 : 60, 0.2f, 0.2f);
        for (int i = 0; i < 400; i++) {
            float o[3], to[3], d[3], at, normal[3], best = FLT_MAX;
            uint32_t feature;
            point_near(&rng, t, 0.5f, o);
            point_near(&rng, t, 0.1f, to);
            for (int k = 0; k < 3; k++) d[k] = to[k] - o[k];
            if (i % 20 == 0) d[0] = d[2] = 0; /* straight down or up */
            float most = i % 3 ? 2 : 0.7f;
            for (uint32_t f = 0; f < feature_end(t); f++) {
                sac_facet facet;
                if (!sac_terrain_facet(t, f, &facet)) continue;
                /* Plane, then inside by areas. */
                double h = 0, slope = 0, p[3];
                for (int k = 0; k < 3; k++) {
                    h += ((double)o[k] - facet.corner[0][k]) * facet.normal[k];
                    slope += (double)d[k] * facet.normal[k];
                }
                double s = -h / slope;
                if (!(s >= 0 && s <= most)) continue;
                for (int k = 0; k < 3; k++) p[k] = o[k] + s * d[k];
                float q[3], pf[3] = {(float)p[0], (float)p[1], (float)p[2]};
                sac_triangle_closest((const float(*)[3])facet.corner, pf, q);
                if (glm_vec3_distance(q, pf) < 1e-6f) best = fminf(best, (float)s);
            }
            bool hit = sac_terrain_ray(t, o, d, most, &at, normal, &feature);
            if (best == FLT_MAX && !hit) continue;
            hits += hit;
            if (hit && best == FLT_MAX) { /* within a hair of an edge */
                float side, p[3];
                for (int k = 0; k < 3; k++) p[k] = o[k] + at * d[k];
                assert_true(nearest_of_all(t, p, &side) < 1e-5f);
                continue;
            }
            assert_true(hit);
            float length = glm_vec3_norm(d);
            assert_true(fabsf(at - best) * length < 1e-3f);
            sac_facet facet;
            assert_true(sac_terrain_facet(t, feature, &facet));
            assert_true(glm_vec3_dot(facet.normal, normal) > 0.9999f);
        }
        sac_terrain_destroy(&t);
    }
    assert_true(hits > 200);
}

/* A ball whose centre is above the ground touches at its distance; normals are unit and all differ. */
static void probes_agree_with_the_nearest_point(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(43);
    int found = 0, several = 0;
    for (int kind = 0; kind < 2; kind++) {
        sac_terrain *t = kind ? hills(&rng, 40, 40, 0.25f, 0.15f) : knot();
        for (int i = 0; i < 3000; i++) {
            float p[3], side = 0, radius = sac_rng_range(&rng, 0.02f, 0.4f);
            point_near(&rng, t, 0.2f, p);
            float near = nearest_of_all(t, p, &side);
            sac_terrain_touch touches[4], one;
            uint64_t tests = 0;
            uint32_t count = sac_terrain_probe(t, p, radius, touches, 4, &tests);
            uint32_t single = sac_terrain_probe(t, p, radius, &one, 1, &tests);
            assert_true(tests > 0 && (count > 0) == (single > 0));
            if (side > 1e-5f * near && near < radius - 1e-4f) assert_true(count > 0);
            if (side > 1e-5f && near > radius + 1e-4f && !kind)
                for (uint32_t k = 0; k < count; k++) assert_true(touches[k].distance < 0); /* from behind */
            found += count > 0;
            several += count > 1;
            float least = FLT_MAX;
            for (uint32_t k = 0; k < count; k++) {
                assert_true(fabsf(glm_vec3_norm(touches[k].normal) - 1) < 1e-4f);
                assert_true(touches[k].distance <= radius);
                if (k) assert_true(touches[k].distance >= touches[k - 1].distance);
                for (uint32_t j = 0; j < k; j++)
                    assert_true(glm_vec3_dot(touches[j].normal, touches[k].normal) < 0.9849f);
                least = fminf(least, fabsf(touches[k].distance));
                sac_facet facet;
                assert_true(sac_terrain_facet(t, touches[k].feature, &facet));
            }
            if (side > 1e-4f && near < radius - 1e-4f && touches[0].distance > 0)
                assert_true(fabsf(least - near) < 1e-4f);
        }
        sac_terrain_destroy(&t);
    }
    assert_true(found > 800 && several > 20);
}

static void a_rolling_ball_feels_no_edges(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(44);
    float flat[30 * 30] = {0};
    for (int kind = 0; kind < 3; kind++) {
        sac_terrain *t;
        if (kind == 2) {
            assert_int_equal(sac_terrain_from_heights(flat, 30, 30, 0.3f, &t, NULL), SAC_OK);
        } else {
            sac_mesh *mesh = crooked_floor(&rng, kind ? 60 : 12, kind ? 0.05f : 0);
            assert_int_equal(sac_terrain_from_mesh(mesh, &t, NULL), SAC_OK);
            sac_mesh_destroy(&mesh);
        }
        float last = 0;
        for (int i = 0; i < 20000; i++) {
            float x = -3.5f + 7 * (float)i / 20000, p[3] = {x, kind == 1 ? 0.1f : 0.097f, 0.37f * x + 0.11f};
            sac_terrain_touch touches[4];
            uint64_t tests = 0;
            uint32_t count = sac_terrain_probe(t, p, kind == 1 ? 0.2f : 0.1f, touches, 4, &tests);
            assert_int_equal(count, 1);
            if (kind != 1) {
                assert_true(touches[0].normal[1] > 0.999999f);
                assert_true(fabsf(touches[0].distance - 0.097f) < 1e-6f);
            } else if (i > 0) {
                assert_true(fabsf(touches[0].distance - last) < 5e-4f); /* no jump */
                assert_true(touches[0].normal[1] > 0.99f);
            }
            last = touches[0].distance;
        }
        sac_terrain_destroy(&t);
    }
}

static void what_sank_is_pushed_up(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(45);
    sac_mesh *mesh = crooked_floor(&rng, 12, 0.3f);
    sac_terrain *floor, *field = hills(&rng, 30, 30, 0.3f, 0.1f);
    assert_int_equal(sac_terrain_from_mesh(mesh, &floor, NULL), SAC_OK);
    for (int i = 0; i < 4000; i++) {
        float p[3] = {sac_rng_range(&rng, -3, 3), 10, sac_rng_range(&rng, -3, 3)}, at, normal[3];
        const sac_terrain *t = i % 2 ? field : floor;
        uint32_t feature;
        assert_true(sac_terrain_ray(t, p, (float[3]){0, -1, 0}, 20, &at, normal, &feature));
        float deep = i % 2 ? sac_rng_range(&rng, 0.001f, 3) : sac_rng_range(&rng, 0.001f, 0.08f);
        p[1] = p[1] - at - deep;
        sac_terrain_touch touch;
        uint64_t tests = 0;
        assert_int_equal(sac_terrain_probe(t, p, 0.1f, &touch, 1, &tests), 1);
        assert_true(touch.distance < 0 && touch.distance > -deep - 1e-4f);
        assert_true(touch.normal[1] > 0.1f); /* crooked triangles may be steep */
    }
    sac_terrain_destroy(&floor);
    sac_terrain_destroy(&field);
    sac_mesh_destroy(&mesh);
}

/* A floor with a wall on it, and a plate with two sides. */
static void corners_and_thin_plates(void **state)
{
    (void)state;
    float v[8][3] = {{-2, 0, -2}, {-2, 0, 2}, {2, 0, 2}, {2, 0, -2}, {2, 3, -2}, {2, 3, 2}};
    uint32_t corner[4][3] = {{0, 1, 2}, {0, 2, 3}, {3, 2, 5}, {3, 5, 4}};
    sac_mesh mesh = {.vertices = v, .triangles = corner, .vertex_count = 6, .triangle_count = 4};
    sac_terrain *t;
    sac_terrain_touch touches[4];
    uint64_t tests = 0;
    assert_int_equal(sac_terrain_from_mesh(&mesh, &t, NULL), SAC_OK);
    assert_int_equal(sac_terrain_probe(t, (float[3]){1.95f, 0.04f, 0.3f}, 0.1f, touches, 4, &tests), 2);
    assert_true(touches[0].normal[1] > 0.999f && fabsf(touches[0].distance - 0.04f) < 1e-5f);
    assert_true(touches[1].normal[0] < -0.999f && fabsf(touches[1].distance - 0.05f) < 1e-5f);
    /* Sunk into both. */
    assert_int_equal(sac_terrain_probe(t, (float[3]){2.02f, -0.03f, 0.3f}, 0.1f, touches, 4, &tests), 2);
    assert_true(touches[0].distance < 0 && touches[1].distance < 0);
    sac_terrain_destroy(&t);

    float plate[8][3] = {{-1, 0, -1},     {-1, 0, 1},     {1, 0, 1},     {1, 0, -1},
                         {-1, -0.1f, -1}, {-1, -0.1f, 1}, {1, -0.1f, 1}, {1, -0.1f, -1}};
    uint32_t sides[4][3] = {{0, 1, 2}, {0, 2, 3}, {4, 6, 5}, {4, 7, 6}};
    mesh = (sac_mesh){.vertices = plate, .triangles = sides, .vertex_count = 8, .triangle_count = 4};
    assert_int_equal(sac_terrain_from_mesh(&mesh, &t, NULL), SAC_OK);
    for (int i = 0; i < 20; i++) {
        float y = 0.005f * (float)i + 0.001f;
        assert_int_equal(sac_terrain_probe(t, (float[3]){0.3f, y, 0.2f}, 0.15f, touches, 4, &tests), 1);
        assert_true(touches[0].normal[1] > 0.999f && fabsf(touches[0].distance - y) < 1e-5f);
        assert_int_equal(sac_terrain_probe(t, (float[3]){0.3f, -0.1f - y, 0.2f}, 0.15f, touches, 4, &tests),
                         1);
        assert_true(touches[0].normal[1] < -0.999f && fabsf(touches[0].distance - y) < 1e-5f);
    }
    sac_terrain_destroy(&t);
}

/* ---- bodies on it ---- */

#define ROOM 20000u
static uint32_t room[6][ROOM + SAC_PAIRS_SLACK];

/* All contacts of a body with something that stands still. */
static uint32_t touch(sac_workspace *w, const sac_form *a, const sac_transform *pose_a, const sac_form *b,
                      const sac_transform *pose_b, float margin, sac_contact *out)
{
    sac_meeting m;
    sac_pairs front = {room[0], room[1], 0, ROOM}, next = {room[2], room[3], 0, ROOM},
              done = {room[4], room[5], 0, ROOM};
    if (!sac_meeting_begin(&m, a, pose_a, b, pose_b, margin, &front)) return 0;
    for (uint32_t level = 0; level < m.levels; level++) {
        sac_opened o = sac_meeting_open(w, &m, level, &front, UINT64_MAX, &next, &done);
        assert_int_equal(o.used, front.count);
        sac_pairs empty = {front.a, front.b, 0, ROOM};
        front = next;
        next = empty;
    }
    uint32_t count = sac_meeting_contacts(&m, &front, &done, SAC_CONTACT_MOST, out, NULL);
    for (uint32_t i = 0; i < count; i++) {
        sac_contact again;
        assert_true(sac_meeting_refresh(&m, out[i].node_a, out[i].node_b, &again));
        assert_true(fabsf(again.depth - out[i].depth) < 1e-4f);
        assert_true(glm_vec3_dot(again.normal, out[i].normal) > 0.999f);
    }
    return count;
}

static float deepest_of(const sac_contact *c, uint32_t count)
{
    float depth = -FLT_MAX;
    for (uint32_t i = 0; i < count; i++) depth = fmaxf(depth, c[i].depth);
    return depth;
}

/* On flat terrain everything is as on a plane, whichever comes first. */
static void flat_terrain_is_a_plane(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(46);
    sac_mesh *mesh = crooked_floor(&rng, 14, 0);
    sac_terrain *terrains[2];
    float flat[400] = {0};
    assert_int_equal(sac_terrain_from_mesh(mesh, &terrains[0], NULL), SAC_OK);
    assert_int_equal(sac_terrain_from_heights(flat, 20, 20, 0.4f, &terrains[1], NULL), SAC_OK);
    garden_def def = {.points_per_leaf = 4, .seed = 3, .branch = 8, .depth = 2, .nested = true};
    sac_tree *tree = garden_grow(&def);
    sac_form forms[4], plane, ground[2];
    assert_int_equal(sac_form_from_tree(&forms[0], tree, NULL), SAC_OK);
    assert_int_equal(sac_form_sphere(&forms[1], 0.4f, NULL), SAC_OK);
    assert_int_equal(sac_form_capsule(&forms[2], 0.3f, 0.5f, NULL), SAC_OK);
    assert_int_equal(sac_form_box(&forms[3], (float[3]){0.3f, 0.4f, 0.5f}, NULL), SAC_OK);
    assert_int_equal(sac_form_plane(&plane, (float[3]){0, 1, 0}, 0, NULL), SAC_OK);
    for (int k = 0; k < 2; k++)
        assert_int_equal(sac_form_from_terrain(&ground[k], terrains[k], NULL), SAC_OK);
    sac_workspace *w;
    assert_int_equal(sac_workspace_create(&w, NULL), SAC_OK);
    int touched = 0;
    for (int i = 0; i < 800; i++) {
        sac_transform pose = garden_pose(&rng, 0.5f), base = garden_pose(&rng, 30);
        const sac_form *form = &forms[i % 4];
        base.scale = sac_rng_range(&rng, 0.8f, 1.5f);
        /* The body's pose, given in the ground's space. */
        pose.scale = 0.5f;
        pose.translation[1] = sac_rng_range(&rng, 0, 0.5f);
        sac_transform world = pose;
        sac_transform_point(&base, pose.translation, world.translation);
        sac_rotation_join(base.rotation, pose.rotation, world.rotation);
        sac_contact on_plane[4], c[4], back[4];
        uint32_t want = touch(w, form, &world, &plane, &base, 0.01f, on_plane);
        for (int k = 0; k < 2; k++) {
            uint32_t count = touch(w, form, &world, &ground[k], &base, 0.01f, c);
            uint32_t other = touch(w, &ground[k], &base, form, &world, 0.01f, back);
            assert_int_equal(other, count);
            for (uint32_t j = 0; j < count; j++) {
                assert_true(back[j].depth == c[j].depth);
                for (int d = 0; d < 3; d++) assert_true(back[j].normal[d] == -c[j].normal[d]);
            }
            if (want == 0) {
                assert_int_equal(count, 0);
                continue;
            }
            touched++;
            float depth = deepest_of(on_plane, want), here = deepest_of(c, count);
            /* A mesh is a skin: what has sunk through it with all of a corner is not seen. */
            if (depth < 0.1f) assert_true(count > 0 && fabsf(here - depth) < 2e-3f);
            for (uint32_t j = 0; j < count; j++)
                assert_true(glm_vec3_dot(c[j].normal, on_plane[0].normal) > 0.999f);
        }
    }
    assert_true(touched > 200);
    sac_workspace_destroy(&w);
    for (int k = 0; k < 2; k++) sac_terrain_destroy(&terrains[k]);
    sac_tree_destroy(&tree);
    sac_mesh_destroy(&mesh);
}

/* A ridge between the corners of a box, or the ends of a capsule, holds it. */
static void a_ridge_holds_what_lies_across(void **state)
{
    (void)state;
    float heights[15] = {0, 0.5f, 1, 0.5f, 0, 0, 0.5f, 1, 0.5f, 0, 0, 0.5f, 1, 0.5f, 0};
    sac_terrain *t;
    assert_int_equal(sac_terrain_from_heights(heights, 5, 3, 1, &t, NULL), SAC_OK);
    sac_form ground, box, capsule;
    assert_int_equal(sac_form_from_terrain(&ground, t, NULL), SAC_OK);
    assert_int_equal(sac_form_box(&box, (float[3]){0.5f, 0.1f, 0.2f}, NULL), SAC_OK);
    assert_int_equal(sac_form_capsule(&capsule, 0.1f, 0.6f, NULL), SAC_OK);
    sac_transform base = sac_transform_identity(), pose = sac_transform_identity();
    sac_contact c[4];
    pose.translation[1] = 1.095f; /* 5 mm deep in the ridge at x = 0 */
    uint32_t count = touch(NULL, &box, &pose, &ground, &base, 0.01f, c);
    assert_true(count >= 2);
    float low = FLT_MAX, high = -FLT_MAX;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(c[i].normal[1] < -0.99f && fabsf(c[i].depth - 0.005f) < 1e-3f);
        assert_true(fabsf(c[i].point[0]) < 1e-3f);
        low = fminf(low, c[i].point[2]), high = fmaxf(high, c[i].point[2]);
    }
    assert_true(high - low > 0.35f);
    pose.rotation[2] = pose.rotation[3] = sqrtf(0.5f); /* the capsule along x */
    count = touch(NULL, &capsule, &pose, &ground, &base, 0.01f, c);
    assert_true(count >= 1 && fabsf(deepest_of(c, count) - 0.005f) < 1e-4f);
    sac_terrain_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(nearest_is_what_brute_force_finds),
        cmocka_unit_test(rays_hit_what_brute_force_hits),
        cmocka_unit_test(probes_agree_with_the_nearest_point),
        cmocka_unit_test(a_rolling_ball_feels_no_edges),
        cmocka_unit_test(what_sank_is_pushed_up),
        cmocka_unit_test(corners_and_thin_plates),
        cmocka_unit_test(flat_terrain_is_a_plane),
        cmocka_unit_test(a_ridge_holds_what_lies_across),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
