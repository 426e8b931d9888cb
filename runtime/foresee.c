/* Until when two bodies cannot meet, from their space-time bounds; and who is told when one moves otherwise
 * than that counted on. */
#include "runtime/couple_internal.h"

/* How much faster than falling a velocity may change before what was concluded from it is void. */
static const float ACCELERATION_MARGIN = 10;
/* The same for two that fall together and touch nothing: that they begin to is told. A step in a turn and one
 * without differ by a part of what gravity does in it. */
static const float FREE_MARGIN = 0.1f, STEPPED = 0.2f;
enum { MOST_SKIP = 90 };
/* To find those about a body takes as long as to tell so many. */
enum { ALARMS_A_BODY = 4 };

static float length3(const float v[3]) { return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }
static float smaller(float a, float b) { return a < b ? a : b; }

/* One whose turn it is not stands still, whatever its velocity says. */
static void speed_of(const sac_world *world, uint32_t slot, float out[3])
{
    const float *v = world->hot[slot].v;
    bool moves = world->flags[slot] & SAC_BODY_CHOSEN || !sac_body_dynamic(world, slot) ||
                 !sac_world_starves(world) || sac_body_flies(world, slot);
    for (int i = 0; i < 3; i++) out[i] = moves ? v[i] : 0;
}

sac_couple sac_couple_of(const sac_world *world, uint32_t a, uint32_t b)
{
    sac_couple c;
    c.a = a, c.b = b, c.x = &world->hot[a], c.y = &world->hot[b];
    float u[3], v[3], turn = sac_turn_of(world, a) + sac_turn_of(world, b);
    speed_of(world, a, u);
    speed_of(world, b, v);
    for (int i = 0; i < 3; i++) {
        c.d[i] = c.y->centre[i] - c.x->centre[i];
        v[i] -= u[i];
    }
    bool ends = c.x->radius < 1e18f && c.y->radius < 1e18f;
    c.distance = ends ? length3(c.d) : -1;
    float speed = length3(v);
    c.motion = (speed + turn + world->gravity_size * world->step_dt) * world->step_dt;
    return c;
}

/* Frames until the two horns may meet, 0: now. */
static uint32_t frames_apart(const sac_world *world, const sac_couple *c, float margin, bool *out_together)
{
    if (c->distance < 0) return 0;
    float gap = c->distance - c->x->radius - c->y->radius - margin;
    if (!(gap > 0)) return 0;
    float one = 0, other = 0;
    for (int i = 0; i < 3; i++) {
        one += c->x->v[i] * c->d[i];
        other -= c->y->v[i] * c->d[i];
    }
    float closing = one + other;
    uint32_t either = world->flags[c->a] | world->flags[c->b], both = world->flags[c->a] & world->flags[c->b];
    const uint32_t falling = SAC_BODY_PLAIN | SAC_BODY_YIELDS | SAC_BODY_AWAKE;
    bool together = (both & falling) == falling && !(world->touches[c->a] | world->touches[c->b]) &&
                    !(either & (SAC_BODY_HELD | SAC_BODY_SOFT | SAC_BODY_STOPPED));
    *out_together = together;
    /* Where time is short either may have to stand still while the other moves on. */
    if (!together && sac_world_starves(world)) closing = fmaxf(closing, fmaxf(one, other));
    closing = closing / c->distance + (together ? STEPPED * world->gravity_size * world->longest_dt : 0);
    float M = 2 * (together ? FREE_MARGIN : world->gravity_size + ACCELERATION_MARGIN);
    float frames = sac_horn_meet(gap, closing, M) / world->longest_dt;
    return frames >= MOST_SKIP ? MOST_SKIP : (uint32_t)frames;
}

/* One is in the way of the other, which will not give way. */
bool sac_couple_is_blow(const sac_world *world, const sac_couple *c, uint32_t either)
{
    return either & SAC_BODY_STRUCK && (sac_body_strikes(world, c->a) || sac_body_strikes(world, c->b));
}

float sac_couple_margin(const sac_world *world, const sac_couple *c)
{
    uint32_t either = world->flags[c->a] | world->flags[c->b];
    bool blow = sac_couple_is_blow(world, c, either);
    float thin = smaller(c->x->thickness, c->y->thickness);
    float margin = world->def.margin + (blow ? c->motion : smaller(c->motion, 0.5f * thin));
    if (either & SAC_BODY_SOFT) margin += sac_world_soft_margin(world, c->a, c->b);
    return margin;
}

/* Before when they cannot meet; false: they may now. */
bool sac_couple_foresee(const sac_world *world, sac_pair_watch *watch, const sac_couple *c, float margin)
{
    uint32_t frames = frames_apart(world, c, margin, &watch->together);
    /* What was foreseen before may have counted on falling together. */
    watch->skip_until = frames ? world->frame + frames : 0;
    if (!frames) return false;
    watch->skip_set = world->frame;
    return true;
}

