// SPDX-License-Identifier: BSD-2-Clause
// Dropout and randomized slopes in training, with PyTorch's order of random numbers. A model that was not put into
// evaluation mode therefore gives PyTorch's results for the same seed. In evaluation dropout returns its argument.
#include "ops/nn/dropout.h"

#include <math.h>

#include "base/single.h"
#include "ir/storage.h"
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/view_shape.h"
#include "ops/math/elementwise_ops.h"
#include "ops/tensor/create_random.h"
#include "ops/tensor/elementwise_copy.h"

const taper_dropout taper_dropout_plain = {false, false}, taper_dropout_features = {true, false},
                    taper_dropout_alpha = {false, true}, taper_dropout_alpha_features = {true, true};

// ---- dropout

static taper_status multiply(taper_call *call, taper_tensor *x, taper_tensor *noise)
{
    taper_ew ew = taper_ew_make(&taper_ew_mul);
    taper_ew_input_tensor(&ew, x);
    taper_ew_input_tensor(&ew, noise);
    return taper_ew_run(call, &ew);
}

// Adds `b` to result 0, which contains only the product so far.
static taper_status add_in_place(taper_call *call, taper_tensor *b)
{
    taper_tensor *result = call->rets[0].as.tensor;
    taper_ew ew = taper_ew_make(&taper_ew_add);
    const taper_scalar one = taper_scalar_int(1);
    taper_ew_set_scalar(&ew.args, 0, &one); // sets the argument alpha of add to 1
    taper_ew_input_tensor(&ew, result);
    taper_ew_input_tensor(&ew, b);
    return taper_ew_into(call, &ew, result);
}

// Turns the zeros and ones of `a` into factors, and fills `b` with the numbers that are added to the product.
static void alpha_noise(taper_run *run, taper_tensor *a, taper_tensor *b, double p)
{
    const double alpha = 1.7580993408473766; // SELU's alpha * scale, which is minus the limit of SELU at -inf
    const double factor = 1 / sqrt((alpha * alpha * p + 1) * (1 - p));
    const taper_dtype dtype = (taper_dtype)a->dtype;
    void *factors = taper_tensor_mutable(a), *added = taper_tensor_mutable(b);
    const int64_t count = taper_tensor_numel(a);
    // For float32 tensors PyTorch rounds these numbers to float32.
    const double move = taper_step(dtype != TAPER_F64, alpha * factor);
    const double base = taper_step(dtype != TAPER_F64, alpha * factor * p);
    for (int64_t i = 0; i < count && taper_run_step(run, i, 50); i++) {
        const double kept = taper_load_double(dtype, factors, i);
        taper_put_double(dtype, added, i, (kept - 1) * move);
        taper_put_double(dtype, added, i, taper_load_double(dtype, added, i) + base);
        taper_put_double(dtype, factors, i, kept * factor);
    }
}

static taper_status train(taper_call *call, const taper_dropout *kind, taper_tensor *x, double p)
{
    taper_run *run = call->run;
    int64_t sizes[TAPER_MAX_RANK];
    memcpy(sizes, x->sizes, sizeof sizes);
    if (kind->features && x->rank < 2) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT,
                          "Feature dropout requires at least 2 dimensions in the input");
    }
    for (size_t i = 2; i < x->rank && kind->features; i++) {
        sizes[i] = 1;
    }
    if (x->dtype != TAPER_F32 && x->dtype != TAPER_F64 && x->dtype != TAPER_BF16) {
        return taper_fail(run->error, TAPER_ERROR_UNSUPPORTED, "argument 'input': training is not implemented for %s",
                          taper_dtype_name((taper_dtype)x->dtype));
    }
    taper_tensor *noise, *added = NULL;
    TAPER_TRY(taper_tensor_new(run->heap, (taper_dtype)x->dtype, x->rank, sizes, NULL, &noise, run->error));
    taper_status status = taper_fill_bernoulli(call, noise, 1 - p);
    if (status == TAPER_OK && kind->alpha) {
        status = taper_tensor_new(run->heap, (taper_dtype)x->dtype, x->rank, sizes, NULL, &added, run->error);
        if (status == TAPER_OK) {
            alpha_noise(run, noise, added, p);
        }
    } else if (status == TAPER_OK) {
        const int64_t count = taper_tensor_numel(noise);
        const double keep = taper_step(x->dtype != TAPER_F64, 1 - p);
        void *data = taper_tensor_mutable(noise);
        for (int64_t i = 0; i < count && taper_run_step(run, i, 20); i++) {
            taper_put_double((taper_dtype)x->dtype, data, i, taper_load_double((taper_dtype)x->dtype, data, i) / keep);
        }
    }
    if (status == TAPER_OK) {
        status = multiply(call, x, noise);
    }
    if (status == TAPER_OK && added != NULL) {
        status = add_in_place(call, added);
    }
    taper_tensor_drop(noise);
    taper_tensor_drop(added);
    return status;
}

