#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "deform/deform.h"
#include "deform/meshless_internal.h"
#include "spheretree/mesh.h"

static const sac_bound_kernels *const kernels[] = {
    &sac_bound_kernels_scalar,
#if defined(__x86_64__)
    &sac_bound_kernels_sse2,
    &sac_bound_kernels_avx2,
    &sac_bound_kernels_avx512,
#elif defined(__aarch64__)
    &sac_bound_kernels_neon,
#endif
};

static bool runs(size_t i) { return i < 2 || sac_simd_supported(i == 2 ? SAC_SIMD_AVX2 : SAC_SIMD_AVX512); }

/* Weights of a few random vertices give limits that some weights meet. */
static void random_limits(sac_rng *rng, uint32_t n, uint32_t vertices, float *low, float *high)
{
    for (uint32_t j = 0; j < n; j++) low[j] = 1, high[j] = 0;
    for (uint32_t v = 0; v < vertices; v++) {
        float w[512], sum = 0;
        for (uint32_t j = 0; j < n; j++) {
            w[j] = sac_rng_float(rng), w[j] *= w[j];
            sum += w[j];
        }
        for (uint32_t j = 0; j < n; j++) {
            low[j] = fminf(low[j], w[j] / sum), high[j] = fmaxf(high[j], w[j] / sum);
        }
    }
}

static void solve(const sac_bound_kernels *kernel, uint32_t n, const float *b, const float *low,
                  const float *high, bool exact, float out[8])
{
    static _Alignas(64) float rows[512][SAC_MESHLESS_ROW], scratch[SAC_MESHLESS_SCRATCH(512, 6)],
        blocks[512 * SAC_MESHLESS_ROW], wide[512][4][8], l[512], room[512];
    static _Alignas(64) uint32_t who[512];
    uint32_t lanes = (n + 7) & ~7u;
    double sum = 0;
    memset(rows, 0, sizeof rows);
    for (uint32_t i = 0; i < lanes; i++) {
        uint32_t j = i < n ? i : n - 1;
        who[i] = j, l[i] = i < n ? low[i] : 0, room[i] = i < n ? high[i] - low[i] : -1;
        rows[j][12] = b[j], rows[j][13] = -b[j], rows[j][14] = 2 * b[j];
        for (int r = 0; r < 3; r++) wide[j][3][r] = rows[j][12 + r], wide[j][3][3 + r] = -rows[j][12 + r];
        for (uint32_t e = 0; i < n && e < SAC_MESHLESS_ROW; e++)
            blocks[(j / 8 * SAC_MESHLESS_ROW + e) * 8 + j % 8] = rows[j][e];
        sum += l[i];
    }
    sac_meshless_rest rest = {.low_sum = (float)sum};
    sac_bound_job job = {&rows[0][0], blocks, &wide[0][0][0], who,   l,     room,   n,
                         lanes,       6,      &rest,          exact, false, scratch};
    kernel->bound(&job, out);
}

/* A corner of {l <= w <= h, sum w = 1} has all but one weight at a limit: try them all. */
static double by_corners(uint32_t n, const float *b, const float *low, const float *high)
{
    double best = -INFINITY;
    for (uint32_t odd = 0; odd < n; odd++)
        for (uint32_t mask = 0; mask < 1u << n; mask++) {
            double sum = 0, value = 0;
            if (mask >> odd & 1) continue;
            for (uint32_t j = 0; j < n; j++) {
                if (j == odd) continue;
                double w = mask >> j & 1 ? high[j] : low[j];
                sum += w, value += w * b[j];
            }
            double w = 1 - sum;
            if (w < low[odd] - 1e-6 || w > high[odd] + 1e-6) continue;
            best = fmax(best, value + w * b[odd]);
        }
    return best;
}

static void fill_is_the_optimum(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(4);
    for (int trial = 0; trial < 400; trial++) {
        uint32_t n = 1 + sac_rng_below(&rng, 9);
        float b[16], low[16], high[16], out[8];
        for (uint32_t j = 0; j < n; j++) b[j] = sac_rng_range(&rng, -1, 1);
        random_limits(&rng, n, 1 + sac_rng_below(&rng, 4), low, high);
        double want = by_corners(n, b, low, high);
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
            if (!runs(k)) continue;
            solve(kernels[k], n, b, low, high, true, out);
            assert_true(fabs(out[0] - want) < 2e-5 && out[0] >= want - 1e-6);
            assert_true(fabs(out[4] - want) < 2e-5); /* b negated: its lowest is our highest */
            assert_true(fabs(out[2] - 2 * want) < 4e-5);
            solve(kernels[k], n, b, low, high, false, out);
            assert_true(out[0] >= want - 1e-6);
        }
    }
}

