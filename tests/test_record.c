/* Recording and replay: what was done to a world is done again bit for bit, wherever a clock cut its frames,
 * and a damaged file gives what lies before the damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cpu.h"
#include "record_play.h"
#include "runtime/operations_internal.h"
#include "runtime/record_file_internal.h"

static char folder[64], path[96];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/saccade-record-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/run.sacrec", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void tell(const sac_error *error)
{
    char text[600];
    print_message("%s\n", sac_error_text(error, text, sizeof text));
}

/* ---- recording ---- */

typedef enum clock_kind { WALL, CREDITS, LEAPS, NO_LIMIT } clock_kind;

static float weight(sac_body_id a, sac_body_id b, void *user)
{
    (void)user;
    return (float)((a.value * 7 + b.value) % 11) * 0.3f;
}

static void record(play *p, uint64_t seed, clock_kind clock, uint32_t bodies, uint32_t frames,
                   uint64_t budget, bool weighted)
{
    sac_world_def def = sac_default_world_def();
    *p = (play){.rng = sac_rng_seed(seed)};
    def.bodies = 16; /* so that it grows */
    def.tasks.threads = seed % 2 + 1;
    def.chance = seed % 5 == 4;
    if (clock == CREDITS) def.clock = sac_clock_credits(500);
    if (clock == LEAPS) def.clock = sac_clock_caller(play_clock, p);
    if (weighted) def.weight = weight;
    sac_error error;
    assert_int_equal(sac_world_create(&def, &p->world, NULL), SAC_OK);
    if (sac_record_start(p->world, path, &error) != SAC_OK) tell(&error), fail();
    assert_true(play_begin(p, bodies));
    for (uint32_t i = 0; i < frames; i++)
        if (!play_frame(p, i % 4, clock == NO_LIMIT ? 0 : budget)) tell(&p->error), fail();
    assert_int_equal(sac_record_status(p->world, NULL), SAC_OK);
    assert_int_equal(sac_record_stop(p->world, NULL), SAC_OK);
    play_end(p);
}

/* Replays all of it; the number of frames. */
static uint64_t replay(uint32_t threads)
{
    sac_replay *r;
    sac_replay_frame frame;
    sac_error error;
    uint64_t frames = 0;
    if (sac_replay_open(path, threads, &r, &error) != SAC_OK) tell(&error), fail();
    for (;;) {
        if (sac_replay_step(r, &frame, &error) != SAC_OK) tell(&error), fail();
        if (frame.end) break;
        frames++;
        assert_int_equal(frame.frame, frames);
        if (!frame.same) {
            const sac_tape *tape = &sac_replay_world(r)->tape;
            print_message("frame %llu differs: hash %s, tape %u of %u%s\n", (unsigned long long)frame.frame,
                          frame.hash == frame.recorded_hash ? "same" : "other", tape->at, tape->count,
                          tape->short_of ? ", short" : "");
        }
        assert_true(frame.same);
    }
    assert_true(sac_replay_progress(r) == 1);
    sac_replay_close(&r);
    assert_null(r);
    return frames;
}

static void replay_every_way(uint32_t frames)
{
    sac_simd before = sac_simd_active();
    for (int simd = 0; simd < SAC_SIMD_COUNT; simd++) {
        if (!sac_simd_supported((sac_simd)simd)) continue;
        assert_int_equal(sac_simd_force((sac_simd)simd, NULL), SAC_OK);
        for (uint32_t threads = 1; threads <= 2; threads++) assert_int_equal(replay(threads), frames);
    }
    sac_simd_force(before, NULL);
}

static void test_wall_clock(void **state)
{
    (void)state;
    play p;
    const uint64_t budgets[] = {15000, 60000, 200000};
    for (uint32_t i = 0; i < 3; i++) {
        record(&p, i + 1, WALL, 120, 120, budgets[i], false);
        if (i == 0) assert_true(p.rungs[SAC_RUNG_BODIES] > 0); /* far too little for all of them */
        replay_every_way(120);
    }
}

