#include "apps/show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "apps/scene_file.h"
#include "apps/show_internal.h"
#include "base/parallel.h"

sac_show_def sac_default_show_def(void)
{
    return (sac_show_def){
        .policy = "jnd", .budget_ns = 2000000, .hz = 90, .substeps = 4, .threads = 1, .seed = 1};
}

sac_result sac_show_no_memory(sac_error *error)
{
    return sac_error_set(error, SAC_ERROR_MEMORY, "fewer bodies", "no memory for the show");
}

/* ---- opening ---- */

static sac_result stage(const sac_show_def *def, sac_staging *out, sac_error *error)
{
    if (!def->scene) return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "a show without a scene");
    if (!strchr(def->scene, '.') && !strchr(def->scene, '/'))
        return sac_staging_builtin(out, def->scene, &def->staging, error);
    if (def->staging.bodies || def->staging.shape)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "edit the file",
                             "how many bodies of which shape %.200s has is for the file to say", def->scene);
    return sac_scene_file_read(out, def->scene, error);
}

static sac_result make_world(sac_show *show, sac_show_world *w, bool record, sac_error *error)
{
    enum { SPARE = 64 }; /* hands, and a few more let in */
    sac_world_def def = sac_default_world_def();
    uint32_t bodies = w->staging.most_bodies + (uint32_t)w->extras.count + SPARE;
    if (bodies > def.bodies) def.bodies = bodies;
    if (show->def.credits) def.clock = sac_clock_credits(500);
    def.policy = w->policy;
    def.tasks.threads = show->def.threads;
    def.seed = show->def.seed;
    memcpy(def.gravity, w->staging.gravity, sizeof def.gravity);
    sac_result result = sac_world_create(&def, &w->world, error);
    if (result == SAC_OK && record) result = sac_record_start(w->world, show->def.record, error);
    if (result == SAC_OK) result = sac_staging_raise(&w->staging, w->world, error);
    return result;
}

static sac_result open_world(sac_show *show, uint32_t index, sac_error *error)
{
    sac_show_world *w = &show->worlds[index];
    const char *policy = w->staging.policies[index] ? w->staging.policies[index] : show->def.policy;
    snprintf(w->policy, sizeof w->policy, "%s", policy);
    if (show->world_count > 1) w->origin[0] = ((float)index - 0.5f) * w->staging.apart;
    sac_insight_init(&w->insight);
    /* Baking gives the same trees on any number of threads, and nobody else is at work yet. */
    sac_result result = sac_staging_open(&w->staging, sac_parallel_cpus(), error);
    if (result == SAC_OK) result = make_world(show, w, index == 0 && show->def.record, error);
    w->insight.levels = 1;
    for (size_t i = 0; result == SAC_OK && i < w->staging.props.count; i++)
        if (w->staging.props.data[i].form.levels > w->insight.levels)
            w->insight.levels = w->staging.props.data[i].form.levels;
    return result;
}

static sac_result open_all(sac_show *show, sac_error *error)
{
    sac_result result = stage(&show->def, &show->worlds[0].staging, error);
    if (result != SAC_OK) return result;
    show->world_count = 1;
    if (show->worlds[0].staging.policies[1]) {
        result = stage(&show->def, &show->worlds[1].staging, error);
        if (result != SAC_OK) return result;
        show->world_count = 2;
        show->def.hands = false;
    }
    for (uint32_t i = 0; i < show->world_count && result == SAC_OK; i++) result = open_world(show, i, error);
    if (result == SAC_OK) result = sac_show_fill_gallery(show, error);
    for (uint32_t i = 0; i < show->world_count && result == SAC_OK; i++)
        result = sac_show_enter_all(show, &show->worlds[i], error);
    if (result == SAC_OK && show->def.hands) {
        result = sac_hands_init(&show->hands, show->worlds[0].world, error);
        show->has_hands = result == SAC_OK;
    }
    sac_ticker_init(&show->ticker, 1 / show->def.hz);
    show->viewer = sac_staging_viewer(&show->worlds[0].staging);
    return result;
}

