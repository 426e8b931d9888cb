/* saccade run as a user meets it: the same frames again and again in work credits, the agreed JSON keys, the
 * files. */
#include <math.h>

#include "tests/program_play.h"

#ifdef SACCADE_INSTRUMENTED
enum { SEEDS = 1 };
#else
enum { SEEDS = 6 };
#endif

static void hash_of(const char *line, char hash[17])
{
    json_t *object = run_json(line);
    const char *text = json_string_value(json_object_get(object, "state_hash"));
    assert_non_null(text);
    assert_int_equal(strlen(text), 16);
    memcpy(hash, text, 17);
    json_decref(object);
}

/* In work credits a run is decided by its arguments alone: not by the machine, its load, or threads. */
static void credits_repeat_exactly(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "run pile --bodies 40 --frames 100 --credits --budget-us 300 --gaze sweep --json",
        "run burst --bodies 60 --frames 90 --shape t100 --credits --budget-us 500 --json",
        "run rain --bodies 30 --frames 400 --credits --budget-us 200 --json",
        "run orrery --bodies 30 --frames 60 --shape t24 --credits --json",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char line[256], first[17], second[17], two[17];
        hash_of(lines[i], first);
        hash_of(lines[i], second);
        snprintf(line, sizeof line, "%s --threads 2", lines[i]);
        hash_of(line, two);
        if (strcmp(first, second) != 0 || strcmp(first, two) != 0)
            fail_msg("%s: %s, again %s, two threads %s", lines[i], first, second, two);
    }
    char one[17], other[17];
    hash_of("run pile --bodies 20 --frames 20 --credits --json", one);
    hash_of("run pile --bodies 20 --frames 20 --credits --json --seed 7", other);
    assert_string_not_equal(one, other);
    /* Every seed is one, also the largest. */
    hash_of("run pile --bodies 20 --frames 20 --credits --json --seed 18446744073709551615", other);
    assert_string_not_equal(one, other);
}

static void the_agreed_keys_are_there(void **state)
{
    (void)state;
    static const char *const four[] = {"step_us", "cpu_us", "overshoot_us", "noise_floor_us"};
    static const char *const shares[] = {"p50", "p99", "p999", "max"};
    static const char *const numbers[] = {"bodies",      "frames", "budget_us",    "misses",
                                          "lost_bodies", "nan",    "contacts_max", "returned_us_mean"};
    static const char *const rungs[] = {"levels", "contacts", "iterations", "bodies", "held", "bounds"};
    json_t *object = run_json("run pile --bodies 20 --frames 60 --budget-us 500 --gaze center --json");
    assert_null(strchr(out, '\n')); /* nothing but the object */
    for (size_t i = 0; i < sizeof four / sizeof *four; i++)
        for (size_t k = 0; k < 4; k++)
            if (!json_is_number(json_object_get(json_object_get(object, four[i]), shares[k])))
                fail_msg("%s.%s", four[i], shares[k]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!json_is_number(json_object_get(object, numbers[i]))) fail_msg("%s", numbers[i]);
    for (size_t i = 0; i < sizeof rungs / sizeof *rungs; i++)
        assert_true(json_is_integer(json_object_get(json_object_get(object, "ladder"), rungs[i])));
    assert_string_equal(json_string_value(json_object_get(object, "scene")), "pile");
    assert_string_equal(json_string_value(json_object_get(object, "policy")), "jnd");
    assert_int_equal(json_integer_value(json_object_get(object, "bodies")), 20);
    assert_int_equal(json_integer_value(json_object_get(object, "frames")), 60);
    assert_int_equal(json_integer_value(json_object_get(object, "lost_bodies")), 0);
    assert_int_equal(json_integer_value(json_object_get(object, "nan")), 0);
    json_t *deep = json_object_get(object, "penetration_mm"), *jnd = json_object_get(object, "jnd_left");
    assert_true(json_is_number(json_object_get(deep, "mean")) &&
                json_is_number(json_object_get(deep, "p99")) && json_is_number(json_object_get(deep, "max")));
    assert_true(json_is_number(json_object_get(jnd, "p50")) && json_is_number(json_object_get(jnd, "p95")) &&
                json_is_number(json_object_get(jnd, "max")));
    json_decref(object);
    expect("run pile --bodies 10 --frames 10", 0, "noise floor");
}

