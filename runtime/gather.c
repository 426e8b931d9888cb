/* Pairs into the agenda: those of simulated bodies that may meet this frame. A pair whose space-time bounds
 * cannot meet yet, or that was found apart and has not moved enough since, is not looked at. */
#include "base/simd.h"
#include "runtime/couple_internal.h"

#include <string.h>
static float length3(const float v[3]) { return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static void middle(const sac_couple *c, float out[3])
{
    /* The point that divides the line of centres by the radii; beside something without end, the near side.
     */
    float share =
        c->distance < 0 ? (c->x->radius < 1e18f ? 0 : 1) : c->x->radius / (c->x->radius + c->y->radius);
    for (int i = 0; i < 3; i++) out[i] = c->x->centre[i] + share * c->d[i];
}

static bool asleep_or_fixed(const sac_world *world, uint32_t slot)
{
    return !(world->flags[slot] & SAC_BODY_AWAKE);
}

static void fetch(const void *address) { sac_prefetch((uintptr_t)address); }

static float smaller(float a, float b) { return a < b ? a : b; }

/* How far the contacts kept of a pair have slid since it was read, as an eye sees it: others, not kept, have
 * come to bear. No farther than the bodies went, and less when they went together. */
static float slide_of(const sac_world *world, uint32_t p, const sac_couple *c, float travel)
{
    const float unseen = 1e-4f; /* metres */
    if (!world->manifolds[p].count || !(travel > unseen) || !world->focus.eye_count) return 0;
    if ((world->flags[c->a] | world->flags[c->b]) & SAC_BODY_SOFT) return 0;
    const sac_pair_memory *memory = &world->memory[p];
    return smaller(
        sac_slide_between(&world->pose[c->a], memory->point_a, &world->pose[c->b], memory->point_b), travel);
}

/* A manifold keeps four points of all that were near. What rocks leaves them and is borne by others that are
 * not known until it has moved by the pair's margin: too late to come to rest, however little of it is seen.
 */
static bool rocks(const sac_world *world, uint32_t p, const sac_couple *c, float travel)
{
    if (world->manifolds[p].count < SAC_MANIFOLD_POINTS || !(travel > 0.05f * world->def.margin))
        return false;
    const float slow = 10 * world->def.sleep_speed;
    return length3(c->x->v) + sac_turn_of(world, c->a) < slow &&
           length3(c->y->v) + sac_turn_of(world, c->b) < slow;
}

static void add(sac_world *world, uint32_t p, const sac_couple *c, float margin)
{
    sac_pair_memory *memory = &world->memory[p];
    const sac_pair_watch *watch = &world->watch[p];
    sac_agenda *agenda = world->agenda;
    const sac_form *form_a = sac_body_form(world, c->a);
    const sac_form *form_b = sac_body_form(world, c->b);
    uint32_t e = sac_agenda_add(agenda, form_a, sac_body_form_pose(world, c->a), form_b,
                                sac_body_form_pose(world, c->b), margin);
    if (e == UINT32_MAX) {
        sac_clear_no_longer(world, c->a, 0);
        sac_clear_no_longer(world, c->b, 0);
        return;
    }
    float region[3];
    if (world->manifolds[p].count)
        memcpy(region, memory->region, sizeof region);
    else
        middle(c, region);
    memcpy(memory->region, region, sizeof region);
    float travel = (float)(c->x->travel + c->y->travel - watch->travel);
    /* What was beyond the margin may have come as near as that, and may come through in this frame. */
    float come = travel - watch->margin + (world->manifolds[p].count ? 0 : c->motion);
    float drift = come > 0 ? come : 0;
    agenda->x[e] = region[0], agenda->y[e] = region[1], agenda->z[e] = region[2];
    agenda->vx[e] = 0.5f * (c->x->v[0] + c->y->v[0]);
    agenda->vy[e] = 0.5f * (c->x->v[1] + c->y->v[1]);
    agenda->vz[e] = 0.5f * (c->x->v[2] + c->y->v[2]);
    agenda->extent[e] = 2 * smaller(c->x->radius, c->y->radius);
    /* Of two that are about as thick the one that moves farther than that is fast by itself. */
    if (c->motion > c->y->thickness && 0.7f * c->x->thickness > c->y->thickness)
        world->flags[c->a] |= SAC_BODY_PASSES;
    if (c->motion > c->x->thickness && 0.7f * c->y->thickness > c->x->thickness)
        world->flags[c->b] |= SAC_BODY_PASSES;
    agenda->similar[e] = (float)(world->touches[c->a] + world->touches[c->b]);
    /* Off by more than a body is thick, memory is as good as none: the pair is looked at first. */
    float thick = 0.1f * smaller(c->x->thickness, c->y->thickness);
    if (memory->known && memory->uncertainty + drift < thick) {
        float slide = slide_of(world, p, c, travel);
        agenda->known[e] = memory->uncertainty + (slide > drift ? slide : drift);
    }
    agenda->tag[e] = p;
    uint32_t age = world->frame - memory->refined;
    agenda->age[e] = (uint16_t)(age > UINT16_MAX ? UINT16_MAX : age);
    uint32_t either = world->flags[c->a] | world->flags[c->b];
    bool first = either & (SAC_BODY_HELD | SAC_BODY_NEAR_HAND) || sac_couple_is_blow(world, c, either);
    agenda->flags[e] = (uint8_t)((first ? SAC_AGENDA_TOP : 0) | (memory->sensor ? SAC_AGENDA_SENSOR : 0) |
                                 (rocks(world, p, c, travel) ? SAC_AGENDA_STALE : 0));
    if (world->def.weight || world->tape.weigh) {
        float w = 1;
        if (world->def.weight)
            w = world->def.weight(sac_body_id_of(world, c->a), sac_body_id_of(world, c->b), world->def.user);
        agenda->weight[e] = sac_tape_weigh(&world->tape, w >= 0 ? (w <= 1000 ? w : 1000) : 0);
    }
    memory->levels = (uint8_t)(form_a->levels > form_b->levels ? form_a->levels : form_b->levels);
}

/* They were found apart by more than the pair's margin and have not moved that far since. */
static bool still_apart(const sac_pair_watch *watch, const sac_body_hot *x, const sac_body_hot *y)
{
    float moved = (float)(x->travel + y->travel - watch->travel) + (x->reach + y->reach);
    return watch->apart & (moved < watch->margin);
}

/* Looks at the pair of two bodies; true when it is in the agenda. */
static bool consider(sac_world *world, uint32_t p, uint32_t one, uint32_t other)
{
    sac_pair_watch *watch = &world->watch[p];
    const sac_body_hot *x = &world->hot[one], *y = &world->hot[other];
    if (sac_apart_until(watch, x, y) > world->frame || still_apart(watch, x, y)) return false;
    sac_couple c = sac_couple_of(world, one < other ? one : other, one < other ? other : one);
    float margin = sac_couple_margin(world, &c);
    if (sac_couple_foresee(world, watch, &c, margin)) {
        world->manifolds[p].count = 0;
        return false;
    }
    add(world, p, &c, margin);
    return true;
}

/* Those of a body's pairs that nobody has looked at, some at a time. */
enum { LISTED = 128 };
typedef struct listed {
    uint32_t count, next; /* next: of the row */
    sac_broad_mate mates[LISTED];
} listed;

/* What is said of each pair is on its way when its turn comes. */
static void list_unseen(const sac_world *world, const sac_broad_row *row, listed *list)
{
    const uint32_t *gathered = world->gathered, frame = world->frame;
    uint32_t end = row->count - list->next < LISTED ? row->count : list->next + LISTED, count = 0;
    /* Who comes first is as good as random: nothing to guess a branch from. */
    for (uint32_t i = list->next; i < end; i++) {
        list->mates[count] = row->mates[i];
        count += gathered[row->mates[i].other] != frame;
    }
    list->count = count, list->next = end;
    for (uint32_t i = 0; i < count; i++) {
        fetch(&world->watch[list->mates[i].pair]);
        fetch(&world->hot[list->mates[i].other]);
    }
}

/* Found by whichever of the two is gathered first. */
static void clear_both(sac_world *world, uint32_t slot, uint32_t other, uint32_t until)
{
    uint32_t *clear = world->clear_until;
    clear[slot] = until < clear[slot] ? until : clear[slot];
    if (world->flags[other] & SAC_BODY_CHOSEN) clear[other] = until < clear[other] ? until : clear[other];
}

/* Takes those off the list that need no more than that, most of them; what is said of the others is on its
 * way. */
static void pass_over(sac_world *world, uint32_t slot, listed *list)
{
    const uint32_t frame = world->frame;
    const sac_body_hot *hot = world->hot, own = hot[slot];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        sac_broad_mate mate = list->mates[i];
        sac_pair_watch *watch = &world->watch[mate.pair];
        uint32_t until = sac_apart_until(watch, &own, &hot[mate.other]);
        bool done = ((until > frame) | still_apart(watch, &own, &hot[mate.other])) & !watch->touching;
        watch->seen = frame;
        clear_both(world, slot, mate.other, done ? until : UINT32_MAX);
        list->mates[kept] = mate;
        kept += !done;
    }
    world->report.pairs_skipped += list->count - kept;
    list->count = kept;
    for (uint32_t i = 0; i < kept; i++) {
        sac_broad_mate mate = list->mates[i];
        fetch(&world->memory[mate.pair]);
        fetch(&world->manifolds[mate.pair].count);
        fetch(&world->cold[mate.other].shape);
    }
}

