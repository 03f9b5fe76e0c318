// SPDX-License-Identifier: BSD-2-Clause
// Compositions of normalizations, recurrent cells, attention and other layers.
#include <math.h>

#include "ops/gradient/steps_math.h"

// Reshapes a vector with one number for each channel to the rank of an input, whose channels are dimension 1.
static taper_step_value per_channel(taper_steps *s, taper_step_value value, size_t rank)
{
    int64_t sizes[TAPER_MAX_RANK];
    const taper_tensor *const vector = taper_steps_tensor(s, value);
    for (size_t i = 0; i < rank; i++) {
        sizes[i] = i == 1 && vector != NULL ? taper_tensor_numel(vector) : 1;
    }
    return taper_step_reshape(s, value, sizes, rank);
}

static taper_step_value scaled(taper_steps *s, taper_step_value value, taper_step_value weight, taper_step_value bias,
                               size_t rank)
{
    value = taper_step_is_tensor(weight) ? taper_step_mul(s, value, per_channel(s, weight, rank)) : value;
    return taper_step_is_tensor(bias) ? taper_step_add(s, value, per_channel(s, bias, rank)) : value;
}

// Subtracts the mean over the dimensions and divides by the deviation. *mean and *rstd keep the dimensions.
static taper_step_value normalized(taper_steps *s, taper_step_value x, taper_step_value dims, taper_step_value eps,
                                   taper_step_value *mean, taper_step_value *rstd)
{
    const taper_step_value yes = taper_step_bool(true);
    *mean = TAPER_STEP(s, aten_mean_dim, x, dims, yes);
    const taper_step_value centred = taper_step_sub(s, x, *mean);
    *rstd = TAPER_STEP(s, aten_mean_dim, taper_step_mul(s, centred, centred), dims, yes);
    *rstd = TAPER_STEP(s, aten_rsqrt, TAPER_STEP(s, aten_add_Scalar, *rstd, eps));
    return taper_step_mul(s, centred, *rstd);
}

// Normalizes the input with the layer's running statistics.
static taper_step_value with_running(taper_steps *s, size_t rank)
{
    taper_step_value rstd = TAPER_STEP(s, aten_add_Scalar, per_channel(s, &s->args[4], rank), &s->args[7]);
    rstd = TAPER_STEP(s, aten_rsqrt, rstd);
    return taper_step_mul(s, taper_step_sub(s, &s->args[0], per_channel(s, &s->args[3], rank)), rstd);
}

TAPER_STEPS_KERNEL(taper_op_batch_norm_steps)
{
    const taper_tensor *const input = s->args[0].as.tensor;
    int64_t dims[TAPER_MAX_RANK];
    size_t count = 0;
    const bool training = taper_steps_bool(s, 5);
    for (int64_t d = 0; d < input->rank; d++) {
        if (d != 1) {
            dims[count++] = d;
        }
    }
    taper_step_value mean = taper_step_none, rstd = taper_step_none, value;
    if (input->rank < 2) { // only an empty tensor has no channels
        value = TAPER_STEP(s, aten_clone, &s->args[0]);
        mean = rstd = taper_step_detach(s, value);
        taper_steps_ret(s, 0, value);
        taper_steps_ret(s, 1, mean);
        return taper_steps_ret(s, 2, rstd);
    }
    if (training || !taper_step_is_tensor(&s->args[3])) {
        value = normalized(s, &s->args[0], taper_steps_ints(s, dims, count), &s->args[7], &mean, &rstd);
        mean = TAPER_STEP(s, aten_reshape, taper_step_detach(s, mean), taper_steps_ints(s, (int64_t[]){-1}, 1));
        rstd = TAPER_STEP(s, aten_reshape, taper_step_detach(s, rstd), taper_steps_ints(s, (int64_t[]){-1}, 1));
    } else {
        value = with_running(s, input->rank);
        mean = rstd = TAPER_STEP(s, aten_new_zeros, &s->args[0], taper_steps_ints(s, (int64_t[]){0}, 1));
    }
    if (training && taper_step_is_tensor(&s->args[3])) { // the operator itself updates the running statistics
        TAPER_STEP(s, aten_batch_norm, taper_step_detach(s, &s->args[0]), taper_step_detach(s, &s->args[1]),
                   taper_step_detach(s, &s->args[2]), &s->args[3], &s->args[4], &s->args[5], &s->args[6], &s->args[7],
                   taper_step_bool(false));
    }
    taper_steps_ret(s, 0, scaled(s, value, &s->args[1], &s->args[2], input->rank));
    taper_steps_ret(s, 1, mean);
    return taper_steps_ret(s, 2, rstd);
}

