/* The reducers of the adaptive medial axis: many medial balls in, a few out. They see the candidates only
 * through the stand-off matrix, so each is a short greedy search. */
#include "spheretree/medial_internal.h"

#include <math.h>

/* ---- merge: join the two sets that are cheapest to hold together, until few enough are left ---- */

typedef struct merge_set {
    float *need; /* [seat]: stand-off it needs to hold the whole set */
    bool alive;
} merge_set;

static float joint_cost(const merge_set *a, const merge_set *b, uint32_t m, uint32_t *out_seat)
{
    float least = INFINITY;
    uint32_t seat = 0;
    for (uint32_t i = 0; i < m; i++) {
        float both = a->need[i] > b->need[i] ? a->need[i] : b->need[i];
        if (both < least) least = both, seat = i;
    }
    *out_seat = seat;
    return least;
}

bool sac_reduce_merge(const sac_reduction *in, uint32_t count, sac_arena *arena, uint32_t *chosen)
{
    uint32_t m = in->m, left = 0, seat;
    merge_set *sets = sac_arena_alloc(arena, m, sizeof *sets);
    float *columns = sac_arena_alloc(arena, (size_t)m * m, sizeof *columns);
    float *cost = sac_arena_alloc(arena, (size_t)m * m, sizeof *cost);
    if (!sets || !columns || !cost) return false;
    for (uint32_t j = 0; j < m; j++) {
        sets[j] = (merge_set){columns + (size_t)j * m, in->weight[j] > 0};
        for (uint32_t i = 0; i < m; i++) sets[j].need[i] = in->need[(size_t)i * m + j];
        left += sets[j].alive;
    }
    for (uint32_t a = 0; a < m; a++)
        for (uint32_t b = a + 1; b < m; b++)
            cost[(size_t)a * m + b] =
                sets[a].alive && sets[b].alive ? joint_cost(&sets[a], &sets[b], m, &seat) : INFINITY;
    while (left > count) {
        uint32_t a = 0, b = 0;
        float least = INFINITY;
        for (uint32_t i = 0; i < m; i++)
            for (uint32_t j = i + 1; sets[i].alive && j < m; j++)
                if (sets[j].alive && cost[(size_t)i * m + j] < least)
                    least = cost[(size_t)i * m + j], a = i, b = j;
        if (a == b) break;
        for (uint32_t i = 0; i < m; i++) sets[a].need[i] = fmaxf(sets[a].need[i], sets[b].need[i]);
        sets[b].alive = false;
        left--;
        for (uint32_t j = 0; j < m; j++) {
            if (j == a || !sets[j].alive) continue;
            uint32_t low = j < a ? j : a, high = j < a ? a : j;
            cost[(size_t)low * m + high] = joint_cost(&sets[a], &sets[j], m, &seat);
        }
    }
    uint32_t n = 0;
    for (uint32_t j = 0; j < m && n < count; j++)
        if (sets[j].alive) {
            joint_cost(&sets[j], &sets[j], m, &seat);
            chosen[n++] = seat;
        }
    while (n < count) chosen[n] = chosen[n - 1], n++;
    return true;
}

/* ---- burst: remove the ball whose cells the others take over most cheaply ---- */

