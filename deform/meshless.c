/* A body of a meshless surface: node transformations, vertices, and bounds on demand from the root down. */
#include "deform/meshless_internal.h"

#include <float.h>
#include <math.h>

#include "base/cpu.h"

/* Axes, then corners, then edges; a 14-DOP has axes and corners, an 18-DOP axes and edges. */
const signed char sac_meshless_directions[13][3] = {
    {1, 0, 0}, {0, 1, 0},  {0, 0, 1}, {1, 1, 1},  {1, 1, -1}, {1, -1, 1}, {1, -1, -1},
    {1, 1, 0}, {1, -1, 0}, {1, 0, 1}, {1, 0, -1}, {0, 1, 1},  {0, 1, -1}};

const sac_bound_kernels *sac_bound_kernels_active(void)
{
    switch (sac_simd_active()) {
#if defined(__x86_64__)
    case SAC_SIMD_AVX512:
        return &sac_bound_kernels_avx512;
    case SAC_SIMD_AVX2:
        return &sac_bound_kernels_avx2;
    case SAC_SIMD_SSE2:
        return &sac_bound_kernels_sse2;
#elif defined(__aarch64__)
    case SAC_SIMD_NEON:
        return &sac_bound_kernels_neon;
#endif
    default:
        return &sac_bound_kernels_scalar;
    }
}

static uint32_t wide_of(const sac_meshless_model *m) { return SAC_MESHLESS_WIDE(m->def.k); }

static void put(sac_meshless *body, uint32_t given, const float rows[3][4])
{
    uint32_t node = body->model->slot[given];
    uint32_t half_k = body->model->def.k / 2, wide = wide_of(body->model);
    float *row = body->rows + (size_t)node * SAC_MESHLESS_ROW;
    float *block = body->blocks + (size_t)(node / 8) * 8 * SAC_MESHLESS_ROW + node % 8;
    float *column = body->wide + (size_t)node * 4 * wide;
    for (uint32_t c = 0; c < 4; c++, column += wide)
        for (uint32_t r = 0; r < half_k; r++) {
            if (r < 3) {
                row[c * 4 + r] = block[(size_t)(c * 4 + r) * 8] = rows[r][c];
                column[r] = rows[r][c];
            } else {
                float g[3];
                sac_meshless_direction(2 * half_k, r, g);
                column[r] = (g[0] * rows[0][c] + g[1] * rows[1][c]) + g[2] * rows[2][c];
            }
            column[half_k + r] = -column[r];
            if (half_k == 3 && r < 2) column[6 + r] = column[r];
        }
}

