/* Rays through the grid: piece by piece along the ray, a brick's side each, so that a hit found early saves
 * the rest. */
#include <float.h>
#include <math.h>

#include "runtime/broad_pairs_internal.h"

typedef struct ray {
    double origin[3], direction[3], inverse[3];
    float *most;
    sac_broad_visit *visit;
    void *user;
} ray;

/* The stretch of the ray inside a box, cut to [*from, *to]; false when there is none. */
static bool cut(const ray *r, const double low[3], const double high[3], double *from, double *to)
{
    for (int i = 0; i < 3; i++) {
        if (r->direction[i] == 0) {
            if (r->origin[i] < low[i] || r->origin[i] > high[i]) return false;
            continue;
        }
        double a = (low[i] - r->origin[i]) * r->inverse[i], b = (high[i] - r->origin[i]) * r->inverse[i];
        if (a > b) {
            double swap = a;
            a = b, b = swap;
        }
        if (a > *from) *from = a;
        if (b < *to) *to = b;
    }
    return *from <= *to;
}

/* Those that overlap `region`, which holds all of the ray that matters here. */
static bool try_chain(const sac_grid *grid, sac_grid_chain chain, const sac_box *region, const ray *r)
{
    const sac_grid_key key = sac_grid_key_of(region);
    for (; chain; chain = grid->next_blocks[sac_grid_chain_first(chain)]) {
        const sac_grid_block *block = &grid->blocks[sac_grid_chain_first(chain)];
        for (uint32_t left = sac_grid_meets(block, &key); left; left &= left - 1) {
            uint32_t k = (uint32_t)__builtin_ctz(left);
            double low[3], high[3], from = 0, to = *r->most;
            for (int i = 0; i < 3; i++)
                low[i] = block->sides[i][k], high[i] = -(double)block->sides[i + 3][k];
            if (cut(r, low, high, &from, &to) && !r->visit(block->body[k], r->user)) return false;
        }
    }
    return true;
}

static const sac_box everywhere = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};

/* The boxes of a brick that the ray's stretch through it can touch. */
static bool try_brick(const sac_grid *grid, uint32_t number, const ray *r)
{
    const sac_grid_brick *brick = &grid->bricks[number];
    double side = 1.0 / (double)sac_grid_scale(brick->level), low[3], high[3], from = 0, to = *r->most;
    bool edge = false;
    for (int i = 0; i < 3; i++) {
        /* Bricks at the edge of the numbers hold all beyond; one more cell forgives rounding. */
        low[i] = (brick->at[i] * 4.0 - 1) * side, high[i] = (brick->at[i] * 4.0 + 5 + SAC_GRID_REACH) * side;
        if (brick->at[i] <= -SAC_GRID_FAR / 4) low[i] = -INFINITY, edge = true;
        if (brick->at[i] >= SAC_GRID_FAR / 4) high[i] = INFINITY, edge = true;
    }
    if (!cut(r, low, high, &from, &to)) return true;
    sac_box region = everywhere;
    if (!edge && to < (double)FLT_MAX) {
        for (int i = 0; i < 3; i++) {
            double a = r->origin[i] + r->direction[i] * from, b = r->origin[i] + r->direction[i] * to;
            region.low[i] = (float)((a < b ? a : b) - side), region.high[i] = (float)((a > b ? a : b) + side);
        }
    }
    return try_chain(grid, grid->chains[number], &region, r);
}

typedef struct span {
    int32_t low[3], high[3]; /* bricks */
} span;

static bool holds(const span *s, const int32_t at[3])
{
    for (int i = 0; i < 3; i++)
        if (at[i] < s->low[i] || at[i] > s->high[i]) return false;
    return true;
}

static int32_t brick_at(double x, double side, int reach)
{
    double cell = floor(x / side) + reach;
    cell = cell > -SAC_GRID_FAR ? cell : -SAC_GRID_FAR;
    cell = cell < SAC_GRID_FAR ? cell : SAC_GRID_FAR;
    return (int32_t)cell >> 2;
}

static bool march(const sac_grid *grid, uint32_t number, const ray *r, double from, double to, double pace)
{
    double side = 1.0 / (double)sac_grid_scale(number);
    const sac_grid_level *level = &grid->level[number];
    /* The pieces' spans only ever move one way along each axis, so whoever was seen before was seen last. */
    span last = {{1, 1, 1}, {0, 0, 0}};
    for (uint32_t piece = 0;; piece++) {
        double start = from + pace * piece, end = start + pace;
        if (start > to || start > (double)*r->most) return true;
        span s;
        for (int i = 0; i < 3; i++) {
            double a = r->origin[i] + r->direction[i] * start, b = r->origin[i] + r->direction[i] * end;
            s.low[i] = brick_at(a < b ? a : b, side, -SAC_GRID_REACH - 1);
            s.high[i] = brick_at(a > b ? a : b, side, 1);
            if (s.low[i] < level->low[i]) s.low[i] = level->low[i];
            if (s.high[i] > level->high[i]) s.high[i] = level->high[i];
        }
        int32_t at[3];
        for (at[2] = s.low[2]; at[2] <= s.high[2]; at[2]++)
            for (at[1] = s.low[1]; at[1] <= s.high[1]; at[1]++)
                for (at[0] = s.low[0]; at[0] <= s.high[0]; at[0]++) {
                    if (holds(&last, at)) continue;
                    const sac_grid_brick *brick = sac_grid_find(grid, at, number);
                    if (brick && !try_brick(grid, (uint32_t)(brick - grid->bricks), r)) return false;
                }
        last = s;
    }
}

static bool cross_level(const sac_grid *grid, uint32_t number, const ray *r)
{
    const sac_grid_level *level = &grid->level[number];
    double side = 1.0 / (double)sac_grid_scale(number), low[3], high[3], from = 0, to = *r->most, speed = 0;
    bool edge = false;
    for (int i = 0; i < 3; i++) {
        low[i] = (level->low[i] * 4.0 - 1) * side,
        high[i] = (level->high[i] * 4.0 + 5 + SAC_GRID_REACH) * side;
        edge |= level->low[i] <= -SAC_GRID_FAR / 4 || level->high[i] >= SAC_GRID_FAR / 4;
        speed = fmax(speed, fabs(r->direction[i]));
    }
    if (!edge && !cut(r, low, high, &from, &to)) return true;
    double pace = 4 * side / speed, pieces = (to - from) / pace;
    /* A piece looks up about a dozen bricks; when there are fewer in all, try them one by one. */
    if (!edge && speed > 0 && pieces * 12 < level->bricks && from + pace > from)
        return march(grid, number, r, from, to, pace);
    for (uint32_t brick = level->first; brick != SAC_GRID_NONE; brick = grid->bricks[brick].next)
        if (!try_brick(grid, brick, r)) return false;
    return true;
}

void sac_broad_ray(const sac_broad *broad, const float origin[3], const float direction[3], float *most,
                   sac_broad_visit *visit, void *user)
{
    const sac_grid *grid = &broad->own->grid;
    ray r = {.most = most, .visit = visit, .user = user};
    for (int i = 0; i < 3; i++) {
        r.origin[i] = origin[i], r.direction[i] = direction[i];
        r.inverse[i] = 1.0 / r.direction[i];
    }
    if (!sac_vec3_is_finite(origin) || !sac_vec3_is_finite(direction) || !(*most >= 0)) return;
    if (!try_chain(grid, grid->huge, &everywhere, &r)) return;
    for (uint32_t levels = grid->levels; levels; levels &= levels - 1)
        if (!cross_level(grid, (uint32_t)__builtin_ctz(levels), &r)) return;
}
