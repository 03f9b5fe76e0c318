// SPDX-License-Identifier: BSD-2-Clause
// Operators of gradients that change the shape of a gradient: the opposite of broadcasting, reducing and permuting.
#include "ops/gradient/steps.h"

// Sums a gradient over the dimensions in which an argument was broadcast, and converts it to the argument's dtype.
TAPER_STEPS_KERNEL(taper_op_sum_to)
{
    taper_steps s;
    const taper_tensor *const like = call->args[1].as.tensor;
    const taper_tensor *const grad = call->args[0].as.tensor;
    taper_val value = call->args[0];
    int64_t dims[TAPER_MAX_RANK];
    size_t count = 0;
    taper_steps_begin(&s, call->run);
    const size_t more = grad->rank > like->rank ? (size_t)(grad->rank - like->rank) : 0;
    for (size_t d = 0; d < grad->rank; d++) {
        if (d < more || (like->sizes[d - more] == 1 && grad->sizes[d] != 1)) {
            dims[count++] = (int64_t)d;
        }
    }
    if (count != 0) {
        value = TAPER_STEP(&s, aten_sum_dim_IntList, value, taper_steps_ints(&s, dims, count), taper_val_bool(true));
    }
    if (more != 0) {
        value = TAPER_STEP(&s, aten_reshape, value, taper_steps_ints(&s, like->sizes, like->rank));
    }
    if (taper_dtype_is_complex((taper_dtype)grad->dtype) && !taper_dtype_is_complex((taper_dtype)like->dtype)) {
        value = TAPER_STEP(&s, aten_real, value);
    }
    const taper_tensor *const real = taper_steps_tensor(&s, value);
    if (real != NULL && real->dtype != like->dtype) {
        value = TAPER_STEP(&s, aten_to_dtype, value, taper_val_int(like->dtype));
    }
    taper_steps_ret(&s, call, 0, value);
    return taper_steps_end(&s);
}

// Reads a list of dimensions. None and an empty list stand for all dimensions.
static taper_status read_dims(taper_call *call, size_t at, size_t rank, bool *reduced)
{
    int64_t dims[TAPER_MAX_RANK];
    size_t count = 0;
    if (!taper_arg_is_none(call, at)) {
        TAPER_TRY(taper_arg_ints(call, at, 0, TAPER_MAX_RANK, dims, &count));
    }
    for (size_t d = 0; d < rank; d++) {
        reduced[d] = count == 0;
    }
    for (size_t i = 0; i < count; i++) {
        const int64_t d = dims[i] < 0 ? dims[i] + (int64_t)rank : dims[i];
        if (d >= 0 && d < (int64_t)rank) {
            reduced[d] = true;
        }
    }
    return TAPER_OK;
}

// Gives a reduced tensor the dimensions of size 1 that the reduction removed.
static taper_val with_ones(taper_steps *s, taper_val value, const taper_tensor *like, const bool *reduced)
{
    int64_t sizes[TAPER_MAX_RANK];
    for (size_t d = 0; d < like->rank; d++) {
        sizes[d] = reduced[d] ? 1 : like->sizes[d];
    }
    return TAPER_STEP(s, aten_reshape, value, taper_steps_ints(s, sizes, like->rank));
}

TAPER_STEPS_KERNEL(taper_op_unsqueeze_like)
{
    taper_steps s;
    bool reduced[TAPER_MAX_RANK];
    const taper_tensor *const like = call->args[1].as.tensor;
    TAPER_TRY(read_dims(call, 2, like->rank, reduced));
    taper_steps_begin(&s, call->run);
    const bool same = call->args[0].as.tensor->rank == like->rank;
    taper_steps_ret(&s, call, 0, same ? call->args[0] : with_ones(&s, call->args[0], like, reduced));
    return taper_steps_end(&s);
}

// Gives each element of a reduced tensor back to the elements that were reduced to it.
TAPER_STEPS_KERNEL(taper_op_spread)
{
    taper_steps s;
    bool reduced[TAPER_MAX_RANK], keep;
    const taper_tensor *const like = call->args[1].as.tensor;
    TAPER_TRY(read_dims(call, 2, like->rank, reduced));
    TAPER_TRY(taper_arg_bool(call, 3, &keep));
    taper_steps_begin(&s, call->run);
    taper_val value = call->args[0];
    if (!keep && value.as.tensor->rank != like->rank) {
        value = with_ones(&s, value, like, reduced);
    }
    if (value.tag == TAPER_TENSOR && value.as.tensor->dtype != like->dtype) {
        value = TAPER_STEP(&s, aten_to_dtype, value, taper_val_int(like->dtype));
    }
    value = TAPER_STEP(&s, aten_expand, value, taper_steps_ints(&s, like->sizes, like->rank));
    taper_steps_ret(&s, call, 0, value);
    return taper_steps_end(&s);
}

