/* Shapes that are sets of spheres: three built-in ones, files of them, and how well a tree fits one. */
#include "apps/shape.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/rng.h"

/* A torus as rings of spheres: `rings` steps around the axis, `around` spheres in each, `offset` from the
 * tube's centre line; odd rings are turned half a step. */
typedef struct torus_set {
    const char *name;
    uint32_t rings, around;
    float radius, offset;
} torus_set;

static const torus_set torus_sets[] = {
    {"t24", 24, 1, 0.10f, 0.0f},
    {"t100", 20, 5, 0.055f, 0.045f},
    {"t500", 50, 10, 0.03f, 0.07f},
};
enum { TORUS_SETS = sizeof torus_sets / sizeof *torus_sets };
static const double MAJOR_RADIUS = 0.30, TWO_PI = 6.283185307179586;

const char *sac_spheres_builtin_name(uint32_t index)
{
    return index < TORUS_SETS ? torus_sets[index].name : NULL;
}

bool sac_spheres_builtin(const char *name, float (**out_spheres)[4], uint32_t *out_count)
{
    const torus_set *set = NULL;
    for (int i = 0; i < TORUS_SETS; i++)
        if (strcmp(name, torus_sets[i].name) == 0) set = &torus_sets[i];
    *out_spheres = NULL;
    *out_count = 0;
    if (!set) return false;
    uint32_t count = set->rings * set->around;
    float(*spheres)[4] = sac_alloc(count, sizeof *spheres);
    if (!spheres) return true;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t ring = i / set->around, step = i % set->around;
        double u = TWO_PI * ring / set->rings, v = TWO_PI * (step + (ring % 2 ? 0.5 : 0.0)) / set->around,
               out = MAJOR_RADIUS + set->offset * cos(v);
        spheres[i][0] = (float)(out * cos(u));
        spheres[i][1] = (float)(set->offset * sin(v));
        spheres[i][2] = (float)(out * sin(u));
        spheres[i][3] = set->radius;
    }
    *out_spheres = spheres;
    *out_count = count;
    return true;
}

static sac_result bad_line(sac_error *error, const char *path, int64_t line, const char *what)
{
    sac_error_set(error, SAC_ERROR_FORMAT, "write one sphere a line: x y z r, with r >= 0", "%s", what);
    sac_error_at_line(error, line);
    return sac_error_in_file(error, path);
}

sac_result sac_spheres_read(const char *path, float (**out_spheres)[4], uint32_t *out_count, sac_error *error)
{
    typedef struct sphere {
        float v[4];
    } sphere;
    sac_array(sphere) list = {0};
    char text[512];
    sac_result result = SAC_OK;
    int64_t line = 0;
    *out_spheres = NULL;
    *out_count = 0;
    FILE *file = fopen(path, "r");
    if (!file) {
        sac_error_set(error, SAC_ERROR_IO, "check the name and the permissions", "%s", strerror(errno));
        return sac_error_in_file(error, path);
    }
    while (result == SAC_OK && fgets(text, sizeof text, file)) {
        line++;
        if (!strchr(text, '\n') && !feof(file)) {
            result = bad_line(error, path, line, "the line is longer than 510 characters or not text");
            break;
        }
        text[strcspn(text, "#\r\n")] = 0;
        sphere s;
        char *p = text, *end;
        int n = 0;
        for (; n < 4; n++, p = end) {
            double x = strtod(p, &end);
            if (end == p) break;
            s.v[n] = (float)x;
        }
        bool rest = p[strspn(p, " \t,;")] != 0;
        if (n == 0 && !rest) continue;
        if (n < 4 || rest)
            result = bad_line(error, path, line, "not four numbers");
        else if (!sac_vec3_is_finite(s.v) || !isfinite(s.v[3]) || s.v[3] < 0)
            result = bad_line(error, path, line, "a number is not finite or the radius is negative");
        else if (!sac_array_push(&list, s))
            result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the spheres");
    }
    if (result == SAC_OK && ferror(file)) {
        sac_error_set(error, SAC_ERROR_IO, NULL, "%s", strerror(errno));
        result = sac_error_in_file(error, path);
    }
    fclose(file);
    if (result == SAC_OK && !list.count) {
        sac_error_set(error, SAC_ERROR_EMPTY, "write one sphere a line: x y z r", "there is no sphere in it");
        result = sac_error_in_file(error, path);
    }
    if (result == SAC_OK) {
        *out_spheres = sac_alloc(list.count, sizeof **out_spheres);
        if (*out_spheres) {
            memcpy(*out_spheres, list.data, list.count * sizeof **out_spheres);
            *out_count = (uint32_t)list.count;
        } else {
            result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the spheres");
        }
    }
    sac_array_fini(&list);
    return result;
}

