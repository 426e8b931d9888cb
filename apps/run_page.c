#include "apps/run_page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "apps/charts.h"
#include "apps/console.h"

enum { PATH = 4400 };

void sac_run_album_init(sac_run_album *album, uint64_t frames, uint32_t count)
{
    *album = (sac_run_album){.count = count < SAC_ALBUM_MOST ? count : SAC_ALBUM_MOST};
    for (uint32_t i = 0; i < album->count; i++) {
        double share = (double)(i + 1) / album->count;
        album->frames[i] = (uint64_t)(share * share * (double)frames + 0.5);
        if (album->frames[i]) album->frames[i]--;
    }
}

void sac_run_album_look(const sac_staging *staging, const sac_world *world, const sac_viewer *viewer,
                        uint64_t frame, void *user)
{
    sac_run_album *album = user;
    if (album->failed || album->taken >= album->count || frame < album->frames[album->taken]) return;
    if (sac_snapshot_take(&album->moments[album->taken], staging, world, viewer, frame))
        album->taken++;
    else
        album->failed = true;
}

void sac_run_album_fini(sac_run_album *album)
{
    for (uint32_t i = 0; i < album->taken; i++) sac_snapshot_fini(&album->moments[i]);
    album->taken = 0;
}

/* ---- figures ---- */

static void add_card(sac_page *page, const char *value, const char *about, bool good)
{
    sac_page_add(page,
                 "<div style=\"background:var(--card);border:1px solid "
                 "var(--line);border-radius:10px;padding:14px 18px\"><div "
                 "style=\"font-size:27px;font-weight:640;letter-spacing:-.02em;color:var(%s)\">",
                 good ? "--good" : "--ink");
    sac_page_text(page, value);
    sac_page_add(page,
                 "</div><div style=\"color:var(--pale);font-size:14px;line-height:1.4;margin-top:2px\">");
    sac_page_text(page, about);
    sac_page_add(page, "</div></div>\n");
}

static void add_row(sac_page *page, const char *name, const sac_percentiles *p)
{
    sac_page_add(page, "<tr><td>%s</td>", name);
    const double values[] = {p->p50, p->p99, p->p999, p->max};
    for (int i = 0; i < 4; i++)
        if (isfinite(values[i]))
            sac_page_add(page, "<td>%.1f</td>", values[i]);
        else
            sac_page_add(page, "<td>–</td>");
    sac_page_add(page, "</tr>\n");
}

