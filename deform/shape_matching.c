/* A step of shape matching. For each cluster: moments of the points against the rest shape, the rotation
 * nearest to them, the best linear or quadratic fit, and from both the goals. Then for each point the mean of
 * its goals, a pull towards it, and a move. */
#include "deform/soft_internal.h"

#include <math.h>
#include <stdatomic.h>

#include "base/cpu.h"

const sac_match_kernels *sac_match_kernels_active(void)
{
    switch (sac_simd_active()) {
#if defined(__x86_64__)
    case SAC_SIMD_AVX512: /* eight lanes too, with more registers */
        return &sac_match_kernels_avx512;
    case SAC_SIMD_AVX2:
        return &sac_match_kernels_avx2;
    case SAC_SIMD_SSE2:
        return &sac_match_kernels_sse2;
#elif defined(__aarch64__)
    case SAC_SIMD_NEON:
        return &sac_match_kernels_neon;
#endif
    default:
        return &sac_match_kernels_scalar;
    }
}

static double det(const double m[3][3])
{
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
           m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

static bool invert(const double m[3][3], double least, double out[3][3])
{
    double d = det(m);
    if (!(d > least)) return false;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            int a = (k + 1) % 3, b = (k + 2) % 3, c = (i + 1) % 3, e = (i + 2) % 3;
            out[i][k] = (m[a][c] * m[b][e] - m[a][e] * m[b][c]) / d;
        }
    return true;
}

static void multiply(const double a[3][3], const double b[3][3], double out[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) out[i][k] = a[i][0] * b[0][k] + a[i][1] * b[1][k] + a[i][2] * b[2][k];
}

/* Best fit in the directions the rest shape has, `rigid` in those it has not: rigid + (pq - rigid rest)
 * rest^+. With full rank that is the least-squares solution pq rest^-1. */
static void fit_linear(const sac_soft_cluster *c, const double pq[3][9], const double rigid[3][3],
                       double out[3][3])
{
    for (int i = 0; i < 3; i++) {
        double left[3];
        for (int k = 0; k < 3; k++)
            left[k] = pq[i][k] - (rigid[i][0] * c->rest[0][k] + rigid[i][1] * c->rest[1][k] +
                                  rigid[i][2] * c->rest[2][k]);
        for (int k = 0; k < 3; k++)
            out[i][k] = rigid[i][k] +
                        (left[0] * c->small[0][k] + left[1] * c->small[1][k] + left[2] * c->small[2][k]);
    }
}

/* Sp <- (I + h creep (S - I)) Sp when ||S - I|| exceeds the yield, then limited and of volume 1 again. S is
 * the strain left when what is already plastic is taken away: R^T A Sp^-1. */
static void flow(sac_soft_cluster_state *state, const sac_soft_def *def, const double fit[3][3],
                 const double turn[3][3], double dt)
{
    double back[3][3], elastic[3][3], strain[3][3], next[3][3];
    if (!invert(state->plastic, 1e-6, back)) return;
    multiply(fit, back, elastic);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            strain[i][k] = turn[0][i] * elastic[0][k] + turn[1][i] * elastic[1][k] +
                           turn[2][i] * elastic[2][k] - (i == k);
    if (!(sac_norm_above(strain) > def->yield)) return;
    double rate = dt * def->creep;
    if (rate > 1) rate = 1;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) strain[i][k] = rate * strain[i][k] + (i == k);
    multiply(strain, state->plastic, next);
    for (int i = 0; i < 3; i++) next[i][i] -= 1;
    double size = sac_norm_above(next), keep = size > def->most_plastic ? def->most_plastic / size : 1;
    /* Volume 1 may need a little more than the limit again: shrink until both hold. */
    for (int turns = 0; turns < 8; turns++) {
        double limited[3][3], volume, excess;
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) limited[i][k] = keep * next[i][k] + (i == k);
        volume = det(limited);
        if (!(volume > 0.01 && volume < 100)) {
            keep *= 0.5;
            continue;
        }
        volume = 1 / sac_cube_root(volume);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) limited[i][k] = limited[i][k] * volume - (i == k);
        excess = sac_norm_above(limited);
        if (excess <= def->most_plastic * (1 + 1e-9)) {
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < 3; k++) state->plastic[i][k] = limited[i][k] + (i == k);
            state->yielded = true;
            return;
        }
        keep *= 0.999 * def->most_plastic / excess;
    }
}

/* Sums taken relative to the last step's centre become those about this one's, and the motion is that of the
 * step: centre, velocity and spin. False when they are no numbers. */
