/* What the search found, for people (a page), tables (CSV) and machines (JSON). */
#include "apps/stability.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/charts.h"
#include "apps/console.h"
#include "apps/page.h"
#include "apps/whole_file.h"

/* ---- JSON ---- */

static json_t *numbers(const sac_percentiles *p)
{
    return json_pack("{s:o,s:o,s:o,s:o}", "p50", sac_json_number(p->p50), "p99", sac_json_number(p->p99),
                     "p999", sac_json_number(p->p999), "max", sac_json_number(p->max));
}

static json_t *held_json(const sac_stability *st, const sac_held *h)
{
    const sac_contender *c = &st->def->contenders[h->contender];
    return json_pack("{s:s,s:b,s:f,s:f,s:i,s:b,s:i,s:o,s:o,s:i,s:{s:f,s:f,s:f},s:f}", "engine", c->name,
                     "saccade", !!c->policy, "hz", h->hz, "budget_us", h->budget_us, "bodies", (int)h->bodies,
                     "at_least", h->bodies && !h->fails_at, "fails_at", (int)h->fails_at, "cpu_us",
                     numbers(&h->cpu), "step_us", numbers(&h->wall), "misses_machine", (int)h->misses_machine,
                     "penetration_mm", "mean", h->overlap.mean_mm, "p99", h->overlap.p99_mm, "max",
                     h->overlap.max_mm, "waiting", h->waiting);
}

json_t *sac_stability_json(sac_stability *st)
{
    json_t *held = json_array(), *same = json_array();
    for (size_t i = 0; i < st->held.count; i++) json_array_append_new(held, held_json(st, &st->held.data[i]));
    for (uint32_t i = 0; i < st->same_count; i++) {
        const sac_trial *t = &st->same[i];
        json_array_append_new(
            same, json_pack("{s:s,s:i,s:o,s:o,s:i,s:i,s:{s:f,s:f,s:f},s:i,s:i,s:f}", "engine",
                            st->def->contenders[i].name, "bodies", (int)t->bodies, "cpu_us", numbers(&t->cpu),
                            "step_us", numbers(&t->wall), "misses", (int)t->misses, "misses_own",
                            (int)t->misses_own, "penetration_mm", "mean", t->overlap.mean_mm, "p99",
                            t->overlap.p99_mm, "max", t->overlap.max_mm, "outside", (int)t->overlap.outside,
                            "nan", (int)t->overlap.not_finite, "waiting", t->waiting));
    }
    sac_percentiles wall = sac_noise_floor_wall_us(&st->floor), cpu = sac_noise_floor_cpu_us(&st->floor);
    const char *missing = sac_peer_missing();
    return json_pack("{s:s,s:s,s:o,s:o,s:o,s:i,s:o,s:{s:i,s:f,s:f},s:f,s:s}", "scene", st->def->scene,
                     "shape", st->def->shape, "held", held, "noise_floor_us", numbers(&wall),
                     "noise_floor_cpu_us", numbers(&cpu), "spins", (int)st->floor.wall_us.count, "same_load",
                     same, "same_load_of", "bodies", (int)st->same_bodies, "hz", st->same_hz, "budget_us",
                     st->same_budget_us, "seconds", st->seconds, "missing", missing ? missing : "");
}

/* ---- CSV ---- */

/* A page grows text; here the text is a table. */
static sac_result save_trials(const sac_stability *st, const char *path, sac_error *error)
{
    sac_page csv = {0};
    sac_page_add(
        &csv, "engine,hz,budget_us,bodies,frames,complete,held,cpu_p50_us,cpu_p99_us,cpu_p999_us,"
              "cpu_max_us,wall_p50_us,wall_p99_us,wall_p999_us,wall_max_us,misses,misses_own,overlap_mean_mm,"
              "overlap_p99_mm,overlap_max_mm,outside,not_finite,waiting\n");
    for (size_t i = 0; i < st->loads.count; i++) {
        const sac_load *l = &st->loads.data[i];
        sac_page_add(
            &csv,
            "%s,%g,%g,%u,%u,%d,%d,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%u,%u,%.3f,%.3f,%.3f,%u,%u,%.4f\n",
            st->def->contenders[l->contender].name, l->hz, l->budget_us, l->bodies, l->frames, l->complete,
            l->held, l->cpu.p50, l->cpu.p99, l->cpu.p999, l->cpu.max, l->wall.p50, l->wall.p99, l->wall.p999,
            l->wall.max, l->misses, l->misses_own, l->overlap.mean_mm, l->overlap.p99_mm, l->overlap.max_mm,
            l->overlap.outside, l->overlap.not_finite, l->waiting);
    }
    sac_result result = sac_page_save(&csv, path, error);
    sac_page_fini(&csv);
    return result;
}

