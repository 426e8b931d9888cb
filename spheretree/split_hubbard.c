/* Hubbard's builder: balls on the medial axis, merged pairwise until a node has as many as it may have
 * children.
 *
 * Once: from samples spread over the surface by area, the largest ball inside the object that touches it
 * there (shrinking ball). At a node: the balls whose samples lie in its region take the pieces that need
 * them to grow least, and then, again and again, the two neighbours whose union sticks out least become one.
 * How far a ball sticks out is its stand-off: radius minus depth of the centre, depth being the signed
 * distance to the surface, positive inside. An open mesh has no inside; its balls start as points of the
 * surface. */
#include "spheretree/grouping_internal.h"

#include "base/parallel.h"

#include <math.h>

enum {
    MOST_BALLS = 128,   /* a node starts from at most this many */
    MOST_SHRINKS = 24,  /* of one ball */
    NEIGHBOURS = 6,     /* partners a ball looks at */
    SAMPLES_A_LEAF = 4, /* so many medial balls on average for each leaf */
    LEAST_SAMPLES = 1000,
    MOST_SAMPLES = 40000,
    POOL = 1024 /* samples from which a node picks its spread */
};

static const uint32_t NOBODY = UINT32_MAX;

typedef struct medial_ball {
    double touch[3]; /* the sample */
    double centre[3], depth;
    uint32_t hint;
} medial_ball;

typedef struct medial_axis {
    medial_ball *balls;
    uint32_t count;
} medial_axis;

static double depth_at(const sac_build *build, const double centre[3], uint32_t *hint)
{
    sac_surface_hit hit;
    sac_surface_closest(build->surface, centre, *hint, &hit);
    *hint = hit.triangle;
    return hit.inside ? hit.distance : -hit.distance;
}

/* For an interior cell or an open mesh the ball is a point of the piece. */
static medial_ball shrink(const sac_build *build, uint32_t piece)
{
    const sac_cover *cover = build->cover;
    const double *p = cover->middles[piece];
    medial_ball ball = {.hint = NOBODY};
    memcpy(ball.touch, p, sizeof ball.touch);
    memcpy(ball.centre, p, sizeof ball.centre);
    if (piece >= cover->surface_count || !build->closed) {
        ball.depth = depth_at(build, p, &ball.hint);
        return ball;
    }
    const float *n = cover->normals[piece];
    ball.hint = cover->triangles[piece];
    double radius = build->diagonal / 2;
    for (int turn = 0; turn < MOST_SHRINKS; turn++) {
        sac_surface_hit hit;
        for (int k = 0; k < 3; k++) ball.centre[k] = p[k] - radius * n[k];
        sac_surface_closest(build->surface, ball.centre, ball.hint, &hit);
        ball.hint = hit.triangle;
        ball.depth = hit.inside ? hit.distance : -hit.distance;
        if (hit.distance >= radius * (1 - 1e-3)) break;
        /* The ball through the sample, tangent there, and through the point that pokes in. */
        double u[3], along = 0, square = 0;
        for (int k = 0; k < 3; k++) {
            u[k] = p[k] - hit.point[k];
            along += u[k] * n[k];
            square += u[k] * u[k];
        }
        if (!(along > 1e-12 * build->diagonal)) break;
        double next = square / (2 * along);
        if (!(next < radius * (1 - 1e-6))) break;
        radius = next;
    }
    return ball;
}

typedef struct sampling {
    const sac_build *build;
    const uint32_t *pieces;
    medial_ball *balls;
} sampling;

static void sample_one(uint32_t item, uint32_t worker, void *context)
{
    (void)worker;
    sampling *s = context;
    s->balls[item] = shrink(s->build, s->pieces[item]);
}

