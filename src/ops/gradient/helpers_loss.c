// SPDX-License-Identifier: BSD-2-Clause
// Compositions of losses.
#include "ops/gradient/steps_math.h"

static taper_status ret_reduced(taper_steps *s, taper_step_value loss, size_t at)
{
    return taper_steps_ret(s, 0, taper_step_reduced(s, loss, taper_steps_int(s, at)));
}

TAPER_STEPS_KERNEL(taper_op_reduced)
{
    return ret_reduced(s, &s->args[0], 1);
}

static taper_step_value below(taper_steps *s, taper_step_value value, double limit)
{
    return TAPER_STEP(s, aten_lt_Scalar, value, taper_step_double(s, limit));
}

static taper_step_value not_below(taper_steps *s, taper_step_value value, double limit)
{
    return TAPER_STEP(s, aten_clamp_min, value, taper_step_double(s, limit));
}

// Computes smooth_l1_loss, or huber_loss if `huber` is set: the square for small differences, the absolute value for
// other differences.
TAPER_STEPS_KERNEL(taper_op_smooth_l1_steps)
{
    const double beta = taper_steps_double(s, 3);
    const bool huber = taper_steps_bool(s, 4);
    const taper_step_value difference = taper_step_sub(s, &s->args[0], &s->args[1]);
    const taper_step_value size = TAPER_STEP(s, aten_abs, difference);
    if (beta == 0) {
        return ret_reduced(s, huber ? taper_step_scale(s, size, 0) : size, 2);
    }
    const taper_step_value square =
        taper_step_scale(s, taper_step_mul(s, difference, difference), huber ? 0.5 : 0.5 / beta);
    taper_step_value far = taper_step_shift(s, size, -0.5 * beta);
    far = huber ? taper_step_scale(s, far, beta) : far;
    return ret_reduced(s, taper_step_where(s, below(s, size, beta), square, far), 2);
}

TAPER_STEPS_KERNEL(taper_op_kl_div_steps)
{
    const bool log_target = taper_steps_bool(s, 3);
    const taper_step_value x = &s->args[0], t = &s->args[1];
    const taper_step_value loss =
        log_target ? taper_step_mul(s, TAPER_STEP(s, aten_exp, t), taper_step_sub(s, t, x))
                   : taper_step_sub(s, TAPER_STEP(s, aten_xlogy_Tensor, t, t), taper_step_mul(s, t, x));
    return ret_reduced(s, loss, 2);
}

TAPER_STEPS_KERNEL(taper_op_poisson_nll_steps)
{
    const bool log_input = taper_steps_bool(s, 2);
    const bool full = taper_steps_bool(s, 3);
    const double eps = taper_steps_double(s, 4);
    const taper_step_value x = &s->args[0], t = &s->args[1];
    taper_step_value loss =
        log_input ? taper_step_sub(s, TAPER_STEP(s, aten_exp, x), taper_step_mul(s, t, x))
                  : taper_step_sub(s, x, taper_step_mul(s, t, TAPER_STEP(s, aten_log, taper_step_shift(s, x, eps))));
    if (full) { // Stirling's approximation of the logarithm of the factorial
        taper_step_value more = taper_step_sub(s, taper_step_mul(s, t, TAPER_STEP(s, aten_log, t)), t);
        more = taper_step_add(
            s, more, taper_step_scale(s, TAPER_STEP(s, aten_log, taper_step_scale(s, t, 6.283185307179586)), 0.5));
        const taper_step_value small = TAPER_STEP(s, aten_le_Scalar, t, TAPER_STEP_INT(1));
        loss = taper_step_add(s, loss, TAPER_STEP(s, aten_masked_fill_Scalar, more, small, TAPER_STEP_INT(0)));
    }
    return ret_reduced(s, loss, 5);
}

TAPER_STEPS_KERNEL(taper_op_cosine_embedding_steps)
{
    const double margin = taper_steps_double(s, 3);
    const int64_t dim = s->args[2].as.tensor->rank; // dimension of a vector's elements; 0 for single vectors
    const taper_step_value a = &s->args[0], b = &s->args[1];
    const taper_step_value product = taper_step_sum(s, taper_step_mul(s, a, b), dim, false);
    const taper_step_value squares[2] = {
        taper_step_shift(s, taper_step_sum(s, taper_step_mul(s, a, a), dim, false), 1e-12),
        taper_step_shift(s, taper_step_sum(s, taper_step_mul(s, b, b), dim, false), 1e-12)};
    const taper_step_value cosine =
        taper_step_div(s, product, TAPER_STEP(s, aten_sqrt, taper_step_mul(s, squares[0], squares[1])));
    const taper_step_value zeros = TAPER_STEP(s, aten_zeros_like, taper_step_detach(s, cosine));
    const taper_step_value same = TAPER_STEP(s, aten_eq_Scalar, &s->args[2], TAPER_STEP_INT(1));
    const taper_step_value other = TAPER_STEP(s, aten_eq_Scalar, &s->args[2], TAPER_STEP_INT(-1));
    const taper_step_value near = taper_step_where(s, same, taper_step_from(s, 1, cosine), zeros);
    const taper_step_value far =
        taper_step_where(s, other, not_below(s, taper_step_shift(s, cosine, -margin), 0), zeros);
    return ret_reduced(s, taper_step_add(s, near, far), 4);
}

