#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "base/rng.h"
#include "base/cpu.h"
#include "deform/patch_internal.h"
#include "deform/deform.h"
#include "deform/soft_internal.h"

enum { POINTS = 300, BODIES = 3, MOST = 400 };

typedef struct play {
    sac_soft_model *model;
    sac_soft_tree *tree;
    sac_soft *soft[BODIES];
    sac_soft_response *response;
    sac_soft_party parties[BODIES + 2]; /* a rigid one that can be pushed, one that cannot */
    float v[3], w[3], centre[3];
    uint32_t triangles[POINTS][3];
    sac_rng rng;
} play;

static float masses[POINTS];

static void begin(play *p, uint64_t seed)
{
    static float points[POINTS][3];
    memset(p, 0, sizeof *p);
    p->rng = sac_rng_seed(seed);
    for (int i = 0; i < POINTS; i++) {
        sac_rng_unit_vector(&p->rng, points[i]);
        masses[i] = sac_rng_range(&p->rng, 0.01f, 0.1f);
        for (int k = 0; k < 3; k++) p->triangles[i][k] = (uint32_t)(i + k * k) % POINTS;
    }
    sac_error error;
    sac_soft_def def = sac_default_soft_def();
    def.clusters = 3;
    sac_soft_tree_def tree_def = sac_default_soft_tree_def();
    tree_def.triangles = (const uint32_t(*)[3])p->triangles, tree_def.triangle_count = POINTS;
    assert_int_equal(
        sac_soft_model_create((const float(*)[3])points, masses, POINTS, &def, &p->model, &error), SAC_OK);
    assert_int_equal(sac_soft_tree_create(p->model, &tree_def, &p->tree, &error), SAC_OK);
    assert_int_equal(sac_soft_response_create(&p->response, &error), SAC_OK);
    for (int i = 0; i < BODIES; i++) {
        assert_int_equal(sac_soft_create(p->model, NULL, &p->soft[i], &error), SAC_OK);
        p->parties[i] = (sac_soft_party){
            .soft = p->soft[i], .tree = p->tree, .mass_scale = 0.5f + (float)i, .friction = 0.5f};
        for (uint32_t k = 0; k < POINTS; k++) {
            float v[3];
            for (int c = 0; c < 3; c++) v[c] = sac_rng_range(&p->rng, -2, 2);
            sac_soft_points at = sac_soft_view(p->soft[i]);
            uint32_t lies = at.place[k];
            sac_soft_set_point(p->soft[i], k, (float[3]){at.x[lies], at.y[lies], at.z[lies]}, v, NULL);
        }
    }
    for (int k = 0; k < 3; k++) {
        p->v[k] = sac_rng_range(&p->rng, -2, 2), p->w[k] = sac_rng_range(&p->rng, -4, 4);
        p->centre[k] = sac_rng_range(&p->rng, -1, 1);
    }
    p->parties[BODIES] = (sac_soft_party){.v = p->v,
                                          .w = p->w,
                                          .centre = p->centre,
                                          .inverse_mass = 0.4f,
                                          .inverse_inertia = {3, 1, 2, 0.3f, -0.2f, 0.5f},
                                          .friction = 0.8f};
    p->parties[BODIES + 1] = (sac_soft_party){.friction = 0.6f};
}

static void end(play *p)
{
    for (int i = 0; i < BODIES; i++) sac_soft_destroy(&p->soft[i]);
    sac_soft_response_destroy(&p->response);
    sac_soft_tree_destroy(&p->tree);
    sac_soft_model_destroy(&p->model);
}

static uint32_t any_node(play *p)
{
    for (;;) {
        uint32_t id = sac_rng_below(&p->rng, p->tree->block_count * 8);
        if (p->tree->range[id].count) return id;
    }
}

