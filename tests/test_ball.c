#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "base/rng.h"
#include "spheretree/build_internal.h"

static double reach(const double *ball, double r, const double centre[3])
{
    double x = ball[0] - centre[0], y = ball[1] - centre[1], z = ball[2] - centre[2];
    return sqrt(x * x + y * y + z * z) + r;
}

/* An independent judge: shrink steps towards the farthest ball, from the found centre and from afar; if one
 * finds a clearly smaller radius, the found ball is not the smallest. */
static double descend(const double (*balls)[4], uint32_t count, double centre[3], double step, int turns)
{
    double best = INFINITY;
    for (int turn = 0; turn < turns; turn++) {
        uint32_t far = 0;
        double most = -1;
        for (uint32_t i = 0; i < count; i++) {
            double d = reach(balls[i], balls[i][3], centre);
            if (d > most) most = d, far = i;
        }
        best = fmin(best, most);
        double d = reach(balls[far], 0, centre);
        if (d == 0) break;
        double move = fmin(step / (1 + turn), d);
        for (int k = 0; k < 3; k++) centre[k] += (balls[far][k] - centre[k]) * move / d;
    }
    return best;
}

static void check_holds(const double (*balls)[4], uint32_t count, const double centre[3], double radius)
{
    for (uint32_t i = 0; i < count; i++)
        assert_true(reach(balls[i], balls[i][3], centre) <= radius * (1 + 1e-12));
}

/* The circumcentre of up to four points in their own span, by plain elimination. */
static bool circumcentre(const double (*p)[4], const uint32_t *who, uint32_t n, double centre[3])
{
    double m[3][4], q[3][3];
    uint32_t k = n - 1;
    for (uint32_t i = 0; i < k; i++)
        for (int c = 0; c < 3; c++) q[i][c] = p[who[i + 1]][c] - p[who[0]][c];
    for (uint32_t i = 0; i < k; i++) {
        for (uint32_t j = 0; j < k; j++) m[i][j] = q[i][0] * q[j][0] + q[i][1] * q[j][1] + q[i][2] * q[j][2];
        m[i][k] = m[i][i] / 2;
    }
    for (uint32_t i = 0; i < k; i++) {
        if (fabs(m[i][i]) < 1e-14) return false;
        for (uint32_t j = 0; j < k; j++) {
            if (j == i) continue;
            double f = m[j][i] / m[i][i];
            for (uint32_t c = i; c <= k; c++) m[j][c] -= f * m[i][c];
        }
    }
    for (int c = 0; c < 3; c++) {
        centre[c] = p[who[0]][c];
        for (uint32_t i = 0; i < k; i++) centre[c] += m[i][k] / m[i][i] * q[i][c];
    }
    return true;
}

/* The smallest over all subsets of at most four points: slow and certain. */
static double brute(const double (*p)[4], uint32_t count)
{
    double best = INFINITY;
    for (uint32_t mask = 1; mask < 1u << count; mask++) {
        uint32_t who[4], n = 0;
        for (uint32_t i = 0; i < count && n <= 4; i++)
            if (mask >> i & 1) {
                if (n < 4) who[n] = i;
                n++;
            }
        double centre[3], most = 0;
        if (n > 4 || !circumcentre(p, who, n, centre)) continue;
        for (uint32_t i = 0; i < count; i++) most = fmax(most, reach(p[i], 0, centre));
        best = fmin(best, most);
    }
    return best;
}

static void points_match_all_subsets(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(7);
    for (int round = 0; round < 600; round++) {
        uint32_t count = 1 + sac_rng_below(&rng, 9);
        double p[9][4], flat[9][3];
        for (uint32_t i = 0; i < count; i++) {
            for (int k = 0; k < 3; k++) {
                /* Every third round on a coarse lattice (many ties), others flat or in line. */
                double v = round % 3 == 0 ? sac_rng_below(&rng, 3) : sac_rng_double(&rng);
                if (round % 3 == 1 && k >= 1 + round % 2) v = 0.25;
                flat[i][k] = p[i][k] = v;
            }
            p[i][3] = 0;
        }
        double centre[3], radius, ball_centre[3], ball_radius;
        sac_ball_of_points((const double(*)[3])flat, count, centre, &radius);
        check_holds((const double(*)[4])p, count, centre, radius);
        assert_true(fabs(radius - brute((const double(*)[4])p, count)) <= 1e-9);
        sac_ball_of_balls((const double(*)[4])p, count, ball_centre, &ball_radius);
        assert_true(fabs(radius - ball_radius) <= 1e-9);
    }
}

