// SPDX-License-Identifier: BSD-2-Clause
// Compositions of statistics and integrals, and gradients of reductions by index.
#include <math.h>

#include "ir/tensor.h"
#include "ops/gradient/steps_math.h"

static taper_step_value as_dtype(taper_steps *s, taper_step_value value, const taper_tensor *like)
{
    return TAPER_STEP(s, aten_to_dtype, value, taper_step_int(s, like->dtype));
}

TAPER_STEPS_KERNEL(taper_op_aminmax_steps)
{
    int64_t dim;
    const bool all = taper_steps_is_none(s, 1);
    taper_step_value dims = taper_step_none;
    if (!all) {
        dim = taper_steps_int(s, 1);
        dims = taper_steps_ints(s, &dim, 1);
    } else {
        dims = taper_steps_ints(s, NULL, 0);
    }
    taper_steps_ret(s, 0, TAPER_STEP(s, aten_amin, &s->args[0], dims, &s->args[2]));
    return taper_steps_ret(s, 1, TAPER_STEP(s, aten_amax, &s->args[0], dims, &s->args[2]));
}

TAPER_STEPS_KERNEL(taper_op_cov_steps)
{
    const taper_tensor *const self = s->args[0].as.tensor;
    const int64_t correction = taper_steps_int(s, 1);
    if (self->rank > 2) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_ARGUMENT, "cov(): expected input to have two or fewer dimensions");
    }
    taper_step_value x =
        self->rank == 2 ? &s->args[0] : taper_step_reshape(s, &s->args[0], (int64_t[]){1, taper_tensor_numel(self)}, 2);
    const taper_tensor *const t = taper_steps_tensor(s, x);
    const double observations = t != NULL ? (double)t->sizes[1] : 0;
    taper_step_value weights = &s->args[2];
    if (taper_step_is_tensor(&s->args[3])) {
        weights = taper_step_is_tensor(weights) ? taper_step_mul(s, weights, &s->args[3]) : &s->args[3];
    } else if (taper_step_is_tensor(weights)) {
        weights = as_dtype(s, weights, self);
    }
    taper_step_value factor = taper_step_none, mean, weighted;
    if (taper_step_is_tensor(weights)) {
        const taper_step_value sum = TAPER_STEP(s, aten_sum, weights);
        mean = taper_step_div(s, taper_step_sum(s, taper_step_mul(s, x, weights), 1, true), sum);
        factor = taper_step_shift(s, sum, -(double)correction);
        if (taper_step_is_tensor(&s->args[3]) && correction != 0) {
            const taper_step_value squares = TAPER_STEP(s, aten_sum, taper_step_mul(s, weights, &s->args[3]));
            factor = taper_step_sub(s, sum, taper_step_scale(s, taper_step_div(s, squares, sum), (double)correction));
        }
        factor = TAPER_STEP(s, aten_clamp_min, factor, TAPER_STEP_INT(0));
        x = taper_step_sub(s, x, mean);
        weighted = taper_step_mul(s, x, weights);
    } else {
        mean = taper_step_scale(s, taper_step_sum(s, x, 1, true), 1 / observations);
        x = taper_step_sub(s, x, mean);
        weighted = x;
    }
    taper_step_value value = taper_step_matmul(s, x, taper_step_adjoint(s, weighted));
    value = taper_step_is_tensor(factor) ? taper_step_div(s, value, factor)
                                         : TAPER_STEP(s, aten_div_Scalar, value,
                                                      taper_step_double(s, fmax(observations - (double)correction, 0)));
    return taper_steps_ret(s, 0, TAPER_STEP(s, aten_squeeze, value));
}

// Converts a matrix of covariances to correlations, or one variance to 1.
TAPER_STEPS_KERNEL(taper_op_corrcoef_steps)
{
    const taper_step_value c = &s->args[0];
    if (c->as.tensor->rank == 0) {
        return taper_steps_ret(s, 0, taper_step_div(s, c, c));
    }
    const taper_step_value deviation = TAPER_STEP(s, aten_sqrt, TAPER_STEP(s, aten_diagonal, c));
    taper_step_value value = taper_step_div(s, c, taper_step_unsqueeze(s, deviation, -1));
    value = taper_step_div(s, value, taper_step_unsqueeze(s, deviation, -2));
    if (!taper_dtype_is_complex((taper_dtype)c->as.tensor->dtype)) {
        value = TAPER_STEP(s, aten_clamp, value, TAPER_STEP_INT(-1), TAPER_STEP_INT(1));
    }
    return taper_steps_ret(s, 0, value);
}

