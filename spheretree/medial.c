/* The default builder: adaptive medial axis. Before each subdivision the medial surface is sampled anew where
 * the node is, so the approximation is as fine as the node is small; reducers pick as many balls as the node
 * has children; the optimiser seats them; the best set of spheres wins. */
#include "spheretree/medial_internal.h"

#include <math.h>

#include "base/rng.h"

/* More candidates or effort buy a few per cent of gap for a proportional part of the time. */
enum { MOST_CANDIDATES = 64, TRIAL_ROUNDS = 4, TRIAL_EFFORT = 16, FINAL_ROUNDS = 4, FINAL_EFFORT = 40 };

/* Shrinking ball: start large behind the piece, and while something pokes into the ball make it the ball
 * through the piece's middle and that point. */
sac_seat sac_medial_ball(const sac_patch *patch, uint32_t piece)
{
    const sac_build *build = patch->build;
    const sac_cover *cover = build->cover;
    uint32_t global = patch->region->pieces[piece];
    const double *p = cover->middles[global];
    sac_seat seat = {.hint = UINT32_MAX};
    for (int k = 0; k < 3; k++) seat.anchor[k] = seat.centre[k] = p[k] - patch->origin[k];
    if (global >= cover->surface_count || !build->closed) {
        sac_seat_update(patch, &seat);
        return seat;
    }
    const float *n = cover->normals[global];
    double radius = 0.5 * build->diagonal;
    seat.hint = cover->triangles[global];
    for (int step = 0; step < 24; step++) {
        double c[3] = {p[0] - radius * n[0], p[1] - radius * n[1], p[2] - radius * n[2]};
        sac_surface_hit hit;
        sac_surface_closest(build->surface, c, seat.hint, &hit);
        seat.hint = hit.triangle;
        if (hit.distance >= radius * (1 - 1e-3)) break;
        double u[3] = {p[0] - hit.point[0], p[1] - hit.point[1], p[2] - hit.point[2]};
        double along = u[0] * n[0] + u[1] * n[1] + u[2] * n[2], u2 = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
        if (along <= 1e-12 * build->diagonal) break;
        double next = u2 / (2 * along);
        if (!(next < radius * (1 - 1e-6))) break;
        radius = next;
    }
    for (int k = 0; k < 3; k++) seat.centre[k] -= radius * n[k];
    sac_seat_update(patch, &seat);
    sac_seat_verify(patch, &seat);
    return seat;
}

/* Pieces spread over the region: a random start, then always the piece farthest from those chosen, among a
 * bounded pool so that large regions stay cheap. */
static uint32_t spread_pieces(const sac_patch *patch, uint32_t wanted, sac_rng *rng, uint32_t *chosen,
                              sac_arena *arena)
{
    const sac_region *region = patch->region;
    const sac_cover *cover = patch->build->cover;
    uint32_t pool = region->piece_count < 1024 ? region->piece_count : 1024;
    uint32_t *members = sac_arena_alloc(arena, pool, sizeof *members);
    double *nearest = sac_arena_alloc(arena, pool, sizeof *nearest);
    if (!members || !nearest) return 0;
    for (uint32_t i = 0; i < pool; i++) {
        uint64_t low = (uint64_t)i * region->piece_count / pool,
                 high = (uint64_t)(i + 1) * region->piece_count / pool;
        members[i] = (uint32_t)low + sac_rng_below(rng, (uint32_t)(high - low));
        nearest[i] = INFINITY;
    }
    if (wanted > pool) wanted = pool;
    uint32_t at = sac_rng_below(rng, pool);
    for (uint32_t n = 0; n < wanted; n++) {
        chosen[n] = members[at];
        const double *p = cover->middles[region->pieces[members[at]]];
        uint32_t farthest = 0;
        for (uint32_t i = 0; i < pool; i++) {
            const double *q = cover->middles[region->pieces[members[i]]];
            double x = p[0] - q[0], y = p[1] - q[1], z = p[2] - q[2], d2 = x * x + y * y + z * z;
            if (d2 < nearest[i]) nearest[i] = d2;
            if (nearest[i] > nearest[farthest]) farthest = i;
        }
        at = farthest;
    }
    return wanted;
}

/* need[i][j]: distances first to give every point to its nearest candidate, then the maxima over the cells.
 */
