// SPDX-License-Identifier: BSD-2-Clause
// Reads and checks the states of packed parameters; quantized_params.h lists them.
#include "ops/quantized/quantized_params.h"
#include "ops/quantized/quantized.h"

#include <inttypes.h>
#include <stdlib.h>

#include "ops/engine/matmul.h"

// Definitions that compilers link if they call an inline function instead of inlining it.
extern taper_q_range taper_q_range_of(taper_dtype dtype);
extern int64_t taper_q_clamp(int64_t q, taper_q_range range);
extern int64_t taper_q_round(float x, int64_t zero_point, taper_q_range range);
extern int64_t taper_q_round_wide(float x, int64_t zero_point, taper_q_range range);
extern int64_t taper_q_requantize(int32_t acc, float multiplier, int64_t zero_point, taper_q_range range);
extern int64_t taper_q_from_int(taper_dtype dtype, int32_t acc, float multiplier, int64_t zero_point, bool wide);
extern int64_t taper_q_load(taper_dtype dtype, const void *data, int64_t at);
extern void taper_q_store(taper_dtype dtype, void *data, int64_t at, int64_t q);

// ---- states of objects

static const char native[] = "__torch__.torch.classes.";

static const char *short_name(const taper_object *object)
{
    const char *name = object->klass != NULL ? object->klass->name : "?";
    return strncmp(name, native, sizeof native - 1) == 0 ? name + sizeof native - 1 : name;
}

bool taper_q_class_is(const taper_object *object, const char *name)
{
    return strcmp(short_name(object), name) == 0;
}

TAPER_COLD taper_status taper_q_state_wrong(taper_run *run, const taper_q_state *state, size_t at, const char *expected)
{
    TAPER_FAIL(run->error, TAPER_ERROR_FILE, "%s: item %zu of its state should be %s but is %s", state->name, at,
               expected, taper_val_kind_name(state->items[at]));
}

static bool items_of(taper_val value, const taper_val **items, size_t *count)
{
    if (value.tag == TAPER_TUPLE) {
        *items = value.as.tuple->items;
        *count = value.as.tuple->count;
    } else if (value.tag == TAPER_LIST) {
        *items = value.as.list->items;
        *count = value.as.list->count;
    } else {
        return false;
    }
    return true;
}

taper_status taper_q_state_open(taper_run *run, const taper_object *object, const char *name, size_t least,
                                taper_q_state *state)
{
    if (!taper_q_class_is(object, name)) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "expected an object of class %s, got one of %s", name,
                   short_name(object));
    }
    state->name = name;
    const taper_val value = object->count != 0 ? object->slots[0] : taper_val_none();
    if (!items_of(value, &state->items, &state->count)) {
        TAPER_FAIL(run->error, TAPER_ERROR_FILE, "%s: its state should be a tuple but is %s", name,
                   taper_val_kind_name(value));
    }
    if (state->count < least) {
        TAPER_FAIL(run->error, TAPER_ERROR_FILE, "%s: its state has %zu items, expected %zu", name, state->count,
                   least);
    }
    return TAPER_OK;
}

static taper_status tensor_in(taper_run *run, const taper_q_state *state, const taper_val *items, size_t count,
                              size_t at, bool optional, const char *what, taper_tensor **tensor)
{
    *tensor = NULL;
    if (optional && (at >= count || items[at].tag == TAPER_NONE)) {
        return TAPER_OK;
    }
    if (at >= count || items[at].tag != TAPER_TENSOR) {
        TAPER_FAIL(run->error, TAPER_ERROR_FILE, "%s: its %s should be a Tensor but is %s", state->name, what,
                   at < count ? taper_val_kind_name(items[at]) : "missing");
    }
    *tensor = items[at].as.tensor;
    // makes a hidden NHWC weight contiguous, because weights are read in their logical order
    return taper_run_settle(run, *tensor);
}

// ---- quantizers of weights

