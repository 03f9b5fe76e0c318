// SPDX-License-Identifier: BSD-2-Clause
// Lowers operations that move elements. If the result has another quantizer than the input, the result is quantized
// again.
#include "frontend/nnapi/codes.h"
#include "frontend/nnapi/lowering.h"
#include "ops/engine/matmul.h"

taper_status taper_nnapi_lower_reshape(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    int64_t sizes[TAPER_MAX_RANK];
    size_t rank;
    taper_ir_value *x, *list, *y;
    TAPER_TRY(taper_nnapi_ints_of(l, op->in[1], TAPER_MAX_RANK, sizes, &rank));
    TAPER_TRY(taper_nnapi_plain(l, op->in[0], &x));
    TAPER_TRY(taper_nnapi_int_list(l, sizes, rank, &list));
    TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_reshape), &y, x, list));
    return taper_nnapi_give_moved(l, op, 0, y, false);
}

taper_status taper_nnapi_lower_expand_dims(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    size_t axis = 0;
    taper_ir_value *x, *dim, *y;
    TAPER_TRY(taper_nnapi_axis_of(l, op->in[1], taper_nnapi_operand_of(l, op->in[0])->rank + 1u, &axis));
    TAPER_TRY(taper_nnapi_plain(l, op->in[0], &x));
    TAPER_TRY(taper_nnapi_constant(l, taper_val_int((int64_t)axis), &dim));
    TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_unsqueeze), &y, x, dim));
    return taper_nnapi_give_moved(l, op, 0, y, false);
}

// The inputs are x, begins, ends, steps, and three masks: begins to ignore, ends to ignore, dimensions to remove.
taper_status taper_nnapi_lower_strided_slice(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    const size_t rank = taper_nnapi_operand_of(l, op->in[0])->rank;
    int64_t numbers[3][TAPER_MAX_RANK], masks[3];
    taper_ir_value *x, *args[4];
    for (size_t i = 0; i < 3; i++) {
        size_t count;
        TAPER_TRY(taper_nnapi_ints_of(l, op->in[1 + i], TAPER_MAX_RANK, numbers[i], &count));
        TAPER_TRY(taper_nnapi_int_of(l, op->in[4 + i], &masks[i]));
        if (count != rank) {
            TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "%zu numbers for the slice of a tensor with %zu dimensions",
                       count, rank);
        }
    }
    if (masks[2] != 0) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_UNSUPPORTED, "a slice that drops dimensions");
    }
    bool image;
    TAPER_TRY(taper_nnapi_either(l, op->in[0], &x, &image));
    for (size_t d = 0; d < rank; d++) {
        const bool from_begin = (masks[0] >> d & 1) != 0, to_end = (masks[1] >> d & 1) != 0;
        const int64_t step = numbers[2][d];
        if (step < 1) {
            TAPER_FAIL(l->emit.error, TAPER_ERROR_UNSUPPORTED, "a slice with step %lld", (long long)step);
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
        TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_slice_Tensor), &x, x, args[0], args[1], args[2], args[3]));
    }
    return taper_nnapi_give_moved(l, op, 0, x, image);
}

