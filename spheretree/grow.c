/* Growing a tree level by level. The method only says how a node's pieces fall into groups; what makes the
 * tree trustworthy is here: every sphere is sized, in double and rounded up, to hold all corners of the
 * pieces its leaves stand for, so every level covers everything and every piece has an unbroken chain of
 * spheres above it. */
#include "spheretree/build_internal.h"

#include <math.h>

#include "base/parallel.h"
#include "base/rng.h"

/* Growth of every radius against the size of the object, so that rounding in a reader's own arithmetic does
 * not open a hole. */
#define RADIUS_SLACK 1e-6

/* Nodes are split in slices, so that progress is reported from the calling thread. */
enum { SLICE = 32 };

static float round_up(double x)
{
    float f = (float)x;
    return f < x ? nextafterf(f, INFINITY) : f;
}

/* ---- one sphere ---- */

static double radius_over(const sac_cover *cover, const uint32_t *pieces, uint32_t count,
                          const float centre[3])
{
    double most = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = cover->first_corner[pieces[i]]; j < cover->first_corner[pieces[i] + 1]; j++) {
            const double *p = cover->points[cover->corners[j]];
            double x = p[0] - centre[0], y = p[1] - centre[1], z = p[2] - centre[2],
                   d2 = x * x + y * y + z * z;
            if (d2 > most) most = d2;
        }
    return sqrt(most);
}

static void size_sphere(const sac_build *build, const uint32_t *pieces, uint32_t count, sac_draft_node *node)
{
    node->radius = round_up(radius_over(build->cover, pieces, count, node->centre) * (1 + RADIUS_SLACK) +
                            build->diagonal * RADIUS_SLACK);
}

/* No point of the sphere is farther from the object than this: from a centre inside at depth d every way out
 * to the sphere crosses the surface at least d from the centre, which leaves at most r - d; from outside, r +
 * d. */
static float gap_bound(const sac_build *build, const sac_draft_node *node, uint32_t hint,
                       sac_surface_hit *out_closest)
{
    double p[3] = {node->centre[0], node->centre[1], node->centre[2]};
    sac_surface_hit *hit = out_closest;
    sac_surface_closest(build->surface, p, hint, hit);
    /* Only a centre that is surely inside may take credit for its depth. */
    bool inside = hit->inside && (hit->sure || sac_surface_encloses(build->surface, p));
    return round_up(fmax(0, inside ? node->radius - hit->distance : node->radius + hit->distance));
}

/* Closest feature: the mean normal, the cone that holds the normals of all its pieces, and a point of its
 * surface: the one nearest to the centre, which with the gap tells a plane the surface touches, where that is
 * on a piece of its own that looks its way; else the middle one's. */
#define ITS_WAY 0.7 /* cosine */
static void describe(const sac_cover *cover, const uint32_t *pieces, uint32_t count,
                     const sac_surface_hit *closest, sac_draft_node *out)
{
    double mean[3] = {0}, normal[3] = {0}, weight = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t p = pieces[i];
        if (p >= cover->surface_count) continue;
        for (int k = 0; k < 3; k++) {
            mean[k] += cover->areas[p] * cover->middles[p][k];
            normal[k] += cover->areas[p] * cover->normals[p][k];
        }
        weight += cover->areas[p];
    }
    double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    bool known = weight > 0 && length > 1e-6 * weight;
    double nearest = INFINITY, widest = 1;
    uint32_t chosen = pieces[0];
    bool own = false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t p = pieces[i];
        if (p >= cover->surface_count) continue;
        double d2 = 0, along = 0;
        for (int k = 0; k < 3; k++) {
            double x = cover->middles[p][k] - mean[k] / weight;
            d2 += x * x;
            along += cover->normals[p][k] * normal[k];
        }
        if (!(d2 >= nearest)) nearest = d2, chosen = p;
        own |= cover->triangles[p] == closest->triangle && along > ITS_WAY * length;
        if (known && cover->areas[p] > 0) widest = fmin(widest, along / length);
    }
    for (int k = 0; k < 3; k++) {
        out->point[k] = (float)(own ? closest->point[k] : cover->middles[chosen][k]);
        out->normal[k] = known ? (float)(normal[k] / length) : 0.0f;
    }
    /* The float normals are good to 1e-7; acos near 1 turns that into 5e-4 radians. */
    out->cone = known ? fminf((float)acos(fmax(-1, widest)) + 1e-3f, 3.14159265f) : 3.14159265f;
}

/* ---- one level ---- */