static bool is_named(const taper_string *name, const char *text)
{
    return name->length == strlen(text) && memcmp(name->data, text, name->length) == 0;
}

// Interpolates between two neighbours in the sorted order of the elements. NaN is last in this order.
TAPER_STEPS_KERNEL(taper_op_quantile_steps)
{
    const taper_tensor *const self = s->args[0].as.tensor, *const q = s->args[1].as.tensor;
    int64_t dim = 0;
    const taper_string *const way = s->args[4].as.string;
    const bool keep = taper_steps_bool(s, 3);
    const bool skips = taper_steps_bool(s, 5);
    const bool all = taper_steps_is_none(s, 2) || self->rank == 0;
    const taper_step_value last = TAPER_STEP_INT(-1), to_int = taper_step_int(s, TAPER_I64);
    taper_step_value x = &s->args[0];
    if (all) {
        x = taper_step_reshape(s, x, (int64_t[]){-1}, 1);
    } else {
        dim = taper_steps_int(s, 2);
        TAPER_TRY(taper_step_dim(s, &dim, self->rank));
        x = TAPER_STEP(s, aten_movedim_int, x, taper_step_int(s, dim), last);
    }
    taper_step_value levels = as_dtype(s, &s->args[1], self);
    levels = taper_step_reshape(s, levels, (int64_t[]){-1}, 1);
    x = TAPER_STEP(s, aten_sort, x, last);
    const taper_tensor *const sorted = taper_steps_tensor(s, x);
    const double end = sorted != NULL ? (double)sorted->sizes[sorted->rank - 1] - 1 : 0;
    const taper_step_value missing = TAPER_STEP(s, aten_isnan, taper_step_detach(s, x));
    taper_step_value ranks, numbers;
    if (skips) {
        numbers = taper_step_sum(s, as_dtype(s, TAPER_STEP(s, aten_logical_not, missing), self), -1, true);
        ranks = taper_step_mul(s, levels, taper_step_shift(s, numbers, -1));
        ranks = TAPER_STEP(s, aten_clamp_min, ranks, TAPER_STEP_INT(0));
    } else {
        numbers = TAPER_STEP(s, aten_any_dim, missing, last, taper_step_bool(true));
        ranks = taper_step_add(
            s, taper_step_scale(s, levels, end),
            taper_step_scale(s, as_dtype(s, numbers, self), 0)); // adds 0, to broadcast to the sizes of `numbers`
        ranks = TAPER_STEP(s, aten_masked_fill_Scalar, ranks, numbers, taper_step_double(s, end));
    }
    ranks = is_named(way, "lower")     ? TAPER_STEP(s, aten_floor, ranks)
            : is_named(way, "higher")  ? TAPER_STEP(s, aten_ceil, ranks)
            : is_named(way, "nearest") ? TAPER_STEP(s, aten_round, ranks)
                                       : ranks;
    const taper_step_value below = TAPER_STEP(s, aten_to_dtype, taper_step_detach(s, ranks), to_int);
    taper_step_value value = TAPER_STEP(s, aten_gather, x, last, below);
    const bool middle = is_named(way, "midpoint");
    if (middle || is_named(way, "linear")) {
        taper_step_value above =
            TAPER_STEP(s, aten_to_dtype, TAPER_STEP(s, aten_ceil, taper_step_detach(s, ranks)), to_int);
        above = TAPER_STEP(s, aten_gather, x, last, above);
        const taper_step_value weight =
            middle ? TAPER_STEP(s, aten_full_like, taper_step_detach(s, ranks), taper_step_double(s, 0.5))
                   : taper_step_sub(s, ranks, as_dtype(s, below, self));
        value = TAPER_STEP(s, aten_lerp_Tensor, value, above, weight);
    }
    // The value is [rest, levels]. The levels become the first dimension, or disappear if the caller gave a single
    // number.
    int64_t ones[TAPER_MAX_RANK + 1];
    if (q->rank == 0) {
        value = TAPER_STEP(s, aten_squeeze_dim, value, last);
    } else {
        value = TAPER_STEP(s, aten_movedim_int, value, last, TAPER_STEP_INT(0));
    }
    const size_t extra = q->rank == 0 ? 0 : 1;
    if (keep && all) {
        for (size_t i = 0; i < self->rank + extra; i++) {
            ones[i] = i < extra ? -1 : 1;
        }
        value = taper_step_reshape(s, value, ones, self->rank + extra);
    } else if (keep) {
        value = taper_step_unsqueeze(s, value, dim + (int64_t)extra);
    }
    return taper_steps_ret(s, 0, value);
}

