// SPDX-License-Identifier: BSD-2-Clause
// Finds facts about a value before the run: its kind, whether it may be None, its dtype, its rank.
#include "compiler/facts.h"

#include "ir/alias.h"

static const taper_type *result_type(const taper_ir_value *value)
{
    const taper_node *node = value->node;
    return node != NULL && node->kind == TAPER_NODE_OP && value->index < node->schema->ret_count
               ? node->schema->rets[value->index].type
               : NULL;
}

static taper_type_kind kind_of_constant(taper_val value)
{
    return value.tag == TAPER_INT       ? TAPER_TYPE_INT
           : value.tag == TAPER_DOUBLE  ? TAPER_TYPE_FLOAT
           : value.tag == TAPER_BOOLEAN ? TAPER_TYPE_BOOL
           : value.tag == TAPER_STRING  ? TAPER_TYPE_STRING
                                        : TAPER_TYPE_ANY;
}

taper_type_kind taper_known_type_kind(const taper_ir_value *value)
{
    const taper_node *node = value->node;
    if (node == NULL) {
        const taper_node *loop = value->block->parent;
        return loop != NULL && loop->kind == TAPER_NODE_LOOP && value->index == 0 ? TAPER_TYPE_INT : TAPER_TYPE_ANY;
    }
    if (node->kind == TAPER_NODE_CONSTANT) {
        return kind_of_constant(node->constant);
    }
    if (node->kind == TAPER_NODE_ISINSTANCE) {
        return TAPER_TYPE_BOOL;
    }
    const taper_type *type = result_type(value);
    if (type != NULL && taper_node_calls(node, TAPER_OP(aten___getitem___t))) {
        // The kind of an item follows from the type of the list, for example the type that aten::size returns.
        const taper_type *list = result_type(taper_node_in(node, 0));
        type = list != NULL && list->kind == TAPER_TYPE_LIST ? list->items[0] : NULL;
    }
    const taper_type_kind kind = type != NULL ? (taper_type_kind)type->kind : TAPER_TYPE_ANY;
    return kind == TAPER_TYPE_INT || kind == TAPER_TYPE_FLOAT || kind == TAPER_TYPE_BOOL || kind == TAPER_TYPE_STRING
               ? kind
               : TAPER_TYPE_ANY;
}

bool taper_known_not_none(const taper_ir_value *value)
{
    const taper_node *node = value->node;
    if (node == NULL) {
        return taper_known_type_kind(value) != TAPER_TYPE_ANY;
    }
    switch ((taper_node_kind)node->kind) {
    case TAPER_NODE_CONSTANT:
        return node->constant.tag != TAPER_NONE && node->constant.tag != TAPER_UNDEFINED;
    case TAPER_NODE_LIST:
    case TAPER_NODE_TUPLE:
    case TAPER_NODE_DICT:
    case TAPER_NODE_OBJECT:
    case TAPER_NODE_TUPLE_SLICE:
    case TAPER_NODE_ISINSTANCE:
        return true;
    case TAPER_NODE_OP:
        break;
    default:
        return false;
    }
    const taper_type *type = result_type(value);
    if (type == NULL || taper_node_has(node, TAPER_OP_NONE)) {
        return false;
    }
    return type->kind == TAPER_TYPE_TENSOR || type->kind == TAPER_TYPE_INT || type->kind == TAPER_TYPE_FLOAT ||
           type->kind == TAPER_TYPE_BOOL || type->kind == TAPER_TYPE_STRING || type->kind == TAPER_TYPE_LIST ||
           type->kind == TAPER_TYPE_DICT;
}

// ---- dtypes

bool taper_takes_complex_number(const taper_node *node)
{
    for (size_t i = 1; i < node->input_count; i++) {
        const taper_val *value = taper_node_constant_in(node, i);
        const bool number = i < node->schema->arg_count && node->schema->args[i].type->kind == TAPER_TYPE_NUMBER;
        const bool known = value != NULL || taper_known_type_kind(taper_node_in(node, i)) != TAPER_TYPE_ANY;
        if (value != NULL ? value->tag == TAPER_COMPLEX : number && !known) {
            return true;
        }
    }
    return false;
}

taper_status taper_dtypes_create(taper_compilation *compilation, const taper_graph *graph, taper_dtypes *dtypes)
{
    *dtypes = (taper_dtypes){.allocator = compilation->allocator};
    if (taper_ranks_change(compilation)) {
        return TAPER_OK;
    }
    dtypes->known = taper_alloc_zeroed(compilation->allocator, (size_t)graph->value_count + 1);
    dtypes->count = graph->value_count;
    return dtypes->known == NULL ? taper_fail_memory(compilation->error) : TAPER_OK;
}

void taper_dtypes_free(taper_dtypes *dtypes)
{
    taper_free(dtypes->allocator, dtypes->known, dtypes->known != NULL ? dtypes->count + 1 : 0);
}

