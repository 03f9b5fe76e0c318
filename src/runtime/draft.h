// SPDX-License-Identifier: BSD-2-Clause
// The struct taper_draft. draft.c loads, optimizes and saves drafts. draft_states.c handles objects with a
// __setstate__. draft_bundle.c and draft_deflate.c add bundled inputs.
#ifndef TAPER_RUNTIME_DRAFT_H
#define TAPER_RUNTIME_DRAFT_H

#include <taper/taper_compile.h>

#include "frontend/needs.h"
#include "runtime/model.h"

// The bundled inputs (samples) of one method.
typedef struct taper_draft_bundle_entry {
    const char *method;  // name of the method, in the arena of the module
    taper_list *samples; // list of tuples in their stored form (draft_deflate.c), a reference that this struct owns
} taper_draft_bundle_entry;

// A method that the file did not contain. Its name and schema are in the arena of the module.
typedef struct taper_draft_method {
    taper_module_function source;
    taper_graph *graph; // graph, which this struct owns
} taper_draft_method;

struct taper_draft {
    taper_model *model;
    const struct taper_compiler *compiler;
    bool optimized, broken;
    taper_val root; // root object after optimization, a reference; None means that the module's root is still valid
    taper_needs operators; // list of operators, for taper_draft_operators
    taper_text name;       // name of the operator that was last asked for
    taper_draft_bundle_entry *bundles;
    size_t bundle_count, bundle_capacity;
    taper_draft_method *methods;
    size_t method_count, method_capacity;
};

// Changes the objects that a __setstate__ made, so that these objects can be saved. Call this once after loading.
TAPER_MUST_USE taper_status taper_draft_settle_states(taper_draft *draft, taper_error *error);
// Optimizes the draft for the device of the preparer. If `preparer` is NULL, layers are not packed, because they will
// be quantized.
TAPER_MUST_USE taper_status taper_draft_prepare(taper_draft *draft, const taper_optimize_options *options,
                                                const taper_preparer *preparer, taper_error *error);

// Drops the graphs of methods that no remaining method calls by name. Only two kinds of methods can be dropped: methods
// of other classes than the root's, and methods of the root that need not be kept (of_root is false). See
// draft_reach.c.
TAPER_MUST_USE taper_status taper_draft_drop_uncalled(taper_draft *draft, taper_error *error);

// Makes the methods and attributes for the bundled inputs, once. Does nothing if there are no bundled inputs.
TAPER_MUST_USE taper_status taper_draft_finish_bundles(taper_draft *draft, taper_error *error);
// Computes the form in which a tensor is stored. *value receives a reference to this form. *format: PyTorch's number of
// the memory format in which a reader must expand the form, or -1 if the form is complete (draft_deflate.c).
TAPER_MUST_USE taper_status taper_draft_deflate(taper_heap *heap, taper_tensor *tensor, taper_val *value,
                                                int64_t *format, taper_error *error);
void taper_draft_free_bundles(taper_draft *draft);

// Gives a function without a schema a schema that fits its graph, allocated in the arena (draft_schema.c).
TAPER_MUST_USE taper_status taper_draft_derive_schema(taper_types *types, const taper_graph *graph, taper_arena *arena,
                                                      taper_module_function *function, taper_error *error);

static inline taper_val taper_draft_root(const taper_draft *draft)
{
    return draft->root.tag != TAPER_NONE ? draft->root : draft->model->module.root;
}

#endif
