// SPDX-License-Identifier: BSD-2-Clause
// Operators that only select elements (index, sort, maximum, …) run as operators on integers. The operator's own kernel
// gets the quantized tensors as plain tensors over the same bytes, and its results get the quantizer of the first
// tensor. Operators that store numbers (fill, masked_fill, index_put) quantize the numbers first.
#include "ir/storage.h"
#include "ir/tensor.h"
#include "ir/walk.h"
#include "ops/call/call.h"
#include "ops/engine/view_move.h"
#include "ops/engine/view_shape.h"
#include "ops/list/op_table.h"
#include "ops/quantized/quantized.h"

enum { MOST = 8 };

// Returns a plain view of the integers of q.
static taper_status plain_view(taper_run *run, const taper_tensor *q, taper_tensor **plain)
{
    return taper_tensor_view(run->heap, q->storage, taper_q_plain_dtype((taper_dtype)q->dtype), q->offset, q->rank,
                             q->sizes, q->strides, plain, run->error);
}

static taper_status retag(taper_call *call, const taper_tensor *like, taper_val value)
{
    if (value.tag != TAPER_TENSOR || value.as.tensor->dtype != taper_q_plain_dtype((taper_dtype)like->dtype)) {
        return TAPER_OK;
    }
    value.as.tensor->dtype = like->dtype;
    return taper_tensor_set_quantizer(value.as.tensor, like->quantizer, call->run->error);
}

// Runs the operator's own kernel on args, the call's arguments with some of them replaced. Argument 0, the quantized
// tensor x, is passed as integers.
static taper_status run_plain(taper_call *call, taper_tensor *x, taper_val *args)
{
    taper_tensor *plain;
    const bool in_place = taper_call_in_place(call);
    if (in_place) {
        // This call may move the storage. The view is therefore made after it, because the view must use the memory
        // that is written.
        TAPER_TRY(taper_storage_write(x->storage, call->run->error));
    }
    TAPER_TRY(plain_view(call->run, x, &plain));
    args[0] = TAPER_VAL(plain);
    taper_call inner = *call;
    inner.args = args;
    taper_status status = taper_row_kernel(call->op)(&inner);
    for (size_t i = 0; status == TAPER_OK && i < call->ret_count; i++) {
        if (in_place && call->rets[i].tag == TAPER_TENSOR && call->rets[i].as.tensor == plain) {
            taper_obj_retain(&x->head);
            taper_ret(call, i, TAPER_VAL(x));
        } else {
            status = retag(call, x, call->rets[i]);
        }
    }
    taper_obj_release(&plain->head);
    return status;
}

static taper_status copy_args(const taper_call *call, taper_val *args)
{
    if (call->arg_count > MOST) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_INTERNAL, "too many arguments");
    }
    memcpy(args, call->args, call->arg_count * sizeof *args);
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_q_plain)
{
    taper_val args[MOST];
    taper_tensor *x;
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    TAPER_TRY(copy_args(call, args));
    for (size_t i = 1; i < call->arg_count; i++) {
        if (call->args[i].tag == TAPER_TENSOR &&
            taper_dtype_is_quantized((taper_dtype)call->args[i].as.tensor->dtype)) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument '%s' must not be a quantized tensor",
                       taper_arg_name(call, i));
        }
    }
    return run_plain(call, x, args);
}

// Computes sort, argsort and msort. They work on a copy in the format that the strides suggest, as in PyTorch.
TAPER_KERNEL(taper_op_q_sort)
{
    taper_val args[MOST];
    taper_tensor *x, *copy;
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    TAPER_TRY(copy_args(call, args));
    const int64_t format = !taper_tensor_suggests_channels_last(x) ? TAPER_FORMAT_CONTIGUOUS
                           : x->rank == 4                          ? TAPER_FORMAT_CHANNELS_LAST
                                                                   : TAPER_FORMAT_CHANNELS_LAST_3D;
    TAPER_TRY(taper_view_clone(call->run, x, format, &copy));
    const taper_status status = run_plain(call, copy, args);
    taper_obj_release(&copy->head);
    return status;
}

// ---- operators that store numbers

// Quantizes argument `at`, a number or a tensor of one element, to an integer of x.
static taper_status quantize_scalar(const taper_call *call, size_t at, const taper_tensor *x, int64_t *q)
{
    const taper_quantizer *z = x->quantizer;
    taper_scalar number;
    TAPER_TRY(taper_arg_scalar(call, at, &number));
    *q = taper_q_round((float)number.f * (1.0f / (float)z->scale), z->zero_point,
                       taper_q_range_of((taper_dtype)x->dtype));
    return TAPER_OK;
}

