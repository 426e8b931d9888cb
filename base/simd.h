/* Eight floats at a time, on whatever the file is compiled for: AVX-512VL, AVX2, SSE2, NEON, or plain C.
 *
 * A kernel is one source compiled once for each path; the file that includes it picks the path by
 * its compiler flags, or forces plain C with SAC_SIMD_PLAIN. All paths give the same bits: only add,
 * subtract, multiply, divide, square root and comparison, each rounded once, never fused.
 *
 *   sac_f8 d = sac_f8_sub(sac_f8_load(x), sac_f8_set(1.0f));
 *   unsigned inside = sac_f8_le(sac_f8_mul(d, d), sac_f8_set(4.0f));   // bit k: lane k
 *   sac_n8_pack(out, sac_n8_load(ids), inside), out += sac_bits(inside);
 *
 * NaN fails every comparison.
 *
 * Index: sac_f8_load  sac_f8_load_any  sac_f8_store  sac_f8_set  sac_f8_add  sac_f8_sub  sac_f8_mul
 *        sac_f8_div  sac_f8_max  sac_f8_min  sac_f8_abs  sac_f8_sqrt  sac_f8_le  sac_f8_pick_less
 *        sac_f8_rows_load  sac_f8_rows_store  sac_n8_load  sac_n8_set  sac_n8_store  sac_n8_pack
 *        sac_n8_add  sac_n8_top  sac_n8_clear_top  sac_bits  sac_prefetch
 */
#ifndef SAC_BASE_SIMD_H
#define SAC_BASE_SIMD_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(SAC_SIMD_PLAIN)
#define SAC_SIMD_PATH scalar
#elif defined(__AVX512VL__) && defined(__AVX512DQ__) && defined(__AVX512BW__)
#define SAC_SIMD_PATH avx512
#define SAC_SIMD_IS_AVX512 1
#define SAC_SIMD_IS_AVX 1
#include <immintrin.h>
#elif defined(__AVX2__)
#define SAC_SIMD_PATH avx2
#define SAC_SIMD_IS_AVX 1
#include <immintrin.h>
#elif defined(__SSE2__)
#define SAC_SIMD_PATH sse2
#define SAC_SIMD_IS_SSE2 1
#include <emmintrin.h>
#elif defined(__aarch64__)
#define SAC_SIMD_PATH neon
#define SAC_SIMD_IS_NEON 1
#include <arm_neon.h>
#else
#define SAC_SIMD_PATH scalar
#endif

/* Where a call would send registers through memory. */
#define SAC_ALWAYS_INLINE static inline __attribute__((always_inline))

static inline void sac_prefetch(uintptr_t address) { __builtin_prefetch((const void *)address, 0, 3); }

/* Set bits of an 8-lane mask. */
static inline uint32_t sac_bits(uint32_t mask)
{
#if defined(__POPCNT__) || defined(SAC_SIMD_IS_NEON)
    return (uint32_t)__builtin_popcount(mask);
#else
    /* Without the instruction the built-in is a call. */
    mask = mask - ((mask >> 1) & 0x55u);
    mask = (mask & 0x33u) + ((mask >> 2) & 0x33u);
    return (mask + (mask >> 4)) & 0x0fu;
#endif
}

#if defined(SAC_SIMD_IS_AVX)

typedef __m256 sac_f8;
typedef __m256i sac_n8;

