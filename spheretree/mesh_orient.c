/* Orientation: neighbours that disagree are made to agree by flooding from triangle to triangle, and closed
 * parts that are inside out are turned. */
#include "spheretree/mesh_internal.h"

/* Parts connected through edges of exactly two triangles. */
typedef struct part {
    double volume; /* six times the signed one, about the middle of the mesh */
    float low[3], high[3];
    bool one_sided; /* as a Klein bottle: no orientation exists */
    bool nested;    /* its box lies in another part's */
    bool turn;
} part;

/* More parts than this are not tested for nesting, which is quadratic. */
enum { MOST_NESTED_PARTS = 2048 };

static void flood(const sac_mesh *mesh, const uint32_t *mates, uint32_t first, uint32_t label,
                  uint32_t *labels, bool *flip, uint32_t *stack, part *p)
{
    const uint32_t *corners = mesh->triangles[0];
    size_t depth = 0;
    labels[first] = label;
    flip[first] = false;
    stack[depth++] = first;
    while (depth) {
        uint32_t t = stack[--depth];
        for (uint32_t h = 3 * t; h < 3 * t + 3; h++) {
            uint32_t mate = mates[h];
            if (mate == SAC_NO_MATE) continue;
            uint32_t n = mate / 3;
            bool wanted = flip[t] ^ (corners[h] == corners[mate]); /* both leave the same vertex */
            if (labels[n] == UINT32_MAX) {
                labels[n] = label;
                flip[n] = wanted;
                stack[depth++] = n;
            } else if (flip[n] != wanted) {
                p->one_sided = true;
            }
        }
    }
}

static void measure_parts(const sac_mesh *mesh, const uint32_t *labels, const bool *flip, part *parts)
{
    sac_box box = sac_box_empty();
    double origin[3];
    for (uint32_t v = 0; v < mesh->vertex_count; v++) sac_box_add(&box, mesh->vertices[v]);
    for (int i = 0; i < 3; i++) origin[i] = 0.5 * ((double)box.low[i] + box.high[i]);
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        part *p = &parts[labels[t]];
        double q[3][3];
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++) {
                float x = mesh->vertices[mesh->triangles[t][k]][i];
                p->low[i] = fminf(p->low[i], x);
                p->high[i] = fmaxf(p->high[i], x);
                q[k][i] = x - origin[i];
            }
        double d = q[0][0] * (q[1][1] * q[2][2] - q[1][2] * q[2][1]) +
                   q[0][1] * (q[1][2] * q[2][0] - q[1][0] * q[2][2]) +
                   q[0][2] * (q[1][0] * q[2][1] - q[1][1] * q[2][0]);
        p->volume += flip[t] ? -d : d;
    }
}

static bool box_inside(const part *inner, const part *outer)
{
    bool smaller = false;
    for (int i = 0; i < 3; i++) {
        if (inner->low[i] < outer->low[i] || inner->high[i] > outer->high[i]) return false;
        smaller = smaller || inner->low[i] > outer->low[i] || inner->high[i] < outer->high[i];
    }
    return smaller;
}

/* A part whose box is in no other part's box is an outer skin and must have positive volume. What lies inside
 * one (a cavity, or a part inside it) is turned along with it. */
static void choose_turns(part *parts, size_t count, bool together)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += parts[i].volume;
    for (size_t i = 0; i < count; i++) {
        parts[i].turn = together ? sum < 0 : parts[i].volume < 0;
        for (size_t j = 0; j < count && !together && !parts[i].nested; j++)
            parts[i].nested = box_inside(&parts[i], &parts[j]);
    }
    for (size_t i = 0; i < count && !together; i++)
        for (size_t j = 0; j < count && parts[i].nested; j++)
            if (!parts[j].nested && box_inside(&parts[i], &parts[j])) {
                parts[i].turn = parts[j].turn;
                break;
            }
}

static sac_result count_edges(const sac_mesh *mesh, uint32_t *mates, sac_edge_counts *counts,
                              sac_mesh_report *report, sac_error *error)
{
    sac_result result = sac_mesh_edges(mesh, mates, counts, error);
    report->boundary_edges = counts->boundary;
    report->nonmanifold_edges = counts->crowded + counts->clashing;
    report->closed = result == SAC_OK && counts->balanced;
    return result;
}

sac_result sac_mesh_orient(sac_mesh *mesh, sac_mesh_report *report, sac_error *error)
{
    uint32_t count = mesh->triangle_count;
    sac_edge_counts counts;
    uint32_t *mates = sac_alloc((size_t)count * 3, sizeof *mates);
    uint32_t *labels = sac_alloc(count, sizeof *labels), *stack = sac_alloc(count, sizeof *stack);
    bool *flip = sac_alloc(count, sizeof *flip);
    sac_array(part) parts = {0};
    sac_result result = SAC_OK;
    if (!mates || !labels || !stack || !flip) {
        result = sac_error_set(error, SAC_ERROR_MEMORY, "use a coarser mesh",
                               "no memory to orient %u triangles", count);
        goto done;
    }
    result = count_edges(mesh, mates, &counts, report, error);
    /* An open mesh has no outside to turn to. */
    if (result != SAC_OK || !(counts.balanced || (counts.boundary == 0 && counts.crowded == 0))) goto done;
    memset(labels, 0xff, count * sizeof *labels);
    for (uint32_t t = 0; t < count; t++) {
        if (labels[t] != UINT32_MAX) continue;
        part fresh = {.low = {FLT_MAX, FLT_MAX, FLT_MAX}, .high = {-FLT_MAX, -FLT_MAX, -FLT_MAX}};
        if (!sac_array_push(&parts, fresh)) {
            result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the parts of the mesh");
            goto done;
        }
        flood(mesh, mates, t, (uint32_t)parts.count - 1, labels, flip, stack, &parts.data[parts.count - 1]);
    }
    measure_parts(mesh, labels, flip, parts.data);
    /* Parts that share a crowded edge balance each other there, so they turn together or not at all. */
    choose_turns(parts.data, parts.count, counts.crowded || parts.count > MOST_NESTED_PARTS);
    for (uint32_t t = 0; t < count; t++) {
        const part *p = &parts.data[labels[t]];
        if (p->one_sided || flip[t] == p->turn) continue;
        uint32_t corner = mesh->triangles[t][1];
        mesh->triangles[t][1] = mesh->triangles[t][2];
        mesh->triangles[t][2] = corner;
        report->turned_triangles++;
    }
    report->flipped = report->closed && report->turned_triangles == count;
    if (counts.clashing) result = count_edges(mesh, NULL, &counts, report, error);
done:
    sac_free(mates, (size_t)count * 3, sizeof *mates);
    sac_free(labels, count, sizeof *labels);
    sac_free(stack, count, sizeof *stack);
    sac_free(flip, count, sizeof *flip);
    sac_array_fini(&parts);
    return result;
}
