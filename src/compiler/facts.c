// SPDX-License-Identifier: BSD-2-Clause
#include "compiler/facts.h"

enum { FARTHEST = 16 }; // nodes to look back for a dtype

static const taper_type *result_type(const taper_ir_value *value)
{
    const taper_node *node = value->node;
    return node != NULL && node->kind == TAPER_NODE_OP && value->index < node->schema->ret_count
               ? node->schema->rets[value->index].type
               : NULL;
}

static bool is_name(const taper_node *node, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (taper_node_is(node, names[i])) {
            return true;
        }
    }
    return false;
}

static taper_type_kind kind_of_constant(taper_val value)
{
    return value.tag == TAPER_INT       ? TAPER_TYPE_INT
           : value.tag == TAPER_DOUBLE  ? TAPER_TYPE_FLOAT
           : value.tag == TAPER_BOOLEAN ? TAPER_TYPE_BOOL
           : value.tag == TAPER_STRING  ? TAPER_TYPE_STRING
                                        : TAPER_TYPE_ANY;
}

taper_type_kind taper_known_kind(const taper_ir_value *value)
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
    if (type != NULL && taper_node_is(node, "aten::__getitem__.t")) {
        const taper_type *list = result_type(taper_node_in(node, 0)); // of aten::size
        type = list != NULL && list->kind == TAPER_TYPE_LIST ? list->items[0] : NULL;
    }
    const taper_type_kind kind = type != NULL ? (taper_type_kind)type->kind : TAPER_TYPE_ANY;
    return kind == TAPER_TYPE_INT || kind == TAPER_TYPE_FLOAT || kind == TAPER_TYPE_BOOL || kind == TAPER_TYPE_STRING
               ? kind
               : TAPER_TYPE_ANY;
}

bool taper_known_not_none(const taper_ir_value *value)
{
    static const char *const nothing[] = {"prim::grad", "prim::AutogradZero", "prim::name"};
    const taper_node *node = value->node;
    if (node == NULL) {
        return taper_known_kind(value) != TAPER_TYPE_ANY;
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
    if (type == NULL || is_name(node, nothing, sizeof nothing / sizeof *nothing)) {
        return false;
    }
    return type->kind == TAPER_TYPE_TENSOR || type->kind == TAPER_TYPE_INT || type->kind == TAPER_TYPE_FLOAT ||
           type->kind == TAPER_TYPE_BOOL || type->kind == TAPER_TYPE_STRING || type->kind == TAPER_TYPE_LIST ||
           type->kind == TAPER_TYPE_DICT;
}

// Their result has the dtype of their first argument.
static bool keeps_dtype(const taper_node *node)
{
    static const char *const names[] = {"aten::relu",        "aten::relu6",
                                        "aten::hardtanh",    "aten::hardswish",
                                        "aten::hardsigmoid", "aten::silu",
                                        "aten::gelu",        "aten::elu",
                                        "aten::leaky_relu",  "aten::neg",
                                        "aten::batch_norm",  "aten::max_pool2d",
                                        "aten::avg_pool2d",  "aten::adaptive_avg_pool2d",
                                        "aten::contiguous",  "aten::clone",
                                        "aten::detach",      "aten::view",
                                        "aten::reshape",     "aten::flatten",
                                        "aten::t",           "aten::transpose.int",
                                        "aten::permute",     "aten::squeeze",
                                        "aten::unsqueeze",   "aten::slice.Tensor",
                                        "aten::select.int",  "aten::expand"};
    return node->schema->in_place || is_name(node, names, sizeof names / sizeof *names);
}

// They take inputs of the weight's dtype only.
static bool wants_dtype_of_weight(const taper_node *node)
{
    static const char *const names[] = {"aten::conv1d",           "aten::conv2d",       "aten::conv3d",
                                        "aten::conv_transpose1d", "aten::_convolution", "aten::convolution",
                                        "aten::conv_transpose2d", "aten::linear",       "aten::matmul",
                                        "aten::conv_transpose3d"};
    return is_name(node, names, sizeof names / sizeof *names);
}

bool taper_known_dtype(const taper_ir_value *value, taper_dtype *dtype)
{
    for (int steps = 0; steps < FARTHEST && value->node != NULL; steps++) {
        const taper_node *node = value->node;
        if (node->kind == TAPER_NODE_CONSTANT && node->constant.tag == TAPER_TENSOR) {
            *dtype = (taper_dtype)node->constant.as.tensor->dtype;
            return !taper_dtype_is_quantized(*dtype);
        }
        if (node->kind != TAPER_NODE_OP || value->index != 0 || node->input_count == 0 ||
            node->schema->out_count != 0) {
            return false;
        }
        if (taper_node_is(node, "aten::to.dtype")) {
            const taper_val *wanted = taper_node_constant_in(node, 1);
            if (wanted == NULL || wanted->tag != TAPER_INT || wanted->as.i < 0 || wanted->as.i >= TAPER_DTYPE_COUNT) {
                return false;
            }
            *dtype = (taper_dtype)wanted->as.i;
            return true;
        }
        if (node->input_count > 1 && wants_dtype_of_weight(node)) {
            value = taper_node_in(node, 1);
        } else if (keeps_dtype(node)) {
            value = taper_node_in(node, 0);
        } else {
            return false;
        }
    }
    return false;
}