/* Hundreds of small weights: the fill goes on after the search gives up. */
static void long_fills_are_right(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(6);
    for (int trial = 0; trial < 200; trial++) {
        uint32_t n = 40 + sac_rng_below(&rng, 460);
        static float b[512], low[512], high[512], out[8];
        static uint8_t used[512];
        for (uint32_t j = 0; j < n; j++)
            b[j] = trial % 3 ? sac_rng_range(&rng, -1, 1) : (float)sac_rng_below(&rng, 5);
        random_limits(&rng, n, 3, low, high);
        double left = 1, want = 0;
        for (uint32_t j = 0; j < n; j++) left -= low[j], want += (double)low[j] * b[j], used[j] = 0;
        while (left > 1e-9) {
            uint32_t best = n;
            for (uint32_t j = 0; j < n; j++)
                if (!used[j] && (best == n || b[j] > b[best])) best = j;
            if (best == n) break;
            double take = fmin(left, (double)high[best] - low[best]);
            want += take * b[best], left -= take, used[best] = 1;
        }
        solve(&sac_bound_kernels_scalar, n, b, low, high, true, out);
        assert_true(fabs(out[0] - want) < 5e-5);
    }
}

static void equation_12_is_wider(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(9);
    double last = 0;
    for (uint32_t n = 4; n <= 32; n *= 2) {
        double ratio = 0;
        for (int trial = 0; trial < 500; trial++) {
            float b[32], low[32], high[32], exact[8], wide[8];
            for (uint32_t j = 0; j < n; j++) b[j] = sac_rng_range(&rng, -1, 1);
            random_limits(&rng, n, 20, low, high);
            solve(&sac_bound_kernels_scalar, n, b, low, high, true, exact);
            solve(&sac_bound_kernels_scalar, n, b, low, high, false, wide);
            assert_true(wide[0] >= exact[0] - 1e-6f && wide[3] >= exact[3] - 1e-6f);
            ratio += (wide[0] + wide[3]) / (exact[0] + exact[3]) / 500;
        }
        print_message("%u nodes: equation 12 is %.2f times as wide as the optimum\n", n, ratio);
        assert_true(ratio >= last);
        last = ratio;
    }
    assert_true(last > 1.2);
}

typedef struct play {
    sac_mesh *mesh;
    sac_meshless_model *model;
    sac_meshless *body;
    float nodes[200][3];
    uint32_t node_count;
} play;

static void begin(play *p, uint32_t triangles, uint32_t nodes, const sac_meshless_def *def, bool cloud)
{
    sac_error error;
    assert_int_equal(sac_mesh_builtin("knot", triangles, &p->mesh, &error), SAC_OK);
    sac_rng rng = sac_rng_seed(nodes);
    p->node_count = nodes;
    for (uint32_t j = 0; j < nodes; j++)
        memcpy(p->nodes[j], p->mesh->vertices[sac_rng_below(&rng, p->mesh->vertex_count)],
               sizeof p->nodes[j]);
    sac_meshless_surface surface = {(const float(*)[3])p->mesh->vertices, p->mesh->vertex_count,
                                    cloud ? NULL : (const uint32_t(*)[3])p->mesh->triangles,
                                    p->mesh->triangle_count};
    assert_int_equal(
        sac_meshless_model_create(&surface, (const float(*)[3])p->nodes, nodes, NULL, def, &p->model, &error),
        SAC_OK);
    assert_int_equal(sac_meshless_create(p->model, &p->body, &error), SAC_OK);
}

static void end(play *p)
{
    sac_meshless_destroy(&p->body), sac_meshless_model_destroy(&p->model), sac_mesh_destroy(&p->mesh);
}

