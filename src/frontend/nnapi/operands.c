// SPDX-License-Identifier: BSD-2-Clause
// Makes values of the graph for operands: constants from the serialized model and its buffers, both orders of an
// image's dimensions, floats and 8-bit integers.
#include <math.h>

#include "frontend/nnapi/lowering.h"
#include "ir/tensor.h"
#include "ops/engine/matmul.h"

static bool is_short(uint32_t type)
{
    return type == TAPER_NNAPI_TENSOR_QUANT16_SYMM || type == TAPER_NNAPI_TENSOR_QUANT16_ASYMM;
}

bool taper_nnapi_is_quantized(const taper_nnapi_lowering *l, uint32_t at)
{
    return l->model->operands[at].type == TAPER_NNAPI_TENSOR_QUANT8_ASYMM;
}

bool taper_nnapi_same_quantizer(const taper_nnapi_lowering *l, uint32_t a, uint32_t b)
{
    const taper_nnapi_operand *x = &l->model->operands[a], *y = &l->model->operands[b];
    return x->type == y->type && x->scale == y->scale && x->zero_point == y->zero_point;
}

taper_status taper_nnapi_check_type(const taper_nnapi_lowering *l, uint32_t at)
{
    const taper_nnapi_operand *operand = taper_nnapi_operand_of(l, at);
    if (operand->type != TAPER_NNAPI_TENSOR_FLOAT32 && operand->type != TAPER_NNAPI_TENSOR_INT32 &&
        operand->type != TAPER_NNAPI_TENSOR_QUANT8_ASYMM && !is_short(operand->type)) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_UNSUPPORTED, "operand %u has type %u", at, operand->type);
    }
    const bool bytes = taper_nnapi_is_quantized(l, at);
    if ((bytes || is_short(operand->type)) &&
        (!(operand->scale > 0.0f) || isinf(operand->scale) || operand->zero_point < (bytes ? 0 : INT16_MIN) ||
         operand->zero_point > (bytes ? UINT8_MAX : INT16_MAX))) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "operand %u has the scale %g and the zero point %ld", at,
                   (double)operand->scale, (long)operand->zero_point);
    }
    return TAPER_OK;
}

taper_status taper_nnapi_check_free(const taper_nnapi_lowering *l, uint32_t at)
{
    if (l->values[at].plain != NULL || l->values[at].image != NULL || taper_nnapi_is_constant(l, at)) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "operand %u has a value already", at);
    }
    return TAPER_OK;
}

// ---- operands with 16 bits

static taper_status with_number(taper_nnapi_lowering *l, const taper_op *op, taper_ir_value *x, taper_val number,
                                taper_ir_value **made)
{
    taper_ir_value *constant;
    TAPER_TRY(taper_nnapi_constant(l, number, &constant));
    return TAPER_NNAPI_EMIT(l, op, made, x, constant);
}

taper_dtype taper_nnapi_dtype(uint32_t type)
{
    return type == TAPER_NNAPI_TENSOR_QUANT8_ASYMM ? TAPER_QU8
           : is_short(type)                        ? TAPER_I16
           : type == TAPER_NNAPI_TENSOR_INT32      ? TAPER_I32
                                                   : TAPER_F32;
}

taper_status taper_nnapi_from_tensor(taper_nnapi_lowering *l, uint32_t at, taper_ir_value *tensor,
                                     taper_ir_value **value)
{
    const taper_nnapi_operand *operand = taper_nnapi_operand_of(l, at);
    const taper_val scale = taper_val_double((double)operand->scale), zero = taper_val_int(operand->zero_point);
    *value = tensor;
    if (is_short(operand->type)) {
        TAPER_TRY(with_number(l, TAPER_OP(aten_to_dtype), tensor, taper_val_int(TAPER_F32), value));
        TAPER_TRY(with_number(l, TAPER_OP(aten_sub_Scalar), *value, zero, value));
        return with_number(l, TAPER_OP(aten_mul_Scalar), *value, scale, value);
    }
    return TAPER_OK;
}

