/* Gaze sources: files with every kind of mistake, scripts that move as eyes do, stamps, delay, the log. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/rng.h"
#include "xr/gaze_internal.h"

static const uint64_t ms = 1000000, second = 1000000000;

static double yaw_of(const sac_gaze_ray *ray)
{
    return atan2((double)ray->direction[0], -(double)ray->direction[2]) * 57.29577951308232;
}

static double pitch_of(const sac_gaze_ray *ray)
{
    return asin((double)ray->direction[1]) * 57.29577951308232;
}

static sac_gaze_source *from_text(const char *csv, bool loop)
{
    sac_gaze_source *source;
    sac_error error = {0};
    char text[768];
    if (sac_gaze_source_csv_text(csv, strlen(csv), "eye.csv", loop, &source, &error) != SAC_OK)
        fail_msg("%s", sac_error_text(&error, text, sizeof text));
    return source;
}

static sac_gaze_reading at(sac_gaze_source *source, uint64_t now_ns)
{
    sac_gaze_reading reading;
    sac_gaze_source_read(source, now_ns, &reading);
    return reading;
}

/* ---- files ---- */

static void mistake(int64_t line, const char *said, const char *csv, size_t size)
{
    sac_gaze_source *source;
    sac_error error = {0};
    char text[768];
    if (sac_gaze_source_csv_text(csv, size, "eye.csv", false, &source, &error) == SAC_OK)
        fail_msg("was taken: %s", csv);
    sac_error_text(&error, text, sizeof text);
    if (error.line != line || !strstr(text, said) || strncmp(text, "eye.csv", 7) != 0 || !error.remedy[0] ||
        source)
        fail_msg("expected line %lld, '%s'; got %s", (long long)line, said, text);
}

