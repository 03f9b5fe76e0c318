// SPDX-License-Identifier: BSD-2-Clause
// Tests modules in flatbuffers: models that PyTorch wrote in both formats are read identically from NAME.fb.ptl and
// NAME.ptl, and damaged files are refused. If folders are given as arguments, the pairs in these folders are compared
// instead.
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "format/module.h"

#ifndef TEST_UNIT_DATA
#define TEST_UNIT_DATA "tests/unit/data"
#endif

// ---- loading

typedef struct file {
    uint8_t *data;
    size_t size;
} file;

static file read_file(const char *folder, const char *name)
{
    char path[1000];
    assert_true((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) < sizeof path);
    FILE *in = fopen(path, "rb");
    if (in == NULL) {
        fail_msg("%s cannot be read", path);
    }
    assert_int_equal(fseek(in, 0, SEEK_END), 0);
    file f = {.size = (size_t)ftell(in)};
    rewind(in);
    f.data = malloc(f.size);
    assert_non_null(f.data);
    assert_int_equal(fread(f.data, 1, f.size, in), f.size);
    (void)fclose(in);
    return f;
}

static file sample(const char *name)
{
    return read_file(TEST_UNIT_DATA "/flatbuffer", name);
}

static taper_status load(const taper_allocator *allocator, taper_types *types, const void *data, size_t size,
                         taper_module *module, taper_error *error)
{
    taper_blob *blob;
    taper_status status = taper_blob_from_memory(allocator, data, size, NULL, NULL, &blob, error);
    if (status == TAPER_OK) {
        status = taper_module_read(allocator, types, blob, module, error);
        taper_obj_release(&blob->head);
    }
    return status;
}

// ---- comparing the two forms of a model

enum { MOST_STORAGES = 10000 };

typedef struct comparison {
    const char *name;
    struct {
        const taper_storage *zip, *flat;
    } storages[MOST_STORAGES];
    size_t count;
} comparison;

static void compare_types(const comparison *c, const taper_type *zip, const taper_type *flat)
{
    assert_int_equal(zip != NULL, flat != NULL);
    if (zip != NULL && !taper_type_equal(zip, flat)) {
        fail_msg("%s: types differ", c->name);
    }
}

// Tensors that share a storage in one module must also share a storage in the other module.
static void compare_storages(comparison *c, const taper_storage *zip, const taper_storage *flat)
{
    for (size_t i = 0; i < c->count; i++) {
        if (c->storages[i].zip == zip || c->storages[i].flat == flat) {
            if (zip->bytes != 0) {
                assert_ptr_equal(c->storages[i].zip, zip);
                assert_ptr_equal(c->storages[i].flat, flat);
            }
            return;
        }
    }
    assert_true(c->count < MOST_STORAGES);
    c->storages[c->count].zip = zip;
    c->storages[c->count++].flat = flat;
    assert_int_equal(zip->bytes, flat->bytes);
    if (zip->bytes != 0) {
        assert_memory_equal(zip->data, flat->data, zip->bytes);
    }
}

static void compare_tensors(comparison *c, const taper_tensor *zip, const taper_tensor *flat)
{
    assert_int_equal(zip->dtype, flat->dtype);
    assert_int_equal(zip->rank, flat->rank);
    assert_int_equal(zip->offset, flat->offset);
    assert_int_equal(zip->requires_grad, flat->requires_grad);
    assert_memory_equal(zip->sizes, flat->sizes, sizeof zip->sizes);
    assert_memory_equal(zip->strides, flat->strides, sizeof zip->strides);
    compare_storages(c, zip->storage, flat->storage);
    assert_int_equal(zip->quantizer != NULL, flat->quantizer != NULL);
    if (zip->quantizer == NULL) {
        return;
    }
    const taper_quantizer *a = zip->quantizer, *b = flat->quantizer;
    assert_int_equal(a->scheme, b->scheme);
    if (a->scheme == TAPER_PER_TENSOR_AFFINE) {
        assert_memory_equal(&a->scale, &b->scale, sizeof a->scale);
        assert_int_equal(a->zero_point, b->zero_point);
        return;
    }
    assert_int_equal(a->axis, b->axis);
    compare_tensors(c, a->scales, b->scales);
    compare_tensors(c, a->zero_points, b->zero_points);
}

