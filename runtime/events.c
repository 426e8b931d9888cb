/* Events: what began, ended and hit in a step, and who moved. */
#include "runtime/world_internal.h"

#include <string.h>

void sac_world_event(sac_world *world, sac_contact_event_kind kind, uint32_t p, float impulse, float speed)
{
    const sac_broad_pair *pair = &world->broad->pairs[p];
    const sac_pair_memory *memory = &world->memory[p];
    const sac_manifold *m = &world->manifolds[p];
    sac_contact_event event = {.kind = kind,
                               .a = sac_body_id_of(world, pair->a),
                               .b = sac_body_id_of(world, pair->b),
                               .user_a = world->cold[pair->a].user,
                               .user_b = world->cold[pair->b].user,
                               .sensor = memory->sensor,
                               .impulse = impulse,
                               .speed = speed};
    memcpy(event.point, memory->region, sizeof event.point);
    uint32_t deepest = 0;
    for (uint32_t k = 1; k < m->count; k++)
        if (m->points[k].depth > m->points[deepest].depth) deepest = k;
    if (m->count) memcpy(event.normal, m->points[deepest].normal, sizeof event.normal);
    sac_array_push(&world->contact_events, event);
}

/* How fast a point of one body comes towards the other's along a direction from a to b. */
static float towards(const sac_world *world, uint32_t slot, const float point[3], const float normal[3])
{
    const sac_body_hot *h = &world->hot[slot];
    const float *w = h->w;
    float d[3], speed = 0;
    for (int i = 0; i < 3; i++) d[i] = point[i] - h->centre[i];
    float turning[3] = {w[1] * d[2] - w[2] * d[1], w[2] * d[0] - w[0] * d[2], w[0] * d[1] - w[1] * d[0]};
    for (int i = 0; i < 3; i++) speed += (h->v[i] + turning[i]) * normal[i];
    return speed;
}

float sac_pair_approach(const sac_world *world, uint32_t p)
{
    const sac_broad_pair *pair = &world->broad->pairs[p];
    const sac_manifold *m = &world->manifolds[p];
    float most = 0;
    for (uint32_t k = 0; k < m->count; k++) {
        const float *normal = m->points[k].normal, *at = world->memory[p].region;
        float speed = towards(world, pair->a, at, normal) - towards(world, pair->b, at, normal);
        if (speed > most && speed <= FLT_MAX) most = speed;
    }
    return most;
}

/* Numbers of pairs are reused: a new one starts without memory, a gone one tells its end. */
void sac_pairs_begun_and_ended(sac_world *world)
{
    sac_broad *broad = world->broad;
    for (uint32_t i = 0; i < broad->ended_count; i++) {
        uint32_t p = broad->ended[i];
        if (p >= world->memory_room || !world->watch[p].touching) continue;
        uint32_t a, b;
        sac_broad_ended_bodies(broad, p, &a, &b);
        const sac_pair_memory *memory = &world->memory[p];
        world->watch[p].touching = false;
        if (world->touches[a]) world->touches[a]--;
        if (world->touches[b]) world->touches[b]--;
        sac_contact_event event = {.kind = SAC_CONTACT_END,
                                   .a = sac_body_id_of(world, a),
                                   .b = sac_body_id_of(world, b),
                                   .user_a = world->cold[a].user,
                                   .user_b = world->cold[b].user,
                                   .sensor = memory->sensor};
        /* In its place among the others of this step: the two may touch again before it is over. */
        if (world->stepping)
            sac_array_push(&world->contact_events, event);
        else
            sac_array_push(&world->pending_ends, event);
    }
    for (uint32_t i = 0; i < broad->begun_count; i++) {
        uint32_t p = broad->begun[i];
        const sac_broad_pair *pair = &broad->pairs[p];
        if (pair->a == SAC_NO_BODY) continue; /* gone again already */
        world->watch[p] = (sac_pair_watch){0};
        world->memory[p] = (sac_pair_memory){
            .depth = -FLT_MAX,
            .sensor = ((world->flags[pair->a] | world->flags[pair->b]) & SAC_BODY_SENSOR) != 0};
        world->manifolds[p].count = 0;
        sac_pair_foresee(world, p);
    }
    world->report.pairs_begun += broad->begun_count;
    world->report.pairs_ended += broad->ended_count;
    sac_broad_flush(broad);
}

uint32_t sac_world_contact_events(const sac_world *world, const sac_contact_event **out_events)
{
    if (out_events) *out_events = world ? world->contact_events.data : NULL;
    return !world ? 0 : (uint32_t)world->contact_events.count;
}

uint32_t sac_world_move_events(const sac_world *constant, const sac_move_event **out_events)
{
    /* Made when somebody asks: a frame that nobody listens to does not pay for them. */
    sac_world *world = (sac_world *)constant;
    if (out_events) *out_events = NULL;
    if (!world) return 0;
    if (!world->move_events_made) {
        world->move_events.count = 0;
        for (size_t i = 0; i < world->moved.count; i++) {
            uint32_t slot = world->moved.data[i];
            if (!(world->flags[slot] & SAC_BODY_USED)) continue;
            sac_move_event event = {.body = sac_body_id_of(world, slot),
                                    .user = world->cold[slot].user,
                                    .pose = world->pose[slot],
                                    .fell_asleep = (world->flags[slot] & SAC_BODY_SLEPT) != 0};
            sac_body_shown(world, slot, &event.shown);
            if (!sac_array_push(&world->move_events, event)) break;
        }
        world->move_events_made = true;
    }
    if (out_events) *out_events = world->move_events.data;
    return (uint32_t)world->move_events.count;
}
