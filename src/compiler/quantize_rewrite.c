// SPDX-License-Identifier: BSD-2-Clause
// Replaces steps by quantized operators. The users of a step's result get the new result, dequantized. A later step
// whose input is such a dequantized result takes the integers instead, so the dequantize nodes between steps end up
// unused. If the quantized operator for a step cannot be made, the node is not changed: it computes with floats, and
// its result is quantized if a later step needs integers.
#include <math.h>

#include "compiler/quantization.h"

typedef struct rewriter {
    taper_quantization *q;
    taper_compilation *compilation;
    taper_graph *graph;
    taper_node **nodes;         // node of each step
    taper_ir_value **quantized; // for each float value, by its number: its quantized form
} rewriter;

static taper_status new_op(const rewriter *r, taper_node *before, const taper_op *op, taper_node **made)
{
    TAPER_TRY(taper_op_before(r->compilation, before, op, made));
    if (*made == NULL) {
        TAPER_FAIL(r->compilation->error, TAPER_ERROR_UNSUPPORTED,
                   "this build lacks an operator that takes the place of %s when a model is quantized",
                   before->kind == TAPER_NODE_OP ? before->schema->name : "a layer");
    }
    return TAPER_OK;
}

static taper_status set_constant(const rewriter *r, taper_node *node, size_t index, taper_val value)
{
    taper_ir_value *constant;
    TAPER_TRY(taper_constant_before(node, value, &constant, r->compilation->error));
    taper_node_set_input(node, index, constant);
    return TAPER_OK;
}

// ---- conversions between floats and integers

static taper_status dequantize_before(const rewriter *r, taper_node *before, taper_ir_value *from, taper_node **made)
{
    TAPER_TRY(new_op(r, before, TAPER_OP(aten_dequantize_self), made));
    (*made)->own.quantized.made_here = true;
    taper_node_set_input(*made, 0, from);
    return TAPER_OK;
}

static bool is_our_dequantize(const taper_node *node)
{
    return node != NULL && node->kind == TAPER_NODE_OP && node->own.quantized.made_here &&
           taper_node_calls(node, TAPER_OP(aten_dequantize_self));
}

// Sets *taken to the quantized form of `value`. Inserts a quantize node if the value has no quantized form yet.
static taper_status take_quantized(const rewriter *r, taper_ir_value *value, taper_ir_value **taken)
{
    if (is_our_dequantize(value->node)) {
        *taken = taper_node_in(value->node, 0);
        return TAPER_OK;
    }
    taper_ir_value **made = &r->quantized[value->id];
    if (*made == NULL) {
        const taper_qparams p = taper_group_qparams(r->q, value->id);
        taper_node *anchor = value->node != NULL ? value->node : value->block->first, *node;
        TAPER_TRY(new_op(r, anchor, TAPER_OP(aten_quantize_per_tensor), &node));
        TAPER_TRY(set_constant(r, node, 1, taper_val_double(p.scale)));
        TAPER_TRY(set_constant(r, node, 2, taper_val_int(p.zero_point)));
        TAPER_TRY(set_constant(r, node, 3, taper_val_int(TAPER_QU8)));
        if (value->node != NULL) {
            taper_node_move_after(node, value->node);
        }
        taper_node_set_input(node, 0, value);
        *made = &node->outputs[0];
    }
    *taken = *made;
    return TAPER_OK;
}

static taper_qparams qparams_of_input(const rewriter *r, const taper_ir_value *value)
{
    if (is_our_dequantize(value->node)) {
        return taper_group_qparams(r->q, value->node->own.quantized.value);
    }
    return taper_group_qparams(r->q, value->id);
}

// ---- rewriting each kind of step

static taper_status set_qparams(const rewriter *r, taper_node *made, size_t index, taper_qparams p)
{
    TAPER_TRY(set_constant(r, made, index, taper_val_double(p.scale)));
    return set_constant(r, made, index + 1, taper_val_int(p.zero_point));
}

