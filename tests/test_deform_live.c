/* Soft bodies in meetings: what is refitted on demand covers every point that touches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "deform/deform.h"
#include "live_play.h"

enum { POINTS = 400, ROOM = LIVE_ROOM };

typedef struct puppet {
    sac_soft_model *model;
    sac_soft_tree *tree;
    sac_soft *soft;
    sac_soft_cover *cover;
    sac_form form;
} puppet;

static void make(puppet *p, sac_soft_mode mode, uint32_t clusters, uint64_t seed, const float at[3])
{
    static float points[POINTS][3], normals[POINTS][3];
    sac_rng rng = sac_rng_seed(seed);
    for (int i = 0; i < POINTS; i++) {
        sac_rng_unit_vector(&rng, normals[i]);
        for (int k = 0; k < 3; k++) points[i][k] = normals[i][k] * (k == 1 ? 0.6f : 1);
    }
    sac_soft_def def = sac_default_soft_def();
    def.mode = mode, def.clusters = clusters;
    sac_soft_tree_def tree = sac_default_soft_tree_def();
    tree.normals = (const float(*)[3])normals;
    sac_transform pose = {.rotation = {0, 0, 0, 1}, .scale = 1};
    memcpy(pose.translation, at, sizeof pose.translation);
    assert_int_equal(sac_soft_model_create((const float(*)[3])points, NULL, POINTS, &def, &p->model, NULL),
                     SAC_OK);
    assert_int_equal(sac_soft_tree_create(p->model, &tree, &p->tree, NULL), SAC_OK);
    assert_int_equal(sac_soft_create(p->model, &pose, &p->soft, NULL), SAC_OK);
    for (uint32_t i = 0; i < POINTS; i++)
        sac_soft_push(p->soft, i, (float[3]){sac_rng_range(&rng, -3, 3), sac_rng_range(&rng, -3, 3), 0},
                      NULL);
    assert_int_equal(sac_soft_cover_create(p->tree, p->soft, &p->cover, NULL), SAC_OK);
    sac_soft_cover_form(p->cover, &p->form);
}

static void unmake(puppet *p)
{
    sac_soft_cover_destroy(&p->cover);
    sac_soft_destroy(&p->soft);
    sac_soft_tree_destroy(&p->tree);
    sac_soft_model_destroy(&p->model);
}

static void step(puppet *p)
{
    sac_soft *one[1] = {p->soft};
    sac_soft_step_def def = {.dt = 1.0f / 90};
    sac_soft_step(one, 1, &def, NULL, NULL);
    sac_soft_cover_renew(p->cover, &p->form);
}

static uint32_t leaf_of(const puppet *p, uint32_t point)
{
    for (uint32_t id = 0; id < p->tree->block_count * 8; id++) {
        sac_soft_range r = p->tree->range[id];
        if (!r.count || !(p->tree->links[id / 8].link[id % 8] & SAC_LINK_LEAF)) continue;
        for (uint32_t i = r.first; i < r.first + r.count; i++)
            if (p->tree->order[i] == point) return id;
    }
    return UINT32_MAX;
}

static bool listed(const sac_pairs *done, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < done->count; i++)
        if (done->a[i] == a && done->b[i] == b) return true;
    return false;
}

static void every_touch_is_covered(void **state)
{
    (void)state;
    static uint32_t a[ROOM + SAC_PAIRS_SLACK], b[ROOM + SAC_PAIRS_SLACK];
    static uint32_t leaves[2][POINTS];
    sac_pairs done = {a, b, 0, ROOM};
    const float margin = 0.1f;
    for (int mode = 0; mode < SAC_SOFT_MODES; mode++)
        for (uint32_t clusters = 1; clusters < 12; clusters += 5) {
            puppet p, q;
            make(&p, (sac_soft_mode)mode, clusters, 7, (float[3]){0, 0, 0});
            make(&q, (sac_soft_mode)mode, clusters, 8, (float[3]){1.6f, 0.3f, 0});
            for (uint32_t i = 0; i < POINTS; i++)
                leaves[0][i] = leaf_of(&p, i), leaves[1][i] = leaf_of(&q, i);
            uint32_t touches = 0;
            for (int s = 0; s < 6; s++) {
                step(&p), step(&q);
                live_meet(&p.form, &q.form, margin, &done);
                sac_soft_points x = sac_soft_view(p.soft), y = sac_soft_view(q.soft);
                for (uint32_t i = 0; i < POINTS; i++)
                    for (uint32_t k = 0; k < POINTS; k++) {
                        float d[3] = {x.x[i] - y.x[k], x.y[i] - y.y[k], x.z[i] - y.z[k]};
                        if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > margin * margin) continue;
                        touches++;
                        assert_true(listed(&done, leaves[0][i], leaves[1][k]));
                    }
            }
            assert_true(touches > 10);
            unmake(&p), unmake(&q);
        }
}

static void fields_are_met(void **state)
{
    (void)state;
    static uint32_t a[ROOM + SAC_PAIRS_SLACK], b[ROOM + SAC_PAIRS_SLACK];
    sac_pairs done = {a, b, 0, ROOM};
    sac_form floor;
    assert_int_equal(sac_form_plane(&floor, (float[3]){0, 1, 0}, -0.55f, NULL), SAC_OK);
    puppet p;
    make(&p, SAC_SOFT_QUADRATIC, 3, 3, (float[3]){0, 0, 0});
    for (int s = 0; s < 10; s++) {
        step(&p);
        uint64_t before = sac_soft_cover_refits(p.cover);
        bool touch = live_meet(&p.form, &floor, 0.01f, &done);
        sac_soft_points x = sac_soft_view(p.soft);
        for (uint32_t i = 0; i < POINTS; i++) {
            if (x.y[i] > -0.54f) continue;
            assert_true(touch);
            bool found = false;
            for (uint32_t k = 0; k < done.count; k++) found |= done.a[k] == leaf_of(&p, i);
            assert_true(found);
        }
        /* Only where the floor is. */
        assert_true(sac_soft_cover_refits(p.cover) - before < p.tree->node_count / 2);
    }
    /* A node asked for again says the same without being refitted. */
    uint64_t before = sac_soft_cover_refits(p.cover);
    for (uint32_t k = 0; k < done.count; k++) {
        sac_tree_node_info n;
        p.form.live->node(p.form.live->owner, done.a[k], &n);
        assert_float_equal(n.radius, p.form.tree->spheres[done.a[k] / 8].r[done.a[k] % 8], 0);
        assert_true(n.leaf);
    }
    assert_int_equal(sac_soft_cover_refits(p.cover), before);
    unmake(&p);
}

/* Far away nothing but the top is refitted. */
static void nobody_looks_nobody_pays(void **state)
{
    (void)state;
    static uint32_t a[ROOM + SAC_PAIRS_SLACK], b[ROOM + SAC_PAIRS_SLACK];
    sac_pairs done = {a, b, 0, ROOM};
    puppet p, q;
    make(&p, SAC_SOFT_LINEAR, 8, 1, (float[3]){0, 0, 0});
    make(&q, SAC_SOFT_LINEAR, 8, 2, (float[3]){5, 0, 0});
    step(&p), step(&q);
    uint64_t before = sac_soft_cover_refits(p.cover);
    assert_false(live_meet(&p.form, &q.form, 0.01f, &done));
    assert_int_equal(sac_soft_cover_refits(p.cover), before);
    unmake(&p), unmake(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_touch_is_covered),
        cmocka_unit_test(fields_are_met),
        cmocka_unit_test(nobody_looks_nobody_pays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
