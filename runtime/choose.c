/* The last rung of the ladder: when even the least work for everybody does not fit, the most urgent bodies
 * are simulated and the others' motion is extrapolated. Urgent is what is seen well and has waited long, so
 * everyone's turn comes. */
#include "runtime/world_internal.h"

#include <string.h>

enum { BUCKETS = 1024, REFRESH = 8, CARRIED = BUCKETS };

/* What a body costs: its motion, a look at the list of its pairs, and those under way with their contacts
 * read and solved. Some pairs are shared with another body that is simulated. */
typedef struct prices {
    double point;                      /* of a soft one */
    double body, listed, active, left; /* ns; left: there is to spend, 1e18 without a deadline */
} prices;

static prices prices_now(const sac_world *world)
{
    const sac_costs *c = &world->costs;
    prices p = {.left = 1e18};
    double solved = c->manifolds_per_pair * (c->points_per_manifold * c->contacts.weight[2] +
                                             world->step_substeps * c->solve.weight[1] + c->solve.weight[2]);
    p.body = c->agenda.weight[2] + c->finish.weight[2] + c->sweep_ns_per_body +
             c->places_per_body * c->place.weight[1];
    p.listed = c->agenda.weight[1];
    p.point = c->deform.weight[1] + c->deform.weight[2] + c->fronts_per_point * c->touch.weight[1] +
              c->touches_per_point * (c->soften.weight[1] + 2 * c->soften.weight[2]);
    p.active = 0.8 * (c->descend.weight[1] + 0.3 * SAC_LOOK_TESTS * c->descend.weight[2] +
                      c->contacts.weight[1] + solved);
    if (world->exhaustive || world->step_deadline_ns == UINT64_MAX) return p;
    uint64_t now = sac_world_now(world);
    p.left = world->step_deadline_ns > now ? (double)(world->step_deadline_ns - now) : 0;
    p.left -= c->agenda.weight[0] + c->descend.weight[0] + c->contacts.weight[0] + c->solve.weight[0] +
              sac_predictor_mean_ns(&c->finish, world->awake_count, 0);
    p.left = p.left > 0 ? c->throttle * p.left : 0;
    return p;
}

static double price_of(const sac_world *world, const prices *p, uint32_t slot)
{
    const sac_soft_slot *soft = sac_soft_of(world, slot);
    double shape = soft ? p->point * soft->points : 0;
    return shape + p->body + p->listed * world->listed[slot] + p->active * (0.5 + world->active[slot]);
}

/* How well a body is seen, renewed for an eighth of them each frame. */
static void look_at_bodies(sac_world *world)
{
    enum { BATCH = 64 };
    _Alignas(64) float x[BATCH], y[BATCH], z[BATCH], u[BATCH], extent[BATCH], zero[BATCH], one[BATCH],
        jnd[BATCH], priority[BATCH];
    uint32_t slots[BATCH], n = 0;
    for (int i = 0; i < BATCH; i++) zero[i] = 0, one[i] = 1;
    for (uint32_t i = world->frame % REFRESH;; i += REFRESH) {
        bool end = i >= world->awake_count;
        if (!end) {
            uint32_t slot = world->awake[i];
            const sac_body_hot *h = &world->hot[slot];
            x[n] = h->centre[0], y[n] = h->centre[1], z[n] = h->centre[2];
            u[n] = 0.01f;
            extent[n] = 2 * h->radius;
            slots[n++] = slot;
        }
        if (n == BATCH || (end && n)) {
            for (uint32_t k = n; k < ((n + 7u) & ~7u); k++) x[k] = y[k] = z[k] = u[k] = extent[k] = 1;
            sac_sights sights = {.count = n,
                                 .x = x,
                                 .y = y,
                                 .z = z,
                                 .uncertainty = u,
                                 .extent = extent,
                                 .vx = zero,
                                 .vy = zero,
                                 .vz = zero,
                                 .weight = one,
                                 .similar = zero,
                                 .jnd = jnd,
                                 .priority = priority};
            sac_perceive(&world->def.perception, &world->focus, &sights);
            for (uint32_t k = 0; k < n; k++) world->urgency[slots[k]] = priority[k];
            n = 0;
        }
        if (end) break;
    }
}

