/* What the program says: text on standard output, errors and progress on standard error, JSON as the last
 * line. With --json or --quiet the text is left out.
 *
 * Whatever goes wrong is told twice: as "saccade COMMAND: file:line: message; remedy" on standard error, and
 * with --json as the last line of standard output, an object with the member "error" (docs/files.md). The
 * exit code is 2 for a mistake in the call (ERROR_ARGUMENT that names no file), 1 for anything that failed
 * while working.
 *
 * Index: sac_console_listen  sac_console_init  sac_say  sac_console_fail  sac_console_fail_usage
 *        sac_console_json  sac_console_spoilt  sac_console_progress  sac_console_progress_end
 *        sac_console_bar  sac_console_close  sac_json_number  sac_json_text  sac_text_character
 *        sac_text_count  sac_text_bytes  sac_console_cpu_seconds
 */
#ifndef SAC_APPS_CONSOLE_H
#define SAC_APPS_CONSOLE_H

#include <jansson.h>

#include "apps/options.h"

enum { SAC_BAR_BYTES = 1024 };

/* Before any option is read: whether --json is among the arguments, so that a mistake in them is told that
 * way too. */
void sac_console_listen(int argc, char **argv);
/* After the options are read; `command` is named in errors. */
void sac_console_init(const char *command, const sac_common *common);

/* printf to standard output, unless --json or --quiet. */
void sac_say(const char *format, ...) SAC_PRINTF(1, 2);

/* Tells the error; returns the exit code, SAC_EXIT_USAGE or SAC_EXIT_FAILED. */
int sac_console_fail(const sac_error *error);
/* The same for a mistake in the call of `command`, whose help is pointed at. */
int sac_console_fail_usage(const char *command, const char *message);

/* Prints the object in one line when --json is on (`always`: in any case) and releases it. Returns `code`,
 * or SAC_EXIT_FAILED when it cannot be printed. */
int sac_console_json(json_t *object, bool always, int code);
/* What there is in spite of the error, with the error as its member "error"; tells it and releases the
 * object. Returns the exit code. */
int sac_console_spoilt(json_t *object, const sac_error *error);

/* For sac_build_def.progress: a bar on a terminal, a line every few seconds elsewhere. `user` is what is
 * being done ("baking knot"). While it is called, Ctrl-C asks the work to stop by a false result. */
bool sac_console_progress(float done, void *user);
/* The bar as it is shown: at most `columns` - 1 characters, for a line that wraps cannot be wiped. What is
 * being done is cut when there is no room for it. Returns `out`. */
const char *sac_console_bar(char out[SAC_BAR_BYTES], const char *what, float done, double seconds,
                            uint32_t columns);
/* Wipes the bar; call before printing anything else. */
void sac_console_progress_end(void);

/* At the very end: `code`, or SAC_EXIT_FAILED with a message when standard output did not take all of it. */
int sac_console_close(int code);

/* A number, or null when it is not finite. */
json_t *sac_json_number(double value);
/* Text from outside, a path say: what is not UTF-8 becomes U+FFFD instead of spoiling the object. */
json_t *sac_json_text(const char *text);
/* Bytes of the UTF-8 character `text` starts with; 0 for what is none. */
size_t sac_text_character(const char *text);
/* 12345 as "12,345"; `out` has room for 32. Returns `out`. */
const char *sac_text_count(char out[32], uint64_t value);
/* "1.5 MB". */
const char *sac_text_bytes(char out[32], uint64_t bytes);

/* CPU time of the whole process. */
double sac_console_cpu_seconds(void);

#endif
