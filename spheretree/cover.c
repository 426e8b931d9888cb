/* The pieces every level must hold: the surface cut until its pieces are small against the leaves' spheres,
 * and for solid trees the cells of the interior. Pieces are convex, so holding the corners is a proof. */
#include "spheretree/build_internal.h"

#include <math.h>

#include "base/map.h"

enum { MOST_CORNERS = 6 };

typedef struct place {
    double at[3];
} place;

/* A convex polygon. */
typedef struct polygon {
    uint32_t corner[MOST_CORNERS], count;
    uint32_t triangle, from; /* of the mesh; the piece it was cut out of */
} polygon;

typedef struct cutter {
    sac_array(place) points;
    sac_array(polygon) pieces;
    sac_map middles; /* of edges, so that neighbours share the new corner */
    double longest2; /* squares of lengths above this are cut */
} cutter;

static const double *at(const cutter *c, uint32_t point) { return c->points.data[point].at; }

static double length2(const cutter *c, uint32_t a, uint32_t b)
{
    const double *p = at(c, a), *q = at(c, b);
    double x = p[0] - q[0], y = p[1] - q[1], z = p[2] - q[2];
    return x * x + y * y + z * z;
}

/* The point between a and b, as part of the way from the lower index, so that its place does not depend on
 * who asks. */
static bool point_between(cutter *c, uint32_t a, uint32_t b, double share, uint32_t *out)
{
    if (a > b) {
        uint32_t t = a;
        a = b, b = t, share = 1 - share;
    }
    const double *p = at(c, a), *q = at(c, b);
    place between;
    for (int k = 0; k < 3; k++) between.at[k] = p[k] + share * (q[k] - p[k]);
    *out = (uint32_t)c->points.count;
    return sac_array_push(&c->points, between);
}

static bool middle_of(cutter *c, uint32_t a, uint32_t b, uint32_t *out)
{
    bool fresh;
    uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a; /* a != b, so never 0 */
    uint32_t *value = sac_map_at(&c->middles, key, &fresh);
    if (!value || (fresh && !point_between(c, a, b, 0.5, value))) return false;
    *out = *value;
    return true;
}

/* A polygon that is not a fat triangle is halved across its longest diagonal: slabs stay few corners each,
 * while halving the edges of a sliver would multiply it. */
static bool cut_across(cutter *c, const polygon *p)
{
    uint32_t a = 0, b = 1;
    double most = -1;
    for (uint32_t i = 0; i < p->count; i++)
        for (uint32_t j = i + 1; j < p->count; j++) {
            double d2 = length2(c, p->corner[i], p->corner[j]);
            if (d2 > most) most = d2, a = i, b = j;
        }
    if (most <= c->longest2) return sac_array_push(&c->pieces, *p);
    double along[3], from[3], side[MOST_CORNERS];
    for (int k = 0; k < 3; k++) {
        double x = at(c, p->corner[a])[k], y = at(c, p->corner[b])[k];
        along[k] = y - x, from[k] = 0.5 * (x + y);
    }
    for (uint32_t i = 0; i < p->count; i++) {
        const double *q = at(c, p->corner[i]);
        side[i] = (q[0] - from[0]) * along[0] + (q[1] - from[1]) * along[1] + (q[2] - from[2]) * along[2];
    }
    polygon halves[2] = {{.triangle = p->triangle, .from = p->from},
                         {.triangle = p->triangle, .from = p->from}};
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t next = (i + 1) % p->count, cut_point;
        polygon *own = &halves[side[i] > 0];
        if (own->count == MOST_CORNERS) return sac_array_push(&c->pieces, *p);
        own->corner[own->count++] = p->corner[i];
        if ((side[i] > 0) == (side[next] > 0)) continue;
        if (!point_between(c, p->corner[i], p->corner[next], side[i] / (side[i] - side[next]), &cut_point))
            return false;
        for (int h = 0; h < 2; h++) {
            if (halves[h].count == MOST_CORNERS) return sac_array_push(&c->pieces, *p);
            halves[h].corner[halves[h].count++] = cut_point;
        }
    }
    return cut_across(c, &halves[0]) && cut_across(c, &halves[1]);
}

