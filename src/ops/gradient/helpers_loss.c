// SPDX-License-Identifier: BSD-2-Clause
// Compositions of losses.
#include "ops/gradient/steps_math.h"

static taper_status ret_reduced(taper_steps *s, taper_call *call, taper_val loss, size_t at)
{
    int64_t reduction;
    taper_steps_fail(s, taper_arg_int(call, at, &reduction));
    if (s->status == TAPER_OK) {
        taper_steps_ret(s, call, 0, taper_step_reduced(s, loss, reduction));
    }
    return taper_steps_end(s);
}

TAPER_STEPS_KERNEL(taper_op_reduced)
{
    taper_steps s;
    taper_steps_begin(&s, call->run);
    return ret_reduced(&s, call, call->args[0], 1);
}

static taper_val below(taper_steps *s, taper_val value, double limit)
{
    return TAPER_STEP(s, aten_lt_Scalar, value, taper_val_double(limit));
}

static taper_val not_below(taper_steps *s, taper_val value, double limit)
{
    return TAPER_STEP(s, aten_clamp_min, value, taper_val_double(limit));
}

// The square for small differences, the absolute value for other differences.
TAPER_STEPS_KERNEL(taper_op_smooth_l1_steps)
{
    taper_steps s;
    double beta;
    bool huber;
    TAPER_TRY(taper_arg_double(call, 3, &beta));
    TAPER_TRY(taper_arg_bool(call, 4, &huber));
    taper_steps_begin(&s, call->run);
    const taper_val difference = taper_step_sub(&s, call->args[0], call->args[1]);
    const taper_val size = TAPER_STEP(&s, aten_abs, difference);
    if (beta == 0) {
        return ret_reduced(&s, call, huber ? taper_step_scale(&s, size, 0) : size, 2);
    }
    const taper_val square = taper_step_scale(&s, taper_step_mul(&s, difference, difference), huber ? 0.5 : 0.5 / beta);
    taper_val far = taper_step_shift(&s, size, -0.5 * beta);
    far = huber ? taper_step_scale(&s, far, beta) : far;
    return ret_reduced(&s, call, taper_step_where(&s, below(&s, size, beta), square, far), 2);
}

TAPER_STEPS_KERNEL(taper_op_kl_div_steps)
{
    taper_steps s;
    bool log_target;
    TAPER_TRY(taper_arg_bool(call, 3, &log_target));
    const taper_val x = call->args[0], t = call->args[1];
    taper_steps_begin(&s, call->run);
    const taper_val loss = log_target
                               ? taper_step_mul(&s, TAPER_STEP(&s, aten_exp, t), taper_step_sub(&s, t, x))
                               : taper_step_sub(&s, TAPER_STEP(&s, aten_xlogy_Tensor, t, t), taper_step_mul(&s, t, x));
    return ret_reduced(&s, call, loss, 2);
}

TAPER_STEPS_KERNEL(taper_op_poisson_nll_steps)
{
    taper_steps s;
    bool log_input, full;
    double eps;
    TAPER_TRY(taper_arg_bool(call, 2, &log_input));
    TAPER_TRY(taper_arg_bool(call, 3, &full));
    TAPER_TRY(taper_arg_double(call, 4, &eps));
    const taper_val x = call->args[0], t = call->args[1];
    taper_steps_begin(&s, call->run);
    taper_val loss =
        log_input
            ? taper_step_sub(&s, TAPER_STEP(&s, aten_exp, x), taper_step_mul(&s, t, x))
            : taper_step_sub(&s, x, taper_step_mul(&s, t, TAPER_STEP(&s, aten_log, taper_step_shift(&s, x, eps))));
    if (full) { // Stirling's approximation of the logarithm of the factorial
        taper_val more = taper_step_sub(&s, taper_step_mul(&s, t, TAPER_STEP(&s, aten_log, t)), t);
        more = taper_step_add(
            &s, more, taper_step_scale(&s, TAPER_STEP(&s, aten_log, taper_step_scale(&s, t, 6.283185307179586)), 0.5));
        const taper_val small = TAPER_STEP(&s, aten_le_Scalar, t, taper_val_int(1));
        loss = taper_step_add(&s, loss, TAPER_STEP(&s, aten_masked_fill_Scalar, more, small, taper_val_int(0)));
    }
    return ret_reduced(&s, call, loss, 5);
}