/* Log-spaced: eight buckets for each doubling. */
static uint32_t bucket_of(float urgency)
{
    uint32_t bits;
    memcpy(&bits, &urgency, sizeof bits);
    if (bits >> 31) return 0;
    uint32_t key = bits >> 20, low = (127 - 64) << 3;
    return key < low ? 0 : key - low >= BUCKETS ? BUCKETS - 1 : key - low;
}

static bool must(const sac_world *world, uint32_t slot)
{
    return world->flags[slot] & (SAC_BODY_HELD | SAC_BODY_TOLD | SAC_BODY_NEAR_HAND | SAC_BODY_STRUCK) ||
           !sac_body_dynamic(world, slot);
}

static uint32_t bucket_for(const sac_world *world, uint32_t slot)
{
    if (must(world, slot)) return BUCKETS - 1;
    float least = 1e-6f, seen = world->urgency[slot] > least ? world->urgency[slot] : least;
    /* Squared: the longest wait grows only with the root of how much better others are seen. */
    float wait = 1.0f + (float)sac_body_waited(world, slot);
    return bucket_of(seen * wait * wait);
}

static void near_hands(sac_world *world)
{
    for (uint32_t h = 0; h < SAC_VIEWER_MOST_HANDS; h++) {
        const sac_hand *hand = &world->focus.hands[h];
        if (!hand->valid) continue;
        for (uint32_t i = 0; i < world->awake_count; i++) {
            uint32_t slot = world->awake[i];
            const sac_body_hot *b = &world->hot[slot];
            float d[3] = {b->centre[0] - hand->position[0], b->centre[1] - hand->position[1],
                          b->centre[2] - hand->position[2]};
            float reach = b->radius + hand->radius;
            if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] <= reach * reach)
                world->flags[slot] |= SAC_BODY_NEAR_HAND;
        }
    }
}

/* Flies on by itself and meets nobody this frame: nothing is lost by not choosing it. One that has come to
 * the end of its box needs a new one first, and gets it with its turn. */
static bool carried(const sac_world *world, uint32_t slot)
{
    return !(world->flags[slot] & SAC_BODY_SOFT) && world->clear_until[slot] > world->frame &&
           world->touches[slot] == 0 && !(world->flags[slot] & SAC_BODY_STOPPED) && !must(world, slot);
}

static void choose_all(sac_world *world)
{
    for (uint32_t i = 0; i < world->awake_count; i++) world->flags[world->awake[i]] |= SAC_BODY_CHOSEN;
    if (world->awake_count) memcpy(world->chosen, world->awake, world->awake_count * sizeof *world->chosen);
    world->chosen_count = world->awake_count;
}

/* Where the money ends: bodies in buckets above the threshold are chosen, and `room` of its own. The bucket
 * of each awake one is kept in `extra`. */
typedef struct line {
    uint32_t threshold, room;
    uint32_t count[BUCKETS];
} line;

static void draw_line(sac_world *world, const prices *p, line *out)
{
    double cost[BUCKETS] = {0}, spent = 0;
    memset(out->count, 0, sizeof out->count);
    for (uint32_t i = 0; i < world->awake_count; i++) {
        uint32_t slot = world->awake[i];
        world->extra[i] = CARRIED;
        if (carried(world, slot)) continue;
        uint32_t b = world->extra[i] = bucket_for(world, slot);
        out->count[b]++;
        cost[b] += price_of(world, p, slot);
    }
    uint32_t t = BUCKETS - 1;
    while (t > 0 && spent + cost[t] <= p->left) spent += cost[t--];
    double room = cost[t] > 0 ? out->count[t] * (p->left - spent) / cost[t] : 0;
    out->threshold = (uint32_t)sac_tape_decide(&world->tape, t);
    out->room = (uint32_t)sac_tape_decide(&world->tape,
                                          room >= out->count[t] ? out->count[t] : (uint32_t)fmax(room, 4));
}

