/* The perception benchmark as a page: error by budget, by eccentricity, by gaze. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <errno.h>

#include "apps/charts.h"
#include "bench/perceive_table.h"

enum { MOST = 16 };

/* As low as charts go; what was not measured is left out of them. */
static double drawn(double jnd) { return jnd < 0.01 ? 0.01 : jnd; }

static double percentile(const sac_perceive_result *r, double share)
{
    return sac_perceive_percentile(r, 0, SAC_PERCEIVE_RINGS - 1, share);
}

/* Budgets against the 95th percentile, a line a policy. */
static void chart_sweep(sac_page *page, const sac_perceive_table *table)
{
    static double x[MOST][MOST], y[MOST][MOST];
    sac_chart_series series[MOST] = {{0}};
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->row_count; i++) {
        const sac_perceive_row *row = &table->rows[i];
        if (!row->sweep) continue;
        if (!count || strcmp(series[count - 1].name, row->what.policy) != 0) {
            if (count == MOST) break;
            series[count] = (sac_chart_series){.name = row->what.policy, .x = x[count], .y = y[count]};
            count++;
        }
        sac_chart_series *s = &series[count - 1];
        if (s->count == MOST) continue;
        x[count - 1][s->count] = row->what.budget_pct;
        y[count - 1][s->count] = drawn(percentile(&row->all, 0.95));
        s->count++;
    }
    sac_chart_def def = {.title = "Visible error left by budget",
                         .note = "95th percentile, gaze fixed. Below one JND nothing is seen.",
                         .x_label = "% of the work of refining everything",
                         .y_label = "JND",
                         .limit = 1,
                         .limit_name = "1 JND",
                         .logarithmic = true,
                         .least = 0.01,
                         .wide = true};
    sac_chart_lines(page, &def, series, count);
}

/* At 25 %: rings of eccentricity, a line a policy. */
static void chart_rings(sac_page *page, const sac_perceive_table *table)
{
    static double x[MOST][SAC_PERCEIVE_RINGS], y[MOST][SAC_PERCEIVE_RINGS];
    static const double middle[SAC_PERCEIVE_RINGS] = {2.5, 7.5, 15, 25, 40};
    sac_chart_series series[MOST] = {{0}};
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->row_count && count < MOST; i++) {
        const sac_perceive_row *row = &table->rows[i];
        if (row->sweep || row->what.budget_pct != 25 || row->what.trace != SAC_TRACE_FIXATION ||
            row->what.late)
            continue;
        for (uint32_t k = 0; k < SAC_PERCEIVE_RINGS; k++) {
            x[count][k] = middle[k];
            y[count][k] = drawn(sac_perceive_percentile(&row->all, k, k, 0.95));
        }
        series[count] = (sac_chart_series){
            .name = row->what.policy, .x = x[count], .y = y[count], .count = SAC_PERCEIVE_RINGS};
        count++;
    }
    sac_chart_def def = {.title = "Where it is left, at 25 %",
                         .note = "95th percentile by eccentricity, gaze fixed.",
                         .x_label = "degrees from where the eye looks",
                         .y_label = "JND",
                         .limit = 1,
                         .limit_name = "1 JND",
                         .logarithmic = true,
                         .least = 0.01};
    sac_chart_lines(page, &def, series, count);
}

/* At 25 %: the traces, on time and late, a bar a policy. */
static void chart_gaze(sac_page *page, const sac_perceive_table *table, bool late)
{
    static double y[MOST][SAC_TRACE_COUNT];
    const char *labels[MOST] = {0};
    sac_chart_series series[SAC_TRACE_COUNT] = {{0}};
    static double by_trace[SAC_TRACE_COUNT][MOST];
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->row_count && count < MOST; i++) {
        const sac_perceive_row *row = &table->rows[i];
        if (row->sweep || row->what.budget_pct != 25 || row->what.late != late) continue;
        uint32_t t = (uint32_t)row->what.trace;
        y[count][t] = percentile(&row->all, 0.95);
        by_trace[t][count] = y[count][t];
        labels[count] = row->what.policy;
        if (t + 1 == SAC_TRACE_COUNT) count++;
    }
    for (uint32_t t = 0; t < SAC_TRACE_COUNT; t++)
        series[t] =
            (sac_chart_series){.name = sac_trace_name((sac_trace)t), .y = by_trace[t], .count = count};
    sac_chart_def def = {.title = late ? "Gaze 60 ms late, at 25 %" : "Gaze on time, at 25 %",
                         .note = "95th percentile of the visible error.",
                         .x_label = "JND",
                         .y_label = "",
                         .limit = 1,
                         .limit_name = "1 JND"};
    sac_chart_bars(page, &def, labels, count, series, SAC_TRACE_COUNT, "%.2f");
}

