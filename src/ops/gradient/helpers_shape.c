// SPDX-License-Identifier: BSD-2-Clause
// Operators of gradients that change the shape of a gradient: the opposite of broadcasting, reducing and permuting.
#include "ops/gradient/steps_math.h"

// Sums a gradient over the dimensions in which an argument was broadcast, and converts it to the argument's dtype.
TAPER_STEPS_KERNEL(taper_op_sum_to)
{
    const taper_tensor *const like = s->args[1].as.tensor;
    const taper_tensor *const grad = s->args[0].as.tensor;
    taper_step_value value = &s->args[0];
    int64_t dims[TAPER_MAX_RANK];
    size_t count = 0;
    const size_t more = grad->rank > like->rank ? (size_t)(grad->rank - like->rank) : 0;
    for (size_t d = 0; d < grad->rank; d++) {
        if (d < more || (like->sizes[d - more] == 1 && grad->sizes[d] != 1)) {
            dims[count++] = (int64_t)d;
        }
    }
    if (count != 0) {
        value = TAPER_STEP(s, aten_sum_dim_IntList, value, taper_steps_ints(s, dims, count), taper_step_bool(true));
    }
    if (more != 0) {
        value = TAPER_STEP(s, aten_reshape, value, taper_steps_ints(s, like->sizes, like->rank));
    }
    if (taper_dtype_is_complex((taper_dtype)grad->dtype) && !taper_dtype_is_complex((taper_dtype)like->dtype)) {
        value = TAPER_STEP(s, aten_real, value);
    }
    const taper_tensor *const real = taper_steps_tensor(s, value);
    if (real != NULL && real->dtype != like->dtype) {
        value = TAPER_STEP(s, aten_to_dtype, value, taper_step_int(s, like->dtype));
    }
    return taper_steps_ret(s, 0, value);
}

enum { BLOCK = 1 << 16 }; // number of elements of a block, whose products are summed while they are in the cache

// Returns how many rows of the product make a block, or 0 if the product is summed as a whole.
static int64_t rows_of_block(const taper_steps *s, const taper_tensor *grad, const taper_tensor *factor,
                             const taper_tensor *like)
{
    const int64_t elements = taper_tensor_numel(grad);
    const bool sums_rows = grad->rank == like->rank && grad->rank > 1 && grad->sizes[0] == like->sizes[0] &&
                           taper_tensor_numel(like) < elements;
    return sums_rows && !s->caller.records && elements >= 2 * BLOCK && grad->dtype == like->dtype &&
                   grad->dtype == factor->dtype && factor->rank <= grad->rank &&
                   !taper_dtype_is_complex((taper_dtype)grad->dtype)
               ? (BLOCK - 1) / (elements / grad->sizes[0]) + 1
               : 0;
}

// Multiplies and sums blocks of rows, so that the product is never in memory as a whole.
static taper_step_value sum_of_blocks(taper_steps *s, taper_step_value grad, taper_step_value factor,
                                      const taper_tensor *like, int64_t rows)
{
    const int64_t all = like->sizes[0];
    const bool narrows = factor->as.tensor->rank == like->rank && factor->as.tensor->sizes[0] != 1;
    const taper_step_value result = TAPER_STEP(s, aten_new_empty, grad, taper_steps_ints(s, like->sizes, like->rank));
    int64_t dims[TAPER_MAX_RANK];
    size_t count = 0;
    for (size_t d = 1; d < like->rank; d++) {
        if (like->sizes[d] == 1) {
            dims[count++] = (int64_t)d;
        }
    }
    const taper_step_value summed = taper_steps_ints(s, dims, count);
    const size_t kept = s->count;
    for (int64_t at = 0; at < all && s->status == TAPER_OK; at += rows) {
        const int64_t length = all - at < rows ? all - at : rows;
        const taper_step_value part = narrows ? taper_step_narrow(s, factor, 0, at, length) : factor;
        const taper_step_value product = taper_step_mul(s, taper_step_narrow(s, grad, 0, at, length), part);
        const taper_step_value sum = TAPER_STEP(s, aten_sum_dim_IntList, product, summed, taper_step_bool(true));
        TAPER_STEP(s, aten_copy_, taper_step_narrow(s, result, 0, at, length), sum);
        taper_steps_release(s, kept);
    }
    return result;
}

// Multiplies a gradient by a factor of a product, and sums the result over the dimensions in which the other factor was
// broadcast.
TAPER_STEPS_KERNEL(taper_op_sum_product)
{
    const taper_step_value grad = &s->args[0], factor = taper_step_conj(s, &s->args[1]);
    const taper_tensor *const like = s->args[2].as.tensor;
    const int64_t rows = rows_of_block(s, grad->as.tensor, s->args[1].as.tensor, like);
    return taper_steps_ret(s, 0,
                           rows != 0 ? sum_of_blocks(s, grad, factor, like, rows)
                                     : TAPER_STEP(s, taper_sum_to, taper_step_mul(s, grad, factor), &s->args[2]));
}

