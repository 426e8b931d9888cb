/* What a query of two soft bodies costs must follow from what is close, not from how many points there are;
 * and spheres that are refitted without looking at points must not send it to many more places than the
 * smallest ones would. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "bench/bench.h"
#include "bench/bench_soft.h"

enum { ROOM = 1 << 20, CLOSE = 400 };
static const sac_transform here = {.rotation = {0, 0, 0, 1}, .scale = 1};

typedef struct twins {
    sac_soft_model *model;
    sac_soft_tree *tree;
    sac_soft *soft[2];
    sac_soft_cover *cover[2];
    sac_form form[2];
    sac_workspace *workspace;
    uint32_t *lists, count;
    float (*rest)[3];
    bool bends;
} twins;

/* A ball of points on a spiral, bent, twice; `apart` along x. */
static void place(twins *t, float apart, float bend)
{
    for (int b = 0; b < 2; b++) {
        for (uint32_t i = 0; i < t->count; i++) {
            float x = t->rest[i][0], y = t->rest[i][1], z = t->rest[i][2], square = t->bends ? bend : 0;
            float to[3] = {x + bend * y + square * y * y + (b ? apart : 0), y * (1 + bend) + square * x * z,
                           z * (1 - bend) + square * x * y};
            sac_soft_set_point(t->soft[b], i, to, (float[3]){0, 0, 0}, NULL);
        }
        sac_soft_step_def step = {.dt = 1.0f / 90};
        sac_soft_step(&t->soft[b], 1, &step, NULL, NULL);
    }
}

static sac_result begin(twins *t, uint32_t points, sac_soft_mode mode, sac_error *error)
{
    memset(t, 0, sizeof *t);
    t->count = points, t->bends = mode == SAC_SOFT_QUADRATIC;
    t->rest = sac_alloc(points, sizeof *t->rest);
    t->lists = sac_alloc((ROOM + SAC_PAIRS_SLACK) * 6, sizeof *t->lists);
    if (!t->rest || !t->lists)
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %u points", points);
    for (uint32_t i = 0; i < points; i++) {
        double z = 1 - (2.0 * i + 1) / points, r = sqrt(1 - z * z), turn = 2.39996322972865332 * i;
        memcpy(t->rest[i], (float[3]){(float)(r * cos(turn)), (float)(r * sin(turn)), (float)z},
               sizeof t->rest[i]);
    }
    sac_soft_def def = sac_default_soft_def();
    sac_soft_tree_def tree = sac_default_soft_tree_def();
    tree.leaf_points = 8; /* leaves of 4 to 8 points whatever their number */
    def.mode = mode, def.clusters = 1, def.beta = 1, def.settle_time = 0, def.keep_volume = false;
    sac_result result =
        sac_soft_model_create((const float(*)[3])t->rest, NULL, points, &def, &t->model, error);
    if (result == SAC_OK) result = sac_soft_tree_create(t->model, &tree, &t->tree, error);
    if (result == SAC_OK) result = sac_workspace_create(&t->workspace, error);
    for (int b = 0; b < 2 && result == SAC_OK; b++) {
        result = sac_soft_create(t->model, NULL, &t->soft[b], error);
        if (result == SAC_OK) result = sac_soft_cover_create(t->tree, t->soft[b], &t->cover[b], error);
        if (result == SAC_OK) sac_soft_cover_form(t->cover[b], &t->form[b]);
    }
    return result;
}

static void end(twins *t)
{
    for (int b = 0; b < 2; b++) sac_soft_cover_destroy(&t->cover[b]), sac_soft_destroy(&t->soft[b]);
    sac_workspace_destroy(&t->workspace);
    sac_soft_tree_destroy(&t->tree);
    sac_soft_model_destroy(&t->model);
    sac_free(t->rest, t->count, sizeof *t->rest);
    sac_free(t->lists, (ROOM + SAC_PAIRS_SLACK) * 6, sizeof *t->lists);
}

/* Pairs of leaves that are close. */
static uint32_t query(twins *t)
{
    uint32_t *at[6];
    for (int i = 0; i < 6; i++) at[i] = t->lists + (size_t)i * (ROOM + SAC_PAIRS_SLACK);
    sac_pairs lists[2] = {{at[0], at[1], 0, ROOM}, {at[2], at[3], 0, ROOM}}, done = {at[4], at[5], 0, ROOM};
    sac_meeting m;
    for (int b = 0; b < 2; b++) sac_soft_cover_renew(t->cover[b], &t->form[b]);
    if (!sac_meeting_begin(&m, &t->form[0], &here, &t->form[1], &here, 0, &lists[0])) return 0;
    for (uint32_t level = 0; level < m.levels; level++) {
        lists[1 - level % 2].count = 0;
        sac_meeting_open(t->workspace, &m, level, &lists[level % 2], UINT64_MAX, &lists[1 - level % 2],
                         &done);
    }
    return done.count;
}

