#include "apps/xr_books.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/whole_file.h"

enum { MOST_ROWS = 1 << 18, ROW_TEXT = 640 }; /* 48 minutes at 90 Hz */

sac_result sac_xr_books_init(sac_xr_books *books, uint64_t frames, sac_error *error)
{
    const size_t capacity = frames && frames < MOST_ROWS ? (size_t)frames : MOST_ROWS;
    *books = (sac_xr_books){.rows = sac_alloc_zero(capacity, sizeof *books->rows), .capacity = capacity};
    return books->rows
               ? SAC_OK
               : sac_error_set(error, SAC_ERROR_MEMORY, "say --frames", "no memory to keep the frames in");
}

void sac_xr_books_fini(sac_xr_books *books)
{
    sac_free(books->rows, books->capacity, sizeof *books->rows);
    *books = (sac_xr_books){0};
}

sac_xr_row *sac_xr_books_next(sac_xr_books *books) { return &books->rows[books->count++ % books->capacity]; }

size_t sac_xr_books_kept(const sac_xr_books *books)
{
    return books->count < books->capacity ? (size_t)books->count : books->capacity;
}

const sac_xr_row *sac_xr_books_row(const sac_xr_books *books, size_t index)
{
    const uint64_t first = books->count - sac_xr_books_kept(books);
    return &books->rows[(first + index) % books->capacity];
}

/* ---- what it comes to ---- */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bool sac_xr_books_spread(const sac_xr_books *books, double (*value)(const sac_xr_row *row),
                         sac_xr_spread *out)
{
    const size_t kept = sac_xr_books_kept(books);
    double *values = sac_alloc(kept ? kept : 1, sizeof *values), sum = 0;
    *out = (sac_xr_spread){0};
    if (!values) return false;
    for (size_t i = 0; i < kept; i++) {
        const double v = value(sac_xr_books_row(books, i));
        if (isnan(v)) continue;
        values[out->count++] = v;
        sum += v;
    }
    if (out->count) {
        qsort(values, out->count, sizeof *values, compare);
        out->mean = sum / (double)out->count;
        out->p50 = values[(out->count - 1) / 2];
        out->p95 = values[(size_t)(0.95 * (double)(out->count - 1) + 0.5)];
        out->p99 = values[(size_t)(0.99 * (double)(out->count - 1) + 0.5)];
        out->max = values[out->count - 1];
    }
    sac_free(values, kept ? kept : 1, sizeof *values);
    return true;
}

/* ---- files ---- */

typedef struct text {
    sac_array(char) bytes;
    bool failed;
} text;

static void add(text *t, const char *line, int length)
{
    if (length < 0 || length >= ROW_TEXT || t->failed ||
        !sac_array_reserve(&t->bytes, t->bytes.count + (size_t)length)) {
        t->failed = true;
        return;
    }
    memcpy(t->bytes.data + t->bytes.count, line, (size_t)length);
    t->bytes.count += (size_t)length;
}

static sac_result save(text *t, const char *path, sac_error *error)
{
    sac_result result = t->failed ? sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %.200s", path)
                                  : sac_whole_file_write(path, t->bytes.data, t->bytes.count, error);
    sac_array_fini(&t->bytes);
    return result;
}

sac_result sac_xr_books_csv(const sac_xr_books *books, const char *path, sac_error *error)
{
    static const char head[] =
        "frame,state,wait_begin_ns,wait_end_ns,predicted_display_ns,predicted_display_xr_ns,period_ns,"
        "should_render,begin_ns,gpu_ms,end_ns,missed,late,strange,deadline_ns,physics_end_ns,physics_ms,"
        "steps,"
        "bodies,room_ms,head_x,head_y,head_z,head_qx,head_qy,head_qz,head_qw,gaze_valid,gaze_fresh,gaze_"
        "sample_ns,"
        "gaze_x,gaze_y,gaze_z\n";
    char line[ROW_TEXT];
    text t = {0};
    add(&t, head, (int)strlen(head));
    for (size_t i = 0; i < sac_xr_books_kept(books); i++) {
        const sac_xr_row *r = sac_xr_books_row(books, i);
        char gpu[24] = "", sample[24] = "";
        if (r->gpu_ns) snprintf(gpu, sizeof gpu, "%.4f", (double)r->gpu_ns * 1e-6);
        if (r->gaze_ns) snprintf(sample, sizeof sample, "%" PRIu64, r->gaze_ns);
        const float *h = r->head, *g = r->gaze;
        add(&t, line,
            snprintf(line, sizeof line,
                     "%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%" PRId64 ",%d,%" PRIu64
                     ",%s,%" PRIu64 ",%u,%d,%d,%" PRIu64 ",%" PRIu64
                     ",%.4f,%u,%u,%.4f,%.5f,%.5f,%.5f,%.6f,%.6f,%.6f,%.6f,%d,%d,%s,",
                     r->frame, r->state, r->wait_begin_ns, r->wait_end_ns, r->predicted_ns, r->predicted_xr,
                     r->period_ns, r->should_render, r->begin_ns, gpu, r->end_ns, r->missed, r->late,
                     r->strange, r->deadline_ns, r->physics_end_ns, (double)r->physics_ns * 1e-6, r->steps,
                     r->bodies, (double)r->room_ns * 1e-6, (double)h[0], (double)h[1], (double)h[2],
                     (double)h[3], (double)h[4], (double)h[5], (double)h[6], r->gaze_valid, r->gaze_fresh,
                     sample));
        if (r->gaze_valid)
            add(&t, line,
                snprintf(line, sizeof line, "%.6f,%.6f,%.6f\n", (double)g[0], (double)g[1], (double)g[2]));
        else
            add(&t, ",,\n", 3);
    }
    return save(&t, path, error);
}

sac_result sac_xr_books_mangohud(const sac_xr_books *books, const char *device, const char *path,
                                 sac_error *error)
{
    char line[ROW_TEXT];
    text t = {0};
    add(&t, line,
        snprintf(
            line, sizeof line,
            "os,cpu,gpu,ram,kernel,driver,cpuscheduler\n,,%.200s,,,,\n"
            "fps,frametime,cpu_load,gpu_load,cpu_temp,gpu_temp,gpu_core_clock,gpu_mem_clock,gpu_vram_used,"
            "gpu_power,ram_used,swap_used,process_rss,elapsed\n",
            device));
    uint64_t start = 0;
    for (size_t i = 0; i < sac_xr_books_kept(books); i++) {
        const sac_xr_row *r = sac_xr_books_row(books, i);
        if (!start) start = r->wait_end_ns;
        if (r->step_ns <= 0) continue;
        const double ms = (double)r->step_ns * 1e-6;
        add(&t, line,
            snprintf(line, sizeof line, "%.3f,%.4f,0,0,0,0,0,0,0,0,0,0,0,%" PRIu64 "\n", 1000 / ms, ms,
                     r->wait_end_ns - start));
    }
    return save(&t, path, error);
}
