// SPDX-License-Identifier: BSD-2-Clause
// Quantized convolution on the CPU: what the dense and the depthwise path share. Bytes are NHWC.
#ifndef TAPER_CPU_QUANTIZED_CONV_CPU_H
#define TAPER_CPU_QUANTIZED_CONV_CPU_H

#include "ops/call/bands.h"
#include "ops/call/parallel.h"
#include "ops/quantized/quantized_pack.h"

typedef struct taper_conv2d_i8 {
    taper_call *call;
    taper_qconv_params params;
    size_t batch, in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w, groups;
    size_t stride_h, stride_w, dilation_h, dilation_w;
    size_t pad_top, pad_left;
    double in_scale, out_scale;
    int32_t in_zero_point;
    int32_t zero_point, min; // of the result
    const uint8_t *x;        // dense, TAPER_OVERREAD readable bytes behind
    uint8_t *y;
    // Few channels: pixels of 4 bytes, rows of in_w + 2 * pad_left pixels whose ends are padding.
    bool stem;
    bool keeps; // the input is read where it lies, and the weights are constants: the call may be prepared
} taper_conv2d_i8;

// What a path has worked out, with more behind it.
typedef struct taper_conv2d_i8_plan {
    const taper_conv2d_i8 *job;
    taper_status (*run)(const struct taper_conv2d_i8_plan *plan); // reads the job's x, fills y
    // Makes rows of the result from rows of x, wherever these lie; begin and end: taper_banded's. NULL: it cannot.
    void (*rows)(const struct taper_conv2d_i8_plan *plan, const taper_band *band);
    taper_status (*begin)(struct taper_conv2d_i8_plan *plan);
    void (*end)(struct taper_conv2d_i8_plan *plan);
    size_t bytes;         // of all of it
    taper_i8_layer layer; // places; the rest once it is packed
    const int32_t *bias;  // of the layer's places, for these scales
    const float *factor;
    const int32_t *middle;  // of what its sums can be, where `centred`
    const uint8_t *padding; // bytes of the input's zero point
    size_t padding_bytes;
    uint32_t shift; // of the kernel (taper_i8_layer_fold)
    bool centred;
    const char *name; // for the profile
    double flops, work;
} taper_conv2d_i8_plan;

// Packs the weights, runs the plan, and prepares the call.
TAPER_MUST_USE taper_status taper_conv2d_i8_do(taper_conv2d_i8_plan *plan, const taper_pack_request *request);
TAPER_MUST_USE taper_status taper_conv2d_i8_dense(taper_conv2d_i8 *job);
TAPER_MUST_USE taper_status taper_conv2d_i8_depthwise(taper_conv2d_i8 *job);
// How to do it by Winograd's transforms; NULL: that is not faster, or not exact.
const taper_winograd_i8_entry *taper_conv2d_i8_winograd_choose(const taper_conv2d_i8 *job);
TAPER_MUST_USE taper_status taper_conv2d_i8_winograd(taper_conv2d_i8 *job, const taper_winograd_i8_entry *entry);
// to[4 i + k] = planes[k][i]
void taper_conv2d_i8_interleave(const taper_vector_u8_entry *vector, size_t pixels, const uint8_t *const planes[4],
                                uint8_t *to);
// Bytes from a pixel's first channel to the next one's, and from row to row.
static inline size_t taper_conv2d_i8_pixel(const taper_conv2d_i8 *job)
{
    return job->stem ? 4 : job->in_c;
}
static inline size_t taper_conv2d_i8_row(const taper_conv2d_i8 *job)
{
    return job->stem ? (job->in_w + 2 * job->pad_left) * 4 : job->in_w * job->in_c;
}

#endif
