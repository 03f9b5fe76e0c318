// SPDX-License-Identifier: BSD-2-Clause
// Replaces a convolution over one dimension by unsqueeze, conv2d and squeeze; the new dimension has size 1. The fast
// kernels and the backends support conv2d. The new dimension is the second to last, which is also correct for input
// without a batch. Input in another memory order, such as a transposed sequence, is first made contiguous, as in
// PyTorch. Otherwise conv2d would take the input as channels last and return a channels-last result, and later views
// would differ from views of a contiguous result.
//
// While a model is loaded for the CPU, the operators after the convolution are applied to the 4-D image: batch norm,
// which is then folded into the convolution's weights, sums and activations. The squeeze moves after these operators,
// and the next convolution takes the image directly.
#include "compiler/layer.h"
#include "ir/tensor.h"
#include "ops/engine/view_move.h"

static taper_status flat_weight(taper_compilation *compilation, const taper_layer *layer, taper_ir_value **made)
{
    const taper_tensor *w = layer->weight;
    const int64_t sizes[4] = {w->sizes[0], w->sizes[1], 1, w->sizes[2]};
    const int64_t strides[4] = {w->strides[0], w->strides[1], w->strides[1], w->strides[2]};
    taper_tensor *view;
    TAPER_TRY(taper_tensor_view(compilation->module->heap, w->storage, TAPER_F32, w->offset, 4, sizes, strides, &view,
                                compilation->error));
    return taper_constant_before(layer->node, TAPER_VAL(view), made, compilation->error);
}

static taper_status set_pair(taper_compilation *compilation, const taper_layer *layer, taper_node *node, size_t index,
                             int64_t first, int64_t second)
{
    const int64_t pair[2] = {first, second};
    taper_ir_value *value;
    TAPER_TRY(taper_constant_ints_before(compilation, layer->node, pair, 2, &value));
    taper_node_set_input(node, index, value);
    return TAPER_OK;
}

// Adds a node that unsqueezes or squeezes x at dimension -2.
static taper_status reshape_before(taper_compilation *compilation, taper_node *before, const taper_op *op,
                                   taper_ir_value *x, taper_node **made)
{
    taper_ir_value *dim;
    TAPER_TRY(taper_op_before(compilation, before, op, made));
    TAPER_TRY(taper_constant_before(*made, taper_val_int(-2), &dim, compilation->error));
    taper_node_set_input(*made, 0, x);
    taper_node_set_input(*made, 1, dim);
    return TAPER_OK;
}

static taper_status contiguous_before(taper_compilation *compilation, taper_node *before, taper_ir_value *x,
                                      taper_node **made)
{
    taper_ir_value *format;
    TAPER_TRY(taper_op_before(compilation, before, TAPER_OP(aten_contiguous), made));
    TAPER_TRY(taper_constant_before(*made, taper_val_int(TAPER_FORMAT_CONTIGUOUS), &format, compilation->error));
    taper_node_set_input(*made, 0, x);
    taper_node_set_input(*made, 1, format);
    return TAPER_OK;
}

// ---- 3-D values (lines) as 4-D images

enum { MOST_STEPS = 64 };

static bool is_of_minus_two(const taper_node *node)
{
    const taper_val *dim = taper_node_constant_in(node, 1);
    return dim != NULL && dim->tag == TAPER_INT && dim->as.i == -2;
}

// Returns true if the node has one result and no out argument, because an out argument must have the sizes of the 3-D
// value.
static bool gives_result(const taper_node *node)
{
    return node->kind == TAPER_NODE_OP && node->output_count == 1 && node->schema->out_count == 0;
}

// Returns true if the node is an element-wise function of its first argument.
static bool is_function(const taper_node *node)
{
    const unsigned function = TAPER_FIELD(taper_node_facts(node), FUNCTION);
    return gives_result(node) && function >= TAPER_FUNCTION_RELU && function <= TAPER_FUNCTION_LEAKY_RELU;
}

