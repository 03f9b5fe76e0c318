// SPDX-License-Identifier: BSD-2-Clause
// Operators on masks and on flat positions: nonzero, masked_select, masked_scatter, take and put.
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/index_into.h"
#include "ops/engine/mask_rows.h"
#include "ops/tensor/gather_rows.h"

// ---- nonzero

TAPER_KERNEL(taper_op_nonzero)
{
    taper_tensor *x, *result;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_index_nonzero(call->run, x, &result));
    taper_tensor *const target = taper_ret_target(call, 0);
    // The resized out tensor gets contiguous columns like a new result, as in PyTorch.
    if (target != NULL && target->dtype == result->dtype) {
        taper_status status = taper_out_resize(call, target, result->rank, result->sizes, result->strides);
        if (status != TAPER_OK) {
            taper_tensor_drop(result);
            return status;
        }
    }
    return taper_ret_tensor(call, 0, result);
}

// Returns exactly `size` rows of nonzero's result, with fill values if there are fewer.
TAPER_KERNEL(taper_op_nonzero_static)
{
    taper_tensor *x, *found, *result;
    int64_t size, fill;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_int(call, 1, &size));
    TAPER_TRY(taper_arg_int(call, 2, &fill));
    if (size < 0) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "nonzero_static: 'size' must be an non-negative integer");
    }
    const int64_t sizes[] = {size, x->rank};
    TAPER_TRY(taper_ret_new(call, 0, TAPER_I64, 2, sizes, NULL, &result));
    TAPER_TRY(taper_index_nonzero(call->run, x, &found));
    int64_t *to = taper_tensor_mutable(result);
    const int64_t *from = taper_tensor_data(found);
    for (int64_t i = 0; i < size && taper_run_step(call->run, i, 1 + x->rank); i++) {
        for (size_t d = 0; d < x->rank; d++) {
            *to++ = i < found->sizes[0] ? from[i * found->strides[0] + (int64_t)d * found->strides[1]] : fill;
        }
    }
    taper_tensor_drop(found);
    return TAPER_OK;
}

// Returns one vector of positions per dimension, as views of nonzero's columns. A tensor without dimensions counts as a
// vector of one element.
TAPER_KERNEL(taper_op_nonzero_numpy)
{
    taper_tensor *x, *positions, *column;
    taper_list *list;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    taper_tensor shape = taper_tensor_local(x); // only the shape of this tensor is used
    if (x->rank == 0) {
        shape.rank = 1;
        shape.sizes[0] = shape.strides[0] = 1;
    }
    TAPER_TRY(taper_index_nonzero(call->run, &shape, &positions));
    taper_status status = taper_ret_tensor_list(call, 0, shape.rank, &list);
    for (size_t d = 0; d < shape.rank && status == TAPER_OK; d++) {
        const taper_view view = {
            .rank = 1, .offset = (int64_t)d * positions->sizes[0], .sizes = {positions->sizes[0]}, .strides = {1}};
        status = taper_view_make(call->run, positions, &view, &column);
        if (status == TAPER_OK) {
            status = taper_tensor_list_add(call, list, column);
        }
    }
    taper_tensor_drop(positions);
    return status;
}

// ---- operators with masks

static taper_status check_mask(taper_call *call, const char *name, const taper_tensor *mask)
{
    return mask->dtype == TAPER_BOOL || mask->dtype == TAPER_U8
               ? TAPER_OK
               : taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "%s: expected BoolTensor or ByteTensor for mask",
                            name);
}

// Copies elements of a constant width, because a memcpy call per element would take most of the time.
#define PICKED(width)                                                                                                  \
    for (size_t k = 0; k < m; k++) {                                                                                   \
        memcpy(to + (width)*k, from + (width) * (size_t)at[k], (width));                                               \
    }

