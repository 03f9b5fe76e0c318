// SPDX-License-Identifier: BSD-2-Clause
// Replaces an operator on dequantized values, whose result is quantized, by an operator on integers. This file does not
// remove the float operator: when the dequantize nodes of its result read the integers, the float operator has no users
// left.
#include "compiler/recompose.h"

#include <math.h>

enum { MOST_ITEMS = 64 }; // largest number of items in a list for cat

// An operator, the activation after it (or NULL), and the scale and zero point of the result.
typedef struct step {
    taper_node *node, *activation;
    float low, high; // bounds of the activation
    taper_qparams result;
    const taper_op *with_relu; // operator for the layer and a relu, so that a relu after the layer can be merged; NULL
                               // if there is no such operator
} step;

static taper_status op_before(const taper_recomposer *r, taper_node *before, const taper_op *op, taper_node **made)
{
    *made = NULL;
    return op != NULL ? taper_op_before(r->compilation, before, op, made) : TAPER_OK;
}

static taper_status set_constant(const taper_recomposer *r, taper_node *node, size_t index, taper_val value)
{
    taper_ir_value *constant;
    TAPER_TRY(taper_constant_before(node, value, &constant, r->compilation->error));
    taper_node_set_input(node, index, constant);
    return TAPER_OK;
}

static taper_status set_qparams(const taper_recomposer *r, taper_node *node, size_t index, taper_qparams p)
{
    TAPER_TRY(set_constant(r, node, index, taper_val_double(p.scale)));
    return set_constant(r, node, index + 1, taper_val_int(p.zero_point));
}

// ---- the quantized result of an operator

// Returns true if the result of `node`, or of an activation after `node`, is quantized, and fills *s.
static bool find_result(const taper_recomposer *r, taper_node *node, bool activations, step *s)
{
    *s = (step){.node = node, .low = -INFINITY, .high = INFINITY};
    if (node->output_count != 1 || node->schema->out_count != 0 || taper_node_writes(node, 0) ||
        taper_aliases_written(r->aliases, &node->outputs[0])) {
        return false;
    }
    taper_node *user = activations ? taper_only_user(node) : NULL;
    if (user != NULL && taper_activation_bounds(user, &s->low, &s->high) && user->output_count == 1 &&
        user->schema->out_count == 0 && taper_row_takes_quantized(user->op)) {
        s->activation = user;
    }
    return taper_recompose_result(r, &(s->activation != NULL ? s->activation : node)->outputs[0], &s->result);
}

// Converts a bound of an activation to an integer of the quantized tensor, as a float.
static float bound(taper_qparams p, float bound)
{
    return nearbyintf(bound / (float)p.scale) + (float)p.zero_point;
}

// Makes the users of the step's result read `made`. Inserts a clamp if the activation's bounds are narrower than the
// range of the integers.
static taper_status finish(taper_recomposer *r, const step *s, taper_node *made, bool has_relu, int64_t rank)
{
    taper_ir_value *result = &made->outputs[0];
    TAPER_TRY(taper_recomposed_set(r, result, (taper_recomposed){true, true, s->result, rank, s->with_relu}));
    if (s->activation != NULL && (bound(s->result, s->high) < 255 || (!has_relu && bound(s->result, s->low) > 0))) {
        taper_node *clamp;
        TAPER_TRY(op_before(r, s->activation, s->activation->op, &clamp));
        taper_node_set_input(clamp, 0, result);
        for (size_t i = 1; i < s->activation->input_count; i++) {
            taper_node_set_input(clamp, i, taper_node_in(s->activation, i));
        }
        result = &clamp->outputs[0];
        TAPER_TRY(taper_recomposed_set(r, result, (taper_recomposed){true, true, s->result, rank, NULL}));
    }
    return taper_recompose_give(r, &(s->activation != NULL ? s->activation : s->node)->outputs[0], result);
}

// ---- layers

static const taper_op *layer_row(const taper_layer *layer, bool relu)
{
    switch (layer->dims) {
    case 0:
        return relu ? TAPER_OP(quantized_linear_relu) : TAPER_OP(quantized_linear);
    case 1:
        return layer->transposed ? TAPER_OP(quantized_conv_transpose1d)
               : relu            ? TAPER_OP(quantized_conv1d_relu)
                                 : TAPER_OP(quantized_conv1d);
    case 2:
        return layer->transposed ? TAPER_OP(quantized_conv_transpose2d)
               : relu            ? TAPER_OP(quantized_conv2d_relu_new)
                                 : TAPER_OP(quantized_conv2d_new);
    default:
        return layer->transposed ? TAPER_OP(quantized_conv_transpose3d)
               : relu            ? TAPER_OP(quantized_conv3d_relu_new)
                                 : TAPER_OP(quantized_conv3d_new);
    }
}

