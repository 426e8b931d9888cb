/* Fast bodies: nothing that is safe to go to lies beyond a collision, whatever the speed and spin. Poses on
 * the way are sampled and the depth of every pair of leaves is looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spheretree/gjk_internal.h"
#include "spheretree/meeting.h"
#include "tests/tree_garden.h"

/* Where a sweep has got to. */
static sac_transform pose_at(const sac_transform *pose, const sac_sweep *sweep, float share)
{
    sac_transform out = *pose;
    float centre[3], after[3], spin = glm_vec3_norm((float *)sweep->w), angle = spin * share;
    sac_transform_point(pose, sweep->centre, centre);
    if (spin > 0) {
        float s = sinf(angle / 2) / spin,
              q[4] = {sweep->w[0] * s, sweep->w[1] * s, sweep->w[2] * s, cosf(angle / 2)};
        const float *r = pose->rotation;
        out.rotation[0] = q[3] * r[0] + q[0] * r[3] + q[1] * r[2] - q[2] * r[1];
        out.rotation[1] = q[3] * r[1] - q[0] * r[2] + q[1] * r[3] + q[2] * r[0];
        out.rotation[2] = q[3] * r[2] + q[0] * r[1] - q[1] * r[0] + q[2] * r[3];
        out.rotation[3] = q[3] * r[3] - q[0] * r[0] - q[1] * r[1] - q[2] * r[2];
    }
    sac_transform_point(&out, sweep->centre, after);
    for (int i = 0; i < 3; i++) out.translation[i] += centre[i] + share * sweep->v[i] - after[i];
    return out;
}

/* Leaves of a form as balls: of a tree its leaves, of others balls inside that fill them well enough. */
typedef struct balls {
    float at[512][4];
    uint32_t count;
} balls;

static balls balls_of(const sac_form *form)
{
    balls out = {.count = 0};
    if (form->kind == SAC_FORM_TREE) {
        for (uint32_t id = 0; id < form->tree->block_count * SAC_LANES; id++) {
            sac_tree_node_info node;
            if (!sac_tree_node(form->tree, id, &node) || !node.leaf) continue;
            assert_true(out.count < 512);
            float *to = out.at[out.count++];
            memcpy(to, node.centre, 12);
            to[3] = node.radius;
        }
        return out;
    }
    if (form->kind == SAC_FORM_SPHERE) {
        out.count = 1;
        out.at[0][0] = out.at[0][1] = out.at[0][2] = 0, out.at[0][3] = form->radius;
        return out;
    }
    if (form->kind == SAC_FORM_CAPSULE) {
        out.count = 21;
        for (int i = 0; i < 21; i++) {
            out.at[i][0] = out.at[i][2] = 0;
            out.at[i][1] = form->half[1] * (float)(i - 10) / 10;
            out.at[i][3] = form->radius;
        }
        return out;
    }
    /* A box: points on its skin. */
    for (int x = 0; x < 7; x++)
        for (int y = 0; y < 7; y++)
            for (int z = 0; z < 7; z++) {
                if (x % 6 && y % 6 && z % 6) continue;
                float *to = out.at[out.count++];
                to[0] = form->half[0] * (float)(x - 3) / 3, to[1] = form->half[1] * (float)(y - 3) / 3;
                to[2] = form->half[2] * (float)(z - 3) / 3, to[3] = 0;
            }
    return out;
}

/* Deepest a's balls are in b. */
static float depth_in(const balls *a, const sac_transform *pose_a, const sac_form *form_b, const balls *b,
                      const sac_transform *pose_b)
{
    float deepest = -FLT_MAX;
    static float other[512][3];
    if (form_b->kind == SAC_FORM_TREE)
        for (uint32_t k = 0; k < b->count; k++) sac_transform_point(pose_b, b->at[k], other[k]);
    for (uint32_t i = 0; i < a->count; i++) {
        float p[3], r = a->at[i][3] * pose_a->scale;
        sac_transform_point(pose_a, a->at[i], p);
        if (form_b->kind == SAC_FORM_TREE) {
            for (uint32_t k = 0; k < b->count; k++)
                deepest = fmaxf(deepest, r + b->at[k][3] * pose_b->scale - glm_vec3_distance(p, other[k]));
        } else {
            float d = sac_form_distance(form_b, pose_b, p, FLT_MAX, NULL, NULL);
            deepest = fmaxf(deepest, r - d);
        }
    }
    return deepest;
}