static int columns_of(const char *line)
{
    int count = 1;
    for (; *line && *line != '\n'; line++) count += *line == ',';
    return count;
}

static void files_are_written_whole(void **state)
{
    (void)state;
    static char text[MOST_OUTPUT];
    static const char *const columns[] = {"frame,",        ",wall_us,",          ",cpu_us,",
                                          ",budget_us,",   ",spent_us,",         ",returned_us,",
                                          ",reserved_us,", ",prediction_error,", ",node_tests,",
                                          ",jnd_p95,",     ",contacts,",         ",islands,",
                                          ",awake,",       ",descend_us,",       ",solve_us,",
                                          ",rung_levels,", ",group0_pairs"};
    json_t *object = run_json("run pile --bodies 20 --frames 50 --credits --gaze sweep --out report "
                              "--pictures 1 --width 160 --json");
    json_decref(object);
    slurp("report/frames.csv", text);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (!strstr(text, columns[i])) fail_msg("no column %s", columns[i]);
    int rows = 0, wide = columns_of(text);
    for (const char *line = strchr(text, '\n') + 1; *line; line = strchr(line, '\n') + 1, rows++) {
        assert_int_equal(columns_of(line), wide);
        assert_int_equal(atoi(line), rows + (atoi(strchr(text, '\n') + 1)));
    }
    assert_int_equal(rows, 50);
    /* Balls in the air have an energy, and it is told frame by frame. */
    int at = 0;
    for (const char *head = strstr(text, ",energy_j,"); head > text; head--) at += head[-1] == ',';
    const char *cell = strchr(text, '\n') + 1;
    for (int k = -1; k < at; k++) cell = strchr(cell, ',') + 1;
    assert_true(atof(cell) > 1);
    slurp("report/trace.json", text);
    object = json_loads(text, 0, NULL);
    json_t *events = json_object_get(object, "traceEvents"), *event;
    size_t i, steps = 0;
    json_array_foreach(events, i, event)
    {
        const char *name = json_string_value(json_object_get(event, "name")),
                   *kind = json_string_value(json_object_get(event, "ph"));
        steps += strcmp(name, "step") == 0;
        if (*kind == 'X')
            assert_true(json_is_number(json_object_get(event, "ts")) &&
                        json_is_number(json_object_get(event, "dur")));
    }
    assert_int_equal(steps, 50);
    json_decref(object);
    slurp("report/index.html", text);
    assert_non_null(strstr(text, "<svg"));
    /* Frames that end early have a time as well. */
    assert_non_null(strstr(text, "How long frames took"));
    assert_null(strstr(text, "nothing was measured"));
    assert_non_null(strstr(text, "data:image/png;base64,"));
    assert_null(strstr(text, "http"));
    static const char *const not_numbers[] = {">nan", "\"nan", ",nan", " nan<", ">-nan", " inf<"};
    for (size_t k = 0; k < sizeof not_numbers / sizeof *not_numbers; k++)
        if (strstr(text, not_numbers[k])) fail_msg("the page shows '%s'", not_numbers[k]);
    expect("run pile --bodies 5 --frames 5 --out .stdout", 1, ".stdout");
}

static const char towers[] =
    "{\"name\": \"towers\", \"frames\": 40,\n"
    "\"shapes\": {\"ring\": {\"spheres\": \"t24\"}, \"floor\": {\"plane\": {}}, \"ball\": {\"sphere\": "
    "0.2},\n"
    " \"hill\": {\"heights\": [[0, 0.2, 0], [0.1, 0, 0.3], [0, 0, 0]], \"spacing\": 4}},\n"
    "\"bodies\": [{\"shape\": \"floor\"}, {\"shape\": \"hill\", \"position\": [0, 0.1, 0]},\n"
    " {\"shape\": \"ring\", \"position\": [-1, 0.6, -1], \"mass\": 1, \"repeat\": {\"count\": [3, 4, 3], "
    "\"spacing\": [1, 0.5, 1], \"jitter\": 0.01}},\n"
    " {\"shape\": \"ball\", \"name\": \"shot\", \"later\": true, \"position\": [0, 1, 6], \"velocity\": [0, "
    "0, -20], \"density\": 4000}],\n"
    "\"events\": [{\"time\": 0.2, \"do\": \"create\", \"body\": \"shot\"}, {\"time\": 0.4, \"do\": "
    "\"destroy\", \"body\": \"shot\"}]}\n";