static bool find_motion(const sac_soft_cluster *c, bool damped, bool quadratic, sac_match_sums *sums,
                        sac_match_motion *motion)
{
    double w = c->weight_sum, moved[3], sped[3], *p = sums->pp;
    for (int k = 0; k < 3; k++) moved[k] = sums->centre[k] / w, sped[k] = sums->velocity[k] / w;
    double most =
        fabs(moved[0]) + fabs(moved[1]) + fabs(moved[2]) + fabs(sped[0]) + fabs(sped[1]) + fabs(sped[2]);
    if (!(most < 1e18)) return false;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < (quadratic ? 9 : 3); k++) sums->pq[i][k] -= sums->centre[i] * c->term_mean[k];
    for (int k = 0; k < 3; k++) {
        sums->centre[k] = moved[k];
        motion->offset[k] = (float)moved[k], motion->spin[k] = 0;
    }
    if (!damped) return true;
    for (int k = 0; k < 3; k++) {
        int a = (k + 1) % 3, b = (k + 2) % 3;
        p[k] -= w * moved[k] * moved[k];
        p[3 + k] -= w * moved[k] * moved[a];
        sums->spin[k] -= w * (moved[a] * sped[b] - moved[b] * sped[a]);
        motion->velocity[k] = (float)(motion->velocity[k] + sped[k]);
    }
    double trace = p[0] + p[1] + p[2], inverse[3][3];
    double inertia[3][3] = {
        {trace - p[0], -p[3], -p[5]}, {-p[3], trace - p[1], -p[4]}, {-p[5], -p[4], trace - p[2]}};
    if (!invert(inertia, 1e-6 * trace * trace * trace, inverse))
        sac_pseudo_inverse(&inertia[0][0], 3, 1e-6, &inverse[0][0]);
    for (int i = 0; i < 3; i++) {
        double spin =
            inverse[i][0] * sums->spin[0] + inverse[i][1] * sums->spin[1] + inverse[i][2] * sums->spin[2];
        motion->spin[i] = fabs(spin) < 1e9 ? (float)spin : 0;
    }
    return true;
}

static void set_near(sac_match_job *job)
{
    for (int k = 0; k < 3; k++) job->near[k] = job->map->t[k] - job->motion->ref[k];
}

static sac_match_job job_of(sac_soft *s, uint32_t index)
{
    const sac_soft_model *m = s->model;
    const sac_soft_cluster *c = &m->clusters[index];
    uint32_t f = c->first;
    sac_match_job job = {.x = s->x,
                         .y = s->y,
                         .z = s->z,
                         .vx = s->vx,
                         .vy = s->vy,
                         .vz = s->vz,
                         .point = m->point + f,
                         .qx = m->qx + f,
                         .qy = m->qy + f,
                         .qz = m->qz + f,
                         .weight = m->weight + f,
                         .motion = &s->clusters[index].motion,
                         .map = &s->clusters[index].next,
                         .lanes = c->lanes,
                         .whole = c->whole,
                         .quadratic = m->def.mode == SAC_SOFT_QUADRATIC,
                         .damped = m->def.damping > 0};
    if (!c->whole) {
        job.gx = s->gx + f, job.gy = s->gy + f, job.gz = s->gz + f;
    }
    set_near(&job);
    return job;
}

static void set_map(sac_soft_cluster_state *state, const sac_soft_cluster *c, const double terms[3][12],
                    const double centre[3])
{
    sac_soft_map *map = &state->next;
    double body = 0, far = 0;
    for (int i = 0; i < 3; i++) {
        double t = centre[i], size = 0;
        for (int k = 0; k < 3; k++) {
            map->a[i][k] = (float)terms[i][k];
            map->qq[i][k] = (float)terms[i][3 + k];
            map->mixed[i][k] = (float)terms[i][6 + k];
            /* Quadratic terms have a mean, the linear ones that of their rounding; either would push the body
             * along. */
            for (int j = k; j < 9; j += 3) t -= terms[i][j] * c->term_mean[j];
            size += fabs(terms[i][k]) * c->reach +
                    (fabs(terms[i][3 + k]) + fabs(terms[i][6 + k])) * c->reach * c->reach;
        }
        /* What rounding takes is given back in the next step; always rounded the same way, it would be a
         * force. */
        t += state->lost[i];
        map->t[i] = (float)t;
        state->lost[i] = t - map->t[i];
        body = size > body ? size : body;
        far = fabs(t) > far ? fabs(t) : far;
    }
    /* A dozen roundings of body-sized sums and one of the position, in a goal and in a centre, in three
     * coordinates. */
    map->stray = (float)(4e-6 * body + 4e-7 * (far + body));
}