static bool make_matrix(const sac_patch *patch, const sac_seat *seats, uint32_t m, sac_arena *arena,
                        sac_reduction *out)
{
    uint32_t padded = patch->padded_count;
    float *need = sac_arena_alloc(arena, (size_t)m * m, sizeof *need),
          *weight = sac_arena_alloc(arena, m, sizeof *weight);
    float *least = sac_arena_alloc(arena, padded, sizeof *least),
          *row = sac_arena_alloc(arena, (size_t)m * padded, sizeof *row);
    uint32_t *label = sac_arena_alloc(arena, padded, sizeof *label);
    if (!need || !weight || !least || !row || !label) return false;
    for (uint32_t i = 0; i < padded; i++) least[i] = INFINITY, label[i] = 0;
    for (uint32_t s = 0; s < m; s++) {
        float cx = (float)seats[s].centre[0], cy = (float)seats[s].centre[1], cz = (float)seats[s].centre[2];
        float depth = (float)seats[s].depth, *r = row + (size_t)s * padded;
        for (uint32_t i = 0; i < padded; i++) {
            float x = patch->x[i] - cx, y = patch->y[i] - cy, z = patch->z[i] - cz;
            r[i] = sqrtf(x * x + y * y + z * z) - depth;
            label[i] = r[i] < least[i] ? s : label[i];
            least[i] = r[i] < least[i] ? r[i] : least[i];
        }
    }
    for (uint32_t j = 0; j < m; j++) weight[j] = 0;
    for (uint32_t i = 0; i < patch->point_count; i++) weight[label[i]] += 1;
    for (uint32_t s = 0; s < m; s++) {
        float *to = need + (size_t)s * m, *r = row + (size_t)s * padded;
        for (uint32_t j = 0; j < m; j++) to[j] = 0;
        for (uint32_t i = 0; i < patch->point_count; i++)
            to[label[i]] = r[i] > to[label[i]] ? r[i] : to[label[i]];
    }
    *out = (sac_reduction){need, weight, m};
    return true;
}

/* The spawn reducer needs no medial axis: seats start on the surface, far from each other, and the optimiser
 * draws them inwards. */
static void spawn(const sac_patch *patch, const uint32_t *pieces, sac_seating *seating)
{
    for (uint32_t g = 0; g < seating->count; g++) {
        sac_seat *seat = &seating->seats[g];
        const double *p = patch->build->cover->middles[patch->region->pieces[pieces[g]]];
        *seat = (sac_seat){.hint = UINT32_MAX};
        for (int k = 0; k < 3; k++) seat->anchor[k] = seat->centre[k] = p[k] - patch->origin[k];
        sac_seat_update(patch, seat);
    }
}

typedef bool reducer(const sac_reduction *in, uint32_t count, sac_arena *arena, uint32_t *chosen);

static bool try_reducer(const sac_patch *patch, reducer *reduce, const sac_reduction *matrix,
                        const sac_seat *candidates, const uint32_t *spread, sac_seating *best,
                        sac_arena *arena)
{
    const sac_build_def *def = patch->build->def;
    sac_seating trial = {.count = best->count,
                         .group_of = sac_arena_alloc(arena, patch->region->piece_count, 1)};
    uint32_t chosen[SAC_TREE_MOST_BRANCH];
    if (!trial.group_of) return false;
    if (reduce) {
        if (!reduce(matrix, trial.count, arena, chosen)) return false;
        for (uint32_t g = 0; g < trial.count; g++) trial.seats[g] = candidates[chosen[g]];
    } else {
        spawn(patch, spread, &trial);
    }
    uint32_t rounds = def->optimise ? TRIAL_ROUNDS : 1, effort = def->optimise ? TRIAL_EFFORT : 0;
    if (!sac_seating_settle(patch, &trial, rounds, effort, arena)) return false;
    if (trial.cost < best->cost) {
        uint8_t *keep = best->group_of;
        *best = trial;
        best->group_of = keep;
        memcpy(keep, trial.group_of, patch->region->piece_count);
    }
    return true;
}

static bool split(const sac_build *build, const sac_region *region, sac_arena *arena, sac_split *out)
{
    const sac_build_def *def = build->def;
    sac_patch patch;
    sac_rng rng = sac_rng_seed(region->seed);
    sac_seat candidates[MOST_CANDIDATES];
    uint32_t spread[MOST_CANDIDATES];
    if (!sac_patch_init(&patch, build, region, arena)) return false;
    uint32_t count = region->piece_count < def->branch ? region->piece_count : def->branch;
    uint32_t m = spread_pieces(&patch, MOST_CANDIDATES, &rng, spread, arena);
    if (m == 0) return false;
    sac_seating best = {.count = count, .cost = INFINITY, .group_of = out->group_of};
    sac_reduction matrix = {0};
    for (uint32_t i = 0; i < m; i++) candidates[i] = sac_medial_ball(&patch, spread[i]);
    if (!make_matrix(&patch, candidates, m, arena, &matrix)) return false;
    struct {
        uint32_t bit;
        reducer *reduce;
    } all[] = {{SAC_REDUCER_MERGE, sac_reduce_merge},
               {SAC_REDUCER_BURST, sac_reduce_burst},
               {SAC_REDUCER_EXPAND, sac_reduce_expand},
               {SAC_REDUCER_SPAWN, NULL}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if ((def->reducers & all[i].bit) &&
            !try_reducer(&patch, all[i].reduce, &matrix, candidates, spread, &best, arena))
            return false;
    if (def->optimise && !sac_seating_settle(&patch, &best, FINAL_ROUNDS, FINAL_EFFORT, arena)) return false;
    out->group_count = count;
    for (uint32_t g = 0; g < count; g++)
        for (int k = 0; k < 3; k++) out->centre[g][k] = best.seats[g].centre[k] + patch.origin[k];
    return true;
}

const sac_splitter sac_splitter_medial = {NULL, split, sac_medial_relax};
