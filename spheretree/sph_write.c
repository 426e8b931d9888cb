/* Writing the full-array text layout. */
#include "spheretree/treefile.h"

#include <stdio.h>

#include "spheretree/atomic_file_internal.h"
#include "spheretree/sph_internal.h"

/* Index of a node in the full array: down the path from the root, N -> N * branch + 1 + slot. */
static uint64_t index_in_array(const sac_tree *tree, uint32_t id)
{
    uint32_t slots[SAC_TREE_MOST_DEPTH], depth = 0;
    for (uint32_t block = id / SAC_LANES; block != 0; block = id / SAC_LANES) {
        uint32_t parent = tree->parents[block];
        uint32_t first = tree->links[parent / SAC_LANES].link[parent % SAC_LANES];
        slots[depth++] = id - first * SAC_LANES;
        id = parent;
    }
    uint64_t index = 0;
    while (depth > 0) index = index * tree->branch + 1 + slots[--depth];
    return index;
}

/* Nine digits bring every float back. printf writes the locale's decimal sign; files have a point. */
static size_t print_float(char *out, size_t size, float value)
{
    int length = snprintf(out, size, "%.9g", (double)value);
    size_t kept = 0;
    for (int i = 0; i < length; i++) {
        char c = out[i];
        if ((c >= '0' && c <= '9') || c == '-' || c == '+' || c == 'e')
            out[kept++] = c;
        else if (kept == 0 || out[kept - 1] != '.')
            out[kept++] = '.';
    }
    return kept;
}

static bool write_node(sac_atomic_file *file, const sac_tree *tree, uint32_t id)
{
    const sac_sphere_block *s = &tree->spheres[id / SAC_LANES];
    uint32_t lane = id % SAC_LANES;
    const float numbers[4] = {s->x[lane], s->y[lane], s->z[lane], s->r[lane]};
    char line[160];
    size_t length = 0;
    for (int i = 0; i < 4; i++) {
        length += print_float(line + length, 32, numbers[i]);
        line[length++] = i < 3 ? ' ' : '\n';
    }
    return sac_atomic_file_write(file, line, length);
}

sac_result sac_tree_export_sph(const sac_tree *tree, const char *path, sac_error *error)
{
    SAC_NEED(error, tree, path);
    sac_result result = sac_tree_validate(tree, error);
    uint64_t total = result == SAC_OK ? sac_sph_nodes(tree->depth + 1, tree->branch) : 0;
    if (total > SAC_SPH_MOST_NODES)
        result = sac_error_set(error, SAC_ERROR_LIMIT, "bake with fewer levels or a smaller branching factor",
                               "%u levels of %u children are a text of %llu lines, the limit is %u",
                               tree->depth + 1, tree->branch, (unsigned long long)total, SAC_SPH_MOST_NODES);
    if (result != SAC_OK) {
        sac_error_in_file(error, path);
        return result;
    }
    sac_error local;
    sac_atomic_file *file = sac_atomic_file_create(path, &local);
    if (!file) {
        if (error) *error = local;
        return local.code;
    }
    static const char unused[] = "0 0 0 -1\n";
    char head[32];
    int length = snprintf(head, sizeof head, "%u %u\n", tree->depth + 1, tree->branch);
    bool going = sac_atomic_file_write(file, head, (size_t)length);

    /* Ids are breadth first, so the array indices only grow and the gaps between them are unused nodes. */
    uint64_t next = 0;
    for (uint32_t id = 0; going && id < tree->block_count * SAC_LANES; id++) {
        if (!sac_tree_has(tree, id)) continue;
        for (uint64_t index = index_in_array(tree, id); going && next < index; next++)
            going = sac_atomic_file_write(file, unused, sizeof unused - 1);
        going = going && write_node(file, tree, id);
        next++;
    }
    for (; going && next < total; next++) going = sac_atomic_file_write(file, unused, sizeof unused - 1);
    return sac_atomic_file_commit(&file, error);
}
