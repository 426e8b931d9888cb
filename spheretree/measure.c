/* The evaluator. It knows nothing of how a tree was built: it samples spheres, surface and space. */
#include "spheretree/measure.h"
#include "spheretree/build_internal.h"

#include <math.h>

#include "base/parallel.h"
#include "base/rng.h"

enum { COOKIE = 0x3ea5, CHUNK = 1024, SCOUTS = 40 };

sac_measure_def sac_default_measure_def(void)
{
    return (sac_measure_def){.sphere_points = 642,
                             .surface_samples = 100000,
                             .volume_samples = 60000,
                             .threads = 1,
                             .seed = 1,
                             .cookie = COOKIE};
}

/* One level's spheres side by side. */
typedef struct set {
    double (*centre)[3], *radius;
    uint32_t count;
} set;

typedef struct work {
    const sac_tree *tree;
    const sac_mesh *mesh;
    const sac_surface *surface;
    const sac_measure_def *def;
    set sets[SAC_TREE_MOST_DEPTH + 1];
    uint32_t level;
    double diagonal;
    bool closed;
    double (*directions)[3];      /* Fibonacci points of the unit sphere */
    double *gap, *union_gap;      /* by sphere of the level */
    double *area_up_to;           /* prefix sums over triangles */
    struct chunk_result *results; /* by chunk, summed in order: independent of threads */
    double low[3], high[3];       /* box of the level's spheres */
} work;

typedef struct chunk_result {
    uint32_t samples, covered[SAC_TREE_MOST_DEPTH + 1], path[SAC_TREE_MOST_DEPTH + 1];
    double hole[SAC_TREE_MOST_DEPTH + 1];
    uint32_t in_union_outside, interior, interior_covered;
} chunk_result;

static double signed_distance(const work *w, const double p[3], uint32_t *hint)
{
    sac_surface_hit hit;
    sac_surface_closest(w->surface, p, *hint, &hit);
    *hint = hit.triangle;
    bool inside = hit.inside && (hit.sure || sac_surface_encloses(w->surface, p));
    return inside ? -hit.distance : hit.distance;
}

static bool in_another(const set *s, uint32_t self, const double p[3])
{
    for (uint32_t i = 0; i < s->count; i++) {
        if (i == self) continue;
        double x = p[0] - s->centre[i][0], y = p[1] - s->centre[i][1], z = p[2] - s->centre[i][2];
        if (x * x + y * y + z * z < s->radius[i] * s->radius[i]) return true;
    }
    return false;
}

/* Signed distance changes no faster than position, so a point near one that was measured need not be asked
 * when it cannot beat the best so far. */
static void measure_sphere(uint32_t index, uint32_t worker, void *context)
{
    (void)worker;
    work *w = context;
    const set *s = &w->sets[w->level];
    uint32_t n = w->def->sphere_points, hint = UINT32_MAX, stride = n / SCOUTS ? n / SCOUTS : 1, scouts = 0;
    double scout_value[SCOUTS * 2 + 2], best = 0, best_union = 0, r = s->radius[index];
    const double *c = s->centre[index];
    uint32_t scout_at[SCOUTS * 2 + 2];
    for (uint32_t i = 0; i < n && scouts < SCOUTS * 2; i += stride) {
        double p[3] = {c[0] + r * w->directions[i][0], c[1] + r * w->directions[i][1],
                       c[2] + r * w->directions[i][2]};
        scout_at[scouts] = i;
        scout_value[scouts] = signed_distance(w, p, &hint);
        if (scout_value[scouts] > best_union && !in_another(s, index, p)) best_union = scout_value[scouts];
        best = fmax(best, scout_value[scouts++]);
    }
    for (uint32_t i = 0; i < n; i++) {
        double limit = INFINITY;
        for (uint32_t k = 0; k < scouts; k++) {
            const double *a = w->directions[i], *b = w->directions[scout_at[k]];
            double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
            limit = fmin(limit, scout_value[k] + r * sqrt(x * x + y * y + z * z));
        }
        if (limit <= best_union) continue;
        double p[3] = {c[0] + r * w->directions[i][0], c[1] + r * w->directions[i][1],
                       c[2] + r * w->directions[i][2]};
        bool alone = !in_another(s, index, p);
        if (limit <= best && !alone) continue;
        double d = signed_distance(w, p, &hint);
        best = fmax(best, d);
        if (alone) best_union = fmax(best_union, d);
    }
    w->gap[index] = best;
    w->union_gap[index] = best_union;
}

