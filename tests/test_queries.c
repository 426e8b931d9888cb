/* Rays, spheres and nearest bodies of a world, against asking every body. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/world.h"
#include "spheretree/terrain_internal.h"
#include "tests/tree_garden.h"

enum { BODIES = 300 };

typedef struct crowd {
    sac_world *world;
    sac_tree *tree;
    sac_terrain *terrain;
    sac_form forms[6];
    sac_shape_id shapes[6];
} crowd;

static crowd gather(sac_rng *rng)
{
    crowd c = {0};
    sac_world_def def = sac_default_world_def();
    assert_int_equal(sac_world_create(&def, &c.world, NULL), SAC_OK);
    garden_def garden = {.points_per_leaf = 4, .seed = 5, .branch = 8, .depth = 2};
    c.tree = garden_grow(&garden);
    float heights[100];
    for (int i = 0; i < 100; i++) heights[i] = sac_rng_range(rng, -0.3f, 0.3f);
    assert_int_equal(sac_terrain_from_heights(heights, 10, 10, 2, &c.terrain, NULL), SAC_OK);
    assert_int_equal(sac_form_from_tree(&c.forms[0], c.tree, NULL), SAC_OK);
    assert_int_equal(sac_form_sphere(&c.forms[1], 0.3f, NULL), SAC_OK);
    assert_int_equal(sac_form_capsule(&c.forms[2], 0.2f, 0.4f, NULL), SAC_OK);
    assert_int_equal(sac_form_box(&c.forms[3], (float[3]){0.2f, 0.3f, 0.4f}, NULL), SAC_OK);
    assert_int_equal(sac_form_plane(&c.forms[4], (float[3]){0, 1, 0}, 0, NULL), SAC_OK);
    assert_int_equal(sac_form_from_terrain(&c.forms[5], c.terrain, NULL), SAC_OK);
    for (int i = 0; i < 6; i++)
        assert_int_equal(sac_world_add_shape(c.world, &c.forms[i], &c.shapes[i], NULL), SAC_OK);
    for (int i = 0; i < BODIES; i++) {
        sac_body_def body = sac_default_body_def();
        int kind = i == 0 ? 4 : i == 1 ? 5 : i % 4;
        body.shape = c.shapes[kind];
        body.kind = kind >= 4 || i % 3 == 0 ? SAC_BODY_STATIC : SAC_BODY_DYNAMIC;
        for (int k = 0; k < 3; k++) body.position[k] = sac_rng_range(rng, -6, 6);
        garden_rotation(rng, body.rotation);
        body.scale = sac_rng_range(rng, 0.5f, 1.5f);
        body.filter.category = 1u << i % 5;
        body.user = (uint64_t)kind;
        if (kind == 0) { /* trees of the garden weigh nothing */
            body.mass = 1;
            body.inertia[0] = body.inertia[1] = body.inertia[2] = 0.1f;
        }
        if (kind >= 4) {
            memcpy(body.rotation, (float[4]){0, 0, 0, 1}, sizeof body.rotation);
            for (int k = 0; k < 3; k++) body.position[k] = k == 1 ? (kind == 4 ? -8 : -7) : 0;
            body.scale = 1;
        }
        sac_error error;
        if (sac_body_create(c.world, &body, NULL, &error) != SAC_OK) fail_msg("%s", error.message);
    }
    return c;
}

static void disperse(crowd *c)
{
    sac_world_destroy(&c->world);
    sac_tree_destroy(&c->tree);
    sac_terrain_destroy(&c->terrain);
}

