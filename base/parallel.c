#define _GNU_SOURCE
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { MOST_THREADS = 64 };

typedef struct shared {
    atomic_uint next;
    uint32_t count;
    sac_parallel_item *item;
    void *context;
} shared;

typedef struct worker {
    shared *work;
    uint32_t index;
    pthread_t thread;
} worker;

static void *drain(void *argument)
{
    worker *self = argument;
    shared *work = self->work;
    for (;;) {
        uint32_t item = atomic_fetch_add_explicit(&work->next, 1, memory_order_relaxed);
        if (item >= work->count) return NULL;
        work->item(item, self->index, work->context);
    }
}

void sac_parallel_for(uint32_t count, uint32_t threads, sac_parallel_item *item, void *context)
{
    shared work = {.count = count, .item = item, .context = context};
    worker workers[MOST_THREADS];
    if (threads > MOST_THREADS) threads = MOST_THREADS;
    if (threads > count) threads = count;
    uint32_t started = 1;
    workers[0] = (worker){.work = &work};
    while (started < threads) {
        workers[started] = (worker){.work = &work, .index = started};
        if (pthread_create(&workers[started].thread, NULL, drain, &workers[started]) != 0) break;
        started++;
    }
    drain(&workers[0]);
    for (uint32_t i = 1; i < started; i++) pthread_join(workers[i].thread, NULL);
}

uint32_t sac_parallel_cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int count = CPU_COUNT(&set);
    return count > 0 ? (uint32_t)count : 1;
}