TAPER_KERNEL(taper_op_dropout)
{
    const taper_dropout *kind = call->param;
    double p;
    bool training;
    taper_tensor *x, *zero;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_double(call, 1, &p));
    TAPER_TRY(taper_arg_bool(call, 2, &training));
    if (!(p >= 0 && p <= 1)) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "dropout probability has to be between 0 and 1, but got %g", p);
    }
    if (!training || p == 0 || taper_tensor_numel(x) == 0) {
        taper_ret(call, 0, taper_val_retain(call->args[0]));
        return TAPER_OK;
    }
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    if (p < 1) {
        return train(call, kind, x, p);
    }
    TAPER_TRY(taper_run_zeros(call->run, (taper_dtype)x->dtype, 0, NULL, &zero));
    // Multiplies by zero, because NaN and infinity then give NaN, as in PyTorch. A fill with zeros would lose them.
    const taper_status status = multiply(call, x, zero);
    taper_tensor_drop(zero);
    return status;
}

static taper_status train_native(taper_call *call, taper_tensor *x, double p)
{
    taper_run *run = call->run;
    taper_tensor *mask, *result;
    int64_t strides[TAPER_MAX_RANK];
    if (!taper_dtype_is_float((taper_dtype)x->dtype) && !taper_dtype_is_complex((taper_dtype)x->dtype)) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT,
                          "result type Float can't be cast to the desired output type %s",
                          taper_dtype_torch_name((taper_dtype)x->dtype));
    }
    TAPER_TRY(taper_like_strides(x, TAPER_FORMAT_PRESERVE, strides, run->error));
    TAPER_TRY(taper_tensor_new(run->heap, TAPER_BOOL, x->rank, x->sizes, strides, &mask, run->error));
    taper_status status = taper_fill_bernoulli(call, mask, 1 - p);
    if (status == TAPER_OK) {
        taper_ew ew = taper_ew_make(&taper_ew_mul);
        taper_ew_input_tensor(&ew, x);
        taper_ew_input_tensor(&ew, mask);
        status = taper_ew_compute(call, &ew, &result);
    }
    if (status == TAPER_OK) {
        taper_ew ew = taper_ew_make(&taper_ew_mul);
        taper_ew_input_tensor(&ew, result);
        taper_ew_input_scalar(&ew, taper_scalar_double(p == 1 ? 0 : 1 / (1 - p)));
        status = taper_ew_into(call, &ew, result);
        if (status == TAPER_OK) {
            status = taper_ret_tensor(call, 0, result);
        } else {
            taper_tensor_drop(result);
        }
    }
    if (status != TAPER_OK) {
        taper_tensor_drop(mask);
        return status;
    }
    return taper_ret_tensor(call, 1, mask);
}

TAPER_KERNEL(taper_op_native_dropout)
{
    double p;
    bool train = true;
    taper_tensor *x, *mask;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    if (!taper_arg_is_none(call, 2)) {
        TAPER_TRY(taper_arg_bool(call, 2, &train));
    }
    const bool empty = taper_tensor_numel(x) == 0;
    if (train && !empty) {
        TAPER_TRY(taper_arg_double(call, 1, &p));
        TAPER_TRY(taper_arg_plain(call, 0, &x));
        return train_native(call, x, p);
    }
    TAPER_TRY(taper_ret_copy(call, x, (taper_dtype)x->dtype, TAPER_FORMAT_PRESERVE));
    int64_t strides[TAPER_MAX_RANK];
    TAPER_TRY(taper_like_strides(x, TAPER_FORMAT_PRESERVE, strides, call->run->error));
    TAPER_TRY(taper_ret_new(call, 1, empty ? (taper_dtype)x->dtype : TAPER_BOOL, x->rank, x->sizes, strides, &mask));
    const taper_scalar one = taper_scalar_int(1);
    return taper_tensor_fill(call->run, mask, &one);
}

