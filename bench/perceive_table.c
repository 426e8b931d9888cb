/* Every policy with every budget and every gaze, over several seeds, and what they come to. */
#include "bench/perceive_table.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "apps/console.h"
#include "base/parallel.h"

static const char *const policies[] = {"fifo", "random",   "round-robin", "distance",
                                       "sort", "groups:8", "probability", "jnd"};
static const double budgets[] = {10, 25, 50};
/* Steps on which the least budget for p95 < 1 JND is looked for, gaze fixed. */
static const char *const sweepers[] = {"round-robin", "groups:8", "sort", "jnd"};
static const double steps[] = {3, 5, 7, 10, 14, 20, 28, 40, 56, 80, 100};
enum {
    POLICIES = sizeof policies / sizeof *policies,
    BUDGETS = sizeof budgets / sizeof *budgets,
    SWEEPERS = sizeof sweepers / sizeof *sweepers,
    STEPS = sizeof steps / sizeof *steps,
    ROWS = POLICIES * BUDGETS * SAC_TRACE_COUNT * 2 + SWEEPERS * STEPS
};

static void make_rows(sac_perceive_table *table)
{
    sac_perceive_row *row = table->rows;
    for (uint32_t p = 0; p < POLICIES; p++)
        for (uint32_t b = 0; b < BUDGETS; b++)
            for (uint32_t t = 0; t < SAC_TRACE_COUNT; t++)
                for (uint32_t late = 0; late < 2; late++, row++)
                    row->what = (sac_perceive_case){policies[p], budgets[b], (sac_trace)t, late};
    for (uint32_t p = 0; p < SWEEPERS; p++)
        for (uint32_t s = 0; s < STEPS; s++, row++) {
            row->what = (sac_perceive_case){sweepers[p], steps[s], SAC_TRACE_FIXATION, false};
            row->sweep = true;
        }
}

/* One seed at a time is in memory, its runs on all threads: whatever their number, the same sums. */
typedef struct seed_work {
    sac_perceive_table *table;
    sac_perceive_motion *motion;
    sac_perceive_result *results; /* a row each */
    uint64_t seed;
    sac_result result;
    sac_error error;
    atomic_bool failed;
} seed_work;

static void run_row(uint32_t item, uint32_t worker, void *context)
{
    seed_work *work = context;
    sac_error error;
    (void)worker;
    if (atomic_load(&work->failed)) return;
    sac_result result = sac_perceive_run(work->motion, &work->table->rows[item].what, work->seed,
                                         &work->results[item], &error);
    if (result != SAC_OK && !atomic_exchange(&work->failed, true)) work->result = result, work->error = error;
}

/* Two-sided 95 % of Student's t, by degrees of freedom. */
static double student(uint32_t freedom)
{
    static const double table[] = {0,     12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                                   2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131};
    if (freedom < sizeof table / sizeof *table) return table[freedom];
    return 1.96 + 2.5 / freedom;
}

static void confide(sac_perceive_row *row, uint32_t seeds)
{
    double mean = 0, spread = 0;
    uint32_t n = 0;
    for (uint32_t s = 0; s < seeds; s++)
        if (isfinite(row->p95[s])) mean += row->p95[s], n++;
    row->low = row->high = n ? mean / n : NAN;
    if (n < 2) return;
    mean /= n;
    for (uint32_t s = 0; s < seeds; s++)
        if (isfinite(row->p95[s])) spread += (row->p95[s] - mean) * (row->p95[s] - mean);
    double half = student(n - 1) * sqrt(spread / (n - 1) / n);
    row->low = fmax(0, mean - half);
    row->high = mean + half;
}

const sac_perceive_row *sac_perceive_table_find(const sac_perceive_table *table, const char *policy,
                                                double budget, sac_trace trace, bool late)
{
    for (uint32_t i = 0; i < table->row_count; i++) {
        const sac_perceive_row *row = &table->rows[i];
        if (strcmp(row->what.policy, policy) == 0 && row->what.budget_pct == budget &&
            row->what.trace == trace && row->what.late == late)
            return row;
    }
    return NULL;
}

/* 95th percentile over all traces at 25 %. */
static double overall(const sac_perceive_table *table, const char *policy, bool late)
{
    static sac_perceive_result sum;
    sum = (sac_perceive_result){0};
    for (uint32_t t = 0; t < SAC_TRACE_COUNT; t++) {
        const sac_perceive_row *row = sac_perceive_table_find(table, policy, 25, (sac_trace)t, late);
        if (row) sac_perceive_add(&sum, &row->all);
    }
    return sac_perceive_percentile(&sum, 0, SAC_PERCEIVE_RINGS - 1, 0.95);
}

/* Below this nothing is seen: ratios of smaller errors say nothing. What was not measured stays NaN. */
static double visible(double jnd) { return jnd < 0.05 ? 0.05 : jnd; }

/* Where the 95th percentile falls below one JND for good, between two steps by their logarithms; NaN where it
 * was not measured. */
