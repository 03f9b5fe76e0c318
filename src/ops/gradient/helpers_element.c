// SPDX-License-Identifier: BSD-2-Clause
// Gradients of element-wise operators with choices, and compositions of dropout and bags of embeddings.
#include <math.h>

#include "ir/tensor.h"
#include "ops/gradient/steps_math.h"

static taper_val without(taper_steps *s, taper_val grad, taper_val mask)
{
    return TAPER_STEP(s, aten_masked_fill_Scalar, grad, mask, taper_val_int(0));
}

// Outside of the limits the gradient is 0. Without limits, it is NaN outside of 0 to 1.
TAPER_STEPS_KERNEL(taper_op_logit_gradient)
{
    taper_steps s;
    const bool limited = !taper_arg_is_none(call, 2);
    double eps;
    TAPER_TRY(taper_arg_double_or(call, 2, 0, &eps));
    const taper_val x = call->args[1];
    taper_steps_begin(&s, call->run);
    const taper_val grad = taper_step_div(&s, call->args[0], taper_step_mul(&s, x, taper_step_from(&s, 1, x)));
    const taper_val outside = TAPER_STEP(&s, aten_logical_or, TAPER_STEP(&s, aten_lt_Scalar, x, taper_val_double(eps)),
                                         TAPER_STEP(&s, aten_gt_Scalar, x, taper_val_double(1 - eps)));
    taper_steps_ret(&s, call, 0,
                    TAPER_STEP(&s, aten_masked_fill_Scalar, grad, outside, taper_val_double(limited ? 0 : NAN)));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_clamp_gradients)
{
    taper_steps s;
    const taper_val grad = call->args[0], x = call->args[1], min = call->args[2], max = call->args[3];
    taper_steps_begin(&s, call->run);
    taper_val low = taper_val_none(), high = taper_val_none(), self = grad;
    if (taper_step_is_tensor(min)) {
        low = TAPER_STEP(&s, aten_lt_Tensor, x, min);
        self = without(&s, self, low);
    }
    if (taper_step_is_tensor(max)) {
        high = TAPER_STEP(&s, aten_gt_Tensor, x, max);
        self = without(&s, self, high);
    }
    if (taper_step_mask(call, 4, 0)) {
        taper_steps_ret(&s, call, 0, TAPER_STEP(&s, taper_sum_to, self, x));
    }
    if (taper_step_is_tensor(min) && taper_step_mask(call, 4, 1)) {
        taper_val found = without(&s, grad, TAPER_STEP(&s, aten_logical_not, low));
        found = taper_step_is_tensor(max) ? without(&s, found, TAPER_STEP(&s, aten_ge_Tensor, min, max)) : found;
        taper_steps_ret(&s, call, 1, TAPER_STEP(&s, taper_sum_to, found, min));
    }
    if (taper_step_is_tensor(max) && taper_step_mask(call, 4, 2)) {
        taper_val used = high;
        used = taper_step_is_tensor(min)
                   ? TAPER_STEP(&s, aten_logical_or, used, TAPER_STEP(&s, aten_lt_Tensor, max, min))
                   : used;
        const taper_val found = without(&s, grad, TAPER_STEP(&s, aten_logical_not, used));
        taper_steps_ret(&s, call, 2, TAPER_STEP(&s, taper_sum_to, found, max));
    }
    return taper_steps_end(&s);
}

