/* Response of soft bodies to contacts of any level (Spillmann, Becker, Teschner 2007, section 6).
 *
 * A contact is between two nodes of hierarchies, or a node and a rigid body. It sees a node as a lump: the
 * points it encloses, with their mean velocity, and an impulse on it goes to all of them. Coarse contacts
 * move large lumps and are few, fine ones move single patches and are many; at the leaves, when there is time
 * for it, single points meet triangles. Whatever the level, no more momentum is passed on than there is, and
 * no contact adds energy but by taking back an overlap.
 *
 *   sac_soft_response_create(&response, &error);
 *   n = sac_soft_contacts(&meeting, &pending, &done, 0, 1, parties, true, contacts, room);
 *   sac_soft_respond(response, parties, party_count, contacts, n, &def, NULL, &error);
 *
 * After the first frames nothing is allocated. The same bits on every SIMD path.
 *
 * Index: sac_default_soft_response_def  sac_soft_contacts  sac_soft_response_create
 *        sac_soft_response_destroy  sac_soft_response_reserve
 *        sac_soft_respond
 */
#ifndef SAC_DEFORM_SOFT_RESPONSE_H
#define SAC_DEFORM_SOFT_RESPONSE_H

#include "meshless.h"
#include "soft_tree.h"

/* One body that takes part. Exactly one of `soft` and the rigid fields counts. */
typedef struct sac_soft_party {
    sac_soft *soft;            /* NULL: rigid */
    const sac_soft_tree *tree; /* of soft: its nodes, and triangles if there are any */
    /* Of soft: what is met is a surface that follows its points (meshless.h); contacts name nodes of its
     * form, and an impulse goes to the points by their weights on the node's vertices. NULL: the points are
     * met. */
    const sac_meshless_cover *skin;
    bool still;       /* of soft: it stands like a wall this time */
    float mass_scale; /* of soft: kg for each kg of the model's points; 0 counts as 1 */
    float thickness;  /* of soft: its points keep this far from what they meet, m */
    /* Rigid: velocities are read and written; zeros in inverse_* for what nobody can push. */
    float *v, *w;
    const float *centre;
    float inverse_mass, inverse_inertia[6]; /* world: xx, yy, zz, xy, xz, yz */
    float friction, restitution;            /* of two, the root of the product and the larger */
} sac_soft_party;

/* What a side of a contact is: a node of the hierarchy as it stands, or one of these with a number: a point's
 * place (sac_soft_points), a triangle of the tree. */
#define SAC_SOFT_AT_POINT 0x80000000u
#define SAC_SOFT_AT_TRIANGLE 0x40000000u

typedef struct sac_soft_contact {
    uint32_t a, b;             /* parties */
    uint32_t node_a, node_b;   /* of their hierarchies, or a point or triangle; 0 for a rigid one */
    float share[2];            /* of a triangle's first two corners in the point; one side at most has one */
    float point[3], normal[3]; /* unit, from a to b */
    float depth;               /* negative: apart by so much */
    float impulse;             /* N s along the normal; out */
    float approach;            /* m/s before the response; out */
} sac_soft_contact;

typedef struct sac_soft_response_def {
    float dt;                /* s; default 1/90 */
    uint32_t rounds;         /* over all contacts; default 4 */
    float push;              /* share of an overlap taken back in a step; default 0.2 */
    float push_speed;        /* at most, m/s; default 1.5 */
    float slop;              /* overlap that is left alone, m; default 0.002 */
    float restitution_speed; /* slower contacts do not bounce, m/s; default 1 */
    /* Contacts first act on bodies as wholes, and on lumps with what is left: what falls on something is
     * stopped at once, however few of its points touch. Default false. */
    bool wholes;
} sac_soft_response_def;
sac_soft_response_def sac_default_soft_response_def(void);

/* The contacts of a meeting's front, at most `room`; parties a and b are the meeting's, and one or both are
 * soft. A pair of nodes is one contact: its normal comes from the patches' own where they agree, else from
 * the line of their centres, and its depth is how far their points reach past each other along it. A rigid
 * side answers for the middle of a soft node. `fine`: leaves meet by points and triangles instead. Patches
 * that lie side by side are no contact. A meeting finds what is closer than its margin: it should be at least
 * the thickness of both. Returns how many. */
uint32_t sac_soft_contacts(const sac_meeting *meeting, const sac_pairs *pending, const sac_pairs *done,
                           uint32_t a, uint32_t b, const sac_soft_party *parties, bool fine,
                           sac_soft_contact *out, uint32_t room);

/* Scratch for responding, one for each thread; grows to the largest number of contacts it has seen. */
typedef struct sac_soft_response sac_soft_response;
sac_result sac_soft_response_create(sac_soft_response **out_response, sac_error *error);
void sac_soft_response_destroy(sac_soft_response **response);
/* Room for so many contacts, at two sides each, between so many parties. False: no memory. */
bool sac_soft_response_reserve(sac_soft_response *response, uint32_t parties, uint32_t contacts);

/* All rounds over all contacts: no approach, friction within its cone, overlaps taken back slowly. Call it
 * after sac_soft_pull and before sac_soft_move. Velocities of the points and of rigid parties change, and the
 * contacts say what they passed on. *out_credits (may be NULL): cost, in tests as in meeting.h. */
sac_result sac_soft_respond(sac_soft_response *response, sac_soft_party *parties, uint32_t party_count,
                            sac_soft_contact *contacts, uint32_t count, const sac_soft_response_def *def,
                            uint64_t *out_credits, sac_error *error);

#endif
