/* The rest state of a meshless surface: a binary tree over the primitives, and for each node of it the box of
 * its vertices and the limits of the weights on them. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "deform/meshless_internal.h"

typedef struct keyed {
    float key;
    uint32_t primitive;
} keyed;

static int by_key(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->primitive < y->primitive ? -1 : x->primitive > y->primitive;
}

/* Vertices and triangles as they were given, until the order of the tree is known. */
typedef struct building {
    sac_meshless_model *model;
    const sac_meshless_surface *surface;
    uint32_t *first; /* of each vertex and the end */
    sac_array(sac_meshless_influence) influences;
    keyed *all;
    float *low, *high; /* of each simulation node, for the node at hand */
    double *sum;
    uint32_t *hits;                  /* vertices of it that follow the simulation node */
    uint32_t *touched;               /* simulation nodes with hits */
    uint32_t *seen;                  /* of each vertex, the tree node + 1 that last counted it */
    uint32_t *members, member_count; /* vertices of the node at hand */
    sac_array(uint32_t) limit_node;
    sac_array(float) limit_low;
    sac_array(float) limit_room;
    sac_array(uint32_t) lump_node;
    sac_array(float) limit_mean;
    sac_array(sac_meshless_patch) patches;
    sac_array(uint32_t) patch_vertex;
} building;

static uint32_t corners_of(const building *b, uint32_t primitive, uint32_t out[3])
{
    if (!b->surface->triangles) {
        out[0] = primitive;
        return 1;
    }
    for (int k = 0; k < 3; k++) out[k] = b->surface->triangles[primitive][k];
    return 3;
}

static float middle_of(const building *b, uint32_t primitive, int axis)
{
    uint32_t who[3], n = corners_of(b, primitive, who);
    float sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += b->surface->vertices[who[i]][axis];
    return sum;
}

static bool find_weights(building *b, const sac_meshless_weights *given)
{
    sac_meshless_model *m = b->model;
    sac_meshless_influence some[SAC_MESHLESS_MOST_INFLUENCES];
    for (uint32_t v = 0; v < m->vertex_count; v++) {
        b->first[v] = (uint32_t)b->influences.count;
        uint32_t count = sac_meshless_find_weights(m, b->surface->vertices[v], v, given, some);
        for (uint32_t i = 0; i < count; i++)
            if (!sac_array_push(&b->influences, some[i])) return false;
    }
    b->first[m->vertex_count] = (uint32_t)b->influences.count;
    if (!sac_meshless_find_slots(m, b->influences.data, b->influences.count)) return false;
    for (size_t i = 0; i < b->influences.count; i++)
        b->influences.data[i].node = m->slot[b->influences.data[i].node];
    return true;
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The vertices of a node, each once. */
static void find_members(building *b, uint32_t node)
{
    const sac_meshless_node *n = &b->model->tree[node];
    uint32_t count = 0;
    for (uint32_t i = n->first; i < n->first + n->count; i++) {
        uint32_t who[3], corners = corners_of(b, b->all[i].primitive, who);
        for (uint32_t c = 0; c < corners; c++) {
            if (b->seen[who[c]] == node + 1) continue;
            b->seen[who[c]] = node + 1;
            b->members[count++] = who[c];
        }
    }
    b->member_count = count;
}

/* Axes of the box, in rows: the world's, or those along which the vertices spread. */
static void find_axes(const building *b, double axes[3][3])
{
    uint32_t count = b->member_count;
    double mean[3] = {0}, spread[9] = {0}, v[9];
    memset(axes, 0, 9 * sizeof(double));
    for (int k = 0; k < 3; k++) axes[k][k] = 1;
    if (b->model->def.box == SAC_MESHLESS_AABB) return;
    for (uint32_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) mean[k] += (double)b->surface->vertices[b->members[i]][k] / count;
    for (uint32_t i = 0; i < count; i++) {
        const float *p = b->surface->vertices[b->members[i]];
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) spread[r * 3 + c] += (p[r] - mean[r]) * (p[c] - mean[c]);
    }
    sac_eigen_vectors(spread, 3, v);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) axes[r][c] = v[c * 3 + r];
}