// A quotient that is rounded has the gradient 0.
TAPER_STEPS_KERNEL(taper_op_div_mode_gradients)
{
    taper_steps s;
    const taper_val grad = call->args[0], self = call->args[1], other = call->args[2];
    const bool rounds = !taper_arg_is_none(call, 3);
    taper_steps_begin(&s, call->run);
    if (rounds) {
        taper_steps_ret(&s, call, 0, TAPER_STEP(&s, aten_zeros_like, self));
        taper_steps_ret(&s, call, 1, TAPER_STEP(&s, aten_zeros_like, other));
        return taper_steps_end(&s);
    }
    const taper_val by = taper_step_conj(&s, other);
    taper_steps_ret(&s, call, 0, TAPER_STEP(&s, taper_sum_to, taper_step_div(&s, grad, by), self));
    const taper_val slope = taper_step_conj(&s, taper_step_div(&s, taper_step_div(&s, self, other), other));
    taper_steps_ret(&s, call, 1,
                    TAPER_STEP(&s, taper_sum_to, taper_step_neg(&s, taper_step_mul(&s, grad, slope)), other));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_div_mode_scalar_gradient)
{
    taper_steps s;
    taper_steps_begin(&s, call->run);
    taper_steps_ret(&s, call, 0,
                    !taper_arg_is_none(call, 2) ? TAPER_STEP(&s, aten_zeros_like, call->args[0])
                                                : TAPER_STEP(&s, aten_div_Scalar, call->args[0], call->args[1]));
    return taper_steps_end(&s);
}

// The sum of digamma(x - i / 2) for i from 0 to p - 1.
TAPER_STEPS_KERNEL(taper_op_mvlgamma_gradient)
{
    taper_steps s;
    int64_t p;
    TAPER_TRY(taper_arg_int(call, 2, &p));
    taper_steps_begin(&s, call->run);
    taper_val halves = TAPER_STEP(&s, aten_arange, taper_val_int(p), taper_val_int(call->args[1].as.tensor->dtype));
    halves = taper_step_scale(&s, halves, -0.5);
    taper_val slope =
        TAPER_STEP(&s, aten_digamma, taper_step_add(&s, taper_step_unsqueeze(&s, call->args[1], -1), halves));
    slope = taper_step_sum(&s, slope, -1, false);
    taper_steps_ret(&s, call, 0, taper_step_mul(&s, call->args[0], slope));
    return taper_steps_end(&s);
}

// The derivative of the modified Bessel function i1, which is i0 - i1 / x. It is 1/2 at 0.
TAPER_STEPS_KERNEL(taper_op_bessel_slope)
{
    taper_steps s;
    bool scaled;
    TAPER_TRY(taper_arg_bool(call, 3, &scaled));
    const taper_val x = call->args[1];
    taper_steps_begin(&s, call->run);
    const taper_val tiny =
        TAPER_STEP(&s, aten_le_Scalar, TAPER_STEP(&s, aten_abs, x), taper_val_double(2.220446049250313e-16));
    const taper_val safe = TAPER_STEP(&s, aten_masked_fill_Scalar, x, tiny, taper_val_int(1));
    taper_val slope = TAPER_STEP(&s, aten_reciprocal, safe);
    slope = scaled ? taper_step_add(&s, slope, TAPER_STEP(&s, aten_sgn, x)) : slope;
    slope = taper_step_sub(&s, call->args[0], taper_step_mul(&s, call->args[2], slope));
    taper_steps_ret(&s, call, 0, TAPER_STEP(&s, aten_masked_fill_Scalar, slope, tiny, taper_val_double(0.5)));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_angle_gradient)
{
    taper_steps s;
    const taper_val x = call->args[1];
    taper_steps_begin(&s, call->run);
    if (!taper_dtype_is_complex((taper_dtype)x.as.tensor->dtype)) {
        taper_steps_ret(&s, call, 0, TAPER_STEP(&s, aten_zeros_like, call->args[0]));
        return taper_steps_end(&s);
    }
    const taper_val re = TAPER_STEP(&s, aten_real, x), im = TAPER_STEP(&s, aten_imag, x);
    const taper_val square = taper_step_add(&s, taper_step_mul(&s, re, re), taper_step_mul(&s, im, im));
    const taper_val scaled = taper_step_div(&s, call->args[0], square);
    taper_steps_ret(&s, call, 0,
                    TAPER_STEP(&s, aten_complex, taper_step_neg(&s, taper_step_mul(&s, scaled, im)),
                               taper_step_mul(&s, scaled, re)));
    return taper_steps_end(&s);
}

