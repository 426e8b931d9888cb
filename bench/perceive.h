/* The perception benchmark: the same frames, refined by each policy with a share of the work that everything
 * would take, and looked at by an eye that knows better: an oracle that refined everything.
 *
 *   sac_perceive_motion_create(&def, seed, &motion, &error);          // frames and the truth about them
 *   sac_perceive_run(motion, &(sac_perceive_case){"jnd", 25, SAC_TRACE_SACCADES, true}, seed, &result,
 * &error); sac_perceive_motion_destroy(&motion);
 *
 * Everything is counted in work credits, so a run gives the same numbers on every machine.
 *
 * Index: sac_perceive_motion_create  sac_perceive_motion_destroy  sac_perceive_run  sac_trace_direction
 *        sac_trace_name  sac_perceive_percentile
 */
#ifndef SAC_BENCH_PERCEIVE_H
#define SAC_BENCH_PERCEIVE_H

#include "apps/shared_scene.h"
#include "base/memory.h"
#include "scheduler/scheduler.h"

/* ---- where the eye looks ---- */

typedef enum sac_trace {
    SAC_TRACE_FIXATION,
    SAC_TRACE_PURSUIT,
    SAC_TRACE_SACCADES,
    SAC_TRACE_COUNT
} sac_trace;
const char *sac_trace_name(sac_trace trace);

typedef struct sac_gaze_now {
    float yaw, pitch; /* degrees from the head axis, right and up */
    float speed;      /* degrees a second */
} sac_gaze_now;
/* Fixation stands still, pursuit goes to and fro at up to 30 degrees a second, saccades follow the main
 * sequence: 21 ms and 2.2 ms a degree, a fifth to two fifths of a second apart. */
sac_gaze_now sac_trace_direction(sac_trace trace, uint64_t seed, double seconds);

/* ---- what happens ---- */

typedef struct sac_perceive_def {
    const char *scene, *shape; /* of the shared scenes */
    uint32_t bodies;
    uint32_t skip;   /* frames before anything is looked at */
    uint32_t warm;   /* frames looked at and not counted: nobody knows anything at first */
    uint32_t frames; /* counted */
} sac_perceive_def;

/* The truth about two things in a frame. */
typedef struct sac_perceive_pair {
    uint32_t a, b;
    float depth; /* as a solver would be told; -reach when they are farther apart */
    float normal[3], point[3];
} sac_perceive_pair;

typedef struct sac_perceive_motion {
    uint32_t things, frames, warm; /* bodies, then boxes that stand still; frames in all */
    sac_tree *tree;
    uint32_t box_count;
    sac_form form, box_forms[8];
    sac_transform *poses; /* frames x things */
    float (*velocity)[3]; /* frames x things */
    uint32_t *first_pair; /* frames + 1 */
    sac_array(sac_perceive_pair) pairs;
    sac_viewer viewer;   /* two eyes, no gaze yet */
    double full_credits; /* of a counted frame, everything refined */
} sac_perceive_motion;

#define SAC_PERCEIVE_HZ 90.0
/* Contacts are looked for this far apart, metres. */
#define SAC_PERCEIVE_REACH 0.01f

/* Depth a solver is told of a contact read on any level: half way between the spheres' and the least it can
 * be, as the world does by default. */
static inline float sac_perceive_depth(const sac_contact *contact)
{
    return contact->depth - 0.5f * contact->uncertainty;
}

sac_result sac_perceive_motion_create(const sac_perceive_def *def, uint64_t seed,
                                      sac_perceive_motion **out_motion, sac_error *error);
void sac_perceive_motion_destroy(sac_perceive_motion **motion);

static inline const sac_form *sac_perceive_form(const sac_perceive_motion *m, uint32_t thing)
{
    uint32_t bodies = m->things - m->box_count;
    return thing < bodies ? &m->form : &m->box_forms[thing - bodies];
}

/* ---- what is made of it ---- */

typedef struct sac_perceive_case {
    const char *policy;
    double budget_pct; /* of what everything takes; above 100: no limit */
    sac_trace trace;
    bool late; /* gaze is 60 ms old */
} sac_perceive_case;

enum { SAC_PERCEIVE_RINGS = 5, SAC_PERCEIVE_BINS = 26 * 16 + 2 };
extern const float sac_perceive_ring_end[SAC_PERCEIVE_RINGS]; /* degrees of eccentricity */

/* Visible errors of pairs in view that truly or apparently collide, counted in bins of a sixteenth octave. */
typedef struct sac_perceive_result {
    uint32_t bins[SAC_PERCEIVE_RINGS][SAC_PERCEIVE_BINS];
    double most, sum;
    uint64_t samples;
    uint64_t false_contacts, missed_contacts; /* of pairs and frames */
    uint64_t touching;                        /* pairs and frames that truly touch, in view or not */
    uint64_t flips, held;                     /* changes of level; pairs and frames with contacts */
    double delay_ms, direction_degrees;       /* sums */
    uint64_t delays, directions;
    double credits; /* a counted frame, mean */
} sac_perceive_result;

sac_result sac_perceive_run(const sac_perceive_motion *motion, const sac_perceive_case *what, uint64_t seed,
                            sac_perceive_result *out_result, sac_error *error);

/* Of the rings `first` to `last`, NaN when there is nothing. */
double sac_perceive_percentile(const sac_perceive_result *result, uint32_t first, uint32_t last,
                               double share);
void sac_perceive_add(sac_perceive_result *to, const sac_perceive_result *from);

#endif
