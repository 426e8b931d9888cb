/* Small matrices: the rotation nearest to one, its largest singular value from above, pseudo-inverses. In
 * double, with nothing but + - * / and square roots, so that every machine gets the same bits. */
#include "deform/soft_internal.h"

#include <math.h>

void sac_turn_rows(const double turn[4], double rows[3][3])
{
    double x = turn[0], y = turn[1], z = turn[2], w = turn[3];
    rows[0][0] = 1 - 2 * (y * y + z * z), rows[0][1] = 2 * (x * y - w * z), rows[0][2] = 2 * (x * z + w * y);
    rows[1][0] = 2 * (x * y + w * z), rows[1][1] = 1 - 2 * (x * x + z * z), rows[1][2] = 2 * (y * z - w * x);
    rows[2][0] = 2 * (x * z - w * y), rows[2][1] = 2 * (y * z + w * x), rows[2][2] = 1 - 2 * (x * x + y * y);
}

static double det(const double m[3][3])
{
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
           m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

/* Symmetric n x n, row by row, destroyed: eigenvalues on its diagonal, eigenvectors in the columns of `v`. */
static void jacobi(double *m, int n, double *v)
{
    for (int i = 0; i < n * n; i++) v[i] = i % (n + 1) == 0;
    for (int sweep = 0; sweep < 30; sweep++) {
        double off = 0, on = 0;
        for (int i = 0; i < n; i++)
            for (int k = 0; k < n; k++) *(i == k ? &on : &off) += m[i * n + k] * m[i * n + k];
        if (!(off > 1e-32 * on)) return;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                double apq = m[p * n + q];
                if (apq == 0) continue;
                double theta = (m[q * n + q] - m[p * n + p]) / (2 * apq);
                double size = theta < 0 ? -theta : theta;
                double t = 1 / (size + sqrt(theta * theta + 1)), c, s;
                if (theta < 0) t = -t;
                c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < n; k++) {
                    double a = m[k * n + p], b = m[k * n + q];
                    m[k * n + p] = c * a - s * b, m[k * n + q] = s * a + c * b;
                }
                for (int k = 0; k < n; k++) {
                    double a = m[p * n + k], b = m[q * n + k];
                    m[p * n + k] = c * a - s * b, m[q * n + k] = s * a + c * b;
                }
                for (int k = 0; k < n; k++) {
                    double a = v[k * n + p], b = v[k * n + q];
                    v[k * n + p] = c * a - s * b, v[k * n + q] = s * a + c * b;
                }
            }
    }
}

void sac_pseudo_inverse(const double *m, int n, double cut, double *out)
{
    double work[81], v[81], most = 0;
    memcpy(work, m, (size_t)(n * n) * sizeof *m);
    jacobi(work, n, v);
    for (int i = 0; i < n; i++) most = work[i * n + i] > most ? work[i * n + i] : most;
    memset(out, 0, (size_t)(n * n) * sizeof *out);
    for (int k = 0; k < n; k++) {
        double value = work[k * n + k];
        if (!(value > cut * most)) continue;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) out[i * n + j] += v[i * n + k] * v[j * n + k] / value;
    }
}

/* The quaternion of the best rotation is the eigenvector to the largest eigenvalue of a 4 x 4 matrix (Horn
 * 1987): slower, but it needs no start. */
static void turn_search(const double a[3][3], double turn[4])
{
    double xx = a[0][0], yy = a[1][1], zz = a[2][2], v[16];
    double m[16] = {xx - yy - zz,      a[0][1] + a[1][0], a[0][2] + a[2][0], a[2][1] - a[1][2],
                    a[0][1] + a[1][0], yy - xx - zz,      a[1][2] + a[2][1], a[0][2] - a[2][0],
                    a[0][2] + a[2][0], a[1][2] + a[2][1], zz - xx - yy,      a[1][0] - a[0][1],
                    a[2][1] - a[1][2], a[0][2] - a[2][0], a[1][0] - a[0][1], xx + yy + zz};
    jacobi(m, 4, v);
    int best = 0;
    for (int i = 1; i < 4; i++)
        if (m[i * 5] > m[best * 5]) best = i;
    for (int i = 0; i < 4; i++) turn[i] = v[i * 4 + best];
}

/* Symmetric and safely positive: out = h^-1 w. */
static bool solve_positive(double h[3][3], const double w[3], double out[3])
{
    double a = h[0][0], m2 = a * h[1][1] - h[0][1] * h[0][1], d = det((const double(*)[3])h);
    if (!(a > 0 && m2 > 0 && d > 0)) return false;
    double c[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            c[i][k] = h[i1][k1] * h[i2][k2] - h[i1][k2] * h[i2][k1];
        }
    for (int i = 0; i < 3; i++) out[i] = (c[i][0] * w[0] + c[i][1] * w[1] + c[i][2] * w[2]) / d;
    return true;
}

