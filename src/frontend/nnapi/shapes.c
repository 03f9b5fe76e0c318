// SPDX-License-Identifier: BSD-2-Clause
// Operations that move elements. Where the result has another quantizer than the input, it is quantized anew.
#include "frontend/nnapi/codes.h"
#include "frontend/nnapi/lowering.h"
#include "ops/engine/matmul.h"

// value, made of operand in without computing anything, as the result.
static taper_status give_moved(taper_nnapi_lowering *l, const taper_nnapi_operation *op, taper_ir_value *value,
                               bool image)
{
    if (taper_nnapi_operand_of(l, op->in[0])->type == taper_nnapi_operand_of(l, op->out[0])->type &&
        (!taper_nnapi_is_quantized(l, op->in[0]) || taper_nnapi_same_quantizer(l, op->in[0], op->out[0]))) {
        taper_nnapi_give_view(l, op->out[0], op->in[0], value, image);
        return TAPER_OK;
    }
    TAPER_TRY(taper_nnapi_floats(l, op->in[0], value, &value));
    return taper_nnapi_give(l, op->out[0], value, true, image);
}

taper_status taper_nnapi_lower_reshape(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    int64_t sizes[TAPER_MAX_RANK];
    size_t rank;
    taper_ir_value *x, *list, *y;
    TAPER_TRY(taper_nnapi_ints_of(l, op->in[1], TAPER_MAX_RANK, sizes, &rank));
    TAPER_TRY(taper_nnapi_plain(l, op->in[0], &x));
    TAPER_TRY(taper_nnapi_int_list(l, sizes, rank, &list));
    TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_reshape), &y, x, list));
    return give_moved(l, op, y, false);
}

taper_status taper_nnapi_lower_expand_dims(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    size_t axis = 0;
    taper_ir_value *x, *dim, *y;
    TAPER_TRY(taper_nnapi_axis_of(l, op->in[1], taper_nnapi_operand_of(l, op->in[0])->rank + 1u, &axis));
    TAPER_TRY(taper_nnapi_plain(l, op->in[0], &x));
    TAPER_TRY(taper_nnapi_constant(l, taper_val_int((int64_t)axis), &dim));
    TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_unsqueeze), &y, x, dim));
    return give_moved(l, op, y, false);
}

// x, begins, ends, steps, masks: whose begin, whose end is the dimension's own, which dimensions go
taper_status taper_nnapi_lower_slice(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    const size_t rank = taper_nnapi_operand_of(l, op->in[0])->rank;
    int64_t numbers[3][TAPER_MAX_RANK], masks[3];
    taper_ir_value *x, *args[4];
    for (size_t i = 0; i < 3; i++) {
        size_t count;
        TAPER_TRY(taper_nnapi_ints_of(l, op->in[1 + i], TAPER_MAX_RANK, numbers[i], &count));
        TAPER_TRY(taper_nnapi_int_of(l, op->in[4 + i], &masks[i]));
        if (count != rank) {
            TAPER_FAIL(l->error, TAPER_ERROR_FILE, "%zu numbers for the slice of a tensor with %zu dimensions", count,
                       rank);
        }
    }
    if (masks[2] != 0) {
        TAPER_FAIL(l->error, TAPER_ERROR_UNSUPPORTED, "a slice that drops dimensions");
    }
    const bool image = l->values[op->in[0]].plain == NULL && l->values[op->in[0]].image != NULL;
    TAPER_TRY(image ? taper_nnapi_image(l, op->in[0], false, &x) : taper_nnapi_plain(l, op->in[0], &x));
    for (size_t d = 0; d < rank; d++) {
        const bool from_begin = (masks[0] >> d & 1) != 0, to_end = (masks[1] >> d & 1) != 0;
        const int64_t step = numbers[2][d];
        if (step < 1) {
            TAPER_FAIL(l->error, TAPER_ERROR_UNSUPPORTED, "a slice with step %lld", (long long)step);
        }
        if ((from_begin || numbers[0][d] == 0) && (to_end || numbers[1][d] == INT32_MAX) && step == 1) {
            continue;
        }
        const taper_val values[4] = {taper_val_int((int64_t)(image ? taper_nnapi_image_dim(d) : d)),
                                     from_begin ? taper_val_none() : taper_val_int(numbers[0][d]),
                                     to_end ? taper_val_none() : taper_val_int(numbers[1][d]), taper_val_int(step)};
        for (size_t i = 0; i < 4; i++) {
            TAPER_TRY(taper_nnapi_constant(l, values[i], &args[i]));
        }
        TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_slice_Tensor), &x, x, args[0], args[1], args[2], args[3]));
    }
    return give_moved(l, op, x, image);
}

