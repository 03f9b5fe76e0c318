// SPDX-License-Identifier: BSD-2-Clause
// Operators that write to slices of a tensor that an index selects along a dimension: index_copy, index_add, index_fill
// and index_reduce. A slice is called a part here.
#include "base/checked.h"
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/index_into.h"
#include "ops/engine/view_shape.h"
#include "ops/tensor/gather_rows.h"

typedef struct rows {
    taper_tensor *self;   // the argument self, retained (taper_inplace_begin)
    taper_tensor *index;  // the argument index, borrowed from the call
    taper_tensor *source; // the argument source, borrowed; NULL for index_fill
    size_t dim;
    int64_t count, size, index_step;
} rows;

// Returns true if the parts (slices along dim) of s can be written to the parts of x. The parts must have equal sizes,
// unless s may be broadcast.
static bool source_fits(const taper_tensor *x, const taper_tensor *s, size_t dim, bool broadcasts)
{
    if (x->rank <= 1 || s->rank == 0) {
        return x->rank <= 1 && s->rank <= 1;
    }
    const size_t lead = x->rank - s->rank; // number of dimensions that only x has
    if (s->rank > x->rank || (lead != 0 && !broadcasts)) {
        return false;
    }
    // Compares all dimensions except `dim`, the dimension d of s with the dimension d + lead of x.
    for (size_t d = 0; d + 1 < s->rank; d++) {
        const int64_t in = s->sizes[d < dim ? d : d + 1], out = x->sizes[d + lead < dim ? d + lead : d + lead + 1];
        if (in != out && (in != 1 || !broadcasts)) {
            return false;
        }
    }
    return true;
}

// Reads arguments 1 to 3: the dimension, the index and the source. broadcasts is passed to source_fits.
static taper_status begin_rows(taper_call *call, const char *name, bool broadcasts, int64_t format, bool has_source,
                               rows *r)
{
    taper_error *error = call->run->error;
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_dim(call, 1, x->rank, &r->dim));
    TAPER_TRY(taper_arg_tensor(call, 2, &r->index));
    TAPER_TRY(taper_check_index(r->index, broadcasts, name, error));
    if (r->index->rank > 1) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "%s: Index is supposed to be a vector, but got dim: %u", name,
                          (unsigned)r->index->rank);
    }
    r->count = r->index->rank == 0 ? 1 : r->index->sizes[0];
    r->index_step = r->index->rank == 0 ? 0 : r->index->strides[0];
    r->size = x->rank == 0 ? 1 : x->sizes[r->dim];
    r->source = NULL;
    if (has_source) {
        TAPER_TRY(taper_arg_tensor(call, 3, &r->source));
        const taper_tensor *s = r->source;
        if (s->dtype != x->dtype) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT,
                              "%s: self (%s) and source (%s) must have the same scalar type", name,
                              taper_dtype_name((taper_dtype)x->dtype), taper_dtype_name((taper_dtype)s->dtype));
        }
        const int64_t given = s->rank == 0 ? 1 : r->dim < s->rank ? s->sizes[r->dim] : -1;
        if (given != r->count) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT,
                              "%s: Number of indices (%lld) should be equal to source.size(dim): (%lld), for "
                              "dim: %zu",
                              name, (long long)r->count, (long long)given, r->dim);
        }
        if (!source_fits(x, s, r->dim, broadcasts)) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT,
                              "%s: source tensor shape must match self tensor shape, excluding the specified "
                              "dimension. Got self.shape = %s source.shape = %s",
                              name, taper_sizes_print(x->rank, x->sizes).text,
                              taper_sizes_print(s->rank, s->sizes).text);
        }
    }
    return taper_inplace_begin(call, format, &r->self);
}

