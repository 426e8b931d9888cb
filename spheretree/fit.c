/* Seating spheres on a patch: the local optimiser. Two steps in turn, as in Lloyd's method: every piece goes
 * to the sphere that needs the least stand-off to hold it, then every sphere's centre moves to where its own
 * stand-off is least. The second is a small minimax problem (farthest point against closest surface) solved
 * by a Nelder-Mead simplex. */
#include "spheretree/medial_internal.h"

#include <math.h>

#define LANES 8

bool sac_patch_init(sac_patch *patch, const sac_build *build, const sac_region *region, sac_arena *arena)
{
    const sac_cover *cover = build->cover;
    uint32_t n = region->piece_count, corners = 0;
    for (uint32_t i = 0; i < n; i++)
        corners += cover->first_corner[region->pieces[i] + 1] - cover->first_corner[region->pieces[i]];
    uint32_t room = corners + LANES, table = 16;
    while (table < corners * 2) table *= 2;
    *patch = (sac_patch){.build = build, .region = region};
    patch->x = sac_arena_alloc(arena, room, sizeof(float));
    patch->y = sac_arena_alloc(arena, room, sizeof(float));
    patch->z = sac_arena_alloc(arena, room, sizeof(float));
    patch->corners = sac_arena_alloc(arena, corners, sizeof(uint32_t));
    patch->first_corner = sac_arena_alloc(arena, n + 1, sizeof(uint32_t));
    uint32_t *keys = sac_arena_alloc(arena, table, sizeof *keys),
             *values = sac_arena_alloc(arena, table, sizeof *values);
    if (!patch->x || !patch->y || !patch->z || !patch->corners || !patch->first_corner || !keys || !values)
        return false;
    memset(keys, 0, table * sizeof *keys);
    memcpy(patch->origin, region->centre, sizeof patch->origin);
    uint32_t next = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t piece = region->pieces[i];
        patch->first_corner[i] = next;
        for (uint32_t j = cover->first_corner[piece]; j < cover->first_corner[piece + 1]; j++) {
            uint32_t point = cover->corners[j], slot = (point * 2654435769u) & (table - 1);
            while (keys[slot] && keys[slot] != point + 1) slot = (slot + 1) & (table - 1);
            if (!keys[slot]) {
                keys[slot] = point + 1, values[slot] = patch->point_count;
                patch->x[patch->point_count] = (float)(cover->points[point][0] - patch->origin[0]);
                patch->y[patch->point_count] = (float)(cover->points[point][1] - patch->origin[1]);
                patch->z[patch->point_count++] = (float)(cover->points[point][2] - patch->origin[2]);
            }
            patch->corners[next++] = values[slot];
        }
    }
    patch->first_corner[n] = next;
    patch->padded_count = (patch->point_count + LANES - 1) / LANES * LANES;
    for (uint32_t i = patch->point_count; i < patch->padded_count; i++)
        patch->x[i] = patch->x[i - 1], patch->y[i] = patch->y[i - 1], patch->z[i] = patch->z[i - 1];
    return true;
}

void sac_seat_update(const sac_patch *patch, sac_seat *seat)
{
    double p[3];
    for (int k = 0; k < 3; k++) p[k] = seat->centre[k] + patch->origin[k];
    sac_surface_hit hit;
    sac_surface_closest(patch->build->surface, p, seat->hint, &hit);
    seat->depth = hit.inside ? hit.distance : -hit.distance;
    seat->hint = hit.triangle;
    seat->sure = hit.sure;
}

void sac_seat_verify(const sac_patch *patch, sac_seat *seat)
{
    double p[3];
    for (int k = 0; k < 3; k++) p[k] = seat->centre[k] + patch->origin[k];
    if (seat->depth > 0 && !seat->sure && !sac_surface_encloses(patch->build->surface, p))
        seat->depth = -seat->depth;
    seat->sure = true;
}

/* ---- one sphere ---- */