// The gradient of x / |x|: the part across the direction of x, divided by |x|. It is 0 for real numbers.
TAPER_STEPS_KERNEL(taper_op_sgn_gradient)
{
    taper_steps s;
    const taper_val grad = call->args[0], x = call->args[1], direction = call->args[2];
    taper_steps_begin(&s, call->run);
    if (!taper_dtype_is_complex((taper_dtype)x.as.tensor->dtype)) {
        taper_steps_ret(&s, call, 0, TAPER_STEP(&s, aten_zeros_like, grad));
        return taper_steps_end(&s);
    }
    const taper_val along = TAPER_STEP(&s, aten_real, taper_step_mul(&s, taper_step_conj(&s, direction), grad));
    const taper_val size = TAPER_STEP(&s, aten_abs, x);
    const taper_val none = TAPER_STEP(&s, aten_eq_Scalar, size, taper_val_int(0));
    const taper_val safe = TAPER_STEP(&s, aten_masked_fill_Scalar, size, none, taper_val_int(1));
    const taper_val across = taper_step_sub(&s, grad, taper_step_mul(&s, direction, along));
    taper_steps_ret(&s, call, 0, without(&s, taper_step_div(&s, across, safe), none));
    return taper_steps_end(&s);
}

// ---- dropout

TAPER_STEPS_KERNEL(taper_op_alpha_dropout_steps)
{
    static const double alpha = 1.7580993408473766;
    taper_steps s;
    double p;
    bool train, features;
    TAPER_TRY(taper_arg_double(call, 1, &p));
    TAPER_TRY(taper_arg_bool(call, 2, &train));
    TAPER_TRY(taper_arg_bool(call, 3, &features));
    taper_steps_begin(&s, call->run);
    if (!train || p == 0 || p == 1) {
        taper_steps_ret(&s, call, 0, taper_step_scale(&s, call->args[0], train && p == 1 ? 0 : 1));
        return taper_steps_end(&s);
    }
    const taper_val ones = TAPER_STEP(&s, aten_ones_like, taper_step_detach(&s, call->args[0]));
    taper_val noise = features ? TAPER_STEP(&s, aten_feature_dropout, ones, call->args[1], call->args[2])
                               : TAPER_STEP(&s, aten_dropout, ones, call->args[1], call->args[2]);
    noise = taper_step_scale(&s, noise, 1 - p); // 1 for elements that are kept
    const double a = 1 / sqrt((alpha * alpha * p + 1) * (1 - p));
    const taper_val offset =
        taper_step_shift(&s, taper_step_scale(&s, taper_step_shift(&s, noise, -1), alpha * a), alpha * a * p);
    taper_steps_ret(&s, call, 0,
                    taper_step_add(&s, taper_step_mul(&s, call->args[0], taper_step_scale(&s, noise, a)), offset));
    return taper_steps_end(&s);
}

// ---- bags

enum { BAG_SUM, BAG_MEAN, BAG_MAX };

// Returns the bag of each index as int64. A bag begins at its offset.
static taper_val bags_of(taper_steps *s, const taper_call *call, int64_t *bags)
{
    const taper_tensor *const indices = call->args[1].as.tensor;
    bool last;
    taper_val offsets = TAPER_STEP(s, aten_to_dtype, call->args[2], taper_val_int(TAPER_I64));
    offsets = TAPER_STEP(s, aten_contiguous, offsets);
    taper_steps_fail(s, taper_arg_bool(call, 6, &last));
    const taper_tensor *const t = taper_steps_tensor(s, offsets);
    const int64_t count = taper_tensor_numel(indices);
    taper_tensor *made;
    *bags = 0;
    if (t == NULL) {
        return taper_val_none();
    }
    *bags = taper_max_i64(taper_tensor_numel(t) - (last ? 1 : 0), 0);
    taper_steps_fail(s, taper_tensor_new(s->run->heap, TAPER_I64, 1, &count, NULL, &made, s->run->error));
    if (s->status != TAPER_OK) {
        return taper_val_none();
    }
    const int64_t *const starts = taper_tensor_data(t);
    int64_t *const places = taper_tensor_mutable(made);
    for (int64_t i = 0, bag = 0; i < count; i++) {
        while (bag + 1 < *bags && i >= starts[bag + 1]) {
            bag++;
        }
        places[i] = bag;
    }
    return taper_steps_keep(s, TAPER_VAL(made));
}

