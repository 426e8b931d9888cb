/* saccade xr as a person runs it, against a real runtime: every frame's books, gaze that comes and goes,
 * stalls, a service that dies, both validation layers, two at once, a picture of the whole. Run by
 * scripts/xr-test --plain; the name of the test is the argument. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sys/stat.h>

#include "xr_play.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

enum { MOST_WORDS = 40, MOST_ROWS = 1200, TEXT = 1 << 20 };

/* ---- running it ---- */

typedef struct child {
    pid_t pid;
    char out[256], err[256]; /* files */
    int code;                /* -1: ended by a signal */
} child;

static char folder[200];

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "%s/saccade-xr-program.XXXXXX",
             getenv("XDG_RUNTIME_DIR") ? getenv("XDG_RUNTIME_DIR") : "/tmp");
    assert_non_null(mkdtemp(folder)); /* goes with the folder of the service */
}

/* Words after "saccade"; a word NAME=VALUE in front goes to the environment. */
static void start(child *c, const char *name, const char *const *words)
{
    const char *runner = getenv("SACCADE_XR_RUN");
    assert_non_null(runner);
    snprintf(c->out, sizeof c->out, "%s/%s.out", folder, name);
    snprintf(c->err, sizeof c->err, "%s/%s.err", folder, name);
    c->pid = fork();
    assert_int_not_equal(c->pid, -1);
    if (c->pid) return;
    const char *line[MOST_WORDS] = {runner, SACCADE_PROGRAM};
    size_t count = 2;
    for (const char *is; *words && **words != '-' && (is = strchr(*words, '=')); words++) {
        char variable[64];
        snprintf(variable, sizeof variable, "%.*s", (int)(is - *words), *words);
        setenv(variable, is + 1, 1);
    }
    while (*words && count + 1 < MOST_WORDS) line[count++] = *words++;
    if (!freopen("/dev/null", "r", stdin) || !freopen(c->out, "w", stdout) || !freopen(c->err, "w", stderr))
        _exit(126);
    execv(runner, (char *const *)(uintptr_t)line);
    _exit(127);
}

