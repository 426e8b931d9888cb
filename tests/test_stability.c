/* saccade stability and bench peers as a user meets them: a run of a moment, looked at from outside. */
#include "tests/program_play.h"

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

static void wrong_words_are_told(void **state)
{
    (void)state;
    expect("stability --hz 0", 2, "--hz");
    expect("stability --hz 90,", 2, "--hz");
    expect("stability --hz 90,90", 2, "--hz");
    expect("stability --budgets-ms 2,x", 2, "--budgets-ms");
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
        cmocka_unit_test(wrong_words_are_told),
        cmocka_unit_test(peers_print_their_row),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