/* ---- measuring: the union of the spheres is the object ---- */

typedef struct measuring {
    const sac_tree *tree;
    const float (*spheres)[4];
    uint32_t count, level, points;
    const uint32_t *nodes;     /* of the level */
    double *gaps, *union_gaps; /* of each node */
} measuring;

/* Signed distance from the union's surface; exact outside. */
static double union_distance(const float (*spheres)[4], uint32_t count, const double p[3])
{
    double best = DBL_MAX;
    for (uint32_t i = 0; i < count; i++) {
        double x = p[0] - spheres[i][0], y = p[1] - spheres[i][1], z = p[2] - spheres[i][2];
        best = fmin(best, sqrt(x * x + y * y + z * z) - spheres[i][3]);
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

static double level_distance(const sac_tree *tree, uint32_t level, uint32_t except, const double p[3])
{
    double best = DBL_MAX;
    for (uint32_t id = tree->level_block[level] * SAC_LANES; id < tree->level_block[level + 1] * SAC_LANES;
         id++) {
        if (id == except || !sac_tree_has(tree, id)) continue;
        const sac_sphere_block *b = &tree->spheres[id / SAC_LANES];
        uint32_t k = id % SAC_LANES;
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
        if (gap > m->union_gaps[item] && level_distance(m->tree, m->level, id, p) >= 0)
            m->union_gaps[item] = gap;
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
            double distance = level_distance(m->tree, m->level, UINT32_MAX, p);
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
    for (uint32_t id = m->tree->level_block[m->level] * SAC_LANES;
         id < m->tree->level_block[m->level + 1] * SAC_LANES; id++) {
        sac_tree_node_info n;
        if (!sac_tree_node(m->tree, id, &n)) continue;
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
        bool in_level = level_distance(m->tree, m->level, UINT32_MAX, p) <= 0;
        object += in_object;
        inside += in_object && in_level;
        outside += in_level && !in_object;
    }
    quality->outside_volume = object ? (float)((double)outside / (double)object) : NAN;
    quality->interior_coverage = object ? (float)((double)inside / (double)object) : NAN;
}

sac_result sac_spheres_measure(const sac_tree *tree, const float (*spheres)[4], uint32_t count,
                               const sac_measure_def *def, sac_level_quality *out_levels, sac_error *error)
{
    double diagonal = sac_box_diagonal(&tree->box);
    if (!(diagonal > 0)) diagonal = 1;
    for (uint32_t level = 0; level <= tree->depth; level++) {
        uint32_t n = tree->level_nodes[level], found = 0;
        uint32_t *nodes = sac_alloc(n, sizeof *nodes);
        double *gaps = sac_alloc(n, sizeof *gaps), *union_gaps = sac_alloc(n, sizeof *union_gaps);
        sac_level_quality q = {.level = level, .spheres = n};
        if (nodes && gaps && union_gaps) {
            for (uint32_t id = tree->level_block[level] * SAC_LANES;
                 id < tree->level_block[level + 1] * SAC_LANES && found < n; id++)
                if (sac_tree_has(tree, id)) nodes[found++] = id;
            measuring m = {tree, spheres, count, level, def->sphere_points, nodes, gaps, union_gaps};
            double worst = 0, sum = 0, worst_union = 0;
            sac_parallel_for(found, def->threads, measure_node, &m);
            for (uint32_t i = 0; i < found; i++) {
                worst = fmax(worst, gaps[i]);
                worst_union = fmax(worst_union, union_gaps[i]);
                sum += gaps[i];
            }
            q.worst_gap = (float)(100 * worst / diagonal);
            q.mean_gap = found ? (float)(100 * sum / found / diagonal) : 0;
            q.worst_union_gap = (float)(100 * worst_union / diagonal);
            measure_surface(&m, def, diagonal, &q);
            measure_volume(&m, def, &q);
        }
        bool ok = nodes && gaps && union_gaps;
        sac_free(nodes, n, sizeof *nodes);
        sac_free(gaps, n, sizeof *gaps);
        sac_free(union_gaps, n, sizeof *union_gaps);
        if (!ok) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory to measure the tree");
        out_levels[level] = q;
    }
    return SAC_OK;
}
