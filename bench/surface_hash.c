/* Spatial hashing of triangles. */
#include "bench/surface_hash.h"

#include <float.h>
#include <math.h>

#include "base/memory.h"

enum { MOST_BODIES = 8 };

typedef struct entry {
    int32_t cell[3];
    uint32_t body, triangle;
} entry;

struct sac_surface_hash {
    uint32_t count, buckets, *first; /* of each bucket and the end */
    float cell;
    sac_array(entry) found;
    entry *sorted;
    size_t room; /* of sorted */
    sac_meshless_view views[MOST_BODIES];
};

sac_result sac_surface_hash_create(uint32_t count, uint32_t triangles, float cell,
                                   sac_surface_hash **out_hash, sac_error *error)
{
    *out_hash = NULL;
    sac_surface_hash *h = sac_alloc_zero(1, sizeof *h);
    if (h) {
        h->count = count, h->cell = cell;
        for (h->buckets = 1024; h->buckets < triangles; h->buckets *= 2) continue;
        h->first = sac_alloc((size_t)h->buckets + 1, sizeof *h->first);
    }
    *out_hash = h;
    if (h && h->first) return SAC_OK;
    sac_surface_hash_destroy(out_hash);
    return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a hash of %u triangles", triangles);
}

void sac_surface_hash_destroy(sac_surface_hash **hash)
{
    sac_surface_hash *h = *hash;
    if (!h) return;
    sac_free(h->first, (size_t)h->buckets + 1, sizeof *h->first);
    sac_free(h->sorted, h->room, sizeof *h->sorted);
    sac_array_fini(&h->found);
    sac_free(h, 1, sizeof *h);
    *hash = NULL;
}

static uint32_t bucket_of(const sac_surface_hash *h, const int32_t c[3])
{
    return ((uint32_t)c[0] * 73856093u ^ (uint32_t)c[1] * 19349663u ^ (uint32_t)c[2] * 83492791u) &
           (h->buckets - 1);
}

static void box_of(const sac_meshless_view *v, uint32_t triangle, float low[3], float high[3])
{
    const float *p = v->now[v->corner[triangle][0]], *q = v->now[v->corner[triangle][1]],
                *r = v->now[v->corner[triangle][2]];
    for (int k = 0; k < 3; k++) {
        float a = p[k] < q[k] ? p[k] : q[k], b = p[k] > q[k] ? p[k] : q[k];
        low[k] = a < r[k] ? a : r[k], high[k] = b > r[k] ? b : r[k];
    }
}

static bool apart(const float low_a[3], const float high_a[3], const float low_b[3], const float high_b[3])
{
    for (int k = 0; k < 3; k++)
        if (high_a[k] < low_b[k] || high_b[k] < low_a[k]) return true;
    return false;
}

/* Triangles inside the box of a neighbour, once for each cell they overlap. */
static bool load(sac_surface_hash *h)
{
    sac_box boxes[MOST_BODIES];
    for (uint32_t i = 0; i < h->count; i++) {
        boxes[i] = sac_box_empty();
        for (uint32_t v = 0; v < h->views[i].vertex_count; v++) sac_box_add(&boxes[i], h->views[i].now[v]);
    }
    h->found.count = 0;
    for (uint32_t i = 0; i < h->count; i++) {
        const sac_box *next = &boxes[(i + 1) % h->count], *last = &boxes[(i + h->count - 1) % h->count];
        for (uint32_t t = 0; t < h->views[i].triangle_count; t++) {
            float low[3], high[3];
            int32_t from[3], to[3];
            box_of(&h->views[i], t, low, high);
            if (apart(low, high, next->low, next->high) && apart(low, high, last->low, last->high)) continue;
            for (int k = 0; k < 3; k++)
                from[k] = (int32_t)floorf(low[k] / h->cell), to[k] = (int32_t)floorf(high[k] / h->cell);
            for (int32_t x = from[0]; x <= to[0]; x++)
                for (int32_t y = from[1]; y <= to[1]; y++)
                    for (int32_t z = from[2]; z <= to[2]; z++)
                        if (!sac_array_push(&h->found, ((entry){{x, y, z}, i, t}))) return false;
        }
    }
    return true;
}

static bool sort(sac_surface_hash *h)
{
    if (h->found.count > h->room) {
        sac_free(h->sorted, h->room, sizeof *h->sorted);
        h->room = h->found.count * 2;
        h->sorted = sac_alloc(h->room, sizeof *h->sorted);
        if (!h->sorted) {
            h->room = 0;
            return false;
        }
    }
    memset(h->first, 0, (h->buckets + (size_t)1) * sizeof *h->first);
    for (size_t i = 0; i < h->found.count; i++) h->first[bucket_of(h, h->found.data[i].cell) + 1]++;
    for (uint32_t b = 0; b < h->buckets; b++) h->first[b + 1] += h->first[b];
    for (size_t i = h->found.count; i-- > 0;) /* from the end: first[b + 1] goes down to where b + 1 begins */
        h->sorted[--h->first[bucket_of(h, h->found.data[i].cell) + 1]] = h->found.data[i];
    return true;
}

/* Two triangles are tried in the one cell that has the low corner of what their boxes share. */
static bool crosses(const sac_surface_hash *h, const entry *a, const entry *b)
{
    float low[2][3], high[2][3], p[3][3], q[3][3];
    const sac_meshless_view *va = &h->views[a->body], *vb = &h->views[b->body];
    box_of(va, a->triangle, low[0], high[0]), box_of(vb, b->triangle, low[1], high[1]);
    if (apart(low[0], high[0], low[1], high[1])) return false;
    for (int k = 0; k < 3; k++)
        if ((int32_t)floorf((low[0][k] > low[1][k] ? low[0][k] : low[1][k]) / h->cell) != a->cell[k])
            return false;
    for (int c = 0; c < 3; c++) {
        memcpy(p[c], va->now[va->corner[a->triangle][c]], sizeof p[c]);
        memcpy(q[c], vb->now[vb->corner[b->triangle][c]], sizeof q[c]);
    }
    return sac_triangles_cross((const float(*)[3])p, (const float(*)[3])q);
}

uint32_t sac_surface_hash_meet(sac_surface_hash *h, sac_meshless *const *bodies)
{
    uint32_t crossings = 0;
    for (uint32_t i = 0; i < h->count; i++) h->views[i] = sac_meshless_view_of(bodies[i]);
    if (!load(h) || !sort(h)) return UINT32_MAX;
    for (uint32_t b = 0; b < h->buckets; b++) {
        uint32_t begin = h->first[b + 1],
                 end = b + 1 < h->buckets ? h->first[b + 2] : (uint32_t)h->found.count;
        for (uint32_t i = begin; i < end; i++)
            for (uint32_t k = i + 1; k < end; k++) {
                const entry *x = &h->sorted[i], *y = &h->sorted[k];
                if (x->body == y->body || x->cell[0] != y->cell[0] || x->cell[1] != y->cell[1] ||
                    x->cell[2] != y->cell[2])
                    continue;
                if ((x->body + 1) % h->count == y->body)
                    crossings += crosses(h, x, y);
                else if ((y->body + 1) % h->count == x->body)
                    crossings += crosses(h, y, x);
            }
    }
    return crossings;
}
