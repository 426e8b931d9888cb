/* The frame: one call a stage, each timed, each within what is left of the budget. */
#include "runtime/operations_internal.h"

#include <string.h>

sac_step_def sac_default_step_def(void)
{
    return (sac_step_def){.dt = 1.0f / 90, .substeps = 4, .budget_ns = 2000000, .cookie = SAC_COOKIE_STEP};
}

static sac_result check(const sac_step_def *def, sac_error *error)
{
    if (def->cookie != SAC_COOKIE_STEP)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "start from sac_default_step_def()",
                             "the step's definition was not initialised");
    if (!(def->dt >= 0.001f && def->dt <= 0.1f))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "0.001 to 0.1 s; make several steps for longer times",
                             "dt is %g s", (double)def->dt);
    if (def->substeps < 1 || def->substeps > 16)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "1 to 16", "%u sub-steps", def->substeps);
    if (def->viewer) return sac_viewer_check(def->viewer, error);
    return SAC_OK;
}

/* ---- stages ---- */

static uint64_t lap(sac_world *world, sac_stage stage, uint64_t since)
{
    uint64_t now = sac_world_now(world);
    /* A clock that jumps back costs nothing. */
    if (now > since) world->report.stage_ns[stage] += now - since;
    return now;
}

/* Of a budget: what is left free of it at the end. */
static const double MOST_EARLY = 0.12, LEAST_EARLY_NS = 50000;

/* The clock says when to be done; nothing is kept of the frame before. */
static void begin(sac_world *world, const sac_step_def *def)
{
    uint64_t now = sac_world_now(world);
    world->frame++;
    world->step_dt = def->dt;
    sac_world_expect(world, def->dt);
    world->step_substeps = def->substeps;
    world->step_start_ns = now;
    world->step_start_cost = sac_world_cost_now(world);
    /* A budget is one also at the end of the clock's numbers: a replay, which has another clock, knows it. */
    bool limited = def->budget_ns && def->budget_ns < UINT64_MAX;
    uint64_t left = now < UINT64_MAX ? UINT64_MAX - 1 - now : 0;
    uint64_t deadline = !limited ? UINT64_MAX : now + (def->budget_ns < left ? def->budget_ns : left);
    if (def->deadline_ns && def->deadline_ns < deadline) deadline = def->deadline_ns;
    world->step_limit_ns = deadline;
    /* Done a little before: by as much as frames lately went over, and they may have had more time. */
    double budget = deadline > now ? (double)(deadline - now) : 0;
    uint64_t early = (uint64_t)fmin(world->costs.early_ns, MOST_EARLY * budget);
    world->step_deadline_ns = world->exhaustive        ? UINT64_MAX
                              : deadline == UINT64_MAX ? deadline
                              : deadline > now + early ? deadline - early
                                                       : now;
    world->report = (sac_step_report){.frame = world->frame,
                                      .start_ns = now,
                                      .budget_ns = deadline == UINT64_MAX ? 0
                                                   : deadline > now       ? deadline - now
                                                                          : 0};
    world->allocations = 0;
    world->halts = world->looks = 0;
    sac_tape_rewind(&world->tape);
    for (size_t i = 0; i < world->moved.count; i++)
        world->flags[world->moved.data[i]] &= ~(uint32_t)(SAC_BODY_MOVED | SAC_BODY_SLEPT);
    world->moved.count = 0;
    world->move_events_made = false;
    world->contact_events.count = 0;
    for (size_t i = 0; i < world->pending_ends.count; i++)
        sac_array_push(&world->contact_events, world->pending_ends.data[i]);
    world->pending_ends.count = 0;
    world->stepping = true;
    uint64_t eye_now = def->viewer_now_ns ? def->viewer_now_ns : (uint64_t)(world->time * 1e9) + 1u;
    sac_gaze_update(&world->gaze, def->viewer, eye_now, &world->focus);
    world->report.gaze = world->focus.state;
}

