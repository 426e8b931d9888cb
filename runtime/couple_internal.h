/* Two bodies that may meet: how they move against each other, and until when it is known that they do not.
 * Private to runtime/. */
#ifndef SAC_RUNTIME_COUPLE_INTERNAL_H
#define SAC_RUNTIME_COUPLE_INTERNAL_H

#include "runtime/world_internal.h"

/* A and b as their pair has them, and how they move against each other. */
typedef struct sac_couple {
    uint32_t a, b;
    const sac_body_hot *x, *y;
    float d[3], distance; /* between the centres; -1: one of them has no end */
    float motion;         /* how far their surfaces may come closer this frame */
} sac_couple;

sac_couple sac_couple_of(const sac_world *world, uint32_t a, uint32_t b);
/* How far apart things count when the two are looked at. */
float sac_couple_margin(const sac_world *world, const sac_couple *c);
/* One is in the way of the other, which will not give way. `either`: the flags of both. */
bool sac_couple_is_blow(const sac_world *world, const sac_couple *c, uint32_t either);
/* Before when they cannot meet, told to the pair's watch; false: they may now. */
bool sac_couple_foresee(const sac_world *world, sac_pair_watch *watch, const sac_couple *c, float margin);

/* How fast turning moves the farthest point of a body; nothing without end turns. */
static inline float sac_turn_now(const sac_body_hot *hot)
{
    const float *w = hot->w;
    return hot->radius < 1e18f ? sqrtf(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]) * hot->radius : 0;
}
static inline float sac_turn_of(const sac_world *world, uint32_t slot)
{
    return world->flags[slot] & SAC_BODY_CHOSEN ? world->turn[slot] : sac_turn_now(&world->hot[slot]);
}

static inline void sac_clear_no_longer(sac_world *world, uint32_t slot, uint32_t until)
{
    if (until < world->clear_until[slot]) world->clear_until[slot] = until;
}

/* Until when they cannot meet, if what that was concluded from still holds; 0: they may now. Without
 * branches: it is as good as random which pairs those are. */
static inline uint32_t sac_apart_until(const sac_pair_watch *watch, const sac_body_hot *x,
                                       const sac_body_hot *y)
{
    uint32_t jolt = x->jolt > y->jolt ? x->jolt : y->jolt, halt = x->halt > y->halt ? x->halt : y->halt;
    halt = watch->together ? halt : 0;
    jolt = jolt > halt ? jolt : halt;
    return watch->skip_set >= jolt ? watch->skip_until : 0;
}

#endif
