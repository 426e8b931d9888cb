/* A frame's work: perceive all pairs, then open levels in the policy's order until the stop is reached.
 *
 * A level's result is written to fresh space at the end of the arena, and slides down over what it replaces
 * when that was the last thing written. An interrupted level leaves the children of the pairs that were
 * opened and the pairs that were not: together still a cover. */
#include <float.h>
#include <string.h>

#include "scheduler/agenda_internal.h"
#include "scheduler/perceive_internal.h"
#include "scheduler/rank_internal.h"

/* Side room for final pairs found above the deepest level, or for the few that cannot be: a level that finds
 * more stays closed. */
#define SIDE 16384u

typedef struct arena_list {
    uint32_t at, count;
} arena_list;

static sac_pairs pairs_at(const sac_agenda_private *own, size_t at, size_t room)
{
    return (sac_pairs){own->arena_a + at, own->arena_b + at, 0, (uint32_t)room};
}

static void move(sac_agenda_private *own, size_t to, size_t from, size_t count)
{
    if (!count || to == from) return;
    memmove(own->arena_a + to, own->arena_a + from, count * sizeof *own->arena_a);
    memmove(own->arena_b + to, own->arena_b + from, count * sizeof *own->arena_b);
}

static void known_at_level(sac_agenda *agenda, uint32_t i, uint32_t level)
{
    float gap = sac_agenda_gap(agenda, i, level), known = agenda->known[i];
    agenda->level[i] = (uint8_t)level;
    sac_agenda_set_uncertainty(agenda, i, gap < known ? gap : known);
}

static void settle_empty(sac_agenda *agenda, uint32_t i)
{
    agenda->flags[i] |= SAC_AGENDA_EMPTY | SAC_AGENDA_FINISHED;
    agenda->pending[i] = agenda->done[i] = 0;
    sac_agenda_set_uncertainty(agenda, i, 0);
}

/* The roots. Their place in the arena is kept for each entry. */
static uint64_t test_roots(sac_agenda *agenda, uint32_t i)
{
    sac_agenda_private *own = agenda->own;
    uint32_t a[1 + SAC_PAIRS_SLACK], b[1 + SAC_PAIRS_SLACK];
    sac_pairs root = {a, b, 0, 1};
    agenda->flags[i] |= SAC_AGENDA_STARTED;
    bool near = sac_meeting_begin(&agenda->meetings[i], agenda->form_a[i], agenda->pose_a[i],
                                  agenda->form_b[i], agenda->pose_b[i], agenda->margin[i], &root);
    agenda->tests[i] = 1;
    if (!near) {
        agenda->level[i] = 0;
        settle_empty(agenda, i);
    } else {
        own->arena_a[i] = a[0], own->arena_b[i] = b[0];
        bool final = agenda->meetings[i].levels == 0;
        agenda->pending_at[i] = agenda->done_at[i] = i;
        agenda->pending[i] = final ? 0 : 1;
        agenda->done[i] = final ? 1 : 0;
        if (final) agenda->flags[i] |= SAC_AGENDA_FINISHED;
        known_at_level(agenda, i, 0);
    }
    return SAC_CREDITS_BEGIN;
}

typedef struct half_level {
    size_t base;  /* where the arena was used to */
    bool to_done; /* it mostly finds final pairs */
    sac_pairs next, done;
    uint32_t used; /* pairs opened */
} half_level;

static bool begin_level(sac_agenda *agenda, uint32_t i, half_level *half)
{
    sac_agenda_private *own = agenda->own;
    /* Pairs not opened and final ones found before may have to be copied behind what is found: room for them
     * lies between the main and the side room. */
    size_t kept = (size_t)agenda->pending[i] + agenda->done[i] + 2 * SAC_PAIRS_SLACK;
    size_t free = own->arena_room - own->arena_used;
    if (free < kept + 2 * 256) return false;
    free -= kept;
    size_t side = free / 2 < SIDE ? free / 2 : SIDE, main = free - side;
    half->base = own->arena_used;
    half->to_done = agenda->level[i] + 1u >= agenda->meetings[i].levels;
    half->used = 0;
    sac_pairs big = pairs_at(own, half->base, main), small = pairs_at(own, half->base + main + kept, side);
    half->next = half->to_done ? small : big;
    half->done = half->to_done ? big : small;
    return true;
}

