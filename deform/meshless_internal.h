/* Meshless surfaces in memory. Private to deform/. */
#ifndef SAC_DEFORM_MESHLESS_INTERNAL_H
#define SAC_DEFORM_MESHLESS_INTERNAL_H

#include "base/memory.h"
#include "deform/meshless.h"
#include "deform/soft_internal.h"

/* Floats a node: the columns of its transformation, each x y z 0, one cache line in all. Blocks of eight
 * nodes have the same entry by entry. */
enum { SAC_MESHLESS_ROW = 16 };
/* Floats of a k-DOP: whole vectors. A box has its first two numbers again at the end. */
#define SAC_MESHLESS_WIDE(k) (((k) + 7u) & ~7u)
/* Floats of scratch for a bound: b in k directions, the highest of them, and their rooms. */
#define SAC_MESHLESS_SCRATCH(lanes, k) ((size_t)(lanes) * ((k) + 2) + 16)
/* Up to so many simulation nodes all directions are done at once: compared each with each for the optimum,
 * for equation 12 one after the other. */
enum { SAC_MESHLESS_PAIRED = 32 };

/* A node whose vertices cost less than so many of its bounds is looked at rather than bounded: a patch. */
#define SAC_MESHLESS_LOOK 3.0f
/* So many steps a front stays as deep as it was. Merged bounds are tighter than made ones: with one step a
 * front would go up and down in turn. */
enum { SAC_MESHLESS_KEEP = 6 };
/* A bound up to so many steps old is carried on by how far vertices can have gone since, while that is no
 * more than this share of its size. */
enum { SAC_MESHLESS_LASTS = 15 };
#define SAC_MESHLESS_LOOSE 0.3f
/* A surface of which this share of patches was looked at is refitted as a whole next time. */
#define SAC_MESHLESS_WHOLE 0.5f

typedef struct sac_meshless_limits {
    uint32_t first, lanes;      /* of the limits arrays: whole blocks */
    uint32_t lump_first, count; /* of the lump arrays */
} sac_meshless_limits;

/* A node of the tree as a descent sees it. */
typedef struct sac_meshless_node {
    uint32_t child, parent; /* child 0: a leaf */
    uint32_t first, count;  /* primitives */
} sac_meshless_node;

/* What its bound is made from. */
typedef struct sac_meshless_rest {
    float centre[3], half[3]; /* of its vertices at rest; half along the axes of an oriented box */
    float axes[3][3];         /* of an oriented box, as long as its halves */
    float low_sum;
    sac_meshless_limits limits;
} sac_meshless_rest;

/* A node of few primitives whose parent has more: what it and all below it look at. Nodes below it are
 * neighbours: [first_node, end_node). */
typedef struct sac_meshless_patch {
    uint32_t node, first_node, end_node;
    uint32_t first_vertex, end_vertex; /* of patch_vertex */
} sac_meshless_patch;

typedef struct sac_meshless_influence {
    uint32_t node; /* its slot, once the model is made */
    float weight;
} sac_meshless_influence;

/* Of eight simulation nodes, the box of the vertices at rest that each moves; half below 0: none. */
typedef struct sac_meshless_reach {
    _Alignas(32) float centre[3][8], half[3][8];
} sac_meshless_reach;

/* The surface as it was given, and what its vertices follow, for who draws it. */
typedef struct sac_meshless_given {
    float (*vertices)[3];
    uint32_t (*triangles)[3];
    uint32_t *first, *node;
    float *weight;
} sac_meshless_given;

struct sac_meshless_model {
    sac_arena arena;
    sac_meshless_def def;
    uint32_t vertex_count, triangle_count, node_count, tree_count, most_lanes;
    sac_meshless_given given;
    /* Vertices lie in the order in which the tree first meets them; place[] of the given number. */
    float (*vertices)[4], (*nodes)[3];
    uint32_t *place;
    uint32_t *first; /* of each vertex and the end */
    sac_meshless_influence *influence;
    sac_meshless_node *tree;
    sac_meshless_rest *rest;
    uint32_t (*given_corners)[3];    /* of triangles as they were given, into the order of the tree */
    uint32_t *primitives;            /* as they were given, in the order of the tree */
    uint32_t *corners, corner_count; /* 3 or 1 to a primitive, in that order */
    uint32_t *patch_of;              /* of each tree node; UINT32_MAX above the patches */
    sac_meshless_patch *patches;
    uint32_t patch_count, *patch_vertex;
    uint32_t *slot, *node_at; /* of a simulation node in memory, and back */
    /* Slots that a tree node's vertices follow, and the limits of their weights (room: highest - lowest).
     * Lanes with room -1 do not count: they fill up blocks. */
    uint32_t *limit_node;
    float *low, *room;
    /* Simulation nodes with their mean weights. */
    uint32_t *lump_node;
    float *mean;
    /* The same tree eight-wide, as in spheretree/tree.h; wide_node: tree nodes, UINT32_MAX in empty lanes. */
    sac_link_block *links;
    uint32_t *parents, *wide_node, wide_blocks, wide_nodes, wide_leaves, wide_depth;
    uint32_t level_block[SAC_TREE_MOST_DEPTH + 2];
    float (*normal)[3];        /* of tree nodes at rest; zero: unknown */
    float *girth;              /* of tree nodes at rest: halves of their boxes, in all */
    sac_meshless_reach *reach; /* of blocks of simulation nodes */
    /* Neighbours of the simulation nodes and their inverted moments, for gradients. */
    uint32_t *near_first, *near;
    double (*near_inverse)[3][3], (*near_keep)[3][3];
};

/* How good a bound is. */
enum {
    SAC_MESHLESS_FINE,  /* as the definition asks for */
    SAC_MESHLESS_ROUGH, /* by equation 12 */
    SAC_MESHLESS_OLD,   /* of an earlier step, carried on */
};

