// SPDX-License-Identifier: BSD-2-Clause
// Operators of gradients of activations, layers and losses.
#include "ops/gradient/steps_math.h"

// Returns the gradient where self is between the bounds, and 0 elsewhere.
TAPER_STEPS_KERNEL(taper_op_within)
{
    taper_step_value grad = &s->args[0];
    if (!taper_steps_is_none(s, 2)) {
        const taper_step_value below = TAPER_STEP(s, aten_lt_Scalar, &s->args[1], &s->args[2]);
        grad = TAPER_STEP(s, aten_masked_fill_Scalar, grad, below, TAPER_STEP_INT(0));
    }
    if (!taper_steps_is_none(s, 3)) {
        const taper_step_value above = TAPER_STEP(s, aten_gt_Scalar, &s->args[1], &s->args[3]);
        grad = TAPER_STEP(s, aten_masked_fill_Scalar, grad, above, TAPER_STEP_INT(0));
    }
    return taper_steps_ret(s, 0, grad);
}

// Computes the gradient of silu. The derivative of x * sigmoid(x) is s * (1 + x * (1 - s)) with s = sigmoid(x).
TAPER_STEPS_KERNEL(taper_op_silu_gradient)
{
    const taper_step_value self = &s->args[1], sigmoid = TAPER_STEP(s, aten_sigmoid, self);
    taper_step_value slope = TAPER_STEP(s, aten_rsub_Scalar, sigmoid, TAPER_STEP_INT(1));
    slope = TAPER_STEP(s, aten_mul_Tensor, slope, self);
    slope = TAPER_STEP(s, aten_add_Scalar, slope, TAPER_STEP_INT(1));
    slope = TAPER_STEP(s, aten_mul_Tensor, slope, sigmoid);
    return taper_steps_ret(s, 0, TAPER_STEP(s, aten_mul_Tensor, &s->args[0], slope));
}

// Computes the gradient of mish. The derivative of x * t with t = tanh(softplus(x)) is t + x * sigmoid(x) * (1 - t^2).
TAPER_STEPS_KERNEL(taper_op_mish_gradient)
{
    const taper_step_value self = &s->args[1];
    const taper_step_value t = TAPER_STEP(s, aten_tanh, TAPER_STEP(s, aten_softplus, self));
    taper_step_value slope = TAPER_STEP(s, aten_rsub_Scalar, TAPER_STEP(s, aten_mul_Tensor, t, t), TAPER_STEP_INT(1));
    slope = TAPER_STEP(s, aten_mul_Tensor, slope, TAPER_STEP(s, aten_sigmoid, self));
    slope = TAPER_STEP(s, aten_mul_Tensor, slope, self);
    slope = TAPER_STEP(s, aten_add_Tensor, slope, t);
    return taper_steps_ret(s, 0, TAPER_STEP(s, aten_mul_Tensor, &s->args[0], slope));
}

// Returns the derivative of the approximation of gelu by tanh: x / 2 * (1 + tanh(beta * (x + kappa * x^3))).
static taper_step_value gelu_slope_tanh(taper_steps *s, taper_step_value self)
{
    static const double beta = 0.7978845608028654, kappa = 0.044715; // sqrt(2 / pi), and PyTorch's constant
    const taper_step_value square = TAPER_STEP(s, aten_mul_Tensor, self, self);
    taper_step_value inner = TAPER_STEP(s, aten_mul_Scalar, square, taper_step_double(s, kappa));
    inner = TAPER_STEP(s, aten_add_Scalar, inner, TAPER_STEP_INT(1));
    inner = TAPER_STEP(s, aten_mul_Tensor, inner, self);
    const taper_step_value t =
        TAPER_STEP(s, aten_tanh, TAPER_STEP(s, aten_mul_Scalar, inner, taper_step_double(s, beta)));
    taper_step_value of_inner = TAPER_STEP(s, aten_mul_Scalar, square, taper_step_double(s, 3 * kappa));
    of_inner = TAPER_STEP(s, aten_add_Scalar, of_inner, TAPER_STEP_INT(1));
    of_inner = TAPER_STEP(s, aten_mul_Scalar, of_inner, taper_step_double(s, beta / 2));
    taper_step_value of_tanh = TAPER_STEP(s, aten_rsub_Scalar, TAPER_STEP(s, aten_mul_Tensor, t, t), TAPER_STEP_INT(1));
    of_tanh = TAPER_STEP(s, aten_mul_Tensor, TAPER_STEP(s, aten_mul_Tensor, of_tanh, of_inner), self);
    taper_step_value half = TAPER_STEP(s, aten_add_Scalar, t, TAPER_STEP_INT(1));
    half = TAPER_STEP(s, aten_mul_Scalar, half, taper_step_double(s, 0.5));
    return TAPER_STEP(s, aten_add_Tensor, half, of_tanh);
}

