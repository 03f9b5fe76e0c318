// SPDX-License-Identifier: BSD-2-Clause
// Compositions of statistics and integrals, and gradients of reductions by index.
#include <math.h>

#include "ir/tensor.h"
#include "ops/gradient/steps_math.h"

static taper_val as_dtype(taper_steps *s, taper_val value, const taper_tensor *like)
{
    return TAPER_STEP(s, aten_to_dtype, value, taper_val_int(like->dtype));
}

TAPER_STEPS_KERNEL(taper_op_aminmax_steps)
{
    taper_steps s;
    int64_t dim;
    taper_steps_begin(&s, call->run);
    const bool all = taper_arg_is_none(call, 1);
    taper_val dims = taper_val_none();
    if (!all) {
        taper_steps_fail(&s, taper_arg_int(call, 1, &dim));
        dims = taper_steps_ints(&s, &dim, 1);
    } else {
        dims = taper_steps_ints(&s, NULL, 0);
    }
    taper_steps_ret(&s, call, 0, TAPER_STEP(&s, aten_amin, call->args[0], dims, call->args[2]));
    taper_steps_ret(&s, call, 1, TAPER_STEP(&s, aten_amax, call->args[0], dims, call->args[2]));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_cov_steps)
{
    taper_steps s;
    const taper_tensor *const self = call->args[0].as.tensor;
    int64_t correction;
    TAPER_TRY(taper_arg_int(call, 1, &correction));
    if (self->rank > 2) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "cov(): expected input to have two or fewer dimensions");
    }
    taper_steps_begin(&s, call->run);
    taper_val x = self->rank == 2 ? call->args[0]
                                  : taper_step_reshape(&s, call->args[0], (int64_t[]){1, taper_tensor_numel(self)}, 2);
    const taper_tensor *const t = taper_steps_tensor(&s, x);
    const double observations = t != NULL ? (double)t->sizes[1] : 0;
    taper_val weights = call->args[2];
    if (taper_step_is_tensor(call->args[3])) {
        weights = taper_step_is_tensor(weights) ? taper_step_mul(&s, weights, call->args[3]) : call->args[3];
    } else if (taper_step_is_tensor(weights)) {
        weights = as_dtype(&s, weights, self);
    }
    taper_val factor = taper_val_none(), mean, weighted;
    if (taper_step_is_tensor(weights)) {
        const taper_val sum = TAPER_STEP(&s, aten_sum, weights);
        mean = taper_step_div(&s, taper_step_sum(&s, taper_step_mul(&s, x, weights), 1, true), sum);
        factor = taper_step_shift(&s, sum, -(double)correction);
        if (taper_step_is_tensor(call->args[3]) && correction != 0) {
            const taper_val squares = TAPER_STEP(&s, aten_sum, taper_step_mul(&s, weights, call->args[3]));
            factor =
                taper_step_sub(&s, sum, taper_step_scale(&s, taper_step_div(&s, squares, sum), (double)correction));
        }
        factor = TAPER_STEP(&s, aten_clamp_min, factor, taper_val_int(0));
        x = taper_step_sub(&s, x, mean);
        weighted = taper_step_mul(&s, x, weights);
    } else {
        mean = taper_step_scale(&s, taper_step_sum(&s, x, 1, true), 1 / observations);
        x = taper_step_sub(&s, x, mean);
        weighted = x;
    }
    taper_val value = taper_step_matmul(&s, x, taper_step_adjoint(&s, weighted));
    value = taper_step_is_tensor(factor)
                ? taper_step_div(&s, value, factor)
                : TAPER_STEP(&s, aten_div_Scalar, value, taper_val_double(fmax(observations - (double)correction, 0)));
    taper_steps_ret(&s, call, 0, TAPER_STEP(&s, aten_squeeze, value));
    return taper_steps_end(&s);
}

