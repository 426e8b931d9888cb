/* Inside a meeting. Two trees meet in meeting_tree.c, everything else against a field: a form that answers
 * for a ball at once. Both gather touches and let spread.c choose which become contacts. Private to
 * spheretree/. */
#ifndef SAC_SPHERETREE_MEETING_INTERNAL_H
#define SAC_SPHERETREE_MEETING_INTERNAL_H

#include "spheretree/descent_internal.h"
#include "spheretree/meeting.h"

_Static_assert(SAC_PAIRS_SLACK >= SAC_SPAN_SLACK, "kernels write into the caller's pairs");

struct sac_workspace {
    const sac_kernel *kernel;
    sac_job_list *jobs;
    uint32_t *scratch; /* 4 arrays of SAC_MEETING_SCRATCH: what a batch finds, before it is known to fit */
};
#define SAC_MEETING_SCRATCH (SAC_OPEN_BATCH * SAC_LANES * SAC_LANES * 4u + SAC_SPAN_SLACK)

/* ---- two trees, and a form that is not a tree on either side ---- */

/* Forms, poses and margin are set. They fill in m, scale, levels and swapped, and the pair of roots; with
 * levels 0 the pair is final: node ids or features. */
bool sac_tree_meeting_begin(sac_meeting *meeting, sac_pairs *out_root);
bool sac_field_meeting_begin(sac_meeting *meeting, sac_pairs *out_root);

/* As the public ones. `level` is below meeting->levels and `front` is not empty. */
sac_opened sac_tree_meeting_open(sac_workspace *workspace, const sac_meeting *meeting, uint32_t level,
                                 const sac_pairs *front, uint64_t credits, sac_pairs *next, sac_pairs *done);
sac_opened sac_field_meeting_open(sac_workspace *workspace, const sac_meeting *meeting, uint32_t level,
                                  const sac_pairs *front, uint64_t credits, sac_pairs *next, sac_pairs *done);

/* As the public ones; no argument is NULL. */
uint32_t sac_tree_meeting_contacts(const sac_meeting *meeting, const sac_pairs *pending,
                                   const sac_pairs *done, uint32_t most, sac_contact *out, uint64_t *tests);
uint32_t sac_field_meeting_contacts(const sac_meeting *meeting, const sac_pairs *pending,
                                    const sac_pairs *done, uint32_t most, sac_contact *out, uint64_t *tests);
uint32_t sac_tree_meeting_refresh(const sac_meeting *meeting, const sac_pairs *nodes, sac_contact *out);
/* One of them. */
bool sac_field_meeting_refresh(const sac_meeting *meeting, uint32_t node_a, uint32_t node_b,
                               sac_contact *out);

/* Balls that hold the forms, in world space, farther apart than the margin? Cheap, and never wrong when true.
 * Works for forms whose ball is finite. */
bool sac_meeting_balls_apart(const sac_meeting *meeting);

/* ---- choosing contacts ---- */

/* Touches gathered from a front, in any one frame and unit. Fills up: sac_touch_thin makes room. */
#define SAC_TOUCH_ROOM 512u
#define SAC_TOUCH_LANES (SAC_TOUCH_ROOM + SAC_LANES) /* vectors are written at any place */
typedef struct sac_touch_list {
    _Alignas(SAC_CACHE_LINE) float depth[SAC_TOUCH_LANES];               /* negative: apart */
    float x[SAC_TOUCH_LANES], y[SAC_TOUCH_LANES], z[SAC_TOUCH_LANES];    /* point */
    float nx[SAC_TOUCH_LANES], ny[SAC_TOUCH_LANES], nz[SAC_TOUCH_LANES]; /* unit, or zero when unknown */
    float near[SAC_TOUCH_LANES]; /* while choosing: how different from the chosen ones */
    uint32_t a[SAC_TOUCH_LANES], b[SAC_TOUCH_LANES];
    uint8_t final[SAC_TOUCH_LANES];
    uint32_t count;  /* set to 0 to begin; the arrays need not be initialised */
    uint32_t padded; /* private: the count whose last eight lanes are filled up */
    float size;      /* a length of the smaller of the two: opposite normals count as this far apart */
    float margin;    /* touches deeper than -margin count, in the list's unit */
} sac_touch_list;

/* What rounding may take off a touch just at the margin, as a factor of it. */
#define SAC_TOUCH_SLACK 1.05f
static inline bool sac_touch_counts(float depth, float margin, float size)
{
    return depth >= -(margin * SAC_TOUCH_SLACK) - 1e-5f * size;
}

/* Two touches whose distance squared (with size squared for opposite normals) is less than this share of the
 * size squared say the same: a hundredth of the size. */
#define SAC_TOUCH_SAME 1e-4f

/* Leaves the best SAC_CONTACT_MOST. */
void sac_touch_thin(sac_touch_list *list);

/* The deepest, then those farthest from the chosen ones, deep ones preferred to shallow ones and touching
 * ones to those apart; ties by a, then b. Indices to out_chosen, which has room for `most`; returns how many,
 * because what is as good as the same touch, or apart by more than the margin, is left out. */
uint32_t sac_touch_choose(sac_touch_list *list, uint32_t most, uint32_t *out_chosen);

static inline void sac_touch_push(sac_touch_list *list, float depth, const float point[3],
                                  const float normal[3], uint32_t a, uint32_t b, bool final)
{
    if (list->count == SAC_TOUCH_ROOM) sac_touch_thin(list);
    uint32_t i = list->count++;
    list->padded = UINT32_MAX;
    list->depth[i] = depth;
    list->x[i] = point[0], list->y[i] = point[1], list->z[i] = point[2];
    list->nx[i] = normal[0], list->ny[i] = normal[1], list->nz[i] = normal[2];
    list->a[i] = a, list->b[i] = b;
    list->final[i] = final;
}

#endif
