/* Primitives as exact distance fields, and the kernels that hold eight spheres of a tree against one. Private
 * to spheretree/. */
#ifndef SAC_SPHERETREE_FIELD_INTERNAL_H
#define SAC_SPHERETREE_FIELD_INTERNAL_H

#include "spheretree/form.h"
#include "spheretree/meeting.h"

/* What of a primitive its distance depends on, in units of the caller's choice. */
typedef struct sac_solid {
    sac_form_kind kind; /* sphere, capsule, box or plane */
    float radius, half[3], normal[3], offset;
} sac_solid;

static inline sac_solid sac_solid_of(const sac_form *form, float scale)
{
    return (sac_solid){form->kind,
                       form->radius * scale,
                       {form->half[0] * scale, form->half[1] * scale, form->half[2] * scale},
                       {form->normal[0], form->normal[1], form->normal[2]},
                       form->offset * scale};
}

/* Signed distance of a local point, negative inside; out_normal is the gradient, unit. The closest point of
 * the surface is point - distance * normal. */
float sac_solid_distance(const sac_solid *solid, const float point[3], float out_normal[3]);

/* First t in [0, most] at which origin + t * direction is inside; false when there is none. */
bool sac_solid_ray(const sac_solid *solid, const float origin[3], const float direction[3], float most,
                   float *out_t, float out_normal[3]);

/* Eight spheres of a tree against a solid. */
typedef struct sac_field_job {
    const sac_tree *tree;
    sac_solid solid;
    float m[3][4], scale; /* tree to solid */
    float margin;         /* in the solid's units */
} sac_field_job;

/* Opens links[0 .. count): children that come within the margin are added to next (links) and done (node
 * ids); both have room for all there may be. */
typedef void sac_field_kernel(const sac_field_job *job, const uint32_t *links, uint32_t count, uint32_t *next,
                              uint32_t *next_count, uint32_t *done, uint32_t *done_count);
sac_field_kernel sac_field_kernel_scalar, sac_field_kernel_sse2, sac_field_kernel_avx2, sac_field_kernel_neon;

/* Two forms that are not trees, as in meeting_internal.h. */
bool sac_exact_begin(sac_meeting *meeting);
uint32_t sac_exact_contacts(const sac_meeting *meeting, uint32_t most, sac_contact *out, uint64_t *tests);

#endif
