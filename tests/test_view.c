/* saccade view on a display of its own (Xvfb): it runs, its keys do what they say, its pictures are there.
 * Without Xvfb or a Vulkan device the suite is skipped and says so. */
#include "tests/display_play.h"
#include "tests/program_play.h"

#include <signal.h>

static pid_t display;

#define SMALL "--bodies 12 --width 200 --height 150 --credits --json "

static void it_opens_and_ends(void **state)
{
    (void)state;
    json_t *object = run_json("view pile " SMALL "-n 4 --keys --strip --rings --screenshot last.png");
    assert_int_equal(json_integer_value(json_object_get(object, "frames")), 4);
    assert_int_equal(json_integer_value(json_object_get(object, "bodies")), 12);
    assert_true(json_is_true(json_object_get(object, "rings")));
    json_decref(object);
    slurp("last.png", out);
    assert_memory_equal(out, "\x89PNG\r\n\x1a\n", 8);
}

static void keys_do_what_they_say(void **state)
{
    (void)state;
    /* The point at the end is a step, and pauses. */
    json_t *object = run_json("view pile " SMALL "-n 30 --press 4RTV[[-^K.");
    assert_string_equal(json_string_value(json_object_get(object, "paint")), "jnd");
    assert_true(
        json_is_true(json_object_get(object, "rings")) && json_is_true(json_object_get(object, "strip")) &&
        json_is_true(json_object_get(object, "stereo")) && json_is_true(json_object_get(object, "paused")));
    assert_true(json_number_value(json_object_get(object, "rate")) == 0.25);
    assert_true(json_number_value(json_object_get(object, "budget_us")) == 3200);
    assert_int_equal(json_integer_value(json_object_get(object, "bodies")), 13);
    json_decref(object);
    slurp("saccade-pile-001.png", out);
    assert_memory_equal(out, "\x89PNG\r\n\x1a\n", 8);

    object = run_json("view pile " SMALL "-n 30 --press P+__");
    assert_string_not_equal(json_string_value(json_object_get(object, "policy")), "jnd");
    assert_true(json_number_value(json_object_get(object, "budget_us")) == 5000);
    assert_int_equal(json_integer_value(json_object_get(object, "bodies")), 10);
    json_decref(object);

    /* One step, then another, and the end by key. */
    object = run_json("view pile " SMALL "-n 1000 --press ..N..Q");
    assert_true(json_integer_value(json_object_get(object, "frames")) < 10);
    json_decref(object);
}

static int enter(void **state)
{
    char name[32];
    display = start_display("640x480x24", name);
    if (!display) {
        printf("SKIPPED: nothing was tested: Xvfb does not start; install xvfb\n");
        exit(77);
    }
    setenv("DISPLAY", name, 1);
    unsetenv("WAYLAND_DISPLAY");
    if (make_folder(state) != 0) return -1;
    if (run("render pile --bodies 5 -n 1 --size 32x32 -o try.png") == 0) return 0;
    printf("SKIPPED: nothing was tested: %s", err);
    kill(display, SIGTERM);
    remove_folder(state);
    exit(77);
}

static int leave(void **state)
{
    kill(display, SIGTERM);
    waitpid(display, NULL, 0);
    return remove_folder(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_opens_and_ends),
        cmocka_unit_test(keys_do_what_they_say),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
