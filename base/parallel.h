/* Threads for work that splits into independent items. The items are the same whatever the thread count, so
 * threads change nothing but the time.
 *
 * Index: sac_parallel_for  sac_parallel_cpus
 */
#ifndef SAC_BASE_PARALLEL_H
#define SAC_BASE_PARALLEL_H

#include <stdint.h>

/* `worker` is in [0, threads): an index into per-thread scratch. */
typedef void sac_parallel_item(uint32_t item, uint32_t worker, void *context);

/* Run items 0..count-1 on up to `threads` threads, the caller's included; returns when all are done. When no
 * further thread can be had, the caller does the work alone. */
void sac_parallel_for(uint32_t count, uint32_t threads, sac_parallel_item *item, void *context);

/* CPUs this process may use, at least 1. */
uint32_t sac_parallel_cpus(void);

#endif
