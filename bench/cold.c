#include "bench/cold.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#define CAN_FLUSH true
static void flush_line(const char *line) { _mm_clflush(line); }
static void flush_end(void) { _mm_mfence(); }
#else
#define CAN_FLUSH false
static void flush_line(const char *line) { (void)line; }
static void flush_end(void) {}
#endif

/* A tree whose arrays, but for the features, are in memory of its own. */
typedef struct copy {
    sac_tree tree;
    plain_tree plain;
    char *memory;
    size_t size;
} copy;

struct cold_set {
    copy *copies; /* count of a, then count of b */
    uint32_t count;
    bool flush;
    sac_rng rng;
};

static bool copy_init(copy *c, const sac_tree *tree, const plain_tree *plain)
{
    size_t spheres = tree->block_count * sizeof *tree->spheres,
           links = tree->block_count * sizeof *tree->links;
    size_t parents = tree->block_count * sizeof *tree->parents;
    c->size = spheres + links + parents;
    c->memory = sac_alloc(1, c->size);
    c->plain.nodes = malloc(plain->count * sizeof *plain->nodes);
    c->plain.count = plain->count;
    if (!c->memory || !c->plain.nodes) return false;
    memcpy(c->memory, tree->spheres, spheres);
    memcpy(c->memory + spheres, tree->links, links);
    memcpy(c->memory + spheres + links, tree->parents, parents);
    memcpy(c->plain.nodes, plain->nodes, plain->count * sizeof *plain->nodes);
    c->tree = *tree;
    c->tree.spheres = (const sac_sphere_block *)c->memory;
    c->tree.links = (const sac_link_block *)(c->memory + spheres);
    c->tree.parents = (const uint32_t *)(c->memory + spheres + links);
    return true;
}

sac_result cold_set_create(const sac_tree *a, const sac_tree *b, const plain_tree *plain_a,
                           const plain_tree *plain_b, uint32_t count, bool flush, cold_set **out_set,
                           sac_error *error)
{
    *out_set = NULL;
    if (flush && !CAN_FLUSH) return sac_error_set(error, SAC_ERROR_UNSUPPORTED, NULL, "no cache flush here");
    cold_set *set = calloc(1, sizeof *set);
    bool ok = set && (set->copies = calloc(2 * (size_t)count, sizeof *set->copies));
    if (set) set->count = count, set->flush = flush, set->rng = sac_rng_seed(7);
    for (uint32_t i = 0; ok && i < 2 * count; i++)
        ok = copy_init(&set->copies[i], i < count ? a : b, i < count ? plain_a : plain_b);
    if (!ok) {
        cold_set_destroy(&set);
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %u copies", count);
    }
    *out_set = set;
    return SAC_OK;
}

void cold_set_destroy(cold_set **set)
{
    cold_set *s = *set;
    if (!s) return;
    for (uint32_t i = 0; s->copies && i < 2 * s->count; i++) {
        sac_free(s->copies[i].memory, 1, s->copies[i].size);
        plain_tree_fini(&s->copies[i].plain);
    }
    free(s->copies);
    free(s);
    *set = NULL;
}

static void flush(const void *memory, size_t size)
{
    const char *at = memory;
    for (size_t i = 0; i < size; i += SAC_CACHE_LINE) flush_line(at + i);
    flush_line(at + size - 1);
}

/* Two independent shuffles, drawn as the rounds go on. */
static void shuffle(cold_set *set, copy *copies)
{
    for (uint32_t i = set->count; i-- > 1;) {
        uint32_t k = sac_rng_below(&set->rng, i + 1);
        copy swap = copies[i];
        copies[i] = copies[k];
        copies[k] = swap;
    }
}

cold_pair cold_set_next(cold_set *set, uint32_t i)
{
    if (i == 0) shuffle(set, set->copies), shuffle(set, set->copies + set->count);
    const copy *a = &set->copies[i % set->count], *b = &set->copies[set->count + i % set->count];
    if (set->flush) {
        flush(a->memory, a->size), flush(b->memory, b->size);
        flush(a->plain.nodes, a->plain.count * sizeof *a->plain.nodes);
        flush(b->plain.nodes, b->plain.count * sizeof *b->plain.nodes);
        flush_end();
    }
    return (cold_pair){&a->tree, &b->tree, a->plain, b->plain};
}
