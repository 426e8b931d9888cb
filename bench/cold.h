/* Trees that are not in the nearest caches: many copies in turn, or copies flushed to DRAM before use. */
#ifndef SAC_BENCH_COLD_H
#define SAC_BENCH_COLD_H

#include "bench/straightforward.h"

typedef struct cold_set cold_set;

typedef struct cold_pair {
    const sac_tree *a, *b;
    plain_tree plain_a, plain_b;
} cold_pair;

/* `count` copies of each tree in both layouts. ERROR_UNSUPPORTED: no way to flush here. */
sac_result cold_set_create(const sac_tree *a, const sac_tree *b, const plain_tree *plain_a,
                           const plain_tree *plain_b, uint32_t count, bool flush, cold_set **out_set,
                           sac_error *error);
void cold_set_destroy(cold_set **set);

/* The i-th pair of a round; a new round starts at 0, with other pairs in another order. Flushed if asked for.
 */
cold_pair cold_set_next(cold_set *set, uint32_t i);

#endif