static uint64_t refits(const twins *t)
{
    return sac_soft_cover_refits(t->cover[0]) + sac_soft_cover_refits(t->cover[1]);
}

/* ---- the smallest spheres, for comparison ---- */

static void smallest(const sac_soft_points *p, const uint32_t *who, uint32_t count, float out[4])
{
    double c[3] = {0}, best = INFINITY;
    for (uint32_t i = 0; i < count; i++) c[0] += p->x[who[i]], c[1] += p->y[who[i]], c[2] += p->z[who[i]];
    for (int k = 0; k < 3; k++) c[k] /= count;
    for (int turn = 0; turn < 300; turn++) {
        double most = -1;
        uint32_t far = 0;
        for (uint32_t i = 0; i < count; i++) {
            double x = p->x[who[i]] - c[0], y = p->y[who[i]] - c[1], z = p->z[who[i]] - c[2],
                   d = x * x + y * y + z * z;
            if (d > most) most = d, far = who[i];
        }
        if (most < best) {
            best = most;
            for (int k = 0; k < 3; k++) out[k] = (float)c[k];
        }
        double to[3] = {p->x[far], p->y[far], p->z[far]};
        for (int k = 0; k < 3; k++) c[k] += (to[k] - c[k]) / (turn + 2);
    }
    out[3] = (float)sqrt(best);
}

static void spheres_of(twins *t, int body, bool optimal, float (*out)[4])
{
    const sac_soft_tree *tree = t->tree;
    sac_soft_points p = sac_soft_view(t->soft[body]);
    for (uint32_t id = 0; id < tree->block_count * SAC_LANES; id++) {
        sac_soft_range range = tree->range[id];
        if (!range.count) continue;
        const sac_sphere_block *s = sac_soft_cover_block(t->cover[body], id / SAC_LANES);
        uint32_t lane = id % SAC_LANES;
        memcpy(out[id], (float[4]){s->x[lane], s->y[lane], s->z[lane], s->r[lane]}, sizeof out[id]);
        if (optimal) smallest(&p, tree->order + range.first, range.count, out[id]);
    }
}

/* Spheres of both that a descent looks at, each once: what is refitted. */
static uint64_t visits(const twins *t, const float (*a)[4], const float (*b)[4], uint8_t *marks)
{
    uint32_t *stack = t->lists, top = 0;
    uint64_t seen = 0;
    stack[top++] = 0, stack[top++] = 0;
    while (top) {
        uint32_t id[2] = {0}, first[2], count[2];
        id[1] = stack[--top], id[0] = stack[--top];
        bool leaf = true;
        for (int s = 0; s < 2; s++) {
            uint32_t link = t->tree->links[id[s] / SAC_LANES].link[id[s] % SAC_LANES];
            first[s] = link & SAC_LINK_LEAF ? id[s] : link * SAC_LANES;
            count[s] = link & SAC_LINK_LEAF ? 1 : SAC_LANES;
            leaf = leaf && link & SAC_LINK_LEAF;
        }
        if (leaf) continue;
        for (uint32_t i = first[0]; i < first[0] + count[0]; i++)
            for (uint32_t k = first[1]; k < first[1] + count[1]; k++) {
                if (!t->tree->range[i].count || !t->tree->range[k].count) continue;
                double d2 = 0, r = (double)a[i][3] + b[k][3];
                for (int x = 0; x < 3; x++) d2 += ((double)a[i][x] - b[k][x]) * ((double)a[i][x] - b[k][x]);
                seen += !(marks[i] & 1), marks[i] |= 1;
                seen += !(marks[k] & 2), marks[k] |= 2;
                if (d2 > r * r || top + 2 > ROOM) continue;
                stack[top++] = i, stack[top++] = k;
            }
    }
    return seen;
}