// Reads a list of dimensions. None and an empty list stand for all dimensions.
static taper_status read_dims(taper_steps *s, size_t at, size_t rank, bool *reduced)
{
    int64_t dims[TAPER_MAX_RANK];
    size_t count = 0;
    if (!taper_steps_is_none(s, at)) {
        TAPER_TRY(taper_arg_ints(s->call, at, 0, TAPER_MAX_RANK, dims, &count));
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

// Inserts into a reduced tensor the dimensions that the reduction removed, with size 1.
static taper_step_value with_ones(taper_steps *s, taper_step_value value, const taper_tensor *like, const bool *reduced)
{
    int64_t sizes[TAPER_MAX_RANK];
    for (size_t d = 0; d < like->rank; d++) {
        sizes[d] = reduced[d] ? 1 : like->sizes[d];
    }
    return TAPER_STEP(s, aten_reshape, value, taper_steps_ints(s, sizes, like->rank));
}

TAPER_STEPS_KERNEL(taper_op_unsqueeze_like)
{
    bool reduced[TAPER_MAX_RANK];
    const taper_tensor *const like = s->args[1].as.tensor;
    TAPER_TRY(read_dims(s, 2, like->rank, reduced));
    const bool same = s->args[0].as.tensor->rank == like->rank;
    return taper_steps_ret(s, 0, same ? &s->args[0] : with_ones(s, &s->args[0], like, reduced));
}

// Copies the gradient of each element of a reduction's result to all elements that were reduced to it.
TAPER_STEPS_KERNEL(taper_op_spread)
{
    bool reduced[TAPER_MAX_RANK];
    const taper_tensor *const like = s->args[1].as.tensor;
    TAPER_TRY(read_dims(s, 2, like->rank, reduced));
    const bool keep = taper_steps_bool(s, 3);
    taper_step_value value = &s->args[0];
    if (!keep && value->as.tensor->rank != like->rank) {
        value = with_ones(s, value, like, reduced);
    }
    if (value->tag == TAPER_TENSOR && value->as.tensor->dtype != like->dtype) {
        value = TAPER_STEP(s, aten_to_dtype, value, taper_step_int(s, like->dtype));
    }
    value = TAPER_STEP(s, aten_expand, value, taper_steps_ints(s, like->sizes, like->rank));
    return taper_steps_ret(s, 0, value);
}

// Returns how many elements were reduced to one, at least 1.
TAPER_STEPS_KERNEL(taper_op_reduced_count)
{
    const int64_t all = taper_tensor_numel(s->args[0].as.tensor), left = taper_tensor_numel(s->args[1].as.tensor);
    return taper_steps_ret(s, 0, taper_step_int(s, taper_max_i64(left != 0 ? all / left : 1, 1)));
}

TAPER_STEPS_KERNEL(taper_op_variance_scale)
{
    double correction;
    const int64_t all = taper_tensor_numel(s->args[0].as.tensor), left = taper_tensor_numel(s->args[1].as.tensor);
    if (s->args[2].tag == TAPER_BOOLEAN) { // the argument unbiased
        correction = s->args[2].as.i != 0 ? 1.0 : 0.0;
    } else {
        correction = taper_steps_double_or(s, 2, 1.0);
    }
    const double count = left != 0 ? (double)(all / left) - correction : 1.0;
    return taper_steps_ret(s, 0, taper_step_double(s, 2.0 / (count > 0 ? count : 0)));
}

TAPER_STEPS_KERNEL(taper_op_unpermute)
{
    int64_t dims[TAPER_MAX_RANK], back[TAPER_MAX_RANK] = {0};
    size_t count;
    TAPER_TRY(taper_arg_ints(s->call, 1, 0, TAPER_MAX_RANK, dims, &count));
    for (size_t i = 0; i < count; i++) {
        const int64_t d = dims[i] < 0 ? dims[i] + (int64_t)count : dims[i];
        if (d >= 0 && d < (int64_t)count) {
            back[d] = (int64_t)i;
        }
    }
    return taper_steps_ret(s, 0, TAPER_STEP(s, aten_permute, &s->args[0], taper_steps_ints(s, back, count)));
}

// Sums the repetitions of a tensor that was repeated.
TAPER_STEPS_KERNEL(taper_op_unrepeat)
{
    const taper_tensor *const like = s->args[1].as.tensor;
    int64_t repeats[TAPER_MAX_RANK], sizes[2 * TAPER_MAX_RANK], dims[TAPER_MAX_RANK];
    size_t count, rank = 0, summed = 0;
    TAPER_TRY(taper_arg_ints(s->call, 2, 0, TAPER_MAX_RANK, repeats, &count));
    if (count < like->rank) { // tile repeats the first dimensions once
        memmove(repeats + (like->rank - count), repeats, count * sizeof *repeats);
        for (size_t i = 0; i < like->rank - count; i++) {
            repeats[i] = 1;
        }
        count = like->rank;
    }
    const size_t more = count - like->rank;
    for (size_t i = 0; i < count; i++) { // each dimension is split in two, and the first of the two is summed
        if (repeats[i] != 1 || i < more) {
            dims[summed++] = (int64_t)rank;
            sizes[rank++] = repeats[i];
        }
        if (i >= more) {
            sizes[rank++] = like->sizes[i - more];
        }
    }
    if (rank > TAPER_MAX_RANK) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_UNSUPPORTED,
                   "the gradient of a repetition in %zu dimensions is not supported", count);
    }
    taper_step_value value = &s->args[0];
    if (summed != 0) {
        value = TAPER_STEP(s, aten_reshape, value, taper_steps_ints(s, sizes, rank));
        value = TAPER_STEP(s, aten_sum_dim_IntList, value, taper_steps_ints(s, dims, summed));
    }
    return taper_steps_ret(s, 0, value);
}

