// SPDX-License-Identifier: BSD-2-Clause
// Compares the shapes that ir/infer.h infers with the results of operators, in builds with TAPER_CHECK_SHAPES (debug
// builds). Every test of an operator then also tests the operator's shape rule.
#ifndef TAPER_OPS_CHECK_SHAPES_H
#define TAPER_OPS_CHECK_SHAPES_H

#include "ir/infer.h"
#include "ops/call/call.h"

// The shapes inferred for result 0 from less and less knowledge about the arguments: all facts; all but the sizes; all
// but the sizes and ranks; all but the sizes, ranks and numbers.
enum { TAPER_SHAPE_CHECKS = 4 };
typedef struct taper_shape_check {
    taper_shape shapes[TAPER_SHAPE_CHECKS];
    bool checks;
} taper_shape_check;

void taper_shape_check_begin(taper_shape_check *check, const taper_call *call);
// Fails if the result contradicts an inferred shape.
TAPER_MUST_USE taper_status taper_shape_check_end(const taper_shape_check *check, const taper_call *call);

#endif
