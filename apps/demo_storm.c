#include "apps/demo_storm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/charts.h"
#include "apps/console.h"
#include "apps/demo_film.h"
#include "apps/run.h"
#include "base/cpu.h"

enum { PATH = 4400, MOST_FRAMES = 4096 };

static const double FRAME_MS = 1000.0 / 90;

typedef struct storm {
    const sac_demo_def *def;
    sac_page page;
    uint32_t bodies, frames;
    sac_run runs[2]; /* with a scheduler, without */
    double *ms[2];   /* CPU time of each step */
    uint32_t over[2];
    /* of the session */
    double *physics, *slice;
    uint32_t books, missed, late, books_bodies;
} storm;

/* ---- the same storm, with and without ---- */

static sac_result compare(storm *s, sac_error *error)
{
    static const char *const policies[2] = {"jnd", "exhaustive"};
    sac_result result = SAC_OK;
    for (int i = 0; i < 2 && result == SAC_OK; i++) {
        const sac_staging_def staging_def = {.bodies = s->bodies};
        sac_staging staging;
        sac_gaze_trace gaze;
        sac_run_def def = sac_default_run_def();
        def.frames = s->frames;
        def.policy = policies[i];
        def.budget_ns = i ? 0 : 4000000;
        def.keep = def.quiet_floor = true;
        def.gaze = &gaze;
        result = sac_gaze_trace_open(&gaze, "sweep", error);
        if (result == SAC_OK) result = sac_staging_builtin(&staging, "hailstorm", &staging_def, error);
        if (result != SAC_OK) return result;
        result = sac_run_go(&s->runs[i], &staging, &def, error);
        sac_staging_fini(&staging);
        sac_gaze_trace_fini(&gaze);
        if (result != SAC_OK) return result;
        s->ms[i] = sac_alloc(s->frames, sizeof *s->ms[i]);
        if (!s->ms[i]) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the figures");
        for (size_t f = 0; f < s->runs[i].rows.count; f++) {
            s->ms[i][f] = s->runs[i].rows.data[f].cpu_us * 1e-3;
            s->over[i] += s->ms[i][f] > 4.25;
        }
        sac_say("  hailstorm, %s: step p50 %.2f ms, p99 %.2f ms, max %.2f ms of CPU time\n",
                i ? "no scheduler" : "4 ms a step", s->runs[i].cpu_us.p50 * 1e-3,
                s->runs[i].cpu_us.p99 * 1e-3, s->runs[i].cpu_us.max * 1e-3);
    }
    return result;
}

static void write_compare(storm *s)
{
    char count[32];
    sac_page *page = &s->page;
    const sac_percentiles *without = &s->runs[1].cpu_us;
    sac_page_add(
        page,
        "<h2>Without a scheduler</h2>\n<p>The same storm once more, %s bodies by the end, every "
        "collision worked out to the last sphere before the frame may go on. Without a scheduler a "
        "step takes as long as it takes: %.2g ms in the median frame and %.2g ms in the worst%s. With "
        "one, the step ends when its four milliseconds are over, and what is left undone is what the "
        "eye cannot tell or does not look at.</p>\n",
        sac_text_count(count, s->runs[1].bodies), without->p50 * 1e-3, without->max * 1e-3,
        without->max * 1e-3 > FRAME_MS
            ? ", more than the whole frame of a 90 Hz headset has for physics, eyes and compositor "
              "together"
            : "");
    const sac_chart_series series[2] = {
        {.name = "jnd, 4 ms a step", .y = s->ms[0], .count = s->frames, .colour = 1},
        {.name = "no scheduler", .y = s->ms[1], .count = s->frames, .colour = 2}};
    const sac_chart_def def = {.title = "Time of a step",
                               .note =
                                   "CPU time of the step's thread, so that other programs on this machine "
                                   "do not count.",
                               .x_label = "step",
                               .y_label = "ms",
                               .limit = FRAME_MS,
                               .limit_name = "one frame at 90 Hz",
                               .wide = true};
    sac_charts_begin(page);
    sac_chart_strip(page, &def, series, 2);
    sac_charts_end(page);
    sac_page_add(page,
                 "<div class=\"scroll\"><table><tr><th>milliseconds of CPU time</th><th>p50</th><th>p99</th>"
                 "<th>max</th><th>steps over 4.25 ms</th></tr>\n");
    for (int i = 0; i < 2; i++)
        sac_page_add(page, "<tr><td>%s</td><td>%.2f</td><td>%.2f</td><td>%.2f</td><td%s>%u of %u</td></tr>\n",
                     i ? "no scheduler (exhaustive)" : "jnd within 4 ms", s->runs[i].cpu_us.p50 * 1e-3,
                     s->runs[i].cpu_us.p99 * 1e-3, s->runs[i].cpu_us.max * 1e-3,
                     s->over[i] == 0 ? " class=\"best\"" : "", s->over[i], s->frames);
    sac_page_add(page, "</table></div>\n");
}

