// SPDX-License-Identifier: BSD-2-Clause
// Reads archives and pickles for hosts (taper_archive.h). A reader is a module without functions: its heap owns the
// values, and the archive's bounds-checked readers do the work.
#include <taper/taper_archive.h>

#include "base/arguments.h"
#include "base/budget.h"
#include "format/archive.h"
#include "runtime/model.h"

struct taper_archive_reader {
    taper_context *context;
    taper_budget *budget;
    taper_module module;
    taper_archive archive;
    bool is_open;
    taper_record *records; // records that the host has read, by the index of their entry; NULL before the first read
};

// ---- opening

// Makes a reader without an archive. Its allocator has the limits of a load of a file of `bytes` bytes.
static taper_status begin(taper_context *context, uint64_t bytes, taper_archive_reader **reader, taper_error *error)
{
    taper_types *types;
    taper_archive_reader *made = *reader = taper_alloc_zeroed(&context->allocator, sizeof *made);
    if (made == NULL) {
        return taper_fail_memory(error);
    }
    taper_context_retain(context);
    made->context = context;
    TAPER_TRY(taper_budget_create(&context->allocator, bytes, 0, 0, &made->budget, error));
    const taper_allocator *allocator = taper_budget_allocator(made->budget);
    TAPER_TRY(taper_types_create(allocator, &types, error));
    const taper_status status = taper_module_init(allocator, types, &made->module, error);
    taper_types_release(types);
    return status;
}

// Opens the archive in a blob. Takes over the reference to the blob.
static taper_status open_blob(taper_context *context, taper_blob *blob, taper_archive_reader **reader,
                              taper_error *error)
{
    taper_archive_reader *made;
    taper_status status = begin(context, blob->size, &made, error);
    if (status == TAPER_OK) {
        made->module.blob = &blob->head;
        taper_obj_retain(&blob->head);
        status = taper_archive_open(blob, &made->module, &made->archive, error);
        made->is_open = status == TAPER_OK;
        status = taper_budget_explain(made->budget, status, error);
    }
    taper_obj_release(&blob->head);
    if (status != TAPER_OK) {
        taper_archive_reader_release(made);
        return status;
    }
    *reader = made;
    return TAPER_OK;
}

taper_status taper_archive_reader_open(taper_context *context, const char *path, taper_archive_reader **reader,
                                       taper_error *error)
{
    int fd;
    taper_mapping mapping;
    taper_blob *blob;
    TAPER_NEED_OUT(reader, error);
    TAPER_NEED(context, error);
    TAPER_NEED(path, error);
    TAPER_TRY(taper_open_file(path, &fd, error));
    const taper_status status = taper_map_fd(fd, 0, 0, &mapping, error);
    taper_close_file(fd);
    TAPER_TRY(status);
    TAPER_TRY(taper_blob_from_mapping(&context->allocator, &mapping, &blob, error));
    return open_blob(context, blob, reader, error);
}

taper_status taper_archive_reader_open_memory(taper_context *context, const void *bytes, size_t size,
                                              void (*release)(void *user), void *user, taper_archive_reader **reader,
                                              taper_error *error)
{
    taper_blob *blob;
    TAPER_NEED_OUT(reader, error);
    TAPER_NEED(context, error);
    TAPER_NEED_ARRAY(bytes, size, error);
    TAPER_TRY(taper_blob_from_memory(&context->allocator, bytes, size, NULL, NULL, &blob, error));
    TAPER_TRY(open_blob(context, blob, reader, error));
    blob->release = release; // `release` is set only here, because after a failure the host keeps its memory
    blob->user = user;
    return TAPER_OK;
}

taper_status taper_archive_reader_open_model(taper_model *model, taper_archive_reader **reader, taper_error *error)
{
    TAPER_NEED_OUT(reader, error);
    TAPER_NEED(model, error);
    if (model->module.blob == NULL || model->module.flatbuffer) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "the model was not loaded from an archive");
    }
    taper_obj_retain(model->module.blob);
    return open_blob(model->context, (taper_blob *)model->module.blob, reader, error);
}

void taper_archive_reader_release(taper_archive_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    taper_context *context = reader->context;
    taper_budget *budget = reader->budget;
    if (reader->is_open) {
        const size_t count = reader->archive.zip.count;
        for (size_t i = 0; reader->records != NULL && i < count; i++) {
            taper_record_free(&reader->archive.zip, &reader->records[i]);
        }
        taper_free(reader->module.allocator, reader->records, count * sizeof *reader->records);
        taper_archive_close(&reader->archive);
    }
    taper_module_free(&reader->module);
    taper_free(&context->allocator, reader, sizeof *reader);
    taper_budget_release(budget);
    taper_context_release(context);
}

