// SPDX-License-Identifier: BSD-2-Clause
// Makes packed parameters from weights at run time, and reads them back. The weights are not rearranged: the object
// contains the weight as PyTorch would return it, in a state of the last version (quantized_params.h).
#include "base/half.h"
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"
#include "ops/quantized/quantized_layer.h"

static const taper_class linear_class = {.name = "__torch__.torch.classes.quantized.LinearPackedParamsBase"};
static const taper_class conv2d_class = {.name = "__torch__.torch.classes.quantized.Conv2dPackedParamsBase"};
static const taper_class conv3d_class = {.name = "__torch__.torch.classes.quantized.Conv3dPackedParamsBase"};
static const taper_class embedding_class = {.name = "__torch__.torch.classes.quantized.EmbeddingPackedParamsBase"};

// ---- objects of packed parameters

// Makes an object with this state. Takes over the reference to the state.
static taper_status make_object(taper_run *run, const taper_class *klass, taper_val state, taper_object **object)
{
    *object = taper_object_new(run->heap, klass, 1);
    if (*object == NULL) {
        taper_val_release(state);
        return taper_fail_memory(run->error);
    }
    (*object)->slots[0] = state;
    return TAPER_OK;
}

static taper_val tensor_or_none(taper_tensor *tensor)
{
    return tensor != NULL ? TAPER_VAL(taper_tensor_keep(tensor)) : taper_val_none();
}

taper_status taper_qlinear_make(taper_run *run, taper_tensor *weight, taper_tensor *bias, taper_object **object)
{
    taper_tuple *state = taper_tuple_new(run->heap, NULL, 2);
    if (state == NULL) {
        return taper_fail_memory(run->error);
    }
    state->items[0] = tensor_or_none(weight);
    state->items[1] = tensor_or_none(bias);
    return make_object(run, &linear_class, TAPER_VAL(state), object);
}

taper_status taper_q_list(taper_run *run, const taper_type *element, const taper_val *values, size_t count,
                          taper_val *result)
{
    taper_list *list = taper_list_new(run->heap, element, count);
    if (list == NULL) {
        for (size_t i = 0; i < count; i++) {
            taper_val_release(values[i]);
        }
        return taper_fail_memory(run->error);
    }
    for (; list->count < count; list->count++) {
        list->items[list->count] = values[list->count];
    }
    *result = TAPER_VAL(list);
    return TAPER_OK;
}

// Sets item `at` of the state to a list of `count` values. Takes over the references of the values.
static taper_status put_list(taper_run *run, taper_tuple *state, size_t at, const taper_type *element,
                             const taper_val *values, size_t count)
{
    return taper_q_list(run, element, values, count, &state->items[at]);
}

static bool fits_short(const taper_val *config, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (config[i].as.i < INT16_MIN || config[i].as.i > INT16_MAX) {
            return false;
        }
    }
    return true;
}

// Fills the state that PyTorch saves, which every version that has these classes can read: ("2", [numbers, weight],
// [bias]).
static taper_status fill_short(taper_run *run, taper_tuple *state, const taper_val *config, size_t count,
                               taper_tensor *weight, taper_tensor *bias)
{
    taper_tensor *numbers;
    const int64_t size = (int64_t)count;
    taper_string *version = taper_string_new(run->heap, "2", 1);
    if (version == NULL) {
        return taper_fail_memory(run->error);
    }
    state->items[0] = TAPER_VAL(version);
    TAPER_TRY(taper_tensor_new(run->heap, TAPER_I16, 1, &size, NULL, &numbers, run->error));
    for (size_t i = 0; i < count; i++) {
        ((int16_t *)taper_tensor_mutable(numbers))[i] = (int16_t)config[i].as.i;
    }
    const taper_val tensors[2] = {TAPER_VAL(numbers), tensor_or_none(weight)}, optional = tensor_or_none(bias);
    const taper_status status = put_list(run, state, 1, &taper_type_tensor, tensors, 2);
    if (status != TAPER_OK) {
        taper_val_release(optional);
        return status;
    }
    return put_list(run, state, 2, &taper_type_optional_tensor, &optional, 1);
}

