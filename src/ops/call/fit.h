// SPDX-License-Identifier: BSD-2-Clause
// Values that come from outside a program, held against a schema.
#ifndef TAPER_OPS_FIT_H
#define TAPER_OPS_FIT_H

#include "ir/schema.h"

// Makes *value what an argument or result is declared as (an int given for a float), or says what is wrong. what:
// "argument", "result".
TAPER_MUST_USE taper_status taper_fit(const taper_schema_arg *declared, const char *what, size_t at, taper_val *value,
                                      taper_error *error);

#endif
