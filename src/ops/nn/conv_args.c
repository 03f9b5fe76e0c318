// SPDX-License-Identifier: BSD-2-Clause
// Reads the arguments of convolutions. The schemas name them alike but order them differently, so arguments are found
// by their role.
#include "ir/tensor.h"
#include "ops/nn/conv.h"

#include <math.h>
#include <stdio.h>

#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"
#include "ops/nn/prepacked.h"

enum { ABSENT = 64 };

// Returns the index of the argument with this role, or ABSENT if the schema has none. Arguments of one role have the
// same name in every schema.
static size_t find_arg(const taper_call *call, taper_role role)
{
    const size_t at = call->schema->roles[role];
    return at != 0 && at <= call->arg_count ? at - 1 : ABSENT;
}

// Reads stride, padding or a similar argument: one number for all dimensions, or one per dimension.
static taper_status read_sizes(const taper_call *call, taper_role role, size_t rank, int64_t otherwise, int64_t *sizes)
{
    const size_t at = find_arg(call, role);
    for (size_t i = 0; i < rank; i++) {
        sizes[i] = otherwise;
    }
    if (at == ABSENT) {
        return TAPER_OK;
    }
    int64_t numbers[TAPER_MAX_RANK] = {0};
    size_t count;
    TAPER_TRY(taper_arg_ints(call, at, 0, TAPER_MAX_RANK, numbers, &count));
    if (count != 1 && count != rank) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "expected %s to be a single integer value or a list of %zu values to match the convolution "
                   "dimensions, but got %s=%s",
                   taper_role_names[role], rank, taper_role_names[role], taper_shape_print(count, numbers).text);
    }
    for (size_t i = 0; i < rank; i++) {
        sizes[i] = numbers[count == 1 ? 0 : i];
    }
    return TAPER_OK;
}

// Computes padding='same': pads by as much as the kernel removes; an odd element is added at the end.
static taper_status pad_same(const taper_call *call, const taper_tensor *weight, taper_conv_params *params)
{
    for (size_t i = 0; i < params->rank; i++) {
        int64_t total;
        if (params->stride[i] != 1) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                       "padding='same' is not supported for strided convolutions");
        }
        if (params->dilation[i] <= 0 || weight->sizes[2 + i] == 0 ||
            !taper_mul_i64(params->dilation[i], weight->sizes[2 + i] - 1, &total)) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                       "dilation %lld is not possible with a kernel of size %lld", (long long)params->dilation[i],
                       (long long)weight->sizes[2 + i]);
        }
        params->padding[i] = total / 2;
        params->padding_end[i] = total - total / 2;
    }
    return TAPER_OK;
}

static taper_status read_padding(const taper_call *call, const taper_tensor *weight, taper_conv_params *params)
{
    const size_t at = find_arg(call, TAPER_ROLE_PADDING);
    if (at != ABSENT && call->args[at].tag == TAPER_STRING) {
        const char *text = call->args[at].as.string->data;
        if (strcmp(text, "same") == 0) {
            return pad_same(call, weight, params);
        }
        if (strcmp(text, "valid") != 0) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "Invalid padding string: '%s'", text);
        }
        return TAPER_OK;
    }
    TAPER_TRY(read_sizes(call, TAPER_ROLE_PADDING, params->rank, 0, params->padding));
    memcpy(params->padding_end, params->padding, sizeof params->padding);
    return TAPER_OK;
}

// Fails if kernel_size, which the thnn and slow_conv operators have, differs from the weight's sizes.
static taper_status check_kernel_size(const taper_call *call, const taper_tensor *weight, size_t rank)
{
    if (find_arg(call, TAPER_ROLE_KERNEL_SIZE) == ABSENT) {
        return TAPER_OK;
    }
    int64_t kernel[TAPER_CONV_RANK];
    TAPER_TRY(read_sizes(call, TAPER_ROLE_KERNEL_SIZE, rank, 1, kernel));
    for (size_t i = 0; i < rank; i++) {
        if (kernel[i] != weight->sizes[2 + i]) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "kernel_size %s does not fit weight of size %s",
                       taper_shape_print(rank, kernel).text, TAPER_SHAPE(weight));
        }
    }
    return TAPER_OK;
}

const taper_conv_form taper_conv_any = {.rank = 0}, taper_conv_1d = {.rank = 1}, taper_conv_2d = {.rank = 2},
                      taper_conv_3d = {.rank = 3}, taper_conv_transposed_1d = {.rank = 1, .transposed = true},
                      taper_conv_transposed_2d = {.rank = 2, .transposed = true},
                      taper_conv_transposed_3d = {.rank = 3, .transposed = true},
                      taper_conv_depthwise_2d = {.rank = 2, .depthwise = true},
                      taper_conv_depthwise_3d = {.rank = 3, .depthwise = true};

