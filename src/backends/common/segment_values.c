// SPDX-License-Identifier: BSD-2-Clause
// Values of a segment: see segment_values.h.
#include "backends/common/segment_values.h"

#include "backends/common/shape_nodes.h"
#include "ir/effects.h"
#include "ops/call/prepared.h"
#include "ops/list/op_table.h"

size_t taper_segment_values_argument(const taper_segment_values *v, const taper_ir_value *value)
{
    const size_t *at = taper_pointer_find(&v->args, value);
    return at != NULL ? *at : SIZE_MAX;
}

static const taper_val *number_of(const taper_segment_values *v, const taper_ir_value *value)
{
    const bool here = value->block == v->body && v->numbers != NULL && value->id >= v->shapes.first &&
                      value->id - v->shapes.first < v->shapes.count;
    const taper_val *number = here ? &v->numbers[value->id - v->shapes.first] : NULL;
    return number != NULL && number->tag != TAPER_NONE ? number : NULL;
}

// Returns the value of a node's input, or NULL if it is not known. A tensor made inside the segment is known only if it
// was computed from sizes.
static const taper_val *known_value(void *user, const taper_node *node, size_t at)
{
    const taper_segment_values *v = user;
    const taper_ir_value *value = taper_node_in(node, at);
    const size_t arg = taper_segment_values_argument(v, value);
    return arg != SIZE_MAX ? &v->call->args[arg] : number_of(v, value);
}

// Returns what known_value returns, but NULL for all tensors made inside the segment. known_value returns a number for
// a one-element tensor computed from sizes; the inference of shapes needs this tensor's shape instead.
static const taper_val *known_of_shape(void *user, const taper_node *node, size_t at)
{
    const taper_segment_values *v = user;
    const taper_ir_value *value = taper_node_in(node, at);
    const bool tensor = value->block == v->body && value->type != NULL && value->type->kind == TAPER_TYPE_TENSOR;
    return tensor ? NULL : known_value(user, node, at);
}

static taper_shape_argument known_argument(void *user, const taper_node *node, size_t at)
{
    const taper_segment_values *v = user;
    const taper_val *value = known_value(user, node, at);
    const bool tensor = value != NULL && value->tag == TAPER_TENSOR;
    return (taper_shape_argument){.value = tensor ? NULL : value,
                                  .shape = tensor ? taper_shape_of(value->as.tensor)
                                                  : taper_shapes_get(&v->shapes, taper_node_in(node, at))};
}

// Computes the results of the segment's nodes that compute with sizes, and the shapes that follow from them.
static taper_status find_numbers(taper_segment_values *v, taper_error *error)
{
    bool found = false;
    for (const taper_node *node = v->body->first; node != NULL; node = node->next) {
        if (!taper_is_shape_node(node)) {
            if (found) {
                taper_shapes_learn(&v->shapes, node, known_of_shape, v);
            }
            continue;
        }
        if (v->numbers == NULL) {
            v->numbers = taper_alloc_zeroed(v->allocator, v->shapes.count * sizeof *v->numbers);
            if (v->numbers == NULL) {
                return taper_fail_memory(error);
            }
        }
        for (size_t i = 0; i < node->output_count; i++) {
            const taper_val value = taper_shape_node_evaluate(node, i, v->call->run->heap, known_argument, v);
            v->numbers[node->outputs[i].id - v->shapes.first] = value;
            found = found || value.tag != TAPER_NONE;
            if (value.tag != TAPER_NONE && node->outputs[i].type != NULL &&
                node->outputs[i].type->kind == TAPER_TYPE_TENSOR) {
                v->shapes.of[node->outputs[i].id - v->shapes.first] =
                    (taper_shape){.rank = 0, .dtype = value.tag == TAPER_INT ? TAPER_I64 : TAPER_F32};
            }
        }
    }
    return TAPER_OK;
}

taper_status taper_segment_values_init(const taper_segment *segment, const taper_call *call,
                                       const taper_allocator *allocator, taper_segment_values *v)
{
    *v = (taper_segment_values){.call = call, .body = segment->node->blocks[1], .allocator = allocator};
    TAPER_TRY(taper_segment_shapes(segment, call, &v->shapes));
    size_t at = 0;
    for (const taper_node *node = v->body->first; node != NULL; node = node->next) {
        for (size_t i = 0; i < node->input_count; i++) {
            const taper_ir_value *value = taper_node_in(node, i);
            if (value->block == v->body) {
                continue;
            }
            if (taper_pointer_find(&v->args, value) == NULL) {
                TAPER_TRY(taper_pointer_add(allocator, &v->args, value, at, call->run->error));
            }
            at++;
        }
    }
    return find_numbers(v, call->run->error);
}

void taper_segment_values_free(taper_segment_values *v)
{
    taper_pointer_free(v->allocator, &v->args);
    for (size_t i = 0; v->numbers != NULL && i < v->shapes.count; i++) {
        taper_val_release(v->numbers[i]);
    }
    taper_free(v->allocator, v->numbers, v->shapes.count * sizeof *v->numbers);
    if (v->shapes.of != NULL) {
        taper_segment_shapes_free(v->call, &v->shapes);
    }
    *v = (taper_segment_values){0};
}

// Returns true if the argument is constant. Numbers are constant for a recording, because calls with other numbers get
// their own recording. Returns false for a tensor attribute that the program writes to, because its contents differ
// between runs.
static bool is_constant(const taper_segment_values *v, size_t arg)
{
    const taper_val value = v->call->args[arg];
    return value.tag != TAPER_TENSOR || (taper_arg_is_constant(v->call, arg) && taper_tensor_stands(value.as.tensor));
}

void taper_segment_values_know(void *user, const taper_ir_value *value, taper_known_value *known)
{
    const taper_segment_values *v = user;
    const size_t arg = taper_segment_values_argument(v, value);
    *known = (taper_known_value){.shape = taper_shape_unknown()};
    if (arg == SIZE_MAX) {
        known->constant = number_of(v, value);
        known->shape = value->block == v->body ? taper_shapes_get(&v->shapes, value) : taper_shape_unknown();
        return;
    }
    const taper_val *val = &v->call->args[arg];
    if (is_constant(v, arg)) {
        known->constant = val;
        return;
    }
    const taper_tensor *x = val->as.tensor;
    known->shape = taper_shape_of(x);
    known->quantized = x->quantizer != NULL;
    if (known->quantized) {
        known->scale = x->quantizer->scale;
        known->zero_point = x->quantizer->zero_point;
    }
}

bool taper_segment_values_check_holds(const taper_segment_values *v, const taper_node *check)
{
    if (!taper_node_calls(check, TAPER_OP(taper_expect_rank)) || check->input_count < 2) {
        return false;
    }
    taper_known_value x, rank;
    taper_segment_values_know((void *)(uintptr_t)v, taper_node_in(check, 0), &x);
    taper_segment_values_know((void *)(uintptr_t)v, taper_node_in(check, 1), &rank);
    const int known = x.constant == NULL                ? x.shape.rank
                      : x.constant->tag == TAPER_TENSOR ? x.constant->as.tensor->rank
                                                        : -1;
    return known >= 0 && rank.constant != NULL && rank.constant->tag == TAPER_INT &&
           (rank.constant->as.i < 0 ? known >= -rank.constant->as.i : known == rank.constant->as.i);
}
