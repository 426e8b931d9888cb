/* How well a tree fits a set of spheres: the figures of sac_tree_measure with the union of the spheres as the
 * object. Every sample looks at every sphere, so large sets get fewer samples, and very large ones only the
 * gaps their nodes store. */
#include "apps/quality.h"

#include <math.h>

#include "base/parallel.h"
#include "base/rng.h"

typedef struct measuring {
    const sac_tree *tree;
    const float (*spheres)[4];
    uint32_t count, level, points;
    const uint32_t *nodes; /* of the level, and leaves above it, which stand for themselves */
    uint32_t node_count;
    double *gaps, *union_gaps; /* of each node */
} measuring;

/* Signed distance from the union's surface; exact outside. Compared because gcc 12 for aarch64 breaks down
 * over fmin in this loop. */
static double union_distance(const float (*spheres)[4], uint32_t count, const double p[3])
{
    double best = DBL_MAX;
    for (uint32_t i = 0; i < count; i++) {
        double x = p[0] - spheres[i][0], y = p[1] - spheres[i][1], z = p[2] - spheres[i][2];
        double d = sqrt(x * x + y * y + z * z) - spheres[i][3];
        if (d < best) best = d;
    }
    return best;
}

static bool node_holds(const sac_tree *tree, uint32_t id, const double p[3])
{
    const sac_sphere_block *b = &tree->spheres[id / SAC_LANES];
    uint32_t k = id % SAC_LANES;
    double x = p[0] - b->x[k], y = p[1] - b->y[k], z = p[2] - b->z[k], r = b->r[k];
    return x * x + y * y + z * z <= r * r * (1 + 1e-6);
}

static double level_distance(const measuring *m, uint32_t except, const double p[3])
{
    double best = DBL_MAX;
    for (uint32_t i = 0; i < m->node_count; i++) {
        uint32_t id = m->nodes[i], k = id % SAC_LANES;
        const sac_sphere_block *b = &m->tree->spheres[id / SAC_LANES];
        if (id == except) continue;
        double x = p[0] - b->x[k], y = p[1] - b->y[k], z = p[2] - b->z[k];
        best = fmin(best, sqrt(x * x + y * y + z * z) - b->r[k]);
    }
    return best;
}

static void fibonacci_point(uint32_t i, uint32_t count, double out[3])
{
    double z = 1.0 - (2.0 * i + 1.0) / count, angle = i * 2.399963229728653, ring = sqrt(1.0 - z * z);
    out[0] = ring * cos(angle), out[1] = ring * sin(angle), out[2] = z;
}

static void measure_node(uint32_t item, uint32_t worker, void *context)
{
    (void)worker;
    measuring *m = context;
    sac_tree_node_info node;
    uint32_t id = m->nodes[item];
    sac_tree_node(m->tree, id, &node);
    m->gaps[item] = m->union_gaps[item] = 0;
    for (uint32_t i = 0; i < m->points; i++) {
        double d[3], p[3];
        fibonacci_point(i, m->points, d);
        for (int k = 0; k < 3; k++) p[k] = node.centre[k] + node.radius * d[k];
        double gap = union_distance(m->spheres, m->count, p);
        m->gaps[item] = fmax(m->gaps[item], gap);
        if (gap > m->union_gaps[item] && level_distance(m, id, p) >= 0) m->union_gaps[item] = gap;
    }
}

/* Is there a chain of nodes that hold p from `id` down to `level`? */
static bool path_holds(const sac_tree *tree, uint32_t id, uint32_t at, uint32_t level, const double p[3])
{
    if (!node_holds(tree, id, p)) return false;
    uint32_t link = tree->links[id / SAC_LANES].link[id % SAC_LANES];
    if (at == level || (link & SAC_LINK_LEAF)) return true;
    for (uint32_t i = 0; i < SAC_LANES * tree->blocks_per_node; i++) {
        uint32_t child = link * SAC_LANES + i;
        if (sac_tree_has(tree, child) && path_holds(tree, child, at + 1, level, p)) return true;
    }
    return false;
}

/* Surface samples: uniform on the spheres, those inside another sphere left out. */
static void measure_surface(measuring *m, const sac_measure_def *def, double diagonal,
                            sac_level_quality *quality)
{
    sac_rng rng = sac_rng_seed(def->seed);
    double area = 0, hole = 0;
    uint32_t samples = 0, covered = 0, on_path = 0;
    for (uint32_t i = 0; i < m->count; i++) area += (double)m->spheres[i][3] * m->spheres[i][3];
    for (uint32_t i = 0; i < m->count; i++) {
        double r = m->spheres[i][3], share = area > 0 ? r * r / area : 1.0 / m->count;
        uint32_t n = (uint32_t)ceil(share * def->surface_samples);
        for (uint32_t j = 0; j < n; j++) {
            float d[3];
            double p[3];
            sac_rng_unit_vector(&rng, d);
            for (int k = 0; k < 3; k++) p[k] = m->spheres[i][k] + r * d[k];
            if (union_distance(m->spheres, m->count, p) < -1e-6 * (1 + r)) continue;
            double distance = level_distance(m, UINT32_MAX, p);
            samples++;
            covered += distance <= 1e-6 * r;
            hole = fmax(hole, distance > 1e-6 * r ? distance : 0);
            on_path += path_holds(m->tree, 0, 0, m->level, p);
        }
    }
    quality->coverage = samples ? (float)covered / (float)samples : 1;
    quality->path_coverage = samples ? (float)on_path / (float)samples : 1;
    quality->largest_hole = (float)(100 * hole / diagonal);
}

