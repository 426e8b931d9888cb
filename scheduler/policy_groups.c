/* Policies with groups: groups:N by priority, and jnd by what the next levels gain for their cost. */
#include <math.h>

#include "scheduler/agenda_internal.h"
#include "scheduler/rank_internal.h"

/* Values from the greatest down to a factor of 2^-12 fall into groups of their own, the rest into the last:
 * from a thousand JNDs to a quarter of one. */
#define PRIORITY_OCTAVES 12.0f
/* Gain for cost spreads farther: small errors of costly pairs. */
#define GAIN_OCTAVES 16.0f

static void open_groups(sac_agenda *agenda, uint32_t count, float top, float octaves)
{
    sac_agenda_private *own = agenda->own;
    sac_groups_init(&own->groups, count, own->def.share, own->next);
    sac_groups_span(&own->groups, top, octaves);
    own->report->groups = own->groups.count;
}

static uint32_t put(sac_agenda *agenda, uint32_t i, float value)
{
    sac_agenda_private *own = agenda->own;
    uint32_t group = sac_agenda_aged(agenda, i, sac_groups_of(&own->groups, value));
    sac_groups_push(&own->groups, group, i);
    return group;
}

static sac_rank_scale scale_of(const sac_groups *groups)
{
    return (sac_rank_scale){groups->top, groups->per_step, (float)(int32_t)(groups->count - 1)};
}

static sac_rank_frame rank_frame(const sac_agenda *agenda, const float *value)
{
    const sac_agenda_private *own = agenda->own;
    return (sac_rank_frame){.groups = scale_of(&own->groups),
                            .frames = own->def.age_frames ? (float)own->def.age_frames : INFINITY,
                            .value = value,
                            .age = agenda->age,
                            .flags = agenda->flags,
                            .group = agenda->group};
}

static uint32_t turn(sac_agenda *agenda)
{
    return sac_groups_turn(&agenda->own->groups, &agenda->own->in_group);
}

static void account(sac_agenda *agenda, uint64_t credits)
{
    sac_agenda_private *own = agenda->own;
    sac_groups_spent(&own->groups, own->in_group, credits);
    own->report->group_tests[own->in_group] += credits;
}

/* ---- groups:N ---- */

static void begin_groups(sac_agenda *agenda)
{
    sac_agenda_private *own = agenda->own;
    const sac_rank_kernels *kernels = sac_rank_kernels_active();
    float top = kernels->most(agenda->priority, agenda->count);
    open_groups(agenda, own->policy->groups, top, PRIORITY_OCTAVES);
    sac_rank_frame frame = rank_frame(agenda, agenda->priority);
    kernels->groups(&frame, agenda->count);
    sac_groups_fill(&own->groups, NULL, agenda->group, agenda->count);
    kernels->tally(agenda->group, agenda->count, 0, own->groups.count, own->report->group_pairs);
}

static void after_groups(sac_agenda *agenda, uint32_t entry, uint64_t credits)
{
    account(agenda, credits);
    if (!sac_agenda_settled(agenda, entry)) put(agenda, entry, agenda->priority[entry]);
}