typedef struct sac_meshless_state {
    uint32_t stamp; /* the step its bound is of */
    uint32_t made;  /* the step in which it was last made anew */
    uint32_t asked; /* the step in which it was last asked for */
    uint32_t fit;   /* one of these */
} sac_meshless_state;

struct sac_meshless {
    sac_arena arena;
    const sac_meshless_model *model;
    float *rows;     /* SAC_MESHLESS_ROW a slot */
    float *blocks;   /* the same, eight nodes to a block, entry by entry */
    float *wide;     /* of each node, four columns of directions */
    float *dops;     /* SAC_MESHLESS_WIDE(k) a tree node */
    float (*now)[8]; /* vertices that were looked at in the step of their stamp: x y z -x -y -z x y */
    uint32_t *vertex_stamp, step;
    sac_meshless_state *state; /* of each tree node */
    bool changed;              /* since the step */
    bool skinned;              /* all vertices are as of this step */
    bool whole;                /* all of it is as of this step */
    uint32_t whole_step;       /* the last in which it was */
    /* How far vertices can have gone in the last n steps, n up to SAC_MESHLESS_LASTS, along k directions.
     * Known since the step drift_from. */
    float (*drift)[SAC_MESHLESS_WIDE(SAC_MESHLESS_MOST_K)];
    float *then;                                /* blocks as of drift_step */
    float drift_spread[SAC_MESHLESS_LASTS + 1]; /* both ways along the axes, in all */
    uint32_t drift_step, drift_from;
    uint64_t refits;
    uint32_t looked, looked_before; /* patches asked for in this step and the last */
    float *scratch;                 /* SAC_MESHLESS_SCRATCH */
};

typedef struct sac_bound_job {
    const float *rows, *blocks, *wide;
    const uint32_t *node; /* slots: ascending, or a whole block */
    const float *low, *room;
    uint32_t count, lanes, k;
    const sac_meshless_rest *rest;
    bool exact, oriented;
    float *scratch;
} sac_bound_job;

typedef struct sac_drift_job {
    const float *now;
    float *then; /* becomes `now` */
    const sac_meshless_reach *reach;
    uint32_t blocks, k;
} sac_drift_job;

typedef struct sac_skin_job {
    const float *rows;
    const float (*vertices)[4];
    const uint32_t *first;
    const sac_meshless_influence *influence;
    float (*now)[8];
} sac_skin_job;

typedef struct sac_look_job {
    const sac_meshless_node *tree;
    const uint32_t *corners;
    const float (*now)[8];
    float *dops;
    uint32_t corner_count, k;
} sac_look_job;

typedef struct sac_bound_kernels {
    /* out as sac_meshless_dop, in whole vectors. */
    void (*bound)(const sac_bound_job *job, float *out);
    /* Vertices [first, end), or those listed whose stamp is not `step`. */
    void (*skin)(const sac_skin_job *job, uint32_t first, uint32_t end);
    void (*skin_some)(const sac_skin_job *job, const uint32_t *who, uint32_t count, uint32_t *stamp,
                      uint32_t step);
    /* Tree nodes [first, end), last to first: leaves from their vertices, others from their children. */
    void (*look)(const sac_look_job *job, uint32_t first, uint32_t end);
    /* The farthest way of any vertex along the directions, in whole vectors. */
    void (*drift)(const sac_drift_job *job, float *out);
    /* Which of eight pairs of triangles cross, as sac_triangles_cross has it. Bits of `unsure` are for it to
     * say: triangles in one plane, and numbers that overflow. corner[c][i]: corner c of the first (c < 3) or
     * the second triangle of pair i. */
    uint32_t (*cross)(const float *const corner[6][8], uint32_t *unsure);
} sac_bound_kernels;
extern const sac_bound_kernels sac_bound_kernels_scalar, sac_bound_kernels_sse2, sac_bound_kernels_avx2,
    sac_bound_kernels_avx512, sac_bound_kernels_neon;
const sac_bound_kernels *sac_bound_kernels_active(void);

extern const signed char sac_meshless_directions[13][3];

/* meshless_weights.c */
sac_result sac_meshless_check(const sac_meshless_surface *surface, const float (*nodes)[3],
                              uint32_t node_count, const sac_meshless_weights *weights,
                              const sac_meshless_def *def, sac_error *error);
/* What a vertex follows, at most SAC_MESHLESS_MOST_INFLUENCES; returns how many. */
uint32_t sac_meshless_find_weights(const sac_meshless_model *m, const float rest[3], uint32_t vertex,
                                   const sac_meshless_weights *given, sac_meshless_influence *out);
bool sac_meshless_find_neighbours(sac_meshless_model *m);

/* meshless_slots.c: slot and node_at, for what all vertices together follow. */
bool sac_meshless_find_slots(sac_meshless_model *m, const sac_meshless_influence *influence, size_t count);

/* meshless.c: bounds of a node as the body is now. `rough`: what is known of it from the last steps will do,
 * or else equation 12; what is not apart by that is worth more. */
const float *sac_meshless_fit_node(sac_meshless *body, uint32_t node, bool rough);
/* Makes a rough one tighter; false if it is as the definition asks for. */
bool sac_meshless_refine(sac_meshless *body, uint32_t node);
/* Once a step, by who asks for rough ones. */
void sac_meshless_note_drift(sac_meshless *body);
void sac_meshless_begin(sac_meshless *body);
/* Where a vertex (in the order of the tree) is, as `now` has it. */
void sac_meshless_place(const sac_meshless *body, uint32_t vertex, float out[8]);

/* meshless_live.c: the eight-wide view of a model. */
bool sac_meshless_widen(sac_meshless_model *m);

#endif
