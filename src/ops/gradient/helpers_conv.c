// SPDX-License-Identifier: BSD-2-Clause
// Compositions of convolutions, padding and pooling, and the gradients of gradients of convolutions.
#include "ops/gradient/steps_math.h"

// Reads a list of one number or of `count` numbers.
static taper_status read_numbers(taper_steps *s, size_t at, size_t count, int64_t *numbers)
{
    size_t found;
    TAPER_TRY(taper_arg_ints(s->call, at, 0, TAPER_MAX_RANK, numbers, &found));
    for (size_t i = found; i < count; i++) {
        numbers[i] = found != 0 ? numbers[found - 1] : 0;
    }
    return TAPER_OK;
}

static taper_step_value convolved(taper_steps *s, const taper_step_value *args)
{
    return TAPER_STEP(s, aten_convolution, args[0], args[1], args[2], args[3], args[4], args[5], args[6], args[7],
                      args[8]);
}

// Composes a convolution with any number of dimensions. The input may lack the batch dimension.
TAPER_STEPS_KERNEL(taper_op_conv_steps)
{
    const taper_tensor *const input = s->args[0].as.tensor, *const weight = s->args[1].as.tensor;
    const size_t dims = weight->rank > 2 ? weight->rank - 2u : 1;
    const bool single = input->rank + 1u == weight->rank;
    int64_t numbers[4][TAPER_MAX_RANK];
    static const unsigned char lists[4] = {3, 4, 5, 7};
    taper_step_value args[9];
    for (size_t i = 0; i < 9; i++) {
        args[i] = &s->args[i];
    }
    for (size_t i = 0; i < 4; i++) {
        taper_steps_fail(s, read_numbers(s, lists[i], dims, numbers[i]));
        args[lists[i]] = taper_steps_ints(s, numbers[i], dims);
    }
    args[0] = single ? taper_step_unsqueeze(s, args[0], 0) : args[0];
    const taper_step_value result = convolved(s, args);
    return taper_steps_ret(s, 0, single ? TAPER_STEP(s, aten_squeeze_dim, result, TAPER_STEP_INT(0)) : result);
}

// Composes a convolution whose padding is "same" or "valid". If the padding is odd, "same" pads one element more at the
// end than at the start.
TAPER_STEPS_KERNEL(taper_op_conv_padding_steps)
{
    const taper_tensor *const weight = s->args[1].as.tensor;
    const size_t dims = weight->rank > 2 ? weight->rank - 2u : 1;
    int64_t stride[TAPER_MAX_RANK], dilation[TAPER_MAX_RANK], zeros[TAPER_MAX_RANK] = {0}, pad[2 * TAPER_MAX_RANK];
    const taper_string *const padding = s->args[4].as.string;
    TAPER_TRY(read_numbers(s, 3, dims, stride));
    TAPER_TRY(read_numbers(s, 5, dims, dilation));
    const bool same = padding->length == 4;
    for (size_t d = 0; d < dims; d++) {
        const int64_t total = taper_wrap_mul(dilation[d], weight->sizes[2 + d] - 1);
        pad[2 * (dims - 1 - d)] = total / 2;
        pad[2 * (dims - 1 - d) + 1] = total - total / 2;
    }
    const taper_step_value input =
        same ? TAPER_STEP(s, aten_constant_pad_nd, &s->args[0], taper_steps_ints(s, pad, 2 * dims)) : &s->args[0];
    const taper_step_value none = taper_steps_ints(s, zeros, dims);
    return taper_steps_ret(s, 0,
                           TAPER_STEP(s, taper_conv_steps, input, &s->args[1], &s->args[2],
                                      taper_steps_ints(s, stride, dims), none, taper_steps_ints(s, dilation, dims),
                                      taper_step_bool(false), none, &s->args[6]));
}

typedef struct geometry {
    size_t dims;
    int64_t stride[TAPER_MAX_RANK], padding[TAPER_MAX_RANK], dilation[TAPER_MAX_RANK], groups;
    bool transposed;
} geometry;

// Returns the gradient of the input: a transposed convolution of the result's gradient, or a plain one if the
// convolution is transposed.
static taper_step_value input_gradient(taper_steps *s, const geometry *g)
{
    const taper_tensor *const input = s->args[1].as.tensor, *const weight = s->args[2].as.tensor;
    const taper_tensor *const grad = s->args[0].as.tensor;
    int64_t extra[TAPER_MAX_RANK] = {0};
    for (size_t d = 0; d < g->dims && !g->transposed; d++) {
        const int64_t strided = taper_wrap_mul(grad->sizes[2 + d] - 1, g->stride[d]);
        const int64_t dilated = taper_wrap_mul(g->dilation[d], weight->sizes[2 + d] - 1);
        const int64_t padded = taper_wrap_add(taper_wrap_add(strided, dilated), 1);
        const int64_t made = taper_wrap_sub(padded, taper_wrap_mul(2, g->padding[d]));
        extra[d] = taper_wrap_sub(input->sizes[2 + d], made);
    }
    taper_step_value found = convolved(
        s, (taper_step_value[]){&s->args[0], &s->args[2], taper_step_none, &s->args[4], &s->args[5], &s->args[6],
                                taper_step_bool(!g->transposed), taper_steps_ints(s, extra, g->dims), &s->args[9]});
    for (size_t d = 0; d < g->dims && g->transposed; d++) { // `found` is too large if output_padding >= stride
        found = taper_step_narrow(s, found, (int64_t)d + 2, 0, input->sizes[2 + d]);
    }
    return found;
}

