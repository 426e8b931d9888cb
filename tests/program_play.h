/* The saccade program as a user meets it: run in a folder of its own, looked at from outside. For the suites
 * of its commands, one of which includes this. */
#ifndef SAC_TESTS_PROGRAM_PLAY_H
#define SAC_TESTS_PROGRAM_PLAY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

enum { MOST_OUTPUT = 4 << 20 };

static char folder[] = "/tmp/saccade-test-XXXXXX";
static char out[MOST_OUTPUT], err[MOST_OUTPUT];
static long most_file_bytes; /* no file of the program may grow beyond this, as on a full disk; 0: any may */

static inline bool read_file(const char *name, char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    size_t n = fread(text, 1, MOST_OUTPUT - 1, file);
    text[n] = 0;
    fclose(file);
    return true;
}

static inline void slurp(const char *name, char *text)
{
    if (!read_file(name, text)) fail_msg("no file %s", name);
}

static inline void put(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Runs "saccade LINE" (words split at blanks) in the test's folder; `out` and `err` get what it said. */
static inline int run(const char *line)
{
    char words[1024], *argv[64] = {(char *)"saccade"};
    int argc = 1, status;
    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok(words, " "); word && argc < 63; word = strtok(NULL, " ")) argv[argc++] = word;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (chdir(folder) != 0 || !freopen(".stdout", "w", stdout) || !freopen(".stderr", "w", stderr))
            _exit(99);
        struct rlimit most = {(rlim_t)most_file_bytes, (rlim_t)most_file_bytes};
        if (most_file_bytes && setrlimit(RLIMIT_FSIZE, &most) != 0) _exit(97);
        execv(SACCADE_PROGRAM, argv);
        _exit(98);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    slurp(".stdout", out);
    slurp(".stderr", err);
    if (!WIFEXITED(status)) fail_msg("saccade %s: ended by signal %d\n%s", line, WTERMSIG(status), err);
    return WEXITSTATUS(status);
}

static inline void expect(const char *line, int code, const char *said)
{
    int got = run(line);
    if (got != code || !strstr(code ? err : out, said))
        fail_msg("saccade %s: exit %d, expected %d with '%s'\n%s%s", line, got, code, said, out, err);
}

/* The JSON object the last line of `out` is. */
static inline json_t *last_line(void)
{
    size_t n = strlen(out);
    while (n && out[n - 1] == '\n') out[--n] = 0;
    const char *start = strrchr(out, '\n');
    json_error_t problem;
    json_t *object = json_loads(start ? start + 1 : out, 0, &problem);
    if (!object) fail_msg("last line is not JSON (%s):\n%s\n%s", problem.text, out, err);
    assert_true(json_is_object(object));
    return object;
}

static inline json_t *run_json(const char *line)
{
    int code = run(line);
    if (code != 0) fail_msg("saccade %s: exit %d\n%s", line, code, err);
    return last_line();
}

static inline int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static inline void remove_tree(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir) return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char inner[1024];
        struct stat status;
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        int length = snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        if (length < 0 || length >= (int)sizeof inner) continue;
        if (lstat(inner, &status) == 0 && S_ISDIR(status.st_mode))
            remove_tree(inner);
        else
            unlink(inner);
    }
    closedir(dir);
    rmdir(path);
}

static inline int remove_folder(void **state)
{
    (void)state;
    remove_tree(folder);
    return 0;
}

#endif