static void scene_files_run(void **state)
{
    (void)state;
    put("towers.json", towers);
    put("eye.csv", "# space: head\n0,0,0,-1\n0.1,0.1,0,-1\n0.3,0,0,-1,0\n");
    put("bad.json", "{\"shapes\": {\"a\": {\"sphere\": 1}},\n\"bodies\": [{\"shape\": \"b\"}]}");
    put("bad.csv", "0,0,0,-1\n0,0,0\n");
    put("missing.json",
        "{\"shapes\": {\"a\":\n{\"mesh\": \"no-such.obj\"}}, \"bodies\": [{\"shape\": \"a\"}]}");
    json_t *object = run_json("run towers.json --gaze eye.csv --credits --json");
    assert_int_equal(json_integer_value(json_object_get(object, "frames")), 40);
    assert_int_equal(json_integer_value(json_object_get(object, "bodies")), 36); /* the shot is gone again */
    json_decref(object);
    static char text[MOST_OUTPUT];
    expect("run bad.json --json", 1, "bad.json:2:");
    slurp(".stdout", text);
    assert_non_null(strstr(text, "\"line\":2"));
    put("short.sacrec", "SACREC");
    expect("replay short.sacrec --json", 1, "byte 6");
    slurp(".stdout", text);
    assert_non_null(strstr(text, "\"byte\":6"));
    expect("run bad.json", 1, "bad.json:2: there is no shape \"b\"");
    expect("run towers.json --gaze bad.csv", 1, "bad.csv:2: there are 3 values, not four");
    expect("run missing.json", 1, "missing.json:2: shape \"a\": ");
    expect("run nowhere.json", 1, "nowhere.json");
    expect("run towers.json --bodies 4", 2, "built-in scenes");
}

/* Overlap is that of the leaf spheres bodies really have, and unknown where there are none. */
static void overlap_is_measured_or_unknown(void **state)
{
    (void)state;
    put("sizes.json",
        "{\"gravity\": [0, 0, 0], \"frames\": 45, \"shapes\": {\"ring\": {\"spheres\": \"t24\"}},\n"
        "\"bodies\": [{\"shape\": \"ring\", \"scale\": 0.1, \"repeat\": {\"count\": [4, 1, 1], "
        "\"spacing\": [0.3, 1, 1]}},\n {\"shape\": \"ring\", \"position\": [0, 9, 0]}]}");
    /* In each other by 100 mm, of two shapes and sizes, and not told to meet; a box is in all of them. */
    put("balls.json", "{\"gravity\": [0, 0, 0], \"frames\": 45, \"shapes\": {\"ball\": {\"sphere\": 0.5}, "
                      "\"pea\": {\"sphere\": 0.25}, \"box\": {\"box\": [1, 1, 1]}}, \"bodies\": [\n"
                      "{\"shape\": \"ball\", \"position\": [0, 9, 0], \"mask\": 0},\n"
                      "{\"shape\": \"ball\", \"position\": [0.9, 9, 0], \"mask\": 0},\n"
                      "{\"shape\": \"pea\", \"scale\": 2, \"position\": [1.8, 9, 0], \"mask\": 0},\n"
                      "{\"shape\": \"box\", \"position\": [0.9, 9, 0], \"mask\": 0}]}");
    put("boxes.json",
        "{\"frames\": 45, \"shapes\": {\"box\": {\"box\": [1, 1, 1]}}, \"bodies\": [{\"shape\": "
        "\"box\"}]}");
    json_t *object = run_json("run sizes.json --credits --json");
    json_t *mean = json_object_get(json_object_get(object, "penetration_mm"), "mean");
    assert_true(json_is_number(mean) && json_number_value(mean) == 0);
    json_decref(object);
    object = run_json("run balls.json --credits --json");
    json_t *deep = json_object_get(object, "penetration_mm");
    assert_true(fabs(json_number_value(json_object_get(deep, "mean")) - 100) < 1e-3);
    assert_true(fabs(json_number_value(json_object_get(deep, "max")) - 100) < 1e-3);
    assert_int_equal(json_integer_value(json_object_get(object, "penetration_bodies")), 3);
    json_decref(object);
    expect("run balls.json --credits", 0, "overlap, mm, of 3 bodies of 4: mean 100.00");
    object = run_json("run boxes.json --credits --json");
    assert_true(json_is_null(json_object_get(json_object_get(object, "penetration_mm"), "mean")));
    assert_int_equal(json_integer_value(json_object_get(object, "penetration_bodies")), 0);
    json_decref(object);
    expect("run boxes.json --credits", 0,
           "overlap: not measured, for no body that moves is made of rigid spheres");
    expect("run boxes.json --credits", 0, "boxes.json: 1 body, 45 frames");
    /* Several shapes, in any size. */
    object = run_json("run hailstorm --bodies 150 --frames 180 --credits --json");
    assert_true(json_number_value(json_object_get(json_object_get(object, "penetration_mm"), "mean")) > 0);
    assert_true(json_integer_value(json_object_get(object, "penetration_bodies")) > 50);
    json_decref(object);
}

