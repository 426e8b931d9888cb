/* Hands in the world: stopped by walls, taking hold, letting go, and what is felt of it. */
#include "xr/hands.h"

#include <string.h>

/* Closed above the one, open below the other, so that a finger that trembles does not drop things. */
static const float CLOSE = 0.6f, OPEN = 0.35f;
/* A hand lost from sight holds on this long. */
static const float LOST_S = 0.25f;
/* Farther from the tracked pose: a ghost is worth showing. */
static const float APART_M = 0.005f;
static const float FINGER_M = 0.11f; /* from palm to fingertip of a controller's hand */
static const float PULSE_EVERY_S = 0.05f;
static const float HAND_KG = 0.6f; /* what a wall feels of a hand */
static const float MOST_THROW = 30.0f, MOST_SPIN = 40.0f;

static float length3(const float v[3]) { return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static float dot3(const float a[3], const float b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void forward(const float q[4], float out[3])
{
    sac_transform t = {.scale = 1};
    memcpy(t.rotation, q, sizeof t.rotation);
    sac_transform_point(&t, (float[3]){0, 0, -1}, out);
}

static bool is_rotation(const float q[4])
{
    return fabsf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1) <= 0.01f;
}

/* ---- beginning and end ---- */

sac_result sac_hands_init(sac_hands *hands, sac_world *world, sac_error *error)
{
    *hands = (sac_hands){.radius = 0.05f,
                         .tip_radius = 0.012f,
                         .reach = 0.08f,
                         .most_speed = 12,
                         .category = 1u << 31,
                         .mask = ~(1u << 31)};
    for (int h = 0; h < SAC_HANDS; h++) hands->hand[h].rotation[3] = 1;
    sac_form ball, tip;
    sac_result result = sac_form_sphere(&ball, hands->radius, error);
    if (result == SAC_OK) result = sac_form_sphere(&tip, hands->tip_radius, error);
    if (result == SAC_OK) result = sac_world_add_shape(world, &ball, &hands->shape, error);
    if (result != SAC_OK) return result;
    result = sac_world_add_shape(world, &tip, &hands->finger_shape, error);
    if (result != SAC_OK) {
        sac_world_remove_shape(world, hands->shape, NULL);
        hands->shape = (sac_shape_id){0};
    }
    return result;
}

static void let_go(sac_hand_state *hand, sac_world *world)
{
    if (hand->grab.value) sac_grab_destroy(world, hand->grab, NULL);
    hand->released = hand->held;
    hand->grab = (sac_grab_id){0};
    hand->held = (sac_body_id){0};
}

static void put_away(sac_body_id *body, sac_world *world)
{
    if (body->value) sac_body_destroy(world, *body, NULL);
    *body = (sac_body_id){0};
}

static void leave(sac_hand_state *hand, sac_world *world)
{
    let_go(hand, world);
    put_away(&hand->body, world);
    put_away(&hand->finger, world);
    hand->active = hand->closed = hand->stopped = hand->poking = false;
    hand->history_count = hand->history_next = 0;
    hand->time_ns = 0;
    hand->pulse = hand->bump = 0;
    hand->released = (sac_body_id){0};
}

void sac_hands_fini(sac_hands *hands, sac_world *world)
{
    for (int h = 0; h < SAC_HANDS; h++) leave(&hands->hand[h], world);
    if (hands->shape.value) sac_world_remove_shape(world, hands->shape, NULL);
    if (hands->finger_shape.value) sac_world_remove_shape(world, hands->finger_shape, NULL);
    hands->shape = hands->finger_shape = (sac_shape_id){0};
}

/* ---- where the hand can be ---- */

/* Out of a wall it finds itself in, by the shortest way, again for the next one. */
static void push_out(const sac_hands *hands, const sac_world *world, float radius, float position[3])
{
    for (int round = 0; round < 8; round++) {
        sac_body_id found[64];
        uint32_t count;
        float worst = -0.02f * radius, way[3] = {0};
        if (sac_world_overlap(world, position, radius, hands->mask, found, 64, &count, NULL) != SAC_OK)
            return;
        for (uint32_t i = 0; i < count && i < 64; i++) {
            sac_body_state state;
            float normal[3];
            if (sac_body_get(world, found[i], &state, NULL) != SAC_OK || state.kind != SAC_BODY_STATIC ||
                state.sensor)
                continue;
            float gap = sac_form_distance(sac_world_shape_form(world, state.shape), &state.pose, position,
                                          radius, NULL, normal) -
                        radius;
            if (gap >= worst) continue;
            worst = gap;
            for (int k = 0; k < 3; k++) way[k] = (0.005f * radius - gap) * normal[k];
        }
        if (worst == -0.02f * radius) return;
        for (int k = 0; k < 3; k++) position[k] += way[k];
    }
}

/* Towards `target`, no farther than `most`: straight, then along what is in the way, then along the edge of
 * two. Returns the speed times dt it ran into the first wall with. */
static float advance(const sac_hands *hands, const sac_world *world, float radius, float position[3],
                     const float target[3], float most)
{
    float walls[3][3], bump = 0;
    int wall_count = 0;
    for (int round = 0; round < 6 && most > 0; round++) {
        float motion[3], length;
        sac_world_hit hit;
        for (int k = 0; k < 3; k++) motion[k] = target[k] - position[k];
        for (int w = 0; w < wall_count; w++) {
            float into = dot3(motion, walls[w]);
            for (int k = 0; k < 3 && into < 0; k++) motion[k] -= into * walls[w][k];
        }
        if (wall_count == 2) {
            /* What one wall takes away the other may give back: only the edge between them is free. */
            float edge[3] = {walls[0][1] * walls[1][2] - walls[0][2] * walls[1][1],
                             walls[0][2] * walls[1][0] - walls[0][0] * walls[1][2],
                             walls[0][0] * walls[1][1] - walls[0][1] * walls[1][0]};
            float n = dot3(edge, edge);
            if (n > 1e-4f && (dot3(motion, walls[0]) < 0 || dot3(motion, walls[1]) < 0)) {
                float along = dot3(motion, edge) / n;
                for (int k = 0; k < 3; k++) motion[k] = along * edge[k];
            }
        }
        length = length3(motion);
        if (!(length > 1e-6f)) break;
        if (length > most)
            for (int k = 0; k < 3; k++) motion[k] *= most / length;
        if (sac_world_sweep(world, position, radius, motion, hands->mask, SAC_KIND_BIT(SAC_BODY_STATIC), &hit,
                            NULL) != SAC_OK)
            break;
        for (int k = 0; k < 3; k++) position[k] += hit.t * motion[k];
        most -= hit.t * length3(motion);
        if (!hit.body.value) break;
        if (round == 0) bump = -dot3(motion, hit.normal);
        if (wall_count == 3) break;
        memcpy(walls[wall_count++], hit.normal, sizeof hit.normal);
    }
    return bump > 0 ? bump : 0;
}

/* ---- bodies ---- */

static sac_result make_body(const sac_hands *hands, sac_world *world, sac_shape_id shape,
                            const float position[3], const float rotation[4], sac_body_id *out,
                            sac_error *error)
{
    sac_body_def def = sac_default_body_def();
    def.kind = SAC_BODY_KINEMATIC;
    def.shape = shape;
    def.filter = (sac_filter){.category = hands->category, .mask = hands->mask};
    def.material.friction = 0.9f;
    memcpy(def.position, position, sizeof def.position);
    memcpy(def.rotation, rotation, sizeof def.rotation);
    return sac_body_create(world, &def, out, error);
}

/* A full hand meets nobody by itself: what it holds does. Nor does one that has just let go, until they are
 * apart, or it would give what it throws a second push. */
static void set_meeting(const sac_hands *hands, sac_hand_state *hand, sac_world *world)
{
    sac_body_state state;
    if (hand->released.value) {
        bool apart = sac_body_get(world, hand->released, &state, NULL) != SAC_OK;
        if (!apart)
            apart = sac_form_distance(sac_world_shape_form(world, state.shape), &state.pose, hand->position,
                                      hands->radius + 0.02f, NULL, NULL) > hands->radius + 0.01f;
        if (apart) hand->released = (sac_body_id){0};
    }
    bool meets = !hand->held.value && !hand->released.value;
    if (meets == hand->meets) return;
    sac_filter filter = {.category = hands->category, .mask = meets ? hands->mask : 0};
    /* Without memory it is as it was, and tries again with the next frame. */
    if (sac_body_set_filter(world, hand->body, &filter, NULL) == SAC_OK) hand->meets = meets;
}

/* ---- history ---- */

static void remember(sac_hand_state *hand, const sac_hand_input *input, float dt)
{
    bool timed = input->time_ns != 0;
    if (timed && input->time_ns == hand->time_ns) return;
    float since = dt;
    if (timed && hand->time_ns) {
        double s = (double)(input->time_ns - hand->time_ns) * 1e-9;
        if (!(s > 0 && s < 1)) hand->history_count = 0; /* a clock that jumps tells nothing */
        since = (float)s;
    }
    hand->time_ns = input->time_ns;
    for (uint32_t i = 0; i < SAC_HAND_HISTORY; i++) hand->history[i][3] += since;
    uint32_t at = hand->history_next;
    memcpy(hand->history[at], input->position, sizeof input->position);
    hand->history[at][3] = 0;
    memcpy(hand->past_rotation[at], input->rotation, sizeof input->rotation);
    hand->history_next = (at + 1) % SAC_HAND_HISTORY;
    if (hand->history_count < SAC_HAND_HISTORY) hand->history_count++;
}

/* ---- taking hold and letting go ---- */

/* The nearest that can be held, no farther than the reach from the hand's skin. */
static sac_body_id find_near(const sac_hands *hands, const sac_world *world, const float position[3])
{
    sac_body_id found[256], best = {0};
    uint32_t count = 0;
    float nearest = hands->reach;
    if (sac_world_overlap(world, position, hands->reach, hands->mask, found, 256, &count, NULL) != SAC_OK)
        return best;
    for (uint32_t i = 0; i < count && i < 256; i++) {
        sac_body_state state;
        if (sac_body_get(world, found[i], &state, NULL) != SAC_OK || state.kind != SAC_BODY_DYNAMIC ||
            state.sensor)
            continue;
        float d = sac_form_distance(sac_world_shape_form(world, state.shape), &state.pose, position,
                                    hands->reach, NULL, NULL);
        if (d > nearest || (best.value && d == nearest)) continue;
        nearest = d;
        best = found[i];
    }
    return best;
}

/* Where the centre of what is held is wanted. Held by its centre it follows as one with the hand; held by a
 * point of its skin it would swing. */
static void wanted_centre(const sac_hand_state *hand, float out[3])
{
    sac_transform pose = {.scale = 1};
    memcpy(pose.translation, hand->position, sizeof hand->position);
    memcpy(pose.rotation, hand->rotation, sizeof pose.rotation);
    sac_transform_point(&pose, hand->hold, out);
}

static void take(const sac_hands *hands, sac_hand_state *hand, sac_world *world)
{
    sac_body_id body = find_near(hands, world, hand->position);
    sac_body_state state;
    if (!body.value || sac_body_get(world, body, &state, NULL) != SAC_OK) return;
    sac_grab_def def = sac_default_grab_def();
    def.body = body;
    sac_transform palm = {.scale = 1}, centre = {.scale = 1, .rotation = {0, 0, 0, 1}};
    memcpy(palm.translation, hand->position, sizeof hand->position);
    memcpy(palm.rotation, hand->rotation, sizeof palm.rotation);
    memcpy(centre.translation, state.centre, sizeof state.centre);
    memcpy(hand->hold, sac_transform_relative(&palm, &centre).translation, sizeof hand->hold);
    memcpy(def.anchor, state.centre, sizeof def.anchor);
    memcpy(def.target, state.centre, sizeof def.target);
    memcpy(def.rotation, hand->rotation, sizeof def.rotation);
    /* A light thing is not pressed through the table, a heavy one is too heavy. */
    def.most_force = fminf(500, 20 + 300 * state.mass);
    def.most_torque = fminf(50, 1 + 10 * state.mass);
    def.most_distance = 0.4f;
    if (sac_grab_create(world, &def, &hand->grab, NULL) == SAC_OK) hand->held = body;
}

static void limit(float v[3], float most)
{
    float n = length3(v);
    if (!(n <= most))
        for (int k = 0; k < 3; k++) v[k] = n <= FLT_MAX ? v[k] * (most / n) : 0;
}

static void throw_it(sac_hand_state *hand, sac_world *world)
{
    sac_body_id body = hand->held;
    sac_body_state state;
    let_go(hand, world);
    if (!body.value || sac_body_get(world, body, &state, NULL) != SAC_OK || state.kind != SAC_BODY_DYNAMIC)
        return;
    float v[3], w[3], arm[3];
    sac_hand_throw(hand, v, w);
    for (int k = 0; k < 3; k++) arm[k] = state.centre[k] - hand->position[k];
    v[0] += w[1] * arm[2] - w[2] * arm[1];
    v[1] += w[2] * arm[0] - w[0] * arm[2];
    v[2] += w[0] * arm[1] - w[1] * arm[0];
    limit(v, MOST_THROW);
    limit(w, MOST_SPIN);
    sac_body_set_velocity(world, body, v, w, NULL);
}

/* How far the hand is closed, 0 to 1. */
static float closing(const sac_hand_input *input, bool *by_select)
{
    float squeeze = input->squeeze > 0 ? input->squeeze : 0, select = input->select > 0 ? input->select : 0;
    if (input->joints_valid) {
        const float *thumb = input->joints[SAC_JOINT_THUMB_TIP], *index = input->joints[SAC_JOINT_INDEX_TIP];
        float d[3] = {thumb[0] - index[0], thumb[1] - index[1], thumb[2] - index[2]};
        float pinch = (0.05f - length3(d)) / 0.03f;
        if (pinch > squeeze) squeeze = fminf(pinch, 1);
    }
    *by_select = select > squeeze;
    return squeeze > select ? squeeze : select;
}

static void grip(const sac_hands *hands, sac_hand_state *hand, sac_world *world, const sac_hand_input *input)
{
    bool by_select, was = hand->closed;
    float amount = closing(input, &by_select);
    hand->closed = was ? amount > OPEN : amount > CLOSE;
    if (hand->grab.value) {
        sac_grab_state state;
        if (sac_grab_get(world, hand->grab, &state, NULL) != SAC_OK) { /* torn away, or its body is gone */
            hand->grab = (sac_grab_id){0};
            hand->released = hand->held;
            hand->held = (sac_body_id){0};
        }
    }
    if (hand->closed && !was) {
        take(hands, hand, world);
        hand->poking = by_select && !hand->held.value;
    } else if (!hand->closed && was && hand->held.value) {
        throw_it(hand, world);
    }
    if (!hand->closed) hand->poking = false;
    if (hand->grab.value) {
        float target[3];
        wanted_centre(hand, target);
        sac_grab_move(world, hand->grab, target, hand->rotation, NULL);
    }
}

/* ---- the finger ---- */

static bool find_tip(const sac_hand_state *hand, const sac_hand_input *input, float out[3])
{
    if (!hand->meets) return false;
    if (input->joints_valid && sac_vec3_is_finite(input->joints[SAC_JOINT_INDEX_TIP])) {
        /* As far from the hand as the tracked one is from its palm. */
        for (int k = 0; k < 3; k++)
            out[k] = hand->position[k] + input->joints[SAC_JOINT_INDEX_TIP][k] - input->position[k];
        return !hand->closed;
    }
    float ahead[3];
    forward(is_rotation(input->aim_rotation) ? input->aim_rotation : hand->rotation, ahead);
    for (int k = 0; k < 3; k++) out[k] = hand->position[k] + FINGER_M * ahead[k];
    return hand->poking;
}

static sac_result point(const sac_hands *hands, sac_hand_state *hand, sac_world *world,
                        const sac_hand_input *input, float dt, sac_error *error)
{
    float wanted[3], from[3];
    if (!find_tip(hand, input, wanted)) {
        put_away(&hand->finger, world);
        return SAC_OK;
    }
    sac_body_state state;
    bool there = sac_body_get(world, hand->finger, &state, NULL) == SAC_OK;
    memcpy(from, there ? state.pose.translation : hand->position, sizeof from);
    if (!there) {
        sac_result result =
            make_body(hands, world, hands->finger_shape, from, hand->rotation, &hand->finger, error);
        if (result != SAC_OK) return result;
    }
    advance(hands, world, hands->tip_radius, from, wanted, hands->most_speed * dt);
    memcpy(hand->tip, from, sizeof from);
    return sac_body_move_to(world, hand->finger, from, hand->rotation, error);
}

/* ---- a step ---- */

static bool is_seen(const sac_hand_input *input)
{
    return input->active && sac_vec3_is_finite(input->position) && is_rotation(input->rotation) &&
           length3(input->position) < 1e5f;
}

static sac_result follow(const sac_hands *hands, sac_hand_state *hand, sac_world *world,
                         const sac_hand_input *input, float dt, sac_error *error)
{
    sac_body_state state;
    bool there = hand->active && sac_body_get(world, hand->body, &state, NULL) == SAC_OK;
    float at[3], n = sqrtf(input->rotation[0] * input->rotation[0] + input->rotation[1] * input->rotation[1] +
                           input->rotation[2] * input->rotation[2] + input->rotation[3] * input->rotation[3]);
    for (int k = 0; k < 4; k++) hand->rotation[k] = input->rotation[k] / n;
    memcpy(hand->ghost, input->position, sizeof hand->ghost);
    memcpy(at, there ? state.pose.translation : input->position, sizeof at);
    push_out(hands, world, hands->radius, at);
    if (!there) {
        hand->history_count = hand->history_next = 0;
        hand->time_ns = 0;
        sac_result result = make_body(hands, world, hands->shape, at, hand->rotation, &hand->body, error);
        if (result != SAC_OK) return result;
        hand->meets = true;
    }
    bool was_stopped = hand->stopped;
    float into = advance(hands, world, hands->radius, at, input->position, hands->most_speed * dt);
    float off[3] = {at[0] - hand->ghost[0], at[1] - hand->ghost[1], at[2] - hand->ghost[2]};
    hand->stopped = length3(off) > APART_M;
    hand->bump = hand->stopped && !was_stopped ? HAND_KG * into / dt : 0;
    memcpy(hand->position, at, sizeof at);
    hand->active = true;
    hand->lost_s = 0;
    remember(hand, input, dt);
    grip(hands, hand, world, input);
    set_meeting(hands, hand, world);
    sac_result result = sac_body_move_to(world, hand->body, hand->position, hand->rotation, error);
    return result == SAC_OK ? point(hands, hand, world, input, dt, error) : result;
}

sac_result sac_hands_update(sac_hands *hands, sac_world *world, const sac_hand_input input[SAC_HANDS],
                            float dt, sac_error *error)
{
    sac_result result = SAC_OK;
    if (!(dt > 0 && dt <= 1))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "above 0 to 1 s", "step of the hands");
    for (int h = 0; h < SAC_HANDS && result == SAC_OK; h++) {
        sac_hand_state *hand = &hands->hand[h];
        hand->dt = dt;
        if (is_seen(&input[h])) {
            result = follow(hands, hand, world, &input[h], dt, error);
        } else if (hand->active) {
            hand->lost_s += dt;
            hand->bump = 0;
            if (hand->lost_s > LOST_S) leave(hand, world);
        }
    }
    return result;
}