static void every_mistake_is_told(void **state)
{
    (void)state;
#define MISTAKE(line, said, csv) mistake(line, said, csv, sizeof csv - 1)
    MISTAKE(0, "no sample", "");
    MISTAKE(0, "no sample", "# only a comment\n\n  \n");
    MISTAKE(0, "no sample", "time_s,x,y,z\n");
    /* headings */
    MISTAKE(1, "no column time_s or time_ns", "x,y,z\n0,0,-1\n");
    MISTAKE(1, "no column time_s", "hello\n");
    MISTAKE(1, "no direction", "time_s,valid\n0,1\n");
    MISTAKE(1, "two columns of time", "time_s,time_ns,x,y,z\n");
    MISTAKE(1, "two columns 'x'", "time_s,x,y,z,x\n");
    MISTAKE(1, "two columns 'left_valid'", "time_s,left_valid,x,left_valid\n");
    MISTAKE(1, "of yaw_deg and pitch_deg one is missing", "time_s,yaw_deg\n");
    MISTAKE(1, "of x, y and z one is missing", "time_s,x,z\n");
    MISTAKE(1, "of x, y and z one is missing", "time_s,x,y,z,right_x,right_y\n");
    MISTAKE(1, "of origin_x", "time_s,x,y,z,origin_x,origin_z\n");
    MISTAKE(1, "there twice", "time_s,x,y,z,yaw_deg,pitch_deg\n");
    MISTAKE(1, "does not say its unit", "time_s,yaw,pitch\n");
    MISTAKE(1, "e.g. time_s", "time,x,y,z\n");
    MISTAKE(1, "e.g. pupil_mm", "time_s,x,y,z,left_pupil\n");
    MISTAKE(1, "left eye but not its direction", "time_s,x,y,z,left_valid\n");
    MISTAKE(1, "not separated by commas", "time_s;x;y;z\n0;0;0;-1\n");
    MISTAKE(1, "not separated by commas", "time_s\tx\ty\tz\n0\t0\t0\t-1\n");
    /* rows */
    MISTAKE(2, "3 values under 4 headings", "time_s,x,y,z\n0,0,0\n");
    MISTAKE(3, "5 values under 4 headings", "time_s,x,y,z\n0,0,0,-1\n1,0,0,-1,1\n");
    MISTAKE(2, "5 values under 3 headings", "time_s,yaw_deg,pitch_deg\n0,5,1,5,0\n"); /* decimal commas */
    MISTAKE(1, "3 values, not four", "0,1,2\n");
    MISTAKE(2, "7 values, not four", "0,0,0,-1\n1,0,0,-1,1,0.5,9\n");
    MISTAKE(2, "1 values", "0,0,0,-1\nhello\n");
    MISTAKE(2, "x is 'east', not a number", "time_s,x,y,z\n0,east,0,-1\n");
    MISTAKE(2, "left_yaw_deg is '1.5deg', not a number", "time_s,left_yaw_deg,left_pitch_deg\n0,1.5deg,0\n");
    MISTAKE(2, "x is '0x10', not a number", "time_s,x,y,z\n0,0x10,0,-1\n");
    MISTAKE(2, "not finite", "time_s,x,y,z\n0,inf,0,0\n");
    MISTAKE(1, "not finite", "0,1e999,0,0\n");
    MISTAKE(2, "neither 0 nor 1", "time_s,valid,x,y,z\n0,2,0,0,-1\n");
    MISTAKE(2, "not a number", "time_s,valid,x,y,z\n0,true,0,0,-1\n");
    MISTAKE(2, "confidence is out of range", "time_s,x,y,z,confidence\n0,0,0,-1,1.5\n");
    MISTAKE(2, "confidence is out of range", "time_s,x,y,z,confidence\n0,0,0,-1,-0.1\n");
    MISTAKE(2, "pupil", "time_s,x,y,z,pupil_mm\n0,0,0,-1,0\n");
    MISTAKE(2, "pupil", "time_s,x,y,z,pupil_mm\n0,0,0,-1,3500\n");
    MISTAKE(2, "angles are out of range", "time_s,yaw_deg,pitch_deg\n0,0,91\n");
    MISTAKE(2, "angles are out of range", "time_s,yaw_deg,pitch_deg\n0,-181,0\n");
    MISTAKE(2, "origin is more than a metre", "time_s,x,y,z,origin_x,origin_y,origin_z\n0,0,0,-1,32,0,0\n");
    MISTAKE(2, "has no length", "time_s,x,y,z\n0,0,0,0\n");
    MISTAKE(2, "very large", "time_s,x,y,z\n0,1e30,0,0\n");
    MISTAKE(2, "part of the direction is missing", "time_s,x,y,z\n0,0,,-1\n");
    MISTAKE(2, "part of the direction is missing", "time_s,x,y,z,valid\n0,,,,1\n");
    MISTAKE(2, "part of the direction is missing", "time_s,yaw_deg,pitch_deg\n0,n/a,3\n");
    /* times */
    MISTAKE(2, "time is not a number", "time_s,x,y,z\n,0,0,-1\n");
    MISTAKE(1, "time is not a number", "nan,0,0,-1\n");
    MISTAKE(1, "out of range", "-1,0,0,-1\n");
    MISTAKE(1, "use time_ns", "1700000000.5,0,0,-1\n");
    MISTAKE(3, "does not come after", "0,0,0,-1\n1,0,0,-1\n1,0,0,-1\n");
    MISTAKE(2, "does not come after", "1,0,0,-1\n0.5,0,0,-1\n");
    MISTAKE(2, "time_ns is '1.5'", "time_ns,x,y,z\n1.5,0,0,-1\n");
    MISTAKE(2, "out of range", "time_ns,x,y,z\n-5,0,0,-1\n");
    MISTAKE(2, "out of range", "time_ns,x,y,z\n99999999999999999999,0,0,-1\n");
    MISTAKE(3, "does not come after", "time_ns,x,y,z\n500,0,0,-1\n400,0,0,-1\n");
    MISTAKE(3, "more than 1000000 seconds", "time_ns,x,y,z\n5,0,0,-1\n9000000000000000000,0,0,-1\n");
    /* Whatever ends the lines, they are as many. */
    MISTAKE(3, "3 values under 4 headings", "time_s,x,y,z\r0,0,0,-1\r1,0,0\r");
    MISTAKE(4, "3 values under 4 headings", "time_s,x,y,z\r\n0,0,0,-1\r\n\r\n1,0,0\r\n");
    MISTAKE(4, "3 values under 4 headings", "time_s,x,y,z\n\r0,0,0,-1\r1,0,0");
    /* bytes */
    MISTAKE(1, "neither of the head", "# space: moon\n0,0,0,-1\n");
    MISTAKE(2, "after the first sample", "0,0,0,-1\n# space: world\n1,0,0,-1\n");
    MISTAKE(2, "not text", "time_s,x,y,z\n0,0,\0,-1\n");
#undef MISTAKE
    static char wide[9000];
    memset(wide, ',', sizeof wide - 1);
    mistake(1, "longer than", wide, sizeof wide - 1);
    mistake(1, "more than 128 columns", wide, 500);
    sac_gaze_source *source;
    sac_error error = {0};
    assert_int_equal(sac_gaze_source_csv("no/such/file.csv", false, &source, &error), SAC_ERROR_IO);
    assert_true(!source && strstr(error.file, "file.csv") && error.remedy[0]);
    assert_int_equal(sac_gaze_source_csv("/", false, &source, &error), SAC_ERROR_IO);
    assert_int_equal(sac_gaze_source_csv_text("x", 1, "x", false, &source, NULL), SAC_ERROR_FORMAT);
}