static taper_status make_layer(const rewriter *r, const taper_quantize_step *step, taper_node *node, taper_node **made)
{
    taper_layer layer;
    taper_val object;
    taper_ir_value *x;
    if (!taper_layer_match(r->compilation, node, &layer)) {
        return TAPER_OK;
    }
    // If the input is the new result of a previous dynamic step, the plan has no facts about it. The plan's facts are
    // then read by the number of the value that this result replaced.
    const uint32_t input =
        is_our_dequantize(layer.input->node) ? layer.input->node->own.quantized.value : layer.input->id;
    const taper_status status = taper_pack_layer(r->q, r->compilation, &layer, input, &object);
    if (status != TAPER_OK) {
        taper_error_prefix(r->compilation->error, "layer %s: ", step->name);
        return status;
    }
    if (object.tag != TAPER_OBJECT) {
        taper_val_release(object);
        return TAPER_OK;
    }
    const taper_op *op = layer.transposed ? TAPER_OP(quantized_conv_transpose2d)
                         : layer.convolution
                             ? (step->relu ? TAPER_OP(quantized_conv2d_relu_new) : TAPER_OP(quantized_conv2d_new))
                             : (step->relu ? TAPER_OP(quantized_linear_relu) : TAPER_OP(quantized_linear));
    taper_ir_value *packed;
    TAPER_TRY(taper_constant_before(node, object, &packed, r->compilation->error));
    if (step->kind == TAPER_STEP_DYNAMIC) {
        TAPER_TRY(new_op(r, node, TAPER_OP(quantized_linear_dynamic), made));
        // The argument reduce_range is false. QNNPACK ignores it, but would log a warning in every call if it were
        // true.
        TAPER_TRY(set_constant(r, *made, 2, taper_val_bool(false)));
        x = layer.input;
    } else {
        TAPER_TRY(take_quantized(r, layer.input, &x));
        TAPER_TRY(new_op(r, node, op, made));
        TAPER_TRY(set_qparams(r, *made, 2, taper_group_qparams(r->q, step->result)));
    }
    taper_node_set_input(*made, 0, x);
    taper_node_set_input(*made, 1, packed);
    return TAPER_OK;
}

// Returns true if QNNPACK's sum supports the ratio of an input's scale to the result's scale.
static bool is_in_reach(double in, double out)
{
    const float ratio = (float)in / (float)out;
    return ratio >= 0x1p-14f && ratio < 0x1p+8f;
}

static taper_status make_pair(const rewriter *r, const taper_quantize_step *step, taper_node *node, taper_node **made)
{
    const taper_qparams out = taper_group_qparams(r->q, step->result);
    taper_ir_value *a = taper_node_in(node, 0), *b = taper_node_in(node, 1);
    if (TAPER_FIELD(taper_node_facts(node), FUNCTION) == TAPER_FUNCTION_ADD &&
        (!is_in_reach(qparams_of_input(r, a).scale, out.scale) ||
         !is_in_reach(qparams_of_input(r, b).scale, out.scale))) {
        return TAPER_OK;
    }
    TAPER_TRY(take_quantized(r, a, &a));
    TAPER_TRY(take_quantized(r, b, &b));
    TAPER_TRY(new_op(r, node, taper_quantized_row(node, step->relu), made));
    taper_node_set_input(*made, 0, a);
    taper_node_set_input(*made, 1, b);
    return set_qparams(r, *made, 2, out);
}

// Makes the quantized operator for a step. The operator has arguments with the names of the float operator's arguments,
// and two more: scale and zero point of the result.
static taper_status make_curve(const rewriter *r, const taper_quantize_step *step, taper_node *node, taper_node **made)
{
    taper_ir_value *x;
    TAPER_TRY(take_quantized(r, taper_node_in(node, 0), &x));
    TAPER_TRY(new_op(r, node, taper_quantized_row(node, false), made));
    taper_node_set_input(*made, 0, x);
    for (size_t i = 1; i < (*made)->schema->arg_count; i++) {
        const char *name = (*made)->schema->args[i].name;
        taper_ir_value *same = taper_node_argument(node, name);
        if (strcmp(name, "output_scale") == 0) {
            TAPER_TRY(set_qparams(r, *made, i++, taper_group_qparams(r->q, step->result)));
        } else if (same != NULL) {
            taper_node_set_input(*made, i, same);
        } else {
            TAPER_TRY(set_constant(r, *made, i, taper_val_bool(false))); // the argument `inplace`
        }
    }
    return TAPER_OK;
}

static taper_status make_join(const rewriter *r, taper_node *node, taper_ir_value **list)
{
    taper_node *made;
    const taper_node *items = taper_node_in(node, 0)->node;
    TAPER_TRY(taper_node_create(r->graph, TAPER_NODE_LIST, items->input_count, 1, &made, r->compilation->error));
    made->type = items->type;
    made->outputs[0].type = items->outputs[0].type;
    made->debug = items->debug;
    made->instruction = items->instruction;
    taper_node_insert_before(made, node);
    for (size_t i = 0; i < items->input_count; i++) {
        taper_ir_value *item;
        TAPER_TRY(take_quantized(r, taper_node_in(items, i), &item));
        taper_node_set_input(made, i, item);
    }
    *list = &made->outputs[0];
    return TAPER_OK;
}