sac_result sac_meshless_create(const sac_meshless_model *model, sac_meshless **out_body, sac_error *error)
{
    SAC_NEED(error, out_body);
    *out_body = NULL;
    SAC_NEED(error, model);
    sac_meshless *body = sac_alloc_zero(1, sizeof *body);
    if (!body) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a meshless body");
    sac_arena_init(&body->arena);
    body->model = model;
    body->step = 1, body->changed = true;
    uint32_t wide = wide_of(model), blocks = (model->node_count + 7) / 8;
    size_t rows = (size_t)model->node_count * SAC_MESHLESS_ROW,
           columns = (size_t)model->node_count * 4 * wide;
    body->rows = sac_arena_alloc(&body->arena, rows, sizeof(float));
    body->blocks = sac_arena_alloc(&body->arena, (size_t)blocks * 8 * SAC_MESHLESS_ROW, sizeof(float));
    body->wide = sac_arena_alloc(&body->arena, columns, sizeof(float));
    body->dops = sac_arena_alloc(&body->arena, ((size_t)model->tree_count + 1) * wide, sizeof(float));
    body->now = sac_arena_alloc(&body->arena, model->vertex_count, sizeof *body->now);
    body->vertex_stamp = sac_arena_alloc(&body->arena, model->vertex_count, sizeof *body->vertex_stamp);
    body->state = sac_arena_alloc(&body->arena, model->tree_count, sizeof *body->state);
    body->drift = sac_arena_alloc(&body->arena, SAC_MESHLESS_LASTS + 1, sizeof *body->drift);
    body->then = sac_arena_alloc(&body->arena, (size_t)blocks * 8 * SAC_MESHLESS_ROW, sizeof(float));
    body->scratch =
        sac_arena_alloc(&body->arena, SAC_MESHLESS_SCRATCH(model->most_lanes, model->def.k), sizeof(float));
    if (!body->rows || !body->blocks || !body->wide || !body->dops || !body->state || !body->drift ||
        !body->then || !body->scratch || !body->now || !body->vertex_stamp) {
        sac_meshless_destroy(&body);
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a meshless body of %u vertices",
                             model->vertex_count);
    }
    body->dops += wide; /* the two children of a node, 1 and 2 first, begin with a cache line */
    memset(body->state, 0, model->tree_count * sizeof *body->state);
    memset(body->drift, 0, (SAC_MESHLESS_LASTS + 1) * sizeof *body->drift);
    memset(body->then, 0, (size_t)blocks * 8 * SAC_MESHLESS_ROW * sizeof(float));
    memset(body->vertex_stamp, 0, model->vertex_count * sizeof *body->vertex_stamp);
    memset(body->rows, 0, rows * sizeof(float));
    memset(body->blocks, 0, (size_t)blocks * 8 * SAC_MESHLESS_ROW * sizeof(float));
    memset(body->wide, 0, columns * sizeof(float));
    for (uint32_t j = 0; j < model->node_count; j++)
        put(body, j, (const float[3][4]){{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}});
    *out_body = body;
    return SAC_OK;
}

void sac_meshless_destroy(sac_meshless **body)
{
    if (!body || !*body) return;
    sac_arena_fini(&(*body)->arena);
    sac_free(*body, 1, sizeof **body);
    *body = NULL;
}

sac_result sac_meshless_set_node(sac_meshless *body, uint32_t node, const float rows[3][4], sac_error *error)
{
    SAC_NEED(error, body, rows);
    if (node >= body->model->node_count)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "node %u of %u", node, body->model->node_count);
    for (int i = 0; i < 12; i++)
        if (!(fabsf(rows[i / 4][i % 4]) <= SAC_SOFT_REACH))
            return sac_error_set(error, SAC_ERROR_ARGUMENT, "finite, at most 1e6",
                                 "the transformation of node %u has the entry %g", node,
                                 (double)rows[i / 4][i % 4]);
    put(body, node, rows);
    body->changed = true;
    return SAC_OK;
}

/* x_j + A (x - x0_j), A by least squares over the neighbours; directions they do not have turn with the
 * cluster. */
sac_result sac_meshless_follow(sac_meshless *body, const sac_soft *soft, sac_error *error)
{
    SAC_NEED(error, body, soft);
    const sac_meshless_model *m = body->model;
    if (soft->model->count != m->node_count)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "make the soft body from the simulation nodes",
                             "%u points for %u nodes", soft->model->count, m->node_count);
    const float *now[3] = {soft->x, soft->y, soft->z};
    const uint32_t *place = soft->model->place;
    for (uint32_t j = 0; j < m->node_count; j++) {
        const uint32_t at = place[j];
        double moment[3][3] = {{0}}, turn[3][3];
        sac_turn_rows(soft->clusters[soft->model->home[at]].turn, turn);
        for (uint32_t n = m->near_first[j]; n < m->near_first[j + 1]; n++) {
            uint32_t i = m->near[n];
            for (int c = 0; c < 3; c++) {
                double q = (double)m->nodes[i][c] - m->nodes[j][c];
                for (int r = 0; r < 3; r++) moment[r][c] += ((double)now[r][place[i]] - now[r][at]) * q;
            }
        }
        float rows[3][4];
        for (int r = 0; r < 3; r++) {
            double t = now[r][at];
            for (int c = 0; c < 3; c++) {
                double a = 0;
                for (int i = 0; i < 3; i++)
                    a += turn[r][i] * m->near_keep[j][i][c] + moment[r][i] * m->near_inverse[j][i][c];
                if (!(fabs(a) < 1e6)) a = turn[r][c];
                rows[r][c] = (float)a;
                t -= a * m->nodes[j][c];
            }
            rows[r][3] = (float)t;
        }
        put(body, j, (const float(*)[4])rows);
    }
    body->changed = true;
    return SAC_OK;
}