static inline sac_f8 sac_f8_load(const float *p) { return _mm256_load_ps(p); }
/* From any place; sac_f8_load wants a multiple of 32 bytes. */
static inline sac_f8 sac_f8_load_any(const float *p) { return _mm256_loadu_ps(p); }
static inline void sac_f8_store(float *p, sac_f8 v) { _mm256_storeu_ps(p, v); }
static inline sac_f8 sac_f8_set(float v) { return _mm256_set1_ps(v); }
static inline sac_f8 sac_f8_add(sac_f8 a, sac_f8 b) { return _mm256_add_ps(a, b); }
static inline sac_f8 sac_f8_sub(sac_f8 a, sac_f8 b) { return _mm256_sub_ps(a, b); }
static inline sac_f8 sac_f8_mul(sac_f8 a, sac_f8 b) { return _mm256_mul_ps(a, b); }
static inline sac_f8 sac_f8_div(sac_f8 a, sac_f8 b) { return _mm256_div_ps(a, b); }
/* a > b ? a : b, so that NaN in a gives b on every path. */
static inline sac_f8 sac_f8_max(sac_f8 a, sac_f8 b) { return _mm256_max_ps(a, b); }
static inline sac_f8 sac_f8_min(sac_f8 a, sac_f8 b) { return _mm256_min_ps(a, b); }
static inline sac_f8 sac_f8_sqrt(sac_f8 a) { return _mm256_sqrt_ps(a); }
static inline sac_f8 sac_f8_abs(sac_f8 a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
/* Four columns of two 4 x 4 blocks each: lanes 0-3 from the low halves, 4-7 from the high. */
SAC_ALWAYS_INLINE void sac_avx_quarters(__m256 a, __m256 b, __m256 c, __m256 d, __m256 out[4])
{
    __m256 ab = _mm256_unpacklo_ps(a, b), cd = _mm256_unpacklo_ps(c, d);
    __m256 AB = _mm256_unpackhi_ps(a, b), CD = _mm256_unpackhi_ps(c, d);
    out[0] = _mm256_shuffle_ps(ab, cd, 0x44), out[1] = _mm256_shuffle_ps(ab, cd, 0xee);
    out[2] = _mm256_shuffle_ps(AB, CD, 0x44), out[3] = _mm256_shuffle_ps(AB, CD, 0xee);
}
static inline __m256 sac_avx_join(const float *low, const float *high)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high), 1);
}
/* out[j], lane k: rows[k][j]. Rows need no alignment. */
SAC_ALWAYS_INLINE void sac_f8_rows_load(const float *const rows[8], sac_f8 out[8])
{
    for (int half = 0; half < 8; half += 4)
        sac_avx_quarters(sac_avx_join(rows[0] + half, rows[4] + half),
                         sac_avx_join(rows[1] + half, rows[5] + half),
                         sac_avx_join(rows[2] + half, rows[6] + half),
                         sac_avx_join(rows[3] + half, rows[7] + half), out + half);
}
/* rows[k][j]: in[j], lane k. Stored in order of k; a row given twice keeps what came last. */
SAC_ALWAYS_INLINE void sac_f8_rows_store(float *const rows[8], const sac_f8 in[8])
{
    __m256 quarters[8];
    sac_avx_quarters(in[0], in[1], in[2], in[3], quarters);
    sac_avx_quarters(in[4], in[5], in[6], in[7], quarters + 4);
    for (int k = 0; k < 4; k++) {
        _mm_storeu_ps(rows[k], _mm256_castps256_ps128(quarters[k]));
        _mm_storeu_ps(rows[k] + 4, _mm256_castps256_ps128(quarters[k + 4]));
    }
    for (int k = 0; k < 4; k++) {
        _mm_storeu_ps(rows[k + 4], _mm256_extractf128_ps(quarters[k], 1));
        _mm_storeu_ps(rows[k + 4] + 4, _mm256_extractf128_ps(quarters[k + 4], 1));
    }
}
static inline sac_n8 sac_n8_load(const uint32_t *p) { return _mm256_load_si256((const __m256i *)p); }
static inline sac_n8 sac_n8_set(uint32_t v) { return _mm256_set1_epi32((int)v); }
static inline void sac_n8_store(uint32_t *p, sac_n8 v) { _mm256_storeu_si256((__m256i *)p, v); }
static inline sac_n8 sac_n8_add(sac_n8 a, sac_n8 b) { return _mm256_add_epi32(a, b); }
/* Bit k: the highest bit of lane k. */
static inline uint32_t sac_n8_top(sac_n8 v) { return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(v)); }
static inline sac_n8 sac_n8_clear_top(sac_n8 v) { return _mm256_and_si256(v, _mm256_set1_epi32(0x7fffffff)); }

