#include "bench/soft_heap.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"

enum { PAIR_ROOM = 1 << 16, CONTACT_ROOM = 1 << 18 };
static const float step_seconds = 1.0f / 90;
static const sac_transform here = {.rotation = {0, 0, 0, 1}, .scale = 1};

/* On a spiral, so that all are as far from each other as they can be. */
static sac_result make_shape(sac_heap *h, sac_error *error)
{
    const sac_heap_def *def = &h->def;
    sac_soft_shape_def shape = sac_default_soft_shape_def();
    shape.soft = def->soft;
    sac_mesh *mesh = NULL;
    if (def->mesh) {
        sac_result result = sac_mesh_builtin(def->mesh, def->triangles, &mesh, error);
        if (result == SAC_OK) result = sac_soft_shape_from_mesh(mesh, &shape, 0, &h->shape, error);
        sac_mesh_destroy(&mesh);
        return result;
    }
    uint32_t n = def->points;
    float(*points)[3] = sac_alloc(n, sizeof *points);
    h->normals = sac_alloc(n, sizeof *h->normals);
    if (!points || !h->normals) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a ball");
    for (uint32_t i = 0; i < n; i++) {
        double z = 1 - (2.0 * i + 1) / n, r = sqrt(1 - z * z), turn = 2.39996322972865332 * i;
        float unit[3] = {(float)(r * cos(turn)), (float)(r * sin(turn)), (float)z};
        memcpy(h->normals[i], unit, sizeof unit);
        for (int k = 0; k < 3; k++) points[i][k] = unit[k] / 2;
    }
    shape.points = (const float(*)[3])points, shape.point_count = n;
    shape.tree.normals = (const float(*)[3])h->normals;
    sac_result result = sac_soft_shape_create(&shape, &h->shape, error);
    sac_free(points, n, sizeof *points);
    return result;
}

static sac_result make_trees(sac_heap *h, sac_error *error)
{
    sac_result result = SAC_OK;
    for (uint32_t s = 0; s < h->def.sets && result == SAC_OK; s++) {
        sac_soft_tree_def def = h->def.trees[s];
        def.normals = h->normals ? (const float(*)[3])h->normals : h->parts.normals;
        if (h->def.fine) def.triangles = h->parts.triangles, def.triangle_count = h->parts.triangle_count;
        result = sac_soft_tree_create(h->parts.model, &def, &h->trees[s], error);
    }
    return result;
}

static sac_result make_bodies(sac_heap *h, sac_error *error)
{
    sac_result result = SAC_OK;
    sac_rng rng = sac_rng_seed(5);
    uint32_t across = h->def.across;
    for (uint32_t i = 0; i < h->def.bodies && result == SAC_OK; i++) {
        sac_transform pose = here;
        float axis[3],
            place[3] = {(float)(i % across), (float)(i / across % across), (float)(i / (across * across))};
        sac_rng_unit_vector(&rng, axis); /* turned by half a turn about it */
        memcpy(pose.rotation, axis, sizeof axis), pose.rotation[3] = 0;
        for (int k = 0; k < 3; k++) {
            float jitter = sac_rng_range(&rng, -0.02f, 0.02f);
            pose.translation[k] =
                k == 2 ? place[k] * 1.02f + 0.55f : (place[k] + 0.5f) * h->def.width / (float)across + jitter;
        }
        result = sac_soft_create(h->parts.model, &pose, &h->bodies[i], error);
        for (uint32_t s = 0; s < h->def.sets && result == SAC_OK; s++) {
            uint32_t at = s * h->def.bodies + i;
            result = sac_soft_cover_create(h->trees[s], h->bodies[i], &h->covers[at], error);
            if (result == SAC_OK) sac_soft_cover_form(h->covers[at], &h->forms[at]);
        }
        h->parties[i] = (sac_soft_party){
            .soft = h->bodies[i], .mass_scale = 1, .thickness = h->parts.thickness, .friction = 0.5f};
        h->by_x[i] = i;
    }
    h->parties[h->def.bodies] = (sac_soft_party){.friction = 0.5f};
    static const float normals[SAC_HEAP_WALLS][3] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    for (int w = 0; w < SAC_HEAP_WALLS && result == SAC_OK; w++)
        result = sac_form_plane(&h->walls[w], normals[w], w == 2 || w == 4 ? -h->def.width : 0, error);
    return result;
}