static void columns_are_found_by_name(void **state)
{
    (void)state;
    sac_gaze_source *source = from_text(
        "\xef\xbb\xbf# a comment\r\n\r\n Pitch_Deg , note,\"time_s\",YAW_DEG,valid,pupil_mm,confidence\r\n"
        "10,left of it,0.5,20,1,3.25,0.5\r\n -5 ,\"x y\", 1 ,\"-90\",,n/a,\r\n,,2,,,,NaN\n,,3,,0,,\n",
        false);
    sac_gaze_source_start(source, second);
    assert_false(at(source, second + 499 * ms).cyclopean.valid);
    sac_gaze_reading r = at(source, second + 600 * ms);
    assert_true(r.cyclopean.valid && r.fresh && !r.world && r.sample_ns == second + 500 * ms);
    assert_true(fabs(yaw_of(&r.cyclopean) - 20) < 1e-4 && fabs(pitch_of(&r.cyclopean) - 10) < 1e-4);
    assert_true(r.cyclopean.pupil_mm == 3.25f && r.cyclopean.confidence == 0.5f);
    assert_false(r.left.valid || r.right.valid);
    r = at(source, second + 700 * ms);
    assert_true(!r.fresh && r.cyclopean.valid && r.sample_ns == second + 500 * ms);
    r = at(source, 2 * second);
    assert_true(r.fresh && fabs(yaw_of(&r.cyclopean) + 90) < 1e-4 && isnan(r.cyclopean.pupil_mm) &&
                isnan(r.cyclopean.confidence));
    r = at(source, 3 * second);
    assert_true(r.fresh && !r.cyclopean.valid && r.sample_ns == 3 * second && isnan(r.cyclopean.confidence));
    r = at(source, 4 * second);
    assert_true(r.fresh && !r.cyclopean.valid);
    r = at(source, 400 * second); /* stays, ageing */
    assert_true(!r.fresh && r.sample_ns == 4 * second);
    sac_gaze_source_close(&source);
    assert_null(source);
    sac_gaze_source_close(&source);

    /* Without headings, and of the world. */
    source = from_text("# space: world\n0,0,3,-4\n0.1,1,0,0,1\n0.2,0,0,0,0\n0.3,0,0,-1,1,0.25\n", false);
    sac_gaze_source_start(source, 0);
    r = at(source, 0);
    assert_true(r.world && fabsf(r.cyclopean.direction[1] - 0.6f) < 1e-6f);
    assert_false(at(source, 200 * ms).cyclopean.valid);
    assert_true(at(source, 300 * ms).cyclopean.confidence == 0.25f);
    sac_gaze_source_close(&source);
}

static void eyes_make_the_ray_between(void **state)
{
    (void)state;
    sac_gaze_source *source =
        from_text("time_ns,left_yaw_deg,left_pitch_deg,left_origin_x,left_origin_y,left_"
                  "origin_z,left_confidence,right_x,right_y,right_z,right_valid\n"
                  "1700000000000000000,-10,0,-0.032,0,0,0.5,0,0,-1,1\n"
                  "1700000000010000000,-10,0,-0.032,0,0,0.5,,,,0\n"
                  "1700000000020000000,,,,,,,,,,0\n",
                  false);
    sac_gaze_source_start(source, second); /* the first row is the start, whatever its clock */
    sac_gaze_reading r = at(source, second);
    assert_true(r.sample_ns == second && r.left.valid && r.right.valid && r.cyclopean.valid);
    assert_true(fabs(yaw_of(&r.cyclopean) + 5) < 1e-4 && fabsf(r.cyclopean.origin[0] + 0.016f) < 1e-6f);
    assert_true(isnan(r.cyclopean.confidence)); /* one eye does not say */
    r = at(source, second + 10 * ms);
    assert_true(r.left.valid && !r.right.valid && r.cyclopean.valid &&
                fabs(yaw_of(&r.cyclopean) + 10) < 1e-4);
    assert_true(r.cyclopean.confidence == 0.5f);
    r = at(source, second + 20 * ms);
    assert_true(!r.left.valid && !r.right.valid && !r.cyclopean.valid);
    sac_gaze_source_close(&source);
}

static void loops_go_round(void **state)
{
    (void)state;
    sac_gaze_source *source =
        from_text("time_s,yaw_deg,pitch_deg\n0.01,1,0\n0.02,2,0\n0.03,3,0\n0.04,4,0\n", true);
    sac_gaze_source_start(source, second);
    assert_false(at(source, second + 5 * ms).cyclopean.valid);
    uint64_t last = 0;
    for (uint64_t i = 0; i < 400; i++) {
        sac_gaze_reading r = at(source, second + 10 * ms * (i + 1) + 3 * ms);
        assert_true(r.fresh && r.sample_ns > last && r.sample_ns == second + 10 * ms * (i + 1));
        assert_true(fabs(yaw_of(&r.cyclopean) - (double)(i % 4 + 1)) < 1e-4);
        last = r.sample_ns;
    }
    sac_gaze_source_close(&source);
    source = from_text("0,0,0,-1\n", true); /* one sample, kept young */
    sac_gaze_source_start(source, second);
    sac_gaze_reading r = at(source, 100 * second);
    assert_true(r.cyclopean.valid && r.sample_ns + 10 * ms > 100 * second);
    sac_gaze_source_close(&source);
}

