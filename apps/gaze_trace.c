#include "apps/gaze_trace.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/options.h"

enum { MOST_LINE = 256 };
#define MOST_BYTES (64u << 20)

static sac_result bad_line(sac_error *error, const char *path, int64_t line, const char *remedy,
                           const char *what)
{
    sac_error_set(error, SAC_ERROR_FORMAT, remedy, "%s", what);
    sac_error_at_line(error, line);
    return sac_error_in_file(error, path);
}

/* Up to `most` numbers between commas; an empty one is NaN. -1: something else is there. */
static int read_numbers(const char *text, double *out, int most)
{
    int n = 0;
    for (const char *p = text;; p++) {
        char *end;
        if (n == most) return -1;
        p += strspn(p, " \t");
        out[n] = strtod(p, &end);
        if (end == p) out[n] = NAN;
        p = end + strspn(end, " \t");
        n++;
        if (*p == 0) return n;
        if (*p != ',') return -1;
    }
}

static sac_result read_sample(sac_gaze_trace *trace, const char *text, const char *path, int64_t line,
                              sac_error *error)
{
    double v[6] = {0, 0, 0, 0, 1, NAN};
    int n = read_numbers(text, v, 6);
    const char *remedy = "write time_s,x,y,z[,valid[,confidence]]";
    if (n < 4) return bad_line(error, path, line, remedy, "not four to six numbers with commas between");
    sac_gaze_trace_sample sample = {.time = v[0],
                                    .direction = {(float)v[1], (float)v[2], (float)v[3]},
                                    .valid = v[4] != 0,
                                    .confidence = (float)v[5]};
    if (n >= 5 && v[4] != 0 && v[4] != 1)
        return bad_line(error, path, line, "write 1 for valid, 0 for a blink or lost gaze",
                        "the fifth number is neither 0 nor 1");
    if (n >= 6 && !isnan(v[5]) && !(v[5] >= 0 && v[5] <= 1))
        return bad_line(error, path, line, "write 0 to 1, or leave it empty",
                        "the confidence is out of range");
    if (!(v[0] >= 0 && v[0] <= 1e6))
        return bad_line(error, path, line, "write seconds from the start, 0 to 1000000",
                        "the time is not a number or out of range");
    if (trace->samples.count && !(v[0] > trace->samples.data[trace->samples.count - 1].time))
        return bad_line(error, path, line, "sort the lines by time",
                        "the time does not come after the one before");
    float square = sample.direction[0] * sample.direction[0] + sample.direction[1] * sample.direction[1] +
                   sample.direction[2] * sample.direction[2];
    if (sample.valid && !(square > 1e-12f && square < 1e12f))
        return bad_line(error, path, line, "write where the eye looks, e.g. 0,0,-1",
                        "the direction is not finite or has no length");
    if (!sample.valid) sample.direction[0] = sample.direction[1] = 0, sample.direction[2] = -1;
    if (sac_array_push(&trace->samples, sample)) return SAC_OK;
    return sac_error_set(error, SAC_ERROR_MEMORY, "use a shorter recording", "no memory for the gaze");
}

static sac_result read_comment(sac_gaze_trace *trace, const char *text, const char *path, int64_t line,
                               sac_error *error)
{
    char word[16];
    if (sscanf(text, " # space : %15s", word) != 1 && sscanf(text, " # space: %15s", word) != 1)
        return SAC_OK;
    trace->head = strcmp(word, "head") == 0;
    if (trace->head || strcmp(word, "world") == 0) return SAC_OK;
    return bad_line(error, path, line, "write '# space: head' or '# space: world'",
                    "directions are neither of the head nor of the world");
}

