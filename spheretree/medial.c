/* The default builder: adaptive medial axis. Before each subdivision the medial surface is sampled anew where
 * the node is, so the approximation is as fine as the node is small; reducers pick as many balls as the node
 * has children; the optimiser seats them; the best set of spheres wins. */
#include "spheretree/medial_internal.h"

#include <math.h>

#include "base/rng.h"

/* More candidates, starts or effort buy a few per cent of gap for a proportional part of the time. */
enum {
    MOST_CANDIDATES = 64,
    TRIAL_ROUNDS = 4,
    TRIAL_EFFORT = 16,
    FINAL_ROUNDS = 3,
    FINAL_EFFORT = 20,
    ROOT_STARTS = 2,
    LOOK_CANDIDATES = 32,
    LOOK_ROUNDS = 2,
    LOOK_EFFORT = 6,
    EVEN_STEPS = 10,
};

/* Stand-off added for each unit a child's own children are above the mean. */
#define EVEN_RATE 1.0
/* A trial this much dearer than the best after two rounds is given up. */
#define HOPELESS 1.1

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

/* The medial surface where a node is: balls, and what each would need to hold the others' points. */
typedef struct field {
    sac_seat balls[MOST_CANDIDATES];
    uint32_t pieces[MOST_CANDIDATES]; /* where each ball touches */
    uint32_t count;
    sac_reduction matrix;
} field;

static bool field_init(field *f, const sac_patch *patch, uint32_t wanted, sac_rng *rng, sac_arena *arena)
{
    f->count = spread_pieces(patch, wanted, rng, f->pieces, arena);
    for (uint32_t i = 0; i < f->count; i++) f->balls[i] = sac_medial_ball(patch, f->pieces[i]);
    return f->count > 0 && make_matrix(patch, f->balls, f->count, arena, &f->matrix);
}

typedef bool reducer(const sac_reduction *in, uint32_t count, sac_arena *arena, uint32_t *chosen);

static bool seat(const sac_patch *patch, reducer *reduce, const field *f, sac_seating *out, sac_arena *arena)
{
    uint32_t chosen[SAC_TREE_MOST_BRANCH];
    if (!reduce) {
        spawn(patch, f->pieces, out);
        return true;
    }
    if (!reduce(&f->matrix, out->count, arena, chosen)) return false;
    for (uint32_t g = 0; g < out->count; g++) out->seats[g] = f->balls[chosen[g]];
    return true;
}

static double eighth(double x)
{
    double x4 = x * x * x * x;
    return x4 * x4;
}

/* How well could the children be split in turn? One quick split each; loads are the eighth-power means over
 * each child's children, the result that over all. */
static bool look_ahead(const sac_patch *patch, const sac_seating *seating, uint64_t seed, sac_arena *arena,
                       double loads[SAC_TREE_MOST_BRANCH], double *out)
{
    sac_rng rng = sac_rng_seed(seed);
    const sac_region *region = patch->region;
    uint32_t *members = sac_arena_alloc(arena, region->piece_count, sizeof *members), spheres = 0;
    double sum = 0;
    if (!members) return false;
    for (uint32_t g = 0; g < seating->count; g++) {
        sac_region part = {.pieces = members};
        for (int k = 0; k < 3; k++) part.centre[k] = seating->seats[g].centre[k] + patch->origin[k];
        for (uint32_t p = 0; p < region->piece_count; p++)
            if (seating->group_of[p] == g) members[part.piece_count++] = region->pieces[p];
        uint32_t branch = patch->build->def->branch;
        sac_arena_mark mark = sac_arena_mark_now(arena);
        if (part.piece_count < branch) {
            *out = INFINITY; /* a child that cannot be split wastes its share of the level below */
            return true;
        }
        sac_seating below = {.count = branch};
        sac_patch child;
        field f;
        below.group_of = sac_arena_alloc(arena, part.piece_count, 1);
        if (!below.group_of || !sac_patch_init(&child, patch->build, &part, arena) ||
            !field_init(&f, &child, LOOK_CANDIDATES, &rng, arena) ||
            !seat(&child, sac_reduce_expand, &f, &below, arena) ||
            !sac_seating_settle(&child, &below, LOOK_ROUNDS, LOOK_EFFORT, INFINITY, arena))
            return false;
        double own = 0;
        for (uint32_t k = 0; k < below.count; k++) own += eighth(fmax(0, below.standoff[k]));
        loads[g] = sqrt(sqrt(sqrt(own / below.count)));
        sum += own, spheres += below.count;
        sac_arena_rewind(arena, mark);
    }
    *out = spheres ? sqrt(sqrt(sqrt(sum / spheres))) : 0;
    return true;
}

/* All below depends on the first split, so it is judged by its grandchildren and evened out. */
static bool balanced(const sac_patch *patch)
{
    return patch->build->def->optimise && patch->region->level == 0 && patch->region->levels_below > 1;
}

