// SPDX-License-Identifier: BSD-2-Clause
// Shows graphs to the host (taper_inspect.h). Builds that only run models lack this file.
#include <taper/taper_inspect.h>

#include "base/arguments.h"
#include "runtime/model.h"

taper_status taper_inspect_graph(taper_model *model, const char *method, taper_write_function write, void *user,
                                 taper_error *error)
{
    TAPER_NEED(model, error);
    TAPER_NEED(write, error);
    const char *name = method != NULL ? method : "forward";
    const taper_function *function = taper_model_find(model, taper_model_name(model), name);
    if (model->listing) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the model was loaded for listing: it has no graphs");
    }
    if (function == NULL || function->program.graph == NULL) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the model has no method %s", name);
    }
    taper_text text = taper_text_make(model->allocator);
    taper_graph_print(function->program.graph, &text);
    const taper_status status = text.failed ? taper_fail_memory(error) : TAPER_OK;
    if (status == TAPER_OK) {
        write(user, taper_text_get(&text), text.length);
    }
    taper_text_free(&text);
    return status;
}

taper_status taper_inspect_default(const taper_model *model, const char *method, size_t index, taper_value **value,
                                   taper_error *error)
{
    TAPER_NEED_OUT(value, error);
    TAPER_NEED(model, error);
    const char *name = method != NULL ? method : "forward";
    const taper_function *function = taper_model_find(model, taper_model_name(model), name);
    const taper_module_function *f = function != NULL ? function->source : NULL;
    if (f == NULL || !f->has_schema || index >= f->argument_count || index + 1 >= f->argument_count ||
        !f->arguments[index + 1].has_default) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "%s has no default for argument %zu", name, index);
    }
    const taper_val held = taper_val_retain(f->arguments[index + 1].default_value);
    *value = taper_box_new(model->context->heap, held);
    if (*value == NULL) {
        taper_val_release(held);
        return taper_fail_memory(error);
    }
    return TAPER_OK;
}
