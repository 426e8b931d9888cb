/* Reading the full-array text layout. */
#include "spheretree/treefile.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "spheretree/atomic_file_internal.h"
#include "spheretree/build_internal.h"
#include "spheretree/sph_internal.h"
#include "spheretree/tree_internal.h"

enum { LONGEST_LINE = 64 * 1024 };

/* Lines out of a file or out of memory. */
typedef struct reader {
    const char *at, *end; /* text not yet looked at */
    char *buffer;         /* NULL: all text is there from the start */
    int fd;
    bool finished; /* nothing more will come into the buffer */
    int64_t line;  /* number of the line last given out */
    const char *path;
    sac_error *error;
} reader;

typedef enum next_line { LINE_GOOD, LINE_END, LINE_FAILED } next_line;

static sac_result fail(reader *r, sac_result code, const char *remedy, const char *what)
{
    sac_error_set(r->error, code, remedy, "%s", what);
    sac_error_at_line(r->error, r->line);
    return code;
}

/* More text behind what is left; false when it failed. */
static bool refill(reader *r)
{
    size_t left = (size_t)(r->end - r->at);
    memmove(r->buffer, r->at, left);
    r->at = r->buffer;
    r->end = r->buffer + left;
    while (left < LONGEST_LINE) {
        ssize_t got = read(r->fd, r->buffer + left, LONGEST_LINE - left);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            sac_file_error(r->error, r->path, "read", errno);
            return false;
        }
        r->end += got;
        r->finished = got == 0;
        return true;
    }
    r->line++;
    fail(r, SAC_ERROR_FORMAT, "give a .sph text file", "the line is longer than 64 KiB");
    return false;
}

static next_line read_line(reader *r, const char **out_begin, const char **out_end)
{
    for (;;) {
        size_t left = (size_t)(r->end - r->at);
        const char *newline = left ? memchr(r->at, '\n', left) : NULL;
        if (!newline && r->buffer && !r->finished) {
            if (!refill(r)) return LINE_FAILED;
            continue;
        }
        if (left == 0) return LINE_END;
        *out_begin = r->at;
        *out_end = newline ? newline : r->end;
        r->at = newline ? newline + 1 : r->end;
        r->line++;
        return LINE_GOOD;
    }
}

static const char *skip_blank(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) at++;
    return at;
}

/* The next line that has something on it. */
static next_line read_full_line(reader *r, const char **out_begin, const char **out_end)
{
    next_line kind;
    do {
        kind = read_line(r, out_begin, out_end);
        if (kind == LINE_GOOD) *out_begin = skip_blank(*out_begin, *out_end);
    } while (kind == LINE_GOOD && *out_begin == *out_end);
    return kind;
}

/* A count of the header; large ones stay large instead of overflowing. */
static bool parse_count(const char **at, const char *end, uint32_t *out)
{
    const char *p = skip_blank(*at, end), *start = p;
    uint32_t value = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        value = value < 100000000 ? value * 10 + (uint32_t)(*p - '0') : value;
    if (p == start || (p < end && skip_blank(p, end) == p)) return false;
    *at = p;
    *out = value;
    return true;
}

static sac_result read_header(reader *r, uint32_t *levels, uint32_t *branch)
{
    const char *at, *end;
    next_line kind = read_full_line(r, &at, &end);
    if (kind == LINE_FAILED) return SAC_ERROR_IO;
    if (kind == LINE_END) {
        r->line = 1;
        return fail(r, SAC_ERROR_FORMAT, "give a .sph text file", "the file is empty");
    }
    if (end - at >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0) at += 3; /* some editors' byte order mark */
    if (!parse_count(&at, end, levels) || !parse_count(&at, end, branch))
        return fail(r, SAC_ERROR_FORMAT, "give a .sph text file",
                    "the first line is not two numbers, levels and branch");
    sac_result result = SAC_OK;
    if (*branch < SAC_TREE_LEAST_BRANCH || *branch > SAC_TREE_MOST_BRANCH)
        result = sac_error_set(r->error, SAC_ERROR_LIMIT, "make the tree with another branching factor",
                               "branching factor %u is not 2 to 16", *branch);
    else if (*levels < 1 || *levels > SAC_TREE_MOST_DEPTH + 1)
        result = sac_error_set(r->error, SAC_ERROR_LIMIT, "make the tree with another depth",
                               "%u levels are not 1 to %u", *levels, SAC_TREE_MOST_DEPTH + 1);
    else if (sac_sph_nodes(*levels, *branch) > SAC_SPH_MOST_NODES)
        result = sac_error_set(r->error, SAC_ERROR_LIMIT, "make the tree with fewer levels",
                               "%u levels of %u children are more than %u nodes", *levels, *branch,
                               SAC_SPH_MOST_NODES);
    sac_error_at_line(r->error, result == SAC_OK ? 0 : r->line);
    return result;
}

