/* saccade bench descent: the dual-tree descent against the straightforward version, in one run, interleaved.
 *
 * Poses go round robin: repeating one query would teach the branch predictor its answer. Both sides are
 * compared on every pose before anything is timed. Times are CPU time of this thread, medians of repeats. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/console.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "base/rng.h"
#include "bench/bench.h"
#include "bench/cold.h"
#include "bench/straightforward.h"

enum { MOST_POSES = 256, MOST_REPEATS = 199, MOST_COPIES = 3000 };

typedef enum warmth { WARM, FROM_L3, FROM_DRAM } warmth;

typedef struct descent_case {
    const char *name;
    uint32_t depth;
    double contacts; /* wanted, on average over poses; 0: none on any, but as many tests as can be found */
    warmth warmth;
} descent_case;

static const descent_case all_cases[] = {
    {"near-miss", 3, 0, WARM},
    {"light", 3, 166, WARM},
    {"medium", 3, 600, WARM},
    {"heavy", 3, 2275, WARM},
    {"light-from-l3", 3, 166, FROM_L3},
    {"heavy-from-l3", 3, 2275, FROM_L3},
    {"light-from-dram", 3, 166, FROM_DRAM},
    {"heavy-from-dram", 3, 2275, FROM_DRAM},
    {"deep4-near-miss", 4, 0, WARM},
    {"deep4-light", 4, 166, WARM},
    {"deep4-heavy", 4, 5000, WARM},
    {"deep5-near-miss", 5, 0, WARM},
    {"deep5-light", 5, 166, WARM},
    {"deep5-heavy", 5, 20000, WARM},
};
enum { CASES = sizeof all_cases / sizeof *all_cases };

/* Two shapes of one depth, in both layouts. */
typedef struct shapes {
    sac_tree *a, *b;
    plain_tree plain_a, plain_b;
} shapes;

typedef struct bench_state {
    uint32_t poses, repeats;
    sac_transform pose_a[MOST_POSES], pose_b[MOST_POSES];
    uint32_t *out_a, *out_b, *plain_a, *plain_b;
    size_t capacity;
    sac_front_pool *pool;
    json_t *cases;
    uint64_t sink; /* keeps results alive */
} bench_state;

/* ---- trees and poses ---- */

/* Depth 3 as users bake it; deeper ones, whose making is not the point here, over the mesh's vertices. */
static sac_result grow(const char *mesh_name, uint32_t depth, sac_tree **out, sac_error *error)
{
    sac_mesh *mesh;
    sac_build_def def = sac_default_build_def();
    def.depth = depth;
    sac_result result = sac_mesh_builtin(mesh_name, depth == 3 ? 3000 : (1u << 3 * depth) * 4, &mesh, error);
    if (result != SAC_OK) return result;
    if (depth == 3)
        result = sac_tree_build(mesh, &def, out, error);
    else
        result =
            sac_tree_build_points((const float(*)[3])mesh->vertices, mesh->vertex_count, &def, out, error);
    sac_mesh_destroy(&mesh);
    return result;
}

static void shapes_fini(shapes *s)
{
    sac_tree_destroy(&s->a), sac_tree_destroy(&s->b);
    plain_tree_fini(&s->plain_a), plain_tree_fini(&s->plain_b);
}

static sac_result shapes_init(shapes *s, uint32_t depth, sac_error *error)
{
    *s = (shapes){0};
    sac_result result = grow("knot", depth, &s->a, error);
    if (result == SAC_OK) result = grow("blob", depth, &s->b, error);
    if (result == SAC_OK) {
        s->plain_a = plain_tree_of(s->a);
        s->plain_b = plain_tree_of(s->b);
        if (!s->plain_a.nodes || !s->plain_b.nodes)
            result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the plain trees");
    }
    if (result != SAC_OK) shapes_fini(s);
    return result;
}

/* Any orientation, any direction, this distance between the roots' centres. */
static void place_one(const shapes *s, sac_rng *rng, double distance, sac_transform *pose_a,
                      sac_transform *pose_b)
{
    sac_transform *pose[2] = {pose_a, pose_b};
    const sac_tree *trees[2] = {s->a, s->b};
    float way[3], centre[2][3];
    sac_rng_unit_vector(rng, way);
    for (int k = 0; k < 2; k++) {
        *pose[k] = sac_transform_identity();
        float *q = pose[k]->rotation, length = 0;
        for (int j = 0; j < 4; j++) q[j] = sac_rng_range(rng, -1, 1), length += q[j] * q[j];
        for (int j = 0; j < 4; j++) q[j] /= sqrtf(length);
        const sac_sphere_block *root = trees[k]->spheres;
        sac_transform_point(pose[k], (float[3]){root->x[0], root->y[0], root->z[0]}, centre[k]);
    }
    for (int j = 0; j < 3; j++)
        pose_b->translation[j] = centre[0][j] - centre[1][j] + way[j] * (float)distance;
}