/* A program that speaks German still reads and writes points. */
static void numbers_have_points_in_every_language(void **state)
{
    (void)state;
    const char *languages[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8"};
    for (int i = 0; i < 3; i++)
        if (setlocale(LC_ALL, languages[i])) break;
    sac_gaze_source *source = from_text("0.5,0.5,0,-0.5\n", false);
    sac_gaze_source_start(source, 0);
    assert_true(fabs(yaw_of(&(sac_gaze_ray){.direction = {0.5f, 0, -0.5f}}) - 45) < 1e-4);
    sac_gaze_reading r = at(source, second);
    assert_true(fabs(yaw_of(&r.cyclopean) - 45) < 1e-4);
    sac_gaze_source_close(&source);
    setlocale(LC_ALL, "C");
}

/* ---- scripts ---- */

static sac_gaze_source *script(const char *text, uint64_t delay_ns)
{
    sac_gaze_source *source;
    sac_error error = {0};
    if (sac_gaze_source_script(text, delay_ns, &source, &error) != SAC_OK) fail_msg("%s", error.message);
    return source;
}

static void scripts_are_checked(void **state)
{
    (void)state;
    const char *const wrong[] = {"",
                                 "fixation",
                                 "fixation:",
                                 "fixation:1",
                                 "fixation:1,2,3",
                                 "fixation:a,b",
                                 "fixation:181,0",
                                 "fixation:0,nan",
                                 "pursuit:10",
                                 "pursuit:10,0",
                                 "pursuit:-1,2",
                                 "pursuit:90,2",
                                 "saccades",
                                 "saccades:",
                                 "saccades:-1",
                                 "saccades:1.5",
                                 "saccades:x",
                                 "sweep:1",
                                 "sweep@",
                                 "sweep@0",
                                 "sweep@fast",
                                 "sweep@99999",
                                 "head:2",
                                 "stare",
                                 "Sweep"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        sac_gaze_source *source;
        sac_error error = {0};
        if (sac_gaze_source_script(wrong[i], 0, &source, &error) == SAC_OK)
            fail_msg("was taken: %s", wrong[i]);
        assert_true(!source && error.message[0] && strstr(error.remedy, "fixation:YAW,PITCH"));
    }
    sac_gaze_source *source;
    sac_error error = {0};
    assert_int_equal(sac_gaze_source_open("swep", &source, &error), SAC_ERROR_ARGUMENT);
    assert_non_null(strstr(error.remedy, "sweep"));
    assert_int_equal(sac_gaze_source_open("swep.csv", &source, &error), SAC_ERROR_IO);
    assert_string_equal(error.file, "swep.csv");
    assert_int_equal(sac_gaze_source_open("fixation:7", &source, &error), SAC_ERROR_ARGUMENT);
    const char *const right[] = {"head", "center", "sweep@60", "fixation:1,-2", "pursuit:5,2", "saccades:1"};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(sac_gaze_source_open(right[i], &source, &error), SAC_OK);
        if (i != 1) assert_string_equal(sac_gaze_source_name(source), right[i]);
        sac_gaze_reading r = at(source, second);
        assert_int_equal(r.cyclopean.valid, i != 0);
        sac_gaze_source_close(&source);
    }
}

static void fixation_and_pursuit(void **state)
{
    (void)state;
    sac_gaze_source *source = script("fixation:12.5,-8", 0);
    for (uint64_t i = 0; i < 100; i++) {
        sac_gaze_reading r = at(source, second + 7 * ms * i);
        assert_true(r.fresh && r.sample_ns == second + 7 * ms * i && r.cyclopean.valid);
        assert_true(fabs(yaw_of(&r.cyclopean) - 12.5) < 1e-4 && fabs(pitch_of(&r.cyclopean) + 8) < 1e-4);
    }
    sac_gaze_source_close(&source);
    source = script("pursuit:10,4", 0);
    for (uint64_t i = 0; i < 2000; i++) {
        sac_gaze_reading r = at(source, second + 4 * ms * i);
        double yaw = yaw_of(&r.cyclopean), pitch = pitch_of(&r.cyclopean);
        assert_true(fabs(sqrt(yaw * yaw + pitch * pitch) - 10) < 1e-3);
        if (i % 1000 == 0) assert_true(fabs(yaw - 10) < 1e-3); /* a round in four seconds */
        if (i % 1000 == 250) assert_true(fabs(pitch - 10) < 1e-3);
    }
    sac_gaze_source_close(&source);
}

