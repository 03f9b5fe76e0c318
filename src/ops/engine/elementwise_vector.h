// SPDX-License-Identifier: BSD-2-Clause
// Elementwise operators in floats by the vector kernels (elementwise_vector.c): which kernel goes over a walk, and how.
// A plan depends on the operator, its numbers, and the sizes and steps of the walk, so a prepared call keeps it.
#ifndef TAPER_OPS_ELEMENTWISE_VECTOR_H
#define TAPER_OPS_ELEMENTWISE_VECTOR_H

#include "ops/engine/elementwise.h"
#include "ops/kernels/kernel_select.h"

typedef struct taper_ew_vector_loop {
    const taper_vector_entry *vector;
    taper_unary_f32_function *unary;
    taper_binary_f32_function *binary;
    float factor;     // of a sum's second operand, which is then a blend; 0: none
    float numbers[4]; // of unary
} taper_ew_vector_loop;

struct taper_ew_vector_plan {
    taper_ew_vector_loop loop;
    bool scale, shift;   // rows of a binary one repeat the second operand: it multiplies, is added
    bool beside;         // rows are short and are laid side by side (elementwise_rows.h)
    bool spread;         // and one operand has one element for each of them
    bool outer;          // each row is a number times the same vector
    size_t wide, narrow; // of the last three: the sides of the rows, or of the vector, and of the factors
};

// The vector kernel of an operator for two vectors, or one; false: it has none.
bool taper_ew_choose_vector(const taper_ew_op *op, const taper_ew_args *args, taper_ew_vector_loop *loop);
void taper_ew_run_vector(const taper_ew_vector_loop *loop, size_t n, const float *const *x, float *y);

// Plans a walk whose sides are all float32; its data is not looked at. False: no kernel goes over it.
bool taper_ew_vector_plan_make(taper_ew_vector_plan *plan, uint64_t cpu, const taper_ew_op *op,
                               const taper_ew_args *args, const taper_ew_walk *walk);
// Goes over a walk of the same sizes and steps.
TAPER_MUST_USE taper_status taper_ew_vector(taper_run *run, const taper_ew_vector_plan *plan,
                                            const taper_ew_walk *walk);

#endif