taper_status taper_nnapi_to_tensor(taper_nnapi_lowering *l, uint32_t at, taper_ir_value *value, taper_ir_value **tensor)
{
    const taper_nnapi_operand *operand = taper_nnapi_operand_of(l, at);
    *tensor = value;
    if (taper_nnapi_is_quantized(l, at) && l->values[at].scale != l->values[at].wanted) {
        taper_ir_value *scale, *zero;
        TAPER_TRY(taper_nnapi_quantizer(l, at, &scale, &zero));
        TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_int_repr), tensor, value));
        return TAPER_NNAPI_EMIT(l, TAPER_OP(aten__make_per_tensor_quantized_tensor), tensor, *tensor, scale, zero);
    }
    if (is_short(operand->type)) {
        TAPER_TRY(with_number(l, TAPER_OP(aten_div_Scalar), value, taper_val_double((double)operand->scale), tensor));
        TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_round), tensor, *tensor));
        TAPER_TRY(with_number(l, TAPER_OP(aten_add_Scalar), *tensor, taper_val_int(operand->zero_point), tensor));
        return with_number(l, TAPER_OP(aten_to_dtype), *tensor, taper_val_int(TAPER_I16), tensor);
    }
    return TAPER_OK;
}

// Rounds x to the values that 16 bits can represent.
static taper_status rounded_to_short(taper_nnapi_lowering *l, const taper_nnapi_operand *operand, taper_ir_value *x,
                                     taper_ir_value **made)
{
    const taper_val numbers[4] = {taper_val_double((double)operand->scale), taper_val_int(operand->zero_point),
                                  taper_val_int(INT16_MIN), taper_val_int(INT16_MAX)};
    taper_ir_value *args[4];
    for (size_t i = 0; i < 4; i++) {
        TAPER_TRY(taper_nnapi_constant(l, numbers[i], &args[i]));
    }
    return TAPER_NNAPI_EMIT(l, TAPER_OP(aten_fake_quantize_per_tensor_affine), made, x, args[0], args[1], args[2],
                            args[3]);
}

// ---- constants

// Finds the bytes of a constant. *owner: the tensor that contains the bytes, or NULL if the serialized model contains
// them. The tensor need not be contiguous.
static taper_status constant_bytes(const taper_nnapi_lowering *l, uint32_t at, const uint8_t **data,
                                   taper_tensor **owner)
{
    const taper_nnapi_operand *operand = taper_nnapi_operand_of(l, at);
    *owner = NULL;
    if (operand->source == TAPER_NNAPI_IMMEDIATE) {
        *data = operand->data;
        return TAPER_OK;
    }
    if (operand->source == TAPER_NNAPI_NOTHING) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_UNSUPPORTED, "operand %u, which should be a constant, is computed", at);
    }
    if (operand->buffer >= l->buffers->count || l->buffers->items[operand->buffer].tag != TAPER_TENSOR) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "operand %u is in buffer %u, there are %zu", at, operand->buffer,
                   l->buffers->count);
    }
    taper_tensor *tensor = l->buffers->items[operand->buffer].as.tensor;
    const size_t bytes = (size_t)taper_tensor_numel(tensor) * taper_tensor_item(tensor);
    if (!taper_tensor_is_contiguous(tensor) || taper_tensor_is_away(tensor)) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_UNSUPPORTED, "buffer %u is not contiguous", operand->buffer);
    }
    if (operand->offset > bytes || operand->bytes > bytes - operand->offset) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "operand %u lies outside of buffer %u (%zu bytes)", at,
                   operand->buffer, bytes);
    }
    *data = (const uint8_t *)taper_tensor_data(tensor) + operand->offset;
    *owner = tensor;
    return TAPER_OK;
}