double taper_qweight_scale(const taper_tensor *weight, int64_t channel)
{
    const taper_quantizer *z = weight->quantizer;
    return z->scales == NULL ? z->scale
                             : taper_load_double((taper_dtype)z->scales->dtype, taper_tensor_data(z->scales),
                                                 channel * z->scales->strides[0]);
}

int64_t taper_qweight_zero_point(const taper_tensor *weight, int64_t channel)
{
    const taper_quantizer *z = weight->quantizer;
    return z->scales == NULL ? z->zero_point
                             : taper_load_int((taper_dtype)z->zero_points->dtype, taper_tensor_data(z->zero_points),
                                              channel * z->zero_points->strides[0]);
}

static bool is_vector(const taper_tensor *tensor, int64_t size)
{
    return tensor != NULL && tensor->rank == 1 && tensor->sizes[0] == size;
}

taper_status taper_qweight_check(taper_run *run, const taper_tensor *weight, taper_dtype dtype, int64_t axis,
                                 const char *name)
{
    const taper_quantizer *z = weight->quantizer;
    if (weight->dtype != dtype || z == NULL) {
        TAPER_FAIL(run->error, TAPER_ERROR_FILE, "%s: the weight should be %s but is %s", name,
                   taper_dtype_torch_name(dtype), taper_dtype_torch_name((taper_dtype)weight->dtype));
    }
    int64_t channels = 1;
    if (z->scales != NULL || z->scheme == TAPER_PER_CHANNEL_AFFINE || z->scheme == TAPER_PER_CHANNEL_SYMMETRIC ||
        z->scheme == TAPER_PER_CHANNEL_AFFINE_FLOAT_QPARAMS ||
        z->scheme == TAPER_PER_CHANNEL_AFFINE_FLOAT_QPARAMS_4BIT) {
        if (z->axis != axis || axis >= weight->rank || !is_vector(z->scales, weight->sizes[axis]) ||
            !is_vector(z->zero_points, weight->sizes[axis]) || !taper_dtype_is_float((taper_dtype)z->scales->dtype)) {
            TAPER_FAIL(run->error, TAPER_ERROR_FILE,
                       "%s: a weight of sizes %s that is quantized per channel needs a scale and a zero point for each "
                       "index of dimension %" PRId64 ", its output channels",
                       name, TAPER_SHAPE(weight), axis);
        }
        channels = weight->sizes[axis];
    }
    const bool whole = z->scales == NULL || taper_dtype_is_integral((taper_dtype)z->zero_points->dtype);
    if (dtype == TAPER_QI8 && !whole) {
        TAPER_FAIL(run->error, TAPER_ERROR_FILE, "%s: the zero points of a weight should be integers but are %s", name,
                   taper_dtype_torch_name((taper_dtype)z->zero_points->dtype));
    }
    const taper_q_range range = taper_q_range_of(dtype);
    for (int64_t c = 0; c < channels; c++) {
        const double scale = taper_qweight_scale(weight, c);
        const int64_t point = whole ? taper_qweight_zero_point(weight, c) : 0;
        if (!(scale > 0) || isinf(scale) || (dtype == TAPER_QI8 && (point < range.low || point > range.high))) {
            TAPER_FAIL(run->error, TAPER_ERROR_FILE,
                       "%s: channel %" PRId64 " of the weight has scale %g and zero point %" PRId64
                       "; the scale must be positive and finite, the zero point between %" PRId64 " and %" PRId64,
                       name, c, scale, point, range.low, range.high);
        }
    }
    return TAPER_OK;
}

static taper_status check_bias(taper_run *run, const taper_tensor *bias, int64_t out, const char *name)
{
    if (bias != NULL && (!is_vector(bias, out) || bias->dtype != TAPER_F32)) {
        TAPER_FAIL(run->error, TAPER_ERROR_FILE,
                   "%s: the bias should be a float32 vector of %" PRId64
                   " elements, one for each output channel, but is "
                   "%s of sizes %s",
                   name, out, taper_dtype_torch_name((taper_dtype)bias->dtype), TAPER_SHAPE(bias));
    }
    return TAPER_OK;
}

