/* Writes the seeds of the tree and recording fuzzers: make_seeds FOLDER. Run it after a format changes. */
#include <stdio.h>

#include "../random_tree.h"
#include "../record_play.h"
#include "spheretree/treefile_internal.h"

/* Level 1 names its own block as its children although all counts add up: the root says it is a leaf. */
static bool write_cycle(const char *folder)
{
    sac_draft draft = {0};
    const uint32_t parents[] = {SAC_DRAFT_ROOT, 0, 0, 1};
    for (int i = 0; i < 4; i++) {
        sac_draft_node node = {.radius = 1, .gap = 1, .parent = parents[i]};
        if (!sac_array_push(&draft.nodes, node)) return false;
    }
    sac_tree like = {.branch = 2}, *tree;
    void *bytes;
    size_t size;
    if (sac_draft_assemble(&draft, &like, &tree, NULL) != SAC_OK) return false;
    sac_array_fini(&draft.nodes);
    if (sac_tree_save_memory(tree, &bytes, &size, NULL) != SAC_OK) return false;
    sac_tree_destroy(&tree);
    sac_treefile_header *h = bytes;
    sac_link_block *links = (sac_link_block *)((char *)bytes + h->links_at);
    uint32_t *above = (uint32_t *)((char *)bytes + h->parents_at);
    links[0].link[0] = SAC_LINK_LEAF;
    links[1].link[0] = 1, above[1] = 8;
    links[1].link[1] = 2, above[2] = 9;
    sac_treefile_seal(bytes, size);
    char path[600];
    snprintf(path, sizeof path, "%s/treefile/cycle.sactree", folder);
    FILE *file = fopen(path, "wb");
    bool written = file && fwrite(bytes, 1, size, file) == size;
    if (file) written = fclose(file) == 0 && written;
    sac_free(bytes, 1, size);
    return written;
}

/* Short runs in small worlds: nothing, a few frames of everything, and frames cut by a clock. */
static bool write_recordings(const char *folder)
{
    const struct {
        const char *name;
        uint32_t bodies, frames, events;
        uint64_t budget;
    } runs[] = {{"empty", 0, 0, 0, 0},
                {"still", 4, 2, 0, 0},
                {"busy", 8, 12, 8, 0},
                {"cut", 12, 8, 2, 20000},
                {"events", 6, 4, 40, 100000}};
    bool good = true;
    for (uint32_t i = 0; good && i < sizeof runs / sizeof *runs; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/record/%s.sacrec", folder, runs[i].name);
        sac_world_def def = sac_default_world_def();
        play p = {.rng = sac_rng_seed(i + 1)};
        def.bodies = 16, def.pairs = 64, def.agenda.pairs = 64, def.agenda.entries = 4096;
        def.solver.bodies = 16, def.solver.contacts = 32, def.solver.grabs = 2;
        def.clock = sac_clock_caller(play_clock, &p);
        good = sac_world_create(&def, &p.world, NULL) == SAC_OK &&
               sac_record_start(p.world, path, NULL) == SAC_OK;
        if (good && runs[i].bodies) good = play_begin(&p, runs[i].bodies);
        for (uint32_t k = 0; good && k < runs[i].frames; k++)
            good = play_frame(&p, runs[i].events, runs[i].budget);
        good = good && sac_record_stop(p.world, NULL) == SAC_OK;
        play_end(&p);
    }
    return good;
}

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
    return write_cycle(arguments[1]) && write_recordings(arguments[1]) ? 0 : 1;
}