// Returns the operator's name without the namespace.
static const char *name_in_errors(const taper_call *call)
{
    return strrchr(call->schema->name, ':') + 1;
}

static taper_status parse_plain(taper_call *call, taper_conv_args *args)
{
    taper_error *error = call->run->error;
    const taper_conv_form *form = call->param;
    taper_conv_params *params = &args->params;

    TAPER_TRY(taper_arg_tensor(call, 0, &args->input));
    TAPER_TRY(taper_arg_tensor(call, 1, &args->weight));
    const size_t bias_at = find_arg(call, TAPER_ROLE_BIAS);
    if (bias_at != ABSENT) {
        TAPER_TRY(taper_arg_tensor_or_none(call, bias_at, &args->bias));
    }
    if (args->weight->rank < 3) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "weight should have at least three dimensions");
    }
    params->rank = args->weight->rank - 2u;
    if (params->rank > TAPER_CONV_RANK) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "weight of size %s: convolutions have at most %d spatial dimensions",
                   TAPER_SHAPE(args->weight), TAPER_CONV_RANK);
    }
    const size_t named = form->rank;
    // Operators with a fixed number of dimensions also accept an input without a batch; convolution and _convolution do
    // not.
    args->unbatched = named != 0 && args->input->rank == named + 1;
    if (named != 0 && !args->unbatched && args->input->rank != named + 2) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "Expected %zuD (unbatched) or %zuD (batched) input to %s, but got input of size: %s", named + 1,
                   named + 2, name_in_errors(call), TAPER_SHAPE(args->input));
    }
    if ((named != 0 && named != params->rank) || (named == 0 && args->input->rank != params->rank + 2)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "Expected %zu-dimensional input for %zu-dimensional weight %s, "
                   "but got %u-dimensional input of size %s instead",
                   params->rank + 2, params->rank + 2, TAPER_SHAPE(args->weight), args->input->rank,
                   TAPER_SHAPE(args->input));
    }
    const size_t transposed_at = find_arg(call, TAPER_ROLE_TRANSPOSED), groups_at = find_arg(call, TAPER_ROLE_GROUPS);
    params->transposed = form->transposed;
    if (transposed_at != ABSENT) {
        TAPER_TRY(taper_arg_bool(call, transposed_at, &params->transposed));
    }
    params->groups = 1;
    if (groups_at != ABSENT) {
        TAPER_TRY(taper_arg_int(call, groups_at, &params->groups));
    } else if (form->depthwise) {
        params->groups = args->input->sizes[args->unbatched ? 0 : 1];
    }
    TAPER_TRY(read_sizes(call, TAPER_ROLE_STRIDE, params->rank, 1, params->stride));
    TAPER_TRY(read_sizes(call, TAPER_ROLE_DILATION, params->rank, 1, params->dilation));
    TAPER_TRY(read_sizes(call, TAPER_ROLE_OUTPUT_PADDING, params->rank, 0, params->output_padding));
    TAPER_TRY(check_kernel_size(call, args->weight, params->rank));
    return read_padding(call, args->weight, params);
}

taper_status taper_conv_parse(taper_call *call, taper_conv_args *out)
{
    memset(out, 0, sizeof *out);
    out->min = -INFINITY;
    out->max = INFINITY;
    if (call->arg_count >= 2 && call->args[1].tag == TAPER_OBJECT) {
        TAPER_TRY(taper_prepacked_conv_parse(call, out));
    } else {
        TAPER_TRY(parse_plain(call, out));
    }
    int64_t sizes[TAPER_CONV_RANK + 2];
    TAPER_TRY(taper_conv_check(call, out->input, out->weight, out->bias, &out->params, sizes));
    const size_t skip = out->unbatched ? 1 : 0;
    out->out_rank = out->params.rank + 2 - skip;
    memcpy(out->out_sizes, sizes + skip, out->out_rank * sizeof *sizes);
    return taper_conv_finish(call, out);
}

// ---- checking input, weight and bias