static void ask_them_all(const crowd *c, sac_rng *rng)
{
    sac_body_id ids[BODIES];
    sac_body_state states[BODIES];
    uint32_t count = sac_world_bodies(c->world, ids, BODIES);
    assert_int_equal(count, BODIES);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(sac_body_get(c->world, ids[i], &states[i], NULL), SAC_OK);
    for (int t = 0; t < 300; t++) {
        float p[3], way[3], most = t % 5 ? sac_rng_range(rng, 0.1f, 12) : INFINITY;
        for (int k = 0; k < 3; k++) p[k] = sac_rng_range(rng, k == 1 ? -8 : -9, 9);
        sac_rng_unit_vector(rng, way);
        uint32_t mask = t % 2 ? UINT32_MAX : (uint32_t)sac_rng_next(rng) & 31u;
        /* Every body by itself. */
        float first = FLT_MAX, nearest = FLT_MAX, radius = sac_rng_range(rng, 0, 3);
        uint32_t inside = 0, order[BODIES];
        for (uint32_t i = 0; i < count; i++) {
            if (!(1u << i % 5 & mask)) continue;
            const sac_form *form = &c->forms[states[i].user];
            sac_ray_hit hit;
            assert_int_equal(sac_form_ray(form, &states[i].pose, p, way, most, &hit, NULL), SAC_OK);
            if (hit.hit) first = fminf(first, hit.t);
            float d = sac_form_distance(form, &states[i].pose, p, FLT_MAX, NULL, NULL);
            nearest = fminf(nearest, d);
            if (d <= radius) order[inside++] = i;
        }
        sac_world_hit hit;
        assert_int_equal(sac_world_ray(c->world, p, way, most, mask, &hit, NULL), SAC_OK);
        assert_int_equal(hit.body.value != 0, first < FLT_MAX);
        if (hit.body.value) assert_true(fabsf(hit.t - first) <= 1e-4f * (1 + first));
        assert_int_equal(sac_world_closest(c->world, p, most, mask, &hit, NULL), SAC_OK);
        assert_int_equal(hit.body.value != 0, nearest <= most && nearest < FLT_MAX);
        if (hit.body.value) assert_true(fabsf(hit.t - nearest) <= 1e-4f * (1 + fabsf(nearest)));
        sac_body_id found[BODIES], few[3];
        uint32_t n, again;
        assert_int_equal(sac_world_overlap(c->world, p, radius, mask, found, BODIES, &n, NULL), SAC_OK);
        assert_int_equal(n, inside);
        for (uint32_t i = 0; i < n; i++) assert_true(found[i].value == ids[order[i]].value);
        assert_int_equal(sac_world_overlap(c->world, p, radius, mask, few, 3, &again, NULL), SAC_OK);
        assert_int_equal(again, n);
        for (uint32_t i = 0; i < n && i < 3; i++) assert_true(few[i].value == found[i].value);
        assert_int_equal(sac_world_overlap(c->world, p, radius, mask, NULL, 0, &again, NULL), SAC_OK);
        assert_int_equal(again, n);
    }
}

static void answers_are_those_of_every_body_asked(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(71);
    crowd c = gather(&rng);
    ask_them_all(&c, &rng);
    sac_step_def step = sac_default_step_def();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 20; i++) assert_int_equal(sac_world_step(c.world, &step, NULL, NULL), SAC_OK);
        ask_them_all(&c, &rng);
    }
    disperse(&c);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(72);
    crowd c = gather(&rng);
    sac_world_hit hit;
    uint32_t n;
    const float o[3] = {0, 0, 0}, x[3] = {1, 0, 0}, nan[3] = {0, NAN, 0};
    assert_int_equal(sac_world_ray(c.world, nan, x, 1, 1, &hit, NULL), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_world_ray(c.world, o, nan, 1, 1, &hit, NULL), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_world_ray(c.world, o, o, 1, 1, &hit, NULL), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_world_ray(c.world, o, x, -1, 1, &hit, NULL), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_world_ray(c.world, o, x, NAN, 1, &hit, NULL), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_world_overlap(c.world, nan, 1, 1, NULL, 0, &n, NULL), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_world_overlap(c.world, o, -1, 1, NULL, 0, &n, NULL), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_world_overlap(c.world, o, INFINITY, 1, NULL, 0, &n, NULL), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_world_closest(c.world, nan, 1, 1, &hit, NULL), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_world_closest(c.world, o, NAN, 1, &hit, NULL), SAC_ERROR_ARGUMENT);
    /* Far away there is nothing, and that is no error. */
    const float far[3] = {1e30f, 1e30f, 0};
    assert_int_equal(sac_world_ray(c.world, far, x, FLT_MAX, 31, &hit, NULL), SAC_OK);
    assert_true(hit.body.value == 0);
    assert_int_equal(sac_world_closest(c.world, far, FLT_MAX, 31, &hit, NULL), SAC_OK);
    assert_true(hit.body.value == 0);
    /* A direction too long or too short to be squared is told, not answered with nothing. */
    for (int i = 0; i < 2; i++) {
        const float along[3] = {i ? 1e20f : 1e-25f, 0, 0};
        assert_int_equal(sac_world_ray(c.world, o, along, FLT_MAX, 31, &hit, NULL), SAC_ERROR_ARGUMENT);
    }
    disperse(&c);
}

