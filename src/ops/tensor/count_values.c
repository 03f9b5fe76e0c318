// SPDX-License-Identifier: BSD-2-Clause
// Counts of values: bincount and histc.
#include <math.h>

#include "ops/engine/index_keys.h"
#include "ops/kernels/kernel_select.h"
#include "ops/tensor/count_bins.h"

// Adds the weight of each key, or 1 if weights is NULL, to the sum to[key]. Sums have the given dtype.
static taper_status count_keys(taper_run *run, const int64_t *keys, int64_t count, taper_dtype dtype,
                               const void *weights, void *to)
{
    enum { PIECE = 1 << 14 };
    for (int64_t at = 0; at < count; at += PIECE) {
        const int64_t end = taper_min_i64(count, at + PIECE);
        TAPER_TRY(taper_run_spend(run, PIECE));
        for (int64_t i = at; i < end && dtype == TAPER_I64; i++) {
            ((int64_t *)to)[keys[i]]++;
        }
        for (int64_t i = at; i < end && dtype == TAPER_F32; i++) {
            ((float *)to)[keys[i]] += ((const float *)weights)[i];
        }
        for (int64_t i = at; i < end && dtype == TAPER_F64; i++) {
            ((double *)to)[keys[i]] += ((const double *)weights)[i];
        }
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_bincount)
{
    taper_run *run = call->run;
    taper_tensor *x, *weights, *result;
    int64_t least, smallest, largest;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_tensor_or_none(call, 1, &weights));
    TAPER_TRY(taper_arg_int(call, 2, &least));
    const taper_dtype dtype = (taper_dtype)x->dtype;
    if (least < 0) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "minlength should be >= 0");
    }
    if (x->rank != 1 || !taper_dtype_is_integral(dtype)) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "bincount only supports 1-d non-negative integral inputs.");
    }
    const int64_t count = x->sizes[0];
    if (count == 0) {
        TAPER_TRY(taper_run_zeros(run, TAPER_I64, 1, &least, &result));
        return taper_ret_tensor(call, 0, result);
    }
    if (weights != NULL && (weights->rank != 1 || weights->sizes[0] != count)) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "weights should be 1-d and have the same length as input");
    }
    if (weights != NULL && (taper_dtype_is_complex((taper_dtype)weights->dtype) ||
                            taper_dtype_is_quantized((taper_dtype)weights->dtype))) {
        return taper_fail(run->error, TAPER_ERROR_UNSUPPORTED, "weights: not implemented for %s",
                          taper_dtype_name((taper_dtype)weights->dtype));
    }
    const taper_dtype to_dtype = weights == NULL ? TAPER_I64 : weights->dtype == TAPER_F32 ? TAPER_F32 : TAPER_F64;
    taper_tensor *keys, *loads = NULL;
    TAPER_TRY(taper_index_keys(run, x, dtype, &keys)); // the key of an integer is the integer
    taper_status status = taper_keys_range(run, taper_tensor_data(keys), count, &smallest, &largest);
    if (status == TAPER_OK && smallest < 0) {
        status =
            taper_fail(run->error, TAPER_ERROR_ARGUMENT, "bincount only supports 1-d non-negative integral inputs.");
    }
    if (status == TAPER_OK && largest == INT64_MAX) {
        status = taper_fail(run->error, TAPER_ERROR_RESOURCE, "the result is too large");
    }
    if (status == TAPER_OK && weights != NULL) {
        status = taper_index_converted(run, weights, to_dtype, &loads);
    }
    if (status == TAPER_OK) {
        const int64_t bins = taper_max_i64(largest + 1, least);
        status = taper_run_zeros(run, to_dtype, 1, &bins, &result);
    }
    if (status == TAPER_OK) {
        status = count_keys(run, taper_tensor_data(keys), count, to_dtype,
                            loads == NULL ? NULL : taper_tensor_data(loads), taper_tensor_mutable(result));
        if (status != TAPER_OK) {
            taper_tensor_drop(result);
        }
    }
    taper_tensor_drop(keys);
    taper_tensor_drop(loads);
    return status == TAPER_OK ? taper_ret_tensor(call, 0, result) : status;
}

static float bf16(float x)
{
    return taper_bf16_to_float(taper_float_to_bf16(x));
}

static int64_t bin_of(taper_dtype dtype, double x, double low, double high, int64_t bins)
{
    double at;
    if (dtype == TAPER_BF16) { // PyTorch rounds after every addition
        const float shift = bf16((float)x - (float)low), span = bf16((float)high - (float)low);
        at = (double)bf16(bf16(shift / span) * bf16((float)bins));
    } else if (dtype == TAPER_F32) { // single precision gives the same edges as in PyTorch
        at = (double)(((float)x - (float)low) / ((float)high - (float)low) * (float)bins);
    } else {
        at = (x - low) / (high - low) * (double)bins;
    }
    const int64_t bin = (int64_t)at;
    return bin == bins ? bins - 1 : bin;
}