static sac_result prepare(const sac_build *build, sac_arena *arena, void **out_method, sac_error *error)
{
    const sac_cover *cover = build->cover;
    double wanted = SAMPLES_A_LEAF * pow(build->def->branch, build->def->depth), area = 0, passed = 0;
    wanted = fmin(fmax(wanted, LEAST_SAMPLES), MOST_SAMPLES);
    wanted = fmin(wanted, cover->surface_count);
    uint32_t most = (uint32_t)wanted;
    medial_axis *axis = sac_arena_alloc(arena, 1, sizeof *axis);
    medial_ball *balls = sac_arena_alloc(arena, most, sizeof *balls);
    uint32_t *pieces = sac_arena_alloc(arena, most, sizeof *pieces), count = 0;
    if (!axis || !balls || !pieces)
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %u medial balls", most);
    for (uint32_t p = 0; p < cover->surface_count; p++) area += cover->areas[p];
    /* One sample each time another share of the area has gone by. */
    for (uint32_t p = 0; p < cover->surface_count && count < most; p++) {
        passed += cover->areas[p];
        if (passed * most >= (count + 0.5) * area) pieces[count++] = p;
    }
    sampling work = {build, pieces, balls};
    sac_parallel_for(count, build->def->threads, sample_one, &work);
    *axis = (medial_axis){balls, count};
    *out_method = axis;
    return SAC_OK;
}

/* ---- one node ---- */

/* A ball with the pieces it has taken, as a list through `next_piece`. */
typedef struct holder {
    double centre[3], depth, radius;
    uint32_t first, last, count, hint;
    uint32_t partner; /* cheapest to merge with, by stand-off of the union */
    double price;
    double union_centre[3], union_depth, union_radius;
    uint32_t union_hint;
    bool alive;
} holder;

typedef struct workshop {
    const sac_build *build;
    double (*piece_balls)[4];
    uint32_t *next_piece;
    holder holders[MOST_BALLS];
    uint32_t count, alive;
} workshop;

static double distance(const double a[3], const double b[3])
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return sqrt(x * x + y * y + z * z);
}

/* Radius about `centre` that holds the pieces of `h`; gives up once it is beyond `limit`. */
static double radius_over(const workshop *w, const holder *h, const double centre[3], double limit)
{
    double most = 0;
    for (uint32_t i = h->first; i != NOBODY && most <= limit; i = w->next_piece[i]) {
        double r = distance(w->piece_balls[i], centre) + w->piece_balls[i][3];
        if (r > most) most = r;
    }
    return most;
}

/* Take the union with `other` about this centre as a's offer if it is the cheapest so far. */
static void offer(holder *a, uint32_t other, const double centre[3], double depth, double radius,
                  uint32_t hint)
{
    if (radius - depth >= a->price) return;
    a->price = radius - depth;
    a->partner = other;
    memcpy(a->union_centre, centre, sizeof a->union_centre);
    a->union_depth = depth;
    a->union_radius = radius;
    a->union_hint = hint;
}

/* The union of a and b about three centres: either's, and that of the smallest ball around both. */
static void bid(const workshop *w, holder *a, uint32_t other)
{
    const holder *b = &w->holders[other];
    double between[3], apart = distance(a->centre, b->centre);
    double share = apart > 0 ? 0.5 + (b->radius - a->radius) / (2 * apart) : 0;
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    double radius = radius_over(w, b, a->centre, a->price + a->depth);
    offer(a, other, a->centre, a->depth, fmax(a->radius, radius), a->hint);
    radius = radius_over(w, a, b->centre, a->price + b->depth);
    offer(a, other, b->centre, b->depth, fmax(b->radius, radius), b->hint);

    for (int k = 0; k < 3; k++) between[k] = a->centre[k] + share * (b->centre[k] - a->centre[k]);
    /* It cannot be deeper than its neighbours are, plus the way to them. */
    double depth = fmin(a->depth + share * apart, b->depth + (1 - share) * apart);
    radius = radius_over(w, a, between, a->price + depth);
    radius = fmax(radius, radius_over(w, b, between, a->price + depth));
    if (radius - depth >= a->price) return;
    uint32_t hint = a->hint;
    depth = depth_at(w->build, between, &hint);
    offer(a, other, between, depth, radius, hint);
}