/* A ball goes as far as no body is touched, and farther it would touch one. */
static void sweeps_stop_where_something_is(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(12);
    crowd c = gather(&rng);
    sac_body_id ids[BODIES];
    sac_body_state states[BODIES];
    uint32_t count = sac_world_bodies(c.world, ids, BODIES), stopped = 0, free = 0;
    for (uint32_t i = 0; i < count; i++) sac_body_get(c.world, ids[i], &states[i], NULL);
    for (int t = 0; t < 400; t++) {
        float p[3], motion[3], radius = sac_rng_range(&rng, 0.02f, 0.3f),
                               length = sac_rng_range(&rng, 0.01f, 8);
        uint32_t mask = t % 2 ? UINT32_MAX : (uint32_t)sac_rng_next(&rng) & 31u;
        uint32_t kinds = t % 3 ? SAC_KIND_BIT(SAC_BODY_STATIC) | SAC_KIND_BIT(SAC_BODY_DYNAMIC)
                               : SAC_KIND_BIT(SAC_BODY_STATIC);
        for (int k = 0; k < 3; k++) p[k] = sac_rng_range(&rng, -6, 6);
        sac_rng_unit_vector(&rng, motion);
        for (int k = 0; k < 3; k++) motion[k] *= length;
        sac_world_hit hit;
        assert_int_equal(sac_world_sweep(c.world, p, radius, motion, mask, kinds, &hit, NULL), SAC_OK);
        assert_true(hit.t >= 0 && hit.t <= 1);
        /* Least gap on the way gone, and where it stopped. */
        float start = FLT_MAX, on_the_way = FLT_MAX, at_the_end = FLT_MAX;
        for (uint32_t i = 0; i < count; i++) {
            if (!(1u << i % 5 & mask) || !(kinds & SAC_KIND_BIT(states[i].kind))) continue;
            for (int step = 0; step <= 40; step++) {
                float q[3];
                for (int k = 0; k < 3; k++) q[k] = p[k] + motion[k] * hit.t * (float)step / 40;
                float gap =
                    sac_form_distance(&c.forms[states[i].user], &states[i].pose, q, FLT_MAX, NULL, NULL) -
                    radius;
                if (step == 0) start = fminf(start, gap);
                if (step == 40) at_the_end = fminf(at_the_end, gap);
                on_the_way = fminf(on_the_way, gap);
            }
        }
        if (start < 0.02f * radius) continue; /* began inside one */
        /* Along a surface it looks a fifth of its radius ahead. */
        assert_true(on_the_way > -0.2f * radius);
        if (hit.body.value) {
            stopped++;
            assert_true(hit.t < 1 && at_the_end < 0.011f * radius + 1e-4f && at_the_end > -0.2f * radius);
        } else {
            assert_true(hit.t == 1);
            free++;
        }
    }
    assert_true(stopped > 60 && free > 30);
    sac_world_hit hit;
    float p[3] = {0}, wrong[3] = {NAN, 0, 0};
    assert_int_equal(sac_world_sweep(c.world, wrong, 1, p, 1, 7, &hit, NULL), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_world_sweep(c.world, p, 1, wrong, 1, 7, &hit, NULL), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_world_sweep(c.world, p, 0, p, 1, 7, &hit, NULL), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_world_sweep(c.world, p, 1, p, 1, 7, &hit, NULL), SAC_OK);
    assert_true(hit.t == 1);
    disperse(&c);
}

/* By hand: to the nearest triangle; below one, inside, down to the form's bottom; under that, to the bottom.
 */
static float ground_apart(const sac_form *form, const float p[3], bool *out_over)
{
    const sac_terrain *t = form->terrain;
    float near = FLT_MAX, low = form->box.low[1];
    bool below = false;
    *out_over = false;
    for (uint32_t f = 0; f < (t->columns - 1) * (t->rows - 1) * 2; f++) {
        sac_facet facet;
        float q[3];
        assert_true(sac_terrain_facet(t, f, &facet));
        sac_triangle_closest((const float(*)[3])facet.corner, p, q);
        near = fminf(near, glm_vec3_distance(q, (float *)p));
        bool over = true;
        for (int k = 0; k < 3; k++) {
            const float *u = facet.corner[k], *v = facet.corner[(k + 1) % 3];
            over &= (v[2] - u[2]) * (p[0] - u[0]) - (v[0] - u[0]) * (p[2] - u[2]) >= 0;
        }
        float height = 0;
        for (int k = 0; k < 3; k++) height += facet.normal[k] * (p[k] - facet.corner[0][k]);
        *out_over |= over;
        below |= over && height < 0;
    }
    return !below ? near : p[1] < low ? low - p[1] : -near;
}

/* Nearest and overlap are one answer, whatever the radius, and that of the triangles; what overlaps touches.
 */