/* Every saccade found in the samples lies on the main sequence; blinks come every few seconds and are short.
 */
static void saccades_move_as_eyes_do(void **state)
{
    (void)state;
    sac_gaze_source *source = script("saccades:7@1000", 0);
    sac_gaze_reading before = at(source, second), from = before;
    int saccades = 0, blinks = 0, closed = 0;
    bool moving = false;
    double peak = 0, most = 0;
    uint64_t begun = 0;
    const uint64_t seconds = 60;
    for (uint64_t i = 1; i < 1000 * seconds; i++) {
        sac_gaze_reading r = at(source, second + ms * i);
        if (r.cyclopean.valid && before.cyclopean.valid) {
            double speed = hypot(yaw_of(&r.cyclopean) - yaw_of(&before.cyclopean),
                                 pitch_of(&r.cyclopean) - pitch_of(&before.cyclopean)) /
                           0.001;
            if (speed > 0 && !moving) moving = true, begun = i - 1, from = before, peak = 0;
            if (moving && speed > peak) peak = speed;
            if (moving && speed == 0) {
                double size = hypot(yaw_of(&r.cyclopean) - yaw_of(&from.cyclopean),
                                    pitch_of(&r.cyclopean) - pitch_of(&from.cyclopean));
                double took = (double)(i - 1 - begun) * 0.001, mean = size / (0.021 + 0.0022 * size);
                assert_true(fabs(took - (0.021 + 0.0022 * size)) < 0.0035);
                assert_true(peak > 1.75 * mean && peak < 1.9 * mean);
                if (size > most) most = size;
                moving = false;
                saccades++;
            }
        }
        if (!r.cyclopean.valid) closed++;
        if (!r.cyclopean.valid && before.cyclopean.valid) blinks++;
        before = r;
    }
    assert_in_range(saccades, 90, 190);
    assert_in_range(blinks, 8, 25);
    assert_in_range(closed, blinks * 95, blinks * 205);
    assert_true(most > 20 && most < 47);
    sac_gaze_source_close(&source);
}

/* The same seed gives the same bits whenever and in whatever order it is asked; another seed others. */
static void scripts_repeat_themselves(void **state)
{
    (void)state;
    sac_gaze_source *a = script("saccades:3", 0), *b = script("saccades:3", 0), *c = script("saccades:4", 0);
    sac_gaze_source_start(a, second);
    sac_gaze_source_start(b, second);
    sac_gaze_source_start(c, second);
    sac_rng rng = sac_rng_seed(5);
    int differ = 0;
    for (int i = 0; i < 3000; i++) {
        uint64_t now = second + sac_rng_next(&rng) % (1000 * second);
        at(a, second + sac_rng_next(&rng) % (1000 * second));
        sac_gaze_reading x = at(a, now), y = at(b, now), z = at(c, now);
        assert_memory_equal(x.cyclopean.direction, y.cyclopean.direction, sizeof x.cyclopean.direction);
        assert_true(x.cyclopean.valid == y.cyclopean.valid && x.sample_ns == y.sample_ns);
        differ += memcmp(x.cyclopean.direction, z.cyclopean.direction, sizeof x.cyclopean.direction) != 0;
    }
    assert_true(differ > 2000);
    /* Very far away it neither hangs nor breaks. */
    sac_gaze_reading far_away = at(a, UINT64_MAX);
    assert_true(fabs(yaw_of(&far_away.cyclopean)) < 21);
    sac_gaze_source_close(&a);
    sac_gaze_source_close(&b);
    sac_gaze_source_close(&c);
}

/* ---- stamps and delay ---- */

/* A tracker at 60 Hz under a display at 90: two of three frames are news, and each sample is news once. */
static void duplicates_are_known_by_their_stamps(void **state)
{
    (void)state;
    sac_gaze_source *source = script("sweep@60", 0);
    sac_gaze_source_start(source, second);
    int fresh = 0;
    uint64_t last = 0;
    for (uint64_t i = 0; i < 900; i++) {
        uint64_t now = second + i * second / 90;
        sac_gaze_reading r = at(source, now);
        assert_true(r.sample_ns <= now && now - r.sample_ns < 16666668);
        assert_int_equal(r.fresh, r.sample_ns != last);
        assert_true(r.sample_ns >= last);
        fresh += r.fresh;
        last = r.sample_ns;
    }
    assert_in_range(fresh, 599, 601);
    sac_gaze_source_close(&source);
}

