/* The order of simulation nodes in memory: eight to a block, and the eight of a block near each other, so
 * that what moves one part of a surface is a few blocks, most of them wanted whole. */
#include <stdlib.h>

#include "deform/meshless_internal.h"

typedef struct keyed {
    float key;
    uint32_t node;
} keyed;

static int by_key(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* Halves along the longest side, in whole blocks. Depth: one a halving. */
static void halve(const sac_meshless_model *m, keyed *all, uint32_t count)
{
    while (count > 8) {
        float low[3], high[3];
        memcpy(low, m->nodes[all[0].node], sizeof low), memcpy(high, low, sizeof high);
        for (uint32_t i = 1; i < count; i++)
            for (int k = 0; k < 3; k++) {
                float at = m->nodes[all[i].node][k];
                low[k] = at < low[k] ? at : low[k], high[k] = at > high[k] ? at : high[k];
            }
        int axis = 0;
        for (int k = 1; k < 3; k++)
            if (high[k] - low[k] > high[axis] - low[axis]) axis = k;
        for (uint32_t i = 0; i < count; i++) all[i].key = m->nodes[all[i].node][axis];
        qsort(all, count, sizeof *all, by_key);
        uint32_t left = (count / 2 + 7) & ~7u;
        halve(m, all, left);
        all += left, count -= left;
    }
}

bool sac_meshless_find_slots(sac_meshless_model *m, const sac_meshless_influence *influence, size_t count)
{
    keyed *all = sac_alloc(m->node_count, sizeof *all);
    m->slot = sac_arena_alloc(&m->arena, m->node_count, sizeof *m->slot);
    m->node_at = sac_arena_alloc(&m->arena, m->node_count, sizeof *m->node_at);
    bool ok = all && m->slot && m->node_at;
    if (ok) {
        /* Those that move nothing come last. */
        uint32_t used = 0, next = m->node_count;
        memset(m->slot, 0, m->node_count * sizeof *m->slot);
        for (size_t i = 0; i < count; i++) m->slot[influence[i].node] = 1;
        for (uint32_t j = 0; j < m->node_count; j++) all[m->slot[j] ? used++ : --next].node = j;
        halve(m, all, used);
        for (uint32_t i = 0; i < m->node_count; i++) m->node_at[i] = all[i].node, m->slot[all[i].node] = i;
    }
    sac_free(all, m->node_count, sizeof *all);
    return ok;
}
