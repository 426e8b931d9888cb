/* The program as a user meets it: run, looked at from outside. */
#include "tests/program_play.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#include <stb/stb_image.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

static bool exists(const char *name)
{
    char path[256];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &status) == 0;
}

static void no_leftovers(void)
{
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        if (strstr(entry->d_name, ".part") || strstr(entry->d_name, ".tmp"))
            fail_msg("left behind: %s", entry->d_name);
    closedir(dir);
}

static void every_command_has_help(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "help",        "--help",          "bake --help",    "help bake",
        "tree --help", "tree info -h",    "tree export -h", "tree render --help",
        "bench -h",    "tree compare -h", "bench bake -h",  "bench descent --help",
        "demo --help"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) expect(lines[i], 0, "Usage:");
    expect("version", 0, "saccade ");
    assert_int_equal(run(""), 2);
}

static void slips_are_answered_with_what_was_meant(void **state)
{
    (void)state;
    expect("bkae knot", 2, "did you mean bake?");
    expect("bake knot --metod medial", 2, "did you mean --method?");
    expect("bake knot --method medal", 2, "did you mean medial?");
    expect("bake knot --reducers mrege", 2, "did you mean merge");
    expect("tree inof x", 2, "did you mean info?");
    expect("bench bkae", 2, "did you mean bake?");
    expect("bake knto", 2, "did you mean the built-in 'knot'?");
    expect("bake", 2, "which mesh?");
    expect("bake knot gear", 2, "one argument too many");
    expect("bake knot --depth", 2, "--depth needs a value");
}

static void numbers_out_of_range_are_refused(void **state)
{
    (void)state;
    expect("bake knot --branch 1", 2, "from 2 to 16, not '1'");
    expect("bake knot --branch 17", 2, "from 2 to 16, not '17'");
    expect("bake knot --branch=8x", 2, "not '8x'");
    expect("bake knot --depth 0", 2, "from 1 to 12");
    expect("bake knot --depth -1", 2, "not '-1'");
    expect("bake knot --threads 0", 2, "from 1 to 64");
    expect("tree render x -o x.png --size 10x10", 2, "--size");
    /* What strtod takes and nobody means. */
    expect("run pile --budget-us 0x10", 2, "not '0x10'");
    expect("run pile --budget-us nan", 2, "not 'nan'");
    expect("run pile --budget-us=\t5", 2, "--budget-us takes a number");
    expect("run pile --seed=\t-1", 2, "--seed takes a whole number");
    expect("run pile --seed +1", 2, "not '+1'");
    /* The next option is no value. */
    expect("run pile --record --json", 2, "--record needs a value");
    expect("bake knot --method --quick", 2, "--method needs a value");
}

static void bake_prints_the_agreed_keys(void **state)
{
    (void)state;
    static const char *const keys[] = {"worst_gap", "mean_gap", "coverage", "path_coverage",
                                       "outside_volume"};
    assert_int_equal(run("bake torus --triangles 600 --depth 2 --quick --json -o torus.sactree"), 0);
    json_t *object = last_line(), *levels = json_object_get(object, "levels");
    assert_true(json_is_real(json_object_get(object, "seconds")));
    assert_int_equal(json_array_size(levels), 3);
    assert_null(strchr(out, '\n')); /* nothing but the object */
    for (size_t i = 0; i < 3; i++) {
        json_t *level = json_array_get(levels, i);
        assert_int_equal(json_integer_value(json_object_get(level, "level")), i);
        assert_true(json_integer_value(json_object_get(level, "spheres")) >= 1);
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            assert_true(json_is_number(json_object_get(level, keys[k])));
        assert_true(json_number_value(json_object_get(level, "coverage")) == 1);
        assert_true(json_number_value(json_object_get(level, "path_coverage")) == 1);
        assert_true(json_number_value(json_object_get(level, "worst_gap")) >=
                    json_number_value(json_object_get(level, "mean_gap")));
    }
    json_int_t nodes = json_integer_value(json_object_get(object, "nodes"));
    json_decref(object);
    assert_int_equal(run("tree info torus.sactree --json"), 0);
    object = last_line();
    json_t *tree = json_array_get(json_object_get(object, "trees"), 0);
    assert_int_equal(json_integer_value(json_object_get(tree, "nodes")), nodes);
    assert_string_equal(json_string_value(json_object_get(tree, "method")), "medial");
    json_decref(object);
    assert_int_equal(run("bake torus --triangles 600 --depth 1 --quick"), 0);
    assert_non_null(strstr(out, "not saved"));
}