// The inputs are x, begins, sizes. A size of -1 means everything up to the end.
taper_status taper_nnapi_lower_slice(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    const taper_nnapi_operand *in = taper_nnapi_operand_of(l, op->in[0]);
    int64_t begins[TAPER_MAX_RANK], sizes[TAPER_MAX_RANK];
    size_t begin_count, size_count;
    bool image;
    taper_ir_value *x;
    TAPER_TRY(taper_nnapi_ints_of(l, op->in[1], TAPER_MAX_RANK, begins, &begin_count));
    TAPER_TRY(taper_nnapi_ints_of(l, op->in[2], TAPER_MAX_RANK, sizes, &size_count));
    if (begin_count != in->rank || size_count != in->rank) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "%zu and %zu numbers for the slice of a tensor with %u dimensions",
                   begin_count, size_count, in->rank);
    }
    TAPER_TRY(taper_nnapi_either(l, op->in[0], &x, &image));
    for (size_t d = 0; d < in->rank; d++) {
        const int64_t known = in->sizes[d], size = sizes[d] == -1 ? known - begins[d] : sizes[d];
        // The size of x may be known only at run time. Then a slice up to the end of x is `open`, and the size of any
        // other slice is checked during the run.
        const bool open = known == 0 && sizes[d] == -1;
        if (begins[d] < 0 || (!open && size < 1) || (known != 0 && begins[d] + size > known)) {
            TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "%lld elements from %lld of %lld", (long long)sizes[d],
                       (long long)begins[d], (long long)known);
        }
        if (begins[d] != 0 || (!open && size != known)) {
            TAPER_TRY(taper_nnapi_cut(l, x, image ? taper_nnapi_image_dim(d) : d, begins[d],
                                      open ? INT64_MAX : begins[d] + size, 1, &x));
        }
    }
    return taper_nnapi_give_moved(l, op, 0, x, image);
}

// The inputs are x, axis, and the number of equal parts.
taper_status taper_nnapi_lower_split(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    const taper_nnapi_operand *in = taper_nnapi_operand_of(l, op->in[0]);
    int64_t parts;
    size_t axis = 0;
    bool image;
    taper_ir_value *x, *y;
    TAPER_TRY(taper_nnapi_axis_of(l, op->in[1], in->rank, &axis));
    TAPER_TRY(taper_nnapi_int_of(l, op->in[2], &parts));
    if (in->sizes[axis] == 0) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_UNSUPPORTED, "a split of an unknown size");
    }
    if (parts != op->out_count || in->sizes[axis] % parts != 0) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "%lld elements split into %lld parts, %u results",
                   (long long)in->sizes[axis], (long long)parts, op->out_count);
    }
    const int64_t each = in->sizes[axis] / parts;
    TAPER_TRY(taper_nnapi_either(l, op->in[0], &x, &image));
    for (uint32_t i = 0; i < op->out_count; i++) {
        TAPER_TRY(taper_nnapi_check_free(l, op->out[i]));
        TAPER_TRY(taper_nnapi_cut(l, x, image ? taper_nnapi_image_dim(axis) : axis, each * i, each * (i + 1), 1, &y));
        TAPER_TRY(taper_nnapi_give_moved(l, op, i, y, image));
    }
    return TAPER_OK;
}

// The inputs are x and the dimensions of size 1 to remove. By default all such dimensions are removed.
taper_status taper_nnapi_lower_squeeze(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    const taper_nnapi_operand *in = taper_nnapi_operand_of(l, op->in[0]);
    bool gone[TAPER_MAX_RANK], image;
    size_t count;
    taper_ir_value *x, *dim;
    TAPER_TRY(taper_nnapi_axes_of(l, op->in[1], in->rank, gone, &count));
    for (size_t d = 0; d < in->rank; d++) {
        if (in->sizes[d] == 0 && (count == 0 || gone[d])) {
            TAPER_FAIL(l->emit.error, TAPER_ERROR_UNSUPPORTED, "dimension %zu, of an unknown size, may go", d);
        }
        gone[d] = count == 0 ? in->sizes[d] == 1 : gone[d];
        if (gone[d] && in->sizes[d] != 1) {
            TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "dimension %zu of size %lld cannot go", d,
                       (long long)in->sizes[d]);
        }
    }
    TAPER_TRY(taper_nnapi_either(l, op->in[0], &x, &image));
    if (image && !taper_nnapi_keeps_order(gone)) {
        TAPER_TRY(taper_nnapi_plain(l, op->in[0], &x));
        image = false;
    }
    for (size_t d = in->rank; d-- > 0;) { // visits the dimensions of [N, C, H, W] from the last to the first
        const size_t from = image ? (d == 0 ? 0 : d == 1 ? 3 : d - 1) : d;
        if (gone[from]) {
            TAPER_TRY(taper_nnapi_constant(l, taper_val_int((int64_t)d), &dim));
            TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_squeeze_dim), &x, x, dim));
        }
    }
    return taper_nnapi_give_moved(l, op, 0, x, false);
}

