/* The broad phase: where a box goes, whom it meets from now on, and whom no longer. */
#include "runtime/broad_internal.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "runtime/broad_pairs_internal.h"

/* In half nanoseconds, by measurement (saccade bench broad). */
enum { COST_PLACE = 240, COST_BRICK = 12, COST_BLOCK = 14, COST_CHANGE = 160 };
enum { MOST_BODIES = 1 << 27 };

/* The lists a placement fills have room for every body, and a little for writing ahead. */
static size_t list_room(uint32_t bodies) { return (size_t)bodies + SAC_GRID_SLACK; }

static void release_bodies(sac_broad *broad)
{
    struct sac_broad_private *own = broad->own;
    uint32_t room = broad->body_room;
    sac_free(broad->first_pair, room, sizeof *broad->first_pair);
    sac_free(broad->boxes, room, sizeof *broad->boxes);
    sac_free(own->first_sides, room, sizeof *own->first_sides);
    sac_free(own->lists, room, sizeof *own->lists);
    sac_free(own->looked, 4 * list_room(room), sizeof *own->looked);
}

static sac_result reserve_bodies(sac_broad *broad, uint32_t room, sac_error *error)
{
    struct sac_broad_private *own = broad->own;
    uint32_t old = broad->body_room;
    if (room <= old) return SAC_OK;
    if (room > MOST_BODIES)
        return sac_error_set(error, SAC_ERROR_LIMIT, "use fewer bodies", "%u bodies are too many", room);
    size_t list = list_room(room);
    uint32_t *first_pair = sac_alloc(room, sizeof *first_pair);
    uint32_t *lists = sac_alloc_zero(4 * list, sizeof *lists);
    sac_box *boxes = sac_alloc_zero(room, sizeof *boxes);
    uint8_t *sides = sac_alloc_zero(room, sizeof *sides);
    sac_list_state *states = sac_alloc_zero(room, sizeof *states);
    if (!first_pair || !lists || !boxes || !sides || !states || !sac_grid_reserve(&own->grid, room)) {
        sac_free(first_pair, room, sizeof *first_pair);
        sac_free(lists, 4 * list, sizeof *lists);
        sac_free(boxes, room, sizeof *boxes);
        sac_free(sides, room, sizeof *sides);
        sac_free(states, room, sizeof *states);
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the bounds of %u bodies", room);
    }
    memset(first_pair, 0xff, room * sizeof *first_pair);
    if (old) {
        memcpy(first_pair, broad->first_pair, old * sizeof *first_pair);
        memcpy(boxes, broad->boxes, old * sizeof *boxes);
        memcpy(sides, own->first_sides, old * sizeof *sides);
        memcpy(states, own->lists, old * sizeof *states);
    }
    release_bodies(broad);
    broad->first_pair = first_pair, broad->boxes = boxes, broad->body_room = room;
    own->first_sides = sides, own->lists = states;
    own->looked = lists, own->changed = lists + list, own->fresh = lists + 2 * list,
    own->gone = lists + 3 * list;
    return SAC_OK;
}

sac_result sac_broad_reserve(sac_broad *broad, uint32_t bodies, uint32_t pairs, sac_error *error)
{
    sac_result result = reserve_bodies(broad, bodies, error);
    return result == SAC_OK ? sac_pairs_reserve(broad, pairs, error) : result;
}

sac_result sac_broad_create(const sac_broad_def *def, sac_broad **out_broad, sac_error *error)
{
    sac_broad *broad = sac_alloc_zero(1, sizeof *broad);
    struct sac_broad_private *own = sac_alloc_zero(1, sizeof *own);
    *out_broad = NULL;
    if (!broad || !own) {
        sac_free(broad, 1, sizeof *broad);
        sac_free(own, 1, sizeof *own);
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the broad phase");
    }
    broad->own = own;
    sac_grid_init(&own->grid);
    own->filter = def->filter, own->room = def->room, own->user = def->user;
    sac_result result =
        sac_broad_reserve(broad, def->bodies ? def->bodies : 16, def->pairs ? def->pairs : 16, error);
    if (result == SAC_OK)
        *out_broad = broad;
    else
        sac_broad_destroy(&broad);
    return result;
}