static taper_status check_numbers(taper_error *error, const taper_conv_params *params)
{
    for (size_t i = 0; i < params->rank; i++) {
        if (params->padding[i] < 0 || params->padding_end[i] < 0) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "negative padding is not supported");
        }
        if (params->output_padding[i] < 0) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "negative output_padding is not supported");
        }
        if (params->stride[i] <= 0) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "non-positive stride is not supported");
        }
        if (params->dilation[i] <= 0) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "non-positive dilation is not supported");
        }
        if (params->transposed && params->output_padding[i] >= params->stride[i] &&
            params->output_padding[i] >= params->dilation[i]) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "output padding must be smaller than either stride or dilation, but got output_padding: %lld "
                       "stride: %lld dilation: %lld",
                       (long long)params->output_padding[i], (long long)params->stride[i],
                       (long long)params->dilation[i]);
        }
    }
    if (params->groups <= 0) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "non-positive groups is not supported");
    }
    return TAPER_OK;
}

static taper_status check_dtypes(taper_error *error, const taper_tensor *input, const taper_tensor *weight,
                                 const taper_tensor *bias)
{
    if (taper_dtype_is_quantized((taper_dtype)input->dtype) || input->dtype == TAPER_BOOL) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "convolution of an input of dtype %s is not implemented",
                   taper_dtype_torch_name((taper_dtype)input->dtype));
    }
    if (input->dtype != weight->dtype) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "Input type (%s) and weight type (%s) should be the same",
                   taper_dtype_torch_name((taper_dtype)input->dtype),
                   taper_dtype_torch_name((taper_dtype)weight->dtype));
    }
    if (bias != NULL && input->dtype != bias->dtype) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "Input type (%s) and bias type (%s) should be the same",
                   taper_dtype_torch_name((taper_dtype)input->dtype), taper_dtype_torch_name((taper_dtype)bias->dtype));
    }
    return TAPER_OK;
}

static taper_status check_channels(taper_error *error, const taper_tensor *input, const taper_tensor *weight,
                                   const taper_tensor *bias, const taper_conv_params *params, int64_t in_channels,
                                   int64_t *out_channels)
{
    const int64_t groups = params->groups;
    int64_t wanted = weight->sizes[0];
    if (!params->transposed) {
        if (weight->sizes[0] < groups) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "Given groups=%lld, expected weight to be at least %lld at dimension 0, but got weight of size "
                       "%s instead",
                       (long long)groups, (long long)groups, TAPER_SHAPE(weight));
        }
        if (weight->sizes[0] % groups != 0) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "Given groups=%lld, expected weight to be divisible by %lld at dimension 0, but got weight of "
                       "size %s instead",
                       (long long)groups, (long long)groups, TAPER_SHAPE(weight));
        }
        if (!taper_mul_i64(weight->sizes[1], groups, &wanted) || in_channels != wanted) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "Given groups=%lld, weight of size %s, expected input%s to have %lld channels, but got %lld "
                       "channels instead",
                       (long long)groups, TAPER_SHAPE(weight), TAPER_SHAPE(input), (long long)wanted,
                       (long long)in_channels);
        }
        *out_channels = weight->sizes[0];
    } else {
        if (wanted < groups) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "Given groups=%lld, expected weight to be at least %lld at dimension 0, but got weight of size "
                       "%s instead",
                       (long long)groups, (long long)groups, TAPER_SHAPE(weight));
        }
        if (in_channels != wanted) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "Given transposed=1, weight of size %s, expected input%s to have %lld channels, but got %lld "
                       "channels instead",
                       TAPER_SHAPE(weight), TAPER_SHAPE(input), (long long)wanted, (long long)in_channels);
        }
        if (weight->sizes[0] % groups != 0 || !taper_mul_i64(weight->sizes[1], groups, out_channels)) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "Given groups=%lld, expected weight to be divisible by %lld at dimension 0, but got weight of "
                       "size %s instead",
                       (long long)groups, (long long)groups, TAPER_SHAPE(weight));
        }
    }
    if (bias != NULL && (bias->rank != 1 || bias->sizes[0] != *out_channels)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "Given %sweight of size %s, expected bias to be 1-dimensional with %lld elements, but got bias of "
                   "size %s instead",
                   params->transposed ? "transposed=1, " : "", TAPER_SHAPE(weight), (long long)*out_channels,
                   TAPER_SHAPE(bias));
    }
    return TAPER_OK;
}

// A text such as "(2 x 3)", for messages.
typedef struct size_text {
    char text[80];
} size_text;

