/* Reads a mesh file held in memory, out of an install tree with the import library. */
#include <stdio.h>
#include <string.h>

#include <saccade/spheretree/spheretree.h>

int main(void)
{
    const char *text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
    sac_mesh *mesh;
    sac_error error;
    char said[512];
    if (sac_mesh_import_memory(text, strlen(text), "obj", &mesh, &error) != SAC_OK) {
        puts(sac_error_text(&error, said, sizeof said));
        return 1;
    }
    uint32_t triangles = mesh->triangle_count;
    printf("%u triangles\n", (unsigned)triangles);
    sac_mesh_destroy(&mesh);
    return triangles == 4 ? 0 : 1;
}
