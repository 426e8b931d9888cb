/* What bends: its model, which follows the points of its shape, and the joints of the last two steps. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "apps/figure.h"
#include "apps/show_internal.h"
#include "deform/deform.h"

/* ---- the model ---- */

enum { FOLLOWED = 6 }; /* points a vertex of a finer mesh follows */

/* The nearest points, falling off smoothly towards the last of them. */
static void follow_nearest(const sac_soft_shape_parts *parts, const float at[3], uint32_t out_joint[FOLLOWED],
                           float out_weight[FOLLOWED])
{
    float near[FOLLOWED + 1], sum = 0;
    uint32_t who[FOLLOWED + 1] = {0};
    for (int i = 0; i <= FOLLOWED; i++) near[i] = FLT_MAX;
    for (uint32_t i = 0; i < parts->point_count; i++) {
        float d2 = 0;
        for (int k = 0; k < 3; k++) d2 += (parts->points[i][k] - at[k]) * (parts->points[i][k] - at[k]);
        int place = FOLLOWED + 1;
        for (; place > 0 && near[place - 1] > d2; place--)
            if (place <= FOLLOWED) near[place] = near[place - 1], who[place] = who[place - 1];
        if (place <= FOLLOWED) near[place] = d2, who[place] = i;
    }
    for (int i = 0; i < FOLLOWED; i++) {
        float share = near[i] < FLT_MAX
                          ? 1 - near[i] / (near[FOLLOWED] < FLT_MAX ? near[FOLLOWED] : 2 * near[i] + 1e-12f)
                          : 0;
        out_joint[i] = who[i];
        out_weight[i] = fmaxf(share * share, i ? 0 : 1e-6f);
        sum += out_weight[i];
    }
    for (int i = 0; i < FOLLOWED; i++) out_weight[i] /= sum;
}

/* A mesh over a skin: what is met, or a finer one that is drawn only. */
typedef struct cloth {
    sac_mesh mesh;
    uint32_t *first, *joint, *colours;
    float *weight;
    uint32_t influences;
} cloth;

static void cloth_fini(cloth *c)
{
    sac_free(c->first, (size_t)c->mesh.vertex_count + 1, sizeof *c->first);
    sac_free(c->joint, c->influences, sizeof *c->joint);
    sac_free(c->weight, c->influences, sizeof *c->weight);
    sac_free(c->colours, c->mesh.vertex_count, sizeof *c->colours);
}

static bool cloth_cut(cloth *c, const sac_prop *prop, const sac_soft_shape_parts *parts)
{
    const sac_soft_skin skin = sac_soft_shape_skin(prop->soft);
    const sac_mesh *fine = prop->shape.mesh;
    *c = (cloth){.mesh = {.vertices = fine ? fine->vertices : (float(*)[3])skin.vertices,
                          .vertex_count = fine ? fine->vertex_count : skin.vertex_count,
                          .triangles = fine ? fine->triangles : (uint32_t(*)[3])skin.triangles,
                          .triangle_count = fine ? fine->triangle_count : skin.triangle_count}};
    const uint32_t count = c->mesh.vertex_count;
    c->influences = fine ? FOLLOWED * count : skin.first[count];
    c->first = sac_alloc((size_t)count + 1, sizeof *c->first);
    c->joint = sac_alloc(c->influences, sizeof *c->joint);
    c->weight = sac_alloc(c->influences, sizeof *c->weight);
    c->colours = sac_alloc(count, sizeof *c->colours);
    if (!c->first || !c->joint || !c->weight || !c->colours) return false;
    for (uint32_t i = 0; i <= count; i++) c->first[i] = fine ? FOLLOWED * i : skin.first[i];
    for (uint32_t i = 0; i < count; i++) {
        if (fine) follow_nearest(parts, fine->vertices[i], c->joint + FOLLOWED * i, c->weight + FOLLOWED * i);
        c->colours[i] = prop->figure ? sac_figure_colour(prop->source, c->mesh.vertices[i]) : 0;
    }
    if (!fine) {
        memcpy(c->joint, skin.node, c->influences * sizeof *c->joint);
        memcpy(c->weight, skin.weight, c->influences * sizeof *c->weight);
    }
    return true;
}