static size_text times(size_t rank, const int64_t *sizes)
{
    size_text out = {"("};
    size_t used = 1;
    for (size_t i = 0; i < rank; i++) {
        const int wrote =
            snprintf(out.text + used, sizeof out.text - used, "%s%lld", i == 0 ? "" : " x ", (long long)sizes[i]);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    snprintf(out.text + used, sizeof out.text - used, ")");
    return out;
}

taper_status taper_conv_check_space(taper_error *error, const int64_t *in, const taper_tensor *weight,
                                    const taper_conv_params *params, int64_t *out)
{
    const size_t rank = params->rank;
    int64_t padded[TAPER_CONV_RANK], reach[TAPER_CONV_RANK];
    bool small = false;
    for (size_t i = 0; i < rank; i++) {
        bool fits = weight->sizes[2 + i] > 0 &&
                    taper_mul_i64(params->dilation[i], weight->sizes[2 + i] - 1, &reach[i]) &&
                    taper_add_i64(reach[i], 1, &reach[i]);
        if (!fits) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "weight of size %s and dilation %lld: the kernel is empty or too large", TAPER_SHAPE(weight),
                       (long long)params->dilation[i]);
        }
        if (params->transposed) {
            int64_t size;
            fits = taper_mul_i64(in[i] - 1, params->stride[i], &size) &&
                   taper_add_i64(size, -params->padding[i], &size) &&
                   taper_add_i64(size, -params->padding_end[i], &size) && taper_add_i64(size, reach[i], &size) &&
                   taper_add_i64(size, params->output_padding[i], &size);
            out[i] = size;
        } else {
            fits = taper_add_i64(in[i], params->padding[i], &padded[i]) &&
                   taper_add_i64(padded[i], params->padding_end[i], &padded[i]);
            small = small || (fits && padded[i] < reach[i]);
            out[i] = fits ? (padded[i] - reach[i]) / params->stride[i] + 1 : 0;
        }
        if (!fits) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "padding or stride is too large: the size of dimension %zu overflows", i + 2);
        }
    }
    if (small) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "Calculated padded input size per channel: %s. Kernel size: %s. Kernel size can't be greater than "
                   "actual input size",
                   times(rank, padded).text, times(rank, reach).text);
    }
    for (size_t i = 0; i < rank; i++) {
        if (out[i] < 1) {
            TAPER_FAIL(
                error, TAPER_ERROR_ARGUMENT,
                "Given input size per channel: %s. Calculated output size per channel: %s. Output size is too small",
                times(rank, in).text, times(rank, out).text);
        }
    }
    return TAPER_OK;
}

taper_status taper_conv_check(taper_call *call, const taper_tensor *input, const taper_tensor *weight,
                              const taper_tensor *bias, const taper_conv_params *params, int64_t *out_sizes)
{
    taper_error *error = call->run->error;
    const size_t rank = params->rank;
    if (rank < 1 || rank > TAPER_CONV_RANK || weight->rank != rank + 2 ||
        (input->rank != rank + 2 && input->rank != rank + 1)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "Expected %u-dimensional input for %u-dimensional weight %s, but got %u-dimensional input of size "
                   "%s instead",
                   weight->rank, weight->rank, TAPER_SHAPE(weight), input->rank, TAPER_SHAPE(input));
    }
    const size_t skip = input->rank == rank + 1 ? 0 : 1;
    const int64_t batch = skip == 0 ? 1 : input->sizes[0], channels = input->sizes[skip];
    const int64_t *space = input->sizes + skip + 1;
    TAPER_TRY(check_numbers(error, params));
    TAPER_TRY(check_channels(error, input, weight, bias, params, channels, &out_sizes[1]));
    TAPER_TRY(taper_conv_check_space(error, space, weight, params, out_sizes + 2));
    TAPER_TRY(check_dtypes(error, input, weight, bias));
    out_sizes[0] = batch;
    if (taper_tensor_numel(input) == 0 || channels == 0) {
        if (batch != 0 && channels != 0) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "Only zero batch or zero channel inputs are supported, but got input shape: %s",
                       TAPER_SHAPE(input));
        }
        if (channels == 0) {
            out_sizes[1] = 0; // the result is empty, as in PyTorch
        }
    }
    // The sizes are checked here because kernels compute with them before they make the result.
    return taper_tensor_check_sizes((taper_dtype)input->dtype, rank + 2u, out_sizes, error);
}

// ---- the layout of the result