static bool is_sum(const taper_node *node)
{
    const unsigned function = TAPER_FIELD(taper_node_facts(node), FUNCTION);
    double alpha;
    return gives_result(node) && function == TAPER_FUNCTION_ADD && taper_node_constant_is_number(node, 2, &alpha);
}

static bool is_norm(const taper_node *node)
{
    const taper_val *training = taper_node_constant_in(node, 5);
    return TAPER_HAS_OP(taper_batch_norm_line) && taper_node_calls(node, TAPER_OP(aten_batch_norm)) &&
           training != NULL && training->tag == TAPER_BOOLEAN && !training->as.b;
}

static bool is_row_convolution(const taper_compilation *compilation, taper_node *node)
{
    taper_layer layer;
    return taper_layer_match(compilation, node, &layer) && layer.dims == 2 && !layer.transposed &&
           layer.weight->sizes[2] == 1 && layer.stride[0] == 1 && layer.padding[0] == 0;
}

// Returns true if the second to last dimension was added by an unsqueeze node and still has size 1. *steps counts the
// nodes visited, because graphs may be deep and the search is limited.
static bool is_line(const taper_compilation *compilation, const taper_ir_value *value, unsigned *steps)
{
    while (value->node != NULL && value->node->kind == TAPER_NODE_OP && ++*steps < MOST_STEPS) {
        taper_node *node = value->node;
        if (taper_node_calls(node, TAPER_OP(aten_unsqueeze))) {
            return is_of_minus_two(node);
        }
        if (is_sum(node)) {
            if (!is_line(compilation, taper_node_in(node, 1), steps)) {
                return false;
            }
        } else if (!taper_node_calls_any(node, TAPER_OP(taper_batch_norm_line)) && !is_function(node) &&
                   !taper_node_calls_any(node, TAPER_OP(aten_contiguous)) && !is_row_convolution(compilation, node)) {
            return false;
        }
        value = taper_node_in(node, 0);
    }
    return false;
}

// Returns the 4-D value that was squeezed to this 3-D value, or NULL if there is none.
static taper_ir_value *image_of(const taper_compilation *compilation, const taper_ir_value *value)
{
    const taper_node *node = value->node;
    unsigned steps = 0;
    if (node == NULL || !TAPER_HAS_OP(aten_squeeze_dim) || !taper_node_calls(node, TAPER_OP(aten_squeeze_dim)) ||
        !is_of_minus_two(node) || !is_line(compilation, taper_node_in(node, 0), &steps)) {
        return NULL;
    }
    return taper_node_in(node, 0);
}

// Returns true if an operator may change the 3-D value in place, because no other node uses this value or the 4-D value
// from which it was squeezed.
static bool is_nobody_elses(const taper_ir_value *value)
{
    return taper_value_used_once(value) && taper_value_used_once(taper_node_in(value->node, 0));
}

static void drop_unused(taper_ir_value *value)
{
    if (value->uses == NULL) {
        taper_node_remove(value->node);
    }
}

// Moves the squeeze from before the node to after the node.
static taper_status lift(taper_compilation *compilation, taper_node *node)
{
    const bool sum = is_sum(node), norm = is_norm(node);
    taper_ir_value *rows[2] = {NULL, NULL}, *images[2] = {NULL, NULL};
    taper_node *narrow;
    for (size_t i = 0; i < (sum ? 2 : 1); i++) {
        rows[i] = taper_node_in(node, i);
        images[i] = image_of(compilation, rows[i]);
        if (images[i] == NULL) {
            return TAPER_OK;
        }
    }
    if (node->schema->in_place && !is_nobody_elses(rows[0])) {
        return TAPER_OK;
    }
    if (norm) {
        const taper_schema *schema;
        const taper_op *op = TAPER_OP(taper_batch_norm_line);
        TAPER_TRY(taper_registry_schema(compilation->registry, op, &schema, compilation->error));
        taper_node_set_op(node, op, schema);
    }
    TAPER_TRY(reshape_before(compilation, node, TAPER_OP(aten_squeeze_dim), images[0], &narrow));
    taper_ir_value *const wide = &node->outputs[0], *const row = &narrow->outputs[0];
    const uint32_t id = wide->id; // the result keeps its number, for users who compare values between graphs
    wide->id = row->id;
    row->id = id;
    taper_value_replace_uses(wide, row);
    taper_node_set_input(narrow, 0, wide);
    taper_node_move_after(narrow, node);
    for (size_t i = 0; i < (sum ? 2 : 1); i++) {
        taper_node_set_input(node, i, images[i]);
    }
    drop_unused(rows[0]);
    if (sum && rows[1] != rows[0]) {
        drop_unused(rows[1]);
    }
    return TAPER_OK;
}

