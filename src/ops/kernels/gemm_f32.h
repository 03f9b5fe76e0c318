// SPDX-License-Identifier: BSD-2-Clause
// Matrix products of floats with packed weights: C = A * W + bias, then an optional sum and a clamp.
//
// The same entry serves fully connected layers, 1x1 convolutions (gemm: the rows of A are `a_stride` apart) and
// any other dense convolution on NHWC data (igemm: every row of every tap is a pointer).
//
// How an operator uses it
// - Choose an entry once, when the operator is prepared: taper_gemm_f32_select(cpu).
// - Pack the weights for entry->nr with taper_gemm_f32_pack (panels are the same for gemm and igemm).
// - Cut the m rows of the result (output pixels) into strips of at most entry->mr rows, as even as can be: 49 rows and
//   mr = 14 are 13 + 12 + 12 + 12 and not 14 + 14 + 14 + 7 (every mr has its own code; short strips are slower).
//   Call the kernel once per strip with all n columns. The strip of A (mr * k floats) then stays in L1, and
//   the weights stream once per strip from L2. gemm takes several strips in one call and cuts them itself; while it
//   makes the last it fetches what lies behind its weights, so let that be what the next call uses.
// - When the packed weights are larger than L2, call in blocks of columns instead: for each block of entry->nr * j
//   columns (block start c0: w + c0 * (ks * kc + 1) when c0 is a multiple of nr, c + c0) all strips of rows. A is
//   then read once per block.
// - Threads: cut rows (or columns when there are few rows). Nothing is shared, nothing is written twice.
//
// gemm(m, nc, kc, a, a_stride, w, c, c_stride, e): row i of A at a + i * a_stride (strides in floats), kc floats long.
// Any number of rows.
//
// igemm(mr, nc, kc, ks, a, a_tap_stride, a_offset, zero, w, c, c_stride, e): C[i] = sum over taps t < ks of the kc
// floats at a[t * a_tap_stride + i]. A pointer equal to `zero` stands for padding: at least kc zero floats, to which
// a_offset (bytes, added to all the other pointers: image of a batch, group) is not added. A tap that is padding
// for all rows of the strip is skipped. a_tap_stride (in pointers) is free: mr for a small buffer filled
// per strip, or the number of all output pixels for a buffer made once per input shape.
// - k x k convolution, NHWC: ks = kh * kw, kc = input channels, one pointer per pixel and tap.
// - Stem convolution (3 channels, NHWC input): the kw * 3 floats of one kernel row lie side by side, so
//   ks = kh, kc = kw * 3 with one pointer per pixel and kernel row (pack with k_inner = 3, see below). A window that
//   crosses the left or right border needs a padded copy of the input rows: copy each image row once into scratch
//   with pad_left * 3 zeros before and pad_right * 3 behind (150 KB for 224x224, or only the rows of one band).
//   NCHW input is transposed to NHWC into the same padded rows (taper_transpose kernels).
// - Groups: one call per group with a_offset = group * kc * 4, a and c moved; ch. multiplier included.
// - Dilation only changes the pointers.
//
// windows(m, nc, kc, ks, a, step, w, c, c_stride, e): rows that overlap. C[i] = sum over t < ks of the kc floats at
// a[t] + i * step; step is 1 or 2, m at least entry->mr, and the sum is not the same memory as C. For convolutions of
// few channels that lie in planes: a tap is a channel and a kernel row, kc the kernel's width, m a row of pixels.
//
// The add of the epilogue may be the same memory as C (C += A * W), which also serves to cut K in two.
// Sums run over taps, then k, in this order; of one and two rows in up to 4 partial sums. FMA where the entry has it.
// Neither A, W, the sum nor C is touched outside the named elements (over_read 0 in every entry).
#ifndef TAPER_KERNELS_GEMM_F32_H
#define TAPER_KERNELS_GEMM_F32_H

#include <stdbool.h>

#include "base/half.h"
#include "ops/kernels/arch.h"
#include "ops/list/op_config.h"

typedef struct taper_gemm_epilogue {
    const float *add;  // summand of the first element (residual), or NULL
    size_t add_stride; // floats between its rows
    float min, max;    // clamp; -INFINITY and INFINITY for none. NaN stays NaN
} taper_gemm_epilogue;

typedef void taper_gemm_f32_function(size_t m, size_t nc, size_t kc, const float *a, size_t a_stride, const float *w,
                                     float *c, size_t c_stride, const taper_gemm_epilogue *e);