// Returns a view of the part of x at index i of dim, as a tensor without that dimension.
static taper_tensor part_at(const taper_tensor *x, size_t dim, int64_t i)
{
    taper_tensor part = taper_tensor_local(x);
    if (x->rank == 0) {
        return part;
    }
    // A tensor without elements may have any stride, and its parts are never read.
    part.offset = taper_wrap_add(part.offset, taper_wrap_mul(i, x->strides[dim]));
    for (size_t d = dim; d + 1 < x->rank; d++) {
        part.sizes[d] = x->sizes[d + 1];
        part.strides[d] = x->strides[d + 1];
    }
    part.rank--;
    return part;
}

// Returns a view of part i of the source, with the sizes of the part of self that it is written to.
static taper_tensor source_at(const rows *r, int64_t i)
{
    taper_tensor part = part_at(r->source, r->source->rank == 0 ? 0 : r->dim, i);
    taper_tensor wide = part_at(r->self, r->dim, 0);
    const size_t lead = wide.rank - part.rank;
    for (size_t d = 0; d < wide.rank; d++) {
        wide.strides[d] = d < lead || part.sizes[d - lead] == 1 ? 0 : part.strides[d - lead];
    }
    memcpy(part.sizes, wide.sizes, sizeof part.sizes);
    memcpy(part.strides, wide.strides, sizeof part.strides);
    part.rank = wide.rank;
    return part;
}

static taper_status row_index(taper_call *call, const rows *r, const char *name, bool negative, int64_t i, int64_t *at)
{
    *at = taper_index_at(r->index, i * r->index_step);
    if (*at >= r->size || *at < (negative ? -r->size : 0)) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "%s: index %lld is out of bounds for dimension %zu with size %lld", name, (long long)*at,
                          r->dim, (long long)r->size);
    }
    *at += *at < 0 ? r->size : 0;
    return TAPER_OK;
}

#include "ops/tensor/index_rows_columns.h"

// Returns true if each part (slice along dim) is contiguous, in self and in the source.
static bool lie_together(const rows *r)
{
    const taper_tensor *x = r->self, *s = r->source;
    return r->dim == 0 && r->size > 0 && x->rank > 1 && s->rank == x->rank && taper_tensor_is_contiguous(x) &&
           taper_tensor_is_contiguous(s) && memcmp(x->sizes + 1, s->sizes + 1, (x->rank - 1u) * sizeof *x->sizes) == 0;
}

// Writes parts that are contiguous.
static taper_status into_lines(taper_call *call, const rows *r, const char *name, taper_into_function into)
{
    const int64_t item = (int64_t)taper_tensor_item(r->self), length = taper_tensor_numel(r->self) / r->size;
    char *const to = taper_tensor_mutable(r->self);
    const char *from = taper_tensor_data(r->source);
    for (int64_t i = 0; i < r->count && taper_run_step(call->run, i, 20); i++) {
        int64_t at;
        TAPER_TRY(row_index(call, r, name, false, i, &at));
        taper_into_line(call->run, into, to + at * length * item, item, from + i * length * item, item, length);
    }
    return TAPER_OK;
}

static taper_status into_rows(taper_call *call, const rows *r, const char *name, taper_into operation)
{
    taper_into_function into;
    TAPER_TRY(taper_into_get((taper_dtype)r->self->dtype, operation, &into, call->run->error));
    const taper_status status = into_columns(call, r, operation, NULL);
    if (status != TAPER_DECLINED) {
        return status;
    }
    if (lie_together(r)) {
        return into_lines(call, r, name, into);
    }
    for (int64_t i = 0; i < r->count && taper_run_step(call->run, i, 30); i++) {
        int64_t at;
        TAPER_TRY(row_index(call, r, name, false, i, &at));
        taper_tensor to = part_at(r->self, r->dim, at);
        const taper_tensor from = source_at(r, i);
        taper_into_all(call->run, into, &to, &from);
    }
    return TAPER_OK;
}

static taper_status end_rows(taper_call *call, rows *r, taper_status status)
{
    if (status != TAPER_OK) {
        taper_tensor_drop(r->self);
        return status;
    }
    return taper_inplace_end(call, r->self);
}

