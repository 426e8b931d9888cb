/* Looking inside: pairs, contacts and fronts as they stand after the last step. */
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

/* ---- fronts ---- */

typedef struct front_list {
    const sac_world *world;
    sac_front_view *out;
    uint32_t capacity, count, pair;
} front_list;

/* Numbers may be of a pair that is gone and whose place another has taken since: nothing is trusted. */
static void add_node(front_list *list, uint32_t slot, uint32_t node)
{
    const sac_world *world = list->world;
    const sac_form *form = &world->shapes[world->cold[slot].shape].form;
    const sac_transform *pose = &world->pose[slot];
    sac_tree_node_info info = {.leaf = true};
    if (form->kind == SAC_FORM_TREE) {
        if (!sac_tree_node(form->tree, node, &info)) return;
    } else if (form->kind == SAC_FORM_SPHERE) {
        node = 0;
        info.radius = form->radius;
    } else {
        return;
    }
    if (list->out && list->count < list->capacity) {
        sac_front_view *view = &list->out[list->count];
        *view = (sac_front_view){.body = sac_body_id_of(world, slot),
                                 .pair = list->pair,
                                 .node = node,
                                 .radius = info.radius * pose->scale,
                                 .level = (uint8_t)info.level,
                                 .levels = (uint8_t)form->levels};
        sac_transform_point(pose, info.centre, view->centre);
    }
    list->count++;
}

static uint32_t node_of(const sac_form *form, uint32_t link)
{
    if (form->kind != SAC_FORM_TREE || link & SAC_LINK_LEAF) return link & ~SAC_LINK_LEAF;
    return link < form->tree->block_count ? form->tree->parents[link] : UINT32_MAX;
}

/* One side of a front: the same node many times over, mostly in a row. */
static void add_side(front_list *list, uint32_t slot, const uint32_t *nodes, uint32_t count, bool links)
{
    const sac_form *form = &list->world->shapes[list->world->cold[slot].shape].form;
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || nodes[i] != nodes[i - 1])
            add_node(list, slot, links ? node_of(form, nodes[i]) : nodes[i]);
}

uint32_t sac_world_front(const sac_world *world, sac_front_view *out, uint32_t capacity)
{
    front_list list = {world, out, capacity, 0, 0};
    const sac_agenda *agenda = world->agenda;
    for (uint32_t e = 0; e < agenda->count; e++) {
        uint32_t p = agenda->tag[e];
        if (!(agenda->flags[e] & SAC_AGENDA_STARTED) || agenda->flags[e] & SAC_AGENDA_EMPTY) continue;
        if (p >= world->broad->pair_end || world->broad->pairs[p].a == SAC_NO_BODY) continue;
        const sac_broad_pair *pair = &world->broad->pairs[p];
        sac_pairs pending, done;
        sac_agenda_front(agenda, e, &pending, &done);
        list.pair = p;
        add_side(&list, pair->a, pending.a, pending.count, true);
        add_side(&list, pair->b, pending.b, pending.count, true);
        add_side(&list, pair->a, done.a, done.count, false);
        add_side(&list, pair->b, done.b, done.count, false);
    }
    /* Those nobody looked at this frame stand where their contacts were read. */
    for (uint32_t p = 0; p < world->broad->pair_end; p++) {
        const sac_broad_pair *pair = &world->broad->pairs[p];
        const sac_manifold *m = &world->manifolds[p];
        if (pair->a == SAC_NO_BODY) continue;
        list.pair = p;
        for (uint32_t k = 0; k < m->count; k++) {
            add_node(&list, pair->a, m->points[k].node_a);
            add_node(&list, pair->b, m->points[k].node_b);
        }
    }
    return list.count;
}