static void delay_makes_samples_late(void **state)
{
    (void)state;
    const uint64_t delays[] = {0, 5 * ms, 35 * ms, 300 * ms};
    sac_gaze_source *prompt =
        from_text("time_s,yaw_deg,pitch_deg\n0,0,0\n0.1,1,0\n0.2,2,0\n0.3,3,0\n", false);
    sac_gaze_source_start(prompt, second);
    for (int d = 0; d < 4; d++) {
        sac_gaze_source *late =
            from_text("time_s,yaw_deg,pitch_deg\n0,0,0\n0.1,1,0\n0.2,2,0\n0.3,3,0\n", false);
        sac_gaze_source_start(late, second);
        sac_gaze_source_delay(late, delays[d]);
        for (uint64_t i = 0; i < 700; i++) {
            uint64_t now = second + i * ms;
            sac_gaze_reading l = at(late, now);
            if (now < second + delays[d]) {
                assert_true(!l.cyclopean.valid && l.sample_ns == 0);
                continue;
            }
            sac_gaze_reading p = at(prompt, now - delays[d]);
            assert_true(l.sample_ns == p.sample_ns && l.cyclopean.valid);
            assert_memory_equal(l.cyclopean.direction, p.cyclopean.direction, sizeof p.cyclopean.direction);
        }
        sac_gaze_source_close(&late);
    }
    sac_gaze_source_close(&prompt);
    sac_gaze_source *source = script("pursuit:10,1", 50 * ms);
    assert_false(at(source, 10 * ms).cyclopean.valid); /* starts here; nothing is older than time itself */
    assert_true(at(source, 60 * ms).sample_ns == 10 * ms);
    sac_gaze_source_close(&source);
}

static void feeds_say_what_they_are_given(void **state)
{
    (void)state;
    sac_gaze_source *source;
    assert_int_equal(sac_gaze_source_feed(&source, NULL), SAC_OK);
    sac_gaze_reading r = at(source, second);
    assert_true(!r.cyclopean.valid && !r.fresh);
    sac_gaze_reading given = r;
    given.cyclopean.valid = true;
    given.fresh = true;
    for (uint64_t i = 0; i < 1000; i++) {
        given.sample_ns = second + i * 10 * ms;
        sac_gaze_direction((double)(i % 50), 0, given.cyclopean.direction);
        sac_gaze_source_give(source, &given);
        r = at(source, given.sample_ns + 2 * ms);
        assert_true(r.fresh && r.sample_ns == given.sample_ns);
        assert_memory_equal(r.cyclopean.direction, given.cyclopean.direction, sizeof(float[3]));
        sac_gaze_source_give(source, &given); /* a tracker that repeats itself */
        assert_false(at(source, given.sample_ns + 8 * ms).fresh);
    }
    sac_gaze_source_delay(source, 101 * ms);
    r = at(source, given.sample_ns + 5 * ms);
    assert_true(r.sample_ns == given.sample_ns - 100 * ms);
    /* Without stamps news is what differs, and nothing can be held back. */
    given.sample_ns = 0;
    sac_gaze_source_give(source, &given);
    assert_true(at(source, second).fresh);
    assert_false(at(source, second).fresh);
    given.cyclopean.direction[0] += 0.01f;
    sac_gaze_source_give(source, &given);
    assert_true(at(source, second).fresh);
    sac_gaze_source_close(&source);
}

/* ---- into the world ---- */

static void pixels_have_directions(void **state)
{
    (void)state;
    sac_eye eye = {
        .rotation = {0, 0, 0, 1}, .fov_left = -0.7f, .fov_right = 0.5f, .fov_up = 0.4f, .fov_down = -0.6f};
    sac_gaze_ray ray;
    const float corner[4][4] = {
        {0, 0, -0.7f, 0.4f}, {800, 0, 0.5f, 0.4f}, {0, 600, -0.7f, -0.6f}, {800, 600, 0.5f, -0.6f}};
    for (int i = 0; i < 4; i++) {
        sac_gaze_from_pixel(&eye, 800, 600, corner[i][0], corner[i][1], &ray);
        assert_true(ray.valid && ray.direction[2] < 0 && isnan(ray.pupil_mm));
        assert_true(fabs(atan2((double)ray.direction[0], -(double)ray.direction[2]) - (double)corner[i][2]) <
                    1e-5);
        assert_true(fabs(atan2((double)ray.direction[1], -(double)ray.direction[2]) - (double)corner[i][3]) <
                    1e-5);
        double square = 0;
        for (int k = 0; k < 3; k++) square += (double)ray.direction[k] * (double)ray.direction[k];
        assert_true(fabs(square - 1) < 1e-6);
    }
    sac_gaze_from_pixel(&eye, 0, 600, 1, 1, &ray);
    assert_false(ray.valid);
    sac_gaze_from_pixel(&eye, 800, 600, NAN, 1, &ray);
    assert_false(ray.valid);
}