static void shake(play *p, sac_rng *rng, float much, float away)
{
    for (uint32_t j = 0; j < p->node_count; j++) {
        float rows[3][4];
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 4; c++)
                rows[r][c] = (float)(r == c) + sac_rng_range(rng, -much, much) + (c == 3 ? away : 0);
        assert_int_equal(sac_meshless_set_node(p->body, j, (const float(*)[4])rows, NULL), SAC_OK);
    }
}

/* Vertices in double, all of them, against every node of the tree. */
static uint64_t outside(play *p, uint32_t k, int what)
{
    const sac_meshless_model *m = p->model;
    uint64_t bad = 0;
    for (uint32_t node = 0; node < sac_meshless_node_count(m); node++) {
        float bound[SAC_MESHLESS_WIDE(SAC_MESHLESS_MOST_K)];
        const float *dop = bound;
        if (what == 2)
            dop = sac_meshless_dop(p->body, node);
        else
            sac_meshless_bound(p->body, node, (sac_meshless_fit)what, bound);
        uint32_t count;
        const uint32_t *who = sac_meshless_primitives(m, node, &count);
        for (uint32_t i = 0; i < count; i++)
            for (int corner = 0; corner < (m->triangle_count ? 3 : 1); corner++) {
                uint32_t v = m->triangle_count ? p->mesh->triangles[who[i]][corner] : who[i];
                float f[3];
                sac_meshless_vertex(p->body, v, f);
                for (uint32_t d = 0; d < k / 2; d++) {
                    float g[3];
                    sac_meshless_direction(k, d, g);
                    double at = (double)g[0] * f[0] + (double)g[1] * f[1] + (double)g[2] * f[2];
                    bad += !(at <= dop[d] && -at <= dop[k / 2 + d]);
                }
            }
    }
    return bad;
}

static void dops_hold_their_vertices(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(2);
    const uint32_t ks[4] = {6, 14, 18, 26}, nodes[4] = {1, 7, 60, 190};
    for (int i = 0; i < 4; i++)
        for (int n = 0; n < 4; n++) {
            sac_meshless_def def = sac_default_meshless_def();
            def.k = ks[i];
            def.fit = (i + n) % 2 ? SAC_MESHLESS_EQ12 : SAC_MESHLESS_EXACT;
            def.influences = n % 2 ? 4 : 12;
            play p;
            begin(&p, 400, nodes[n], &def, n == 1);
            for (int turn = 0; turn < 3; turn++) {
                for (int what = 0; what < 3; what++) assert_int_equal(outside(&p, ks[i], what), 0);
                shake(&p, &rng, turn ? 1.5f : 0.3f, turn ? 2000.0f : 0.0f);
            }
            for (int what = 0; what < 3; what++) assert_int_equal(outside(&p, ks[i], what), 0);
            end(&p);
        }
}

/* The root against the true box, as nodes move like a bent body does. */
static void root_is_close_to_the_truth(void **state)
{
    (void)state;
    sac_meshless_def def = sac_default_meshless_def();
    play p;
    begin(&p, 3000, 65, &def, false);
    double ratio[2] = {0};
    for (int turn = 0; turn < 20; turn++) {
        for (uint32_t j = 0; j < 65; j++) { /* a bend about z, more and more */
            float much = 0.05f * (float)turn, x = p.nodes[j][0];
            float rows[3][4] = {{1, 0, 0, 0}, {2 * much * x, 1, 0, -much * x * x}, {0, 0, 1, 0}};
            sac_meshless_set_node(p.body, j, (const float(*)[4])rows, NULL);
        }
        sac_box box = sac_box_empty();
        for (uint32_t v = 0; v < p.mesh->vertex_count; v++) {
            float f[3];
            sac_meshless_vertex(p.body, v, f);
            sac_box_add(&box, f);
        }
        for (int fit = 0; fit < 2; fit++) {
            float out[8];
            sac_meshless_bound(p.body, 0, (sac_meshless_fit)fit, out);
            sac_box mine = {{-out[3], -out[4], -out[5]}, {out[0], out[1], out[2]}};
            ratio[fit] += (double)sac_box_diagonal(&mine) / sac_box_diagonal(&box) / 20;
        }
    }
    print_message("root box over the true one: optimum %.3f, equation 12 %.3f\n", ratio[0], ratio[1]);
    assert_true(ratio[0] >= 1 && ratio[0] <= ratio[1] + 1e-6 && ratio[0] < 2.5);
    end(&p);
}