#if defined(SAC_SIMD_IS_AVX512)
/* Sixteen at a time, on this path only: eight lanes twice, or lanes 2k and 2k + 1 of eight, eight times each.
 */
typedef __m512 sac_f16;
typedef __m512i sac_n16;
static inline sac_f16 sac_f16_twice(const float *p) { return _mm512_broadcast_f32x8(_mm256_load_ps(p)); }
static inline sac_n16 sac_n16_twice(sac_n8 v) { return _mm512_broadcast_i32x8(v); }
static inline sac_n16 sac_n16_two_lanes(int k)
{
    return _mm512_inserti32x8(_mm512_set1_epi32(2 * k), _mm256_set1_epi32(2 * k + 1), 1);
}
static inline sac_f16 sac_f16_spread(sac_f16 v, sac_n16 lanes) { return _mm512_permutexvar_ps(lanes, v); }
static inline sac_n16 sac_n16_spread(sac_n16 v, sac_n16 lanes) { return _mm512_permutexvar_epi32(lanes, v); }
static inline sac_f16 sac_f16_add(sac_f16 a, sac_f16 b) { return _mm512_add_ps(a, b); }
static inline sac_f16 sac_f16_sub(sac_f16 a, sac_f16 b) { return _mm512_sub_ps(a, b); }
static inline sac_f16 sac_f16_mul(sac_f16 a, sac_f16 b) { return _mm512_mul_ps(a, b); }
static inline uint32_t sac_f16_le(sac_f16 a, sac_f16 b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
/* As sac_n8_pack; all sixteen words are written. */
static inline void sac_n16_pack(uint32_t *out, sac_n16 v, uint32_t mask)
{
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi32((__mmask16)mask, v));
}

static inline uint32_t sac_f8_le(sac_f8 a, sac_f8 b) { return _mm256_cmp_ps_mask(a, b, _CMP_LE_OQ); }
/* a < b ? x : y. */
static inline sac_f8 sac_f8_pick_less(sac_f8 a, sac_f8 b, sac_f8 x, sac_f8 y)
{
    return _mm256_mask_blend_ps(_mm256_cmp_ps_mask(a, b, _CMP_LT_OQ), y, x);
}
/* The lanes of `mask`, in order, to out[0], out[1], ...; all eight words are written. */
static inline void sac_n8_pack(uint32_t *out, sac_n8 v, uint32_t mask)
{
    _mm256_storeu_si256((__m256i *)out, _mm256_maskz_compress_epi32((__mmask8)mask, v));
}
#else
static inline uint32_t sac_f8_le(sac_f8 a, sac_f8 b)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LE_OQ));
}
static inline sac_f8 sac_f8_pick_less(sac_f8 a, sac_f8 b, sac_f8 x, sac_f8 y)
{
    return _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
}

/* Byte k of entry m: the lane of the k-th set bit of m. Bytes keep the table at 2 KB of the first cache. */
#define SAC_PACK_DIGIT(m, k) ((m) >> (k)&1u)
#define SAC_PACK_RANK(m, k)                                                      \
    (8u * (SAC_PACK_DIGIT(m, 0) * ((k) > 0) + SAC_PACK_DIGIT(m, 1) * ((k) > 1) + \
           SAC_PACK_DIGIT(m, 2) * ((k) > 2) + SAC_PACK_DIGIT(m, 3) * ((k) > 3) + \
           SAC_PACK_DIGIT(m, 4) * ((k) > 4) + SAC_PACK_DIGIT(m, 5) * ((k) > 5) + \
           SAC_PACK_DIGIT(m, 6) * ((k) > 6)))
