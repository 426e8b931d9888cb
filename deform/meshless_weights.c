/* What the vertices of a meshless surface follow, and what a definition must not be. */
#include <float.h>
#include <math.h>

#include "deform/meshless_internal.h"

enum { NEIGHBOURS = 8 };

sac_meshless_def sac_default_meshless_def(void)
{
    return (sac_meshless_def){.k = 6, .fit = SAC_MESHLESS_EXACT, .influences = 8, .leaf = 2};
}

sac_result sac_meshless_check(const sac_meshless_surface *s, const float (*nodes)[3], uint32_t node_count,
                              const sac_meshless_weights *w, const sac_meshless_def *def, sac_error *error)
{
    if (def->k != 6 && def->k != 14 && def->k != 18 && def->k != 26)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "6, 14, 18 or 26", "a %u-DOP", def->k);
    if (!def->leaf || !def->influences || def->influences > SAC_MESHLESS_MOST_INFLUENCES ||
        (unsigned)def->fit > SAC_MESHLESS_EQ12 || (unsigned)def->box > SAC_MESHLESS_OBB)
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

/* (1 - d^2 / h^2)^3, h the distance of the first node that is left out: weights go to 0 where they end. Nodes
 * whose weight is 0 are not followed. */
uint32_t sac_meshless_find_weights(const sac_meshless_model *m, const float rest[3], uint32_t vertex,
                                   const sac_meshless_weights *given, sac_meshless_influence *out)
{
    uint32_t most = m->def.influences, who[SAC_MESHLESS_MOST_INFLUENCES + 1], count = 0, kept = 0;
    double d2[SAC_MESHLESS_MOST_INFLUENCES + 1], raw[SAC_MESHLESS_MOST_INFLUENCES + 1], sum = 0;
    if (given) {
        for (uint32_t k = given->first[vertex]; k < given->first[vertex + 1]; k++)
            raw[count] = given->weight[k], who[count++] = given->node[k];
    } else {
        uint32_t n = nearest(m, rest, most + 1, who, d2);
        double h2 = (n > most ? d2[most] : d2[n - 1] * 1.44) * (1 + 1e-6) + 1e-12;
        count = n < most ? n : most;
        for (uint32_t k = 0; k < count; k++) {
            double w = 1 - d2[k] / h2;
            raw[k] = w * w * w;
        }
    }
    for (uint32_t k = 0; k < count; k++) sum += raw[k];
    for (uint32_t k = 0; k < count; k++) {
        out[kept] = (sac_meshless_influence){who[k], (float)(raw[k] / sum)};
        kept += out[kept].weight > 0;
    }
    return kept;
}

/* The gradient of a node is turn + (moment - turn rest) inverse, with the moments of its neighbours now and
 * at rest: turn keep + moment inverse, keep = 1 - rest inverse. */
bool sac_meshless_find_neighbours(sac_meshless_model *m)
{
    uint32_t who[NEIGHBOURS + 1], n = m->node_count - 1 < NEIGHBOURS ? m->node_count - 1 : NEIGHBOURS;
    double d2[NEIGHBOURS + 1];
    m->near_first = sac_arena_alloc(&m->arena, m->node_count + 1, sizeof *m->near_first);
    m->near = sac_arena_alloc(&m->arena, (size_t)m->node_count * n + 1, sizeof *m->near);
    m->near_inverse = sac_arena_alloc(&m->arena, m->node_count, sizeof *m->near_inverse);
    m->near_keep = sac_arena_alloc(&m->arena, m->node_count, sizeof *m->near_keep);
    if (!m->near_first || !m->near || !m->near_inverse || !m->near_keep) return false;
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
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) {
                m->near_keep[j][r][c] = r == c;
                for (int i = 0; i < 3; i++) m->near_keep[j][r][c] -= moment[r][i] * m->near_inverse[j][i][c];
            }
    }
    m->near_first[m->node_count] = at;
    return true;
}
