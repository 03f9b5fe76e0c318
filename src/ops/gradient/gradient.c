// SPDX-License-Identifier: BSD-2-Clause
// Finds derivatives in the table that make_gradients.c writes.
#include "ops/gradient/gradient.h"

#include "ops/list/op_rows.h"

#include "ops/gradient/gradient_table.inc"

const taper_gradient *taper_gradient_find(const taper_op *op)
{
    const size_t row = (size_t)(op - taper_ops);
    return !taper_row_is_registered(op) && gradient_of[row] != 0 ? &gradient_rows[gradient_of[row] - 1] : NULL;
}

const taper_gradient_formula *taper_gradient_formula_at(const taper_gradient *gradient, size_t index)
{
    return &gradient_formulas[gradient->first + index];
}

const uint16_t *taper_gradient_code(const taper_gradient_formula *formula)
{
    return gradient_code + formula->first;
}

int64_t taper_gradient_int(size_t number)
{
    return gradient_ints[number];
}

double taper_gradient_float(size_t number)
{
    return gradient_floats[number];
}