#define SAC_PACK_TERM(m, k) (SAC_PACK_DIGIT(m, k) ? (uint64_t)(k) << SAC_PACK_RANK(m, k) : 0u)
#define SAC_PACK_1(m)                                                                        \
    (SAC_PACK_TERM(m, 0) | SAC_PACK_TERM(m, 1) | SAC_PACK_TERM(m, 2) | SAC_PACK_TERM(m, 3) | \
     SAC_PACK_TERM(m, 4) | SAC_PACK_TERM(m, 5) | SAC_PACK_TERM(m, 6) | SAC_PACK_TERM(m, 7))
#define SAC_PACK_4(m) SAC_PACK_1(m), SAC_PACK_1((m) + 1u), SAC_PACK_1((m) + 2u), SAC_PACK_1((m) + 3u)
#define SAC_PACK_16(m) SAC_PACK_4(m), SAC_PACK_4((m) + 4u), SAC_PACK_4((m) + 8u), SAC_PACK_4((m) + 12u)
#define SAC_PACK_64(m) SAC_PACK_16(m), SAC_PACK_16((m) + 16u), SAC_PACK_16((m) + 32u), SAC_PACK_16((m) + 48u)
static const uint64_t sac_pack_lanes[256] = {SAC_PACK_64(0u), SAC_PACK_64(64u), SAC_PACK_64(128u),
                                             SAC_PACK_64(192u)};

static inline void sac_n8_pack(uint32_t *out, sac_n8 v, uint32_t mask)
{
    __m256i lanes = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)&sac_pack_lanes[mask]));
    _mm256_storeu_si256((__m256i *)out, _mm256_permutevar8x32_epi32(v, lanes));
}
#endif

#elif defined(SAC_SIMD_IS_SSE2)

typedef struct sac_f8 {
    __m128 low, high;
} sac_f8;
typedef struct sac_n8 {
    __m128i low, high;
} sac_n8;

static inline sac_f8 sac_f8_load(const float *p) { return (sac_f8){_mm_load_ps(p), _mm_load_ps(p + 4)}; }
static inline sac_f8 sac_f8_load_any(const float *p)
{
    return (sac_f8){_mm_loadu_ps(p), _mm_loadu_ps(p + 4)};
}
static inline void sac_f8_store(float *p, sac_f8 v) { _mm_storeu_ps(p, v.low), _mm_storeu_ps(p + 4, v.high); }
static inline sac_f8 sac_f8_set(float v)
{
    __m128 s = _mm_set1_ps(v);
    return (sac_f8){s, s};
}
#define SAC_F8_PAIRWISE(name, op) \
    static inline sac_f8 name(sac_f8 a, sac_f8 b) { return (sac_f8){op(a.low, b.low), op(a.high, b.high)}; }
