// SPDX-License-Identifier: BSD-2-Clause
// Exporters for x86 add 128 to signed bytes before a product, because x86 has instructions that multiply unsigned bytes
// by signed bytes. They then correct the result:
//   sub(_int_mm(to_uint8(add(to_int32(x), 128)), w), mul(sum(w, [0], True, dtype=int32), 128))
// This pass replaces the expression by _int_mm(x, w). The kernel of _int_mm adds 128 where an instruction set needs it,
// and does not compute the sum in each run.
#include "compiler/layer.h"

enum { RAISED = 128, MOST_VIEWS = 8 };

// Returns true if the dtype of the value is known to be int8, because it is a conversion to int8 or a view of one.
static bool is_int8(const taper_ir_value *value)
{
    for (size_t i = 0; i < MOST_VIEWS && value->node != NULL && value->node->kind == TAPER_NODE_OP; i++) {
        const taper_node *node = value->node;
        double dtype;
        if (taper_node_calls(node, TAPER_OP(torchao_quantize_affine))) {
            return taper_node_constant_equals(node, 4, TAPER_I8);
        }
        if (taper_node_converts(node, &dtype)) {
            return dtype == TAPER_I8;
        }
        if (!taper_node_calls(node, TAPER_OP(aten_reshape)) && !taper_node_calls(node, TAPER_OP(aten_view))) {
            return false;
        }
        value = taper_node_in(node, 0);
    }
    return false;
}

static const taper_node *conversion_to(const taper_ir_value *value, taper_dtype wanted)
{
    double dtype;
    const taper_node *node = value->node;
    return node != NULL && taper_node_converts(node, &dtype) && dtype == wanted ? node : NULL;
}

// If `raised` is int8 bytes plus 128, returns the node that converts the bytes to int32, otherwise NULL.
static const taper_node *find_signed(const taper_ir_value *raised)
{
    const taper_node *narrowed = conversion_to(raised, TAPER_U8);
    const taper_node *added = narrowed != NULL ? taper_node_in(narrowed, 0)->node : NULL;
    if (added == NULL ||
        (!taper_node_calls(added, TAPER_OP(aten_add_Tensor)) && !taper_node_calls(added, TAPER_OP(aten_add_Scalar))) ||
        !taper_node_constant_equals(added, 1, RAISED) || !taper_node_constant_equals(added, 2, 1)) {
        return NULL;
    }
    const taper_node *widened = conversion_to(taper_node_in(added, 0), TAPER_I32);
    return widened != NULL && is_int8(taper_node_in(widened, 0)) ? widened : NULL;
}

// Returns true if the value is 128 times the sums of the columns of w: the amount by which adding 128 to the input
// raises the product.
static bool is_correction(const taper_ir_value *value, const taper_ir_value *w)
{
    const taper_node *scaled = value->node, *sum;
    if (scaled == NULL ||
        (!taper_node_calls(scaled, TAPER_OP(aten_mul_Tensor)) &&
         !taper_node_calls(scaled, TAPER_OP(aten_mul_Scalar))) ||
        !taper_node_constant_equals(scaled, 1, RAISED) || (sum = taper_node_in(scaled, 0)->node) == NULL ||
        !taper_node_calls(sum, TAPER_OP(aten_sum_dim_IntList)) || taper_node_in(sum, 0) != w) {
        return false;
    }
    const taper_val *dims = taper_node_constant_in(sum, 1), *keeps = taper_node_constant_in(sum, 2);
    return dims != NULL && dims->tag == TAPER_LIST && dims->as.list->count == 1 &&
           dims->as.list->items[0].tag == TAPER_INT && dims->as.list->items[0].as.i == 0 && keeps != NULL &&
           keeps->tag == TAPER_BOOLEAN && keeps->as.b && taper_node_constant_equals(sum, 3, TAPER_I32);
}

static taper_status visit(taper_compilation *compilation, taper_node *node)
{
    const bool in_place = taper_node_calls(node, TAPER_OP(aten_sub__Tensor));
    if ((!in_place && !taper_node_calls(node, TAPER_OP(aten_sub_Tensor))) || !taper_node_constant_equals(node, 2, 1)) {
        return TAPER_OK;
    }
    const taper_ir_value *raised = taper_node_in(node, 0);
    const taper_node *product = raised->node, *widened;
    if (product == NULL || !taper_node_calls(product, TAPER_OP(aten__int_mm)) || !taper_value_used_once(raised) ||
        !is_correction(taper_node_in(node, 1), taper_node_in(product, 1)) ||
        (widened = find_signed(taper_node_in(product, 0))) == NULL || !taper_nothing_written_since(node, widened)) {
        return TAPER_OK;
    }
    taper_node *made;
    TAPER_TRY(taper_op_before(compilation, node, TAPER_OP(aten__int_mm), &made));
    if (made == NULL) {
        return TAPER_OK;
    }
    taper_node_set_input(made, 0, taper_node_in(widened, 0));
    taper_node_set_input(made, 1, taper_node_in(product, 1));
    taper_node_replace(node, made);
    return TAPER_OK;
}

taper_status taper_pass_signed_products(taper_compilation *compilation, taper_graph *graph)
{
    return taper_visit_nodes(compilation, graph->body, visit);
}
