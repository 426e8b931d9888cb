/* Spheres are sorted into grids, one an octave of size, cells as wide as the largest of it and hashed, so
 * that each is compared with its own and the neighbouring cells of its size and of larger ones only. First
 * the balls about whole bodies, then those spheres of them that reach into another's ball: most bodies of a
 * sparse scene are placed no further. */
#include "bench/penetration.h"

#include <math.h>

#include "base/geometry.h"
#include "bench/percentile.h"

typedef struct grid {
    const float (*spheres)[4];
    const uint32_t *owner; /* NULL: each is its own */
    const uint32_t *order, *first;
    uint32_t mask, levels; /* 0: the largest */
    float widest;
} grid;
enum { MOST_LEVELS = 8 };

static uint32_t level_of(const grid *g, const float sphere[4])
{
    uint32_t level = 0;
    for (float r = 0.5f * g->widest; level + 1 < g->levels && sphere[3] <= r; r *= 0.5f) level++;
    return level;
}

static void cell_of(const grid *g, const float sphere[4], uint32_t level, int32_t out[3])
{
    float inverse = (float)(1u << level) * 0.5f / g->widest;
    for (int i = 0; i < 3; i++) out[i] = (int32_t)floorf(sphere[i] * inverse);
}

static uint32_t hash_of(const grid *g, const int32_t cell[3], uint32_t level)
{
    uint32_t h = (uint32_t)cell[0] * 0x9e3779b1u ^ (uint32_t)cell[1] * 0x85ebca77u ^
                 (uint32_t)cell[2] * 0xc2b2ae3du ^ level * 0x27d4eb2fu;
    return (h ^ h >> 15) & g->mask;
}

static bool pose_is_sane(const sac_peer_pose *pose)
{
    float square = 0;
    for (int i = 0; i < 4; i++) square += pose->rotation[i] * pose->rotation[i];
    /* Farther than this a grid of whole numbers would overflow. */
    for (int i = 0; i < 3; i++)
        if (!(fabsf(pose->position[i]) < 1e6f)) return false;
    return square > 0.5f && square < 2.0f;
}

static sac_penetration_wear worn(const sac_penetration_cast *cast, uint32_t body)
{
    return cast->wear ? cast->wear[body] : (sac_penetration_wear){0, 1};
}

/* Where a sphere is sorted to. */
static uint32_t bucket_of(const grid *g, const float sphere[4])
{
    int32_t cell[3];
    uint32_t level = level_of(g, sphere);
    cell_of(g, sphere, level, cell);
    return hash_of(g, cell, level);
}

/* A counting sort: first[h + 2] counts, then first[h + 1] walks from the start of h to its end. Spheres whose
 * radius is negative are nowhere. False: no memory. */
static bool sort_into_cells(grid *g, uint32_t count, uint32_t levels, sac_penetration_room *room)
{
    uint32_t buckets = 64;
    while (buckets < count) buckets *= 2;
    if (!sac_array_reserve(&room->order, count) || !sac_array_reserve(&room->first, buckets + 2))
        return false;
    uint32_t *first = room->first.data, *order = room->order.data;
    g->order = order, g->first = first;
    g->mask = buckets - 1, g->levels = levels;
    g->widest = FLT_MIN;
    for (uint32_t i = 0; i < count; i++) g->widest = fmaxf(g->widest, g->spheres[i][3]);
    memset(first, 0, (buckets + 2) * sizeof *first);
    for (uint32_t i = 0; i < count; i++)
        if (g->spheres[i][3] >= 0) first[bucket_of(g, g->spheres[i]) + 2]++;
    for (uint32_t h = 2; h < buckets + 2; h++) first[h] += first[h - 1];
    for (uint32_t i = 0; i < count; i++)
        if (g->spheres[i][3] >= 0) order[first[bucket_of(g, g->spheres[i]) + 1]++] = i;
    return true;
}

static bool reaches(const float a[4], const float b[4])
{
    float dx = a[0] - b[0], dy = a[1] - b[1], dz = a[2] - b[2], reach = a[3] + b[3];
    return dx * dx + dy * dy + dz * dz < reach * reach;
}

