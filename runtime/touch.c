/* Contacts: a pair that was refined this frame is read from its front, any other from memory, in today's
 * poses. */
#include "base/simd.h"
#include "runtime/world_internal.h"

#include <string.h>

/* Of the thinner one's thickness: deeper no motion brings two before they are looked at. */
static const float INSIDE = 0.25f;
/* The stop is asked between chunks, whatever the number of threads: after so many entries, or when their
 * fronts have so many pairs. */
enum { CHUNK = 64, CHUNK_PAIRS = 16384, AHEAD = 3, FAR_AHEAD = 8 };
/* Contacts of a pair when time is short: two still keep it from turning into the other. */
enum { FEWER = 2 };

typedef struct reading {
    sac_world *world;
    uint32_t first, most; /* entries from `first` on, contacts a pair */
    uint64_t credits[64]; /* of each worker */
    uint32_t cut[64];     /* pairs with fewer contacts than they had */
    uint32_t flips[64];
} reading;

/* Probability that a node's sphere is crossed by its surface where it is touched: the part of it the object
 * fills. */
static float crossing(const sac_form *form, uint32_t node)
{
    if (form->kind != SAC_FORM_TREE || form->live) return 1;
    uint32_t block = node / SAC_LANES, lane = node % SAC_LANES;
    if (block >= form->tree->block_count) return 1;
    float r = form->tree->spheres[block].r[lane], gap = form->tree->features[block].gap[lane];
    return r > 0 && gap < r ? 1 - gap / r : 0;
}

static uint32_t by_chance(const sac_world *world, const sac_meeting *m, sac_contact *contacts, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        sac_contact *c = &contacts[i];
        float scale = c->uncertainty > 0 ? c->uncertainty : world->def.margin;
        float p = c->depth > 0 ? (c->depth < scale ? c->depth / scale : 1) : 0;
        if (sac_chance_collides(crossing(m->a, c->node_a), crossing(m->b, c->node_b), p, world->def.seed,
                                world->frame, c->node_a, c->node_b))
            contacts[kept++] = *c;
    }
    return kept;
}

static bool is_exact(const sac_form *form) { return form->kind != SAC_FORM_TREE; }

/* The same nodes as before, where they are now. Two exact forms have none and answer at once: what they touch
 * with has other names as soon as a ball rolls onto the next triangle or a box onto another edge. */
static uint32_t refresh(const sac_meeting *meeting, const sac_manifold *m, sac_contact *out)
{
    uint32_t a[SAC_MANIFOLD_POINTS], b[SAC_MANIFOLD_POINTS];
    if (is_exact(meeting->a) && is_exact(meeting->b))
        return sac_meeting_contacts(meeting, NULL, NULL, SAC_CONTACT_MOST, out, NULL);
    for (uint32_t k = 0; k < m->count; k++) a[k] = m->points[k].node_a, b[k] = m->points[k].node_b;
    return sac_meeting_refresh_all(meeting, &(sac_pairs){a, b, m->count, m->count}, out);
}

