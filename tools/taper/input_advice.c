// SPDX-License-Identifier: BSD-2-Clause
#include "taper/input_advice.h"

#include <taper/taper_app.h>

#include "common/errors.h"
#include "common/waiting.h"

bool inputs_run(const opened_model *opened, const char *method, const call_inputs *inputs, taper_value **result)
{
    waiting shown = {.active = false};
    if (!opened->measured) {
        waiting_begin(&shown, "running", opened->path);
    }
    const taper_status status =
        taper_session_run(opened->session, method, inputs->values, inputs->count, result, opened->error);
    const taper_status advised = status == TAPER_OK ? status
                                                    : taper_session_advise(opened->session, method, inputs->values,
                                                                           inputs->count, opened->error);
    (void)advised; // if memory runs out, the error keeps its original message
    waiting_end(&shown);
    return status == TAPER_OK || error_report_library(opened->path, opened->error);
}