/* ---- coverage ---- */

static bool holds(const sac_tree *tree, uint32_t id, const double p[3])
{
    const sac_sphere_block *b = &tree->spheres[id / SAC_LANES];
    uint32_t l = id % SAC_LANES;
    double x = p[0] - b->x[l], y = p[1] - b->y[l], z = p[2] - b->z[l];
    return x * x + y * y + z * z <= (double)b->r[l] * b->r[l];
}

/* Marks the levels reached by chains of spheres that all hold the point. */
static void follow(const sac_tree *tree, uint32_t id, uint32_t level, const double p[3], bool *reached)
{
    if (!sac_tree_has(tree, id) || !holds(tree, id, p)) return;
    reached[level] = true;
    uint32_t link = tree->links[id / SAC_LANES].link[id % SAC_LANES];
    if (link & SAC_LINK_LEAF) {
        /* A leaf above the last level stands for itself on all deeper ones. */
        for (uint32_t l = level + 1; l <= tree->depth; l++) reached[l] = true;
        return;
    }
    for (uint32_t k = 0; k < tree->blocks_per_node * SAC_LANES && !reached[tree->depth]; k++)
        follow(tree, link * SAC_LANES + k, level + 1, p, reached);
}

static double distance_to_union(const set *s, const double p[3])
{
    double least = INFINITY;
    for (uint32_t i = 0; i < s->count; i++) {
        double x = p[0] - s->centre[i][0], y = p[1] - s->centre[i][1], z = p[2] - s->centre[i][2];
        least = fmin(least, sqrt(x * x + y * y + z * z) - s->radius[i]);
    }
    return least;
}

static void surface_sample(const work *w, sac_rng *rng, double out[3])
{
    double at = sac_rng_double(rng) * w->area_up_to[w->mesh->triangle_count];
    uint32_t low = 0, high = w->mesh->triangle_count;
    while (high - low > 1) {
        uint32_t mid = (low + high) / 2;
        if (w->area_up_to[mid] <= at)
            low = mid;
        else
            high = mid;
    }
    double u = sac_rng_double(rng), v = sac_rng_double(rng);
    if (u + v > 1) u = 1 - u, v = 1 - v;
    const uint32_t *t = w->mesh->triangles[low];
    for (int k = 0; k < 3; k++) {
        double a = w->mesh->vertices[t[0]][k];
        out[k] = a + u * (w->mesh->vertices[t[1]][k] - a) + v * (w->mesh->vertices[t[2]][k] - a);
    }
}

static uint32_t chunk_size(uint32_t chunk, uint32_t total)
{
    return total - chunk * CHUNK < CHUNK ? total - chunk * CHUNK : CHUNK;
}

static void cover_chunk(uint32_t chunk, uint32_t worker, void *context)
{
    (void)worker;
    work *w = context;
    const sac_tree *tree = w->tree;
    chunk_result *out = &w->results[chunk];
    sac_rng rng = sac_rng_seed(w->def->seed * 1000003u + chunk);
    *out = (chunk_result){.samples = chunk_size(chunk, w->def->surface_samples)};
    for (uint32_t i = 0; i < out->samples; i++) {
        double p[3];
        bool reached[SAC_TREE_MOST_DEPTH + 1] = {false};
        surface_sample(w, &rng, p);
        follow(tree, 0, 0, p, reached);
        for (uint32_t level = 0; level <= tree->depth; level++) {
            out->path[level] += reached[level];
            double away = reached[level] ? 0 : distance_to_union(&w->sets[level], p);
            out->covered[level] += away <= 0;
            out->hole[level] = fmax(out->hole[level], away);
        }
    }
}

static void volume_chunk(uint32_t chunk, uint32_t worker, void *context)
{
    (void)worker;
    work *w = context;
    chunk_result *out = &w->results[chunk];
    sac_rng rng = sac_rng_seed(w->def->seed * 7777777u + chunk);
    uint32_t hint = UINT32_MAX;
    *out = (chunk_result){.samples = chunk_size(chunk, w->def->volume_samples)};
    for (uint32_t i = 0; i < out->samples; i++) {
        double p[3];
        bool in_box = true;
        for (int k = 0; k < 3; k++) {
            p[k] = w->low[k] + (w->high[k] - w->low[k]) * sac_rng_double(&rng);
            in_box = in_box && p[k] >= w->tree->box.low[k] && p[k] <= w->tree->box.high[k];
        }
        bool in_union = in_another(&w->sets[w->level], UINT32_MAX, p);
        if (!in_box) {
            out->in_union_outside += in_union;
            continue;
        }
        bool inside = signed_distance(w, p, &hint) <= 0;
        out->in_union_outside += in_union && !inside;
        out->interior += inside;
        out->interior_covered += inside && in_union;
    }
}

