// SPDX-License-Identifier: BSD-2-Clause
// quantized::conv1d, conv2d and their variants with relu: reads the call, converts the input to NHWC, and chooses the
// algorithm. Other calls (int8 activations, transposed, weights with zero points) are declined and left to the
// reference.
#include "backends/cpu/quantized_conv_cpu.h"
#include "backends/cpu/quantized_conv_images.h"

#include "ir/storage.h"
#include "ir/tensor.h"
#include "ops/call/prepared.h"
#include "ops/engine/matmul.h"
#include "ops/kernels/kernel_select.h"

enum { LINE = 64 }; // number of bytes of a cache line
enum { WINOGRAD = TAPER_HAS_OP(winograd_k3) && TAPER_WINOGRAD_I8 };

// ---- the input in NHWC

static bool has_slack(const taper_tensor *x)
{
    const uint8_t kind = x->storage->kind;
    return kind == TAPER_STORAGE_OWNED || kind == TAPER_STORAGE_PLANNED;
}

typedef struct stem_copy {
    const taper_conv2d_i8 *job;
    const taper_tensor *x;
    uint8_t *to;
    const taper_vector_u8_entry *vector;
} stem_copy;

// Copies rows of all images into pixels of four bytes. The bytes of a pixel that belong to no channel are multiplied by
// zero weights.
static void stem_rows(void *argument, size_t begin, size_t end)
{
    const stem_copy *copy = argument;
    const taper_conv2d_i8 *job = copy->job;
    const taper_tensor *x = copy->x;
    const size_t row = taper_conv2d_i8_row(job), edge = job->pad_left * 4, step = (size_t)x->strides[3];
    for (size_t r = begin; r < end; r++) {
        uint8_t *to = copy->to + r * row;
        memset(to, job->in_zero_point, edge);
        memset(to + row - edge, job->in_zero_point, edge);
        to += edge;
        const uint8_t *from = (const uint8_t *)taper_tensor_data(x) + r / job->in_h * (size_t)x->strides[0] +
                              r % job->in_h * (size_t)x->strides[2];
        const uint8_t *plane[4];
        for (size_t c = 0; c < 4; c++) {
            plane[c] = from + (c < job->in_c ? c : job->in_c - 1) * (size_t)x->strides[1];
        }
        if (step == 1) {
            taper_conv2d_i8_interleave(copy->vector, job->in_w, plane, to);
        } else {
            for (size_t i = 0; i < job->in_w; i++) {
                for (size_t c = 0; c < 4; c++) {
                    to[4 * i + c] = plane[c][i * step];
                }
            }
        }
    }
}

// Sets job->x to the tensor's own data, or to a copy in *scratch that the caller frees.
static taper_status nhwc_input(taper_conv2d_i8 *job, const taper_tensor *x, uint8_t **scratch, size_t *scratch_bytes)
{
    taper_run *run = job->call->run;
    *scratch = NULL;
    if (!job->stem && taper_tensor_is_channels_last(x) && has_slack(x)) {
        job->x = taper_tensor_data(x);
        return TAPER_OK;
    }
    size_t count = (size_t)taper_tensor_numel(x);
    if (job->stem && (!taper_mul_size(job->batch * job->in_h, taper_conv2d_i8_row(job), &count))) {
        return taper_fail_memory(run->error);
    }
    *scratch_bytes = count + 1024; // more than 1 KiB: after such blocks the heap adds bytes that kernels may read
    *scratch = taper_heap_alloc(run->heap, *scratch_bytes);
    if (*scratch == NULL) {
        return taper_fail_memory(run->error);
    }
    job->x = *scratch;
    if (job->stem) {
        stem_copy copy = {job, x, *scratch, taper_vector_u8_select(run->cpu)};
        return taper_run_range(run, stem_rows, &copy, job->batch * job->in_h, 1, (double)count);
    }
    taper_storage *storage;
    taper_tensor *view;
    int64_t strides[4];
    taper_strides_channels_last(4, x->sizes, strides);
    taper_status status =
        taper_storage_borrow(run->heap, TAPER_STORAGE_BORROWED, *scratch, count, NULL, &storage, run->error);
    if (status == TAPER_OK) {
        status = taper_tensor_view(run->heap, storage, TAPER_U8, 0, 4, x->sizes, strides, &view, run->error);
        taper_obj_release(&storage->head);
    }
    if (status == TAPER_OK) {
        taper_tensor plain = taper_tensor_local(x); // the tensor's bytes without a quantizer
        plain.dtype = TAPER_U8;
        plain.quantizer = NULL;
        status = taper_run_copy(run, view, &plain);
        taper_obj_release(&view->head);
    }
    return status;
}

// ---- reading the call

