/* A soft shape as bytes: what it was made from, so that making it again gives the same shape. For recordings.
 */
#include "base/memory.h"
#include "deform/meshless_internal.h"
#include "deform/soft_internal.h"
#include "deform/soft_shape.h"

typedef struct header {
    char magic[8];
    uint32_t version, points, triangles, vertices, faces; /* the last two of the finer surface */
    uint32_t mode, keep_volume, clusters, leaf_points, bound, k, fit, influences, leaf, box;
    float beta, settle_time, damping, yield, creep, most_plastic, overlap, most_speed, thickness, mass;
} header;

_Static_assert(sizeof(header) == 108, "the layout of docs/files.md");

static const char magic[8] = "SACSOFT\x1a";

typedef struct part {
    const void *data;
    size_t size;
} part;

sac_result sac_soft_shape_save_memory(const sac_soft_shape *shape, void **out_bytes, size_t *out_size,
                                      sac_error *error)
{
    SAC_NEED(error, shape, out_bytes, out_size);
    *out_bytes = NULL, *out_size = 0;
    sac_soft_shape_parts p = sac_soft_shape_parts_of(shape);
    const sac_meshless_model *surface = p.surface;
    const sac_soft_def *d = &p.model->def;
    const sac_meshless_def none = sac_default_meshless_def(), *fine = surface ? &surface->def : &none;
    header h = {.version = 1,
                .points = p.point_count,
                .triangles = p.triangle_count,
                .vertices = surface ? surface->vertex_count : 0,
                .faces = surface ? surface->triangle_count : 0,
                .mode = d->mode,
                .keep_volume = d->keep_volume,
                .clusters = d->clusters,
                .leaf_points = p.tree->def.leaf_points,
                .bound = p.tree->def.bound,
                .k = fine->k,
                .fit = fine->fit,
                .influences = fine->influences,
                .leaf = fine->leaf,
                .box = fine->box,
                .beta = d->beta,
                .settle_time = d->settle_time,
                .damping = d->damping,
                .yield = d->yield,
                .creep = d->creep,
                .most_plastic = d->most_plastic,
                .overlap = d->overlap,
                .most_speed = d->most_speed,
                .thickness = p.thickness,
                .mass = p.mass};
    memcpy(h.magic, magic, sizeof magic);
    float *masses = sac_alloc(h.points, sizeof *masses);
    if (!masses) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %u masses", h.points);
    for (uint32_t i = 0; i < h.points; i++) masses[i] = p.model->mass[p.model->place[i]];
    const part parts[] = {{&h, sizeof h},
                          {p.points, (size_t)h.points * 12},
                          {masses, (size_t)h.points * 4},
                          {p.triangles, (size_t)h.triangles * 12},
                          {surface ? surface->given.vertices : NULL, (size_t)h.vertices * 12},
                          {surface ? surface->given.triangles : NULL, (size_t)h.faces * 12}};
    size_t size = 0, at = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) size += parts[i].size;
    unsigned char *bytes = sac_alloc(1, size);
    for (size_t i = 0; bytes && i < sizeof parts / sizeof *parts; at += parts[i++].size)
        if (parts[i].size) memcpy(bytes + at, parts[i].data, parts[i].size);
    sac_free(masses, h.points, sizeof *masses);
    if (!bytes) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %zu bytes", size);
    *out_bytes = bytes, *out_size = size;
    return SAC_OK;
}

static sac_result wrong(sac_error *error, const char *what)
{
    return sac_error_set(error, SAC_ERROR_CORRUPT, NULL, "%s", what);
}

sac_result sac_soft_shape_load_memory(const void *bytes, size_t size, sac_soft_shape **out_shape,
                                      sac_error *error)
{
    SAC_NEED(error, out_shape);
    if (size) SAC_NEED(error, bytes);
    header h;
    *out_shape = NULL;
    if (size < sizeof h) return wrong(error, "the soft shape is cut short");
    memcpy(&h, bytes, sizeof h);
    if (memcmp(h.magic, magic, sizeof magic) != 0 || h.version != 1)
        return wrong(error, "this is no soft shape");
    uint64_t room = (uint64_t)h.points * 16 + (uint64_t)h.triangles * 12 + (uint64_t)h.vertices * 12 +
                    (uint64_t)h.faces * 12;
    if (room != size - sizeof h) return wrong(error, "the soft shape has another length than it says");
    /* Copied once, because what comes before it in a file need not be aligned. */
    uint32_t *words = sac_alloc(1, (size_t)room + 4);
    if (!words) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a soft shape");
    memcpy(words, (const unsigned char *)bytes + sizeof h, (size_t)room);
    const float *floats = (const float *)words;
    size_t at = (size_t)h.points * 4, fine = at + (size_t)h.triangles * 3;
    sac_meshless_surface surface = {
        .vertices = (const float(*)[3])(floats + fine),
        .vertex_count = h.vertices,
        .triangles = h.faces ? (const uint32_t(*)[3])(words + fine + (size_t)h.vertices * 3) : NULL,
        .triangle_count = h.faces};
    sac_soft_shape_def def = sac_default_soft_shape_def();
    def.soft.mode = (sac_soft_mode)h.mode, def.soft.keep_volume = h.keep_volume != 0;
    def.soft.clusters = h.clusters, def.soft.beta = h.beta, def.soft.settle_time = h.settle_time;
    def.soft.damping = h.damping, def.soft.yield = h.yield, def.soft.creep = h.creep;
    def.soft.most_plastic = h.most_plastic, def.soft.overlap = h.overlap, def.soft.most_speed = h.most_speed;
    def.tree.leaf_points = h.leaf_points, def.tree.bound = (sac_soft_bound)h.bound;
    def.meshless.k = h.k, def.meshless.fit = (sac_meshless_fit)h.fit;
    def.meshless.influences = h.influences, def.meshless.leaf = h.leaf;
    def.meshless.box = (sac_meshless_box)h.box;
    def.points = (const float(*)[3])floats, def.point_count = h.points;
    def.masses = floats + (size_t)h.points * 3;
    def.triangles = h.triangles ? (const uint32_t(*)[3])(words + at) : NULL, def.triangle_count = h.triangles;
    def.surface = h.vertices ? &surface : NULL;
    def.thickness = h.thickness; /* the masses say what it weighs */
    sac_result result = sac_soft_shape_create(&def, out_shape, error);
    sac_free(words, 1, (size_t)room + 4);
    return result;
}
