/* Charts of whatever numbers come: no coordinate that is no number, every tag closed, a bounded size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "apps/charts.h"
#include "base/rng.h"

enum { MANY = 100000 };

static uint32_t count_of(const char *text, const char *word)
{
    uint32_t n = 0;
    for (const char *p = text; (p = strstr(p, word)); p += strlen(word)) n++;
    return n;
}

/* Draws every kind of chart of the series and checks what came out. */
static void draw_all(const sac_chart_series *series, uint32_t count, const sac_chart_def *def)
{
    static const char *const labels[] = {"one & <two>", "three"};
    sac_page page = {0};
    sac_charts_begin(&page);
    sac_chart_strip(&page, def, series, count);
    sac_chart_lines(&page, def, series, count);
    sac_chart_areas(&page, def, series, count);
    sac_chart_histogram(&page, def, series, count, 40);
    sac_chart_bars(&page, def, labels, 2, series, count, "%.1f");
    sac_charts_end(&page);
    assert_false(page.failed);
    assert_true(sac_array_push(&page.text, '\0'));
    const char *text = strstr(page.text.data, "</style>");
    assert_non_null(text);
    assert_int_equal(count_of(text, "<svg"), 5);
    assert_int_equal(count_of(text, "</svg>"), 5);
    assert_int_equal(count_of(text, "<div"), count_of(text, "</div>"));
    assert_int_equal(count_of(text, "<text"), count_of(text, "</text>"));
    assert_int_equal(count_of(text, "nan"), 0);
    assert_int_equal(count_of(text, "inf"), 0);
    assert_null(strstr(text, "<two>"));
    sac_page_fini(&page);
}

static void any_numbers_are_drawn(void **state)
{
    (void)state;
    static double values[MANY];
    sac_rng rng = sac_rng_seed(11);
    static const double odd[] = {0, -1, 1e-300, 1e300, NAN, INFINITY, -INFINITY, 5};
#ifdef SACCADE_INSTRUMENTED
    enum { STEP = 4 };
#else
    enum { STEP = 1 };
#endif
    for (int i = 0; i < 400; i += STEP) {
        uint32_t count = sac_rng_below(&rng, 4), sizes = 1 + sac_rng_below(&rng, 30), used = 0;
        sac_chart_series series[3] = {0};
        for (uint32_t k = 0; k < count; k++) {
            series[k] = (sac_chart_series){.name = k ? "b<\">" : NULL, .y = values + used};
            series[k].count = sac_rng_below(&rng, sizes);
            if (sac_rng_below(&rng, 4) == 0) series[k].x = values + used;
            for (size_t j = 0; j < series[k].count; j++)
                values[used + j] = sac_rng_below(&rng, 3) ? sac_rng_range(&rng, -2, 20)
                                                          : odd[sac_rng_below(&rng, i < 200 ? 5 : 8)];
            used += (uint32_t)series[k].count;
        }
        sac_chart_def def = {.title = "a < b & c",
                             .note = sac_rng_below(&rng, 2) ? "note" : NULL,
                             .limit = sac_rng_below(&rng, 2) ? 3 : 0,
                             .most = sac_rng_below(&rng, 3) ? 0 : 10,
                             .logarithmic = sac_rng_below(&rng, 2),
                             .logarithmic_x = sac_rng_below(&rng, 2),
                             .wide = sac_rng_below(&rng, 2),
                             .x_label = "x",
                             .y_label = "y"};
        draw_all(series, count, &def);
    }
}

static void many_values_stay_small(void **state)
{
    (void)state;
    static double values[MANY];
    for (int i = 0; i < MANY; i++) values[i] = i % 100 == 50 ? 9 : 1 + 0.01 * (i % 7);
    sac_chart_series series = {.name = "step", .y = values, .count = MANY};
    sac_chart_def def = {.title = "many", .limit = 5, .wide = true};
    sac_page page = {0};
    sac_chart_strip(&page, &def, &series, 1);
    assert_true(page.text.count > 1000 && page.text.count < 80000);
    sac_page_fini(&page);
}

/* The name of the limit is drawn upon marks and lines, and where there are none if there is such a place. */
static void limit_is_readable(void **state)
{
    (void)state;
    enum { SERIES = 5, POINTS = 24 };
    static double x[SERIES][POINTS], y[SERIES][POINTS];
    sac_rng rng = sac_rng_seed(5);
    for (int round = 0; round < 60; round++) {
        /* Everywhere along the limit but for a gap. */
        double gap = 0.7 * (double)sac_rng_range(&rng, 0, 1);
        sac_chart_series series[SERIES] = {{0}};
        for (int i = 0; i < SERIES; i++) {
            uint32_t count = 0;
            for (int j = 0; j < POINTS; j++) {
                double at = (double)j / (POINTS - 1);
                x[i][count] = 100 * at;
                y[i][count++] = at > gap && at < gap + 0.3 ? 0.02 : (double)sac_rng_range(&rng, 0.5f, 2);
            }
            series[i] = (sac_chart_series){.name = "s", .x = x[i], .y = y[i], .count = count};
        }
        sac_chart_def def = {.title = "t", .limit = 1, .limit_name = "1 JND", .least = 0.01};
        def.logarithmic = true, def.wide = round % 2;
        sac_page page = {0};
        sac_chart_lines(&page, &def, series, SERIES);
        assert_true(sac_array_push(&page.text, '\0'));
        const char *name = strstr(page.text.data, ">1 JND</text>"), *start = name, *mark;
        assert_non_null(name);
        while (strncmp(start, "<text", 5) != 0) start--;
        double right, foot;
        assert_int_equal(sscanf(start, "<text class=\"value halo\" x=\"%lf\" y=\"%lf\"", &right, &foot), 2);
        uint32_t marks = 0;
        for (mark = page.text.data; (mark = strstr(mark, "<circle")); mark++, marks++) {
            double cx, cy;
            assert_true(mark < start);
            assert_int_equal(sscanf(strstr(mark, "cx="), "cx=\"%lf\" cy=\"%lf\"", &cx, &cy), 2);
            assert_false(cx > right - 40 && cx < right + 4 && cy > foot - 14 && cy < foot + 4);
        }
        assert_int_equal(marks, SERIES * POINTS);
        sac_page_fini(&page);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_numbers_are_drawn),
        cmocka_unit_test(many_values_stay_small),
        cmocka_unit_test(limit_is_readable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
