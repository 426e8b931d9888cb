/* Building a tree from a mesh, level by level. The method only says how a node's pieces fall into groups;
 * what makes the tree trustworthy is here: each sphere is grown, in double and rounded up, to hold all
 * corners of its pieces, and pieces are handed down from parent to child, so every level covers everything
 * and every piece has an unbroken chain of spheres above it. */
#include "spheretree/build_internal.h"

#include <math.h>
#include <stdio.h>

/* Pieces a node gets on average. More pieces: smoother borders between spheres, longer build. */
#define PIECES_PER_NODE 64.0
#define LEAST_PIECES 4000.0
#define MOST_PIECES 4.0e6
#define MOST_LEAVES 2.0e6

static sac_result check_size(const sac_build_def *def, sac_error *error)
{
    double leaves = pow(def->branch, def->depth);
    if (leaves > MOST_LEAVES)
        return sac_error_set(error, SAC_ERROR_LIMIT, "choose a smaller depth or branching factor",
                             "%.0f leaves are more than 2 million", leaves);
    if (def->method == SAC_METHOD_MEDIAL && (def->reducers & SAC_REDUCER_COMBINED) == 0)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "choose merge, burst, expand, spawn or several",
                             "no reducer chosen");
    return SAC_OK;
}

static const sac_splitter *splitter_of(sac_method method)
{
    switch (method) {
    case SAC_METHOD_MEDIAL:
        return &sac_splitter_medial;
    case SAC_METHOD_HUBBARD:
        return &sac_splitter_hubbard;
    case SAC_METHOD_OCTREE:
        return &sac_splitter_octree;
    case SAC_METHOD_GRID:
        return &sac_splitter_grid;
    case SAC_METHOD_WRAPPED:
        return &sac_splitter_wrapped;
    default:
        return NULL;
    }
}

static double area_of(const sac_mesh *mesh)
{
    double area = 0;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        const float *a = mesh->vertices[mesh->triangles[t][0]], *b = mesh->vertices[mesh->triangles[t][1]],
                    *c = mesh->vertices[mesh->triangles[t][2]];
        double u[3], v[3];
        for (int k = 0; k < 3; k++) u[k] = (double)b[k] - a[k], v[k] = (double)c[k] - a[k];
        double x = u[1] * v[2] - u[2] * v[1], y = u[2] * v[0] - u[0] * v[2], z = u[0] * v[1] - u[1] * v[0];
        area += 0.5 * sqrt(x * x + y * y + z * z);
    }
    return area;
}

/* Triangles cut at this edge length have about 0.28 of its square in area. */
double sac_piece_size(const sac_build *build, uint32_t level)
{
    double pieces = pow(build->def->branch, level) * PIECES_PER_NODE;
    pieces = fmin(fmax(pieces, LEAST_PIECES), MOST_PIECES);
    return sqrt(build->area / pieces / 0.28);
}

/* Without an interior the mass is that of the leaves' spheres. */
static sac_result mass_of_leaves(const sac_draft *draft, uint32_t depth, sac_mass *out, sac_error *error)
{
    size_t n = draft->nodes.count;
    float(*spheres)[4] = sac_alloc(n, sizeof *spheres);
    uint32_t *level = sac_alloc_zero(n, sizeof *level), count = 0;
    sac_result result = SAC_OK;
    if (spheres && level) {
        for (size_t i = 1; i < n; i++) {
            const sac_draft_node *d = &draft->nodes.data[i];
            level[i] = level[d->parent] + 1;
            if (level[i] < depth) continue;
            memcpy(spheres[count], d->centre, sizeof d->centre);
            spheres[count++][3] = d->radius;
        }
        sac_mass_of_leaf_spheres((const float(*)[4])spheres, count, out);
    } else {
        result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the mass of %zu nodes", n);
    }
    sac_free(spheres, n, sizeof *spheres);
    sac_free(level, n, sizeof *level);
    return result;
}

static sac_result build_repaired(const sac_mesh *mesh, bool closed, const sac_build_def *def,
                                 sac_tree **out_tree, sac_error *error)
{
    const sac_splitter *splitter = splitter_of(def->method);
    if (!splitter)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "choose medial, hubbard, octree, grid or wrapped",
                             "method %s does not build from a mesh", sac_method_name(def->method));
    sac_build build = {.mesh = mesh, .def = def, .closed = closed};
    sac_tree like = {.branch = def->branch, .method = def->method, .box = sac_box_empty()};
    snprintf(like.name, sizeof like.name, "%s", mesh->name);
    for (uint32_t v = 0; v < mesh->vertex_count; v++) sac_box_add(&like.box, mesh->vertices[v]);
    for (int k = 0; k < 3; k++) build.low[k] = like.box.low[k], build.high[k] = like.box.high[k];
    build.diagonal = sac_box_diagonal(&like.box);
    build.area = area_of(mesh);
    like.flags = (closed ? SAC_TREE_CLOSED : 0u) | (def->solid ? SAC_TREE_SOLID : 0u);

    sac_surface *surface = NULL;
    sac_cells cells = {0};
    sac_cover cover = {0};
    sac_draft draft = {0};
    sac_arena arena;
    sac_arena_init(&arena);
    sac_result result = sac_surface_create(mesh, closed, &surface, error);
    if (result == SAC_OK && def->solid)
        result = sac_cells_init(&cells, surface, build.low, build.high, build.diagonal / 256, error);
    if (result == SAC_OK) result = sac_cover_init(&cover, mesh, sac_piece_size(&build, 1), &cells, error);
    build.surface = surface;
    build.cover = &cover;
    if (result == SAC_OK && splitter->prepare) {
        void *method = NULL;
        result = splitter->prepare(&build, &arena, &method, error);
        build.method = method;
    }
    if (result == SAC_OK) result = sac_grow(&build, &cover, &cells, splitter, &draft, error);
    if (result == SAC_OK)
        result = closed ? sac_mesh_mass(mesh, &like.mass, error)
                        : mass_of_leaves(&draft, def->depth, &like.mass, error);
    if (result == SAC_OK) result = sac_draft_assemble(&draft, &like, out_tree, error);
    sac_array_fini(&draft.nodes);
    sac_cover_fini(&cover);
    sac_cells_fini(&cells);
    sac_surface_destroy(&surface);
    sac_arena_fini(&arena);
    return result;
}

sac_result sac_tree_build(const sac_mesh *mesh, const sac_build_def *def, sac_tree **out_tree,
                          sac_error *error)
{
    SAC_NEED(error, out_tree);
    *out_tree = NULL;
    SAC_NEED(error, mesh, def);
    sac_result result = sac_build_def_check(def, error);
    if (result == SAC_OK) result = check_size(def, error);
    if (result != SAC_OK) return result;
    sac_mesh *copy = NULL;
    sac_mesh_report report;
    result = sac_mesh_create((const float(*)[3])mesh->vertices, mesh->vertex_count,
                             (const uint32_t(*)[3])mesh->triangles, mesh->triangle_count, mesh->name, &copy,
                             error);
    if (result == SAC_OK) result = sac_mesh_repair(copy, &report, error);
    if (result == SAC_OK && def->solid && !report.closed)
        result = sac_error_set(error, SAC_ERROR_OPEN_MESH, "close its holes, or build without solid",
                               "the mesh has %u open edges and no interior", report.boundary_edges);
    if (result == SAC_OK) result = build_repaired(copy, report.closed, def, out_tree, error);
    sac_mesh_destroy(&copy);
    return result;
}