static void gather_pair(sac_world *world, uint32_t p, uint32_t slot, uint32_t other)
{
    sac_pair_watch *watch = &world->watch[p];
    if (consider(world, p, slot, other)) {
        world->active[slot]++;
        if (world->flags[other] & SAC_BODY_CHOSEN) world->active[other]++;
        /* How long it may be left alone after this is known when it has been solved. */
        return;
    } else {
        world->report.pairs_skipped++;
        if (watch->touching) {
            watch->touching = false;
            if (world->touches[slot]) world->touches[slot]--;
            if (world->touches[other]) world->touches[other]--;
            sac_world_event(world, SAC_CONTACT_END, p, 0, 0);
        }
    }
    clear_both(world, slot, other, sac_apart_until(watch, &world->hot[slot], &world->hot[other]));
}

/* A kinematic body at rest has nothing to say to those who sleep. */
static void leave_asleep(const sac_world *world, listed *list)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++)
        if (!asleep_or_fixed(world, list->mates[i].other) || world->memory[list->mates[i].pair].sensor)
            list->mates[kept++] = list->mates[i];
    list->count = kept;
}

/* All pairs of one body, the first of them listed; returns how many were looked at. */
static uint32_t gather_body(sac_world *world, uint32_t slot, const sac_broad_row *row, listed *list)
{
    uint32_t looked = 0;
    const sac_body_hot *hot = &world->hot[slot];
    bool still = !sac_body_dynamic(world, slot) && length3(hot->v) + length3(hot->w) == 0;
    for (;; list_unseen(world, row, list)) {
        if (still) leave_asleep(world, list);
        looked += list->count;
        pass_over(world, slot, list);
        for (uint32_t i = 0; i < list->count; i++)
            gather_pair(world, list->mates[i].pair, slot, list->mates[i].other);
        if (list->next == row->count) break;
    }
    world->listed[slot] = (uint16_t)(row->count < UINT16_MAX ? row->count : UINT16_MAX);
    return looked;
}

