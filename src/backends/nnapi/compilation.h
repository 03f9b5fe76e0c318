// SPDX-License-Identifier: BSD-2-Clause
// A network that the driver has compiled.
#ifndef TAPER_BACKENDS_COMPILATION_H
#define TAPER_BACKENDS_COMPILATION_H

#include "backends/nnapi/driver_memory.h"
#include "backends/nnapi/network.h"

// The reason why the device does not support a network.
typedef struct taper_nnapi_refusal {
    const char *why;   // reason, a static text
    int32_t operation; // number of the first unsupported operation, or -1 if the network was refused for another reason
} taper_nnapi_refusal;

typedef struct taper_nnapi_compiled {
    ANeuralNetworksModel *model;
    ANeuralNetworksCompilation *compilation;
    taper_nnapi_memory weights;
    bool refers; // true if the network must outlive the compilation, which refers to its values
} taper_nnapi_compiled;

// Compiles the network. cache_dir is the directory where the driver may store compiled code, or NULL if it may not
// store any. Returns TAPER_DECLINED if the device does not support the whole network; *refusal then says why. On
// failure nothing is allocated.
TAPER_MUST_USE taper_status taper_nnapi_compile(taper_nnapi_driver *driver, const char *cache_dir,
                                                const taper_network *network, taper_nnapi_compiled *made,
                                                taper_nnapi_refusal *refusal, taper_error *error);
// Frees the compilation. Does nothing for a zeroed struct.
void taper_nnapi_compilation_free(const taper_nnapi_driver *driver, taper_nnapi_compiled *made);

#endif
