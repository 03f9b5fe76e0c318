// SPDX-License-Identifier: BSD-2-Clause
// A network as the driver has compiled it.
#ifndef TAPER_BACKENDS_COMPILATION_H
#define TAPER_BACKENDS_COMPILATION_H

#include "backends/nnapi/driver_memory.h"
#include "backends/nnapi/network.h"

// Why the device does not do a network.
typedef struct taper_nnapi_refusal {
    const char *why;   // a static text
    int32_t operation; // the first that is not supported; -1: it is something else
} taper_nnapi_refusal;

typedef struct taper_nnapi_compiled {
    ANeuralNetworksModel *model;
    ANeuralNetworksCompilation *compilation;
    taper_nnapi_memory weights;
    bool refers; // to values of the network, which must be kept as long
} taper_nnapi_compiled;

// cache_dir: where the driver may keep what it made; NULL: nowhere. TAPER_DECLINED: the device does not do all of it,
// *refusal says what not. On failure nothing is left.
TAPER_MUST_USE taper_status taper_nnapi_compile(taper_nnapi_driver *driver, const char *cache_dir,
                                                const taper_network *network, taper_nnapi_compiled *made,
                                                taper_nnapi_refusal *refusal, taper_error *error);
void taper_nnapi_compilation_free(const taper_nnapi_driver *driver, taper_nnapi_compiled *made); // none is fine

#endif
