// SPDX-License-Identifier: BSD-2-Clause
// The table of derivatives: for each differentiable operator of the list, the formulas of the gradients of its
// arguments. gradient_list.h has the formulas as text; make_gradients.c turns them into code while the library is
// built.
#ifndef TAPER_OPS_GRADIENT_H
#define TAPER_OPS_GRADIENT_H

#include "ops/gradient/gradient_code.h"
#include "ops/list/registry.h"

// The derivatives of an operator: a record of the table (gradient_code.h).
typedef uint8_t taper_gradient;

typedef struct taper_gradient_formula {
    // Bits of the arguments whose gradients the formula computes. In a composition: bits of the computed results.
    uint32_t targets;
    const uint8_t *code, *end; // instructions of the formula: [code, end)
} taper_gradient_formula;

// The values that a formula reads.
typedef struct taper_gradient_reads {
    uint32_t arguments; // bits of the arguments whose elements the formula reads
    uint32_t shapes;    // bits of the arguments whose sizes and dtype the formula reads
    uint32_t results;   // bits of the results that the formula reads
    // Bits of the results whose gradients the formula reads; all bits for the gradients of a list's items.
    uint32_t grads;
} taper_gradient_reads;

// Returns the derivatives of an operator, or of its functional form if the operator writes in place. Returns NULL if
// the table has none.
const taper_gradient *taper_gradient_find(const taper_op *op);
// Returns true if no result of the operator has a gradient.
bool taper_gradient_is_none(const taper_gradient *gradient);
// Returns true if the formulas give the results, as a composition of other operators.
bool taper_gradient_is_composed(const taper_gradient *gradient);
// Returns the bits of the arguments on which the results do not depend in a differentiable way.
uint32_t taper_gradient_none(const taper_gradient *gradient);
// Finds the formula after *formula. It finds the first formula if formula->end is NULL. Returns false if there is no
// other formula.
bool taper_gradient_next(const taper_gradient *gradient, taper_gradient_formula *formula);
// Adds the values that the formula reads to *reads.
void taper_gradient_add_reads(const taper_gradient_formula *formula, taper_gradient_reads *reads);
// The gradient of one factor of a product reads the elements of the other factor only. `wanted` contains the bits of
// the factors whose gradients are wanted. If only the sizes of a factor are then read, moves the factor from
// reads->arguments to reads->shapes.
void taper_gradient_leave_factors(const taper_op *op, uint32_t wanted, taper_gradient_reads *reads);
// Returns the operator of a TAPER_GRADIENT_CALL and its number of arguments, and moves *at from the byte after the
// instruction to the next instruction.
const taper_op *taper_gradient_call(uint8_t instruction, const uint8_t **at, size_t *count);
// Returns true for an operator whose results are views of separate parts of argument 0, and whose other arguments are
// numbers.
bool taper_gradient_cuts(const taper_op *op);
int64_t taper_gradient_int(size_t number);
double taper_gradient_float(size_t number);

// The values of a call, for its formulas. When a program is compiled (compiler/differentiate.h), a value that only a
// run knows is represented by a value of the program: the tag is TAPER_UNDEFINED, and as.obj is not NULL.
typedef struct taper_formula_values {
    const taper_val *args, *results;
    // The arguments of which a formula reads only the sizes, in the order of `args`. NULL: `args` is read instead.
    const taper_val *shapes;
    const taper_val *grads; // gradients of the results, or of the items of result 0
    size_t grad_count;
    uint32_t wanted; // bits of the arguments whose gradients are wanted
    // For a formula whose only target is a list: whether the gradient of each item is wanted. Otherwise NULL.
    const bool *items;
    size_t item_count;
    // Runs an operator. args are borrowed, rets become owned references.
    taper_status (*call)(void *user, const taper_op *op, taper_val *args, size_t arg_count, taper_val *rets,
                         size_t ret_count);
    void *user;
    taper_heap *heap; // heap for lists
    taper_registry *registry;
    taper_error *error;
} taper_formula_values;

enum { TAPER_FORMULA_STACK = 64 };

// Computes a formula. found[k] receives a reference to the gradient of the k-th target, in the order of the arguments.
TAPER_MUST_USE taper_status taper_formula_run(const taper_gradient_formula *formula, const taper_formula_values *values,
                                              taper_val *found);

#endif
