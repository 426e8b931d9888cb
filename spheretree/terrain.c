/* Terrain of triangles: a tree of boxes by binned surface-area heuristic, neighbours across edges; and what
 * both kinds of terrain share. */
#include "spheretree/terrain_internal.h"

#include <stdlib.h>

#include "base/memory.h"
#include "spheretree/vector_internal.h"

#define LEAF 4u
#define BINS 16
/* Deeper than this a tree is split in halves, so that a walk needs no more than SAC_TERRAIN_STACK. */
#define DEEP 48u

_Static_assert(DEEP + 25 < SAC_TERRAIN_STACK, "halving 2^24 triangles takes 24 more levels");

typedef struct builder {
    sac_terrain *terrain;
    sac_box *boxes;  /* of the source triangles */
    uint32_t *order; /* source triangles, as they will be stored */
    float (*middle)[3];
} builder;

static float half_area(const sac_box *b)
{
    float x = b->high[0] - b->low[0], y = b->high[1] - b->low[1], z = b->high[2] - b->low[2];
    return x * y + y * z + z * x;
}

static void box_join(sac_box *box, const sac_box *other)
{
    for (int i = 0; i < 3; i++) {
        box->low[i] = sac_least(box->low[i], other->low[i]);
        box->high[i] = sac_most(box->high[i], other->high[i]);
    }
}

/* Bin of a middle along an axis. */
static int bin_of(float at, float low, float scale)
{
    int bin = (int)((at - low) * scale);
    return bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin;
}

/* Divides order[first .. first + count) and returns how many go first. */
static uint32_t divide(builder *b, uint32_t first, uint32_t count, uint32_t depth)
{
    sac_box middles = sac_box_empty();
    for (uint32_t i = first; i < first + count; i++) {
        const float *at = b->middle[b->order[i]];
        for (int k = 0; k < 3; k++) {
            middles.low[k] = sac_least(middles.low[k], at[k]);
            middles.high[k] = sac_most(middles.high[k], at[k]);
        }
    }
    int best_axis = -1, best_bin = 0;
    float best_cost = FLT_MAX, best_scale = 0;
    for (int axis = 0; depth < DEEP && axis < 3; axis++) {
        float extent = middles.high[axis] - middles.low[axis];
        if (!(extent > 0)) continue;
        float scale = BINS / extent;
        if (!(scale <= FLT_MAX)) continue;
        sac_box boxes[BINS];
        uint32_t counts[BINS] = {0};
        for (int k = 0; k < BINS; k++) boxes[k] = sac_box_empty();
        for (uint32_t i = first; i < first + count; i++) {
            uint32_t t = b->order[i];
            int bin = bin_of(b->middle[t][axis], middles.low[axis], scale);
            box_join(&boxes[bin], &b->boxes[t]);
            counts[bin]++;
        }
        float right_cost[BINS];
        sac_box right = sac_box_empty();
        uint32_t n = 0;
        for (int k = BINS - 1; k > 0; k--) {
            if (counts[k]) box_join(&right, &boxes[k]);
            n += counts[k];
            right_cost[k] = n ? half_area(&right) * (float)n : 0;
        }
        sac_box left = sac_box_empty();
        n = 0;
        for (int k = 0; k + 1 < BINS; k++) {
            if (counts[k]) box_join(&left, &boxes[k]);
            n += counts[k];
            if (n == 0 || n == count) continue;
            float cost = half_area(&left) * (float)n + right_cost[k + 1];
            if (cost < best_cost) best_cost = cost, best_axis = axis, best_bin = k, best_scale = scale;
        }
    }
    if (best_axis < 0) return count / 2;
    uint32_t i = first, j = first + count;
    while (i < j) {
        uint32_t t = b->order[i];
        if (bin_of(b->middle[t][best_axis], middles.low[best_axis], best_scale) <= best_bin) {
            i++;
        } else {
            b->order[i] = b->order[--j];
            b->order[j] = t;
        }
    }
    return i - first;
}

