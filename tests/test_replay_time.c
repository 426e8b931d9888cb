/* Recordings timed again: what is judged a miss and whose it was, what a recording tells of its steps, and
 * the command on whole, damaged, meddled-with and older files. How long anything really takes is not looked
 * at. */
#include <math.h>

#include "apps/replay_time.h"
#include "base/rng.h"
#include "runtime/operations_internal.h"
#include "runtime/record_file_internal.h"
/* Last: its `out` is a word that headers use. */
#include "tests/program_play.h"

/* ---- verdicts ---- */

static void verdicts_have_their_borders(void **state)
{
    (void)state;
    static const double budgets[] = {0, 1, 500, 2000, 11111, 1e6};
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
        double b = budgets[i];
        assert_int_equal(sac_miss_verdict(b, 0, 1), SAC_VERDICT_HOST);
        assert_int_equal(sac_miss_verdict(b, b + 50, 1), SAC_VERDICT_HOST);
        assert_int_equal(sac_miss_verdict(b, b + 51, 1), SAC_VERDICT_OPEN);
        assert_int_equal(sac_miss_verdict(b, b + 250, 1), SAC_VERDICT_OPEN);
        assert_int_equal(sac_miss_verdict(b, b + 251, 1), SAC_VERDICT_WORK);
        /* All the work on one thread may take longer than a share of it did. */
        assert_int_equal(sac_miss_verdict(b, b + 50, 2), SAC_VERDICT_HOST);
        assert_int_equal(sac_miss_verdict(b, b + 251, 2), SAC_VERDICT_OPEN);
        assert_int_equal(sac_miss_verdict(b, NAN, 1), SAC_VERDICT_OPEN);
    }
    assert_string_equal(sac_verdict_name(SAC_VERDICT_HOST), "host");
    assert_string_equal(sac_verdict_name(SAC_VERDICT_WORK), "own work");
    assert_string_equal(sac_verdict_name(SAC_VERDICT_OPEN), "not decided");
}

/* Frames and passes out of a seed; times of all of them beside `times`, for whoever counts again. */
typedef struct made {
    uint32_t frames, passes;
    uint64_t us[40][9];
    sac_replay_frame frame[40];
    sac_replay_times times;
} made;

static sac_result pass_of(made *m, uint32_t p, uint32_t frames)
{
    sac_result result = SAC_OK;
    for (uint32_t i = 0; i < frames && result == SAC_OK; i++) {
        m->frame[i].cpu_ns = m->us[i][p] * 1000;
        result = sac_replay_times_add(&m->times, &m->frame[i], NULL);
    }
    return result == SAC_OK ? sac_replay_times_close(&m->times, NULL) : result;
}

static void make(made *m, uint64_t seed, bool timed)
{
    sac_rng rng = sac_rng_seed(seed);
    *m = (made){.frames = 1 + sac_rng_below(&rng, 40), .passes = 1 + sac_rng_below(&rng, 9)};
    for (uint32_t i = 0; i < m->frames; i++) {
        m->frame[i] = (sac_replay_frame){.frame = i + 1, .recorded_hash = i * 77 + seed};
        if (timed) {
            m->frame[i].recorded_threads = 1 + (sac_rng_below(&rng, 8) == 0);
            m->frame[i].recorded_budget_ns = sac_rng_below(&rng, 5) ? 1000000 : 0;
            m->frame[i].recorded_cpu_ns = 800000 + 1000ull * sac_rng_below(&rng, 800);
        }
        for (uint32_t p = 0; p < m->passes; p++) m->us[i][p] = 900 + sac_rng_below(&rng, 500);
    }
    for (uint32_t p = 0; p < m->passes; p++) assert_int_equal(pass_of(m, p, m->frames), SAC_OK);
}

