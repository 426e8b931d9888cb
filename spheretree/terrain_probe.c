/* What a ball touches. The closest point of a triangle on its edge counts only where no neighbour is nearer,
 * so a ball that rolls over a flat mesh never feels an edge; touches that point the same way are one. */
#include "spheretree/terrain_internal.h"

#include "spheretree/vector_internal.h"

#define SAME_WAY 0.98480775f /* cosine of ten degrees */
#define CANDIDATES 12u

int sac_triangle_closest(const float (*c)[3], const float p[3], float out[3])
{
    float ab[3], ac[3], ap[3], bp[3], cp[3], bc[3];
    sac_v3_sub(c[1], c[0], ab);
    sac_v3_sub(c[2], c[0], ac);
    sac_v3_sub(p, c[0], ap);
    float d1 = sac_v3_dot(ab, ap), d2 = sac_v3_dot(ac, ap);
    if (d1 <= 0 && d2 <= 0) {
        sac_v3_copy(c[0], out);
        return 4;
    }
    sac_v3_sub(p, c[1], bp);
    float d3 = sac_v3_dot(ab, bp), d4 = sac_v3_dot(ac, bp);
    if (d3 >= 0 && d4 <= d3) {
        sac_v3_copy(c[1], out);
        return 5;
    }
    float vc = d1 * d4 - d3 * d2;
    if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        sac_v3_along(c[0], d1 / (d1 - d3), ab, out);
        return 1;
    }
    sac_v3_sub(p, c[2], cp);
    float d5 = sac_v3_dot(ab, cp), d6 = sac_v3_dot(ac, cp);
    if (d6 >= 0 && d5 <= d6) {
        sac_v3_copy(c[2], out);
        return 6;
    }
    float vb = d5 * d2 - d1 * d6;
    if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        sac_v3_along(c[0], d2 / (d2 - d6), ac, out);
        return 3;
    }
    float va = d3 * d6 - d5 * d4;
    if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        sac_v3_sub(c[2], c[1], bc);
        sac_v3_along(c[1], (d4 - d3) / ((d4 - d3) + (d5 - d6)), bc, out);
        return 2;
    }
    float sum = 1.0f / (va + vb + vc);
    for (int i = 0; i < 3; i++) out[i] = c[0][i] + ab[i] * (vb * sum) + ac[i] * (vc * sum);
    return 0;
}

float sac_terrain_below(const sac_terrain *t, float radius)
{
    return t->posts ? FLT_MAX : radius + t->thickness;
}

/* Edge k of a facet with its neighbour, as seen from a point whose offset from the edge is v. */
typedef enum crossing {
    CROSS_RIM,  /* no neighbour */
    CROSS_FLAT, /* within ten degrees */
    CROSS_RIDGE,
    CROSS_VALLEY
} crossing;

/* *out_theirs: the point lies over the neighbour, not over the edge. */
static crossing cross_edge(const sac_facet *f, int k, const float v[3], bool *out_theirs)
{
    *out_theirs = false;
    if (f->rim[k]) return CROSS_RIM;
    float edge[3], out[3], in[3];
    sac_v3_sub(f->corner[(k + 1) % 3], f->corner[k], edge);
    sac_v3_cross(edge, f->across[k], in); /* in the neighbour's plane, out of this facet */
    *out_theirs = sac_v3_dot(v, in) > 0;
    if (sac_v3_dot(f->normal, f->across[k]) > SAME_WAY) return CROSS_FLAT;
    sac_v3_cross(edge, f->normal, out);
    return sac_v3_dot(f->across[k], out) > 0 ? CROSS_RIDGE : CROSS_VALLEY;
}

bool sac_facet_sharp(const sac_facet *f, int k)
{
    bool theirs;
    crossing c = cross_edge(f, k, (float[3]){0, 0, 0}, &theirs);
    return c == CROSS_RIM || c == CROSS_RIDGE;
}