/* A kinematic body that was told where to be moves there evenly. */
static void aim_kinematics(sac_world *world)
{
    for (uint32_t i = 0; i < world->awake_count; i++) {
        uint32_t slot = world->awake[i];
        if (!(world->flags[slot] & SAC_BODY_TOLD) || world->cold[slot].kind != SAC_BODY_KINEMATIC) continue;
        sac_body_hot *hot = &world->hot[slot];
        const sac_body_cold *cold = &world->cold[slot];
        const float *p = world->pose[slot].rotation, *q = cold->target_rotation;
        float turn[4] = {q[0] * p[3] - q[3] * p[0] - q[1] * p[2] + q[2] * p[1],
                         q[1] * p[3] - q[3] * p[1] - q[2] * p[0] + q[0] * p[2],
                         q[2] * p[3] - q[3] * p[2] - q[0] * p[1] + q[1] * p[0],
                         q[3] * p[3] + q[0] * p[0] + q[1] * p[1] + q[2] * p[2]};
        float side = turn[3] < 0 ? -2 : 2;
        sac_transform there = {.scale = 1, .rotation = {q[0], q[1], q[2], q[3]}};
        memcpy(there.translation, cold->target_position, sizeof(vec3));
        float centre[3];
        sac_transform_point(&there, cold->local_centre, centre);
        for (int k = 0; k < 3; k++) {
            hot->v[k] = (centre[k] - hot->centre[k]) / world->step_dt;
            hot->w[k] = side * turn[k] / world->step_dt;
        }
        hot->jolt = world->frame;
    }
}

/* As it mostly goes and a little more: contacts, sub-steps and bodies can still be cut when it goes
 * otherwise. */
static double response_reserve(const sac_world *world, uint32_t substeps)
{
    const sac_costs *c = &world->costs;
    double entries = world->agenda->count, manifolds = entries * c->manifolds_per_pair;
    return sac_world_soft_ns(world, substeps < world->step_substeps) +
           1.25 * sac_predictor_mean_ns(&c->contacts, entries, manifolds * c->points_per_manifold) +
           1.1 * sac_predictor_mean_ns(&c->solve, manifolds * substeps, manifolds);
}

/* A point that falls is about as dear as a body that waits; one that moves by itself as some of those. */
enum { MOVED_AS = 6 };
static double finish_load(const sac_world *world)
{
    return (double)world->awake_count + MOVED_AS * (double)world->aloft + sac_soft_points_aloft(world);
}

double sac_world_finish_ns(const sac_world *world)
{
    return sac_predictor_mean_ns(&world->costs.finish, finish_load(world), world->chosen_count);
}

double sac_world_tail_ns(const sac_world *world, double left)
{
    double sweep = 1.3 * world->costs.sweep_ns_per_body * world->chosen_count;
    return 1.15 * sac_world_finish_ns(world) + fmin(sweep, 0.25 * left);
}

/* A body one of whose pairs nobody could look at, and of which nothing is remembered, might run into
 * anything: it waits. */
static void hold_unseen(sac_world *world)
{
    const sac_agenda *agenda = world->agenda;
    uint32_t kept = 0, held = 0;
    world->unseen = 0;
    if (!world->report.descent.interrupted) return;
    for (uint32_t e = 0; e < agenda->count; e++) {
        if (agenda->flags[e] & (SAC_AGENDA_STARTED | SAC_AGENDA_SENSOR)) continue;
        if (agenda->known[e] < FLT_MAX) continue;
        const sac_broad_pair *pair = &world->broad->pairs[agenda->tag[e]];
        for (int k = 0; k < 2; k++) {
            uint32_t slot = k ? pair->b : pair->a;
            if (!(world->flags[slot] & SAC_BODY_CHOSEN) || !sac_body_dynamic(world, slot)) continue;
            if (slot == world->pioneer || world->flags[slot] & SAC_BODY_STRUCK) continue;
            world->flags[slot] &= ~(uint32_t)SAC_BODY_CHOSEN;
            world->clear_until[slot] = 0;
            held++;
        }
    }
    if (!held) return;
    for (uint32_t i = 0; i < world->chosen_count; i++)
        if (world->flags[world->chosen[i]] & SAC_BODY_CHOSEN) world->chosen[kept++] = world->chosen[i];
    world->chosen_count = kept;
    world->report.rungs[SAC_RUNG_BODIES] += held;
    world->unseen = held;
}