TAPER_STEPS_KERNEL(taper_op_gelu_gradient)
{
    const taper_string *const approximate = s->args[2].as.string;
    const taper_step_value self = &s->args[1];
    taper_step_value slope;
    if (strcmp(approximate->data, "tanh") == 0) {
        slope = gelu_slope_tanh(s, self);
    } else {
        const taper_step_value scaled = TAPER_STEP(s, aten_mul_Scalar, self, taper_step_double(s, 0.7071067811865476));
        taper_step_value phi = TAPER_STEP(s, aten_add_Scalar, TAPER_STEP(s, aten_erf, scaled), TAPER_STEP_INT(1));
        phi = TAPER_STEP(s, aten_mul_Scalar, phi, taper_step_double(s, 0.5));
        taper_step_value density = TAPER_STEP(s, aten_mul_Tensor, self, self);
        density = TAPER_STEP(s, aten_exp, TAPER_STEP(s, aten_mul_Scalar, density, taper_step_double(s, -0.5)));
        density = TAPER_STEP(s, aten_mul_Scalar, density, taper_step_double(s, 0.3989422804014327));
        slope = TAPER_STEP(s, aten_add_Tensor, phi, TAPER_STEP(s, aten_mul_Tensor, density, self));
    }
    return taper_steps_ret(s, 0, TAPER_STEP(s, aten_mul_Tensor, &s->args[0], slope));
}

// Composes dropout as a product with a mask. The dropout operator itself makes the mask from a tensor of ones, so that
// the random numbers equal those that a run without gradients draws.
TAPER_STEPS_KERNEL(taper_op_dropout_steps)
{
    const bool train = taper_steps_bool(s, 2);
    taper_step_value value = &s->args[0];
    if (train) {
        const taper_step_value ones = TAPER_STEP(s, aten_ones_like, TAPER_STEP(s, aten_detach, value));
        value = TAPER_STEP(s, aten_mul_Tensor, value, TAPER_STEP(s, aten_dropout, ones, &s->args[1], &s->args[2]));
    }
    return taper_steps_ret(s, 0, value);
}

// Returns the gradient of each element of a loss from the gradient of the reduced loss. reduction is 0 if the loss was
// not reduced, 1 for the mean, 2 for the sum.
TAPER_STEPS_KERNEL(taper_op_loss_scale)
{
    const int64_t reduction = taper_steps_int(s, 2);
    taper_step_value grad = &s->args[0];
    if (reduction == 1) {
        const double count = (double)taper_max_i64(taper_tensor_numel(s->args[1].as.tensor), 1);
        grad = TAPER_STEP(s, aten_div_Scalar, grad, taper_step_double(s, count));
    }
    return taper_steps_ret(s, 0, grad);
}

// ---- gradients of layers

// Computes the gradients of layer norm. With xhat = (x - mean) / deviation and g = grad * weight, the gradient of x is
// (g - mean(g) - xhat * mean(g * xhat)) / deviation, with means over the normalized dimensions.
TAPER_STEPS_KERNEL(taper_op_layer_norm_gradients)
{
    const taper_step_value grad = &s->args[0], x = &s->args[1], weight = &s->args[3];
    const taper_tensor *const input = x->as.tensor;
    const size_t normed = s->args[2].tag == TAPER_LIST ? s->args[2].as.list->count : 1, outer = input->rank - normed;
    int64_t dims[TAPER_MAX_RANK];
    if (normed > input->rank) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_ARGUMENT, "the input has fewer dimensions than normalized_shape");
    }
    for (size_t i = 0; i < input->rank; i++) {
        dims[i] = (int64_t)i;
    }
    const taper_step_value inner = taper_steps_ints(s, dims + outer, normed), yes = taper_step_bool(true);
    const taper_step_value centred = TAPER_STEP(s, aten_sub_Tensor, x, TAPER_STEP(s, aten_mean_dim, x, inner, yes));
    taper_step_value scale = TAPER_STEP(s, aten_mean_dim, TAPER_STEP(s, aten_mul_Tensor, centred, centred), inner, yes);
    scale = TAPER_STEP(s, aten_rsqrt, TAPER_STEP(s, aten_add_Scalar, scale, &s->args[5]));
    const taper_step_value xhat = TAPER_STEP(s, aten_mul_Tensor, centred, scale);
    if (taper_step_mask(s, 6, 0)) {
        const taper_step_value g = weight->tag == TAPER_TENSOR ? TAPER_STEP(s, aten_mul_Tensor, grad, weight) : grad;
        const taper_step_value along =
            TAPER_STEP(s, aten_mean_dim, TAPER_STEP(s, aten_mul_Tensor, g, xhat), inner, yes);
        taper_step_value value = TAPER_STEP(s, aten_sub_Tensor, g, TAPER_STEP(s, aten_mean_dim, g, inner, yes));
        value = TAPER_STEP(s, aten_sub_Tensor, value, TAPER_STEP(s, aten_mul_Tensor, xhat, along));
        taper_steps_ret(s, 0, TAPER_STEP(s, aten_mul_Tensor, value, scale));
    }
    if (taper_step_mask(s, 6, 1) && weight->tag == TAPER_TENSOR) {
        const taper_step_value products = TAPER_STEP(s, aten_mul_Tensor, grad, xhat);
        taper_steps_ret(s, 1, TAPER_STEP(s, taper_sum_to, products, weight));
    }
    if (taper_step_mask(s, 6, 2) && s->args[4].tag == TAPER_TENSOR) {
        taper_steps_ret(s, 2, TAPER_STEP(s, taper_sum_to, grad, &s->args[4]));
    }
    return s->status;
}