void sac_broad_destroy(sac_broad **broad)
{
    if (!broad || !*broad) return;
    sac_pairs_fini(*broad);
    sac_grid_fini(&(*broad)->own->grid);
    release_bodies(*broad);
    sac_free((*broad)->own, 1, sizeof *(*broad)->own);
    sac_free(*broad, 1, sizeof **broad);
    *broad = NULL;
}

/* Bodies come in any order, so room for one far beyond is made at once. */
static bool room_for(sac_broad *broad, uint32_t body)
{
    if (body < broad->body_room) return true;
    if (body >= MOST_BODIES / 2) return false;
    uint32_t room = broad->body_room * 2;
    while (room <= body) room *= 2;
    if (reserve_bodies(broad, room, NULL) != SAC_OK) return false;
    broad->grown++;
    return true;
}

static sac_box tidy(const sac_box *box)
{
    sac_box out;
    for (int i = 0; i < 3; i++) {
        float low = box->low[i], high = box->high[i];
        if (low <= high) {
            out.low[i] = low, out.high[i] = high;
        } else if (low > high) {
            out.low[i] = high, out.high[i] = low;
        } else {
            out.low[i] = isnan(low) ? -INFINITY : low;
            out.high[i] = isnan(high) ? INFINITY : high;
        }
    }
    return out;
}

static uint32_t gather(const sac_broad *broad, uint32_t body, const sac_box *region, uint64_t *looked)
{
    const sac_grid *grid = &broad->own->grid;
    const sac_grid_place *place = &grid->places[body];
    uint32_t home = place->level < SAC_GRID_LEVELS ? place->brick : SAC_GRID_NONE;
    return sac_grid_gather(grid, region, home, broad->own->looked, looked);
}

static bool may_meet(const sac_broad *broad, uint32_t body, uint32_t other, bool moves)
{
    const struct sac_broad_private *own = broad->own;
    if (other == body || !(moves || own->grid.places[other].moves)) return false;
    return !own->filter || own->filter(body, other, own->user);
}

/* Two boxes of one body that have not gone apart: what lies around both is little more than what lies around
 * one. */
static bool near(const sac_box *a, const sac_box *b, sac_box *out_both)
{
    bool is = true;
    for (int i = 0; i < 3; i++) {
        out_both->low[i] = a->low[i] < b->low[i] ? a->low[i] : b->low[i];
        out_both->high[i] = a->high[i] > b->high[i] ? a->high[i] : b->high[i];
        float most =
            a->high[i] - a->low[i] > b->high[i] - b->low[i] ? a->high[i] - a->low[i] : b->high[i] - b->low[i];
        is &= out_both->high[i] - out_both->low[i] <= 1.5f * most;
    }
    return is;
}

/* Pairs that exist are exactly the overlaps that may meet, so what overlaps the new box and not the old one
 * begins, and the other way round ends: pairs that stay are not even looked at. */
typedef struct change {
    uint32_t fresh, gone, blocks;
    uint64_t bricks; /* or pairs, as dear */
} change;

static uint32_t who(const sac_grid *grid, uint32_t box)
{
    box &= ~SAC_GRID_IS_NOW;
    return grid->blocks[box / SAC_GRID_LANES].body[box % SAC_GRID_LANES];
}

static void find_near(sac_broad *broad, uint32_t body, const sac_box *box, const sac_box *both, bool moves,
                      change *out)
{
    struct sac_broad_private *own = broad->own;
    const sac_grid *grid = &own->grid;
    uint32_t count = gather(broad, body, both, &out->bricks), fresh = 0, gone = 0;
    uint32_t changed =
        grid->compare(grid->blocks, own->looked, count, box, &broad->boxes[body], own->changed);
    for (uint32_t i = 0; i < changed; i++) {
        uint32_t other = who(grid, own->changed[i]);
        if (own->changed[i] & SAC_GRID_IS_NOW) {
            if (may_meet(broad, body, other, moves)) own->fresh[fresh++] = other;
        } else if (other != body) {
            own->gone[gone++] = other;
        }
    }
    out->fresh = fresh, out->gone = gone, out->blocks = count;
}

