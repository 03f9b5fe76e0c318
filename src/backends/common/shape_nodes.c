// SPDX-License-Identifier: BSD-2-Clause
// Arithmetic on sizes: see shape_nodes.h.
#include "backends/common/shape_nodes.h"

#include <math.h>

#include "base/checked.h"
#include "ir/effects.h"
#include "ops/list/op_rows.h"

typedef struct asked {
    const taper_node *node;
    taper_heap *heap;
    taper_shape_argument (*arg)(void *user, const taper_node *node, size_t at);
    void *user;
} asked;

static const taper_val *value_of(const asked *a, size_t at)
{
    return at < a->node->input_count ? a->arg(a->user, a->node, at).value : NULL;
}

static bool int_of(const asked *a, size_t at, int64_t *number)
{
    const taper_val *value = value_of(a, at);
    *number = value != NULL && value->tag == TAPER_INT ? value->as.i : 0;
    return value != NULL && value->tag == TAPER_INT;
}

static const taper_list *list_of(const asked *a, size_t at)
{
    const taper_val *value = value_of(a, at);
    return value != NULL && value->tag == TAPER_LIST ? value->as.list : NULL;
}

static taper_val new_list(const asked *a, const taper_val *items, size_t count)
{
    taper_list *list = taper_list_new(a->heap, &taper_type_int, count);
    if (list == NULL) {
        return taper_val_none();
    }
    for (size_t i = 0; i < count; i++) {
        list->items[i] = items[i];
    }
    list->count = count;
    return TAPER_VAL(list);
}

// ---- operators on a tensor

static taper_val rank_of(const asked *a)
{
    const taper_shape x = a->arg(a->user, a->node, 0).shape;
    return x.rank >= 0 ? taper_val_int(x.rank) : taper_val_none();
}

static taper_val sizes_of(const asked *a)
{
    const taper_shape x = a->arg(a->user, a->node, 0).shape;
    taper_val items[TAPER_MAX_RANK];
    for (int d = 0; d < x.rank; d++) {
        if (x.sizes[d] == TAPER_UNKNOWN) {
            return taper_val_none();
        }
        items[d] = taper_val_int(x.sizes[d]);
    }
    return x.rank >= 0 ? new_list(a, items, (size_t)x.rank) : taper_val_none();
}

static taper_val size_of(const asked *a)
{
    const taper_shape x = a->arg(a->user, a->node, 0).shape;
    int64_t d;
    if (x.rank < 0 || !int_of(a, 1, &d) || d < -x.rank || d >= x.rank) {
        return taper_val_none();
    }
    const int64_t size = x.sizes[d < 0 ? d + x.rank : d];
    return size != TAPER_UNKNOWN ? taper_val_int(size) : taper_val_none();
}

// ---- operators on lists of numbers

static taper_val length_of(const asked *a)
{
    const taper_list *list = list_of(a, 0);
    return list != NULL ? taper_val_int((int64_t)list->count) : taper_val_none();
}

static taper_val item_of(const asked *a)
{
    const taper_list *list = list_of(a, 0);
    int64_t at;
    if (list == NULL || !int_of(a, 1, &at)) {
        return taper_val_none();
    }
    at += at < 0 ? (int64_t)list->count : 0;
    return at >= 0 && (uint64_t)at < list->count && list->items[at].tag == TAPER_INT ? list->items[at]
                                                                                     : taper_val_none();
}

static bool bound_of(const asked *a, size_t at, int64_t otherwise, int64_t count, int64_t *bound)
{
    const taper_val *value = value_of(a, at);
    if (value == NULL || (value->tag != TAPER_INT && value->tag != TAPER_NONE)) {
        return false;
    }
    *bound = value->tag == TAPER_NONE ? otherwise : value->as.i;
    *bound = *bound < 0 ? (*bound < -count ? 0 : *bound + count) : *bound > count ? count : *bound;
    return true;
}