static sac_tree *plain_tree(uint64_t seed, uint32_t depth)
{
    garden_def def = {.points_per_leaf = 4, .seed = seed, .branch = 6, .depth = depth, .nested = true};
    def.shape = (garden_shape)(seed % GARDEN_SHAPE_COUNT);
    sac_tree *tree = garden_grow(&def);
    assert_non_null(tree);
    return tree;
}

typedef struct case_of {
    sac_form a, b;
    sac_transform pose_a, pose_b;
    sac_sweep sweep_a, sweep_b;
    float allowed;
} case_of;

/* Safe on the way, and not given up much too early. Returns the share. */
static float check_case(const case_of *c, bool sharp, int samples)
{
    uint64_t tests = 0;
    float share = sac_meeting_advance(&c->a, &c->pose_a, &c->sweep_a, &c->b, &c->pose_b, &c->sweep_b,
                                      c->allowed, 100000000, &tests);
    assert_true(share >= 0 && share <= 1 && tests > 0);
    float back = sac_meeting_advance(&c->b, &c->pose_b, &c->sweep_b, &c->a, &c->pose_a, &c->sweep_a,
                                     c->allowed, 100000000, NULL);
    assert_true(fabsf(back - share) < 0.02f + 0.1f * share);
    static balls a, b;
    a = balls_of(&c->a);
    b = balls_of(&c->b);
    float first = depth_in(&a, &c->pose_a, &c->b, &b, &c->pose_b);
    float most = 1.1f * fmaxf(first, 0) + c->allowed + 1e-3f;
    for (int i = 1; i <= samples; i++) {
        float at = share * (float)i / (float)samples;
        sac_transform pa = pose_at(&c->pose_a, &c->sweep_a, at), pb = pose_at(&c->pose_b, &c->sweep_b, at);
        assert_true(depth_in(&a, &pa, &c->b, &b, &pb) <= most);
    }
    if (share < 1 && sharp && first < 0) {
        /* A tenth of the step's way further, or a hundredth of their size, and they do touch. */
        float touched = -FLT_MAX;
        for (int i = 0; i <= 40; i++) {
            float at = fminf(1, share + 0.003f * (float)i);
            sac_transform pa = pose_at(&c->pose_a, &c->sweep_a, at),
                          pb = pose_at(&c->pose_b, &c->sweep_b, at);
            touched = fmaxf(touched, depth_in(&a, &pa, &c->b, &b, &pb));
        }
        assert_true(touched > -0.03f);
    }
    return share;
}

static void aim(sac_rng *rng, case_of *c, float speed, float spin)
{
    const float dt = 1.0f / 72;
    memset(&c->sweep_a, 0, sizeof c->sweep_a);
    memset(&c->sweep_b, 0, sizeof c->sweep_b);
    float way[3];
    sac_rng_unit_vector(rng, way);
    float travel = speed * dt, before = sac_rng_range(rng, 0.1f, 0.9f) * travel + 0.7f;
    for (int i = 0; i < 3; i++) {
        c->pose_a.translation[i] =
            c->pose_b.translation[i] - way[i] * before + sac_rng_range(rng, -0.2f, 0.2f);
        c->sweep_a.v[i] = way[i] * travel;
        c->sweep_a.centre[i] = sac_rng_range(rng, -0.1f, 0.1f);
    }
    sac_rng_unit_vector(rng, c->sweep_a.w);
    for (int i = 0; i < 3; i++) c->sweep_a.w[i] *= spin * dt;
}

