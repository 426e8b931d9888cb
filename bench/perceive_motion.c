/* Frames to look at, and the truth about them: a shared scene run by our own engine with everything refined
 * (by another where ours is not built), then every pair of things whose boxes meet descended to its end. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "bench/peer.h"
#include "bench/perceive.h"

static void look_over(sac_perceive_motion *m, const sac_shared_scene *scene)
{
    sac_viewer *viewer = &m->viewer;
    bool box = scene->side > 0;
    float eye[3] = {0, box ? fmaxf(1.7f, 0.6f * scene->side) : 0,
                    box ? 0.5f * scene->side + 0.7f : 1.3f * cbrtf((float)scene->body_count)};
    float pitch = atan2f(box ? 0.25f * scene->side - eye[1] : 0, eye[2]);
    *viewer = sac_default_viewer();
    viewer->eye_count = 2;
    viewer->eyes[1] = viewer->eyes[0];
    for (uint32_t e = 0; e < 2; e++) {
        memcpy(viewer->eyes[e].position, eye, sizeof eye);
        viewer->eyes[e].position[0] = e ? 0.032f : -0.032f;
        viewer->eyes[e].rotation[0] = sinf(0.5f * pitch);
        viewer->eyes[e].rotation[3] = cosf(0.5f * pitch);
    }
}

static sac_result record(sac_perceive_motion *m, const sac_perceive_def *def, const sac_shared_scene *scene,
                         sac_error *error)
{
    const sac_peer_engine *engine = sac_peer_engine_at(0);
    uint32_t bodies = scene->body_count;
    sac_peer *peer = NULL;
    if (!engine)
        return sac_error_set(error, SAC_ERROR_UNSUPPORTED, "build with one", "no engine to move the bodies");
    sac_peer_pose *poses = sac_alloc(bodies, sizeof *poses);
    if (!poses) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the motion");
    sac_result result = engine->create(scene, NULL, &peer, error);
    for (uint32_t f = 0; result == SAC_OK && f < def->skip + m->frames; f++) {
        if (f >= def->skip) {
            sac_transform *now = m->poses + (size_t)(f - def->skip) * m->things;
            engine->read(peer, poses);
            for (uint32_t i = 0; i < bodies; i++) {
                now[i] = sac_transform_identity();
                memcpy(now[i].translation, poses[i].position, sizeof poses[i].position);
                memcpy(now[i].rotation, poses[i].rotation, sizeof poses[i].rotation);
            }
            for (uint32_t i = 0; i < m->box_count; i++) {
                now[bodies + i] = sac_transform_identity();
                memcpy(now[bodies + i].translation, scene->boxes[i].centre, sizeof(vec3));
            }
        }
        engine->step(peer, (float)(1 / SAC_PERCEIVE_HZ));
    }
    engine->destroy(peer);
    sac_free(poses, bodies, sizeof *poses);
    return result;
}

static void find_velocities(sac_perceive_motion *m)
{
    for (uint32_t f = 0; f < m->frames; f++) {
        for (uint32_t i = 0; i < m->things; i++) {
            size_t here = (size_t)f * m->things + i, last = here - (f ? m->things : 0),
                   next = here + (f + 1 < m->frames ? m->things : 0);
            double frames = (next - last) / (double)m->things;
            for (int k = 0; k < 3; k++)
                m->velocity[here][k] = frames > 0 ? (float)(((double)m->poses[next].translation[k] -
                                                             (double)m->poses[last].translation[k]) *
                                                            SAC_PERCEIVE_HZ / frames)
                                                  : 0;
        }
    }
}

static bool boxes_meet(const sac_perceive_motion *m, uint32_t f, uint32_t a, uint32_t b)
{
    const sac_form *fa = sac_perceive_form(m, a), *fb = sac_perceive_form(m, b);
    const sac_transform *pa = &m->poses[(size_t)f * m->things + a],
                        *pb = &m->poses[(size_t)f * m->things + b];
    sac_box box_a, box_b;
    sac_form_bounds(fa, pa, &box_a);
    sac_form_bounds(fb, pb, &box_b);
    for (int k = 0; k < 3; k++)
        if (box_a.low[k] > box_b.high[k] + SAC_PERCEIVE_REACH ||
            box_b.low[k] > box_a.high[k] + SAC_PERCEIVE_REACH)
            return false;
    return true;
}

/* All pairs of a frame, refined to their end. */
static sac_result tell_truth(sac_perceive_motion *m, sac_agenda *agenda, uint32_t f, sac_error *error)
{
    sac_perception_def perception = sac_default_perception_def();
    sac_agenda_report report;
    uint32_t bodies = m->things - m->box_count;
    const sac_transform *poses = m->poses + (size_t)f * m->things;
    m->first_pair[f] = (uint32_t)m->pairs.count;
    sac_agenda_clear(agenda);
    for (uint32_t a = 0; a < bodies; a++) {
        for (uint32_t b = a + 1; b < m->things; b++) {
            if (!boxes_meet(m, f, a, b)) continue;
            sac_perceive_pair pair = {.a = a, .b = b, .depth = -SAC_PERCEIVE_REACH};
            uint32_t i = sac_agenda_add(agenda, sac_perceive_form(m, a), &poses[a], sac_perceive_form(m, b),
                                        &poses[b], SAC_PERCEIVE_REACH);
            if (i == UINT32_MAX || !sac_array_push(&m->pairs, pair))
                return sac_error_set(error, SAC_ERROR_MEMORY, "ask for fewer bodies", "too many pairs");
        }
    }
    sac_agenda_work(agenda, sac_policy_find("exhaustive", NULL), &perception, NULL, NULL, NULL, &report);
    if (report.coarse)
        return sac_error_set(error, SAC_ERROR_LIMIT, "ask for fewer bodies",
                             "the oracle found no room for its fronts");
    for (uint32_t i = 0; i < agenda->count; i++) {
        sac_perceive_pair *pair = &m->pairs.data[m->first_pair[f] + i];
        sac_pairs pending, done;
        sac_contact contacts[SAC_CONTACT_MOST];
        if (agenda->flags[i] & SAC_AGENDA_EMPTY) continue;
        sac_agenda_front(agenda, i, &pending, &done);
        uint32_t count =
            sac_meeting_contacts(&agenda->meetings[i], &pending, &done, SAC_CONTACT_MOST, contacts, NULL);
        for (uint32_t k = 0; k < count; k++) {
            float depth = sac_perceive_depth(&contacts[k]);
            if (depth <= pair->depth) continue;
            pair->depth = depth;
            memcpy(pair->normal, contacts[k].normal, sizeof pair->normal);
            memcpy(pair->point, contacts[k].point, sizeof pair->point);
        }
    }
    return SAC_OK;
}

