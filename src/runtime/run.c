// SPDX-License-Identifier: BSD-2-Clause
// Runs of a session: the host's values in, the result out.
#include "base/arguments.h"
#include "ir/tensor.h"
#include "runtime/kept_packs.h"
#include "runtime/recording.h"
#include "runtime/run_into.h"

// ---- inputs

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

// Python passes an int where a float is declared.
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

// args: the root, then the inputs, then defaults. What the host gave as constant is shared with it until somebody
// writes.
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

// ---- results

// Everything hidden or away is settled before it leaves. Each container is looked at once, so neither the depth of a
// value nor how often its parts are shared matters. Containers of the session are marked and put on a stack. Containers
// of the host are not written to, as other sessions may look at them too: a table says which were met. Objects'
// attributes are settled when they are asked for.
typedef struct settling {
    taper_session *session;
    bool in_run;
    taper_error *error;
    taper_container *stack;         // of the session, still to be looked at
    taper_container **met;          // of the host, in the order in which they were met
    size_t count, looked, capacity; // of met: looked, how many were looked at
    uint32_t *places;               // 2 * capacity of them: by a hash, the number in met and 1; 0: none
} settling;

static size_t place_of(const settling *s, const taper_container *container)
{
    const size_t mask = 2 * s->capacity - 1;
    size_t at = (size_t)(((uintptr_t)container >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 20) & mask;
    while (s->places[at] != 0 && s->met[s->places[at] - 1] != container) {
        at = (at + 1) & mask;
    }
    return at;
}

static void free_met(settling *s)
{
    taper_heap_free(s->session->heap, (void *)s->met, s->capacity * sizeof *s->met);
    taper_heap_free(s->session->heap, s->places, 2 * s->capacity * sizeof *s->places);
}

static taper_status grow_met(settling *s)
{
    enum { FIRST = 32 };
    settling grown = *s;
    grown.capacity = s->capacity == 0 ? FIRST : 2 * s->capacity;
    if (grown.capacity > UINT32_MAX / 2) {
        return taper_fail_memory(s->error);
    }
    grown.met = taper_heap_alloc(s->session->heap, grown.capacity * sizeof *grown.met);
    grown.places = taper_heap_alloc(s->session->heap, 2 * grown.capacity * sizeof *grown.places);
    if (grown.met == NULL || grown.places == NULL) {
        free_met(&grown);
        return taper_fail_memory(s->error);
    }
    memset(grown.places, 0, 2 * grown.capacity * sizeof *grown.places);
    for (size_t i = 0; i < s->count; i++) {
        grown.met[i] = s->met[i];
        grown.places[place_of(&grown, s->met[i])] = (uint32_t)(i + 1);
    }
    free_met(s);
    *s = grown;
    return TAPER_OK;
}

static taper_status meet(settling *s, taper_container *container)
{
    if (s->count == s->capacity) {
        TAPER_TRY(grow_met(s));
    }
    const size_t at = place_of(s, container);
    if (s->places[at] == 0) {
        s->met[s->count++] = container;
        s->places[at] = (uint32_t)s->count;
    }
    return TAPER_OK;
}

static taper_status settle_value(settling *s, taper_val value)
{
    taper_session *const session = s->session;
    if (value.tag == TAPER_TENSOR) {
        if (TAPER_DEVICES && s->in_run && session->run.results_stay && taper_tensor_is_away(value.as.tensor)) {
            return TAPER_OK;
        }
        return s->in_run ? taper_run_settle(&session->run, value.as.tensor)
                         : taper_tensor_settle(value.as.tensor, s->error);
    }
    if (value.tag < TAPER_LIST || value.tag > TAPER_DICT) {
        return TAPER_OK;
    }
    taper_container *container = (taper_container *)value.as.obj;
    if (container->head.heap != session->heap) {
        return meet(s, container);
    }
    if (container->scan != session->looks) {
        container->scan = session->looks;
        container->work = s->stack;
        s->stack = container;
    }
    return TAPER_OK;
}

static taper_status settle_deep(taper_session *session, bool in_run, taper_val value, taper_error *error)
{
    settling s = {.session = session, .in_run = in_run, .error = error};
    session->looks++;
    taper_status status = settle_value(&s, value);
    while (status == TAPER_OK && (s.stack != NULL || s.looked < s.count)) {
        taper_container *top = s.stack;
        if (top != NULL) {
            s.stack = top->work;
        } else {
            top = s.met[s.looked++];
        }
        size_t count;
        const taper_val *items = taper_container_items(top, &count);
        for (size_t i = 0; status == TAPER_OK && i < count; i++) {
            status = settle_value(&s, items[i]);
        }
    }
    free_met(&s);
    return status;
}

taper_status taper_session_box(taper_session *session, bool in_run, taper_val result, taper_value **boxed,
                               taper_error *error)
{
    const taper_status status = settle_deep(session, in_run, result, error);
    *boxed = status == TAPER_OK ? taper_box_new(session->heap, result) : NULL;
    if (*boxed == NULL) {
        taper_val_release(result);
        return status != TAPER_OK ? status : taper_fail_memory(error);
    }
    return TAPER_OK;
}

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

// Nothing in a model that has no device asks where tensors are.
static taper_status bring_inputs(taper_session *session, taper_value *const *inputs, size_t count, taper_error *error)
{
    const bool may_be_away = atomic_load_explicit(&session->model->context->results_stay, memory_order_relaxed);
    for (size_t i = 0; may_be_away && session->model->device == NULL && i < count; i++) {
        TAPER_TRY(settle_deep(session, false, inputs[i]->val, error));
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
    session->run.error = error;
    session->instructions_left = session->instruction_budget;
    session->deadline = session->time_budget > 0 ? taper_clock() + session->time_budget : 0;
    if (TAPER_DEVICES && session->run.replan) {
        session->run.replan = false;
        taper_planner_forget(session->planner);
    }
    session->run.work_left = 0; // the first to say what it does asks
    session->run.ended = TAPER_OK;
    taper_heap_set_limit(session->heap, session->memory_budget);
    const uint64_t calls = allocator_calls(session);
    taper_planner_begin(session->planner, function, inputs, count);
    taper_recorder_begin(session);
    taper_pool_enter(session->run.pool, session->run.shared); // as the last one did
    session->run.shared = false;
    const taper_status status = run_method(session, function, inputs, count, result, error);
    taper_pool_leave(session->run.pool);
    taper_recorder_join(session);
    taper_recorder_end(session, taper_planner_end(session->planner, status == TAPER_OK));
    if (status == TAPER_ERROR_RESOURCE && taper_heap_limit_met(session->heap) != 0) {
        taper_error_prefix(error,
                           "the run's memory budget of %zu bytes is spent (taper_session_options.memory_budget or "
                           "--memory-limit MB raises it): ",
                           session->memory_budget);
    }
    if (status == TAPER_ERROR_CANCELLED) { // which every loop had to see
        atomic_store_explicit(&session->cancelled, false, memory_order_relaxed);
    }
    session->calls_of_run = allocator_calls(session) - calls;
    const char *const problem = taper_packs_after_run(session->model->packs);
    taper_model_tell_of_packs(session->model, problem);
    session->run.error = NULL;
    return status;
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
