// SPDX-License-Identifier: BSD-2-Clause
// Steps: element-wise operators, which run as a kernel of their own, or at the end of the kernel that computes their
// input.
#include "backends/gpu/gpu_emit.h"

#include <math.h>
#include <string.h>

static bool is_pair(uint32_t step)
{
    return step == TAPER_GPU_STEP_ADD || step == TAPER_GPU_STEP_SUB || step == TAPER_GPU_STEP_RSUB ||
           step == TAPER_GPU_STEP_MUL || step == TAPER_GPU_STEP_DIV || step == TAPER_GPU_STEP_MAX ||
           step == TAPER_GPU_STEP_MIN || step == TAPER_GPU_STEP_PRELU || step == TAPER_GPU_STEP_MASK ||
           step == TAPER_GPU_STEP_ADD_RELU || (step >= TAPER_GPU_STEP_POWER && step <= TAPER_GPU_STEP_FLOOR_DIVIDE) ||
           (step >= TAPER_GPU_STEP_EQ && step <= TAPER_GPU_STEP_XOR);
}

bool taper_gpu_is_number(const taper_gpu_emitter *e, const taper_ir_value *value, double *number)
{
    const taper_val *constant = taper_read_constant(&e->reader, value);
    if (constant == NULL) {
        return false;
    }
    if (constant->tag == TAPER_INT || constant->tag == TAPER_DOUBLE) {
        *number = constant->tag == TAPER_INT ? (double)constant->as.i : constant->as.f;
        return true;
    }
    if (constant->tag != TAPER_TENSOR || constant->as.tensor->rank != 0) {
        return false;
    }
    const void *data = taper_tensor_data(constant->as.tensor);
    switch (constant->as.tensor->dtype) {
    case TAPER_F32:
        *number = *(const float *)data;
        return true;
    case TAPER_F64:
        *number = *(const double *)data;
        return true;
    case TAPER_I64:
        *number = (double)*(const int64_t *)data;
        return true;
    default:
        return false;
    }
}

static taper_status read_bounds(taper_gpu_emitter *e, const taper_node *node, double *low, double *high)
{
    double least, most;
    TAPER_TRY(taper_read_number(&e->reader, node, "min", -INFINITY, &least));
    TAPER_TRY(taper_read_number(&e->reader, node, "max", INFINITY, &most));
    TAPER_TRY(taper_read_number(&e->reader, node, "min_val", least, low));
    TAPER_TRY(taper_read_number(&e->reader, node, "max_val", most, high));
    if (TAPER_FIELD(taper_node_facts(node), FUNCTION) == TAPER_FUNCTION_RELU6) {
        *low = 0;
        *high = 6;
    }
    *low = *low > *high ? *high : *low; // torch.clamp returns the upper bound if the lower bound exceeds it
    return TAPER_OK;
}

// Reads the step and its numbers for an operator on one tensor.
static taper_status read_numbers(taper_gpu_emitter *e, const taper_node *node, uint32_t *step, double *low,
                                 double *high)
{
    double scale, input_scale;
    *low = *high = 0;
    switch (*step) {
    case TAPER_GPU_STEP_RELU:
        *step = TAPER_GPU_STEP_CLAMP;
        *high = INFINITY;
        return TAPER_OK;
    case TAPER_GPU_STEP_CLAMP:
        return read_bounds(e, node, low, high);
    case TAPER_GPU_STEP_LEAKY_RELU:
        return taper_read_number(&e->reader, node, "negative_slope", 0.01, low);
    case TAPER_GPU_STEP_ELU:
        TAPER_TRY(taper_read_number(&e->reader, node, "scale", 1, &scale));
        TAPER_TRY(taper_read_number(&e->reader, node, "input_scale", 1, &input_scale));
        TAPER_GPU_REFUSE(e, scale != 1 || input_scale != 1, "an ELU with scales");
        return taper_read_number(&e->reader, node, "alpha", 1, low);
    case TAPER_GPU_STEP_HARDSHRINK:
        return taper_read_number(&e->reader, node, "lambd", 0.5, low);
    case TAPER_GPU_STEP_THRESHOLD:
        TAPER_TRY(taper_read_number(&e->reader, node, "threshold", 0, low));
        return taper_read_number(&e->reader, node, "value", 0, high);
    case TAPER_GPU_STEP_SOFTPLUS:
        TAPER_TRY(taper_read_number(&e->reader, node, "beta", 1, low));
        return taper_read_number(&e->reader, node, "threshold", 20, high);
    case TAPER_GPU_STEP_POW:
        TAPER_TRY(taper_read_number(&e->reader, node, "exponent", 0, low));
        *step = *low == 2      ? TAPER_GPU_STEP_SQUARE
                : *low == 0.5  ? TAPER_GPU_STEP_SQRT
                : *low == 1    ? TAPER_GPU_STEP_IDENTITY
                : *low == -0.5 ? TAPER_GPU_STEP_RSQRT
                : *low == -1   ? TAPER_GPU_STEP_RECIPROCAL
                               : TAPER_GPU_STEP_POWER;
        return TAPER_OK;
    case TAPER_GPU_STEP_GELU: {
        const taper_val *how = taper_read_constant(&e->reader, taper_read_argument(node, "approximate"));
        *step = how != NULL && taper_val_string_is(*how, "tanh") ? TAPER_GPU_STEP_GELU_TANH : TAPER_GPU_STEP_GELU;
        return TAPER_OK;
    }
    default:
        return TAPER_OK;
    }
}

