// SPDX-License-Identifier: BSD-2-Clause
// Operators of gradients of indexing, repetitions and cumulative products.
#include "ops/gradient/steps_math.h"

// Computes the gradient of cumprod. d/dx_k of the cumulative product p_i is p_i / x_k for i >= k. Products over other
// elements are computed without a division, so that zeros give no NaN: for each k, the sum over i of grad_i times the
// product of all other elements up to i.
TAPER_STEPS_KERNEL(taper_op_cumprod_gradient)
{
    const taper_tensor *const like = s->args[1].as.tensor;
    int64_t dim = taper_steps_int(s, 2);
    if (like->rank == 0) {
        return taper_steps_ret(s, 0, &s->args[0]);
    }
    TAPER_TRY(taper_step_dim(s, &dim, like->rank));
    const int64_t count = like->sizes[dim];
    const taper_step_value parts = taper_steps_new_list(s, &taper_type_tensor, (size_t)taper_max_i64(count, 1));
    const taper_step_value d = taper_step_int(s, dim);
    taper_step_value before = taper_step_none; // product of the elements before k
    const size_t kept = s->count;
    for (int64_t k = 0; k < count && s->status == TAPER_OK; k++) {
        const taper_step_value rest =
            TAPER_STEP(s, aten_narrow, &s->args[1], d, taper_step_int(s, k + 1), taper_step_int(s, count - k - 1));
        const taper_step_value one = TAPER_STEP(
            s, aten_ones_like, TAPER_STEP(s, aten_narrow, &s->args[1], d, taper_step_int(s, k), TAPER_STEP_INT(1)));
        taper_step_value products = TAPER_STEP(s, aten_cat, taper_steps_list(s, (taper_step_value[]){one, rest}, 2), d);
        products = TAPER_STEP(s, aten_cumprod, products, d);
        if (before->tag == TAPER_TENSOR) {
            products = TAPER_STEP(s, aten_mul_Tensor, products, before);
        }
        const taper_step_value grads =
            TAPER_STEP(s, aten_narrow, &s->args[0], d, taper_step_int(s, k), taper_step_int(s, count - k));
        taper_step_value sum = TAPER_STEP(s, aten_mul_Tensor, grads, products);
        sum = TAPER_STEP(s, aten_sum_dim_IntList, sum, taper_steps_ints(s, &dim, 1), taper_step_bool(true));
        const taper_step_value item =
            TAPER_STEP(s, aten_narrow, &s->args[1], d, taper_step_int(s, k), TAPER_STEP_INT(1));
        before = before->tag == TAPER_TENSOR ? TAPER_STEP(s, aten_mul_Tensor, before, item) : item;
        taper_steps_append(s, parts, sum);
        taper_steps_carry(s, kept, &before, 1);
    }
    return taper_steps_ret(
        s, 0, count != 0 ? TAPER_STEP(s, aten_cat, parts, d) : TAPER_STEP(s, aten_zeros_like, &s->args[1]));
}

// Places of the elements of a tensor in a storage of `extent` elements, as a tensor of rank 1.
static taper_step_value places_of(taper_steps *s, int64_t extent, taper_step_value sizes, taper_step_value strides,
                                  int64_t offset)
{
    taper_step_value places = TAPER_STEP(s, aten_arange, taper_step_int(s, extent));
    places = TAPER_STEP(s, aten_as_strided, places, sizes, strides, taper_step_int(s, offset));
    return TAPER_STEP(s, aten_reshape, places, taper_steps_ints(s, (int64_t[]){-1}, 1));
}

