#include "apps/run_looks.h"

#include <math.h>

#include "apps/console.h"

enum { LOOK_FRAMES = 45, MOST_DEPTHS = 1 << 22 };

static sac_result no_memory(sac_error *error)
{
    return sac_error_set(error, SAC_ERROR_MEMORY, "run fewer frames", "no memory for the figures");
}

static float scale_of(const sac_staging *s, uint32_t prop)
{
    for (size_t i = 0; i < s->actors.count; i++)
        if (s->actors.data[i].prop == prop) return s->actors.data[i].def.scale;
    return s->script_most && s->script_prop == prop ? s->script_body.scale : 1;
}

/* The leaf spheres of the shape most bodies have, as the measure of penetration wants them: all of one size,
 * that of the first. */
static sac_result gather_spheres(sac_run_looks *l, const sac_staging *s, uint32_t *out_most, sac_error *error)
{
    uint32_t *votes = sac_alloc_zero(s->props.count + 1, sizeof *votes), best = UINT32_MAX, most = 0;
    if (!votes) return no_memory(error);
    for (size_t i = 0; i < s->actors.count; i++)
        votes[s->actors.data[i].prop] += s->actors.data[i].def.kind == SAC_BODY_DYNAMIC;
    bool several = s->script_props > 1; /* of several sizes: nothing to compare */
    if (s->script_most && !several) votes[s->script_prop] += s->script_most;
    for (uint32_t i = 0; i < s->props.count; i++)
        if (s->props.data[i].tree && votes[i] > most) best = i, most = votes[i];
    sac_free(votes, s->props.count + 1, sizeof *votes);
    l->prop = best;
    *out_most = most;
    if (best == UINT32_MAX) return SAC_OK;
    const sac_tree *tree = s->props.data[best].tree;
    uint32_t count = 0, room = tree->leaf_count;
    float scale = l->scale = scale_of(s, best);
    l->spheres.spheres = sac_alloc(room, sizeof *l->spheres.spheres);
    l->spheres.sphere_count = room;
    if (s->glazed) l->spheres.side = s->glass.high[0] - s->glass.low[0];
    if (!l->spheres.spheres) return no_memory(error);
    for (uint32_t id = 0; id < tree->block_count * SAC_LANES && count < room; id++) {
        sac_tree_node_info node;
        if (!sac_tree_node(tree, id, &node) || !node.leaf) continue;
        for (int k = 0; k < 3; k++) l->spheres.spheres[count][k] = node.centre[k] * scale;
        l->spheres.spheres[count++][3] = node.radius * scale;
    }
    return SAC_OK;
}

bool sac_run_looks_due(uint64_t frame, uint64_t frames)
{
    return (frame + 1) % LOOK_FRAMES == 0 || frame + 1 == frames;
}

sac_result sac_run_looks_init(sac_run_looks *l, const sac_staging *staging, uint64_t frames, size_t log_bytes,
                              sac_error *error)
{
    uint32_t most = 0;
    sac_result result = gather_spheres(l, staging, &most, error);
    if (result != SAC_OK) return result;
    uint32_t bodies = staging->most_bodies ? staging->most_bodies : 1;
    if (!sac_array_reserve(&l->ids, bodies)) return no_memory(error);
    memset(l->ids.data, 0, bodies * sizeof *l->ids.data); /* touched now, not between two frames */
    if (l->prop == UINT32_MAX) return SAC_OK;
    return sac_pose_log_init(&l->log, most, frames / LOOK_FRAMES + 1, log_bytes) ? SAC_OK : no_memory(error);
}

sac_result sac_run_looks_take(sac_run_looks *l, const sac_staging *staging, const sac_world *world,
                              sac_run *run, sac_error *error)
{
    uint32_t there = sac_world_bodies(world, NULL, 0), count = 0;
    bool overlaps = l->prop != UINT32_MAX;
    sac_peer_pose *poses = overlaps ? sac_pose_log_next(&l->log) : NULL;
    if (overlaps && !poses) {
        sac_result result = sac_run_looks_measure(l, run, true, error);
        if (result != SAC_OK) return result;
        run->drains++;
        poses = sac_pose_log_next(&l->log);
    }
    if (!sac_array_reserve(&l->ids, there)) return no_memory(error);
    there = sac_world_bodies(world, l->ids.data, there);
    uint64_t shape = overlaps ? staging->props.data[l->prop].id.value : 0;
    run->census = (sac_census){.bodies = there};
    for (uint32_t i = 0; i < there; i++) {
        sac_body_state state;
        if (sac_body_get(world, l->ids.data[i], &state, NULL) != SAC_OK) continue;
        sac_census_count(&run->census, staging, &state);
        if (!overlaps || count >= l->log.bodies || state.shape.value != shape ||
            state.kind != SAC_BODY_DYNAMIC || state.pose.scale != l->scale)
            continue;
        memcpy(poses[count].position, state.pose.translation, sizeof poses[count].position);
        memcpy(poses[count++].rotation, state.pose.rotation, sizeof poses[count].rotation);
    }
    if (count) sac_pose_log_keep(&l->log, count, 0);
    run->lost_most = run->census.lost > run->lost_most ? run->census.lost : run->lost_most;
    run->energy_last = sac_world_energy(world);
    run->energy_most = fmax(run->energy_most, run->energy_last);
    return SAC_OK;
}

static sac_result measure_one(sac_run_looks *l, size_t look, sac_run *run, sac_error *error)
{
    l->spheres.body_count = l->log.looks[look].count;
    sac_result result = sac_penetration_measure(&l->room, &l->spheres, sac_pose_log_at(&l->log, look), NULL,
                                                &run->last_penetration, error);
    size_t fresh = result == SAC_OK ? l->room.depths.count : 0;
    run->floor_mm = fmax(run->floor_mm, run->last_penetration.floor_mm);
    if (l->depths.count + fresh > MOST_DEPTHS) fresh = MOST_DEPTHS - l->depths.count;
    if (fresh && !sac_array_reserve(&l->depths, l->depths.count + fresh)) return no_memory(error);
    if (fresh) memcpy(l->depths.data + l->depths.count, l->room.depths.data, fresh * sizeof *l->depths.data);
    l->depths.count += fresh;
    return result;
}

sac_result sac_run_looks_measure(sac_run_looks *l, sac_run *run, bool show, sac_error *error)
{
    sac_result result = SAC_OK;
    char doing[] = "measuring overlaps";
    for (size_t i = 0; i < l->log.count && result == SAC_OK; i++) {
        result = measure_one(l, i, run, error);
        if (show && !sac_console_progress((float)(i + 1) / (float)l->log.count, doing) && result == SAC_OK)
            result = sac_error_set(error, SAC_ERROR_CANCELLED, NULL, "stopped while overlaps were measured");
    }
    sac_pose_log_clear(&l->log);
    if (l->prop == UINT32_MAX)
        run->penetration_mean_mm = run->penetration_p99_mm = run->penetration_max_mm = NAN;
    if (l->depths.count) {
        sac_percentiles p = sac_percentiles_of(l->depths.data, l->depths.count);
        run->penetration_mean_mm = p.mean, run->penetration_p99_mm = p.p99, run->penetration_max_mm = p.max;
    }
    return result;
}

void sac_run_looks_fini(sac_run_looks *l)
{
    sac_free(l->spheres.spheres, l->spheres.sphere_count, sizeof *l->spheres.spheres);
    sac_pose_log_fini(&l->log);
    sac_array_fini(&l->ids);
    sac_penetration_room_fini(&l->room);
    sac_array_fini(&l->depths);
}
