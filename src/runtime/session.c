// SPDX-License-Identifier: BSD-2-Clause
// A session: one user's state of a model, and its runs.
#include "runtime/session.h"
#include "ops/call/prepared.h"
#include "runtime/arguments.h"
#include "runtime/device.h"
#include "runtime/recording.h"

static taper_status session_stop(taper_run *run, double ahead)
{
    const taper_session *session =
        (const taper_session *)(const void *)((const char *)run - offsetof(taper_session, run));
    if (atomic_load_explicit(&((taper_session *)(uintptr_t)session)->cancelled, memory_order_relaxed)) {
        return TAPER_ERROR_CANCELLED;
    }
    return session->time_budget > 0 && taper_clock() + ahead > session->deadline ? TAPER_ERROR_RESOURCE : TAPER_OK;
}

// The session's own copies of the root object and of the constants, which share what they share in the model.
static taper_status clone_state(taper_session *session, taper_error *error)
{
    const taper_model *model = session->model;
    taper_clone_memo *memo;
    TAPER_TRY(taper_clone_begin(session->heap, &memo, error));
    taper_status status = taper_clone_value(memo, model->module.root, &session->root, error);
    for (size_t i = 0; status == TAPER_OK && i < model->constant_count; i++) {
        status = taper_clone_value(memo, model->constants[i], &session->constants[i], error);
    }
    taper_clone_end(memo);
    return status;
}

taper_status taper_session_create(taper_model *model, const taper_session_options *options, taper_session **session,
                                  taper_error *error)
{
    taper_session_options o;
    TAPER_NEED_OUT(session, error);
    TAPER_NEED(model, error);
    TAPER_TRY(taper_struct_read(options, "taper_session_options", &o, sizeof o, error));
    if (model->listing) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "the model was loaded for listing: load it without that option to run it");
    }
    taper_context *context = model->context;
    const taper_allocator *allocator = &context->allocator;
    taper_session *s = taper_alloc_zeroed(allocator, sizeof *s);
    if (s == NULL) {
        return taper_fail_memory(error);
    }
    taper_refs_add(&model->refs);
    s->model = model;
    s->instruction_budget = o.instruction_budget;
    s->time_budget = o.time_budget;
    atomic_init(&s->cancelled, false);
    taper_rng_seed(&s->rng, TAPER_RNG_SEED);
    taper_status status = taper_heap_create(allocator, model->types, &s->heap, error);
    if (status == TAPER_OK) {
        s->constants = taper_alloc_zeroed(allocator, model->constant_count * sizeof *s->constants);
        s->states = taper_alloc_zeroed(allocator, model->state_count * sizeof *s->states);
        s->prepared = taper_alloc_zeroed(allocator, model->state_count * sizeof *s->prepared);
        if ((s->constants == NULL && model->constant_count != 0) ||
            ((s->states == NULL || s->prepared == NULL) && model->state_count != 0)) {
            status = taper_fail_memory(error);
        }
    }
    if (status == TAPER_OK) {
        status = clone_state(s, error);
    }
    if (status == TAPER_OK) {
        status = taper_planner_create(allocator, s->heap, &s->run.current, &s->planner, error);
    }
    if (status != TAPER_OK) {
        taper_session_destroy(s);
        return status;
    }
    s->memory_budget = o.memory_budget;
    taper_heap_set_limit(s->heap, s->memory_budget);
    s->run = (taper_run){.heap = s->heap,
                         .pool = context->pool,
                         .cpu = context->cpu,
                         .registry = context->registry,
                         .packs = model->packs,
                         .rng = &s->rng,
                         .portable = model->reference || context->host == NULL,
                         .log = context->log,
                         .log_user = context->log_user,
                         .context = context,
                         .stop = session_stop};
    *session = s;
    return TAPER_OK;
}

void taper_session_destroy(taper_session *session)
{
    if (session == NULL) {
        return;
    }
    taper_model *model = session->model;
    const taper_allocator *allocator = model->allocator;
    taper_val_release(session->root);
    for (size_t i = 0; session->constants != NULL && i < model->constant_count; i++) {
        taper_val_release(session->constants[i]);
    }
    for (size_t i = 0; session->prepared != NULL && i < model->state_count; i++) {
        taper_prepared_drop(session->heap, session->prepared[i]);
    }
    taper_planner_destroy(session->planner);
    taper_recorder_trim(session);
    taper_free(allocator, session->profile, model->state_count * sizeof *session->profile);
    taper_heap_close(session->heap);
    taper_free(allocator, session->constants, model->constant_count * sizeof *session->constants);
    taper_free(allocator, session->states, model->state_count * sizeof *session->states);
    taper_free(allocator, session->prepared, model->state_count * sizeof *session->prepared);
    taper_free(allocator, session, sizeof *session);
    taper_model_release(model);
}

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

