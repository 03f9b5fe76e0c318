// SPDX-License-Identifier: BSD-2-Clause
// Determines memory orders, node by node. Layers, pools and element-wise operators keep the order of their images;
// packed layers keep the order (XNNPACK) or return channels-last (QNNPACK); views keep an order but are not dense.
#include "backends/nnapi/image_orders.h"

#include <string.h>

enum { LOOSE = 4, NEUTRAL = 8 }; // flags: LOOSE: not dense; NEUTRAL: both orders have the same strides

static bool is_neutral(int rank, const int64_t *sizes)
{
    return rank != 4 || sizes[1] == 1 || (sizes[2] == 1 && sizes[3] == 1);
}

static uint8_t of_tensor(const taper_tensor *x)
{
    const uint8_t neutral = is_neutral(x->rank, x->sizes) ? NEUTRAL : 0;
    if (x->hidden_nhwc || taper_tensor_is_contiguous(x)) {
        return TAPER_ORDER_PLAIN | neutral;
    }
    if (x->rank == 4 && taper_tensor_is_channels_last(x)) {
        return TAPER_ORDER_LAST | neutral;
    }
    return (taper_tensor_suggests_channels_last(x) ? TAPER_ORDER_LAST : TAPER_ORDER_UNKNOWN) | LOOSE | neutral;
}

// Returns the memory order of a value, with flags. If the value is not a tensor, returns only NEUTRAL.
static uint8_t look_at(const taper_image_orders *o, const taper_ir_value *value)
{
    const taper_segment_values *v = o->values;
    const size_t arg = taper_segment_values_argument(v, value);
    if (arg != SIZE_MAX) {
        const taper_val val = v->call->args[arg];
        return val.tag == TAPER_TENSOR ? of_tensor(val.as.tensor) : NEUTRAL;
    }
    const bool inside = value->id >= v->shapes.first && value->id - v->shapes.first < v->shapes.count;
    return inside ? o->of[value->id - v->shapes.first] : TAPER_ORDER_UNKNOWN;
}

// Returns the memory order that all images among the arguments share. An image whose strides are equal in both orders
// (NEUTRAL) counts only if there are no other images.
static uint8_t common(const taper_image_orders *o, const taper_node *node)
{
    uint8_t seen = NEUTRAL;
    bool found = false;
    for (int neutral = 0; neutral < 2 && !found; neutral++) {
        for (size_t i = 0; i < node->input_count; i++) {
            const uint8_t one = look_at(o, taper_node_in(node, i));
            const bool unknown = (one & 3) == TAPER_ORDER_UNKNOWN;
            if (((one & NEUTRAL) != 0) != (neutral != 0) && !unknown) {
                continue;
            }
            seen = unknown || (found && (seen & 3) != (one & 3)) ? TAPER_ORDER_UNKNOWN : one;
            found = true;
            if ((seen & 3) == TAPER_ORDER_UNKNOWN) {
                return TAPER_ORDER_UNKNOWN;
            }
        }
    }
    return seen & 3;
}

static const taper_val *argument_named(const taper_image_orders *o, const taper_node *node, const char *name)
{
    for (size_t i = 0; i < node->input_count && i < node->schema->arg_count; i++) {
        if (node->schema->args[i].name != NULL && strcmp(node->schema->args[i].name, name) == 0) {
            const size_t arg = taper_segment_values_argument(o->values, taper_node_in(node, i));
            return arg != SIZE_MAX ? &o->values->call->args[arg] : NULL;
        }
    }
    return NULL;
}

// Returns the memory order of the result of an operator that keeps sizes. PyTorch numbers memory formats: 0 is
// contiguous, 1 preserve, 2 channels-last.
static uint8_t same_sizes(const taper_image_orders *o, const taper_node *node)
{
    const taper_val *format = argument_named(o, node, "memory_format");
    if (format != NULL && format->tag == TAPER_INT && format->as.i != 1) {
        return format->as.i == 0 ? TAPER_ORDER_PLAIN : format->as.i == 2 ? TAPER_ORDER_LAST : TAPER_ORDER_UNKNOWN;
    }
    // The node is a softmax if it has an argument dim.
    return argument_named(o, node, "dim") != NULL ? TAPER_ORDER_PLAIN : common(o, node);
}

static uint8_t of_conv(const taper_image_orders *o, const taper_node *node)
{
    const uint8_t x = look_at(o, taper_node_in(node, 0)) & 3,
                  w = node->input_count > 1 ? look_at(o, taper_node_in(node, 1)) & 3 : TAPER_ORDER_PLAIN;
    return x == TAPER_ORDER_LAST || w == TAPER_ORDER_LAST ? TAPER_ORDER_LAST : x;
}

