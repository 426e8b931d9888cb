/* Fast bodies: one that moves farther than it, or what it may come through, is thick advances only as far as
 * nothing is in its way. */
#include "runtime/world_internal.h"

#include <string.h>

/* What one pair may cost: ten microseconds where time matters, a hundred where some is left, else as much as
 * it takes. */
enum { CREDITS_A_PAIR = 20000, CREDITS_CLOSER = 200000, CREDITS_TO_THE_END = 4000000 };
/* One that was stopped may stand in the way of one behind it, and that one in the way of a third. */
enum { ROUNDS = 8 };
/* Of its thickness: in a crowd that does not fit a body goes no farther in a step when it meets others. */
static const float CROWD_WAY = 0.5f;

static float length3(const float v[3]) { return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static bool moves(const sac_world *world, uint32_t slot)
{
    return world->flags[slot] & SAC_BODY_CHOSEN && sac_body_dynamic(world, slot);
}

static float way_of(const sac_body_hot *hot)
{
    return length3(hot->moved) + length3(hot->turned) * hot->radius;
}

/* Soft bodies are not swept: their spheres are only known where somebody looked. */
static bool is_fast(const sac_world *world, uint32_t slot)
{
    return moves(world, slot) && !(world->flags[slot] & SAC_BODY_SOFT) &&
           (way_of(&world->hot[slot]) > world->hot[slot].thickness || world->flags[slot] & SAC_BODY_PASSES);
}

static sac_sweep sweep_of(const sac_world *world, uint32_t slot)
{
    const sac_body_hot *hot = &world->hot[slot];
    sac_sweep sweep = {0};
    float scale = world->pose[slot].scale;
    for (int i = 0; i < 3; i++) sweep.centre[i] = world->cold[slot].local_centre[i] / scale;
    if (moves(world, slot)) {
        memcpy(sweep.v, hot->moved, sizeof sweep.v);
        memcpy(sweep.w, hot->turned, sizeof sweep.w);
    } else if (world->cold[slot].kind == SAC_BODY_KINEMATIC ||
               (sac_body_dynamic(world, slot) && sac_body_flies(world, slot))) {
        for (int i = 0; i < 3; i++)
            sweep.v[i] = hot->v[i] * world->step_dt, sweep.w[i] = hot->w[i] * world->step_dt;
    }
    return sweep;
}

/* Where a body is after `share` of its way. */
static sac_transform pose_after(const sac_world *world, uint32_t slot, float share)
{
    const sac_body_hot *hot = &world->hot[slot];
    sac_transform pose = world->pose[slot];
    float turned[3], offset[3];
    for (int i = 0; i < 3; i++) turned[i] = hot->turned[i] * share;
    sac_turn(pose.rotation, turned);
    sac_transform there = {.scale = 1};
    memcpy(there.rotation, pose.rotation, sizeof there.rotation);
    sac_transform_point(&there, world->cold[slot].local_centre, offset);
    for (int i = 0; i < 3; i++) pose.translation[i] = hot->centre[i] + hot->moved[i] * share - offset[i];
    return pose;
}

/* Could these two pass through each other? Not when they move together, nor when they stay apart as balls. */
static bool may_pass(const sac_body_hot *a, const sac_sweep *own, const sac_body_hot *b,
                     const sac_sweep *theirs, float thin)
{
    float apart[3], moved[3], turn = 0;
    for (int i = 0; i < 3; i++) {
        apart[i] = b->centre[i] - a->centre[i];
        moved[i] = theirs->v[i] - own->v[i];
    }
    if (a->radius < 1e18f) turn += length3(own->w) * a->radius;
    if (b->radius < 1e18f) turn += length3(theirs->w) * b->radius;
    float motion = length3(moved) + turn;
    if (motion <= 0.5f * thin) return false; /* contacts are looked for this far ahead */
    return b->radius >= 1e18f || length3(apart) - a->radius - b->radius <= motion;
}

/* So far it is safe to go unseen. */
static float blind_share(const sac_body_hot *hot) { return 0.25f * hot->thickness / way_of(hot); }

/* Is anybody near enough on its way to be looked at? Balls tell, at next to no cost: what flies alone is not
 * held up for want of time. */
static bool has_company(const sac_world *world, uint32_t slot)
{
    const sac_broad *broad = world->broad;
    sac_sweep own = sweep_of(world, slot);
    for (uint32_t p = broad->first_pair[slot]; p != SAC_NO_PAIR; p = sac_broad_next(broad, p, slot)) {
        uint32_t other = broad->pairs[p].a == slot ? broad->pairs[p].b : broad->pairs[p].a;
        const sac_body_hot *a = &world->hot[slot], *b = &world->hot[other];
        sac_sweep theirs = sweep_of(world, other);
        float thin = a->thickness < b->thickness ? a->thickness : b->thickness;
        if (world->memory[p].sensor || world->flags[other] & SAC_BODY_SOFT ||
            !may_pass(a, &own, b, &theirs, thin))
            continue;
        /* A wall's ball says nothing; how far away it is does. */
        const sac_form *form = sac_body_form(world, other);
        float reach = a->radius + way_of(a);
        if (world->cold[other].kind == SAC_BODY_STATIC &&
            (form->kind == SAC_FORM_PLANE || form->kind == SAC_FORM_BOX) &&
            sac_form_distance(form, &world->pose[other], a->centre, reach, NULL, NULL) > reach)
            continue;
        return true;
    }
    return false;
}

/* A striker goes on when what it meets is held at this share of its way: would it come into it? */
static bool overruns(const sac_world *world, uint32_t striker, const sac_sweep *its, uint32_t slot,
                     const sac_sweep *own, float share, float allowed, uint64_t most, uint64_t *tests)
{
    sac_sweep rest = *its, held = {.centre = {own->centre[0], own->centre[1], own->centre[2]}};
    sac_transform here = pose_after(world, slot, share), there = world->pose[striker];
    float turned[3], from[3], to[3];
    for (int i = 0; i < 3; i++) turned[i] = its->w[i] * share;
    sac_transform_point(&there, its->centre, from);
    sac_turn(there.rotation, turned);
    sac_transform_point(&there, its->centre, to);
    for (int i = 0; i < 3; i++) {
        there.translation[i] += from[i] - to[i] + its->v[i] * share;
        rest.v[i] *= 1 - share, rest.w[i] *= 1 - share;
    }
    return sac_meeting_advance(sac_body_form(world, slot), &here, &held, sac_body_form(world, striker),
                               &there, &rest, allowed, most, tests) < 1;
}

/* What comes into a striker goes as far as it is free and from there along with it: held, it would be passed
 * over, and a blow foreseen over a long way is foreseen roughly, the more so in one sub-step. */
static uint64_t go_along(sac_world *world, uint32_t slot, uint64_t most)
{
    const sac_broad *broad = world->broad;
    sac_body_hot *hot = &world->hot[slot];
    uint64_t tests = 0;
    for (uint32_t p = broad->first_pair[slot]; p != SAC_NO_PAIR; p = sac_broad_next(broad, p, slot)) {
        uint32_t other = broad->pairs[p].a == slot ? broad->pairs[p].b : broad->pairs[p].a;
        const sac_body_hot *striker = &world->hot[other];
        if (!sac_body_strikes(world, other) || world->memory[p].sensor) continue;
        sac_sweep own = sweep_of(world, slot), its = sweep_of(world, other);
        float thin = fminf(hot->thickness, striker->thickness), allowed = 0.25f * thin, d[3], v[3];
        tests += 20;
        if (!may_pass(hot, &own, striker, &its, thin)) continue;
        float s = sac_meeting_advance(sac_body_form(world, slot), &world->pose[slot], &own,
                                      sac_body_form(world, other), &world->pose[other], &its, allowed, most,
                                      &tests);
        if (!(s < 1) || !overruns(world, other, &its, slot, &own, s, allowed, most, &tests)) continue;
        for (int k = 0; k < 3; k++) d[k] = hot->centre[k] - striker->centre[k];
        for (int k = 0; k < 3; k++) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            v[k] = its.v[k] + its.w[i] * d[j] - its.w[j] * d[i];
        }
        /* No faster than it may. */
        float limit = world->cold[slot].most_speed * world->step_dt,
              most_way = fmaxf(length3(hot->moved), limit);
        for (int k = 0; k < 3; k++) {
            hot->moved[k] = s * hot->moved[k] + (1 - s) * v[k];
            hot->turned[k] *= s;
        }
        float far = length3(hot->moved);
        for (int k = 0; far > most_way && k < 3; k++) hot->moved[k] *= most_way / far;
    }
    return tests;
}

