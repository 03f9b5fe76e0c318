// SPDX-License-Identifier: BSD-2-Clause
// Operators that the host registered (taper_operator.h), beside the rows of the list. Their names are found where the
// list's are not; they are never taken away. Any thread.
#ifndef TAPER_OPS_REGISTERED_H
#define TAPER_OPS_REGISTERED_H

#include <taper/taper_operator.h>

#include "ir/op.h"

// Of which names are made.
#define TAPER_NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"

// The schema's text is copied. Fails where it is none, and where its name, with its overload, has a meaning already.
TAPER_MUST_USE taper_status taper_registered_add(const char *schema, taper_operator_function function, void *user,
                                                 taper_error *error);

// The same without a look at the schema or at the rows' names (for taper_registered_add). op: its facts; copied.
TAPER_MUST_USE taper_status taper_registered_append(const char *schema, const taper_op *op,
                                                    taper_operator_function function, void *user, taper_error *error);

// Whether the schema of one of them has this name of a class.
bool taper_registered_names(const char *name);

#endif