static sac_result run_visits(sac_soft_mode mode, float apart, json_t *out, sac_error *error)
{
    twins t;
    sac_result result = begin(&t, 8000, mode, error);
    if (result == SAC_OK) {
        size_t lanes = (size_t)t.tree->block_count * SAC_LANES;
        float(*spheres)[4] = sac_alloc_zero(lanes * 4, sizeof *spheres);
        uint8_t *marks = sac_alloc(lanes, 1);
        if (spheres && marks) {
            uint64_t n[2];
            place(&t, apart, 0.1f);
            for (int optimal = 0; optimal < 2; optimal++) {
                for (int b = 0; b < 2; b++)
                    spheres_of(&t, b, optimal, spheres + lanes * (size_t)(optimal * 2 + b));
                memset(marks, 0, lanes);
                n[optimal] = visits(&t, (const float(*)[4])spheres + lanes * (size_t)(optimal * 2),
                                    (const float(*)[4])spheres + lanes * (size_t)(optimal * 2 + 1), marks);
            }
            double extra = ((double)n[0] / (double)n[1] - 1) * 100;
            sac_say("  %-9s %5.2f apart: %6llu, %6llu of the smallest: %+.1f %%\n",
                    mode == SAC_SOFT_LINEAR ? "linear" : "quadratic", (double)apart, (unsigned long long)n[0],
                    (unsigned long long)n[1], extra);
            json_array_append_new(out,
                                  json_pack("{s:s,s:o,s:I,s:I,s:o}", "mode",
                                            mode == SAC_SOFT_LINEAR ? "linear" : "quadratic", "apart",
                                            sac_json_number(apart), "visits", (json_int_t)n[0], "optimal",
                                            (json_int_t)n[1], "extra_pct", sac_json_number(extra)));
        } else {
            result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for spheres");
        }
        sac_free(spheres, lanes * 4, sizeof *spheres), sac_free(marks, lanes, 1);
    }
    end(&t);
    return result;
}

static sac_result run_size(uint32_t points, uint32_t repeats, json_t *out, sac_error *error)
{
    static double us[SAC_BENCH_SOFT_REPEATS], again[SAC_BENCH_SOFT_REPEATS];
    twins t;
    sac_result result = begin(&t, points / 2, SAC_SOFT_QUADRATIC, error);
    if (result == SAC_OK) {
        /* Nearer until as many leaves are close as with any other number of points. */
        float near = 0.2f, far = 2.5f;
        uint32_t close = 0;
        uint64_t before = 0, spheres = 0;
        for (int i = 0; i < 18; i++) {
            float middle = (near + far) / 2;
            place(&t, middle, 0.1f);
            close = query(&t);
            *(close < CLOSE ? &far : &near) = middle;
        }
        for (uint32_t r = 0; r < repeats; r++) {
            place(&t, far, 0.1f);
            before = refits(&t);
            double start = sac_bench_soft_us();
            close = query(&t);
            us[r] = sac_bench_soft_us() - start;
            spheres = refits(&t) - before;
            /* The same once more, with what it needs still in the cache. */
            for (int b = 0; b < 2; b++) {
                sac_soft_points p = sac_soft_view(t.soft[b]);
                sac_soft_set_point(t.soft[b], 0,
                                   (float[3]){p.x[p.place[0]], p.y[p.place[0]], p.z[p.place[0]]}, NULL, NULL);
            }
            start = sac_bench_soft_us();
            query(&t);
            again[r] = sac_bench_soft_us() - start;
        }
        double median = sac_bench_median(us, repeats), warm = sac_bench_median(again, repeats);
        sac_say(
            "  %7u points: %4u pairs of leaves close, %5llu of %6u spheres refitted, %7.1f us; %.1f us from "
            "the cache\n",
            points, close, (unsigned long long)spheres, 2 * t.tree->node_count, median, warm);
        json_array_append_new(out, json_pack("{s:i,s:i,s:I,s:i,s:o,s:o}", "points", (int)points, "close",
                                             (int)close, "refits", (json_int_t)spheres, "spheres",
                                             (int)(2 * t.tree->node_count), "us", sac_json_number(median),
                                             "warm_us", sac_json_number(warm)));
    }
    end(&t);
    return result;
}

sac_result sac_bench_soft_sense(uint32_t repeats, json_t *sizes, json_t *visited, sac_error *error)
{
    static const uint32_t points[] = {8000, 20000, 40000, 80000, 160000};
    sac_result result = SAC_OK;
    sac_say("two bodies in equal contact\n");
    for (size_t i = 0; i < sizeof points / sizeof *points && result == SAC_OK; i++)
        result = run_size(points[i], repeats, sizes, error);
    if (result == SAC_OK) sac_say("spheres a query looks at\n");
    static const float apart[2] = {1.9f, 1.5f};
    for (int i = 0; i < 4 && result == SAC_OK; i++)
        result = run_visits(i < 2 ? SAC_SOFT_LINEAR : SAC_SOFT_QUADRATIC, apart[i % 2], visited, error);
    return result;
}
