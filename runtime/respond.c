/* Response: manifolds of this frame into sets of bodies and contacts, most visible islands first, each solved
 * with as many sub-steps as its time allows; then velocities, impulses and events back. */
#include "base/simd.h"
#include "runtime/world_internal.h"

#include <string.h>

enum { TIERS = 4, FIXED = 0 };
/* So few are solved whatever the time, and of others so much of what one sub-step mostly takes. */
enum { FEW = 8 };
static const double AT_LEAST = 0.7;
/* Of a set too large for the time, of what would fit by its size: who is left has walls about it. */
static const double PART = 0.8;
/* Faster meetings are told as hits, and are felt by a partner whose turn it is not. */
static const float HIT_SPEED = 0.5f;

static float length3(const float v[3]) { return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* ---- islands of this frame ---- */

static uint32_t find(uint32_t *root, uint32_t i)
{
    while (root[i] != i) root[i] = root[root[i]], i = root[i];
    return i;
}

static bool simulated(const sac_world *world, uint32_t slot)
{
    return (world->flags[slot] & SAC_BODY_CHOSEN) && sac_body_dynamic(world, slot);
}

void sac_pair_met(sac_world *world, uint32_t p, float impulse, float total, float met)
{
    sac_pair_watch *watch = &world->watch[p];
    const sac_broad_pair *pair = &world->broad->pairs[p];
    if (!watch->touching && (impulse > 0 || met >= HIT_SPEED || world->memory[p].depth >= 0)) {
        watch->touching = true;
        /* From now on it does not fall as it did. */
        if (!world->touches[pair->a]++) sac_body_startle(world, pair->a);
        if (!world->touches[pair->b]++) sac_body_startle(world, pair->b);
        sac_world_event(world, SAC_CONTACT_BEGIN, p, total, met);
    }
    if (met >= HIT_SPEED) sac_world_event(world, SAC_CONTACT_HIT, p, total, met);
}

bool sac_world_fit_contacts(sac_world *world, uint32_t count)
{
    if (count <= world->contact_room) return true;
    uint32_t room = world->contact_room ? world->contact_room : 1024;
    while (room < count) room *= 2;
    uint32_t *pair = sac_alloc_zero(room, sizeof *pair), *root = sac_alloc_zero(room, sizeof *root);
    if (!pair || !root) {
        sac_free(pair, room, sizeof *pair);
        sac_free(root, room, sizeof *root);
        return false;
    }
    sac_free(world->contact_pair, world->contact_room, sizeof *world->contact_pair);
    sac_free(world->contact_root, world->contact_room, sizeof *world->contact_root);
    world->contact_pair = pair;
    world->contact_root = root;
    world->contact_room = room;
    world->allocations++;
    return true;
}

/* Something that moves lies against something asleep, or that was about to be and waits for its turn. */
static void wake_partner(sac_world *world, uint32_t mover, uint32_t other)
{
    if (!sac_body_dynamic(world, other) || world->flags[other] & SAC_BODY_CHOSEN) return;
    const sac_body_hot *h = &world->hot[mover];
    float speed = length3(h->v) + length3(h->w) * h->radius;
    if (world->flags[other] & SAC_BODY_AWAKE) {
        if (!sac_body_lies(world, mover)) world->rest_seconds[other] = 0;
    } else if (speed > world->def.sleep_speed || world->rest_seconds[mover] == 0) {
        sac_body_wake_slot(world, other);
    }
}

static uint32_t list_contacts(sac_world *world)
{
    const sac_agenda *agenda = world->agenda;
    uint32_t count = 0;
    if (!sac_world_fit_contacts(world, agenda->count)) return 0;
    for (uint32_t e = 0; e < agenda->count; e++) {
        uint32_t p = agenda->tag[e];
        if (world->manifolds[p].count == 0 || world->memory[p].sensor) continue;
        const sac_broad_pair *pair = &world->broad->pairs[p];
        if ((world->flags[pair->a] | world->flags[pair->b]) & SAC_BODY_SOFT) continue;
        /* Touching, or about to: a contact found before they meet stops the mover as well. */
        float reach = world->hot[pair->a].reach + world->hot[pair->b].reach;
        if (world->memory[p].depth + reach >= 0) {
            wake_partner(world, pair->a, pair->b);
            wake_partner(world, pair->b, pair->a);
        }
        /* Two that were put into each other do not rest before they are out. */
        if (world->memory[p].inside && sac_body_dynamic(world, pair->a) && sac_body_dynamic(world, pair->b))
            world->rest_seconds[pair->a] = world->rest_seconds[pair->b] = 0;
        world->contact_pair[count++] = p;
    }
    return count;
}

/* Tier of each island by the most visible of its pairs, 0 first; contact_root gets each contact's tier. */
static void rank_islands(sac_world *world, uint32_t contacts)
{
    uint32_t *root = world->set_root;
    for (uint32_t i = 0; i < world->chosen_count; i++) {
        uint32_t slot = world->chosen[i];
        root[slot] = slot;
        world->set_rank[slot] = 0;
    }
    for (uint32_t k = 0; k < contacts; k++) {
        const sac_broad_pair *pair = &world->broad->pairs[world->contact_pair[k]];
        if (!simulated(world, pair->a) || !simulated(world, pair->b)) continue;
        uint32_t a = find(root, pair->a), b = find(root, pair->b);
        if (a < b) root[b] = a;
        if (b < a) root[a] = b;
    }
    for (uint32_t k = 0; k < contacts; k++) {
        const sac_broad_pair *pair = &world->broad->pairs[world->contact_pair[k]];
        uint32_t r = find(root, simulated(world, pair->a) ? pair->a : pair->b);
        float p = world->memory[world->contact_pair[k]].priority;
        if (p > world->set_rank[r]) world->set_rank[r] = p;
    }
    /* What a hand holds comes first, also when it touches nothing. */
    for (uint32_t i = 0; i < world->chosen_count; i++)
        if (world->flags[world->chosen[i]] & SAC_BODY_HELD && simulated(world, world->chosen[i]))
            world->set_rank[find(root, world->chosen[i])] = FLT_MAX;
}

static uint32_t tier_of(float priority)
{
    return priority >= 100 ? 0 : priority >= 10 ? 1 : priority >= 1 ? 2 : 3;
}

/* ---- one set ---- */

static uint32_t add_body(sac_world *world, uint32_t slot, uint32_t *count, uint32_t stamp)
{
    if (world->solver_stamp[slot] == stamp) return world->solver_index[slot];
    uint32_t index = (*count)++;
    const sac_body_hot *hot = &world->hot[slot];
    const sac_body_cold *cold = &world->cold[slot];
    sac_solver_body *body = &world->solver->bodies[index];
    world->solver_stamp[slot] = stamp;
    world->solver_index[slot] = index;
    *body = (sac_solver_body){.most_speed = cold->most_speed, .most_spin = cold->most_spin};
    bool dynamic = sac_body_dynamic(world, slot), chosen = simulated(world, slot);
    if (!chosen && (!dynamic || sac_body_lies(world, slot))) {
        /* Kinematic, or one whose turn it is not and that rests against others: it stands like a wall and
         * does not push with what it has not yet spent. */
        body->most_speed = body->most_spin = FLT_MAX;
        if (!dynamic) memcpy(body->v, hot->v, sizeof body->v), memcpy(body->w, hot->w, sizeof body->w);
        return index;
    }
    if (!chosen) world->extra[world->extra_count++] = slot;
    memcpy(body->v, hot->v, sizeof body->v);
    memcpy(body->w, hot->w, sizeof body->w);
    if (chosen)
        for (int i = 0; i < 3; i++) body->acceleration[i] = world->def.gravity[i] * cold->gravity_scale;
    body->linear_damping = cold->linear_damping;
    body->angular_damping = cold->angular_damping;
    body->inverse_mass = hot->inverse_mass;
    sac_body_world_inertia(world, slot, body->inverse_inertia);
    return index;
}

static uint32_t index_of(sac_world *world, uint32_t slot, uint32_t *count, uint32_t stamp)
{
    if (!(world->flags[slot] & SAC_BODY_AWAKE)) return FIXED;
    return add_body(world, slot, count, stamp);
}

static void fill_contact(sac_world *world, uint32_t p, sac_solver_contact *out, uint32_t a, uint32_t b)
{
    const sac_broad_pair *pair = &world->broad->pairs[p];
    const sac_manifold *m = &world->manifolds[p];
    const sac_material *x = &world->cold[pair->a].material, *y = &world->cold[pair->b].material;
    const sac_transform *pose = &world->pose[pair->a];
    const float *ca = world->hot[pair->a].centre, *cb = world->hot[pair->b].centre;
    float rows[3][3];
    sac_transform_rows(pose, rows);
    out->a = a;
    out->b = b;
    out->friction = sqrtf(x->friction * y->friction);
    out->restitution = x->restitution > y->restitution ? x->restitution : y->restitution;
    out->rolling = x->rolling > y->rolling ? x->rolling : y->rolling;
    out->count = m->count;
    memcpy(out->rolling_impulse, m->rolling_impulse, sizeof out->rolling_impulse);
    for (uint32_t k = 0; k < m->count; k++) {
        const sac_manifold_point *from = &m->points[k];
        sac_solver_point *to = &out->points[k];
        for (int i = 0; i < 3; i++) {
            float at = (rows[i][0] * from->local_a[0] + rows[i][1] * from->local_a[1] +
                        rows[i][2] * from->local_a[2]) *
                           pose->scale +
                       pose->translation[i];
            to->arm_a[i] = at - ca[i];
            to->arm_b[i] = at - cb[i];
        }
        memcpy(to->normal, from->normal, sizeof to->normal);
        to->separation = -from->depth;
        to->impulse = from->impulse;
        memcpy(to->friction_impulse, from->friction_impulse, sizeof to->friction_impulse);
        to->approach = 0;
    }
}

/* A body whose turn it is not: it could move, but does not now. */
static bool is_wall(const sac_world *world, uint32_t slot, uint32_t index)
{
    return index != FIXED && sac_body_dynamic(world, slot) &&
           !(world->solver->bodies[index].inverse_mass > 0);
}

/* Overlap with such a body is left to when both can give way: wedged between two of them one would be shot
 * out. */
static void ease(sac_solver_contact *contact)
{
    const float gentle = -0.005f;
    for (uint32_t k = 0; k < contact->count; k++)
        if (contact->points[k].separation < gentle) contact->points[k].separation = gentle;
}

/* One that goes on being pushed while it has to wait. */
static bool has_to_wait(const sac_world *world, uint32_t slot, uint32_t index)
{
    return index != FIXED && sac_body_dynamic(world, slot) && !simulated(world, slot) &&
           world->solver->bodies[index].inverse_mass > 0;
}

/* What was between two when all about them took part says nothing of these two alone, and would be given to
 * them before they are asked. */
static void cool(sac_solver_contact *contact)
{
    memset(contact->rolling_impulse, 0, sizeof contact->rolling_impulse);
    for (uint32_t k = 0; k < contact->count; k++) {
        contact->points[k].impulse = 0;
        memset(contact->points[k].friction_impulse, 0, sizeof contact->points[k].friction_impulse);
    }
}

void sac_grabs_fill(sac_world *world, uint32_t stamp, uint32_t *count); /* grab.c */
void sac_grabs_read(sac_world *world, uint32_t count);

/* What a body that stood like a wall feels of a hit: it leaves as after a blow without bounce from what came
 * fastest. The other has lost all its speed against the wall, more than between the two, so that both
 * together never gain. */
static void pass_on(sac_world *world, uint32_t slot, uint32_t by, uint32_t index, const sac_solver_contact *c,
                    float sign)
{
    if (index == FIXED || !sac_body_dynamic(world, slot) || world->solver->bodies[index].inverse_mass > 0)
        return;
    sac_body_hot *hot = &world->hot[slot];
    const sac_solver_point *hit = &c->points[0];
    for (uint32_t k = 1; k < c->count; k++)
        if (c->points[k].approach > hit->approach) hit = &c->points[k];
    float along = 0, own = hot->inverse_mass, theirs = world->hot[by].inverse_mass;
    for (int i = 0; i < 3; i++) along += sign * hit->normal[i] * hot->v[i];
    float more = (hit->approach - along) * own / (theirs + own);
    if (!(more > 0 && more <= FLT_MAX)) return;
    for (int i = 0; i < 3; i++) hot->v[i] += sign * more * hit->normal[i];
    sac_body_startle(world, slot);
}

/* One more between the other and the ground than between this one and it. */
static void bears(sac_world *world, uint32_t slot, uint32_t index, uint32_t other)
{
    if (!simulated(world, other)) return;
    bool firm = index == FIXED || !sac_body_dynamic(world, slot);
    uint32_t level = firm ? 0 : world->ground[slot] + 1u;
    if (level < world->ground_next[other]) world->ground_next[other] = (uint8_t)level;
}

static void read_contact(sac_world *world, uint32_t p, const sac_solver_contact *c)
{
    sac_manifold *m = &world->manifolds[p];
    sac_pair_memory *memory = &world->memory[p];
    const sac_broad_pair *pair = &world->broad->pairs[p];
    float impulse = 0, total = 0, speed = 0,
          met = 0; /* met: also what had bounced off before the step's end */
    for (uint32_t k = 0; k < c->count; k++) {
        m->points[k].impulse = c->points[k].impulse;
        memcpy(m->points[k].friction_impulse, c->points[k].friction_impulse,
               sizeof c->points[k].friction_impulse);
        impulse += c->points[k].impulse;
        total += c->points[k].total;
        if (c->points[k].impulse > 0 && c->points[k].approach > speed) speed = c->points[k].approach;
        if (c->points[k].total > 0 && c->points[k].approach > met) met = c->points[k].approach;
    }
    memcpy(m->rolling_impulse, c->rolling_impulse, sizeof m->rolling_impulse);
    memory->impulse = impulse;
    if (impulse > 0) {
        bears(world, pair->a, c->a, pair->b);
        bears(world, pair->b, c->b, pair->a);
    }
    if (speed >= HIT_SPEED) {
        pass_on(world, pair->a, pair->b, c->a, c, -1);
        pass_on(world, pair->b, pair->a, c->b, c, 1);
    }
    sac_pair_met(world, p, impulse, total, met);
}

/* Its box was found to hold it on the way its velocity said, and with what is spare beyond that any way.
 * Twice what it goes astray: once for where it is, once for the way it was expected to go and did not. */
static float astray(const sac_body_hot *hot, const sac_solver_body *body, float dt)
{
    float off[3], turned[3];
    for (int k = 0; k < 3; k++) {
        off[k] = body->moved[k] - hot->v[k] * dt;
        turned[k] = body->turned[k] - hot->w[k] * dt;
    }
    return 2 * (length3(off) + length3(turned) * hot->radius);
}

/* Velocity and motion of one body of the set; its pose comes later, when fast ones have been limited. */
static void read_body(sac_world *world, uint32_t slot)
{
    const sac_solver_body *body = &world->solver->bodies[world->solver_index[slot]];
    sac_body_hot *hot = &world->hot[slot];
    float change[3], spin[3];
    if (!sac_vec3_is_finite(body->v) || !sac_vec3_is_finite(body->w) || !sac_vec3_is_finite(body->moved) ||
        !sac_vec3_is_finite(body->turned)) {
        world->report.not_finite++;
        for (int k = 0; k < 3; k++) hot->v[k] = hot->w[k] = hot->moved[k] = hot->turned[k] = 0;
        return;
    }
    for (int k = 0; k < 3; k++) change[k] = body->v[k] - hot->v[k], spin[k] = body->w[k] - hot->w[k];
    if (simulated(world, slot)) sac_body_steady(world, slot, change, spin);
    if (length3(change) > 2 * world->gravity_size * world->step_dt + 0.1f) sac_body_startle(world, slot);
    sac_body_strayed(world, slot, change);
    hot->slack -= astray(hot, body, world->step_dt);
    memcpy(hot->v, body->v, sizeof hot->v);
    memcpy(hot->w, body->w, sizeof hot->w);
    memcpy(hot->moved, body->moved, sizeof hot->moved);
    memcpy(hot->turned, body->turned, sizeof hot->turned);
}

static void read_bodies(sac_world *world, uint32_t stamp)
{
    for (uint32_t i = 0; i < world->chosen_count; i++) {
        uint32_t slot = world->chosen[i];
        if (world->solver_stamp[slot] == stamp && simulated(world, slot)) read_body(world, slot);
    }
    for (uint32_t i = 0; i < world->extra_count; i++) read_body(world, world->extra[i]);
}

static uint32_t tier_of_body(sac_world *world, uint32_t slot, uint32_t tiers)
{
    if (tiers == 1 || !simulated(world, slot)) return 0;
    return tier_of(world->set_rank[find(world->set_root, slot)]);
}

/* All but the first `keep` of this set wait, and but for those that go whatever the time. Returns how many
 * go.
 */
static uint32_t put_off(sac_world *world, uint32_t tier, uint32_t tiers, uint64_t keep)
{
    uint32_t before = world->chosen_count, left = 0;
    for (uint32_t i = 0; i < before; i++) {
        uint32_t slot = world->chosen[i];
        if (world->flags[slot] & SAC_BODY_SOFT || !simulated(world, slot) ||
            tier_of_body(world, slot, tiers) != tier)
            continue;
        if (left >= keep) sac_body_defer(world, slot);
        left += simulated(world, slot);
    }
    sac_world_forget_deferred(world);
    world->unseen += before - world->chosen_count;
    return left;
}

static void solve_tier(sac_world *world, uint32_t tier, uint32_t tiers, uint32_t contacts, uint32_t substeps,
                       uint64_t limit)
{
    uint32_t stamp = world->frame * TIERS + tier + 1u, bodies = 1, used = 0, grabs = 0;
    sac_solver *solver = world->solver;
    uint64_t began = sac_world_now(world);
    world->extra_count = 0;
    uint32_t most_bodies = 1 + world->chosen_count + contacts;
    if (most_bodies > 1 + world->body_count) most_bodies = 1 + world->body_count;
    if (sac_solver_begin(solver, most_bodies, contacts, world->grabs_used, NULL) != SAC_OK) return;
    solver->bodies[FIXED] = (sac_solver_body){.most_speed = FLT_MAX, .most_spin = FLT_MAX};
    for (uint32_t i = 0; i < world->chosen_count; i++)
        if (!(world->flags[world->chosen[i]] & SAC_BODY_SOFT) &&
            tier_of_body(world, world->chosen[i], tiers) == tier)
            add_body(world, world->chosen[i], &bodies, stamp);
    for (uint32_t k = 0; k < contacts; k++) {
        uint32_t p = world->contact_pair[k];
        if (k + 3 < contacts) {
            uintptr_t ahead = (uintptr_t)&world->manifolds[world->contact_pair[k + 3]];
            for (uintptr_t at = 0; at < sizeof(sac_manifold); at += SAC_CACHE_LINE) sac_prefetch(ahead + at);
        }
        const sac_broad_pair *pair = &world->broad->pairs[p];
        bool own_a = simulated(world, pair->a), own_b = simulated(world, pair->b);
        if (!own_a && !own_b) continue;
        if (tier_of_body(world, own_a ? pair->a : pair->b, tiers) != tier) continue;
        uint32_t a = index_of(world, pair->a, &bodies, stamp), b = index_of(world, pair->b, &bodies, stamp);
        world->contact_root[used] = p;
        fill_contact(world, p, &solver->contacts[used], a, b);
        if (is_wall(world, pair->a, a) || is_wall(world, pair->b, b)) ease(&solver->contacts[used]);
        if (has_to_wait(world, pair->a, a) || has_to_wait(world, pair->b, b)) cool(&solver->contacts[used]);
        used++;
    }
    if (tier == 0) sac_grabs_fill(world, stamp, &grabs);
    solver->body_count = bodies;
    solver->contact_count = used;
    solver->grab_count = grabs;
    sac_world_spend(world, 30u * bodies + 60u * used);

    /* Bodies that had to wait overlap deeply: what pushing them apart leaves in speed and spin is taken out
     * once more, or starved heaps would gain by it. */
    sac_solver_step step = {.dt = world->step_dt,
                            .substeps = substeps,
                            .relaxations = sac_world_starves(world) ? 2 : 1,
                            .single_impulse = world->def.single_impulse};
    sac_solver_report report = {0};
    sac_stop stop;
    /* One sub-step is the least: bodies that were chosen must not pass through what they touch. */
    uint64_t first = began + (uint64_t)(AT_LEAST * sac_predictor_mean_ns(&world->costs.solve, used, used));
    if (limit < first) limit = bodies > FEW ? first : UINT64_MAX;
    sac_tape_stop(&world->tape, &stop, &world->clock, limit, &world->pace);
    sac_solver_solve(solver, &step, &stop, world->tasks, &report);
    sac_tape_close(&world->tape, &stop);
    sac_world_balance(world, used, stamp, report.substeps == 0);
    read_bodies(world, stamp);
    for (uint32_t k = 0; k < used; k++) read_contact(world, world->contact_root[k], &solver->contacts[k]);
    if (tier == 0) sac_grabs_read(world, grabs);
    sac_world_spend(world, 10u * bodies + 30u * used);
    world->report.manifolds += used;
    for (uint32_t k = 0; k < used; k++) world->report.contacts += solver->contacts[k].count;
    if (report.colours > world->report.colours) world->report.colours = report.colours;
    if (tier == 0 || report.substeps < world->report.substeps) world->report.substeps = report.substeps;
    uint32_t saved = world->step_substeps > report.substeps ? world->step_substeps - report.substeps : 0;
    world->report.rungs[SAC_RUNG_ITERATIONS] += (uint64_t)saved * (bodies - 1);
}

/* A set of so many contacts and bodies: as much of it as there is time for one pass of, and nothing is made
 * ready in vain. */
static void respond_tier(sac_world *world, uint32_t tier, uint32_t tiers, uint32_t contacts, uint32_t own,
                         uint32_t bodies, uint32_t substeps, uint64_t limit)
{
    uint64_t now = sac_world_now(world), keep = UINT32_MAX;
    double least = AT_LEAST * sac_predictor_mean_ns(&world->costs.solve, own, own);
    /* Without a limit there is time, whatever the clock says. */
    double left = limit == UINT64_MAX ? 1e18 : limit > now ? (double)(limit - now) : 0;
    if (bodies > FEW && left < least) keep = (uint64_t)(PART * bodies * left / least);
    keep = sac_tape_decide(&world->tape, keep);
    if (keep < bodies) {
        if (!put_off(world, tier, tiers, keep)) return;
        substeps = 1;
    }
    solve_tier(world, tier, tiers, contacts, substeps, limit);
}

/* Sub-steps that mostly fit in `left`: the solver can still be stopped when they do not. */
static uint32_t fit_substeps(const sac_world *world, uint32_t contacts, double left, uint32_t most)
{
    for (uint32_t s = most; s > 1; s--)
        if (1.15 * sac_predictor_mean_ns(&world->costs.solve, (double)contacts * s, contacts) <= left)
            return s;
    return 1;
}

/* Which of them end, and for how long the others may be left alone. */
static void end_touches(sac_world *world)
{
    const sac_agenda *agenda = world->agenda;
    for (uint32_t e = 0; e < agenda->count; e++) {
        uint32_t p = agenda->tag[e];
        sac_pair_memory *memory = &world->memory[p];
        sac_pair_watch *watch = &world->watch[p];
        bool touches = memory->sensor ? world->manifolds[p].count > 0 && memory->depth >= 0 : false;
        bool ends = world->manifolds[p].count == 0;
        const sac_broad_pair *pair = &world->broad->pairs[p];
        if (watch->touching && (memory->sensor ? !touches : ends)) {
            watch->touching = false;
            memory->impulse = 0;
            if (world->touches[pair->a]) world->touches[pair->a]--;
            if (world->touches[pair->b]) world->touches[pair->b]--;
            sac_world_event(world, SAC_CONTACT_END, p, 0, 0);
        } else if (!watch->touching && touches) {
            watch->touching = true;
            world->touches[pair->a]++;
            world->touches[pair->b]++;
            sac_world_event(world, SAC_CONTACT_BEGIN, p, 0, sac_pair_approach(world, p));
        }
        bool glides = watch->touching && !memory->sensor;
        uint32_t until = world->frame + 1 + (glides ? sac_pair_glides(world, p) : 0);
        for (int k = 0; k < 2; k++) {
            uint32_t slot = k ? pair->b : pair->a;
            if (until < world->clear_until[slot]) world->clear_until[slot] = until;
        }
    }
}

void sac_world_respond(sac_world *world, uint32_t substeps)
{
    uint32_t contacts = sac_world_cross_seams(world, list_contacts(world)), tiers = 1;
    for (uint32_t i = 0; i < world->chosen_count; i++) world->ground_next[world->chosen[i]] = SAC_NO_GROUND;
    world->contact_count = contacts;
    uint64_t start = sac_world_now(world), cost = sac_world_cost_now(world),
             deadline = world->step_deadline_ns;
    double left = deadline == UINT64_MAX ? 1e18 : sac_world_left_ns(world, start);
    double tail = sac_world_tail_ns(world, fmax(left, 0));
    left -= tail;
    uint32_t fits = fit_substeps(world, contacts, left, substeps);
    if (world->exhaustive) fits = substeps;
    /* When not all of it fits, islands are told apart and the visible ones come first. */
    tiers = sac_tape_choose(&world->tape, fits < substeps && contacts > 64 ? TIERS : 1, 1, TIERS);
    uint64_t limit = deadline == UINT64_MAX || world->exhaustive ? UINT64_MAX : 0;
    if (limit == 0) limit = (double)deadline > tail ? deadline - (uint64_t)tail : deadline;
    if (tiers == 1) {
        fits = sac_tape_choose(&world->tape, fits, 1, substeps);
        respond_tier(world, 0, 1, contacts, contacts, world->chosen_count, fits, limit);
    } else {
        rank_islands(world, contacts);
        uint32_t count[TIERS] = {0}, bodies[TIERS] = {0};
        for (uint32_t k = 0; k < contacts; k++) {
            const sac_broad_pair *pair = &world->broad->pairs[world->contact_pair[k]];
            count[tier_of_body(world, simulated(world, pair->a) ? pair->a : pair->b, tiers)]++;
        }
        for (uint32_t i = 0; i < world->chosen_count; i++)
            bodies[tier_of_body(world, world->chosen[i], tiers)]++;
        for (uint32_t t = 0; t < TIERS; t++) {
            double later = 0, now = (double)sac_world_now(world);
            for (uint32_t u = t + 1; u < TIERS; u++)
                later += sac_predictor_mean_ns(&world->costs.solve, count[u], count[u]);
            fits = fit_substeps(world, count[t], (double)limit - now - later, substeps);
            fits = sac_tape_choose(&world->tape, fits, 1, substeps);
            if (count[t] || bodies[t] || t == 0)
                respond_tier(world, t, tiers, contacts, count[t], bodies[t], fits, limit);
        }
    }
    end_touches(world);
    sac_world_spend(world, 4u * world->agenda->count);
    if (!world->tape.replay && world->report.substeps)
        sac_predictor_learn(&world->costs.solve, (double)contacts * world->report.substeps, contacts,
                            (double)(sac_world_cost_now(world) - cost));
    if (world->agenda->count)
        world->costs.manifolds_per_pair +=
            0.1 * ((double)contacts / world->agenda->count - world->costs.manifolds_per_pair);
    if (world->report.manifolds)
        world->costs.points_per_manifold += 0.1 * ((double)world->report.contacts / world->report.manifolds -
                                                   world->costs.points_per_manifold);
}
