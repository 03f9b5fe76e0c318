// SPDX-License-Identifier: BSD-2-Clause
// Operators of quantized convolutions. Static operators quantize their result with a given scale and zero point.
// Dynamic operators quantize a float input by its range, compute a quantized result with the scale and zero point of
// the input, as QNNPACK does, and dequantize the result. Results of rank 4 and 5 have channels-last strides. A
// convolution in one dimension is computed on images of height 1.
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"
#include "ops/quantized/quantized_layer.h"

// Returns a view of a conv1d's tensor (batch, channels, length) as (batch, channels, 1, length).
static taper_tensor as_image(const taper_tensor *line)
{
    const int64_t sizes[4] = {line->sizes[0], line->sizes[1], 1, line->sizes[2]};
    const int64_t strides[4] = {line->strides[0], line->strides[1], taper_wrap_mul(line->sizes[2], line->strides[2]),
                                line->strides[2]};
    return taper_tensor_twin(line, 4, sizes, strides);
}

// Computes the sizes of the result and the strides that PyTorch gives it.
static void result_layout(size_t rank, const int64_t *image, int64_t *sizes, int64_t *strides)
{
    int64_t all[TAPER_CONV_RANK + 2];
    taper_strides_channels_last(rank == 3 ? 5 : 4, image, all);
    size_t at = 0;
    for (size_t d = 0; d < (rank == 3 ? 5u : 4u); d++) {
        if (rank != 1 || d != 2) {
            sizes[at] = image[d];
            strides[at++] = all[d];
        }
    }
}

typedef struct conv_call {
    size_t rank; // number of spatial dimensions of the operator: 1, 2 or 3
    bool relu, dynamic;
} conv_call;

static taper_status check_transposed(taper_call *call, const taper_qconv_params *params, bool relu)
{
    if (relu && params->conv.transposed) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "a transposed convolution has no form with relu");
    }
    return TAPER_OK;
}

static taper_status compute(taper_call *call, const conv_call *conv, const taper_qconv_params *params,
                            const taper_tensor *seen, const taper_q_input *x, double scale, int64_t zero_point,
                            taper_dtype dtype)
{
    taper_run *run = call->run;
    int64_t image[TAPER_CONV_RANK + 2], sizes[TAPER_CONV_RANK + 2], strides[TAPER_CONV_RANK + 2];
    TAPER_TRY(taper_qconv_sizes(run, params, seen, image));
    result_layout(conv->rank, image, sizes, strides);
    taper_tensor *y = NULL, *floats = NULL;
    size_t bytes;
    if (conv->dynamic) {
        TAPER_TRY(taper_tensor_new(run->heap, TAPER_QU8, conv->rank + 2, sizes, strides, &y, run->error));
    } else {
        TAPER_TRY(taper_ret_quantized(call, 0, dtype, conv->rank + 2, sizes, strides, scale, zero_point, &y));
    }
    taper_q_channel *channels = NULL;
    taper_status status = TAPER_OK;
    if (!taper_mul_size((size_t)params->out, sizeof *channels, &bytes) ||
        (channels = taper_heap_alloc(run->heap, bytes)) == NULL) {
        status = taper_fail_memory(run->error);
    }
    if (status == TAPER_OK) {
        status = taper_q_channels(run, params->weight, params->bias, params->out, x->scale, scale, channels);
    }
    if (status == TAPER_OK) {
        taper_q_range range = taper_q_range_of(dtype);
        range.low = conv->relu ? taper_max_i64(range.low, zero_point) : range.low;
        const taper_qconv_job job = {.params = params,
                                     .x = x,
                                     .in_sizes = seen->sizes,
                                     .out_sizes = image,
                                     .output = {.channels = channels, .zero_point = zero_point, .range = range},
                                     .y = taper_tensor_mutable(y)};
        status = taper_qconv_compute(call, &job);
    }
    taper_heap_free(run->heap, channels, channels != NULL ? bytes : 0);
    if (!conv->dynamic) {
        return status;
    }
    if (status == TAPER_OK) {
        status = taper_ret_new(call, 0, TAPER_F32, conv->rank + 2, sizes, strides, &floats);
    }
    if (status == TAPER_OK) {
        const uint8_t *from = taper_tensor_data(y);
        float *to = taper_tensor_mutable(floats);
        const int64_t count = taper_tensor_numel(y);
        for (int64_t i = 0; i < count; i++) {
            to[i] = (float)scale * (float)(from[i] - (int32_t)zero_point);
        }
    }
    taper_tensor_drop(y);
    return status;
}