static void every_method_bakes(void **state)
{
    (void)state;
    static const char *const methods[] = {"medial", "hubbard", "octree", "grid", "wrapped"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        char line[128];
        snprintf(line, sizeof line, "bake l --triangles 400 --depth 2 --quick --json --method %s",
                 methods[i]);
        if (run(line) != 0) fail_msg("%s: %s", methods[i], err);
        json_t *object = last_line();
        assert_string_equal(json_string_value(json_object_get(object, "method")), methods[i]);
        json_decref(object);
    }
}

static void threads_do_not_change_a_byte(void **state)
{
    (void)state;
    static char first[MOST_OUTPUT], second[MOST_OUTPUT];
    memset(first, 0, sizeof first);
    memset(second, 0, sizeof second);
    assert_int_equal(run("bake star --triangles 800 --depth 2 --quick --threads 1 -o one.sactree"), 0);
    assert_int_equal(run("bake star --triangles 800 --depth 2 --quick --threads 3 -o three.sactree"), 0);
    slurp("one.sactree", first);
    slurp("three.sactree", second);
    assert_memory_equal(first, second, sizeof first);
}

static void spheres_become_trees(void **state)
{
    (void)state;
    put("two.spheres", "# two\n0 0 0 1\n3 0 0 0.5\n");
    put("bad.spheres", "0 0 0 1\n1 2 three 4\n");
    assert_int_equal(run("bake t24 --quick --json -o t24.sactree"), 0);
    json_t *object = last_line(), *levels = json_object_get(object, "levels"), *level;
    size_t i;
    json_array_foreach(levels, i, level)
    {
        assert_true(json_number_value(json_object_get(level, "coverage")) == 1);
        assert_true(json_number_value(json_object_get(level, "path_coverage")) == 1);
    }
    level = json_array_get(levels, json_array_size(levels) - 1);
    assert_true(json_number_value(json_object_get(level, "worst_gap")) < 0.01);
    json_decref(object);
    /* A hundred spheres do not fill their levels evenly: leaves above the last level still count on it. */
    assert_int_equal(run("bake t100 --quick --json"), 0);
    object = last_line();
    json_array_foreach(json_object_get(object, "levels"), i, level)
        assert_true(json_number_value(json_object_get(level, "coverage")) == 1);
    assert_int_equal(json_integer_value(json_object_get(
                         json_array_get(json_object_get(object, "levels"),
                                        json_array_size(json_object_get(object, "levels")) - 1),
                         "spheres")),
                     100);
    json_decref(object);
    assert_int_equal(run("bake two.spheres --quick"), 0);
    expect("bake bad.spheres", 1, "bad.spheres:2: not four numbers");
}

static void files_go_both_ways_through_sph(void **state)
{
    (void)state;
    assert_int_equal(run("bake box --triangles 200 --depth 2 --quick -o box.sactree"), 0);
    assert_int_equal(run("tree export box.sactree box.sph --json"), 0);
    json_t *object = last_line();
    json_int_t nodes = json_integer_value(json_object_get(object, "nodes"));
    json_decref(object);
    assert_int_equal(run("tree export box.sph again.sactree --json"), 0);
    object = last_line();
    assert_int_equal(json_integer_value(json_object_get(object, "nodes")), nodes);
    json_decref(object);
    assert_int_equal(run("tree info box.sph again.sactree"), 0);
}