TAPER_STEPS_KERNEL(taper_op_instance_norm_steps)
{
    const taper_tensor *const input = s->args[0].as.tensor;
    int64_t dims[TAPER_MAX_RANK];
    size_t count = 0;
    const bool from_input = taper_steps_bool(s, 5);
    for (int64_t d = 2; d < input->rank; d++) {
        dims[count++] = d;
    }
    taper_step_value mean, rstd;
    const taper_step_value value =
        from_input ? normalized(s, &s->args[0], taper_steps_ints(s, dims, count), &s->args[7], &mean, &rstd)
                   : with_running(s, input->rank);
    if (from_input && taper_step_is_tensor(&s->args[3])) { // the operator itself updates the running statistics
        TAPER_STEP(s, aten_instance_norm, taper_step_detach(s, &s->args[0]), taper_step_detach(s, &s->args[1]),
                   taper_step_detach(s, &s->args[2]), &s->args[3], &s->args[4], &s->args[5], &s->args[6], &s->args[7],
                   taper_step_bool(false));
    }
    return taper_steps_ret(s, 0, scaled(s, value, &s->args[1], &s->args[2], input->rank));
}

TAPER_STEPS_KERNEL(taper_op_group_norm_steps)
{
    const taper_tensor *const input = s->args[0].as.tensor;
    const int64_t groups = taper_steps_int(s, 1);
    if (groups <= 0 || input->rank < 2) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_ARGUMENT,
                   "group_norm needs channels and a positive number of groups");
    }
    const int64_t rows = taper_wrap_mul(input->sizes[0], groups), all = taper_tensor_numel(input);
    taper_step_value mean, rstd;
    taper_step_value value = taper_step_reshape(s, &s->args[0], (int64_t[]){rows, rows != 0 ? all / rows : 0}, 2);
    value = normalized(s, value, taper_steps_ints(s, (int64_t[]){1}, 1), &s->args[4], &mean, &rstd);
    value = taper_step_like(s, value, input);
    const int64_t each[2] = {input->sizes[0], groups}; // a mean and a standard deviation for each group
    taper_steps_ret(s, 1, taper_step_reshape(s, mean, each, 2));
    taper_steps_ret(s, 2, taper_step_reshape(s, rstd, each, 2));
    return taper_steps_ret(s, 0, scaled(s, value, &s->args[2], &s->args[3], input->rank));
}

TAPER_STEPS_KERNEL(taper_op_rms_norm_steps)
{
    const taper_tensor *const input = s->args[0].as.tensor;
    const size_t normed = s->args[1].tag == TAPER_LIST ? s->args[1].as.list->count : 1;
    int64_t dims[TAPER_MAX_RANK];
    const double least = input->dtype == TAPER_F64 ? 2.220446049250313e-16 : 1.1920928955078125e-07;
    const double eps = taper_steps_double_or(s, 3, least);
    if (normed > input->rank) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_ARGUMENT, "the input has fewer dimensions than normalized_shape");
    }
    for (size_t i = 0; i < normed; i++) {
        dims[i] = (int64_t)(input->rank - normed + i);
    }
    taper_step_value scale = taper_step_mul(s, &s->args[0], &s->args[0]);
    scale = TAPER_STEP(s, aten_mean_dim, scale, taper_steps_ints(s, dims, normed), taper_step_bool(true));
    taper_step_value value = taper_step_mul(s, &s->args[0], TAPER_STEP(s, aten_rsqrt, taper_step_shift(s, scale, eps)));
    value = taper_step_is_tensor(&s->args[2]) ? taper_step_mul(s, value, &s->args[2]) : value;
    return taper_steps_ret(s, 0, value);
}

