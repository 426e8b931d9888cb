/* Ours, through the door a user takes. Somebody stands beside the box and looks into it. */
#include "bench/peer.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "runtime/world.h"

struct sac_peer {
    sac_world *world;
    sac_tree *tree;
    sac_body_id *ids;
    uint32_t body_count;
    sac_viewer viewer;
    sac_step_def step;
    sac_step_report report;
};

static void destroy(sac_peer *peer)
{
    if (!peer) return;
    sac_world_destroy(&peer->world);
    sac_tree_destroy(&peer->tree);
    sac_free(peer->ids, peer->body_count, sizeof *peer->ids);
    sac_free(peer, 1, sizeof *peer);
}

void sac_peer_viewpoint(const sac_shared_scene *scene, float out_eye[3], float out_direction[3])
{
    bool box = scene->side > 0;
    float eye[3] = {0, box ? fmaxf(1.7f, 0.6f * scene->side) : 0,
                    box ? 0.5f * scene->side + 0.7f : 1.3f * cbrtf((float)scene->body_count)};
    float target[3] = {0, box ? 0.3f * scene->side : 0, 0}, length = 0;
    for (int i = 0; i < 3; i++) {
        out_eye[i] = eye[i];
        out_direction[i] = target[i] - eye[i];
        length += out_direction[i] * out_direction[i];
    }
    for (int i = 0; i < 3; i++) out_direction[i] /= sqrtf(length);
}

static void place_viewer(sac_peer *peer, const sac_shared_scene *scene)
{
    sac_viewer *viewer = &peer->viewer;
    *viewer = sac_default_viewer();
    viewer->gaze.valid = true;
    viewer->gaze.confidence = 1;
    sac_peer_viewpoint(scene, viewer->gaze.origin, viewer->gaze.direction);
    float pitch = atan2f(viewer->gaze.direction[1], -viewer->gaze.direction[2]);
    memcpy(viewer->eyes[0].position, viewer->gaze.origin, sizeof viewer->gaze.origin);
    viewer->eyes[0].rotation[0] = sinf(0.5f * pitch);
    viewer->eyes[0].rotation[1] = viewer->eyes[0].rotation[2] = 0;
    viewer->eyes[0].rotation[3] = cosf(0.5f * pitch);
}

static sac_result add_boxes(sac_peer *peer, const sac_shared_scene *scene, sac_error *error)
{
    for (uint32_t i = 0; i < scene->box_count; i++) {
        sac_form form;
        sac_body_def def = sac_default_body_def();
        sac_result result = sac_form_box(&form, scene->boxes[i].half, error);
        if (result == SAC_OK) result = sac_world_add_shape(peer->world, &form, &def.shape, error);
        def.kind = SAC_BODY_STATIC;
        memcpy(def.position, scene->boxes[i].centre, sizeof def.position);
        def.material.friction = scene->friction;
        def.material.restitution = scene->restitution;
        if (result == SAC_OK) result = sac_body_create(peer->world, &def, NULL, error);
        if (result != SAC_OK) return result;
    }
    return SAC_OK;
}

static sac_result add_bodies(sac_peer *peer, const sac_shared_scene *scene, sac_error *error)
{
    sac_form form;
    sac_body_def def = sac_default_body_def();
    sac_build_def build = sac_default_build_def();
    sac_result result = sac_tree_build_spheres((const float(*)[4])scene->spheres, scene->sphere_count, &build,
                                               &peer->tree, error);
    if (result == SAC_OK) result = sac_form_from_tree(&form, peer->tree, error);
    if (result == SAC_OK) result = sac_world_add_shape(peer->world, &form, &def.shape, error);
    def.mass = scene->mass;
    memcpy(def.inertia, scene->inertia, sizeof scene->inertia);
    def.centre_given = true; /* the origin */
    def.material.friction = scene->friction;
    def.material.restitution = scene->restitution;
    for (uint32_t i = 0; i < scene->body_count && result == SAC_OK; i++) {
        const sac_shared_body *b = &scene->bodies[i];
        memcpy(def.position, b->position, sizeof def.position);
        memcpy(def.rotation, b->rotation, sizeof def.rotation);
        memcpy(def.velocity, b->velocity, sizeof def.velocity);
        result = sac_body_create(peer->world, &def, &peer->ids[i], error);
    }
    return result;
}

static sac_result create(const sac_shared_scene *scene, const sac_peer_def *peer_def, sac_peer **out_peer,
                         sac_error *error)
{
    *out_peer = NULL;
    sac_peer *peer = sac_alloc_zero(1, sizeof *peer);
    if (!peer) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the world");
    peer->body_count = scene->body_count;
    peer->ids = sac_alloc_zero(scene->body_count, sizeof *peer->ids);
    sac_world_def def = sac_default_world_def();
    memcpy(def.gravity, scene->gravity, sizeof def.gravity);
    def.bodies = scene->body_count + scene->box_count;
    def.policy = peer_def && peer_def->policy ? peer_def->policy : "exhaustive";
    peer->step = sac_default_step_def();
    peer->step.budget_ns = peer_def ? peer_def->budget_ns : 0;
    sac_result result = SAC_OK;
    if (!peer->ids)
        result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %u bodies", scene->body_count);
    if (result == SAC_OK) result = sac_world_create(&def, &peer->world, error);
    if (result == SAC_OK) result = add_boxes(peer, scene, error);
    if (result == SAC_OK) result = add_bodies(peer, scene, error);
    if (result != SAC_OK) {
        destroy(peer);
        return result;
    }
    place_viewer(peer, scene);
    peer->step.viewer = &peer->viewer;
    *out_peer = peer;
    return SAC_OK;
}

static void step(sac_peer *peer, float dt)
{
    peer->step.dt = dt;
    sac_world_step(peer->world, &peer->step, &peer->report, NULL);
}

static void read(sac_peer *peer, sac_peer_pose *out_poses)
{
    for (uint32_t i = 0; i < peer->body_count; i++) {
        sac_body_state state;
        memset(&out_poses[i], 0, sizeof out_poses[i]);
        if (sac_body_get(peer->world, peer->ids[i], &state, NULL) != SAC_OK) continue;
        memcpy(out_poses[i].position, state.pose.translation, sizeof out_poses[i].position);
        memcpy(out_poses[i].rotation, state.pose.rotation, sizeof out_poses[i].rotation);
    }
}

static void throw_body(sac_peer *peer, uint32_t body, const float velocity[3])
{
    sac_body_set_velocity(peer->world, peer->ids[body], velocity, (const float[3]){0, 0, 0}, NULL);
}

static float waiting(const sac_peer *peer)
{
    return (float)peer->report.rungs[SAC_RUNG_HELD] / (float)(peer->body_count ? peer->body_count : 1);
}

const sac_peer_engine sac_peer_saccade = {"saccade", "",         true,    create, step,
                                          read,      throw_body, destroy, waiting};
