// SPDX-License-Identifier: BSD-2-Clause
// 2-D convolution of floats on the CPU: what the dense (GEMM) and the depthwise path share.
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
    const float *x; // NHWC, dense
    float *y;       // NHWC, dense
    taper_epilogue epilogue;
    // Per output channel, from batch norm and bias; NULL where there is nothing to fold. Filled when weights are
    // packed.
    float *scale, *shift;
    const float *zero; // in_c of them and TAPER_OVERREAD: what taps outside the image read
    bool lines;        // x and y are not NHWC: as PyTorch has them (conv_lines.c)
    bool keeps;        // the input is read where it lies, and the weights are constants: the call may be prepared
} taper_conv2d;

// What a path has worked out, with more behind it.
typedef struct taper_conv2d_plan {
    const taper_conv2d *job;
    taper_status (*run)(const struct taper_conv2d_plan *plan); // reads the job's x and args.input, fills y
    // Makes rows of the result from rows of x, wherever these lie; begin and end: taper_banded's. NULL: it cannot.
    void (*rows)(const struct taper_conv2d_plan *plan, const taper_band *band);
    taper_status (*begin)(struct taper_conv2d_plan *plan);
    void (*end)(struct taper_conv2d_plan *plan);
    size_t bytes; // of all of it
    const float *packed;
    const char *name; // for the profile
    double flops, work;
} taper_conv2d_plan;

// The batch norm behind it; which: 0 weight, 1 bias, 2 mean, 3 variance. NULL: there is none.
bool taper_conv2d_has_norm(const taper_conv2d *job);
const taper_tensor *taper_conv2d_norm_tensor(const taper_conv2d *job, size_t which);
// How many bytes of zeros lie at `zero`.
static inline size_t taper_conv2d_zero_bytes(const taper_conv2d *job)
{
    return job->in_c * sizeof(float) + TAPER_OVERREAD;
}
// The weights' values before packing: fills job->scale and job->shift when there is a batch norm.
void taper_conv2d_fold(const taper_conv2d *job);
// What the sums start with, once that is done; NULL: zero.
static inline const float *taper_conv2d_bias(const taper_conv2d *job)
{
    return job->shift != NULL ? job->shift : job->args.bias != NULL ? taper_tensor_data(job->args.bias) : NULL;
}
// The key of a pack of this convolution's weights.
void taper_conv2d_pack_key(const taper_conv2d *job, const void *kind, taper_pack_request *request);

// Packs the weights, runs the plan, and prepares the call.
TAPER_MUST_USE taper_status taper_conv2d_do(taper_conv2d_plan *plan, const taper_pack_request *request);
TAPER_MUST_USE taper_status taper_conv2d_dense(taper_conv2d *job);
TAPER_MUST_USE taper_status taper_conv2d_depthwise(taper_conv2d *job);
// Many channels into at most four, of each pixel by itself.
bool taper_conv2d_is_few(const taper_conv2d *job);
TAPER_MUST_USE taper_status taper_conv2d_few(taper_conv2d *job);
// Few input channels (images): reads x as it is, contiguous or channels-last, and needs no NHWC copy of it.
bool taper_conv2d_is_stem(const taper_conv2d *job);
TAPER_MUST_USE taper_status taper_conv2d_stem(taper_conv2d *job);

// Few channels, or groups of few, over planes: reads x as it is, contiguous or channels-last.
bool taper_conv2d_is_planar(const taper_conv2d *job);
TAPER_MUST_USE taper_status taper_conv2d_planar(taper_conv2d *job);
// The weights as its kernel wants them, floats for a group of channels; false: more than there is memory for.
bool taper_conv2d_planar_pack(taper_conv2d *job, const taper_planar_entry *entry, size_t *group_floats,
                              taper_pack_request *request);
// The same kernel for lines, depthwise ones too, that lie in PyTorch's order: so does the result (job->y), contiguous.
// Images of 1x1 kernels are lines too, as which the job then describes them.
bool taper_conv2d_as_lines(taper_conv2d *job);
TAPER_MUST_USE taper_status taper_conv2d_lines(taper_conv2d *job);
// Whether planes are faster than a product over merged groups (conv_algorithm.c).
bool taper_conv2d_planar_pays(const taper_conv2d *job);
// Whether a 1x1 convolution is faster over lines than as a matrix product, for which its input is transposed.
bool taper_conv2d_lines_pay(const taper_conv2d *job);
// How many groups the dense path takes at a time: as many as give a vector's worth of outputs.
size_t taper_conv2d_merged_groups(const taper_conv2d *job);
// Its kernel: of the model's precision, but for merged groups, whose weights are few.
const taper_gemm_entry *taper_conv2d_entry(const taper_conv2d *job, size_t merged);

// 3x3 with stride 1 and any dilation, or stride 2, by Winograd's transforms.
TAPER_MUST_USE taper_status taper_conv2d_winograd(taper_conv2d *job, const taper_winograd_entry *winograd);
// Transposed ones, as a product and sums of what each pixel contributes; false: the reference is for this one.
bool taper_conv2d_does_transposed(const taper_conv2d *job);
TAPER_MUST_USE taper_status taper_conv2d_transposed(taper_conv2d *job);
// How a dense convolution is best computed (conv_algorithm.c): by which of them, or NULL: directly.
const taper_winograd_entry *taper_conv2d_winograd_choose(const taper_conv2d *job);

#endif