// Converts a matrix of covariances to correlations, or one variance to 1.
TAPER_STEPS_KERNEL(taper_op_corrcoef_steps)
{
    taper_steps s;
    const taper_val c = call->args[0];
    taper_steps_begin(&s, call->run);
    if (c.as.tensor->rank == 0) {
        taper_steps_ret(&s, call, 0, taper_step_div(&s, c, c));
        return taper_steps_end(&s);
    }
    const taper_val deviation = TAPER_STEP(&s, aten_sqrt, TAPER_STEP(&s, aten_diagonal, c));
    taper_val value = taper_step_div(&s, c, taper_step_unsqueeze(&s, deviation, -1));
    value = taper_step_div(&s, value, taper_step_unsqueeze(&s, deviation, -2));
    if (!taper_dtype_is_complex((taper_dtype)c.as.tensor->dtype)) {
        value = TAPER_STEP(&s, aten_clamp, value, taper_val_int(-1), taper_val_int(1));
    }
    taper_steps_ret(&s, call, 0, value);
    return taper_steps_end(&s);
}

static bool is_named(const taper_string *name, const char *text)
{
    return name->length == strlen(text) && memcmp(name->data, text, name->length) == 0;
}

// Interpolates between two neighbours in the sorted order of the elements. NaN is last in this order.
TAPER_STEPS_KERNEL(taper_op_quantile_steps)
{
    taper_steps s;
    const taper_tensor *const self = call->args[0].as.tensor, *const q = call->args[1].as.tensor;
    const taper_string *way;
    int64_t dim = 0;
    bool keep, skips;
    TAPER_TRY(taper_arg_string(call, 4, &way));
    TAPER_TRY(taper_arg_bool(call, 3, &keep));
    TAPER_TRY(taper_arg_bool(call, 5, &skips));
    const bool all = taper_arg_is_none(call, 2) || self->rank == 0;
    const taper_val last = taper_val_int(-1), to_int = taper_val_int(TAPER_I64);
    taper_steps_begin(&s, call->run);
    taper_val x = call->args[0];
    if (all) {
        x = taper_step_reshape(&s, x, (int64_t[]){-1}, 1);
    } else {
        taper_steps_fail(&s, taper_arg_int(call, 2, &dim));
        TAPER_TRY(taper_step_dim(call, &dim, self->rank));
        x = TAPER_STEP(&s, aten_movedim_int, x, taper_val_int(dim), last);
    }
    taper_val levels = as_dtype(&s, call->args[1], self);
    levels = taper_step_reshape(&s, levels, (int64_t[]){-1}, 1);
    x = TAPER_STEP(&s, aten_sort, x, last);
    const taper_tensor *const sorted = taper_steps_tensor(&s, x);
    const double end = sorted != NULL ? (double)sorted->sizes[sorted->rank - 1] - 1 : 0;
    const taper_val missing = TAPER_STEP(&s, aten_isnan, taper_step_detach(&s, x));
    taper_val ranks, numbers;
    if (skips) {
        numbers = taper_step_sum(&s, as_dtype(&s, TAPER_STEP(&s, aten_logical_not, missing), self), -1, true);
        ranks = taper_step_mul(&s, levels, taper_step_shift(&s, numbers, -1));
        ranks = TAPER_STEP(&s, aten_clamp_min, ranks, taper_val_int(0));
    } else {
        numbers = TAPER_STEP(&s, aten_any_dim, missing, last, taper_val_bool(true));
        ranks = taper_step_add(&s, taper_step_scale(&s, levels, end),
                               // Adds 0 * numbers, for the broadcast shape
                               taper_step_scale(&s, as_dtype(&s, numbers, self), 0));
        ranks = TAPER_STEP(&s, aten_masked_fill_Scalar, ranks, numbers, taper_val_double(end));
    }
    ranks = is_named(way, "lower")     ? TAPER_STEP(&s, aten_floor, ranks)
            : is_named(way, "higher")  ? TAPER_STEP(&s, aten_ceil, ranks)
            : is_named(way, "nearest") ? TAPER_STEP(&s, aten_round, ranks)
                                       : ranks;
    const taper_val below = TAPER_STEP(&s, aten_to_dtype, taper_step_detach(&s, ranks), to_int);
    taper_val value = TAPER_STEP(&s, aten_gather, x, last, below);
    const bool middle = is_named(way, "midpoint");
    if (middle || is_named(way, "linear")) {
        taper_val above =
            TAPER_STEP(&s, aten_to_dtype, TAPER_STEP(&s, aten_ceil, taper_step_detach(&s, ranks)), to_int);
        above = TAPER_STEP(&s, aten_gather, x, last, above);
        const taper_val weight =
            middle ? TAPER_STEP(&s, aten_full_like, taper_step_detach(&s, ranks), taper_val_double(0.5))
                   : taper_step_sub(&s, ranks, as_dtype(&s, below, self));
        value = TAPER_STEP(&s, aten_lerp_Tensor, value, above, weight);
    }
    // [rest, levels]: the levels become the first dimension, or are no dimension if there was one number.
    int64_t ones[TAPER_MAX_RANK + 1];
    if (q->rank == 0) {
        value = TAPER_STEP(&s, aten_squeeze_dim, value, last);
    } else {
        value = TAPER_STEP(&s, aten_movedim_int, value, last, taper_val_int(0));
    }
    const size_t extra = q->rank == 0 ? 0 : 1;
    if (keep && all) {
        for (size_t i = 0; i < self->rank + extra; i++) {
            ones[i] = i < extra ? -1 : 1;
        }
        value = taper_step_reshape(&s, value, ones, self->rank + extra);
    } else if (keep) {
        value = taper_step_unsqueeze(&s, value, dim + (int64_t)extra);
    }
    taper_steps_ret(&s, call, 0, value);
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_renorm_steps)
{
    taper_steps s;
    const taper_tensor *const self = call->args[0].as.tensor;
    int64_t dim, dims[TAPER_MAX_RANK];
    size_t count = 0;
    double most;
    TAPER_TRY(taper_arg_int(call, 2, &dim));
    TAPER_TRY(taper_arg_double(call, 3, &most));
    TAPER_TRY(taper_step_dim(call, &dim, self->rank));
    for (int64_t d = 0; d < self->rank; d++) {
        if (d != dim) {
            dims[count++] = d;
        }
    }
    taper_steps_begin(&s, call->run);
    const taper_val norm = TAPER_STEP(&s, aten_linalg_vector_norm, call->args[0], call->args[1],
                                      taper_steps_ints(&s, dims, count), taper_val_bool(true));
    taper_val factor = TAPER_STEP(&s, aten_reciprocal, taper_step_shift(&s, norm, 1e-7));
    factor = taper_step_scale(&s, factor, most);
    const taper_val large = TAPER_STEP(&s, aten_gt_Scalar, norm, taper_val_double(most));
    factor = taper_step_where(&s, large, factor, TAPER_STEP(&s, aten_ones_like, taper_step_detach(&s, norm)));
    taper_steps_ret(&s, call, 0, taper_step_mul(&s, call->args[0], factor));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_trapezoid_steps)
{
    taper_steps s;
    const taper_tensor *const y = call->args[0].as.tensor;
    int64_t dim, sizes[TAPER_MAX_RANK];
    double width;
    bool cumulative;
    TAPER_TRY(taper_arg_double(call, 2, &width));
    TAPER_TRY(taper_arg_int(call, 3, &dim));
    TAPER_TRY(taper_arg_bool(call, 4, &cumulative));
    TAPER_TRY(taper_step_dim(call, &dim, y->rank));
    const int64_t count = taper_max_i64(y->sizes[dim] - 1, 0), start = taper_min_i64(1, y->sizes[dim]);
    taper_steps_begin(&s, call->run);
    taper_val value = taper_step_add(&s, taper_step_narrow(&s, call->args[0], dim, start, count),
                                     taper_step_narrow(&s, call->args[0], dim, 0, count));
    taper_val x = call->args[1];
    if (taper_step_is_tensor(x)) {
        const taper_tensor *const t = x.as.tensor;
        for (int64_t d = 0; d < y->rank; d++) {
            sizes[d] = t->rank == 1            ? (d == dim ? t->sizes[0] : 1)
                       : d + t->rank < y->rank ? 1
                                               : t->sizes[d + t->rank - y->rank];
        }
        x = t->rank < y->rank ? taper_step_reshape(&s, x, sizes, y->rank) : x;
        const taper_tensor *const shaped = taper_steps_tensor(&s, x);
        const int64_t at = shaped != NULL ? dim + shaped->rank - y->rank : 0;
        const int64_t steps = shaped != NULL ? taper_max_i64(shaped->sizes[at] - 1, 0) : 0;
        const taper_val difference = taper_step_sub(&s, taper_step_narrow(&s, x, at, steps > 0 ? 1 : 0, steps),
                                                    taper_step_narrow(&s, x, at, 0, steps));
        value = taper_step_scale(&s, taper_step_mul(&s, value, difference), 0.5);
    } else {
        value = taper_step_scale(&s, value, width / 2);
    }
    const taper_tensor *const t = taper_steps_tensor(&s, value);
    const int64_t at = t != NULL ? dim + t->rank - y->rank : 0;
    taper_steps_ret(&s, call, 0,
                    cumulative ? TAPER_STEP(&s, aten_cumsum, value, taper_val_int(at))
                               : taper_step_sum(&s, value, at, false));
    return taper_steps_end(&s);
}