static void finish(child *c)
{
    int status = 0;
    assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
    c->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static char *read_file(const char *path)
{
    static char text[2][TEXT];
    static int turn;
    char *to = text[turn++ % 2];
    FILE *file = fopen(path, "r");
    size_t count = 0;
    if (file) {
        count = fread(to, 1, TEXT - 1, file);
        fclose(file);
    }
    to[count] = 0;
    return to;
}

/* The summary; released by the caller. */
static json_t *summary(const child *c)
{
    json_error_t error;
    if (c->code != 0) fail_msg("exit %d: %s%s", c->code, read_file(c->err), read_file(c->out));
    json_t *object = json_loads(read_file(c->out), 0, &error);
    if (!object) fail_msg("no JSON: %s", read_file(c->out));
    return object;
}

/* Until it says that it is in the headset; then so many frames more. */
static void wait_focused(const child *c, double ms)
{
    for (int i = 0; i < 1200 && !strstr(read_file(c->err), "focused after"); i++) play_sleep_ms(50);
    if (!strstr(read_file(c->err), "focused after"))
        fail_msg("not focused within a minute: %s", read_file(c->err));
    play_sleep_ms(ms);
}

static json_t *run(const char *name, const char *const *words)
{
    child c;
    start(&c, name, words);
    finish(&c);
    return summary(&c);
}

static json_int_t whole(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    if (!json_is_integer(value)) fail_msg("no number %s", name);
    return json_integer_value(value);
}
static double number(const json_t *object, const char *outer, const char *inner)
{
    return json_number_value(
        json_object_get(inner ? json_object_get(object, outer) : object, inner ? inner : outer));
}
static bool went_through(const json_t *object, const char *state)
{
    size_t i;
    json_t *value;
    json_array_foreach(json_object_get(object, "states"), i,
                       value) if (!strcmp(json_string_value(value), state)) return true;
    return false;
}

/* ---- the books ---- */

typedef struct row {
    char state[24];
    double frame, wait_begin, wait_end, predicted, predicted_xr, period, should_render, begin, end, missed,
        late, strange;
    double deadline, physics_end, steps, head[7], gaze_valid, gaze_fresh, gaze_sample, gaze[3];
} row;

static row rows[MOST_ROWS];

/* Times are below 2^53 ns for a hundred days after the machine was started. */
static size_t read_books(const char *path)
{
    char *text = read_file(path), *line = strchr(text, '\n');
    size_t count = 0;
    assert_non_null(line);
    for (line++; *line && count < MOST_ROWS; count++) {
        char *end = strchr(line, '\n');
        assert_non_null(end);
        *end = 0;
        row *r = &rows[count];
        double *const fields[] = {
            &r->frame,        NULL,        &r->wait_begin,    &r->wait_end,   &r->predicted,
            &r->predicted_xr, &r->period,  &r->should_render, &r->begin,      NULL,
            &r->end,          &r->missed,  &r->late,          &r->strange,    &r->deadline,
            &r->physics_end,  NULL,        &r->steps,         NULL,           NULL,
            &r->head[0],      &r->head[1], &r->head[2],       &r->head[3],    &r->head[4],
            &r->head[5],      &r->head[6], &r->gaze_valid,    &r->gaze_fresh, &r->gaze_sample,
            &r->gaze[0],      &r->gaze[1], &r->gaze[2]};
        enum { FIELDS = sizeof fields / sizeof *fields };
        char *at = line;
        for (int i = 0; i < FIELDS; i++) {
            char *comma = strchr(at, ',');
            assert_true((comma != NULL) == (i + 1 < FIELDS));
            if (comma) *comma = 0;
            if (i == 1) snprintf(r->state, sizeof r->state, "%.23s", at);
            if (fields[i]) *fields[i] = *at ? strtod(at, NULL) : 0;
            at = comma ? comma + 1 : at;
        }
        line = end + 1;
    }
    return count;
}

/* What holds for every frame of every run. */
static void check_books(size_t count, const json_t *s)
{
    double missed = 0, late = 0, steps = 0, period = 0;
    for (size_t i = 0; i < count; i++) {
        const row *r = &rows[i], *before = i ? r - 1 : NULL;
        assert_true(r->frame == (double)i);
        assert_true(r->wait_begin <= r->wait_end && r->wait_end <= r->begin);
        assert_true(r->begin <= r->physics_end && r->physics_end <= r->end);
        assert_true(!before || before->end <= r->wait_begin);
        assert_true(r->deadline > r->begin && r->deadline < r->begin + 200e6);
        assert_true(r->late == (r->end > r->predicted));
        /* Missed: reckoned again, from the runtime's own words. The first frame's period is not believed, and
         * where it changes the longer one counts. */
        double expected = 0;
        if (before && r->predicted_xr > before->predicted_xr) {
            double by = r->period;
            if (period > 0 && fabs(period - by) > 0.1 * fmax(period, by)) by = fmax(period, by);
            expected = floor((r->predicted_xr - before->predicted_xr) / by + 0.5) - 1;
            period = r->period;
        }
        /* A frame made for nobody's time hides what the next one counts: on a very slow machine, the first
         * pictures. */
        const bool plain = !r->strange && before && !before->strange;
        if (plain && r->missed != fmax(expected, 0))
            fail_msg("frame %d: %g missed, %g expected", (int)i, r->missed, expected);
        missed += r->missed, late += r->late, steps += r->steps;
        assert_true(r->steps <= 8);
        const float *q =
            (const float[]){(float)r->head[3], (float)r->head[4], (float)r->head[5], (float)r->head[6]};
        assert_true(fabsf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1) < 1e-3f);
        /* Fresh means another time stamp than the last sample had. */
        if (r->gaze_valid && r->gaze_sample > 0 && before && before->gaze_valid)
            assert_true(r->gaze_fresh == (r->gaze_sample != before->gaze_sample));
        if (r->gaze_valid) {
            const double *g = r->gaze;
            assert_true(fabs(g[0] * g[0] + g[1] * g[1] + g[2] * g[2] - 1) < 1e-3);
        }
    }
    assert_int_equal(whole(s, "frames"), count);
    assert_int_equal(whole(s, "missed"), (json_int_t)missed);
    assert_int_equal(whole(s, "late"), (json_int_t)late);
    assert_true(whole(s, "steps") >= (json_int_t)steps);
    assert_int_equal(whole(s, "allocations_after_warm_up"), 0);
}

