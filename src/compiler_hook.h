// SPDX-License-Identifier: BSD-2-Clause
// What the compiler offers to whoever loads a model. The runtime calls it through this table only and links without it.
#ifndef TAPER_COMPILER_HOOK_H
#define TAPER_COMPILER_HOOK_H

#include "format/module.h"
#include "ir/graph.h"
#include "ops/registry.h"

// The graphs of a model and what they are about.
typedef struct taper_compilation {
    const taper_allocator *allocator;
    taper_registry *registry;
    taper_val root;
    taper_graph **graphs; // of all functions; NULL where there is none
    const char *const *names;
    size_t count;
    const char *disabled; // comma-separated names of passes; may be NULL
    taper_error *error;
    // What was found in all graphs; the compiler's own. Zero at first.
    struct taper_set_slots *set_slots; // freeze.c
    int ranks_change;                  // known_ranks.c: 0 not looked, 1 no, 2 yes
    int lists_change;                  // constant_lists.c: the same
    int outside_written;               // fold_tensors.c: the same
    size_t folded_bytes, fold_work;    // fold_tensors.c: of all tensors it made
} taper_compilation;

struct taper_compiler {
    // Rewrites the graphs for running here (target stage).
    taper_status (*optimize)(taper_compilation *compilation);
};

#endif