// Fills (3, numbers, [None, weight, bias]), for numbers that do not fit into 16 bits.
static taper_status fill_long(taper_run *run, taper_tuple *state, const taper_val *config, size_t count,
                              taper_tensor *weight, taper_tensor *bias)
{
    const taper_val tensors[3] = {taper_val_none(), tensor_or_none(weight), tensor_or_none(bias)};
    state->items[0] = taper_val_int(3);
    TAPER_TRY(put_list(run, state, 2, &taper_type_optional_tensor, tensors, 3));
    return put_list(run, state, 1, &taper_type_int, config, count);
}

taper_status taper_qconv_make(taper_run *run, taper_tensor *weight, taper_tensor *bias, const taper_conv_params *conv,
                              taper_object **object)
{
    taper_val config[1 + 4 * TAPER_CONV_RANK + 2];
    size_t count = 0;
    const int64_t *const lists[] = {conv->stride, conv->padding, conv->dilation, conv->output_padding};
    config[count++] = taper_val_int((int64_t)conv->rank);
    for (size_t l = 0; l < 4; l++) {
        for (size_t i = 0; i < conv->rank; i++) {
            config[count++] = taper_val_int(lists[l][i]);
        }
    }
    config[count++] = taper_val_int(conv->groups);
    config[count++] = taper_val_int(conv->transposed ? 1 : 0);
    taper_tuple *state = taper_tuple_new(run->heap, NULL, 3);
    if (state == NULL) {
        return taper_fail_memory(run->error);
    }
    const taper_status status = fits_short(config, count) ? fill_short(run, state, config, count, weight, bias)
                                                          : fill_long(run, state, config, count, weight, bias);
    if (status != TAPER_OK) {
        taper_val_release(TAPER_VAL(state));
        return status;
    }
    return make_object(run, conv->rank == 3 ? &conv3d_class : &conv2d_class, TAPER_VAL(state), object);
}

taper_status taper_qembedding_make(taper_run *run, taper_tensor *weight, taper_object **object)
{
    taper_tuple *state = taper_tuple_new(run->heap, NULL, 4);
    if (state == NULL) {
        return taper_fail_memory(run->error);
    }
    const bool few =
        weight->quantizer != NULL && weight->quantizer->scheme == TAPER_PER_CHANNEL_AFFINE_FLOAT_QPARAMS_4BIT;
    const taper_val tensor = tensor_or_none(weight), bits = taper_val_int(few ? 4 : 8);
    state->items[0] = taper_val_int(1);
    taper_status status = put_list(run, state, 1, &taper_type_tensor, &tensor, 1);
    if (status == TAPER_OK) {
        status = put_list(run, state, 2, &taper_type_float, NULL, 0);
    }
    if (status == TAPER_OK) {
        status = put_list(run, state, 3, &taper_type_int, &bits, 1);
    }
    if (status != TAPER_OK) {
        taper_val_release(TAPER_VAL(state));
        return status;
    }
    return make_object(run, &embedding_class, TAPER_VAL(state), object);
}

// ---- weights in another layout

// Makes a tensor with the elements and the quantizer of `from`, and these strides.
static taper_status relaid(taper_run *run, const taper_tensor *from, const int64_t *strides, taper_tensor **to)
{
    TAPER_TRY(taper_tensor_new(run->heap, (taper_dtype)from->dtype, from->rank, from->sizes, strides, to, run->error));
    taper_status status = taper_run_copy(run, *to, from);
    if (status == TAPER_OK && from->quantizer != NULL) {
        status = taper_tensor_set_quantizer(*to, from->quantizer, run->error);
    }
    if (status != TAPER_OK) {
        taper_tensor_drop(*to);
        *to = NULL;
    }
    return status;
}

static taper_status contiguous(taper_run *run, taper_tensor *from, taper_tensor **to)
{
    if (taper_tensor_is_contiguous(from)) {
        *to = taper_tensor_keep(from);
        return TAPER_OK;
    }
    return relaid(run, from, NULL, to);
}

static taper_status channels_last(taper_run *run, taper_tensor *from, taper_tensor **to)
{
    int64_t strides[TAPER_MAX_RANK];
    if (taper_tensor_is_channels_last(from)) {
        *to = taper_tensor_keep(from);
        return TAPER_OK;
    }
    taper_strides_channels_last(from->rank, from->sizes, strides);
    return relaid(run, from, strides, to);
}

