/* Soft shapes of triangle meshes. A mesh with more vertices than shall be simulated gets points spread evenly
 * over it, each as far as can be from those before (farthest point sampling), and follows them. */
#include "deform/soft_shape.h"

#include <math.h>

#include "base/memory.h"

/* The squared distance of each vertex to the nearest chosen point; returns the vertex that has the largest.
 * Plain loops over arrays, for the compiler to widen. */
static uint32_t nearer(const float *const axes[3], uint32_t count, uint32_t chosen, float *d2)
{
    const float *x = axes[0], *y = axes[1], *z = axes[2];
    float cx = x[chosen], cy = y[chosen], cz = z[chosen], most = -1;
    for (uint32_t i = 0; i < count; i++) {
        float dx = x[i] - cx, dy = y[i] - cy, dz = z[i] - cz, d = dx * dx + dy * dy + dz * dz;
        d2[i] = d < d2[i] ? d : d2[i];
    }
    for (uint32_t i = 0; i < count; i++) most = d2[i] > most ? d2[i] : most;
    uint32_t far = 0;
    while (far + 1 < count && d2[far] != most) far++;
    return far;
}

/* Fewer than `wanted` when vertices coincide. Ends with the points in the order of the mesh. */
static uint32_t spread(const sac_mesh *mesh, uint32_t wanted, float *axes[3], float *d2, float (*out)[3])
{
    uint32_t n = mesh->vertex_count, count = 0, far = 0;
    sac_box box = sac_box_empty();
    float most = -1;
    for (uint32_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) axes[k][i] = mesh->vertices[i][k];
        sac_box_add(&box, mesh->vertices[i]);
        d2[i] = INFINITY;
    }
    for (uint32_t i = 0; i < n; i++) { /* the first: farthest from the middle */
        float d = 0;
        for (int k = 0; k < 3; k++) {
            float e = mesh->vertices[i][k] - (box.low[k] + box.high[k]) * 0.5f;
            d += e * e;
        }
        if (d > most) most = d, far = i;
    }
    const float *const read[3] = {axes[0], axes[1], axes[2]};
    for (; count < wanted && d2[far] > 0; count++) {
        uint32_t chosen = far;
        far = nearer(read, n, chosen, d2);
        d2[chosen] = -1; /* marked; nothing is nearer */
    }
    count = 0;
    for (uint32_t i = 0; i < n; i++)
        if (d2[i] < 0) memcpy(out[count++], mesh->vertices[i], sizeof *out);
    return count;
}

static sac_result sample(const sac_mesh *mesh, sac_soft_shape_def *def, uint32_t most_points,
                         sac_soft_shape **out_shape, sac_error *error)
{
    sac_arena scratch;
    sac_arena_init(&scratch);
    float *axes[3], *d2 = sac_arena_alloc(&scratch, mesh->vertex_count, sizeof *d2);
    float(*points)[3] = sac_arena_alloc(&scratch, most_points, sizeof *points);
    bool ok = d2 && points;
    for (int k = 0; k < 3; k++)
        ok = (axes[k] = sac_arena_alloc(&scratch, mesh->vertex_count, sizeof(float))) && ok;
    sac_result result;
    if (!ok) {
        result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory to choose among %u vertices",
                               mesh->vertex_count);
    } else {
        sac_meshless_surface surface = {.vertices = (const float(*)[3])mesh->vertices,
                                        .vertex_count = mesh->vertex_count,
                                        .triangles = (const uint32_t(*)[3])mesh->triangles,
                                        .triangle_count = mesh->triangle_count};
        def->point_count = spread(mesh, most_points, axes, d2, points);
        def->points = (const float(*)[3])points;
        def->surface = &surface;
        result = sac_soft_shape_create(def, out_shape, error);
    }
    sac_arena_fini(&scratch);
    return result;
}

sac_result sac_soft_shape_from_mesh(const sac_mesh *mesh, const sac_soft_shape_def *def, uint32_t most_points,
                                    sac_soft_shape **out_shape, sac_error *error)
{
    SAC_NEED(error, out_shape);
    *out_shape = NULL;
    SAC_NEED(error, mesh, def);
    sac_mesh *own = NULL; /* welded: points that coincide would come apart */
    sac_result result =
        sac_mesh_create((const float(*)[3])mesh->vertices, mesh->vertex_count,
                        (const uint32_t(*)[3])mesh->triangles, mesh->triangle_count, mesh->name, &own, error);
    if (result == SAC_OK) result = sac_mesh_repair(own, NULL, error);
    if (result == SAC_OK) {
        sac_soft_shape_def mine = *def;
        mine.masses = NULL, mine.triangles = NULL, mine.triangle_count = 0, mine.surface = NULL;
        if (!most_points) most_points = SAC_SOFT_MOST_POINTS;
        if (own->vertex_count <= most_points) {
            mine.points = (const float(*)[3])own->vertices, mine.point_count = own->vertex_count;
            mine.triangles = (const uint32_t(*)[3])own->triangles, mine.triangle_count = own->triangle_count;
            result = sac_soft_shape_create(&mine, out_shape, error);
        } else {
            result = sample(own, &mine, most_points, out_shape, error);
        }
    }
    sac_mesh_destroy(&own);
    return result;
}
