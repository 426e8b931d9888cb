/* Boxes and balls with contacts made by hand, stepped by the solver alone: no trees, no broad phase. */
#ifndef SAC_TESTS_SOLVER_PLAY_H
#define SAC_TESTS_SOLVER_PLAY_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "response/response.h"

enum { PLAY_BODIES = 256, PLAY_CONTACTS = 1024 };

typedef struct play_body {
    float x[3], q[4], v[3], w[3];
    float half[3], radius; /* a ball when radius > 0 */
    float mass;            /* 0: fixed */
    float inertia[3];
} play_body;

typedef struct play_memory {
    uint32_t key;
    float impulse, friction[3], rolling[3];
} play_memory;

typedef struct play {
    play_body bodies[PLAY_BODIES];
    uint32_t count;
    sac_solver *solver;
    sac_solver_step step;
    sac_tasks *tasks;
    sac_stop *stop;
    float gravity[3], friction, restitution, rolling, margin;
    play_memory memory[PLAY_CONTACTS * 4], fresh[PLAY_CONTACTS * 4];
    uint32_t memory_count, fresh_count, contact_count;
    sac_solver_contact contacts[PLAY_CONTACTS];
    sac_solver_grab grabs[8];
    uint32_t grab_count;
    sac_solver_report report;
    float deepest;
} play;

