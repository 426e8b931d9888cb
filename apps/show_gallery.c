/* Models of the props, and what they are made of. */
#include <math.h>
#include <string.h>

#include "apps/prop_mesh.h"
#include "apps/show_internal.h"

/* Quiet colours told apart by lightness as well as hue, so that they differ to every eye: Wong's order of
 * hues (blue, orange, green, yellow, purple), greyed. */
static const uint32_t palette[] = {0x6f8fa8, 0xd08a5b, 0xb9c7a9, 0xe3c878,
                                   0x55607a, 0xa8788f, 0xe9e1d2, 0x4f7f78};
enum { COLOURS = sizeof palette / sizeof *palette };
static const uint32_t STONE = 0xc9c3b8;

typedef float leaf[4];

static sac_result add_prop(sac_show *show, const sac_prop *prop, uint32_t *out_model, sac_error *error)
{
    sac_mesh *mesh = NULL;
    bool named = prop->builtin && prop->shape.spheres;
    *out_model = UINT32_MAX;
    if (prop->hidden) return SAC_OK;
    switch (prop->kind) {
    case SAC_PROP_BAKED:
    case SAC_PROP_TERRAIN:
        if (prop->shape.mesh && prop->builtin && prop->shape.mesh->triangle_count < 3000)
            sac_mesh_builtin(prop->shape.name, 6000, &mesh, NULL); /* finer than what is collided */
        if (prop->shape.mesh && !mesh)
            return sac_gallery_add_mesh(show->gallery, prop->shape.mesh, out_model, error);
        if (mesh) break;
        if (named && strcmp(prop->shape.name, "cube56") == 0)
            mesh = sac_prop_mesh_box((float[3]){0.5f, 0.5f, 0.5f}, 0.03f);
        else if (named)
            mesh = sac_prop_mesh_torus(48, 24);
        else
            return sac_gallery_add_spheres(show->gallery, (const float(*)[4])prop->shape.spheres,
                                           prop->shape.sphere_count, out_model, error);
        break;
    case SAC_PROP_TREE: {
        sac_array(leaf) leaves = {0};
        sac_result result = SAC_OK;
        for (uint32_t id = 0; id < prop->tree->block_count * SAC_LANES && result == SAC_OK; id++) {
            sac_tree_node_info node;
            if (!sac_tree_node(prop->tree, id, &node) || !node.leaf) continue;
            if (!sac_array_reserve(&leaves, leaves.count + 1)) {
                result = sac_show_no_memory(error);
                break;
            }
            memcpy(leaves.data[leaves.count], node.centre, 3 * sizeof(float));
            leaves.data[leaves.count++][3] = node.radius;
        }
        if (result == SAC_OK)
            result = sac_gallery_add_spheres(show->gallery, (const float(*)[4])leaves.data,
                                             (uint32_t)leaves.count, out_model, error);
        sac_array_fini(&leaves);
        return result;
    }
    case SAC_PROP_SPHERE:
        mesh = sac_prop_mesh_capsule(prop->radius, 0);
        break;
    case SAC_PROP_CAPSULE:
        mesh = sac_prop_mesh_capsule(prop->radius, prop->half[1]);
        break;
    case SAC_PROP_BOX:
        mesh = sac_prop_mesh_box(prop->half, fminf(0.01f, 0.1f * fminf(prop->half[0], prop->half[1])));
        break;
    case SAC_PROP_HEIGHTS:
        mesh = sac_prop_mesh_heights(prop);
        break;
    case SAC_PROP_SOFT:
        return sac_show_add_soft(show, prop, out_model, error);
    case SAC_PROP_PLANE:
        return SAC_OK; /* the ground grid */
    }
    if (!mesh) return sac_show_no_memory(error);
    sac_result result = sac_gallery_add_mesh(show->gallery, mesh, out_model, error);
    sac_mesh_destroy(&mesh);
    return result;
}

sac_result sac_show_fill_gallery(sac_show *show, sac_error *error)
{
    const sac_staging *staging = &show->worlds[0].staging; /* two worlds have the same props */
    sac_result result = sac_gallery_create(&show->gallery, error);
    for (size_t i = 0; i < staging->props.count && result == SAC_OK; i++) {
        uint32_t model;
        result = add_prop(show, &staging->props.data[i], &model, error);
        if (result == SAC_OK && !sac_array_push(&show->models, model)) result = sac_show_no_memory(error);
    }
    return result;
}

/* ---- materials ---- */

static uint32_t scramble(uint32_t x)
{
    x ^= x >> 16, x *= 0x7feb352du;
    x ^= x >> 15, x *= 0x846ca68bu;
    return x ^ x >> 16;
}

void sac_show_material(const sac_staging *staging, uint32_t prop, uint32_t index, sac_show_slot *slot)
{
    const sac_prop *p = &staging->props.data[prop];
    uint32_t chance = scramble(index + 1), srgb = p->colour, out = 0;
    float shade = 1;
    if (!srgb) srgb = slot->dynamic ? palette[chance % COLOURS] : STONE;
    if (slot->dynamic) shade = 0.9f + 0.2f * (float)(chance >> 8 & 255) / 255;
    for (int k = 0; k < 3; k++) {
        float value = (float)(srgb >> (16 - 8 * k) & 255) * shade;
        out |= (uint32_t)fminf(value, 255) << 8 * k;
    }
    slot->colour = out | 0xff000000u;
    slot->gloss = p->gloss > 0 ? p->gloss : slot->dynamic ? 0.45f : 0.1f;
}
