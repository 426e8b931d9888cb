/* Time of a frame: misses counted exactly, a slice that ends in time, the same motion at every rate. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "xr/frame_time.h"

static const int64_t ms = 1000000;

/* A runtime that keeps time: makes stamps, `skip` periods left out before each. */
typedef struct metronome {
    int64_t predicted, period, lead;
    uint64_t monotonic;
    bool begun;
} metronome;

static sac_frame_stamp tick(metronome *m, uint32_t skip)
{
    int64_t step = m->begun ? (int64_t)(skip + 1) * m->period : 0;
    m->begun = true;
    m->predicted += step;
    m->monotonic += (uint64_t)step;
    return (sac_frame_stamp){.wait_begin_ns = m->monotonic - 100000,
                             .wake_ns = m->monotonic,
                             .predicted_xr = m->predicted,
                             .period_ns = m->period,
                             .should_render = true};
}

static metronome clock_of(double hz)
{
    return (metronome){.predicted = 700 * ms, .period = (int64_t)(1e9 / hz + 0.5), .monotonic = 123456789012};
}

/* Wherever frames are left out and however predictions and wakes jitter: the count is exact, frame by frame.
 */
static void misses_are_exact_under_jitter(void **state)
{
    (void)state;
    const double rates[] = {20, 60, 72, 90, 120, 144};
    for (uint32_t r = 0; r < 6; r++) {
        sac_rng rng = sac_rng_seed(40 + r);
        sac_ledger ledger;
        sac_ledger_init(&ledger);
        metronome m = clock_of(rates[r]);
        uint64_t missed = 0, gaps = 0;
        uint32_t longest = 0;
        for (int i = 0; i < 5000; i++) {
            uint32_t skip = i == 0 ? 0 : sac_rng_below(&rng, 10) == 0 ? 1 + sac_rng_below(&rng, 60) : 0;
            sac_frame_stamp stamp = tick(&m, skip);
            stamp.predicted_xr += (int64_t)(sac_rng_range(&rng, -0.24f, 0.24f) * (float)m.period);
            stamp.wake_ns += sac_rng_below(&rng, 3000000);
            stamp.period_ns += (int64_t)sac_rng_below(&rng, 2000) - 1000;
            sac_frame_verdict verdict;
            sac_ledger_add(&ledger, &stamp, &verdict);
            assert_int_equal(verdict.missed, skip);
            assert_false(verdict.strange);
            assert_true(verdict.display_xr == stamp.predicted_xr);
            missed += skip;
            gaps += skip > 0;
            if (skip > longest) longest = skip;
        }
        assert_true(ledger.missed == missed && ledger.missed_frames == gaps && ledger.frames == 5000);
        assert_int_equal(ledger.longest_miss, longest);
        assert_true(ledger.strange == 0 && ledger.rendered == 5000 && missed > 1000);
    }
}

/* Monado's null compositor: the first frame says 16 ms, all others 50 ms, and each step is 50 ms. */
static void first_period_is_not_believed(void **state)
{
    (void)state;
    sac_ledger ledger;
    sac_frame_verdict verdict;
    sac_ledger_init(&ledger);
    metronome m = clock_of(20);
    sac_frame_stamp stamp = tick(&m, 0);
    stamp.period_ns = 16 * ms;
    sac_ledger_add(&ledger, &stamp, &verdict);
    assert_true(verdict.missed == 0 && verdict.step_ns == 0 && !verdict.strange);
    assert_true(verdict.period_ns == 16 * ms); /* to plan with */
    for (int i = 0; i < 5; i++) {
        stamp = tick(&m, i == 2 ? 1 : 0);
        sac_ledger_add(&ledger, &stamp, &verdict);
        assert_int_equal(verdict.missed, i == 2 ? 1 : 0);
        assert_true(verdict.period_ns == 50 * ms);
    }
    /* Broken off and begun again: neither the gap nor the first period counts. */
    sac_ledger_break(&ledger);
    m.predicted += 7000 * ms;
    stamp = tick(&m, 0);
    stamp.period_ns = 16 * ms;
    sac_ledger_add(&ledger, &stamp, &verdict);
    assert_true(verdict.missed == 0 && !verdict.strange);
    stamp = tick(&m, 0);
    sac_ledger_add(&ledger, &stamp, &verdict);
    assert_true(verdict.missed == 0 && ledger.missed == 1 && ledger.frames == 8);
}

