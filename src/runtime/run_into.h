// SPDX-License-Identifier: BSD-2-Clause
// A run inside a session call that has begun, for code that uses the result further: run.c.
#ifndef TAPER_RUNTIME_RUN_INTO_H
#define TAPER_RUNTIME_RUN_INTO_H

#include "runtime/session.h"

// Finds a method; NULL means "forward". Fails if the model lacks it, and lists the methods of the model.
TAPER_MUST_USE taper_status taper_session_find(const taper_session *session, const char *method,
                                               const taper_function **function, taper_error *error);
// Does what taper_session_run does. *result is NULL on failure.
TAPER_MUST_USE taper_status taper_session_call(taper_session *session, const char *method, taper_value *const *inputs,
                                               size_t count, taper_value **result, taper_error *error);

#endif