bool sac_reduce_burst(const sac_reduction *in, uint32_t count, sac_arena *arena, uint32_t *chosen)
{
    uint32_t m = in->m, left = m;
    bool *alive = sac_arena_alloc(arena, m, sizeof *alive);
    uint32_t *owner = sac_arena_alloc(arena, m, sizeof *owner),
             *second = sac_arena_alloc(arena, m, sizeof *second);
    float *standoff = sac_arena_alloc(arena, m, sizeof *standoff),
          *grown = sac_arena_alloc(arena, m, sizeof *grown);
    if (!alive || !owner || !second || !standoff || !grown) return false;
    for (uint32_t i = 0; i < m; i++) alive[i] = true;
    while (left > count) {
        for (uint32_t i = 0; i < m; i++) standoff[i] = 0;
        for (uint32_t j = 0; j < m; j++) {
            float first = INFINITY, next = INFINITY;
            owner[j] = second[j] = UINT32_MAX;
            for (uint32_t i = 0; i < m && in->weight[j] > 0; i++) {
                float need = in->need[(size_t)i * m + j];
                if (!alive[i]) continue;
                if (need < first)
                    next = first, second[j] = owner[j], first = need, owner[j] = i;
                else if (need < next)
                    next = need, second[j] = i;
            }
            if (owner[j] != UINT32_MAX) standoff[owner[j]] = fmaxf(standoff[owner[j]], first);
        }
        /* The price of removing i: what its cells add to the stand-offs of their second choices, less its
         * own. */
        uint32_t victim = UINT32_MAX;
        float least = INFINITY;
        for (uint32_t i = 0; i < m; i++) {
            if (!alive[i]) continue;
            float price = -standoff[i];
            memcpy(grown, standoff, m * sizeof *grown);
            for (uint32_t j = 0; j < m; j++) {
                if (owner[j] != i || second[j] == UINT32_MAX) continue;
                float need = in->need[(size_t)second[j] * m + j];
                if (need > grown[second[j]]) price += need - grown[second[j]], grown[second[j]] = need;
            }
            if (price < least) least = price, victim = i;
        }
        if (victim == UINT32_MAX) break;
        alive[victim] = false;
        left--;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < m && n < count; i++)
        if (alive[i]) chosen[n++] = i;
    return true;
}

/* ---- expand: grow all balls by the same stand-off, keep the fewest that still hold everything ---- */

/* Greedy cover with stand-off h; returns how many seats it takes, count + 1 when more than `count`. */
static uint32_t cover_with(const sac_reduction *in, float h, uint32_t count, bool *held, uint32_t *chosen)
{
    uint32_t m = in->m, used = 0;
    float open = 0;
    for (uint32_t j = 0; j < m; j++) held[j] = in->weight[j] <= 0, open += held[j] ? 0 : in->weight[j];
    while (open > 0.5f) {
        if (used == count) return count + 1;
        float most = 0;
        uint32_t seat = UINT32_MAX;
        for (uint32_t i = 0; i < m; i++) {
            float gain = 0;
            for (uint32_t j = 0; j < m; j++)
                if (!held[j] && in->need[(size_t)i * m + j] <= h) gain += in->weight[j];
            if (gain > most) most = gain, seat = i;
        }
        if (seat == UINT32_MAX) return count + 1;
        for (uint32_t j = 0; j < m; j++)
            if (!held[j] && in->need[(size_t)seat * m + j] <= h) held[j] = true, open -= in->weight[j];
        chosen[used++] = seat;
    }
    return used;
}

bool sac_reduce_expand(const sac_reduction *in, uint32_t count, sac_arena *arena, uint32_t *chosen)
{
    uint32_t m = in->m;
    bool *held = sac_arena_alloc(arena, m, sizeof *held);
    if (!held) return false;
    float low = 0, high = 0;
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t j = 0; j < m; j++)
            if (in->weight[j] > 0) high = fmaxf(high, in->need[(size_t)i * m + j]);
    uint32_t trial[SAC_TREE_MOST_BRANCH + 1], n = cover_with(in, high, count, held, chosen);
    for (int step = 0; step < 14; step++) {
        float h = 0.5f * (low + high);
        uint32_t used = cover_with(in, h, count, held, trial);
        if (used > count) {
            low = h;
        } else {
            high = h, n = used;
            memcpy(chosen, trial, used * sizeof *chosen);
        }
    }
    /* Spare seats are given away by the optimiser, which moves a seat without pieces to where one is missing.
     */
    for (uint32_t i = 0; n < count && i < m; i++) {
        bool taken = false;
        for (uint32_t k = 0; k < n; k++) taken = taken || chosen[k] == i;
        if (!taken) chosen[n++] = i;
    }
    return true;
}
