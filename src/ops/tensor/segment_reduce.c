// SPDX-License-Identifier: BSD-2-Clause
// segment_reduce: sums, means, products and extremes of segments along a dimension. A segment is given by its length,
// or by the offsets of its ends. The segments may differ between the lines of the outer dimensions.
#include <math.h>

#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/call/promote.h"
#include "ops/engine/view_shape.h"
#include "ops/tensor/create.h"

typedef enum segment_kind { SEGMENT_MAX, SEGMENT_MEAN, SEGMENT_MIN, SEGMENT_SUM, SEGMENT_PROD } segment_kind;

typedef struct segments {
    segment_kind kind;
    taper_tensor *data;  // the data as a contiguous tensor; owned
    taper_tensor *given; // lengths or offsets as a contiguous tensor; owned
    bool offsets;
    size_t axis;
    // outer: number of lines, one for each index of the dimensions before the axis. inner: number of elements at one
    // index of the axis, the product of the sizes after the axis. count: number of segments of a line.
    int64_t outer, inner, count;
    bool has_initial;
    double initial;
} segments;

static taper_status arg_kind(const taper_call *call, segment_kind *kind)
{
    static const char *const names[] = {"max", "mean", "min", "sum", "prod"};
    const taper_string *text;
    TAPER_TRY(taper_arg_string(call, 1, &text));
    for (size_t i = 0; i < 5; i++) {
        if (strcmp(names[i], text->data) == 0) {
            *kind = (segment_kind)i;
            return TAPER_OK;
        }
    }
    return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "unsupported reduction given! %s", text->data);
}

// Computes the bounds of segment k of a line. Returns false if they are outside the data.
static bool bounds(const segments *s, int64_t line, int64_t k, int64_t *start, int64_t *end)
{
    const taper_dtype dtype = (taper_dtype)s->given->dtype;
    const void *numbers = taper_tensor_data(s->given);
    const int64_t size = s->data->sizes[s->axis];
    if (s->offsets) {
        *start = taper_load_int(dtype, numbers, line * (s->count + 1) + k);
        *end = taper_load_int(dtype, numbers, line * (s->count + 1) + k + 1);
    } else {
        const int64_t length = taper_load_int(dtype, numbers, line * s->count + k);
        if (length < 0 || length > size - *start) {
            return false;
        }
        *end = *start + length;
    }
    return *start >= 0 && *start <= *end && *end <= size;
}

static taper_status check_rows(const taper_call *call, const segments *s, bool unsafe)
{
    for (int64_t line = 0; line < s->outer; line++) {
        int64_t start = 0, end = 0;
        for (int64_t k = 0; k < s->count; k++, start = end) {
            if (!bounds(s, line, k, &start, &end)) {
                return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                                  "segment %lld is not within the data's %lld elements", (long long)k,
                                  (long long)s->data->sizes[s->axis]);
            }
        }
        if (!unsafe && !s->offsets && end != s->data->sizes[s->axis]) {
            return taper_fail(
                call->run->error, TAPER_ERROR_ARGUMENT,
                "Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe.");
        }
    }
    return TAPER_OK;
}

