/* The front of a pair of trees: opened coarsest first, stopped after any number of node tests. */
#include "spheretree/front_internal.h"

/* ---- lists ---- */

/* Chunks needed to add `count` pairs. */
static uint32_t list_chunks_for(const sac_front_pool *pool, const sac_pair_list *list, uint32_t count)
{
    uint32_t room = list->tail == SAC_NO_CHUNK ? 0 : SAC_FRONT_CHUNK - pool->chunks[list->tail].count;
    return count <= room ? 0 : (count - room + SAC_FRONT_CHUNK - 1) / SAC_FRONT_CHUNK;
}

static sac_chunk *list_grow(sac_front *front, sac_pair_list *list)
{
    sac_front_pool *pool = front->pool;
    uint32_t chunk = sac_front_take_chunk(front);
    if (list->tail == SAC_NO_CHUNK)
        list->head = chunk;
    else
        pool->chunks[list->tail].next = chunk;
    list->tail = chunk;
    return &pool->chunks[chunk];
}

/* The chunks must be there. `pairs` may be read to the end of its last eight. */
static void list_add(sac_front *front, sac_pair_list *list, const sac_span *pairs)
{
    sac_front_pool *pool = front->pool;
    list->count += pairs->count;
    for (uint32_t i = 0; i < pairs->count;) {
        sac_chunk *chunk = list->tail == SAC_NO_CHUNK ? NULL : &pool->chunks[list->tail];
        if (!chunk || chunk->count == SAC_FRONT_CHUNK) chunk = list_grow(front, list);
        uint32_t n = pairs->count - i, room = SAC_FRONT_CHUNK - chunk->count;
        if (n > room) n = room;
        for (uint32_t k = 0; k < n; k += 8) {
            memcpy(chunk->a + chunk->count + k, pairs->a + i + k, 8 * sizeof *chunk->a);
            memcpy(chunk->b + chunk->count + k, pairs->b + i + k, 8 * sizeof *chunk->b);
        }
        chunk->count += n;
        i += n;
    }
}

/* ---- life ---- */

/* Everything but the transform: back to the roots. The front holds no chunk. */
static void start(sac_front *front)
{
    const sac_descent *d = &front->descent;
    uint32_t link_a = sac_node_link(d->a, 0), link_b = sac_node_link(d->b, 0);
    front->queue = front->done = front->kept = (sac_pair_list){SAC_NO_CHUNK, SAC_NO_CHUNK, 0};
    front->head_at = front->head_kept = 0;
    front->level = 0;
    front->level_left = 0;
    front->level_size = 1;
    front->direct = true;
    front->half.slot = 0;
    front->tests = 1;
    if (!sac_balls_touch(sac_ball_of(d->a, 0), sac_descent_ball_b(d, 0))) return;
    bool leaves = link_a & link_b & SAC_LINK_LEAF;
    sac_chunk *chunk = list_grow(front, leaves ? &front->done : &front->queue);
    chunk->a[0] = leaves ? 0 : link_a;
    chunk->b[0] = leaves ? 0 : link_b;
    chunk->count = 1;
    front->done.count = leaves;
    front->queue.count = front->level_left = !leaves;
}

static void give_lists(sac_front *front)
{
    sac_front_give_list(front, &front->queue);
    sac_front_give_list(front, &front->done);
    sac_front_give_list(front, &front->kept);
}

sac_result sac_front_acquire(sac_front_pool *pool, const sac_tree *a, const sac_transform *pose_a,
                             const sac_tree *b, const sac_transform *pose_b, sac_front **out_front,
                             sac_error *error)
{
    SAC_NEED(error, out_front);
    *out_front = NULL;
    SAC_NEED(error, pool, a, pose_a, b, pose_b);
    if (pool->front_free == 0)
        return sac_error_set(error, SAC_ERROR_LIMIT, "release one or make a larger pool",
                             "all %u fronts are in use", pool->front_count);
    sac_front *front = &pool->fronts[pool->first_front];
    sac_result result = sac_descent_init(&front->descent, a, pose_a, b, pose_b, error);
    if (result != SAC_OK) return result;
    pool->first_front = front->next_free;
    pool->front_free--;
    front->in_use = true;
    front->pose_a = *pose_a;
    front->pose_b = *pose_b;
    start(front);
    *out_front = front;
    return SAC_OK;
}