taper_status taper_q_channels(taper_run *run, const taper_tensor *weight, const taper_tensor *bias, int64_t count,
                              double in_scale, double out_scale, taper_q_channel *channels)
{
    // A transposed convolution with groups has as many scales as one group has channels.
    const int64_t scales = weight->quantizer->scales != NULL ? weight->quantizer->scales->sizes[0] : 1;
    const float inverse = out_scale == 0 ? 1.0f : 1.0f / (float)out_scale;
    const taper_q_range range = taper_q_range_of(TAPER_QI32);
    for (int64_t c = 0; c < count; c++) {
        const double scale = taper_qweight_scale(weight, c % scales);
        const float multiplier = (float)scale * (float)in_scale * inverse;
        if (!(multiplier > 0) || !isnormal(multiplier)) {
            TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                       "the scales of the input (%g), the weight (%g) and the result (%g) give the factor %g, which "
                       "should be positive and normal: export the model with other scales",
                       in_scale, scale, out_scale, (double)multiplier);
        }
        channels[c] = (taper_q_channel){.zero_point = (int32_t)taper_qweight_zero_point(weight, c % scales),
                                        .multiplier = multiplier};
        if (bias != NULL && out_scale != 0) {
            const float *values = taper_tensor_data(bias);
            const float of_sum = 1.0f / (float)(scale * in_scale);
            channels[c].bias = (int32_t)taper_q_round(values[c * bias->strides[0]] * of_sum, 0, range);
        }
    }
    return TAPER_OK;
}

// ---- linear layers

taper_status taper_qlinear_open(taper_run *run, taper_object *object, taper_qlinear_params *params)
{
    taper_q_state state;
    TAPER_TRY(taper_q_state_open(run, object, "quantized.LinearPackedParamsBase", 1, &state));
    TAPER_TRY(tensor_in(run, &state, state.items, state.count, 0, false, "weight", &params->weight));
    TAPER_TRY(tensor_in(run, &state, state.items, state.count, 1, true, "bias", &params->bias));
    const taper_tensor *weight = params->weight;
    if (weight->rank != 2) {
        TAPER_FAIL(run->error, TAPER_ERROR_FILE, "%s: the weight should be a matrix, its sizes are %s", state.name,
                   TAPER_SHAPE(weight));
    }
    params->half = weight->dtype == TAPER_F32;
    if (!params->half) {
        TAPER_TRY(taper_qweight_check(run, weight, TAPER_QI8, 0, state.name));
    }
    params->out = weight->sizes[0];
    params->in = weight->sizes[1];
    return check_bias(run, params->bias, params->out, state.name);
}

// ---- convolutions

static bool one_int(taper_val value, int64_t *number)
{
    if (value.tag == TAPER_INT) {
        *number = value.as.i;
        return true;
    }
    if (value.tag != TAPER_TENSOR || taper_tensor_numel(value.as.tensor) != 1 ||
        !taper_dtype_is_integral((taper_dtype)value.as.tensor->dtype)) {
        return false;
    }
    *number = taper_load_int((taper_dtype)value.as.tensor->dtype, taper_tensor_data(value.as.tensor), 0);
    return true;
}

enum { MOST_CONFIG = 1 + 4 * TAPER_CONV_RANK + 2 };

