/* The search: ramp the load until it fails, then bisect. An engine that knows no budget is run once for each
 * load and judged by all budgets; ours is run for each budget anew. */
#include "apps/stability.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "apps/console.h"
#include "base/clock.h"

/* Beyond budget and this much CPU time a step has failed whatever the machine did. */
static const uint64_t SURELY_NS = 250000;
enum { RAMP_START = 8, RAMP_FACTOR = 4, FEW = 2 };

typedef struct search {
    sac_stability *stability;
    uint32_t contender, hz, budget;
    uint32_t questions, answered;
    char what[96];
    float within; /* rough part of the present question that is done */
    sac_error *error;
} search;

static bool progress(float done, void *user)
{
    search *s = user;
    float part = s->within + (1 - s->within) * 0.3f * done;
    return sac_console_progress(((float)s->answered + part) / (float)s->questions, s->what);
}

static uint32_t frames_of(const sac_stability_def *def, double hz)
{
    double frames = def->seconds * hz;
    return frames < 10 ? 10 : (uint32_t)lround(frames);
}

static const sac_load *recall(const search *s, uint32_t bodies)
{
    const sac_stability_def *def = s->stability->def;
    for (size_t i = 0; i < s->stability->loads.count; i++) {
        const sac_load *load = &s->stability->loads.data[i];
        if (load->contender == s->contender && load->bodies == bodies && load->hz == def->hz[s->hz] &&
            load->budget_us == def->budget_us[s->budget])
            return load;
    }
    return NULL;
}

static bool keep(search *s, const sac_trial *trial, double budget_us, bool held)
{
    sac_load load = {.contender = s->contender,
                     .bodies = trial->bodies,
                     .frames = trial->frames,
                     .hz = s->stability->def->hz[s->hz],
                     .budget_us = budget_us,
                     .complete = trial->complete,
                     .held = held,
                     .cpu = trial->cpu,
                     .wall = trial->wall,
                     .overlap = trial->overlap,
                     .waiting = trial->waiting};
    for (uint32_t i = 0; i < trial->frames; i++) {
        bool late = trial->wall_us[i] > budget_us;
        load.misses += late;
        load.misses_own += late && trial->cpu_us[i] > budget_us + (double)trial->allowance_ns * 1e-3;
    }
    return sac_array_push(&s->stability->loads, load);
}

static sac_trial_def trial_def(const search *s, uint32_t bodies)
{
    const sac_stability_def *def = s->stability->def;
    const sac_contender *c = &def->contenders[s->contender];
    return (sac_trial_def){.engine = c->engine,
                           .policy = c->policy,
                           .unlimited = c->unlimited,
                           .scene = def->scene,
                           .shape = def->shape,
                           .bodies = bodies,
                           .seed = def->seed,
                           .hz = def->hz[s->hz],
                           .budget_ns = (uint64_t)(def->budget_us[s->budget] * 1e3),
                           .frames = frames_of(def, def->hz[s->hz]),
                           .spin_every = def->spin_every,
                           .progress = progress,
                           .user = (void *)s};
}

/* Runs a load, unless its answer is known. One or two misses must come again in a second run: the same bodies
 * make the same work, so what does not come again was the machine's. */
static sac_result try_load(search *s, uint32_t bodies, sac_load *out_load)
{
    sac_stability *st = s->stability;
    const sac_stability_def *def = st->def;
    const sac_contender *c = &def->contenders[s->contender];
    const sac_load *known = recall(s, bodies);
    if (known) {
        *out_load = *known;
        return SAC_OK;
    }
    snprintf(s->what, sizeof s->what, "%s, %.0f Hz, %.1f ms: %u bodies", c->name, def->hz[s->hz],
             def->budget_us[s->budget] * 1e-3, bodies);
    sac_trial_def t = trial_def(s, bodies);
    double most_budget = def->budget_us[s->budget];
    if (c->unlimited)
        for (uint32_t b = 0; b < def->budget_count; b++) most_budget = fmax(most_budget, def->budget_us[b]);
    t.give_up_ns = (uint64_t)(most_budget * 1e3) + SURELY_NS;
    sac_result result = SAC_OK;
    for (int attempt = 0; attempt < 2 && result == SAC_OK; attempt++) {
        sac_trial trial;
        result = sac_trial_run(&t, &st->floor, &trial, s->error);
        if (result != SAC_OK) break;
        if (attempt == 1 || !trial.complete || trial.misses_own == 0 || trial.misses_own > FEW) {
            bool room = true;
            for (uint32_t b = 0; b < def->budget_count; b++)
                if (c->unlimited || b == s->budget)
                    room &= keep(s, &trial, def->budget_us[b],
                                 sac_trial_held(&trial, (uint64_t)(def->budget_us[b] * 1e3)));
            if (!room) result = sac_error_set(s->error, SAC_ERROR_MEMORY, NULL, "no memory for the trials");
            attempt = 2;
        }
        sac_trial_fini(&trial);
    }
    if (result == SAC_OK && (known = recall(s, bodies))) *out_load = *known;
    return result;
}

