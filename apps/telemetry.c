#include "apps/telemetry.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "apps/console.h"
#include "apps/whole_file.h"

typedef struct sheet {
    sac_array(char) text;
    bool failed;
} sheet;

static void put(sheet *s, const char *format, ...) SAC_PRINTF(2, 3);
static void put(sheet *s, const char *format, ...)
{
    char piece[1024];
    va_list list;
    va_start(list, format);
    int n = vsnprintf(piece, sizeof piece, format, list);
    va_end(list);
    if (n < 0 || n >= (int)sizeof piece || s->failed ||
        !sac_array_reserve(&s->text, s->text.count + (size_t)n)) {
        s->failed = true;
        return;
    }
    memcpy(s->text.data + s->text.count, piece, (size_t)n);
    s->text.count += (size_t)n;
}

static sac_result save(sheet *s, const char *path, sac_error *error)
{
    sac_result result =
        s->failed ? sac_error_set(error, SAC_ERROR_MEMORY, "run fewer frames", "no memory for the file")
                  : sac_whole_file_write(path, s->text.data, s->text.count, error);
    sac_array_fini(&s->text);
    return result;
}

/* ---- CSV ---- */

/* Plain columns: one table for headings and values. */
#define COLUMNS(X)                                               \
    X("frame", (double)r->frame)                                 \
    X("wall_us", row->wall_us)                                   \
    X("cpu_us", row->cpu_us)                                     \
    X("start_us", (double)r->start_ns * 1e-3)                    \
    X("budget_us", (double)r->budget_ns * 1e-3)                  \
    X("spent_us", (double)r->spent_ns * 1e-3)                    \
    X("returned_us", (double)r->returned_ns * 1e-3)              \
    X("overshoot_us", (double)r->overshoot_ns * 1e-3)            \
    X("reserved_us", (double)r->reserved_ns * 1e-3)              \
    X("response_us", (double)r->response_ns * 1e-3)              \
    X("prediction_error", (double)r->prediction_error)           \
    X("credits", (double)r->credits)                             \
    X("node_tests", (double)r->descent.tests)                    \
    X("pieces", (double)r->descent.pieces)                       \
    X("interrupted", (double)r->descent.interrupted)             \
    X("jnd_p50", (double)r->descent.jnd_p50)                     \
    X("jnd_p95", (double)r->descent.jnd_p95)                     \
    X("jnd_max", (double)r->descent.jnd_most)                    \
    X("jnd_sum", r->descent.jnd_sum)                             \
    X("coarse_fronts", (double)r->descent.coarse)                \
    X("overshoot_credits", (double)r->descent.overshoot_credits) \
    X("pairs", (double)r->pairs)                                 \
    X("pairs_active", (double)r->pairs_active)                   \
    X("pairs_skipped", (double)r->pairs_skipped)                 \
    X("pairs_begun", (double)r->pairs_begun)                     \
    X("pairs_ended", (double)r->pairs_ended)                     \
    X("manifolds", (double)r->manifolds)                         \
    X("contacts", (double)r->contacts)                           \
    X("bodies", (double)r->bodies)                               \
    X("awake", (double)r->awake)                                 \
    X("simulated", (double)r->simulated)                         \
    X("islands", (double)r->islands)                             \
    X("fast", (double)r->fast)                                   \
    X("colours", (double)r->colours)                             \
    X("substeps", (double)r->substeps)                           \
    X("flips", (double)r->flips)                                 \
    X("allocations", (double)r->allocations)                     \
    X("not_finite", (double)r->not_finite)                       \
    X("gaze_state", (double)r->gaze)                             \
    X("gaze_x", (double)row->gaze[0])                            \
    X("gaze_y", (double)row->gaze[1])                            \
    X("gaze_z", (double)row->gaze[2])                            \
    X("energy_j", row->energy_j)                                 \
    X("soft_points", (double)r->soft_points)                     \
    X("soft_contacts", (double)r->soft_contacts)                 \
    X("soft_rounds", (double)r->soft_rounds)                     \
    X("refits", (double)r->refits)                               \
    X("groups", (double)r->descent.groups)

#define COUNT(name, value) +1
enum {
    PLAIN = 0 COLUMNS(COUNT),
    GROUPS = 32,
    LEVELS = SAC_TREE_MOST_DEPTH + 1,
    ALL = PLAIN + SAC_STAGES + SAC_RUNGS + 2 * GROUPS + LEVELS
};
#undef COUNT

bool sac_telemetry_column(uint32_t index, char out[48])
{
#define NAME(name, value) name,
    static const char *const names[] = {COLUMNS(NAME)};
#undef NAME
    uint32_t i = index;
    if (i < PLAIN) return snprintf(out, 48, "%s", names[i]) > 0;
    if ((i -= PLAIN) < SAC_STAGES) return snprintf(out, 48, "%s_us", sac_stage_name(i)) > 0;
    if ((i -= SAC_STAGES) < SAC_RUNGS) return snprintf(out, 48, "rung_%s", sac_rung_name(i)) > 0;
    if ((i -= SAC_RUNGS) < GROUPS) return snprintf(out, 48, "group%u_pairs", i) > 0;
    if ((i -= GROUPS) < GROUPS) return snprintf(out, 48, "group%u_tests", i) > 0;
    if ((i -= GROUPS) < LEVELS) return snprintf(out, 48, "level%u_pairs", i) > 0;
    return false;
}