static sac_skin_job skin_of(const sac_meshless *body, float (*now)[8])
{
    const sac_meshless_model *m = body->model;
    return (sac_skin_job){body->rows, (const float(*)[4])m->vertices, m->first, m->influence, now};
}

void sac_meshless_place(const sac_meshless *body, uint32_t v, float out[8])
{
    const sac_meshless_model *m = body->model;
    /* One vertex by itself, wherever its neighbours are. */
    sac_skin_job job = {body->rows, (const float(*)[4])m->vertices + v, m->first + v, m->influence,
                        (float(*)[8])out};
    sac_bound_kernels_active()->skin(&job, 0, 1);
}

void sac_meshless_vertex(const sac_meshless *body, uint32_t vertex, float out[3])
{
    float now[8];
    sac_meshless_place(body, body->model->place[vertex], now);
    memcpy(out, now, 3 * sizeof(float));
}

/* The first query after a change begins a step. A surface most of which was looked at in the last one is
 * refitted as a whole: that costs less than asking for it piece by piece. */
void sac_meshless_begin(sac_meshless *body)
{
    const sac_meshless_model *m = body->model;
    if (!body->changed) return;
    body->changed = false;
    if (++body->step == 0) { /* stamps of another age */
        memset(body->state, 0, m->tree_count * sizeof *body->state);
        memset(body->vertex_stamp, 0, m->vertex_count * sizeof *body->vertex_stamp);
        body->step = 1, body->whole_step = body->drift_step = 0;
    }
    body->whole = body->skinned = false;
    body->looked_before = body->looked, body->looked = 0;
    if (body->looked_before > m->patch_count * SAC_MESHLESS_WHOLE) sac_meshless_refit(body);
}

static void skin_all(sac_meshless *body)
{
    if (body->skinned) return;
    sac_skin_job skin = skin_of(body, body->now);
    sac_bound_kernels_active()->skin(&skin, 0, body->model->vertex_count);
    body->skinned = true;
}

sac_meshless_view sac_meshless_view_of(sac_meshless *body)
{
    if (!body) return (sac_meshless_view){0};
    const sac_meshless_model *m = body->model;
    sac_meshless_begin(body);
    skin_all(body);
    return (sac_meshless_view){(const float(*)[8])body->now,
                               m->triangle_count ? (const uint32_t(*)[3])m->given_corners : NULL,
                               m->vertex_count, m->triangle_count};
}

void sac_meshless_refit(sac_meshless *body)
{
    if (!body) return;
    const sac_meshless_model *m = body->model;
    if (body->changed) body->looked = 0, sac_meshless_begin(body);
    if (body->whole) return;
    sac_look_job look = {m->tree,    m->corners,      (const float(*)[8])body->now,
                         body->dops, m->corner_count, m->def.k};
    skin_all(body);
    sac_bound_kernels_active()->look(&look, 0, m->tree_count);
    body->whole = true, body->whole_step = body->step;
    body->refits += m->tree_count;
}

void sac_meshless_bound(sac_meshless *body, uint32_t node, sac_meshless_fit fit, float *out)
{
    const sac_meshless_model *m = body->model;
    const sac_meshless_rest *rest = &m->rest[node];
    sac_bound_job job = {body->rows,
                         body->blocks,
                         body->wide,
                         m->limit_node + rest->limits.first,
                         m->low + rest->limits.first,
                         m->room + rest->limits.first,
                         rest->limits.count,
                         rest->limits.lanes,
                         m->def.k,
                         rest,
                         fit == SAC_MESHLESS_EXACT,
                         m->def.box == SAC_MESHLESS_OBB,
                         body->scratch};
    sac_bound_kernels_active()->bound(&job, out);
}