/* A triangle's longest edge is halved until none is too long. Both neighbours cut an edge at the same place.
 */
static bool cut(cutter *c, const polygon *p)
{
    if (p->count > 3) return cut_across(c, p);
    uint32_t first = 0;
    double edge[3], perimeter2 = 0;
    for (uint32_t i = 0; i < 3; i++) {
        edge[i] = length2(c, p->corner[i], p->corner[(i + 1) % 3]);
        if (edge[i] > edge[first]) first = i;
        perimeter2 += edge[i];
    }
    if (edge[first] <= c->longest2) return sac_array_push(&c->pieces, *p);
    /* 16 area^2 by Heron, in squares; the height over the longest edge is 2 area / edge. */
    double area16 = perimeter2 * perimeter2 - 2 * (edge[0] * edge[0] + edge[1] * edge[1] + edge[2] * edge[2]);
    if (area16 < 0.5 * c->longest2 * edge[first]) return cut_across(c, p);
    uint32_t a = p->corner[first], b = p->corner[(first + 1) % 3], d = p->corner[(first + 2) % 3], m;
    if (!middle_of(c, a, b, &m)) return false;
    polygon one = *p, other = *p;
    one.corner[0] = a, one.corner[1] = m, one.corner[2] = d;
    other.corner[0] = m, other.corner[1] = b, other.corner[2] = d;
    return cut(c, &one) && cut(c, &other);
}

static bool cut_mesh(cutter *c, const sac_mesh *mesh)
{
    if (!sac_array_reserve(&c->points, mesh->vertex_count)) return false;
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        for (int k = 0; k < 3; k++) c->points.data[v].at[k] = mesh->vertices[v][k];
    c->points.count = mesh->vertex_count;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        polygon p = {.count = 3, .triangle = t};
        memcpy(p.corner, mesh->triangles[t], sizeof mesh->triangles[t]);
        if (!cut(c, &p)) return false;
    }
    return true;
}

/* Points of the surface come first in a cover, so the cells' corners can be set aside. */
static bool cut_cover(cutter *c, const sac_cover *cover, const bool *only)
{
    uint32_t points = cover->point_count - cover->cell_corner_count;
    if (!sac_array_reserve(&c->points, points)) return false;
    memcpy(c->points.data, cover->points, points * sizeof *cover->points);
    c->points.count = points;
    for (uint32_t i = 0; i < cover->surface_count; i++) {
        uint32_t first = cover->first_corner[i];
        polygon p = {.count = cover->first_corner[i + 1] - first, .triangle = cover->triangles[i], .from = i};
        memcpy(p.corner, &cover->corners[first], p.count * sizeof *p.corner);
        if (!(only && !only[i] ? sac_array_push(&c->pieces, p) : cut(c, &p))) return false;
    }
    return true;
}

static void describe_piece(sac_cover *cover, uint32_t i)
{
    const uint32_t *corner = &cover->corners[cover->first_corner[i]];
    uint32_t count = cover->first_corner[i + 1] - cover->first_corner[i];
    double middle[3] = {0}, n[3] = {0};
    for (uint32_t j = 0; j < count; j++)
        for (int k = 0; k < 3; k++) middle[k] += cover->points[corner[j]][k] / count;
    memcpy(cover->middles[i], middle, sizeof middle);
    if (i >= cover->surface_count) return;
    const double *a = cover->points[corner[0]];
    for (uint32_t j = 2; j < count; j++) {
        const double *b = cover->points[corner[j - 1]], *c = cover->points[corner[j]];
        double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
        n[0] += u[1] * v[2] - u[2] * v[1], n[1] += u[2] * v[0] - u[0] * v[2],
            n[2] += u[0] * v[1] - u[1] * v[0];
    }
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    cover->areas[i] = (float)(0.5 * length);
    for (int k = 0; k < 3; k++) cover->normals[i][k] = length > 0 ? (float)(n[k] / length) : 0.0f;
}