/* How much of its way a body can go. First against others on their whole way; in later rounds against those
 * that stop before it does, from then on. When time is up in the middle of it, as far as is safe unseen;
 * `out_short`: a pair was not looked at to the end. */
static float free_share(sac_world *world, uint32_t slot, bool first, uint64_t most, sac_stop *stop,
                        bool *out_short)
{
    const sac_broad *broad = world->broad;
    if (world->step_deadline_ns == UINT64_MAX) most = CREDITS_TO_THE_END;
    /* Those that were struck went before. */
    if (first && !(world->flags[slot] & SAC_BODY_STRUCK)) sac_stop_did(stop, go_along(world, slot, most));
    sac_sweep own = sweep_of(world, slot);
    const sac_form *form = sac_body_form(world, slot);
    float now = first ? 1 : world->hot[slot].share, share = now, least = 1, way = way_of(&world->hot[slot]);
    for (uint32_t p = broad->first_pair[slot]; p != SAC_NO_PAIR; p = sac_broad_next(broad, p, slot)) {
        uint32_t other = broad->pairs[p].a == slot ? broad->pairs[p].b : broad->pairs[p].a;
        if (world->memory[p].sensor || world->flags[other] & SAC_BODY_SOFT) continue;
        const sac_body_hot *hot = &world->hot[other];
        /* One that was struck is sent ahead of the striker; to hold it would let the striker pass. */
        if (world->flags[slot] & SAC_BODY_STRUCK && sac_body_strikes(world, other)) continue;
        if (!first && !(moves(world, other) && hot->share < share)) continue;
        const sac_form *form_b = sac_body_form(world, other);
        float thin =
            world->hot[slot].thickness < hot->thickness ? world->hot[slot].thickness : hot->thickness;
        /* Triangles have no thickness: a tree's spheres are held by the side their centres are on. */
        bool spheres = form->kind == SAC_FORM_TREE && form_b->kind == SAC_FORM_TERRAIN;
        float allowed = 0.25f * (spheres ? world->hot[slot].thickness : thin);
        sac_transform here = world->pose[slot], there = world->pose[other];
        sac_sweep mine = own, theirs = sweep_of(world, other);
        float from = 0;
        if (!first) {
            from = hot->share;
            here = pose_after(world, slot, from);
            there = pose_after(world, other, from);
            for (int i = 0; i < 3; i++) {
                mine.v[i] *= share - from, mine.w[i] *= share - from;
                theirs.v[i] = theirs.w[i] = 0;
            }
        }
        if (first && !may_pass(&world->hot[slot], &own, hot, &theirs, thin)) continue;
        if (sac_stop_reached(stop)) return fminf(now, blind_share(&world->hot[slot]));
        uint64_t tests = 0;
        float s = sac_meeting_advance(form, &here, &mine, form_b, &there, &theirs, allowed, most, &tests);
        sac_stop_did(stop, tests + 20);
        *out_short |= tests >= most;
        if (first)
            share = s < share ? s : share;
        else if (s < 1)
            share = from + s * (share - from);
        /* So little passes through nothing, and the next frame sees the contact: nobody hangs in the air
         * because there was no time to look closer. */
        if (0.25f * thin < least * way) least = 0.25f * thin / way;
    }
    if (share < least) share = least;
    return share < now ? share : now;
}