// ---- linear layers

static taper_status finish(taper_call *call, taper_status status, taper_object *object)
{
    if (status == TAPER_OK) {
        taper_ret(call, 0, TAPER_VAL(object));
    }
    return status;
}

// Sets result 0 to the packed parameters of a linear layer. The new object is opened immediately, so that an error in
// the weight is reported where the weight is packed.
static taper_status make_linear(taper_call *call, taper_tensor *weight, taper_tensor *bias)
{
    taper_object *object;
    taper_qlinear_params params;
    TAPER_TRY(taper_qlinear_make(call->run, weight, bias, &object));
    const taper_status status = taper_qlinear_open(call->run, object, &params);
    if (status != TAPER_OK) {
        taper_val_release(TAPER_VAL(object));
    }
    return finish(call, status, object);
}

TAPER_KERNEL(taper_op_qlinear_prepack)
{
    taper_tensor *weight, *bias, *kept;
    TAPER_TRY(taper_arg_tensor(call, 0, &weight));
    TAPER_TRY(taper_arg_tensor_or_none(call, 1, &bias));
    if (weight->dtype != TAPER_QI8 || weight->rank != 2) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument '%s' should be a qint8 matrix but is %s of sizes %s", taper_arg_name(call, 0),
                   taper_dtype_torch_name((taper_dtype)weight->dtype), TAPER_SHAPE(weight));
    }
    TAPER_TRY(contiguous(call->run, weight, &kept));
    const taper_status status = make_linear(call, kept, bias);
    taper_tensor_drop(kept);
    return status;
}

TAPER_KERNEL(taper_op_qlinear_prepack_fp16)
{
    taper_tensor *weight, *bias, *kept;
    TAPER_TRY(taper_arg_tensor(call, 0, &weight));
    TAPER_TRY(taper_arg_tensor_or_none(call, 1, &bias));
    if (weight->dtype != TAPER_F32 || weight->rank != 2) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument '%s' should be a float32 matrix but is %s of sizes %s", taper_arg_name(call, 0),
                   taper_dtype_torch_name((taper_dtype)weight->dtype), TAPER_SHAPE(weight));
    }
    TAPER_TRY(relaid(call->run, weight, NULL, &kept));
    float *values = taper_tensor_mutable(kept);
    const int64_t count = taper_tensor_numel(kept);
    for (int64_t i = 0; i < count; i++) { // without infinities: PyTorch clamps weights to the range of half
        const float w = values[i] > 65504.0f ? 65504.0f : values[i] < -65504.0f ? -65504.0f : values[i];
        values[i] = taper_f16_to_float(taper_float_to_f16(w));
    }
    const taper_status status = make_linear(call, kept, bias);
    taper_tensor_drop(kept);
    return status;
}

// Sets the call's result 1 to the bias. If there is no bias, the result is zeros if `zeros` is set (int8 layers, as in
// QNNPACK), otherwise None.
static taper_status return_bias(taper_call *call, taper_tensor *bias, int64_t out, bool zeros)
{
    taper_tensor *made;
    if (bias != NULL || !zeros) {
        taper_ret(call, 1, tensor_or_none(bias));
        return TAPER_OK;
    }
    TAPER_TRY(taper_run_zeros(call->run, TAPER_F32, 1, &out, &made));
    taper_ret(call, 1, TAPER_VAL(made));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_qlinear_unpack)
{
    taper_qlinear_params params;
    taper_tensor *weight;
    TAPER_TRY(taper_arg_qlinear(call, 0, &params));
    TAPER_TRY(contiguous(call->run, params.weight, &weight));
    taper_ret(call, 0, TAPER_VAL(weight));
    return return_bias(call, params.bias, params.out, !params.half);
}

// Always fails. It is the kernel of the overloads of PyTorch 1.3 and earlier, whose packed weights were tensors with a
// pointer inside. A file cannot contain such a tensor.
TAPER_KERNEL(taper_op_q_outdated)
{
    TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED,
               "PyTorch no longer supports this form, whose packed weights are tensors: export the model with a later "
               "version of PyTorch");
}