void sac_run_page_figures(sac_page *page, const sac_run *run, const sac_run_def *def)
{
    char value[64], about[160], a[32], b[32];
    sac_page_add(page, "<div "
                       "style=\"display:grid;grid-template-columns:repeat(auto-fit,minmax(200px,1fr));gap:"
                       "14px;margin:22px 0\">\n");
    if (def->budget_ns) {
        snprintf(value, sizeof value, "%s of %s", sac_text_count(a, run->frames - run->misses),
                 sac_text_count(b, run->frames));
        snprintf(about, sizeof about, "frames whose own work was done within %.6g ms (and 0.25 ms of grace)",
                 (double)def->budget_ns * 1e-6);
        add_card(page, value, about, run->misses == 0);
        snprintf(value, sizeof value, "%.0f µs", run->overshoot_us.p999);
        if (isfinite(run->noise_us.p999))
            snprintf(about, sizeof about,
                     "overshoot, 99.9 %% of frames; a loop that only watches the clock: %.0f µs",
                     run->noise_us.p999);
        else
            snprintf(about, sizeof about, "overshoot, 99.9 %% of frames, in work credits");
        add_card(page, value, about,
                 run->overshoot_us.p999 <= (isfinite(run->noise_us.p999) ? run->noise_us.p999 : 0) + 50);
    }
    snprintf(value, sizeof value, "%.2g JND", run->jnd_p50);
    snprintf(about, sizeof about,
             "visible error left in the median pair of the median frame; below 1 nobody can tell");
    add_card(page, value, about, run->jnd_p50 < 1);
    if (isfinite(run->penetration_mean_mm)) {
        snprintf(value, sizeof value, "%.1f mm", run->penetration_mean_mm);
        snprintf(about, sizeof about, "mean overlap of spheres that overlap; 99 %% within %.1f mm",
                 run->penetration_p99_mm);
        add_card(page, value, about, false);
    }
    snprintf(value, sizeof value, "%u lost", run->census.lost);
    snprintf(about, sizeof about, "of %s %s, %llu not finite; up to %s contacts at a time",
             sac_text_count(a, run->bodies), run->bodies == 1 ? "body" : "bodies",
             (unsigned long long)(run->not_finite + run->census.not_finite),
             sac_text_count(b, run->contacts_max));
    add_card(page, value, about, run->census.lost + run->not_finite + run->census.not_finite == 0);
    sac_page_add(page, "</div>\n<div "
                       "class=\"scroll\"><table><tr><th>microseconds</th><th>p50</th><th>p99</th><th>p99.9</"
                       "th><th>max</th></tr>\n");
    add_row(page, def->credits ? "step, in work credits of half a nanosecond" : "step, wall time",
            &run->step_us);
    add_row(page, "step, CPU time of its thread", &run->cpu_us);
    if (def->budget_ns) add_row(page, "overshoot: step less budget", &run->overshoot_us);
    if (isfinite(run->noise_us.p50)) {
        add_row(page, "noise floor: overshoot of a spin loop", &run->noise_us);
        add_row(page, "longest stall in each spin", &run->stall_us);
    }
    sac_page_add(page, "</table></div>\n");
}

/* ---- pictures ---- */

sac_result sac_run_page_album(sac_page *page, const sac_run_album *album, const sac_staging *staging,
                              const sac_run_def *def, const char *folder, uint32_t width, uint32_t threads,
                              sac_error *error)
{
    sac_result result = album->failed ? sac_error_set(error, SAC_ERROR_MEMORY, "take fewer pictures",
                                                      "no memory for the pictures")
                                      : SAC_OK;
    if (result == SAC_OK && album->taken) sac_snapshot_legend(page, SAC_COLOUR_JND);
    sac_page_add(page, "<div "
                       "style=\"display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%%,470px),"
                       "1fr));gap:4px 22px\">\n");
    for (uint32_t i = 0; i < album->taken && result == SAC_OK; i++) {
        const sac_snapshot *moment = &album->moments[i];
        sac_picture picture;
        char path[PATH], text[240], doing[64];
        snprintf(doing, sizeof doing, "drawing");
        if (!sac_console_progress((float)i / (float)album->taken, doing))
            result = sac_error_set(error, SAC_ERROR_CANCELLED, NULL, "stopped while drawing");
        if (result == SAC_OK)
            result = sac_snapshot_draw(moment, staging, SAC_COLOUR_JND, width, width * 9 / 16, threads,
                                       &picture, error);
        if (result != SAC_OK) break;
        snprintf(path, sizeof path, "%s/frame-%05llu.png", folder, (unsigned long long)moment->frame);
        result = sac_picture_save(&picture, path, error);
        uint32_t awake = 0, rough = 0;
        for (size_t k = 0; k < moment->bodies.count; k++) {
            const sac_snapshot_body *body = &moment->bodies.data[k];
            awake += body->dynamic && body->awake;
            rough += body->dynamic && body->awake && body->jnd >= 1;
        }
        snprintf(text, sizeof text,
                 "Frame %llu, %.2f s: %u %s awake, %u of them with an error that could be seen.%s",
                 (unsigned long long)moment->frame, (double)moment->frame / def->hz, awake,
                 awake == 1 ? "body" : "bodies", rough,
                 moment->viewer.gaze.valid ? " The ring is 5 degrees about the gaze." : "");
        sac_page_picture(page, &picture, text, text);
        sac_picture_fini(&picture);
    }
    sac_console_progress_end();
    sac_page_add(page, "</div>\n");
    return result;
}