// Calls the operator of the node on integers instead of floats.
static taper_status make_same(const rewriter *r, const taper_quantize_step *step, taper_node *node, taper_node **made)
{
    taper_ir_value *first;
    if (step->kind == TAPER_STEP_JOIN) {
        TAPER_TRY(make_join(r, node, &first));
    } else {
        TAPER_TRY(take_quantized(r, taper_node_in(node, 0), &first));
    }
    TAPER_TRY(new_op(r, node, taper_quantized_row(node, false), made));
    taper_node_set_input(*made, 0, first);
    for (size_t i = 1; i < node->input_count; i++) {
        taper_node_set_input(*made, i, taper_node_in(node, i));
    }
    return TAPER_OK;
}

// ---- rewriting the steps

// Inserts a clamp for an activation that was merged into a step, if the range of the group exceeds the activation's
// bounds.
static taper_status clamp_after(const rewriter *r, const taper_quantize_step *step, const taper_node *activation,
                                taper_node *node, taper_node **made)
{
    const taper_quantize_value *result = &r->q->values[step->result];
    const taper_quantize_value *group = &r->q->values[taper_group_of(r->q, step->result)];
    float low, high;
    taper_node *clamp;
    if (!taper_activation_bounds(activation, &low, &high) || isinf(high) ||
        (group->bounded && group->low == result->low && group->high == result->high)) {
        return TAPER_OK;
    }
    TAPER_TRY(new_op(r, node, activation->op, &clamp));
    taper_node_set_input(clamp, 0, &(*made)->outputs[0]);
    for (size_t i = 1; i < activation->input_count; i++) {
        TAPER_TRY(set_constant(r, clamp, i, taper_val_retain(*taper_node_constant_in(activation, i))));
    }
    *made = clamp;
    return TAPER_OK;
}

// Inserts a node that unsqueezes or squeezes x at dimension -2.
static taper_status reshape_before(const rewriter *r, taper_node *before, const taper_op *op, taper_ir_value *x,
                                   taper_node **made)
{
    TAPER_TRY(new_op(r, before, op, made));
    taper_node_set_input(*made, 0, x);
    return set_constant(r, *made, 1, taper_val_int(-2));
}

// A quantized dynamic layer refuses a one-dimensional input, which the float layer accepts. Unless the input certainly
// has two dimensions or more, adds a dimension before the layer and removes it afterwards.
static taper_status take_rows(const rewriter *r, taper_node *node, taper_node **made)
{
    taper_node *wide;
    if (taper_rank_of(taper_node_in(node, 0)).number >= 2) {
        return TAPER_OK;
    }
    TAPER_TRY(reshape_before(r, *made, TAPER_OP(aten_unsqueeze), taper_node_in(*made, 0), &wide));
    taper_node_set_input(*made, 0, &wide->outputs[0]);
    return reshape_before(r, node, TAPER_OP(aten_squeeze_dim), &(*made)->outputs[0], made);
}

static taper_status rewrite_floating(const rewriter *r, taper_quantize_step *step, taper_node *node)
{
    taper_node *made = NULL;
    if (step->kind == TAPER_STEP_DYNAMIC) {
        TAPER_TRY(make_layer(r, step, node, &made));
        TAPER_TRY(made != NULL ? take_rows(r, node, &made) : TAPER_OK);
    } else {
        TAPER_TRY(taper_rewrite_recurrent(r->q, r->compilation, node, &made));
    }
    if (made != NULL) {
        for (uint32_t i = 0; i < node->output_count; i++) {
            taper_value_replace_uses(&node->outputs[i], &made->outputs[i]);
        }
        step->made = made->outputs[0].id;
        taper_node_remove(node);
    }
    return TAPER_OK;
}

static taper_status rewrite_step(const rewriter *r, taper_quantize_step *step, taper_node *node)
{
    taper_node *made = NULL, *floats;
    if (!taper_is_static(r->q)) {
        return rewrite_floating(r, step, node);
    }
    taper_node *activation = step->result != step->value ? taper_only_user(node) : NULL;
    switch (step->kind) {
    case TAPER_STEP_LAYER:
        TAPER_TRY(make_layer(r, step, node, &made));
        break;
    case TAPER_STEP_PAIR:
        TAPER_TRY(make_pair(r, step, node, &made));
        break;
    case TAPER_STEP_CURVE:
        TAPER_TRY(make_curve(r, step, node, &made));
        break;
    default:
        TAPER_TRY(make_same(r, step, node, &made));
        break;
    }
    if (made == NULL) {
        return TAPER_OK;
    }
    if (activation != NULL) {
        TAPER_TRY(clamp_after(r, step, activation, node, &made));
    }
    step->made = made->outputs[0].id;
    TAPER_TRY(dequantize_before(r, node, &made->outputs[0], &floats));
    floats->own.quantized.value = step->result;
    taper_value_replace_uses(activation != NULL ? &activation->outputs[0] : &node->outputs[0], &floats->outputs[0]);
    if (activation != NULL) {
        taper_node_remove(activation);
    }
    taper_node_remove(node);
    return TAPER_OK;
}