static void test_clock_that_leaps(void **state)
{
    (void)state;
    play p;
    uint64_t interrupted = 0, rungs[SAC_RUNGS] = {0};
    for (uint32_t seed = 0; seed < 6; seed++) {
        record(&p, 100 + seed, LEAPS, 60, 100, 200000, seed % 2);
        interrupted += p.interrupted;
        for (int i = 0; i < SAC_RUNGS; i++) rungs[i] += p.rungs[i];
        assert_int_equal(replay(1), 100);
        assert_int_equal(replay(2), 100);
    }
    /* Cut in every place there is. */
    assert_true(interrupted > 0 && rungs[SAC_RUNG_BODIES] && rungs[SAC_RUNG_ITERATIONS]);
}

static void test_credits(void **state)
{
    (void)state;
    play p;
    record(&p, 7, CREDITS, 100, 150, 100000, false);
    assert_true(p.rungs[SAC_RUNG_LEVELS] + p.rungs[SAC_RUNG_BODIES] + p.rungs[SAC_RUNG_ITERATIONS] > 0);
    replay_every_way(150);
}

static void test_weights(void **state)
{
    (void)state;
    play p;
    record(&p, 9, CREDITS, 60, 60, 60000, true);
    replay_every_way(60);
}

static void test_no_limit(void **state)
{
    (void)state;
    play p;
    for (uint32_t seed = 0; seed < 5; seed++) {
        record(&p, 20 + seed, NO_LIMIT, 60, 90, 0, false);
        assert_int_equal(replay(1), 90);
        assert_int_equal(replay(2), 90);
    }
}

/* ---- damage ---- */

static unsigned char *read_file(size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*size + 1);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

/* Frames that come out the same before the end or the damage; *result: how it ended, *byte: where. */
static uint64_t frames_of(const unsigned char *bytes, size_t size, sac_result *result, int64_t *byte)
{
    sac_replay *r;
    sac_error error = {0};
    sac_replay_frame frame = {0};
    uint64_t frames = 0;
    sac_replay_limits most = {64, 4096, 1u << 20};
    *result = sac_replay_open_memory(bytes, size, 1, &most, &r, &error);
    if (*result == SAC_OK) {
        while ((*result = sac_replay_step(r, &frame, &error)) == SAC_OK && !frame.end) {
            assert_true(frame.same);
            frames++;
        }
        sac_error again;
        assert_int_equal(sac_replay_step(r, &frame, &again), *result);
        sac_replay_close(&r);
    }
    if (*result != SAC_OK) assert_true(error.code == *result && error.message[0] && error.byte >= 0);
    *byte = error.byte;
    return frames;
}

/* A world of one ball on a floor: small enough to cut everywhere. */
static void record_small(uint32_t frames)
{
    sac_world_def def = sac_default_world_def();
    def.bodies = 16, def.pairs = 64, def.agenda.pairs = 64, def.agenda.entries = 2048;
    def.solver.bodies = 16, def.solver.contacts = 16, def.solver.grabs = 4;
    sac_world *world;
    sac_form form;
    sac_body_def body = sac_default_body_def();
    assert_int_equal(sac_world_create(&def, &world, NULL), SAC_OK);
    assert_int_equal(sac_record_start(world, path, NULL), SAC_OK);
    sac_form_plane(&form, (float[3]){0, 1, 0}, 0, NULL);
    sac_world_add_shape(world, &form, &body.shape, NULL);
    body.kind = SAC_BODY_STATIC;
    assert_int_equal(sac_body_create(world, &body, NULL, NULL), SAC_OK);
    sac_form_sphere(&form, 0.5f, NULL);
    sac_world_add_shape(world, &form, &body.shape, NULL);
    body.kind = SAC_BODY_DYNAMIC, body.position[1] = 0.6f;
    assert_int_equal(sac_body_create(world, &body, NULL, NULL), SAC_OK);
    sac_step_def step = sac_default_step_def();
    for (uint32_t i = 0; i < frames; i++) sac_world_step(world, &step, NULL, NULL);
    assert_int_equal(sac_record_stop(world, NULL), SAC_OK);
    sac_world_destroy(&world);
}