/* Who is looked at: the fast ones, and those that outlast one of them. */
typedef struct sweepers {
    uint32_t *slots, count;
} sweepers;
enum { NOT_YET = UINT32_MAX }; /* of sweep_round */

/* Those that move on when this one has been stopped look again in this round, the slow ones too: a heavy body
 * would push on into a light one. */
static void mark_outlasting(sac_world *world, sweepers *list, uint32_t slot, uint32_t round)
{
    const sac_broad *broad = world->broad;
    for (uint32_t p = broad->first_pair[slot]; p != SAC_NO_PAIR; p = sac_broad_next(broad, p, slot)) {
        uint32_t other = broad->pairs[p].a == slot ? broad->pairs[p].b : broad->pairs[p].a;
        if (world->memory[p].sensor || !moves(world, other) || world->flags[other] & SAC_BODY_SOFT) continue;
        /* What is left of its way is more than contacts are looked for ahead. */
        const sac_body_hot *x = &world->hot[slot], *y = &world->hot[other];
        float left = (y->share - x->share) * way_of(y), thin = fminf(x->thickness, y->thickness);
        if (!(left > (is_fast(world, other) ? 0 : 0.5f * thin))) continue;
        if (world->sweep_round[other] == NOT_YET) list->slots[list->count++] = other;
        world->sweep_round[other] = round;
    }
}

