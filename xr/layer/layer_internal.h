/* The gaze replay layer: what it keeps of instances, sessions, spaces and actions, and the rules between its
 * files. It stands between an application and any OpenXR runtime; docs/gaze-layer.md tells how to use it.
 *
 *   negotiate.c   how the loader gets in, and which calls go through us
 *   registry.c    handles: who belongs to whom, forgotten when destroyed
 *   actions.c     the interaction profile of the eyes: bindings, activity, names
 *   spaces.c      the gaze located, and others located from it
 *   frames.c      sessions, frames, events; where faults are put in
 *   supply.c      where gaze comes from: file, script, mouse, pipe
 *   faults.c      which faults, from the environment
 *
 * One lock guards all of it and is never held while the next in the chain is called. That a handle is not
 * destroyed while it is used is the application's duty, by the rules of OpenXR.
 */
#ifndef SAC_XR_LAYER_INTERNAL_H
#define SAC_XR_LAYER_INTERNAL_H

#include "base/memory.h"
#include "xr/gaze_source.h"
#include "xr/openxr_compat_internal.h"

#define SAC_LAYER_NAME "XR_APILAYER_SACCADE_gaze_replay"

/* ---- faults ---- */

enum { SAC_FAULT_RANGES = 16 };

/* Frames by number, from 1; a session counts its own. */
typedef struct sac_fault_frames {
    struct {
        uint64_t first, last;
    } range[SAC_FAULT_RANGES];
    uint32_t count;
} sac_fault_frames;

typedef struct sac_faults {
    uint64_t stall_ns, stall_every; /* every so many frames; 0: see stall_at */
    sac_fault_frames stall_at;
    sac_fault_frames should_render, gaze_lost, negative_time, absurd_time, absurd_period;
    uint64_t session_loss, instance_loss; /* at this frame, once in the life of the process; 0: never */
} sac_faults;

sac_result sac_faults_from_environment(sac_faults *out_faults, sac_error *error);
bool sac_fault_frames_have(const sac_fault_frames *frames, uint64_t frame);

/* ---- supply ---- */

typedef struct sac_supply sac_supply;

/* As SACCADE_GAZE and its companions say. NULL and OK: nothing is asked for. */
sac_result sac_supply_from_environment(sac_supply **out_supply, sac_error *error);
void sac_supply_close(sac_supply **supply);
/* Live ones look at mouse or pipe; the others do nothing. `now` is on the runtime's clock. */
void sac_supply_look(sac_supply *supply, XrTime now);
bool sac_supply_is_live(const sac_supply *supply);
/* The gaze at `time` of a session whose first frame was predicted for `start`; false: a blink, or none. */
bool sac_supply_at(sac_supply *supply, XrTime start, XrTime time, XrPosef *out_pose, XrTime *out_sample);

/* The pointer of an X display, without asking anything else of it. */
typedef struct sac_pointer sac_pointer;
sac_result sac_pointer_open(sac_pointer **out_pointer, sac_error *error);
/* From the middle of the screen, in half widths of it, right and up positive; false: cannot be told. */
bool sac_pointer_read(sac_pointer *pointer, float *out_x, float *out_y, bool *out_pressed);
void sac_pointer_close(sac_pointer **pointer);

/* ---- what is kept ---- */

/* The next in the chain, and what we call of it. */
#define SAC_LAYER_NEXT(X)                \
    X(DestroyInstance)                   \
    X(PollEvent)                         \
    X(GetSystemProperties)               \
    X(CreateSession)                     \
    X(DestroySession)                    \
    X(BeginSession)                      \
    X(EndSession)                        \
    X(RequestExitSession)                \
    X(WaitFrame)                         \
    X(BeginFrame)                        \
    X(EndFrame)                          \
    X(CreateReferenceSpace)              \
    X(CreateActionSpace)                 \
    X(DestroySpace)                      \
    X(LocateSpace)                       \
    X(LocateViews)                       \
    X(StringToPath)                      \
    X(CreateActionSet)                   \
    X(DestroyActionSet)                  \
    X(CreateAction)                      \
    X(DestroyAction)                     \
    X(SuggestInteractionProfileBindings) \
    X(AttachSessionActionSets)           \
    X(SyncActions)                       \
    X(GetActionStatePose)                \
    X(GetCurrentInteractionProfile)      \
    X(EnumerateBoundSourcesForAction)    \
    X(GetInputSourceLocalizedName)

typedef struct sac_layer_next {
#define X(name) PFN_xr##name name;
    SAC_LAYER_NEXT(X)
#undef X
    PFN_xrLocateSpaces LocateSpaces;               /* core 1.1 or the extension; NULL: neither */
    PFN_xrLocateHandJointsEXT LocateHandJointsEXT; /* NULL: not enabled */
    PFN_xrConvertTimespecTimeToTimeKHR ConvertTimespecTimeToTimeKHR; /* NULL: the runtime cannot */
} sac_layer_next;