// Returns how many elements were reduced to one, at least 1.
TAPER_STEPS_KERNEL(taper_op_reduced_count)
{
    const int64_t all = taper_tensor_numel(call->args[0].as.tensor), left = taper_tensor_numel(call->args[1].as.tensor);
    taper_ret(call, 0, taper_val_int(taper_max_i64(left != 0 ? all / left : 1, 1)));
    return TAPER_OK;
}

TAPER_STEPS_KERNEL(taper_op_variance_scale)
{
    double correction;
    const int64_t all = taper_tensor_numel(call->args[0].as.tensor), left = taper_tensor_numel(call->args[1].as.tensor);
    if (call->args[2].tag == TAPER_BOOLEAN) { // the argument is `unbiased`
        correction = call->args[2].as.i != 0 ? 1.0 : 0.0;
    } else {
        TAPER_TRY(taper_arg_double_or(call, 2, 1.0, &correction));
    }
    const double count = left != 0 ? (double)(all / left) - correction : 1.0;
    taper_ret(call, 0, taper_val_double(2.0 / (count > 0 ? count : 0)));
    return TAPER_OK;
}

TAPER_STEPS_KERNEL(taper_op_unpermute)
{
    taper_steps s;
    int64_t dims[TAPER_MAX_RANK], back[TAPER_MAX_RANK] = {0};
    size_t count;
    TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, dims, &count));
    for (size_t i = 0; i < count; i++) {
        const int64_t d = dims[i] < 0 ? dims[i] + (int64_t)count : dims[i];
        if (d >= 0 && d < (int64_t)count) {
            back[d] = (int64_t)i;
        }
    }
    taper_steps_begin(&s, call->run);
    taper_steps_ret(&s, call, 0, TAPER_STEP(&s, aten_permute, call->args[0], taper_steps_ints(&s, back, count)));
    return taper_steps_end(&s);
}

// Sums the repetitions of a tensor that was repeated.
TAPER_STEPS_KERNEL(taper_op_unrepeat)
{
    taper_steps s;
    const taper_tensor *const like = call->args[1].as.tensor;
    int64_t repeats[TAPER_MAX_RANK], sizes[2 * TAPER_MAX_RANK], dims[TAPER_MAX_RANK];
    size_t count, rank = 0, summed = 0;
    TAPER_TRY(taper_arg_ints(call, 2, 0, TAPER_MAX_RANK, repeats, &count));
    if (count < like->rank) { // if there are fewer repetitions than dimensions, tile repeats the first dimensions once
        memmove(repeats + (like->rank - count), repeats, count * sizeof *repeats);
        for (size_t i = 0; i < like->rank - count; i++) {
            repeats[i] = 1;
        }
        count = like->rank;
    }
    const size_t more = count - like->rank;
    for (size_t i = 0; i < count; i++) { // each dimension is split in two, and the first of them is summed
        if (repeats[i] != 1 || i < more) {
            dims[summed++] = (int64_t)rank;
            sizes[rank++] = repeats[i];
        }
        if (i >= more) {
            sizes[rank++] = like->sizes[i - more];
        }
    }
    if (rank > TAPER_MAX_RANK) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED,
                   "the gradient of a repetition in %zu dimensions is not supported", count);
    }
    taper_steps_begin(&s, call->run);
    taper_val value = call->args[0];
    if (summed != 0) {
        value = TAPER_STEP(&s, aten_reshape, value, taper_steps_ints(&s, sizes, rank));
        value = TAPER_STEP(&s, aten_sum_dim_IntList, value, taper_steps_ints(&s, dims, summed));
    }
    taper_steps_ret(&s, call, 0, value);
    return taper_steps_end(&s);
}

