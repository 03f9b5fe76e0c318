// SPDX-License-Identifier: BSD-2-Clause
// Keeps packed weights in files in the context's cache_dir, if it has one.
#ifndef TAPER_RUNTIME_KEPT_PACKS_H
#define TAPER_RUNTIME_KEPT_PACKS_H

#include "base/status.h"

enum { TAPER_KEEPS_PACKS = 1 }; // 1 if this build keeps packed weights in files
TAPER_MUST_USE taper_status taper_model_use_cache(taper_model *model, taper_error *error);
// Writes to the host's log why the packed weights could not be written. Does nothing if `problem` is NULL.
void taper_model_tell_of_packs(const taper_model *model, const char *problem);

#endif