static const char *out_folder(const char *name)
{
    static char path[2][300];
    static int turn;
    char *to = path[turn++ % 2];
    snprintf(to, sizeof path[0], "%s/%s", folder, name);
    return to;
}
static size_t books_of(const char *out)
{
    char path[400];
    snprintf(path, sizeof path, "%s/frames.csv", out);
    return read_books(path);
}

#define LAYER "XR_API_LAYER_PATH=" SACCADE_LAYER_PATH, "XR_ENABLE_API_LAYERS=XR_APILAYER_SACCADE_gaze_replay"
#define LIGHT "--samples", "1", "--shadow", "256", "--json"

/* ---- tests ---- */

static void hailstorm(void **state)
{
    (void)state;
    const char *out = out_folder("hailstorm");
    json_t *s =
        run("hailstorm", (const char *[]){LAYER, "SACCADE_GAZE=saccades:7@120", "xr", "hailstorm", "--bodies",
                                          "60", "--frames", "300", "--out", out, LIGHT, NULL});
    const size_t count = books_of(out);
    assert_true(count >= 300 && count < 330);
    check_books(count, s);
    assert_true(went_through(s, "FOCUSED") && went_through(s, "EXITING"));
    /* 300 frames, a tracker of 120 Hz and a display of 20: hardly a sample comes twice. */
    const json_t *gaze = json_object_get(s, "gaze");
    assert_true(json_is_true(json_object_get(gaze, "headset_has_it")));
    assert_true(whole(gaze, "fresh") > 200 && whole(gaze, "duplicate") < 30);
    size_t valid = 0;
    for (size_t i = 0; i < count; i++) valid += rows[i].gaze_valid > 0;
    assert_int_equal(valid, whole(gaze, "fresh") + whole(gaze, "duplicate"));
    print_message("FOCUSED after %.0f ms; missed %d; physics past its slice, us: median %.0f, 99 %% %.0f; "
                  "room, ms: median %.3f, 99 %% %.3f\n",
                  number(s, "focused_ms", NULL), (int)whole(s, "missed"), number(s, "physics_over_us", "p50"),
                  number(s, "physics_over_us", "p99"), number(s, "room_ms", "p50"),
                  number(s, "room_ms", "p99"));
    json_decref(s);
}

/* Samples slower than the display: each is seen two or three times, and counted once. */
static void gaze_duplicates(void **state)
{
    (void)state;
    const char *out = out_folder("slow");
    json_t *s = run("slow", (const char *[]){LAYER, "SACCADE_GAZE=pursuit:10,4@8", "xr", "billiards",
                                             "--frames", "80", "--out", out, LIGHT, NULL});
    const size_t count = books_of(out);
    check_books(count, s);
    const json_t *gaze = json_object_get(s, "gaze");
    const json_int_t fresh = whole(gaze, "fresh"), twice = whole(gaze, "duplicate");
    json_int_t distinct = 0;
    double last = 0;
    for (size_t i = 0; i < count; i++) {
        if (!rows[i].gaze_valid || rows[i].gaze_sample == last) continue;
        /* Samples lie an eighth of a second apart, or several. */
        const double apart = (rows[i].gaze_sample - last) / 125e6;
        if (last > 0) assert_true(apart > 0.5 && fabs(apart - floor(apart + 0.5)) < 1e-3);
        last = rows[i].gaze_sample;
        distinct++;
    }
    print_message("%d samples, seen again %d times\n", (int)fresh, (int)twice);
    assert_int_equal(fresh, distinct);
    assert_true(twice > 10);
    /* Its stamp is on our clock, and not older than it can be. */
    for (size_t i = 0; i < count; i++)
        if (rows[i].gaze_valid) {
            assert_true(rows[i].gaze_sample <= rows[i].predicted + 1e6);
            assert_true(rows[i].gaze_sample > rows[i].predicted - 200e6);
        }
    json_decref(s);
}

