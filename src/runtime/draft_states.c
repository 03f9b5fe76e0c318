// SPDX-License-Identifier: BSD-2-Clause
// Objects that a __setstate__ made when the draft was loaded. Saved as it was read, a draft of bytecode keeps the state
// and the method (draft.c); an optimized one has what the method made, as attributes. These are saved by name, which a
// lite file's state does not tell: they are numbered.
#include <stdio.h>

#include "runtime/draft.h"

// How many attributes the objects of the class have at most.
static size_t count_attributes(const taper_module *module, const char *class_name)
{
    size_t count = 0;
    for (size_t i = 0; i < module->pending_count; i++) {
        const taper_object *object = module->pending[i].object;
        if (object->klass != NULL && strcmp(object->klass->name, class_name) == 0) {
            count = taper_max_size(count, object->count);
        }
    }
    return count;
}

static taper_status name_attributes(taper_module *module, taper_object *object, taper_error *error)
{
    const size_t count = count_attributes(module, object->klass->name);
    const char **names = taper_arena_array(&module->arena, count + 1, sizeof *names);
    if (names == NULL) {
        return taper_fail_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        char digits[24];
        const int length = snprintf(digits, sizeof digits, "%zu", i);
        names[i] = taper_arena_string(&module->arena, digits, (size_t)length);
        if (names[i] == NULL) {
            return taper_fail_memory(error);
        }
    }
    if (object->count < count) {
        TAPER_TRY(taper_object_set(object, count - 1, taper_val_none(), error));
    }
    const taper_class *named = taper_types_class(module->types, object->klass->name, count, names);
    if (named == NULL) {
        return taper_fail_memory(error);
    }
    object->klass = named;
    return TAPER_OK;
}

taper_status taper_draft_settle_states(taper_draft *draft, taper_error *error)
{
    taper_module *module = &draft->model->module;
    for (size_t i = 0; i < module->pending_count; i++) {
        taper_object *object = module->pending[i].object;
        if (object->klass != NULL && object->count != 0 && object->klass->slots == NULL) {
            TAPER_TRY(name_attributes(module, object, error));
        }
    }
    return TAPER_OK;
}
