// SPDX-License-Identifier: BSD-2-Clause
// Embedded models: bytes of another format in a file, made for a device. When the model runs, it passes these bytes to
// an object of the device.
#ifndef TAPER_FRONTEND_EMBEDDED_H
#define TAPER_FRONTEND_EMBEDDED_H

#include "frontend/nnapi/nnapi.h"
#include "ops/list/op_config.h"

// Returns true if this build supports an embedded format.
static inline bool taper_knows_embedded(void)
{
#ifdef TAPER_WITHOUT_NNAPI
    return false;
#else
    return TAPER_HAS_OP(class__nnapi_Compilation);
#endif
}

// Rewrites the graphs that run embedded models: if possible, these graphs compute with operators instead.
static inline TAPER_MUST_USE taper_status taper_lower_embedded(taper_module *module, taper_val root,
                                                               taper_registry *registry, taper_graph *const *graphs,
                                                               size_t count, taper_error *error)
{
#ifdef TAPER_WITHOUT_NNAPI
    (void)module, (void)root, (void)registry, (void)graphs, (void)count, (void)error;
    return TAPER_OK;
#else
    return taper_nnapi_lower_graphs(module, root, registry, graphs, count, error);
#endif
}

#endif