static void seek_partner(workshop *w, uint32_t self)
{
    holder *a = &w->holders[self];
    uint32_t near[NEIGHBOURS];
    double away[NEIGHBOURS];
    uint32_t found = 0;
    for (uint32_t j = 0; j < w->count; j++) {
        if (j == self || !w->holders[j].alive) continue;
        double d = distance(a->centre, w->holders[j].centre) - w->holders[j].radius;
        uint32_t at = found < NEIGHBOURS ? found++ : NEIGHBOURS;
        if (at == NEIGHBOURS) {
            if (d >= away[NEIGHBOURS - 1]) continue;
            at--;
        }
        for (; at > 0 && away[at - 1] > d; at--) away[at] = away[at - 1], near[at] = near[at - 1];
        away[at] = d, near[at] = j;
    }
    a->partner = NOBODY;
    a->price = INFINITY;
    for (uint32_t i = 0; i < found; i++) bid(w, a, near[i]);
}

static void merge_cheapest(workshop *w)
{
    uint32_t self = NOBODY;
    for (uint32_t i = 0; i < w->count; i++)
        if (w->holders[i].alive && (self == NOBODY || w->holders[i].price < w->holders[self].price)) self = i;
    holder *a = &w->holders[self];
    uint32_t other = a->partner;
    holder *b = &w->holders[other];
    w->next_piece[a->last] = b->first;
    a->last = b->last;
    a->count += b->count;
    memcpy(a->centre, a->union_centre, sizeof a->centre);
    a->depth = a->union_depth, a->radius = a->union_radius, a->hint = a->union_hint;
    b->alive = false;
    w->alive--;
    if (w->alive < 2) return;
    for (uint32_t i = 0; i < w->count; i++) {
        holder *h = &w->holders[i];
        if (h->alive && (i == self || h->partner == self || h->partner == other)) seek_partner(w, i);
    }
}

/* The samples inside the box of the region, spread out when there are many. */
static uint32_t gather(const sac_build *build, const sac_region *region, uint32_t wanted, medial_ball *out,
                       sac_arena *arena)
{
    const medial_axis *axis = build->method;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (uint32_t i = 0; i < region->piece_count; i++)
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], build->cover->middles[region->pieces[i]][k]);
            high[k] = fmax(high[k], build->cover->middles[region->pieces[i]][k]);
        }
    uint32_t *inside = sac_arena_alloc(arena, axis->count, sizeof *inside), count = 0, found = 0;
    double *away = sac_arena_alloc(arena, POOL, sizeof *away);
    if (!inside || !away) return NOBODY;
    for (uint32_t i = 0; i < axis->count; i++) {
        const double *t = axis->balls[i].touch;
        if (t[0] >= low[0] && t[1] >= low[1] && t[2] >= low[2] && t[0] <= high[0] && t[1] <= high[1] &&
            t[2] <= high[2])
            inside[count++] = i;
    }
    uint32_t pool = count < POOL ? count : POOL;
    for (uint32_t i = 0; i < pool; i++) {
        inside[i] = inside[(uint64_t)i * count / pool];
        away[i] = INFINITY;
    }
    for (uint32_t at = 0; found < wanted && found < pool; found++) {
        out[found] = axis->balls[inside[at]];
        away[at] = -1;
        uint32_t next = at;
        for (uint32_t i = 0; i < pool; i++) {
            away[i] = fmin(away[i], distance(axis->balls[inside[i]].touch, out[found].touch));
            if (away[i] > away[next]) next = i;
        }
        at = next;
    }
    /* A node too small for the samples makes its own. */
    uint32_t own = wanted - found < region->piece_count ? wanted - found : region->piece_count;
    for (uint32_t i = 0; i < own; i++)
        out[found++] = shrink(build, region->pieces[(uint64_t)i * region->piece_count / own]);
    return found;
}