void sac_pair_foresee(sac_world *world, uint32_t p)
{
    const sac_broad_pair *pair = &world->broad->pairs[p];
    sac_pair_watch *watch = &world->watch[p];
    sac_couple c = sac_couple_of(world, pair->a, pair->b);
    sac_couple_foresee(world, watch, &c, sac_couple_margin(world, &c));
    sac_clear_no_longer(world, pair->a, watch->skip_until);
    sac_clear_no_longer(world, pair->b, watch->skip_until);
}

void sac_world_expect(sac_world *world, float dt)
{
    const float more = 1.05f * dt;
    bool holds = dt <= world->longest_dt;
    world->longest_dt = holds ? fmaxf(more, 0.98f * world->longest_dt) : more;
    if (holds) return;
    for (uint32_t i = 0; i < world->slot_count; i++) {
        world->hot[i].jolt = world->frame;
        world->clear_until[i] = world->box_until[i] = 0;
    }
}

/* Those about it may fly on for this frame and no longer; `only_together`: of those that counted on it to
 * fall as they do. */
static void alarm(sac_world *world, uint32_t slot, bool only_together)
{
    sac_broad_row row;
    sac_broad_rows(world->broad, &slot, 1, &row);
    for (uint32_t i = 0; i < row.count; i++)
        if (!only_together || world->watch[row.mates[i].pair].together ||
            world->watch[row.mates[i].pair].touching)
            sac_clear_no_longer(world, row.mates[i].other, world->frame + 1);
}

void sac_body_startle(sac_world *world, uint32_t slot)
{
    sac_body_hot *hot = &world->hot[slot];
    /* What was concluded in this frame was so before this. */
    bool known = hot->jolt == world->frame + 1 || hot->halt == world->frame + 1;
    hot->jolt = world->frame + 1;
    world->clear_until[slot] = world->box_until[slot] = 0;
    if (!known) alarm(world, slot, false);
}

void sac_body_look_again(sac_world *world, uint32_t slot)
{
    const sac_broad *broad = world->broad;
    if (world->touches[slot] || world->flags[slot] & (SAC_BODY_SOFT | SAC_BODY_STOPPED) ||
        !sac_body_dynamic(world, slot)) {
        sac_body_startle(world, slot);
        return;
    }
    world->hot[slot].jolt = world->frame;
    world->clear_until[slot] = UINT32_MAX;
    world->box_until[slot] = 0;
    for (uint32_t p = broad->first_pair[slot]; p != SAC_NO_PAIR; p = sac_broad_next(broad, p, slot))
        sac_pair_foresee(world, p);
}

uint32_t sac_body_stop(sac_world *world, uint32_t slot, bool closely, uint32_t *list, uint32_t count)
{
    const sac_broad *broad = world->broad;
    world->flags[slot] |= SAC_BODY_STOPPED;
    world->hot[slot].halt = world->frame;
    world->clear_until[slot] = 0;
    for (uint32_t p = broad->first_pair[slot]; p != SAC_NO_PAIR; p = sac_broad_next(broad, p, slot)) {
        const sac_broad_pair *pair = &broad->pairs[p];
        sac_pair_watch *watch = &world->watch[p];
        uint32_t other = pair->a == slot ? pair->b : pair->a;
        if (!(watch->together | watch->touching) || world->clear_until[other] <= world->frame) continue;
        const uint32_t awake = SAC_BODY_YIELDS | SAC_BODY_AWAKE, any = awake | SAC_BODY_CHOSEN;
        bool flies = (world->flags[other] & any) == awake && sac_body_flies(world, other);
        uint32_t until = 0;
        if (!watch->touching && !closely) until = world->frame + 1;
        if (!watch->touching && closely) {
            sac_couple c = sac_couple_of(world, pair->a, pair->b);
            if (sac_couple_foresee(world, watch, &c, sac_couple_margin(world, &c))) until = watch->skip_until;
        }
        sac_clear_no_longer(world, other, until);
        if (!flies || world->clear_until[other] > world->frame) continue;
        world->flags[other] |= SAC_BODY_STOPPED;
        list[count++] = other;
    }
    return count;
}

void sac_body_halt(sac_world *world, uint32_t slot)
{
    sac_body_hot *hot = &world->hot[slot];
    bool known = hot->jolt == world->frame + 1 || hot->halt == world->frame + 1;
    hot->halt = world->frame + 1;
    world->clear_until[slot] = 0;
    if (known) return;
    world->halts += ALARMS_A_BODY + world->listed[slot];
    if (world->halts <= world->alarms) {
        alarm(world, slot, true);
        return;
    }
    const sac_box *box = &world->broad->boxes[slot];
    sac_box_add(&world->alarmed, box->low);
    sac_box_add(&world->alarmed, box->high);
}
