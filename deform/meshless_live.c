/* A meshless surface as a tree like any other: three levels of its hierarchy to a block of eight, spheres
 * about the k-DOPs where a meeting opens, and about the vertices themselves at the leaves. */
#include <math.h>

#include "base/simd.h"
#include "deform/meshless_internal.h"

/* ---- the eight-wide view of a model ---- */

/* Up to eight nodes at most three levels below one, or itself: leaves stay. */
static uint32_t gather(const sac_meshless_model *m, uint32_t node, uint32_t out[SAC_LANES])
{
    uint32_t count = 1;
    out[0] = node;
    for (int level = 0; level < 3; level++)
        for (uint32_t i = count; i-- > 0;) { /* from the last, so that new ones are not opened twice */
            uint32_t child = m->tree[out[i]].child;
            if (child) out[i] = child, out[count++] = child + 1;
        }
    return count;
}

/* Mean normals of tree nodes at rest, zero where triangles do not agree within SAC_CONTACT_CONE. */
static bool find_normals(sac_meshless_model *m)
{
    const double agree = 0.9394; /* its cosine */
    if (!m->triangle_count) return true;
    m->normal = sac_arena_alloc(&m->arena, m->tree_count, sizeof *m->normal);
    float(*each)[3] = sac_alloc(m->triangle_count, sizeof *each);
    if (!m->normal || !each) {
        sac_free(each, m->triangle_count, sizeof *each);
        return false;
    }
    for (uint32_t i = 0; i < m->triangle_count; i++) {
        const float *p = m->vertices[m->corners[i * 3]], *q = m->vertices[m->corners[i * 3 + 1]],
                    *r = m->vertices[m->corners[i * 3 + 2]];
        double u[3], v[3];
        for (int k = 0; k < 3; k++) u[k] = (double)q[k] - p[k], v[k] = (double)r[k] - p[k];
        for (int k = 0; k < 3; k++)
            each[i][k] = (float)(u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3]);
    }
    for (uint32_t node = 0; node < m->tree_count; node++) {
        const sac_meshless_node *n = &m->tree[node];
        double sum[3] = {0}, length = 0;
        for (uint32_t i = n->first; i < n->first + n->count; i++)
            for (int k = 0; k < 3; k++) sum[k] += each[i][k];
        for (int k = 0; k < 3; k++) length += sum[k] * sum[k];
        length = sqrt(length);
        bool known = length > 1e-30;
        for (uint32_t i = n->first; known && i < n->first + n->count; i++) {
            double along = 0, own = 0;
            for (int k = 0; k < 3; k++) along += each[i][k] * sum[k], own += (double)each[i][k] * each[i][k];
            known = along >= agree * sqrt(own) * length;
        }
        for (int k = 0; k < 3; k++) m->normal[node][k] = known ? (float)(sum[k] / length) : 0;
    }
    sac_free(each, m->triangle_count, sizeof *each);
    return true;
}

bool sac_meshless_widen(sac_meshless_model *m)
{
    uint32_t most = m->tree_count + 1; /* a block for each node that is opened */
    sac_link_block *links = sac_alloc_zero(most, sizeof *links);
    uint32_t *parents = sac_alloc_zero(most, sizeof *parents),
             *own = sac_alloc(most, SAC_LANES * sizeof *own);
    uint32_t blocks = 1, from = 0, depth = 0;
    bool ok = links && parents && own;
    if (ok) {
        for (uint32_t i = 0; i < SAC_LANES; i++) own[i] = UINT32_MAX;
        own[0] = 0;
    }
    m->level_block[0] = 0, m->level_block[1] = 1;
    while (ok && depth < SAC_TREE_MOST_DEPTH) {
        uint32_t end = blocks;
        for (uint32_t block = from; block < end; block++)
            for (uint32_t lane = 0; lane < SAC_LANES; lane++) {
                uint32_t id = block * SAC_LANES + lane, node = own[id], eight[SAC_LANES];
                if (node == UINT32_MAX) continue;
                uint32_t count = gather(m, node, eight);
                bool leaf = count == 1;
                links[block].link[lane] = leaf ? id | SAC_LINK_LEAF : blocks;
                m->wide_nodes++, m->wide_leaves += leaf;
                if (leaf) continue;
                parents[blocks] = id;
                for (uint32_t i = 0; i < SAC_LANES; i++)
                    own[blocks * SAC_LANES + i] = i < count ? eight[i] : UINT32_MAX;
                blocks++;
            }
        if (blocks == end) break;
        from = end;
        m->level_block[++depth + 1] = blocks;
    }
    m->wide_depth = depth, m->wide_blocks = blocks;
    if (ok) {
        m->links = sac_arena_alloc(&m->arena, blocks, sizeof *m->links);
        m->parents = sac_arena_alloc(&m->arena, blocks, sizeof *m->parents);
        m->wide_node = sac_arena_alloc(&m->arena, (size_t)blocks * SAC_LANES, sizeof *m->wide_node);
        ok = m->links && m->parents && m->wide_node;
    }
    if (ok) {
        memcpy(m->links, links, blocks * sizeof *links);
        memcpy(m->parents, parents, blocks * sizeof *parents);
        memcpy(m->wide_node, own, (size_t)blocks * SAC_LANES * sizeof *own);
    }
    sac_free(links, most, sizeof *links), sac_free(parents, most, sizeof *parents);
    sac_free(own, most, SAC_LANES * sizeof *own);
    return ok && find_normals(m);
}