// Reads (data, reduce, *, lengths, indices, offsets, axis, unsafe, initial).
static taper_status arg_segments(const taper_call *call, segments *s)
{
    taper_run *run = call->run;
    taper_error *error = run->error;
    taper_tensor *data, *lengths, *offsets;
    bool unsafe;
    memset(s, 0, sizeof *s);
    TAPER_TRY(taper_arg_tensor(call, 0, &data));
    TAPER_TRY(arg_kind(call, &s->kind));
    TAPER_TRY(taper_arg_tensor_or_none(call, 2, &lengths));
    TAPER_TRY(taper_arg_tensor_or_none(call, 4, &offsets));
    TAPER_TRY(taper_arg_dim(call, 5, data->rank, &s->axis));
    TAPER_TRY(taper_arg_bool(call, 6, &unsafe));
    if (!taper_arg_is_none(call, 7)) {
        taper_scalar initial;
        TAPER_TRY(taper_arg_scalar(call, 7, &initial));
        s->has_initial = true;
        s->initial = initial.f;
    }
    if (!taper_arg_is_none(call, 3)) {
        return taper_fail(error, TAPER_ERROR_UNSUPPORTED, "indices based reduction is not supported");
    }
    if (lengths == NULL && offsets == NULL) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "Either lengths or offsets must be defined.");
    }
    s->offsets = offsets != NULL;
    taper_tensor *given = s->offsets ? offsets : lengths;
    if (!taper_dtype_is_float((taper_dtype)data->dtype)) {
        return taper_fail(error, TAPER_ERROR_UNSUPPORTED, "\"_segment_reduce_cpu\" not implemented for '%s'",
                          taper_dtype_torch_name((taper_dtype)data->dtype));
    }
    if (given->dtype != TAPER_I32 && given->dtype != TAPER_I64) {
        return taper_fail(error, TAPER_ERROR_UNSUPPORTED, "\"_segment_reduce_cpu\" not implemented for '%s'",
                          taper_dtype_torch_name((taper_dtype)given->dtype));
    }
    if (given->rank > data->rank || s->axis + 1 != given->rank || taper_tensor_numel(data) == 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "data is empty, or axis is not the last dimension of lengths or offsets");
    }
    s->outer = 1;
    s->inner = 1;
    for (size_t i = 0; i < data->rank; i++) {
        s->outer *= i < s->axis ? data->sizes[i] : 1;
        s->inner *= i > s->axis ? data->sizes[i] : 1;
        if (i < s->axis && given->sizes[i] != data->sizes[i]) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT, "dimension %zu of lengths or offsets is not that of data",
                              i);
        }
    }
    s->count = given->sizes[s->axis] - (s->offsets ? 1 : 0);
    if (s->count < 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "offsets are empty");
    }
    TAPER_TRY(taper_run_contiguous(run, data, &s->data));
    TAPER_TRY(taper_run_contiguous(run, given, &s->given));
    return check_rows(call, s, unsafe);
}

static double join(segment_kind kind, double a, double x)
{
    switch (kind) {
    case SEGMENT_MAX:
        return x != x || a != a ? NAN : x > a ? x : a;
    case SEGMENT_MIN:
        return x != x || a != a ? NAN : x < a ? x : a;
    case SEGMENT_PROD:
        return a * x;
    default:
        return a + x;
    }
}

// Computes one element of the result from `length` elements, beginning with element `at`. room is memory for an element
// of the dtype. This memory is used to round each sum, as PyTorch does.
static double reduce(const segments *s, int64_t at, int64_t length, void *room)
{
    static const double starts[] = {-INFINITY, 0, INFINITY, 0, 1};
    const taper_dtype dtype = (taper_dtype)s->data->dtype;
    double value = s->has_initial ? s->initial : starts[s->kind];
    for (int64_t i = 0; i < length; i++) {
        value = join(s->kind, value, taper_load_double(dtype, taper_tensor_data(s->data), at + i * s->inner));
        taper_put_double(dtype, room, 0, value);
        value = taper_load_double(dtype, room, 0);
    }
    if (s->kind == SEGMENT_MEAN) {
        value = length > 0 ? value / (double)length : s->has_initial ? value : NAN;
    }
    return value;
}

TAPER_KERNEL(taper_op_segment_reduce)
{
    segments s;
    taper_tensor *result = NULL;
    taper_status status = arg_segments(call, &s);
    if (status == TAPER_OK) {
        int64_t sizes[TAPER_MAX_RANK];
        memcpy(sizes, s.data->sizes, sizeof sizes);
        sizes[s.axis] = s.count;
        status = taper_tensor_new(call->run->heap, (taper_dtype)s.data->dtype, s.data->rank, sizes, NULL, &result,
                                  call->run->error);
    }
    for (int64_t line = 0; status == TAPER_OK && line < s.outer; line++) {
        int64_t start = 0, end = 0;
        for (int64_t k = 0; k < s.count; k++, start = end) {
            (void)bounds(&s, line, k, &start, &end); // check_rows has checked that the bounds are valid
            for (int64_t i = 0; i < s.inner; i++) {
                double room;
                const int64_t from = (line * s.data->sizes[s.axis] + start) * s.inner + i;
                taper_put_double((taper_dtype)result->dtype, taper_tensor_mutable(result),
                                 (line * s.count + k) * s.inner + i, reduce(&s, from, end - start, &room));
            }
        }
    }
    taper_tensor_drop(s.data);
    taper_tensor_drop(s.given);
    return status == TAPER_OK ? taper_ret_tensor(call, 0, result) : status;
}