static void trees_never_pass_through_each_other(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(31);
    int stopped = 0;
    for (int t = 0; t < 60; t++) {
        sac_tree *tree_a = plain_tree(sac_rng_next(&rng), 2), *tree_b = plain_tree(sac_rng_next(&rng), 2);
        case_of c = {.allowed = t % 2 ? 0.005f : 0};
        assert_int_equal(sac_form_from_tree(&c.a, tree_a, NULL), SAC_OK);
        assert_int_equal(sac_form_from_tree(&c.b, tree_b, NULL), SAC_OK);
        c.pose_a = garden_pose(&rng, 0), c.pose_b = garden_pose(&rng, 40);
        c.pose_a.scale = c.pose_b.scale = 0.4f;
        const float speeds[] = {20, 100, 300, 1000};
        aim(&rng, &c, speeds[t % 4], t % 3 ? sac_rng_range(&rng, 0, 100) : 0);
        if (t % 5 == 0) { /* the other moves too */
            sac_rng_unit_vector(&rng, c.sweep_b.w);
            sac_rng_unit_vector(&rng, c.sweep_b.v);
            for (int i = 0; i < 3; i++) c.sweep_b.v[i] *= 0.3f;
        }
        stopped += check_case(&c, true, 60) < 1;
        sac_tree_destroy(&tree_a);
        sac_tree_destroy(&tree_b);
    }
    assert_true(stopped > 25);
}

/* Wherever it starts in front of a thin wall and however fast it is, it stays in front. */
static void nothing_gets_behind_a_thin_wall(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(32);
    const float dt = 1.0f / 72;
    sac_tree *tree = plain_tree(5, 2);
    float heights[16] = {0};
    sac_terrain *terrain;
    assert_int_equal(sac_terrain_from_heights(heights, 4, 4, 20, &terrain, NULL), SAC_OK);
    int stopped = 0;
    for (int t = 0; t < 1200; t++) {
        case_of c = {.allowed = t % 2 ? 0.002f : 0.02f};
        float half[3] = {0.01f, 0.3f, 0.05f};
        switch (t % 4) {
        case 0:
            assert_int_equal(sac_form_from_tree(&c.a, tree, NULL), SAC_OK);
            break;
        case 1:
            assert_int_equal(sac_form_sphere(&c.a, 0.05f, NULL), SAC_OK);
            break;
        case 2:
            assert_int_equal(sac_form_capsule(&c.a, 0.02f, 0.3f, NULL), SAC_OK);
            break;
        default:
            assert_int_equal(sac_form_box(&c.a, half, NULL), SAC_OK);
        }
        c.pose_a = garden_pose(&rng, 0);
        c.pose_a.scale = 0.5f;
        c.pose_b = sac_transform_identity();
        switch (t / 4 % 4) {
        case 0:
            assert_int_equal(sac_form_box(&c.b, (float[3]){20, 0.01f, 20}, NULL), SAC_OK);
            break;
        case 1:
            assert_int_equal(sac_form_plane(&c.b, (float[3]){0, 1, 0}, 0, NULL), SAC_OK);
            break;
        case 2:
            assert_int_equal(sac_form_from_terrain(&c.b, terrain, NULL), SAC_OK);
            break;
        default:
            assert_int_equal(sac_form_capsule(&c.b, 0.02f, 30, NULL), SAC_OK);
            /* Stands across the way: straight down onto its middle. */
        }
        float speed = t % 7 == 0 ? 1000 : sac_rng_range(&rng, 5, 400), height = sac_rng_range(&rng, 0.5f, 3);
        c.pose_a.translation[1] = height;
        bool rod = t / 4 % 4 == 3;
        c.sweep_a = (sac_sweep){0};
        c.sweep_b = (sac_sweep){0};
        c.sweep_a.v[1] = -speed * dt;
        if (rod) {
            c.pose_b.rotation[2] = c.pose_b.rotation[3] = sqrtf(0.5f); /* along x */
        } else {
            c.sweep_a.v[0] = sac_rng_range(&rng, -0.5f, 0.5f) * speed * dt;
            c.sweep_a.v[2] = sac_rng_range(&rng, -0.5f, 0.5f) * speed * dt;
            for (int i = 0; i < 3; i += 2) c.sweep_a.v[i] = fminf(fmaxf(c.sweep_a.v[i], -8), 8);
        }
        sac_rng_unit_vector(&rng, c.sweep_a.w);
        float spin = t % 3 ? sac_rng_range(&rng, 0, 100) * dt : 0;
        for (int i = 0; i < 3; i++) {
            c.sweep_a.w[i] *= spin;
            c.sweep_a.centre[i] = sac_rng_range(&rng, -0.05f, 0.05f);
        }
        if (rod && t % 4 != 1 && t % 4 != 0) spin = 0;
        if (spin == 0) memset(c.sweep_a.w, 0, sizeof c.sweep_a.w);
        float share = sac_meeting_advance(&c.a, &c.pose_a, &c.sweep_a, &c.b, &c.pose_b, &c.sweep_b, c.allowed,
                                          100000000, NULL);
        static balls mine;
        mine = balls_of(&c.a);
        stopped += share < 1;
        if (rod) continue;
        /* All of it was above at the start, or what was below is no deeper now. */
        float lowest[2] = {FLT_MAX, FLT_MAX};
        for (int k = 0; k < 2; k++) {
            sac_transform pose = pose_at(&c.pose_a, &c.sweep_a, k ? share : 0);
            for (uint32_t i = 0; i < mine.count; i++) {
                float p[3];
                sac_transform_point(&pose, mine.at[i], p);
                lowest[k] = fminf(lowest[k], p[1] - mine.at[i][3] * pose.scale);
            }
        }
        float top = c.b.kind == SAC_FORM_BOX ? 0.01f : 0;
        if (lowest[0] > top) assert_true(lowest[1] > top - c.allowed - 2e-3f);
        /* And it gets there when nothing stops it before. */
        if (share < 1 && spin == 0 && lowest[0] > top) assert_true(lowest[1] < top + 0.02f);
    }
    assert_true(stopped > 400);
    sac_terrain_destroy(&terrain);
    sac_tree_destroy(&tree);
}