/* ---- putting it together ---- */

static bool collect_sets(work *w, sac_arena *arena)
{
    const sac_tree *tree = w->tree;
    for (uint32_t level = 0; level <= tree->depth; level++) {
        set *s = &w->sets[level];
        uint32_t room = tree->level_nodes[level] + tree->leaf_count;
        s->centre = sac_arena_alloc(arena, room, sizeof *s->centre);
        s->radius = sac_arena_alloc(arena, room, sizeof *s->radius);
        if (!s->centre || !s->radius) return false;
        /* Leaves of earlier levels count on every deeper one. */
        for (uint32_t id = 0; id < tree->level_block[level + 1] * SAC_LANES; id++) {
            if (!sac_tree_has(tree, id)) continue;
            uint32_t b = id / SAC_LANES, l = id % SAC_LANES;
            if (b < tree->level_block[level] && !(tree->links[b].link[l] & SAC_LINK_LEAF)) continue;
            s->centre[s->count][0] = tree->spheres[b].x[l];
            s->centre[s->count][1] = tree->spheres[b].y[l];
            s->centre[s->count][2] = tree->spheres[b].z[l];
            s->radius[s->count++] = tree->spheres[b].r[l];
        }
    }
    return true;
}

static bool prepare(work *w, sac_arena *arena)
{
    const sac_mesh *mesh = w->mesh;
    uint32_t n = w->def->sphere_points, most = w->tree->node_count + 1;
    uint32_t samples =
        w->def->surface_samples > w->def->volume_samples ? w->def->surface_samples : w->def->volume_samples;
    w->directions = sac_arena_alloc(arena, n, sizeof *w->directions);
    w->gap = sac_arena_alloc(arena, most, sizeof *w->gap);
    w->union_gap = sac_arena_alloc(arena, most, sizeof *w->union_gap);
    w->area_up_to = sac_arena_alloc(arena, (size_t)mesh->triangle_count + 1, sizeof *w->area_up_to);
    w->results = sac_arena_alloc(arena, samples / CHUNK + 1, sizeof *w->results);
    if (!w->directions || !w->gap || !w->union_gap || !w->area_up_to || !w->results ||
        !collect_sets(w, arena))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        double z = 1 - (2 * i + 1.0) / n, ring = sqrt(1 - z * z), angle = i * 2.399963229728653;
        w->directions[i][0] = ring * cos(angle), w->directions[i][1] = ring * sin(angle),
        w->directions[i][2] = z;
    }
    w->area_up_to[0] = 0;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        const float *a = mesh->vertices[mesh->triangles[t][0]], *b = mesh->vertices[mesh->triangles[t][1]],
                    *c = mesh->vertices[mesh->triangles[t][2]];
        double u[3], v[3];
        for (int k = 0; k < 3; k++) u[k] = (double)b[k] - a[k], v[k] = (double)c[k] - a[k];
        double x = u[1] * v[2] - u[2] * v[1], y = u[2] * v[0] - u[0] * v[2], z = u[0] * v[1] - u[1] * v[0];
        w->area_up_to[t + 1] = w->area_up_to[t] + 0.5 * sqrt(x * x + y * y + z * z);
    }
    return true;
}

static void measure_gaps(work *w, sac_level_quality *out)
{
    const set *s = &w->sets[w->level];
    double sum = 0, worst = 0, worst_union = 0, percent = 100 / w->diagonal;
    sac_parallel_for(s->count, w->def->threads, measure_sphere, w);
    for (uint32_t i = 0; i < s->count; i++) {
        sum += w->gap[i];
        worst = fmax(worst, w->gap[i]);
        worst_union = fmax(worst_union, w->union_gap[i]);
    }
    out->level = w->level;
    out->spheres = s->count;
    out->mean_gap = (float)(sum / s->count * percent);
    out->worst_gap = (float)(worst * percent);
    out->worst_union_gap = (float)(worst_union * percent);
}

