/* Stops that end in time and can be repeated; a predictor that learns costs and reserves enough. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "scheduler/scheduler.h"

/* A clock that advances as told by each piece of work, and counts who looks at it. */
typedef struct fake {
    uint64_t now, looks;
} fake;
static uint64_t fake_now(void *user)
{
    fake *f = user;
    f->looks++;
    return f->now;
}

static void ends_in_time(void **state)
{
    (void)state;
    /* 0.05 to 50 ns a credit, pieces of very different size. */
    for (uint32_t ps = 50; ps <= 50000; ps *= 10) {
        fake time = {.now = 777};
        sac_clock clock = sac_clock_caller(fake_now, &time);
        sac_pace pace;
        sac_pace_init(&pace);
        sac_rng rng = sac_rng_seed(ps);
        for (int frame = 0; frame < 20; frame++) {
            sac_stop stop;
            uint64_t start = time.now, looks = time.looks, largest = 0, work = 0;
            sac_stop_at(&stop, &clock, start + 1000000, &pace);
            while (!sac_stop_reached(&stop)) {
                uint64_t piece = 16 + sac_rng_below(&rng, 200), ns = piece * ps / 1000;
                if (piece > largest) largest = piece;
                time.now += ns;
                work += piece;
                sac_stop_did(&stop, piece);
            }
            assert_true(time.now >= start + 1000000);
            assert_int_equal(stop.spent, work);
            /* Once the pace is learned: a couple of looks' time late at most, or 256 credits. */
            uint64_t grace = 4000 + (256 + largest) * ps / 1000;
            if (frame > 5) {
                assert_true(time.now <= start + 1000000 + grace);
                assert_int_equal(stop.late_ns, time.now - start - 1000000);
                assert_true(time.looks - looks < 3000);
            }
        }
    }
}

/* What the work makes to do afterwards is kept free before the deadline, as it grows. */
static void keeps_time_for_later(void **state)
{
    (void)state;
    fake time = {.now = 50000};
    sac_clock clock = sac_clock_caller(fake_now, &time);
    sac_pace pace;
    sac_pace_init(&pace);
    sac_stop stop;
    const uint64_t start = time.now, budget = 1000000;
    uint64_t kept = 0;
    sac_stop_at(&stop, &clock, start + budget, &pace);
    while (!sac_stop_reached(&stop)) {
        time.now += 1000;
        sac_stop_did(&stop, 2000);
        sac_stop_keep(&stop, kept += 3000);
    }
    assert_in_range(time.now + kept, start + budget, start + budget + 20000);
    /* More than there is: at once, and nothing wraps. */
    sac_stop_at(&stop, &clock, time.now + budget, &pace);
    sac_stop_keep(&stop, UINT64_MAX);
    assert_true(sac_stop_reached(&stop));
    sac_stop_at(&stop, &clock, UINT64_MAX, &pace);
    sac_stop_keep(&stop, budget);
    assert_false(sac_stop_reached(&stop) || sac_stop_before(&stop, 1000000));
}

/* Large pieces: the one that would be late is not begun, all that fit are, and a replay stops at the same. */
static void stops_before(void **state)
{
    (void)state;
    for (uint32_t ps = 50; ps <= 50000; ps *= 10) {
        fake time = {.now = 777};
        sac_clock clock = sac_clock_caller(fake_now, &time);
        sac_pace pace;
        sac_pace_init(&pace);
        sac_stop stop, again;
        const uint64_t piece = 20000, ns = piece * ps / 1000, start = time.now, most = 13 * ns + ns / 2;
        sac_stop_at(&stop, &clock, start + most, &pace);
        assert_false(sac_stop_reached(&stop)); /* the first look */
        while (!sac_stop_before(&stop, piece)) {
            time.now += ns;
            sac_stop_did(&stop, piece);
        }
        assert_true(time.now <= start + most);
        assert_int_equal(stop.pieces, 13);
        sac_stop_after(&again, &clock, stop.pieces);
        for (uint32_t i = 0; i < 13; i++) {
            assert_false(sac_stop_before(&again, piece));
            sac_stop_did(&again, piece);
        }
        assert_true(sac_stop_before(&again, piece));
    }
}