static void place(bench_state *bench, const shapes *s, double distance)
{
    sac_rng rng = sac_rng_seed(1);
    for (uint32_t i = 0; i < bench->poses; i++)
        place_one(s, &rng, distance, &bench->pose_a[i], &bench->pose_b[i]);
}

static double mean_contacts(bench_state *bench, const shapes *s)
{
    double sum = 0;
    uint32_t few = bench->poses < 64 ? bench->poses : 64;
    for (uint32_t i = 0; i < few; i++) {
        sac_descend_result got;
        sac_descend_all(s->a, &bench->pose_a[i], s->b, &bench->pose_b[i], NULL, NULL, 0, &got, NULL);
        sum += (double)got.pairs;
    }
    return sum / few;
}

/* The distance at which the mean number of contacts is as wanted (or the most there is). */
static void place_for(bench_state *bench, const shapes *s, double contacts)
{
    double near = 0, far = (double)s->a->spheres[0].r[0] + s->b->spheres[0].r[0];
    for (int i = 0; i < 24; i++) {
        double middle = 0.5 * (near + far);
        place(bench, s, middle);
        if (mean_contacts(bench, s) > contacts)
            near = middle;
        else
            far = middle;
    }
    place(bench, s, near);
}

typedef struct candidate {
    uint64_t tests;
    sac_transform pose_a, pose_b;
} candidate;

static int by_tests(const void *a, const void *b)
{
    uint64_t x = ((const candidate *)a)->tests, y = ((const candidate *)b)->tests;
    return (x < y) - (x > y);
}

/* Poses without a contact that take most tests to find that out, of many. */
static sac_result place_near_miss(bench_state *bench, const shapes *s, sac_error *error)
{
    enum { TRIED = 32768 };
    candidate *tried = calloc(TRIED, sizeof *tried);
    if (!tried) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for poses");
    double far = (double)s->a->spheres[0].r[0] + s->b->spheres[0].r[0];
    sac_rng rng = sac_rng_seed(2);
    for (int i = 0; i < TRIED; i++) {
        sac_descend_result got;
        place_one(s, &rng, far * sac_rng_range(&rng, 0.3f, 1.0f), &tried[i].pose_a, &tried[i].pose_b);
        sac_descend_all(s->a, &tried[i].pose_a, s->b, &tried[i].pose_b, NULL, NULL, 0, &got, NULL);
        tried[i].tests = got.pairs ? 0 : got.tests;
    }
    qsort(tried, TRIED, sizeof *tried, by_tests);
    for (uint32_t i = 0; i < bench->poses; i++)
        bench->pose_a[i] = tried[i].pose_a, bench->pose_b[i] = tried[i].pose_b;
    free(tried);
    return SAC_OK;
}

/* ---- agreement ---- */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool same_pairs(const uint32_t *a, const uint32_t *b, const uint32_t *c, const uint32_t *d,
                       size_t count)
{
    uint64_t *x = malloc((count + 1) * sizeof *x), *y = malloc((count + 1) * sizeof *y);
    bool same = x && y;
    for (size_t i = 0; same && i < count; i++) {
        x[i] = (uint64_t)a[i] << 32 | b[i];
        y[i] = (uint64_t)c[i] << 32 | d[i];
    }
    if (same) {
        qsort(x, count, sizeof *x, by_value);
        qsort(y, count, sizeof *y, by_value);
        same = memcmp(x, y, count * sizeof *x) == 0;
    }
    free(x), free(y);
    return same;
}