static void heights_are_solid_down_to_their_bottom(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(73);
    uint32_t inside = 0, under = 0, beside = 0;
    for (int round = 0; round < 6; round++) {
        uint32_t columns = 2 + (uint32_t)round * 2, rows = 9 - (uint32_t)round;
        float heights[12 * 9], steep = round % 2 ? 1 : 0.2f;
        for (uint32_t i = 0; i < columns * rows; i++) heights[i] = sac_rng_range(&rng, -steep, steep);
        sac_terrain *terrain;
        sac_form form, ball;
        assert_int_equal(sac_terrain_from_heights(heights, columns, rows, 0.5f, &terrain, NULL), SAC_OK);
        assert_int_equal(sac_form_from_terrain(&form, terrain, NULL), SAC_OK);
        sac_world_def def = sac_default_world_def();
        sac_world *world;
        sac_body_def body = sac_default_body_def();
        assert_int_equal(sac_world_create(&def, &world, NULL), SAC_OK);
        assert_int_equal(sac_world_add_shape(world, &form, &body.shape, NULL), SAC_OK);
        body.kind = SAC_BODY_STATIC;
        if (round >= 3) {
            garden_rotation(&rng, body.rotation);
            body.scale = sac_rng_range(&rng, 0.5f, 2);
            for (int k = 0; k < 3; k++) body.position[k] = sac_rng_range(&rng, -2, 2);
        }
        sac_body_id id;
        sac_body_state ground;
        assert_int_equal(sac_body_create(world, &body, &id, NULL), SAC_OK);
        assert_int_equal(sac_body_get(world, id, &ground, NULL), SAC_OK);
        for (int i = 0; i < 500; i++) {
            float local[3], p[3], size = 0;
            for (int k = 0; k < 3; k++) {
                float beyond = k == 1 ? 2 : 0.7f;
                local[k] = sac_rng_range(&rng, form.box.low[k] - beyond, form.box.high[k] + beyond);
            }
            bool over;
            float want = ground_apart(&form, local, &over) * ground.pose.scale;
            sac_transform_point(&ground.pose, local, p);
            sac_world_hit hit;
            assert_int_equal(sac_world_closest(world, p, INFINITY, 1, &hit, NULL), SAC_OK);
            assert_true(hit.body.value == id.value);
            if (fabsf(hit.t - want) > 1e-4f) fail_msg("nearest at %g, not %g", (double)hit.t, (double)want);
            for (int k = 0; k < 3; k++) size += (p[k] - hit.t * hit.normal[k] - hit.point[k]);
            assert_true(fabsf(size) < 1e-3f && fabsf(glm_vec3_norm(hit.normal) - 1) < 1e-3f);
            for (int k = 0; k < 4; k++) {
                uint32_t n;
                float radius = k < 2 ? sac_rng_range(&rng, 0, 3) : fmaxf(want, 0) + (k == 2 ? 1e-3f : -1e-3f);
                if (radius < 0 || fabsf(radius - want) < 5e-4f) continue;
                assert_int_equal(sac_world_overlap(world, p, radius, 1, NULL, 0, &n, NULL), SAC_OK);
                if (n != (want <= radius)) fail_msg("%u overlap at %g", n, (double)(want - radius));
                assert_int_equal(sac_world_closest(world, p, radius, 1, &hit, NULL), SAC_OK);
                assert_true((hit.body.value != 0) == (want <= radius));
                /* A body meets it where the query says so: the two boxes, then the two forms. */
                if (!over || !(radius > 1e-3f)) continue;
                sac_transform pose = sac_transform_identity();
                for (int j = 0; j < 3; j++) pose.translation[j] = p[j];
                assert_int_equal(sac_form_sphere(&ball, radius, NULL), SAC_OK);
                sac_box a, b;
                sac_form_bounds(&ball, &pose, &a);
                sac_form_bounds(&form, &ground.pose, &b);
                bool meets = true;
                for (int j = 0; j < 3; j++) meets &= a.low[j] <= b.high[j] && b.low[j] <= a.high[j];
                sac_meeting m;
                uint32_t nodes[2][1 + SAC_PAIRS_SLACK];
                sac_pairs root = {nodes[0], nodes[1], 0, 1};
                sac_contact contacts[SAC_CONTACT_MOST];
                meets = meets && sac_meeting_begin(&m, &ball, &pose, &form, &ground.pose, 0, &root) &&
                        sac_meeting_contacts(&m, NULL, &root, 4, contacts, NULL) > 0;
                /* A turned box reaches beyond its own bottom. */
                if (want <= radius) assert_true(meets);
                if (want > radius && round < 3) assert_false(meets);
            }
            inside += want < 0;
            under += over && local[1] < form.box.low[1];
            beside += !over;
        }
        sac_world_destroy(&world);
        sac_terrain_destroy(&terrain);
    }
    assert_true(inside > 100 && under > 300 && beside > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_those_of_every_body_asked),
        cmocka_unit_test(sweeps_stop_where_something_is),
        cmocka_unit_test(heights_are_solid_down_to_their_bottom),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
