/* Spheres are sorted into a grid as wide as the largest of them, its cells hashed, so that each is compared
 * with its own and the neighbouring cells only. */
#include "bench/penetration.h"

#include <math.h>

#include "base/geometry.h"
#include "bench/percentile.h"

typedef struct grid {
    const float (*spheres)[4];
    const uint32_t *order, *first;
    uint32_t mask;
    float inverse;
    const uint32_t *owner;
} grid;

static void cell_of(const grid *g, const float sphere[4], int32_t out[3])
{
    for (int i = 0; i < 3; i++) out[i] = (int32_t)floorf(sphere[i] * g->inverse);
}

static uint32_t hash_of(const grid *g, const int32_t cell[3])
{
    uint32_t h =
        (uint32_t)cell[0] * 0x9e3779b1u ^ (uint32_t)cell[1] * 0x85ebca77u ^ (uint32_t)cell[2] * 0xc2b2ae3du;
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

/* World spheres of all bodies and whose they are; those of a body without a pose get radius -1. Returns the
 * largest radius. */
static float place(const sac_penetration_cast *cast, const sac_peer_pose *poses, float (*spheres)[4],
                   uint32_t *owner, sac_penetration *out)
{
    float widest = 0;
    for (uint32_t i = 0; i < cast->body_count; i++) {
        const sac_peer_pose *pose = &poses[i];
        const sac_penetration_wear wear = worn(cast, i);
        const sac_penetration_shape *shape = &cast->shapes[wear.shape];
        bool sane = pose_is_sane(pose);
        sac_transform t = {.scale = 1};
        float rows[3][3];
        if (sane) {
            const float *p = pose->position;
            memcpy(t.translation, p, sizeof t.translation);
            memcpy(t.rotation, pose->rotation, sizeof t.rotation);
            float half = 0.5f * cast->side;
            if (cast->side > 0 && (fabsf(p[0]) > half || fabsf(p[2]) > half || p[1] < 0)) out->outside++;
        } else {
            out->not_finite++;
        }
        sac_transform_rows(&t, rows);
        for (uint32_t k = 0; k < shape->count; k++, spheres++, owner++) {
            float s[4];
            for (int c = 0; c < 4; c++) s[c] = shape->spheres[k][c] * wear.scale;
            for (int c = 0; c < 3; c++)
                (*spheres)[c] = rows[c][0] * s[0] + rows[c][1] * s[1] + rows[c][2] * s[2] + t.translation[c];
            (*spheres)[3] = sane ? s[3] : -1;
            *owner = i;
            widest = fmaxf(widest, s[3]);
            if (sane && cast->side > 0)
                out->floor_mm = fmax(out->floor_mm, 1e3 * (double)(s[3] - (*spheres)[1]));
        }
    }
    return widest;
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

/* Each pair is found once, from its member with the greater number. */
static bool find_overlaps(const grid *g, uint32_t count, const sac_penetration_view *view,
                          sac_penetration_room *room)
{
    for (uint32_t i = 0; i < count; i++) {
        const float *a = g->spheres[i];
        if (a[3] < 0) continue;
        int32_t home[3], cell[3], other[3];
        cell_of(g, a, home);
        for (int n = 0; n < 27; n++) {
            cell[0] = home[0] + n % 3 - 1, cell[1] = home[1] + n / 3 % 3 - 1, cell[2] = home[2] + n / 9 - 1;
            uint32_t h = hash_of(g, cell);
            for (uint32_t k = g->first[h]; k < g->first[h + 1]; k++) {
                uint32_t j = g->order[k];
                if (j >= i || g->owner[j] == g->owner[i]) continue;
                const float *b = g->spheres[j];
                float dx = a[0] - b[0], dy = a[1] - b[1], dz = a[2] - b[2], reach = a[3] + b[3];
                float square = dx * dx + dy * dy + dz * dz;
                if (square >= reach * reach) continue;
                /* Two cells may share a bucket: look only at those of this one, else a pair counts twice. */
                cell_of(g, b, other);
                if (other[0] != cell[0] || other[1] != cell[1] || other[2] != cell[2]) continue;
                if (!in_view(view, a, b)) continue;
                if (!sac_array_push(&room->depths, 1e3 * (double)(reach - sqrtf(square)))) return false;
            }
        }
    }
    return true;
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
    uint32_t count = 0, buckets = 64;
    for (uint32_t i = 0; i < cast->body_count; i++) count += cast->shapes[worn(cast, i).shape].count;
    while (buckets < count) buckets *= 2;
    *out_penetration = (sac_penetration){0};
    if (!sac_array_reserve(&room->spheres, 4 * (size_t)count) || !sac_array_reserve(&room->order, count) ||
        !sac_array_reserve(&room->owner, count) || !sac_array_reserve(&room->first, buckets + 2))
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory to measure penetration");
    float(*spheres)[4] = (float(*)[4])room->spheres.data;
    uint32_t *first = room->first.data, *order = room->order.data;
    float widest = place(cast, poses, spheres, room->owner.data, out_penetration);
    grid g = {(const float(*)[4])spheres, order, first, buckets - 1, 0.5f / widest, room->owner.data};
    /* A counting sort: first[h + 2] counts, then first[h + 1] walks from the start of h to its end. */
    memset(first, 0, (buckets + 2) * sizeof *first);
    int32_t cell[3];
    for (uint32_t i = 0; i < count; i++) {
        if (spheres[i][3] < 0) continue;
        cell_of(&g, spheres[i], cell);
        first[hash_of(&g, cell) + 2]++;
    }
    for (uint32_t h = 2; h < buckets + 2; h++) first[h] += first[h - 1];
    for (uint32_t i = 0; i < count; i++) {
        if (spheres[i][3] < 0) continue;
        cell_of(&g, spheres[i], cell);
        order[first[hash_of(&g, cell) + 1]++] = i;
    }
    room->depths.count = 0;
    if (!find_overlaps(&g, count, view, room))
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
    sac_array_fini(&room->spheres);
    sac_array_fini(&room->owner);
    sac_array_fini(&room->order);
    sac_array_fini(&room->first);
    sac_array_fini(&room->depths);
}