sac_result sac_gaze_trace_parse(sac_gaze_trace *out, const char *text, size_t size, const char *path,
                                sac_error *error)
{
    sac_result result = SAC_OK;
    int64_t line = 0;
    *out = (sac_gaze_trace){.kind = SAC_TRACE_FILE};
    for (size_t at = 0; at < size && result == SAC_OK;) {
        const char *start = text + at, *stop = memchr(start, '\n', size - at);
        size_t length = stop ? (size_t)(stop - start) : size - at;
        char copy[MOST_LINE];
        at += length + 1;
        line++;
        if (length >= sizeof copy || memchr(start, 0, length)) {
            result = bad_line(error, path, line, "write a sample a line",
                              "the line is longer than 255 characters or not text");
            break;
        }
        memcpy(copy, start, length);
        copy[length] = 0;
        copy[strcspn(copy, "\r")] = 0;
        char first = copy[strspn(copy, " \t")];
        bool heading = line == 1 && ((first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z')) &&
                       strstr(copy, "time");
        if (first == '#')
            result = read_comment(out, copy, path, line, error);
        else if (first && !heading)
            result = read_sample(out, copy, path, line, error);
    }
    if (result == SAC_OK && !out->samples.count) {
        sac_error_set(error, SAC_ERROR_EMPTY, "write time_s,x,y,z a line", "there is no sample in it");
        result = sac_error_in_file(error, path);
    }
    if (result != SAC_OK) sac_gaze_trace_fini(out);
    return result;
}

static sac_result read_trace(sac_gaze_trace *out, const char *path, sac_error *error)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        sac_error_set(error, SAC_ERROR_IO, "give center, none, sweep or a CSV file", "%s", strerror(errno));
        return sac_error_in_file(error, path);
    }
    sac_array(char) text = {0};
    char piece[4096];
    size_t n;
    bool ok = true;
    while (ok && (n = fread(piece, 1, sizeof piece, file)) > 0) {
        ok = text.count + n <= MOST_BYTES && sac_array_reserve(&text, text.count + n);
        if (ok) memcpy(text.data + text.count, piece, n), text.count += n;
    }
    sac_result result;
    if (ferror(file)) {
        sac_error_set(error, SAC_ERROR_IO, "check that it is a file", "%s", strerror(errno));
        result = sac_error_in_file(error, path);
    } else if (!ok) {
        sac_error_set(error, SAC_ERROR_LIMIT, "use a shorter recording", "the file is larger than 64 MB");
        result = sac_error_in_file(error, path);
    } else {
        result = sac_gaze_trace_parse(out, text.data, text.count, path, error);
    }
    fclose(file);
    sac_array_fini(&text);
    return result;
}

sac_result sac_gaze_trace_open(sac_gaze_trace *out, const char *name, sac_error *error)
{
    static const char *const names[] = {"center", "none", "sweep", NULL};
    *out = (sac_gaze_trace){0};
    for (int i = 0; names[i]; i++)
        if (strcmp(name, names[i]) == 0) {
            out->kind = (sac_gaze_trace_kind)i;
            return SAC_OK;
        }
    sac_result result = read_trace(out, name, error);
    const char *meant = result == SAC_ERROR_IO ? sac_options_suggest(name, names) : NULL;
    if (!meant) return result;
    char remedy[64];
    snprintf(remedy, sizeof remedy, "did you mean %s?", meant);
    return sac_error_set(error, SAC_ERROR_IO, remedy, "'%.100s' is neither a way to look nor a file", name);
}

void sac_gaze_trace_fini(sac_gaze_trace *trace) { sac_array_fini(&trace->samples); }

/* Zero is "unknown" to the gaze filter, so time starts at one second. */
uint64_t sac_gaze_trace_now_ns(double seconds) { return 1000000000u + (uint64_t)(seconds * 1e9 + 0.5); }

static void turn_with_head(const sac_viewer *viewer, float direction[3])
{
    sac_transform head = {.scale = 1};
    float out[3];
    memcpy(head.rotation, viewer->eyes[0].rotation, sizeof head.rotation);
    sac_transform_point(&head, direction, out);
    memcpy(direction, out, sizeof out);
}

/* Smooth pursuit around the scene, at most about 25 degrees a second. */
static void sweep(double seconds, float out[3])
{
    const double turn = 6.283185307179586, radians = 0.017453292519943295;
    double yaw = 24 * radians * sin(turn * seconds / 7.3), pitch = 7 * radians * sin(turn * seconds / 4.7);
    out[0] = (float)(sin(yaw) * cos(pitch));
    out[1] = (float)sin(pitch);
    out[2] = (float)(-cos(yaw) * cos(pitch));
}

void sac_gaze_trace_at(const sac_gaze_trace *trace, double seconds, sac_viewer *viewer)
{
    sac_gaze_sample *gaze = &viewer->gaze;
    gaze->valid = false;
    gaze->confidence = NAN;
    gaze->error_degrees = 0;
    gaze->time_ns = sac_gaze_trace_now_ns(seconds);
    gaze->direction[0] = gaze->direction[1] = 0, gaze->direction[2] = -1;
    if (!viewer->eye_count || trace->kind == SAC_TRACE_NONE) return;
    gaze->valid = true;
    if (trace->kind == SAC_TRACE_SWEEP) sweep(seconds, gaze->direction);
    if (trace->kind == SAC_TRACE_FILE) {
        size_t low = 0, high = trace->samples.count; /* the last sample not after now is at low - 1 */
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (trace->samples.data[middle].time <= seconds)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == 0) {
            gaze->valid = false; /* it has not begun */
            return;
        }
        const sac_gaze_trace_sample *sample = &trace->samples.data[low - 1];
        memcpy(gaze->direction, sample->direction, sizeof gaze->direction);
        gaze->valid = sample->valid;
        gaze->confidence = sample->confidence;
        gaze->time_ns = sac_gaze_trace_now_ns(sample->time);
        if (!trace->head) return;
    }
    turn_with_head(viewer, gaze->direction);
}