/* A closest point on an edge or corner, `v` off the centre: does it count, and which way does it push?
 * touch->normal and distance are those of the plane before. */
static bool edge_touch(const sac_facet *f, int place, const float v[3], float distance, bool known,
                       sac_terrain_touch *out)
{
    /* The edges that meet where the closest point is. */
    int edges[2] = {place <= 3 ? place - 1 : place - 4, place <= 3 ? place - 1 : (place - 4 + 2) % 3};
    bool flat = true, valley = false, theirs = false, rim = false;
    for (int i = 0; i < (place <= 3 ? 1 : 2); i++) {
        bool over;
        crossing c = cross_edge(f, edges[i], v, &over);
        flat &= c == CROSS_FLAT;
        valley |= c == CROSS_VALLEY;
        rim |= c == CROSS_RIM;
        theirs |= over && c != CROSS_RIM;
    }
    if (out->distance < 0) {
        /* Below and beside. Where the ground turns up it is below both sides; a wedge under the edge that no
         * neighbour claims belongs to it. */
        return valley || (!theirs && !rim) || (known && flat);
    }
    if (theirs) {
        /* A neighbour is nearer. When nobody will ask it, the plane goes on over flat edges. */
        return known && flat;
    }
    out->distance = distance;
    if (!flat && (!valley || rim) && distance > 1e-12f)
        for (int i = 0; i < 3; i++) out->normal[i] = v[i] / distance;
    return true;
}

/* The plane, and the closest point. 0: interior, a touch already; 1 to 6 as sac_triangle_closest, with the
 * offset and its length; -1: too far. */
static int plane_touch(const float (*corner)[3], const float normal[3], const float centre[3], float radius,
                       float below, float v[3], float *distance, sac_terrain_touch *out)
{
    float from[3];
    sac_v3_sub(centre, corner[0], from);
    float height = sac_v3_dot(normal, from);
    if (!(height <= radius && height >= -below)) return -1;
    int place = sac_triangle_closest(corner, centre, out->closest);
    sac_v3_copy(normal, out->normal);
    out->distance = height;
    if (place == 0) return 0;
    sac_v3_sub(centre, out->closest, v);
    *distance = sac_v3_length(v);
    return *distance <= (height < 0 ? below : radius) ? place : -1;
}

bool sac_facet_touch(const sac_facet *f, const float centre[3], float radius, float below, bool known,
                     sac_terrain_touch *out)
{
    float v[3], distance;
    int place =
        plane_touch((const float(*)[3])f->corner, f->normal, centre, radius, below, v, &distance, out);
    return place == 0 || (place > 0 && edge_touch(f, place, v, distance, known, out));
}

/* ---- probing ---- */

typedef struct probe {
    const sac_terrain *terrain;
    const float *centre;
    float radius, below, reach; /* reach: nothing beyond is of interest any more */
    uint32_t wanted, count;
    sac_terrain_touch touches[CANDIDATES];
} probe;

/* One way, one touch: the nearest. */
static void add_touch(probe *p, const sac_terrain_touch *touch)
{
    uint32_t worst = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        if (sac_v3_dot(p->touches[i].normal, touch->normal) > SAME_WAY) {
            if (fabsf(touch->distance) < fabsf(p->touches[i].distance)) p->touches[i] = *touch;
            return;
        }
        if (fabsf(p->touches[i].distance) > fabsf(p->touches[worst].distance)) worst = i;
    }
    if (p->count < CANDIDATES)
        p->touches[p->count++] = *touch;
    else if (fabsf(touch->distance) < fabsf(p->touches[worst].distance))
        p->touches[worst] = *touch;
}