TAPER_STEPS_KERNEL(taper_op_norm_except_dim_steps)
{
    const taper_tensor *const v = s->args[0].as.tensor;
    int64_t dims[TAPER_MAX_RANK];
    size_t count = 0;
    const int64_t dim = taper_steps_int(s, 2);
    const bool all = dim == -1;
    for (int64_t d = 0; d < v->rank; d++) {
        if (all || d != dim) {
            dims[count++] = d;
        }
    }
    return taper_steps_ret(s, 0,
                           all ? TAPER_STEP(s, aten_norm_Scalar, &s->args[0], &s->args[1])
                               : TAPER_STEP(s, aten_norm_ScalarOpt_dim, &s->args[0], &s->args[1],
                                            taper_steps_ints(s, dims, count), taper_step_bool(true)));
}

TAPER_STEPS_KERNEL(taper_op_cosine_steps)
{
    int64_t dim = taper_steps_int(s, 2);
    const double eps = taper_steps_double(s, 3);
    taper_step_value parts[2];
    for (size_t i = 0; i < 2; i++) {
        taper_step_value norm = TAPER_STEP(s, aten_linalg_vector_norm, &s->args[i], TAPER_STEP_INT(2),
                                           taper_steps_ints(s, &dim, 1), taper_step_bool(true));
        norm = TAPER_STEP(s, aten_clamp_min, norm, taper_step_double(s, eps));
        parts[i] = taper_step_div(s, &s->args[i], norm);
    }
    return taper_steps_ret(s, 0, taper_step_sum(s, taper_step_mul(s, parts[0], parts[1]), dim, false));
}

// ---- recurrent cells

static taper_step_value gate(taper_steps *s, taper_step_value all, int64_t index, int64_t size)
{
    return taper_step_narrow(s, all, -1, taper_wrap_mul(index, size), size);
}

TAPER_STEPS_KERNEL(taper_op_gru_cell_steps)
{
    const taper_tensor *const hx = s->args[1].as.tensor;
    const int64_t size = hx->rank != 0 ? hx->sizes[hx->rank - 1] : 0;
    const taper_step_value i = TAPER_STEP(s, aten_linear, &s->args[0], &s->args[2], &s->args[4]);
    const taper_step_value h = TAPER_STEP(s, aten_linear, &s->args[1], &s->args[3], &s->args[5]);
    const taper_step_value reset =
        TAPER_STEP(s, aten_sigmoid, taper_step_add(s, gate(s, i, 0, size), gate(s, h, 0, size)));
    const taper_step_value keep =
        TAPER_STEP(s, aten_sigmoid, taper_step_add(s, gate(s, i, 1, size), gate(s, h, 1, size)));
    const taper_step_value made =
        TAPER_STEP(s, aten_tanh, taper_step_add(s, gate(s, i, 2, size), taper_step_mul(s, reset, gate(s, h, 2, size))));
    return taper_steps_ret(s, 0,
                           taper_step_add(s, made, taper_step_mul(s, keep, taper_step_sub(s, &s->args[1], made))));
}

