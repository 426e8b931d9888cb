/* A world in which everything happens that can be recorded: all kinds of shapes, bodies that come, go, are
 * pushed and held, somebody who looks around. Out of a seed. For tests and for the seeds of the fuzzer. */
#ifndef SAC_TESTS_RECORD_PLAY_H
#define SAC_TESTS_RECORD_PLAY_H

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "runtime/world_internal.h"
#include "tests/jelly_play.h"

enum { PLAY_BODIES = 256, PLAY_SHAPES = 6, PLAY_SOFT = 5, PLAY_SIDE = 9 };

typedef struct play {
    sac_world *world;
    sac_rng rng;
    sac_tree *tree;
    sac_terrain *heights, *triangles;
    sac_soft_shape *soft;
    sac_shape_id shapes[PLAY_SHAPES]; /* of bodies that move; the last is soft */
    sac_body_id bodies[PLAY_BODIES];
    uint32_t count, most;
    sac_body_id lift; /* kinematic */
    sac_grab_id grab;
    uint64_t frame;
    uint64_t rungs[SAC_RUNGS], interrupted;
    sac_error error; /* of what should not have failed */
} play;

/* The caller's own clock: goes on by leaps of any size, so that a step may be stopped anywhere. */
static inline uint64_t play_clock(void *user)
{
    play *p = user;
    static uint64_t now;
    uint32_t leap = sac_rng_below(&p->rng, 100);
    now += leap < 90 ? leap * 20 : leap < 99 ? leap * 2000 : 0;
    if (leap == 99) now -= now > 100000 ? 50000 : 0;
    return now;
}

static inline bool play_fine(sac_result result) { return result == SAC_OK; }

/* A ring of balls. */
static inline sac_tree *play_ring(uint32_t balls)
{
    float spheres[64][4];
    for (uint32_t i = 0; i < balls; i++) {
        float angle = 6.2831853f * (float)i / (float)balls;
        spheres[i][0] = 0.3f * cosf(angle), spheres[i][1] = 0, spheres[i][2] = 0.3f * sinf(angle);
        spheres[i][3] = 0.1f;
    }
    sac_build_def def = sac_default_build_def();
    sac_tree *tree = NULL;
    sac_tree_build_spheres((const float(*)[4])spheres, balls, &def, &tree, NULL);
    return tree;
}

static inline float play_range(play *p, float low, float high) { return sac_rng_range(&p->rng, low, high); }

static inline void play_point(play *p, float out[3], float wide, float low, float high)
{
    out[0] = play_range(p, -wide, wide), out[1] = play_range(p, low, high);
    out[2] = play_range(p, -wide, wide);
}

static inline void play_rotation(play *p, float q[4])
{
    float v[3], s = play_range(p, -1, 1);
    sac_rng_unit_vector(&p->rng, v);
    float c = sqrtf(1 - s * s);
    q[0] = s * v[0], q[1] = s * v[1], q[2] = s * v[2], q[3] = c;
}

static inline bool play_body(play *p)
{
    if (p->count == p->most) return true;
    sac_body_def def = sac_default_body_def();
    uint32_t shape = sac_rng_below(&p->rng, PLAY_SHAPES);
    def.shape = p->shapes[shape];
    def.scale = shape == PLAY_SOFT ? 1 : play_range(p, 0.5f, 1.2f);
    def.mass = play_range(p, 0.2f, 3);
    play_point(p, def.position, 1.0f, 0.5f, 3);
    play_rotation(p, def.rotation);
    play_point(p, def.velocity, 3, -3, 1);
    def.material.restitution = play_range(p, 0, 0.5f);
    def.sensor = sac_rng_below(&p->rng, 20) == 0;
    def.user = p->frame;
    return play_fine(sac_body_create(p->world, &def, &p->bodies[p->count++], &p->error));
}