sac_result sac_show_add_soft(sac_show *show, const sac_prop *prop, uint32_t *out_model, sac_error *error)
{
    const sac_soft_shape_parts parts = sac_soft_shape_parts_of(prop->soft);
    cloth c;
    sac_result result = SAC_OK;
    if (!cloth_cut(&c, prop, &parts)) {
        result = sac_show_no_memory(error);
    } else {
        sac_gallery_skin skin = {c.first, c.joint, c.weight, parts.point_count, c.colours};
        result = sac_gallery_add_skin(show->gallery, &c.mesh, &skin, out_model, error);
    }
    cloth_fini(&c);
    return result;
}

/* How far what is drawn lies from the points it follows. */
static float reach_of(const sac_prop *prop)
{
    const sac_soft_shape_parts parts = sac_soft_shape_parts_of(prop->soft);
    const sac_soft_skin skin = sac_soft_shape_skin(prop->soft);
    float most = parts.thickness;
    for (uint32_t i = 0; i < skin.vertex_count; i++)
        for (uint32_t j = skin.first[i]; j < skin.first[i + 1]; j++) {
            float d2 = 0;
            for (int k = 0; k < 3; k++) {
                float d = skin.vertices[i][k] - parts.points[skin.node[j]][k];
                d2 += d * d;
            }
            most = fmaxf(most, sqrtf(d2));
        }
    return most;
}

/* ---- joints ---- */

static void take_ball(const sac_soft *soft, float reach, float out_ball[4])
{
    const sac_soft_points p = sac_soft_view(soft);
    const float *axes[3] = {p.x, p.y, p.z};
    float d2 = 0;
    for (int k = 0; k < 3; k++) {
        float low = FLT_MAX, high = -FLT_MAX;
        for (uint32_t i = 0; i < p.count; i++) low = fminf(low, axes[k][i]), high = fmaxf(high, axes[k][i]);
        out_ball[k] = 0.5f * (low + high);
        d2 += 0.25f * (high - low) * (high - low);
    }
    out_ball[3] = sqrtf(d2) + 2 * reach;
}

bool sac_show_soft_enter(sac_show *show, const sac_prop *prop, const sac_soft *soft, sac_show_slot *slot)
{
    const uint32_t count = sac_soft_view(soft).count;
    /* A place that is still there from the last one who had this slot will do. */
    if (slot->joint_count != count) {
        const size_t first = show->joints[0].count;
        for (int i = 0; i < 2; i++) {
            if (!sac_array_reserve(&show->joints[i], first + count)) return false;
            show->joints[i].count = first + count;
        }
        slot->first_joint = (uint32_t)first;
        slot->joint_count = count;
    }
    slot->reach = reach_of(prop);
    for (int i = 0; i < 2; i++)
        sac_soft_joints(soft, (float(*)[3][4])(show->joints[i].data + slot->first_joint));
    take_ball(soft, slot->reach, slot->ball);
    slot->even = true;
    slot->taken = show->steps;
    return true;
}

void sac_show_soft_turn(sac_show *show) { show->newest ^= 1; }

void sac_show_soft_take(sac_show *show, const sac_soft *soft, sac_show_slot *slot)
{
    sac_soft_joints(soft, (float(*)[3][4])(show->joints[show->newest].data + slot->first_joint));
    take_ball(soft, slot->reach, slot->ball);
    slot->taken = show->steps;
    slot->even = false;
}

void sac_show_soft_rest(sac_show *show, sac_show_slot *slot)
{
    if (!slot->joint_count || slot->even || slot->taken == show->steps) return;
    memcpy(show->joints[show->newest].data + slot->first_joint,
           show->joints[show->newest ^ 1].data + slot->first_joint, slot->joint_count * sizeof(sac_joint));
    slot->even = true;
}

void sac_show_soft_draw(const sac_show_slot *slot, const float origin[3], const sac_instance *like,
                        sac_skinned *out)
{
    *out = (sac_skinned){.model = slot->model,
                         .first_joint = slot->first_joint,
                         .colour = like->colour,
                         .gloss = like->gloss,
                         .glow = like->glow,
                         .radius = 1.05f * slot->ball[3]};
    for (int k = 0; k < 3; k++) out->origin[k] = origin[k], out->centre[k] = slot->ball[k] + origin[k];
}