/* One bad frame among good ones, of each kind, with a frame left out before, in or after it. */
static void strange_times_hide_nothing(void **state)
{
    (void)state;
    const int64_t odd[] = {0, -1, -5 * ms, INT64_MIN, INT64_MAX, INT64_MAX - 1, 1, 100 * ms, 3600000 * ms};
    const int64_t periods[] = {0, -11 * ms, 1, INT64_MAX, INT64_MIN, 501 * ms, 999999};
    for (uint32_t kind = 0; kind < 9 + 7; kind++)
        for (uint32_t gap_at = 0; gap_at < 10; gap_at++) {
            sac_ledger ledger;
            sac_frame_verdict verdict;
            sac_ledger_init(&ledger);
            metronome m = clock_of(90);
            m.predicted = 5000 * ms;
            for (uint32_t i = 0; i < 10; i++) {
                sac_frame_stamp stamp = tick(&m, i && i == gap_at ? 3 : 0);
                if (i == 5 && kind < 9) stamp.predicted_xr = odd[kind];
                if (i == 5 && kind >= 9) stamp.period_ns = periods[kind - 9];
                sac_ledger_add(&ledger, &stamp, &verdict);
                assert_int_equal(verdict.strange, i == 5);
                assert_true(verdict.period_ns == m.period || i == 0);
                if (i != 5) assert_true(verdict.display_xr == m.predicted);
                if (i == 5) assert_true(verdict.display_xr <= m.predicted && verdict.step_ns >= m.period);
            }
            assert_true(ledger.missed == (gap_at ? 3 : 0) && ledger.missed_frames == (gap_at > 0));
            assert_true(ledger.strange == 1);
        }
    /* Negative from the start: nothing to reckon with until one is not. */
    sac_ledger ledger;
    sac_frame_verdict verdict;
    sac_ledger_init(&ledger);
    metronome m = clock_of(90);
    for (int i = 0; i < 20; i++) {
        sac_frame_stamp stamp = tick(&m, 0);
        if (i < 10) stamp.predicted_xr = -stamp.predicted_xr;
        sac_ledger_add(&ledger, &stamp, &verdict);
        assert_true(verdict.strange == (i < 10) && verdict.missed == 0);
    }
}

/* Half a second: a step that long is a stall if our clock saw it, nonsense if not. */
static void long_stalls_are_told_from_nonsense(void **state)
{
    (void)state;
    sac_ledger ledger;
    sac_frame_verdict verdict;
    sac_ledger_init(&ledger);
    metronome m = clock_of(20);
    for (int i = 0; i < 4; i++) {
        sac_frame_stamp stamp = tick(&m, 0);
        sac_ledger_add(&ledger, &stamp, &verdict);
    }
    sac_frame_stamp stamp = tick(&m, 99); /* five seconds */
    sac_ledger_add(&ledger, &stamp, &verdict);
    assert_true(verdict.missed == 99 && !verdict.strange);
    /* The clock of the runtime jumps by an hour, ahead or back, and stays there. */
    for (int back = 0; back < 2; back++) {
        m.predicted += back ? -1800000 * ms : 3600000 * ms;
        for (int i = 0; i < 4; i++) {
            stamp = tick(&m, i == 2 ? 1 : 0);
            sac_ledger_add(&ledger, &stamp, &verdict);
            assert_int_equal(verdict.strange, i == 0);
            assert_int_equal(verdict.missed, i == 2 ? 1 : 0);
            assert_true(verdict.step_ns == (i == 2 ? 100 : 50) * ms);
            if (i) assert_true(verdict.display_xr == m.predicted);
        }
    }
    assert_true(ledger.missed == 99 + 2 && ledger.strange == 2);
    /* Without wakes the rule is the plain half second. */
    sac_ledger_init(&ledger);
    m = clock_of(20);
    for (int i = 0; i < 4; i++) {
        stamp = tick(&m, i == 2 ? 8 : i == 3 ? 20 : 0);
        stamp.wake_ns = 0;
        sac_ledger_add(&ledger, &stamp, &verdict);
        assert_int_equal(verdict.missed, i == 2 ? 8 : 0);
        assert_int_equal(verdict.strange, i == 3);
    }
}