/* Every piece to the ball that must grow least for it. */
static void deal(workshop *w, uint32_t pieces)
{
    for (uint32_t i = 0; i < pieces; i++) {
        uint32_t taker = 0;
        double least = INFINITY;
        for (uint32_t j = 0; j < w->count; j++) {
            const holder *h = &w->holders[j];
            double growth = distance(w->piece_balls[i], h->centre) - h->depth;
            if (h->alive && growth < least) least = growth, taker = j;
        }
        holder *h = &w->holders[taker];
        if (h->count++ == 0)
            h->first = i;
        else
            w->next_piece[h->last] = i;
        h->last = i;
        w->next_piece[i] = NOBODY;
    }
}

static void release(holder *h)
{
    h->first = h->last = NOBODY;
    h->count = 0;
}

static bool split_hubbard(const sac_build *build, const sac_region *region, sac_arena *arena, sac_split *out)
{
    uint32_t n = region->piece_count, branch = build->def->branch, wanted = 8 * branch;
    if (wanted > MOST_BALLS) wanted = MOST_BALLS;
    workshop *w = sac_arena_alloc(arena, 1, sizeof *w);
    medial_ball *balls = sac_arena_alloc(arena, wanted, sizeof *balls);
    if (!w || !balls) return false;
    *w = (workshop){.build = build,
                    .piece_balls = sac_arena_alloc(arena, n, sizeof *w->piece_balls),
                    .next_piece = sac_arena_alloc(arena, n, sizeof *w->next_piece)};
    if (!w->piece_balls || !w->next_piece) return false;
    for (uint32_t i = 0; i < n; i++) sac_piece_ball(build->cover, region->pieces[i], w->piece_balls[i]);

    w->count = gather(build, region, wanted, balls, arena);
    if (w->count == NOBODY) return false;
    for (uint32_t j = 0; j < w->count; j++) {
        holder *h = &w->holders[j];
        memcpy(h->centre, balls[j].centre, sizeof h->centre);
        h->depth = balls[j].depth;
        h->hint = balls[j].hint;
        h->alive = true;
        release(h);
    }
    deal(w, n);
    for (uint32_t j = 0; j < w->count; j++) {
        holder *h = &w->holders[j];
        h->alive = h->count > 0;
        h->radius = radius_over(w, h, h->centre, INFINITY);
        w->alive += h->alive;
    }
    if (w->alive > branch)
        for (uint32_t j = 0; j < w->count; j++)
            if (w->holders[j].alive) seek_partner(w, j);
    while (w->alive > branch) merge_cheapest(w);

    /* The merged balls draw their borders anew. */
    for (uint32_t j = 0; j < w->count; j++) release(&w->holders[j]);
    deal(w, n);
    uint32_t holder_of[SAC_TREE_MOST_BRANCH];
    out->group_count = 0;
    for (uint32_t j = 0; j < w->count; j++) {
        holder *h = &w->holders[j];
        if (!h->alive || h->count == 0) continue;
        uint32_t g = out->group_count++;
        holder_of[g] = j;
        for (uint32_t i = h->first; i != NOBODY; i = w->next_piece[i]) out->group_of[i] = (uint8_t)g;
        memcpy(out->cell_low[g], region->cell_low, sizeof region->cell_low);
        memcpy(out->cell_high[g], region->cell_high, sizeof region->cell_high);
    }
    /* The smallest ball of the group's pieces, unless the medial centre leaves less sticking out. */
    if (!sac_split_centre(build, region, arena, out)) return false;
    for (uint32_t g = 0; g < out->group_count; g++) {
        holder *h = &w->holders[holder_of[g]];
        uint32_t hint = h->hint;
        double smallest =
            radius_over(w, h, out->centre[g], INFINITY) - depth_at(build, out->centre[g], &hint);
        if (radius_over(w, h, h->centre, INFINITY) - h->depth <= smallest)
            memcpy(out->centre[g], h->centre, sizeof h->centre);
    }
    return true;
}

const sac_splitter sac_splitter_hubbard = {.prepare = prepare, .split = split_hubbard};