/* Puts the level, whole or interrupted, in the place of the old front. */
static void end_level(sac_agenda *agenda, uint32_t i, const half_level *half)
{
    sac_agenda_private *own = agenda->own;
    uint32_t level = agenda->level[i], was = agenda->pending[i], left = was - half->used;
    size_t old = agenda->done[i], fresh = half->done.count, next = half->next.count, end = half->base;
    size_t next_from = (size_t)(half->next.a - own->arena_a),
           done_from = (size_t)(half->done.a - own->arena_a);
    size_t left_from = (size_t)agenda->pending_at[i] + half->used;
    bool moved_done = fresh > 0;
    /* [next, left, done, old done], or [done, old done, next, left]: what lies at `base` stays there. */
    if (half->to_done) {
        end += fresh;
        if (moved_done) move(own, end, agenda->done_at[i], old), end += old;
        move(own, end, next_from, next);
        move(own, end + next, left_from, left);
        agenda->pending_at[i] = (uint32_t)end;
        if (moved_done) agenda->done_at[i] = (uint32_t)half->base;
        end += next + left;
    } else {
        end += next;
        move(own, end, left_from, left);
        end += left;
        size_t done_to = end;
        if (moved_done) {
            move(own, end, done_from, fresh);
            end += fresh;
            move(own, end, agenda->done_at[i], old);
            end += old;
            agenda->done_at[i] = (uint32_t)done_to;
        }
        agenda->pending_at[i] = (uint32_t)half->base;
    }
    agenda->pending[i] = (uint32_t)next + left;
    agenda->done[i] = (uint32_t)(old + fresh);
    own->arena_used = end;
    if (!left) {
        if (!agenda->pending[i] && !agenda->done[i])
            settle_empty(agenda, i);
        else
            known_at_level(agenda, i, level + 1);
        if (!agenda->pending[i]) agenda->flags[i] |= SAC_AGENDA_FINISHED;
        if (agenda->flags[i] & SAC_AGENDA_SENSOR && agenda->done[i]) agenda->flags[i] |= SAC_AGENDA_FINISHED;
    }
}

/* When the old front was the last thing in the arena, the new one takes its place. */
static void slide_down(sac_agenda *agenda, uint32_t i, arena_list pending, arena_list done, size_t base)
{
    sac_agenda_private *own = agenda->own;
    size_t from = base;
    bool done_gone = agenda->done_at[i] >= base || !done.count;
    if (done.count && done_gone && (size_t)done.at + done.count == from) from = done.at;
    if ((size_t)pending.at + pending.count == from && pending.at >= agenda->capacity) from = pending.at;
    if (done.count && done_gone && (size_t)done.at + done.count == from) from = done.at;
    size_t by = base - from;
    if (!by) return;
    move(own, from, base, own->arena_used - base);
    own->arena_used -= by;
    if (agenda->pending_at[i] >= base) agenda->pending_at[i] -= (uint32_t)by;
    if (agenda->done_at[i] >= base) agenda->done_at[i] -= (uint32_t)by;
}

static void keep_for_reading(sac_agenda *agenda, sac_stop *stop, uint64_t bulk)
{
    agenda->bulk = bulk;
    sac_stop_keep(stop, (uint64_t)((double)bulk * agenda->read_ns));
}

/* Opens a level slice by slice. False when the stop was reached before its end. */
static bool open_level(sac_agenda *agenda, uint32_t i, sac_stop *stop, bool heed, uint64_t *credits)
{
    sac_agenda_private *own = agenda->own;
    half_level half;
    arena_list was_pending = {agenda->pending_at[i], agenda->pending[i]},
               was_done = {agenda->done_at[i], agenda->done[i]};
    if (!begin_level(agenda, i, &half)) {
        agenda->flags[i] |= SAC_AGENDA_COARSE;
        sac_stop_did(stop, SAC_CREDITS_PIECE);
        return true;
    }
    bool whole = true;
    size_t was = (size_t)was_pending.count + was_done.count;
    uint64_t others = agenda->bulk - sac_agenda_bulk_of(was);
    while (half.used < was_pending.count) {
        sac_pairs rest = pairs_at(own, was_pending.at + half.used, was_pending.count - half.used);
        rest.count = rest.room;
        sac_opened opened = sac_meeting_open(own->workspaces[0], &agenda->meetings[i], agenda->level[i],
                                             &rest, SAC_CREDITS_SLICE, &half.next, &half.done);
        half.used += opened.used;
        agenda->tests[i] += (uint32_t)opened.tests;
        *credits += opened.tests + SAC_CREDITS_PIECE;
        own->report->tests += opened.tests;
        sac_stop_did(stop, opened.tests + SAC_CREDITS_PIECE);
        size_t front = was - half.used + half.next.count + half.done.count;
        keep_for_reading(agenda, stop, others + sac_agenda_bulk_of(front));
        if (opened.used == 0) {
            agenda->flags[i] |= SAC_AGENDA_COARSE;
            break;
        }
        if (half.used < was_pending.count && heed && sac_stop_reached(stop)) {
            whole = false;
            break;
        }
    }
    end_level(agenda, i, &half);
    slide_down(agenda, i, was_pending, was_done, half.base);
    return whole;
}

