// SPDX-License-Identifier: BSD-2-Clause
// Infers shapes and dtypes of results: helpers that rules share, the choice of the rule, and the rules for matrix
// products and element-wise operators.
#include "ir/infer.h"

// ---- shapes of arguments

taper_shape taper_shape_of(const taper_tensor *tensor)
{
    taper_shape shape = {.rank = (int)tensor->rank, .dtype = tensor->dtype};
    for (size_t d = 0; d < tensor->rank; d++) {
        shape.sizes[d] = tensor->sizes[d];
    }
    return shape;
}

// ---- element-wise operators

static int64_t broadcast_size(int64_t a, int64_t b)
{
    return a == 1 ? b : b == 1 || a == b ? a : a == TAPER_UNKNOWN ? b : b == TAPER_UNKNOWN ? a : TAPER_UNKNOWN;
}

static taper_shape broadcast(const taper_shape *a, const taper_shape *b)
{
    if (a->rank < 0 || b->rank < 0) {
        const bool same = a->rank == b->rank && a->like != NULL && a->like == b->like;
        return same ? *a : a->rank == 0 ? *b : b->rank == 0 ? *a : taper_shape_unknown();
    }
    const taper_shape *longer = a->rank >= b->rank ? a : b, *shorter = a->rank >= b->rank ? b : a;
    taper_shape shape = *longer;
    const int more = longer->rank - shorter->rank;
    for (int d = 0; d < shorter->rank; d++) {
        shape.sizes[more + d] = broadcast_size(longer->sizes[more + d], shorter->sizes[d]);
    }
    return shape;
}

static bool is_tensor_type(const taper_type *type)
{
    return type->kind == TAPER_TYPE_TENSOR ||
           (type->kind == TAPER_TYPE_OPTIONAL && type->items[0]->kind == TAPER_TYPE_TENSOR);
}

// Returns the broadcast shape of all tensors among the arguments.
static taper_shape broadcast_all(const taper_infer_call *call)
{
    taper_shape shape = {.rank = 0, .dtype = -1};
    for (size_t i = 0; i < call->schema->arg_count - call->schema->out_count; i++) {
        if (!is_tensor_type(call->schema->args[i].type) ||
            (i < call->count && call->args[i].kind == TAPER_KNOWN_NONE)) {
            continue;
        }
        const taper_shape other = taper_infer_tensor(call, i);
        shape = broadcast(&shape, &other);
    }
    return shape;
}

// ---- shapes of products

// Returns the shape of (…, n, k) times (…, k, m). A vector is a row on the left and a column on the right, and its
// dimension is not in the result.
static taper_shape matmul(const taper_shape *a, const taper_shape *b)
{
    if (a->rank < 1 || b->rank < 1) {
        return taper_shape_unknown();
    }
    taper_shape x = *a, y = *b;
    x.rank = a->rank > 2 ? a->rank - 2 : 0;
    y.rank = b->rank > 2 ? b->rank - 2 : 0;
    taper_shape shape = broadcast(&x, &y);
    if (a->rank > 1 && shape.rank < TAPER_MAX_RANK) {
        shape.sizes[shape.rank++] = a->sizes[a->rank - 2];
    }
    if (b->rank > 1 && shape.rank < TAPER_MAX_RANK) {
        shape.sizes[shape.rank++] = b->sizes[b->rank - 1];
    }
    return shape;
}

static taper_shape product_at(const taper_infer_call *call, size_t at)
{
    const taper_shape a = taper_infer_tensor(call, at), b = taper_infer_tensor(call, at + 1);
    return matmul(&a, &b);
}

// ---- dtypes

static int dtype_of_items(const taper_known *list)
{
    if (list->kind != TAPER_KNOWN_TENSORS || list->count == 0) {
        return -1;
    }
    for (size_t i = 1; i < list->count; i++) {
        if (list->shapes[i].dtype != list->shapes[0].dtype) {
            return -1;
        }
    }
    return list->shapes[0].dtype;
}