static taper_status run_conv(taper_call *call, const conv_call *conv)
{
    taper_tensor *input;
    taper_qconv_params params;
    double scale = 0;
    int64_t zero_point = 0;
    TAPER_TRY(taper_arg_tensor(call, 0, &input));
    TAPER_TRY(taper_arg_qconv(call, 1, conv->rank == 3 ? 3 : 2, &params));
    TAPER_TRY(check_transposed(call, &params, conv->relu));
    if (!conv->dynamic) {
        // The old overloads have stride, padding, dilation and groups before the scale and the zero point. These
        // arguments are ignored, because the object has them.
        const size_t count = call->schema->arg_count;
        TAPER_TRY(taper_arg_double(call, count - 2, &scale));
        TAPER_TRY(taper_arg_int(call, count - 1, &zero_point));
        TAPER_TRY(taper_arg_quantized(call, 0, &input));
        TAPER_TRY(taper_q_check((taper_dtype)input->dtype, scale, zero_point, call->run->error));
    }
    if (input->rank != conv->rank + 2) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument '%s' should have %zu dimensions (batch, channels, space), its sizes are %s",
                   taper_arg_name(call, 0), conv->rank + 2, TAPER_SHAPE(input));
    }
    taper_tensor twin;
    taper_tensor *seen = input;
    if (conv->rank == 1) {
        twin = as_image(input);
        seen = &twin;
    }
    taper_q_input x;
    TAPER_TRY(conv->dynamic ? taper_q_input_dynamic(call->run, seen, &x) : taper_q_input_open(call->run, seen, &x));
    if (conv->dynamic) {
        scale = x.scale;
        zero_point = x.zero_point;
    }
    const taper_status status = compute(call, conv, &params, seen, &x, scale, zero_point,
                                        conv->dynamic ? TAPER_QU8 : (taper_dtype)input->dtype);
    taper_q_input_close(&x);
    return status;
}

TAPER_KERNEL(taper_op_qconv1d)
{
    return run_conv(call, &(conv_call){.rank = 1});
}

TAPER_KERNEL(taper_op_qconv1d_relu)
{
    return run_conv(call, &(conv_call){.rank = 1, .relu = true});
}

TAPER_KERNEL(taper_op_qconv1d_dynamic)
{
    return run_conv(call, &(conv_call){.rank = 1, .dynamic = true});
}

TAPER_KERNEL(taper_op_qconv2d)
{
    return run_conv(call, &(conv_call){.rank = 2});
}

TAPER_KERNEL(taper_op_qconv2d_relu)
{
    return run_conv(call, &(conv_call){.rank = 2, .relu = true});
}

TAPER_KERNEL(taper_op_qconv2d_dynamic)
{
    return run_conv(call, &(conv_call){.rank = 2, .dynamic = true});
}

TAPER_KERNEL(taper_op_qconv3d)
{
    return run_conv(call, &(conv_call){.rank = 3});
}

TAPER_KERNEL(taper_op_qconv3d_relu)
{
    return run_conv(call, &(conv_call){.rank = 3, .relu = true});
}

TAPER_KERNEL(taper_op_qconv3d_dynamic)
{
    return run_conv(call, &(conv_call){.rank = 3, .dynamic = true});
}
