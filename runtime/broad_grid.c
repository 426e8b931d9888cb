/* Hierarchical loose grid: pools of bricks and blocks, and where a box goes. */
#include "runtime/broad_grid_internal.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"

void sac_grid_init(sac_grid *grid)
{
    *grid = (sac_grid){.free_brick = SAC_GRID_NONE, .free_block = SAC_GRID_NONE};
    for (uint32_t i = 0; i < SAC_GRID_LEVELS; i++) grid->level[i].first = SAC_GRID_NONE;
    grid->compare = sac_grid_compare_plain;
#if defined(__x86_64__)
    sac_simd simd = sac_simd_active();
    if (simd == SAC_SIMD_AVX2) grid->compare = sac_grid_compare_avx2;
    if (simd == SAC_SIMD_AVX512) grid->compare = sac_grid_compare_avx512;
#endif
}

static size_t slot_count(uint32_t bodies)
{
    size_t count = 16;
    while (count < (size_t)bodies * 4) count *= 2;
    return count;
}

static void release(sac_grid *grid)
{
    sac_free(grid->places, grid->room, sizeof *grid->places);
    sac_free(grid->bricks, grid->room, sizeof *grid->bricks);
    sac_free(grid->chains, grid->room, sizeof *grid->chains);
    sac_free(grid->blocks, grid->room, sizeof *grid->blocks);
    sac_free(grid->next_blocks, grid->room, sizeof *grid->next_blocks);
    if (grid->slots) sac_free(grid->slots, (size_t)grid->slot_mask + 1, sizeof *grid->slots);
}

void sac_grid_fini(sac_grid *grid)
{
    release(grid);
    sac_grid_init(grid);
}

static void enter_slot(sac_grid *grid, uint32_t number)
{
    uint32_t slot = grid->bricks[number].hash & grid->slot_mask;
    while (grid->slots[slot].brick != SAC_GRID_NONE) slot = (slot + 1) & grid->slot_mask;
    grid->slots[slot] = (sac_grid_slot){number, grid->bricks[number].hash};
}

bool sac_grid_reserve(sac_grid *grid, uint32_t bodies)
{
    uint32_t old = grid->room;
    if (bodies <= old) return true;
    size_t slots = slot_count(bodies);
    sac_grid fresh = *grid;
    fresh.room = bodies, fresh.slot_mask = (uint32_t)slots - 1;
    fresh.places = sac_alloc(bodies, sizeof *fresh.places);
    fresh.bricks = sac_alloc_zero(bodies, sizeof *fresh.bricks);
    fresh.chains = sac_alloc_zero(bodies, sizeof *fresh.chains);
    fresh.blocks = sac_alloc_zero(bodies, sizeof *fresh.blocks);
    fresh.next_blocks = sac_alloc_zero(bodies, sizeof *fresh.next_blocks);
    fresh.slots = sac_alloc(slots, sizeof *fresh.slots);
    if (!fresh.places || !fresh.bricks || !fresh.chains || !fresh.blocks || !fresh.next_blocks ||
        !fresh.slots) {
        release(&fresh);
        return false;
    }
    /* All of it is touched here, so that no frame pays for the first touch of a page. */
    memset(fresh.slots, 0xff, slots * sizeof *fresh.slots);
    if (old) {
        memcpy(fresh.places, grid->places, old * sizeof *fresh.places);
        memcpy(fresh.bricks, grid->bricks, old * sizeof *fresh.bricks);
        memcpy(fresh.chains, grid->chains, old * sizeof *fresh.chains);
        memcpy(fresh.blocks, grid->blocks, old * sizeof *fresh.blocks);
        memcpy(fresh.next_blocks, grid->next_blocks, old * sizeof *fresh.next_blocks);
    }
    for (uint32_t i = old; i < bodies; i++) fresh.places[i] = (sac_grid_place){.level = SAC_GRID_NOWHERE};
    release(grid);
    *grid = fresh;
    for (uint32_t level = 0; level < SAC_GRID_LEVELS; level++)
        for (uint32_t i = grid->level[level].first; i != SAC_GRID_NONE; i = grid->bricks[i].next)
            enter_slot(grid, i);
    return true;
}

/* ---- chains of boxes ---- */

static void set_box(sac_grid *grid, uint32_t number, uint32_t body, const sac_box *box)
{
    sac_grid_block *block = &grid->blocks[number / SAC_GRID_LANES];
    uint32_t lane = number % SAC_GRID_LANES;
    for (int i = 0; i < 3; i++)
        block->sides[i][lane] = box->low[i], block->sides[i + 3][lane] = -box->high[i];
    block->body[lane] = body;
}

