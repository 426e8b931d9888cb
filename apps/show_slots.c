/* Who is where: two poses a body, kept from the move events of steps alone, and the pose between them. */
#include <math.h>
#include <string.h>

#include "apps/show_internal.h"

static uint32_t prop_of(const sac_staging *staging, sac_shape_id shape)
{
    for (uint32_t i = 0; i < staging->props.count; i++)
        if (staging->props.data[i].id.value == shape.value) return i;
    return UINT32_MAX;
}

/* A body nobody has drawn yet: where it is now is where it was. */
static void enter(sac_show *show, sac_show_world *w, uint32_t index, sac_body_id id)
{
    sac_show_slot *slot = &w->slots.data[index];
    sac_body_state state;
    *slot = (sac_show_slot){
        .model = UINT32_MAX, .first_joint = slot->first_joint, .joint_count = slot->joint_count};
    if (sac_body_get(w->world, id, &state, NULL) != SAC_OK) return;
    uint32_t prop = prop_of(&w->staging, state.shape);
    slot->id = id;
    slot->before = slot->now = state.shown;
    slot->dynamic = state.kind == SAC_BODY_DYNAMIC;
    if (prop == UINT32_MAX) return;
    const sac_soft *soft = sac_body_soft(w->world, id);
    if (soft && !sac_show_soft_enter(show, &w->staging.props.data[prop], soft, slot)) return;
    slot->model = show->models.data[prop];
    sac_show_material(&w->staging, prop, index, slot);
}

static bool make_room(sac_show_world *w, size_t count)
{
    if (!sac_array_reserve(&w->slots, count)) return false;
    while (w->slots.count < count) w->slots.data[w->slots.count++] = (sac_show_slot){.model = UINT32_MAX};
    return true;
}

sac_result sac_show_enter_all(sac_show *show, sac_show_world *w, sac_error *error)
{
    const sac_staging *s = &w->staging;
    size_t room = s->actors.count + s->script_most + w->extras.count;
    if (!make_room(w, room)) return sac_show_no_memory(error);
    for (uint32_t i = 0; i < s->actors.count; i++)
        if (w->slots.data[i].id.value != s->actors.data[i].id.value) enter(show, w, i, s->actors.data[i].id);
    for (uint32_t i = 0; i < w->extras.count; i++) {
        uint32_t slot = (uint32_t)s->actors.count + s->script_most + i;
        if (w->slots.data[slot].id.value != w->extras.data[i].value) enter(show, w, slot, w->extras.data[i]);
    }
    w->cues = s->next_cue;
    return SAC_OK;
}

sac_result sac_show_follow(sac_show *show, sac_show_world *w, sac_error *error)
{
    const sac_move_event *events;
    uint32_t count = sac_world_move_events(w->world, &events);
    for (uint32_t i = 0; i < count; i++) {
        const sac_move_event *event = &events[i];
        if (event->user == 0 || event->user > w->slots.count) continue; /* hands have no slot */
        sac_show_slot *slot = &w->slots.data[event->user - 1];
        if (slot->id.value != event->body.value) {
            enter(show, w, (uint32_t)event->user - 1, event->body);
            continue;
        }
        slot->before = slot->now;
        slot->now = event->shown;
        slot->moved = show->steps;
        const sac_soft *soft = slot->joint_count ? sac_body_soft(w->world, slot->id) : NULL;
        if (soft) sac_show_soft_take(show, soft, slot);
    }
    for (size_t i = 0; i < w->slots.count; i++) sac_show_soft_rest(show, &w->slots.data[i]);
    /* Whoever a cue brought in may stand still. */
    return w->cues == w->staging.next_cue ? SAC_OK : sac_show_enter_all(show, w, error);
}

void sac_show_between(const sac_show_slot *slot, uint64_t step, float alpha, sac_instance *out)
{
    const sac_transform *b = &slot->now;
    out->scale = b->scale;
    if (slot->moved != step || alpha >= 1) {
        memcpy(out->position, b->translation, sizeof out->position);
        memcpy(out->rotation, b->rotation, sizeof out->rotation);
        return;
    }
    const sac_transform *a = &slot->before;
    float dot = 0, square = 0;
    for (int k = 0; k < 3; k++)
        out->position[k] = a->translation[k] + (b->translation[k] - a->translation[k]) * alpha;
    for (int k = 0; k < 4; k++) dot += a->rotation[k] * b->rotation[k];
    /* The short way round; a step turns little enough that the chord will do for the arc. */
    float first = dot < 0 ? alpha - 1 : 1 - alpha;
    for (int k = 0; k < 4; k++) {
        out->rotation[k] = a->rotation[k] * first + b->rotation[k] * alpha;
        square += out->rotation[k] * out->rotation[k];
    }
    float inverse = square > 1e-12f ? 1 / sqrtf(square) : 0;
    for (int k = 0; k < 4; k++) out->rotation[k] = inverse > 0 ? out->rotation[k] * inverse : b->rotation[k];
}