/* The points one sphere must hold, gathered. */
typedef struct crowd {
    float *x, *y, *z;
    uint32_t padded;
} crowd;

static double farthest(const crowd *c, const double centre[3])
{
    float cx = (float)centre[0], cy = (float)centre[1], cz = (float)centre[2], most[LANES] = {0};
    for (uint32_t i = 0; i < c->padded; i += LANES)
        for (int l = 0; l < LANES; l++) {
            float x = c->x[i + (uint32_t)l] - cx, y = c->y[i + (uint32_t)l] - cy,
                  z = c->z[i + (uint32_t)l] - cz;
            float d2 = x * x + y * y + z * z;
            most[l] = d2 > most[l] ? d2 : most[l];
        }
    float all = 0;
    for (int l = 0; l < LANES; l++) all = most[l] > all ? most[l] : all;
    return sqrt((double)all);
}

typedef struct trial {
    sac_seat seat;
    double standoff;
} trial;

static void weigh(const sac_patch *patch, const crowd *c, trial *t)
{
    sac_seat_update(patch, &t->seat);
    t->standoff = farthest(c, t->seat.centre) - t->seat.depth;
}

static void verify(const sac_patch *patch, const crowd *c, trial *t)
{
    if (t->seat.sure) return;
    sac_seat_verify(patch, &t->seat);
    t->standoff = farthest(c, t->seat.centre) - t->seat.depth;
}

/* Nelder-Mead with the usual coefficients; `effort` evaluations. Improves *best in place. */
static void simplex(const sac_patch *patch, const crowd *c, trial *best, double size, uint32_t effort)
{
    trial t[4] = {*best, *best, *best, *best};
    for (int k = 0; k < 3; k++) {
        t[k + 1].seat.centre[k] += size;
        weigh(patch, c, &t[k + 1]);
    }
    for (uint32_t used = 3; used < effort;) {
        for (int i = 1; i < 4; i++)
            for (int j = i; j > 0 && t[j].standoff < t[j - 1].standoff; j--) {
                trial swap = t[j];
                t[j] = t[j - 1], t[j - 1] = swap;
            }
        double middle[3], away[3];
        for (int k = 0; k < 3; k++) {
            middle[k] = (t[0].seat.centre[k] + t[1].seat.centre[k] + t[2].seat.centre[k]) / 3;
            away[k] = middle[k] - t[3].seat.centre[k];
        }
        if (away[0] * away[0] + away[1] * away[1] + away[2] * away[2] < 1e-6 * size * size) break;
        trial reflected = t[0];
        for (int k = 0; k < 3; k++) reflected.seat.centre[k] = middle[k] + away[k];
        weigh(patch, c, &reflected);
        used++;
        if (reflected.standoff < t[0].standoff) {
            trial expanded = reflected;
            for (int k = 0; k < 3; k++) expanded.seat.centre[k] = middle[k] + 2 * away[k];
            weigh(patch, c, &expanded);
            used++;
            t[3] = expanded.standoff < reflected.standoff ? expanded : reflected;
        } else if (reflected.standoff < t[2].standoff) {
            t[3] = reflected;
        } else {
            trial pulled = reflected;
            double share = reflected.standoff < t[3].standoff ? 0.5 : -0.5;
            for (int k = 0; k < 3; k++) pulled.seat.centre[k] = middle[k] + share * away[k];
            weigh(patch, c, &pulled);
            used++;
            if (pulled.standoff < fmin(reflected.standoff, t[3].standoff)) {
                t[3] = pulled;
            } else {
                for (int i = 1; i < 4; i++) {
                    for (int k = 0; k < 3; k++)
                        t[i].seat.centre[k] = 0.5 * (t[i].seat.centre[k] + t[0].seat.centre[k]);
                    weigh(patch, c, &t[i]);
                }
                used += 3;
            }
        }
    }
    for (int i = 0; i < 4; i++)
        if (t[i].standoff < best->standoff) *best = t[i];
}

/* ---- all spheres ---- */

