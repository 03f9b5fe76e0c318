// SPDX-License-Identifier: BSD-2-Clause
// Products with weights of halves on CPUs that do not multiply halves. A block of a panel is converted to floats in the
// L1 cache, and the float kernel multiplies it with all rows of the call. Include it after a simd_<isa>.h, whose
// v_widen_bf16 and v_widen_fp16 load VN halves as floats.
#include <math.h>
#include <string.h>

#include "ops/kernels/gemm_half.h"

enum { DEPTH = 128 }; // largest number of elements of k in a block

// Converts `count` halves to floats, in whole vectors.
typedef void widen_function(size_t count, const uint16_t *from, float *to);

typedef struct wide_call {
    const taper_gemm_entry *floats; // float entry, of which gemm, igemm and nr are used
    widen_function *widen;
    size_t mr, nc, kc, ks;
    const float *a; // rows of A; NULL if the rows are given by pointers
    size_t a_stride;
    const float *const *pointers;
    size_t a_tap_stride, a_offset;
    const float *zero, *w;
    float *c;
    size_t c_stride;
    const taper_gemm_epilogue *e;
} wide_call;

// Multiplies `depth` elements of `taps` taps for the columns [n, n + columns). Every block except the first adds to C.
TAPER_INSTANCE void multiply_block(const wide_call *t, size_t n, size_t columns, size_t tap, size_t taps, size_t k,
                                   size_t depth, const float *block, const taper_gemm_epilogue *e)
{
    if (t->a != NULL) {
        t->floats->gemm(t->mr, columns, depth, t->a + k, t->a_stride, block, t->c + n, t->c_stride, e);
    } else {
        t->floats->igemm(t->mr, columns, depth, taps, t->pointers + tap * t->a_tap_stride, t->a_tap_stride,
                         t->a_offset + k * sizeof(float), t->zero, block, t->c + n, t->c_stride, e);
    }
}

static int is_padding(const wide_call *t, size_t tap)
{
    for (size_t i = 0; t->a == NULL && i < t->mr; i++) {
        if (t->pointers[tap * t->a_tap_stride + i] != t->zero)
            return 0;
    }
    return t->a == NULL;
}

TAPER_INSTANCE void widened(const wide_call *t)
{
    enum { MOST_NR = 32 };
    float block[(DEPTH + 1) * MOST_NR];
    const size_t nr = t->floats->nr, kc = t->kc;
    const float *w = t->w;
    for (size_t n = 0; n < t->nc; n += nr) {
        const size_t columns = t->nc - n < nr ? t->nc - n : nr;
        taper_gemm_epilogue e = {.add = t->e->add != NULL ? t->e->add + n : NULL,
                                 .add_stride = t->e->add_stride,
                                 .min = -INFINITY,
                                 .max = INFINITY};
        const uint16_t *from = (const uint16_t *)(const void *)(w + nr);
        memcpy(block, w, nr * sizeof *block); // the bias; blocks after the first have a bias of zero
        for (size_t tap = 0, taps; tap < t->ks; tap += taps) {
            taps = kc < DEPTH ? DEPTH / kc : 1;
            taps = taps < t->ks - tap ? taps : t->ks - tap;
            // Padding is skipped, except for the last tap, which must write C in any case.
            if (taps == 1 && tap + 1 < t->ks && is_padding(t, tap)) {
                from += kc * nr;
                continue;
            }
            for (size_t k = 0, depth; k < kc; k += depth) {
                depth = kc - k < DEPTH ? kc - k : DEPTH;
                t->widen(taps * depth * nr, from, block + nr);
                from += taps * depth * nr;
                if (tap + taps == t->ks && k + depth == kc) {
                    e.min = t->e->min;
                    e.max = t->e->max;
                }
                multiply_block(t, n, columns, tap, taps, k, depth, block, &e);
                memset(block, 0, nr * sizeof *block);
                e.add = t->c + n;
                e.add_stride = t->c_stride;
            }
        }
        w = (const float *)(const void *)from;
    }
}

// Defines the two functions of an entry in gemm_half_list.inc, with the float kernel of the same tile.
#define WIDENED(precision, word, tile, isa, width)                                                                     \
    static void widen_##precision(size_t count, const uint16_t *from, float *to)                                       \
    {                                                                                                                  \
        for (size_t i = 0; i < count; i += VN)                                                                         \
            v_store(to + i, word(from + i));                                                                           \
    }                                                                                                                  \
    static const taper_gemm_entry floats_of_##precision = {                                                            \
        .nr = width, .gemm = taper_gemm_f32_##tile##_##isa, .igemm = taper_igemm_f32_##tile##_##isa};                  \
    void taper_igemm_##precision##_##tile##_##isa(                                                                     \
        size_t mr, size_t nc, size_t kc, size_t ks, const float *const *a, size_t a_tap_stride, size_t a_offset,       \
        const float *zero, const float *w, float *c, size_t c_stride, const taper_gemm_epilogue *e)                    \
    {                                                                                                                  \
        const wide_call t = {.floats = &floats_of_##precision,                                                         \
                             .widen = widen_##precision,                                                               \
                             .mr = mr,                                                                                 \
                             .nc = nc,                                                                                 \
                             .kc = kc,                                                                                 \
                             .ks = ks,                                                                                 \
                             .pointers = a,                                                                            \
                             .a_tap_stride = a_tap_stride,                                                             \
                             .a_offset = a_offset,                                                                     \
                             .zero = zero,                                                                             \
                             .w = w,                                                                                   \
                             .c = c,                                                                                   \
                             .c_stride = c_stride,                                                                     \
                             .e = e};                                                                                  \
        widened(&t);                                                                                                   \
    }                                                                                                                  \
    void taper_gemm_##precision##_##tile##_##isa(size_t m, size_t nc, size_t kc, const float *a, size_t a_stride,      \
                                                 const float *w, float *c, size_t c_stride,                            \
                                                 const taper_gemm_epilogue *e)                                         \
    {                                                                                                                  \
        const wide_call t = {.floats = &floats_of_##precision,                                                         \
                             .widen = widen_##precision,                                                               \
                             .mr = m,                                                                                  \
                             .nc = nc,                                                                                 \
                             .kc = kc,                                                                                 \
                             .ks = 1,                                                                                  \
                             .a = a,                                                                                   \
                             .a_stride = a_stride,                                                                     \
                             .w = w,                                                                                   \
                             .c = c,                                                                                   \
                             .c_stride = c_stride,                                                                     \
                             .e = e};                                                                                  \
        widened(&t);                                                                                                   \
    }
// Defines the functions of a tile for both precisions.
#define GEMM_WIDENED(tile, isa, width)                                                                                 \
    WIDENED(bf16, v_widen_bf16, tile, isa, width) WIDENED(fp16, v_widen_fp16, tile, isa, width)
