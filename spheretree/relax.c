/* Relaxing a level of a medial tree as a whole. Splitting keeps a node's pieces among its own children; but
 * where two parents overlap, a piece is in both, and a child of the other parent may hold it with less
 * stand-off. So pieces move to the best child of any parent whose whole chain of spheres holds them, then
 * centres are fitted anew. */
#include "spheretree/medial_internal.h"

#include <math.h>

#include "base/parallel.h"

enum { PIECE_CHUNK = 512, MOST_PARENTS = 64, ROUNDS = 2, SHARPENINGS = 1, EFFORT = 48 };

typedef struct relaxing {
    sac_growth *growth;
    sac_seat *seats; /* by node of the level; centres in mesh coordinates */
    uint32_t effort;
    sac_array(uint32_t) move_to; /* by piece */
    sac_array(uint32_t) owner;   /* by point: the node whose pieces meet there */
    sac_array(bool) at_border;   /* by piece */
    uint32_t *left;              /* by node of the level: pieces it has */
    uint8_t *failed;             /* by worker */
} relaxing;

static const double *corner_of(const sac_cover *cover, uint32_t j)
{
    return cover->points[cover->corners[j]];
}

static bool holds(const sac_cover *cover, uint32_t piece, const sac_draft_node *node)
{
    double r2 = (double)node->radius * node->radius;
    for (uint32_t j = cover->first_corner[piece]; j < cover->first_corner[piece + 1]; j++) {
        const double *p = corner_of(cover, j);
        double x = p[0] - node->centre[0], y = p[1] - node->centre[1], z = p[2] - node->centre[2];
        if (x * x + y * y + z * z > r2) return false;
    }
    return true;
}

static double need_of(const sac_cover *cover, uint32_t piece, const sac_seat *seat)
{
    double most = 0;
    for (uint32_t j = cover->first_corner[piece]; j < cover->first_corner[piece + 1]; j++) {
        const double *p = corner_of(cover, j);
        double x = p[0] - seat->centre[0], y = p[1] - seat->centre[1], z = p[2] - seat->centre[2];
        double d2 = x * x + y * y + z * z;
        if (d2 > most) most = d2;
    }
    const double *m = cover->middles[piece], *a = seat->anchor;
    double x = m[0] - a[0], y = m[1] - a[1], z = m[2] - a[2];
    return sqrt(most) - seat->depth + SAC_SEAT_NEARNESS * sqrt(x * x + y * y + z * z);
}

/* Parents on the level above whose chains hold the piece. */
static uint32_t find_parents(const sac_growth *g, uint32_t piece, uint32_t out[MOST_PARENTS])
{
    const sac_cover *cover = g->build->cover;
    uint32_t count = 1, next[MOST_PARENTS];
    out[0] = 0;
    for (uint32_t level = 1; level < g->level; level++) {
        uint32_t found = 0;
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t k = 0; k < g->child_count.data[out[i]] && found < MOST_PARENTS; k++) {
                uint32_t child = g->first_child.data[out[i]] + k;
                if (holds(cover, piece, &g->draft->nodes.data[child])) next[found++] = child;
            }
        memcpy(out, next, found * sizeof *next);
        count = found;
    }
    return count;
}

static void move_pieces(uint32_t chunk, uint32_t worker, void *context)
{
    (void)worker;
    relaxing *r = context;
    sac_growth *g = r->growth;
    const sac_cover *cover = g->build->cover;
    uint32_t first = g->level_first[g->level], end = (chunk + 1) * PIECE_CHUNK;
    if (end > cover->piece_count) end = cover->piece_count;
    for (uint32_t piece = chunk * PIECE_CHUNK; piece < end; piece++) {
        r->move_to.data[piece] = g->node_of.data[piece];
        if (!r->at_border.data[piece]) continue;
        uint32_t parents[MOST_PARENTS], count = find_parents(g, piece, parents),
                                        best = g->node_of.data[piece];
        double least = need_of(cover, piece, &r->seats[best - first]);
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t k = 0; k < g->child_count.data[parents[i]]; k++) {
                uint32_t node = g->first_child.data[parents[i]] + k;
                double need = need_of(cover, piece, &r->seats[node - first]);
                if (need < least) least = need, best = node;
            }
        r->move_to.data[piece] = best;
    }
}

/* Only a piece that touches another node's can be better off elsewhere. */
static bool mark_borders(relaxing *r)
{
    sac_growth *g = r->growth;
    const sac_cover *cover = g->cover;
    if (!sac_array_reserve(&r->owner, cover->point_count) ||
        !sac_array_reserve(&r->at_border, cover->piece_count))
        return false;
    sac_growth_find_borders(g, r->owner.data, r->at_border.data);
    return true;
}

