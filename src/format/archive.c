// SPDX-License-Identifier: BSD-2-Clause
// Reads the parts that all kinds of model archives share: storages, pickles, the version and extra files.
#include "format/archive.h"

#include "ir/storage.h"

enum { NEWEST_VERSION = 10, LARGEST_EXTRA = 16 << 20 };

// ---- storages

static taper_status make_storage(taper_archive *a, const taper_zip_entry *entry, size_t alignment,
                                 taper_storage **storage, taper_error *error)
{
    const uint8_t *packed;
    uint64_t offset;
    TAPER_TRY(taper_zip_check(&a->zip, entry, error));
    TAPER_TRY(taper_zip_locate(&a->zip, entry, &packed, &offset, error));
    if (entry->method == 0 && (uintptr_t)packed % alignment == 0) {
        return taper_storage_borrow(a->module->heap, taper_blob_kind(a->blob), packed, (size_t)entry->size,
                                    &a->blob->head, storage, error);
    }
    TAPER_TRY(taper_storage_new(a->module->heap, (size_t)entry->size, storage, error));
    const taper_status status = taper_zip_extract(&a->zip, entry, (*storage)->data, error);
    if (status != TAPER_OK) {
        taper_obj_release(&(*storage)->head);
        *storage = NULL;
    }
    return status;
}

// Converts a storage of four-bit elements to bytes, because no code after the readers supports dtypes smaller than a
// byte. Each byte with two elements becomes two bytes; the element in the lower bits is first.
static taper_status widen_storage(taper_archive *a, taper_storage **storage, taper_error *error)
{
    taper_storage *packed = *storage, *wide;
    size_t bytes;
    if (!taper_mul_size(packed->bytes, 2, &bytes)) {
        return taper_fail_memory(error);
    }
    TAPER_TRY(taper_storage_new(a->module->heap, bytes, &wide, error));
    const uint8_t *from = packed->data;
    uint8_t *to = wide->data;
    for (size_t i = 0; i < packed->bytes; i++) {
        to[2 * i] = from[i] & 15;
        to[2 * i + 1] = from[i] >> 4;
    }
    taper_obj_release(&packed->head);
    *storage = wide;
    return TAPER_OK;
}

taper_status taper_archive_storage(taper_archive *a, const taper_zip_entry *entry, taper_dtype dtype,
                                   taper_storage **storage, taper_error *error)
{
    const size_t alignment = taper_min_size(taper_max_size(taper_dtype_size(dtype), 1), 8);
    taper_storage **cell = &a->storages[entry - a->zip.entries];
    // An earlier tensor read this storage with a smaller dtype, so the address of the storage may not be aligned for
    // this dtype.
    if (*cell != NULL && (uintptr_t)(*cell)->data % alignment != 0) {
        taper_obj_release(&(*cell)->head);
        *cell = NULL;
    }
    if (*cell == NULL) {
        TAPER_TRY(make_storage(a, entry, alignment, cell, error));
        if (dtype == TAPER_QU4X2) {
            TAPER_TRY(widen_storage(a, cell, error));
        }
    }
    taper_obj_retain(&(*cell)->head);
    *storage = *cell;
    return TAPER_OK;
}

static taper_status get_storage(void *user, const char *key, size_t length, taper_dtype dtype, int64_t numel,
                                taper_storage **storage, taper_error *error)
{
    taper_archive *a = user;
    char name[TAPER_LIMIT_RECORD_NAME];
    const size_t folder = strlen(a->folder);
    const taper_zip_entry *entry = NULL;
    if (length < sizeof name - folder) {
        memcpy(name, a->folder, folder);
        memcpy(name + folder, key, length);
        entry = taper_zip_find(&a->zip, name, folder + length);
    }
    if (entry == NULL) {
        return taper_fail(error, TAPER_ERROR_FILE, "the archive lacks the tensor data in record %s%.*s", a->folder,
                          (int)taper_min_size(length, 100), key);
    }
    // Elements smaller than a byte count as one byte here.
    const size_t item = taper_max_size(taper_dtype_size(dtype), 1);
    int64_t bytes;
    if (!taper_mul_i64(numel, (int64_t)item, &bytes) || (uint64_t)bytes > entry->size) {
        return taper_fail_at(error, TAPER_ERROR_FILE, (int64_t)entry->header,
                             "record %.*s of %llu bytes is too small for %lld elements of dtype %s",
                             (int)entry->name_length, entry->name, (unsigned long long)entry->size, (long long)numel,
                             taper_dtype_name(dtype));
    }
    return taper_archive_storage(a, entry, dtype, storage, error);
}