static sac_form convex(sac_rng *rng, uint32_t kind)
{
    sac_form form;
    float half[3];
    for (int i = 0; i < 3; i++) half[i] = sac_rng_range(rng, 0.05f, 0.4f);
    if (kind == 0) assert_int_equal(sac_form_sphere(&form, half[0], NULL), SAC_OK);
    if (kind == 1) assert_int_equal(sac_form_capsule(&form, half[0], half[1], NULL), SAC_OK);
    if (kind == 2) assert_int_equal(sac_form_box(&form, half, NULL), SAC_OK);
    return form;
}

static void primitives_stop_before_each_other(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(33);
    int stopped = 0;
    for (int t = 0; t < 900; t++) {
        case_of c = {.allowed = t % 2 ? 0.003f : 0.0005f};
        c.a = convex(&rng, (uint32_t)t % 3);
        c.b = convex(&rng, (uint32_t)t / 3 % 3);
        c.pose_a = garden_pose(&rng, 0), c.pose_b = garden_pose(&rng, 10);
        aim(&rng, &c, t % 4 ? sac_rng_range(&rng, 10, 100) : 1000, t % 5 ? 0 : sac_rng_range(&rng, 0, 100));
        stopped += check_case(&c, c.sweep_a.w[0] == 0, 80) < 1;
    }
    assert_true(stopped > 300);
}

/* Side by side or on top and sliding fast, bodies that touch are not held. */
static void what_slides_is_free_and_what_parts_too(void **state)
{
    (void)state;
    sac_form box, floor, slab;
    assert_int_equal(sac_form_box(&box, (float[3]){0.2f, 0.2f, 0.2f}, NULL), SAC_OK);
    assert_int_equal(sac_form_box(&slab, (float[3]){50, 0.5f, 50}, NULL), SAC_OK);
    assert_int_equal(sac_form_plane(&floor, (float[3]){0, 1, 0}, 0.5f, NULL), SAC_OK);
    sac_tree *tree = plain_tree(9, 2);
    sac_form body;
    assert_int_equal(sac_form_from_tree(&body, tree, NULL), SAC_OK);
    float low = FLT_MAX;
    balls all = balls_of(&body);
    for (uint32_t i = 0; i < all.count; i++) low = fminf(low, all.at[i][1] - all.at[i][3]);
    sac_sweep slide = {.v = {3, -0.002f, 0}}, up = {.v = {0, 3, 0}}, still = {.v = {0}};
    for (int k = 0; k < 2; k++)
        for (int on = 0; on < 2; on++) {
            sac_transform pose = sac_transform_identity(), base = sac_transform_identity();
            const sac_form *form = k ? &body : &box;
            pose.translation[1] = 0.5f - (k ? low : -0.2f) - 0.004f; /* 4 mm deep */
            assert_true(sac_meeting_advance(form, &pose, &slide, on ? &floor : &slab, &base, &still, 0.003f,
                                            1000000, NULL) == 1);
            assert_true(sac_meeting_advance(form, &pose, &up, on ? &floor : &slab, &base, &still, 0.003f,
                                            1000000, NULL) == 1);
            sac_sweep down = {.v = {0, -3, 0}};
            float share = sac_meeting_advance(form, &pose, &down, on ? &floor : &slab, &base, &still, 0.003f,
                                              1000000, NULL);
            assert_true(share * 3 <= 0.0031f);
        }
    sac_tree_destroy(&tree);
}