sac_result sac_heap_create(const sac_heap_def *def, sac_heap **out_heap, sac_error *error)
{
    sac_heap *h = *out_heap = sac_alloc_zero(1, sizeof *h);
    if (!h) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a heap");
    h->def = *def;
    uint32_t n = def->bodies;
    sac_result result = make_shape(h, error);
    if (result == SAC_OK) {
        h->parts = sac_soft_shape_parts_of(h->shape);
        result = make_trees(h, error);
    }
    h->bodies = sac_alloc_zero(n, sizeof *h->bodies);
    h->covers = sac_alloc_zero((size_t)n * def->sets, sizeof *h->covers);
    h->forms = sac_alloc_zero((size_t)n * def->sets, sizeof *h->forms);
    h->parties = sac_alloc_zero(n + 1, sizeof *h->parties);
    h->by_x = sac_alloc(n, sizeof *h->by_x);
    h->boxes = sac_alloc(n, sizeof *h->boxes);
    h->contacts = sac_alloc(CONTACT_ROOM, sizeof *h->contacts);
    h->lists = sac_alloc((PAIR_ROOM + SAC_PAIRS_SLACK) * 6, sizeof *h->lists);
    h->velocities = sac_alloc((size_t)h->parts.point_count * n * 3, sizeof *h->velocities);
    if (result == SAC_OK && (!h->bodies || !h->covers || !h->forms || !h->parties || !h->by_x || !h->boxes ||
                             !h->contacts || !h->lists || !h->velocities))
        result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %u bodies", n);
    if (result == SAC_OK) result = make_bodies(h, error);
    if (result == SAC_OK) result = sac_soft_response_create(&h->response, error);
    if (result == SAC_OK) result = sac_workspace_create(&h->workspace, error);
    if (result != SAC_OK) sac_heap_destroy(out_heap);
    return result;
}

void sac_heap_destroy(sac_heap **heap)
{
    sac_heap *h = *heap;
    if (!h) return;
    uint32_t n = h->def.bodies;
    for (uint32_t i = 0; h->covers && i < n * h->def.sets; i++) sac_soft_cover_destroy(&h->covers[i]);
    for (uint32_t i = 0; h->bodies && i < n; i++) sac_soft_destroy(&h->bodies[i]);
    for (uint32_t s = 0; s < h->def.sets; s++) sac_soft_tree_destroy(&h->trees[s]);
    sac_free(h->normals, h->def.points, sizeof *h->normals);
    sac_free(h->velocities, (size_t)h->parts.point_count * n * 3, sizeof *h->velocities);
    sac_free(h->bodies, n, sizeof *h->bodies);
    sac_free(h->covers, (size_t)n * h->def.sets, sizeof *h->covers);
    sac_free(h->forms, (size_t)n * h->def.sets, sizeof *h->forms);
    sac_free(h->parties, n + 1, sizeof *h->parties);
    sac_free(h->by_x, n, sizeof *h->by_x);
    sac_free(h->boxes, n, sizeof *h->boxes);
    sac_free(h->contacts, CONTACT_ROOM, sizeof *h->contacts);
    sac_free(h->lists, (PAIR_ROOM + SAC_PAIRS_SLACK) * 6, sizeof *h->lists);
    sac_soft_response_destroy(&h->response);
    sac_workspace_destroy(&h->workspace);
    sac_soft_shape_destroy(&h->shape);
    sac_free(h, 1, sizeof *h);
    *heap = NULL;
}

/* All the way down. */
static void meet(sac_heap *h, const sac_form *a, uint32_t party_a, const sac_form *b, uint32_t party_b,
                 float margin)
{
    uint32_t *at[6];
    for (int i = 0; i < 6; i++) at[i] = h->lists + (size_t)i * (PAIR_ROOM + SAC_PAIRS_SLACK);
    sac_pairs lists[2] = {{at[0], at[1], 0, PAIR_ROOM}, {at[2], at[3], 0, PAIR_ROOM}};
    sac_pairs done = {at[4], at[5], 0, PAIR_ROOM};
    sac_meeting m;
    if (!sac_meeting_begin(&m, a, &here, b, &here, margin, &lists[0])) return;
    h->pair_count++;
    uint32_t level = 0;
    for (; level < m.levels && lists[level % 2].count; level++) {
        lists[1 - level % 2].count = 0;
        h->tests += sac_meeting_open(h->workspace, &m, level, &lists[level % 2], UINT64_MAX,
                                     &lists[1 - level % 2], &done)
                        .tests;
    }
    h->sphere_pairs += lists[level % 2].count + done.count;
    h->contact_count +=
        sac_soft_contacts(&m, &lists[level % 2], &done, party_a, party_b, h->parties, h->def.fine,
                          h->contacts + h->contact_count, CONTACT_ROOM - h->contact_count);
}