TAPER_STEPS_KERNEL(taper_op_renorm_steps)
{
    const taper_tensor *const self = s->args[0].as.tensor;
    int64_t dims[TAPER_MAX_RANK];
    size_t count = 0;
    int64_t dim = taper_steps_int(s, 2);
    const double most = taper_steps_double(s, 3);
    TAPER_TRY(taper_step_dim(s, &dim, self->rank));
    for (int64_t d = 0; d < self->rank; d++) {
        if (d != dim) {
            dims[count++] = d;
        }
    }
    const taper_step_value norm = TAPER_STEP(s, aten_linalg_vector_norm, &s->args[0], &s->args[1],
                                             taper_steps_ints(s, dims, count), taper_step_bool(true));
    taper_step_value factor = TAPER_STEP(s, aten_reciprocal, taper_step_shift(s, norm, 1e-7));
    factor = taper_step_scale(s, factor, most);
    const taper_step_value large = TAPER_STEP(s, aten_gt_Scalar, norm, taper_step_double(s, most));
    factor = taper_step_where(s, large, factor, TAPER_STEP(s, aten_ones_like, taper_step_detach(s, norm)));
    return taper_steps_ret(s, 0, taper_step_mul(s, &s->args[0], factor));
}

TAPER_STEPS_KERNEL(taper_op_trapezoid_steps)
{
    const taper_tensor *const y = s->args[0].as.tensor;
    int64_t sizes[TAPER_MAX_RANK];
    const double width = taper_steps_double(s, 2);
    int64_t dim = taper_steps_int(s, 3);
    const bool cumulative = taper_steps_bool(s, 4);
    TAPER_TRY(taper_step_dim(s, &dim, y->rank));
    const int64_t count = taper_max_i64(y->sizes[dim] - 1, 0), start = taper_min_i64(1, y->sizes[dim]);
    taper_step_value value = taper_step_add(s, taper_step_narrow(s, &s->args[0], dim, start, count),
                                            taper_step_narrow(s, &s->args[0], dim, 0, count));
    taper_step_value x = &s->args[1];
    if (taper_step_is_tensor(x)) {
        const taper_tensor *const t = x->as.tensor;
        for (int64_t d = 0; d < y->rank; d++) {
            sizes[d] = t->rank == 1            ? (d == dim ? t->sizes[0] : 1)
                       : d + t->rank < y->rank ? 1
                                               : t->sizes[d + t->rank - y->rank];
        }
        x = t->rank < y->rank ? taper_step_reshape(s, x, sizes, y->rank) : x;
        const taper_tensor *const shaped = taper_steps_tensor(s, x);
        const int64_t at = shaped != NULL ? dim + shaped->rank - y->rank : 0;
        const int64_t steps = shaped != NULL ? taper_max_i64(shaped->sizes[at] - 1, 0) : 0;
        const taper_step_value difference = taper_step_sub(s, taper_step_narrow(s, x, at, steps > 0 ? 1 : 0, steps),
                                                           taper_step_narrow(s, x, at, 0, steps));
        value = taper_step_scale(s, taper_step_mul(s, value, difference), 0.5);
    } else {
        value = taper_step_scale(s, value, width / 2);
    }
    const taper_tensor *const t = taper_steps_tensor(s, value);
    const int64_t at = t != NULL ? dim + t->rank - y->rank : 0;
    return taper_steps_ret(s, 0,
                           cumulative ? TAPER_STEP(s, aten_cumsum, value, taper_step_int(s, at))
                                      : taper_step_sum(s, value, at, false));
}

// ---- reductions by index

// Composes scatter with a named reduction, which does what scatter_reduce does with include_self.
TAPER_STEPS_KERNEL(taper_op_scatter_named)
{
    const taper_string *const name = s->args[4].as.string;
    const taper_step_value way = taper_steps_string(s, is_named(name, "add") ? "sum" : "prod");
    return taper_steps_ret(s, 0,
                           TAPER_STEP(s, aten_scatter_reduce_two, &s->args[0], &s->args[1], &s->args[2], &s->args[3],
                                      way, taper_step_bool(true)));
}

typedef struct reduction {
    taper_step_value grad, self, dim, index, src, way, include, result;
} reduction;

static taper_step_value gathered(taper_steps *s, const reduction *r, taper_step_value from)
{
    return TAPER_STEP(s, aten_gather, from, r->dim, r->index);
}