/* Falling rings there is not time to look ahead of: as many take turns as can be looked at, or those that are
 * given up on creep, and others sink into them (18 to 36 mm). Nor does one that goes on by itself run into
 * another whose turn is cut short (40 to 62 mm in one run of six). */
static void nobody_sinks_for_want_of_a_look(void **state)
{
    (void)state;
    const int budgets[] = {400, 500, 600}, seeds = SEEDS;
    double sum = 0;
    for (int i = 0; i < 3 * seeds; i++) {
        char line[160];
        snprintf(line, sizeof line,
                 "run pile --bodies 150 --shape t100 --budget-us %d --seed %d --credits --frames 110 --json",
                 budgets[i % 3], 1 + i / 3);
        json_t *object = run_json(line);
        double deep = json_number_value(json_object_get(json_object_get(object, "penetration_mm"), "p99"));
        if (!(deep > 0 && deep < 22)) print_error("    %s: %.1f mm\n", line, deep);
        assert_true(deep > 0 && deep < 22);
        sum += deep / (3 * seeds);
        json_decref(object);
    }
    print_message("%.1f mm at the 99th percentile, the mean of %d runs\n", sum, 3 * seeds);
    assert_true(sum < 14);
}

/* Is it UTF-8 from end to end? Jansson takes nothing else. */
static bool is_utf8(const char *text)
{
    json_t *string = json_string(text);
    json_decref(string);
    return string != NULL;
}

/* A scene's name is its file's, of any bytes and any length: a trace is JSON and a page UTF-8 all the same.
 */
static void names_spoil_no_report(void **state)
{
    (void)state;
    static char text[MOST_OUTPUT];
    static const char scene[] = "{\"shapes\": {\"a\": {\"sphere\": 1}}, \"bodies\": [{\"shape\": \"a\"}]}";
    static const char *const names[] = {"l\xe4tin.json", "aääääääääääääääääääääää.json", ".hidden.json"};
    static const char *const titles[] = {"<h1>l\xef\xbf\xbdtin: ", "\xc3\xa4: 1 body", "<h1>hidden: "};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char line[160];
        put(names[i], scene);
        snprintf(line, sizeof line, "run %s --frames 1 --credits --out named --pictures 0 --json", names[i]);
        json_decref(run_json(line));
        slurp("named/trace.json", text);
        json_t *trace = json_loads(text, 0, NULL);
        if (!trace) fail_msg("the trace of scene %zu is no JSON", i);
        json_decref(trace);
        slurp("named/index.html", text);
        if (!is_utf8(text) || !strstr(text, titles[i])) fail_msg("the page of scene %zu", i);
        assert_non_null(strstr(text, "1 frame at"));
        assert_non_null(strstr(text, "of 1 body,"));
    }
}

