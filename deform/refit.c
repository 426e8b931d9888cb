/* Spheres of one body, refitted when somebody looks. A block carries the step it was last refitted in; the
 * body counts steps and changes between them, so comparing the two numbers is all it takes. */
#include "deform/patch_internal.h"
#include "deform/soft_tree_internal.h"

#include <math.h>

#include "base/cpu.h"

sac_refit_kernel *sac_refit_kernel_active(void)
{
    switch (sac_simd_active()) {
#if defined(__x86_64__)
    case SAC_SIMD_AVX512:
    case SAC_SIMD_AVX2:
        return sac_refit_kernel_avx2;
    case SAC_SIMD_SSE2:
        return sac_refit_kernel_sse2;
#elif defined(__aarch64__)
    case SAC_SIMD_NEON:
        return sac_refit_kernel_neon;
#endif
    default:
        return sac_refit_kernel_scalar;
    }
}

sac_result sac_soft_cover_create(const sac_soft_tree *tree, const sac_soft *soft, sac_soft_cover **out_cover,
                                 sac_error *error)
{
    SAC_NEED(error, out_cover);
    *out_cover = NULL;
    SAC_NEED(error, tree, soft);
    if (soft->model != tree->model)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "build a hierarchy for this model",
                             "the hierarchy and the body are of different models");
    sac_soft_cover *cover = sac_alloc_zero(1, sizeof *cover);
    if (!cover) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the spheres of a body");
    sac_arena_init(&cover->arena);
    cover->tree = tree;
    cover->soft = soft;
    cover->kernel = sac_refit_kernel_active();
    cover->spheres = sac_arena_alloc(&cover->arena, tree->block_count, sizeof *cover->spheres);
    cover->step = sac_arena_alloc(&cover->arena, tree->block_count, sizeof *cover->step);
    cover->norms = sac_arena_alloc(&cover->arena, tree->model->cluster_count, sizeof *cover->norms);
    cover->stack = sac_arena_alloc(&cover->arena, (SAC_TREE_MOST_DEPTH + 2) * 8, sizeof *cover->stack);
    if (!cover->spheres || !cover->step || !cover->norms || !cover->stack) {
        sac_soft_cover_destroy(&cover);
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %u blocks of spheres",
                             tree->block_count);
    }
    memset(cover->step, 0, tree->block_count * sizeof *cover->step); /* a body starts at step 1 */
    memset(cover->norms, 0, tree->model->cluster_count * sizeof *cover->norms);
    sac_soft_cover_live(cover);
    *out_cover = cover;
    return SAC_OK;
}

void sac_soft_cover_destroy(sac_soft_cover **cover)
{
    if (!cover || !*cover) return;
    sac_arena_fini(&(*cover)->arena);
    sac_free(*cover, 1, sizeof **cover);
    *cover = NULL;
}

uint64_t sac_soft_cover_refits(const sac_soft_cover *cover) { return cover ? cover->refits : 0; }

sac_refit_job sac_refit_job_of(sac_soft_cover *cover, uint32_t cluster)
{
    const sac_soft_map *map = &cover->soft->clusters[cluster].map;
    bool quadratic = cover->soft->model->def.mode == SAC_SOFT_QUADRATIC;
    bool local = cover->tree->def.bound == SAC_SOFT_BOUND_LOCAL;
    sac_soft_norms *n = &cover->norms[cluster];
    if (n->step != cover->soft->step) {
        n->step = cover->soft->step;
        if (!quadratic || !local) n->a = sac_norm_above_f(map->a);
        if (quadratic) n->square = sac_norm_above_f(map->qq), n->mixed = sac_norm_above_f(map->mixed);
    }
    return (sac_refit_job){map, n->a, n->square, n->mixed, quadratic, local};
}

/* Lanes of several clusters, each through its own map; what spans clusters holds its children's spheres. Only
 * the few blocks above the clusters' own branches come here. */
static void refit_mixed(sac_soft_cover *cover, uint32_t block)
{
    const sac_soft_tree *tree = cover->tree;
    sac_sphere_block *out = &cover->spheres[block];
    for (uint32_t lane = 0; lane < 8; lane++) {
        uint32_t id = block * 8 + lane, cluster = tree->lane_cluster[id];
        if (!tree->range[id].count) {
            out->x[lane] = out->y[lane] = out->z[lane] = out->r[lane] = NAN;
            continue;
        }
        if (cluster != SAC_SOFT_SPANS) {
            sac_refit_job job = sac_refit_job_of(cover, cluster);
            sac_sphere_block eight;
            cover->kernel(&job, &tree->rest[block], sac_soft_rim_of(tree, block), &eight);
            out->x[lane] = eight.x[lane], out->y[lane] = eight.y[lane];
            out->z[lane] = eight.z[lane], out->r[lane] = eight.r[lane];
            continue;
        }
        const sac_sphere_block *below = sac_soft_cover_block(cover, tree->links[block].link[lane]);
        double low[3], high[3], c[3], most = 0;
        const float *axes[3] = {below->x, below->y, below->z};
        for (int k = 0; k < 3; k++) {
            low[k] = INFINITY, high[k] = -INFINITY;
            for (uint32_t i = 0; i < 8; i++) {
                if (!(below->r[i] >= 0)) continue;
                double x = axes[k][i], r = below->r[i];
                low[k] = x - r < low[k] ? x - r : low[k], high[k] = x + r > high[k] ? x + r : high[k];
            }
        }
        float *to[3] = {out->x, out->y, out->z};
        for (int k = 0; k < 3; k++) to[k][lane] = (float)((low[k] + high[k]) / 2), c[k] = to[k][lane];
        for (uint32_t i = 0; i < 8; i++) {
            if (!(below->r[i] >= 0)) continue;
            double d2 = 0;
            for (int k = 0; k < 3; k++) d2 += (axes[k][i] - c[k]) * (axes[k][i] - c[k]);
            double r = sqrt(d2) + below->r[i];
            most = r > most ? r : most;
        }
        out->r[lane] = (float)(most * (1 + 2e-7));
    }
}

