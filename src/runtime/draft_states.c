// SPDX-License-Identifier: BSD-2-Clause
// Prepares for saving the objects that a __setstate__ made. A draft of bytecode that is saved unchanged keeps the state
// and the method (draft.c). In an optimized draft, these objects have the attributes that the method set. Attributes
// are saved by name, but the state in a lite file has no names, so the attributes get numbers as names.
#include <stdio.h>

#include "base/name_map.h"
#include "base/pointer_map.h"
#include "runtime/draft.h"

// Counts the attributes of objects: the largest number for each class name.
typedef struct counting {
    const taper_allocator *allocator;
    taper_pointer_map classes; // maps each class to the number of its name
    taper_name_map names;
    size_t *counts, capacity; // for each class name, by its number: largest number of attributes; items allocated
    taper_error *error;
} counting;

static taper_status number_of(counting *c, const taper_class *class, size_t *number)
{
    const size_t *known = taper_pointer_find(&c->classes, class);
    if (known != NULL) {
        *number = *known;
        return TAPER_OK;
    }
    const size_t length = strlen(class->name), next = c->names.count;
    TAPER_TRY(TAPER_GROW(c->allocator, c->counts, c->capacity, next + 1, c->error));
    c->counts[next] = 0;
    TAPER_TRY(taper_name_add(c->allocator, &c->names, class->name, length, next, c->error));
    *number = *taper_name_find(c->allocator, &c->names, class->name, length);
    return taper_pointer_add(c->allocator, &c->classes, class, *number, c->error);
}

static taper_status count_attributes(counting *c, const taper_module *module)
{
    for (size_t i = 0; i < module->pending_count; i++) {
        const taper_object *object = module->pending[i].object;
        size_t number;
        if (object->klass != NULL) {
            TAPER_TRY(number_of(c, object->klass, &number));
            c->counts[number] = taper_max_size(c->counts[number], object->count);
        }
    }
    return TAPER_OK;
}

static taper_status name_attributes(taper_module *module, taper_object *object, size_t count, taper_error *error)
{
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

static taper_status name_all(counting *c, taper_module *module)
{
    TAPER_TRY(count_attributes(c, module));
    for (size_t i = 0; i < module->pending_count; i++) {
        taper_object *object = module->pending[i].object;
        if (object->klass != NULL && object->count != 0 && object->klass->slots == NULL) {
            size_t number;
            TAPER_TRY(number_of(c, object->klass, &number));
            TAPER_TRY(name_attributes(module, object, c->counts[number], c->error));
        }
    }
    return TAPER_OK;
}

taper_status taper_draft_settle_states(taper_draft *draft, taper_error *error)
{
    taper_module *module = &draft->model->module;
    counting c = {.allocator = module->allocator, .error = error};
    const taper_status status = name_all(&c, module);
    taper_pointer_free(c.allocator, &c.classes);
    taper_name_free(c.allocator, &c.names);
    taper_free(c.allocator, c.counts, c.capacity * sizeof *c.counts);
    return status;
}
