// SPDX-License-Identifier: BSD-2-Clause
// Reads a lite module from a flatbuffer: the module table, its versions, the ivalues (the values of the module,
// lite_flatbuffer.h) one after the other, and extra files. jit_sources and the ivalues from mobile_ivalue_size on
// belong to the full TorchScript form and are not read.
#include "format/lite_flatbuffer.h"

enum { OLDEST_BYTECODE = 4, NEWEST_BYTECODE = 9, NEWEST_OPERATORS = 10 };

// ---- ivalues

static taper_status read_kind(const taper_fb_reader *r, const taper_fb_table *table, taper_fb_kind *kind)
{
    uint64_t number = TAPER_FB_NONE;
    TAPER_TRY(taper_fb_number(&r->fb, table, 0, 1, &number));
    if (number > TAPER_FB_FUNCTION) {
        return taper_fb_damaged(&r->fb, table->at, "a value of the unknown kind %u", (unsigned)number);
    }
    *kind = (taper_fb_kind)number;
    return TAPER_OK;
}

static taper_status count_functions(const taper_fb_reader *r, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < r->count; i++) {
        taper_fb_table table;
        taper_fb_kind kind;
        TAPER_TRY(taper_fb_item_table(&r->fb, &r->ivalues, i, &table));
        TAPER_TRY(read_kind(r, &table, &kind));
        *count += kind == TAPER_FB_FUNCTION;
    }
    return TAPER_OK;
}

static taper_status read_ivalue(taper_fb_reader *r)
{
    taper_fb_table table;
    taper_fb_kind kind;
    TAPER_TRY(taper_fb_item_table(&r->fb, &r->ivalues, r->current, &table));
    TAPER_TRY(read_kind(r, &table, &kind));
    if (kind != TAPER_FB_FUNCTION) {
        return taper_fb_read_value(r, &table, kind, &r->values[r->current]);
    }
    const size_t number = r->module->function_count++;
    r->values[r->current] = (taper_val){.tag = TAPER_UNDEFINED, .as.i = (int64_t)number};
    return taper_fb_read_function(r, &table, &r->module->functions[number]);
}

static taper_status read_ivalues(taper_fb_reader *r, const taper_fb_table *root)
{
    TAPER_TRY(taper_fb_vector_in(&r->fb, root, TAPER_FB_MODULE_IVALUES, 4, &r->ivalues));
    TAPER_TRY(taper_fb_vector_in(&r->fb, root, TAPER_FB_MODULE_STORAGE_DATA, 4, &r->storage_data));
    TAPER_TRY(taper_fb_vector_in(&r->fb, root, TAPER_FB_MODULE_OBJECT_TYPES, 4, &r->object_types));
    uint64_t count = 0;
    TAPER_TRY(taper_fb_number(&r->fb, root, TAPER_FB_MODULE_MOBILE_IVALUE_SIZE, 4, &count));
    if (count > r->ivalues.count) {
        return taper_fb_damaged(&r->fb, root->at, "%llu values wanted where %zu are", (unsigned long long)count,
                                r->ivalues.count);
    }
    r->count = count != 0 ? (size_t)count : r->ivalues.count;
    const taper_allocator *allocator = r->module->allocator;
    r->values =
        taper_alloc_zeroed(allocator, r->count * sizeof *r->values); // zeroed memory, so that all values are None
    r->depths = taper_alloc_zeroed(allocator, r->count * sizeof *r->depths);
    r->storages = taper_alloc_zeroed(allocator, r->storage_data.count * sizeof *r->storages);
    r->classes = taper_alloc_zeroed(allocator, r->object_types.count * sizeof *r->classes);
    if ((r->count != 0 && (r->values == NULL || r->depths == NULL)) ||
        (r->storage_data.count != 0 && r->storages == NULL) || (r->object_types.count != 0 && r->classes == NULL)) {
        return taper_fail_memory(r->fb.error);
    }
    size_t functions;
    TAPER_TRY(count_functions(r, &functions));
    if (functions > TAPER_LIMIT_FUNCTIONS) {
        return taper_fail(r->fb.error, TAPER_ERROR_RESOURCE, "the flatbuffer module holds more than %d functions",
                          TAPER_LIMIT_FUNCTIONS);
    }
    r->module->functions = taper_arena_array(&r->module->arena, functions, sizeof *r->module->functions);
    if (r->module->functions == NULL) {
        return taper_fail_memory(r->fb.error);
    }
    for (r->current = 0; r->current < r->count; r->current++) {
        TAPER_TRY(read_ivalue(r));
    }
    return TAPER_OK;
}

