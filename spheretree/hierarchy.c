/* Growing a hierarchy over items level by level: the nodes of a level are split side by side, so the result
 * does not depend on the threads. */
#include "spheretree/grouping_internal.h"

#include "base/parallel.h"

typedef struct answer {
    uint32_t groups, sizes[SAC_TREE_MOST_BRANCH];
    bool failed;
} answer;

typedef struct level_work {
    sac_hierarchy *hierarchy;
    uint32_t first; /* cluster of the level */
    sac_cluster_split *split;
    const void *context;
    sac_arena *arenas;
    answer *answers;
} level_work;

static void split_one(uint32_t item, uint32_t worker, void *context)
{
    level_work *work = context;
    const sac_cluster *cluster = &work->hierarchy->clusters.data[work->first + item];
    answer *a = &work->answers[item];
    sac_arena *arena = &work->arenas[worker];
    sac_arena_reset(arena);
    a->groups = 0;
    a->failed = !work->split(work->context, cluster, work->hierarchy->order + cluster->first, arena,
                             &a->groups, a->sizes);
}

/* Append the children that the answers describe; false: no memory. */
static bool adopt(sac_hierarchy *h, uint32_t first, uint32_t count, const answer *answers)
{
    for (uint32_t i = 0; i < count; i++) {
        const answer *a = &answers[i];
        if (a->failed) return false;
        sac_cluster parent = h->clusters.data[first + i];
        uint32_t at = parent.first;
        for (uint32_t k = 0; k < a->groups; k++) {
            sac_cluster child = {at, a->sizes[k], first + i, parent.level + 1, true};
            if (!sac_array_push(&h->clusters, child)) return false;
            at += a->sizes[k];
        }
        if (a->groups > 0) h->clusters.data[first + i].leaf = false;
    }
    return true;
}

sac_result sac_hierarchy_grow(sac_hierarchy *h, uint32_t count, const sac_build_def *def,
                              sac_cluster_split *split, const void *context, sac_error *error)
{
    *h = (sac_hierarchy){.count = count};
    uint32_t threads = def->threads;
    sac_arena *arenas = sac_alloc(threads, sizeof *arenas);
    if (arenas)
        for (uint32_t i = 0; i < threads; i++) sac_arena_init(&arenas[i]);
    h->order = sac_alloc(count, sizeof *h->order);
    sac_cluster root = {0, count, SAC_DRAFT_ROOT, 0, true};
    sac_result result = arenas && h->order && sac_array_push(&h->clusters, root) ? SAC_OK : SAC_ERROR_MEMORY;
    if (result == SAC_OK)
        for (uint32_t i = 0; i < count; i++) h->order[i] = i;

    for (uint32_t first = 0, level = 0; result == SAC_OK && first < h->clusters.count; level++) {
        uint32_t nodes = (uint32_t)h->clusters.count - first;
        float done = 0.9f * (1.0f - 1.0f / (float)(1 + level));
        if (def->progress && !def->progress(done, def->user)) {
            result = sac_error_set(error, SAC_ERROR_CANCELLED, NULL, "cancelled");
            break;
        }
        answer *answers = sac_alloc(nodes, sizeof *answers);
        if (!answers) {
            result = SAC_ERROR_MEMORY;
            break;
        }
        level_work work = {h, first, split, context, arenas, answers};
        sac_parallel_for(nodes, threads, split_one, &work);
        if (!adopt(h, first, nodes, answers)) result = SAC_ERROR_MEMORY;
        sac_free(answers, nodes, sizeof *answers);
        first += nodes;
    }

    if (arenas)
        for (uint32_t i = 0; i < threads; i++) sac_arena_fini(&arenas[i]);
    sac_free(arenas, threads, sizeof *arenas);
    if (result == SAC_ERROR_MEMORY) sac_error_set(error, result, NULL, "no memory for %u items", count);
    if (result != SAC_OK) sac_hierarchy_fini(h);
    return result;
}

void sac_hierarchy_fini(sac_hierarchy *h)
{
    sac_free(h->order, h->count, sizeof *h->order);
    sac_array_fini(&h->clusters);
    *h = (sac_hierarchy){0};
}