// ---- reductions by index

// scatter with a named reduction: the same as scatter_reduce that includes the elements of self.
TAPER_STEPS_KERNEL(taper_op_scatter_named)
{
    taper_steps s;
    const taper_string *name;
    TAPER_TRY(taper_arg_string(call, 4, &name));
    taper_steps_begin(&s, call->run);
    const taper_val way = taper_steps_string(&s, is_named(name, "add") ? "sum" : "prod");
    taper_steps_ret(&s, call, 0,
                    TAPER_STEP(&s, aten_scatter_reduce_two, call->args[0], call->args[1], call->args[2], call->args[3],
                               way, taper_val_bool(true)));
    return taper_steps_end(&s);
}

typedef struct reduction {
    taper_val grad, self, dim, index, src, way, include, result;
} reduction;

static taper_val gathered(taper_steps *s, const reduction *r, taper_val from)
{
    return TAPER_STEP(s, aten_gather, from, r->dim, r->index);
}

static void mean_gradients(taper_steps *s, const reduction *r, bool include, taper_val *self, taper_val *src)
{
    taper_val count = include ? TAPER_STEP(s, aten_ones_like, r->grad) : TAPER_STEP(s, aten_zeros_like, r->grad);
    count = TAPER_STEP(s, aten_scatter_add, count, r->dim, r->index, TAPER_STEP(s, aten_ones_like, r->src));
    count = TAPER_STEP(s, aten_clamp_min, taper_step_detach(s, count), taper_val_int(1));
    *self = taper_step_div(s, r->grad, count);
    *src = gathered(s, r, *self);
}