static void gaze_lost(void **state)
{
    (void)state;
    const char *out = out_folder("lost");
    json_t *s =
        run("lost", (const char *[]){LAYER, "SACCADE_GAZE=sweep@120", "SACCADE_FAULT_GAZE_LOST=30-49,60",
                                     "xr", "billiards", "--frames", "80", "--out", out, LIGHT, NULL});
    const size_t count = books_of(out);
    check_books(count, s);
    /* The layer counts frames from 1, the books from 0. */
    for (size_t i = 10; i < count && i < 78; i++) {
        const bool lost = (i >= 29 && i <= 48) || i == 59;
        if ((rows[i].gaze_valid > 0) == lost)
            fail_msg("frame %d: gaze %s", (int)i, lost ? "there" : "not there");
        if (!lost && i && !rows[i - 1].gaze_valid) assert_true(rows[i].gaze_fresh > 0);
    }
    assert_true(whole(json_object_get(s, "gaze"), "lost") >= 21);
    json_decref(s);
}

/* Stalls put in by the layer, on a machine that may have some of its own: where it had none, equal. */
static void layer_stalls(void **state)
{
    (void)state;
    for (int try = 0; try < 6; try++) {
        char name[24];
        snprintf(name, sizeof name, "stalls%d", try);
        const char *out = out_folder(name);
        json_t *s =
            run(name, (const char *[]){LAYER, "SACCADE_FAULT_STALL=80/10", "xr", "billiards", "--frames",
                                       "105", "--out", out, "--resolution", "0.3", LIGHT, NULL});
        const size_t count = books_of(out);
        check_books(count, s);
        bool exact = true, disturbed = false;
        size_t stalled = 0;
        for (size_t i = 12; i < 102; i++) {
            /* Every tenth wait comes back late; the next prediction leaves periods out. */
            const bool after = i % 10 == 0;
            stalled += after;
            if ((rows[i].missed > 0) != after) exact = false;
            if (rows[i].end - rows[i].wait_end > 40e6 || rows[i].period != 50e6) disturbed = true;
        }
        json_decref(s);
        if (exact) {
            print_message("%d stalls, each counted and nothing else\n", (int)stalled);
            return;
        }
        if (!disturbed && !play_busy()) {
            for (size_t i = 12; i < 102; i++)
                if (rows[i].missed > 0) print_message("frame %d: %g missed\n", (int)i, rows[i].missed);
            fail_msg("stalls and misses differ");
        }
        print_message("try %d was disturbed\n", try + 1);
    }
    play_too_busy();
}

static void strange_times(void **state)
{
    (void)state;
    const char *out = out_folder("strange");
    json_t *s =
        run("strange",
            (const char *[]){LAYER, "SACCADE_FAULT_NEGATIVE_TIME=20-22", "SACCADE_FAULT_ABSURD_TIME=30",
                             "SACCADE_FAULT_ABSURD_PERIOD=40-41", "SACCADE_FAULT_NO_RENDER=50-54", "xr",
                             "billiards", "--frames", "70", "--out", out, LIGHT, NULL});
    const size_t count = books_of(out);
    for (size_t i = 0; i < count; i++) {
        const bool odd = (i >= 19 && i <= 21) || i == 29 || i == 39 || i == 40;
        if (i > 12 && (rows[i].strange > 0) != odd) fail_msg("frame %d: strange %g", (int)i, rows[i].strange);
        if (i > 5 && i < 68) assert_true((rows[i].should_render > 0) == !(i >= 49 && i <= 53));
        assert_true(rows[i].deadline > rows[i].begin && rows[i].deadline < rows[i].begin + 200e6);
        assert_true(fabs(rows[i].predicted - rows[i].wait_end) < 1e9);
    }
    assert_true(whole(s, "strange") >= 6);
    json_decref(s);
}

