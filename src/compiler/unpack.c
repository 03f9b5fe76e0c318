// SPDX-License-Identifier: BSD-2-Clause
// Undoes the packing of another optimizer in a model that will be quantized. Layers on packed weights become aten::
// layers and separate activations, sums with a fused relu become two operators, and copies from a device are removed.
// The operators' own parsers read the states of the packed objects; if a parser refuses an object, its layer is not
// changed.
#include <math.h>

#include "compiler/prepack.h"
#include "ops/list/shared_kernels.h"
#include "ops/nn/prepacked.h"

static taper_status set_constant(taper_node *node, size_t index, taper_val value, taper_error *error)
{
    taper_ir_value *constant;
    TAPER_TRY(taper_constant_before(node, value, &constant, error));
    taper_node_set_input(node, index, constant);
    return TAPER_OK;
}

// ---- bounds of a layer's results, as activations

// Inserts a relu or clamp of x. *result is x if there is no bound, or NULL if this build lacks the operator.
static taper_status clamp_before(taper_compilation *compilation, taper_node *before, taper_ir_value *x, double min,
                                 double max, taper_ir_value **result)
{
    taper_node *node;
    const bool relu = min == 0 && isinf(max);
    *result = x;
    if (isinf(min) && isinf(max)) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_op_before(compilation, before, relu ? TAPER_OP(aten_relu) : TAPER_OP(aten_clamp), &node));
    *result = node != NULL ? &node->outputs[0] : NULL;
    if (node == NULL) {
        return TAPER_OK;
    }
    taper_node_set_input(node, 0, x);
    for (size_t i = 1; !relu && i < 3; i++) {
        const double bound = i == 1 ? min : max;
        TAPER_TRY(set_constant(node, i, isinf(bound) ? taper_val_none() : taper_val_double(bound), compilation->error));
    }
    return TAPER_OK;
}

// ---- packed layers

typedef struct packed_layer {
    bool convolution, weight_is_in_out;
    taper_tensor *weight, *bias;
    taper_conv_params params;
    double min, max; // bounds of the result; infinite if there is no bound
} packed_layer;

// Sets *matches to true if `node` is a layer on packed weights and the state of its object is valid.
static taper_status match(const taper_compilation *compilation, const taper_node *node, packed_layer *layer,
                          bool *matches)
{
    const taper_val *object;
    *matches = false;
    *layer = (packed_layer){.min = -(double)INFINITY, .max = (double)INFINITY};
    if (node->kind != TAPER_NODE_OP || node->input_count != 2 || !taper_op_has(node->op, TAPER_OP_PACKED) ||
        (object = taper_node_constant_in(node, 1)) == NULL || object->tag != TAPER_OBJECT) {
        return TAPER_OK;
    }
    taper_run run = taper_run_on(compilation->module->heap, NULL, NULL);
    taper_call call = {.run = &run, .op = node->op, .schema = node->schema};
    taper_status status = TAPER_ERROR_UNSUPPORTED;
    if (taper_row_kernel(node->op) == taper_op_conv) {
        taper_conv_args args = {.min = layer->min, .max = layer->max};
        status = taper_prepacked_conv_state(&call, object->as.object, &args);
        *layer = (packed_layer){true, false, args.weight, args.bias, args.params, args.min, args.max};
    } else if (taper_row_kernel(node->op) == taper_op_prepacked_linear) {
        taper_linear_args args = {.min = layer->min, .max = layer->max};
        status = taper_prepacked_linear_state(&call, object->as.object, &args);
        *layer = (packed_layer){.weight_is_in_out = args.weight_is_in_out,
                                .weight = args.weight,
                                .bias = args.bias,
                                .min = args.min,
                                .max = args.max};
    }
    *matches = status == TAPER_OK;
    return status == TAPER_ERROR_RESOURCE ? taper_fail_memory(compilation->error) : TAPER_OK;
}

