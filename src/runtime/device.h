// SPDX-License-Identifier: BSD-2-Clause
// Devices and precisions as hosts name them. The CPU in float32 is what there is.
#ifndef TAPER_RUNTIME_DEVICE_H
#define TAPER_RUNTIME_DEVICE_H

#include "base/status.h"

// NAME[:INDEX][!]; NULL: "cpu". *here: it is the CPU. Fails for text of another form and, where "!" insists, for a
// device that is not here.
TAPER_MUST_USE taper_status taper_device_read(const char *text, bool *here, taper_error *error);
// "fp32" (NULL), or one that is not part of this build.
TAPER_MUST_USE taper_status taper_precision_check(const char *text, taper_error *error);

#endif
