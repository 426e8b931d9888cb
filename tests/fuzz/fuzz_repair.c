/* Mesh repair and mass over triangle soups: few vertices, often on a coarse grid, so that duplicates,
 * degenerate triangles and crowded edges are the rule. */
#include "exercise.h"

enum { MOST_VERTICES = 255, MOST_TRIANGLES = 512 };

/* byte 0: vertices; byte 1: how they are written; then vertices; the rest are triangles, a byte a corner. */
static sac_mesh *read_soup(const uint8_t *data, size_t size)
{
    if (size < 2) return NULL;
    float vertices[MOST_VERTICES][3];
    uint32_t triangles[MOST_TRIANGLES][3], vertex_count = data[0] ? data[0] : 1, triangle_count = 0;
    bool raw = data[1] & 1;
    size_t step = raw ? 12 : 3, at = 2;
    for (uint32_t v = 0; v < vertex_count; v++) {
        for (int i = 0; i < 3; i++) vertices[v][i] = 0;
        if (size - at < step) continue;
        if (raw)
            memcpy(vertices[v], data + at, step);
        else
            for (int i = 0; i < 3; i++) vertices[v][i] = (float)(int8_t)data[at + (size_t)i] / 4;
        at += step;
    }
    for (; size - at >= 3 && triangle_count < MOST_TRIANGLES; at += 3, triangle_count++)
        for (int i = 0; i < 3; i++)
            triangles[triangle_count][i] = data[at + (size_t)i] % (vertex_count + (data[1] >> 7));
    sac_mesh *mesh;
    sac_error error;
    sac_result result =
        sac_mesh_create((const float(*)[3])vertices, vertex_count, (const uint32_t(*)[3])triangles,
                        triangle_count, "soup", &mesh, &error);
    HOLDS((result == SAC_OK) == (mesh != NULL));
    HOLDS(result == SAC_OK || (error.code == result && error.message[0]));
    return mesh;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sac_mesh *mesh = read_soup(data, size);
    if (!mesh) return 0;
    sac_mesh_report report, again;
    sac_error error;
    sac_mass mass;
    sac_mesh_mass(mesh, &mass, &error);
    sac_result result = sac_mesh_repair(mesh, &report, &error);
    HOLDS(result == SAC_OK || (error.code == result && error.message[0]));
    if (result == SAC_OK) {
        for (uint32_t t = 0; t < mesh->triangle_count; t++)
            for (int i = 0; i < 3; i++) HOLDS(mesh->triangles[t][i] < mesh->vertex_count);
        /* What is repaired needs no repair. */
        HOLDS(sac_mesh_repair(mesh, &again, &error) == SAC_OK);
        HOLDS(again.welded_vertices == 0 && again.unused_vertices == 0 && again.degenerate_triangles == 0 &&
              again.duplicate_triangles == 0 && again.closed == report.closed && !again.flipped);
        result = sac_mesh_mass(mesh, &mass, &error);
        HOLDS(result != SAC_ERROR_OPEN_MESH || !report.closed);
        HOLDS(result != SAC_OK || (mass.volume > 0 && sac_vec3_is_finite(mass.centre)));
    }
    sac_mesh_destroy(&mesh);
    return 0;
}