static void few_credits_give_less_never_more(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(34);
    for (int t = 0; t < 40; t++) {
        sac_tree *tree = plain_tree(sac_rng_next(&rng), 3);
        case_of c = {.allowed = 0.001f};
        assert_int_equal(sac_form_from_tree(&c.a, tree, NULL), SAC_OK);
        c.b = c.a;
        c.pose_a = garden_pose(&rng, 0), c.pose_b = garden_pose(&rng, 5);
        aim(&rng, &c, 200, 30);
        float full = sac_meeting_advance(&c.a, &c.pose_a, &c.sweep_a, &c.b, &c.pose_b, &c.sweep_b, c.allowed,
                                         1000000000, NULL);
        for (uint64_t credits = 1; credits < 2000000; credits *= 4) {
            uint64_t tests = 0;
            float less = sac_meeting_advance(&c.a, &c.pose_a, &c.sweep_a, &c.b, &c.pose_b, &c.sweep_b,
                                             c.allowed, credits, &tests);
            assert_true(less <= full + 0.02f);
            assert_true(tests <= credits + 2000);
        }
        sac_tree_destroy(&tree);
    }
}

static void hulls_are_as_far_apart_as_samples_say(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(35);
    for (int t = 0; t < 400; t++) {
        sac_hull a = {.count = 1 + sac_rng_below(&rng, 8)}, b = {.count = 1 + sac_rng_below(&rng, 8)};
        float shift = sac_rng_range(&rng, 0, 3), n[3];
        for (uint32_t i = 0; i < a.count; i++)
            for (int k = 0; k < 3; k++) a.points[i][k] = sac_rng_range(&rng, -1, 1);
        for (uint32_t i = 0; i < b.count; i++)
            for (int k = 0; k < 3; k++) b.points[i][k] = sac_rng_range(&rng, -1, 1) + (k == 0 ? shift : 0);
        float apart = sac_hulls_apart(&a, &b, n), sampled = FLT_MAX;
        for (int s = 0; s < 500; s++) {
            float p[3] = {0}, q[3] = {0}, sum_a = 0, sum_b = 0, wa[8], wb[8];
            for (uint32_t i = 0; i < a.count; i++) sum_a += wa[i] = powf(sac_rng_float(&rng), 4);
            for (uint32_t i = 0; i < b.count; i++) sum_b += wb[i] = powf(sac_rng_float(&rng), 4);
            for (int k = 0; k < 3; k++) {
                for (uint32_t i = 0; i < a.count; i++) p[k] += a.points[i][k] * wa[i] / sum_a;
                for (uint32_t i = 0; i < b.count; i++) q[k] += b.points[i][k] * wb[i] / sum_b;
            }
            sampled = fminf(sampled, glm_vec3_distance(p, q));
        }
        assert_true(apart <= sampled + 1e-5f);
        if (apart == 0) continue;
        /* The direction proves it. */
        float high = -FLT_MAX, low = FLT_MAX;
        for (uint32_t i = 0; i < a.count; i++) high = fmaxf(high, glm_vec3_dot(a.points[i], n));
        for (uint32_t i = 0; i < b.count; i++) low = fminf(low, glm_vec3_dot(b.points[i], n));
        assert_true(fabsf(low - high - apart) < 1e-4f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_never_pass_through_each_other),
        cmocka_unit_test(nothing_gets_behind_a_thin_wall),
        cmocka_unit_test(primitives_stop_before_each_other),
        cmocka_unit_test(what_slides_is_free_and_what_parts_too),
        cmocka_unit_test(few_credits_give_less_never_more),
        cmocka_unit_test(hulls_are_as_far_apart_as_samples_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
