// SPDX-License-Identifier: BSD-2-Clause
// A run of a session that was entered, for those who do something with its result: run.c.
#ifndef TAPER_RUNTIME_RUN_INTO_H
#define TAPER_RUNTIME_RUN_INTO_H

#include "runtime/session.h"

// The method (NULL: "forward"). Fails if the model has none, and lists those that it has.
TAPER_MUST_USE taper_status taper_session_find(const taper_session *session, const char *method,
                                               const taper_function **function, taper_error *error);
// As taper_session_run. *result is NULL on failure.
TAPER_MUST_USE taper_status taper_session_call(taper_session *session, const char *method, taper_value *const *inputs,
                                               size_t count, taper_value **result, taper_error *error);

#endif
