/* A frame's agenda: every candidate pair, how wrong it looks, and the front its descent has reached. The
 * agenda is filled by the world, worked off by a policy until the stop is reached, and read by the response.
 *
 *   sac_agenda_clear(agenda);
 *   i = sac_agenda_add(agenda, form_a, &pose_a, form_b, &pose_b, margin);
 *   agenda->x[i] = ...                                       // region, extent, weight, known
 *   sac_agenda_work(agenda, policy, &perception, &focus, &stop, NULL, &report);
 *   sac_agenda_front(agenda, i, &pending, &done);            // for sac_meeting_contacts
 *
 * Index: sac_agenda_create  sac_agenda_destroy  sac_agenda_reserve  sac_agenda_clear  sac_agenda_add
 *        sac_agenda_work  sac_agenda_front  sac_agenda_renews  sac_drift_between  sac_slide_between
 *        sac_policy_find  sac_policy_name
 */
#ifndef SAC_SCHEDULER_AGENDA_H
#define SAC_SCHEDULER_AGENDA_H

#include "../base/tasks.h"
#include "../spheretree/spheretree.h"
#include "budget.h"
#include "perception.h"

enum sac_agenda_flags {
    SAC_AGENDA_TOP = 1,       /* held or touched: always in the first group */
    SAC_AGENDA_SENSOR = 2,    /* only whether they meet matters: done at the first final pair */
    SAC_AGENDA_EMPTY = 4,     /* out: surely apart, farther than the margin */
    SAC_AGENDA_STARTED = 8,   /* out: the roots have been tested this frame */
    SAC_AGENDA_FINISHED = 16, /* out: nothing left to refine */
    SAC_AGENDA_COARSE = 32,   /* out: there was no room to refine it further */
    SAC_AGENDA_STALE = 64 /* nobody may see it, but it cannot come to rest with what is remembered: looked at
                             when time is left */
};

/* Structure of arrays, one entry a pair; all arrays have room to a multiple of eight. Filled by the caller up
 * to `caller ends`, the rest is the scheduler's. */
typedef struct sac_agenda {
    uint32_t count, capacity;
    const sac_form **form_a, **form_b;
    const sac_transform **pose_a, **pose_b; /* must stay until the fronts are read */
    float *margin;
    float *x, *y, *z, *extent, *vx, *vy, *vz, *weight, *similar; /* as in sac_sights */
    float *known;  /* what the pair is off by if it is not looked at this frame: last contacts' uncertainty
                      plus how far they slid or what else came near since; FLT_MAX: nothing is known of it */
    uint16_t *age; /* frames since it was last refined to its end or found < 1 JND: against starvation */
    uint32_t *tag; /* the caller's: which pair this is. Ties are broken by it. */
    uint8_t *flags;
    /* caller ends */
    float *uncertainty; /* world units now: the least of `known` and the front's level */
    float *jnd, *priority;
    uint8_t *group; /* it was put in at first; 0 where the policy has no groups */
    uint8_t *level; /* reached by the front: of the coarsest pairs not yet opened */
    uint32_t *tests;
    sac_meeting *meetings;                           /* set up for entries that are STARTED */
    uint32_t *pending_at, *pending, *done_at, *done; /* where the front is in the arena, and how many pairs */
    /* Pairs of fronts beyond SAC_AGENDA_USUAL_FRONT of an entry: how many, and, the caller's, how long it
     * takes to read one afterwards. That time is kept free before the stop's deadline. */
    uint64_t bulk;
    double read_ns;
    struct sac_agenda_private *own;
} sac_agenda;

/* What a front of so many pairs takes to read depends on other things more. */
#define SAC_AGENDA_USUAL_FRONT 256u
static inline uint64_t sac_agenda_bulk_of(uint64_t front)
{
    return front > SAC_AGENDA_USUAL_FRONT ? front - SAC_AGENDA_USUAL_FRONT : 0;
}

typedef struct sac_agenda_def {
    uint32_t pairs;      /* default 4096; sac_agenda_reserve grows it, outside a frame */
    uint32_t entries;    /* node pairs all fronts together may hold; default 1 << 20. When they run out fronts
                            stay coarse. */
    uint32_t groups;     /* of the policies that have groups, 2 to 32; default 8 */
    float share;         /* of a group's time to the next one's: geometric; default 8 */
    uint32_t age_frames; /* a pair not refined for so many frames moves up a group; default 30 */
    float stop_jnd;      /* nothing to gain below; default 1 */
    uint64_t seed;       /* of the random policy */
    uint32_t threads;    /* workspaces to have, 1 to 64; default 1 */
    uint32_t cookie;
} sac_agenda_def;

sac_agenda_def sac_default_agenda_def(void);
sac_result sac_agenda_create(const sac_agenda_def *def, sac_agenda **out_agenda, sac_error *error);
void sac_agenda_destroy(sac_agenda **agenda);
/* Room for `pairs` entries; ERROR_MEMORY leaves it as it was. What was worked on is forgotten: call it before
 * sac_agenda_work. */
sac_result sac_agenda_reserve(sac_agenda *agenda, uint32_t pairs, sac_error *error);

/* Forget the last frame's entries. */
void sac_agenda_clear(sac_agenda *agenda);
/* A new entry with everything but forms, poses and margin at its default (weight 1, known FLT_MAX, tag =
 * index). The index, or UINT32_MAX when it is full or something is NULL. */
uint32_t sac_agenda_add(sac_agenda *agenda, const sac_form *form_a, const sac_transform *pose_a,
                        const sac_form *form_b, const sac_transform *pose_b, float margin);

