// SPDX-License-Identifier: BSD-2-Clause
// Gradients of element-wise operators with choices, and compositions of dropout and bags of embeddings.
#include <math.h>

#include "ir/tensor.h"
#include "ops/gradient/steps_math.h"

static taper_step_value without(taper_steps *s, taper_step_value grad, taper_step_value mask)
{
    return TAPER_STEP(s, aten_masked_fill_Scalar, grad, mask, TAPER_STEP_INT(0));
}

// Computes the gradient of logit. It is 0 for x below eps or above 1 - eps. Without eps, it is NaN for x below 0 or
// above 1.
TAPER_STEPS_KERNEL(taper_op_logit_gradient)
{
    const bool limited = !taper_steps_is_none(s, 2);
    const double eps = taper_steps_double_or(s, 2, 0);
    const taper_step_value x = &s->args[1];
    const taper_step_value grad = taper_step_div(s, &s->args[0], taper_step_mul(s, x, taper_step_from(s, 1, x)));
    const taper_step_value outside =
        TAPER_STEP(s, aten_logical_or, TAPER_STEP(s, aten_lt_Scalar, x, taper_step_double(s, eps)),
                   TAPER_STEP(s, aten_gt_Scalar, x, taper_step_double(s, 1 - eps)));
    return taper_steps_ret(
        s, 0, TAPER_STEP(s, aten_masked_fill_Scalar, grad, outside, taper_step_double(s, limited ? 0 : NAN)));
}

TAPER_STEPS_KERNEL(taper_op_clamp_gradients)
{
    const taper_step_value grad = &s->args[0], x = &s->args[1], min = &s->args[2], max = &s->args[3];
    taper_step_value low = taper_step_none, high = taper_step_none, self = grad;
    if (taper_step_is_tensor(min)) {
        low = TAPER_STEP(s, aten_lt_Tensor, x, min);
        self = without(s, self, low);
    }
    if (taper_step_is_tensor(max)) {
        high = TAPER_STEP(s, aten_gt_Tensor, x, max);
        self = without(s, self, high);
    }
    if (taper_step_mask(s, 4, 0)) {
        taper_steps_ret(s, 0, TAPER_STEP(s, taper_sum_to, self, x));
    }
    if (taper_step_is_tensor(min) && taper_step_mask(s, 4, 1)) {
        taper_step_value found = without(s, grad, TAPER_STEP(s, aten_logical_not, low));
        found = taper_step_is_tensor(max) ? without(s, found, TAPER_STEP(s, aten_ge_Tensor, min, max)) : found;
        taper_steps_ret(s, 1, TAPER_STEP(s, taper_sum_to, found, min));
    }
    if (taper_step_is_tensor(max) && taper_step_mask(s, 4, 2)) {
        taper_step_value used = high;
        used = taper_step_is_tensor(min) ? TAPER_STEP(s, aten_logical_or, used, TAPER_STEP(s, aten_lt_Tensor, max, min))
                                         : used;
        const taper_step_value found = without(s, grad, TAPER_STEP(s, aten_logical_not, used));
        taper_steps_ret(s, 2, TAPER_STEP(s, taper_sum_to, found, max));
    }
    return s->status;
}

// Computes the gradients of div with a rounding mode. A quotient that is rounded has the gradient 0.
TAPER_STEPS_KERNEL(taper_op_div_mode_gradients)
{
    const taper_step_value grad = &s->args[0], self = &s->args[1], other = &s->args[2];
    const bool rounds = !taper_steps_is_none(s, 3);
    if (rounds) {
        taper_steps_ret(s, 0, TAPER_STEP(s, aten_zeros_like, self));
        return taper_steps_ret(s, 1, TAPER_STEP(s, aten_zeros_like, other));
    }
    const taper_step_value by = taper_step_conj(s, other);
    taper_steps_ret(s, 0, TAPER_STEP(s, taper_sum_to, taper_step_div(s, grad, by), self));
    const taper_step_value slope = taper_step_conj(s, taper_step_div(s, taper_step_div(s, self, other), other));
    return taper_steps_ret(s, 1, TAPER_STEP(s, taper_sum_to, taper_step_neg(s, taper_step_mul(s, grad, slope)), other));
}

TAPER_STEPS_KERNEL(taper_op_div_mode_scalar_gradient)
{
    return taper_steps_ret(s, 0,
                           !taper_steps_is_none(s, 2) ? TAPER_STEP(s, aten_zeros_like, &s->args[0])
                                                      : TAPER_STEP(s, aten_div_Scalar, &s->args[0], &s->args[1]));
}