typedef struct sac_layer_instance {
    XrInstance handle;
    PFN_xrGetInstanceProcAddr get;
    sac_layer_next next;
    bool asked;  /* the application enabled the extension */
    bool native; /* the runtime has it, too: what we are told goes down as well */
    bool verbose, prefer_runtime;
    bool lost; /* by fault */
    XrPath profile, pose, eyes;
    sac_supply *supply; /* NULL: no gaze of ours */
    sac_faults faults;
    sac_array(XrAction) bound; /* to the gaze, as last suggested */
} sac_layer_instance;

typedef struct sac_layer_session {
    XrSession handle;
    sac_layer_instance *instance;
    XrSpace view; /* of our own */
    bool ours;    /* gaze is ours, not the runtime's */
    bool lost;    /* by fault */
    bool attached, profile_told, profile_changed;
    uint64_t frames;
    XrTime start;     /* predicted for the first frame; 0: none yet */
    XrTime predicted; /* of the last frame, as the runtime said */
    XrDuration period;
    struct {
        XrTime said, told;         /* by the runtime; to the application */
    } times[4];                    /* of the last frames */
    sac_array(XrActionSet) sets;   /* attached */
    sac_array(XrActionSet) active; /* live for the eyes since the last sync, and focused */
} sac_layer_session;

typedef struct sac_layer_space {
    XrSpace handle;
    sac_layer_session *session;
    XrAction action; /* null: a reference space */
    bool of_eyes;    /* subaction none or the eyes: gaze if the action is bound to it */
    XrPosef offset;
} sac_layer_space;

typedef struct sac_layer_set {
    XrActionSet handle;
    sac_layer_instance *instance;
    bool attached; /* to any session: its bindings are settled */
} sac_layer_set;

typedef struct sac_layer_action {
    XrAction handle;
    XrActionSet set;
    sac_layer_instance *instance;
    XrActionType type;
    bool subactions; /* it has some */
    bool eyes;       /* the eyes among them */
} sac_layer_action;

void sac_layer_lock(void);
void sac_layer_unlock(void);

/* All below: with the lock held. NULL when it is not known. */
sac_layer_instance *sac_layer_find_instance(XrInstance handle);
sac_layer_session *sac_layer_find_session(XrSession handle);
sac_layer_space *sac_layer_find_space(XrSpace handle);
sac_layer_set *sac_layer_find_set(XrActionSet handle);
sac_layer_action *sac_layer_find_action(XrAction handle);
/* The only one there is, for handles of kinds we do not know. */
sac_layer_instance *sac_layer_any_instance(void);
/* A session of the instance whose eyes got a profile that nobody was told about. */
sac_layer_session *sac_layer_changed_session(const sac_layer_instance *instance);

/* Takes a copy; NULL: no memory. */
sac_layer_instance *sac_layer_add_instance(const sac_layer_instance *instance);
sac_layer_session *sac_layer_add_session(const sac_layer_session *session);
sac_layer_space *sac_layer_add_space(const sac_layer_space *space);
sac_layer_set *sac_layer_add_set(const sac_layer_set *set);
sac_layer_action *sac_layer_add_action(const sac_layer_action *action);
/* With everything that belongs to it. */
void sac_layer_forget_instance(XrInstance handle);
void sac_layer_forget_session(XrSession handle);
void sac_layer_forget_space(XrSpace handle);
void sac_layer_forget_set(XrActionSet handle);
void sac_layer_forget_action(XrAction handle);

/* ---- rules shared ---- */

/* The action is bound to the gaze and we give it in this session. */
bool sac_layer_is_gaze(const sac_layer_session *session, XrAction action);
/* ...and it is live: its set attached, synced and focused. */
bool sac_layer_is_live(const sac_layer_session *session, XrAction action);
/* By fault: what every call of the session returns from then on. XR_SUCCESS: it is well. */
XrResult sac_layer_lost(const sac_layer_session *session);
/* Now on the runtime's clock, as well as can be told. Without the lock. */
XrTime sac_layer_now(const sac_layer_session *session);

void sac_layer_say(const char *format, ...) SAC_PRINTF(1, 2);

typedef struct sac_layer_hook {
    const char *name;
    PFN_xrVoidFunction function;
} sac_layer_hook;
/* Each ends with a NULL name. */
extern const sac_layer_hook sac_layer_action_hooks[], sac_layer_space_hooks[], sac_layer_frame_hooks[];

#endif
