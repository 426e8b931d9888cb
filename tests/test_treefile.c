#define _XOPEN_SOURCE 700 /* mkdtemp, symlink, truncate */
/* The baked file: what is saved comes back, and nothing else comes in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "random_tree.h"
#include "base/crc32c.h"
#include "spheretree/tree_internal.h"
#include "spheretree/treefile_internal.h"

static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/saccade-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static uint32_t files_in_folder(bool remove_them)
{
    uint32_t count = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.') continue;
        count++;
        if (remove_them) assert_int_equal(remove(in_folder(entry->d_name)), 0);
    }
    closedir(dir);
    return count;
}

static int remove_folder(void **state)
{
    (void)state;
    files_in_folder(true);
    return rmdir(folder);
}

typedef struct image {
    unsigned char *bytes;
    size_t size;
} image;

static image save(const sac_tree *tree)
{
    void *bytes;
    image out;
    assert_int_equal(sac_tree_save_memory(tree, &bytes, &out.size, NULL), SAC_OK);
    out.bytes = bytes;
    return out;
}

static image image_of(uint64_t seed, uint32_t branch, uint32_t depth)
{
    sac_tree *tree = random_tree(seed, branch, depth, false);
    assert_non_null(tree);
    image out = save(tree);
    sac_tree_destroy(&tree);
    return out;
}

static void release(image *i)
{
    sac_free(i->bytes, 1, i->size);
    *i = (image){0};
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static image read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    image out = {.size = (size_t)ftell(file)};
    rewind(file);
    out.bytes = sac_alloc(1, out.size);
    assert_int_equal(fread(out.bytes, 1, out.size, file), out.size);
    fclose(file);
    return out;
}

static void assert_same(const image *a, const image *b)
{
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->bytes, b->bytes, a->size);
}

/* Every failure says why, where and what to do, and hands out no tree. */
static sac_result load_fails(const void *bytes, size_t size, sac_error *error)
{
    sac_tree *tree = (sac_tree *)1;
    sac_result result = sac_tree_load_memory(bytes, size, &tree, error);
    assert_int_not_equal(result, SAC_OK);
    assert_null(tree);
    assert_int_equal(error->code, result);
    assert_true(error->message[0] && error->remedy[0] && error->byte >= 0);
    return result;
}

static void checksums_agree_with_the_standard_and_each_other(void **state)
{
    (void)state;
    assert_int_equal(sac_crc32c(0, "123456789", 9), 0xe3069283u);
    assert_int_equal(sac_crc32c_portable(0, "123456789", 9), 0xe3069283u);
    unsigned char bytes[300];
    sac_rng rng = sac_rng_seed(7);
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)sac_rng_next(&rng);
    for (size_t start = 0; start < 9; start++)
        for (size_t size = 0; size + start <= sizeof bytes; size += 7) {
            uint32_t whole = sac_crc32c(0, bytes + start, size);
            assert_int_equal(whole, sac_crc32c_portable(0, bytes + start, size));
            uint32_t first = sac_crc32c(0, bytes + start, size / 3);
            assert_int_equal(whole, sac_crc32c(first, bytes + start + size / 3, size - size / 3));
        }
}

