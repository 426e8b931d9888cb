/* saccade stability and bench peers as a user meets them: a run of a moment, looked at from outside. */
#include <signal.h>

#include "apps/commands.h"
#include "apps/console.h"
#include "bench/trial.h"
#include "tests/program_play.h"

/* Ctrl-C is pressed when this many trials were run; 0: never. */
static uint32_t trials_before_stop;

sac_result __real_sac_trial_run(const sac_trial_def *def, sac_noise_floor *floor, sac_trial *out_trial,
                                sac_error *error);
sac_result __wrap_sac_trial_run(const sac_trial_def *def, sac_noise_floor *floor, sac_trial *out_trial,
                                sac_error *error);
sac_result __wrap_sac_trial_run(const sac_trial_def *def, sac_noise_floor *floor, sac_trial *out_trial,
                                sac_error *error)
{
    static uint32_t trials;
    if (trials_before_stop && trials++ == trials_before_stop) raise(SIGTERM);
    return __real_sac_trial_run(def, floor, out_trial, error);
}

/* The command in a process of its own, which is stopped on the way. */
static int run_stopped(uint32_t trials, char **words, int count)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (chdir(folder) != 0 || !freopen(".stdout", "w", stdout) || !freopen(".stderr", "w", stderr))
            _exit(99);
        trials_before_stop = trials;
        int code = sac_cmd_stability(count, words);
        _exit(sac_console_close(code));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    slurp(".stdout", out);
    slurp(".stderr", err);
    if (!WIFEXITED(status)) fail_msg("ended by signal %d\n%s", WTERMSIG(status), err);
    return WEXITSTATUS(status);
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
    assert_true(read_file("report/index.html", text));
    assert_non_null(strstr(text, "</html>"));
    assert_non_null(strstr(text, "<svg"));
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "http"));
    assert_true(read_file("report/trials.csv", text));
    size_t commas = 0, first = 0;
    for (const char *p = text; *p; p++) {
        commas += *p == ',';
        if (*p != '\n') continue;
        if (!first) first = commas;
        assert_int_equal(commas, first);
        commas = 0;
    }
    assert_int_equal(first, 22);
    assert_true(read_file("report/frames.csv", text));
    assert_int_equal(strncmp(text, "frame,", 6), 0);
    assert_true(read_file("report/stability.json", text));
    json_t *object = json_loads(text, 0, NULL);
    assert_non_null(json_object_get(object, "held"));
    json_decref(object);
}

/* What was found in tens of minutes is told and written, though the rest is not there. */
static void a_stopped_search_keeps_what_it_found(void **state)
{
    (void)state;
    static char text[MOST_OUTPUT];
    char words[][40] = {"--hz",   "90,120", "--budgets-ms", "100", "--policies", "jnd",    "--peers", "none",
                        "--most", "4",      "--seconds",    "0.1", "--out",      "halted", "--json"};
    enum { WORDS = sizeof words / sizeof *words };
    char *argv[WORDS + 1] = {0};
    for (int i = 0; i < WORDS; i++) argv[i] = words[i];
    /* A load of four is all that is asked of each rate; then there is the same load for all. */
    for (uint32_t trials = 1; trials <= 2; trials++) {
        assert_int_equal(run_stopped(trials, argv, WORDS), 1);
        json_t *object = last_line(), *error = json_object_get(object, "error");
        assert_string_equal(json_string_value(json_object_get(error, "code")), "ERROR_CANCELLED");
        assert_int_equal(json_array_size(json_object_get(object, "held")), trials);
        assert_int_equal(json_array_size(json_object_get(object, "same_load")), 0);
        assert_true(json_is_number(json_object_get(json_object_get(object, "noise_floor_us"), "max")));
        json_decref(object);
        slurp("halted/index.html", text);
        assert_non_null(strstr(text, "The search was stopped"));
        assert_non_null(strstr(text, "at least 4 bodies"));
        assert_null(strstr(text, "The same load for everyone"));
        assert_null(strstr(text, "nan"));
        slurp("halted/trials.csv", text);
    }
    assert_int_equal(run_stopped(1, argv, WORDS - 1), 1); /* for people */
    assert_non_null(strstr(out, "jnd "));
    assert_null(strstr(out, "The same "));
}

static void wrong_words_are_told(void **state)
{
    (void)state;
    expect("stability --hz 0", 2, "--hz");
    expect("stability --hz 90,", 2, "--hz");
    expect("stability --hz 90,90", 2, "--hz");
    expect("stability --hz 0x50", 2, "--hz");
    expect("stability --budgets-ms 2,x", 2, "--budgets-ms");
    expect("stability --policies jnd,sort,jnd", 2, "'jnd' is given twice");
    expect("stability --policies none --peers none", 2, "nobody");
    expect("stability --peers havok", 2, "havok");
    expect("bench peers --scene heap", 2, "no such row");
    expect("bench peers --engines havok", 2, "havok");
    /* Before tens of minutes of search, not after. */
    expect("stability --out .stdout/report", 1, ".stdout/report");
    expect("perceive --out .stdout/report", 1, ".stdout/report");
    expect("stability --scene heap", 2, "heap");
    expect("stability --shape t25", 2, "t25");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stability_answers),
        cmocka_unit_test(report_is_whole),
        cmocka_unit_test(a_stopped_search_keeps_what_it_found),
        cmocka_unit_test(wrong_words_are_told),
        cmocka_unit_test(peers_print_their_row),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
