/* Rays and nearest points of any form. */
#include "spheretree/contact_internal.h"
#include "spheretree/descent_internal.h"
#include "spheretree/field_internal.h"
#include "spheretree/terrain_internal.h"
#include "spheretree/vector_internal.h"

sac_result sac_form_ray(const sac_form *form, const sac_transform *pose, const float origin[3],
                        const float direction[3], float most, sac_ray_hit *out, sac_error *error)
{
    if (!out) return sac_error_null(error, "out_hit", 0);
    SAC_NEED(error, form, pose, origin, direction);
    if (form->kind == SAC_FORM_TREE && form->live) /* a ray does not say where it will look */
        for (uint32_t block = 1; block < form->tree->block_count; block++) sac_form_open(form, &block, 1);
    if (form->kind == SAC_FORM_TREE)
        return sac_ray_query(form->tree, pose, origin, direction, most, out, error);
    *out = (sac_ray_hit){0};
    sac_result result = sac_pose_check(pose, "the form", error);
    if (result != SAC_OK) return result;
    if (!sac_vec3_is_finite(origin) || !sac_vec3_is_finite(direction) || !(most >= 0))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give a finite ray and a length of at least zero",
                             "ray");
    float length = sac_v3_length(direction);
    if (!(length > 0 && length <= FLT_MAX))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give it a direction", "the ray has no length");
    /* A unit direction in local space keeps t in world units whatever the caller's length. */
    float rows[3][3], o[3], d[3], unit[3], n[3], t, local_most = most * length / pose->scale;
    bool hit;
    for (int i = 0; i < 3; i++) unit[i] = direction[i] / length;
    sac_transform_rows(pose, rows);
    sac_v3_into(pose, rows, origin, o);
    sac_v3_turn_back(rows, unit, d);
    if (form->kind == SAC_FORM_TERRAIN) {
        hit = sac_terrain_ray(form->terrain, o, d, local_most, &t, n, &out->node);
    } else {
        sac_solid solid = sac_solid_of(form, 1);
        hit = sac_solid_ray(&solid, o, d, local_most, &t, n);
    }
    if (!hit) {
        out->node = 0;
        return SAC_OK;
    }
    out->hit = true;
    out->t = t * pose->scale / length;
    if (out->t > most) out->t = most;
    for (int i = 0; i < 3; i++) out->point[i] = origin[i] + out->t * direction[i];
    sac_v3_turn(rows, n, out->normal);
    return SAC_OK;
}

/* ---- distance ---- */

/* A surface point of a node lies in its sphere and those of all its ancestors, so it is no nearer than the
 * farthest of them. */
typedef struct waiting {
    float apart;
    uint32_t id;
} waiting;

static float ball_apart(const sac_tree *tree, uint32_t id, const float p[3])
{
    sac_ball b = sac_ball_of(tree, id);
    float d[3] = {p[0] - b.x, p[1] - b.y, p[2] - b.z};
    return sac_v3_length(d) - b.r;
}

/* Least apart of all leaves, and which. */
static float nearest_leaf(const sac_form *form, const float p[3], float most, uint32_t *out_id)
{
    const sac_tree *tree = form->tree;
    waiting stack[SAC_TREE_MOST_DEPTH * SAC_TREE_MOST_BRANCH + 1];
    uint32_t count = 0;
    float best = FLT_MAX;
    stack[count++] = (waiting){ball_apart(tree, 0, p), 0};
    while (count) {
        waiting top = stack[--count];
        if (!(top.apart <= most) || top.apart >= best) continue;
        uint32_t link = sac_node_link(tree, top.id), first = count;
        if (link & SAC_LINK_LEAF) {
            best = top.apart;
            *out_id = top.id;
            continue;
        }
        sac_form_open(form, &link, 1);
        for (uint32_t k = 0; k < tree->blocks_per_node * SAC_LANES; k++) {
            uint32_t id = link * SAC_LANES + k;
            if (!sac_tree_has(tree, id)) continue;
            float apart = ball_apart(tree, id, p);
            if (apart < top.apart) apart = top.apart;
            if (!(apart <= most) || apart >= best) continue;
            /* Nearest last, so that it is looked at first. */
            uint32_t at = count++;
            for (; at > first && stack[at - 1].apart <= apart; at--) stack[at] = stack[at - 1];
            stack[at] = (waiting){apart, id};
        }
    }
    return best;
}

float sac_form_distance(const sac_form *form, const sac_transform *pose, const float point[3], float most,
                        float out_closest[3], float out_normal[3])
{
    if (!form || !pose || !point) return FLT_MAX;
    float rows[3][3], p[3], n[3], closest[3], distance;
    sac_transform_rows(pose, rows);
    sac_v3_into(pose, rows, point, p);
    float local_most = most / pose->scale;
    if (form->kind == SAC_FORM_TREE) {
        uint32_t id = 0;
        distance = nearest_leaf(form, p, local_most, &id);
        if (distance == FLT_MAX) return FLT_MAX;
        sac_ball b = sac_ball_of(form->tree, id);
        for (int i = 0; i < 3; i++) n[i] = p[i] - (i == 0 ? b.x : i == 1 ? b.y : b.z);
        sac_v3_unit(n);
        sac_v3_along(p, -distance, n, closest);
    } else if (form->kind == SAC_FORM_TERRAIN) {
        distance = sac_terrain_nearest(form->terrain, p, local_most, closest, n);
        if (distance == FLT_MAX) return FLT_MAX;
    } else {
        sac_solid solid = sac_solid_of(form, 1);
        distance = sac_solid_distance(&solid, p, n);
        if (!(distance <= local_most)) return FLT_MAX;
        sac_v3_along(p, -distance, n, closest);
    }
    if (out_closest) sac_transform_point(pose, closest, out_closest);
    if (out_normal) sac_v3_turn(rows, n, out_normal);
    return distance * pose->scale;
}
