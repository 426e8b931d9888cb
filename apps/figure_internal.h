/* What figures are made of; apps/figure.c and apps/figure_parts.c only. */
#ifndef SAC_APPS_FIGURE_INTERNAL_H
#define SAC_APPS_FIGURE_INTERNAL_H

#include "apps/figure.h"

typedef enum sac_part_kind {
    SAC_PART_CONE,   /* from a to b, radii ra and rb: a ball where a is b */
    SAC_PART_EGG,    /* an ellipsoid with its tips at a and b, ra to each side, rb along `up` */
    SAC_PART_LEAF,   /* a blade with its tips at a and b, ra to each side, `thick` along `up` */
    SAC_PART_TONGUE, /* a blade from a to b, ra wide at one end, rb at the other, `thick` along `up` */
    SAC_PART_RING,   /* about a with axis `up`, ra from there, rb thick */
    SAC_PART_CUT     /* a cone taken away */
} sac_part_kind;

typedef struct sac_part {
    sac_part_kind kind;
    float a[3], b[3], ra, rb, thick, up[3];
    float melt;      /* how wide the seam to what was there before is */
    uint32_t colour; /* 0xrrggbb; 0: the body's own */
} sac_part;

enum { SAC_FIGURE_MOST_PARTS = 40 };
typedef struct sac_figure {
    sac_part parts[SAC_FIGURE_MOST_PARTS];
    uint32_t count;
} sac_figure;

/* False for another name. */
bool sac_figure_parts(const char *name, sac_figure *out_figure);

#endif
