// SPDX-License-Identifier: BSD-2-Clause
// Compositions of normalizations, recurrent cells, attention and other layers.
#include <math.h>

#include "ops/gradient/steps_math.h"

// Gives a vector of one number for each channel the rank of an input, whose channels are dimension 1.
static taper_val per_channel(taper_steps *s, taper_val value, size_t rank)
{
    int64_t sizes[TAPER_MAX_RANK];
    const taper_tensor *const vector = taper_steps_tensor(s, value);
    for (size_t i = 0; i < rank; i++) {
        sizes[i] = i == 1 && vector != NULL ? taper_tensor_numel(vector) : 1;
    }
    return taper_step_reshape(s, value, sizes, rank);
}

static taper_val scaled(taper_steps *s, taper_val value, taper_val weight, taper_val bias, size_t rank)
{
    value = taper_step_is_tensor(weight) ? taper_step_mul(s, value, per_channel(s, weight, rank)) : value;
    return taper_step_is_tensor(bias) ? taper_step_add(s, value, per_channel(s, bias, rank)) : value;
}

// Subtracts the mean over `dims` and divides by the deviation. *mean and *rstd have size 1 in these dimensions.
static taper_val normalized(taper_steps *s, taper_val x, taper_val dims, taper_val eps, taper_val *mean,
                            taper_val *rstd)
{
    const taper_val yes = taper_val_bool(true);
    *mean = TAPER_STEP(s, aten_mean_dim, x, dims, yes);
    const taper_val centred = taper_step_sub(s, x, *mean);
    *rstd = TAPER_STEP(s, aten_mean_dim, taper_step_mul(s, centred, centred), dims, yes);
    *rstd = TAPER_STEP(s, aten_rsqrt, TAPER_STEP(s, aten_add_Scalar, *rstd, eps));
    return taper_step_mul(s, centred, *rstd);
}

// Normalizes with the running statistics of the layer.
static taper_val with_running(taper_steps *s, const taper_call *call, size_t rank)
{
    taper_val rstd = TAPER_STEP(s, aten_add_Scalar, per_channel(s, call->args[4], rank), call->args[7]);
    rstd = TAPER_STEP(s, aten_rsqrt, rstd);
    return taper_step_mul(s, taper_step_sub(s, call->args[0], per_channel(s, call->args[3], rank)), rstd);
}