/* Most urgent first: whatever has to be cut later is cut from the end. */
static void choose_above(sac_world *world, line *l)
{
    uint32_t at[BUCKETS], next = 0;
    for (uint32_t b = BUCKETS; b-- > 0;) at[b] = next, next += l->count[b];
    /* A different start each frame, so that the threshold's own bucket is not always cut at the same bodies.
     */
    uint32_t awake = world->awake_count, start = world->frame * 7919u % (awake ? awake : 1u);
    for (uint32_t k = 0; k < awake; k++) {
        uint32_t i = start + k < awake ? start + k : start + k - awake, slot = world->awake[i];
        uint32_t b = world->extra[i];
        if (b == CARRIED) continue;
        if (b < l->threshold || (b == l->threshold && l->room == 0 && !must(world, slot))) continue;
        if (b == l->threshold && l->room) l->room--;
        world->flags[slot] |= SAC_BODY_CHOSEN;
        world->chosen[at[b]++] = slot;
        world->chosen_count++;
    }
}

void sac_world_choose(sac_world *world)
{
    /* Those of the frame before; some may be asleep by now. */
    for (uint32_t i = 0; i < world->chosen_count; i++)
        world->flags[world->chosen[i]] &= ~(uint32_t)(SAC_BODY_CHOSEN | SAC_BODY_NEAR_HAND);
    near_hands(world);
    prices p = prices_now(world);
    double all = 0;
    if (p.left < 1e18)
        for (uint32_t i = 0; i < world->awake_count && all <= p.left; i++)
            all += price_of(world, &p, world->awake[i]);
    world->chosen_count = 0;
    sac_world_spend(world, 4u * world->awake_count);
    if (sac_tape_decide(&world->tape, all <= p.left)) {
        choose_all(world);
        return;
    }
    /* From now on a body may stand still in the way of one that moved along with it. */
    if (!sac_world_starves(world)) {
        world->void_before = world->frame;
        for (uint32_t i = 0; i < world->awake_count; i++) world->clear_until[world->awake[i]] = 0;
    }
    world->starved = world->frame;
    look_at_bodies(world);
    line l;
    draw_line(world, &p, &l);
    choose_above(world, &l);
    sac_world_spend(world, 20u * world->awake_count);
    world->report.rungs[SAC_RUNG_BODIES] += world->awake_count - world->chosen_count;
}

void sac_body_defer(sac_world *world, uint32_t slot)
{
    if (!(world->flags[slot] & SAC_BODY_CHOSEN) || must(world, slot)) return;
    world->flags[slot] &= ~(uint32_t)SAC_BODY_CHOSEN;
    world->clear_until[slot] = 0;
    world->report.rungs[SAC_RUNG_BODIES]++;
}

void sac_world_forget_deferred(sac_world *world)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < world->chosen_count; i++)
        if (world->flags[world->chosen[i]] & SAC_BODY_CHOSEN) world->chosen[kept++] = world->chosen[i];
    world->chosen_count = kept;
}

void sac_world_drop(sac_world *world, uint32_t keep)
{
    for (uint32_t i = 0, kept = 0; i < world->chosen_count; i++)
        if (kept < keep || must(world, world->chosen[i]))
            kept++;
        else
            sac_body_defer(world, world->chosen[i]);
    sac_world_forget_deferred(world);
}

void sac_world_shed(sac_world *world, bool read)
{
    const sac_costs *c = &world->costs;
    uint32_t keep = world->chosen_count;
    if (world->step_deadline_ns != UINT64_MAX && keep) {
        uint64_t now = sac_world_now(world);
        double left = world->step_deadline_ns > now ? (double)(world->step_deadline_ns - now) : 0;
        left -= sac_world_tail_ns(world, left);
        double entries = world->agenda->count, manifolds = entries * c->manifolds_per_pair, least = 0;
        if (!read) least = sac_predictor_mean_ns(&c->contacts, entries, manifolds * c->points_per_manifold);
        least += sac_predictor_mean_ns(&c->solve, (read ? 1 : 2) * manifolds, manifolds);
        least += 0.5 * (sac_world_soft_ns(world, true) + sac_world_soft_ns(world, false));
        least *= world->coldness;
        if (least > left) keep = left > 0 ? (uint32_t)(keep * left / least) : 0;
        if (keep < 4) keep = 4;
    }
    keep = (uint32_t)sac_tape_decide(&world->tape, keep);
    if (keep < world->chosen_count) sac_world_drop(world, keep);
}