/* ---- inside a session ---- */

/* The value of a column, by the place its name has in the head line; NaN when it is empty. */
static double column(const char *head, const char *line, const char *name)
{
    size_t length = strlen(name);
    int place = 0;
    for (const char *at = head;; place++) {
        size_t n = strcspn(at, ",\r\n");
        if (n == length && strncmp(at, name, n) == 0) break;
        if (at[n] != ',') return NAN;
        at += n + 1;
    }
    for (; place > 0; place--) {
        line += strcspn(line, ",\r\n");
        if (*line != ',') return NAN;
        line++;
    }
    char *end;
    double value = strtod(line, &end);
    return end == line ? NAN : value;
}

/* A table that cannot be read is left out: the page does without. */
static void read_books(storm *s, const char *path)
{
    char head[2048], line[2048];
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file) return;
    s->physics = sac_alloc(MOST_FRAMES, sizeof *s->physics);
    s->slice = sac_alloc(MOST_FRAMES, sizeof *s->slice);
    if (s->physics && s->slice && fgets(head, sizeof head, file))
        while (s->books < MOST_FRAMES && fgets(line, sizeof line, file)) {
            double slice = (column(head, line, "deadline_ns") - column(head, line, "begin_ns")) * 1e-6;
            double physics = column(head, line, "physics_ms");
            if (!isfinite(slice) || !isfinite(physics)) continue;
            double missed = column(head, line, "missed"), late = column(head, line, "late"),
                   bodies = column(head, line, "bodies");
            s->missed += missed > 0 && missed < 1e6 ? (uint32_t)missed : 0;
            s->late += late > 0;
            if (bodies > s->books_bodies && bodies < 1e6) s->books_bodies = (uint32_t)bodies;
            s->physics[s->books] = physics, s->slice[s->books++] = slice;
        }
    fclose(file);
}

static void write_books(storm *s)
{
    sac_page *page = &s->page;
    if (!s->books) {
        sac_page_add(
            page, "<h2>In a headset</h2>\n<p>No OpenXR runtime was at hand when this page was made. "
                  "<code>scripts/xr-runtime fetch</code> gets one that needs no headset, <code>./demo</code> "
                  "then runs the storm in it; with a headset on, <code>./demo</code> starts it there.</p>\n");
        return;
    }
    uint32_t over = 0;
    for (uint32_t i = 0; i < s->books; i++) over += s->physics[i] > s->slice[i] + 0.25;
    sac_page_add(page,
                 "<h2>In the frame loop of a headset</h2>\n<p>The storm once more, inside an OpenXR session "
                 "on Monado's simulated headset, which nobody looks through: %u frames, up to %u bodies, a "
                 "scripted gaze. Physics gets what the frame leaves after drawing, and was beyond its slice "
                 "by more than a quarter of a millisecond in %u frames. %u display periods went without a "
                 "picture, and all of those are counted: here the processor draws the pictures too.</p>\n",
                 s->books, s->books_bodies, over, s->missed);
    const sac_chart_series series[2] = {
        {.name = "physics", .y = s->physics, .count = s->books, .colour = 1},
        {.name = "slice it was given", .y = s->slice, .count = s->books, .colour = 3, .dashed = true}};
    const sac_chart_def def = {.title = "Physics inside the frame",
                               .note = "Wall time. The slice ends when drawing has to begin.",
                               .x_label = "frame",
                               .y_label = "ms",
                               .wide = true};
    sac_charts_begin(page);
    sac_chart_strip(page, &def, series, 2);
    sac_charts_end(page);
}

/* ---- the page ---- */