static void find_box(const building *b, sac_meshless_rest *rest)
{
    double axes[3][3], low[3], high[3], size = 0;
    find_axes(b, axes);
    for (int a = 0; a < 3; a++) low[a] = INFINITY, high[a] = -INFINITY;
    for (uint32_t i = 0; i < b->member_count; i++) {
        const float *p = b->surface->vertices[b->members[i]];
        for (int a = 0; a < 3; a++) {
            double at = axes[a][0] * p[0] + axes[a][1] * p[1] + axes[a][2] * p[2];
            low[a] = fmin(low[a], at), high[a] = fmax(high[a], at);
            size = fmax(size, fabs((double)p[a]));
        }
    }
    for (int k = 0; k < 3; k++) {
        double at = 0;
        for (int a = 0; a < 3; a++) at += axes[a][k] * (low[a] + high[a]) / 2;
        rest->centre[k] = (float)at;
    }
    /* About the centre as it was rounded. */
    for (int a = 0; a < 3; a++) {
        double at = 0;
        for (int k = 0; k < 3; k++) at += axes[a][k] * rest->centre[k];
        double half = fmax(high[a] - at, at - low[a]) * (1 + 4e-7) + 1e-12 * size;
        rest->half[a] = (float)half;
        for (int k = 0; k < 3; k++) rest->axes[a][k] = (float)(axes[a][k] * half);
    }
    if (b->model->def.box == SAC_MESHLESS_AABB) return;
    /* Rounded axes are off by parts in ten million of the longest. */
    float most = fmaxf(rest->half[0], fmaxf(rest->half[1], rest->half[2]));
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < 3; k++) rest->axes[a][k] += (float)(axes[a][k] * 4e-7 * most);
}

/* A vertex that does not follow a slot has weight 0 there. */
static bool push_limit(building *b, uint32_t j, bool counts)
{
    float low = counts && b->hits[j] == b->member_count ? b->low[j] : 0;
    return sac_array_push(&b->limit_node, j) && sac_array_push(&b->limit_low, low) &&
           sac_array_push(&b->limit_room, counts ? b->high[j] - low : -1);
}

static bool find_limits(building *b, sac_meshless_rest *rest)
{
    sac_meshless_model *m = b->model;
    uint32_t touched = 0, vertices = b->member_count;
    double low_sum = 0;
    for (uint32_t i = 0; i < vertices; i++)
        for (uint32_t k = b->first[b->members[i]]; k < b->first[b->members[i] + 1]; k++) {
            uint32_t j = b->influences.data[k].node;
            float w = b->influences.data[k].weight;
            if (!b->hits[j]++) b->touched[touched++] = j, b->low[j] = b->high[j] = w, b->sum[j] = 0;
            if (w < b->low[j]) b->low[j] = w;
            if (w > b->high[j]) b->high[j] = w;
            b->sum[j] += w;
        }
    qsort(b->touched, touched, sizeof *b->touched, ascending);
    rest->limits.first = (uint32_t)b->limit_node.count;
    rest->limits.lump_first = (uint32_t)b->lump_node.count, rest->limits.count = touched;
    bool blocks = touched > SAC_MESHLESS_PAIRED;
    /* Blocks of which half is wanted, whole; then what is left, eight by eight. */
    for (int round = blocks ? 0 : 1; round < 2; round++) {
        uint32_t last = 0;
        for (uint32_t i = 0, end; i < touched; i = end) {
            uint32_t block = b->touched[i] / 8;
            for (end = i + 1; end < touched && b->touched[end] / 8 == block;) end++;
            bool whole = blocks && end - i >= 4 && block * 8 + 8 <= m->node_count;
            if (whole != (round == 0)) continue;
            for (uint32_t j = whole ? block * 8 : 0; whole && j < block * 8 + 8; j++)
                if (!push_limit(b, j, b->hits[j] > 0)) return false;
            for (uint32_t k = i; !whole && k < end; k++)
                if (!push_limit(b, last = b->touched[k], true)) return false;
        }
        while ((b->limit_node.count - rest->limits.first) % 8)
            if (!push_limit(b, last, false)) return false;
    }
    rest->limits.lanes = (uint32_t)b->limit_node.count - rest->limits.first;
    for (uint32_t i = rest->limits.first; i < b->limit_node.count; i++) low_sum += b->limit_low.data[i];
    for (uint32_t i = 0; i < touched; i++) b->touched[i] = m->node_at[b->touched[i]];
    qsort(b->touched, touched, sizeof *b->touched, ascending);
    for (uint32_t i = 0; i < touched; i++) {
        float mean = (float)(b->sum[m->slot[b->touched[i]]] / vertices);
        if (!sac_array_push(&b->lump_node, b->touched[i]) || !sac_array_push(&b->limit_mean, mean))
            return false;
    }
    for (uint32_t i = 0; i < touched; i++) b->hits[m->slot[b->touched[i]]] = 0;
    rest->low_sum = (float)low_sum;
    if (rest->limits.lanes > m->most_lanes) m->most_lanes = rest->limits.lanes;
    return true;
}

