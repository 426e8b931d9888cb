/* What import is made of: where Assimp gets its bytes, and polygons into triangles. Private to spheretree/.
 */
#ifndef SAC_SPHERETREE_IMPORT_INTERNAL_H
#define SAC_SPHERETREE_IMPORT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <assimp/cfileio.h>

/* Give `io` to Assimp. With `bytes`, only the file called `name` exists; without, any regular file does, so
 * that a pipe or a device named inside a mesh file cannot make the import wait. */
typedef struct sac_import_source {
    const char *name;
    const unsigned char *bytes;
    size_t size;
    struct aiFileIO io;
} sac_import_source;

void sac_import_source_init(sac_import_source *source, const char *name, const void *bytes, size_t size);

/* count - 2 triangles, as positions in `points`, facing as the polygon does; count >= 3. `work` is what may
 * be spent on finding good ears and is drawn down: a hostile file gets plain fans once it is used up. False:
 * out of memory. */
bool sac_polygon_triangulate(const double (*points)[3], uint32_t count, uint64_t *work,
                             uint32_t (*out_triangles)[3]);

#endif
