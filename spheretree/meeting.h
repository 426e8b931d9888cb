/* A meeting: two forms in their poses of this step, and the opening of their trees one level at a time. The
 * caller holds the lists of node pairs, so thousands of meetings lie side by side in one arena and a level of
 * any of them can be opened next.
 *
 *   sac_meeting m;
 *   sac_pairs front = {a, b, 0, room}, next, done;
 *   if (sac_meeting_begin(&m, form_a, &pose_a, form_b, &pose_b, 0.01f, &front))    // at the roots
 *       tests = sac_meeting_open(workspace, &m, 0, &front, UINT64_MAX, &next, &done);  // one level down
 *   count = sac_meeting_contacts(&m, &next, &done, 4, contacts);
 *
 * The guarantee of descent.h holds: next + done + what was not opened cover every contact there is, up to
 * `margin` apart. Results and credits are the same on all SIMD paths.
 *
 * Index: sac_meeting_begin  sac_meeting_open  sac_meeting_contacts  sac_meeting_refresh
 *        sac_meeting_refresh_all  sac_meeting_advance  sac_workspace_create  sac_workspace_destroy
 */
#ifndef SAC_SPHERETREE_MEETING_H
#define SAC_SPHERETREE_MEETING_H

#include "form.h"

/* Node pairs. For a side that is not a tree its number is 0, or the feature touched. Kernels write whole
 * vectors: the arrays must have SAC_PAIRS_SLACK entries beyond `room`. `links`: as in tree.h while they can
 * be refined, node ids once they cannot. */
#define SAC_PAIRS_SLACK 16u
typedef struct sac_pairs {
    uint32_t *a, *b;
    uint32_t count, room;
} sac_pairs;

typedef struct sac_meeting {
    const sac_form *a, *b;
    const sac_transform *pose_a, *pose_b; /* must stay while the meeting is used */
    float margin;                         /* world units: pairs this far apart still count */
    float m[3][4],
        scale;       /* from b's local space to a's; with one tree only, from the tree's to the other's */
    uint32_t levels; /* the deepest level there is to reach: the deeper of the two */
    bool swapped;    /* the tree is b and a is not: private, the caller sees a and b as given */
} sac_meeting;

/* Scratch for opening, one for each thread. */
typedef struct sac_workspace sac_workspace;
sac_result sac_workspace_create(sac_workspace **out_workspace, sac_error *error);
void sac_workspace_destroy(sac_workspace **workspace);

/* Sets up the meeting and tests the whole forms against each other. False: farther apart than `margin`,
 * nothing to do. True: out_root holds the one pair of roots, as links, or final when `levels` is 0. Poses are
 * taken as they are: finite, scale > 0, rotation of length 1. */
bool sac_meeting_begin(sac_meeting *meeting, const sac_form *a, const sac_transform *pose_a,
                       const sac_form *b, const sac_transform *pose_b, float margin, sac_pairs *out_root);

typedef struct sac_opened {
    uint64_t tests; /* credits spent */
    uint32_t used;  /* pairs of `front` that were opened, from its start; the others still stand */
} sac_opened;

/* Opens the pairs of `front`, all on `level`; their children that overlap are added to `next` (can be
 * refined) or `done` (final). The three lists are different memory. Stops early when `credits` are spent,
 * with at least one pair opened whatever it costs, or when the children of a further pair find no room;
 * tests of a pair that found none are counted too. */
sac_opened sac_meeting_open(sac_workspace *workspace, const sac_meeting *meeting, uint32_t level,
                            const sac_pairs *front, uint64_t credits, sac_pairs *next, sac_pairs *done);

/* Two bodies touch in at most this many points. */
#define SAC_CONTACT_MOST 4u

/* The contacts of a front, reduced to `most` (up to SAC_CONTACT_MOST) that are deepest and well spread:
 * `pending` pairs hold links, `done` pairs node ids; both may be NULL. Contacts apart have a negative depth,
 * down to -margin. `point` lies between the two surfaces. Depth is the spheres' overlap, not corrected by the
 * uncertainty; where both nodes stand for flat faces (form.h) that lie against each other point, normal and
 * depth are the faces' own, without uncertainty, and when nothing else touches the contacts are the corners.
 * The first is the deepest; contacts that say the same as another (within a hundredth of the smaller form)
 * are left out. Returns how many. Adds its own cost to *out_tests, which may be NULL. */
uint32_t sac_meeting_contacts(const sac_meeting *meeting, const sac_pairs *pending, const sac_pairs *done,
                              uint32_t most, sac_contact *out_contacts, uint64_t *out_tests);

/* A contact between two known nodes (or features) again, in the meeting's poses; false when they are farther
 * apart than the margin. */
bool sac_meeting_refresh(const sac_meeting *meeting, uint32_t node_a, uint32_t node_b,
                         sac_contact *out_contact);
/* The same for many pairs of nodes; those that hold, in their order, to out_contacts, which has room for all.
 * Returns how many. */
uint32_t sac_meeting_refresh_all(const sac_meeting *meeting, const sac_pairs *nodes,
                                 sac_contact *out_contacts);

/* Motion of a body in a step: v and w are per step (already times dt); turning is about the pose's
 * translation plus `centre`, which is a local point. */
typedef struct sac_sweep {
    float v[3], w[3], centre[3];
} sac_sweep;

/* Conservative advance: the share of the step, 0 to 1, that both forms can move before any two of their
 * spheres (or surfaces of exact forms) may be deeper than `allowed` in each other; `allowed` counts as no
 * more than half of what two of them are thick. Those deeper at the start may go deeper by `allowed` once
 * more, so what rests can slide. Roots first, then along the trees; at most about `credits`, and a share too
 * small rather than too large when they do not suffice. out_tests may be NULL. */
float sac_meeting_advance(const sac_form *a, const sac_transform *pose_a, const sac_sweep *sweep_a,
                          const sac_form *b, const sac_transform *pose_b, const sac_sweep *sweep_b,
                          float allowed, uint64_t credits, uint64_t *out_tests);

#endif
