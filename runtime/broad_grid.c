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
    if (simd == SAC_SIMD_AVX2 || simd == SAC_SIMD_AVX512) grid->compare = sac_grid_compare_avx2;
#endif
}

static size_t slot_count(uint32_t bodies)
{
    size_t count = 16;
    while (count < (size_t)bodies * 4) count *= 2;
    return count;
}

void sac_grid_fini(sac_grid *grid)
{
    sac_free(grid->places, grid->room, sizeof *grid->places);
    sac_free(grid->bricks, grid->room, sizeof *grid->bricks);
    sac_free(grid->boxes, (size_t)grid->room * 4, sizeof *grid->boxes);
    if (grid->slots) sac_free(grid->slots, (size_t)grid->slot_mask + 1, sizeof *grid->slots);
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
    if (bodies <= grid->room) return true;
    sac_grid_place *places = sac_alloc(bodies, sizeof *places);
    sac_grid_brick *bricks = sac_alloc(bodies, sizeof *bricks);
    sac_grid_box *boxes = sac_alloc((size_t)bodies * 4, sizeof *boxes);
    size_t slots = slot_count(bodies);
    sac_grid_slot *table = sac_alloc(slots, sizeof *table);
    if (!places || !bricks || !boxes || !table) {
        sac_free(places, bodies, sizeof *places);
        sac_free(bricks, bodies, sizeof *bricks);
        sac_free(boxes, (size_t)bodies * 4, sizeof *boxes);
        sac_free(table, slots, sizeof *table);
        return false;
    }
    /* All of it is touched here, so that no frame pays for the first touch of a page. */
    memset(bricks, 0, bodies * sizeof *bricks);
    memset(boxes, 0, (size_t)bodies * 4 * sizeof *boxes);
    memset(table, 0xff, slots * sizeof *table);
    if (grid->room) {
        memcpy(places, grid->places, grid->room * sizeof *places);
        memcpy(bricks, grid->bricks, grid->room * sizeof *bricks);
        memcpy(boxes, grid->boxes, (size_t)grid->room * 4 * sizeof *boxes);
    }
    for (uint32_t i = grid->room; i < bodies; i++) places[i] = (sac_grid_place){.level = SAC_GRID_NOWHERE};
    sac_free(grid->places, grid->room, sizeof *places);
    sac_free(grid->bricks, grid->room, sizeof *bricks);
    sac_free(grid->boxes, (size_t)grid->room * 4, sizeof *boxes);
    if (grid->slots) sac_free(grid->slots, (size_t)grid->slot_mask + 1, sizeof *table);
    grid->room = bodies;
    grid->places = places, grid->bricks = bricks, grid->boxes = boxes, grid->slots = table;
    grid->slot_mask = (uint32_t)slots - 1;
    for (uint32_t level = 0; level < SAC_GRID_LEVELS; level++)
        for (uint32_t i = grid->level[level].first; i != SAC_GRID_NONE; i = bricks[i].next)
            enter_slot(grid, i);
    return true;
}

/* ---- chains of boxes ---- */

static void set_box(sac_grid_box *to, uint32_t body, const sac_box *box)
{
    for (int i = 0; i < 3; i++) to->low[i] = box->low[i], to->minus_high[i] = -box->high[i];
    to->body = body;
}

static void add_to_chain(sac_grid *grid, sac_grid_chain *chain, uint32_t body, const sac_box *box)
{
    if (!*chain || sac_grid_chain_used(*chain) == 4) {
        uint32_t block = grid->free_block;
        if (block != SAC_GRID_NONE)
            grid->free_block = grid->boxes[block * 4].next;
        else
            block = grid->block_end++;
        grid->boxes[block * 4].next = *chain;
        *chain = block << 3;
    }
    uint32_t number = sac_grid_chain_first(*chain) + sac_grid_chain_used(*chain);
    ++*chain;
    grid->places[body].box = number;
    set_box(&grid->boxes[number], body, box);
}

