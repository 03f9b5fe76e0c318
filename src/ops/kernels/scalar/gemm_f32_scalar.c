// SPDX-License-Identifier: BSD-2-Clause
// gemm and igemm of floats in portable C: up to 4 rows by 4 columns. It is the reference that the other entries are
// compared with.
#include "ops/kernels/arch.h"
#include "ops/kernels/gemm_f32.h"

#define MR_MAX 4
#define NR 4

typedef struct call {
    size_t nc, kc, ks;
    const float *const *a;
    size_t a_tap_stride, a_offset;
    const float *zero, *w;
    float *c;
    size_t c_stride;
    const taper_gemm_epilogue *e;
} call;

TAPER_TEMPLATE void tile(const size_t mr, const call *t, const float *w, float *c, const float *add, size_t n)
{
    float acc[MR_MAX][NR];
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++) {
        TAPER_UNROLL
        for (size_t j = 0; j < NR; j++)
            acc[i][j] = w[j];
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
            w += t->kc * NR;
            continue;
        }
        TAPER_NO_UNROLL
        for (size_t k = 0; k < t->kc; k++, w += NR) {
            TAPER_UNROLL
            for (size_t i = 0; i < mr; i++) {
                const float x = p[i][k];
                TAPER_UNROLL
                for (size_t j = 0; j < NR; j++)
                    acc[i][j] += x * w[j];
            }
        }
    }
    const float low = t->e->min, high = t->e->max;
    for (size_t i = 0; i < mr; i++) {
        for (size_t j = 0; j < n; j++) {
            float y = acc[i][j];
            if (add != NULL)
                y += add[i * t->e->add_stride + j];
            y = y < low ? low : y;
            c[i * t->c_stride + j] = y > high ? high : y;
        }
    }
}

TAPER_TEMPLATE void strip(const size_t mr, const call *t)
{
    const size_t panel = (t->ks * t->kc + 1) * NR;
    const float *w = t->w, *add = t->e->add;
    for (size_t n = 0; n < t->nc; n += NR, w += panel) {
        tile(mr, t, w, t->c + n, add != NULL ? add + n : NULL, t->nc - n < NR ? t->nc - n : NR);
    }
}

static void run(size_t mr, const call *t)
{
    switch (mr) {
    case 1:
        strip(1, t);
        break;
    case 2:
        strip(2, t);
        break;
    case 3:
        strip(3, t);
        break;
    default:
        strip(4, t);
        break;
    }
}

void taper_igemm_f32_4x4_scalar(size_t mr, size_t nc, size_t kc, size_t ks, const float *const *a, size_t a_tap_stride,
                                size_t a_offset, const float *zero, const float *w, float *c, size_t c_stride,
                                const taper_gemm_epilogue *e)
{
    const call t = {nc, kc, ks, a, a_tap_stride, a_offset, zero, w, c, c_stride, e};
    run(mr, &t);
}

void taper_gemm_f32_4x4_scalar(size_t m, size_t nc, size_t kc, const float *a, size_t a_stride, const float *w,
                               float *c, size_t c_stride, const taper_gemm_epilogue *e)
{
    const float *rows[MR_MAX];
    taper_gemm_epilogue epilogue = *e;
    call t = {nc, kc, 1, rows, 0, 0, NULL, w, c, c_stride, &epilogue};
    for (size_t mr; m > 0; m -= mr, t.c += mr * c_stride) {
        mr = m < MR_MAX ? m : MR_MAX;
        for (size_t i = 0; i < mr; i++, a += a_stride)
            rows[i] = a;
        run(mr, &t);
        if (epilogue.add != NULL)
            epilogue.add += mr * e->add_stride;
    }
}