sac_result sac_front_restart(sac_front *front, const sac_transform *pose_a, const sac_transform *pose_b,
                             sac_error *error)
{
    SAC_NEED(error, front, pose_a, pose_b);
    sac_descent d;
    sac_result result = sac_descent_init(&d, front->descent.a, pose_a, front->descent.b, pose_b, error);
    if (result != SAC_OK) return result;
    front->descent = d;
    front->pose_a = *pose_a;
    front->pose_b = *pose_b;
    give_lists(front);
    start(front);
    return SAC_OK;
}

void sac_front_release(sac_front *front)
{
    if (!front || !front->in_use) return;
    sac_front_pool *pool = front->pool;
    give_lists(front);
    front->in_use = false;
    front->next_free = pool->first_front;
    pool->first_front = (uint32_t)(front - pool->fronts);
    pool->front_free++;
}

/* ---- taking pairs off the queue ---- */

/* The first chunk has been read to its end: what was kept coarse moves on, the rest goes back. */
static void retire_head(sac_front *front)
{
    sac_front_pool *pool = front->pool;
    uint32_t head = front->queue.head;
    sac_chunk *chunk = &pool->chunks[head];
    front->queue.head = chunk->next;
    if (front->queue.head == SAC_NO_CHUNK) front->queue.tail = SAC_NO_CHUNK;
    if (front->head_kept) {
        chunk->count = front->head_kept;
        chunk->next = front->kept.head;
        front->kept.head = head;
    } else {
        sac_front_give_chunk(front, head);
    }
    front->head_at = front->head_kept = 0;
}

/* The first `count` pairs leave the queue. */
static void take_off(sac_front *front, uint32_t count)
{
    front->head_at += count;
    front->queue.count -= count;
    front->level_left -= count;
    if (front->head_at == front->pool->chunks[front->queue.head].count) retire_head(front);
}

static void end_of_level(sac_front *front)
{
    if (front->level_left) return;
    front->level++;
    front->direct = sac_descent_direct(&front->descent, front->level, front->level_size, front->queue.count);
    front->level_left = front->level_size = front->queue.count;
}

/* The first `count` pairs leave the queue, then what they turned into enters. */
static void commit(sac_front *front, uint32_t count, const sac_span *queue, const sac_span *done)
{
    take_off(front, count);
    list_add(front, &front->queue, queue);
    list_add(front, &front->done, done);
    end_of_level(front);
}

/* Would commit() find the chunks it needs? */
static bool fits(const sac_front *front, uint32_t count, const sac_span *queue, const sac_span *done)
{
    const sac_front_pool *pool = front->pool;
    sac_pair_list list = front->queue;
    uint32_t spare = sac_front_spare_chunks(front);
    const sac_chunk *head = &pool->chunks[list.head];
    if (front->head_at + count == head->count) {
        spare += front->head_kept == 0;
        if (head->next == SAC_NO_CHUNK) list.tail = SAC_NO_CHUNK;
    }
    return list_chunks_for(pool, &list, queue->count) + list_chunks_for(pool, &front->done, done->count) <=
           spare;
}

/* No room for the children of the first pair: it stays as it is, for good. Needs no room. */
static void keep_coarse(sac_front *front)
{
    sac_chunk *head = &front->pool->chunks[front->queue.head];
    head->a[front->head_kept] = head->a[front->head_at];
    head->b[front->head_kept] = head->b[front->head_at];
    front->head_kept++;
    front->kept.count++;
    commit(front, 1, &(sac_span){0}, &(sac_span){0});
}

/* ---- one test at a time ---- */

enum { CULL_SLOTS = 2 * SAC_LANES, SLOTS = CULL_SLOTS + 4 * SAC_LANES * SAC_LANES };

typedef struct half_view {
    uint32_t link_a, link_b;
    sac_lanes a, b;
} half_view;