// Divides the product by the element. If the element is the only zero, the product of the others is computed instead.
static void prod_gradients(taper_steps *s, const reduction *r, taper_val *self, taper_val *src)
{
    const taper_val zero = taper_val_int(0), one = taper_val_int(1);
    const taper_val own =
        TAPER_STEP(s, aten_masked_fill_Scalar, r->self, TAPER_STEP(s, aten_eq_Scalar, r->self, zero), one);
    const taper_val product = TAPER_STEP(s, aten_scatter_reduce_two, own, r->dim, r->index, r->src, r->way, r->include);
    *self = taper_step_div(s, taper_step_mul(s, r->grad, product), own);
    const taper_val is_zero = TAPER_STEP(s, aten_eq_Scalar, r->src, zero);
    taper_val zeros = TAPER_STEP(s, aten_zeros_like, taper_step_detach(s, r->self));
    const taper_val flags = TAPER_STEP(s, aten_type_as, is_zero, zeros);
    zeros = gathered(s, r, TAPER_STEP(s, aten_scatter_add, zeros, r->dim, r->index, flags));
    const taper_val single = TAPER_STEP(s, aten_logical_and, is_zero, TAPER_STEP(s, aten_eq_Scalar, zeros, one));
    const taper_val others = TAPER_STEP(s, aten_masked_fill_Scalar, r->src, single, one);
    const taper_val rest =
        TAPER_STEP(s, aten_scatter_reduce_two, r->self, r->dim, r->index, others, r->way, r->include);
    const taper_val safe = TAPER_STEP(s, aten_masked_fill_Scalar, r->src, is_zero, one);
    *src = taper_step_where(s, single, gathered(s, r, taper_step_mul(s, r->grad, rest)),
                            taper_step_div(s, gathered(s, r, taper_step_mul(s, r->grad, r->result)), safe));
}

