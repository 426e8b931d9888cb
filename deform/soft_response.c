/* Impulses between lumps. The state is one velocity for each lump that has a contact, not the points: an
 * impulse on a lump changes all its points alike, so their mean is all a contact has to know, and the points
 * are told once, after the last round. Lumps may hold other lumps (contacts of several levels on one body):
 * what happens to a part is felt by the whole in proportion to its mass, what happens to the whole is felt by
 * each part in full. */
#include "deform/soft_response.h"

#include <math.h>

#include "base/memory.h"
#include "deform/patch_internal.h"
#include "deform/soft_whole_internal.h"

#define NONE UINT32_MAX
enum { SIDE_LUMP, SIDE_TRIANGLE, SIDE_RIGID, SIDE_SKIN };

/* 32 bytes: two to a cache line. */
typedef struct lump {
    float u[3], yield; /* velocity now; 1 / mass, 0 for what nobody can push */
    float own[3];      /* nested: velocity its own impulses gave it, else velocity at the start */
    uint32_t parent;   /* the smallest lump that holds it, or NONE */
} lump;

typedef struct lump_home {
    uint32_t party, id; /* a node, or SAC_SOFT_AT_POINT and a point; party NONE: a moving wall's own */
    bool nested;
} lump_home;

/* One contact, ready to be solved. */
typedef struct row {
    uint32_t a, b;            /* lumps, or places in `others` */
    float n[3], give;         /* (1 / yield along the normal) */
    float friction[3], slide; /* impulse across so far; (1 / yield across) */
    float impulse, aim, rub;  /* so far; velocity to reach; friction coefficient */
    uint8_t side_a, side_b;
    bool plain; /* two lumps without relatives */
} row;

/* A side that is not one lump. */
typedef struct other {
    uint32_t corner[3]; /* triangle: lumps */
    float share[3];     /* triangle: weights; rigid: arm */
    sac_soft_party *rigid;
    const float *weight;   /* skin: of each point */
    uint32_t first, count; /* skin: in `corners` */
} other;

typedef struct key {
    uint64_t name; /* party, id */
    uint32_t lump, stamp;
} key;

struct sac_soft_response {
    sac_array(lump) lumps;
    sac_array(lump_home) homes;
    sac_array(row) rows;
    sac_array(other) others;
    sac_array(uint32_t) corners; /* lumps of the points that move a piece of skin */
    sac_array(uint16_t) levels;  /* of each party: bit k when a lump is on level k of its hierarchy */
    sac_array(key) keys;         /* open addressing; old when the stamp is not this one */
    sac_array(sac_soft_whole) wholes;
    sac_array(sac_soft_party) stiff; /* the parties, soft ones as wholes */
    sac_array(float) so_far;         /* impulse and approach of each contact between wholes */
    uint32_t stamp, mask;
    const sac_patch_kernels *kernels;
};

sac_soft_response_def sac_default_soft_response_def(void)
{
    return (sac_soft_response_def){.dt = 1.0f / 90,
                                   .rounds = 4,
                                   .push = 0.2f,
                                   .push_speed = 1.5f,
                                   .slop = 0.002f,
                                   .restitution_speed = 1};
}

sac_result sac_soft_response_create(sac_soft_response **out_response, sac_error *error)
{
    SAC_NEED(error, out_response);
    *out_response = sac_alloc_zero(1, sizeof **out_response);
    return *out_response ? SAC_OK : sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a response");
}

void sac_soft_response_destroy(sac_soft_response **response)
{
    sac_soft_response *r = response ? *response : NULL;
    if (!r) return;
    sac_array_fini(&r->lumps), sac_array_fini(&r->homes), sac_array_fini(&r->rows);
    sac_array_fini(&r->corners);
    sac_array_fini(&r->others), sac_array_fini(&r->levels), sac_array_fini(&r->keys);
    sac_array_fini(&r->wholes), sac_array_fini(&r->stiff), sac_array_fini(&r->so_far);
    sac_free(r, 1, sizeof *r);
    *response = NULL;
}