static void refits_only_where_asked(void **state)
{
    (void)state;
    sac_meshless_def def = sac_default_meshless_def();
    sac_rng rng = sac_rng_seed(1);
    play p;
    begin(&p, 3000, 100, &def, false);
    for (int turn = 0; turn < 5; turn++) {
        shake(&p, &rng, 0.1f, 0);
        uint64_t before = sac_meshless_refits(p.body);
        uint32_t node = 0, depth = 1;
        sac_meshless_dop(p.body, node);
        while (sac_meshless_children(p.model, node, &node)) sac_meshless_dop(p.body, node), depth++;
        uint64_t refits = sac_meshless_refits(p.body) - before;
        assert_true(refits >= depth && refits <= 2 * depth + 512);
        sac_meshless_dop(p.body, node);
        assert_int_equal(sac_meshless_refits(p.body) - before, refits);
    }
    end(&p);
}

/* Nodes that are points of a soft body, moved rigidly: the surface moves rigidly. */
static void surface_follows_a_soft_body(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        float nodes[27][3], surface_points[40][3], to[3], want[3];
        sac_rng rng = sac_rng_seed(3);
        for (int i = 0; i < 27; i++)
            for (int k = 0; k < 3; k++) nodes[i][k] = k == 2 && flat ? 0 : sac_rng_range(&rng, -1, 1);
        for (int i = 0; i < 40; i++)
            for (int k = 0; k < 3; k++) surface_points[i][k] = sac_rng_range(&rng, -1, 1);
        sac_soft_def soft_def = sac_default_soft_def();
        sac_meshless_def def = sac_default_meshless_def();
        sac_soft_model *soft_model;
        sac_soft *soft;
        sac_meshless_model *model;
        sac_meshless *body;
        sac_transform pose = {{3, -2, 1}, 1, {0.5f, 0.5f, -0.5f, 0.5f}};
        sac_meshless_surface surface = {(const float(*)[3])surface_points, 40, NULL, 0};
        assert_int_equal(
            sac_soft_model_create((const float(*)[3])nodes, NULL, 27, &soft_def, &soft_model, NULL), SAC_OK);
        assert_int_equal(sac_soft_create(soft_model, &pose, &soft, NULL), SAC_OK);
        assert_int_equal(
            sac_meshless_model_create(&surface, (const float(*)[3])nodes, 27, NULL, &def, &model, NULL),
            SAC_OK);
        assert_int_equal(sac_meshless_create(model, &body, NULL), SAC_OK);
        assert_int_equal(sac_meshless_follow(body, soft, NULL), SAC_OK);
        for (uint32_t i = 0; i < 40; i++) {
            sac_meshless_vertex(body, i, to);
            sac_transform_point(&pose, surface_points[i], want);
            for (int k = 0; k < 3; k++) assert_true(fabsf(to[k] - want[k]) < 1e-4f);
        }
        sac_meshless_destroy(&body), sac_meshless_model_destroy(&model);
        sac_soft_destroy(&soft), sac_soft_model_destroy(&soft_model);
    }
}

/* Node transformations that change little from step to step: the whole turns and goes one way, each node
 * strays by itself. */
static void drift_along(play *p, sac_meshless *body, uint32_t step, float way)
{
    float turn = 0.02f * (float)step, c = 1 - turn * turn / 2, s = turn;
    for (uint32_t j = 0; j < p->node_count; j++) {
        float stray = 0.02f * sinf(0.3f * (float)step + (float)j);
        float rows[3][4] = {{c + stray, -s, 0, way * (float)step},
                            {s, c, stray, stray},
                            {0, -stray, 1, -0.3f * way * (float)step}};
        assert_int_equal(sac_meshless_set_node(body, j, (const float(*)[4])rows, NULL), SAC_OK);
    }
}

/* What a meeting knows of a node in this step, made now or carried on from an earlier one, holds its
 * vertices. Steps in which nobody asks, and whole refits, come in between. */
