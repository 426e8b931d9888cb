/* A frame as a drawing: bodies between their last two poses, hands, glass, panels. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "apps/show_internal.h"

enum { STRIP_WIDTH = 420, STRIP_HEIGHT = 150 };
static const float WRIST_UNIT = 0.0005f; /* metres a canvas unit: a strip as wide as a hand */
static const uint32_t GLASS = 0x90f0e8e0u, PALM = 0xffb7c4d6u, PALM_CLOSED = 0xff8fa9cfu, GHOST = 0x60ffffffu,
                      INK = 0xff40352eu, STRING = 0xff4a545eu;

static sac_result add_bodies(sac_show *show, sac_show_world *w, sac_error *error)
{
    size_t first = show->instances.count;
    float alpha = (float)show->alpha;
    const sac_insight *on = &show->worlds[0].insight;
    bool painted = on->paint != SAC_PAINT_MATERIAL || on->front || on->contacts;
    if (!sac_array_reserve(&show->instances, first + w->slots.count) ||
        !sac_array_reserve(&show->skinned, show->skinned.count + w->slots.count))
        return sac_show_no_memory(error);
    sac_instance *out = show->instances.data + first;
    for (size_t i = 0; i < w->slots.count; i++) {
        sac_show_slot *slot = &w->slots.data[i];
        if (slot->id.value == 0 || slot->model == UINT32_MAX) continue;
        if (!sac_body_exists(w->world, slot->id)) {
            slot->id.value = 0;
            continue;
        }
        sac_show_between(slot, show->steps, alpha, out);
        for (int k = 0; k < 3; k++) out->position[k] += w->origin[k];
        out->model = slot->model;
        out->colour = slot->colour;
        out->gloss = slot->gloss;
        out->glow = 0;
        if (painted && slot->dynamic) {
            sac_body_state state;
            if (sac_body_get(w->world, slot->id, &state, NULL) == SAC_OK) sac_insight_colour(on, &state, out);
        }
        show->stats.bodies += slot->dynamic;
        if (slot->joint_count)
            sac_show_soft_draw(slot, w->origin, out, &show->skinned.data[show->skinned.count++]);
        else
            out++;
    }
    show->instances.count = (size_t)(out - show->instances.data);
    return SAC_OK;
}

static bool add_glass(sac_show *show, const sac_show_world *w)
{
    const sac_box *box = &w->staging.glass;
    if (!w->staging.glazed) return true;
    for (int a = 0; a < 8; a++)
        for (int axis = 0; axis < 3; axis++) {
            int b = a | 1 << axis;
            if (a == b) continue;
            sac_line line = {.colour = GLASS, .width = 1.5f};
            for (int k = 0; k < 3; k++) {
                line.from[k] = (a >> k & 1 ? box->high[k] : box->low[k]) + w->origin[k];
                line.to[k] = (b >> k & 1 ? box->high[k] : box->low[k]) + w->origin[k];
            }
            if (!sac_array_push(&show->lines, line)) return false;
        }
    return true;
}

static bool add_strings(sac_show *show, const sac_show_world *w)
{
    for (size_t i = 0; i < w->staging.strings.count; i++) {
        const sac_string *string = &w->staging.strings.data[i];
        sac_line line = {.colour = STRING, .width = 5};
        for (int k = 0; k < 3; k++) {
            line.from[k] = string->from[k] + w->origin[k];
            line.to[k] = string->to[k] + w->origin[k];
        }
        if (!sac_array_push(&show->lines, line)) return false;
    }
    return true;
}