typedef struct settling {
    float *need; /* [seat * padded_count + point] */
    float *piece_need;
    uint32_t *stamp; /* by point: last group that gathered it */
    crowd crowd;
} settling;

static bool settling_init(settling *s, const sac_patch *patch, uint32_t count, sac_arena *arena)
{
    s->need = sac_arena_alloc(arena, (size_t)patch->padded_count * count, sizeof *s->need);
    s->piece_need = sac_arena_alloc(arena, patch->region->piece_count, sizeof *s->piece_need);
    s->stamp = sac_arena_alloc(arena, patch->padded_count, sizeof *s->stamp);
    s->crowd.x = sac_arena_alloc(arena, patch->padded_count + LANES, sizeof(float));
    s->crowd.y = sac_arena_alloc(arena, patch->padded_count + LANES, sizeof(float));
    s->crowd.z = sac_arena_alloc(arena, patch->padded_count + LANES, sizeof(float));
    return s->need && s->piece_need && s->stamp && s->crowd.x && s->crowd.y && s->crowd.z;
}

/* Stand-off each seat needs for each point, then each piece to the seat that needs least for its corners. */
static void deal(const sac_patch *patch, settling *s, sac_seating *seating)
{
    uint32_t padded = patch->padded_count;
    for (uint32_t g = 0; g < seating->count; g++) {
        const sac_seat *seat = &seating->seats[g];
        float cx = (float)seat->centre[0], cy = (float)seat->centre[1], cz = (float)seat->centre[2];
        float ax = (float)seat->anchor[0], ay = (float)seat->anchor[1], az = (float)seat->anchor[2];
        float depth = (float)(seat->depth - seating->bias[g]), nearness = (float)SAC_SEAT_NEARNESS,
              *need = s->need + (size_t)g * padded;
        for (uint32_t i = 0; i < padded; i++) {
            float x = patch->x[i] - cx, y = patch->y[i] - cy, z = patch->z[i] - cz;
            float u = patch->x[i] - ax, v = patch->y[i] - ay, w = patch->z[i] - az;
            need[i] = sqrtf(x * x + y * y + z * z) - depth + nearness * sqrtf(u * u + v * v + w * w);
        }
    }
    for (uint32_t p = 0; p < patch->region->piece_count; p++) {
        const uint32_t *corner = patch->corners + patch->first_corner[p];
        uint32_t count = patch->first_corner[p + 1] - patch->first_corner[p];
        float least = INFINITY;
        uint8_t group = 0;
        for (uint32_t g = 0; g < seating->count; g++) {
            const float *need = s->need + (size_t)g * padded;
            float most = need[corner[0]];
            for (uint32_t k = 1; k < count; k++) most = need[corner[k]] > most ? need[corner[k]] : most;
            if (most < least) least = most, group = (uint8_t)g;
        }
        seating->group_of[p] = group;
        s->piece_need[p] = least;
    }
}

static void move_anchors(const sac_patch *patch, sac_seating *seating)
{
    double sum[SAC_TREE_MOST_BRANCH][4] = {{0}};
    for (uint32_t p = 0; p < patch->region->piece_count; p++) {
        const double *m = patch->build->cover->middles[patch->region->pieces[p]];
        double *to = sum[seating->group_of[p]];
        for (int k = 0; k < 3; k++) to[k] += m[k] - patch->origin[k];
        to[3] += 1;
    }
    for (uint32_t g = 0; g < seating->count; g++)
        for (int k = 0; k < 3 && sum[g][3] > 0; k++) seating->seats[g].anchor[k] = sum[g][k] / sum[g][3];
}