// Finds the smallest and the largest element. Both are NaN if an element is NaN.
static void find_range(taper_run *run, taper_dtype dtype, const void *data, int64_t count, double *from, double *to)
{
    enum { BLOCK = 4096 };
    const taper_vector_entry *v = taper_vector_f32_select(run->cpu);
    *from = *to = taper_load_double(dtype, data, 0);
    if (dtype == TAPER_F32 && !run->portable && v->fold[TAPER_REDUCTION_MOST] != NULL &&
        v->fold[TAPER_REDUCTION_LEAST] != NULL) {
        for (int64_t at = 0; at < count && *from == *from && taper_run_goes_on(run, BLOCK); at += BLOCK) {
            const size_t n = (size_t)taper_min_i64(BLOCK, count - at);
            const double least = (double)v->fold[TAPER_REDUCTION_LEAST](n, (const float *)data + at);
            const double most = (double)v->fold[TAPER_REDUCTION_MOST](n, (const float *)data + at);
            *from = least < *from || isnan(least) ? least : *from;
            *to = most > *to || isnan(most) ? most : *to;
        }
        return;
    }
    for (int64_t i = 1; i < count && taper_run_step(run, i, 5); i++) {
        const double value = taper_load_double(dtype, data, i);
        *from = value < *from || isnan(value) ? value : *from;
        *to = value > *to || isnan(value) ? value : *to;
    }
}

TAPER_KERNEL(taper_op_histc)
{
    taper_run *run = call->run;
    taper_tensor *x, *flat, *result;
    int64_t bins;
    taper_scalar low, high;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_int(call, 1, &bins));
    TAPER_TRY(taper_arg_scalar(call, 2, &low));
    TAPER_TRY(taper_arg_scalar(call, 3, &high));
    const taper_dtype dtype = (taper_dtype)x->dtype;
    if (dtype != TAPER_F32 && dtype != TAPER_F64 && dtype != TAPER_BF16) {
        return taper_fail(run->error, TAPER_ERROR_UNSUPPORTED, "histc: not implemented for %s",
                          taper_dtype_name(dtype));
    }
    if (bins <= 0) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "bins must be > 0, but got %lld", (long long)bins);
    }
    TAPER_TRY(taper_index_flat(run, x, &flat));
    const void *data = taper_tensor_data(flat);
    const int64_t count = flat->sizes[0];
    double from = low.f, to = high.f;
    if (from == to && count > 0) {
        find_range(run, dtype, data, count, &from, &to);
    }
    if (from == to) {
        from -= 1;
        to += 1;
    }
    if (dtype != TAPER_F64) { // rounds the range to the input's dtype
        from = (double)(dtype == TAPER_BF16 ? bf16((float)from) : (float)from);
        to = (double)(dtype == TAPER_BF16 ? bf16((float)to) : (float)to);
    }
    taper_status status = TAPER_OK;
    if (!isfinite(from) || !isfinite(to) || from > to) {
        status = taper_fail(run->error, TAPER_ERROR_ARGUMENT, "range of [%g, %g] is not finite or max is below min",
                            from, to);
    }
    if (status == TAPER_OK) {
        status = taper_run_zeros(run, dtype, 1, &bins, &result);
    }
    if (status == TAPER_OK && !(dtype == TAPER_F32 && taper_count_bins(run, data, count, (float)from, (float)to, bins,
                                                                       taper_tensor_mutable(result)))) {
        for (int64_t i = 0; i < count && taper_run_step(run, i, 20); i++) {
            const double value = taper_load_double(dtype, data, i);
            if (!(value >= from && value <= to)) {
                continue;
            }
            const int64_t bin = bin_of(dtype, value, from, to, bins);
            if (bin < 0 || bin >= bins) { // an element of a huge range may have a bin out of bounds
                continue;
            }
            if (dtype == TAPER_BF16) { // a bfloat16 count stops changing at 256
                uint16_t *const count16 = (uint16_t *)taper_tensor_mutable(result) + bin;
                *count16 = taper_float_to_bf16(taper_bf16_to_float(*count16) + 1.0f);
            } else if (dtype == TAPER_F32) {
                ((float *)taper_tensor_mutable(result))[bin] += 1.0f;
            } else {
                ((double *)taper_tensor_mutable(result))[bin] += 1.0;
            }
        }
    }
    taper_tensor_drop(flat);
    return status == TAPER_OK ? taper_ret_tensor(call, 0, result) : status;
}