SAC_F8_PAIRWISE(sac_f8_add, _mm_add_ps)
SAC_F8_PAIRWISE(sac_f8_sub, _mm_sub_ps)
SAC_F8_PAIRWISE(sac_f8_mul, _mm_mul_ps)
SAC_F8_PAIRWISE(sac_f8_div, _mm_div_ps)
SAC_F8_PAIRWISE(sac_f8_max, _mm_max_ps)
SAC_F8_PAIRWISE(sac_f8_min, _mm_min_ps)
#undef SAC_F8_PAIRWISE
static inline sac_f8 sac_f8_sqrt(sac_f8 a) { return (sac_f8){_mm_sqrt_ps(a.low), _mm_sqrt_ps(a.high)}; }
static inline sac_f8 sac_f8_abs(sac_f8 a)
{
    __m128 sign = _mm_set1_ps(-0.0f);
    return (sac_f8){_mm_andnot_ps(sign, a.low), _mm_andnot_ps(sign, a.high)};
}
static inline uint32_t sac_f8_le(sac_f8 a, sac_f8 b)
{
    return (uint32_t)(_mm_movemask_ps(_mm_cmple_ps(a.low, b.low)) |
                      _mm_movemask_ps(_mm_cmple_ps(a.high, b.high)) << 4);
}
static inline __m128 sac_sse_pick_less(__m128 a, __m128 b, __m128 x, __m128 y)
{
    __m128 less = _mm_cmplt_ps(a, b);
    return _mm_or_ps(_mm_and_ps(less, x), _mm_andnot_ps(less, y));
}
static inline sac_f8 sac_f8_pick_less(sac_f8 a, sac_f8 b, sac_f8 x, sac_f8 y)
{
    return (sac_f8){sac_sse_pick_less(a.low, b.low, x.low, y.low),
                    sac_sse_pick_less(a.high, b.high, x.high, y.high)};
}
SAC_ALWAYS_INLINE void sac_f8_rows_load(const float *const rows[8], sac_f8 out[8])
{
    for (int half = 0; half < 8; half += 4) {
        __m128 a = _mm_loadu_ps(rows[0] + half), b = _mm_loadu_ps(rows[1] + half),
               c = _mm_loadu_ps(rows[2] + half), d = _mm_loadu_ps(rows[3] + half);
        _MM_TRANSPOSE4_PS(a, b, c, d);
        out[half].low = a, out[half + 1].low = b, out[half + 2].low = c, out[half + 3].low = d;
        a = _mm_loadu_ps(rows[4] + half), b = _mm_loadu_ps(rows[5] + half);
        c = _mm_loadu_ps(rows[6] + half), d = _mm_loadu_ps(rows[7] + half);
        _MM_TRANSPOSE4_PS(a, b, c, d);
        out[half].high = a, out[half + 1].high = b, out[half + 2].high = c, out[half + 3].high = d;
    }
}
SAC_ALWAYS_INLINE void sac_f8_rows_store(float *const rows[8], const sac_f8 in[8])
{
    for (int half = 0; half < 8; half += 4) {
        __m128 a = in[half].low, b = in[half + 1].low, c = in[half + 2].low, d = in[half + 3].low;
        _MM_TRANSPOSE4_PS(a, b, c, d);
        _mm_storeu_ps(rows[0] + half, a), _mm_storeu_ps(rows[1] + half, b);
        _mm_storeu_ps(rows[2] + half, c), _mm_storeu_ps(rows[3] + half, d);
    }
    for (int half = 0; half < 8; half += 4) {
        __m128 a = in[half].high, b = in[half + 1].high, c = in[half + 2].high, d = in[half + 3].high;
        _MM_TRANSPOSE4_PS(a, b, c, d);
        _mm_storeu_ps(rows[4] + half, a), _mm_storeu_ps(rows[5] + half, b);
        _mm_storeu_ps(rows[6] + half, c), _mm_storeu_ps(rows[7] + half, d);
    }
}
static inline sac_n8 sac_n8_load(const uint32_t *p)
{
    return (sac_n8){_mm_load_si128((const __m128i *)p), _mm_load_si128((const __m128i *)(p + 4))};
}
static inline sac_n8 sac_n8_set(uint32_t v)
{
    __m128i s = _mm_set1_epi32((int)v);
    return (sac_n8){s, s};
}
static inline void sac_n8_store(uint32_t *p, sac_n8 v)
{
    _mm_storeu_si128((__m128i *)p, v.low), _mm_storeu_si128((__m128i *)(p + 4), v.high);
}
static inline sac_n8 sac_n8_add(sac_n8 a, sac_n8 b)
{
    return (sac_n8){_mm_add_epi32(a.low, b.low), _mm_add_epi32(a.high, b.high)};
}
static inline uint32_t sac_n8_top(sac_n8 v)
{
    return (uint32_t)(_mm_movemask_ps(_mm_castsi128_ps(v.low)) | _mm_movemask_ps(_mm_castsi128_ps(v.high))
                                                                     << 4);
}
static inline sac_n8 sac_n8_clear_top(sac_n8 v)
{
    __m128i keep = _mm_set1_epi32(0x7fffffff);
    return (sac_n8){_mm_and_si128(v.low, keep), _mm_and_si128(v.high, keep)};
}