TAPER_KERNEL(taper_op_index_copy)
{
    rows r;
    TAPER_TRY(begin_rows(call, "index_copy_()", false, TAPER_FORMAT_CONTIGUOUS, true, &r));
    return end_rows(call, &r, into_rows(call, &r, "index_copy_()", TAPER_INTO_SET));
}

// Returns source * alpha as a new tensor.
static taper_status scaled(taper_run *run, const taper_tensor *x, const taper_scalar *alpha, taper_tensor **result)
{
    taper_into_function multiply;
    TAPER_TRY(taper_into_get((taper_dtype)x->dtype, TAPER_INTO_MULTIPLY, &multiply, run->error));
    TAPER_TRY(taper_view_clone(run, x, TAPER_FORMAT_CONTIGUOUS, result));
    unsigned char factor[16];
    taper_scalar_store((taper_dtype)x->dtype, factor, alpha);
    const int64_t item = (int64_t)taper_tensor_item(x);
    const int64_t count = taper_tensor_numel(x);
    TAPER_TRY(taper_run_spend(run, (uint64_t)count * 2)); // charges the run for the elements that were just copied
    multiply(taper_tensor_mutable(*result), item, factor, 0, count);
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_index_add)
{
    rows r;
    taper_scalar alpha;
    taper_tensor *product = NULL;
    TAPER_TRY(taper_arg_scalar(call, 4, &alpha));
    TAPER_TRY(begin_rows(call, "index_add_()", true, TAPER_FORMAT_CONTIGUOUS, true, &r));
    taper_status status = TAPER_OK;
    if (alpha.kind == TAPER_SCALAR_COMPLEX || alpha.f != 1) {
        status = scaled(call->run, r.source, &alpha, &product);
        r.source = product;
    }
    if (status == TAPER_OK) {
        status = into_rows(call, &r, "index_add_()", TAPER_INTO_ADD);
    }
    taper_tensor_drop(product);
    return end_rows(call, &r, status);
}

TAPER_KERNEL(taper_op_index_fill)
{
    rows r;
    taper_scalar value;
    if (call->arg_count > 3 && call->args[3].tag == TAPER_TENSOR && call->args[3].as.tensor->rank != 0) {
        return taper_fail(
            call->run->error, TAPER_ERROR_ARGUMENT,
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with %u dimension(s).",
            (unsigned)call->args[3].as.tensor->rank);
    }
    TAPER_TRY(taper_arg_scalar(call, 3, &value));
    TAPER_TRY(begin_rows(call, "index_fill_()", false, TAPER_FORMAT_PRESERVE, false, &r));
    uint64_t element[2];
    taper_scalar_store((taper_dtype)r.self->dtype, element, &value);
    taper_status status =
        r.count != 0 && r.self->quantizer == NULL ? into_columns(call, &r, TAPER_INTO_SET, element) : TAPER_DECLINED;
    if (status != TAPER_DECLINED) {
        return end_rows(call, &r, status);
    }
    status = TAPER_OK;
    for (int64_t i = 0; i < r.count && status == TAPER_OK && taper_run_step(call->run, i, 30); i++) {
        int64_t at;
        status = row_index(call, &r, "index_fill_()", true, i, &at);
        if (status == TAPER_OK) {
            taper_tensor to = part_at(r.self, r.dim, at);
            status = taper_tensor_fill(call->run, &to, &value);
        }
    }
    return end_rows(call, &r, status);
}

// ---- index_reduce

