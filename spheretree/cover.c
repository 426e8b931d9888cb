/* The pieces every level must hold: surface triangles cut until they are small against the leaves' spheres,
 * and for solid trees the cells of the interior. Pieces are convex, so holding the corners is a proof. */
#include "spheretree/build_internal.h"

#include <math.h>

/* Corners made on edges, found again by the neighbour through a hash of the edge's ends. */
typedef struct midpoints {
    uint64_t *keys; /* low end << 32 | high end, 0: free */
    uint32_t *values;
    size_t size; /* power of two */
    size_t used;
} midpoints;

typedef struct place {
    double at[3];
} place;

typedef struct cut_piece {
    uint32_t corner[3], triangle, from; /* from: the piece it was cut out of */
} cut_piece;

typedef struct cutter {
    sac_array(place) points;
    sac_array(cut_piece) pieces;
    midpoints mids;
    double longest2; /* squares of edge lengths above this are cut */
    uint32_t from;
} cutter;

static size_t slot_of(const midpoints *m, uint64_t key)
{
    uint64_t hash = key * 0x9e3779b97f4a7c15u;
    size_t slot = (size_t)(hash >> 20) & (m->size - 1);
    while (m->keys[slot] && m->keys[slot] != key) slot = (slot + 1) & (m->size - 1);
    return slot;
}

static bool mids_grow(midpoints *m)
{
    midpoints bigger = {.size = m->size ? m->size * 2 : 4096};
    bigger.keys = sac_alloc_zero(bigger.size, sizeof *bigger.keys);
    bigger.values = sac_alloc(bigger.size, sizeof *bigger.values);
    if (!bigger.keys || !bigger.values) {
        sac_free(bigger.keys, bigger.size, sizeof *bigger.keys);
        sac_free(bigger.values, bigger.size, sizeof *bigger.values);
        return false;
    }
    for (size_t i = 0; i < m->size; i++)
        if (m->keys[i]) {
            size_t slot = slot_of(&bigger, m->keys[i]);
            bigger.keys[slot] = m->keys[i];
            bigger.values[slot] = m->values[i];
        }
    bigger.used = m->used;
    sac_free(m->keys, m->size, sizeof *m->keys);
    sac_free(m->values, m->size, sizeof *m->values);
    *m = bigger;
    return true;
}

static bool middle_of(cutter *c, uint32_t a, uint32_t b, uint32_t *out)
{
    if ((c->mids.used + 1) * 3 > c->mids.size * 2 && !mids_grow(&c->mids)) return false;
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    uint64_t key = (uint64_t)low << 32 | high; /* high > 0, so never 0 */
    size_t slot = slot_of(&c->mids, key);
    if (!c->mids.keys[slot]) {
        const double *p = c->points.data[low].at, *q = c->points.data[high].at;
        place between = {{0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1]), 0.5 * (p[2] + q[2])}};
        if (!sac_array_push(&c->points, between)) return false;
        c->mids.keys[slot] = key;
        c->mids.values[slot] = (uint32_t)c->points.count - 1;
        c->mids.used++;
    }
    *out = c->mids.values[slot];
    return true;
}

static double edge2(const cutter *c, uint32_t a, uint32_t b)
{
    const double *p = c->points.data[a].at, *q = c->points.data[b].at;
    double x = p[0] - q[0], y = p[1] - q[1], z = p[2] - q[2];
    return x * x + y * y + z * z;
}

static bool keep(cutter *c, uint32_t a, uint32_t b, uint32_t d, uint32_t triangle)
{
    return sac_array_push(&c->pieces, (cut_piece){{a, b, d}, triangle, c->from});
}

/* Halve the longest edge until none is too long. Both neighbours cut an edge at the same place, so they share
 * the new corner. */
static bool cut(cutter *c, uint32_t a, uint32_t b, uint32_t d, uint32_t triangle, int depth)
{
    double ab = edge2(c, a, b), bd = edge2(c, b, d), da = edge2(c, d, a);
    double longest = fmax(ab, fmax(bd, da));
    if (longest <= c->longest2 || depth > 40) {
        return keep(c, a, b, d, triangle);
    }
    /* Turn the triangle so that ab is the edge to cut. */
    if (bd == longest && bd > ab) {
        uint32_t t = a;
        a = b, b = d, d = t;
    } else if (da == longest && da > ab) {
        uint32_t t = a;
        a = d, d = b, b = t;
    }
    uint32_t m;
    return middle_of(c, a, b, &m) && cut(c, a, m, d, triangle, depth + 1) &&
           cut(c, m, b, d, triangle, depth + 1);
}

static bool cut_mesh(cutter *c, const sac_mesh *mesh)
{
    if (!sac_array_reserve(&c->points, mesh->vertex_count)) return false;
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        for (int k = 0; k < 3; k++) c->points.data[v].at[k] = mesh->vertices[v][k];
    c->points.count = mesh->vertex_count;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        const uint32_t *i = mesh->triangles[t];
        if (!cut(c, i[0], i[1], i[2], t, 0)) return false;
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
    for (uint32_t p = 0; p < cover->surface_count; p++) {
        const uint32_t *i = &cover->corners[cover->first_corner[p]];
        c->from = p;
        if (!(only && !only[p] ? keep(c, i[0], i[1], i[2], cover->triangles[p])
                               : cut(c, i[0], i[1], i[2], cover->triangles[p], 0)))
            return false;
    }
    return true;
}

static void describe_piece(sac_cover *cover, uint32_t i)
{
    const uint32_t *corner = &cover->corners[cover->first_corner[i]];
    uint32_t count = cover->first_corner[i + 1] - cover->first_corner[i];
    double middle[3] = {0};
    for (uint32_t j = 0; j < count; j++)
        for (int k = 0; k < 3; k++) middle[k] += cover->points[corner[j]][k] / count;
    memcpy(cover->middles[i], middle, sizeof middle);
    if (i >= cover->surface_count) return;
    const double *a = cover->points[corner[0]], *b = cover->points[corner[1]], *c = cover->points[corner[2]];
    double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
    double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
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
    cover->corner_count = cover->surface_count * 3 + cells->count * 8;
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
            for (int k = 0; k < 3; k++) cover->corners[next++] = c->pieces.data[i].corner[k];
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
    sac_free(c->mids.keys, c->mids.size, sizeof *c->mids.keys);
    sac_free(c->mids.values, c->mids.size, sizeof *c->mids.values);
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