// Returns the gradient with the sizes of its tensor. A contracted dimension of size 1 stands for any size of the other
// tensor's dimension.
static taper_step_value fitted(taper_steps *s, taper_step_value gradient, taper_step_value own, const int64_t *own_dims,
                               const taper_tensor *other, const int64_t *other_dims, size_t count)
{
    const taper_tensor *const tensor = own->as.tensor;
    int64_t sizes[TAPER_MAX_RANK];
    bool same = true;
    memcpy(sizes, tensor->sizes, tensor->rank * sizeof sizes[0]);
    for (size_t i = 0; i < count; i++) {
        const int64_t size = other->sizes[other_dims[i]];
        same = same && sizes[own_dims[i]] == size;
        sizes[own_dims[i]] = sizes[own_dims[i]] == 1 ? size : sizes[own_dims[i]];
    }
    if (same) {
        return gradient;
    }
    gradient = TAPER_STEP(s, aten_expand, gradient, taper_steps_ints(s, sizes, tensor->rank));
    return TAPER_STEP(s, taper_sum_to, gradient, own);
}

// Computes the gradients of tensordot: both tensors become matrices with the contracted dimensions together.
TAPER_STEPS_KERNEL(taper_op_tensordot_gradients)
{
    const taper_tensor *const tensors[2] = {s->args[1].as.tensor, s->args[2].as.tensor};
    int64_t dims[2][TAPER_MAX_RANK], order[2][TAPER_MAX_RANK];
    size_t counts[2], free_counts[2] = {0, 0};
    for (size_t t = 0; t < 2; t++) {
        TAPER_TRY(taper_arg_ints(s->call, 3 + t, 0, TAPER_MAX_RANK, dims[t], &counts[t]));
        bool seen[TAPER_MAX_RANK] = {false}, fits = t == 0 || counts[1] == counts[0];
        for (size_t i = 0; i < counts[t] && fits; i++) {
            const int64_t rank = tensors[t]->rank, at = dims[t][i] < 0 ? dims[t][i] + rank : dims[t][i];
            fits = at >= 0 && at < rank && !seen[at];
            seen[fits ? at : 0] = true;
        }
        if (!fits) {
            TAPER_FAIL(s->call->run->error, TAPER_ERROR_ARGUMENT,
                       "tensordot expects as many different dimensions of both tensors");
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
    for (size_t t = 0; t < 2; t++) {
        if (!taper_step_mask(s, 5, t)) {
            continue;
        }
        // grad has the free dimensions of self, then the free dimensions of `other`. The free dimensions of the tensor
        // whose gradient is not computed here are contracted.
        int64_t of_grad[TAPER_MAX_RANK], back[TAPER_MAX_RANK];
        for (size_t i = 0; i < free_counts[1 - t]; i++) {
            of_grad[i] = (int64_t)(t == 0 ? free_counts[0] + i : i);
        }
        const taper_step_value free_grad = taper_steps_ints(s, of_grad, free_counts[1 - t]);
        const taper_step_value free_other = taper_steps_ints(s, order[1 - t], free_counts[1 - t]);
        // The product has the free dimensions of this tensor, then the contracted dimensions in ascending order.
        taper_step_value product = TAPER_STEP(s, aten_tensordot, &s->args[0], &s->args[2 - t], free_grad, free_other);
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
        product = TAPER_STEP(s, aten_permute, product, taper_steps_ints(s, back, tensors[t]->rank));
        product = fitted(s, product, &s->args[1 + t], dims[t], tensors[1 - t], dims[1 - t], counts[t]);
        taper_steps_ret(s, t, product);
    }
    return s->status;
}