void sac_heap_detect(sac_heap *h, uint32_t set)
{
    uint32_t n = h->def.bodies;
    sac_form *forms = h->forms + (size_t)set * n;
    float thick = h->parts.thickness;
    h->contact_count = h->pair_count = h->sphere_pairs = 0, h->tests = 0;
    for (uint32_t i = 0; i < n; i++) {
        sac_soft_cover_renew(h->covers[set * n + i], &forms[i]);
        h->parties[i].tree = h->trees[set];
    }
    /* Nearly in order from the last time. */
    for (uint32_t i = 1; i < n; i++) {
        uint32_t who = h->by_x[i], k = i;
        float low = forms[who].box.low[0];
        for (; k > 0 && forms[h->by_x[k - 1]].box.low[0] > low; k--) h->by_x[k] = h->by_x[k - 1];
        h->by_x[k] = who;
    }
    for (uint32_t i = 0; i < n; i++) h->boxes[i] = forms[h->by_x[i]].box;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t a = h->by_x[i];
        const sac_box *box = &h->boxes[i];
        for (uint32_t k = i + 1; k < n; k++) {
            uint32_t b = h->by_x[k];
            const sac_box *other = &h->boxes[k];
            if (other->low[0] > box->high[0] + 2 * thick) break;
            if (other->low[1] > box->high[1] + 2 * thick || box->low[1] > other->high[1] + 2 * thick ||
                other->low[2] > box->high[2] + 2 * thick || box->low[2] > other->high[2] + 2 * thick)
                continue;
            meet(h, &forms[a], a, &forms[b], b, 2 * thick);
        }
        for (int w = 0; w < SAC_HEAP_WALLS; w++) {
            const sac_form *wall = &h->walls[w];
            float lowest = -wall->offset - thick;
            for (int k = 0; k < 3; k++)
                lowest += wall->normal[k] * (wall->normal[k] > 0 ? box->low[k] : box->high[k]);
            if (lowest <= 0) meet(h, &forms[a], a, wall, n, thick);
        }
    }
}

static sac_soft_step_def step_def(void)
{
    return (sac_soft_step_def){.dt = step_seconds, .gravity = {0, 0, -9.81f}};
}

void sac_heap_pull(sac_heap *h)
{
    sac_soft_step_def def = step_def();
    sac_soft_pull(h->bodies, h->def.bodies, &def, NULL, NULL);
}

sac_result sac_heap_respond(sac_heap *h, sac_error *error)
{
    sac_soft_response_def def = sac_default_soft_response_def();
    def.dt = step_seconds;
    return sac_soft_respond(h->response, h->parties, h->def.bodies + 1, h->contacts, h->contact_count, &def,
                            NULL, error);
}

void sac_heap_move(sac_heap *h)
{
    sac_soft_step_def def = step_def();
    sac_soft_move(h->bodies, h->def.bodies, &def, NULL, NULL);
}

static void exchange(sac_heap *h, bool back)
{
    size_t n = h->parts.point_count;
    for (uint32_t i = 0; i < h->def.bodies; i++) {
        sac_soft_points p = sac_soft_view(h->bodies[i]);
        const float *v[3] = {p.vx, p.vy, p.vz};
        for (int k = 0; k < 3; k++) {
            float *kept = h->velocities + ((size_t)i * 3 + (size_t)k) * n, *now = (float *)(uintptr_t)v[k];
            memcpy(back ? now : kept, back ? kept : now, n * sizeof(float));
        }
    }
}

void sac_heap_keep(sac_heap *h) { exchange(h, false); }
void sac_heap_restore(sac_heap *h) { exchange(h, true); }

uint64_t sac_heap_refits(const sac_heap *h, uint32_t set)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < h->def.bodies; i++)
        sum += sac_soft_cover_refits(h->covers[set * h->def.bodies + i]);
    return sum;
}