static void test_truncation(void **state)
{
    (void)state;
    record_small(70);
    size_t size;
    unsigned char *bytes = read_file(&size);
    sac_result result;
    int64_t byte;
    assert_int_equal(frames_of(bytes, size, &result, &byte), 70);
    assert_int_equal(result, SAC_OK);
    uint64_t before = 0;
    for (size_t cut = 0; cut < size; cut += cut < 64 || size - cut < 100 ? 1 : 13) {
        /* Exactly as long, so that the sanitizer sees a step beyond. */
        unsigned char *part = malloc(cut + 1);
        memcpy(part, bytes, cut);
        uint64_t frames = frames_of(part, cut, &result, &byte);
        free(part);
        assert_int_not_equal(result, SAC_OK);
        assert_true(frames >= before && frames <= 70);
        assert_true((uint64_t)byte <= cut);
        before = frames;
    }
    assert_int_equal(before, 60); /* the last chunk is lost, no more */
    free(bytes);
}

/* Instrumented code is ten times as slow: there a third of the bytes has to show the same. */
#ifdef SACCADE_INSTRUMENTED
enum { EVERY = 3 };
#else
enum { EVERY = 1 };
#endif

static void test_flipped_bytes(void **state)
{
    (void)state;
    record_small(40);
    size_t size;
    unsigned char *bytes = read_file(&size);
    sac_result result;
    int64_t byte;
    for (size_t i = 0; i < size; i += EVERY * (1 + i % 5)) {
        bytes[i] ^= (unsigned char)(1u << i % 8);
        uint64_t frames = frames_of(bytes, size, &result, &byte);
        assert_int_not_equal(result, SAC_OK);
        assert_true(frames == 0 || frames == 30);
        assert_true((uint64_t)byte <= size);
        bytes[i] ^= (unsigned char)(1u << i % 8);
    }
    /* With all checksums right again what it says counts: another state, or something that cannot be. */
    uint32_t operations = sac_operations_checksum(), wrong = 0, refused = 0;
    sac_replay_limits most = {64, 4096, 1u << 20};
    for (size_t i = 64; i < size; i += 3 * EVERY) {
        unsigned char *copy = malloc(size);
        memcpy(copy, bytes, size);
        copy[i] ^= (unsigned char)(1u << i % 8);
        sac_record_seal(copy, size, operations);
        sac_replay *r;
        sac_replay_frame frame = {0};
        bool same = true;
        result = sac_replay_open_memory(copy, size, 1, &most, &r, NULL);
        if (result == SAC_OK) {
            while ((result = sac_replay_step(r, &frame, NULL)) == SAC_OK && !frame.end) same &= frame.same;
            sac_replay_close(&r);
        }
        refused += result != SAC_OK;
        wrong += result == SAC_OK && !same;
        free(copy);
    }
    assert_true(refused > 20 && wrong > 20);
    free(bytes);
}

/* The tape says where each frame was cut; another tape is another run, or at least noticed. */
static void test_other_tape(void **state)
{
    (void)state;
    play p;
    record(&p, 31, CREDITS, 60, 30, 50000, false);
    sac_replay *r;
    sac_replay_frame frame;
    assert_int_equal(sac_replay_open(path, 1, &r, NULL), SAC_OK);
    assert_int_equal(sac_replay_step(r, &frame, NULL), SAC_OK);
    assert_true(frame.same);
    /* Meddle with the world: every frame from here on is another one. */
    assert_int_equal(sac_world_set_gravity(sac_replay_world(r), (float[3]){0, -9, 0}, NULL), SAC_OK);
    uint32_t differ = 0;
    sac_result result;
    while ((result = sac_replay_step(r, &frame, NULL)) == SAC_OK && !frame.end) differ += !frame.same;
    assert_true(differ > 20 || result == SAC_ERROR_CORRUPT);
    sac_replay_close(&r);
}

