/* An OpenXR session on whatever runtime is active: head, gaze and hands come in, both eyes go out. A session
 * that is lost (runtime killed, headset unplugged) tells so and can be opened again; the world never notices.
 *
 *   sac_session *session;
 *   sac_session_create(&def, &session, &error);
 *   while (!done) {
 *       sac_session_frame frame;
 *       switch (sac_session_wait(session, &frame, &error)) {
 *       case SAC_SESSION_FRAME: ...physics until frame.deadline_ns...; sac_session_draw(session, &drawing,
 * &stats, &error); break; case SAC_SESSION_IDLE: step the world slowly; break;          // not running yet,
 * or not visible case SAC_SESSION_LOST: sac_session_reopen(session, &error); break;   // tries once; call
 * again later case SAC_SESSION_EXIT: done = true;
 *       }
 *   }
 *   sac_session_destroy(&session);
 *
 * Index: sac_default_session_def  sac_session_probe  sac_session_create  sac_session_wait
 *        sac_session_draw  sac_session_skip  sac_session_pulse  sac_session_recentre
 *        sac_session_request_exit  sac_session_reopen  sac_session_info  sac_session_destroy
 */
#ifndef SAC_XR_SESSION_H
#define SAC_XR_SESSION_H

#include "drawing.h"
#include "frame_time.h"
#include "gaze_source.h"
#include "hands.h"

typedef struct sac_session sac_session;

typedef struct sac_session_def {
    const char *application; /* default "Saccade" */
    sac_renderer_def renderer;
    sac_slice_def slice;
    float resolution; /* times the recommended size; default 1 */
    float refresh_hz; /* asked for where the runtime lets us; 0: its own */
    bool seated;      /* LOCAL space instead of STAGE */
    bool depth;       /* hand depth to the compositor where it takes it; default true */
    bool hand_joints; /* default true */
} sac_session_def;
sac_session_def sac_default_session_def(void);

typedef enum sac_session_presence {
    SAC_PRESENCE_NO_RUNTIME, /* none installed, or it does not answer */
    SAC_PRESENCE_NO_HEADSET, /* a runtime, but no headset on it */
    SAC_PRESENCE_HEADSET
} sac_session_presence;
/* Is there a headset? Opens and closes an instance. The text says what was found and what to do. */
sac_session_presence sac_session_probe(char *out_text, size_t size);

/* Instance, system, device, session. Errors name the remedy: no runtime, no headset, missing extension, no
 * Vulkan. */
sac_result sac_session_create(const sac_session_def *def, sac_session **out_session, sac_error *error);
void sac_session_destroy(sac_session **session);

typedef enum sac_session_event {
    SAC_SESSION_FRAME, /* a frame is begun: sac_session_draw or sac_session_skip must follow */
    SAC_SESSION_IDLE,  /* not running; the call waited a little */
    SAC_SESSION_LOST,  /* session or instance gone, all of it released */
    SAC_SESSION_EXIT   /* asked for by the runtime or by sac_session_request_exit, and done */
} sac_session_event;

typedef struct sac_session_frame {
    sac_frame_stamp stamp;
    sac_frame_verdict verdict;
    uint64_t begin_ns;     /* when the runtime had begun the frame */
    uint64_t predicted_ns; /* display, monotonic clock */
    uint64_t deadline_ns;  /* for physics, monotonic clock: the slice */
    bool should_render, focused, recentred;
    bool head_valid;
    float head_position[3], head_rotation[4];
    uint32_t eye_count;
    sac_eye eyes[SAC_DRAWING_MOST_VIEWS]; /* located at the predicted display time */
    bool gaze_supported;
    sac_gaze_reading gaze; /* head space; EXT_eye_gaze_interaction */
    sac_hand_input hands[SAC_HANDS];
    char state[24]; /* of the session: "FOCUSED" */
} sac_session_frame;

/* Polls events, waits for the frame, begins it, reads input. */
sac_session_event sac_session_wait(sac_session *session, sac_session_frame *out_frame, sac_error *error);
/* Draws (when should_render) and ends the frame; a loss shows in the next wait. */
sac_result sac_session_draw(sac_session *session, const sac_drawing *drawing, sac_screen_stats *out_stats,
                            sac_error *error);
/* Ends the frame with nothing in it. */
sac_result sac_session_skip(sac_session *session, sac_error *error);
void sac_session_pulse(sac_session *session, uint32_t hand, float amplitude, float seconds);
/* Origin to where the head is now, yaw only. */
sac_result sac_session_recentre(sac_session *session, sac_error *error);
sac_result sac_session_request_exit(sac_session *session, sac_error *error);
/* After LOST: tries once. ERROR_IO: not yet there, try again. */
sac_result sac_session_reopen(sac_session *session, sac_error *error);

typedef struct sac_session_info {
    char runtime[128], system[128];
    bool gaze, hand_joints, refresh_rate, depth, multiview;
    float refresh_hz;       /* 0: unknown */
    uint32_t width, height; /* of a view */
    uint64_t focused_ns;    /* from create to FOCUSED; 0: not yet */
    uint32_t reopened;
    char states[256]; /* it went through, the latest last: "IDLE READY SYNCHRONIZED"; the oldest make room */
    sac_ledger ledger;
    sac_slice slice;
} sac_session_info;
void sac_session_info_get(const sac_session *session, sac_session_info *out_info);

#endif