static void measure_volume(work *w, double mesh_volume, sac_level_quality *out)
{
    out->outside_volume = out->interior_coverage = NAN;
    if (!w->closed || w->def->volume_samples == 0) return;
    const set *s = &w->sets[w->level];
    for (int k = 0; k < 3; k++) w->low[k] = INFINITY, w->high[k] = -INFINITY;
    for (uint32_t i = 0; i < s->count; i++)
        for (int k = 0; k < 3; k++) {
            w->low[k] = fmin(w->low[k], s->centre[i][k] - s->radius[i]);
            w->high[k] = fmax(w->high[k], s->centre[i][k] + s->radius[i]);
        }
    uint32_t chunks = (w->def->volume_samples + CHUNK - 1) / CHUNK;
    uint64_t outside = 0, interior = 0, covered = 0;
    sac_parallel_for(chunks, w->def->threads, volume_chunk, w);
    for (uint32_t c = 0; c < chunks; c++) {
        outside += w->results[c].in_union_outside;
        interior += w->results[c].interior;
        covered += w->results[c].interior_covered;
    }
    double box = (w->high[0] - w->low[0]) * (w->high[1] - w->low[1]) * (w->high[2] - w->low[2]);
    out->outside_volume = (float)(box * (double)outside / w->def->volume_samples / mesh_volume);
    out->interior_coverage = interior ? (float)((double)covered / (double)interior) : NAN;
}

static void measure_coverage(work *w, sac_level_quality *levels)
{
    uint32_t total = w->def->surface_samples, chunks = (total + CHUNK - 1) / CHUNK;
    sac_parallel_for(chunks, w->def->threads, cover_chunk, w);
    for (uint32_t level = 0; level <= w->tree->depth; level++) {
        uint64_t covered = 0, path = 0;
        double hole = 0;
        for (uint32_t c = 0; c < chunks; c++) {
            covered += w->results[c].covered[level];
            path += w->results[c].path[level];
            hole = fmax(hole, w->results[c].hole[level]);
        }
        levels[level].coverage = total ? (float)((double)covered / total) : NAN;
        levels[level].path_coverage = total ? (float)((double)path / total) : NAN;
        levels[level].largest_hole = (float)(hole * 100 / w->diagonal);
    }
}

sac_result sac_tree_measure(const sac_tree *tree, const sac_mesh *mesh, const sac_measure_def *def,
                            sac_level_quality *levels, sac_error *error)
{
    if (!levels) return sac_error_null(error, "out_levels", 0);
    SAC_NEED(error, tree, mesh, def);
    if (def->cookie != COOKIE || def->sphere_points < 12 || def->threads < 1)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "start from sac_default_measure_def()",
                             "the measure definition was not initialised");
    sac_mesh *copy = NULL;
    sac_mesh_report report;
    sac_result result = sac_mesh_create((const float(*)[3])mesh->vertices, mesh->vertex_count,
                                        (const uint32_t(*)[3])mesh->triangles, mesh->triangle_count,
                                        mesh->name, &copy, error);
    if (result == SAC_OK) result = sac_mesh_repair(copy, &report, error);
    sac_surface *surface = NULL;
    if (result == SAC_OK) result = sac_surface_create(copy, report.closed, &surface, error);
    if (result == SAC_OK) {
        sac_box box = sac_box_empty();
        for (uint32_t v = 0; v < copy->vertex_count; v++) sac_box_add(&box, copy->vertices[v]);
        work w = {.tree = tree, .mesh = copy, .surface = surface, .def = def, .closed = report.closed};
        w.diagonal = sac_box_diagonal(&box);
        sac_mass mass = {0};
        if (report.closed) result = sac_mesh_mass(copy, &mass, error);
        sac_arena arena;
        sac_arena_init(&arena);
        if (result == SAC_OK && !prepare(&w, &arena))
            result =
                sac_error_set(error, SAC_ERROR_MEMORY, "use fewer samples", "no memory to measure the tree");
        for (uint32_t level = 0; result == SAC_OK && level <= tree->depth; level++) {
            levels[level] = (sac_level_quality){0};
            w.level = level;
            measure_gaps(&w, &levels[level]);
            measure_volume(&w, mass.volume, &levels[level]);
        }
        if (result == SAC_OK) measure_coverage(&w, levels);
        sac_arena_fini(&arena);
    }
    sac_surface_destroy(&surface);
    sac_mesh_destroy(&copy);
    return result;
}
