// SPDX-License-Identifier: BSD-2-Clause
// Serialized NNAPI models to graphs. PyTorch's NnapiModule keeps such a model in an attribute, makes a Compilation of
// it in its first run, and hands it tensors; here the methods that do so compute with the operators the model stands
// for.
#ifndef TAPER_FRONTEND_NNAPI_H
#define TAPER_FRONTEND_NNAPI_H

#include "format/module.h"
#include "ir/graph.h"
#include "ops/list/registry.h"

// Rewrites what graphs[i] says of NnapiModules that can be known now: those of the module's root that nobody replaces.
// What has operations that are not known here, and Compilations that are used in another way, is left as it is. A
// serialized model that is damaged is an error.
TAPER_MUST_USE taper_status taper_nnapi_lower_graphs(taper_module *module, taper_val root, taper_registry *registry,
                                                     taper_graph *const *graphs, size_t count, taper_error *error);

#endif