bool sac_growth_sort(sac_growth *g)
{
    uint32_t first = g->level_first[g->level], count = (uint32_t)g->draft->nodes.count - first;
    uint32_t pieces = g->build->cover->piece_count;
    if (!sac_array_reserve(&g->starts, (size_t)count + 2) || !sac_array_reserve(&g->pieces, pieces))
        return false;
    uint32_t *starts = g->starts.data, *node_of = g->node_of.data;
    memset(starts, 0, ((size_t)count + 2) * sizeof *starts);
    for (uint32_t p = 0; p < pieces; p++) starts[node_of[p] - first + 2]++;
    for (uint32_t n = 0; n < count; n++) starts[n + 2] += starts[n + 1];
    for (uint32_t p = 0; p < pieces; p++) g->pieces.data[starts[node_of[p] - first + 1]++] = p;
    return true;
}

typedef struct cell {
    double low[3], high[3];
} cell;

/* What splitting a node gave. */
typedef struct litter {
    uint32_t count;
    double centre[SAC_TREE_MOST_BRANCH][3];
    cell cells[SAC_TREE_MOST_BRANCH];
    bool failed;
} litter;

typedef struct level_job {
    sac_growth *growth;
    const sac_splitter *splitter;
    litter *litters; /* by node of the slice */
    uint32_t first;  /* node of the level the slice starts with */
    uint8_t *group_of;
    const cell *cells;
    const uint64_t *seeds;
} level_job;

static void split_node(uint32_t item, uint32_t worker, void *context)
{
    level_job *job = context;
    sac_growth *g = job->growth;
    const sac_build *build = g->build;
    uint32_t n = job->first + item, begin = g->starts.data[n], count = g->starts.data[n + 1] - begin;
    const sac_draft_node *node = &g->draft->nodes.data[g->level_first[g->level] + n];
    sac_arena *arena = &g->arenas[worker];
    sac_arena_reset(arena);
    sac_region region = {
        .pieces = g->pieces.data + begin,
        .piece_count = count,
        .level = g->level,
        .levels_below = build->def->depth - g->level,
        .centre = {node->centre[0], node->centre[1], node->centre[2]},
        .radius = node->radius,
        .seed = job->seeds[n],
    };
    memcpy(region.cell_low, job->cells[n].low, sizeof region.cell_low);
    memcpy(region.cell_high, job->cells[n].high, sizeof region.cell_high);
    sac_split split = {.group_of = job->group_of + begin};
    litter *out = &job->litters[item];
    out->failed = !job->splitter->split(build, &region, arena, &split);
    if (out->failed) return;
    /* Groups without pieces are dropped; the others close up. */
    uint32_t members[SAC_TREE_MOST_BRANCH] = {0}, number[SAC_TREE_MOST_BRANCH] = {0};
    out->count = 0;
    for (uint32_t i = 0; i < count; i++) members[split.group_of[i]]++;
    for (uint32_t k = 0; k < split.group_count; k++) {
        if (!members[k]) continue;
        memcpy(out->centre[out->count], split.centre[k], sizeof split.centre[k]);
        memcpy(out->cells[out->count].low, split.cell_low[k], sizeof split.cell_low[k]);
        memcpy(out->cells[out->count].high, split.cell_high[k], sizeof split.cell_high[k]);
        number[k] = out->count++;
    }
    for (uint32_t i = 0; i < count; i++) split.group_of[i] = (uint8_t)number[split.group_of[i]];
}

static void size_node(uint32_t item, uint32_t worker, void *context)
{
    (void)worker;
    sac_growth *g = context;
    sac_draft_node *node = &g->draft->nodes.data[g->level_first[g->level] + item];
    size_sphere(g->build, g->pieces.data + g->starts.data[item],
                g->starts.data[item + 1] - g->starts.data[item], node);
}

/* Everything about a node that follows from its pieces; run on all levels once the leaves are final. */
static void finish_node(uint32_t item, uint32_t worker, void *context)
{
    (void)worker;
    sac_growth *g = context;
    const sac_cover *cover = g->build->cover;
    sac_draft_node *node = &g->draft->nodes.data[g->level_first[g->level] + item];
    const uint32_t *pieces = g->pieces.data + g->starts.data[item];
    uint32_t count = g->starts.data[item + 1] - g->starts.data[item];
    size_sphere(g->build, pieces, count, node);
    sac_surface_hit closest;
    node->gap =
        gap_bound(g->build, node, pieces[0] < cover->surface_count ? cover->triangles[pieces[0]] : UINT32_MAX,
                  &closest);
    describe(cover, pieces, count, &closest, node);
}

/* ---- all levels ---- */

typedef struct level_room {
    litter litters[SLICE];
    sac_array(uint8_t) group_of;
    cell *cells, *next_cells;
    uint64_t *seeds, *next_seeds;
    size_t nodes; /* most nodes of a level */
} level_room;

static bool add_node(sac_growth *g, const sac_draft_node *node)
{
    return sac_array_push(&g->draft->nodes, *node) && sac_array_push(&g->first_child, 0u) &&
           sac_array_push(&g->child_count, 0u);
}