/* What the scheduler did in this world; gaze and rings once are enough. */
static bool add_insight(sac_show *show, sac_show_world *w)
{
    size_t lines = show->lines.count, balls = show->balls.count;
    sac_insight *on = &w->insight;
    const sac_insight *first = &show->worlds[0].insight;
    bool mine = on == first;
    sac_viewer viewer = show->viewer;
    for (uint32_t i = 0; i < viewer.eye_count; i++)
        for (int k = 0; k < 3; k++) viewer.eyes[i].position[k] -= w->origin[k];
    for (int k = 0; k < 3; k++) viewer.gaze.origin[k] -= w->origin[k];
    if (!mine) {
        on->paint = first->paint, on->front = first->front, on->contacts = first->contacts;
        on->strip = first->strip, on->gaze = on->rings = false;
    }
    if (!sac_insight_build(on, w->world, &viewer, &show->lines, &show->balls)) return false;
    for (size_t i = lines; i < show->lines.count; i++)
        for (int k = 0; k < 3; k++) {
            show->lines.data[i].from[k] += w->origin[k];
            show->lines.data[i].to[k] += w->origin[k];
        }
    for (size_t i = balls; i < show->balls.count; i++)
        for (int k = 0; k < 3; k++) show->balls.data[i].centre[k] += w->origin[k];
    return true;
}

static bool add_hands(sac_show *show)
{
    for (int h = 0; h < SAC_HANDS && show->has_hands; h++) {
        const sac_hand_state *hand = &show->hands.hand[h];
        const sac_hand_input *input = &show->hand_input[h];
        if (!hand->active) continue;
        sac_ball palm = {.radius = show->hands.radius, .colour = hand->closed ? PALM_CLOSED : PALM};
        memcpy(palm.centre, hand->position, sizeof palm.centre);
        /* Joints move with the palm where that was stopped. */
        for (int j = 0; input->joints_valid && j < SAC_HAND_JOINTS; j++) {
            sac_ball joint = {.radius = input->joints[j][3], .colour = palm.colour};
            for (int k = 0; k < 3; k++)
                joint.centre[k] = input->joints[j][k] + hand->position[k] - hand->ghost[k];
            if (!sac_array_push(&show->balls, joint)) return false;
        }
        if (!input->joints_valid && !sac_array_push(&show->balls, palm)) return false;
        if (!input->joints_valid && hand->finger.value) {
            sac_ball tip = {.radius = show->hands.tip_radius, .colour = palm.colour};
            memcpy(tip.centre, hand->tip, sizeof tip.centre);
            if (!sac_array_push(&show->balls, tip)) return false;
        }
        if (hand->stopped) {
            sac_ball ghost = {.radius = show->hands.radius, .colour = GHOST};
            memcpy(ghost.centre, hand->ghost, sizeof ghost.centre);
            if (!sac_array_push(&show->balls, ghost)) return false;
        }
    }
    return true;
}

/* ---- panels ---- */

static sac_panel *add_panel(sac_drawing *drawing, const sac_canvas *canvas)
{
    if (drawing->panel_count == SAC_DRAWING_MOST_PANELS) return NULL;
    sac_panel *panel = &drawing->panels[drawing->panel_count++];
    *panel = (sac_panel){.canvas = canvas, .rotation = {0, 0, 0, 1}, .unit = 1};
    return panel;
}

static void head_of(const sac_eye *eyes, uint32_t count, float out_position[3], float out_forward[3])
{
    for (int k = 0; k < 3; k++) out_position[k] = 0;
    for (uint32_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) out_position[k] += eyes[i].position[k] / (float)count;
    sac_transform turn = {.scale = 1};
    memcpy(turn.rotation, eyes[0].rotation, sizeof turn.rotation);
    sac_transform_point(&turn, (float[3]){0, 0, -1}, out_forward);
}

/* Over the left wrist and turned to the head; without that hand low before the head. */
static void place_at_wrist(const sac_show *show, const sac_eye *eyes, uint32_t count, float lift,
                           sac_panel *panel)
{
    const sac_hand_state *hand = show->has_hands && show->hands.hand[0].active ? &show->hands.hand[0] : NULL;
    float head[3], forward[3], away[3], at[3];
    head_of(eyes, count, head, forward);
    if (hand) {
        memcpy(at, hand->position, sizeof at);
        at[1] += 0.09f;
    } else {
        float flat = sqrtf(forward[0] * forward[0] + forward[2] * forward[2]);
        if (flat < 1e-3f) flat = 1;
        at[0] = head[0] + 0.6f * forward[0] / flat, at[1] = head[1] - 0.28f,
        at[2] = head[2] + 0.6f * forward[2] / flat;
    }
    for (int k = 0; k < 3; k++) away[k] = at[k] - head[k];
    sac_look_rotation(away, panel->rotation);
    sac_transform turn = {.scale = WRIST_UNIT};
    memcpy(turn.rotation, panel->rotation, sizeof turn.rotation);
    memcpy(turn.translation, at, sizeof at);
    sac_transform_point(&turn, (float[3]){-0.5f * STRIP_WIDTH, lift, 0}, panel->position);
    panel->in_world = true;
    panel->unit = WRIST_UNIT;
}

