// SPDX-License-Identifier: BSD-2-Clause
// gather, scatter and similar operators: one index per element, along one dimension.
#include <math.h>

#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/index_into.h"
#include "ops/list/op_config.h"
#include "ops/tensor/gather_rows.h"

// Computes the strides of x for a shape of this rank: x's own strides, or zeros if x has no dimensions.
static void strides_for(const taper_tensor *x, size_t rank, int64_t *strides)
{
    for (size_t d = 0; d < rank; d++) {
        strides[d] = d < x->rank ? x->strides[d] : 0;
    }
}

static int64_t size_of(const taper_tensor *x, size_t d)
{
    return x->rank == 0 ? 1 : x->sizes[d];
}

// Returns the rank; a tensor without dimensions counts as a vector of one element.
static size_t rank_of(const taper_tensor *x)
{
    return x->rank == 0 ? 1 : x->rank;
}

static taper_status out_of_bounds(taper_error *error, int64_t at, size_t dim, int64_t size)
{
    return taper_fail(error, TAPER_ERROR_ARGUMENT, "index %lld is out of bounds for dimension %zu with size %lld",
                      (long long)at, dim, (long long)size);
}

// ---- gather

static taper_status gather(taper_call *call, const taper_tensor *x, size_t dim, const taper_tensor *index,
                           taper_tensor **result)
{
    taper_error *error = call->run->error;
    size_t item;
    TAPER_TRY(taper_move_item(x, &item, error));
    TAPER_TRY(taper_tensor_like(call->run->heap, x, index->rank, index->sizes, NULL, result, error));
    if (taper_tensor_numel(index) == 0) {
        return TAPER_OK;
    }
    const int64_t size = size_of(x, dim), step = x->rank == 0 ? 0 : x->strides[dim];
    int64_t strides[TAPER_MAX_RANK];
    strides_for(x, index->rank, strides);
    strides[dim] = 0;
    char *to = taper_tensor_mutable(*result);
    const char *from = taper_tensor_data(x);
    const taper_gather rows = {.index = index,
                               .table = (char *)(uintptr_t)from, // the gather only reads the table
                               .table_strides = strides,
                               .size = size,
                               .step = step,
                               .other = to,
                               .other_strides = (*result)->strides,
                               .item = item};
    bool bad;
    const taper_status status = taper_gather_rows(call->run, &rows, &bad);
    if (status != TAPER_DECLINED && !bad) {
        if (status != TAPER_OK) {
            taper_tensor_drop(*result);
        }
        return status;
    }
    taper_index_walk walk; // gathers the elements one by one, which also finds the first index that is out of bounds
    taper_index_walk_start(&walk, call->run, index->rank, index->sizes);
    taper_index_walk_add(&walk, index->strides);
    taper_index_walk_add(&walk, strides);
    for (int64_t i = 0; i < walk.count; i++, taper_index_walk_next(&walk), to += item) {
        const int64_t at = taper_index_at(index, walk.walk.at[0]);
        if (at < 0 || at >= size) {
            taper_tensor_drop(*result);
            return out_of_bounds(error, at, dim, size);
        }
        const char *p = from + (walk.walk.at[1] + at * step) * (int64_t)item;
        if (item == 4) {
            memcpy(to, p, 4);
        } else {
            memcpy(to, p, item);
        }
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_gather)
{
    taper_error *error = call->run->error;
    taper_tensor *x, *index, *result;
    size_t dim;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_dim(call, 1, x->rank, &dim));
    TAPER_TRY(taper_arg_tensor(call, 2, &index));
    if (taper_tensor_numel(index) != 0) {
        TAPER_TRY(taper_check_index(index, true, "gather()", error));
        if (rank_of(x) != rank_of(index)) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT,
                              "Index tensor must have the same number of dimensions as input tensor");
        }
        for (size_t d = 0; d < rank_of(x); d++) {
            if (d != dim && size_of(index, d) > size_of(x, d)) {
                return taper_fail(error, TAPER_ERROR_ARGUMENT,
                                  "Size does not match at dimension %zu expected index %s to be smaller than self %s "
                                  "apart from dimension "
                                  "%zu",
                                  d, taper_sizes_print(index->rank, index->sizes).text,
                                  taper_sizes_print(x->rank, x->sizes).text, dim);
            }
        }
    }
    TAPER_TRY(gather(call, x, dim, index, &result));
    return taper_ret_tensor(call, 0, result);
}

