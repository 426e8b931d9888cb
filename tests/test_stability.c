/* saccade stability and bench peers as a user meets them: a run of a moment, looked at from outside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

enum { MOST_OUTPUT = 1 << 20 };

static char folder[] = "/tmp/saccade-stability-XXXXXX";
static char out[MOST_OUTPUT], err[MOST_OUTPUT];

static bool slurp(const char *name, char *text)
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

/* Runs "saccade LINE" (words split at blanks) in the test's folder. */
static int run(const char *line)
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
        execv(SACCADE_PROGRAM, argv);
        _exit(98);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(slurp(".stdout", out) && slurp(".stderr", err));
    if (!WIFEXITED(status)) fail_msg("saccade %s: ended by signal %d\n%s", line, WTERMSIG(status), err);
    return WEXITSTATUS(status);
}

static json_t *last_line(void)
{
    size_t n = strlen(out);
    while (n && out[n - 1] == '\n') out[--n] = 0;
    const char *start = strrchr(out, '\n');
    json_error_t problem;
    json_t *object = json_loads(start ? start + 1 : out, 0, &problem);
    if (!object) fail_msg("last line is not JSON (%s):\n%s\n%s", problem.text, out, err);
    return object;
}

static void expect_usage(const char *line, const char *said)
{
    int code = run(line);
    if (code != 2 || !strstr(err, said))
        fail_msg("saccade %s: exit %d, expected 2 with '%s'\n%s", line, code, said, err);
}

/* In a build without other engines there may be nobody but ours. */
static bool has_peer(void)
{
    int code = run("bench peers --scene pile --shape t24 --bodies 2 --frames 2 --engines bullet,ode --json");
    return code == 0;
}

static void stability_answers(void **state)
{
    (void)state;
    const char *line = has_peer()
                           ? "stability --hz 90,120 --budgets-ms 2,4 --policies none --seconds 0.1 --most 12 "
                             "--precision 1 --out report --json"
                           : "stability --hz 90,120 --budgets-ms 2,4 --policies exhaustive --peers none "
                             "--seconds 0.1 --most 12 --precision 1 --out report --json";
    int code = run(line);
    if (code != 0) fail_msg("exit %d\n%s", code, err);
    json_t *object = last_line(), *held = json_object_get(object, "held"),
           *floor = json_object_get(object, "noise_floor_us");
    assert_true(json_is_array(held) && json_array_size(held) >= 4);
    for (size_t i = 0; i < json_array_size(held); i++) {
        json_t *h = json_array_get(held, i);
        double hz = json_number_value(json_object_get(h, "hz")),
               budget = json_number_value(json_object_get(h, "budget_us"));
        assert_true(json_is_string(json_object_get(h, "engine")));
        assert_true(hz == 90 || hz == 120);
        assert_true(budget == 2000 || budget == 4000);
        json_int_t bodies = json_integer_value(json_object_get(h, "bodies"));
        assert_true(bodies >= 0 && bodies <= 12);
        if (json_is_true(json_object_get(h, "at_least"))) assert_int_equal(bodies, 12);
    }
    static const char *const keys[] = {"p50", "p99", "p999", "max"};
    for (int i = 0; i < 4; i++) assert_true(json_is_number(json_object_get(floor, keys[i])));
    json_decref(object);
}

static void report_is_whole(void **state)
{
    (void)state;
    static char text[MOST_OUTPUT];
    assert_true(slurp("report/index.html", text));
    assert_non_null(strstr(text, "</html>"));
    assert_non_null(strstr(text, "<svg"));
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "http"));
    assert_true(slurp("report/trials.csv", text));
    size_t commas = 0, first = 0;
    for (const char *p = text; *p; p++) {
        commas += *p == ',';
        if (*p != '\n') continue;
        if (!first) first = commas;
        assert_int_equal(commas, first);
        commas = 0;
    }
    assert_int_equal(first, 21);
    assert_true(slurp("report/frames.csv", text));
    assert_int_equal(strncmp(text, "frame,", 6), 0);
    assert_true(slurp("report/stability.json", text));
    json_t *object = json_loads(text, 0, NULL);
    assert_non_null(json_object_get(object, "held"));
    json_decref(object);
}

static void wrong_words_are_told(void **state)
{
    (void)state;
    expect_usage("stability --hz 0", "--hz");
    expect_usage("stability --hz 90,", "--hz");
    expect_usage("stability --hz 90,90", "--hz");
    expect_usage("stability --budgets-ms 2,x", "--budgets-ms");
    expect_usage("stability --policies none --peers none", "nobody");
    expect_usage("stability --peers havok", "havok");
    expect_usage("bench peers --scene heap", "no such row");
    expect_usage("bench peers --engines havok", "havok");
    expect_usage("stability --scene heap", "heap");
    expect_usage("stability --shape t25", "t25");
}

static void peers_print_their_row(void **state)
{
    (void)state;
    if (!has_peer()) skip();
    assert_int_equal(run("bench peers --scene pile --shape t24 --bodies 12 --frames 20"), 0);
    assert_non_null(strstr(out, "pile t24 12"));
    json_t *object = last_line(), *row = json_array_get(json_object_get(object, "rows"), 0);
    assert_int_equal(json_integer_value(json_object_get(row, "bodies")), 12);
    json_t *engines = json_object_get(row, "engines");
    assert_true(json_array_size(engines) >= 1);
    for (size_t i = 0; i < json_array_size(engines); i++) {
        json_t *e = json_array_get(engines, i);
        assert_true(json_number_value(json_object_get(json_object_get(e, "cpu_ms"), "p99")) > 0);
        assert_int_equal(json_integer_value(json_object_get(e, "outside")), 0);
        assert_int_equal(json_integer_value(json_object_get(e, "nan")), 0);
    }
    json_decref(object);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const files[] = {"report/index.html",
                                        "report/trials.csv",
                                        "report/frames.csv",
                                        "report/stability.json",
                                        "report",
                                        ".stdout",
                                        ".stderr",
                                        ""};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        remove(path);
    }
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stability_answers),
        cmocka_unit_test(report_is_whole),
        cmocka_unit_test(wrong_words_are_told),
        cmocka_unit_test(peers_print_their_row),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