/* Is slot i a lane of this pair, and of which nodes? */
static bool slot_is_lane(const half_view *v, uint32_t live, uint32_t i, uint32_t *id_a, uint32_t *id_b)
{
    uint32_t block_a = 0, block_b, lane_a = 0, lane_b;
    if (i < CULL_SLOTS) {
        block_b = i / SAC_LANES, lane_b = i % SAC_LANES;
    } else {
        uint32_t at = i - CULL_SLOTS;
        block_b = at / 128, block_a = at / 64 % 2, lane_b = at / SAC_LANES % SAC_LANES,
        lane_a = at % SAC_LANES;
        if (!(live >> (block_b * SAC_LANES + lane_b) & 1)) return false;
    }
    *id_a = (v->a.block + block_a) * SAC_LANES + lane_a;
    *id_b = (v->b.block + block_b) * SAC_LANES + lane_b;
    return block_a < v->a.blocks && block_b < v->b.blocks;
}

/* An empty lane touches nothing, and beside a leaf only its own lane counts. */
static void run_slot(const sac_descent *d, const half_view *v, sac_half_opened *half, uint32_t i,
                     uint32_t id_a, uint32_t id_b)
{
    sac_ball b = sac_descent_ball_b(d, id_b);
    if (i < CULL_SLOTS) {
        uint32_t own = sac_link_node(d->a, v->link_a);
        sac_ball a = sac_ball_of(d->a, own);
        a.r = d->a->links[own / SAC_LANES].bound[own % SAC_LANES];
        half->live |= (uint32_t)(sac_bound_touches(a, b) && v->b.lanes >> id_b % SAC_LANES & 1) << i;
    } else if (v->a.lanes >> id_a % SAC_LANES & 1 && sac_balls_touch(sac_ball_of(d->a, id_a), b)) {
        uint32_t at = i - CULL_SLOTS;
        half->hits[at / 64] |= 1ull << at % 64;
    }
}

/* What the finished tests found, in the kernel's order. */
static void collect_hits(const sac_descent *d, const half_view *v, const sac_half_opened *half,
                         sac_span *queue, sac_span *done)
{
    for (uint32_t w = 0; w < 4; w++)
        for (uint64_t hits = half->hits[w]; hits; hits &= hits - 1) {
            uint32_t bit = (uint32_t)__builtin_ctzll(hits);
            uint32_t a = sac_node_link(d->a, (v->a.block + w % 2) * SAC_LANES + bit % SAC_LANES);
            uint32_t b = sac_node_link(d->b, (v->b.block + w / 2) * SAC_LANES + bit / SAC_LANES);
            bool leaves = a & b & SAC_LINK_LEAF;
            sac_span *to = leaves ? done : queue;
            to->a[to->count] = leaves ? a & ~SAC_LINK_LEAF : a;
            to->b[to->count++] = leaves ? b & ~SAC_LINK_LEAF : b;
        }
}

static void scratch_spans(const sac_front_pool *pool, sac_span *queue, sac_span *done)
{
    uint32_t *s = pool->scratch;
    *queue = (sac_span){s, s + SAC_FRONT_SCRATCH, 0, SAC_FRONT_SCRATCH - SAC_LANES};
    *done =
        (sac_span){s + 2 * SAC_FRONT_SCRATCH, s + 3 * SAC_FRONT_SCRATCH, 0, SAC_FRONT_SCRATCH - SAC_LANES};
}

/* Opens the first pair test by test; returns the tests spent. */
static uint64_t step_half(sac_front *front, uint64_t credits)
{
    const sac_descent *d = &front->descent;
    sac_half_opened *half = &front->half;
    const sac_chunk *head = &front->pool->chunks[front->queue.head];
    half_view v = {head->a[front->head_at], head->b[front->head_at], {0}, {0}};
    v.a = sac_link_lanes(d->a, v.link_a);
    v.b = sac_link_lanes(d->b, v.link_b);
    if (half->slot == 0) {
        *half = (sac_half_opened){0};
        if (front->direct && sac_descent_kind(d, front->level) != SAC_OPEN_MIXED)
            half->slot = CULL_SLOTS, half->live = 0xff;
    }
    uint64_t spent = 0;
    uint32_t id_a, id_b, i = half->slot;
    for (; i < SLOTS; i++) {
        if (!slot_is_lane(&v, half->live, i, &id_a, &id_b)) continue;
        if (spent == credits) {
            half->slot = i;
            return spent;
        }
        run_slot(d, &v, half, i, id_a, id_b);
        spent++;
    }
    sac_span queue, done;
    scratch_spans(front->pool, &queue, &done);
    collect_hits(d, &v, half, &queue, &done);
    half->slot = 0;
    if (fits(front, 1, &queue, &done))
        commit(front, 1, &queue, &done);
    else
        keep_coarse(front);
    return spent;
}