static void bounds_are_carried_on(void **state)
{
    (void)state;
    uint32_t ks[] = {6, 14, 18, 26}, carried = 0;
    for (uint32_t i = 0; i < 4; i++) {
        sac_meshless_def def = sac_default_meshless_def();
        def.k = ks[i];
        play p;
        begin(&p, 1200, 60, &def, false);
        sac_meshless *other;
        assert_int_equal(sac_meshless_create(p.model, &other, NULL), SAC_OK);
        for (uint32_t step = 0; step < 60; step++) {
            drift_along(&p, p.body, step, -0.01f);
            drift_along(&p, other, step + 20, 0.01f);
            if (step % 17 == 5) sac_meshless_refit(p.body);
            if (step % 23 == 7) sac_meshless_dop(p.body, 0);
            if (step % 23 == 7) continue;
            sac_meshless_meet(p.body, other, NULL, 0);
            const sac_meshless_model *m = p.model;
            for (uint32_t node = 0; node < m->tree_count && !p.body->whole; node++) {
                if (p.body->state[node].stamp != p.body->step) continue;
                const float *dop = p.body->dops + (size_t)node * SAC_MESHLESS_WIDE(ks[i]);
                carried += p.body->state[node].fit == SAC_MESHLESS_OLD;
                const sac_meshless_node *n = &m->tree[node];
                for (uint32_t v = n->first * 3; v < (n->first + n->count) * 3; v++) {
                    float now[8];
                    sac_meshless_place(p.body, m->corners[v], now);
                    for (uint32_t d = 0; d < ks[i] / 2; d++) {
                        float g[3];
                        sac_meshless_direction(ks[i], d, g);
                        double at = (double)g[0] * now[0] + (double)g[1] * now[1] + (double)g[2] * now[2];
                        assert_true(at <= dop[d] && -at <= dop[ks[i] / 2 + d]);
                    }
                }
            }
        }
        sac_meshless_destroy(&other);
        end(&p);
    }
    assert_true(carried > 200);
}

/* Eight pairs at once give what one at a time does; many touch, share corners or lie in one plane. */
static void eight_triangles_as_one(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(12);
    uint32_t crossing = 0, unsures = 0;
    for (int trial = 0; trial < 4000; trial++) {
        float t[8][6][8];
        const float *corner[6][8];
        for (int i = 0; i < 8; i++)
            for (int c = 0; c < 6; c++) {
                for (int r = 0; r < 8; r++)
                    t[i][c][r] = trial % 2 ? (float)sac_rng_below(&rng, 3) : sac_rng_range(&rng, -1, 1);
                if (trial % 7 == 3 && c == i % 6) t[i][c][i % 3] = 1e30f;
                corner[c][i] = t[i][c];
            }
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
            if (!runs(k)) continue;
            uint32_t unsure, yes = kernels[k]->cross((const float *const(*)[8])corner, &unsure);
            assert_int_equal(yes & unsure, 0);
            for (int i = 0; i < 8; i++) {
                float a[3][3], b[3][3];
                for (int c = 0; c < 3; c++)
                    memcpy(a[c], t[i][c], sizeof a[c]), memcpy(b[c], t[i][3 + c], sizeof b[c]);
                bool one = sac_triangles_cross((const float(*)[3])a, (const float(*)[3])b);
                unsures += unsure >> i & 1u;
                if (unsure >> i & 1u) continue;
                assert_int_equal(yes >> i & 1u, one);
                crossing += one;
            }
        }
    }
    assert_true(crossing > 1000 && unsures > 100 && unsures < 40000);
}

