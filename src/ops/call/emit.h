// SPDX-License-Identifier: BSD-2-Clause
// Making nodes of a graph one behind the other, for who knows which operator he wants: front ends, and what converts
// graphs for a device.
#ifndef TAPER_OPS_EMIT_H
#define TAPER_OPS_EMIT_H

#include "ir/graph.h"
#include "ops/list/registry.h"

typedef struct taper_emitter {
    taper_registry *registry;
    taper_heap *heap; // of constants
    taper_graph *graph;
    taper_block *block; // nodes are appended to it
    taper_error *error;
    int32_t debug; // of the nodes that are made
    uint32_t instruction;
} taper_emitter;

// A node without inputs yet, in the block.
TAPER_MUST_USE taper_status taper_emit_node(const taper_emitter *e, taper_node_kind kind, size_t inputs, size_t outputs,
                                            taper_node **node);
// Takes over the reference.
TAPER_MUST_USE taper_status taper_emit_constant(const taper_emitter *e, taper_val value, taper_ir_value **made);
TAPER_MUST_USE taper_status taper_emit_text(const taper_emitter *e, const char *text, taper_ir_value **made);
// Room for the values that a node will take: no node takes a value before it stands in the block, so that what was made
// can be removed from behind when the rest cannot be.
TAPER_MUST_USE taper_status taper_emit_values(const taper_emitter *e, size_t count, taper_ir_value ***values);
// A LIST, TUPLE or DICT of the items.
TAPER_MUST_USE taper_status taper_emit_container(const taper_emitter *e, taper_node_kind kind, const taper_type *type,
                                                 taper_ir_value *const *items, size_t count, taper_ir_value **made);
static inline TAPER_MUST_USE taper_status taper_emit_list(const taper_emitter *e, const taper_type *type,
                                                          taper_ir_value *const *items, size_t count,
                                                          taper_ir_value **made)
{
    return taper_emit_container(e, TAPER_NODE_LIST, type, items, count, made);
}
TAPER_MUST_USE taper_status taper_emit_int_list(const taper_emitter *e, const int64_t *numbers, size_t count,
                                                taper_ir_value **made);
// A call of the row (NULL: this build lacks it). NULL among the arguments, and those that are left out: the default.
// *made: the first result.
TAPER_MUST_USE taper_status taper_emit_call(const taper_emitter *e, const taper_op *op, taper_ir_value *const *args,
                                            size_t count, taper_ir_value **made);
#define TAPER_EMIT_CALL(e, op, made, ...)                                                                              \
    taper_emit_call(e, op, (taper_ir_value *const[]){__VA_ARGS__},                                                     \
                    sizeof((taper_ir_value *const[]){__VA_ARGS__}) / sizeof(taper_ir_value *), made)
// raise text unless condition
TAPER_MUST_USE taper_status taper_emit_assert(taper_emitter *e, taper_ir_value *condition, const char *text);
// raise text unless a and b compare so
TAPER_MUST_USE taper_status taper_emit_expect(taper_emitter *e, const taper_op *compare, taper_ir_value *a,
                                              taper_ir_value *b, const char *text);
// raise text unless the tensor has these sizes; 0: any
TAPER_MUST_USE taper_status taper_emit_expect_sizes(taper_emitter *e, taper_ir_value *x, size_t rank,
                                                    const int64_t *sizes, const char *text);

#endif