static void append(taper_gpu_chain *chain, uint32_t code, double low, double high)
{
    chain->codes[chain->count] = code;
    chain->low[chain->count] = (float)low;
    chain->high[chain->count++] = (float)high;
}

void taper_gpu_add_clamp(taper_gpu_chain *chain, double min, double max)
{
    if (min > -INFINITY || max < INFINITY) {
        append(chain, TAPER_GPU_STEP_CLAMP, min > max ? max : min, max);
    }
}

void taper_gpu_append(taper_gpu_chain *chain, taper_gpu_step step, const taper_gpu_view *operand, double low,
                      double high)
{
    uint32_t code = step;
    if (operand != NULL) {
        code |= (uint32_t)(chain->operand_count == 0 ? TAPER_GPU_FROM_E : TAPER_GPU_FROM_F) << 8;
        chain->operands[chain->operand_count++] = *operand;
    }
    append(chain, code, low, high);
}

// Appends an operation with a number, such as v + n * alpha.
static taper_status append_number(taper_gpu_emitter *e, taper_gpu_chain *chain, uint32_t step, double n, double alpha)
{
    switch (step) {
    case TAPER_GPU_STEP_ADD:
        append(chain, TAPER_GPU_STEP_ADD, n, alpha);
        break;
    case TAPER_GPU_STEP_SUB:
        append(chain, TAPER_GPU_STEP_ADD, n, -alpha);
        break;
    case TAPER_GPU_STEP_RSUB:
        append(chain, TAPER_GPU_STEP_SUB_FROM, n, alpha);
        break;
    default:
        TAPER_GPU_REFUSE(e, step == TAPER_GPU_STEP_PRELU, "a slope that is a number");
        append(chain, step, n, 0);
    }
    return TAPER_OK;
}

// Appends an operation with a tensor as a step. If `swapped` is set, the chain's value is the operator's second
// argument, otherwise its first.
static void append_operand(taper_gpu_chain *chain, uint32_t step, bool swapped, const taper_gpu_view *operand,
                           bool splat, double alpha)
{
    const uint32_t from = chain->operand_count == 0 ? TAPER_GPU_FROM_E : TAPER_GPU_FROM_F;
    const uint32_t where = from << 8 | (splat ? TAPER_GPU_SPLAT : 0);
    chain->operands[chain->operand_count++] = *operand;
    switch (step) {
    case TAPER_GPU_STEP_ADD: // if `swapped` is set, alpha is 1
        append(chain, TAPER_GPU_STEP_ADD | where, 0, alpha);
        break;
    case TAPER_GPU_STEP_SUB:
        append(chain, (swapped ? TAPER_GPU_STEP_SUB_FROM : TAPER_GPU_STEP_ADD) | where, 0, swapped ? 1 : -alpha);
        break;
    case TAPER_GPU_STEP_RSUB:
        append(chain, (swapped ? TAPER_GPU_STEP_ADD : TAPER_GPU_STEP_SUB_FROM) | where, 0, swapped ? -1 : alpha);
        break;
    case TAPER_GPU_STEP_DIV:
        append(chain, (swapped ? TAPER_GPU_STEP_DIV_INTO : TAPER_GPU_STEP_DIV) | where, 0, 0);
        break;
    case TAPER_GPU_STEP_POWER:
        append(chain, (swapped ? TAPER_GPU_STEP_POWER_INTO : TAPER_GPU_STEP_POWER) | where, 0, 0);
        break;
    default:
        append(chain, step | where, 0, alpha);
    }
}

