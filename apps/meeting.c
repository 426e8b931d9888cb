#include "apps/meeting.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"

enum { REPEATS = 4001 }; /* some milliseconds: longer than a hiccup of the machine */

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static sac_result read_contacts(const sac_front *front, sac_meeting_stop *out, sac_error *error)
{
    sac_front_summary summary = sac_front_report(front);
    size_t count = (size_t)summary.pending + summary.finished + summary.coarse;
    double sum = 0;
    if (!sac_array_reserve(&out->contacts, count + 1))
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the contacts");
    out->contacts.count = sac_front_contacts(front, out->contacts.data, count);
    out->tests = summary.tests;
    out->complete = sac_front_done(front);
    for (size_t i = 0; i < out->contacts.count; i++) {
        const sac_contact *c = &out->contacts.data[i];
        out->deepest = fmaxf(out->deepest, c->depth);
        out->worst_uncertainty = fmaxf(out->worst_uncertainty, c->uncertainty);
        sum += c->uncertainty;
    }
    if (out->contacts.count) out->mean_uncertainty = (float)(sum / (double)out->contacts.count);
    return SAC_OK;
}

sac_result sac_meeting_run(const sac_tree *a, const sac_transform *pose_a, const sac_tree *b,
                           const sac_transform *pose_b, uint64_t tests, sac_meeting_stop *out,
                           sac_error *error)
{
    sac_front_pool_def def = sac_default_front_pool_def();
    sac_front_pool *pool = NULL;
    sac_front *front = NULL;
    static uint64_t times[REPEATS];
    *out = (sac_meeting_stop){.allowed = tests};
    def.fronts = 1;
    def.entries = 1u << 20;
    sac_result result = sac_front_pool_create(&def, &pool, error);
    if (result == SAC_OK) result = sac_front_acquire(pool, a, pose_a, b, pose_b, &front, error);
    for (int i = 0; i < REPEATS && result == SAC_OK; i++) {
        uint64_t start = sac_time_now_ns();
        result = sac_front_restart(front, pose_a, pose_b, error);
        if (result == SAC_OK) sac_front_step(front, tests);
        times[i] = sac_time_now_ns() - start;
    }
    if (result == SAC_OK) {
        qsort(times, REPEATS, sizeof *times, by_size);
        out->microseconds = (double)times[REPEATS / 2] * 1e-3;
        result = read_contacts(front, out, error);
    }
    sac_front_release(front);
    sac_front_pool_destroy(&pool);
    return result;
}

void sac_meeting_stop_fini(sac_meeting_stop *stop) { sac_array_fini(&stop->contacts); }

sac_result sac_meeting_place(const sac_tree *a, const sac_transform *pose_a, const sac_tree *b,
                             const float direction[3], float depth, sac_transform *pose_b, sac_error *error)
{
    float diagonal = sac_box_diagonal(&a->box), middle_a[3], middle_b[3], local_a[3], local_b[3];
    /* Middles meet at distance 0; both diagonals apart nothing touches. */
    float touching = 0, apart = diagonal * pose_a->scale + sac_box_diagonal(&b->box) * pose_b->scale;
    for (int k = 0; k < 3; k++) {
        local_a[k] = 0.5f * (a->box.low[k] + a->box.high[k]);
        local_b[k] = 0.5f * (b->box.low[k] + b->box.high[k]);
        pose_b->translation[k] = 0;
    }
    sac_transform_point(pose_a, local_a, middle_a);
    sac_transform_point(pose_b, local_b, middle_b);
    for (int round = 0; round < 24; round++) {
        float distance = 0.5f * (touching + apart);
        sac_descend_result found;
        for (int k = 0; k < 3; k++)
            pose_b->translation[k] = middle_a[k] - middle_b[k] + direction[k] * distance;
        sac_result result = sac_descend_all(a, pose_a, b, pose_b, NULL, NULL, 0, &found, error);
        if (result != SAC_OK) return result;
        if (found.pairs)
            touching = distance;
        else
            apart = distance;
    }
    float distance = touching - depth * diagonal * pose_a->scale;
    for (int k = 0; k < 3; k++) pose_b->translation[k] = middle_a[k] - middle_b[k] + direction[k] * distance;
    return SAC_OK;
}
