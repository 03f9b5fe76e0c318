// SPDX-License-Identifier: BSD-2-Clause
// Operators of gradients of activations, layers and losses.
#include "ops/gradient/steps_math.h"

// Returns the gradient where self is between the bounds, and 0 elsewhere.
TAPER_STEPS_KERNEL(taper_op_within)
{
    taper_steps s;
    taper_steps_begin(&s, call->run);
    taper_val grad = call->args[0];
    if (!taper_arg_is_none(call, 2)) {
        const taper_val below = TAPER_STEP(&s, aten_lt_Scalar, call->args[1], call->args[2]);
        grad = TAPER_STEP(&s, aten_masked_fill_Scalar, grad, below, taper_val_int(0));
    }
    if (!taper_arg_is_none(call, 3)) {
        const taper_val above = TAPER_STEP(&s, aten_gt_Scalar, call->args[1], call->args[3]);
        grad = TAPER_STEP(&s, aten_masked_fill_Scalar, grad, above, taper_val_int(0));
    }
    taper_steps_ret(&s, call, 0, grad);
    return taper_steps_end(&s);
}

// The derivative of x * sigmoid(x) is s * (1 + x * (1 - s)) with s = sigmoid(x).
TAPER_STEPS_KERNEL(taper_op_silu_gradient)
{
    taper_steps s;
    taper_steps_begin(&s, call->run);
    const taper_val self = call->args[1], sigmoid = TAPER_STEP(&s, aten_sigmoid, self);
    taper_val slope = TAPER_STEP(&s, aten_rsub_Scalar, sigmoid, taper_val_int(1));
    slope = TAPER_STEP(&s, aten_mul_Tensor, slope, self);
    slope = TAPER_STEP(&s, aten_add_Scalar, slope, taper_val_int(1));
    slope = TAPER_STEP(&s, aten_mul_Tensor, slope, sigmoid);
    taper_steps_ret(&s, call, 0, TAPER_STEP(&s, aten_mul_Tensor, call->args[0], slope));
    return taper_steps_end(&s);
}

// The derivative of x * t with t = tanh(softplus(x)) is t + x * sigmoid(x) * (1 - t^2).
TAPER_STEPS_KERNEL(taper_op_mish_gradient)
{
    taper_steps s;
    taper_steps_begin(&s, call->run);
    const taper_val self = call->args[1];
    const taper_val t = TAPER_STEP(&s, aten_tanh, TAPER_STEP(&s, aten_softplus, self));
    taper_val slope = TAPER_STEP(&s, aten_rsub_Scalar, TAPER_STEP(&s, aten_mul_Tensor, t, t), taper_val_int(1));
    slope = TAPER_STEP(&s, aten_mul_Tensor, slope, TAPER_STEP(&s, aten_sigmoid, self));
    slope = TAPER_STEP(&s, aten_mul_Tensor, slope, self);
    slope = TAPER_STEP(&s, aten_add_Tensor, slope, t);
    taper_steps_ret(&s, call, 0, TAPER_STEP(&s, aten_mul_Tensor, call->args[0], slope));
    return taper_steps_end(&s);
}

// Returns the derivative of the approximation of gelu by tanh: x / 2 * (1 + tanh(beta * (x + kappa * x^3))).
static taper_val gelu_slope_tanh(taper_steps *s, taper_val self)
{
    static const double beta = 0.7978845608028654, kappa = 0.044715; // sqrt(2 / pi), and PyTorch's constant
    const taper_val square = TAPER_STEP(s, aten_mul_Tensor, self, self);
    taper_val inner = TAPER_STEP(s, aten_mul_Scalar, square, taper_val_double(kappa));
    inner = TAPER_STEP(s, aten_add_Scalar, inner, taper_val_int(1));
    inner = TAPER_STEP(s, aten_mul_Tensor, inner, self);
    const taper_val t = TAPER_STEP(s, aten_tanh, TAPER_STEP(s, aten_mul_Scalar, inner, taper_val_double(beta)));
    taper_val of_inner = TAPER_STEP(s, aten_mul_Scalar, square, taper_val_double(3 * kappa));
    of_inner = TAPER_STEP(s, aten_add_Scalar, of_inner, taper_val_int(1));
    of_inner = TAPER_STEP(s, aten_mul_Scalar, of_inner, taper_val_double(beta / 2));
    taper_val of_tanh = TAPER_STEP(s, aten_rsub_Scalar, TAPER_STEP(s, aten_mul_Tensor, t, t), taper_val_int(1));
    of_tanh = TAPER_STEP(s, aten_mul_Tensor, TAPER_STEP(s, aten_mul_Tensor, of_tanh, of_inner), self);
    taper_val half = TAPER_STEP(s, aten_add_Scalar, t, taper_val_int(1));
    half = TAPER_STEP(s, aten_mul_Scalar, half, taper_val_double(0.5));
    return TAPER_STEP(s, aten_add_Tensor, half, of_tanh);
}

