// SPDX-License-Identifier: BSD-2-Clause
// What a file needs of a build: the operators that it calls or names, those that its instructions and the upgraders of
// its version stand for, and the classes that it makes objects of. All functions of a file count: a method that is
// called through an interface is one of them.
#ifndef TAPER_FRONTEND_NEEDS_H
#define TAPER_FRONTEND_NEEDS_H

#include "base/pointer_map.h"
#include "format/module.h"
#include "ir/graph.h"

typedef struct taper_need {
    const char *name;
    const char *overload; // "": none; NULL: name is a class
    size_t calls;         // 0: only named
} taper_need;

typedef struct taper_needs {
    const taper_allocator *allocator;
    taper_need *items; // each once, sorted
    size_t count, capacity;
    taper_pointer_map rows; // of graphs: where an operator stands in items, until they are merged
} taper_needs;

// *needs is filled as far as it came also when it fails; always taper_needs_free it. The texts are the module's.
TAPER_MUST_USE taper_status taper_needs_collect(const taper_module *module, taper_needs *needs, taper_error *error);
// The same of functions that have no bytecode, from a graph of theirs at a time; then taper_needs_merge. *needs starts
// with its allocator alone.
TAPER_MUST_USE taper_status taper_needs_add_graph(taper_needs *needs, const taper_graph *graph, taper_error *error);
// The classes of torch.classes that the module's objects and types name and this build lacks; then taper_needs_merge.
TAPER_MUST_USE taper_status taper_needs_add_missing_classes(taper_needs *needs, const taper_module *module,
                                                            taper_error *error);
void taper_needs_merge(taper_needs *needs);
void taper_needs_free(taper_needs *needs);
// The error of a model that needs what this build lacks, operators and classes, with the list.
TAPER_COLD taper_status taper_needs_refuse(const taper_needs *missing, taper_error *error);

#endif
