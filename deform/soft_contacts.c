/* From the front of a meeting to contacts. A pair of nodes is taken for two patches of points: a direction,
 * and how far the points of one reach past those of the other along it. That is neither early, as two spheres
 * would be, nor late, as their centres would be, on any level. At the leaves points meet triangles. */
#include "deform/soft_response.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "deform/patch_internal.h"
#include "deform/soft_tree_internal.h"

typedef struct patch {
    uint32_t id;
    float c[3], r, n[3];
    float size;   /* r, less what is there for points that stray */
    float top[3]; /* flat: the point its plane goes through */
    bool faces;   /* n is known */
    bool flat;
    bool skin;    /* of a surface that follows the points: there is no range */
    bool lined;   /* ahead is known */
    float toward; /* how much it looks along the line of its meeting, towards the other body */
    float ahead;  /* how far it reaches that way */
    sac_soft_range range;
} patch;

enum { CACHED = 64 };

typedef struct maker {
    const sac_soft_party *party[2];
    uint32_t number[2];
    const sac_form *form[2];
    const sac_transform *pose[2];
    float line[3]; /* from the middle of a to that of b; zero when they have none */
    float thick;   /* of both */
    float deepest; /* no more than this they can be inside each other along it */
    struct {
        uint32_t id[CACHED];
        patch at[CACHED];
    } patches[2]; /* a node is in many pairs of a front */
    bool fine;
    float margin;
    const sac_patch_kernels *kernels;
    sac_soft_contact *out;
    uint32_t count, room;
    uint32_t seen[64]; /* soft nodes a rigid side has answered for */
    struct {
        uint32_t id;      /* a point of either side, and */
        uint32_t contact; /* where it is nearest to a triangle */
    } nearest[512];
} maker;

