// SPDX-License-Identifier: BSD-2-Clause
// Tests archives (taper_archive.h): values come back from the archives and pickles that they were written to; a changed
// session still has the changes after it is written and loaded; damaged bytes and NULL arguments are refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <taper/taper_archive.h>

#include "tests/api/fixture.h"

typedef struct file {
    unsigned char *data;
    size_t size;
} file;

static int append(void *user, const void *data, size_t size)
{
    file *f = user;
    unsigned char *grown = realloc(f->data, f->size + size + 1);
    assert_non_null(grown);
    f->data = grown;
    memcpy(f->data + f->size, data, size);
    f->size += size;
    return 0;
}

static int refuse(void *user, const void *data, size_t size)
{
    (void)user, (void)data, (void)size;
    return 1;
}

static void ok(taper_status status, const taper_error *error)
{
    if (status != TAPER_OK) {
        fail_msg("status %d: %s", (int)status, taper_error_message(error));
    }
}

static void refused(taper_status status, taper_status wanted, const taper_error *error, const char *words)
{
    if (status != wanted || strstr(taper_error_message(error), words) == NULL) {
        fail_msg("status %d: %s; wanted %d: %s", (int)status, taper_error_message(error), (int)wanted, words);
    }
}

// Makes ([x, x], {"n": 3}), in which x is one float tensor.
static taper_value *make_value(taper_context *context, taper_error *error)
{
    static const int64_t sizes[] = {2, 3};
    taper_value *x, *list, *key, *number, *dict, *tuple;
    ok(taper_value_tensor(context, TAPER_F32, 2, sizes, &x, error), error);
    taper_tensor_info info = {.struct_size = sizeof info};
    ok(taper_value_get_tensor(x, &info, error), error);
    for (size_t i = 0; i < 6; i++) {
        ((float *)info.data)[i] = (float)i;
    }
    taper_value *const twice[] = {x, x};
    ok(taper_value_list(context, "Tensor", twice, 2, &list, error), error);
    ok(taper_value_string(context, "n", 1, &key, error), error);
    ok(taper_value_int(context, 3, &number, error), error);
    ok(taper_value_dict(context, "str", "int", &key, &number, 1, &dict, error), error);
    taper_value *const both[] = {list, dict};
    ok(taper_value_tuple(context, both, 2, &tuple, error), error);
    taper_value *const made[] = {x, list, key, number, dict};
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        taper_value_release(made[i]);
    }
    return tuple;
}

static file write_value(taper_context *context, const taper_value *value, taper_error *error)
{
    file f = {NULL, 0};
    taper_archive_writer *writer;
    ok(taper_archive_writer_create(context, "folder", append, &f, &writer, error), error);
    ok(taper_archive_writer_value(writer, "data", value, error), error);
    ok(taper_archive_writer_record(writer, "version", "3\n", 2, error), error);
    ok(taper_archive_writer_finish(writer, error), error);
    refused(taper_archive_writer_record(writer, "late", "", 0, error), TAPER_ERROR_ARGUMENT, error, "is finished");
    taper_archive_writer_release(writer);
    return f;
}