static taper_val part_of(const asked *a)
{
    const taper_list *list = list_of(a, 0);
    int64_t begin, end, step;
    taper_val items[TAPER_MAX_RANK];
    size_t count = 0;
    if (list == NULL || list->count > TAPER_MAX_RANK || !int_of(a, 3, &step) || step != 1 ||
        !bound_of(a, 1, 0, (int64_t)list->count, &begin) ||
        !bound_of(a, 2, (int64_t)list->count, (int64_t)list->count, &end)) {
        return taper_val_none();
    }
    for (int64_t i = begin; i < end; i++) {
        if (list->items[i].tag != TAPER_INT) {
            return taper_val_none();
        }
        items[count++] = list->items[i];
    }
    return new_list(a, items, count);
}

static taper_val made_of(const asked *a)
{
    taper_val items[TAPER_MAX_RANK];
    for (size_t i = 0; i < a->node->input_count && i < TAPER_MAX_RANK; i++) {
        int64_t number;
        if (!int_of(a, i, &number)) {
            return taper_val_none();
        }
        items[i] = taper_val_int(number);
    }
    return a->node->input_count <= TAPER_MAX_RANK ? new_list(a, items, a->node->input_count) : taper_val_none();
}

// ---- operators on integers

static taper_val sum_of(const asked *a)
{
    int64_t x, y, z;
    return int_of(a, 0, &x) && int_of(a, 1, &y) && taper_add_i64(x, y, &z) ? taper_val_int(z) : taper_val_none();
}

static taper_val difference_of(const asked *a)
{
    int64_t x, y, z;
    return int_of(a, 0, &x) && int_of(a, 1, &y) && y != INT64_MIN && taper_add_i64(x, -y, &z) ? taper_val_int(z)
                                                                                              : taper_val_none();
}

static taper_val product_of(const asked *a)
{
    int64_t x, y, z;
    return int_of(a, 0, &x) && int_of(a, 1, &y) && taper_mul_i64(x, y, &z) ? taper_val_int(z) : taper_val_none();
}

static taper_val quotient_of(const asked *a) // floor of input 0 / input 1, or None if input 1 is not positive
{
    int64_t x, y;
    return int_of(a, 0, &x) && int_of(a, 1, &y) && y > 0 ? taper_val_int(x / y - (x % y != 0 && x < 0))
                                                         : taper_val_none();
}

static taper_val rest_of(const asked *a)
{
    int64_t x, y;
    return int_of(a, 0, &x) && int_of(a, 1, &y) && y > 0 ? taper_val_int((x % y + y) % y) : taper_val_none();
}

static taper_val negative_of(const asked *a)
{
    int64_t x;
    return int_of(a, 0, &x) && x != INT64_MIN ? taper_val_int(-x) : taper_val_none();
}

static taper_val smaller_of(const asked *a)
{
    int64_t x, y;
    return int_of(a, 0, &x) && int_of(a, 1, &y) ? taper_val_int(x < y ? x : y) : taper_val_none();
}

static taper_val larger_of(const asked *a)
{
    int64_t x, y;
    return int_of(a, 0, &x) && int_of(a, 1, &y) ? taper_val_int(x > y ? x : y) : taper_val_none();
}

// ---- operators on floating-point numbers, such as scales; an operation that would raise an error has no known result

static bool number_of(const asked *a, size_t at, double *number)
{
    const taper_val *value = value_of(a, at);
    const bool whole = value != NULL && value->tag == TAPER_INT;
    *number = whole ? (double)value->as.i : value != NULL && value->tag == TAPER_DOUBLE ? value->as.f : 0;
    return whole || (value != NULL && value->tag == TAPER_DOUBLE);
}

static taper_val double_of(double number)
{
    return (taper_val){.tag = TAPER_DOUBLE, .as.f = number};
}

static taper_val float_of(const asked *a)
{
    double x;
    return number_of(a, 0, &x) ? double_of(x) : taper_val_none();
}

