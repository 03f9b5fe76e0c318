// SPDX-License-Identifier: BSD-2-Clause
// Elementwise operators that prepare their operands or have several results, and operators on the parts of complex
// numbers. glu halves its input, prelu aligns its weights with the channels, frexp has two results.
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/math/elementwise_ops.h"

static taper_status ret_argument(taper_call *call)
{
    taper_ret(call, 0, taper_val_retain(call->args[0]));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_glu)
{
    taper_tensor *x, *halves[2] = {NULL, NULL};
    size_t dim;
    taper_error *error = call->run->error;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    if (x->rank == 0) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "glu does not support 0-dimensional tensors");
    }
    TAPER_TRY(taper_arg_dim(call, 1, x->rank, &dim));
    if (x->sizes[dim] % 2 != 0) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "Halving dimension must be even, but dimension %zu is size %lld", dim,
                   (long long)x->sizes[dim]);
    }
    int64_t sizes[TAPER_MAX_RANK];
    memcpy(sizes, x->sizes, sizeof sizes);
    sizes[dim] /= 2;
    taper_status status = TAPER_OK;
    for (size_t k = 0; k < 2 && status == TAPER_OK; k++) {
        status =
            taper_tensor_alias(call->run->heap, x, x->offset + (k == 0 ? 0 : sizes[dim] * taper_tensor_step(x, dim)),
                               x->rank, sizes, x->strides, &halves[k], error);
    }
    if (status == TAPER_OK) {
        taper_ew ew = taper_ew_make(&taper_ew_glu);
        taper_ew_input_tensor(&ew, halves[0]);
        taper_ew_input_tensor(&ew, halves[1]);
        status = taper_ew_run(call, &ew);
    }
    taper_tensor_drop(halves[0]);
    taper_tensor_drop(halves[1]);
    return status;
}

TAPER_KERNEL(taper_op_prelu)
{
    taper_tensor *x, *weight, *flat, *spread;
    taper_error *error = call->run->error;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_tensor(call, 1, &weight));
    const int64_t count = taper_tensor_numel(weight);
    if (weight->dtype != x->dtype) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "prelu: Type promoting not supported. Got %s and %s",
                   taper_dtype_torch_name((taper_dtype)x->dtype), taper_dtype_torch_name((taper_dtype)weight->dtype));
    }
    if (count != 1) {
        if (x->rank == 0) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "Not allow zero-dim input tensor.");
        }
        const int64_t channels = x->rank > 1 ? x->sizes[1] : 1;
        if (channels != count) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "Mismatch of parameter numbers and input channel size. Found parameter numbers = %lld and "
                       "channel size = %lld.",
                       (long long)count, (long long)channels);
        }
    }
    TAPER_TRY(taper_run_contiguous(call->run, weight, &flat));
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK] = {0};
    const size_t rank = x->rank;
    for (size_t i = 0; i < rank; i++) {
        sizes[i] = i == 1 ? count : 1;
        strides[i] = 1;
    }
    if (rank == 1) {
        sizes[0] = 1;
    }
    taper_status status = taper_tensor_alias(call->run->heap, flat, flat->offset, rank, sizes, strides, &spread, error);
    taper_tensor_drop(flat);
    TAPER_TRY(status);
    taper_ew ew = taper_ew_make(&taper_ew_prelu);
    taper_ew_input_tensor(&ew, x);
    taper_ew_input_tensor(&ew, spread);
    ew.layout = taper_tensor_suggests_channels_last(x) ? TAPER_EW_LIKE : TAPER_EW_CONTIGUOUS;
    status = taper_ew_run(call, &ew);
    taper_tensor_drop(spread);
    return status;
}

// Runs op on argument 0 and sets its result as result number `at`. `result` is the dtype of the result, or -1 for the
// dtype that the arithmetic gives.
static taper_status run_for(taper_call *call, const taper_ew_op *op, size_t at, int result, taper_ew_layout layout)
{
    taper_ew ew = taper_ew_make(op);
    TAPER_TRY(taper_ew_input_arg(&ew, call, 0));
    ew.ret = at;
    ew.result = result;
    ew.layout = (uint8_t)layout;
    return taper_ew_run(call, &ew);
}

TAPER_KERNEL(taper_op_frexp)
{
    TAPER_TRY(run_for(call, &taper_ew_mantissa, 0, -1, TAPER_EW_LIKE));
    return run_for(call, &taper_ew_exponent, 1, TAPER_I32, TAPER_EW_LIKE);
}

TAPER_KERNEL(taper_op_log_sigmoid_forward)
{
    // Result 1 is computed first, because `out` may be the input.
    TAPER_TRY(run_for(call, &taper_ew_exp_minus_abs, 1, -1, TAPER_EW_CONTIGUOUS));
    return run_for(call, &taper_ew_log_sigmoid, 0, -1, TAPER_EW_CONTIGUOUS);
}