static sac_result save_frames(const sac_stability *st, const char *path, sac_error *error)
{
    sac_page csv = {0};
    sac_page_add(&csv, "frame");
    for (uint32_t i = 0; i < st->same_count; i++) {
        const char *name = st->def->contenders[i].name;
        sac_page_add(&csv, ",%s wall us,%s cpu us", name, name);
    }
    sac_page_add(&csv, "\n");
    for (uint32_t f = 0; st->same_count && f < st->same[0].frames; f++) {
        sac_page_add(&csv, "%u", f);
        for (uint32_t i = 0; i < st->same_count; i++)
            sac_page_add(&csv, ",%.2f,%.2f", st->same[i].wall_us[f], st->same[i].cpu_us[f]);
        sac_page_add(&csv, "\n");
    }
    sac_result result = sac_page_save(&csv, path, error);
    sac_page_fini(&csv);
    return result;
}

/* ---- page ---- */

static const char *milliseconds(char out[32], double us)
{
    snprintf(out, 32, "%g ms", us * 1e-3);
    return out;
}

static void add_bars(sac_page *page, const sac_stability *st)
{
    const sac_stability_def *def = st->def;
    char texts[SAC_STABILITY_MOST][32], title[64];
    const char *labels[SAC_STABILITY_MOST];
    for (uint32_t b = 0; b < def->budget_count; b++) labels[b] = milliseconds(texts[b], def->budget_us[b]);
    sac_charts_begin(page);
    for (uint32_t h = 0; h < def->hz_count; h++) {
        double values[SAC_STABILITY_MOST][SAC_STABILITY_MOST];
        sac_chart_series series[SAC_STABILITY_MOST];
        for (uint32_t c = 0; c < def->contender_count; c++) {
            for (uint32_t b = 0; b < def->budget_count; b++) {
                const sac_held *held = sac_stability_held(st, c, def->hz[h], def->budget_us[b]);
                values[c][b] = held ? held->bodies : NAN;
            }
            series[c] = (sac_chart_series){
                .name = def->contenders[c].name, .y = values[c], .count = def->budget_count};
        }
        snprintf(title, sizeof title, "Bodies held at %g Hz", def->hz[h]);
        sac_chart_def chart = {
            .title = title,
            .logarithmic = true,
            .least = 1,
            .most = def->most,
            .note = "No late frame of their own and no body lost in the whole trial. Logarithmic."};
        sac_chart_bars(page, &chart, labels, def->budget_count, series, def->contender_count, NULL);
    }
    sac_charts_end(page);
}

static void add_held_table(sac_page *page, const sac_stability *st)
{
    const sac_stability_def *def = st->def;
    char text[32];
    sac_page_add(page, "<div class=\"scroll\"><table><tr><th>bodies held</th>");
    for (uint32_t h = 0; h < def->hz_count; h++)
        for (uint32_t b = 0; b < def->budget_count; b++)
            sac_page_add(page, "<th>%g Hz<br>%s</th>", def->hz[h], milliseconds(text, def->budget_us[b]));
    sac_page_add(page, "</tr>\n");
    for (uint32_t c = 0; c < def->contender_count; c++) {
        sac_page_add(page, "<tr><td>");
        sac_page_text(page, def->contenders[c].name);
        sac_page_add(page, "</td>");
        for (uint32_t h = 0; h < def->hz_count; h++)
            for (uint32_t b = 0; b < def->budget_count; b++) {
                uint32_t best = 0;
                for (uint32_t k = 0; k < def->contender_count; k++) {
                    const sac_held *other = sac_stability_held(st, k, def->hz[h], def->budget_us[b]);
                    if (other && other->bodies > best) best = other->bodies;
                }
                const sac_held *held = sac_stability_held(st, c, def->hz[h], def->budget_us[b]);
                if (!held) {
                    sac_page_add(page, "<td>–</td>");
                    continue;
                }
                sac_page_add(page, "<td%s>%s%s", held->bodies == best && best ? " class=\"best\"" : "",
                             held->bodies && !held->fails_at ? "≥ " : "", sac_text_count(text, held->bodies));
                if (held->bodies) sac_page_add(page, "<br><small>%.1f mm</small>", held->overlap.mean_mm);
                if (held->waiting > 0.0005)
                    sac_page_add(page, "<br><small>%.0f %% stand still</small>", 100 * held->waiting);
                sac_page_add(page, "</td>");
            }
        sac_page_add(page, "</tr>\n");
    }
    sac_page_add(page,
                 "</table></div>\n<p>Below each number: the mean overlap of leaf spheres at the end. A "
                 "load counts as held when no step was late and no body left the box. Some hold it by "
                 "letting bodies stand still in mid-motion until their turn comes: their share, mean of "
                 "all frames.</p>\n");
}

