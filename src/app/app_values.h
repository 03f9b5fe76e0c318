// SPDX-License-Identifier: BSD-2-Clause
// What the functions of taper_app.h share.
#ifndef TAPER_APP_APP_VALUES_H
#define TAPER_APP_APP_VALUES_H

#include "ir/tensor_def.h"

// A contiguous float32 tensor of a value's elements, as taper_value_floats has it; value may be NULL, which fails.
TAPER_MUST_USE taper_status taper_app_floats(taper_context *context, const taper_value *value, taper_tensor **floats,
                                             taper_error *error);

#endif