// ---- pickles

taper_status taper_archive_set_pending(taper_archive *a, taper_object *object, taper_val state, taper_error *error)
{
    const taper_status status =
        TAPER_GROW(a->module->allocator, a->pending, a->pending_capacity, a->pending_count + 1, error);
    if (status != TAPER_OK) {
        taper_val_release(state);
        return status;
    }
    taper_obj_retain(&object->head.head);
    a->pending[a->pending_count++] = (taper_module_pending){.object = object, .state = state};
    return TAPER_OK;
}

taper_status taper_archive_read_pickle(taper_archive *a, const char *name, const char *folder,
                                       const taper_class_host *classes, taper_val *value, taper_error *error)
{
    const taper_zip_entry *entry = taper_archive_find(a, name);
    if (entry == NULL) {
        return taper_fail(error, TAPER_ERROR_FILE,
                          "the archive lacks the record %s: it is not complete; save the model again", name);
    }
    taper_record record;
    TAPER_TRY(taper_zip_read(&a->zip, entry, &record, error));
    a->folder = folder;
    const taper_pickle_host host = {
        .user = a, .storage = folder != NULL ? get_storage : NULL, .classes = folder != NULL ? classes : NULL};
    const taper_pickle_source source = {
        .data = record.data, .size = record.size, .offset = record.offset, .name = name};
    const taper_status status = taper_pickle_read(a->module->heap, a->scope, &host, &source, value, error);
    taper_record_free(&a->zip, &record);
    return status;
}

taper_status taper_archive_read_root(taper_archive *a, const taper_class_host *classes, taper_error *error)
{
    TAPER_TRY(taper_archive_read_pickle(a, "data.pkl", "data/", classes, &a->module->root, error));
    if (a->module->root.tag != TAPER_OBJECT) {
        return taper_fail(error, TAPER_ERROR_FILE, "data.pkl holds a %s instead of a module",
                          taper_val_kind_name(a->module->root));
    }
    a->module->pending = taper_arena_array(&a->module->arena, a->pending_count, sizeof *a->pending);
    if (a->module->pending == NULL) {
        return taper_fail_memory(error);
    }
    if (a->pending_count != 0) {
        memcpy(a->module->pending, a->pending, a->pending_count * sizeof *a->pending);
    }
    a->module->pending_count = a->pending_count;
    a->pending_count = 0;
    return TAPER_OK;
}

// ---- version, byte order, extra files

static taper_status read_version(taper_archive *a, taper_error *error)
{
    const taper_zip_entry *entry = taper_archive_find(a, ".data/version");
    if (entry == NULL) {
        entry = taper_archive_find(a, "version");
    }
    if (entry == NULL) {
        return taper_fail(error, TAPER_ERROR_FILE,
                          "the archive lacks the record version: it is not complete; save the model again");
    }
    taper_record record;
    TAPER_TRY(taper_zip_read(&a->zip, entry, &record, error));
    int64_t version = 0;
    size_t i = 0;
    while (i < record.size && i < 9 && record.data[i] >= '0' && record.data[i] <= '9') {
        version = 10 * version + (record.data[i++] - '0');
    }
    taper_status status = TAPER_OK;
    if (i == 0 || version == 0) {
        status = taper_fail_at(error, TAPER_ERROR_FILE, (int64_t)record.offset,
                               "the archive's version record holds no version number");
    } else if (version > NEWEST_VERSION) {
        status = taper_fail_at(error, TAPER_ERROR_UNSUPPORTED, (int64_t)record.offset,
                               "archive version %lld was written by a newer PyTorch: versions up to %d are supported",
                               (long long)version, NEWEST_VERSION);
    }
    a->module->operator_version = version;
    taper_record_free(&a->zip, &record);
    return status;
}

static taper_status check_byte_order(taper_archive *a, taper_error *error)
{
    const taper_zip_entry *entry = taper_archive_find(a, "byteorder");
    if (entry == NULL) {
        return TAPER_OK;
    }
    taper_record record;
    TAPER_TRY(taper_zip_read(&a->zip, entry, &record, error));
    taper_status status = TAPER_OK;
    if (record.size < 6 || memcmp(record.data, "little", 6) != 0) {
        status = taper_fail_at(error, TAPER_ERROR_UNSUPPORTED, (int64_t)record.offset,
                               "the model was saved on a big-endian machine: only little-endian files are supported");
    }
    taper_record_free(&a->zip, &record);
    return status;
}

