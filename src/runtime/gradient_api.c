// SPDX-License-Identifier: BSD-2-Clause
// Gradients that the host asks for after runs (taper_gradient.h).
#include <taper/taper_gradient.h>

#include "base/arguments.h"
#include "ops/gradient/tape.h"
#include "runtime/session.h"

taper_status taper_value_require_gradient(taper_value *value, int wanted, taper_error *error)
{
    TAPER_NEED(value, error);
    TAPER_TRY(taper_gradients_built(error));
    if (value->val.tag != TAPER_TENSOR) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the value is not a Tensor but %s", taper_val_kind_name(value->val));
    }
    taper_tensor *const tensor = value->val.as.tensor;
    const taper_dtype dtype = (taper_dtype)tensor->dtype;
    if (wanted != 0 && !taper_dtype_is_float(dtype) && !taper_dtype_is_complex(dtype)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "only Tensors of floating point and complex dtype can require gradients");
    }
#ifdef TAPER_WITH_GRADIENTS
    if (taper_tape_is_computed(tensor)) {
        if (wanted == 0) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "you can only change requires_grad flags of leaf variables. If you want to use a computed "
                       "variable in a subgraph that doesn't require differentiation use var_no_grad = var.detach().");
        }
        return TAPER_OK;
    }
    // The history is made now, because threads that share the tensor only read its history.
    if (wanted != 0 && taper_history_need(tensor) == NULL) {
        return taper_fail_memory(error);
    }
#endif
    // Threads may share the tensor, so it is written only if the setting changes.
    if (tensor->requires_grad != (wanted != 0)) {
        tensor->requires_grad = wanted != 0;
    }
    return TAPER_OK;
}

#ifdef TAPER_WITH_GRADIENTS

taper_status taper_session_record(taper_session *session, int on, taper_error *error)
{
    TAPER_NEED(session, error);
    if (!session->model->keeps_gradients) {
        if (on == 0) {
            return TAPER_OK;
        }
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the model was loaded without TAPER_LOAD_GRADIENTS, so no run records");
    }
    TAPER_TRY(taper_session_enter(session, error));
    session->tape->rests = session->tape->off = on == 0;
    taper_session_leave(session);
    return TAPER_OK;
}

// Makes a list of the tensors of the host. NULL becomes None.
static taper_status list_of(const taper_session *session, taper_value *const *values, size_t count, taper_list **list,
                            taper_error *error)
{
    *list = taper_list_new(session->heap, &taper_type_optional_tensor, count);
    if (*list == NULL) {
        return taper_fail_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        const taper_val value = values[i] != NULL ? values[i]->val : taper_val_none();
        if (value.tag != TAPER_TENSOR && value.tag != TAPER_NONE) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "value %zu is not a Tensor but %s", i, taper_val_kind_name(value));
        }
        (*list)->items[(*list)->count++] = taper_val_retain(value);
    }
    return TAPER_OK;
}

static void drop_list(taper_list *list)
{
    if (list != NULL) {
        taper_val_release(TAPER_VAL(list));
    }
}

// Makes handles for all gradients, or on failure for none of them. Takes over the reference to `found`.
static taper_status box_gradients(taper_session *session, taper_val found, taper_value **gradients, taper_error *error)
{
    const taper_list *const list = found.as.list;
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < list->count && status == TAPER_OK; i++) {
        if (list->items[i].tag == TAPER_TENSOR) {
            status = taper_session_box(session, true, taper_val_retain(list->items[i]), &gradients[i], error);
        }
    }
    for (size_t i = 0; i < list->count && status != TAPER_OK; i++) {
        taper_value_release(gradients[i]);
        gradients[i] = NULL;
    }
    taper_val_release(found);
    return status;
}

typedef struct lists {
    taper_list *outputs, *inputs, *grads;
} lists;

static taper_status compute(taper_session *session, const lists *given, const taper_gradient_options *o,
                            taper_value **gradients, taper_error *error)
{
    const taper_tape_request request = {.outputs = given->outputs,
                                        .inputs = given->inputs,
                                        .grad_outputs = given->grads,
                                        .keep = o->keep_graph != 0 || o->create_graph != 0,
                                        .create = o->create_graph != 0,
                                        .allow_unused = o->allow_unused != 0};
    taper_val found;
    taper_session_start_work(session, error);
    const bool rests = session->tape->off;
    session->tape->off = false;
    taper_status status = taper_tape_gradients(&session->run, &request, &found);
    session->tape->off = rests;
    status = status == TAPER_OK ? box_gradients(session, found, gradients, error) : status;
    taper_session_end_work(session, status);
    return status;
}

taper_status taper_session_gradient(taper_session *session, taper_value *const *outputs, size_t output_count,
                                    taper_value *const *inputs, size_t input_count,
                                    const taper_gradient_options *options, taper_value **gradients, taper_error *error)
{
    taper_gradient_options o;
    lists given = {NULL, NULL, NULL};
    TAPER_NEED_ARRAY(gradients, input_count, error);
    for (size_t i = 0; i < input_count; i++) {
        TAPER_TRY(taper_check_apart(&gradients[i], "a gradient's place", inputs, "inputs", input_count, error));
        TAPER_TRY(taper_check_apart(&gradients[i], "a gradient's place", outputs, "outputs", output_count, error));
    }
    for (size_t i = 0; i < input_count; i++) {
        gradients[i] = NULL;
    }
    TAPER_NEED(session, error);
    TAPER_TRY(taper_check_items(outputs, "outputs", output_count, error));
    TAPER_TRY(taper_check_items(inputs, "inputs", input_count, error));
    TAPER_TRY(taper_struct_read(options, "taper_gradient_options", &o, sizeof o, error));
    if (!session->model->keeps_gradients) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "the model was loaded without TAPER_LOAD_GRADIENTS, so its runs recorded nothing");
    }
    TAPER_TRY(taper_session_enter(session, error));
    taper_status status = list_of(session, outputs, output_count, &given.outputs, error);
    status = status == TAPER_OK ? list_of(session, inputs, input_count, &given.inputs, error) : status;
    if (status == TAPER_OK && o.output_gradients != NULL) {
        status = list_of(session, o.output_gradients, output_count, &given.grads, error);
    }
    status = status == TAPER_OK ? compute(session, &given, &o, gradients, error) : status;
    drop_list(given.outputs);
    drop_list(given.inputs);
    drop_list(given.grads);
    taper_session_leave(session);
    return status;
}

#else

taper_status taper_session_record(taper_session *session, int on, taper_error *error)
{
    TAPER_NEED(session, error);
    return on != 0 ? taper_gradients_built(error) : TAPER_OK;
}

taper_status taper_session_gradient(taper_session *session, taper_value *const *outputs, size_t output_count,
                                    taper_value *const *inputs, size_t input_count,
                                    const taper_gradient_options *options, taper_value **gradients, taper_error *error)
{
    (void)outputs;
    (void)output_count;
    (void)inputs;
    (void)options;
    TAPER_NEED_ARRAY(gradients, input_count, error);
    for (size_t i = 0; i < input_count; i++) {
        gradients[i] = NULL;
    }
    TAPER_NEED(session, error);
    return taper_gradients_built(error);
}

#endif
