// SPDX-License-Identifier: BSD-2-Clause
// Removes views that are undone at once, and copies and conversions that return an equal tensor. Known sizes and dtypes
// become constants. A removed view must not be distinguishable from its base: no node may write to the view or the
// base, or keep the object.
#include "compiler/peephole.h"

static bool same_ints(const taper_node *a, size_t at_a, const taper_node *b, size_t at_b)
{
    const taper_val *x = taper_node_constant_in(a, at_a), *y = taper_node_constant_in(b, at_b);
    return x != NULL && y != NULL && x->tag == TAPER_INT && y->tag == TAPER_INT && x->as.i == y->as.i;
}

static bool is_used_by(const taper_ir_value *value, const taper_op *op)
{
    for (const taper_value_use *use = value->uses; use != NULL; use = use->next) {
        if (use->user != NULL && taper_node_calls(use->user, op)) {
            return true;
        }
    }
    return false;
}

// Removes t(t(x)), transpose(transpose(x, a, b), b, a) and detach(x).
static taper_status views(taper_peephole *p, taper_node *node, bool *done)
{
    const taper_ir_value *output = &node->outputs[0];
    taper_ir_value *value = NULL;
    if (taper_node_calls(node, TAPER_OP(aten_t))) {
        const taper_node *inner = taper_peephole_maker(node, 0, TAPER_OP(aten_t));
        value = inner != NULL ? taper_node_in(inner, 0) : NULL;
    } else if (taper_node_calls(node, TAPER_OP(aten_transpose_int))) {
        const taper_node *inner = taper_peephole_maker(node, 0, TAPER_OP(aten_transpose_int));
        const bool undone = inner != NULL && ((same_ints(node, 1, inner, 1) && same_ints(node, 2, inner, 2)) ||
                                              (same_ints(node, 1, inner, 2) && same_ints(node, 2, inner, 1)));
        value = undone ? taper_node_in(inner, 0) : NULL;
    } else if (taper_node_calls(node, TAPER_OP(aten_detach)) && !p->compilation->takes_gradients &&
               !is_used_by(output, TAPER_OP(prim_requires_grad))) {
        value = taper_node_in(node, 0);
    }
    bool written = true;
    if (value == NULL || taper_value_object_handed_on(output)) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_peephole_written(p, output, &written));
    return written ? TAPER_OK : taper_peephole_replace(node, value, done);
}

// Removes a `contiguous` of the result of a `contiguous`, because the second call returns its argument. Also removes a
// `clone` of an operator's new result if all users only read the clone, which has the same strides.
static taper_status copies(taper_peephole *p, taper_node *node, bool *done)
{
    taper_ir_value *input = taper_node_in(node, 0);
    const taper_ir_value *output = &node->outputs[0];
    bool written = true;
    if (taper_node_calls(node, TAPER_OP(aten_contiguous)) && node->input_count == 2) {
        const taper_node *inner = taper_peephole_maker(node, 0, TAPER_OP(aten_contiguous));
        if (inner == NULL || !same_ints(node, 1, inner, 1)) {
            return TAPER_OK;
        }
        TAPER_TRY(taper_peephole_written(p, output, &written));
        return written ? TAPER_OK : taper_peephole_replace(node, input, done);
    }
    if (!taper_node_calls(node, TAPER_OP(aten_clone)) || node->input_count != 2) {
        return TAPER_OK;
    }
    const taper_val *format = taper_node_constant_in(node, 1);
    if (format == NULL || format->tag != TAPER_NONE || taper_value_memory_handed_on(output) ||
        !taper_value_is_fresh(input) || taper_node_calls(input->node, TAPER_OP(aten_empty_strided))) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_peephole_written(p, output, &written));
    if (!written) {
        TAPER_TRY(taper_peephole_written(p, input, &written));
    }
    return written ? TAPER_OK : taper_peephole_replace(node, input, done);
}

static bool is_false(const taper_node *node, size_t index)
{
    const taper_val *value = taper_node_constant_in(node, index);
    return value != NULL && value->tag == TAPER_BOOLEAN && !value->as.b;
}

static bool is_none(const taper_node *node, size_t index)
{
    const taper_val *value = taper_node_constant_in(node, index);
    return value != NULL && value->tag == TAPER_NONE;
}