/* kinds: 1 nodes of one level, 2 of any, 4 points and triangles, 8 rigid ones that move, 16 that do not */
static void any_contact(play *p, unsigned kinds, sac_soft_contact *c)
{
    memset(c, 0, sizeof *c);
    c->a = sac_rng_below(&p->rng, BODIES);
    c->b = (c->a + 1 + sac_rng_below(&p->rng, BODIES - 1)) % BODIES;
    for (int side = 0; side < 2; side++) {
        uint32_t id = any_node(p);
        if (!(kinds & 2))
            id = p->tree->level_block[2] * 8 +
                 sac_rng_below(&p->rng, (p->tree->level_block[3] - p->tree->level_block[2]) * 8);
        while (!p->tree->range[id].count) id--;
        *(side ? &c->node_b : &c->node_a) = id;
    }
    if (kinds & 4 && sac_rng_below(&p->rng, 2)) {
        c->node_a = SAC_SOFT_AT_POINT | sac_rng_below(&p->rng, POINTS);
        if (sac_rng_below(&p->rng, 2)) {
            c->node_b = SAC_SOFT_AT_TRIANGLE | sac_rng_below(&p->rng, POINTS);
            c->share[0] = sac_rng_range(&p->rng, 0, 0.5f), c->share[1] = sac_rng_range(&p->rng, 0, 0.5f);
        }
    }
    uint32_t rigid = kinds & 24 ? sac_rng_below(&p->rng, 3) : 2;
    if (rigid < 2 && (kinds & (rigid ? 16u : 8u))) c->b = BODIES + rigid, c->node_b = 0;
    sac_rng_unit_vector(&p->rng, c->normal);
    for (int k = 0; k < 3; k++) c->point[k] = sac_rng_range(&p->rng, -1, 1);
    if (sac_rng_below(&p->rng, 2)) {
        uint32_t s = c->a, n = c->node_a;
        if (!(c->node_b & SAC_SOFT_AT_TRIANGLE) || sac_rng_below(&p->rng, 2))
            c->a = c->b, c->node_a = c->node_b, c->b = s, c->node_b = n;
    }
}

static void total(const play *p, double momentum[3], double *energy, double *size)
{
    momentum[0] = momentum[1] = momentum[2] = *energy = *size = 0;
    for (int i = 0; i < BODIES; i++) {
        sac_soft_points at = sac_soft_view(p->soft[i]);
        for (uint32_t k = 0; k < at.count; k++) {
            double m = (double)at.mass[k] * p->parties[i].mass_scale, v[3] = {at.vx[k], at.vy[k], at.vz[k]};
            for (int c = 0; c < 3; c++)
                momentum[c] += m * v[c], *energy += m * v[c] * v[c] / 2, *size += m * fabs(v[c]);
        }
    }
    /* The inertia tensor is the inverse of the one given. */
    const float *i = p->parties[BODIES].inverse_inertia;
    double a[3][3] = {{i[0], i[3], i[4]}, {i[3], i[1], i[5]}, {i[4], i[5], i[2]}}, inverse[3][3], det = 0;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            inverse[r][c] = a[(c + 1) % 3][(r + 1) % 3] * a[(c + 2) % 3][(r + 2) % 3] -
                            a[(c + 1) % 3][(r + 2) % 3] * a[(c + 2) % 3][(r + 1) % 3];
    for (int c = 0; c < 3; c++) det += a[0][c] * inverse[c][0];
    for (int k = 0; k < 3; k++) {
        double m = 1 / 0.4;
        momentum[k] += m * p->v[k], *energy += m * p->v[k] * p->v[k] / 2, *size += m * fabs((double)p->v[k]);
        for (int c = 0; c < 3; c++) *energy += p->w[k] * inverse[k][c] / det * p->w[c] / 2;
    }
}

static void momentum_is_kept_and_energy_does_not_grow(void **state)
{
    (void)state;
    static const unsigned kinds[] = {1, 3, 7, 9, 15, 31};
    for (unsigned turn = 0; turn < 60; turn++) {
        play p;
        sac_soft_contact contacts[MOST];
        unsigned kind = kinds[turn % 6];
        begin(&p, turn + 1);
        uint32_t count = 1 + sac_rng_below(&p.rng, MOST);
        for (uint32_t i = 0; i < count; i++) any_contact(&p, kind, &contacts[i]);
        sac_soft_response_def def = sac_default_soft_response_def();
        def.rounds = 1 + turn % 8, def.push = 0;
        double before[3], after[3], energy[2], size;
        total(&p, before, &energy[0], &size);
        assert_int_equal(
            sac_soft_respond(p.response, p.parties, BODIES + 2, contacts, count, &def, NULL, NULL), SAC_OK);
        total(&p, after, &energy[1], &size);
        if (!(kind & 16))
            for (int k = 0; k < 3; k++) assert_true(fabs(after[k] - before[k]) < 2e-6 * size);
        assert_true(energy[1] < energy[0] * (1 + 1e-6));
        for (uint32_t i = 0; i < count; i++) assert_true(contacts[i].impulse >= 0);
        end(&p);
    }
}

