// SPDX-License-Identifier: BSD-2-Clause
// Any bytes as TorchScript sources: every function and method of them is lowered. A line "#: code/__torch__/a.py"
// starts another file; the first is code/__torch__.py. What is lowered passes the verifier of graphs, and the operators
// of the sources that do not exist are noted. Then once more with an allocation that fails.
#include <string.h>

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
            continue; // readers sort them and leave out doubles
        }
        last->length = (size_t)(line - last->text);
        module->sources[module->source_count++] = (taper_module_source){name, at, size - (size_t)(at - text)};
    }
    return TAPER_OK;
}

static taper_status lower(taper_ts_unit *unit, taper_torchscript *result)
{
    taper_ts_lowering l = {.unit = unit, .result = result, .nodes_left = 20000};
    taper_ts_definition *unused;
    taper_status status = TAPER_OK;
    for (size_t i = 0; status == TAPER_OK && i < unit->module->source_count; i++) {
        // A name below the file's module makes the unit parse it.
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
    for (size_t i = 0; status == TAPER_OK && i < unit->definition_capacity; i++) {
        taper_ts_definition *d = unit->definitions[i];
        for (taper_ts_function *f = d != NULL ? d->function : NULL; status == TAPER_OK && f != NULL; f = f->next) {
            if (d->kind == TAPER_TS_A_FUNCTION || d->kind == TAPER_TS_A_CLASS) {
                status = taper_ts_add_function(&l, f);
                // The others are looked at all the same when one is wrong.
                status = status == TAPER_ERROR_FILE || status == TAPER_ERROR_RESOURCE ? TAPER_OK : status;
            }
        }
    }
    taper_ts_lowering_free(&l);
    return status;
}

static void run(failing_allocator *failing, taper_registry *registry, const uint8_t *data, size_t size)
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
                    (void)lower(&unit, &result);
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
    failing_allocator failing;
    failing_start(&failing, 0);
    run(&failing, registry, data, size);
    failing_end(&failing);
    const size_t place = failing_place(data, size, failing.calls);
    failing_start(&failing, place);
    run(&failing, registry, data, size);
    failing_end(&failing);
    return 0;
}