static bool add_strips(sac_show *show, const sac_eye *eyes, uint32_t eye_count, const sac_show_look *look,
                       sac_drawing *drawing)
{
    float size = 1, margin = 18;
    /* A strip takes no more than two fifths of a small picture. */
    if (!look->wrist && look->width) size = fminf(1, 0.4f * (float)look->width / STRIP_WIDTH);
    float width = STRIP_WIDTH * size, height = STRIP_HEIGHT * size;
    for (uint32_t i = 0; i < show->world_count; i++) {
        sac_show_world *w = &show->worlds[i];
        sac_canvas_clear(&w->strip);
        if (!sac_insight_strip(&w->insight, &w->strip, width, height)) return false;
        sac_panel *panel = add_panel(drawing, &w->strip);
        if (!panel) return true;
        if (look->wrist) {
            place_at_wrist(show, eyes, eye_count, (float)i * 1.1f * STRIP_HEIGHT, panel);
        } else {
            panel->x = margin * size, panel->y = margin * size;
            if (i == 1) panel->x = (float)look->width - width - margin * size;
        }
    }
    return true;
}

static bool add_legend(sac_show *show, const sac_eye *eyes, uint32_t eye_count, const sac_show_look *look,
                       sac_drawing *drawing)
{
    sac_canvas_clear(&show->legend);
    /* Smaller in a small picture, as long as it can be read. */
    float letters = look->wrist || !look->height ? 15 : fminf(15, fmaxf(9, (float)look->height / 42));
    if (!sac_insight_legend(&show->worlds[0].insight, &show->legend, 0, 0, letters)) return false;
    if (!show->legend.quads.count) return true;
    sac_panel *panel = add_panel(drawing, &show->legend);
    if (!panel) return true;
    if (look->wrist) {
        place_at_wrist(show, eyes, eye_count, 1.1f * STRIP_HEIGHT * (float)show->world_count, panel);
    } else {
        bool strip = show->worlds[0].insight.strip && !look->no_strip;
        float size = look->width ? fminf(1, 0.4f * (float)look->width / STRIP_WIDTH) : 1;
        panel->x = 18 * size;
        panel->y = strip ? (STRIP_HEIGHT + 30) * size : 18 * size;
        /* Between the names of two worlds. */
        if (show->world_count > 1 && look->width)
            panel->x = 0.5f * ((float)look->width - show->legend.quads.data[0].w);
    }
    return true;
}

/* Names before two worlds beside each other, at their feet: whatever is piled up does not hide them. */
static bool add_labels(sac_show *show, const sac_eye *eyes, uint32_t eye_count, sac_drawing *drawing)
{
    enum { LETTERS = 40 };
    float head[3], forward[3];
    head_of(eyes, eye_count, head, forward);
    for (uint32_t i = 0; i < show->world_count && show->world_count > 1; i++) {
        sac_show_world *w = &show->worlds[i];
        const sac_staging *s = &w->staging;
        float half = 0.5f * sac_canvas_text_width(LETTERS, w->policy), away[3];
        sac_canvas_clear(&w->label);
        if (!sac_canvas_text(&w->label, -half, 0, LETTERS, INK, w->policy)) return false;
        sac_panel *panel = add_panel(drawing, &w->label);
        if (!panel) return true;
        for (int k = 0; k < 3; k++) panel->position[k] = w->origin[k];
        panel->position[1] += 0.02f * s->apart;
        panel->position[2] +=
            (s->glazed ? s->glass.high[2] : s->target[2] + 0.4f * s->apart) + 0.12f * s->apart;
        panel->in_world = true;
        panel->unit = 0.075f * s->apart / (float)LETTERS;
        for (int k = 0; k < 3; k++) away[k] = panel->position[k] - head[k];
        away[0] = away[1] = 0; /* turned to the side its end would be in the heap */
        sac_look_rotation(away, panel->rotation);
    }
    return true;
}

