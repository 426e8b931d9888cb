#include "apps/replay_time.h"

#include <math.h>
#include <stdio.h>

#include "apps/run.h"

static const double HOST_US = 50; /* beyond the budget: within what passes of one frame differ by */
enum { MOST_SAID = 40 };

const char *sac_verdict_name(sac_verdict verdict)
{
    static const char *const names[SAC_VERDICTS] = {"host", "own work", "not decided"};
    return verdict < SAC_VERDICTS ? names[verdict] : "";
}

sac_verdict sac_miss_verdict(double budget_us, double replayed_us, uint32_t threads)
{
    if (replayed_us <= budget_us + HOST_US) return SAC_VERDICT_HOST;
    return replayed_us > budget_us + SAC_MISS_US && threads <= 1 ? SAC_VERDICT_WORK : SAC_VERDICT_OPEN;
}

static sac_result no_memory(sac_error *error)
{
    return sac_error_set(error, SAC_ERROR_MEMORY, "ask for fewer passes", "no memory for the times");
}

static sac_result changed(sac_error *error)
{
    return sac_error_set(error, SAC_ERROR_CORRUPT, "let nobody write to it meanwhile",
                         "the recording changed between two passes");
}

/* ---- passes ---- */

sac_result sac_replay_times_add(sac_replay_times *times, const sac_replay_frame *frame, sac_error *error)
{
    if (times->passes == 0) {
        sac_timed_frame then = {frame->recorded_hash, frame->recorded_cpu_ns, frame->recorded_budget_ns,
                                frame->recorded_threads};
        if (!sac_array_push(&times->frames, then)) return no_memory(error);
    } else if (times->at >= times->frames.count ||
               times->frames.data[times->at].hash != frame->recorded_hash) {
        return changed(error);
    }
    if (!sac_array_push(&times->cpu_ns, frame->cpu_ns)) return no_memory(error);
    times->at++;
    return SAC_OK;
}

sac_result sac_replay_times_close(sac_replay_times *times, sac_error *error)
{
    if (times->at != times->frames.count) return changed(error);
    times->at = 0;
    times->passes++;
    return SAC_OK;
}

void sac_replay_times_fini(sac_replay_times *times)
{
    sac_array_fini(&times->frames);
    sac_array_fini(&times->cpu_ns);
    sac_array_fini(&times->misses);
}

/* ---- judging ---- */

typedef struct passes_us {
    double median, least, most;
} passes_us;

/* What a frame took in all passes. */
static passes_us passes_of(const sac_replay_times *times, size_t frame)
{
    double us[SAC_MOST_PASSES];
    uint32_t passes = times->passes < SAC_MOST_PASSES ? times->passes : SAC_MOST_PASSES;
    for (uint32_t p = 0; p < passes; p++)
        us[p] = (double)times->cpu_ns.data[p * times->frames.count + frame] * 1e-3;
    double median = sac_percentiles_of(us, passes).p50;
    return (passes_us){median, us[0], us[passes - 1]}; /* sorted by now */
}

static bool judge_frame(sac_replay_times *times, size_t i, passes_us now, bool same)
{
    const sac_timed_frame *then = &times->frames.data[i];
    double budget = (double)then->budget_ns * 1e-3, recorded = (double)then->cpu_ns * 1e-3;
    if (!then->budget_ns) return true;
    times->least_budget_us = fmin(times->least_budget_us, budget);
    times->most_budget_us = fmax(times->most_budget_us, budget);
    if (!(recorded > budget + SAC_MISS_US)) return true;
    sac_timed_miss miss = {.frame = i + 1,
                           .budget_us = budget,
                           .recorded_us = recorded,
                           .median_us = now.median,
                           .least_us = now.least,
                           .verdict =
                               same ? sac_miss_verdict(budget, now.median, then->threads) : SAC_VERDICT_OPEN};
    times->count[miss.verdict]++;
    return sac_array_push(&times->misses, miss);
}

sac_result sac_replay_times_judge(sac_replay_times *times, uint64_t first_other, sac_error *error)
{
    size_t n = times->frames.count, timed = 0;
    times->least_budget_us = times->most_budget_us = times->spread = NAN;
    times->recorded_us = times->replayed_us = sac_percentiles_of(NULL, 0);
    times->threads = 0;
    times->misses.count = 0;
    memset(times->count, 0, sizeof times->count);
    if (!n || !times->passes) return SAC_OK;
    double *recorded = sac_alloc(n, sizeof *recorded), *replayed = sac_alloc(n, sizeof *replayed),
           *spread = sac_alloc(n, sizeof *spread);
    bool room = recorded && replayed && spread;
    for (size_t i = 0; room && i < n; i++) {
        const sac_timed_frame *then = &times->frames.data[i];
        passes_us now = passes_of(times, i);
        replayed[i] = now.median;
        spread[i] = now.median > 0 ? (now.most - now.least) / now.median : 0;
        if (!then->threads) continue;
        recorded[timed++] = (double)then->cpu_ns * 1e-3;
        if (then->threads > times->threads) times->threads = then->threads;
        room = judge_frame(times, i, now, !first_other || i + 1 < first_other);
    }
    if (room) {
        times->recorded_us = sac_percentiles_of(recorded, timed);
        times->replayed_us = sac_percentiles_of(replayed, n);
        if (times->passes > 1) times->spread = sac_percentiles_of(spread, n).p50;
    }
    sac_free(recorded, n, sizeof *recorded);
    sac_free(replayed, n, sizeof *replayed);
    sac_free(spread, n, sizeof *spread);
    return room ? SAC_OK : no_memory(error);
}

