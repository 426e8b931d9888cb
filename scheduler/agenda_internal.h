/* Behind the agenda: what policies and the work loop share. Private to scheduler/. */
#ifndef SAC_SCHEDULER_AGENDA_INTERNAL_H
#define SAC_SCHEDULER_AGENDA_INTERNAL_H

#include "base/rng.h"
#include "scheduler/agenda.h"
#include "scheduler/groups_internal.h"

/* What stages cost in credits, about half a nanosecond each, measured beside node tests: a look through an
 * entry by perception and grouping, a test of the roots, a piece of a level beyond its node tests. */
#define SAC_CREDITS_PERCEIVE 24u
#define SAC_CREDITS_BEGIN 90u
#define SAC_CREDITS_PIECE 140u
/* A level is opened in slices of so many credits, and the stop is asked between them: about two
 * microseconds. */
#define SAC_CREDITS_SLICE 4096u

/* How a policy orders the work. `begin` is called when all entries are perceived; `next` names the entry to
 * refine by one piece (its roots, or a level) or SAC_NOBODY when nothing is left that is worth it; `refined`
 * tells that it was, and for how much. Nothing of this is called inside a level. */
struct sac_policy {
    const char *name;
    void (*begin)(sac_agenda *agenda);
    uint32_t (*next)(sac_agenda *agenda);
    void (*refined)(sac_agenda *agenda, uint32_t entry, uint64_t credits);
    uint32_t groups; /* of this policy; 0: none, or the definition's */
    bool whatever_the_time;
};

/* An order kept in a binary heap: greatest key first, then least tag. */
typedef struct sac_heap_item {
    float key;
    uint32_t tag, entry;
} sac_heap_item;

typedef struct sac_agenda_private {
    sac_agenda_def def;
    const sac_policy *policy;
    sac_rng rng;
    sac_workspace *workspaces[64];
    uint32_t workspace_count;
    /* Node pairs of all fronts. The first `capacity` places are for roots, one an entry, so that a front
     * always has room to begin. */
    uint32_t *arena_a, *arena_b;
    size_t arena_room, arena_used;
    /* Of each entry */
    float *sharpness, *factor; /* JNDs a world unit; priority a JND */
    uint32_t *next;            /* in its group's list, or an order */
    sac_heap_item *heap;
    uint32_t heap_count;
    /* Policies' own */
    sac_groups groups, floor;
    uint32_t at, in_group;
    bool in_floor, in_stale;
    uint32_t stale_at, stale_seen, stale_left; /* whose turn it is of the stale pairs, round and round */
    float most_jnd;
    float fresh_worth[SAC_TREE_MOST_DEPTH + 1];
    uint64_t *extra_credits; /* a policy's own work beyond picking, charged to the stop */
    sac_focus focus;
    sac_agenda_report *report;
    /* What to release */
    void *storage;
    size_t storage_size, arena_size;
} sac_agenda_private;

static inline bool sac_agenda_settled(const sac_agenda *agenda, uint32_t i)
{
    return agenda->flags[i] & (SAC_AGENDA_EMPTY | SAC_AGENDA_FINISHED | SAC_AGENDA_COARSE);
}

/* What contacts read on a level may be off by, world units. */
static inline float sac_agenda_gap(const sac_agenda *agenda, uint32_t i, uint32_t level)
{
    const sac_form *a = agenda->form_a[i], *b = agenda->form_b[i];
    return a->level_gap[level < a->levels ? level : a->levels] * agenda->pose_a[i]->scale +
           b->level_gap[level < b->levels ? level : b->levels] * agenda->pose_b[i]->scale;
}

static inline uint32_t sac_agenda_levels(const sac_agenda *agenda, uint32_t i)
{
    uint32_t a = agenda->form_a[i]->levels, b = agenda->form_b[i]->levels;
    return a > b ? a : b;
}

/* How visible an error of so many world units would be in this pair. */
static inline float sac_agenda_jnd(const sac_agenda *agenda, uint32_t i, float error)
{
    float extent = agenda->extent[i], off = error < extent ? error : extent;
    float jnd = off * agenda->own->sharpness[i];
    if (!(jnd > 0)) return 0;
    return jnd < agenda->own->most_jnd ? jnd : agenda->own->most_jnd;
}

/* The uncertainty is now this; jnd and priority follow. */
static inline void sac_agenda_set_uncertainty(sac_agenda *agenda, uint32_t i, float uncertainty)
{
    agenda->uncertainty[i] = uncertainty;
    agenda->jnd[i] = sac_agenda_jnd(agenda, i, uncertainty);
    agenda->priority[i] = agenda->jnd[i] * agenda->own->factor[i];
}

/* The groups an entry moves up because it has waited. */
static inline uint32_t sac_agenda_aged(const sac_agenda *agenda, uint32_t i, uint32_t group)
{
    if (agenda->flags[i] & SAC_AGENDA_TOP) return 0;
    uint32_t frames = agenda->own->def.age_frames;
    if (!frames || agenda->age[i] < frames) return group;
    uint32_t up = agenda->age[i] / frames;
    return up < group ? group - up : 0;
}

extern const sac_policy sac_policy_exhaustive, sac_policy_fifo, sac_policy_random, sac_policy_round_robin,
    sac_policy_distance, sac_policy_sort, sac_policy_probability, sac_policy_jnd;
extern const sac_policy sac_policy_groups[SAC_GROUPS_MOST + 1]; /* [N] is groups:N */

#endif