static void test_killed_writer(void **state)
{
    (void)state;
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        sac_world_def def = sac_default_world_def();
        play p = {.rng = sac_rng_seed(5)};
        if (sac_world_create(&def, &p.world, NULL) != SAC_OK) _exit(1);
        if (sac_record_start(p.world, path, NULL) != SAC_OK || !play_begin(&p, 40)) _exit(1);
        for (uint32_t i = 0;; i++) {
            if (!play_frame(&p, 1, 200000)) tell(&p.error), _exit(1);
            if (write(pipes[1], &i, sizeof i) != sizeof i) _exit(1);
        }
    }
    close(pipes[1]);
    uint32_t done = 0;
    while (done < 133) assert_int_equal(read(pipes[0], &done, sizeof done), sizeof done);
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    while (read(pipes[0], &done, sizeof done) == sizeof done) continue;
    close(pipes[0]);
    size_t size;
    unsigned char *bytes = read_file(&size);
    free(bytes);
    sac_replay *r;
    sac_replay_frame frame;
    sac_error error;
    sac_result result;
    uint64_t frames = 0;
    assert_int_equal(sac_replay_open(path, 2, &r, &error), SAC_OK);
    while ((result = sac_replay_step(r, &frame, &error)) == SAC_OK && !frame.end) {
        assert_true(frame.same);
        frames++;
    }
    assert_int_equal(result, SAC_ERROR_CORRUPT);
    assert_int_equal(error.byte, size);
    assert_string_equal(error.file, path);
    assert_true(frames <= done + 2u && frames + 30 >= done + 1u);
    sac_replay_close(&r);
}

static void test_full_disk(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        /* No file may grow beyond a few chunks. */
        signal(SIGXFSZ, SIG_IGN);
        struct rlimit limit = {60000, 60000};
        setrlimit(RLIMIT_FSIZE, &limit);
        sac_world_def def = sac_default_world_def();
        play p = {.rng = sac_rng_seed(6)};
        sac_error error;
        if (sac_world_create(&def, &p.world, NULL) != SAC_OK) _exit(1);
        if (sac_record_start(p.world, path, NULL) != SAC_OK || !play_begin(&p, 20)) _exit(2);
        for (uint32_t i = 0; i < 300; i++)
            if (!play_frame(&p, 1, 0)) _exit(3);
        if (sac_record_status(p.world, &error) != SAC_ERROR_IO || !error.message[0]) _exit(4);
        if (sac_record_stop(p.world, &error) != SAC_ERROR_IO) _exit(5);
        if (!play_frame(&p, 1, 0)) _exit(6);
        play_end(&p);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    size_t size;
    unsigned char *bytes = read_file(&size);
    assert_true(size <= 60000);
    sac_replay *r;
    sac_replay_frame frame;
    sac_result result;
    uint64_t frames = 0;
    assert_int_equal(sac_replay_open(path, 1, &r, NULL), SAC_OK);
    while ((result = sac_replay_step(r, &frame, NULL)) == SAC_OK && !frame.end)
        assert_true(frame.same), frames++;
    assert_true(result == SAC_ERROR_CORRUPT && frames >= 30);
    sac_replay_close(&r);
    free(bytes);
}

/* Whoever times steps can tell the step from its recording. */
static void test_cost(void **state)
{
    (void)state;
    play p = {.rng = sac_rng_seed(3)};
    sac_world_def def = sac_default_world_def();
    uint64_t wall = 1, cpu = 1;
    assert_int_equal(sac_world_create(&def, &p.world, NULL), SAC_OK);
    sac_record_cost(p.world, &wall, &cpu);
    assert_true(wall == 0 && cpu == 0);
    assert_int_equal(sac_record_start(p.world, path, NULL), SAC_OK);
    assert_true(play_begin(&p, 200));
    assert_true(play_frame(&p, 0, 0));
    sac_record_cost(p.world, &wall, &cpu);
    assert_true(wall > 0 && cpu > 0);
    assert_int_equal(sac_record_stop(p.world, NULL), SAC_OK);
    assert_true(play_frame(&p, 1, 0));
    sac_record_cost(p.world, &wall, &cpu);
    assert_true(wall == 0 && cpu == 0);
    play_end(&p);
}