/* ---- the report ---- */

/* Errors from 2^-16 to 2^16 JNDs in bins of a sixteenth of an octave: percentiles in one pass. Bin 0 holds
 * what is smaller, each octave's bins follow, and the last also holds what is larger. */
enum { OCTAVES = 32, STEPS = SAC_JND_STEPS, BINS = SAC_JND_BINS, LOWEST = SAC_JND_LOWEST };

/* Upper edge of a bin. */
static float edge_of(uint32_t bin)
{
    if (bin == 0) return 0;
    uint32_t bits = (bin + LOWEST) << 19;
    float edge;
    memcpy(&edge, &bits, sizeof edge);
    return edge;
}

static float percentile(const uint32_t bins[2][BINS + 1], const uint32_t *octave, uint32_t count,
                        uint32_t per_hundred, float most)
{
    uint64_t want = ((uint64_t)count * per_hundred + 99) / 100, seen = bins[0][0] + bins[1][0];
    uint32_t o = 0, bin = 0;
    if (seen < want) {
        while (o + 1 < OCTAVES && seen + octave[o] < want) seen += octave[o++];
        for (bin = o * STEPS; seen < want && bin < BINS; seen += bins[0][bin] + bins[1][bin]) bin++;
    }
    return bin < BINS && edge_of(bin) < most ? edge_of(bin) : most;
}

static void sum_errors(const sac_agenda *agenda, const sac_rank_kernels *kernels, sac_agenda_report *report)
{
    enum { PART = 512 };
    /* Neighbours are often alike: they count in two tables, so that one need not wait for the other. */
    uint32_t bins[2][BINS + 1], octave[OCTAVES] = {0}, count = agenda->count;
    const float *jnd = agenda->jnd;
    uint16_t bin[PART];
    memset(bins, 0, sizeof bins);
    for (uint32_t from = 0; from < count; from += PART) {
        uint32_t part = count - from < PART ? count - from : PART, i = 0;
        kernels->bins(jnd + from, part, bin);
        for (; i + 2 <= part; i += 2) bins[0][bin[i]]++, bins[1][bin[i + 1]]++;
        if (i < part) bins[0][bin[i]]++;
    }
    for (uint32_t o = 0; o < OCTAVES; o++)
        for (uint32_t k = 1; k <= STEPS; k++) octave[o] += bins[0][o * STEPS + k] + bins[1][o * STEPS + k];
    float most = kernels->most(jnd, count);
    report->jnd_sum = kernels->sum(jnd, count);
    report->jnd_most = most;
    report->jnd_p50 = percentile(bins, octave, count, 50, most);
    report->jnd_p95 = percentile(bins, octave, count, 95, most);
}

static void count_fronts(const sac_agenda *agenda, const sac_rank_kernels *kernels, sac_agenda_report *report)
{
    enum { PART = 1024, LEVELS = SAC_TREE_MOST_DEPTH + 1 };
    uint8_t at[PART];
    for (uint32_t from = 0; from < agenda->count; from += PART) {
        const uint8_t *flags = agenda->flags + from, *level = agenda->level + from;
        uint32_t part = agenda->count - from < PART ? agenda->count - from : PART, some[LEVELS];
        /* A bit of the flags in the lowest place of each byte, to be counted. */
        for (uint32_t i = 0; i < part; i++) at[i] = (uint8_t)(flags[i] / SAC_AGENDA_STARTED & 1);
        kernels->tally(at, part, 1, 1, some), report->started += some[0];
        if (!some[0]) continue;
        for (uint32_t i = 0; i < part; i++) at[i] = (uint8_t)(flags[i] / SAC_AGENDA_FINISHED & 1);
        kernels->tally(at, part, 1, 1, some), report->finished += some[0];
        for (uint32_t i = 0; i < part; i++) at[i] = (uint8_t)(flags[i] / SAC_AGENDA_COARSE & 1);
        kernels->tally(at, part, 1, 1, some), report->coarse += some[0];
        /* A front stands where something is left of the pair. */
        for (uint32_t i = 0; i < part; i++) {
            bool stands = (flags[i] & (SAC_AGENDA_STARTED | SAC_AGENDA_EMPTY)) == SAC_AGENDA_STARTED;
            at[i] = stands ? level[i] : (uint8_t)LEVELS;
        }
        kernels->tally(at, part, 0, LEVELS, some);
        for (uint32_t k = 0; k < LEVELS; k++) report->pairs_at_level[k] += some[k];
    }
}

/* ---- the work ---- */

typedef struct perceiving {
    const sac_perceive_frame *frame;
    const sac_sights *sights;
    sac_perceive_kernel *kernel;
} perceiving;

