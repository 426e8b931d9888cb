/* Colliding two trees, all at once or a bit at a time.
 *
 *   sac_front_pool *pool;
 *   sac_front *front;
 *   sac_front_pool_def def = sac_default_front_pool_def();
 *   sac_front_pool_create(&def, &pool, NULL);
 *   sac_front_acquire(pool, knot, &pose_a, gear, &pose_b, &front, NULL);
 *   while (time_left() && !sac_front_done(front)) sac_front_step(front, 256);   // 256 node tests
 *   count = sac_front_contacts(front, contacts, 64);                            // what is known now
 *   sac_front_release(front);
 *
 * Two leaves collide when their spheres overlap and so do their ancestors' at every level; a leaf stands for
 * itself on all deeper levels. Touching counts. At every moment the front covers all colliding leaves: each
 * is in it, or a pair of ancestors is. All SIMD paths give the same bits.
 *
 * A node test, one credit, is one test of two spheres: a child of a with a child of b, or a child of b with
 * the ball that holds a's children. Nodes with fewer than eight children cost as much as full ones, because
 * eight lanes are tested at once: credits measure time.
 *
 * Threads: a tree may be read by any number; a pool and its fronts belong to one thread at a time.
 *
 * Index: sac_descend_all  sac_default_front_pool_def  sac_front_pool_create  sac_front_pool_destroy
 *        sac_front_pool_report  sac_front_acquire  sac_front_restart  sac_front_release  sac_front_step
 *        sac_front_step_level  sac_front_done  sac_front_report  sac_front_pairs  sac_front_contacts
 *        sac_sphere_query  sac_ray_query  sac_distance_begin  sac_distance_step
 */
#ifndef SAC_SPHERETREE_DESCENT_H
#define SAC_SPHERETREE_DESCENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/geometry.h"
#include "tree.h"

/* Poses must be finite with a scale above zero and a rotation of length 1 within one per cent (it is
 * normalised); every function that takes one returns ERROR_ARGUMENT otherwise, and ERROR_LIMIT when the two
 * objects are too far apart or too different in size for floats (1e18 of a's units). */

/* ---- complete ---- */

typedef struct sac_descend_result {
    size_t pairs;   /* colliding leaf pairs, also those that found no room */
    uint64_t tests; /* node tests */
} sac_descend_result;

/* All colliding leaf pairs: the first `capacity` of them to out_a[i], out_b[i] as node ids. Needs no pool and
 * no memory but 140 KB of stack. The order is the same on every machine. */
sac_result sac_descend_all(const sac_tree *a, const sac_transform *pose_a, const sac_tree *b,
                           const sac_transform *pose_b, uint32_t *out_a, uint32_t *out_b, size_t capacity,
                           sac_descend_result *out_result, sac_error *error);

/* ---- a bit at a time ---- */

typedef struct sac_front_pool sac_front_pool;
typedef struct sac_front sac_front;

typedef struct sac_front_pool_def {
    uint32_t fronts;  /* most fronts in use at once; default 64 */
    uint32_t entries; /* node pairs that all fronts together may hold, beyond a first 256 each; default 65536,
                         8 bytes each. When they run out fronts stay coarse. */
    uint32_t cookie;  /* set by sac_default_front_pool_def; catches a forgotten default */
} sac_front_pool_def;

typedef struct sac_front_pool_usage {
    uint32_t fronts, fronts_free;
    uint32_t chunks, chunks_free; /* of SAC_FRONT_CHUNK entries, beyond the first of each front */
    uint32_t chunks_high_water;   /* most ever in use */
    size_t bytes;                 /* all the pool will ever hold */
} sac_front_pool_usage;

#define SAC_FRONT_CHUNK 256u

sac_front_pool_def sac_default_front_pool_def(void);
/* All memory is taken here. The SIMD path is chosen here too. */
sac_result sac_front_pool_create(const sac_front_pool_def *def, sac_front_pool **out_pool, sac_error *error);
/* Fronts of the pool become invalid. */
void sac_front_pool_destroy(sac_front_pool **pool);
void sac_front_pool_report(const sac_front_pool *pool, sac_front_pool_usage *out_usage);

/* A front at the roots. The trees must outlive it. ERROR_LIMIT when all fronts are in use. */
sac_result sac_front_acquire(sac_front_pool *pool, const sac_tree *a, const sac_transform *pose_a,
                             const sac_tree *b, const sac_transform *pose_b, sac_front **out_front,
                             sac_error *error);
/* The same trees in new poses, from the roots again; on error the front is unchanged. */
sac_result sac_front_restart(sac_front *front, const sac_transform *pose_a, const sac_transform *pose_b,
                             sac_error *error);
void sac_front_release(sac_front *front); /* NULL is fine */

/* Refine with at most `credits` node tests, coarsest pairs first; returns the tests spent. Where it stops
 * changes nothing: while the pool has room the same pairs are found in the same order whatever the slices. */
