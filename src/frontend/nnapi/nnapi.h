// SPDX-License-Identifier: BSD-2-Clause
// Turns serialized NNAPI models into graphs. PyTorch's NnapiModule has such a model in an attribute, makes a
// Compilation of it in the first run, and passes tensors to the Compilation. Here the methods of NnapiModule compute
// with the operators of the serialized model instead of a Compilation.
#ifndef TAPER_FRONTEND_NNAPI_H
#define TAPER_FRONTEND_NNAPI_H

#include "format/module.h"
#include "ir/graph.h"
#include "ops/list/registry.h"

// Rewrites the calls of NnapiModules in graphs[0] to graphs[count - 1]. The modules must be known: attributes of the
// root that are never replaced. A model with unsupported operations, and a Compilation that is used in another way, are
// left unchanged. A damaged serialized model is an error.
TAPER_MUST_USE taper_status taper_nnapi_lower_graphs(taper_module *module, taper_val root, taper_registry *registry,
                                                     taper_graph *const *graphs, size_t count, taper_error *error);

#endif
