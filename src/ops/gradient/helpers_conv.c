// SPDX-License-Identifier: BSD-2-Clause
// Compositions of convolutions, padding and pooling, and the gradients of gradients of convolutions.
#include "ops/gradient/steps_math.h"

// Reads a list of one number or of `count` numbers.
static taper_status read_numbers(const taper_call *call, size_t at, size_t count, int64_t *numbers)
{
    size_t found;
    TAPER_TRY(taper_arg_ints(call, at, 0, TAPER_MAX_RANK, numbers, &found));
    for (size_t i = found; i < count; i++) {
        numbers[i] = found != 0 ? numbers[found - 1] : 0;
    }
    return TAPER_OK;
}

static taper_val convolved(taper_steps *s, const taper_val *args)
{
    return TAPER_STEP(s, aten_convolution, args[0], args[1], args[2], args[3], args[4], args[5], args[6], args[7],
                      args[8]);
}

// A convolution of any dimensions, whose input may lack the batch.
TAPER_STEPS_KERNEL(taper_op_conv_steps)
{
    taper_steps s;
    const taper_tensor *const input = call->args[0].as.tensor, *const weight = call->args[1].as.tensor;
    const size_t dims = weight->rank > 2 ? weight->rank - 2u : 1;
    const bool single = input->rank + 1u == weight->rank;
    int64_t numbers[4][TAPER_MAX_RANK];
    static const unsigned char lists[4] = {3, 4, 5, 7};
    taper_val args[9];
    memcpy(args, call->args, sizeof args);
    taper_steps_begin(&s, call->run);
    for (size_t i = 0; i < 4; i++) {
        taper_steps_fail(&s, read_numbers(call, lists[i], dims, numbers[i]));
        args[lists[i]] = taper_steps_ints(&s, numbers[i], dims);
    }
    args[0] = single ? taper_step_unsqueeze(&s, args[0], 0) : args[0];
    const taper_val result = convolved(&s, args);
    taper_steps_ret(&s, call, 0, single ? TAPER_STEP(&s, aten_squeeze_dim, result, taper_val_int(0)) : result);
    return taper_steps_end(&s);
}

// A convolution whose padding is "same" or "valid". "same" pads one more at the end if the padding is odd.
TAPER_STEPS_KERNEL(taper_op_conv_padding_steps)
{
    taper_steps s;
    const taper_string *padding;
    const taper_tensor *const weight = call->args[1].as.tensor;
    const size_t dims = weight->rank > 2 ? weight->rank - 2u : 1;
    int64_t stride[TAPER_MAX_RANK], dilation[TAPER_MAX_RANK], zeros[TAPER_MAX_RANK] = {0}, pad[2 * TAPER_MAX_RANK];
    TAPER_TRY(taper_arg_string(call, 4, &padding));
    TAPER_TRY(read_numbers(call, 3, dims, stride));
    TAPER_TRY(read_numbers(call, 5, dims, dilation));
    const bool same = padding->length == 4;
    for (size_t d = 0; d < dims; d++) {
        const int64_t total = taper_wrap_mul(dilation[d], weight->sizes[2 + d] - 1);
        pad[2 * (dims - 1 - d)] = total / 2;
        pad[2 * (dims - 1 - d) + 1] = total - total / 2;
    }
    taper_steps_begin(&s, call->run);
    const taper_val input =
        same ? TAPER_STEP(&s, aten_constant_pad_nd, call->args[0], taper_steps_ints(&s, pad, 2 * dims)) : call->args[0];
    const taper_val none = taper_steps_ints(&s, zeros, dims);
    taper_steps_ret(&s, call, 0,
                    TAPER_STEP(&s, taper_conv_steps, input, call->args[1], call->args[2],
                               taper_steps_ints(&s, stride, dims), none, taper_steps_ints(&s, dilation, dims),
                               taper_val_bool(false), none, call->args[6]));
    return taper_steps_end(&s);
}

typedef struct geometry {
    size_t dims;
    int64_t stride[TAPER_MAX_RANK], padding[TAPER_MAX_RANK], dilation[TAPER_MAX_RANK], groups;
    bool transposed;
} geometry;