/* A blow may send it out of the box its pairs were found with: beyond, nobody knows what is there. */
static float share_in_box(const sac_world *world, uint32_t slot)
{
    const sac_body_hot *hot = &world->hot[slot];
    const sac_box *placed = &world->broad->boxes[slot];
    sac_box box;
    if (way_of(hot) < hot->slack) return 1;
    sac_form_bounds(sac_body_form(world, slot), &world->pose[slot], &box);
    float share = 1, turn = length3(hot->turned) * hot->radius;
    for (int i = 0; i < 3; i++) {
        float d = hot->moved[i], room = d < 0 ? box.low[i] - placed->low[i] : placed->high[i] - box.high[i];
        if (fabsf(d) + turn > room) share = fminf(share, fmaxf(room, 0) / (fabsf(d) + turn));
    }
    return share;
}

static float dot3(const float a[3], const float b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* It goes a part of its way only: what gravity gave it for the rest of it is taken back, or it would gain
 * speed without falling. */
static void wait(sac_world *world, uint32_t slot, float rest)
{
    sac_body_hot *hot = &world->hot[slot];
    float scale = world->cold[slot].gravity_scale, g[3], *v = hot->v;
    for (int k = 0; k < 3; k++) g[k] = world->def.gravity[k] * scale;
    float twice = 2 * rest * dot3(g, hot->moved), down = dot3(g, v), gg = dot3(g, g), square = dot3(v, v);
    if (!(twice > 0)) return;
    if (down > 0 && down * down > twice * gg) {
        /* Along gravity alone, as it came. */
        float less = (sqrtf(down * down - twice * gg) - down) / gg;
        for (int k = 0; k < 3; k++) v[k] += less * g[k];
    } else {
        float keep = square > twice ? sqrtf(1 - twice / square) : 0;
        for (int k = 0; k < 3; k++) v[k] *= keep;
    }
}

static void cut_short(sac_world *world, uint32_t slot)
{
    sac_body_hot *hot = &world->hot[slot];
    if (!(hot->share < 1)) return;
    sac_body_halt(world, slot);
    wait(world, slot, 1 - hot->share);
    for (int k = 0; k < 3; k++) hot->moved[k] *= hot->share, hot->turned[k] *= hot->share;
}

void sac_body_keep_pace(sac_world *world, uint32_t slot)
{
    sac_body_hot *hot = &world->hot[slot];
    hot->share = fminf(CROWD_WAY * hot->thickness / way_of(hot), 1);
    cut_short(world, slot);
}

/* Who outlasts a body that was stopped, all rounds together: for each fast one. */
static const double ROUNDS_NS = 300;
static const float UNDECIDED = -1;

/* Those a blow sends off are few, and what struck them follows: they are looked at, time or not. */
static bool is_struck(const sac_world *world, uint32_t slot) { return world->flags[slot] & SAC_BODY_STRUCK; }

/* A blow sends bodies where their boxes do not reach: these grow, so that whoever is there is known. */
static void widen_boxes(sac_world *world, const sweepers *fast, sac_stop *stop)
{
    bool any = false;
    for (uint32_t i = 0; i < fast->count; i++) {
        bool late = sac_stop_reached(stop);
        if ((late && !is_struck(world, fast->slots[i])) || !(share_in_box(world, fast->slots[i]) < 1))
            continue;
        uint64_t credits = sac_body_widen_bounds(world, fast->slots[i]);
        if (late)
            sac_world_spend(world, credits);
        else
            sac_stop_did(stop, credits);
        any = true;
    }
    if (!any) return;
    sac_broad_settle(world->broad);
    sac_world_fit_pairs(world);
    sac_pairs_begun_and_ended(world);
}

/* Those nobody can be in the way of go their whole way. Where time is up before all were asked, the others
 * are looked at. */
static void part_alone(sac_world *world, const sweepers *fast, sac_stop *stop)
{
    for (uint32_t i = 0; i < fast->count; i++) {
        uint32_t slot = fast->slots[i];
        bool alone = false;
        if (!sac_stop_reached(stop)) {
            alone = !has_company(world, slot);
            sac_stop_did(stop, 100u + 20u * world->listed[slot]);
        }
        world->sweep_round[slot] = 0;
        world->hot[slot].share = alone ? share_in_box(world, slot) : UNDECIDED;
    }
}

static float struck_share(sac_world *world, uint32_t slot, bool first)
{
    sac_stop endless;
    bool cut = false;
    sac_stop_at(&endless, &world->clock, UINT64_MAX, NULL);
    return fminf(free_share(world, slot, first, CREDITS_A_PAIR, &endless, &cut), share_in_box(world, slot));
}

static void look_ahead(sac_world *world, const sweepers *fast, sac_stop *stop)
{
    for (uint32_t i = 0; i < fast->count; i++) {
        uint32_t slot = fast->slots[i];
        sac_body_hot *hot = &world->hot[slot];
        world->sweep_stopped[slot] = false;
        if (hot->share >= 0) continue;
        bool late = sac_stop_reached(stop);
        if (late && is_struck(world, slot)) {
            hot->share = struck_share(world, slot, true);
        } else if (late) {
            /* No time to look: as far as it is safe. */
            hot->share = blind_share(hot);
            world->report.rungs[SAC_RUNG_HELD]++;
            world->unseen++; /* others sink into one that creeps: fewer are better taken on */
        } else {
            sac_stop_did(stop, 20);
            float share = free_share(world, slot, true, CREDITS_A_PAIR, stop, &world->sweep_stopped[slot]);
            hot->share = fminf(share, share_in_box(world, slot));
        }
    }
}

/* Two that lie along each other take longer. Given up on, a body creeps on with all its speed for as long as
 * it touches anything, and others that do not sink into it: those get a second look while there is time. */
static void look_closer(sac_world *world, const sweepers *fast, sac_stop *stop, sac_stop *ask)
{
    sac_stop_saw(ask, stop->spent);
    for (uint32_t i = 0; i < fast->count; i++) {
        uint32_t slot = fast->slots[i];
        if (!world->sweep_stopped[slot]) continue;
        if (sac_stop_reached(ask) || sac_stop_reached(stop)) return;
        bool again = false;
        uint64_t before = stop->spent;
        float share = free_share(world, slot, true, CREDITS_CLOSER, stop, &again);
        world->hot[slot].share = fmaxf(world->hot[slot].share, fminf(share, share_in_box(world, slot)));
        sac_stop_saw(ask, stop->spent - before);
    }
}

/* One that was stopped stands where others meant to pass; false when time is up in the middle of it. */
static bool look_again(sac_world *world, sweepers *list, sac_stop *stop, sac_stop *end)
{
    uint32_t changed = 0;
    for (uint32_t i = 0; i < list->count; i++)
        changed += world->sweep_stopped[list->slots[i]] = world->hot[list->slots[i]].share < 1;
    for (uint32_t round = 1; round < ROUNDS && changed; round++) {
        for (uint32_t i = 0; i < list->count; i++) {
            if (!world->sweep_stopped[list->slots[i]]) continue;
            if (sac_stop_reached(end)) return false;
            mark_outlasting(world, list, list->slots[i], round);
            sac_stop_did(end, 30u + 10u * world->listed[list->slots[i]]);
        }
        changed = 0;
        for (uint32_t i = 0; i < list->count; i++) {
            uint32_t slot = list->slots[i];
            sac_body_hot *hot = &world->hot[slot];
            world->sweep_stopped[slot] = false;
            if (world->sweep_round[slot] != round) continue;
            float before = hot->share;
            bool late = sac_stop_reached(stop);
            if (late && is_struck(world, slot)) {
                hot->share = struck_share(world, slot, false);
            } else if (late) {
                hot->share = fminf(before, blind_share(hot));
            } else {
                sac_stop_did(stop, 20);
                bool again = false;
                hot->share = free_share(world, slot, false, CREDITS_A_PAIR, stop, &again);
            }
            if (!(hot->share < before)) continue;
            world->sweep_stopped[slot] = true;
            changed++;
        }
    }
    return true;
}

/* ---- in a crowd where some have to wait ---- */

/* A jam is passed on so many bodies a frame, if there is time; metres. */
enum { PASSES = 4 };
static const double PASS_NS = 60; /* for each contact of somebody who waits */
static const float CLOSE_ENOUGH = 1e-4f;
/* Of its thickness: so far one may go into another, or a crowd that overlaps all over would never move. */
static const float CREEP = 0.01f;

/* Its turn did not come, and it will stand still. */
static bool waits(const sac_world *world, uint32_t slot)
{
    return sac_body_dynamic(world, slot) && world->flags[slot] & SAC_BODY_AWAKE &&
           !(world->flags[slot] & SAC_BODY_CHOSEN) && !sac_body_lies(world, slot) &&
           !sac_body_flies(world, slot);
}

/* How far a point of a body goes along a direction on its whole way. */
static float advance(const sac_world *world, uint32_t slot, const float at[3], const float n[3])
{
    const sac_body_hot *hot = &world->hot[slot];
    float r[3] = {at[0] - hot->centre[0], at[1] - hot->centre[1], at[2] - hot->centre[2]};
    const float *w = hot->turned, *m = hot->moved;
    return n[0] * (m[0] + w[1] * r[2] - w[2] * r[1]) + n[1] * (m[1] + w[2] * r[0] - w[0] * r[2]) +
           n[2] * (m[2] + w[0] * r[1] - w[1] * r[0]);
}

/* What a hand holds or strikes does not wait for others. */
static bool gives_way(const sac_world *world, uint32_t slot)
{
    return moves(world, slot) &&
           !(world->flags[slot] & (SAC_BODY_HELD | SAC_BODY_NEAR_HAND | SAC_BODY_STRUCK));
}

/* Of two that touch, who comes nearer goes only as far as the other leaves room. */
static bool keep_apart(sac_world *world, const sac_manifold *m, const sac_broad_pair *pair)
{
    bool changed = false, yields_a = gives_way(world, pair->a), yields_b = gives_way(world, pair->b);
    const sac_body_hot *x = &world->hot[pair->a], *y = &world->hot[pair->b];
    float creep = CREEP * fminf(x->thickness, y->thickness);
    float *share_a = &world->hot[pair->a].share, *share_b = &world->hot[pair->b].share;
    for (uint32_t i = 0; i < m->count; i++) {
        const float *n = m->points[i].normal;
        float at[3];
        sac_transform_point(&world->pose[pair->a], m->points[i].local_a, at);
        float a = yields_a ? advance(world, pair->a, at, n) : 0, room = fmaxf(-m->points[i].depth, 0) + creep;
        float b = yields_b ? -advance(world, pair->b, at, n) : 0;
        float way_a = a * *share_a, way_b = b * *share_b;
        if (!(way_a + way_b > room + CLOSE_ENOUGH)) continue;
        /* b first, then a for what that leaves to do; who moves away does so as far as it can. */
        if (b > 0) *share_b = fminf(*share_b, fmaxf(room - way_a, 0) / b);
        way_b = b * *share_b;
        if (a > 0 && way_a + way_b > room) *share_a = fminf(*share_a, fmaxf(room - way_b, 0) / a);
        changed = true;
    }
    return changed;
}

/* One who waits has kept its speed, and that is what the solver saw; but it does not move. Who touches it
 * goes no farther than up to it, who touches that one likewise, and all keep their speed: a jam is passed on,
 * it does not brake. */
static void mind_the_waiting(sac_world *world)
{
    uint32_t *listed = world->contact_root, count = 0, passes = PASSES;
    /* Those that give way to nobody have nothing to do here; who waits does so in all passes. */
    for (uint32_t k = 0; k < world->contact_count; k++) {
        const sac_broad_pair *pair = &world->broad->pairs[world->contact_pair[k]];
        if (!gives_way(world, pair->a) && !gives_way(world, pair->b)) continue;
        listed[count++] = 2 * world->contact_pair[k] + (waits(world, pair->a) || waits(world, pair->b));
    }
    if (world->step_deadline_ns != UINT64_MAX) {
        uint64_t now = sac_world_now(world);
        double left = sac_world_left_ns(world, now);
        left -= sac_world_finish_ns(world);
        passes = (uint32_t)fmin(fmax(left / (PASS_NS * fmax(count, 1)), 1), PASSES);
    }
    passes = sac_tape_choose(&world->tape, passes, 1, PASSES);
    bool changed = true;
    for (uint32_t pass = 0; pass < passes && changed; pass++) {
        changed = false;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t p = listed[k] / 2;
            const sac_broad_pair *pair = &world->broad->pairs[p];
            if (listed[k] % 2 || (moves(world, pair->a) && world->hot[pair->a].share < 1) ||
                (moves(world, pair->b) && world->hot[pair->b].share < 1))
                changed |= keep_apart(world, &world->manifolds[p], pair);
        }
    }
}

