// SPDX-License-Identifier: BSD-2-Clause
// TorchScript modules to graphs: reads sources and objects of the archive and lowers what can be called.
#ifndef TAPER_FRONTEND_TORCHSCRIPT_H
#define TAPER_FRONTEND_TORCHSCRIPT_H

#include "format/module.h"
#include "frontend/needs.h"
#include "ir/graph.h"
#include "ops/list/registry.h"

typedef struct taper_torchscript {
    taper_graph **graphs; // by function of the module; what is taken out is the taker's
    size_t count, capacity;
    taper_module_function *functions; // becomes the module's
    size_t function_capacity;
    taper_needs missing; // operators this build does not have, with how often they are called
} taper_torchscript;

typedef struct taper_torchscript_options {
    bool listing; // to list the operators only
    // The methods of the root's class to lower, as taper_module_keeps has it; NULL: all.
    const char *const *methods;
    size_t method_count;
    // Attributes that no statement of the sources assigns to, of objects that are known, are what they are: numbers,
    // text and None become constants, and branches that they decide are not lowered.
    bool fixed;
    // Called when the objects have their attributes, before anything is lowered; NULL: nobody asks.
    taper_status (*ready)(void *user, taper_error *error);
    void *user;
} taper_torchscript_options;

// module->torchscript is set, and module->blob holds the archive. Fills root, functions, pending, places. Missing
// operators are a failure, with all of them in the detail, unless they are to be listed.
TAPER_MUST_USE taper_status taper_torchscript_load(taper_module *module, taper_registry *registry,
                                                   const taper_torchscript_options *options, taper_torchscript *result,
                                                   taper_error *error);
void taper_torchscript_free(taper_torchscript *result, const taper_allocator *allocator);

// The calls that led to a node, innermost last, each with its line of source, for the detail of an error.
TAPER_COLD void taper_torchscript_trace(const taper_module *module, uint32_t place, taper_error *error);

#endif
