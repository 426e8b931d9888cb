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

static void take_lines(sac_groups *groups, const uint32_t *head, const uint32_t *tail)
{
    for (uint32_t g = 0; g < groups->count; g++) {
        groups->head[g] = head[g], groups->tail[g] = tail[g];
        groups->filled |= (uint32_t)(head[g] != SAC_NOBODY) << g;
    }
}

void sac_groups_fill(sac_groups *groups, sac_groups *floor, const uint8_t *line, uint32_t count)
{
    uint32_t head[SAC_LINES], tail[SAC_LINES], *next = groups->next;
    memset(head, 0xff, sizeof head);
    memset(tail, 0xff, sizeof tail);
    /* From behind, each before those that are there: what is written does not wait for what is read. */
    for (uint32_t i = count, k = 0; i-- > 0; k++) {
        next[i] = head[line[i]];
        head[line[i]] = i;
        tail[line[k]] = k;
    }
    take_lines(groups, head, tail);
    if (floor) take_lines(floor, head + SAC_LINE_FLOOR, tail + SAC_LINE_FLOOR);
}

static uint32_t take(sac_groups *groups, uint32_t group)
{
    uint32_t entry = groups->head[group];
    groups->head[group] = groups->next[entry];
    if (groups->head[group] == SAC_NOBODY) groups->filled &= ~(1u << group);
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