static void compare_classes(const taper_class *zip, const taper_class *flat)
{
    assert_string_equal(zip->name, flat->name);
    assert_int_equal(zip->slots != NULL, flat->slots != NULL);
    assert_int_equal(zip->count, flat->count);
    for (size_t i = 0; zip->slots != NULL && i < zip->count; i++) {
        assert_string_equal(zip->slots[i], flat->slots[i]);
    }
}

static void compare_values(comparison *c, taper_val zip, taper_val flat, int depth)
{
    assert_true(depth < 300);
    assert_int_equal(zip.tag, flat.tag);
    switch ((taper_tag)zip.tag) {
    case TAPER_NONE:
        return;
    case TAPER_BOOLEAN:
    case TAPER_INT:
    case TAPER_DEVICE:
        assert_int_equal(zip.as.i, flat.as.i);
        return;
    case TAPER_DOUBLE:
        assert_memory_equal(&zip.as.f, &flat.as.f, sizeof zip.as.f);
        return;
    case TAPER_COMPLEX:
        assert_memory_equal(&zip.as.complex->re, &flat.as.complex->re, sizeof(double));
        assert_memory_equal(&zip.as.complex->im, &flat.as.complex->im, sizeof(double));
        return;
    case TAPER_STRING:
        assert_int_equal(zip.as.string->length, flat.as.string->length);
        assert_memory_equal(zip.as.string->data, flat.as.string->data, zip.as.string->length + 1);
        return;
    case TAPER_TENSOR:
        compare_tensors(c, zip.as.tensor, flat.as.tensor);
        return;
    case TAPER_LIST:
        compare_types(c, zip.as.list->element, flat.as.list->element);
        assert_int_equal(zip.as.list->count, flat.as.list->count);
        for (size_t i = 0; i < zip.as.list->count; i++) {
            compare_values(c, zip.as.list->items[i], flat.as.list->items[i], depth + 1);
        }
        return;
    case TAPER_TUPLE:
        assert_int_equal(zip.as.tuple->count, flat.as.tuple->count);
        for (size_t i = 0; i < zip.as.tuple->count; i++) {
            compare_values(c, zip.as.tuple->items[i], flat.as.tuple->items[i], depth + 1);
        }
        return;
    case TAPER_DICT:
        compare_types(c, zip.as.dict->key, flat.as.dict->key);
        compare_types(c, zip.as.dict->value, flat.as.dict->value);
        assert_int_equal(zip.as.dict->count, flat.as.dict->count);
        for (size_t i = 0; i < zip.as.dict->count; i++) {
            compare_values(c, taper_dict_key(zip.as.dict, i), taper_dict_key(flat.as.dict, i), depth + 1);
            compare_values(c, taper_dict_value(zip.as.dict, i), taper_dict_value(flat.as.dict, i), depth + 1);
        }
        return;
    case TAPER_OBJECT:
        compare_classes(zip.as.object->klass, flat.as.object->klass);
        assert_int_equal(zip.as.object->count, flat.as.object->count);
        for (size_t i = 0; i < zip.as.object->count; i++) {
            compare_values(c, zip.as.object->slots[i], flat.as.object->slots[i], depth + 1);
        }
        return;
    default:
        fail_msg("%s: a value of tag %d", c->name, (int)zip.tag);
    }
}

static void compare_arguments(comparison *c, const taper_module_argument *zip, const taper_module_argument *flat,
                              size_t zip_count, size_t flat_count)
{
    assert_int_equal(zip_count, flat_count);
    for (size_t i = 0; i < zip_count; i++) {
        assert_string_equal(zip[i].name, flat[i].name);
        assert_string_equal(zip[i].type_text, flat[i].type_text);
        compare_types(c, zip[i].type, flat[i].type);
        assert_int_equal(zip[i].has_default, flat[i].has_default);
        compare_values(c, zip[i].default_value, flat[i].default_value, 0);
    }
}