/* How far any point of b may have moved against a since their relative pose (sac_transform_relative(a, b))
 * was `then`, in a's local units: not the way gone but the way off, so that two that fall together, or
 * tremble in place, do not drift apart. `ball`: centre and radius that hold b, local to b. */
static inline float sac_drift_between(const sac_transform *then, const sac_transform *now,
                                      const float ball[4])
{
    float from[3], to[3], same = 0, way = 0;
    sac_transform_point(then, ball, from);
    sac_transform_point(now, ball, to);
    for (int k = 0; k < 3; k++) way += (to[k] - from[k]) * (to[k] - from[k]);
    for (int k = 0; k < 4; k++) same += then->rotation[k] * now->rotation[k];
    /* A turn by t moves what is r away by 2 r sin(t / 2). */
    float off = 1.0f - same * same;
    return sqrtf(way) + 2.0f * ball[3] * now->scale * (off > 0 ? sqrtf(off) : 0.0f);
}

/* How far apart two points are now that were one when a pair was read: how far the contacts kept of it have
 * slid. Each is local to its body; world units. */
static inline float sac_slide_between(const sac_transform *a, const float point_a[3], const sac_transform *b,
                                      const float point_b[3])
{
    const sac_transform *pose[2] = {a, b};
    const float *point[2] = {point_a, point_b};
    float turned[2][3], way = 0;
    for (int i = 0; i < 2; i++) {
        /* p + 2 w (q x p) + 2 q x (q x p): nothing is kept that a matrix would be made for. */
        const float *q = pose[i]->rotation, *p = point[i];
        float x = 2 * (q[1] * p[2] - q[2] * p[1]), y = 2 * (q[2] * p[0] - q[0] * p[2]),
              z = 2 * (q[0] * p[1] - q[1] * p[0]);
        turned[i][0] = p[0] + q[3] * x + (q[1] * z - q[2] * y);
        turned[i][1] = p[1] + q[3] * y + (q[2] * x - q[0] * z);
        turned[i][2] = p[2] + q[3] * z + (q[0] * y - q[1] * x);
    }
    for (int k = 0; k < 3; k++) {
        /* Around the two origins first: far out in the world a float has nothing left for small ways. */
        float off =
            (b->translation[k] - a->translation[k]) + (b->scale * turned[1][k] - a->scale * turned[0][k]);
        way += off * off;
    }
    return sqrtf(way);
}

/* ---- policies ---- */

/* Which pair gets the next level. Chosen by name because people compare them:
 * exhaustive   every pair to its end, whatever the time
 * fifo         in order of arrival, each to its end
 * random       a random pair each time, one level
 * round-robin  all pairs one level, then all the next (Hubbard)
 * distance     nearest to the viewer first, each to its end
 * sort         always the pair with the greatest priority: an exact order, kept after each refinement
 * groups:N     N groups by priority, log-spaced, each with its share of the time, round-robin inside
 * probability  always the pair most likely to collide (ADB style)
 * jnd          default: groups by what the next levels gain for their cost, a pair that has begun before the
 *              others of its group; ends when nobody has a visible error left that can be mended and some of
 *              those that cannot come to rest have been looked at
 * All but jnd refine every pair from its roots and spend all the time there is. */
typedef struct sac_policy sac_policy;
/* NULL for an unknown name, and the error lists them; "groups" alone is groups:8. The answer is static. */
const sac_policy *sac_policy_find(const char *name, sac_error *error);
const char *sac_policy_name(uint32_t index); /* NULL beyond the last */

typedef struct sac_agenda_report {
    uint64_t tests;                                   /* node tests */
    uint64_t pieces;                                  /* of work: where the descent stopped */
    bool interrupted;                                 /* by the stop; false: nothing left worth doing */
    uint32_t groups;                                  /* in use */
    uint32_t group_pairs[32];                         /* pairs per group at the start */
    uint64_t group_tests[32];                         /* spent for it */
    uint32_t pairs_at_level[SAC_TREE_MOST_DEPTH + 1]; /* fronts left there */
    float jnd_most, jnd_p95, jnd_p50;
    double jnd_sum;             /* visible error left, over all pairs */
    uint32_t started, finished; /* pairs looked at; of those, with nothing left to refine */
    uint32_t coarse;            /* fronts that found no room */
    uint64_t overshoot_credits; /* spent after the stop was due */
} sac_agenda_report;

/* Perceive all pairs, group them, and refine until the stop is reached. `focus` may be NULL: nobody looks;
 * `stop` may be NULL: no limit; `tasks` may be NULL: one thread; `out_report` may be NULL. What is done, in
 * which order and where it ends does not depend on the number of threads. */
void sac_agenda_work(sac_agenda *agenda, const sac_policy *policy, const sac_perception_def *perception,
                     const sac_focus *focus, sac_stop *stop, sac_tasks *tasks, sac_agenda_report *out_report);

/* The front of entry i as it stands; both empty when it is apart. Valid until the agenda is cleared. */
void sac_agenda_front(const sac_agenda *agenda, uint32_t i, sac_pairs *out_pending, sac_pairs *out_done);
/* Is what was found of entry i worth more than what is remembered of it? `contacts` were read at `level`. A
 * coarser level must be four times as sure: levels that come and go are seen all over the field of view. */
bool sac_agenda_renews(const sac_agenda *agenda, uint32_t i, uint32_t contacts, uint8_t level);

#endif