// Removes conversions to the dtype that the tensor has, because such a conversion returns its argument. Replaces
// `prim::dtype` by a constant.
static taper_status conversions(taper_peephole *p, taper_node *node, bool *done)
{
    taper_dtype has, wanted;
    if (p->ranks_change || !taper_known_dtype(&p->dtypes, taper_node_in(node, 0), &has)) {
        return TAPER_OK;
    }
    if (taper_node_calls(node, TAPER_OP(prim_dtype))) {
        return taper_peephole_constant(p, node, taper_val_int(has), done);
    }
    const taper_val *dtype = taper_node_constant_in(node, 1);
    bool same = false;
    if (taper_node_calls(node, TAPER_OP(aten_to_dtype))) {
        same = dtype != NULL && dtype->tag == TAPER_INT && dtype->as.i == (int64_t)has && is_false(node, 3) &&
               is_none(node, 4);
    } else if (taper_node_calls(node, TAPER_OP(aten_type_as))) {
        same = taper_known_dtype(&p->dtypes, taper_node_in(node, 1), &wanted) && wanted == has;
    } else if (taper_node_calls(node, TAPER_OP(aten_to_other))) {
        same = taper_known_dtype(&p->dtypes, taper_node_in(node, 1), &wanted) && wanted == has && is_false(node, 3) &&
               is_none(node, 4);
    }
    return same ? taper_peephole_replace(node, taper_node_in(node, 0), done) : TAPER_OK;
}

// ---- sizes

static taper_status of_constant(taper_peephole *p, taper_node *node, const taper_tensor *tensor, bool *done)
{
    if (taper_node_calls(node, TAPER_OP(aten_dim))) {
        return taper_peephole_constant(p, node, taper_val_int(tensor->rank), done);
    }
    const taper_val *dim = taper_node_calls(node, TAPER_OP(aten_size_int)) ? taper_node_constant_in(node, 1) : NULL;
    if (dim != NULL && dim->tag == TAPER_INT && dim->as.i >= -(int64_t)tensor->rank &&
        dim->as.i < (int64_t)tensor->rank) {
        const int64_t at = dim->as.i < 0 ? dim->as.i + (int64_t)tensor->rank : dim->as.i;
        return taper_peephole_constant(p, node, taper_val_int(tensor->sizes[at]), done);
    }
    return TAPER_OK;
}

// Replaces `node` by another operator. The inputs of the new node are input 0 of `from`, then all inputs of `node`
// except the first.
static taper_status ask_tensor(taper_peephole *p, taper_node *node, const taper_node *from, const taper_op *op,
                               bool *done)
{
    const taper_schema *schema;
    taper_node *made;
    if (op == NULL) { // a selective build may lack the operator
        return TAPER_OK;
    }
    TAPER_TRY(taper_registry_schema(p->compilation->registry, op, &schema, p->compilation->error));
    TAPER_TRY(taper_node_create(node->block->graph, TAPER_NODE_OP, schema->arg_count, 1, &made, p->compilation->error));
    taper_node_set_op(made, op, schema);
    made->debug = node->debug;
    made->instruction = node->instruction;
    taper_node_insert_before(made, node);
    taper_node_set_input(made, 0, taper_node_in(from, 0));
    for (size_t i = 1; i < schema->arg_count; i++) {
        taper_node_set_input(made, i, taper_node_in(node, i));
    }
    made->outputs[0].type = node->outputs[0].type;
    return taper_peephole_replace(node, &made->outputs[0], done);
}

// Replaces x.size()[0] by x.size(0), and len(x.size()) by x.dim(), so that no list is made.
static taper_status sizes(taper_peephole *p, taper_node *node, bool *done)
{
    const taper_val *constant = taper_node_constant_in(node, 0);
    if (p->ranks_change) {
        return TAPER_OK;
    }
    if (constant != NULL) {
        return constant->tag == TAPER_TENSOR ? of_constant(p, node, constant->as.tensor, done) : TAPER_OK;
    }
    const taper_node *list = taper_peephole_maker(node, 0, TAPER_OP(aten_size));
    if (list == NULL || list->input_count != 1 || !taper_value_is_only_read(&list->outputs[0])) {
        return TAPER_OK;
    }
    if (taper_node_calls(node, TAPER_OP(aten_len_t))) {
        return ask_tensor(p, node, list, TAPER_OP(aten_dim), done);
    }
    const taper_val *index =
        taper_node_calls(node, TAPER_OP(aten___getitem___t)) ? taper_node_constant_in(node, 1) : NULL;
    return index != NULL && index->tag == TAPER_INT ? ask_tensor(p, node, list, TAPER_OP(aten_size_int), done)
                                                    : TAPER_OK;
}

taper_status taper_peephole_tensors(taper_peephole *p, taper_node *node, bool *done)
{
    if (node->input_count == 0 || node->output_count != 1) {
        return TAPER_OK;
    }
    static taper_status (*const rules[])(taper_peephole *, taper_node *, bool *) = {views, copies, conversions, sizes,
                                                                                    taper_peephole_numbers};
    for (size_t i = 0; i < sizeof rules / sizeof *rules && !*done; i++) {
        TAPER_TRY(rules[i](p, node, done));
    }
    return TAPER_OK;
}
