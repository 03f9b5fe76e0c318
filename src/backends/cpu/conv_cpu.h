// SPDX-License-Identifier: BSD-2-Clause
// 2-D convolution of floats on the CPU: the declarations shared by all of its algorithms.
#ifndef TAPER_CPU_CONV_CPU_H
#define TAPER_CPU_CONV_CPU_H

#include "backends/cpu/epilogue.h"
#include "ops/call/bands.h"
#include "ops/call/packs.h"
#include "ops/call/parallel.h"
#include "ops/kernels/kernel_select.h"
#include "ops/nn/conv.h"

typedef struct taper_conv2d {
    taper_call *call;
    taper_conv_args args;
    size_t batch, in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w, groups;
    size_t stride_h, stride_w, dilation_h, dilation_w;
    int64_t pad_top, pad_left;
    const float *x; // input, in NHWC without gaps
    float *y;       // result, in NHWC without gaps
    taper_epilogue epilogue;
    // Factor and offset of each output channel, from batch norm and bias. NULL if there is no batch norm. Filled when
    // weights are packed.
    float *scale, *shift;
    const float *zero; // in_c zeros and TAPER_OVERREAD bytes, which taps outside the image read
    bool lines;        // true if x and y are in PyTorch's order instead of NHWC (conv_lines.c)
    bool keeps; // true if the input is read in place and the weights are constant, so the call can be prepared for
                // later runs
} taper_conv2d;

// The plan of one algorithm. Each algorithm appends its own members.
typedef struct taper_conv2d_plan {
    const taper_conv2d *job;
    taper_status (*run)(const struct taper_conv2d_plan *plan); // reads the job's x and args.input, and fills y
    // Computes rows of the result from rows of x, which may be in ring buffers. `begin` and `end` are called as in
    // taper_banded. All three functions are NULL if the plan cannot run in bands.
    void (*rows)(const struct taper_conv2d_plan *plan, const taper_band *band);
    taper_status (*begin)(struct taper_conv2d_plan *plan);
    void (*end)(struct taper_conv2d_plan *plan);
    size_t bytes; // number of bytes of the whole plan, with the algorithm's members
    const float *packed;
    const char *name; // name of the kernel, for the profile
    double flops, work;
} taper_conv2d_plan;

// Returns true if a batch norm follows the convolution.
bool taper_conv2d_has_norm(const taper_conv2d *job);
const taper_tensor *taper_conv2d_norm_tensor(const taper_conv2d *job, size_t which);
// Returns the number of bytes of zeros at `zero`.
static inline size_t taper_conv2d_zero_bytes(const taper_conv2d *job)
{
    return job->in_c * sizeof(float) + TAPER_OVERREAD;
}
// Fills job->scale and job->shift if there is a batch norm. Call this before the weights are packed.
void taper_conv2d_fold(const taper_conv2d *job);
// Returns the initial value of the sums of each output channel, or NULL if all are zero. Call taper_conv2d_fold first.
static inline const float *taper_conv2d_bias(const taper_conv2d *job)
{
    return job->shift != NULL ? job->shift : job->args.bias != NULL ? taper_tensor_data(job->args.bias) : NULL;
}
// Fills the key of a pack of this convolution's weights.
void taper_conv2d_pack_key(const taper_conv2d *job, const void *kind, taper_pack_request *request);

// Packs the weights, runs the plan, and prepares the call for later runs (ops/call/prepared.h).
TAPER_MUST_USE taper_status taper_conv2d_do(taper_conv2d_plan *plan, const taper_pack_request *request);
TAPER_MUST_USE taper_status taper_conv2d_dense(taper_conv2d *job);
TAPER_MUST_USE taper_status taper_conv2d_depthwise(taper_conv2d *job);
// taper_conv2d_is_few returns true for 1x1 convolutions of many input channels to at most four output channels.
// taper_conv2d_few computes these (conv_few.c).
bool taper_conv2d_is_few(const taper_conv2d *job);
TAPER_MUST_USE taper_status taper_conv2d_few(taper_conv2d *job);
// taper_conv2d_is_stem returns true for convolutions with few input channels, as in images. taper_conv2d_stem computes
// these. taper_conv2d_stem reads x in place, contiguous or channels-last, without an NHWC copy (conv_stem.c).
bool taper_conv2d_is_stem(const taper_conv2d *job);
TAPER_MUST_USE taper_status taper_conv2d_stem(taper_conv2d *job);

// taper_conv2d_is_planar returns true for convolutions with few channels, or groups of few channels.
// taper_conv2d_planar computes these over planes. taper_conv2d_planar reads x in place, contiguous or channels-last
// (conv_planar.c).
bool taper_conv2d_is_planar(const taper_conv2d *job);
TAPER_MUST_USE taper_status taper_conv2d_planar(taper_conv2d *job);
// Describes the pack of weights for the planar kernel. *group_floats receives the number of floats of a group's packed
// weights. Returns false if the size overflows.
bool taper_conv2d_planar_pack(taper_conv2d *job, const taper_planar_entry *entry, size_t *group_floats,
                              taper_pack_request *request);
// taper_conv2d_as_lines returns true for convolutions, also depthwise ones, that run along lines of a contiguous input.
// It changes the job of a 1x1 kernel so that an image becomes one line. taper_conv2d_lines computes these convolutions
// with the planar kernel. Its result (job->y) is contiguous (conv_lines.c).
bool taper_conv2d_as_lines(taper_conv2d *job);
TAPER_MUST_USE taper_status taper_conv2d_lines(taper_conv2d *job);
// Returns true if planes are faster than a product over merged groups (conv_algorithm.c).
bool taper_conv2d_planar_pays(const taper_conv2d *job);
// Returns true if a 1x1 convolution is faster over lines than as a matrix product, which transposes the input.
bool taper_conv2d_lines_pay(const taper_conv2d *job);
// Returns the number of groups that conv_dense.c computes in one product: enough to fill a vector with outputs.
size_t taper_conv2d_merged_groups(const taper_conv2d *job);
// Returns the kernel for conv_dense.c if it computes `merged` groups in one product. The kernel has the model's
// precision. Several groups always use a float32 kernel, because they have few weights.
const taper_gemm_entry *taper_conv2d_entry(const taper_conv2d *job, size_t merged);

// Computes a 3x3 convolution by Winograd's transforms, with stride 1 and any dilation, or with stride 2
// (conv_winograd.c).
TAPER_MUST_USE taper_status taper_conv2d_winograd(taper_conv2d *job, const taper_winograd_entry *winograd);
// taper_conv2d_does_transposed returns false if the reference must run. taper_conv2d_transposed computes a transposed
// convolution as a product and sums of each pixel's contributions (conv_transposed.c).
bool taper_conv2d_does_transposed(const taper_conv2d *job);
TAPER_MUST_USE taper_status taper_conv2d_transposed(taper_conv2d *job);
// Returns the Winograd kernel if Winograd's transforms are the fastest algorithm for a dense convolution
// (conv_algorithm.c), otherwise NULL.
const taper_winograd_entry *taper_conv2d_winograd_choose(const taper_conv2d *job);

#endif
