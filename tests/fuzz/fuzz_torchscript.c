// SPDX-License-Identifier: BSD-2-Clause
// Reads any bytes as TorchScript sources and lowers all of their functions and methods. A line "#: code/__torch__/a.py"
// starts another file; the first is code/__torch__.py. The graphs must pass the verifier, and missing operators are
// listed. Repeats everything with a failing allocation.
#include <string.h>

#include "format/archive.h"
#include "frontend/torchscript/lower.h"
#include "tests/fuzz/failing_allocator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILES = 8 };

static taper_status split(taper_module *module, const char *text, size_t size, taper_error *error)
{
    module->sources = taper_arena_array(&module->arena, FILES, sizeof *module->sources);
    if (module->sources == NULL) {
        return taper_fail_memory(error);
    }
    module->sources[0] = (taper_module_source){"code/__torch__.py", text, size};
    module->source_count = 1;
    for (const char *at = text; at != NULL && module->source_count < FILES;) {
        const char *line = at;
        const size_t left = size - (size_t)(line - text);
        at = memchr(line, '\n', left);
        at = at != NULL ? at + 1 : NULL;
        if (left < 20 || memcmp(line, "#: code/", 8) != 0 || at == NULL || at - line > 200 ||
            memcmp(at - 4, ".py", 3) != 0) {
            continue;
        }
        const char *name = taper_arena_string(&module->arena, line + 3, (size_t)(at - line) - 4);
        if (name == NULL) {
            return taper_fail_memory(error);
        }
        taper_module_source *last = &module->sources[module->source_count - 1];
        if (strlen(name) < 9 || strcmp(name, last->name) <= 0) {
            continue; // skips duplicate names, because archive readers also remove duplicates when they sort names
        }
        last->length = (size_t)(line - last->text);
        module->sources[module->source_count++] = (taper_module_source){name, at, size - (size_t)(at - text)};
    }
    return TAPER_OK;
}

// Returns a value for an attribute of the declared type.
static taper_val value_for(taper_ts_unit *unit, const taper_type *type)
{
    taper_heap *heap = unit->module->heap;
    taper_obj *made = NULL;
    const taper_type *inner = type != NULL && type->kind == TAPER_TYPE_OPTIONAL ? type->items[0] : type;
    switch (inner != NULL ? inner->kind : TAPER_TYPE_NONE) {
    case TAPER_TYPE_INT:
        return taper_val_int(3);
    case TAPER_TYPE_LIST:
        made = (taper_obj *)taper_list_new(heap, NULL, 0);
        break;
    case TAPER_TYPE_DICT:
        made = (taper_obj *)taper_dict_new(heap, NULL, NULL);
        break;
    case TAPER_TYPE_STRING:
        made = (taper_obj *)taper_string_new(heap, "text", 4);
        break;
    case TAPER_TYPE_TUPLE:
        made = (taper_obj *)taper_tuple_new(heap, NULL, inner->count);
        break;
    case TAPER_TYPE_CLASS: {
        const taper_class *klass = taper_types_class(unit->module->types, inner->name, 0, NULL);
        made = klass != NULL ? (taper_obj *)taper_object_new(heap, klass, 0) : NULL;
        break;
    }
    default:
        break;
    }
    return made != NULL ? taper_val_of(made) : taper_val_none();
}

static taper_status fill_state(taper_ts_unit *unit, taper_ts_definition *class, taper_dict *state)
{
    for (uint32_t i = 0; i < class->attribute_count; i++) {
        taper_ts_attribute *a;
        int64_t slot;
        const char *name = unit->atoms.names[class->attributes[i].atom];
        if (taper_ts_find_attribute(unit, class, class->attributes[i].atom, &a, &slot) != TAPER_OK) {
            continue;
        }
        taper_string *key = taper_string_new(unit->module->heap, name, strlen(name));
        if (key == NULL) {
            return taper_fail_memory(unit->error);
        }
        if (taper_dict_set(state, TAPER_VAL(key), value_for(unit, a != NULL ? a->resolved : NULL), unit->error) !=
            TAPER_OK) {
            return TAPER_ERROR_RESOURCE;
        }
    }
    return TAPER_OK;
}

// Makes an object of class __torch__.M the root of the module, and requests members of enums. Returns false if there is
// no such class.
static bool make_root(taper_ts_unit *unit, taper_archive *archive)
{
    static const char name[] = "__torch__.M", other[] = "__torch__.E";
    taper_ts_objects objects = {.unit = unit, .archive = archive};
    taper_ts_definition *class;
    taper_val member;
    if (taper_ts_pickled_member(&objects, other, taper_val_int(1), &member, unit->error) == TAPER_OK) {
        taper_val_release(member);
    }
    if (taper_ts_find_text(unit, name, sizeof name - 1, &class) != TAPER_OK || class == NULL) {
        return false;
    }
    const taper_class *klass = taper_types_class(unit->module->types, name, 0, NULL);
    taper_object *root = klass != NULL ? taper_object_new(unit->module->heap, klass, 0) : NULL;
    taper_dict *state = root != NULL ? taper_dict_new(unit->module->heap, NULL, NULL) : NULL;
    if (root == NULL) {
        return false;
    }
    unit->module->root = TAPER_VAL(root);
    bool taken = false;
    if (state == NULL || fill_state(unit, class, state) != TAPER_OK ||
        taper_ts_set_state(&objects, root, TAPER_VAL(state), &taken, unit->error) != TAPER_OK || !taken) {
        if (state != NULL && !taken) {
            taper_obj_release(&state->head.head);
        }
        return false;
    }
    unit->module->pending = archive->pending; // released together with the archive's objects
    unit->module->pending_count = archive->pending_count;
    return true;
}