static void compare_functions(comparison *c, const taper_module_function *zip, const taper_module_function *flat)
{
    assert_int_equal(zip->instruction_count, flat->instruction_count);
    for (size_t i = 0; i < zip->instruction_count; i++) {
        assert_int_equal(zip->instructions[i].op, flat->instructions[i].op);
        assert_int_equal(zip->instructions[i].n, flat->instructions[i].n);
        assert_int_equal(zip->instructions[i].x, flat->instructions[i].x);
    }
    assert_int_equal(zip->operator_count, flat->operator_count);
    for (size_t i = 0; i < zip->operator_count; i++) {
        assert_string_equal(zip->operators[i].name, flat->operators[i].name);
        assert_string_equal(zip->operators[i].overload, flat->operators[i].overload);
        assert_int_equal(zip->operators[i].arguments, flat->operators[i].arguments);
    }
    assert_int_equal(zip->constant_count, flat->constant_count);
    for (size_t i = 0; i < zip->constant_count; i++) {
        compare_values(c, zip->constants[i], flat->constants[i], 0);
    }
    assert_int_equal(zip->type_count, flat->type_count);
    for (size_t i = 0; i < zip->type_count; i++) {
        compare_types(c, zip->types[i], flat->types[i]);
    }
    assert_int_equal(zip->register_count, flat->register_count);
    assert_int_equal(zip->has_schema, flat->has_schema);
    compare_arguments(c, zip->arguments, flat->arguments, zip->argument_count, flat->argument_count);
    compare_arguments(c, zip->returns, flat->returns, zip->return_count, flat->return_count);
}

static const taper_module_function *find_function(const taper_module *module, const char *name)
{
    for (size_t i = 0; i < module->function_count; i++) {
        if (strcmp(module->functions[i].name, name) == 0) {
            return &module->functions[i];
        }
    }
    fail_msg("there is no function %s", name);
    return NULL;
}

static void compare_modules(comparison *c, const taper_module *zip, const taper_module *flat)
{
    assert_false(zip->flatbuffer);
    assert_true(flat->flatbuffer);
    assert_int_equal(flat->bytecode_version, 9);
    assert_in_range(flat->operator_version, 1, 10);
    assert_int_equal(zip->function_count, flat->function_count);
    for (size_t i = 0; i < zip->function_count; i++) {
        compare_functions(c, &zip->functions[i], find_function(flat, zip->functions[i].name));
    }
    compare_values(c, zip->root, flat->root, 0);
    assert_int_equal(zip->pending_count, flat->pending_count);
    for (size_t i = 0; i < zip->pending_count; i++) {
        compare_classes(zip->pending[i].object->klass, flat->pending[i].object->klass);
        compare_values(c, zip->pending[i].state, flat->pending[i].state, 0);
    }
    assert_int_equal(zip->extra_count, flat->extra_count);
    for (size_t i = 0; i < flat->extra_count; i++) {
        size_t k = 0;
        while (k < zip->extra_count && strcmp(zip->extras[k].name, flat->extras[i].name) != 0) {
            k++;
        }
        assert_true(k < zip->extra_count);
        assert_int_equal(zip->extras[k].size, flat->extras[i].size);
        assert_memory_equal(zip->extras[k].data, flat->extras[i].data, flat->extras[i].size);
    }
}