static void values_come_back(void **state)
{
    (void)state;
    test_allocator allocator;
    test_allocator_init(&allocator);
    taper_context *context = test_context(&allocator, 1);
    taper_error *error = taper_error_create();
    taper_value *value = make_value(context, error), *read, *items, *first, *second;
    file f = write_value(context, value, error);
    taper_archive_reader *reader;
    ok(taper_archive_reader_open_memory(context, f.data, f.size, NULL, NULL, &reader, error), error);
    static const char *const names[] = {"data/0", "data.pkl", "version"};
    assert_int_equal(taper_archive_reader_count(reader), 3);
    for (size_t i = 0; i < 3; i++) {
        size_t length;
        const char *name = taper_archive_reader_name(reader, i, &length);
        assert_int_equal(length, strlen(names[i]));
        assert_memory_equal(name, names[i], length);
    }
    size_t size;
    const void *data;
    assert_null(taper_archive_reader_name(reader, 3, &size));
    ok(taper_archive_reader_record(reader, 2, &data, &size, error), error);
    assert_int_equal(size, 2);
    assert_memory_equal(data, "3\n", 2);
    refused(taper_archive_reader_record(reader, 3, &data, &size, error), TAPER_ERROR_ARGUMENT, error, "no record 3");
    refused(taper_archive_reader_value(reader, "other", &read, error), TAPER_ERROR_FILE, error, "other.pkl");
    ok(taper_archive_reader_value(reader, "data", &read, error), error);
    taper_archive_reader_release(reader); // the value remains valid after its reader is released
    assert_true(test_same(value, read));
    ok(taper_value_item(read, 0, &items, error), error);
    ok(taper_value_item(items, 0, &first, error), error);
    ok(taper_value_item(items, 1, &second, error), error);
    assert_ptr_equal(taper_value_identity(first), taper_value_identity(second));
    taper_value *const used[] = {value, read, items, first, second};
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++) {
        taper_value_release(used[i]);
    }
    taper_error_destroy(error);
    taper_context_release(context);
    free(f.data);
    assert_int_equal(atomic_load(&allocator.blocks), 0);
}

static void pickles_have_no_tensors(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    taper_error *error = taper_error_create();
    taper_value *value = make_value(context, error), *dict, *read;
    file f = {NULL, 0};
    refused(taper_value_pickle(context, value, append, &f, error), TAPER_ERROR_UNSUPPORTED, error, "tensor");
    ok(taper_value_item(value, 1, &dict, error), error);
    refused(taper_value_pickle(context, dict, refuse, NULL, error), TAPER_ERROR_FILE, error, "could not be written");
    ok(taper_value_pickle(context, dict, append, &f, error), error);
    ok(taper_value_unpickle(context, f.data, f.size, &read, error), error);
    assert_true(test_same(dict, read));
    taper_value_release(read);
    for (size_t size = 0; size < f.size; size++) { // every shorter pickle is refused
        assert_int_equal(taper_value_unpickle(context, f.data, size, &read, error), TAPER_ERROR_FILE);
        assert_null(read);
    }
    taper_value_release(dict);
    taper_value_release(value);
    taper_error_destroy(error);
    taper_context_release(context);
    free(f.data);
}

static void damaged_archives_are_refused(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    taper_error *error = taper_error_create();
    taper_value *value = make_value(context, error), *read;
    taper_archive_reader *reader;
    file f = write_value(context, value, error);
    refused(taper_archive_reader_open(context, "/there is no such file", &reader, error), TAPER_ERROR_FILE, error, "");
    refused(taper_archive_reader_open_memory(context, f.data, f.size / 2, NULL, NULL, &reader, error), TAPER_ERROR_FILE,
            error, "");
    for (size_t at = 0; at < f.size; at += 3) { // the value is refused, or read, and nothing is read out of bounds
        f.data[at] ^= 0x55;
        if (taper_archive_reader_open_memory(context, f.data, f.size, NULL, NULL, &reader, error) == TAPER_OK) {
            if (taper_archive_reader_value(reader, "data", &read, error) == TAPER_OK) {
                taper_value_release(read);
            }
            taper_archive_reader_release(reader);
        }
        f.data[at] ^= 0x55;
    }
    taper_archive_writer *writer;
    refused(taper_archive_writer_create(context, "a/b", append, &f, &writer, error), TAPER_ERROR_ARGUMENT, error, "");
    ok(taper_archive_writer_create(context, NULL, refuse, NULL, &writer, error), error);
    refused(taper_archive_writer_value(writer, "data", value, error), TAPER_ERROR_FILE, error, "could not be written");
    refused(taper_archive_writer_finish(writer, error), TAPER_ERROR_ARGUMENT, error, "incomplete");
    taper_archive_writer_release(writer);
    taper_value_release(value);
    taper_error_destroy(error);
    taper_context_release(context);
    free(f.data);
}

// ---- archives written from a session