uint64_t sac_front_step(sac_front *front, uint64_t credits);
/* As sac_front_step, and stop when all pairs of the coarsest level have been opened. */
uint64_t sac_front_step_level(sac_front *front, uint64_t credits);

/* Nothing left to refine. */
bool sac_front_done(const sac_front *front);

typedef struct sac_front_summary {
    uint32_t level;    /* of the coarsest pairs that can be refined */
    uint32_t pending;  /* pairs that can be refined */
    uint32_t finished; /* pairs of two leaves */
    uint32_t coarse;   /* pairs kept because there was no room for their children */
    uint64_t tests;    /* node tests so far */
} sac_front_summary;

/* Constant time. No pair of any kind: the objects are apart. */
sac_front_summary sac_front_report(const sac_front *front);

/* One pair of the front. */
typedef struct sac_front_pair {
    uint32_t node_a, node_b;
    bool final; /* two leaves, or kept coarse: no step will refine it */
} sac_front_pair;

/* The pairs of the front: finished, kept coarse, pending, in that order; at most `capacity`; returns how many
 * were written. sac_front_report has the totals. */
size_t sac_front_pairs(const sac_front *front, sac_front_pair *out_pairs, size_t capacity);

/* A stored normal is used when all normals of the node's surface are within this angle of it. At 0.35 (20
 * degrees) it is a better guess than the line of centres, which for spheres of a tree is off by 20 to 30;
 * larger values take normals from around an edge or from both sides of a thin part. */
#define SAC_CONTACT_CONE 0.35f

typedef struct sac_contact {
    float point[3];    /* world; divides the line of centres by the radii */
    float normal[3];   /* world, unit, from a to b */
    float depth;       /* world units the spheres overlap along the line of centres, >= 0 up to rounding */
    float uncertainty; /* world units; the surfaces' true depth is less by at most this: both nodes' gaps */
    uint32_t node_a, node_b;
    bool final;
} sac_contact;

/* The front as contacts, in the order of sac_front_pairs; returns how many were written. */
size_t sac_front_contacts(const sac_front *front, sac_contact *out_contacts, size_t capacity);

/* ---- one tree ---- */

/* All leaves that overlap a world sphere, with ancestors that do: the first `capacity` to out_nodes;
 * *out_count is their number in all. */
sac_result sac_sphere_query(const sac_tree *tree, const sac_transform *pose, const float centre[3],
                            float radius, uint32_t *out_nodes, size_t capacity, size_t *out_count,
                            sac_error *error);

typedef struct sac_ray_hit {
    bool hit;
    float t;           /* along the ray in units of its direction's length */
    float point[3];    /* world */
    float normal[3];   /* world, unit, outward; against the ray when nothing better is known */
    float uncertainty; /* world units: the leaf's gap */
    uint32_t node;     /* a leaf */
} sac_ray_hit;

/* The first leaf along origin + t * direction, t in [0, most]: the smallest t at which the ray is inside
 * the leaf's sphere and those of all its ancestors. No hit on the surface comes earlier.
 * `direction` need not be unit; ERROR_ARGUMENT when it has no length. */
sac_result sac_ray_query(const sac_tree *tree, const sac_transform *pose, const float origin[3],
                         const float direction[3], float most, sac_ray_hit *out_hit, sac_error *error);

/* ---- distance ---- */

/* How far apart two objects are, between two bounds that only tighten. `lower` comes from the spheres:
 * no two surface points are closer. `upper` comes from stored surface points: these two points are that far
 * apart. The search is best first and is done when no pair of nodes that waits could hold points nearer than
 * `upper`: then `lower` is the least distance of two leaf spheres that could, which is as much as spheres can
 * tell. A pair that finds no room in the table is not refined: its distance stays in `lower`. */
#define SAC_DISTANCE_ENTRIES 1024u

typedef struct sac_distance_entry {
    float lower;
    uint32_t a, b;
} sac_distance_entry;

/* Plain memory, 13 KB; copy it or put it on the stack. */
typedef struct sac_distance {
    float lower, upper;           /* world units */
    float point_a[3], point_b[3]; /* world; upper apart */
    uint32_t node_a, node_b;      /* they belong to */
    bool done;
    uint64_t tests;
    /* Private: trees, poses, and a heap of pairs that may hold the nearest. */
    const sac_tree *a, *b;
    sac_transform pose_a, pose_b;
    float relative[3][4], scale, to_world, floor;
    uint32_t count;
    sac_distance_entry heap[SAC_DISTANCE_ENTRIES];
} sac_distance;

/* The roots are tested here: bounds are valid at once. */
sac_result sac_distance_begin(sac_distance *distance, const sac_tree *a, const sac_transform *pose_a,
                              const sac_tree *b, const sac_transform *pose_b, sac_error *error);
/* Refine with at most `credits` node tests; returns the tests spent. Whole pairs are opened: up to 64 tests
 * (256 for a branching factor above 8) may be left unspent. */
uint64_t sac_distance_step(sac_distance *distance, uint64_t credits);

#endif
