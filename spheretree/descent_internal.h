/* What the descent's files share: two trees in one frame, spans of node pairs, and the table of kernels.
 * Private to spheretree/. */
#ifndef SAC_SPHERETREE_DESCENT_INTERNAL_H
#define SAC_SPHERETREE_DESCENT_INTERNAL_H

#include "base/cpu.h"
#include "spheretree/descent.h"

/* Tree b seen from tree a: x -> m (x, 1), radii times `scale`. */
typedef struct sac_descent {
    const sac_tree *a, *b;
    float m[3][4], scale;
    float margin;     /* in a's units, added to b's radii: pairs this far apart still count */
    bool level_tells; /* sac_descent_kind may use the level: all leaves on the deepest, one block a node */
} sac_descent;

/* Checks the poses; says which is wrong. */
sac_result sac_descent_init(sac_descent *descent, const sac_tree *a, const sac_transform *pose_a,
                            const sac_tree *b, const sac_transform *pose_b, sac_error *error);
sac_result sac_pose_check(const sac_transform *pose, const char *whose, sac_error *error);
/* Rotation to length 1. */
void sac_pose_normalise(sac_transform *pose);

/* Node pairs, one number of each side. The arrays have SAC_SPAN_SLACK entries more than are ever counted,
 * because a kernel writes whole vectors. */
#define SAC_SPAN_SLACK 16u
typedef struct sac_span {
    uint32_t *a, *b;
    uint32_t count, room;
} sac_span;

/* Where the children of a pair go. MIXED is always right; the others are for pairs without a leaf between
 * trees of one block a node, when the level alone tells. */
typedef enum sac_open_kind {
    SAC_OPEN_TO_QUEUE = 1, /* no pair of children is two leaves */
    SAC_OPEN_TO_DONE = 2,  /* all are */
    SAC_OPEN_MIXED = 3
} sac_open_kind;

/* Pairs a kernel opens at once, at most: enough that the two passes overlap, few enough for the first cache.
 */
#define SAC_OPEN_BATCH 32u

/* Children of one b, moved into a's frame. */
typedef struct sac_moved_block {
    _Alignas(32) float x[SAC_LANES];
    float y[SAC_LANES], z[SAC_LANES], r[SAC_LANES];
    uint32_t link[SAC_LANES];
} sac_moved_block;

/* What the first pass leaves for the second. A job is a child of b against a block of a's children. A block
 * is named by 64 times its number, which is its offset among the links and half its offset among the spheres;
 * a child of b by the offset of its x in `moved`. */
#define SAC_OPEN_JOBS (SAC_OPEN_BATCH * 2 * 16 + SAC_LANES)
typedef struct sac_job_list {
    sac_moved_block moved[SAC_OPEN_BATCH * 2];
    uint32_t block_a[SAC_OPEN_JOBS], child_b[SAC_OPEN_JOBS], lanes_a[SAC_OPEN_JOBS];
    uint32_t count, next;
    sac_open_kind kind;
    bool some_lanes; /* lanes_a matters */
    bool direct;     /* one job a pair: all of b's children against all of a's */
} sac_job_list;

/* Whether to open pairs of a level without the first test of b's children against a's bound: where the
 * children fill their parents, or where the level above found many, nearly all would pass it. */
#define SAC_DIRECT_FILL 0.4f
static inline bool sac_descent_direct(const sac_descent *d, uint32_t level, uint32_t opened, uint32_t found)
{
    return d->b->level_fill[level] > SAC_DIRECT_FILL || found >= opened * SAC_LANES;
}

/* Places a job may fill. */
static inline uint32_t sac_job_most(const sac_job_list *jobs)
{
    return jobs->direct ? SAC_LANES * SAC_LANES : SAC_LANES;
}

struct sac_touch_list;

typedef struct sac_kernel {
    /* First pass over `count` pairs (a[i], b[i]), which are links and not both leaves. Returns the node tests
     * of both passes. Reads up to SAC_SPAN_SLACK entries beyond `count`, to prefetch. `direct` is ignored for
     * MIXED. */
    uint32_t (*prepare)(const sac_descent *descent, const uint32_t *a, const uint32_t *b, uint32_t count,
                        sac_open_kind kind, bool direct, sac_job_list *jobs);
    /* Second pass: children that overlap are added to `queue` as links, or, both leaves, to `done` as node
     * ids. Returns true when all jobs are done, false when one of the spans may not have
     * room for the next. */
    bool (*run)(const sac_descent *descent, sac_job_list *jobs, sac_span *queue, sac_span *done);
    /* Adds the touches of `count` pairs of nodes to the list, which has room, in a's frame and unit. */
    void (*measure)(const sac_descent *descent, const uint32_t *a, const uint32_t *b, uint32_t count,
                    struct sac_touch_list *list);
    /* sac_touch_choose. */
    uint32_t (*choose)(struct sac_touch_list *list, uint32_t most, uint32_t *out_chosen);
} sac_kernel;

