// SPDX-License-Identifier: BSD-2-Clause
// The struct of taper_draft. draft.c loads, optimizes and saves. draft_states.c handles objects with states of
// their own. draft_bundle.c and draft_deflate.c add bundled inputs.
#ifndef TAPER_RUNTIME_DRAFT_H
#define TAPER_RUNTIME_DRAFT_H

#include <taper/taper_compile.h>

#include "frontend/needs.h"
#include "runtime/model.h"

// The samples of one method.
typedef struct taper_draft_bundle_entry {
    const char *method;  // in the arena of the module
    taper_list *samples; // list of tuples, deflated; owned
} taper_draft_bundle_entry;

// A method that the file did not have. Its name and schema are in the arena of the module.
typedef struct taper_draft_method {
    taper_module_function source;
    taper_graph *graph; // owned
} taper_draft_method;

struct taper_draft {
    taper_model *model;
    const struct taper_compiler *compiler;
    bool optimized, broken;
    taper_val root;        // root after optimization, owned; None means the module's
    taper_needs operators; // for taper_draft_operators
    taper_text name;       // name of the operator that was asked for last
    taper_draft_bundle_entry *bundles;
    size_t bundle_count, bundle_capacity;
    taper_draft_method *methods;
    size_t method_count, method_capacity;
};

// Call this once after loading, so that objects made by __setstate__ can be saved.
TAPER_MUST_USE taper_status taper_draft_settle_states(taper_draft *draft, taper_error *error);
// Optimizes the draft. If preparer is NULL, layers remain plain, for quantization.
TAPER_MUST_USE taper_status taper_draft_prepare(taper_draft *draft, const taper_optimize_options *options,
                                                const taper_preparer *preparer, taper_error *error);

// Drops the graphs of methods that are not called by name from a method that remains. This applies to methods of other
// classes, and to those of the root that are not to be kept (of_root is false). See draft_reach.c.
TAPER_MUST_USE taper_status taper_draft_drop_uncalled(taper_draft *draft, taper_error *error);

// Makes the methods and attributes of the samples, once. Does nothing without samples.
TAPER_MUST_USE taper_status taper_draft_finish_bundles(taper_draft *draft, taper_error *error);
// Computes the stored form of a tensor. *value: a reference to it. *format: PyTorch's number of the memory format in
// which to expand it, or -1 if it is complete (draft_deflate.c).
TAPER_MUST_USE taper_status taper_draft_deflate(taper_heap *heap, taper_tensor *tensor, taper_val *value,
                                                int64_t *format, taper_error *error);
void taper_draft_free_bundles(taper_draft *draft);

// Gives a function without a schema one that fits its graph (draft_schema.c), in the arena.
TAPER_MUST_USE taper_status taper_draft_derive_schema(taper_types *types, const taper_graph *graph, taper_arena *arena,
                                                      taper_module_function *function, taper_error *error);

static inline taper_val taper_draft_root(const taper_draft *draft)
{
    return draft->root.tag != TAPER_NONE ? draft->root : draft->model->module.root;
}

#endif
