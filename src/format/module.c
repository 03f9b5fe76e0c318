// SPDX-License-Identifier: BSD-2-Clause
// Frees modules. Also contains the names of opcodes and the rule for the methods that prepared models keep.
#include "format/module.h"

#include "format/name_sort.h"

// All names in one string, in the order of their numbers, which avoids pointers that need relocation.
static const char opcode_names[] =
#define X(name, number) #name "\0"
    TAPER_LITE_OPCODES(X)
#undef X
    ;

const char *taper_lite_opcode_name(unsigned opcode)
{
    const char *name = opcode_names;
    for (unsigned i = 0; i < opcode && *name != '\0'; i++) {
        name += strlen(name) + 1;
    }
    return *name != '\0' ? name : "unknown";
}

int taper_lite_opcode_from_name(const char *name, size_t length)
{
    const char *known = opcode_names;
    for (int i = 0; *known != '\0'; i++) {
        const size_t size = strlen(known);
        if (size == length && memcmp(known, name, length) == 0) {
            return i;
        }
        known += size + 1;
    }
    return -1;
}

void taper_module_argument_default(taper_module_argument *argument, taper_val value)
{
    const uint8_t kind = argument->type->kind;
    argument->default_value = taper_val_retain(value);
    argument->has_default = value.tag != TAPER_NONE ||
                            ((kind == TAPER_TYPE_OPTIONAL || kind == TAPER_TYPE_UNION || kind == TAPER_TYPE_NONE) &&
                             taper_val_is_a(value, argument->type));
}

bool taper_module_is_bundling(const char *method)
{
    static const char *const starts[] = {"_generate_bundled_inputs_for_", "get_all_bundled_inputs",
                                         "get_num_bundled_inputs",        "get_bundled_inputs_functions_and_info",
                                         "_inflate_helper_for_",          "run_on_bundled_input"};
    bool found = false;
    for (size_t i = 0; i < sizeof starts / sizeof starts[0] && !found; i++) {
        found = strncmp(method, starts[i], strlen(starts[i])) == 0;
    }
    return found;
}

bool taper_module_keeps(const char *method, const char *const *others, size_t count)
{
    bool kept = strcmp(method, "forward") == 0 || taper_module_is_bundling(method);
    for (size_t i = 0; i < count && !kept; i++) {
        kept = strcmp(method, others[i]) == 0;
    }
    return kept;
}

static void release_defaults(taper_module_argument *arguments, size_t count)
{
    for (size_t i = 0; arguments != NULL && i < count; i++) {
        taper_val_release(arguments[i].default_value);
    }
}

taper_status taper_module_init(const taper_allocator *allocator, taper_types *types, taper_module *module,
                               taper_error *error)
{
    *module = (taper_module){.allocator = allocator, .root = taper_val_none()};
    taper_arena_init(&module->arena, allocator);
    module->types = taper_types_retain(types);
    return taper_heap_create(allocator, types, &module->heap, error);
}

void taper_module_drop_functions(taper_module *module)
{
    for (size_t i = 0; i < module->function_count; i++) {
        taper_module_function *function = &module->functions[i];
        for (size_t c = 0; function->constants != NULL && c < function->constant_count; c++) {
            taper_val_release(function->constants[c]);
        }
        release_defaults(function->arguments, function->argument_count);
        release_defaults(function->returns, function->return_count);
    }
    module->functions = NULL;
    module->function_count = 0;
}

void taper_module_free(taper_module *module)
{
    taper_val_release(module->root);
    if (module->release_exported != NULL) {
        module->release_exported(module->exported);
    }
    taper_module_drop_functions(module);
    for (size_t i = 0; i < module->pending_count; i++) {
        taper_obj_release(&module->pending[i].object->head.head);
        taper_val_release(module->pending[i].state);
    }
    taper_free(module->allocator, module->places, module->place_capacity * sizeof *module->places);
    taper_heap_close(module->heap);
    taper_types_release(module->types);
    if (module->arena.allocator != NULL) {
        taper_arena_free(&module->arena);
    }
    if (module->blob != NULL) {
        taper_obj_release(module->blob);
    }
    *module = (taper_module){.root = taper_val_none()};
}

taper_status taper_module_sort_extras(taper_module *module, taper_error *error)
{
    const size_t count = module->extra_count;
    module->extra_names = taper_arena_array(&module->arena, count, sizeof *module->extra_names);
    if (module->extra_names == NULL) {
        return taper_fail_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        const char *name = module->extras[i].name;
        module->extra_names[i] = (taper_name){.text = name, .length = strlen(name), .value = i};
    }
    return taper_names_sort(module->allocator, module->extra_names, count, error);
}

const taper_module_extra *taper_module_find_extra(const taper_module *module, const char *name)
{
    size_t at;
    return taper_names_find(module->extra_names, module->extra_count, name, strlen(name), &at) ? &module->extras[at]
                                                                                               : NULL;
}