/* ---- batches ---- */

/* The tail of a list as a span a kernel can write to. */
static sac_span list_tail(sac_front *front, sac_pair_list *list)
{
    sac_chunk *chunk = list->tail == SAC_NO_CHUNK ? NULL : &front->pool->chunks[list->tail];
    if (!chunk || chunk->count == SAC_FRONT_CHUNK) chunk = list_grow(front, list);
    /* The last pairs of a chunk may be written by a vector that ends beyond it. */
    return (sac_span){chunk->a, chunk->b, chunk->count, SAC_FRONT_CHUNK};
}

/* Runs the prepared jobs straight into the lists. The chunks must be there. */
static void run_into_lists(sac_front *front)
{
    sac_front_pool *pool = front->pool;
    sac_job_list *jobs = pool->jobs;
    sac_span none = {pool->scratch, pool->scratch, 0, SAC_FRONT_SCRATCH - SAC_LANES};
    for (bool finished = jobs->count == 0; !finished;) {
        sac_span queue = none, done = none;
        if (jobs->kind != SAC_OPEN_TO_DONE) queue = list_tail(front, &front->queue);
        if (jobs->kind != SAC_OPEN_TO_QUEUE) done = list_tail(front, &front->done);
        uint32_t queue_had = queue.count, done_had = done.count;
        finished = pool->kernel->run(&front->descent, jobs, &queue, &done);
        if (jobs->kind != SAC_OPEN_TO_DONE) {
            front->queue.count += queue.count - queue_had;
            pool->chunks[front->queue.tail].count = queue.count;
        }
        if (jobs->kind != SAC_OPEN_TO_QUEUE) {
            front->done.count += done.count - done_had;
            pool->chunks[front->done.tail].count = done.count;
        }
        if (finished) break;
        /* A chunk with too few places left is full. */
        if (jobs->kind != SAC_OPEN_TO_DONE && queue.count + sac_job_most(jobs) > SAC_FRONT_CHUNK)
            list_grow(front, &front->queue);
        if (jobs->kind != SAC_OPEN_TO_QUEUE && done.count + sac_job_most(jobs) > SAC_FRONT_CHUNK)
            list_grow(front, &front->done);
    }
}

/* Surely enough chunks for whatever the prepared jobs find? */
static bool plenty(const sac_front *front)
{
    /* A chunk is left when less places are free than a job may fill. */
    const sac_job_list *jobs = front->pool->jobs;
    const uint32_t used = SAC_FRONT_CHUNK - sac_job_most(jobs) + 1;
    uint32_t most = jobs->count * sac_job_most(jobs);
    return 2 * ((most + used - 1) / used + 1) <= sac_front_spare_chunks(front);
}

/* Opens up to `count` pairs, all in the first chunk and of one level; returns the tests spent. */
static uint64_t step_batch(sac_front *front, uint32_t count)
{
    const sac_descent *d = &front->descent;
    sac_front_pool *pool = front->pool;
    sac_open_kind kind = sac_descent_kind(d, front->level);
    for (;;) {
        const sac_chunk *head = &pool->chunks[front->queue.head];
        uint64_t spent = pool->kernel->prepare(d, head->a + front->head_at, head->b + front->head_at, count,
                                               kind, front->direct, pool->jobs);
        if (plenty(front)) {
            take_off(front, count);
            run_into_lists(front);
            end_of_level(front);
            return spent;
        }
        sac_span queue, done;
        scratch_spans(pool, &queue, &done);
        pool->kernel->run(d, pool->jobs, &queue, &done);
        if (fits(front, count, &queue, &done)) {
            commit(front, count, &queue, &done);
            return spent;
        }
        if (count == 1) {
            keep_coarse(front);
            return spent;
        }
        /* Short of room: pair by pair, so that as many as possible are opened. */
        count = 1;
    }
}

