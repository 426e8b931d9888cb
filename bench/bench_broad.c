/* saccade bench broad: who could meet, against a sweep along one axis and against testing all. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/console.h"
#include "base/clock.h"
#include "base/rng.h"
#include "bench/bench.h"
#include "runtime/broad_internal.h"

enum { MOST_BODIES = 20000, BRUTE_BODIES = 1000, MOST_FRAMES = 5000, WARM_FRAMES = 8 };

typedef enum way { WAY_ALL, WAY_LAZY, WAY_SWEEP, WAY_BRUTE, WAYS } way;
static const char *way_names[WAYS] = {"place_all", "place_lazy", "sweep", "brute"};

typedef struct broad_bench {
    uint32_t frames, count;
    float side, radius, margin, speed;
    float (*position)[3], (*velocity)[3];
    sac_box *fat;    /* this frame's boxes, margin included */
    sac_box *sorted; /* by low x */
    uint32_t *order;
    sac_broad *all, *lazy;
    double *ms[WAYS];
    uint64_t placed, credits;
    uint32_t pairs;
} broad_bench;

/* ---- the others ---- */

/* Insertion sort: the order of the frame before is nearly right. The boxes are then copied in order, so that
 * the sweep reads memory straight on. */
static uint32_t sweep_pairs(broad_bench *bench)
{
    uint32_t *order = bench->order, count = bench->count, pairs = 0;
    for (uint32_t i = 1; i < count; i++) {
        uint32_t body = order[i], k = i;
        float low = bench->fat[body].low[0];
        for (; k > 0 && bench->fat[order[k - 1]].low[0] > low; k--) order[k] = order[k - 1];
        order[k] = body;
    }
    sac_box *sorted = bench->sorted;
    for (uint32_t i = 0; i < count; i++) sorted[i] = bench->fat[order[i]];
    for (uint32_t i = 0; i < count; i++) {
        sac_box a = sorted[i];
        for (uint32_t k = i + 1; k < count && sorted[k].low[0] <= a.high[0]; k++)
            pairs += (sorted[k].low[1] <= a.high[1]) & (sorted[k].high[1] >= a.low[1]) &
                     (sorted[k].low[2] <= a.high[2]) & (sorted[k].high[2] >= a.low[2]);
    }
    return pairs;
}

static uint32_t brute_pairs(const broad_bench *bench)
{
    uint32_t pairs = 0;
    for (uint32_t i = 0; i < bench->count; i++) {
        sac_box a = bench->fat[i];
        for (uint32_t k = i + 1; k < bench->count; k++) {
            const sac_box *b = &bench->fat[k];
            pairs += (b->low[0] <= a.high[0]) & (b->high[0] >= a.low[0]) & (b->low[1] <= a.high[1]) &
                     (b->high[1] >= a.low[1]) & (b->low[2] <= a.high[2]) & (b->high[2] >= a.low[2]);
        }
    }
    return pairs;
}

/* ---- the scene ---- */

static void scatter(broad_bench *bench, uint64_t seed)
{
    sac_rng rng = sac_rng_seed(seed);
    for (uint32_t i = 0; i < bench->count; i++) {
        for (int k = 0; k < 3; k++) bench->position[i][k] = bench->side * sac_rng_float(&rng);
        sac_rng_unit_vector(&rng, bench->velocity[i]);
        float speed = bench->speed * sac_rng_float(&rng);
        for (int k = 0; k < 3; k++) bench->velocity[i][k] *= speed;
        bench->order[i] = i;
    }
}

static sac_box tight_box(const broad_bench *bench, uint32_t i, float more)
{
    sac_box box;
    for (int k = 0; k < 3; k++) {
        box.low[k] = bench->position[i][k] - bench->radius - more;
        box.high[k] = bench->position[i][k] + bench->radius + more;
    }
    return box;
}

static void move_all(broad_bench *bench)
{
    for (uint32_t i = 0; i < bench->count; i++) {
        for (int k = 0; k < 3; k++) {
            float *x = &bench->position[i][k], *v = &bench->velocity[i][k];
            *x += *v / 90.0f;
            if ((*x < 0 && *v < 0) || (*x > bench->side && *v > 0)) *v = -*v;
        }
        bench->fat[i] = tight_box(bench, i, bench->margin);
    }
}

/* ---- a frame, each way ---- */

static bool place_all(broad_bench *bench)
{
    uint64_t credits = 0, spent;
    for (uint32_t i = 0; i < bench->count; i++, credits += spent)
        if (!(spent = sac_broad_place_soon(bench->all, i, &bench->fat[i], true))) return false;
    sac_broad_settle(bench->all);
    sac_broad_flush(bench->all);
    bench->credits += credits;
    return true;
}

/* As the world does: a box is placed anew when the body has left the one it has. */
static bool place_lazy(broad_bench *bench)
{
    for (uint32_t i = 0; i < bench->count; i++) {
        const sac_box *has = &bench->lazy->boxes[i];
        const float *x = bench->position[i], r = bench->radius;
        if (x[0] - r >= has->low[0] && x[0] + r <= has->high[0] && x[1] - r >= has->low[1] &&
            x[1] + r <= has->high[1] && x[2] - r >= has->low[2] && x[2] + r <= has->high[2])
            continue;
        if (!sac_broad_place_soon(bench->lazy, i, &bench->fat[i], true)) return false;
        bench->placed++;
    }
    sac_broad_settle(bench->lazy);
    sac_broad_flush(bench->lazy);
    return true;
}

