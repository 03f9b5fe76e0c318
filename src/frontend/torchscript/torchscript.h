// SPDX-License-Identifier: BSD-2-Clause
// Turns TorchScript modules into graphs: reads the sources and objects of the archive, and lowers the functions that
// can be called.
#ifndef TAPER_FRONTEND_TORCHSCRIPT_H
#define TAPER_FRONTEND_TORCHSCRIPT_H

#include "format/module.h"
#include "frontend/needs.h"
#include "ir/graph.h"
#include "ops/list/registry.h"

typedef struct taper_torchscript {
    taper_graph **graphs; // graph of each function of the module; code that takes a graph out owns it
    size_t count, capacity;
    taper_module_function *functions; // functions, which the module takes over
    size_t function_capacity;
    taper_needs missing; // operators that this build lacks, with the number of calls of each
} taper_torchscript;

typedef struct taper_torchscript_options {
    bool listing; // true to only list operators
    // Methods of the root's class to lower, by the rule of taper_module_keeps, or NULL for all methods.
    const char *const *methods;
    size_t method_count;
    // True to treat attributes of known objects as constant if no statement of the sources assigns to an attribute of
    // that name. Numbers, text and None become constants, and branches that they exclude are not lowered.
    bool fixed;
    // The loader calls this function after the objects got their attributes and before it lowers functions. May be
    // NULL.
    taper_status (*ready)(void *user, taper_error *error);
    void *user;
} taper_torchscript_options;

// Loads a module for which module->torchscript is set and module->blob contains the archive. Sets root, functions,
// pending objects and places. If operators are missing, fails with all of them in the detail, unless options->listing
// is set.
TAPER_MUST_USE taper_status taper_torchscript_load(taper_module *module, taper_registry *registry,
                                                   const taper_torchscript_options *options, taper_torchscript *result,
                                                   taper_error *error);
void taper_torchscript_free(taper_torchscript *result, const taper_allocator *allocator);

// Adds to the detail of an error the calls that led to a node, the innermost last, each with its line of source.
TAPER_COLD void taper_torchscript_trace(const taper_module *module, uint32_t place, taper_error *error);

#endif
