// SPDX-License-Identifier: BSD-2-Clause
// Models inside models: bytes of another format in a file, made for a device, which the file gives to an object of the
// device when it runs.
#ifndef TAPER_FRONTEND_EMBEDDED_H
#define TAPER_FRONTEND_EMBEDDED_H

#include "frontend/nnapi/nnapi.h"
#include "ops/list/op_config.h"

// Returns true if this build supports any.
static inline bool taper_knows_embedded(void)
{
#ifdef TAPER_WITHOUT_NNAPI
    return false;
#else
    return TAPER_HAS_OP(class__nnapi_Compilation);
#endif
}

// Rewrites graphs that run such models to compute with operators instead, if possible.
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
