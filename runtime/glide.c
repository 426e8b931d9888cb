/* What touches others and moves evenly: rolls on a floor, slides, lies on something that is carried along.
 * For some frames it goes on by itself as well as what flies does, and those of its turn need not look. */
#include "runtime/world_internal.h"

/* The longest; longer than a crowd that is served one in ten needs. */
enum { MOST_FRAMES = 16, ALWAYS = 255 };
/* Of its thickness: what a change of velocity like the last may make of its way until it is looked at, if
 * nobody can tell that; and how far it may go along what has edges. */
static const float ASTRAY = 0.02f, ALONG = 0.25f;

static float length3(const float v[3]) { return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

void sac_body_steady(sac_world *world, uint32_t slot, const float change[3], const float spin_change[3])
{
    const sac_body_hot *hot = &world->hot[slot];
    float dt = world->step_dt, turn = length3(spin_change) * hot->radius, less[3];
    for (int i = 0; i < 3; i++)
        less[i] = change[i] - world->def.gravity[i] * world->cold[slot].gravity_scale * dt;
    /* Borne by what it touches, or falling beside it. */
    float borne = length3(change), falls = length3(less);
    float off = ((borne < falls ? borne : falls) + turn) * dt, way = 2 * ASTRAY * hot->thickness;
    /* As far as one JND at the most. */
    if (world->urgency[slot] * way > 2 * SAC_BODY_SIGHT) way = 2 * SAC_BODY_SIGHT / world->urgency[slot];
    world->flags[slot] &= ~(uint32_t)SAC_BODY_BORNE;
    if (borne < falls) world->flags[slot] |= SAC_BODY_BORNE;
    /* An acceleration a takes it a t^2 / 2 off its way. */
    float frames = off * MOST_FRAMES * MOST_FRAMES > way ? sqrtf(way / off) : MOST_FRAMES;
    world->steady[slot] = (uint8_t)frames;
}

/* For how long one of two that touch goes on as it does now. */
static uint32_t frames_of(const sac_world *world, uint32_t slot)
{
    uint32_t flags = world->flags[slot];
    const sac_body_hot *hot = &world->hot[slot];
    if (!(flags & SAC_BODY_AWAKE)) return ALWAYS;
    if (!sac_body_dynamic(world, slot)) return length3(hot->v) + length3(hot->w) > 0 ? 0 : ALWAYS;
    if (flags & (SAC_BODY_HELD | SAC_BODY_SOFT)) return 0;
    if (flags & SAC_BODY_CHOSEN) return world->steady[slot];
    if (sac_body_lies(world, slot)) return ALWAYS;
    uint32_t until = sac_body_flies(world, slot) ? world->clear_until[slot] : 0;
    return until > world->frame + 1 ? until - world->frame - 1 : 0;
}

/* How fast its outline changes as it turns: a ball's does not. */
static float turning(const sac_body_hot *hot)
{
    return hot->thickness > 1.9f * hot->radius ? 0 : length3(hot->w) * hot->radius;
}

static bool falls(const sac_world *world, uint32_t slot)
{
    uint32_t flags = world->flags[slot];
    return sac_body_dynamic(world, slot) && flags & SAC_BODY_AWAKE && !(flags & SAC_BODY_BORNE) &&
           (flags & SAC_BODY_CHOSEN || !sac_body_lies(world, slot));
}

/* Two that touched and do not bear on each other have room between them: for so many frames after this one.
 */
static uint32_t frames_of_room(const sac_world *world, uint32_t p, float thin)
{
    const sac_broad_pair *pair = &world->broad->pairs[p];
    float dt = world->step_dt, closing = sac_pair_approach(world, p);
    float room = ASTRAY * thin - world->memory[p].depth - closing * dt;
    /* One falls and the other does not. */
    uint32_t which = falls(world, pair->a) ? pair->a : pair->b;
    bool together = falls(world, pair->a) == falls(world, pair->b);
    float a = together ? 0 : world->gravity_size * fabsf(world->cold[which].gravity_scale);
    if (!(room > 0)) return 0;
    float pace = closing + sqrtf(closing * closing + 2 * a * room);
    float frames = 2 * room > pace * dt * MOST_FRAMES ? MOST_FRAMES : 2 * room / (pace * dt);
    return (uint32_t)frames;
}

uint32_t sac_pair_glides(const sac_world *world, uint32_t p)
{
    const sac_broad_pair *pair = &world->broad->pairs[p];
    const sac_body_hot *x = &world->hot[pair->a], *y = &world->hot[pair->b];
    uint32_t a = frames_of(world, pair->a), b = a ? frames_of(world, pair->b) : 0, frames = a < b ? a : b;
    float thin = x->thickness < y->thickness ? x->thickness : y->thickness;
    if (frames) {
        uint32_t room = frames_of_room(world, p, thin);
        if (room < frames) frames = room;
    }
    /* What has no end has no edges. */
    if (!frames || x->radius > 1e18f || y->radius > 1e18f) return frames;
    float v[3];
    for (int i = 0; i < 3; i++) v[i] = x->v[i] - y->v[i];
    float way = (length3(v) + turning(x) + turning(y)) * world->step_dt;
    return way * (float)frames <= ALONG * thin ? frames : (uint32_t)(ALONG * thin / way);
}