static void misses_are_found_and_judged(void **state)
{
    (void)state;
    uint64_t seen[SAC_VERDICTS] = {0};
    for (uint64_t seed = 1; seed <= 300; seed++) {
        made m;
        make(&m, seed, true);
        uint64_t other = seed % 3 ? 0 : 1 + seed % m.frames, count = 0;
        assert_int_equal(sac_replay_times_judge(&m.times, other, NULL), SAC_OK);
        assert_int_equal(m.times.passes, m.passes);
        assert_int_equal(m.times.frames.count, m.frames);
        assert_true(m.passes == 1 ? isnan(m.times.spread) : m.times.spread >= 0 && m.times.spread < 1);
        for (uint32_t i = 0; i < m.frames; i++) {
            const sac_replay_frame *f = &m.frame[i];
            if (!f->recorded_budget_ns || f->recorded_cpu_ns <= 1250000) continue;
            assert_true(count < m.times.misses.count);
            const sac_timed_miss *miss = &m.times.misses.data[count++];
            assert_int_equal(miss->frame, i + 1);
            assert_true(miss->budget_us == 1000 && miss->recorded_us == (double)f->recorded_cpu_ns * 1e-3);
            /* The median was measured: half of the passes are no longer, fewer than half are shorter. */
            uint32_t no_longer = 0, shorter = 0, equal = 0, below_least = 0;
            for (uint32_t p = 0; p < m.passes; p++) {
                double us = (double)m.us[i][p];
                no_longer += us <= miss->median_us, shorter += us < miss->median_us;
                equal += us == miss->median_us, below_least += us < miss->least_us;
            }
            assert_true(equal && 2 * no_longer >= m.passes && 2 * shorter < m.passes && !below_least);
            assert_true(miss->least_us <= miss->median_us);
            sac_verdict verdict = sac_miss_verdict(1000, miss->median_us, f->recorded_threads);
            if (other && i + 1 >= other) verdict = SAC_VERDICT_OPEN;
            assert_int_equal(miss->verdict, verdict);
            seen[verdict]++;
        }
        assert_int_equal(count, m.times.misses.count);
        assert_int_equal(count, m.times.count[0] + m.times.count[1] + m.times.count[2]);
        sac_replay_times_fini(&m.times);
    }
    assert_true(seen[SAC_VERDICT_HOST] && seen[SAC_VERDICT_WORK] && seen[SAC_VERDICT_OPEN]);
}

static void without_times_nothing_is_missed(void **state)
{
    (void)state;
    made m;
    make(&m, 4, false);
    assert_int_equal(sac_replay_times_judge(&m.times, 0, NULL), SAC_OK);
    assert_true(m.times.misses.count == 0 && m.times.threads == 0);
    assert_true(isnan(m.times.recorded_us.p50) && m.times.replayed_us.p50 >= 900);
    sac_replay_times_fini(&m.times);
    sac_replay_times none = {0};
    assert_int_equal(sac_replay_times_judge(&none, 0, NULL), SAC_OK);
    assert_true(isnan(none.replayed_us.max));
    sac_replay_times_fini(&none);
}

static void a_recording_that_changes_is_noticed(void **state)
{
    (void)state;
    made m;
    make(&m, 11, true);
    assert_true(m.frames > 1);
    assert_int_equal(pass_of(&m, 0, m.frames - 1), SAC_ERROR_CORRUPT);
    sac_replay_times_fini(&m.times);
    make(&m, 11, true);
    m.frame[1].recorded_hash ^= 1;
    assert_int_equal(pass_of(&m, 0, m.frames), SAC_ERROR_CORRUPT);
    /* What was whole before stays good. */
    assert_int_equal(sac_replay_times_judge(&m.times, 0, NULL), SAC_OK);
    assert_int_equal(m.times.passes, m.passes);
    sac_replay_times_fini(&m.times);
}

/* ---- recordings ---- */

static char path[128];

/* A ball on a floor; the state at the end. */
static uint64_t record_ball(uint32_t frames, sac_clock clock, uint64_t budget_ns, uint32_t threads,
                            bool recorded)
{
    sac_world_def def = sac_default_world_def();
    def.bodies = 16, def.clock = clock, def.tasks.threads = threads;
    sac_world *world;
    sac_form form;
    sac_body_def body = sac_default_body_def();
    snprintf(path, sizeof path, "%s/ball.sacrec", folder);
    assert_int_equal(sac_world_create(&def, &world, NULL), SAC_OK);
    if (recorded) assert_int_equal(sac_record_start(world, path, NULL), SAC_OK);
    sac_form_plane(&form, (float[3]){0, 1, 0}, 0, NULL);
    sac_world_add_shape(world, &form, &body.shape, NULL);
    body.kind = SAC_BODY_STATIC;
    assert_int_equal(sac_body_create(world, &body, NULL, NULL), SAC_OK);
    sac_form_sphere(&form, 0.5f, NULL);
    sac_world_add_shape(world, &form, &body.shape, NULL);
    body.kind = SAC_BODY_DYNAMIC, body.position[1] = 0.6f;
    assert_int_equal(sac_body_create(world, &body, NULL, NULL), SAC_OK);
    sac_step_def step = sac_default_step_def();
    step.budget_ns = budget_ns;
    for (uint32_t i = 0; i < frames; i++) assert_int_equal(sac_world_step(world, &step, NULL, NULL), SAC_OK);
    uint64_t hash = sac_world_hash(world);
    if (recorded) assert_int_equal(sac_record_stop(world, NULL), SAC_OK);
    sac_world_destroy(&world);
    return hash;
}

