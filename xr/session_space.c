/* Where and when: reference spaces and recentring, the views of a frame, the runtime's clock beside ours. */
#include <math.h>
#include <string.h>

#include "xr/session_internal.h"

static const XrPosef identity = {.orientation = {0, 0, 0, 1}};

/* Without a floor of the runtime's, the space is this far above it. */
#define STANDING_M 1.6f
#define SEATED_M 1.2f

/* How far the two clocks may drift before somebody is told. */
#define CLOCK_SLACK_NS 1000000
#define CLOCK_EVERY_NS 5000000000u

/* ---- spaces ---- */

static XrResult create_space(sac_session *session, XrReferenceSpaceType type, const XrPosef *pose,
                             XrSpace *out)
{
    const XrReferenceSpaceCreateInfo info = {.type = XR_TYPE_REFERENCE_SPACE_CREATE_INFO,
                                             .referenceSpaceType = type,
                                             .poseInReferenceSpace = *pose};
    return xrCreateReferenceSpace(session->session, &info, out);
}

static bool has_space(const sac_session *session, XrReferenceSpaceType wanted)
{
    XrReferenceSpaceType types[32];
    uint32_t count = 0;
    if (XR_FAILED(xrEnumerateReferenceSpaces(session->session, 0, &count, NULL)) || count > 32 ||
        XR_FAILED(xrEnumerateReferenceSpaces(session->session, count, &count, types)))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (types[i] == wanted) return true;
    return false;
}

/* The space of the world, its origin moved to `origin` of the runtime's. */
bool sac_session_place(sac_session *session, const XrPosef *origin)
{
    XrSpace space = XR_NULL_HANDLE;
    XrPosef lifted = *origin;
    lifted.position.y -= session->lift;
    if (!sac_session_good(session, create_space(session, session->space_type, &lifted, &space),
                          "place the world"))
        return false;
    if (session->space) xrDestroySpace(session->space);
    session->space = space;
    session->origin = *origin;
    return true;
}

sac_result sac_session_make_spaces(sac_session *session, sac_error *error)
{
    const bool seated = session->def.seated;
    session->lift = 0;
    if (!seated && has_space(session, XR_REFERENCE_SPACE_TYPE_STAGE)) {
        session->space_type = XR_REFERENCE_SPACE_TYPE_STAGE;
    } else if (session->has_floor && has_space(session, XR_REFERENCE_SPACE_TYPE_LOCAL_FLOOR_EXT)) {
        session->space_type = XR_REFERENCE_SPACE_TYPE_LOCAL_FLOOR_EXT;
    } else {
        session->space_type = XR_REFERENCE_SPACE_TYPE_LOCAL;
        session->lift = seated ? SEATED_M : STANDING_M;
    }
    XrPosef origin = identity, lifted = identity;
    lifted.position.y -= session->lift;
    XrResult r = create_space(session, session->space_type, &lifted, &session->space);
    if (XR_SUCCEEDED(r))
        r = create_space(session, XR_REFERENCE_SPACE_TYPE_VIEW, &identity, &session->view_space);
    session->origin = origin;
    return XR_FAILED(r) ? sac_session_failed(session, r, "set up the space", error) : SAC_OK;
}

void sac_session_space_changed(sac_session *session, const XrEventDataReferenceSpaceChangePending *event)
{
    if (event->session != session->session || event->referenceSpaceType != session->space_type) return;
    session->recentre_pending = true;
    session->recentre_time = event->changeTime;
}

/* Yaw of a rotation as a rotation about y; identity when looking straight up or down. */
static XrQuaternionf yaw_of(XrQuaternionf q)
{
    const float x = 2 * (q.x * q.z + q.w * q.y), z = 1 - 2 * (q.x * q.x + q.y * q.y);
    if (x * x + z * z < 1e-6f) return identity.orientation;
    const float half = 0.5f * atan2f(x, z);
    return (XrQuaternionf){0, sinf(half), 0, cosf(half)};
}

static XrVector3f turned_by_yaw(XrQuaternionf yaw, XrVector3f v)
{
    const float s = 2 * yaw.y * yaw.w, c = 1 - 2 * yaw.y * yaw.y;
    return (XrVector3f){c * v.x + s * v.z, v.y, c * v.z - s * v.x};
}

sac_result sac_session_recentre(sac_session *session, sac_error *error)
{
    XrSpaceLocation head = {.type = XR_TYPE_SPACE_LOCATION};
    const XrSpaceLocationFlags both =
        XR_SPACE_LOCATION_POSITION_VALID_BIT | XR_SPACE_LOCATION_ORIENTATION_VALID_BIT;
    if (!session->running || !session->locate_time)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "recentre between two frames",
                             "no frame was made yet");
    XrResult r = xrLocateSpace(session->view_space, session->space, session->locate_time, &head);
    if (!sac_session_good(session, r, "locate the head"))
        return sac_error_set(error, SAC_ERROR_IO, NULL, "the session was lost");
    if ((head.locationFlags & both) != both)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "move the headset until it is tracked",
                             "the head is not tracked");
    /* The new origin under the head, seen from the old one; the floor stays where it is. */
    const XrQuaternionf old = session->origin.orientation, turn = yaw_of(head.pose.orientation);
    const XrVector3f step = turned_by_yaw(old, (XrVector3f){head.pose.position.x, 0, head.pose.position.z});
    const XrPosef origin = {
        .orientation = {0, old.y * turn.w + old.w * turn.y, 0, old.w * turn.w - old.y * turn.y},
        .position = {session->origin.position.x + step.x, session->origin.position.y,
                     session->origin.position.z + step.z}};
    if (!sac_session_place(session, &origin))
        return sac_error_set(error, SAC_ERROR_IO, NULL, "the session was lost");
    return SAC_OK;
}