// Copies the sources and the constants of the model's archive, which a session does not change.
static void copy_code(taper_model *model, taper_archive_writer *writer, taper_error *error)
{
    taper_archive_reader *reader;
    ok(taper_archive_reader_open_model(model, &reader, error), error);
    for (size_t i = 0; i < taper_archive_reader_count(reader); i++) {
        size_t length, size;
        const void *data;
        char name[256];
        const char *text = taper_archive_reader_name(reader, i, &length);
        assert_true(length < sizeof name);
        memcpy(name, text, length);
        name[length] = '\0';
        if (strncmp(name, "data", 4) != 0) {
            ok(taper_archive_reader_record(reader, i, &data, &size, error), error);
            ok(taper_archive_writer_record(writer, name, data, size, error), error);
        }
    }
    taper_archive_reader_release(reader);
}

static file write_session(taper_session *session, taper_model *model, taper_context *context, taper_error *error)
{
    file f = {NULL, 0};
    taper_archive_writer *writer;
    ok(taper_archive_writer_create(context, NULL, append, &f, &writer, error), error);
    ok(taper_archive_writer_session(writer, "data", session, "", error), error);
    copy_code(model, writer, error);
    ok(taper_archive_writer_finish(writer, error), error);
    taper_archive_writer_release(writer);
    return f;
}

static taper_value *attribute(taper_session *session, const char *path, taper_error *error)
{
    taper_value *value;
    ok(taper_session_attribute(session, path, &value, error), error);
    return value;
}

static void changed_sessions_are_written(void **state)
{
    (void)state;
    test_allocator allocator;
    test_allocator_init(&allocator);
    taper_context *context = test_context(&allocator, 1);
    taper_error *error = taper_error_create();
    taper_model *model, *again;
    taper_session *session, *copy, *loaded;
    ok(test_load(context, "gpu_state.pt", true, &model, error), error);
    ok(taper_session_create(model, NULL, &session, error), error);
    ok(taper_session_copy(session, &copy, error), error);
    taper_value *number;
    ok(taper_value_int(context, 77, &number, error), error);
    ok(taper_session_set_attribute(session, "extra", number, error), error);
    refused(taper_session_set_attribute(session, "extra.more", number, error), TAPER_ERROR_ARGUMENT, error, "int");
    refused(taper_session_set_attribute(session, "", number, error), TAPER_ERROR_ARGUMENT, error, "name");
    refused(taper_session_set_attribute(session, "none.x", number, error), TAPER_ERROR_ARGUMENT, error, "none");
    taper_value *read = attribute(session, "extra", error);
    assert_true(test_same(number, read));
    taper_value_release(read);
    refused(taper_session_attribute(copy, "extra", &read, error), TAPER_ERROR_ARGUMENT, error, "extra");
    file f = write_session(copy, model, context, error);
    const taper_load_options options = {.struct_size = sizeof options};
    ok(taper_model_load_memory(context, f.data, f.size, NULL, NULL, &options, &again, error), error);
    ok(taper_session_create(again, NULL, &loaded, error), error);
    taper_value *before = attribute(copy, "", error), *after = attribute(loaded, "", error);
    assert_int_equal(taper_value_count(before), taper_value_count(after));
    for (size_t i = 0; i < taper_value_count(before); i++) {
        taper_value *a, *b;
        assert_string_equal(taper_value_field(before, i), taper_value_field(after, i));
        ok(taper_value_item(before, i, &a, error), error);
        ok(taper_value_item(after, i, &b, error), error);
        assert_true(taper_value_kind(a) == TAPER_KIND_OBJECT || test_same(a, b));
        taper_value_release(a);
        taper_value_release(b);
    }
    taper_value_release(before);
    taper_value_release(after);
    taper_value_release(number);
    taper_session_destroy(loaded);
    taper_session_destroy(copy);
    taper_session_destroy(session);
    taper_model_release(again);
    taper_model_release(model);
    taper_error_destroy(error);
    taper_context_release(context);
    free(f.data);
    assert_int_equal(atomic_load(&allocator.blocks), 0);
}