// The elements that are equal to the extremum share its gradient.
static void extremum_gradients(taper_steps *s, const reduction *r, taper_val *self, taper_val *src)
{
    const taper_val own = TAPER_STEP(s, aten_type_as, TAPER_STEP(s, aten_eq_Tensor, r->self, r->result), r->grad);
    const taper_val given =
        TAPER_STEP(s, aten_type_as, TAPER_STEP(s, aten_eq_Tensor, r->src, gathered(s, r, r->result)), r->grad);
    taper_val count = TAPER_STEP(s, aten_scatter_add, own, r->dim, r->index, given);
    count = TAPER_STEP(s, aten_clamp_min, taper_step_detach(s, count), taper_val_int(1));
    const taper_val share = taper_step_div(s, r->grad, count);
    *self = taper_step_mul(s, own, share);
    *src = taper_step_mul(s, given, gathered(s, r, share));
}

TAPER_STEPS_KERNEL(taper_op_scatter_reduce_gradients)
{
    taper_steps s;
    const taper_string *way;
    bool include;
    TAPER_TRY(taper_arg_string(call, 5, &way));
    TAPER_TRY(taper_arg_bool(call, 6, &include));
    const taper_val *const a = call->args;
    const reduction r = {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]};
    taper_steps_begin(&s, call->run);
    taper_val self, src;
    if (is_named(way, "sum")) {
        self = r.grad;
        src = gathered(&s, &r, r.grad);
    } else if (is_named(way, "mean")) {
        mean_gradients(&s, &r, include, &self, &src);
    } else if (is_named(way, "prod")) {
        prod_gradients(&s, &r, &self, &src);
    } else {
        extremum_gradients(&s, &r, &self, &src);
    }
    if (!include) {
        self = TAPER_STEP(&s, aten_scatter_value, self, r.dim, r.index, taper_val_int(0));
    }
    taper_steps_ret(&s, call, 0, self);
    taper_steps_ret(&s, call, 1, src);
    return taper_steps_end(&s);
}

// The gradients of index_reduce: one index selects a whole slice.
TAPER_STEPS_KERNEL(taper_op_index_reduce_gradients)
{
    taper_steps s;
    const taper_tensor *const source = call->args[4].as.tensor;
    int64_t dim, sizes[TAPER_MAX_RANK];
    TAPER_TRY(taper_arg_int(call, 2, &dim));
    TAPER_TRY(taper_step_dim(call, &dim, source->rank));
    for (int64_t d = 0; d < source->rank; d++) {
        sizes[d] = d == dim ? -1 : 1;
    }
    taper_steps_begin(&s, call->run);
    taper_val index = taper_step_reshape(&s, call->args[3], sizes, source->rank);
    index = TAPER_STEP(&s, aten_expand, index, taper_steps_ints(&s, source->sizes, source->rank));
    taper_val args[9], results[2];
    memcpy(args, call->args, sizeof args);
    args[3] = index;
    taper_steps_call_all(&s, TAPER_OP(taper_scatter_reduce_gradients), 9, args, results, 2);
    taper_steps_ret(&s, call, 0, results[0]);
    taper_steps_ret(&s, call, 1, results[1]);
    return taper_steps_end(&s);
}