// Everything hidden or away is settled before it leaves. Containers of the session are marked and put on a stack, so
// that neither their depth nor how often they are shared matters; those of the host, which other sessions may look at
// too, are only walked through. Objects' attributes are settled when they are asked for.
static taper_status settle_value(taper_session *session, taper_val value, int depth, taper_container **stack,
                                 taper_error *error)
{
    if (value.tag == TAPER_TENSOR) {
        return taper_tensor_settle(value.as.tensor, error);
    }
    if (value.tag < TAPER_LIST || value.tag > TAPER_DICT) {
        return TAPER_OK;
    }
    taper_container *container = (taper_container *)value.as.obj;
    if (container->head.heap == session->heap) {
        if (container->scan != session->looks) {
            container->scan = session->looks;
            container->work = *stack;
            *stack = container;
        }
        return TAPER_OK;
    }
    size_t count;
    const taper_val *items = taper_container_items(container, &count);
    for (size_t i = 0; i < count && depth < TAPER_LIMIT_VALUE_DEPTH; i++) {
        TAPER_TRY(settle_value(session, items[i], depth + 1, stack, error));
    }
    return TAPER_OK;
}

static taper_status settle_deep(taper_session *session, taper_val value, taper_error *error)
{
    taper_container *stack = NULL;
    session->looks++;
    TAPER_TRY(settle_value(session, value, 0, &stack, error));
    while (stack != NULL) {
        taper_container *top = stack;
        stack = top->work;
        size_t count;
        const taper_val *items = taper_container_items(top, &count);
        for (size_t i = 0; i < count; i++) {
            TAPER_TRY(settle_value(session, items[i], 0, &stack, error));
        }
    }
    return TAPER_OK;
}

static taper_status box_result(taper_session *session, taper_val result, taper_value **boxed, taper_error *error)
{
    const taper_status status = settle_deep(session, result, error);
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
    return status == TAPER_OK ? box_result(session, value, result, error) : status;
}

static uint64_t allocator_calls(const taper_session *session)
{
    return taper_heap_calls(session->heap) + taper_planner_calls(session->planner) + session->recorder.calls;
}

taper_status taper_session_run(taper_session *session, const char *method, taper_value *const *inputs, size_t count,
                               taper_value **result, taper_error *error)
{
    TAPER_TRY(taper_check_inputs(result, "result", inputs, "inputs", count, error));
    TAPER_NEED(session, error);
    const char *name = method != NULL ? method : "forward";
    const taper_function *function = taper_model_find(session->model, taper_model_name(session->model), name);
    if (function == NULL || function->program.graph == NULL || function->program.param_count == 0) {
        taper_status status = taper_fail(error, TAPER_ERROR_ARGUMENT, "the model has no method %s; it has:", name);
        for (size_t i = 0; i < taper_model_method_count(session->model); i++) {
            taper_error_add_detail(error, "  %s\n", taper_model_method_name(session->model, i));
        }
        return status;
    }
    session->run.error = error;
    session->instructions_left = session->instruction_budget;
    session->deadline = session->time_budget > 0 ? taper_clock() + session->time_budget : 0;
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
    session->run.error = NULL;
    return status;
}

void taper_session_cancel(taper_session *session)
{
    if (session != NULL) {
        atomic_store_explicit(&session->cancelled, true, memory_order_relaxed);
    }
}

// ---- the rest

taper_status taper_session_attribute(taper_session *session, const char *path, taper_value **value, taper_error *error)
{
    TAPER_NEED_OUT(value, error);
    TAPER_NEED(session, error);
    TAPER_NEED(path, error);
    taper_val at = session->root;
    const char *rest = path;
    while (*rest != '\0') {
        char name[256];
        const size_t length = strcspn(rest, ".");
        if (length >= sizeof name || at.tag != TAPER_OBJECT) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "there is no attribute %s", path);
        }
        memcpy(name, rest, length);
        name[length] = '\0';
        const int64_t slot = taper_object_slot(at.as.object, name);
        if (slot < 0) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "there is no attribute %s: %s has no %s", path,
                       taper_val_kind_name(at), name);
        }
        at = at.as.object->slots[slot];
        rest += length + (rest[length] == '.');
    }
    return box_result(session, taper_val_retain(at), value, error);
}

void taper_session_trim(taper_session *session)
{
    if (session != NULL) {
        taper_planner_forget(session->planner);
        taper_recorder_trim(session);
        taper_heap_trim(session->heap);
    }
}

void taper_session_seed(taper_session *session, uint64_t seed)
{
    if (session != NULL) {
        taper_rng_seed(&session->rng, seed);
    }
}

void taper_session_memory(taper_session *session, taper_memory_info *info)
{
    taper_memory_info full = {0};
    if (session != NULL) {
        full.allocator_calls = session->calls_of_run;
        full.arena_bytes = taper_planner_bytes(session->planner);
        full.pool_bytes = taper_heap_bytes(session->heap);
        full.packed_bytes = taper_packs_bytes(session->model->packs);
    }
    if (info != NULL) {
        (void)taper_struct_write(info, "taper_memory_info", &full, sizeof full, NULL); // else nothing is written
    }
}