// ---- rrelu

static taper_status train_slopes(taper_call *call, taper_tensor *noise, double lower, double upper)
{
    taper_run *run = call->run;
    taper_fresh_rng g;
    taper_rng *rng = taper_rng_of(call, &g);
    taper_tensor *x, *plain, *result;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    const taper_dtype dtype = (taper_dtype)x->dtype;
    if (dtype != TAPER_F32 && dtype != TAPER_F64 && dtype != TAPER_BF16) {
        return taper_fail(run->error, TAPER_ERROR_UNSUPPORTED, "\"rrelu_with_noise_out_cpu\" not implemented for '%s'",
                          taper_dtype_torch_name(dtype));
    }
    if (!(lower <= upper)) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT,
                          "Lower bound should be less than or equal to the upper bound");
    }
    const int64_t count = taper_tensor_numel(x);
    if (noise != NULL) { // PyTorch fills the memory in order, for any sizes and strides
        if (noise->dtype != dtype || taper_tensor_numel(noise) != count || !taper_tensor_is_contiguous(noise)) {
            return taper_fail(run->error, TAPER_ERROR_ARGUMENT,
                              "argument 'noise': expected a contiguous tensor of the input's dtype and size");
        }
        TAPER_TRY(taper_storage_write(noise->storage, run->error));
    }
    TAPER_TRY(taper_run_contiguous(run, x, &plain));
    taper_status status = taper_tensor_new(run->heap, dtype, x->rank, x->sizes, NULL, &result, run->error);
    if (status != TAPER_OK) {
        taper_tensor_drop(plain);
        return status;
    }
    // The bounds of the random slopes are rounded to the dtype of the computation.
    const bool wide = dtype == TAPER_F64;
    const double low = taper_step(!wide, lower), high = taper_step(!wide, upper);
    const void *from = taper_tensor_data(plain);
    void *to = taper_tensor_mutable(result), *slopes = noise != NULL ? taper_tensor_mutable(noise) : NULL;
    for (int64_t i = 0; i < count && taper_run_step(run, i, 40); i++) {
        const double value = taper_load_double(dtype, from, i);
        double slope = 1;
        if (value <= 0) {
            slope = taper_rng_uniform_f64(rng) * (high - low) + low;
            slope = taper_step(!wide, slope);
        }
        taper_put_double(dtype, to, i, wide ? value * slope : (double)((float)value * (float)slope));
        if (slopes != NULL) {
            taper_put_double(dtype, slopes, i, slope);
        }
    }
    taper_tensor_drop(plain);
    return taper_ret_tensor(call, 0, result);
}

// Computes rrelu(self, lower, upper, training, …). In evaluation the slope is the mean of the bounds.
static taper_status run_rrelu(taper_call *call, size_t at)
{
    double lower, upper;
    bool training;
    TAPER_TRY(taper_arg_double(call, at, &lower));
    TAPER_TRY(taper_arg_double(call, at + 1, &upper));
    TAPER_TRY(taper_arg_bool(call, at + 2, &training));
    if (training) {
        taper_tensor *noise = NULL;
        if (at == 2) {
            TAPER_TRY(taper_arg_tensor(call, 1, &noise));
        }
        return train_slopes(call, noise, lower, upper);
    }
    taper_ew ew = taper_ew_make(&taper_ew_leaky_relu);
    ew.layout = TAPER_EW_CONTIGUOUS;
    TAPER_TRY(taper_ew_input_arg(&ew, call, 0));
    const taper_scalar slope = taper_scalar_double((lower + upper) / 2);
    taper_ew_set_scalar(&ew.args, 0, &slope);
    return taper_ew_run(call, &ew);
}

TAPER_KERNEL(taper_op_rrelu)
{
    return run_rrelu(call, 1);
}
TAPER_KERNEL(taper_op_rrelu_with_noise)
{
    return run_rrelu(call, 2);
}
