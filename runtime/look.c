/* Looking inside: pairs, contacts and fronts as they stand after the last step. */
#include "runtime/world_internal.h"

#include <string.h>

uint32_t sac_world_pairs(const sac_world *world, sac_pair_view *out, uint32_t capacity)
{
    if (!world) return 0;
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
    if (!world) return 0;
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

enum { LATELY = 64 };

typedef struct front_list {
    const sac_world *world;
    sac_front_view *out;
    uint32_t capacity, count, pair;
} front_list;

/* One body of a pair, and which of its nodes were just named: the same node stands in a front many times
 * over. */
typedef struct front_side {
    uint32_t slot;
    const sac_form *form;
    const sac_transform *pose;
    float rows[3][3];
    uint32_t lately[LATELY]; /* node + 1, at its last bits */
} front_side;

static void take_side(const sac_world *world, uint32_t slot, front_side *out)
{
    out->slot = slot;
    out->form = sac_body_form(world, slot);
    out->pose = sac_body_form_pose(world, slot);
    memset(out->lately, 0, sizeof out->lately);
    sac_transform_rows(out->pose, out->rows);
}

/* Sphere and level. Numbers may be of a pair that is gone and whose place another has taken since: nothing is
 * trusted. */
static bool find_sphere(const sac_form *form, uint32_t *node, float out[4], uint32_t *level)
{
    *level = 0;
    if (form->kind == SAC_FORM_SPHERE) {
        *node = 0;
        out[0] = out[1] = out[2] = 0, out[3] = form->radius;
        return true;
    }
    if (form->kind != SAC_FORM_TREE) return false;
    const sac_tree *tree = form->tree;
    uint32_t block = *node / SAC_LANES, lane = *node % SAC_LANES;
    if (block >= tree->block_count) return false;
    if (form->live) {
        sac_tree_node_info now;
        form->live->node(form->live->owner, *node, &now);
        if (!(now.radius >= 0)) return false;
        memcpy(out, now.centre, sizeof now.centre);
        out[3] = now.radius, *level = now.level;
        return true;
    }
    if (!sac_tree_has(tree, *node)) return false;
    const sac_sphere_block *s = &tree->spheres[block];
    out[0] = s->x[lane], out[1] = s->y[lane], out[2] = s->z[lane], out[3] = s->r[lane];
    while (*level < tree->depth && block >= tree->level_block[*level + 1]) ++*level;
    return true;
}

static void add_node(front_list *list, front_side *side, uint32_t node)
{
    uint32_t *lately = &side->lately[node % LATELY], level;
    float sphere[4];
    if (*lately == node + 1u) return;
    *lately = node + 1u;
    if (!find_sphere(side->form, &node, sphere, &level)) return;
    if (list->out && list->count < list->capacity) {
        sac_front_view *view = &list->out[list->count];
        const sac_transform *pose = side->pose;
        view->body = sac_body_id_of(list->world, side->slot);
        view->pair = list->pair;
        view->node = node;
        view->radius = sphere[3] * pose->scale;
        const sac_soft_slot *soft = sac_soft_of(list->world, side->slot);
        view->box = sac_box_empty();
        if (soft && soft->skin) sac_meshless_cover_box(soft->skin, node, &view->box);
        view->level = (uint8_t)level;
        view->levels = (uint8_t)side->form->levels;
        for (int i = 0; i < 3; i++)
            view->centre[i] =
                (side->rows[i][0] * sphere[0] + side->rows[i][1] * sphere[1] + side->rows[i][2] * sphere[2]) *
                    pose->scale +
                pose->translation[i];
    }
    list->count++;
}

static uint32_t node_of(const sac_form *form, uint32_t link)
{
    if (form->kind != SAC_FORM_TREE || link & SAC_LINK_LEAF) return link & ~SAC_LINK_LEAF;
    return link < form->tree->block_count ? form->tree->parents[link] : UINT32_MAX;
}

static void add_side(front_list *list, front_side *side, const sac_pairs *pending, const sac_pairs *done,
                     bool b)
{
    const uint32_t *links = b ? pending->b : pending->a, *nodes = b ? done->b : done->a;
    if (side->form->kind != SAC_FORM_TREE && side->form->kind != SAC_FORM_SPHERE) return;
    for (uint32_t i = 0; i < pending->count; i++) add_node(list, side, node_of(side->form, links[i]));
    for (uint32_t i = 0; i < done->count; i++) add_node(list, side, nodes[i]);
}

uint32_t sac_world_front(const sac_world *world, sac_front_view *out, uint32_t capacity)
{
    if (!world) return 0;
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
        front_side side;
        take_side(world, pair->a, &side);
        add_side(&list, &side, &pending, &done, false);
        take_side(world, pair->b, &side);
        add_side(&list, &side, &pending, &done, true);
    }
    /* Those nobody looked at this frame stand where their contacts were read. */
    for (uint32_t p = 0; p < world->broad->pair_end; p++) {
        const sac_broad_pair *pair = &world->broad->pairs[p];
        const sac_manifold *m = &world->manifolds[p];
        if (pair->a == SAC_NO_BODY || m->count == 0 || world->memory[p].refined == world->frame) continue;
        list.pair = p;
        front_side side;
        take_side(world, pair->a, &side);
        for (uint32_t k = 0; k < m->count; k++) add_node(&list, &side, m->points[k].node_a);
        take_side(world, pair->b, &side);
        for (uint32_t k = 0; k < m->count; k++) add_node(&list, &side, m->points[k].node_b);
    }
    return list.count;
}