static void saved_and_loaded_is_the_same_tree(void **state)
{
    (void)state;
    for (uint32_t branch = 2; branch <= 16; branch++)
        for (uint32_t depth = 0; depth <= 4; depth++) {
            sac_tree *tree = random_tree(branch * 100 + depth, branch, depth, depth < 3), *back[3];
            assert_non_null(tree);
            image first = save(tree);
            const char *path = in_folder("a.sactree");
            assert_int_equal(sac_tree_save(tree, path, NULL), SAC_OK);
            assert_int_equal(sac_tree_load_memory(first.bytes, first.size, &back[0], NULL), SAC_OK);
            assert_int_equal(sac_tree_load(path, &back[1], NULL), SAC_OK);
            assert_int_equal(sac_tree_map(path, &back[2], NULL), SAC_OK);
            assert_true(back[2]->storage_mapped && !back[1]->storage_mapped);
            image file = read_file(path);
            assert_same(&first, &file);
            for (int i = 0; i < 3; i++) {
                sac_tree *b = back[i];
                assert_int_equal((uintptr_t)b->spheres % SAC_CACHE_LINE, 0);
                assert_int_equal(b->node_count, tree->node_count);
                assert_int_equal(b->method, tree->method);
                assert_string_equal(b->name, tree->name);
                assert_memory_equal(&b->mass, &tree->mass, sizeof b->mass);
                assert_memory_equal(&b->box, &tree->box, sizeof b->box);
                assert_memory_equal(b->spheres, tree->spheres, sac_tree_storage_size(tree->block_count));
                image again = save(b);
                assert_same(&first, &again);
                release(&again);
                sac_tree_destroy(&b);
            }
            release(&first);
            release(&file);
            sac_tree_destroy(&tree);
        }
}

static void a_mapped_tree_survives_saving_over_its_file(void **state)
{
    (void)state;
    const char *path = in_folder("m.sactree");
    sac_tree *a = random_tree(1, 8, 3, true), *b = random_tree(2, 3, 2, true), *mapped;
    assert_int_equal(sac_tree_save(a, path, NULL), SAC_OK);
    assert_int_equal(sac_tree_map(path, &mapped, NULL), SAC_OK);
    assert_int_equal(sac_tree_save(b, path, NULL), SAC_OK);
    assert_int_equal(unlink(path), 0);
    image before = save(a), after = save(mapped);
    assert_same(&before, &after);
    release(&before);
    release(&after);
    sac_tree_destroy(&a);
    sac_tree_destroy(&b);
    sac_tree_destroy(&mapped);
}

static void any_nan_and_any_rubbish_in_empty_lanes_gives_the_same_bytes(void **state)
{
    (void)state;
    sac_tree *tree = random_tree(5, 8, 2, false);
    image clean = save(tree);
    for (uint32_t b = 0; b < tree->block_count; b++)
        for (uint32_t lane = 0; lane < SAC_LANES; lane++) {
            if (sac_tree_has(tree, b * SAC_LANES + lane)) continue;
            sac_sphere_block *s = (sac_sphere_block *)(uintptr_t)&tree->spheres[b];
            s->x[lane] = -NAN, s->r[lane] = nanf("77");
            ((sac_link_block *)(uintptr_t)&tree->links[b])->bound[lane] = 3;
            ((sac_feature_block *)(uintptr_t)&tree->features[b])->cone[lane] = NAN;
        }
    memset(tree->name + strlen(tree->name) + 1, 'x', sizeof tree->name - strlen(tree->name) - 1);
    image dirty = save(tree);
    assert_same(&clean, &dirty);
    release(&clean);
    release(&dirty);
    sac_tree_destroy(&tree);
}

static void every_truncation_is_found(void **state)
{
    (void)state;
    image whole = image_of(3, 4, 2);
    for (size_t size = 0; size < whole.size; size++) {
        unsigned char *cut = malloc(size ? size : 1); /* exact, so that ASan sees a byte too many */
        memcpy(cut, whole.bytes, size);
        sac_error error;
        sac_result result = load_fails(cut, size, &error);
        assert_int_equal(result, size ? SAC_ERROR_CORRUPT : SAC_ERROR_FORMAT);
        assert_int_equal(error.byte, size);
        free(cut);
    }
    unsigned char *longer = malloc(whole.size + 1);
    memcpy(longer, whole.bytes, whole.size);
    longer[whole.size] = 0;
    sac_error error;
    load_fails(longer, whole.size + 1, &error);
    assert_int_equal(error.byte, whole.size);
    free(longer);
    release(&whole);
}