/* ---- telling ---- */

static void say_row(const char *name, const sac_percentiles *p)
{
    if (isfinite(p->p50))
        sac_say("  %-28s %10.1f %10.1f %10.1f %10.1f\n", name, p->p50, p->p99, p->p999, p->max);
}

static void say_head(const sac_replay_times *times)
{
    char a[32], budget[64] = ", no budget", name[48];
    if (times->least_budget_us < times->most_budget_us)
        snprintf(budget, sizeof budget, ", budgets %.6g to %.6g us", times->least_budget_us,
                 times->most_budget_us);
    else if (isfinite(times->most_budget_us))
        snprintf(budget, sizeof budget, ", budget %.6g us", times->most_budget_us);
    sac_say("%s frames%s, %u pass%s on one thread\n", sac_text_count(a, times->frames.count),
            times->threads ? budget : "", times->passes, times->passes == 1 ? "" : "es");
    sac_say("  %-28s %10s %10s %10s %10s\n", "own CPU time, us", "p50", "p99", "p99.9", "max");
    say_row("recorded", &times->recorded_us);
    snprintf(name, sizeof name, times->passes == 1 ? "replayed" : "replayed, medians of %u", times->passes);
    say_row(name, &times->replayed_us);
    if (isfinite(times->spread))
        sac_say("  the passes of a frame differ by %.0f %% (median frame)\n", 100 * times->spread);
}

void sac_replay_times_say(const sac_replay_times *times)
{
    char a[32], b[32], c[32], d[32];
    size_t n = times->misses.count, said = n < MOST_SAID ? n : MOST_SAID;
    say_head(times);
    if (!times->frames.count) return;
    if (!times->threads) {
        sac_say("  the recording is of before steps were timed: there is nothing to compare with\n");
        return;
    }
    if (times->threads > 1)
        sac_say("  recorded on %u threads, replayed on one: what takes longer now is not decided\n",
                times->threads);
    if (n)
        sac_say("  %10s %10s %10s %10s %10s  %s\n", "frame", "budget", "recorded", "replayed", "least",
                "verdict");
    for (size_t i = 0; i < said; i++) {
        const sac_timed_miss *m = &times->misses.data[i];
        sac_say("  %10llu %10.1f %10.1f %10.1f %10.1f  %s\n", (unsigned long long)m->frame, m->budget_us,
                m->recorded_us, m->median_us, m->least_us, sac_verdict_name(m->verdict));
    }
    if (said < n) sac_say("  and %s more, all of them with --json\n", sac_text_count(a, n - said));
    sac_say("  misses %s (recorded more than %.0f us over): host %s, own work %s, not decided %s\n",
            sac_text_count(a, n), SAC_MISS_US, sac_text_count(b, times->count[SAC_VERDICT_HOST]),
            sac_text_count(c, times->count[SAC_VERDICT_WORK]),
            sac_text_count(d, times->count[SAC_VERDICT_OPEN]));
}

static json_t *percentiles_json(const sac_percentiles *p)
{
    return json_pack("{s:o,s:o,s:o,s:o}", "p50", sac_json_number(p->p50), "p99", sac_json_number(p->p99),
                     "p999", sac_json_number(p->p999), "max", sac_json_number(p->max));
}

json_t *sac_replay_times_json(const sac_replay_times *times)
{
    json_t *misses = json_array();
    for (size_t i = 0; i < times->misses.count; i++) {
        const sac_timed_miss *m = &times->misses.data[i];
        json_array_append_new(
            misses, json_pack("{s:I,s:o,s:o,s:o,s:o,s:s}", "frame", (json_int_t)m->frame, "budget_us",
                              sac_json_number(m->budget_us), "recorded_us", sac_json_number(m->recorded_us),
                              "replayed_us", sac_json_number(m->median_us), "replayed_least_us",
                              sac_json_number(m->least_us), "verdict", sac_verdict_name(m->verdict)));
    }
    return json_pack(
        "{s:I,s:{s:o,s:o},s:o,s:o,s:o,s:I,s:o,s:I,s:I,s:I}", "passes", (json_int_t)times->passes, "budget_us",
        "least", sac_json_number(times->least_budget_us), "most", sac_json_number(times->most_budget_us),
        "recorded_us", percentiles_json(&times->recorded_us), "replayed_us",
        percentiles_json(&times->replayed_us), "spread", sac_json_number(times->spread), "recorded_threads",
        (json_int_t)times->threads, "misses", misses, "host", (json_int_t)times->count[SAC_VERDICT_HOST],
        "own_work", (json_int_t)times->count[SAC_VERDICT_WORK], "not_decided",
        (json_int_t)times->count[SAC_VERDICT_OPEN]);
}