/* Four numbers, set off by blanks; what follows is somebody's own. */
static sac_result parse_node(reader *r, const char *at, const char *end, float out[4])
{
    for (int i = 0; i < 4; i++) {
        at = skip_blank(at, end);
        if (at == end)
            return fail(r, SAC_ERROR_FORMAT, "write x y z r", "the line has fewer than four numbers");
        sac_number_kind kind = sac_number_parse(&at, end, &out[i]);
        if (kind == SAC_NUMBER_NONE || (at < end && skip_blank(at, end) == at))
            return fail(r, SAC_ERROR_FORMAT, "write x y z r",
                        "there is something that is not a finite number");
        /* The limit a tree has for its spheres. */
        if (kind == SAC_NUMBER_TOO_LARGE || fabsf(out[i]) > 4 * SAC_MESH_MOST_COORDINATE)
            return fail(r, SAC_ERROR_LIMIT, "use larger units", "the number is too large");
    }
    return SAC_OK;
}

static sac_result no_memory(reader *r)
{
    return fail(r, SAC_ERROR_MEMORY, "close something or use a smaller tree", "no memory for the tree");
}

/* Nodes in array order, which has parents first. `places` says where in the draft an array index went. */
static sac_result read_nodes(reader *r, uint32_t levels, uint32_t branch, sac_draft *draft)
{
    sac_array(uint32_t) places = {0};
    uint64_t total = sac_sph_nodes(levels, branch), inner = sac_sph_nodes(levels - 1, branch);
    sac_result result = SAC_OK;
    for (uint64_t i = 0; i < total && result == SAC_OK; i++) {
        const char *at, *end;
        float n[4];
        next_line kind = read_full_line(r, &at, &end);
        if (kind == LINE_FAILED) {
            result = SAC_ERROR_IO;
            break;
        }
        if (kind == LINE_END) {
            result = sac_error_set(r->error, SAC_ERROR_CORRUPT, "copy the file again or make the tree again",
                                   "the file ends before node %llu of %llu", (unsigned long long)i,
                                   (unsigned long long)total);
            sac_error_at_line(r->error, r->line + 1);
            break;
        }
        result = parse_node(r, at, end, n);
        if (result != SAC_OK) break;
        uint32_t place = SAC_DRAFT_ROOT, parent = SAC_DRAFT_ROOT;
        if (i > 0) parent = places.data[(i - 1) / branch];
        if (n[3] >= 0) {
            if (i > 0 && parent == SAC_DRAFT_ROOT) {
                result = fail(r, SAC_ERROR_FORMAT, "give the parent a radius or this node a negative one",
                              "the parent of this node is unused");
                break;
            }
            sac_draft_node node = {.centre = {n[0], n[1], n[2]},
                                   .radius = n[3],
                                   .gap = 2 * n[3],
                                   .cone = 3.14159265f,
                                   .parent = parent};
            place = (uint32_t)draft->nodes.count;
            if (!sac_array_push(&draft->nodes, node)) result = no_memory(r);
        } else if (i == 0) {
            result = fail(r, SAC_ERROR_EMPTY, "give a tree with a root", "the root is unused");
        }
        if (result == SAC_OK && i < inner && !sac_array_push(&places, place)) result = no_memory(r);
    }
    sac_array_fini(&places);
    return result;
}

/* A leaf's centre belongs to the object as far as the file tells; an inner node's may lie in a hole of it, so
 * the node gets the nearest of its children's points. */