/* All versions give the same pairs on every pose; counts what they test. */
static sac_result verify(bench_state *bench, const shapes *s, double *contacts, double *tests,
                         double *plain_tests, sac_error *error)
{
    uint64_t sum = 0, sum_tests = 0, sum_plain = 0;
    for (uint32_t i = 0; i < bench->poses; i++) {
        const sac_transform *pa = &bench->pose_a[i], *pb = &bench->pose_b[i];
        sac_descend_result got;
        sac_result result =
            sac_descend_all(s->a, pa, s->b, pb, bench->out_a, bench->out_b, bench->capacity, &got, error);
        if (result != SAC_OK) return result;
        size_t plain = plain_collide(&s->plain_a, pa, &s->plain_b, pb, bench->plain_a, bench->plain_b,
                                     bench->capacity, &sum_plain);
        uint64_t unused = 0;
        size_t hoisted = plain_collide_hoisted(&s->plain_a, pa, &s->plain_b, pb, NULL, NULL, 0, &unused);
        if (got.pairs > bench->capacity)
            return sac_error_set(error, SAC_ERROR_LIMIT, NULL, "%zu contacts are too many", got.pairs);
        if (plain != got.pairs || hoisted != got.pairs ||
            !same_pairs(bench->out_a, bench->out_b, bench->plain_a, bench->plain_b, plain))
            return sac_error_set(error, SAC_ERROR_CORRUPT, "report it", "pose %u: the versions disagree", i);
        sac_front *front;
        if ((result = sac_front_acquire(bench->pool, s->a, pa, s->b, pb, &front, error)) != SAC_OK)
            return result;
        sac_front_step(front, UINT64_MAX);
        sac_front_summary summary = sac_front_report(front);
        sac_front_release(front);
        if (summary.finished != got.pairs || summary.coarse)
            return sac_error_set(error, SAC_ERROR_CORRUPT, "report it", "pose %u: the front disagrees", i);
        sum += got.pairs;
        sum_tests += summary.tests;
    }
    *contacts = (double)sum / bench->poses;
    *tests = (double)sum_tests / bench->poses;
    *plain_tests = (double)sum_plain / bench->poses;
    return SAC_OK;
}

/* ---- timing ---- */

typedef enum contender { COMPLETE, FRONT, PLAIN, PLAIN_HOISTED, FIRST_CONTACT, CONTENDERS } contender;

/* One query of one contender. */
static void run(bench_state *bench, contender who, const shapes *s, const cold_pair *cold, uint32_t i)
{
    const sac_transform *pa = &bench->pose_a[i], *pb = &bench->pose_b[i];
    const sac_tree *a = cold ? cold->a : s->a, *b = cold ? cold->b : s->b;
    sac_front *front;
    sac_contact contact;
    sac_descend_result got;
    switch (who) {
    case COMPLETE:
        sac_descend_all(a, pa, b, pb, bench->out_a, bench->out_b, bench->capacity, &got, NULL);
        bench->sink += got.pairs;
        break;
    case FRONT:
        if (sac_front_acquire(bench->pool, a, pa, b, pb, &front, NULL) != SAC_OK) return;
        bench->sink += sac_front_step(front, UINT64_MAX);
        sac_front_release(front);
        break;
    case PLAIN:
        bench->sink +=
            plain_collide(cold ? &cold->plain_a : &s->plain_a, pa, cold ? &cold->plain_b : &s->plain_b, pb,
                          bench->out_a, bench->out_b, bench->capacity, &bench->sink);
        break;
    case PLAIN_HOISTED:
        bench->sink += plain_collide_hoisted(cold ? &cold->plain_a : &s->plain_a, pa,
                                             cold ? &cold->plain_b : &s->plain_b, pb, bench->out_a,
                                             bench->out_b, bench->capacity, &bench->sink);
        break;
    default:
        /* Acquire, test the roots, open them, and read what is known. */
        if (sac_front_acquire(bench->pool, a, pa, b, pb, &front, NULL) != SAC_OK) return;
        sac_front_step_level(front, UINT64_MAX);
        if (sac_front_contacts(front, &contact, 1)) bench->sink += contact.node_a;
        sac_front_release(front);
    }
}

typedef struct timing {
    double cpu_ns, wall_ns; /* a query, medians */
} timing;

typedef struct timings {
    timing of[CONTENDERS];
    double speedup, front_speedup, hoisted_speedup; /* medians of the repeats' ratios */
} timings;

