// SPDX-License-Identifier: BSD-2-Clause
// Depthwise convolution of NHWC floats (one filter per channel), with bias and clamp.
//
// Two interfaces use the same packed weights:
// - rows: 3x3, 5x5 and 7x7 with stride 1 (3x3 and 5x5 also with stride 2), without dilation. Several output pixels are
//   computed together and share loads of inputs and weights. taper_dwconv_f32_select returns the entry, or NULL if no
//   entry has this shape.
// - taps: any kernel, stride and dilation, with a pointer per output pixel and tap as in igemm.
//   taper_dwconv_taps_f32_select returns the entry.
// Both entries of an instruction set have the same block of channels, so the packing does not depend on the choice of
// an interface.
//
// How an operator uses rows - It calls taper_dwconv_f32_pack once, for entry->block. - rows[] contains pointers to
// (out_rows - 1) * stride + kh input rows, from row (first output row) * stride - pad_top on. NULL is a row of padding.
// The kernel itself handles columns of padding. - Order of work: one call computes all output rows of a thread for a
// chunk of taper_dwconv_f32_chunk channels, then the next chunk follows (with other values of channel_offset, channels,
// w and out). On small maps with many channels a row then stays in L1 until its last use. On large maps the chunk is
// all channels, because memory is read fastest in order. - A map that does not fit into L2 is bound by memory: 3 of
// MobileNetV2's 17 layers take half of its depthwise time. Compute bands of rows together with the pointwise
// convolutions before and after, through scratch in L2. - Two output rows are computed together, so bands for threads
// should have an even number of rows. - If a pointwise convolution follows, the operator can call the depthwise kernel
// for each band of rows; `out` may be a band in scratch.
//
// Packed weights: for each block of channels {bias[block], tap 0 [block], tap 1 [block], ...}; missing channels are 0.
// over_read: bytes after the last channel of a pixel that may be read and are ignored. The input needs this slack after
// its last pixel. Taps in padding are skipped or multiplied by zero.
#ifndef TAPER_KERNELS_DWCONV_F32_H
#define TAPER_KERNELS_DWCONV_F32_H

#include "ops/kernels/arch.h"
#include "ops/list/op_config.h"

typedef struct taper_dwconv_rows {
    const float *const *rows;
    size_t channel_offset; // number of floats added to each row pointer that is not NULL
    size_t channels;
    size_t in_width, in_stride; // width in pixels; number of floats between pixels
    size_t pad_left;
    // Number of rows; number of pixels in a row; number of floats between pixels, and between rows.
    size_t out_rows, out_width, out_stride, out_row_stride;
    const float *w; // packed weights, from the first channel of the call on
    float *out;
    float min, max; // limits of the results; -INFINITY and INFINITY if there are no limits; a NaN stays NaN
} taper_dwconv_rows;

typedef void taper_dwconv_f32_function(const taper_dwconv_rows *job);
// Computes c[i] for the pixels i < m: the sum over taps of a[t * a_tap_stride + i][channel] * w. a_offset, in bytes, is
// added to every pointer except `zero`, which has at least nc zeros.
typedef void taper_dwconv_taps_f32_function(size_t m, size_t nc, size_t taps, const float *const *a,
                                            size_t a_tap_stride, size_t a_offset, const float *zero, const float *w,
                                            float *c, size_t c_stride, float min, float max);

typedef struct taper_dwconv_entry {
    const char *name;
    uint64_t cpu;
    uint32_t kernel, stride; // kernel size and stride, in both directions
    uint32_t block;          // number of channels of a block of packed weights
    uint32_t over_read;
    taper_dwconv_f32_function *run;
} taper_dwconv_entry;

typedef struct taper_dwconv_taps_entry {
    const char *name;
    uint64_t cpu;
    uint32_t block;
    uint32_t over_read;
    taper_dwconv_taps_f32_function *run;
} taper_dwconv_taps_entry;

#define KERNEL(isa, shape, kernel, stride, block, over_read) taper_dwconv_f32_function taper_dwconv_f32_##shape##_##isa;
#define KERNEL_TAPS(isa, block, over_read) taper_dwconv_taps_f32_function taper_dwconv_taps_f32_##isa;
#include "ops/kernels/dwconv_f32_list.inc"
#undef KERNEL
#undef KERNEL_TAPS

// Returns the number of channels per call ("Order of work" at the top of this file): a multiple of the block, or all
// channels. l1_bytes is the size of a core's L1 data cache.
size_t taper_dwconv_f32_chunk(const taper_dwconv_entry *entry, size_t channels, size_t in_width, size_t l1_bytes);
// Returns the number of floats of packed weights, or 0 if it does not fit into size_t.
size_t taper_dwconv_f32_packed_count(size_t block, size_t channels, size_t taps);
// Packs the weights, [channels][taps] (PyTorch's [C, 1, KH, KW]). scale and bias have one number per channel, or are
// NULL.
void taper_dwconv_f32_pack(size_t block, size_t channels, size_t taps, const float *weights, const float *scale,
                           const float *bias, float *packed);

#endif