static inline bool play_ground(play *p)
{
    float posts[PLAY_SIDE * PLAY_SIDE];
    for (int i = 0; i < PLAY_SIDE * PLAY_SIDE; i++) posts[i] = play_range(p, -0.2f, 0.2f);
    const float corners[5][3] = {{-4, 0, -4}, {4, 0, -4}, {4, 0.1f, 4}, {-4, 0.2f, 4}, {0, 0, 0}};
    const uint32_t faces[4][3] = {{0, 4, 1}, {1, 4, 2}, {0, 0, 4}, {2, 4, 3}}; /* one without area */
    sac_mesh mesh = {.vertices = (float(*)[3])corners,
                     .triangles = (uint32_t(*)[3])faces,
                     .vertex_count = 5,
                     .triangle_count = 4};
    sac_form form;
    sac_body_def def = sac_default_body_def();
    def.kind = SAC_BODY_STATIC;
    bool good = play_fine(sac_terrain_from_heights(posts, PLAY_SIDE, PLAY_SIDE, 0.5f, &p->heights, NULL)) &&
                play_fine(sac_terrain_from_mesh(&mesh, &p->triangles, NULL));
    good = good && play_fine(sac_form_from_terrain(&form, p->heights, NULL)) &&
           play_fine(sac_world_add_shape(p->world, &form, &def.shape, NULL)) &&
           play_fine(sac_body_create(p->world, &def, NULL, NULL));
    def.position[0] = 3, def.position[1] = -0.5f;
    good = good && play_fine(sac_form_from_terrain(&form, p->triangles, NULL)) &&
           play_fine(sac_world_add_shape(p->world, &form, &def.shape, NULL)) &&
           play_fine(sac_body_create(p->world, &def, NULL, NULL));
    def.position[0] = 0, def.position[1] = -1;
    good = good && play_fine(sac_form_plane(&form, (float[3]){0.1f, 1, 0.03f}, -0.1f, NULL)) &&
           play_fine(sac_world_add_shape(p->world, &form, &def.shape, NULL)) &&
           play_fine(sac_body_create(p->world, &def, NULL, NULL));
    return good;
}

/* Shapes and the first bodies of a world just made. */
static inline bool play_begin(play *p, uint32_t bodies)
{
    sac_form form;
    p->tree = play_ring(24);
    bool good = p->tree && play_ground(p);
    good = good && play_fine(sac_form_from_tree(&form, p->tree, NULL));
    form.thickness *= 1.5f; /* a caller may know better */
    good = good && play_fine(sac_world_add_shape(p->world, &form, &p->shapes[0], NULL)) &&
           play_fine(sac_world_add_shape(p->world, &form, &p->shapes[1], NULL));
    good = good && play_fine(sac_form_sphere(&form, 0.15f, NULL)) &&
           play_fine(sac_world_add_shape(p->world, &form, &p->shapes[2], NULL));
    good = good && play_fine(sac_form_capsule(&form, 0.1f, 0.2f, NULL)) &&
           play_fine(sac_world_add_shape(p->world, &form, &p->shapes[3], NULL));
    good = good && play_fine(sac_form_box(&form, (float[3]){0.2f, 0.1f, 0.15f}, NULL)) &&
           play_fine(sac_world_add_shape(p->world, &form, &p->shapes[4], NULL));
    p->soft = play_jelly();
    good = good && p->soft && play_fine(sac_form_from_soft(&form, p->soft, NULL)) &&
           play_fine(sac_world_add_shape(p->world, &form, &p->shapes[PLAY_SOFT], NULL));
    sac_body_def lift = sac_default_body_def();
    lift.shape = p->shapes[4], lift.kind = SAC_BODY_KINEMATIC, lift.scale = 3, lift.position[1] = 0.2f;
    good = good && play_fine(sac_body_create(p->world, &lift, &p->lift, NULL));
    p->most = bodies < PLAY_BODIES ? bodies : PLAY_BODIES;
    for (uint32_t i = 0; good && i < p->most * 3 / 4; i++) good = play_body(p);
    return good;
}

