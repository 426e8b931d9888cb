#include "scheduler/budget.h"

#include <math.h>

#define LEAST_K 256u
#define MOST_K 65536u

void sac_pace_init(sac_pace *pace)
{
    if (pace) *pace = (sac_pace){.look_ns = 2000, .credits = 4096};
}

void sac_stop_at(sac_stop *stop, sac_clock *clock, uint64_t deadline_ns, sac_pace *pace)
{
    if (!stop) return;
    *stop = (sac_stop){.clock = clock, .pace = pace, .deadline_ns = deadline_ns, .limit = UINT64_MAX};
}

void sac_stop_after(sac_stop *stop, sac_clock *clock, uint64_t pieces)
{
    if (!stop) return;
    *stop = (sac_stop){.clock = clock, .limit = pieces};
}

static uint64_t within(double credits)
{
    if (!(credits > LEAST_K)) return LEAST_K;
    return credits < MOST_K ? (uint64_t)credits : MOST_K;
}

static uint64_t end_of(const sac_stop *stop)
{
    if (stop->deadline_ns == UINT64_MAX) return UINT64_MAX;
    return stop->deadline_ns > stop->kept_ns ? stop->deadline_ns - stop->kept_ns : 0;
}

void sac_stop_look(sac_stop *stop)
{
    uint64_t now = sac_clock_now(stop->clock), done = stop->spent - stop->last_spent;
    bool endless = stop->deadline_ns == UINT64_MAX;
    if (stop->looked && now < stop->last_ns) {
        /* The clock was set back. What was left is still left, no more. */
        if (!endless) stop->deadline_ns = now + (stop->deadline_ns - stop->last_ns);
    } else if (stop->looked && now > stop->last_ns && done > 0 && stop->pace) {
        /* A quarter of the way to what the last stretch says: a stolen core must not halve the pace. */
        double fresh = (double)done * stop->pace->look_ns / (double)(now - stop->last_ns);
        stop->pace->credits = within(0.75 * (double)stop->pace->credits + 0.25 * (double)within(fresh));
    }
    if (!stop->looked || now < stop->first_ns) stop->first_ns = now;
    stop->looked = true;
    stop->last_ns = now;
    stop->last_spent = stop->spent;
    uint64_t end = end_of(stop);
    if (now >= end && !endless) {
        stop->reached = true;
        stop->late_ns = now - end;
        return;
    }
    uint64_t ahead = stop->pace ? stop->pace->credits : 4096u;
    uint32_t look_ns = stop->pace && stop->pace->look_ns ? stop->pace->look_ns : 2000u;
    /* The last look before the deadline comes as early as the deadline. */
    double left = (double)ahead * (double)(end - now) / look_ns;
    if (left < (double)ahead) ahead = (uint64_t)left + 1u;
    stop->next_look = stop->spent + ahead;
}

bool sac_stop_before(sac_stop *stop, uint64_t credits)
{
    if (stop->limit != UINT64_MAX || stop->reached || stop->deadline_ns == UINT64_MAX)
        return sac_stop_reached(stop);
    sac_stop_look(stop);
    if (stop->reached || !stop->spent) return stop->reached;
    double took = (double)(stop->last_ns - stop->first_ns), rate = took / (double)stop->spent;
    stop->reached = rate * (double)credits > (double)(end_of(stop) - stop->last_ns);
    return stop->reached;
}

/* ---- predictor ---- */

/* Costs wander by about this share of themselves from lesson to lesson: that is how the old is forgotten. */
#define WANDER 0.015
/* Noise a lesson is taken to have, as a share of the cost. */
#define NOISE 0.1
#define MOST_SCATTER 16.0
/* A guess may be wrong by about its own size, and after long sameness by this much more at most. */
#define MOST_DOUBT 100.0
#define MOST_NS 1e12

void sac_predictor_init(sac_predictor *predictor, double fixed, double per_a, double per_b)
{
    if (!predictor) return;
    const double guess[SAC_PREDICTOR_TERMS] = {fixed, per_a, per_b};
    *predictor = (sac_predictor){.scatter = 1.5};
    for (int i = 0; i < SAC_PREDICTOR_TERMS; i++) {
        double g = guess[i] > 0 && guess[i] < MOST_NS ? guess[i] : 0;
        predictor->weight[i] = g;
        predictor->moment[i][i] = g > 0.1 ? g * g : 0.01;
        predictor->most[i] = MOST_DOUBT * predictor->moment[i][i];
    }
}