// ---- convolutions

// Reads the arguments from 2 on: stride, padding[, output_padding if transposed], dilation, groups.
static taper_status prepack_conv(taper_call *call, size_t rank, bool transposed)
{
    taper_run *run = call->run;
    taper_tensor *weight, *bias, *kept;
    taper_conv_params conv = {.rank = rank == 3 ? 3 : 2, .transposed = transposed};
    TAPER_TRY(taper_arg_tensor(call, 0, &weight));
    TAPER_TRY(taper_arg_tensor_or_none(call, 1, &bias));
    const size_t missing = rank == 1 ? 1 : 0; // a convolution over one dimension uses images of height 1
    if (missing == 1) {
        conv.stride[0] = conv.dilation[0] = 1;
    }
    int64_t *const plain[] = {conv.stride, conv.padding, conv.dilation}, *const turned[] = {conv.stride, conv.padding,
                                                                                            conv.output_padding,
                                                                                            conv.dilation};
    const size_t lists = transposed ? 4 : 3;
    for (size_t l = 0; l < lists; l++) {
        size_t count;
        TAPER_TRY(taper_arg_ints(call, 2 + l, rank, rank, (transposed ? turned : plain)[l] + missing, &count));
    }
    TAPER_TRY(taper_arg_int(call, 2 + lists, &conv.groups));
    if (weight->dtype != TAPER_QI8 || weight->rank != rank + 2) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                   "argument '%s' should be qint8 with %zu dimensions but is %s of sizes %s", taper_arg_name(call, 0),
                   rank + 2, taper_dtype_torch_name((taper_dtype)weight->dtype), TAPER_SHAPE(weight));
    }
    if (rank == 1) {
        const taper_tensor image =
            taper_tensor_twin(weight, 4, (const int64_t[]){weight->sizes[0], weight->sizes[1], 1, weight->sizes[2]},
                              (const int64_t[]){weight->strides[0], weight->strides[1], 0, weight->strides[2]});
        int64_t strides[4];
        taper_strides_channels_last(4, image.sizes, strides);
        TAPER_TRY(relaid(run, &image, strides, &kept));
    } else {
        TAPER_TRY(channels_last(run, weight, &kept));
    }
    taper_object *object = NULL;
    taper_qconv_params params;
    taper_status status = taper_qconv_make(run, kept, bias, &conv, &object);
    if (status == TAPER_OK) {
        status = taper_qconv_open(run, object, conv.rank, &params);
        if (status != TAPER_OK) {
            taper_val_release(TAPER_VAL(object));
        }
    }
    taper_tensor_drop(kept);
    return finish(call, status, object);
}

TAPER_KERNEL(taper_op_qconv1d_prepack)
{
    return prepack_conv(call, 1, false);
}

TAPER_KERNEL(taper_op_qconv2d_prepack)
{
    return prepack_conv(call, 2, false);
}

TAPER_KERNEL(taper_op_qconv3d_prepack)
{
    return prepack_conv(call, 3, false);
}

TAPER_KERNEL(taper_op_qconv_transpose1d_prepack)
{
    return prepack_conv(call, 1, true);
}

TAPER_KERNEL(taper_op_qconv_transpose2d_prepack)
{
    return prepack_conv(call, 2, true);
}

TAPER_KERNEL(taper_op_qconv_transpose3d_prepack)
{
    return prepack_conv(call, 3, true);
}

// Opens argument 0, the packed parameters of a convolution over two or three dimensions.
static taper_status open_conv(taper_call *call, taper_qconv_params *params)
{
    taper_object *object;
    TAPER_TRY(taper_arg_object(call, 0, &object));
    return taper_qconv_open(call->run, object, 0, params);
}

TAPER_KERNEL(taper_op_qconv_unpack)
{
    taper_qconv_params params;
    taper_tensor *weight;
    TAPER_TRY(open_conv(call, &params));
    TAPER_TRY(channels_last(call->run, params.weight, &weight));
    taper_ret(call, 0, TAPER_VAL(weight));
    return return_bias(call, params.bias, params.out, true);
}

