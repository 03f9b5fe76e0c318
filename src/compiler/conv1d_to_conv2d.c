// SPDX-License-Identifier: BSD-2-Clause
// A convolution over one dimension is one over two of which the first is 1: unsqueeze, conv2d, squeeze, which the fast
// kernels and the backends do. The new dimension is the last but one, so that input without a batch is right as well.
// Input in another order of memory, a transposed sequence say, is made contiguous first, as by PyTorch: conv2d would
// take it for channels last and give such a result, of which later views are not those of a contiguous one.
#include "compiler/layer.h"
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

// x with a dimension of size 1 more, or less.
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

static taper_status visit(taper_compilation *compilation, taper_node *node)
{
    taper_layer layer;
    taper_node *plain, *wide, *conv, *narrow;
    taper_ir_value *weight;
    if (!taper_layer_match(compilation, node, &layer) || layer.dims != 1 || layer.transposed ||
        !TAPER_HAS_OP(aten_unsqueeze) || !TAPER_HAS_OP(aten_squeeze_dim)) {
        return TAPER_OK;
    }
    if (!TAPER_HAS_OP(aten_conv2d) || !TAPER_HAS_OP(aten_contiguous)) {
        return TAPER_OK;
    }
    TAPER_TRY(flat_weight(compilation, &layer, &weight));
    TAPER_TRY(contiguous_before(compilation, node, layer.input, &plain));
    TAPER_TRY(reshape_before(compilation, node, TAPER_OP(aten_unsqueeze), &plain->outputs[0], &wide));
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
    // The constants stand before what uses them.
    for (size_t i = 3; i < 6; i++) {
        taper_node *constant = taper_node_in(conv, i)->node;
        taper_node *after = wide;
        taper_node_move_after(constant, after);
    }
    taper_node_replace(node, narrow);
    return TAPER_OK;
}

taper_status taper_pass_conv1d_to_conv2d(taper_compilation *compilation, taper_graph *graph)
{
    if (compilation->backend != TAPER_PORTABLE_CPU && compilation->backend < TAPER_PORTABLE_NNAPI) {
        return TAPER_OK; // unsqueeze and squeeze are not among the operators of Vulkan and Metal
    }
    TAPER_TRY(taper_written_storages_find(compilation));
    return taper_visit_nodes(compilation, graph->body, visit);
}