/* ---- what is felt ---- */

float sac_hand_pulse(float impulse)
{
    /* From 0.01 N s, a marble laid down, to 5 N s, a blow: equal ratios are equal steps. */
    if (!(impulse > 0.005f)) return 0;
    float share = log2f(1 + impulse / 0.01f) / log2f(1 + 5 / 0.01f);
    return share < 1 ? share : 1;
}

static bool same(sac_body_id a, sac_body_id b) { return a.value && a.value == b.value; }

void sac_hands_feel(sac_hands *hands, const sac_world *world)
{
    const sac_contact_event *events;
    uint32_t count = sac_world_contact_events(world, &events);
    for (int h = 0; h < SAC_HANDS; h++) {
        sac_hand_state *hand = &hands->hand[h];
        hand->quiet_s += hand->dt;
        float impulse = hand->bump;
        hand->pulse = 0;
        if (!hand->active) continue;
        for (uint32_t i = 0; i < count; i++) {
            const sac_contact_event *e = &events[i];
            if (e->sensor || e->kind == SAC_CONTACT_END) continue;
            if (same(e->a, hand->body) || same(e->b, hand->body) || same(e->a, hand->finger) ||
                same(e->b, hand->finger) || same(e->a, hand->held) || same(e->b, hand->held))
                impulse = fmaxf(impulse, e->impulse);
        }
        float pulse = sac_hand_pulse(impulse);
        /* One after the other is a buzz; only a harder one comes through at once. */
        if (pulse <= 0 || (hand->quiet_s < PULSE_EVERY_S && pulse <= hand->felt)) continue;
        hand->pulse = hand->felt = pulse;
        hand->quiet_s = 0;
    }
}

void sac_hands_viewer(const sac_hands *hands, sac_viewer *viewer)
{
    for (uint32_t h = 0; h < SAC_HANDS && h < SAC_VIEWER_MOST_HANDS; h++) {
        const sac_hand_state *hand = &hands->hand[h];
        viewer->hands[h] = (sac_hand){.valid = hand->active, .radius = hands->radius + hands->reach};
        memcpy(viewer->hands[h].position, hand->position, sizeof hand->position);
    }
}
