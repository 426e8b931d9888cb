/* Hands: grab, throw and poke. A hand is a kinematic ball that goes where the tracked one goes, stops at
 * walls, and takes hold of what it touches; where it stopped, the tracked pose is a ghost.
 *
 *   sac_hands hands;
 *   sac_hands_init(&hands, world, &error);
 *   sac_hands_update(&hands, world, inputs, dt, &error);    // before each step
 *   sac_world_step(...);
 *   sac_hands_feel(&hands, world);                          // after: haptic strength from contact impulses
 *
 * Index: sac_hands_init  sac_hands_update  sac_hands_feel  sac_hands_viewer  sac_hands_fini
 */
#ifndef SAC_XR_HANDS_H
#define SAC_XR_HANDS_H

#include "../runtime/world.h"

enum { SAC_HANDS = 2, SAC_HAND_JOINTS = 26, SAC_HAND_HISTORY = 16 };

/* What the tracker says, world space. */
typedef struct sac_hand_input {
    bool active;
    float position[3], rotation[4]; /* grip */
    float aim_position[3], aim_rotation[4];
    float squeeze, select; /* 0 to 1 */
    bool menu;             /* pressed since the last frame */
    bool joints_valid;
    float joints[SAC_HAND_JOINTS][4]; /* x, y, z, radius */
} sac_hand_input;

typedef struct sac_hand_state {
    sac_body_id body; /* kinematic ball, its own category */
    sac_grab_id grab; /* 0: empty */
    sac_body_id held;
    bool active, stopped;               /* stopped: at a wall, the ghost is elsewhere */
    float position[3], rotation[4];     /* where the hand is in the world */
    float ghost[3];                     /* where it is tracked */
    float history[SAC_HAND_HISTORY][4]; /* tracked position, seconds before now: throws */
    float past_rotation[SAC_HAND_HISTORY][4];
    uint32_t history_count, history_next;
    float pulse; /* 0 to 1: haptic amplitude wanted after this step */
    bool closed;
} sac_hand_state;

typedef struct sac_hands {
    sac_hand_state hand[SAC_HANDS];
    sac_shape_id shape;
    float radius;      /* of the hand, default 0.05 m */
    float reach;       /* a grab takes the nearest body within this of the palm; default 0.08 m */
    uint32_t category; /* of the hands' own bodies; default 1 << 31 */
} sac_hands;

sac_result sac_hands_init(sac_hands *hands, sac_world *world, sac_error *error);
void sac_hands_fini(sac_hands *hands, sac_world *world);
/* Before a step of `dt`. */
sac_result sac_hands_update(sac_hands *hands, sac_world *world, const sac_hand_input input[SAC_HANDS],
                            float dt, sac_error *error);
/* After it: pulse from the contact events of the hands and of what they hold. */
void sac_hands_feel(sac_hands *hands, const sac_world *world);
/* Fills viewer->hands. */
void sac_hands_viewer(const sac_hands *hands, sac_viewer *viewer);

#endif