static taper_status lower(taper_ts_unit *unit, taper_torchscript *result, bool listing)
{
    const taper_torchscript_options options = {.listing = listing};
    taper_ts_lowering l = {
        .unit = unit, .result = result, .listing = listing, .options = &options, .nodes_left = 20000};
    taper_ts_definition *unused;
    taper_status status = TAPER_OK;
    for (size_t i = 0; status == TAPER_OK && i < unit->module->source_count; i++) {
        // Looking up a name inside of a file's module makes the unit parse that file.
        const char *name = unit->module->sources[i].name;
        char below[256];
        const size_t length = strlen(name) - 8;
        for (size_t c = 0; c < length; c++) {
            below[c] = name[5 + c] == '/' ? '.' : name[5 + c];
        }
        below[length] = '.';
        below[length + 1] = 'x';
        status = taper_ts_find_text(unit, below, length + 2, &unused);
    }
    taper_archive archive = {.module = unit->module};
    if (status == TAPER_OK && make_root(unit, &archive)) {
        status = taper_ts_lower_module(&l); // lowers the module first, because forward has hooks
        status = status == TAPER_ERROR_FILE || status == TAPER_ERROR_RESOURCE ? TAPER_OK : status;
    }
    for (size_t i = 0; status == TAPER_OK && i < unit->definition_capacity; i++) {
        taper_ts_definition *d = unit->definitions[i];
        for (taper_ts_function *f = d != NULL ? d->function : NULL; status == TAPER_OK && f != NULL; f = f->next) {
            if (d->kind == TAPER_TS_A_FUNCTION || d->kind == TAPER_TS_A_CLASS) {
                status = taper_ts_add_function(&l, f);
                // An error in one function must not prevent the check of the other functions.
                status = status == TAPER_ERROR_FILE || status == TAPER_ERROR_RESOURCE ? TAPER_OK : status;
            }
        }
    }
    for (size_t i = 0; i < archive.pending_count; i++) {
        taper_obj_release(&archive.pending[i].object->head.head);
        taper_val_release(archive.pending[i].state);
    }
    unit->module->pending_count = 0;
    taper_free(unit->allocator, archive.pending, archive.pending_capacity * sizeof *archive.pending);
    taper_ts_lowering_free(&l);
    return status;
}

static void run(failing_allocator *failing, taper_registry *registry, const uint8_t *data, size_t size, bool listing)
{
    taper_types *types = NULL;
    taper_module module = {.allocator = &failing->allocator, .root = taper_val_none()};
    taper_error *error = taper_error_create();
    taper_torchscript result = {.missing = {.allocator = &failing->allocator}};
    taper_ts_unit unit;
    taper_arena_init(&module.arena, &failing->allocator);
    if (taper_types_create(&failing->allocator, &types, error) == TAPER_OK) {
        module.types = types;
        if (taper_heap_create(&failing->allocator, types, &module.heap, error) == TAPER_OK &&
            split(&module, (const char *)data, size, error) == TAPER_OK) {
            if (taper_ts_unit_create(&unit, &module, registry, error) == TAPER_OK) {
                taper_tuple *constants = taper_tuple_new(module.heap, NULL, 3);
                if (constants != NULL) {
                    constants->items[1] = taper_val_int(7);
                    unit.constants = TAPER_VAL(constants);
                    (void)lower(&unit, &result, listing);
                }
            }
            taper_ts_unit_free(&unit);
        }
    }
    taper_torchscript_free(&result, &failing->allocator);
    if (module.heap != NULL) {
        taper_module_free(&module);
    } else if (types != NULL) {
        taper_types_release(types);
    }
    taper_error_destroy(error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static taper_registry *registry;
    static taper_types *types;
    if (registry == NULL && (taper_types_create(&taper_allocator_system, &types, NULL) != TAPER_OK ||
                             taper_registry_create(&taper_allocator_system, types, &registry, NULL) != TAPER_OK)) {
        abort();
    }
    for (int listing = 0; listing < 2; listing++) { // once to run the module, once to list its operators
        failing_allocator failing;
        failing_start(&failing, 0);
        run(&failing, registry, data, size, listing != 0);
        failing_end(&failing);
        const size_t place = failing_place(data, size, failing.calls);
        failing_start(&failing, place);
        run(&failing, registry, data, size, listing != 0);
        failing_end(&failing);
    }
    return 0;
}