/* det^(-1/3), at most 2; for a fit that is nearly flat less and less, and none for an inverted one, which
 * would otherwise grow without end. */
static double volume_scale(double volume)
{
    if (!(volume > 0)) return 1;
    if (volume < 0.125) return 1 + 8 * volume;
    return 1 / sac_cube_root(volume < 64 ? volume : 64);
}

/* Sums that are no numbers say nothing: goals are those of the last step, and the cluster stands still. */
static void keep_map(sac_soft_cluster_state *state)
{
    state->next = state->map;
    state->next.stray = state->allowance;
    for (int k = 0; k < 3; k++)
        state->lost[k] = 0, state->motion.offset[k] = state->motion.velocity[k] = state->motion.spin[k] = 0;
}

/* The cluster's next map, from where its points are. */
static void match_cluster(sac_soft *s, uint32_t index, const sac_match_job *job, double dt,
                          const sac_match_kernels *kernels)
{
    const sac_soft_model *m = s->model;
    const sac_soft_def *def = &m->def;
    const sac_soft_cluster *c = &m->clusters[index];
    sac_soft_cluster_state *state = &s->clusters[index];
    sac_match_sums sums;
    for (int k = 0; k < 3; k++) state->motion.ref[k] += state->motion.offset[k];
    kernels->sums(job, &sums);
    state->found_anew = state->yielded = false;
    if (!find_motion(c, job->damped, job->quadratic, &sums, &state->motion)) {
        keep_map(state);
        return;
    }

    double corner[3][3], aim[3][3], turn[3][3], rigid[3][3], linear[3][3], terms[3][12];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) corner[i][k] = sums.pq[i][k];
    for (int i = 0; i < 3; i++) /* pq Sp^T: the moments against the shape as plasticity left it */
        for (int k = 0; k < 3; k++)
            aim[i][k] = corner[i][0] * state->plastic[k][0] + corner[i][1] * state->plastic[k][1] +
                        corner[i][2] * state->plastic[k][2];
    state->found_anew = !sac_turn_follow(aim, state->turn);
    sac_turn_rows(state->turn, turn);
    multiply(turn, state->plastic, rigid);
    double beta = def->mode == SAC_SOFT_RIGID ? 0 : def->beta, scale = 1;
    if (beta > 0 || def->creep > 0) {
        fit_linear(c, sums.pq, rigid, linear);
        if (def->keep_volume) scale = volume_scale(det(linear));
    }
    bool finite = true;
    if (def->mode == SAC_SOFT_QUADRATIC && beta > 0)
        kernels->fit(c, sums.pq, rigid, terms);
    else
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 12; k++) terms[i][k] = beta > 0 && k < 3 ? linear[i][k] : 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 9; k++) {
            terms[i][k] = beta * scale * terms[i][k] + (k < 3 ? (1 - beta) * rigid[i][k] : 0);
            finite = finite && fabs(terms[i][k]) < 1e18;
        }
    if (!finite) { /* a fit that ran away says nothing: turn only */
        memset(terms, 0, sizeof terms);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) terms[i][k] = rigid[i][k];
    }
    double centre[3];
    for (int k = 0; k < 3; k++) centre[k] = state->motion.ref[k] + sums.centre[k];
    set_map(state, c, terms, centre);
    if (def->creep > 0 && finite) flow(state, def, linear, turn, dt);
}

/* The map of the last pull is the points' from now on. d of its bounds, over all points of the cluster: with
 * alpha < 1, overlapping clusters, contacts or gravity no point is exactly at its goal. */
static void settle_cluster(sac_soft *s, uint32_t index, const sac_match_kernels *kernels)
{
    sac_match_job job = job_of(s, index);
    sac_soft_cluster_state *state = &s->clusters[index];
    state->map = state->next;
    state->allowance = state->next.stray;
    sac_soft_set_cofactor(state);
    state->map.stray = sqrtf(kernels->stray(&job, &state->map, &state->box)) * 1.000001f + state->allowance;
}

typedef struct stepping {
    sac_soft *const *bodies;
    const sac_soft_step_def *def;
    const sac_match_kernels *kernels;
    bool pull, move; /* which halves */
    sac_soft *one;
    sac_match_job whole;
    sac_match_points points;
    atomic_uint slowed;
} stepping;