static void compare_pair(const char *folder, const char *name)
{
    char flat_name[320], zip_name[320];
    (void)snprintf(flat_name, sizeof flat_name, "%s.fb.ptl", name);
    (void)snprintf(zip_name, sizeof zip_name, "%s.ptl", name);
    file zip_file = read_file(folder, zip_name), flat_file = read_file(folder, flat_name);
    taper_types *types;
    assert_int_equal(taper_types_create(&taper_allocator_system, &types, NULL), TAPER_OK);
    taper_module zip, flat;
    taper_error *error = taper_error_create();
    if (load(&taper_allocator_system, types, zip_file.data, zip_file.size, &zip, error) != TAPER_OK ||
        load(&taper_allocator_system, types, flat_file.data, flat_file.size, &flat, error) != TAPER_OK) {
        fail_msg("%s: %s", name, taper_error_message(error));
    }
    print_message("%s: %zu functions\n", name, flat.function_count);
    comparison *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->name = name;
    compare_modules(c, &zip, &flat);
    free(c);
    taper_module_free(&zip);
    taper_module_free(&flat);
    taper_error_destroy(error);
    taper_types_release(types);
    free(zip_file.data);
    free(flat_file.data);
}

static const char **folders;
static int folder_count;

static void test_pairs(void **state)
{
    (void)state;
    static const char suffix[] = ".fb.ptl";
    static const char *const committed[] = {TEST_UNIT_DATA "/flatbuffer"};
    size_t pairs = 0;
    for (int i = 0; i < (folder_count != 0 ? folder_count : 1); i++) {
        const char *folder = folder_count != 0 ? folders[i] : committed[0];
        DIR *directory = opendir(folder);
        assert_non_null(directory);
        for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
            const size_t length = strlen(entry->d_name), start = length - (sizeof suffix - 1);
            if (length >= sizeof suffix && length < 300 && strcmp(entry->d_name + start, suffix) == 0) {
                char name[300];
                memcpy(name, entry->d_name, start);
                name[start] = '\0';
                compare_pair(folder, name);
                pairs++;
            }
        }
        (void)closedir(directory);
    }
    assert_true(pairs >= 4);
}

// ---- tensors that borrow bytes of the file

static const taper_tensor *attribute(const taper_module *module, const char *name)
{
    const taper_object *root = module->root.as.object;
    const int64_t slot = taper_object_slot(root, name);
    assert_true(slot >= 0 && root->slots[slot].tag == TAPER_TENSOR);
    return root->slots[slot].as.tensor;
}

static void test_borrowing(void **state)
{
    (void)state;
    file f = sample("tensors.fb.ptl");
    taper_types *types;
    assert_int_equal(taper_types_create(&taper_allocator_system, &types, NULL), TAPER_OK);
    uint8_t *block = NULL;
    assert_int_equal(posix_memalign((void **)&block, 64, f.size + 16), 0);
    for (size_t shift = 0; shift < 16; shift++) {
        memcpy(block + shift, f.data, f.size);
        taper_module module;
        assert_int_equal(load(&taper_allocator_system, types, block + shift, f.size, &module, NULL), TAPER_OK);
        const taper_tensor *base = attribute(&module, "base"), *part = attribute(&module, "part");
        assert_ptr_equal(base->storage, part->storage);
        assert_ptr_equal(base->storage, attribute(&module, "turned")->storage);
        assert_int_equal(base->storage->kind, shift % 8 == 0 ? TAPER_STORAGE_BORROWED : TAPER_STORAGE_OWNED);
        const float *numbers = base->storage->data;
        for (int i = 0; i < 24; i++) {
            assert_true(numbers[i] == (float)i);
        }
        assert_int_equal(part->offset, 5);
        taper_module_free(&module);
    }
    free(block);
    free(f.data);
    taper_types_release(types);
}

// ---- damaged files

static void expect_refused(taper_types *types, const void *data, size_t size, const char *want)
{
    taper_module module;
    taper_error *error = taper_error_create();
    const taper_status status = load(&taper_allocator_system, types, data, size, &module, error);
    if (status == TAPER_OK) {
        taper_module_free(&module);
        fail_msg("was read; wanted \"%s\"", want);
    }
    assert_int_equal(taper_error_status(error), status);
    if (want != NULL && strstr(taper_error_message(error), want) == NULL) {
        fail_msg("\"%s\", wanted \"%s\"", taper_error_message(error), want);
    }
    taper_error_destroy(error);
}