static void divide(taper_run *run, taper_tensor *x, int64_t count)
{
    taper_index_walk walk;
    const int64_t item = (int64_t)taper_tensor_item(x);
    taper_index_walk_start(&walk, run, x->rank, x->sizes);
    taper_index_walk_add(&walk, x->strides);
    char *data = taper_tensor_mutable(x);
    for (int64_t i = 0; i < walk.count; i++, taper_index_walk_next(&walk)) {
        char *p = data + walk.walk.at[0] * item;
        taper_scalar value;
        taper_scalar_load((taper_dtype)x->dtype, p, &value);
        if (value.kind == TAPER_SCALAR_INT) { // integers are divided with rounding towards minus infinity
            value.i = value.i / count - (value.i % count != 0 && value.i < 0 ? 1 : 0);
        } else {
            value.f /= (double)count;
        }
        taper_scalar_store((taper_dtype)x->dtype, p, &value);
    }
}

// Reduces the parts of the source into self. If include_self is not set, a part that an index selects starts with its
// first source part. For a mean the parts are counted.
static taper_status reduce_rows(taper_call *call, const rows *r, taper_into operation, bool mean, bool include_self)
{
    taper_run *run = call->run;
    taper_into_function into, set;
    taper_tensor *counts;
    TAPER_TRY(taper_into_get((taper_dtype)r->self->dtype, operation, &into, run->error));
    TAPER_TRY(taper_into_get((taper_dtype)r->self->dtype, TAPER_INTO_SET, &set, run->error));
    TAPER_TRY(taper_index_scratch(run, r->size, &counts));
    int64_t *seen = taper_tensor_mutable(counts);
    for (int64_t i = 0; i < r->size && taper_run_step(run, i, 1); i++) {
        seen[i] = include_self ? 1 : 0;
    }
    if (taper_run_spend(run, 0) != TAPER_OK) { // the run ended before each element was set
        taper_tensor_drop(counts);
        return TAPER_OK;
    }
    taper_status status = TAPER_OK;
    const bool lines = lie_together(r);
    const int64_t item = (int64_t)taper_tensor_item(r->self);
    const int64_t length = lines ? taper_tensor_numel(r->self) / r->size : 0;
    for (int64_t i = 0; i < r->count && status == TAPER_OK; i++) {
        int64_t at;
        status = row_index(call, r, "index_reduce_()", false, i, &at);
        if (status == TAPER_OK && lines) {
            taper_into_line(run, seen[at]++ == 0 ? set : into,
                            (char *)taper_tensor_mutable(r->self) + at * length * item, item,
                            (const char *)taper_tensor_data(r->source) + i * length * item, item, length);
        } else if (status == TAPER_OK) {
            taper_tensor to = part_at(r->self, r->dim, at);
            const taper_tensor from = source_at(r, i);
            taper_into_all(run, seen[at]++ == 0 ? set : into, &to, &from);
        }
    }
    for (int64_t i = 0; i < r->size && status == TAPER_OK && mean; i++) {
        taper_tensor to = part_at(r->self, r->dim, i);
        if (seen[i] > 1) {
            divide(run, &to, seen[i]);
        }
    }
    taper_tensor_drop(counts);
    return status;
}

TAPER_KERNEL(taper_op_index_reduce)
{
    rows r;
    const taper_string *name;
    bool include_self;
    TAPER_TRY(taper_arg_string(call, 4, &name));
    TAPER_TRY(taper_arg_bool(call, 5, &include_self));
    const bool mean = strcmp(name->data, "mean") == 0;
    taper_into operation;
    if (mean) {
        operation = TAPER_INTO_ADD;
    } else if (strcmp(name->data, "prod") == 0) {
        operation = TAPER_INTO_MULTIPLY;
    } else if (strcmp(name->data, "amax") == 0) {
        operation = TAPER_INTO_MAXIMUM;
    } else if (strcmp(name->data, "amin") == 0) {
        operation = TAPER_INTO_MINIMUM;
    } else {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got %s.",
                          name->data);
    }
    TAPER_TRY(begin_rows(call, "index_reduce_()", true, TAPER_FORMAT_CONTIGUOUS, true, &r));
    return end_rows(call, &r, reduce_rows(call, &r, operation, mean, include_self));
}