// Inserts a constant for the object of packed weights. *packed is NULL if the layer cannot be packed.
static taper_status pack_before(taper_recomposer *r, taper_node *node, const taper_recomposed_layer *layer,
                                taper_ir_value **packed)
{
    taper_val object;
    *packed = NULL;
    TAPER_TRY(taper_recompose_pack(r, layer, &object));
    if (object.tag != TAPER_OBJECT) {
        taper_val_release(object);
        return TAPER_OK;
    }
    return taper_constant_before(node, object, packed, r->compilation->error);
}

static taper_status make_layer(taper_recomposer *r, step *s, const taper_recomposed_layer *layer)
{
    taper_node *made;
    taper_ir_value *x, *packed;
    const bool relu = s->activation != NULL && s->low == 0 && !layer->layer.transposed;
    const taper_op *op = layer_row(&layer->layer, relu);
    if (op == NULL) {
        return TAPER_OK;
    }
    s->with_relu = s->activation == NULL && !layer->layer.transposed ? layer_row(&layer->layer, true) : NULL;
    TAPER_TRY(pack_before(r, s->node, layer, &packed));
    if (packed == NULL) {
        return TAPER_OK;
    }
    const int64_t rank = taper_least_rank(r, layer->layer.input);
    TAPER_TRY(taper_recompose_take(r, layer->layer.input, &x));
    TAPER_TRY(op_before(r, s->node, op, &made));
    taper_node_set_input(made, 0, x);
    taper_node_set_input(made, 1, packed);
    TAPER_TRY(set_qparams(r, made, 2, s->result));
    return finish(r, s, made, relu, rank);
}

// A linear layer with float results, the relu after it (or NULL) and the operator for both.
typedef struct floating {
    taper_node *node, *relu;
    const taper_op *op;
    taper_ir_value *packed;
} floating;

static taper_status find_floating(taper_recomposer *r, const taper_recomposed_layer *layer, floating *f)
{
    float low, high;
    taper_node *user = taper_only_user(layer->layer.node);
    *f = (floating){.node = layer->layer.node};
    if (user != NULL && taper_activation_bounds(user, &low, &high) && low == 0 && isinf(high)) {
        f->relu = user;
    }
    f->op = f->relu != NULL ? TAPER_OP(quantized_linear_with_input_q_dq_qweight_dq_relu_output_fp32)
                            : TAPER_OP(quantized_linear_with_input_q_dq_qweight_dq_output_fp32);
    return f->op != NULL ? pack_before(r, f->node, layer, &f->packed) : TAPER_OK;
}

static void give_floats(const floating *f, taper_node *made)
{
    taper_value_replace_uses(&(f->relu != NULL ? f->relu : f->node)->outputs[0], &made->outputs[0]);
}

static taper_status make_told(taper_recomposer *r, const taper_recomposed_layer *layer, taper_qparams input)
{
    floating f;
    taper_node *made;
    TAPER_TRY(find_floating(r, layer, &f));
    if (f.packed == NULL) {
        return TAPER_OK;
    }
    TAPER_TRY(op_before(r, f.node, f.op, &made));
    taper_node_set_input(made, 0, taper_recompose_floats(r, layer->layer.input));
    TAPER_TRY(set_qparams(r, made, 1, input));
    taper_node_set_input(made, 3, f.packed);
    give_floats(&f, made);
    return TAPER_OK;
}

// Makes the dynamic linear operator that exists in all versions of PyTorch, for files. The operator has no lower limit
// for the scale of the input, which matters only if the input's range is tiny.
static taper_status make_linear_dynamic(taper_recomposer *r, const floating *f, taper_ir_value *x)
{
    taper_node *made;
    TAPER_TRY(op_before(r, f->node,
                        f->relu != NULL ? TAPER_OP(quantized_linear_relu_dynamic) : TAPER_OP(quantized_linear_dynamic),
                        &made));
    if (made == NULL) {
        return TAPER_OK;
    }
    taper_node_set_input(made, 0, x);
    taper_node_set_input(made, 1, f->packed);
    TAPER_TRY(set_constant(r, made, 2, taper_val_bool(false)));
    give_floats(f, made);
    return TAPER_OK;
}