/* ---- charts ---- */

typedef struct plots {
    sac_page *page;
    const sac_run *run;
    size_t count;
    double *room; /* SERIES arrays of count values */
} plots;
enum { SERIES = 12 };

/* Values of a column of all rows into the i-th array. */
#define COLUMN(p, i, expression)                                             \
    do                                                                       \
        for (size_t k_ = 0; k_ < (p)->count; k_++) {                         \
            const sac_run_row *row = &(p)->run->rows.data[k_];               \
            const sac_step_report *r = &row->report;                         \
            (p)->room[(size_t)(i) * (p)->count + k_] = (double)(expression); \
            (void)r, (void)row;                                              \
        }                                                                    \
    while (0)

static sac_chart_series series(const plots *p, int i, const char *name, uint32_t colour)
{
    return (sac_chart_series){
        .name = name, .y = p->room + (size_t)i * p->count, .count = p->count, .colour = colour};
}

/* Frames the machine took away stand at the upper edge, and the rest stays readable. */
static double most_ms(const sac_run *run, const sac_run_def *def)
{
    double budget = (double)def->budget_ns * 1e-6, usual = run->step_us.p99 * 1e-3;
    return budget > 0 ? fmax(1.6 * budget, fmin(usual, 4 * budget)) : 0;
}

static void chart_time(plots *p, const sac_run_def *def)
{
    COLUMN(p, 0, (def->credits ? (double)r->spent_ns * 1e-3 : row->wall_us) * 1e-3);
    COLUMN(p, 1, (double)r->reserved_ns * 1e-6);
    COLUMN(p, 2, (double)r->returned_ns * 1e-6);
    COLUMN(p, 3, row->cpu_us * 1e-3);
    const sac_chart_series list[] = {series(p, 0, "step", 1), series(p, 1, "reserved for response", 2),
                                     series(p, 2, "returned unspent", 3),
                                     series(p, 3, "its own CPU time", 6)};
    sac_chart_def chart = {
        .title = "Time of each frame",
        .x_label = "frame",
        .y_label = "ms",
        .limit = (double)def->budget_ns * 1e-6,
        .limit_name = "budget",
        .most = most_ms(p->run, def),
        .wide = true,
        .note = def->credits
                    ? "Time for the response is set aside before the descent begins; what nobody could have "
                      "seen is not refined, and that time is given back."
                    : "Time for the response is set aside before the descent begins; what nobody could have "
                      "seen is not refined, and that time is given back. Where the step takes longer than "
                      "its own CPU time, the machine was busy with something else."};
    /* A credit is no time of this machine's. */
    sac_chart_strip(p->page, &chart, list, def->credits ? 3 : 4);
}

static void chart_frames(plots *p, const sac_run_def *def)
{
    COLUMN(p, 0, (def->credits ? (double)r->spent_ns * 1e-3 : row->wall_us) * 1e-3);
    const sac_chart_series list[] = {series(p, 0, "step", 1)};
    sac_chart_def chart = {.title = "How long frames took",
                           .x_label = "ms",
                           .limit = (double)def->budget_ns * 1e-6,
                           .limit_name = "budget",
                           .most = most_ms(p->run, def),
                           .note = "Share of frames; the upright axis is a square root, so that rare ones "
                                   "show. What took longer is drawn at the edge."};
    sac_chart_histogram(p->page, &chart, list, 1, 48);
}

static void chart_stages(plots *p, const sac_run_def *def)
{
    sac_chart_series list[SAC_STAGES];
    for (int i = 0; i < SAC_STAGES; i++) {
        COLUMN(p, i, (double)r->stage_ns[i] * 1e-6);
        list[i] = series(p, i, sac_stage_name((uint32_t)i), 0);
    }
    sac_chart_def chart = {.title = "Where the time went",
                           .x_label = "frame",
                           .y_label = "ms",
                           .most = most_ms(p->run, def),
                           .wide = true};
    sac_chart_areas(p->page, &chart, list, SAC_STAGES);
}

