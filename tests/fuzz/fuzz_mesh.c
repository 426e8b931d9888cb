/* Mesh import: whatever Assimp makes of the bytes, our glue hands out a sound mesh or an error. Small meshes
 * go on through repair and a build. Assimp itself is not instrumented; its depths are its authors' to fuzz.
 */
#include "exercise.h"
#include "spheretree/import_internal.h"

/* Seeds are ordinary mesh files, so the kind is told by how they begin. */
static const char *kind_of(const uint8_t *data, size_t size)
{
    static const struct {
        const char *begins, *kind;
    } kinds[] = {{"ply", "ply"}, {"OFF", "off"}, {"solid", "stl"}, {"glTF", "glb"}, {"{", "gltf"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i].begins);
        if (size >= length && memcmp(data, kinds[i].begins, length) == 0) return kinds[i].kind;
    }
    return size > 80 && memchr(data, 0, 80) ? "stl" : "obj";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sac_import_set_patience(2);
    sac_mesh *mesh;
    sac_error error;
    sac_result result = sac_mesh_import_memory(data, size, kind_of(data, size), &mesh, &error);
    if (result == SAC_OK) {
        exercise_mesh(mesh);
        sac_build_def def = sac_default_build_def();
        def.method = SAC_METHOD_OCTREE, def.depth = 1, def.branch = 4;
        if (sac_mesh_repair(mesh, NULL, NULL) == SAC_OK && mesh->triangle_count <= 12)
            exercise_build(mesh, &def);
    } else {
        HOLDS(!mesh && error.code == result && error.message[0] && error.remedy[0]);
    }
    sac_mesh_destroy(&mesh);
    return 0;
}
