// SPDX-License-Identifier: BSD-2-Clause
// quantized_decomposed::choose_qparams…: scales and zero points for the range of a tensor, or of each of its rows
// (tokens). The arithmetic is done in the input's dtype, step by step.
#include <float.h>
#include <math.h>

#include "base/half.h"
#include "base/single.h"
#include "ops/engine/volume.h"
#include "ops/list/shared_kernels.h"
#include "ops/math/elementwise_ops.h"
#include "ops/tensor/composite.h"
#include "ops/tensor/reduce_kernels.h"

typedef enum choice { AFFINE, SYMMETRIC, TOKEN_SYMMETRIC, TOKEN_AFFINE } choice;

static double rounded(taper_dtype dtype, double v)
{
    return dtype == TAPER_F64 || dtype == TAPER_F32 ? taper_step(dtype == TAPER_F32, v)
           : dtype == TAPER_BF16                    ? (double)taper_bf16_to_float(taper_float_to_bf16((float)v))
                                                    : (double)taper_f16_to_float(taper_float_to_f16((float)v));
}

// Returns the larger of the two numbers, or NaN if v is NaN.
static double at_least(double v, double least)
{
    return v < least ? least : v;
}

static double at_most(double v, double most)
{
    return v > most ? most : v;
}

typedef struct range {
    choice kind;
    taper_dtype dtype; // dtype of the arithmetic
    int64_t low, high;
    double eps, middle; // smallest scale; middle: zero point of a symmetric uint8 range
} range;

// Computes scale and zero point of a whole tensor, with eps as a float32.
static void choose_whole(const range *r, double least, double most, double *scale, double *point)
{
    least = at_most(least, 0);
    most = at_least(most, 0);
    const double steps = (double)(r->high - r->low);
    double s;
    *point = r->middle;
    if (r->kind == SYMMETRIC) {
        s = rounded(r->dtype, (-least > most ? -least : most) / (steps / 2));
    } else {
        s = rounded(r->dtype, rounded(r->dtype, most - least) / steps);
    }
    s = at_least(s, (double)(float)r->eps);
    if (r->kind == AFFINE) {
        const float from = rintf((float)(least / s));
        const int32_t whole = from >= -2147483648.0f && from < 2147483648.0f ? (int32_t)from : INT32_MIN;
        const int32_t zero = (int32_t)((uint32_t)r->low - (uint32_t)whole);
        *point = at_most(at_least((double)zero, (double)r->low), (double)r->high);
    }
    *scale = s;
}

static void choose_token(const range *r, double least, double most, double *scale, double *point)
{
    if (r->kind == TOKEN_SYMMETRIC) {
        const taper_dtype dtype = r->dtype == TAPER_F16 ? TAPER_F32 : r->dtype;
        *scale = rounded(dtype, at_least(most, rounded(dtype, 1e-5)) / 127);
        *point = 0;
        return;
    }
    least = at_most(least, 0);
    most = at_least(most, 0);
    const double s =
        at_least(rounded(r->dtype, rounded(r->dtype, most - least) / 255), rounded(r->dtype, (double)FLT_EPSILON));
    const double from = rounded(r->dtype, least / s), to = rounded(r->dtype, most / s);
    const double below = rounded(r->dtype, -128 + from), above = rounded(r->dtype, 127 + to);
    const double zero =
        rounded(r->dtype, below + above) > 0 ? rounded(r->dtype, -128 - from) : rounded(r->dtype, 127 - to);
    *scale = s;
    *point = rint(at_most(at_least(zero, -128), 127));
}

// Computes and writes the results. least and most are contiguous, in the dtype of the arithmetic. If least is NULL, the
// numbers in `most` are used for both ends of the range.
static taper_status give(taper_call *call, const range *r, const taper_tensor *least, const taper_tensor *most,
                         size_t rank, const int64_t *sizes)
{
    taper_tensor *scales, *points;
    const bool token = r->kind == TOKEN_SYMMETRIC || r->kind == TOKEN_AFFINE;
    const taper_dtype narrow = r->dtype == TAPER_F16 ? TAPER_F32 : r->dtype;
    const bool wide = r->kind != TOKEN_SYMMETRIC;
    TAPER_TRY(taper_ret_new(call, 0, wide ? TAPER_F64 : narrow, rank, sizes, NULL, &scales));
    TAPER_TRY(taper_ret_new(call, 1, wide ? TAPER_I64 : narrow, rank, sizes, NULL, &points));
    for (int64_t i = 0; i < taper_tensor_numel(most) && taper_run_step(call->run, i, 20); i++) {
        const double high = taper_number_load(r->dtype, taper_tensor_data(most), i);
        const double low = least != NULL ? taper_number_load(r->dtype, taper_tensor_data(least), i) : high;
        double scale, point;
        if (token) {
            choose_token(r, low, high, &scale, &point);
        } else {
            choose_whole(r, low, high, &scale, &point);
        }
        taper_number_store((taper_dtype)scales->dtype, taper_tensor_mutable(scales), i, scale);
        taper_number_store((taper_dtype)points->dtype, taper_tensor_mutable(points), i, point);
    }
    return TAPER_OK;
}

