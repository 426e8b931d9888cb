/* The rest state of a meshless surface: weights, a binary tree over the primitives, and for each node of it
 * the box of its vertices and the limits of the weights on them. */
#include "deform/meshless_internal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { NEIGHBOURS = 8 };

sac_meshless_def sac_default_meshless_def(void)
{
    return (sac_meshless_def){.k = 6, .fit = SAC_MESHLESS_EXACT, .influences = 8, .leaf = 2};
}

static sac_result check(const sac_meshless_surface *s, const float (*nodes)[3], uint32_t node_count,
                        const sac_meshless_weights *w, const sac_meshless_def *def, sac_error *error)
{
    if (def->k != 6 && def->k != 14 && def->k != 18 && def->k != 26)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "6, 14, 18 or 26", "a %u-DOP", def->k);
    if (!def->leaf || !def->influences || def->influences > SAC_MESHLESS_MOST_INFLUENCES ||
        (unsigned)def->fit > SAC_MESHLESS_EQ12)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "start from sac_default_meshless_def()",
                             "%u influences, leaves of %u", def->influences, def->leaf);
    if (!s->vertex_count || !node_count || !s->vertices || !nodes || (s->triangles && !s->triangle_count))
        return sac_error_set(error, SAC_ERROR_EMPTY, NULL, "a meshless body needs a surface and nodes");
    if (s->vertex_count > SAC_SOFT_MOST_POINTS || node_count > 100000 ||
        s->triangle_count > 4 * SAC_SOFT_MOST_POINTS)
        return sac_error_set(error, SAC_ERROR_LIMIT, "at most 4 million vertices and 100000 nodes",
                             "%u vertices and %u nodes", s->vertex_count, node_count);
    for (uint32_t i = 0; i < s->vertex_count + node_count; i++) {
        const float *p = i < s->vertex_count ? s->vertices[i] : nodes[i - s->vertex_count];
        for (int k = 0; k < 3; k++)
            if (!(fabsf(p[k]) <= SAC_SOFT_REACH))
                return sac_error_set(error, SAC_ERROR_ARGUMENT, "finite, within 1e6 of the origin",
                                     "%s %u has the coordinate %g", i < s->vertex_count ? "vertex" : "node",
                                     i < s->vertex_count ? i : i - s->vertex_count, (double)p[k]);
    }
    for (uint32_t i = 0; s->triangles && i < s->triangle_count * 3; i++)
        if (s->triangles[i / 3][i % 3] >= s->vertex_count)
            return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "triangle %u has vertex %u of %u", i / 3,
                                 s->triangles[i / 3][i % 3], s->vertex_count);
    for (uint32_t i = 0; w && i < s->vertex_count; i++) {
        double sum = 0;
        if (w->first[i + 1] <= w->first[i] || w->first[i + 1] - w->first[i] > SAC_MESHLESS_MOST_INFLUENCES)
            return sac_error_set(error, SAC_ERROR_ARGUMENT, "1 to 32", "vertex %u follows %u nodes", i,
                                 w->first[i + 1] - w->first[i]);
        for (uint32_t k = w->first[i]; k < w->first[i + 1]; k++) {
            if (w->node[k] >= node_count || !(w->weight[k] >= 0 && w->weight[k] <= FLT_MAX))
                return sac_error_set(error, SAC_ERROR_ARGUMENT, "weights are not negative",
                                     "vertex %u follows node %u with weight %g", i, w->node[k],
                                     (double)w->weight[k]);
            for (uint32_t other = w->first[i]; other < k; other++)
                if (w->node[other] == w->node[k])
                    return sac_error_set(error, SAC_ERROR_ARGUMENT, "give each node once",
                                         "vertex %u follows node %u twice", i, w->node[k]);
            sum += w->weight[k];
        }
        if (!(sum > 1e-30))
            return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "the weights of vertex %u are zero", i);
    }
    return SAC_OK;
}

/* The `most` nodes nearest to a point, near to far; returns how many. */
static uint32_t nearest(const sac_meshless_model *m, const float p[3], uint32_t most, uint32_t *who,
                        double *d2)
{
    uint32_t count = 0;
    for (uint32_t j = 0; j < m->node_count; j++) {
        double d = 0;
        for (int k = 0; k < 3; k++) d += ((double)m->nodes[j][k] - p[k]) * ((double)m->nodes[j][k] - p[k]);
        if (count == most && d >= d2[count - 1]) continue;
        uint32_t at = count < most ? count++ : count - 1;
        while (at && d2[at - 1] > d) d2[at] = d2[at - 1], who[at] = who[at - 1], at--;
        d2[at] = d, who[at] = j;
    }
    return count;
}