/* Until when to descend. Response is reserved first, with fewer sub-steps when it would take more than it
 * leaves; yet a pair nothing is known of gets its first look in any case, because what is not looked at
 * cannot be simulated. */
enum { LEAST_NS = 2000, A_BLOW_NS = 10000 };

static uint64_t descent_limit(sac_world *world)
{
    uint64_t now = sac_world_now(world), deadline = world->step_deadline_ns;
    if (deadline == UINT64_MAX) return UINT64_MAX;
    /* The least: a look at the pairs of one body, and of those in the way of a blow. */
    uint64_t least = LEAST_NS + (uint64_t)world->struck_count * A_BLOW_NS;
    if (deadline <= now || deadline - now < least) return now + least > now ? now + least : now;
    double left = sac_world_left_ns(world, now), keep = 0;
    double tail = sac_world_tail_ns(world, left);
    for (uint32_t s = world->step_substeps; s > 0; s--) {
        keep = response_reserve(world, s) + tail + 0.03 * (double)world->report.budget_ns;
        if (keep <= 0.6 * left) break;
    }
    uint32_t unknown = 0;
    for (uint32_t e = 0; e < world->agenda->count; e++) unknown += world->agenda->known[e] == FLT_MAX;
    double look = sac_predictor_reserve_ns(&world->costs.descend, world->agenda->count,
                                           (double)SAC_LOOK_TESTS * unknown);
    double floor = fmin((world->soft_points ? 0.4 : 0.6) * left, look);
    if (keep > left - floor) keep = left - floor;
    world->report.reserved_ns = (uint64_t)keep;
    return deadline - (uint64_t)keep;
}

static void descend(sac_world *world)
{
    sac_stop stop;
    uint64_t limit = descent_limit(world), cost = sac_world_cost_now(world);
    sac_tape_stop(&world->tape, &stop, &world->clock, limit, &world->pace);
    world->agenda->read_ns = world->costs.read_ns;
    sac_agenda_work(world->agenda, world->policy, &world->def.perception, &world->focus, &stop, world->tasks,
                    &world->report.descent);
    sac_tape_close(&world->tape, &stop);
    if (world->report.reserved_ns) world->report.reserved_ns += stop.kept_ns;
    if (!world->tape.replay)
        sac_predictor_learn(&world->costs.descend, world->agenda->count, (double)world->report.descent.tests,
                            (double)(sac_world_cost_now(world) - cost));
    hold_unseen(world);
    world->pressed = 0;
    if (world->report.descent.interrupted) {
        uint32_t cut = 0;
        for (uint32_t e = 0; e < world->agenda->count; e++) {
            bool open = !(world->agenda->flags[e] & SAC_AGENDA_FINISHED);
            cut += open && world->agenda->jnd[e] >= 1;
            world->pressed += open && world->agenda->jnd[e] > 4;
        }
        world->report.rungs[SAC_RUNG_LEVELS] = cut;
    }
}

/* What the agenda says of each body, for people who look. */
static void tell_bodies(sac_world *world)
{
    const sac_agenda *agenda = world->agenda;
    for (uint32_t i = 0; i < world->chosen_count; i++) {
        uint32_t slot = world->chosen[i];
        world->seen_jnd[slot] = 0;
        world->seen_level[slot] = world->seen_group[slot] = SAC_BODY_ALONE;
    }
    for (uint32_t e = 0; e < agenda->count; e++) {
        const sac_broad_pair *pair = &world->broad->pairs[agenda->tag[e]];
        for (int k = 0; k < 2; k++) {
            uint32_t slot = k ? pair->b : pair->a;
            bool best = agenda->jnd[e] >= world->seen_jnd[slot];
            /* Of those that touch: a level nothing was read at says nothing. */
            if (world->manifolds[agenda->tag[e]].count && (best || world->seen_level[slot] == SAC_BODY_ALONE))
                world->seen_level[slot] = world->memory[agenda->tag[e]].level;
            if (!best) continue;
            world->seen_jnd[slot] = agenda->jnd[e];
            world->seen_group[slot] = world->memory[agenda->tag[e]].group;
        }
    }
    sac_world_spend(world, 6u * agenda->count);
}

/* How much of what prediction allows is really used: less after a miss, slowly more when time is left over.
 */