// Returns the gradient of the input, which is a convolution in the other direction.
static taper_val input_gradient(taper_steps *s, const taper_call *call, const geometry *g)
{
    const taper_tensor *const input = call->args[1].as.tensor, *const weight = call->args[2].as.tensor;
    const taper_tensor *const grad = call->args[0].as.tensor;
    int64_t extra[TAPER_MAX_RANK] = {0};
    for (size_t d = 0; d < g->dims && !g->transposed; d++) {
        const int64_t strided = taper_wrap_mul(grad->sizes[2 + d] - 1, g->stride[d]);
        const int64_t dilated = taper_wrap_mul(g->dilation[d], weight->sizes[2 + d] - 1);
        const int64_t padded = taper_wrap_add(taper_wrap_add(strided, dilated), 1);
        const int64_t made = taper_wrap_sub(padded, taper_wrap_mul(2, g->padding[d]));
        extra[d] = taper_wrap_sub(input->sizes[2 + d], made);
    }
    taper_val found = convolved(s, (taper_val[]){call->args[0], call->args[2], taper_val_none(), call->args[4],
                                                 call->args[5], call->args[6], taper_val_bool(!g->transposed),
                                                 taper_steps_ints(s, extra, g->dims), call->args[9]});
    for (size_t d = 0; d < g->dims && g->transposed; d++) { // output_padding may have added more than a stride
        found = taper_step_narrow(s, found, (int64_t)d + 2, 0, input->sizes[2 + d]);
    }
    return found;
}

// Turns [N, G*C, …] into [C, G*N, …]: the channels of a group become the batch, and the batch becomes channels.
static taper_val fold_groups(taper_steps *s, taper_val value, int64_t groups)
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

// Returns the gradient of the weight: the convolution of the input with the gradient. The channels of the input become
// its batch, and the batch becomes the channels of both tensors. A stride of the convolution becomes a dilation. A
// transposed convolution exchanges input and gradient.
static taper_val weight_gradient(taper_steps *s, const taper_call *call, const geometry *g)
{
    const taper_tensor *const weight = call->args[2].as.tensor;
    const taper_val large = g->transposed ? call->args[0] : call->args[1];
    const taper_val small = g->transposed ? call->args[1] : call->args[0];
    const int64_t zeros[TAPER_MAX_RANK] = {0};
    taper_val product =
        convolved(s, (taper_val[]){fold_groups(s, large, g->groups), taper_step_transpose(s, small, 0, 1),
                                   taper_val_none(), call->args[6], call->args[5], call->args[4], taper_val_bool(false),
                                   taper_steps_ints(s, zeros, g->dims), call->args[9]});
    for (size_t d = 0; d < g->dims; d++) {
        product = taper_step_narrow(s, product, (int64_t)d + 2, 0, weight->sizes[2 + d]);
    }
    return taper_step_transpose(s, product, 0, 1);
}

// Computes the gradients of a convolution in steps, so that they have gradients too.
static taper_status gradients_in_steps(taper_call *call)
{
    taper_steps s;
    const taper_tensor *const weight = call->args[2].as.tensor, *const grad = call->args[0].as.tensor;
    geometry g = {.dims = weight->rank - 2u};
    TAPER_TRY(read_numbers(call, 4, g.dims, g.stride));
    TAPER_TRY(read_numbers(call, 5, g.dims, g.padding));
    TAPER_TRY(read_numbers(call, 6, g.dims, g.dilation));
    TAPER_TRY(taper_arg_bool(call, 7, &g.transposed));
    TAPER_TRY(taper_arg_int(call, 9, &g.groups));
    taper_steps_begin(&s, call->run);
    if (taper_step_mask(call, 10, 0)) {
        taper_steps_ret(&s, call, 0, input_gradient(&s, call, &g));
    }
    if (taper_step_mask(call, 10, 1)) {
        taper_steps_ret(&s, call, 1, weight_gradient(&s, call, &g));
    }
    if (taper_step_mask(call, 10, 2) && call->args[3].tag == TAPER_TENSOR) {
        int64_t dims[TAPER_MAX_RANK];
        size_t count = 0;
        for (int64_t d = 0; d < grad->rank; d++) {
            if (d != 1) {
                dims[count++] = d;
            }
        }
        taper_steps_ret(&s, call, 2,
                        TAPER_STEP(&s, aten_sum_dim_IntList, call->args[0], taper_steps_ints(&s, dims, count)));
    }
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_convolution_gradients)
{
    taper_tape_caller caller = {call->run, false};
    const taper_op *const op = TAPER_OP(aten_convolution_backward);
    taper_val sizes = taper_val_none();
    if ((call->run->tape != NULL && call->run->tape->records_steps) || op == NULL) {
        return gradients_in_steps(call);
    }
    if (call->args[3].tag == TAPER_TENSOR) {
        taper_list *const list = taper_list_new(call->run->heap, &taper_type_int, 1);
        if (list == NULL) {
            return taper_fail_memory(call->run->error);
        }
        list->items[list->count++] = taper_val_int(call->args[3].as.tensor->sizes[0]);
        sizes = TAPER_VAL(list);
    }
    taper_val args[11] = {call->args[0], call->args[1], call->args[2], sizes,         call->args[4], call->args[5],
                          call->args[6], call->args[7], call->args[8], call->args[9], call->args[10]};
    const taper_status status = taper_tape_call_op(&caller, op, args, 11, call->rets, 3);
    taper_val_release(sizes);
    return status;
}
