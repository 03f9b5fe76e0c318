// SPDX-License-Identifier: BSD-2-Clause
// Packed weights that are those of the context's cache_dir, if it has one.
#ifndef TAPER_RUNTIME_KEPT_PACKS_H
#define TAPER_RUNTIME_KEPT_PACKS_H

#include "base/status.h"

enum { TAPER_KEEPS_PACKS = 1 }; // whether there is anything to keep there
TAPER_MUST_USE taper_status taper_model_use_cache(taper_model *model, taper_error *error);
// To the host's log, why they could not be written; NULL: nothing.
void taper_model_tell_of_packs(const taper_model *model, const char *problem);

#endif
