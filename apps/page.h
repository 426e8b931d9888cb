/* HTML pages that need nothing but themselves: pictures inside, light or dark as the reader likes.
 *
 *   sac_page page = {0};
 *   sac_page_begin(&page, "Knot", "What one sees here.");
 *   sac_page_picture(&page, &picture, "a knot", "The knot.");
 *   sac_page_end(&page);
 *   sac_page_save(&page, "out/index.html", &error);
 *   sac_page_fini(&page);
 *
 * Memory that runs out is remembered and told by sac_page_save.
 *
 * Index: sac_page_begin  sac_page_end  sac_page_add  sac_page_text  sac_page_picture  sac_page_chart
 *        sac_page_levels  sac_page_save  sac_page_fini
 */
#ifndef SAC_APPS_PAGE_H
#define SAC_APPS_PAGE_H

#include "apps/picture.h"
#include "base/memory.h"
#include "spheretree/spheretree.h"

typedef struct sac_page {
    sac_array(char) text;
    bool failed;
} sac_page;

/* A line of a chart: one value a level, level 0 first; NaN leaves the point out. */
typedef struct sac_chart_line {
    const char *name;
    float values[SAC_TREE_MOST_DEPTH + 1];
    uint32_t count;
} sac_chart_line;

void sac_page_begin(sac_page *page, const char *title, const char *lead);
void sac_page_end(sac_page *page);
/* HTML as it is, printf style. */
void sac_page_add(sac_page *page, const char *format, ...) SAC_PRINTF(2, 3);
/* Text, with what HTML would take for its own escaped; what is not UTF-8 becomes U+FFFD. */
void sac_page_text(sac_page *page, const char *text);
void sac_page_picture(sac_page *page, const sac_picture *picture, const char *alt, const char *caption);
/* Values by level on a logarithmic scale, lines named at their ends. */
void sac_page_chart(sac_page *page, const char *title, const sac_chart_line *lines, uint32_t count);
/* The table of levels. */
void sac_page_levels(sac_page *page, const sac_level_quality *levels, uint32_t depth);
sac_result sac_page_save(sac_page *page, const char *path, sac_error *error);
void sac_page_fini(sac_page *page);

#endif