static void add_same_table(sac_page *page, const sac_stability *st)
{
    sac_page_add(page,
                 "<div class=\"scroll\"><table><tr><th>%u bodies, %g Hz</th><th>p50 ms</th><th>p99 ms</th>"
                 "<th>p99.9 ms</th><th>max ms</th><th>frames late</th><th>machine's</th>"
                 "<th>overlap mm</th><th>p99</th><th>outside</th><th>stand still</th></tr>\n",
                 st->same_bodies, st->same_hz);
    for (uint32_t i = 0; i < st->same_count; i++) {
        const sac_trial *t = &st->same[i];
        sac_page_add(page, "<tr><td>");
        sac_page_text(page, st->def->contenders[i].name);
        sac_page_add(page,
                     "</td><td>%.3f</td><td>%.3f</td><td>%.3f</td><td>%.3f</td><td%s>%.1f %%</td><td>%u</td>"
                     "<td>%.2f</td><td>%.1f</td><td>%u</td><td>%.1f %%</td></tr>\n",
                     t->wall.p50 * 1e-3, t->wall.p99 * 1e-3, t->wall.p999 * 1e-3, t->wall.max * 1e-3,
                     t->misses_own ? "" : " class=\"best\"", t->frames ? 100.0 * t->misses / t->frames : 0.0,
                     t->misses - t->misses_own, t->overlap.mean_mm, t->overlap.p99_mm, t->overlap.outside,
                     100 * t->waiting);
    }
    sac_page_add(page, "</table></div>\n");
}

static bool add_same_charts(sac_page *page, const sac_stability *st)
{
    uint32_t n = st->same_count, frames = n ? st->same[0].frames : 0;
    double *ms = malloc((2 * (size_t)n * frames + 1) * sizeof *ms), *cpu = ms + (size_t)n * frames;
    sac_chart_series series[SAC_STABILITY_MOST], own[SAC_STABILITY_MOST];
    char title[96], limit[48];
    if (!ms) return false;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t f = 0; f < frames; f++) ms[i * frames + f] = st->same[i].wall_us[f] * 1e-3;
        for (uint32_t f = 0; f < frames; f++) cpu[i * frames + f] = st->same[i].cpu_us[f] * 1e-3;
        series[i] = (sac_chart_series){
            .name = st->def->contenders[i].name, .y = ms + (size_t)i * frames, .count = frames};
        own[i] = series[i];
        own[i].y = cpu + (size_t)i * frames;
    }
    snprintf(title, sizeof title, "Step time, frame by frame: %u bodies", st->same_bodies);
    snprintf(limit, sizeof limit, "budget %g ms", st->same_budget_us * 1e-3);
    sac_charts_begin(page);
    sac_chart_def strip = {.title = title,
                           .x_label = "frame",
                           .y_label = "ms, logarithmic",
                           .limit = st->same_budget_us * 1e-3,
                           .limit_name = limit,
                           .logarithmic = true,
                           .least = 0.02,
                           .wide = true,
                           .note = "Ticks along the upper edge: frames over the budget."};
    sac_chart_strip(page, &strip, series, n);
    strip.title = "CPU time of the same steps";
    strip.note = "What the engine itself took: above, the wall clock also counts cores taken away.";
    sac_chart_strip(page, &strip, own, n);
    for (uint32_t i = 0; i < n; i++) {
        sac_chart_series one = series[i];
        one.colour = i + 1;
        sac_chart_def histogram = {.title = st->def->contenders[i].name,
                                   .x_label = "step, ms",
                                   .limit = strip.limit,
                                   .limit_name = limit,
                                   .note = "Share of frames; the upright axis is a square root, so that rare "
                                           "ones show."};
        one.name = NULL;
        sac_chart_histogram(page, &histogram, &one, 1, 60);
    }
    sac_charts_end(page);
    free(ms);
    return true;
}