static void bad_files_are_told_and_leave_nothing(void **state)
{
    (void)state;
    put("words.sactree", "this is not a tree\n");
    put("words.sph", "this is not a tree either\n");
    put("empty.obj", "");
    put("words.obj", "hello\n");
    expect("bake missing.obj", 1, "missing.obj");
    expect("bake empty.obj", 1, "empty.obj");
    expect("bake words.obj", 1, "words.obj");
    expect("bake .", 1, "folder");
    expect("tree info missing.sactree", 1, "missing.sactree");
    expect("tree info words.sactree", 1, "words.sactree");
    expect("tree info words.sph", 1, "words.sph:1");
    expect("tree render words.sactree -o words.png", 1, "words.sactree");
    assert_false(exists("words.png"));
    expect("bake box --quick -o no/such/folder/box.sactree", 1, "no/such/folder");
    assert_int_equal(run("bake box --triangles 200 --depth 1 --quick -o box1.sactree"), 0);
    expect("tree render box1.sactree --level 7 -o seven.png", 2, "no level 7");
    assert_false(exists("seven.png"));
    /* A folder stands where the file should go. */
    char path[256];
    snprintf(path, sizeof path, "%s/taken", folder);
    mkdir(path, 0777);
    expect("bake box --triangles 200 --depth 1 --quick -o taken", 1, "taken: this is a folder; name a file");
    expect("tree render box1.sactree --size 200 -o taken", 1, "taken");
    expect("tree export box1.sactree no/where/x.sph", 1, "no/where/x.sph");
    assert_int_equal(run("bake missing.obj --json"), 1);
    json_t *object = last_line(), *error = json_object_get(object, "error");
    assert_non_null(json_string_value(json_object_get(error, "code")));
    json_decref(object);
    no_leftovers();
}

/* 2: a mistake in the call; 1: it failed while working. Each is told in the same form with --json, and the
 * object is all there is. */