TAPER_STEPS_KERNEL(taper_op_batch_norm_steps)
{
    taper_steps s;
    const taper_tensor *const input = call->args[0].as.tensor;
    int64_t dims[TAPER_MAX_RANK];
    size_t count = 0;
    bool training;
    TAPER_TRY(taper_arg_bool(call, 5, &training));
    for (int64_t d = 0; d < input->rank; d++) {
        if (d != 1) {
            dims[count++] = d;
        }
    }
    taper_steps_begin(&s, call->run);
    taper_val mean = taper_val_none(), rstd = taper_val_none(), value;
    if (input->rank < 2) { // only an empty tensor has no channels
        value = TAPER_STEP(&s, aten_clone, call->args[0]);
        mean = rstd = taper_step_detach(&s, value);
        taper_steps_ret(&s, call, 0, value);
        taper_steps_ret(&s, call, 1, mean);
        taper_steps_ret(&s, call, 2, rstd);
        return taper_steps_end(&s);
    }
    if (training || !taper_step_is_tensor(call->args[3])) {
        value = normalized(&s, call->args[0], taper_steps_ints(&s, dims, count), call->args[7], &mean, &rstd);
        mean = TAPER_STEP(&s, aten_reshape, taper_step_detach(&s, mean), taper_steps_ints(&s, (int64_t[]){-1}, 1));
        rstd = TAPER_STEP(&s, aten_reshape, taper_step_detach(&s, rstd), taper_steps_ints(&s, (int64_t[]){-1}, 1));
    } else {
        value = with_running(&s, call, input->rank);
        mean = rstd = TAPER_STEP(&s, aten_new_zeros, call->args[0], taper_steps_ints(&s, (int64_t[]){0}, 1));
    }
    if (training && taper_step_is_tensor(call->args[3])) { // the operator itself updates the running statistics
        TAPER_STEP(&s, aten_batch_norm, taper_step_detach(&s, call->args[0]), taper_step_detach(&s, call->args[1]),
                   taper_step_detach(&s, call->args[2]), call->args[3], call->args[4], call->args[5], call->args[6],
                   call->args[7], taper_val_bool(false));
    }
    taper_steps_ret(&s, call, 0, scaled(&s, value, call->args[1], call->args[2], input->rank));
    taper_steps_ret(&s, call, 1, mean);
    taper_steps_ret(&s, call, 2, rstd);
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_instance_norm_steps)
{
    taper_steps s;
    const taper_tensor *const input = call->args[0].as.tensor;
    int64_t dims[TAPER_MAX_RANK];
    size_t count = 0;
    bool from_input;
    TAPER_TRY(taper_arg_bool(call, 5, &from_input));
    for (int64_t d = 2; d < input->rank; d++) {
        dims[count++] = d;
    }
    taper_steps_begin(&s, call->run);
    taper_val mean, rstd;
    const taper_val value =
        from_input ? normalized(&s, call->args[0], taper_steps_ints(&s, dims, count), call->args[7], &mean, &rstd)
                   : with_running(&s, call, input->rank);
    if (from_input && taper_step_is_tensor(call->args[3])) { // the operator itself updates the running statistics
        TAPER_STEP(&s, aten_instance_norm, taper_step_detach(&s, call->args[0]), taper_step_detach(&s, call->args[1]),
                   taper_step_detach(&s, call->args[2]), call->args[3], call->args[4], call->args[5], call->args[6],
                   call->args[7], taper_val_bool(false));
    }
    taper_steps_ret(&s, call, 0, scaled(&s, value, call->args[1], call->args[2], input->rank));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_group_norm_steps)
{
    taper_steps s;
    const taper_tensor *const input = call->args[0].as.tensor;
    int64_t groups;
    TAPER_TRY(taper_arg_int(call, 1, &groups));
    if (groups <= 0 || input->rank < 2) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "group_norm needs channels and a positive number of groups");
    }
    const int64_t rows = taper_wrap_mul(input->sizes[0], groups), all = taper_tensor_numel(input);
    taper_steps_begin(&s, call->run);
    taper_val mean, rstd;
    taper_val value = taper_step_reshape(&s, call->args[0], (int64_t[]){rows, rows != 0 ? all / rows : 0}, 2);
    value = normalized(&s, value, taper_steps_ints(&s, (int64_t[]){1}, 1), call->args[4], &mean, &rstd);
    value = taper_step_like(&s, value, input);
    taper_steps_ret(&s, call, 0, scaled(&s, value, call->args[2], call->args[3], input->rank));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_rms_norm_steps)
{
    taper_steps s;
    const taper_tensor *const input = call->args[0].as.tensor;
    const size_t normed = call->args[1].tag == TAPER_LIST ? call->args[1].as.list->count : 1;
    int64_t dims[TAPER_MAX_RANK];
    double eps;
    const double least = input->dtype == TAPER_F64 ? 2.220446049250313e-16 : 1.1920928955078125e-07;
    TAPER_TRY(taper_arg_double_or(call, 3, least, &eps));
    if (normed > input->rank) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "the input has fewer dimensions than normalized_shape");
    }
    for (size_t i = 0; i < normed; i++) {
        dims[i] = (int64_t)(input->rank - normed + i);
    }
    taper_steps_begin(&s, call->run);
    taper_val scale = taper_step_mul(&s, call->args[0], call->args[0]);
    scale = TAPER_STEP(&s, aten_mean_dim, scale, taper_steps_ints(&s, dims, normed), taper_val_bool(true));
    taper_val value = taper_step_mul(&s, call->args[0], TAPER_STEP(&s, aten_rsqrt, taper_step_shift(&s, scale, eps)));
    value = taper_step_is_tensor(call->args[2]) ? taper_step_mul(&s, value, call->args[2]) : value;
    taper_steps_ret(&s, call, 0, value);
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_norm_except_dim_steps)
{
    taper_steps s;
    const taper_tensor *const v = call->args[0].as.tensor;
    int64_t dim, dims[TAPER_MAX_RANK];
    size_t count = 0;
    TAPER_TRY(taper_arg_int(call, 2, &dim));
    const bool all = dim == -1;
    for (int64_t d = 0; d < v->rank; d++) {
        if (all || d != dim) {
            dims[count++] = d;
        }
    }
    taper_steps_begin(&s, call->run);
    taper_steps_ret(&s, call, 0,
                    all ? TAPER_STEP(&s, aten_norm_Scalar, call->args[0], call->args[1])
                        : TAPER_STEP(&s, aten_norm_ScalarOpt_dim, call->args[0], call->args[1],
                                     taper_steps_ints(&s, dims, count), taper_val_bool(true)));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_cosine_steps)
{
    taper_steps s;
    int64_t dim;
    double eps;
    TAPER_TRY(taper_arg_int(call, 2, &dim));
    TAPER_TRY(taper_arg_double(call, 3, &eps));
    taper_steps_begin(&s, call->run);
    taper_val parts[2];
    for (size_t i = 0; i < 2; i++) {
        taper_val norm = TAPER_STEP(&s, aten_linalg_vector_norm, call->args[i], taper_val_int(2),
                                    taper_steps_ints(&s, &dim, 1), taper_val_bool(true));
        norm = TAPER_STEP(&s, aten_clamp_min, norm, taper_val_double(eps));
        parts[i] = taper_step_div(&s, call->args[i], norm);
    }
    taper_steps_ret(&s, call, 0, taper_step_sum(&s, taper_step_mul(&s, parts[0], parts[1]), dim, false));
    return taper_steps_end(&s);
}

