// SPDX-License-Identifier: BSD-2-Clause
// Finds the state and the __setstate__ of objects that are saved as a state.
#include "format/module_write.h"

static const char suffix[] = ".__setstate__";

static taper_status collect(taper_set_states *states, taper_error *error)
{
    const taper_module *module = states->module;
    const size_t suffix_length = sizeof suffix - 1;
    states->names = taper_alloc(module->allocator, module->function_count * sizeof *states->names);
    if (states->names == NULL && module->function_count != 0) {
        return taper_fail_memory(error);
    }
    for (size_t i = 0; i < module->function_count; i++) {
        const char *name = module->functions[i].name;
        const size_t length = strlen(name);
        if (length > suffix_length && strcmp(name + length - suffix_length, suffix) == 0) {
            states->names[states->count++] = (taper_name){.text = name, .length = length - suffix_length, .value = i};
        }
    }
    TAPER_TRY(taper_names_sort(module->allocator, states->names, states->count, error));
    for (size_t i = 0; i < module->pending_count; i++) {
        const taper_object *object = module->pending[i].object;
        if (taper_pointer_find(&states->pending, object) == NULL) {
            TAPER_TRY(taper_pointer_add(module->allocator, &states->pending, object, i, error));
        }
    }
    return TAPER_OK;
}

taper_status taper_set_states_start(taper_set_states *states, const taper_module *module, taper_error *error)
{
    *states = (taper_set_states){.module = module};
    const taper_status status = collect(states, error);
    if (status != TAPER_OK) {
        taper_set_states_free(states);
    }
    return status;
}

void taper_set_states_free(taper_set_states *states)
{
    const taper_module *module = states->module;
    taper_free(module->allocator, states->names, module->function_count * sizeof *states->names);
    taper_pointer_free(module->allocator, &states->pending);
    taper_pointer_free(module->allocator, &states->classes);
    states->names = NULL;
    states->count = 0;
}

bool taper_set_states_has(const taper_set_states *states, const taper_object *object)
{
    return taper_pointer_find(&states->pending, object) != NULL;
}

taper_status taper_set_states_find(taper_set_states *states, const taper_object *object, const taper_val **state,
                                   size_t *function, taper_error *error)
{
    const char *class_name = object->klass->name;
    const size_t *pending = taper_pointer_find(&states->pending, object);
    // The __setstate__ of each class is cached, because looking up a long name takes time and there may be many
    // objects.
    const size_t *met = taper_pointer_find(&states->classes, object->klass);
    bool known = met != NULL && *met != 0;
    *state = NULL;
    *function = known ? *met - 1 : 0;
    if (met == NULL) {
        known = taper_names_find(states->names, states->count, class_name, strlen(class_name), function);
        TAPER_TRY(taper_pointer_add(states->module->allocator, &states->classes, object->klass,
                                    known ? *function + 1 : 0, error));
    }
    if (known != (pending != NULL)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   known ? "an object of the class %.200s, which has a __setstate__, has no saved state: keep it as it "
                           "was read, or save what its __getstate__ gives"
                         : "an object of the class %.200s has a saved state, and there is no __setstate__ among the "
                           "functions to restore it",
                   class_name);
    }
    if (pending != NULL) {
        *state = &states->module->pending[*pending].state;
    }
    return TAPER_OK;
}