static void exit_codes_and_errors_have_one_form(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        int code;
        const char *name, *file; /* of the error; NULL: no file */
    } cases[] = {
        {"bkae", 2, "ERROR_ARGUMENT", NULL},
        {"help bkae", 2, "ERROR_ARGUMENT", NULL},
        {"run", 2, "ERROR_ARGUMENT", NULL},
        {"run pile --bdies 4", 2, "ERROR_ARGUMENT", NULL},
        {"run pile burst", 2, "ERROR_ARGUMENT", NULL},
        {"run pile --frames 0", 2, "ERROR_ARGUMENT", NULL},
        {"run pile --frames", 2, "ERROR_ARGUMENT", NULL},
        {"run plie", 2, "ERROR_ARGUMENT", NULL},
        {"run pile --policy jdn", 2, "ERROR_ARGUMENT", NULL},
        {"run pile --policy groups:1", 2, "ERROR_ARGUMENT", NULL},
        {"run pile --shape t25", 2, "ERROR_ARGUMENT", NULL},
        {"run pile --shape builtin:nothing", 2, "ERROR_ARGUMENT", NULL},
        {"run pile --gaze senter", 2, "ERROR_ARGUMENT", NULL},
        {"run pile --gaze nobody", 2, "ERROR_ARGUMENT", NULL},
        {"run pile --gaze fixation:x", 2, "ERROR_ARGUMENT", NULL},
        {"run pile --frames 300000 --out kept", 2, "ERROR_ARGUMENT", NULL},
        {"run ball.json --record ball.json", 2, "ERROR_ARGUMENT", NULL},
        {"run ball.json --record ./ball.json", 2, "ERROR_ARGUMENT", NULL},
        {"run pile --bodies 2 --out there --record there/frames.csv", 2, "ERROR_ARGUMENT", NULL},
        {"run nowhere.json", 1, "ERROR_IO", "nowhere.json"},
        {"run wrong.json", 1, "ERROR_FORMAT", "wrong.json"},
        {"run shapeless.json", 1, "ERROR_FORMAT", "shapeless.json"},
        {"run pile --gaze nowhere.csv", 1, "ERROR_IO", "nowhere.csv"},
        {"run pile --shape nowhere.obj", 1, "ERROR_IO", "nowhere.obj"},
        {"run pile --bodies 2 --frames 2 --record nowhere/x.sacrec", 1, "ERROR_IO", "nowhere/x.sacrec"},
        {"run pile --bodies 2 --frames 2 --out words", 1, "ERROR_IO", "words"},
        {"replay", 2, "ERROR_ARGUMENT", NULL},
        {"replay nowhere.sacrec", 1, "ERROR_IO", "nowhere.sacrec"},
        {"replay words", 1, "ERROR_FORMAT", "words"},
        {"stability --scene plie", 2, "ERROR_ARGUMENT", NULL},
        {"stability --shape t25", 2, "ERROR_ARGUMENT", NULL},
        {"stability --policies jdn", 2, "ERROR_ARGUMENT", NULL},
        {"stability --peers bulet", 2, "ERROR_ARGUMENT", NULL},
        {"stability --policies none --peers none", 2, "ERROR_ARGUMENT", NULL},
        {"stability --hz 1", 2, "ERROR_ARGUMENT", NULL},
        {"perceive --scene plie", 2, "ERROR_ARGUMENT", NULL},
        {"perceive --shape t25", 2, "ERROR_ARGUMENT", NULL},
        {"perceive --quick --out words", 1, "ERROR_IO", "words"},
        {"bench", 2, "ERROR_ARGUMENT", NULL},
        {"bench bkae", 2, "ERROR_ARGUMENT", NULL},
        {"bench peers --scene plie", 2, "ERROR_ARGUMENT", NULL},
        {"bench peers --scene pile --shape t25 --bodies 3", 2, "ERROR_ARGUMENT", NULL},
        {"bench peers --engines bulet", 2, "ERROR_ARGUMENT", NULL},
        {"bench descent --simd mmx", 2, "ERROR_ARGUMENT", NULL},
        {"bench bake knto", 2, "ERROR_ARGUMENT", NULL},
        {"bench bake nowhere.obj", 1, "ERROR_IO", "nowhere.obj"},
        {"bake", 2, "ERROR_ARGUMENT", NULL},
        {"bake knto", 2, "ERROR_ARGUMENT", NULL},
        {"bake knot --method medal", 2, "ERROR_ARGUMENT", NULL},
        {"bake flat.obj -o flat.obj", 2, "ERROR_ARGUMENT", NULL},
        {"bake nowhere.obj", 1, "ERROR_IO", "nowhere.obj"},
        {"bake box -o nowhere/box.sactree", 1, "ERROR_IO", "nowhere/box.sactree"},
        {"tree", 2, "ERROR_ARGUMENT", NULL},
        {"tree inof", 2, "ERROR_ARGUMENT", NULL},
        {"tree info", 2, "ERROR_ARGUMENT", NULL},
        {"tree info nowhere.sactree", 1, "ERROR_IO", "nowhere.sactree"},
        {"tree info words", 1, "ERROR_FORMAT", "words"},
        {"tree export words", 2, "ERROR_ARGUMENT", NULL},
        {"tree render box1.sactree --level 7 -o seven.png", 2, "ERROR_ARGUMENT", NULL},
        {"tree compare box --mesh knot", 2, "ERROR_ARGUMENT", NULL},
        {"tree compare box --methods medal", 2, "ERROR_ARGUMENT", NULL},
    };
    static const char *const members[] = {"code", "message", "remedy", "file", "line", "byte"};
    put("words", "these are words, many more of them than a header of any file would take, and no numbers\n");
    put("ball.json", "{\"shapes\": {\"a\": {\"sphere\": 1}}, \"bodies\": [{\"shape\": \"a\"}]}");
    put("flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    put("wrong.json", "{\"bodies\": [}");
    put("shapeless.json", "{\"shapes\": {\"a\": {\"mesh\": \"knto\"}}, \"bodies\": [{\"shape\": \"a\"}]}");
    assert_int_equal(run("bake box --triangles 200 --depth 1 --quick -o box1.sactree"), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[256];
        int plain = run(cases[i].line);
        snprintf(line, sizeof line, "%s --json", cases[i].line);
        if (!*err) fail_msg("saccade %s: says nothing on standard error", cases[i].line);
        int code = run(line);
        if (code != cases[i].code || plain != code)
            fail_msg("saccade %s: exit %d, with --json %d, expected %d\n%s", cases[i].line, plain, code,
                     cases[i].code, err);
        json_t *object = last_line(), *error = json_object_get(object, "error");
        if (strchr(out, '\n')) fail_msg("%s: more than one line:\n%s", line, out);
        for (size_t k = 0; k < sizeof members / sizeof *members; k++)
            if (!json_object_get(error, members[k])) fail_msg("%s: no member %s: %s", line, members[k], out);
        const char *name = json_string_value(json_object_get(error, "code")),
                   *file = json_string_value(json_object_get(error, "file")),
                   *remedy = json_string_value(json_object_get(error, "remedy"));
        if (!name || strcmp(name, cases[i].name) != 0) fail_msg("%s: %s", line, out);
        if ((file == NULL) != (cases[i].file == NULL) || (file && strcmp(file, cases[i].file) != 0))
            fail_msg("%s: another file: %s", line, out);
        if (code == 2 && (!remedy || !*remedy)) fail_msg("%s: no remedy: %s", line, out);
        json_decref(object);
    }
    no_leftovers();
}

