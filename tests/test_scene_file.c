/* Scene files and gaze files: what they say comes out, and every kind of mistake is told with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "apps/gaze_trace.h"
#include "apps/lined_json.h"
#include "apps/scene_file.h"

static sac_staging staging;

static sac_result parse(const char *text, sac_error *error)
{
    memset(error, 0, sizeof *error);
    return sac_scene_file_parse(&staging, text, strlen(text), "scenes/test.json", error);
}

/* A scene with a mistake in the given line, and words of what is said about it. */
typedef struct mistake {
    int64_t line;
    const char *said, *text;
} mistake;

static void expect_mistake(const mistake *m)
{
    sac_error error;
    char text[768];
    if (parse(m->text, &error) == SAC_OK) {
        sac_staging_fini(&staging);
        fail_msg("was taken: %s", m->text);
    }
    sac_error_text(&error, text, sizeof text);
    if (error.line != m->line || !strstr(text, m->said) || strncmp(text, "scenes/test.json:", 17) != 0 ||
        !error.remedy[0])
        fail_msg("expected line %lld, '%s', a remedy; got: %s", (long long)m->line, m->said, text);
}

#define SHAPES "{\"shapes\": {\"ball\": {\"sphere\": 0.1}, \"floor\": {\"plane\": {}}},\n"
#define BODIES(body) SHAPES "\"bodies\": [\n" body "\n]}"
#define EVENTS(event) \
    SHAPES "\"bodies\": [{\"shape\": \"ball\", \"name\": \"b\"}],\n\"events\": [\n" event "\n]}"
#define CAST                                                                                     \
    "{\"shape\": \"floor\", \"name\": \"f\"}, {\"shape\": \"ball\", \"name\": \"k\", \"kind\": " \
    "\"kinematic\"}"
#define ACTS(event) SHAPES "\"bodies\": [" CAST "],\n\"events\": [\n" event "\n]}"
#define SHAPE(shape) "{\"shapes\": {\n\"s\": " shape "\n}, \"bodies\": [{\"shape\": \"s\"}]}"