static void every_flipped_bit_is_found(void **state)
{
    (void)state;
    image whole = image_of(4, 2, 2);
    for (size_t bit = 0; bit < whole.size * 8; bit++) {
        sac_error error;
        whole.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        load_fails(whole.bytes, whole.size, &error);
        whole.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    release(&whole);
}

/* With the checksums made right again a flip may give another valid tree (a centre moved a little), but then
 * it is exactly the tree the bytes say. */
static void a_forged_flip_is_refused_or_means_what_it_says(void **state)
{
    (void)state;
    image whole = image_of(4, 3, 2), forged = {malloc(whole.size), whole.size};
    uint32_t taken = 0;
    for (size_t bit = 0; bit < whole.size * 8; bit++) {
        memcpy(forged.bytes, whole.bytes, whole.size);
        forged.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        sac_treefile_seal(forged.bytes, forged.size);
        sac_tree *tree;
        if (sac_tree_load_memory(forged.bytes, forged.size, &tree, NULL) != SAC_OK) continue;
        taken++;
        image again = save(tree);
        assert_same(&forged, &again);
        release(&again);
        sac_tree_destroy(&tree);
    }
    /* Header numbers that are no geometry, and low bits of centres: some must pass, most must not. */
    assert_true(taken > 100 && taken < whole.size * 4);
    free(forged.bytes);
    release(&whole);
}

/* ---- forgeries with right checksums ---- */

typedef struct forgery {
    sac_treefile_header *h;
    sac_sphere_block *spheres;
    sac_link_block *links;
    sac_feature_block *features;
    uint32_t *parents;
} forgery;

static forgery open_forgery(image *i)
{
    forgery f = {.h = (sac_treefile_header *)i->bytes};
    f.spheres = (sac_sphere_block *)(i->bytes + f.h->spheres_at);
    f.links = (sac_link_block *)(i->bytes + f.h->links_at);
    f.features = (sac_feature_block *)(i->bytes + f.h->features_at);
    f.parents = (uint32_t *)(i->bytes + f.h->parents_at);
    return f;
}

#define FORGE(wanted, ...)                                           \
    do {                                                             \
        image forged_ = image_of(11, 4, 3);                          \
        forgery f = open_forgery(&forged_);                          \
        sac_error error_;                                            \
        __VA_ARGS__;                                                 \
        sac_treefile_seal(forged_.bytes, forged_.size);              \
        load_fails(forged_.bytes, forged_.size, &error_);            \
        if (error_.code != (wanted)) fail_msg("%s", error_.message); \
        release(&forged_);                                           \
    } while (0)

static void forged_headers_are_refused(void **state)
{
    (void)state;
    FORGE(SAC_ERROR_FORMAT, f.h->magic[0] = 'Z');
    FORGE(SAC_ERROR_VERSION, f.h->version = 2);
    FORGE(SAC_ERROR_VERSION, f.h->version = 0);
    FORGE(SAC_ERROR_CORRUPT, f.h->byte_order = 0x04030201u);
    FORGE(SAC_ERROR_CORRUPT, f.h->header_size = 448);
    FORGE(SAC_ERROR_CORRUPT, f.h->file_size++);
    FORGE(SAC_ERROR_CORRUPT, f.h->file_size = UINT64_MAX);
    FORGE(SAC_ERROR_CORRUPT, f.h->block_count = 0);
    FORGE(SAC_ERROR_CORRUPT, f.h->block_count = UINT32_MAX);
    FORGE(SAC_ERROR_CORRUPT, f.h->block_count++);
    /* A block count whose size wraps to the same in 32 bits. */
    FORGE(SAC_ERROR_CORRUPT, f.h->block_count += 1u << 30);
    FORGE(SAC_ERROR_CORRUPT, f.h->links_at += 64);
    FORGE(SAC_ERROR_CORRUPT, f.h->spheres_at = 0);
    FORGE(SAC_ERROR_CORRUPT, f.h->flags |= 8);
    FORGE(SAC_ERROR_CORRUPT, f.h->flags |= SAC_TREE_NESTED);
    FORGE(SAC_ERROR_CORRUPT, f.h->method = SAC_METHOD_COUNT);
    FORGE(SAC_ERROR_CORRUPT, f.h->branch = 1);
    FORGE(SAC_ERROR_CORRUPT, f.h->branch = 3);
    FORGE(SAC_ERROR_CORRUPT, f.h->branch = 17);
    FORGE(SAC_ERROR_CORRUPT, f.h->depth = 0);
    FORGE(SAC_ERROR_CORRUPT, f.h->depth = 4);
    FORGE(SAC_ERROR_CORRUPT, f.h->depth = UINT32_MAX);
    FORGE(SAC_ERROR_CORRUPT, f.h->blocks_per_node = 2);
    FORGE(SAC_ERROR_CORRUPT, f.h->node_count++);
    FORGE(SAC_ERROR_CORRUPT, f.h->leaf_count--);
    FORGE(SAC_ERROR_CORRUPT, f.h->level_block[2]++);
    FORGE(SAC_ERROR_CORRUPT, f.h->level_block[2] = UINT32_MAX);
    FORGE(SAC_ERROR_CORRUPT, f.h->level_block[13] = 1);
    FORGE(SAC_ERROR_CORRUPT, f.h->level_nodes[1]++);
    FORGE(SAC_ERROR_CORRUPT, f.h->level_nodes[12] = 1);
    FORGE(SAC_ERROR_CORRUPT, f.h->box[0] = NAN);
    FORGE(SAC_ERROR_CORRUPT, f.h->box[0] = 5);
    FORGE(SAC_ERROR_CORRUPT, f.h->volume = -1);
    FORGE(SAC_ERROR_CORRUPT, f.h->centre[1] = INFINITY);
    FORGE(SAC_ERROR_CORRUPT, f.h->inertia[5] = NAN);
    FORGE(SAC_ERROR_CORRUPT, memset(f.h->name, 'a', 64));
    FORGE(SAC_ERROR_CORRUPT, f.h->name[63] = 'a');
    FORGE(SAC_ERROR_CORRUPT, f.h->reserved[47] = 1);
}

static void forged_nodes_are_refused(void **state)
{
    (void)state;
    FORGE(SAC_ERROR_CORRUPT, f.spheres[0].x[0] = NAN);
    FORGE(SAC_ERROR_CORRUPT, f.spheres[1].y[0] = INFINITY);
    FORGE(SAC_ERROR_CORRUPT, f.spheres[1].r[0] = -1);
    FORGE(SAC_ERROR_CORRUPT, f.spheres[1].r[0] = 1e30f);
    FORGE(SAC_ERROR_CORRUPT, f.spheres[0].r[0] = NAN);
    FORGE(SAC_ERROR_CORRUPT,
          f.spheres[0].x[1] = f.spheres[0].y[1] = f.spheres[0].z[1] = f.spheres[0].r[1] = 0);
    FORGE(SAC_ERROR_CORRUPT, f.spheres[0].x[1] = -NAN);
    FORGE(SAC_ERROR_CORRUPT, f.links[0].bound[1] = 1);
    FORGE(SAC_ERROR_CORRUPT, f.features[0].nz[7] = 1);
    FORGE(SAC_ERROR_CORRUPT, f.features[0].gap[0] = NAN);
    FORGE(SAC_ERROR_CORRUPT, f.features[0].px[0] = INFINITY);
    FORGE(SAC_ERROR_CORRUPT, f.features[0].nx[0] = 7);
    FORGE(SAC_ERROR_CORRUPT, f.features[0].cone[0] = 4);
    FORGE(SAC_ERROR_CORRUPT, f.links[0].bound[0] *= 0.5f);
    FORGE(SAC_ERROR_CORRUPT, f.links[0].bound[0] = INFINITY);
    FORGE(SAC_ERROR_CORRUPT, f.links[0].link[0] = 0);
    FORGE(SAC_ERROR_CORRUPT, f.links[0].link[0] = 2);
    FORGE(SAC_ERROR_CORRUPT, f.links[0].link[0] = UINT32_MAX);
    FORGE(SAC_ERROR_CORRUPT, f.links[1].link[0] = 1);
    FORGE(SAC_ERROR_CORRUPT, f.links[1].link[0] = SAC_LINK_LEAF);
    FORGE(SAC_ERROR_CORRUPT, f.parents[0] = 1);
    FORGE(SAC_ERROR_CORRUPT, f.parents[1] = 8);
    FORGE(SAC_ERROR_CORRUPT, f.parents[2] = UINT32_MAX);
    FORGE(SAC_ERROR_CORRUPT, f.parents[f.h->block_count] = 1); /* padding: 4 * 3 levels never fill a line */
}

static void the_error_points_at_the_bad_node(void **state)
{
    (void)state;
    sac_tree *tree = random_tree(11, 4, 2, true);
    image whole = save(tree);
    sac_tree_destroy(&tree);
    forgery f = open_forgery(&whole);
    f.features[1].gap[1] = -1;
    sac_treefile_seal(whole.bytes, whole.size);
    sac_error error;
    load_fails(whole.bytes, whole.size, &error);
    assert_int_equal(error.byte, sizeof(sac_treefile_header) + sizeof(sac_sphere_block) + sizeof(float));
    assert_non_null(strstr(error.message, "node 9"));
    release(&whole);
}

/* The root claims to be a leaf, and a node of level 1 names its own block as its children: every count adds
 * up, and a descent would never end. */
static void a_cycle_is_refused(void **state)
{
    (void)state;
    sac_draft draft = {0};
    const uint32_t parents[] = {SAC_DRAFT_ROOT, 0, 0, 1};
    for (int i = 0; i < 4; i++) {
        sac_draft_node node = {.radius = 1, .gap = 1, .parent = parents[i]};
        assert_true(sac_array_push(&draft.nodes, node));
    }
    sac_tree like = {.branch = 2}, *tree;
    assert_int_equal(sac_draft_assemble(&draft, &like, &tree, NULL), SAC_OK);
    sac_array_fini(&draft.nodes);
    tree->flags = 0;
    image whole = save(tree);
    sac_tree_destroy(&tree);
    forgery f = open_forgery(&whole);
    f.links[0].link[0] = SAC_LINK_LEAF;
    f.links[1].link[0] = 1, f.parents[1] = 8;
    f.links[1].link[1] = 2, f.parents[2] = 9, f.links[1].bound[1] = 1;
    sac_treefile_seal(whole.bytes, whole.size);
    sac_error error;
    load_fails(whole.bytes, whole.size, &error);
    release(&whole);
}

/* ---- files ---- */

static void things_that_are_no_trees_are_named(void **state)
{
    (void)state;
    sac_tree *tree;
    sac_error error;
    char text[600];
    assert_int_equal(sac_tree_load(in_folder("missing"), &tree, &error), SAC_ERROR_IO);
    assert_non_null(strstr(sac_error_text(&error, text, sizeof text), "missing"));
    assert_int_equal(sac_tree_load(folder, &tree, &error), SAC_ERROR_IO);
    assert_non_null(strstr(error.message, "directory"));
    assert_int_equal(sac_tree_load("/dev/zero", &tree, &error), SAC_ERROR_IO);
    assert_int_equal(sac_tree_load("/dev/zero", &tree, NULL), SAC_ERROR_IO);

    write_file(in_folder("empty"), "", 0);
    assert_int_equal(sac_tree_load(in_folder("empty"), &tree, &error), SAC_ERROR_FORMAT);
    write_file(in_folder("text"), "3 8\n0 0 0 1\n", 12);
    assert_int_equal(sac_tree_load(in_folder("text"), &tree, &error), SAC_ERROR_FORMAT);
    assert_null(tree);

    /* Nobody writes to this pipe; waiting for it would hang. */
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    assert_int_equal(sac_tree_load(in_folder("pipe"), &tree, &error), SAC_ERROR_IO);

    /* A hole of a terabyte, and one behind a header that is ours. */
    write_file(in_folder("sparse"), "", 0);
    if (truncate(in_folder("sparse"), (off_t)1 << 40) == 0) {
        assert_int_equal(sac_tree_load(in_folder("sparse"), &tree, &error), SAC_ERROR_FORMAT);
        image whole = image_of(3, 4, 2);
        write_file(in_folder("sparse"), whole.bytes, whole.size);
        assert_int_equal(truncate(in_folder("sparse"), (off_t)1 << 40), 0);
        assert_int_equal(sac_tree_load(in_folder("sparse"), &tree, &error), SAC_ERROR_CORRUPT);
        assert_int_equal(sac_tree_map(in_folder("sparse"), &tree, &error), SAC_ERROR_CORRUPT);
        assert_int_equal(error.byte, whole.size);
        release(&whole);
    }
    files_in_folder(true);
}

static void a_damaged_file_is_named(void **state)
{
    (void)state;
    image whole = image_of(3, 4, 2);
    whole.bytes[700] ^= 1;
    write_file(in_folder("bad.sactree"), whole.bytes, whole.size);
    sac_tree *tree;
    for (int i = 0; i < 2; i++) {
        sac_error error;
        char text[600];
        assert_int_equal((i ? sac_tree_map : sac_tree_load)(in_folder("bad.sactree"), &tree, &error),
                         SAC_ERROR_CORRUPT);
        assert_null(tree);
        assert_non_null(strstr(sac_error_text(&error, text, sizeof text), "bad.sactree: byte 384: "));
    }
    release(&whole);
    files_in_folder(true);
}

static void a_failing_write_leaves_the_old_file(void **state)
{
    (void)state;
    const char *path = in_folder("keep.sactree");
    sac_tree *tree = random_tree(1, 8, 3, true), *other = random_tree(2, 8, 4, false);
    assert_int_equal(sac_tree_save(tree, path, NULL), SAC_OK);
    image before = read_file(path);
    sac_error error;

    /* The disk is full after a few blocks, played by a limit on file sizes. */
    struct rlimit old, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old, small.rlim_cur = 4096;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    sac_result result = sac_tree_save(other, path, &error);
    sac_result quiet = sac_tree_save(other, path, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(result, SAC_ERROR_IO);
    assert_int_equal(quiet, SAC_ERROR_IO);
    assert_string_equal(error.file, path);
    assert_non_null(strstr(error.remedy, "space"));

    image after = read_file(path);
    assert_same(&before, &after);
    assert_int_equal(files_in_folder(false), 1);

    assert_int_equal(sac_tree_save(tree, "/dev/full", &error), SAC_ERROR_IO);
    assert_int_equal(access("/dev/full", W_OK), 0);
    assert_int_equal(sac_tree_save(tree, folder, &error), SAC_ERROR_IO);
    assert_int_equal(sac_tree_save(tree, in_folder("no/such/folder"), &error), SAC_ERROR_IO);
    assert_int_equal(sac_tree_save(tree, in_folder("keep.sactree/x"), &error), SAC_ERROR_IO);
    assert_int_equal(sac_tree_save(tree, "", &error), SAC_ERROR_ARGUMENT);
    if (geteuid() != 0) { /* nothing is read-only for root */
        chmod(folder, 0500);
        result = sac_tree_save(other, in_folder("keep.sactree"), &error);
        chmod(folder, 0700);
        assert_int_equal(result, SAC_ERROR_IO);
    }
    assert_int_equal(files_in_folder(true), 1);
    release(&before);
    release(&after);
    sac_tree_destroy(&tree);
    sac_tree_destroy(&other);
}

static void links_and_permissions_stay(void **state)
{
    (void)state;
    sac_tree *tree = random_tree(1, 8, 1, true);
    write_file(in_folder("real"), "old", 3);
    assert_int_equal(chmod(in_folder("real"), 0640), 0);
    assert_int_equal(symlink("real", in_folder("link")), 0);
    assert_int_equal(sac_tree_save(tree, in_folder("link"), NULL), SAC_OK);
    struct stat info;
    assert_int_equal(lstat(in_folder("link"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(lstat(in_folder("real"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    sac_tree *back;
    assert_int_equal(sac_tree_load(in_folder("link"), &back, NULL), SAC_OK);
    sac_tree_destroy(&back);
    sac_tree_destroy(&tree);
    files_in_folder(true);
}

static void a_broken_tree_is_not_saved(void **state)
{
    (void)state;
    sac_tree *tree = random_tree(1, 8, 2, true);
    ((sac_link_block *)(uintptr_t)tree->links)[0].link[0] = 2;
    sac_error error;
    assert_int_equal(sac_tree_save(tree, in_folder("x"), &error), SAC_ERROR_CORRUPT);
    assert_int_equal(files_in_folder(false), 0);
    sac_tree_destroy(&tree);
}

/* ---- out of memory at every allocation ---- */

static long allocations_left, allocations_open;

static void *short_allocate(size_t size, size_t alignment, void *user)
{
    (void)user;
    if (allocations_left-- <= 0) return NULL;
    allocations_open++;
    return aligned_alloc(alignment, size);
}

static void short_release(void *memory, size_t size, void *user)
{
    (void)size, (void)user;
    allocations_open--;
    free(memory);
}

static void running_out_of_memory_is_an_error_and_leaks_nothing(void **state)
{
    (void)state;
    const sac_allocator allocator = {short_allocate, short_release, NULL};
    sac_set_allocator(&allocator);
    allocations_left = 1000000;
    sac_tree *tree = random_tree(1, 8, 3, false);
    long base = allocations_open;
    bool saved = false, loaded = false;
    for (long room = 0; room < 8; room++) {
        allocations_left = room;
        sac_error error;
        sac_result result = sac_tree_save(tree, in_folder("m"), &error);
        assert_true(result == SAC_OK || error.code == SAC_ERROR_MEMORY);
        saved = saved || result == SAC_OK;
        assert_int_equal(allocations_open, base);
    }
    for (long room = 0; room < 8; room++) {
        allocations_left = room;
        sac_tree *back;
        sac_error error;
        sac_result result = sac_tree_load(in_folder("m"), &back, &error);
        assert_true(result == SAC_OK || error.code == SAC_ERROR_MEMORY);
        loaded = loaded || result == SAC_OK;
        sac_tree_destroy(&back);
        assert_int_equal(allocations_open, base);
    }
    assert_true(saved && loaded);
    sac_tree_destroy(&tree);
    assert_int_equal(allocations_open, 0);
    sac_set_allocator(NULL);
    files_in_folder(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksums_agree_with_the_standard_and_each_other),
        cmocka_unit_test(saved_and_loaded_is_the_same_tree),
        cmocka_unit_test(a_mapped_tree_survives_saving_over_its_file),
        cmocka_unit_test(any_nan_and_any_rubbish_in_empty_lanes_gives_the_same_bytes),
        cmocka_unit_test(every_truncation_is_found),
        cmocka_unit_test(every_flipped_bit_is_found),
        cmocka_unit_test(a_forged_flip_is_refused_or_means_what_it_says),
        cmocka_unit_test(forged_headers_are_refused),
        cmocka_unit_test(forged_nodes_are_refused),
        cmocka_unit_test(the_error_points_at_the_bad_node),
        cmocka_unit_test(a_cycle_is_refused),
        cmocka_unit_test(things_that_are_no_trees_are_named),
        cmocka_unit_test(a_damaged_file_is_named),
        cmocka_unit_test(a_failing_write_leaves_the_old_file),
        cmocka_unit_test(links_and_permissions_stay),
        cmocka_unit_test(a_broken_tree_is_not_saved),
        cmocka_unit_test(running_out_of_memory_is_an_error_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