// ---- recurrent cells

static taper_val gate(taper_steps *s, taper_val all, int64_t index, int64_t size)
{
    return taper_step_narrow(s, all, -1, taper_wrap_mul(index, size), size);
}

TAPER_STEPS_KERNEL(taper_op_gru_cell_steps)
{
    taper_steps s;
    const taper_tensor *const hx = call->args[1].as.tensor;
    const int64_t size = hx->rank != 0 ? hx->sizes[hx->rank - 1] : 0;
    taper_steps_begin(&s, call->run);
    const taper_val i = TAPER_STEP(&s, aten_linear, call->args[0], call->args[2], call->args[4]);
    const taper_val h = TAPER_STEP(&s, aten_linear, call->args[1], call->args[3], call->args[5]);
    const taper_val reset =
        TAPER_STEP(&s, aten_sigmoid, taper_step_add(&s, gate(&s, i, 0, size), gate(&s, h, 0, size)));
    const taper_val keep = TAPER_STEP(&s, aten_sigmoid, taper_step_add(&s, gate(&s, i, 1, size), gate(&s, h, 1, size)));
    const taper_val made = TAPER_STEP(
        &s, aten_tanh, taper_step_add(&s, gate(&s, i, 2, size), taper_step_mul(&s, reset, gate(&s, h, 2, size))));
    taper_steps_ret(&s, call, 0,
                    taper_step_add(&s, made, taper_step_mul(&s, keep, taper_step_sub(&s, call->args[1], made))));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_lstm_cell_steps)
{
    taper_steps s;
    const taper_list *const hx = call->args[1].as.list;
    if (hx->count != 2 || !taper_step_is_tensor(hx->items[0]) || !taper_step_is_tensor(hx->items[1])) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "lstm_cell expects two hidden states");
    }
    const taper_tensor *const h = hx->items[0].as.tensor;
    const int64_t size = h->rank != 0 ? h->sizes[h->rank - 1] : 0;
    taper_steps_begin(&s, call->run);
    const taper_val all = taper_step_add(&s, TAPER_STEP(&s, aten_linear, call->args[0], call->args[2], call->args[4]),
                                         TAPER_STEP(&s, aten_linear, hx->items[0], call->args[3], call->args[5]));
    const taper_val in = TAPER_STEP(&s, aten_sigmoid, gate(&s, all, 0, size));
    const taper_val forget = TAPER_STEP(&s, aten_sigmoid, gate(&s, all, 1, size));
    const taper_val made = TAPER_STEP(&s, aten_tanh, gate(&s, all, 2, size));
    const taper_val out = TAPER_STEP(&s, aten_sigmoid, gate(&s, all, 3, size));
    const taper_val cell = taper_step_add(&s, taper_step_mul(&s, forget, hx->items[1]), taper_step_mul(&s, in, made));
    taper_steps_ret(&s, call, 0, taper_step_mul(&s, out, TAPER_STEP(&s, aten_tanh, cell)));
    taper_steps_ret(&s, call, 1, cell);
    return taper_steps_end(&s);
}