static bool describe(building *b, uint32_t node)
{
    find_members(b, node);
    find_box(b, &b->model->rest[node]);
    return find_limits(b, &b->model->rest[node]);
}

static void split(building *b, uint32_t node)
{
    sac_meshless_model *m = b->model;
    sac_meshless_node *n = &m->tree[node];
    float low[3] = {FLT_MAX, FLT_MAX, FLT_MAX}, high[3] = {-FLT_MAX, -FLT_MAX, -FLT_MAX};
    keyed *all = b->all + n->first;
    for (uint32_t i = 0; i < n->count; i++)
        for (int k = 0; k < 3; k++) {
            float at = middle_of(b, all[i].primitive, k);
            low[k] = at < low[k] ? at : low[k], high[k] = at > high[k] ? at : high[k];
        }
    int axis = 0;
    for (int k = 1; k < 3; k++)
        if (high[k] - low[k] > high[axis] - low[axis]) axis = k;
    for (uint32_t k = 0; k < n->count; k++) all[k].key = middle_of(b, all[k].primitive, axis);
    qsort(all, n->count, sizeof *all, by_key);
    uint32_t left = n->count / 2;
    n->child = m->tree_count;
    m->tree[m->tree_count++] = (sac_meshless_node){.parent = node, .first = n->first, .count = left};
    m->tree[m->tree_count++] =
        (sac_meshless_node){.parent = node, .first = n->first + left, .count = n->count - left};
}

/* All below a patch at once, so that its nodes are neighbours. Its members are at hand. */
static bool grow_patch(building *b, uint32_t node)
{
    sac_meshless_model *m = b->model;
    sac_meshless_patch patch = {node, m->tree_count, 0, (uint32_t)b->patch_vertex.count, 0};
    for (uint32_t i = 0; i < b->member_count; i++)
        if (!sac_array_push(&b->patch_vertex, b->members[i])) return false;
    patch.end_vertex = (uint32_t)b->patch_vertex.count;
    m->patch_of[node] = (uint32_t)b->patches.count;
    if (m->tree[node].count > m->def.leaf) split(b, node);
    for (uint32_t i = patch.first_node; i < m->tree_count; i++) {
        m->patch_of[i] = (uint32_t)b->patches.count;
        if (!describe(b, i)) return false;
        if (m->tree[i].count > m->def.leaf) split(b, i);
    }
    patch.end_node = m->tree_count;
    return sac_array_push(&b->patches, patch);
}

/* Is it cheaper to look at a node's vertices than to bound its children? Nanoseconds as measured, about. */
static bool is_patch(const building *b, uint32_t node)
{
    uint32_t count = b->model->tree[node].count;
    float n = (float)b->model->rest[node].limits.count;
    float look = 12 * (float)b->member_count + 5 * (float)count;
    float bound = n <= SAC_MESHLESS_PAIRED ? 30 + 3 * n : 90 + 3 * n; /* by equation 12 */
    return count <= b->model->def.leaf || look < SAC_MESHLESS_LOOK * bound;
}