/* (1 - d^2 / h^2)^3, h the distance of the first node that is left out: weights go to 0 where they end. */
static bool find_weights(sac_meshless_model *m, const sac_meshless_weights *given)
{
    uint32_t most = m->def.influences, who[SAC_MESHLESS_MOST_INFLUENCES + 1];
    double d2[SAC_MESHLESS_MOST_INFLUENCES + 1];
    size_t total = given ? given->first[m->vertex_count] - given->first[0] : (size_t)m->vertex_count * most;
    m->first = sac_arena_alloc(&m->arena, m->vertex_count + 1, sizeof *m->first);
    m->influence = sac_arena_alloc(&m->arena, total, sizeof *m->influence);
    m->weight = sac_arena_alloc(&m->arena, total, sizeof *m->weight);
    if (!m->first || !m->influence || !m->weight) return false;
    uint32_t at = 0;
    for (uint32_t i = 0; i < m->vertex_count; i++) {
        uint32_t begin = m->first[i] = at;
        double sum = 0, raw[SAC_MESHLESS_MOST_INFLUENCES + 1];
        if (given) {
            for (uint32_t k = given->first[i]; k < given->first[i + 1]; k++) {
                raw[at - begin] = given->weight[k];
                m->influence[at++] = given->node[k];
            }
        } else {
            uint32_t n = nearest(m, m->vertices[i], most + 1, who, d2);
            double h2 = (n > most ? d2[most] : d2[n - 1] * 1.44) * (1 + 1e-6) + 1e-12;
            for (uint32_t k = 0; k < n && k < most; k++) {
                double w = 1 - d2[k] / h2;
                raw[k] = w * w * w, m->influence[at++] = who[k];
            }
        }
        for (uint32_t k = 0; k < at - begin; k++) sum += raw[k];
        for (uint32_t k = 0; k < at - begin; k++) m->weight[begin + k] = (float)(raw[k] / sum);
    }
    m->first[m->vertex_count] = at;
    return true;
}

static bool find_neighbours(sac_meshless_model *m)
{
    uint32_t who[NEIGHBOURS + 1], n = m->node_count - 1 < NEIGHBOURS ? m->node_count - 1 : NEIGHBOURS;
    double d2[NEIGHBOURS + 1];
    m->near_first = sac_arena_alloc(&m->arena, m->node_count + 1, sizeof *m->near_first);
    m->near = sac_arena_alloc(&m->arena, (size_t)m->node_count * n + 1, sizeof *m->near);
    m->near_inverse = sac_arena_alloc(&m->arena, m->node_count, sizeof *m->near_inverse);
    if (!m->near_first || !m->near || !m->near_inverse) return false;
    uint32_t at = 0;
    for (uint32_t j = 0; j < m->node_count; j++) {
        double moment[3][3] = {{0}};
        m->near_first[j] = at;
        uint32_t found = nearest(m, m->nodes[j], n + 1, who, d2);
        for (uint32_t k = 0; k < found; k++) {
            if (who[k] == j) continue;
            if (at - m->near_first[j] == n) break; /* j itself was pushed out by coincident nodes */
            m->near[at++] = who[k];
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++)
                    moment[r][c] += ((double)m->nodes[who[k]][r] - m->nodes[j][r]) *
                                    ((double)m->nodes[who[k]][c] - m->nodes[j][c]);
        }
        if (moment[0][0] + moment[1][1] + moment[2][2] > 1e-12)
            sac_pseudo_inverse(&moment[0][0], 3, 1e-4, &m->near_inverse[j][0][0]);
        else
            memset(m->near_inverse[j], 0, sizeof m->near_inverse[j]);
    }
    m->near_first[m->node_count] = at;
    return true;
}

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

static uint32_t corners_of(const sac_meshless_model *m, uint32_t primitive, uint32_t out[3])
{
    if (!m->triangle_count) {
        out[0] = primitive;
        return 1;
    }
    for (int k = 0; k < 3; k++) out[k] = m->triangles[primitive][k];
    return 3;
}

