#include "xr/frame_time.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Beyond it a period or an unexplained step is nonsense. Below the shortest a period is, too. */
static const int64_t absurd_ns = 500000000, shortest_period_ns = 1000000;

/* ---- ledger ---- */

void sac_ledger_init(sac_ledger *ledger) { memset(ledger, 0, sizeof *ledger); }

void sac_ledger_break(sac_ledger *ledger)
{
    ledger->any = false;
    ledger->period_ns = 0;
    ledger->odd_xr = 0;
    ledger->wake_ns = 0;
}

static bool period_makes_sense(int64_t period) { return period >= shortest_period_ns && period <= absurd_ns; }

static int64_t rounded(int64_t value, int64_t by)
{
    int64_t whole = value / by, rest = value % by;
    return whole + (rest >= by - rest);
}

/* A step of the display time that can be believed: ahead, and if it is long, our own clock saw it too. */
static bool step_makes_sense(int64_t step, uint64_t waited)
{
    if (step <= 0) return false;
    if (step <= absurd_ns) return true;
    if (!waited || waited > INT64_MAX) return false;
    int64_t off = step - (int64_t)waited;
    return off <= absurd_ns && off >= -absurd_ns;
}

static void note_wake(sac_ledger *ledger, uint64_t wake_ns)
{
    if (ledger->wake_ns && wake_ns > ledger->wake_ns) {
        double apart = (double)(wake_ns - ledger->wake_ns), off = apart - ledger->wake_mean_ns;
        ledger->wakes++;
        ledger->wake_mean_ns += off / (double)ledger->wakes;
        ledger->wake_spread += off * (apart - ledger->wake_mean_ns);
    }
    ledger->wake_ns = wake_ns;
}

static void first_frame(sac_ledger *ledger, const sac_frame_stamp *stamp, sac_frame_verdict *verdict)
{
    bool period_good = period_makes_sense(stamp->period_ns);
    /* Wrong by a factor of three perhaps, but better than nothing to plan the first slice with. */
    verdict->period_ns = period_good ? stamp->period_ns : 1000000000 / 90;
    verdict->display_xr = stamp->predicted_xr;
    verdict->strange = stamp->predicted_xr <= 0 || !period_good;
    if (stamp->predicted_xr <= 0) return; /* nothing to reckon from: the next one is the first */
    ledger->display_xr = stamp->predicted_xr;
    ledger->any = true;
}

static void later_frame(sac_ledger *ledger, const sac_frame_stamp *stamp, uint64_t waited,
                        sac_frame_verdict *verdict)
{
    int64_t before = ledger->period_ns, period = before;
    if (period_makes_sense(stamp->period_ns))
        period = stamp->period_ns;
    else
        verdict->strange = true;
    ledger->period_ns = period;

    int64_t said = stamp->predicted_xr, from = ledger->display_xr, step = said > 0 ? said - from : 0;
    bool good = said > 0 && step_makes_sense(step, waited);
    if (!good && said > 0 && ledger->odd_xr && step_makes_sense(said - ledger->odd_xr, waited)) {
        step = said - ledger->odd_xr;
        good = true;
    }
    ledger->odd_xr = 0;
    if (!good) {
        verdict->strange = true;
        ledger->odd_xr = said > 0 ? said : 0;
        step = period ? period : 1000000000 / 90;
        said = from <= INT64_MAX - step ? from + step : from;
    }
    verdict->period_ns = period ? period : 1000000000 / 90;
    verdict->display_xr = said;
    verdict->step_ns = step;
    ledger->display_xr = said;
    if (!good || !period) return;
    /* The step may have been made at the old rate or at the new one: nothing was missed that one of them
     * explains. A period that only jitters is not a change. */
    int64_t change = before > period ? before - period : period - before;
    int64_t longer = before > period ? before : period;
    int64_t missed = rounded(step, before && change > longer / 10 ? longer : period) - 1;
    verdict->missed = missed < 0 ? 0 : missed > UINT32_MAX ? UINT32_MAX : (uint32_t)missed;
}

void sac_ledger_add(sac_ledger *ledger, const sac_frame_stamp *stamp, sac_frame_verdict *out_verdict)
{
    sac_frame_verdict verdict = {0};
    uint64_t waited =
        ledger->wake_ns && stamp->wake_ns > ledger->wake_ns ? stamp->wake_ns - ledger->wake_ns : 0;
    note_wake(ledger, stamp->wake_ns);
    ledger->frames++;
    ledger->rendered += stamp->should_render;
    if (ledger->any)
        later_frame(ledger, stamp, waited, &verdict);
    else
        first_frame(ledger, stamp, &verdict);
    ledger->missed += verdict.missed;
    ledger->missed_frames += verdict.missed > 0;
    ledger->strange += verdict.strange;
    if (verdict.missed > ledger->longest_miss) ledger->longest_miss = verdict.missed;
    if (out_verdict) *out_verdict = verdict;
}

double sac_ledger_wake_sd_ns(const sac_ledger *ledger)
{
    return ledger->wakes < 2 ? 0 : sqrt(ledger->wake_spread / (double)(ledger->wakes - 1));
}

const char *sac_ledger_tell(const sac_ledger *ledger, char *out, size_t size)
{
    snprintf(out, size,
             "%llu frames, %llu rendered; %llu periods missed before %llu frames, longest %u; "
             "period %.3f ms, from wake to wake %.3f ms, sd %.3f ms; %llu frames with strange times",
             (unsigned long long)ledger->frames, (unsigned long long)ledger->rendered,
             (unsigned long long)ledger->missed, (unsigned long long)ledger->missed_frames,
             ledger->longest_miss, (double)ledger->period_ns * 1e-6, ledger->wake_mean_ns * 1e-6,
             sac_ledger_wake_sd_ns(ledger) * 1e-6, (unsigned long long)ledger->strange);
    return out;
}

