/* What flies by itself. Where it goes is known, so a box holds it for longer than what touches others, a
 * look at those about it lasts for many frames, and neither takes a turn. */
#include "runtime/world_internal.h"

#include <string.h>

/* So many frames a box is made for at the most; where bodies have more than so many pairs each. */
static const float MOST_FRAMES = 14, MOST_CROWDED = 4;
enum { CROWD = 3 };
/* Beyond the margin: what a motion may differ from the parabola and still count as it. */
static const float FAT = 0.005f;
/* What tumbles may turn this much faster later on. */
static const float TUMBLE = 1.5f;
/* A change of velocity in one step, m/s, that keeps to FAT for as long as a box lasts. */
static const float ASTRAY = 0.01f;

static float length3(const float v[3]) { return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* Nothing but gravity changes its velocity, and damping, which takes it less far. */
static bool falls_freely(const sac_world *world, uint32_t slot)
{
    const uint32_t flags = world->flags[slot] & (SAC_BODY_YIELDS | SAC_BODY_SOFT | SAC_BODY_HELD);
    return flags == SAC_BODY_YIELDS && !world->touches[slot];
}

/* Lowest and highest of where v t + g t^2 / 2 comes until T, stepped or not. */
static void way_along(float v, float g, float T, float dt, float *out_low, float *out_high)
{
    float end = v * T + 0.5f * g * T * T, stepped = end + 0.5f * g * T * dt;
    float top = v * g < 0 && fabsf(v) < fabsf(g) * (T + dt) ? -0.5f * v * v / g : 0;
    *out_low = fminf(fminf(0, top), fminf(end, stepped));
    *out_high = fmaxf(fmaxf(0, top), fmaxf(end, stepped));
}

uint32_t sac_body_flight_box(const sac_world *world, uint32_t slot, sac_box *box)
{
    const sac_body_hot *hot = &world->hot[slot];
    if (!falls_freely(world, slot)) return 0;
    float dt = world->longest_dt, scale = world->cold[slot].gravity_scale, fat = world->def.margin + FAT,
          reach = hot->radius + fat;
    bool crowded = world->broad->pair_count > CROWD * world->awake_count;
    float share = sac_body_spread(slot), most = crowded ? MOST_CROWDED : MOST_FRAMES;
    /* Far ahead only while it is cheap. */
    float step = (length3(hot->v) + fabsf(scale) * world->gravity_size * most * dt) * dt;
    uint32_t frames = (uint32_t)(share * fminf(most, step > 0 ? 3 * reach / step : most) + 0.5f);
    if (frames < 2) return 0;
    float T = (float)frames * dt, spin = TUMBLE * length3(hot->w) * hot->radius * T;
    for (int i = 0; i < 3; i++) {
        float low = box->low[i] - fat - spin, high = box->high[i] + fat + spin, back, forth;
        /* However it turns, it stays in its ball. */
        if (low < hot->centre[i] - reach) low = hot->centre[i] - reach;
        if (high > hot->centre[i] + reach) high = hot->centre[i] + reach;
        way_along(hot->v[i], scale * world->def.gravity[i], T, dt, &back, &forth);
        box->low[i] = low + back;
        box->high[i] = high + forth;
    }
    return frames;
}

void sac_body_strayed(sac_world *world, uint32_t slot, const float change[3])
{
    const sac_body_cold *cold = &world->cold[slot];
    const float *v = world->hot[slot].v, dt = world->step_dt, keep = 1 / (1 + cold->linear_damping * dt);
    float other[3];
    for (int i = 0; i < 3; i++)
        other[i] = v[i] + change[i] - (v[i] + cold->gravity_scale * world->def.gravity[i] * dt) * keep;
    if (!(length3(other) < ASTRAY)) world->box_until[slot] = 0;
}
