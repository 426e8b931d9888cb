/* The last rung of the ladder: when even the least work for everybody does not fit, bodies take turns. What
 * lies still or flies on by itself needs none; of the others some go because they are seen well, some because
 * they have waited longest, so everyone's turn comes. */
#include "base/simd.h"
#include "runtime/world_internal.h"

#include <string.h>

enum { BUCKETS = 1024, REFRESH = 8 };
/* Of a crowd that does not fit, what goes to those that are seen best. */
static const double SEEN_SHARE = 0.3;

/* What a body costs: its motion, a look at the list of its pairs, and those under way with their contacts
 * read and solved. Some pairs are shared with another body that is simulated. */
typedef struct prices {
    double point;                      /* of a soft one */
    double body, listed, active, left; /* ns; left: there is to spend, 1e18 without a deadline */
} prices;

static double time_left(const sac_world *world) { return sac_world_left_ns(world, sac_world_now(world)); }

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
    p.left = time_left(world) - c->unseen_ns -
             (c->agenda.weight[0] + c->descend.weight[0] + c->contacts.weight[0] + c->solve.weight[0] +
              sac_world_finish_ns(world));
    p.left = p.left > 0 ? c->throttle * p.left : 0;
    return p;
}

/* Of it all but its pairs under way, and these. */
static double quiet_price(const sac_world *world, const prices *p, uint32_t slot)
{
    const sac_soft_slot *soft = sac_soft_of(world, slot);
    return (soft ? p->point * soft->points : 0) + p->body + p->listed * world->listed[slot];
}
static double busy_pairs(const sac_world *world, uint32_t slot)
{
    /* And those that come: few where nothing touches yet. */
    return (world->touches[slot] ? 0.5 : 0.1) + world->active[slot];
}