// Runs the operator's own kernel with argument `at`, a number, quantized. The other arguments are unchanged.
static taper_status with_number(taper_call *call, size_t at)
{
    taper_val args[MOST];
    taper_tensor *x;
    int64_t q;
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    if (taper_dtype_is_quantized(call->args[at].tag == TAPER_TENSOR ? (taper_dtype)call->args[at].as.tensor->dtype
                                                                    : TAPER_F32)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument '%s' must not be a quantized tensor",
                   taper_arg_name(call, at));
    }
    TAPER_TRY(quantize_scalar(call, at, x, &q));
    TAPER_TRY(copy_args(call, args));
    args[at] = taper_val_int(q);
    if (call->args[at].tag != TAPER_TENSOR) {
        return run_plain(call, x, args);
    }
    taper_tensor *number;
    TAPER_TRY(taper_tensor_new(call->run->heap, taper_q_plain_dtype((taper_dtype)x->dtype), 0, NULL, NULL, &number,
                               call->run->error));
    taper_q_store((taper_dtype)x->dtype, taper_tensor_mutable(number), 0, q);
    args[at] = TAPER_VAL(number);
    const taper_status status = run_plain(call, x, args);
    taper_obj_release(&number->head);
    return status;
}

TAPER_KERNEL(taper_op_q_fill)
{
    return with_number(call, 1);
}

TAPER_KERNEL(taper_op_q_masked_fill)
{
    return with_number(call, 2);
}

// Computes index_put(self, indices, values, accumulate) with values that are floats.
TAPER_KERNEL(taper_op_q_index_put)
{
    taper_val args[MOST];
    taper_tensor *x, *values, *whole, *ints;
    bool accumulate;
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    TAPER_TRY(taper_arg_plain(call, 2, &values));
    TAPER_TRY(taper_arg_bool(call, 3, &accumulate));
    if (accumulate || values->dtype != TAPER_F32) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "index_put on quantized tensors takes float32 values and does not accumulate");
    }
    TAPER_TRY(copy_args(call, args));
    TAPER_TRY(taper_run_contiguous(call->run, values, &whole));
    taper_status status = taper_tensor_new(call->run->heap, taper_q_plain_dtype((taper_dtype)x->dtype), values->rank,
                                           values->sizes, NULL, &ints, call->run->error);
    if (status == TAPER_OK) {
        const taper_quantizer *z = x->quantizer;
        const float *from = taper_tensor_data(whole), inverse = 1.0f / (float)z->scale;
        for (int64_t i = 0; i < taper_tensor_numel(values); i++) {
            taper_q_store((taper_dtype)x->dtype, taper_tensor_mutable(ints), i,
                          taper_q_round(from[i] * inverse, z->zero_point, taper_q_range_of((taper_dtype)x->dtype)));
        }
        args[2] = TAPER_VAL(ints);
        status = run_plain(call, x, args);
        taper_obj_release(&ints->head);
    }
    taper_obj_release(&whole->head);
    return status;
}

// ---- copy_ with quantized tensors

TAPER_KERNEL(taper_op_q_clone)
{
    taper_tensor *x, *clone;
    int64_t format;
    TAPER_TRY(taper_arg_quantized(call, 0, &x));
    TAPER_TRY(taper_arg_int_or(call, 1, TAPER_FORMAT_CONTIGUOUS, &format));
    if (format == TAPER_FORMAT_PRESERVE) {
        format = !taper_tensor_suggests_channels_last(x) ? TAPER_FORMAT_CONTIGUOUS
                 : x->rank == 4                          ? TAPER_FORMAT_CHANNELS_LAST
                                                         : TAPER_FORMAT_CHANNELS_LAST_3D;
    }
    TAPER_TRY(taper_view_clone(call->run, x, format, &clone));
    return taper_ret_tensor(call, 0, clone);
}