// Tensors with new contents, written in place by the host, are part of the copied session, but not of the original
// session.
static void copies_are_apart(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    taper_error *error = taper_error_create();
    taper_model *model;
    taper_session *session, *copy;
    ok(test_load(context, "recurrent.ptl", true, &model, error), error);
    ok(taper_session_create(model, NULL, &session, error), error);
    ok(taper_session_copy(session, &copy, error), error);
    taper_value *root = attribute(session, "", error);
    assert_true(taper_value_count(root) != 0);
    taper_value_release(root);
    taper_session_destroy(session);
    root = attribute(copy, "", error);
    assert_true(taper_value_count(root) != 0);
    taper_value_release(root);
    taper_session_destroy(copy);
    taper_model_release(model);
    taper_error_destroy(error);
    taper_context_release(context);
}

static taper_status round_trip(taper_context *context, const void *what, taper_error *error)
{
    (void)what;
    taper_value *number = NULL, *object = NULL, *read = NULL;
    taper_archive_writer *writer = NULL;
    taper_archive_reader *reader = NULL;
    static const char *const names[] = {"a"};
    file f = {NULL, 0};
    taper_status status = taper_value_int(context, 5, &number, error);
    status = status == TAPER_OK ? taper_value_object(context, "__torch__.Module", names, &number, 1, &object, error)
                                : status;
    status = status == TAPER_OK ? taper_archive_writer_create(context, NULL, append, &f, &writer, error) : status;
    status = status == TAPER_OK ? taper_archive_writer_value(writer, "data", object, error) : status;
    status = status == TAPER_OK ? taper_archive_writer_finish(writer, error) : status;
    if (status == TAPER_OK) {
        status = taper_archive_reader_open_memory(context, f.data, f.size, NULL, NULL, &reader, error);
    }
    status = status == TAPER_OK ? taper_archive_reader_value(reader, "data", &read, error) : status;
    if (status == TAPER_OK) {
        assert_string_equal(taper_value_field(read, 0), "a");
    }
    taper_value_release(read);
    taper_value_release(object);
    taper_value_release(number);
    taper_archive_reader_release(reader);
    taper_archive_writer_release(writer);
    free(f.data);
    return status;
}

static void memory_may_be_missing(void **state)
{
    (void)state;
    test_each_allocation_fails("archive", round_trip, NULL);
}

// ---- arguments that are NULL

#define FAILS(words, call) refused(call, TAPER_ERROR_ARGUMENT, error, words)

