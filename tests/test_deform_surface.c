/* Meshless surfaces in use: two that meet, one in a meeting, one that hangs and swings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "base/memory.h"
#include "base/rng.h"
#include "deform/deform.h"
#include "live_play.h"
#include "deform/meshless_internal.h"

enum { MOST_NODES = 200, ROOM = 100000 };

static uint64_t allocations;

static void *count_allocate(size_t size, size_t alignment, void *user)
{
    (void)user;
    allocations++;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void count_release(void *memory, size_t size, void *user)
{
    (void)size, (void)user;
    free(memory);
}

typedef struct pair {
    sac_mesh *mesh;
    sac_meshless_model *model;
    sac_meshless *a, *b;
    float nodes[MOST_NODES][3];
    uint32_t node_count;
} pair;

static void make(pair *p, uint32_t triangles, uint32_t nodes, const sac_meshless_def *def)
{
    assert_int_equal(sac_mesh_builtin("knot", triangles, &p->mesh, NULL), SAC_OK);
    sac_rng rng = sac_rng_seed(nodes);
    p->node_count = nodes;
    for (uint32_t j = 0; j < nodes; j++)
        memcpy(p->nodes[j], p->mesh->vertices[sac_rng_below(&rng, p->mesh->vertex_count)],
               sizeof p->nodes[j]);
    sac_meshless_surface surface = {(const float(*)[3])p->mesh->vertices, p->mesh->vertex_count,
                                    (const uint32_t(*)[3])p->mesh->triangles, p->mesh->triangle_count};
    assert_int_equal(
        sac_meshless_model_create(&surface, (const float(*)[3])p->nodes, nodes, NULL, def, &p->model, NULL),
        SAC_OK);
    assert_int_equal(sac_meshless_create(p->model, &p->a, NULL), SAC_OK);
    assert_int_equal(sac_meshless_create(p->model, &p->b, NULL), SAC_OK);
}

static void unmake(pair *p)
{
    sac_meshless_destroy(&p->a), sac_meshless_destroy(&p->b);
    sac_meshless_model_destroy(&p->model), sac_mesh_destroy(&p->mesh);
}

/* Bends along x, and stands aside. */
static void bend(const pair *p, sac_meshless *body, float much, const float aside[3])
{
    for (uint32_t j = 0; j < p->node_count; j++) {
        float x = p->nodes[j][0], rows[3][4] = {{1, 0, 0, aside[0]},
                                                {2 * much * x, 1, 0, aside[1] - much * x * x},
                                                {0, much * x, 1, aside[2]}};
        assert_int_equal(sac_meshless_set_node(body, j, (const float(*)[4])rows, NULL), SAC_OK);
    }
}

static void corners_now(const pair *p, const sac_meshless *body, uint32_t triangle, float out[3][3])
{
    for (int c = 0; c < 3; c++) sac_meshless_vertex(body, p->mesh->triangles[triangle][c], out[c]);
}

static int by_numbers(const void *x, const void *y)
{
    const sac_meshless_pair *a = x, *b = y;
    if (a->a != b->a) return a->a < b->a ? -1 : 1;
    return a->b < b->b ? -1 : a->b > b->b;
}

/* With the front of the last query, without one, and after a complete refit: the same triangles, and those
 * that cross when each is tried with each. */
static void all_crossings_are_found(void **state)
{
    (void)state;
    static sac_meshless_pair first[ROOM], again[ROOM], whole[ROOM];
    const uint32_t ks[4] = {6, 14, 18, 26};
    uint32_t crossings = 0;
    for (int i = 0; i < 8; i++) {
        sac_meshless_def def = sac_default_meshless_def();
        def.k = ks[i % 4], def.box = i < 4 ? SAC_MESHLESS_AABB : SAC_MESHLESS_OBB;
        def.fit = i % 3 ? SAC_MESHLESS_EXACT : SAC_MESHLESS_EQ12;
        pair p;
        make(&p, 300, 40, &def);
        for (int turn = 0; turn < 6; turn++) {
            float aside[3] = {0.5f - 0.05f * (float)turn, 0.1f, 0.2f};
            sac_meshless *fresh[2];
            for (int s = 0; s < 2; s++) {
                assert_int_equal(sac_meshless_create(p.model, &fresh[s], NULL), SAC_OK);
                bend(&p, s ? p.b : p.a, 0.1f * (float)turn, s ? aside : (float[3]){0, 0, 0});
                bend(&p, fresh[s], 0.1f * (float)turn, s ? aside : (float[3]){0, 0, 0});
            }
            uint32_t n = sac_meshless_meet(p.a, p.b, first, ROOM);
            assert_int_equal(sac_meshless_meet(fresh[0], fresh[1], again, ROOM), n);
            for (int s = 0; s < 2; s++) sac_meshless_refit(fresh[s]);
            assert_int_equal(sac_meshless_meet(fresh[0], fresh[1], whole, ROOM), n);
            qsort(first, n, sizeof *first, by_numbers), qsort(again, n, sizeof *again, by_numbers);
            qsort(whole, n, sizeof *whole, by_numbers);
            assert_memory_equal(first, again, n * sizeof *first);
            assert_memory_equal(first, whole, n * sizeof *first);
            uint32_t tried = 0;
            for (uint32_t t = 0; turn == 3 && t < p.mesh->triangle_count; t++)
                for (uint32_t u = 0; u < p.mesh->triangle_count; u++) {
                    float x[3][3], y[3][3];
                    corners_now(&p, p.a, t, x), corners_now(&p, p.b, u, y);
                    tried += sac_triangles_cross((const float(*)[3])x, (const float(*)[3])y);
                }
            if (turn == 3) assert_int_equal(tried, n);
            crossings += n;
            for (int s = 0; s < 2; s++) sac_meshless_destroy(&fresh[s]);
        }
        unmake(&p);
    }
    assert_true(crossings > 100);
}

