#include "apps/console.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

static struct {
    const char *command;
    bool text, json, terminal, bar_shown;
    uint64_t progress_start_ns, progress_last_ns;
} console = {.command = "", .text = true};

static volatile sig_atomic_t cancelled;

static void cancel(int number)
{
    (void)number;
    cancelled = 1;
    /* A second Ctrl-C ends the program at once. */
    signal(SIGINT, SIG_DFL);
}

void sac_console_init(const char *command, const sac_common *common)
{
    console.command = command;
    console.text = !common->json && !common->quiet;
    console.json = common->json;
    console.terminal = isatty(STDERR_FILENO);
}

void sac_say(const char *format, ...)
{
    if (!console.text) return;
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    fflush(stdout);
}

int sac_console_fail(const sac_error *error)
{
    char text[768];
    sac_console_progress_end();
    fflush(stdout);
    fprintf(stderr, "saccade %s: %s\n", console.command, sac_error_text(error, text, sizeof text));
    if (console.json) {
        json_t *object = json_pack("{s:{s:s,s:s,s:s,s:s}}", "error", "code", sac_result_name(error->code),
                                   "message", error->message, "remedy", error->remedy, "file", error->file);
        /* A name that is not UTF-8 must not keep the machine from reading the rest. */
        if (!object) object = json_pack("{s:{s:s}}", "error", "code", sac_result_name(error->code));
        json_t *inside = json_object_get(object, "error");
        if (error->line > 0) json_object_set_new(inside, "line", json_integer((json_int_t)error->line));
        if (error->byte >= 0) json_object_set_new(inside, "byte", json_integer((json_int_t)error->byte));
        sac_console_json(object, false, SAC_EXIT_FAILED);
    }
    return SAC_EXIT_FAILED;
}

int sac_console_json(json_t *object, bool always, int code)
{
    if (!object) {
        fprintf(stderr, "saccade %s: the JSON could not be made; out of memory, or a name is not UTF-8\n",
                console.command);
        return SAC_EXIT_FAILED;
    }
    if (console.json || (always && console.text)) {
        char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(8));
        if (text) puts(text);
        if (!text || fflush(stdout) != 0) code = SAC_EXIT_FAILED;
        free(text);
    }
    json_decref(object);
    return code;
}

void sac_console_progress_end(void)
{
    if (console.bar_shown) fputs("\r\033[K", stderr);
    console.bar_shown = false;
    if (console.progress_start_ns) signal(SIGINT, SIG_DFL);
    console.progress_start_ns = 0;
}

bool sac_console_progress(float done, void *user)
{
    const uint64_t now = sac_time_now_ns(), bar_ns = 60000000u, line_ns = 5000000000u;
    if (!console.progress_start_ns) {
        console.progress_start_ns = now;
        signal(SIGINT, cancel);
        console.progress_last_ns = console.terminal ? 0 : now;
    }
    if (console.text && now - console.progress_last_ns >= (console.terminal ? bar_ns : line_ns)) {
        double seconds = (double)(now - console.progress_start_ns) * 1e-9;
        const char *what = user ? user : "";
        console.progress_last_ns = now;
        if (console.terminal) {
            enum { WIDTH = 32 };
            int full = (int)(done * WIDTH + 0.5f);
            char bar[WIDTH * 3 + 1], *p = bar;
            for (int i = 0; i < WIDTH; i++) p += sprintf(p, "%s", i < full ? "█" : "░");
            fprintf(stderr, "\r%s %s %3.0f %%  %.1f s\033[K", what, bar, done * 100.0f, seconds);
            console.bar_shown = true;
        } else {
            fprintf(stderr, "%s: %.0f %% after %.1f s\n", what, done * 100.0f, seconds);
        }
        fflush(stderr);
    }
    return !cancelled;
}

json_t *sac_json_number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

const char *sac_text_count(char out[32], uint64_t value)
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value), k = 0;
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0) out[k++] = ',';
        out[k++] = digits[i];
    }
    out[k] = 0;
    return out;
}

const char *sac_text_bytes(char out[32], uint64_t bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double x = (double)bytes;
    int unit = 0;
    while (x >= 1000 && unit < 4) x /= 1000, unit++;
    snprintf(out, 32, unit ? "%.1f %s" : "%.0f %s", x, units[unit]);
    return out;
}

double sac_console_cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
