// SPDX-License-Identifier: BSD-2-Clause
// Holds the shape rules of ir/infer.h against what operators give, in builds with TAPER_CHECK_SHAPES (those for
// debugging, in which every test of an operator then proves its rule).
#ifndef TAPER_OPS_CHECK_SHAPES_H
#define TAPER_OPS_CHECK_SHAPES_H

#include "ir/infer.h"
#include "ops/call/call.h"

// What is inferred of result 0 when everything about the arguments is known, only the ranks of tensors, or less.
enum { TAPER_SHAPE_CHECKS = 4 };
typedef struct taper_shape_check {
    taper_shape shapes[TAPER_SHAPE_CHECKS];
    bool checks;
} taper_shape_check;

void taper_shape_check_begin(taper_shape_check *check, const taper_call *call);
// Fails where the result contradicts it.
TAPER_MUST_USE taper_status taper_shape_check_end(const taper_shape_check *check, const taper_call *call);

#endif
