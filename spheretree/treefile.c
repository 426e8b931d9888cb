/* The baked file: the header and the arrays as they are in memory. See treefile_internal.h for the bytes. */
#include "spheretree/treefile_internal.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "spheretree/atomic_file_internal.h"
#include "spheretree/tree_internal.h"

typedef sac_treefile_header header;

#define HEADER_SIZE sizeof(header)
#define BAKE_AGAIN "bake the tree again or fetch a good copy"

/* The arrays are used as they lie in the file, so the machine must count bytes the same way. */
static bool host_fits(sac_error *error)
{
    const uint32_t order = SAC_TREEFILE_BYTE_ORDER;
    unsigned char first;
    memcpy(&first, &order, 1);
    if (first == 4) return true;
    sac_error_set(error, SAC_ERROR_UNSUPPORTED, "use .sph text files on this machine",
                  "baked trees are little-endian and this machine is not");
    return false;
}

static uint32_t header_crc(const header *h)
{
    header copy = *h;
    copy.header_crc = 0;
    return sac_crc32c(0, &copy, HEADER_SIZE);
}

void sac_treefile_seal(void *bytes, size_t size)
{
    if (size < HEADER_SIZE) return;
    header h;
    memcpy(&h, bytes, HEADER_SIZE);
    h.payload_crc = sac_crc32c(0, (unsigned char *)bytes + HEADER_SIZE, size - HEADER_SIZE);
    h.header_crc = header_crc(&h);
    memcpy(bytes, &h, HEADER_SIZE);
}

/* ---- saving ---- */

static void place_arrays(header *h)
{
    uint64_t blocks = h->block_count;
    h->spheres_at = HEADER_SIZE;
    h->links_at = h->spheres_at + blocks * sizeof(sac_sphere_block);
    h->features_at = h->links_at + blocks * sizeof(sac_link_block);
    h->parents_at = h->features_at + blocks * sizeof(sac_feature_block);
    h->file_size = HEADER_SIZE + sac_tree_storage_size(h->block_count);
}

static void fill_header(header *h, const sac_tree *tree)
{
    memset(h, 0, sizeof *h);
    memcpy(h->magic, SAC_TREEFILE_MAGIC, sizeof h->magic);
    h->version = SAC_TREEFILE_VERSION;
    h->byte_order = SAC_TREEFILE_BYTE_ORDER;
    h->header_size = HEADER_SIZE;
    h->flags = tree->flags, h->method = (uint32_t)tree->method;
    h->branch = tree->branch, h->depth = tree->depth;
    h->blocks_per_node = tree->blocks_per_node, h->block_count = tree->block_count;
    h->node_count = tree->node_count, h->leaf_count = tree->leaf_count;
    memcpy(h->level_block, tree->level_block, (tree->depth + 2) * sizeof h->level_block[0]);
    memcpy(h->level_nodes, tree->level_nodes, (tree->depth + 1) * sizeof h->level_nodes[0]);
    memcpy(h->box, tree->box.low, 3 * sizeof h->box[0]);
    memcpy(h->box + 3, tree->box.high, 3 * sizeof h->box[0]);
    h->volume = tree->mass.volume;
    memcpy(h->centre, tree->mass.centre, sizeof h->centre);
    memcpy(h->inertia, tree->mass.inertia, sizeof h->inertia);
    for (size_t i = 0; i + 1 < sizeof h->name && tree->name[i]; i++) h->name[i] = tree->name[i];
    place_arrays(h);
}

/* Any NaN means an empty lane in memory; in a file there is one way to say it, so that the same tree gives
 * the same bytes. */
static void empty_lane(sac_sphere_block *s, sac_link_block *l, sac_feature_block *f, uint32_t lane)
{
    const uint32_t nan = SAC_TREEFILE_NAN;
    memcpy(&s->x[lane], &nan, sizeof nan);
    memcpy(&s->y[lane], &nan, sizeof nan);
    memcpy(&s->z[lane], &nan, sizeof nan);
    memcpy(&s->r[lane], &nan, sizeof nan);
    l->link[lane] = 0, l->bound[lane] = 0;
    f->gap[lane] = f->px[lane] = f->py[lane] = f->pz[lane] = 0;
    f->nx[lane] = f->ny[lane] = f->nz[lane] = f->cone[lane] = 0;
}