static bool same_sizes(const taper_shape *a, const taper_shape *b)
{
    return a->rank == b->rank && a->rank >= 0 && memcmp(a->sizes, b->sizes, (size_t)a->rank * sizeof *a->sizes) == 0;
}

taper_status taper_gpu_operand_like(taper_gpu_emitter *e, const taper_ir_value *other, const taper_shape *shape,
                                    int packed, bool channels, bool repacks, taper_gpu_view *view, bool *splat)
{
    taper_gpu_view like, there;
    int64_t vectors;
    TAPER_GPU_REFUSE(e, !taper_gpu_view_dense(shape, packed, &like, &vectors), "a tensor that is too large");
    TAPER_TRY(taper_gpu_operand_vectors(e, other, &there));
    // The tensor has one element for each channel. Channels are dimension 1 of the result.
    if (channels && there.sizes[0] != 1 && there.rank == 1 && shape->rank > 1) {
        for (int d = 1; d < shape->rank - 1; d++) {
            there.sizes[d] = 1;
        }
        there.rank = shape->rank - 1;
    }
    if (taper_gpu_view_broadcast(&there, &like, view, splat)) {
        return TAPER_OK;
    }
    const int same = packed - (shape->rank - there.rank);
    TAPER_GPU_REFUSE(e, !repacks || same < 0 || there.packed == same, "tensors with different memory layouts");
    const taper_gpu_view before = there;
    TAPER_TRY(taper_gpu_repack(e, &before, same, &there));
    TAPER_GPU_REFUSE(e, !taper_gpu_view_broadcast(&there, &like, view, splat), "tensors with different memory layouts");
    return TAPER_OK;
}

// Returns true if the value is already computed, or comes from outside the segment.
static bool is_there(const taper_gpu_emitter *e, const taper_ir_value *value)
{
    return value->block != e->known->body || e->values[value->id - e->first_id].made;
}

// Reads the arguments of a binary operator that are not operands, such as alpha.
static taper_status read_alpha(taper_gpu_emitter *e, const taper_node *node, uint32_t *step, double *alpha)
{
    const taper_val *mode = taper_read_constant(&e->reader, taper_read_argument(node, "rounding_mode"));
    if (mode != NULL && mode->tag != TAPER_NONE) {
        TAPER_GPU_REFUSE(e, !taper_val_string_is(*mode, "floor"), "a division that rounds toward zero");
        *step = TAPER_GPU_STEP_FLOOR_DIVIDE;
    }
    return taper_read_number(&e->reader, node, "alpha", 1, alpha);
}

static int dtype_at(const taper_gpu_emitter *e, const taper_node *node, size_t at)
{
    const taper_ir_value *value = at < node->input_count ? taper_node_in(node, at) : NULL;
    const bool tensor = value != NULL && value->type != NULL && value->type->kind == TAPER_TYPE_TENSOR;
    return tensor ? taper_gpu_shape(e, value).dtype : -1;
}

static bool may_be(int dtype, int wanted)
{
    return dtype < 0 || dtype == wanted;
}