#elif defined(SAC_SIMD_IS_NEON)

typedef struct sac_f8 {
    float32x4_t low, high;
} sac_f8;
typedef struct sac_n8 {
    uint32x4_t low, high;
} sac_n8;

static inline sac_f8 sac_f8_load(const float *p) { return (sac_f8){vld1q_f32(p), vld1q_f32(p + 4)}; }
static inline sac_f8 sac_f8_load_any(const float *p) { return sac_f8_load(p); }
static inline void sac_f8_store(float *p, sac_f8 v) { vst1q_f32(p, v.low), vst1q_f32(p + 4, v.high); }
static inline sac_f8 sac_f8_set(float v)
{
    float32x4_t s = vdupq_n_f32(v);
    return (sac_f8){s, s};
}
/* Selections as on x86: the second operand when the comparison fails. */
static inline float32x4_t sac_neon_max(float32x4_t a, float32x4_t b)
{
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}
static inline float32x4_t sac_neon_min(float32x4_t a, float32x4_t b)
{
    return vbslq_f32(vcltq_f32(a, b), a, b);
}
#define SAC_F8_PAIRWISE(name, op) \
    static inline sac_f8 name(sac_f8 a, sac_f8 b) { return (sac_f8){op(a.low, b.low), op(a.high, b.high)}; }
