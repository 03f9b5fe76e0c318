// SPDX-License-Identifier: BSD-2-Clause
// The table of derivatives. GRADIENT(id, formulas) names a row of the operator list and gives the gradients of its
// tensor arguments; make_gradients.c describes the formulas. NO_GRADIENT(id) names an operator whose results do not
// depend on its arguments in a differentiable way. An in-place form has the formulas of its functional form.
//
// COMPOSED(id, formulas) gives the results of an operator as a composition of other operators, which the tape records
// in its place. The gradients of all orders follow from the gradients of the other operators.
//
// At points where a function has no derivative (the corner of relu, ties of a maximum) the formulas give PyTorch's
// choice.
//
// This file is included several times with different definitions of GRADIENT, COMPOSED and NO_GRADIENT.
// clang-format off
#include "ops/gradient/gradients_elementwise.inc"
#include "ops/gradient/gradients_activation.inc"
#include "ops/gradient/gradients_reduce.inc"
#include "ops/gradient/gradients_view.inc"
#include "ops/gradient/gradients_index.inc"
#include "ops/gradient/gradients_linear.inc"
#include "ops/gradient/gradients_composed.inc"
#include "ops/gradient/gradients_linalg.inc"
#include "ops/gradient/gradients_fft.inc"
#include "ops/gradient/gradients_layer.inc"
#include "ops/gradient/gradients_none.inc"
// clang-format on
