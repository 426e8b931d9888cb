/* A whole box in one comparison. */
#include "runtime/broad_grid_internal.h"

static __m256 key_of(const sac_box *box)
{
    sac_grid_key key = sac_grid_key_of(box);
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(key.high)), _mm_load_ps(key.minus_low), 1);
}

uint32_t sac_grid_compare_avx2(const sac_grid_box *boxes, const uint32_t *list, uint32_t count,
                               const sac_box *now, const sac_box *before, uint32_t *out)
{
    __m256 is = key_of(now), was = key_of(before);
    __m256 all = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        __m256 box = _mm256_load_ps((const float *)(const void *)&boxes[list[i]]);
        uint32_t meets = (uint32_t)_mm256_testc_ps(_mm256_cmp_ps(box, is, _CMP_LE_OQ), all);
        uint32_t met = (uint32_t)_mm256_testc_ps(_mm256_cmp_ps(box, was, _CMP_LE_OQ), all);
        out[found] = list[i] | meets << 31;
        found += meets ^ met;
    }
    return found;
}