static void gather(const sac_patch *patch, settling *s, const sac_seating *seating, uint32_t group)
{
    crowd *c = &s->crowd;
    uint32_t n = 0;
    for (uint32_t p = 0; p < patch->region->piece_count; p++) {
        if (seating->group_of[p] != group) continue;
        for (uint32_t k = patch->first_corner[p]; k < patch->first_corner[p + 1]; k++) {
            uint32_t i = patch->corners[k];
            if (s->stamp[i] == group) continue;
            s->stamp[i] = group;
            c->x[n] = patch->x[i], c->y[n] = patch->y[i], c->z[n++] = patch->z[i];
        }
    }
    c->padded = (n + LANES - 1) / LANES * LANES;
    for (uint32_t i = n; i < c->padded; i++)
        c->x[i] = c->x[i - 1], c->y[i] = c->y[i - 1], c->z[i] = c->z[i - 1];
}

/* A seat nobody needs goes to the piece that is served worst. */
static bool reseat_empty(const sac_patch *patch, settling *s, sac_seating *seating)
{
    uint32_t members[SAC_TREE_MOST_BRANCH] = {0};
    bool moved = false;
    for (uint32_t p = 0; p < patch->region->piece_count; p++) members[seating->group_of[p]]++;
    for (uint32_t g = 0; g < seating->count; g++) {
        if (members[g]) continue;
        uint32_t worst = UINT32_MAX;
        for (uint32_t p = 0; p < patch->region->piece_count; p++)
            if (members[seating->group_of[p]] > 1 &&
                (worst == UINT32_MAX || s->piece_need[p] > s->piece_need[worst]))
                worst = p;
        if (worst == UINT32_MAX) break;
        seating->seats[g] = sac_medial_ball(patch, worst);
        members[seating->group_of[worst]]--;
        members[g] = 1;
        seating->group_of[worst] = (uint8_t)g;
        s->piece_need[worst] = -INFINITY;
        moved = true;
    }
    return moved;
}

static void refit(const sac_patch *patch, settling *s, sac_seating *seating, uint32_t effort)
{
    for (uint32_t i = 0; i < patch->padded_count; i++) s->stamp[i] = UINT32_MAX;
    double sum = 0;
    for (uint32_t g = 0; g < seating->count; g++) {
        gather(patch, s, seating, g);
        if (s->crowd.padded == 0) {
            seating->standoff[g] = 0;
            continue;
        }
        trial t = {.seat = seating->seats[g]};
        weigh(patch, &s->crowd, &t);
        double radius = t.standoff + t.seat.depth;
        if (effort) {
            trial before = t;
            simplex(patch, &s->crowd, &t, fmax(0.25 * t.standoff, 0.05 * radius), effort);
            verify(patch, &s->crowd, &t);
            verify(patch, &s->crowd, &before);
            if (before.standoff < t.standoff) t = before;
        }
        seating->seats[g] = t.seat;
        seating->standoff[g] = t.standoff;
        /* The fourth power: one bad sphere is worse than many middling ones, yet not all that counts. */
        double s2 = t.standoff > 0 ? t.standoff * t.standoff : 0;
        sum += s2 * s2;
    }
    seating->cost = sqrt(sqrt(sum / seating->count));
}

bool sac_seating_settle(const sac_patch *patch, sac_seating *seating, uint32_t rounds, uint32_t effort,
                        double hopeless, sac_arena *arena)
{
    settling s;
    if (!settling_init(&s, patch, seating->count, arena)) return false;
    sac_seating best = *seating;
    best.cost = INFINITY;
    best.group_of = sac_arena_alloc(arena, patch->region->piece_count, 1);
    if (!best.group_of) return false;
    uint8_t *own = seating->group_of;
    for (uint32_t round = 0; round < rounds; round++) {
        deal(patch, &s, seating);
        reseat_empty(patch, &s, seating);
        move_anchors(patch, seating);
        refit(patch, &s, seating, effort);
        if (seating->cost < best.cost) {
            uint8_t *keep = best.group_of;
            best = *seating;
            best.group_of = keep;
            memcpy(keep, own, patch->region->piece_count);
        }
        if (round > 0 && best.cost > hopeless) break;
    }
    memcpy(own, best.group_of, patch->region->piece_count);
    *seating = best;
    seating->group_of = own;
    return true;
}