// Computes copy_(self, src). A quantized src also gives its quantizer; floats are quantized.
TAPER_KERNEL(taper_op_q_copy_)
{
    taper_error *error = call->run->error;
    taper_tensor *x, *from;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    TAPER_TRY(taper_arg_plain(call, 1, &from));
    if (!taper_dtype_is_quantized((taper_dtype)x->dtype)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "a quantized tensor cannot be copied to one that is not; dequantize it first");
    }
    TAPER_TRY(taper_q_check_tensor(call->run, "self", x));
    TAPER_TRY(taper_ret_check_overlap(call, x));
    if (taper_dtype_is_quantized((taper_dtype)from->dtype)) {
        TAPER_TRY(taper_q_check_tensor(call->run, "src", from));
        if (from->dtype != x->dtype || from->quantizer->scheme != x->quantizer->scheme) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "tensors of other dtypes or quantizers cannot be copied: %s to %s",
                       taper_dtype_name((taper_dtype)from->dtype), taper_dtype_name((taper_dtype)x->dtype));
        }
        TAPER_TRY(taper_storage_write(x->storage, error));
        TAPER_TRY(taper_run_copy(call->run, x, from));
        TAPER_TRY(taper_tensor_set_quantizer(x, from->quantizer, error));
    } else {
        const taper_quantizer *z = x->quantizer;
        bool same = x->rank == from->rank;
        for (size_t d = 0; same && d < x->rank; d++) {
            same = x->sizes[d] == from->sizes[d];
        }
        if (from->dtype != TAPER_F32 || !same || z->scales != NULL || !taper_tensor_is_contiguous(x) ||
            !taper_tensor_is_contiguous(from)) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "copying numbers to a quantized tensor takes a contiguous float32 tensor of its sizes");
        }
        TAPER_TRY(taper_storage_write(x->storage, error));
        const float *numbers = taper_tensor_data(from), inverse = 1.0f / (float)z->scale;
        void *to = taper_tensor_mutable(x);
        for (int64_t i = 0; i < taper_tensor_numel(x); i++) {
            taper_q_store((taper_dtype)x->dtype, to, i,
                          taper_q_round(numbers[i] * inverse, z->zero_point, taper_q_range_of((taper_dtype)x->dtype)));
        }
    }
    taper_obj_retain(&x->head);
    taper_ret(call, 0, TAPER_VAL(x));
    return TAPER_OK;
}

// ---- equal with quantized tensors

static bool same_vector(const taper_tensor *a, const taper_tensor *b)
{
    bool same = a != NULL && b != NULL && taper_tensor_numel(a) == taper_tensor_numel(b);
    for (int64_t i = 0; same && i < taper_tensor_numel(a); i++) {
        same = taper_load_double((taper_dtype)a->dtype, taper_tensor_data(a), i) ==
               taper_load_double((taper_dtype)b->dtype, taper_tensor_data(b), i);
    }
    return same;
}

static bool same_quantizer(const taper_quantizer *a, const taper_quantizer *b)
{
    if (a->scheme != b->scheme || (a->scales == NULL) != (b->scales == NULL)) {
        return false;
    }
    return a->scales == NULL
               ? a->scale == b->scale && a->zero_point == b->zero_point
               : a->axis == b->axis && same_vector(a->scales, b->scales) && same_vector(a->zero_points, b->zero_points);
}

TAPER_KERNEL(taper_op_q_equal)
{
    taper_tensor *a, *b;
    TAPER_TRY(taper_arg_plain(call, 0, &a));
    TAPER_TRY(taper_arg_plain(call, 1, &b));
    if (!taper_dtype_is_quantized((taper_dtype)a->dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument 'self' must be quantized when 'other' is");
    }
    TAPER_TRY(taper_q_check_tensor(call->run, "self", a));
    bool same = b->dtype == a->dtype && a->rank == b->rank;
    if (same) {
        TAPER_TRY(taper_q_check_tensor(call->run, "other", b));
        same = same_quantizer(a->quantizer, b->quantizer);
    }
    for (size_t d = 0; same && d < a->rank; d++) {
        same = a->sizes[d] == b->sizes[d];
    }
    int64_t a_steps[TAPER_MAX_RANK], b_steps[TAPER_MAX_RANK];
    taper_walk walk;
    taper_tensor_steps(a, 1, a_steps);
    taper_tensor_steps(b, 1, b_steps);
    taper_walk_over(&walk, same ? a->rank : 0, a->sizes, SIZE_MAX, a_steps, b_steps);
    const int64_t count = same ? taper_tensor_numel(a) : 0;
    for (int64_t n = 0; n < count && same && taper_run_step(call->run, n, 20); n++) {
        same = taper_q_load((taper_dtype)a->dtype, taper_tensor_data(a), walk.at[0]) ==
               taper_q_load((taper_dtype)a->dtype, taper_tensor_data(b), walk.at[1]);
        (void)taper_walk_next(&walk);
    }
    taper_ret(call, 0, taper_val_bool(same));
    return TAPER_OK;
}