static void add_to_chain(sac_grid *grid, sac_grid_chain *chain, uint32_t body, const sac_box *box)
{
    if (!*chain || sac_grid_chain_used(*chain) == SAC_GRID_LANES) {
        uint32_t block = grid->free_block;
        if (block != SAC_GRID_NONE)
            grid->free_block = grid->next_blocks[block];
        else
            block = grid->block_end++;
        for (uint32_t k = 0; k < SAC_GRID_LANES; k++) grid->blocks[block].sides[0][k] = NAN;
        grid->next_blocks[block] = *chain;
        *chain = block << 4;
    }
    uint32_t number = sac_grid_chain_first(*chain) * SAC_GRID_LANES + sac_grid_chain_used(*chain);
    ++*chain;
    grid->places[body].box = number;
    set_box(grid, number, body, box);
}

/* The hole is filled with the last of the first block. */
static void take_from_chain(sac_grid *grid, sac_grid_chain *chain, uint32_t body)
{
    --*chain;
    uint32_t number = sac_grid_chain_first(*chain), last = sac_grid_chain_used(*chain);
    uint32_t hole = grid->places[body].box, lane = hole % SAC_GRID_LANES;
    sac_grid_block *first = &grid->blocks[number], *to = &grid->blocks[hole / SAC_GRID_LANES];
    for (int i = 0; i < 6; i++) to->sides[i][lane] = first->sides[i][last];
    to->body[lane] = first->body[last];
    grid->places[to->body[lane]].box = hole;
    first->sides[0][last] = NAN;
    if (last) return;
    *chain = grid->next_blocks[number];
    grid->next_blocks[number] = grid->free_block;
    grid->free_block = number;
}

/* ---- bricks ---- */

static uint32_t add_brick(sac_grid *grid, const int32_t at[3], uint32_t level)
{
    uint32_t number = grid->free_brick;
    if (number != SAC_GRID_NONE)
        grid->free_brick = grid->bricks[number].next;
    else
        number = grid->brick_end++;
    sac_grid_brick *brick = &grid->bricks[number];
    sac_grid_level *of = &grid->level[level];
    grid->chains[number] = 0;
    memcpy(brick->at, at, sizeof brick->at);
    brick->level = level;
    brick->hash = sac_grid_hash(at, level);
    brick->prev = SAC_GRID_NONE, brick->next = of->first;
    if (of->first != SAC_GRID_NONE) grid->bricks[of->first].prev = number;
    of->first = number;
    for (int i = 0; i < 3; i++) {
        of->low[i] = !of->bricks || at[i] < of->low[i] ? at[i] : of->low[i];
        of->high[i] = !of->bricks || at[i] > of->high[i] ? at[i] : of->high[i];
    }
    if (!of->bricks++) grid->levels |= 1u << level;
    enter_slot(grid, number);
    brick->around = 1u << 13, brick->neighbours[13] = number;
    for (uint32_t k = 0; k < 27; k++) {
        const int32_t there[3] = {at[0] + (int32_t)(k % 3) - 1, at[1] + (int32_t)(k / 3 % 3) - 1,
                                  at[2] + (int32_t)(k / 9) - 1};
        const sac_grid_brick *found = k == 13 ? NULL : sac_grid_find(grid, there, level);
        if (!found) continue;
        sac_grid_brick *other = &grid->bricks[found - grid->bricks];
        brick->around |= 1u << k, brick->neighbours[k] = (uint32_t)(found - grid->bricks);
        other->around |= 1u << (26 - k), other->neighbours[26 - k] = number;
    }
    return number;
}

