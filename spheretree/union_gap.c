/* How far a point of a ball can be from a union of balls: an upper bound, close to the truth.
 *
 * The distance to the union changes by no more than one moves, so its value at the middle of a cubic cell
 * plus half the cell's diagonal bounds the whole cell. Cells with the highest bound are cut into eight until
 * the best value found is close to it, or the effort is spent; either way the bound holds. */
#include "spheretree/grouping_internal.h"

#include <math.h>

enum { MOST_CELLS = 1024, LEAST_CELLS = 64 };

typedef struct cell {
    double centre[3], half, bound;
} cell;

static double distance_to_union(const double (*balls)[4], uint32_t count, const double p[3])
{
    double least = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        double x = balls[i][0] - p[0], y = balls[i][1] - p[1], z = balls[i][2] - p[2];
        double away = sqrt(x * x + y * y + z * z) - balls[i][3];
        if (away < least) least = away;
    }
    return least > 0 ? least : 0;
}

static void sift_up(cell *heap, uint32_t at)
{
    cell moving = heap[at];
    for (; at > 0 && heap[(at - 1) / 2].bound < moving.bound; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = moving;
}

static void sift_down(cell *heap, uint32_t count)
{
    cell moving = heap[0];
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && heap[child + 1].bound > heap[child].bound) child++;
        if (heap[child].bound <= moving.bound) break;
        heap[at] = heap[child];
    }
    heap[at] = moving;
}

double sac_union_gap(const double ball[4], const double (*balls)[4], uint32_t count, uint32_t of)
{
    double radius = ball[3], simple = INFINITY, best = 0;
    for (uint32_t i = 0; i < count; i++) {
        double x = balls[i][0] - ball[0], y = balls[i][1] - ball[1], z = balls[i][2] - ball[2];
        simple = fmin(simple, sqrt(x * x + y * y + z * z) + radius - balls[i][3]);
    }
    simple = fmax(simple, 0);
    if (!(simple > 0) || !(radius > 0)) return simple;

    cell heap[MOST_CELLS + 8];
    uint32_t used = 1, budget = (1u << 24) / of;
    budget = budget < LEAST_CELLS ? LEAST_CELLS : budget > MOST_CELLS ? MOST_CELLS : budget;
    heap[0] = (cell){{ball[0], ball[1], ball[2]}, radius, simple};
    for (uint32_t looked = 0; looked + 8 <= budget && used > 0; looked += 8) {
        cell top = heap[0];
        if (top.bound <= best + 0.01 * radius) break;
        heap[0] = heap[--used];
        if (used > 0) sift_down(heap, used);
        for (int octant = 0; octant < 8; octant++) {
            cell c = {.half = top.half / 2};
            double inner = 0, away = 0, p[3], diagonal = c.half * 1.7320508075688773;
            for (int k = 0; k < 3; k++) {
                c.centre[k] = top.centre[k] + (octant >> k & 1 ? c.half : -c.half);
                double d = c.centre[k] - ball[k], nearest = fmax(fabs(d) - c.half, 0);
                inner += nearest * nearest;
                away += d * d;
            }
            if (inner > radius * radius) continue; /* the cell misses the ball */
            double here = distance_to_union(balls, count, c.centre);
            c.bound = fmin(here + diagonal, top.bound);
            /* A middle outside the ball is no witness; the point of the ball towards it is. */
            double pull = away > radius * radius ? radius / sqrt(away) : 1;
            for (int k = 0; k < 3; k++) p[k] = ball[k] + (c.centre[k] - ball[k]) * pull;
            best = fmax(best, pull < 1 ? distance_to_union(balls, count, p) : here);
            if (c.bound <= best) continue;
            heap[used++] = c;
            sift_up(heap, used - 1);
        }
    }
    double bound = best;
    if (used > 0) bound = fmax(bound, heap[0].bound);
    return fmin(bound, simple);
}