static void find_far(sac_broad *broad, uint32_t body, const sac_box *box, bool moves, change *out)
{
    struct sac_broad_private *own = broad->own;
    const sac_grid *grid = &own->grid;
    static const sac_box nothing = {{NAN, NAN, NAN}, {NAN, NAN, NAN}}; /* overlaps nothing */
    bool placed = grid->places[body].level != SAC_GRID_NOWHERE;
    uint32_t fresh = 0, gone = 0;
    sac_broad_settle(broad);
    for (uint32_t pair = broad->first_pair[body]; pair != SAC_NO_PAIR;
         pair = sac_broad_next(broad, pair, body)) {
        const sac_broad_pair *p = &broad->pairs[pair];
        uint32_t other = p->a == body ? p->b : p->a;
        if (!sac_boxes_overlap(box, &broad->boxes[other])) own->gone[gone++] = other;
        out->bricks++;
    }
    uint32_t count = gather(broad, body, box, &out->bricks);
    const sac_box *before = placed ? &broad->boxes[body] : &nothing;
    uint32_t changed = grid->compare(grid->blocks, own->looked, count, box, before, own->changed);
    for (uint32_t i = 0; i < changed; i++) {
        if (!(own->changed[i] & SAC_GRID_IS_NOW)) continue;
        uint32_t other = who(grid, own->changed[i]);
        if (may_meet(broad, body, other, moves)) own->fresh[fresh++] = other;
    }
    out->fresh = fresh, out->gone = gone, out->blocks = count;
}

/* Whom the body would meet in this box and has no pair with yet. */
static uint32_t find_missing(sac_broad *broad, uint32_t body, const sac_box *box, bool moves)
{
    struct sac_broad_private *own = broad->own;
    uint64_t bricks = 0;
    sac_broad_settle(broad);
    uint32_t count = gather(broad, body, box, &bricks), fresh = 0;
    sac_grid_key key = sac_grid_key_of(box);
    for (uint32_t i = 0; i < count; i++) {
        const sac_grid_block *block = &own->grid.blocks[own->looked[i]];
        for (uint32_t left = sac_grid_meets(block, &key); left; left &= left - 1) {
            uint32_t other = block->body[__builtin_ctz(left)];
            if (may_meet(broad, body, other, moves) && sac_broad_find(broad, body, other) == SAC_NO_PAIR)
                own->fresh[fresh++] = other;
        }
    }
    return fresh;
}

/* Whoever has the next numbers is often placed next: where they sit lies far apart. */
static void fetch_ahead(const sac_broad *broad, uint32_t body)
{
    enum { AHEAD = 4 };
    const sac_grid *grid = &broad->own->grid;
    if (body + AHEAD >= broad->body_room) return;
    const sac_grid_place *next = &grid->places[body + AHEAD];
    const sac_grid_block *block = &grid->blocks[next->box / SAC_GRID_LANES];
    sac_prefetch((uintptr_t)&grid->bricks[next->brick]);
    for (int i = 0; i < 6; i += 2) sac_prefetch((uintptr_t)block->sides[i]);
}