// Truncates the file to every length, and replaces every byte: the result must be a valid status, and no byte beyond
// the end may be read. Each copy ends at the end of its block, so that a sanitizer detects such a read.
static void test_every_byte(void **state)
{
    (void)state;
    static const char *const names[] = {"qtensors.fb.ptl", "constants.fb.ptl", "methods.fb.ptl"};
    taper_types *types;
    assert_int_equal(taper_types_create(&taper_allocator_system, &types, NULL), TAPER_OK);
    taper_error *error = taper_error_create();
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        file f = sample(names[k]);
        for (size_t size = 0; size < f.size; size++) {
            uint8_t *part = malloc(size + 1);
            assert_non_null(part);
            memcpy(part + 1, f.data, size);
            taper_module module;
            if (load(&taper_allocator_system, types, part + 1, size, &module, error) == TAPER_OK) {
                taper_module_free(&module);
            } else {
                assert_int_not_equal(taper_error_status(error), TAPER_OK);
            }
            free(part);
        }
        for (size_t at = 0; at < f.size; at++) {
            static const uint8_t changes[] = {0x01, 0x80, 0xff};
            for (size_t i = 0; i < sizeof changes; i++) {
                f.data[at] ^= changes[i];
                taper_module module;
                if (load(&taper_allocator_system, types, f.data, f.size, &module, error) == TAPER_OK) {
                    taper_module_free(&module);
                }
                f.data[at] ^= changes[i];
            }
        }
        free(f.data);
    }
    taper_error_destroy(error);
    taper_types_release(types);
}

// ---- files made here; each part is described from the end to the front

typedef struct maker {
    uint8_t data[1 << 16];
    size_t size;
} maker;

static void put32(maker *m, size_t at, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        m->data[at + (size_t)i] = (uint8_t)(value >> 8 * i);
    }
}

// Writes at `at` the offset from there to the later position `target`.
static void put_offset(maker *m, size_t at, size_t target)
{
    put32(m, at, (uint32_t)(target - at));
}

static size_t take(maker *m, size_t bytes)
{
    const size_t at = m->size;
    m->size += bytes;
    assert_true(m->size <= sizeof m->data);
    memset(m->data + at, 0, bytes);
    return at;
}

// Makes a table of n fields of 8 bytes, all of them present, and returns its position `at`. Field i is at position at +
// 4 + 8 * i.
static size_t put_table(maker *m, unsigned fields)
{
    const size_t vtable = take(m, 4 + 2 * fields), at = take(m, 4 + 8 * fields);
    m->data[vtable] = (uint8_t)(4 + 2 * fields);
    m->data[vtable + 2] = (uint8_t)(4 + 8 * fields);
    for (unsigned i = 0; i < fields; i++) {
        m->data[vtable + 4 + 2 * i] = (uint8_t)(4 + 8 * i);
    }
    put32(m, at, (uint32_t)(at - vtable));
    return at;
}

static size_t slot(size_t table, unsigned field)
{
    return table + 4 + 8 * field;
}

static void drop(maker *m, size_t table, unsigned field) // marks the field as absent
{
    const size_t vtable = table - m->data[table];
    m->data[vtable + 4 + 2 * field] = 0;
}

static size_t put_vector(maker *m, size_t holder, size_t count, size_t item)
{
    const size_t at = take(m, 4 + count * item);
    put_offset(m, holder, at);
    put32(m, at, (uint32_t)count);
    return at + 4;
}

static void put_string(maker *m, size_t holder, const char *text)
{
    const size_t at = put_vector(m, holder, strlen(text) + 1, 1);
    put32(m, at - 4, (uint32_t)strlen(text));
    memcpy(m->data + at, text, strlen(text));
}