void sac_world_gather(sac_world *world)
{
    uint32_t looked = 0, kept = 0;
    uint64_t cost = sac_world_cost_now(world), now = sac_world_now(world), limit = world->step_deadline_ns;
    sac_stop stop;
    bool late = false;
    sac_agenda_clear(world->agenda);
    for (uint32_t i = 0; i < world->chosen_count; i++) {
        uint32_t slot = world->chosen[i];
        world->active[slot] = 0;
        /* It goes on from here; should it be put off after all, that is told anew. */
        world->flags[slot] &= ~(uint32_t)(SAC_BODY_PASSES | SAC_BODY_STOPPED);
        /* What was known of it holds again should it find no time. */
        world->extra[i] = world->clear_until[slot];
        world->clear_until[slot] = UINT32_MAX;
        world->turn[slot] = sac_turn_now(&world->hot[slot]);
    }
    /* After something else had the caches this takes twice as long as predicted: those that find no time
     * wait. */
    if (limit != UINT64_MAX) limit = limit > now ? now + (limit - now) / 2 : now;
    sac_tape_stop(&world->tape, &stop, &world->clock, limit, &world->pace);
    sac_broad_row rows[SAC_BROAD_ROWS];
    listed lists[2];
    for (uint32_t i = 0; i < world->chosen_count; i++) {
        uint32_t slot = world->chosen[i], k = i % SAC_BROAD_ROWS;
        if (k == 0) {
            uint32_t ahead = world->chosen_count - i;
            ahead = ahead < SAC_BROAD_ROWS ? ahead : SAC_BROAD_ROWS;
            sac_broad_rows(world->broad, &world->chosen[i], ahead, rows);
            lists[0].next = 0;
            list_unseen(world, &rows[0], &lists[0]);
        }
        bool waits = kept && !sac_body_must_go(world, slot);
        if (waits && !late) late = sac_stop_reached(&stop);
        bool goes = !(waits && late);
        if (goes) world->gathered[slot] = world->frame;
        if (k + 1 < SAC_BROAD_ROWS && i + 1 < world->chosen_count) {
            lists[(k + 1) % 2].next = 0;
            list_unseen(world, &rows[k + 1], &lists[(k + 1) % 2]);
        }
        if (!goes) {
            world->flags[slot] &= ~(uint32_t)SAC_BODY_CHOSEN;
            sac_clear_no_longer(world, slot, world->active[slot] ? 0 : world->extra[i]);
            world->report.rungs[SAC_RUNG_BODIES]++;
            continue;
        }
        uint32_t n = gather_body(world, slot, &rows[k], &lists[k % 2]);
        looked += n;
        world->chosen[kept++] = slot;
        /* Where it stopped is where it was late first; what must go on after that is not counted. */
        if (late)
            sac_world_spend(world, 80u * n + 20u);
        else
            sac_stop_did(&stop, 80u * n + 20u);
    }
    sac_tape_close(&world->tape, &stop);
    world->chosen_count = kept;
    world->report.pairs_active = world->agenda->count;
    if (!kept) return;
    double per_body = (double)world->agenda->count / kept;
    world->costs.pairs_per_body += 0.1 * (per_body - world->costs.pairs_per_body);
    if (!world->tape.replay) {
        double took = (double)(sac_world_cost_now(world) - cost);
        double mostly = sac_predictor_mean_ns(&world->costs.agenda, looked, kept);
        world->coldness = fmin(fmax(mostly > 0 ? took / mostly : 1, 1), 2);
        sac_predictor_learn(&world->costs.agenda, looked, kept, took);
    }
}
