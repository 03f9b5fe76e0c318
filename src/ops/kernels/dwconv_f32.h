// SPDX-License-Identifier: BSD-2-Clause
// Depthwise convolution of NHWC floats (one filter per channel), with bias and clamp.
//
// Two interfaces over the same packed weights:
// - rows: 3x3, 5x5, 7x7 with stride 1 (3x3 and 5x5 also 2), no dilation: several output pixels at a time share loads of
//   inputs and weights. taper_dwconv_f32_select finds the entry, NULL when the shape has none.
// - taps: any kernel, stride, dilation: a pointer per output pixel and tap, as igemm. taper_dwconv_taps_f32_select.
// Both entries of one instruction set have the same block of channels, so the packing does not depend on the choice.
//
// How an operator uses rows
// - taper_dwconv_f32_pack once, for entry->block.
// - rows[]: pointers to the input rows from (first output row) * stride - pad_top on, (out_rows - 1) * stride + kh of
//   them; NULL for a row of padding. Columns of padding are dealt with inside.
// - Order of work: one call for all output rows of a thread with a chunk of taper_dwconv_f32_chunk channels, then the
//   next chunk (channel_offset, channels, w and out move). On small maps with many channels a row then stays in
//   L1 until its last use; on large maps the chunk is all the channels, because memory is best read in order.
// - A map that does not fit L2 is bound by memory: 3 of MobileNetV2's 17 layers take half of its depthwise time. Make
//   bands of rows together with the pointwise convolution before and behind, through scratch in L2.
// - Two output rows are made together, so bands for threads want an even number of rows.
// - Fused with a pointwise convolution: call it per band of rows; out may be a band in scratch.
//
// Weights packed: for each block of channels {bias[block], tap 0 [block], tap 1 [block], ...}, missing channels 0.
// over_read: bytes behind the last channel of a pixel that may be read (and are ignored), so the input needs that much
// slack behind its last pixel. Taps in padding are skipped or multiplied by zero.
#ifndef TAPER_KERNELS_DWCONV_F32_H
#define TAPER_KERNELS_DWCONV_F32_H

#include "ops/kernels/arch.h"
#include "ops/list/op_config.h"

typedef struct taper_dwconv_rows {
    const float *const *rows;
    size_t channel_offset; // floats added to every row that is not NULL
    size_t channels;
    size_t in_width, in_stride; // pixels; floats between pixels
    size_t pad_left;
    size_t out_rows, out_width, out_stride, out_row_stride; // strides in floats
    const float *w;                                         // of the first channel
    float *out;
    float min, max; // -INFINITY and INFINITY for none; NaN stays NaN
} taper_dwconv_rows;

typedef void taper_dwconv_f32_function(const taper_dwconv_rows *job);
// c[i] for pixels i < m: the sum over taps of a[t * a_tap_stride + i][channel] * w. a_offset (bytes) is added to every
// pointer that is not `zero` (at least nc zeros).
typedef void taper_dwconv_taps_f32_function(size_t m, size_t nc, size_t taps, const float *const *a,
                                            size_t a_tap_stride, size_t a_offset, const float *zero, const float *w,
                                            float *c, size_t c_stride, float min, float max);

typedef struct taper_dwconv_entry {
    const char *name;
    uint64_t cpu;
    uint32_t kernel, stride; // both directions
    uint32_t block;          // channels
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

// Channels per call (see above): a multiple of the block, or all. l1_bytes: the data cache of a core.
size_t taper_dwconv_f32_chunk(const taper_dwconv_entry *entry, size_t channels, size_t in_width, size_t l1_bytes);
// Number of floats; 0 when it does not fit size_t.
size_t taper_dwconv_f32_packed_count(size_t block, size_t channels, size_t taps);
// weights [channels][taps] (PyTorch's [C, 1, KH, KW]); scale and bias per channel, or NULL.
void taper_dwconv_f32_pack(size_t block, size_t channels, size_t taps, const float *weights, const float *scale,
                           const float *bias, float *packed);

#endif