TAPER_KERNEL(taper_op_log_sigmoid)
{
    return run_for(call, &taper_ew_log_sigmoid, 0, -1, TAPER_EW_CONTIGUOUS);
}

TAPER_KERNEL(taper_op_positive)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    if (x->dtype == TAPER_BOOL) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "The `+` operator, on a bool tensor is not supported.");
    }
    return ret_argument(call);
}

// ---- complex numbers

// Returns a view of the real parts (part 0) or the imaginary parts (part 1) of a complex tensor.
static taper_status ret_part(taper_call *call, taper_tensor *x, int64_t part)
{
    int64_t strides[TAPER_MAX_RANK];
    for (size_t i = 0; i < x->rank; i++) {
        strides[i] = taper_wrap_mul(x->strides[i], 2);
    }
    taper_tensor *view;
    TAPER_TRY(taper_tensor_view(call->run->heap, x->storage, taper_dtype_to_real((taper_dtype)x->dtype),
                                2 * x->offset + part, x->rank, x->sizes, strides, &view, call->run->error));
    taper_ret(call, 0, TAPER_VAL(view));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_real)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    return taper_dtype_is_complex((taper_dtype)x->dtype) ? ret_part(call, x, 0) : ret_argument(call);
}

TAPER_KERNEL(taper_op_imag)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    if (!taper_dtype_is_complex((taper_dtype)x->dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "imag is not implemented for tensors with non-complex dtypes.");
    }
    return ret_part(call, x, 1);
}

// Returns the conjugate. A real tensor is its own conjugate. The elements of a complex tensor are conjugated
// immediately, whereas PyTorch sets a flag and conjugates later.
TAPER_KERNEL(taper_op_conj)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    if (!taper_dtype_is_complex((taper_dtype)x->dtype) && taper_ret_target(call, 0) == NULL) {
        return ret_argument(call);
    }
    return run_for(call, &taper_ew_conj, 0, -1, TAPER_EW_ITERATOR);
}

// Computes complex(real, imag) or polar(abs, angle), as the operator's param says.
TAPER_KERNEL(taper_op_complex)
{
    taper_tensor *a, *b;
    TAPER_TRY(taper_arg_tensor(call, 0, &a));
    TAPER_TRY(taper_arg_tensor(call, 1, &b));
    if (a->dtype != b->dtype || (a->dtype != TAPER_F32 && a->dtype != TAPER_F64 && a->dtype != TAPER_F16)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "Expected both inputs to be Half, Float or Double tensors of one dtype but got %s and %s",
                   taper_dtype_torch_name((taper_dtype)a->dtype), taper_dtype_torch_name((taper_dtype)b->dtype));
    }
    taper_ew ew = taper_ew_make(call->param);
    taper_ew_input_tensor(&ew, a);
    taper_ew_input_tensor(&ew, b);
    ew.common = (int)taper_dtype_to_complex((taper_dtype)a->dtype);
    ew.unconverted = true;
    return taper_ew_run(call, &ew);
}

TAPER_KERNEL(taper_op_result_type)
{
    taper_promotion promotion = taper_promotion_start();
    for (size_t k = 0; k < 2; k++) {
        if (k < call->arg_count && call->args[k].tag == TAPER_TENSOR) {
            taper_promotion_tensor(&promotion, call->args[k].as.tensor);
        } else {
            taper_scalar scalar;
            TAPER_TRY(taper_arg_scalar(call, k, &scalar));
            taper_promotion_scalar(&promotion, &scalar);
        }
    }
    taper_ret(call, 0, taper_val_int((int64_t)taper_promotion_result(&promotion)));
    return TAPER_OK;
}

static taper_status dtype_pair(const taper_call *call, taper_dtype *a, taper_dtype *b)
{
    int64_t number;
    TAPER_TRY(taper_arg_int(call, 0, &number)); // fails if the argument is None
    TAPER_TRY(taper_arg_int(call, 1, &number));
    TAPER_TRY(taper_arg_dtype_or(call, 0, TAPER_F32, a));
    return taper_arg_dtype_or(call, 1, TAPER_F32, b);
}

TAPER_KERNEL(taper_op_can_cast)
{
    taper_dtype from, to;
    TAPER_TRY(dtype_pair(call, &from, &to));
    taper_ret(call, 0, taper_val_bool(taper_can_cast(from, to)));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_promote_types)
{
    taper_dtype a, b;
    TAPER_TRY(dtype_pair(call, &a, &b));
    taper_ret(call, 0, taper_val_int((int64_t)taper_promote(a, b)));
    return TAPER_OK;
}