/* There is no time to look ahead: nobody goes farther than contacts are looked for. */
static void limit_in_crowd(sac_world *world)
{
    uint32_t count = 0;
    sweepers struck = {world->extra, 0};
    for (uint32_t i = 0; i < world->chosen_count; i++)
        if (is_struck(world, world->chosen[i])) struck.slots[struck.count++] = world->chosen[i];
    if (struck.count) {
        sac_stop endless;
        sac_stop_at(&endless, &world->clock, UINT64_MAX, NULL);
        widen_boxes(world, &struck, &endless);
    }
    for (uint32_t i = 0; i < world->chosen_count; i++) {
        sac_body_hot *hot = &world->hot[world->chosen[i]];
        /* While a crowd only flies, who meets nobody goes all its way; not into a jam, nor ahead of
         * those who come to it. */
        bool meets = world->jammed || world->active[world->chosen[i]] || is_struck(world, world->chosen[i]);
        bool fast = meets && way_of(hot) > CROWD_WAY * hot->thickness;
        hot->share =
            fast ? fminf(CROWD_WAY * hot->thickness / way_of(hot), share_in_box(world, world->chosen[i])) : 1;
        if (fast && is_struck(world, world->chosen[i]))
            hot->share = fmaxf(hot->share, struck_share(world, world->chosen[i], true));
        count += fast;
    }
    mind_the_waiting(world);
    sac_world_allow_alarms(world);
    for (uint32_t i = 0; i < world->chosen_count; i++) cut_short(world, world->chosen[i]);
    world->report.fast = count;
    sac_world_spend(world, 8u * world->chosen_count + 30u * world->contact_count);
}