// Selects elements. x and mask must be contiguous.
static taper_status select_rows(taper_call *call, const taper_tensor *x, const taper_tensor *mask,
                                taper_tensor **result)
{
    taper_mask_pick *const pick = taper_mask_pick_find(TAPER_BOOL);
    const size_t all = (size_t)taper_tensor_numel(mask), item = taper_tensor_item(x);
    const uint8_t *flags = taper_tensor_data(mask);
    const int64_t count = (int64_t)taper_mask_count(TAPER_BOOL, flags, all);
    TAPER_TRY(taper_run_spend(call->run, all / 4));
    TAPER_TRY(taper_tensor_like(call->run->heap, x, 1, &count, NULL, result, call->run->error));
    char *to = taper_tensor_mutable(*result);
    uint32_t at[TAPER_MASK_PIECE];
    for (size_t i = 0; i < all && taper_run_goes_on(call->run, TAPER_MASK_PIECE * 2); i += TAPER_MASK_PIECE) {
        const size_t m = pick(flags + i, taper_min_size(TAPER_MASK_PIECE, all - i), at);
        const char *from = (const char *)taper_tensor_data(x) + i * item;
        switch (item) {
        case 1:
            PICKED(1) break;
        case 4:
            PICKED(4) break;
        case 8:
            PICKED(8) break;
        default:
            PICKED(item) break;
        }
        to += m * item;
    }
    return TAPER_OK;
}

#undef PICKED

static taper_status select_masked(taper_call *call, const taper_tensor *x, const taper_tensor *mask,
                                  taper_tensor **result)
{
    size_t item;
    TAPER_TRY(taper_move_item(x, &item, call->run->error));
    if (taper_tensor_is_contiguous(x) && taper_tensor_is_contiguous(mask)) {
        return select_rows(call, x, mask, result);
    }
    const uint8_t *flags = taper_tensor_data(mask);
    taper_index_walk walk;
    int64_t count = 0;
    taper_index_walk_start(&walk, call->run, mask->rank, mask->sizes);
    taper_index_walk_add(&walk, mask->strides);
    for (int64_t i = 0; i < walk.count; i++, taper_index_walk_next(&walk)) {
        count += flags[walk.walk.at[0]] != 0;
    }
    TAPER_TRY(taper_run_spend(call->run, 0)); // fails if the run ended before everything was counted
    TAPER_TRY(taper_tensor_like(call->run->heap, x, 1, &count, NULL, result, call->run->error));
    char *to = taper_tensor_mutable(*result);
    const char *from = taper_tensor_data(x);
    taper_index_walk_start(&walk, call->run, mask->rank, mask->sizes);
    taper_index_walk_add(&walk, mask->strides);
    taper_index_walk_add(&walk, x->strides);
    for (int64_t i = 0; i < walk.count; i++, taper_index_walk_next(&walk)) {
        if (flags[walk.walk.at[0]] != 0) {
            memcpy(to, from + walk.walk.at[1] * (int64_t)item, item);
            to += item;
        }
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_masked_select)
{
    taper_run *run = call->run;
    taper_tensor *x, *mask, *wide, *wide_mask, *result;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_tensor(call, 1, &mask));
    TAPER_TRY(check_mask(call, "masked_select", mask));
    int64_t sizes[TAPER_MAX_RANK];
    size_t rank = 0;
    (void)taper_broadcast_sizes(&rank, sizes, x->rank, x->sizes);
    if (!taper_broadcast_sizes(&rank, sizes, mask->rank, mask->sizes)) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "the sizes of self, %s, and of mask, %s, do not broadcast",
                          taper_sizes_print(x->rank, x->sizes).text, taper_sizes_print(mask->rank, mask->sizes).text);
    }
    TAPER_TRY(taper_expand(run, x, rank, sizes, &wide));
    taper_status status = taper_expand(run, mask, rank, sizes, &wide_mask);
    if (status == TAPER_OK) {
        status = select_masked(call, wide, wide_mask, &result);
        taper_tensor_drop(wide_mask);
    }
    taper_tensor_drop(wide);
    return status == TAPER_OK ? taper_ret_tensor(call, 0, result) : status;
}

#include "ops/tensor/index_mask_plain.h"

