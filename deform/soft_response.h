/* Response of soft bodies to contacts of any level (Spillmann, Becker, Teschner 2007, section 5).
 *
 * A contact is between two nodes of hierarchies, or a node and a rigid body. It sees a node as a lump: the
 * points it encloses, with their mean velocity, and an impulse on it goes to all of them. Coarse contacts
 * move large lumps and are few, fine ones move single patches and are many; either way no more momentum is
 * passed on than there is, and no contact adds energy.
 *
 *   n = sac_soft_contacts(&meeting, &pending, &done, 0, 1, parties, &def, contacts, room);
 *   for (uint32_t round = 0; round < def.rounds; round++)
 *       sac_soft_respond(parties, party_count, contacts, n, &def, round);
 *
 * Nothing is allocated. The same bits on every SIMD path.
 *
 * Index: sac_default_soft_response_def  sac_soft_contacts  sac_soft_respond
 */
#ifndef SAC_DEFORM_SOFT_RESPONSE_H
#define SAC_DEFORM_SOFT_RESPONSE_H

#include "soft_shape.h"

/* One body that takes part. Exactly one of `soft` and the rigid fields counts. */
typedef struct sac_soft_party {
    sac_soft *soft;              /* NULL: rigid */
    const sac_soft_shape *shape; /* of soft */
    const sac_form *form;        /* as in the meeting: spheres of a soft body live here */
    float mass_scale;            /* of soft: kg for each kg of the model's points */
    /* Rigid: velocities are read and written; zeros in inverse_* for what nobody can push. */
    float *v, *w;
    const float *centre;
    float inverse_mass, inverse_inertia[6]; /* world: xx, yy, zz, xy, xz, yz */
    float friction, restitution;
} sac_soft_party;

typedef struct sac_soft_contact {
    uint32_t a, b;             /* parties */
    uint32_t node_a, node_b;   /* of their hierarchies; 0 for a rigid one */
    float point[3], normal[3]; /* unit, from a to b */
    float depth;               /* negative: apart by so much */
    float impulse;             /* N s along the normal; out */
    float approach;            /* m/s before the response; out */
} sac_soft_contact;

typedef struct sac_soft_response_def {
    float dt;
    uint32_t rounds;  /* over all contacts; default 4 */
    float push;       /* share of an overlap taken back in a step; default 0.2 */
    float push_speed; /* at most, m/s; default 1.5 */
    float slop;       /* overlap that is left alone, m; default 0.002 */
} sac_soft_response_def;
sac_soft_response_def sac_default_soft_response_def(void);

/* The contacts of a meeting's front, at most `room`; parties a and b are the meeting's, and one or both are
 * soft. Depth and normal are those of the two patches: where both have normals, the distance of their centres
 * along them; a rigid side answers for a soft node's centre. Returns how many. */
uint32_t sac_soft_contacts(const sac_meeting *meeting, const sac_pairs *pending, const sac_pairs *done,
                           uint32_t a, uint32_t b, const sac_soft_party *parties, sac_soft_contact *out,
                           uint32_t room);

/* One round over all contacts: no approach, friction within its cone, overlaps taken back slowly. Call it
 * after sac_soft_pull and before sac_soft_move, with rounds counted from 0. Returns credits. */
uint64_t sac_soft_respond(sac_soft_party *parties, uint32_t party_count, sac_soft_contact *contacts,
                          uint32_t count, const sac_soft_response_def *def, uint32_t round);

#endif
