// SPDX-License-Identifier: BSD-2-Clause
// Searching and counting: searchsorted, bucketize, isin, bincount, histc.
#include <math.h>

#include "base/half.h"
#include "ops/call/promote.h"
#include "ops/engine/index_keys.h"
#include "ops/list/kernels.h"

// ---- searchsorted

// The first of count sorted numbers that is not below (right: that is above) value. The comparisons are PyTorch's, NaN
// included.
static int64_t search(taper_dtype dtype, const char *sorted, const int64_t *sorter, int64_t count,
                      const taper_scalar *value, bool right)
{
    const size_t item = taper_dtype_size(dtype);
    const bool whole = value->kind != TAPER_SCALAR_DOUBLE;
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        taper_scalar here;
        taper_scalar_load(dtype, sorted + (sorter != NULL ? sorter[middle] : middle) * (int64_t)item, &here);
        const bool reached =
            whole ? (right ? here.i > value->i : here.i >= value->i) : (right ? here.f > value->f : here.f >= value->f);
        if (reached) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

// x converted to dtype, contiguous.
static taper_status converted(taper_run *run, taper_tensor *x, taper_dtype dtype, taper_tensor **result)
{
    if (x->dtype == dtype) {
        return taper_run_contiguous(run, x, result);
    }
    TAPER_TRY(taper_tensor_new(run->heap, dtype, x->rank, x->sizes, NULL, result, run->error));
    const taper_status status = taper_run_copy(run, *result, x);
    if (status != TAPER_OK) {
        taper_tensor_drop(*result);
    }
    return status;
}

static taper_status check_sorter(taper_run *run, const taper_tensor *sorter, int64_t size)
{
    const int64_t count = taper_tensor_numel(sorter);
    TAPER_TRY(taper_run_spend(run, (uint64_t)count * 2)); // they lie in memory
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = taper_index_at(sorter, i);
        if (at < 0 || at >= size) {
            return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "torch.searchsorted(): sorter index out of range");
        }
    }
    return TAPER_OK;
}

typedef struct searching {
    taper_tensor *sorted, *values, *sorter; // values and sorter may be NULL
    taper_scalar number;                    // when values is NULL
    bool right, small;                      // small: an int32 result
} searching;

static taper_status search_all(taper_call *call, const searching *s)
{
    taper_run *run = call->run;
    taper_tensor *sorted = NULL, *values = NULL, *sorter = NULL, *result = NULL;
    taper_promotion promotion = taper_promotion_start();
    taper_promotion_tensor(&promotion, s->sorted);
    if (s->values != NULL) {
        taper_promotion_tensor(&promotion, s->values);
    } else {
        taper_promotion_scalar(&promotion, &s->number);
    }
    const taper_dtype dtype = taper_promotion_result(&promotion);
    if (taper_dtype_is_complex(dtype) || taper_dtype_is_quantized(dtype)) {
        return taper_fail(run->error, TAPER_ERROR_UNSUPPORTED, "not implemented for %s", taper_dtype_name(dtype));
    }
    const int64_t size = s->sorted->rank == 0 ? 1 : s->sorted->sizes[s->sorted->rank - 1];
    taper_status status = converted(run, s->sorted, dtype, &sorted);
    if (status == TAPER_OK && s->values != NULL) {
        status = converted(run, s->values, dtype, &values);
    }
    if (status == TAPER_OK && s->sorter != NULL) {
        status = taper_run_contiguous(run, s->sorter, &sorter);
        if (status == TAPER_OK) {
            status = check_sorter(run, sorter, size);
        }
    }
    if (status == TAPER_OK) {
        status = taper_tensor_new(run->heap, s->small ? TAPER_I32 : TAPER_I64, values == NULL ? 0 : values->rank,
                                  values == NULL ? NULL : values->sizes, NULL, &result, run->error);
    }
    if (status == TAPER_OK) {
        const int64_t count = taper_tensor_numel(result);
        const int64_t row = values == NULL || values->rank == 0 ? 1 : taper_max_i64(values->sizes[values->rank - 1], 1);
        const size_t item = taper_tensor_item(sorted);
        for (int64_t i = 0; i < count && taper_run_step(run, i, 200); i++) {
            taper_scalar value = s->number;
            unsigned char rounded[16];
            if (values != NULL) {
                taper_scalar_load(dtype, (const char *)taper_tensor_data(values) + i * (int64_t)item, &value);
            } else {
                taper_scalar_store(dtype, rounded, &s->number);
                taper_scalar_load(dtype, rounded, &value);
            }
            const int64_t start = sorted->rank > 1 ? i / row * size : 0;
            const int64_t found = search(dtype, (const char *)taper_tensor_data(sorted) + start * (int64_t)item,
                                         sorter != NULL ? (const int64_t *)taper_tensor_data(sorter) + start : NULL,
                                         size, &value, s->right);
            const taper_scalar stored = taper_scalar_int(found);
            taper_scalar_store((taper_dtype)result->dtype,
                               (char *)taper_tensor_mutable(result) + (size_t)i * taper_tensor_item(result), &stored);
        }
    }
    taper_tensor_drop(sorted);
    taper_tensor_drop(values);
    taper_tensor_drop(sorter);
    return status == TAPER_OK ? taper_ret_tensor(call, 0, result) : status;
}