static void build_nodes(builder *b, uint32_t count)
{
    typedef struct piece {
        uint32_t first, count, depth, parent; /* parent: whose second child it is, or none */
    } piece;
    piece stack[SAC_TERRAIN_STACK];
    uint32_t waiting = 0;
    sac_terrain *t = b->terrain;
    stack[waiting++] = (piece){0, count, 0, UINT32_MAX};
    while (waiting) {
        piece p = stack[--waiting];
        uint32_t index = t->node_count++;
        sac_terrain_node *node = &t->nodes[index];
        if (p.parent != UINT32_MAX) t->nodes[p.parent].second = index;
        sac_box box = sac_box_empty();
        for (uint32_t i = p.first; i < p.first + p.count; i++) box_join(&box, &b->boxes[b->order[i]]);
        sac_v3_copy(box.low, node->low);
        sac_v3_copy(box.high, node->high);
        if (p.count <= LEAF) {
            node->second = p.first;
            node->count = p.count;
            continue;
        }
        node->count = 0;
        uint32_t left = divide(b, p.first, p.count, p.depth);
        stack[waiting++] = (piece){p.first + left, p.count - left, p.depth + 1, index};
        stack[waiting++] = (piece){p.first, left, p.depth + 1, UINT32_MAX};
    }
}

/* ---- neighbours: triangles that share two corners, by position ---- */

typedef struct edge {
    float low[3], high[3];
    uint32_t triangle, k;
} edge;

