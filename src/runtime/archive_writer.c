// SPDX-License-Identifier: BSD-2-Clause
// Writes archives and pickles for hosts (taper_archive.h).
#include <stdio.h>

#include <taper/taper_archive.h>

#include "base/arguments.h"
#include "format/pickle_write.h"
#include "format/zip_write.h"
#include "runtime/session.h"
#include "runtime/session_state.h"

struct taper_archive_writer {
    taper_context *context;
    taper_save_function write;
    void *user;
    taper_sink sink;
    char *folder; // copy of the name of the folder, which the zip writer borrows
    size_t folder_bytes;
    taper_zip_writer zip;
    bool has_failed, is_finished;
};

static taper_status write_to_host(void *user, const void *data, size_t size, taper_error *error)
{
    const taper_archive_writer *writer = user;
    if (writer->write(writer->user, data, size) != 0) {
        TAPER_FAIL(error, TAPER_ERROR_FILE, "the file could not be written");
    }
    return TAPER_OK;
}

void taper_archive_writer_release(taper_archive_writer *writer)
{
    if (writer == NULL) {
        return;
    }
    taper_context *context = writer->context;
    taper_zip_writer_free(&writer->zip);
    taper_free(&context->allocator, writer->folder, writer->folder_bytes);
    taper_free(&context->allocator, writer, sizeof *writer);
    taper_context_release(context);
}

taper_status taper_archive_writer_create(taper_context *context, const char *folder, taper_save_function write,
                                         void *user, taper_archive_writer **writer, taper_error *error)
{
    TAPER_NEED_OUT(writer, error);
    TAPER_NEED(context, error);
    TAPER_NEED(write, error);
    const char *name = folder != NULL ? folder : "archive";
    const taper_allocator *allocator = &context->allocator;
    taper_archive_writer *made = taper_alloc_zeroed(allocator, sizeof *made);
    const size_t bytes = strlen(name) + 1;
    char *copy = taper_alloc(allocator, bytes);
    if (made == NULL || copy == NULL) {
        taper_free(allocator, made, sizeof *made);
        taper_free(allocator, copy, bytes);
        return taper_fail_memory(error);
    }
    memcpy(copy, name, bytes);
    taper_context_retain(context);
    *made =
        (taper_archive_writer){.context = context, .write = write, .user = user, .folder = copy, .folder_bytes = bytes};
    made->sink = (taper_sink){write_to_host, made};
    const taper_status status = taper_zip_writer_start(&made->zip, allocator, &made->sink, made->folder, error);
    if (status != TAPER_OK) {
        taper_archive_writer_release(made);
        return status;
    }
    *writer = made;
    return TAPER_OK;
}

// Fails if the archive is complete, or if an earlier call has failed.
static taper_status check(const taper_archive_writer *writer, taper_error *error)
{
    TAPER_NEED(writer, error);
    if (writer->is_finished || writer->has_failed) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   writer->is_finished ? "the archive is finished" : "the archive is incomplete: a call failed before");
    }
    return TAPER_OK;
}

static taper_status note(taper_archive_writer *writer, taper_status status)
{
    writer->has_failed |= status != TAPER_OK;
    return status;
}

taper_status taper_archive_writer_record(taper_archive_writer *writer, const char *name, const void *data, size_t size,
                                         taper_error *error)
{
    TAPER_TRY(check(writer, error));
    TAPER_NEED(name, error);
    TAPER_NEED_ARRAY(data, size, error);
    return note(writer, taper_zip_write(&writer->zip, name, strlen(name), data, size, error));
}

taper_status taper_archive_writer_finish(taper_archive_writer *writer, taper_error *error)
{
    TAPER_TRY(check(writer, error));
    writer->is_finished = true;
    return note(writer, taper_zip_writer_finish(&writer->zip, error));
}

// ---- writing values as pickles

// The storages of a pickle. The key of a storage is its number in this list.
typedef struct storages {
    const taper_allocator *allocator;
    taper_storage **items; // storages, borrowed from the value that is pickled
    size_t count, capacity;
    taper_pointer_map indexes;        // maps each storage to its index in `items`
    const taper_saved_states *states; // states of objects with a __setstate__, or NULL if none were collected
} storages;

static taper_status key_of(void *user, taper_storage *storage, char key[TAPER_PICKLE_KEY], taper_error *error)
{
    storages *s = user;
    const size_t *known = taper_pointer_find(&s->indexes, storage);
    const size_t number = known != NULL ? *known : s->count;
    if (known == NULL) {
        TAPER_TRY(TAPER_GROW(s->allocator, s->items, s->capacity, s->count + 1, error));
        TAPER_TRY(taper_pointer_add(s->allocator, &s->indexes, storage, number, error));
        s->items[s->count++] = storage;
    }
    (void)snprintf(key, TAPER_PICKLE_KEY, "%zu", number);
    return TAPER_OK;
}