static taper_status scatter_masked(taper_call *call, taper_tensor *self, const taper_tensor *mask,
                                   const taper_tensor *source)
{
    const size_t item = taper_tensor_item(self);
    const uint8_t *flags = taper_tensor_data(mask);
    char *to = taper_tensor_mutable(self);
    const char *from = taper_tensor_data(source);
    int64_t left = taper_tensor_numel(source);
    if (are_plain(self, mask)) {
        scatter_plain(call->run, to, flags, (size_t)taper_tensor_numel(self), from, item, &left);
        return left >= 0 ? TAPER_OK
                         : taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                                      "Number of elements of source < number of ones in mask");
    }
    taper_index_walk walk;
    taper_index_walk_start(&walk, call->run, self->rank, self->sizes);
    taper_index_walk_add(&walk, self->strides);
    taper_index_walk_add(&walk, mask->strides);
    for (int64_t i = 0; i < walk.count; i++, taper_index_walk_next(&walk)) {
        if (flags[walk.walk.at[1]] == 0) {
            continue;
        }
        if (left-- == 0) {
            return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                              "Number of elements of source < number of ones in mask");
        }
        memcpy(to + walk.walk.at[0] * (int64_t)item, from, item);
        from += item;
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_masked_scatter)
{
    taper_run *run = call->run;
    taper_tensor *x, *self = NULL, *mask, *wide_mask = NULL, *source, *flat = NULL;
    size_t item;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_tensor(call, 1, &mask));
    TAPER_TRY(taper_arg_tensor(call, 2, &source));
    TAPER_TRY(check_mask(call, "masked_scatter", mask));
    TAPER_TRY(taper_move_item(x, &item, run->error));
    if (x->dtype != source->dtype) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT,
                          "masked_scatter: expected self and source to have same dtypes but got %s and %s",
                          taper_dtype_name((taper_dtype)x->dtype), taper_dtype_name((taper_dtype)source->dtype));
    }
    taper_status status;
    if (taper_call_in_place(call)) {
        status = taper_inplace_begin(call, TAPER_FORMAT_CONTIGUOUS, &self);
    } else { // a new result: self and the mask are broadcast together
        int64_t sizes[TAPER_MAX_RANK];
        size_t rank = 0;
        taper_tensor *wide;
        (void)taper_broadcast_sizes(&rank, sizes, x->rank, x->sizes);
        if (!taper_broadcast_sizes(&rank, sizes, mask->rank, mask->sizes)) {
            return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "the sizes of self and mask do not broadcast");
        }
        TAPER_TRY(taper_expand(run, x, rank, sizes, &wide));
        status = taper_view_clone(run, wide, TAPER_FORMAT_CONTIGUOUS, &self);
        taper_tensor_drop(wide);
    }
    TAPER_TRY(status);
    status = taper_expand(run, mask, self->rank, self->sizes, &wide_mask);
    if (status == TAPER_OK) {
        status = taper_index_flat(run, source, &flat);
    }
    if (status == TAPER_OK) {
        status = scatter_masked(call, self, wide_mask, flat);
        taper_tensor_drop(flat);
    }
    if (wide_mask != NULL) {
        taper_tensor_drop(wide_mask);
    }
    if (status != TAPER_OK) {
        taper_tensor_drop(self);
        return status;
    }
    return taper_inplace_end(call, self);
}

// ---- take and put: flat positions

// Computes the offset in x of the flat position `at`. Fails if the position is out of bounds. A negative position
// counts from the end.
static taper_status flat_offset(taper_error *error, const taper_tensor *x, int64_t count, bool contiguous, int64_t at,
                                int64_t *offset)
{
    if (at < -count || at >= count) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "out of range: tried to access index %lld on a tensor of %lld elements.", (long long)at,
                          (long long)count);
    }
    at += at < 0 ? count : 0;
    if (contiguous) {
        *offset = at;
        return TAPER_OK;
    }
    *offset = 0;
    for (size_t d = x->rank; d-- > 0;) {
        *offset += at % x->sizes[d] * x->strides[d];
        at /= x->sizes[d];
    }
    return TAPER_OK;
}

static taper_status check_positions(taper_call *call, const char *name, const taper_tensor *x,
                                    const taper_tensor *index)
{
    TAPER_TRY(taper_check_index(index, false, name, call->run->error));
    if (taper_tensor_numel(x) == 0 && taper_tensor_numel(index) != 0) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "%s: tried to take from an empty tensor", name);
    }
    return TAPER_OK;
}

#include "ops/tensor/index_mask_positions.h"