/* The last step is in `then`. A step that nobody noted ends what is known. */
void sac_meshless_note_drift(sac_meshless *body)
{
    const sac_meshless_model *m = body->model;
    uint32_t wide = wide_of(m);
    if (body->drift_step == body->step) return;
    if (!body->drift_step || body->drift_step != body->step - 1) body->drift_from = body->step;
    body->drift_step = body->step;
    for (uint32_t n = SAC_MESHLESS_LASTS; n > 1; n--)
        memcpy(body->drift[n], body->drift[n - 1], wide * sizeof(float));
    sac_drift_job job = {body->blocks, body->then, m->reach, (m->node_count + 7) / 8, m->def.k};
    sac_bound_kernels_active()->drift(&job, body->drift[1]);
    for (uint32_t n = 2; n <= SAC_MESHLESS_LASTS; n++)
        for (uint32_t d = 0; d < wide; d++) body->drift[n][d] += body->drift[1][d];
    for (uint32_t n = 1; n <= SAC_MESHLESS_LASTS; n++) {
        body->drift_spread[n] = 0;
        for (uint32_t d = 0; d < 3; d++)
            body->drift_spread[n] += body->drift[n][d] + body->drift[n][m->def.k / 2 + d];
    }
}

/* The bound of an earlier step, wherever its vertices have gone since; false if that was too long ago. */
static bool carry_on(sac_meshless *body, uint32_t node)
{
    sac_meshless_state *state = &body->state[node];
    uint32_t wide = wide_of(body->model), since = state->stamp, made = state->made;
    if (made < body->whole_step) since = made = body->whole_step;
    if (body->drift_step != body->step || !made || made < body->drift_from ||
        body->step - made > SAC_MESHLESS_LASTS ||
        body->drift_spread[body->step - made] > SAC_MESHLESS_LOOSE * body->model->girth[node])
        return false;
    float *out = body->dops + (size_t)node * wide;
    const float *way = body->drift[body->step - since];
    for (uint32_t d = 0; d < wide; d++) out[d] += way[d];
    state->stamp = body->step, state->made = made, state->fit = SAC_MESHLESS_OLD;
    return true;
}

/* A patch from its vertices, with all below it: they cost less than bounds would, and are as tight as can be.
 */
static void look_at(sac_meshless *body, const sac_meshless_patch *patch)
{
    const sac_meshless_model *m = body->model;
    const sac_bound_kernels *kernels = sac_bound_kernels_active();
    sac_meshless_state *state = &body->state[patch->node];
    if (state->stamp == body->step && state->fit == SAC_MESHLESS_FINE) return;
    state->stamp = state->made = body->step, state->fit = SAC_MESHLESS_FINE;
    body->looked++;
    if (body->whole) return;
    sac_skin_job skin = skin_of(body, body->now);
    sac_look_job look = {m->tree,    m->corners,      (const float(*)[8])body->now,
                         body->dops, m->corner_count, m->def.k};
    if (!body->skinned)
        kernels->skin_some(&skin, m->patch_vertex + patch->first_vertex,
                           patch->end_vertex - patch->first_vertex, body->vertex_stamp, body->step);
    kernels->look(&look, patch->first_node, patch->end_node);
    kernels->look(&look, patch->node, patch->node + 1);
    body->refits += patch->end_node - patch->first_node + 1;
}

static void merge(float *out, const float *a, uint32_t wide)
{
    for (uint32_t d = 0; d < wide; d++) out[d] = a[d] > a[wide + d] ? a[d] : a[wide + d];
}

/* A node's vertices are also its parent's. */
static void bound_within(sac_meshless *body, uint32_t node, sac_meshless_fit fit)
{
    uint32_t wide = wide_of(body->model), parent = body->model->tree[node].parent;
    float *out = body->dops + (size_t)node * wide;
    sac_meshless_bound(body, node, fit, out);
    body->refits++;
    if (!node || body->state[parent].stamp != body->step) return;
    const float *up = body->dops + (size_t)parent * wide;
    for (uint32_t d = 0; d < wide; d++) out[d] = up[d] < out[d] ? up[d] : out[d];
}