/* Three bodies that never meet: nothing to divide by, and still an object. */
static void figures_of_nothing_are_null(void **state)
{
    (void)state;
    static const char line[] =
        "perceive --quick --bodies 3 --frames 1 --skip 0 --seeds 1 --shape t24 --threads 1 "
        "--out nothing --json";
    static const char *const ratios[] = {"round_robin_over_jnd", "jnd_over_sort", "late_over_on_time"};
    static char text[MOST_OUTPUT];
    assert_int_equal(run(line), 0);
    json_t *object = last_line();
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++)
        assert_true(json_is_null(json_object_get(object, ratios[i])));
    assert_true(json_is_null(json_object_get(json_object_get(object, "budget_for_1_jnd_pct"), "jnd")));
    assert_true(json_array_size(json_object_get(object, "runs")) > 0);
    json_decref(object);
    /* Nor is it told to people as a number, or drawn as a small one. */
    slurp("nothing/index.html", text);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "<circle"));
    assert_non_null(strstr(text, "nothing to compare"));
    slurp("nothing/perceive.csv", text);
    assert_null(strstr(text, "nan"));
    assert_int_equal(run("perceive --quick --bodies 3 --frames 1 --skip 0 --seeds 1 --shape t24 --threads 1"),
                     0);
    assert_null(strstr(out, "nan"));
    assert_non_null(strstr(out, "1 seed."));
    assert_non_null(strstr(out, "nothing to compare"));
}

/* A name that is not UTF-8 spoils no object. */
static void names_may_be_any_bytes(void **state)
{
    (void)state;
    put("b\xe4r.json", "{\"shapes\": {\"a\": {\"sphere\": 1}}, \"bodies\": [{\"shape\": \"a\"}]}");
    assert_int_equal(run("run b\xe4r.json --frames 2 --credits --json"), 0);
    json_t *object = last_line();
    assert_string_equal(json_string_value(json_object_get(object, "scene")), "b\xef\xbf\xbdr.json");
    json_decref(object);
    assert_int_equal(run("replay n\xff\xfe --json"), 1);
    object = last_line();
    assert_string_equal(json_string_value(json_object_get(json_object_get(object, "error"), "file")),
                        "n\xef\xbf\xbd\xef\xbf\xbd");
    json_decref(object);
}

/* Width and height as told, and something to see: many colours, neither all light nor all dark. */
static void look_at(const char *name, int width, int height)
{
    char path[256];
    int w, h, n;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    stbi_uc *pixels = stbi_load(path, &w, &h, &n, 3);
    assert_non_null(pixels);
    assert_int_equal(w, width);
    if (height) assert_int_equal(h, height);
    static unsigned char seen[1 << 15];
    int colours = 0, dark = 0;
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < w * h; i++) {
        const stbi_uc *p = pixels + 3 * i;
        int key = p[0] >> 3 << 10 | p[1] >> 3 << 5 | p[2] >> 3;
        colours += !seen[key];
        seen[key] = 1;
        dark += p[0] + p[1] + p[2] < 450;
    }
    stbi_image_free(pixels);
    if (colours < 60 || dark < w * h / 100 || dark > w * h * 9 / 10)
        fail_msg("%s looks blank: %d colours, %d dark pixels of %d", name, colours, dark, w * h);
}

static void pictures_show_something(void **state)
{
    (void)state;
    assert_int_equal(run("bake torus --triangles 600 --depth 2 --quick -o torus.sactree"), 0);
    assert_int_equal(run("tree render torus.sactree --mesh torus -o torus.png --size 480x180"), 0);
    look_at("torus.png", 480, 180);
    assert_int_equal(run("tree render torus.sactree --mesh torus --overlay --level 2 -o level.png --size 320 "
                         "--azimuth 80"),
                     0);
    look_at("level.png", 320, 0);
}

static void a_picture_does_not_depend_on_threads(void **state)
{
    (void)state;
    static char first[MOST_OUTPUT], second[MOST_OUTPUT];
    memset(first, 0, sizeof first);
    memset(second, 0, sizeof second);
    assert_int_equal(run("bake torus --triangles 600 --depth 2 --quick -o torus.sactree"), 0);
    assert_int_equal(run("tree render torus.sactree -o one.png --size 200x90 --threads 1"), 0);
    assert_int_equal(run("tree render torus.sactree -o four.png --size 200x90 --threads 4"), 0);
    slurp("one.png", first);
    slurp("four.png", second);
    assert_memory_equal(first, second, sizeof first);
}

