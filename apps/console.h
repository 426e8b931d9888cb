/* What the program says: text on standard output, errors and progress on standard error, JSON as the last
 * line. With --json or --quiet the text is left out.
 *
 * Index: sac_console_init  sac_say  sac_console_fail  sac_console_json  sac_console_progress
 *        sac_json_number  sac_text_count  sac_text_bytes  sac_console_cpu_seconds
 */
#ifndef SAC_APPS_CONSOLE_H
#define SAC_APPS_CONSOLE_H

#include <jansson.h>

#include "apps/options.h"

/* After the options are read; `command` is named in errors. */
void sac_console_init(const char *command, const sac_common *common);

/* printf to standard output, unless --json or --quiet. */
void sac_say(const char *format, ...) SAC_PRINTF(1, 2);

/* The error as one line on standard error (and as JSON object when asked for); returns SAC_EXIT_FAILED. */
int sac_console_fail(const sac_error *error);

/* Prints the object in one line when --json is on (`always`: in any case) and releases it. Returns `code`,
 * or SAC_EXIT_FAILED when it cannot be printed. */
int sac_console_json(json_t *object, bool always, int code);

/* For sac_build_def.progress: a bar on a terminal, a line every few seconds elsewhere. `user` is what is
 * being done ("baking knot"). While it is called, Ctrl-C asks the work to stop by a false result. */
bool sac_console_progress(float done, void *user);
/* Wipes the bar; call before printing anything else. */
void sac_console_progress_end(void);

/* A number, or null when it is not finite. */
json_t *sac_json_number(double value);
/* 12345 as "12,345"; `out` has room for 32. Returns `out`. */
const char *sac_text_count(char out[32], uint64_t value);
/* "1.5 MB". */
const char *sac_text_bytes(char out[32], uint64_t bytes);

/* CPU time of the whole process. */
double sac_console_cpu_seconds(void);

#endif