sac_result sac_show_open(const sac_show_def *def, sac_show **out_show, sac_error *error)
{
    *out_show = NULL;
    sac_show *show = sac_alloc_zero(1, sizeof *show);
    if (!show) return sac_show_no_memory(error);
    show->def = *def;
    sac_result result = open_all(show, error);
    if (result != SAC_OK)
        sac_show_close(&show);
    else
        *out_show = show;
    return result;
}

void sac_show_close(sac_show **pointer)
{
    sac_show *show = pointer ? *pointer : NULL;
    if (!show) return;
    if (show->has_hands) sac_hands_fini(&show->hands, show->worlds[0].world);
    for (uint32_t i = 0; i < show->world_count; i++) {
        sac_show_world *w = &show->worlds[i];
        if (i == 0 && show->def.record && w->world) sac_record_stop(w->world, NULL);
        sac_world_destroy(&w->world);
        sac_staging_fini(&w->staging);
        sac_array_fini(&w->slots);
        sac_array_fini(&w->extras);
        sac_insight_fini(&w->insight);
        sac_canvas_fini(&w->strip);
        sac_canvas_fini(&w->label);
    }
    sac_gallery_destroy(&show->gallery);
    sac_array_fini(&show->models);
    sac_array_fini(&show->instances);
    sac_array_fini(&show->skinned);
    for (int i = 0; i < 2; i++) sac_array_fini(&show->joints[i]);
    sac_array_fini(&show->lines);
    sac_array_fini(&show->balls);
    sac_canvas_fini(&show->legend);
    sac_free(show, 1, sizeof *show);
    *pointer = NULL;
}

sac_result sac_show_restart(sac_show *show, sac_error *error)
{
    sac_result result = SAC_OK;
    if (show->has_hands) sac_hands_fini(&show->hands, show->worlds[0].world);
    show->has_hands = false;
    for (uint32_t i = 0; i < show->world_count && result == SAC_OK; i++) {
        sac_show_world *w = &show->worlds[i];
        if (i == 0 && show->def.record) {
            result = sac_record_stop(w->world, error);
            show->def.record = NULL; /* one recording is of one world */
        }
        sac_world_destroy(&w->world);
        w->extras.count = w->slots.count = 0;
        if (result == SAC_OK) result = make_world(show, w, false, error);
        if (result == SAC_OK) result = sac_show_enter_all(show, w, error);
    }
    if (result == SAC_OK && show->def.hands) {
        result = sac_hands_init(&show->hands, show->worlds[0].world, error);
        show->has_hands = result == SAC_OK;
    }
    show->steps = 0;
    return result;
}

/* ---- stepping ---- */

/* What is left until the deadline is shared evenly by the steps that are to come; a step that returns time
 * leaves more to the next. */
static sac_result step_world(sac_show *show, sac_show_world *w, uint64_t deadline_ns, uint32_t to_come,
                             sac_error *error)
{
    sac_step_def step = sac_default_step_def();
    sac_step_report *report = &show->stats.report[w - show->worlds];
    sac_viewer viewer = show->viewer;
    bool hands = show->has_hands && w == show->worlds;
    for (uint32_t i = 0; i < viewer.eye_count; i++)
        for (int k = 0; k < 3; k++) viewer.eyes[i].position[k] -= w->origin[k];
    for (int k = 0; k < 3; k++) viewer.gaze.origin[k] -= w->origin[k];
    step.dt = (float)(1 / show->def.hz);
    step.substeps = show->def.substeps;
    step.budget_ns = show->def.budget_ns;
    step.viewer_now_ns = show->now_ns;

    if (hands) {
        sac_result held = sac_hands_update(&show->hands, w->world, show->hand_input, step.dt, error);
        if (held != SAC_OK) return held;
        sac_hands_viewer(&show->hands, &viewer);
    }
    step.viewer = viewer.eye_count ? &viewer : NULL;
    uint64_t cpu = sac_time_thread_cpu_ns(), start = sac_time_now_ns();
    sac_result result = sac_staging_cue(&w->staging, w->world, show->steps, show->def.hz, error);
    if (deadline_ns && !show->def.credits) {
        uint64_t now = sac_time_now_ns();
        step.deadline_ns = now + (deadline_ns > now ? (deadline_ns - now) / to_come : 0);
    }
    if (result == SAC_OK) result = sac_world_step(w->world, &step, report, error);
    show->stats.physics_ns += sac_time_now_ns() - start;
    show->own_ns -= sac_time_thread_cpu_ns() - cpu; /* the caller counts all, steps are none of ours */
    if (result != SAC_OK) return result;
    show->stats.allocations += report->allocations;
    sac_insight_note(&w->insight, report);
    if (hands) sac_hands_feel(&show->hands, w->world);
    return SAC_OK;
}