static void adapt(sac_world *world)
{
    sac_step_report *r = &world->report;
    double *throttle = &world->costs.throttle;
    if (world->step_deadline_ns == UINT64_MAX || r->budget_ns == 0) return;
    double cost = (double)(sac_world_cost_now(world) - world->step_start_cost);
    double used = cost / (double)r->budget_ns;
    /* Soft work comes in large pieces and is harder to foresee: a fifth is kept free for it. */
    if (world->soft_points) used *= 1.25;
    world->costs.whole = world->chosen_count == world->awake_count ? world->chosen_count : 0;
    world->costs.whole_ns = cost;
    /* A core that was stolen says nothing about the work. */
    if ((double)r->spent_ns > 1.1 * cost + 20000) return;
    double budget = (double)r->budget_ns, *early = &world->costs.early_ns, most = MOST_EARLY * budget,
           least = fmax(0.5 * most, fmin(LEAST_EARLY_NS, 0.8 * most));
    *early = fmax(0.998 * *early, least) + fmax(cost - budget, 0);
    if (*early > most) *early = most;
    if (world->unseen)
        *throttle *= world->unseen > 0.05 * world->chosen_count ? 0.8 : 0.93;
    else if (used > 0.98)
        *throttle *= used > 1.02 ? 0.85 : 0.95;
    else if (r->descent.interrupted && r->descent.jnd_p95 > 4 &&
             (!world->soft_count || world->pressed > 0.05 * world->agenda->count))
        *throttle *= 0.9; /* more were taken on than could be looked at */
    else if (r->substeps < world->step_substeps)
        *throttle *= 0.95;
    else if (used < 0.9 && r->rungs[SAC_RUNG_BODIES])
        *throttle *= used < 0.5 && r->rungs[SAC_RUNG_HELD] ? 1.2 : used < 0.8 ? 1.05 : 1.02;
    double *lift = &world->costs.lift;
    *lift = used > 0.97 && world->aloft ? fmax(0.9 * *lift, 0.1) : fmin(1.02 * *lift, 1);
    if (*throttle > 1.5) *throttle = 1.5;
    if (*throttle < 0.05) *throttle = 0.05;
}

/* Of one body, whatever it was said to take: one that is dearer would never be chosen again. */
static const double MOST_SWEEP_NS = 100000;

static void end(sac_world *world)
{
    sac_step_report *r = &world->report;
    uint64_t now = sac_world_now(world);
    world->time += world->step_dt;
    r->spent_ns = now > r->start_ns ? now - r->start_ns : 0;
    r->overshoot_ns = world->step_limit_ns == UINT64_MAX ? 0 : (int64_t)(now - world->step_limit_ns);
    r->returned_ns = r->budget_ns > r->spent_ns ? r->budget_ns - r->spent_ns : 0;
    r->response_ns = r->stage_ns[SAC_STAGE_CONTACTS] + r->stage_ns[SAC_STAGE_SOLVE];
    r->pairs = world->broad->pair_count;
    r->bodies = world->body_count;
    r->awake = world->awake_count;
    world->jammed =
        r->rungs[SAC_RUNG_HELD] > world->awake_count / 8 || r->manifolds > world->chosen_count / 8;
    r->islands = world->awake_count < world->islands ? world->awake_count : world->islands;
    r->simulated = world->chosen_count;
    r->allocations += world->allocations;
    r->credits = world->clock.spent;
    if (!world->tape.replay) adapt(world);
    world->stepping = false;
}

/* Large fronts teach what a pair of them takes, all others what entries and contacts do: of one lesson the
 * two could not be told apart. Quickly up and slowly down, for not all fronts are alike. */
enum { LESSON_PAIRS = 4096 };
static const double LEAST_READ_NS = 0.2, MOST_READ_NS = 50;

static void learn_reading(sac_world *world, double cost, uint64_t bulk)
{
    sac_costs *c = &world->costs;
    double entries = world->agenda->count, contacts = world->report.contacts;
    if (bulk < LESSON_PAIRS) {
        sac_predictor_learn(&c->contacts, entries, contacts,
                            fmax(cost - (double)bulk * c->read_ns, 0.25 * cost));
        return;
    }
    double each = (cost - sac_predictor_mean_ns(&c->contacts, entries, contacts)) / (double)bulk;
    double learned = sac_cost_learned(c->read_ns, each, each > c->read_ns ? 0.5 : 0.05);
    c->read_ns = fmin(fmax(learned, LEAST_READ_NS), MOST_READ_NS);
}

