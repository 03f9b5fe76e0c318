// SPDX-License-Identifier: BSD-2-Clause
// gemm of quantized numbers in portable C: up to 2 rows by 4 columns. It is the reference that the other entries are
// compared with.
#include <math.h>

#include "ops/kernels/gemm_i8.h"

#define MR_MAX 2
#define NR 4
#define KR 4

static uint8_t requantize(uint32_t sum, float scale, const taper_i8_epilogue *e)
{
    const float low = (float)(e->min - e->zero_point), high = (float)(255 - e->zero_point);
    const float y = (float)(int32_t)sum * scale;
    return (uint8_t)((int32_t)nearbyintf(y < low ? low : y > high ? high : y) + e->zero_point);
}

TAPER_TEMPLATE void tile(const size_t mr, const taper_gemm_i8 *t, const int8_t *w, size_t column, size_t n)
{
    uint32_t acc[MR_MAX][NR];
    for (size_t i = 0; i < mr; i++) {
        for (size_t j = 0; j < NR; j++)
            acc[i][j] = (uint32_t)t->e.bias[column + j];
    }
    const uint8_t *const *a = t->a;
    for (size_t tap = 0; tap < t->ks; tap++, a += t->a_tap_stride) {
        for (size_t k = 0; k < t->kc; k++) {
            const int8_t *wk = w + k / KR * (NR * KR) + k % KR;
            for (size_t i = 0; i < mr; i++) {
                const int32_t x = a[i][t->a_offset + k];
                TAPER_UNROLL
                for (size_t j = 0; j < NR; j++)
                    acc[i][j] += (uint32_t)(x * wk[j * KR]);
            }
        }
        w += (t->kc + KR - 1) / KR * (NR * KR);
    }
    for (size_t i = 0; i < mr; i++) {
        for (size_t j = 0; j < n; j++) {
            const size_t at = i * t->c_stride + column + j;
            const float scale = t->e.scale[column + j];
            if (t->e.shift == NULL) {
                ((uint8_t *)t->c)[at] = requantize(acc[i][j], scale, &t->e);
            } else {
                const float y = (float)(int32_t)acc[i][j] * scale + t->e.shift[column + j];
                ((float *)t->c)[at] = y < t->e.floor ? t->e.floor : y;
            }
        }
    }
}

void taper_gemm_i8_2x4_scalar(const taper_gemm_i8 *job)
{
    const size_t panel = job->ks * ((job->kc + KR - 1) / KR) * (NR * KR);
    const int8_t *w = job->w;
    for (size_t n = 0; n < job->nc; n += NR, w += panel) {
        if (job->mr == 1) {
            tile(1, job, w, n, job->nc - n < NR ? job->nc - n : NR);
        } else {
            tile(2, job, w, n, job->nc - n < NR ? job->nc - n : NR);
        }
    }
}
