// SPDX-License-Identifier: BSD-2-Clause
// Runs a method within a call of the session that has already begun (run.c), for code that processes the result
// further.
#ifndef TAPER_RUNTIME_RUN_INTO_H
#define TAPER_RUNTIME_RUN_INTO_H

#include "runtime/session.h"

// Finds a method; NULL means "forward". If the model lacks the method, fails with an error that lists the methods of
// the model.
TAPER_MUST_USE taper_status taper_session_find(const taper_session *session, const char *method,
                                               const taper_function **function, taper_error *error);
// Works like taper_session_run. *result is NULL on failure.
TAPER_MUST_USE taper_status taper_session_call(taper_session *session, const char *method, taper_value *const *inputs,
                                               size_t count, taper_value **result, taper_error *error);

#endif
