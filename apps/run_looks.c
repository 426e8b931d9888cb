#include "apps/run_looks.h"

#include <math.h>

#include "apps/console.h"

enum { LOOK_FRAMES = 45, MOST_DEPTHS = 1 << 22 };

static sac_result no_memory(sac_error *error)
{
    return sac_error_set(error, SAC_ERROR_MEMORY, "run fewer frames", "no memory for the figures");
}

/* The leaf spheres of a tree, or a ball itself. What has neither is left out: count 0. */
static bool gather_spheres(const sac_prop *prop, sac_penetration_shape *out)
{
    bool ball = prop->kind == SAC_PROP_SPHERE;
    uint32_t room = ball ? 1 : prop->tree ? prop->tree->leaf_count : 0;
    *out = (sac_penetration_shape){0};
    if (!room) return true;
    out->spheres = sac_alloc_zero(room, sizeof *out->spheres);
    out->count = room;
    if (!out->spheres) return false;
    if (ball) {
        out->spheres[0][3] = prop->radius;
        return true;
    }
    uint32_t count = 0;
    for (uint32_t id = 0; id < prop->tree->block_count * SAC_LANES && count < room; id++) {
        sac_tree_node_info node;
        if (!sac_tree_node(prop->tree, id, &node) || !node.leaf) continue;
        memcpy(out->spheres[count], node.centre, sizeof node.centre);
        out->spheres[count++][3] = node.radius;
    }
    return true;
}

/* How many bodies made of spheres there are at the most. */
static uint32_t most_measured(const sac_run_looks *l, const sac_staging *s)
{
    uint32_t most = 0;
    bool script = false;
    for (size_t i = 0; i < s->actors.count; i++)
        most += s->actors.data[i].def.kind == SAC_BODY_DYNAMIC && l->shapes[s->actors.data[i].prop].count;
    for (uint32_t i = 0; s->script_most && i < (s->script_props ? s->script_props : 1); i++)
        script |= l->shapes[s->script_prop + i].count > 0;
    return most + (script ? s->script_most : 0);
}

static sac_result gather_shapes(sac_run_looks *l, const sac_staging *s, uint32_t *out_most, sac_error *error)
{
    l->shape_count = (uint32_t)s->props.count;
    l->shapes = sac_alloc_zero(s->props.count + 1, sizeof *l->shapes);
    if (!l->shapes) return no_memory(error);
    for (size_t i = 0; i < s->props.count; i++)
        if (!gather_spheres(&s->props.data[i], &l->shapes[i])) return no_memory(error);
    if (s->glazed) l->side = s->glass.high[0] - s->glass.low[0];
    *out_most = most_measured(l, s);
    l->overlaps = *out_most > 0;
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
    sac_result result = gather_shapes(l, staging, &most, error);
    if (result != SAC_OK) return result;
    uint32_t bodies = staging->most_bodies ? staging->most_bodies : 1;
    if (!sac_array_reserve(&l->ids, bodies)) return no_memory(error);
    memset(l->ids.data, 0, bodies * sizeof *l->ids.data); /* touched now, not between two frames */
    if (!l->overlaps) return SAC_OK;
    if (!sac_pose_log_init(&l->log, most, frames / LOOK_FRAMES + 1, log_bytes)) return no_memory(error);
    l->wear = sac_alloc_zero(l->log.room * l->log.bodies, sizeof *l->wear);
    return l->wear ? SAC_OK : no_memory(error);
}

/* Of what shape a body is: mostly of the same as the one before. */
static uint32_t prop_of(const sac_staging *staging, const sac_body_state *state, uint32_t guess)
{
    const sac_prop *props = staging->props.data;
    if (guess < staging->props.count && props[guess].id.value == state->shape.value) return guess;
    for (uint32_t i = 0; i < staging->props.count; i++)
        if (props[i].id.value == state->shape.value) return i;
    return UINT32_MAX;
}

sac_result sac_run_looks_take(sac_run_looks *l, const sac_staging *staging, const sac_world *world,
                              sac_run *run, sac_error *error)
{
    uint32_t there = sac_world_bodies(world, NULL, 0), count = 0, prop = 0;
    sac_peer_pose *poses = l->overlaps ? sac_pose_log_next(&l->log) : NULL;
    if (l->overlaps && !poses) {
        sac_result result = sac_run_looks_measure(l, run, true, error);
        if (result != SAC_OK) return result;
        run->drains++;
        poses = sac_pose_log_next(&l->log);
    }
    if (!sac_array_reserve(&l->ids, there)) return no_memory(error);
    there = sac_world_bodies(world, l->ids.data, there);
    sac_penetration_wear *wear = poses ? l->wear + l->log.count * l->log.bodies : NULL;
    run->movers = 0;
    run->census = (sac_census){.bodies = there};
    for (uint32_t i = 0; i < there; i++) {
        sac_body_state state;
        if (sac_body_get(world, l->ids.data[i], &state, NULL) != SAC_OK) continue;
        sac_census_count(&run->census, staging, &state);
        if (state.kind != SAC_BODY_DYNAMIC) continue;
        run->movers++;
        prop = prop_of(staging, &state, prop);
        if (count >= l->log.bodies || prop >= l->shape_count || !l->shapes[prop].count) continue;
        wear[count] = (sac_penetration_wear){prop, state.pose.scale};
        memcpy(poses[count].position, state.pose.translation, sizeof poses[count].position);
        memcpy(poses[count++].rotation, state.pose.rotation, sizeof poses[count].rotation);
    }
    if (count) sac_pose_log_keep(&l->log, count, 0);
    run->measured = count;
    run->lost_most = run->census.lost > run->lost_most ? run->census.lost : run->lost_most;
    run->energy_last = sac_world_energy(world);
    run->energy_most = fmax(run->energy_most, run->energy_last);
    return SAC_OK;
}

static sac_result measure_one(sac_run_looks *l, size_t look, sac_run *run, sac_error *error)
{
    const sac_penetration_cast cast = {l->shapes, l->wear + look * l->log.bodies, l->log.looks[look].count,
                                       l->side};
    sac_result result = sac_penetration_measure_cast(&l->room, &cast, sac_pose_log_at(&l->log, look), NULL,
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
    if (!l->overlaps) run->penetration_mean_mm = run->penetration_p99_mm = run->penetration_max_mm = NAN;
    if (l->depths.count) {
        sac_percentiles p = sac_percentiles_of(l->depths.data, l->depths.count);
        run->penetration_mean_mm = p.mean, run->penetration_p99_mm = p.p99, run->penetration_max_mm = p.max;
    }
    return result;
}

void sac_run_looks_fini(sac_run_looks *l)
{
    for (uint32_t i = 0; l->shapes && i < l->shape_count; i++)
        sac_free(l->shapes[i].spheres, l->shapes[i].count, sizeof *l->shapes[i].spheres);
    if (l->shapes) sac_free(l->shapes, l->shape_count + 1u, sizeof *l->shapes);
    sac_free(l->wear, l->log.room * l->log.bodies, sizeof *l->wear);
    sac_pose_log_fini(&l->log);
    sac_array_fini(&l->ids);
    sac_penetration_room_fini(&l->room);
    sac_array_fini(&l->depths);
}