static void find_nodes(const rewriter *r, const taper_block *block)
{
    for (taper_node *node = block->first; node != NULL; node = node->next) {
        for (size_t b = 0; b < node->block_count; b++) {
            find_nodes(r, node->blocks[b]);
        }
        const uint32_t step = node->output_count != 0 ? r->q->values[node->outputs[0].id].step : TAPER_NO_STEP;
        if (step != TAPER_NO_STEP && r->q->steps[step].value == node->outputs[0].id) {
            r->nodes[step] = node;
        }
    }
}

// ---- parameters and results of forward in mode FULL

static taper_status take_parameters(const rewriter *r)
{
    taper_block *body = r->graph->body;
    for (uint32_t i = 0; i < body->param_count && body->first != NULL; i++) {
        taper_ir_value *param = &body->params[i];
        taper_node *floats;
        if (r->q->values[param->id].parameter) {
            TAPER_TRY(dequantize_before(r, body->first, param, &floats));
            floats->own.quantized.value = param->id;
            taper_value_replace_uses(param, &floats->outputs[0]);
            taper_node_set_input(floats, 0, param);
        }
    }
    return TAPER_OK;
}

static taper_status replace_result(const rewriter *r, const taper_value_use *use, taper_ir_value *with)
{
    if (use->user != NULL) {
        taper_node_set_input(use->user, use->index, with);
        return TAPER_OK;
    }
    taper_block *body = use->block;
    const size_t bytes = body->result_count * sizeof(taper_ir_value *);
    taper_ir_value **results = taper_alloc(r->q->allocator, bytes);
    if (results == NULL) {
        return taper_fail_memory(r->compilation->error);
    }
    for (uint32_t i = 0; i < body->result_count; i++) {
        results[i] = i == use->index ? with : body->results[i].value;
    }
    const taper_status status = taper_block_set_results(body, results, body->result_count, r->compilation->error);
    taper_free(r->q->allocator, results, bytes);
    return status;
}

// Makes the graph return the quantized form of `value` instead of `value`.
static taper_status give_quantized(const rewriter *r, taper_ir_value *value)
{
    taper_ir_value *with;
    for (const taper_value_use *use = value->uses, *next; use != NULL; use = next) {
        next = use->next;
        if (taper_use_is_returned(use)) {
            TAPER_TRY(take_quantized(r, value, &with));
            TAPER_TRY(replace_result(r, use, with));
            next = value->uses; // starts again, because the list of uses has changed
        }
    }
    return TAPER_OK;
}

static taper_status give_results(const rewriter *r)
{
    for (taper_node *node = r->graph->body->first; node != NULL; node = node->next) {
        for (uint32_t i = 0; i < node->output_count; i++) {
            taper_ir_value *value = &node->outputs[i];
            if (is_our_dequantize(node) ||
                (value->id < r->q->value_count && (r->q->values[value->id].wanted || r->q->values[value->id].native))) {
                TAPER_TRY(give_quantized(r, value));
            }
        }
    }
    return TAPER_OK;
}

taper_status taper_quantize_rewrite(taper_quantization *q, taper_compilation *compilation, taper_graph *graph)
{
    const size_t node_bytes = (q->step_count + 1) * sizeof(taper_node *);
    const size_t value_bytes = (q->value_count + (size_t)1) * sizeof(taper_ir_value *);
    rewriter r = {.q = q,
                  .compilation = compilation,
                  .graph = graph,
                  .nodes = taper_alloc_zeroed(q->allocator, node_bytes),
                  .quantized = taper_alloc_zeroed(q->allocator, value_bytes)};
    taper_status status = TAPER_OK;
    if (r.nodes == NULL || r.quantized == NULL) {
        status = taper_fail_memory(compilation->error);
    } else {
        find_nodes(&r, graph->body);
        status = taper_written_storages_find(compilation);
        if (status == TAPER_OK) {
            status = take_parameters(&r);
        }
    }
    for (size_t i = 0; status == TAPER_OK && i < q->step_count; i++) {
        q->steps[i].made = UINT32_MAX;
        if (r.nodes[i] != NULL && !q->steps[i].kept_float) {
            status = rewrite_step(&r, &q->steps[i], r.nodes[i]);
        }
    }
    if (status == TAPER_OK && q->options.mode == TAPER_QUANTIZE_FULL) {
        status = give_results(&r);
    }
    taper_free(q->allocator, (void *)r.nodes, node_bytes);
    taper_free(q->allocator, (void *)r.quantized, value_bytes);
    return status;
}