static void past_deadline(void **state)
{
    (void)state;
    fake time = {.now = 5000};
    sac_clock clock = sac_clock_caller(fake_now, &time);
    sac_pace pace;
    sac_stop stop;
    sac_pace_init(&pace);
    sac_stop_at(&stop, &clock, 4000, &pace);
    assert_true(sac_stop_reached(&stop));
    assert_int_equal(stop.pieces, 0);
    sac_stop_at(&stop, &clock, 0, NULL);
    assert_true(sac_stop_reached(&stop));
}

/* Set back an hour: the work goes on for what was left, not for an hour. Set ahead: it stops. */
static void clock_jumps(void **state)
{
    (void)state;
    fake time = {.now = 3600000000000ull * 5};
    sac_clock clock = sac_clock_caller(fake_now, &time);
    sac_pace pace;
    sac_pace_init(&pace);
    sac_stop stop;
    sac_stop_at(&stop, &clock, time.now + 1000000, &pace);
    uint64_t worked = 0;
    for (int i = 0; !sac_stop_reached(&stop); i++) {
        if (i == 1000) time.now -= 3600000000000ull;
        time.now += 100;
        worked += 100;
        sac_stop_did(&stop, 200);
        assert_true(worked < 1100000);
    }
    assert_true(worked >= 950000);
    sac_stop_at(&stop, &clock, time.now + 1000000, &pace);
    for (worked = 0; !sac_stop_reached(&stop); worked++) {
        if (worked == 1000) time.now += 3600000000000ull;
        time.now += 100;
        sac_stop_did(&stop, 200);
    }
    assert_true(worked >= 1000 && worked < 1400);
}

/* What has no end has none, whatever the clock says. */
static void no_deadline_is_none(void **state)
{
    (void)state;
    const uint64_t leaps[] = {1000, UINT64_MAX - 5, 7, UINT64_MAX / 2, 3, UINT64_MAX, 1, UINT64_MAX - 1};
    for (int paced = 0; paced < 2; paced++) {
        fake time = {0};
        sac_clock clock = sac_clock_caller(fake_now, &time);
        sac_pace pace;
        sac_pace_init(&pace);
        sac_stop stop;
        sac_stop_at(&stop, &clock, UINT64_MAX, paced ? &pace : NULL);
        for (uint32_t i = 0; i < 64; i++) {
            time.now = leaps[i % 8];
            assert_false(sac_stop_reached(&stop));
            assert_false(sac_stop_before(&stop, 1000000));
            sac_stop_did(&stop, 70000);
        }
        assert_true(time.looks > 8);
    }
}

static void counts_again(void **state)
{
    (void)state;
    sac_clock clock = sac_clock_credits(500);
    sac_pace pace;
    sac_pace_init(&pace);
    sac_stop live, again;
    sac_rng rng = sac_rng_seed(3);
    sac_stop_at(&live, &clock, 50000, &pace);
    while (!sac_stop_reached(&live)) sac_stop_did(&live, sac_rng_below(&rng, 500));
    assert_true(live.pieces > 100);
    sac_clock other = sac_clock_credits(500);
    rng = sac_rng_seed(3);
    sac_stop_after(&again, &other, live.pieces);
    while (!sac_stop_reached(&again)) sac_stop_did(&again, sac_rng_below(&rng, 500));
    assert_int_equal(again.spent, live.spent);
    assert_int_equal(again.pieces, live.pieces);
    assert_true(again.reached);
    sac_stop_charge(&again, 10);
    assert_int_equal(again.pieces, live.pieces);
    assert_int_equal(again.spent, live.spent + 10);
    /* Nothing to do is stopped at once, nothing recorded never. */
    sac_stop_after(&again, &other, 0);
    assert_true(sac_stop_reached(&again));
}

/* Work that goes on after time was up is not what it was stopped after: a replay would stop later. */
static void what_comes_after_does_not_count(void **state)
{
    (void)state;
    fake time = {.now = 1000};
    sac_clock clock = sac_clock_caller(fake_now, &time);
    sac_stop stop, again;
    uint64_t pieces = 0;
    sac_stop_at(&stop, &clock, 50000, NULL);
    for (; !sac_stop_reached(&stop); pieces++) {
        time.now += 1000;
        sac_stop_did(&stop, 5000);
    }
    sac_stop_did(&stop, 5000);
    sac_stop_saw(&stop, 5000);
    assert_true(sac_stop_reached(&stop));
    assert_int_equal(stop.pieces, pieces);
    sac_stop_after(&again, &clock, stop.pieces);
    for (uint64_t i = 0; i < pieces; i++) {
        assert_false(sac_stop_reached(&again));
        sac_stop_did(&again, 5000);
    }
    assert_true(sac_stop_reached(&again));
}

