/* The mesh itself: storage and limits. */
#include "spheretree/mesh_internal.h"

#include <stdio.h>

sac_result sac_mesh_allocate(uint32_t vertex_count, uint32_t triangle_count, const char *name,
                             sac_mesh **out_mesh, sac_error *error)
{
    *out_mesh = NULL;
    if (triangle_count == 0 || vertex_count == 0)
        return sac_error_set(error, SAC_ERROR_EMPTY, "give a mesh with at least one triangle",
                             "the mesh has no triangles");
    if (triangle_count > SAC_MESH_MOST_TRIANGLES)
        return sac_error_set(error, SAC_ERROR_LIMIT, "simplify the mesh or split it into parts",
                             "the mesh has %u triangles, the most is %u", triangle_count,
                             SAC_MESH_MOST_TRIANGLES);
    if (vertex_count > SAC_MESH_MOST_VERTICES)
        return sac_error_set(error, SAC_ERROR_LIMIT, "drop unused vertices or split the mesh into parts",
                             "the mesh has %u vertices, the most is %u", vertex_count,
                             SAC_MESH_MOST_VERTICES);
    sac_mesh *mesh = sac_alloc_zero(1, sizeof *mesh);
    if (!mesh) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a mesh");
    mesh->vertex_count = vertex_count;
    mesh->triangle_count = triangle_count;
    mesh->vertices = sac_alloc(vertex_count, sizeof *mesh->vertices);
    mesh->triangles = sac_alloc(triangle_count, sizeof *mesh->triangles);
    snprintf(mesh->name, sizeof mesh->name, "%s", name ? name : "");
    if (!mesh->vertices || !mesh->triangles) {
        sac_mesh_destroy(&mesh);
        return sac_error_set(error, SAC_ERROR_MEMORY, "use a coarser mesh or a machine with more memory",
                             "no memory for %u vertices and %u triangles", vertex_count, triangle_count);
    }
    *out_mesh = mesh;
    return SAC_OK;
}

sac_result sac_mesh_check(const sac_mesh *mesh, sac_error *error)
{
    for (uint32_t t = 0; t < mesh->triangle_count; t++)
        for (int i = 0; i < 3; i++)
            if (mesh->triangles[t][i] >= mesh->vertex_count)
                return sac_error_set(error, SAC_ERROR_ARGUMENT, "indices count from 0",
                                     "triangle %u names vertex %u, but there are %u vertices", t,
                                     mesh->triangles[t][i], mesh->vertex_count);
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        const float *p = mesh->vertices[v];
        if (!sac_vec3_is_finite(p))
            return sac_error_set(error, SAC_ERROR_ARGUMENT, "export the mesh again without NaN or infinity",
                                 "vertex %u is not a finite point (%g %g %g)", v, p[0], p[1], p[2]);
        for (int i = 0; i < 3; i++)
            if (fabsf(p[i]) > SAC_MESH_MOST_COORDINATE)
                return sac_error_set(error, SAC_ERROR_LIMIT, "scale the mesh down or move it to the origin",
                                     "vertex %u has the coordinate %g, the most is %g", v, p[i],
                                     SAC_MESH_MOST_COORDINATE);
    }
    return SAC_OK;
}

sac_result sac_mesh_create(const float (*vertices)[3], uint32_t vertex_count, const uint32_t (*triangles)[3],
                           uint32_t triangle_count, const char *name, sac_mesh **out_mesh, sac_error *error)
{
    SAC_NEED(error, out_mesh);
    *out_mesh = NULL;
    if (vertex_count) SAC_NEED(error, vertices);
    if (triangle_count) SAC_NEED(error, triangles);
    sac_mesh *mesh;
    sac_result result = sac_mesh_allocate(vertex_count, triangle_count, name, &mesh, error);
    if (result != SAC_OK) return result;
    memcpy(mesh->vertices, vertices, vertex_count * sizeof *vertices);
    memcpy(mesh->triangles, triangles, triangle_count * sizeof *triangles);
    result = sac_mesh_check(mesh, error);
    if (result != SAC_OK)
        sac_mesh_destroy(&mesh);
    else
        *out_mesh = mesh;
    return result;
}

void sac_mesh_destroy(sac_mesh **mesh)
{
    if (!mesh || !*mesh) return;
    sac_free((*mesh)->vertices, (*mesh)->vertex_count, sizeof *(*mesh)->vertices);
    sac_free((*mesh)->triangles, (*mesh)->triangle_count, sizeof *(*mesh)->triangles);
    sac_free(*mesh, 1, sizeof **mesh);
    *mesh = NULL;
}
