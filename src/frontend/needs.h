// SPDX-License-Identifier: BSD-2-Clause
// The operators and classes that a file needs from a build: the operators that it calls or names, the operators that
// its instructions and the upgraders for its version call, and the classes of its objects. All functions of a file
// count, because a method may be called through an interface.
#ifndef TAPER_FRONTEND_NEEDS_H
#define TAPER_FRONTEND_NEEDS_H

#include "base/pointer_map.h"
#include "format/module.h"
#include "ir/graph.h"

typedef struct taper_need {
    const char *name;
    const char *overload; // overload name, "" for none; NULL if the need is a class
    size_t calls;         // number of calls; 0 if the file names the operator but never calls it
} taper_need;

typedef struct taper_needs {
    const taper_allocator *allocator;
    taper_need *items; // needs, sorted and without duplicates
    size_t count, capacity;
    taper_pointer_map rows; // maps each operator to its index in `items`; valid until the items are merged
} taper_needs;

// Collects the needs of a module. *needs is partly filled if this fails, so the caller always frees it. The texts
// belong to the module.
TAPER_MUST_USE taper_status taper_needs_collect(const taper_module *module, taper_needs *needs, taper_error *error);
// Adds the needs of a graph, for functions without bytecode. Before the first call, *needs contains only its allocator.
// Call taper_needs_merge after the last graph.
TAPER_MUST_USE taper_status taper_needs_add_graph(taper_needs *needs, const taper_graph *graph, taper_error *error);
// Adds classes of torch.classes that this build lacks, if the module's objects or types name them. Call
// taper_needs_merge afterwards.
TAPER_MUST_USE taper_status taper_needs_add_missing_classes(taper_needs *needs, const taper_module *module,
                                                            taper_error *error);
void taper_needs_merge(taper_needs *needs);
void taper_needs_free(taper_needs *needs);
// Sets the error for a model that needs operators or classes that this build lacks. The error lists them.
TAPER_COLD taper_status taper_needs_refuse(const taper_needs *missing, taper_error *error);

#endif
