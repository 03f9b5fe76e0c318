// SPDX-License-Identifier: BSD-2-Clause
// The table of derivatives: for each differentiable operator of the list, the formulas of the gradients of its
// arguments. gradient_list.h has the formulas as text; make_gradients.c turns them into code while the library is
// built.
#ifndef TAPER_OPS_GRADIENT_H
#define TAPER_OPS_GRADIENT_H

#include "ops/gradient/gradient_code.h"
#include "ops/list/registry.h"

typedef struct taper_gradient_formula {
    uint32_t targets;   // bits of the arguments whose gradients the formula computes; in a composition, bits of the
                        // results
    uint32_t arguments; // bits of the arguments whose elements the formula reads
    uint32_t shapes;    // bits of the arguments whose sizes and dtype the formula reads
    uint16_t results;   // bits of the results that the formula reads
    uint16_t length;    // number of words of the formula's code
    uint32_t first;     // index of the first word of the formula's code
} taper_gradient_formula;

typedef struct taper_gradient {
    uint32_t none;         // bits of the arguments on which the results do not depend in a differentiable way
    uint16_t first, count; // first formula of the operator, and number of its formulas
    bool composed;         // true if the formulas compute the results, as a composition of other operators
} taper_gradient;

// Returns the derivatives of an operator, or of its functional form if the operator writes in place. Returns NULL if
// the table has none.
const taper_gradient *taper_gradient_find(const taper_op *op);
const taper_gradient_formula *taper_gradient_formula_at(const taper_gradient *gradient, size_t index);
// Returns true if no result of the operator has a gradient.
static inline bool taper_gradient_is_none(const taper_gradient *gradient)
{
    return gradient->count == 0;
}
const uint16_t *taper_gradient_code(const taper_gradient_formula *formula);
int64_t taper_gradient_int(size_t number);
double taper_gradient_float(size_t number);

// The values that a formula reads.
typedef struct taper_formula_values {
    const taper_val *args, *results;
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