static sac_result run_frame(broad_bench *bench, uint32_t frame, sac_error *error)
{
    uint32_t found[WAYS] = {0};
    bool placed = true;
    move_all(bench);
    for (int i = 0; i < WAYS; i++) {
        way w = (way)((i + frame) % WAYS);
        if (w == WAY_BRUTE && bench->count > BRUTE_BODIES) continue;
        uint64_t start = sac_time_thread_cpu_ns();
        switch (w) {
        case WAY_ALL:
            placed &= place_all(bench), found[w] = bench->all->pair_count;
            break;
        case WAY_LAZY:
            placed &= place_lazy(bench), found[w] = bench->lazy->pair_count;
            break;
        case WAY_SWEEP:
            found[w] = sweep_pairs(bench);
            break;
        default:
            found[w] = brute_pairs(bench);
            break;
        }
        bench->ms[w][frame] = (double)(sac_time_thread_cpu_ns() - start) * 1e-6;
    }
    if (!placed) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for pairs");
    bench->pairs = found[WAY_ALL];
    if (found[WAY_ALL] != found[WAY_SWEEP] ||
        (bench->count <= BRUTE_BODIES && found[WAY_ALL] != found[WAY_BRUTE]))
        return sac_error_set(error, SAC_ERROR_CORRUPT, "report this", "%u pairs by the grid, %u by the sweep",
                             found[WAY_ALL], found[WAY_SWEEP]);
    return SAC_OK;
}

static double share(const double *sorted, uint32_t count, double at)
{
    uint32_t rank = (uint32_t)ceil(at * count);
    return sorted[rank ? rank - 1 : 0];
}

static sac_result run_case(broad_bench *bench, json_t *cases, double *out_ms, sac_error *error)
{
    uint32_t count = bench->count;
    sac_broad_def def = {.bodies = count, .pairs = count * 16};
    sac_result result = sac_broad_create(&def, &bench->all, error);
    if (result == SAC_OK) result = sac_broad_create(&def, &bench->lazy, error);
    scatter(bench, 12345 + count);
    if (result == SAC_OK) move_all(bench), place_all(bench);
    for (uint32_t i = 0; i < count && result == SAC_OK; i++)
        if (!sac_broad_place(bench->lazy, i, &bench->fat[i], true))
            result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for pairs");
    for (uint32_t frame = 0; frame < WARM_FRAMES && result == SAC_OK; frame++)
        result = run_frame(bench, frame, error);
    bench->placed = bench->credits = 0;
    for (uint32_t frame = 0; frame < bench->frames && result == SAC_OK; frame++)
        result = run_frame(bench, frame, error);
    sac_broad_destroy(&bench->all), sac_broad_destroy(&bench->lazy);
    if (result != SAC_OK) return result;

    double p50[WAYS] = {0}, p99[WAYS] = {0}, total = 0;
    for (uint32_t frame = 0; frame < bench->frames; frame++) total += bench->ms[WAY_ALL][frame];
    json_t *ways = json_object();
    for (int w = 0; w < WAYS; w++) {
        if (w == WAY_BRUTE && count > BRUTE_BODIES) continue;
        p50[w] = sac_bench_median(bench->ms[w], bench->frames);
        p99[w] = share(bench->ms[w], bench->frames, 0.99);
        json_object_set_new(ways, way_names[w], json_pack("{s:f,s:f}", "p50_ms", p50[w], "p99_ms", p99[w]));
    }
    double ns = p50[WAY_ALL] * 1e6 / count, moved = (double)bench->placed / ((double)bench->frames * count);
    double per_credit = total * 1e6 / (double)bench->credits;
    char brute[16] = "-";
    if (count <= BRUTE_BODIES) snprintf(brute, sizeof brute, "%.3f", p50[WAY_BRUTE]);
    sac_say("%6u  %7u  %7.3f %7.3f  %5.0f  %7.3f %7.3f  %4.0f %%  %8.3f %8.3f  %7s\n", count, bench->pairs,
            p50[WAY_ALL], p99[WAY_ALL], ns, p50[WAY_LAZY], p99[WAY_LAZY], 100 * moved, p50[WAY_SWEEP],
            p99[WAY_SWEEP], brute);
    json_array_append_new(cases, json_pack("{s:i,s:i,s:f,s:f,s:f,s:o}", "bodies", (int)count, "pairs",
                                           (int)bench->pairs, "ns_per_place", ns, "lazy_share", moved,
                                           "ns_per_credit", per_credit, "ms", ways));
    *out_ms = p50[WAY_ALL];
    return SAC_OK;
}

