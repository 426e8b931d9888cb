/* Saccade in your own OpenXR application: your session, renderer, views and gaze; only runtime/ is used.
 * main() makes the views up; in your program they come from the calls named beside them. */
#include <openxr/openxr.h>
#include <stdio.h>
#include <string.h>
#include <saccade/runtime/world.h>

static sac_eye eye_of(const XrView *view)
{
    const XrFovf *fov = &view->fov;
    sac_eye eye = {{0}, {0}, fov->angleLeft, fov->angleRight, fov->angleUp, fov->angleDown};
    memcpy(eye.position, &view->pose.position, sizeof eye.position);
    memcpy(eye.rotation, &view->pose.orientation, sizeof eye.rotation);
    return eye;
}

/* From xrLocateSpace(gaze_space, ...) with an XrEyeGazeSampleTimeEXT chained; it looks along -z. */
static sac_gaze_sample gaze_of(const XrSpaceLocation *at, XrTime sampled)
{
    sac_transform pose = {.scale = 1};
    sac_gaze_sample gaze = {.time_ns = (uint64_t)sampled, .confidence = NAN};
    gaze.valid = at->locationFlags & XR_SPACE_LOCATION_ORIENTATION_TRACKED_BIT;
    memcpy(pose.rotation, &at->pose.orientation, sizeof pose.rotation);
    memcpy(gaze.origin, &at->pose.position, sizeof gaze.origin);
    sac_transform_point(&pose, (float[3]){0, 0, -1}, gaze.direction);
    return gaze;
}

int main(void)
{
    sac_world *world;
    sac_form form;
    sac_body_id ball;
    sac_world_def def = sac_default_world_def();
    sac_body_def body = sac_default_body_def();
    def.gaze.photon_latency_s = 0; /* the step's now is display time: nothing to add */
    sac_world_create(&def, &world, NULL);
    sac_form_plane(&form, (float[3]){0, 1, 0}, 0, NULL), sac_world_add_shape(world, &form, &body.shape, NULL);
    body.kind = SAC_BODY_STATIC, sac_body_create(world, &body, NULL, NULL);
    sac_form_sphere(&form, 0.1f, NULL), sac_world_add_shape(world, &form, &body.shape, NULL);
    body.kind = SAC_BODY_DYNAMIC, body.position[1] = 2, sac_body_create(world, &body, &ball, NULL);
    XrView views[2] = {{XR_TYPE_VIEW, NULL, {{0, 0, 0, 1}, {-0.03f, 1.6f, 2}}, {-0.8f, 0.7f, 0.8f, -0.8f}},
                       {XR_TYPE_VIEW, NULL, {{0, 0, 0, 1}, {0.03f, 1.6f, 2}}, {-0.7f, 0.8f, 0.8f, -0.8f}}};
    XrSpaceLocation gaze = {XR_TYPE_SPACE_LOCATION, NULL, 15, {{0, 0, 0, 1}, {0, 1.6f, 2}}};
    for (XrTime display = 1000000000; display < 4000000000; display += 11111111) { /* xrWaitFrame */
        sac_viewer viewer = {.eye_count = 2, .gaze = gaze_of(&gaze, display - 5000000)};
        for (int i = 0; i < 2; i++) viewer.eyes[i] = eye_of(&views[i]); /* xrLocateViews */
        sac_step_def step = sac_default_step_def();                     /* dt is 1/90 s */
        step.budget_ns = 2000000; /* and not a microsecond more of the frame */
        step.viewer = &viewer, step.viewer_now_ns = (uint64_t)display;
        if (sac_world_step(world, &step, NULL, NULL) != SAC_OK) return 1;
    } /* draw each body where sac_body_get says it is shown, xrEndFrame */
    sac_body_state state;
    sac_body_get(world, ball, &state, NULL);
    printf("the ball lies at %.3f m\n", state.centre[1]);
    sac_world_destroy(&world);
    return state.centre[1] > 0.09f && state.centre[1] < 0.11f ? 0 : 1;
}