// Makes a module of n ivalues. The first one is None. The last one is an object of class "__torch__.M" with the
// attribute "a", whose value is the ivalue before it. Returns the positions of the ivalue tables.
static void put_module(maker *m, size_t count, size_t *ivalues)
{
    m->size = 8;
    memcpy(m->data + 4, "PTMF", 4);
    const size_t module = put_table(m, 12);
    put_offset(m, 0, module);
    put32(m, slot(module, 0), 9);
    put32(m, slot(module, 3), (uint32_t)(count - 1));
    put32(m, slot(module, 10), 3);
    for (unsigned field = 0; field < 12; field++) {
        if (field == 1 || field == 2 || field == 6 || field == 8 || field == 9) {
            drop(m, module, field);
        }
    }
    const size_t vector = put_vector(m, slot(module, 4), count, 4);
    for (size_t i = 0; i < count; i++) {
        ivalues[i] = put_table(m, 2);
        put_offset(m, vector + 4 * i, ivalues[i]);
        if (i == 0) {
            drop(m, ivalues[i], 1);
        }
    }
    const size_t types = put_vector(m, slot(module, 7), 1, 4), type = put_table(m, 3);
    put_offset(m, types, type);
    put_string(m, slot(type, 0), "__torch__.M");
    m->data[slot(type, 1)] = 1;
    put_string(m, put_vector(m, slot(type, 2), 1, 4), "a");
    const size_t object = put_table(m, 4);
    m->data[slot(ivalues[count - 1], 0)] = 10;
    put_offset(m, slot(ivalues[count - 1], 1), object);
    put32(m, put_vector(m, slot(object, 2), 1, 4), (uint32_t)(count - 2));
}

static void put_tuple(maker *m, size_t ivalue, const uint32_t *items, size_t count)
{
    const size_t tuple = put_table(m, 1);
    m->data[slot(ivalue, 0)] = 8;
    put_offset(m, slot(ivalue, 1), tuple);
    const size_t vector = put_vector(m, slot(tuple, 0), count, 4);
    for (size_t i = 0; i < count; i++) {
        put32(m, vector + 4 * i, items[i]);
    }
}