/* ---- clock ---- */

/* The runtime counts from its own zero. Both clocks run at the same speed, so one offset does for a session;
 * now and then it is looked at again. */
void sac_session_read_clock(sac_session *session)
{
    const uint64_t now = sac_time_now_ns();
    if (session->clock_checked_ns && now - session->clock_checked_ns < CLOCK_EVERY_NS) return;
    const bool first = session->clock_checked_ns == 0;
    /* The library's clock is CLOCK_MONOTONIC, the one the extension converts. */
    const struct timespec stamp = {.tv_sec = (time_t)(now / 1000000000u),
                                   .tv_nsec = (long)(now % 1000000000u)};
    XrTime time = 0;
    if (XR_FAILED(SAC_XR(session, session->to_xr_time(session->instance, &stamp, &time)))) return;
    session->clock_checked_ns = now;
    const int64_t offset = (int64_t)now - time, drift = offset - session->clock_offset_ns;
    if (first || drift > CLOCK_SLACK_NS || drift < -CLOCK_SLACK_NS) {
        if (!first)
            sac_session_message(session, "the runtime's clock moved by %.3f ms against ours",
                                (double)drift * 1e-6);
        session->clock_offset_ns = offset;
    }
}

uint64_t sac_session_to_monotonic(const sac_session *session, XrTime time)
{
    const int64_t ns = time + session->clock_offset_ns;
    return ns > 0 ? (uint64_t)ns : 0;
}

/* ---- the views of a frame ---- */

static void copy_pose(const XrPosef *pose, float position[3], float rotation[4])
{
    memcpy(position, &pose->position, 3 * sizeof(float));
    memcpy(rotation, &pose->orientation, 4 * sizeof(float));
}

static bool sound_view(const XrView *view)
{
    const XrQuaternionf *q = &view->pose.orientation;
    const float length = q->x * q->x + q->y * q->y + q->z * q->z + q->w * q->w;
    return length > 0.98f && length < 1.02f && isfinite(view->pose.position.x) &&
           isfinite(view->pose.position.y) && isfinite(view->pose.position.z) &&
           view->fov.angleLeft < view->fov.angleRight && view->fov.angleDown < view->fov.angleUp;
}

static void settle_change(sac_session *session, sac_session_frame *frame)
{
    if (!session->recentre_pending || session->locate_time < session->recentre_time) return;
    session->recentre_pending = false;
    /* The wearer asked the runtime for a new origin: ours, in the old one, means nothing any more. */
    if (sac_session_place(session, &identity)) frame->recentred = true;
}

bool sac_session_locate_views(sac_session *session, sac_session_frame *frame)
{
    settle_change(session, frame);
    if (session->lost) return false;
    const XrViewLocateInfo info = {.type = XR_TYPE_VIEW_LOCATE_INFO,
                                   .viewConfigurationType = session->view_type,
                                   .displayTime = session->locate_time,
                                   .space = session->space};
    XrView views[SAC_DRAWING_MOST_VIEWS];
    XrViewState state = {.type = XR_TYPE_VIEW_STATE};
    XrSpaceLocation head = {.type = XR_TYPE_SPACE_LOCATION};
    uint32_t count = 0;
    for (uint32_t i = 0; i < SAC_DRAWING_MOST_VIEWS; i++) views[i] = (XrView){.type = XR_TYPE_VIEW};
    if (!sac_session_good(session,
                          SAC_XR(session, xrLocateViews(session->session, &info, &state, session->view_count,
                                                        &count, views)),
                          "locate the eyes") ||
        !sac_session_good(
            session,
            SAC_XR(session, xrLocateSpace(session->view_space, session->space, session->locate_time, &head)),
            "locate the head"))
        return false;
    const XrViewStateFlags eyes = XR_VIEW_STATE_ORIENTATION_VALID_BIT | XR_VIEW_STATE_POSITION_VALID_BIT;
    bool sound = (state.viewStateFlags & eyes) == eyes && count == session->view_count;
    for (uint32_t i = 0; i < session->view_count; i++) sound = sound && sound_view(&views[i]);
    if (sound) {
        memcpy(session->views, views, sizeof views);
        session->located = true;
    }
    /* Not tracked now: the picture stays where it was last known to be. */
    frame->eye_count = session->located ? session->view_count : 0;
    for (uint32_t i = 0; i < frame->eye_count; i++) {
        const XrView *view = &session->views[i];
        sac_eye *eye = &frame->eyes[i];
        copy_pose(&view->pose, eye->position, eye->rotation);
        eye->fov_left = view->fov.angleLeft, eye->fov_right = view->fov.angleRight;
        eye->fov_up = view->fov.angleUp, eye->fov_down = view->fov.angleDown;
    }
    const XrSpaceLocationFlags both =
        XR_SPACE_LOCATION_POSITION_VALID_BIT | XR_SPACE_LOCATION_ORIENTATION_VALID_BIT;
    frame->head_valid = sound && (head.locationFlags & both) == both;
    frame->head_rotation[3] = 1;
    if (frame->head_valid) copy_pose(&head.pose, frame->head_position, frame->head_rotation);
    return true;
}