// Vectors contain only floats. For integers and bool, PyTorch's result can differ from a result computed with floats,
// so these cases are refused.
static taper_status check_dtypes(taper_gpu_emitter *e, const taper_node *node, uint32_t step)
{
    const int a = dtype_at(e, node, 0), b = dtype_at(e, node, 1);
    const int result = taper_gpu_shape(e, &node->outputs[0]).dtype;
    const taper_val *number = taper_read_constant(&e->reader, node->input_count > 1 ? taper_node_in(node, 1) : NULL);
    TAPER_GPU_REFUSE(e, a == TAPER_QU8 || b == TAPER_QU8, "a quantized tensor");
    if (taper_gpu_step_is_truth(step)) {
        TAPER_GPU_REFUSE(e, !may_be(result, TAPER_BOOL), "a truth of another dtype");
        return TAPER_OK;
    }
    if (!is_pair(step) || step == TAPER_GPU_STEP_MASK || step == TAPER_GPU_STEP_PRELU) {
        TAPER_GPU_REFUSE(e, !may_be(a, TAPER_F32) || (step == TAPER_GPU_STEP_MASK && !may_be(b, TAPER_BOOL)),
                         "a tensor of other than float32");
        return TAPER_OK;
    }
    const bool truths = a == TAPER_BOOL && b == TAPER_BOOL && result == TAPER_BOOL;
    if (truths && (step == TAPER_GPU_STEP_MUL || step == TAPER_GPU_STEP_MAX || step == TAPER_GPU_STEP_MIN)) {
        return TAPER_OK;
    }
    const bool floats = may_be(a, TAPER_F32) || b == TAPER_F32 || (number != NULL && number->tag == TAPER_DOUBLE) ||
                        (e->asking && b < 0);
    TAPER_GPU_REFUSE(e, !floats || !may_be(result, TAPER_F32), "arithmetic of whole numbers, or of truths");
    TAPER_GPU_REFUSE(
        e, (step == TAPER_GPU_STEP_SUB || step == TAPER_GPU_STEP_RSUB) && (a == TAPER_BOOL || b == TAPER_BOOL),
        "a difference of truths");
    return TAPER_OK;
}

// Appends the node as a step on v, one of the node's arguments. Returns TAPER_DECLINED, without changes, if the node
// cannot be a step.
static taper_status append_one(taper_gpu_emitter *e, const taper_node *node, uint32_t code, const taper_ir_value *v,
                               const taper_shape *shape, int packed, bool repacks, taper_gpu_chain *chain)
{
    double low, high, alpha = 1, number;
    uint32_t step = code;
    TAPER_TRY(check_dtypes(e, node, step));
    if (!is_pair(step)) {
        TAPER_GPU_REFUSE(e, taper_node_in(node, 0) != v, "it reads another tensor");
        TAPER_TRY(read_numbers(e, node, &step, &low, &high));
        TAPER_GPU_REFUSE(e, chain->only_plain && !taper_gpu_step_is_plain(step), "a step that the kernel has not");
        TAPER_GPU_REFUSE(e, !chain->all && taper_gpu_step_is_rare(step), "a step that the kernel has not");
        if (step != TAPER_GPU_STEP_IDENTITY) {
            append(chain, step, low, high);
        }
        return TAPER_OK;
    }
    const bool swapped = taper_node_in(node, 0) != v;
    if (step == TAPER_GPU_STEP_MASK) {
        TAPER_GPU_REFUSE(e, swapped || !taper_gpu_is_number(e, taper_node_in(node, 2), &high),
                         "a mask of another order, or with a tensor");
    }
    TAPER_GPU_REFUSE(e, swapped && step >= TAPER_GPU_STEP_LT && step <= TAPER_GPU_STEP_GE, "an order that is not had");
    TAPER_TRY(read_alpha(e, node, &step, &alpha));
    TAPER_GPU_REFUSE(e, taper_gpu_step_is_rare(step) && (!chain->all || (swapped && step != TAPER_GPU_STEP_POWER)),
                     "a step that the kernel has not");
    TAPER_GPU_REFUSE(e,
                     chain->only_plain && step != TAPER_GPU_STEP_ADD && step != TAPER_GPU_STEP_SUB &&
                         step != TAPER_GPU_STEP_RSUB && step != TAPER_GPU_STEP_MUL && step != TAPER_GPU_STEP_PRELU,
                     "a step that the kernel has not");
    const taper_ir_value *other = taper_node_in(node, swapped ? 0 : 1);
    TAPER_GPU_REFUSE(e, swapped && (alpha != 1 || step == TAPER_GPU_STEP_PRELU), "an order that is not had");
    if (!swapped && step != TAPER_GPU_STEP_MASK && taper_gpu_is_number(e, other, &number)) {
        return append_number(e, chain, step, number, alpha);
    }
    TAPER_GPU_REFUSE(e, chain->operand_count == chain->most_operands || !is_there(e, other), "no room for an operand");
    taper_gpu_view view;
    bool splat;
    TAPER_TRY(taper_gpu_operand_like(e, other, shape, packed, step == TAPER_GPU_STEP_PRELU, repacks, &view, &splat));
    append_operand(chain, step, swapped, &view, splat, step == TAPER_GPU_STEP_MASK ? high : alpha);
    return TAPER_OK;
}