static void chart_overshoot(plots *p, const sac_run_def *def)
{
    if (!def->budget_ns) return;
    COLUMN(p, 0, (def->credits ? (double)r->spent_ns * 1e-3 : row->wall_us) - (double)def->budget_ns * 1e-3);
    /* Frames that gave time back say nothing about stopping in time. */
    size_t told = 0;
    for (size_t k = 0; k < p->count; k++) {
        if (p->room[k] < -60) p->room[k] = NAN;
        told += isfinite(p->room[k]);
    }
    if (!told) return;
    sac_chart_series list[] = {series(p, 0, "step", 1),
                               {.name = "spin loop that only reads the clock",
                                .y = p->run->floor_us.data,
                                .count = p->run->floor_us.count,
                                .colour = 2}};
    sac_chart_def chart = {
        .title = "How far beyond the budget",
        .x_label = "µs beyond the budget",
        .y_label = "% of frames",
        .most = 100,
        .logarithmic = false,
        .note = "Frames that used their budget, beside a loop that does nothing but watch the clock: what "
                "that one misses was taken by the machine. More than 100 µs is drawn at the edge."};
    sac_chart_histogram(p->page, &chart, list, p->run->floor_us.count ? 2 : 1, 40);
}

static void chart_jnd(plots *p)
{
    COLUMN(p, 0, r->descent.jnd_p50);
    COLUMN(p, 1, r->descent.jnd_p95);
    COLUMN(p, 2, r->descent.jnd_most);
    const sac_chart_series list[] = {series(p, 0, "median pair", 1), series(p, 1, "95 %", 2),
                                     series(p, 2, "worst pair", 4)};
    sac_chart_def chart = {.title = "Visible error left",
                           .x_label = "frame",
                           .y_label = "JND",
                           .limit = 1,
                           .limit_name = "can be seen",
                           .logarithmic = true,
                           .least = 0.01};
    sac_chart_strip(p->page, &chart, list, 3);
}

static void chart_groups(plots *p)
{
    enum { MOST = 32 };
    double pairs[MOST] = {0}, tests[MOST] = {0}, all_pairs = 0, all_tests = 0;
    char names[MOST][16];
    const char *labels[MOST];
    uint32_t groups = 0;
    for (size_t k = 0; k < p->count; k++) {
        const sac_agenda_report *d = &p->run->rows.data[k].report.descent;
        uint32_t n = d->groups < MOST ? d->groups : MOST;
        groups = n > groups ? n : groups;
        for (uint32_t i = 0; i < n; i++) pairs[i] += d->group_pairs[i], tests[i] += (double)d->group_tests[i];
    }
    for (uint32_t i = 0; i < groups; i++) all_pairs += pairs[i], all_tests += tests[i];
    if (!groups || !(all_pairs > 0)) return;
    for (uint32_t i = 0; i < groups; i++) {
        snprintf(names[i], sizeof names[i], i ? "group %u" : "group %u, first", i);
        labels[i] = names[i];
        pairs[i] *= 100 / all_pairs;
        tests[i] *= all_tests > 0 ? 100 / all_tests : 0;
    }
    const sac_chart_series list[] = {{.name = "of the pairs", .y = pairs, .count = groups, .colour = 1},
                                     {.name = "of the work", .y = tests, .count = groups, .colour = 2}};
    sac_chart_def chart = {.title = "Groups and their shares",
                           .x_label = "%",
                           .note =
                               "Pairs are grouped by what can still be seen of their error; the first "
                               "groups get most of the time. With jnd the last also has the spare time spent "
                               "on pairs nobody could see, which are in no group."};
    sac_chart_bars(p->page, &chart, labels, groups, list, 2, "%.1f %%");
}

