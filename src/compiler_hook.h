// SPDX-License-Identifier: BSD-2-Clause
// What the compiler offers to whoever loads a model. The runtime calls it through this table only and links without it.
#ifndef TAPER_COMPILER_HOOK_H
#define TAPER_COMPILER_HOOK_H

#include "format/module.h"
#include "ir/graph.h"
#include "ops/registry.h"

// Whose operators the portable stage may use for packed weights.
typedef enum taper_portable_backend {
    TAPER_PORTABLE_CPU, // prepacked::
    TAPER_PORTABLE_VULKAN,
    TAPER_PORTABLE_METAL
} taper_portable_backend;

// The graphs of a model and what they are about.
typedef struct taper_compilation {
    const taper_allocator *allocator;
    taper_registry *registry;
    taper_module *module; // its heap, arena and types are for what passes make
    taper_val root;
    taper_graph **graphs; // of all functions; NULL where there is none
    const char *const *names;
    size_t count;
    const char *disabled;           // comma-separated names of passes; may be NULL
    bool portable;                  // the graphs are to be written to a file
    taper_portable_backend backend; // of the portable stage
    taper_error *error;
    // What was found in all graphs; the compiler's own. Zero at first.
    struct taper_set_slots *set_slots;      // freeze.c
    struct taper_written_storages *written; // written_storages.c
    int ranks_change;                       // known_ranks.c: 0 not looked, 1 no, 2 yes
    int lists_change;                       // constant_lists.c: the same
    int outside_written;                    // fold_tensors.c: the same
    size_t folded_bytes, fold_work;         // fold_tensors.c: of all tensors it made
} taper_compilation;

struct taper_compiler {
    // Rewrites the graphs for running here (target stage).
    taper_status (*optimize)(taper_compilation *compilation);
    // Rewrites them with PyTorch's own operators, as its optimize_for_mobile does (portable stage), and the objects as
    // far as nobody needs them any more: *root, a reference that the caller releases, is what is left of the root.
    taper_status (*prepare)(taper_compilation *compilation, taper_val *root);
    // The graph as a function of the lite interpreter, for a file of this version of bytecode. Everything of *function
    // but its name and schema is filled; its constants are references that the caller releases, also on failure.
    taper_status (*emit)(taper_compilation *compilation, taper_graph *graph, int version, taper_arena *arena,
                         taper_module_function *function);
};

#endif
