// SPDX-License-Identifier: BSD-2-Clause
// Exported programs (torch.export) to graphs. The program becomes a module whose root has its parameters, buffers and
// constants as attributes, in modules by the dots in their names, and the method forward. The leaves of the arguments'
// pytree are its parameters; of what it returns the pytree is built. Symbolic sizes are integers that nodes compute.
// Of several programs each is a method, and its attributes lie in a module named as it is.
#ifndef TAPER_FRONTEND_EXPORT_H
#define TAPER_FRONTEND_EXPORT_H

#include "frontend/needs.h"
#include "ops/list/registry.h"

typedef struct taper_export_options {
    bool no_guards; // leave out the checks of inputs and the assertions
    bool listing;   // what is missing is only noted
} taper_export_options;

// The PyTorch that wrote it; "": not said.
const char *taper_export_torch_version(const taper_module *module);

size_t taper_export_methods(const taper_module *module); // how many: at least one
// Of a module whose programs are there. Fills its root and its functions; graphs are those of the functions, in that
// order, with room for as many as there are methods. What this build lacks is in *missing, with its allocator set
// before; unless it is a listing, that is an error.
TAPER_MUST_USE taper_status taper_export_load(taper_module *module, taper_registry *registry,
                                              const taper_export_options *options, taper_graph **graphs,
                                              taper_needs *missing, taper_error *error);

#endif
