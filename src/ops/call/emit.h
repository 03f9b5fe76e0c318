// SPDX-License-Identifier: BSD-2-Clause
// Appends nodes to a graph, for code that knows the operators it needs: frontends, and conversions of graphs for a
// device.
#ifndef TAPER_OPS_EMIT_H
#define TAPER_OPS_EMIT_H

#include "ir/graph.h"
#include "ops/list/registry.h"

typedef struct taper_emitter {
    taper_registry *registry;
    taper_heap *heap; // heap for constants
    taper_graph *graph;
    taper_block *block; // block to which nodes are appended
    taper_error *error;
    int32_t debug; // debug handle for the nodes
    uint32_t instruction;
} taper_emitter;

// Appends a node whose inputs are not set yet.
TAPER_MUST_USE taper_status taper_emit_node(const taper_emitter *e, taper_node_kind kind, size_t inputs, size_t outputs,
                                            taper_node **node);
// Appends a constant. Takes over the reference of value, also on failure.
TAPER_MUST_USE taper_status taper_emit_constant(const taper_emitter *e, taper_val value, taper_ir_value **made);
TAPER_MUST_USE taper_status taper_emit_text(const taper_emitter *e, const char *text, taper_ir_value **made);
// Allocates an array from the graph's arena, in which the caller collects the inputs of a node. The caller creates the
// node only when all inputs are collected, so a failure before that leaves no incomplete node in the block.
TAPER_MUST_USE taper_status taper_emit_values(const taper_emitter *e, size_t count, taper_ir_value ***values);
// Appends a LIST, TUPLE or DICT of the items.
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
// Appends a call of the operator `op`, which is NULL if this build lacks the operator. An argument that is NULL or
// missing gets its default. *made receives the first result.
TAPER_MUST_USE taper_status taper_emit_call(const taper_emitter *e, const taper_op *op, taper_ir_value *const *args,
                                            size_t count, taper_ir_value **made);
#define TAPER_EMIT_CALL(e, op, made, ...)                                                                              \
    taper_emit_call(e, op, (taper_ir_value *const[]){__VA_ARGS__},                                                     \
                    sizeof((taper_ir_value *const[]){__VA_ARGS__}) / sizeof(taper_ir_value *), made)
// Appends a check that raises `text` at run time unless `condition` is true.
TAPER_MUST_USE taper_status taper_emit_assert(taper_emitter *e, taper_ir_value *condition, const char *text);
// Appends a check that raises `text` at run time unless the operator `compare` is true for a and b.
TAPER_MUST_USE taper_status taper_emit_expect(taper_emitter *e, const taper_op *compare, taper_ir_value *a,
                                              taper_ir_value *b, const char *text);
// Appends a check that raises an error at run time unless the tensor has these sizes. A size of 0 allows any size.
TAPER_MUST_USE taper_status taper_emit_expect_sizes(taper_emitter *e, taper_ir_value *x, size_t rank,
                                                    const int64_t *sizes, const char *text);

#endif