TAPER_STEPS_KERNEL(taper_op_cosine_embedding_steps)
{
    taper_steps s;
    double margin;
    TAPER_TRY(taper_arg_double(call, 3, &margin));
    taper_steps_begin(&s, call->run);
    const int64_t dim = call->args[2].as.tensor->rank; // dim is 0 for single vectors
    const taper_val a = call->args[0], b = call->args[1];
    const taper_val product = taper_step_sum(&s, taper_step_mul(&s, a, b), dim, false);
    const taper_val squares[2] = {
        taper_step_shift(&s, taper_step_sum(&s, taper_step_mul(&s, a, a), dim, false), 1e-12),
        taper_step_shift(&s, taper_step_sum(&s, taper_step_mul(&s, b, b), dim, false), 1e-12)};
    const taper_val cosine =
        taper_step_div(&s, product, TAPER_STEP(&s, aten_sqrt, taper_step_mul(&s, squares[0], squares[1])));
    const taper_val zeros = TAPER_STEP(&s, aten_zeros_like, taper_step_detach(&s, cosine));
    const taper_val same = TAPER_STEP(&s, aten_eq_Scalar, call->args[2], taper_val_int(1));
    const taper_val other = TAPER_STEP(&s, aten_eq_Scalar, call->args[2], taper_val_int(-1));
    const taper_val near = taper_step_where(&s, same, taper_step_from(&s, 1, cosine), zeros);
    const taper_val far = taper_step_where(&s, other, not_below(&s, taper_step_shift(&s, cosine, -margin), 0), zeros);
    return ret_reduced(&s, call, taper_step_add(&s, near, far), 4);
}

TAPER_STEPS_KERNEL(taper_op_triplet_steps)
{
    taper_steps s;
    double margin;
    bool swap;
    TAPER_TRY(taper_arg_double(call, 3, &margin));
    TAPER_TRY(taper_arg_bool(call, 6, &swap));
    taper_steps_begin(&s, call->run);
    const taper_val p = call->args[4], eps = call->args[5];
    const taper_val near = TAPER_STEP(&s, aten_pairwise_distance, call->args[0], call->args[1], p, eps);
    taper_val far = TAPER_STEP(&s, aten_pairwise_distance, call->args[0], call->args[2], p, eps);
    if (swap) {
        far = TAPER_STEP(&s, aten_minimum, far,
                         TAPER_STEP(&s, aten_pairwise_distance, call->args[1], call->args[2], p, eps));
    }
    return ret_reduced(&s, call, not_below(&s, taper_step_shift(&s, taper_step_sub(&s, near, far), margin), 0), 7);
}

static taper_val weighted(taper_steps *s, taper_val loss, taper_val weight)
{
    return taper_step_is_tensor(weight) ? taper_step_mul(s, loss, weight) : loss;
}

// Logarithms are at least -100, as in PyTorch.
TAPER_STEPS_KERNEL(taper_op_binary_cross_entropy_steps)
{
    taper_steps s;
    const taper_val x = call->args[0], t = call->args[1];
    taper_steps_begin(&s, call->run);
    const taper_val yes = not_below(&s, TAPER_STEP(&s, aten_log, x), -100);
    const taper_val no = not_below(&s, TAPER_STEP(&s, aten_log1p, taper_step_neg(&s, x)), -100);
    const taper_val loss =
        taper_step_sub(&s, taper_step_mul(&s, taper_step_shift(&s, t, -1), no), taper_step_mul(&s, t, yes));
    return ret_reduced(&s, call, weighted(&s, loss, call->args[2]), 3);
}