sac_result sac_tree_save_memory(const sac_tree *tree, void **out_bytes, size_t *out_size, sac_error *error)
{
    SAC_NEED(error, tree, out_bytes, out_size);
    *out_bytes = NULL, *out_size = 0;
    if (!host_fits(error)) return SAC_ERROR_UNSUPPORTED;
    sac_result result = sac_tree_validate(tree, error);
    if (result != SAC_OK) return result;
    header h;
    fill_header(&h, tree);
    size_t size = (size_t)h.file_size, blocks = tree->block_count;
    unsigned char *bytes = sac_alloc_zero(1, size);
    if (!bytes)
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a file of %zu bytes", size);

    memcpy(bytes, &h, HEADER_SIZE);
    sac_sphere_block *spheres = (sac_sphere_block *)(bytes + h.spheres_at);
    sac_link_block *links = (sac_link_block *)(bytes + h.links_at);
    sac_feature_block *features = (sac_feature_block *)(bytes + h.features_at);
    memcpy(spheres, tree->spheres, blocks * sizeof *spheres);
    memcpy(links, tree->links, blocks * sizeof *links);
    memcpy(features, tree->features, blocks * sizeof *features);
    memcpy(bytes + h.parents_at, tree->parents, blocks * sizeof(uint32_t));
    for (size_t b = 0; b < blocks; b++)
        for (uint32_t lane = 0; lane < SAC_LANES; lane++)
            if (spheres[b].r[lane] != spheres[b].r[lane])
                empty_lane(&spheres[b], &links[b], &features[b], lane);
    sac_treefile_seal(bytes, size);
    *out_bytes = bytes, *out_size = size;
    return SAC_OK;
}

sac_result sac_tree_save(const sac_tree *tree, const char *path, sac_error *error)
{
    SAC_NEED(error, tree, path);
    void *bytes;
    size_t size;
    sac_result result = sac_tree_save_memory(tree, &bytes, &size, error);
    if (result != SAC_OK) {
        sac_error_in_file(error, path);
        return result;
    }
    sac_error local;
    sac_atomic_file *file = sac_atomic_file_create(path, &local);
    if (file) {
        sac_atomic_file_write(file, bytes, size);
        result = sac_atomic_file_commit(&file, &local);
    } else {
        result = local.code;
    }
    sac_free(bytes, 1, size);
    if (result != SAC_OK && error) *error = local;
    return result;
}

/* ---- loading ---- */

static sac_result fault(sac_error *error, sac_result code, uint64_t byte, const char *remedy,
                        const char *what)
{
    sac_error_set(error, code, remedy, "%s", what);
    sac_error_at_byte(error, (int64_t)byte);
    return code;
}

#define HEADER_FAULT(field, what) fault(error, SAC_ERROR_CORRUPT, offsetof(header, field), BAKE_AGAIN, what)

static sac_result truncated(sac_error *error, uint64_t size, uint64_t wanted)
{
    sac_error_set(error, SAC_ERROR_CORRUPT, "copy the file again or bake the tree again",
                  "the file ends here, of %llu bytes", (unsigned long long)wanted);
    sac_error_at_byte(error, (int64_t)size);
    return SAC_ERROR_CORRUPT;
}