/* The service dies under the program; the world goes on and the session comes back. */
static void killed(void **state)
{
    (void)state;
    child c;
    const char *out = out_folder("killed");
    start(&c, "killed",
          (const char *[]){"xr", "hailstorm", "--bodies", "40", "--frames", "90", "--out", out, LIGHT, NULL});
    wait_focused(&c, 700);
    kill(play_service(), SIGKILL);
    play_sleep_ms(1500);
    const pid_t service = play_serve();
    finish(&c);
    json_t *s = summary(&c);
    assert_int_equal(whole(s, "reopened"), 1);
    assert_true(went_through(s, "LOST"));
    assert_true(number(s, "lost_ms", NULL) > 0);
    const size_t count = books_of(out);
    assert_true(count >= 90);
    /* Steps were taken while nobody was shown anything: all told as many as the time that passed wants, less
     * what a slow machine let go. */
    const double seconds = (rows[count - 1].predicted - rows[0].predicted) * 1e-9;
    double shown = 0;
    for (size_t i = 0; i < count; i++) shown += rows[i].steps;
    print_message("away for %.1f s; %d steps in %.1f s, %g of them shown\n",
                  number(s, "lost_ms", NULL) * 1e-3, (int)whole(s, "steps"), seconds, shown);
    assert_true((double)whole(s, "steps") - shown > 0.5 * 0.09 * number(s, "lost_ms", NULL) - 5);
    assert_non_null(strstr(read_file(c.err), "the world runs on"));
    json_decref(s);
    kill(service, SIGTERM);
    waitpid(service, NULL, 0);
}

static void layer_loss(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        json_t *s = run(
            i ? "instance" : "session",
            (const char *[]){LAYER, i ? "SACCADE_FAULT_INSTANCE_LOSS=20" : "SACCADE_FAULT_SESSION_LOSS=20",
                             "xr", "billiards", "--frames", "50", LIGHT, NULL});
        assert_int_equal(whole(s, "reopened"), 1);
        assert_true(whole(s, "frames") >= 50);
        json_decref(s);
    }
}