static taper_status make_dynamic(taper_recomposer *r, const taper_recomposed_layer *layer,
                                 taper_ir_value *const found[3], int64_t raised)
{
    floating f;
    taper_node *made, *scale, *zero_point;
    if (!TAPER_HAS_OP(aten_Float_Tensor) || !TAPER_HAS_OP(aten_Int_Tensor) || !TAPER_HAS_OP(aten_add_int)) {
        return TAPER_OK;
    }
    TAPER_TRY(find_floating(r, layer, &f));
    if (f.packed == NULL || r->compilation->portable) {
        return f.packed != NULL ? make_linear_dynamic(r, &f, found[0]) : TAPER_OK;
    }
    TAPER_TRY(op_before(r, f.node, TAPER_OP(aten_Float_Tensor), &scale));
    taper_node_set_input(scale, 0, found[1]);
    TAPER_TRY(op_before(r, f.node, TAPER_OP(aten_Int_Tensor), &zero_point));
    taper_node_set_input(zero_point, 0, found[2]);
    if (raised != 0) {
        TAPER_TRY(op_before(r, f.node, TAPER_OP(aten_add_int), &made));
        taper_node_set_input(made, 0, &zero_point->outputs[0]);
        TAPER_TRY(set_constant(r, made, 1, taper_val_int(raised)));
        zero_point = made;
    }
    TAPER_TRY(op_before(r, f.node, f.op, &made));
    taper_node_set_input(made, 0, found[0]);
    taper_node_set_input(made, 1, &scale->outputs[0]);
    taper_node_set_input(made, 2, &zero_point->outputs[0]);
    taper_node_set_input(made, 3, f.packed);
    give_floats(&f, made);
    return TAPER_OK;
}

static taper_status visit_layer(taper_recomposer *r, taper_node *node, bool *done)
{
    taper_recomposed_layer layer;
    taper_qparams input;
    taper_ir_value *found[3];
    int64_t raised;
    step s;
    *done = taper_recompose_layer(r, node, &layer);
    // Quantized convolutions refuse input without a batch, and quantized linear layers refuse one-dimensional input.
    if (!*done ||
        taper_least_rank(r, layer.layer.input) < (layer.layer.convolution ? (int64_t)layer.layer.dims + 2 : 2)) {
        return TAPER_OK;
    }
    if (taper_recompose_source(r, layer.layer.input, &input)) {
        if (!taper_recompose_fits(&layer, input.scale, 0)) {
            return TAPER_OK;
        }
        return find_result(r, node, true, &s) && taper_recompose_fits(&layer, input.scale, s.result.scale)
                   ? make_layer(r, &s, &layer)
               : !layer.layer.convolution ? make_told(r, &layer, input)
                                          : TAPER_OK;
    }
    return !layer.layer.convolution && taper_recompose_fits(&layer, 1, 0) &&
                   taper_recompose_dynamic(r, layer.layer.input, found, &raised)
               ? make_dynamic(r, &layer, found, raised)
               : TAPER_OK;
}

// ---- operators other than layers

// Returns true if QNNPACK's sum supports the ratio of an input's scale to the result's scale.
static bool is_in_reach(double in, double out)
{
    const float ratio = (float)in / (float)out;
    return ratio >= 0x1p-14f && ratio < 0x1p+8f;
}

// Returns true if one of the nodes that compute the value is a sigmoid. Such a value is usually a gate, with one number
// for each channel of an image.
static bool is_gate(const taper_ir_value *value)
{
    enum { HOPS = 5 };
    const taper_node *node = value->node;
    for (int hops = 0; hops < HOPS && node != NULL && node->kind == TAPER_NODE_OP && node->input_count != 0; hops++) {
        const unsigned function = TAPER_FIELD(taper_node_facts(node), FUNCTION);
        if (function == TAPER_FUNCTION_SIGMOID || function == TAPER_FUNCTION_HARDSIGMOID) {
            return true;
        }
        node = taper_node_in(node, 0)->node;
    }
    return false;
}