static void learns_costs(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(4);
    for (int round = 0; round < 5; round++) {
        double fixed = 500 + 5000 * sac_rng_double(&rng), per_a = 5 + 200 * sac_rng_double(&rng),
               per_b = 5 + 100 * sac_rng_double(&rng);
        sac_predictor p;
        sac_predictor_init(&p, 1000, 50, 50);
        uint32_t over = 0, asked = 0;
        double reserved = 0, spent = 0;
        for (int i = 0; i < 3000; i++) {
            double a = sac_rng_below(&rng, 2000), b = sac_rng_below(&rng, 1000);
            double actual = (fixed + per_a * a + per_b * b) * (0.9 + 0.2 * sac_rng_double(&rng));
            if (sac_rng_below(&rng, 500) == 0) actual *= 30; /* a stolen core */
            if (i > 500) {
                double reserve = sac_predictor_reserve_ns(&p, a, b);
                over += actual > reserve;
                asked++;
                if (actual < 3 * reserve) reserved += reserve, spent += actual;
            }
            sac_predictor_learn(&p, a, b, actual);
        }
        double true_mean = fixed + per_a * 1000 + per_b * 500;
        assert_true(fabs(sac_predictor_mean_ns(&p, 1000, 500) / true_mean - 1) < 0.15);
        assert_true(over < asked / 40);      /* enough in about 99 of 100 */
        assert_true(reserved < 2.0 * spent); /* and not at any price */
        for (int k = 0; k < 3; k++) assert_true(p.weight[k] >= 0);
    }
}

/* The machine becomes three times slower: within a hundred lessons it is known. */
static void follows_changes(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(5);
    sac_predictor p;
    sac_predictor_init(&p, 1000, 50, 50);
    for (int i = 0; i < 1000; i++) {
        double a = 500 + sac_rng_below(&rng, 10), b = 100;
        sac_predictor_learn(&p, a, b, 20 * a + 30 * b + 2000);
    }
    assert_true(fabs(sac_predictor_mean_ns(&p, 505, 100) / 15100 - 1) < 0.02);
    for (int i = 0; i < 100; i++) {
        double a = 500 + sac_rng_below(&rng, 10), b = 100;
        sac_predictor_learn(&p, a, b, 3 * (20 * a + 30 * b + 2000));
    }
    assert_true(fabs(sac_predictor_mean_ns(&p, 505, 100) / 45300 - 1) < 0.05);
    /* Twice as much to do as ever seen is not free. */
    assert_true(sac_predictor_mean_ns(&p, 1010, 200) > 50000);
}

static void nonsense_is_survived(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(6);
    const double odd[] = {NAN, INFINITY, -INFINITY, -1, 0, 1e300, 1e-300, 1e9, 5};
    sac_predictor p;
    sac_predictor_init(&p, NAN, -5, INFINITY);
    for (int i = 0; i < 20000; i++) {
        double a = odd[sac_rng_below(&rng, 9)], b = odd[sac_rng_below(&rng, 9)];
        sac_predictor_learn(&p, a, b, odd[sac_rng_below(&rng, 9)]);
        double reserve = sac_predictor_reserve_ns(&p, odd[sac_rng_below(&rng, 9)], a);
        assert_true(reserve >= 0 && isfinite(reserve));
        assert_true(sac_predictor_mean_ns(&p, a, b) >= 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_in_time),         cmocka_unit_test(keeps_time_for_later),
        cmocka_unit_test(stops_before),         cmocka_unit_test(past_deadline),
        cmocka_unit_test(clock_jumps),          cmocka_unit_test(no_deadline_is_none),
        cmocka_unit_test(counts_again),         cmocka_unit_test(what_comes_after_does_not_count),
        cmocka_unit_test(learns_costs),         cmocka_unit_test(follows_changes),
        cmocka_unit_test(nonsense_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