/* The hole is filled with the last of the first block. */
static void take_from_chain(sac_grid *grid, sac_grid_chain *chain, uint32_t body)
{
    uint32_t first = sac_grid_chain_first(*chain), hole = grid->places[body].box;
    --*chain;
    const sac_grid_box *last = &grid->boxes[first + sac_grid_chain_used(*chain)];
    sac_grid_box *to = &grid->boxes[hole];
    if (last != to) {
        uint32_t next = to->next;
        *to = *last;
        to->next = next;
        grid->places[last->body].box = hole;
    }
    if (sac_grid_chain_used(*chain)) return;
    *chain = grid->boxes[first].next;
    grid->boxes[first].next = grid->free_block;
    grid->free_block = first / 4;
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
    brick->mask = brick->more = 0;
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
    int32_t cell[3];
} seat;

static bool fits(const sac_box *box, uint32_t level, int32_t cell[3])
{
    sac_grid_corners corners = sac_grid_corners_of(box, sac_grid_scale(level));
    bool fit = true;
    for (int i = 0; i < 3; i++) {
        cell[i] = corners.low[i];
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
    if (now < SAC_GRID_LEVELS && (now == 0 || extent * sac_grid_scale(now) > 0.75f) &&
        fits(box, now, s.cell)) {
        s.level = now;
        return s;
    }
    union {
        float value;
        uint32_t bits;
    } size = {extent};
    int32_t level = (int32_t)(size.bits >> 23) - 127 - SAC_GRID_LOWEST;
    s.level = level < 0 ? 0 : (uint32_t)level;
    while (s.level < SAC_GRID_LEVELS && !fits(box, s.level, s.cell)) s.level++;
    return s;
}

static void note_more(const sac_grid *grid, sac_grid_brick *brick, uint32_t cell)
{
    uint64_t more = grid->boxes[sac_grid_chain_first(brick->cells[cell])].next != 0;
    brick->more = (brick->more & ~(UINT64_C(1) << cell)) | more << cell;
}

static void sit(sac_grid *grid, uint32_t body, const sac_box *box, const seat *s)
{
    sac_grid_place *place = &grid->places[body];
    place->level = (uint8_t)s->level;
    if (s->level == SAC_GRID_HUGE) {
        add_to_chain(grid, &grid->huge, body, box);
        return;
    }
    int32_t at[3] = {s->cell[0] >> 2, s->cell[1] >> 2, s->cell[2] >> 2};
    const sac_grid_brick *found = sac_grid_find(grid, at, s->level);
    uint32_t number = found ? (uint32_t)(found - grid->bricks) : add_brick(grid, at, s->level);
    sac_grid_brick *brick = &grid->bricks[number];
    uint32_t cell = (uint32_t)((s->cell[0] & 3) | (s->cell[1] & 3) << 2 | (s->cell[2] & 3) << 4);
    if (!(brick->mask >> cell & 1)) {
        brick->mask |= UINT64_C(1) << cell;
        brick->cells[cell] = 0;
    }
    place->brick = number, place->cell = (uint8_t)cell;
    add_to_chain(grid, &brick->cells[cell], body, box);
    note_more(grid, brick, cell);
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
        sac_grid_brick *brick = &grid->bricks[place->brick];
        take_from_chain(grid, &brick->cells[place->cell], body);
        if (brick->cells[place->cell]) {
            note_more(grid, brick, place->cell);
        } else {
            brick->mask &= ~(UINT64_C(1) << place->cell);
            if (!brick->mask) drop_brick(grid, place->brick);
        }
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
        for (int i = 0; i < 3; i++) same &= s.cell[i] == brick->at[i] * 4 + (place->cell >> 2 * i & 3);
    }
    if (same) {
        set_box(&grid->boxes[place->box], body, box);
        return;
    }
    sac_grid_remove(grid, body);
    sit(grid, body, box, &s);
}