/* ---- lumps ---- */

static bool at_triangle(uint32_t id)
{
    return (id & (SAC_SOFT_AT_POINT | SAC_SOFT_AT_TRIANGLE)) == SAC_SOFT_AT_TRIANGLE;
}

static sac_meshless_lump skin_of(const sac_soft_party *p, uint32_t id)
{
    return sac_meshless_cover_lump(p->skin, id);
}

static size_t skin_points(const sac_soft_party *p, uint32_t id)
{
    return p->soft && p->skin ? skin_of(p, id).count : 0;
}

static bool reserve(sac_soft_response *r, uint32_t parties, uint32_t contacts, size_t sides, size_t keys)
{
    size_t had = r->keys.capacity;
    if (!sac_array_reserve(&r->lumps, sides + 1) || !sac_array_reserve(&r->homes, sides + 1) ||
        !sac_array_reserve(&r->rows, contacts) || !sac_array_reserve(&r->others, (size_t)contacts * 2) ||
        !sac_array_reserve(&r->levels, parties) || !sac_array_reserve(&r->keys, keys) ||
        !sac_array_reserve(&r->wholes, parties) || !sac_array_reserve(&r->stiff, parties) ||
        !sac_array_reserve(&r->so_far, 2 * (size_t)contacts))
        return false;
    if (r->keys.capacity != had) {
        memset(r->keys.data, 0, r->keys.capacity * sizeof *r->keys.data);
        r->stamp = 0;
    }
    return true;
}

bool sac_soft_response_reserve(sac_soft_response *r, uint32_t parties, uint32_t contacts)
{
    if (!r) return false;
    size_t keys = 64, sides = 2 * (size_t)contacts;
    while (keys < sides + sides / 2) keys *= 2;
    return reserve(r, parties, contacts, sides, keys);
}

static bool make_room(sac_soft_response *r, const sac_soft_party *parties, uint32_t party_count,
                      const sac_soft_contact *contacts, uint32_t count)
{
    size_t sides = 0, size = 64, corners = 0;
    for (uint32_t i = 0; i < count; i++) {
        sides +=
            2 + 2 * (size_t)at_triangle(contacts[i].node_a) + 2 * (size_t)at_triangle(contacts[i].node_b);
        corners += skin_points(&parties[contacts[i].a], contacts[i].node_a) +
                   skin_points(&parties[contacts[i].b], contacts[i].node_b);
    }
    sides += corners;
    if (!sac_array_reserve(&r->corners, corners)) return false;
    while (size < sides + sides / 2) size *= 2;
    if (!reserve(r, party_count, count, sides, size)) return false;
    if (++r->stamp == 0) {
        memset(r->keys.data, 0, r->keys.capacity * sizeof *r->keys.data);
        r->stamp = 1;
    }
    r->mask = (uint32_t)size - 1;
    return true;
}

/* Where a lump is, or would be: nodes of a party lie side by side. */
static key *find(sac_soft_response *r, uint32_t party, uint32_t id)
{
    uint64_t name = (uint64_t)party << 32 | id;
    uint32_t at = (party * 0x9e3779b9u >> 7) + (id & SAC_SOFT_AT_POINT ? id * 0x85ebca6bu : id);
    for (;; at++) {
        key *k = &r->keys.data[at & r->mask];
        if (k->stamp != r->stamp || k->name == name) return k;
    }
}

static uint32_t level_of(const sac_soft_tree *tree, uint32_t node)
{
    uint32_t level = 0;
    while (node / SAC_LANES >= tree->level_block[level + 1]) level++;
    return level;
}

static float scale_of(const sac_soft_party *p) { return p->mass_scale > 0 ? p->mass_scale : 1; }