// Reads a list of ints, a list of tensors of one int, or a vector of ints. Returns false for other values, and for more
// than `most` ints.
static bool read_ints(taper_val value, size_t most, int64_t *numbers, size_t *count)
{
    if (value.tag == TAPER_TENSOR) {
        const taper_tensor *tensor = value.as.tensor;
        if (tensor->rank != 1 || !taper_dtype_is_integral((taper_dtype)tensor->dtype) ||
            tensor->sizes[0] > (int64_t)most) {
            return false;
        }
        *count = (size_t)tensor->sizes[0];
        for (size_t i = 0; i < *count; i++) {
            numbers[i] =
                taper_load_int((taper_dtype)tensor->dtype, taper_tensor_data(tensor), (int64_t)i * tensor->strides[0]);
        }
        return true;
    }
    const taper_val *items;
    if (!items_of(value, &items, count) || *count > most) {
        return false;
    }
    for (size_t i = 0; i < *count; i++) {
        if (!one_int(items[i], &numbers[i])) {
            return false;
        }
    }
    return true;
}

static taper_status read_config(taper_run *run, const taper_q_state *state, taper_val value, size_t rank,
                                taper_conv_params *conv)
{
    int64_t config[MOST_CONFIG];
    size_t count;
    if (!read_ints(value, MOST_CONFIG, config, &count) || count == 0 || config[0] != (int64_t)rank ||
        count != 1 + 4 * rank + 2) {
        TAPER_FAIL(run->error, TAPER_ERROR_FILE,
                   "%s: its configuration should be %zu ints that start with the dimensions, %zu: strides, paddings, "
                   "dilations, output paddings, groups, flags",
                   state->name, 1 + 4 * rank + 2, rank);
    }
    const int64_t *at = config + 1;
    int64_t *const lists[] = {conv->stride, conv->padding, conv->dilation, conv->output_padding};
    for (size_t l = 0; l < 4; l++, at += rank) {
        memcpy(lists[l], at, rank * sizeof *at);
    }
    conv->groups = at[0];
    if ((at[1] & ~INT64_C(1)) != 0) {
        TAPER_FAIL(run->error, TAPER_ERROR_FILE, "%s: its flags are %" PRId64 ", only 0 and 1 are known", state->name,
                   at[1]);
    }
    conv->transposed = at[1] != 0;
    return TAPER_OK;
}

static taper_status read_first_version(taper_run *run, const taper_q_state *state, size_t rank,
                                       taper_qconv_params *params)
{
    if (state->count < 6) {
        TAPER_FAIL(run->error, TAPER_ERROR_FILE, "%s: a state of version 1 has 6 items, this one %zu", state->name,
                   state->count);
    }
    TAPER_TRY(tensor_in(run, state, state->items, state->count, 0, false, "weight", &params->weight));
    TAPER_TRY(tensor_in(run, state, state->items, state->count, 1, true, "bias", &params->bias));
    taper_conv_params *conv = &params->conv;
    int64_t *const lists[] = {conv->stride, conv->padding, conv->dilation};
    for (size_t l = 0; l < 3; l++) {
        size_t count;
        if (!read_ints(state->items[2 + l], rank, lists[l], &count) || count != rank) {
            return taper_q_state_wrong(run, state, 2 + l, "an int for each spatial dimension");
        }
    }
    if (!one_int(state->items[5], &conv->groups)) {
        return taper_q_state_wrong(run, state, 5, "an int");
    }
    return TAPER_OK;
}

static taper_status read_later_version(taper_run *run, const taper_q_state *state, size_t rank,
                                       taper_qconv_params *params)
{
    const taper_val version = state->items[0];
    const bool second = taper_val_string_is(version, "2"), third = version.tag == TAPER_INT && version.as.i == 3;
    if (!second && !third) {
        TAPER_FAIL(run->error, TAPER_ERROR_FILE,
                   "%s: its state starts with %s, not with a version that is known (a weight, \"2\" or 3)", state->name,
                   taper_val_kind_name(version));
    }
    const taper_val *required = NULL, *optional = NULL;
    size_t required_count = 0, optional_count = 0;
    if (state->count < 3 || !items_of(state->items[2], &optional, &optional_count)) {
        TAPER_FAIL(run->error, TAPER_ERROR_FILE, "%s: its state should be (version, configuration, tensors)",
                   state->name);
    }
    if (third) {
        TAPER_TRY(read_config(run, state, state->items[1], rank, &params->conv));
        TAPER_TRY(tensor_in(run, state, optional, optional_count, 1, false, "weight", &params->weight));
        return tensor_in(run, state, optional, optional_count, 2, true, "bias", &params->bias);
    }
    if (!items_of(state->items[1], &required, &required_count) || required_count < 2) {
        return taper_q_state_wrong(run, state, 1, "[configuration, weight]");
    }
    TAPER_TRY(read_config(run, state, required[0], rank, &params->conv));
    TAPER_TRY(tensor_in(run, state, required, required_count, 1, false, "weight", &params->weight));
    return tensor_in(run, state, optional, optional_count, 0, true, "bias", &params->bias);
}