static taper_status make_pair(taper_recomposer *r, taper_node *node)
{
    taper_ir_value *in[2];
    taper_qparams from[2];
    taper_node *made;
    step s;
    if (!taper_recompose_source(r, taper_node_in(node, 0), &from[0]) ||
        !taper_recompose_source(r, taper_node_in(node, 1), &from[1]) || !find_result(r, node, true, &s) ||
        (TAPER_FIELD(taper_node_facts(node), FUNCTION) == TAPER_FUNCTION_ADD &&
         (!is_in_reach(from[0].scale, s.result.scale) || !is_in_reach(from[1].scale, s.result.scale)))) {
        return TAPER_OK;
    }
    const bool relu = s.activation != NULL && s.low == 0;
    const taper_op *op = taper_quantized_row(node, relu);
    const int64_t rank = taper_least_rank(r, taper_node_in(node, 0));
    if (op == NULL) {
        return TAPER_OK;
    }
    // The result gets the memory format of the first operand, which should therefore be the image and not the gate.
    const size_t first = is_gate(taper_node_in(node, 0)) && !is_gate(taper_node_in(node, 1)) ? 1 : 0;
    TAPER_TRY(taper_recompose_take(r, taper_node_in(node, first), &in[0]));
    TAPER_TRY(taper_recompose_take(r, taper_node_in(node, 1 - first), &in[1]));
    TAPER_TRY(op_before(r, node, op, &made));
    taper_node_set_input(made, 0, in[0]);
    taper_node_set_input(made, 1, in[1]);
    TAPER_TRY(set_qparams(r, made, 2, s.result));
    return finish(r, &s, made, relu, rank);
}

// Makes an operator that takes the scale and zero point of its result as arguments. Its other arguments have the names
// of the float operator's arguments.
static taper_status make_curve(taper_recomposer *r, const step *s, const taper_op *op)
{
    taper_node *made;
    taper_ir_value *x;
    const int64_t rank = taper_least_rank(r, taper_node_in(s->node, 0));
    if (op == NULL) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_recompose_take(r, taper_node_in(s->node, 0), &x));
    TAPER_TRY(op_before(r, s->node, op, &made));
    taper_node_set_input(made, 0, x);
    for (size_t i = 1; i < made->schema->arg_count; i++) {
        const char *name = made->schema->args[i].name;
        taper_ir_value *same = taper_node_argument(s->node, name);
        if (strcmp(name, "output_scale") == 0) {
            TAPER_TRY(set_qparams(r, made, i++, s->result));
        } else if (same != NULL) {
            taper_node_set_input(made, i, same);
        } else {
            TAPER_TRY(set_constant(r, made, i, taper_val_bool(false))); // sets the argument inplace
        }
    }
    return finish(r, s, made, false, rank);
}

// Calls the operator of the node on integers instead of floats.
static taper_status make_same(taper_recomposer *r, const step *s)
{
    taper_node *made;
    taper_ir_value *x;
    const taper_op *op = taper_quantized_row(s->node, false);
    const int64_t rank = taper_least_rank(r, &s->node->outputs[0]);
    if (op == NULL) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_recompose_take(r, taper_node_in(s->node, 0), &x));
    TAPER_TRY(op_before(r, s->node, op, &made));
    taper_node_set_input(made, 0, x);
    for (size_t i = 1; i < s->node->input_count; i++) {
        taper_node_set_input(made, i, taper_node_in(s->node, i));
    }
    return finish(r, s, made, false, rank);
}

// Replaces an activation that only clamps. If all integers are within its bounds, it is only removed; otherwise it
// becomes the relu of the layer, or an operator on integers.
static taper_status make_clamp(taper_recomposer *r, const step *s, float low, float high)
{
    taper_ir_value *x;
    const taper_ir_value *floats = taper_node_in(s->node, 0);
    TAPER_TRY(taper_recompose_take(r, floats, &x));
    const taper_recomposed of = taper_recomposed_of(r, x);
    floats = taper_node_in(s->node, 0); // input 0 is a dequantize node of x now
    if (bound(s->result, high) < 255) {
        return make_same(r, s);
    }
    if (bound(s->result, low) > 0) {
        const taper_schema *schema;
        if (of.with_relu == NULL || low != 0 || !taper_value_used_once(x) || !taper_value_used_once(floats)) {
            return make_same(r, s);
        }
        TAPER_TRY(taper_registry_schema(r->compilation->registry, of.with_relu, &schema, r->compilation->error));
        taper_node_set_op(x->node, of.with_relu, schema);
        TAPER_TRY(taper_recomposed_set(r, x, (taper_recomposed){true, true, of.qparams, of.rank, NULL}));
    }
    return taper_recompose_give(r, &s->node->outputs[0], x);
}