TAPER_STEPS_KERNEL(taper_op_lstm_cell_steps)
{
    const taper_list *const hx = s->args[1].as.list;
    if (hx->count != 2 || !taper_step_is_tensor(&hx->items[0]) || !taper_step_is_tensor(&hx->items[1])) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_ARGUMENT, "lstm_cell expects two hidden states");
    }
    const taper_tensor *const h = hx->items[0].as.tensor;
    const int64_t size = h->rank != 0 ? h->sizes[h->rank - 1] : 0;
    const taper_step_value all = taper_step_add(s, TAPER_STEP(s, aten_linear, &s->args[0], &s->args[2], &s->args[4]),
                                                TAPER_STEP(s, aten_linear, &hx->items[0], &s->args[3], &s->args[5]));
    const taper_step_value in = TAPER_STEP(s, aten_sigmoid, gate(s, all, 0, size));
    const taper_step_value forget = TAPER_STEP(s, aten_sigmoid, gate(s, all, 1, size));
    const taper_step_value made = TAPER_STEP(s, aten_tanh, gate(s, all, 2, size));
    const taper_step_value out = TAPER_STEP(s, aten_sigmoid, gate(s, all, 3, size));
    const taper_step_value cell =
        taper_step_add(s, taper_step_mul(s, forget, &hx->items[1]), taper_step_mul(s, in, made));
    taper_steps_ret(s, 0, taper_step_mul(s, out, TAPER_STEP(s, aten_tanh, cell)));
    return taper_steps_ret(s, 1, cell);
}

// ---- other layers

// Returns one half of the tensor along a dimension.
TAPER_STEPS_KERNEL(taper_op_chunked)
{
    const taper_tensor *const self = s->args[0].as.tensor;
    int64_t dim = taper_steps_int(s, 1);
    const int64_t half = taper_steps_int(s, 2);
    TAPER_TRY(taper_step_dim(s, &dim, self->rank));
    if (dim < 0 || dim >= self->rank) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_ARGUMENT, "the dimension to halve does not exist");
    }
    const int64_t length = self->sizes[dim] / 2;
    return taper_steps_ret(s, 0, taper_step_narrow(s, &s->args[0], dim, taper_wrap_mul(half, length), length));
}

TAPER_STEPS_KERNEL(taper_op_prelu_steps)
{
    const taper_tensor *const self = s->args[0].as.tensor, *const weight = s->args[1].as.tensor;
    const bool channels = taper_tensor_numel(weight) != 1 && self->rank > 1;
    taper_step_value slope = channels ? per_channel(s, &s->args[1], self->rank)
                                      : taper_step_reshape(s, &s->args[1], (int64_t[]){taper_tensor_numel(weight)},
                                                           self->rank == 0 && taper_tensor_numel(weight) == 1 ? 0 : 1);
    const taper_step_value positive = TAPER_STEP(s, aten_gt_Scalar, &s->args[0], TAPER_STEP_INT(0));
    return taper_steps_ret(s, 0, taper_step_where(s, positive, &s->args[0], taper_step_mul(s, &s->args[0], slope)));
}

TAPER_STEPS_KERNEL(taper_op_rrelu_steps)
{
    const double lower = taper_steps_double(s, 1);
    const double upper = taper_steps_double(s, 2);
    const bool training = taper_steps_bool(s, 3);
    taper_step_value slope;
    if (training) {
        slope = TAPER_STEP(s, aten_rand_like, &s->args[0]);
        slope = taper_step_shift(s, taper_step_scale(s, slope, upper - lower), lower);
        slope = taper_step_mul(s, slope, &s->args[0]);
    } else {
        slope = taper_step_scale(s, &s->args[0], (lower + upper) / 2);
    }
    const taper_step_value positive = TAPER_STEP(s, aten_ge_Scalar, &s->args[0], TAPER_STEP_INT(0));
    return taper_steps_ret(s, 0, taper_step_where(s, positive, &s->args[0], slope));
}

