#include "apps/options.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/console.h"

enum { MOST_CANDIDATES = 64, MOST_WORD = 48 };

/* Edits between two words (insert, delete, replace, swap of neighbours); long words count as far apart. */
static size_t edits(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), rows[3][MOST_WORD + 1];
    if (n > MOST_WORD || m > MOST_WORD) return MOST_WORD;
    size_t *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= m; j++) last[j] = j;
    for (size_t i = 1; i <= n; i++) {
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < best) best = last[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
        size_t *oldest = before;
        before = last, last = now, now = oldest;
    }
    return last[m];
}

const char *sac_options_suggest(const char *word, const char *const *candidates)
{
    const char *best = NULL;
    size_t length = strlen(word), best_edits = length < 4 ? 2 : 3; /* fewer edits than this */
    for (size_t i = 0; candidates[i]; i++) {
        size_t d = edits(word, candidates[i]);
        /* "med" for "medial": the start of a word is meant too. */
        if (length >= 3 && strncmp(word, candidates[i], length) == 0 && best_edits > 1) d = 1;
        if (d < best_edits && d < strlen(candidates[i])) best = candidates[i], best_edits = d;
    }
    return best;
}

int sac_options_usage_error(const char *command, const char *format, ...)
{
    char message[400];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    return sac_console_fail_usage(command, message);
}

static void print_option(const sac_option *option)
{
    char head[64];
    int n = option->letter ? snprintf(head, sizeof head, "-%c, --%s", option->letter, option->name)
                           : snprintf(head, sizeof head, "    --%s", option->name);
    if (option->argument) snprintf(head + n, sizeof head - (size_t)n, " %s", option->argument);
    const char *text = option->help;
    printf("  %-28s", head);
    if (strlen(head) > 27) printf("\n%30s", "");
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        printf("%.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
        if (*line) printf("%30s", "");
    }
}

static void print_help(const sac_command *command, const sac_option *common, size_t common_count)
{
    printf("Usage: saccade %s %s\n\n%s\n\nOptions:\n", command->name, command->usage, command->about);
    for (size_t i = 0; i < command->option_count; i++) print_option(&command->options[i]);
    for (size_t i = 0; i < common_count; i++) print_option(&common[i]);
    if (command->notes) printf("\n%s\n", command->notes);
}

/* Whole text is a number in range? Blanks, hexadecimals and words for infinity are taken by strtod, not here.
 */
static bool read_number(const sac_option *option, const char *text)
{
    char *end;
    bool real = option->kind == SAC_OPTION_NUMBER;
    errno = 0;
    if (text[strspn(text, real ? "0123456789+-.eE" : "0123456789")]) return false;
    if (real) {
        double x = strtod(text, &end);
        if (end == text || *end || !isfinite(x) || x < option->least || x > option->most) return false;
        *(double *)option->value = x;
        return true;
    }
    unsigned long long x = strtoull(text, &end, 10);
    if (end == text || *end || errno) return false;
    if (option->kind == SAC_OPTION_SEED) {
        *(uint64_t *)option->value = x;
        return true;
    }
    if (option->kind == SAC_OPTION_RESEED) {
        *(sac_reseed *)option->value = (sac_reseed){.given = true, .seed = x};
        return true;
    }
    if ((double)x < option->least || (double)x > option->most) return false;
    if (option->kind == SAC_OPTION_MAYBE)
        ((sac_maybe *)option->value)->number = (uint32_t)x;
    else
        *(uint32_t *)option->value = (uint32_t)x;
    return true;
}

static int set_value(const sac_command *command, const sac_option *option, const char *text)
{
    if (option->kind == SAC_OPTION_TEXT) {
        *(const char **)option->value = text;
        return -1;
    }
    if (read_number(option, text)) return -1;
    if (option->kind == SAC_OPTION_SEED || option->kind == SAC_OPTION_RESEED)
        return sac_options_usage_error(command->name, "--%s takes a whole number, not '%s'", option->name,
                                       text);
    return sac_options_usage_error(
        command->name, "--%s takes a %s from %.10g to %.10g, not '%s'", option->name,
        option->kind == SAC_OPTION_NUMBER ? "number" : "whole number", option->least, option->most, text);
}

