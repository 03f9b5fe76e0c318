// SPDX-License-Identifier: BSD-2-Clause
// Operators of gradients of indexing, repetitions and cumulative products.
#include "ops/gradient/steps_math.h"

// d/dx_k of the cumulative product p_i is p_i / x_k for i >= k. Products over other elements are computed without a
// division, so that zeros give no NaN: for each k, the sum over i of grad_i times the product of all others up to i.
TAPER_STEPS_KERNEL(taper_op_cumprod_gradient)
{
    taper_steps s;
    int64_t dim;
    const taper_tensor *const like = call->args[1].as.tensor;
    TAPER_TRY(taper_arg_int(call, 2, &dim));
    if (like->rank == 0) {
        taper_ret(call, 0, taper_val_retain(call->args[0]));
        return TAPER_OK;
    }
    TAPER_TRY(taper_step_dim(call, &dim, like->rank));
    const int64_t count = like->sizes[dim];
    taper_list *const parts = taper_list_new(call->run->heap, &taper_type_tensor, (size_t)taper_max_i64(count, 1));
    if (parts == NULL) {
        return taper_fail_memory(call->run->error);
    }
    const taper_val d = taper_val_int(dim);
    taper_val before = taper_val_none(); // product of the elements before k
    taper_status status = TAPER_OK;
    for (int64_t k = 0; k < count && status == TAPER_OK; k++) {
        taper_steps_begin(&s, call->run);
        const taper_val rest =
            TAPER_STEP(&s, aten_narrow, call->args[1], d, taper_val_int(k + 1), taper_val_int(count - k - 1));
        const taper_val one = TAPER_STEP(
            &s, aten_ones_like, TAPER_STEP(&s, aten_narrow, call->args[1], d, taper_val_int(k), taper_val_int(1)));
        taper_val products = TAPER_STEP(&s, aten_cat, taper_steps_list(&s, (taper_val[]){one, rest}, 2), d);
        products = TAPER_STEP(&s, aten_cumprod, products, d);
        if (before.tag == TAPER_TENSOR) {
            products = TAPER_STEP(&s, aten_mul_Tensor, products, before);
        }
        const taper_val grads =
            TAPER_STEP(&s, aten_narrow, call->args[0], d, taper_val_int(k), taper_val_int(count - k));
        taper_val sum = TAPER_STEP(&s, aten_mul_Tensor, grads, products);
        sum = TAPER_STEP(&s, aten_sum_dim_IntList, sum, taper_steps_ints(&s, &dim, 1), taper_val_bool(true));
        const taper_val item = TAPER_STEP(&s, aten_narrow, call->args[1], d, taper_val_int(k), taper_val_int(1));
        const taper_val next = before.tag == TAPER_TENSOR ? TAPER_STEP(&s, aten_mul_Tensor, before, item) : item;
        if (s.status == TAPER_OK) {
            parts->items[parts->count++] = taper_val_retain(sum);
            taper_val_replace(&before, taper_val_retain(next));
        }
        status = taper_steps_end(&s);
    }
    taper_steps_begin(&s, call->run);
    taper_steps_fail(&s, status);
    taper_steps_keep(&s, TAPER_VAL(parts));
    taper_steps_keep(&s, before);
    taper_steps_ret(&s, call, 0,
                    count != 0 ? TAPER_STEP(&s, aten_cat, TAPER_VAL(parts), d)
                               : TAPER_STEP(&s, aten_zeros_like, call->args[1]));
    return taper_steps_end(&s);
}

// Returns the positions of a tensor's elements in a storage of `extent` elements, as a tensor of rank 1.
static taper_val places_of(taper_steps *s, int64_t extent, taper_val sizes, taper_val strides, int64_t offset)
{
    taper_val places = TAPER_STEP(s, aten_arange, taper_val_int(extent));
    places = TAPER_STEP(s, aten_as_strided, places, sizes, strides, taper_val_int(offset));
    return TAPER_STEP(s, aten_reshape, places, taper_steps_ints(s, (int64_t[]){-1}, 1));
}