static void read_entry(reading *job, uint32_t e, uint32_t most, uint32_t worker)
{
    sac_world *world = job->world;
    const sac_agenda *agenda = world->agenda;
    uint32_t p = agenda->tag[e];
    const sac_broad_pair *pair = &world->broad->pairs[p];
    /* Both were given up since the pair was put on the agenda. */
    if (!((world->flags[pair->a] | world->flags[pair->b]) & SAC_BODY_CHOSEN)) return;
    sac_pair_memory *memory = &world->memory[p];
    sac_pair_watch *watch = &world->watch[p];
    sac_manifold *m = &world->manifolds[p];
    uint8_t flags = agenda->flags[e];
    double travel = world->hot[pair->a].travel + world->hot[pair->b].travel;
    sac_contact contacts[SAC_CONTACT_MOST];
    uint32_t count = 0;
    uint64_t tests = 20;
    bool fresh = sac_agenda_renews(agenda, e, m->count, memory->level);
    memory->jnd = agenda->jnd[e];
    memory->group = agenda->group[e];
    memory->priority = agenda->priority[e];
    if (flags & SAC_AGENDA_EMPTY) {
        m->count = 0;
        watch->apart = true;
        memory->known = true;
        memory->uncertainty = 0;
        watch->margin = agenda->margin[e];
        watch->travel = travel;
        memory->refined = world->frame;
        memory->depth = -FLT_MAX;
        job->credits[worker] += tests;
        return;
    }
    if ((world->flags[pair->a] | world->flags[pair->b]) & SAC_BODY_SOFT) {
        /* Its contacts are made by soften.c, which tells the manifold. */
        if (fresh) {
            if (memory->known && m->count && agenda->level[e] != memory->level) job->flips[worker]++;
            memory->level = agenda->level[e];
            memory->known = true;
            memory->uncertainty = agenda->uncertainty[e];
            watch->margin = agenda->margin[e];
            watch->travel = travel;
            memory->refined = world->frame;
        }
        job->credits[worker] += tests;
        return;
    }
    bool first = fresh && !memory->refined, touched = m->count > 0;
    if (fresh) {
        sac_pairs pending, done;
        sac_agenda_front(agenda, e, &pending, &done);
        count = sac_meeting_contacts(&agenda->meetings[e], &pending, &done, most, contacts, &tests);
        bool cut = most < SAC_CONTACT_MOST && pending.count + done.count > most;
        if (cut) job->cut[worker]++;
        uint8_t level = agenda->level[e];
        if (memory->known && m->count && level != memory->level) job->flips[worker]++;
        memory->level = level;
        /* Of what was cut nothing is known but that it is there: next time it is looked at again. */
        memory->known = !cut;
        memory->uncertainty = agenda->uncertainty[e];
        watch->margin = agenda->margin[e];
        watch->travel = travel;
        memory->refined = world->frame;
    } else if (m->count) {
        sac_meeting meeting;
        uint32_t a[1 + SAC_PAIRS_SLACK], b[1 + SAC_PAIRS_SLACK];
        sac_pairs root = {a, b, 0, 1};
        if (flags & SAC_AGENDA_STARTED)
            count = refresh(&agenda->meetings[e], m, contacts);
        else if (sac_meeting_begin(&meeting, agenda->form_a[e], agenda->pose_a[e], agenda->form_b[e],
                                   agenda->pose_b[e], agenda->margin[e], &root))
            count = refresh(&meeting, m, contacts);
        tests += 60 + 40u * m->count;
    }
    if (world->def.chance && count) {
        sac_meeting view = {.a = agenda->form_a[e], .b = agenda->form_b[e]};
        count = by_chance(world, &view, contacts, count);
    }
    float reach = world->hot[pair->a].radius < world->hot[pair->b].radius ? world->hot[pair->a].radius
                                                                          : world->hot[pair->b].radius;
    sac_manifold_merge(m, contacts, count, agenda->pose_a[e], agenda->pose_b[e], world->def.gap_bias,
                       0.5f * reach / agenda->pose_a[e]->scale);
    /* Contacts that are gone are apart by what counts now, which may be much less than when they were found.
     */
    if (!fresh && touched && m->count == 0)
        watch->margin = fminf(watch->margin, (float)(travel - watch->travel) + agenda->margin[e]);
    watch->apart = memory->known && m->count == 0;
    m->level = memory->level;
    m->uncertainty = memory->uncertainty;
    memory->depth = -FLT_MAX;
    if (count) {
        float sum[3] = {0, 0, 0};
        uint32_t deepest = 0;
        for (uint32_t k = 0; k < count; k++) {
            for (int i = 0; i < 3; i++) sum[i] += contacts[k].point[i];
            if (m->points[k].depth > memory->depth) memory->depth = m->points[deepest = k].depth;
        }
        for (int i = 0; i < 3; i++) memory->region[i] = sum[i] / (float)count;
        if (fresh) {
            memcpy(memory->point_a, m->points[deepest].local_a, sizeof memory->point_a);
            memcpy(memory->point_b, m->points[deepest].local_b, sizeof memory->point_b);
        }
    }
    float thin = fminf(world->hot[pair->a].thickness, world->hot[pair->b].thickness);
    memory->inside = first ? memory->depth > INSIDE * thin : memory->inside && memory->depth > 0;
    job->credits[worker] += tests;
}