/* Whatever the order of rates, a change itself is no miss, whether the new rate shows in the step at once or
 * one frame later. */
static void rate_changes_are_no_misses(void **state)
{
    (void)state;
    const double rates[] = {120, 20, 90, 72, 120, 60, 144, 30};
    for (int late = 0; late < 2; late++) {
        sac_ledger ledger;
        sac_frame_verdict verdict;
        sac_ledger_init(&ledger);
        metronome m = clock_of(90);
        uint64_t missed = 0;
        for (int r = 0; r < 8; r++)
            for (int i = 0; i < 30; i++) {
                int64_t period = (int64_t)(1e9 / rates[r] + 0.5);
                uint32_t skip = i == 17 ? 2 : 0;
                if (!(late && i == 0)) m.period = period;
                sac_frame_stamp stamp = tick(&m, skip);
                stamp.period_ns = period;
                sac_ledger_add(&ledger, &stamp, &verdict);
                missed += skip;
                assert_int_equal(verdict.missed, skip);
                assert_true(verdict.period_ns == period && !verdict.strange);
            }
        assert_true(ledger.missed == missed);
    }
}

static void wakes_are_summed_up(void **state)
{
    (void)state;
    sac_ledger ledger;
    sac_ledger_init(&ledger);
    metronome m = clock_of(100);
    double apart[400], mean = 0, square = 0;
    uint64_t last = 0;
    sac_rng rng = sac_rng_seed(9);
    for (int i = 0; i < 401; i++) {
        sac_frame_stamp stamp = tick(&m, 0);
        stamp.wake_ns += sac_rng_below(&rng, 1000000);
        stamp.should_render = i % 4 != 0;
        if (i) apart[i - 1] = (double)(stamp.wake_ns - last);
        last = stamp.wake_ns;
        sac_ledger_add(&ledger, &stamp, NULL);
    }
    for (int i = 0; i < 400; i++) mean += apart[i] / 400;
    for (int i = 0; i < 400; i++) square += (apart[i] - mean) * (apart[i] - mean) / 399;
    assert_true(fabs(ledger.wake_mean_ns - mean) < 1e-3);
    assert_true(fabs(sac_ledger_wake_sd_ns(&ledger) - sqrt(square)) < 1e-3);
    assert_true(ledger.rendered == 300);
    char text[320], small[8];
    assert_non_null(strstr(sac_ledger_tell(&ledger, text, sizeof text), "401 frames, 300 rendered"));
    assert_non_null(strstr(text, "period 10.000 ms"));
    assert_true(strlen(sac_ledger_tell(&ledger, small, sizeof small)) == 7);
}

