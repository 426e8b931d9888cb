/* A bucket queue: a few groups of entries, log-spaced by their value, each a first-in-first-out list. Insert,
 * take and insert again cost the same however many there are. Private to scheduler/.
 *
 * Time is shared by weighted turns: group g has a clock that runs share^g times faster than the work done for
 * it, and the group whose clock is least is next. At any moment group g has had about share^-g of what group
 * 0 has had, whenever the end comes; what an empty group does not use flows to the others. */
#ifndef SAC_SCHEDULER_GROUPS_INTERNAL_H
#define SAC_SCHEDULER_GROUPS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SAC_GROUPS_LEAST 2u
#define SAC_GROUPS_MOST 32u
#define SAC_NOBODY UINT32_MAX
/* Where an entry waits, in one number: in a group, nowhere, or in a group of the floor. */
#define SAC_LINE_NONE SAC_GROUPS_MOST
#define SAC_LINE_FLOOR (SAC_GROUPS_MOST + 1u)
#define SAC_LINES (SAC_LINE_FLOOR + SAC_GROUPS_MOST)

typedef struct sac_groups {
    uint32_t count;
    uint32_t filled;                                       /* bit g: group g has entries */
    uint32_t head[SAC_GROUPS_MOST], tail[SAC_GROUPS_MOST]; /* of those that have */
    double clock[SAC_GROUPS_MOST], speed[SAC_GROUPS_MOST];
    double now;     /* clock of the group that had the last turn */
    uint32_t *next; /* the caller's, one an entry */
    float top;      /* value where group 0 begins to end */
    float per_step; /* groups a unit of the logarithm */
} sac_groups;

/* `count` groups over values from `top` down to top / 2^octaves. */
void sac_groups_init(sac_groups *groups, uint32_t count, float share, uint32_t *next);
void sac_groups_span(sac_groups *groups, float top, float octaves);
/* The bits of a positive float, read as a number, are its logarithm but for a bend between powers of two. */
static inline float sac_groups_logarithm(float value)
{
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (float)bits * 0x1p-23f;
}

/* The group of a value: 0 for `top` and above, the last for anything small, negative or NaN. */
static inline uint32_t sac_groups_of(const sac_groups *groups, float value)
{
    /* Read as a number, the bits of a negative value lie far below all others: no branch is needed. */
    float steps = (groups->top - sac_groups_logarithm(value)) * groups->per_step;
    float last = (float)(int32_t)(groups->count - 1);
    steps = steps < last ? steps : last;
    steps = steps > 0 ? steps : 0;
    return value == value ? (uint32_t)(int32_t)steps : groups->count - 1;
}

static inline void sac_groups_push(sac_groups *groups, uint32_t group, uint32_t entry)
{
    groups->next[entry] = SAC_NOBODY;
    if (groups->filled >> group & 1) {
        groups->next[groups->tail[group]] = entry;
    } else {
        groups->head[group] = entry;
        groups->filled |= 1u << group;
        /* Time not claimed while it was empty has gone to others. */
        if (groups->clock[group] < groups->now) groups->clock[group] = groups->now;
    }
    groups->tail[group] = entry;
}

/* Many at once into empty groups: entry i to line[i], in order. `floor` may be NULL when nobody waits there.
 * Which line it is nobody can foresee, so nothing here branches on it. */
void sac_groups_fill(sac_groups *groups, sac_groups *floor, const uint8_t *line, uint32_t count);

/* Before all others of its group: it is not done yet. */
static inline void sac_groups_push_front(sac_groups *groups, uint32_t group, uint32_t entry)
{
    if (!(groups->filled >> group & 1)) {
        sac_groups_push(groups, group, entry);
        return;
    }
    groups->next[entry] = groups->head[group];
    groups->head[group] = entry;
}

/* The first entry of the group whose turn it is; SAC_NOBODY when all are empty. */
uint32_t sac_groups_turn(sac_groups *groups, uint32_t *out_group);
/* The first entry of the first group that has one. */
uint32_t sac_groups_first(sac_groups *groups, uint32_t *out_group);
static inline void sac_groups_spent(sac_groups *groups, uint32_t group, uint64_t credits)
{
    groups->clock[group] += (double)credits * groups->speed[group];
}

#endif