// Multiplies each element of the first input by each element of the second input, and sums the products, each times the
// weight of its pair.
TAPER_STEPS_KERNEL(taper_op_bilinear_steps)
{
    const taper_tensor *const weight = s->args[2].as.tensor, *const first = s->args[0].as.tensor;
    if (weight->rank != 3 || first->rank == 0) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_ARGUMENT, "bilinear expects a weight of three dimensions");
    }
    const int64_t outputs = weight->sizes[0], pairs = taper_wrap_mul(weight->sizes[1], weight->sizes[2]);
    int64_t sizes[TAPER_MAX_RANK];
    memcpy(sizes, first->sizes, sizeof sizes);
    taper_step_value value =
        taper_step_mul(s, taper_step_unsqueeze(s, &s->args[0], -1), taper_step_unsqueeze(s, &s->args[1], -2));
    sizes[first->rank - 1] = pairs;
    value = taper_step_reshape(s, value, sizes, first->rank);
    const taper_step_value rows = taper_step_reshape(s, &s->args[2], (int64_t[]){outputs, pairs}, 2);
    value = TAPER_STEP(s, aten_linear, value, rows, &s->args[3]);
    return taper_steps_ret(s, 0, value);
}

// Returns the mask that hides later keys from a query, as a tensor of zeros and -inf.
static taper_step_value causal_mask(taper_steps *s, taper_step_value scores)
{
    const taper_tensor *const t = taper_steps_tensor(s, scores);
    if (t == NULL) {
        return scores;
    }
    const taper_step_value sizes = taper_steps_ints(s, t->sizes + t->rank - 2, 2);
    taper_step_value ones = TAPER_STEP(s, aten_new_ones, taper_step_detach(s, scores), sizes);
    ones = TAPER_STEP(s, aten_tril, ones, TAPER_STEP_INT(0));
    const taper_step_value hidden = TAPER_STEP(s, aten_eq_Scalar, ones, TAPER_STEP_INT(0));
    return TAPER_STEP(s, aten_masked_fill_Scalar, scores, hidden, taper_step_double(s, -INFINITY));
}

TAPER_STEPS_KERNEL(taper_op_attention_steps)
{
    const taper_tensor *const query = s->args[0].as.tensor, *const key = s->args[1].as.tensor;
    const double width = query->rank != 0 ? (double)query->sizes[query->rank - 1] : 1;
    const double dropout = taper_steps_double(s, 4);
    const bool causal = taper_steps_bool(s, 5);
    const double scale = taper_steps_double_or(s, 6, 1 / sqrt(width));
    const bool shares = taper_steps_bool(s, 7);
    if (query->rank < 2 || key->rank < 2 || s->args[2].as.tensor->rank < 2) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_ARGUMENT, "attention expects tensors of at least 2 dimensions");
    }
    taper_step_value k = &s->args[1], v = &s->args[2];
    if (shares && key->rank >= 3 && query->rank >= 3) {
        const int64_t times = query->sizes[query->rank - 3] / taper_max_i64(key->sizes[key->rank - 3], 1);
        k = TAPER_STEP(s, aten_repeat_interleave_self_int, k, taper_step_int(s, times), TAPER_STEP_INT(-3));
        v = TAPER_STEP(s, aten_repeat_interleave_self_int, v, taper_step_int(s, times), TAPER_STEP_INT(-3));
    }
    taper_step_value scores =
        taper_step_scale(s, taper_step_matmul(s, &s->args[0], taper_step_transpose(s, k, -2, -1)), scale);
    scores = causal ? causal_mask(s, scores) : scores;
    if (taper_step_is_tensor(&s->args[3])) {
        const bool flags = s->args[3].as.tensor->dtype == TAPER_BOOL;
        scores = !flags ? taper_step_add(s, scores, &s->args[3])
                        : TAPER_STEP(s, aten_masked_fill_Scalar, scores, TAPER_STEP(s, aten_logical_not, &s->args[3]),
                                     taper_step_double(s, -INFINITY));
    }
    taper_step_value weights = TAPER_STEP(s, aten_softmax_int, scores, TAPER_STEP_INT(-1));
    if (dropout > 0) {
        weights = TAPER_STEP(s, aten_dropout, weights, taper_step_double(s, dropout), taper_step_bool(true));
    }
    taper_steps_ret(s, 0, taper_step_matmul(s, weights, v));
    return taper_steps_ret(s, 1, weights);
}
