/* What contacts do to bodies: a sub-stepped soft impulse solver. Bodies and contacts of one set go in as
 * plain arrays, are coloured so that eight contacts of a colour share no body, and come out with new
 * velocities, motions and impulses. Threads and SIMD paths change nothing but the time.
 *
 *   sac_solver_begin(solver, body_count, contact_count, grab_count);      // room for this set
 *   solver->bodies[i] = ...; solver->contacts[k] = ...;
 *   sac_solver_solve(solver, &step, &stop, tasks, &report);
 *   // solver->bodies[i].v, .w, .moved, .turned; solver->contacts[k].points[p].impulse
 *
 * A body with inverse_mass 0 and inverse inertia 0 is not moved by contacts and may be in any number of
 * contacts of a colour; it still has its velocity (a kinematic hand, a body whose turn it is not).
 *
 * Index: sac_default_solver_def  sac_solver_create  sac_solver_destroy  sac_solver_begin  sac_solver_solve
 *        sac_solver_cost  sac_impulse_reference  sac_impulse_apply
 */
#ifndef SAC_RESPONSE_SOLVER_H
#define SAC_RESPONSE_SOLVER_H

#include "../base/error.h"
#include "../base/tasks.h"
#include "../scheduler/scheduler.h"

#define SAC_SOLVER_POINTS 4u

typedef struct sac_solver_body {
    float v[3], w[3];                      /* in: before the step; out: after */
    float acceleration[3];                 /* gravity and forces over mass */
    float turning[3];                      /* torques over inertia */
    float linear_damping, angular_damping; /* 1/s */
    float most_speed, most_spin;           /* limits; FLT_MAX: none */
    float inverse_mass;
    float inverse_inertia[6];  /* world: xx, yy, zz, xy, xz, yz */
    float moved[3], turned[3]; /* out: of the centre of mass and about it, this step */
} sac_solver_body;

/* Impulses are those of a whole step: what the sub-steps apply together when nothing changes. */
typedef struct sac_solver_point {
    float arm_a[3], arm_b[3];  /* from the centres of mass to the contact, world */
    float normal[3];           /* unit, from a to b */
    float separation;          /* metres, negative inside; already corrected for the gap of its level */
    float impulse;             /* in: last step's, to start warm; out: this step's, >= 0 */
    float friction_impulse[3]; /* world, on b; in and out */
    float approach;            /* out: speed at which they met before the step, positive when closing */
    float total; /* out: normal impulse exchanged in this step, blows included: how hard the hit was */
} sac_solver_point;

typedef struct sac_solver_contact {
    uint32_t a, b;                        /* bodies of the set */
    float friction, restitution, rolling; /* rolling: lever in metres */
    uint32_t count;                       /* points */
    float rolling_impulse[3];             /* on b; in and out */
    float unused[7];                      /* so that a point fills a cache line */
    sac_solver_point points[SAC_SOLVER_POINTS];
} sac_solver_contact;

/* A soft six-degree hold of a body by a hand: the body's anchor is drawn to a target pose. */
typedef struct sac_solver_grab {
    uint32_t body;
    float arm[3];                         /* centre of mass to anchor, world */
    float offset[3];                      /* target - anchor, world, at the start of the step */
    float twist[3];                       /* rotation vector from the body's orientation to the target's */
    float target_v[3], target_w[3];       /* of the hand */
    float hertz, damping;                 /* of the spring; default 12 Hz, 1 */
    float most_force, most_torque;        /* N, N m */
    float impulse[3], angular_impulse[3]; /* in and out */
} sac_solver_grab;

typedef struct sac_solver_def {
    uint32_t bodies, contacts, grabs; /* first room; grows in sac_solver_begin */
    float contact_hertz; /* of soft contacts; default 60, at most a quarter of the sub-step rate. A body sinks
                            by g / (2 pi hertz)^2 times the bodies on it: half of this, four times as deep.
                            Above 80 stacks of ten no longer come to rest. */
    float contact_damping;   /* ratio; default 10 */
    float push_speed;        /* fastest that overlap is undone, m/s; default 1.5 */
    float restitution_speed; /* slower contacts do not bounce; default 1 m/s */
    float slop;              /* overlap left alone, metres; default 0.0005 */
    uint32_t cookie;
} sac_solver_def;

typedef struct sac_solver {
    uint32_t body_count, contact_count, grab_count;
    sac_solver_body *bodies;
    sac_solver_contact *contacts;
    sac_solver_grab *grabs;
    sac_solver_def def;
    struct sac_solver_private *own;
} sac_solver;

typedef struct sac_solver_step {
    float dt;
    uint32_t substeps;    /* asked for; default 4 */
    uint32_t relaxations; /* per sub-step; default 1 */
    bool single_impulse;  /* the reference response instead: one impulse a pair, at its deepest point */
} sac_solver_step;

typedef struct sac_solver_report {
    uint32_t substeps; /* done; fewer than asked when the stop was reached, the rest of dt is then coasted */
    uint32_t colours;
    uint32_t overflow; /* contacts that found no colour and were solved one by one */
    uint64_t credits;
} sac_solver_report;

sac_solver_def sac_default_solver_def(void);
sac_result sac_solver_create(const sac_solver_def *def, sac_solver **out_solver, sac_error *error);
void sac_solver_destroy(sac_solver **solver);

/* Room for one set. Allocates only when a set is larger than any before; ERROR_MEMORY leaves the last set.
 * Contents of the arrays are undefined. */
sac_result sac_solver_begin(sac_solver *solver, uint32_t bodies, uint32_t contacts, uint32_t grabs,
                            sac_error *error);

/* `stop` may be NULL: to the end. A piece of work is a pass over all colours (prepare, warm start, solve or
 * relax). Stopped before the first piece, nothing is solved; after it, at least one solve is made. A sub-step
 * that cannot be finished is undone, and each body coasts for the rest of dt, so that none is left half
 * integrated or with the speed that only pushes overlaps apart. Never NaN: points and bodies whose numbers
 * are not finite are left out. */
void sac_solver_solve(sac_solver *solver, const sac_solver_step *step, sac_stop *stop, sac_tasks *tasks,
                      sac_solver_report *out_report);

/* Credits a step of a set costs, near enough to plan with: about half a nanosecond each on one thread. */
uint64_t sac_solver_cost(uint32_t bodies, uint32_t contacts, uint32_t substeps, uint32_t relaxations);

/* The reference response: the one impulse that changes the closing speed vc of two bodies at a point to -e vc
 * (literature: j = -(1 + e) vc / (1/ma + 1/mb + n.((Ia^-1 (ra x n)) x ra) + n.((Ib^-1 (rb x n)) x rb))).
 * Returns j along the normal, on b; 0 when they part or neither can move. Velocities are not changed. */
float sac_impulse_reference(const sac_solver_body *a, const sac_solver_body *b, const float arm_a[3],
                            const float arm_b[3], const float normal[3], float restitution);
/* Impulse p at the arm; on a body that cannot be moved nothing happens. */
void sac_impulse_apply(sac_solver_body *body, const float arm[3], const float p[3]);

#endif
