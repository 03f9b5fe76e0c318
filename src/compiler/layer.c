// SPDX-License-Identifier: BSD-2-Clause
// Finds convolutions and linear layers with constant weights, whichever operator computes them. See layer.h.
#include "compiler/layer.h"

static taper_tensor *constant_weights(const taper_compilation *compilation, const taper_ir_value *value)
{
    const taper_node *constant = value != NULL ? taper_value_constant(value) : NULL;
    if (constant == NULL || constant->constant.tag != TAPER_TENSOR ||
        constant->constant.as.tensor->dtype != TAPER_F32 || taper_is_written(compilation, constant->constant)) {
        return NULL;
    }
    return constant->constant.as.tensor;
}

// Reads a constant argument of type int[dims]. A list of one item stands for `dims` equal items.
static bool constant_ints(const taper_ir_value *value, size_t dims, int64_t *numbers)
{
    const taper_node *constant = value != NULL ? taper_value_constant(value) : NULL;
    if (constant == NULL || constant->constant.tag != TAPER_LIST) {
        return false;
    }
    const taper_list *list = constant->constant.as.list;
    if (list->count != dims && list->count != 1) {
        return false;
    }
    for (size_t i = 0; i < dims; i++) {
        const taper_val item = list->items[list->count == 1 ? 0 : i];
        if (item.tag != TAPER_INT) {
            return false;
        }
        numbers[i] = item.as.i;
    }
    return true;
}

static bool match_convolution(taper_layer *layer, size_t dims)
{
    const taper_node *node = layer->node;
    const taper_ir_value *transposed = taper_node_argument(node, "transposed");
    const taper_ir_value *groups = taper_node_argument(node, "groups");
    const taper_ir_value *output_padding = taper_node_argument(node, "output_padding");
    if (transposed != NULL) {
        const taper_node *constant = taper_value_constant(transposed);
        if (constant == NULL || constant->constant.tag != TAPER_BOOLEAN) {
            return false;
        }
        layer->transposed = constant->constant.as.b;
    }
    const taper_node *group = groups != NULL ? taper_value_constant(groups) : NULL;
    layer->dims = dims != 0 ? dims : (size_t)layer->weight->rank - 2;
    if (layer->weight->rank < 3 || layer->weight->rank != layer->dims + 2 || layer->dims > TAPER_LAYER_DIMS ||
        group == NULL || group->constant.tag != TAPER_INT || group->constant.as.i < 1 ||
        !constant_ints(taper_node_argument(node, "stride"), layer->dims, layer->stride) ||
        !constant_ints(taper_node_argument(node, "padding"), layer->dims, layer->padding) ||
        !constant_ints(taper_node_argument(node, "dilation"), layer->dims, layer->dilation) ||
        (output_padding != NULL && !constant_ints(output_padding, layer->dims, layer->output_padding))) {
        return false;
    }
    layer->groups = group->constant.as.i;
    return layer->weight->sizes[0] % layer->groups == 0 &&
           !__builtin_mul_overflow(layer->transposed ? layer->weight->sizes[1] : layer->weight->sizes[0],
                                   layer->transposed ? layer->groups : 1, &layer->channels);
}

bool taper_layer_match_weight(const taper_compilation *compilation, taper_node *node, taper_tensor *weight,
                              taper_layer *layer)
{
    *layer = (taper_layer){.node = node, .weight = weight, .groups = 1};
    const uint64_t facts = taper_node_facts(node);
    const unsigned kind = TAPER_FIELD(facts, LAYER);
    if (kind < TAPER_LAYER_CONV1 || kind > TAPER_LAYER_LINEAR || (facts & (TAPER_OP_PACKS | TAPER_OP_PACKED)) != 0 ||
        node->schema->out_count != 0 || node->output_count != 1) {
        return false;
    }
    layer->convolution = kind != TAPER_LAYER_LINEAR;
    layer->transposed = kind >= TAPER_LAYER_CONV_TRANSPOSED1 && kind <= TAPER_LAYER_CONV_TRANSPOSED3;
    const size_t dims = kind <= TAPER_LAYER_CONV3 ? 1 + kind - TAPER_LAYER_CONV1
                        : layer->transposed       ? 1 + kind - TAPER_LAYER_CONV_TRANSPOSED1
                                            : 0; // 0 for other layers, whose weight tells the number of dimensions
    layer->input = taper_node_in(node, 0);
    layer->weight_value = taper_node_argument(node, "weight");
    layer->bias_value = taper_node_argument(node, "bias");
    layer->weight = weight != NULL ? weight : constant_weights(compilation, layer->weight_value);
    if (layer->weight == NULL || layer->bias_value == NULL) {
        return false;
    }
    const taper_node *no_bias = taper_value_constant(layer->bias_value);
    if (no_bias == NULL || no_bias->constant.tag != TAPER_NONE) {
        layer->bias = constant_weights(compilation, layer->bias_value);
        if (layer->bias == NULL) {
            return false;
        }
    }
    if (layer->convolution) {
        if (!match_convolution(layer, dims)) {
            return false;
        }
    } else {
        if (layer->weight->rank != 2) {
            return false;
        }
        layer->channels = layer->weight->sizes[0];
    }
    return layer->bias == NULL || (layer->bias->rank == 1 && layer->bias->sizes[0] == layer->channels);
}

bool taper_layer_match(const taper_compilation *compilation, taper_node *node, taper_layer *layer)
{
    return taper_layer_match_weight(compilation, node, NULL, layer);
}

static bool are_swapped(const double dims[2]) // true for the dimensions 0 and 1 of a matrix, in either order
{
    for (size_t i = 0; i < 2; i++) {
        if (dims[i] != -2 && dims[i] != -1 && dims[i] != 0 && dims[i] != 1) {
            return false;
        }
    }
    return (((int)dims[0] + (int)dims[1]) & 1) != 0;
}

taper_ir_value *taper_transposed_of(const taper_ir_value *matrix)
{
    double dims[2];
    const taper_node *node = matrix->node;
    if (node == NULL || node->kind != TAPER_NODE_OP) {
        return NULL;
    }
    bool swaps = taper_node_calls(node, TAPER_OP(aten_t));
    if (taper_node_calls(node, TAPER_OP(aten_permute))) {
        const taper_val *list = taper_node_constant_in(node, 1);
        const taper_val *items =
            list != NULL && list->tag == TAPER_LIST && list->as.list->count == 2 ? list->as.list->items : NULL;
        if (items != NULL && items[0].tag == TAPER_INT && items[1].tag == TAPER_INT) {
            dims[0] = (double)items[0].as.i;
            dims[1] = (double)items[1].as.i;
            swaps = (dims[0] == 1 || dims[0] == -1) && are_swapped(dims);
        }
    } else if (taper_node_calls(node, TAPER_OP(aten_transpose_int)) &&
               taper_node_constant_is_number(node, 1, &dims[0]) && taper_node_constant_is_number(node, 2, &dims[1])) {
        swaps = are_swapped(dims);
    }
    return swaps ? taper_node_in(node, 0) : NULL;
}