TAPER_STEPS_KERNEL(taper_op_gelu_gradient)
{
    taper_steps s;
    const taper_string *approximate;
    TAPER_TRY(taper_arg_string(call, 2, &approximate));
    taper_steps_begin(&s, call->run);
    const taper_val self = call->args[1];
    taper_val slope;
    if (strcmp(approximate->data, "tanh") == 0) {
        slope = gelu_slope_tanh(&s, self);
    } else {
        const taper_val scaled = TAPER_STEP(&s, aten_mul_Scalar, self, taper_val_double(0.7071067811865476));
        taper_val phi = TAPER_STEP(&s, aten_add_Scalar, TAPER_STEP(&s, aten_erf, scaled), taper_val_int(1));
        phi = TAPER_STEP(&s, aten_mul_Scalar, phi, taper_val_double(0.5));
        taper_val density = TAPER_STEP(&s, aten_mul_Tensor, self, self);
        density = TAPER_STEP(&s, aten_exp, TAPER_STEP(&s, aten_mul_Scalar, density, taper_val_double(-0.5)));
        density = TAPER_STEP(&s, aten_mul_Scalar, density, taper_val_double(0.3989422804014327));
        slope = TAPER_STEP(&s, aten_add_Tensor, phi, TAPER_STEP(&s, aten_mul_Tensor, density, self));
    }
    taper_steps_ret(&s, call, 0, TAPER_STEP(&s, aten_mul_Tensor, call->args[0], slope));
    return taper_steps_end(&s);
}

// The operator itself makes the mask, of a tensor of ones, so that the random numbers are those of a run without
// gradients.
TAPER_STEPS_KERNEL(taper_op_dropout_steps)
{
    taper_steps s;
    bool train;
    TAPER_TRY(taper_arg_bool(call, 2, &train));
    taper_steps_begin(&s, call->run);
    taper_val value = call->args[0];
    if (train) {
        const taper_val ones = TAPER_STEP(&s, aten_ones_like, TAPER_STEP(&s, aten_detach, value));
        value =
            TAPER_STEP(&s, aten_mul_Tensor, value, TAPER_STEP(&s, aten_dropout, ones, call->args[1], call->args[2]));
    }
    taper_steps_ret(&s, call, 0, value);
    return taper_steps_end(&s);
}

// Gives the gradient of a loss to the elements that it reduced. reduction: 0 for none, 1 for the mean, 2 for the sum.
TAPER_STEPS_KERNEL(taper_op_loss_scale)
{
    taper_steps s;
    int64_t reduction;
    TAPER_TRY(taper_arg_int(call, 2, &reduction));
    taper_steps_begin(&s, call->run);
    taper_val grad = call->args[0];
    if (reduction == 1) {
        const double count = (double)taper_max_i64(taper_tensor_numel(call->args[1].as.tensor), 1);
        grad = TAPER_STEP(&s, aten_div_Scalar, grad, taper_val_double(count));
    }
    taper_steps_ret(&s, call, 0, grad);
    return taper_steps_end(&s);
}

// ---- layers