// Broadcasts x and index, except along dim, and gathers.
static taper_status along_dim(taper_call *call, taper_tensor *x, size_t dim, taper_tensor *index, taper_tensor **result)
{
    taper_run *run = call->run;
    int64_t sizes[TAPER_MAX_RANK];
    if (x->rank != index->rank || x->rank == 0) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT,
                          "torch.take_along_dim(): input and indices should have the same number of dimensions, but "
                          "got %u dimensions for "
                          "input, and %u dimensions for indices",
                          (unsigned)x->rank, (unsigned)index->rank);
    }
    for (size_t d = 0; d < x->rank; d++) {
        sizes[d] = x->sizes[d] == 1 ? index->sizes[d] : x->sizes[d];
    }
    taper_tensor *wide_x, *wide_index;
    sizes[dim] = x->sizes[dim];
    TAPER_TRY(taper_expand(run, x, x->rank, sizes, &wide_x));
    sizes[dim] = index->sizes[dim];
    taper_status status = taper_expand(run, index, index->rank, sizes, &wide_index);
    if (status == TAPER_OK) {
        status = gather(call, wide_x, dim, wide_index, result);
        taper_tensor_drop(wide_index);
    }
    taper_tensor_drop(wide_x);
    return status;
}

TAPER_KERNEL(taper_op_take_along_dim)
{
    taper_run *run = call->run;
    taper_tensor *x, *index, *flat = NULL, *flat_index = NULL, *result;
    size_t dim = 0;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_tensor(call, 1, &index));
    TAPER_TRY(taper_check_index(index, false, "torch.take_along_dim()", run->error));
    if (!taper_arg_is_none(call, 2)) {
        TAPER_TRY(taper_arg_dim(call, 2, x->rank, &dim));
        TAPER_TRY(along_dim(call, x, dim, index, &result));
        return taper_ret_tensor(call, 0, result);
    }
    TAPER_TRY(taper_index_flat(run, x, &flat));
    taper_status status = taper_index_flat(run, index, &flat_index);
    if (status == TAPER_OK) {
        status = gather(call, flat, 0, flat_index, &result);
        taper_tensor_drop(flat_index);
    }
    taper_tensor_drop(flat);
    return status == TAPER_OK ? taper_ret_tensor(call, 0, result) : status;
}

// ---- scatter

typedef struct scatter {
    taper_tensor *self;         // the argument self, as a retained reference
    const taper_tensor *index;  // the argument index, borrowed from the call
    const taper_tensor *source; // the argument source, borrowed; NULL if the source is `number`
    unsigned char number[16];
    size_t dim;
} scatter;

