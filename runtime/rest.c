/* Rest: who is awake, and islands of slow bodies that fall asleep together.
 *
 * Islands are found by a sweep that does a bounded piece of its work each frame, so that a pile of thousands
 * does not cost a frame its deadline: reset the union-find, unite touching pairs, then let islands sleep in
 * which every body has been slow for long enough. A contact made during the sweep can only join islands;
 * should one fall asleep beside something that moves, the touch wakes it again. */
#include "runtime/operations_internal.h"

enum { SLOTS_A_FRAME = 8192, PAIRS_A_FRAME = 2048 };

void sac_body_add_awake(sac_world *world, uint32_t slot)
{
    if (world->flags[slot] & SAC_BODY_AWAKE) return;
    world->flags[slot] |= SAC_BODY_AWAKE;
    world->awake_at[slot] = world->awake_count;
    world->awake[world->awake_count++] = slot;
}

void sac_body_remove_awake(sac_world *world, uint32_t slot)
{
    if (!(world->flags[slot] & SAC_BODY_AWAKE)) return;
    uint32_t at = world->awake_at[slot], last = world->awake[--world->awake_count];
    world->awake[at] = last;
    world->awake_at[last] = at;
    world->flags[slot] &= ~(uint32_t)SAC_BODY_AWAKE;
    sac_body_lag_no_more(world, slot);
}

void sac_body_wake_slot(sac_world *world, uint32_t slot)
{
    if (world->cold[slot].kind == SAC_BODY_STATIC) return;
    world->rest_seconds[slot] = 0;
    if (world->flags[slot] & SAC_BODY_AWAKE) return;
    uint32_t i = slot;
    do {
        uint32_t next = world->island_next[i];
        world->island_next[i] = i;
        world->rest_seconds[i] = 0;
        world->simulated[i] = world->served[i] = world->frame;
        world->clear_until[i] = 0;
        world->hot[i].jolt = world->frame;
        sac_body_add_awake(world, i);
        i = next;
    } while (i != slot);
}

/* Asleep alone, or as one more of `ring`. */
static void fall_asleep(sac_world *world, uint32_t slot, uint32_t ring)
{
    sac_body_hot *hot = &world->hot[slot];
    for (int i = 0; i < 3; i++) hot->v[i] = hot->w[i] = 0;
    hot->reach = 0;
    sac_body_remove_awake(world, slot);
    if (ring == slot) {
        world->island_next[slot] = slot;
    } else {
        world->island_next[slot] = world->island_next[ring];
        world->island_next[ring] = slot;
    }
    if (!(world->flags[slot] & SAC_BODY_MOVED)) sac_array_push(&world->moved, slot);
    world->flags[slot] |= SAC_BODY_MOVED | SAC_BODY_SLEPT;
}

static uint32_t find(uint32_t *root, uint32_t i)
{
    while (root[i] != i) root[i] = root[root[i]], i = root[i];
    return i;
}

static bool can_sleep(const sac_world *world, uint32_t slot)
{
    uint32_t f = world->flags[slot];
    return f & SAC_BODY_USED && f & SAC_BODY_AWAKE && sac_body_dynamic(world, slot);
}

sac_result sac_body_sleep(sac_world *world, sac_body_id id, sac_error *error)
{
    SAC_NEED(error, world);
    uint32_t slot = sac_body_slot(world, id);
    if (slot == UINT32_MAX)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "keep ids only while their body lives",
                             "there is no such body, or no longer");
    if (!can_sleep(world, slot)) return SAC_OK;
    /* All it touches, directly or through others: a walk whose list is the sweep's own array, which then
     * starts anew. */
    uint32_t count = 0, *list = world->chosen;
    for (uint32_t i = 0; i < world->chosen_count; i++)
        world->flags[world->chosen[i]] &= ~(uint32_t)(SAC_BODY_CHOSEN | SAC_BODY_NEAR_HAND);
    for (uint32_t i = 0; i < world->slot_count; i++) world->root[i] = 0;
    list[count++] = slot;
    world->root[slot] = 1;
    for (uint32_t at = 0; at < count; at++)
        for (uint32_t p = world->broad->first_pair[list[at]]; p != SAC_NO_PAIR;
             p = sac_broad_next(world->broad, p, list[at])) {
            const sac_broad_pair *pair = &world->broad->pairs[p];
            uint32_t other = pair->a == list[at] ? pair->b : pair->a;
            if (!world->watch[p].touching || world->memory[p].sensor || world->root[other] ||
                !can_sleep(world, other))
                continue;
            world->root[other] = 1;
            list[count++] = other;
        }
    for (uint32_t i = 0; i < count; i++) fall_asleep(world, list[i], slot);
    world->chosen_count = 0;
    world->rest = (sac_rest_sweep){.any = world->rest.any};
    SAC_RECORD(world, body_sleep, .body = id.value);
    return SAC_OK;
}