TAPER_STEPS_KERNEL(taper_op_triplet_steps)
{
    const double margin = taper_steps_double(s, 3);
    const bool swap = taper_steps_bool(s, 6);
    const taper_step_value p = &s->args[4], eps = &s->args[5];
    const taper_step_value near = TAPER_STEP(s, aten_pairwise_distance, &s->args[0], &s->args[1], p, eps);
    taper_step_value far = TAPER_STEP(s, aten_pairwise_distance, &s->args[0], &s->args[2], p, eps);
    if (swap) {
        far = TAPER_STEP(s, aten_minimum, far, TAPER_STEP(s, aten_pairwise_distance, &s->args[1], &s->args[2], p, eps));
    }
    return ret_reduced(s, not_below(s, taper_step_shift(s, taper_step_sub(s, near, far), margin), 0), 7);
}

static taper_step_value weighted(taper_steps *s, taper_step_value loss, taper_step_value weight)
{
    return taper_step_is_tensor(weight) ? taper_step_mul(s, loss, weight) : loss;
}

// Logarithms are at least -100, as in PyTorch.
TAPER_STEPS_KERNEL(taper_op_binary_cross_entropy_steps)
{
    const taper_step_value x = &s->args[0], t = &s->args[1];
    const taper_step_value yes = not_below(s, TAPER_STEP(s, aten_log, x), -100);
    const taper_step_value no = not_below(s, TAPER_STEP(s, aten_log1p, taper_step_neg(s, x)), -100);
    const taper_step_value loss =
        taper_step_sub(s, taper_step_mul(s, taper_step_shift(s, t, -1), no), taper_step_mul(s, t, yes));
    return ret_reduced(s, weighted(s, loss, &s->args[2]), 3);
}

TAPER_STEPS_KERNEL(taper_op_logits_cross_entropy_steps)
{
    const taper_step_value x = &s->args[0], t = &s->args[1];
    taper_step_value likelihood = TAPER_STEP(s, aten_log_sigmoid, x);
    if (taper_step_is_tensor(&s->args[3])) {
        const taper_step_value factor =
            taper_step_shift(s, taper_step_mul(s, taper_step_shift(s, &s->args[3], -1), t), 1);
        likelihood = taper_step_mul(s, factor, likelihood);
    }
    const taper_step_value loss = taper_step_sub(s, taper_step_mul(s, taper_step_from(s, 1, t), x), likelihood);
    return ret_reduced(s, weighted(s, loss, &s->args[2]), 4);
}

// ---- losses of classes

// The parts of a loss of classes: the class of each row, 0 for a row that is ignored, and the weight of each row.
typedef struct classes {
    int64_t dim; // dimension of the classes
    taper_step_value index, weight;
} classes;

static classes classes_of(taper_steps *s, const taper_tensor *self, taper_step_value target, taper_step_value weight,
                          taper_step_value ignore)
{
    classes c = {.dim = self->rank > 1 ? 1 : 0};
    const taper_step_value ignored = TAPER_STEP(s, aten_eq_Scalar, target, ignore);
    const taper_step_value index = TAPER_STEP(s, aten_masked_fill_Scalar, target, ignored, TAPER_STEP_INT(0));
    c.index = taper_step_unsqueeze(s, index, c.dim);
    if (taper_step_is_tensor(weight)) {
        const taper_step_value flat = TAPER_STEP(s, aten_reshape, index, taper_steps_ints(s, (int64_t[]){-1}, 1));
        c.weight = TAPER_STEP(s, aten_index_select, weight, TAPER_STEP_INT(0), flat);
        c.weight = taper_step_like(s, c.weight, taper_steps_tensor(s, index));
    } else {
        const taper_step_value dtype = taper_step_int(s, self->dtype);
        c.weight = TAPER_STEP(s, aten_ones_like, index, dtype);
    }
    c.weight = TAPER_STEP(s, aten_masked_fill_Scalar, c.weight, ignored, TAPER_STEP_INT(0));
    return c;
}