/* ---- the spheres of a body ---- */

struct sac_meshless_cover {
    sac_arena arena;
    sac_meshless *body;
    sac_sphere_block *spheres;
    uint32_t *step; /* of each block */
    sac_tree view;
    sac_live live;
};

/* Centre and half diagonal of a box: opposites are highest values too. */
static void ball_of(const float *dop, uint32_t half_k, float out[4])
{
    float r2 = 0, size = 0;
    for (int k = 0; k < 3; k++) {
        float half = 0.5f * (dop[k] + dop[half_k + (uint32_t)k]);
        out[k] = 0.5f * (dop[k] - dop[half_k + (uint32_t)k]);
        r2 += half * half, size += fabsf(out[k]);
    }
    out[3] = sqrtf(r2) * 1.000001f + 3e-7f * size;
}

/* The farthest vertex from the middle of their box. `now` of the primitives' corners, one after the other. */
static void tight_ball(const float (*now)[8], const uint32_t *who, uint32_t count, float out[4])
{
    float r2 = 0, size = 0;
    for (uint32_t i = 0; i < count; i++) {
        const float *v = now[who ? who[i] : i];
        float d[3] = {v[0] - out[0], v[1] - out[1], v[2] - out[2]},
              one = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        r2 = one > r2 ? one : r2;
    }
    for (int k = 0; k < 3; k++) size += fabsf(out[k]);
    out[3] = sqrtf(r2) * 1.000001f + 3e-7f * size;
}

static void fit_block(sac_meshless_cover *cover, uint32_t block)
{
    sac_meshless *body = cover->body;
    const sac_meshless_model *m = body->model;
    sac_sphere_block *out = &cover->spheres[block];
    const uint32_t *own = m->wide_node + (size_t)block * SAC_LANES;
    uint32_t above = block ? m->wide_node[m->parents[block]] : 0;
    cover->step[block] = body->step;
    for (uint32_t lane = 0; lane < SAC_LANES; lane++) { /* the levels in between will be merged next time */
        if (own[lane] == UINT32_MAX) continue;
        body->state[own[lane]].asked = body->step;
        for (uint32_t n = own[lane]; n != above; n = m->tree[n].parent)
            body->state[m->tree[m->tree[n].parent].child].asked = body->step;
    }
    for (uint32_t lane = 0; lane < SAC_LANES; lane++) {
        uint32_t node = own[lane];
        float ball[4] = {NAN, NAN, NAN, NAN};
        if (node != UINT32_MAX) {
            ball_of(sac_meshless_fit_node(body, node, false), m->def.k / 2, ball);
            const sac_meshless_node *n = &m->tree[node];
            if (!n->child)
                tight_ball((const float(*)[8])body->now, m->corners + (size_t)n->first * m->corner_count,
                           n->count * m->corner_count, ball);
        }
        out->x[lane] = ball[0], out->y[lane] = ball[1], out->z[lane] = ball[2], out->r[lane] = ball[3];
    }
}

static void open_nodes(void *owner, const uint32_t *links, uint32_t count)
{
    sac_meshless_cover *cover = owner;
    sac_meshless_begin(cover->body);
    for (uint32_t i = 0; i < count; i++)
        if (!(links[i] & SAC_LINK_LEAF) && cover->step[links[i]] != cover->body->step)
            fit_block(cover, links[i]);
}