static double budget_needed(const sac_perceive_table *table, const char *policy)
{
    double needed = 101, after = 0;
    for (uint32_t s = STEPS; s-- > 0;) {
        const sac_perceive_row *row =
            sac_perceive_table_find(table, policy, steps[s], SAC_TRACE_FIXATION, false);
        double p95 = row ? sac_perceive_percentile(&row->all, 0, SAC_PERCEIVE_RINGS - 1, 0.95) : NAN;
        if (isnan(p95)) return NAN;
        if (!(p95 < 1)) {
            if (needed > 100) return needed;
            double share = log(p95) / (log(p95) - log(fmax(after, 1e-3)));
            return steps[s] * pow(needed / steps[s], share);
        }
        needed = steps[s], after = p95;
    }
    return needed;
}

/* What all seeds come to. */
static void compare(sac_perceive_table *table)
{
    table->full_credits /= table->seeds;
    table->pairs /= table->seeds;
    for (uint32_t i = 0; i < ROWS; i++) confide(&table->rows[i], table->seeds);
    double jnd = overall(table, "jnd", false);
    table->over_round_robin = overall(table, "round-robin", false) / visible(jnd);
    table->over_sort = visible(jnd) / visible(overall(table, "sort", false));
    table->late = visible(overall(table, "jnd", true)) / visible(jnd);
    table->needs_jnd = budget_needed(table, "jnd");
    table->needs_round_robin = budget_needed(table, "round-robin");
}

sac_result sac_perceive_table_run(sac_perceive_table *table, sac_error *error)
{
    table->row_count = ROWS;
    table->rows = sac_alloc_zero(ROWS, sizeof *table->rows);
    seed_work work = {.table = table, .results = sac_alloc_zero(ROWS, sizeof *work.results)};
    sac_result result = SAC_OK;
    if (!table->rows || !work.results)
        result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the table");
    if (result == SAC_OK) make_rows(table);
    char doing[] = "perceive";
    uint32_t wanted = table->seeds;
    table->seeds = 0;
    for (uint32_t s = 0; s < wanted && result == SAC_OK; s++) {
        if (!sac_console_progress((float)s / (float)wanted, doing)) {
            result =
                sac_error_set(error, SAC_ERROR_CANCELLED, NULL, "stopped after %u of %u seeds", s, wanted);
            break;
        }
        work.seed = SAC_SHARED_SEED + s;
        result = sac_perceive_motion_create(&table->def, work.seed, &work.motion, error);
        if (result != SAC_OK) break;
        sac_parallel_for(ROWS, table->threads, run_row, &work);
        if (atomic_load(&work.failed)) {
            result = work.result;
            *error = work.error;
        }
        for (uint32_t i = 0; i < ROWS && result == SAC_OK; i++) {
            sac_perceive_add(&table->rows[i].all, &work.results[i]);
            table->rows[i].p95[s] =
                sac_perceive_percentile(&work.results[i], 0, SAC_PERCEIVE_RINGS - 1, 0.95);
        }
        table->full_credits += work.motion->full_credits;
        table->pairs += (double)work.motion->pairs.count / work.motion->frames;
        sac_perceive_motion_destroy(&work.motion);
        if (result == SAC_OK) table->seeds++;
    }
    sac_console_progress_end();
    sac_free(work.results, ROWS, sizeof *work.results);
    if (result != SAC_OK && result != SAC_ERROR_CANCELLED) table->seeds = 0;
    if (table->seeds) compare(table);
    return result;
}

void sac_perceive_table_fini(sac_perceive_table *table)
{
    sac_free(table->rows, ROWS, sizeof *table->rows);
    table->rows = NULL;
}

/* ---- for people and programs ---- */

const char *sac_perceive_number(char out[24], double value, int places, const char *none)
{
    if (isfinite(value))
        snprintf(out, 24, "%.*f", places, value);
    else
        snprintf(out, 24, "%s", none);
    return out;
}

static double percentile(const sac_perceive_row *row, double share)
{
    return sac_perceive_percentile(&row->all, 0, SAC_PERCEIVE_RINGS - 1, share);
}

static double flips_a_second(const sac_perceive_row *row)
{
    return row->all.held ? (double)row->all.flips * SAC_PERCEIVE_HZ / (double)row->all.held : 0;
}