// ----

static taper_status visit(taper_compilation *compilation, taper_node *node)
{
    taper_layer layer;
    taper_node *plain, *wide, *conv, *narrow;
    taper_ir_value *weight;
    const bool lifts = !compilation->portable && compilation->device_count <= 1 && node->kind == TAPER_NODE_OP;
    if (lifts && (is_norm(node) || is_sum(node) || is_function(node))) {
        return lift(compilation, node);
    }
    if (!taper_layer_match(compilation, node, &layer) || layer.dims != 1 || layer.transposed ||
        !TAPER_HAS_OP(aten_unsqueeze) || !TAPER_HAS_OP(aten_squeeze_dim)) {
        return TAPER_OK;
    }
    if (!TAPER_HAS_OP(aten_conv2d) || !TAPER_HAS_OP(aten_contiguous)) {
        return TAPER_OK;
    }
    TAPER_TRY(flat_weight(compilation, &layer, &weight));
    taper_ir_value *const image = lifts ? image_of(compilation, layer.input) : NULL;
    TAPER_TRY(contiguous_before(compilation, node, image != NULL ? image : layer.input, &plain));
    wide = plain;
    if (image == NULL) {
        TAPER_TRY(reshape_before(compilation, node, TAPER_OP(aten_unsqueeze), &plain->outputs[0], &wide));
    }
    TAPER_TRY(taper_op_before(compilation, node, TAPER_OP(aten_conv2d), &conv));
    taper_node_set_input(conv, 0, &wide->outputs[0]);
    taper_node_set_input(conv, 1, weight);
    taper_node_set_input(conv, 2, layer.bias_value);
    TAPER_TRY(set_pair(compilation, &layer, conv, 3, 1, layer.stride[0]));
    TAPER_TRY(set_pair(compilation, &layer, conv, 4, 0, layer.padding[0]));
    TAPER_TRY(set_pair(compilation, &layer, conv, 5, 1, layer.dilation[0]));
    taper_ir_value *groups;
    TAPER_TRY(taper_constant_before(conv, taper_val_int(layer.groups), &groups, compilation->error));
    taper_node_set_input(conv, 6, groups);
    TAPER_TRY(reshape_before(compilation, node, TAPER_OP(aten_squeeze_dim), &conv->outputs[0], &narrow));
    // Constants must precede the nodes that use them.
    for (size_t i = 3; i < 6; i++) {
        taper_node *constant = taper_node_in(conv, i)->node;
        taper_node *after = wide;
        taper_node_move_after(constant, after);
    }
    taper_node_replace(node, narrow);
    if (image != NULL) {
        drop_unused(layer.input);
    }
    return TAPER_OK;
}

taper_status taper_pass_conv1d_to_conv2d(taper_compilation *compilation, taper_graph *graph)
{
    if (compilation->preparer != NULL && compilation->preparer->images_only) {
        return TAPER_OK; // the device lacks unsqueeze and squeeze
    }
    TAPER_TRY(taper_written_storages_find(compilation));
    return taper_visit_nodes(compilation, graph->body, visit);
}