static taper_status arg_values(taper_call *call, size_t at, searching *s)
{
    if (at < call->arg_count && call->args[at].tag == TAPER_TENSOR) {
        return taper_arg_tensor(call, at, &s->values);
    }
    return taper_arg_scalar(call, at, &s->number);
}

taper_status taper_op_searchsorted(taper_call *call)
{
    taper_error *error = call->run->error;
    searching s = {.values = NULL};
    TAPER_TRY(taper_arg_tensor(call, 0, &s.sorted));
    TAPER_TRY(arg_values(call, 1, &s));
    TAPER_TRY(taper_arg_bool(call, 2, &s.small));
    TAPER_TRY(taper_arg_bool(call, 3, &s.right));
    if (!taper_arg_is_none(call, 4)) {
        const taper_string *side;
        TAPER_TRY(taper_arg_string(call, 4, &side));
        const bool right = strcmp(side->data, "right") == 0;
        if (!right && strcmp(side->data, "left") != 0) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT,
                              "torch.searchsorted(): side can only be 'left' or 'right' but got %s", side->data);
        }
        if (!right && s.right) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT,
                              "torch.searchsorted(): side and right can't be set to opposites, got side of left while "
                              "right was True");
        }
        s.right = right;
    }
    TAPER_TRY(taper_arg_tensor_or_none(call, 5, &s.sorter));
    if (s.sorter != NULL &&
        (s.sorter->dtype != TAPER_I64 || s.sorter->rank != s.sorted->rank ||
         memcmp(s.sorter->sizes, s.sorted->sizes, s.sorted->rank * sizeof s.sorted->sizes[0]) != 0)) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "torch.searchsorted(): boundary and sorter must have the same size");
    }
    if (s.sorted->rank == 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "torch.searchsorted(): boundaries tensor should have positive dimension");
    }
    bool fits = s.sorted->rank == 1 || (s.values != NULL && s.values->rank == s.sorted->rank);
    for (size_t d = 0; fits && s.sorted->rank > 1 && d + 1 < s.sorted->rank; d++) {
        fits = s.values->sizes[d] == s.sorted->sizes[d];
    }
    if (!fits) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions "
                          "of boundaries tensor "
                          "and input value tensor must match, but we got boundaries tensor %s",
                          taper_sizes_print(s.sorted->rank, s.sorted->sizes).text);
    }
    return search_all(call, &s);
}