void sac_perceive_table_say(const sac_perceive_table *table)
{
    char text[32];
    sac_say("%s of %u %s, %.0f pairs and %s credits a frame when everything is refined, %u seed%s.\n"
            "Visible error left, in JNDs, of pairs in view that collide truly or apparently.\n\n",
            table->def.scene, table->def.bodies, table->def.shape, table->pairs,
            sac_text_count(text, (uint64_t)table->full_credits), table->seeds, table->seeds == 1 ? "" : "s");
    sac_say(
        "policy        budget  gaze             p50     p95     max   p95 of seeds    false  missed  flips/s"
        "  delay ms  turned\n");
    for (uint32_t i = 0; i < table->row_count; i++) {
        const sac_perceive_row *row = &table->rows[i];
        if (row->sweep) continue;
        const sac_perceive_result *r = &row->all;
        char p50[24], p95[24], low[24], high[24];
        snprintf(text, sizeof text, "%s%s", sac_trace_name(row->what.trace), row->what.late ? ", late" : "");
        sac_say("%-13s %4.0f %%  %-14s %6s  %6s  %6.1f  %6s..%-6s %7llu %7llu  %7.2f  %8.1f  %5.1f°\n",
                row->what.policy, row->what.budget_pct, text,
                sac_perceive_number(p50, percentile(row, 0.5), 2, "-"),
                sac_perceive_number(p95, percentile(row, 0.95), 2, "-"), r->most,
                sac_perceive_number(low, row->low, 2, "-"), sac_perceive_number(high, row->high, 2, "-"),
                (unsigned long long)r->false_contacts, (unsigned long long)r->missed_contacts,
                flips_a_second(row), r->delays ? r->delay_ms / (double)r->delays : 0,
                r->directions ? r->direction_degrees / (double)r->directions : 0);
    }
    if (isnan(table->over_sort)) {
        sac_say("\nNo two bodies touched in view, so there is nothing to compare: give more --bodies, "
                "--frames or "
                "--skip.\n");
        return;
    }
    sac_say("\nBudget needed for p95 < 1 JND, gaze fixed:");
    for (uint32_t p = 0; p < SWEEPERS; p++) {
        double needed = budget_needed(table, sweepers[p]);
        sac_say("  %s %s%s %%", sweepers[p], needed > 100 ? "> " : "",
                sac_perceive_number(text, needed > 100 ? 100 : needed, 0, "-"));
    }
    sac_say(
        "\nAt 25 %%, all traces: p95 of round-robin is %.1f times that of jnd; jnd's is %.2f times that of "
        "sort;\ngaze 60 ms late makes it %.2f times as large.\n",
        table->over_round_robin, table->over_sort, table->late);
}

static json_t *row_json(const sac_perceive_row *row)
{
    const sac_perceive_result *r = &row->all;
    char gaze[32];
    snprintf(gaze, sizeof gaze, "%s%s", sac_trace_name(row->what.trace), row->what.late ? "-late" : "");
    json_t *rings = json_array();
    for (uint32_t k = 0; k < SAC_PERCEIVE_RINGS; k++)
        json_array_append_new(rings,
                              json_pack("{s:f,s:o,s:o}", "to_degrees", (double)sac_perceive_ring_end[k],
                                        "p50_jnd", sac_json_number(sac_perceive_percentile(r, k, k, 0.5)),
                                        "p95_jnd", sac_json_number(sac_perceive_percentile(r, k, k, 0.95))));
    return json_pack("{s:s,s:f,s:s,s:o,s:o,s:f,s:f,s:I,s:I,s:I,s:f,s:[oo],s:f,s:f,s:I,s:o}", "policy",
                     row->what.policy, "budget_pct", row->what.budget_pct, "gaze", gaze, "p50_jnd",
                     sac_json_number(percentile(row, 0.5)), "p95_jnd", sac_json_number(percentile(row, 0.95)),
                     "max_jnd", r->most, "sum_jnd", r->sum, "false_contacts", (json_int_t)r->false_contacts,
                     "missed_contacts", (json_int_t)r->missed_contacts, "touching", (json_int_t)r->touching,
                     "flips_per_pair_s", flips_a_second(row), "ci95", sac_json_number(row->low),
                     sac_json_number(row->high), "delay_ms",
                     r->delays ? r->delay_ms / (double)r->delays : 0.0, "direction_degrees",
                     r->directions ? r->direction_degrees / (double)r->directions : 0.0, "samples",
                     (json_int_t)r->samples, "rings", rings);
}

json_t *sac_perceive_table_json(const sac_perceive_table *table)
{
    json_t *runs = json_array(), *sweep = json_array(), *needs = json_object();
    for (uint32_t i = 0; i < table->row_count; i++)
        json_array_append_new(table->rows[i].sweep ? sweep : runs, row_json(&table->rows[i]));
    for (uint32_t p = 0; p < SWEEPERS; p++)
        json_object_set_new(needs, sweepers[p], sac_json_number(budget_needed(table, sweepers[p])));
    return json_pack("{s:s,s:s,s:i,s:i,s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "scene", table->def.scene,
                     "shape", table->def.shape, "bodies", (int)table->def.bodies, "frames",
                     (int)table->def.frames, "seeds", (int)table->seeds, "pairs",
                     sac_json_number(table->pairs), "full_credits", sac_json_number(table->full_credits),
                     "runs", runs, "sweep", sweep, "budget_for_1_jnd_pct", needs, "round_robin_over_jnd",
                     sac_json_number(table->over_round_robin), "jnd_over_sort",
                     sac_json_number(table->over_sort), "late_over_on_time", sac_json_number(table->late));
}
