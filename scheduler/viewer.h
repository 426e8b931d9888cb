/* Who is looking: eyes, gaze and hands of this frame, and what can be said about where the gaze really is.
 *
 *   sac_viewer viewer = sac_default_viewer();             // one eye at the origin, looking along -z
 *   viewer.gaze.valid = true;
 *   sac_gaze_update(&filter, &viewer, now_ns, &focus);    // filter: zeroed once, kept from frame to frame
 *
 * A focus is what perception works with: conditioned gaze, its uncertainty, the eyes.
 *
 * Index: sac_default_viewer  sac_viewer_eye  sac_viewer_check  sac_default_gaze_def  sac_gaze_init
 *        sac_gaze_fini  sac_gaze_reserve  sac_gaze_update
 */
#ifndef SAC_SCHEDULER_VIEWER_H
#define SAC_SCHEDULER_VIEWER_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/error.h"
#include "../base/geometry.h"

/* A viewer holds so many eyes itself; there may be any number more. */
#define SAC_VIEWER_OWN_EYES 4u
#define SAC_VIEWER_MOST_HANDS 2u

typedef struct sac_eye {
    float position[3];
    float rotation[4];                           /* x, y, z, w; looks along its -z, y up */
    float fov_left, fov_right, fov_up, fov_down; /* radians; left and down negative, as in OpenXR */
} sac_eye;

typedef struct sac_gaze_sample {
    bool valid;          /* false: blink or lost */
    float origin[3];     /* world */
    float direction[3];  /* world; any length but zero */
    uint64_t time_ns;    /* when the eye was there, on the caller's clock; 0: unknown, taken as now */
    float confidence;    /* 0 to 1; NaN: unknown */
    float error_degrees; /* the tracker's own accuracy; 0: the definition's */
} sac_gaze_sample;

typedef struct sac_hand {
    bool valid;
    float position[3];
    float radius; /* of what the hand can touch, metres */
} sac_hand;

typedef struct sac_viewer {
    uint32_t eye_count; /* any number; 0: nobody looks, everything matters the same */
    sac_eye eyes[SAC_VIEWER_OWN_EYES];
    const sac_eye
        *more_eyes; /* those beyond: eye_count - SAC_VIEWER_OWN_EYES; read in the call it is given to */
    sac_gaze_sample gaze;
    sac_hand hands[SAC_VIEWER_MOST_HANDS];
} sac_viewer;

/* One eye at the origin, 100 x 90 degrees, no gaze, no hands. */
sac_viewer sac_default_viewer(void);
static inline const sac_eye *sac_viewer_eye(const sac_viewer *viewer, uint32_t i)
{
    return i < SAC_VIEWER_OWN_EYES ? &viewer->eyes[i] : &viewer->more_eyes[i - SAC_VIEWER_OWN_EYES];
}
/* ERROR_ARGUMENT names what is not finite, not a rotation, or out of range. */
sac_result sac_viewer_check(const sac_viewer *viewer, sac_error *error);

typedef struct sac_gaze_def {
    float saccade_degrees_s;     /* eye speed above which it is a saccade; default 100 */
    float saccade_end_degrees_s; /* below which it has ended; default 60 */
    float tracker_error_degrees; /* default 1 */
    float photon_latency_s;      /* from step to display; default 0.015 */
    float lost_after_s;          /* no valid sample for this long: gaze is lost; default 0.25 */
    float return_s;              /* time constant of the way back from lost to tracked; default 0.15 */
    float flat_zone_degrees; /* without gaze: half angle about the head axis seen as if fixated; default 30 */
    float least_confidence;  /* samples below are as good as none; default 0.3 */
} sac_gaze_def;

typedef enum sac_gaze_state {
    SAC_GAZE_NONE,     /* there never was any: head axis */
    SAC_GAZE_FIXATION, /* or pursuit */
    SAC_GAZE_SACCADE,  /* held where it was; the guard grows */
    SAC_GAZE_BLINK,    /* held */
    SAC_GAZE_LOST      /* head axis */
} sac_gaze_state;

/* An eye made ready to be looked through. */
typedef struct sac_focus_eye {
    float position[3], axis[3];
    float plane[5][3]; /* of its view: left, right, down, up, behind; unit, pointing out */
} sac_focus_eye;

/* What perception works with. */
typedef struct sac_focus {
    uint32_t eye_count;
    sac_eye eyes[SAC_VIEWER_OWN_EYES];
    float axis[SAC_VIEWER_OWN_EYES][3]; /* unit: where each eye is taken to look */
    const sac_focus_eye *more;          /* eyes beyond those; the filter's, until its next update */
    float guard_degrees;                /* eccentricity is reckoned less this: max(0, e - guard) */
    sac_gaze_state state;
    float eye_speed_degrees_s;
    sac_hand hands[SAC_VIEWER_MOST_HANDS];
} sac_focus;

typedef struct sac_gaze_filter {
    sac_gaze_def def;
    sac_gaze_state state;
    uint64_t sample_ns, valid_ns, update_ns;   /* of the last sample, the last valid one, the last update */
    float direction[3], held[3], speed, blend; /* blend: 0 head axis, 1 gaze */
    bool any;
    sac_focus_eye *more; /* room for eyes beyond the viewer's own; NULL while there never were any */
    uint32_t more_room;
} sac_gaze_filter;

sac_gaze_def sac_default_gaze_def(void);
void sac_gaze_init(sac_gaze_filter *filter, const sac_gaze_def *def); /* def may be NULL */
/* Only one that has seen more than SAC_VIEWER_OWN_EYES eyes holds memory. */
void sac_gaze_fini(sac_gaze_filter *filter);
/* Room for so many eyes, or ERROR_MEMORY. An update makes room too, and leaves out those that find none. */
sac_result sac_gaze_reserve(sac_gaze_filter *filter, uint32_t eyes, sac_error *error);
/* One call a frame. `viewer` may be NULL: nobody looks. Deterministic: only what it is given. A clock that
 * jumps back or far ahead counts as a fresh start. */
void sac_gaze_update(sac_gaze_filter *filter, const sac_viewer *viewer, uint64_t now_ns,
                     sac_focus *out_focus);

#endif