// Returns the memory order of a view of a tensor with order x; the view has the same elements and other sizes.
static uint8_t regrouped(uint8_t x, int rank)
{
    if ((x & LOOSE) != 0 || (x & 3) == TAPER_ORDER_UNKNOWN) {
        return TAPER_ORDER_UNKNOWN;
    }
    return (x & 3) == TAPER_ORDER_PLAIN || (x & NEUTRAL) != 0 || rank < 4 ? TAPER_ORDER_PLAIN : TAPER_ORDER_UNKNOWN;
}

static uint8_t of_operator(const taper_image_orders *o, const taper_node *node, int rank)
{
    const uint64_t facts = taper_op_facts(node->op);
    const uint8_t x = node->input_count != 0 ? look_at(o, taper_node_in(node, 0)) : TAPER_ORDER_UNKNOWN;
    if (node->schema->in_place) { // the result is the argument itself
        return x & (3 | LOOSE);
    }
    switch ((taper_op_shape)TAPER_FIELD(facts, SHAPE)) {
    case TAPER_SHAPE_UNKNOWN:
    case TAPER_SHAPE_BROADCAST:
        return (facts & TAPER_OP_ELEMENTWISE) != 0 ? common(o, node) : TAPER_ORDER_UNKNOWN;
    case TAPER_SHAPE_SAME:
        return same_sizes(o, node);
    case TAPER_SHAPE_POOL:
    case TAPER_SHAPE_ADAPTIVE:
    case TAPER_SHAPE_RESIZE:
    case TAPER_SHAPE_PAD:
        return x & 3;
    case TAPER_SHAPE_JOIN:
        return common(o, node);
    case TAPER_SHAPE_CONV:
        return of_conv(o, node);
    case TAPER_SHAPE_PACKED: // XNNPACK's layers of images keep the order; QNNPACK's layers return channels-last
        if (TAPER_FIELD(facts, LAYER) != TAPER_LAYER_NONE && rank == 4) {
            return x & 3;
        }
        return rank == 4 ? TAPER_ORDER_LAST : TAPER_ORDER_PLAIN;
    case TAPER_SHAPE_LINEAR:
    case TAPER_SHAPE_MATMUL:
    case TAPER_SHAPE_ADDED_PRODUCT:
        return TAPER_ORDER_PLAIN;
    case TAPER_SHAPE_REDUCE:
        return rank < 4 || (x & 3) == TAPER_ORDER_PLAIN ? TAPER_ORDER_PLAIN : TAPER_ORDER_UNKNOWN;
    case TAPER_SHAPE_GIVEN:
    case TAPER_SHAPE_FLATTEN:
    case TAPER_SHAPE_SQUEEZE:
    case TAPER_SHAPE_UNSQUEEZE:
        return regrouped(x, rank);
    case TAPER_SHAPE_SLICE:
    case TAPER_SHAPE_PIECES:
        return (x & 3) | LOOSE;
    default:
        return TAPER_ORDER_UNKNOWN;
    }
}

taper_status taper_image_orders_init(const taper_segment_values *values, taper_image_orders *o)
{
    *o = (taper_image_orders){.values = values};
    o->of = taper_alloc_zeroed(values->allocator, values->shapes.count + 1);
    if (o->of == NULL) {
        return taper_fail_memory(values->call->run->error);
    }
    for (const taper_node *node = values->body->first; node != NULL; node = node->next) {
        for (size_t i = 0; i < node->output_count; i++) {
            const size_t at = node->outputs[i].id - values->shapes.first;
            const taper_shape shape = taper_shapes_get(&values->shapes, &node->outputs[i]);
            uint8_t order = node->kind == TAPER_NODE_OP ? of_operator(o, node, shape.rank) : common(o, node);
            order |= node->kind == TAPER_NODE_LIST_UNPACK ? LOOSE : 0;
            order |=
                shape.rank >= 0 && is_neutral(shape.rank, shape.sizes) && node->kind != TAPER_NODE_LIST ? NEUTRAL : 0;
            o->of[at] = order;
        }
    }
    return TAPER_OK;
}

void taper_image_orders_free(taper_image_orders *o)
{
    if (o->of != NULL) {
        taper_free(o->values->allocator, o->of, o->values->shapes.count + 1);
    }
    *o = (taper_image_orders){0};
}

taper_image_order taper_image_orders_get(const taper_image_orders *o, const taper_ir_value *value)
{
    const uint8_t order = look_at(o, value);
    return (order & LOOSE) != 0 ? TAPER_ORDER_UNKNOWN : (taper_image_order)(order & 3);
}