static double count_of(double x) { return x > 0 && x < 1e9 ? x : x >= 1e9 ? 1e9 : 0; }

double sac_predictor_mean_ns(const sac_predictor *predictor, double a, double b)
{
    if (!predictor) return 0;
    const double *w = predictor->weight;
    double ns = w[0] + w[1] * count_of(a) + w[2] * count_of(b);
    return ns < MOST_NS ? ns : MOST_NS;
}

double sac_predictor_reserve_ns(const sac_predictor *predictor, double a, double b)
{
    if (!predictor) return 0;
    double ns = sac_predictor_mean_ns(predictor, a, b) * predictor->scatter;
    return ns < MOST_NS ? ns : MOST_NS;
}

/* The step least squares takes. Where it would make a cost negative, because things that always come in the
 * same proportion cannot be told apart, all costs change in proportion: cut off at nothing, the step would
 * lead away from what it was to come nearer to. */
static void correct(sac_predictor *predictor, const double gain[], double miss, const double x[], double size,
                    double mean)
{
    double *weight = predictor->weight, step = 0;
    bool negative = false;
    for (int i = 0; i < SAC_PREDICTOR_TERMS; i++) {
        negative |= weight[i] + gain[i] * miss < 0;
        step += x[i] * gain[i] * miss * size;
    }
    bool scale = negative && mean > 0;
    for (int i = 0; i < SAC_PREDICTOR_TERMS; i++) {
        double to = scale ? weight[i] * (1 + step / mean) : weight[i] + gain[i] * miss;
        weight[i] = fmin(fmax(to, 0), MOST_NS);
    }
}

void sac_predictor_learn(sac_predictor *predictor, double a, double b, double actual_ns)
{
    if (!predictor) return;
    if (!(actual_ns >= 0 && actual_ns < MOST_NS)) return;
    double mean = sac_predictor_mean_ns(predictor, a, b);
    predictor->last_error = actual_ns > 0 ? (actual_ns - mean) / actual_ns : 0;
    predictor->lessons++;

    /* The 99th percentile of actual / mean: up by 99 parts when it was exceeded, down by one when not. The
     * first lessons tell about the guess more than about the scatter. */
    double ratio = actual_ns / fmax(mean, 1), step = 0.2 * predictor->scatter;
    if (predictor->lessons > 8) {
        predictor->scatter += ratio > predictor->scatter ? 0.99 * step : -0.01 * step;
        predictor->scatter = fmin(fmax(predictor->scatter, 1), MOST_SCATTER);
    }

    /* Least squares of relative errors: costs span three orders of magnitude. A lesson out of all proportion
     * (a stolen core) is believed up to eightfold. */
    double size = fmax(mean, 100), y = fmin(fmax(actual_ns, mean / 8), fmax(mean, 100) * 8);
    const double x[SAC_PREDICTOR_TERMS] = {1 / size, count_of(a) / size, count_of(b) / size};
    double gain[SAC_PREDICTOR_TERMS], spread = NOISE * NOISE, miss = (y - mean) / size;
    double(*p)[SAC_PREDICTOR_TERMS] = predictor->moment;
    for (int i = 0; i < SAC_PREDICTOR_TERMS; i++) {
        gain[i] = p[i][0] * x[0] + p[i][1] * x[1] + p[i][2] * x[2];
        spread += x[i] * gain[i];
    }
    correct(predictor, gain, miss / spread, x, size, mean);
    for (int i = 0; i < SAC_PREDICTOR_TERMS; i++) {
        for (int k = 0; k <= i; k++) p[i][k] = p[k][i] = p[i][k] - gain[i] * gain[k] / spread;
    }
    /* What is known becomes doubtful again, but not without end where nothing new is learned. */
    for (int i = 0; i < SAC_PREDICTOR_TERMS; i++) {
        double drift = WANDER * fmax(predictor->weight[i], 0.1);
        p[i][i] = fmax(p[i][i], 0) + drift * drift;
        if (p[i][i] <= predictor->most[i]) continue;
        double shrink = sqrt(predictor->most[i] / p[i][i]);
        for (int k = 0; k < SAC_PREDICTOR_TERMS; k++) p[i][k] *= shrink, p[k][i] *= shrink;
    }
}