/* Is this one of our files, whole, and of a version we know? `size` is that of the whole file. */
static sac_result check_identity(const header *h, uint64_t size, sac_error *error)
{
    if (size == 0)
        return fault(error, SAC_ERROR_FORMAT, 0, "give a file made by saccade bake", "the file is empty");
    if (memcmp(h->magic, SAC_TREEFILE_MAGIC, size < sizeof h->magic ? (size_t)size : sizeof h->magic) != 0)
        return fault(error, SAC_ERROR_FORMAT, 0, "give a file made by saccade bake, or a .sph",
                     "this is not a baked tree");
    if (size < HEADER_SIZE) return truncated(error, size, HEADER_SIZE);
    if (h->byte_order != SAC_TREEFILE_BYTE_ORDER)
        return HEADER_FAULT(byte_order, h->byte_order == 0x04030201u ? "the bytes have been swapped"
                                                                     : "the byte order mark is wrong");
    if (h->version != SAC_TREEFILE_VERSION) {
        sac_error_set(error, SAC_ERROR_VERSION, "use a newer saccade or bake the tree again",
                      "the file is of version %u, this library reads version %u", h->version,
                      SAC_TREEFILE_VERSION);
        sac_error_at_byte(error, offsetof(header, version));
        return SAC_ERROR_VERSION;
    }
    if (h->header_size != HEADER_SIZE) return HEADER_FAULT(header_size, "the header has a wrong size");
    if (h->header_crc != header_crc(h)) return HEADER_FAULT(header_crc, "the header's checksum is wrong");
    return SAC_OK;
}

/* Every byte of the header means what the rest says, or zero. */
static sac_result check_header(const header *h, uint64_t size, sac_error *error)
{
    sac_result result = check_identity(h, size, error);
    if (result != SAC_OK) return result;
    if (h->block_count < 1 || h->block_count > SAC_TREE_MOST_BLOCKS)
        return HEADER_FAULT(block_count, "the number of blocks is impossible");
    header placed = *h;
    place_arrays(&placed);
    if (h->spheres_at != placed.spheres_at || h->links_at != placed.links_at ||
        h->features_at != placed.features_at || h->parents_at != placed.parents_at)
        return HEADER_FAULT(spheres_at, "the arrays are not where the number of blocks puts them");
    if (h->file_size != placed.file_size)
        return HEADER_FAULT(file_size, "the file size does not follow from the number of blocks");
    if (size < h->file_size) return truncated(error, size, h->file_size);
    if (size > h->file_size)
        return fault(error, SAC_ERROR_CORRUPT, h->file_size, BAKE_AGAIN, "there are bytes behind the tree");
    if (h->depth > SAC_TREE_MOST_DEPTH) return HEADER_FAULT(depth, "the tree is too deep");
    for (uint32_t i = h->depth + 2; i < SAC_TREE_MOST_DEPTH + 2; i++)
        if (h->level_block[i] != 0) return HEADER_FAULT(level_block, "there are levels below the last");
    for (uint32_t i = h->depth + 1; i < SAC_TREE_MOST_DEPTH + 1; i++)
        if (h->level_nodes[i] != 0) return HEADER_FAULT(level_nodes, "there are levels below the last");
    if (h->method >= SAC_METHOD_COUNT) return HEADER_FAULT(method, "the method is unknown");
    bool ended = false;
    for (size_t i = 0; i < sizeof h->name; i++) {
        if (ended && h->name[i]) return HEADER_FAULT(name, "there are bytes behind the end of the name");
        ended = ended || !h->name[i];
    }
    if (!ended) return HEADER_FAULT(name, "the name has no end");
    for (size_t i = 0; i < sizeof h->reserved; i++)
        if (h->reserved[i]) return HEADER_FAULT(reserved, "reserved bytes are not zero");
    return SAC_OK;
}

static void tree_from_header(sac_tree *tree, const header *h)
{
    *tree = (sac_tree){.branch = h->branch,
                       .depth = h->depth,
                       .blocks_per_node = h->blocks_per_node,
                       .block_count = h->block_count,
                       .node_count = h->node_count,
                       .leaf_count = h->leaf_count,
                       .flags = h->flags,
                       .method = (sac_method)h->method};
    memcpy(tree->level_block, h->level_block, sizeof tree->level_block);
    memcpy(tree->level_nodes, h->level_nodes, sizeof tree->level_nodes);
    memcpy(tree->box.low, h->box, 3 * sizeof h->box[0]);
    memcpy(tree->box.high, h->box + 3, 3 * sizeof h->box[0]);
    tree->mass.volume = h->volume;
    memcpy(tree->mass.centre, h->centre, sizeof h->centre);
    memcpy(tree->mass.inertia, h->inertia, sizeof h->inertia);
    memcpy(tree->name, h->name, sizeof tree->name);
}

