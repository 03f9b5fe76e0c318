// SPDX-License-Identifier: BSD-2-Clause
// In attention, several heads of the query may share a head of key and value. Programs express this in two forms, which
// copy each shared head once for each head of the query:
// - reshape(expand(unsqueeze(key, 2), [batch, heads, groups, keys, depth]), [batch, heads * groups, keys, depth])
// - repeat_interleave(key, groups, 1)
// scaled_dot_product_attention whose key and value have such a form becomes taper::attention_expanded, which reads each
// shared head once. The pass runs only while a model is loaded, because other readers of files lack this operator.
#include "compiler/layer.h"

typedef struct repeated_heads {
    taper_ir_value *shared;   // result of expand, or argument of repeat_interleave
    taper_ir_value *shape;    // argument of reshape: the sizes after repetition; NULL for repeat_interleave
    int64_t groups, dim;      // arguments of repeat_interleave
    const taper_node *copies; // node that copies the shared heads
} repeated_heads;

static bool match_interleave(const taper_node *node, repeated_heads *found)
{
    double groups, dim;
    const taper_val *size = taper_node_constant_in(node, 3);
    if (!taper_node_constant_is_number(node, 1, &groups) || !taper_node_constant_is_number(node, 2, &dim) ||
        !(groups >= 1 && groups <= INT32_MAX) || (dim != 1 && dim != -3) || size == NULL || size->tag != TAPER_NONE) {
        return false;
    }
    *found = (repeated_heads){
        .shared = taper_node_in(node, 0), .groups = (int64_t)groups, .dim = (int64_t)dim, .copies = node};
    return true;
}

static bool match_heads(const taper_ir_value *value, repeated_heads *found)
{
    const taper_node *node = value->node;
    if (node == NULL || node->kind != TAPER_NODE_OP) {
        return false;
    }
    if (taper_node_calls(node, TAPER_OP(aten_repeat_interleave_self_int))) {
        return match_interleave(node, found);
    }
    if (!taper_node_calls(node, TAPER_OP(aten_reshape)) && !taper_node_calls(node, TAPER_OP(aten_view)) &&
        !taper_node_calls(node, TAPER_OP(aten__unsafe_view))) {
        return false;
    }
    taper_ir_value *view = taper_node_in(node, 0);
    const taper_node *copies = node;
    if (view->node != NULL && taper_node_calls(view->node, TAPER_OP(aten_clone))) {
        copies = view->node;
        view = taper_node_in(copies, 0);
    }
    *found = (repeated_heads){.shared = view, .shape = taper_node_in(node, 1), .copies = copies};
    return view->node != NULL && taper_node_calls(view->node, TAPER_OP(aten_expand));
}

// Sets input `at` of `made` to the shared heads, and inputs shape_at and shape_at + 2 to lists that describe how these
// heads are repeated.
static taper_status give_heads(taper_compilation *compilation, taper_node *made, const repeated_heads *heads, size_t at,
                               size_t shape_at)
{
    const int64_t repeats[] = {heads->groups, heads->dim};
    taper_ir_value *shape = heads->shape, *list;
    if (shape == NULL) {
        TAPER_TRY(taper_constant_ints_before(compilation, made, NULL, 0, &shape));
    }
    TAPER_TRY(taper_constant_ints_before(compilation, made, repeats, heads->shape == NULL ? 2 : 0, &list));
    taper_node_set_input(made, at, heads->shared);
    taper_node_set_input(made, shape_at, shape);
    taper_node_set_input(made, shape_at + 2, list);
    return TAPER_OK;
}

static taper_status visit(taper_compilation *compilation, taper_node *node)
{
    repeated_heads key, value;
    const taper_val *grouped;
    if (!taper_node_calls(node, TAPER_OP(aten_scaled_dot_product_attention)) ||
        (grouped = taper_node_constant_in(node, 7)) == NULL || grouped->tag != TAPER_BOOLEAN || grouped->as.b ||
        !match_heads(taper_node_in(node, 1), &key) || !match_heads(taper_node_in(node, 2), &value) ||
        !taper_nothing_written_since(node, key.copies) || !taper_nothing_written_since(node, value.copies)) {
        return TAPER_OK;
    }
    taper_node *made;
    TAPER_TRY(taper_op_before(compilation, node, TAPER_OP(taper_attention_expanded), &made));
    if (made == NULL) {
        return TAPER_OK;
    }
    taper_node_set_input(made, 0, taper_node_in(node, 0));
    TAPER_TRY(give_heads(compilation, made, &key, 1, 7));
    TAPER_TRY(give_heads(compilation, made, &value, 2, 8));
    for (size_t i = 3; i < 7; i++) { // the arguments attn_mask, dropout_p, is_causal and scale do not change
        taper_node_set_input(made, i, taper_node_in(node, i));
    }
    taper_node_replace(node, made);
    return TAPER_OK;
}

taper_status taper_pass_expanded_heads(taper_compilation *compilation, taper_graph *graph)
{
    // Other devices than the CPU support only scaled_dot_product_attention.
    return compilation->device_count <= 1 ? taper_visit_nodes(compilation, graph->body, visit) : TAPER_OK;
}