static taper_status make_join(taper_recomposer *r, taper_node *node)
{
    taper_node *items = taper_node_in(node, 0)->node, *list, *made;
    taper_qparams from;
    step s;
    bool same = true;
    if (items->input_count > MOST_ITEMS || !find_result(r, node, false, &s)) {
        return TAPER_OK;
    }
    for (size_t i = 0; i < items->input_count; i++) {
        if (!taper_recompose_source(r, taper_node_in(items, i), &from)) {
            return TAPER_OK;
        }
        same = same && from.scale == s.result.scale && from.zero_point == s.result.zero_point;
    }
    const taper_op *op = same ? taper_quantized_row(node, false) : TAPER_OP(quantized_cat);
    const int64_t rank = taper_least_rank(r, &node->outputs[0]);
    if (op == NULL) {
        return TAPER_OK;
    }
    // Quantizes all items before the list is inserted, because taper_recompose_take reads the users of an item, and the
    // new list would be one of them.
    taper_ir_value *taken[MOST_ITEMS];
    for (size_t i = 0; i < items->input_count; i++) {
        TAPER_TRY(taper_recompose_take(r, taper_node_in(items, i), &taken[i]));
    }
    TAPER_TRY(taper_node_create(r->graph, TAPER_NODE_LIST, items->input_count, 1, &list, r->compilation->error));
    list->type = items->type;
    list->outputs[0].type = items->outputs[0].type;
    list->debug = items->debug;
    list->instruction = items->instruction;
    taper_node_insert_before(list, node);
    for (size_t i = 0; i < items->input_count; i++) {
        taper_node_set_input(list, i, taken[i]);
    }
    TAPER_TRY(op_before(r, node, op, &made));
    taper_node_set_input(made, 0, &list->outputs[0]);
    taper_node_set_input(made, 1, taper_node_in(node, 1));
    if (!same) {
        TAPER_TRY(set_qparams(r, made, 2, s.result));
    }
    return finish(r, &s, made, false, rank);
}

static bool same_qparams(taper_qparams a, taper_qparams b)
{
    return a.scale == b.scale && a.zero_point == b.zero_point;
}

static taper_status make_single(taper_recomposer *r, taper_node *node, taper_step_kind kind)
{
    taper_qparams from;
    float low, high;
    step s;
    if (!taper_recompose_source(r, taper_node_in(node, 0), &from) || !find_result(r, node, false, &s)) {
        return TAPER_OK;
    }
    switch (kind) {
    case TAPER_STEP_CURVE:
        return make_curve(r, &s, taper_quantized_row(node, false));
    case TAPER_STEP_FIXED: // QNNPACK's operator has a fixed scale
        return same_qparams(s.result, taper_fixed_qparams(node)) ? make_same(r, &s) : TAPER_OK;
    default:
        return !same_qparams(s.result, from)                ? TAPER_OK
               : taper_activation_bounds(node, &low, &high) ? make_clamp(r, &s, low, high)
                                                            : make_same(r, &s);
    }
}

// Replaces the last node of a decomposed linear layer by one linear node.
static taper_status make_linear(taper_recomposer *r, taper_node *node)
{
    taper_node *linear;
    bool done;
    TAPER_TRY(taper_recompose_product(r, node, &linear));
    return linear != NULL ? visit_layer(r, linear, &done) : TAPER_OK;
}

taper_status taper_recompose_node(taper_recomposer *r, taper_node *node)
{
    bool done = false;
    taper_step_kind kind;
    taper_qparams known;
    if (node->kind != TAPER_NODE_OP || node->output_count == 0 ||
        taper_recompose_source(r, &node->outputs[0], &known)) {
        return TAPER_OK; // the result is a dequantized value: the operators that use it take its integers
    }
    if (taper_node_calls(node, TAPER_OP(aten_addmm)) || taper_node_calls(node, TAPER_OP(aten_mm))) {
        return make_linear(r, node);
    }
    TAPER_TRY(visit_layer(r, node, &done));
    if (done || !taper_step_kind_of(node, &kind) ||
        (kind != TAPER_STEP_PAIR && kind != TAPER_STEP_CURVE && !taper_row_takes_quantized(node->op))) {
        return TAPER_OK;
    }
    return kind == TAPER_STEP_PAIR   ? make_pair(r, node)
           : kind == TAPER_STEP_JOIN ? make_join(r, node)
                                     : make_single(r, node, kind);
}
