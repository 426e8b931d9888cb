/* Soft bodies in the frame. Before the solver: the fronts of their pairs become contacts, and goals change
 * velocities, most urgent bodies first; those there is no time for fall on in the shape they have. After the
 * solver: rounds over the contacts, as many as there is time for, and the points move. */
#include "runtime/world_internal.h"

#include <string.h>

/* Contacts for each soft body there is room for, and those of one pair at the most. */
enum { CONTACTS_A_BODY = 128, LEAST_CONTACTS = 8192, MOST_OF_PAIR = 512 };
/* Leaf pairs of two bodies, or leaves against a rigid one, that are met by points and triangles: more say as
 * much as patches. And what one costs in patches. */
enum {
    COARSE_MOST = 512,
    MOST_SKIN = 64,
    MOST_PATCHES = 512,
    FINE_MOST = 24,
    FINE_MOST_RIGID = 256,
    FINE_COST = 16
};
/* Bodies pulled between two looks at the clock. */
enum { CHUNK = 8 };

enum { SEEN = 1024 };

typedef struct touched_pair {
    uint32_t pair, first, count; /* contacts */
} touched_pair;

typedef struct sac_softening {
    sac_soft_contact *contacts;
    touched_pair *pairs;
    uint32_t contact_room, contact_count, pair_count;
    sac_soft_party *parties;
    uint32_t *party_body; /* slot of each */
    float (*before)[6];   /* velocities of rigid parties before the response */
    uint32_t party_room, party_count;
    uint32_t front_pairs; /* contacts were made of, and how many pairs of bodies */
    uint32_t body_pairs;
    uint32_t *party_of, *party_stamp, slot_room; /* of each slot */
    sac_soft **pulled, **moved;
    uint32_t body_room, moved_count;
    uint64_t moved_points;
    float none[3];
    struct {
        uint64_t name;
        uint32_t stamp;
    } seen[SEEN]; /* node pairs of one front */
    uint32_t stamp;
    sac_soft_response *response;
} sac_softening;