static float dot(const float a[3], const float b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross(const float a[3], const float b[3], float out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static void point_of(const sac_soft *s, uint32_t i, float out[3])
{
    out[0] = s->x[i], out[1] = s->y[i], out[2] = s->z[i];
}

static uint32_t node_of(const sac_form *form, uint32_t link)
{
    return link & SAC_LINK_LEAF ? link & ~SAC_LINK_LEAF : form->tree->parents[link];
}

static bool leaf_of(const sac_soft_tree *tree, uint32_t id)
{
    return tree->links[id / SAC_LANES].link[id % SAC_LANES] & SAC_LINK_LEAF;
}

/* Of a surface whose vertices follow the points: what its sphere and normal say. */
static void skin_patch(maker *m, int side, uint32_t id, patch *p)
{
    const sac_live *live = m->form[side]->live;
    sac_tree_node_info info;
    live->node(live->owner, id, &info);
    *p = (patch){.id = id, .r = info.radius, .size = info.radius, .skin = true};
    memcpy(p->c, info.centre, sizeof p->c);
    memcpy(p->n, info.normal, sizeof p->n);
    memcpy(p->top, info.centre, sizeof p->top);
    p->faces = p->flat = info.cone < 1 && dot(p->n, p->n) > 0.5f;
    p->toward = side ? -dot(p->n, m->line) : dot(p->n, m->line);
}

static patch *fill_patch(maker *m, int side, uint32_t id)
{
    patch *p = &m->patches[side].at[id % CACHED];
    m->patches[side].id[id % CACHED] = id;
    if (m->party[side]->skin) {
        skin_patch(m, side, id, p);
        return p;
    }
    const sac_soft_tree *tree = m->party[side]->tree;
    const sac_live *live = m->form[side]->live;
    const sac_soft_cover *cover = live->owner;
    uint32_t block = id / SAC_LANES, lane = id % SAC_LANES, cluster = tree->lane_cluster[id];
    p->id = id;
    if (cover->step[block] == cover->soft->step) {
        const sac_sphere_block *s = &cover->spheres[block];
        p->c[0] = s->x[lane], p->c[1] = s->y[lane], p->c[2] = s->z[lane], p->r = s->r[lane];
    } else { /* a node remembered from another step */
        sac_tree_node_info info;
        live->node(live->owner, id, &info);
        memcpy(p->c, info.centre, sizeof p->c), p->r = info.radius;
    }
    p->range = tree->range[id];
    p->faces = p->flat = p->lined = false, p->size = p->r;
    p->skin = false;
    if (tree->facing && cluster != SAC_SOFT_SPANS && dot(tree->facing[id], tree->facing[id]) > 0.5f) {
        const sac_soft_cluster_state *state = &m->party[side]->soft->clusters[cluster];
        const sac_soft_map *map = &state->map;
        sac_soft_turn_normal(state->cofactor, tree->facing[id], p->n);
        p->faces = dot(p->n, p->n) > 0.5f;
        p->toward = side ? -dot(p->n, m->line) : dot(p->n, m->line);
        p->size = p->r > 2 * map->stray && !leaf_of(tree, id) ? p->r - map->stray : p->r;
        p->flat = p->faces && tree->bulge[id] < p->size;
        for (int k = 0; k < 3 && p->flat; k++) p->top[k] = p->c[k] + tree->bulge[id] * p->n[k];
    }
    return p;
}

static inline patch *patch_of(maker *m, int side, uint32_t id)
{
    bool known = m->patches[side].id[id % CACHED] == id;
    return known ? &m->patches[side].at[id % CACHED] : fill_patch(m, side, id);
}

/* How much of a ball about a bent piece of surface counts as filled. */
static const float FILLED = 0.6f;

/* How far the points of a patch reach along a direction, from a point. */
static float reach_of(const maker *m, int side, const patch *p, const float from[3], const float n[3])
{
    if (!p->skin)
        return m->kernels->reach(m->party[side]->soft, p->range.first, p->range.count, n) - dot(from, n);
    return dot(p->c, n) - dot(from, n) + (p->flat ? 0 : FILLED * p->r);
}

static bool add(maker *m, uint32_t node_a, uint32_t node_b, const float point[3], const float normal[3],
                float depth)
{
    if (m->count == m->room) return false;
    m->out[m->count++] = (sac_soft_contact){.a = m->number[0],
                                            .b = m->number[1],
                                            .node_a = node_a,
                                            .node_b = node_b,
                                            .point = {point[0], point[1], point[2]},
                                            .normal = {normal[0], normal[1], normal[2]},
                                            .depth = depth};
    return true;
}

/* ---- soft against soft ---- */

static bool unit(float v[3])
{
    float square = dot(v, v);
    if (!(square > 1e-24f)) return false;
    float inverse = 1 / sqrtf(square);
    for (int k = 0; k < 3; k++) v[k] *= inverse;
    return true;
}

/* How far two patches reach past each other along n. */
static float overlap(const maker *m, const patch *a, const patch *b, const float n[3])
{
    float back[3] = {-n[0], -n[1], -n[2]};
    return reach_of(m, 0, a, a->c, n) + reach_of(m, 1, b, a->c, back);
}

/* How far a patch reaches along the line, from the middle of a. */
static float ahead(const maker *m, int side, patch *p)
{
    if (!p->lined) {
        float n[3];
        for (int k = 0; k < 3; k++) n[k] = side ? -m->line[k] : m->line[k];
        p->ahead = reach_of(m, side, p, m->form[0]->ball, n);
        p->lined = true;
    }
    return p->ahead;
}

/* Two flat ones. Of a pair of planes the one that is farther from the other's patch decides. */
static float between_planes(const patch *a, const patch *b, float facing, float n[3])
{
    float e[3];
    for (int k = 0; k < 3; k++) e[k] = b->top[k] - a->top[k];
    float from_a = dot(e, a->n), from_b = -dot(e, b->n);
    for (int k = 0; k < 3 && facing > -0.9f; k++) n[k] = from_a > from_b ? a->n[k] : -b->n[k];
    return -(from_a > from_b ? from_a : from_b);
}

/* Whether two patches that face somewhere cannot be a contact. Nine in ten cannot, and for many reasons: all
 * are found out before there is a branch. */
static inline bool turned_away(const patch *a, const patch *b, const float d[3])
{
    const bool flat = a->flat & b->flat, line = !flat & (a->toward > 0.1f) & (b->toward > 0.1f);
    const float n[3] = {a->n[0] - b->n[0], a->n[1] - b->n[1], a->n[2] - b->n[2]}; /* not a unit */
    const float facing = dot(a->n, b->n), square = dot(n, n), along = dot(d, n);
    const float size = a->size > b->size ? a->size : b->size, least = a->size < b->size ? a->size : b->size;
    /* Flat ones must look at each other; of others, octants of boxes say, less can be asked. */
    const bool away = facing > (flat ? -0.3f : 0.4f);
    /* Of two bent ones only those on the near sides of their bodies mean anything. */
    const bool bent = !(line | a->flat | b->flat);
    const bool beside = (dot(d, d) - size * size) * square > along * along;
    const bool past = (along < 0) & (along * along > least * least * square);
    return away | bent | beside | past;
}

/* Two that look at each other: a direction and how deep. Bent patches reach past each other along any
 * direction but the right ones, so the least counts; the line between the bodies is asked first, because that
 * answer is known from other pairs and turns most of them away. */
static bool face(const maker *m, patch *a, patch *b, float n[3], float *depth)
{
    const bool flat = a->flat && b->flat, line = !flat && a->toward > 0.1f && b->toward > 0.1f;
    for (int k = 0; k < 3; k++) n[k] = a->n[k] - b->n[k];
    unit(n);
    if (flat) {
        *depth = between_planes(a, b, dot(a->n, b->n), n);
        return true;
    }
    float mid[3] = {n[0], n[1], n[2]};
    *depth = FLT_MAX;
    if (line) {
        *depth = ahead(m, 0, a) + ahead(m, 1, b);
        if (*depth + m->thick < -m->margin) return false;
        memcpy(n, m->line, sizeof mid);
        if (dot(mid, n) > 0.9f) return true;
    }
    for (int which = 0; which < 3; which++) {
        float own[3];
        if (which > 0 && !(which == 1 ? a : b)->flat) continue;
        for (int k = 0; k < 3; k++) own[k] = which == 0 ? mid[k] : which == 1 ? a->n[k] : -b->n[k];
        float over = overlap(m, a, b, own);
        if (over < *depth) *depth = over, memcpy(n, own, sizeof own);
    }
    return true;
}

static void touch_patches(maker *m, patch *a, patch *b, const float d[3])
{
    float n[3] = {d[0], d[1], d[2]}, depth;
    if (a->faces && b->faces) {
        if (!face(m, a, b, n, &depth)) return;
    } else {
        if (!unit(n)) return;
        depth = overlap(m, a, b, n);
    }
    if (depth > m->deepest) depth = m->deepest; /* what two patches make of it is too much */
    depth += m->thick;
    if (!(depth >= -m->margin)) return;
    float point[3];
    for (int k = 0; k < 3; k++) point[k] = a->c[k] + d[k] / 2;
    add(m, a->id, b->id, point, n, depth);
}

static inline void meet_patches(maker *m, patch *a, patch *b)
{
    const float d[3] = {b->c[0] - a->c[0], b->c[1] - a->c[1], b->c[2] - a->c[2]};
    if (!(a->faces & b->faces) || !turned_away(a, b, d)) touch_patches(m, a, b, d);
}

/* A point may be over or under several triangles of a body, a roof and a wall say: the nearest counts. NULL:
 * there is a nearer one, or no room. */
static sac_soft_contact *place_for(maker *m, int side, uint32_t p, float height)
{
    uint32_t id = p << 1 | (uint32_t)side, at = id * 0x9e3779b9u >> 23;
    if (m->nearest[at].id == id) {
        sac_soft_contact *had = &m->out[m->nearest[at].contact];
        float thick = m->party[0]->thickness + m->party[1]->thickness;
        return fabsf(height) < fabsf(thick - had->depth) ? had : NULL;
    }
    if (m->count == m->room) return NULL;
    m->nearest[at].id = id, m->nearest[at].contact = m->count;
    return &m->out[m->count++];
}

/* A point of one side against the triangles of the other's leaf. */
static void meet_triangles(maker *m, int side, uint32_t p, const patch *mine, const patch *theirs)
{
    const sac_soft *s = m->party[!side]->soft;
    const sac_soft_tree *tree = m->party[!side]->tree;
    float thick = m->party[0]->thickness + m->party[1]->thickness, x[3];
    float least = thick + m->margin, deepest = mine->r + theirs->r;
    point_of(m->party[side]->soft, p, x);
    uint32_t last = tree->triangle_first[theirs->range.first + theirs->range.count];
    for (uint32_t k = tree->triangle_first[theirs->range.first]; k < last; k++) {
        const uint32_t *corner = tree->triangles[tree->triangle_at[k]];
        float v[3][3], e[2][3], to[3], n[3], part[3], c[3];
        for (int j = 0; j < 3; j++) point_of(s, corner[j], v[j]);
        for (int j = 0; j < 3; j++) e[0][j] = v[1][j] - v[0][j], e[1][j] = v[2][j] - v[0][j];
        for (int j = 0; j < 3; j++) to[j] = x[j] - v[0][j];
        cross(e[0], e[1], n);
        float area = dot(n, n);
        if (!(area > 1e-20f)) continue;
        float inverse = 1 / area, unit = sqrtf(inverse), height = dot(to, n) * unit;
        if (!(height <= least && height >= -deepest)) continue;
        cross(to, e[1], c), part[1] = dot(c, n) * inverse;
        cross(e[0], to, c), part[2] = dot(c, n) * inverse;
        part[0] = 1 - part[1] - part[2];
        bool inside = part[0] >= -0.05f && part[1] >= -0.05f && part[2] >= -0.05f;
        if (!inside) continue;
        for (int j = 0; j < 3; j++) n[j] *= unit;
        if (mine->faces && dot(mine->n, n) > 0.5f) continue;
        float point[3], sum = 0;
        for (int j = 0; j < 3; j++) part[j] = part[j] > 0 ? part[j] : 0, sum += part[j];
        for (int j = 0; j < 3; j++) {
            point[j] = x[j] - n[j] * height / 2;
            if (side == 0) n[j] = -n[j]; /* from a to b */
        }
        uint32_t point_id = p | SAC_SOFT_AT_POINT, id = tree->triangle_at[k] | SAC_SOFT_AT_TRIANGLE;
        sac_soft_contact *made = place_for(m, side, p, height);
        if (!made) continue;
        *made = (sac_soft_contact){.a = m->number[0],
                                   .b = m->number[1],
                                   .node_a = side ? id : point_id,
                                   .node_b = side ? point_id : id,
                                   .share = {part[0] / sum, part[1] / sum},
                                   .point = {point[0], point[1], point[2]},
                                   .normal = {n[0], n[1], n[2]},
                                   .depth = thick - height};
    }
}

static void meet_leaves(maker *m, patch *a, patch *b)
{
    bool known[2] = {m->party[0]->tree->triangle_count > 0, m->party[1]->tree->triangle_count > 0};
    if (!known[0] && !known[1]) {
        meet_patches(m, a, b);
        return;
    }
    for (int side = 0; side < 2; side++) {
        const patch *mine = side ? b : a, *theirs = side ? a : b;
        if (!known[!side]) continue;
        for (uint32_t i = mine->range.first; i < mine->range.first + mine->range.count; i++)
            meet_triangles(m, side, i, mine, theirs);
    }
}

/* ---- soft against rigid ---- */

static void add_rigid(maker *m, int side, uint32_t id, const float closest[3], const float outward[3],
                      float depth)
{
    float n[3];
    for (int k = 0; k < 3; k++) n[k] = side ? outward[k] : -outward[k];
    add(m, side ? 0 : id, side ? id : 0, closest, n, depth);
}

static void meet_form(maker *m, int side, const patch *p)
{
    const sac_soft_party *soft = m->party[side];
    float closest[3], outward[3], into[3], thick = soft->thickness;
    float d =
        sac_form_distance(m->form[!side], m->pose[!side], p->c, p->r + thick + m->margin, closest, outward);
    if (d == FLT_MAX) return;
    for (int k = 0; k < 3; k++) into[k] = -outward[k];
    float depth = reach_of(m, side, p, p->c, into) - d + thick;
    if (depth >= -m->margin) add_rigid(m, side, p->id, closest, outward, depth);
}

/* The nearest point of a triangle: by its region. */
static void nearest_in(const float v[3][3], const float x[3], float part[3])
{
    float ab[3], ac[3], ax[3], bx[3], cx[3];
    for (int k = 0; k < 3; k++) {
        ab[k] = v[1][k] - v[0][k], ac[k] = v[2][k] - v[0][k];
        ax[k] = x[k] - v[0][k], bx[k] = x[k] - v[1][k], cx[k] = x[k] - v[2][k];
    }
    float d1 = dot(ab, ax), d2 = dot(ac, ax), d3 = dot(ab, bx), d4 = dot(ac, bx), d5 = dot(ab, cx),
          d6 = dot(ac, cx);
    float va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    float t[3] = {0, 0, 0};
    if (d1 <= 0 && d2 <= 0) {
        t[0] = 1;
    } else if (d3 >= 0 && d4 <= d3) {
        t[1] = 1;
    } else if (d6 >= 0 && d5 <= d6) {
        t[2] = 1;
    } else if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        t[1] = d1 / (d1 - d3), t[0] = 1 - t[1];
    } else if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        t[2] = d2 / (d2 - d6), t[0] = 1 - t[2];
    } else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        t[2] = (d4 - d3) / ((d4 - d3) + (d5 - d6)), t[1] = 1 - t[2];
    } else {
        float sum = va + vb + vc;
        t[1] = vb / sum, t[2] = vc / sum, t[0] = 1 - t[1] - t[2];
    }
    memcpy(part, t, sizeof t);
}

