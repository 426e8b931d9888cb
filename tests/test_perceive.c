/* The perception benchmark, run as a user runs it: the same numbers with any number of threads, all keys
 * there, and an exact order never far behind. Traces of gaze by themselves. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "apps/commands.h"
#include "apps/console.h"
#include "bench/perceive.h"

/* Ctrl-C is pressed while this seed is made ready, from 1; 0: never. */
static uint32_t seed_to_stop_in;

sac_result __real_sac_perceive_motion_create(const sac_perceive_def *def, uint64_t seed,
                                             sac_perceive_motion **out, sac_error *error);
sac_result __wrap_sac_perceive_motion_create(const sac_perceive_def *def, uint64_t seed,
                                             sac_perceive_motion **out, sac_error *error);
sac_result __wrap_sac_perceive_motion_create(const sac_perceive_def *def, uint64_t seed,
                                             sac_perceive_motion **out, sac_error *error)
{
    static uint32_t seeds;
    if (++seeds == seed_to_stop_in) raise(SIGINT);
    return __real_sac_perceive_motion_create(def, seed, out, error);
}

/* The last line of what the program prints. */
static json_t *run(const char *arguments)
{
    static char line[1 << 20], last[1 << 20];
    char command[1024];
    snprintf(command, sizeof command, "\"%s\" perceive %s 2>/dev/null", SACCADE_PROGRAM, arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    while (fgets(line, sizeof line, pipe)) memcpy(last, line, sizeof last);
    assert_int_equal(pclose(pipe), 0);
    json_t *json = json_loads(last, 0, NULL);
    assert_non_null(json);
    return json;
}

static void threads_change_nothing(void **state)
{
    (void)state;
    const char *small = "--bodies 10 --shape t24 --frames 4 --skip 60 --seeds 1 --json --threads";
    char one[256], two[256];
    snprintf(one, sizeof one, "%s 1", small);
    snprintf(two, sizeof two, "%s 2", small);
    json_t *a = run(one), *b = run(two);
    assert_true(json_equal(a, b));
    json_t *runs = json_object_get(a, "runs");
    assert_int_equal(json_array_size(runs), 8 * 3 * 6);
    const char *const keys[] = {"policy",  "budget_pct",      "gaze",           "p50_jnd",
                                "p95_jnd", "max_jnd",         "false_contacts", "missed_contacts",
                                "ci95",    "flips_per_pair_s"};
    for (size_t i = 0; i < json_array_size(runs); i++)
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            assert_non_null(json_object_get(json_array_get(runs, i), keys[k]));
    json_decref(a);
    json_decref(b);
}

/* At a quarter of the work: far ahead of taking turns, not behind an exact order, and hardly worse when the
 * eye is known late. */
static void jnd_keeps_up(void **state)
{
    (void)state;
#ifdef SACCADE_INSTRUMENTED
    json_t *json = run("--bodies 40 --frames 8 --seeds 3 --json");
#else
    json_t *json = run("--bodies 40 --frames 20 --seeds 3 --json");
#endif
    assert_true(json_number_value(json_object_get(json, "jnd_over_sort")) <= 1.05);
    assert_true(json_number_value(json_object_get(json, "round_robin_over_jnd")) >= 4);
    assert_true(json_number_value(json_object_get(json, "late_over_on_time")) <= 1.1);
    json_t *needs = json_object_get(json, "budget_for_1_jnd_pct");
    assert_true(json_number_value(json_object_get(needs, "round-robin")) >=
                2.3 * json_number_value(json_object_get(needs, "jnd")));
    json_decref(json);
}

/* Saccades keep to the main sequence; nothing jumps between two moments. */
static void traces_move_as_eyes_do(void **state)
{
    (void)state;
    for (uint32_t t = 0; t < SAC_TRACE_COUNT; t++) {
        for (uint64_t seed = 1; seed < 6; seed++) {
            double fastest = 0, moving = 0;
            const double step = 0.0005;
            sac_gaze_now before = sac_trace_direction((sac_trace)t, seed, -0.06);
            for (double now = -0.06 + step; now < 4; now += step) {
                sac_gaze_now here = sac_trace_direction((sac_trace)t, seed, now);
                double way =
                    hypot((double)here.yaw - (double)before.yaw, (double)here.pitch - (double)before.pitch);
                assert_true(fabs(way / step - 0.5 * ((double)here.speed + (double)before.speed)) < 60);
                fastest = fmax(fastest, (double)here.speed);
                moving += here.speed > 100 ? step : 0;
                before = here;
            }
            if (t == SAC_TRACE_FIXATION) assert_true(fastest == 0);
            if (t == SAC_TRACE_PURSUIT) assert_true(fastest > 25 && fastest < 31);
            if (t == SAC_TRACE_SACCADES) assert_true(fastest > 200 && fastest < 800 && moving < 1);
        }
    }
}

/* Seeds that were done before Ctrl-C are told, as if no more had been asked for. */
static void a_stopped_run_keeps_its_seeds(void **state)
{
    (void)state;
    static char line[1 << 20];
    char words[][16] = {"--bodies", "10",        "--shape", "t24",     "--frames", "4",     "--skip",
                        "60",       "--threads", "1",       "--seeds", "5",        "--json"};
    enum { WORDS = sizeof words / sizeof *words };
    char *argv[WORDS + 1] = {0};
    for (int i = 0; i < WORDS; i++) argv[i] = words[i];
    FILE *said = tmpfile();
    assert_non_null(said);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (dup2(fileno(said), STDOUT_FILENO) < 0 || !freopen("/dev/null", "w", stderr)) _exit(99);
        seed_to_stop_in = 2;
        int code = sac_cmd_perceive(WORDS, argv);
        _exit(sac_console_close(code));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    rewind(said);
    assert_non_null(fgets(line, sizeof line, said));
    fclose(said);
    json_t *stopped = json_loads(line, 0, NULL), *error = json_object_get(stopped, "error");
    assert_string_equal(json_string_value(json_object_get(error, "code")), "ERROR_CANCELLED");
    json_object_del(stopped, "error");
    json_t *whole = run("--bodies 10 --shape t24 --frames 4 --skip 60 --threads 1 --seeds 2 --json");
    assert_true(json_equal(stopped, whole));
    json_decref(stopped);
    json_decref(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(jnd_keeps_up),
        cmocka_unit_test(a_stopped_run_keeps_its_seeds),
        cmocka_unit_test(traces_move_as_eyes_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