TAPER_STEPS_KERNEL(taper_op_logits_cross_entropy_steps)
{
    taper_steps s;
    const taper_val x = call->args[0], t = call->args[1];
    taper_steps_begin(&s, call->run);
    taper_val likelihood = TAPER_STEP(&s, aten_log_sigmoid, x);
    if (taper_step_is_tensor(call->args[3])) {
        const taper_val factor =
            taper_step_shift(&s, taper_step_mul(&s, taper_step_shift(&s, call->args[3], -1), t), 1);
        likelihood = taper_step_mul(&s, factor, likelihood);
    }
    const taper_val loss = taper_step_sub(&s, taper_step_mul(&s, taper_step_from(&s, 1, t), x), likelihood);
    return ret_reduced(&s, call, weighted(&s, loss, call->args[2]), 4);
}

// ---- losses of classes

// The parts of a loss of classes: the class of each row, 0 for a row that is ignored, and the weight of each row.
typedef struct classes {
    int64_t dim; // dimension of the classes
    taper_val index, weight;
} classes;

static classes classes_of(taper_steps *s, const taper_tensor *self, taper_val target, taper_val weight,
                          taper_val ignore)
{
    classes c = {.dim = self->rank > 1 ? 1 : 0};
    const taper_val ignored = TAPER_STEP(s, aten_eq_Scalar, target, ignore);
    const taper_val index = TAPER_STEP(s, aten_masked_fill_Scalar, target, ignored, taper_val_int(0));
    c.index = taper_step_unsqueeze(s, index, c.dim);
    if (taper_step_is_tensor(weight)) {
        const taper_val flat = TAPER_STEP(s, aten_reshape, index, taper_steps_ints(s, (int64_t[]){-1}, 1));
        c.weight = TAPER_STEP(s, aten_index_select, weight, taper_val_int(0), flat);
        c.weight = taper_step_like(s, c.weight, taper_steps_tensor(s, index));
    } else {
        const taper_val dtype = taper_val_int(self->dtype);
        c.weight = TAPER_STEP(s, aten_ones_like, index, dtype);
    }
    c.weight = TAPER_STEP(s, aten_masked_fill_Scalar, c.weight, ignored, taper_val_int(0));
    return c;
}

// Returns the loss of the rows, reduced. *total receives the sum of the weights.
static taper_val nll(taper_steps *s, const taper_tensor *self, taper_val logs, const classes *c, int64_t reduction,
                     taper_val *total)
{
    (void)self;
    taper_val loss = TAPER_STEP(s, aten_gather, logs, taper_val_int(c->dim), c->index);
    loss = TAPER_STEP(s, aten_squeeze_dim, loss, taper_val_int(c->dim));
    // A row of weight 0 adds nothing to the loss, even if its logarithm is infinite.
    const taper_val none = TAPER_STEP(s, aten_eq_Scalar, c->weight, taper_val_int(0));
    loss = TAPER_STEP(s, aten_masked_fill_Scalar, taper_step_neg(s, taper_step_mul(s, loss, c->weight)), none,
                      taper_val_int(0));
    *total = TAPER_STEP(s, aten_sum, c->weight);
    if (reduction == 0) {
        return loss;
    }
    loss = TAPER_STEP(s, aten_sum, loss);
    return reduction == 1 ? taper_step_div(s, loss, *total) : loss;
}

TAPER_STEPS_KERNEL(taper_op_nll_steps)
{
    taper_steps s;
    int64_t reduction;
    const taper_tensor *const self = call->args[0].as.tensor;
    TAPER_TRY(taper_arg_int(call, 3, &reduction));
    taper_steps_begin(&s, call->run);
    taper_val total;
    const classes c = classes_of(&s, self, call->args[1], call->args[2], call->args[4]);
    taper_steps_ret(&s, call, 0, nll(&s, self, call->args[0], &c, reduction, &total));
    taper_steps_ret(&s, call, 1, taper_step_detach(&s, total));
    return taper_steps_end(&s);
}