TAPER_KERNEL(taper_op_take)
{
    taper_error *error = call->run->error;
    taper_tensor *x, *index, *result;
    size_t item;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_tensor(call, 1, &index));
    TAPER_TRY(taper_move_item(x, &item, error));
    TAPER_TRY(check_positions(call, "take()", x, index));
    TAPER_TRY(taper_tensor_like(call->run->heap, x, index->rank, index->sizes, NULL, &result, error));
    const int64_t count = taper_tensor_numel(x);
    const bool contiguous = taper_tensor_is_contiguous(x);
    char *to = taper_tensor_mutable(result);
    bool done;
    const taper_status moved = move_positions(call->run, x, index, (char *)(uintptr_t)taper_tensor_data(x), to, false,
                                              TAPER_INTO_SET, &done); // take only reads the table
    if (moved != TAPER_OK) {
        taper_tensor_drop(result);
        return moved;
    }
    if (done) {
        return taper_ret_tensor(call, 0, result);
    }
    taper_index_walk walk;
    taper_index_walk_start(&walk, call->run, index->rank, index->sizes);
    taper_index_walk_add(&walk, index->strides);
    for (int64_t i = 0; i < walk.count; i++, taper_index_walk_next(&walk), to += item) {
        int64_t offset;
        const taper_status status =
            flat_offset(error, x, count, contiguous, taper_index_at(index, walk.walk.at[0]), &offset);
        if (status != TAPER_OK) {
            taper_tensor_drop(result);
            return status;
        }
        memcpy(to, (const char *)taper_tensor_data(x) + offset * (int64_t)item, item);
    }
    return taper_ret_tensor(call, 0, result);
}

TAPER_KERNEL(taper_op_put)
{
    taper_error *error = call->run->error;
    taper_tensor *self, *index, *source, *flat;
    bool accumulate;
    taper_into_function into;
    TAPER_TRY(taper_arg_tensor(call, 0, &self));
    TAPER_TRY(taper_arg_tensor(call, 1, &index));
    TAPER_TRY(taper_arg_tensor(call, 2, &source));
    TAPER_TRY(taper_arg_bool(call, 3, &accumulate));
    TAPER_TRY(check_positions(call, "put_()", self, index));
    TAPER_TRY(taper_into_get((taper_dtype)self->dtype, accumulate ? TAPER_INTO_ADD : TAPER_INTO_SET, &into, error));
    if (self->dtype != source->dtype) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "put_(): self and source expected to have the same dtype, but got self.dtype = %s and "
                          "source.dtype = %s",
                          taper_dtype_name((taper_dtype)self->dtype), taper_dtype_name((taper_dtype)source->dtype));
    }
    if (taper_tensor_numel(source) != taper_tensor_numel(index)) {
        return taper_fail(
            error, TAPER_ERROR_ARGUMENT,
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = %lld, "
            "index.numel() = %lld",
            (long long)taper_tensor_numel(source), (long long)taper_tensor_numel(index));
    }
    TAPER_TRY(taper_inplace_begin(call, TAPER_FORMAT_PRESERVE, &self));
    taper_status status = taper_index_flat(call->run, source, &flat);
    bool done = false;
    if (status == TAPER_OK) {
        status = move_positions(call->run, self, index, taper_tensor_mutable(self),
                                (char *)(uintptr_t)taper_tensor_data(flat), true, // put only reads the source
                                accumulate ? TAPER_INTO_ADD : TAPER_INTO_SET, &done);
        if (status != TAPER_OK || done) {
            taper_tensor_drop(flat);
        }
    }
    if (status == TAPER_OK && !done) {
        const int64_t count = taper_tensor_numel(self), item = (int64_t)taper_tensor_item(self);
        const bool contiguous = taper_tensor_is_contiguous(self);
        const char *from = taper_tensor_data(flat);
        taper_index_walk walk;
        taper_index_walk_start(&walk, call->run, index->rank, index->sizes);
        taper_index_walk_add(&walk, index->strides);
        for (int64_t i = 0; i < walk.count && status == TAPER_OK; i++, taper_index_walk_next(&walk), from += item) {
            int64_t offset;
            status = flat_offset(error, self, count, contiguous, taper_index_at(index, walk.walk.at[0]), &offset);
            if (status == TAPER_OK) {
                into((char *)taper_tensor_mutable(self) + offset * item, 0, from, 0, 1);
            }
        }
        taper_tensor_drop(flat);
    }
    if (status != TAPER_OK) {
        taper_tensor_drop(self);
        return status;
    }
    return taper_inplace_end(call, self);
}
