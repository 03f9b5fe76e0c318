// SPDX-License-Identifier: BSD-2-Clause
// Which nodes of a region NNAPI takes: one rule for the device's segments and for those of converted files.
#ifndef TAPER_BACKENDS_CLAIM_H
#define TAPER_BACKENDS_CLAIM_H

#include "backends/nnapi/translate.h"
#include "ops/backend.h"

typedef struct taper_nnapi_claiming {
    const taper_translate_options *options; // their `know` is claim's own
    bool anything;                          // also what has no layer in it, and hardly pays
} taper_nnapi_claiming;

// TAPER_DECLINED: nothing (more) here.
TAPER_MUST_USE taper_status taper_nnapi_claim(const taper_nnapi_claiming *claiming, taper_region *region,
                                              taper_claim *claim);
// What a region knows of a value, as taper_translate_options.know; user: the region.
void taper_nnapi_know_region(void *user, const taper_ir_value *value, taper_known_value *known);

#endif
