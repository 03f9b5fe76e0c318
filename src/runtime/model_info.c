// SPDX-License-Identifier: BSD-2-Clause
// Tells the host facts about a model: methods, argument names, extra files, operators.
#include <stdlib.h>

#include "base/arguments.h"
#include "format/bytecode_rows.h"
#include "frontend/needs.h"
#include "runtime/model.h"

int64_t taper_model_bytecode_version(const taper_model *model)
{
    return model != NULL ? model->module.bytecode_version : 0;
}

int64_t taper_model_operator_version(const taper_model *model)
{
    return model != NULL ? model->module.operator_version : 0;
}

size_t taper_model_method_count(const taper_model *model)
{
    return model != NULL ? model->method_count : 0;
}

const char *taper_model_method_name(const taper_model *model, size_t index)
{
    return index < taper_model_method_count(model) ? model->functions[model->methods[index]].method : NULL;
}

static const taper_module_function *method_source(const taper_model *model, const char *method)
{
    const taper_function *function =
        model == NULL ? NULL : taper_model_find(model, taper_model_name(model), method != NULL ? method : "forward");
    return function != NULL ? function->source : NULL;
}

int taper_model_method_arguments(const taper_model *model, const char *method)
{
    const taper_module_function *f = method_source(model, method);
    return f != NULL && f->has_schema && f->argument_count != 0 ? (int)f->argument_count - 1 : -1;
}

int taper_model_method_required(const taper_model *model, const char *method)
{
    const taper_module_function *f = method_source(model, method);
    int required = taper_model_method_arguments(model, method);
    for (size_t i = 1; required > 0 && i < f->argument_count; i++) {
        required -= f->arguments[i].has_default;
    }
    return required;
}

static const taper_module_argument *argument(const taper_model *model, const char *method, size_t index)
{
    const taper_module_function *f = method_source(model, method);
    return f != NULL && f->has_schema && index + 1 < f->argument_count ? &f->arguments[index + 1] : NULL;
}

const char *taper_model_argument_name(const taper_model *model, const char *method, size_t index)
{
    const taper_module_argument *a = argument(model, method, index);
    return a != NULL ? a->name : NULL;
}

static const taper_module_argument *returned(const taper_model *model, const char *method)
{
    const taper_module_function *f = method_source(model, method);
    return f != NULL && f->has_schema && f->return_count != 0 ? &f->returns[0] : NULL;
}

const taper_type *taper_model_argument_type(const taper_model *model, const char *method, size_t index)
{
    const taper_module_argument *a = argument(model, method, index);
    return a != NULL ? a->type : NULL;
}

const taper_type *taper_model_return_type(const taper_model *model, const char *method)
{
    const taper_module_argument *a = returned(model, method);
    return a != NULL ? a->type : NULL;
}

const char *taper_model_argument_text(const taper_model *model, const char *method, size_t index)
{
    const taper_module_argument *a = argument(model, method, index);
    return a != NULL ? a->type_text : NULL;
}

const char *taper_model_return_text(const taper_model *model, const char *method)
{
    const taper_module_argument *a = returned(model, method);
    return a != NULL ? a->type_text : NULL;
}

const char *taper_model_exported_by(const taper_model *model)
{
    return model == NULL || model->module.exported == NULL ? NULL : model->exported_by;
}

size_t taper_model_extra_count(const taper_model *model)
{
    return model != NULL ? model->module.extra_count : 0;
}

const char *taper_model_extra_name(const taper_model *model, size_t index)
{
    return index < taper_model_extra_count(model) ? model->module.extras[index].name : NULL;
}

taper_status taper_model_extra(taper_model *model, const char *name, const void **data, size_t *size,
                               taper_error *error)
{
    TAPER_NEED_OUT(data, error);
    TAPER_NEED(size, error);
    *size = 0;
    TAPER_NEED(model, error);
    TAPER_NEED(name, error);
    const taper_module_extra *extra = taper_module_find_extra(&model->module, name);
    if (extra == NULL) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the model carries no extra file %s", name);
    }
    if (extra->data == NULL && extra->size != 0) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "extra file %s is compressed and too large to inflate", name);
    }
    *data = extra->data != NULL ? extra->data : "";
    *size = extra->size;
    return TAPER_OK;
}

size_t taper_model_operator_count(const taper_model *model)
{
    return model != NULL ? model->operator_count : 0;
}

const char *taper_model_operator_name(const taper_model *model, size_t index)
{
    return index < taper_model_operator_count(model) ? model->operators[index].name : NULL;
}

size_t taper_model_operator_calls(const taper_model *model, size_t index)
{
    return index < taper_model_operator_count(model) ? model->operators[index].calls : 0;
}

int taper_model_operator_missing(const taper_model *model, size_t index)
{
    return index < taper_model_operator_count(model) && model->operators[index].missing;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const taper_model_operator *)a)->name, ((const taper_model_operator *)b)->name);
}