static double value_of(const sac_run_row *row, uint32_t index)
{
    const sac_step_report *r = &row->report;
#define VALUE(name, value) value,
    if (index < PLAIN) return (const double[]){COLUMNS(VALUE)}[index];
#undef VALUE
    uint32_t i = index - PLAIN;
    if (i < SAC_STAGES) return (double)r->stage_ns[i] * 1e-3;
    if ((i -= SAC_STAGES) < SAC_RUNGS) return (double)r->rungs[i];
    if ((i -= SAC_RUNGS) < GROUPS) return r->descent.group_pairs[i];
    if ((i -= GROUPS) < GROUPS) return (double)r->descent.group_tests[i];
    return r->descent.pairs_at_level[i - GROUPS];
}

sac_result sac_telemetry_csv(const sac_run_row *rows, size_t count, const char *path, sac_error *error)
{
    sheet s = {0};
    /* Groups and levels that are never used are left out. */
    bool shown[ALL];
    for (uint32_t i = 0; i < ALL; i++) {
        shown[i] = i < PLAIN + SAC_STAGES + SAC_RUNGS;
        for (size_t k = 0; k < count && !shown[i]; k++) shown[i] = value_of(&rows[k], i) != 0;
    }
    for (uint32_t i = 0; i < ALL; i++) {
        char name[48];
        if (shown[i] && sac_telemetry_column(i, name)) put(&s, "%s%s", i ? "," : "", name);
    }
    put(&s, "\n");
    for (size_t k = 0; k < count; k++) {
        for (uint32_t i = 0; i < ALL; i++) {
            double v = value_of(&rows[k], i);
            if (!shown[i]) continue;
            if (i) put(&s, ",");
            if (isfinite(v)) put(&s, v == floor(v) && fabs(v) < 1e15 ? "%.0f" : "%.6g", v);
        }
        put(&s, "\n");
    }
    return save(&s, path, error);
}

/* ---- trace ---- */

/* A name that may stand between quotes in JSON. */
static void plain_name(const char *name, char *out, size_t size)
{
    size_t used = 0;
    for (size_t n; *name; name += n ? n : 1) {
        n = sac_text_character(name);
        size_t wanted = n ? n : 3;
        if (used + wanted >= size) break;
        if ((unsigned char)*name < 0x20 || *name == '"' || *name == '\\') continue;
        memcpy(out + used, n ? name : "\xef\xbf\xbd", wanted);
        used += wanted;
    }
    out[used] = 0;
}

sac_result sac_telemetry_trace(const sac_run_row *rows, size_t count, const char *name, const char *path,
                               sac_error *error)
{
    sheet s = {0};
    char plain[64];
    plain_name(name, plain, sizeof plain);
    put(&s,
        "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
        "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":\"saccade run %s\"}},\n"
        "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":1,\"args\":{\"name\":\"step\"}}",
        plain);
    uint64_t origin = count ? rows[0].report.start_ns : 0;
    for (size_t k = 0; k < count; k++) {
        const sac_step_report *r = &rows[k].report;
        double at = (double)(r->start_ns - origin) * 1e-3, stage_at = at;
        put(&s,
            ",\n{\"name\":\"step\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":%.3f,\"dur\":%.3f,\"args\":{"
            "\"frame\":%llu,"
            "\"budget_us\":%.3f,\"reserved_us\":%.3f,\"returned_us\":%.3f,\"contacts\":%u,\"pairs\":%u,"
            "\"awake\":%u,\"interrupted\":%s}}",
            at, (double)r->spent_ns * 1e-3, (unsigned long long)r->frame, (double)r->budget_ns * 1e-3,
            (double)r->reserved_ns * 1e-3, (double)r->returned_ns * 1e-3, r->contacts, r->pairs_active,
            r->awake, r->descent.interrupted ? "true" : "false");
        for (uint32_t i = 0; i < SAC_STAGES; i++) {
            double long_us = (double)r->stage_ns[i] * 1e-3;
            if (long_us > 0)
                put(&s, ",\n{\"name\":\"%s\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":%.3f,\"dur\":%.3f}",
                    sac_stage_name(i), stage_at, long_us);
            stage_at += long_us;
        }
        put(&s,
            ",\n{\"name\":\"jnd "
            "left\",\"ph\":\"C\",\"pid\":1,\"ts\":%.3f,\"args\":{\"p95\":%.4g,\"max\":%.4g}}",
            at, isfinite(r->descent.jnd_p95) ? (double)r->descent.jnd_p95 : 0.0,
            isfinite(r->descent.jnd_most) ? (double)r->descent.jnd_most : 0.0);
        put(&s,
            ",\n{\"name\":\"load\",\"ph\":\"C\",\"pid\":1,\"ts\":%.3f,\"args\":{\"contacts\":%u,\"awake\":%u}"
            "}",
            at, r->contacts, r->awake);
    }
    put(&s, "\n]}\n");
    return save(&s, path, error);
}