/* Every frame the same, each with this budget and these threads (0: no times); how many. */
static uint64_t replay_ball(uint64_t budget_ns, uint32_t threads)
{
    sac_replay *r;
    sac_replay_frame frame;
    uint64_t frames = 0;
    assert_int_equal(sac_replay_open(path, 1, &r, NULL), SAC_OK);
    for (;; frames++) {
        assert_int_equal(sac_replay_step(r, &frame, NULL), SAC_OK);
        if (frame.end) break;
        assert_true(frame.same && frame.cpu_ns > 0);
        assert_int_equal(frame.recorded_budget_ns, budget_ns);
        assert_int_equal(frame.recorded_threads, threads);
        assert_true((frame.recorded_cpu_ns > 0) == (threads > 0));
    }
    sac_replay_close(&r);
    return frames;
}

static void a_recording_tells_what_steps_took(void **state)
{
    (void)state;
    record_ball(40, sac_clock_monotonic(), 3000000, 1, true);
    assert_int_equal(replay_ball(3000000, 1), 40);
    record_ball(10, sac_clock_monotonic(), 0, 2, true);
    assert_int_equal(replay_ball(0, 2), 10);
    /* Work credits are no time, and what is recorded changes nothing. */
    uint64_t hash = record_ball(50, sac_clock_credits(500), 100000, 1, true);
    assert_int_equal(replay_ball(0, 1), 50);
    assert_int_equal(record_ball(50, sac_clock_credits(500), 100000, 1, false), hash);
}

/* The recording as it was before steps were timed: without that operation, and with the checksum of the list
 * that lacked it. */