static taper_status read_root(taper_fb_reader *r, const taper_fb_table *root)
{
    uint64_t state = 0;
    TAPER_TRY(taper_fb_number(&r->fb, root, TAPER_FB_MODULE_STATE_OBJ, 4, &state));
    if (state >= r->count || r->values[state].tag != TAPER_OBJECT) {
        return taper_fb_damaged(&r->fb, root->at, "value %llu, the module itself, is no object",
                                (unsigned long long)state);
    }
    r->module->root = taper_val_retain(r->values[state]);
    r->module->pending = taper_arena_array(&r->module->arena, r->pending_count, sizeof *r->pending);
    if (r->module->pending == NULL) {
        return taper_fail_memory(r->fb.error);
    }
    if (r->pending_count != 0) {
        memcpy(r->module->pending, r->pending, r->pending_count * sizeof *r->pending);
    }
    r->module->pending_count = r->pending_count;
    r->pending_count = 0;
    return TAPER_OK;
}

// ---- the module table

static taper_status read_versions(taper_fb_reader *r, const taper_fb_table *root)
{
    uint64_t bytecode = 0, operators = 0;
    TAPER_TRY(taper_fb_number(&r->fb, root, TAPER_FB_MODULE_BYTECODE_VERSION, 4, &bytecode));
    TAPER_TRY(taper_fb_number(&r->fb, root, TAPER_FB_MODULE_OPERATOR_VERSION, 4, &operators));
    r->module->bytecode_version = (int64_t)bytecode;
    r->module->operator_version = (int64_t)operators;
    if (bytecode < OLDEST_BYTECODE || bytecode > NEWEST_BYTECODE) {
        return taper_fail(r->fb.error, TAPER_ERROR_UNSUPPORTED,
                          "the flatbuffer module has bytecode version %lld; versions %d to %d are supported: save it "
                          "again with another PyTorch",
                          (long long)bytecode, OLDEST_BYTECODE, NEWEST_BYTECODE);
    }
    if (operators == 0) {
        return taper_fb_damaged(&r->fb, root->at, "it does not say which version its operators have");
    }
    if (operators > NEWEST_OPERATORS) {
        return taper_fail(r->fb.error, TAPER_ERROR_UNSUPPORTED,
                          "operator version %lld was written by a newer PyTorch: versions up to %d are supported",
                          (long long)operators, NEWEST_OPERATORS);
    }
    return TAPER_OK;
}

static taper_status read_extras(taper_fb_reader *r, const taper_fb_table *root)
{
    taper_module *module = r->module;
    taper_fb_vector files;
    TAPER_TRY(taper_fb_vector_in(&r->fb, root, TAPER_FB_MODULE_EXTRA_FILES, 4, &files));
    module->extras = taper_arena_array(&module->arena, files.count, sizeof *module->extras);
    if (module->extras == NULL) {
        return taper_fail_memory(r->fb.error);
    }
    for (size_t i = 0; i < files.count; i++) {
        taper_fb_table file;
        taper_fb_name *name;
        taper_fb_string content;
        TAPER_TRY(taper_fb_item_table(&r->fb, &files, i, &file));
        TAPER_TRY(taper_fb_name_in(r, &file, 0, &name));
        TAPER_TRY(taper_fb_string_in(&r->fb, &file, 1, &content));
        module->extras[module->extra_count++] =
            (taper_module_extra){.name = name->text, .data = content.text, .size = content.length};
    }
    return taper_module_sort_extras(module, r->fb.error);
}

static taper_status read_module(taper_fb_reader *r)
{
    taper_fb_table root;
    TAPER_TRY(taper_fb_open(&r->fb, r->blob->data, r->blob->size, &root, r->fb.error));
    TAPER_TRY(read_versions(r, &root));
    TAPER_TRY(taper_type_scope_create(r->module->allocator, &r->scope, r->fb.error));
    TAPER_TRY(read_ivalues(r, &root));
    TAPER_TRY(read_root(r, &root));
    return read_extras(r, &root);
}

taper_status taper_lite_flatbuffer_read(taper_blob *blob, taper_module *module, taper_error *error)
{
    taper_fb_reader r = {.fb = {.error = error}, .module = module, .blob = blob};
    const taper_status status = read_module(&r);
    const taper_allocator *allocator = module->allocator;
    for (size_t i = 0; r.values != NULL && i < r.count; i++) {
        taper_val_release(r.values[i]);
    }
    for (size_t i = 0; r.storages != NULL && i < r.storage_data.count; i++) {
        if (r.storages[i] != NULL) {
            taper_obj_release(&r.storages[i]->head);
        }
    }
    for (size_t i = 0; i < r.pending_count; i++) {
        taper_obj_release(&r.pending[i].object->head.head);
        taper_val_release(r.pending[i].state);
    }
    taper_free(allocator, r.values, r.count * sizeof *r.values);
    taper_free(allocator, r.depths, r.count * sizeof *r.depths);
    taper_free(allocator, r.storages, r.storage_data.count * sizeof *r.storages);
    taper_free(allocator, r.classes, r.object_types.count * sizeof *r.classes);
    taper_free(allocator, r.pending, r.pending_capacity * sizeof *r.pending);
    taper_lookup_free(allocator, &r.names);
    taper_type_scope_destroy(r.scope);
    taper_heap_trim(module->heap);
    return status;
}