static void syntax_is_told_by_line(void **state)
{
    (void)state;
    static const mistake list[] = {
        {1, "nothing in it", ""},
        {3, "nothing in it", " \n\n"},
        {2, "neither a comma nor }", "{\"name\": \"x\"\n\"frames\": 3}"},
        {1, "a comma", "{\"gravity\": [1 2 3]}"},
        {1, "a colon belongs", "{\"name\" \"x\"}"},
        {3, "take out the comma", "{\n\"name\": \"x\",\n}"},
        {2, "take out the comma", "{\"gravity\": [1,\n]}"},
        {1, "does not end in its line", "{\"name\": \"x\n\"}"},
        {2, "ends inside an object", "{\"name\": \"x\"\n"},
        {2, "ends inside a list", "{\"gravity\": [1\n"},
        {2, "'NaN' is not JSON", "{\"gravity\":\n[0, NaN, 0]}"},
        {1, "finite number", "{\"gravity\": [0, Infinity, 0]}"},
        {1, "too large", "{\"gravity\": [0, 1e999, 0]}"},
        {1, "starts with 0", "{\"frames\": 007}"},
        {1, "no digits after the point", "{\"frames\": 1.}"},
        {1, "exponent", "{\"frames\": 1e}"},
        {1, "not a number", "{\"frames\": -}"},
        {2, "given twice, first in line 1", "{\"frames\": 1,\n\"frames\": 2}"},
        {1, "escape", "{\"name\": \"\\q\"}"},
        {1, "escape", "{\"name\": \"\\ud800\"}"},
        {1, "escape", "{\"name\": \"\\u0000\"}"},
        {1, "UTF-8", "{\"name\": \"\xff\"}"},
        {1, "control character", "{\"name\": \"\x01\"}"},
        {1, "'True' is not JSON", "{\"name\": True}"},
        {1, "no comments", "// hello\n{}"},
        {2, "no comments", "{\"frames\": 3,\n// hello\n\"gravity\": [0, 0, 0]}"},
        {2, "follows the end", "{}\n{}"},
        {1, "must be an object", "[]"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) expect_mistake(&list[i]);
    /* Whatever ends the lines, they are as many. */
    static const char *const ends[] = {"\r", "\r\n"};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        for (size_t e = 0; e < 2; e++) {
            char text[256], *out = text;
            for (const char *c = list[i].text; *c; c++)
                out += sprintf(out, "%.*s", *c == '\n' ? 2 : 1, *c == '\n' ? ends[e] : c);
            *out = 0;
            expect_mistake(&(mistake){list[i].line, list[i].said, text});
        }
    expect_mistake(&(mistake){5, "follows the end", "\r\n\n\r{}\r\n{}"});
    expect_mistake(&(mistake){4, "follows the end", "\n\r\r\n{} {}"});
    char deep[400];
    memset(deep, '[', sizeof deep);
    deep[sizeof deep - 1] = 0;
    expect_mistake(&(mistake){1, "nested", deep});
}

static void meaning_is_told_by_line(void **state)
{
    (void)state;
    static const mistake list[] = {
        {1, "has no \"shapes\"", "{}"},
        {1, "has no \"bodies\"", "{\"shapes\": {}}"},
        {1, "has no bodies", "{\"shapes\": {}, \"bodies\": []}"},
        {2, "did you mean \"gravity\"?", "{\n\"gravty\": [0, 0, 0]}"},
        {1, "use one of name, about", "{\"xyzzy\": 1}"},
        {1, "\"gravity\" needs 3 numbers, not 2", "{\"gravity\": [0, 1]}"},
        {2, "\"gravity\" must be a number, not a text", "{\"gravity\": [0,\n\"down\", 0]}"},
        {1, "must be a list", "{\"gravity\": 9.81}"},
        {1, "out of range", "{\"gravity\": [0, 1e9, 0]}"},
        {1, "whole number", "{\"frames\": 1.5}"},
        {1, "\"name\" is empty", "{\"name\": \"\"}"},
        {1, "own \"position\"", "{\"viewer\": {\"position\": [0,0,0], \"look_at\": [0,0,0]}}"},
        {1, "\"fov\"", "{\"viewer\": {\"fov\": [0, 90]}}"},
        {1, "\"viewer\" has no key \"eye\"", "{\"viewer\": {\"eye\": 1}}"},
        {1, "needs a \"high\"", "{\"bounds\": {\"low\": [0,0,0]}}"},
        {1, "\"low\" must be below", "{\"bounds\": {\"low\": [0,0,0], \"high\": [1,0,1]}}"},
        /* shapes */
        {2, "has no geometry", SHAPE("{}")},
        {2, "is both", SHAPE("{\"sphere\": 1, \"box\": [1,1,1]}")},
        {2, "did you mean \"sphere\"?", SHAPE("{\"sphre\": 1}")},
        {2, "did you mean \"knot\"?", SHAPE("{\"mesh\": \"knto\"}")},
        {2, "no set of spheres", SHAPE("{\"spheres\": \"knot\"}")},
        {2, "out of range", SHAPE("{\"sphere\": 0}")},
        {2, "out of range", SHAPE("{\"sphere\": -1}")},
        {2, "needs 3 numbers", SHAPE("{\"box\": [1]}")},
        {2, "needs a \"length\"", SHAPE("{\"capsule\": {\"radius\": 1}}")},
        {2, "no length", SHAPE("{\"plane\": {\"normal\": [0,0,0]}}")},
        {4, "the plane's normal has no length",
         SHAPE("{\n\"plane\": {\"offset\": 1,\n\"normal\": [0,0,0]}\n}")},
        {2, "needs the \"spacing\"", SHAPE("{\"heights\": [[0,0],[0,0]]}")},
        {3, "the first one 2", SHAPE("{\"spacing\": 1, \"heights\": [[0,0],\n[0,0,0]]}")},
        {2, "belongs to \"heights\"", SHAPE("{\"sphere\": 1, \"spacing\": 1}")},
        {2, "belongs to \"mesh\"", SHAPE("{\"sphere\": 1, \"depth\": 2}")},
        {2, "must be a text", SHAPE("{\"mesh\": 3}")},
        /* bodies */
        {3, "the body has no \"shape\"", BODIES("{}")},
        {3, "did you mean \"ball\"?", BODIES("{\"shape\": \"bal\"}")},
        {3, "describe it under \"shapes\"", BODIES("{\"shape\": \"elephant\"}")},
        {4, "did you mean \"velocity\"?", BODIES("{\"shape\": \"ball\",\n\"velocty\": [0,0,0]}")},
        {3, "did you mean \"static\"?", BODIES("{\"shape\": \"ball\", \"kind\": \"statik\"}")},
        {3, "cannot move", BODIES("{\"shape\": \"floor\", \"kind\": \"dynamic\"}")},
        {3, "out of range", BODIES("{\"shape\": \"ball\", \"mass\": 0}")},
        {3, "out of range", BODIES("{\"shape\": \"ball\", \"mass\": -1}")},
        {3, "out of range", BODIES("{\"shape\": \"ball\", \"scale\": 0}")},
        {3, "out of range", BODIES("{\"shape\": \"ball\", \"position\": [1e7, 0, 0]}")},
        {3, "out of range", BODIES("{\"shape\": \"ball\", \"friction\": -0.1}")},
        {3, "out of range", BODIES("{\"shape\": \"ball\", \"restitution\": 1.5}")},
        {4, "\"velocity\" is 14142.13",
         BODIES("{\"shape\": \"ball\",\n\"velocity\": [1e4, 1e4, 0],\n\"spin\": [0, 0, 0]}")},
        {5, "at most 10000",
         BODIES("{\"shape\": \"ball\", \"kind\": \"kinematic\",\n\n\"spin\": [-6e3, 6e3, -6e3]}")},
        {4, "out of range", BODIES("{\"shape\": \"ball\",\n\"velocity\": [10001, 0, 0]}")},
        {3, "is no rotation", BODIES("{\"shape\": \"ball\", \"rotation\": [0,0,0,0]}")},
        {5, "\"axis\" of \"turn\" has no length",
         BODIES("{\"shape\": \"ball\", \"turn\": {\n\"degrees\": 90,\n\"axis\": [0,0,0]}}")},
        {3, "\"turn\" needs \"degrees\"", BODIES("{\"shape\": \"ball\", \"turn\": {\"axis\": [0,1,0]}}")},
        {3, "\"density\" is 2000000", BODIES("{\"shape\": \"ball\", \"density\": 2000000}")},
        {3, "too long to be repeated",
         BODIES("{\"shape\": \"ball\", \"name\": \"a name of more bytes than leave room for one\", "
                "\"repeat\": {\"count\": [2, 1, 1]}}")},
        {3, "both \"mass\" and \"density\"", BODIES("{\"shape\": \"ball\", \"mass\": 1, \"density\": 2}")},
        {3, "both \"turn\" and \"rotation\"",
         BODIES("{\"shape\": \"ball\", \"rotation\": [0,0,0,1], \"turn\": {\"degrees\": 1}}")},
        {3, "goes with a \"mass\"", BODIES("{\"shape\": \"ball\", \"inertia\": [1,1,1]}")},
        {3, "must be positive", BODIES("{\"shape\": \"ball\", \"mass\": 1, \"inertia\": [1,-1,1]}")},
        {3, "no body has this", BODIES("{\"shape\": \"ball\", \"mass\": 1, \"inertia\": [1,1,5]}")},
        {4, "no body has this",
         BODIES("{\"shape\": \"ball\", \"mass\": 1,\n\"inertia\": [1,1,1,0.9,0.9,-0.9]}")},
        {4, "the block reaches 110000 m",
         BODIES("{\"shape\": \"ball\",\n\"repeat\": {\"count\": [30, 1, 1], \"spacing\": [1e4, 1, 1]}, "
                "\"position\": "
                "[1e5, 0, 0]}")},
        {4, "already, in line 3",
         BODIES("{\"shape\": \"ball\", \"name\": \"a\"},\n{\"shape\": \"ball\", \"name\": \"a\"}")},
        {3, "true or false", BODIES("{\"shape\": \"ball\", \"sensor\": 1}")},
        {3, "needs a \"count\"", BODIES("{\"shape\": \"ball\", \"repeat\": {}}")},
        {3, "more than 100000", BODIES("{\"shape\": \"ball\", \"repeat\": {\"count\": [1000,1000,1]}}")},
        {3, "whole numbers", BODIES("{\"shape\": \"ball\", \"repeat\": {\"count\": [1.5,1,1]}}")},
        {3, "must be an object", BODIES("7")},
        /* events */
        {4, "does nothing", EVENTS("{\"time\": 1}")},
        {4, "did you mean \"push\"?", EVENTS("{\"time\": 1, \"do\": \"psh\"}")},
        {4, "has no \"time\"", EVENTS("{\"do\": \"destroy\", \"body\": \"b\"}")},
        {4, "out of range", EVENTS("{\"time\": -1, \"do\": \"destroy\", \"body\": \"b\"}")},
        {4, "names no \"body\"", EVENTS("{\"time\": 1, \"do\": \"destroy\"}")},
        {4, "there is no body \"c\"", EVENTS("{\"time\": 1, \"do\": \"destroy\", \"body\": \"c\"}")},
        {4, "needs an \"impulse\"", EVENTS("{\"time\": 1, \"do\": \"push\", \"body\": \"b\"}")},
        {5, "does not go with",
         EVENTS("{\"time\": 1, \"do\": \"destroy\", \"body\": \"b\",\n\"impulse\": [0,0,0]}")},
        {4, "\"push\" is for dynamic bodies",
         ACTS("{\"time\": 1, \"do\": \"push\", \"body\": \"k\", \"impulse\": [0,1,0]}")},
        {4, "\"push\" is for dynamic bodies",
         ACTS("{\"time\": 1, \"do\": \"push\", \"body\": \"f\", \"impulse\": [0,1,0]}")},
        {4, "cannot be thrown",
         ACTS("{\"time\": 1, \"do\": \"throw\", \"body\": \"f\", \"velocity\": [0,1,0]}")},
        {5, "\"velocity\" is 14142.13",
         EVENTS("{\"time\": 1, \"do\": \"throw\", \"body\": \"b\",\n\"velocity\": [1e4, 0, 1e4]}")},
        {6, "\"spin\" is 10392.3",
         EVENTS("{\"time\": 1, \"do\": \"throw\", \"body\": \"b\",\n\"velocity\": [0, 0, 0],\n\"spin\": "
                "[6e3, 6e3, 6e3]}")},
        {4, "there from the start", EVENTS("{\"time\": 1, \"do\": \"create\", \"body\": \"b\"}")},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) expect_mistake(&list[i]);
}

static const char everything[] =
    "\xef\xbb\xbf{\"name\": \"all \\u00e4\\ud83d\\ude00\", \"about\": \"x\", \"gravity\": [0, -1.62, 0], "
    "\"frames\": 10,\n"
    "\"viewer\": {\"position\": [0, 1.5, 3], \"look_at\": [0, 1, 0], \"ipd\": 0.06, \"fov\": [90, 80]},\n"
    "\"bounds\": {\"low\": [-5, -1, -5], \"high\": [5, 50, 5]},\n"
    "\"shapes\": {\"knot\": {\"mesh\": \"knot\", \"triangles\": 300, \"depth\": 2}, \"ring\": {\"spheres\": "
    "\"t24\"},\n"
    "  \"chair\": {\"tree\": \"chair.sactree\"}, \"ball\": {\"sphere\": 0.25}, \"pill\": {\"capsule\": "
    "{\"radius\": 0.1, \"length\": 0.4}},\n"
    "  \"crate\": {\"box\": [1, 2, 3]}, \"floor\": {\"plane\": {\"normal\": [0, 2, 0], \"offset\": -0.5}},\n"
    "  \"hill\": {\"heights\": [[0, 1, 0], [1, 2, 1]], \"spacing\": 0.5}, \"house\": {\"terrain\": "
    "\"/meshes/house.obj\"}},\n"
    "\"bodies\": [{\"shape\": \"floor\", \"name\": \"ground\"},\n"
    "  {\"shape\": \"ring\", \"name\": \"r\", \"position\": [1, 2, 3], \"rotation\": [0, 0, 0, 2], "
    "\"velocity\": [0, 1, 0],\n"
    "   \"mass\": 2, \"inertia\": [1, 1, 1], \"friction\": 0.25, \"group\": -3, \"mask\": 4294967295},\n"
    "  {\"shape\": \"knot\", \"name\": \"k\", \"later\": true, \"turn\": {\"axis\": [0, 1, 0], \"degrees\": "
    "90}},\n"
    "  {\"shape\": \"ball\", \"name\": \"n\", \"repeat\": {\"count\": [2, 3, 4], \"spacing\": [1, 2, 3], "
    "\"jitter\": 0.01, \"turned\": true}}],\n"
    "\"events\": [{\"time\": 1, \"do\": \"push\", \"body\": \"r\", \"impulse\": [1, 2, 3]}, {\"time\": 0.5, "
    "\"do\": \"create\", \"body\": \"k\"},\n"
    "  {\"time\": 2, \"do\": \"move\", \"body\": \"n 24\", \"position\": [0, 5, 0]}, {\"time\": 2, \"do\": "
    "\"gravity\", \"gravity\": [0, 0, 0]},\n"
    "  {\"time\": 3, \"do\": \"throw\", \"body\": \"r\", \"velocity\": [0, 9, 0], \"spin\": [1, 0, 0]}, "
    "{\"time\": 4, \"do\": \"destroy\", \"body\": \"r\"}]}";

static void all_that_can_be_said_comes_out(void **state)
{
    (void)state;
    sac_error error;
    char text[768];
    if (parse(everything, &error) != SAC_OK) fail_msg("%s", sac_error_text(&error, text, sizeof text));
    assert_string_equal(staging.name, "all \xc3\xa4\xf0\x9f\x98\x80");
    assert_true(staging.gravity[1] == -1.62f && staging.frames == 10 && staging.bounded && !staging.nobody);
    assert_int_equal(staging.props.count, 9);
    assert_int_equal(staging.actors.count, 3 + 24);
    assert_int_equal(staging.cues.count, 6);
    const sac_prop *p = staging.props.data;
    assert_true(p[0].kind == SAC_PROP_BAKED && p[0].builtin && p[0].triangles == 300 && p[0].depth == 2);
    assert_string_equal(p[2].source, "scenes/chair.sactree"); /* beside the scene file */
    assert_string_equal(p[8].source, "/meshes/house.obj");
    assert_true(p[4].kind == SAC_PROP_CAPSULE && p[4].half[1] == 0.2f && p[4].radius == 0.1f);
    assert_true(p[5].half[0] == 0.5f && p[5].half[2] == 1.5f);
    assert_true(p[6].normal[1] == 1 && p[6].offset == -0.5f);
    assert_true(p[7].columns == 3 && p[7].rows == 2 && p[7].heights[4] == 2);
    const sac_actor *a = staging.actors.data;
    assert_true(a[0].def.kind == SAC_BODY_STATIC); /* a plane is static unasked */
    assert_true(a[1].def.kind == SAC_BODY_DYNAMIC && a[1].def.position[2] == 3 && a[1].def.rotation[3] == 1 &&
                a[1].def.mass == 2);
    assert_true(a[1].def.inertia[2] == 1 && a[1].def.material.friction == 0.25f &&
                a[1].def.filter.group == -3);
    assert_true(a[2].later && fabsf(a[2].def.rotation[1] - 0.70710678f) < 1e-6f);
    assert_string_equal(a[26].name, "n 24");
    assert_true(fabsf(a[26].def.position[0] - 1) < 0.011f && fabsf(a[26].def.position[1] - 4) < 0.011f &&
                fabsf(a[26].def.position[2] - 9) < 0.011f);
    assert_true(staging.cues.data[0].kind == SAC_CUE_PUSH && staging.cues.data[0].actor == 1 &&
                staging.cues.data[0].vector[2] == 3);
    assert_true(staging.cues.data[2].actor == 26 && staging.cues.data[2].turn[3] == a[26].def.rotation[3]);
    sac_viewer viewer = sac_staging_viewer(&staging);
    assert_int_equal(viewer.eye_count, 2);
    assert_int_equal(sac_viewer_check(&viewer, NULL), SAC_OK);
    sac_staging_fini(&staging);
    assert_int_equal(
        parse("{\"viewer\": null, \"shapes\": {\"a\": {\"sphere\": 1}}, \"bodies\": [{\"shape\": \"a\"}]}",
              &error),
        SAC_OK);
    assert_int_equal(sac_staging_viewer(&staging).eye_count, 0);
    sac_staging_fini(&staging);
}

/* As fast as the reader allows is not too fast for a world. */
static void the_fastest_is_taken_by_a_world(void **state)
{
    (void)state;
    static const char *const fastest[] = {"[1e4, 0, 0]", "[-1e4, 0, 0]", "[6e3, 0, -8e3]",
                                          "[5773.5026, 5773.5026, 5773.5026]"};
    for (size_t i = 0; i < sizeof fastest / sizeof *fastest; i++) {
        char text[512];
        sac_error error;
        sac_world_def def = sac_default_world_def();
        sac_world *world;
        snprintf(text, sizeof text,
                 BODIES("{\"shape\": \"ball\", \"name\": \"b\", \"velocity\": %s, \"spin\": %s}"), fastest[i],
                 fastest[i]);
        assert_int_equal(parse(text, &error), SAC_OK);
        assert_int_equal(sac_world_create(&def, &world, NULL), SAC_OK);
        assert_int_equal(sac_staging_open(&staging, 1, &error), SAC_OK);
        assert_int_equal(sac_staging_raise(&staging, world, &error), SAC_OK);
        sac_world_destroy(&world);
        sac_staging_fini(&staging);
    }
}

/* Cut anywhere, or with any byte changed, it is either refused with a line or taken; sanitizers watch. */
static void no_damage_goes_wrong(void **state)
{
    (void)state;
    char copy[sizeof everything];
    sac_error error;
    size_t size = strlen(everything);
    for (size_t n = 0; n < size; n++)
        if (sac_scene_file_parse(&staging, everything, n, "cut.json", &error) == SAC_OK)
            fail_msg("taken after %zu bytes", n);
        else
            assert_true(error.line > 0 && error.message[0]);
    static const char bytes[] = "\"{[]},:0-9ex\\\n\xc3";
    for (size_t n = 0; n < size; n++)
        for (size_t b = 0; b < sizeof bytes; b++) {
            memcpy(copy, everything, sizeof copy);
            copy[n] = bytes[b];
            if (sac_scene_file_parse(&staging, copy, size, "bent.json", &error) == SAC_OK)
                sac_staging_fini(&staging);
            else
                assert_true(error.line > 0 && error.message[0]);
        }
}

/* What depends on what bodies weigh, and would come late in a run, is told before it. */
static void late_events_are_tried_first(void **state)
{
    (void)state;
    static const mistake list[] = {
        {4, "push less hard",
         EVENTS("{\"time\": 900, \"do\": \"push\", \"body\": \"b\", \"impulse\": [1e7, 0, 0]}")},
        {3, "give a mass",
         "{\"shapes\": {\"ball\": {\"sphere\": 1000}},\n\"bodies\": [\n{\"shape\": \"ball\", \"name\": "
         "\"b\", \"later\": "
         "true}],\n\"events\": [{\"time\": 900, \"do\": \"create\", \"body\": \"b\"}]}"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        sac_error error;
        char text[768];
        assert_int_equal(parse(list[i].text, &error), SAC_OK);
        assert_int_not_equal(sac_staging_open(&staging, 1, &error), SAC_OK);
        assert_int_equal(error.line, list[i].line);
        if (!strstr(sac_error_text(&error, text, sizeof text), list[i].said)) fail_msg("%s", text);
        sac_staging_fini(&staging);
    }
}

static void errors_in_other_files_name_the_scene(void **state)
{
    (void)state;
    sac_error error;
    char text[768];
    /* The line of the path, wherever the shape's name and the key are. */
    static const char *const scenes[] = {
        "{\"shapes\": {\n\n\"a\": {\"tree\": \"nowhere.sactree\"}}, \"bodies\": [{\"shape\": \"a\"}]}",
        "{\"shapes\": {\"a\": {\n\n\"mesh\": \"nowhere.obj\"}}, \"bodies\": [{\"shape\": \"a\"}]}",
        "{\"shapes\": {\n\"a\": {\"terrain\":\n\"nowhere.obj\"\n}}, \"bodies\": [{\"shape\": \"a\"}]}",
        "{\"shapes\": {\"a\":\n{\"spheres\"\n: \"nowhere.spheres\"}}, \"bodies\": [{\"shape\": \"a\"}]}"};
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        assert_int_equal(parse(scenes[i], &error), SAC_OK);
        assert_int_not_equal(sac_staging_open(&staging, 1, &error), SAC_OK);
        sac_error_text(&error, text, sizeof text);
        if (error.line != 3 || !strstr(text, "scenes/test.json:3: shape \"a\": scenes/nowhere."))
            fail_msg("%s", text);
        sac_staging_fini(&staging);
    }
    /* And of a built-in that is there, but not of triangles. */
    assert_int_equal(
        parse("{\"shapes\": {\"a\": {\n\"terrain\":\n\"t24\"\n}}, \"bodies\": [{\"shape\": \"a\"}]}", &error),
        SAC_OK);
    assert_int_not_equal(sac_staging_open(&staging, 1, &error), SAC_OK);
    sac_error_text(&error, text, sizeof text);
    if (error.line != 3 || !strstr(text, "shape \"a\": 't24' is a set of spheres")) fail_msg("%s", text);
    sac_staging_fini(&staging);
    assert_int_not_equal(sac_scene_file_read(&staging, "/no/such/file.json", &error), SAC_OK);
    assert_string_equal(error.file, "/no/such/file.json");
    assert_int_not_equal(sac_scene_file_read(&staging, "/", &error), SAC_OK);
}

/* ---- built-in scenes ---- */

static void built_in_scenes_are_what_they_say(void **state)
{
    (void)state;
    sac_error error;
    const char *about, *name;
    uint32_t count = 0;
    for (; (name = sac_staging_name(count, &about)); count++) {
        for (uint32_t bodies = 1; bodies <= 145; bodies += 48) {
            const sac_staging_def def = {.bodies = bodies};
            uint32_t moving = 0;
            assert_int_equal(sac_staging_builtin(&staging, name, &def, &error), SAC_OK);
            for (size_t i = 0; i < staging.actors.count; i++) {
                const sac_actor *a = &staging.actors.data[i];
                assert_true(a->prop < staging.props.count && sac_vec3_is_finite(a->def.position));
                moving += a->def.kind == SAC_BODY_DYNAMIC;
            }
            uint32_t scripted = staging.script_crowd ? staging.script_crowd : staging.script_most;
            assert_int_equal(moving + scripted, bodies);
            sac_viewer viewer = sac_staging_viewer(&staging);
            assert_int_equal(sac_viewer_check(&viewer, NULL), SAC_OK);
            sac_staging_fini(&staging);
        }
    }
    assert_int_equal(count, 15);
    /* However many: nobody is set up where bodies count as lost. */
    for (uint32_t i = 0; i < count; i++) {
        const sac_staging_def crowd = {.bodies = 20000};
        assert_int_equal(sac_staging_builtin(&staging, sac_staging_name(i, NULL), &crowd, &error), SAC_OK);
        sac_census census = {0};
        for (size_t k = 0; k < staging.actors.count; k++) {
            sac_body_state at = {.kind = staging.actors.data[k].def.kind};
            memcpy(at.centre, staging.actors.data[k].def.position, sizeof at.centre);
            sac_census_count(&census, &staging, &at);
        }
        assert_int_equal(census.lost, 0);
        sac_staging_fini(&staging);
    }
    const sac_staging_def def = {0}, other = {.shape = "knot", .bodies = 3}, bad = {.shape = "knto"};
    assert_int_equal(sac_staging_builtin(&staging, "plie", &def, &error), SAC_ERROR_ARGUMENT);
    assert_non_null(strstr(error.remedy, "pile"));
    assert_int_not_equal(sac_staging_builtin(&staging, "pile", &bad, &error), SAC_OK);
    assert_int_equal(sac_staging_builtin(&staging, "burst", &other, &error), SAC_OK);
    assert_string_equal(staging.props.data[0].source, "knot");
    sac_staging_fini(&staging);
    assert_int_equal(sac_staging_builtin(&staging, "wake", &def, &error), SAC_OK);
    assert_true(staging.cues.count == 1 && staging.cues.data[0].time == 8 &&
                staging.cues.data[0].vector[1] == 12);
    sac_staging_fini(&staging);
}

/* ---- gaze ---- */

static void gaze_starts_with_the_scene(void **state)
{
    (void)state;
    sac_gaze_trace trace;
    sac_error error;
    sac_staging_init(&staging, "x");
    sac_viewer viewer = sac_staging_viewer(&staging);
    FILE *file = fopen("trace-eye.csv", "w");
    assert_non_null(file);
    fputs("time_s,x,y,z,valid,confidence\n0.5,0,0,-1,1,0.9\n1.0, 1, 0, -1,,\n2,0,0,0,0,\n", file);
    fclose(file);
    assert_int_equal(sac_gaze_trace_open(&trace, "trace-eye.csv", &error), SAC_OK);
    remove("trace-eye.csv");
    sac_gaze_trace_at(&trace, 0.4, &viewer);
    assert_false(viewer.gaze.valid);
    sac_gaze_trace_at(&trace, 0.75, &viewer);
    assert_true(viewer.gaze.valid && viewer.gaze.time_ns == sac_gaze_trace_now_ns(0.5) &&
                fabsf(viewer.gaze.confidence - 0.9f) < 1e-6f);
    float along = 0, square = 0, ahead[3];
    for (int k = 0; k < 3; k++)
        ahead[k] = staging.target[k] - staging.eye[k], along += ahead[k] * viewer.gaze.direction[k],
        square += ahead[k] * ahead[k];
    assert_true(along > 0.99999f * sqrtf(square)); /* straight ahead turns with the head */
    sac_gaze_trace_at(&trace, 3, &viewer);
    assert_false(viewer.gaze.valid);
    assert_int_equal(sac_viewer_check(&viewer, NULL), SAC_OK);
    viewer.eye_count = 0;
    sac_gaze_trace_at(&trace, 0.75, &viewer);
    assert_false(viewer.gaze.valid);
    viewer.eye_count = 1;
    sac_gaze_trace_fini(&trace);
    static const char *const ways[] = {"center", "none", "sweep", "pursuit:10,4"};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(sac_gaze_trace_open(&trace, ways[i], &error), SAC_OK);
        for (int k = 0; k < 50; k++) {
            sac_gaze_trace_at(&trace, 0.37 * k, &viewer);
            assert_true(viewer.gaze.valid == (i != 1));
            assert_int_equal(sac_viewer_check(&viewer, NULL), SAC_OK);
        }
        sac_gaze_trace_fini(&trace);
    }
    assert_int_not_equal(sac_gaze_trace_open(&trace, "swep", &error), SAC_OK);
    assert_non_null(strstr(error.remedy, "sweep"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(syntax_is_told_by_line),
        cmocka_unit_test(meaning_is_told_by_line),
        cmocka_unit_test(all_that_can_be_said_comes_out),
        cmocka_unit_test(the_fastest_is_taken_by_a_world),
        cmocka_unit_test(no_damage_goes_wrong),
        cmocka_unit_test(late_events_are_tried_first),
        cmocka_unit_test(errors_in_other_files_name_the_scene),
        cmocka_unit_test(built_in_scenes_are_what_they_say),
        cmocka_unit_test(gaze_starts_with_the_scene),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