// Computes the gradient of as_strided. Several elements of the result may be one element of the storage, so gradients
// are added up at the places of the storage, and the gradient of self is then taken from these places. If several
// elements of self are one element of the storage, they share its gradient, as in PyTorch.
TAPER_STEPS_KERNEL(taper_op_strided_gradient)
{
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK], last;
    size_t rank, count;
    const taper_tensor *const self = s->args[1].as.tensor;
    TAPER_TRY(taper_arg_ints(s->call, 2, 0, TAPER_MAX_RANK, sizes, &rank));
    TAPER_TRY(taper_arg_ints(s->call, 3, 0, TAPER_MAX_RANK, strides, &count));
    const int64_t offset = taper_steps_int_or(s, 4, self->offset);
    if (count != rank) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_ARGUMENT, "mismatch in length of strides and shape");
    }
    int64_t first = taper_min_i64(offset, self->offset), own = self->offset;
    last = offset;
    for (size_t i = 0; i < rank; i++) {
        last = taper_wrap_add(last, taper_wrap_mul(taper_max_i64(sizes[i], 1) - 1, strides[i]));
    }
    for (size_t i = 0; i < self->rank; i++) {
        own = taper_wrap_add(own, taper_wrap_mul(taper_max_i64(self->sizes[i], 1) - 1, self->strides[i]));
    }
    const int64_t extent = taper_wrap_add(taper_wrap_sub(taper_max_i64(last, own), first), 1);
    const taper_step_value zero = TAPER_STEP_INT(0), whole = taper_steps_ints(s, &extent, 1);
    const taper_step_value own_sizes = taper_steps_ints(s, self->sizes, self->rank);
    const taper_step_value own_strides = taper_steps_ints(s, self->strides, self->rank);
    const int64_t own_offset = taper_wrap_sub(self->offset, first);
    const taper_step_value places = places_of(s, extent, &s->args[2], &s->args[3], taper_wrap_sub(offset, first));
    taper_step_value sum = TAPER_STEP(s, aten_new_zeros, &s->args[0], whole);
    const taper_step_value grad = TAPER_STEP(s, aten_reshape, &s->args[0], taper_steps_ints(s, (int64_t[]){-1}, 1));
    sum = TAPER_STEP(s, aten_index_add, sum, zero, places, grad);
    const taper_tape_place place = taper_tape_place_of(self);
    if (taper_tape_overlaps(&place)) {
        const taper_step_value own_places = places_of(s, extent, own_sizes, own_strides, own_offset);
        taper_step_value shares = TAPER_STEP(s, aten_new_zeros, &s->args[0], whole);
        const taper_step_value ones =
            TAPER_STEP(s, aten_new_ones, &s->args[0], taper_steps_ints(s, (int64_t[]){taper_tensor_numel(self)}, 1));
        shares = TAPER_STEP(s, aten_index_add, shares, zero, own_places, ones);
        sum = TAPER_STEP(s, aten_div_Tensor, sum, TAPER_STEP(s, aten_clamp_min, shares, TAPER_STEP_INT(1)));
    }
    sum = TAPER_STEP(s, aten_as_strided, sum, own_sizes, own_strides, taper_step_int(s, own_offset));
    return taper_steps_ret(s, 0, sum);
}

TAPER_STEPS_KERNEL(taper_op_diag_gradient)
{
    const bool vector = s->args[1].as.tensor->rank == 1;
    return taper_steps_ret(s, 0,
                           vector ? TAPER_STEP(s, aten_diagonal, &s->args[0], &s->args[2])
                                  : TAPER_STEP(s, aten_diagonal_scatter, TAPER_STEP(s, aten_zeros_like, &s->args[1]),
                                               &s->args[0], &s->args[2]));
}

TAPER_STEPS_KERNEL(taper_op_negated)
{
    int64_t numbers[2 * TAPER_MAX_RANK];
    size_t count;
    TAPER_TRY(taper_arg_ints(s->call, 0, 0, 2 * TAPER_MAX_RANK, numbers, &count));
    for (size_t i = 0; i < count; i++) {
        numbers[i] = (int64_t)(0 - (uint64_t)numbers[i]);
    }
    return taper_steps_ret(s, 0, taper_steps_ints(s, numbers, count));
}

TAPER_STEPS_KERNEL(taper_op_sums_to)
{
    const taper_list *const grads = s->args[0].as.list, *const tensors = s->args[1].as.list;
    const taper_step_value made = taper_steps_new_list(s, &taper_type_tensor, tensors->count);
    for (size_t i = 0; i < tensors->count && i < grads->count; i++) {
        taper_steps_collect(s, made, TAPER_STEP(s, taper_sum_to, &grads->items[i], &tensors->items[i]));
    }
    return taper_steps_ret(s, 0, made);
}

// Returns self expanded to the sizes to which it broadcasts with the mask.
TAPER_STEPS_KERNEL(taper_op_broadcast_like)
{
    const taper_tensor *const self = s->args[0].as.tensor, *const mask = s->args[1].as.tensor;
    int64_t sizes[TAPER_MAX_RANK];
    const size_t rank = self->rank > mask->rank ? self->rank : mask->rank;
    for (size_t d = 0; d < rank; d++) {
        const int64_t a = d + self->rank < rank ? 1 : self->sizes[d + self->rank - rank];
        const int64_t b = d + mask->rank < rank ? 1 : mask->sizes[d + mask->rank - rank];
        sizes[d] = a == 1 ? b : a;
    }
    return taper_steps_ret(s, 0, TAPER_STEP(s, aten_expand, &s->args[0], taper_steps_ints(s, sizes, rank)));
}

