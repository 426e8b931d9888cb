/* Terrain as bytes: what it was made from, in the order it was given, so that making it again gives the same
 * terrain with the same features. */
#include "base/memory.h"
#include "spheretree/terrain_internal.h"

enum { HEIGHTS = 1, TRIANGLES = 2 };

typedef struct header {
    char magic[8];
    uint32_t version, kind;
    uint32_t columns, rows; /* triangles: their number, 0 */
    float spacing;          /* heights */
    uint32_t reserved;
} header;

_Static_assert(sizeof(header) == 32, "the layout of docs/files.md");

static const char magic[8] = "SACLAND\x1a";

sac_result sac_terrain_save_memory(const sac_terrain *t, void **out_bytes, size_t *out_size, sac_error *error)
{
    if (!t) return sac_error_null(error, "terrain", 0);
    SAC_NEED(error, out_bytes, out_size);
    *out_bytes = NULL, *out_size = 0;
    header h = {.version = 1, .kind = t->posts ? HEIGHTS : TRIANGLES};
    memcpy(h.magic, magic, sizeof magic);
    h.columns = t->posts ? t->columns : t->source_count;
    h.rows = t->posts ? t->rows : 0;
    h.spacing = t->posts ? t->spacing : 0;
    size_t floats = t->posts ? (size_t)t->columns * t->rows : (size_t)t->source_count * 9;
    size_t size = sizeof h + floats * sizeof(float);
    unsigned char *bytes = sac_alloc_zero(1, size);
    if (!bytes) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %zu bytes", size);
    memcpy(bytes, &h, sizeof h);
    if (t->posts) {
        memcpy(bytes + sizeof h, t->posts, floats * sizeof(float));
    } else {
        /* A triangle without area was left out; three equal corners are left out again. */
        for (uint32_t i = 0; i < t->source_count; i++)
            if (t->where[i] != SAC_NO_TRIANGLE)
                memcpy(bytes + sizeof h + (size_t)i * 36, t->triangles[t->where[i]].corner, 36);
    }
    *out_bytes = bytes, *out_size = size;
    return SAC_OK;
}

static sac_result wrong(sac_error *error, size_t byte, const char *what)
{
    sac_error_set(error, SAC_ERROR_CORRUPT, NULL, "%s", what);
    return sac_error_at_byte(error, (int64_t)byte), SAC_ERROR_CORRUPT;
}

static sac_result from_corners(const float *corners, uint32_t count, sac_terrain **out_terrain,
                               sac_error *error)
{
    uint32_t(*triangles)[3] = sac_alloc(count, sizeof *triangles);
    if (!triangles) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the terrain");
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < 3; k++) triangles[i][k] = i * 3 + k;
    sac_mesh mesh = {.vertices = (float(*)[3])corners,
                     .triangles = triangles,
                     .vertex_count = count * 3,
                     .triangle_count = count};
    sac_result result = sac_terrain_from_mesh(&mesh, out_terrain, error);
    sac_free(triangles, count, sizeof *triangles);
    return result;
}

sac_result sac_terrain_load_memory(const void *bytes, size_t size, sac_terrain **out_terrain,
                                   sac_error *error)
{
    SAC_NEED(error, out_terrain);
    *out_terrain = NULL;
    if (size) SAC_NEED(error, bytes);
    header h;
    if (size < sizeof h) return wrong(error, size, "the terrain ends inside its header");
    memcpy(&h, bytes, sizeof h);
    if (memcmp(h.magic, magic, sizeof magic) != 0) return wrong(error, 0, "this is not a terrain");
    if (h.version != 1)
        return sac_error_set(error, SAC_ERROR_VERSION, NULL, "the terrain is of version %u", h.version);
    bool heights = h.kind == HEIGHTS;
    if ((!heights && h.kind != TRIANGLES) || h.reserved || (!heights && (h.rows || h.spacing != 0)))
        return wrong(error, offsetof(header, kind), "the terrain is of no known kind");
    uint64_t most = SAC_TERRAIN_MOST, count = heights ? (uint64_t)h.columns * h.rows : h.columns;
    if (count == 0 || count > most)
        return wrong(error, offsetof(header, columns), "the size of the terrain is impossible");
    size_t floats = (size_t)count * (heights ? 1 : 9);
    if (size - sizeof h != floats * sizeof(float))
        return wrong(error, size, "the terrain is not as long as it says");
    float *numbers = sac_alloc(floats, sizeof *numbers);
    if (!numbers) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %zu bytes", size);
    memcpy(numbers, (const unsigned char *)bytes + sizeof h, floats * sizeof *numbers);
    sac_result result =
        heights ? sac_terrain_from_heights(numbers, h.columns, h.rows, h.spacing, out_terrain, error)
                : from_corners(numbers, h.columns, out_terrain, error);
    sac_free(numbers, floats, sizeof *numbers);
    return result;
}
