/* Dividing balls (or points: balls without radius) into a few tight groups. The cost of a division is the sum
 * of the groups' cubed radii: how often a descent will have to open them. */
#include "spheretree/grouping_internal.h"

#include <math.h>

typedef struct keyed {
    double key;
    uint32_t item;
} keyed;

/* A total order, so that ties cut the same way everywhere. */
static bool before(const keyed *a, const keyed *b)
{
    return a->key < b->key || (a->key == b->key && a->item < b->item);
}

static void swap(keyed *a, keyed *b)
{
    keyed t = *a;
    *a = *b;
    *b = t;
}

/* Puts the `left` smallest of list[0..count) first. */
static void select_smallest(keyed *list, uint32_t count, uint32_t left)
{
    uint32_t low = 0, high = count;
    while (high - low > 1 && left > low && left < high) {
        keyed *a = &list[low], *b = &list[low + (high - low) / 2], *c = &list[high - 1];
        keyed pivot = before(a, b) ? (before(b, c)   ? *b
                                      : before(a, c) ? *c
                                                     : *a)
                                   : (before(a, c)   ? *a
                                      : before(b, c) ? *c
                                                     : *b);
        uint32_t i = low, j = high - 1;
        for (;;) {
            while (before(&list[i], &pivot)) i++;
            while (before(&pivot, &list[j])) j--;
            if (i >= j) break;
            swap(&list[i], &list[j]);
            i++, j--;
        }
        uint32_t middle = j + 1;
        if (middle == high) middle--; /* the pivot was the largest and stands last */
        if (left < middle)
            high = middle;
        else
            low = middle;
    }
}

/* The direction in which the centres spread most. */
static void principal_axis(const double (*balls)[4], const uint32_t *items, uint32_t count, double axis[3])
{
    double mean[3] = {0, 0, 0}, m[6] = {0};
    for (uint32_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) mean[k] += balls[items[i]][k];
    for (int k = 0; k < 3; k++) mean[k] /= count;
    for (uint32_t i = 0; i < count; i++) {
        const double *p = balls[items[i]];
        double x = p[0] - mean[0], y = p[1] - mean[1], z = p[2] - mean[2];
        m[0] += x * x, m[1] += y * y, m[2] += z * z, m[3] += x * y, m[4] += y * z, m[5] += z * x;
    }
    double v[3] = {1, 0.9, 0.8};
    for (int turn = 0; turn < 24; turn++) {
        double w[3] = {m[0] * v[0] + m[3] * v[1] + m[5] * v[2], m[3] * v[0] + m[1] * v[1] + m[4] * v[2],
                       m[5] * v[0] + m[4] * v[1] + m[2] * v[2]};
        double length = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
        if (!(length > 0)) break;
        for (int k = 0; k < 3; k++) v[k] = w[k] / length;
    }
    memcpy(axis, v, sizeof v);
}

static double cubed(double r) { return r * r * r; }

static void project(const double (*balls)[4], const uint32_t *items, uint32_t count, const double axis[3],
                    keyed *out)
{
    for (uint32_t i = 0; i < count; i++) {
        const double *p = balls[items[i]];
        out[i] = (keyed){p[0] * axis[0] + p[1] * axis[1] + p[2] * axis[2], items[i]};
    }
}

typedef struct cutter {
    const double (*balls)[4];
    keyed *list;
    double (*room)[4];
} cutter;

/* Beyond this many items the axis is taken from the spread alone. */
#define MOST_TRIED 4096u