// Returns the sum or the mean of the rows of each bag.
static taper_val summed_bags(taper_steps *s, const taper_call *call, int64_t mode, int64_t padding)
{
    const taper_tensor *const weight = call->args[0].as.tensor;
    int64_t bags;
    const taper_val places = bags_of(s, call, &bags), first = taper_val_int(0), pad = taper_val_int(padding);
    taper_val rows = TAPER_STEP(s, aten_embedding, call->args[0], call->args[1], pad, call->args[3]);
    taper_val kept = TAPER_STEP(s, aten_ne_Scalar, call->args[1], pad);
    kept =
        taper_step_reshape(s, TAPER_STEP(s, aten_to_dtype, kept, taper_val_int(weight->dtype)), (int64_t[]){-1, 1}, 2);
    if (taper_step_is_tensor(call->args[5])) {
        rows = taper_step_mul(s, rows, taper_step_reshape(s, call->args[5], (int64_t[]){-1, 1}, 2));
    }
    rows = taper_step_mul(s, rows, kept);
    const int64_t sizes[2] = {bags, weight->sizes[1]}, one[2] = {bags, 1};
    const taper_val like = taper_step_detach(s, call->args[0]);
    taper_val sum = TAPER_STEP(s, aten_new_zeros, like, taper_steps_ints(s, sizes, 2));
    sum = TAPER_STEP(s, aten_index_add, sum, first, places, rows);
    if (mode == BAG_MEAN) {
        taper_val count = TAPER_STEP(s, aten_new_zeros, like, taper_steps_ints(s, one, 2));
        count = TAPER_STEP(s, aten_index_add, count, first, places, kept);
        sum = taper_step_div(s, sum, TAPER_STEP(s, aten_clamp_min, count, taper_val_int(1)));
    }
    return sum;
}

TAPER_STEPS_KERNEL(taper_op_embedding_bag_steps)
{
    taper_steps s;
    int64_t mode, padding;
    const taper_tensor *const weight = call->args[0].as.tensor;
    TAPER_TRY(taper_arg_int(call, 4, &mode));
    TAPER_TRY(taper_arg_int_or(call, 7, -1, &padding));
    padding = padding < -1 ? padding + weight->sizes[0] : padding;
    taper_steps_begin(&s, call->run);
    taper_val results[4];
    const taper_val args[9] = {taper_step_detach(&s, call->args[0]),
                               call->args[1],
                               call->args[2],
                               call->args[3],
                               call->args[4],
                               taper_val_bool(false),
                               taper_step_detach(&s, call->args[5]),
                               call->args[6],
                               taper_val_int(padding)};
    taper_steps_call_all(&s, TAPER_OP(aten__embedding_bag), 9, args, results, 4);
    if (mode == BAG_MAX) {
        const taper_val most = TAPER_STEP(&s, aten_clamp_min, results[3], taper_val_int(0));
        taper_val value = TAPER_STEP(&s, aten_gather, call->args[0], taper_val_int(0), most);
        taper_val empty = TAPER_STEP(&s, aten_eq_Scalar, results[2], taper_val_int(0));
        empty = taper_step_reshape(&s, empty, (int64_t[]){-1, 1}, 2);
        results[0] = without(&s, value, empty);
    } else {
        results[0] = summed_bags(&s, call, mode, padding);
    }
    for (size_t i = 0; i < 4; i++) {
        taper_steps_ret(&s, call, i, results[i]);
    }
    return taper_steps_end(&s);
}
