/* Text trees, from memory and from a file, which read differently but must agree. */
#include "exercise.h"

#include <unistd.h>

/* One file, rewritten for some of the inputs: files are slow. */
static const char *scratch_file(void)
{
    static char path[64];
    if (!path[0]) snprintf(path, sizeof path, "/tmp/saccade-fuzz-%ld.sph", (long)getpid());
    return path;
}

static void remove_scratch(void) { unlink(scratch_file()); }

static void same_from_file(const uint8_t *data, size_t size, sac_result expected, const sac_error *said)
{
    FILE *file = fopen(scratch_file(), "wb");
    if (!file) return;
    bool written = fwrite(data, 1, size, file) == size;
    if (fclose(file) != 0 || !written) return;
    sac_tree *tree;
    sac_error error;
    sac_result result = sac_tree_import_sph(scratch_file(), &tree, &error);
    /* Only a file has a longest line. */
    if (result == SAC_ERROR_FORMAT && size >= 64 * 1024) return;
    HOLDS(result == expected && (result == SAC_OK || error.line == said->line));
    if (tree) {
        /* Out and in again: the same spheres. */
        sac_tree *back;
        if (sac_sph_nodes(tree->depth + 1, tree->branch) < 100000) {
            HOLDS(sac_tree_export_sph(tree, scratch_file(), NULL) == SAC_OK);
            HOLDS(sac_tree_import_sph(scratch_file(), &back, NULL) == SAC_OK);
            HOLDS(back->block_count == tree->block_count);
            HOLDS(memcmp(back->spheres, tree->spheres, tree->block_count * sizeof *tree->spheres) == 0);
            sac_tree_destroy(&back);
        }
        sac_tree_destroy(&tree);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool first = true;
    if (first) atexit(remove_scratch);
    first = false;
    sac_tree *tree;
    sac_error error;
    sac_result result = sac_tree_import_sph_memory((const char *)data, size, &tree, &error);
    uint32_t hash = 0;
    for (size_t i = 0; i < size; i++) hash = hash * 31 + data[i];
    if (hash % 16 == 0) same_from_file(data, size, result, &error);
    if (result != SAC_OK) {
        HOLDS(!tree && error.code == result && error.message[0] && error.line > 0);
        return 0;
    }
    exercise_tree(tree);
    if (tree->leaf_count <= 256) exercise_descent(tree);
    exercise_saving(tree);
    sac_tree_destroy(&tree);
    return 0;
}