// Returns a view of the tensor with a batch dimension, and of a conv1d's tensor as a 2-D convolution's tensor. PyTorch
// decides the layout with such tensors.
static taper_tensor as_image(const taper_tensor *tensor, bool add_batch, bool add_height, bool contiguous)
{
    int64_t sizes[TAPER_MAX_RANK] = {0}, strides[TAPER_MAX_RANK] = {0}, own[TAPER_MAX_RANK] = {0};
    size_t rank = 0;
    // A contiguous tensor keeps its strides, including the strides of dimensions of size 1.
    if (contiguous && !taper_tensor_is_contiguous(tensor)) {
        taper_strides_contiguous(tensor->rank, tensor->sizes, own);
    } else {
        taper_tensor_logical_strides(tensor, own);
    }
    if (add_batch) {
        sizes[0] = 1;
        strides[0] = taper_wrap_mul(tensor->sizes[0], own[0]);
        rank = 1;
    }
    for (size_t i = 0; i < tensor->rank; i++) {
        if (add_height && rank == 2) {
            sizes[2] = 1;
            strides[2] = taper_wrap_mul(tensor->sizes[i], own[i]);
            rank = 3;
        }
        sizes[rank] = tensor->sizes[i];
        strides[rank++] = own[i];
    }
    return taper_tensor_twin(tensor, rank, sizes, strides);
}

taper_status taper_conv_finish(taper_call *call, taper_conv_args *args)
{
    (void)call;
    const taper_tensor *input = args->input;
    const size_t rank = args->params.rank;
    args->out_channels_last = false;
    args->out_hidden = false;
    if (args->follows_input && !args->unbatched) {
        // PyTorch computes the result in channels-last, and then makes it contiguous unless it already is.
        int64_t strides[4];
        taper_strides_channels_last(4, args->out_sizes, strides);
        const taper_tensor twin = taper_tensor_twin(input, 4, args->out_sizes, strides);
        args->out_channels_last = taper_tensor_suggests_channels_last(input) || taper_tensor_is_contiguous(&twin);
    } else if (!args->params.transposed && rank <= 2 && taper_tensor_numel(input) != 0 &&
               args->out_sizes[args->unbatched ? 0 : 1] != 0) {
        const taper_tensor x = as_image(input, args->unbatched, rank == 1, rank == 1);
        const taper_tensor w = as_image(args->weight, false, rank == 1, false);
        args->out_channels_last = taper_tensor_suggests_channels_last(&x) || taper_tensor_suggests_channels_last(&w);
    }
    if (!args->out_channels_last && !args->unbatched && rank >= 2 && input->hidden_nhwc) {
        args->out_hidden = true;
    }
    return TAPER_OK;
}

taper_status taper_conv_result(taper_call *call, const taper_conv_args *args, taper_tensor **result)
{
    const taper_dtype dtype = (taper_dtype)args->input->dtype;
    if (args->out_hidden) {
        return taper_ret_new_nhwc(call, 0, dtype, args->out_rank, args->out_sizes, true, result);
    }
    if (!args->out_channels_last) {
        return taper_ret_new(call, 0, dtype, args->out_rank, args->out_sizes, NULL, result);
    }
    if (args->out_rank == 4) {
        return taper_ret_new_nhwc(call, 0, dtype, 4, args->out_sizes, false, result);
    }
    // For conv1d, or without a batch, the result has the strides of the 4-D result, without the stride of the dimension
    // that was added.
    const bool line = args->params.rank == 1;
    int64_t sizes[4] = {0}, strides[4], kept[3] = {0};
    size_t rank = 0;
    if (args->unbatched) {
        sizes[rank++] = 1;
    }
    for (size_t i = 0; i < args->out_rank; i++) {
        if (line && rank == 2) {
            sizes[rank++] = 1;
        }
        sizes[rank++] = args->out_sizes[i];
    }
    taper_strides_channels_last(4, sizes, strides);
    rank = 0;
    for (size_t i = args->unbatched ? 1 : 0; i < 4; i++) {
        if (!(line && i == 2)) {
            kept[rank++] = strides[i];
        }
    }
    return taper_ret_new(call, 0, dtype, args->out_rank, args->out_sizes, kept, result);
}

taper_status taper_conv_reference(taper_call *call)
{
    taper_conv_args args;
    taper_tensor *result = NULL;
    TAPER_TRY(taper_conv_parse(call, &args));
    taper_tensor *target = taper_ret_target(call, 0);
    if (target == NULL) {
        TAPER_TRY(taper_conv_result(call, &args, &result));
        return taper_conv_compute(call->run, &args, result);
    }
    // The argument of out= may be one of the inputs or have another dtype, so the result is computed in a new tensor
    // first.
    TAPER_TRY(taper_tensor_new(call->run->heap, (taper_dtype)args.input->dtype, args.out_rank, args.out_sizes, NULL,
                               &result, call->run->error));
    const taper_status status = taper_conv_compute(call->run, &args, result);
    if (status != TAPER_OK) {
        taper_tensor_drop(result);
        return status;
    }
    return taper_ret_tensor(call, 0, result);
}