/* As the mean transformation of the node's vertices turns it: by the cofactors of its linear part. */
static void turn_normal(const sac_meshless *body, uint32_t node, float out[3])
{
    const float *n = body->model->normal[node];
    float a[3][3] = {{0}}, length = 0;
    if (n[0] == 0 && n[1] == 0 && n[2] == 0) return;
    sac_meshless_lump lump = sac_meshless_lump_of(body->model, node);
    for (uint32_t i = 0; i < lump.count; i++) {
        const float *row = body->rows + (size_t)body->model->slot[lump.node[i]] * SAC_MESHLESS_ROW;
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) a[r][c] += lump.weight[i] * row[c * 4 + r];
    }
    for (int i = 0; i < 3; i++) {
        const float *p = a[(i + 1) % 3], *q = a[(i + 2) % 3];
        for (int k = 0; k < 3; k++)
            out[i] += (p[(k + 1) % 3] * q[(k + 2) % 3] - p[(k + 2) % 3] * q[(k + 1) % 3]) * n[k];
        length += out[i] * out[i];
    }
    length = sqrtf(length);
    for (int i = 0; i < 3; i++) out[i] = length > 1e-12f ? out[i] / length : 0;
}

/* From the vertices, on the side: nothing of the body is written. */
static void look_aside(const sac_meshless *body, uint32_t node, float out[4])
{
    const sac_meshless_model *m = body->model;
    const sac_meshless_node *n = &m->tree[node];
    const uint32_t *corner = m->corners + (size_t)n->first * m->corner_count;
    float box[6] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY}, v[1][8];
    for (uint32_t i = 0; i < n->count * m->corner_count; i++) {
        sac_meshless_place(body, corner[i], v[0]);
        for (int k = 0; k < 6; k++) box[k] = v[0][k] > box[k] ? v[0][k] : box[k];
    }
    ball_of(box, 3, out);
}

static void node_now(const void *owner, uint32_t id, sac_tree_node_info *out)
{
    const sac_meshless_cover *cover = owner;
    const sac_meshless *body = cover->body;
    const sac_meshless_model *m = body->model;
    uint32_t block = id / SAC_LANES, lane = id % SAC_LANES, level = 0;
    *out = (sac_tree_node_info){.radius = NAN, .cone = 4};
    if (block >= m->wide_blocks || m->wide_node[id] == UINT32_MAX) return;
    const sac_sphere_block *s = &cover->spheres[block];
    float ball[4] = {s->x[lane], s->y[lane], s->z[lane], s->r[lane]};
    if (body->changed || cover->step[block] != body->step) look_aside(body, m->wide_node[id], ball);
    while (block >= m->level_block[level + 1]) level++;
    *out = (sac_tree_node_info){.centre = {ball[0], ball[1], ball[2]},
                                .radius = ball[3],
                                .gap = ball[3],
                                .point = {ball[0], ball[1], ball[2]},
                                .cone = 4,
                                .level = level,
                                .leaf = (m->links[block].link[lane] & SAC_LINK_LEAF) != 0};
    if (!m->normal) return;
    turn_normal(body, m->wide_node[id], out->normal);
    if (out->normal[0] != 0 || out->normal[1] != 0 || out->normal[2] != 0) out->cone = 0;
}