static void place_points(sac_draft *draft)
{
    sac_draft_node *nodes = draft->nodes.data;
    size_t n = draft->nodes.count;
    for (size_t i = 0; i < n; i++) nodes[i].point[0] = INFINITY;
    /* Children come after their parents, so backwards every node is complete when it is looked at. */
    for (size_t i = n; i-- > 0;) {
        sac_draft_node *node = &nodes[i], *parent = i ? &nodes[node->parent] : NULL;
        if (node->point[0] == INFINITY) memcpy(node->point, node->centre, sizeof node->point);
        if (parent &&
            (parent->point[0] == INFINITY || sac_sphere_reach(parent->centre, node->point, 0) <=
                                                 sac_sphere_reach(parent->centre, parent->point, 0)))
            memcpy(parent->point, node->point, sizeof node->point);
    }
}

/* Box and mass of the leaves, the only part of the object the file tells about. */
static bool describe(const sac_draft *draft, sac_tree *like)
{
    size_t n = draft->nodes.count;
    bool *inner = sac_alloc_zero(n, sizeof *inner);
    float(*leaves)[4] = sac_alloc(n, sizeof *leaves);
    uint32_t count = 0;
    if (inner && leaves) {
        like->box = sac_box_empty();
        for (size_t i = 1; i < n; i++) inner[draft->nodes.data[i].parent] = true;
        for (size_t i = 0; i < n; i++) {
            const sac_draft_node *d = &draft->nodes.data[i];
            if (inner[i]) continue;
            for (int k = 0; k < 3; k++) leaves[count][k] = d->centre[k];
            leaves[count++][3] = d->radius;
            float r = d->radius;
            sac_box_add(&like->box, (float[3]){d->centre[0] - r, d->centre[1] - r, d->centre[2] - r});
            sac_box_add(&like->box, (float[3]){d->centre[0] + r, d->centre[1] + r, d->centre[2] + r});
        }
        sac_mass_of_leaf_spheres((const float(*)[4])leaves, count, &like->mass);
    }
    bool done = inner && leaves;
    sac_free(inner, n, sizeof *inner);
    sac_free(leaves, n, sizeof *leaves);
    return done;
}

/* "dir/knot.sph" -> "knot". */
static void name_from_path(const char *path, char out[64])
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
    size_t length = dot && dot > base ? (size_t)(dot - base) : strlen(base);
    if (length > 63) length = 63;
    memcpy(out, base, length);
    out[length] = '\0';
}

static sac_result read_tree(reader *r, const char *name_path, sac_tree **out_tree)
{
    uint32_t levels, branch;
    sac_draft draft = {0};
    sac_result result = read_header(r, &levels, &branch);
    if (result == SAC_OK) result = read_nodes(r, levels, branch, &draft);
    if (result == SAC_OK) {
        sac_tree like = {.branch = branch, .method = SAC_METHOD_FOREIGN};
        name_from_path(name_path, like.name);
        place_points(&draft);
        result =
            describe(&draft, &like) ? sac_draft_assemble(&draft, &like, out_tree, r->error) : no_memory(r);
    }
    sac_array_fini(&draft.nodes);
    return result;
}

sac_result sac_tree_import_sph(const char *path, sac_tree **out_tree, sac_error *error)
{
    SAC_NEED(error, out_tree);
    *out_tree = NULL;
    SAC_NEED(error, path);
    /* The reader's result on failure is the error's code, so there must be one. */
    sac_error local = {0};
    uint64_t size;
    reader r = {.fd = sac_file_open(path, &size, &local), .path = path, .error = &local};
    if (r.fd >= 0) {
        r.buffer = sac_alloc(1, LONGEST_LINE);
        r.at = r.end = r.buffer;
        if (!r.buffer) {
            sac_error_set(&local, SAC_ERROR_MEMORY, NULL, "no memory to read a file");
        } else if (read_tree(&r, path, out_tree) == SAC_OK) {
            local.code = SAC_OK;
        }
        sac_free(r.buffer, 1, LONGEST_LINE);
        close(r.fd);
        if (local.code != SAC_OK) sac_error_in_file(&local, path);
    }
    if (local.code != SAC_OK && error) *error = local;
    return local.code;
}

sac_result sac_tree_import_sph_memory(const char *text, size_t size, sac_tree **out_tree, sac_error *error)
{
    SAC_NEED(error, out_tree);
    *out_tree = NULL;
    if (!text) text = "", size = 0;
    sac_error local = {0};
    reader r = {.at = text, .end = text + size, .finished = true, .fd = -1, .path = "", .error = &local};
    if (read_tree(&r, "imported", out_tree) == SAC_OK) return SAC_OK;
    if (error) *error = local;
    return local.code;
}
