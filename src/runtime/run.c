// SPDX-License-Identifier: BSD-2-Clause
// Runs methods of a session: takes the host's values and returns the result.
#include "base/arguments.h"
#include "runtime/kept_packs.h"
#include "runtime/recording.h"
#include "runtime/run_into.h"

// ---- checking inputs

static TAPER_COLD taper_status wrong_input(const taper_module_argument *argument, size_t index, taper_val value,
                                           taper_error *error)
{
    taper_text got = taper_text_make(&taper_allocator_system);
    taper_val_type_print(value, &got);
    const taper_status status =
        taper_fail(error, TAPER_ERROR_ARGUMENT, "input %zu ('%s') should be %s, got %s", index, argument->name,
                   argument->type_text != NULL ? argument->type_text : "another type", taper_text_get(&got));
    taper_text_free(&got);
    return status;
}

// Converts an int to a float if a float is declared, as Python does.
static taper_status fit_input(const taper_module_argument *argument, size_t index, taper_val *value, taper_error *error)
{
    const taper_type *type = argument->type;
    if (type == NULL || taper_val_is_a(*value, type)) {
        return TAPER_OK;
    }
    const taper_type *base = type->kind == TAPER_TYPE_OPTIONAL ? type->items[0] : type;
    if (base->kind == TAPER_TYPE_FLOAT && value->tag == TAPER_INT) {
        *value = taper_val_double((double)value->as.i);
        return TAPER_OK;
    }
    return wrong_input(argument, index, *value, error);
}

static TAPER_COLD taper_status wrong_count(const taper_module_function *f, size_t least, size_t count,
                                           taper_error *error)
{
    taper_text names = taper_text_make(&taper_allocator_system);
    for (size_t i = 1; i < f->argument_count; i++) {
        taper_text_format(&names, "%s%s: %s", i > 1 ? ", " : "", f->arguments[i].name, f->arguments[i].type_text);
    }
    const size_t most = f->argument_count - 1;
    taper_status status;
    if (least == most) {
        status = taper_fail(error, TAPER_ERROR_ARGUMENT, "%s takes %zu inputs (%s), got %zu", f->name, most,
                            taper_text_get(&names), count);
    } else {
        status = taper_fail(error, TAPER_ERROR_ARGUMENT, "%s takes %zu to %zu inputs (%s), got %zu", f->name, least,
                            most, taper_text_get(&names), count);
    }
    taper_text_free(&names);
    return status;
}

// Sets `args` to the root, the inputs, and defaults of missing inputs. A tensor that the host passed as read-only is
// shared with the host until it is written to.
static taper_status gather(const taper_session *session, const taper_function *function, taper_value *const *inputs,
                           size_t count, taper_val *args, taper_clone_memo **constants, taper_error *error)
{
    const taper_module_function *f = function->source;
    const size_t params = function->program.param_count;
    args[0] = session->root;
    size_t least = params - 1;
    if (f->has_schema) {
        while (least > 0 && f->arguments[least].has_default) {
            least--;
        }
        if (count < least || count > params - 1) {
            return wrong_count(f, least, count, error);
        }
    } else if (count != params - 1) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "%s takes %zu inputs, got %zu", f->name, params - 1, count);
    }
    for (size_t i = 0; i < params - 1; i++) {
        if (i >= count) {
            args[i + 1] = f->arguments[i + 1].default_value;
            continue;
        }
        TAPER_TRY(taper_clone_constants(session->heap, constants, inputs[i]->val, &args[i + 1], error));
        if (f->has_schema) {
            TAPER_TRY(fit_input(&f->arguments[i + 1], i, &args[i + 1], error));
        }
    }
    return TAPER_OK;
}

// ---- runs

static taper_status run_method(taper_session *session, const taper_function *function, taper_value *const *inputs,
                               size_t count, taper_value **result, taper_error *error)
{
    const size_t bytes = (function->program.param_count + 1) * sizeof(taper_val);
    taper_val *args = taper_heap_alloc(session->heap, bytes);
    if (args == NULL) {
        return taper_fail_memory(error);
    }
    taper_val value = taper_val_none();
    taper_clone_memo *constants = NULL;
    taper_status status = gather(session, function, inputs, count, args, &constants, error);
    if (status == TAPER_OK) {
        const taper_frame_source source = {session->model,  &session->run,     session->constants,
                                           session->states, session->prepared, session};
        status = taper_interpret(&source, function, args, function->program.param_count, 0, &value);
    }
    taper_heap_free(session->heap, args, bytes);
    taper_clone_end(constants);
    return status == TAPER_OK ? taper_session_box(session, true, value, result, error) : status;
}

