// SPDX-License-Identifier: BSD-2-Clause
// Replaces matmul(x, t(w)) + b, addmm(b, x, t(w)) and matmul(x, t(w)) with constant weights by linear(x, w, b). If the
// second matrix is a constant without t(), w is its transpose.
#include "compiler/layer.h"
#include "ir/tensor.h"

static taper_tensor *constant_tensor(const taper_compilation *compilation, const taper_ir_value *value, unsigned rank)
{
    const taper_node *node = taper_value_constant(value);
    if (node == NULL || node->constant.tag != TAPER_TENSOR || node->constant.as.tensor->rank != rank ||
        node->constant.as.tensor->dtype != TAPER_F32 || taper_is_written(compilation, node->constant)) {
        return NULL;
    }
    return node->constant.as.tensor;
}

// If `value` is t(w) or transpose(w, 0, 1), finds the constant w. If `value` is a constant matrix, inserts its
// transpose as a new constant.
static taper_status transposed_weight(taper_compilation *compilation, taper_node *before, taper_ir_value *value,
                                      taper_ir_value **weight)
{
    taper_ir_value *turned = taper_transposed_of(value);
    *weight = NULL;
    if (turned != NULL && constant_tensor(compilation, turned, 2) != NULL) {
        *weight = turned;
        return TAPER_OK;
    }
    const taper_tensor *matrix = constant_tensor(compilation, value, 2);
    // The transpose of a constant with several users is not made, because each user would need a copy. The copy would
    // also not pass a gradient to the constant.
    if (matrix == NULL || !taper_value_used_once(value) || (compilation->takes_gradients && matrix->requires_grad)) {
        return TAPER_OK;
    }
    const int64_t sizes[2] = {matrix->sizes[1], matrix->sizes[0]};
    taper_tensor *view, *copy;
    const int64_t strides[2] = {matrix->strides[1], matrix->strides[0]};
    taper_heap *heap = compilation->module->heap;
    TAPER_TRY(taper_tensor_view(heap, matrix->storage, TAPER_F32, matrix->offset, 2, sizes, strides, &view,
                                compilation->error));
    const taper_status status = taper_tensor_contiguous(heap, view, &copy, compilation->error);
    taper_obj_release(&view->head);
    TAPER_TRY(status);
    return taper_constant_before(before, TAPER_VAL(copy), weight, compilation->error);
}

// Inserts the layer at the place of `product`. Removes `node`, which is the product or a sum after it. The layer cannot
// be at the place of the sum, because a node before the sum may write to x.
static taper_status make_linear(taper_compilation *compilation, taper_node *node, taper_node *product,
                                taper_ir_value *matrix, taper_ir_value *bias)
{
    taper_ir_value *weight, *x = taper_node_in(product, taper_node_calls(product, TAPER_OP(aten_addmm)) ? 1 : 0);
    taper_node *linear;
    if (!TAPER_HAS_OP(aten_linear)) {
        return TAPER_OK;
    }
    TAPER_TRY(transposed_weight(compilation, product, matrix, &weight));
    if (weight == NULL) {
        return TAPER_OK;
    }
    const taper_tensor *w = weight->node->constant.as.tensor;
    const taper_tensor *b = bias != NULL ? constant_tensor(compilation, bias, 1) : NULL;
    if (bias != NULL && (b == NULL || b->sizes[0] != w->sizes[0])) {
        return TAPER_OK;
    }
    if (bias == NULL) {
        TAPER_TRY(taper_constant_before(product, taper_val_none(), &bias, compilation->error));
    } else if (node != product) {
        const taper_node *constant = bias->node; // copied, because the constant may be defined after the product
        TAPER_TRY(taper_constant_before(product, taper_val_retain(constant->constant), &bias, compilation->error));
        bias->node->own.constant = constant->own.constant;
    }
    TAPER_TRY(taper_op_before(compilation, product, TAPER_OP(aten_linear), &linear));
    taper_node_set_input(linear, 0, x);
    taper_node_set_input(linear, 1, weight);
    taper_node_set_input(linear, 2, bias);
    taper_node_replace(node, linear);
    return TAPER_OK;
}

static bool is_one(const taper_node *node, size_t index)
{
    double number;
    return taper_node_constant_is_number(node, index, &number) && number == 1.0;
}

static taper_status visit(taper_compilation *compilation, taper_node *node)
{
    if (taper_node_calls(node, TAPER_OP(aten_addmm)) && node->schema->out_count == 0 && is_one(node, 3) &&
        is_one(node, 4)) {
        return make_linear(compilation, node, node, taper_node_in(node, 2), taper_node_in(node, 0));
    }
    if (taper_node_calls(node, TAPER_OP(aten_matmul)) && node->schema->out_count == 0) {
        // If the only user of the product is a sum that adds a bias, both are replaced together.
        taper_node *user = taper_value_used_once(&node->outputs[0]) ? node->outputs[0].uses->user : NULL;
        if (user != NULL && user->block == node->block && taper_node_calls(user, TAPER_OP(aten_add_Tensor)) &&
            is_one(user, 2) && taper_node_in(user, 0) != taper_node_in(user, 1)) {
            taper_ir_value *bias = taper_node_in(user, 1 - node->outputs[0].uses->index);
            const taper_node *matrix = taper_node_in(node, 1)->node;
            if (constant_tensor(compilation, bias, 1) != NULL && matrix != NULL) {
                return TAPER_OK; // the product is replaced when the sum is visited
            }
        }
        return make_linear(compilation, node, node, taper_node_in(node, 1), NULL);
    }
    if (!taper_node_calls(node, TAPER_OP(aten_add_Tensor)) || !is_one(node, 2)) {
        return TAPER_OK;
    }
    for (size_t i = 0; i < 2; i++) {
        taper_ir_value *product = taper_node_in(node, i), *bias = taper_node_in(node, 1 - i);
        taper_node *matmul = product->node;
        if (matmul != NULL && taper_node_calls(matmul, TAPER_OP(aten_matmul)) && matmul->schema->out_count == 0 &&
            taper_value_used_once(product) && matmul->block == node->block &&
            constant_tensor(compilation, bias, 1) != NULL) {
            return make_linear(compilation, node, matmul, taper_node_in(matmul, 1), bias);
        }
    }
    return TAPER_OK;
}

taper_status taper_pass_recognize_linear(taper_compilation *compilation, taper_graph *graph)
{
    TAPER_TRY(taper_written_storages_find(compilation));
    return taper_visit_nodes(compilation, graph->body, visit);
}