static int by_bodies(const void *a, const void *b)
{
    const sac_load *x = *(const sac_load *const *)a, *y = *(const sac_load *const *)b;
    return (x->bodies > y->bodies) - (x->bodies < y->bodies);
}

/* Step time over load, at the rate and budget of the load for all. */
static bool add_ramp(sac_page *page, const sac_stability *st)
{
    const sac_stability_def *def = st->def;
    size_t room = st->loads.count + 1, used = 0;
    const sac_load **order = malloc(room * sizeof *order);
    double *values = malloc(2 * room * sizeof *values);
    sac_chart_series series[SAC_STABILITY_MOST];
    char limit[48], title[96];
    if (!order || !values) {
        free(order), free(values);
        return false;
    }
    for (uint32_t c = 0; c < def->contender_count; c++) {
        size_t count = 0;
        for (size_t i = 0; i < st->loads.count; i++) {
            const sac_load *l = &st->loads.data[i];
            if (l->contender == c && l->hz == st->same_hz && l->budget_us == st->same_budget_us)
                order[count++] = l;
        }
        qsort(order, count, sizeof *order, by_bodies);
        series[c] = (sac_chart_series){.name = def->contenders[c].name,
                                       .x = values + 2 * used,
                                       .y = values + 2 * used + count,
                                       .count = count};
        for (size_t i = 0; i < count; i++) {
            values[2 * used + i] = order[i]->bodies;
            values[2 * used + count + i] = order[i]->cpu.max * 1e-3;
        }
        used += count;
    }
    snprintf(limit, sizeof limit, "budget %g ms", st->same_budget_us * 1e-3);
    snprintf(title, sizeof title, "The longest step by load, CPU ms, %g Hz", st->same_hz);
    sac_chart_def chart = {.title = title,
                           .x_label = "bodies, logarithmic",
                           .y_label = "ms, logarithmic",
                           .logarithmic = true,
                           .logarithmic_x = true,
                           .limit = st->same_budget_us * 1e-3,
                           .limit_name = limit,
                           .wide = true,
                           .note =
                               "Every trial of the search. One that failed was given up at its third step "
                               "over the budget, so its point is a lower bound."};
    sac_charts_begin(page);
    sac_chart_lines(page, &chart, series, def->contender_count);
    sac_charts_end(page);
    free(order), free(values);
    return true;
}

static void add_floor(sac_page *page, sac_stability *st)
{
    sac_percentiles wall = sac_noise_floor_wall_us(&st->floor), cpu = sac_noise_floor_cpu_us(&st->floor);
    sac_page_add(
        page,
        "<p>Between the steps a loop that does nothing but read the clock tries to stop at the same "
        "budget. What it is late, no program could have kept on this machine at this hour. A frame is "
        "the engine's own miss only when its thread used more CPU time than the budget and the most "
        "this loop did beside it; the rest are cores that were taken away.</p>\n"
        "<div class=\"scroll\"><table><tr><th>%zu spins, late by</th><th>p50 µs</th><th>p99 µs</th>"
        "<th>p99.9 µs</th><th>max µs</th></tr>\n<tr><td>wall clock</td><td>%.2f</td><td>%.2f</td>"
        "<td>%.2f</td><td>%.1f</td></tr>\n<tr><td>CPU time of the thread</td><td>%.2f</td>"
        "<td>%.2f</td><td>%.2f</td><td>%.1f</td></tr>\n",
        st->floor.wall_us.count, wall.p50, wall.p99, wall.p999, wall.max, cpu.p50, cpu.p99, cpu.p999,
        cpu.max);
    sac_page_add(page, "</table></div>\n");
    sac_chart_series late = {.y = st->floor.wall_us.data, .count = st->floor.wall_us.count};
    sac_chart_def chart = {.title = "Noise floor: how late the idle loop was",
                           .x_label = "µs",
                           .wide = true,
                           .note = "Share of spins; the upright axis is a square root."};
    sac_charts_begin(page);
    sac_chart_histogram(page, &chart, &late, 1, 100);
    sac_charts_end(page);
}

