/* Policies with groups: groups:N by priority, and jnd by what the next levels gain for their cost. */
#include "base/simd.h"
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

/* All entries into their groups, as group[] says; counted in the report. */
static void fill(sac_agenda *agenda)
{
    sac_agenda_private *own = agenda->own;
    sac_groups_fill(&own->groups, agenda->group, agenda->count);
    for (uint32_t g = 0; g < own->groups.count; g++) own->report->group_pairs[g] += own->groups.size[g];
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
    for (uint32_t i = 0; i < agenda->count; i++)
        agenda->group[i] =
            (uint8_t)sac_agenda_aged(agenda, i, sac_groups_of(&agenda->own->groups, agenda->priority[i]));
    fill(agenda);
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

/* Uncertainty of a pair of forms at each level. Most pairs are of the same two forms as the one before. */
typedef struct level_gaps {
    const sac_form *a, *b;
    float scale_a, scale_b;
    uint32_t levels;
    float gap[SAC_TREE_MOST_DEPTH + 1];
} level_gaps;

static const level_gaps *gaps_of(const sac_agenda *agenda, uint32_t i, level_gaps *last)
{
    const sac_form *a = agenda->form_a[i], *b = agenda->form_b[i];
    float scale_a = agenda->pose_a[i]->scale, scale_b = agenda->pose_b[i]->scale;
    if (a == last->a && b == last->b && scale_a == last->scale_a && scale_b == last->scale_b) return last;
    uint32_t last_a = a->levels, last_b = b->levels, levels = last_a > last_b ? last_a : last_b;
    *last = (level_gaps){.a = a, .b = b, .scale_a = scale_a, .scale_b = scale_b, .levels = levels};
    for (uint32_t level = 0; level <= levels; level++)
        last->gap[level] = a->level_gap[level < last_a ? level : last_a] * scale_a +
                           b->level_gap[level < last_b ? level : last_b] * scale_b;
    return last;
}

/* Priority the next levels take away, for each credit they cost; the best of going one level, two, ... to the
 * end, because a pair remembered well gains nothing before it is finer than the memory. Negative: not worth
 * it. */
static float gain_for_cost(const sac_agenda *agenda, uint32_t i, level_gaps *last)
{
    const sac_agenda_private *own = agenda->own;
    float jnd = agenda->jnd[i], stop = own->def.stop_jnd;
    const level_gaps *gaps = gaps_of(agenda, i, last);
    float sharp = own->sharpness[i];
    /* The error that makes up `jnd`. */
    float seen = agenda->uncertainty[i] < agenda->extent[i] ? agenda->uncertainty[i] : agenda->extent[i];
    if (jnd >= own->most_jnd) seen = jnd / sharp;
    float most = 0, best = 0;
    if (!(agenda->flags[i] & SAC_AGENDA_STARTED)) {
        for (uint32_t level = 0; level <= gaps->levels; level++) {
            float gain = seen - gaps->gap[level], value = gain * own->fresh_worth[level];
            most = gain > most ? gain : most;
            best = value > best ? value : best;
        }
    } else {
        float pairs = (float)agenda->pending[i], cost = 0;
        for (uint32_t level = agenda->level[i] + 1u; level <= gaps->levels; level++) {
            cost += pairs * TESTS_A_PAIR + SAC_CREDITS_PIECE;
            pairs *= FOUND_A_PAIR;
            float gain = seen - gaps->gap[level], value = gain / cost;
            most = gain > most ? gain : most;
            best = value > best ? value : best;
        }
    }
    bool worth = jnd >= stop && (!(stop > 0) || most > LEAST_GAIN * seen);
    return worth ? best * sharp * own->factor[i] : -1;
}

/* The same for eight entries nobody has looked at yet, all of the same two forms. */
static void gain_of_eight(const sac_agenda *agenda, uint32_t i, const level_gaps *gaps, float *out)
{
    const sac_agenda_private *own = agenda->own;
    sac_f8 zero = sac_f8_set(0), none = sac_f8_set(-1), stop = sac_f8_set(own->def.stop_jnd);
    sac_f8 jnd = sac_f8_load(agenda->jnd + i), sharp = sac_f8_load(own->sharpness + i);
    sac_f8 error = sac_f8_load(agenda->uncertainty + i), extent = sac_f8_load(agenda->extent + i);
    sac_f8 seen = sac_f8_pick_less(error, extent, error, extent), most = zero, best = zero;
    seen = sac_f8_pick_less(jnd, sac_f8_set(own->most_jnd), seen, sac_f8_div(jnd, sharp));
    for (uint32_t level = 0; level <= gaps->levels; level++) {
        sac_f8 gain = sac_f8_sub(seen, sac_f8_set(gaps->gap[level]));
        most = sac_f8_max(gain, most);
        best = sac_f8_max(sac_f8_mul(gain, sac_f8_set(own->fresh_worth[level])), best);
    }
    sac_f8 value = sac_f8_mul(sac_f8_mul(best, sharp), sac_f8_load(own->factor + i));
    if (own->def.stop_jnd > 0)
        value = sac_f8_pick_less(sac_f8_mul(sac_f8_set(LEAST_GAIN), seen), most, value, none);
    sac_f8_store(out + i, sac_f8_pick_less(jnd, stop, none, value));
}

static void gain_of_all(const sac_agenda *agenda, float *out)
{
    level_gaps gaps = {0};
    uint32_t i = 0;
    for (; i + 8 <= agenda->count; i += 8) {
        bool alike = true;
        gaps_of(agenda, i, &gaps);
        for (uint32_t k = i + 1; k < i + 8; k++)
            alike &= (agenda->form_a[k] == gaps.a) & (agenda->form_b[k] == gaps.b) &
                     (agenda->pose_a[k]->scale == gaps.scale_a) & (agenda->pose_b[k]->scale == gaps.scale_b);
        if (alike)
            gain_of_eight(agenda, i, &gaps, out);
        else
            for (uint32_t k = i; k < i + 8; k++) out[k] = gain_for_cost(agenda, k, &gaps);
    }
    for (; i < agenda->count; i++) out[i] = gain_for_cost(agenda, i, &gaps);
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
    gain_of_all(agenda, gain);
    for (uint32_t i = 0; i < agenda->count; i++) {
        top = gain[i] > top ? gain[i] : top;
        top_priority = agenda->priority[i] > top_priority ? agenda->priority[i] : top_priority;
    }
    open_groups(agenda, own->def.groups, top, GAIN_OCTAVES);
    sac_groups_init(&own->floor, SAC_GROUPS_MOST, 1, own->next);
    sac_groups_span(&own->floor, top_priority, PRIORITY_OCTAVES);
    /* Bytes may alias anything: without its own pointers the loop would load all of them again for each. */
    const sac_groups groups = own->groups;
    const float *known = agenda->known;
    const uint8_t *flags = agenda->flags;
    const uint16_t *age = agenda->age;
    uint8_t *restrict group = agenda->group;
    uint32_t last = groups.count - 1, floors = 0, count = agenda->count, frames = own->def.age_frames;
    for (uint32_t i = 0; i < count; i++) {
        bool floor = known[i] == FLT_MAX;
        floors += floor;
        uint32_t g = sac_groups_of(&groups, gain[i]);
        if (frames && age[i] >= frames) g = sac_agenda_aged(agenda, i, g);
        g = flags[i] & SAC_AGENDA_TOP ? 0 : g;
        group[i] = (uint8_t)((floor | (gain[i] < 0)) ? SAC_GROUPS_MOST : g);
    }
    fill(agenda);
    /* Those that are not in line have a group as well, for people who look. */
    for (uint32_t i = 0; i < count; i++) group[i] = group[i] < SAC_GROUPS_MOST ? group[i] : (uint8_t)last;
    for (uint32_t i = 0; i < count && floors; i++) {
        if (known[i] < FLT_MAX) continue;
        group[i] = (uint8_t)sac_agenda_aged(agenda, i, sac_groups_of(&groups, gain[i]));
        own->report->group_pairs[group[i]]++;
        sac_groups_push(
            &own->floor,
            agenda->flags[i] & SAC_AGENDA_TOP ? 0 : sac_groups_of(&own->floor, agenda->priority[i]), i);
        floors--;
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
    level_gaps gaps = {0};
    float gain = gain_for_cost(agenda, entry, &gaps);
    if (gain < 0) return;
    /* A level that was opened for the sake of a later one is worth nothing until that is reached: the pair
     * stays first in its group. Measured, this divides the error left at a quarter of the time by five. */
    if (!own->in_floor && agenda->uncertainty[entry] >= own->uncertainty_before)
        sac_groups_push_front(&own->groups, own->in_group, entry);
    else
        put(agenda, entry, gain);
}

const sac_policy sac_policy_jnd = {.name = "jnd", .begin = begin_jnd, .next = next_jnd, .refined = after_jnd};
