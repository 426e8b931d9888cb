/* A body of a meshless surface: node transformations, vertices, and bounds on demand from the root down. */
#include "deform/meshless_internal.h"

#include <float.h>
#include <math.h>

#include "base/cpu.h"

/* Axes, then corners, then edges; a 14-DOP has axes and corners, an 18-DOP axes and edges. */
const signed char sac_meshless_directions[13][3] = {
    {1, 0, 0}, {0, 1, 0},  {0, 0, 1}, {1, 1, 1},  {1, 1, -1}, {1, -1, 1}, {1, -1, -1},
    {1, 1, 0}, {1, -1, 0}, {1, 0, 1}, {1, 0, -1}, {0, 1, 1},  {0, 1, -1}};

static sac_bound_kernel *kernel_active(void)
{
    switch (sac_simd_active()) {
#if defined(__x86_64__)
    case SAC_SIMD_AVX512:
    case SAC_SIMD_AVX2:
        return sac_bound_kernel_avx2;
    case SAC_SIMD_SSE2:
        return sac_bound_kernel_sse2;
#elif defined(__aarch64__)
    case SAC_SIMD_NEON:
        return sac_bound_kernel_neon;
#endif
    default:
        return sac_bound_kernel_scalar;
    }
}

double sac_bound_fill(float *b, float *room, uint32_t count, double left)
{
    double value = 0;
    while (count && left > 0) {
        /* Halves by the middle of three; all above the pivot come first. */
        float x = b[0], y = b[count / 2], z = b[count - 1];
        float pivot = x < y ? (y < z ? y : x < z ? z : x) : (x < z ? x : y < z ? z : y);
        double above = 0, sum = 0, equal = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (b[i] > pivot) above += room[i], sum += (double)room[i] * b[i];
            if (b[i] == pivot) equal += room[i];
        }
        bool inside = above >= left; /* the end of the fill is above the pivot */
        if (!inside) {
            value += sum, left -= above;
            double take = equal < left ? equal : left;
            value += take * pivot, left -= take;
        }
        uint32_t keep = 0;
        for (uint32_t i = 0; i < count; i++)
            if (inside ? b[i] > pivot : b[i] < pivot) b[keep] = b[i], room[keep++] = room[i];
        count = keep;
    }
    return value;
}

static void put(sac_meshless *body, uint32_t node, const float entries[12])
{
    float *block = body->blocks + (size_t)(node / 8) * 8 * SAC_MESHLESS_ENTRIES + node % 8;
    memcpy(body->rows + (size_t)node * SAC_MESHLESS_ROW, entries, SAC_MESHLESS_ENTRIES * sizeof(float));
    for (uint32_t e = 0; e < SAC_MESHLESS_ENTRIES; e++) block[(size_t)e * 8] = entries[e];
}

sac_result sac_meshless_create(const sac_meshless_model *model, sac_meshless **out_body, sac_error *error)
{
    *out_body = NULL;
    sac_meshless *body = sac_alloc_zero(1, sizeof *body);
    if (!body) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a meshless body");
    sac_arena_init(&body->arena);
    body->model = model;
    body->step = 1;
    uint32_t k = model->def.k;
    body->rows = sac_arena_alloc(&body->arena, (size_t)model->node_count * SAC_MESHLESS_ROW, sizeof(float));
    uint32_t blocks = (model->node_count + 7) / 8;
    body->blocks = sac_arena_alloc(&body->arena, (size_t)blocks * 8 * SAC_MESHLESS_ENTRIES, sizeof(float));
    body->dops = sac_arena_alloc(&body->arena, (size_t)model->tree_count * k, sizeof(float));
    body->vertices = sac_arena_alloc(&body->arena, model->vertex_count, sizeof *body->vertices);
    body->vertex_stamp = sac_arena_alloc(&body->arena, model->vertex_count, sizeof *body->vertex_stamp);
    body->asked = sac_arena_alloc(&body->arena, model->tree_count, sizeof *body->asked);
    body->stamp = sac_arena_alloc(&body->arena, model->tree_count, sizeof *body->stamp);
    body->scratch = sac_arena_alloc(&body->arena, SAC_MESHLESS_SCRATCH(model->most_lanes, k), sizeof(float));
    if (!body->rows || !body->blocks || !body->dops || !body->stamp || !body->asked || !body->scratch ||
        !body->vertices || !body->vertex_stamp) {
        sac_meshless_destroy(&body);
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a meshless body of %u vertices",
                             model->vertex_count);
    }
    memset(body->stamp, 0, model->tree_count * sizeof *body->stamp);
    memset(body->asked, 0, model->tree_count * sizeof *body->asked);
    body->asking = body->asked_before = UINT64_MAX;
    memset(body->vertex_stamp, 0, model->vertex_count * sizeof *body->vertex_stamp);
    memset(body->rows, 0, (size_t)model->node_count * SAC_MESHLESS_ROW * sizeof(float));
    memset(body->blocks, 0, (size_t)blocks * 8 * SAC_MESHLESS_ENTRIES * sizeof(float));
    for (uint32_t j = 0; j < model->node_count; j++)
        put(body, j, (const float[12]){1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0});
    *out_body = body;
    return SAC_OK;
}