static void write_table(sac_page *page, const sac_perceive_table *table)
{
    sac_page_add(
        page,
        "<div class=\"scroll\"><table><tr><th>policy</th><th>budget</th><th>gaze</th><th>p50</th><th>p95</th>"
        "<th>max</th><th>p95 of seeds, 95 %% sure</th><th>false</th><th>missed</th>"
        "<th>flips a pair and second</th></tr>\n");
    for (uint32_t i = 0; i < table->row_count; i++) {
        const sac_perceive_row *row = &table->rows[i];
        if (row->sweep) continue;
        const sac_perceive_result *r = &row->all;
        char p50[24], p95[24], low[24], high[24];
        sac_page_add(page,
                     "<tr><td>%s</td><td>%.0f %%</td><td>%s%s</td><td>%s</td><td>%s</td><td>%.1f</td>"
                     "<td>%s to %s</td><td>%llu</td><td>%llu</td><td>%.2f</td></tr>\n",
                     row->what.policy, row->what.budget_pct, sac_trace_name(row->what.trace),
                     row->what.late ? ", late" : "", sac_perceive_number(p50, percentile(r, 0.5), 2, "–"),
                     sac_perceive_number(p95, percentile(r, 0.95), 2, "–"), r->most,
                     sac_perceive_number(low, row->low, 2, "–"), sac_perceive_number(high, row->high, 2, "–"),
                     (unsigned long long)r->false_contacts, (unsigned long long)r->missed_contacts,
                     r->held ? (double)r->flips * SAC_PERCEIVE_HZ / (double)r->held : 0.0);
    }
    sac_page_add(page, "</table></div>\n");
}

static sac_result save_csv(const sac_perceive_table *table, const char *path, sac_error *error)
{
    sac_page csv = {0};
    sac_page_add(&csv, "policy,budget_pct,gaze,late,sweep,p50_jnd,p95_jnd,max_jnd,ci95_low,ci95_high,"
                       "false_contacts,missed_contacts,flips,held,samples\n");
    for (uint32_t i = 0; i < table->row_count; i++) {
        const sac_perceive_row *row = &table->rows[i];
        const sac_perceive_result *r = &row->all;
        char p50[24], p95[24], low[24], high[24];
        sac_page_add(&csv, "%s,%g,%s,%d,%d,%s,%s,%g,%s,%s,%llu,%llu,%llu,%llu,%llu\n", row->what.policy,
                     row->what.budget_pct, sac_trace_name(row->what.trace), row->what.late, row->sweep,
                     sac_perceive_number(p50, percentile(r, 0.5), 6, ""),
                     sac_perceive_number(p95, percentile(r, 0.95), 6, ""), r->most,
                     sac_perceive_number(low, row->low, 6, ""), sac_perceive_number(high, row->high, 6, ""),
                     (unsigned long long)r->false_contacts, (unsigned long long)r->missed_contacts,
                     (unsigned long long)r->flips, (unsigned long long)r->held,
                     (unsigned long long)r->samples);
    }
    sac_result result = sac_page_save(&csv, path, error);
    sac_page_fini(&csv);
    return result;
}

static void say_needed(sac_page *page, double percent)
{
    char text[24];
    sac_page_add(page, "%s<b>%s %%</b> of the work", percent > 100 ? "more than " : "",
                 sac_perceive_number(text, percent > 100 ? 100 : percent, 0, "–"));
}

static void say_comparison(sac_page *page, const sac_perceive_table *table)
{
    if (isnan(table->over_sort)) {
        sac_page_add(page, "<p>No two bodies touched in view, so there is nothing to compare.</p>\n");
        return;
    }
    sac_page_add(
        page,
        "<p>At 25 %% over all traces the 95th percentile of round-robin is <b>%.1f</b> times that of "
        "jnd, jnd's is <b>%.2f</b> times that of sort, and gaze 60 ms late makes it <b>%.2f</b> times "
        "as large. For a 95th percentile below one JND jnd needs ",
        table->over_round_robin, table->over_sort, table->late);
    say_needed(page, table->needs_jnd);
    sac_page_add(page, ", round-robin ");
    say_needed(page, table->needs_round_robin);
    sac_page_add(page, ".</p>\n");
}

sac_result sac_perceive_table_save(const sac_perceive_table *table, const char *folder, sac_error *error)
{
    char path[4096], lead[512];
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return sac_error_set(error, SAC_ERROR_IO, "choose a folder that can be made", "cannot make %s: %s",
                             folder, strerror(errno));
    snprintf(
        lead, sizeof lead,
        "%s of %u %s, %u seed%s. Each policy refines the same frames with a share of the work everything "
        "would take; an oracle that refined everything knows the error that is left, and an eye that "
        "looks where it looks sees it in just-noticeable differences.",
        table->def.scene, table->def.bodies, table->def.shape, table->seeds, table->seeds == 1 ? "" : "s");
    sac_page page = {0};
    sac_page_begin(&page, "What is seen of the errors", lead);
    say_comparison(&page, table);
    sac_charts_begin(&page);
    chart_sweep(&page, table);
    chart_rings(&page, table);
    chart_gaze(&page, table, false);
    chart_gaze(&page, table, true);
    sac_charts_end(&page);
    write_table(&page, table);
    sac_page_end(&page);
    snprintf(path, sizeof path, "%s/index.html", folder);
    sac_result result = sac_page_save(&page, path, error);
    sac_page_fini(&page);
    snprintf(path, sizeof path, "%s/perceive.csv", folder);
    return result == SAC_OK ? save_csv(table, path, error) : result;
}