// Cuts the gradient of cat into the gradients of its tensors.
TAPER_STEPS_KERNEL(taper_op_split_like)
{
    taper_steps s;
    const taper_list *const tensors = call->args[1].as.list;
    int64_t dim, start = 0;
    TAPER_TRY(taper_arg_int(call, 2, &dim));
    const int64_t rank = call->args[0].as.tensor->rank;
    dim = dim < 0 ? dim + rank : dim;
    if (dim < 0 || dim >= taper_max_i64(rank, 1)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "a gradient is split along a dimension that it lacks");
    }
    taper_list *const made = taper_list_new(call->run->heap, &taper_type_tensor, tensors->count);
    if (made == NULL) {
        return taper_fail_memory(call->run->error);
    }
    taper_status status = TAPER_OK;
    for (size_t i = 0; status == TAPER_OK && i < tensors->count; i++) {
        const taper_tensor *const t = tensors->items[i].as.tensor;
        taper_steps_begin(&s, call->run);
        const bool empty = t->rank == 1 && t->sizes[0] == 0 && rank != 1; // cat leaves such a tensor out
        const int64_t length = empty ? 0 : t->sizes[dim];
        taper_val part = empty ? TAPER_STEP(&s, aten_zeros_like, tensors->items[i])
                               : TAPER_STEP(&s, aten_narrow, call->args[0], taper_val_int(dim), taper_val_int(start),
                                            taper_val_int(length));
        const taper_tensor *const piece = taper_steps_tensor(&s, part);
        if (piece != NULL && piece->dtype != t->dtype) {
            part = TAPER_STEP(&s, aten_to_dtype, part, taper_val_int(t->dtype));
        }
        start = taper_wrap_add(start, length);
        if (s.status == TAPER_OK) {
            made->items[made->count++] = taper_val_retain(part);
        }
        status = taper_steps_end(&s);
    }
    taper_ret(call, 0, TAPER_VAL(made));
    return status;
}

// Cuts the gradient of stack into the gradients of its tensors.
TAPER_STEPS_KERNEL(taper_op_unstack)
{
    taper_steps s;
    const taper_list *const tensors = call->args[1].as.list;
    taper_list *const made = taper_list_new(call->run->heap, &taper_type_tensor, tensors->count);
    if (made == NULL) {
        return taper_fail_memory(call->run->error);
    }
    taper_status status = TAPER_OK;
    for (size_t i = 0; status == TAPER_OK && i < tensors->count; i++) {
        taper_steps_begin(&s, call->run);
        const taper_val part = TAPER_STEP(&s, aten_select_int, call->args[0], call->args[2], taper_val_int((int64_t)i));
        if (s.status == TAPER_OK) {
            made->items[made->count++] = taper_val_retain(part);
        }
        status = taper_steps_end(&s);
    }
    taper_ret(call, 0, TAPER_VAL(made));
    return status;
}

// Puts the gradient of a reduction that chose one element to the place of that element.
TAPER_STEPS_KERNEL(taper_op_at_reduced)
{
    taper_steps s;
    bool keep;
    const taper_tensor *const like = call->args[1].as.tensor;
    TAPER_TRY(taper_arg_bool(call, 4, &keep));
    taper_steps_begin(&s, call->run);
    taper_val grad = call->args[0], indices = call->args[3];
    if (!keep && like->rank != 0) {
        grad = TAPER_STEP(&s, aten_unsqueeze, grad, call->args[2]);
        indices = TAPER_STEP(&s, aten_unsqueeze, indices, call->args[2]);
    }
    const taper_val zeros = TAPER_STEP(&s, aten_zeros_like, call->args[1]);
    taper_steps_ret(&s, call, 0, TAPER_STEP(&s, aten_scatter_add, zeros, call->args[2], indices, grad));
    return taper_steps_end(&s);
}

// Shares the gradient of a maximum or minimum among the elements that are equal to it.
TAPER_STEPS_KERNEL(taper_op_share_ties)
{
    taper_steps s;
    bool reduced[TAPER_MAX_RANK], keep;
    int64_t dims[TAPER_MAX_RANK];
    size_t count = 0;
    const taper_tensor *const self = call->args[1].as.tensor;
    TAPER_TRY(read_dims(call, 3, self->rank, reduced));
    TAPER_TRY(taper_arg_bool(call, 4, &keep));
    taper_steps_begin(&s, call->run);
    for (size_t d = 0; d < self->rank; d++) {
        if (reduced[d]) {
            dims[count++] = (int64_t)d;
        }
    }
    const bool ones = !keep && self->rank != 0;
    const taper_val grad = ones ? with_ones(&s, call->args[0], self, reduced) : call->args[0];
    const taper_val result = ones ? with_ones(&s, call->args[2], self, reduced) : call->args[2];
    taper_val equal = TAPER_STEP(&s, aten_eq_Tensor, call->args[1], result);
    equal = TAPER_STEP(&s, aten_to_dtype, equal, taper_val_int(self->dtype));
    taper_val ties = equal;
    if (count != 0) {
        ties = TAPER_STEP(&s, aten_sum_dim_IntList, equal, taper_steps_ints(&s, dims, count), taper_val_bool(true));
    }
    const taper_val share = TAPER_STEP(&s, aten_div_Tensor, grad, ties);
    taper_steps_ret(&s, call, 0, TAPER_STEP(&s, aten_mul_Tensor, share, equal));
    return taper_steps_end(&s);
}
