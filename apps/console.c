#include "apps/console.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

static struct {
    const char *command;
    bool text, json, terminal, bar_shown;
    uint64_t progress_start_ns, progress_last_ns;
} console = {.command = "", .text = true};

static volatile sig_atomic_t cancelled;

/* Ctrl-C, and what a batch system sends before it ends a job. */
static void on_stop(void (*then)(int))
{
    signal(SIGINT, then);
    signal(SIGTERM, then);
}

static void cancel(int number)
{
    (void)number;
    cancelled = 1;
    /* A second one ends the program at once. */
    on_stop(SIG_DFL);
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

/* ---- errors ---- */

void sac_console_listen(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0) console.json = true, console.text = false;
}

/* What to do when whoever failed did not say. */
static sac_error with_remedy(const sac_error *error)
{
    sac_error whole = *error;
    const char *remedy = error->code == SAC_ERROR_IO ? "check the path, the permissions and the free space"
                         : error->code == SAC_ERROR_MEMORY ? "ask for less, or close other programs"
                         : error->code == SAC_ERROR_CORRUPT || error->code == SAC_ERROR_FORMAT
                             ? "make the file anew"
                             : "";
    if (!*whole.remedy) snprintf(whole.remedy, sizeof whole.remedy, "%s", remedy);
    return whole;
}

static json_t *text_or_null(const char *text) { return *text ? sac_json_text(text) : json_null(); }

/* One form for all commands; every member is always there. */
static json_t *error_json(const sac_error *error)
{
    return json_pack("{s:s,s:o,s:o,s:o,s:o,s:o}", "code", sac_result_name(error->code), "message",
                     sac_json_text(error->message), "remedy", text_or_null(error->remedy), "file",
                     text_or_null(error->file), "line",
                     error->line > 0 ? json_integer((json_int_t)error->line) : json_null(), "byte",
                     error->byte >= 0 ? json_integer((json_int_t)error->byte) : json_null());
}

/* A name nobody knows or a number that cannot be is the caller's; what is wrong inside a file is not. */
static int exit_code(const sac_error *error)
{
    return error->code == SAC_ERROR_ARGUMENT && !*error->file ? SAC_EXIT_USAGE : SAC_EXIT_FAILED;
}

static void tell(const char *command, const sac_error *error)
{
    char text[768];
    sac_console_progress_end();
    fflush(stdout);
    fprintf(stderr, "saccade%s%s: %s\n", *command ? " " : "", command,
            sac_error_text(error, text, sizeof text));
}

static void print_json(json_t *object, int *code)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(8));
    if (text) puts(text);
    if (!text || fflush(stdout) != 0) *code = SAC_EXIT_FAILED;
    free(text);
}

int sac_console_spoilt(json_t *object, const sac_error *error)
{
    int code = exit_code(error);
    const sac_error whole = with_remedy(error);
    tell(console.command, &whole);
    if (!object) object = json_object();
    json_object_set_new(object, "error", error_json(&whole));
    if (console.json) print_json(object, &code);
    json_decref(object);
    return code;
}

static int fail_usage(const char *command, const sac_error *error)
{
    int code = SAC_EXIT_USAGE;
    tell(command, error);
    fprintf(stderr, "Try: saccade%s%s --help\n", *command ? " " : "", command);
    if (!console.json) return code;
    sac_error whole = *error;
    if (!*whole.remedy)
        snprintf(whole.remedy, sizeof whole.remedy, "see saccade%s%s --help", *command ? " " : "", command);
    json_t *object = json_pack("{s:o}", "error", error_json(&whole));
    print_json(object, &code);
    json_decref(object);
    return code;
}

int sac_console_fail(const sac_error *error)
{
    return exit_code(error) == SAC_EXIT_USAGE ? fail_usage(console.command, error)
                                              : sac_console_spoilt(NULL, error);
}

int sac_console_fail_usage(const char *command, const char *message)
{
    sac_error error;
    sac_error_set(&error, SAC_ERROR_ARGUMENT, NULL, "%s", message);
    return fail_usage(command, &error);
}

int sac_console_json(json_t *object, bool always, int code)
{
    if (!object) {
        sac_error error;
        sac_error_set(&error, SAC_ERROR_MEMORY, NULL, "the JSON could not be made");
        return sac_console_fail(&error);
    }
    if (console.json || (always && console.text)) print_json(object, &code);
    json_decref(object);
    return code;
}