// ---- other layers

// Returns one half of the tensor along a dimension.
TAPER_STEPS_KERNEL(taper_op_chunked)
{
    taper_steps s;
    const taper_tensor *const self = call->args[0].as.tensor;
    int64_t dim, half;
    TAPER_TRY(taper_arg_int(call, 1, &dim));
    TAPER_TRY(taper_arg_int(call, 2, &half));
    TAPER_TRY(taper_step_dim(call, &dim, self->rank));
    if (dim < 0 || dim >= self->rank) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "the dimension to halve does not exist");
    }
    const int64_t length = self->sizes[dim] / 2;
    taper_steps_begin(&s, call->run);
    taper_steps_ret(&s, call, 0, taper_step_narrow(&s, call->args[0], dim, taper_wrap_mul(half, length), length));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_prelu_steps)
{
    taper_steps s;
    const taper_tensor *const self = call->args[0].as.tensor, *const weight = call->args[1].as.tensor;
    taper_steps_begin(&s, call->run);
    const bool channels = taper_tensor_numel(weight) != 1 && self->rank > 1;
    taper_val slope = channels ? per_channel(&s, call->args[1], self->rank)
                               : taper_step_reshape(&s, call->args[1], (int64_t[]){taper_tensor_numel(weight)},
                                                    self->rank == 0 && taper_tensor_numel(weight) == 1 ? 0 : 1);
    const taper_val positive = TAPER_STEP(&s, aten_gt_Scalar, call->args[0], taper_val_int(0));
    taper_steps_ret(&s, call, 0,
                    taper_step_where(&s, positive, call->args[0], taper_step_mul(&s, call->args[0], slope)));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_rrelu_steps)
{
    taper_steps s;
    bool training;
    double lower, upper;
    TAPER_TRY(taper_arg_double(call, 1, &lower));
    TAPER_TRY(taper_arg_double(call, 2, &upper));
    TAPER_TRY(taper_arg_bool(call, 3, &training));
    taper_steps_begin(&s, call->run);
    taper_val slope;
    if (training) {
        slope = TAPER_STEP(&s, aten_rand_like, call->args[0]);
        slope = taper_step_shift(&s, taper_step_scale(&s, slope, upper - lower), lower);
        slope = taper_step_mul(&s, slope, call->args[0]);
    } else {
        slope = taper_step_scale(&s, call->args[0], (lower + upper) / 2);
    }
    const taper_val positive = TAPER_STEP(&s, aten_ge_Scalar, call->args[0], taper_val_int(0));
    taper_steps_ret(&s, call, 0, taper_step_where(&s, positive, call->args[0], slope));
    return taper_steps_end(&s);
}