static void arguments_may_be_null(void **state)
{
    (void)state;
    char path[512];
    taper_context *c = test_context(NULL, 1);
    taper_error *error = taper_error_create();
    taper_model *model;
    taper_session *session, *copy;
    taper_value *v, *text;
    test_path("s01_convnet.ptl", path, sizeof path);
    ok(test_load(c, "s01_convnet.ptl", true, &model, error), error);
    ok(taper_session_create(model, NULL, &session, error), error);
    ok(taper_value_string(c, "text", 4, &text, error), error);
    taper_value *items[] = {text, NULL};
    taper_archive_reader *reader;
    taper_archive_writer *writer;
    const char *names[] = {"a", NULL};
    const void *data;
    size_t size;
    FAILS("context is NULL", taper_archive_reader_open(NULL, path, &reader, error));
    FAILS("path is NULL", taper_archive_reader_open(c, NULL, &reader, error));
    FAILS("reader is NULL", taper_archive_reader_open(c, path, NULL, error));
    FAILS("context is NULL", taper_archive_reader_open_memory(NULL, "a", 1, NULL, NULL, &reader, error));
    FAILS("bytes is NULL", taper_archive_reader_open_memory(c, NULL, 1, NULL, NULL, &reader, error));
    FAILS("reader is NULL", taper_archive_reader_open_memory(c, "a", 1, NULL, NULL, NULL, error));
    FAILS("model is NULL", taper_archive_reader_open_model(NULL, &reader, error));
    FAILS("reader is NULL", taper_archive_reader_open_model(model, NULL, error));
    assert_int_equal(taper_archive_reader_count(NULL), 0);
    assert_null(taper_archive_reader_name(NULL, 0, &size));
    FAILS("reader is NULL", taper_archive_reader_record(NULL, 0, &data, &size, error));
    FAILS("reader is NULL", taper_archive_reader_value(NULL, "data", &v, error));
    assert_int_equal(taper_archive_reader_open(c, path, &reader, error), TAPER_OK);
    assert_null(taper_archive_reader_name(reader, 0, NULL));
    FAILS("data is NULL", taper_archive_reader_record(reader, 0, NULL, &size, error));
    FAILS("size is NULL", taper_archive_reader_record(reader, 0, &data, NULL, error));
    FAILS("name is NULL", taper_archive_reader_value(reader, NULL, &v, error));
    FAILS("value is NULL", taper_archive_reader_value(reader, "data", NULL, error));
    taper_archive_reader_release(reader);
    taper_archive_reader_release(NULL);
    FAILS("context is NULL", taper_archive_writer_create(NULL, NULL, append, NULL, &writer, error));
    FAILS("write is NULL", taper_archive_writer_create(c, NULL, NULL, NULL, &writer, error));
    FAILS("writer is NULL", taper_archive_writer_create(c, NULL, append, NULL, NULL, error));
    FAILS("writer is NULL", taper_archive_writer_record(NULL, "a", "", 0, error));
    FAILS("writer is NULL", taper_archive_writer_value(NULL, "a", text, error));
    FAILS("writer is NULL", taper_archive_writer_session(NULL, "a", session, "", error));
    FAILS("writer is NULL", taper_archive_writer_finish(NULL, error));
    assert_int_equal(taper_archive_writer_create(c, NULL, append, NULL, &writer, error), TAPER_OK);
    FAILS("name is NULL", taper_archive_writer_record(writer, NULL, "", 0, error));
    FAILS("data is NULL", taper_archive_writer_record(writer, "a", NULL, 1, error));
    FAILS("name is NULL", taper_archive_writer_value(writer, NULL, text, error));
    FAILS("value is NULL", taper_archive_writer_value(writer, "a", NULL, error));
    FAILS("name is NULL", taper_archive_writer_session(writer, NULL, session, "", error));
    FAILS("session is NULL", taper_archive_writer_session(writer, "a", NULL, "", error));
    FAILS("path is NULL", taper_archive_writer_session(writer, "a", session, NULL, error));
    taper_archive_writer_release(writer);
    taper_archive_writer_release(NULL);
    FAILS("context is NULL", taper_value_pickle(NULL, text, append, NULL, error));
    FAILS("value is NULL", taper_value_pickle(c, NULL, append, NULL, error));
    FAILS("write is NULL", taper_value_pickle(c, text, NULL, NULL, error));
    FAILS("context is NULL", taper_value_unpickle(NULL, "a", 1, &v, error));
    FAILS("bytes is NULL", taper_value_unpickle(c, NULL, 1, &v, error));
    FAILS("value is NULL", taper_value_unpickle(c, "a", 1, NULL, error));
    FAILS("context is NULL", taper_value_object(NULL, "__torch__.A", names, items, 1, &v, error));
    FAILS("class_name is NULL", taper_value_object(c, NULL, names, items, 1, &v, error));
    FAILS("names[1] is NULL", taper_value_object(c, "__torch__.A", names, (taper_value *[]){text, text}, 2, &v, error));
    FAILS("values[1] is NULL", taper_value_object(c, "__torch__.A", names, items, 2, &v, error));
    FAILS("value is NULL", taper_value_object(c, "__torch__.A", names, items, 1, NULL, error));
    FAILS("session is NULL", taper_session_set_attribute(NULL, "a", text, error));
    FAILS("path is NULL", taper_session_set_attribute(session, NULL, text, error));
    FAILS("value is NULL", taper_session_set_attribute(session, "a", NULL, error));
    FAILS("session is NULL", taper_session_copy(NULL, &copy, error));
    FAILS("copy is NULL", taper_session_copy(session, NULL, error));
    taper_value_release(text);
    taper_session_destroy(session);
    taper_model_release(model);
    taper_error_destroy(error);
    taper_context_release(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_back),
        cmocka_unit_test(pickles_have_no_tensors),
        cmocka_unit_test(damaged_archives_are_refused),
        cmocka_unit_test(changed_sessions_are_written),
        cmocka_unit_test(copies_are_apart),
        cmocka_unit_test(arguments_may_be_null),
        cmocka_unit_test(memory_may_be_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