static float length3(const float v[3]) { return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static void release(sac_softening *s)
{
    sac_free(s->contacts, s->contact_room, sizeof *s->contacts);
    sac_free(s->pairs, s->contact_room, sizeof *s->pairs);
    sac_free(s->parties, s->party_room, sizeof *s->parties);
    sac_free(s->party_body, s->party_room, sizeof *s->party_body);
    sac_free(s->before, s->party_room, sizeof *s->before);
    sac_free(s->party_of, s->slot_room, sizeof *s->party_of);
    sac_free(s->party_stamp, s->slot_room, sizeof *s->party_stamp);
    sac_free(s->pulled, s->body_room, sizeof *s->pulled);
    sac_free(s->moved, s->body_room, sizeof *s->moved);
    sac_soft_response_destroy(&s->response);
    sac_free(s, 1, sizeof *s);
}

bool sac_softening_reserve(sac_world *world)
{
    const sac_softening *old = world->softening;
    if (old && world->soft_count <= old->body_room && world->slot_room <= old->slot_room) return true;
    sac_softening *s = sac_alloc_zero(1, sizeof *s);
    if (!s) return false;
    s->body_room = old ? old->body_room : 16;
    while (s->body_room < world->soft_count) s->body_room *= 2;
    s->contact_room = s->body_room * CONTACTS_A_BODY;
    if (s->contact_room < LEAST_CONTACTS) s->contact_room = LEAST_CONTACTS;
    s->slot_room = s->party_room = world->slot_room;
    s->contacts = sac_alloc(s->contact_room, sizeof *s->contacts);
    s->pairs = sac_alloc(s->contact_room, sizeof *s->pairs);
    s->parties = sac_alloc(s->party_room, sizeof *s->parties);
    s->party_body = sac_alloc(s->party_room, sizeof *s->party_body);
    s->before = sac_alloc(s->party_room, sizeof *s->before);
    s->party_of = sac_alloc_zero(s->slot_room, sizeof *s->party_of);
    s->party_stamp = sac_alloc_zero(s->slot_room, sizeof *s->party_stamp);
    s->pulled = sac_alloc(s->body_room, sizeof *s->pulled);
    s->moved = sac_alloc(s->body_room, sizeof *s->moved);
    if (!s->contacts || !s->pairs || !s->parties || !s->party_body || !s->before || !s->party_of ||
        !s->party_stamp || !s->pulled || !s->moved ||
        sac_soft_response_create(&s->response, NULL) != SAC_OK ||
        !sac_soft_response_reserve(s->response, s->party_room, s->contact_room)) {
        release(s);
        return false;
    }
    if (world->softening) release(world->softening);
    world->softening = s;
    world->allocations++;
    return true;
}

void sac_softening_destroy(sac_world *world)
{
    if (world->softening) release(world->softening);
    world->softening = NULL;
}

/* ---- who takes part ---- */

static uint32_t party_for(sac_world *world, uint32_t slot)
{
    sac_softening *s = world->softening;
    if (s->party_stamp[slot] == world->frame) return s->party_of[slot];
    uint32_t index = s->party_count++;
    s->party_stamp[slot] = world->frame;
    s->party_of[slot] = index;
    s->party_body[index] = slot;
    sac_body_hot *hot = &world->hot[slot];
    const sac_material *material = &world->cold[slot].material;
    const sac_soft_slot *soft = sac_soft_of(world, slot);
    bool turn = world->flags[slot] & SAC_BODY_CHOSEN && sac_body_dynamic(world, slot);
    sac_soft_party *p = &s->parties[index];
    *p = (sac_soft_party){.centre = hot->centre,
                          .v = s->none,
                          .w = s->none,
                          .mass_scale = 1,
                          .friction = material->friction,
                          .restitution = material->restitution};
    if (soft) {
        p->tree = sac_soft_shape_parts_of(soft->shape).tree;
        p->skin = soft->skin;
        p->thickness = soft->thickness;
        p->mass_scale = soft->mass_scale;
        p->soft = soft->soft;
        p->still = !turn;
        return index;
    }
    if (turn || world->cold[slot].kind == SAC_BODY_KINEMATIC) p->v = hot->v, p->w = hot->w;
    if (turn) {
        p->inverse_mass = hot->inverse_mass;
        sac_body_world_inertia(world, slot, p->inverse_inertia);
    }
    return index;
}

/* Something that moves lies against something asleep. */
static void wake_partner(sac_world *world, uint32_t mover, uint32_t other)
{
    if (!sac_body_dynamic(world, other) || world->flags[other] & SAC_BODY_AWAKE) return;
    const sac_body_hot *h = &world->hot[mover];
    if (length3(h->v) + length3(h->w) * h->radius > world->def.sleep_speed || world->rest_seconds[mover] == 0)
        sac_body_wake_slot(world, other);
}

/* The block a node is in, as it is now. */
static void ask_for(const sac_form *form, uint32_t node)
{
    uint32_t block = node / SAC_LANES;
    if (form->live && block > 0 && block < form->tree->block_count)
        form->live->open(form->live->owner, &block, 1);
}

/* The node a contact is on, be it a point or a triangle of it. */
static uint32_t node_at(const sac_soft_party *p, uint32_t id)
{
    if (!p->soft || p->skin || !(id & (SAC_SOFT_AT_POINT | SAC_SOFT_AT_TRIANGLE))) return id;
    if (id & SAC_SOFT_AT_POINT) return p->tree->leaf[id & ~SAC_SOFT_AT_POINT];
    return p->tree->leaf[p->tree->triangles[id & ~SAC_SOFT_AT_TRIANGLE][0]];
}

/* What is remembered of a pair, told and drawn: its deepest contacts. */
static void remember(sac_world *world, uint32_t e, const sac_soft_contact *all, uint32_t count, uint32_t a,
                     uint32_t b)
{
    const sac_softening *s = world->softening;
    const sac_agenda *agenda = world->agenda;
    uint32_t p = agenda->tag[e], kept = 0;
    sac_contact best[SAC_CONTACT_MOST];
    sac_pair_memory *memory = &world->memory[p];
    sac_manifold *m = &world->manifolds[p];
    for (uint32_t i = 0; i < count; i++) {
        const sac_soft_contact *c = &all[i];
        if (kept == SAC_CONTACT_MOST && c->depth <= best[kept - 1].depth) continue;
        uint32_t at = kept < SAC_CONTACT_MOST ? kept++ : kept - 1;
        for (; at > 0 && c->depth > best[at - 1].depth; at--) best[at] = best[at - 1];
        best[at] = (sac_contact){.depth = c->depth,
                                 .uncertainty = memory->uncertainty,
                                 .node_a = node_at(&s->parties[a], c->node_a),
                                 .node_b = node_at(&s->parties[b], c->node_b)};
        memcpy(best[at].point, c->point, sizeof c->point);
        memcpy(best[at].normal, c->normal, sizeof c->normal);
    }
    sac_manifold_merge(m, best, kept, agenda->pose_a[e], agenda->pose_b[e], world->def.gap_bias, 0);
    world->watch[p].apart = false; /* patches side by side say nothing about how far they are */
    m->level = memory->level;
    m->uncertainty = memory->uncertainty;
    memory->depth = kept ? best[0].depth : -FLT_MAX;
    float sum[3] = {0};
    for (uint32_t k = 0; k < kept; k++)
        for (int i = 0; i < 3; i++) sum[i] += best[k].point[i];
    for (int i = 0; i < 3 && kept; i++) memory->region[i] = sum[i] / (float)kept;
}

/* The node pairs of a front one level up, each once: fewer and larger lumps, when bodies have to wait for
 * each other. Returns how many; those beyond the room are covered by none and come next time. */
static uint32_t coarsen(sac_softening *s, const sac_meeting *m, const sac_pairs *pending,
                        const sac_pairs *done, uint32_t *out_a, uint32_t *out_b, uint32_t room)
{
    uint32_t count = 0;
    s->stamp++;
    for (int list = 0; list < 2; list++) {
        const sac_pairs *pairs = list ? done : pending;
        for (uint32_t i = 0; i < pairs->count && count < room; i++) {
            uint32_t id[2] = {pairs->a[i], pairs->b[i]};
            const sac_form *forms[2] = {m->a, m->b};
            for (int k = 0; k < 2; k++) {
                const sac_tree *tree = forms[k]->tree;
                if (forms[k]->kind != SAC_FORM_TREE) continue;
                if (!list) id[k] = id[k] & SAC_LINK_LEAF ? id[k] & ~SAC_LINK_LEAF : tree->parents[id[k]];
                if (forms[k]->live && id[k] >= SAC_LANES) id[k] = tree->parents[id[k] / SAC_LANES];
            }
            uint64_t name = ((uint64_t)id[0] << 32 | id[1]) + 1u;
            uint32_t at = (uint32_t)(name * 0x9e3779b97f4a7c15u >> 54);
            while (s->seen[at].stamp == s->stamp && s->seen[at].name != name) at = (at + 1) % SEEN;
            if (s->seen[at].stamp == s->stamp) continue;
            s->seen[at].name = name, s->seen[at].stamp = s->stamp;
            out_a[count] = id[0], out_b[count] = id[1], count++;
        }
    }
    return count;
}

/* `late`: there is no time for what the descent found; the whole of both bodies answers. */
static void contacts_of(sac_world *world, uint32_t e, bool late)
{
    sac_softening *s = world->softening;
    const sac_agenda *agenda = world->agenda;
    uint32_t p = agenda->tag[e];
    const sac_broad_pair *pair = &world->broad->pairs[p];
    uint32_t either = world->flags[pair->a] | world->flags[pair->b];
    if (!(either & SAC_BODY_SOFT) || !(either & SAC_BODY_CHOSEN) || agenda->flags[e] & SAC_AGENDA_EMPTY)
        return;
    uint32_t room = s->contact_room - s->contact_count, count = 0;
    if (room > MOST_OF_PAIR) room = MOST_OF_PAIR;
    if (s->contact_room - s->contact_count < MOST_OF_PAIR + SAC_CONTACT_MOST * (world->agenda->count - e))
        late = true; /* one for each that is left */
    if (late && room > SAC_CONTACT_MOST) room = SAC_CONTACT_MOST;
    uint32_t a = party_for(world, pair->a), b = party_for(world, pair->b);
    sac_soft_contact *out = s->contacts + s->contact_count;
    const sac_manifold *m = &world->manifolds[p];
    s->body_pairs++;
    bool fresh = agenda->flags[e] & SAC_AGENDA_STARTED && world->memory[p].refined == world->frame;
    if (late && (fresh || m->count == 0)) {
        uint32_t zero[2] = {0, 0};
        sac_pairs none = {0}, whole = {zero, zero + 1, 1, 1};
        sac_meeting meeting = {.a = agenda->form_a[e],
                               .b = agenda->form_b[e],
                               .pose_a = agenda->pose_a[e],
                               .pose_b = agenda->pose_b[e],
                               .margin = agenda->margin[e]};
        world->report.rungs[SAC_RUNG_CONTACTS]++;
        count = sac_soft_contacts(&meeting, &none, &whole, a, b, s->parties, false, out, room);
    } else if (fresh) {
        sac_pairs pending, done;
        sac_agenda_front(agenda, e, &pending, &done);
        /* All the way down: points and triangles say more than patches. */
        bool rigid = !(world->flags[pair->a] & world->flags[pair->b] & SAC_BODY_SOFT);
        bool fine = pending.count == 0 && done.count <= (rigid ? FINE_MOST_RIGID : FINE_MOST);
        uint32_t coarse_a[COARSE_MOST], coarse_b[COARSE_MOST];
        /* Too many are taken one level up in any case: one pair must not cost a frame its deadline. */
        bool skin = s->parties[a].skin || s->parties[b].skin, wait = sac_world_starves(world);
        uint32_t most = wait && !(agenda->flags[e] & SAC_AGENDA_TOP) ? FINE_MOST
                        : skin                                       ? MOST_SKIN
                                                                     : MOST_PATCHES;
        if (!fine && world->step_deadline_ns != UINT64_MAX && pending.count + done.count > most) {
            uint32_t few = coarsen(s, &agenda->meetings[e], &pending, &done, coarse_a, coarse_b, COARSE_MOST);
            s->front_pairs += (pending.count + done.count) / 8;
            pending.count = 0;
            done = (sac_pairs){coarse_a, coarse_b, few, COARSE_MOST};
            world->report.rungs[SAC_RUNG_CONTACTS]++;
        }
        s->front_pairs += fine ? FINE_COST * done.count : pending.count + done.count;
        count = sac_soft_contacts(&agenda->meetings[e], &pending, &done, a, b, s->parties, fine, out, room);
    } else if (m->count) {
        /* Nobody looked: the nodes of before, where they are now. */
        uint32_t nodes_a[SAC_CONTACT_MOST], nodes_b[SAC_CONTACT_MOST];
        uint32_t root_a[1 + SAC_PAIRS_SLACK], root_b[1 + SAC_PAIRS_SLACK];
        sac_pairs none = {0}, known = {nodes_a, nodes_b, m->count, SAC_CONTACT_MOST},
                  root = {root_a, root_b, 0, 1};
        sac_meeting meeting;
        for (uint32_t k = 0; k < m->count; k++) {
            nodes_a[k] = m->points[k].node_a, nodes_b[k] = m->points[k].node_b;
            ask_for(agenda->form_a[e], nodes_a[k]);
            ask_for(agenda->form_b[e], nodes_b[k]);
        }
        if (sac_meeting_begin(&meeting, agenda->form_a[e], agenda->pose_a[e], agenda->form_b[e],
                              agenda->pose_b[e], agenda->margin[e], &root))
            count = sac_soft_contacts(&meeting, &none, &known, a, b, s->parties, false, out, room);
    }
    remember(world, e, out, count, a, b);
    if (count == 0 || world->memory[p].sensor) return;
    float reach = world->hot[pair->a].reach + world->hot[pair->b].reach;
    if (world->memory[p].depth + reach >= 0) {
        wake_partner(world, pair->a, pair->b);
        wake_partner(world, pair->b, pair->a);
    }
    s->pairs[s->pair_count++] = (touched_pair){p, s->contact_count, count};
    s->contact_count += count;
}

/* ---- before the solver ---- */

double sac_world_soft_ns(const sac_world *world, bool least)
{
    if (!world->softening || world->soft_points == 0) return 0;
    const sac_costs *c = &world->costs;
    double contacts = (double)world->soft_points * c->touches_per_point;
    double fronts = (double)world->soft_points * c->fronts_per_point;
    double rounds = least ? 1 : sac_default_soft_response_def().rounds;
    return sac_predictor_mean_ns(&c->deform, least ? 0 : (double)world->soft_points,
                                 (double)world->soft_points) +
           sac_predictor_mean_ns(&c->touch, fronts * (least ? 0.3 : 1), 0) +
           sac_predictor_mean_ns(&c->soften, contacts, contacts * rounds);
}

/* What is predicted of soft work is off by more than of rigid: pieces are large. */
static const double SPARE = 0.08;

static uint64_t soft_deadline(const sac_world *world)
{
    uint64_t spare = (uint64_t)(SPARE * (double)world->report.budget_ns), at = world->step_deadline_ns;
    return at == UINT64_MAX || at < spare ? at : at - spare;
}

static sac_soft_step_def step_of(const sac_world *world)
{
    sac_soft_step_def def = {.dt = world->step_dt};
    memcpy(def.gravity, world->def.gravity, sizeof def.gravity);
    return def;
}

/* Goals for as many as there is time for; the chosen are in the order of their urgency. */
static void pull(sac_world *world)
{
    sac_softening *s = world->softening;
    sac_soft_step_def def = step_of(world);
    const sac_costs *c = &world->costs;
    uint64_t now = sac_world_now(world), limit = soft_deadline(world);
    if (limit != UINT64_MAX) {
        double left = sac_ns_until(limit, now), tail = sac_world_tail_ns(world, left);
        double manifolds = world->agenda->count * c->manifolds_per_pair;
        double later = tail + sac_predictor_mean_ns(&c->solve, manifolds * world->step_substeps, manifolds) +
                       sac_predictor_mean_ns(&c->soften, s->contact_count, 2.0 * s->contact_count) +
                       sac_predictor_mean_ns(&c->deform, 0, (double)world->soft_points);
        limit = now + (uint64_t)fmax(left - later, 0.1 * left);
    }
    sac_stop stop;
    sac_tape_stop(&world->tape, &stop, &world->clock, limit, &world->pace);
    bool late = false;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < world->chosen_count;) {
        uint32_t n = 0;
        uint64_t points = 0;
        for (; i < world->chosen_count && n < CHUNK; i++) {
            uint32_t slot = world->chosen[i];
            sac_soft_slot *soft = sac_soft_of(world, slot);
            if (late && soft && soft->skipped >= SAC_SOFT_MOST_SKIPPED) {
                /* Its points would part: it waits instead. */
                world->flags[slot] &= ~(uint32_t)SAC_BODY_CHOSEN;
                world->clear_until[slot] = 0;
                world->report.rungs[SAC_RUNG_BODIES]++;
                continue;
            }
            world->chosen[kept++] = slot;
            if (!soft) continue;
            s->moved[s->moved_count++] = soft->soft;
            s->moved_points += soft->points;
            sac_soft_step_def own = def;
            for (int k = 0; k < 3; k++) own.gravity[k] *= world->cold[slot].gravity_scale;
            if (late) {
                soft->skipped++;
                sac_soft_fall(soft->soft, &own);
                world->report.rungs[SAC_RUNG_SHAPES]++;
                continue;
            }
            soft->skipped = 0;
            points += soft->points;
            if (world->cold[slot].gravity_scale != 1)
                sac_soft_pull(&soft->soft, 1, &own, world->tasks, NULL);
            else
                s->pulled[n++] = soft->soft;
        }
        if (n) sac_soft_pull(s->pulled, n, &def, world->tasks, NULL);
        world->report.soft_points += points;
        if (late) continue;
        sac_stop_did(&stop, 8 * points);
        late = sac_stop_reached(&stop);
    }
    world->chosen_count = kept;
    sac_tape_close(&world->tape, &stop);
}