// Cuts the gradient of cat into the gradients of its tensors.
TAPER_STEPS_KERNEL(taper_op_split_like)
{
    const taper_list *const tensors = s->args[1].as.list;
    int64_t dim, start = 0;
    dim = taper_steps_int(s, 2);
    const int64_t rank = s->args[0].as.tensor->rank;
    dim = dim < 0 ? dim + rank : dim;
    if (dim < 0 || dim >= taper_max_i64(rank, 1)) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_ARGUMENT, "a gradient is split along a dimension that it lacks");
    }
    const taper_step_value made = taper_steps_new_list(s, &taper_type_tensor, tensors->count);
    for (size_t i = 0; i < tensors->count; i++) {
        const taper_tensor *const t = tensors->items[i].as.tensor;
        const bool empty = t->rank == 1 && t->sizes[0] == 0 && rank != 1; // cat ignores an empty tensor of rank 1
        const int64_t length = empty ? 0 : t->sizes[dim];
        taper_step_value part = empty ? TAPER_STEP(s, aten_zeros_like, &tensors->items[i])
                                      : TAPER_STEP(s, aten_narrow, &s->args[0], taper_step_int(s, dim),
                                                   taper_step_int(s, start), taper_step_int(s, length));
        const taper_tensor *const piece = taper_steps_tensor(s, part);
        if (piece != NULL && piece->dtype != t->dtype) {
            part = TAPER_STEP(s, aten_to_dtype, part, taper_step_int(s, t->dtype));
        }
        start = taper_wrap_add(start, length);
        taper_steps_collect(s, made, part);
    }
    return taper_steps_ret(s, 0, made);
}

// Cuts the gradient of stack into the gradients of its tensors.
TAPER_STEPS_KERNEL(taper_op_unstack)
{
    const taper_list *const tensors = s->args[1].as.list;
    const taper_step_value made = taper_steps_new_list(s, &taper_type_tensor, tensors->count);
    for (size_t i = 0; i < tensors->count; i++) {
        const taper_step_value part =
            TAPER_STEP(s, aten_select_int, &s->args[0], &s->args[2], taper_step_int(s, (int64_t)i));
        taper_steps_collect(s, made, part);
    }
    return taper_steps_ret(s, 0, made);
}

// Puts the gradient of a reduction that chose one element at the place of that element.
TAPER_STEPS_KERNEL(taper_op_at_reduced)
{
    const taper_tensor *const like = s->args[1].as.tensor;
    const bool keep = taper_steps_bool(s, 4);
    taper_step_value grad = &s->args[0], indices = &s->args[3];
    if (!keep && like->rank != 0) {
        grad = TAPER_STEP(s, aten_unsqueeze, grad, &s->args[2]);
        indices = TAPER_STEP(s, aten_unsqueeze, indices, &s->args[2]);
    }
    const taper_step_value zeros = TAPER_STEP(s, aten_zeros_like, &s->args[1]);
    return taper_steps_ret(s, 0, TAPER_STEP(s, aten_scatter_add, zeros, &s->args[2], indices, grad));
}

// Shares the gradient of a maximum or minimum among the elements that are equal to it.
TAPER_STEPS_KERNEL(taper_op_share_ties)
{
    bool reduced[TAPER_MAX_RANK];
    int64_t dims[TAPER_MAX_RANK];
    size_t count = 0;
    const taper_tensor *const self = s->args[1].as.tensor;
    TAPER_TRY(read_dims(s, 3, self->rank, reduced));
    const bool keep = taper_steps_bool(s, 4);
    for (size_t d = 0; d < self->rank; d++) {
        if (reduced[d]) {
            dims[count++] = (int64_t)d;
        }
    }
    const bool ones = !keep && self->rank != 0;
    const taper_step_value grad = ones ? with_ones(s, &s->args[0], self, reduced) : &s->args[0];
    const taper_step_value result = ones ? with_ones(s, &s->args[2], self, reduced) : &s->args[2];
    taper_step_value equal = TAPER_STEP(s, aten_eq_Tensor, &s->args[1], result);
    equal = TAPER_STEP(s, aten_to_dtype, equal, taper_step_int(s, self->dtype));
    taper_step_value ties = equal;
    if (count != 0) {
        ties = TAPER_STEP(s, aten_sum_dim_IntList, equal, taper_steps_ints(s, dims, count), taper_step_bool(true));
    }
    const taper_step_value share = TAPER_STEP(s, aten_div_Tensor, grad, ties);
    return taper_steps_ret(s, 0, TAPER_STEP(s, aten_mul_Tensor, share, equal));
}
