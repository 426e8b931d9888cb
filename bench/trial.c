#include "bench/trial.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"

static void count_misses(sac_trial *t)
{
    t->misses = t->misses_own = 0;
    double budget = (double)t->budget_ns * 1e-3, allowed = budget + (double)t->allowance_ns * 1e-3;
    for (uint32_t i = 0; i < t->frames; i++) {
        if (t->wall_us[i] <= budget) continue;
        t->misses++;
        t->misses_own += t->cpu_us[i] > allowed;
    }
}

/* Percentiles sort; the frames stay in their order. */
static bool summarise(sac_trial *t)
{
    double *copy = malloc((t->frames ? t->frames : 1) * sizeof *copy);
    if (!copy) return false;
    memcpy(copy, t->wall_us, t->frames * sizeof *copy);
    t->wall = sac_percentiles_of(copy, t->frames);
    memcpy(copy, t->cpu_us, t->frames * sizeof *copy);
    t->cpu = sac_percentiles_of(copy, t->frames);
    free(copy);
    return true;
}

static sac_result measure_overlap(sac_trial *t, const sac_trial_def *def, const sac_shared_scene *scene,
                                  sac_peer *peer, sac_error *error)
{
    sac_penetration_room room = {0};
    sac_peer_pose *poses = calloc(scene->body_count, sizeof *poses);
    if (!poses) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for poses");
    def->engine->read(peer, poses);
    sac_result result = sac_penetration_measure(&room, scene, poses, NULL, &t->overlap, error);
    sac_penetration_room_fini(&room);
    free(poses);
    return result;
}

static sac_result run_frames(sac_trial *t, const sac_trial_def *def, const sac_shared_scene *scene,
                             sac_peer *peer, sac_noise_floor *floor, sac_error *error)
{
    /* A step or two may have been the machine's; whoever wants to know runs it again. */
    enum { GIVE_UP_AFTER = 3 };
    const float dt = (float)(1.0 / def->hz);
    uint32_t over = 0;
    uint32_t throw_frame = scene->throw_frame;
    if (throw_frame != UINT32_MAX) throw_frame = (uint32_t)lround(throw_frame * def->hz / 90.0);
    for (uint32_t f = 0; f < def->frames; f++) {
        if (f == throw_frame) def->engine->throw_body(peer, scene->thrown, scene->throw_velocity);
        uint64_t cpu = sac_time_thread_cpu_ns(), wall = sac_time_now_ns();
        def->engine->step(peer, dt);
        wall = sac_time_now_ns() - wall, cpu = sac_time_thread_cpu_ns() - cpu;
        t->wall_us[f] = (double)wall * 1e-3, t->cpu_us[f] = (double)cpu * 1e-3;
        t->frames = f + 1;
        if (def->engine->waiting) t->waiting += (double)def->engine->waiting(peer) / def->frames;
        if (def->give_up_ns && cpu > def->give_up_ns && ++over == GIVE_UP_AFTER) {
            t->complete = false;
            return SAC_OK;
        }
        if (def->spin_every && f % def->spin_every == 0 && !sac_noise_floor_spin(floor, def->budget_ns))
            return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the noise floor");
        if (def->progress && f % 8 == 7 && !def->progress((float)(f + 1) / (float)def->frames, def->user))
            return sac_error_set(error, SAC_ERROR_CANCELLED, NULL, "stopped");
    }
    return SAC_OK;
}

sac_result sac_trial_run(const sac_trial_def *def, sac_noise_floor *floor, sac_trial *out_trial,
                         sac_error *error)
{
    sac_trial t = {.bodies = def->bodies, .budget_ns = def->budget_ns, .room = def->frames, .complete = true};
    sac_shared_scene scene;
    sac_peer *peer = NULL;
    memset(out_trial, 0, sizeof *out_trial);
    sac_result result =
        sac_shared_scene_create(&scene, def->scene, def->shape, def->bodies, def->seed, error);
    if (result != SAC_OK) return result;
    t.wall_us = sac_alloc(t.room, sizeof *t.wall_us);
    t.cpu_us = sac_alloc(t.room, sizeof *t.cpu_us);
    sac_peer_def peer_def = {def->policy, def->unlimited ? 0 : def->budget_ns};
    size_t before = floor->cpu_us.count;
    if (!t.wall_us || !t.cpu_us)
        result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %u frames", def->frames);
    if (result == SAC_OK) result = def->engine->create(&scene, &peer_def, &peer, error);
    if (result == SAC_OK) result = run_frames(&t, def, &scene, peer, floor, error);
    if (result == SAC_OK) result = measure_overlap(&t, def, &scene, peer, error);
    if (result == SAC_OK && !summarise(&t))
        result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %u frames", def->frames);
    /* The machine is judged by the spins that ran between these very steps. */
    t.allowance_ns = sac_noise_floor_allowance_ns(floor, before);
    count_misses(&t);
    def->engine->destroy(peer);
    sac_shared_scene_destroy(&scene);
    if (result != SAC_OK)
        sac_trial_fini(&t);
    else
        *out_trial = t;
    return result;
}

bool sac_trial_held(const sac_trial *trial, uint64_t budget_ns)
{
    if (!trial->complete || sac_trial_lost(trial)) return false;
    double budget = (double)budget_ns * 1e-3, allowed = budget + (double)trial->allowance_ns * 1e-3;
    for (uint32_t i = 0; i < trial->frames; i++)
        if (trial->wall_us[i] > budget && trial->cpu_us[i] > allowed) return false;
    return true;
}

uint32_t sac_trial_lost(const sac_trial *trial) { return trial->overlap.outside + trial->overlap.not_finite; }

void sac_trial_fini(sac_trial *trial)
{
    sac_free(trial->wall_us, trial->room, sizeof *trial->wall_us);
    sac_free(trial->cpu_us, trial->room, sizeof *trial->cpu_us);
    trial->wall_us = trial->cpu_us = NULL;
}