static taper_status state_of(void *user, const taper_object *object, taper_saved_as *as, taper_val *value,
                             taper_error *error)
{
    const storages *s = user;
    return taper_saved_states_find(s->states, object, as, value, error);
}

static taper_status write_storages(taper_archive_writer *writer, const char *name, const storages *s,
                                   taper_error *error)
{
    taper_text record = taper_text_make(s->allocator);
    taper_status status = TAPER_OK;
    for (size_t i = 0; status == TAPER_OK && i < s->count; i++) {
        record.length = 0;
        taper_text_format(&record, "%s/%zu", name, i);
        status = record.failed ? taper_fail_memory(error)
                               : taper_zip_write_storage(&writer->zip, record.data, record.length, s->items[i], error);
    }
    taper_text_free(&record);
    return status;
}

static taper_status write_value(taper_archive_writer *writer, const char *name, taper_val value,
                                const taper_saved_states *states, taper_error *error)
{
    const taper_allocator *allocator = &writer->context->allocator;
    storages s = {.allocator = allocator, .states = states};
    const taper_pickle_saver saver = {.user = &s, .storage = key_of, .state = states != NULL ? state_of : NULL};
    taper_text record = taper_text_make(allocator);
    taper_text_format(&record, "%s.pkl", name);
    if (record.failed) {
        taper_text_free(&record);
        return taper_fail_memory(error);
    }
    taper_pickler p;
    taper_pickler_start(&p, allocator, &saver, record.data, error);
    taper_status status = taper_pickler_value(&p, value, 0);
    status = status == TAPER_OK ? taper_pickler_finish(&p) : status;
    status = status == TAPER_OK ? write_storages(writer, name, &s, error) : status;
    if (status == TAPER_OK) {
        status = taper_zip_write(&writer->zip, record.data, record.length, p.bytes.data, p.bytes.size, error);
    }
    taper_pickler_free(&p);
    taper_text_free(&record);
    taper_free(allocator, s.items, s.capacity * sizeof *s.items);
    taper_pointer_free(allocator, &s.indexes);
    return status;
}

taper_status taper_archive_writer_value(taper_archive_writer *writer, const char *name, const taper_value *value,
                                        taper_error *error)
{
    TAPER_TRY(check(writer, error));
    TAPER_NEED(name, error);
    TAPER_NEED(value, error);
    return note(writer, write_value(writer, name, value->val, NULL, error));
}

static taper_status write_session(taper_archive_writer *writer, const char *name, taper_session *session,
                                  const char *path, taper_error *error)
{
    taper_val value;
    taper_saved_states states;
    TAPER_TRY(taper_session_at(session, path, &value, error));
    taper_status status = taper_saved_states_collect(session, &states, error);
    if (status == TAPER_OK) {
        status = note(writer, write_value(writer, name, value, &states, error));
    }
    taper_saved_states_free(&states);
    return status;
}

taper_status taper_archive_writer_session(taper_archive_writer *writer, const char *name, taper_session *session,
                                          const char *path, taper_error *error)
{
    TAPER_TRY(check(writer, error));
    TAPER_NEED(name, error);
    TAPER_NEED(session, error);
    TAPER_NEED(path, error);
    TAPER_TRY(taper_session_enter(session, error));
    const taper_status status = write_session(writer, name, session, path, error);
    taper_session_leave(session);
    return status;
}

taper_status taper_value_pickle(taper_context *context, const taper_value *value, taper_save_function write, void *user,
                                taper_error *error)
{
    TAPER_NEED(context, error);
    TAPER_NEED(value, error);
    TAPER_NEED(write, error);
    const taper_pickle_saver saver = {.user = NULL};
    taper_pickler p;
    taper_pickler_start(&p, &context->allocator, &saver, "the pickle", error);
    taper_status status = taper_pickler_value(&p, value->val, 0);
    status = status == TAPER_OK ? taper_pickler_finish(&p) : status;
    if (status == TAPER_OK && write(user, p.bytes.data, p.bytes.size) != 0) {
        status = taper_fail(error, TAPER_ERROR_FILE, "the pickle could not be written");
    }
    taper_pickler_free(&p);
    return status;
}

taper_status taper_value_object(taper_context *context, const char *class_name, const char *const *names,
                                taper_value *const *values, size_t count, taper_value **value, taper_error *error)
{
    TAPER_TRY(taper_check_inputs(value, "value", values, "values", count, error));
    TAPER_NEED(context, error);
    TAPER_NEED(class_name, error);
    TAPER_TRY(taper_check_items(names, "names", count, error));
    const taper_class *klass = taper_types_class(context->types, class_name, count, names);
    taper_object *object = klass != NULL ? taper_object_new(context->heap, klass, count) : NULL;
    if (object == NULL) {
        return taper_fail_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        object->slots[i] = taper_val_retain(values[i]->val);
    }
    *value = taper_box_new(context->heap, TAPER_VAL(object));
    if (*value == NULL) {
        taper_obj_release(&object->head.head);
        return taper_fail_memory(error);
    }
    return TAPER_OK;
}