// ---- records

size_t taper_archive_reader_count(const taper_archive_reader *reader)
{
    return reader != NULL ? reader->archive.zip.count : 0;
}

const char *taper_archive_reader_name(const taper_archive_reader *reader, size_t index, size_t *length)
{
    if (index >= taper_archive_reader_count(reader) || length == NULL) {
        return NULL;
    }
    *length = reader->archive.zip.entries[index].name_length;
    return reader->archive.zip.entries[index].name;
}

static taper_status read_record(taper_archive_reader *reader, size_t index, taper_error *error)
{
    taper_zip *zip = &reader->archive.zip;
    if (reader->records == NULL) {
        reader->records = taper_alloc_zeroed(reader->module.allocator, zip->count * sizeof *reader->records);
        if (reader->records == NULL) {
            return taper_fail_memory(error);
        }
    }
    return reader->records[index].data != NULL
               ? TAPER_OK
               : taper_zip_read(zip, &zip->entries[index], &reader->records[index], error);
}

taper_status taper_archive_reader_record(taper_archive_reader *reader, size_t index, const void **data, size_t *size,
                                         taper_error *error)
{
    TAPER_NEED_OUT(data, error);
    TAPER_NEED(size, error);
    TAPER_NEED(reader, error);
    if (index >= taper_archive_reader_count(reader)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "there is no record %zu", index);
    }
    TAPER_TRY(taper_budget_explain(reader->budget, read_record(reader, index, error), error));
    *data = reader->records[index].data;
    *size = reader->records[index].size;
    return TAPER_OK;
}

// ---- reading values from pickles

// Takes over the reference to `val`.
static taper_status box(taper_heap *heap, taper_val val, taper_value **value, taper_error *error)
{
    *value = taper_box_new(heap, val);
    if (*value == NULL) {
        taper_val_release(val);
        return taper_fail_memory(error);
    }
    return TAPER_OK;
}

static taper_status read_value(taper_archive_reader *reader, const char *name, taper_value **value, taper_error *error)
{
    char record[TAPER_LIMIT_RECORD_NAME], folder[TAPER_LIMIT_RECORD_NAME];
    const size_t length = strlen(name);
    if (length == 0 || length + sizeof ".pkl" > sizeof record) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "\"%.100s\" is no name of a pickle", name);
    }
    memcpy(record, name, length);
    memcpy(record + length, ".pkl", sizeof ".pkl");
    memcpy(folder, name, length);
    memcpy(folder + length, "/", sizeof "/");
    taper_val val;
    TAPER_TRY(taper_archive_read_pickle(&reader->archive, record, folder, NULL, &val, error));
    return box(reader->module.heap, val, value, error);
}

taper_status taper_archive_reader_value(taper_archive_reader *reader, const char *name, taper_value **value,
                                        taper_error *error)
{
    TAPER_NEED_OUT(value, error);
    TAPER_NEED(reader, error);
    TAPER_NEED(name, error);
    return taper_budget_explain(reader->budget, read_value(reader, name, value, error), error);
}

taper_status taper_value_unpickle(taper_context *context, const void *bytes, size_t size, taper_value **value,
                                  taper_error *error)
{
    taper_archive_reader *reader;
    taper_type_scope *scope = NULL;
    TAPER_NEED_OUT(value, error);
    TAPER_NEED(context, error);
    TAPER_NEED_ARRAY(bytes, size, error);
    taper_status status = begin(context, size, &reader, error);
    if (status == TAPER_OK) {
        status = taper_type_scope_create(reader->module.allocator, &scope, error);
    }
    if (status == TAPER_OK) {
        const taper_pickle_source source = {.data = bytes, .size = size, .name = "the pickle"};
        const taper_pickle_host host = {.user = NULL};
        taper_val val;
        status = taper_pickle_read(reader->module.heap, scope, &host, &source, &val, error);
        status = status == TAPER_OK ? box(reader->module.heap, val, value, error) : status;
        status = taper_budget_explain(reader->budget, status, error);
    }
    taper_type_scope_destroy(scope);
    taper_archive_reader_release(reader);
    return status;
}