void sac_meshless_destroy(sac_meshless **body)
{
    if (!*body) return;
    sac_arena_fini(&(*body)->arena);
    sac_free(*body, 1, sizeof **body);
    *body = NULL;
}

sac_result sac_meshless_set_node(sac_meshless *body, uint32_t node, const float rows[3][4], sac_error *error)
{
    if (node >= body->model->node_count)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "node %u of %u", node, body->model->node_count);
    for (int i = 0; i < 12; i++)
        if (!(fabsf(rows[i / 4][i % 4]) <= SAC_SOFT_REACH))
            return sac_error_set(error, SAC_ERROR_ARGUMENT, "finite, at most 1e6",
                                 "the transformation of node %u has the entry %g", node,
                                 (double)rows[i / 4][i % 4]);
    put(body, node, &rows[0][0]);
    body->step++;
    return SAC_OK;
}

/* x_j + A (x - x0_j), A by least squares over the neighbours; directions they do not have turn with the
 * cluster. */
sac_result sac_meshless_follow(sac_meshless *body, const sac_soft *soft, sac_error *error)
{
    const sac_meshless_model *m = body->model;
    if (soft->model->count != m->node_count)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "make the soft body from the simulation nodes",
                             "%u points for %u nodes", soft->model->count, m->node_count);
    const float *now[3] = {soft->x, soft->y, soft->z};
    for (uint32_t j = 0; j < m->node_count; j++) {
        double moment[3][3] = {{0}}, rest[3][3] = {{0}}, turn[3][3], a[3][3];
        sac_turn_rows(soft->clusters[soft->model->home[j]].turn, turn);
        for (uint32_t n = m->near_first[j]; n < m->near_first[j + 1]; n++) {
            uint32_t i = m->near[n];
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++) {
                    double q = (double)m->nodes[i][c] - m->nodes[j][c];
                    moment[r][c] += ((double)now[r][i] - now[r][j]) * q;
                    rest[r][c] += ((double)m->nodes[i][r] - m->nodes[j][r]) * q;
                }
        }
        float row[SAC_MESHLESS_ENTRIES];
        for (int r = 0; r < 3; r++) {
            double t = now[r][j];
            for (int c = 0; c < 3; c++) {
                a[r][c] = turn[r][c];
                for (int i = 0; i < 3; i++) {
                    double rigid =
                        turn[r][0] * rest[0][i] + turn[r][1] * rest[1][i] + turn[r][2] * rest[2][i];
                    a[r][c] += (moment[r][i] - rigid) * m->near_inverse[j][i][c];
                }
                if (!(fabs(a[r][c]) < 1e6)) a[r][c] = turn[r][c];
                row[r * 4 + c] = (float)a[r][c];
                t -= a[r][c] * m->nodes[j][c];
            }
            row[r * 4 + 3] = (float)t;
        }
        put(body, j, row);
    }
    body->step++;
    return SAC_OK;
}

/* The nodes' rows are blended first, all of a cache line at once; one product with the vertex is left. */
void sac_meshless_vertex(const sac_meshless *body, uint32_t vertex, float out[3])
{
    const sac_meshless_model *m = body->model;
    const float *v = m->vertices[vertex];
    float blend[SAC_MESHLESS_ENTRIES] = {0};
    for (uint32_t i = m->first[vertex]; i < m->first[vertex + 1]; i++) {
        const float *row = body->rows + (size_t)m->influence[i] * SAC_MESHLESS_ROW;
        float w = m->weight[i];
        for (int e = 0; e < SAC_MESHLESS_ENTRIES; e++) blend[e] += w * row[e];
    }
    for (int r = 0; r < 3; r++) {
        const float *row = blend + (size_t)r * 4;
        out[r] = (row[0] * v[0] + row[1] * v[1]) + (row[2] * v[2] + row[3]);
    }
}

/* The same, at most once a step. */
static const float *vertex_now(sac_meshless *body, uint32_t vertex)
{
    if (body->vertex_stamp[vertex] != body->step) {
        body->vertex_stamp[vertex] = body->step;
        sac_meshless_vertex(body, vertex, body->vertices[vertex]);
    }
    return body->vertices[vertex];
}

void sac_meshless_bound(sac_meshless *body, uint32_t node, sac_meshless_fit fit, float *out)
{
    const sac_meshless_model *m = body->model;
    const sac_meshless_node *n = &m->tree[node];
    sac_bound_job job = {body->rows,
                         body->blocks,
                         m->limit_node + n->limits.first,
                         m->low + n->limits.first,
                         m->high + n->limits.first,
                         n->limits.count,
                         n->limits.lanes,
                         m->def.k,
                         {0},
                         {0},
                         m->low_sum[node],
                         fit == SAC_MESHLESS_EXACT,
                         body->scratch};
    for (int i = 0; i < 3; i++) job.centre[i] = n->centre[i], job.half[i] = n->half[i];
    kernel_active()(&job, out);
}