/* A budget is told as it was given, and the smallest is one. */
static void budgets_are_told_in_full(void **state)
{
    (void)state;
    expect("run pile --bodies 2 --frames 2 --credits --budget-us 16667", 0, " 16667 us budget");
    json_t *object = run_json("run pile --bodies 2 --frames 2 --credits --budget-us 0.0000001 --json");
    assert_true(json_number_value(json_object_get(object, "budget_us")) > 0);
    json_decref(object);
}

static void slips_are_answered(void **state)
{
    (void)state;
    expect("run --help", 0, "Usage:");
    expect("run", 2, "which scene?");
    expect("run plie", 2, "did you mean pile?");
    expect("run pile --policy jdn", 2, "did you mean jnd?");
    expect("run pile --gaze senter", 2, "did you mean center?");
    expect("run pile --shape t25", 2, "did you mean");
    expect("run pile --hz 0", 2, "from 20 to 1000");
    expect("run pile --budget-us -1", 2, "--budget-us takes");
    expect("run pile --budgt-us 5", 2, "did you mean --budget-us?");
    expect("run pile --policy groups:33", 2, "groups:N takes 2 to 32");
    expect("run pile --policy groups:", 2, "groups:N takes 2 to 32");
    expect("run pile --gaze nobody", 2, "none");
    expect("run pile --bodies 5 --frames 5 --record no-such-folder/x.sacrec", 1, "choose another");
    /* What a scene needs is not written over, by any name. */
    static char text[MOST_OUTPUT];
    put("own.spheres", "0 0 0 1\n");
    put("own.json",
        "{\"shapes\": {\"a\": {\"spheres\": \"own.spheres\"}}, \"bodies\": [{\"shape\": \"a\"}]}");
    expect("run own.json --frames 1 --record ./own.spheres", 2, "--record would overwrite 'own.spheres'");
    slurp("own.spheres", text);
    assert_string_equal(text, "0 0 0 1\n");
    expect("run pile --bodies 2 --frames 1 --out report --record report/frame-00000.png", 2,
           "would both write");
    /* What saccade bake writes is a shape like any other, and spared like one. */
    expect("bake knot --triangles 500 --depth 2 --method octree --quick -o own.sactree", 0, "");
    expect("run pile --shape own.sactree --bodies 4 --frames 20 --json", 0, "\"lost_bodies\":0");
    expect("run pile --shape ./own.sactree --bodies 4 --frames 1 --record own.sactree", 2, "would overwrite");
    expect("run pile --shape no.sactree --bodies 4", 1, "no.sactree");
    expect("run pile --bodies 0", 2, "from 1 to");
    expect("run pile --bodies 9999999", 2, "from 1 to");
}

static void every_scene_and_policy_runs(void **state)
{
    (void)state;
    static const char *const scenes[] = {"pile", "burst", "wake", "rain", "stack", "avalanche", "orrery"};
    static const char *const policies[] = {"exhaustive", "fifo",     "random",      "round-robin", "distance",
                                           "sort",       "groups:4", "probability", "jnd"};
    char line[256];
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        snprintf(line, sizeof line, "run %s --bodies 12 --shape t24 --frames 30 --credits --gaze none --json",
                 scenes[i]);
        json_t *object = run_json(line);
        if (json_integer_value(json_object_get(object, "nan")) != 0) fail_msg("%s: not finite", scenes[i]);
        if (json_integer_value(json_object_get(object, "lost_bodies")) != 0)
            fail_msg("%s: lost bodies", scenes[i]);
        json_decref(object);
    }
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        snprintf(line, sizeof line,
                 "run pile --bodies 12 --frames 40 --credits --budget-us 100 --policy %s --json",
                 policies[i]);
        json_decref(run_json(line));
    }
}

