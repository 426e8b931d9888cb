/* Writes the seeds of the tree fuzzers: make_seeds FOLDER. Run it after the baked format changes. */
#include <stdio.h>
#include <sys/stat.h>

#include "../random_tree.h"
#include "spheretree/treefile.h"

int main(int count, char **arguments)
{
    if (count != 2) return fprintf(stderr, "make_seeds FOLDER\n"), 2;
    const struct {
        uint32_t branch, depth;
        bool full;
    } kinds[] = {{2, 0, true},  {2, 1, true},  {3, 3, false}, {8, 1, true},
                 {8, 2, false}, {16, 1, true}, {9, 2, false}};
    for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char path[600];
        sac_error error;
        sac_tree *tree = random_tree(i, kinds[i].branch, kinds[i].depth, kinds[i].full);
        if (!tree) return 1;
        snprintf(path, sizeof path, "%s/treefile/random-%u.sactree", arguments[1], i);
        sac_result result = sac_tree_save(tree, path, &error);
        snprintf(path, sizeof path, "%s/sph/random-%u.sph", arguments[1], i);
        if (result == SAC_OK) result = sac_tree_export_sph(tree, path, &error);
        sac_tree_destroy(&tree);
        char text[600];
        if (result != SAC_OK) return fprintf(stderr, "%s\n", sac_error_text(&error, text, sizeof text)), 1;
    }
    return 0;
}