uint64_t sac_broad_place_soon(sac_broad *broad, uint32_t body, const sac_box *given, bool moves)
{
    if (!room_for(broad, body)) return 0;
    struct sac_broad_private *own = broad->own;
    sac_grid_place *place = &own->grid.places[body];
    sac_box box = tidy(given), both;
    bool placed = place->level != SAC_GRID_NOWHERE;
    if (broad->rehearsal)
        return sac_pairs_room(broad, find_missing(broad, body, &box, moves)) ? COST_PLACE : 0;
    if (placed && place->moves != moves) {
        /* Where it was, with its new kind; then it is moved as any other. */
        place->moves = moves;
        if (!sac_broad_refilter(broad, body)) {
            place->moves = !moves;
            return 0;
        }
    }
    fetch_ahead(broad, body);
    change found = {0};
    if (placed && near(&box, &broad->boxes[body], &both))
        find_near(broad, body, &box, &both, moves, &found);
    else
        find_far(broad, body, &box, moves, &found);
    if (found.fresh && !sac_pairs_room(broad, found.fresh)) return 0;
    for (uint32_t i = 0; i < found.gone; i++) sac_pairs_end_soon(broad, body, own->gone[i]);
    for (uint32_t i = 0; i < found.fresh; i++) sac_pairs_begin_soon(broad, body, own->fresh[i]);
    if (placed)
        sac_grid_move(&own->grid, body, &box);
    else
        sac_grid_insert(&own->grid, body, &box);
    place->moves = moves;
    broad->boxes[body] = box;
    return COST_PLACE + COST_BRICK * found.bricks + COST_BLOCK * (uint64_t)found.blocks +
           COST_CHANGE * ((uint64_t)found.fresh + found.gone);
}

uint64_t sac_broad_place(sac_broad *broad, uint32_t body, const sac_box *box, bool moves)
{
    uint64_t credits = sac_broad_place_soon(broad, body, box, moves);
    sac_broad_settle(broad);
    return credits;
}

void sac_broad_remove(sac_broad *broad, uint32_t body)
{
    if (body >= broad->body_room) return;
    sac_broad_settle(broad);
    while (broad->first_pair[body] != SAC_NO_PAIR) sac_pairs_end(broad, broad->first_pair[body]);
    sac_grid_remove(&broad->own->grid, body);
}

bool sac_broad_refilter(sac_broad *broad, uint32_t body)
{
    struct sac_broad_private *own = broad->own;
    if (body >= broad->body_room || own->grid.places[body].level == SAC_GRID_NOWHERE) return true;
    bool moves = own->grid.places[body].moves;
    uint32_t fresh = find_missing(broad, body, &broad->boxes[body], moves);
    if (fresh && !sac_pairs_room(broad, fresh)) return false;
    if (broad->rehearsal) return true;
    for (uint32_t pair = broad->first_pair[body], next; pair != SAC_NO_PAIR; pair = next) {
        const sac_broad_pair *p = &broad->pairs[pair];
        next = sac_broad_next(broad, pair, body);
        if (!may_meet(broad, body, p->a == body ? p->b : p->a, moves)) sac_pairs_end(broad, pair);
    }
    for (uint32_t i = 0; i < fresh; i++) sac_pairs_begin(broad, body, own->fresh[i]);
    return true;
}

typedef struct touching {
    sac_grid_key key;
    sac_broad_visit *visit;
    void *user;
} touching;

static bool touch_chain(const sac_grid *grid, sac_grid_chain chain, const touching *t)
{
    for (; chain; chain = grid->next_blocks[sac_grid_chain_first(chain)]) {
        const sac_grid_block *block = &grid->blocks[sac_grid_chain_first(chain)];
        for (uint32_t left = sac_grid_meets(block, &t->key); left; left &= left - 1)
            if (!t->visit(block->body[__builtin_ctz(left)], t->user)) return false;
    }
    return true;
}

static bool touch_brick(const sac_grid *grid, uint32_t brick, void *user)
{
    return touch_chain(grid, grid->chains[brick], user);
}

void sac_broad_touching(const sac_broad *broad, const sac_box *box, sac_broad_visit *visit, void *user)
{
    sac_box region = tidy(box);
    touching t = {sac_grid_key_of(&region), visit, user};
    const sac_grid *grid = &broad->own->grid;
    if (!touch_chain(grid, grid->huge, &t)) return;
    for (uint32_t levels = grid->levels; levels; levels &= levels - 1) {
        uint32_t number = (uint32_t)__builtin_ctz(levels);
        sac_grid_range r;
        sac_grid_range_of(grid, number, &region, &r);
        if (!sac_grid_each_in_range(grid, number, &r, touch_brick, &t)) return;
    }
}