static void write_film(storm *s, const sac_demo_film *film)
{
    sac_page *page = &s->page;
    if (film->video) {
        sac_page_add(page,
                     "<figure><video controls autoplay muted loop playsinline poster=\"%s\" "
                     "style=\"display:block;width:100%%;border-radius:10px;border:1px solid var(--line)\" "
                     "src=\"%s\"></video><figcaption>",
                     film->still[1], film->video);
        sac_page_text(page, film->about);
        sac_page_add(page, "</figcaption></figure>\n");
    } else if (film->strip_count) {
        sac_page_add(page,
                     "<figure><div style=\"display:grid;grid-template-columns:repeat(3,1fr);gap:8px\">\n");
        for (uint32_t i = 0; i < film->strip_count; i++)
            sac_page_add(page, "<img src=\"%s\" alt=\"the storm, moment %u\">\n", film->strip[i], i + 1);
        sac_page_add(page, "</div><figcaption>");
        sac_page_text(page, film->about);
        sac_page_add(page, "</figcaption></figure>\n");
    }
    if (!film->stills) return;
    sac_page_add(
        page,
        "<h2>What the eye gets</h2>\n<p>Left the storm as it is, right the same moment coloured by "
        "the visible error that is left in each body's collisions, in just-noticeable differences. "
        "The circles are 5, 10, 20 and 30 degrees from where the eye rests. An eye sees finest "
        "there, so the same millimetre counts for more: the time goes there, and yet that is where "
        "even the finest spheres of a tree can still be told from the thing itself.</p>\n<div "
        "style=\"display:grid;grid-template-columns:repeat(auto-fit,minmax(420px,1fr));gap:14px\">"
        "<figure><img src=\"%s\" alt=\"the storm\"></figure><figure><img src=\"%s\" alt=\"the storm, "
        "by visible error\"></figure></div>\n",
        film->still[0], film->still[1]);
}

static sac_result write_page(storm *s, const sac_demo_film *film, sac_error *error)
{
    char path[PATH];
    sac_page *page = &s->page;
    sac_page_begin(
        page, "Saccade: collisions that are ready when you are",
        "Knots, gears and springs rain into a courtyard. In virtual reality a frame has to be "
        "finished on time, so every step of their physics ends when its milliseconds are over; the "
        "time went to the collisions a person can see.");
    write_film(s, film);
    write_compare(s);
    write_books(s);
    sac_page_add(
        page,
        "<h2>More</h2>\n<p><a href=\"pile.html\">A pile of a thousand rings</a> under a moving gaze "
        "within two milliseconds a frame, with every number. <a href=\"trees.html\">How objects become "
        "trees</a> and what an interrupted collision knows.</p>\n<h2>Try it</h2>\n<pre><code>"
        "saccade view hailstorm            # in a window: the mouse is the eye, H for help\n"
        "saccade xr workshop               # in a headset: grab, stack, throw\n"
        "saccade view side-by-side         # round-robin left, jnd right, the same budget\n"
        "saccade render billiards -o break.png --contacts</code></pre>\n<footer>Made by <code>saccade "
        "demo</code> %s on this machine (%s, one thread for the physics).</footer>\n",
        SACCADE_VERSION, sac_simd_name(sac_simd_active()));
    sac_page_end(page);
    snprintf(path, sizeof path, "%s/index.html", s->def->folder);
    return sac_page_save(page, path, error);
}

sac_result sac_demo_storm(const sac_demo_def *def, const char *books, json_t **out_json, sac_error *error)
{
    storm s = {.def = def, .bodies = def->quick ? 200 : 3000, .frames = def->quick ? 40 : 270};
    sac_demo_film film = {0};
    sac_result result = compare(&s, error);
    if (result == SAC_OK) result = sac_demo_film_make(&film, def, error);
    if (result == SAC_OK) read_books(&s, books);
    if (result == SAC_OK) result = write_page(&s, &film, error);
    if (result == SAC_OK)
        *out_json = json_pack(
            "{s:b,s:i,s:s,s:{s:{s:o,s:o,s:o,s:i},s:{s:o,s:o,s:o,s:i}},s:i}", "video", film.video != NULL,
            "pictures", (int)(film.stills ? 2 : 0), "device", film.device, "compare", "jnd", "p50_us",
            sac_json_number(s.runs[0].cpu_us.p50), "p99_us", sac_json_number(s.runs[0].cpu_us.p99), "max_us",
            sac_json_number(s.runs[0].cpu_us.max), "over", (int)s.over[0], "exhaustive", "p50_us",
            sac_json_number(s.runs[1].cpu_us.p50), "p99_us", sac_json_number(s.runs[1].cpu_us.p99), "max_us",
            sac_json_number(s.runs[1].cpu_us.max), "over", (int)s.over[1], "books", (int)s.books);
    for (int i = 0; i < 2; i++) {
        sac_run_fini(&s.runs[i]);
        sac_free(s.ms[i], s.frames, sizeof *s.ms[i]);
    }
    sac_free(s.physics, MOST_FRAMES, sizeof *s.physics);
    sac_free(s.slice, MOST_FRAMES, sizeof *s.slice);
    sac_page_fini(&s.page);
    return result;
}
