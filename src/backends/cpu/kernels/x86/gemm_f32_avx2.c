// SPDX-License-Identifier: BSD-2-Clause
// gemm and igemm of floats with AVX2 and FMA: up to 6 rows by 16 columns in 12 accumulators; per k two loads of weights
// and one broadcast per row.
#include "backends/cpu/kernels/arch.h"

#if TAPER_LEVEL_AVX2

#include <immintrin.h>
#include <math.h>

#include "backends/cpu/kernels/gemm_f32.h"

#define MR_MAX 6
#define NR 16

// As in gemm_f32_avx512.c.
#define FETCH(w) _mm_prefetch((const char *)(w) + 8192, _MM_HINT_T0)

typedef struct call {
    size_t nc, kc, ks;
    const float *const *a;
    size_t a_tap_stride, a_offset;
    const float *zero, *w;
    float *c;
    size_t c_stride;
    const taper_gemm_epilogue *e;
} call;

// The first n of 8 lanes.
TAPER_TEMPLATE __m256i tail_mask(size_t n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

// One tile of mr rows by nv vectors. KU partial sums: with few rows the latency of the FMA would bound the speed.
TAPER_TEMPLATE void tile(const size_t mr, const size_t nv, const size_t ku, const call *t, const float *w, float *c,
                         const float *add, __m256i m0, __m256i m1)
{
    __m256 acc[MR_MAX][2], part[3][2];
    const size_t kc = t->kc;
    TAPER_UNROLL
    for (size_t j = 0; j < nv; j++) {
        const __m256 bias = _mm256_loadu_ps(w + 8 * j);
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++)
            acc[i][j] = bias;
        TAPER_UNROLL
        for (size_t u = 1; u < ku; u++)
            part[u - 1][j] = _mm256_setzero_ps();
    }
    w += NR;
    const float *const *a = t->a;
    for (size_t tap = 0; tap < t->ks; tap++, a += t->a_tap_stride) {
        const float *p[MR_MAX];
        size_t used = 0;
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            const size_t real = a[i] != t->zero;
            p[i] = taper_f32_at(a[i], real ? t->a_offset : 0);
            used += real;
        }
        if (used == 0) {
            w += kc * NR;
            continue;
        }
        size_t k = 0;
        if (ku > 1) {
            for (; k + ku <= kc; k += ku) {
                TAPER_UNROLL
                for (size_t u = 0; u < ku; u++) {
                    FETCH(w + NR * u);
                    const __m256 x = _mm256_set1_ps(p[0][k + u]);
                    TAPER_UNROLL
                    for (size_t j = 0; j < nv; j++) {
                        __m256 *sum = u == 0 ? &acc[0][j] : &part[u - 1][j];
                        *sum = _mm256_fmadd_ps(x, _mm256_loadu_ps(w + NR * u + 8 * j), *sum);
                    }
                }
                w += NR * ku;
            }
        }
        TAPER_NO_UNROLL
        for (; k < kc; k++) {
            __m256 b[2];
            TAPER_UNROLL
            for (size_t j = 0; j < nv; j++)
                b[j] = _mm256_loadu_ps(w + 8 * j);
            FETCH(w);
            w += NR;
            TAPER_UNROLL
            for (size_t i = 0; i < mr; i++) {
                const __m256 x = _mm256_set1_ps(p[i][k]);
                TAPER_UNROLL
                for (size_t j = 0; j < nv; j++)
                    acc[i][j] = _mm256_fmadd_ps(x, b[j], acc[i][j]);
            }
        }
    }
    TAPER_UNROLL
    for (size_t u = 1; u < ku; u++) {
        TAPER_UNROLL
        for (size_t j = 0; j < nv; j++)
            acc[0][j] = _mm256_add_ps(acc[0][j], part[u - 1][j]);
    }
    if (add != NULL) {
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            TAPER_UNROLL
            for (size_t j = 0; j < nv; j++)
                acc[i][j] = _mm256_add_ps(acc[i][j], _mm256_maskload_ps(add + 8 * j, j == 0 ? m0 : m1));
            add += t->e->add_stride;
        }
    }
    // A clamp costs as much as two k, so it is left out where it does nothing.
    if (t->e->min > -INFINITY || t->e->max < INFINITY) {
        const __m256 low = _mm256_set1_ps(t->e->min), high = _mm256_set1_ps(t->e->max);
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            TAPER_UNROLL // in this order of operands a NaN passes through
                for (size_t j = 0; j < nv; j++) acc[i][j] = _mm256_min_ps(high, _mm256_max_ps(low, acc[i][j]));
        }
    }
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++) {
        TAPER_UNROLL
        for (size_t j = 0; j < nv; j++)
            _mm256_maskstore_ps(c + 8 * j, j == 0 ? m0 : m1, acc[i][j]);
        c += t->c_stride;
    }
}

// All panels for mr rows.
#if TAPER_SMALL
#define TILE(mr, t, w, c, add)                                                                                         \
    tile(mr, 2, (mr) == 1 ? 4 : 1, t, w, c, add, _mm256_set1_epi32(-1), _mm256_set1_epi32(-1))
#include "backends/cpu/kernels/gemm_f32_small.h"
#else
TAPER_TEMPLATE void strip(const size_t mr, const call *t)
{
    const size_t ku = mr == 1 ? 4 : 1;
    const size_t panel = (t->ks * t->kc + 1) * NR;
    const float *w = t->w, *add = t->e->add;
    float *c = t->c;
    const __m256i all = _mm256_set1_epi32(-1);
    size_t n = t->nc;
    for (; n > 8; n -= n < NR ? n : NR) {
        tile(mr, 2, ku, t, w, c, add, all, n < NR ? tail_mask(n - 8) : all);
        w += panel;
        c += NR;
        add = add != NULL ? add + NR : NULL;
    }
    if (n > 0)
        tile(mr, 1, ku, t, w, c, add, tail_mask(n), all);
}
#endif

#define EACH_MR(X) X(1) X(2) X(3) X(4) X(5) X(6)
#define STRIP(mr)                                                                                                      \
    TAPER_INSTANCE void strip_##mr(const call *t)                                                                      \
    {                                                                                                                  \
        strip(mr, t);                                                                                                  \
    }
EACH_MR(STRIP)
#undef STRIP

#define ENTRY(mr) strip_##mr,
static void (*const strips[MR_MAX])(const call *t) = {EACH_MR(ENTRY)};
#undef ENTRY

void taper_igemm_f32_6x16_avx2(size_t mr, size_t nc, size_t kc, size_t ks, const float *const *a, size_t a_tap_stride,
                               size_t a_offset, const float *zero, const float *w, float *c, size_t c_stride,
                               const taper_gemm_epilogue *e)
{
    const call t = {nc, kc, ks, a, a_tap_stride, a_offset, zero, w, c, c_stride, e};
    strips[mr - 1](&t);
}

void taper_gemm_f32_6x16_avx2(size_t mr, size_t nc, size_t kc, const float *a, size_t a_stride, const float *w,
                              float *c, size_t c_stride, const taper_gemm_epilogue *e)
{
    const float *rows[MR_MAX];
    for (size_t i = 0; i < mr; i++)
        rows[i] = a + i * a_stride;
    const call t = {nc, kc, 1, rows, 0, 0, NULL, w, c, c_stride, e};
    strips[mr - 1](&t);
}

#else
typedef int taper_gemm_f32_avx2_is_left_out;
#endif
