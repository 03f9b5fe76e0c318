// SPDX-License-Identifier: BSD-2-Clause
// Element-wise operators that need more than one chain of steps.
#include "backends/gpu/gpu_emit.h"

// Reads a tensor that is broadcast to the result's sizes.
static taper_status read_same(taper_gpu_emitter *e, const taper_ir_value *value, const taper_shape *shape, int packed,
                              taper_gpu_view *view)
{
    taper_gpu_view from;
    bool splat;
    TAPER_TRY(taper_gpu_operand(e, value, &from));
    taper_gpu_view like = {.rank = shape->rank, .packed = packed};
    int64_t vectors;
    TAPER_GPU_REFUSE(e, !taper_gpu_is_known(shape), "a result that is not float32");
    TAPER_GPU_REFUSE(e, !taper_gpu_view_dense(shape, packed, &like, &vectors), "a tensor that is too large");
    if (from.rank == like.rank && from.packed != packed) {
        const taper_gpu_view before = from;
        TAPER_TRY(taper_gpu_repack(e, &before, packed, &from));
    }
    TAPER_GPU_REFUSE(e, !taper_gpu_view_broadcast(&from, &like, view, &splat) || splat,
                     "tensors of sizes that are broadcast in vectors");
    return TAPER_OK;
}

// Emits lerp: self + weight (end - self).
taper_status taper_gpu_rule_lerp(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_shape shape = taper_gpu_shape(e, &node->outputs[0]);
    const int packed = taper_gpu_usual_packed(shape.rank);
    taper_gpu_view self, end, weight, apart, out;
    taper_gpu_chain chain = {.most_operands = 2};
    double number;
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, 0)));
    TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, 1)));
    const taper_ir_value *by = taper_node_in(node, 2);
    const bool is_tensor = by->type != NULL && by->type->kind == TAPER_TYPE_TENSOR;
    TAPER_TRY(is_tensor ? taper_gpu_ask_operand(e, by) : taper_read_number(&e->reader, node, "weight", 0, &number));
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(read_same(e, taper_node_in(node, 0), &shape, packed, &self));
    TAPER_TRY(read_same(e, taper_node_in(node, 1), &shape, packed, &end));
    TAPER_TRY(taper_gpu_new(e, &shape, packed, &apart));
    taper_gpu_append(&chain, TAPER_GPU_STEP_SUB_FROM, &end, 0, 1);
    if (is_tensor) {
        TAPER_TRY(read_same(e, by, &shape, packed, &weight));
        taper_gpu_append(&chain, TAPER_GPU_STEP_MUL, &weight, 0, 0);
        TAPER_TRY(taper_gpu_elementwise(e, &self, false, &chain, &apart));
        chain = (taper_gpu_chain){.most_operands = 2};
        TAPER_TRY(taper_gpu_new(e, &shape, packed, &out));
        taper_gpu_append(&chain, TAPER_GPU_STEP_ADD, &self, 0, 1);
        TAPER_TRY(taper_gpu_elementwise(e, &apart, false, &chain, &out));
    } else {
        taper_gpu_append(&chain, TAPER_GPU_STEP_MUL, NULL, number, 0);
        taper_gpu_append(&chain, TAPER_GPU_STEP_ADD, &self, 0, 1);
        TAPER_TRY(taper_gpu_elementwise(e, &self, false, &chain, &apart));
        out = apart;
    }
    taper_gpu_give(e, &node->outputs[0], &out);
    return TAPER_OK;
}

// Emits glu: the first half times the sigmoid of the second half.
taper_status taper_gpu_rule_glu(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_shape from = taper_gpu_shape(e, taper_node_in(node, 0)), shape = taper_gpu_shape(e, &node->outputs[0]);
    taper_gpu_view x, halves[2], out;
    taper_gpu_chain chain = {.most_operands = 2};
    int d;
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, 0)));
    TAPER_TRY(taper_gpu_dim(e, node, "dim", from.rank, -1, &d));
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_gpu_operand(e, taper_node_in(node, 0), &x));
    TAPER_GPU_REFUSE(e, x.sizes[d] % 2 != 0, "halves that are none");
    for (int i = 0; i < 2; i++) {
        TAPER_TRY(taper_gpu_piece(e, &x, d, i * x.sizes[d] / 2, x.sizes[d] / 2, 1, &halves[i]));
    }
    TAPER_TRY(taper_gpu_new(e, &shape, x.packed, &out));
    taper_gpu_append(&chain, TAPER_GPU_STEP_SIGMOID, NULL, 0, 0);
    taper_gpu_append(&chain, TAPER_GPU_STEP_MUL, &halves[0], 0, 0);
    TAPER_TRY(taper_gpu_elementwise(e, &halves[1], false, &chain, &out));
    taper_gpu_give(e, &node->outputs[0], &out);
    return TAPER_OK;
}

