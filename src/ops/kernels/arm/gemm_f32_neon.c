// SPDX-License-Identifier: BSD-2-Clause
// gemm and igemm of floats with NEON: up to 8 rows by 8 columns in 16 accumulators. Four k at a time: 8 loads of A, 8
// of weights, 64 multiply-adds by lane.
#include "ops/kernels/simd_neon.h"

#define MR_MAX 8
#define EACH_MR(X) X(1) X(2) TAPER_ODD_MR(X(3)) X(4) TAPER_ODD_MR(X(5)) X(6) TAPER_ODD_MR(X(7)) X(8)
#define SPLIT 1
#define OWN_PRODUCTS

TAPER_TEMPLATE const float *add_products(const size_t mr, const size_t nv, const size_t ku, const float **p,
                                         const float *w, size_t kc, V acc[MR_MAX][2], V part[SPLIT][2])
{
    (void)ku, (void)part;
    size_t k = kc;
    TAPER_NO_UNROLL
    for (; k >= 4; k -= 4) {
        V x[MR_MAX];
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            x[i] = v_load(p[i]);
            p[i] += 4;
        }
#define STEP(lane)                                                                                                     \
    {                                                                                                                  \
        V b[2];                                                                                                        \
        TAPER_UNROLL                                                                                                   \
        for (size_t j = 0; j < nv; j++)                                                                                \
            b[j] = v_load(w + 2 * VN * lane + VN * j);                                                                 \
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
        w += 2 * VN * 4;
    }
    TAPER_NO_UNROLL
    for (; k > 0; k--) {
        V b[2];
        TAPER_UNROLL
        for (size_t j = 0; j < nv; j++)
            b[j] = v_load(w + VN * j);
        w += 2 * VN;
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            const V x = vld1q_dup_f32(p[i]++);
            TAPER_UNROLL
            for (size_t j = 0; j < nv; j++)
                acc[i][j] = v_fma(x, b[j], acc[i][j]);
        }
    }
    return w;
}

#include "ops/kernels/gemm_f32_tmpl.h"

GEMM_F32(taper_gemm_f32_8x8_neon, taper_igemm_f32_8x8_neon)