bool taper_known_dtype(const taper_dtypes *dtypes, const taper_ir_value *value, taper_dtype *dtype)
{
    const taper_node *constant = taper_value_constant(value);
    if (dtypes->known == NULL) {
        return false;
    }
    if (constant != NULL) {
        *dtype = constant->constant.tag == TAPER_TENSOR ? (taper_dtype)constant->constant.as.tensor->dtype : TAPER_F32;
        return constant->constant.tag == TAPER_TENSOR && !taper_dtype_is_quantized(*dtype);
    }
    if (value->id >= dtypes->count || dtypes->known[value->id] == 0) {
        return false;
    }
    *dtype = (taper_dtype)(dtypes->known[value->id] - 1);
    return true;
}

static bool same_dtype(const taper_dtypes *dtypes, const taper_ir_input *inputs, size_t count, taper_dtype *dtype)
{
    taper_dtype other;
    if (count == 0 || !taper_known_dtype(dtypes, inputs[0].value, dtype)) {
        return false;
    }
    for (size_t i = 1; i < count; i++) {
        if (!taper_known_dtype(dtypes, inputs[i].value, &other) || other != *dtype) {
            return false;
        }
    }
    return true;
}

static bool dtype_of_op(const taper_dtypes *dtypes, const taper_node *node, taper_dtype *dtype)
{
    if (node->input_count == 0 || node->schema->out_count != 0 || node->schema->ret_count == 0 ||
        node->schema->rets[0].type->kind != TAPER_TYPE_TENSOR) {
        return false;
    }
    const taper_ir_value *first = taper_node_in(node, 0);
    if (node->schema->in_place && !taper_node_has(node, TAPER_OP_RESIZES | TAPER_OP_REPLACES)) {
        // An in-place operator keeps the dtype of self; the fact RESULT is about the form that is not in place.
        return taper_known_dtype(dtypes, first, dtype);
    }
    switch ((taper_op_result)TAPER_FIELD(taper_node_facts(node), RESULT)) {
    case TAPER_RESULT_SAME:
        return taper_known_dtype(dtypes, first, dtype);
    case TAPER_RESULT_FLOAT:
        return taper_known_dtype(dtypes, first, dtype) && taper_dtype_is_float(*dtype) &&
               !taper_takes_complex_number(node);
    case TAPER_RESULT_ONE:
        return taper_known_dtype(dtypes, first, dtype) ||
               (node->input_count > 1 && taper_known_dtype(dtypes, taper_node_in(node, 1), dtype));
    case TAPER_RESULT_PROMOTED:
        return node->input_count > 1 && same_dtype(dtypes, node->inputs, 2, dtype);
    case TAPER_RESULT_ITEMS: {
        const taper_node *list = first->node;
        return list != NULL && list->kind == TAPER_NODE_LIST && taper_value_is_only_read(&list->outputs[0]) &&
               same_dtype(dtypes, list->inputs, list->input_count, dtype);
    }
    case TAPER_RESULT_DTYPE: {
        const taper_ir_value *argument = taper_node_argument(node, "dtype");
        const taper_node *wanted = argument != NULL ? taper_value_constant(argument) : NULL;
        if (wanted == NULL || wanted->constant.tag != TAPER_INT || wanted->constant.as.i < 0 ||
            wanted->constant.as.i >= TAPER_DTYPE_COUNT) {
            return false;
        }
        *dtype = (taper_dtype)wanted->constant.as.i;
        return true;
    }
    case TAPER_RESULT_F32:
        *dtype = TAPER_F32;
        return true;
    case TAPER_RESULT_BOOL:
        *dtype = TAPER_BOOL;
        return true;
    case TAPER_RESULT_I64:
        *dtype = TAPER_I64;
        return true;
    case TAPER_RESULT_UNKNOWN:
        break;
    }
    return node->schema->in_place && taper_known_dtype(dtypes, first, dtype);
}

static void know(const taper_dtypes *dtypes, const taper_ir_value *value, taper_dtype dtype)
{
    if (value->id < dtypes->count) {
        dtypes->known[value->id] = (uint8_t)(dtype + 1);
    }
}

void taper_dtypes_learn(taper_dtypes *dtypes, const taper_node *node)
{
    taper_dtype dtype, other;
    if (dtypes->known == NULL) {
        return;
    }
    if (node->kind == TAPER_NODE_OP && node->output_count != 0 && dtype_of_op(dtypes, node, &dtype)) {
        know(dtypes, &node->outputs[0], dtype);
    }
    for (size_t i = 0; node->kind == TAPER_NODE_IF && i < node->output_count; i++) {
        if (taper_known_dtype(dtypes, node->blocks[0]->results[i].value, &dtype) &&
            taper_known_dtype(dtypes, node->blocks[1]->results[i].value, &other) && dtype == other) {
            know(dtypes, &node->outputs[i], dtype);
        }
    }
}