static double price_of(const sac_world *world, const prices *p, uint32_t slot)
{
    return quiet_price(world, p, slot) + p->active * busy_pairs(world, slot);
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
            u[n] = SAC_BODY_SIGHT;
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

/* What lies still needs a turn only now and then. */
enum { NOW_AND_THEN = 16, SELDOM = 90 };
/* What goes on by itself for no more frames than this may have its turn before it is due, if there is time:
 * others will be due with it. */
enum { SOON = 6 };

static uint32_t bucket_for(const sac_world *world, uint32_t slot)
{
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

/* Flies on by itself and meets nobody this frame: nothing is lost by not choosing it. */
static bool carried(const sac_world *world, uint32_t slot)
{
    return !(world->flags[slot] & SAC_BODY_SOFT) && sac_body_flies(world, slot) &&
           !sac_body_must_go(world, slot);
}

static void choose_all(sac_world *world)
{
    for (uint32_t i = 0; i < world->awake_count; i++) world->flags[world->awake[i]] |= SAC_BODY_CHOSEN;
    if (world->awake_count) memcpy(world->chosen, world->awake, world->awake_count * sizeof *world->chosen);
    world->chosen_count = world->awake_count;
}

/* However short time is, somebody gets on: one a frame of those that waited longer than anybody should. */
enum { TOO_LONG = 30 };

/* Of a waiter's rank: its bucket, later its column; whether it is due; whether it was chosen. */
enum { DUE = 1 << 16, TAKEN = 1 << 17, RANK = DUE - 1 };

/* Those of a crowd that are due and do not all fit take turns by where they are: a window as wide as time
 * allows, from where they have waited longest, so that neighbours mostly have the same turn, what two of them
 * share is worked out once, and nobody runs ahead of who is in the way. The crowd is seen along the way
 * things fall, in columns that are counted to and fro. */
enum { SIDE = 16, BINS = SIDE * SIDE };

typedef struct columns {
    int across, along; /* axes */
    float low[2], scale[2];
} columns;

static columns columns_along(const float g[3])
{
    columns c = {.across = 0, .along = 2, .low = {FLT_MAX, FLT_MAX}};
    if (fabsf(g[0]) > fabsf(g[1]) || fabsf(g[2]) > fabsf(g[1])) {
        c.across = fabsf(g[0]) > fabsf(g[2]) ? 1 : 0;
        c.along = c.across ? 2 : 1;
    }
    return c;
}

static uint32_t column_of(const columns *c, const float at[2])
{
    uint32_t x = (uint32_t)((at[0] - c->low[0]) * c->scale[0]);
    uint32_t z = (uint32_t)((at[1] - c->low[1]) * c->scale[1]);
    return SIDE * x + (x & 1 ? SIDE - 1 - z : z);
}

/* All that is asked of a body is asked here, in one walk over those awake: what follows walks the list. */
static sac_waiter waiter_of(const sac_world *world, const prices *p, const columns *c, uint32_t slot,
                            uint32_t rank)
{
    const float *centre = world->hot[slot].centre;
    return (sac_waiter){.slot = slot,
                        .rank = rank,
                        .waited = sac_body_waited(world, slot),
                        .quiet_price = (float)quiet_price(world, p, slot),
                        .busy_pairs = (float)busy_pairs(world, slot),
                        .at = {centre[c->across], centre[c->along]}};
}

static double price_now(const prices *p, const sac_waiter *waiter)
{
    return waiter->quiet_price + p->active * waiter->busy_pairs;
}

/* Who has nobody about it needs no turn to get on again, only a box. */
static bool let_go(sac_world *world, uint32_t slot)
{
    const uint32_t stopped = SAC_BODY_YIELDS | SAC_BODY_STOPPED;
    if ((world->flags[slot] & (stopped | SAC_BODY_SOFT)) != stopped) return false;
    if (world->broad->first_pair[slot] != SAC_NO_PAIR) return false;
    world->flags[slot] &= ~(uint32_t)SAC_BODY_STOPPED;
    world->clear_until[slot] = UINT32_MAX;
    return true;
}

/* Those that want a turn; returns what the due ones cost. */
static double list_waiters(sac_world *world, const prices *p, const columns *c)
{
    enum { AHEAD = 8 };
    uint32_t count = 0, aloft = 0, longest = TOO_LONG, its = UINT32_MAX;
    double dues = 0;
    for (uint32_t i = 0, awake = world->awake_count; i < awake; i++) {
        uint32_t slot = world->awake[i];
        if (i + AHEAD < awake) sac_prefetch((uintptr_t)&world->hot[world->awake[i + AHEAD]]);
        bool freed = let_go(world, slot), must = sac_body_must_go(world, slot);
        uint32_t waited = sac_body_waited(world, slot), rank = BUCKETS - 1;
        bool candidate =
            waited > longest && sac_body_dynamic(world, slot) && (freed || !sac_body_flies(world, slot));
        if (candidate) longest = waited, world->pioneer = slot, its = UINT32_MAX;
        bool carries = !must && carried(world, slot), due = !carries;
        aloft += carries;
        if (carries && world->clear_until[slot] > world->frame + SOON) continue;
        if (carries) rank = 0;
        if (due && !must) {
            rank = bucket_for(world, slot);
            bool lies = sac_body_lies(world, slot), rested = lies && sac_body_rested(world, slot);
            due = !lies || waited >= (rested ? SELDOM : NOW_AND_THEN);
            if (!due && rested) continue;
        }
        if (candidate) its = count;
        sac_waiter *waiter = &world->waiters[count++];
        *waiter = waiter_of(world, p, c, slot, rank | (due ? DUE : 0));
        if (due) dues += price_now(p, waiter);
    }
    if (world->pioneer != UINT32_MAX) {
        if (its == UINT32_MAX) world->waiters[its = count++].rank = 0;
        if (!(world->waiters[its].rank & DUE)) dues += price_of(world, p, world->pioneer);
        world->waiters[its] = waiter_of(world, p, c, world->pioneer, DUE | (BUCKETS - 1));
    }
    world->waiter_count = count;
    world->aloft = aloft;
    return dues;
}

static void take(sac_world *world, sac_waiter *waiter, uint32_t at)
{
    waiter->rank |= TAKEN;
    world->flags[waiter->slot] |= SAC_BODY_CHOSEN;
    world->chosen[at] = waiter->slot;
    world->chosen_count++;
}

/* Of the due or of the others, in order of urgency, as many as `left` pays for. */
static void choose_urgent(sac_world *world, const prices *p, uint32_t class, double left)
{
    double cost[BUCKETS] = {0}, spent = 0;
    uint32_t count[BUCKETS] = {0}, at[BUCKETS], all = world->waiter_count;
    for (uint32_t i = 0; i < all; i++) {
        const sac_waiter *waiter = &world->waiters[i];
        if ((waiter->rank & DUE) != class) continue;
        count[waiter->rank & RANK]++;
        cost[waiter->rank & RANK] += price_now(p, waiter);
    }
    uint32_t t = BUCKETS - 1;
    while (t > 0 && spent + cost[t] <= left) spent += cost[t--];
    double part = cost[t] > 0 ? count[t] * fmax(left - spent, 0) / cost[t] : 0;
    uint32_t room = part >= count[t] ? count[t] : (uint32_t)fmax(part, class ? 4 : 0);
    t = (uint32_t)sac_tape_decide(&world->tape, t);
    room = (uint32_t)sac_tape_decide(&world->tape, room);
    for (uint32_t b = BUCKETS, next = world->chosen_count; b-- > 0;) at[b] = next, next += count[b];
    /* A different start each frame, so that the threshold's own bucket is not always cut at the same bodies.
     */
    uint32_t start = all ? (uint32_t)((uint64_t)world->frame * 7919u % all) : 0;
    for (uint32_t k = 0; k < all; k++) {
        sac_waiter *waiter = &world->waiters[start + k < all ? start + k : start + k - all];
        uint32_t b = waiter->rank & RANK;
        if ((waiter->rank & DUE) != class || b < t) continue;
        if (b == t && room == 0 && !sac_body_must_go(world, waiter->slot)) continue;
        if (b == t && room) room--;
        take(world, waiter, at[b]++);
    }
}

/* The first so many of the list and the rest of it by turns: whatever has to be cut later is cut from both.
 */
static void alternate(sac_world *world, uint32_t first)
{
    uint32_t count = world->chosen_count, a = 0, b = first;
    for (uint32_t i = 0; i < count; i++) {
        bool one = b == count || (a < first && i % 2 == 0);
        world->extra[i] = world->chosen[one ? a++ : b++];
    }
    memcpy(world->chosen, world->extra, count * sizeof *world->chosen);
}

static bool takes_turn(const sac_waiter *waiter) { return (waiter->rank & (DUE | TAKEN)) == DUE; }

/* Where those that take turns are; returns the longest wait. */
static uint32_t spread_columns(const sac_world *world, columns *c)
{
    float high[2] = {-FLT_MAX, -FLT_MAX};
    uint32_t longest = 0;
    for (uint32_t i = 0; i < world->waiter_count; i++) {
        const sac_waiter *waiter = &world->waiters[i];
        if (!takes_turn(waiter)) continue;
        for (int k = 0; k < 2; k++) {
            float x = waiter->at[k];
            c->low[k] = x < c->low[k] ? x : c->low[k], high[k] = x > high[k] ? x : high[k];
        }
        if (waiter->waited > longest) longest = waiter->waited;
    }
    for (int k = 0; k < 2; k++) c->scale[k] = (SIDE - 0.01f) / fmaxf(high[k] - c->low[k], 1e-3f);
    return longest;
}

static void choose_in_turn(sac_world *world, const prices *p, columns *c, double left)
{
    uint32_t all = world->waiter_count, count[BINS] = {0}, waited[BINS] = {0}, at[BINS], first = 0, bins = 0;
    double cost[BINS] = {0}, spent = 0;
    uint32_t longest = spread_columns(world, c);
    for (uint32_t i = 0; i < all; i++) {
        sac_waiter *waiter = &world->waiters[i];
        /* Who was cut off from the turn of its column is not behind those who had it. */
        if (!takes_turn(waiter) || waiter->waited < longest / 4) {
            waiter->rank = 0;
            continue;
        }
        uint32_t b = column_of(c, waiter->at);
        count[b]++;
        cost[b] += price_now(p, waiter);
        if (waiter->waited > waited[b]) waited[b] = waiter->waited;
        waiter->rank = DUE | b;
    }
    for (uint32_t b = 1; b < BINS; b++)
        if (waited[b] > waited[first]) first = b;
    while (bins < BINS && (bins == 0 || spent + cost[(first + bins) % BINS] <= left))
        spent += cost[(first + bins++) % BINS];
    bins = (uint32_t)sac_tape_choose(&world->tape, bins, 1, BINS);
    uint32_t seen = world->chosen_count, next = seen;
    for (uint32_t k = 0; k < bins; k++) at[(first + k) % BINS] = next, next += count[(first + k) % BINS];
    for (uint32_t i = 0; i < all; i++) {
        sac_waiter *waiter = &world->waiters[i];
        uint32_t b = waiter->rank & RANK;
        if (waiter->rank & DUE && (b + BINS - first) % BINS < bins) take(world, waiter, at[b]++);
    }
    alternate(world, seen);
}

void sac_world_choose(sac_world *world)
{
    /* Those of the frame before; some may be asleep by now. */
    for (uint32_t i = 0; i < world->chosen_count; i++)
        world->flags[world->chosen[i]] &= ~(uint32_t)(SAC_BODY_CHOSEN | SAC_BODY_NEAR_HAND);
    world->chosen_count = 0;
    near_hands(world);
    prices p = prices_now(world);
    double all = 0;
    world->pioneer = UINT32_MAX;
    /* What went in much less time than there is goes again, whatever a prediction says. */
    bool easy = world->awake_count <= world->costs.whole && 1.6 * world->costs.whole_ns < time_left(world);
    if (p.left < 1e18 && !easy)
        for (uint32_t i = 0; i < world->awake_count && all <= p.left; i++)
            all += price_of(world, &p, world->awake[i]);
    sac_world_spend(world, 4u * world->awake_count);
    world->dues_ns = all;
    world->aloft = 0;
    if (sac_tape_decide(&world->tape, all <= p.left)) {
        choose_all(world);
        return;
    }
    world->starved = world->frame;
    look_at_bodies(world);
    columns c = columns_along(world->def.gravity);
    double dues = world->dues_ns = list_waiters(world, &p, &c);
    if (sac_tape_decide(&world->tape, dues <= p.left)) {
        choose_urgent(world, &p, DUE, 1e18);
        choose_urgent(world, &p, 0, p.left - dues);
    } else {
        if (world->step_substeps > 2 && !world->grabs_used) world->step_substeps = 2, p = prices_now(world);
        choose_urgent(world, &p, DUE, SEEN_SHARE * p.left);
        choose_in_turn(world, &p, &c, (1 - SEEN_SHARE) * p.left);
    }
    sac_world_spend(world, 20u * world->awake_count);
    world->report.rungs[SAC_RUNG_BODIES] += world->awake_count - world->chosen_count;
}

void sac_body_defer(sac_world *world, uint32_t slot)
{
    if (!(world->flags[slot] & SAC_BODY_CHOSEN) || sac_body_must_go(world, slot)) return;
    world->flags[slot] &= ~(uint32_t)SAC_BODY_CHOSEN;
    /* One that was found to meet nobody goes on by itself, if that costs next to nothing. */
    if (world->active[slot] || world->flags[slot] & SAC_BODY_SOFT) world->clear_until[slot] = 0;
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
        if (kept < keep || sac_body_must_go(world, world->chosen[i]))
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
        double left = sac_world_left_ns(world, now);
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