/* Something happens between two steps. */
static inline bool play_event(play *p)
{
    sac_world *w = p->world;
    uint32_t at = p->count ? sac_rng_below(&p->rng, p->count) : 0;
    sac_body_id body = p->bodies[at];
    float a[3], b[3], q[4];
    play_point(p, a, 2, 0, 3);
    play_point(p, b, 3, -3, 3);
    play_rotation(p, q);
    if (!p->count) return play_body(p);
    switch (sac_rng_below(&p->rng, 22)) {
    case 0:
        if (!play_fine(sac_body_destroy(w, body, &p->error))) return false;
        p->bodies[at] = p->bodies[--p->count];
        return true;
    case 1:
        return play_fine(sac_body_set_pose(w, body, a, q, &p->error));
    case 2:
        return play_fine(sac_body_set_velocity(w, body, b, a, &p->error));
    case 3:
        sac_body_push(w, body, b, NULL, NULL);
        return true;
    case 4:
        sac_body_push(w, body, b, a, NULL);
        return true;
    case 5:
        if (sac_body_soft(w, body)) {
            uint32_t point = sac_rng_below(&p->rng, 8);
            return play_fine(sac_body_pin(w, body, point, a, &p->error)) &&
                   (sac_rng_below(&p->rng, 2) || play_fine(sac_body_unpin(w, body, point, &p->error)));
        }
        return play_fine(sac_body_set_kind(w, body, SAC_BODY_STATIC, &p->error)) &&
               play_fine(sac_body_set_kind(w, body, SAC_BODY_DYNAMIC, &p->error));
    case 6: {
        sac_filter filter = {.category = 1u << sac_rng_below(&p->rng, 3), .mask = UINT32_MAX, .group = 0};
        return play_fine(sac_body_set_filter(w, body, &filter, &p->error));
    }
    case 7:
        return play_fine(
            sac_body_set_material(w, body, &(sac_material){0.3f, play_range(p, 0, 1), 0.01f}, &p->error));
    case 8:
        return play_fine(sac_body_set_motion(w, body, play_range(p, -1, 1), 0.1f, 0.2f, 50, 40, &p->error));
    case 9:
        return play_fine(sac_body_wake(w, body, &p->error));
    case 10:
        return play_fine(sac_body_sleep(w, body, &p->error));
    case 11:
        return play_fine(
            sac_world_set_gravity(w, (float[3]){0, play_range(p, -12, -6), play_range(p, -1, 1)}, &p->error));
    case 12: {
        static const char *const names[] = {"jnd", "round-robin", "sort", "groups:4", "fifo", "jnd"};
        return play_fine(sac_world_set_policy(w, names[sac_rng_below(&p->rng, 6)], &p->error));
    }
    case 13: {
        sac_form form;
        sac_shape_id id;
        return play_fine(sac_form_sphere(&form, play_range(p, 0.1f, 1), &p->error)) &&
               play_fine(sac_world_add_shape(w, &form, &id, &p->error)) &&
               play_fine(sac_world_remove_shape(w, id, &p->error));
    }
    case 14: {
        sac_body_state state;
        sac_grab_def grab = sac_default_grab_def();
        if (sac_body_get(w, body, &state, &p->error) != SAC_OK) return false;
        grab.body = body, grab.most_distance = 5;
        memcpy(grab.anchor, state.centre, sizeof grab.anchor);
        memcpy(grab.target, a, sizeof grab.target);
        return play_fine(sac_grab_create(w, &grab, &p->grab, &p->error));
    }
    case 15:
        sac_grab_move(w, p->grab, a, q, NULL);
        return true; /* may have ended long ago */
    case 16:
        sac_grab_destroy(w, p->grab, NULL);
        return true;
    case 17:
        return play_fine(sac_body_move_to(w, p->lift, (float[3]){0, a[1] * 0.1f, 0}, q, &p->error));
    default:
        return play_body(p);
    }
}

static inline sac_viewer play_viewer(play *p)
{
    sac_viewer v = sac_default_viewer();
    v.eyes[0].position[1] = 1.5f, v.eyes[0].position[2] = 3;
    v.eye_count = 2;
    v.eyes[1] = v.eyes[0];
    v.eyes[1].position[0] = 0.065f;
    /* Now and then a whole audience. */
    static sac_eye audience[9];
    if (p->frame % 4 == 3) {
        v.eye_count = SAC_VIEWER_OWN_EYES + (p->frame % 8 == 3 ? 9 : 2);
        v.eyes[2] = v.eyes[3] = v.eyes[0], v.more_eyes = audience;
        for (int i = 0; i < 9; i++) audience[i] = v.eyes[0], audience[i].position[0] = 0.5f * (float)(i - 4);
    }
    v.gaze.valid = sac_rng_below(&p->rng, 8) != 0;
    v.gaze.confidence = 1;
    memcpy(v.gaze.origin, v.eyes[0].position, sizeof v.gaze.origin);
    v.gaze.direction[0] = 0.3f * sinf(0.05f * (float)p->frame), v.gaze.direction[1] = -0.4f;
    v.gaze.direction[2] = -1;
    v.hands[1] = (sac_hand){.valid = p->frame % 3 == 0, .position = {0.2f, 0.5f, 0.2f}, .radius = 0.3f};
    return v;
}

static inline bool play_frame(play *p, uint32_t events, uint64_t budget_ns)
{
    for (uint32_t i = 0; i < events; i++)
        if (!play_event(p)) return false;
    sac_step_def step = sac_default_step_def();
    sac_step_report report;
    sac_viewer viewer = play_viewer(p);
    step.substeps = 1 + sac_rng_below(&p->rng, 6);
    step.budget_ns = budget_ns;
    step.dt = p->frame % 7 == 0 ? 1.0f / 72 : 1.0f / 90;
    if (p->frame % 5) step.viewer = &viewer;
    p->frame++;
    if (sac_world_step(p->world, &step, &report, &p->error) != SAC_OK) return false;
    for (int i = 0; i < SAC_RUNGS; i++) p->rungs[i] += report.rungs[i];
    p->interrupted += report.descent.interrupted;
    return true;
}

static inline void play_end(play *p)
{
    sac_world_destroy(&p->world);
    sac_tree_destroy(&p->tree);
    sac_terrain_destroy(&p->heights);
    sac_terrain_destroy(&p->triangles);
    sac_soft_shape_destroy(&p->soft);
}

#endif
