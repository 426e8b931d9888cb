/* Eights are loaded from wherever a patch begins; of the last, lanes that were there before or are not the
 * patch's count for nothing. Compiled once for each SIMD path by patch_*.c. */
#ifndef SAC_DEFORM_PATCH_KERNEL_INTERNAL_H
#define SAC_DEFORM_PATCH_KERNEL_INTERNAL_H

#include <float.h>

#include "base/simd.h"
#include "deform/patch_internal.h"

#define ADD sac_f8_add
#define SUB sac_f8_sub
#define MUL sac_f8_mul
#define SET sac_f8_set

static const _Alignas(32) float numbers[8] = {0, 1, 2, 3, 4, 5, 6, 7};

/* Lanes [first, end) of v, and `none` elsewhere. */
SAC_ALWAYS_INLINE sac_f8 within(sac_f8 v, uint32_t first, uint32_t end, sac_f8 none)
{
    sac_f8 lane = sac_f8_load(numbers);
    v = sac_f8_pick_less(lane, SET((float)(int32_t)first), none, v);
    return sac_f8_pick_less(lane, SET((float)(int32_t)end), v, none);
}

SAC_ALWAYS_INLINE float highest(sac_f8 v)
{
    float all[8];
    sac_f8_store(all, v);
    for (int k = 0; k < 4; k++) all[k] = all[k] > all[k + 4] ? all[k] : all[k + 4];
    all[0] = all[0] > all[2] ? all[0] : all[2], all[1] = all[1] > all[3] ? all[1] : all[3];
    return all[0] > all[1] ? all[0] : all[1];
}

SAC_ALWAYS_INLINE float across(sac_f8 v)
{
    float all[8];
    sac_f8_store(all, v);
    for (int k = 0; k < 4; k++) all[k] += all[k + 4];
    return (all[0] + all[2]) + (all[1] + all[3]);
}

/* Something for each eight from `first` on; the last may be less and is loaded so that it ends where they do.
 * `edge` is known when compiling, and true where lanes of others are among them. */
#define EIGHTS(i, edge, ...)                                  \
    do {                                                      \
        const uint32_t end_ = first + count;                  \
        uint32_t i = first, low_ = 0;                         \
        for (; i + 8 <= end_; i += 8) {                       \
            const bool edge = false;                          \
            __VA_ARGS__                                       \
        }                                                     \
        if (i < end_) {                                       \
            const bool edge = true;                           \
            low_ = i, i = end_ > 8 ? end_ - 8 : 0, low_ -= i; \
            __VA_ARGS__                                       \
        }                                                     \
        (void)low_;                                           \
    } while (0)
#define OWN(v, i, none) within(v, low_, end_ - (i), none)

static float reach(const sac_soft *s, uint32_t first, uint32_t count, const float n[3])
{
    const sac_f8 nx = SET(n[0]), ny = SET(n[1]), nz = SET(n[2]), none = SET(-FLT_MAX);
    sac_f8 most = none;
    EIGHTS(i, edge, {
        sac_f8 d = ADD(ADD(MUL(sac_f8_load_any(s->x + i), nx), MUL(sac_f8_load_any(s->y + i), ny)),
                       MUL(sac_f8_load_any(s->z + i), nz));
        most = sac_f8_max(edge ? OWN(d, i, none) : d, most);
    });
    return highest(most);
}

static void momentum(const sac_soft *s, uint32_t first, uint32_t count, float out[4])
{
    const sac_f8 zero = SET(0);
    const float *v[3] = {s->vx, s->vy, s->vz};
    sac_f8 sum[4] = {zero, zero, zero, zero};
    EIGHTS(i, edge, {
        sac_f8 m = sac_f8_load_any(s->model->mass + i);
        for (int k = 0; k < 3; k++) {
            sac_f8 p = MUL(m, sac_f8_load_any(v[k] + i));
            sum[k] = ADD(sum[k], edge ? OWN(p, i, zero) : p);
        }
        sum[3] = ADD(sum[3], edge ? OWN(m, i, zero) : m);
    });
    for (int k = 0; k < 4; k++) out[k] = across(sum[k]);
}

static void push(sac_soft *s, uint32_t first, uint32_t count, const float change[3])
{
    const sac_f8 zero = SET(0);
    float *v[3] = {s->vx, s->vy, s->vz};
    EIGHTS(i, edge, {
        for (int k = 0; k < 3; k++) {
            sac_f8 d = SET(change[k]);
            sac_f8_store(v[k] + i, ADD(sac_f8_load_any(v[k] + i), edge ? OWN(d, i, zero) : d));
        }
    });
}