// Returns the loss of the rows, reduced. *total receives the sum of the weights.
static taper_step_value nll(taper_steps *s, const taper_tensor *self, taper_step_value logs, const classes *c,
                            int64_t reduction, taper_step_value *total)
{
    (void)self;
    taper_step_value loss = TAPER_STEP(s, aten_gather, logs, taper_step_int(s, c->dim), c->index);
    loss = TAPER_STEP(s, aten_squeeze_dim, loss, taper_step_int(s, c->dim));
    // A row of weight 0 adds nothing to the loss, even if its logarithm is infinite.
    const taper_step_value none = TAPER_STEP(s, aten_eq_Scalar, c->weight, TAPER_STEP_INT(0));
    loss = TAPER_STEP(s, aten_masked_fill_Scalar, taper_step_neg(s, taper_step_mul(s, loss, c->weight)), none,
                      TAPER_STEP_INT(0));
    *total = TAPER_STEP(s, aten_sum, c->weight);
    if (reduction == 0) {
        return loss;
    }
    loss = TAPER_STEP(s, aten_sum, loss);
    return reduction == 1 ? taper_step_div(s, loss, *total) : loss;
}

TAPER_STEPS_KERNEL(taper_op_nll_steps)
{
    const taper_tensor *const self = s->args[0].as.tensor;
    const int64_t reduction = taper_steps_int(s, 3);
    taper_step_value total;
    const classes c = classes_of(s, self, &s->args[1], &s->args[2], &s->args[4]);
    taper_steps_ret(s, 0, nll(s, self, &s->args[0], &c, reduction, &total));
    return taper_steps_ret(s, 1, taper_step_detach(s, total));
}

// Reshapes the vector of the weights of the classes to the rank of the input.
static taper_step_value class_weights(taper_steps *s, taper_step_value weight, const taper_tensor *self, int64_t dim)
{
    int64_t sizes[TAPER_MAX_RANK];
    for (int64_t i = 0; i < self->rank; i++) {
        sizes[i] = i == dim ? self->sizes[i] : 1;
    }
    return taper_step_reshape(s, weight, sizes, self->rank);
}

// Returns the loss for a target that gives the probability of each class.
static taper_step_value cross_entropy_of_probabilities(taper_steps *s, taper_step_value logs, int64_t dim,
                                                       double smoothing, int64_t reduction)
{
    const taper_tensor *const self = s->args[0].as.tensor;
    taper_step_value t = &s->args[1];
    if (smoothing > 0) {
        t = taper_step_shift(s, taper_step_scale(s, t, 1 - smoothing),
                             smoothing / (double)taper_max_i64(self->sizes[dim], 1));
    }
    taper_step_value loss = taper_step_mul(s, logs, t);
    if (taper_step_is_tensor(&s->args[2])) {
        loss = taper_step_mul(s, loss, class_weights(s, &s->args[2], self, dim));
    }
    loss = taper_step_neg(s, taper_step_sum(s, loss, dim, false));
    if (reduction == 0) {
        return loss;
    }
    loss = TAPER_STEP(s, aten_sum, loss);
    const double rows = (double)taper_tensor_numel(self) / (double)taper_max_i64(self->sizes[dim], 1);
    return reduction == 1 ? taper_step_scale(s, loss, 1 / rows) : loss;
}

TAPER_STEPS_KERNEL(taper_op_cross_entropy_steps)
{
    const taper_tensor *const self = s->args[0].as.tensor, *const target = s->args[1].as.tensor;
    const int64_t reduction = taper_steps_int(s, 3);
    const double smoothing = taper_steps_double(s, 5);
    const int64_t dim = self->rank > 1 ? 1 : 0;
    const taper_step_value logs = TAPER_STEP(s, aten_log_softmax_int, &s->args[0], taper_step_int(s, dim));
    if (taper_dtype_is_float((taper_dtype)target->dtype)) {
        return taper_steps_ret(s, 0, cross_entropy_of_probabilities(s, logs, dim, smoothing, reduction));
    }
    taper_step_value total;
    const classes c = classes_of(s, self, &s->args[1], &s->args[2], &s->args[4]);
    taper_step_value loss = nll(s, self, logs, &c, reduction, &total);
    if (smoothing > 0) {
        const taper_step_value ignored = TAPER_STEP(s, aten_eq_Scalar, &s->args[1], &s->args[4]);
        taper_step_value smooth = taper_step_is_tensor(&s->args[2])
                                      ? taper_step_mul(s, logs, class_weights(s, &s->args[2], self, dim))
                                      : logs;
        smooth = taper_step_neg(s, taper_step_sum(s, smooth, dim, false));
        smooth = TAPER_STEP(s, aten_masked_fill_Scalar, smooth, ignored, TAPER_STEP_INT(0));
        if (reduction != 0) {
            smooth = TAPER_STEP(s, aten_sum, smooth);
            smooth = reduction == 1 ? taper_step_div(s, smooth, total) : smooth;
        }
        smooth = taper_step_scale(s, smooth, smoothing / (double)taper_max_i64(self->sizes[dim], 1));
        loss = taper_step_add(s, taper_step_scale(s, loss, 1 - smoothing), smooth);
    }
    return taper_steps_ret(s, 0, loss);
}