#define GROUPS(n) \
    [n] = {.name = "groups:" #n, .begin = begin_groups, .next = turn, .refined = after_groups, .groups = n}
const sac_policy sac_policy_groups[SAC_GROUPS_MOST + 1] = {
    GROUPS(2),  GROUPS(3),  GROUPS(4),  GROUPS(5),  GROUPS(6),  GROUPS(7),  GROUPS(8),  GROUPS(9),
    GROUPS(10), GROUPS(11), GROUPS(12), GROUPS(13), GROUPS(14), GROUPS(15), GROUPS(16), GROUPS(17),
    GROUPS(18), GROUPS(19), GROUPS(20), GROUPS(21), GROUPS(22), GROUPS(23), GROUPS(24), GROUPS(25),
    GROUPS(26), GROUPS(27), GROUPS(28), GROUPS(29), GROUPS(30), GROUPS(31), GROUPS(32)};

/* ---- jnd ---- */

/* A pair opened costs this many tests, of which so many find something, roughly: enough to weigh one level
 * against three. */
#define TESTS_A_PAIR 40.0f
#define FOUND_A_PAIR 4.0f
/* A pair that has begun stays while going on gains for its cost at least one part in so many of what it
 * promised. */
#define STAYS_FOR 64.0f

/* What a fresh pair has cost by the time it is on a level, the test of its roots included; 1 / that. */
static void learn_fresh_costs(sac_agenda_private *own)
{
    float pairs = 1, cost = SAC_CREDITS_BEGIN;
    for (uint32_t level = 0; level <= SAC_TREE_MOST_DEPTH; level++) {
        own->fresh_worth[level] = 1.0f / cost;
        cost += pairs * TESTS_A_PAIR + SAC_CREDITS_PIECE;
        pairs *= FOUND_A_PAIR;
    }
}

/* Uncertainty of a pair of forms at each level. Most pairs are of the same two forms as the one before, or as
 * one of the last few. */
enum { KINDS = 16 };
typedef struct level_gaps {
    const sac_form *a, *b;
    float scale_a, scale_b;
    uint32_t levels;
    float gap[SAC_TREE_MOST_DEPTH + 1];
} level_gaps;

static bool are_of(const sac_agenda *agenda, uint32_t i, const level_gaps *gaps)
{
    return (agenda->form_a[i] == gaps->a) & (agenda->form_b[i] == gaps->b) &
           (agenda->pose_a[i]->scale == gaps->scale_a) & (agenda->pose_b[i]->scale == gaps->scale_b);
}

static void learn_gaps(const sac_agenda *agenda, uint32_t i, level_gaps *gaps)
{
    gaps->a = agenda->form_a[i], gaps->b = agenda->form_b[i];
    gaps->scale_a = agenda->pose_a[i]->scale, gaps->scale_b = agenda->pose_b[i]->scale;
    gaps->levels = sac_agenda_levels(agenda, i);
    for (uint32_t level = 0; level <= gaps->levels; level++)
        gaps->gap[level] = sac_agenda_gap(agenda, i, level);
}

/* Priority the next levels take away, for each credit they cost; the best of going one level, two, ... to the
 * end, because a pair remembered well gains nothing before it is finer than the memory. Negative: not worth
 * it. */
static float gain_for_cost(const sac_agenda *agenda, uint32_t i)
{
    const sac_agenda_private *own = agenda->own;
    float jnd = agenda->jnd[i], stop = own->def.stop_jnd, sharp = own->sharpness[i];
    /* The error that makes up `jnd`. */
    float seen = agenda->uncertainty[i] < agenda->extent[i] ? agenda->uncertainty[i] : agenda->extent[i];
    if (jnd >= own->most_jnd) seen = jnd / sharp;
    float most = 0, best = 0, pairs = (float)agenda->pending[i], cost = 0;
    uint32_t levels = sac_agenda_levels(agenda, i);
    for (uint32_t level = agenda->level[i] + 1u; level <= levels; level++) {
        cost += pairs * TESTS_A_PAIR + SAC_CREDITS_PIECE;
        pairs *= FOUND_A_PAIR;
        float gain = seen - sac_agenda_gap(agenda, i, level), value = gain / cost;
        most = gain > most ? gain : most;
        best = value > best ? value : best;
    }
    bool worth = jnd >= stop && (!(stop > 0) || most > SAC_LEAST_GAIN * seen);
    return worth ? best * sharp * own->factor[i] : -1;
}

/* The same for all entries, of which nobody has been looked at yet, run by run of the same two forms. */
static void gain_of_all(const sac_agenda *agenda, const sac_rank_kernels *kernels, float *out)
{
    const sac_agenda_private *own = agenda->own;
    sac_gain_frame frame = {.jnd = agenda->jnd,
                            .uncertainty = agenda->uncertainty,
                            .extent = agenda->extent,
                            .sharpness = own->sharpness,
                            .factor = own->factor,
                            .stop_jnd = own->def.stop_jnd,
                            .most_jnd = own->most_jnd,
                            .worth = own->fresh_worth,
                            .out = out};
    level_gaps kinds[KINDS] = {{0}};
    for (uint32_t from = 0, to; from < agenda->count; from = to) {
        uintptr_t a = (uintptr_t)agenda->form_a[from], b = (uintptr_t)agenda->form_b[from];
        level_gaps *gaps = &kinds[(a / 64 + a / 1024 + b / 128 + b / 512) % KINDS];
        if (!are_of(agenda, from, gaps)) learn_gaps(agenda, from, gaps);
        for (to = from + 1; to < agenda->count && are_of(agenda, to, gaps);) to++;
        /* Whole blocks are written: what the run before has in the first is kept, the rest is yet to come. */
        uint32_t block = from / 8 * 8;
        float before[8];
        memcpy(before, out + block, sizeof before);
        kernels->gain(&frame, gaps->gap, gaps->levels, block, to);
        for (uint32_t k = 0; k < from - block; k++) out[block + k] = before[k];
    }
}

/* With what value each entry was put into its group: where other policies have their heap, which is larger.
 */
static float *value_of_all(const sac_agenda_private *own) { return (float *)own->heap; }

/* A pair nothing is known of has no contacts at all: it gets its roots tested and a level opened before
 * others go deeper, the most visible first. */
static bool on_floor(const sac_agenda *agenda, uint32_t i)
{
    return agenda->known[i] == FLT_MAX && agenda->level[i] < 1;
}

/* Stale pairs that are looked at in a frame. All of a pyramid at once, or its boxes take turns in pushing
 * each other; of a heap of thousands some, and the others in the next frames. */
enum { MOST_STALE = 1024 };

static void begin_jnd(sac_agenda *agenda)
{
    sac_agenda_private *own = agenda->own;
    uint32_t count = agenda->count, *pairs = own->report->group_pairs;
    float *gain = value_of_all(own);
    uint8_t *line = (uint8_t *)(gain + agenda->capacity);
    const sac_rank_kernels *kernels = sac_rank_kernels_active();
    own->stale_left = MOST_STALE, own->stale_seen = 0;
    learn_fresh_costs(own);
    gain_of_all(agenda, kernels, gain);
    open_groups(agenda, own->def.groups, kernels->most(gain, count), GAIN_OCTAVES);
    sac_groups_init(&own->floor, SAC_GROUPS_MOST, 1, own->next);
    sac_groups_span(&own->floor, kernels->most(agenda->priority, count), PRIORITY_OCTAVES);
    sac_rank_frame frame = rank_frame(agenda, gain);
    frame.floor = scale_of(&own->floor);
    frame.priority = agenda->priority, frame.known = agenda->known, frame.line = line;
    kernels->groups_and_floor(&frame, count);
    sac_groups_fill(&own->groups, &own->floor, line, count);
    /* Those that are not in line are shown in the last group, but not counted. */
    uint32_t nowhere;
    kernels->tally(agenda->group, count, 0, own->groups.count, pairs);
    kernels->tally(line, count, SAC_LINE_NONE, 1, &nowhere);
    pairs[own->groups.count - 1] -= nowhere;
}

/* One after the other, each to its end; the next frame goes on where this one ends. */
static uint32_t next_stale(sac_agenda *agenda)
{
    sac_agenda_private *own = agenda->own;
    for (; own->stale_left && own->stale_seen < agenda->count; own->stale_seen++, own->stale_at++) {
        if (own->stale_at >= agenda->count) own->stale_at = 0;
        uint32_t i = own->stale_at;
        if (!(agenda->flags[i] & SAC_AGENDA_STALE)) continue;
        if (!sac_agenda_settled(agenda, i)) return i;
        own->stale_left--;
    }
    return SAC_NOBODY;
}

static uint32_t next_jnd(sac_agenda *agenda)
{
    sac_agenda_private *own = agenda->own;
    uint32_t group, i = sac_groups_first(&own->floor, &group);
    own->in_floor = i != SAC_NOBODY;
    own->in_stale = false;
    if (own->in_floor) {
        own->in_group = agenda->group[i];
        own->at = group;
        return i;
    }
    i = turn(agenda);
    own->in_stale = i == SAC_NOBODY;
    if (!own->in_stale) return i;
    own->in_group = own->groups.count - 1;
    return next_stale(agenda);
}

static void after_jnd(sac_agenda *agenda, uint32_t entry, uint64_t credits)
{
    sac_agenda_private *own = agenda->own;
    account(agenda, credits);
    if (own->in_stale || sac_agenda_settled(agenda, entry)) return;
    if (own->in_floor && on_floor(agenda, entry)) {
        sac_groups_push(&own->floor, own->at, entry);
        return;
    }
    float gain = gain_for_cost(agenda, entry);
    if (gain < 0) return;
    /* Fronts do not outlast a frame: what is left half way will cost all of it again, while a pair refined
     * until nothing is seen rests for many frames. So who has begun stays first in its group, unless the rest
     * is worth far less than others there. Measured, taking turns between the levels of a group left twice
     * the error at a seventh of the work, and flipped levels ten times as often. */
    if (!own->in_floor && gain * STAYS_FOR > value_of_all(own)[entry]) {
        sac_groups_push_front(&own->groups, own->in_group, entry);
    } else {
        value_of_all(own)[entry] = gain;
        put(agenda, entry, gain);
    }
}

const sac_policy sac_policy_jnd = {.name = "jnd", .begin = begin_jnd, .next = next_jnd, .refined = after_jnd};