static bool goes_on(const sac_meshless *body, uint32_t node)
{
    uint32_t asked = body->state[body->model->tree[node].child].asked;
    return asked && body->step - asked <= SAC_MESHLESS_KEEP;
}

static void make(sac_meshless *body, uint32_t node, bool rough)
{
    const sac_meshless_model *m = body->model;
    const sac_meshless_node *n = &m->tree[node];
    uint32_t wide = wide_of(m);
    body->state[node].fit = SAC_MESHLESS_FINE;
    if (goes_on(body, node)) {
        /* The last query went on below: so will this one. Bounds are made at its front, and merged above. */
        for (uint32_t c = n->child; c < n->child + 2; c++) {
            if (body->state[c].stamp == body->step && body->state[c].fit != SAC_MESHLESS_OLD) continue;
            if (m->patch_of[c] == UINT32_MAX && goes_on(body, c))
                make(body, c, rough);
            else
                sac_meshless_fit_node(body, c, rough);
        }
        merge(body->dops + (size_t)node * wide, body->dops + (size_t)n->child * wide, wide);
        body->refits++;
    } else if (rough && m->def.fit == SAC_MESHLESS_EXACT) {
        bound_within(body, node, SAC_MESHLESS_EQ12);
        body->state[node].fit = SAC_MESHLESS_ROUGH;
    } else {
        bound_within(body, node, m->def.fit);
    }
    body->state[node].stamp = body->state[node].made = body->step;
}

const float *sac_meshless_fit_node(sac_meshless *body, uint32_t node, bool rough)
{
    const sac_meshless_model *m = body->model;
    uint32_t patch = m->patch_of[node];
    const float *out = body->dops + (size_t)node * wide_of(m);
    if (patch != UINT32_MAX) {
        /* What is inside a patch is as its top. */
        if (rough && !body->whole && m->patches[patch].node == node &&
            (body->state[node].stamp == body->step || carry_on(body, node)))
            return out;
        look_at(body, &m->patches[patch]);
    } else if (!body->whole && body->state[node].stamp != body->step && !(rough && carry_on(body, node))) {
        make(body, node, rough);
    }
    return out;
}

bool sac_meshless_refine(sac_meshless *body, uint32_t node)
{
    const sac_meshless_model *m = body->model;
    uint32_t patch = m->patch_of[node];
    if (body->whole || body->state[node].fit == SAC_MESHLESS_FINE || body->state[node].stamp != body->step)
        return false;
    if (patch != UINT32_MAX) {
        look_at(body, &m->patches[patch]);
    } else if (body->state[node].fit == SAC_MESHLESS_OLD) {
        make(body, node, true);
    } else {
        body->state[node].fit = SAC_MESHLESS_FINE;
        bound_within(body, node, m->def.fit);
    }
    return true;
}

const float *sac_meshless_dop(sac_meshless *body, uint32_t node)
{
    sac_meshless_begin(body);
    body->state[node].asked = body->step;
    const float *out = sac_meshless_fit_node(body, node, false);
    while (sac_meshless_refine(body, node)) continue;
    return out;
}

sac_meshless_lump sac_meshless_lump_of(const sac_meshless_model *model, uint32_t node)
{
    const sac_meshless_limits *l = &model->rest[node].limits;
    return (sac_meshless_lump){l->count, model->lump_node + l->lump_first, model->mean + l->lump_first};
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

uint32_t sac_meshless_node_count(const sac_meshless_model *model) { return model ? model->tree_count : 0; }

void sac_meshless_direction(uint32_t k, uint32_t d, float out[3])
{
    if (!out) return;
    if (k == 18 && d >= 3) d += 4; /* no corners */
    for (int i = 0; i < 3; i++) out[i] = sac_meshless_directions[d][i];
}

uint64_t sac_meshless_refits(const sac_meshless *body) { return body ? body->refits : 0; }
