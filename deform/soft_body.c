/* A body of a model: its points, and everything that touches them between steps. The last point is repeated
 * up to a whole vector, so whoever writes it writes the copies too. */
#include "deform/soft_internal.h"

#include <math.h>

static bool allocate(sac_soft *s)
{
    const sac_soft_model *m = s->model;
    float **points[] = {&s->x, &s->y, &s->z, &s->vx, &s->vy, &s->vz, &s->loose, &s->tx, &s->ty, &s->tz};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        if (!(*points[i] = sac_arena_alloc(&s->arena, m->lanes, sizeof(float)))) return false;
    float **slots[] = {&s->gx, &s->gy, &s->gz};
    size_t room = (size_t)m->slot_count + 8; /* and the empty slot */
    for (size_t i = 0; m->cluster_count > 1 && i < sizeof slots / sizeof *slots; i++) {
        if (!(*slots[i] = sac_arena_alloc(&s->arena, room, sizeof(float)))) return false;
        memset(*slots[i], 0, room * sizeof(float));
    }
    s->clusters = sac_arena_alloc(&s->arena, m->cluster_count, sizeof *s->clusters);
    return s->clusters;
}

/* Goals in the pose: at rest every point is at its own. */
static void place(sac_soft *s, const sac_transform *pose)
{
    const sac_soft_model *m = s->model;
    float rows[3][3];
    sac_transform_rows(pose, rows);
    s->box = sac_box_empty();
    for (uint32_t i = 0; i < m->lanes; i++) {
        float out[3];
        sac_transform_point(pose, (float[3]){m->x[i], m->y[i], m->z[i]}, out);
        s->x[i] = out[0], s->y[i] = out[1], s->z[i] = out[2];
        s->vx[i] = s->vy[i] = s->vz[i] = s->tx[i] = s->ty[i] = s->tz[i] = 0;
        s->loose[i] = 1;
        sac_box_add(&s->box, out);
    }
    for (uint32_t c = 0; c < m->cluster_count; c++) {
        const sac_soft_cluster *cluster = &m->clusters[c];
        sac_soft_cluster_state *state = &s->clusters[c];
        memset(state, 0, sizeof *state);
        for (int k = 0; k < 4; k++) state->turn[k] = pose->rotation[k];
        for (int k = 0; k < 3; k++) {
            state->plastic[k][k] = 1;
            state->map.rest_centre[k] = cluster->rest_centre[k];
            for (int j = 0; j < 3; j++) state->map.a[k][j] = rows[k][j] * pose->scale;
        }
        sac_transform_point(pose, cluster->rest_centre, state->map.t);
        memcpy(state->motion.ref, state->map.t, sizeof state->motion.ref);
        float size = 0, most = 0;
        for (int k = 0; k < 3; k++) size = fmaxf(size, fabsf(state->map.t[k]));
        for (uint32_t i = cluster->first; i < cluster->first + cluster->lanes; i++) {
            uint32_t p = m->point[i];
            float g[3], d2 = 0;
            sac_soft_goal(&state->map, (float[3]){m->x[p], m->y[p], m->z[p]}, g);
            float d[3] = {s->x[p] - g[0], s->y[p] - g[1], s->z[p] - g[2]};
            for (int k = 0; k < 3; k++) d2 += d[k] * d[k];
            most = fmaxf(most, d2);
        }
        state->allowance = 4e-6f * (cluster->reach * pose->scale) + 4e-7f * size;
        state->map.stray = sqrtf(most) * 1.000001f + state->allowance;
        sac_soft_set_cofactor(state);
        state->next = state->map;
        state->next.stray = state->allowance;
    }
}

sac_result sac_soft_create(const sac_soft_model *model, const sac_transform *pose, sac_soft **out_soft,
                           sac_error *error)
{
    SAC_NEED(error, model, out_soft);
    sac_transform here = pose ? *pose : sac_transform_identity();
    double length = 0;
    for (int k = 0; k < 4; k++) length += (double)here.rotation[k] * here.rotation[k];
    if (!sac_vec3_is_finite(here.translation) || here.scale != 1 || !(fabs(length - 1) < 1e-3))
        return sac_error_set(error, SAC_ERROR_ARGUMENT,
                             "finite, scale 1 (give the model its size), rotation of length 1",
                             "the pose of a soft body is not a pose");
    for (uint32_t i = 0; i < model->count; i++) {
        float out[3];
        sac_transform_point(&here, (float[3]){model->x[i], model->y[i], model->z[i]}, out);
        for (int k = 0; k < 3; k++)
            if (!(fabsf(out[k]) <= SAC_SOFT_REACH))
                return sac_error_set(error, SAC_ERROR_ARGUMENT, "stay within 1e6 of the origin",
                                     "the pose puts point %u at %g", model->name[i], (double)out[k]);
    }
    sac_soft *s = sac_alloc_zero(1, sizeof *s);
    if (!s) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a soft body");
    sac_arena_init(&s->arena);
    s->model = model;
    s->step = 1;
    if (!allocate(s)) {
        sac_soft_destroy(&s);
        *out_soft = NULL;
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a soft body of %u points",
                             model->count);
    }
    place(s, &here);
    *out_soft = s;
    return SAC_OK;
}

void sac_soft_destroy(sac_soft **soft)
{
    if (!soft || !*soft) return;
    sac_arena_fini(&(*soft)->arena);
    sac_free(*soft, 1, sizeof **soft);
    *soft = NULL;
}