static sac_result step_all(sac_show *show, uint32_t steps, uint64_t deadline_ns, sac_error *error)
{
    sac_result result = SAC_OK;
    float pulse[SAC_HANDS] = {0};
    uint32_t to_come = steps * show->world_count;
    uint64_t cpu = sac_time_thread_cpu_ns();
    show->stats.physics_ns = show->stats.allocations = 0;
    show->stats.frame_steps = steps;
    show->own_ns = 0;
    for (uint32_t s = 0; s < steps && result == SAC_OK; s++) {
        for (uint32_t i = 0; i < show->world_count && result == SAC_OK; i++)
            result = step_world(show, &show->worlds[i], deadline_ns, to_come--, error);
        if (result != SAC_OK) break;
        show->steps++, show->stats.steps++;
        sac_show_soft_turn(show);
        for (uint32_t i = 0; i < show->world_count && result == SAC_OK; i++)
            result = sac_show_follow(show, &show->worlds[i], error);
        for (int h = 0; h < SAC_HANDS && show->has_hands; h++)
            pulse[h] = fmaxf(pulse[h], show->hands.hand[h].pulse);
    }
    if (show->has_hands)
        for (int h = 0; h < SAC_HANDS; h++) show->hands.hand[h].pulse = pulse[h];
    show->own_ns += sac_time_thread_cpu_ns() - cpu;
    return result;
}

sac_result sac_show_advance(sac_show *show, const sac_show_frame *frame, sac_error *error)
{
    show->viewer = frame->viewer;
    show->now_ns = frame->now_ns ? frame->now_ns : frame->display_ns > 0 ? (uint64_t)frame->display_ns : 0;
    memcpy(show->hand_input, frame->hands, sizeof show->hand_input);
    /* Several steps see the same sample; throws must not take it for a hand that stands still. */
    for (int h = 0; h < SAC_HANDS; h++)
        if (!show->hand_input[h].time_ns) show->hand_input[h].time_ns = frame->display_ns;
    for (uint32_t i = 0; i < show->world_count; i++) show->worlds[i].insight.missed += frame->missed;
    uint32_t steps = sac_ticker_advance(&show->ticker, frame->display_ns, &show->alpha);
    show->stats.frames++;
    return step_all(show, steps, frame->deadline_ns, error);
}

sac_result sac_show_step(sac_show *show, sac_error *error)
{
    show->alpha = 1;
    return step_all(show, 1, 0, error);
}

/* ---- changing it ---- */

/* Somebody of the scene to take as a pattern. */
static bool pattern(const sac_staging *s, uint32_t index, uint32_t *out_prop, sac_body_def *out_def)
{
    uint32_t dynamic = 0;
    for (size_t i = 0; i < s->actors.count; i++)
        dynamic += s->actors.data[i].def.kind == SAC_BODY_DYNAMIC && !s->actors.data[i].later;
    if (!dynamic) return false;
    index %= dynamic;
    for (size_t i = 0; i < s->actors.count; i++) {
        const sac_actor *actor = &s->actors.data[i];
        if (actor->def.kind != SAC_BODY_DYNAMIC || actor->later || index--) continue;
        *out_prop = actor->prop, *out_def = actor->def;
        return true;
    }
    return false;
}