/* ---- and where nobody has to ---- */

/* Of its thickness: as far as what advances may go into another. */
static const float PUSHED = 0.1f;

/* A blow sends one off, and something stops it on its way: what hit it goes no farther than up to it, but at
 * least as long as it. */
static void keep_behind(sac_world *world, const sac_manifold *m, uint32_t slot, uint32_t stopped, float sign)
{
    sac_body_hot *hot = &world->hot[slot];
    const sac_body_hot *other = &world->hot[stopped];
    if (!gives_way(world, slot) || !(hot->share > other->share)) return;
    float deep = PUSHED * fminf(hot->thickness, other->thickness);
    for (uint32_t i = 0; i < m->count; i++) {
        const sac_manifold_point *point = &m->points[i];
        float at[3], n[3], room = fmaxf(-point->depth, 0) + deep;
        for (int k = 0; k < 3; k++) n[k] = sign * point->normal[k];
        sac_transform_point(&world->pose[sign > 0 ? slot : stopped], point->local_a, at);
        /* How far it comes after the other, which may itself move on or come back. */
        float way = advance(world, slot, at, n);
        room += moves(world, stopped) ? advance(world, stopped, at, n) * other->share : 0;
        if (way > 0 && way * hot->share > room) hot->share = fmaxf(other->share, fmaxf(room, 0) / way);
    }
}