// Returns true if a number among the arguments may be of a higher kind than `dtype`, for example a float with an int
// tensor.
static bool number_promotes(const taper_infer_call *call, int dtype)
{
    for (size_t i = 0; i < call->schema->arg_count; i++) {
        const taper_type *type = call->schema->args[i].type;
        if (type->kind != TAPER_TYPE_NUMBER &&
            !(type->kind == TAPER_TYPE_OPTIONAL && type->items[0]->kind == TAPER_TYPE_NUMBER)) {
            continue;
        }
        if (i >= call->count || call->args[i].kind == TAPER_KNOWN_NOTHING) {
            return true;
        }
        const taper_tag tag = (taper_tag)call->args[i].value.tag;
        if (call->args[i].kind == TAPER_KNOWN_VALUE &&
            (tag == TAPER_COMPLEX || (tag == TAPER_DOUBLE && !taper_dtype_is_float((taper_dtype)dtype)) ||
             (tag == TAPER_INT && dtype == TAPER_BOOL))) {
            return true;
        }
    }
    return false;
}

static int one_dtype(const taper_infer_call *call, bool first_known)
{
    int dtype = -1;
    for (size_t i = 0; i < call->schema->arg_count - call->schema->out_count; i++) {
        if (!is_tensor_type(call->schema->args[i].type) ||
            (i < call->count && call->args[i].kind == TAPER_KNOWN_NONE)) {
            continue;
        }
        const int other = taper_infer_tensor(call, i).dtype;
        if (first_known ? other >= 0 : other < 0 || (dtype >= 0 && other != dtype)) {
            return first_known ? other : -1;
        }
        dtype = other;
    }
    return dtype;
}

static int dtype_of(const taper_infer_call *call)
{
    const int first = taper_infer_tensor(call, 0).dtype;
    if (call->schema->in_place && !taper_op_has(call->op, TAPER_OP_RESIZES | TAPER_OP_REPLACES)) {
        return first;
    }
    switch ((taper_op_result)TAPER_FIELD(taper_op_facts(call->op), RESULT)) {
    case TAPER_RESULT_SAME:
        return first;
    case TAPER_RESULT_FLOAT:
        if (first >= 0 && taper_dtype_is_quantized((taper_dtype)first)) { // quantized tensors give a quantized result
            return TAPER_FIELD(taper_op_facts(call->op), QUANTIZED) != TAPER_QUANTIZED_NONE ? first : -1;
        }
        return first >= 0 && taper_dtype_is_float((taper_dtype)first) && !number_promotes(call, first) ? first : -1;
    case TAPER_RESULT_ONE:
        return one_dtype(call, true);
    case TAPER_RESULT_PROMOTED: {
        const int one = one_dtype(call, false);
        return one >= 0 && !number_promotes(call, one) ? one : -1;
    }
    case TAPER_RESULT_ITEMS:
        return call->count != 0 ? dtype_of_items(&call->args[0]) : -1;
    case TAPER_RESULT_DTYPE: {
        const taper_known *known = taper_infer_named(call, "dtype");
        const bool given = known != NULL && known->kind == TAPER_KNOWN_VALUE && known->value.tag == TAPER_INT;
        return given && known->value.as.i >= 0 && known->value.as.i < TAPER_DTYPE_COUNT ? (int)known->value.as.i : -1;
    }
    case TAPER_RESULT_F32:
        return TAPER_F32;
    case TAPER_RESULT_BOOL:
        return TAPER_BOOL;
    case TAPER_RESULT_I64:
        return TAPER_I64;
    case TAPER_RESULT_UNKNOWN:
        break;
    }
    return call->schema->in_place ? first : -1;
}

// ---- applying the rule of an operator