/* Contacts of all pairs, within what response and goals leave. */
static void touch(sac_world *world)
{
    sac_softening *s = world->softening;
    const sac_costs *c = &world->costs;
    uint64_t now = sac_world_now(world), limit = soft_deadline(world);
    if (limit != UINT64_MAX) {
        double left = sac_ns_until(limit, now);
        double manifolds = world->agenda->count * c->manifolds_per_pair;
        double contacts = (double)world->soft_points * c->touches_per_point;
        double later =
            sac_world_tail_ns(world, left) +
            sac_predictor_mean_ns(&c->solve, manifolds * world->step_substeps, manifolds) +
            sac_predictor_mean_ns(&c->soften, contacts, contacts) +
            sac_predictor_mean_ns(&c->deform, (double)world->soft_points, (double)world->soft_points);
        limit = now + (uint64_t)fmax(left - later, 0.2 * left);
    }
    sac_stop stop;
    sac_tape_stop(&world->tape, &stop, &world->clock, limit, &world->pace);
    bool late = false;
    for (uint32_t e = 0; e < world->agenda->count; e++) {
        uint32_t pairs = s->front_pairs, bodies = s->body_pairs;
        contacts_of(world, e, late);
        if (late || bodies == s->body_pairs) continue;
        sac_stop_did(&stop, 1000 + 150u * (s->front_pairs - pairs));
        late = sac_stop_reached(&stop);
    }
    sac_tape_close(&world->tape, &stop);
    sac_world_spend(world, 4u * world->agenda->count);
}

