/* The baked file. Checksums are made right before loading, so that hostile bytes reach the validation behind
 * them; what loads must be exactly what the bytes say. */
#include "exercise.h"
#include "spheretree/treefile_internal.h"

typedef sac_treefile_header header;

static void load(const uint8_t *bytes, size_t size)
{
    sac_tree *tree;
    sac_error error;
    sac_result result = sac_tree_load_memory(bytes, size, &tree, &error);
    if (result != SAC_OK) {
        HOLDS(!tree && error.code == result && error.message[0] && error.byte >= 0);
        return;
    }
    exercise_tree(tree);
    if (tree->leaf_count <= 256) exercise_descent(tree);
    void *again;
    size_t again_size;
    HOLDS(sac_tree_save_memory(tree, &again, &again_size, NULL) == SAC_OK);
    HOLDS(again_size == size && memcmp(again, bytes, size) == 0);
    sac_free(again, 1, again_size);
    sac_tree_destroy(&tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    load(data, size);
    uint8_t *sealed = malloc(size ? size : 1);
    if (size) memcpy(sealed, data, size);
    sac_treefile_seal(sealed, size);
    load(sealed, size);
    free(sealed);
    return 0;
}

/* A header for as many blocks as fit, whatever the mutation did to the length. */
static size_t fit_header(uint8_t *data, size_t size)
{
    const size_t block = sizeof(sac_sphere_block) + sizeof(sac_link_block) + sizeof(sac_feature_block);
    if (size < sizeof(header) + block + SAC_CACHE_LINE) return size;
    size_t blocks = (size - sizeof(header)) / block, whole;
    do {
        whole = sizeof(header) + blocks * block +
                (blocks * sizeof(uint32_t) + SAC_CACHE_LINE - 1) / SAC_CACHE_LINE * SAC_CACHE_LINE;
    } while (whole > size && --blocks > 0);
    if (blocks == 0) return size;
    header h;
    memcpy(&h, data, sizeof h);
    memcpy(h.magic, SAC_TREEFILE_MAGIC, sizeof h.magic);
    h.version = SAC_TREEFILE_VERSION, h.byte_order = SAC_TREEFILE_BYTE_ORDER;
    h.header_size = sizeof h, h.file_size = whole, h.block_count = (uint32_t)blocks;
    h.spheres_at = sizeof h;
    h.links_at = h.spheres_at + blocks * sizeof(sac_sphere_block);
    h.features_at = h.links_at + blocks * sizeof(sac_link_block);
    h.parents_at = h.features_at + blocks * sizeof(sac_feature_block);
    memset(h.reserved, 0, sizeof h.reserved);
    memcpy(data, &h, sizeof h);
    return whole;
}

/* One word becomes something a tree is made of. */
static void plant_word(uint8_t *data, size_t size, unsigned seed)
{
    const uint32_t small = seed >> 8 & 31;
    const uint32_t words[] = {SAC_TREEFILE_NAN, 0x7f800000u, 0x00000001u, 0x3f800000u, 0x80000000u,
                              0x5f000000u,      UINT32_MAX,  small,       small * 8,   SAC_LINK_LEAF | small};
    uint32_t word = words[seed % (sizeof words / sizeof *words)];
    size_t at = (size_t)((uint64_t)seed * 2654435761u % (size / 4)) * 4;
    memcpy(data + at, &word, sizeof word);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    if (seed % 4 != 0 || size < 4)
        size = LLVMFuzzerMutate(data, size, most);
    else
        for (unsigned i = 0; i <= seed / 4 % 4; i++) plant_word(data, size, seed + i * 97);
    if (seed / 16 % 8 != 0) size = fit_header(data, size);
    if (seed / 128 % 8 != 0) sac_treefile_seal(data, size);
    return size;
}