static void triangles_cross_or_not(void **state)
{
    (void)state;
    const float flat[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const float through[3][3] = {{0.2f, 0.2f, -1}, {0.2f, 0.2f, 1}, {0.3f, 0.2f, 1}};
    const float above[3][3] = {{0, 0, 0.1f}, {1, 0, 0.1f}, {0, 1, 0.1f}};
    const float beside[3][3] = {{2, 2, -1}, {2, 2, 1}, {3, 2, 1}};
    const float same_plane[3][3] = {{0.1f, 0.1f, 0}, {2, 0.1f, 0}, {0.1f, 2, 0}};
    const float plane_apart[3][3] = {{1, 1, 0}, {2, 1, 0}, {1, 2, 0}};
    const float corner[3][3] = {{0, 0, 0}, {-1, 0, 1}, {0, -1, 1}};
    const float thread[3][3] = {{0.2f, 0.2f, -1}, {0.2f, 0.2f, 1}, {0.2f, 0.2f, 0.5f}};
    assert_true(sac_triangles_cross(flat, through) && sac_triangles_cross(through, flat));
    assert_false(sac_triangles_cross(flat, above) || sac_triangles_cross(above, flat));
    assert_false(sac_triangles_cross(flat, beside) || sac_triangles_cross(beside, flat));
    assert_true(sac_triangles_cross(flat, same_plane) && sac_triangles_cross(same_plane, flat));
    assert_false(sac_triangles_cross(flat, plane_apart) || sac_triangles_cross(plane_apart, flat));
    assert_true(sac_triangles_cross(flat, corner));
    assert_true(sac_triangles_cross(flat, thread) && sac_triangles_cross(thread, flat));
}

/* A million checks and more: every vertex in the bounds of all tree nodes it belongs to, by both boxes, as
 * asked for from the root down with a front that moves. */
static void no_vertex_is_ever_outside(void **state)
{
    (void)state;
    uint64_t checks = 0, bad = 0;
    sac_rng rng = sac_rng_seed(11);
    for (int i = 0; i < 4; i++) {
        sac_meshless_def def = sac_default_meshless_def();
        def.box = i % 2 ? SAC_MESHLESS_OBB : SAC_MESHLESS_AABB;
        def.k = i < 2 ? 6 : 14;
        pair p;
        make(&p, 2000, i == 1 ? 190 : 60, &def);
        uint32_t count = sac_meshless_node_count(p.model), half_k = def.k / 2;
        for (int turn = 0; turn < 5; turn++) {
            for (uint32_t j = 0; j < p.node_count; j++) {
                float rows[3][4];
                for (int r = 0; r < 3; r++)
                    for (int c = 0; c < 4; c++)
                        rows[r][c] = (float)(r == c) + sac_rng_range(&rng, -0.3f, 0.3f) * (float)turn +
                                     (c == 3 ? 100.0f * (float)turn : 0);
                sac_meshless_set_node(p.a, j, (const float(*)[4])rows, NULL);
            }
            for (uint32_t node = 0; node < count; node++) {
                if (node && sac_rng_below(&rng, 4) == 0) continue;
                const float *dop = sac_meshless_dop(p.a, node);
                uint32_t n;
                const uint32_t *who = sac_meshless_primitives(p.model, node, &n);
                for (uint32_t t = 0; t < n; t++)
                    for (int c = 0; c < 3; c++) {
                        float v[3], g[3];
                        sac_meshless_vertex(p.a, p.mesh->triangles[who[t]][c], v);
                        for (uint32_t d = 0; d < half_k; d++, checks++) {
                            sac_meshless_direction(def.k, d, g);
                            double at = (double)g[0] * v[0] + (double)g[1] * v[1] + (double)g[2] * v[2];
                            bad += !(at <= dop[d] && -at <= dop[half_k + d]);
                        }
                    }
            }
        }
        unmake(&p);
    }
    print_message("%llu checks, %llu outside\n", (unsigned long long)checks, (unsigned long long)bad);
    assert_true(checks > 1000000);
    assert_int_equal(bad, 0);
}

/* ---- in a meeting ---- */

static void meetings_cover_every_crossing(void **state)
{
    (void)state;
    static uint32_t left[ROOM + SAC_PAIRS_SLACK], right[ROOM + SAC_PAIRS_SLACK];
    static sac_meshless_pair found[ROOM];
    sac_pairs done = {left, right, 0, ROOM};
    sac_meshless_def def = sac_default_meshless_def();
    pair p;
    make(&p, 800, 60, &def);
    sac_meshless_cover *covers[2];
    sac_form forms[2];
    uint32_t crossings = 0;
    for (int s = 0; s < 2; s++) {
        assert_int_equal(sac_meshless_cover_create(s ? p.b : p.a, &covers[s], NULL), SAC_OK);
        sac_meshless_cover_form(covers[s], &forms[s]);
        assert_int_equal(forms[s].kind, SAC_FORM_TREE);
    }
    for (int turn = 0; turn < 6; turn++) {
        float aside[3] = {0.6f - 0.06f * (float)turn, 0.1f, 0.2f};
        bend(&p, p.a, 0.1f * (float)turn, (float[3]){0, 0, 0}), bend(&p, p.b, 0.2f, aside);
        for (int s = 0; s < 2; s++) sac_meshless_cover_renew(covers[s], &forms[s]);
        live_meet(&forms[0], &forms[1], 0, &done);
        uint32_t n = sac_meshless_meet(p.a, p.b, found, ROOM);
        for (uint32_t i = 0; i < n; i++) {
            bool listed = false;
            for (uint32_t k = 0; k < done.count && !listed; k++) {
                uint32_t count[2], has = 0;
                for (int s = 0; s < 2; s++) {
                    uint32_t node = sac_meshless_cover_node(covers[s], (s ? done.b : done.a)[k]);
                    const uint32_t *who = sac_meshless_primitives(p.model, node, &count[s]);
                    for (uint32_t t = 0; t < count[s]; t++)
                        has |= (uint32_t)(who[t] == (s ? found[i].b : found[i].a)) << s;
                }
                listed = has == 3;
            }
            assert_true(listed);
        }
        crossings += n;
    }
    assert_true(crossings > 20);
    for (int s = 0; s < 2; s++) sac_meshless_cover_destroy(&covers[s]);
    unmake(&p);
}

/* Spheres hold the vertices of their nodes, whether they were asked for or are looked at on the side; normals
 * follow a turn; lumps have all the weight. */
static void spheres_normals_and_lumps(void **state)
{
    (void)state;
    sac_meshless_def def = sac_default_meshless_def();
    pair p;
    make(&p, 800, 60, &def);
    sac_meshless_cover *cover;
    sac_form form;
    assert_int_equal(sac_meshless_cover_create(p.a, &cover, NULL), SAC_OK);
    sac_meshless_cover_form(cover, &form);
    uint32_t nodes = 0, leaves = 0, known = 0;
    for (int turn = 0; turn < 3; turn++) {
        if (turn == 1)
            bend(&p, p.a, 0.4f, (float[3]){3, 0, 0});
        else /* a quarter about z */
            for (uint32_t j = 0; j < p.node_count; j++)
                sac_meshless_set_node(p.a, j, (const float[3][4]){{0, -1, 0, 5}, {1, 0, 0, 0}, {0, 0, 1, 0}},
                                      NULL);
        sac_meshless_cover_renew(cover, &form);
        for (uint32_t id = 0; id < form.tree->block_count * SAC_LANES; id++) {
            uint32_t link = form.tree->links[id / SAC_LANES].link[id % SAC_LANES];
            uint32_t node = sac_meshless_cover_node(cover, id), count;
            sac_tree_node_info aside, n;
            if (node == UINT32_MAX) continue;
            form.live->node(form.live->owner, id, &aside);
            if (id) {
                uint32_t block = id / SAC_LANES;
                form.live->open(form.live->owner, &block, 1);
            }
            form.live->node(form.live->owner, id, &n);
            assert_true(form.tree->spheres[id / SAC_LANES].r[id % SAC_LANES] == n.radius);
            const uint32_t *who = sac_meshless_primitives(p.model, node, &count);
            for (uint32_t t = 0; t < count; t++)
                for (int c = 0; c < 3; c++) {
                    float v[3];
                    sac_meshless_vertex(p.a, p.mesh->triangles[who[t]][c], v);
                    const sac_tree_node_info *both[2] = {&aside, &n};
                    for (int k = 0; k < 2; k++) {
                        const float *o = both[k]->centre;
                        double x = (double)v[0] - o[0], y = (double)v[1] - o[1], z = (double)v[2] - o[2];
                        assert_true(x * x + y * y + z * z <= (double)both[k]->radius * both[k]->radius);
                    }
                }
            nodes++, leaves += (link & SAC_LINK_LEAF) != 0;
            assert_true(n.leaf == ((link & SAC_LINK_LEAF) != 0));
            if (n.cone == 0 && turn != 1) {
                const float *rest = p.model->normal[node];
                assert_true(fabsf(n.normal[0] + rest[1]) < 1e-4f && fabsf(n.normal[1] - rest[0]) < 1e-4f);
                known++;
            }
            sac_meshless_lump lump = sac_meshless_lump_of(p.model, node);
            double sum = 0;
            for (uint32_t i = 0; i < lump.count; i++) {
                assert_true(lump.node[i] < p.node_count && lump.weight[i] > 0);
                sum += lump.weight[i];
            }
            assert_true(fabs(sum - 1) < 1e-5);
        }
    }
    assert_int_equal(nodes, 3 * form.tree->node_count);
    assert_int_equal(leaves, 3 * form.tree->leaf_count);
    assert_true(known > 100);
    sac_meshless_cover_destroy(&cover);
    unmake(&p);
}

/* ---- hanging and swinging ---- */

/* A figure held by its top, with gravity and a push: it swings, stays finite and near, comes to rest near
 * where it hung, and no step allocates. */
static void figures_hang_and_swing(void **state)
{
    (void)state;
    sac_meshless_def def = sac_default_meshless_def();
    sac_soft_def soft_def = sac_default_soft_def();
    soft_def.clusters = 6;
    pair p;
    sac_soft_model *model;
    sac_soft *soft;
    sac_meshless_cover *cover;
    sac_form form;
    sac_set_allocator(&(sac_allocator){count_allocate, count_release, NULL});
    make(&p, 3000, 115, &def);
    assert_int_equal(
        sac_soft_model_create((const float(*)[3])p.nodes, NULL, p.node_count, &soft_def, &model, NULL),
        SAC_OK);
    assert_int_equal(sac_soft_create(model, NULL, &soft, NULL), SAC_OK);
    assert_int_equal(sac_meshless_cover_create(p.a, &cover, NULL), SAC_OK);
    float top = -1e9f, low = 1e9f, most = 0, last = 0;
    for (uint32_t j = 0; j < p.node_count; j++)
        top = fmaxf(top, p.nodes[j][1]), low = fminf(low, p.nodes[j][1]);
    for (uint32_t j = 0; j < p.node_count; j++) {
        if (p.nodes[j][1] > top - 0.15f * (top - low)) sac_soft_hold(soft, j, p.nodes[j], NULL);
        sac_soft_push(soft, j, (float[3]){1.5f, 0, 0.5f}, NULL);
    }
    sac_meshless_cover_form(cover, &form);
    uint64_t before = allocations;
    for (int step = 0; step < 400; step++) {
        sac_soft_step(&soft, 1, &(sac_soft_step_def){.dt = 1.0f / 90, .gravity = {0, -9.81f, 0}}, NULL, NULL);
        assert_int_equal(sac_meshless_follow(p.a, soft, NULL), SAC_OK);
        sac_meshless_cover_renew(cover, &form);
        static sac_meshless_pair found[16];
        bend(&p, p.b, 0.1f, (float[3]){0.7f, 0, 0});
        sac_meshless_meet(p.a, p.b, found, 16);
        last = 0;
        for (uint32_t v = 0; v < p.mesh->vertex_count; v += 7) {
            float now[3];
            sac_meshless_vertex(p.a, v, now);
            for (int k = 0; k < 3; k++) {
                float d = fabsf(now[k] - p.mesh->vertices[v][k]);
                assert_true(d < 3 * (top - low));
                last = fmaxf(last, d);
                assert_true(now[k] <= form.box.high[k] && now[k] >= form.box.low[k]);
            }
        }
        most = fmaxf(most, last);
    }
    assert_int_equal(allocations, before);
    print_message("swung by %.3f of a height of %.3f, ends %.3f away\n", most, top - low, last);
    assert_true(most > 0.02f * (top - low) && last <= most);
    sac_meshless_cover_destroy(&cover);
    sac_soft_destroy(&soft), sac_soft_model_destroy(&model);
    unmake(&p);
    sac_set_allocator(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triangles_cross_or_not),    cmocka_unit_test(all_crossings_are_found),
        cmocka_unit_test(no_vertex_is_ever_outside), cmocka_unit_test(meetings_cover_every_crossing),
        cmocka_unit_test(spheres_normals_and_lumps), cmocka_unit_test(figures_hang_and_swing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
