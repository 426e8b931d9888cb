/* Blows: a kinematic body that will be far away after this step passes over everything on its way
 * unless somebody looks. Who stands there is found here, before the frame begins: it is awake and simulated
 * whatever the time, its box is as large as the blow may send it, and its contact with the striker is looked
 * for over the whole way instead of half a thickness ahead. */
#include "runtime/world_internal.h"

#include <string.h>

enum { CREDITS_A_PAIR = 20000 };

static float length3(const float v[3]) { return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static sac_sweep way_of(const sac_world *world, uint32_t slot)
{
    const sac_body_hot *hot = &world->hot[slot];
    sac_sweep sweep;
    for (int i = 0; i < 3; i++) {
        sweep.centre[i] = world->cold[slot].local_centre[i] / world->pose[slot].scale;
        sweep.v[i] = hot->v[i] * world->step_dt;
        sweep.w[i] = hot->w[i] * world->step_dt;
    }
    return sweep;
}

typedef struct striker {
    sac_world *world;
    uint32_t slot;
    float turn, way; /* by turning, and of its fastest point, this step */
    sac_sweep sweep;
    uint64_t credits;
} striker;

static striker striker_of(sac_world *world, uint32_t slot)
{
    const sac_body_hot *hot = &world->hot[slot];
    striker s = {.world = world, .slot = slot, .sweep = way_of(world, slot)};
    s.turn = hot->radius < 1e18f ? length3(s.sweep.w) * hot->radius : 0;
    s.way = length3(s.sweep.v) + s.turn;
    return s;
}

static bool try_struck(uint32_t other, void *user)
{
    striker *s = user;
    sac_world *world = s->world;
    if (world->struck_count == SAC_WORLD_MOST_STRUCK) return false;
    if (!sac_body_dynamic(world, other) ||
        world->flags[other] & (SAC_BODY_STRUCK | SAC_BODY_SENSOR | SAC_BODY_SOFT))
        return true;
    if (!sac_bodies_may_meet(s->slot, other, world)) return true;
    const sac_body_hot *x = &world->hot[s->slot], *y = &world->hot[other];
    float thin = x->thickness < y->thickness ? x->thickness : y->thickness;
    /* Contacts are looked for this far ahead anyway, of those whose turn it is. */
    bool may_wait = sac_world_starves(world);
    if (s->way <= 0.5f * thin && !may_wait) return true;
    sac_sweep theirs = way_of(world, other);
    uint64_t tests = 0;
    float share = sac_meeting_advance(sac_body_form(world, s->slot), &world->pose[s->slot], &s->sweep,
                                      sac_body_form(world, other), &world->pose[other], &theirs, 0.05f * thin,
                                      CREDITS_A_PAIR, &tests);
    s->credits += tests + 40;
    if (share >= 1 && may_wait) {
        /* It would get away; but while it waits for its turn it stands still. */
        theirs = (sac_sweep){.centre = {theirs.centre[0], theirs.centre[1], theirs.centre[2]}};
        tests = 0;
        share = sac_meeting_advance(sac_body_form(world, s->slot), &world->pose[s->slot], &s->sweep,
                                    sac_body_form(world, other), &world->pose[other], &theirs, 0.05f * thin,
                                    CREDITS_A_PAIR, &tests);
        s->credits += tests + 40;
    }
    if (share >= 1) return true;
    world->flags[other] |= SAC_BODY_STRUCK;
    world->struck[world->struck_count++] = other;
    return true;
}

static void strike(sac_world *world, uint32_t slot, uint64_t *credits)
{
    const sac_body_hot *hot = &world->hot[slot];
    const sac_form *form = sac_body_form(world, slot);
    striker s = striker_of(world, slot);
    sac_box box;
    if (world->flags[slot] & SAC_BODY_SENSOR) return;
    if (!(s.way > world->def.margin) && !sac_world_starves(world)) return;
    sac_form_bounds(form, &world->pose[slot], &box);
    for (int i = 0; i < 3; i++) {
        box.low[i] += fminf(s.sweep.v[i], 0) - s.turn - world->def.margin;
        box.high[i] += fmaxf(s.sweep.v[i], 0) + s.turn + world->def.margin;
    }
    uint32_t first = world->struck_count;
    sac_broad_touching(world->broad, &box, try_struck, &s);
    for (uint32_t i = first; i < world->struck_count; i++) {
        uint32_t other = world->struck[i];
        sac_body_hot *it = &world->hot[other];
        float own[3];
        sac_body_wake_slot(world, other);
        /* Its box for what it may do after the blow, which is faster than the striker if they bounce. */
        memcpy(own, it->v, sizeof own);
        for (int k = 0; k < 3; k++) it->v[k] += 1.5f * hot->v[k];
        s.credits += sac_body_place_bounds(world, other, world->step_dt);
        memcpy(it->v, own, sizeof own);
        it->jolt = world->frame;
        world->clear_until[other] = world->box_until[other] = 0;
    }
    *credits += s.credits + 20;
}

void sac_world_strike(sac_world *world)
{
    uint64_t credits = 0;
    for (uint32_t i = 0; i < world->struck_count; i++)
        world->flags[world->struck[i]] &= ~(uint32_t)SAC_BODY_STRUCK;
    world->struck_count = 0;
    /* Waking adds to the list: only those who were there. */
    for (uint32_t i = 0, count = world->awake_count; i < count; i++) {
        uint32_t slot = world->awake[i];
        if (sac_body_strikes(world, slot)) strike(world, slot, &credits);
    }
    if (!world->struck_count) return;
    sac_world_fit_pairs(world);
    sac_world_spend(world, credits);
}

/* Could it have come out of the box it had when those in the way were looked for, and meet the striker? */
static bool comes_to_meet(const striker *s, uint32_t other)
{
    const sac_world *world = s->world;
    if (!(world->flags[other] & SAC_BODY_CHOSEN) || !sac_body_dynamic(world, other)) return false;
    const sac_body_hot *x = &world->hot[s->slot], *y = &world->hot[other];
    float own = sac_body_motion(y, world->step_dt), v[3];
    for (int i = 0; i < 3; i++) v[i] = y->v[i] - x->v[i];
    return own > 2 * world->def.margin &&
           length3(v) * world->step_dt + own + s->way > 0.5f * fminf(x->thickness, y->thickness);
}

void sac_world_strike_comers(sac_world *world)
{
    const sac_broad *broad = world->broad;
    uint32_t before = world->struck_count;
    uint64_t credits = 0;
    for (uint32_t i = 0; i < world->chosen_count; i++) {
        uint32_t slot = world->chosen[i];
        if (!sac_body_strikes(world, slot) || world->flags[slot] & SAC_BODY_SENSOR) continue;
        striker s = striker_of(world, slot);
        for (uint32_t p = broad->first_pair[slot]; p != SAC_NO_PAIR; p = sac_broad_next(broad, p, slot)) {
            uint32_t other = broad->pairs[p].a == slot ? broad->pairs[p].b : broad->pairs[p].a;
            s.credits += 4;
            if (comes_to_meet(&s, other) && !try_struck(other, &s)) break;
        }
        credits += s.credits;
    }
    /* Their boxes hold them on their own way; where the blow sends them is seen when it is known. */
    for (uint32_t i = before; i < world->struck_count; i++) {
        uint32_t slot = world->struck[i];
        world->hot[slot].jolt = world->frame;
        world->clear_until[slot] = world->box_until[slot] = 0;
    }
    if (credits) sac_world_spend(world, credits);
}
