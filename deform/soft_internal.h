/* How models and bodies lie in memory. Private to deform/. */
#ifndef SAC_DEFORM_SOFT_INTERNAL_H
#define SAC_DEFORM_SOFT_INTERNAL_H

#include "base/memory.h"
#include "deform/shape_matching.h"
#include "deform/soft_motion.h"

#define SAC_SOFT_LANES 8u

/* A cluster's members are slots [first, first + lanes) of the member arrays; lanes is a multiple of eight and
 * what is beyond `count` has weight 0. */
typedef struct sac_soft_cluster {
    uint32_t first, count, lanes;
    bool whole; /* slot k is point k */
    float rest_centre[3];
    float reach;         /* largest |q| */
    double weight_sum;   /* 1, but for rounding */
    double term_mean[9]; /* weighted means of x, y, z, x2, y2, z2, xy, yz, zx */
    double rest[3][9];   /* first rows of sum w q~ q~^T, centred */
    double small[3][3];  /* pseudo-inverse of its 3 x 3 corner */
    double full[9][12];  /* pseudo-inverse of all of it and columns of zeros; quadratic only */
} sac_soft_cluster;

struct sac_soft_model {
    sac_arena arena;
    sac_soft_def def;
    uint32_t count, lanes; /* points, and rounded up */
    uint32_t cluster_count, slot_count;
    sac_soft_cluster *clusters;
    /* Points lie in an order of the model's own: home by home, and within one halved along the longest side
     * again and again, so that every node of a hierarchy has its points side by side. What the caller calls
     * point i is at place[i]; name[] is the way back. */
    uint32_t *place, *name;
    float *x, *y, *z, *mass, *inverse_mass; /* rest; beyond count a copy of the last point */
    /* Members. weight: mass / clusters the point is in, scaled to sum 1 in the cluster. With these shares
     * averaging the goals of overlapping clusters conserves momentum. */
    uint32_t *point;
    float *qx, *qy, *qz, *weight;
    /* For each eight points, rows of eight slots that hold their goals; a point in fewer clusters than its
     * neighbours has the empty slot `slot_count`, whose goal is 0. */
    uint32_t *row_first; /* of each eight, and the end */
    uint32_t *row_slot;  /* 8 a row */
    float *share;        /* 1 / clusters the point is in */
    double mass_sum;
    /* The points of each home and their rest positions relative to its rest centre, in whole eights; the last
     * of a home is repeated. */
    uint32_t *home_first, *home_point;
    float *hx, *hy, *hz;
    uint32_t *home; /* the one cluster whose branch of the hierarchy a point belongs to */
};

/* Rigid motion of a cluster: velocity + spin x (x - ref - offset). */
typedef struct sac_match_motion {
    float ref[3], offset[3]; /* its centre, in two parts: that of the step before, and the rest */
    float velocity[3], spin[3];
} sac_match_motion;

typedef struct sac_soft_cluster_state {
    double turn[4];       /* quaternion x, y, z, w: the rotation, followed from step to step */
    double plastic[3][3]; /* Sp */
    double lost[3];       /* of map.t, by rounding */
    sac_soft_map map;
    float cofactor[3][3]; /* of map.a: how normals turn, but for their length */
    float allowance;      /* for rounding, in map.stray */
    /* What the last pull found, with the allowance in `stray`; becomes `map` when the points move. Until then
     * bounds are those of before. */
    sac_soft_map next;
    sac_match_motion motion;
    sac_box box; /* of its points, when they last moved */
    bool found_anew, yielded;
} sac_soft_cluster_state;

struct sac_soft {
    sac_arena arena;
    const sac_soft_model *model;
    float *x, *y, *z, *vx, *vy, *vz;
    float *loose;        /* 1, or 0 for a point that is held */
    float *tx, *ty, *tz; /* where held points are to go */
    float *gx, *gy, *gz; /* of each slot, for the kernels; NULL for a single cluster */
    sac_soft_cluster_state *clusters;
    uint32_t held, slowed;
    sac_box box;   /* of the points as they are, or a little more after sac_soft_set_point */
    uint64_t step; /* counts changes of the points: what was computed for another number is out of date */
};

static inline void sac_soft_set_cofactor(sac_soft_cluster_state *state)
{
    for (int i = 0; i < 3; i++) {
        const float *p = state->map.a[(i + 1) % 3], *q = state->map.a[(i + 2) % 3];
        for (int k = 0; k < 3; k++) {
            int l = (k + 1) % 3, m = (k + 2) % 3;
            state->cofactor[i][k] = p[l] * q[m] - p[m] * q[l];
        }
    }
}