// Makes [C, G*N, …] of [N, G*C, …]: the channels of a group become the batch, and the batch becomes channels.
static taper_step_value fold_groups(taper_steps *s, taper_step_value value, int64_t groups)
{
    const taper_tensor *const t = taper_steps_tensor(s, value);
    int64_t sizes[TAPER_MAX_RANK + 1], order[TAPER_MAX_RANK + 1];
    if (t == NULL || t->rank >= TAPER_MAX_RANK) {
        return value;
    }
    // [N, G*C, …] -> [N, G, C, …] -> [C, G, N, …] -> [C, G*N, …]
    sizes[0] = t->sizes[0];
    sizes[1] = groups;
    sizes[2] = groups != 0 ? t->sizes[1] / groups : 0;
    for (size_t i = 0; i < t->rank + 1u; i++) {
        order[i] = (int64_t)i;
    }
    for (size_t i = 2; i < t->rank; i++) {
        sizes[i + 1] = t->sizes[i];
    }
    const size_t rank = t->rank;
    order[0] = 2;
    order[2] = 0;
    value = taper_step_reshape(s, value, sizes, rank + 1);
    value = TAPER_STEP(s, aten_permute, value, taper_steps_ints(s, order, rank + 1));
    const taper_tensor *const p = taper_steps_tensor(s, value);
    if (p == NULL) {
        return value;
    }
    int64_t folded[TAPER_MAX_RANK] = {p->sizes[0], taper_wrap_mul(p->sizes[1], p->sizes[2])};
    for (size_t i = 2; i < rank; i++) {
        folded[i] = p->sizes[i + 1];
    }
    return taper_step_reshape(s, value, folded, rank);
}

// Returns the gradient of the weight: the input, with its channels as the batch, convolved with the gradient, with the
// batch as its channels. A stride of the convolution becomes a dilation. A transposed convolution exchanges input and
// gradient.
static taper_step_value weight_gradient(taper_steps *s, const geometry *g)
{
    const taper_tensor *const weight = s->args[2].as.tensor;
    const taper_step_value large = g->transposed ? &s->args[0] : &s->args[1];
    const taper_step_value small = g->transposed ? &s->args[1] : &s->args[0];
    const int64_t zeros[TAPER_MAX_RANK] = {0};
    taper_step_value product =
        convolved(s, (taper_step_value[]){fold_groups(s, large, g->groups), taper_step_transpose(s, small, 0, 1),
                                          taper_step_none, &s->args[6], &s->args[5], &s->args[4],
                                          taper_step_bool(false), taper_steps_ints(s, zeros, g->dims), &s->args[9]});
    for (size_t d = 0; d < g->dims; d++) {
        product = taper_step_narrow(s, product, (int64_t)d + 2, 0, weight->sizes[2 + d]);
    }
    return taper_step_transpose(s, product, 0, 1);
}

// Computes the gradients of a convolution as steps, for gradients of gradients.
static taper_status gradients_in_steps(taper_steps *s)
{
    const taper_tensor *const weight = s->args[2].as.tensor, *const grad = s->args[0].as.tensor;
    geometry g = {.dims = weight->rank - 2u};
    TAPER_TRY(read_numbers(s, 4, g.dims, g.stride));
    TAPER_TRY(read_numbers(s, 5, g.dims, g.padding));
    TAPER_TRY(read_numbers(s, 6, g.dims, g.dilation));
    g.transposed = taper_steps_bool(s, 7);
    g.groups = taper_steps_int(s, 9);
    if (taper_step_mask(s, 10, 0)) {
        taper_steps_ret(s, 0, input_gradient(s, &g));
    }
    if (taper_step_mask(s, 10, 1)) {
        taper_steps_ret(s, 1, weight_gradient(s, &g));
    }
    if (taper_step_mask(s, 10, 2) && s->args[3].tag == TAPER_TENSOR) {
        int64_t dims[TAPER_MAX_RANK];
        size_t count = 0;
        for (int64_t d = 0; d < grad->rank; d++) {
            if (d != 1) {
                dims[count++] = d;
            }
        }
        taper_steps_ret(s, 2, TAPER_STEP(s, aten_sum_dim_IntList, &s->args[0], taper_steps_ints(s, dims, count)));
    }
    return s->status;
}

TAPER_STEPS_KERNEL(taper_op_convolution_gradients)
{
    taper_step_value results[3], sizes = taper_step_none;
    if (s->caller.records || !TAPER_HAS_OP(aten_convolution_backward)) {
        return gradients_in_steps(s);
    }
    if (taper_step_is_tensor(&s->args[3])) {
        sizes = taper_steps_ints(s, s->args[3].as.tensor->sizes, 1);
    }
    TAPER_STEP_ALL(s, aten_convolution_backward, results, 3, &s->args[0], &s->args[1], &s->args[2], sizes, &s->args[4],
                   &s->args[5], &s->args[6], &s->args[7], &s->args[8], &s->args[9], &s->args[10]);
    for (size_t i = 0; i < 3; i++) {
        taper_steps_ret(s, i, results[i]);
    }
    return s->status;
}