static void gaze_turns_with_the_head(void **state)
{
    (void)state;
    sac_gaze_reading reading = {.sample_ns = 77, .cyclopean = sac_gaze_ray_none()};
    reading.cyclopean.valid = true;
    reading.cyclopean.confidence = 0.75f;
    reading.cyclopean.origin[0] = 0.5f;
    float half = sqrtf(0.5f), position[3] = {1, 2, 3},
          rotation[4] = {0, half, 0, half}; /* quarter turn left */
    sac_gaze_sample sample;
    sac_gaze_to_viewer(&reading, position, rotation, &sample);
    assert_true(sample.valid && sample.time_ns == 77 && sample.confidence == 0.75f);
    assert_true(fabsf(sample.direction[0] + 1) < 1e-6f && fabsf(sample.direction[2]) < 1e-6f);
    assert_true(fabsf(sample.origin[0] - 1) < 1e-6f && fabsf(sample.origin[2] - 2.5f) < 1e-6f);
    reading.world = true;
    sac_gaze_to_viewer(&reading, position, rotation, &sample);
    assert_true(sample.direction[2] == -1 && sample.origin[0] == 0.5f);
    reading.cyclopean.valid = false;
    sac_gaze_to_viewer(&reading, position, rotation, &sample);
    assert_false(sample.valid);
}

/* ---- the log ---- */