/* alpha = 4 sin^2(dt / (2 settle_time)): the scheme's eigenvalues are then exp(+-i dt / settle_time) exactly,
 * so the swing has one period at all step rates. (dt / settle_time, as printed, has not.) sin^2 by its
 * series, up to alpha = 1. */
static double pull_of(double dt, double settle_time)
{
    double x = dt / settle_time, x2 = x * x;
    if (!(x < 1.0471)) return 1;
    double alpha = x2 * (1 - x2 / 12 * (1 - x2 / 30 * (1 - x2 / 56 * (1 - x2 / 90 * (1 - x2 / 132)))));
    return alpha < 1 ? alpha : 1;
}

/* `whole` is read by the pull, and is to be set before it when there is only one cluster. */
static sac_match_points points_job(sac_soft *s, const sac_soft_step_def *def, const sac_match_job *whole)
{
    const sac_soft_def *d = &s->model->def;
    double alpha = pull_of(def->dt, d->settle_time), least = def->dt / 1.0472;
    double time = d->settle_time > least ? d->settle_time : least;
    const float *even = s->clusters[0].motion.velocity;
    return (sac_match_points){
        .soft = s,
        .even = {even[0], even[1], even[2]},
        .whole = s->model->cluster_count == 1 ? whole : NULL,
        .pull = (float)(alpha / def->dt),
        .drag = d->damping > 0 ? (float)(1 - sac_exp_minus(2 * d->damping * def->dt / time)) : 0,
        .dt = def->dt,
        .gravity = {def->gravity[0], def->gravity[1], def->gravity[2]},
        .most_speed = d->most_speed};
}

static void pull_cluster(const sac_match_points *points, uint32_t c, const sac_match_kernels *kernels)
{
    sac_match_job job = job_of(points->soft, c);
    match_cluster(points->soft, c, &job, points->dt, kernels);
    if (points->whole) return;
    set_near(&job);
    kernels->changes(points, &job);
}

/* Whoever changed the velocity of the last point need not know of its copies. */
static void repeat_velocity(sac_soft *s)
{
    uint32_t last = s->model->count - 1;
    for (uint32_t i = last + 1; i < s->model->lanes; i++)
        s->vx[i] = s->vx[last], s->vy[i] = s->vy[last], s->vz[i] = s->vz[last];
}

static void range_bodies(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
    stepping *step = context;
    (void)worker;
    for (uint32_t i = first; i < last; i++) {
        sac_soft *s = step->bodies[i];
        sac_match_job whole;
        sac_match_points points = points_job(s, step->def, &whole);
        uint32_t eights = s->model->lanes / 8;
        s->slowed = 0;
        if (step->pull) {
            for (uint32_t c = 0; c < s->model->cluster_count; c++) pull_cluster(&points, c, step->kernels);
            whole = job_of(s, 0);
            s->slowed = step->kernels->pull(&points, 0, eights);
            if (s->held) step->kernels->hold(&points, 0, eights);
        }
        if (step->move) {
            repeat_velocity(s);
            s->slowed += step->kernels->move(&points, 0, eights);
            for (uint32_t c = 0; c < s->model->cluster_count; c++) settle_cluster(s, c, step->kernels);
        }
    }
}

static void range_clusters(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
    stepping *step = context;
    (void)worker;
    for (uint32_t c = first; c < last; c++) pull_cluster(&step->points, c, step->kernels);
}

static void range_pull(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
    stepping *step = context;
    (void)worker;
    atomic_fetch_add(&step->slowed, step->kernels->pull(&step->points, first, last));
    if (step->one->held) step->kernels->hold(&step->points, first, last);
}

static void range_move(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
    stepping *step = context;
    (void)worker;
    atomic_fetch_add(&step->slowed, step->kernels->move(&step->points, first, last));
}

static void range_settle(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
    stepping *step = context;
    (void)worker;
    for (uint32_t c = first; c < last; c++) settle_cluster(step->one, c, step->kernels);
}

static bool good_step(const sac_soft_step_def *def)
{
    if (!(def->dt >= 1e-6f && def->dt <= 1) || !sac_vec3_is_finite(def->gravity)) return false;
    for (int k = 0; k < 3; k++)
        if (fabsf(def->gravity[k]) > 1e6f) return false;
    return true;
}

