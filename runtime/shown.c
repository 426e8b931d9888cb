/* Where a body is drawn. One that has its turn in every frame is drawn where it is. In a crowd that does not
 * fit, each has a turn now and then and makes a whole step in it; drawn like that it would jerk, and jerks
 * are seen anywhere in the field of view. So the step of a turn is drawn over as many frames as the body had
 * waited for it: a crowd that is slower than the clock is seen in slow motion, not as a row of stills. What
 * is simulated and measured knows nothing of it. */
#include "runtime/world_internal.h"

/* Nobody is drawn farther behind than this: a third of a second. */
enum { MOST_FRAMES = 30 };

/* What is left, after this frame, of the way it was behind when its turn came. */
static float left(const sac_body_lag *lag, uint32_t frame)
{
    uint32_t gone = frame - lag->since + 1u;
    return gone < lag->frames ? 1 - (float)gone / (float)lag->frames : 0;
}

void sac_body_lag_behind(sac_world *world, uint32_t slot, uint32_t waited)
{
    sac_body_lag *lag = &world->lag[slot];
    const sac_body_hot *hot = &world->hot[slot];
    float before = left(lag, world->frame - 1u);
    for (int i = 0; i < 3; i++) {
        lag->way[i] = before * lag->way[i] - hot->moved[i];
        lag->turn[i] = before * lag->turn[i] - hot->turned[i];
    }
    lag->since = world->frame;
    lag->frames = waited < MOST_FRAMES ? waited : MOST_FRAMES;
    world->lags_until[slot] = world->frame + lag->frames;
}

void sac_body_lag_no_more(sac_world *world, uint32_t slot)
{
    world->lag[slot].frames = 0;
    world->lags_until[slot] = 0;
}

void sac_body_shown(const sac_world *world, uint32_t slot, sac_transform *out)
{
    const sac_body_lag *lag = &world->lag[slot];
    const uint32_t free = SAC_BODY_AWAKE | SAC_BODY_YIELDS;
    *out = world->pose[slot];
    if ((world->flags[slot] & (free | SAC_BODY_SOFT | SAC_BODY_HELD)) != free) return;
    float part = left(lag, world->frame), turn[3], offset[3];
    if (!(part > 0)) return;
    for (int i = 0; i < 3; i++) turn[i] = part * lag->turn[i];
    sac_turn(out->rotation, turn);
    sac_body_centre_offset(world, slot, out, offset);
    for (int i = 0; i < 3; i++)
        out->translation[i] = world->hot[slot].centre[i] + part * lag->way[i] - offset[i];
}
