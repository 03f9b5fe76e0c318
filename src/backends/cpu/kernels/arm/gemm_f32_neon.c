// SPDX-License-Identifier: BSD-2-Clause
// gemm and igemm of floats with NEON: up to 8 rows by 8 columns in 16 accumulators. Four k at a time: 8 loads of A, 8
// of weights, 64 multiply-adds by lane.
#include "backends/cpu/kernels/arch.h"

#if TAPER_LEVEL_NEON

#include <arm_neon.h>

#include "backends/cpu/kernels/gemm_f32.h"

#define MR_MAX 8
#define NR 8

typedef struct call {
    size_t nc, kc, ks;
    const float *const *a;
    size_t a_tap_stride, a_offset;
    const float *zero, *w;
    float *c;
    size_t c_stride;
    const taper_gemm_epilogue *e;
} call;

// One row: n < 4 elements of memory, the rest zero. The caller has none to waste behind its rows.
TAPER_TEMPLATE float32x4_t load_some(const float *p, size_t n)
{
    float32x4_t x = vdupq_n_f32(0.0f);
    x = vld1q_lane_f32(p, x, 0);
    if (n > 1)
        x = vld1q_lane_f32(p + 1, x, 1);
    if (n > 2)
        x = vld1q_lane_f32(p + 2, x, 2);
    return x;
}

TAPER_TEMPLATE void store_some(float *p, float32x4_t x, size_t n)
{
    vst1q_lane_f32(p, x, 0);
    if (n > 1)
        vst1q_lane_f32(p + 1, x, 1);
    if (n > 2)
        vst1q_lane_f32(p + 2, x, 2);
}

// One tile of mr rows by nv vectors, of which n columns exist.
TAPER_TEMPLATE void tile(const size_t mr, const size_t nv, const call *t, const float *w, float *c, const float *add,
                         size_t n)
{
    float32x4_t acc[MR_MAX][2];
    const size_t kc = t->kc;
    TAPER_UNROLL
    for (size_t j = 0; j < nv; j++) {
        const float32x4_t bias = vld1q_f32(w + 4 * j);
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++)
            acc[i][j] = bias;
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
        size_t k = kc;
        TAPER_NO_UNROLL
        for (; k >= 4; k -= 4) {
            float32x4_t x[MR_MAX];
            TAPER_UNROLL
            for (size_t i = 0; i < mr; i++) {
                x[i] = vld1q_f32(p[i]);
                p[i] += 4;
            }
#define STEP(lane)                                                                                                     \
    {                                                                                                                  \
        float32x4_t b[2];                                                                                              \
        TAPER_UNROLL                                                                                                   \
        for (size_t j = 0; j < nv; j++)                                                                                \
            b[j] = vld1q_f32(w + NR * lane + 4 * j);                                                                   \
        TAPER_UNROLL                                                                                                   \
        for (size_t i = 0; i < mr; i++) {                                                                              \
            TAPER_UNROLL                                                                                               \
            for (size_t j = 0; j < nv; j++)                                                                            \
                acc[i][j] = vfmaq_laneq_f32(acc[i][j], b[j], x[i], lane);                                              \
        }                                                                                                              \
    }
            __builtin_prefetch(w + 160); // the in-order cores fetch little ahead by themselves
            __builtin_prefetch(w + 176);
            STEP(0)
            STEP(1)
            STEP(2)
            STEP(3)
#undef STEP
            w += NR * 4;
        }
        TAPER_NO_UNROLL
        for (; k > 0; k--) {
            float32x4_t b[2];
            TAPER_UNROLL
            for (size_t j = 0; j < nv; j++)
                b[j] = vld1q_f32(w + 4 * j);
            w += NR;
            TAPER_UNROLL
            for (size_t i = 0; i < mr; i++) {
                const float32x4_t x = vld1q_dup_f32(p[i]++);
                TAPER_UNROLL
                for (size_t j = 0; j < nv; j++)
                    acc[i][j] = vfmaq_f32(acc[i][j], b[j], x);
            }
        }
    }
    const float32x4_t low = vdupq_n_f32(t->e->min), high = vdupq_n_f32(t->e->max);
    if (add != NULL) {
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            TAPER_UNROLL
            for (size_t j = 0; j < nv; j++) {
                acc[i][j] =
                    vaddq_f32(acc[i][j], n >= 4 * j + 4 ? vld1q_f32(add + 4 * j) : load_some(add + 4 * j, n - 4 * j));
            }
            add += t->e->add_stride;
        }
    }
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++) {
        TAPER_UNROLL
        for (size_t j = 0; j < nv; j++) {
            const float32x4_t y = vminq_f32(vmaxq_f32(acc[i][j], low), high); // NaN passes through
            if (n >= 4 * j + 4) {
                vst1q_f32(c + 4 * j, y);
            } else {
                store_some(c + 4 * j, y, n - 4 * j);
            }
        }
        c += t->c_stride;
    }
}

// All panels for mr rows.
#if TAPER_SMALL
#define TILE(mr, t, w, c, add) tile(mr, 2, t, w, c, add, NR)
#include "backends/cpu/kernels/gemm_f32_small.h"
#else
TAPER_TEMPLATE void strip(const size_t mr, const call *t)
{
    const size_t panel = (t->ks * t->kc + 1) * NR;
    const float *w = t->w, *add = t->e->add;
    float *c = t->c;
    size_t n = t->nc;
    for (; n > 4; n -= n < NR ? n : NR) {
        tile(mr, 2, t, w, c, add, n);
        w += panel;
        c += NR;
        add = add != NULL ? add + NR : NULL;
    }
    if (n > 0)
        tile(mr, 1, t, w, c, add, n);
}
#endif

#define EACH_MR(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8)
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

void taper_igemm_f32_8x8_neon(size_t mr, size_t nc, size_t kc, size_t ks, const float *const *a, size_t a_tap_stride,
                              size_t a_offset, const float *zero, const float *w, float *c, size_t c_stride,
                              const taper_gemm_epilogue *e)
{
    const call t = {nc, kc, ks, a, a_tap_stride, a_offset, zero, w, c, c_stride, e};
    strips[mr - 1](&t);
}

void taper_gemm_f32_8x8_neon(size_t mr, size_t nc, size_t kc, const float *a, size_t a_stride, const float *w, float *c,
                             size_t c_stride, const taper_gemm_epilogue *e)
{
    const float *rows[MR_MAX];
    for (size_t i = 0; i < mr; i++)
        rows[i] = a + i * a_stride;
    const call t = {nc, kc, 1, rows, 0, 0, NULL, w, c, c_stride, e};
    strips[mr - 1](&t);
}

#else
typedef int taper_gemm_f32_neon_is_left_out;
#endif