// Reads the number that a PAD fills in, as a real number.
static taper_status find_filling(taper_nnapi_lowering *l, const taper_nnapi_operation *op, taper_val *value)
{
    const taper_nnapi_operand *in = taper_nnapi_operand_of(l, op->in[0]);
    double number = 0.0;
    *value = taper_val_int(0);
    if (op->code == TAPER_NNAPI_PAD) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_nnapi_number_of(l, op->in[2], &number));
    const bool real = taper_nnapi_operand_of(l, op->in[2])->type == TAPER_NNAPI_FLOAT32;
    if (taper_nnapi_is_quantized(l, op->in[0])) {
        if (real || number < 0.0 || number > 255.0) {
            TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "8-bit integers are padded with %g", number);
        }
        number = (number - in->zero_point) * (double)in->scale;
    }
    *value = taper_val_double(number);
    return TAPER_OK;
}

// The inputs are x, [rank, 2] paddings, and the number to fill in.
taper_status taper_nnapi_lower_pad(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    const taper_nnapi_operand *in = taper_nnapi_operand_of(l, op->in[0]);
    int64_t numbers[2 * TAPER_MAX_RANK], pads[2 * TAPER_MAX_RANK];
    size_t count, needed = 0;
    bool image;
    taper_val filling;
    taper_ir_value *x, *y, *list, *value;
    TAPER_TRY(taper_nnapi_ints_of(l, op->in[1], 2 * TAPER_MAX_RANK, numbers, &count));
    if (count != 2 * (size_t)in->rank) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "%zu paddings for %u dimensions", count, in->rank);
    }
    if (in->type == TAPER_NNAPI_TENSOR_INT32) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_UNSUPPORTED, "integers are padded");
    }
    TAPER_TRY(find_filling(l, op, &filling));
    TAPER_TRY(taper_nnapi_either(l, op->in[0], &x, &image));
    for (size_t d = 0; d < in->rank; d++) { // PyTorch's list of paddings begins with the last dimension
        const size_t to = 2 * (in->rank - 1 - (image ? taper_nnapi_image_dim(d) : d));
        if (numbers[2 * d] < 0 || numbers[2 * d + 1] < 0) {
            TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "paddings %lld and %lld", (long long)numbers[2 * d],
                       (long long)numbers[2 * d + 1]);
        }
        memcpy(&pads[to], &numbers[2 * d], 2 * sizeof pads[0]);
        needed = (numbers[2 * d] != 0 || numbers[2 * d + 1] != 0) && to + 2 > needed ? to + 2 : needed;
    }
    TAPER_TRY(taper_nnapi_int_list(l, pads, needed, &list));
    TAPER_TRY(taper_nnapi_constant(l, filling, &value));
    TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_constant_pad_nd), &y, x, list, value));
    return taper_nnapi_give_moved(l, op, 0, y, image);
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
        TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(quantized_cat), &y, list, dim, scale, zero));
    } else {
        TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_cat), &y, list, dim));
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
            TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "%s is no order of %zu dimensions",
                       taper_shape_print(count, order).text, rank);
        }
        seen[order[i]] = true;
    }
    if (count != rank) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "no order of %zu dimensions", rank);
    }
    // This permutation of [N, C, H, W] gives the form of an image.
    if (rank == 4 && memcmp(order, last, sizeof last) == 0) {
        TAPER_TRY(taper_nnapi_plain(l, op->in[0], &x));
        return taper_nnapi_give_moved(l, op, 0, x, true);
    }
    if (rank == 4 && memcmp(order, first, sizeof first) == 0) {
        TAPER_TRY(taper_nnapi_image(l, op->in[0], false, &x));
        return taper_nnapi_give_moved(l, op, 0, x, false);
    }
    TAPER_TRY(taper_nnapi_plain(l, op->in[0], &x));
    TAPER_TRY(taper_nnapi_int_list(l, order, count, &list));
    TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_permute), &y, x, list));
    return taper_nnapi_give_moved(l, op, 0, y, false);
}