/* Few bodies: threads over the clusters and points of each. */
static void step_one(stepping *step, sac_soft *s, sac_tasks *tasks)
{
    uint32_t clusters = s->model->cluster_count, eights = s->model->lanes / 8;
    step->one = s;
    step->points = points_job(s, step->def, &step->whole);
    atomic_store(&step->slowed, 0);
    if (step->pull) {
        sac_tasks_for(tasks, clusters, 1, range_clusters, step);
        step->whole = job_of(s, 0);
        sac_tasks_for(tasks, eights, 64, range_pull, step);
    }
    if (step->move) {
        repeat_velocity(s);
        sac_tasks_for(tasks, eights, 64, range_move, step);
        sac_tasks_for(tasks, clusters, 1, range_settle, step);
    }
    s->slowed = atomic_load(&step->slowed);
}

static sac_result step_bodies(stepping *step, uint32_t count, sac_tasks *tasks, sac_soft_report *out_report)
{
    if (!good_step(step->def)) return SAC_ERROR_ARGUMENT;
    step->kernels = sac_match_kernels_active();
    if (count >= 4 * sac_tasks_threads(tasks) || sac_tasks_threads(tasks) == 1)
        sac_tasks_for(tasks, count, 1, range_bodies, step);
    else
        for (uint32_t i = 0; i < count; i++) step_one(step, step->bodies[i], tasks);
    sac_soft_report report = {0};
    for (uint32_t i = 0; i < count; i++) {
        sac_soft *s = step->bodies[i];
        s->step += step->move;
        if (step->move) {
            s->box = s->clusters[0].box;
            for (uint32_t c = 1; c < s->model->cluster_count; c++)
                sac_box_add(&s->box, s->clusters[c].box.low), sac_box_add(&s->box, s->clusters[c].box.high);
        }
        report.slowed += s->slowed;
        for (uint32_t c = 0; step->pull && c < s->model->cluster_count; c++) {
            report.found_anew += s->clusters[c].found_anew;
            report.plastic += s->clusters[c].yielded;
        }
    }
    if (out_report) *out_report = report;
    return SAC_OK;
}

sac_result sac_soft_step(sac_soft *const *bodies, uint32_t count, const sac_soft_step_def *def,
                         sac_tasks *tasks, sac_soft_report *out_report)
{
    SAC_NEED(NULL, def);
    if (count) SAC_NEED(NULL, bodies);
    stepping step = {.bodies = bodies, .def = def, .pull = true, .move = true};
    return step_bodies(&step, count, tasks, out_report);
}

sac_result sac_soft_pull(sac_soft *const *bodies, uint32_t count, const sac_soft_step_def *def,
                         sac_tasks *tasks, sac_soft_report *out_report)
{
    SAC_NEED(NULL, def);
    if (count) SAC_NEED(NULL, bodies);
    stepping step = {.bodies = bodies, .def = def, .pull = true};
    return step_bodies(&step, count, tasks, out_report);
}

sac_result sac_soft_move(sac_soft *const *bodies, uint32_t count, const sac_soft_step_def *def,
                         sac_tasks *tasks, sac_soft_report *out_report)
{
    SAC_NEED(NULL, def);
    if (count) SAC_NEED(NULL, bodies);
    stepping step = {.bodies = bodies, .def = def, .move = true};
    return step_bodies(&step, count, tasks, out_report);
}

/* Goals go along with the body as a whole, or bounds would soon be wide. */
sac_result sac_soft_fall(sac_soft *s, const sac_soft_step_def *def)
{
    if (!s) return sac_error_null(NULL, "soft", 0);
    SAC_NEED(NULL, def);
    if (!good_step(def)) return SAC_ERROR_ARGUMENT;
    const sac_match_kernels *kernels = sac_match_kernels_active();
    sac_match_points points = points_job(s, def, NULL);
    double momentum[3];
    repeat_velocity(s);
    kernels->fall(&points, momentum);
    if (s->held) kernels->hold(&points, 0, s->model->lanes / 8);
    for (uint32_t c = 0; c < s->model->cluster_count; c++) {
        sac_soft_cluster_state *state = &s->clusters[c];
        float allowance = state->allowance;
        state->next = state->map;
        for (int k = 0; k < 3; k++) {
            double go = momentum[k] / s->model->mass_sum * def->dt, most = s->model->def.most_speed * def->dt;
            go = !(go > -most) ? -most : go > most ? most : go;
            state->next.t[k] = (float)(state->map.t[k] + go);
            allowance = fmaxf(allowance,
                              state->allowance + 4e-7f * (fabsf(state->next.t[k]) - fabsf(state->map.t[k])));
        }
        state->next.stray = allowance;
    }
    return SAC_OK;
}
