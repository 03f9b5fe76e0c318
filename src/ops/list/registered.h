// SPDX-License-Identifier: BSD-2-Clause
// Operators that the host registered (taper_operator.h). A name is searched in the operator list first, then among the
// registered operators. Registered operators are never removed. Any thread may call these functions.
#ifndef TAPER_OPS_REGISTERED_H
#define TAPER_OPS_REGISTERED_H

#include <taper/taper_operator.h>

#include "ir/op.h"

// The characters that names may contain.
#define TAPER_NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"

// Registers an operator. The text of the schema is copied. Fails if the text is not a schema, or if an operator already
// has its name and overload.
TAPER_MUST_USE taper_status taper_registered_add(const char *schema, taper_operator_function function, void *user,
                                                 taper_error *error);

// Registers an operator without checking the schema or the names of rows (for taper_registered_add). op contains the
// facts of the operator and is copied.
TAPER_MUST_USE taper_status taper_registered_append(const char *schema, const taper_op *op,
                                                    taper_operator_function function, void *user, taper_error *error);

// Returns true if the schema of a registered operator contains this name of a class.
bool taper_registered_names(const char *name);

#endif
