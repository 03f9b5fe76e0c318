// SPDX-License-Identifier: BSD-2-Clause
// Reads TorchScript archives.
#include "format/script_archive.h"

static bool is_source(const taper_zip_entry *entry)
{
    static const char folder[] = "code/", suffix[] = ".py";
    const size_t before = sizeof folder - 1, behind = sizeof suffix - 1;
    return entry->name_length > before + behind && entry->name_length < TAPER_LIMIT_RECORD_NAME &&
           memcmp(entry->name, folder, before) == 0 &&
           memcmp(entry->name + entry->name_length - behind, suffix, behind) == 0 &&
           memchr(entry->name, '\0', entry->name_length) == NULL;
}

static taper_status read_source(taper_archive *a, const taper_zip_entry *entry, taper_module_source *source,
                                taper_error *error)
{
    taper_record record;
    TAPER_TRY(taper_zip_read(&a->zip, entry, &record, error));
    source->name = taper_arena_string(&a->module->arena, entry->name, entry->name_length);
    source->text = taper_arena_string(&a->module->arena, (const char *)record.data, record.size);
    source->length = record.size;
    taper_record_free(&a->zip, &record);
    return source->name == NULL || source->text == NULL ? taper_fail_memory(error) : TAPER_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const taper_module_source *)a)->name, ((const taper_module_source *)b)->name);
}

static taper_status read_sources(taper_archive *a, taper_error *error)
{
    taper_module *module = a->module;
    size_t count = 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < a->zip.count; i++) {
        if (is_source(&a->zip.entries[i])) {
            count++;
            bytes += taper_min_size((size_t)a->zip.entries[i].size, TAPER_LIMIT_SOURCE_BYTES + 1);
        }
    }
    if (bytes > TAPER_LIMIT_SOURCE_BYTES) {
        TAPER_FAIL(error, TAPER_ERROR_RESOURCE, "the TorchScript sources of the archive take more than %zu bytes",
                   TAPER_LIMIT_SOURCE_BYTES);
    }
    module->sources = taper_arena_array(&module->arena, count, sizeof *module->sources);
    if (module->sources == NULL) {
        return taper_fail_memory(error);
    }
    for (size_t i = 0; i < a->zip.count; i++) {
        const taper_zip_entry *entry = &a->zip.entries[i];
        if (is_source(entry) && taper_zip_find(&a->zip, entry->name, entry->name_length) == entry) {
            TAPER_TRY(read_source(a, entry, &module->sources[module->source_count], error));
            module->source_count++;
        }
    }
    return taper_sort(module->allocator, module->sources, module->source_count, sizeof *module->sources, by_name,
                      error);
}

taper_status taper_script_archive_read(taper_archive *archive, taper_error *error)
{
    TAPER_TRY(taper_archive_read_version(archive, error));
    TAPER_TRY(taper_archive_read_extras(archive, "extra/", error));
    return read_sources(archive, error);
}

taper_status taper_script_archive_constants(taper_archive *archive, const taper_class_host *classes,
                                            taper_val *constants, taper_error *error)
{
    static const char name[] = "constants.pkl";
    if (taper_archive_find(archive, name) == NULL) {
        taper_tuple *none = taper_tuple_new(archive->module->heap, NULL, 0);
        if (none == NULL) {
            return taper_fail_memory(error);
        }
        *constants = TAPER_VAL(none);
        return TAPER_OK;
    }
    TAPER_TRY(taper_archive_read_pickle(archive, name, "constants/", classes, constants, error));
    if (constants->tag == TAPER_TUPLE) {
        return TAPER_OK;
    }
    const taper_status status = taper_fail(error, TAPER_ERROR_FILE, "constants.pkl holds a %s instead of a tuple",
                                           taper_val_kind_name(*constants));
    taper_val_release(*constants);
    *constants = taper_val_none();
    return status;
}