/* Children of a slice of nodes become draft nodes; the pieces learn their new nodes. */
static bool adopt(sac_growth *g, const level_job *job, uint32_t count, level_room *room, uint32_t level_end)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t n = job->first + i, parent = g->level_first[g->level] + n,
                 child = (uint32_t)g->draft->nodes.count;
        const litter *l = &job->litters[i];
        if (l->failed) return false;
        g->first_child.data[parent] = child;
        g->child_count.data[parent] = l->count;
        uint64_t seed = job->seeds[n];
        for (uint32_t k = 0; k < l->count; k++) {
            sac_draft_node node = {.parent = parent};
            for (int a = 0; a < 3; a++) node.centre[a] = (float)l->centre[k][a];
            room->next_cells[child + k - level_end] = l->cells[k];
            room->next_seeds[child + k - level_end] = sac_rng_splitmix(&seed);
            if (!add_node(g, &node)) return false;
        }
        for (uint32_t p = g->starts.data[n]; p < g->starts.data[n + 1]; p++)
            g->node_of.data[g->pieces.data[p]] = child + job->group_of[p];
    }
    return true;
}

/* Finer pieces; they stay with the nodes their wholes were with. */
static bool refine(sac_growth *g, double piece_size, const bool *only)
{
    uint32_t *from;
    if (!sac_cover_refine(g->cover, piece_size, only, g->cells, &from)) return false;
    uint32_t count = g->cover->piece_count;
    sac_array(uint32_t) node_of = {0};
    bool enough = sac_array_reserve(&node_of, count);
    for (uint32_t p = 0; enough && p < count; p++) node_of.data[p] = g->node_of.data[from[p]];
    sac_free(from, count, sizeof *from);
    sac_array_fini(&g->node_of);
    memcpy(&g->node_of, &node_of, sizeof node_of);
    return enough && sac_growth_sort(g);
}

/* A point is on a border when pieces of two nodes meet in it. Slabs and cells need not share corners with
 * their neighbours, so they count as on one. */
void sac_growth_find_borders(const sac_growth *g, uint32_t *owner, bool *at_border)
{
    const sac_cover *cover = g->cover;
    const uint32_t unseen = UINT32_MAX, border = UINT32_MAX - 1;
    for (uint32_t i = 0; i < cover->point_count; i++) owner[i] = unseen;
    for (uint32_t p = 0; p < cover->piece_count; p++)
        for (uint32_t j = cover->first_corner[p]; j < cover->first_corner[p + 1]; j++) {
            uint32_t *o = &owner[cover->corners[j]], node = g->node_of.data[p];
            *o = *o == unseen || *o == node ? node : border;
        }
    for (uint32_t p = 0; p < cover->piece_count; p++) {
        at_border[p] = cover->first_corner[p + 1] - cover->first_corner[p] > 3;
        for (uint32_t j = cover->first_corner[p]; j < cover->first_corner[p + 1]; j++)
            at_border[p] = at_border[p] || owner[cover->corners[j]] == border;
    }
}

bool sac_growth_sharpen(sac_growth *g, double piece_size)
{
    uint32_t points = g->cover->point_count, pieces = g->cover->piece_count;
    uint32_t *owner = sac_alloc(points, sizeof *owner);
    bool *only = sac_alloc(pieces, sizeof *only), done = owner && only;
    if (done) {
        sac_growth_find_borders(g, owner, only);
        done = refine(g, piece_size, only);
    }
    sac_free(owner, points, sizeof *owner);
    sac_free(only, pieces, sizeof *only);
    return done;
}

/* Progress in levels done; false: the caller has had enough. */
static bool tell(const sac_build_def *def, float levels)
{
    return !def->progress || def->progress(levels / (float)def->depth, def->user);
}

static sac_result grow_level(sac_growth *g, const sac_splitter *splitter, level_room *room)
{
    const sac_build_def *def = g->build->def;
    uint32_t end = (uint32_t)g->draft->nodes.count, count = end - g->level_first[g->level];
    if (!refine(g, sac_piece_size(g->build, g->level + 1), NULL) ||
        !sac_array_reserve(&room->group_of, g->cover->piece_count))
        return SAC_ERROR_MEMORY;
    for (uint32_t done = 0; done < count;) {
        uint32_t slice = count - done < SLICE ? count - done : SLICE;
        level_job job = {g, splitter, room->litters, done, room->group_of.data, room->cells, room->seeds};
        sac_parallel_for(slice, def->threads, split_node, &job);
        if (!adopt(g, &job, slice, room, end)) return SAC_ERROR_MEMORY;
        done += slice;
        if (!tell(def, (float)g->level + 0.8f * (float)done / (float)count)) return SAC_ERROR_CANCELLED;
    }
    g->level_first[++g->level] = end;
    if (!sac_growth_sort(g) || (splitter->relax && !splitter->relax(g))) return SAC_ERROR_MEMORY;
    sac_parallel_for((uint32_t)g->draft->nodes.count - end, def->threads, size_node, g);
    if (!tell(def, (float)g->level)) return SAC_ERROR_CANCELLED;
    cell *cells = room->cells;
    room->cells = room->next_cells, room->next_cells = cells;
    uint64_t *seeds = room->seeds;
    room->seeds = room->next_seeds, room->next_seeds = seeds;
    return SAC_OK;
}

