/* Hands: grab, throw and poke. A hand is a kinematic ball that goes where the tracked one goes, stops at
 * walls, and takes hold of what it touches; where it stopped, the tracked pose is a ghost.
 *
 *   sac_hands hands;
 *   sac_hands_init(&hands, world, &error);
 *   sac_hands_update(&hands, world, inputs, dt, &error);    // before each step
 *   sac_world_step(...);
 *   sac_hands_feel(&hands, world);                          // after: haptic strength from contact impulses
 *
 * Closing the hand (squeeze or select, or thumb and index finger brought together) takes the nearest body
 * within reach; opening it throws with the velocity of the last tenth of a second. Select with nothing in
 * reach, or a tracked index finger, puts out a fingertip to poke with.
 *
 * Index: sac_hands_init  sac_hands_update  sac_hands_feel  sac_hands_viewer  sac_hands_fini
 *        sac_hand_throw  sac_hand_pulse
 */
#ifndef SAC_XR_HANDS_H
#define SAC_XR_HANDS_H

#include "../runtime/world.h"

enum { SAC_HANDS = 2, SAC_HAND_JOINTS = 26, SAC_HAND_HISTORY = 16 };
/* Joints this room looks at, in the order of XR_EXT_hand_tracking. */
enum { SAC_JOINT_THUMB_TIP = 5, SAC_JOINT_INDEX_TIP = 10 };

/* What the tracker says, world space. Zeroed: no hand. */
typedef struct sac_hand_input {
    bool active;
    float position[3], rotation[4]; /* grip */
    float aim_position[3], aim_rotation[4];
    float squeeze, select; /* 0 to 1 */
    bool menu;             /* pressed since the last frame */
    bool joints_valid;
    float joints[SAC_HAND_JOINTS][4]; /* x, y, z, radius */
    /* When the hand is there, any clock (display time). The same time again is the same sample again, for a
     * frame of several steps. 0: each update is a new sample, dt after the last. */
    int64_t time_ns;
} sac_hand_input;

typedef struct sac_hand_state {
    sac_body_id body;   /* kinematic ball, its own category; 0 while there is no hand */
    sac_body_id finger; /* the fingertip's, 0 while it is not out */
    sac_grab_id grab;   /* 0: empty */
    sac_body_id held;
    bool active, stopped;               /* stopped: at a wall, the ghost is elsewhere */
    float position[3], rotation[4];     /* where the hand is in the world */
    float ghost[3];                     /* where it is tracked */
    float tip[3];                       /* of the finger, when it is out */
    float history[SAC_HAND_HISTORY][4]; /* tracked position, seconds before now: throws */
    float past_rotation[SAC_HAND_HISTORY][4];
    uint32_t history_count, history_next;
    float pulse; /* 0 to 1: haptic amplitude wanted after this step */
    bool closed;
    /* Private. */
    bool poking, meets;   /* meets: other bodies, as they were last told */
    float hold[3];        /* centre of what is held, seen from the hand */
    sac_body_id released; /* lets go of it until they are apart */
    int64_t time_ns;
    float lost_s, quiet_s, felt, dt; /* felt: amplitude of the last pulse */
    float bump;                      /* N s, as a wall in the way would feel */
} sac_hand_state;

typedef struct sac_hands {
    sac_hand_state hand[SAC_HANDS];
    sac_shape_id shape, finger_shape;
    float radius;      /* of the hand, default 0.05 m; set at init */
    float tip_radius;  /* of a fingertip, default 0.012 m; set at init */
    float reach;       /* a grab takes the nearest body within this of the palm; default 0.08 m */
    float most_speed;  /* of the hand in the world; it comes after when the tracked one is faster; 12 m/s */
    uint32_t category; /* of the hands' own bodies; default 1 << 31 */
    uint32_t mask;     /* categories hands meet, stop at and take; default all but their own */
} sac_hands;

sac_result sac_hands_init(sac_hands *hands, sac_world *world, sac_error *error);
void sac_hands_fini(sac_hands *hands, sac_world *world);
/* Before a step of `dt`. Poses that are not finite or no rotation count as a hand lost from sight: it stays
 * where it was for a quarter of a second, then lets go and is gone. */
sac_result sac_hands_update(sac_hands *hands, sac_world *world, const sac_hand_input input[SAC_HANDS],
                            float dt, sac_error *error);
/* After it: pulse from the contact events of the hands and of what they hold. */
void sac_hands_feel(sac_hands *hands, const sac_world *world);
/* Fills viewer->hands. */
void sac_hands_viewer(const sac_hands *hands, sac_viewer *viewer);

/* Velocity and spin of a throw, from the history: a line or, where the hand clearly speeds up or slows down,
 * a parabola through the last 0.12 s, with samples that are off left out. Zero for a hand that is still. */
void sac_hand_throw(const sac_hand_state *hand, float out_velocity[3], float out_spin[3]);
/* Amplitude 0 to 1 of an impulse: a light touch is felt, a blow does not numb. */
float sac_hand_pulse(float impulse);

#endif