typedef void taper_igemm_f32_function(size_t mr, size_t nc, size_t kc, size_t ks, const float *const *a,
                                      size_t a_tap_stride, size_t a_offset, const float *zero, const float *w, float *c,
                                      size_t c_stride, const taper_gemm_epilogue *e);

typedef void taper_gemm_f32_windows_function(size_t m, size_t nc, size_t kc, size_t ks, const float *const *a,
                                             size_t step, const float *w, float *c, size_t c_stride,
                                             const taper_gemm_epilogue *e);

typedef struct taper_gemm_entry {
    const char *name;
    uint64_t cpu;       // TAPER_ISA_ bit it needs
    uint32_t mr, nr;    // most rows of a strip; width of a panel of packed weights
    uint32_t over_read; // bytes
    taper_gemm_f32_function *gemm;
    taper_igemm_f32_function *igemm;
    taper_gemm_f32_windows_function *windows; // NULL where rows had better be copied together, and in small builds
    // What follows is other than fp32, 1 and 0 in the entries of gemm_half.h only.
    taper_precision precision; // of packed weights
    uint32_t kr;               // elements of a column that lie side by side; nr * kr is even
    uint32_t rounds; // 0: A is taken as it is; else it is rounded too, and so many products are added in halves, or one
} taper_gemm_entry;

#define TAPER_GEMM_NONE(function) NULL

// m rows as strips: the first `longer` have a row more than the others.
typedef struct taper_gemm_strips {
    size_t count, even, longer;
} taper_gemm_strips;

static inline taper_gemm_strips taper_gemm_cut(size_t m, size_t mr)
{
    if (m <= mr)
        return (taper_gemm_strips){1, m, 0};
    const size_t count = (m - 1) / mr + 1;
    return (taper_gemm_strips){count, m / count, m % count};
}

#define KERNEL(isa, tile, mr, nr, over_read, windows)                                                                  \
    taper_gemm_f32_function taper_gemm_f32_##tile##_##isa;                                                             \
    taper_igemm_f32_function taper_igemm_f32_##tile##_##isa;                                                           \
    taper_gemm_f32_windows_function taper_gemm_f32_windows_##tile##_##isa;
#include "ops/kernels/gemm_f32_list.inc"
#include "ops/kernels/windows.h"
#undef KERNEL

// ---- packed weights: panels of nr columns, each {bias[nr], then for every tap, for every k: w[nr]}; missing columns
// are zero. Any order of the source fits: element (n, tap, k) is at
//   n * n_stride + tap * tap_stride + (k / k_inner) * k_stride + (k % k_inner) * k_inner_stride
// OIHW k x k: n_stride = I * KH * KW, tap_stride = 1, k_stride = KH * KW, k_inner = 1
// OHWI (channels_last): n_stride = KH * KW * I, tap_stride = I, k_stride = 1, k_inner = 1
// linear [out, in] and OIHW 1x1: n_stride = in, k_stride = 1, k_inner = 1, ks = 1
// a matrix [k, n] (mm): n_stride = 1, k_stride = n
// stem OIHW (ks = KH, kc = KW * I, k = kw * I + i): tap_stride = KW, k_stride = 1, k_inner = I, k_inner_stride = KH *
// KW
typedef struct taper_gemm_pack {
    size_t n, ks, kc;
    size_t n_stride, tap_stride, k_stride;
    size_t k_inner, k_inner_stride; // k_inner 0 is 1
    bool joined;                    // all taps are one of ks * kc elements to who multiplies
    const float *weights;
    const float *scale; // per column, folded into the weights (not the bias); NULL: 1
    const float *bias;  // NULL: 0
    // taper_transpose_f32_function of the vector family: makes packing of OIHW, OHWI and [out, in] weights several
    // times faster. NULL: element by element.
    void (*transpose)(size_t rows, size_t columns, const float *x, size_t x_stride, float *y, size_t y_stride);
} taper_gemm_pack;

// What follows is for weights of floats. Of an entry's own precision: gemm_half.h.
// Number of floats; 0 when it does not fit size_t. The memory wants 64-byte alignment for speed, not for correctness.
size_t taper_gemm_f32_packed_count(size_t nr, size_t n, size_t ks, size_t kc);
// Packs the panels [first, last) of ceil(n / nr), so that threads may share the work; `packed` is the first panel's
// place whatever `first` is.
void taper_gemm_f32_pack(size_t nr, const taper_gemm_pack *pack, size_t first, size_t last, float *packed);

#endif