static void measure_volume(measuring *m, const sac_measure_def *def, sac_level_quality *quality)
{
    sac_rng rng = sac_rng_seed(def->seed + m->level + 1);
    sac_box box = sac_box_empty();
    uint64_t object = 0, outside = 0, inside = 0;
    for (uint32_t i = 0; i < m->node_count; i++) {
        sac_tree_node_info n;
        sac_tree_node(m->tree, m->nodes[i], &n);
        float low[3] = {n.centre[0] - n.radius, n.centre[1] - n.radius, n.centre[2] - n.radius};
        float high[3] = {n.centre[0] + n.radius, n.centre[1] + n.radius, n.centre[2] + n.radius};
        sac_box_add(&box, low);
        sac_box_add(&box, high);
    }
    for (uint32_t i = 0; i < def->volume_samples; i++) {
        double p[3];
        for (int k = 0; k < 3; k++)
            p[k] = box.low[k] + ((double)box.high[k] - box.low[k]) * sac_rng_double(&rng);
        bool in_object = union_distance(m->spheres, m->count, p) <= 0;
        bool in_level = level_distance(m, UINT32_MAX, p) <= 0;
        object += in_object;
        inside += in_object && in_level;
        outside += in_level && !in_object;
    }
    quality->outside_volume = object ? (float)((double)outside / (double)object) : NAN;
    quality->interior_coverage = object ? (float)((double)inside / (double)object) : NAN;
}

static uint32_t level_nodes(const sac_tree *tree, uint32_t level, uint32_t *out)
{
    uint32_t count = 0;
    for (uint32_t id = 0; id < tree->level_block[level + 1] * SAC_LANES; id++) {
        sac_tree_node_info node;
        if (sac_tree_node(tree, id, &node) && (node.level == level || node.leaf)) out[count++] = id;
    }
    return count;
}

static void measure_level(measuring *m, const sac_measure_def *def, double diagonal, sac_level_quality *out)
{
    double worst = 0, sum = 0, worst_union = 0;
    sac_parallel_for(m->node_count, def->threads, measure_node, m);
    for (uint32_t i = 0; i < m->node_count; i++) {
        worst = fmax(worst, m->gaps[i]);
        worst_union = fmax(worst_union, m->union_gaps[i]);
        sum += m->gaps[i];
    }
    *out = (sac_level_quality){.level = m->level, .spheres = m->node_count};
    out->worst_gap = (float)(100 * worst / diagonal);
    out->mean_gap = m->node_count ? (float)(100 * sum / m->node_count / diagonal) : 0;
    out->worst_union_gap = (float)(100 * worst_union / diagonal);
    measure_surface(m, def, diagonal, out);
    measure_volume(m, def, out);
}

sac_result sac_spheres_measure(const sac_tree *tree, const float (*spheres)[4], uint32_t count,
                               const sac_measure_def *def, sac_level_quality *out_levels, sac_error *error)
{
    const double most_work = 3e9; /* sphere tests, some ten seconds */
    double diagonal = sac_box_diagonal(&tree->box), looks = most_work / ((double)tree->node_count * count),
           samples = most_work / (8.0 * count * (tree->depth + 1));
    uint32_t most = tree->node_count;
    if (looks < 24) {
        sac_quality_stored(tree, out_levels);
        return SAC_OK;
    }
    sac_measure_def less = *def;
    less.sphere_points = (uint32_t)fmin(looks, def->sphere_points);
    less.surface_samples = (uint32_t)fmin(samples, def->surface_samples);
    less.volume_samples = (uint32_t)fmin(samples, def->volume_samples);
    uint32_t *nodes = sac_alloc(most, sizeof *nodes);
    double *gaps = sac_alloc(most, sizeof *gaps), *union_gaps = sac_alloc(most, sizeof *union_gaps);
    bool ok = nodes && gaps && union_gaps;
    if (!(diagonal > 0)) diagonal = 1;
    for (uint32_t level = 0; ok && level <= tree->depth; level++) {
        measuring m = {tree, spheres, count, level, less.sphere_points, nodes, 0, gaps, union_gaps};
        m.node_count = level_nodes(tree, level, nodes);
        measure_level(&m, &less, diagonal, &out_levels[level]);
    }
    sac_free(nodes, most, sizeof *nodes);
    sac_free(gaps, most, sizeof *gaps);
    sac_free(union_gaps, most, sizeof *union_gaps);
    if (ok) return SAC_OK;
    return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory to measure the tree");
}
