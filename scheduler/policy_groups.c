/* Policies with groups: groups:N by priority, and jnd by what the next levels gain for their cost. */
#include "scheduler/agenda_internal.h"

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

static void put_first(sac_agenda *agenda, uint32_t i, float value)
{
    agenda->group[i] = (uint8_t)put(agenda, i, value);
    agenda->own->report->group_pairs[agenda->group[i]]++;
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
    float top = 0;
    for (uint32_t i = 0; i < agenda->count; i++)
        if (agenda->priority[i] > top) top = agenda->priority[i];
    open_groups(agenda, agenda->own->policy->groups, top, PRIORITY_OCTAVES);
    for (uint32_t i = 0; i < agenda->count; i++) put_first(agenda, i, agenda->priority[i]);
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
/* An improvement below this share of the error is none. */
#define LEAST_GAIN 0.05f

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

/* Priority the next levels take away, for each credit they cost; the best of going one level, two, ... to the
 * end, because a pair remembered well gains nothing before it is finer than the memory. Negative: not worth
 * it. */
static float gain_for_cost(const sac_agenda *agenda, uint32_t i)
{
    const sac_agenda_private *own = agenda->own;
    float jnd = agenda->jnd[i], stop = own->def.stop_jnd;
    if (jnd < stop) return -1;
    const sac_form *a = agenda->form_a[i], *b = agenda->form_b[i];
    float scale_a = agenda->pose_a[i]->scale, scale_b = agenda->pose_b[i]->scale, sharp = own->sharpness[i];
    /* The error that makes up `jnd`. */
    float seen = agenda->uncertainty[i] < agenda->extent[i] ? agenda->uncertainty[i] : agenda->extent[i];
    if (jnd >= own->most_jnd) seen = jnd / sharp;
    uint32_t last_a = a->levels, last_b = b->levels, levels = last_a > last_b ? last_a : last_b;
    bool fresh = !(agenda->flags[i] & SAC_AGENDA_STARTED);
    uint32_t level = fresh ? 0 : agenda->level[i] + 1u;
    float most = 0, best = 0, pairs = fresh ? 0 : (float)agenda->pending[i], cost = 0;
    for (; level <= levels; level++) {
        float gap = a->level_gap[level < last_a ? level : last_a] * scale_a +
                    b->level_gap[level < last_b ? level : last_b] * scale_b;
        float gain = seen - gap, worth;
        if (fresh) {
            worth = gain * own->fresh_worth[level];
        } else {
            cost += pairs * TESTS_A_PAIR + SAC_CREDITS_PIECE;
            pairs *= FOUND_A_PAIR;
            worth = gain / cost;
        }
        if (gain > most) most = gain;
        if (worth > best) best = worth;
    }
    if (stop > 0 && !(most > LEAST_GAIN * seen)) return -1;
    return best * sharp * own->factor[i];
}

/* A pair nothing is known of has no contacts at all: it gets its roots tested and a level opened before
 * others go deeper, the most visible first. */
static bool on_floor(const sac_agenda *agenda, uint32_t i)
{
    return agenda->known[i] == FLT_MAX && agenda->level[i] < 1;
}

static void begin_jnd(sac_agenda *agenda)
{
    sac_agenda_private *own = agenda->own;
    float top = 0, top_priority = 0;
    float *gain = (float *)own->heap; /* not in use by this policy, and larger */
    learn_fresh_costs(own);
    for (uint32_t i = 0; i < agenda->count; i++) {
        gain[i] = gain_for_cost(agenda, i);
        if (gain[i] > top) top = gain[i];
        if (agenda->priority[i] > top_priority) top_priority = agenda->priority[i];
    }
    open_groups(agenda, own->def.groups, top, GAIN_OCTAVES);
    sac_groups_init(&own->floor, SAC_GROUPS_MOST, 1, own->next);
    sac_groups_span(&own->floor, top_priority, PRIORITY_OCTAVES);
    for (uint32_t i = 0; i < agenda->count; i++) {
        if (on_floor(agenda, i)) {
            uint32_t group = sac_groups_of(&own->groups, gain[i]);
            agenda->group[i] = (uint8_t)sac_agenda_aged(agenda, i, group);
            own->report->group_pairs[agenda->group[i]]++;
            sac_groups_push(
                &own->floor,
                agenda->flags[i] & SAC_AGENDA_TOP ? 0 : sac_groups_of(&own->floor, agenda->priority[i]), i);
        } else if (gain[i] >= 0) {
            put_first(agenda, i, gain[i]);
        } else {
            agenda->group[i] = (uint8_t)(own->groups.count - 1);
        }
    }
}

static uint32_t next_jnd(sac_agenda *agenda)
{
    sac_agenda_private *own = agenda->own;
    uint32_t group, i = sac_groups_first(&own->floor, &group);
    own->in_floor = i != SAC_NOBODY;
    if (own->in_floor) {
        own->in_group = agenda->group[i];
        own->at = group;
        return i;
    }
    i = turn(agenda);
    if (i != SAC_NOBODY) own->uncertainty_before = agenda->uncertainty[i];
    return i;
}

static void after_jnd(sac_agenda *agenda, uint32_t entry, uint64_t credits)
{
    sac_agenda_private *own = agenda->own;
    account(agenda, credits);
    if (sac_agenda_settled(agenda, entry)) return;
    if (own->in_floor && on_floor(agenda, entry)) {
        sac_groups_push(&own->floor, own->at, entry);
        return;
    }
    float gain = gain_for_cost(agenda, entry);
    if (gain < 0) return;
    /* A level that was opened for the sake of a later one is worth nothing until that is reached: the pair
     * stays first in its group. Measured, this divides the error left at a quarter of the time by five. */
    if (!own->in_floor && agenda->uncertainty[entry] >= own->uncertainty_before)
        sac_groups_push_front(&own->groups, own->in_group, entry);
    else
        put(agenda, entry, gain);
}

const sac_policy sac_policy_jnd = {.name = "jnd", .begin = begin_jnd, .next = next_jnd, .refined = after_jnd};