sac_result sac_perceive_motion_create(const sac_perceive_def *def, uint64_t seed,
                                      sac_perceive_motion **out_motion, sac_error *error)
{
    *out_motion = NULL;
    sac_shared_scene scene;
    sac_agenda *agenda = NULL;
    sac_result result = sac_shared_scene_create(&scene, def->scene, def->shape, def->bodies, seed, error);
    if (result != SAC_OK) return result;
    sac_perceive_motion *m = sac_alloc_zero(1, sizeof *m);
    if (!m) {
        sac_shared_scene_destroy(&scene);
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the motion");
    }
    m->box_count = scene.box_count;
    m->things = def->bodies + scene.box_count;
    m->warm = def->warm;
    m->frames = def->warm + def->frames;
    size_t places = (size_t)m->frames * m->things;
    m->poses = sac_alloc(places, sizeof *m->poses);
    m->velocity = sac_alloc(places, sizeof *m->velocity);
    m->first_pair = sac_alloc(m->frames + 1u, sizeof *m->first_pair);
    if (!m->poses || !m->velocity || !m->first_pair)
        result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the motion");
    sac_build_def build = sac_default_build_def();
    if (result == SAC_OK)
        result = sac_tree_build_spheres((const float(*)[4])scene.spheres, scene.sphere_count, &build,
                                        &m->tree, error);
    if (result == SAC_OK) result = sac_form_from_tree(&m->form, m->tree, error);
    for (uint32_t i = 0; i < scene.box_count && result == SAC_OK; i++)
        result = sac_form_box(&m->box_forms[i], scene.boxes[i].half, error);
    if (result == SAC_OK) result = record(m, def, &scene, error);
    sac_agenda_def agenda_def = sac_default_agenda_def();
    agenda_def.pairs = 40 * m->things;
    agenda_def.entries = 1u << 22;
    if (result == SAC_OK) result = sac_agenda_create(&agenda_def, &agenda, error);
    if (result == SAC_OK) {
        look_over(m, &scene);
        find_velocities(m);
        for (uint32_t f = 0; f < m->frames && result == SAC_OK; f++) result = tell_truth(m, agenda, f, error);
        m->first_pair[m->frames] = (uint32_t)m->pairs.count;
    }
    sac_agenda_destroy(&agenda);
    sac_shared_scene_destroy(&scene);
    if (result == SAC_OK) {
        /* What everything takes: the yardstick of budgets. */
        sac_perceive_result full;
        result = sac_perceive_run(m, &(sac_perceive_case){"exhaustive", 1000, SAC_TRACE_FIXATION, false},
                                  seed, &full, error);
        m->full_credits = full.credits;
    }
    if (result != SAC_OK) sac_perceive_motion_destroy(&m);
    *out_motion = m;
    return result;
}

void sac_perceive_motion_destroy(sac_perceive_motion **motion)
{
    sac_perceive_motion *m = *motion;
    if (!m) return;
    size_t places = (size_t)m->frames * m->things;
    sac_tree_destroy(&m->tree);
    sac_free(m->poses, places, sizeof *m->poses);
    sac_free(m->velocity, places, sizeof *m->velocity);
    sac_free(m->first_pair, m->frames + 1u, sizeof *m->first_pair);
    sac_array_fini(&m->pairs);
    sac_free(m, 1, sizeof *m);
    *motion = NULL;
}
