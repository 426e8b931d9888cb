/* Looking inside: pairs and contacts as they stand after the last step. */
#include "runtime/world_internal.h"

#include <string.h>

uint32_t sac_world_pairs(const sac_world *world, sac_pair_view *out, uint32_t capacity)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < world->broad->pair_end; p++) {
        const sac_broad_pair *pair = &world->broad->pairs[p];
        if (pair->a == SAC_NO_BODY) continue;
        if (out && count < capacity) {
            const sac_pair_memory *m = &world->memory[p];
            out[count] = (sac_pair_view){.a = sac_body_id_of(world, pair->a),
                                         .b = sac_body_id_of(world, pair->b),
                                         .number = p,
                                         .touching = world->watch[p].touching,
                                         .active = world->watch[p].seen == world->frame &&
                                                   world->watch[p].skip_until <= world->frame,
                                         .sensor = m->sensor,
                                         .level = m->level,
                                         .levels = m->levels,
                                         .group = m->group,
                                         .uncertainty = m->uncertainty,
                                         .jnd = m->jnd,
                                         .priority = m->priority,
                                         .depth = m->depth,
                                         .contacts = world->manifolds[p].count};
            memcpy(out[count].region, m->region, sizeof out[count].region);
        }
        count++;
    }
    return count;
}

uint32_t sac_world_contacts(const sac_world *world, sac_contact_view *out, uint32_t capacity)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < world->broad->pair_end; p++) {
        const sac_broad_pair *pair = &world->broad->pairs[p];
        if (pair->a == SAC_NO_BODY) continue;
        const sac_manifold *m = &world->manifolds[p];
        for (uint32_t k = 0; k < m->count; k++, count++) {
            if (!out || count >= capacity) continue;
            const sac_manifold_point *from = &m->points[k];
            sac_contact_view *to = &out[count];
            *to = (sac_contact_view){.a = sac_body_id_of(world, pair->a),
                                     .b = sac_body_id_of(world, pair->b),
                                     .depth = from->depth,
                                     .uncertainty = m->uncertainty,
                                     .impulse = from->impulse,
                                     .node_a = from->node_a,
                                     .node_b = from->node_b};
            sac_transform_point(&world->pose[pair->a], from->local_a, to->point);
            memcpy(to->normal, from->normal, sizeof to->normal);
        }
    }
    return count;
}
