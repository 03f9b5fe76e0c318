// SPDX-License-Identifier: BSD-2-Clause
// Finds a model's functions by their names, and the methods of its root.
#include "base/charge.h"
#include "runtime/model.h"

static uint32_t hash_name(uint32_t h, const char *text)
{
    for (; *text != '\0'; text++) {
        h = (h ^ (unsigned char)*text) * 16777619u;
    }
    return h;
}

// Returns the start value of the hash, which is computed from the address of the model. A file cannot know this
// address, so it cannot choose names that collide. hash_end mixes the hash, because its low bits are not random enough.
static uint32_t hash_start(const taper_model *model)
{
    return (uint32_t)((uintptr_t)model * UINT64_C(0x9E3779B97F4A7C15) >> 32);
}

static size_t hash_end(uint32_t h, size_t mask)
{
    h ^= h >> 16;
    h *= UINT32_C(0x85ebca6b);
    h ^= h >> 13;
    h *= UINT32_C(0xc2b2ae35);
    return (h ^ h >> 16) & mask;
}

// Returns true if `name` is class_name + "." + method.
static bool name_is(const char *name, const char *class_name, const char *method)
{
    const size_t length = strlen(class_name);
    return strncmp(name, class_name, length) == 0 && name[length] == '.' && strcmp(name + length + 1, method) == 0;
}

taper_function *taper_model_find(const taper_model *model, const char *class_name, const char *method)
{
    if (model->name_index_size == 0) {
        return NULL;
    }
    const size_t mask = model->name_index_size - 1;
    size_t at = hash_end(hash_name(hash_name(hash_name(hash_start(model), class_name), "."), method), mask);
    for (; model->name_index[at] != 0; at = (at + 1) & mask) {
        taper_function *function = &model->functions[model->name_index[at] - 1];
        if (name_is(function->source->name, class_name, method)) {
            return function;
        }
    }
    return NULL;
}

const char *taper_model_name(const taper_model *model)
{
    const taper_val root = model != NULL ? model->module.root : taper_val_none();
    return root.tag == TAPER_OBJECT && root.as.object->klass != NULL ? root.as.object->klass->name : "";
}

taper_status taper_model_index_functions(taper_model *model, taper_error *error)
{
    const taper_allocator *allocator = model->allocator;
    const taper_module *module = &model->module;
    model->function_count = module->function_count;
    model->functions = taper_alloc_zeroed(allocator, model->function_count * sizeof *model->functions);
    size_t size = 16;
    while (size < 2 * model->function_count) {
        size *= 2;
    }
    model->name_index = taper_alloc_zeroed(allocator, size * sizeof *model->name_index);
    model->name_index_size = model->name_index != NULL ? size : 0;
    if ((model->functions == NULL && model->function_count != 0) || model->name_index == NULL) {
        return taper_fail_memory(error);
    }
    const size_t prefix = strlen(taper_model_name(model));
    size_t methods = 0;
    for (size_t i = 0; i < model->function_count; i++) {
        taper_function *function = &model->functions[i];
        function->source = &module->functions[i];
        const char *dot = strrchr(function->source->name, '.');
        function->method = dot != NULL ? dot + 1 : function->source->name;
        function->of_root = dot != NULL && (size_t)(dot - function->source->name) == prefix &&
                            strncmp(function->source->name, taper_model_name(model), prefix) == 0;
        methods += function->of_root;
        TAPER_TRY(taper_charge(allocator, 20 + 4 * (uint64_t)strlen(function->source->name), error));
        size_t at = hash_end(hash_name(hash_start(model), function->source->name), size - 1);
        for (; model->name_index[at] != 0; at = (at + 1) & (size - 1)) {
            if (strcmp(module->functions[model->name_index[at] - 1].name, function->source->name) == 0) {
                TAPER_FAIL(error, TAPER_ERROR_FILE, "the file has two functions named %.200s", function->source->name);
            }
            TAPER_TRY(taper_charge(allocator, 20, error));
        }
        model->name_index[at] = (uint32_t)i + 1;
    }
    model->methods = taper_alloc(allocator, methods * sizeof *model->methods);
    if (model->methods == NULL && methods != 0) {
        return taper_fail_memory(error);
    }
    model->method_count = methods;
    for (size_t i = 0, m = 0; i < model->function_count; i++) {
        if (model->functions[i].of_root) {
            model->methods[m++] = i;
        }
    }
    return TAPER_OK;
}
