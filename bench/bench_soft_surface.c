/* Meshless surfaces: what bounds from nodes cost, and a query of two surfaces against refitting both. */
#include <float.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "bench/bench.h"
#include "bench/bench_soft.h"

enum { MOST_NODES = 600, MOST_PAIRS = 512 };

typedef struct figure {
    sac_mesh *mesh;
    sac_meshless_model *model;
    sac_meshless *bodies[2];
    float nodes[MOST_NODES][3];
    uint32_t node_count, tree_count;
    float *boxes[2], (*vertices)[3]; /* of the full refit */
    float apart;                     /* in widths */
} figure;

static sac_result figure_begin(figure *f, uint32_t triangles, uint32_t nodes, sac_error *error)
{
    sac_meshless_def def = sac_default_meshless_def();
    sac_rng rng = sac_rng_seed(3);
    sac_result result = sac_mesh_builtin("knot", triangles, &f->mesh, error);
    if (result != SAC_OK) return result;
    f->node_count = nodes;
    for (uint32_t j = 0; j < nodes; j++)
        memcpy(f->nodes[j], f->mesh->vertices[sac_rng_below(&rng, f->mesh->vertex_count)],
               sizeof f->nodes[j]);
    sac_meshless_surface surface = {(const float(*)[3])f->mesh->vertices, f->mesh->vertex_count,
                                    (const uint32_t(*)[3])f->mesh->triangles, f->mesh->triangle_count};
    result =
        sac_meshless_model_create(&surface, (const float(*)[3])f->nodes, nodes, NULL, &def, &f->model, error);
    for (int i = 0; i < 2 && result == SAC_OK; i++)
        result = sac_meshless_create(f->model, &f->bodies[i], error);
    if (result != SAC_OK) return result;
    sac_box box = sac_box_empty();
    for (uint32_t i = 0; i < f->mesh->vertex_count; i++) sac_box_add(&box, f->mesh->vertices[i]);
    f->apart *= box.high[0] - box.low[0];
    f->tree_count = sac_meshless_node_count(f->model);
    f->vertices = sac_alloc(f->mesh->vertex_count, sizeof *f->vertices);
    for (int i = 0; i < 2; i++) f->boxes[i] = sac_alloc((size_t)f->tree_count * 6, sizeof(float));
    if (!f->vertices || !f->boxes[0] || !f->boxes[1])
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %u vertices",
                             f->mesh->vertex_count);
    return SAC_OK;
}

static void figure_end(figure *f)
{
    for (int i = 0; i < 2; i++) {
        sac_meshless_destroy(&f->bodies[i]);
        sac_free(f->boxes[i], (size_t)f->tree_count * 6, sizeof(float));
    }
    if (f->mesh) sac_free(f->vertices, f->mesh->vertex_count, sizeof *f->vertices);
    sac_meshless_model_destroy(&f->model);
    sac_mesh_destroy(&f->mesh);
}

/* Both bend, the second stands `apart` along x. */
static void figure_bend(figure *f, int body, float much)
{
    for (uint32_t j = 0; j < f->node_count; j++) {
        float x = f->nodes[j][0], rows[3][4] = {{1, 0, 0, body ? f->apart : 0},
                                                {2 * much * x, 1, 0, -much * x * x},
                                                {0, 0, 1, 0}};
        sac_meshless_set_node(f->bodies[body], j, (const float(*)[4])rows, NULL);
    }
}

/* Every vertex once, leaves from them, and upwards: what has to be done without bounds. */
static void refit_all(figure *f, int body)
{
    float *boxes = f->boxes[body];
    for (uint32_t v = 0; v < f->mesh->vertex_count; v++)
        sac_meshless_vertex(f->bodies[body], v, f->vertices[v]);
    for (uint32_t node = f->tree_count; node-- > 0;) {
        float *box = boxes + (size_t)node * 6;
        uint32_t child, count;
        if (sac_meshless_children(f->model, node, &child)) {
            const float *a = boxes + (size_t)child * 6, *b = a + 6;
            for (int k = 0; k < 3; k++) {
                box[k] = a[k] > b[k] ? a[k] : b[k];
                box[3 + k] = a[3 + k] < b[3 + k] ? a[3 + k] : b[3 + k];
            }
            continue;
        }
        const uint32_t *who = sac_meshless_primitives(f->model, node, &count);
        for (int k = 0; k < 3; k++) box[k] = -FLT_MAX, box[3 + k] = FLT_MAX;
        for (uint32_t i = 0; i < count * 3; i++) {
            const float *v = f->vertices[f->mesh->triangles[who[i / 3]][i % 3]];
            for (int k = 0; k < 3; k++) {
                box[k] = v[k] > box[k] ? v[k] : box[k];
                box[3 + k] = v[k] < box[3 + k] ? v[k] : box[3 + k];
            }
        }
    }
}