static void read_range(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
    reading *job = context;
    sac_world *world = job->world;
    const uint32_t *tag = world->agenda->tag, count = world->agenda->count;
    for (uint32_t i = first; i < last; i++) {
        uint32_t e = job->first + i;
        if (e + FAR_AHEAD < count) {
            sac_prefetch((uintptr_t)&world->broad->pairs[tag[e + FAR_AHEAD]]);
            sac_prefetch((uintptr_t)&world->watch[tag[e + FAR_AHEAD]]);
        }
        if (e + AHEAD < count) {
            /* Memory of pairs lies where their numbers put it. */
            const sac_broad_pair *pair = &world->broad->pairs[tag[e + AHEAD]];
            sac_prefetch((uintptr_t)&world->hot[pair->a]);
            sac_prefetch((uintptr_t)&world->hot[pair->b]);
            uintptr_t manifold = (uintptr_t)&world->manifolds[tag[e + AHEAD]];
            for (uintptr_t at = 0; at < sizeof(sac_manifold); at += SAC_CACHE_LINE)
                sac_prefetch(manifold + at);
            sac_prefetch((uintptr_t)&world->memory[tag[e + AHEAD]]);
        }
        read_entry(job, e, job->most, worker);
    }
}

/* Entries from `at` on were not read: who they belong to waits, but for those that go whatever the time, with
 * the contacts they had. */
static void leave_unread(sac_world *world, uint32_t at)
{
    const sac_agenda *agenda = world->agenda;
    for (uint32_t e = at; e < agenda->count; e++) {
        const sac_broad_pair *pair = &world->broad->pairs[agenda->tag[e]];
        sac_body_defer(world, pair->a);
        sac_body_defer(world, pair->b);
    }
    uint32_t before = world->chosen_count;
    sac_world_forget_deferred(world);
    world->unseen += before - world->chosen_count;
}

static uint32_t next_chunk(const sac_agenda *agenda, uint32_t at, uint64_t *bulk)
{
    uint64_t pairs = 0;
    uint32_t n = 0;
    while (n < CHUNK && at + n < agenda->count && pairs < CHUNK_PAIRS) {
        uint64_t front = (uint64_t)agenda->pending[at + n] + agenda->done[at + n];
        *bulk += sac_agenda_bulk_of(front);
        pairs += front;
        n++;
    }
    return n;
}

uint64_t sac_world_read_contacts(sac_world *world)
{
    uint32_t entries = world->agenda->count, at = 0;
    uint64_t start = sac_world_now(world), limit = world->step_deadline_ns, end = limit, bulk = 0;
    reading job = {.world = world, .most = SAC_CONTACT_MOST};
    if (limit != UINT64_MAX) {
        /* When reading would take what the solver needs, the rest of the pairs get fewer contacts; when it
         * would take what one sub-step needs, none. */
        double left = sac_ns_until(limit, start), tail = sac_world_tail_ns(world, left);
        double manifolds = entries * world->costs.manifolds_per_pair;
        double two = sac_predictor_mean_ns(&world->costs.solve, 2 * manifolds, manifolds),
               one = sac_predictor_mean_ns(&world->costs.solve, manifolds, manifolds);
        limit = start + (uint64_t)fmax(left - tail - two, 0.4 * left);
        end = start + (uint64_t)fmax(left - tail - one, 0.5 * left);
    }
    sac_stop stop, last;
    sac_tape_stop(&world->tape, &stop, &world->clock, limit, &world->pace);
    sac_tape_stop(&world->tape, &last, &world->clock, end, &world->pace);
    while (at < entries && !(at > 0 && sac_stop_reached(&last))) {
        if (job.most == SAC_CONTACT_MOST && sac_stop_reached(&stop)) job.most = FEWER;
        uint32_t n = next_chunk(world->agenda, at, &bulk);
        uint64_t before = 0, after = 0;
        for (uint32_t w = 0; w < 64; w++) before += job.credits[w];
        job.first = at;
        sac_tasks_for(world->tasks, n, CHUNK / 4, read_range, &job);
        for (uint32_t w = 0; w < 64; w++) after += job.credits[w];
        if (job.most == SAC_CONTACT_MOST) sac_stop_saw(&stop, 4 * (after - before));
        sac_stop_did(&last, 4 * (after - before));
        at += n;
    }
    sac_tape_close(&world->tape, &stop);
    sac_tape_close(&world->tape, &last);
    if (at < entries) leave_unread(world, at);
    for (uint32_t w = 0; w < 64; w++) {
        world->report.rungs[SAC_RUNG_CONTACTS] += job.cut[w];
        world->report.flips += job.flips[w];
    }
    return bulk;
}
