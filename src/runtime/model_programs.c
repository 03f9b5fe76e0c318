// SPDX-License-Identifier: BSD-2-Clause
// Builds programs from graphs, and runs __setstate__ during the load.
#include "base/charge.h"
#include "base/pointer_map.h"
#include "runtime/device.h"
#include "runtime/session.h"

static taper_kernel choose_kernel(const taper_op *op, const void *user)
{
    const taper_model *model = user;
    return model->reference ? NULL : taper_context_kernel(model->context, op);
}

static taper_status build_program(taper_model *model, taper_function *function, taper_error *error)
{
    const taper_status status = taper_program_build(function->graph, choose_kernel, model, model->constant_count,
                                                    model->state_count, &function->program, error);
    function->graph = NULL; // the program owns the graph now, or has freed it
    if (status == TAPER_OK) {
        model->constant_count += function->program.constant_count;
        model->state_count += function->program.state_count;
    }
    return status;
}

typedef struct constant_writer {
    taper_val *next;
} constant_writer;

static void write_constant(void *user, taper_val value)
{
    constant_writer *writer = user;
    *writer->next++ = value;
}

static void fill_constants(const taper_function *function, taper_val *table)
{
    if (function->program.graph != NULL && function->program.constant_count != 0) {
        constant_writer writer = {table + function->program.first_constant};
        taper_program_constants(&function->program, write_constant, &writer);
    }
}

// Finds the __setstate__ of a class. `found` caches the answers for classes, because looking up long names takes time.
static taper_status find_setstate(const taper_model *model, const taper_class *class, taper_pointer_map *found,
                                  const taper_function **function, taper_error *error)
{
    const size_t *known = taper_pointer_find(found, class);
    if (known != NULL) {
        *function = &model->functions[*known];
        return TAPER_OK;
    }
    TAPER_TRY(taper_charge(model->allocator, 4 * (uint64_t)strlen(class->name), error));
    *function = taper_model_find(model, class->name, "__setstate__");
    if (*function == NULL) {
        TAPER_FAIL(error, TAPER_ERROR_FILE, "%s has no __setstate__", class->name);
    }
    return taper_pointer_add(model->allocator, found, class, (size_t)(*function - model->functions), error);
}

static taper_status run_setstate(const taper_frame_source *source, const taper_function *function,
                                 const taper_module_pending *pending, taper_error *error)
{
    const taper_val args[2] = {TAPER_VAL(pending->object), pending->state};
    taper_val result;
    const taper_status status = taper_interpret(source, function, args, 2, 0, &result);
    if (status == TAPER_OK) {
        taper_val_release(result);
    } else {
        taper_error_prefix(error, "%s.__setstate__: ", pending->object->klass->name);
    }
    return status;
}

// Runs the __setstate__ of each object of the model once, before the compiler uses the objects.
taper_status taper_model_run_setstates(taper_model *model, taper_error *error)
{
    const taper_module *module = &model->module;
    const taper_allocator *allocator = model->allocator;
    if (module->pending_count == 0) {
        return TAPER_OK;
    }
    for (size_t i = 0; i < model->function_count; i++) {
        if (strcmp(model->functions[i].method, "__setstate__") == 0) {
            TAPER_TRY(build_program(model, &model->functions[i], error));
        }
    }
    const size_t constants = (model->constant_count + 1) * sizeof(taper_val),
                 states = (model->state_count + 1) * sizeof(void *);
    taper_run run = taper_run_on(module->heap, model->context->registry, error);
    run.cpu = model->context->cpu;
    run.log = model->context->log;
    run.log_user = model->context->log_user;
    run.context = model->context;
    taper_frame_source source = {.model = model, .run = &run};
    taper_val *table = taper_alloc_zeroed(allocator, constants);
    taper_pointer_map found = {.size = 0};
    source.states = taper_alloc_zeroed(allocator, states);
    source.constants = table;
    taper_status status = table == NULL || source.states == NULL ? taper_fail_memory(error) : TAPER_OK;
    for (size_t i = 0; status == TAPER_OK && i < model->function_count; i++) {
        fill_constants(&model->functions[i], table);
    }
    for (size_t i = 0; status == TAPER_OK && i < module->pending_count; i++) {
        const taper_module_pending *pending = &module->pending[i];
        const taper_function *function;
        status = find_setstate(model, pending->object->klass, &found, &function, error);
        status = status == TAPER_OK ? run_setstate(&source, function, pending, error) : status;
    }
    taper_pointer_free(allocator, &found);
    taper_free(allocator, table, constants);
    taper_free(allocator, source.states, states);
    return status;
}

taper_status taper_model_build_programs(taper_model *model, taper_error *error)
{
    for (size_t i = 0; i < model->function_count; i++) {
        if (model->functions[i].graph != NULL) {
            TAPER_TRY(build_program(model, &model->functions[i], error));
        }
    }
    model->constants = taper_alloc_zeroed(model->allocator, model->constant_count * sizeof *model->constants);
    if (model->constants == NULL && model->constant_count != 0) {
        return taper_fail_memory(error);
    }
    for (size_t i = 0; i < model->function_count; i++) {
        fill_constants(&model->functions[i], model->constants);
    }
    return TAPER_OK;
}

taper_status taper_model_finish_draft(taper_model *model, taper_error *error)
{
    model->draft = false;
    const taper_status status = taper_model_build_programs(model, error);
    taper_budget_end(model->budget);
    return taper_budget_explain(model->budget, status, error);
}