static taper_val root_of(const asked *a)
{
    double x;
    return number_of(a, 0, &x) && x >= 0 ? double_of(sqrt(x)) : taper_val_none();
}

static taper_val power_of(const asked *a)
{
    double x, y;
    return number_of(a, 0, &x) && number_of(a, 1, &y) && x > 0 ? double_of(pow(x, y)) : taper_val_none();
}

static taper_val ratio_of(const asked *a)
{
    double x, y;
    return number_of(a, 0, &x) && number_of(a, 1, &y) && y != 0 ? double_of(x / y) : taper_val_none();
}

static taper_val float_product_of(const asked *a)
{
    double x, y;
    return number_of(a, 0, &x) && number_of(a, 1, &y) ? double_of(x * y) : taper_val_none();
}

// ---- operators on one-element tensors, which tracing makes from sizes

static taper_val tensor_of(const asked *a)
{
    int64_t x;
    return int_of(a, 0, &x) ? taper_val_int(x) : taper_val_none();
}

static taper_val tensor_quotient_of(const asked *a)
{
    int64_t x, y;
    const taper_node *constant = taper_value_constant(taper_node_in(a->node, 1));
    const taper_tensor *by =
        constant != NULL && constant->constant.tag == TAPER_TENSOR ? constant->constant.as.tensor : NULL;
    const bool whole = by != NULL && by->rank == 0 && by->dtype == TAPER_I64;
    if (!int_of(a, 0, &x) || (!whole && !int_of(a, 1, &y))) {
        return taper_val_none();
    }
    y = whole ? *(const int64_t *)taper_tensor_data(by) : y;
    return x >= 0 && y > 0 ? taper_val_int(x / y) : taper_val_none();
}

static taper_val tensor_power_of(const asked *a)
{
    int64_t x;
    const taper_val *exponent = value_of(a, 1);
    const bool known = int_of(a, 0, &x) && x > 0 && exponent != NULL && exponent->tag == TAPER_DOUBLE;
    return known ? (taper_val){.tag = TAPER_DOUBLE, .as.f = (double)powf((float)x, (float)exponent->as.f)}
                 : taper_val_none();
}

// The functions below scale a size as traced code does: they convert the size to float32, multiply it by a float32, and
// convert the floor of the product to an integer.
static taper_val tensor_float_of(const asked *a)
{
    double x;
    return number_of(a, 0, &x) ? double_of((double)(float)x) : taper_val_none();
}

static const float *float_constant(const taper_ir_value *value)
{
    const taper_node *constant = taper_value_constant(value);
    const taper_tensor *number =
        constant != NULL && constant->constant.tag == TAPER_TENSOR ? constant->constant.as.tensor : NULL;
    return number != NULL && number->rank == 0 && number->dtype == TAPER_F32 ? taper_tensor_data(number) : NULL;
}

static taper_val tensor_product_of(const asked *a)
{
    double x;
    const float *by = float_constant(taper_node_in(a->node, 1));
    return number_of(a, 0, &x) && by != NULL ? double_of((double)((float)x * *by)) : taper_val_none();
}

static taper_val tensor_floor_of(const asked *a)
{
    double x;
    int64_t whole;
    return int_of(a, 0, &whole) ? taper_val_int(whole) : number_of(a, 0, &x) ? double_of(floor(x)) : taper_val_none();
}

static taper_val whole_of(const asked *a)
{
    double x;
    const double most = 9007199254740992; // 2^53: a double represents every integer up to this number
    return number_of(a, 0, &x) && x > -most && x < most ? taper_val_int((int64_t)x) : taper_val_none();
}

static const struct {
    const taper_op *op; // operator, or NULL if this build lacks it
    taper_val (*evaluate)(const asked *a);
} rows[] = {
#define SHAPE_NODE(id, evaluate) {TAPER_OP(id), evaluate},
#include "backends/common/shape_nodes.inc"
#undef SHAPE_NODE
};

static bool is_int_list(const taper_ir_value *value)
{
    return value->type != NULL && taper_type_equal(value->type, &taper_type_list_int);
}