static bool grow(building *b)
{
    sac_meshless_model *m = b->model;
    uint32_t count = m->triangle_count ? m->triangle_count : m->vertex_count;
    m->tree[0] = (sac_meshless_node){.count = count};
    m->tree_count = 1;
    m->patch_of[0] = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) b->all[i].primitive = i;
    for (uint32_t i = 0; i < m->tree_count; i++) {
        if (m->patch_of[i] != UINT32_MAX) continue;
        if (!describe(b, i)) return false;
        uint32_t child = m->tree_count;
        if (is_patch(b, i)) {
            if (!grow_patch(b, i)) return false;
        } else {
            split(b, i);
            m->patch_of[child] = m->patch_of[child + 1] = UINT32_MAX;
        }
    }
    for (uint32_t i = 0; i < count; i++) m->primitives[i] = b->all[i].primitive;
    return true;
}

#define COPY_OUT(to, from)                                                \
    ((to = sac_arena_alloc(&m->arena, (from).count + 1, sizeof *(to))) && \
     ((from).count == 0 || memcpy(to, (from).data, (from).count * sizeof *(from).data)))

/* Vertices in the order in which the tree first meets them: those of a patch are neighbours. Vertices that no
 * triangle has come last. */
static bool settle(building *b)
{
    sac_meshless_model *m = b->model;
    uint32_t count = m->triangle_count ? m->triangle_count : m->vertex_count, next = 0;
    m->corner_count = m->triangle_count ? 3 : 1;
    m->place = sac_arena_alloc(&m->arena, m->vertex_count, sizeof *m->place);
    m->corners = sac_arena_alloc(&m->arena, (size_t)count * m->corner_count, sizeof *m->corners);
    m->vertices = sac_arena_alloc(&m->arena, m->vertex_count, sizeof *m->vertices);
    m->first = sac_arena_alloc(&m->arena, m->vertex_count + 1, sizeof *m->first);
    m->influence = sac_arena_alloc(&m->arena, b->influences.count, sizeof *m->influence);
    if (!m->place || !m->corners || !m->vertices || !m->first || !m->influence) return false;
    if (!COPY_OUT(m->limit_node, b->limit_node) || !COPY_OUT(m->low, b->limit_low) ||
        !COPY_OUT(m->room, b->limit_room) || !COPY_OUT(m->mean, b->limit_mean) ||
        !COPY_OUT(m->lump_node, b->lump_node) || !COPY_OUT(m->patches, b->patches) ||
        !COPY_OUT(m->patch_vertex, b->patch_vertex))
        return false;
    m->patch_count = (uint32_t)b->patches.count;
    memset(m->place, 0xff, m->vertex_count * sizeof *m->place);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t who[3], corners = corners_of(b, m->primitives[i], who);
        for (uint32_t c = 0; c < corners; c++) {
            if (m->place[who[c]] == UINT32_MAX) m->place[who[c]] = next++;
            m->corners[(size_t)i * corners + c] = m->place[who[c]];
        }
    }
    for (uint32_t v = 0; v < m->vertex_count; v++)
        if (m->place[v] == UINT32_MAX) m->place[v] = next++;
    for (uint32_t i = 0; i < b->patch_vertex.count; i++) m->patch_vertex[i] = m->place[m->patch_vertex[i]];
    for (uint32_t i = 0; i < m->patch_count; i++)
        qsort(m->patch_vertex + m->patches[i].first_vertex,
              m->patches[i].end_vertex - m->patches[i].first_vertex, sizeof *m->patch_vertex, ascending);
    for (uint32_t v = 0; v < m->vertex_count; v++) b->seen[m->place[v]] = v;
    uint32_t at = 0;
    for (uint32_t i = 0; i < m->vertex_count; i++) {
        uint32_t v = b->seen[i];
        memcpy(m->vertices[i], b->surface->vertices[v], 3 * sizeof(float));
        m->vertices[i][3] = 1;
        m->first[i] = at;
        for (uint32_t k = b->first[v]; k < b->first[v + 1]; k++) m->influence[at++] = b->influences.data[k];
    }
    m->first[m->vertex_count] = at;
    return true;
}