static void repeat_last(sac_soft *s)
{
    float *all[] = {s->x, s->y, s->z, s->vx, s->vy, s->vz, s->loose, s->tx, s->ty, s->tz};
    uint32_t last = s->model->count - 1;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (uint32_t k = last + 1; k < s->model->lanes; k++) all[i][k] = all[i][last];
}

static float within(float x, float most) { return x < -most ? -most : x > most ? most : x; }

static sac_result check(const sac_soft *soft, uint32_t point, const float v[3], sac_error *error)
{
    if (point >= soft->model->count)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "point %u of %u", point, soft->model->count);
    if (v && !sac_vec3_is_finite(v))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give finite numbers", "(%g, %g, %g) for point %u",
                             (double)v[0], (double)v[1], (double)v[2], point);
    return SAC_OK;
}

sac_result sac_soft_push(sac_soft *s, uint32_t point, const float impulse[3], sac_error *error)
{
    if (!s) return sac_error_null(error, "soft", 0);
    SAC_NEED(error, impulse);
    sac_result result = check(s, point, impulse, error);
    if (result != SAC_OK) return result;
    float *v[3] = {s->vx, s->vy, s->vz};
    point = s->model->place[point];
    for (int k = 0; k < 3; k++)
        v[k][point] = within(v[k][point] + impulse[k] * s->model->inverse_mass[point], SAC_SOFT_REACH);
    repeat_last(s);
    return SAC_OK;
}

sac_result sac_soft_set_point(sac_soft *s, uint32_t point, const float position[3], const float velocity[3],
                              sac_error *error)
{
    if (!s) return sac_error_null(error, "soft", 0);
    SAC_NEED(error, position);
    sac_result result = check(s, point, position, error);
    if (result == SAC_OK && velocity) result = check(s, point, velocity, error);
    if (result != SAC_OK) return result;
    const sac_soft_model *m = s->model;
    float *x[3] = {s->x, s->y, s->z}, *v[3] = {s->vx, s->vy, s->vz};
    point = m->place[point];
    for (int k = 0; k < 3; k++) {
        x[k][point] = within(position[k], SAC_SOFT_REACH);
        if (velocity) v[k][point] = within(velocity[k], SAC_SOFT_REACH);
    }
    repeat_last(s);
    sac_box_add(&s->box, (float[3]){s->x[point], s->y[point], s->z[point]});
    /* It may now be farther from its goals than any other: its clusters must know. */
    for (uint32_t row = m->row_first[point / 8]; row < m->row_first[point / 8 + 1]; row++) {
        uint32_t slot = m->row_slot[(size_t)row * 8 + point % 8], low = 0, high = m->cluster_count;
        if (slot == m->slot_count) continue;
        while (high - low > 1) {
            uint32_t middle = (low + high) / 2;
            *(m->clusters[middle].first <= slot ? &low : &high) = middle;
        }
        float goal[3];
        sac_soft_goal(&s->clusters[low].map, (float[3]){m->x[point], m->y[point], m->z[point]}, goal);
        double d2 = 0;
        for (int k = 0; k < 3; k++) {
            double d = (double)x[k][point] - goal[k];
            d2 += d * d;
        }
        float stray = (float)(sqrt(d2) * 1.000001) + s->clusters[low].allowance;
        if (stray > s->clusters[low].map.stray) s->clusters[low].map.stray = stray;
    }
    s->step++;
    return SAC_OK;
}

sac_result sac_soft_hold(sac_soft *s, uint32_t point, const float target[3], sac_error *error)
{
    if (!s) return sac_error_null(error, "soft", 0);
    SAC_NEED(error, target);
    sac_result result = check(s, point, target, error);
    if (result != SAC_OK) return result;
    point = s->model->place[point];
    s->held += s->loose[point] != 0;
    s->loose[point] = 0;
    float *t[3] = {s->tx, s->ty, s->tz};
    for (int k = 0; k < 3; k++) t[k][point] = within(target[k], SAC_SOFT_REACH);
    repeat_last(s);
    return SAC_OK;
}

sac_result sac_soft_release(sac_soft *s, uint32_t point, sac_error *error)
{
    if (!s) return sac_error_null(error, "soft", 0);
    sac_result result = check(s, point, NULL, error);
    if (result != SAC_OK) return result;
    point = s->model->place[point];
    s->held -= s->loose[point] == 0;
    s->loose[point] = 1;
    repeat_last(s);
    return SAC_OK;
}

sac_soft_points sac_soft_view(const sac_soft *s)
{
    if (!s) return (sac_soft_points){0};
    return (sac_soft_points){s->model->count, s->x,  s->y,           s->z,           s->vx,
                             s->vy,           s->vz, s->model->mass, s->model->place};
}

void sac_soft_map_of(const sac_soft *soft, uint32_t cluster, sac_soft_map *out_map)
{
    if (!soft || !out_map || cluster >= soft->model->cluster_count) return;
    *out_map = soft->clusters[cluster].map;
}

void sac_soft_goal(const sac_soft_map *m, const float rest[3], float out[3])
{
    float q[3] = {rest[0] - m->rest_centre[0], rest[1] - m->rest_centre[1], rest[2] - m->rest_centre[2]};
    for (int r = 0; r < 3; r++) {
        float g = (m->a[r][0] * q[0] + m->a[r][1] * q[1]) + m->a[r][2] * q[2];
        for (int k = 0; k < 3; k++)
            g = g + (m->qq[r][k] * (q[k] * q[k]) + m->mixed[r][k] * (q[k] * q[(k + 1) % 3]));
        out[r] = g + m->t[r];
    }
}