static void measure(bench_state *bench, const shapes *s, cold_set *cold, timings *out)
{
    static double cpu[CONTENDERS][MOST_REPEATS], wall[CONTENDERS][MOST_REPEATS], ratio[MOST_REPEATS];
    cold_pair pairs[MOST_POSES];
    for (uint32_t r = 0; r < bench->repeats; r++)
        for (int who = 0; who < CONTENDERS; who++) {
            if (cold)
                for (uint32_t i = 0; i < bench->poses; i++) pairs[i] = cold_set_next(cold, i);
            uint64_t wall_start = sac_time_now_ns(), start = sac_time_thread_cpu_ns();
            for (uint32_t i = 0; i < bench->poses; i++)
                run(bench, (contender)who, s, cold ? &pairs[i] : NULL, i);
            cpu[who][r] = (double)(sac_time_thread_cpu_ns() - start) / bench->poses;
            wall[who][r] = (double)(sac_time_now_ns() - wall_start) / bench->poses;
        }
    double *ratios[3] = {&out->speedup, &out->front_speedup, &out->hoisted_speedup};
    const int above[3] = {PLAIN, PLAIN, PLAIN_HOISTED}, below[3] = {COMPLETE, FRONT, COMPLETE};
    for (int k = 0; k < 3; k++) {
        for (uint32_t r = 0; r < bench->repeats; r++) ratio[r] = cpu[above[k]][r] / cpu[below[k]][r];
        *ratios[k] = sac_bench_median(ratio, bench->repeats);
    }
    for (int who = 0; who < CONTENDERS; who++)
        out->of[who] =
            (timing){sac_bench_median(cpu[who], bench->repeats), sac_bench_median(wall[who], bench->repeats)};
}

/* ---- report ---- */

static void say_heading(void)
{
    sac_say("                                       complete  interruptible        straightforward   hoisted "
            "   first\n"
            "case              contacts    tests  query us   front us  ns/pair        us  speedup   speedup  "
            "contact us\n");
}

static void report(bench_state *bench, const descent_case *c, const shapes *s, const timings *t,
                   double contacts, double tests, double plain_tests)
{
    const timing *of = t->of;
    double ns_per_pair = of[FRONT].cpu_ns / tests;
    sac_say("%-16s %9.0f %8.0f %9.3f  %9.3f  %7.3f %9.3f  %6.2fx   %6.2fx  %10.3f\n", c->name, contacts,
            tests, of[COMPLETE].cpu_ns * 1e-3, of[FRONT].cpu_ns * 1e-3, ns_per_pair, of[PLAIN].cpu_ns * 1e-3,
            t->speedup, t->hoisted_speedup, of[FIRST_CONTACT].cpu_ns * 1e-3);
    static const char *const memory[] = {"cache", "l3", "dram"};
    json_array_append_new(
        bench->cases,
        json_pack("{s:s,s:s,s:i,s:i,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f}", "name",
                  c->name, "memory", memory[c->warmth], "nodes", (int)s->a->node_count, "depth",
                  (int)s->a->depth, "ns_per_pair", ns_per_pair, "pairs", tests, "speedup", t->speedup,
                  "contacts", contacts, "query_us", of[COMPLETE].cpu_ns * 1e-3, "query_ns_per_pair",
                  of[COMPLETE].cpu_ns / tests, "front_us", of[FRONT].cpu_ns * 1e-3, "front_speedup",
                  t->front_speedup, "straightforward_us", of[PLAIN].cpu_ns * 1e-3, "straightforward_pairs",
                  plain_tests, "hoisted_us", of[PLAIN_HOISTED].cpu_ns * 1e-3, "hoisted_speedup",
                  t->hoisted_speedup, "first_contact_us", of[FIRST_CONTACT].cpu_ns * 1e-3, "query_wall_us",
                  of[COMPLETE].wall_ns * 1e-3, "straightforward_wall_us", of[PLAIN].wall_ns * 1e-3));
}

static sac_result run_case(bench_state *bench, const descent_case *c, const shapes *s, sac_error *error)
{
    double contacts = 0, tests = 0, plain_tests = 0;
    timings t;
    sac_result result = SAC_OK;
    if (c->contacts > 0)
        place_for(bench, s, c->contacts);
    else
        result = place_near_miss(bench, s, error);
    if (result == SAC_OK) result = verify(bench, s, &contacts, &tests, &plain_tests, error);
    if (result != SAC_OK) return result;
    cold_set *cold = NULL;
    if (c->warmth != WARM) {
        /* From L3: far more trees than the second cache holds. From DRAM: a few, flushed. */
        bool flush = c->warmth == FROM_DRAM;
        result = cold_set_create(s->a, s->b, &s->plain_a, &s->plain_b, flush ? bench->poses : MOST_COPIES,
                                 flush, &cold, error);
        if (result == SAC_ERROR_UNSUPPORTED) {
            sac_say("%-16s skipped: this processor cannot flush its caches on request\n", c->name);
            return SAC_OK;
        }
        if (result != SAC_OK) return result;
    }
    measure(bench, s, cold, &t);
    cold_set_destroy(&cold);
    report(bench, c, s, &t, contacts, tests, plain_tests);
    return SAC_OK;
}