/* Pairs of leaves whose boxes overlap; UINT32_MAX when the trees are too deep for the stack. */
static uint32_t meet(figure *f, bool ours)
{
    uint32_t stack[MOST_PAIRS][2], top = 0, found = 0, child;
    stack[top][0] = stack[top][1] = 0, top++;
    while (top) {
        top--;
        uint32_t pair[2] = {stack[top][0], stack[top][1]}, first[2];
        const float *a = ours ? sac_meshless_dop(f->bodies[0], pair[0]) : f->boxes[0] + (size_t)pair[0] * 6;
        const float *b = ours ? sac_meshless_dop(f->bodies[1], pair[1]) : f->boxes[1] + (size_t)pair[1] * 6;
        bool apart = false;
        for (int k = 0; k < 3; k++) apart = apart || a[k] < b[3 + k] || b[k] < a[3 + k];
        if (apart) continue;
        bool inner[2];
        for (int s = 0; s < 2; s++)
            inner[s] = sac_meshless_children(f->model, pair[s], &child), first[s] = child;
        if (!inner[0] && !inner[1]) {
            found++;
            continue;
        }
        /* The wider one is opened. */
        float wide_a = (a[0] - a[3]) + (a[1] - a[4]) + (a[2] - a[5]),
              wide_b = (b[0] - b[3]) + (b[1] - b[4]) + (b[2] - b[5]);
        int side = !inner[0] || (inner[1] && wide_b > wide_a);
        if (top + 2 > MOST_PAIRS) return UINT32_MAX;
        for (uint32_t k = 0; k < 2; k++, top++) {
            stack[top][0] = side ? pair[0] : first[0] + k;
            stack[top][1] = side ? first[1] + k : pair[1];
        }
    }
    return found;
}

static sac_result run_refit(uint32_t triangles, uint32_t nodes, float apart, uint32_t repeats, json_t *out,
                            sac_error *error)
{
    figure f = {.apart = apart};
    sac_result result = figure_begin(&f, triangles, nodes, error);
    if (result == SAC_OK) {
        double full[SAC_BENCH_SOFT_REPEATS], mine[SAC_BENCH_SOFT_REPEATS];
        uint32_t contacts = 0, again = 0;
        for (uint32_t r = 0; r < repeats; r++) {
            for (int i = 0; i < 2; i++) figure_bend(&f, i, 0.2f + 0.01f * (float)r);
            double start = sac_bench_soft_us();
            again = meet(&f, true);
            mine[r] = (sac_bench_soft_us() - start) * 1e-3;
            start = sac_bench_soft_us();
            for (int i = 0; i < 2; i++) refit_all(&f, i);
            contacts = meet(&f, false);
            full[r] = (sac_bench_soft_us() - start) * 1e-3;
            if (again == UINT32_MAX || contacts == UINT32_MAX)
                result = sac_error_set(error, SAC_ERROR_ARGUMENT, NULL,
                                       "trees of %u nodes are too deep for a stack of %d pairs", f.tree_count,
                                       MOST_PAIRS);
        }
        double full_ms = sac_bench_median(full, repeats), ours_ms = sac_bench_median(mine, repeats);
        sac_say("  %8u  %5u  %8u  %9.3f  %8.3f  %6.1fx%s\n", f.mesh->vertex_count, nodes, contacts, full_ms,
                ours_ms, full_ms / ours_ms, again == contacts ? "" : "  (different contacts)");
        json_array_append_new(
            out, json_pack("{s:i,s:i,s:i,s:o,s:o,s:o,s:b}", "vertices", (int)f.mesh->vertex_count, "nodes",
                           (int)nodes, "contacts", (int)contacts, "full_ms", sac_json_number(full_ms),
                           "ours_ms", sac_json_number(ours_ms), "gain", sac_json_number(full_ms / ours_ms),
                           "same_contacts", again == contacts));
    }
    figure_end(&f);
    return result;
}

static sac_result run_box(uint32_t triangles, uint32_t nodes, uint32_t repeats, json_t *out, sac_error *error)
{
    enum { CALLS = 200 };
    figure f = {0};
    sac_result result = figure_begin(&f, triangles, nodes, error);
    if (result == SAC_OK) {
        double times[2][SAC_BENCH_SOFT_REPEATS];
        float box[6];
        figure_bend(&f, 0, 0.4f);
        for (uint32_t r = 0; r < repeats; r++)
            for (int fit = 0; fit < 2; fit++) {
                double start = sac_bench_soft_us();
                for (int i = 0; i < CALLS; i++)
                    sac_meshless_bound(f.bodies[0], 0, (sac_meshless_fit)fit, box);
                times[fit][r] = (sac_bench_soft_us() - start) / CALLS;
            }
        double exact = sac_bench_median(times[0], repeats), wide = sac_bench_median(times[1], repeats);
        sac_say("  %8u  %5u  %8.3f  %8.3f\n", f.mesh->vertex_count, nodes, wide, exact);
        json_array_append_new(out, json_pack("{s:i,s:i,s:o,s:o}", "vertices", (int)f.mesh->vertex_count,
                                             "nodes", (int)nodes, "eq12_us", sac_json_number(wide),
                                             "exact_us", sac_json_number(exact)));
    }
    figure_end(&f);
    return result;
}

sac_result sac_bench_soft_surface(uint32_t repeats, json_t *aabb, json_t *refit, sac_error *error)
{
    static const uint32_t nodes[3] = {65, 225, 509}, few[2] = {115, 550}, triangles[2] = {5700, 90000};
    static const float apart[3] = {0.97f, 0.9f, 0.6f};
    sac_result result = SAC_OK;
    sac_say("one box from the nodes, us\n  vertices  nodes  equ. 12   optimum\n");
    for (int m = 0; m < 2; m++)
        for (int i = 0; i < 3 && result == SAC_OK; i++)
            result = run_box(m ? 60000 : 7000, nodes[i], repeats, aabb, error);
    if (result == SAC_OK)
        sac_say("two surfaces, ms\n  vertices  nodes  contacts   full refit      ours    gain\n");
    for (int i = 0; i < 12 && result == SAC_OK; i++)
        result = run_refit(triangles[i / 2 % 2], few[i % 2], apart[i / 4], repeats, refit, error);
    return result;
}
