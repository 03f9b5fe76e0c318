// SPDX-License-Identifier: BSD-2-Clause
// Quantized convolution on the CPU: the declarations shared by its algorithms. All images of bytes are NHWC.
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
    int32_t zero_point, min; // zero point of the result; smallest value of the result
    const uint8_t *x;        // input, dense; TAPER_OVERREAD bytes after the input are readable
    uint8_t *y;
    // True for an input with few channels: pixels have 4 bytes, and rows have in_w + 2 * pad_left pixels, with padding
    // at both ends.
    bool stem;
    bool keeps; // true if the input is read in place and the weights are constant, so the call can be prepared for
                // later runs
} taper_conv2d_i8;

// The plan of one algorithm. Each algorithm appends its own members.
typedef struct taper_conv2d_i8_plan {
    const taper_conv2d_i8 *job;
    taper_status (*run)(const struct taper_conv2d_i8_plan *plan); // computes the job's y from its x
    // Computes rows of the result from rows of x, which may be in ring buffers. `begin` and `end` are called as in
    // taper_banded. All three functions are NULL if the plan cannot run in bands.
    void (*rows)(const struct taper_conv2d_i8_plan *plan, const taper_band *band);
    taper_status (*begin)(struct taper_conv2d_i8_plan *plan);
    void (*end)(struct taper_conv2d_i8_plan *plan);
    size_t bytes;         // number of bytes of the whole plan, with the algorithm's members
    taper_i8_layer layer; // packed weights; before they are packed, only the member `places` is valid
    const int32_t *bias;  // bias for each entry of the layer (taper_i8_layer.places), for the scales of this call
    const float *factor;
    const int32_t *middle;  // middle of each sum's range, if `centred` is set
    const uint8_t *padding; // bytes that have the value of the input's zero point, for taps outside the image
    size_t padding_bytes;
    uint32_t shift; // shift of the kernel (taper_i8_layer_fold)
    bool centred;
    const char *name; // name of the kernel, for the profile
    double flops, work;
} taper_conv2d_i8_plan;

// Packs the weights, runs the plan, and prepares the call for later runs (ops/call/prepared.h).
TAPER_MUST_USE taper_status taper_conv2d_i8_do(taper_conv2d_i8_plan *plan, const taper_pack_request *request);
TAPER_MUST_USE taper_status taper_conv2d_i8_dense(taper_conv2d_i8 *job);
TAPER_MUST_USE taper_status taper_conv2d_i8_depthwise(taper_conv2d_i8 *job);
// Returns the kernel for Winograd's transforms, or NULL if these are slower than direct products, or if their sums may
// not be exact.
const taper_winograd_i8_entry *taper_conv2d_i8_winograd_choose(const taper_conv2d_i8 *job);
TAPER_MUST_USE taper_status taper_conv2d_i8_winograd(taper_conv2d_i8 *job, const taper_winograd_i8_entry *entry);
// Interleaves four planes: to[4 i + k] = planes[k][i].
void taper_conv2d_i8_interleave(const taper_vector_u8_entry *vector, size_t pixels, const uint8_t *const planes[4],
                                uint8_t *to);
// The functions below return the number of bytes from one pixel to the next, and from one row to the next.
static inline size_t taper_conv2d_i8_pixel(const taper_conv2d_i8 *job)
{
    return job->stem ? 4 : job->in_c;
}
static inline size_t taper_conv2d_i8_row(const taper_conv2d_i8 *job)
{
    return job->stem ? (job->in_w + 2 * job->pad_left) * 4 : job->in_w * job->in_c;
}

#endif