static taper_status check_conv(taper_run *run, const taper_q_state *state, taper_qconv_params *params)
{
    const taper_tensor *weight = params->weight;
    taper_conv_params *conv = &params->conv;
    if (weight->rank != conv->rank + 2) {
        TAPER_FAIL(run->error, TAPER_ERROR_FILE, "%s: the weight should have %zu dimensions, its sizes are %s",
                   state->name, conv->rank + 2, TAPER_SHAPE(weight));
    }
    for (size_t i = 0; i < conv->rank; i++) {
        if (conv->stride[i] <= 0 || conv->padding[i] < 0 || conv->dilation[i] <= 0 || conv->output_padding[i] < 0) {
            TAPER_FAIL(run->error, TAPER_ERROR_FILE,
                       "%s: stride %" PRId64 ", padding %" PRId64 ", dilation %" PRId64 ", output padding %" PRId64
                       " of dimension %zu: strides and dilations must be positive, paddings not negative",
                       state->name, conv->stride[i], conv->padding[i], conv->dilation[i], conv->output_padding[i], i);
        }
    }
    memcpy(conv->padding_end, conv->padding, sizeof conv->padding);
    const int64_t groups = conv->groups;
    if (taper_tensor_numel(weight) == 0 || groups <= 0 || weight->sizes[0] % groups != 0 ||
        !taper_mul_i64(weight->sizes[1], groups, conv->transposed ? &params->out : &params->in)) {
        TAPER_FAIL(run->error, TAPER_ERROR_FILE,
                   "%s: a weight of sizes %s cannot be divided into %" PRId64 " groups: dimension 0 must be a multiple",
                   state->name, TAPER_SHAPE(weight), groups);
    }
    *(conv->transposed ? &params->in : &params->out) = weight->sizes[0];
    TAPER_TRY(taper_qweight_check(run, weight, TAPER_QI8, conv->transposed ? 1 : 0, state->name));
    return check_bias(run, params->bias, params->out, state->name);
}

taper_status taper_qconv_open(taper_run *run, taper_object *object, size_t rank, taper_qconv_params *params)
{
    taper_q_state state;
    *params = (taper_qconv_params){0};
    if (rank == 0) {
        rank = taper_q_class_is(object, "quantized.Conv3dPackedParamsBase") ? 3 : 2;
    }
    TAPER_TRY(taper_q_state_open(
        run, object, rank == 3 ? "quantized.Conv3dPackedParamsBase" : "quantized.Conv2dPackedParamsBase", 1, &state));
    params->conv.rank = rank;
    TAPER_TRY(state.items[0].tag == TAPER_TENSOR ? read_first_version(run, &state, rank, params)
                                                 : read_later_version(run, &state, rank, params));
    return check_conv(run, &state, params);
}

// ---- embeddings

