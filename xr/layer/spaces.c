/* The gaze located in other spaces, and other spaces located in the gaze. A gaze space is located through a
 * view space of our own: space in base = inverse(gaze of base) * what the runtime says of the views * gaze of
 * space. */
#include "xr/layer/layer_internal.h"

#include <string.h>

static const XrPosef identity = {.orientation = {0, 0, 0, 1}};

/* ---- poses ---- */

static XrQuaternionf times(XrQuaternionf a, XrQuaternionf b)
{
    return (XrQuaternionf){
        a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

static XrVector3f turned(XrQuaternionf q, XrVector3f v)
{
    XrQuaternionf p =
        times(times(q, (XrQuaternionf){v.x, v.y, v.z, 0}), (XrQuaternionf){-q.x, -q.y, -q.z, q.w});
    return (XrVector3f){p.x, p.y, p.z};
}

static XrPosef combined(XrPosef a, XrPosef b)
{
    XrVector3f moved = turned(a.orientation, b.position);
    return (XrPosef){times(a.orientation, b.orientation),
                     {a.position.x + moved.x, a.position.y + moved.y, a.position.z + moved.z}};
}

static XrPosef inverse(XrPosef a)
{
    XrQuaternionf back = {-a.orientation.x, -a.orientation.y, -a.orientation.z, a.orientation.w};
    XrVector3f moved = turned(back, (XrVector3f){-a.position.x, -a.position.y, -a.position.z});
    return (XrPosef){back, moved};
}

/* ---- gaze ---- */

/* A space as it takes part in a question: as it is, or as gaze seen from the view. */
typedef struct part {
    XrSpace asked; /* of the runtime */
    bool gaze, known;
    XrPosef pose; /* in the view */
    XrTime sample;
} part;

/* With the lock. */
static part part_of(sac_layer_space *space, XrSpace handle, XrTime time, XrTime now)
{
    part p = {.asked = handle, .pose = identity};
    if (!space || !space->of_eyes || !sac_layer_is_gaze(space->session, space->action)) return p;
    sac_layer_session *session = space->session;
    p.gaze = true;
    p.asked = session->view;
    XrPosef gaze;
    sac_supply_look(session->instance->supply, now);
    p.known = sac_layer_is_live(session, space->action) &&
              !sac_fault_frames_have(&session->instance->faults.gaze_lost, session->frames) &&
              sac_supply_at(session->instance->supply, session->start, time, &gaze, &p.sample);
    if (p.known)
        p.pose = combined(gaze, space->offset);
    else
        p.sample = 0;
    return p;
}

#define POSITION XR_SPACE_LOCATION_POSITION_VALID_BIT
#define ORIENTATION XR_SPACE_LOCATION_ORIENTATION_VALID_BIT
#define TRACKED (XR_SPACE_LOCATION_POSITION_TRACKED_BIT | XR_SPACE_LOCATION_ORIENTATION_TRACKED_BIT)

/* Position and direction of the eyes are tracked together or not at all; where the head itself is only partly
 * tracked, not at all. */
static XrSpaceLocationFlags flags_of(XrSpaceLocationFlags views, const part *space, const part *base)
{
    if ((space->gaze && !space->known) || (base->gaze && !base->known)) return 0;
    XrSpaceLocationFlags flags = views & (POSITION | ORIENTATION);
    if (!(flags & ORIENTATION)) flags = 0; /* a position means nothing without it, turned by the gaze */
    if ((views & TRACKED) == TRACKED && flags == (POSITION | ORIENTATION)) flags |= TRACKED;
    return flags;
}

static void put_together(const part *space, const part *base, XrSpaceLocationFlags *flags, XrPosef *pose)
{
    *flags = flags_of(*flags, space, base);
    if (*flags) *pose = combined(combined(inverse(base->pose), *pose), space->pose);
}

/* ---- chains ---- */

static void *in_chain(void *next, XrStructureType type)
{
    for (XrBaseOutStructure *item = next; item; item = item->next)
        if (item->type == type) return item;
    return NULL;
}

/* Takes the item of this type out of the chain that starts at *next, for a call to somebody who may not know
 * it. */
typedef struct taken {
    XrBaseOutStructure *item, **place;
} taken;

static taken take_out(void **next, XrStructureType type)
{
    taken t = {.place = (XrBaseOutStructure **)next};
    while (*t.place && (*t.place)->type != type) t.place = &(*t.place)->next;
    t.item = *t.place;
    if (t.item) *t.place = t.item->next;
    return t;
}

static void put_back(taken t)
{
    if (t.item) *t.place = t.item;
}

/* ---- calls ---- */

static XrResult XRAPI_CALL create_reference_space(XrSession handle, const XrReferenceSpaceCreateInfo *info,
                                                  XrSpace *out)
{
    sac_layer_lock();
    sac_layer_session *session = sac_layer_find_session(handle);
    XrResult result = session ? sac_layer_lost(session) : XR_ERROR_HANDLE_INVALID;
    sac_layer_unlock();
    if (XR_FAILED(result)) return result;
    result = session->instance->next.CreateReferenceSpace(handle, info, out);
    if (XR_FAILED(result)) return result;
    sac_layer_lock();
    bool kept = sac_layer_add_space(&(sac_layer_space){.handle = *out, .session = session}) != NULL;
    sac_layer_unlock();
    if (kept) return result;
    session->instance->next.DestroySpace(*out);
    return XR_ERROR_OUT_OF_MEMORY;
}

static bool is_rotation(XrQuaternionf q)
{
    float square = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    return square > 0.98f && square < 1.02f;
}

/* Which of the actions are gaze may be settled later, by bindings; so the runtime makes the space, too. Only
 * of the eyes of a runtime that does not know them it cannot, and a view space stands for it. */
static XrResult XRAPI_CALL create_action_space(XrSession handle, const XrActionSpaceCreateInfo *info,
                                               XrSpace *out)
{
    if (!info || !out) return XR_ERROR_VALIDATION_FAILURE;
    sac_layer_lock();
    sac_layer_session *session = sac_layer_find_session(handle);
    XrResult result = session ? sac_layer_lost(session) : XR_ERROR_HANDLE_INVALID;
    const sac_layer_action *action = sac_layer_find_action(info->action);
    bool eyes = session && session->instance->asked && info->subactionPath == session->instance->eyes;
    if (XR_SUCCEEDED(result) && eyes && !session->instance->native) {
        if (!action || action->instance != session->instance)
            result = XR_ERROR_HANDLE_INVALID;
        else if (action->type != XR_ACTION_TYPE_POSE_INPUT)
            result = XR_ERROR_ACTION_TYPE_MISMATCH;
        else if (!action->eyes)
            result = XR_ERROR_PATH_UNSUPPORTED;
        else if (!is_rotation(info->poseInActionSpace.orientation))
            result = XR_ERROR_POSE_INVALID;
    }
    sac_layer_unlock();
    if (XR_FAILED(result)) return result;
    const sac_layer_next *next = &session->instance->next;
    const XrReferenceSpaceCreateInfo view = {.type = XR_TYPE_REFERENCE_SPACE_CREATE_INFO,
                                             .referenceSpaceType = XR_REFERENCE_SPACE_TYPE_VIEW,
                                             .poseInReferenceSpace = identity};
    result = eyes && !session->instance->native ? next->CreateReferenceSpace(handle, &view, out)
                                                : next->CreateActionSpace(handle, info, out);
    if (XR_FAILED(result)) return result;
    sac_layer_space space = {.handle = *out,
                             .session = session,
                             .action = info->action,
                             .of_eyes = eyes || info->subactionPath == XR_NULL_PATH,
                             .offset = info->poseInActionSpace};
    sac_layer_lock();
    bool kept = sac_layer_add_space(&space) != NULL;
    sac_layer_unlock();
    if (kept) return result;
    next->DestroySpace(*out);
    return XR_ERROR_OUT_OF_MEMORY;
}

static XrResult XRAPI_CALL destroy_space(XrSpace handle)
{
    sac_layer_lock();
    sac_layer_space *space = sac_layer_find_space(handle);
    sac_layer_instance *instance = space ? space->session->instance : sac_layer_any_instance();
    sac_layer_forget_space(handle);
    sac_layer_unlock();
    return instance ? instance->next.DestroySpace(handle) : XR_ERROR_HANDLE_INVALID;
}

/* The session two spaces belong to, its instance, and whether all is well with it. */
static XrResult owner_of(XrSpace a, XrSpace b, sac_layer_session **out_session,
                         sac_layer_instance **out_instance)
{
    sac_layer_lock();
    sac_layer_space *space = sac_layer_find_space(a);
    if (!space) space = sac_layer_find_space(b);
    *out_session = space ? space->session : NULL;
    *out_instance = space ? space->session->instance : sac_layer_any_instance();
    XrResult result = !*out_instance ? XR_ERROR_HANDLE_INVALID
                      : space        ? sac_layer_lost(space->session)
                                     : XR_SUCCESS;
    sac_layer_unlock();
    return result;
}

static XrTime now_for(const sac_layer_session *session)
{
    bool live = session && session->ours && sac_supply_is_live(session->instance->supply);
    return live ? sac_layer_now(session) : 0;
}

static XrResult XRAPI_CALL locate_space(XrSpace space, XrSpace base, XrTime time, XrSpaceLocation *location)
{
    sac_layer_session *session;
    sac_layer_instance *instance;
    XrResult result = owner_of(space, base, &session, &instance);
    if (XR_FAILED(result)) return result;
    XrTime now = now_for(session);
    sac_layer_lock();
    part located = part_of(sac_layer_find_space(space), space, time, now);
    part from = part_of(sac_layer_find_space(base), base, time, now);
    sac_layer_unlock();
    if ((!located.gaze && !from.gaze) || !location)
        return instance->next.LocateSpace(space, base, time, location);
    taken stamp = take_out(&location->next, XR_TYPE_EYE_GAZE_SAMPLE_TIME_EXT);
    result = instance->next.LocateSpace(located.asked, from.asked, time, location);
    put_back(stamp);
    if (XR_FAILED(result)) return result;
    put_together(&located, &from, &location->locationFlags, &location->pose);
    XrSpaceVelocity *velocity = in_chain(location->next, XR_TYPE_SPACE_VELOCITY);
    if (velocity) velocity->velocityFlags = 0; /* how fast the eye turns nobody knows */
    if (stamp.item) {
        XrTime sample = located.gaze ? located.sample : from.sample;
        ((XrEyeGazeSampleTimeEXT *)(void *)stamp.item)->time = location->locationFlags ? sample : 0;
    }
    return result;
}

static XrResult locate_many(XrSession handle, const XrSpacesLocateInfo *info, XrSpaceLocations *out)
{
    sac_layer_lock();
    sac_layer_session *session = sac_layer_find_session(handle);
    XrResult result = session ? sac_layer_lost(session) : XR_ERROR_HANDLE_INVALID;
    sac_layer_unlock();
    if (XR_FAILED(result)) return result;
    const sac_layer_next *next = &session->instance->next;
    if (!info || !out || !info->spaceCount || !info->spaces || !out->locations ||
        out->locationCount != info->spaceCount)
        return next->LocateSpaces(handle, info, out); /* which says what is wrong */
    size_t count = info->spaceCount;
    part *parts = sac_alloc(count, sizeof *parts);
    XrSpace *asked = sac_alloc(count, sizeof *asked);
    if (!parts || !asked) {
        sac_free(parts, count, sizeof *parts);
        sac_free(asked, count, sizeof *asked);
        return XR_ERROR_OUT_OF_MEMORY;
    }
    XrTime now = now_for(session);
    sac_layer_lock();
    part from = part_of(sac_layer_find_space(info->baseSpace), info->baseSpace, info->time, now);
    for (size_t i = 0; i < count; i++) {
        parts[i] = part_of(sac_layer_find_space(info->spaces[i]), info->spaces[i], info->time, now);
        asked[i] = parts[i].asked;
    }
    sac_layer_unlock();
    XrSpacesLocateInfo below = *info;
    below.baseSpace = from.asked;
    below.spaces = asked;
    result = next->LocateSpaces(handle, &below, out);
    XrSpaceVelocities *velocities =
        XR_SUCCEEDED(result) ? in_chain(out->next, XR_TYPE_SPACE_VELOCITIES) : NULL;
    for (size_t i = 0; i < count && XR_SUCCEEDED(result); i++) {
        if (!parts[i].gaze && !from.gaze) continue;
        put_together(&parts[i], &from, &out->locations[i].locationFlags, &out->locations[i].pose);
        if (velocities && velocities->velocities && i < velocities->velocityCount)
            velocities->velocities[i].velocityFlags = 0;
    }
    sac_free(parts, count, sizeof *parts);
    sac_free(asked, count, sizeof *asked);
    return result;
}

static XrResult XRAPI_CALL locate_spaces(XrSession session, const XrSpacesLocateInfo *info,
                                         XrSpaceLocations *out)
{
    return locate_many(session, info, out);
}

static XrResult XRAPI_CALL locate_views(XrSession handle, const XrViewLocateInfo *info, XrViewState *state,
                                        uint32_t capacity, uint32_t *out_count, XrView *views)
{
    sac_layer_lock();
    sac_layer_session *session = sac_layer_find_session(handle);
    XrResult result = session ? sac_layer_lost(session) : XR_ERROR_HANDLE_INVALID;
    sac_layer_unlock();
    if (XR_FAILED(result)) return result;
    const sac_layer_next *next = &session->instance->next;
    if (!info) return next->LocateViews(handle, info, state, capacity, out_count, views);
    XrTime now = now_for(session);
    sac_layer_lock();
    part from = part_of(sac_layer_find_space(info->space), info->space, info->displayTime, now);
    sac_layer_unlock();
    XrViewLocateInfo below = *info;
    below.space = from.asked;
    result = next->LocateViews(handle, &below, state, capacity, out_count, views);
    if (XR_FAILED(result) || !from.gaze || !capacity || !views) return result;
    const part plain = {.pose = identity};
    /* The flags of views have the same bits as those of spaces. */
    XrSpaceLocationFlags flags = flags_of(state->viewStateFlags, &plain, &from);
    state->viewStateFlags = flags;
    XrPosef back = inverse(from.pose);
    for (uint32_t i = 0; flags && i < *out_count && i < capacity; i++)
        views[i].pose = combined(back, views[i].pose);
    return result;
}

/* A tracker is not a handle we know; its session is the one of the space it is located in. */
static XrResult XRAPI_CALL locate_joints(XrHandTrackerEXT tracker, const XrHandJointsLocateInfoEXT *info,
                                         XrHandJointLocationsEXT *out)
{
    sac_layer_session *session;
    sac_layer_instance *instance;
    XrSpace base = info ? info->baseSpace : XR_NULL_HANDLE;
    XrResult result = owner_of(base, base, &session, &instance);
    if (XR_FAILED(result)) return result;
    if (!info || !out) return instance->next.LocateHandJointsEXT(tracker, info, out);
    XrTime now = now_for(session);
    sac_layer_lock();
    part from = part_of(sac_layer_find_space(base), base, info->time, now);
    sac_layer_unlock();
    XrHandJointsLocateInfoEXT below = *info;
    below.baseSpace = from.asked;
    result = instance->next.LocateHandJointsEXT(tracker, &below, out);
    if (XR_FAILED(result) || !from.gaze || !out->jointLocations) return result;
    const part plain = {.pose = identity};
    for (uint32_t i = 0; i < out->jointCount; i++)
        put_together(&plain, &from, &out->jointLocations[i].locationFlags, &out->jointLocations[i].pose);
    XrHandJointVelocitiesEXT *velocities = in_chain(out->next, XR_TYPE_HAND_JOINT_VELOCITIES_EXT);
    for (uint32_t i = 0; velocities && velocities->jointVelocities && i < velocities->jointCount; i++)
        velocities->jointVelocities[i].velocityFlags = 0;
    return result;
}

const sac_layer_hook sac_layer_space_hooks[] = {
    {"xrCreateReferenceSpace", (PFN_xrVoidFunction)create_reference_space},
    {"xrCreateActionSpace", (PFN_xrVoidFunction)create_action_space},
    {"xrDestroySpace", (PFN_xrVoidFunction)destroy_space},
    {"xrLocateSpace", (PFN_xrVoidFunction)locate_space},
    {"xrLocateSpaces", (PFN_xrVoidFunction)locate_spaces},
    {"xrLocateSpacesKHR", (PFN_xrVoidFunction)locate_spaces},
    {"xrLocateViews", (PFN_xrVoidFunction)locate_views},
    {"xrLocateHandJointsEXT", (PFN_xrVoidFunction)locate_joints},
    {NULL, NULL}};