static void make_older(void)
{
    enum { TOOK = 1 + 8 + 8 + 4 };
    static unsigned char bytes[1 << 16];
    const sac_step_def def = sac_default_step_def();
    unsigned char step[9] = {SAC_OP_step};
    memcpy(step + 1, &def.dt, 4), memcpy(step + 5, &def.substeps, 4);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_true(size < sizeof bytes);
    for (size_t at = sizeof(sac_record_header); at < size;) {
        sac_chunk_header chunk;
        memcpy(&chunk, bytes + at, sizeof chunk);
        size_t first = at + sizeof chunk, end = first + chunk.size;
        for (size_t i = first + TOOK; i + sizeof step <= end; i++) {
            if (memcmp(bytes + i, step, sizeof step) != 0 || bytes[i - TOOK] != SAC_OP_took) continue;
            memmove(bytes + i - TOOK, bytes + i, size - i);
            size -= TOOK, end -= TOOK, i -= TOOK;
        }
        chunk.size = (uint32_t)(end - first);
        memcpy(bytes + at, &chunk, sizeof chunk);
        at = end;
    }
    sac_record_seal(bytes, size, sac_operations_checksum_before());
    file = fopen(path, "wb");
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void older_recordings_replay(void **state)
{
    (void)state;
    assert_int_not_equal(sac_operations_checksum(), sac_operations_checksum_before());
    record_ball(70, sac_clock_monotonic(), 2000000, 1, true);
    make_older();
    assert_int_equal(replay_ball(0, 0), 70);
    expect("replay ball.sacrec --time 2", 0, "before steps were timed");
    json_t *object = run_json("replay ball.sacrec --time 2 --json"), *time = json_object_get(object, "time");
    assert_int_equal(json_integer_value(json_object_get(object, "verified")), 70);
    assert_int_equal(json_integer_value(json_object_get(time, "recorded_threads")), 0);
    assert_true(json_is_null(json_object_get(json_object_get(time, "recorded_us"), "p50")));
    assert_true(json_is_null(json_object_get(json_object_get(time, "budget_us"), "most")));
    json_decref(object);
}

/* ---- the command ---- */

static void the_command_times_all_frames(void **state)
{
    (void)state;
    record_ball(70, sac_clock_monotonic(), 2000000, 1, true);
    expect("replay ball.sacrec --time 3", 0, "70 frames, budget 2000 us, 3 passes on one thread");
    expect("replay ball.sacrec --time", 0, "every frame is the same");
    expect("replay --time 1 ball.sacrec", 0, "misses ");
    expect("replay --time ball.sacrec", 0, "5 passes");
    json_t *object = run_json("replay ball.sacrec --time=4 --json"), *time = json_object_get(object, "time");
    assert_int_equal(json_integer_value(json_object_get(object, "frames")), 70);
    assert_int_equal(json_integer_value(json_object_get(object, "verified")), 70);
    assert_int_equal(json_integer_value(json_object_get(time, "passes")), 4);
    assert_int_equal(json_integer_value(json_object_get(time, "recorded_threads")), 1);
    static const char *const rows[] = {"recorded_us", "replayed_us"};
    for (int i = 0; i < 2; i++) {
        json_t *row = json_object_get(time, rows[i]);
        double p50 = json_number_value(json_object_get(row, "p50")),
               p99 = json_number_value(json_object_get(row, "p99")),
               p999 = json_number_value(json_object_get(row, "p999")),
               max = json_number_value(json_object_get(row, "max"));
        assert_true(p50 > 0 && p50 <= p99 && p99 <= p999 && p999 <= max);
    }
    json_int_t judged = 0;
    static const char *const counts[] = {"host", "own_work", "not_decided"};
    for (int i = 0; i < 3; i++) judged += json_integer_value(json_object_get(time, counts[i]));
    assert_int_equal(judged, json_array_size(json_object_get(time, "misses")));
    json_decref(object);
    /* Without --time there is nothing of it. */
    object = run_json("replay ball.sacrec --json");
    assert_null(json_object_get(object, "time"));
    json_decref(object);
    expect("replay ball.sacrec --time 0", 2, "from 1 to 100, not '0'");
    expect("replay ball.sacrec --time=x", 2, "not 'x'");
    expect("replay ball.sacrec --time x", 2, "one argument too many");
    expect("replay ball.sacrec --time --threads 2", 2, "on one thread");
    expect("replay --time", 2, "which recording?");
    expect("replay nowhere.sacrec --time", 1, "nowhere.sacrec");
}

static void a_damaged_file_is_timed_up_to_the_damage(void **state)
{
    (void)state;
    struct stat status;
    record_ball(70, sac_clock_monotonic(), 2000000, 1, true);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(truncate(path, status.st_size - 40), 0);
    assert_int_equal(run("replay ball.sacrec --time 3 --json"), 1);
    json_t *object = last_line(), *time = json_object_get(object, "time");
    assert_int_equal(json_integer_value(json_object_get(object, "frames")), 60);
    assert_int_equal(json_integer_value(json_object_get(object, "verified")), 60);
    assert_int_equal(json_integer_value(json_object_get(time, "passes")), 3);
    assert_true(json_is_false(json_object_get(object, "complete")));
    assert_string_equal(json_string_value(json_object_get(json_object_get(object, "error"), "code")),
                        "ERROR_CORRUPT");
    json_decref(object);
}

static void frames_that_differ_fail(void **state)
{
    (void)state;
    static unsigned char bytes[1 << 16];
    record_ball(40, sac_clock_monotonic(), 2000000, 1, true);
    FILE *file = fopen(path, "r+b");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    bytes[size - 1] ^= 1; /* of the last step's hash */
    sac_record_seal(bytes, size, sac_operations_checksum());
    rewind(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    assert_int_equal(run("replay ball.sacrec --time 2"), 1);
    assert_non_null(strstr(out, "the first is frame 40"));
    assert_non_null(strstr(out, "2 passes"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_have_their_borders),
        cmocka_unit_test(misses_are_found_and_judged),
        cmocka_unit_test(without_times_nothing_is_missed),
        cmocka_unit_test(a_recording_that_changes_is_noticed),
        cmocka_unit_test(a_recording_tells_what_steps_took),
        cmocka_unit_test(older_recordings_replay),
        cmocka_unit_test(the_command_times_all_frames),
        cmocka_unit_test(a_damaged_file_is_timed_up_to_the_damage),
        cmocka_unit_test(frames_that_differ_fail),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
