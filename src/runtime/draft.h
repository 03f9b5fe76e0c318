// SPDX-License-Identifier: BSD-2-Clause
// What is behind taper_draft. draft.c loads, optimizes and saves; draft_states.c sees to objects with
// states of their own; draft_bundle.c and draft_deflate.c add bundled inputs.
#ifndef TAPER_RUNTIME_DRAFT_H
#define TAPER_RUNTIME_DRAFT_H

#include <taper/taper_compile.h>

#include "frontend/needs.h"
#include "runtime/model.h"

// The samples of one method.
typedef struct taper_draft_bundle_entry {
    const char *method;  // in the module's arena
    taper_list *samples; // of tuples, deflated; owned
} taper_draft_bundle_entry;

// A method that the file did not have. Its name and schema lie in the module's arena.
typedef struct taper_draft_method {
    taper_module_function source;
    taper_graph *graph; // owned
} taper_draft_method;

struct taper_draft {
    taper_model *model;
    const struct taper_compiler *compiler;
    bool optimized, broken;
    taper_val root;        // what optimizing left of the root, owned; None: the module's
    taper_needs operators; // of taper_draft_operators
    taper_text name;       // of the operator asked for last
    taper_draft_bundle_entry *bundles;
    size_t bundle_count, bundle_capacity;
    taper_draft_method *methods;
    size_t method_count, method_capacity;
};

// Once after loading: what __setstate__ made can be saved.
TAPER_MUST_USE taper_status taper_draft_settle_states(taper_draft *draft, taper_error *error);
// What optimizing does; preparer NULL: layers stay plain, to be quantized.
TAPER_MUST_USE taper_status taper_draft_prepare(taper_draft *draft, const taper_optimize_options *options,
                                                const taper_preparer *preparer, taper_error *error);

// Methods of other classes, and those of the root that nobody asked to keep (of_root is false), stay while something
// that stays calls them by name; the graphs of the others go (draft_reach.c).
TAPER_MUST_USE taper_status taper_draft_drop_uncalled(taper_draft *draft, taper_error *error);

// Makes the methods and attributes of the samples, once; nothing when there are none.
TAPER_MUST_USE taper_status taper_draft_finish_bundles(taper_draft *draft, taper_error *error);
// *value: what is stored of a tensor, a reference; *format: how it is made full again: PyTorch's number of the memory
// format, -1: it is full (draft_deflate.c).
TAPER_MUST_USE taper_status taper_draft_deflate(taper_heap *heap, taper_tensor *tensor, taper_val *value,
                                                int64_t *format, taper_error *error);
void taper_draft_free_bundles(taper_draft *draft);

// Gives a function without schema one that is true of its graph (draft_schema.c). It lies in arena.
TAPER_MUST_USE taper_status taper_draft_derive_schema(taper_types *types, const taper_graph *graph, taper_arena *arena,
                                                      taper_module_function *function, taper_error *error);

static inline taper_val taper_draft_root(const taper_draft *draft)
{
    return draft->root.tag != TAPER_NONE ? draft->root : draft->model->module.root;
}

#endif