/* Mean velocity and mass of a lump's points. */
static void gather(const sac_soft_response *r, const sac_soft_party *p, uint32_t id, lump *out)
{
    const sac_soft *s = p->soft;
    const float *mass = s->model->mass;
    if (p->still) {
        memset(out->u, 0, sizeof out->u);
        out->yield = 0;
        return;
    }
    if (id & SAC_SOFT_AT_POINT) {
        uint32_t i = id & ~SAC_SOFT_AT_POINT;
        out->u[0] = s->vx[i], out->u[1] = s->vy[i], out->u[2] = s->vz[i];
        out->yield = 1 / (mass[i] * scale_of(p));
        return;
    }
    sac_soft_range range = p->tree->range[id];
    float sum[4];
    r->kernels->momentum(s, range.first, range.count, sum);
    float inverse = 1 / sum[3];
    for (int c = 0; c < 3; c++) out->u[c] = sum[c] * inverse;
    out->yield = 1 / (sum[3] * scale_of(p));
}

static uint32_t lump_at(sac_soft_response *r, const sac_soft_party *parties, uint32_t party, uint32_t id)
{
    key *k = find(r, party, id);
    if (k->stamp == r->stamp) return k->lump;
    *k = (key){(uint64_t)party << 32 | id, (uint32_t)r->lumps.count, r->stamp};
    lump *l = &r->lumps.data[r->lumps.count++];
    gather(r, &parties[party], id, l);
    l->parent = NONE;
    memcpy(l->own, l->u, sizeof l->own);
    r->homes.data[r->homes.count++] = (lump_home){party, id, false};
    if (!(id & SAC_SOFT_AT_POINT)) r->levels.data[party] |= 1u << level_of(parties[party].tree, id);
    return k->lump;
}

/* Finds out which lumps hold which; only levels that have any are asked. */
static void relate(sac_soft_response *r, const sac_soft_party *parties)
{
    for (uint32_t i = 1; i < r->lumps.count; i++) {
        lump_home home = r->homes.data[i];
        if (home.party == NONE) continue;
        uint32_t levels = r->levels.data[home.party];
        const sac_soft_tree *tree = parties[home.party].tree;
        bool point = home.id & SAC_SOFT_AT_POINT;
        if (!point && (levels & (levels - 1)) == 0) continue;
        uint32_t node = point ? tree->leaf[home.id & ~SAC_SOFT_AT_POINT] : home.id;
        uint32_t level = level_of(tree, node);
        if (!point && level == 0) continue;
        if (!point) node = tree->parents[node / SAC_LANES], level--;
        while (levels & ((2u << level) - 1)) {
            if (levels >> level & 1) {
                key *k = find(r, home.party, node);
                if (k->stamp == r->stamp) {
                    r->lumps.data[i].parent = k->lump;
                    r->homes.data[i].nested = r->homes.data[k->lump].nested = true;
                    break;
                }
            }
            if (level == 0) break;
            node = tree->parents[node / SAC_LANES], level--;
        }
    }
    for (uint32_t i = 1; i < r->lumps.count; i++)
        if (r->homes.data[i].nested) memset(r->lumps.data[i].own, 0, sizeof r->lumps.data[i].own);
}

/* ---- one side of a contact ---- */

