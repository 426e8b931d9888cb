/* What import is made of: where Assimp gets its bytes, the process it runs in, and polygons into triangles.
 * Private to spheretree/. */
#ifndef SAC_SPHERETREE_IMPORT_INTERNAL_H
#define SAC_SPHERETREE_IMPORT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <assimp/cfileio.h>

#include "spheretree/mesh.h"

#define SAC_IMPORT_REMEDY "open it in a modeller and export it again as OBJ, PLY, STL, OFF or glTF"

/* Give `io` to Assimp. With `bytes`, only the file called `name` exists; without, any regular file does, so
 * that a pipe or a device named inside a mesh file cannot make the import wait. */
typedef struct sac_import_source {
    const char *name;
    const unsigned char *bytes;
    size_t size;
    struct aiFileIO io;
} sac_import_source;

void sac_import_source_init(sac_import_source *source, const char *name, const void *bytes, size_t size);

/* Something that makes a mesh and may crash, hang or eat memory on the way. */
typedef struct sac_import_job {
    sac_result (*work)(void *context, sac_mesh **out_mesh, sac_error *error);
    void *context;
    uint64_t file_size; /* time and memory are measured by it */
} sac_import_job;

/* Runs the job in a child process and brings the mesh or the error over. ERROR_CORRUPT when the child was
 * stopped by a signal or by its limits. */
sac_result sac_import_guarded(const sac_import_job *job, const char *name, sac_mesh **out_mesh,
                              sac_error *error);
/* CPU seconds a small file may take, 20 unless told; for tests. */
void sac_import_set_patience(uint32_t seconds);

struct aiScene;
/* Everything in the scene that has triangles or polygons, as one mesh. */
sac_result sac_import_merge(const struct aiScene *scene, const char *name, sac_mesh **out_mesh,
                            sac_error *error);

/* Refuses PLY and GLB headers that would make Assimp loop or allocate without end. */
sac_result sac_import_check_header(sac_import_source *source, sac_error *error);

/* count - 2 triangles, as positions in `points`, facing as the polygon does; count >= 3. `work` is what may
 * be spent on finding good ears and is drawn down: a hostile file gets plain fans once it is used up. False:
 * out of memory. */
bool sac_polygon_triangulate(const double (*points)[3], uint32_t count, uint64_t *work,
                             uint32_t (*out_triangles)[3]);

#endif