static taper_status choose_of_all(taper_call *call, choice kind)
{
    taper_tensor *x;
    taper_dtype integers;
    range r = {.kind = kind};
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_int(call, 1, &r.low));
    TAPER_TRY(taper_arg_int(call, 2, &r.high));
    TAPER_TRY(taper_arg_double(call, 3, &r.eps));
    TAPER_TRY(taper_arg_dtype_or(call, 4, TAPER_I8, &integers));
    r.dtype = (taper_dtype)x->dtype;
    if (r.dtype != TAPER_F32 && r.dtype != TAPER_F16 && r.dtype != TAPER_BF16) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "Expecting input to have dtype torch.float32/16/b16, but got dtype: %s",
                   taper_dtype_torch_name(r.dtype));
    }
    if (r.low >= r.high || r.low < INT32_MIN || r.high > INT32_MAX || taper_tensor_numel(x) == 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "a tensor with elements is needed, and a range of 32-bit integers, not %lld to %lld",
                   (long long)r.low, (long long)r.high);
    }
    r.middle = kind == SYMMETRIC && integers == TAPER_U8 ? 128 : 0;
    taper_compose c;
    taper_compose_begin(&c, call->run);
    const taper_tensor *least = TAPER_COMPOSE(&c, taper_op_amin, &taper_reduce_all_only, TAPER_VAL(x));
    const taper_tensor *most = TAPER_COMPOSE(&c, taper_op_amax, &taper_reduce_all_only, TAPER_VAL(x));
    const int64_t one = 1;
    if (c.status == TAPER_OK) {
        taper_compose_fail(&c, give(call, &r, least, most, 1, &one));
    }
    return taper_compose_end(&c);
}

TAPER_KERNEL(taper_op_decomposed_qparams)
{
    return choose_of_all(call, AFFINE);
}

TAPER_KERNEL(taper_op_decomposed_qparams_symmetric)
{
    return choose_of_all(call, SYMMETRIC);
}

static taper_status choose_of_tokens(taper_call *call, choice kind)
{
    taper_tensor *x;
    taper_dtype integers;
    range r = {.kind = kind};
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_dtype_or(call, 1, TAPER_I8, &integers));
    r.dtype = (taper_dtype)x->dtype;
    if (!taper_dtype_is_float(r.dtype) || x->rank == 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument 'input': a tensor of floating-point numbers with dimensions is needed");
    }
    if (kind == TOKEN_SYMMETRIC && integers != TAPER_I8) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "unsupported dtype in choose_qparams_per_token: %s",
                   taper_dtype_torch_name(integers));
    }
    taper_compose c;
    taper_compose_begin(&c, call->run);
    taper_tensor *of = x, *least = NULL;
    if (kind == TOKEN_SYMMETRIC) {
        of = TAPER_COMPOSE(&c, taper_op_unary, &taper_ew_abs, TAPER_VAL(x));
    } else {
        least = TAPER_COMPOSE(&c, taper_op_amin, &taper_reduce_dim_keep, TAPER_VAL(x), taper_val_int(-1),
                              taper_val_bool(true));
    }
    const taper_tensor *most = TAPER_COMPOSE(&c, taper_op_amax, &taper_reduce_dim_keep, taper_compose_arg(of),
                                             taper_val_int(-1), taper_val_bool(true));
    if (c.status == TAPER_OK) {
        taper_compose_fail(&c, give(call, &r, least, most, most->rank, most->sizes));
    }
    return taper_compose_end(&c);
}

TAPER_KERNEL(taper_op_decomposed_qparams_token)
{
    return choose_of_tokens(call, TOKEN_SYMMETRIC);
}

TAPER_KERNEL(taper_op_decomposed_qparams_token_affine)
{
    return choose_of_tokens(call, TOKEN_AFFINE);
}