static void slice_ends_in_time(void **state)
{
    (void)state;
    sac_slice slice;
    sac_slice_init(&slice, NULL);
    const uint64_t wake = 1000000000, period = 11111111;
    /* Nothing known of drawing: the longest slice fits. */
    assert_true(sac_slice_plan(&slice, wake, wake, wake + 30000000, (int64_t)period) == wake + 4000000);
    for (int i = 0; i < 64; i++) sac_slice_learn(&slice, 8000000, 0);
    assert_true(slice.render_ns == 8000000 && slice.margin_ns == 500000);
    assert_true(sac_slice_plan(&slice, wake, wake, wake + 30000000, (int64_t)period) ==
                wake + period - 8500000);
    /* The display comes first. */
    assert_true(sac_slice_plan(&slice, wake, wake, wake + 10000000, (int64_t)period) == wake + 1500000);
    /* Late, the display gone by, or numbers without sense: a little all the same, and never more than most.
     */
    const uint64_t odd[] = {0, 1, wake - 1, wake, wake + 1, UINT64_MAX, UINT64_MAX - 1};
    const int64_t odd_periods[] = {INT64_MIN, -1, 0, 1, INT64_MAX};
    for (uint32_t a = 0; a < 7; a++)
        for (uint32_t b = 0; b < 7; b++)
            for (uint32_t c = 0; c < 5; c++) {
                uint64_t deadline = sac_slice_plan(&slice, wake, odd[a], odd[b], odd_periods[c]);
                assert_true(deadline >= wake + 200000 && deadline <= wake + 4000000);
            }
    assert_true(sac_slice_plan(&slice, wake, 0, 0, 0) == wake + 4000000);
    assert_true(sac_slice_plan(&slice, wake, 0, wake - 5, 0) == wake + 200000);
}

/* A few outliers do not shorten every slice; a lasting change does, within the ring. */
static void slice_expects_what_drawing_takes(void **state)
{
    (void)state;
    sac_slice slice;
    sac_slice_init(&slice, NULL);
    sac_slice_learn(&slice, 3000000, 0);
    assert_true(slice.render_ns == 3000000);
    sac_slice_learn(&slice, 0, 0); /* nothing drawn: nothing learned */
    assert_true(slice.render_ns == 3000000 && slice.cost_count == 1);
    sac_rng rng = sac_rng_seed(2);
    for (int i = 0; i < 300; i++)
        sac_slice_learn(&slice, i % 32 == 7 ? 30000000 : 2000000 + sac_rng_below(&rng, 100000), 0);
    assert_true(slice.render_ns < 2100000);
    for (int i = 0; i < 64; i++) sac_slice_learn(&slice, 5000000, 0);
    assert_true(slice.render_ns == 5000000);
}

static void margin_follows_misses(void **state)
{
    (void)state;
    sac_slice slice;
    sac_slice_init(&slice, NULL);
    uint64_t before = slice.margin_ns;
    for (int i = 0; i < 12; i++) {
        sac_slice_learn(&slice, 1000000, 1 + (uint32_t)i);
        assert_true(slice.margin_ns > before || slice.margin_ns == 4000000);
        before = slice.margin_ns;
    }
    assert_true(slice.margin_ns == 4000000);
    int frames = 0;
    for (; slice.margin_ns > 500000 && frames < 10000; frames++) {
        sac_slice_learn(&slice, 1000000, 0);
        assert_true(slice.margin_ns <= before);
        before = slice.margin_ns;
    }
    assert_true(frames > 500 && frames < 3000);
    /* A frame missed now and then holds the margin up, not at the top. */
    for (int i = 0; i < 20000; i++) sac_slice_learn(&slice, 1000000, i % 500 == 0);
    assert_true(slice.margin_ns >= 500000 && slice.margin_ns < 2000000);
    sac_slice_def def = {.most_ns = 1, .least_ns = 2, .margin_ns = 9000000, .most_margin_ns = 1000000};
    sac_slice_init(&slice, &def); /* contradictions are survived */
    sac_slice_learn(&slice, 1, 1);
    assert_true(slice.margin_ns == 9000000);
    assert_true(sac_slice_plan(&slice, 1000, 1000, 2000, 5) == 1002);
}

/* Where a body that moves one metre a second is drawn. */
static double drawn(const sac_ticker *ticker, double alpha)
{
    return ((double)ticker->steps - 1 + alpha) * ticker->dt;
}

/* At every display time the picture shows the same moment, at every rate; and where two rates share a display
 * time they have taken the same number of steps. */