// Emits addcmul: self + value tensor1 tensor2.
taper_status taper_gpu_rule_addcmul(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_shape shape = taper_gpu_shape(e, &node->outputs[0]);
    const int packed = taper_gpu_usual_packed(shape.rank);
    taper_gpu_view parts[3], out;
    taper_gpu_chain chain = {.most_operands = 2};
    double value;
    (void)code;
    for (size_t i = 0; i < 3; i++) {
        TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, i)));
    }
    TAPER_TRY(taper_read_number(&e->reader, node, "value", 1, &value));
    if (e->asking) {
        return TAPER_OK;
    }
    for (size_t i = 0; i < 3; i++) {
        TAPER_TRY(read_same(e, taper_node_in(node, i), &shape, packed, &parts[i]));
    }
    TAPER_TRY(taper_gpu_new(e, &shape, packed, &out));
    taper_gpu_append(&chain, TAPER_GPU_STEP_MUL, &parts[2], 0, 0);
    taper_gpu_append(&chain, TAPER_GPU_STEP_MUL, NULL, value, 0);
    taper_gpu_append(&chain, TAPER_GPU_STEP_ADD, &parts[0], 0, 1);
    TAPER_TRY(taper_gpu_elementwise(e, &parts[1], false, &chain, &out));
    taper_gpu_give(e, &node->outputs[0], &out);
    return TAPER_OK;
}

// Emits pow of a number with a tensor as exponent.
taper_status taper_gpu_rule_power_of(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_ir_value *result = &node->outputs[0];
    const taper_shape shape = taper_gpu_shape(e, result);
    taper_gpu_view x, out;
    taper_gpu_chain chain = {.most_operands = 2, .all = true};
    double number = 0;
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, 1)));
    TAPER_GPU_REFUSE(e, !e->asking && !taper_gpu_is_number(e, taper_node_in(node, 0), &number),
                     "a number that is not known");
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_gpu_operand(e, taper_node_in(node, 1), &x));
    taper_gpu_append(&chain, TAPER_GPU_STEP_POWER_INTO, NULL, number, 0);
    TAPER_TRY(taper_gpu_take_steps(e, &result, x.packed, 2, &chain));
    TAPER_TRY(taper_gpu_new_result(e, result, &shape, x.packed, &out));
    TAPER_TRY(taper_gpu_elementwise(e, &x, false, &chain, &out));
    taper_gpu_give(e, result, &out);
    return TAPER_OK;
}

// An argument that is a number, or a tensor that is broadcast to the result.
typedef struct given {
    bool number, splat;
    double value;
    taper_gpu_view view;
} given;

static taper_status read_side(taper_gpu_emitter *e, const taper_ir_value *value, const taper_shape *shape, int packed,
                              given *side)
{
    side->number = taper_gpu_is_number(e, value, &side->value);
    return side->number ? TAPER_OK
                        : taper_gpu_operand_like(e, value, shape, packed, false, true, &side->view, &side->splat);
}

static void append_side(taper_gpu_chain *chain, taper_gpu_step step, const given *side, double high)
{
    taper_gpu_append(chain, step, &side->view, 0, high);
    chain->codes[chain->count - 1] |= side->splat ? TAPER_GPU_SPLAT : 0;
}

static taper_status ask_side(taper_gpu_emitter *e, const taper_ir_value *value, bool *number)
{
    double there;
    *number = taper_gpu_is_number(e, value, &there) || (value->type != NULL && value->type->kind != TAPER_TYPE_TENSOR);
    return *number ? TAPER_OK : taper_gpu_ask_operand(e, value);
}

