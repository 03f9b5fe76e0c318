// SPDX-License-Identifier: BSD-2-Clause
// Writes a lite module into a flatbuffer in PyTorch's order: None, the functions with their constants, the module's
// root object. PyTorch's loaders read every vector without checking that it exists, so even empty vectors are written.
// The contents of tensors and extra files are blocks at the end.
#include "format/lite_flatbuffer_write.h"

#include "ir/scaled_storage.h"

enum { EXTRA_NAME, EXTRA_CONTENT };

// ---- functions and their classes

// Finds the number of the class of a method. Returns false if no object of the class was written.
static bool find_class(const taper_name *names, size_t count, const char *function, size_t *number)
{
    const char *dot = strrchr(function, '.');
    return dot != NULL && taper_names_find(names, count, function, (size_t)(dot - function), number);
}

// Writes the class of each function. Loaders add each function as a method to a class, and they know a class only from
// an object of that class. If no object of a function's class was written, the class of the root object is used.
static taper_status enter_classes(taper_fb_writer *w)
{
    taper_name *names = taper_alloc(w->allocator, w->class_count * sizeof *names);
    if (names == NULL && w->class_count != 0) {
        return taper_fail_memory(w->error);
    }
    for (size_t i = 0; i < w->class_count; i++) {
        names[i] = (taper_name){.text = w->class_items[i]->name, .length = strlen(w->class_items[i]->name), .value = i};
    }
    const size_t *root = taper_pointer_find(&w->classes, w->module->root.as.object->klass);
    const taper_status status = taper_names_sort(w->allocator, names, w->class_count, w->error);
    for (size_t i = 0; i < w->module->function_count && status == TAPER_OK; i++) {
        size_t number = root != NULL ? *root : 0;
        (void)find_class(names, w->class_count, w->module->functions[i].name, &number);
        taper_fbb_patch(&w->b, w->function_types[i], (uint32_t)number);
    }
    taper_free(w->allocator, names, w->class_count * sizeof *names);
    return status;
}

static taper_status write_functions(taper_fb_writer *w)
{
    const size_t count = w->module->function_count;
    // Index of each function's ivalue; 0 if the function is not written yet.
    w->functions = taper_alloc_zeroed(w->allocator, count * sizeof *w->functions);
    w->function_types = taper_alloc(w->allocator, count * sizeof *w->function_types);
    if (count != 0 && (w->functions == NULL || w->function_types == NULL)) {
        return taper_fail_memory(w->error);
    }
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(taper_fb_write_function(w, i));
    }
    return TAPER_OK;
}

// Writes the list of methods of the root object's class.
static taper_fbb_ref write_methods(taper_fb_writer *w)
{
    const char *class_name = w->module->root.as.object->klass->name;
    const size_t length = strlen(class_name);
    uint32_t *own = w->functions; // reuses the array `functions`, which is no longer needed
    size_t count = 0;
    for (size_t i = 0; i < w->module->function_count; i++) {
        const char *name = w->module->functions[i].name, *dot = strrchr(name, '.');
        if (dot != NULL && (size_t)(dot - name) == length && memcmp(name, class_name, length) == 0) {
            own[count++] = w->functions[i];
        }
    }
    return taper_fbb_u32s(&w->b, own, count);
}

// ---- the module table

static taper_status write_storages(taper_fb_writer *w, taper_fbb_ref *vector)
{
    taper_fbb_ref *tables = taper_alloc(w->allocator, w->storage_count * sizeof *tables);
    if (tables == NULL && w->storage_count != 0) {
        return taper_fail_memory(w->error);
    }
    for (size_t i = 0; i < w->storage_count; i++) {
        taper_storage *storage = w->storage_items[i];
        const taper_status status = taper_storage_settle(storage, w->error);
        if (status != TAPER_OK) {
            taper_free(w->allocator, tables, w->storage_count * sizeof *tables);
            return status;
        }
        const taper_fbb_ref block = taper_fbb_block_of(&w->b, storage->data, storage->bytes, false);
        taper_fbb_table(&w->b);
        taper_fbb_refer(&w->b, 0, block);
        tables[i] = taper_fbb_table_end(&w->b);
    }
    *vector = taper_fbb_refs(&w->b, tables, w->storage_count);
    taper_free(w->allocator, tables, w->storage_count * sizeof *tables);
    return TAPER_OK;
}

static taper_status write_extra(taper_fb_writer *w, const taper_module_extra *extra, taper_fbb_ref *table)
{
    if (extra->data == NULL) {
        TAPER_FAIL(w->error, TAPER_ERROR_ARGUMENT,
                   "extra file %.200s: its contents could not be read; leave it out or replace it", extra->name);
    }
    const taper_fbb_ref name = taper_fbb_shared_string(&w->b, extra->name);
    const taper_fbb_ref content = taper_fbb_block_of(&w->b, extra->data, extra->size, true);
    taper_fbb_table(&w->b);
    taper_fbb_refer(&w->b, EXTRA_NAME, name);
    taper_fbb_refer(&w->b, EXTRA_CONTENT, content);
    *table = taper_fbb_table_end(&w->b);
    return TAPER_OK;
}