int sac_console_close(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    fprintf(stderr, "saccade: standard output could not be written; make room, or send it elsewhere\n");
    return code == SAC_EXIT_OK ? SAC_EXIT_FAILED : code;
}

void sac_console_progress_end(void)
{
    if (console.bar_shown) fputs("\r\033[K", stderr);
    console.bar_shown = false;
    if (console.progress_start_ns) on_stop(SIG_DFL);
    console.progress_start_ns = 0;
}

const char *sac_console_bar(char out[SAC_BAR_BYTES], const char *what, float done, double seconds,
                            uint32_t columns)
{
    enum { WIDEST = 32, MOST_COLUMNS = 200 };
    char numbers[48], *end = out;
    done = done > 0 ? fminf(done, 1) : 0;
    int room = (int)(columns < MOST_COLUMNS ? columns : MOST_COLUMNS) - 1;
    int length = snprintf(numbers, sizeof numbers, "%3.0f %%  %.1f s", done * 100.0f, seconds);
    if (length > room) {
        *out = 0;
        return out;
    }
    room -= length;
    /* What is done first, a blank behind it; then as much of the bar as is left, two blanks about it. */
    for (size_t n; *what && room > 1 && (n = sac_text_character(what)) > 0; what += n, room--)
        memcpy(end, what, n), end += n;
    if (end > out) *end++ = ' ', room--;
    int width = room - 1 < WIDEST ? room - 1 : WIDEST, full = (int)(done * (float)width + 0.5f);
    for (int i = 0; i < width; i++) end += sprintf(end, "%s", i < full ? "█" : "░");
    if (width > 0) *end++ = ' ';
    memcpy(end, numbers, (size_t)length + 1);
    return out;
}

/* Of the terminal the bar is on. */
static uint32_t terminal_columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

bool sac_console_progress(float done, void *user)
{
    /* Seldom: what is being done may be timed, and a terminal costs the caches. */
    const uint64_t now = sac_time_now_ns(), bar_ns = 250000000u, line_ns = 5000000000u;
    if (!console.progress_start_ns) {
        console.progress_start_ns = now;
        on_stop(cancel);
        console.progress_last_ns = console.terminal ? 0 : now;
    }
    if (console.text && now - console.progress_last_ns >= (console.terminal ? bar_ns : line_ns)) {
        double seconds = (double)(now - console.progress_start_ns) * 1e-9;
        const char *what = user ? user : "";
        console.progress_last_ns = now;
        if (console.terminal) {
            char bar[SAC_BAR_BYTES];
            fprintf(stderr, "\r%s\033[K", sac_console_bar(bar, what, done, seconds, terminal_columns()));
            console.bar_shown = true;
        } else {
            fprintf(stderr, "%s: %.0f %% after %.1f s\n", what, done * 100.0f, seconds);
        }
        fflush(stderr);
    }
    return !cancelled;
}

size_t sac_text_character(const char *bytes)
{
    const unsigned char *text = (const unsigned char *)bytes;
    size_t n = *text < 0x80                    ? 1
               : *text >= 0xc2 && *text < 0xe0 ? 2
               : *text >= 0xe0 && *text < 0xf0 ? 3
               : *text >= 0xf0 && *text < 0xf5 ? 4
                                               : 0;
    for (size_t i = 1; i < n; i++)
        if ((text[i] & 0xc0) != 0x80) return 0;
    /* Too long a form, a surrogate, past the last. */
    if ((*text == 0xe0 && text[1] < 0xa0) || (*text == 0xed && text[1] >= 0xa0) ||
        (*text == 0xf0 && text[1] < 0x90) || (*text == 0xf4 && text[1] >= 0x90))
        return 0;
    return n;
}

json_t *sac_json_text(const char *text)
{
    json_t *string = json_string(text);
    if (string) return string;
    char *clean = malloc(3 * strlen(text) + 1), *end = clean;
    if (!clean) return NULL;
    for (const char *c = text; *c;) {
        size_t n = sac_text_character(c);
        memcpy(end, n ? c : "\xef\xbf\xbd", n ? n : 3);
        end += n ? n : 3, c += n ? n : 1;
    }
    *end = 0;
    string = json_string(clean);
    free(clean);
    return string;
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