/* ---- all of it ---- */

static void set_sky(const sac_show *show, sac_drawing *drawing)
{
    const sac_staging *s = &show->worlds[0].staging;
    float reach = 0, far = 0;
    for (int k = 0; k < 3; k++) far += (s->eye[k] - s->target[k]) * (s->eye[k] - s->target[k]);
    reach = 1.2f * sqrtf(far);
    if (s->bounded) {
        reach = 0;
        for (int k = 0; k < 3; k += 2) reach = fmaxf(reach, 0.75f * (s->bounds.high[k] - s->bounds.low[k]));
    }
    if (show->world_count > 1) reach += 0.5f * s->apart;
    if (s->shade > 0) reach = s->shade;
    drawing->sky.shadow_reach = fminf(fmaxf(reach, 1), 60);
    if (s->sun[0] != 0 || s->sun[1] != 0 || s->sun[2] != 0)
        memcpy(drawing->sky.sun, s->sun, sizeof drawing->sky.sun);
    memcpy(drawing->sky.focus, s->target, sizeof s->target);
    drawing->sky.grid = s->gravity[1] < 0;
    for (size_t i = 0; i < s->props.count; i++)
        if (s->props.data[i].kind == SAC_PROP_PLANE && s->props.data[i].form.normal[1] > 0.9f)
            drawing->sky.ground_height = s->props.data[i].form.offset;
}

sac_result sac_show_draw(sac_show *show, const sac_eye *eyes, uint32_t eye_count, const sac_show_look *look,
                         sac_drawing *out, sac_error *error)
{
    static const sac_show_look plain = {0};
    if (!look) look = &plain;
    uint64_t cpu = sac_time_thread_cpu_ns();
    sac_result result = SAC_OK;
    bool room = true;
    *out = sac_default_drawing();
    if (eye_count > SAC_DRAWING_MOST_VIEWS) eye_count = SAC_DRAWING_MOST_VIEWS;
    out->views = eyes, out->view_count = eye_count;
    show->instances.count = show->skinned.count = show->lines.count = show->balls.count = 0;
    show->stats.bodies = 0;
    set_sky(show, out);
    for (uint32_t i = 0; i < show->world_count && result == SAC_OK; i++) {
        result = add_bodies(show, &show->worlds[i], error);
        room = room && add_glass(show, &show->worlds[i]) && add_strings(show, &show->worlds[i]) &&
               add_insight(show, &show->worlds[i]);
    }
    room = room && add_hands(show);
    if (eye_count) {
        if (show->worlds[0].insight.strip && !look->no_strip)
            room = room && add_strips(show, eyes, eye_count, look, out);
        room = room && add_legend(show, eyes, eye_count, look, out) && add_labels(show, eyes, eye_count, out);
    }
    if (result == SAC_OK && !room) result = sac_show_no_memory(error);
    out->instances = show->instances.data, out->instance_count = (uint32_t)show->instances.count;
    out->skinned = show->skinned.data, out->skinned_count = (uint32_t)show->skinned.count;
    out->joint_count = (uint32_t)show->joints[0].count;
    if (out->joint_count) {
        out->joints = (const sac_joint *)show->joints[show->newest].data;
        out->joints_before = (const sac_joint *)show->joints[show->newest ^ 1].data;
        out->blend = (float)show->alpha;
    }
    out->lines = show->lines.data, out->line_count = (uint32_t)show->lines.count;
    out->balls = show->balls.data, out->ball_count = (uint32_t)show->balls.count;
    show->stats.own_ns = show->own_ns + (sac_time_thread_cpu_ns() - cpu);
    show->own_ns = 0;
    return result;
}