static void test_wrong_use(void **state)
{
    (void)state;
    sac_world_def def = sac_default_world_def();
    def.bodies = 16;
    sac_world *world;
    sac_error error;
    sac_form form;
    sac_shape_id shape;
    sac_replay *r;
    assert_int_equal(sac_world_create(&def, &world, NULL), SAC_OK);
    assert_int_equal(sac_record_stop(world, &error), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_record_status(world, &error), SAC_OK);
    assert_int_equal(sac_record_start(world, "/nowhere/at/all", &error), SAC_ERROR_IO);
    assert_string_equal(error.file, "/nowhere/at/all");
    assert_int_equal(sac_record_start(world, "/nowhere/at/all", NULL), SAC_ERROR_IO);
    assert_int_equal(sac_record_start(world, path, &error), SAC_OK);
    assert_int_equal(sac_record_start(world, path, &error), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_record_stop(world, &error), SAC_OK);
    sac_form_sphere(&form, 1, NULL), sac_world_add_shape(world, &form, &shape, NULL);
    assert_int_equal(sac_record_start(world, path, &error), SAC_ERROR_ARGUMENT);
    sac_world_destroy(&world);

    /* A recording of nothing has no frames. */
    assert_int_equal(replay(1), 0);
    assert_int_equal(sac_replay_open("/nowhere", 1, &r, &error), SAC_ERROR_IO);
    assert_int_equal(sac_replay_open("/nowhere", 1, &r, NULL), SAC_ERROR_IO);
    assert_null(r);
    assert_int_equal(sac_replay_open(folder, 1, &r, &error), SAC_ERROR_IO);
    FILE *file = fopen(path, "wb");
    fputs("solid cube\nfacet normal 0 0 1 and so on, longer than a header", file);
    fclose(file);
    assert_int_equal(sac_replay_open(path, 1, &r, &error), SAC_ERROR_FORMAT);
}

#ifdef SACCADE_PROGRAM
/* Runs "saccade replay" with these words; its exit code, and what it said. */
static int program(const char *words, char *out, size_t size)
{
    char line[512];
    snprintf(line, sizeof line, "\"" SACCADE_PROGRAM "\" replay \"%s\" %s 2>&1", path, words);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    out[fread(out, 1, size - 1, pipe)] = 0;
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_program(void **state)
{
    (void)state;
    char out[4096];
    record_small(70);
    assert_int_equal(program("--verify", out, sizeof out), 0);
    assert_non_null(strstr(out, "every frame is the same"));
    assert_int_equal(program("--verify --json --threads 2", out, sizeof out), 0);
    assert_non_null(strstr(out, "\"frames\":70,\"verified\":70,\"state_hash\":\""));
    size_t size;
    unsigned char *bytes = read_file(&size);
    /* Cut: what is there is replayed, and the byte is told. */
    assert_int_equal(truncate(path, (off_t)size - 40), 0);
    assert_int_equal(program("--verify --json", out, sizeof out), 1);
    assert_non_null(strstr(out, "\"frames\":60,\"verified\":60"));
    assert_non_null(strstr(out, "\"complete\":false"));
    assert_non_null(strstr(out, path));
    /* A hash that was never: the frame is named. */
    bytes[size - 1] ^= 1; /* the last step ends in it */
    sac_record_seal(bytes, size, sac_operations_checksum());
    FILE *file = fopen(path, "wb");
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    free(bytes);
    assert_int_equal(program("--verify", out, sizeof out), 1);
    assert_non_null(strstr(out, "frame 70"));
    unlink(path);
    assert_int_equal(program("", out, sizeof out), 1);
    record_small(1);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_limit),      cmocka_unit_test(test_credits),
        cmocka_unit_test(test_wall_clock),    cmocka_unit_test(test_clock_that_leaps),
        cmocka_unit_test(test_weights),       cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_flipped_bytes), cmocka_unit_test(test_other_tape),
        cmocka_unit_test(test_killed_writer), cmocka_unit_test(test_full_disk),
#ifdef SACCADE_PROGRAM
        cmocka_unit_test(test_program),
#endif
        cmocka_unit_test(test_cost),          cmocka_unit_test(test_wrong_use),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
