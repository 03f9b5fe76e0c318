// SPDX-License-Identifier: BSD-2-Clause
// Steps that many compositions and gradients take (steps.h): arithmetic, reductions over one dimension, shapes. Each
// function calls one operator or two and returns a value that the sequence owns.
#ifndef TAPER_OPS_GRADIENT_STEPS_MATH_H
#define TAPER_OPS_GRADIENT_STEPS_MATH_H

#include "ir/tensor_def.h"
#include "ops/gradient/steps.h"

taper_step_value taper_step_add(taper_steps *s, taper_step_value a, taper_step_value b);
taper_step_value taper_step_sub(taper_steps *s, taper_step_value a, taper_step_value b);
taper_step_value taper_step_mul(taper_steps *s, taper_step_value a, taper_step_value b);
taper_step_value taper_step_div(taper_steps *s, taper_step_value a, taper_step_value b);
taper_step_value taper_step_scale(taper_steps *s, taper_step_value a, double factor);
taper_step_value taper_step_shift(taper_steps *s, taper_step_value a, double summand);
taper_step_value taper_step_from(taper_steps *s, double number, taper_step_value a); // returns number - a
taper_step_value taper_step_neg(taper_steps *s, taper_step_value a);
taper_step_value taper_step_sum(taper_steps *s, taper_step_value a, int64_t dim, bool keep);
taper_step_value taper_step_mean(taper_steps *s, taper_step_value a, int64_t dim, bool keep);
taper_step_value taper_step_transpose(taper_steps *s, taper_step_value a, int64_t dim0, int64_t dim1);
taper_step_value taper_step_reshape(taper_steps *s, taper_step_value a, const int64_t *sizes, size_t rank);
taper_step_value taper_step_like(taper_steps *s, taper_step_value a,
                                 const taper_tensor *like); // reshapes to the sizes of `like`
taper_step_value taper_step_unsqueeze(taper_steps *s, taper_step_value a, int64_t dim);
taper_step_value taper_step_narrow(taper_steps *s, taper_step_value a, int64_t dim, int64_t start, int64_t length);
taper_step_value taper_step_matmul(taper_steps *s, taper_step_value a, taper_step_value b);
taper_step_value taper_step_adjoint(taper_steps *s,
                                    taper_step_value a); // transposes the last two dimensions and conjugates
taper_step_value taper_step_conj(taper_steps *s, taper_step_value a); // returns the value itself if it is real
taper_step_value taper_step_detach(taper_steps *s, taper_step_value a);
taper_step_value taper_step_where(taper_steps *s, taper_step_value condition, taper_step_value a, taper_step_value b);
// Returns the elements of a new tensor, which *table receives, or NULL after a failure.
void *taper_step_table(taper_steps *s, taper_dtype dtype, size_t rank, const int64_t *sizes, taper_step_value *table);
// Returns a tensor of rank 1 with these numbers.
taper_step_value taper_step_index(taper_steps *s, const int64_t *numbers, size_t count);
// Reduces a loss. reduction is 0 for no reduction, 1 for the mean, 2 for the sum.
taper_step_value taper_step_reduced(taper_steps *s, taper_step_value loss, int64_t reduction);
// Wraps a negative dimension, so that *dim counts from 0. Fails if a tensor of this rank lacks the dimension. A tensor
// of rank 0 has dimension 0.
TAPER_MUST_USE taper_status taper_step_dim(const taper_steps *s, int64_t *dim, size_t rank);
// Returns true if item `index` of the list of bools at argument `at` is true.
bool taper_step_mask(const taper_steps *s, size_t at, size_t index);

static inline bool taper_step_is_tensor(taper_step_value value)
{
    return value->tag == TAPER_TENSOR;
}

#endif