static void turn_by(double turn[4], const double half[3])
{
    double x = turn[0], y = turn[1], z = turn[2], s = turn[3];
    turn[0] = x + half[0] * s + half[1] * z - half[2] * y;
    turn[1] = y + half[1] * s + half[2] * x - half[0] * z;
    turn[2] = z + half[2] * s + half[0] * y - half[1] * x;
    turn[3] = s - half[0] * x - half[1] * y - half[2] * z;
    double length = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2] + turn[3] * turn[3]);
    for (int k = 0; k < 4; k++) turn[k] /= length;
}

/* trace(R^T a) grows fastest along w = sum r x a and bends by -H, H = trace(M) I - M, M = a R^T. Where H is
 * positive, Newton's step H^-1 w; elsewhere that of Mueller et al. 2016, w / |trace(M)|; both as a rotation
 * by tan(angle / 2), which needs no sine. A maximum has w = 0 and a positive H, and on rotations a local
 * maximum is the global one: to end there is the proof. H gets a little more than it has, so that directions
 * the matrix says nothing about stay as they were. */
bool sac_turn_follow(const double a[3][3], double turn[4])
{
    double size = 0, rows[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) size += a[i][k] * a[i][k];
    size = sqrt(size);
    if (!(size > 1e-30 && size < 1e30)) return true;
    double unit = 1 / size;
    for (int turns = 0; turns < 16; turns++) {
        double m[3][3], h[3][3], half[3];
        sac_turn_rows(turn, rows);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                m[i][k] = (a[i][0] * rows[k][0] + a[i][1] * rows[k][1] + a[i][2] * rows[k][2]) * unit;
        double w[3] = {m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]};
        double trace = m[0][0] + m[1][1] + m[2][2];
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) h[i][k] = (i == k ? trace + 1e-9 : 0) - (m[i][k] + m[k][i]) / 2;
        bool positive = solve_positive(h, w, half);
        double by = positive ? 0.5 : 0.5 / ((trace < 0 ? -trace : trace) + 1e-9);
        for (int k = 0; k < 3; k++) half[k] = (positive ? half[k] : w[k]) * by;
        double square = half[0] * half[0] + half[1] * half[1] + half[2] * half[2];
        if (!positive && square < 1e-20) break; /* a saddle */
        turn_by(turn, half);
        if (positive && square < 1e-13) return true; /* the next step would be of the order of its square */
    }
    turn_search(a, turn);
    return false;
}

/* The largest eigenvalue of B = m^T m is mean + p y with y the largest root of y^3 - 3y = 2r, r in [-1, 1];
 * with y = 1 + e that is e^3 + 3e^2 = 2(1 + r). e <= sqrt(2(1 + r) / 3) is above the root, the cubic is
 * convex there, and Newton's steps on a convex function stay above: no rounding of a cosine can make it too
 * small. */
double sac_norm_above(const double m[3][3])
{
    double b[3][3], mean, square = 0, most = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) most = fabs(m[i][k]) > most ? fabs(m[i][k]) : most;
    if (!(most > 0)) return 0;
    double unit = 1 / most;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            b[i][k] = (m[0][i] * unit) * (m[0][k] * unit) + (m[1][i] * unit) * (m[1][k] * unit) +
                      (m[2][i] * unit) * (m[2][k] * unit);
    mean = (b[0][0] + b[1][1] + b[2][2]) / 3;
    for (int i = 0; i < 3; i++) b[i][i] -= mean;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) square += b[i][k] * b[i][k];
    double p = sqrt(square / 6), y = 2;
    if (p > 1e-9 * mean) {
        double twice = det(b) / (p * p * p);
        double right = 2 + twice;
        /* Cancellation near a double root costs 1e-15 of r: pay for it here. */
        right = (right > 0 ? right : 0) + 1e-13;
        double e = sqrt(right / 3);
        for (int i = 0; i < 3; i++) e -= (e * e * (e + 3) - right) / (3 * e * (e + 2));
        y = 1 + e;
    }
    return sqrt(mean + p * y) * (1 + 1e-9) * most;
}

float sac_norm_above_f(const float m[3][3])
{
    double d[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) d[i][k] = m[i][k];
    return (float)(sac_norm_above(d) * (1 + 1.3e-7));
}

double sac_cube_root(double x)
{
    double scale = 1;
    while (x > 2.8285) x /= 8, scale *= 2;
    while (x < 0.3535) x *= 8, scale /= 2;
    double y = (2 + x) / 3; /* the tangent at 1; then Halley, thrice */
    for (int i = 0; i < 3; i++) {
        double cube = y * y * y;
        y *= (cube + 2 * x) / (2 * cube + x);
    }
    return y * scale;
}

double sac_exp_minus(double x)
{
    if (x > 700) return 0;
    double y = x / 1024, term = 1, sum = 1;
    for (int i = 1; i < 10; i++) term *= -y / i, sum += term;
    for (int i = 0; i < 10; i++) sum *= sum;
    return sum;
}

void sac_eigen_vectors(double *m, int n, double *v) { jacobi(m, n, v); }