static taper_status write_extras(taper_fb_writer *w, taper_fbb_ref *vector)
{
    taper_module_extra *extras;
    size_t count, capacity;
    TAPER_TRY(taper_write_extras(w->module, w->options, &extras, &count, &capacity, w->error));
    taper_fbb_ref *tables = taper_alloc(w->allocator, count * sizeof *tables);
    taper_status status = tables == NULL && count != 0 ? taper_fail_memory(w->error) : TAPER_OK;
    for (size_t i = 0; i < count && status == TAPER_OK; i++) {
        status = write_extra(w, &extras[i], &tables[i]);
    }
    if (status == TAPER_OK) {
        *vector = taper_fbb_refs(&w->b, tables, count);
    }
    taper_free(w->allocator, tables, count * sizeof *tables);
    taper_free(w->allocator, extras, capacity * sizeof *extras);
    return status;
}

static taper_status write_all(taper_fb_writer *w, const taper_sink *sink)
{
    const taper_module *module = w->module;
    int version;
    uint32_t none, state;
    taper_fbb_ref storages, extras;
    TAPER_TRY(taper_write_version(module, w->options, true, &version, w->error));
    if (module->root.tag != TAPER_OBJECT) {
        TAPER_FAIL(w->error, TAPER_ERROR_ARGUMENT, "the module has a %s for its object",
                   taper_val_kind_name(module->root));
    }
    TAPER_TRY(taper_set_states_start(&w->states, module, w->error));
    TAPER_TRY(taper_fb_add(w, TAPER_FB_NONE, 0, &none));
    w->with_handles = !w->options->without_debug && taper_write_has_handles(module);
    TAPER_TRY(write_functions(w));
    w->in_state = true;
    TAPER_TRY(taper_fb_write_value(w, module->root, 0, &state));
    TAPER_TRY(enter_classes(w));
    TAPER_TRY(write_storages(w, &storages));
    TAPER_TRY(write_extras(w, &extras));
    taper_fbb *b = &w->b;
    const taper_fbb_ref methods = write_methods(w), ivalues = taper_fbb_refs(b, w->ivalues, w->count),
                        classes = taper_fbb_refs(b, w->class_tables, w->class_count),
                        sources = taper_fbb_refs(b, NULL, 0), constants = taper_fbb_u32s(b, NULL, 0);
    taper_fbb_table(b);
    taper_fbb_refer(b, TAPER_FB_MODULE_EXTRA_FILES, extras);
    taper_fbb_refer(b, TAPER_FB_MODULE_METHODS, methods);
    taper_fbb_refer(b, TAPER_FB_MODULE_IVALUES, ivalues);
    taper_fbb_refer(b, TAPER_FB_MODULE_STORAGE_DATA, storages);
    taper_fbb_refer(b, TAPER_FB_MODULE_OBJECT_TYPES, classes);
    taper_fbb_refer(b, TAPER_FB_MODULE_JIT_SOURCES, sources);
    taper_fbb_refer(b, TAPER_FB_MODULE_JIT_CONSTANTS, constants);
    taper_fbb_number(b, TAPER_FB_MODULE_BYTECODE_VERSION, 4, (uint64_t)version, 0);
    taper_fbb_number(b, TAPER_FB_MODULE_STATE_OBJ, 4, state, 0);
    taper_fbb_number(b, TAPER_FB_MODULE_STORAGE_DATA_SIZE, 4, w->storage_count, 0);
    taper_fbb_number(b, TAPER_FB_MODULE_OPERATOR_VERSION, 4, (uint64_t)taper_write_operator_version(module), 0);
    taper_fbb_number(b, TAPER_FB_MODULE_MOBILE_IVALUE_SIZE, 4, w->count, 0);
    return taper_fbb_finish(b, taper_fbb_table_end(b), "PTMF", sink, w->error);
}

taper_status taper_lite_flatbuffer_write(const taper_module *module, const taper_write_options *options,
                                         const taper_sink *sink, taper_error *error)
{
    static const taper_write_options plain = {.bytecode_version = 0};
    const taper_allocator *allocator = module->allocator;
    taper_fb_writer w = {
        .module = module, .allocator = allocator, .options = options != NULL ? options : &plain, .error = error};
    w.states.module = module;
    taper_fbb_start(&w.b, allocator);
    taper_arena_init(&w.arena, allocator);
    const taper_status status = write_all(&w, sink);
    taper_fbb_free(&w.b);
    taper_arena_free(&w.arena);
    taper_set_states_free(&w.states);
    taper_free(allocator, w.ivalues, w.capacity * sizeof *w.ivalues);
    taper_lookup_free(allocator, &w.scalars);
    taper_lookup_free(allocator, &w.tags);
    taper_pointer_free(allocator, &w.objects);
    taper_pointer_free(allocator, &w.storages);
    taper_free(allocator, w.storage_items, w.storage_capacity * sizeof *w.storage_items);
    taper_pointer_free(allocator, &w.classes);
    taper_free(allocator, w.class_items, w.class_capacity * sizeof *w.class_items);
    taper_free(allocator, w.class_tables, w.class_table_capacity * sizeof *w.class_tables);
    taper_free(allocator, w.functions, module->function_count * sizeof *w.functions);
    taper_free(allocator, w.function_types, module->function_count * sizeof *w.function_types);
    taper_pointer_free(allocator, &w.types);
    return status;
}
