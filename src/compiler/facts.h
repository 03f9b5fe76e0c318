// SPDX-License-Identifier: BSD-2-Clause
// What is known of a value before the run: its kind, that it is not None, a tensor's dtype.
#ifndef TAPER_COMPILER_FACTS_H
#define TAPER_COMPILER_FACTS_H

#include "compiler/pass.h"

// TAPER_TYPE_INT, FLOAT, BOOL or STRING where the value is sure to be one; otherwise TAPER_TYPE_ANY.
taper_type_kind taper_known_kind(const taper_ir_value *value);
bool taper_known_not_none(const taper_ir_value *value);
// The dtype of a tensor, when it follows from constants and from operators that raise for any other. Nothing may change
// dtypes in place (taper_ranks_change).
bool taper_known_dtype(const taper_ir_value *value, taper_dtype *dtype);

#endif