void sac_world_pull_soft(sac_world *world)
{
    sac_softening *s = world->softening;
    if (!s) return;
    uint64_t cost = sac_world_cost_now(world);
    s->contact_count = s->pair_count = s->party_count = s->moved_count = 0;
    s->moved_points = 0;
    s->front_pairs = s->body_pairs = 0;
    touch(world);
    uint64_t gathered = sac_world_cost_now(world);
    pull(world);
    world->report.soft_contacts = s->contact_count;
    if (world->tape.replay) return;
    uint64_t end = sac_world_cost_now(world);
    sac_predictor_learn(&world->costs.touch, s->front_pairs, s->body_pairs, (double)(gathered - cost));
    world->costs.deform_pull_ns = (double)(end - gathered);
}

/* ---- after the solver ---- */

static void tell_pairs(sac_world *world)
{
    const sac_softening *s = world->softening;
    for (uint32_t i = 0; i < s->pair_count; i++) {
        const touched_pair *t = &s->pairs[i];
        float impulse = 0, met = 0;
        for (uint32_t k = t->first; k < t->first + t->count; k++) {
            const sac_soft_contact *c = &s->contacts[k];
            impulse += c->impulse;
            if (c->impulse > 0 && c->approach > met) met = c->approach;
        }
        sac_manifold *m = &world->manifolds[t->pair];
        for (uint32_t k = 0; k < m->count; k++) m->points[k].impulse = impulse / (float)m->count;
        world->memory[t->pair].impulse = impulse;
        sac_pair_met(world, t->pair, impulse, impulse, met);
    }
}