/* Least squares through log time over log bodies. */
static double slope(const double *bodies, const double *ms, uint32_t count)
{
    double x = 0, y = 0, xx = 0, xy = 0;
    for (uint32_t i = 0; i < count; i++) {
        double u = log(bodies[i]), v = log(ms[i]);
        x += u, y += v, xx += u * u, xy += u * v;
    }
    double below = count * xx - x * x;
    return below > 0 ? (count * xy - x * y) / below : 0;
}

static sac_result run_scene(broad_bench *bench, const char *name, double volume, uint32_t most,
                            json_t *scenes, sac_error *error)
{
    static const uint32_t counts[] = {250, 500, 1000, 2000, 5000, 10000, 20000};
    double bodies[7], ms[7];
    uint32_t done = 0, first = 0;
    json_t *cases = json_array();
    sac_result result = SAC_OK;
    sac_say("%s, %.3g m3 a body\n"
            "                  all placed      ns  those that left       placed     sort and sweep    brute\n"
            "bodies    pairs   p50 ms  p99 ms  each   p50 ms  p99 ms  anew    p50 ms   p99 ms   p50 ms\n",
            name, volume);
    for (uint32_t i = 0; i < 7 && counts[i] <= most && result == SAC_OK; i++) {
        bench->count = counts[i];
        bench->side = (float)cbrt(volume * counts[i]);
        result = run_case(bench, cases, &ms[done], error);
        bodies[done++] = counts[i];
        if (counts[i] < 1000) first = done;
    }
    if (result != SAC_OK) {
        json_decref(cases);
        return result;
    }
    double all = slope(bodies, ms, done), large = slope(bodies + first, ms + first, done - first);
    sac_say("slope %.2f, from 1,000 bodies %.2f\n\n", all, large);
    json_array_append_new(scenes, json_pack("{s:s,s:f,s:f,s:f,s:o}", "name", name, "volume_per_body", volume,
                                            "slope", all, "slope_from_1000", large, "cases", cases));
    return SAC_OK;
}

int sac_bench_broad(int argc, char **argv)
{
    broad_bench bench = {.frames = 300, .radius = 0.4f, .margin = 0.05f, .speed = 2.0f};
    sac_common common = {.threads = 1};
    uint32_t most = MOST_BODIES;
    bool quick = false;
    const sac_option options[] = {
        {"frames", 0, SAC_OPTION_UINT, &bench.frames, "N", "frames of each (default 300)", 10, MOST_FRAMES},
        {"bodies", 0, SAC_OPTION_UINT, &most, "N", "largest number (default 20000)", 250, MOST_BODIES},
        {"quick", 0, SAC_OPTION_FLAG, &quick, NULL, "fewer frames, up to 5,000 bodies", 0, 0},
    };
    const sac_command command = {
        "bench broad",
        "[options]",
        "Boxes of 0.9 m (a torus of 0.8 m and a margin) fly about at up to 2 m/s, 90 frames a second: as "
        "dense\n"
        "as in a pile, and filling one per cent of the space. CPU milliseconds a frame to know all pairs:\n"
        "with every box placed anew, with those that left their margin, by a sorted sweep along one axis, "
        "by\n"
        "testing all. The four take turns and must agree on the number of pairs.",
        options,
        sizeof options / sizeof *options,
        "One thread. The last line is JSON with the same numbers."};
    int count, code = sac_options_parse(&command, argc, argv, &common, NULL, 0, &count);
    if (code >= 0) return code;
    sac_console_init("bench broad", &common);
    if (quick) {
        if (bench.frames > 60) bench.frames = 60;
        if (most > 5000) most = 5000;
    }
    uint32_t room = bench.frames > WARM_FRAMES ? bench.frames : WARM_FRAMES;
    bench.position = malloc(most * sizeof *bench.position);
    bench.velocity = malloc(most * sizeof *bench.velocity);
    bench.fat = malloc(most * sizeof *bench.fat);
    bench.sorted = malloc(most * sizeof *bench.sorted);
    bench.order = malloc(most * sizeof *bench.order);
    bool enough = bench.position && bench.velocity && bench.fat && bench.sorted && bench.order;
    for (int w = 0; w < WAYS; w++) enough &= (bench.ms[w] = malloc(room * sizeof *bench.ms[w])) != NULL;
    sac_error error;
    json_t *scenes = json_array();
    sac_result result = SAC_OK;
    if (!enough) result = sac_error_set(&error, SAC_ERROR_MEMORY, NULL, "no memory for %u bodies", most);
    if (result == SAC_OK) result = run_scene(&bench, "pile", 0.30, most, scenes, &error);
    float edge = 2 * (bench.radius + bench.margin);
    if (result == SAC_OK)
        result = run_scene(&bench, "sparse", 100.0 * edge * edge * edge, most, scenes, &error);
    free(bench.position), free(bench.velocity), free(bench.fat), free(bench.sorted), free(bench.order);
    for (int w = 0; w < WAYS; w++) free(bench.ms[w]);
    if (result != SAC_OK) {
        json_decref(scenes);
        return sac_console_fail(&error);
    }
    return sac_console_json(json_pack("{s:i,s:o}", "frames", (int)bench.frames, "scenes", scenes), true,
                            SAC_EXIT_OK);
}