// Gives the weights of the classes the rank of the input.
static taper_val class_weights(taper_steps *s, taper_val weight, const taper_tensor *self, int64_t dim)
{
    int64_t sizes[TAPER_MAX_RANK];
    for (int64_t i = 0; i < self->rank; i++) {
        sizes[i] = i == dim ? self->sizes[i] : 1;
    }
    return taper_step_reshape(s, weight, sizes, self->rank);
}

// The target gives the probability of each class.
static taper_val cross_entropy_of_probabilities(taper_steps *s, const taper_call *call, taper_val logs, int64_t dim,
                                                double smoothing, int64_t reduction)
{
    const taper_tensor *const self = call->args[0].as.tensor;
    taper_val t = call->args[1];
    if (smoothing > 0) {
        t = taper_step_shift(s, taper_step_scale(s, t, 1 - smoothing),
                             smoothing / (double)taper_max_i64(self->sizes[dim], 1));
    }
    taper_val loss = taper_step_mul(s, logs, t);
    if (taper_step_is_tensor(call->args[2])) {
        loss = taper_step_mul(s, loss, class_weights(s, call->args[2], self, dim));
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
    taper_steps s;
    int64_t reduction;
    double smoothing;
    const taper_tensor *const self = call->args[0].as.tensor, *const target = call->args[1].as.tensor;
    TAPER_TRY(taper_arg_int(call, 3, &reduction));
    TAPER_TRY(taper_arg_double(call, 5, &smoothing));
    const int64_t dim = self->rank > 1 ? 1 : 0;
    taper_steps_begin(&s, call->run);
    const taper_val logs = TAPER_STEP(&s, aten_log_softmax_int, call->args[0], taper_val_int(dim));
    if (taper_dtype_is_float((taper_dtype)target->dtype)) {
        taper_steps_ret(&s, call, 0, cross_entropy_of_probabilities(&s, call, logs, dim, smoothing, reduction));
        return taper_steps_end(&s);
    }
    taper_val total;
    const classes c = classes_of(&s, self, call->args[1], call->args[2], call->args[4]);
    taper_val loss = nll(&s, self, logs, &c, reduction, &total);
    if (smoothing > 0) {
        const taper_val ignored = TAPER_STEP(&s, aten_eq_Scalar, call->args[1], call->args[4]);
        taper_val smooth = taper_step_is_tensor(call->args[2])
                               ? taper_step_mul(&s, logs, class_weights(&s, call->args[2], self, dim))
                               : logs;
        smooth = taper_step_neg(&s, taper_step_sum(&s, smooth, dim, false));
        smooth = TAPER_STEP(&s, aten_masked_fill_Scalar, smooth, ignored, taper_val_int(0));
        if (reduction != 0) {
            smooth = TAPER_STEP(&s, aten_sum, smooth);
            smooth = reduction == 1 ? taper_step_div(&s, smooth, total) : smooth;
        }
        smooth = taper_step_scale(&s, smooth, smoothing / (double)taper_max_i64(self->sizes[dim], 1));
        loss = taper_step_add(&s, taper_step_scale(&s, loss, 1 - smoothing), smooth);
    }
    taper_steps_ret(&s, call, 0, loss);
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_multi_margin_steps)
{
    taper_steps s;
    const taper_tensor *const self = call->args[0].as.tensor;
    double p, margin;
    TAPER_TRY(taper_arg_double(call, 2, &p));
    TAPER_TRY(taper_arg_double(call, 3, &margin));
    const int64_t count = self->rank != 0 ? self->sizes[self->rank - 1] : 1;
    const int64_t rows = count != 0 ? taper_tensor_numel(self) / count : 0;
    taper_steps_begin(&s, call->run);
    const taper_val x = taper_step_reshape(&s, call->args[0], (int64_t[]){rows, count}, 2);
    const taper_val index = taper_step_reshape(&s, call->args[1], (int64_t[]){rows, 1}, 2), last = taper_val_int(1);
    taper_val z = taper_step_sub(&s, x, TAPER_STEP(&s, aten_gather, x, last, index));
    z = not_below(&s, taper_step_shift(&s, z, margin), 0);
    z = p == 2 ? taper_step_mul(&s, z, z) : z;
    if (taper_step_is_tensor(call->args[4])) {
        const taper_val flat = taper_step_reshape(&s, call->args[1], (int64_t[]){rows}, 1);
        const taper_val weight = TAPER_STEP(&s, aten_index_select, call->args[4], taper_val_int(0), flat);
        z = taper_step_mul(&s, z, taper_step_reshape(&s, weight, (int64_t[]){rows, 1}, 2));
    }
    z = TAPER_STEP(&s, aten_scatter_value, z, last, index, taper_val_int(0));
    taper_val loss = taper_step_scale(&s, taper_step_sum(&s, z, 1, false), 1 / (double)taper_max_i64(count, 1));
    loss = self->rank < 2 ? TAPER_STEP(&s, aten_squeeze_dim, loss, taper_val_int(0)) : loss;
    return ret_reduced(&s, call, loss, 5);
}

// The classes of a row end at the first negative target.
TAPER_STEPS_KERNEL(taper_op_multilabel_margin_steps)
{
    taper_steps s;
    const taper_tensor *const self = call->args[0].as.tensor;
    const int64_t count = self->rank != 0 ? self->sizes[self->rank - 1] : 1;
    const int64_t rows = count != 0 ? taper_tensor_numel(self) / count : 0;
    taper_steps_begin(&s, call->run);
    const taper_val last = taper_val_int(1), dtype = taper_val_int(self->dtype);
    const taper_val x = taper_step_reshape(&s, call->args[0], (int64_t[]){rows, count}, 2);
    const taper_val target = taper_step_reshape(&s, call->args[1], (int64_t[]){rows, count}, 2);
    taper_val given = TAPER_STEP(&s, aten_ge_Scalar, target, taper_val_int(0));
    given = TAPER_STEP(&s, aten_cumprod, TAPER_STEP(&s, aten_to_dtype, given, dtype), last);
    const taper_val index = TAPER_STEP(&s, aten_clamp_min, target, taper_val_int(0));
    taper_val is_target = TAPER_STEP(&s, aten_zeros_like, taper_step_detach(&s, x));
    is_target = TAPER_STEP(&s, aten_scatter_add, is_target, last, index, given);
    const taper_val others = TAPER_STEP(&s, aten_eq_Scalar, is_target, taper_val_int(0));
    // [rows, targets, classes]
    const taper_val wanted = taper_step_unsqueeze(&s, TAPER_STEP(&s, aten_gather, x, last, index), 2);
    taper_val z = taper_step_sub(&s, taper_step_unsqueeze(&s, x, 1), wanted);
    z = not_below(&s, taper_step_shift(&s, z, 1), 0);
    z = taper_step_mul(&s, z, taper_step_unsqueeze(&s, TAPER_STEP(&s, aten_to_dtype, others, dtype), 1));
    z = taper_step_mul(&s, z, taper_step_unsqueeze(&s, given, 2));
    taper_val loss = TAPER_STEP(&s, aten_sum_dim_IntList, z, taper_steps_ints(&s, (int64_t[]){1, 2}, 2));
    loss = taper_step_scale(&s, loss, 1 / (double)taper_max_i64(count, 1));
    loss = self->rank < 2 ? TAPER_STEP(&s, aten_squeeze_dim, loss, taper_val_int(0)) : loss;
    return ret_reduced(&s, call, loss, 2);
}