static bool describe(taper_conv2d_i8 *job, const taper_tensor *x, const int64_t *out)
{
    const taper_conv_params *conv = &job->params.conv;
    const taper_tensor *w = job->params.weight;
    job->batch = (size_t)x->sizes[0];
    job->in_c = (size_t)x->sizes[1];
    job->in_h = (size_t)x->sizes[2];
    job->in_w = (size_t)x->sizes[3];
    job->out_c = (size_t)out[1];
    job->out_h = (size_t)out[2];
    job->out_w = (size_t)out[3];
    job->kernel_h = (size_t)w->sizes[2];
    job->kernel_w = (size_t)w->sizes[3];
    job->groups = (size_t)conv->groups;
    job->stride_h = (size_t)conv->stride[0];
    job->stride_w = (size_t)conv->stride[1];
    job->dilation_h = (size_t)conv->dilation[0];
    job->dilation_w = (size_t)conv->dilation[1];
    if (conv->padding[0] < 0 || conv->padding[1] < 0 || conv->padding[0] > INT32_MAX || conv->padding[1] > INT32_MAX) {
        return false;
    }
    job->pad_top = (size_t)conv->padding[0];
    job->pad_left = (size_t)conv->padding[1];
    // If the padding is much larger than the image, a padded copy of the image would need too much memory. Such padding
    // does not occur in practice, so it is excluded.
    job->stem = job->in_c <= 4 && job->groups == 1 && job->dilation_w == 1 && job->kernel_w > 1 &&
                job->pad_left < job->kernel_w && job->kernel_w <= job->in_w + 2 * job->pad_left;
    // The distance in memory from the weight of one tap to the weight of the next tap must be constant.
    return job->stem || job->kernel_h == 1 || job->kernel_w == 1 ||
           w->strides[2] == taper_wrap_mul(w->sizes[3], w->strides[3]);
}

static bool does(const taper_conv2d_i8 *job, const taper_tensor *input, const int64_t *out)
{
    const taper_quantizer *z = input->quantizer;
    return !job->params.conv.transposed && input->dtype == TAPER_QU8 && z->scales == NULL && z->scale > 0 &&
           z->scale <= 0x1p1023 && z->zero_point >= 0 && z->zero_point <= 255 && taper_tensor_numel(input) > 0 &&
           out[0] > 0 && out[1] > 0 && out[2] > 0 && out[3] > 0 && taper_i8_is_symmetric(job->params.weight);
}

static taper_status run_conv(taper_call *call, size_t rank, bool relu)
{
    taper_run *run = call->run;
    taper_tensor *input, *y;
    taper_conv2d_i8 job = {.call = call};
    int64_t zero_point, image[TAPER_CONV_RANK + 2];
    const size_t count = call->schema->arg_count;
    TAPER_TRY(taper_arg_quantized(call, 0, &input));
    TAPER_TRY(taper_arg_qconv(call, 1, 2, &job.params));
    TAPER_TRY(taper_arg_double(call, count - 2, &job.out_scale));
    TAPER_TRY(taper_arg_int(call, count - 1, &zero_point));
    TAPER_TRY(taper_q_check((taper_dtype)input->dtype, job.out_scale, zero_point, call->run->error));
    if (input->rank != rank + 2) {
        return TAPER_DECLINED;
    }
    taper_tensor twin = taper_tensor_local(input);
    if (rank == 1) { // a line is seen as an image of height 1
        twin =
            taper_tensor_twin(input, 4, (const int64_t[]){input->sizes[0], input->sizes[1], 1, input->sizes[2]},
                              (const int64_t[]){input->strides[0], input->strides[1],
                                                taper_wrap_mul(input->sizes[2], input->strides[2]), input->strides[2]});
    }
    const taper_tensor *seen = rank == 1 ? &twin : input;
    TAPER_TRY(taper_qconv_sizes(run, &job.params, seen, image));
    if (!does(&job, input, image) || !describe(&job, seen, image)) {
        return TAPER_DECLINED;
    }
    job.in_scale = input->quantizer->scale;
    job.in_zero_point = (int32_t)input->quantizer->zero_point;
    job.zero_point = (int32_t)zero_point;
    job.min = relu ? job.zero_point : 0;
    int64_t strides[4], sizes[3] = {image[0], image[1], image[3]};
    taper_strides_channels_last(4, image, strides);
    const int64_t line[3] = {strides[0], strides[1], strides[3]};
    TAPER_TRY(taper_ret_quantized(call, 0, TAPER_QU8, rank + 2, rank == 1 ? sizes : image, rank == 1 ? line : strides,
                                  job.out_scale, zero_point, &y));
    job.y = taper_tensor_mutable(y);
    const bool constant = taper_call_has_constant_weights(call, job.params.weight, job.params.bias);
    if (taper_conv2d_i8_is_windows(&job)) {
        job.keeps = constant;
        return taper_conv2d_i8_windows(&job, seen);
    }
    uint8_t *scratch;
    size_t scratch_bytes = 0;
    taper_status status = nhwc_input(&job, seen, &scratch, &scratch_bytes);
    job.keeps = scratch == NULL && constant;
    if (status == TAPER_OK) {
        const bool depthwise = job.groups > 1 && job.groups == job.in_c && job.groups == job.out_c;
        const taper_winograd_i8_entry *winograd = WINOGRAD && !depthwise ? taper_conv2d_i8_winograd_choose(&job) : NULL;
        status = depthwise                      ? taper_conv2d_i8_depthwise(&job)
                 : WINOGRAD && winograd != NULL ? taper_conv2d_i8_winograd(&job, winograd)
                                                : taper_conv2d_i8_dense(&job);
    }
    taper_heap_free(run->heap, scratch, scratch != NULL ? scratch_bytes : 0);
    return status;
}

taper_status taper_cpu_qconv1d(taper_call *call);
taper_status taper_cpu_qconv1d(taper_call *call)
{
    return run_conv(call, 1, false);
}

taper_status taper_cpu_qconv1d_relu(taper_call *call);
taper_status taper_cpu_qconv1d_relu(taper_call *call)
{
    return run_conv(call, 1, true);
}

taper_status taper_cpu_qconv2d(taper_call *call);
taper_status taper_cpu_qconv2d(taper_call *call)
{
    return run_conv(call, 2, false);
}

taper_status taper_cpu_qconv2d_relu(taper_call *call);
taper_status taper_cpu_qconv2d_relu(taper_call *call)
{
    return run_conv(call, 2, true);
}
