/* The velocity a hand lets go with. A throw is a tenth of a second long, samples tremble, and a single one
 * may be wrong altogether: fit a line or a parabola through the last ones, and look at what does not fit. */
#include "xr/hands.h"

#include <string.h>

static const float WINDOW_S = 0.12f;
/* Slower is a hand that holds still. */
static const float STILL_M_S = 0.12f, STILL_RAD_S = 0.5f;

typedef struct samples {
    uint32_t count;
    double t[SAC_HAND_HISTORY]; /* s, up to 0 */
    double x[SAC_HAND_HISTORY][3];
} samples;

/* Weighted least squares of degree 1 or 2 in each coordinate, then how far off each sample is. False when the
 * times do not suffice. */
static bool fit(const samples *s, const double *weight, int degree, double slope[3], double *off)
{
    double m[3][3] = {{0}}, rhs[3][3] = {{0}};
    int n = degree + 1;
    for (uint32_t i = 0; i < s->count; i++) {
        double power[3] = {1, s->t[i], s->t[i] * s->t[i]};
        for (int r = 0; r < n; r++) {
            for (int c = 0; c < n; c++) m[r][c] += weight[i] * power[r] * power[c];
            for (int k = 0; k < 3; k++) rhs[r][k] += weight[i] * power[r] * s->x[i][k];
        }
    }
    for (int p = 0; p < n; p++) {
        double whole = 0;
        for (uint32_t i = 0; i < s->count; i++) whole += weight[i];
        double scale = p == 0 ? 1 : p == 1 ? 1e-4 : 1e-9;
        if (!(m[p][p] > 1e-2 * scale * whole)) return false;
        for (int r = 0; r < n; r++) {
            if (r == p) continue;
            double f = m[r][p] / m[p][p];
            for (int c = 0; c < n; c++) m[r][c] -= f * m[p][c];
            for (int k = 0; k < 3; k++) rhs[r][k] -= f * rhs[p][k];
        }
    }
    for (int k = 0; k < 3; k++) slope[k] = rhs[1][k] / m[1][1];
    for (uint32_t i = 0; i < s->count; i++) {
        off[i] = 0;
        for (int k = 0; k < 3; k++) {
            double y = rhs[0][k] / m[0][0] + slope[k] * s->t[i];
            if (degree == 2) y += rhs[2][k] / m[2][2] * s->t[i] * s->t[i];
            off[i] += (s->x[i][k] - y) * (s->x[i][k] - y);
        }
        off[i] = sqrt(off[i]);
    }
    return true;
}

static double middle(const double *values, uint32_t count)
{
    double sorted[SAC_HAND_HISTORY];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;
        for (; at > 0 && sorted[at - 1] > values[i]; at--) sorted[at] = sorted[at - 1];
        sorted[at] = values[i];
    }
    return count ? sorted[count / 2] : 0;
}

/* Again and again, with less weight for what is far off the rest. Returns what is left over, a sample's
 * worth. */
static double fit_robust(const samples *s, int degree, double slope[3])
{
    double weight[SAC_HAND_HISTORY], off[SAC_HAND_HISTORY], left = 0, whole = 0;
    for (uint32_t i = 0; i < s->count; i++) weight[i] = 1;
    for (int round = 0; round < 6; round++) {
        if (!fit(s, weight, degree, slope, off)) return -1;
        double limit = 4 * middle(off, s->count) + 1e-6;
        for (uint32_t i = 0; i < s->count; i++) {
            double u = off[i] / limit;
            weight[i] = u < 1 ? (1 - u * u) * (1 - u * u) : 0;
        }
    }
    for (uint32_t i = 0; i < s->count; i++) left += weight[i] * off[i] * off[i], whole += weight[i];
    double spare = whole - degree - 1; /* as good as exact through the few that are left: nothing is known */
    return spare > 1 ? left / spare : -1;
}

static void slope_now(const samples *s, float still, float out[3])
{
    double line[3], curve[3];
    memset(out, 0, 3 * sizeof *out);
    if (s->count < 3) return;
    double straight = fit_robust(s, 1, line);
    if (straight < 0) return;
    double bent = s->count >= 5 ? fit_robust(s, 2, curve) : -1;
    /* A parabola follows the noise too: it must be worth it. */
    const double *best = bent >= 0 && bent < 0.3 * straight ? curve : line;
    double size = sqrt(best[0] * best[0] + best[1] * best[1] + best[2] * best[2]);
    if (!(size > still && size < 1e4)) return;
    for (int k = 0; k < 3; k++) out[k] = (float)best[k];
}

/* Rotation vector from p to q, which are near each other. */
static void turn_between(const float p[4], const float q[4], double out[3])
{
    double d[4] = {(double)q[0] * p[3] - (double)q[3] * p[0] - (double)q[1] * p[2] + (double)q[2] * p[1],
                   (double)q[1] * p[3] - (double)q[3] * p[1] - (double)q[2] * p[0] + (double)q[0] * p[2],
                   (double)q[2] * p[3] - (double)q[3] * p[2] - (double)q[0] * p[1] + (double)q[1] * p[0],
                   (double)q[3] * p[3] + (double)q[0] * p[0] + (double)q[1] * p[1] + (double)q[2] * p[2]};
    double s2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    double f = (d[3] < 0 ? -2 : 2) * (1 + s2 * (1 / 6.0 + s2 * (3 / 40.0 + s2 * (15 / 336.0))));
    for (int k = 0; k < 3; k++) out[k] = f * d[k];
}

void sac_hand_throw(const sac_hand_state *hand, float out_velocity[3], float out_spin[3])
{
    samples way = {0}, turn = {0};
    const float *before = NULL;
    uint32_t first = hand->history_next + SAC_HAND_HISTORY - hand->history_count;
    for (uint32_t i = 0; i < hand->history_count; i++) {
        uint32_t at = (first + i) % SAC_HAND_HISTORY;
        if (hand->history[at][3] > WINDOW_S) continue;
        uint32_t n = way.count++;
        turn.count = way.count;
        way.t[n] = turn.t[n] = -(double)hand->history[at][3];
        for (int k = 0; k < 3; k++) way.x[n][k] = hand->history[at][k];
        if (before) {
            double step[3];
            turn_between(before, hand->past_rotation[at], step);
            for (int k = 0; k < 3; k++) turn.x[n][k] = turn.x[n - 1][k] + step[k];
        }
        before = hand->past_rotation[at];
    }
    slope_now(&way, STILL_M_S, out_velocity);
    slope_now(&turn, STILL_RAD_S, out_spin);
}
