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

/* A late worker may look at a job while the next one is made: what it reads is atomic, and worth something
 * only once it has claimed a piece, because until that is done the job stays. */
struct sac_tasks {
    sac_task_hook *hook;
    void *user;
    uint32_t threads;
    worker workers[MOST_THREADS];
    atomic_uint round;    /* number of the job; workers that wait see that there is a new one */
    atomic_ullong claim;  /* that number, and the first item nobody has claimed */
    atomic_uint done;     /* items */
    atomic_bool watching; /* whoever asked sleeps until all are done */
    atomic_bool stopping;
    atomic_uint count, grain;
    _Atomic(sac_task_range *) range;
    _Atomic(void *) context;
    pthread_mutex_t lock;
    pthread_cond_t wake, finished;
};

static void wake_asker(sac_tasks *tasks)
{
    pthread_mutex_lock(&tasks->lock);
    pthread_cond_signal(&tasks->finished);
    pthread_mutex_unlock(&tasks->lock);
}

/* Pieces of a job, until none is left that nobody has claimed. A worker that comes too late finds none:
 * nobody waits for it. */
static void drain(sac_tasks *tasks, uint32_t round, uint32_t index)
{
    unsigned long long claim = atomic_load_explicit(&tasks->claim, memory_order_acquire);
    while (claim >> 32 == round) {
        /* Should these be of the next job, its claim is closed by now and the exchange below fails. */
        uint32_t first = (uint32_t)claim, count = atomic_load_explicit(&tasks->count, memory_order_acquire),
                 grain = atomic_load_explicit(&tasks->grain, memory_order_acquire);
        if (first >= count) return;
        uint32_t n = count - first > grain ? grain : count - first;
        if (!atomic_compare_exchange_weak_explicit(&tasks->claim, &claim, claim + n, memory_order_acq_rel,
                                                   memory_order_acquire))
            continue;
        sac_task_range *range = atomic_load_explicit(&tasks->range, memory_order_relaxed);
        range(first, first + n, index, atomic_load_explicit(&tasks->context, memory_order_relaxed));
        /* In one order with what sleep_until_done does, so that one of the two sees the other. */
        if (atomic_fetch_add(&tasks->done, n) + n == count && atomic_load(&tasks->watching))
            wake_asker(tasks);
        claim = atomic_load_explicit(&tasks->claim, memory_order_acquire);
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

/* Before a word of the next job is said: who is late from the last one may have seen that all of it was
 * claimed, reads how much there is of the next, and would claim pieces nobody has offered yet. */
static void close_claim(sac_tasks *tasks)
{
    unsigned long long round = atomic_load_explicit(&tasks->round, memory_order_relaxed) + 1u;
    atomic_store_explicit(&tasks->claim, (uint32_t)round * (1ull << 32) | UINT32_MAX, memory_order_relaxed);
}

static uint32_t announce(sac_tasks *tasks)
{
    uint32_t round = atomic_load_explicit(&tasks->round, memory_order_relaxed) + 1;
    atomic_store_explicit(&tasks->claim, (unsigned long long)round << 32, memory_order_release);
    pthread_mutex_lock(&tasks->lock);
    atomic_store_explicit(&tasks->round, round, memory_order_release);
    pthread_cond_broadcast(&tasks->wake);
    pthread_mutex_unlock(&tasks->lock);
    return round;
}

static void *work(void *argument)
{
    worker *self = argument;
    sac_tasks *tasks = self->tasks;
    uint32_t seen = 0;
    for (;;) {
        seen = wait_round(tasks, seen);
        if (atomic_load_explicit(&tasks->stopping, memory_order_acquire)) return NULL;
        drain(tasks, seen, self->index);
    }
}

/* The last pieces are in others' hands. Should one of these have lost its core, it gets this one. */
static void sleep_until_done(sac_tasks *tasks, uint32_t count)
{
    for (uint32_t i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&tasks->done, memory_order_acquire) == count) return;
        relax();
    }
    pthread_mutex_lock(&tasks->lock);
    atomic_store(&tasks->watching, true);
    while (atomic_load(&tasks->done) != count) pthread_cond_wait(&tasks->finished, &tasks->lock);
    atomic_store(&tasks->watching, false);
    pthread_mutex_unlock(&tasks->lock);
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
    pthread_cond_init(&tasks->finished, NULL);
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
        atomic_store_explicit(&tasks->stopping, true, memory_order_release);
        announce(tasks);
        for (uint32_t i = 1; i < tasks->threads; i++) pthread_join(tasks->workers[i].thread, NULL);
    }
    pthread_cond_destroy(&tasks->wake);
    pthread_cond_destroy(&tasks->finished);
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
    close_claim(tasks);
    atomic_store_explicit(&tasks->count, count, memory_order_release);
    atomic_store_explicit(&tasks->grain, grain, memory_order_release);
    atomic_store_explicit(&tasks->range, range, memory_order_relaxed);
    atomic_store_explicit(&tasks->context, context, memory_order_relaxed);
    atomic_store_explicit(&tasks->done, 0, memory_order_relaxed);
    drain(tasks, announce(tasks), 0);
    sleep_until_done(tasks, count);
}

uint32_t sac_tasks_threads(const sac_tasks *tasks) { return tasks ? tasks->threads : 1; }