// The gradient of as_strided. Several elements of the result may be one element of the storage, so gradients are added
// to the places of the storage, from which self then takes its elements. If several elements of self are one element
// of the storage, they share its gradient, as in PyTorch.
TAPER_STEPS_KERNEL(taper_op_strided_gradient)
{
    taper_steps s;
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK], offset, last;
    size_t rank, count;
    const taper_tensor *const self = call->args[1].as.tensor;
    TAPER_TRY(taper_arg_ints(call, 2, 0, TAPER_MAX_RANK, sizes, &rank));
    TAPER_TRY(taper_arg_ints(call, 3, 0, TAPER_MAX_RANK, strides, &count));
    TAPER_TRY(taper_arg_int_or(call, 4, self->offset, &offset));
    if (count != rank) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "mismatch in length of strides and shape");
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
    taper_steps_begin(&s, call->run);
    const taper_val zero = taper_val_int(0), whole = taper_steps_ints(&s, &extent, 1);
    const taper_val own_sizes = taper_steps_ints(&s, self->sizes, self->rank);
    const taper_val own_strides = taper_steps_ints(&s, self->strides, self->rank);
    const int64_t own_offset = taper_wrap_sub(self->offset, first);
    const taper_val places = places_of(&s, extent, call->args[2], call->args[3], taper_wrap_sub(offset, first));
    taper_val sum = TAPER_STEP(&s, aten_new_zeros, call->args[0], whole);
    const taper_val grad = TAPER_STEP(&s, aten_reshape, call->args[0], taper_steps_ints(&s, (int64_t[]){-1}, 1));
    sum = TAPER_STEP(&s, aten_index_add, sum, zero, places, grad);
    const taper_tape_place place = taper_tape_place_of(self);
    if (taper_tape_overlaps(&place)) {
        const taper_val own_places = places_of(&s, extent, own_sizes, own_strides, own_offset);
        taper_val shares = TAPER_STEP(&s, aten_new_zeros, call->args[0], whole);
        const taper_val ones = TAPER_STEP(&s, aten_new_ones, call->args[0],
                                          taper_steps_ints(&s, (int64_t[]){taper_tensor_numel(self)}, 1));
        shares = TAPER_STEP(&s, aten_index_add, shares, zero, own_places, ones);
        sum = TAPER_STEP(&s, aten_div_Tensor, sum, TAPER_STEP(&s, aten_clamp_min, shares, taper_val_int(1)));
    }
    sum = TAPER_STEP(&s, aten_as_strided, sum, own_sizes, own_strides, taper_val_int(own_offset));
    taper_steps_ret(&s, call, 0, sum);
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_diag_gradient)
{
    taper_steps s;
    const bool vector = call->args[1].as.tensor->rank == 1;
    taper_steps_begin(&s, call->run);
    taper_steps_ret(&s, call, 0,
                    vector ? TAPER_STEP(&s, aten_diagonal, call->args[0], call->args[2])
                           : TAPER_STEP(&s, aten_diagonal_scatter, TAPER_STEP(&s, aten_zeros_like, call->args[1]),
                                        call->args[0], call->args[2]));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_negated)
{
    taper_steps s;
    int64_t numbers[2 * TAPER_MAX_RANK];
    size_t count;
    TAPER_TRY(taper_arg_ints(call, 0, 0, 2 * TAPER_MAX_RANK, numbers, &count));
    for (size_t i = 0; i < count; i++) {
        numbers[i] = (int64_t)(0 - (uint64_t)numbers[i]);
    }
    taper_steps_begin(&s, call->run);
    taper_steps_ret(&s, call, 0, taper_steps_ints(&s, numbers, count));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_sums_to)
{
    const taper_list *const grads = call->args[0].as.list, *const tensors = call->args[1].as.list;
    taper_list *const made = taper_list_new(call->run->heap, &taper_type_tensor, tensors->count);
    if (made == NULL) {
        return taper_fail_memory(call->run->error);
    }
    taper_ret(call, 0, TAPER_VAL(made));
    for (size_t i = 0; i < tensors->count && i < grads->count; i++) {
        taper_steps s;
        taper_steps_begin(&s, call->run);
        const taper_val sum = TAPER_STEP(&s, taper_sum_to, grads->items[i], tensors->items[i]);
        if (s.status == TAPER_OK) {
            made->items[made->count++] = taper_val_retain(sum);
        }
        TAPER_TRY(taper_steps_end(&s));
    }
    return TAPER_OK;
}

// Returns self expanded to the sizes to which it broadcasts with the mask.
TAPER_STEPS_KERNEL(taper_op_broadcast_like)
{
    taper_steps s;
    const taper_tensor *const self = call->args[0].as.tensor, *const mask = call->args[1].as.tensor;
    int64_t sizes[TAPER_MAX_RANK];
    const size_t rank = self->rank > mask->rank ? self->rank : mask->rank;
    for (size_t d = 0; d < rank; d++) {
        const int64_t a = d + self->rank < rank ? 1 : self->sizes[d + self->rank - rank];
        const int64_t b = d + mask->rank < rank ? 1 : mask->sizes[d + mask->rank - rank];
        sizes[d] = a == 1 ? b : a;
    }
    taper_steps_begin(&s, call->run);
    taper_steps_ret(&s, call, 0, TAPER_STEP(&s, aten_expand, call->args[0], taper_steps_ints(&s, sizes, rank)));
    return taper_steps_end(&s);
}