static void same_bits_on_all_paths(void **state)
{
    (void)state;
    sac_simd before = sac_simd_active();
    static float seen[2][SAC_MESHLESS_MOST_K * 2000];
    for (int i = 0; i < 2; i++) {
        sac_meshless_def def = sac_default_meshless_def();
        def.k = i ? 26 : 6;
        play p;
        begin(&p, 600, 90, &def, false);
        sac_rng rng = sac_rng_seed(2);
        shake(&p, &rng, 0.5f, 0);
        uint32_t n = sac_meshless_node_count(p.model);
        assert_true(n <= 2000);
        for (int simd = 0; simd < SAC_SIMD_COUNT; simd++) {
            if (!sac_simd_supported((sac_simd)simd)) continue;
            assert_int_equal(sac_simd_force((sac_simd)simd, NULL), SAC_OK);
            for (int fit = 0; fit < 2; fit++)
                for (uint32_t node = 0; node < n; node++) {
                    float out[SAC_MESHLESS_WIDE(SAC_MESHLESS_MOST_K)];
                    sac_meshless_bound(p.body, node, (sac_meshless_fit)fit, out);
                    float *first = seen[fit] + (size_t)node * def.k;
                    if (simd == SAC_SIMD_SCALAR) memcpy(first, out, def.k * sizeof(float));
                    assert_memory_equal(first, out, def.k * sizeof(float));
                }
        }
        float way[2][SAC_MESHLESS_WIDE(SAC_MESHLESS_MOST_K)];
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
            uint32_t blocks = (p.node_count + 7) / 8;
            size_t bytes = (size_t)blocks * 8 * SAC_MESHLESS_ROW * sizeof(float);
            sac_drift_job job = {p.body->blocks, p.body->then, p.model->reach, blocks, def.k};
            if (!runs(k)) continue;
            memset(p.body->then, 0, bytes);
            kernels[k]->drift(&job, way[k > 0]);
            assert_memory_equal(way[0], way[k > 0], def.k * sizeof(float));
        }
        sac_simd_force(before, NULL);
        end(&p);
    }
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    float v[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    uint32_t t[1][3] = {{0, 1, 9}}, first[5] = {0, 1, 2, 3, 4}, node[4] = {0, 1, 0, 1};
    float weight[4] = {1, 1, 1, -1};
    const float(*p)[3] = (const float(*)[3])v;
    sac_meshless_surface s = {p, 4, NULL, 0}, wrong = {p, 4, (const uint32_t(*)[3])t, 1};
    sac_meshless_weights w = {first, node, weight};
    sac_meshless_def def = sac_default_meshless_def(), bad = def;
    sac_meshless_model *m;
    sac_meshless *body;
    sac_error error;
    bad.k = 8;
    assert_int_equal(sac_meshless_model_create(&s, p, 2, NULL, &bad, &m, &error), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_meshless_model_create(&s, p, 0, NULL, &def, &m, &error), SAC_ERROR_EMPTY);
    assert_int_equal(sac_meshless_model_create(&wrong, p, 2, NULL, &def, &m, &error), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_meshless_model_create(&s, p, 2, &w, &def, &m, &error), SAC_ERROR_ARGUMENT);
    weight[3] = 2, node[3] = 7;
    assert_int_equal(sac_meshless_model_create(&s, p, 2, &w, &def, &m, &error), SAC_ERROR_ARGUMENT);
    node[3] = 1;
    assert_int_equal(sac_meshless_model_create(&s, p, 2, &w, &def, &m, &error), SAC_OK);
    assert_int_equal(sac_meshless_create(m, &body, &error), SAC_OK);
    float rows[3][4] = {{1, 0, 0, NAN}};
    assert_int_equal(sac_meshless_set_node(body, 0, (const float(*)[4])rows, &error), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_meshless_set_node(body, 2, (const float(*)[4])rows, &error), SAC_ERROR_ARGUMENT);
    sac_meshless_destroy(&body), sac_meshless_model_destroy(&m);
    v[2][1] = NAN;
    assert_int_equal(sac_meshless_model_create(&s, p, 2, NULL, &def, &m, &error), SAC_ERROR_ARGUMENT);
    for (int i = 0; i < 4; i++) v[i][0] = v[i][1] = v[i][2] = 3; /* everything in one place */
    assert_int_equal(sac_meshless_model_create(&s, p, 4, NULL, &def, &m, &error), SAC_OK);
    assert_int_equal(sac_meshless_create(m, &body, &error), SAC_OK);
    const float *box = sac_meshless_dop(body, 0);
    for (int i = 0; i < 3; i++)
        assert_true(box[i] >= 3 && box[i] < 3.001f && box[3 + i] >= -3 && box[3 + i] < -2.999f);
    sac_meshless_destroy(&body), sac_meshless_model_destroy(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fill_is_the_optimum),         cmocka_unit_test(long_fills_are_right),
        cmocka_unit_test(equation_12_is_wider),        cmocka_unit_test(dops_hold_their_vertices),
        cmocka_unit_test(root_is_close_to_the_truth),  cmocka_unit_test(refits_only_where_asked),
        cmocka_unit_test(surface_follows_a_soft_body), cmocka_unit_test(same_bits_on_all_paths),
        cmocka_unit_test(bounds_are_carried_on),       cmocka_unit_test(eight_triangles_as_one),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