// Does what append_one does, also for operators that are two steps.
static taper_status append_node(taper_gpu_emitter *e, const taper_node *node, uint32_t code, const taper_ir_value *v,
                                const taper_shape *shape, int packed, bool repacks, taper_gpu_chain *chain)
{
    const bool relu = code == TAPER_GPU_STEP_ADD_RELU;
    const uint32_t most = chain->most != 0 ? chain->most : TAPER_GPU_STEPS;
    TAPER_GPU_REFUSE(e, chain->count + relu >= most, "more steps than there are");
    TAPER_TRY(append_one(e, node, relu ? TAPER_GPU_STEP_ADD : code, v, shape, packed, repacks, chain));
    if (relu) {
        append(chain, TAPER_GPU_STEP_CLAMP, 0, INFINITY);
    }
    return TAPER_OK;
}

taper_status taper_gpu_take_steps(taper_gpu_emitter *e, const taper_ir_value **value, int packed, uint32_t most,
                                  taper_gpu_chain *chain)
{
    chain->most_operands = most;
    for (;;) {
        const taper_ir_value *v = *value;
        const taper_node *user = taper_value_used_once(v) ? v->uses->user : NULL;
        if (user == NULL || user->block != e->known->body || user->output_count != 1) {
            return TAPER_OK;
        }
        const taper_gpu_rule_row *row = taper_gpu_find_rule(user);
        const taper_shape before = taper_gpu_shape(e, v), after = taper_gpu_shape(e, &user->outputs[0]);
        if (row == NULL || row->rule != taper_gpu_rule_step || !same_sizes(&before, &after) ||
            !taper_gpu_is_known(&after)) {
            return TAPER_OK;
        }
        const taper_status status = append_node(e, user, row->code, v, &before, packed, false, chain);
        if (status == TAPER_DECLINED) {
            return TAPER_OK;
        }
        TAPER_TRY(status);
        e->values[user->outputs[0].id - e->first_id].done = true;
        *value = &user->outputs[0];
    }
}

// ---- an element-wise operator that runs alone

static taper_status ask(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    double low, high, number;
    uint32_t step = code;
    TAPER_TRY(taper_gpu_ask_operand_of(e, taper_node_in(node, 0), TAPER_GPU_ANY));
    TAPER_TRY(check_dtypes(e, node, step));
    if (!is_pair(step)) {
        return read_numbers(e, node, &step, &low, &high);
    }
    TAPER_TRY(read_alpha(e, node, &step, &number));
    const taper_ir_value *other = taper_node_in(node, 1);
    if (taper_gpu_is_number(e, other, &number) ||
        (other->type != NULL && other->type->kind != TAPER_TYPE_TENSOR && taper_value_constant(other) == NULL)) {
        return TAPER_OK; // the step's numbers are known only when a call is recorded
    }
    return taper_gpu_ask_operand_of(e, other, TAPER_GPU_ANY);
}

static int choose_packed(const taper_gpu_emitter *e, const taper_node *node, const taper_gpu_view *x, uint32_t code,
                         const taper_shape *shape)
{
    const taper_shape first = taper_gpu_shape(e, taper_node_in(node, 0));
    if (same_sizes(&first, shape) || !is_pair(code)) {
        return x->packed;
    }
    const taper_shape second = taper_gpu_shape(e, taper_node_in(node, 1));
    const taper_ir_value *other = taper_node_in(node, 1);
    if (same_sizes(&second, shape) && other->block == e->known->body && e->values[other->id - e->first_id].made) {
        return e->values[other->id - e->first_id].view.packed;
    }
    return taper_gpu_usual_packed(shape->rank);
}