static void cross(const float a[3], const float b[3], float out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static float dot(const float a[3], const float b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void turn(const float i[6], const float v[3], float out[3])
{
    out[0] = i[0] * v[0] + i[3] * v[1] + i[4] * v[2];
    out[1] = i[3] * v[0] + i[1] * v[1] + i[5] * v[2];
    out[2] = i[4] * v[0] + i[5] * v[1] + i[2] * v[2];
}

static void lump_velocity(const sac_soft_response *r, uint32_t at, float out[3])
{
    const lump *l = &r->lumps.data[at];
    memcpy(out, l->u, sizeof l->u);
    for (uint32_t up = l->parent; up != NONE; up = r->lumps.data[up].parent)
        for (int k = 0; k < 3; k++) out[k] += r->lumps.data[up].own[k];
}

static void lump_push(sac_soft_response *r, uint32_t at, const float j[3])
{
    lump *l = &r->lumps.data[at];
    for (int k = 0; k < 3; k++) l->u[k] += j[k] * l->yield;
    if (!r->homes.data[at].nested) return;
    for (int k = 0; k < 3; k++) l->own[k] += j[k] * l->yield;
    for (uint32_t up = l->parent; up != NONE; up = r->lumps.data[up].parent)
        for (int k = 0; k < 3; k++) r->lumps.data[up].u[k] += j[k] * r->lumps.data[up].yield;
}

static void side_velocity(const sac_soft_response *r, uint8_t side, uint32_t at, float out[3])
{
    if (side == SIDE_LUMP) {
        lump_velocity(r, at, out);
        return;
    }
    const other *o = &r->others.data[at];
    if (side == SIDE_RIGID) {
        cross(o->rigid->w, o->share, out);
        for (int k = 0; k < 3; k++) out[k] += o->rigid->v[k];
        return;
    }
    out[0] = out[1] = out[2] = 0;
    if (side == SIDE_SKIN) {
        for (uint32_t c = 0; c < o->count; c++) {
            const lump *l = &r->lumps.data[r->corners.data[o->first + c]];
            for (int k = 0; k < 3; k++) out[k] += o->weight[c] * l->u[k];
        }
        return;
    }
    for (int c = 0; c < 3; c++) {
        float u[3];
        lump_velocity(r, o->corner[c], u);
        for (int k = 0; k < 3; k++) out[k] += o->share[c] * u[k];
    }
}

static void side_push(sac_soft_response *r, uint8_t side, uint32_t at, const float j[3])
{
    if (side == SIDE_LUMP) {
        lump_push(r, at, j);
        return;
    }
    const other *o = &r->others.data[at];
    if (side == SIDE_RIGID) {
        float moment[3], spin[3];
        cross(o->share, j, moment);
        turn(o->rigid->inverse_inertia, moment, spin);
        for (int k = 0; k < 3; k++)
            o->rigid->v[k] += j[k] * o->rigid->inverse_mass, o->rigid->w[k] += spin[k];
        return;
    }
    if (side == SIDE_SKIN) {
        for (uint32_t c = 0; c < o->count; c++) {
            float w = o->weight[c];
            lump_push(r, r->corners.data[o->first + c], (float[3]){j[0] * w, j[1] * w, j[2] * w});
        }
        return;
    }
    for (int c = 0; c < 3; c++)
        lump_push(r, o->corner[c], (float[3]){j[0] * o->share[c], j[1] * o->share[c], j[2] * o->share[c]});
}

/* Velocity an impulse of 1 gives this side along the normal, and at most across it. */
static void side_yield(const sac_soft_response *r, uint8_t side, uint32_t at, const float n[3], float *along,
                       float *across)
{
    if (side == SIDE_LUMP) {
        *along += r->lumps.data[at].yield, *across += r->lumps.data[at].yield;
        return;
    }
    const other *o = &r->others.data[at];
    if (side == SIDE_SKIN) {
        float sum = 0;
        for (uint32_t c = 0; c < o->count; c++)
            sum += o->weight[c] * o->weight[c] * r->lumps.data[r->corners.data[o->first + c]].yield;
        *along += sum, *across += sum;
        return;
    }
    if (side == SIDE_TRIANGLE) {
        for (int c = 0; c < 3; c++) {
            float y = o->share[c] * o->share[c] * r->lumps.data[o->corner[c]].yield;
            *along += y, *across += y;
        }
        return;
    }
    /* Across: the trace of what is left of the matrix, which no direction exceeds. */
    float sum = 0, mine = 0;
    for (int axis = 0; axis < 4; axis++) {
        float e[3] = {axis == 0, axis == 1, axis == 2}, moment[3], spin[3];
        if (axis == 3) memcpy(e, n, sizeof e);
        cross(o->share, e, moment);
        turn(o->rigid->inverse_inertia, moment, spin);
        *(axis == 3 ? &mine : &sum) += dot(moment, spin);
    }
    *along += o->rigid->inverse_mass + mine;
    *across += o->rigid->inverse_mass + (sum > mine ? sum - mine : 0);
}

/* ---- rows ---- */

static uint8_t add_side(sac_soft_response *r, sac_soft_party *parties, const sac_soft_contact *c, bool second,
                        uint32_t *out)
{
    uint32_t party = second ? c->b : c->a, id = second ? c->node_b : c->node_a;
    sac_soft_party *p = &parties[party];
    if (p->soft && p->skin) {
        sac_meshless_lump skin = skin_of(p, id);
        other o = {.weight = skin.weight, .first = (uint32_t)r->corners.count, .count = skin.count};
        for (uint32_t i = 0; i < skin.count; i++)
            r->corners.data[r->corners.count++] =
                lump_at(r, parties, party, p->soft->model->place[skin.node[i]] | SAC_SOFT_AT_POINT);
        *out = (uint32_t)r->others.count;
        r->others.data[r->others.count++] = o;
        return SIDE_SKIN;
    }
    if (p->soft && !at_triangle(id)) {
        *out = lump_at(r, parties, party, id);
        return SIDE_LUMP;
    }
    if (p->soft) {
        const uint32_t *corner = p->tree->triangles[id & ~SAC_SOFT_AT_TRIANGLE];
        other o = {.share = {c->share[0], c->share[1], 1 - c->share[0] - c->share[1]}};
        for (int k = 0; k < 3; k++) o.corner[k] = lump_at(r, parties, party, corner[k] | SAC_SOFT_AT_POINT);
        *out = (uint32_t)r->others.count;
        r->others.data[r->others.count++] = o;
        return SIDE_TRIANGLE;
    }
    float arm[3], u[3] = {0};
    for (int k = 0; k < 3; k++) arm[k] = p->centre ? c->point[k] - p->centre[k] : 0;
    bool fixed = p->inverse_mass == 0, still = true;
    for (int k = 0; k < 6; k++) fixed = fixed && p->inverse_inertia[k] == 0;
    if (!fixed) {
        *out = (uint32_t)r->others.count;
        r->others.data[r->others.count++] = (other){.share = {arm[0], arm[1], arm[2]}, .rigid = p};
        return SIDE_RIGID;
    }
    /* What nobody can push is a lump of no yield: the first one if it stands still. */
    if (p->w) cross(p->w, arm, u);
    for (int k = 0; k < 3; k++) u[k] += p->v ? p->v[k] : 0, still = still && u[k] == 0;
    *out = 0;
    if (!still) {
        *out = (uint32_t)r->lumps.count;
        r->lumps.data[r->lumps.count++] = (lump){.u = {u[0], u[1], u[2]}, .parent = NONE};
        r->homes.data[r->homes.count++] = (lump_home){.party = NONE};
    }
    return SIDE_LUMP;
}

static void prepare(sac_soft_response *r, sac_soft_party *parties, const sac_soft_response_def *def,
                    sac_soft_contact *c, row *w)
{
    float ua[3], ub[3], along = 0, across = 0;
    side_velocity(r, w->side_a, w->a, ua), side_velocity(r, w->side_b, w->b, ub);
    side_yield(r, w->side_a, w->a, c->normal, &along, &across);
    side_yield(r, w->side_b, w->b, c->normal, &along, &across);
    float speed = 0;
    for (int k = 0; k < 3; k++) w->n[k] = c->normal[k], speed += (ub[k] - ua[k]) * c->normal[k];
    const sac_soft_party *a = &parties[c->a], *b = &parties[c->b];
    float bounce = a->restitution > b->restitution ? a->restitution : b->restitution;
    c->approach = -speed;
    w->give = along > 0 ? 1 / along : 0, w->slide = across > 0 ? 1 / across : 0;
    w->rub = sqrtf(a->friction * b->friction);
    /* Apart: the gap may be closed. Too deep: out again, not faster than a limit. */
    float over = c->depth - def->slop, out = def->push * over / def->dt;
    w->aim = c->depth < 0 ? c->depth / def->dt
             : over > 0   ? (out < def->push_speed ? out : def->push_speed)
                          : 0;
    if (c->depth >= 0 && -speed > def->restitution_speed && -speed * bounce > w->aim)
        w->aim = -speed * bounce;
    w->plain = w->side_a == SIDE_LUMP && w->side_b == SIDE_LUMP && !r->homes.data[w->a].nested &&
               !r->homes.data[w->b].nested;
}

/* The impulse of one contact for relative velocity d. False: none, and there was none. */
static inline bool solve(row *w, const float d[3], float out[3])
{
    float speed = dot(d, w->n), had = w->impulse, now = had + (w->aim - speed) * w->give;
    now = now > 0 ? now : 0;
    if (now == 0 && had == 0) return false;
    float j = now - had, f[3], square = 0, most = w->rub * now, share = 1;
    for (int k = 0; k < 3; k++) {
        f[k] = w->friction[k] - (d[k] - speed * w->n[k]) * w->slide;
        square += f[k] * f[k];
    }
    if (square > most * most) share = most / sqrtf(square);
    for (int k = 0; k < 3; k++) {
        f[k] *= share;
        out[k] = j * w->n[k] + (f[k] - w->friction[k]);
        w->friction[k] = f[k];
    }
    w->impulse = now;
    return true;
}

static void round_over(sac_soft_response *r)
{
    lump *lumps = r->lumps.data;
    for (size_t i = 0; i < r->rows.count; i++) {
        row *w = &r->rows.data[i];
        float d[3], j[3];
        if (w->plain) {
            lump *a = &lumps[w->a], *b = &lumps[w->b];
            for (int k = 0; k < 3; k++) d[k] = b->u[k] - a->u[k];
            if (!solve(w, d, j)) continue;
            for (int k = 0; k < 3; k++) a->u[k] -= j[k] * a->yield, b->u[k] += j[k] * b->yield;
            continue;
        }
        float ua[3], ub[3];
        side_velocity(r, w->side_a, w->a, ua), side_velocity(r, w->side_b, w->b, ub);
        for (int k = 0; k < 3; k++) d[k] = ub[k] - ua[k];
        if (!solve(w, d, j)) continue;
        side_push(r, w->side_b, w->b, j);
        for (int k = 0; k < 3; k++) j[k] = -j[k];
        side_push(r, w->side_a, w->a, j);
    }
}

/* ---- the points are told ---- */

static void spread(sac_soft_response *r, sac_soft_party *parties)
{
    for (uint32_t i = 1; i < r->lumps.count; i++) {
        lump_home home = r->homes.data[i];
        if (home.party == NONE) continue;
        const lump *l = &r->lumps.data[i];
        float d[3];
        for (int k = 0; k < 3; k++) d[k] = home.nested ? l->own[k] : l->u[k] - l->own[k];
        if (d[0] == 0 && d[1] == 0 && d[2] == 0) continue;
        sac_soft *s = parties[home.party].soft;
        uint32_t last = s->model->count - 1;
        sac_soft_range range = {home.id & ~SAC_SOFT_AT_POINT, 1};
        if (home.id & SAC_SOFT_AT_POINT) {
            uint32_t p = range.first;
            s->vx[p] += d[0], s->vy[p] += d[1], s->vz[p] += d[2];
        } else {
            range = parties[home.party].tree->range[home.id];
            r->kernels->push(s, range.first, range.count, d);
        }
        if (range.first + range.count <= last) continue;
        for (uint32_t p = last + 1; p < s->model->lanes; p++)
            s->vx[p] = s->vx[last], s->vy[p] = s->vy[last], s->vz[p] = s->vz[last];
    }
}

/* All rounds, between lumps or between wholes. */
static void respond(sac_soft_response *r, sac_soft_party *parties, uint32_t party_count,
                    sac_soft_contact *contacts, uint32_t count, const sac_soft_response_def *def)
{
    memset(r->levels.data, 0, party_count * sizeof *r->levels.data);
    r->others.count = 0, r->rows.count = count, r->corners.count = 0;
    r->lumps.count = r->homes.count = 1; /* what stands still */
    r->lumps.data[0] = (lump){.parent = NONE};
    r->homes.data[0] = (lump_home){.party = NONE};
    for (uint32_t i = 0; i < count; i++) {
        row *w = &r->rows.data[i];
        *w = (row){0};
        w->side_a = add_side(r, parties, &contacts[i], false, &w->a);
        w->side_b = add_side(r, parties, &contacts[i], true, &w->b);
    }
    relate(r, parties);
    for (uint32_t i = 0; i < count; i++) prepare(r, parties, def, &contacts[i], &r->rows.data[i]);
    for (uint32_t k = 0; k < def->rounds; k++) round_over(r);
    spread(r, parties);
    for (uint32_t i = 0; i < count; i++) contacts[i].impulse = r->rows.data[i].impulse;
}

static void respond_whole(sac_soft_response *r, sac_soft_party *parties, uint32_t party_count,
                          sac_soft_contact *contacts, uint32_t count, const sac_soft_response_def *def,
                          uint64_t *credits)
{
    for (uint32_t i = 0; i < party_count; i++) {
        sac_soft_party *p = &r->stiff.data[i];
        sac_soft_whole *whole = &r->wholes.data[i];
        *p = parties[i];
        if (!p->soft) continue;
        sac_soft_whole_gather(&parties[i], whole);
        *credits += p->soft->model->count / 8;
        p->soft = NULL;
        p->v = whole->v, p->w = whole->w, p->centre = whole->centre;
        p->inverse_mass = whole->inverse_mass;
        memcpy(p->inverse_inertia, whole->inverse_inertia, sizeof p->inverse_inertia);
    }
    respond(r, r->stiff.data, party_count, contacts, count, def);
    for (uint32_t i = 0; i < party_count; i++)
        if (parties[i].soft) sac_soft_whole_spread(&parties[i], &r->wholes.data[i]);
    for (uint32_t i = 0; i < count; i++)
        r->so_far.data[2 * i] = contacts[i].impulse, r->so_far.data[2 * i + 1] = contacts[i].approach;
    *credits += (uint64_t)count * (def->rounds + 2);
}

sac_result sac_soft_respond(sac_soft_response *r, sac_soft_party *parties, uint32_t party_count,
                            sac_soft_contact *contacts, uint32_t count, const sac_soft_response_def *def,
                            uint64_t *out_credits, sac_error *error)
{
    if (!r) return sac_error_null(error, "response", 0);
    SAC_NEED(error, def);
    if (party_count) SAC_NEED(error, parties);
    if (count) SAC_NEED(error, contacts);
    if (out_credits) *out_credits = 0;
    if (!(def->dt > 0 && def->dt <= 1) || !(def->push >= 0 && def->push <= 1) || !(def->push_speed >= 0) ||
        !(def->slop >= 0))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "start from sac_default_soft_response_def()",
                             "a response cannot have these numbers");
    r->kernels = sac_patch_kernels_active();
    if (!make_room(r, parties, party_count, contacts, count))
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %u contacts", count);
    uint64_t credits = (uint64_t)count * (def->rounds + 2);
    if (def->wholes) respond_whole(r, parties, party_count, contacts, count, def, &credits);
    respond(r, parties, party_count, contacts, count, def);
    for (uint32_t i = 0; i < count && def->wholes; i++) {
        contacts[i].impulse += r->so_far.data[2 * i];
        contacts[i].approach = r->so_far.data[2 * i + 1];
    }
    if (out_credits) *out_credits = credits;
    return SAC_OK;
}
