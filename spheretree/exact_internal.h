/* Two forms that are not trees, placed in one frame. x is the one whose kind comes first. Private to
 * spheretree/. */
#ifndef SAC_SPHERETREE_EXACT_INTERNAL_H
#define SAC_SPHERETREE_EXACT_INTERNAL_H

#include "spheretree/field_internal.h"
#include "spheretree/meeting_internal.h"
#include "spheretree/vector_internal.h"

typedef struct sac_placed {
    sac_solid solid; /* in the frame's unit */
    float rows[3][3], at[3];
} sac_placed;

typedef struct sac_exact {
    sac_placed x, y;
    const sac_terrain *terrain; /* y's, when it is one; the frame is then its own */
    sac_transform frame;        /* to world */
    float margin;               /* in the frame's unit */
    bool flipped;               /* x is the meeting's b */
    uint64_t tests;
    sac_touch_list list;
} sac_exact;

/* A touch in the frame: normal from x to y. */
static inline void sac_exact_push(sac_exact *e, float depth, const float point[3], const float normal[3],
                                  uint32_t feature_x, uint32_t feature_y)
{
    if (depth < -e->margin) return;
    float back[3] = {-normal[0], -normal[1], -normal[2]};
    if (e->flipped)
        sac_touch_push(&e->list, depth, point, back, feature_y, feature_x, true);
    else
        sac_touch_push(&e->list, depth, point, normal, feature_x, feature_y, true);
}

/* Signed distance of a point of the frame to a placed solid, and its direction in the frame. */
static inline float sac_placed_distance(const sac_placed *p, const float point[3], float out_normal[3])
{
    float d[3], local[3], n[3];
    sac_v3_sub(point, p->at, d);
    sac_v3_turn_back(p->rows, d, local);
    float distance = sac_solid_distance(&p->solid, local, n);
    sac_v3_turn(p->rows, n, out_normal);
    return distance;
}

/* Corner k of a placed box: bit i set means the positive side of axis i. */
static inline void sac_placed_corner(const sac_placed *p, uint32_t k, float out[3])
{
    float local[3];
    for (int i = 0; i < 3; i++) local[i] = k >> i & 1 ? p->solid.half[i] : -p->solid.half[i];
    sac_v3_turn(p->rows, local, out);
    for (int i = 0; i < 3; i++) out[i] += p->at[i];
}

/* Ends of a placed capsule's axis. */
static inline void sac_placed_axis(const sac_placed *p, float out[2][3])
{
    for (int i = 0; i < 3; i++) {
        float reach = p->rows[i][1] * p->solid.half[1];
        out[0][i] = p->at[i] - reach;
        out[1][i] = p->at[i] + reach;
    }
}

/* Nearest parameters, 0 to 1, of two segments. */
void sac_segments_nearest(const float p[2][3], const float q[2][3], float *out_s, float *out_t);

void sac_exact_boxes(sac_exact *e);
void sac_exact_terrain(sac_exact *e);

#endif
