/* Options of the program, one way for all commands: long names, a few letters, --name=value or --name value.
 * Every command has --help, --json, --quiet and --threads without asking for them.
 *
 *   const sac_option options[] = {{"branch", 0, SAC_OPTION_UINT, &branch, "N", "children a node", 2, 16}};
 *   const sac_command command = {"bake", "MESH -o TREE", "Bake a mesh.", options, 1, NULL};
 *   int code = sac_options_parse(&command, argc, argv, &common, words, 1, &word_count);
 *   if (code >= 0) return code;
 *
 * Index: sac_options_parse  sac_options_suggest  sac_options_usage_error
 */
#ifndef SAC_APPS_OPTIONS_H
#define SAC_APPS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { SAC_EXIT_OK = 0, SAC_EXIT_FAILED = 1, SAC_EXIT_USAGE = 2 };

typedef enum sac_option_kind {
    SAC_OPTION_FLAG,   /* bool * */
    SAC_OPTION_TEXT,   /* const char ** */
    SAC_OPTION_UINT,   /* uint32_t *, within least..most */
    SAC_OPTION_SEED,   /* uint64_t * */
    SAC_OPTION_RESEED, /* sac_reseed * */
    SAC_OPTION_NUMBER, /* double *, within least..most */
    SAC_OPTION_MAYBE   /* sac_maybe *, the number within least..most, if there is one */
} sac_option_kind;

/* An option whose number may be left out: --time, --time 3. `number` is set by the caller to its default. */
typedef struct sac_maybe {
    bool given;
    uint32_t number;
} sac_maybe;

/* A seed in place of another, if there is one: every number may be one, so none can stand for "not given". */
typedef struct sac_reseed {
    bool given;
    uint64_t seed;
} sac_reseed;

typedef struct sac_option {
    const char *name; /* without the dashes */
    char letter;      /* short form, 0: none */
    sac_option_kind kind;
    void *value;
    const char *argument; /* what the help calls the value */
    const char *help;
    double least, most;
} sac_option;

typedef struct sac_command {
    const char *name;  /* "bake", "tree info" */
    const char *usage; /* "MESH [-o TREE]" */
    const char *about;
    const sac_option *options;
    size_t option_count;
    const char *notes; /* after the options in the help; may be NULL */
} sac_command;

/* What every command understands. `threads` is set by the caller to its default. */
typedef struct sac_common {
    bool json, quiet;
    uint32_t threads;
} sac_common;

/* Returns -1 to go on, else the exit code: 0 after --help, 2 after a message about what is wrong.
 * `words` gets the arguments that are not options, at most `most_words`. */
int sac_options_parse(const sac_command *command, int argc, char **argv, sac_common *common,
                      const char **words, int most_words, int *word_count);

/* The candidate closest to `word`, NULL when none is close enough to be meant. `candidates` ends in NULL. */
const char *sac_options_suggest(const char *word, const char *const *candidates);

/* "saccade NAME: message" and where the help is, as sac_console_fail_usage tells it; returns SAC_EXIT_USAGE.
 */
int sac_options_usage_error(const char *command, const char *format, ...) SAC_PRINTF(2, 3);

#endif