/* The same with the points themselves as the state, one contact after the other. */
typedef struct brute_side {
    uint32_t count, point[POINTS];
    double b[POINTS]; /* share of an impulse, and of the velocity */
    double yield;
} brute_side;

static void brute_of(const play *p, uint32_t party, uint32_t id, const float share[2], brute_side *out)
{
    double sum = 0;
    out->count = 0, out->yield = 0;
    if (id & SAC_SOFT_AT_POINT) {
        out->point[0] = id & ~SAC_SOFT_AT_POINT, out->b[0] = 1, out->count = 1;
    } else if (id & SAC_SOFT_AT_TRIANGLE) {
        for (uint32_t k = 0; k < 3; k++) {
            out->point[k] = p->tree->triangles[id & ~SAC_SOFT_AT_TRIANGLE][k];
            out->b[k] = k < 2 ? (double)share[k] : 1 - (double)share[0] - share[1];
        }
        out->count = 3;
    } else {
        sac_soft_range range = p->tree->range[id];
        for (uint32_t k = 0; k < range.count; k++) {
            out->point[k] = p->tree->order[range.first + k];
            sum += out->b[k] = p->model->mass[out->point[k]];
        }
        for (uint32_t k = 0; k < range.count; k++) out->b[k] /= sum;
        out->count = range.count;
    }
    for (uint32_t k = 0; k < out->count; k++)
        out->yield +=
            out->b[k] * out->b[k] / ((double)p->model->mass[out->point[k]] * p->parties[party].mass_scale);
}

static void lumps_within_lumps_are_as_points(void **state)
{
    (void)state;
    static double v[BODIES][POINTS][3];
    for (unsigned turn = 0; turn < 24; turn++) {
        play p;
        enum { FEW = 60 };
        sac_soft_contact contacts[FEW];
        double normal[FEW] = {0}, friction[FEW][3] = {{0}};
        begin(&p, turn + 100);
        for (uint32_t i = 0; i < FEW; i++) any_contact(&p, turn % 3 ? 7 : 1, &contacts[i]);
        sac_soft_response_def def = sac_default_soft_response_def();
        def.push = 0, def.rounds = 5;
        for (int b = 0; b < BODIES; b++) {
            sac_soft_points at = sac_soft_view(p.soft[b]);
            for (uint32_t k = 0; k < POINTS; k++)
                v[b][k][0] = at.vx[k], v[b][k][1] = at.vy[k], v[b][k][2] = at.vz[k];
        }
        for (uint32_t round = 0; round < def.rounds; round++)
            for (uint32_t i = 0; i < FEW; i++) {
                const sac_soft_contact *c = &contacts[i];
                brute_side side[2];
                double d[3] = {0}, speed = 0, length = 0, f[3], j[3];
                brute_of(&p, c->a, c->node_a, c->share, &side[0]);
                brute_of(&p, c->b, c->node_b, c->share, &side[1]);
                for (int s = 0; s < 2; s++)
                    for (uint32_t k = 0; k < side[s].count; k++)
                        for (int x = 0; x < 3; x++)
                            d[x] += (s ? 1 : -1) * side[s].b[k] * v[s ? c->b : c->a][side[s].point[k]][x];
                for (int x = 0; x < 3; x++) speed += d[x] * c->normal[x];
                double yield = side[0].yield + side[1].yield, now = normal[i] - speed / yield;
                now = now > 0 ? now : 0;
                for (int x = 0; x < 3; x++) {
                    f[x] = friction[i][x] - (d[x] - speed * c->normal[x]) / yield;
                    length += f[x] * f[x];
                }
                double most = 0.5 * now, share = length > most * most ? most / sqrt(length) : 1;
                for (int x = 0; x < 3; x++) {
                    j[x] = (now - normal[i]) * c->normal[x] + f[x] * share - friction[i][x];
                    friction[i][x] = f[x] * share;
                }
                normal[i] = now;
                for (int s = 0; s < 2; s++)
                    for (uint32_t k = 0; k < side[s].count; k++) {
                        uint32_t body = s ? c->b : c->a, at = side[s].point[k];
                        double m = (double)p.model->mass[at] * p.parties[body].mass_scale;
                        for (int x = 0; x < 3; x++) v[body][at][x] += (s ? 1 : -1) * j[x] * side[s].b[k] / m;
                    }
            }
        assert_int_equal(sac_soft_respond(p.response, p.parties, BODIES + 2, contacts, FEW, &def, NULL, NULL),
                         SAC_OK);
        for (int b = 0; b < BODIES; b++) {
            sac_soft_points at = sac_soft_view(p.soft[b]);
            for (uint32_t k = 0; k < POINTS; k++) {
                float now[3] = {at.vx[k], at.vy[k], at.vz[k]};
                for (int x = 0; x < 3; x++) assert_true(fabs(now[x] - v[b][k][x]) < 2e-3);
            }
        }
        for (uint32_t i = 0; i < FEW; i++) assert_true(fabs(contacts[i].impulse - normal[i]) < 2e-3);
        end(&p);
    }
}

