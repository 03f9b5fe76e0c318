// SPDX-License-Identifier: BSD-2-Clause
// Matrix products of floats with packed weights: C = A * W + bias, then an optional sum and a clamp.
//
// One entry serves fully connected layers and 1x1 convolutions (gemm: rows of A are `a_stride` apart), and any other
// dense convolution of NHWC data (igemm: a pointer for each row of each tap).
//
// How an operator uses it
// - It chooses an entry once, when it is prepared: taper_gemm_f32_select(cpu).
// - It packs the weights for entry->nr with taper_gemm_f32_pack. Panels are the same for gemm and igemm.
// - It divides the m rows of the result (output pixels) evenly into strips of at most entry->mr rows: 49 rows with mr =
//   14 are 13 + 12 + 12 + 12 and not 14 + 14 + 14 + 7. Each number of rows has its own code, and short strips are
//   slower. It calls the kernel once per strip with all n columns. The strip of A (mr * k floats) then stays in L1, and
//   the weights stream from L2 once per strip. gemm accepts several strips in one call and divides them itself. During
//   its last strip it prefetches the memory after its weights, which the next call should use.
// - If the packed weights are larger than L2, it calls in blocks of columns instead: for each block of entry->nr * j
//   columns, all strips of rows. A block that starts at c0, a multiple of nr, has weights w + c0 * (ks * kc + 1) and
//   results c + c0. A is then read once per block.
// - Threads: divide rows, or columns if there are few rows. Calls share no state, and nothing is written twice.
//
// gemm(m, nc, kc, a, a_stride, w, c, c_stride, e): row i of A has kc floats, at a + i * a_stride. Strides are in
// floats. m may be any number.
//
// igemm(mr, nc, kc, ks, a, a_tap_stride, a_offset, zero, w, c, c_stride, e): C[i] = sum over taps t < ks of the kc
// floats at a[t * a_tap_stride + i]. A pointer equal to `zero` is padding: at least kc zero floats. a_offset, in bytes,
// is added to every other pointer (image of a batch, group). A tap that is padding for all rows of the strip is
// skipped. The caller chooses a_tap_stride, in pointers: mr for a small buffer that is filled per strip, or the number
// of all output pixels for a buffer that is filled once per input shape.
// - k x k convolution, NHWC: ks = kh * kw, kc = input channels, one pointer per pixel and tap.
// - First layer (3 channels, NHWC input): the kw * 3 floats of a kernel row are contiguous, so ks = kh and kc = kw * 3,
//   with one pointer per pixel and kernel row (pack with k_inner = 3, see below). A window that crosses the left or
//   right border needs padded input rows: copy each image row once into scratch, with pad_left * 3 zeros before and
//   pad_right * 3 after it (150 KB for 224x224, or only the rows of one band). NCHW input is transposed to NHWC into
//   the same padded rows (taper_transpose kernels).
// - Groups: one call per group with a_offset = group * kc * 4, and with `w` and `c` at the group's weights and results.
//   This includes channel multipliers.
// - Dilation changes only the pointers.
//
// windows(m, nc, kc, ks, a, step, w, c, c_stride, e): overlapping rows. C[i] = sum over t < ks of the kc floats at a[t]
// + i * step. step is 1 or 2, m is at least entry->mr, and the summand must not be the memory of C. The function serves
// convolutions of few channels in planes: a tap is a channel and a kernel row, kc is the kernel's width, and m is the
// number of pixels of a row.
//
// The summand (add) of the epilogue may be the memory of C (C += A * W), which also permits dividing K. Sums run over
// taps, then over k, in this order; tiles of one or two rows have up to 4 partial sums. Sums use FMA if the entry has
// it. Only the elements of A, W, the summand and C that the arguments name are read or written (over_read is 0 in every
// entry).
#ifndef TAPER_KERNELS_GEMM_F32_H
#define TAPER_KERNELS_GEMM_F32_H

#include <stdbool.h>

#include "base/half.h"
#include "ops/kernels/arch.h"
#include "ops/list/op_config.h"

typedef struct taper_gemm_epilogue {
    const float *add;  // first element of the summand (residual), or NULL
    size_t add_stride; // number of floats between rows of the summand
    float min, max;    // limits of the results; -INFINITY and INFINITY if there are no limits; a NaN stays NaN
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
    uint64_t cpu;       // TAPER_ISA_ bit that the entry needs
    uint32_t mr, nr;    // largest number of rows in a strip; number of columns of a panel of packed weights
    uint32_t over_read; // number of bytes that may be read after an input
    taper_gemm_f32_function *gemm;
    taper_igemm_f32_function *igemm;
    taper_gemm_f32_windows_function *windows; // NULL in small builds, and if it is faster to copy the rows and call
                                              // igemm
    // Only the entries of gemm_half.h set the fields below. All other entries have precision fp32, kr 1 and rounds 0.
    taper_precision precision; // precision of the packed weights
    uint32_t kr;               // number of contiguous elements of a column in a panel; nr * kr is even
    // 0 if A is not rounded. Otherwise A is rounded to halves, and this many products are added as halves before the
    // sum is added to floats (1: all sums are floats).
    uint32_t rounds;
} taper_gemm_entry;

#define TAPER_GEMM_NONE(function) NULL

// The division of m rows into strips of `even` rows; the first `longer` strips have one row more.
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

// ---- packed weights: panels of nr columns, each {bias[nr], then for each tap, for each k: w[nr]}.
// Missing columns are zero. The source may have any order: element (n, tap, k) is at
//   n * n_stride + tap * tap_stride + (k / k_inner) * k_stride + (k % k_inner) * k_inner_stride
// OIHW k x k: n_stride = I * KH * KW, tap_stride = 1, k_stride = KH * KW, k_inner = 1
// OHWI (channels_last): n_stride = KH * KW * I, tap_stride = I, k_stride = 1, k_inner = 1
// linear [out, in] and OIHW 1x1: n_stride = in, k_stride = 1, k_inner = 1, ks = 1
// a matrix [k, n] (mm): n_stride = 1, k_stride = n
// first layer, OIHW (ks = KH, kc = KW * I, k = kw * I + i): tap_stride = KW, k_stride = 1, k_inner = I,
//   k_inner_stride = KH * KW
typedef struct taper_gemm_pack {
    size_t n, ks, kc;
    size_t n_stride, tap_stride, k_stride;
    size_t k_inner, k_inner_stride; // k_inner may be 0, which means 1
    bool joined;                    // true if the caller multiplies all taps as a single tap of ks * kc elements
    const float *weights;
    const float *scale; // one factor per column, for the weights (not for the bias); NULL if all factors are 1
    const float *bias;  // one number per column; NULL if all numbers are 0
    // A taper_transpose_f32_function of the vector kernels, which makes packing of OIHW, OHWI and [out, in] weights
    // several times faster. NULL: packing is element by element.
    void (*transpose)(size_t rows, size_t columns, const float *x, size_t x_stride, float *y, size_t y_stride);
} taper_gemm_pack;

// Returns the number of floats of packed float weights, or 0 if it does not fit into size_t. Alignment to 64 bytes
// makes kernels faster but is not required. gemm_half.h has functions for weights in an entry's own precision.
size_t taper_gemm_f32_packed_count(size_t nr, size_t n, size_t ks, size_t kc);
// Packs the panels [first, last) of ceil(n / nr) panels, so that threads can share the work. `packed` is the address of
// panel 0 for any `first`.
void taper_gemm_f32_pack(size_t nr, const taper_gemm_pack *pack, size_t first, size_t last, float *packed);

#endif