/* Something small may rest between the points: the nearest place of a triangle, found by going to and fro
 * between it and the form. */
static void meet_between(maker *m, int side, const patch *p, float most)
{
    const sac_soft_party *soft = m->party[side];
    const sac_soft_tree *tree = soft->tree;
    uint32_t last = tree->triangle_first[p->range.first + p->range.count];
    for (uint32_t k = tree->triangle_first[p->range.first]; k < last; k++) {
        const uint32_t *corner = tree->triangles[tree->triangle_at[k]];
        float v[3][3], part[3] = {1.0f / 3, 1.0f / 3, 1.0f / 3}, closest[3], outward[3], x[3], d = FLT_MAX,
                       e[2][3], n[3];
        for (int j = 0; j < 3; j++) point_of(soft->soft, corner[j], v[j]);
        for (int j = 0; j < 3; j++) e[0][j] = v[1][j] - v[0][j], e[1][j] = v[2][j] - v[0][j];
        cross(e[0], e[1], n);
        if (!(dot(n, n) > 1e-20f)) continue;
        float size = sqrtf(dot(e[0], e[0]) > dot(e[1], e[1]) ? dot(e[0], e[0]) : dot(e[1], e[1]));
        for (int turn = 0; turn < 3; turn++) {
            for (int j = 0; j < 3; j++) x[j] = (part[0] * v[0][j] + part[1] * v[1][j]) + part[2] * v[2][j];
            d = sac_form_distance(m->form[!side], m->pose[!side], x, most + size, closest, outward);
            if (d == FLT_MAX || turn == 2) break;
            nearest_in((const float(*)[3])v, closest, part);
        }
        if (!(d <= most)) continue;
        /* Corners are points, and met as such: only what lies clearly deeper is news. */
        bool news = true;
        for (int j = 0; j < 3 && news; j++)
            news = sac_form_distance(m->form[!side], m->pose[!side], v[j], d + 0.1f * size, NULL, NULL) ==
                   FLT_MAX;
        if (!news) continue;
        add_rigid(m, side, tree->triangle_at[k] | SAC_SOFT_AT_TRIANGLE, closest, outward,
                  soft->thickness - d);
        if (m->count == m->room) return;
        m->out[m->count - 1].share[0] = part[0], m->out[m->count - 1].share[1] = part[1];
    }
}

