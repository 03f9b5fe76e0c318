// SPDX-License-Identifier: BSD-2-Clause
// Runs formulas of derivatives on values of the program instead of values of a run: the calls of a formula become
// nodes. A formula gives the gradients of a node's arguments, or a composition that replaces the node.
#ifndef TAPER_COMPILER_DIFFERENTIATE_FORMULAS_H
#define TAPER_COMPILER_DIFFERENTIATE_FORMULAS_H

#include "compiler/differentiate.h"

enum { TAPER_AHEAD_ITEMS = 64, TAPER_AHEAD_ARGUMENTS = 64 }; // largest numbers of items of a list, and of arguments

// The place for new nodes, and the node for which these nodes are made.
typedef struct taper_ahead_maker {
    taper_ahead *a;
    taper_node *before;     // node before which new nodes are inserted
    const taper_node *node; // node whose formulas run
    uint32_t first;         // number of the first value that is made for the node
    bool composes;          // true if the new nodes give the results of `node`, false if they give gradients
} taper_ahead_maker;

// Represents a value of the program as a value of a formula (taper_formula_values).
taper_val taper_ahead_symbol(const taper_ir_value *value);
// Returns the program's value that `symbol` represents, or NULL if `symbol` is an ordinary value.
taper_ir_value *taper_ahead_value(taper_val symbol);
TAPER_MUST_USE taper_status taper_ahead_list(const taper_ahead_maker *m, const taper_val *items, size_t count,
                                             const taper_type *type, taper_ir_value **made);
// Makes a call of an operator, with the defaults of the arguments after `count`.
TAPER_MUST_USE taper_status taper_ahead_call_all(const taper_ahead_maker *m, const taper_op *op, const taper_val *args,
                                                 size_t count, taper_node **made);
// Does what taper_ahead_call_all does, for an operator with one result.
TAPER_MUST_USE taper_status taper_ahead_call(const taper_ahead_maker *m, const taper_op *op, const taper_val *args,
                                             size_t count, taper_ir_value **result);
// Finds or makes a value that has only the sizes and the dtype of a tensor, so that the tensor's elements can be freed
// before the value is read.
TAPER_MUST_USE taper_status taper_ahead_shape(taper_ahead *a, taper_ir_value *value, taper_val *shape);
// Declines the request if the elements of a tensor, or of the items of a list, are overwritten after they were read.
void taper_ahead_check_elements(taper_ahead *a, taper_ir_value *value);
// Runs a formula. `wanted` has the bits of the arguments whose gradients are wanted, and `grads` the gradients of the
// results. found[k] receives what the k-th target of the formula is: a value of the program, a list, or None.
TAPER_MUST_USE taper_status taper_ahead_run_formula(const taper_ahead_maker *m, const taper_gradient_formula *formula,
                                                    uint32_t wanted, const taper_val *grads, size_t grad_count,
                                                    taper_val *found);

#endif