static taper_status begin_scatter(taper_call *call, const char *name, bool has_source, scatter *s)
{
    taper_error *error = call->run->error;
    taper_tensor *x, *index, *source = NULL;
    taper_scalar value;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_dim(call, 1, x->rank, &s->dim));
    TAPER_TRY(taper_arg_tensor(call, 2, &index));
    const bool empty = taper_tensor_numel(index) == 0; // PyTorch does not check an empty index
    if (!empty) {
        TAPER_TRY(taper_check_index(index, true, name, error));
    }
    if (has_source) {
        TAPER_TRY(taper_arg_tensor(call, 3, &source));
        if (source->dtype != x->dtype) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT, "%s: Expected self.dtype to be equal to src.dtype", name);
        }
    } else {
        TAPER_TRY(taper_arg_scalar(call, 3, &value));
        TAPER_TRY(taper_scalar_check((taper_dtype)x->dtype, &value, error));
        taper_scalar_store((taper_dtype)x->dtype, s->number, &value);
    }
    if (!empty) {
        if (rank_of(index) != rank_of(x) || (source != NULL && rank_of(index) != rank_of(source))) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT,
                              "Index tensor must have the same number of dimensions as %s tensor",
                              rank_of(index) != rank_of(x) ? "self" : "src");
        }
        for (size_t d = 0; d < rank_of(index); d++) {
            const bool too_large = d != s->dim && size_of(index, d) > size_of(x, d);
            if (too_large || (source != NULL && size_of(index, d) > size_of(source, d))) {
                return taper_fail(error, TAPER_ERROR_ARGUMENT,
                                  "Expected index %s to be smaller than self %s apart from dimension %zu%s%s",
                                  taper_sizes_print(index->rank, index->sizes).text,
                                  taper_sizes_print(x->rank, x->sizes).text, s->dim,
                                  source != NULL ? " and to be smaller size than src " : "",
                                  source != NULL ? taper_sizes_print(source->rank, source->sizes).text : "");
            }
        }
    }
    s->index = index;
    s->source = source;
    size_t item;
    TAPER_TRY(taper_move_item(x, &item, error));
    return taper_inplace_begin(call, TAPER_FORMAT_CONTIGUOUS, &s->self);
}

// Applies the operation for each index to an element of self and an element of the source.
static taper_status run_scatter(taper_call *call, const scatter *s, taper_into operation)
{
    const taper_tensor *index = s->index, *source = s->source;
    taper_into_function function;
    TAPER_TRY(taper_into_get((taper_dtype)s->self->dtype, operation, &function, call->run->error));
    if (taper_tensor_numel(index) == 0) {
        return TAPER_OK;
    }
    const int64_t item = (int64_t)taper_tensor_item(s->self);
    const int64_t size = size_of(s->self, s->dim), step = s->self->rank == 0 ? 0 : s->self->strides[s->dim];
    int64_t strides[TAPER_MAX_RANK], others[TAPER_MAX_RANK] = {0};
    strides_for(s->self, index->rank, strides);
    strides[s->dim] = 0;
    if (source != NULL) {
        strides_for(source, index->rank, others);
    }
    char *to = taper_tensor_mutable(s->self);
    const char *from = source != NULL ? taper_tensor_data(source) : (const void *)s->number;
    // taper_gather_rows handles the elements before an index that is out of bounds; the loop below then finds that
    // index.
    bool moved = false;
    const taper_gather rows = {.index = index,
                               .table = to,
                               .table_strides = strides,
                               .size = size,
                               .step = step,
                               .other = (char *)(uintptr_t)from, // the scatter only reads the source
                               .other_strides = others,
                               .item = (size_t)item,
                               .scatter = true,
                               .operation = operation,
                               .dtype = (taper_dtype)s->self->dtype};
    const taper_status status = taper_gather_rows(call->run, &rows, &moved);
    if (status != TAPER_DECLINED && !moved) {
        return status;
    }
    taper_index_walk walk;
    taper_index_walk_start(&walk, call->run, index->rank, index->sizes);
    taper_index_walk_add(&walk, index->strides);
    taper_index_walk_add(&walk, strides);
    taper_index_walk_add(&walk, others);
    for (int64_t i = 0; i < walk.count; i++, taper_index_walk_next(&walk)) {
        const int64_t at = taper_index_at(index, walk.walk.at[0]);
        if (at < 0 || at >= size) {
            return out_of_bounds(call->run->error, at, s->dim, size);
        }
        if (!moved) {
            function(to + (walk.walk.at[1] + at * step) * item, 0, from + walk.walk.at[2] * item, 0, 1);
        }
    }
    return TAPER_OK;
}

