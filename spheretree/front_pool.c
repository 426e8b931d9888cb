/* Where fronts and their node pairs come from. All memory is taken at creation; fronts share chunks of pairs,
 * so thousands of small ones and a few large ones fit the same pool without fragmentation. */
#include "spheretree/front_internal.h"

#define POOL_COOKIE 0x5acf0001u

sac_front_pool_def sac_default_front_pool_def(void)
{
    return (sac_front_pool_def){.fronts = 64, .entries = 65536, .cookie = POOL_COOKIE};
}

sac_result sac_front_pool_create(const sac_front_pool_def *def, sac_front_pool **out_pool, sac_error *error)
{
    SAC_NEED(error, out_pool);
    *out_pool = NULL;
    SAC_NEED(error, def);
    if (def->cookie != POOL_COOKIE)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "start from sac_default_front_pool_def()",
                             "the definition was not initialised");
    if (def->fronts < 1 || def->fronts > 1u << 24 || def->entries > 1u << 30)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "choose 1 to 2^24 fronts and at most 2^30 entries",
                             "%u fronts, %u entries", def->fronts, def->entries);
    sac_front_pool *pool = sac_alloc_zero(1, sizeof *pool);
    if (!pool) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a pool");
    pool->kernel = sac_kernel_active();
    pool->front_count = pool->front_free = def->fronts;
    pool->chunk_count = def->fronts + (def->entries + SAC_FRONT_CHUNK - 1) / SAC_FRONT_CHUNK;
    pool->chunk_free = pool->chunk_least_free = pool->chunk_count - def->fronts;
    pool->first_chunk = def->fronts;
    /* Zeroed, so that a first use in a frame does not wait for pages, and looking ahead reads numbers. */
    pool->fronts = sac_alloc_zero(pool->front_count, sizeof *pool->fronts);
    pool->chunks = sac_alloc_zero(pool->chunk_count, sizeof *pool->chunks);
    pool->scratch = sac_alloc_zero(4 * (size_t)SAC_FRONT_SCRATCH, sizeof *pool->scratch);
    pool->jobs = sac_alloc_zero(1, sizeof *pool->jobs);
    if (!pool->fronts || !pool->chunks || !pool->scratch || !pool->jobs) {
        uint32_t fronts = pool->front_count, chunks = pool->chunk_count;
        sac_front_pool_destroy(&pool);
        return sac_error_set(error, SAC_ERROR_MEMORY, "ask for fewer fronts or entries",
                             "no memory for %u fronts and %u chunks of pairs", fronts, chunks);
    }
    for (uint32_t i = 0; i < pool->front_count; i++) {
        pool->fronts[i].pool = pool;
        pool->fronts[i].next_free = i + 1;
        pool->fronts[i].own_chunk_free = true;
    }
    for (uint32_t i = 0; i < pool->chunk_count; i++) pool->chunks[i].next = i + 1;
    *out_pool = pool;
    return SAC_OK;
}

void sac_front_pool_destroy(sac_front_pool **pool)
{
    sac_front_pool *p = pool ? *pool : NULL;
    if (!p) return;
    sac_free(p->fronts, p->front_count, sizeof *p->fronts);
    sac_free(p->chunks, p->chunk_count, sizeof *p->chunks);
    sac_free(p->scratch, 4 * (size_t)SAC_FRONT_SCRATCH, sizeof *p->scratch);
    sac_free(p->jobs, 1, sizeof *p->jobs);
    sac_free(p, 1, sizeof *p);
    *pool = NULL;
}

void sac_front_pool_report(const sac_front_pool *pool, sac_front_pool_usage *out)
{
    if (!out) return;
    *out = (sac_front_pool_usage){0};
    if (!pool) return;
    *out = (sac_front_pool_usage){
        .fronts = pool->front_count,
        .fronts_free = pool->front_free,
        .chunks = pool->chunk_count - pool->front_count,
        .chunks_free = pool->chunk_free,
        .chunks_high_water = pool->chunk_count - pool->front_count - pool->chunk_least_free,
        .bytes = sizeof *pool + sizeof *pool->jobs + pool->front_count * sizeof *pool->fronts +
                 pool->chunk_count * sizeof *pool->chunks +
                 4 * (size_t)SAC_FRONT_SCRATCH * sizeof *pool->scratch,
    };
}

uint32_t sac_front_take_chunk(sac_front *front)
{
    sac_front_pool *pool = front->pool;
    uint32_t chunk;
    if (front->own_chunk_free) {
        chunk = (uint32_t)(front - pool->fronts);
        front->own_chunk_free = false;
    } else {
        chunk = pool->first_chunk;
        pool->first_chunk = pool->chunks[chunk].next;
        pool->chunk_free--;
        if (pool->chunk_free < pool->chunk_least_free) pool->chunk_least_free = pool->chunk_free;
    }
    pool->chunks[chunk].count = 0;
    pool->chunks[chunk].next = SAC_NO_CHUNK;
    return chunk;
}

void sac_front_give_chunk(sac_front *front, uint32_t chunk)
{
    sac_front_pool *pool = front->pool;
    if (chunk < pool->front_count) {
        front->own_chunk_free = true;
        return;
    }
    pool->chunks[chunk].next = pool->first_chunk;
    pool->first_chunk = chunk;
    pool->chunk_free++;
}

void sac_front_give_list(sac_front *front, sac_pair_list *list)
{
    for (uint32_t chunk = list->head; chunk != SAC_NO_CHUNK;) {
        uint32_t next = front->pool->chunks[chunk].next;
        sac_front_give_chunk(front, chunk);
        chunk = next;
    }
    *list = (sac_pair_list){SAC_NO_CHUNK, SAC_NO_CHUNK, 0};
}