// Returns true if the node makes a one-element float32 tensor from another one-element tensor.
static bool scales(const taper_node *node)
{
    if (taper_node_calls(node, TAPER_OP(aten_to_dtype))) {
        const taper_node *dtype = taper_value_constant(taper_node_in(node, 1));
        return dtype != NULL && dtype->constant.tag == TAPER_INT && dtype->constant.as.i == TAPER_F32;
    }
    if (taper_node_calls(node, TAPER_OP(aten_mul_Tensor))) {
        const float *by = float_constant(taper_node_in(node, 1));
        return by != NULL && isfinite(*by);
    }
    return taper_node_calls(node, TAPER_OP(aten_floor));
}

// Returns true if the tensor is computed from a size. Operators on tensors that were not computed from sizes do not
// count as computing with sizes.
static bool is_tensor_of_size(const taper_ir_value *value)
{
    enum { MOST_DEPTH = 8 };
    const taper_node *node = value->node;
    for (int depth = 0; depth < MOST_DEPTH && node != NULL; depth++) {
        if (taper_node_calls(node, TAPER_OP(prim_NumToTensor_Scalar))) {
            const taper_ir_value *of = taper_node_in(node, 0);
            return of->type != NULL && of->type->kind == TAPER_TYPE_INT;
        }
        if (!taper_node_calls(node, TAPER_OP(aten_floor_divide)) && !scales(node)) {
            return false;
        }
        node = taper_node_in(node, 0)->node;
    }
    return false;
}

bool taper_is_shape_node(const taper_node *node)
{
    if (taper_node_calls(node, TAPER_OP(prim_NumToTensor_Scalar))) {
        return is_tensor_of_size(&node->outputs[0]);
    }
    if (taper_node_calls(node, TAPER_OP(aten_floor_divide)) ||
        taper_node_calls(node, TAPER_OP(aten_pow_Tensor_Scalar))) {
        return is_tensor_of_size(taper_node_in(node, 0));
    }
    if (taper_node_calls(node, TAPER_OP(aten_to_dtype)) || taper_node_calls(node, TAPER_OP(aten_mul_Tensor)) ||
        taper_node_calls(node, TAPER_OP(aten_floor))) {
        return scales(node) && is_tensor_of_size(taper_node_in(node, 0));
    }
    if (taper_node_calls(node, TAPER_OP(aten_Int_Tensor))) {
        return is_tensor_of_size(taper_node_in(node, 0));
    }
    if (node->kind == TAPER_NODE_LIST) {
        return is_int_list(&node->outputs[0]);
    }
    if (node->kind == TAPER_NODE_LIST_UNPACK) {
        return is_int_list(taper_node_in(node, 0));
    }
    for (size_t i = 0; node->kind == TAPER_NODE_OP && i < sizeof rows / sizeof *rows; i++) {
        if (taper_node_calls(node, rows[i].op)) {
            const taper_ir_value *first = taper_node_in(node, 0);
            const bool lists = first->type != NULL && first->type->kind == TAPER_TYPE_LIST;
            return !lists || is_int_list(first);
        }
    }
    return false;
}

taper_val taper_shape_node_evaluate(const taper_node *node, size_t output, taper_heap *heap,
                                    taper_shape_argument (*arg)(void *user, const taper_node *node, size_t at),
                                    void *user)
{
    const asked a = {.node = node, .heap = heap, .arg = arg, .user = user};
    if (node->kind == TAPER_NODE_LIST) {
        return made_of(&a);
    }
    if (node->kind == TAPER_NODE_LIST_UNPACK) {
        const taper_list *list = list_of(&a, 0);
        return list != NULL && list->count == node->output_count && list->items[output].tag == TAPER_INT
                   ? list->items[output]
                   : taper_val_none();
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (taper_node_calls(node, rows[i].op)) {
            return rows[i].evaluate(&a);
        }
    }
    return taper_val_none();
}