taper_status taper_nnapi_tensor(taper_nnapi_lowering *l, uint32_t at, const uint8_t *order, taper_tensor **tensor)
{
    const taper_nnapi_operand *operand = taper_nnapi_operand_of(l, at);
    const uint8_t *data;
    taper_tensor *owner;
    TAPER_TRY(taper_nnapi_check_type(l, at));
    TAPER_TRY(constant_bytes(l, at, &data, &owner));
    const taper_dtype dtype = taper_nnapi_dtype(operand->type);
    const size_t item = taper_dtype_size(dtype);
    int64_t strides[TAPER_MAX_RANK], sizes[TAPER_MAX_RANK], steps[TAPER_MAX_RANK];
    TAPER_TRY(taper_tensor_check_sizes(dtype, operand->rank, operand->sizes, l->emit.error));
    size_t bytes = item;
    for (uint32_t d = 0; d < operand->rank; d++) {
        bytes *= (size_t)operand->sizes[d]; // cannot overflow, because the product was checked
    }
    if (bytes != operand->bytes) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "operand %u has %zu bytes, its sizes are %s", at, operand->bytes,
                   taper_shape_print(operand->rank, operand->sizes).text);
    }
    taper_strides_contiguous(operand->rank, operand->sizes, strides);
    for (uint32_t d = 0; d < operand->rank; d++) {
        const size_t from = order != NULL ? order[d] : d;
        sizes[d] = operand->sizes[from];
        steps[d] = strides[from];
    }
    const bool aligned = (uintptr_t)data % item == 0;
    if (owner != NULL && aligned && bytes != 0 && !l->copies) {
        const size_t offset = (size_t)(data - (const uint8_t *)owner->storage->data);
        TAPER_TRY(taper_tensor_view(l->emit.heap, owner->storage, dtype, (int64_t)(offset / item), operand->rank, sizes,
                                    steps, tensor, l->emit.error));
    } else {
        TAPER_TRY(taper_tensor_new(l->emit.heap, dtype, operand->rank, sizes, order != NULL ? steps : NULL, tensor,
                                   l->emit.error));
        if (bytes != 0) {
            memcpy(taper_tensor_mutable(*tensor), data, bytes);
        }
    }
    if (dtype == TAPER_QU8) {
        const taper_quantizer q = {
            .scheme = TAPER_PER_TENSOR_AFFINE, .scale = (double)operand->scale, .zero_point = operand->zero_point};
        const taper_status status = taper_tensor_set_quantizer(*tensor, &q, l->emit.error);
        if (status != TAPER_OK) {
            taper_val_release(TAPER_VAL(*tensor));
            return status;
        }
    }
    return TAPER_OK;
}

taper_status taper_nnapi_ints_of(taper_nnapi_lowering *l, uint32_t at, size_t limit, int64_t *numbers, size_t *count)
{
    const taper_nnapi_operand *operand = taper_nnapi_operand_of(l, at);
    const uint8_t *data;
    taper_tensor *owner;
    TAPER_TRY(constant_bytes(l, at, &data, &owner));
    const size_t item = operand->type == TAPER_NNAPI_BOOL ? 1 : 4;
    const bool ints = operand->type == TAPER_NNAPI_INT32 || operand->type == TAPER_NNAPI_UINT32 ||
                      operand->type == TAPER_NNAPI_BOOL || operand->type == TAPER_NNAPI_TENSOR_INT32;
    *count = operand->bytes / item;
    if (!ints || operand->bytes % item != 0 || *count > limit) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "operand %u should hold at most %zu ints", at, limit);
    }
    for (size_t i = 0; i < *count; i++) {
        int32_t number = data[i];
        if (item == 4) {
            memcpy(&number, data + 4 * i, 4);
        }
        numbers[i] = number;
    }
    return TAPER_OK;
}

taper_status taper_nnapi_int_of(taper_nnapi_lowering *l, uint32_t at, int64_t *number)
{
    size_t count;
    *number = 0;
    TAPER_TRY(taper_nnapi_ints_of(l, at, 1, number, &count));
    if (count != 1) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "operand %u should be one int", at);
    }
    return TAPER_OK;
}

taper_status taper_nnapi_number_of(taper_nnapi_lowering *l, uint32_t at, double *number)
{
    int64_t whole;
    const taper_nnapi_operand *operand = taper_nnapi_operand_of(l, at);
    if (operand->type != TAPER_NNAPI_FLOAT32) {
        TAPER_TRY(taper_nnapi_int_of(l, at, &whole));
        *number = (double)whole;
        return TAPER_OK;
    }
    const uint8_t *data;
    taper_tensor *owner;
    float real;
    TAPER_TRY(constant_bytes(l, at, &data, &owner));
    if (operand->bytes != sizeof real) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "operand %u should be one number", at);
    }
    memcpy(&real, data, sizeof real);
    *number = (double)real;
    return TAPER_OK;
}

