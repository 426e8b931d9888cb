/* Complete descent: every colliding leaf pair, with memory on the stack only.
 *
 * Each level has a buffer. The deepest one that is not empty gives a batch, whose children go to the
 * buffer below, which is empty by then: a buffer never needs more room than one batch can fill, batches are
 * of one level, and everything stays in the first cache. */
#include "spheretree/descent_internal.h"

#define BATCH 16u
#define BUFFER (BATCH * SAC_LANES * SAC_LANES)

typedef struct level_buffer {
    uint32_t a[BUFFER + SAC_SPAN_SLACK], b[BUFFER + SAC_SPAN_SLACK];
} level_buffer;

/* Where finished pairs go: straight to the caller while a whole batch surely fits. */
typedef struct output {
    uint32_t *a, *b;
    size_t capacity, count;
} output;

static void spill(output *out, const sac_span *found)
{
    for (uint32_t i = 0; i < found->count && out->count + i < out->capacity; i++) {
        out->a[out->count + i] = found->a[i];
        out->b[out->count + i] = found->b[i];
    }
}

static uint64_t descend(const sac_descent *d, const sac_kernel *kernel, output *out)
{
    level_buffer levels[SAC_TREE_MOST_DEPTH + 1];
    level_buffer spare;
    sac_job_list jobs;
    uint32_t counts[SAC_TREE_MOST_DEPTH + 1] = {1}, heads[SAC_TREE_MOST_DEPTH + 1] = {0};
    bool direct[SAC_TREE_MOST_DEPTH + 1] = {true};
    uint32_t batch = BUFFER / sac_descent_most_children(d), level = 0;
    uint64_t tests = 0;
    levels[0].a[0] = sac_node_link(d->a, 0);
    levels[0].b[0] = sac_node_link(d->b, 0);
    for (;;) {
        while (heads[level] == counts[level]) {
            if (level == 0) return tests;
            level--;
        }
        uint32_t head = heads[level], n = counts[level] - head;
        if (n > batch) n = batch;
        heads[level] += n;
        bool roomy = out->count + BUFFER + SAC_SPAN_SLACK <= out->capacity;
        sac_span done = {spare.a, spare.b, 0, BUFFER + SAC_LANES};
        if (roomy) done.a = out->a + out->count, done.b = out->b + out->count;
        /* A pair that can be opened is above the deepest level, so there is one below. */
        sac_span queue = {levels[level + 1].a, levels[level + 1].b, 0, BUFFER + SAC_LANES};
        tests += kernel->prepare(d, levels[level].a + head, levels[level].b + head, n,
                                 sac_descent_kind(d, level), direct[level], &jobs);
        kernel->run(d, &jobs, &queue, &done);
        if (!roomy) spill(out, &done);
        out->count += done.count;
        if (queue.count) {
            level++;
            direct[level] = sac_descent_direct(d, level, n, queue.count);
            counts[level] = queue.count;
            heads[level] = 0;
        }
    }
}

sac_result sac_descend_all(const sac_tree *a, const sac_transform *pose_a, const sac_tree *b,
                           const sac_transform *pose_b, uint32_t *out_a, uint32_t *out_b, size_t capacity,
                           sac_descend_result *out_result, sac_error *error)
{
    SAC_NEED(error, a, pose_a, b, pose_b, out_result);
    if (capacity) SAC_NEED(error, out_a);
    if (capacity) SAC_NEED(error, out_b);
    sac_descent d;
    *out_result = (sac_descend_result){0};
    sac_result result = sac_descent_init(&d, a, pose_a, b, pose_b, error);
    if (result != SAC_OK) return result;
    output out = {out_a, out_b, capacity, 0};
    uint32_t link_a = sac_node_link(a, 0), link_b = sac_node_link(b, 0);
    out_result->tests = 1;
    if (sac_balls_touch(sac_ball_of(a, 0), sac_descent_ball_b(&d, 0))) {
        if (link_a & link_b & SAC_LINK_LEAF) {
            spill(&out, &(sac_span){(uint32_t[]){0}, (uint32_t[]){0}, 1, 1});
            out.count = 1;
        } else {
            out_result->tests += descend(&d, sac_kernel_active(), &out);
        }
    }
    out_result->pairs = out.count;
    return SAC_OK;
}