static bool plant_root(sac_growth *g, level_room *room)
{
    const sac_build *build = g->build;
    sac_draft_node root = {.parent = SAC_DRAFT_ROOT};
    double centre[3], radius, side = 0;
    sac_ball_of_points((const double(*)[3])build->cover->points, build->cover->point_count, centre, &radius);
    for (int k = 0; k < 3; k++)
        root.centre[k] = (float)centre[k], side = fmax(side, build->high[k] - build->low[k]);
    for (int k = 0; k < 3; k++) {
        double middle = 0.5 * (build->low[k] + build->high[k]);
        room->cells[0].low[k] = middle - 0.5 * side, room->cells[0].high[k] = middle + 0.5 * side;
    }
    room->seeds[0] = build->def->seed;
    if (!add_node(g, &root) || !sac_array_reserve(&g->node_of, build->cover->piece_count)) return false;
    memset(g->node_of.data, 0, build->cover->piece_count * sizeof *g->node_of.data);
    if (!sac_growth_sort(g)) return false;
    size_node(0, 0, g);
    return true;
}

/* From the leaves up: a node's pieces are those of its children, which may be fewer or other than it was
 * split with. */
static bool finish_levels(sac_growth *g)
{
    for (uint32_t level = g->level + 1; level-- > 0;) {
        g->level = level;
        uint32_t first = g->level_first[level], count = g->level_first[level + 1] - first;
        size_t all = g->draft->nodes.count;
        g->draft->nodes.count = first + count; /* what sorting takes for the level's end */
        bool sorted = sac_growth_sort(g);
        g->draft->nodes.count = all;
        if (!sorted) return false;
        sac_parallel_for(count, g->build->def->threads, finish_node, g);
        for (uint32_t p = 0; level > 0 && p < g->build->cover->piece_count; p++)
            g->node_of.data[p] = g->draft->nodes.data[g->node_of.data[p]].parent;
    }
    return true;
}

sac_result sac_grow(const sac_build *build, sac_cover *cover, const sac_cells *cells,
                    const sac_splitter *splitter, sac_draft *draft, sac_error *error)
{
    const sac_build_def *def = build->def;
    sac_arena arenas[SAC_BUILD_MOST_THREADS], arena;
    sac_growth g = {.build = build, .cover = cover, .cells = cells, .draft = draft, .arenas = arenas};
    level_room room = {.nodes = 1};
    for (uint32_t i = 0; i < def->depth; i++) room.nodes *= def->branch;
    for (uint32_t i = 0; i < def->threads; i++) sac_arena_init(&arenas[i]);
    sac_arena_init(&arena);
    room.cells = sac_arena_alloc(&arena, room.nodes, sizeof *room.cells);
    room.next_cells = sac_arena_alloc(&arena, room.nodes, sizeof *room.next_cells);
    room.seeds = sac_arena_alloc(&arena, room.nodes, sizeof *room.seeds);
    room.next_seeds = sac_arena_alloc(&arena, room.nodes, sizeof *room.next_seeds);
    sac_result result = SAC_ERROR_MEMORY;
    if (room.cells && room.next_cells && room.seeds && room.next_seeds && plant_root(&g, &room)) {
        result = tell(def, 0) ? SAC_OK : SAC_ERROR_CANCELLED;
        for (uint32_t level = 0; result == SAC_OK && level < def->depth; level++)
            result = grow_level(&g, splitter, &room);
        g.level_first[g.level + 1] = (uint32_t)draft->nodes.count;
        if (result == SAC_OK && !finish_levels(&g)) result = SAC_ERROR_MEMORY;
    }
    sac_arena_fini(&arena);
    for (uint32_t i = 0; i < def->threads; i++) sac_arena_fini(&arenas[i]);
    sac_array_fini(&g.first_child);
    sac_array_fini(&g.child_count);
    sac_array_fini(&g.node_of);
    sac_array_fini(&g.pieces);
    sac_array_fini(&g.starts);
    sac_array_fini(&room.group_of);
    if (result == SAC_ERROR_MEMORY)
        sac_error_set(error, result, "use fewer levels", "no memory to build the tree");
    if (result == SAC_ERROR_CANCELLED) sac_error_set(error, result, NULL, "building was cancelled");
    return result;
}