/* What contacts changed of rigid bodies is part of this step's motion. */
static void carry_rigid(sac_world *world)
{
    const sac_softening *s = world->softening;
    float dt = world->step_dt;
    for (uint32_t i = 0; i < s->party_count; i++) {
        const sac_soft_party *p = &s->parties[i];
        if (p->soft || p->inverse_mass == 0) continue;
        sac_body_hot *hot = &world->hot[s->party_body[i]];
        float change[3];
        for (int k = 0; k < 3; k++) {
            change[k] = hot->v[k] - s->before[i][k];
            hot->moved[k] += change[k] * dt;
            hot->turned[k] += (hot->w[k] - s->before[i][3 + k]) * dt;
        }
        if (length3(change) > 2 * world->gravity_size * dt + 0.1f) sac_body_startle(world, s->party_body[i]);
    }
}

void sac_world_respond_soft(sac_world *world)
{
    sac_softening *s = world->softening;
    if (!s || s->moved_count == 0) return;
    uint64_t cost = sac_world_cost_now(world), now = sac_world_now(world), limit = soft_deadline(world);
    sac_soft_response_def def = sac_default_soft_response_def();
    sac_costs *c = &world->costs;
    def.dt = world->step_dt;
    def.wholes = true;
    for (uint32_t i = 0; i < s->party_count; i++) {
        memcpy(s->before[i], s->parties[i].v, 3 * sizeof(float));
        memcpy(s->before[i] + 3, s->parties[i].w, 3 * sizeof(float));
    }
    uint32_t rounds = def.rounds;
    if (limit != UINT64_MAX) {
        double left = limit > now ? (double)(limit - now) : 0;
        left -=
            sac_world_tail_ns(world, left) + sac_predictor_mean_ns(&c->deform, 0, (double)s->moved_points);
        double fixed = sac_predictor_mean_ns(&c->soften, s->contact_count, 0);
        while (rounds > 1 && fixed + c->soften.weight[2] * s->contact_count * rounds > left) rounds--;
    }
    def.rounds = sac_tape_choose(&world->tape, rounds, 1, def.rounds);
    sac_soft_grabs_pull(world);
    uint64_t credits = 0;
    if (s->contact_count)
        sac_soft_respond(s->response, s->parties, s->party_count, s->contacts, s->contact_count, &def,
                         &credits, NULL);
    sac_world_spend(world, 20 * credits);
    carry_rigid(world);
    uint64_t responded = sac_world_cost_now(world);
    sac_soft_step_def step = step_of(world);
    sac_soft_move(s->moved, s->moved_count, &step, world->tasks, NULL);
    sac_world_spend(world, 10u * s->moved_points);
    tell_pairs(world);
    world->report.soft_rounds = s->contact_count ? def.rounds : 0;
    world->report.contacts += s->contact_count;
    if (world->tape.replay) return;
    uint64_t end = sac_world_cost_now(world);
    sac_predictor_learn(&c->soften, s->contact_count, (double)s->contact_count * def.rounds,
                        (double)(responded - cost));
    if (s->moved_points)
        sac_predictor_learn(&c->deform, (double)world->report.soft_points, (double)s->moved_points,
                            c->deform_pull_ns + (double)(end - responded));
    if (world->soft_points) {
        double points = (double)world->soft_points;
        c->touches_per_point += 0.1 * (s->contact_count / points - c->touches_per_point);
        c->fronts_per_point += 0.1 * (s->front_pairs / points - c->fronts_per_point);
    }
}