/* Spheres of one cell that overlap number i and are another's, onto `near`. */
static bool find_in_cell(const grid *g, uint32_t i, const int32_t cell[3], uint32_t level, bool before,
                         sac_penetration_room *room)
{
    uint32_t h = hash_of(g, cell, level);
    int32_t other[3];
    for (uint32_t k = g->first[h]; k < g->first[h + 1]; k++) {
        uint32_t j = g->order[k];
        if (j == i || (before && j > i) || (g->owner && g->owner[j] == g->owner[i])) continue;
        if (!reaches(g->spheres[i], g->spheres[j])) continue;
        /* Two cells may share a bucket: look only at those of this one, else a pair counts twice. */
        if (g->levels > 1 && level_of(g, g->spheres[j]) != level) continue;
        cell_of(g, g->spheres[j], level, other);
        if (other[0] != cell[0] || other[1] != cell[1] || other[2] != cell[2]) continue;
        if (!sac_array_push(&room->near, j)) return false;
    }
    return true;
}

/* All that overlap it, where there is one level; else those of its own level before it and all larger ones.
 */
static bool find_near(const grid *g, uint32_t i, sac_penetration_room *room)
{
    const float *a = g->spheres[i];
    uint32_t own = level_of(g, a);
    int32_t home[3], cell[3];
    room->near.count = 0;
    for (uint32_t level = 0; level <= own; level++) {
        cell_of(g, a, level, home);
        for (int n = 0; n < 27; n++) {
            cell[0] = home[0] + n % 3 - 1, cell[1] = home[1] + n / 3 % 3 - 1, cell[2] = home[2] + n / 9 - 1;
            if (!find_in_cell(g, i, cell, level, g->levels > 1 && level == own, room)) return false;
        }
    }
    return true;
}

/* A ball about each body, radius -1 for one without a pose; who is outside is counted. */
static void place_balls(const sac_penetration_cast *cast, const sac_peer_pose *poses, const float *reach,
                        float (*balls)[4], sac_penetration *out)
{
    for (uint32_t i = 0; i < cast->body_count; i++) {
        const sac_peer_pose *pose = &poses[i];
        const sac_penetration_wear wear = worn(cast, i);
        const float *p = pose->position, half = 0.5f * cast->side;
        bool sane = pose_is_sane(pose);
        if (!sane)
            out->not_finite++;
        else if (cast->side > 0 && (fabsf(p[0]) > half || fabsf(p[2]) > half || p[1] < 0))
            out->outside++;
        for (int c = 0; c < 3; c++) balls[i][c] = sane ? p[c] : 0;
        balls[i][3] = sane ? reach[wear.shape] * wear.scale : -1;
    }
}

/* Spheres of one body that reach into the balls of `near`, in the world. */
static bool place_body(const sac_penetration_cast *cast, const sac_peer_pose *poses, uint32_t body,
                       const float (*balls)[4], sac_penetration_room *room, sac_penetration *out)
{
    const sac_penetration_wear wear = worn(cast, body);
    const sac_penetration_shape *shape = &cast->shapes[wear.shape];
    sac_transform t = {.scale = 1};
    float rows[3][3];
    memcpy(t.translation, poses[body].position, sizeof t.translation);
    memcpy(t.rotation, poses[body].rotation, sizeof t.rotation);
    sac_transform_rows(&t, rows);
    for (uint32_t k = 0; k < shape->count; k++) {
        float s[4], at[4];
        for (int c = 0; c < 4; c++) s[c] = shape->spheres[k][c] * wear.scale;
        for (int c = 0; c < 3; c++)
            at[c] = rows[c][0] * s[0] + rows[c][1] * s[1] + rows[c][2] * s[2] + t.translation[c];
        at[3] = s[3];
        if (cast->side > 0) out->floor_mm = fmax(out->floor_mm, 1e3 * (double)(at[3] - at[1]));
        bool meets = false;
        for (size_t n = 0; n < room->near.count && !meets; n++)
            meets = reaches(at, balls[room->near.data[n]]);
        if (!meets) continue;
        for (int c = 0; c < 4; c++)
            if (!sac_array_push(&room->spheres, at[c])) return false;
        if (!sac_array_push(&room->owner, body)) return false;
    }
    return true;
}

static bool in_view(const sac_penetration_view *view, const float a[4], const float b[4])
{
    if (!view) return true;
    float to[3], along = 0, square = 0;
    for (int i = 0; i < 3; i++) {
        to[i] = 0.5f * (a[i] + b[i]) - view->eye[i];
        along += to[i] * view->direction[i];
        square += to[i] * to[i];
    }
    return along > sqrtf(square) * cosf(view->degrees * 0.017453293f);
}