static taper_status end_scatter(taper_call *call, scatter *s, taper_status status)
{
    if (status != TAPER_OK) {
        taper_tensor_drop(s->self);
        return status;
    }
    return taper_inplace_end(call, s->self);
}

static taper_status ret_scatter(taper_call *call, const char *name, bool has_source, taper_into operation)
{
    scatter s;
    taper_into_function function;
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_into_get((taper_dtype)x->dtype, operation, &function, call->run->error));
    TAPER_TRY(begin_scatter(call, name, has_source, &s));
    return end_scatter(call, &s, run_scatter(call, &s, operation));
}

TAPER_KERNEL(taper_op_scatter_src)
{
    return ret_scatter(call, "scatter()", true, TAPER_INTO_SET);
}
TAPER_KERNEL(taper_op_scatter_value)
{
    return ret_scatter(call, "scatter()", false, TAPER_INTO_SET);
}
TAPER_KERNEL(taper_op_scatter_add)
{
    return ret_scatter(call, "scatter_add()", true, TAPER_INTO_ADD);
}

static taper_status named_scatter(taper_call *call, bool has_source)
{
    const taper_string *name;
    TAPER_TRY(taper_arg_string(call, 4, &name));
    const bool add = strcmp(name->data, "add") == 0;
    if (!add && strcmp(name->data, "multiply") != 0) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "reduce argument must be either add or multiply.");
    }
    return ret_scatter(call, "scatter()", has_source, add ? TAPER_INTO_ADD : TAPER_INTO_MULTIPLY);
}

TAPER_KERNEL(taper_op_scatter_src_reduce)
{
    return named_scatter(call, true);
}
TAPER_KERNEL(taper_op_scatter_value_reduce)
{
    return named_scatter(call, false);
}

// ---- scatter_reduce

// Counts, for each element of self, the source elements that are scattered to it. The result is contiguous. Each count
// is at most INT32_MAX.
static taper_status count_parts(taper_call *call, const scatter *s, bool include_self, taper_tensor **counts)
{
    if (taper_tensor_numel(s->index) >= INT32_MAX) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED, "scatter(): more than 2^31 - 2 indices");
    }
    TAPER_TRY(
        taper_tensor_new(call->run->heap, TAPER_I32, s->self->rank, s->self->sizes, NULL, counts, call->run->error));
    const taper_scalar start = taper_scalar_int(include_self ? 1 : 0);
    static const int32_t one = 1;
    scatter c = *s;
    c.self = *counts;
    c.source = NULL;
    memcpy(c.number, &one, sizeof one);
    taper_status status = taper_tensor_fill(call->run, *counts, &start);
    if (status == TAPER_OK) {
        status = run_scatter(call, &c, TAPER_INTO_ADD);
    }
    if (status != TAPER_OK) {
        taper_tensor_drop(*counts);
    }
    return status;
}

static void store_identity(taper_dtype dtype, taper_into operation, unsigned char *p)
{
    taper_scalar value = taper_scalar_int(operation == TAPER_INTO_MULTIPLY ? 1 : 0);
    const bool top = operation == TAPER_INTO_MINIMUM;
    if (operation == TAPER_INTO_MAXIMUM || operation == TAPER_INTO_MINIMUM) {
        if (taper_dtype_is_float(dtype)) {
            value = taper_scalar_double(top ? (double)INFINITY : -(double)INFINITY);
        } else {
            switch (dtype) {
            case TAPER_U8:
                value = taper_scalar_int(top ? UINT8_MAX : 0);
                break;
            case TAPER_I8:
                value = taper_scalar_int(top ? INT8_MAX : INT8_MIN);
                break;
            case TAPER_I16:
                value = taper_scalar_int(top ? INT16_MAX : INT16_MIN);
                break;
            case TAPER_I32:
                value = taper_scalar_int(top ? INT32_MAX : INT32_MIN);
                break;
            case TAPER_BOOL:
                value = taper_scalar_int(top);
                break;
            default:
                value = taper_scalar_int(top ? INT64_MAX : INT64_MIN);
                break;
            }
        }
    }
    taper_scalar_store(dtype, p, &value);
}