static void nothing_is_written_without_consent(void **state)
{
    (void)state;
    sac_gaze_log *log;
    sac_error error = {0};
    remove("gaze-consent.csv");
    assert_int_equal(sac_gaze_log_open("gaze-consent.csv", false, &log, &error), SAC_ERROR_ARGUMENT);
    assert_true(!log && strstr(error.message, "personal") && strstr(error.remedy, "agreed"));
    struct stat info;
    assert_int_not_equal(stat("gaze-consent.csv", &info), 0);
    assert_int_equal(sac_gaze_log_open("gaze-consent.csv", true, &log, &error), SAC_OK);
    assert_int_equal(stat("gaze-consent.csv", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    sac_gaze_log *second_log; /* never over what is there */
    assert_int_equal(sac_gaze_log_open("gaze-consent.csv", true, &second_log, &error), SAC_ERROR_IO);
    assert_true(!second_log && strstr(error.remedy, "another name"));
    assert_int_equal(sac_gaze_log_close(&log, &error), SAC_OK);
    assert_null(log);
    remove("gaze-consent.csv");
    assert_int_equal(sac_gaze_log_open("no/such/folder/gaze.csv", true, &log, &error), SAC_ERROR_IO);
    assert_true(!log && error.remedy[0] && strstr(error.file, "gaze.csv"));
    if (sac_gaze_log_open("/dev/full", true, &log, &error) == SAC_OK) fail_msg("/dev/full was made anew");
}

static bool same(const sac_gaze_ray *a, const sac_gaze_ray *b)
{
    if (a->valid != b->valid || isnan(a->confidence) != isnan(b->confidence) ||
        isnan(a->pupil_mm) != isnan(b->pupil_mm))
        return false;
    if (!isnan(a->confidence) && a->confidence != b->confidence) return false;
    if (!isnan(a->pupil_mm) && a->pupil_mm != b->pupil_mm) return false;
    for (int k = 0; k < 3 && a->valid; k++)
        if (fabsf(a->direction[k] - b->direction[k]) > 2e-7f || a->origin[k] != b->origin[k]) return false;
    return true;
}

/* What goes into the log comes out of the file, sample for sample, and missing stays missing. */
static void log_and_recording_agree(void **state)
{
    (void)state;
    enum { COUNT = 500 };
    static sac_gaze_reading written[COUNT];
    sac_gaze_log *log;
    sac_error error = {0};
    sac_rng rng = sac_rng_seed(12);
    const uint64_t start = 123456789012345;
    remove("gaze-log.csv");
    assert_int_equal(sac_gaze_log_open("gaze-log.csv", true, &log, &error), SAC_OK);
    uint64_t now = start;
    for (int i = 0; i < COUNT; i++) {
        sac_gaze_reading *r = &written[i];
        sac_gaze_ray *rays[] = {&r->cyclopean, &r->left, &r->right};
        now += 1 + sac_rng_below(&rng, 20000000);
        *r = (sac_gaze_reading){.fresh = true, .sample_ns = now};
        for (int e = 0; e < 3; e++) {
            *rays[e] = sac_gaze_ray_none();
            rays[e]->valid = sac_rng_below(&rng, 4) > 0;
            sac_gaze_direction((double)sac_rng_range(&rng, -60, 60), (double)sac_rng_range(&rng, -40, 40),
                               rays[e]->direction);
            for (int k = 0; k < 3; k++) rays[e]->origin[k] = sac_rng_range(&rng, -0.1f, 0.1f);
            if (sac_rng_below(&rng, 2)) rays[e]->confidence = sac_rng_float(&rng);
            if (sac_rng_below(&rng, 2)) rays[e]->pupil_mm = sac_rng_range(&rng, 2, 8);
        }
        assert_int_equal(sac_gaze_log_write(log, now + 3000000, r, &error), SAC_OK);
        sac_gaze_reading again = *r;
        again.fresh = false; /* not written twice */
        assert_int_equal(sac_gaze_log_write(log, now + 9000000, &again, &error), SAC_OK);
    }
    sac_gaze_reading elsewhere = written[0];
    elsewhere.world = true;
    elsewhere.sample_ns = now + 50;
    assert_int_equal(sac_gaze_log_write(log, now + 50, &elsewhere, &error), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_gaze_log_close(&log, &error), SAC_OK);
    sac_gaze_source *source;
    char text[512];
    if (sac_gaze_source_csv("gaze-log.csv", false, &source, &error) != SAC_OK)
        fail_msg("%s", sac_error_text(&error, text, sizeof text));
    sac_gaze_source_start(source, written[0].sample_ns);
    for (int i = 0; i < COUNT; i++) {
        sac_gaze_reading r = at(source, written[i].sample_ns);
        assert_true(r.fresh && r.sample_ns == written[i].sample_ns);
        assert_true(same(&r.cyclopean, &written[i].cyclopean) && same(&r.left, &written[i].left) &&
                    same(&r.right, &written[i].right));
    }
    sac_gaze_source_close(&source);
    /* On paper: empty, never 0 or nan. */
    FILE *file = fopen("gaze-log.csv", "r");
    assert_non_null(file);
    char line[1024];
    int rows = 0, invalid = 0;
    while (fgets(line, sizeof line, file)) {
        assert_null(strstr(line, "nan"));
        if (line[0] == '#' || line[0] == 't') continue;
        const char *ray = strchr(strchr(strchr(line, ',') + 1, ',') + 1, ',');
        if (strncmp(ray, ",0,", 3) == 0) {
            assert_true(strncmp(ray, ",0,,,,,,,", 9) == 0);
            invalid++;
        }
        rows++;
    }
    fclose(file);
    assert_int_equal(rows, COUNT);
    assert_true(invalid > 50);
    remove("gaze-log.csv");
}

/* A source that does not say when: the row has the time it was read, and says that it is that. */
static void log_without_sample_times(void **state)
{
    (void)state;
    sac_gaze_log *log;
    sac_error error = {0};
    remove("gaze-log.csv");
    assert_int_equal(sac_gaze_log_open("gaze-log.csv", true, &log, &error), SAC_OK);
    sac_gaze_reading r = {.fresh = true, .cyclopean = sac_gaze_ray_none()};
    r.left = r.right = r.cyclopean;
    r.cyclopean.valid = true;
    for (uint64_t i = 0; i < 3; i++) sac_gaze_log_write(log, 1000 + i, &r, &error);
    /* A tracker that predicts, then a blink without a stamp: it is not lost behind the sample of the future.
     */
    r.sample_ns = 5000;
    sac_gaze_log_write(log, 2000, &r, &error);
    sac_gaze_log_write(log, 2500, &r, &error); /* again */
    r.sample_ns = 0;
    r.cyclopean.valid = false;
    sac_gaze_log_write(log, 3000, &r, &error);
    assert_int_equal(sac_gaze_log_close(&log, &error), SAC_OK);
    FILE *file = fopen("gaze-log.csv", "r");
    assert_non_null(file);
    char text[2048];
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    assert_non_null(strstr(text, "\n1000,,1000,1,0,0,-1,0,0,0,,,0,"));
    assert_non_null(strstr(text, "\n1002,,1002,"));
    assert_non_null(strstr(text, "\n5000,5000,2000,1,"));
    assert_null(strstr(text, ",2500,"));
    assert_non_null(strstr(text, "\n5001,,3000,0,,,,"));
    remove("gaze-log.csv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mistake_is_told),
        cmocka_unit_test(columns_are_found_by_name),
        cmocka_unit_test(eyes_make_the_ray_between),
        cmocka_unit_test(loops_go_round),
        cmocka_unit_test(numbers_have_points_in_every_language),
        cmocka_unit_test(scripts_are_checked),
        cmocka_unit_test(fixation_and_pursuit),
        cmocka_unit_test(saccades_move_as_eyes_do),
        cmocka_unit_test(scripts_repeat_themselves),
        cmocka_unit_test(duplicates_are_known_by_their_stamps),
        cmocka_unit_test(delay_makes_samples_late),
        cmocka_unit_test(feeds_say_what_they_are_given),
        cmocka_unit_test(pixels_have_directions),
        cmocka_unit_test(gaze_turns_with_the_head),
        cmocka_unit_test(nothing_is_written_without_consent),
        cmocka_unit_test(log_and_recording_agree),
        cmocka_unit_test(log_without_sample_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
