// SPDX-License-Identifier: BSD-2-Clause
// Turns TorchScript modules into graphs: reads sources and objects of the archive, and lowers the functions that can be
// called.
#ifndef TAPER_FRONTEND_TORCHSCRIPT_H
#define TAPER_FRONTEND_TORCHSCRIPT_H

#include "format/module.h"
#include "frontend/needs.h"
#include "ir/graph.h"
#include "ops/list/registry.h"

typedef struct taper_torchscript {
    taper_graph **graphs; // graphs by function of the module; ownership passes with a graph that is taken out
    size_t count, capacity;
    taper_module_function *functions; // becomes the module's
    size_t function_capacity;
    taper_needs missing; // operators that this build lacks, with the number of calls
} taper_torchscript;

typedef struct taper_torchscript_options {
    bool listing; // true if operators are only listed
    // The methods of the root's class to lower, with names as in taper_module_keeps, or NULL for all.
    const char *const *methods;
    size_t method_count;
    // Treats attributes of known objects as constant if no statement of the sources assigns to them. Numbers, text and
    // None become constants, and branches that they exclude are not lowered.
    bool fixed;
    // Called when the objects have their attributes, before functions are lowered. May be NULL.
    taper_status (*ready)(void *user, taper_error *error);
    void *user;
} taper_torchscript_options;

// Loads a module for which module->torchscript is set and module->blob contains the archive. Fills root, functions,
// pending objects and places. Fails if operators are missing, with all of them in the detail, unless options ask for a
// listing.
TAPER_MUST_USE taper_status taper_torchscript_load(taper_module *module, taper_registry *registry,
                                                   const taper_torchscript_options *options, taper_torchscript *result,
                                                   taper_error *error);
void taper_torchscript_free(taper_torchscript *result, const taper_allocator *allocator);

// Adds the calls that led to a node to the detail of an error, the innermost last, each with its line of source.
TAPER_COLD void taper_torchscript_trace(const taper_module *module, uint32_t place, taper_error *error);

#endif
