#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/error.h"
#include "base/geometry.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/rng.h"

static void errors_name_place_and_remedy(void **state)
{
    (void)state;
    sac_error error;
    char text[512];
    assert_int_equal(sac_error_set(&error, SAC_ERROR_FORMAT, "fix the line", "%s is not a number", "abc"),
                     SAC_ERROR_FORMAT);
    sac_error_at_line(&error, 12);
    sac_error_at_line(&error, 99);
    sac_error_in_file(&error, "bunny.obj");
    assert_string_equal(sac_error_text(&error, text, sizeof text),
                        "bunny.obj:12: abc is not a number; fix the line");

    sac_error_set(&error, SAC_ERROR_CORRUPT, NULL, "bad checksum");
    sac_error_at_byte(&error, 64);
    sac_error_in_file(&error, "a.sactree");
    assert_string_equal(sac_error_text(&error, text, sizeof text), "a.sactree: byte 64: bad checksum");
    assert_int_equal(sac_error_set(NULL, SAC_ERROR_MEMORY, NULL, "x"), SAC_ERROR_MEMORY);
    assert_string_equal(sac_result_name(SAC_ERROR_LIMIT), "ERROR_LIMIT");
}

static void a_long_path_keeps_its_end(void **state)
{
    (void)state;
    char path[600];
    memset(path, 'd', sizeof path);
    strcpy(path + sizeof path - 11, "/mesh.obj");
    sac_error error;
    sac_error_set(&error, SAC_ERROR_IO, NULL, "gone");
    sac_error_in_file(&error, path);
    assert_non_null(strstr(error.file, "/mesh.obj"));
}

static void arena_rewinds_without_allocating(void **state)
{
    (void)state;
    sac_arena arena;
    sac_arena_init(&arena);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 1000; i++) {
            unsigned char *p = sac_arena_alloc(&arena, (size_t)i, 7);
            assert_non_null(p);
            assert_int_equal((uintptr_t)p % SAC_CACHE_LINE, 0);
            memset(p, i, (size_t)i * 7);
        }
        assert_true(arena.high_water >= arena.total);
        sac_arena_reset(&arena);
        assert_int_equal(arena.total, 0);
    }
    unsigned char *kept = sac_arena_alloc(&arena, 100, 1);
    memset(kept, 7, 100);
    sac_arena_mark mark = sac_arena_mark_now(&arena);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 10; i++) assert_non_null(sac_arena_alloc(&arena, (size_t)1 << (i + 10), 1));
        sac_arena_rewind(&arena, mark);
        assert_int_equal(arena.total, mark.total);
    }
    for (int i = 0; i < 100; i++) assert_int_equal(kept[i], 7);
    assert_null(sac_arena_alloc(&arena, SIZE_MAX / 4, 16));
    sac_arena_fini(&arena);
}

static void arrays_grow(void **state)
{
    (void)state;
    sac_array(uint32_t) list = {0};
    for (uint32_t i = 0; i < 10000; i++) assert_true(sac_array_push(&list, i * 3));
    for (uint32_t i = 0; i < 10000; i++) assert_int_equal(list.data[i], i * 3);
    sac_array_fini(&list);
    assert_null(list.data);
}

static size_t live_bytes;
static void *counting_allocate(size_t size, size_t alignment, void *user)
{
    *(size_t *)user += size;
    return aligned_alloc(alignment, size);
}
static void counting_release(void *memory, size_t size, void *user)
{
    *(size_t *)user -= size;
    free(memory);
}

static void the_user_allocator_sees_everything(void **state)
{
    (void)state;
    sac_allocator counting = {counting_allocate, counting_release, &live_bytes};
    sac_set_allocator(&counting);
    sac_array(double) list = {0};
    for (int i = 0; i < 100; i++) sac_array_push(&list, 1.0);
    assert_true(live_bytes >= 800);
    sac_array_fini(&list);
    assert_int_equal(live_bytes, 0);
    sac_set_allocator(NULL);
}

static void credits_are_time(void **state)
{
    (void)state;
    sac_clock clock = sac_clock_credits(500);
    sac_clock_spend(&clock, 64);
    assert_int_equal(sac_clock_now(&clock), 32);
    sac_clock wall = sac_clock_monotonic();
    uint64_t before = sac_clock_now(&wall);
    sac_clock_spend(&wall, 1000000);
    assert_int_equal(wall.spent, 1000000);
    assert_true(sac_clock_now(&wall) >= before);
}