// Returns the gradient of the tensor into which values were put: 0 where they replaced elements.
TAPER_STEPS_KERNEL(taper_op_without_put)
{
    taper_steps s;
    bool accumulate;
    TAPER_TRY(taper_arg_bool(call, 2, &accumulate));
    taper_steps_begin(&s, call->run);
    taper_val grad = call->args[0];
    if (!accumulate) {
        const taper_val zero = TAPER_STEP(&s, aten_new_zeros, grad, taper_steps_ints(&s, NULL, 0));
        grad = TAPER_STEP(&s, aten_index_put, grad, call->args[1], zero);
    }
    taper_steps_ret(&s, call, 0, grad);
    return taper_steps_end(&s);
}

// Returns the gradient of the source of masked_scatter: the chosen elements, and zeros for those that were not used.
TAPER_STEPS_KERNEL(taper_op_from_masked)
{
    taper_steps s;
    const taper_tensor *const source = call->args[2].as.tensor;
    taper_steps_begin(&s, call->run);
    taper_val values = TAPER_STEP(&s, aten_masked_select, call->args[0], call->args[1]);
    const taper_tensor *const chosen = taper_steps_tensor(&s, values);
    const int64_t used = chosen != NULL ? chosen->sizes[0] : 0, all = taper_tensor_numel(source);
    if (used < all) {
        const taper_val zeros =
            TAPER_STEP(&s, aten_new_zeros, values, taper_steps_ints(&s, (int64_t[]){all - used}, 1));
        values = TAPER_STEP(&s, aten_cat, taper_steps_list(&s, (taper_val[]){values, zeros}, 2), taper_val_int(0));
    }
    taper_steps_ret(&s, call, 0,
                    TAPER_STEP(&s, aten_reshape, values, taper_steps_ints(&s, source->sizes, source->rank)));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_unrepeat_each)
{
    taper_steps s;
    int64_t repeats, dim = 0, sizes[TAPER_MAX_RANK + 1] = {0};
    const taper_tensor *const self = call->args[1].as.tensor;
    TAPER_TRY(taper_arg_int(call, 2, &repeats));
    taper_steps_begin(&s, call->run);
    taper_val value = call->args[0];
    if (taper_arg_is_none(call, 3) || self->rank == 0) {
        value = TAPER_STEP(&s, aten_reshape, value,
                           taper_steps_ints(&s, (int64_t[]){taper_tensor_numel(self), repeats}, 2));
        value = TAPER_STEP(&s, aten_sum_dim_IntList, value, taper_steps_ints(&s, (int64_t[]){1}, 1));
        value = TAPER_STEP(&s, aten_reshape, value, taper_steps_ints(&s, self->sizes, self->rank));
    } else {
        taper_steps_fail(&s, taper_arg_int(call, 3, &dim));
        taper_steps_fail(&s, s.status == TAPER_OK ? taper_step_dim(call, &dim, self->rank) : TAPER_OK);
        for (int64_t d = 0, at = 0; s.status == TAPER_OK && d < self->rank; d++) {
            sizes[at++] = self->sizes[d];
            if (d == dim) {
                sizes[at++] = repeats;
            }
        }
        value = TAPER_STEP(&s, aten_reshape, value, taper_steps_ints(&s, sizes, self->rank + 1u));
        value =
            TAPER_STEP(&s, aten_sum_dim_IntList, value, taper_steps_ints(&s, (int64_t[]){taper_wrap_add(dim, 1)}, 1));
    }
    taper_steps_ret(&s, call, 0, value);
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_unrepeat_each_by)
{
    taper_steps s;
    const taper_tensor *const self = call->args[1].as.tensor;
    const bool all = taper_arg_is_none(call, 3);
    int64_t at = 0;
    TAPER_TRY(all ? TAPER_OK : taper_arg_int(call, 3, &at));
    TAPER_TRY(taper_step_dim(call, &at, all ? 1 : self->rank));
    taper_steps_begin(&s, call->run);
    const taper_val dim = taper_val_int(at);
    taper_val like = TAPER_STEP(&s, aten_zeros_like, call->args[1]), repeats = call->args[2];
    if (all) {
        like = TAPER_STEP(&s, aten_reshape, like, taper_steps_ints(&s, (int64_t[]){-1}, 1));
    }
    const taper_tensor *const whole = taper_steps_tensor(&s, like);
    if (whole != NULL && whole->rank != 0 && taper_tensor_numel(repeats.as.tensor) == 1) {
        const int64_t count = whole->sizes[at];
        repeats = TAPER_STEP(&s, aten_reshape, repeats, taper_steps_ints(&s, (int64_t[]){1}, 1));
        repeats = TAPER_STEP(&s, aten_expand, repeats, taper_steps_ints(&s, &count, 1));
    }
    const taper_val index = TAPER_STEP(&s, aten_repeat_interleave_Tensor, repeats);
    const taper_val value = TAPER_STEP(&s, aten_index_add, like, dim, index, call->args[0]);
    taper_steps_ret(&s, call, 0, TAPER_STEP(&s, aten_reshape, value, taper_steps_ints(&s, self->sizes, self->rank)));
    return taper_steps_end(&s);
}