static void look(sac_meshless *body, const sac_meshless_node *n, float *out)
{
    const sac_meshless_model *m = body->model;
    uint32_t half_k = m->def.k / 2, corners = m->triangle_count ? 3 : 1;
    for (uint32_t d = 0; d < half_k; d++) out[d] = -FLT_MAX, out[half_k + d] = FLT_MAX;
    for (uint32_t i = n->first; i < n->first + n->count; i++)
        for (uint32_t c = 0; c < corners; c++) {
            const float *v =
                vertex_now(body, m->triangle_count ? m->triangles[m->primitives[i]][c] : m->primitives[i]);
            for (uint32_t d = 0; d < half_k; d++) {
                float g[3], at, slack;
                sac_meshless_direction(m->def.k, d, g);
                at = (g[0] * v[0] + g[1] * v[1]) + g[2] * v[2];
                slack = d < 3 ? 0 : 2e-7f * (fabsf(v[0]) + fabsf(v[1]) + fabsf(v[2])); /* axes are exact */
                out[d] = at + slack > out[d] ? at + slack : out[d];
                out[half_k + d] = at - slack < out[half_k + d] ? at - slack : out[half_k + d];
            }
        }
}

/* A node of few primitives from its vertices, with all below it: they cost less than bounds would, and are as
 * tight as can be. */
static const float *look_below(sac_meshless *body, uint32_t node)
{
    const sac_meshless_node *n = &body->model->tree[node];
    uint32_t k = body->model->def.k;
    float *out = body->dops + (size_t)node * k;
    if (body->stamp[node] == body->step) return out;
    body->stamp[node] = body->step;
    body->refits++;
    if (!n->child) {
        look(body, n, out);
        return out;
    }
    const float *a = look_below(body, n->child), *b = look_below(body, n->child + 1);
    for (uint32_t d = 0; d < k / 2; d++) out[d] = a[d] > b[d] ? a[d] : b[d];
    for (uint32_t d = k / 2; d < k; d++) out[d] = a[d] < b[d] ? a[d] : b[d];
    return out;
}

static const float *fit(sac_meshless *body, uint32_t node)
{
    const sac_meshless_model *m = body->model;
    const sac_meshless_node *n = &m->tree[node];
    uint32_t k = m->def.k;
    float *out = body->dops + (size_t)node * k;
    if (body->stamp[node] == body->step) return out;
    if (!n->child || n->count <= SAC_MESHLESS_FEW) return look_below(body, node);
    body->refits++;
    if (body->asked[n->child] == body->asked_before) {
        /* The last query went on below: so will this one. Bounds are made at its front, and merged above. */
        const float *a = fit(body, n->child), *b = fit(body, n->child + 1);
        for (uint32_t d = 0; d < k / 2; d++) out[d] = a[d] > b[d] ? a[d] : b[d];
        for (uint32_t d = k / 2; d < k; d++) out[d] = a[d] < b[d] ? a[d] : b[d];
    } else {
        sac_meshless_bound(body, node, m->def.fit, out);
        if (node && body->stamp[n->parent] == body->step) { /* its vertices are also its parent's */
            const float *up = body->dops + (size_t)n->parent * k;
            for (uint32_t d = 0; d < k / 2; d++) {
                if (up[d] < out[d]) out[d] = up[d];
                if (up[k / 2 + d] > out[k / 2 + d]) out[k / 2 + d] = up[k / 2 + d];
            }
        }
    }
    body->stamp[node] = body->step;
    return out;
}

const float *sac_meshless_dop(sac_meshless *body, uint32_t node)
{
    if (body->asking != body->step) body->asked_before = body->asking, body->asking = body->step;
    body->asked[node] = body->step;
    return fit(body, node);
}

bool sac_meshless_children(const sac_meshless_model *model, uint32_t node, uint32_t *out_first)
{
    *out_first = model->tree[node].child;
    return model->tree[node].child;
}

const uint32_t *sac_meshless_primitives(const sac_meshless_model *model, uint32_t node, uint32_t *out_count)
{
    *out_count = model->tree[node].count;
    return model->primitives + model->tree[node].first;
}

uint32_t sac_meshless_node_count(const sac_meshless_model *model) { return model->tree_count; }

void sac_meshless_direction(uint32_t k, uint32_t d, float out[3])
{
    if (k == 18 && d >= 3) d += 4; /* no corners */
    for (int i = 0; i < 3; i++) out[i] = sac_meshless_directions[d][i];
}

uint64_t sac_meshless_refits(const sac_meshless *body) { return body->refits; }