static int compare_points(const float a[3], const float b[3])
{
    for (int i = 0; i < 3; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int compare_edges(const void *pa, const void *pb)
{
    const edge *a = pa, *b = pb;
    int c = compare_points(a->low, b->low);
    if (c == 0) c = compare_points(a->high, b->high);
    if (c == 0) c = a->triangle < b->triangle ? -1 : a->triangle > b->triangle;
    return c ? c : a->k < b->k ? -1 : a->k > b->k;
}

static bool join_neighbours(sac_terrain *t)
{
    size_t count = (size_t)t->triangle_count * 3;
    edge *edges = sac_alloc(count, sizeof *edges);
    if (!edges) return false;
    for (uint32_t i = 0; i < t->triangle_count; i++)
        for (uint32_t k = 0; k < 3; k++) {
            const float *p = t->triangles[i].corner[k], *q = t->triangles[i].corner[(k + 1) % 3];
            bool forward = compare_points(p, q) <= 0;
            edge *e = &edges[(size_t)i * 3 + k];
            sac_v3_copy(forward ? p : q, e->low);
            sac_v3_copy(forward ? q : p, e->high);
            e->triangle = i, e->k = k;
            t->triangles[i].beyond[k] = SAC_NO_TRIANGLE;
        }
    qsort(edges, count, sizeof *edges, compare_edges);
    for (size_t i = 0, j; i < count; i = j) {
        for (j = i + 1; j < count && compare_points(edges[i].low, edges[j].low) == 0 &&
                        compare_points(edges[i].high, edges[j].high) == 0;)
            j++;
        if (j - i != 2) continue; /* a rim, or more than two: each keeps its own edge */
        t->triangles[edges[i].triangle].beyond[edges[i].k] = edges[i + 1].triangle;
        t->triangles[edges[i + 1].triangle].beyond[edges[i + 1].k] = edges[i].triangle;
    }
    sac_free(edges, count, sizeof *edges);
    return true;
}

/* ---- making one ---- */

/* Corners and unit normal of a mesh triangle; false when it has no area. */
static bool triangle_of(const sac_mesh *mesh, uint32_t t, float corner[3][3], float normal[3])
{
    double u[3], v[3];
    for (int k = 0; k < 3; k++) sac_v3_copy(mesh->vertices[mesh->triangles[t][k]], corner[k]);
    for (int i = 0; i < 3; i++) {
        u[i] = (double)corner[1][i] - corner[0][i];
        v[i] = (double)corner[2][i] - corner[0][i];
    }
    double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    double side2 = u[0] * u[0] + u[1] * u[1] + u[2] * u[2] + v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    if (!(length > 1e-9 * side2)) return false;
    for (int i = 0; i < 3; i++) normal[i] = (float)(n[i] / length);
    return true;
}

static sac_result no_memory(sac_error *error)
{
    return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the terrain");
}

static sac_result check_mesh(const sac_mesh *mesh, sac_error *error)
{
    if (!mesh || mesh->triangle_count == 0)
        return sac_error_set(error, SAC_ERROR_EMPTY, "give a mesh with triangles",
                             "the mesh of the terrain is empty");
    if (mesh->triangle_count > SAC_TERRAIN_MOST)
        return sac_error_set(error, SAC_ERROR_LIMIT, "use fewer, larger triangles",
                             "the terrain has %u triangles, more than 2^24", mesh->triangle_count);
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        for (int i = 0; i < 3; i++)
            if (!(fabsf(mesh->vertices[v][i]) <= 1e7f))
                return sac_error_set(error, SAC_ERROR_ARGUMENT, "give finite coordinates within 1e7 of 0",
                                     "vertex %u of the terrain is at %g", v, (double)mesh->vertices[v][i]);
    for (uint32_t t = 0; t < mesh->triangle_count; t++)
        for (int k = 0; k < 3; k++)
            if (mesh->triangles[t][k] >= mesh->vertex_count)
                return sac_error_set(error, SAC_ERROR_ARGUMENT, "repair the mesh",
                                     "triangle %u of the terrain names vertex %u of %u", t,
                                     mesh->triangles[t][k], mesh->vertex_count);
    return SAC_OK;
}

/* Storage, and the builder's lists; false when out of memory. */
static bool allocate(builder *b, const sac_mesh *mesh)
{
    uint32_t n = mesh->triangle_count;
    sac_terrain *t = b->terrain;
    t->source_count = n;
    t->where = sac_alloc(n, sizeof *t->where);
    t->nodes = sac_alloc((size_t)2 * n, sizeof *t->nodes);
    b->boxes = sac_alloc(n, sizeof *b->boxes);
    b->order = sac_alloc(n, sizeof *b->order);
    b->middle = sac_alloc(n, sizeof *b->middle);
    return t->where && t->nodes && b->boxes && b->order && b->middle;
}

static void store_triangles(builder *b, const sac_mesh *mesh)
{
    sac_terrain *t = b->terrain;
    double edges = 0;
    for (uint32_t i = 0; i < t->triangle_count; i++) {
        sac_terrain_triangle *to = &t->triangles[i];
        to->source = b->order[i];
        t->where[to->source] = i;
        triangle_of(mesh, to->source, to->corner, to->normal);
        for (int k = 0; k < 3; k++) edges += glm_vec3_distance(to->corner[k], to->corner[(k + 1) % 3]);
    }
    t->thickness = (float)(0.1 * edges / (3.0 * t->triangle_count));
}

sac_result sac_terrain_from_mesh(const sac_mesh *mesh, sac_terrain **out_terrain, sac_error *error)
{
    SAC_NEED(error, out_terrain);
    *out_terrain = NULL;
    SAC_NEED(error, mesh);
    sac_result result = check_mesh(mesh, error);
    if (result != SAC_OK) return result;
    builder b = {.terrain = sac_alloc_zero(1, sizeof(sac_terrain))};
    if (!b.terrain) return no_memory(error);
    sac_terrain *t = b.terrain;
    t->box = sac_box_empty();
    result = allocate(&b, mesh) ? SAC_OK : no_memory(error);
    uint32_t n = mesh->triangle_count, kept = 0;
    for (uint32_t i = 0; result == SAC_OK && i < n; i++) {
        float corner[3][3], normal[3];
        t->where[i] = SAC_NO_TRIANGLE;
        if (!triangle_of(mesh, i, corner, normal)) continue;
        b.boxes[i] = sac_box_empty();
        for (int k = 0; k < 3; k++) sac_box_add(&b.boxes[i], corner[k]);
        for (int k = 0; k < 3; k++) b.middle[i][k] = 0.5f * (b.boxes[i].low[k] + b.boxes[i].high[k]);
        box_join(&t->box, &b.boxes[i]);
        b.order[kept++] = i;
    }
    if (result == SAC_OK && kept == 0)
        result = sac_error_set(error, SAC_ERROR_EMPTY, "give triangles with an area",
                               "no triangle of the terrain has an area");
    if (result == SAC_OK) {
        build_nodes(&b, kept);
        t->triangle_count = kept;
        t->triangles = sac_alloc(kept, sizeof *t->triangles);
        if (t->triangles) store_triangles(&b, mesh);
        if (!t->triangles || !join_neighbours(t)) result = no_memory(error);
    }
    sac_free(b.boxes, n, sizeof *b.boxes);
    sac_free(b.order, n, sizeof *b.order);
    sac_free(b.middle, n, sizeof *b.middle);
    if (result != SAC_OK)
        sac_terrain_destroy(&t);
    else
        *out_terrain = t;
    return result;
}

void sac_terrain_destroy(sac_terrain **terrain)
{
    if (!terrain || !*terrain) return;
    sac_terrain *t = *terrain;
    sac_free(t->triangles, t->triangle_count, sizeof *t->triangles);
    sac_free(t->nodes, (size_t)2 * t->source_count, sizeof *t->nodes);
    sac_free(t->where, t->source_count, sizeof *t->where);
    sac_free(t->posts, (size_t)t->columns * t->rows, sizeof *t->posts);
    sac_free(t->ranges, t->range_count, sizeof *t->ranges);
    sac_free(t, 1, sizeof *t);
    *terrain = NULL;
}

sac_box sac_terrain_box(const sac_terrain *terrain) { return terrain ? terrain->box : sac_box_empty(); }
