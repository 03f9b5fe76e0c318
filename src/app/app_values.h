// SPDX-License-Identifier: BSD-2-Clause
// Internal functions that several files of taper_app.h share.
#ifndef TAPER_APP_APP_VALUES_H
#define TAPER_APP_APP_VALUES_H

#include "ir/tensor_def.h"

// Makes a contiguous float32 tensor of a value's elements, as taper_value_floats does. Fails if `value` is NULL.
TAPER_MUST_USE taper_status taper_app_floats(taper_context *context, const taper_value *value, taper_tensor **floats,
                                             taper_error *error);

#endif