static void drop_brick(sac_grid *grid, uint32_t number)
{
    sac_grid_brick *brick = &grid->bricks[number];
    sac_grid_level *of = &grid->level[brick->level];
    if (brick->next != SAC_GRID_NONE) grid->bricks[brick->next].prev = brick->prev;
    if (brick->prev != SAC_GRID_NONE)
        grid->bricks[brick->prev].next = brick->next;
    else
        of->first = brick->next;
    if (!--of->bricks) grid->levels &= ~(1u << brick->level);

    /* Close the hole instead of marking it: whoever could sit nearer to his first choice moves up. */
    uint32_t mask = grid->slot_mask, hole = brick->hash & mask;
    while (grid->slots[hole].brick != number) hole = (hole + 1) & mask;
    for (uint32_t slot = (hole + 1) & mask; grid->slots[slot].brick != SAC_GRID_NONE;
         slot = (slot + 1) & mask) {
        uint32_t home = grid->slots[slot].hash & mask;
        if (((slot - home) & mask) >= ((slot - hole) & mask)) {
            grid->slots[hole] = grid->slots[slot];
            hole = slot;
        }
    }
    grid->slots[hole].brick = SAC_GRID_NONE;
    for (uint32_t left = brick->around & ~(1u << 13); left; left &= left - 1) {
        uint32_t k = (uint32_t)__builtin_ctz(left);
        grid->bricks[brick->neighbours[k]].around &= ~(1u << (26 - k));
    }
    brick->next = grid->free_brick;
    grid->free_brick = number;
}

/* ---- bodies ---- */

typedef struct seat {
    uint32_t level;
    int32_t at[3]; /* brick */
} seat;

static bool fits(const sac_box *box, uint32_t level, int32_t at[3])
{
    sac_grid_corners corners = sac_grid_corners_of(box, sac_grid_scale(level));
    bool fit = true;
    for (int i = 0; i < 3; i++) {
        at[i] = corners.low[i] >> 2;
        fit &= corners.high[i] - corners.low[i] <= SAC_GRID_REACH;
    }
    return fit;
}

/* `now`: its level, or SAC_GRID_NOWHERE. It is kept as long as the box is neither too large nor less than
 * half the size it is for, so that a box that breathes does not change levels all the time. */
static seat find_seat(const sac_box *box, uint32_t now)
{
    seat s;
    float extent = 0;
    bool huge = false;
    for (int i = 0; i < 3; i++) {
        float e = box->high[i] - box->low[i];
        huge |= !(e <= 0x1p16f);
        extent = e > extent ? e : extent;
    }
    s.level = SAC_GRID_HUGE;
    if (huge) return s;
    if (now < SAC_GRID_LEVELS && (now == 0 || extent * sac_grid_scale(now) > 0.75f) && fits(box, now, s.at)) {
        s.level = now;
        return s;
    }
    union {
        float value;
        uint32_t bits;
    } size = {extent};
    int32_t level = (int32_t)(size.bits >> 23) - 127 - SAC_GRID_LOWEST;
    s.level = level < 0 ? 0 : (uint32_t)level;
    while (s.level < SAC_GRID_LEVELS && !fits(box, s.level, s.at)) s.level++;
    return s;
}

static void sit(sac_grid *grid, uint32_t body, const sac_box *box, const seat *s)
{
    sac_grid_place *place = &grid->places[body];
    place->level = (uint8_t)s->level;
    if (s->level == SAC_GRID_HUGE) {
        add_to_chain(grid, &grid->huge, body, box);
        return;
    }
    const sac_grid_brick *found = sac_grid_find(grid, s->at, s->level);
    place->brick = found ? (uint32_t)(found - grid->bricks) : add_brick(grid, s->at, s->level);
    add_to_chain(grid, &grid->chains[place->brick], body, box);
}

void sac_grid_insert(sac_grid *grid, uint32_t body, const sac_box *box)
{
    seat s = find_seat(box, SAC_GRID_NOWHERE);
    sit(grid, body, box, &s);
}

void sac_grid_remove(sac_grid *grid, uint32_t body)
{
    sac_grid_place *place = &grid->places[body];
    if (place->level == SAC_GRID_NOWHERE) return;
    if (place->level == SAC_GRID_HUGE) {
        take_from_chain(grid, &grid->huge, body);
    } else {
        take_from_chain(grid, &grid->chains[place->brick], body);
        if (!grid->chains[place->brick]) drop_brick(grid, place->brick);
    }
    place->level = SAC_GRID_NOWHERE;
}

void sac_grid_move(sac_grid *grid, uint32_t body, const sac_box *box)
{
    sac_grid_place *place = &grid->places[body];
    seat s = find_seat(box, place->level);
    bool same = s.level == place->level;
    if (same && s.level != SAC_GRID_HUGE) {
        const sac_grid_brick *brick = &grid->bricks[place->brick];
        for (int i = 0; i < 3; i++) same &= s.at[i] == brick->at[i];
    }
    if (same) {
        set_box(grid, place->box, body, box);
        return;
    }
    sac_grid_remove(grid, body);
    sit(grid, body, box, &s);
}