static uint64_t byte_of_node(const sac_tree *tree, uint32_t node)
{
    const float *x = &tree->spheres[node / SAC_LANES].x[node % SAC_LANES];
    return (uint64_t)((const unsigned char *)x - (const unsigned char *)tree->storage);
}

static bool bits_are(const void *value, uint32_t wanted)
{
    uint32_t bits;
    memcpy(&bits, value, sizeof bits);
    return bits == wanted;
}

/* Lanes without a node and the padding of the last array hold what saving puts there. */
static sac_result check_empty_lanes(const sac_tree *tree, sac_error *error)
{
    for (uint32_t b = 0; b < tree->block_count; b++) {
        const sac_sphere_block *s = &tree->spheres[b];
        const sac_link_block *l = &tree->links[b];
        const unsigned char *f = (const unsigned char *)&tree->features[b];
        for (uint32_t k = 0; k < SAC_LANES; k++) {
            if (s->r[k] == s->r[k]) continue;
            bool same = bits_are(&s->x[k], SAC_TREEFILE_NAN) && bits_are(&s->y[k], SAC_TREEFILE_NAN) &&
                        bits_are(&s->z[k], SAC_TREEFILE_NAN) && bits_are(&s->r[k], SAC_TREEFILE_NAN) &&
                        l->link[k] == 0 && bits_are(&l->bound[k], 0);
            for (uint32_t i = 0; i < sizeof(sac_feature_block) / (SAC_LANES * sizeof(float)); i++)
                same = same && bits_are(f + (i * SAC_LANES + k) * sizeof(float), 0);
            if (!same)
                return fault(error, SAC_ERROR_CORRUPT, byte_of_node(tree, b * SAC_LANES + k), BAKE_AGAIN,
                             "a lane without a node is not empty");
        }
    }
    const unsigned char *at = (const unsigned char *)(tree->parents + tree->block_count),
                        *start = tree->storage, *end = start + tree->storage_size;
    for (; at < end; at++)
        if (*at != 0)
            return fault(error, SAC_ERROR_CORRUPT, (uint64_t)(at - start), BAKE_AGAIN,
                         "padding behind the tree is not zero");
    return SAC_OK;
}

/* From a whole file in memory, its header checked, to a tree that owns the memory. On failure the memory
 * stays the caller's. */
static sac_result adopt(void *storage, size_t size, bool mapped, sac_tree **out_tree, sac_error *error)
{
    header h;
    memcpy(&h, storage, HEADER_SIZE);
    /* Once more: between reading the header and the rest the file may have changed. */
    sac_result result = check_header(&h, size, error);
    if (result != SAC_OK) return result;
    if (sac_crc32c(0, (unsigned char *)storage + HEADER_SIZE, size - HEADER_SIZE) != h.payload_crc)
        return fault(error, SAC_ERROR_CORRUPT, HEADER_SIZE, BAKE_AGAIN,
                     "the checksum of the bytes from here to the end is wrong");
    sac_tree *tree = sac_alloc(1, sizeof *tree);
    if (!tree) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a tree");
    tree_from_header(tree, &h);
    tree->storage = storage, tree->storage_size = size, tree->storage_mapped = mapped;
    sac_tree_storage_bind(tree, (unsigned char *)storage + HEADER_SIZE);
    uint32_t node;
    result = sac_tree_find_fault(tree, &node, error);
    if (result != SAC_OK && node != SAC_NO_NODE) sac_error_at_byte(error, (int64_t)byte_of_node(tree, node));
    if (result != SAC_OK) sac_error_at_byte(error, 0);
    if (result == SAC_OK) result = check_empty_lanes(tree, error);
    if (result != SAC_OK) {
        sac_free(tree, 1, sizeof *tree);
        return result;
    }
    sac_tree_find_fill(tree);
    *out_tree = tree;
    return SAC_OK;
}