static float farthest(const sac_soft *s, uint32_t first, uint32_t count, const float from[3])
{
    const sac_f8 cx = SET(from[0]), cy = SET(from[1]), cz = SET(from[2]), zero = SET(0);
    sac_f8 most = zero;
    EIGHTS(i, edge, {
        sac_f8 x = SUB(sac_f8_load_any(s->x + i), cx), y = SUB(sac_f8_load_any(s->y + i), cy),
               z = SUB(sac_f8_load_any(s->z + i), cz);
        sac_f8 d = ADD(ADD(MUL(x, x), MUL(y, y)), MUL(z, z));
        most = sac_f8_max(edge ? OWN(d, i, zero) : d, most);
    });
    return highest(most);
}

static void radii(const sac_soft *s, const sac_soft_range range[8], const sac_sphere_block *from,
                  float out[8])
{
    const sac_f8 zero = SET(0);
    _Alignas(32) float all[8][8];
    const float *rows[8];
    for (int lane = 0; lane < 8; lane++) {
        const uint32_t first = range[lane].first, count = range[lane].count;
        const sac_f8 cx = SET(from->x[lane]), cy = SET(from->y[lane]), cz = SET(from->z[lane]);
        sac_f8 most = zero;
        rows[lane] = all[lane];
        EIGHTS(i, edge, {
            sac_f8 x = SUB(sac_f8_load_any(s->x + i), cx), y = SUB(sac_f8_load_any(s->y + i), cy),
                   z = SUB(sac_f8_load_any(s->z + i), cz);
            sac_f8 d = ADD(ADD(MUL(x, x), MUL(y, y)), MUL(z, z));
            most = sac_f8_max(edge ? OWN(d, i, zero) : d, most);
        });
        sac_f8_store(all[lane], most);
    }
    sac_f8 columns[8], most = zero;
    sac_f8_rows_load(rows, columns);
    for (int k = 0; k < 8; k++) most = sac_f8_max(columns[k], most);
    sac_f8_store(out, most);
}

static void moments(const sac_soft *s, uint32_t first, uint32_t count, const float from[3], float out[15])
{
    const sac_f8 cx = SET(from[0]), cy = SET(from[1]), cz = SET(from[2]), zero = SET(0);
    sac_f8 sum[15];
    for (int k = 0; k < 15; k++) sum[k] = zero;
    EIGHTS(i, edge, {
        sac_f8 m = sac_f8_load_any(s->model->mass + i);
        if (edge) m = OWN(m, i, zero);
        sac_f8 x = SUB(sac_f8_load_any(s->x + i), cx), y = SUB(sac_f8_load_any(s->y + i), cy),
               z = SUB(sac_f8_load_any(s->z + i), cz);
        sac_f8 mx = MUL(m, x), my = MUL(m, y), mz = MUL(m, z);
        sum[0] = ADD(sum[0], mx), sum[1] = ADD(sum[1], my), sum[2] = ADD(sum[2], mz);
        sum[6] = ADD(sum[6], MUL(mx, x)), sum[7] = ADD(sum[7], MUL(my, y)), sum[8] = ADD(sum[8], MUL(mz, z));
        sum[9] = ADD(sum[9], MUL(mx, y)), sum[10] = ADD(sum[10], MUL(mx, z));
        sum[11] = ADD(sum[11], MUL(my, z));
        sac_f8 vx = sac_f8_load_any(s->vx + i), vy = sac_f8_load_any(s->vy + i),
               vz = sac_f8_load_any(s->vz + i);
        sum[3] = ADD(sum[3], MUL(m, vx)), sum[4] = ADD(sum[4], MUL(m, vy)), sum[5] = ADD(sum[5], MUL(m, vz));
        sum[12] = ADD(sum[12], SUB(MUL(my, vz), MUL(mz, vy)));
        sum[13] = ADD(sum[13], SUB(MUL(mz, vx), MUL(mx, vz)));
        sum[14] = ADD(sum[14], SUB(MUL(mx, vy), MUL(my, vx)));
    });
    for (int k = 0; k < 15; k++) out[k] = across(sum[k]);
}

#define KERNELS_OF(path) sac_patch_kernels_##path
#define KERNELS(path) KERNELS_OF(path)
const sac_patch_kernels KERNELS(SAC_SIMD_PATH) = {reach, momentum, push, farthest, radii, moments};

#endif