/* Each pair is found once. */
static bool find_overlaps(const grid *g, uint32_t count, const sac_penetration_view *view,
                          sac_penetration_room *room)
{
    for (uint32_t i = 0; i < count; i++) {
        const float *a = g->spheres[i];
        if (!find_near(g, i, room)) return false;
        for (size_t n = 0; n < room->near.count; n++) {
            const float *b = g->spheres[room->near.data[n]];
            float dx = a[0] - b[0], dy = a[1] - b[1], dz = a[2] - b[2];
            float depth = a[3] + b[3] - sqrtf(dx * dx + dy * dy + dz * dz);
            if (in_view(view, a, b) && !sac_array_push(&room->depths, 1e3 * (double)depth)) return false;
        }
    }
    return true;
}

static bool measure(sac_penetration_room *room, const sac_penetration_cast *cast, const sac_peer_pose *poses,
                    const sac_penetration_view *view, sac_penetration *out)
{
    uint32_t bodies = cast->body_count, shapes = 0;
    for (uint32_t i = 0; i < bodies; i++)
        shapes = worn(cast, i).shape >= shapes ? worn(cast, i).shape + 1 : shapes;
    if (!sac_array_reserve(&room->balls, 4 * (size_t)bodies) || !sac_array_reserve(&room->reach, shapes))
        return false;
    float(*balls)[4] = (float(*)[4])room->balls.data, *reach = room->reach.data;
    for (uint32_t i = 0; i < shapes; i++) {
        const sac_penetration_shape *shape = &cast->shapes[i];
        reach[i] = 0;
        for (uint32_t k = 0; k < shape->count; k++) {
            const float *s = shape->spheres[k];
            reach[i] = fmaxf(reach[i], sqrtf(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]) + s[3]);
        }
        /* A rotation is one to within rounding. */
        reach[i] *= 1.001f;
    }
    place_balls(cast, poses, reach, balls, out);
    grid g = {.spheres = (const float(*)[4])balls};
    if (!sort_into_cells(&g, bodies, 1, room)) return false;
    room->spheres.count = room->owner.count = room->depths.count = 0;
    for (uint32_t i = 0; i < bodies; i++) {
        if (balls[i][3] < 0) continue;
        if (!find_near(&g, i, room)) return false;
        if ((room->near.count || cast->side > 0) &&
            !place_body(cast, poses, i, (const float(*)[4])balls, room, out))
            return false;
    }
    g = (grid){.spheres = (const float(*)[4])room->spheres.data, .owner = room->owner.data};
    return sort_into_cells(&g, (uint32_t)room->owner.count, MOST_LEVELS, room) &&
           find_overlaps(&g, (uint32_t)room->owner.count, view, room);
}

sac_result sac_penetration_measure(sac_penetration_room *room, const sac_shared_scene *scene,
                                   const sac_peer_pose *poses, const sac_penetration_view *view,
                                   sac_penetration *out_penetration, sac_error *error)
{
    const sac_penetration_shape shape = {scene->spheres, scene->sphere_count};
    const sac_penetration_cast cast = {&shape, NULL, scene->body_count, scene->side};
    return sac_penetration_measure_cast(room, &cast, poses, view, out_penetration, error);
}

sac_result sac_penetration_measure_cast(sac_penetration_room *room, const sac_penetration_cast *cast,
                                        const sac_peer_pose *poses, const sac_penetration_view *view,
                                        sac_penetration *out_penetration, sac_error *error)
{
    *out_penetration = (sac_penetration){0};
    if (!measure(room, cast, poses, view, out_penetration))
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory to measure penetration");
    if (room->depths.count) {
        sac_percentiles p = sac_percentiles_of(room->depths.data, room->depths.count);
        out_penetration->pairs = room->depths.count;
        out_penetration->mean_mm = p.mean, out_penetration->p99_mm = p.p99, out_penetration->max_mm = p.max;
    }
    return SAC_OK;
}

void sac_penetration_room_fini(sac_penetration_room *room)
{
    sac_array_fini(&room->balls);
    sac_array_fini(&room->reach);
    sac_array_fini(&room->near);
    sac_array_fini(&room->spheres);
    sac_array_fini(&room->owner);
    sac_array_fini(&room->order);
    sac_array_fini(&room->first);
    sac_array_fini(&room->depths);
}