static void compare_writes_a_page_that_needs_nothing_else(void **state)
{
    (void)state;
    static char page[MOST_OUTPUT];
    assert_int_equal(
        run("tree compare box -o cmp --triangles 200 --depth 1 --methods octree,grid --width 320 --json"), 0);
    json_t *object = last_line();
    assert_int_equal(json_array_size(json_object_get(object, "trees")), 2);
    json_decref(object);
    slurp("cmp/index.html", page);
    assert_non_null(strstr(page, "<svg"));
    assert_non_null(strstr(page, "data:image/png;base64,"));
    assert_null(strstr(page, "http"));
    look_at("cmp/octree.png", 320, 0);
}

static void the_demo_writes_its_page(void **state)
{
    (void)state;
    static char page[MOST_OUTPUT];
    /* It draws with a Vulkan driver and unloads it: what that keeps has no name to suppress. */
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    setenv("TSAN_OPTIONS", "report_bugs=0", 1); /* its threads are not compiled for it */
    int code = run("demo --out demo --quick --width 320 --json");
    unsetenv("ASAN_OPTIONS");
    unsetenv("TSAN_OPTIONS");
    assert_int_equal(code, 0);
    json_t *object = last_line(), *pairs = json_object_get(object, "pairs"), *pair;
    size_t i;
    assert_int_equal(json_array_size(json_object_get(object, "shapes")), 3);
    assert_int_equal(json_array_size(pairs), 3);
    json_array_foreach(pairs, i, pair)
    {
        json_t *stops = json_object_get(pair, "stops"),
               *last = json_array_get(stops, json_array_size(stops) - 1);
        assert_true(json_is_true(json_object_get(last, "complete")));
        assert_false(json_is_true(json_object_get(json_array_get(stops, 0), "complete")));
        assert_true(json_integer_value(json_object_get(last, "contacts")) > 0);
        char name[64];
        snprintf(name, sizeof name, "demo/%s", json_string_value(json_object_get(pair, "picture")));
        look_at(name, 320, 0);
    }
    json_t *storm = json_object_get(object, "storm");
    assert_true(json_is_object(json_object_get(json_object_get(storm, "compare"), "exhaustive")));
    if (json_integer_value(json_object_get(storm, "pictures"))) {
        look_at("demo/storm-plain.png", 960, 540);
        look_at("demo/storm-jnd.png", 960, 540);
    }
    json_decref(object);
    static const char *const pages[] = {"demo/index.html", "demo/pile.html", "demo/trees.html"};
    for (int k = 0; k < 3; k++) {
        slurp(pages[k], page);
        assert_null(strstr(page, "http"));
        if (k == 0) assert_non_null(strstr(page, "pile.html"));
        if (k == 0) assert_non_null(strstr(page, "no scheduler"));
    }
    assert_int_equal(run("tree info demo/blob.sactree demo/knot.sactree demo/gear.sactree"), 0);
}

static void bench_bake_ends_in_json(void **state)
{
    (void)state;
    assert_int_equal(
        run("bench bake box --no-builtins --triangles 200 --depth 2 --methods octree,grid --quick"), 0);
    assert_non_null(strstr(out, "octree"));
    json_t *object = last_line();
    assert_int_equal(json_array_size(json_object_get(object, "cases")), 2);
    json_decref(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_has_help),
        cmocka_unit_test(slips_are_answered_with_what_was_meant),
        cmocka_unit_test(numbers_out_of_range_are_refused),
        cmocka_unit_test(exit_codes_and_errors_have_one_form),
        cmocka_unit_test(names_may_be_any_bytes),
        cmocka_unit_test(figures_of_nothing_are_null),
        cmocka_unit_test(bake_prints_the_agreed_keys),
        cmocka_unit_test(every_method_bakes),
        cmocka_unit_test(threads_do_not_change_a_byte),
        cmocka_unit_test(spheres_become_trees),
        cmocka_unit_test(files_go_both_ways_through_sph),
        cmocka_unit_test(bad_files_are_told_and_leave_nothing),
        cmocka_unit_test(pictures_show_something),
        cmocka_unit_test(a_picture_does_not_depend_on_threads),
        cmocka_unit_test(compare_writes_a_page_that_needs_nothing_else),
        cmocka_unit_test(the_demo_writes_its_page),
        cmocka_unit_test(bench_bake_ends_in_json),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