/* A disk that is full late in a run costs the rest of the recording and nothing else. */
static void a_failed_recording_keeps_the_figures(void **state)
{
    (void)state;
    static const char line[] = "run pile --bodies 20 --frames 600 --credits --record r.sacrec --json";
    json_t *whole = run_json(line);
    most_file_bytes = 60000;
    int code = run(line);
    most_file_bytes = 0;
    assert_int_equal(code, 1);
    assert_non_null(strstr(err, "r.sacrec: cannot write"));
    json_t *spoilt = last_line(), *error = json_object_get(spoilt, "error");
    static const char *const keys[] = {"frames", "state_hash", "penetration_mm", "jnd_left", "contacts_max"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!json_equal(json_object_get(whole, keys[i]), json_object_get(spoilt, keys[i])))
            fail_msg("%s is another", keys[i]);
    assert_string_equal(json_string_value(json_object_get(error, "code")), "ERROR_IO");
    assert_string_equal(json_string_value(json_object_get(error, "file")), "r.sacrec");
    assert_non_null(strstr(json_string_value(json_object_get(error, "remedy")), "make room"));
    json_decref(spoilt);
    /* What was written replays. */
    assert_int_equal(run("replay r.sacrec --verify --json"), 1);
    json_t *replay = last_line();
    assert_true(json_integer_value(json_object_get(replay, "frames")) > 30);
    assert_true(json_equal(json_object_get(replay, "frames"), json_object_get(replay, "verified")));
    error = json_object_get(replay, "error");
    assert_string_equal(json_string_value(json_object_get(error, "code")), "ERROR_CORRUPT");
    assert_true(json_integer_value(json_object_get(error, "byte")) > 32);
    json_decref(replay);
    /* The same for people, and for pages that do not fit on the disk. */
    most_file_bytes = 60000;
    code = run("run pile --bodies 20 --frames 600 --credits --record r.sacrec");
    assert_int_equal(code, 1);
    assert_non_null(strstr(out, "  state "));
    code = run("run pile --bodies 20 --frames 600 --credits --out report --pictures 0 --json");
    most_file_bytes = 0;
    assert_int_equal(code, 1);
    spoilt = last_line();
    assert_true(json_equal(json_object_get(whole, "state_hash"), json_object_get(spoilt, "state_hash")));
    assert_non_null(strstr(json_string_value(json_object_get(json_object_get(spoilt, "error"), "file")),
                           "report/frames.csv"));
    json_decref(spoilt);
    json_decref(whole);
}

/* Two pushes of which each may be, but not both: known only when the second falls due. */
static void a_failed_event_keeps_the_figures(void **state)
{
    (void)state;
    put("pushed.json", "{\"gravity\": [0, 0, 0], \"shapes\": {\"a\": {\"sphere\": 1}}, \"bodies\": "
                       "[{\"shape\": \"a\", \"name\": \"b\", "
                       "\"mass\": 1, \"most_speed\": 10000}],\n\"events\": [{\"time\": 0.1, \"do\": "
                       "\"push\", \"body\": \"b\", "
                       "\"impulse\": [6000, 0, 0]},\n"
                       "{\"time\": 0.2, \"do\": \"push\", \"body\": \"b\", \"impulse\": [6000, 0, 0]}]}");
    assert_int_equal(run("run pushed.json --frames 60 --credits --json"), 1);
    json_t *object = last_line(), *error = json_object_get(object, "error");
    assert_int_equal(json_integer_value(json_object_get(error, "line")), 3);
    assert_int_equal(json_integer_value(json_object_get(object, "frames")), 18);
    assert_true(json_is_number(json_object_get(json_object_get(object, "jnd_left"), "max")));
    json_decref(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(credits_repeat_exactly),
        cmocka_unit_test(the_agreed_keys_are_there),
        cmocka_unit_test(files_are_written_whole),
        cmocka_unit_test(scene_files_run),
        cmocka_unit_test(overlap_is_measured_or_unknown),
        cmocka_unit_test(nobody_sinks_for_want_of_a_look),
        cmocka_unit_test(names_spoil_no_report),
        cmocka_unit_test(budgets_are_told_in_full),
        cmocka_unit_test(slips_are_answered),
        cmocka_unit_test(every_scene_and_policy_runs),
        cmocka_unit_test(a_failed_recording_keeps_the_figures),
        cmocka_unit_test(a_failed_event_keeps_the_figures),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