SAC_F8_PAIRWISE(sac_f8_add, vaddq_f32)
SAC_F8_PAIRWISE(sac_f8_sub, vsubq_f32)
SAC_F8_PAIRWISE(sac_f8_mul, vmulq_f32)
SAC_F8_PAIRWISE(sac_f8_div, vdivq_f32)
SAC_F8_PAIRWISE(sac_f8_max, sac_neon_max)
SAC_F8_PAIRWISE(sac_f8_min, sac_neon_min)
#undef SAC_F8_PAIRWISE
static inline sac_f8 sac_f8_sqrt(sac_f8 a) { return (sac_f8){vsqrtq_f32(a.low), vsqrtq_f32(a.high)}; }
static inline sac_f8 sac_f8_abs(sac_f8 a) { return (sac_f8){vabsq_f32(a.low), vabsq_f32(a.high)}; }
static inline uint32_t sac_neon_mask(uint32x4_t low, uint32x4_t high)
{
    static const uint32_t weights[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    return vaddvq_u32(vorrq_u32(vandq_u32(low, vld1q_u32(weights)), vandq_u32(high, vld1q_u32(weights + 4))));
}
static inline uint32_t sac_f8_le(sac_f8 a, sac_f8 b)
{
    return sac_neon_mask(vcleq_f32(a.low, b.low), vcleq_f32(a.high, b.high));
}
static inline sac_f8 sac_f8_pick_less(sac_f8 a, sac_f8 b, sac_f8 x, sac_f8 y)
{
    return (sac_f8){vbslq_f32(vcltq_f32(a.low, b.low), x.low, y.low),
                    vbslq_f32(vcltq_f32(a.high, b.high), x.high, y.high)};
}
static inline void sac_neon_quarter(float32x4_t m[4])
{
    float32x4x2_t ab = vzipq_f32(m[0], m[2]), cd = vzipq_f32(m[1], m[3]);
    float32x4x2_t low = vzipq_f32(ab.val[0], cd.val[0]), high = vzipq_f32(ab.val[1], cd.val[1]);
    m[0] = low.val[0], m[1] = low.val[1], m[2] = high.val[0], m[3] = high.val[1];
}
SAC_ALWAYS_INLINE void sac_f8_rows_load(const float *const rows[8], sac_f8 out[8])
{
    for (int half = 0; half < 8; half += 4) {
        float32x4_t low[4], high[4];
        for (int k = 0; k < 4; k++)
            low[k] = vld1q_f32(rows[k] + half), high[k] = vld1q_f32(rows[k + 4] + half);
        sac_neon_quarter(low), sac_neon_quarter(high);
        for (int k = 0; k < 4; k++) out[half + k] = (sac_f8){low[k], high[k]};
    }
}
SAC_ALWAYS_INLINE void sac_f8_rows_store(float *const rows[8], const sac_f8 in[8])
{
    float32x4_t low[8], high[8];
    for (int k = 0; k < 8; k++) low[k] = in[k].low, high[k] = in[k].high;
    sac_neon_quarter(low), sac_neon_quarter(low + 4), sac_neon_quarter(high), sac_neon_quarter(high + 4);
    for (int k = 0; k < 4; k++) vst1q_f32(rows[k], low[k]), vst1q_f32(rows[k] + 4, low[k + 4]);
    for (int k = 0; k < 4; k++) vst1q_f32(rows[k + 4], high[k]), vst1q_f32(rows[k + 4] + 4, high[k + 4]);
}
static inline sac_n8 sac_n8_load(const uint32_t *p) { return (sac_n8){vld1q_u32(p), vld1q_u32(p + 4)}; }
static inline sac_n8 sac_n8_set(uint32_t v)
{
    uint32x4_t s = vdupq_n_u32(v);
    return (sac_n8){s, s};
}
static inline void sac_n8_store(uint32_t *p, sac_n8 v) { vst1q_u32(p, v.low), vst1q_u32(p + 4, v.high); }
static inline sac_n8 sac_n8_add(sac_n8 a, sac_n8 b)
{
    return (sac_n8){vaddq_u32(a.low, b.low), vaddq_u32(a.high, b.high)};
}
static inline uint32_t sac_n8_top(sac_n8 v)
{
    return sac_neon_mask(vtstq_u32(v.low, vdupq_n_u32(0x80000000u)),
                         vtstq_u32(v.high, vdupq_n_u32(0x80000000u)));
}
static inline sac_n8 sac_n8_clear_top(sac_n8 v)
{
    uint32x4_t keep = vdupq_n_u32(0x7fffffffu);
    return (sac_n8){vandq_u32(v.low, keep), vandq_u32(v.high, keep)};
}

#else

/* Plain C, with the compiler's own vectors of four where it has them: arrays would do, but a kernel of a
 * thousand of these takes minutes to compile then. */
typedef float sac_v4 __attribute__((vector_size(16)));
typedef int32_t sac_i4 __attribute__((vector_size(16)));
typedef struct sac_f8 {
    sac_v4 low, high;
} sac_f8;
typedef struct sac_n8 {
    uint32_t v[8];
} sac_n8;

static inline sac_f8 sac_f8_load(const float *p)
{
    sac_f8 r;
    memcpy(&r.low, p, sizeof r.low);
    memcpy(&r.high, p + 4, sizeof r.high);
    return r;
}
static inline sac_f8 sac_f8_load_any(const float *p) { return sac_f8_load(p); }
static inline void sac_f8_store(float *p, sac_f8 v)
{
    memcpy(p, &v.low, sizeof v.low);
    memcpy(p + 4, &v.high, sizeof v.high);
}
static inline sac_f8 sac_f8_set(float v) { return (sac_f8){{v, v, v, v}, {v, v, v, v}}; }
static inline sac_f8 sac_f8_add(sac_f8 a, sac_f8 b) { return (sac_f8){a.low + b.low, a.high + b.high}; }
static inline sac_f8 sac_f8_sub(sac_f8 a, sac_f8 b) { return (sac_f8){a.low - b.low, a.high - b.high}; }
static inline sac_f8 sac_f8_mul(sac_f8 a, sac_f8 b) { return (sac_f8){a.low * b.low, a.high * b.high}; }
static inline sac_f8 sac_f8_div(sac_f8 a, sac_f8 b) { return (sac_f8){a.low / b.low, a.high / b.high}; }
static inline sac_v4 sac_v4_pick(sac_i4 mask, sac_v4 x, sac_v4 y)
{
    return (sac_v4)((mask & (sac_i4)x) | (~mask & (sac_i4)y));
}
static inline sac_f8 sac_f8_max(sac_f8 a, sac_f8 b)
{
    return (sac_f8){sac_v4_pick(a.low > b.low, a.low, b.low), sac_v4_pick(a.high > b.high, a.high, b.high)};
}
static inline sac_f8 sac_f8_min(sac_f8 a, sac_f8 b)
{
    return (sac_f8){sac_v4_pick(a.low < b.low, a.low, b.low), sac_v4_pick(a.high < b.high, a.high, b.high)};
}
static inline sac_f8 sac_f8_sqrt(sac_f8 a)
{
    for (int k = 0; k < 4; k++) a.low[k] = sqrtf(a.low[k]), a.high[k] = sqrtf(a.high[k]);
    return a;
}
static inline sac_f8 sac_f8_abs(sac_f8 a)
{
    for (int k = 0; k < 4; k++) a.low[k] = fabsf(a.low[k]), a.high[k] = fabsf(a.high[k]);
    return a;
}
static inline uint32_t sac_f8_le(sac_f8 a, sac_f8 b)
{
    sac_i4 low = a.low <= b.low, high = a.high <= b.high;
    uint32_t mask = 0;
    for (int k = 0; k < 4; k++) mask |= ((uint32_t)low[k] & 1u) << k | ((uint32_t)high[k] & 1u) << (k + 4);
    return mask;
}
static inline sac_f8 sac_f8_pick_less(sac_f8 a, sac_f8 b, sac_f8 x, sac_f8 y)
{
    return (sac_f8){sac_v4_pick(a.low < b.low, x.low, y.low), sac_v4_pick(a.high < b.high, x.high, y.high)};
}
static inline void sac_f8_rows_load(const float *const rows[8], sac_f8 out[8])
{
    float lanes[8][8];
    for (int k = 0; k < 8; k++)
        for (int j = 0; j < 8; j++) lanes[j][k] = rows[k][j];
    for (int j = 0; j < 8; j++) out[j] = sac_f8_load(lanes[j]);
}
static inline void sac_f8_rows_store(float *const rows[8], const sac_f8 in[8])
{
    float lanes[8][8];
    for (int j = 0; j < 8; j++) sac_f8_store(lanes[j], in[j]);
    for (int k = 0; k < 8; k++)
        for (int j = 0; j < 8; j++) rows[k][j] = lanes[j][k];
}
static inline sac_n8 sac_n8_load(const uint32_t *p)
{
    sac_n8 r;
    memcpy(r.v, p, sizeof r.v);
    return r;
}
static inline sac_n8 sac_n8_set(uint32_t v) { return (sac_n8){{v, v, v, v, v, v, v, v}}; }
static inline void sac_n8_store(uint32_t *p, sac_n8 v) { memcpy(p, v.v, sizeof v.v); }
static inline sac_n8 sac_n8_add(sac_n8 a, sac_n8 b)
{
    for (int k = 0; k < 8; k++) a.v[k] += b.v[k];
    return a;
}
static inline uint32_t sac_n8_top(sac_n8 v)
{
    uint32_t mask = 0;
    for (int k = 0; k < 8; k++) mask |= v.v[k] >> 31 << k;
    return mask;
}
static inline sac_n8 sac_n8_clear_top(sac_n8 v)
{
    for (int k = 0; k < 8; k++) v.v[k] &= 0x7fffffffu;
    return v;
}

#endif

#if !defined(SAC_SIMD_IS_AVX)
/* No cross-lane permute worth its table here: write each lane, step only past the kept ones. */
static inline void sac_n8_pack(uint32_t *out, sac_n8 v, uint32_t mask)
{
    uint32_t lanes[8], n = 0;
    sac_n8_store(lanes, v);
    for (uint32_t k = 0; k < 8; k++) {
        out[n] = lanes[k];
        n += mask >> k & 1u;
    }
}
#endif

#endif
