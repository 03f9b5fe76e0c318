// SPDX-License-Identifier: BSD-2-Clause
// Turns serialized NNAPI models into graphs. PyTorch's NnapiModule has such a model in an attribute, makes a
// Compilation of it in the first run, and gives it tensors. Here these methods compute with the operators of the model
// instead.
#ifndef TAPER_FRONTEND_NNAPI_H
#define TAPER_FRONTEND_NNAPI_H

#include "format/module.h"
#include "ir/graph.h"
#include "ops/list/registry.h"

// Rewrites the calls of NnapiModules in graphs[i] that are known now: modules that are attributes of the root and are
// never replaced. A model with unsupported operations, and a Compilation that is used in another way, are left
// unchanged. A damaged serialized model is an error.
TAPER_MUST_USE taper_status taper_nnapi_lower_graphs(taper_module *module, taper_val root, taper_registry *registry,
                                                     taper_graph *const *graphs, size_t count, taper_error *error);

#endif
