// SPDX-License-Identifier: BSD-2-Clause
// Elementwise operators on floats by the vector kernels (elementwise_vector.c): the choice of a kernel for a walk, and
// its loops. A plan depends only on the operator, its numbers, and the sizes and steps of the walk, so a prepared call
// keeps its plan.
#ifndef TAPER_OPS_ELEMENTWISE_VECTOR_H
#define TAPER_OPS_ELEMENTWISE_VECTOR_H

#include "ops/engine/elementwise.h"
#include "ops/kernels/kernel_select.h"

typedef struct taper_ew_vector_loop {
    const taper_vector_entry *vector;
    taper_unary_f32_function *unary;
    taper_binary_f32_function *binary;
    float factor;     // factor of a sum's second operand, for the blend kernel; 0 if another kernel runs
    float numbers[4]; // numbers that the unary kernel takes in addition to its operand
} taper_ew_vector_loop;

struct taper_ew_vector_plan {
    taper_ew_vector_loop loop;
    bool scale, shift; // true if all rows share the second operand, which multiplies (scale) or is added (shift)
    bool beside;       // true if rows are short and are copied side by side (elementwise_rows.h)
    bool spread;       // true if rows are side by side, and one operand has one element for each row
    bool outer;        // true if each row is one vector multiplied by a number
    // If beside, spread or outer is set: the number of the side (input) with the rows or the vector, and of the side
    // with the factors.
    size_t wide, narrow;
};

// Chooses the vector kernel for an operator on one or two vectors. Returns false if there is none.
bool taper_ew_choose_vector(const taper_ew_op *op, const taper_ew_args *args, taper_ew_vector_loop *loop);
void taper_ew_run_vector(const taper_ew_vector_loop *loop, size_t n, const float *const *x, float *y);

// Returns true if an input overlaps the result, and its elements are not at the same addresses as the result's. Results
// of rows then depend on the rows before them, so rows must not be read in advance. items: the number of bytes of an
// element of each side.
bool taper_ew_is_crossed(const taper_ew_walk *walk, const size_t *items);

// Plans a walk whose sides are all float32. Does not read the elements. Returns false if no kernel fits the walk.
bool taper_ew_vector_plan_make(taper_ew_vector_plan *plan, uint64_t cpu, const taper_ew_op *op,
                               const taper_ew_args *args, const taper_ew_walk *walk);
// Runs the plan over a walk with the sizes and steps it was made for.
TAPER_MUST_USE taper_status taper_ew_vector(taper_run *run, const taper_ew_vector_plan *plan,
                                            const taper_ew_walk *walk);

#endif
