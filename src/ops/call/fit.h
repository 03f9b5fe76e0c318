// SPDX-License-Identifier: BSD-2-Clause
// Checks values from outside of a program against a schema.
#ifndef TAPER_OPS_FIT_H
#define TAPER_OPS_FIT_H

#include "ir/schema.h"

// Converts *value to the declared type of an argument or result (for example an int to a float), or fails with the
// reason. `what` is "argument" or "result", for the message.
TAPER_MUST_USE taper_status taper_fit(const taper_schema_arg *declared, const char *what, size_t at, taper_val *value,
                                      taper_error *error);

#endif