/* A node that would lose all its pieces keeps the first. */
static void keep_one_each(relaxing *r, uint32_t count)
{
    sac_growth *g = r->growth;
    uint32_t first = g->level_first[g->level], *left = r->left;
    memset(left, 0, count * sizeof *left);
    for (uint32_t p = 0; p < g->cover->piece_count; p++) left[r->move_to.data[p] - first]++;
    for (uint32_t n = 0; n < count; n++)
        if (!left[n]) {
            uint32_t kept = g->pieces.data[g->starts.data[n]];
            /* Its new node has others, or it would be in the same position. */
            left[r->move_to.data[kept] - first]--;
            r->move_to.data[kept] = first + n;
            left[n] = 1;
        }
}

static void refit_node(uint32_t n, uint32_t worker, void *context)
{
    relaxing *r = context;
    sac_growth *g = r->growth;
    sac_arena *arena = &g->arenas[worker];
    sac_seat *seat = &r->seats[n];
    sac_arena_reset(arena);
    sac_region region = {.pieces = g->pieces.data + g->starts.data[n],
                         .piece_count = g->starts.data[n + 1] - g->starts.data[n]};
    memcpy(region.centre, seat->centre, sizeof region.centre);
    sac_patch patch;
    sac_seating one = {.count = 1, .seats = {{.depth = seat->depth, .hint = seat->hint}}};
    one.group_of = sac_arena_alloc(arena, region.piece_count, 1);
    if (!one.group_of || !sac_patch_init(&patch, g->build, &region, arena) ||
        !sac_seating_settle(&patch, &one, 1, r->effort, INFINITY, arena)) {
        r->failed[worker] = 1;
        return;
    }
    *seat = one.seats[0];
    for (int k = 0; k < 3; k++) {
        seat->centre[k] += patch.origin[k];
        seat->anchor[k] += patch.origin[k];
        g->draft->nodes.data[g->level_first[g->level] + n].centre[k] = (float)seat->centre[k];
    }
}

static bool relax_rounds(relaxing *r, uint32_t count, uint32_t rounds)
{
    sac_growth *g = r->growth;
    uint32_t threads = g->build->def->threads, pieces = g->cover->piece_count;
    if (!sac_array_reserve(&r->move_to, pieces)) return false;
    for (uint32_t round = 0; round < rounds; round++) {
        if (!mark_borders(r)) return false;
        sac_parallel_for((pieces + PIECE_CHUNK - 1) / PIECE_CHUNK, threads, move_pieces, r);
        keep_one_each(r, count);
        memcpy(g->node_of.data, r->move_to.data, pieces * sizeof *r->move_to.data);
        if (!sac_growth_sort(g)) return false;
        sac_parallel_for(count, threads, refit_node, r);
        for (uint32_t w = 0; w < threads; w++)
            if (r->failed[w]) return false;
    }
    return true;
}

/* A border runs along pieces, and its teeth cost stand-off: smaller pieces along borders, rounds in between.
 */
static bool relax_and_sharpen(relaxing *r, uint32_t count)
{
    sac_growth *g = r->growth;
    double size = sac_piece_size(g->build, g->level);
    if (!relax_rounds(r, count, ROUNDS)) return false;
    for (uint32_t i = 0; i < SHARPENINGS; i++) {
        size *= 0.5;
        if (!sac_growth_sharpen(g, size) || !relax_rounds(r, count, ROUNDS)) return false;
    }
    return true;
}

static void mean_of_pieces(const sac_growth *g, uint32_t n, double out[3])
{
    uint32_t count = g->starts.data[n + 1] - g->starts.data[n];
    for (uint32_t i = g->starts.data[n]; i < g->starts.data[n + 1]; i++)
        for (int k = 0; k < 3; k++) out[k] += g->build->cover->middles[g->pieces.data[i]][k] / count;
}

bool sac_medial_relax(sac_growth *g)
{
    const sac_build_def *def = g->build->def;
    if (!def->optimise || g->level < 2) return true; /* one parent: splitting has done it */
    uint32_t first = g->level_first[g->level], count = (uint32_t)g->draft->nodes.count - first;
    sac_arena arena;
    sac_arena_init(&arena);
    relaxing r = {.growth = g, .effort = EFFORT};
    r.seats = sac_arena_alloc(&arena, count, sizeof *r.seats);
    r.failed = sac_arena_alloc(&arena, SAC_BUILD_MOST_THREADS, 1);
    r.left = sac_arena_alloc(&arena, count, sizeof *r.left);
    bool done = r.seats && r.failed && r.left;
    if (done) {
        memset(r.failed, 0, SAC_BUILD_MOST_THREADS);
        for (uint32_t n = 0; n < count; n++) {
            sac_patch at = {.build = g->build};
            r.seats[n] = (sac_seat){.hint = UINT32_MAX};
            for (int k = 0; k < 3; k++) r.seats[n].centre[k] = g->draft->nodes.data[first + n].centre[k];
            mean_of_pieces(g, n, r.seats[n].anchor);
            sac_seat_update(&at, &r.seats[n]);
            sac_seat_verify(&at, &r.seats[n]);
        }
        done = relax_and_sharpen(&r, count);
    }
    sac_array_fini(&r.move_to);
    sac_array_fini(&r.owner);
    sac_array_fini(&r.at_border);
    sac_arena_fini(&arena);
    return done;
}
