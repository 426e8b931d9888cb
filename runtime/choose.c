/* The last rung of the ladder: when even the least work for everybody does not fit, the most urgent bodies
 * are simulated and the others' motion is extrapolated. Urgent is what is seen well and has waited long, so
 * everyone's turn comes. */
#include "runtime/world_internal.h"

#include <string.h>

enum { BUCKETS = 1024, REFRESH = 8 };

/* What one body costs at the least: its pairs gathered, tested at the roots, read, and solved with two
 * sub-steps. */
static double body_ns(const sac_costs *c)
{
    double pairs = c->pairs_per_body, manifolds = pairs * c->manifolds_per_pair;
    return c->agenda.weight[1] * pairs + c->agenda.weight[2] + c->floor_ns_per_pair * pairs +
           c->contacts.weight[1] * pairs + c->contacts.weight[2] * manifolds * c->points_per_manifold +
           2 * (c->solve.weight[1] * manifolds + c->solve.weight[2]) + c->finish.weight[2] +
           c->places_per_body * c->place.weight[1];
}

static uint32_t how_many(const sac_world *world)
{
    uint32_t awake = world->awake_count;
    if (world->exhaustive || world->step_deadline_ns == UINT64_MAX) return awake;
    const sac_costs *c = &world->costs;
    uint64_t now = sac_world_now(world);
    double left = world->step_deadline_ns > now ? (double)(world->step_deadline_ns - now) : 0;
    left -= c->agenda.weight[0] + c->contacts.weight[0] + c->solve.weight[0] +
            sac_predictor_mean_ns(&c->finish, awake, 0);
    if (!(left > 0)) return 0;
    /* Somebody must be simulated, or nothing is ever learned about what it costs. */
    double n = fmax(c->throttle * left / body_ns(c), 4);
    return n >= awake ? awake : (uint32_t)n;
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
    return world->flags[slot] & (SAC_BODY_HELD | SAC_BODY_TOLD | SAC_BODY_NEAR_HAND) ||
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

void sac_world_choose(sac_world *world)
{
    /* Those of the frame before; some may be asleep by now. */
    for (uint32_t i = 0; i < world->chosen_count; i++)
        world->flags[world->chosen[i]] &= ~(uint32_t)(SAC_BODY_CHOSEN | SAC_BODY_NEAR_HAND);
    near_hands(world);
    uint32_t awake = world->awake_count;
    uint32_t count = sac_tape_choose(&world->tape, how_many(world), 0, awake);
    world->chosen_count = 0;
    sac_world_spend(world, 4u * awake);
    if (count >= awake) {
        for (uint32_t i = 0; i < awake; i++) world->flags[world->awake[i]] |= SAC_BODY_CHOSEN;
        if (awake) memcpy(world->chosen, world->awake, awake * sizeof *world->chosen);
        world->chosen_count = awake;
        return;
    }
    look_at_bodies(world);
    uint32_t histogram[BUCKETS] = {0}, threshold = BUCKETS - 1, above = 0;
    for (uint32_t i = 0; i < awake; i++) histogram[bucket_for(world, world->awake[i])]++;
    while (threshold > 0 && above + histogram[threshold] <= count) above += histogram[threshold--];
    uint32_t room = count > above ? count - above : 0; /* in the threshold's own bucket */
    for (uint32_t i = 0; i < awake; i++) {
        uint32_t slot = world->awake[i], b = bucket_for(world, slot);
        if (b < threshold || (b == threshold && !must(world, slot) && room == 0)) continue;
        if (b == threshold && room) room--;
        world->flags[slot] |= SAC_BODY_CHOSEN;
        world->chosen[world->chosen_count++] = slot;
    }
    sac_world_spend(world, 12u * awake);
    world->report.rungs[SAC_RUNG_BODIES] += awake - world->chosen_count;
}
