// SPDX-License-Identifier: BSD-2-Clause
// The rows of the operator list as the library holds them: constant tables that make_op_table.c makes while building.
#ifndef TAPER_OPS_OP_TABLE_H
#define TAPER_OPS_OP_TABLE_H

#include "ir/graph.h"
#include "ops/call/call.h"
#include "ops/list/op_config.h"

// Numbers of the rows that code names, TAPER_ROW_aten_add_Tensor and so on, of the generated list named_rows.inc: they
// come first in the table, so that they do not depend on the other rows, and a new row compiles few files. Tables with
// one entry per row (rules of backends) name any row: the generated header ops/list/op_rows.h has the numbers of all
// others, TAPER_ROW_COUNT, and TAPER_WORK_<id> (taper_node_work).
enum {
#define NAMED(id) TAPER_OP_IF(id, TAPER_ROW_##id, )
#include "ops/list/named_rows.inc"
#undef NAMED
    TAPER_ROW_NAMED_COUNT
};

extern const taper_op taper_ops[];     // by row number
extern const uint16_t taper_row_count; // of taper_ops

// Whether it is no row, but the host's: then it has no row number.
static inline bool taper_row_is_registered(const taper_op *op)
{
    return taper_op_has(op, TAPER_OP_REGISTERED);
}

taper_kernel taper_row_kernel(const taper_op *op);
// What calls with quantized tensors do: TAPER_ON_QUANTIZED_.
unsigned taper_row_on_quantized(const taper_op *op);
// Of a row that has TAPER_ON_QUANTIZED_OWN there, or more: what runs calls with quantized tensors.
taper_kernel taper_row_quantized_kernel(const taper_op *op);
// What tells apart the rows that share a kernel; NULL for most.
const void *taper_row_param(const taper_op *op);

// The row with this id, known while compiling; NULL in a selective build that leaves it out.
#define TAPER_OP(id) TAPER_OP_OR_NULL(id, &taper_ops[TAPER_ROW_##id])
// Whether one is the other, or an overload of it.
bool taper_row_is_overload(const taper_op *op, const taper_op *of);
// Whether node calls this row; this row or an overload of it.
inline bool taper_node_calls(const taper_node *node, const taper_op *op)
{
    return node->kind == TAPER_NODE_OP && node->op == op;
}
static inline bool taper_node_calls_any(const taper_node *node, const taper_op *op)
{
    return node->kind == TAPER_NODE_OP && op != NULL && taper_row_is_overload(node->op, op);
}
// Whether it is the form in place of a row with the same arguments, and that row; NULL: it is none, or this build lacks
// that row.
bool taper_row_is_in_place(const taper_op *op);
const taper_op *taper_row_functional(const taper_op *op);
// TAPER_WORK_<id> of the row whose work the node's operator does (op_rows.h): lists of rules name a row once, and what
// they say holds for its form in place, too, where that leaves its tensor the sizes and the dtype that the row's has.
unsigned taper_node_work(const taper_node *node);
// The first row of the list of which the facts in the mask are these; NULL: none.
const taper_op *taper_row_where(uint64_t mask, uint64_t facts);

// These find the host's operators, too. NULL when there is no such operator. name: "aten::add"; overload: "Tensor", or
// "".
const taper_op *taper_row_find(const char *name, const char *overload);
// Whether the list has rows of this name.
bool taper_row_is_listed(const char *name);
// The rows of one name, in the order of the list: the first; the one after a row; NULL when there is none.
const taper_op *taper_row_first(const char *name);
const taper_op *taper_row_next(const taper_op *op);

// Its schema, "aten::add.Tensor(Tensor self, …) -> Tensor". NULL: no memory.
const char *taper_row_text(const taper_op *op, taper_arena *arena);

// As taper_row_first, taper_row_next, taper_row_text and taper_row_kernel, for operators that the host registered
// (ops/list/registered.h).
const taper_op *taper_registered_first(const char *name);
const taper_op *taper_registered_next(const taper_op *op);
const char *taper_registered_text(const taper_op *op);
taper_status taper_op_registered(taper_call *call);

#endif