static sac_result answer(search *s)
{
    sac_stability *st = s->stability;
    const sac_stability_def *def = st->def;
    sac_held held = {.contender = s->contender, .hz = def->hz[s->hz], .budget_us = def->budget_us[s->budget]};
    sac_load load = {0};
    uint32_t n = def->most < RAMP_START ? def->most : RAMP_START;
    sac_result result = SAC_OK;
    s->within = 0;
    for (;;) {
        result = try_load(s, n, &load);
        if (result != SAC_OK) return result;
        s->within += (1 - s->within) * 0.25f;
        if (load.held) {
            held.bodies = n, held.cpu = load.cpu, held.wall = load.wall;
            held.misses_machine = load.misses - load.misses_own;
            held.overlap = load.overlap;
            held.waiting = load.waiting;
        } else {
            held.fails_at = n;
        }
        uint32_t low = held.bodies, high = held.fails_at;
        if (!high) {
            if (low >= def->most) break;
            n = low > def->most / RAMP_FACTOR ? def->most : low * RAMP_FACTOR;
            continue;
        }
        if (high <= low + 1 || (low && (double)high / low <= 1 + def->precision)) break;
        n = low ? (uint32_t)lround(sqrt((double)low * high)) : high / 2;
        if (n <= low) n = low + 1;
        if (n >= high) n = high - 1;
    }
    s->answered++;
    if (!sac_array_push(&st->held, held))
        return sac_error_set(s->error, SAC_ERROR_MEMORY, NULL, "no memory for the answers");
    return SAC_OK;
}

/* Where all are compared: at the rate nearest to 90, with the tightest budget. */
static void choose_same_rate(sac_stability *st)
{
    const sac_stability_def *def = st->def;
    uint32_t hz = 0, budget = 0;
    for (uint32_t i = 1; i < def->hz_count; i++)
        if (fabs(def->hz[i] - 90) < fabs(def->hz[hz] - 90)) hz = i;
    for (uint32_t i = 1; i < def->budget_count; i++)
        if (def->budget_us[i] < def->budget_us[budget]) budget = i;
    st->same_hz = def->hz[hz], st->same_budget_us = def->budget_us[budget];
}

/* The load for all: as much as ours holds there. */
static void choose_same_load(sac_stability *st)
{
    const sac_stability_def *def = st->def;
    uint32_t ours = 0, others = 0;
    for (uint32_t c = 0; c < def->contender_count; c++) {
        const sac_held *held = sac_stability_held(st, c, st->same_hz, st->same_budget_us);
        uint32_t *most = def->contenders[c].policy ? &ours : &others;
        if (held && held->bodies > *most) *most = held->bodies;
    }
    /* Twice what others hold shows what a load too large does to them. */
    uint32_t n = ours > 2 * others ? ours : 2 * others;
    if (n > def->most_same) n = def->most_same;
    st->same_bodies = n ? n : 1;
}

static sac_result run_same_load(search *s)
{
    sac_stability *st = s->stability;
    const sac_stability_def *def = st->def;
    choose_same_load(st);
    for (s->hz = 0; def->hz[s->hz] != st->same_hz;) s->hz++;
    for (s->budget = 0; def->budget_us[s->budget] != st->same_budget_us;) s->budget++;
    for (uint32_t c = 0; c < def->contender_count; c++) {
        s->contender = c;
        snprintf(s->what, sizeof s->what, "%s, the same %u bodies for all", def->contenders[c].name,
                 st->same_bodies);
        s->within = (float)c / (float)def->contender_count;
        sac_trial_def t = trial_def(s, st->same_bodies);
        sac_result result = sac_trial_run(&t, &st->floor, &st->same[c], s->error);
        if (result != SAC_OK) return result;
        st->same_count = c + 1;
    }
    return SAC_OK;
}

sac_result sac_stability_search(sac_stability *stability, sac_error *error)
{
    const sac_stability_def *def = stability->def;
    uint64_t start = sac_time_now_ns();
    search s = {.stability = stability, .error = error};
    choose_same_rate(stability);
    s.questions = def->contender_count * def->hz_count * def->budget_count + 1;
    sac_result result = SAC_OK;
    for (s.hz = 0; s.hz < def->hz_count; s.hz++)
        for (s.contender = 0; s.contender < def->contender_count; s.contender++)
            for (s.budget = 0; s.budget < def->budget_count && result == SAC_OK; s.budget++)
                result = answer(&s);
    if (result == SAC_OK) result = run_same_load(&s);
    sac_console_progress_end();
    stability->seconds = (double)(sac_time_now_ns() - start) * 1e-9;
    return result;
}

const sac_held *sac_stability_held(const sac_stability *stability, uint32_t contender, double hz,
                                   double budget_us)
{
    for (size_t i = 0; i < stability->held.count; i++) {
        const sac_held *h = &stability->held.data[i];
        if (h->contender == contender && h->hz == hz && h->budget_us == budget_us) return h;
    }
    return NULL;
}

void sac_stability_fini(sac_stability *stability)
{
    for (uint32_t i = 0; i < stability->same_count; i++) sac_trial_fini(&stability->same[i]);
    stability->same_count = 0;
    sac_array_fini(&stability->held);
    sac_array_fini(&stability->loads);
    sac_noise_floor_fini(&stability->floor);
}