// Computes the gradient of mvlgamma, whose derivative is the sum of digamma(x - i / 2) for i from 0 to p - 1.
TAPER_STEPS_KERNEL(taper_op_mvlgamma_gradient)
{
    const int64_t p = taper_steps_int(s, 2);
    taper_step_value halves =
        TAPER_STEP(s, aten_arange, taper_step_int(s, p), taper_step_int(s, s->args[1].as.tensor->dtype));
    halves = taper_step_scale(s, halves, -0.5);
    taper_step_value slope =
        TAPER_STEP(s, aten_digamma, taper_step_add(s, taper_step_unsqueeze(s, &s->args[1], -1), halves));
    slope = taper_step_sum(s, slope, -1, false);
    return taper_steps_ret(s, 0, taper_step_mul(s, &s->args[0], slope));
}

// Computes the derivative of the modified Bessel function i1, which is i0 - i1 / x, and 1/2 at 0.
TAPER_STEPS_KERNEL(taper_op_bessel_slope)
{
    const bool scaled = taper_steps_bool(s, 3);
    const taper_step_value x = &s->args[1];
    const taper_step_value tiny =
        TAPER_STEP(s, aten_le_Scalar, TAPER_STEP(s, aten_abs, x), taper_step_double(s, 2.220446049250313e-16));
    const taper_step_value safe = TAPER_STEP(s, aten_masked_fill_Scalar, x, tiny, TAPER_STEP_INT(1));
    taper_step_value slope = TAPER_STEP(s, aten_reciprocal, safe);
    slope = scaled ? taper_step_add(s, slope, TAPER_STEP(s, aten_sgn, x)) : slope;
    slope = taper_step_sub(s, &s->args[0], taper_step_mul(s, &s->args[2], slope));
    return taper_steps_ret(s, 0, TAPER_STEP(s, aten_masked_fill_Scalar, slope, tiny, taper_step_double(s, 0.5)));
}

TAPER_STEPS_KERNEL(taper_op_angle_gradient)
{
    const taper_step_value x = &s->args[1];
    if (!taper_dtype_is_complex((taper_dtype)x->as.tensor->dtype)) {
        return taper_steps_ret(s, 0, TAPER_STEP(s, aten_zeros_like, &s->args[0]));
    }
    const taper_step_value re = TAPER_STEP(s, aten_real, x), im = TAPER_STEP(s, aten_imag, x);
    const taper_step_value square = taper_step_add(s, taper_step_mul(s, re, re), taper_step_mul(s, im, im));
    const taper_step_value scaled = taper_step_div(s, &s->args[0], square);
    return taper_steps_ret(
        s, 0,
        TAPER_STEP(s, aten_complex, taper_step_neg(s, taper_step_mul(s, scaled, im)), taper_step_mul(s, scaled, re)));
}

// Computes the gradient of x / |x|: the part of grad that is perpendicular to x, divided by |x|. The gradient is 0 for
// real numbers.
TAPER_STEPS_KERNEL(taper_op_sgn_gradient)
{
    const taper_step_value grad = &s->args[0], x = &s->args[1], direction = &s->args[2];
    if (!taper_dtype_is_complex((taper_dtype)x->as.tensor->dtype)) {
        return taper_steps_ret(s, 0, TAPER_STEP(s, aten_zeros_like, grad));
    }
    const taper_step_value along = TAPER_STEP(s, aten_real, taper_step_mul(s, taper_step_conj(s, direction), grad));
    const taper_step_value size = TAPER_STEP(s, aten_abs, x);
    const taper_step_value none = TAPER_STEP(s, aten_eq_Scalar, size, TAPER_STEP_INT(0));
    const taper_step_value safe = TAPER_STEP(s, aten_masked_fill_Scalar, size, none, TAPER_STEP_INT(1));
    const taper_step_value across = taper_step_sub(s, grad, taper_step_mul(s, direction, along));
    return taper_steps_ret(s, 0, without(s, taper_step_div(s, across, safe), none));
}

// ---- dropout

TAPER_STEPS_KERNEL(taper_op_alpha_dropout_steps)
{
    static const double alpha = 1.7580993408473766;
    const double p = taper_steps_double(s, 1);
    const bool train = taper_steps_bool(s, 2);
    const bool features = taper_steps_bool(s, 3);
    if (!train || p == 0 || p == 1) {
        return taper_steps_ret(s, 0, taper_step_scale(s, &s->args[0], train && p == 1 ? 0 : 1));
    }
    const taper_step_value ones = TAPER_STEP(s, aten_ones_like, taper_step_detach(s, &s->args[0]));
    taper_step_value noise = features ? TAPER_STEP(s, aten_feature_dropout, ones, &s->args[1], &s->args[2])
                                      : TAPER_STEP(s, aten_dropout, ones, &s->args[1], &s->args[2]);
    noise = taper_step_scale(s, noise, 1 - p); // 1 for elements that are kept
    const double a = 1 / sqrt((alpha * alpha * p + 1) * (1 - p));
    const taper_step_value offset =
        taper_step_shift(s, taper_step_scale(s, taper_step_shift(s, noise, -1), alpha * a), alpha * a * p);
    return taper_steps_ret(s, 0,
                           taper_step_add(s, taper_step_mul(s, &s->args[0], taper_step_scale(s, noise, a)), offset));
}