/* A sphere of few points looks at them, and so does the root of a small body: what its cluster's farthest
 * stray would add they need not have. Their triangles are inside too. */
enum { ALL_LOOKED_AT = 1024 };

static void tighten(const sac_soft_cover *cover, uint32_t block)
{
    const sac_patch_kernels *kernels = sac_patch_kernels_active();
    const sac_soft_tree *tree = cover->tree;
    const sac_soft *s = cover->soft;
    const uint32_t *held = &tree->held_first[block * SAC_LANES];
    sac_sphere_block *out = &cover->spheres[block];
    sac_soft_range range[SAC_LANES];
    float most[SAC_LANES];
    const bool all = !block && tree->range[0].count <= ALL_LOOKED_AT; /* corners are among them */
    if (!all && held[0] == held[SAC_LANES]) return;
    for (uint32_t lane = 0; lane < SAC_LANES; lane++) {
        range[lane] = tree->range[block * SAC_LANES + lane];
        if (held[lane] == held[lane + 1]) range[lane].count = 0;
    }
    if (all) range[0] = tree->range[0];
    kernels->radii(s, range, out, most);
    for (uint32_t lane = 0; lane < SAC_LANES; lane++) {
        if (!range[lane].count) continue;
        /* Its own come first, then corners of its triangles that are not. */
        for (uint32_t k = held[lane] + range[lane].count; k < held[lane + 1]; k++) {
            uint32_t i = tree->held[k];
            float x = s->x[i] - out->x[lane], y = s->y[i] - out->y[lane], z = s->z[i] - out->z[lane];
            float d = (x * x + y * y) + z * z;
            most[lane] = d > most[lane] ? d : most[lane];
        }
        float r = sqrtf(most[lane]) * 1.000001f + 1e-30f;
        if (r < out->r[lane] || tree->triangles) out->r[lane] = r;
    }
}

const sac_sphere_block *sac_soft_cover_block(sac_soft_cover *cover, uint32_t block)
{
    sac_sphere_block *out = &cover->spheres[block];
    if (cover->step[block] == cover->soft->step) return out;
    cover->step[block] = cover->soft->step;
    uint32_t cluster = cover->tree->cluster[block];
    for (uint32_t lane = 0; lane < 8; lane++) cover->refits += cover->tree->range[block * 8 + lane].count > 0;
    if (cluster == SAC_SOFT_SPANS) {
        refit_mixed(cover, block);
    } else {
        sac_refit_job job = sac_refit_job_of(cover, cluster);
        cover->kernel(&job, &cover->tree->rest[block], sac_soft_rim_of(cover->tree, block), out);
        tighten(cover, block);
    }
    return out;
}

uint32_t sac_soft_cover_touch(sac_soft_cover *cover, const float centre[3], float radius,
                              uint32_t *out_points, uint32_t room)
{
    if (!cover || !centre || (room && !out_points)) return 0;
    const sac_soft_tree *tree = cover->tree;
    const sac_soft *soft = cover->soft;
    uint32_t found = 0, top = 0;
    if (!sac_vec3_is_finite(centre) || !(radius >= 0)) return 0;
    cover->stack[top++] = 0; /* blocks */
    while (top) {
        uint32_t block = cover->stack[--top];
        const sac_sphere_block *eight = sac_soft_cover_block(cover, block);
        for (uint32_t lane = 0; lane < 8; lane++) {
            double x = (double)eight->x[lane] - centre[0], y = (double)eight->y[lane] - centre[1],
                   z = (double)eight->z[lane] - centre[2], r = (double)eight->r[lane] + radius;
            if (!(x * x + y * y + z * z <= r * r)) continue;
            uint32_t link = tree->links[block].link[lane];
            if (!(link & SAC_LINK_LEAF)) {
                cover->stack[top++] = link;
                continue;
            }
            sac_soft_range range = tree->range[block * 8 + lane];
            for (uint32_t i = range.first; i < range.first + range.count; i++) {
                uint32_t p = tree->order[i];
                double dx = (double)soft->x[p] - centre[0], dy = (double)soft->y[p] - centre[1],
                       dz = (double)soft->z[p] - centre[2];
                if (dx * dx + dy * dy + dz * dz > (double)radius * radius) continue;
                if (found < room) out_points[found] = soft->model->name[p];
                found++;
            }
        }
    }
    return found;
}