static void meet_form_points(maker *m, int side, const patch *p)
{
    const sac_soft_party *soft = m->party[side];
    sac_form_kind kind = m->form[!side]->kind;
    bool small = soft->tree->triangle_count && kind != SAC_FORM_PLANE && kind != SAC_FORM_TERRAIN;
    float most = soft->thickness + m->margin;
    for (uint32_t q = p->range.first; q < p->range.first + p->range.count; q++) {
        float x[3], closest[3], outward[3];
        point_of(soft->soft, q, x);
        float d = sac_form_distance(m->form[!side], m->pose[!side], x, most, closest, outward);
        if (d != FLT_MAX && d <= most)
            add_rigid(m, side, q | SAC_SOFT_AT_POINT, closest, outward, soft->thickness - d);
    }
    if (small) meet_between(m, side, p, most);
}

static void meet_rigid(maker *m, int side, uint32_t id, bool leaf)
{
    uint32_t *seen = &m->seen[id % 64];
    if (*seen == id) return;
    *seen = id;
    const patch *p = patch_of(m, side, id);
    if (leaf && m->fine)
        meet_form_points(m, side, p);
    else
        meet_form(m, side, p);
}

uint32_t sac_soft_contacts(const sac_meeting *meeting, const sac_pairs *pending, const sac_pairs *done,
                           uint32_t a, uint32_t b, const sac_soft_party *parties, bool fine,
                           sac_soft_contact *out, uint32_t room)
{
    if (!meeting || !parties || !out) return 0;
    maker m; /* most of it stays as it is */
    m.kernels = sac_patch_kernels_active();
    m.party[0] = &parties[a], m.party[1] = &parties[b];
    m.number[0] = a, m.number[1] = b;
    m.form[0] = meeting->a, m.form[1] = meeting->b;
    m.pose[0] = meeting->pose_a, m.pose[1] = meeting->pose_b;
    fine = fine && !parties[a].skin && !parties[b].skin;
    m.fine = fine, m.margin = meeting->margin, m.thick = parties[a].thickness + parties[b].thickness;
    for (int k = 0; k < 3; k++) m.line[k] = meeting->b->ball[k] - meeting->a->ball[k];
    m.deepest = meeting->a->ball[3] + meeting->b->ball[3] - sqrtf(dot(m.line, m.line));
    for (int s = 0; s < 2; s++) /* balls are wider by what strays */
        if (m.party[s]->soft) m.deepest -= m.party[s]->soft->clusters[0].map.stray;
    m.deepest = m.deepest > 0 ? m.deepest : 0;
    if (!unit(m.line)) m.line[0] = m.line[1] = m.line[2] = 0;
    m.out = out, m.room = room, m.count = 0;
    for (int s = 0; s < 2; s++) memset(m.patches[s].id, 0xff, sizeof m.patches[s].id);
    if (!parties[a].soft || !parties[b].soft) memset(m.seen, 0xff, sizeof m.seen);
    if (fine) memset(m.nearest, 0xff, sizeof m.nearest);
    const bool soft[2] = {parties[a].soft != NULL, parties[b].soft != NULL};
    for (int list = 0; list < 2; list++) {
        const sac_pairs *pairs = list ? done : pending;
        for (uint32_t i = 0; pairs && i < pairs->count && m.count < room; i++) {
            uint32_t id[2] = {pairs->a[i], pairs->b[i]};
            bool final = list == 1 || !meeting->levels, leaf[2] = {final, final};
            for (int s = 0; s < 2; s++)
                if (soft[s] && !final) leaf[s] = id[s] & SAC_LINK_LEAF, id[s] = node_of(m.form[s], id[s]);
            if (soft[0] && soft[1]) {
                patch *p = patch_of(&m, 0, id[0]), *q = patch_of(&m, 1, id[1]);
                if (fine && leaf[0] && leaf[1])
                    meet_leaves(&m, p, q);
                else
                    meet_patches(&m, p, q);
            } else {
                int s = soft[0] ? 0 : 1;
                meet_rigid(&m, s, id[s], leaf[s]);
            }
        }
    }
    return m.count;
}
