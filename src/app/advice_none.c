// SPDX-License-Identifier: BSD-2-Clause
// The function for builds that cannot name the layer in which a call failed. The bindings call it in every build.
#include <taper/taper_app.h>

taper_status taper_session_advise(taper_session *session, const char *method, taper_value *const *inputs, size_t count,
                                  taper_error *error)
{
    (void)session, (void)method, (void)inputs, (void)count, (void)error;
    return TAPER_ERROR_UNSUPPORTED; // `error` keeps the text of the failed run
}