// Sets the arguments after (input, weight, bias): stride, padding, dilation, groups. For a transposed convolution they
// are stride, padding, output_padding, groups, dilation.
static taper_status set_geometry(taper_compilation *compilation, taper_node *node, const taper_conv_params *p)
{
    const int64_t *const lists[] = {p->stride, p->padding, p->transposed ? p->output_padding : p->dilation,
                                    p->dilation};
    const size_t count = p->transposed ? 4 : 3;
    for (size_t i = 0; i < count; i++) {
        taper_ir_value *ints;
        TAPER_TRY(taper_constant_ints_before(compilation, node, lists[i], 2, &ints));
        taper_node_set_input(node, i < 3 ? 3 + i : 7, ints);
    }
    return set_constant(node, 6, taper_val_int(p->groups), compilation->error);
}

static taper_status unpack_layer(taper_compilation *compilation, taper_node *node, const packed_layer *layer)
{
    taper_node *plain;
    taper_ir_value *result;
    taper_tensor *weight = layer->weight;
    TAPER_TRY(taper_op_before(compilation, node,
                              !layer->convolution        ? TAPER_OP(aten_linear)
                              : layer->params.transposed ? TAPER_OP(aten_conv_transpose2d_input)
                                                         : TAPER_OP(aten_conv2d),
                              &plain));
    if (plain == NULL) {
        return TAPER_OK;
    }
    taper_node_set_input(plain, 0, taper_node_in(node, 0));
    if (layer->weight_is_in_out) {
        TAPER_TRY(taper_transposed_weight(compilation, layer->weight, &weight));
    } else {
        (void)taper_val_retain(TAPER_VAL(weight));
    }
    TAPER_TRY(set_constant(plain, 1, TAPER_VAL(weight), compilation->error));
    TAPER_TRY(set_constant(plain, 2, layer->bias != NULL ? taper_val_retain(TAPER_VAL(layer->bias)) : taper_val_none(),
                           compilation->error));
    if (layer->convolution) {
        TAPER_TRY(set_geometry(compilation, plain, &layer->params));
    }
    TAPER_TRY(clamp_before(compilation, node, &plain->outputs[0], layer->min, layer->max, &result));
    if (result == NULL) {
        taper_node_remove(plain);
        return TAPER_OK;
    }
    taper_node_replace(node, result->node);
    return TAPER_OK;
}

// ---- the pass

static taper_status unpack_sum(taper_compilation *compilation, taper_node *node)
{
    taper_node *add;
    taper_ir_value *result;
    TAPER_TRY(taper_op_before(compilation, node, TAPER_OP(aten_add_Tensor), &add));
    if (add == NULL) {
        return TAPER_OK;
    }
    for (size_t i = 0; i < 3; i++) {
        taper_node_set_input(add, i, taper_node_in(node, i));
    }
    TAPER_TRY(clamp_before(compilation, node, &add->outputs[0], 0, (double)INFINITY, &result));
    taper_node_replace(node, result != NULL ? result->node : add);
    return TAPER_OK;
}

// Returns true if the node copies a tensor from a device.
static bool fetches(const taper_node *node)
{
    for (const taper_preparer *whose = taper_preparers; whose->name != NULL; whose++) {
        if (whose->fetches != NULL && taper_node_calls(node, whose->fetches)) {
            return true;
        }
    }
    return false;
}

static taper_status visit(taper_compilation *compilation, taper_node *node)
{
    packed_layer layer;
    bool matches;
    if (taper_node_calls(node, TAPER_OP(aten__add_relu_Tensor)) && node->input_count == 3) {
        return unpack_sum(compilation, node);
    }
    if (fetches(node) && node->input_count == 1) {
        taper_value_replace_uses(&node->outputs[0], taper_node_in(node, 0));
        taper_node_remove(node);
        return TAPER_OK;
    }
    TAPER_TRY(match(compilation, node, &layer, &matches));
    return matches ? unpack_layer(compilation, node, &layer) : TAPER_OK;
}

taper_status taper_pass_unpack(taper_compilation *compilation, taper_graph *graph)
{
    return taper_visit_nodes(compilation, graph->body, visit);
}
