/* Tasks inside a frame: the same few threads, asked again and again. Either the caller's task system behind a
 * hook, or a small pool of our own whose threads sleep between frames. Items are the same whatever the thread
 * count, so threads change nothing but the time.
 *
 *   sac_tasks *tasks;
 *   sac_tasks_create(&(sac_tasks_def){.threads = 2}, &tasks, NULL);
 *   sac_tasks_for(tasks, count, 64, item, context);      // item(first, last, worker, context) for 64 each
 *   sac_tasks_destroy(&tasks);
 *
 * Index: sac_tasks_create  sac_tasks_destroy  sac_tasks_for  sac_tasks_threads
 */
#ifndef SAC_BASE_TASKS_H
#define SAC_BASE_TASKS_H

#include <stdint.h>

#include "error.h"

/* Items first..last-1; `worker` is in [0, threads). */
typedef void sac_task_range(uint32_t first, uint32_t last, uint32_t worker, void *context);

/* The caller's task system: run `range` over [0, count) in pieces of about `grain`, each with the number of
 * the worker it runs on (below `threads`, no two at once with the same), and return when all are done. */
typedef void sac_task_hook(uint32_t count, uint32_t grain, sac_task_range *range, void *context, void *user);

typedef struct sac_tasks_def {
    uint32_t threads;    /* the caller's included; 0 and 1: none but the caller's; at most 64 */
    sac_task_hook *hook; /* NULL: our own pool */
    void *user;          /* handed to the hook */
} sac_tasks_def;

typedef struct sac_tasks sac_tasks;

/* Threads that cannot be had are done without. */
sac_result sac_tasks_create(const sac_tasks_def *def, sac_tasks **out_tasks, sac_error *error);
void sac_tasks_destroy(sac_tasks **tasks);
/* Runs all items and returns when they are done; on the calling thread alone when `tasks` is NULL or count <=
 * grain. Must not be called from inside a range. */
void sac_tasks_for(sac_tasks *tasks, uint32_t count, uint32_t grain, sac_task_range *range, void *context);
uint32_t sac_tasks_threads(const sac_tasks *tasks); /* 1 for NULL */

#endif