/* What each simulation node moves at rest. */
static bool find_reach(building *b)
{
    sac_meshless_model *m = b->model;
    uint32_t blocks = (m->node_count + 7) / 8;
    m->reach = sac_arena_alloc(&m->arena, blocks, sizeof *m->reach);
    float(*box)[2][3] = sac_alloc(m->node_count, sizeof *box);
    for (uint32_t j = 0; box && j < m->node_count; j++)
        for (int a = 0; a < 3; a++) box[j][0][a] = FLT_MAX, box[j][1][a] = -FLT_MAX;
    for (uint32_t v = 0; box && v < m->vertex_count; v++)
        for (uint32_t k = m->first[v]; k < m->first[v + 1]; k++) {
            float *low = box[m->influence[k].node][0], *high = box[m->influence[k].node][1];
            for (int a = 0; a < 3; a++) {
                float at = m->vertices[v][a];
                low[a] = at < low[a] ? at : low[a], high[a] = at > high[a] ? at : high[a];
            }
        }
    for (uint32_t j = 0; m->reach && box && j < blocks * 8; j++) {
        sac_meshless_reach *r = &m->reach[j / 8];
        for (int a = 0; a < 3; a++) {
            float low = j < m->node_count ? box[j][0][a] : 1, high = j < m->node_count ? box[j][1][a] : -1;
            float middle = low > high ? 0 : 0.5f * low + 0.5f * high, size = fmaxf(fabsf(low), fabsf(high));
            r->centre[a][j % 8] = middle;
            r->half[a][j % 8] =
                low > high ? -1 : fmaxf(high - middle, middle - low) * (1 + 4e-7f) + 1e-12f * size;
        }
    }
    m->girth = sac_arena_alloc(&m->arena, m->tree_count, sizeof *m->girth);
    for (uint32_t i = 0; m->girth && i < m->tree_count; i++)
        m->girth[i] = (m->rest[i].half[0] + m->rest[i].half[1]) + m->rest[i].half[2];
    sac_free(box, m->node_count, sizeof *box);
    return box && m->reach && m->girth;
}

static bool keep_given(building *b)
{
    sac_meshless_model *m = b->model;
    sac_meshless_given *g = &m->given;
    size_t influences = b->influences.count;
    g->vertices = sac_arena_alloc(&m->arena, m->vertex_count, sizeof *g->vertices);
    g->first = sac_arena_alloc(&m->arena, m->vertex_count + 1, sizeof *g->first);
    g->node = sac_arena_alloc(&m->arena, influences, sizeof *g->node);
    g->weight = sac_arena_alloc(&m->arena, influences, sizeof *g->weight);
    if (!g->vertices || !g->first || !g->node || !g->weight) return false;
    memcpy(g->vertices, b->surface->vertices, m->vertex_count * sizeof *g->vertices);
    memcpy(g->first, b->first, (m->vertex_count + (size_t)1) * sizeof *g->first);
    for (size_t i = 0; i < influences; i++)
        g->node[i] = m->node_at[b->influences.data[i].node], g->weight[i] = b->influences.data[i].weight;
    if (!m->triangle_count) return true;
    g->triangles = sac_arena_alloc(&m->arena, m->triangle_count, sizeof *g->triangles);
    m->given_corners = sac_arena_alloc(&m->arena, m->triangle_count, sizeof *m->given_corners);
    if (!g->triangles || !m->given_corners) return false;
    memcpy(g->triangles, b->surface->triangles, m->triangle_count * sizeof *g->triangles);
    for (uint32_t i = 0; i < m->triangle_count; i++)
        for (int k = 0; k < 3; k++) m->given_corners[i][k] = m->place[g->triangles[i][k]];
    return true;
}