// Returns the gradient of the tensor into which values were put: the gradient of the result, with 0 at the elements
// that the values replaced.
TAPER_STEPS_KERNEL(taper_op_without_put)
{
    const bool accumulate = taper_steps_bool(s, 2);
    taper_step_value grad = &s->args[0];
    if (!accumulate) {
        const taper_step_value zero = TAPER_STEP(s, aten_new_zeros, grad, taper_steps_ints(s, NULL, 0));
        grad = TAPER_STEP(s, aten_index_put, grad, &s->args[1], zero);
    }
    return taper_steps_ret(s, 0, grad);
}

// Returns the gradient of the source of masked_scatter: the chosen elements, and zeros for elements of the source that
// were not used.
TAPER_STEPS_KERNEL(taper_op_from_masked)
{
    const taper_tensor *const source = s->args[2].as.tensor;
    taper_step_value values = TAPER_STEP(s, aten_masked_select, &s->args[0], &s->args[1]);
    const taper_tensor *const chosen = taper_steps_tensor(s, values);
    const int64_t used = chosen != NULL ? chosen->sizes[0] : 0, all = taper_tensor_numel(source);
    if (used < all) {
        const taper_step_value zeros =
            TAPER_STEP(s, aten_new_zeros, values, taper_steps_ints(s, (int64_t[]){all - used}, 1));
        values =
            TAPER_STEP(s, aten_cat, taper_steps_list(s, (taper_step_value[]){values, zeros}, 2), TAPER_STEP_INT(0));
    }
    return taper_steps_ret(s, 0, TAPER_STEP(s, aten_reshape, values, taper_steps_ints(s, source->sizes, source->rank)));
}

TAPER_STEPS_KERNEL(taper_op_unrepeat_each)
{
    int64_t repeats, dim = 0, sizes[TAPER_MAX_RANK + 1] = {0};
    const taper_tensor *const self = s->args[1].as.tensor;
    repeats = taper_steps_int(s, 2);
    taper_step_value value = &s->args[0];
    if (taper_steps_is_none(s, 3) || self->rank == 0) {
        value =
            TAPER_STEP(s, aten_reshape, value, taper_steps_ints(s, (int64_t[]){taper_tensor_numel(self), repeats}, 2));
        value = TAPER_STEP(s, aten_sum_dim_IntList, value, taper_steps_ints(s, (int64_t[]){1}, 1));
        value = TAPER_STEP(s, aten_reshape, value, taper_steps_ints(s, self->sizes, self->rank));
    } else {
        dim = taper_steps_int(s, 3);
        taper_steps_fail(s, s->status == TAPER_OK ? taper_step_dim(s, &dim, self->rank) : TAPER_OK);
        for (int64_t d = 0, at = 0; s->status == TAPER_OK && d < self->rank; d++) {
            sizes[at++] = self->sizes[d];
            if (d == dim) {
                sizes[at++] = repeats;
            }
        }
        value = TAPER_STEP(s, aten_reshape, value, taper_steps_ints(s, sizes, self->rank + 1u));
        value = TAPER_STEP(s, aten_sum_dim_IntList, value, taper_steps_ints(s, (int64_t[]){taper_wrap_add(dim, 1)}, 1));
    }
    return taper_steps_ret(s, 0, value);
}

TAPER_STEPS_KERNEL(taper_op_unrepeat_each_by)
{
    const taper_tensor *const self = s->args[1].as.tensor;
    const bool all = taper_steps_is_none(s, 3);
    int64_t at = taper_steps_int_or(s, 3, 0);
    TAPER_TRY(taper_step_dim(s, &at, all ? 1 : self->rank));
    const taper_step_value dim = taper_step_int(s, at);
    taper_step_value like = TAPER_STEP(s, aten_zeros_like, &s->args[1]), repeats = &s->args[2];
    if (all) {
        like = TAPER_STEP(s, aten_reshape, like, taper_steps_ints(s, (int64_t[]){-1}, 1));
    }
    const taper_tensor *const whole = taper_steps_tensor(s, like);
    if (whole != NULL && whole->rank != 0 && taper_tensor_numel(repeats->as.tensor) == 1) {
        const int64_t count = whole->sizes[at];
        repeats = TAPER_STEP(s, aten_reshape, repeats, taper_steps_ints(s, (int64_t[]){1}, 1));
        repeats = TAPER_STEP(s, aten_expand, repeats, taper_steps_ints(s, &count, 1));
    }
    const taper_step_value index = TAPER_STEP(s, aten_repeat_interleave_Tensor, repeats);
    const taper_step_value value = TAPER_STEP(s, aten_index_add, like, dim, index, &s->args[0]);
    return taper_steps_ret(s, 0, TAPER_STEP(s, aten_reshape, value, taper_steps_ints(s, self->sizes, self->rank)));
}