extern const sac_kernel sac_kernel_scalar, sac_kernel_sse2, sac_kernel_avx2, sac_kernel_avx512,
    sac_kernel_neon;
/* The kernel of the SIMD path in use. */
const sac_kernel *sac_kernel_active(void);

/* Children found by opening one pair, at most. */
static inline uint32_t sac_descent_most_children(const sac_descent *d)
{
    return d->a->blocks_per_node * d->b->blocks_per_node * SAC_LANES * SAC_LANES;
}

/* Node tests in opening one pair, at most. */
static inline uint32_t sac_descent_most_tests(const sac_descent *d)
{
    return sac_descent_most_children(d) + d->b->blocks_per_node * SAC_LANES;
}

/* Whether a level tells which of its nodes are leaves. */
static inline bool sac_descent_level_tells(const sac_tree *a, const sac_tree *b)
{
    return a->blocks_per_node == 1 && b->blocks_per_node == 1 && a->leaf_count == a->level_nodes[a->depth] &&
           b->leaf_count == b->level_nodes[b->depth];
}

/* For pairs of nodes on this level. */
static inline sac_open_kind sac_descent_kind(const sac_descent *d, uint32_t level)
{
    if (!d->level_tells || level >= d->a->depth || level >= d->b->depth) return SAC_OPEN_MIXED;
    return level + 1 == d->a->depth && level + 1 == d->b->depth ? SAC_OPEN_TO_DONE : SAC_OPEN_TO_QUEUE;
}

/* Sphere of a node, and of b's in a's frame; the same bits as the kernels'. */
typedef struct sac_ball {
    float x, y, z, r;
} sac_ball;

static inline sac_ball sac_ball_of(const sac_tree *tree, uint32_t id)
{
    const sac_sphere_block *s = &tree->spheres[id / SAC_LANES];
    uint32_t k = id % SAC_LANES;
    return (sac_ball){s->x[k], s->y[k], s->z[k], s->r[k]};
}

static inline sac_ball sac_ball_move(const float m[3][4], float scale, sac_ball s)
{
    return (sac_ball){(s.x * m[0][0] + s.y * m[0][1]) + (s.z * m[0][2] + m[0][3]),
                      (s.x * m[1][0] + s.y * m[1][1]) + (s.z * m[1][2] + m[1][3]),
                      (s.x * m[2][0] + s.y * m[2][1]) + (s.z * m[2][2] + m[2][3]), s.r * scale};
}

/* Node of b as the kernels see it: in a's frame, larger by the margin. */
static inline sac_ball sac_descent_ball_b(const sac_descent *d, uint32_t id)
{
    sac_ball ball = sac_ball_move(d->m, d->scale, sac_ball_of(d->b, id));
    ball.r += d->margin;
    return ball;
}

/* The test against a parent's bound only saves tests, so it must accept whatever the full test would:
 * rounding on both sides is a few parts in ten million, and below the smallest normal squares are not even
 * that exact. */
#define SAC_CULL_SLACK 1.000002f
#define SAC_CULL_TINY 1e-36f

static inline bool sac_bound_touches(sac_ball bound, sac_ball b)
{
    float x = bound.x - b.x, y = bound.y - b.y, z = bound.z - b.z, r = bound.r + b.r;
    return (x * x + y * y) + z * z <= (r * r) * SAC_CULL_SLACK + SAC_CULL_TINY;
}

static inline bool sac_balls_touch(sac_ball a, sac_ball b)
{
    float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z, r = a.r + b.r;
    return (x * x + y * y) + z * z <= r * r;
}

/* The node a link stands for. */
static inline uint32_t sac_link_node(const sac_tree *tree, uint32_t link)
{
    return link & SAC_LINK_LEAF ? link & ~SAC_LINK_LEAF : tree->parents[link];
}

/* The link of a node. */
static inline uint32_t sac_node_link(const sac_tree *tree, uint32_t id)
{
    return tree->links[id / SAC_LANES].link[id % SAC_LANES];
}

/* The lanes opening a link looks at: a leaf stands for itself. */
typedef struct sac_lanes {
    uint32_t block, blocks, lanes;
} sac_lanes;

static inline sac_lanes sac_link_lanes(const sac_tree *tree, uint32_t link)
{
    if (!(link & SAC_LINK_LEAF)) return (sac_lanes){link, tree->blocks_per_node, 0xffu};
    uint32_t id = link & ~SAC_LINK_LEAF;
    return (sac_lanes){id / SAC_LANES, 1, 1u << id % SAC_LANES};
}

#endif