taper_status taper_archive_read_version(taper_archive *a, taper_error *error)
{
    TAPER_TRY(read_version(a, error));
    return check_byte_order(a, error);
}

// Reads an extra file. A file that is too large or damaged has no data afterwards; this is not an error, because only
// code that asks for the file needs it.
static taper_status read_extra(taper_archive *a, const taper_zip_entry *entry, taper_module_extra *extra,
                               taper_error *error)
{
    const uint8_t *packed;
    uint64_t offset;
    extra->data = NULL;
    extra->size = (size_t)entry->size;
    if (taper_zip_check(&a->zip, entry, NULL) != TAPER_OK ||
        taper_zip_locate(&a->zip, entry, &packed, &offset, NULL) != TAPER_OK) {
        return TAPER_OK;
    }
    if (entry->method == 0) {
        extra->data = packed;
    } else if (entry->size <= LARGEST_EXTRA) {
        void *data = taper_arena_alloc(&a->module->arena, (size_t)entry->size);
        if (data == NULL) {
            return taper_fail_memory(error);
        }
        if (taper_zip_extract(&a->zip, entry, data, NULL) == TAPER_OK) {
            extra->data = data;
        }
    }
    return TAPER_OK;
}

taper_status taper_archive_read_extras(taper_archive *a, const char *folder, taper_error *error)
{
    const size_t length = strlen(folder);
    size_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < a->zip.count; i++) {
            const taper_zip_entry *entry = &a->zip.entries[i];
            if (entry->name_length <= length || memcmp(entry->name, folder, length) != 0 ||
                taper_zip_find(&a->zip, entry->name, entry->name_length) != entry) {
                continue;
            }
            if (pass == 0) {
                count++;
                continue;
            }
            taper_module_extra *extra = &a->module->extras[a->module->extra_count];
            extra->name = taper_arena_string(&a->module->arena, entry->name + length, entry->name_length - length);
            if (extra->name == NULL) {
                return taper_fail_memory(error);
            }
            TAPER_TRY(read_extra(a, entry, extra, error));
            a->module->extra_count++;
        }
        if (pass == 0) {
            a->module->extras = taper_arena_array(&a->module->arena, count, sizeof *a->module->extras);
            if (a->module->extras == NULL) {
                return taper_fail_memory(error);
            }
        }
    }
    return taper_module_sort_extras(a->module, error);
}

taper_status taper_archive_open(taper_blob *blob, taper_module *module, taper_archive *archive, taper_error *error)
{
    return taper_archive_open_part(blob, blob->data, blob->size, module, archive, error);
}

taper_status taper_archive_open_part(taper_blob *blob, const void *data, size_t size, taper_module *module,
                                     taper_archive *archive, taper_error *error)
{
    *archive = (taper_archive){.module = module, .blob = blob};
    TAPER_TRY(taper_zip_open(module->allocator, data, size, &archive->zip, error));
    taper_status status = taper_type_scope_create(module->allocator, &archive->scope, error);
    if (status == TAPER_OK) {
        archive->storages = taper_alloc_zeroed(module->allocator, archive->zip.count * sizeof *archive->storages);
        status = archive->storages == NULL && archive->zip.count != 0 ? taper_fail_memory(error) : TAPER_OK;
    }
    if (status != TAPER_OK) {
        taper_archive_close(archive);
    }
    return status;
}

void taper_archive_close(taper_archive *a)
{
    const taper_allocator *allocator = a->module->allocator;
    for (size_t i = 0; a->storages != NULL && i < a->zip.count; i++) {
        if (a->storages[i] != NULL) {
            taper_obj_release(&a->storages[i]->head);
        }
    }
    taper_free(allocator, a->storages, a->zip.count * sizeof *a->storages);
    for (size_t i = 0; i < a->pending_count; i++) {
        taper_obj_release(&a->pending[i].object->head.head);
        taper_val_release(a->pending[i].state);
    }
    taper_free(allocator, a->pending, a->pending_capacity * sizeof *a->pending);
    taper_type_scope_destroy(a->scope);
    taper_zip_close(&a->zip);
    taper_heap_trim(a->module->heap);
}