static void rng_repeats_and_spreads(void **state)
{
    (void)state;
    sac_rng a = sac_rng_seed(7), b = sac_rng_seed(7), c = sac_rng_seed(8);
    int same = 0;
    for (int i = 0; i < 100; i++) {
        uint64_t x = sac_rng_next(&a);
        assert_true(x == sac_rng_next(&b));
        same += x == sac_rng_next(&c);
    }
    assert_int_equal(same, 0);
    int buckets[10] = {0};
    for (int i = 0; i < 100000; i++) buckets[sac_rng_below(&a, 10)]++;
    for (int i = 0; i < 10; i++) assert_in_range(buckets[i], 9500, 10500);
    for (int i = 0; i < 1000; i++) {
        float u = sac_rng_float(&a), v[3];
        assert_true(u >= 0.0f && u < 1.0f);
        sac_rng_unit_vector(&a, v);
        assert_true(fabsf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] - 1.0f) < 1e-5f);
    }
}

static sac_transform random_pose(sac_rng *rng)
{
    sac_transform t = sac_transform_identity();
    float norm = 0;
    for (int i = 0; i < 4; i++)
        t.rotation[i] = sac_rng_range(rng, -1, 1), norm += t.rotation[i] * t.rotation[i];
    for (int i = 0; i < 4; i++) t.rotation[i] /= sqrtf(norm);
    for (int i = 0; i < 3; i++) t.translation[i] = sac_rng_range(rng, -3, 3);
    t.scale = sac_rng_range(rng, 0.5f, 2.0f);
    return t;
}

static void relative_transform_agrees_with_going_through_the_world(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(1);
    for (int i = 0; i < 1000; i++) {
        sac_transform a = random_pose(&rng), b = random_pose(&rng), ab = sac_transform_relative(&a, &b);
        float p[3] = {sac_rng_float(&rng), sac_rng_float(&rng), sac_rng_float(&rng)}, world[3], local[3],
              back[3];
        sac_transform_point(&b, p, world);
        sac_transform_point(&ab, p, local);
        sac_transform_point(&a, local, back);
        for (int k = 0; k < 3; k++) assert_true(fabsf(world[k] - back[k]) < 1e-4f);
    }
}

static void joined_rotations_turn_by_both(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(2);
    for (int i = 0; i < 1000; i++) {
        sac_transform a = random_pose(&rng), b = random_pose(&rng), both;
        for (int k = 0; k < 3; k++) a.translation[k] = b.translation[k] = 0;
        a.scale = b.scale = 1, both = b;
        sac_rotation_join(a.rotation, both.rotation, both.rotation);
        float p[3] = {sac_rng_float(&rng), sac_rng_float(&rng), sac_rng_float(&rng)}, half[3], want[3],
              got[3];
        sac_transform_point(&b, p, half);
        sac_transform_point(&a, half, want);
        sac_transform_point(&both, p, got);
        for (int k = 0; k < 3; k++) assert_true(fabsf(want[k] - got[k]) < 1e-5f);
        sac_rotation_join(a.rotation, b.rotation, a.rotation);
        assert_memory_equal(a.rotation, both.rotation, sizeof a.rotation);
    }
}

static void square(uint32_t item, uint32_t worker, void *context)
{
    assert_true(worker < 4);
    ((uint64_t *)context)[item] += (uint64_t)item * item;
}

static void every_item_runs_once(void **state)
{
    (void)state;
    static uint64_t out[1000];
    for (uint32_t threads = 1; threads <= 4; threads++) {
        memset(out, 0, sizeof out);
        sac_parallel_for(1000, threads, square, out);
        for (uint64_t i = 0; i < 1000; i++) assert_true(out[i] == i * i);
    }
    sac_parallel_for(0, 4, square, out);
    assert_true(sac_parallel_cpus() >= 1);
}

static void simd_can_be_forced(void **state)
{
    (void)state;
    sac_simd best = sac_simd_active(), named;
    for (int i = 0; i < SAC_SIMD_COUNT; i++) {
        sac_error error;
        assert_true(sac_simd_from_name(sac_simd_name((sac_simd)i), &named) && named == (sac_simd)i);
        sac_result result = sac_simd_force((sac_simd)i, &error);
        assert_int_equal(result, sac_simd_supported((sac_simd)i) ? SAC_OK : SAC_ERROR_UNSUPPORTED);
        if (result == SAC_OK) assert_int_equal(sac_simd_active(), i);
    }
    assert_false(sac_simd_from_name("mmx", &named));
    sac_simd_force(best, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_name_place_and_remedy),
        cmocka_unit_test(a_long_path_keeps_its_end),
        cmocka_unit_test(arena_rewinds_without_allocating),
        cmocka_unit_test(arrays_grow),
        cmocka_unit_test(the_user_allocator_sees_everything),
        cmocka_unit_test(credits_are_time),
        cmocka_unit_test(rng_repeats_and_spreads),
        cmocka_unit_test(relative_transform_agrees_with_going_through_the_world),
        cmocka_unit_test(joined_rotations_turn_by_both),
        cmocka_unit_test(every_item_runs_once),
        cmocka_unit_test(simd_can_be_forced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