static void perceive_blocks(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
    const perceiving *p = context;
    (void)worker;
    p->kernel(p->frame, p->sights, first * SAC_SIGHT_LANES, last * SAC_SIGHT_LANES);
}

static void perceive_all(sac_agenda *agenda, const sac_perception_def *def, const sac_focus *focus,
                         sac_tasks *tasks)
{
    sac_agenda_private *own = agenda->own;
    sac_perceive_frame frame;
    sac_perceive_frame_init(&frame, def, focus);
    own->most_jnd = frame.most_jnd;
    uint32_t blocks = (agenda->count + SAC_SIGHT_LANES - 1) / SAC_SIGHT_LANES;
    sac_sights sights = {.count = agenda->count,
                         .x = agenda->x,
                         .y = agenda->y,
                         .z = agenda->z,
                         .uncertainty = agenda->known,
                         .extent = agenda->extent,
                         .vx = agenda->vx,
                         .vy = agenda->vy,
                         .vz = agenda->vz,
                         .weight = agenda->weight,
                         .similar = agenda->similar,
                         .jnd = agenda->jnd,
                         .priority = agenda->priority,
                         .sharpness = own->sharpness,
                         .factor = own->factor};
    perceiving context = {&frame, &sights, sac_perceive_kernel_active()};
    sac_tasks_for(tasks, blocks, 256, perceive_blocks, &context);
}

static void forget_fronts(sac_agenda *agenda)
{
    size_t n = agenda->count;
    memcpy(agenda->uncertainty, agenda->known, n * sizeof *agenda->known);
    memset(agenda->group, 0, n);
    memset(agenda->level, 0, n);
    memset(agenda->tests, 0, n * sizeof *agenda->tests);
    memset(agenda->pending, 0, n * sizeof *agenda->pending);
    memset(agenda->done, 0, n * sizeof *agenda->done);
    memset(agenda->pending_at, 0, n * sizeof *agenda->pending_at);
    memset(agenda->done_at, 0, n * sizeof *agenda->done_at);
    uint8_t *restrict flags = agenda->flags;
    for (size_t i = 0; i < n; i++) flags[i] &= SAC_AGENDA_TOP | SAC_AGENDA_SENSOR | SAC_AGENDA_STALE;
    agenda->own->arena_used = agenda->capacity;
    agenda->bulk = 0;
}

void sac_agenda_work(sac_agenda *agenda, const sac_policy *policy, const sac_perception_def *perception,
                     const sac_focus *focus, sac_stop *stop, sac_tasks *tasks, sac_agenda_report *out_report)
{
    sac_agenda_report unread;
    if (!out_report) out_report = &unread;
    *out_report = (sac_agenda_report){0};
    if (!agenda || !policy || !perception) return;
    sac_agenda_private *own = agenda->own;
    sac_clock endless_clock = sac_clock_credits(500);
    sac_stop endless;
    if (!stop) sac_stop_at(stop = &endless, &endless_clock, UINT64_MAX, NULL);
    uint64_t pieces_before = stop->pieces, extra = 0;
    own->policy = policy;
    own->report = out_report;
    own->extra_credits = &extra;
    own->focus = focus ? *focus : (sac_focus){0};

    forget_fronts(agenda);
    perceive_all(agenda, perception, focus, tasks);
    policy->begin(agenda);
    sac_stop_charge(stop, (uint64_t)agenda->count * SAC_CREDITS_PERCEIVE);

    bool heed = !policy->whatever_the_time;
    for (;;) {
        if (heed && sac_stop_reached(stop)) {
            out_report->interrupted = true;
            break;
        }
        uint32_t i = policy->next(agenda);
        if (i == SAC_NOBODY) break;
        uint64_t credits = 0;
        bool whole = true;
        if (!(agenda->flags[i] & SAC_AGENDA_STARTED)) {
            credits = test_roots(agenda, i);
            out_report->tests++;
            sac_stop_did(stop, credits);
        } else {
            whole = open_level(agenda, i, stop, heed, &credits);
        }
        if (!whole) {
            out_report->interrupted = true;
            break;
        }
        policy->refined(agenda, i, credits);
        if (extra) sac_stop_charge(stop, extra), extra = 0;
    }
    out_report->pieces = stop->pieces - pieces_before;
    if (stop->late_ns) {
        uint64_t ps = stop->clock->kind == SAC_CLOCK_CREDITS && stop->clock->ps_per_credit
                          ? stop->clock->ps_per_credit
                          : 500;
        out_report->overshoot_credits = stop->late_ns * 1000u / ps;
    }
    sum_errors(agenda, sac_rank_kernels_active(), out_report);
    count_fronts(agenda, sac_rank_kernels_active(), out_report);
}