// Returns the number of each element's segment along the axis, for each row of the dimensions before the axis.
static taper_val segments_of(taper_steps *s, const taper_call *call, int64_t axis)
{
    const taper_tensor *const data = call->args[1].as.tensor;
    const bool lengths = taper_step_is_tensor(call->args[3]);
    taper_val bounds = TAPER_STEP(s, aten_to_dtype, call->args[lengths ? 3 : 4], taper_val_int(TAPER_I64));
    bounds = TAPER_STEP(s, aten_contiguous, bounds);
    const taper_tensor *const t = taper_steps_tensor(s, bounds);
    taper_tensor *made;
    if (t == NULL || t->rank == 0) {
        return taper_val_none();
    }
    taper_steps_fail(
        s, taper_tensor_new(s->run->heap, TAPER_I64, (size_t)axis + 1, data->sizes, NULL, &made, s->run->error));
    if (s->status != TAPER_OK) {
        return taper_val_none();
    }
    const int64_t width = t->sizes[t->rank - 1], count = lengths ? width : width - 1, size = data->sizes[axis];
    const int64_t rows = size != 0 ? taper_tensor_numel(made) / size : 0;
    taper_steps_keep(s, TAPER_VAL(made));
    if (taper_tensor_numel(t) / taper_max_i64(width, 1) < rows) {
        taper_steps_fail(s, taper_fail(s->run->error, TAPER_ERROR_ARGUMENT,
                                       "segment_reduce expects segments for each row of its data"));
        return taper_val_none();
    }
    const int64_t *const numbers = taper_tensor_data(t);
    int64_t *const places = taper_tensor_mutable(made);
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
    return TAPER_VAL(made);
}

TAPER_STEPS_KERNEL(taper_op_segment_gradient)
{
    taper_steps s;
    const taper_tensor *const data = call->args[1].as.tensor;
    const taper_string *way;
    int64_t axis, sizes[TAPER_MAX_RANK];
    TAPER_TRY(taper_arg_string(call, 2, &way));
    TAPER_TRY(taper_arg_int(call, 5, &axis));
    TAPER_TRY(taper_step_dim(call, &axis, data->rank));
    taper_steps_begin(&s, call->run);
    taper_val index = segments_of(&s, call, axis);
    for (int64_t d = 0; d < data->rank; d++) {
        sizes[d] = d <= axis ? data->sizes[d] : 1;
    }
    index = taper_step_reshape(&s, index, sizes, data->rank);
    index = TAPER_STEP(&s, aten_expand, index, taper_steps_ints(&s, data->sizes, data->rank));
    const bool product = is_named(way, "prod");
    const taper_val name = taper_steps_string(&s, is_named(way, "max")   ? "amax"
                                                  : is_named(way, "min") ? "amin"
                                                  : product              ? "prod"
                                                  : is_named(way, "sum") ? "sum"
                                                                         : "mean");
    // NaN is not equal to any extremum.
    const taper_val self =
        TAPER_STEP(&s, aten_full_like, taper_step_detach(&s, call->args[0]), taper_val_double(product ? 1 : NAN));
    const taper_val args[9] = {
        call->args[0],         self,          taper_val_int(axis),          index, call->args[1], name,
        taper_val_bool(false), call->args[6], taper_steps_ints(&s, NULL, 0)};
    taper_val results[2];
    taper_steps_call_all(&s, TAPER_OP(taper_scatter_reduce_gradients), 9, args, results, 2);
    taper_steps_ret(&s, call, 0, results[1]);
    return taper_steps_end(&s);
}