taper_status taper_nnapi_axis_of(taper_nnapi_lowering *l, uint32_t at, size_t rank, size_t *axis)
{
    int64_t number;
    TAPER_TRY(taper_nnapi_int_of(l, at, &number));
    number += number < 0 ? (int64_t)rank : 0;
    if (number < 0 || number >= (int64_t)rank) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "axis %lld of a tensor with %zu dimensions", (long long)number,
                   rank);
    }
    *axis = (size_t)number;
    return TAPER_OK;
}

taper_status taper_nnapi_axes_of(taper_nnapi_lowering *l, uint32_t at, size_t rank, bool axes[TAPER_MAX_RANK],
                                 size_t *count)
{
    int64_t numbers[TAPER_MAX_RANK];
    memset(axes, 0, TAPER_MAX_RANK * sizeof *axes);
    TAPER_TRY(taper_nnapi_ints_of(l, at, TAPER_MAX_RANK, numbers, count));
    for (size_t i = 0; i < *count; i++) {
        const int64_t axis = numbers[i] < 0 ? numbers[i] + (int64_t)rank : numbers[i];
        if (axis < 0 || axis >= (int64_t)rank) {
            TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "axis %lld of a tensor with %zu dimensions",
                       (long long)numbers[i], rank);
        }
        axes[axis] = true;
    }
    return TAPER_OK;
}

// ---- values

static taper_status permuted(taper_nnapi_lowering *l, taper_ir_value *value, const int64_t *order,
                             taper_ir_value **made)
{
    taper_ir_value *dims;
    TAPER_TRY(taper_nnapi_int_list(l, order, 4, &dims));
    return TAPER_NNAPI_EMIT(l, TAPER_OP(aten_permute), made, value, dims);
}

taper_status taper_nnapi_plain(taper_nnapi_lowering *l, uint32_t at, taper_ir_value **value)
{
    static const int64_t last[4] = {0, 2, 3, 1};
    taper_nnapi_value *known = &l->values[at];
    TAPER_TRY(taper_nnapi_check_type(l, at));
    if (known->plain == NULL && known->image != NULL) {
        TAPER_TRY(permuted(l, known->image, last, &known->plain));
    } else if (known->plain == NULL && taper_nnapi_is_constant(l, at)) {
        taper_tensor *tensor;
        TAPER_TRY(taper_nnapi_tensor(l, at, NULL, &tensor));
        TAPER_TRY(taper_nnapi_constant(l, TAPER_VAL(tensor), &known->plain));
        if (is_short(taper_nnapi_operand_of(l, at)->type)) {
            TAPER_TRY(taper_nnapi_from_tensor(l, at, known->plain, &known->plain));
        }
    } else if (known->plain == NULL) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "operand %u is needed before it is computed", at);
    }
    *value = known->plain;
    return TAPER_OK;
}

taper_status taper_nnapi_image(taper_nnapi_lowering *l, uint32_t at, bool nchw, taper_ir_value **value)
{
    static const int64_t first[4] = {0, 3, 1, 2};
    taper_nnapi_value *known = &l->values[at];
    if (taper_nnapi_operand_of(l, at)->rank != 4) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "operand %u is no image: it has %u dimensions", at,
                   taper_nnapi_operand_of(l, at)->rank);
    }
    if (nchw || known->image == NULL) {
        TAPER_TRY(taper_nnapi_plain(l, at, value));
        if (nchw) {
            return TAPER_OK;
        }
        TAPER_TRY(permuted(l, *value, first, &known->image));
    }
    TAPER_TRY(taper_nnapi_check_type(l, at));
    *value = known->image;
    return TAPER_OK;
}