static uint64_t step(sac_front *front, uint64_t credits, bool one_level)
{
    const uint32_t worst = sac_descent_most_tests(&front->descent);
    const uint32_t level = front->level;
    uint64_t spent = 0;
    while (front->queue.count && !(one_level && front->level != level)) {
        uint64_t left = credits - spent;
        if (front->half.slot || left < worst) {
            if (left == 0) break;
            uint64_t half = step_half(front, left);
            spent += half;
            if (front->half.slot) break;
            continue;
        }
        uint64_t count = left / worst;
        uint32_t in_chunk = front->pool->chunks[front->queue.head].count - front->head_at;
        if (count > SAC_OPEN_BATCH) count = SAC_OPEN_BATCH;
        if (count > in_chunk) count = in_chunk;
        if (count > front->level_left) count = front->level_left;
        spent += step_batch(front, (uint32_t)count);
    }
    front->tests += spent;
    return spent;
}

uint64_t sac_front_step(sac_front *front, uint64_t credits)
{
    return front ? step(front, credits, false) : 0;
}

uint64_t sac_front_step_level(sac_front *front, uint64_t credits)
{
    return front ? step(front, credits, true) : 0;
}

/* ---- reading ---- */

bool sac_front_done(const sac_front *front) { return !front || front->queue.count == 0; }

sac_front_summary sac_front_report(const sac_front *front)
{
    if (!front) return (sac_front_summary){0};
    return (sac_front_summary){.level = front->level,
                               .pending = front->queue.count,
                               .finished = front->done.count,
                               .coarse = front->kept.count,
                               .tests = front->tests};
}

sac_front_cursor sac_front_cursor_begin(const sac_front *front)
{
    return (sac_front_cursor){0, front->done.head, 0};
}

/* The part of the front the cursor is in: its next chunk list, and how far that chunk's pairs go. */
static bool cursor_settle(const sac_front *front, sac_front_cursor *cursor, uint32_t *out_end)
{
    const sac_chunk *chunks = front->pool->chunks;
    for (;;) {
        if (cursor->chunk != SAC_NO_CHUNK) {
            bool kept_head = cursor->part == 2;
            *out_end = kept_head ? front->head_kept : chunks[cursor->chunk].count;
            if (cursor->at < *out_end) return true;
            cursor->chunk = kept_head ? SAC_NO_CHUNK : chunks[cursor->chunk].next;
            cursor->at = 0;
            continue;
        }
        cursor->part++;
        cursor->at = 0;
        if (cursor->part == 1) cursor->chunk = front->kept.head;
        if (cursor->part == 2) cursor->chunk = front->queue.head;
        if (cursor->part == 3) cursor->chunk = front->queue.head, cursor->at = front->head_at;
        if (cursor->part > 3) return false;
    }
}

size_t sac_front_cursor_read(const sac_front *front, sac_front_cursor *cursor, sac_front_pair *out,
                             size_t capacity)
{
    const sac_descent *d = &front->descent;
    size_t n = 0;
    uint32_t end;
    while (n < capacity && cursor_settle(front, cursor, &end)) {
        const sac_chunk *chunk = &front->pool->chunks[cursor->chunk];
        bool links = cursor->part != 0, final = cursor->part != 3;
        for (; cursor->at < end && n < capacity; cursor->at++) {
            uint32_t a = chunk->a[cursor->at], b = chunk->b[cursor->at];
            out[n++] = (sac_front_pair){links ? sac_link_node(d->a, a) : a,
                                        links ? sac_link_node(d->b, b) : b, final};
        }
    }
    return n;
}

size_t sac_front_pairs(const sac_front *front, sac_front_pair *out, size_t capacity)
{
    if (!front || !out) return 0;
    sac_front_cursor cursor = sac_front_cursor_begin(front);
    return sac_front_cursor_read(front, &cursor, out, capacity);
}