// With xhat = (x - mean) / deviation and g = grad * weight the gradient of x is
// (g - mean(g) - xhat * mean(g * xhat)) / deviation, with means over the normalized dimensions.
TAPER_STEPS_KERNEL(taper_op_layer_norm_gradients)
{
    taper_steps s;
    const taper_val grad = call->args[0], x = call->args[1], weight = call->args[3];
    const taper_tensor *const input = x.as.tensor;
    const size_t normed = call->args[2].tag == TAPER_LIST ? call->args[2].as.list->count : 1,
                 outer = input->rank - normed;
    int64_t dims[TAPER_MAX_RANK];
    if (normed > input->rank) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "the input has fewer dimensions than normalized_shape");
    }
    for (size_t i = 0; i < input->rank; i++) {
        dims[i] = (int64_t)i;
    }
    taper_steps_begin(&s, call->run);
    const taper_val inner = taper_steps_ints(&s, dims + outer, normed), yes = taper_val_bool(true);
    const taper_val centred = TAPER_STEP(&s, aten_sub_Tensor, x, TAPER_STEP(&s, aten_mean_dim, x, inner, yes));
    taper_val scale = TAPER_STEP(&s, aten_mean_dim, TAPER_STEP(&s, aten_mul_Tensor, centred, centred), inner, yes);
    scale = TAPER_STEP(&s, aten_rsqrt, TAPER_STEP(&s, aten_add_Scalar, scale, call->args[5]));
    const taper_val xhat = TAPER_STEP(&s, aten_mul_Tensor, centred, scale);
    if (taper_step_mask(call, 6, 0)) {
        const taper_val g = weight.tag == TAPER_TENSOR ? TAPER_STEP(&s, aten_mul_Tensor, grad, weight) : grad;
        const taper_val along = TAPER_STEP(&s, aten_mean_dim, TAPER_STEP(&s, aten_mul_Tensor, g, xhat), inner, yes);
        taper_val value = TAPER_STEP(&s, aten_sub_Tensor, g, TAPER_STEP(&s, aten_mean_dim, g, inner, yes));
        value = TAPER_STEP(&s, aten_sub_Tensor, value, TAPER_STEP(&s, aten_mul_Tensor, xhat, along));
        taper_steps_ret(&s, call, 0, TAPER_STEP(&s, aten_mul_Tensor, value, scale));
    }
    if (taper_step_mask(call, 6, 1) && weight.tag == TAPER_TENSOR) {
        const taper_val products = TAPER_STEP(&s, aten_mul_Tensor, grad, xhat);
        taper_steps_ret(&s, call, 1, TAPER_STEP(&s, taper_sum_to, products, weight));
    }
    if (taper_step_mask(call, 6, 2) && call->args[4].tag == TAPER_TENSOR) {
        taper_steps_ret(&s, call, 2, TAPER_STEP(&s, taper_sum_to, grad, call->args[4]));
    }
    return taper_steps_end(&s);
}

// The gradients of tensordot: both tensors become matrices with the contracted dimensions together.
TAPER_STEPS_KERNEL(taper_op_tensordot_gradients)
{
    taper_steps s;
    const taper_tensor *const tensors[2] = {call->args[1].as.tensor, call->args[2].as.tensor};
    int64_t dims[2][TAPER_MAX_RANK], order[2][TAPER_MAX_RANK];
    size_t counts[2], free_counts[2] = {0, 0};
    for (size_t t = 0; t < 2; t++) {
        TAPER_TRY(taper_arg_ints(call, 3 + t, 0, TAPER_MAX_RANK, dims[t], &counts[t]));
        bool seen[TAPER_MAX_RANK] = {false};
        for (size_t i = 0; i < counts[t]; i++) {
            const int64_t rank = tensors[t]->rank, at = dims[t][i] < 0 ? dims[t][i] + rank : dims[t][i];
            if (at < 0 || at >= rank || seen[at] || (t == 1 && counts[1] != counts[0])) {
                TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                           "tensordot expects as many different dimensions of both tensors");
            }
            seen[at] = true;
        }
        for (int64_t d = 0; d < tensors[t]->rank; d++) {
            bool contracted = false;
            for (size_t i = 0; i < counts[t]; i++) {
                dims[t][i] += dims[t][i] < 0 ? tensors[t]->rank : 0;
                contracted = contracted || dims[t][i] == d;
            }
            if (!contracted) {
                order[t][free_counts[t]++] = d;
            }
        }
        memcpy(order[t] + free_counts[t], dims[t], counts[t] * sizeof dims[t][0]);
    }
    taper_steps_begin(&s, call->run);
    for (size_t t = 0; t < 2; t++) {
        if (!taper_step_mask(call, 5, t)) {
            continue;
        }
        // grad has the free dimensions of self, then those of other. The free dimensions of the other tensor are
        // contracted.
        int64_t of_grad[TAPER_MAX_RANK], back[TAPER_MAX_RANK];
        for (size_t i = 0; i < free_counts[1 - t]; i++) {
            of_grad[i] = (int64_t)(t == 0 ? free_counts[0] + i : i);
        }
        const taper_val free_grad = taper_steps_ints(&s, of_grad, free_counts[1 - t]);
        const taper_val free_other = taper_steps_ints(&s, order[1 - t], free_counts[1 - t]);
        // The product has the free dimensions of this tensor, then the contracted ones in ascending order.
        taper_val product = TAPER_STEP(&s, aten_tensordot, call->args[0], call->args[2 - t], free_grad, free_other);
        for (size_t i = 0; i < counts[t]; i++) {
            size_t before = 0;
            for (size_t k = 0; k < counts[t]; k++) {
                before += dims[1 - t][k] < dims[1 - t][i] ? 1 : 0;
            }
            back[dims[t][i]] = (int64_t)(free_counts[t] + before);
        }
        for (size_t i = 0; i < free_counts[t]; i++) {
            back[order[t][i]] = (int64_t)i;
        }
        product = TAPER_STEP(&s, aten_permute, product, taper_steps_ints(&s, back, tensors[t]->rank));
        taper_steps_ret(&s, call, t, product);
    }
    return taper_steps_end(&s);
}