taper_status taper_op_bucketize(taper_call *call)
{
    searching s = {.values = NULL};
    TAPER_TRY(arg_values(call, 0, &s));
    TAPER_TRY(taper_arg_tensor(call, 1, &s.sorted));
    TAPER_TRY(taper_arg_bool(call, 2, &s.small));
    TAPER_TRY(taper_arg_bool(call, 3, &s.right));
    if (s.sorted->rank != 1) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "boundaries tensor must be 1 dimension, but got dim(%u)", (unsigned)s.sorted->rank);
    }
    return search_all(call, &s);
}

// ---- isin

static bool find_key(const int64_t *keys, const int64_t *order, int64_t count, int64_t key)
{
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (keys[order[middle]] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && keys[order[low]] == key;
}

static taper_status isin(taper_call *call, const taper_tensor *elements, const taper_tensor *tests, taper_dtype dtype,
                         bool invert)
{
    taper_run *run = call->run;
    taper_tensor *keys = NULL, *test_keys = NULL, *order = NULL, *scratch = NULL, *result = NULL;
    const int64_t tested = taper_tensor_numel(tests);
    taper_status status = taper_index_keys(run, elements, dtype, &keys);
    if (status == TAPER_OK) {
        status = taper_index_keys(run, tests, dtype, &test_keys);
    }
    if (status == TAPER_OK) {
        status = taper_index_scratch(run, tested, &order);
    }
    if (status == TAPER_OK) {
        status = taper_index_scratch(run, tested, &scratch);
    }
    if (status == TAPER_OK) {
        status = taper_tensor_new(run->heap, TAPER_BOOL, elements->rank, elements->sizes, NULL, &result, run->error);
    }
    if (status == TAPER_OK) {
        const int64_t *from = taper_tensor_data(keys), *known = taper_tensor_data(test_keys);
        uint8_t *to = taper_tensor_mutable(result);
        status = taper_keys_sort(run, known, 1, tested, taper_tensor_mutable(order), taper_tensor_mutable(scratch));
        const int64_t count = status == TAPER_OK ? taper_tensor_numel(result) : 0;
        for (int64_t i = 0; i < count && taper_run_step(run, i, 100); i++) {
            const bool nan = taper_dtype_is_float(dtype) && from[i] == TAPER_KEY_NAN; // equals nothing
            to[i] = (!nan && find_key(known, taper_tensor_data(order), tested, from[i])) != invert;
        }
    }
    taper_tensor_drop(keys);
    taper_tensor_drop(test_keys);
    taper_tensor_drop(order);
    taper_tensor_drop(scratch);
    if (status != TAPER_OK) {
        taper_tensor_drop(result);
        return status;
    }
    return taper_ret_tensor(call, 0, result);
}

// Argument `at` as a tensor: a number becomes one without dimensions.
static taper_status tensor_or_number(taper_call *call, size_t at, taper_promotion *promotion, taper_tensor **tensor)
{
    if (at < call->arg_count && call->args[at].tag == TAPER_TENSOR) {
        TAPER_TRY(taper_arg_tensor(call, at, tensor));
        taper_promotion_tensor(promotion, *tensor);
        taper_obj_retain(&(*tensor)->head);
        return TAPER_OK;
    }
    taper_scalar scalar;
    TAPER_TRY(taper_arg_scalar(call, at, &scalar));
    taper_promotion_scalar(promotion, &scalar);
    TAPER_TRY(taper_tensor_new(call->run->heap, taper_scalar_dtype(&scalar), 0, NULL, NULL, tensor, call->run->error));
    taper_scalar_store(taper_scalar_dtype(&scalar), taper_tensor_mutable(*tensor), &scalar);
    return TAPER_OK;
}

taper_status taper_op_isin(taper_call *call)
{
    taper_tensor *elements, *tests;
    bool invert;
    taper_promotion promotion = taper_promotion_start();
    TAPER_TRY(taper_arg_bool(call, 3, &invert));
    TAPER_TRY(tensor_or_number(call, 0, &promotion, &elements));
    taper_status status = tensor_or_number(call, 1, &promotion, &tests);
    if (status == TAPER_OK) {
        status = isin(call, elements, tests, taper_promotion_result(&promotion), invert);
        taper_tensor_drop(tests);
    }
    taper_tensor_drop(elements);
    return status;
}

// ---- bincount, histc

taper_status taper_op_bincount(taper_call *call)
{
    taper_run *run = call->run;
    taper_tensor *x, *weights, *result;
    int64_t least, largest = -1;
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
    for (int64_t i = 0; i < count; i++) {
        if (!taper_run_step(run, i, 4)) {
            return taper_run_spend(run, 0);
        }
        const int64_t at = taper_load_int(dtype, taper_tensor_data(x), i * x->strides[0]);
        if (at < 0) {
            return taper_fail(run->error, TAPER_ERROR_ARGUMENT,
                              "bincount only supports 1-d non-negative integral inputs.");
        }
        largest = taper_max_i64(largest, at);
    }
    if (largest == INT64_MAX) {
        return taper_fail(run->error, TAPER_ERROR_RESOURCE, "the result is too large");
    }
    const int64_t bins = taper_max_i64(largest + 1, least);
    const taper_dtype to_dtype = weights == NULL ? TAPER_I64 : weights->dtype == TAPER_F32 ? TAPER_F32 : TAPER_F64;
    TAPER_TRY(taper_run_zeros(run, to_dtype, 1, &bins, &result));
    void *to = taper_tensor_mutable(result);
    for (int64_t i = 0; i < count && taper_run_step(run, i, 8); i++) {
        const int64_t at = taper_load_int(dtype, taper_tensor_data(x), i * x->strides[0]);
        const double weight = weights == NULL ? 1
                                              : taper_load_double((taper_dtype)weights->dtype,
                                                                  taper_tensor_data(weights), i * weights->strides[0]);
        if (to_dtype == TAPER_I64) {
            ((int64_t *)to)[at]++;
        } else if (to_dtype == TAPER_F32) {
            ((float *)to)[at] += (float)weight;
        } else {
            ((double *)to)[at] += weight;
        }
    }
    return taper_ret_tensor(call, 0, result);
}

static float bf16(float x)
{
    return taper_bf16_to_float(taper_float_to_bf16(x));
}

static int64_t bin_of(taper_dtype dtype, double x, double low, double high, int64_t bins)
{
    double at;
    if (dtype == TAPER_BF16) { // rounded after every step
        const float shift = bf16((float)x - (float)low), span = bf16((float)high - (float)low);
        at = (double)bf16(bf16(shift / span) * bf16((float)bins));
    } else if (dtype == TAPER_F32) { // in float, so that edges fall as in PyTorch
        at = (double)(((float)x - (float)low) / ((float)high - (float)low) * (float)bins);
    } else {
        at = (x - low) / (high - low) * (double)bins;
    }
    const int64_t bin = (int64_t)at;
    return bin == bins ? bins - 1 : bin;
}

taper_status taper_op_histc(taper_call *call)
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
        from = to = taper_load_double(dtype, data, 0);
        for (int64_t i = 1; i < count && taper_run_step(run, i, 5); i++) {
            const double value = taper_load_double(dtype, data, i);
            from = value < from || isnan(value) ? value : from;
            to = value > to || isnan(value) ? value : to;
        }
    }
    if (from == to) {
        from -= 1;
        to += 1;
    }
    if (dtype != TAPER_F64) { // the range is of the input's dtype
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
    if (status == TAPER_OK) {
        for (int64_t i = 0; i < count && taper_run_step(run, i, 20); i++) {
            const double value = taper_load_double(dtype, data, i);
            if (!(value >= from && value <= to)) {
                continue;
            }
            const int64_t bin = bin_of(dtype, value, from, to, bins);
            if (bin < 0 || bin >= bins) { // overflow of a huge range
                continue;
            }
            if (dtype == TAPER_BF16) { // stays at 256
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