static sac_result run_all(bench_state *bench, const char *only, bool quick, sac_error *error)
{
    shapes s = {0};
    uint32_t depth = 0;
    sac_result result = SAC_OK;
    for (int i = 0; i < CASES && result == SAC_OK; i++) {
        const descent_case *c = &all_cases[i];
        if (only ? !strstr(c->name, only) : quick && c->depth > 3) continue;
        if (c->depth != depth) {
            shapes_fini(&s);
            depth = c->depth;
            result = shapes_init(&s, depth, error);
        }
        if (result == SAC_OK) result = run_case(bench, c, &s, error);
    }
    shapes_fini(&s);
    return result;
}

int sac_bench_descent(int argc, char **argv)
{
    bench_state bench = {.poses = MOST_POSES, .repeats = 21, .capacity = 1u << 18};
    sac_common common = {.threads = 1};
    const char *simd_name = NULL, *only = NULL;
    bool quick = false;
    const sac_option options[] = {
        {"simd", 0, SAC_OPTION_TEXT, &simd_name, "NAME",
         "scalar, sse2, avx2, avx512 or neon (default: the best)", 0, 0},
        {"case", 0, SAC_OPTION_TEXT, &only, "TEXT", "only cases whose name contains it", 0, 0},
        {"poses", 0, SAC_OPTION_UINT, &bench.poses, "N", "poses, round robin (default 256)", 1, MOST_POSES},
        {"repeats", 0, SAC_OPTION_UINT, &bench.repeats, "N", "the median counts (default 21)", 1,
         MOST_REPEATS},
        {"quick", 0, SAC_OPTION_FLAG, &quick, NULL, "fewer poses and repeats, trees of 585 nodes only", 0, 0},
    };
    const sac_command command = {
        "bench descent",
        "[options]",
        "Two trees collide: all contacts at once, through a front, and by plain recursion over an array of\n"
        "structs. Microseconds a query, transform and front upkeep included; nanoseconds a sphere test of\n"
        "the front; how many times the complete query is faster than the straightforward one.",
        options,
        sizeof options / sizeof *options,
        "CPU time of one thread. The last line is JSON with the same numbers and more."};
    int count, code = sac_options_parse(&command, argc, argv, &common, NULL, 0, &count);
    if (code >= 0) return code;
    sac_console_init("bench descent", &common);
    sac_error error;
    sac_simd simd;
    if (simd_name) {
        if (!sac_simd_from_name(simd_name, &simd))
            return sac_options_usage_error("bench descent", "no SIMD path '%s'", simd_name);
        if (sac_simd_force(simd, &error) != SAC_OK) return sac_console_fail(&error);
    }
    if (quick) {
        if (bench.poses > 64) bench.poses = 64;
        if (bench.repeats > 7) bench.repeats = 7;
    }
    sac_front_pool_def def = sac_default_front_pool_def();
    def.entries = 1u << 20;
    sac_result result = sac_front_pool_create(&def, &bench.pool, &error);
    uint32_t *room = malloc(4 * bench.capacity * sizeof *room);
    if (result == SAC_OK && !room)
        result = sac_error_set(&error, SAC_ERROR_MEMORY, NULL, "no memory for pairs");
    bench.out_a = room, bench.out_b = room + bench.capacity;
    bench.plain_a = room + 2 * bench.capacity, bench.plain_b = room + 3 * bench.capacity;
    bench.cases = json_array();
    if (result == SAC_OK) {
        sac_say("Path %s, %u poses, medians of %u, one thread.\n\n", sac_simd_name(sac_simd_active()),
                bench.poses, bench.repeats);
        say_heading();
        result = run_all(&bench, only, quick, &error);
    }
    sac_front_pool_destroy(&bench.pool);
    free(room);
    if (result != SAC_OK) {
        json_decref(bench.cases);
        return sac_console_fail(&error);
    }
    return sac_console_json(json_pack("{s:s,s:i,s:i,s:o}", "simd", sac_simd_name(sac_simd_active()), "poses",
                                      (int)bench.poses, "repeats", (int)bench.repeats, "cases", bench.cases),
                            true, SAC_EXIT_OK);
}