static taper_status add_operator(taper_model *model, const taper_lite_operator *op, size_t *capacity,
                                 taper_error *error)
{
    taper_arena *arena = &model->module.arena;
    const size_t base = strlen(op->name), extra = strlen(op->overload);
    char *name = taper_arena_alloc(arena, base + extra + 2);
    if (name == NULL) {
        return taper_fail_memory(error);
    }
    memcpy(name, op->name, base);
    if (extra != 0) {
        name[base] = '.';
        memcpy(name + base + 1, op->overload, extra);
    }
    TAPER_TRY(TAPER_GROW(model->allocator, model->operators, *capacity, model->operator_count + 1, error));
    const bool known = taper_row_find(op->name, op->overload) != NULL;
    model->operators[model->operator_count++] = (taper_model_operator){name, 0, !known};
    return TAPER_OK;
}

// Adds the operators in the table of a function, with the number of calls of each.
static taper_status add_function(taper_model *model, const taper_module_function *function, size_t *capacity,
                                 taper_error *error)
{
    const size_t first = model->operator_count;
    for (size_t i = 0; i < function->operator_count; i++) {
        TAPER_TRY(add_operator(model, &function->operators[i], capacity, error));
    }
    for (size_t pc = 0; pc < function->instruction_count; pc++) {
        const taper_lite_instruction *in = &function->instructions[pc];
        if ((in->op == TAPER_LITE_OP || in->op == TAPER_LITE_OPN) && in->x >= 0 &&
            (size_t)in->x < function->operator_count) {
            model->operators[first + (size_t)in->x].calls++;
        }
    }
    return TAPER_OK;
}

static taper_status add_need(taper_model *model, const taper_need *need, bool missing, size_t *capacity,
                             taper_error *error)
{
    const taper_lite_operator op = {need->name, need->overload != NULL ? need->overload : "", 0};
    TAPER_TRY(add_operator(model, &op, capacity, error));
    model->operators[model->operator_count - 1].calls = need->calls;
    model->operators[model->operator_count - 1].missing = missing;
    return TAPER_OK;
}

static bool is_listed(const taper_function *function)
{
    return function->graph != NULL && (function->of_root || strcmp(function->method, "__setstate__") == 0 ||
                                       strcmp(function->method, "__getstate__") == 0);
}

// Adds the operators of graphs, as PyTorch lists the operators of a module's bytecode. The graphs come from the methods
// of the root, from the methods that save and load the states of the modules below it, and from the methods that any of
// these call.
static taper_status add_graphs(taper_model *model, taper_needs *needs, size_t *capacity, taper_error *error)
{
    for (size_t i = 0; i < model->function_count; i++) {
        if (is_listed(&model->functions[i])) {
            TAPER_TRY(taper_needs_add_graph(needs, model->functions[i].graph, error));
        }
    }
    taper_needs_merge(needs);
    for (size_t i = 0; i < needs->count; i++) {
        const taper_need *need = &needs->items[i];
        if (need->overload != NULL && taper_bytecode_instruction_of(need->name, need->overload) < 0) {
            TAPER_TRY(add_need(model, need, false, capacity, error));
        }
    }
    return TAPER_OK;
}

static taper_status list_all(taper_model *model, const taper_needs *missing, size_t *capacity, taper_error *error)
{
    if (!taper_module_has_bytecode(&model->module)) {
        taper_needs needs = {.allocator = model->allocator};
        const taper_status status = add_graphs(model, &needs, capacity, error);
        taper_needs_free(&needs);
        TAPER_TRY(status);
    } else {
        for (size_t i = 0; i < model->function_count; i++) {
            TAPER_TRY(add_function(model, &model->module.functions[i], capacity, error));
        }
    }
    for (size_t i = 0; missing != NULL && i < missing->count; i++) {
        TAPER_TRY(add_need(model, &missing->items[i], true, capacity, error));
    }
    return TAPER_OK;
}

taper_status taper_model_list_operators(taper_model *model, const taper_needs *missing, taper_error *error)
{
    size_t capacity = 0;
    const taper_status status = list_all(model, missing, &capacity, error);
    model->operator_capacity = capacity;
    TAPER_TRY(status);
    taper_model_operator *items = model->operators;
    size_t kept = 0;
    if (model->operator_count != 0) {
        qsort(items, model->operator_count, sizeof *items, by_name);
    }
    for (size_t i = 0; i < model->operator_count; i++) {
        if (kept != 0 && strcmp(items[kept - 1].name, items[i].name) == 0) {
            items[kept - 1].calls += items[i].calls;
        } else {
            items[kept++] = items[i];
        }
    }
    model->operator_count = kept;
    for (size_t i = 0; i < kept; i++) {
        items[i].missing = items[i].missing && items[i].calls != 0;
    }
    return TAPER_OK;
}