sac_result sac_meshless_cover_create(sac_meshless *body, sac_meshless_cover **out_cover, sac_error *error)
{
    SAC_NEED(error, out_cover);
    *out_cover = NULL;
    SAC_NEED(error, body);
    const sac_meshless_model *m = body->model;
    sac_meshless_cover *cover = sac_alloc_zero(1, sizeof *cover);
    if (!cover) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the spheres of a surface");
    sac_arena_init(&cover->arena);
    cover->body = body;
    cover->spheres = sac_arena_alloc(&cover->arena, m->wide_blocks, sizeof *cover->spheres);
    cover->step = sac_arena_alloc(&cover->arena, m->wide_blocks, sizeof *cover->step);
    if (!cover->spheres || !cover->step) {
        sac_meshless_cover_destroy(&cover);
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %u blocks of spheres",
                             m->wide_blocks);
    }
    memset(cover->step, 0, m->wide_blocks * sizeof *cover->step);
    cover->live = (sac_live){open_nodes, node_now, cover, 600};
    cover->view = (sac_tree){.branch = SAC_LANES,
                             .depth = m->wide_depth,
                             .blocks_per_node = 1,
                             .block_count = m->wide_blocks,
                             .node_count = m->wide_nodes,
                             .leaf_count = m->wide_leaves,
                             .method = SAC_METHOD_WRAPPED,
                             .spheres = cover->spheres,
                             .links = m->links,
                             .parents = m->parents};
    memcpy(cover->view.level_block, m->level_block, sizeof cover->view.level_block);
    for (uint32_t level = 0; level <= m->wide_depth; level++) {
        cover->view.level_fill[level] = 1; /* opened without asking how far children reach */
        for (uint32_t id = m->level_block[level] * SAC_LANES; id < m->level_block[level + 1] * SAC_LANES;
             id++)
            cover->view.level_nodes[level] += m->wide_node[id] != UINT32_MAX;
    }
    *out_cover = cover;
    return SAC_OK;
}

void sac_meshless_cover_destroy(sac_meshless_cover **cover)
{
    if (!cover || !*cover) return;
    sac_arena_fini(&(*cover)->arena);
    sac_free(*cover, 1, sizeof **cover);
    *cover = NULL;
}

uint32_t sac_meshless_cover_node(const sac_meshless_cover *cover, uint32_t id)
{
    const sac_meshless_model *m = cover->body->model;
    return id < m->wide_blocks * SAC_LANES ? m->wide_node[id] : UINT32_MAX;
}

void sac_meshless_cover_renew(sac_meshless_cover *cover, sac_form *form)
{
    if (!cover || !form) return;
    sac_meshless *body = cover->body;
    uint32_t half_k = body->model->def.k / 2;
    sac_meshless_begin(body);
    if (cover->step[0] != body->step) fit_block(cover, 0);
    const sac_sphere_block *root = cover->spheres;
    const float *dop = body->dops;
    memcpy(form->ball, (float[4]){root->x[0], root->y[0], root->z[0], root->r[0]}, sizeof form->ball);
    for (uint32_t k = 0; k < 3; k++) {
        form->box.low[k] = -dop[half_k + k], form->box.high[k] = dop[k];
        form->mass.centre[k] = form->ball[k];
    }
}

void sac_meshless_cover_form(sac_meshless_cover *cover, sac_form *out_form)
{
    if (!cover || !out_form) return;
    const sac_meshless_model *m = cover->body->model;
    sac_form form = {
        .kind = SAC_FORM_TREE, .levels = m->wide_depth, .tree = &cover->view, .live = &cover->live};
    for (uint32_t level = 0; level <= SAC_TREE_MOST_DEPTH; level++) {
        uint32_t at = level < m->wide_depth ? level : m->wide_depth;
        for (uint32_t id = m->level_block[at] * SAC_LANES; id < m->level_block[at + 1] * SAC_LANES; id++) {
            if (m->wide_node[id] == UINT32_MAX) continue;
            const float *h = m->rest[m->wide_node[id]].half;
            float r = sqrtf(h[0] * h[0] + h[1] * h[1] + h[2] * h[2]);
            if (r > form.level_gap[level]) form.level_gap[level] = r;
        }
    }
    sac_meshless_cover_renew(cover, &form);
    form.thickness = 1e-3f * form.ball[3];
    *out_form = form;
}

sac_meshless_lump sac_meshless_cover_lump(const sac_meshless_cover *cover, uint32_t id)
{
    uint32_t node = sac_meshless_cover_node(cover, id);
    return node == UINT32_MAX ? (sac_meshless_lump){0} : sac_meshless_lump_of(cover->body->model, node);
}

bool sac_meshless_cover_box(sac_meshless_cover *cover, uint32_t id, sac_box *out_box)
{
    if (!cover || !out_box) return false;
    uint32_t node = sac_meshless_cover_node(cover, id), half_k = cover->body->model->def.k / 2;
    float dop[32];
    if (node == UINT32_MAX) return false;
    sac_meshless_bound(cover->body, node, SAC_MESHLESS_EXACT, dop);
    for (uint32_t k = 0; k < 3; k++) out_box->low[k] = -dop[half_k + k], out_box->high[k] = dop[k];
    return true;
}