static void test_made(void **state)
{
    (void)state;
    maker *m = calloc(1, sizeof *m);
    assert_non_null(m);
    taper_types *types;
    assert_int_equal(taper_types_create(&taper_allocator_system, &types, NULL), TAPER_OK);
    size_t at[TAPER_LIMIT_VALUE_DEPTH + 20];

    // Tests that two references to one ivalue are read as one object.
    put_module(m, 4, at);
    put_tuple(m, at[1], (uint32_t[]){0}, 1);
    put_tuple(m, at[2], (uint32_t[]){1, 1}, 2);
    taper_module module;
    assert_int_equal(load(&taper_allocator_system, types, m->data, m->size, &module, NULL), TAPER_OK);
    assert_string_equal(module.root.as.object->klass->name, "__torch__.M");
    const taper_tuple *pair = module.root.as.object->slots[0].as.tuple;
    assert_ptr_equal(pair->items[0].as.tuple, pair->items[1].as.tuple);
    taper_module_free(&module);

    // Tests references to the value itself, to a later value, and to a missing value.
    for (uint32_t index = 2; index < 12; index++) {
        put_module(m, 4, at);
        put_tuple(m, at[1], NULL, 0);
        put_tuple(m, at[2], &index, 1);
        expect_refused(types, m->data, m->size, "does not come before it");
    }

    // Values of any depth up to the limit must be accepted, and deeper values refused. The root object adds one level.
    for (uint32_t depth = TAPER_LIMIT_VALUE_DEPTH - 10; depth < TAPER_LIMIT_VALUE_DEPTH + 10; depth++) {
        put_module(m, depth + 2, at);
        for (uint32_t i = 1; i <= depth; i++) {
            const uint32_t below = i - 1;
            put_tuple(m, at[i], &below, 1);
        }
        if (depth < TAPER_LIMIT_VALUE_DEPTH) {
            assert_int_equal(load(&taper_allocator_system, types, m->data, m->size, &module, NULL), TAPER_OK);
            taper_module_free(&module);
        } else if (depth > TAPER_LIMIT_VALUE_DEPTH + 1) {
            expect_refused(types, m->data, m->size, "nested deeper");
        }
    }

    // 250 values are the same long vector, so a small file would need much memory.
    put_module(m, 252, at);
    put_tuple(m, at[1], NULL, 0);
    const size_t tuple = put_table(m, 1);
    (void)put_vector(m, slot(tuple, 0), 5000, 4);
    for (size_t i = 1; i < 251; i++) {
        m->data[slot(at[i], 0)] = 8;
        put_offset(m, slot(at[i], 1), tuple);
    }
    expect_refused(types, m->data, m->size, "overlap");

    // Tests wrong kinds, versions and roots.
    put_module(m, 3, at);
    put_tuple(m, at[1], NULL, 0);
    m->data[slot(at[1], 0)] = 17;
    expect_refused(types, m->data, m->size, "unknown kind 17");
    put_module(m, 3, at);
    put_tuple(m, at[1], NULL, 0);
    drop(m, at[1], 1);
    expect_refused(types, m->data, m->size, "not there");
    put_module(m, 3, at);
    put_tuple(m, at[1], NULL, 0);
    const size_t root = m->data[0];
    put32(m, slot(root, 0), 10);
    expect_refused(types, m->data, m->size, "bytecode version 10");
    put32(m, slot(root, 0), 9);
    put32(m, slot(root, 10), 11);
    expect_refused(types, m->data, m->size, "operator version 11");
    put32(m, slot(root, 10), 3);
    put32(m, slot(root, 3), 1);
    expect_refused(types, m->data, m->size, "is no object");
    put32(m, slot(root, 3), UINT32_MAX);
    expect_refused(types, m->data, m->size, "is no object");
    put32(m, slot(root, 3), 2);
    put32(m, slot(root, 11), 4);
    expect_refused(types, m->data, m->size, "4 values wanted where 3 are");
    put32(m, slot(root, 11), 2); // the index of the root object is too large
    expect_refused(types, m->data, m->size, "is no object");
    put32(m, slot(root, 11), 3);
    assert_int_equal(load(&taper_allocator_system, types, m->data, m->size, &module, NULL), TAPER_OK);
    taper_module_free(&module);
    free(m);
    taper_types_release(types);
}

// ---- failing allocations

typedef struct failing {
    size_t left; // number of allocations that succeed before an allocation fails
    size_t held;
} failing;

static void *reallocate(void *user, void *ptr, size_t old_size, size_t new_size)
{
    failing *f = user;
    if (new_size == 0) {
        f->held -= old_size;
        free(ptr);
        return NULL;
    }
    if (f->left == 0) {
        return NULL;
    }
    f->left--;
    void *result = realloc(ptr, new_size);
    if (result != NULL) {
        f->held += new_size - old_size;
    }
    return result;
}

static void test_allocations(void **state)
{
    (void)state;
    static const char *const names[] = {"qtensors.fb.ptl", "constants.fb.ptl", "methods.fb.ptl", "containers.fb.ptl",
                                        "dynamic.fb.ptl"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        file f = sample(names[k]);
        bool done = false;
        for (size_t n = 0; !done; n++) {
            failing counter = {.left = n};
            const taper_allocator allocator = {.user = &counter, .reallocate = reallocate};
            taper_types *types;
            taper_error *error = taper_error_create();
            if (taper_types_create(&allocator, &types, error) == TAPER_OK) {
                taper_module module;
                if (load(&allocator, types, f.data, f.size, &module, error) == TAPER_OK) {
                    taper_module_free(&module);
                    done = true;
                } else {
                    assert_int_equal(taper_error_status(error), TAPER_ERROR_RESOURCE);
                }
                taper_types_release(types);
            }
            taper_error_destroy(error);
            assert_int_equal(counter.held, 0);
            assert_true(n < 100000);
        }
        free(f.data);
    }
}

int main(int argc, char **argv)
{
    folders = (const char **)argv + 1;
    folder_count = argc - 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs), cmocka_unit_test(test_borrowing),   cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_made),  cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