static void divide_by(taper_run *run, taper_tensor *self, const taper_tensor *counts)
{
    const int64_t item = (int64_t)taper_tensor_item(self);
    const taper_dtype dtype = (taper_dtype)self->dtype;
    const int32_t *n = taper_tensor_data(counts);
    char *data = taper_tensor_mutable(self);
    if (dtype == TAPER_F32 && taper_tensor_is_contiguous(self)) {
        enum { TOGETHER = 4096 };
        const int64_t count = taper_tensor_numel(self);
        for (int64_t at = 0; at < count && taper_run_goes_on(run, TOGETHER); at += TOGETHER) {
            float *const values = (float *)(void *)data + at;
            const size_t m = (size_t)taper_min_i64(TOGETHER, count - at);
            // This loop is vectorized; floats count exactly up to 2^24, and nearly exactly above.
            for (size_t i = 0; i < m; i++) {
                values[i] /= (float)(n[at + (int64_t)i] > 1 ? n[at + (int64_t)i] : 1);
            }
        }
        return;
    }
    taper_index_walk walk;
    taper_index_walk_start(&walk, run, self->rank, self->sizes);
    taper_index_walk_add(&walk, self->strides);
    for (int64_t i = 0; i < walk.count; i++, taper_index_walk_next(&walk)) {
        if (n[i] <= 1) {
            continue;
        }
        char *p = data + walk.walk.at[0] * item;
        taper_scalar value;
        taper_scalar_load(dtype, p, &value);
        if (value.kind == TAPER_SCALAR_INT) { // integers are divided with rounding towards minus infinity
            value.i = value.i / n[i] - (value.i % n[i] != 0 && value.i < 0 ? 1 : 0);
        } else {
            value.f /= (double)n[i];
            value.im /= (double)n[i];
        }
        taper_scalar_store(dtype, p, &value);
    }
}

static taper_status reduce(taper_call *call, scatter *s, taper_into operation, bool mean, bool include_self)
{
    taper_error *error = call->run->error;
    const taper_dtype dtype = (taper_dtype)s->self->dtype;
    taper_into_function function;
    taper_tensor *counts = NULL;
    TAPER_TRY(taper_into_get(dtype, operation, &function, error));
    if (!include_self) {
        scatter start = *s;
        start.source = NULL;
        store_identity(dtype, operation, start.number);
        TAPER_TRY(run_scatter(call, &start, TAPER_INTO_SET));
    }
    if (mean) {
        TAPER_TRY(count_parts(call, s, include_self, &counts));
    }
    const taper_status status = run_scatter(call, s, operation);
    if (status == TAPER_OK && mean) {
        divide_by(call->run, s->self, counts);
    }
    taper_tensor_drop(counts);
    return status;
}

TAPER_KERNEL(taper_op_scatter_reduce)
{
    scatter s;
    const taper_string *name;
    bool include_self;
    TAPER_TRY(taper_arg_string(call, 4, &name));
    TAPER_TRY(taper_arg_bool(call, 5, &include_self));
    static const struct {
        const char *name;
        taper_into operation;
    } names[] = {{"sum", TAPER_INTO_ADD},
                 {"mean", TAPER_INTO_ADD},
                 {"prod", TAPER_INTO_MULTIPLY},
                 {"amax", TAPER_INTO_MAXIMUM},
                 {"amin", TAPER_INTO_MINIMUM}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name->data, names[i].name) == 0) {
            TAPER_TRY(begin_scatter(call, "scatter()", true, &s));
            return end_scatter(call, &s, reduce(call, &s, names[i].operation, i == 1, include_self));
        }
    }
    return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                      "reduce argument must be either sum, prod, mean, amax or amin, got %s", name->data);
}