static void motion_is_the_same_at_every_rate(void **state)
{
    (void)state;
    const int64_t start = 987654321987;
    const double dts[] = {1.0 / 90, 1.0 / 120, 1.0 / 60, 0.004};
    const int rates[] = {72, 90, 120, 20, 144};
    for (int d = 0; d < 4; d++) {
        uint64_t steps_at_second[5][21] = {{0}};
        for (int r = 0; r < 5; r++) {
            sac_ticker ticker;
            sac_ticker_init(&ticker, dts[d]);
            ticker.most_steps = 100;
            double alpha;
            for (int i = 0; i <= 20 * rates[r]; i++) {
                int64_t since = (int64_t)i * 1000000000 / rates[r];
                uint32_t steps = sac_ticker_advance(&ticker, start + since, &alpha);
                assert_true(alpha >= 0 && alpha <= 1);
                assert_true(fabs(drawn(&ticker, alpha) - 0.5 * dts[d] - (double)since * 1e-9) < 1e-9);
                if (i && rates[r] * dts[d] > 0.999 && rates[r] * dts[d] < 1.001) assert_int_equal(steps, 1);
                if (i % rates[r] == 0) steps_at_second[r][i / rates[r]] = ticker.steps;
            }
            assert_true(ticker.dropped == 0);
            assert_memory_equal(steps_at_second[r], steps_at_second[0], sizeof steps_at_second[0]);
        }
    }
}

/* Rates that change, frames left out, and jitter: still the same moments, and the same steps at the end. */
static void motion_survives_changes_and_gaps(void **state)
{
    (void)state;
    uint64_t steps = 0;
    for (uint32_t seed = 0; seed < 20; seed++) {
        sac_rng rng = sac_rng_seed(seed);
        sac_ticker ticker;
        sac_ticker_init(&ticker, 0);
        ticker.most_steps = 1000;
        const int64_t start = 5000000000, stop = start + 10000000001;
        double alpha;
        int64_t at = start, period = 11111111;
        sac_ticker_advance(&ticker, start, &alpha);
        while (at < stop) {
            if (sac_rng_below(&rng, 50) == 0)
                period = (int64_t)(1e9 / (double)(20 + sac_rng_below(&rng, 125)));
            at += period * (int64_t)(sac_rng_below(&rng, 20) ? 1 : 1 + sac_rng_below(&rng, 10));
            int64_t shown = at + (int64_t)sac_rng_below(&rng, 4000000) - 2000000;
            if (shown > stop || at >= stop) shown = stop;
            sac_ticker_advance(&ticker, shown, &alpha);
            if (shown < ticker.display_ns) continue; /* jitter took it back: nothing moves */
            assert_true(fabs(drawn(&ticker, alpha) - 0.5 / 90 - (double)(shown - start) * 1e-9) < 1e-9);
        }
        if (seed) assert_true(ticker.steps == steps);
        steps = ticker.steps;
    }
    assert_true(steps == 901);
}

static void display_as_fast_as_steps_gets_one_each(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(1);
    sac_ticker ticker;
    sac_ticker_init(&ticker, 1.0 / 90);
    double alpha;
    for (int i = 0; i < 9000; i++) {
        int64_t jitter = i ? (int64_t)sac_rng_below(&rng, 8000000) - 4000000 : 0;
        assert_int_equal(
            sac_ticker_advance(&ticker, 1000000000 + (int64_t)i * 1000000000 / 90 + jitter, &alpha), 1);
    }
}

static void pause_slow_motion_and_nudge(void **state)
{
    (void)state;
    sac_ticker ticker;
    sac_ticker_init(&ticker, 1.0 / 90);
    double alpha, held;
    int64_t at = 4000000000;
    for (int i = 0; i < 90; i++) sac_ticker_advance(&ticker, at += 11111111, &held);
    uint64_t steps = ticker.steps;
    const double stills[] = {0, -1, NAN, INFINITY};
    for (int i = 0; i < 400; i++) {
        ticker.rate = stills[i % 4];
        assert_int_equal(sac_ticker_advance(&ticker, at += 11111111, &alpha), 0);
        assert_true(alpha == held);
    }
    ticker.rate = 0;
    sac_ticker_nudge(&ticker);
    assert_int_equal(sac_ticker_advance(&ticker, at += 11111111, &alpha), 1);
    assert_true(fabs(alpha - held) < 1e-6);
    assert_int_equal(sac_ticker_advance(&ticker, at += 11111111, &alpha), 0);
    ticker.rate = 0.1;
    double from = drawn(&ticker, alpha);
    for (int i = 0; i < 900; i++) {
        assert_true(sac_ticker_advance(&ticker, at += 11111111, &alpha) <= 1);
        assert_true(fabs(drawn(&ticker, alpha) - from - 0.1 * 0.011111111 * (i + 1)) < 1e-8);
    }
    assert_in_range(ticker.steps, steps + 90, steps + 92);
    assert_true(ticker.dropped == 0);
}

