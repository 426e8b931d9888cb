/* saccade render and saccade view as a user meets them: pictures of the right size, the same again in work
 * credits, raw frames for ffmpeg, and plain words when something is wrong. Skipped where no Vulkan device is.
 */
#include "program_play.h"

static bool no_device;

/* Width and height stand in the first chunk of a PNG. */
static void expect_png(const char *name, uint32_t width, uint32_t height)
{
    slurp(name, out);
    const uint8_t *b = (const uint8_t *)out;
    assert_memory_equal(b, "\x89PNG\r\n\x1a\n", 8);
    assert_int_equal(((uint32_t)b[16] << 24) | ((uint32_t)b[17] << 16) | ((uint32_t)b[18] << 8) | b[19],
                     width);
    assert_int_equal(((uint32_t)b[20] << 24) | ((uint32_t)b[21] << 16) | ((uint32_t)b[22] << 8) | b[23],
                     height);
}

static long size_of(const char *name)
{
    char path[256];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &status) == 0 ? (long)status.st_size : -1;
}

static void pictures_are_what_was_asked_for(void **state)
{
    (void)state;
    if (no_device) skip();
    static const char *const scenes[] = {"billiards", "pile --bodies 30", "side-by-side --bodies 20"};
    char line[256];
    for (int i = 0; i < 3; i++) {
        snprintf(line, sizeof line,
                 "render %s --credits -n 20 --size 200x120 --paint jnd --rings --strip --front --contacts "
                 "--gaze-ray -o p.png --json",
                 scenes[i]);
        json_t *first = run_json(line), *second = run_json(line);
        expect_png("p.png", 200, 120);
        assert_int_equal(json_integer_value(json_object_get(first, "pictures")), 1);
        static const char *const keys[] = {"state_hash", "pixel_hash"};
        for (int k = 0; k < 2; k++)
            assert_string_equal(json_string_value(json_object_get(first, keys[k])),
                                json_string_value(json_object_get(second, keys[k])));
        json_decref(first);
        json_decref(second);
    }
}

static void folders_and_raw_frames(void **state)
{
    (void)state;
    if (no_device) skip();
    json_t *object = run_json("render pile --bodies 10 --credits -n 12 --from 2 --every 5 --size 160x90 "
                              "-o many --raw frames.rgba --csv times.csv --json");
    assert_int_equal(json_integer_value(json_object_get(object, "pictures")), 2);
    json_decref(object);
    expect_png("many/frame-00002.png", 160, 90);
    expect_png("many/frame-00007.png", 160, 90);
    assert_int_equal(size_of("many/frame-00012.png"), -1);
    assert_int_equal(size_of("frames.rgba"), 2 * 160 * 90 * 4);
    slurp("times.csv", out);
    uint32_t lines = 0;
    for (const char *p = out; *p; p++) lines += *p == '\n';
    assert_int_equal(lines, 13);
    assert_int_equal(strncmp(out, "frame,display_ms,steps,bodies,physics_us", 40), 0);
    /* Frames on standard output are nothing but frames. */
    assert_int_equal(run("render pile --bodies 5 --credits -n 3 --size 32x16 --raw -"), 0);
    assert_int_equal(size_of(".stdout"), 3 * 32 * 16 * 4);
    /* Two eyes differ. */
    object = run_json("render pile --bodies 10 --credits -n 5 --stereo --size 160x90 -o eyes.png --json");
    json_t *other = run_json("render pile --bodies 10 --credits -n 5 --size 160x90 -o eye.png --json");
    assert_string_not_equal(json_string_value(json_object_get(object, "pixel_hash")),
                            json_string_value(json_object_get(other, "pixel_hash")));
    json_decref(object);
    json_decref(other);
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    expect("render", 2, "which scene?");
    expect("render pile", 2, "where to?");
    expect("render pile -o x.png --size 3x3", 2, "--size wants");
    expect("render pile -o x.png --size 640", 2, "--size wants");
    expect("render pile -o x.png --stereo --size 641x480", 2, "even");
    expect("render pile -o x.png --eye 1,2", 2, "--eye wants");
    expect("render pile -o x.png --target 1,2,nan", 2, "--target wants");
    expect("render pile -o x.png --every 2", 2, "folder");
    expect("render pile -o x.png -n 5 --from 5", 2, "--from");
    expect("render hailstrom -o x.png", 2, "did you mean hailstorm?");
    expect("render pile -o x.png --paint jdn", 2, "did you mean jnd?");
    expect("render pile -o x.png --policy rund-robin", 2, "did you mean round-robin?");
    expect("render pile -o x.png --gaze nowhere.csv", 1, "nowhere.csv");
    expect("render nowhere.json -o x.png", 1, "nowhere.json");
    expect("render --help", 0, "-f rawvideo -pix_fmt rgba");
    expect("view", 2, "which scene?");
    expect("view pile", 1, "saccade render");
    expect("view --help", 0, "the mouse is the eye");
    assert_int_equal(size_of("x.png"), -1);
    if (no_device) return;
    expect("render pile --bodies 5 -o /nowhere/x.png -n 2 --size 64x64", 1, "/nowhere/x.png");
    expect("render pile --bodies 5 --raw /nowhere/x -n 2 --size 64x64", 1, "/nowhere/x");
    expect("render pile --bodies 5 -o x.png -n 2 --size 64x64 --device nosuchcard", 1, "nosuchcard");
}

static int enter(void **state)
{
    unsetenv("DISPLAY");
    unsetenv("WAYLAND_DISPLAY");
    if (make_folder(state) != 0) return -1;
    no_device = run("render pile --bodies 5 -n 1 --size 32x32 -o try.png") != 0;
    if (no_device) fprintf(stderr, "*** SKIPPED: pictures: %s\n", err);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_are_what_was_asked_for),
        cmocka_unit_test(folders_and_raw_frames),
        cmocka_unit_test(what_is_wrong_is_said),
    };
    return cmocka_run_group_tests(tests, enter, remove_folder);
}
