/* Inside a front: lists of node pairs in chunks that all fronts of a pool share. Private to spheretree/. */
#ifndef SAC_SPHERETREE_FRONT_INTERNAL_H
#define SAC_SPHERETREE_FRONT_INTERNAL_H

#include "spheretree/descent_internal.h"

#define SAC_NO_CHUNK UINT32_MAX

/* Copied eight pairs at a time, so each side may be overrun by that; and a kernel looks ahead of its batch.
 */
typedef struct sac_chunk {
    uint32_t a[SAC_FRONT_CHUNK + SAC_SPAN_SLACK / 2], b[SAC_FRONT_CHUNK + SAC_SPAN_SLACK / 2];
    uint32_t count, next;
    uint32_t slack[SAC_SPAN_SLACK - 2];
} sac_chunk;

/* Pairs in order, in chunks linked from head to tail. */
typedef struct sac_pair_list {
    uint32_t head, tail; /* chunks; SAC_NO_CHUNK when empty */
    uint32_t count;      /* pairs in all */
} sac_pair_list;

/* The head pair half opened: where the tests stand and what they found. Nothing of it shows: until it is
 * finished the pair itself stands in the front. */
typedef struct sac_half_opened {
    uint32_t slot;    /* next test; 0: not begun */
    uint32_t live;    /* children of b that reach a's children, a bit each */
    uint64_t hits[4]; /* block of b * 2 + block of a; bit child of b * 8 + child of a */
} sac_half_opened;

struct sac_front {
    sac_descent descent;
    sac_front_pool *pool;
    sac_transform pose_a, pose_b;
    sac_pair_list queue; /* links; `head_at` pairs of the first chunk are gone */
    sac_pair_list done;  /* node ids */
    sac_pair_list kept;  /* links */
    uint32_t head_at;
    uint32_t head_kept; /* pairs kept coarse are moved to the start of the first chunk, always free by then */
    uint32_t level, level_left; /* level of the first pair; pairs of that level still in the queue */
    uint32_t level_size;        /* pairs it had */
    bool direct;                /* how this level is opened */
    sac_half_opened half;
    uint64_t tests;
    uint32_t next_free; /* front, in the pool's list */
    bool in_use;
    bool own_chunk_free; /* chunk i belongs to front i, so that there is always one for a first pair */
};

struct sac_front_pool {
    const sac_kernel *kernel;
    sac_front *fronts;
    sac_chunk *chunks;
    uint32_t front_count, front_free, first_front;
    uint32_t chunk_count, chunk_free, first_chunk; /* the free ones are the shared ones */
    uint32_t chunk_least_free;
    sac_job_list *jobs;
    uint32_t *scratch; /* 4 arrays of SAC_FRONT_SCRATCH: what one batch finds, before it is known to fit */
};

#define SAC_FRONT_SCRATCH (SAC_OPEN_BATCH * SAC_LANES * SAC_LANES * 4u + SAC_SPAN_SLACK)

/* Chunks a front may still take: its own, which nobody else can, and the shared ones. */
static inline uint32_t sac_front_spare_chunks(const sac_front *front)
{
    return front->pool->chunk_free + front->own_chunk_free;
}
uint32_t sac_front_take_chunk(sac_front *front);
void sac_front_give_chunk(sac_front *front, uint32_t chunk);
void sac_front_give_list(sac_front *front, sac_pair_list *list);

/* Reading the pairs of a front piece by piece: finished, kept, kept in the first chunk, pending. */
typedef struct sac_front_cursor {
    uint32_t part, chunk, at;
} sac_front_cursor;
sac_front_cursor sac_front_cursor_begin(const sac_front *front);
size_t sac_front_cursor_read(const sac_front *front, sac_front_cursor *cursor, sac_front_pair *out,
                             size_t capacity);

#endif