// ---- bags of embeddings

enum { BAG_SUM, BAG_MEAN, BAG_MAX };

// Returns for each index the number of its bag, as int64. A bag is the group of indices from one offset to the next.
static taper_step_value bags_of(taper_steps *s, int64_t *bags)
{
    const taper_tensor *const indices = s->args[1].as.tensor;
    taper_step_value offsets = TAPER_STEP(s, aten_to_dtype, &s->args[2], taper_step_int(s, TAPER_I64));
    offsets = TAPER_STEP(s, aten_contiguous, offsets);
    const bool last = taper_steps_bool(s, 6);
    const taper_tensor *const t = taper_steps_tensor(s, offsets);
    const int64_t count = taper_tensor_numel(indices);
    taper_step_value made;
    *bags = 0;
    if (t == NULL) {
        return taper_step_none;
    }
    *bags = taper_max_i64(taper_tensor_numel(t) - (last ? 1 : 0), 0);
    const int64_t *const starts = taper_tensor_data(t);
    int64_t *const places = taper_step_table(s, TAPER_I64, 1, &count, &made);
    for (int64_t i = 0, bag = 0; places != NULL && i < count; i++) {
        while (bag + 1 < *bags && i >= starts[bag + 1]) {
            bag++;
        }
        places[i] = bag;
    }
    return made;
}

// Returns the sum of the rows of each bag, or their mean.
static taper_step_value summed_bags(taper_steps *s, int64_t mode, int64_t padding)
{
    const taper_tensor *const weight = s->args[0].as.tensor;
    int64_t bags;
    const taper_step_value places = bags_of(s, &bags), first = TAPER_STEP_INT(0), pad = taper_step_int(s, padding);
    taper_step_value rows = TAPER_STEP(s, aten_embedding, &s->args[0], &s->args[1], pad, &s->args[3]);
    taper_step_value kept = TAPER_STEP(s, aten_ne_Scalar, &s->args[1], pad);
    kept = taper_step_reshape(s, TAPER_STEP(s, aten_to_dtype, kept, taper_step_int(s, weight->dtype)),
                              (int64_t[]){-1, 1}, 2);
    if (taper_step_is_tensor(&s->args[5])) {
        rows = taper_step_mul(s, rows, taper_step_reshape(s, &s->args[5], (int64_t[]){-1, 1}, 2));
    }
    rows = taper_step_mul(s, rows, kept);
    const int64_t sizes[2] = {bags, weight->sizes[1]}, one[2] = {bags, 1};
    const taper_step_value like = taper_step_detach(s, &s->args[0]);
    taper_step_value sum = TAPER_STEP(s, aten_new_zeros, like, taper_steps_ints(s, sizes, 2));
    sum = TAPER_STEP(s, aten_index_add, sum, first, places, rows);
    if (mode == BAG_MEAN) {
        taper_step_value count = TAPER_STEP(s, aten_new_zeros, like, taper_steps_ints(s, one, 2));
        count = TAPER_STEP(s, aten_index_add, count, first, places, kept);
        sum = taper_step_div(s, sum, TAPER_STEP(s, aten_clamp_min, count, TAPER_STEP_INT(1)));
    }
    return sum;
}

TAPER_STEPS_KERNEL(taper_op_embedding_bag_steps)
{
    const taper_tensor *const weight = s->args[0].as.tensor;
    const int64_t mode = taper_steps_int(s, 4);
    int64_t padding = taper_steps_int_or(s, 7, -1);
    padding = padding < -1 ? padding + weight->sizes[0] : padding;
    taper_step_value results[4];
    TAPER_STEP_ALL(s, aten__embedding_bag, results, 4, taper_step_detach(s, &s->args[0]), &s->args[1], &s->args[2],
                   &s->args[3], &s->args[4], taper_step_bool(false), taper_step_detach(s, &s->args[5]), &s->args[6],
                   taper_step_int(s, padding));
    if (mode == BAG_MAX) {
        const taper_step_value most = TAPER_STEP(s, aten_clamp_min, results[3], TAPER_STEP_INT(0));
        taper_step_value value = TAPER_STEP(s, aten_gather, &s->args[0], TAPER_STEP_INT(0), most);
        taper_step_value empty = TAPER_STEP(s, aten_eq_Scalar, results[2], TAPER_STEP_INT(0));
        empty = taper_step_reshape(s, empty, (int64_t[]){-1, 1}, 2);
        results[0] = without(s, value, empty);
    } else {
        results[0] = summed_bags(s, mode, padding);
    }
    for (size_t i = 0; i < 4; i++) {
        taper_steps_ret(s, i, results[i]);
    }
    return s->status;
}
