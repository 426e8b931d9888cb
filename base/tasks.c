#include "base/tasks.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/memory.h"

enum { MOST_THREADS = 64, SPINS = 2000 };

typedef struct worker {
    sac_tasks *tasks;
    uint32_t index;
    pthread_t thread;
} worker;

struct sac_tasks {
    sac_task_hook *hook;
    void *user;
    uint32_t threads;
    worker workers[MOST_THREADS];
    /* One job at a time. `round` tells workers that there is a new one; `busy` how many have not finished it.
     */
    atomic_uint round, next, busy, stopping;
    uint32_t count, grain;
    sac_task_range *range;
    void *context;
    pthread_mutex_t lock;
    pthread_cond_t wake;
};

static void drain(sac_tasks *tasks, uint32_t index)
{
    for (;;) {
        uint32_t first = atomic_fetch_add_explicit(&tasks->next, tasks->grain, memory_order_relaxed);
        if (first >= tasks->count) return;
        uint32_t last = tasks->count - first > tasks->grain ? first + tasks->grain : tasks->count;
        tasks->range(first, last, index, tasks->context);
    }
}

static inline void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Spins a little, because the next stage of a frame follows at once; then sleeps. */
static uint32_t wait_round(sac_tasks *tasks, uint32_t seen)
{
    for (uint32_t i = 0; i < SPINS; i++) {
        uint32_t now = atomic_load_explicit(&tasks->round, memory_order_acquire);
        if (now != seen) return now;
        relax();
    }
    pthread_mutex_lock(&tasks->lock);
    uint32_t now;
    while ((now = atomic_load_explicit(&tasks->round, memory_order_acquire)) == seen)
        pthread_cond_wait(&tasks->wake, &tasks->lock);
    pthread_mutex_unlock(&tasks->lock);
    return now;
}

static void announce(sac_tasks *tasks)
{
    pthread_mutex_lock(&tasks->lock);
    atomic_fetch_add_explicit(&tasks->round, 1, memory_order_release);
    pthread_cond_broadcast(&tasks->wake);
    pthread_mutex_unlock(&tasks->lock);
}

static void *work(void *argument)
{
    worker *self = argument;
    sac_tasks *tasks = self->tasks;
    uint32_t seen = 0;
    for (;;) {
        seen = wait_round(tasks, seen);
        if (atomic_load_explicit(&tasks->stopping, memory_order_acquire)) return NULL;
        drain(tasks, self->index);
        atomic_fetch_sub_explicit(&tasks->busy, 1, memory_order_release);
    }
}

sac_result sac_tasks_create(const sac_tasks_def *def, sac_tasks **out_tasks, sac_error *error)
{
    SAC_NEED(error, out_tasks);
    *out_tasks = NULL;
    SAC_NEED(error, def);
    if (def->threads > MOST_THREADS)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "ask for 64 or fewer", "%u threads", def->threads);
    sac_tasks *tasks = sac_alloc_zero(1, sizeof *tasks);
    if (!tasks) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the tasks");
    tasks->hook = def->hook;
    tasks->user = def->user;
    tasks->threads = 1;
    pthread_mutex_init(&tasks->lock, NULL);
    pthread_cond_init(&tasks->wake, NULL);
    if (def->hook) {
        tasks->threads = def->threads ? def->threads : 1;
    } else {
        while (tasks->threads < def->threads) {
            worker *w = &tasks->workers[tasks->threads];
            *w = (worker){.tasks = tasks, .index = tasks->threads};
            if (pthread_create(&w->thread, NULL, work, w) != 0) break;
            tasks->threads++;
        }
    }
    *out_tasks = tasks;
    return SAC_OK;
}

void sac_tasks_destroy(sac_tasks **pointer)
{
    sac_tasks *tasks = pointer ? *pointer : NULL;
    if (!tasks) return;
    *pointer = NULL;
    if (!tasks->hook) {
        atomic_store_explicit(&tasks->stopping, 1, memory_order_release);
        announce(tasks);
        for (uint32_t i = 1; i < tasks->threads; i++) pthread_join(tasks->workers[i].thread, NULL);
    }
    pthread_cond_destroy(&tasks->wake);
    pthread_mutex_destroy(&tasks->lock);
    sac_free(tasks, 1, sizeof *tasks);
}

void sac_tasks_for(sac_tasks *tasks, uint32_t count, uint32_t grain, sac_task_range *range, void *context)
{
    if (grain == 0) grain = 1;
    if (!tasks || tasks->threads <= 1 || count <= grain) {
        if (count) range(0, count, 0, context);
        return;
    }
    if (tasks->hook) {
        tasks->hook(count, grain, range, context, tasks->user);
        return;
    }
    tasks->count = count;
    tasks->grain = grain;
    tasks->range = range;
    tasks->context = context;
    atomic_store_explicit(&tasks->next, 0, memory_order_relaxed);
    atomic_store_explicit(&tasks->busy, tasks->threads - 1, memory_order_relaxed);
    announce(tasks);
    drain(tasks, 0);
    while (atomic_load_explicit(&tasks->busy, memory_order_acquire)) relax();
}

uint32_t sac_tasks_threads(const sac_tasks *tasks) { return tasks ? tasks->threads : 1; }
