// SPDX-License-Identifier: BSD-2-Clause
// Turns exported programs (torch.export) into graphs. The program becomes a module with the method forward. The
// module's root has parameters, buffers and constants as attributes, in submodules according to the dots in their
// names. The parameters of forward are the leaves of the arguments' pytree, and the result is built as a pytree.
// Symbolic sizes are integers that nodes compute. If there are several programs, each becomes a method, and the
// program's attributes are in a submodule with the name of the program.
#ifndef TAPER_FRONTEND_EXPORT_H
#define TAPER_FRONTEND_EXPORT_H

#include "frontend/needs.h"
#include "ops/list/registry.h"

typedef struct taper_export_options {
    bool no_guards; // true to omit checks of inputs and assertions
    bool listing;   // true to only collect missing operators and classes
} taper_export_options;

// Returns the version of PyTorch that wrote the program, or "" if the file does not contain it.
const char *taper_export_torch_version(const taper_module *module);

size_t taper_export_methods(const taper_module *module); // returns the number of methods, at least 1
// Sets `root` and `functions` of a module whose programs are already read. `graphs` receives one graph for each
// function, in order; the caller provides an array of taper_export_methods(module) items. *missing receives what this
// build lacks; the caller sets its allocator. Without options->listing, missing items are an error.
TAPER_MUST_USE taper_status taper_export_load(taper_module *module, taper_registry *registry,
                                              const taper_export_options *options, taper_graph **graphs,
                                              taper_needs *missing, taper_error *error);

#endif