sac_result sac_world_step(sac_world *world, const sac_step_def *def, sac_step_report *out_report,
                          sac_error *error)
{
    SAC_NEED(error, world, def);
    sac_result result = check(def, error);
    if (result == SAC_OK) result = sac_world_fit_eyes(world, def->viewer, error);
    if (result != SAC_OK) return result;
    uint64_t credits = world->clock.spent, cpu = world->recorder ? sac_time_thread_cpu_ns() : 0;
    begin(world, def);
    uint64_t t = world->step_start_ns, refits = sac_soft_refits_of(world);
    aim_kinematics(world);
    sac_world_strike(world);
    sac_world_choose(world);
    t = lap(world, SAC_STAGE_PREPARE, t);
    sac_world_bound(world);
    sac_world_strike_comers(world);
    t = lap(world, SAC_STAGE_BROAD, t);
    sac_world_gather(world);
    world->soft_points = 0;
    for (uint32_t i = 0; world->soft_count && i < world->chosen_count; i++) {
        const sac_soft_slot *soft = sac_soft_of(world, world->chosen[i]);
        world->soft_points += soft ? soft->points : 0;
    }
    t = lap(world, SAC_STAGE_PERCEIVE, t);
    descend(world);
    t = lap(world, SAC_STAGE_DESCEND, t);
    sac_world_shed(world, false);
    double predicted =
        (double)world->agenda->bulk * world->costs.read_ns +
        sac_predictor_mean_ns(&world->costs.contacts, world->agenda->count, 0) +
        sac_predictor_mean_ns(&world->costs.solve,
                              world->agenda->count * world->costs.manifolds_per_pair * def->substeps,
                              world->agenda->count * world->costs.manifolds_per_pair);
    uint64_t cost = sac_world_cost_now(world);
    uint64_t bulk = sac_world_read_contacts(world), contacts_cost = sac_world_cost_now(world) - cost;
    t = lap(world, SAC_STAGE_CONTACTS, t);
    sac_world_shed(world, true);
    sac_world_pull_soft(world);
    sac_world_respond(world, world->step_substeps);
    sac_world_respond_soft(world);
    t = lap(world, SAC_STAGE_SOLVE, t);
    cost = sac_world_cost_now(world);
    sac_world_limit_fast(world);
    uint64_t sweep_cost = sac_world_cost_now(world) - cost;
    t = lap(world, SAC_STAGE_SWEEP, t);
    cost = sac_world_cost_now(world);
    double load = finish_load(world);
    sac_world_finish(world);
    sac_world_rest(world);
    tell_bodies(world);
    sac_world_unpack(world);
    t = lap(world, SAC_STAGE_FINISH, t);
    if (!world->tape.replay) {
        sac_costs *c = &world->costs;
        if (world->chosen_count)
            c->sweep_ns_per_body =
                fmin(sac_cost_learned(c->sweep_ns_per_body, (double)sweep_cost / world->chosen_count, 0.1),
                     MOST_SWEEP_NS);
        learn_reading(world, (double)contacts_cost, bulk);
        sac_predictor_learn(&c->finish, load, world->chosen_count,
                            (double)(sac_world_cost_now(world) - cost));
    }
    double response =
        (double)(world->report.stage_ns[SAC_STAGE_CONTACTS] + world->report.stage_ns[SAC_STAGE_SOLVE]);
    world->report.refits = sac_soft_refits_of(world) - refits;
    world->report.prediction_error = response > 0 ? (float)((response - predicted) / response) : 0;
    end(world);
    world->report.credits -= credits;
    if (out_report) *out_report = world->report;
    if (world->report.not_finite)
        sac_world_log(world, "frame %llu: %u bodies were about to be not finite and were stopped",
                      (unsigned long long)world->report.frame, world->report.not_finite);
    sac_record_frame(world, def, cpu);
    return SAC_OK;
}
