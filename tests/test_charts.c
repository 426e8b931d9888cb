/* Charts of whatever numbers come: no coordinate that is no number, every tag closed, a bounded size. */
#include <math.h>
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

/* One frame, or one between two that were not measured, is drawn too. */
static void single_value_is_seen(void **state)
{
    (void)state;
    static const double one[] = {3}, gaps[] = {1, 2, NAN, 5, NAN, 2, 1};
    sac_chart_series series = {.name = "step", .y = one, .count = 1};
    const sac_chart_def def = {.title = "t", .x_label = "frame", .y_label = "ms"};
    sac_page page = {0};
    double x0, y0, x1, y1;
    sac_chart_strip(&page, &def, &series, 1);
    assert_true(sac_array_push(&page.text, '\0'));
    assert_int_equal(count_of(page.text.data, "<circle"), 1);
    assert_non_null(strstr(page.text.data, "text-anchor=\"middle\">0</text>")); /* which frame */
    page.text.count = 0;
    sac_chart_areas(&page, &def, &series, 1);
    assert_true(sac_array_push(&page.text, '\0'));
    const char *area = strstr(page.text.data, "class=\"area");
    assert_non_null(area);
    assert_int_equal(sscanf(strstr(area, "d=\"M"), "d=\"M%lf %lfL%lf %lf", &x1, &y1, &x0, &y0), 4);
    assert_true(x1 - x0 > 300);
    page.text.count = 0;
    series = (sac_chart_series){.name = "step", .y = gaps, .count = 7};
    sac_chart_strip(&page, &def, &series, 1);
    assert_true(sac_array_push(&page.text, '\0'));
    assert_int_equal(count_of(page.text.data, "<circle"), 1);
    sac_page_fini(&page);
}

/* Where the text that ends in `words` stands. */
static void place_of(const char *page, const char *words, double *x, double *y)
{
    const char *start = strstr(page, words);
    assert_non_null(start);
    while (strncmp(start, "<text", 5) != 0) start--;
    assert_int_equal(sscanf(strstr(start, "x=\""), "x=\"%lf\" y=\"%lf\"", x, y), 2);
}

/* Bars are highest at the limit of those that use what they have; its name stands above them all. */
static void limit_of_a_histogram_is_above_it(void **state)
{
    (void)state;
    static double values[100];
    for (int i = 0; i < 100; i++) values[i] = i < 80 ? 1.98 : 0.02 * i;
    const sac_chart_series series = {.name = "step", .y = values, .count = 100};
    for (int i = 0; i < 4; i++) {
        const sac_chart_def def = {
            .title = "t", .limit = 2, .limit_name = "budget", .most = i & 1 ? 3.2 : 0, .wide = i & 2};
        sac_page page = {0};
        double x, foot, top = 1e9;
        sac_chart_histogram(&page, &def, &series, 1, 48);
        assert_true(sac_array_push(&page.text, '\0'));
        place_of(page.text.data, ">budget</text>", &x, &foot);
        const char *bars = strstr(page.text.data, "class=\"hist"), *end = strstr(bars, "/>");
        for (const char *v = bars; (v = strchr(v, 'V')) && v < end; v++) top = fmin(top, atof(v + 1));
        assert_true(foot + 2 < top);
        sac_page_fini(&page);
    }
}

/* A loop that stopped a little late is not drawn as one that stopped early. */
static void histogram_parts_at_zero(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(9);
    for (int round = 0; round < 200; round++) {
        double values[2] = {-(double)sac_rng_range(&rng, 1e-3f, 70), 0}, x = 0, y = 0;
        const sac_chart_series series = {.name = "late", .y = values, .count = 2};
        const sac_chart_def def = {
            .title = "t", .most = round % 2 ? 100 : 0, .limit = 1e-9, .limit_name = "0"};
        sac_page page = {0};
        if (!(round % 2)) values[1] = 1e-6;
        sac_chart_histogram(&page, &def, &series, 1, 2 + sac_rng_below(&rng, 50));
        assert_true(sac_array_push(&page.text, '\0'));
        place_of(page.text.data, ">0</text>", &x, &y);
        /* The bar of the value from 0 on begins where 0 is. */
        const char *bars = strstr(page.text.data, "class=\"hist"), *end = strstr(bars, "/>");
        double ground = 0, high = 0, from = 0, bar = NAN;
        assert_int_equal(sscanf(strstr(bars, "d=\"M"), "d=\"M%lf %lf", &from, &ground), 2);
        for (const char *v = bars; (v = strchr(v, 'V')) && v < end; v++) {
            double to = from;
            if (sscanf(v, "V%lfH%lf", &high, &to) == 2 && high < ground - 1) bar = from;
            from = to;
        }
        assert_true(fabs(bar - x) < 0.11);
        sac_page_fini(&page);
    }
}

/* What is over the limit is ticked at the upper edge; the name of the axis stays clear of it. */
static void axis_name_is_readable(void **state)
{
    (void)state;
    static const double over[] = {5, 5, 5};
    sac_chart_series series[5];
    for (int i = 0; i < 5; i++) series[i] = (sac_chart_series){.name = "s", .y = over, .count = 3};
    const sac_chart_def def = {.title = "t", .y_label = "ms, logarithmic", .limit = 1, .logarithmic = true};
    sac_page page = {0};
    double x, foot, low = 0;
    sac_chart_strip(&page, &def, series, 5);
    assert_true(sac_array_push(&page.text, '\0'));
    place_of(page.text.data, ">ms, logarithmic</text>", &x, &foot);
    for (const char *t = page.text.data; (t = strstr(t, "class=\"over")); t++) {
        double at, tall;
        assert_int_equal(sscanf(strstr(t, "d=\"M"), "d=\"M%*f %lfv%lf", &at, &tall), 2);
        low = fmax(low, at + tall);
    }
    assert_true(low > 0 && low < foot - 9);
    sac_page_fini(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_numbers_are_drawn),
        cmocka_unit_test(many_values_stay_small),
        cmocka_unit_test(limit_is_readable),
        cmocka_unit_test(single_value_is_seen),
        cmocka_unit_test(limit_of_a_histogram_is_above_it),
        cmocka_unit_test(histogram_parts_at_zero),
        cmocka_unit_test(axis_name_is_readable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