sac_result sac_tree_load_memory(const void *bytes, size_t size, sac_tree **out_tree, sac_error *error)
{
    SAC_NEED(error, out_tree);
    *out_tree = NULL;
    if (size) SAC_NEED(error, bytes);
    if (!host_fits(error)) return SAC_ERROR_UNSUPPORTED;
    header h = {0};
    if (size > 0) memcpy(&h, bytes, size < HEADER_SIZE ? size : HEADER_SIZE);
    sac_result result = check_header(&h, size, error);
    if (result != SAC_OK) return result;
    void *storage = sac_alloc(1, size);
    if (!storage) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %zu bytes", size);
    memcpy(storage, bytes, size);
    result = adopt(storage, size, false, out_tree, error);
    if (result != SAC_OK) sac_free(storage, 1, size);
    return result;
}

/* Reads up to `size` bytes at the file position; fewer only at the end. False: errno says why. */
static bool read_up_to(int fd, void *bytes, size_t size, size_t *out_done)
{
    *out_done = 0;
    while (*out_done < size) {
        size_t rest = size - *out_done;
        ssize_t got = read(fd, (unsigned char *)bytes + *out_done, rest < (1u << 30) ? rest : (1u << 30));
        if (got == 0) break;
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return false;
        *out_done += (size_t)got;
    }
    return true;
}

static sac_result read_storage(int fd, const char *path, uint64_t size, void **out_storage, sac_error *error)
{
    void *storage = sac_alloc(1, (size_t)size);
    size_t done;
    if (!storage)
        return sac_error_set(error, SAC_ERROR_MEMORY, "close something or use a smaller tree",
                             "no memory for %llu bytes", (unsigned long long)size);
    sac_result result = SAC_OK;
    if (lseek(fd, 0, SEEK_SET) != 0 || !read_up_to(fd, storage, (size_t)size, &done))
        result = sac_file_error(error, path, "read", errno);
    else if (done < size)
        result = truncated(error, done, size);
    if (result == SAC_OK)
        *out_storage = storage;
    else
        sac_free(storage, 1, (size_t)size);
    return result;
}

static sac_result open_tree(const char *path, bool mapped, sac_tree **out_tree, sac_error *error)
{
    *out_tree = NULL;
    if (!host_fits(error)) return SAC_ERROR_UNSUPPORTED;
    uint64_t size;
    sac_error local;
    int fd = sac_file_open(path, &size, &local);
    if (fd < 0) {
        if (error) *error = local;
        return local.code;
    }
    /* The header first: whatever the size of a file that is not ours, it costs us 384 bytes. */
    header h = {0};
    size_t done;
    void *storage = NULL;
    sac_result result = SAC_OK;
    if (!read_up_to(fd, &h, HEADER_SIZE, &done))
        result = sac_file_error(error, path, "read", errno);
    else if ((result = check_header(&h, size, error)) == SAC_OK && size > SIZE_MAX / 2)
        result = sac_error_set(error, SAC_ERROR_LIMIT, NULL, "the file does not fit this machine's memory");
    if (result == SAC_OK && mapped) {
        storage = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (storage == MAP_FAILED) result = sac_file_error(error, path, "map", errno);
    } else if (result == SAC_OK) {
        result = read_storage(fd, path, size, &storage, error);
    }
    close(fd);
    if (result == SAC_OK) {
        result = adopt(storage, (size_t)size, mapped, out_tree, error);
        if (result != SAC_OK && mapped)
            munmap(storage, (size_t)size);
        else if (result != SAC_OK)
            sac_free(storage, 1, (size_t)size);
    }
    if (result != SAC_OK) sac_error_in_file(error, path);
    return result;
}

/* Loading copies, although the file could be used in place: whoever shortens a mapped file kills its readers
 * (SIGBUS), and whoever writes into it changes what was already validated. The copy costs less than the
 * validation that follows; a caller who knows that nobody touches the file can map it. */
sac_result sac_tree_load(const char *path, sac_tree **out_tree, sac_error *error)
{
    SAC_NEED(error, path, out_tree);
    return open_tree(path, false, out_tree, error);
}

sac_result sac_tree_map(const char *path, sac_tree **out_tree, sac_error *error)
{
    SAC_NEED(error, path, out_tree);
    return open_tree(path, true, out_tree, error);
}