static void mean_gradients(taper_steps *s, const reduction *r, bool include, taper_step_value *self,
                           taper_step_value *src)
{
    taper_step_value count = include ? TAPER_STEP(s, aten_ones_like, r->grad) : TAPER_STEP(s, aten_zeros_like, r->grad);
    count = TAPER_STEP(s, aten_scatter_add, count, r->dim, r->index, TAPER_STEP(s, aten_ones_like, r->src));
    count = TAPER_STEP(s, aten_clamp_min, taper_step_detach(s, count), TAPER_STEP_INT(1));
    *self = taper_step_div(s, r->grad, count);
    *src = gathered(s, r, *self);
}

// Computes the gradients of products: the product divided by the element. If the element is the only zero, the product
// of the other elements is computed instead.
static void prod_gradients(taper_steps *s, const reduction *r, taper_step_value *self, taper_step_value *src)
{
    const taper_step_value zero = TAPER_STEP_INT(0), one = TAPER_STEP_INT(1);
    const taper_step_value own =
        TAPER_STEP(s, aten_masked_fill_Scalar, r->self, TAPER_STEP(s, aten_eq_Scalar, r->self, zero), one);
    const taper_step_value product =
        TAPER_STEP(s, aten_scatter_reduce_two, own, r->dim, r->index, r->src, r->way, r->include);
    *self = taper_step_div(s, taper_step_mul(s, r->grad, product), own);
    const taper_step_value is_zero = TAPER_STEP(s, aten_eq_Scalar, r->src, zero);
    taper_step_value zeros = TAPER_STEP(s, aten_zeros_like, taper_step_detach(s, r->self));
    const taper_step_value flags = TAPER_STEP(s, aten_type_as, is_zero, zeros);
    zeros = gathered(s, r, TAPER_STEP(s, aten_scatter_add, zeros, r->dim, r->index, flags));
    const taper_step_value single = TAPER_STEP(s, aten_logical_and, is_zero, TAPER_STEP(s, aten_eq_Scalar, zeros, one));
    const taper_step_value others = TAPER_STEP(s, aten_masked_fill_Scalar, r->src, single, one);
    const taper_step_value rest =
        TAPER_STEP(s, aten_scatter_reduce_two, r->self, r->dim, r->index, others, r->way, r->include);
    const taper_step_value safe = TAPER_STEP(s, aten_masked_fill_Scalar, r->src, is_zero, one);
    *src = taper_step_where(s, single, gathered(s, r, taper_step_mul(s, r->grad, rest)),
                            taper_step_div(s, gathered(s, r, taper_step_mul(s, r->grad, r->result)), safe));
}

// Computes the gradients of extrema: the elements that are equal to the extremum share its gradient.
static void extremum_gradients(taper_steps *s, const reduction *r, taper_step_value *self, taper_step_value *src)
{
    const taper_step_value own =
        TAPER_STEP(s, aten_type_as, TAPER_STEP(s, aten_eq_Tensor, r->self, r->result), r->grad);
    const taper_step_value given =
        TAPER_STEP(s, aten_type_as, TAPER_STEP(s, aten_eq_Tensor, r->src, gathered(s, r, r->result)), r->grad);
    taper_step_value count = TAPER_STEP(s, aten_scatter_add, own, r->dim, r->index, given);
    count = TAPER_STEP(s, aten_clamp_min, taper_step_detach(s, count), TAPER_STEP_INT(1));
    const taper_step_value share = taper_step_div(s, r->grad, count);
    *self = taper_step_mul(s, own, share);
    *src = taper_step_mul(s, given, gathered(s, r, share));
}

TAPER_STEPS_KERNEL(taper_op_scatter_reduce_gradients)
{
    const taper_string *const way = s->args[5].as.string;
    const bool include = taper_steps_bool(s, 6);
    const taper_val *const a = s->args;
    const reduction r = {&a[0], &a[1], &a[2], &a[3], &a[4], &a[5], &a[6], &a[7]};
    taper_step_value self, src;
    if (is_named(way, "sum")) {
        self = r.grad;
        src = gathered(s, &r, r.grad);
    } else if (is_named(way, "mean")) {
        mean_gradients(s, &r, include, &self, &src);
    } else if (is_named(way, "prod")) {
        prod_gradients(s, &r, &self, &src);
    } else {
        extremum_gradients(s, &r, &self, &src);
    }
    if (!include) {
        self = TAPER_STEP(s, aten_scatter_value, self, r.dim, r.index, TAPER_STEP_INT(0));
    }
    taper_steps_ret(s, 0, self);
    return taper_steps_ret(s, 1, src);
}

