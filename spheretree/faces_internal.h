/* Flat parts of a tree's surface: found from what its leaves know, and laid against each other. Spheres make
 * a flat face bumpy, and what rests on bumps rocks; faces that lie against each other say exactly how deep.
 * Private to spheretree/. */
#ifndef SAC_SPHERETREE_FACES_INTERNAL_H
#define SAC_SPHERETREE_FACES_INTERNAL_H

#include "spheretree/contact_internal.h"
#include "spheretree/meeting_internal.h"

/* Fills in the faces of a form whose other numbers are set; none for trees that change or are spheres. */
void sac_faces_find(sac_form *form);

/* Two flat parts that lie against each other, as planes n . x = o in one frame. */
typedef struct sac_laid {
    bool found;
    float normal_a[3], offset_a, normal_b[3], offset_b;
    float across[3]; /* unit, along the face and turning with it */
    float near;      /* touches this close to a plane may be on it */
    /* Whose faces they are, in their own space; NULL: not a tree's. */
    const sac_tree *tree_a, *tree_b;
    const sac_face *face_a, *face_b;
} sac_laid;

/* Two nodes of trees in a's frame. When they stand for faces that lie against each other, *contact becomes
 * theirs: point between, normal, depth, no uncertainty; and when they touch there, *laid is told. */
void sac_faces_meet(const sac_meeting *meeting, const sac_contact_node *a, const sac_contact_node *b,
                    sac_contact *contact, sac_laid *laid);

/* contact_lanes.c: contacts of up to SAC_CONTACT_MOST pairs of nodes, in the world, all but `final`; `rows`
 * are those of pose_a. *laid is told of faces as by sac_faces_meet. */
void sac_contacts_of(const sac_meeting *meeting, const float rows[3][3], const uint32_t *node_a,
                     const uint32_t *node_b, uint32_t count, sac_contact *out, sac_laid *laid);

/* A node of `form` and a field, in the field's frame, whose distance from the node's centre along `normal`
 * (to the centre) is known. True when the node stands for a face that lies against the field: *out_depth and
 * the point are the face's. */
bool sac_faces_meet_field(const sac_meeting *meeting, const sac_form *form, const float centre[3],
                          float radius, const float normal[3], float distance, float *out_depth,
                          float out_point[3], sac_laid *laid);

/* Do the contacts of a first choice, among them one of the face, leave the pair to it alone? False: others
 * touch too, by other faces or by spheres. */
bool sac_faces_alone(const sac_contact *contacts, uint32_t count);

/* The touches of a face that reach farthest in four directions, found in one or several lists. */
typedef struct sac_corners {
    uint32_t count; /* 0, or 4 that may be the same */
    float most[4], point[4][3];
    float normal[4][3];
    uint32_t a[4], b[4];
    uint8_t final[4];
} sac_corners;
void sac_corners_add(sac_corners *corners, const sac_laid *laid, const sac_touch_list *list);
/* The different ones: indices to out_chosen, which has room for four; returns how many. */
uint32_t sac_corners_different(const sac_corners *corners, uint32_t *out_chosen);

#endif