static float middle_of(const sac_meshless_model *m, uint32_t primitive, int axis)
{
    uint32_t who[3], n = corners_of(m, primitive, who);
    float sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += m->vertices[who[i]][axis];
    return sum;
}

typedef struct building {
    sac_meshless_model *model;
    keyed *all;
    float *low, *high; /* of each simulation node, for the node at hand */
    uint32_t *hits;    /* vertices of it that follow the simulation node */
    uint32_t *touched; /* simulation nodes with hits */
    uint32_t *seen;    /* of each vertex, the tree node + 1 that last counted it */
    sac_array(uint32_t) limit_node;
    sac_array(float) limit_low;
    sac_array(float) limit_high;
} building;

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static bool find_limits(building *b, uint32_t node)
{
    sac_meshless_model *m = b->model;
    sac_meshless_node *n = &m->tree[node];
    sac_box box = sac_box_empty();
    uint32_t touched = 0, vertices = 0;
    double low_sum = 0;
    for (uint32_t i = n->first; i < n->first + n->count; i++) {
        uint32_t who[3], corners = corners_of(m, b->all[i].primitive, who);
        for (uint32_t c = 0; c < corners; c++) {
            uint32_t v = who[c];
            if (b->seen[v] == node + 1) continue;
            b->seen[v] = node + 1, vertices++;
            sac_box_add(&box, m->vertices[v]);
            for (uint32_t k = m->first[v]; k < m->first[v + 1]; k++) {
                uint32_t j = m->influence[k];
                float w = m->weight[k];
                if (!b->hits[j]++) b->touched[touched++] = j, b->low[j] = b->high[j] = w;
                if (w < b->low[j]) b->low[j] = w;
                if (w > b->high[j]) b->high[j] = w;
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        n->centre[k] = (float)(((double)box.low[k] + box.high[k]) / 2);
        double half = fmax((double)box.high[k] - n->centre[k], (double)n->centre[k] - box.low[k]);
        n->half[k] = (float)(half * (1 + 2e-7));
    }
    qsort(b->touched, touched, sizeof *b->touched, ascending);
    n->limits.first = (uint32_t)b->limit_node.count, n->limits.count = touched;
    n->limits.lanes = (touched + 7) & ~7u;
    for (uint32_t i = 0; i < n->limits.lanes; i++) {
        uint32_t j = b->touched[i < touched ? i : touched - 1];
        /* A vertex that does not follow it has weight 0. */
        float low = i < touched && b->hits[j] == vertices ? b->low[j] : 0,
              high = i < touched ? b->high[j] : 0;
        if (!sac_array_push(&b->limit_node, j) || !sac_array_push(&b->limit_low, low) ||
            !sac_array_push(&b->limit_high, high))
            return false;
        low_sum += low;
    }
    for (uint32_t i = 0; i < touched; i++) b->hits[b->touched[i]] = 0;
    m->low_sum[node] = (float)low_sum;
    if (n->limits.lanes > m->most_lanes) m->most_lanes = n->limits.lanes;
    return true;
}

static bool grow(building *b)
{
    sac_meshless_model *m = b->model;
    uint32_t count = m->triangle_count ? m->triangle_count : m->vertex_count;
    m->tree[0] = (sac_meshless_node){.count = count};
    m->tree_count = 1;
    for (uint32_t i = 0; i < count; i++) b->all[i].primitive = i;
    for (uint32_t i = 0; i < m->tree_count; i++) {
        sac_meshless_node *n = &m->tree[i];
        if (!find_limits(b, i)) return false;
        if (n->count <= m->def.leaf) continue;
        int axis = 0;
        for (int k = 1; k < 3; k++)
            if (n->half[k] > n->half[axis]) axis = k;
        keyed *all = b->all + n->first;
        for (uint32_t k = 0; k < n->count; k++) all[k].key = middle_of(m, all[k].primitive, axis);
        qsort(all, n->count, sizeof *all, by_key);
        uint32_t left = n->count / 2;
        n->child = m->tree_count;
        m->tree[m->tree_count++] = (sac_meshless_node){.parent = i, .first = n->first, .count = left};
        m->tree[m->tree_count++] =
            (sac_meshless_node){.parent = i, .first = n->first + left, .count = n->count - left};
    }
    for (uint32_t i = 0; i < count; i++) m->primitives[i] = b->all[i].primitive;
    return true;
}

static bool build(building *b)
{
    sac_meshless_model *m = b->model;
    uint32_t count = m->triangle_count ? m->triangle_count : m->vertex_count;
    m->tree = sac_arena_alloc(&m->arena, (size_t)count * 2, sizeof *m->tree);
    m->low_sum = sac_arena_alloc(&m->arena, (size_t)count * 2, sizeof *m->low_sum);
    m->primitives = sac_arena_alloc(&m->arena, count, sizeof *m->primitives);
    b->all = sac_alloc(count, sizeof *b->all);
    b->low = sac_alloc(m->node_count, sizeof *b->low);
    b->high = sac_alloc(m->node_count, sizeof *b->high);
    b->hits = sac_alloc_zero(m->node_count, sizeof *b->hits);
    b->touched = sac_alloc(m->node_count, sizeof *b->touched);
    b->seen = sac_alloc_zero(m->vertex_count, sizeof *b->seen);
    bool ok = m->tree && m->low_sum && m->primitives && b->all && b->low && b->high && b->hits &&
              b->touched && b->seen && grow(b);
    size_t limits = b->limit_node.count;
    if (ok) {
        m->limit_node = sac_arena_alloc(&m->arena, limits, sizeof *m->limit_node);
        m->low = sac_arena_alloc(&m->arena, limits, sizeof *m->low);
        m->high = sac_arena_alloc(&m->arena, limits, sizeof *m->high);
        ok = m->limit_node && m->low && m->high;
    }
    if (ok) {
        memcpy(m->limit_node, b->limit_node.data, limits * sizeof *m->limit_node);
        memcpy(m->low, b->limit_low.data, limits * sizeof *m->low);
        memcpy(m->high, b->limit_high.data, limits * sizeof *m->high);
    }
    sac_free(b->all, count, sizeof *b->all);
    sac_free(b->low, m->node_count, sizeof *b->low), sac_free(b->high, m->node_count, sizeof *b->high);
    sac_free(b->hits, m->node_count, sizeof *b->hits),
        sac_free(b->touched, m->node_count, sizeof *b->touched);
    sac_free(b->seen, m->vertex_count, sizeof *b->seen);
    sac_array_fini(&b->limit_node), sac_array_fini(&b->limit_low), sac_array_fini(&b->limit_high);
    return ok;
}

static bool copy_in(sac_meshless_model *m, const sac_meshless_surface *s, const float (*nodes)[3])
{
    m->vertices = sac_arena_alloc(&m->arena, m->vertex_count, sizeof *m->vertices);
    m->nodes = sac_arena_alloc(&m->arena, m->node_count, sizeof *m->nodes);
    if (!m->vertices || !m->nodes) return false;
    memcpy(m->vertices, s->vertices, m->vertex_count * sizeof *m->vertices);
    memcpy(m->nodes, nodes, m->node_count * sizeof *m->nodes);
    if (!m->triangle_count) return true;
    m->triangles = sac_arena_alloc(&m->arena, m->triangle_count, sizeof *m->triangles);
    if (m->triangles) memcpy(m->triangles, s->triangles, m->triangle_count * sizeof *m->triangles);
    return m->triangles;
}

sac_result sac_meshless_model_create(const sac_meshless_surface *surface, const float (*nodes)[3],
                                     uint32_t node_count, const sac_meshless_weights *weights,
                                     const sac_meshless_def *def, sac_meshless_model **out_model,
                                     sac_error *error)
{
    *out_model = NULL;
    sac_result result = check(surface, nodes, node_count, weights, def, error);
    if (result != SAC_OK) return result;
    sac_meshless_model *m = sac_alloc_zero(1, sizeof *m);
    if (!m) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a meshless surface");
    sac_arena_init(&m->arena);
    m->def = *def;
    m->vertex_count = surface->vertex_count, m->node_count = node_count;
    m->triangle_count = surface->triangles ? surface->triangle_count : 0;
    building b = {.model = m};
    if (!copy_in(m, surface, nodes) || !find_weights(m, weights) || !find_neighbours(m) || !build(&b)) {
        sac_meshless_model_destroy(&m);
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a meshless surface of %u vertices",
                             surface->vertex_count);
    }
    *out_model = m;
    return SAC_OK;
}

void sac_meshless_model_destroy(sac_meshless_model **model)
{
    if (!*model) return;
    sac_arena_fini(&(*model)->arena);
    sac_free(*model, 1, sizeof **model);
    *model = NULL;
}