static void probe_triangle(uint32_t feature, const float (*corner)[3], const float normal[3], void *user)
{
    probe *p = user;
    sac_terrain_touch touch;
    float v[3], distance;
    /* Neighbours are looked up only where an edge is in reach. */
    int place = plane_touch(corner, normal, p->centre, sac_least(p->radius, p->reach),
                            sac_least(p->below, p->reach), v, &distance, &touch);
    if (place < 0) return;
    if (place > 0) {
        sac_facet facet;
        sac_terrain_facet(p->terrain, feature, &facet);
        if (!edge_touch(&facet, place, v, distance, false, &touch)) return;
    }
    touch.feature = feature;
    add_touch(p, &touch);
    if (p->wanted == 1 && fabsf(touch.distance) < p->reach) p->reach = fabsf(touch.distance);
}

/* The half cell straight above or below a point; false beside the grid. */
static bool column_of(const sac_terrain *t, const float point[3], sac_terrain_touch *out)
{
    float x = (point[0] - t->corner[0]) / t->spacing, z = (point[2] - t->corner[1]) / t->spacing;
    if (!(x >= 0 && z >= 0 && x <= (float)(t->columns - 1) && z <= (float)(t->rows - 1))) return false;
    uint32_t i = (uint32_t)x, j = (uint32_t)z;
    if (i > t->columns - 2) i = t->columns - 2;
    if (j > t->rows - 2) j = t->rows - 2;
    out->feature = (j * (t->columns - 1) + i) * 2 + ((x - (float)i) + (z - (float)j) > 1);
    float corner[3][3], from[3];
    sac_terrain_half_cell(t, out->feature, corner, out->normal);
    sac_v3_sub(point, corner[0], from);
    out->distance = sac_v3_dot(out->normal, from);
    return true;
}

/* Solid below: whatever lies straight above the centre pushes it up, from any depth. */
static void probe_column(probe *p, uint64_t *tests)
{
    sac_terrain_touch touch;
    *tests += 1;
    if (!column_of(p->terrain, p->centre, &touch) || !(touch.distance < 0)) return;
    sac_v3_along(p->centre, -touch.distance, touch.normal, touch.closest);
    add_touch(p, &touch);
}

/* Of two that oppose each other the farther one, seen from behind, is the far side of something thin. */
static bool far_side(const probe *p, const sac_terrain_touch *touch)
{
    for (uint32_t k = 0; k < p->count && touch->distance < 0; k++)
        if (sac_v3_dot(touch->normal, p->touches[k].normal) < -0.5f &&
            fabsf(p->touches[k].distance) < fabsf(touch->distance))
            return true;
    return false;
}

/* The nearest ones that all point different ways, then the deepest of them first. */
static uint32_t choose(probe *p, sac_terrain_touch *out, uint32_t capacity)
{
    uint32_t kept = 0;
    for (uint32_t i = 1; i < p->count; i++) {
        sac_terrain_touch touch = p->touches[i];
        uint32_t at = i;
        for (; at > 0 && fabsf(touch.distance) < fabsf(p->touches[at - 1].distance); at--)
            p->touches[at] = p->touches[at - 1];
        p->touches[at] = touch;
    }
    for (uint32_t i = 0; i < p->count && kept < capacity; i++) {
        const sac_terrain_touch *touch = &p->touches[i];
        bool same = false;
        for (uint32_t k = 0; k < kept; k++) same |= sac_v3_dot(out[k].normal, touch->normal) > SAME_WAY;
        if (same || far_side(p, touch)) continue;
        uint32_t at = kept++;
        for (; at > 0 && touch->distance < out[at - 1].distance; at--) out[at] = out[at - 1];
        out[at] = *touch;
    }
    return kept;
}

uint32_t sac_terrain_probe(const sac_terrain *t, const float centre[3], float radius, sac_terrain_touch *out,
                           uint32_t capacity, uint64_t *out_tests)
{
    probe p; /* not zeroed: the touches are many */
    p.terrain = t;
    p.centre = centre;
    p.radius = radius;
    p.wanted = capacity;
    p.count = 0;
    p.below = t->posts ? radius : sac_terrain_below(t, radius);
    p.reach = sac_most(radius, p.below);
    if (capacity == 0) return 0;
    if (t->posts) {
        probe_column(&p, out_tests);
        if (p.count && capacity == 1) p.reach = sac_least(p.reach, fabsf(p.touches[0].distance));
    }
    *out_tests += 1 + sac_terrain_walk(t, NULL, centre, &p.reach, probe_triangle, &p);

    return choose(&p, out, capacity);
}