static void balls_cannot_be_held_tighter(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(11);
    for (int round = 0; round < 150; round++) {
        uint32_t count = 1 + sac_rng_below(&rng, 40);
        double balls[40][4];
        for (uint32_t i = 0; i < count; i++) {
            for (int k = 0; k < 3; k++) balls[i][k] = sac_rng_double(&rng);
            balls[i][3] = sac_rng_double(&rng) * (round % 3 == 0 ? 0.05 : round % 3 == 1 ? 0.5 : 2.0);
            if (round % 5 == 0 && i > 0) memcpy(balls[i], balls[i / 2], sizeof balls[i]);
            if (round % 7 == 0) balls[i][2] = 0;
        }
        double centre[3], radius;
        sac_ball_of_balls((const double(*)[4])balls, count, centre, &radius);
        check_holds((const double(*)[4])balls, count, centre, radius);
        double from_far[3] = {0.5, 0.5, 0.5}, from_near[3] = {centre[0], centre[1], centre[2]};
        double far = descend((const double(*)[4])balls, count, from_far, 1.0, 3000);
        double near = descend((const double(*)[4])balls, count, from_near, 1e-3, 3000);
        assert_true(radius <= far * (1 + 1e-9) && radius <= near * (1 + 1e-9));
        assert_true(far <= radius * 1.01 + 1e-3);
    }
}

static void one_ball_inside_another(void **state)
{
    (void)state;
    const double balls[4][4] = {{0, 0, 0, 2}, {0.5, 0, 0, 1}, {0, 0.5, 0, 1.5}, {0, 0, 1, 1}};
    double centre[3], radius;
    sac_ball_of_balls(balls, 4, centre, &radius);
    assert_true(fabs(radius - 2) < 1e-12 && fabs(centre[0]) + fabs(centre[1]) + fabs(centre[2]) < 1e-9);
    sac_ball_of_balls(balls + 1, 1, centre, &radius);
    assert_true(radius == 1 && centre[0] == 0.5);
}

static void duplicates_lines_and_rings(void **state)
{
    (void)state;
    static double p[3000][3];
    double centre[3], radius;
    for (int i = 0; i < 3000; i++) p[i][0] = 3, p[i][1] = -4, p[i][2] = 5;
    sac_ball_of_points((const double(*)[3])p, 3000, centre, &radius);
    assert_true(radius == 0 && centre[0] == 3 && centre[1] == -4 && centre[2] == 5);
    for (int i = 0; i < 3000; i++) p[i][0] = i, p[i][1] = 2 * i, p[i][2] = -i;
    sac_ball_of_points((const double(*)[3])p, 3000, centre, &radius);
    assert_true(fabs(radius - sqrt(6.0) * 2999 / 2) < 1e-9);
    /* All on one circle, then all on one sphere: any three or four of them would do. */
    for (int i = 0; i < 3000; i++) p[i][0] = cos(i * 0.01), p[i][1] = sin(i * 0.01), p[i][2] = 0;
    sac_ball_of_points((const double(*)[3])p, 3000, centre, &radius);
    assert_true(fabs(radius - 1) < 1e-9);
    for (int i = 0; i < 3000; i++) {
        double z = 1 - (2 * i + 1) / 3000.0, ring = sqrt(1 - z * z), turn = i * 2.399963229728653;
        p[i][0] = ring * cos(turn), p[i][1] = ring * sin(turn), p[i][2] = z;
    }
    sac_ball_of_points((const double(*)[3])p, 3000, centre, &radius);
    assert_true(radius <= 1 + 1e-12 && radius > 0.999);
}

static void huge_coordinates(void **state)
{
    (void)state;
    double p[8][3];
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++) p[i][k] = 9e11 + (i >> k & 1) * 65536.0;
    double centre[3], radius;
    sac_ball_of_points((const double(*)[3])p, 8, centre, &radius);
    assert_true(fabs(radius - 32768 * sqrt(3.0)) < 1e-3);
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++) p[i][k] = (i >> k & 1) ? 1e12 : -1e12;
    sac_ball_of_points((const double(*)[3])p, 8, centre, &radius);
    assert_true(fabs(radius - 1e12 * sqrt(3.0)) < 1);
}

static void a_million_points(void **state)
{
    (void)state;
    uint32_t count = 1000000;
    double(*p)[3] = malloc(count * sizeof *p);
    sac_rng rng = sac_rng_seed(3);
    for (uint32_t i = 0; i < count; i++) {
        float v[3];
        sac_rng_unit_vector(&rng, v);
        for (int k = 0; k < 3; k++) p[i][k] = v[k] * (k == 0 ? 2 : 1);
    }
    double centre[3], radius;
    sac_ball_of_points((const double(*)[3])p, count, centre, &radius);
    assert_true(radius > 1.99 && radius <= 2.0000002);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_match_all_subsets), cmocka_unit_test(balls_cannot_be_held_tighter),
        cmocka_unit_test(one_ball_inside_another),  cmocka_unit_test(duplicates_lines_and_rings),
        cmocka_unit_test(huge_coordinates),         cmocka_unit_test(a_million_points),
    };
    return cmocka_run_group_tests_name("ball", tests, NULL, NULL);
}
