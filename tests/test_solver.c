#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "tests/solver_play.h"

#define CHECK(condition) assert_true(condition)

static const float up[3] = {0, 1, 0};

static void test_rest_on_plane(void **state)
{
    (void)state;
    play *p = play_create();
    play_box(p, 0, -1, 0, 5, 1, 5, 0);
    play_box(p, 0, 0.6f, 0, 0.1f, 0.1f, 0.1f, 1);
    for (int frame = 0; frame < 360; frame++) {
        play_begin(p);
        play_face(p, 0, 1, up, 0);
        play_end(p);
    }
    const play_body *b = &p->bodies[1];
    float gap = b->x[1] - 0.1f;
    CHECK(gap < 1e-5f && gap > -0.001f);
    CHECK(fabsf(b->v[1]) < 1e-3f && play_dot(b->w, b->w) < 1e-6f);
    play_destroy(p);
}

static void test_stack(void **state)
{
    (void)state;
    play *p = play_create();
    enum { HIGH = 10 };
    play_box(p, 0, -1, 0, 5, 1, 5, 0);
    for (int i = 0; i < HIGH; i++) play_box(p, 0, 0.1f + 0.2f * (float)i, 0, 0.1f, 0.1f, 0.1f, 1);
    float worst = 0;
    for (int frame = 0; frame < 900; frame++) {
        play_begin(p);
        for (uint32_t i = 0; i < HIGH; i++) play_stacked(p, i, i + 1);
        play_end(p);
        if (frame > 100 && p->deepest > worst) worst = p->deepest;
    }
    float fastest = 0;
    for (int i = 1; i <= HIGH; i++) {
        const play_body *b = &p->bodies[i];
        fastest = fmaxf(fastest, sqrtf(play_dot(b->v, b->v)));
    }
    CHECK(fastest < 0.005f);
    play_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rest_on_plane), cmocka_unit_test(test_stack)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