static taper_shape shape_of(const taper_infer_call *call)
{
    const uint64_t facts = taper_op_facts(call->op);
    const taper_op_shape rule = (taper_op_shape)TAPER_FIELD(facts, SHAPE);
    if (call->schema->in_place) {
        return (facts & (TAPER_OP_RESIZES | TAPER_OP_REPLACES)) == 0 ? taper_infer_tensor(call, 0)
                                                                     : taper_shape_unknown();
    }
    switch (rule) {
    case TAPER_SHAPE_UNKNOWN:
        return (facts & TAPER_OP_ELEMENTWISE) != 0 ? broadcast_all(call) : taper_shape_unknown();
    case TAPER_SHAPE_BROADCAST:
        return broadcast_all(call);
    case TAPER_SHAPE_SAME:
        return taper_infer_tensor(call, 0);
    case TAPER_SHAPE_MASKED: {
        const taper_shape x = taper_infer_tensor(call, 0), mask = taper_infer_tensor(call, 1);
        return broadcast(&x, &mask);
    }
    case TAPER_SHAPE_MATMUL:
        return product_at(call, 0);
    case TAPER_SHAPE_ADDED_PRODUCT:
        return product_at(call, 1);
    case TAPER_SHAPE_CONV:
    case TAPER_SHAPE_PACKED:
    case TAPER_SHAPE_POOL:
    case TAPER_SHAPE_ADAPTIVE:
    case TAPER_SHAPE_LINEAR:
    case TAPER_SHAPE_REDUCE:
    case TAPER_SHAPE_RESIZE:
    case TAPER_SHAPE_PAD:
    case TAPER_SHAPE_SHUFFLE:
    case TAPER_SHAPE_EMBED:
    case TAPER_SHAPE_REGION:
    case TAPER_SHAPE_EINSUM:
    case TAPER_SHAPE_HALF:
    case TAPER_SHAPE_RECURRENT:
        return taper_infer_layer(call, rule);
    default:
        return taper_infer_view(call, rule);
    }
}

// Returns true if an argument is a tensor although the schema declares a number or packed weights. Operators accept
// some of these calls, but the rules do not handle them.
static bool is_unforeseen(const taper_infer_call *call)
{
    for (size_t i = 0; i < call->schema->arg_count && i < call->count; i++) {
        const taper_type *type = call->schema->args[i].type;
        type = type->kind == TAPER_TYPE_OPTIONAL ? type->items[0] : type;
        const bool other = type->kind == TAPER_TYPE_NUMBER || type->kind == TAPER_TYPE_INT ||
                           type->kind == TAPER_TYPE_FLOAT || type->kind == TAPER_TYPE_BOOL ||
                           type->kind == TAPER_TYPE_CLASS;
        if (other && call->args[i].kind == TAPER_KNOWN_TENSOR) {
            return true;
        }
    }
    return false;
}

taper_shape taper_infer(const taper_op *op, const taper_schema *schema, const taper_known *args, size_t count)
{
    const taper_infer_call call = {op, schema, args, count};
    if (schema->ret_count == 0 || schema->vararg || is_unforeseen(&call)) {
        return taper_shape_unknown();
    }
    taper_shape shape = shape_of(&call);
    shape.dtype = schema->out_count == 0 ? dtype_of(&call) : -1;
    return shape;
}

taper_shape taper_infer_more(const taper_op *op, const taper_schema *schema, const taper_known *args, size_t count,
                             size_t result)
{
    const taper_infer_call call = {op, schema, args, count};
    if (TAPER_FIELD(taper_op_facts(op), SHAPE) != TAPER_SHAPE_RECURRENT || count < 2) {
        return taper_shape_unknown();
    }
    taper_shape shape = taper_infer_tensor(&call, 0);
    const int dtype = shape.dtype;
    const bool list = args[1].kind == TAPER_KNOWN_TENSORS && result <= args[1].count;
    shape = list ? args[1].shapes[result - 1] : taper_infer_tensor(&call, result);
    shape.dtype = dtype;
    return shape;
}