static void mind_the_stopped(sac_world *world)
{
    for (uint32_t k = 0; k < world->contact_count; k++) {
        const sac_broad_pair *pair = &world->broad->pairs[world->contact_pair[k]];
        const sac_manifold *m = &world->manifolds[world->contact_pair[k]];
        if (moves(world, pair->b) && world->hot[pair->b].share < 1)
            keep_behind(world, m, pair->a, pair->b, 1);
        if (moves(world, pair->a) && world->hot[pair->a].share < 1)
            keep_behind(world, m, pair->b, pair->a, -1);
    }
}

void sac_world_limit_fast(sac_world *world)
{
    for (uint32_t i = 0; i < world->struck_count; i++) {
        uint32_t slot = world->struck[i];
        if (moves(world, slot) && !(world->flags[slot] & SAC_BODY_SOFT))
            sac_world_spend(world, go_along(world, slot, CREDITS_A_PAIR));
    }
    if (world->chosen_count < world->awake_count) {
        limit_in_crowd(world);
        return;
    }
    sac_stop ask, stop, end;
    sweepers list = {world->extra, 0};
    for (uint32_t i = 0; i < world->chosen_count; i++) {
        uint32_t slot = world->chosen[i];
        world->hot[slot].share = 1;
        world->sweep_round[slot] = NOT_YET;
        if (is_fast(world, slot)) list.slots[list.count++] = slot;
    }
    world->report.fast = list.count;
    double left = 1e18, rounds = ROUNDS_NS * list.count;
    uint64_t now = sac_world_now(world), ask_ns = UINT64_MAX, stop_ns = UINT64_MAX, end_ns = UINT64_MAX;
    if (world->step_deadline_ns != UINT64_MAX) {
        double tail = sac_predictor_reserve_ns(&world->costs.finish, world->awake_count, world->chosen_count);
        left = fmax(sac_world_left_ns(world, now) - tail, 0);
        ask_ns = now + (uint64_t)(0.5 * left);
        stop_ns = now + (uint64_t)fmax(left - rounds, 0.5 * left);
        end_ns = now + (uint64_t)left;
    }
    sac_tape_stop(&world->tape, &ask, &world->clock, ask_ns, &world->pace);
    widen_boxes(world, &list, &ask);
    part_alone(world, &list, &ask);
    sac_tape_stop(&world->tape, &stop, &world->clock, stop_ns, &world->pace);
    sac_tape_stop(&world->tape, &end, &world->clock, end_ns, &world->pace);
    look_ahead(world, &list, &stop);
    look_closer(world, &list, &stop, &ask);
    sac_tape_close(&world->tape, &ask);
    if (!look_again(world, &list, &stop, &end))
        for (uint32_t i = 0; i < list.count; i++) {
            sac_body_hot *hot = &world->hot[list.slots[i]];
            if (!is_struck(world, list.slots[i])) hot->share = fminf(hot->share, blind_share(hot));
        }
    sac_tape_close(&world->tape, &stop);
    sac_tape_close(&world->tape, &end);
    for (uint32_t i = 0; i < list.count; i++) world->sweep_stopped[list.slots[i]] = false;
    if (list.count) mind_the_stopped(world);
    sac_world_allow_alarms(world);
    for (uint32_t i = 0; list.count && i < world->chosen_count; i++) cut_short(world, world->chosen[i]);
    sac_world_spend(world, 4u * world->chosen_count + 16u * world->report.fast);
}