/* One lump on a floor: what each number of the definition is for. */
static float leave(float down, float along, float depth, float restitution, float friction, float *out_along)
{
    play p;
    sac_error error;
    begin(&p, 7);
    for (uint32_t k = 0; k < POINTS; k++) {
        sac_soft_points at = sac_soft_view(p.soft[0]);
        uint32_t lies = at.place[k];
        sac_soft_set_point(p.soft[0], k, (float[3]){at.x[lies], at.y[lies], at.z[lies]},
                           (float[3]){along, -down, 0}, NULL);
    }
    p.parties[0].restitution = restitution, p.parties[0].friction = friction;
    p.parties[BODIES + 1].friction = friction;
    sac_soft_contact c = {.a = 0, .b = BODIES + 1, .normal = {0, -1, 0}, .depth = depth};
    sac_soft_response_def def = sac_default_soft_response_def();
    def.dt = 0.01f, def.push_speed = 1.5f;
    assert_int_equal(sac_soft_respond(p.response, p.parties, BODIES + 2, &c, 1, &def, NULL, &error), SAC_OK);
    float out = sac_soft_view(p.soft[0]).vy[17];
    if (out_along) *out_along = sac_soft_view(p.soft[0]).vx[17];
    if (depth >= 0) assert_true(fabsf(c.approach - down) < 1e-5f);
    end(&p);
    return out;
}

static void a_floor_stops_bounces_and_lifts(void **state)
{
    (void)state;
    float along;
    assert_true(fabsf(leave(2, 0, 0, 0, 0, NULL)) < 1e-5f);
    assert_true(fabsf(leave(2, 0, 0, 0.5f, 0, NULL) - 1) < 1e-5f);
    assert_true(fabsf(leave(0.5f, 0, 0, 0.5f, 0, NULL)) < 1e-5f);        /* too slow to bounce */
    assert_true(fabsf(leave(2, 0, -0.005f, 0, 0, NULL) + 0.5f) < 1e-5f); /* the gap may be closed */
    assert_true(fabsf(leave(2, 0, -0.05f, 0, 0, NULL) + 2) < 1e-5f);     /* and this one is not in a step */
    assert_true(fabsf(leave(2, 0, 0.012f, 0, 0, NULL) - 0.2f) < 1e-5f);  /* a fifth of what is over 2 mm */
    assert_true(fabsf(leave(2, 0, 0.9f, 0, 0, NULL) - 1.5f) < 1e-5f);    /* at the limit */
    assert_true(fabsf(leave(-3, 0, 0.012f, 0, 0, NULL) - 3) < 1e-5f);    /* it is leaving anyhow */
    leave(2, 3, 0, 0, 0.5f, &along);
    assert_true(fabsf(along - 2) < 1e-5f); /* 3 - 0.5 * 2 */
    leave(2, 0.7f, 0, 0, 0.5f, &along);
    assert_true(fabsf(along) < 1e-5f); /* sticks */
}

static void rounds_bring_approach_to_an_end(void **state)
{
    (void)state;
    play p;
    begin(&p, 3);
    enum { COUNT = 40 };
    sac_soft_contact contacts[COUNT];
    sac_soft_response_def def = sac_default_soft_response_def();
    def.rounds = 400;
    for (uint32_t i = 0; i < COUNT; i++) {
        any_contact(&p, 15, &contacts[i]);
        contacts[i].normal[0] = contacts[i].normal[0] < 0 ? -0.6f : 0.6f; /* away from body 0 or towards it */
        contacts[i].normal[1] = 0.8f, contacts[i].normal[2] = 0;
        if (contacts[i].a > contacts[i].b) contacts[i].normal[1] = -0.8f;
    }
    for (int again = 0; again < 2; again++)
        assert_int_equal(
            sac_soft_respond(p.response, p.parties, BODIES + 2, contacts, COUNT, &def, NULL, NULL), SAC_OK);
    for (uint32_t i = 0; i < COUNT; i++) assert_true(contacts[i].approach < 1e-3f);
    end(&p);
}

