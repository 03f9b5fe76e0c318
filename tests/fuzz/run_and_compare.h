// SPDX-License-Identifier: BSD-2-Clause
// Runs `forward` of a model on generated inputs, within small budgets, and compares two results.
#ifndef TAPER_TESTS_RUN_AND_COMPARE_H
#define TAPER_TESTS_RUN_AND_COMPARE_H

#include <math.h>

#include "tests/fuzz/made_inputs.h"

static inline size_t make_inputs(taper_context *context, const taper_model *model, unsigned round, taper_value **inputs)
{
    const int arguments = taper_model_method_arguments(model, "forward");
    const size_t count = arguments < 0 ? 1 : arguments > MADE_MOST_INPUTS ? MADE_MOST_INPUTS : (size_t)arguments;
    for (size_t i = 0; i < count; i++) {
        inputs[i] = made_input(context, taper_model_argument_type(model, "forward", i), round, 0);
    }
    return count;
}

static inline void release_inputs(taper_value **inputs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        taper_value_release(inputs[i]);
    }
}

// Runs forward. types: model whose declared arguments determine the inputs.
static inline taper_status run(taper_context *context, const taper_model *types, taper_model *model, unsigned round,
                               taper_value **result, taper_error *error)
{
    const taper_session_options budgets = {.struct_size = sizeof budgets,
                                           .instruction_budget = 20000,
                                           .time_budget = 1.0,
                                           .memory_budget = (size_t)64 << 20};
    taper_session *session;
    taper_value *inputs[MADE_MOST_INPUTS];
    *result = NULL;
    taper_status status = taper_session_create(model, &budgets, &session, error);
    if (status == TAPER_OK) {
        const size_t count = make_inputs(context, types, round, inputs);
        status = taper_session_run(session, "forward", inputs, count, result, error);
        release_inputs(inputs, count);
        taper_session_destroy(session);
    }
    return status;
}

// ---- comparison

static inline double element(const taper_tensor_info *info, const int64_t *at, bool *known)
{
    int64_t offset = 0;
    for (size_t d = 0; d < info->rank; d++) {
        offset += at[d] * info->strides[d];
    }
    const char *item = (const char *)info->data + (size_t)offset * taper_dtype_size(info->dtype);
    *known = true;
    switch (info->dtype) {
    case TAPER_F32:
        return (double)*(const float *)(const void *)item;
    case TAPER_F64:
        return *(const double *)(const void *)item;
    case TAPER_I64:
        return (double)*(const int64_t *)(const void *)item;
    case TAPER_I32:
        return (double)*(const int32_t *)(const void *)item;
    case TAPER_U8:
    case TAPER_BOOL:
        return (double)*(const uint8_t *)(const void *)item;
    default:
        *known = false;
        return 0;
    }
}

static inline bool next(const taper_tensor_info *info, int64_t *at)
{
    for (size_t d = info->rank; d > 0; d--) {
        if (++at[d - 1] < info->sizes[d - 1]) {
            return true;
        }
        at[d - 1] = 0;
    }
    return false;
}

static inline bool same_tensor(const taper_value *a, const taper_value *b, bool exact)
{
    taper_tensor_info x = {.struct_size = sizeof x}, y = {.struct_size = sizeof y};
    if (taper_value_get_tensor(a, &x, NULL) != TAPER_OK || taper_value_get_tensor(b, &y, NULL) != TAPER_OK) {
        return true;
    }
    if (x.dtype != y.dtype || x.rank != y.rank || x.rank > 16) {
        return x.rank > 16;
    }
    for (size_t d = 0; d < x.rank; d++) {
        if (x.sizes[d] != y.sizes[d]) {
            return false;
        }
        if (x.sizes[d] == 0) {
            return true;
        }
    }
    const bool floating = x.dtype == TAPER_F32 || x.dtype == TAPER_F64;
    double largest = 0, difference = 0;
    int64_t at[16] = {0};
    size_t looked_at = 0;
    do {
        bool known;
        const double p = element(&x, at, &known), q = element(&y, at, &known);
        if (!known) {
            return true;
        }
        if (isnan(p) || isnan(q) || isinf(p) || isinf(q)) {
            if (exact && isnan(p) != isnan(q)) {
                return false;
            }
            continue; // not compared: the same sum in another order may overflow
        }
        largest = fmax(largest, fabs(p));
        difference = fmax(difference, fabs(p - q));
    } while (next(&x, at) && ++looked_at < 100000);
    if (exact) {
        return difference == 0;
    }
    // Tolerates differences of integers, which may result from comparing two floats, and of large numbers, which absorb
    // small differences.
    return !floating || largest > 1e6 || difference <= 1e-3 * largest + 1e-4;
}

static inline bool same(const taper_value *a, const taper_value *b, bool exact, unsigned depth)
{
    const taper_kind kind = taper_value_kind(a);
    if (kind == TAPER_KIND_OBJECT && taper_value_kind(b) == kind) {
        return true; // objects are not compared, because optimizing changes their attributes
    }
    if (kind != taper_value_kind(b) || taper_value_count(a) != taper_value_count(b)) {
        return !exact && kind != TAPER_KIND_TENSOR;
    }
    if (kind == TAPER_KIND_TENSOR) {
        return same_tensor(a, b, exact);
    }
    const size_t count = taper_value_count(a);
    for (size_t i = 0; i < count && i < 8 && depth < MADE_DEPTH; i++) {
        taper_value *p, *q;
        if (taper_value_item(a, i, &p, NULL) != TAPER_OK) {
            break;
        }
        need(taper_value_item(b, i, &q, NULL));
        const bool equal = same(p, q, exact, depth + 1);
        taper_value_release(p);
        taper_value_release(q);
        if (!equal) {
            return false;
        }
    }
    int64_t m = 0, n = 0;
    return kind != TAPER_KIND_INT || !exact ||
           (taper_value_get_int(a, &m, NULL) == TAPER_OK && taper_value_get_int(b, &n, NULL) == TAPER_OK && m == n);
}

#endif
