/* What the solver's files share: bodies as the passes see them, contacts in bundles of eight, and the table
 * of kernels.
 *
 * A pass touches, for eight contacts, one header, `points` blocks and sixteen bodies. Bodies are one cache
 * line each; whatever a pass does not need lies elsewhere. */
#ifndef SAC_RESPONSE_SOLVER_INTERNAL_H
#define SAC_RESPONSE_SOLVER_INTERNAL_H

#include "base/memory.h"
#include "response/solver.h"

#define SAC_LANES_OF_BUNDLE 8u
/* Pairs of moving bodies use the first colours, contacts with what cannot be moved the last: those are solved
 * last, so that the ground has the final word. */
#define SAC_COLOURS 64u
#define SAC_COLOURS_MOVING 48u
/* A body with more contacts than there are colours: the rest share bundles but are solved a lane at a time,
 * before all others. Slots in the order they are solved. */
#define SAC_SLOT_ALONE 0u
#define SAC_SLOT_ALONE_FIXED 1u
#define SAC_SLOT_COLOURS 2u
#define SAC_SLOTS (SAC_SLOT_COLOURS + SAC_COLOURS)
#define SAC_SLOT_NONE 255u

typedef struct sac_hot_body {
    float v[3], w[3], inverse_mass, unused;
    float moved[3], turned[3], most_speed, most_spin;
} sac_hot_body;

/* xx, yy, zz, xy, xz, yz of the inverse, then nothing twice. */
typedef struct sac_hot_inertia {
    float inverse[8];
} sac_hot_inertia;

/* What a sub-step does to the first eight numbers of a body: (x + push) * keep, then the limits. */
typedef struct sac_drive {
    float push[8], keep[8];
} sac_drive;

typedef struct sac_point_block {
    float normal[3][8], tangent[3][8], arm_a[3][8], arm_b[3][8];
    float gap[8];       /* separation at the start of the step */
    float mass[8];      /* 1 / K_nn; 0: no point in this lane */
    float couple[2][8]; /* K_tn: tangential speed a normal impulse makes */
    float slide[3][8];  /* inverse of the tangential 2 x 2 of K: 11, 12, 22 */
    float slip[8];      /* inverse of its largest eigenvalue */
    float impulse[8], rub[2][8];
    float total[8];
} sac_point_block;

typedef struct sac_bundle {
    uint32_t a[8], b[8];
    float friction[8];
    uint32_t first, points; /* blocks */
    uint32_t roll;          /* UINT32_MAX: none */
    uint8_t lanes;          /* in use */
    uint8_t turned_round;   /* lanes with a and b exchanged */
    bool fixed;             /* no b can be moved; lanes were turned round where a could not */
    bool alone;             /* lanes may share bodies: one after the other */
    bool bounces;
    uint8_t unused[15];
} sac_bundle;

/* Needed only at the ends of a step. */
typedef struct sac_bundle_end {
    uint32_t contact[8];
    float restitution[8], approach[SAC_SOLVER_POINTS][8];
} sac_bundle_end;

typedef struct sac_roll_block {
    float lever[8], impulse[3][8], inverse[6][8];
} sac_roll_block;

typedef struct sac_softness {
    float rate, mass_scale, impulse_scale;
} sac_softness;

/* One pass: what a kernel gets. */
typedef struct sac_pass {
    sac_hot_body *bodies;
    const sac_hot_inertia *inertias;
    const sac_bundle *bundles;
    sac_bundle_end *ends;
    sac_point_block *points;
    sac_roll_block *rolls;
    sac_solver_contact *contacts;
    float h, inverse_h;
    float substeps;
    sac_softness soft[2]; /* between moving bodies, against fixed ones */
    float push_speed, slop, restitution_speed;
    bool last; /* relaxation of its sub-step: impulses are final, count them */
} sac_pass;

typedef void sac_pass_run(const sac_pass *pass, uint32_t first, uint32_t last);

typedef struct sac_solve_kernel {
    sac_pass_run *prepare, *warm, *solve, *relax, *rebound, *finish;
} sac_solve_kernel;

extern const sac_solve_kernel sac_solve_kernel_scalar, sac_solve_kernel_sse2, sac_solve_kernel_avx2,
    sac_solve_kernel_avx512, sac_solve_kernel_neon;

/* A grab while it is worked on. */
typedef struct sac_hold {
    uint32_t body;
    float arm[3], bias[3], bias_w[3];
    float inverse[6], inverse_w[6]; /* of the effective masses: xx, yy, zz, xy, xz, yz */
    float impulse[3], impulse_w[3], most, most_w;
    sac_softness soft;
} sac_hold;

struct sac_solver_private {
    uint32_t body_room, contact_room, grab_room;
    sac_hot_body *hot; /* one more than bodies: what idle lanes read */
    sac_hot_inertia *inertias;
    sac_drive *drives;
    sac_hot_body *before; /* at the start of the sub-step, to undo it */
    uint64_t *taken;      /* colours of a body's contacts */
    uint8_t *slot;        /* of a contact */
    uint32_t *order;      /* contacts by slot, then by falling point count */
    sac_bundle *bundles;
    sac_bundle_end *ends;
    sac_point_block *points;
    sac_roll_block *rolls;
    sac_hold *holds;
    /* Of this set */
    uint32_t bundle_count, block_count, roll_count;
    uint32_t slot_count[SAC_SLOTS];
    uint32_t slot_first[SAC_SLOTS + 1]; /* bundles */
    uint32_t hold_count;
    const sac_solve_kernel *kernel;
};

/* ---- colours.c ---- */
/* Which contacts may be solved together: fills slot[], order[] and slot_count[]; what cannot be solved gets
 * no slot and its results are zeroed. Bodies must have been taken. */
void sac_colours_find(sac_solver *solver);

/* ---- bundles.c ---- */
void sac_bundles_pack(sac_solver *solver);
/* Most bundles `contacts` can need. */
size_t sac_bundles_most(uint32_t contacts);

/* ---- integrate.c: first to last-1 of the bodies ---- */
void sac_bodies_take(sac_solver *solver, float h);
void sac_bodies_drive(struct sac_solver_private *own, uint32_t first, uint32_t last);
void sac_bodies_move(struct sac_solver_private *own, uint32_t first, uint32_t last, float h);
void sac_bodies_give(sac_solver *solver, float dt);

/* ---- grab_constraint.c ---- */
void sac_holds_take(sac_solver *solver, float h, float substeps);
void sac_holds_warm(struct sac_solver_private *own);
/* `time`: since the start of the step. */
void sac_holds_aim(sac_solver *solver, float time);
void sac_holds_solve(struct sac_solver_private *own);
void sac_holds_give(sac_solver *solver, float substeps);
sac_softness sac_softness_of(float hertz, float damping, float h);

/* ---- impulse.c ---- */
void sac_solver_single(sac_solver *solver, float dt);

#endif