taper_status taper_qembedding_open(taper_run *run, taper_object *object, taper_qembedding_params *params)
{
    taper_q_state state;
    const taper_val *tensors;
    size_t count;
    TAPER_TRY(taper_q_state_open(run, object, "quantized.EmbeddingPackedParamsBase", 2, &state));
    if (state.items[0].tag != TAPER_INT || state.items[0].as.i != 1) {
        return taper_q_state_wrong(run, &state, 0, "the version, 1");
    }
    if (!items_of(state.items[1], &tensors, &count)) {
        return taper_q_state_wrong(run, &state, 1, "a list of tensors");
    }
    TAPER_TRY(tensor_in(run, &state, tensors, count, 0, false, "weight", &params->weight));
    const taper_tensor *weight = params->weight;
    if (weight->rank != 2 || weight->dtype != TAPER_QU8 || !taper_tensor_is_contiguous(weight)) {
        TAPER_FAIL(run->error, TAPER_ERROR_FILE,
                   "%s: the weight should be a contiguous quint8 or quint4x2 matrix but is %s of sizes %s", state.name,
                   taper_dtype_torch_name((taper_dtype)weight->dtype), TAPER_SHAPE(weight));
    }
    const taper_quantizer *z = weight->quantizer;
    if (z == NULL || (z->scheme != TAPER_PER_CHANNEL_AFFINE_FLOAT_QPARAMS &&
                      z->scheme != TAPER_PER_CHANNEL_AFFINE_FLOAT_QPARAMS_4BIT)) {
        TAPER_FAIL(run->error, TAPER_ERROR_FILE,
                   "%s: the weight should be quantized per channel with float scales and zero points", state.name);
    }
    params->bits = z->scheme == TAPER_PER_CHANNEL_AFFINE_FLOAT_QPARAMS_4BIT ? 4 : 8;
    return taper_qweight_check(run, weight, TAPER_QU8, 0, state.name);
}

// ---- parameters as arguments of a call

static taper_status name_argument(const taper_call *call, size_t at, taper_object **object, const char *what)
{
    const taper_status status = taper_arg_object(call, at, object);
    if (status == TAPER_OK && !taper_q_class_is(*object, what)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument '%s': expected an object of class %s, got %s",
                   taper_arg_name(call, at), what, short_name(*object));
    }
    return status;
}

taper_status taper_arg_qlinear(const taper_call *call, size_t at, taper_qlinear_params *params)
{
    taper_object *object;
    TAPER_TRY(name_argument(call, at, &object, "quantized.LinearPackedParamsBase"));
    return taper_qlinear_open(call->run, object, params);
}

taper_status taper_arg_qconv(const taper_call *call, size_t at, size_t rank, taper_qconv_params *params)
{
    taper_object *object;
    TAPER_TRY(name_argument(call, at, &object,
                            rank == 3 ? "quantized.Conv3dPackedParamsBase" : "quantized.Conv2dPackedParamsBase"));
    return taper_qconv_open(call->run, object, rank, params);
}

taper_status taper_qconv_sizes(taper_run *run, const taper_qconv_params *params, const taper_tensor *input,
                               int64_t *sizes)
{
    const taper_conv_params *conv = &params->conv;
    if (input->rank != conv->rank + 2) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                   "the input should have %zu dimensions (batch, channels, space), its sizes are %s", conv->rank + 2,
                   TAPER_SHAPE(input));
    }
    if (input->sizes[1] != params->in) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                   "the input should have %" PRId64 " channels for a weight of sizes %s in %" PRId64
                   " groups, its sizes are %s",
                   params->in, TAPER_SHAPE(params->weight), conv->groups, TAPER_SHAPE(input));
    }
    sizes[0] = input->sizes[0];
    sizes[1] = params->out;
    return taper_conv_check_space(run->error, input->sizes + 2, params->weight, conv, sizes + 2);
}

void taper_q_channel_params(const taper_quantizer *z, int64_t c, double *scale, int64_t *zero_point)
{
    *scale = z->scales == NULL ? z->scale
                               : taper_load_double((taper_dtype)z->scales->dtype, taper_tensor_data(z->scales), c);
    *zero_point = z->scales == NULL
                      ? z->zero_point
                      : taper_load_int((taper_dtype)z->zero_points->dtype, taper_tensor_data(z->zero_points), c);
}