static void too_many_steps_are_let_go(void **state)
{
    (void)state;
    sac_ticker ticker;
    sac_ticker_init(&ticker, 1.0 / 90);
    double alpha, before;
    int64_t at = 4000000000;
    sac_ticker_advance(&ticker, at, &before);
    assert_int_equal(sac_ticker_advance(&ticker, at += 10000000000, &alpha), 8); /* ten seconds: 900 steps */
    assert_true(ticker.dropped == 892 && fabs(alpha - before) < 1e-6);
    assert_int_equal(sac_ticker_advance(&ticker, at += 11111111, &alpha), 1); /* and on as if nothing was */
    ticker.most_steps = 0;
    assert_int_equal(sac_ticker_advance(&ticker, at += 500000000, &alpha), 0);
    assert_true(ticker.dropped == 892 + 45 && alpha >= 0 && alpha <= 1);
}

/* Small steps back wait for the old time; a clock that starts anew goes on at once; nothing overflows. */
static void backward_and_wild_times(void **state)
{
    (void)state;
    sac_ticker ticker;
    sac_ticker_init(&ticker, 1.0 / 90);
    double alpha;
    int64_t at = 4000000000;
    for (int i = 0; i < 10; i++) sac_ticker_advance(&ticker, at += 11111111, &alpha);
    double shown = drawn(&ticker, alpha);
    assert_int_equal(sac_ticker_advance(&ticker, at - 50000000, &alpha), 0);
    assert_true(drawn(&ticker, alpha) == shown);
    sac_ticker_advance(&ticker, at + 11111111, &alpha);
    assert_true(fabs(drawn(&ticker, alpha) - shown - 0.011111111) < 1e-9);
    sac_ticker_advance(&ticker, 5000, &alpha); /* a clock of its own */
    shown = drawn(&ticker, alpha);
    sac_ticker_advance(&ticker, 5000 + 11111111, &alpha);
    assert_true(fabs(drawn(&ticker, alpha) - shown - 0.011111111) < 1e-9);
    const int64_t wild[] = {INT64_MIN, INT64_MAX, 0, -1, INT64_MIN + 1, INT64_MAX - 1, 1};
    for (int i = 0; i < 70; i++) {
        assert_true(sac_ticker_advance(&ticker, wild[i * 3 % 7], &alpha) <= 8);
        assert_true(alpha >= 0 && alpha <= 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misses_are_exact_under_jitter),
        cmocka_unit_test(first_period_is_not_believed),
        cmocka_unit_test(strange_times_hide_nothing),
        cmocka_unit_test(long_stalls_are_told_from_nonsense),
        cmocka_unit_test(rate_changes_are_no_misses),
        cmocka_unit_test(wakes_are_summed_up),
        cmocka_unit_test(slice_ends_in_time),
        cmocka_unit_test(slice_expects_what_drawing_takes),
        cmocka_unit_test(margin_follows_misses),
        cmocka_unit_test(motion_is_the_same_at_every_rate),
        cmocka_unit_test(motion_survives_changes_and_gaps),
        cmocka_unit_test(display_as_fast_as_steps_gets_one_each),
        cmocka_unit_test(pause_slow_motion_and_nudge),
        cmocka_unit_test(too_many_steps_are_let_go),
        cmocka_unit_test(backward_and_wild_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