static void add_summary(sac_page *page, const sac_stability *st)
{
    const sac_held *best = NULL, *rival = NULL;
    for (uint32_t c = 0; c < st->def->contender_count; c++) {
        const sac_held *h = sac_stability_held(st, c, st->same_hz, st->same_budget_us);
        const sac_held **kind = st->def->contenders[c].policy ? &best : &rival;
        if (h && (!*kind || h->bodies > (*kind)->bodies)) *kind = h;
    }
    if (!best && !rival) return;
    char a[32], b[32];
    sac_page_add(page, "<p><strong>%g Hz, %g ms for physics:</strong> ", st->same_hz,
                 st->same_budget_us * 1e-3);
    if (best)
        sac_page_add(page, "Saccade (%s) holds %s%s bodies%s", st->def->contenders[best->contender].name,
                     best->bodies && !best->fails_at ? "at least " : "", sac_text_count(a, best->bodies),
                     rival ? "; " : ".");
    if (rival)
        sac_page_add(page, "%s, the best of the others, holds %s%s.",
                     st->def->contenders[rival->contender].name,
                     rival->bodies && !rival->fails_at ? "at least " : "", sac_text_count(b, rival->bodies));
    sac_page_add(page, "</p>\n");
}

static sac_result save_page(sac_stability *st, const char *path, sac_error *error)
{
    const sac_stability_def *def = st->def;
    sac_page page = {0};
    char lead[256];
    snprintf(lead, sizeof lead,
             "The largest %s of %s bodies each engine simulates without one late frame, %g s of motion, one "
             "thread, the same bodies for all.",
             def->scene, def->shape, def->seconds);
    sac_page_begin(&page, "Frame-rate stability", lead);
    add_summary(&page, st);
    if (sac_peer_missing()) {
        sac_page_add(&page, "<p>");
        sac_page_text(&page, sac_peer_missing());
        sac_page_add(&page, ".</p>\n");
    }
    if (st->same_count < def->contender_count)
        sac_page_add(&page, "<p>The search was stopped. What is missing was not asked any more.</p>\n");
    add_bars(&page, st);
    add_held_table(&page, st);
    if (st->same_count) {
        sac_page_add(&page, "<h2>The same load for everyone</h2>\n");
        if (!add_same_charts(&page, st)) page.failed = true;
        add_same_table(&page, st);
    }
    sac_page_add(&page, "<h2>How the load grows</h2>\n");
    if (!add_ramp(&page, st)) page.failed = true;
    sac_page_add(&page, "<h2>The machine itself</h2>\n");
    add_floor(&page, st);
    sac_page_add(
        &page,
        "<footer>Each load was run for %g s of simulated time; the ramp goes up by fours, the "
        "bisection ends within %.0f %%. One or two late frames must come again in a second run to "
        "count. Engines that know no budget take as long as they take and are judged by each. All of "
        "it took %.0f s. Numbers: <code>trials.csv</code>, <code>frames.csv</code>, "
        "<code>stability.json</code>.</footer>\n",
        def->seconds, def->precision * 100, st->seconds);
    sac_page_end(&page);
    sac_result result = sac_page_save(&page, path, error);
    sac_page_fini(&page);
    return result;
}

sac_result sac_stability_save(sac_stability *st, const char *folder, sac_error *error)
{
    char path[4096];
    sac_result result = sac_folder_create(folder, error);
    if (result != SAC_OK) return result;
    if (strlen(folder) > sizeof path - 32)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "the folder's name is too long");
    snprintf(path, sizeof path, "%s/trials.csv", folder);
    result = save_trials(st, path, error);
    snprintf(path, sizeof path, "%s/frames.csv", folder);
    if (result == SAC_OK) result = save_frames(st, path, error);
    snprintf(path, sizeof path, "%s/index.html", folder);
    if (result == SAC_OK) result = save_page(st, path, error);
    json_t *object = sac_stability_json(st);
    char *text = object ? json_dumps(object, JSON_INDENT(1) | JSON_REAL_PRECISION(8)) : NULL;
    snprintf(path, sizeof path, "%s/stability.json", folder);
    if (result == SAC_OK && !text)
        result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for JSON");
    if (result == SAC_OK) result = sac_whole_file_write(path, text, strlen(text), error);
    free(text);
    if (object) json_decref(object);
    return result;
}