/* ---- slice ---- */

sac_slice_def sac_default_slice_def(void)
{
    return (sac_slice_def){
        .most_ns = 4000000, .least_ns = 200000, .margin_ns = 500000, .most_margin_ns = 4000000};
}

void sac_slice_init(sac_slice *slice, const sac_slice_def *def)
{
    memset(slice, 0, sizeof *slice);
    slice->def = def ? *def : sac_default_slice_def();
    slice->margin_ns = slice->def.margin_ns;
}

static uint64_t plus(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

uint64_t sac_slice_plan(const sac_slice *slice, uint64_t now_ns, uint64_t wake_ns, uint64_t predicted_ns,
                        int64_t period_ns)
{
    uint64_t earliest = plus(now_ns, slice->def.least_ns), latest = plus(now_ns, slice->def.most_ns);
    uint64_t limit = UINT64_MAX;
    if (wake_ns && period_ns > 0) limit = plus(wake_ns, (uint64_t)period_ns);
    if (predicted_ns && predicted_ns < limit) limit = predicted_ns;
    if (limit != UINT64_MAX) {
        uint64_t held_back = plus(slice->render_ns, slice->margin_ns);
        limit = limit > held_back ? limit - held_back : 0;
    }
    if (limit > latest) limit = latest;
    return limit < earliest ? earliest : limit;
}

/* The 95th percentile of the ring; with few in it that is the largest. */
static uint64_t high_cost(const sac_slice *slice)
{
    uint64_t sorted[SAC_SLICE_COSTS];
    uint32_t n = slice->cost_count;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = i;
        for (; at && sorted[at - 1] > slice->costs[i]; at--) sorted[at] = sorted[at - 1];
        sorted[at] = slice->costs[i];
    }
    return n ? sorted[n - 1 - n / 20] : 0;
}

void sac_slice_learn(sac_slice *slice, uint64_t render_ns, uint32_t missed)
{
    if (render_ns) {
        slice->costs[slice->cost_next] = render_ns;
        slice->cost_next = (slice->cost_next + 1) % SAC_SLICE_COSTS;
        if (slice->cost_count < SAC_SLICE_COSTS) slice->cost_count++;
        slice->render_ns = high_cost(slice);
    }
    /* Half as much again at once when it was missed, a sixteenth back every half second or so when not:
     * misses in a row lead to the largest margin in a few frames, and a single one is forgotten in ten
     * seconds. */
    const uint32_t patience = 45;
    if (missed) {
        uint64_t more = slice->margin_ns / 2 > 100000 ? slice->margin_ns / 2 : 100000;
        slice->margin_ns = plus(slice->margin_ns, more);
        if (slice->margin_ns > slice->def.most_margin_ns) slice->margin_ns = slice->def.most_margin_ns;
        if (slice->margin_ns < slice->def.margin_ns) slice->margin_ns = slice->def.margin_ns;
        slice->quiet = 0;
    } else if (++slice->quiet >= patience) {
        uint64_t less = slice->margin_ns / 16;
        slice->margin_ns =
            slice->margin_ns > slice->def.margin_ns + less ? slice->margin_ns - less : slice->def.margin_ns;
        slice->quiet = 0;
    }
}

/* ---- ticker ---- */

void sac_ticker_init(sac_ticker *ticker, double dt)
{
    *ticker = (sac_ticker){.dt = dt > 0 && dt < 1 ? dt : 1.0 / 90, .rate = 1, .most_steps = 8};
}

void sac_ticker_nudge(sac_ticker *ticker) { ticker->elapsed_ns += ticker->dt * 1e9; }

uint32_t sac_ticker_advance(sac_ticker *ticker, int64_t display_ns, double *out_alpha)
{
    double step_ns = ticker->dt * 1e9;
    if (!ticker->any) {
        ticker->any = true;
        ticker->display_ns = display_ns;
        ticker->elapsed_ns += 1.5 * step_ns;
    }
    /* Apart as doubles first: two times of different clocks may be further apart than an int64 holds. */
    double apart = (double)display_ns - (double)ticker->display_ns;
    if (display_ns > ticker->display_ns) {
        double ahead = apart < 9e18 ? (double)(display_ns - ticker->display_ns) : apart;
        if (ticker->rate > 0 && ticker->rate <= 1e3) ticker->elapsed_ns += ticker->rate * ahead;
        ticker->display_ns = display_ns;
    } else if (apart < -(double)absurd_ns) {
        ticker->display_ns = display_ns;
    }
    double due = floor(ticker->elapsed_ns / step_ns), taken = (double)ticker->steps;
    double wanted = due > taken ? due - taken : 0;
    if (wanted > ticker->most_steps) {
        double over = wanted - ticker->most_steps;
        ticker->dropped += over < 1e15 ? (uint64_t)over : (uint64_t)1e15;
        ticker->elapsed_ns -= over * step_ns;
        wanted = ticker->most_steps;
        /* What rounding leaves may lie on the wrong side of the last step. */
        if (!(ticker->elapsed_ns >= (taken + wanted) * step_ns))
            ticker->elapsed_ns = (taken + wanted) * step_ns;
    }
    ticker->steps += (uint64_t)wanted;
    double alpha = ticker->elapsed_ns / step_ns - (double)ticker->steps;
    if (out_alpha) *out_alpha = alpha < 0 ? 0 : alpha > 1 ? 1 : alpha;
    return (uint32_t)wanted;
}