taper_status taper_nnapi_lower_concat(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    const uint32_t count = op->in_count - 1;
    const size_t rank = taper_nnapi_operand_of(l, op->in[0])->rank;
    bool image = rank == 4, integers = taper_nnapi_is_quantized(l, op->out[0]);
    size_t axis = 0;
    taper_ir_value *list, *dim, *scale, *zero, *y;
    taper_ir_value **items;
    TAPER_TRY(taper_nnapi_axis_of(l, op->in[count], rank, &axis));
    for (uint32_t i = 0; i < count; i++) {
        image = image && l->values[op->in[i]].image != NULL && taper_nnapi_operand_of(l, op->in[i])->rank == 4;
        integers = integers && taper_nnapi_same_quantizer(l, op->in[i], op->out[0]);
    }
    TAPER_TRY(taper_nnapi_values(l, count, &items));
    for (uint32_t i = 0; i < count; i++) {
        TAPER_TRY(image ? taper_nnapi_image(l, op->in[i], false, &items[i])
                        : taper_nnapi_plain(l, op->in[i], &items[i]));
        if (!integers) {
            TAPER_TRY(taper_nnapi_floats(l, op->in[i], items[i], &items[i]));
        }
    }
    TAPER_TRY(taper_nnapi_list(l, &taper_type_list_tensor, items, count, &list));
    TAPER_TRY(taper_nnapi_constant(l, taper_val_int((int64_t)(image ? taper_nnapi_image_dim(axis) : axis)), &dim));
    if (integers) {
        TAPER_TRY(taper_nnapi_quantizer(l, op->out[0], &scale, &zero));
        TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(quantized_cat), &y, list, dim, scale, zero));
    } else {
        TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_cat), &y, list, dim));
    }
    return taper_nnapi_give(l, op->out[0], y, !integers, image);
}

taper_status taper_nnapi_lower_transpose(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    static const int64_t last[4] = {0, 2, 3, 1}, first[4] = {0, 3, 1, 2};
    const size_t rank = taper_nnapi_operand_of(l, op->in[0])->rank;
    int64_t order[TAPER_MAX_RANK];
    bool seen[TAPER_MAX_RANK] = {false};
    size_t count;
    taper_ir_value *x, *list, *y;
    TAPER_TRY(taper_nnapi_ints_of(l, op->in[1], TAPER_MAX_RANK, order, &count));
    for (size_t i = 0; i < count; i++) {
        if (count != rank || order[i] < 0 || order[i] >= (int64_t)rank || seen[order[i]]) {
            TAPER_FAIL(l->error, TAPER_ERROR_FILE, "%s is no order of %zu dimensions",
                       taper_shape_print(count, order).text, rank);
        }
        seen[order[i]] = true;
    }
    if (count != rank) {
        TAPER_FAIL(l->error, TAPER_ERROR_FILE, "no order of %zu dimensions", rank);
    }
    if (rank == 4 && memcmp(order, last, sizeof last) == 0) { // [N, C, H, W] becomes an image
        TAPER_TRY(taper_nnapi_plain(l, op->in[0], &x));
        return give_moved(l, op, x, true);
    }
    if (rank == 4 && memcmp(order, first, sizeof first) == 0) {
        TAPER_TRY(taper_nnapi_image(l, op->in[0], false, &x));
        return give_moved(l, op, x, false);
    }
    TAPER_TRY(taper_nnapi_plain(l, op->in[0], &x));
    TAPER_TRY(taper_nnapi_int_list(l, order, count, &list));
    TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_permute), &y, x, list));
    return give_moved(l, op, y, false);
}