static const sac_option *find_option(const sac_option *options, size_t count, const char *name, size_t length,
                                     char letter)
{
    for (size_t i = 0; i < count; i++) {
        if (letter ? options[i].letter == letter
                   : strlen(options[i].name) == length && strncmp(options[i].name, name, length) == 0)
            return &options[i];
    }
    return NULL;
}

static int unknown_option(const sac_command *command, const sac_option *common, size_t common_count,
                          const char *argument)
{
    const char *candidates[MOST_CANDIDATES + 1];
    size_t count = 0;
    for (size_t i = 0; i < command->option_count && count < MOST_CANDIDATES; i++)
        candidates[count++] = command->options[i].name;
    for (size_t i = 0; i < common_count && count < MOST_CANDIDATES; i++) candidates[count++] = common[i].name;
    candidates[count] = NULL;
    char word[MOST_WORD + 1];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(argument, "="), argument);
    const char *meant = sac_options_suggest(word + strspn(word, "-"), candidates);
    if (meant)
        return sac_options_usage_error(command->name, "unknown option %s; did you mean --%s?", word, meant);
    return sac_options_usage_error(command->name, "unknown option %s", word);
}

int sac_options_parse(const sac_command *command, int argc, char **argv, sac_common *common,
                      const char **words, int most_words, int *word_count)
{
    bool help = false, options_over = false;
    char threads[96];
    snprintf(threads, sizeof threads, "threads to use (default %u); results do not depend on it",
             common->threads);
    const sac_option shared[] = {
        {"threads", 0, SAC_OPTION_UINT, &common->threads, "N", threads, 1, 64},
        {"json", 0, SAC_OPTION_FLAG, &common->json, NULL, "print one JSON object instead of text", 0, 0},
        {"quiet", 'q', SAC_OPTION_FLAG, &common->quiet, NULL, "print errors only", 0, 0},
        {"help", 'h', SAC_OPTION_FLAG, &help, NULL, "this text", 0, 0},
    };
    const size_t shared_count = sizeof shared / sizeof *shared;
    *word_count = 0;
    for (int i = 0; i < argc; i++) {
        const char *argument = argv[i];
        if (options_over || argument[0] != '-' || !argument[1]) {
            if (*word_count >= most_words)
                return sac_options_usage_error(command->name, "one argument too many: '%s'", argument);
            words[(*word_count)++] = argument;
            continue;
        }
        if (strcmp(argument, "--") == 0) {
            options_over = true;
            continue;
        }
        bool is_long = argument[1] == '-';
        const char *name = argument + 2, *value = NULL;
        size_t length = is_long ? strcspn(name, "=") : 0;
        char letter = is_long ? 0 : argument[1];
        const sac_option *option = find_option(command->options, command->option_count, name, length, letter);
        if (!option) option = find_option(shared, shared_count, name, length, letter);
        if (!option) return unknown_option(command, shared, shared_count, argument);
        if (is_long && name[length] == '=') value = name + length + 1;
        if (!is_long && argument[2]) value = argument + 2; /* -oFILE */
        if (option->kind == SAC_OPTION_FLAG) {
            if (value) return sac_options_usage_error(command->name, "--%s takes no value", option->name);
            *(bool *)option->value = true;
            continue;
        }
        if (option->kind == SAC_OPTION_MAYBE) {
            /* A word behind it is one of the command's, unless it can only be the number. */
            ((sac_maybe *)option->value)->given = true;
            const char *next = i + 1 < argc ? argv[i + 1] : "";
            if (!value && *next && !next[strspn(next, "0123456789")]) value = argv[++i];
            if (!value) continue;
        }
        /* The next option is no value: somebody forgot this one's. --name=--value for whoever means it. */
        if (!value && i + 1 < argc && strncmp(argv[i + 1], "--", 2) != 0) value = argv[++i];
        if (!value)
            return sac_options_usage_error(command->name, "--%s needs a value: --%s %s", option->name,
                                           option->name, option->argument);
        int code = set_value(command, option, value);
        if (code >= 0) return code;
    }
    if (help) {
        print_help(command, shared, shared_count);
        return SAC_EXIT_OK;
    }
    return -1;
}
