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

/* Priority the next levels take away, for each credit they cost; the best of going one level, two, ... to the
 * end, because a pair remembered well gains nothing before it is finer than the memory. Negative: not worth
 * it. */
static float gain_for_cost(const sac_agenda *agenda, uint32_t i)
{
    const sac_agenda_private *own = agenda->own;
    float jnd = agenda->jnd[i], stop = own->def.stop_jnd, most = 0, best = 0;
    if (jnd < stop) return -1;
    uint32_t level = agenda->level[i], levels = sac_agenda_levels(agenda, i);
    float pairs = 1, cost = 0;
    if (agenda->flags[i] & SAC_AGENDA_STARTED) {
        pairs = (float)agenda->pending[i];
    } else {
        cost = SAC_CREDITS_BEGIN + SAC_CREDITS_PIECE;
        float gap = sac_agenda_gap(agenda, i, 0);
        if (gap < agenda->uncertainty[i]) {
            most = jnd - sac_agenda_jnd(agenda, i, gap);
            best = most / cost;
        }
    }
    while (level < levels) {
        level++;
        cost += pairs * TESTS_A_PAIR + SAC_CREDITS_PIECE;
        pairs *= FOUND_A_PAIR;
        float gap = sac_agenda_gap(agenda, i, level);
        if (gap < agenda->uncertainty[i]) {
            float gain = jnd - sac_agenda_jnd(agenda, i, gap);
            if (gain > most) most = gain;
            if (gain > best * cost) best = gain / cost;
        }
    }
    if (stop > 0 && !(most > LEAST_GAIN * jnd)) return -1;
    return best * own->factor[i];
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
    return turn(agenda);
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
    if (gain >= 0) put(agenda, entry, gain);
}

const sac_policy sac_policy_jnd = {.name = "jnd", .begin = begin_jnd, .next = next_jnd, .refined = after_jnd};