static void take_if_better(const sac_patch *patch, const sac_seating *trial, sac_seating *best)
{
    if (!(trial->cost < best->cost) && best->seated) return;
    uint8_t *keep = best->group_of;
    *best = *trial;
    best->seated = true;
    best->group_of = keep;
    memcpy(keep, trial->group_of, patch->region->piece_count);
}

/* Children that would be hard to split give pieces to their neighbours: raise what they need, settle, look
 * again. */
static bool even_out(const sac_patch *patch, sac_seating *best, sac_arena *arena)
{
    sac_seating trial = *best;
    trial.group_of = sac_arena_alloc(arena, patch->region->piece_count, 1);
    if (!trial.group_of) return false;
    memcpy(trial.group_of, best->group_of, patch->region->piece_count);
    for (int step = 0; step < EVEN_STEPS; step++) {
        double loads[SAC_TREE_MOST_BRANCH], mean = 0;
        sac_arena_mark mark = sac_arena_mark_now(arena);
        if (!look_ahead(patch, &trial, patch->region->seed, arena, loads, &trial.cost)) return false;
        if (trial.cost == INFINITY) break;
        take_if_better(patch, &trial, best);
        for (uint32_t g = 0; g < trial.count; g++) mean += loads[g] / trial.count;
        double most = 0;
        for (uint32_t g = 0; g < trial.count; g++) most += 0.5 * fmax(0, trial.standoff[g]) / trial.count;
        for (uint32_t g = 0; g < trial.count; g++)
            trial.bias[g] = fmax(-most, fmin(most, trial.bias[g] + EVEN_RATE * (loads[g] - mean)));
        if (!sac_seating_settle(patch, &trial, 1, TRIAL_EFFORT, INFINITY, arena)) return false;
        sac_arena_rewind(arena, mark);
    }
    return true;
}

static bool try_reducer(const sac_patch *patch, reducer *reduce, const field *f, sac_seating *best,
                        sac_arena *arena)
{
    const sac_build_def *def = patch->build->def;
    sac_arena_mark mark = sac_arena_mark_now(arena);
    sac_seating trial = {.count = best->count,
                         .group_of = sac_arena_alloc(arena, patch->region->piece_count, 1)};
    uint32_t rounds = def->optimise ? TRIAL_ROUNDS : 1, effort = def->optimise ? TRIAL_EFFORT : 0;
    double hopeless = balanced(patch) ? INFINITY : HOPELESS * best->cost;
    if (!trial.group_of || !seat(patch, reduce, f, &trial, arena) ||
        !sac_seating_settle(patch, &trial, rounds, effort, hopeless, arena))
        return false;
    if (balanced(patch)) {
        double loads[SAC_TREE_MOST_BRANCH];
        if (!look_ahead(patch, &trial, patch->region->seed, arena, loads, &trial.cost)) return false;
    }
    take_if_better(patch, &trial, best);
    sac_arena_rewind(arena, mark);
    return true;
}

static bool split(const sac_build *build, const sac_region *region, sac_arena *arena, sac_split *out)
{
    static const struct {
        uint32_t bit;
        reducer *reduce;
    } all[] = {{SAC_REDUCER_MERGE, sac_reduce_merge},
               {SAC_REDUCER_BURST, sac_reduce_burst},
               {SAC_REDUCER_EXPAND, sac_reduce_expand},
               {SAC_REDUCER_SPAWN, NULL}};
    const sac_build_def *def = build->def;
    sac_patch patch;
    sac_rng rng = sac_rng_seed(region->seed);
    if (!sac_patch_init(&patch, build, region, arena)) return false;
    uint32_t count = region->piece_count < def->branch ? region->piece_count : def->branch;
    sac_seating best = {.count = count, .cost = INFINITY, .group_of = out->group_of};
    uint32_t starts = balanced(&patch) ? ROOT_STARTS : 1;
    for (uint32_t start = 0; start < starts; start++) {
        field f;
        sac_arena_mark mark = sac_arena_mark_now(arena);
        if (!field_init(&f, &patch, MOST_CANDIDATES, &rng, arena)) return false;
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            if ((def->reducers & all[i].bit) && !try_reducer(&patch, all[i].reduce, &f, &best, arena))
                return false;
        sac_arena_rewind(arena, mark);
    }
    if (balanced(&patch)) {
        if (!even_out(&patch, &best, arena)) return false;
    } else if (def->optimise &&
               !sac_seating_settle(&patch, &best, FINAL_ROUNDS, FINAL_EFFORT, INFINITY, arena)) {
        return false;
    }
    out->group_count = count;
    for (uint32_t g = 0; g < count; g++)
        for (int k = 0; k < 3; k++) out->centre[g][k] = best.seats[g].centre[k] + patch.origin[k];
    return true;
}

const sac_splitter sac_splitter_medial = {NULL, split, sac_medial_relax};