TAPER_STEPS_KERNEL(taper_op_multi_margin_steps)
{
    const taper_tensor *const self = s->args[0].as.tensor;
    const double p = taper_steps_double(s, 2);
    const double margin = taper_steps_double(s, 3);
    const int64_t count = self->rank != 0 ? self->sizes[self->rank - 1] : 1;
    const int64_t rows = count != 0 ? taper_tensor_numel(self) / count : 0;
    const taper_step_value x = taper_step_reshape(s, &s->args[0], (int64_t[]){rows, count}, 2);
    const taper_step_value index = taper_step_reshape(s, &s->args[1], (int64_t[]){rows, 1}, 2),
                           last = TAPER_STEP_INT(1);
    taper_step_value z = taper_step_sub(s, x, TAPER_STEP(s, aten_gather, x, last, index));
    z = not_below(s, taper_step_shift(s, z, margin), 0);
    z = p == 2 ? taper_step_mul(s, z, z) : z;
    if (taper_step_is_tensor(&s->args[4])) {
        const taper_step_value flat = taper_step_reshape(s, &s->args[1], (int64_t[]){rows}, 1);
        const taper_step_value weight = TAPER_STEP(s, aten_index_select, &s->args[4], TAPER_STEP_INT(0), flat);
        z = taper_step_mul(s, z, taper_step_reshape(s, weight, (int64_t[]){rows, 1}, 2));
    }
    z = TAPER_STEP(s, aten_scatter_value, z, last, index, TAPER_STEP_INT(0));
    taper_step_value loss = taper_step_scale(s, taper_step_sum(s, z, 1, false), 1 / (double)taper_max_i64(count, 1));
    loss = self->rank < 2 ? TAPER_STEP(s, aten_squeeze_dim, loss, TAPER_STEP_INT(0)) : loss;
    return ret_reduced(s, loss, 5);
}

// Composes multilabel_margin_loss. The classes of a row end at the first negative target.
TAPER_STEPS_KERNEL(taper_op_multilabel_margin_steps)
{
    const taper_tensor *const self = s->args[0].as.tensor;
    const int64_t count = self->rank != 0 ? self->sizes[self->rank - 1] : 1;
    const int64_t rows = count != 0 ? taper_tensor_numel(self) / count : 0;
    const taper_step_value last = TAPER_STEP_INT(1), dtype = taper_step_int(s, self->dtype);
    const taper_step_value x = taper_step_reshape(s, &s->args[0], (int64_t[]){rows, count}, 2);
    const taper_step_value target = taper_step_reshape(s, &s->args[1], (int64_t[]){rows, count}, 2);
    taper_step_value given = TAPER_STEP(s, aten_ge_Scalar, target, TAPER_STEP_INT(0));
    given = TAPER_STEP(s, aten_cumprod, TAPER_STEP(s, aten_to_dtype, given, dtype), last);
    const taper_step_value index = TAPER_STEP(s, aten_clamp_min, target, TAPER_STEP_INT(0));
    taper_step_value is_target = TAPER_STEP(s, aten_zeros_like, taper_step_detach(s, x));
    is_target = TAPER_STEP(s, aten_scatter_add, is_target, last, index, given);
    const taper_step_value others = TAPER_STEP(s, aten_eq_Scalar, is_target, TAPER_STEP_INT(0));
    // [rows, targets, classes]
    const taper_step_value wanted = taper_step_unsqueeze(s, TAPER_STEP(s, aten_gather, x, last, index), 2);
    taper_step_value z = taper_step_sub(s, taper_step_unsqueeze(s, x, 1), wanted);
    z = not_below(s, taper_step_shift(s, z, 1), 0);
    z = taper_step_mul(s, z, taper_step_unsqueeze(s, TAPER_STEP(s, aten_to_dtype, others, dtype), 1));
    z = taper_step_mul(s, z, taper_step_unsqueeze(s, given, 2));
    taper_step_value loss = TAPER_STEP(s, aten_sum_dim_IntList, z, taper_steps_ints(s, (int64_t[]){1, 2}, 2));
    loss = taper_step_scale(s, loss, 1 / (double)taper_max_i64(count, 1));
    loss = self->rank < 2 ? TAPER_STEP(s, aten_squeeze_dim, loss, TAPER_STEP_INT(0)) : loss;
    return ret_reduced(s, loss, 2);
}
