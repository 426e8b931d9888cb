/* Time: when to stop, what to keep for later, and how both can be repeated.
 *
 * A sac_stop is asked before every piece of work. Live, it looks at the clock every so many credits;
 * replayed, it counts pieces and stops where the recording did. A predictor learns what a stage costs and
 * reserves for it at a high percentile.
 *
 *   sac_stop stop;
 *   sac_stop_at(&stop, &clock, deadline_ns, &pace);
 *   while (!sac_stop_reached(&stop) && work_left()) sac_stop_did(&stop, do_piece());
 *   record(stop.pieces);                      // replay: sac_stop_after(&stop, &clock, pieces)
 *
 * Index: sac_stop_at  sac_stop_after  sac_stop_reached  sac_stop_before  sac_stop_did  sac_stop_saw
 *        sac_stop_charge  sac_stop_keep  sac_pace_init
 *        sac_predictor_init
 *        sac_predictor_mean_ns  sac_predictor_reserve_ns  sac_predictor_learn
 */
#ifndef SAC_SCHEDULER_BUDGET_H
#define SAC_SCHEDULER_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/clock.h"

/* How often to look at the clock: K credits, chosen so that two looks are about `look_ns` apart. */
typedef struct sac_pace {
    uint32_t look_ns; /* default 2000 */
    uint64_t credits; /* K, calibrated from look to look; 256 to 65536 */
} sac_pace;
void sac_pace_init(sac_pace *pace);

typedef struct sac_stop {
    sac_clock *clock;
    sac_pace *pace;
    uint64_t deadline_ns, first_ns, last_ns; /* of the first look and the last */
    uint64_t spent, next_look, last_spent;   /* credits */
    uint64_t pieces;                         /* done before it was reached: where it was stopped */
    uint64_t limit;                          /* replay: stop after so many pieces; UINT64_MAX: live */
    uint64_t late_ns; /* when it was reached: how long after the deadline it was seen */
    uint64_t kept_ns; /* of the time before the deadline, for what follows */
    bool reached, looked;
} sac_stop;

/* A clock that is set back meanwhile leaves the time that was left; one set ahead stops. */
void sac_stop_at(sac_stop *stop, sac_clock *clock, uint64_t deadline_ns, sac_pace *pace);
void sac_stop_after(sac_stop *stop, sac_clock *clock, uint64_t pieces);
/* Looks at the clock now; private to the inline functions below. */
void sac_stop_look(sac_stop *stop);

static inline bool sac_stop_reached(sac_stop *stop)
{
    if (stop->limit != UINT64_MAX) return stop->reached = stop->pieces >= stop->limit;
    if (!stop->reached && stop->spent >= stop->next_look) sac_stop_look(stop);
    return stop->reached;
}

/* As reached, and also when as much as `credits` would not be done by the deadline, at the rate of the work
 * so far. For large pieces, of which the next one is better left than begun. */
bool sac_stop_before(sac_stop *stop, uint64_t credits);

static inline void sac_stop_did(sac_stop *stop, uint64_t credits)
{
    stop->pieces += !stop->reached;
    stop->spent += credits;
    sac_clock_spend(stop->clock, credits);
}

/* A piece of which another stop has told the clock already. */
static inline void sac_stop_saw(sac_stop *stop, uint64_t credits)
{
    stop->pieces += !stop->reached;
    stop->spent += credits;
}

/* Work that is not a piece: nobody can stop before it. */
static inline void sac_stop_charge(sac_stop *stop, uint64_t credits)
{
    stop->spent += credits;
    sac_clock_spend(stop->clock, credits);
}

/* The work done so far makes so much to do afterwards: the stop is reached that much before the deadline. */
static inline void sac_stop_keep(sac_stop *stop, uint64_t ns) { stop->kept_ns = ns; }

/* Learns cost = fixed + per_a * a + per_b * b online, and how far it is off. */
#define SAC_PREDICTOR_TERMS 3
typedef struct sac_predictor {
    double weight[SAC_PREDICTOR_TERMS];                      /* ns: fixed, per a, per b */
    double moment[SAC_PREDICTOR_TERMS][SAC_PREDICTOR_TERMS]; /* recursive least squares: how sure each is */
    double most[SAC_PREDICTOR_TERMS];                        /* doubt grows up to this */
    double scatter;                                          /* high percentile of actual / predicted */
    uint64_t lessons;
    double last_error; /* (actual - predicted) / actual of the last lesson */
} sac_predictor;

/* First guesses, in ns. */
void sac_predictor_init(sac_predictor *predictor, double fixed, double per_a, double per_b);
double sac_predictor_mean_ns(const sac_predictor *predictor, double a, double b);
/* Enough in about 99 of 100 cases. Never negative, finite for any input. */
double sac_predictor_reserve_ns(const sac_predictor *predictor, double a, double b);
void sac_predictor_learn(sac_predictor *predictor, double a, double b, double actual_ns);

#endif