static void wrong_numbers_are_told(void **state)
{
    (void)state;
    play p;
    sac_error error;
    begin(&p, 3);
    sac_soft_response_def def = sac_default_soft_response_def();
    def.dt = NAN;
    assert_int_equal(sac_soft_respond(p.response, p.parties, 1, NULL, 0, &def, NULL, &error),
                     SAC_ERROR_ARGUMENT);
    def.dt = 0.01f;
    assert_int_equal(sac_soft_respond(p.response, p.parties, 1, NULL, 0, &def, NULL, &error), SAC_OK);
    end(&p);
}

/* Passes over points side by side: against plain ones, of any first and last, nothing of the neighbours; the
 * same bits on every path. */
static void patches_are_as_their_points(void **state)
{
    (void)state;
    play p;
    begin(&p, 9);
    sac_soft *s = p.soft[0];
    for (int turn = 0; turn < 400; turn++) {
        uint32_t first = sac_rng_below(&p.rng, POINTS), count = 1 + sac_rng_below(&p.rng, POINTS - first);
        if (turn % 2 && count > 20) count = 1 + count % 20;
        float n[3], one[21], all[21];
        sac_rng_unit_vector(&p.rng, n);
        double sum[15] = {0}, mass = 0, most = -INFINITY, far = 0;
        for (uint32_t i = first; i < first + count; i++) {
            double m = s->model->mass[i], x[3] = {s->x[i], s->y[i], s->z[i]},
                   v[3] = {s->vx[i], s->vy[i], s->vz[i]}, q[3], d2 = 0;
            for (int k = 0; k < 3; k++) q[k] = x[k] - n[k], d2 += q[k] * q[k];
            most = fmax(most, x[0] * n[0] + x[1] * n[1] + x[2] * n[2]), far = fmax(far, d2), mass += m;
            const double terms[9] = {q[0] * q[0], q[1] * q[1], q[2] * q[2],
                                     q[0] * q[1], q[0] * q[2], q[1] * q[2]};
            for (int k = 0; k < 3; k++) {
                int a = (k + 1) % 3, b = (k + 2) % 3;
                sum[k] += m * q[k], sum[3 + k] += m * v[k], sum[12 + k] += m * (q[a] * v[b] - q[b] * v[a]);
            }
            for (int k = 0; k < 6; k++) sum[6 + k] += m * terms[k];
        }
        sac_simd before = sac_simd_active();
        for (int simd = 0; simd < SAC_SIMD_COUNT; simd++) {
            if (!sac_simd_supported((sac_simd)simd)) continue;
            sac_simd_force((sac_simd)simd, NULL);
            const sac_patch_kernels *kernels = sac_patch_kernels_active();
            float *out = simd ? all : one;
            out[0] = kernels->reach(s, first, count, n), out[1] = kernels->farthest(s, first, count, n);
            kernels->momentum(s, first, count, out + 2);
            kernels->moments(s, first, count, n, out + 6);
            if (simd) assert_memory_equal(one, all, sizeof one);
        }
        sac_simd_force(before, NULL);
        assert_true(fabs(one[0] - most) < 1e-5 && fabs(one[1] - far) < 1e-4 && fabs(one[5] - mass) < 1e-4);
        for (int k = 0; k < 3; k++) assert_true(fabs(one[2 + k] - sum[3 + k]) < 1e-3);
        for (int k = 0; k < 15; k++) assert_true(fabs(one[6 + k] - sum[k]) < 1e-3);
        const float was[2] = {first ? s->vx[first - 1] : 0,
                              first + count < POINTS ? s->vx[first + count] : 0};
        const float from = s->vx[first], to = s->vz[first + count - 1];
        sac_patch_kernels_active()->push(s, first, count, n);
        assert_true(s->vx[first] == from + n[0] && s->vz[first + count - 1] == to + n[2]);
        assert_true(!first || s->vx[first - 1] == was[0]);
        assert_true(first + count >= POINTS || s->vx[first + count] == was[1]);
    }
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patches_are_as_their_points),
        cmocka_unit_test(momentum_is_kept_and_energy_does_not_grow),
        cmocka_unit_test(lumps_within_lumps_are_as_points),
        cmocka_unit_test(a_floor_stops_bounces_and_lifts),
        cmocka_unit_test(rounds_bring_approach_to_an_end),
        cmocka_unit_test(wrong_numbers_are_told),
    };
    return cmocka_run_group_tests_name("deform_response", tests, NULL, NULL);
}