static bool build(building *b, const sac_meshless_weights *weights)
{
    sac_meshless_model *m = b->model;
    uint32_t count = m->triangle_count ? m->triangle_count : m->vertex_count;
    m->tree = sac_arena_alloc(&m->arena, (size_t)count * 2, sizeof *m->tree);
    m->rest = sac_arena_alloc(&m->arena, (size_t)count * 2, sizeof *m->rest);
    m->patch_of = sac_arena_alloc(&m->arena, (size_t)count * 2, sizeof *m->patch_of);
    m->primitives = sac_arena_alloc(&m->arena, count, sizeof *m->primitives);
    b->first = sac_alloc((size_t)m->vertex_count + 1, sizeof *b->first);
    b->all = sac_alloc(count, sizeof *b->all);
    b->low = sac_alloc(m->node_count, sizeof *b->low);
    b->high = sac_alloc(m->node_count, sizeof *b->high);
    b->sum = sac_alloc(m->node_count, sizeof *b->sum);
    b->hits = sac_alloc_zero(m->node_count, sizeof *b->hits);
    b->touched = sac_alloc(m->node_count, sizeof *b->touched);
    b->seen = sac_alloc_zero(m->vertex_count, sizeof *b->seen);
    b->members = sac_alloc(m->vertex_count, sizeof *b->members);
    bool ok = m->tree && m->rest && m->patch_of && m->primitives && b->first && b->all && b->low && b->high &&
              b->sum && b->hits && b->touched && b->seen && b->members && find_weights(b, weights) &&
              grow(b) && settle(b) && find_reach(b) && keep_given(b) && sac_meshless_widen(m);
    sac_free(b->first, (size_t)m->vertex_count + 1, sizeof *b->first);
    sac_free(b->all, count, sizeof *b->all);
    sac_free(b->low, m->node_count, sizeof *b->low), sac_free(b->high, m->node_count, sizeof *b->high);
    sac_free(b->sum, m->node_count, sizeof *b->sum);
    sac_free(b->hits, m->node_count, sizeof *b->hits);
    sac_free(b->touched, m->node_count, sizeof *b->touched);
    sac_free(b->seen, m->vertex_count, sizeof *b->seen);
    sac_free(b->members, m->vertex_count, sizeof *b->members);
    sac_array_fini(&b->influences);
    sac_array_fini(&b->limit_node), sac_array_fini(&b->limit_low), sac_array_fini(&b->limit_room);
    sac_array_fini(&b->lump_node), sac_array_fini(&b->limit_mean), sac_array_fini(&b->patches),
        sac_array_fini(&b->patch_vertex);
    return ok;
}

sac_result sac_meshless_model_create(const sac_meshless_surface *surface, const float (*nodes)[3],
                                     uint32_t node_count, const sac_meshless_weights *weights,
                                     const sac_meshless_def *def, sac_meshless_model **out_model,
                                     sac_error *error)
{
    SAC_NEED(error, out_model);
    *out_model = NULL;
    SAC_NEED(error, surface, def);
    if (node_count) SAC_NEED(error, nodes);
    sac_result result = sac_meshless_check(surface, nodes, node_count, weights, def, error);
    if (result != SAC_OK) return result;
    sac_meshless_model *m = sac_alloc_zero(1, sizeof *m);
    if (!m) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a meshless surface");
    sac_arena_init(&m->arena);
    m->def = *def;
    m->vertex_count = surface->vertex_count, m->node_count = node_count;
    m->triangle_count = surface->triangles ? surface->triangle_count : 0;
    m->nodes = sac_arena_alloc(&m->arena, node_count, sizeof *m->nodes);
    if (m->nodes) memcpy(m->nodes, nodes, node_count * sizeof *m->nodes);
    building b = {.model = m, .surface = surface};
    if (!m->nodes || !sac_meshless_find_neighbours(m) || !build(&b, weights)) {
        sac_meshless_model_destroy(&m);
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a meshless surface of %u vertices",
                             surface->vertex_count);
    }
    *out_model = m;
    return SAC_OK;
}

void sac_meshless_model_destroy(sac_meshless_model **model)
{
    if (!model || !*model) return;
    sac_arena_fini(&(*model)->arena);
    sac_free(*model, 1, sizeof **model);
    *model = NULL;
}
