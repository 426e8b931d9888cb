#include "scheduler/groups_internal.h"

void sac_groups_init(sac_groups *groups, uint32_t count, float share, uint32_t *next)
{
    if (count < SAC_GROUPS_LEAST) count = SAC_GROUPS_LEAST;
    if (count > SAC_GROUPS_MOST) count = SAC_GROUPS_MOST;
    *groups = (sac_groups){.count = count, .next = next};
    double speed = 1;
    for (uint32_t g = 0; g < count; g++) {
        groups->head[g] = groups->tail[g] = SAC_NOBODY;
        groups->speed[g] = speed;
        /* Beyond that a group's turn comes once in a day. */
        if (speed < 1e12) speed *= share > 1 ? (double)share : 1.0;
    }
    sac_groups_span(groups, 1, 8);
}

void sac_groups_span(sac_groups *groups, float top, float octaves)
{
    groups->top = sac_groups_logarithm(top > 1e-30f ? top : 1e-30f);
    groups->per_step = (float)groups->count / (octaves > 1 ? octaves : 1.0f);
}

void sac_groups_fill(sac_groups *groups, const uint8_t *group_of, uint32_t count)
{
    uint32_t head[SAC_GROUPS_MOST + 1], size[SAC_GROUPS_MOST + 1] = {0};
    uint32_t *end[SAC_GROUPS_MOST + 1]; /* where the next of the group is written */
    for (uint32_t g = 0; g <= SAC_GROUPS_MOST; g++) end[g] = &head[g];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t g = group_of[i] < SAC_GROUPS_MOST ? group_of[i] : SAC_GROUPS_MOST;
        *end[g] = i;
        end[g] = &groups->next[i];
        size[g]++;
    }
    for (uint32_t g = 0; g < groups->count; g++) {
        if (!size[g]) continue;
        *end[g] = SAC_NOBODY;
        groups->head[g] = head[g];
        groups->tail[g] = (uint32_t)(end[g] - groups->next);
        groups->size[g] = size[g];
        groups->filled |= 1u << g;
    }
}

static uint32_t take(sac_groups *groups, uint32_t group)
{
    uint32_t entry = groups->head[group];
    groups->head[group] = groups->next[entry];
    if (--groups->size[group] == 0) groups->filled &= ~(1u << group);
    return entry;
}

uint32_t sac_groups_turn(sac_groups *groups, uint32_t *out_group)
{
    uint32_t left = groups->filled;
    if (!left) return SAC_NOBODY;
    uint32_t best = (uint32_t)__builtin_ctz(left);
    for (left &= left - 1; left; left &= left - 1) {
        uint32_t g = (uint32_t)__builtin_ctz(left);
        if (groups->clock[g] < groups->clock[best]) best = g;
    }
    groups->now = groups->clock[best];
    *out_group = best;
    return take(groups, best);
}

uint32_t sac_groups_first(sac_groups *groups, uint32_t *out_group)
{
    if (!groups->filled) return SAC_NOBODY;
    *out_group = (uint32_t)__builtin_ctz(groups->filled);
    return take(groups, *out_group);
}