taper_status taper_nnapi_low_image(taper_nnapi_lowering *l, uint32_t at, taper_ir_value **value)
{
    taper_tensor *low, *image;
    TAPER_TRY(taper_nnapi_tensor(l, at, NULL, &low));
    const int64_t all = taper_tensor_numel(low);
    int64_t sizes[4] = {1, 1, 1, 1}, strides[4] = {all, all, all, all};
    for (size_t d = 4 - low->rank; d < 4; d++) {
        sizes[taper_nnapi_image_dim(d)] = low->sizes[d + low->rank - 4];
        strides[taper_nnapi_image_dim(d)] = taper_tensor_step(low, d + low->rank - 4);
    }
    const taper_status status =
        taper_tensor_alias(l->emit.heap, low, low->offset, 4, sizes, strides, &image, l->emit.error);
    taper_val_release(TAPER_VAL(low));
    return status == TAPER_OK ? taper_nnapi_constant(l, TAPER_VAL(image), value) : status;
}

taper_status taper_nnapi_either(taper_nnapi_lowering *l, uint32_t at, taper_ir_value **value, bool *image)
{
    *image = l->values[at].plain == NULL && l->values[at].image != NULL;
    return *image ? taper_nnapi_image(l, at, false, value) : taper_nnapi_plain(l, at, value);
}

taper_status taper_nnapi_floats(taper_nnapi_lowering *l, uint32_t at, taper_ir_value *value, taper_ir_value **floats)
{
    *floats = value;
    return taper_nnapi_is_quantized(l, at) ? TAPER_NNAPI_EMIT(l, TAPER_OP(aten_dequantize_self), floats, value)
                                           : TAPER_OK;
}

taper_status taper_nnapi_give(taper_nnapi_lowering *l, uint32_t at, taper_ir_value *value, bool is_float, bool is_image)
{
    const taper_nnapi_operand *operand = taper_nnapi_operand_of(l, at);
    TAPER_TRY(taper_nnapi_check_type(l, at));
    if (taper_nnapi_is_quantized(l, at) && is_float) {
        taper_ir_value *scale, *zero, *dtype;
        TAPER_TRY(taper_nnapi_quantizer(l, at, &scale, &zero));
        TAPER_TRY(taper_nnapi_constant(l, taper_val_int(TAPER_QU8), &dtype));
        TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_quantize_per_tensor), &value, value, scale, zero, dtype));
    } else if (!taper_nnapi_is_quantized(l, at) && !is_float) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "operand %u has type %u, what is computed has 8 bits", at,
                   operand->type);
    }
    if (is_short(operand->type)) {
        TAPER_TRY(rounded_to_short(l, operand, value, &value));
    }
    taper_nnapi_give_view(l, at, at, value, is_image);
    return TAPER_OK;
}

void taper_nnapi_give_view(taper_nnapi_lowering *l, uint32_t at, uint32_t of, taper_ir_value *value, bool is_image)
{
    const uint32_t storage = of == at ? at : l->values[of].storage;
    taper_nnapi_give_kept(l, at, of, value, is_image);
    l->values[at].storage = storage;
}

taper_status taper_nnapi_give_moved(taper_nnapi_lowering *l, const taper_nnapi_operation *op, uint32_t out,
                                    taper_ir_value *value, bool is_image)
{
    const uint32_t from = op->in[0], to = op->out[out];
    if (taper_nnapi_operand_of(l, from)->type == taper_nnapi_operand_of(l, to)->type &&
        (!taper_nnapi_is_quantized(l, from) || taper_nnapi_same_quantizer(l, from, to))) {
        taper_nnapi_give_view(l, to, from, value, is_image);
        return TAPER_OK;
    }
    TAPER_TRY(taper_nnapi_floats(l, from, value, &value));
    return taper_nnapi_give(l, to, value, true, is_image);
}

void taper_nnapi_give_kept(taper_nnapi_lowering *l, uint32_t at, uint32_t of, taper_ir_value *value, bool is_image)
{
    taper_nnapi_value *known = &l->values[at];
    known->plain = is_image ? NULL : value;
    known->image = is_image ? value : NULL;
    known->storage = at;
    known->scale = of == at ? known->wanted : l->values[of].scale;
}

taper_status taper_nnapi_quantizer(taper_nnapi_lowering *l, uint32_t at, taper_ir_value **scale,
                                   taper_ir_value **zero_point)
{
    TAPER_TRY(taper_nnapi_constant(l, taper_val_double(l->values[at].wanted), scale));
    return taper_nnapi_constant(l, taper_val_int(taper_nnapi_operand_of(l, at)->zero_point), zero_point);
}