static void chart_levels(plots *p)
{
    sac_chart_series list[SERIES];
    char names[SERIES][16];
    uint32_t used = 0;
    for (int i = 0; i < SERIES && i <= (int)SAC_TREE_MOST_DEPTH; i++) {
        bool any = false;
        COLUMN(p, i, r->descent.pairs_at_level[i]);
        for (size_t k = 0; k < p->count; k++) any = any || p->room[(size_t)i * p->count + k] > 0;
        if (any) used = (uint32_t)i + 1;
        snprintf(names[i], sizeof names[i], "level %d", i);
        list[i] = series(p, i, names[i], 0);
    }
    sac_chart_def chart = {.title = "How deep pairs were refined", .x_label = "frame", .y_label = "pairs"};
    if (used) sac_chart_areas(p->page, &chart, list, used);
}

static void chart_load(plots *p)
{
    COLUMN(p, 0, r->awake);
    COLUMN(p, 1, r->contacts);
    COLUMN(p, 2, r->pairs_active);
    COLUMN(p, 3, r->simulated);
    const sac_chart_series list[] = {series(p, 0, "bodies awake", 1), series(p, 3, "simulated", 6),
                                     series(p, 1, "contacts", 2), series(p, 2, "pairs looked at", 3)};
    sac_chart_def chart = {.title = "Load", .x_label = "frame", .y_label = "in a frame"};
    sac_chart_strip(p->page, &chart, list, 4);
}

static void chart_ladder(plots *p)
{
    double totals[SAC_RUNGS];
    static const char *const labels[SAC_RUNGS] = {"coarse pairs", "contacts", "sub-steps", "extrapolated",
                                                  "held",         "bounds",   "shapes"};
    double any = 0;
    for (int i = 0; i < SAC_RUNGS; i++)
        totals[i] = p->count ? (double)p->run->rungs[i] / (double)p->count : 0, any += totals[i];
    const sac_chart_series list[] = {
        {.name = "a frame, on average", .y = totals, .count = SAC_RUNGS, .colour = 1}};
    sac_chart_def chart = {
        .title = "Rungs of the ladder",
        .note = any > 0 ? "What was left undone when time was short, in the order it is given up: levels of "
                          "pairs, contacts, sub-steps of bodies, then whole bodies, whose motion is "
                          "extrapolated or, where they might run into something, held."
                        : "Nothing had to be left undone."};
    sac_chart_bars(p->page, &chart, labels, SAC_RUNGS, list, 1, "%.4g");
}

static void chart_prediction(plots *p)
{
    COLUMN(p, 0, (double)r->reserved_ns * 1e-6);
    COLUMN(p, 1, (double)r->response_ns * 1e-6);
    const sac_chart_series list[] = {series(p, 0, "reserved", 2), series(p, 1, "needed", 1)};
    sac_chart_def chart = {.title = "Response: reserved and needed", .x_label = "frame", .y_label = "ms"};
    sac_chart_strip(p->page, &chart, list, 2);
}

sac_result sac_run_page_charts(sac_page *page, const sac_run *run, const sac_run_def *def, sac_error *error)
{
    plots p = {.page = page, .run = run, .count = run->rows.count};
    p.room = sac_alloc(p.count ? p.count * SERIES : 1, sizeof *p.room);
    if (!p.room)
        return sac_error_set(error, SAC_ERROR_MEMORY, "run fewer frames", "no memory for the charts");
    sac_charts_begin(page);
    chart_time(&p, def);
    chart_stages(&p, def);
    chart_frames(&p, def);
    chart_jnd(&p);
    chart_overshoot(&p, def);
    chart_groups(&p);
    chart_levels(&p);
    chart_load(&p);
    chart_prediction(&p);
    chart_ladder(&p);
    sac_charts_end(page);
    sac_free(p.room, p.count ? p.count * SERIES : 1, sizeof *p.room);
    return SAC_OK;
}