static inline void play_cross(const float a[3], const float b[3], float out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1], out[1] = a[2] * b[0] - a[0] * b[2],
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static inline float play_dot(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void play_rows(const float q[4], float m[3][3])
{
    sac_transform t = sac_transform_identity();
    memcpy(t.rotation, q, sizeof t.rotation);
    sac_transform_rows(&t, m);
}

static inline play *play_create(void)
{
    play *p = sac_alloc_zero(1, sizeof *p);
    sac_solver_def def = sac_default_solver_def();
    if (sac_solver_create(&def, &p->solver, NULL) != SAC_OK) return NULL;
    p->step = (sac_solver_step){.dt = 1.0f / 90.0f, .substeps = 4, .relaxations = 1};
    p->gravity[1] = -9.81f;
    p->friction = 0.5f;
    p->margin = 0.02f;
    return p;
}

static inline void play_destroy(play *p)
{
    sac_solver_destroy(&p->solver);
    sac_free(p, 1, sizeof *p);
}

static inline play_body *play_box(play *p, float x, float y, float z, float hx, float hy, float hz,
                                  float mass)
{
    play_body *b = &p->bodies[p->count++];
    *b = (play_body){.x = {x, y, z}, .q = {0, 0, 0, 1}, .half = {hx, hy, hz}, .mass = mass};
    b->inertia[0] = mass / 3 * (hy * hy + hz * hz);
    b->inertia[1] = mass / 3 * (hx * hx + hz * hz);
    b->inertia[2] = mass / 3 * (hx * hx + hy * hy);
    return b;
}

static inline play_body *play_ball(play *p, float x, float y, float z, float radius, float mass)
{
    play_body *b = play_box(p, x, y, z, radius, radius, radius, mass);
    b->radius = radius;
    for (int i = 0; i < 3; i++) b->inertia[i] = 0.4f * mass * radius * radius;
    return b;
}

static inline sac_solver_contact *play_contact(play *p, uint32_t a, uint32_t b)
{
    sac_solver_contact *c = &p->contacts[p->contact_count++];
    *c = (sac_solver_contact){
        .a = a, .b = b, .friction = p->friction, .restitution = p->restitution, .rolling = p->rolling};
    return c;
}

static inline void play_point(play *p, sac_solver_contact *c, const float at[3], const float n[3], float gap,
                              uint32_t feature)
{
    sac_solver_point *point = &c->points[c->count++];
    for (int i = 0; i < 3; i++) {
        point->arm_a[i] = at[i] - p->bodies[c->a].x[i];
        point->arm_b[i] = at[i] - p->bodies[c->b].x[i];
        point->normal[i] = n[i];
    }
    point->separation = gap;
    if (-gap > p->deepest) p->deepest = -gap;
    uint32_t key = (c->a << 16 | c->b) * 8u + feature;
    for (uint32_t i = 0; i < p->memory_count; i++)
        if (p->memory[i].key == key) {
            point->impulse = p->memory[i].impulse;
            memcpy(point->friction_impulse, p->memory[i].friction, sizeof point->friction_impulse);
            memcpy(c->rolling_impulse, p->memory[i].rolling, sizeof c->rolling_impulse);
        }
    p->fresh[p->fresh_count++].key = key;
}

/* Corners of `box`'s face that looks along -n against the plane n.x = d of body `a`, whose normal n points to
 * the box; n in world space. */
static inline void play_face(play *p, uint32_t a, uint32_t box, const float n[3], float d)
{
    const play_body *b = &p->bodies[box];
    float m[3][3];
    play_rows(b->q, m);
    sac_solver_contact *c = NULL;
    struct {
        float at[3], gap;
        uint32_t corner;
    } low[8];
    for (uint32_t k = 0; k < 8; k++) {
        float l[3] = {k & 1 ? b->half[0] : -b->half[0], k & 2 ? b->half[1] : -b->half[1],
                      k & 4 ? b->half[2] : -b->half[2]};
        for (int i = 0; i < 3; i++) low[k].at[i] = b->x[i] + play_dot(m[i], l);
        low[k].gap = play_dot(low[k].at, n) - d, low[k].corner = k;
    }
    for (int i = 0; i < 8; i++)
        for (int j = i + 1; j < 8; j++)
            if (low[j].gap < low[i].gap) {
                float swap[4];
                memcpy(swap, &low[i], sizeof swap);
                uint32_t corner = low[i].corner;
                low[i] = low[j];
                memcpy(&low[j], swap, sizeof swap), low[j].corner = corner;
            }
    for (int k = 0; k < 4; k++) {
        if (low[k].gap > p->margin) break;
        if (!c) c = play_contact(p, a, box);
        play_point(p, c, low[k].at, n, low[k].gap, low[k].corner);
    }
}

static inline void play_ball_on_plane(play *p, uint32_t a, uint32_t ball, const float n[3], float d)
{
    const play_body *b = &p->bodies[ball];
    float gap = play_dot(b->x, n) - d - b->radius, at[3];
    if (gap > p->margin) return;
    for (int i = 0; i < 3; i++) at[i] = b->x[i] - n[i] * (b->radius + 0.5f * gap);
    play_point(p, play_contact(p, a, ball), at, n, gap, 0);
}

static inline void play_balls(play *p, uint32_t a, uint32_t b)
{
    const play_body *one = &p->bodies[a], *two = &p->bodies[b];
    float n[3], at[3];
    for (int i = 0; i < 3; i++) n[i] = two->x[i] - one->x[i];
    float distance = sqrtf(play_dot(n, n)), gap = distance - one->radius - two->radius;
    if (gap > p->margin || distance < 1e-6f) return;
    for (int i = 0; i < 3; i++) n[i] /= distance, at[i] = one->x[i] + n[i] * (one->radius + 0.5f * gap);
    play_point(p, play_contact(p, a, b), at, n, gap, 0);
}

/* Upper box standing on a lower one; both roughly upright. */
static inline void play_stacked(play *p, uint32_t lower, uint32_t upper)
{
    float m[3][3], n[3], top[3];
    const play_body *b = &p->bodies[lower];
    play_rows(b->q, m);
    for (int i = 0; i < 3; i++) n[i] = m[i][1], top[i] = b->x[i] + n[i] * b->half[1];
    play_face(p, lower, upper, n, play_dot(top, n));
}

static inline void play_begin(play *p) { p->contact_count = p->fresh_count = 0, p->deepest = 0; }

static inline void play_fill(play *p)
{
    sac_solver *s = p->solver;
    sac_solver_begin(s, p->count, p->contact_count, p->grab_count, NULL);
    for (uint32_t i = 0; i < p->count; i++) {
        const play_body *b = &p->bodies[i];
        float m[3][3];
        s->bodies[i] = (sac_solver_body){.most_speed = 1e9f, .most_spin = 1e9f};
        memcpy(s->bodies[i].v, b->v, sizeof b->v), memcpy(s->bodies[i].w, b->w, sizeof b->w);
        if (b->mass <= 0) continue;
        memcpy(s->bodies[i].acceleration, p->gravity, sizeof p->gravity);
        s->bodies[i].inverse_mass = 1 / b->mass;
        play_rows(b->q, m);
        static const int at[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
        for (int e = 0; e < 6; e++)
            for (int k = 0; k < 3; k++)
                s->bodies[i].inverse_inertia[e] += m[at[e][0]][k] * m[at[e][1]][k] / b->inertia[k];
    }
    memcpy(s->contacts, p->contacts, p->contact_count * sizeof *s->contacts);
    memcpy(s->grabs, p->grabs, p->grab_count * sizeof *s->grabs);
}

static inline void play_end(play *p)
{
    sac_solver *s = p->solver;
    play_fill(p);
    sac_solver_solve(s, &p->step, p->stop, p->tasks, &p->report);
    for (uint32_t i = 0; i < p->count; i++) {
        play_body *b = &p->bodies[i];
        const float *t = s->bodies[i].turned;
        memcpy(b->v, s->bodies[i].v, sizeof b->v), memcpy(b->w, s->bodies[i].w, sizeof b->w);
        for (int k = 0; k < 3; k++) b->x[k] += s->bodies[i].moved[k];
        float q[4] = {b->q[0], b->q[1], b->q[2], b->q[3]}, length = 0;
        b->q[0] += 0.5f * (t[0] * q[3] + t[1] * q[2] - t[2] * q[1]);
        b->q[1] += 0.5f * (t[1] * q[3] + t[2] * q[0] - t[0] * q[2]);
        b->q[2] += 0.5f * (t[2] * q[3] + t[0] * q[1] - t[1] * q[0]);
        b->q[3] += 0.5f * (-t[0] * q[0] - t[1] * q[1] - t[2] * q[2]);
        for (int k = 0; k < 4; k++) length += b->q[k] * b->q[k];
        for (int k = 0; k < 4; k++) b->q[k] /= sqrtf(length);
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->contact_count; i++)
        for (uint32_t k = 0; k < s->contacts[i].count; k++, n++) {
            p->fresh[n].impulse = s->contacts[i].points[k].impulse;
            memcpy(p->fresh[n].friction, s->contacts[i].points[k].friction_impulse,
                   sizeof p->fresh[n].friction);
            memcpy(p->fresh[n].rolling, s->contacts[i].rolling_impulse, sizeof p->fresh[n].rolling);
        }
    memcpy(p->memory, p->fresh, p->fresh_count * sizeof *p->fresh);
    p->memory_count = p->fresh_count;
    memcpy(p->grabs, s->grabs, p->grab_count * sizeof *p->grabs);
}

static inline double play_energy(const play *p)
{
    double e = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const play_body *b = &p->bodies[i];
        float m[3][3];
        play_rows(b->q, m);
        if (b->mass <= 0) continue;
        e += 0.5 * b->mass * play_dot(b->v, b->v) - b->mass * play_dot(p->gravity, b->x);
        for (int k = 0; k < 3; k++) {
            float axis[3] = {m[0][k], m[1][k], m[2][k]}, spin = play_dot(axis, b->w);
            e += 0.5 * b->inertia[k] * spin * spin;
        }
    }
    return e;
}

#endif