/* Both validation layers on, and not a word from them. */
static void validation(void **state)
{
    (void)state;
    char words[400];
    child c;
    snprintf(words, sizeof words, "XR_CORE_VALIDATION_FILE_NAME=%s/core.txt", folder);
    start(&c, "validation",
          (const char *[]){
              "SACCADE_VALIDATION=1",
              "XR_API_LAYER_PATH=" SACCADE_LAYER_PATH,
              "XR_ENABLE_API_LAYERS=XR_APILAYER_LUNARG_core_validation:XR_APILAYER_SACCADE_gaze_replay",
              "XR_CORE_VALIDATION_EXPORT_TYPE=text",
              words,
              "SACCADE_GAZE=saccades:3@120",
              "xr",
              "hailstorm",
              "--bodies",
              "40",
              "--frames",
              "40",
              "--paint",
              "jnd",
              "--front",
              "--contacts",
              "--gaze-ray",
              "--rings",
              "--strip",
              "--json",
              NULL});
    finish(&c);
    json_t *s = summary(&c);
    assert_true(json_is_true(json_object_get(s, "validation")));
    assert_int_equal(whole(s, "messages"), 0);
    assert_true(went_through(s, "FOCUSED"));
    /* A loader skips a layer it cannot open without a word: this one says that it is there, and no more. */
    char *told = read_file(strchr(words, '=') + 1);
    if (!strstr(told, "Layer is initialized")) fail_msg("the core validation layer was not there: %s", told);
    for (char *line = strtok(told, "\n"); line; line = strtok(NULL, "\n"))
        if (!strstr(line, "VALID_DEBUG")) fail_msg("%s", line);
    told = read_file(c.err);
    static const char *const bad[] = {"VUID",   "Validation Error", "Validation Warning",
                                      "VALID_", "UNASSIGNED",       "validation layer"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (strstr(told, bad[i])) fail_msg("%.2000s", strstr(told, bad[i]));
    json_decref(s);
}

/* Two programs in one headset: the runtime shows one, and both live. */
static void two_programs(void **state)
{
    (void)state;
    child c[2];
    const char *const words[] = {"xr", "billiards", "--frames", "60", "--resolution", "0.3", LIGHT, NULL};
    start(&c[0], "first", words);
    play_sleep_ms(400);
    start(&c[1], "second", words);
    int focused = 0;
    for (int i = 0; i < 2; i++) {
        finish(&c[i]);
        json_t *s = summary(&c[i]);
        assert_true(whole(s, "frames") >= 60);
        assert_int_equal(whole(s, "reopened"), 0);
        assert_true(went_through(s, "EXITING"));
        focused += went_through(s, "FOCUSED");
        json_decref(s);
    }
    assert_true(focused >= 1);
    print_message("%d of 2 were focused\n", focused);
}

static void ended_by_hand(void **state)
{
    (void)state;
    child c;
    start(&c, "hand", (const char *[]){"xr", "billiards", LIGHT, NULL});
    wait_focused(&c, 700);
    kill(c.pid, SIGINT);
    finish(&c);
    json_t *s = summary(&c);
    assert_true(went_through(s, "STOPPING") && went_through(s, "EXITING"));
    json_decref(s);
}

/* What is said when it cannot be, and how it ends. */
static void refused(void **state)
{
    (void)state;
    static const struct {
        const char *words[10];
        int code;
        const char *said;
    } cases[] = {
        {{"xr", NULL}, 2, "which scene"},
        {{"xr", "nosuch", NULL}, 2, "nosuch"},
        {{"xr", "billiards", "--gaze-log", "g.csv", NULL}, 2, "--consent"},
        {{"xr", "billiards", "--gaze", "nowhere.csv", NULL}, 1, "nowhere.csv"},
        {{"xr", "billiards", "--policy", "jdn", NULL}, 2, "jnd"},
        {{"xr", "billiards", "--samples", "1000", NULL}, 2, "samples"},
        {{"SACCADE_XR_MANIFEST=/nowhere.json", "xr", "billiards", NULL}, 1, "no OpenXR runtime"},
        {{"XDG_RUNTIME_DIR=/nowhere", "xr", "billiards", NULL}, 1, "does not answer"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        child c;
        start(&c, "refused", cases[i].words);
        finish(&c);
        const char *told = read_file(c.err);
        if (c.code != cases[i].code || !strstr(told, cases[i].said))
            fail_msg("case %d: exit %d: %s", (int)i, c.code, told);
    }
    json_t *s = run("check", (const char *[]){"xr", "--check", "--json", NULL});
    assert_string_equal(json_string_value(json_object_get(s, "presence")), "headset");
    json_decref(s);
}

/* A log of the gaze, with consent, and what it says: the next run can play it. */
static void gaze_logged(void **state)
{
    (void)state;
    char log[300];
    struct stat about;
    snprintf(log, sizeof log, "%s/eyes.csv", folder);
    json_t *s = run("log", (const char *[]){LAYER, "SACCADE_GAZE=pursuit:8,3@60", "xr", "billiards",
                                            "--frames", "40", "--gaze-log", log, "--consent", LIGHT, NULL});
    json_decref(s);
    assert_int_equal(stat(log, &about), 0);
    assert_int_equal(about.st_mode & 0077, 0); /* nobody else's business */
    assert_true(about.st_size > 500);
    s = run("again", (const char *[]){"xr", "billiards", "--frames", "60", "--gaze", log, LIGHT, NULL});
    const json_t *gaze = json_object_get(s, "gaze");
    assert_true(whole(gaze, "fresh") + whole(gaze, "duplicate") > 40);
    assert_string_equal(json_string_value(json_object_get(gaze, "source")), "eyes.csv");
    json_decref(s);
}

/* ---- a picture ---- */

static uint32_t big_endian(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Xvfb keeps its screen in a file, as an X window dump. Colours to out, three bytes a pixel. */
static unsigned char *read_screen(uint32_t *width, uint32_t *height)
{
    const char *path = getenv("SACCADE_XR_SCREEN");
    assert_non_null(path);
    static unsigned char file[8 << 20], out[4 << 20];
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    const size_t size = fread(file, 1, sizeof file, in);
    fclose(in);
    assert_true(size > 160);
    *width = big_endian(file + 16), *height = big_endian(file + 20);
    const uint32_t line = big_endian(file + 48), head = big_endian(file) + 12 * big_endian(file + 76);
    assert_true(head + (size_t)line * *height <= size && (size_t)*width * *height * 3 <= sizeof out);
    for (uint32_t y = 0; y < *height; y++)
        for (uint32_t x = 0; x < *width; x++) {
            const unsigned char *from = file + head + (size_t)y * line + 4 * x;
            unsigned char *to = out + 3 * ((size_t)y * *width + x);
            to[0] = from[2], to[1] = from[1], to[2] = from[0];
        }
    return out;
}

static double brightness(const unsigned char *rgb, uint32_t width, uint32_t x0, uint32_t x1, uint32_t y0,
                         uint32_t y1)
{
    double sum = 0;
    for (uint32_t y = y0; y < y1; y++)
        for (uint32_t x = x0; x < x1; x++)
            for (int k = 0; k < 3; k++) sum += rgb[3 * ((size_t)y * width + x) + k];
    return sum / (3.0 * (x1 - x0) * (y1 - y0));
}

/* The whole way: physics, both eyes, the runtime's compositor, a screen. */
static void picture(void **state)
{
    (void)state;
    child c;
    start(&c, "picture",
          (const char *[]){"xr", "hailstorm", "--bodies", "120", "--samples", "2", "--shadow", "512",
                           "--json", NULL});
    uint32_t width = 0, height = 0;
    unsigned char *rgb = NULL;
    double sky[2] = {0}, ground[2] = {0};
    /* Until there is something to see, and things have fallen into it. */
    wait_focused(&c, 6000);
    for (int i = 0; i < 600; i++) {
        play_sleep_ms(100);
        rgb = read_screen(&width, &height);
        for (uint32_t e = 0; e < 2; e++) {
            const uint32_t x = e * width / 2;
            sky[e] = brightness(rgb, width, x + width / 16, x + width * 6 / 16, height / 16, height / 4);
            ground[e] =
                brightness(rgb, width, x + width / 16, x + width * 6 / 16, height * 3 / 4, height * 15 / 16);
        }
        if (sky[0] > 60 && sky[1] > 60 && sky[0] > ground[0] + 10 && sky[1] > ground[1] + 10) break;
    }
    kill(c.pid, SIGINT);
    finish(&c);
    json_decref(summary(&c));
    stbi_write_png(SACCADE_PICTURE, (int)width, (int)height, 3, rgb, (int)width * 3);
    print_message("sky %.0f and %.0f, ground %.0f and %.0f: %s\n", sky[0], sky[1], ground[0], ground[1],
                  SACCADE_PICTURE);
    for (int e = 0; e < 2; e++) {
        assert_true(sky[e] > 60 && ground[e] > 20);
        assert_true(sky[e] > ground[e] + 10); /* the right way up */
    }
    assert_true(fabs(sky[0] - sky[1]) < 20 && fabs(ground[0] - ground[1]) < 30);
    /* Two eyes, not one twice. */
    double apart = 0;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width / 2; x++)
            apart +=
                abs(rgb[3 * ((size_t)y * width + x)] - rgb[3 * ((size_t)y * width + x + width / 2)]) > 24;
    apart /= (double)height * width / 2;
    print_message("%.2f %% of the pixels differ between the eyes\n", 100 * apart);
    assert_true(apart > 0.001 && apart < 0.5);
}

static int set_up(void **state)
{
    (void)state;
    make_folder();
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hailstorm),     cmocka_unit_test(gaze_duplicates), cmocka_unit_test(gaze_lost),
        cmocka_unit_test(layer_stalls),  cmocka_unit_test(strange_times),   cmocka_unit_test(killed),
        cmocka_unit_test(layer_loss),    cmocka_unit_test(validation),      cmocka_unit_test(two_programs),
        cmocka_unit_test(ended_by_hand), cmocka_unit_test(refused),         cmocka_unit_test(gaze_logged),
        cmocka_unit_test(picture),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, set_up, NULL);
}