// Emits aten::where: the second argument if the condition is true, otherwise the third.
taper_status taper_gpu_rule_where(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_ir_value *result = &node->outputs[0];
    const taper_shape shape = taper_gpu_shape(e, result);
    given sides[3]; // the condition and the two choices
    taper_gpu_chain chain = {.most_operands = 2};
    taper_gpu_view out;
    bool numbers[2];
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand_of(e, taper_node_in(node, 0), TAPER_GPU_TRUTHS));
    TAPER_TRY(ask_side(e, taper_node_in(node, 1), &numbers[0]));
    TAPER_TRY(ask_side(e, taper_node_in(node, 2), &numbers[1]));
    // Two numbers are refused, because the dtype of the result would depend on both.
    TAPER_GPU_REFUSE(e, numbers[0] && numbers[1], "a choice of two numbers");
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_GPU_REFUSE(e, !taper_gpu_is_known(&shape), "a result whose sizes follow from elements, or that is empty");
    const int packed = taper_gpu_usual_packed(shape.rank);
    for (size_t i = 0; i < 3; i++) {
        TAPER_TRY(read_side(e, taper_node_in(node, i), &shape, packed, &sides[i]));
    }
    const given *in = &sides[0];
    if (sides[1].number || sides[2].number) {
        TAPER_GPU_REFUSE(e, sides[0].number, "a condition that is a number");
        in = &sides[sides[1].number ? 2 : 1];
        append_side(&chain, sides[1].number ? TAPER_GPU_STEP_MASK : TAPER_GPU_STEP_UNMASK, &sides[0],
                    sides[sides[1].number ? 1 : 2].value);
    } else {
        TAPER_GPU_REFUSE(e, sides[0].number, "a condition that is a number");
        append_side(&chain, TAPER_GPU_STEP_SELECT, &sides[1], 0);
        chain.operands[chain.operand_count++] = sides[2].view;
        chain.codes[0] |= sides[2].splat ? TAPER_GPU_SPLAT_F : 0;
    }
    TAPER_TRY(taper_gpu_take_steps(e, &result, packed, 2, &chain));
    TAPER_TRY(taper_gpu_new_result(e, result, &shape, packed, &out));
    TAPER_TRY(taper_gpu_elementwise(e, &in->view, in->splat, &chain, &out));
    taper_gpu_give(e, result, &out);
    return TAPER_OK;
}

// Emits clamp with tensors as bounds, of which one may be missing.
taper_status taper_gpu_rule_between(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    static const taper_gpu_step steps[] = {TAPER_GPU_STEP_MAX, TAPER_GPU_STEP_MIN};
    const taper_ir_value *result = &node->outputs[0];
    const taper_shape shape = taper_gpu_shape(e, result);
    const int packed = taper_gpu_usual_packed(shape.rank);
    given x, bound;
    taper_gpu_chain chain = {.most_operands = 2};
    taper_gpu_view out;
    bool is_number, there[2];
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, 0)));
    for (size_t i = 0; i < 2; i++) {
        const taper_val *constant = taper_read_constant(&e->reader, taper_node_in(node, i + 1));
        there[i] = constant == NULL || constant->tag != TAPER_NONE;
        TAPER_TRY(there[i] ? ask_side(e, taper_node_in(node, i + 1), &is_number) : TAPER_OK);
    }
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_GPU_REFUSE(e, !taper_gpu_is_known(&shape), "a result whose sizes follow from elements, or that is empty");
    TAPER_TRY(read_side(e, taper_node_in(node, 0), &shape, packed, &x));
    TAPER_GPU_REFUSE(e, x.number, "bounds of a number");
    for (size_t i = 0; i < 2; i++) {
        if (!there[i]) {
            continue;
        }
        TAPER_TRY(read_side(e, taper_node_in(node, i + 1), &shape, packed, &bound));
        if (bound.number) {
            taper_gpu_append(&chain, steps[i], NULL, bound.value, 0);
        } else {
            append_side(&chain, steps[i], &bound, 0);
        }
    }
    TAPER_TRY(taper_gpu_take_steps(e, &result, packed, 2, &chain));
    TAPER_TRY(taper_gpu_new_result(e, result, &shape, packed, &out));
    TAPER_TRY(taper_gpu_elementwise(e, &x.view, x.splat, &chain, &out));
    taper_gpu_give(e, result, &out);
    return TAPER_OK;
}