/* In layers over what is looked at, so far apart that no two touch. */
static bool let_in(sac_show_world *w)
{
    enum { SIDE = 6 };
    const sac_staging *s = &w->staging;
    uint32_t n = (uint32_t)w->extras.count, prop;
    sac_body_def def;
    sac_body_id id;
    if (!pattern(s, n * 7 + 3, &prop, &def)) return false;
    const sac_prop *p = &s->props.data[prop];
    float apart = 2.2f * (p->form.ball[3] + fabsf(p->form.ball[1])) * def.scale;
    apart = fmaxf(apart, 0.1f);
    def.position[0] = s->target[0] + ((float)(n % SIDE) - 0.5f * (SIDE - 1)) * apart;
    def.position[2] = s->target[2] + ((float)(n / SIDE % SIDE) - 0.5f * (SIDE - 1)) * apart;
    def.position[1] = fmaxf(s->target[1], 0) + 2 + apart * (float)(n / (SIDE * SIDE) % 16);
    memset(def.velocity, 0, sizeof def.velocity);
    def.shape = p->id;
    def.user = s->actors.count + s->script_most + n + 1;
    if (!sac_array_reserve(&w->extras, n + 1) || sac_body_create(w->world, &def, &id, NULL) != SAC_OK)
        return false;
    w->extras.data[w->extras.count++] = id;
    return true;
}

static bool let_out(sac_show_world *w)
{
    sac_staging *s = &w->staging;
    while (w->extras.count) {
        sac_body_id id = w->extras.data[--w->extras.count];
        if (sac_body_destroy(w->world, id, NULL) == SAC_OK) return true;
    }
    for (size_t i = s->actors.count; i-- > 0;)
        if (s->actors.data[i].def.kind == SAC_BODY_DYNAMIC &&
            sac_body_destroy(w->world, s->actors.data[i].id, NULL) == SAC_OK)
            return true;
    return false;
}

int32_t sac_show_load(sac_show *show, int32_t bodies)
{
    int32_t changed = 0, most = 0;
    for (uint32_t i = 0; i < show->world_count; i++) {
        sac_show_world *w = &show->worlds[i];
        sac_staging *s = &w->staging;
        changed = 0;
        if (s->script_crowd) {
            /* The script lets in and out by itself. */
            int64_t want = (int64_t)s->script_crowd + bodies;
            want = want < 10 ? 10 : want > s->script_most ? s->script_most : want;
            changed = (int32_t)(want - s->script_crowd);
            s->script_crowd = (uint32_t)want;
        }
        for (; !s->script_crowd && changed < bodies; changed++)
            if (!let_in(w)) break;
        for (; !s->script_crowd && changed > bodies; changed--)
            if (!let_out(w)) break;
        sac_show_enter_all(show, w, NULL);
        most = i == 0 || changed > most ? changed : most;
    }
    return most;
}

sac_result sac_show_set_policy(sac_show *show, const char *policy, sac_error *error)
{
    sac_show_world *w = &show->worlds[show->world_count - 1];
    sac_result result = sac_world_set_policy(w->world, policy, error);
    if (result == SAC_OK) snprintf(w->policy, sizeof w->policy, "%s", policy);
    return result;
}

void sac_show_set_budget(sac_show *show, uint64_t budget_ns) { show->def.budget_ns = budget_ns; }
uint64_t sac_show_budget(const sac_show *show) { return show->def.budget_ns; }
const sac_gallery *sac_show_gallery(const sac_show *show) { return show->gallery; }
sac_insight *sac_show_insight(sac_show *show) { return &show->worlds[0].insight; }
const sac_hands *sac_show_hands(const sac_show *show) { return show->has_hands ? &show->hands : NULL; }
uint32_t sac_show_worlds(const sac_show *show) { return show->world_count; }
const sac_staging *sac_show_staging(const sac_show *show) { return &show->worlds[0].staging; }
sac_ticker *sac_show_ticker(sac_show *show) { return &show->ticker; }
sac_viewer sac_show_viewer(const sac_show *show) { return sac_staging_viewer(&show->worlds[0].staging); }
void sac_show_stats_get(const sac_show *show, sac_show_stats *out_stats) { *out_stats = show->stats; }

const sac_world *sac_show_world_at(const sac_show *show, uint32_t index)
{
    return index < show->world_count ? show->worlds[index].world : NULL;
}

const char *sac_show_policy(const sac_show *show, uint32_t world)
{
    return world < show->world_count ? show->worlds[world].policy : "";
}