/* Cut items[0..sum of sizes) into `parts` of the given sizes, in order, halving the parts each time. */
static void cut(const cutter *c, uint32_t *items, uint32_t parts, const uint32_t *sizes)
{
    if (parts < 2) return;
    uint32_t half = parts / 2, left = 0, count = 0;
    for (uint32_t i = 0; i < parts; i++) {
        if (i == half) left = count;
        count += sizes[i];
    }
    double axes[4][3] = {{0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    principal_axis(c->balls, items, count, axes[0]);
    uint32_t best = 0;
    if (count <= MOST_TRIED && left > 0 && left < count) {
        double least = INFINITY;
        for (uint32_t k = 0; k < 4; k++) {
            project(c->balls, items, count, axes[k], c->list);
            select_smallest(c->list, count, left);
            double ball[4], cost = 0;
            for (uint32_t i = 0; i < count; i++) memcpy(c->room[i], c->balls[c->list[i].item], 32);
            sac_ball_of_balls((const double(*)[4])c->room, left, ball, &ball[3]);
            cost += cubed(ball[3]);
            sac_ball_of_balls((const double(*)[4])(c->room + left), count - left, ball, &ball[3]);
            cost += cubed(ball[3]);
            if (cost < least * (1 - 1e-9)) least = cost, best = k;
        }
    }
    project(c->balls, items, count, axes[best], c->list);
    select_smallest(c->list, count, left);
    for (uint32_t i = 0; i < count; i++) items[i] = c->list[i].item;
    cut(c, items, half, sizes);
    cut(c, items + left, parts - half, sizes + half);
}

bool sac_group_balanced(const double (*balls)[4], uint32_t *items, uint32_t count, uint32_t groups,
                        sac_arena *arena, uint32_t *out_sizes)
{
    for (uint32_t g = 0; g < groups; g++) out_sizes[g] = count / groups + (g < count % groups);
    cutter c = {balls, sac_arena_alloc(arena, count, sizeof(keyed)), NULL};
    c.room = sac_arena_alloc(arena, count < MOST_TRIED ? count : MOST_TRIED, sizeof *c.room);
    if (!c.list || !c.room) return false;
    cut(&c, items, groups, out_sizes);
    return true;
}

/* ---- better groups by moving balls between them ---- */

typedef struct group {
    double ball[4], cost;
    uint32_t count;
} group;

typedef struct division {
    const sac_grouping *g;
    const double (*balls)[4]; /* of the items, gathered */
    double (*room)[4];
    uint8_t *label; /* of each item */
    group groups[SAC_TREE_MOST_BRANCH];
    double cost;
} division;

static const uint32_t NOBODY = UINT32_MAX;

/* The group `label` without item `leaves` and with item `joins`. */
static group remade(const division *d, uint32_t label, uint32_t leaves, uint32_t joins)
{
    group out = {.count = 0};
    for (uint32_t i = 0; i < d->g->count; i++)
        if ((d->label[i] == label && i != leaves) || i == joins)
            memcpy(d->room[out.count++], d->balls[i], sizeof d->room[0]);
    if (out.count == 0) return out;
    sac_ball_of_balls((const double(*)[4])d->room, out.count, out.ball, &out.ball[3]);
    if (out.count > 1 || !d->g->lone_free) out.cost = cubed(out.ball[3]);
    return out;
}

static void refresh(division *d)
{
    d->cost = 0;
    for (uint32_t k = 0; k < d->g->groups; k++) {
        d->groups[k] = remade(d, k, NOBODY, NOBODY);
        d->cost += d->groups[k].cost;
    }
}

static double reach(const double ball[4], const double centre[3])
{
    double x = ball[0] - centre[0], y = ball[1] - centre[1], z = ball[2] - centre[2];
    return sqrt(x * x + y * y + z * z) + ball[3];
}

/* No ball around `to` and `item` costs less than this. */
static double least_cost_with(const group *to, const double item[4])
{
    double r = (reach(item, to->ball) + to->ball[3]) / 2;
    return cubed(fmax(to->ball[3], r));
}

typedef struct change {
    double gain;
    uint32_t item, to, back; /* `back` comes the other way, or NOBODY */
    group from_after, to_after;
} change;

/* The best way to rid group `from` of `item`, which holds its ball up. */
static void consider(const division *d, uint32_t from, uint32_t item, change *best)
{
    const sac_grouping *g = d->g;
    group without = remade(d, from, item, NOBODY);
    double freed = d->groups[from].cost - without.cost;
    if (!(freed > best->gain)) return;
    for (uint32_t to = 0; to < g->groups; to++) {
        const group *target = &d->groups[to];
        if (to == from || freed + target->cost - least_cost_with(target, d->balls[item]) <= best->gain)
            continue;
        if (d->groups[from].count > g->least && target->count < g->most) {
            group with = remade(d, to, NOBODY, item);
            double gain = freed + target->cost - with.cost;
            if (gain > best->gain) *best = (change){gain, item, to, NOBODY, without, with};
            continue;
        }
        /* Full: something of the target comes back, and only what lies near is worth a try. */
        enum { MOST_BACK = 6 };
        double limit = -INFINITY;
        uint32_t last = NOBODY;
        for (int turn = 0; turn < MOST_BACK; turn++) {
            uint32_t back = NOBODY;
            double nearest = INFINITY;
            for (uint32_t i = 0; i < g->count; i++) {
                if (d->label[i] != to) continue;
                double away = reach(d->balls[i], without.ball);
                bool later = away > limit || (away == limit && (last == NOBODY || i > last));
                if (later && away < nearest) nearest = away, back = i;
            }
            if (back == NOBODY) break;
            limit = nearest, last = back;
            group with = remade(d, to, back, item);
            double gain = d->groups[from].cost + target->cost - with.cost;
            if (gain <= best->gain) continue;
            group after = remade(d, from, item, back);
            gain -= after.cost;
            if (gain > best->gain) *best = (change){gain, item, to, back, after, with};
        }
    }
}

/* Moves and swaps while they pay. Only balls on the boundary of their group are worth moving. */
static void improve(division *d, uint32_t most_changes)
{
    for (uint32_t turn = 0, idle = 0, from = 0; turn < most_changes && idle < d->g->groups;
         from = (from + 1) % d->g->groups) {
        change best = {.gain = d->cost * 1e-9};
        const group *g = &d->groups[from];
        if (g->count > 1)
            for (uint32_t i = 0; i < d->g->count; i++)
                if (d->label[i] == from && reach(d->balls[i], g->ball) >= g->ball[3] * (1 - 1e-7))
                    consider(d, from, i, &best);
        if (!best.from_after.count) {
            idle++;
            continue;
        }
        idle = 0, turn++;
        d->label[best.item] = (uint8_t)best.to;
        if (best.back != NOBODY) d->label[best.back] = (uint8_t)from;
        d->groups[from] = best.from_after;
        d->groups[best.to] = best.to_after;
        d->cost -= best.gain;
    }
}

/* ---- starts ---- */

/* Sizes into [least, most], each time by the transfer that costs least reach. */
static void mend_sizes(division *d)
{
    const sac_grouping *g = d->g;
    for (;;) {
        uint32_t over = NOBODY, under = NOBODY;
        for (uint32_t k = 0; k < g->groups; k++) {
            if (d->groups[k].count > g->most) over = k;
            if (d->groups[k].count < g->least) under = k;
        }
        if (over == NOBODY && under == NOBODY) return;
        double least = INFINITY;
        uint32_t item = NOBODY, to = NOBODY;
        for (uint32_t i = 0; i < g->count; i++) {
            uint32_t from = d->label[i];
            if (over != NOBODY ? from != over : d->groups[from].count <= g->least) continue;
            for (uint32_t k = 0; k < g->groups; k++) {
                if (k == from || (over != NOBODY ? d->groups[k].count >= g->most : k != under)) continue;
                double worse =
                    reach(d->balls[i], d->groups[k].ball) - reach(d->balls[i], d->groups[from].ball);
                if (worse < least) least = worse, item = i, to = k;
            }
        }
        d->groups[d->label[item]].count--;
        d->groups[to].count++;
        d->label[item] = (uint8_t)to;
    }
}

/* Seeds as far apart as possible, then nearest centre and new centre in turn. */
static void start_from(division *d, uint32_t first, double *away)
{
    const sac_grouping *g = d->g;
    for (uint32_t i = 0; i < g->count; i++) away[i] = INFINITY;
    for (uint32_t k = 0, seed = first; k < g->groups; k++) {
        memcpy(d->groups[k].ball, d->balls[seed], sizeof d->groups[k].ball);
        away[seed] = -1;
        uint32_t next = seed;
        for (uint32_t i = 0; i < g->count; i++) {
            away[i] = fmin(away[i], reach(d->balls[i], d->groups[k].ball));
            if (away[i] > away[next]) next = i;
        }
        seed = next;
    }
    for (int turn = 0; turn < 6; turn++) {
        for (uint32_t k = 0; k < g->groups; k++) d->groups[k].count = 0;
        for (uint32_t i = 0; i < g->count; i++) {
            double least = INFINITY;
            for (uint32_t k = 0; k < g->groups; k++) {
                double r = reach(d->balls[i], d->groups[k].ball);
                if (r < least) least = r, d->label[i] = (uint8_t)k;
            }
            d->groups[d->label[i]].count++;
        }
        mend_sizes(d);
        refresh(d);
    }
}

bool sac_group_tight(const sac_grouping *g, sac_arena *arena, uint32_t *out_sizes, double *out_cost)
{
    uint32_t n = g->count;
    if (!sac_group_balanced(g->balls, g->items, n, g->groups, arena, out_sizes)) return false;
    double(*gathered)[4] = sac_arena_alloc(arena, n, sizeof *gathered);
    double(*room)[4] = sac_arena_alloc(arena, n, sizeof *room),
    *away = sac_arena_alloc(arena, n, sizeof *away);
    uint8_t *label = sac_arena_alloc(arena, n, 1), *best_label = sac_arena_alloc(arena, n, 1);
    uint32_t *sorted = sac_arena_alloc(arena, n, sizeof *sorted);
    if (!gathered || !room || !away || !label || !best_label || !sorted) return false;
    for (uint32_t i = 0; i < n; i++) memcpy(gathered[i], g->balls[g->items[i]], sizeof gathered[i]);
    division d = {.g = g, .balls = (const double(*)[4])gathered, .room = room, .label = label};
    for (uint32_t k = 0, i = 0; k < g->groups; k++)
        for (uint32_t end = i + out_sizes[k]; i < end; i++) label[i] = (uint8_t)k;
    refresh(&d);
    double least = INFINITY;
    for (uint32_t start = 0;; start++) {
        improve(&d, 2 * n + 16);
        if (d.cost < least * (1 - 1e-9)) {
            least = d.cost;
            memcpy(best_label, label, n);
        }
        if (start >= g->starts || g->groups < 2) break;
        start_from(&d, (uint32_t)((uint64_t)start * n / g->starts), away);
    }
    *out_cost = least;
    uint32_t at = 0;
    for (uint32_t k = 0; k < g->groups; k++) {
        uint32_t from = at;
        for (uint32_t i = 0; i < n; i++)
            if (best_label[i] == k) sorted[at++] = g->items[i];
        out_sizes[k] = at - from;
    }
    memcpy(g->items, sorted, n * sizeof *sorted);
    return true;
}
