// SPDX-License-Identifier: BSD-2-Clause
// What is known of a value before the run: kind, None or not, dtype, rank.
#include "compiler/facts.h"

#include "ops/list/alias.h"

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

// ---- dtypes

// Their result has the dtype of their first argument.
static bool keeps_dtype(const taper_node *node)
{
    static const char *const names[] = {"aten::relu",
                                        "aten::relu6",
                                        "aten::hardtanh",
                                        "aten::hardswish",
                                        "aten::hardsigmoid",
                                        "aten::silu",
                                        "aten::gelu",
                                        "aten::elu",
                                        "aten::leaky_relu",
                                        "aten::neg",
                                        "aten::batch_norm",
                                        "aten::layer_norm",
                                        "aten::group_norm",
                                        "aten::dropout",
                                        "aten::max_pool2d",
                                        "aten::avg_pool2d",
                                        "aten::adaptive_avg_pool2d",
                                        "aten::contiguous",
                                        "aten::clone",
                                        "aten::detach",
                                        "aten::view",
                                        "aten::reshape",
                                        "aten::flatten",
                                        "aten::t",
                                        "aten::transpose.int",
                                        "aten::permute",
                                        "aten::squeeze",
                                        "aten::unsqueeze",
                                        "aten::slice.Tensor",
                                        "aten::select.int",
                                        "aten::expand",
                                        "aten::roll",
                                        "aten::_native_multi_head_attention",
                                        "aten::pad"};
    return node->schema->in_place || is_name(node, names, sizeof names / sizeof *names);
}

// They make floats of ints, and keep the dtype of floats.
static bool keeps_float(const taper_node *node)
{
    static const char *const names[] = {"aten::sigmoid", "aten::tanh", "aten::exp", "aten::sqrt", "aten::rsqrt"};
    return is_name(node, names, sizeof names / sizeof *names);
}

// They take inputs of one dtype only.
static bool wants_same_dtype(const taper_node *node)
{
    static const char *const names[] = {"aten::conv1d",           "aten::conv2d",       "aten::conv3d",
                                        "aten::conv_transpose1d", "aten::_convolution", "aten::convolution",
                                        "aten::conv_transpose2d", "aten::linear",       "aten::matmul",
                                        "aten::conv_transpose3d", "aten::bmm",          "aten::mm"};
    return is_name(node, names, sizeof names / sizeof *names);
}

// Of two tensors of one dtype they make a third.
static bool is_arithmetic(const taper_node *node)
{
    return taper_node_is(node, "aten::add.Tensor") || taper_node_is(node, "aten::sub.Tensor") ||
           taper_node_is(node, "aten::mul.Tensor");
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
    if (node->input_count == 0 || node->schema->out_count != 0) {
        return false;
    }
    if (taper_node_is(node, "aten::to.dtype")) {
        const taper_val *wanted = taper_node_constant_in(node, 1);
        *dtype = wanted != NULL && wanted->tag == TAPER_INT ? (taper_dtype)wanted->as.i : TAPER_F32;
        return wanted != NULL && wanted->tag == TAPER_INT && wanted->as.i >= 0 && wanted->as.i < TAPER_DTYPE_COUNT;
    }
    if (strncmp(node->op_name, "prepacked::", strlen("prepacked::")) == 0 && strstr(node->op_name, "_run(") != NULL) {
        *dtype = TAPER_F32; // as XNNPACK's
        return true;
    }
    if (wants_same_dtype(node)) {
        return taper_known_dtype(dtypes, taper_node_in(node, 0), dtype) ||
               (node->input_count > 1 && taper_known_dtype(dtypes, taper_node_in(node, 1), dtype));
    }
    if (is_arithmetic(node)) {
        return same_dtype(dtypes, node->inputs, 2, dtype);
    }
    if (taper_node_is(node, "aten::cat") || taper_node_is(node, "aten::stack")) {
        const taper_node *list = taper_node_in(node, 0)->node;
        return list != NULL && list->kind == TAPER_NODE_LIST && taper_value_is_only_read(&list->outputs[0]) &&
               same_dtype(dtypes, list->inputs, list->input_count, dtype);
    }
    if (keeps_float(node)) {
        return taper_known_dtype(dtypes, taper_node_in(node, 0), dtype) && taper_dtype_is_float(*dtype);
    }
    return keeps_dtype(node) && taper_known_dtype(dtypes, taper_node_in(node, 0), dtype);
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
    const bool first = node->output_count == 1 || taper_node_is(node, "aten::_native_multi_head_attention");
    if (node->kind == TAPER_NODE_OP && first && dtype_of_op(dtypes, node, &dtype)) {
        know(dtypes, &node->outputs[0], dtype);
    }
    for (size_t i = 0; node->kind == TAPER_NODE_IF && i < node->output_count; i++) {
        if (taper_known_dtype(dtypes, node->blocks[0]->results[i].value, &dtype) &&
            taper_known_dtype(dtypes, node->blocks[1]->results[i].value, &other) && dtype == other) {
            know(dtypes, &node->outputs[i], dtype);
        }
    }
}
