/* Charts for pages: inline SVG that follows the page's light or dark, in colours told apart by colour-blind
 * readers too; every series is named in a legend.
 *
 *   sac_charts_begin(&page);
 *   sac_chart_series step = {.name = "step", .y = ms, .count = 900};
 *   sac_chart_def def = {.title = "Frame time", .x_label = "frame", .y_label = "ms", .limit = 2,
 *                        .limit_name = "budget", .wide = true};
 *   sac_chart_strip(&page, &def, &step, 1);
 *   sac_chart_histogram(&page, &def, &step, 1, 40);
 *   sac_charts_end(&page);
 *
 * Values that are not finite are left out. A chart without any value says so.
 *
 * Index: sac_charts_begin  sac_charts_end  sac_chart_strip  sac_chart_lines  sac_chart_areas
 *        sac_chart_histogram  sac_chart_bars
 */
#ifndef SAC_APPS_CHARTS_H
#define SAC_APPS_CHARTS_H

#include "apps/page.h"

/* Colours repeat after this many. */
#define SAC_CHART_COLOURS 8u

typedef struct sac_chart_series {
    const char *name;
    const double *y;
    const double *x; /* NULL: 0, 1, 2, ... */
    size_t count;
    uint32_t colour; /* 0: by its place in the list; else this colour, 1 to SAC_CHART_COLOURS */
    bool dashed;
} sac_chart_series;

typedef struct sac_chart_def {
    const char *title;
    const char *note; /* a sentence below the chart; may be NULL */
    const char *x_label, *y_label;
    double limit; /* a line across at this value (histogram: upright); 0: none */
    const char *limit_name;
    double most;  /* values axis ends here, what is beyond is drawn at its edge; 0: at the greatest value */
    double least; /* where a logarithmic values axis begins; 0: at the smallest value above 0 */
    bool logarithmic;   /* the axis of values; a histogram's upright axis counts, its lying one values */
    bool logarithmic_x; /* of sac_chart_lines */
    bool wide;          /* across the page */
} sac_chart_def;

/* Charts between these two stand side by side where there is room. */
void sac_charts_begin(sac_page *page);
void sac_charts_end(sac_page *page);

/* Many values in order, as many as there are: where more than a column a pixel would be needed, each column
 * shows the smallest and the greatest. Values over the limit are ticked at the upper edge as well. */
void sac_chart_strip(sac_page *page, const sac_chart_def *def, const sac_chart_series *series,
                     uint32_t count);
/* A few points each, marked and joined in order of x. */
void sac_chart_lines(sac_page *page, const sac_chart_def *def, const sac_chart_series *series,
                     uint32_t count);
/* Series stacked upon each other, in order; x is left out of account. */
void sac_chart_areas(sac_page *page, const sac_chart_def *def, const sac_chart_series *series,
                     uint32_t count);
/* How often y falls into each of `bins` equal parts, in per cent of the series' values. The upright axis is
 * the square root, so that a rare bad frame is still seen. */
void sac_chart_histogram(sac_page *page, const sac_chart_def *def, const sac_chart_series *series,
                         uint32_t count, uint32_t bins);
/* Lying bars: a series has a value for each of `label_count` labels (fewer: the rest is left out); each bar's
 * value is written beside it by `format` (NULL: "%.0f"). */
void sac_chart_bars(sac_page *page, const sac_chart_def *def, const char *const *labels, uint32_t label_count,
                    const sac_chart_series *series, uint32_t count, const char *format);

#endif