/* clusters.c: which points belong together. homes[i] < *io_count; lists of members in CSR form, ascending. */
typedef struct sac_cluster_lists {
    uint32_t count, *first, *point, *home; /* first has count + 1 entries */
} sac_cluster_lists;
sac_result sac_clusters_make(sac_arena *arena, const float (*points)[3], uint32_t count, uint32_t wanted,
                             float overlap, sac_cluster_lists *out, sac_error *error);

/* matrix.c */
/* The rotation nearest to `a` (largest trace of R^T a over rotations, whatever the sign of a's determinant),
 * followed from `turn`; false when it had to be searched for anew. A matrix that says nothing leaves `turn`
 * as it is. */
bool sac_turn_follow(const double a[3][3], double turn[4]);
void sac_turn_rows(const double turn[4], double rows[3][3]);
/* Largest singular value, never too small; too large by less than one part in a million. */
double sac_norm_above(const double m[3][3]);
float sac_norm_above_f(const float m[3][3]);
double sac_cube_root(double x); /* x > 0 */
double sac_exp_minus(double x); /* e^-x, x >= 0 */
/* Pseudo-inverse of a symmetric n x n matrix (row by row); eigenvalues below `cut` of the largest count as
 * zero. n <= 9. */
void sac_pseudo_inverse(const double *m, int n, double cut, double *out);
/* Eigenvalues of a symmetric matrix on its diagonal, eigenvectors in the columns of v. n <= 9. */
void sac_eigen_vectors(double *m, int n, double *v);

/* One cluster of a body for the kernels. */
typedef struct sac_match_job {
    const float *x, *y, *z, *vx, *vy, *vz;
    const uint32_t *point;
    const float *qx, *qy, *qz, *weight;
    float *gx, *gy, *gz; /* NULL for a whole body */
    const sac_match_motion *motion;
    const sac_soft_map *map; /* next */
    float near[3];           /* its translation relative to the motion's ref */
    uint32_t lanes;
    bool whole, quadratic, damped;
} sac_match_job;
typedef struct sac_match_sums {
    double centre[3], velocity[3]; /* relative to the motion's ref and velocity of before */
    double pq[3][9];               /* sum w p q~^T */
    double pp[6];                  /* sum w p p^T: xx yy zz xy yz zx */
    double spin[3];                /* sum w p x v */
} sac_match_sums;
typedef struct sac_match_points {
    sac_soft *soft;
    const sac_match_job *whole;                   /* of the one cluster; NULL when there are several */
    float pull, drag, dt, gravity[3], most_speed; /* pull: alpha / dt; drag: share of velocity lost */
    float even[3]; /* velocities are taken relative to this one: what all move alike is not damped at all */
} sac_match_points;
typedef struct sac_match_kernels {
    void (*sums)(const sac_match_job *job, sac_match_sums *sums); /* and p into g, if there is one */
    void (*fit)(const sac_soft_cluster *c, const double pq[3][9], const double rigid[3][3],
                double out[3][12]); /* quadratic */
    /* What each member's velocity is to change by, into g; not for a whole body. */
    void (*changes)(const sac_match_points *to, const sac_match_job *job);
    /* Points first * 8 up to last * 8. Goals and gravity change velocities; held points get theirs; all go
     * along them. The number of slowed ones. */
    uint32_t (*pull)(const sac_match_points *job, uint32_t first, uint32_t last);
    void (*hold)(const sac_match_points *job, uint32_t first, uint32_t last);
    uint32_t (*move)(const sac_match_points *job, uint32_t first, uint32_t last);
    void (*fall)(const sac_match_points *job, double momentum[3]); /* gravity alone, all points */
    void (*joints)(const sac_soft *soft, uint32_t cluster, float (*out)[3][4]);
    /* Square of the largest distance between a member and its goal, and the box of the members. */
    float (*stray)(const sac_match_job *job, const sac_soft_map *map, sac_box *box);
    void (*motion)(const sac_soft *soft, sac_soft_motion *out);
} sac_match_kernels;
extern const sac_match_kernels sac_match_kernels_scalar, sac_match_kernels_sse2, sac_match_kernels_avx2,
    sac_match_kernels_avx512, sac_match_kernels_neon;
const sac_match_kernels *sac_match_kernels_active(void);

/* Points in the order of a key, for qsort; equal keys by number, so that every libc agrees. */
typedef struct sac_keyed {
    float key;
    uint32_t point;
} sac_keyed;

static inline int sac_keyed_order(const void *a, const void *b)
{
    const sac_keyed *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->point < y->point ? -1 : x->point > y->point;
}

#endif