// Multiplies all pairs of elements, and sums the products with the weights of the pairs.
TAPER_STEPS_KERNEL(taper_op_bilinear_steps)
{
    taper_steps s;
    const taper_tensor *const weight = call->args[2].as.tensor, *const first = call->args[0].as.tensor;
    if (weight->rank != 3 || first->rank == 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "bilinear expects a weight of three dimensions");
    }
    const int64_t outputs = weight->sizes[0], pairs = taper_wrap_mul(weight->sizes[1], weight->sizes[2]);
    int64_t sizes[TAPER_MAX_RANK];
    memcpy(sizes, first->sizes, sizeof sizes);
    taper_steps_begin(&s, call->run);
    taper_val value =
        taper_step_mul(&s, taper_step_unsqueeze(&s, call->args[0], -1), taper_step_unsqueeze(&s, call->args[1], -2));
    sizes[first->rank - 1] = pairs;
    value = taper_step_reshape(&s, value, sizes, first->rank);
    const taper_val rows = taper_step_reshape(&s, call->args[2], (int64_t[]){outputs, pairs}, 2);
    value = TAPER_STEP(&s, aten_linear, value, rows, call->args[3]);
    taper_steps_ret(&s, call, 0, value);
    return taper_steps_end(&s);
}

// The mask that hides later keys from a query, as a tensor of zeros and -inf.
static taper_val causal_mask(taper_steps *s, taper_val scores)
{
    const taper_tensor *const t = taper_steps_tensor(s, scores);
    if (t == NULL) {
        return scores;
    }
    const taper_val sizes = taper_steps_ints(s, t->sizes + t->rank - 2, 2);
    taper_val ones = TAPER_STEP(s, aten_new_ones, taper_step_detach(s, scores), sizes);
    ones = TAPER_STEP(s, aten_tril, ones, taper_val_int(0));
    const taper_val hidden = TAPER_STEP(s, aten_eq_Scalar, ones, taper_val_int(0));
    return TAPER_STEP(s, aten_masked_fill_Scalar, scores, hidden, taper_val_double(-INFINITY));
}

TAPER_STEPS_KERNEL(taper_op_attention_steps)
{
    taper_steps s;
    bool causal, shares;
    double dropout, scale;
    const taper_tensor *const query = call->args[0].as.tensor, *const key = call->args[1].as.tensor;
    const double width = query->rank != 0 ? (double)query->sizes[query->rank - 1] : 1;
    TAPER_TRY(taper_arg_double(call, 4, &dropout));
    TAPER_TRY(taper_arg_bool(call, 5, &causal));
    TAPER_TRY(taper_arg_double_or(call, 6, 1 / sqrt(width), &scale));
    TAPER_TRY(taper_arg_bool(call, 7, &shares));
    if (query->rank < 2 || key->rank < 2 || call->args[2].as.tensor->rank < 2) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "attention expects tensors of at least 2 dimensions");
    }
    taper_steps_begin(&s, call->run);
    taper_val k = call->args[1], v = call->args[2];
    if (shares && key->rank >= 3 && query->rank >= 3) {
        const int64_t times = query->sizes[query->rank - 3] / taper_max_i64(key->sizes[key->rank - 3], 1);
        k = TAPER_STEP(&s, aten_repeat_interleave_self_int, k, taper_val_int(times), taper_val_int(-3));
        v = TAPER_STEP(&s, aten_repeat_interleave_self_int, v, taper_val_int(times), taper_val_int(-3));
    }
    taper_val scores =
        taper_step_scale(&s, taper_step_matmul(&s, call->args[0], taper_step_transpose(&s, k, -2, -1)), scale);
    scores = causal ? causal_mask(&s, scores) : scores;
    if (taper_step_is_tensor(call->args[3])) {
        const bool flags = call->args[3].as.tensor->dtype == TAPER_BOOL;
        scores = !flags ? taper_step_add(&s, scores, call->args[3])
                        : TAPER_STEP(&s, aten_masked_fill_Scalar, scores,
                                     TAPER_STEP(&s, aten_logical_not, call->args[3]), taper_val_double(-INFINITY));
    }
    taper_val weights = TAPER_STEP(&s, aten_softmax_int, scores, taper_val_int(-1));
    if (dropout > 0) {
        weights = TAPER_STEP(&s, aten_dropout, weights, taper_val_double(dropout), taper_val_bool(true));
    }
    taper_steps_ret(&s, call, 0, taper_step_matmul(&s, weights, v));
    taper_steps_ret(&s, call, 1, weights);
    return taper_steps_end(&s);
}