// Copies inputs from devices to the host if the model has no device, because such a model does not check where tensors
// are.
static taper_status bring_inputs(taper_session *session, taper_value *const *inputs, size_t count, taper_error *error)
{
    const bool may_be_away = atomic_load_explicit(&session->model->context->results_stay, memory_order_relaxed);
    for (size_t i = 0; may_be_away && session->model->device == NULL && i < count; i++) {
        TAPER_TRY(taper_session_settle(session, false, inputs[i]->val, error));
    }
    return TAPER_OK;
}

static uint64_t allocator_calls(const taper_session *session)
{
    return taper_heap_calls(session->heap) + taper_planner_calls(session->planner) + session->recorder.calls;
}

taper_status taper_session_find(const taper_session *session, const char *method, const taper_function **found,
                                taper_error *error)
{
    const char *name = method != NULL ? method : "forward";
    const taper_function *function = taper_model_find(session->model, taper_model_name(session->model), name);
    if (function == NULL || function->program.graph == NULL || function->program.param_count == 0) {
        taper_status status = taper_fail(error, TAPER_ERROR_ARGUMENT, "the model has no method %s; it has:", name);
        for (size_t i = 0; i < taper_model_method_count(session->model); i++) {
            taper_error_add_detail(error, "  %s\n", taper_model_method_name(session->model, i));
        }
        return status;
    }
    *found = function;
    return TAPER_OK;
}

taper_status taper_session_call(taper_session *session, const char *method, taper_value *const *inputs, size_t count,
                                taper_value **result, taper_error *error)
{
    const taper_function *function;
    *result = NULL;
    TAPER_TRY(taper_session_find(session, method, &function, error));
    TAPER_TRY(TAPER_DEVICES ? bring_inputs(session, inputs, count, error) : TAPER_OK);
    taper_session_start_work(session, error);
    if (TAPER_DEVICES && session->run.replan) {
        session->run.replan = false;
        taper_planner_forget(session->planner);
    }
    const uint64_t calls = allocator_calls(session);
    taper_planner_begin(session->planner, function, inputs, count);
    taper_recorder_begin(session);
    const taper_status status = run_method(session, function, inputs, count, result, error);
    taper_session_tape_end(session); // ends the tape before the plan, so that saved values are freed within the run
    taper_recorder_join(session);
    taper_recorder_end(session, taper_planner_end(session->planner, status == TAPER_OK));
    session->calls_of_run = allocator_calls(session) - calls;
    taper_session_end_work(session, status);
    return status;
}

void taper_session_start_work(taper_session *session, taper_error *error)
{
    session->run.error = error;
    session->instructions_left = session->instruction_budget;
    session->deadline = session->time_budget > 0 ? taper_clock() + session->time_budget : 0;
    session->run.work_left = 0; // 0, so that the first report of work checks the limits
    session->run.ended = TAPER_OK;
    taper_heap_set_limit(session->heap, session->memory_budget);
    // Predicts from the last run whether this run will share work.
    taper_pool_enter(session->run.pool, session->run.shared);
    session->run.shared = false;
}

void taper_session_end_work(taper_session *session, taper_status status)
{
    taper_pool_leave(session->run.pool);
    if (status == TAPER_ERROR_RESOURCE && taper_heap_limit_met(session->heap) != 0) {
        taper_error_prefix(session->run.error,
                           "the run's memory budget of %zu bytes is spent (taper_session_options.memory_budget or "
                           "--memory-limit MB raises it): ",
                           session->memory_budget);
    }
    if (status == TAPER_ERROR_CANCELLED) { // resets the request only here, because every loop must see it
        atomic_store_explicit(&session->cancelled, false, memory_order_relaxed);
    }
    const char *const problem = taper_packs_after_run(session->model->packs);
    taper_model_tell_of_packs(session->model, problem);
    session->run.error = NULL;
}

taper_status taper_session_run(taper_session *session, const char *method, taper_value *const *inputs, size_t count,
                               taper_value **result, taper_error *error)
{
    TAPER_TRY(taper_check_inputs(result, "result", inputs, "inputs", count, error));
    TAPER_NEED(session, error);
    TAPER_TRY(taper_session_enter(session, error));
    const taper_status status = taper_session_call(session, method, inputs, count, result, error);
    taper_session_leave(session);
    return status;
}
