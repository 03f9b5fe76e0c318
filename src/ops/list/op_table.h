// SPDX-License-Identifier: BSD-2-Clause
// The rows of the operator list in the library: constant tables that make_op_table.c writes during the build.
#ifndef TAPER_OPS_OP_TABLE_H
#define TAPER_OPS_OP_TABLE_H

#include "ir/graph.h"
#include "ops/call/call.h"
#include "ops/list/op_config.h"

// Numbers of the rows that code names, for example TAPER_ROW_aten_add_Tensor, from the generated list named_rows.inc.
// These rows are first in the table, so their numbers do not depend on the other rows, and a new row recompiles few
// files. Tables with one entry per row (rules of backends) may name any row. They include the generated header
// ops/list/op_rows.h, which has the numbers of all other rows, TAPER_ROW_COUNT, and TAPER_WORK_<id> (taper_node_work).
enum {
#define NAMED(id) TAPER_OP_IF(id, TAPER_ROW_##id, )
#include "ops/list/named_rows.inc"
#undef NAMED
    TAPER_ROW_NAMED_COUNT
};

extern const taper_op taper_ops[];     // the rows; the index is the row number
extern const uint16_t taper_row_count; // number of rows in taper_ops

// Returns true for an operator of the host, which has no row number.
static inline bool taper_row_is_registered(const taper_op *op)
{
    return taper_op_has(op, TAPER_OP_REGISTERED);
}

taper_kernel taper_row_kernel(const taper_op *op);
// Returns a number TAPER_ON_QUANTIZED_…, which says how calls with quantized tensors run.
unsigned taper_row_on_quantized(const taper_op *op);
// Returns the kernel for calls with quantized tensors. taper_row_on_quantized must return TAPER_ON_QUANTIZED_OWN or
// more for the row.
taper_kernel taper_row_quantized_kernel(const taper_op *op);
// Returns the parameter that distinguishes rows with the same kernel, or NULL, as for most rows.
const void *taper_row_param(const taper_op *op);

// The address of the row with this id, a constant. It is NULL in a selective build that leaves out the row.
#define TAPER_OP(id) TAPER_OP_OR_NULL(id, &taper_ops[TAPER_ROW_##id])
// Returns true if op is the row `of` or an overload of it.
bool taper_row_is_overload(const taper_op *op, const taper_op *of);
// taper_node_calls returns true if the node calls this operator (a row of the list). taper_node_calls_any also returns
// true for an overload of the operator.
inline bool taper_node_calls(const taper_node *node, const taper_op *op)
{
    return node->kind == TAPER_NODE_OP && node->op == op;
}
static inline bool taper_node_calls_any(const taper_node *node, const taper_op *op)
{
    return node->kind == TAPER_NODE_OP && op != NULL && taper_row_is_overload(node->op, op);
}
// taper_row_is_in_place returns true if op is the in-place variant of a row with the same arguments.
// taper_row_functional returns that row, or NULL if op is no such variant or this build lacks the row.
bool taper_row_is_in_place(const taper_op *op);
const taper_op *taper_row_functional(const taper_op *op);
// Returns TAPER_WORK_<id> of the row that computes the same as the node's operator (op_rows.h): an in-place operator
// has the number of its functional row, if its tensor afterwards has the sizes and dtype of that row's result. Lists of
// rules therefore name a row once.
unsigned taper_node_work(const taper_node *node);
// Returns the first row of the list whose facts in the mask are equal to `facts`, or NULL.
const taper_op *taper_row_where(uint64_t mask, uint64_t facts);

// The functions below also find operators of the host. taper_row_find returns NULL if there is no such operator. name
// is for example "aten::add"; overload is for example "Tensor", or "".
const taper_op *taper_row_find(const char *name, const char *overload);
// Returns true if the list has rows with this name.
bool taper_row_is_listed(const char *name);
// These functions return the rows of one name in the order of the list: the first row, and the row after a given one.
// They return NULL if there is no such row.
const taper_op *taper_row_first(const char *name);
const taper_op *taper_row_next(const taper_op *op);

// Returns the schema, for example "aten::add.Tensor(Tensor self, …) -> Tensor", allocated in the arena. Returns NULL if
// memory is missing.
const char *taper_row_text(const taper_op *op, taper_arena *arena);

// taper_registered_* do what taper_row_first, taper_row_next, taper_row_text and taper_row_kernel do, for operators
// that the host registered (ops/list/registered.h).
const taper_op *taper_registered_first(const char *name);
const taper_op *taper_registered_next(const taper_op *op);
const char *taper_registered_text(const taper_op *op);
taper_status taper_op_registered(taper_call *call);

#endif
