// SPDX-License-Identifier: BSD-2-Clause
// Gives every context of a program the device "metal": programs call metal_context_create instead of
// taper_context_create.
#include <taper/taper.h>

#include "tests/gpu/failing_gpu.h"

taper_status metal_context_create(const taper_context_options *options, taper_context **context, taper_error *error);
taper_status metal_context_create(const taper_context_options *options, taper_context **context, taper_error *error)
{
    const taper_status status = taper_context_create(options, context, error);
    if (status != TAPER_OK) {
        return status;
    }
    gpu_fail(GPU_OPEN, 0);
    return set_failing_gpu(*context, error);
}