TAPER_KERNEL(taper_op_qconv1d_unpack)
{
    taper_qconv_params params;
    taper_tensor *weight;
    TAPER_TRY(open_conv(call, &params));
    const taper_tensor *w = params.weight;
    if (w->rank != 4 || w->sizes[2] != 1) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument '%s' holds no convolution of one dimension: the sizes of its weight are %s",
                   taper_arg_name(call, 0), TAPER_SHAPE(w));
    }
    const taper_tensor line = taper_tensor_twin(w, 3, (const int64_t[]){w->sizes[0], w->sizes[1], w->sizes[3]},
                                                (const int64_t[]){w->strides[0], w->strides[1], w->strides[3]});
    TAPER_TRY(relaid(call->run, &line, NULL, &weight));
    taper_ret(call, 0, TAPER_VAL(weight));
    return return_bias(call, params.bias, params.out, true);
}

// ---- the object's attributes

static taper_status int_list(taper_run *run, const int64_t *numbers, size_t count, taper_val *value)
{
    taper_list *list = taper_list_new(run->heap, &taper_type_int, count);
    if (list == NULL) {
        return taper_fail_memory(run->error);
    }
    for (size_t i = 0; i < count; i++) {
        const taper_status status = taper_list_append(list, taper_val_int(numbers[i]), run->error);
        if (status != TAPER_OK) {
            taper_val_release(TAPER_VAL(list));
            return status;
        }
    }
    *value = TAPER_VAL(list);
    return TAPER_OK;
}

static taper_status return_ints(taper_call *call, const int64_t *numbers, size_t count)
{
    taper_val value;
    TAPER_TRY(int_list(call->run, numbers, count, &value));
    taper_ret(call, 0, value);
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_qconv_stride)
{
    taper_qconv_params params;
    TAPER_TRY(open_conv(call, &params));
    return return_ints(call, params.conv.stride, params.conv.rank);
}

TAPER_KERNEL(taper_op_qconv_padding)
{
    taper_qconv_params params;
    TAPER_TRY(open_conv(call, &params));
    return return_ints(call, params.conv.padding, params.conv.rank);
}

TAPER_KERNEL(taper_op_qconv_output_padding)
{
    taper_qconv_params params;
    TAPER_TRY(open_conv(call, &params));
    return return_ints(call, params.conv.output_padding, params.conv.rank);
}

TAPER_KERNEL(taper_op_qconv_dilation)
{
    taper_qconv_params params;
    TAPER_TRY(open_conv(call, &params));
    return return_ints(call, params.conv.dilation, params.conv.rank);
}

TAPER_KERNEL(taper_op_qconv_groups)
{
    taper_qconv_params params;
    TAPER_TRY(open_conv(call, &params));
    taper_ret(call, 0, taper_val_int(params.conv.groups));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_qconv_transpose)
{
    taper_qconv_params params;
    TAPER_TRY(open_conv(call, &params));
    taper_ret(call, 0, taper_val_int(params.conv.transposed ? 1 : 0));
    return TAPER_OK;
}

// Returns (sizes of the weight, sizes of the bias, stride, padding, dilation, groups), for tools that inspect models.
TAPER_KERNEL(taper_op_qconv_unpack_sizes)
{
    taper_run *run = call->run;
    taper_qconv_params params;
    TAPER_TRY(open_conv(call, &params));
    taper_tuple *tuple = taper_tuple_new(run->heap, NULL, 6);
    if (tuple == NULL) {
        return taper_fail_memory(run->error);
    }
    const taper_conv_params *conv = &params.conv;
    const int64_t *const lists[] = {params.weight->sizes, &params.out, conv->stride, conv->padding, conv->dilation};
    const size_t counts[] = {params.weight->rank, 1, conv->rank, conv->rank, conv->rank};
    for (size_t i = 0; i < 5; i++) {
        const taper_status status = int_list(run, lists[i], counts[i], &tuple->items[i]);
        if (status != TAPER_OK) {
            taper_val_release(TAPER_VAL(tuple));
            return status;
        }
    }
    tuple->items[5] = taper_val_int(conv->groups);
    taper_ret(call, 0, TAPER_VAL(tuple));
    return TAPER_OK;
}