taper_status taper_gpu_elementwise(taper_gpu_emitter *e, const taper_gpu_view *in, bool splat,
                                   const taper_gpu_chain *chain, const taper_gpu_view *out)
{
    const taper_gpu_view *views[4] = {out, in, &chain->operands[0], &chain->operands[1]};
    taper_gpu_loops loops;
    taper_gpu_work *w;
    uint32_t at = 0;
    TAPER_GPU_REFUSE(e, !taper_gpu_view_loops(views, 2 + chain->operand_count, &loops),
                     "tensors of more dimensions than a kernel has loops");
    TAPER_TRY(taper_gpu_add_work(e->program, &w));
    w->kernel = TAPER_GPU_KERNEL_ELEMENTWISE;
    TAPER_TRY(taper_gpu_bind(e, w, chain, out, &loops, 2));
    w->buffers[1] = in->buffer;
    taper_gpu_put_strides(w, &at, in, loops.strides[1]);
    w->constants[11] = splat;
    w->threads[0] = (uint32_t)loops.sizes[2];
    w->threads[1] = (uint32_t)loops.sizes[1];
    w->threads[2] = (uint32_t)(loops.sizes[0] * taper_gpu_extent(out, out->packed));
    return TAPER_OK;
}

taper_status taper_gpu_rule_step(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_ir_value *result = &node->outputs[0];
    const taper_shape shape = taper_gpu_shape(e, result);
    taper_gpu_view x, in, out;
    taper_gpu_chain chain = {.most_operands = 2, .all = true};
    bool splat;
    if (!is_pair(code) && dtype_at(e, node, 0) == TAPER_QU8) {
        return taper_gpu_rule_quantized_map(e, node, 0);
    }
    if (e->asking) {
        return ask(e, node, code);
    }
    TAPER_GPU_REFUSE(e, !taper_gpu_is_known(&shape), "a result whose sizes follow from elements, or that is empty");
    TAPER_TRY(taper_gpu_operand_vectors(e, taper_node_in(node, 0), &x));
    const int packed = choose_packed(e, node, &x, code, &shape);
    TAPER_TRY(taper_gpu_operand_like(e, taper_node_in(node, 0), &shape, packed, false, true, &in, &splat));
    TAPER_TRY(append_node(e, node, code, taper_node_in(node, 0), &shape, packed, true, &chain));
    TAPER_TRY(taper_gpu_take_steps(e, &result, packed, 2, &chain));
    TAPER_TRY(taper_gpu_new_result(e, result, &shape, packed, &out));
    TAPER_TRY(taper_gpu_elementwise(e, &in, splat, &chain, &out));
    taper_gpu_give(e, result, &out);
    return TAPER_OK;
}

// ---- binding chains to kernels

static taper_gpu_strides strides_of(const taper_gpu_view *view, const int64_t *strides)
{
    return (taper_gpu_strides){.offset = (uint32_t)view->offset,
                               .by = {(uint32_t)strides[0], (uint32_t)strides[1], (uint32_t)strides[2]},
                               .group = (uint32_t)view->strides[view->packed]};
}

void taper_gpu_put_strides(taper_gpu_work *work, uint32_t *at, const taper_gpu_view *view, const int64_t *strides)
{
    taper_gpu_put(work, at, view->offset);
    for (int d = 0; d < 3; d++) {
        taper_gpu_put(work, at, strides[d]);
    }
    taper_gpu_put(work, at, view->strides[view->packed]);
}

taper_status taper_gpu_bind(taper_gpu_emitter *e, taper_gpu_work *w, const taper_gpu_chain *chain,
                            const taper_gpu_view *out, const taper_gpu_loops *loops, int operand)
{
    const int64_t channels = out->sizes[out->packed];
    w->node = e->node;
    w->buffers[0] = out->buffer;
    w->parameters.out = strides_of(out, loops->strides[0]);
    for (int d = 0; d < 3; d++) {
        w->parameters.sizes[d] = (uint32_t)loops->sizes[d];
    }
    w->parameters.groups = (uint32_t)taper_gpu_vectors(channels);
    w->parameters.tail = (uint32_t)(channels - (taper_gpu_vectors(channels) - 1) * TAPER_GPU_VECTOR);
    for (uint32_t i = 0; i < chain->operand_count; i++) {
        w->buffers[(uint32_t)operand + i] = chain->operands[i].buffer;
        *(i == 0 ? &w->parameters.e : &w->parameters.f) = strides_of(&chain->operands[i], loops->strides[2 + i]);
    }
    memcpy(w->parameters.low, chain->low, sizeof chain->low);
    memcpy(w->parameters.high, chain->high, sizeof chain->high);
    w->constants[2] = chain->operand_count == 0 ? 0 : chain->operand_count == 1 ? 1 : 3;
    memcpy(&w->constants[3], chain->codes, sizeof chain->codes);
    return TAPER_OK;
}