/* ---- meeting at all ---- */

typedef struct meets {
    const float *centre;
    float reach; /* 0 once one is found: nothing else matters */
    bool found;
} meets;

static void meet_triangle(uint32_t feature, const float (*corner)[3], const float normal[3], void *user)
{
    (void)feature;
    meets *m = user;
    float q[3], v[3];
    if (m->found) return;
    sac_v3_sub(m->centre, corner[0], v);
    float height = sac_v3_dot(normal, v);
    if (!(height <= m->reach && height >= -m->reach)) return;
    sac_triangle_closest(corner, m->centre, q);
    sac_v3_sub(m->centre, q, v);
    if (!(sac_v3_dot(v, v) <= m->reach * m->reach)) return;
    m->found = true;
    m->reach = 0;
}

bool sac_terrain_meets(const sac_terrain *t, const float centre[3], float radius, uint64_t *out_tests)
{
    sac_terrain_touch column;
    *out_tests += 1;
    /* The ground straight below is a point of it: near enough, or above the centre, and no more is needed. */
    if (t->posts && column_of(t, centre, &column) && column.distance / column.normal[1] <= radius)
        return true;
    meets m = {.centre = centre, .reach = t->posts ? radius : sac_terrain_below(t, radius)};
    *out_tests += sac_terrain_walk(t, NULL, centre, &m.reach, meet_triangle, &m);
    return m.found;
}

/* ---- nearest ---- */

typedef struct nearest {
    const sac_terrain *terrain;
    const float *point;
    float reach, closest[3], normal[3], side;
    bool found;
} nearest;

static void nearest_triangle(uint32_t feature, const float (*corner)[3], const float normal[3], void *user)
{
    (void)feature;
    nearest *s = user;
    float q[3], v[3];
    int place = sac_triangle_closest(corner, s->point, q);
    sac_v3_sub(s->point, q, v);
    float distance = sac_v3_length(v), side = sac_v3_dot(normal, v);
    if (!(distance <= s->reach)) return;
    /* At a shared edge the triangle that faces the point most squarely knows which side it is on. */
    if (s->found && distance == s->reach && fabsf(side) <= fabsf(s->side)) return;
    s->found = true;
    s->reach = distance;
    s->side = side;
    sac_v3_copy(q, s->closest);
    sac_v3_copy(normal, s->normal);
    if (place == 0 || !(distance > 1e-12f)) return;
    for (int i = 0; i < 3; i++) s->normal[i] = side < 0 ? -v[i] / distance : v[i] / distance;
}

float sac_terrain_nearest(const sac_terrain *t, const float point[3], float most, float out_closest[3],
                          float out_normal[3])
{
    nearest s = {.terrain = t, .point = point, .reach = most};
    /* Below heights it is inside, however deep: no farther than straight up. */
    sac_terrain_touch column;
    bool below = t->posts && column_of(t, point, &column) && column.distance < 0;
    if (below) s.reach = sac_most(most, -column.distance / column.normal[1] * 1.00001f);
    sac_terrain_walk(t, NULL, point, &s.reach, nearest_triangle, &s);
    if (!s.found) return FLT_MAX;
    sac_v3_copy(s.closest, out_closest);
    sac_v3_copy(s.normal, out_normal);
    if (!t->posts || below == (s.side < 0)) return s.side < 0 ? -s.reach : s.reach;
    /* At a corner or beside the rim a single triangle does not know which side it is on; the column does. */
    for (int i = 0; i < 3; i++) out_normal[i] = -out_normal[i];
    return below ? -s.reach : s.reach;
}