void sac_cover_fini(sac_cover *cover)
{
    sac_free(cover->points, cover->point_count, sizeof *cover->points);
    sac_free(cover->corners, cover->corner_count, sizeof *cover->corners);
    sac_free(cover->first_corner, cover->piece_count + 1, sizeof *cover->first_corner);
    sac_free(cover->middles, cover->piece_count, sizeof *cover->middles);
    sac_free(cover->normals, cover->surface_count, sizeof *cover->normals);
    sac_free(cover->areas, cover->surface_count, sizeof *cover->areas);
    sac_free(cover->triangles, cover->surface_count, sizeof *cover->triangles);
    *cover = (sac_cover){0};
}

static bool fill_cover(const cutter *c, const sac_cells *cells, sac_cover *cover)
{
    cover->cell_corner_count = cells->corner_count;
    cover->surface_count = (uint32_t)c->pieces.count;
    cover->piece_count = cover->surface_count + cells->count;
    cover->point_count = (uint32_t)c->points.count + cells->corner_count;
    cover->corner_count = cells->count * 8;
    for (size_t i = 0; i < c->pieces.count; i++) cover->corner_count += c->pieces.data[i].count;
    cover->points = sac_alloc(cover->point_count, sizeof *cover->points);
    cover->corners = sac_alloc(cover->corner_count, sizeof *cover->corners);
    cover->first_corner = sac_alloc(cover->piece_count + 1, sizeof *cover->first_corner);
    cover->middles = sac_alloc(cover->piece_count, sizeof *cover->middles);
    cover->normals = sac_alloc(cover->surface_count, sizeof *cover->normals);
    cover->areas = sac_alloc(cover->surface_count, sizeof *cover->areas);
    cover->triangles = sac_alloc(cover->surface_count, sizeof *cover->triangles);
    if (!cover->points || !cover->corners || !cover->first_corner || !cover->middles || !cover->normals ||
        !cover->areas || !cover->triangles)
        return false;
    memcpy(cover->points, c->points.data, c->points.count * sizeof *cover->points);
    if (cells->count)
        memcpy(cover->points + c->points.count, cells->corners, cells->corner_count * sizeof *cover->points);
    uint32_t next = 0;
    for (uint32_t i = 0; i < cover->piece_count; i++) {
        cover->first_corner[i] = next;
        if (i < cover->surface_count) {
            for (uint32_t k = 0; k < c->pieces.data[i].count; k++)
                cover->corners[next++] = c->pieces.data[i].corner[k];
            cover->triangles[i] = c->pieces.data[i].triangle;
        } else {
            for (int k = 0; k < 8; k++)
                cover->corners[next++] =
                    (uint32_t)c->points.count + cells->cells[i - cover->surface_count][k];
        }
    }
    cover->first_corner[cover->piece_count] = next;
    for (uint32_t i = 0; i < cover->piece_count; i++) describe_piece(cover, i);
    return true;
}

static void cutter_fini(cutter *c)
{
    sac_array_fini(&c->points);
    sac_array_fini(&c->pieces);
    sac_map_fini(&c->middles);
}

sac_result sac_cover_init(sac_cover *cover, const sac_mesh *mesh, double piece_size, const sac_cells *cells,
                          sac_error *error)
{
    *cover = (sac_cover){0};
    cutter c = {.longest2 = piece_size * piece_size};
    bool done = cut_mesh(&c, mesh) && fill_cover(&c, cells, cover);
    cutter_fini(&c);
    if (done) return SAC_OK;
    sac_cover_fini(cover);
    return sac_error_set(error, SAC_ERROR_MEMORY, "use a smaller mesh or fewer levels",
                         "no memory for the cover");
}

bool sac_cover_refine(sac_cover *cover, double piece_size, const bool *only, const sac_cells *cells,
                      uint32_t **out_from)
{
    cutter c = {.longest2 = piece_size * piece_size};
    sac_cover finer = {0};
    bool done = cut_cover(&c, cover, only) && fill_cover(&c, cells, &finer);
    uint32_t *from = done ? sac_alloc(finer.piece_count, sizeof *from) : NULL;
    if (from) {
        for (uint32_t p = 0; p < finer.piece_count; p++)
            from[p] = p < finer.surface_count ? c.pieces.data[p].from
                                              : p - finer.surface_count + cover->surface_count;
        sac_cover_fini(cover);
        *cover = finer;
    } else {
        sac_cover_fini(&finer);
    }
    cutter_fini(&c);
    *out_from = from;
    return from != NULL;
}