// Computes the gradients of index_reduce: one index selects a whole slice.
TAPER_STEPS_KERNEL(taper_op_index_reduce_gradients)
{
    const taper_tensor *const source = s->args[4].as.tensor;
    int64_t sizes[TAPER_MAX_RANK];
    int64_t dim = taper_steps_int(s, 2);
    TAPER_TRY(taper_step_dim(s, &dim, source->rank));
    for (int64_t d = 0; d < source->rank; d++) {
        sizes[d] = d == dim ? -1 : 1;
    }
    taper_step_value index = taper_step_reshape(s, &s->args[3], sizes, source->rank);
    index = TAPER_STEP(s, aten_expand, index, taper_steps_ints(s, source->sizes, source->rank));
    taper_step_value results[2];
    TAPER_STEP_ALL(s, taper_scatter_reduce_gradients, results, 2, &s->args[0], &s->args[1], &s->args[2], index,
                   &s->args[4], &s->args[5], &s->args[6], &s->args[7], &s->args[8]);
    taper_steps_ret(s, 0, results[0]);
    return taper_steps_ret(s, 1, results[1]);
}

// Returns the segment of each element along the axis, in each row of the dimensions before it.
static taper_step_value segments_of(taper_steps *s, int64_t axis)
{
    const taper_tensor *const data = s->args[1].as.tensor;
    const bool lengths = taper_step_is_tensor(&s->args[3]);
    taper_step_value bounds = TAPER_STEP(s, aten_to_dtype, &s->args[lengths ? 3 : 4], taper_step_int(s, TAPER_I64));
    bounds = TAPER_STEP(s, aten_contiguous, bounds);
    const taper_tensor *const t = taper_steps_tensor(s, bounds);
    taper_step_value made;
    if (t == NULL || t->rank == 0) {
        return taper_step_none;
    }
    int64_t *const places = taper_step_table(s, TAPER_I64, (size_t)axis + 1, data->sizes, &made);
    if (s->status != TAPER_OK) {
        return taper_step_none;
    }
    const int64_t width = t->sizes[t->rank - 1], count = lengths ? width : width - 1, size = data->sizes[axis];
    const int64_t rows = size != 0 ? taper_tensor_numel(made->as.tensor) / size : 0;
    if (taper_tensor_numel(t) / taper_max_i64(width, 1) < rows) {
        taper_steps_fail(s, taper_fail(s->call->run->error, TAPER_ERROR_ARGUMENT,
                                       "segment_reduce expects segments for each row of its data"));
        return taper_step_none;
    }
    const int64_t *const numbers = taper_tensor_data(t);
    for (int64_t row = 0; row < rows; row++) {
        const int64_t *const own = numbers + row * width;
        int64_t end = 0, segment = -1;
        for (int64_t i = 0; i < size; i++) {
            while (segment + 1 < count && i >= end) {
                segment++;
                end = lengths ? taper_wrap_add(end, own[segment]) : own[segment + 1];
            }
            places[row * size + i] = taper_max_i64(segment, 0);
        }
    }
    return made;
}

TAPER_STEPS_KERNEL(taper_op_segment_gradient)
{
    const taper_tensor *const data = s->args[1].as.tensor;
    int64_t sizes[TAPER_MAX_RANK];
    const taper_string *const way = s->args[2].as.string;
    int64_t axis = taper_steps_int(s, 5);
    TAPER_TRY(taper_step_dim(s, &axis, data->rank));
    taper_step_value index = segments_of(s, axis);
    for (int64_t d = 0; d < data->rank; d++) {
        sizes[d] = d <= axis ? data->sizes[d] : 1;
    }
    index = taper_step_reshape(s, index, sizes, data->rank);
    index = TAPER_STEP(s, aten_expand, index, taper_steps_ints(s, data->sizes, data->rank));
    const bool product = is_named(way, "prod");
    const taper_step_value name = taper_steps_string(s, is_named(way, "max")   ? "amax"
                                                        : is_named(way, "min") ? "amin"
                                                        : product              ? "prod"
                                                        : is_named(way, "sum") ? "sum"
                                                                               : "mean");
    // NaN is equal to no extremum.
    const taper_step_value self =
        TAPER_STEP(s, aten_full_like, taper_step_detach(s, &s->args[0]), taper_step_double(s, product ? 1 : NAN));
    taper_step_value results[2];
    TAPER_STEP_ALL(s, taper_scatter_reduce_gradients, results, 2, &s->args[0], self, taper_step_int(s, axis), index,
                   &s->args[1], name, taper_step_bool(false), &s->args[6], taper_steps_ints(s, NULL, 0));
    return taper_steps_ret(s, 0, results[1]);
}