static bool sleeps(const sac_world *world, uint32_t slot)
{
    uint32_t f = world->flags[slot];
    return f & SAC_BODY_USED && !(f & SAC_BODY_AWAKE) && sac_body_dynamic(world, slot);
}

static void unite(sac_world *world, uint32_t first, uint32_t last)
{
    for (uint32_t p = first; p < last; p++) {
        const sac_broad_pair *pair = &world->broad->pairs[p];
        if (pair->a == SAC_NO_BODY || !world->watch[p].touching || world->memory[p].sensor) continue;
        if (!can_sleep(world, pair->a) || !can_sleep(world, pair->b)) continue;
        uint32_t a = find(world->root, pair->a), b = find(world->root, pair->b);
        /* The lower slot leads, so that the order of pairs does not show. */
        if (a < b) world->root[b] = a;
        if (b < a) world->root[a] = b;
    }
}

static void judge(sac_world *world)
{
    for (uint32_t i = 0; i < world->slot_count; i++) {
        if (!can_sleep(world, i)) continue;
        float rest = world->flags[i] & (SAC_BODY_NEVER_SLEEPS | SAC_BODY_HELD) ? 0 : world->rest_seconds[i];
        /* Where bodies wait they may lie on each other and on nothing else. */
        if (sac_world_starves(world) && !sac_body_grounded(world, i)) rest = 0;
        uint32_t r = find(world->root, i);
        if (rest < world->island_rest[r]) world->island_rest[r] = rest;
    }
}

static void put_to_sleep(sac_world *world)
{
    uint32_t islands = 0;
    for (uint32_t i = 0; i < world->slot_count; i++) {
        if (!can_sleep(world, i)) continue;
        uint32_t r = find(world->root, i);
        islands += r == i;
        if (!sac_world_long_enough(world, world->island_rest[r])) continue;
        /* The root is the lowest slot of its island, so it sleeps first and the others join its ring. One
         * that was destroyed or is no longer dynamic since the sweep began is in nobody's: the next one
         * leads. */
        if (r != i && !sleeps(world, r)) {
            world->island_rest[i] = world->island_rest[r];
            world->root[r] = world->root[i] = i;
            r = i;
        }
        fall_asleep(world, i, r);
    }
    world->islands = islands;
}

void sac_world_rest(sac_world *world)
{
    sac_rest_sweep *sweep = &world->rest;
    if (!world->def.sleep || (!sweep->any && sweep->phase == SAC_SWEEP_RESET && sweep->at == 0)) return;
    uint32_t slots = world->slot_count, pairs = world->broad->pair_end, end;
    switch (sweep->phase) {
    case SAC_SWEEP_RESET:
        end = slots - sweep->at > SLOTS_A_FRAME ? sweep->at + SLOTS_A_FRAME : slots;
        for (uint32_t i = sweep->at; i < end; i++) world->root[i] = i, world->island_rest[i] = FLT_MAX;
        sac_world_spend(world, end - sweep->at);
        sweep->at = end;
        if (end == slots) sweep->phase = SAC_SWEEP_UNITE, sweep->at = 0;
        break;
    case SAC_SWEEP_UNITE:
        if (sweep->at > pairs) sweep->at = pairs;
        end = pairs - sweep->at > PAIRS_A_FRAME ? sweep->at + PAIRS_A_FRAME : pairs;
        unite(world, sweep->at, end);
        sac_world_spend(world, 8u * (end - sweep->at));
        sweep->at = end;
        if (end == pairs) sweep->phase = SAC_SWEEP_JUDGE;
        break;
    default:
        judge(world);
        put_to_sleep(world);
        sac_world_spend(world, 8u * slots);
        *sweep = (sac_rest_sweep){0};
        break;
    }
}
