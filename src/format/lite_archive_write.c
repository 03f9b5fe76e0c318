// SPDX-License-Identifier: BSD-2-Clause
// Writes a lite module into a zip archive, record by record in PyTorch's order:
//   extra/NAME            extra files
//   data/K, data.pkl      storages of the module object, then the object
//   code/…                the TorchScript sources, copied from the file the module was read from
//   constants/K           storages of constants.pkl, copied with it, and of bytecode.pkl ("bytecode/K" in version 4)
//   constants.pkl         the CONSTANTS of the sources; an empty tuple without sources
//   bytecode.pkl          the functions
//   mobile_debug_handles.pkl, delegated_backends.debug_pkl, callstack_debug_map.pkl (and code/….debug_pkl)
//   version
// A pickle is kept in memory until its storages, which it names, are written.
#include <stdio.h>

#include "format/lite_bytecode_write.h"
#include "format/lite_callstack_write.h"
#include "format/zip_write.h"

enum { OWN_FOLDER_UNTIL = 4, NAMED_VERSION_FROM = 6 };

// A storage of a pickle. record: a copied record that already contains it, or NULL if the storage must be written.
typedef struct kept_storage {
    taper_storage *storage;
    const taper_zip_entry *record;
    size_t number;
} kept_storage;

typedef struct storages {
    kept_storage *items; // storages in the order in which they were found
    size_t count, capacity;
    size_t next;               // number for the name of the next record
    taper_pointer_map indexes; // maps each storage to its index in `items`
    const char *folder;        // folder of the records, such as "data/"
    const char *suffix;        // suffix of the names of the records in `folder`
} storages;

typedef struct writer {
    const taper_module *module;
    const taper_write_options *options;
    const taper_allocator *allocator;
    int version;
    taper_zip_writer zip;
    taper_zip source; // archive from which the module was read, if records will be copied from it
    bool has_source, has_code;
    taper_set_states states;
    storages data, constants;
    taper_pointer_map copied; // maps the address of each copied record of constants/ to its entry's number in `source`
    taper_error *error;
} writer;

static bool starts_with(const taper_zip_entry *entry, const char *text)
{
    const size_t length = strlen(text);
    return entry->name_length > length && memcmp(entry->name, text, length) == 0;
}

static bool ends_with(const taper_zip_entry *entry, const char *text)
{
    const size_t length = strlen(text);
    return entry->name_length >= length && memcmp(entry->name + entry->name_length - length, text, length) == 0;
}

static const taper_zip_entry *find(const writer *w, const char *name)
{
    return w->has_source ? taper_zip_find(&w->source, name, strlen(name)) : NULL;
}

static taper_status write_record(writer *w, const char *name, const void *data, size_t size)
{
    return taper_zip_write(&w->zip, name, strlen(name), data, size, w->error);
}

// ---- the archive that the module came from

static int64_t code_version(const writer *w)
{
    return w->options->code_version != 0 ? w->options->code_version : w->module->operator_version;
}

static taper_status open_source(writer *w)
{
    const taper_blob *blob = (const taper_blob *)w->module->blob;
    if (blob == NULL || w->module->flatbuffer) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_zip_open(w->allocator, blob->data, blob->size, &w->source, w->error));
    w->has_source = true;
    const bool wanted =
        !w->options->without_code && taper_write_same_meaning(code_version(w), taper_write_operator_version(w->module));
    for (size_t i = 0; i < w->source.count && wanted && !w->has_code; i++) {
        w->has_code = starts_with(&w->source.entries[i], "code/");
    }
    return TAPER_OK;
}

// Copies all records of a folder whose names end with the suffix. If several records have the same name, copies the
// last of them.
static taper_status copy_folder(writer *w, const char *folder, const char *suffix)
{
    for (size_t i = 0; i < w->source.count; i++) {
        const taper_zip_entry *entry = &w->source.entries[i];
        if (starts_with(entry, folder) && ends_with(entry, suffix) &&
            taper_zip_find(&w->source, entry->name, entry->name_length) == entry) {
            TAPER_TRY(taper_zip_copy(&w->zip, &w->source, entry, w->error));
        }
    }
    return TAPER_OK;
}

static taper_status copy_record(writer *w, const char *name)
{
    const taper_zip_entry *entry = find(w, name);
    return entry != NULL ? taper_zip_copy(&w->zip, &w->source, entry, w->error) : TAPER_OK;
}

// Records which entries of constants/ are copied, so that a storage of bytecode.pkl whose bytes are in such an entry is
// not written again.
static taper_status remember_constants(writer *w)
{
    for (size_t i = 0; i < w->source.count; i++) {
        const taper_zip_entry *entry = &w->source.entries[i];
        const uint8_t *data;
        uint64_t offset;
        if (starts_with(entry, "constants/") && entry->method == 0 && entry->size != 0 &&
            taper_zip_find(&w->source, entry->name, entry->name_length) == entry &&
            taper_zip_locate(&w->source, entry, &data, &offset, NULL) == TAPER_OK &&
            taper_pointer_find(&w->copied, data) == NULL) {
            TAPER_TRY(taper_pointer_add(w->allocator, &w->copied, data, i, w->error));
        }
    }
    return TAPER_OK;
}

// Returns the copied record that contains this storage, or NULL if no copied record contains it. Each record is
// returned only once: two equal storages must remain two.
static const taper_zip_entry *take_copied(writer *w, const taper_storage *storage)
{
    const size_t folder = strlen(w->constants.folder);
    size_t *number =
        storage->read_only && storage->owner == w->module->blob ? taper_pointer_find(&w->copied, storage->data) : NULL;
    if (number == NULL || *number == SIZE_MAX) {
        return NULL;
    }
    const taper_zip_entry *entry = &w->source.entries[*number];
    if (entry->size != storage->bytes || entry->name_length - folder >= TAPER_PICKLE_KEY) {
        return NULL;
    }
    *number = SIZE_MAX;
    return entry;
}

// ---- storages

static void make_key(const storages *s, const kept_storage *item, char key[TAPER_PICKLE_KEY])
{
    if (item->record != NULL) {
        const size_t folder = strlen(s->folder), length = item->record->name_length - folder;
        memcpy(key, item->record->name + folder, length);
        key[length] = '\0';
    } else {
        (void)snprintf(key, TAPER_PICKLE_KEY, "%zu%s", item->number, s->suffix);
    }
}

// Returns true if a copied record has the name that a record with this key would get.
static bool is_taken(const writer *w, const storages *s, const char *key)
{
    if (!w->has_code || s != &w->constants || w->version <= OWN_FOLDER_UNTIL) {
        return false;
    }
    char name[TAPER_PICKLE_KEY + 16];
    (void)snprintf(name, sizeof name, "%s%s", s->folder, key);
    return find(w, name) != NULL;
}

static taper_status key_of(writer *w, storages *s, taper_storage *storage, char key[TAPER_PICKLE_KEY])
{
    const size_t *known = taper_pointer_find(&s->indexes, storage);
    if (known != NULL) {
        make_key(s, &s->items[*known], key);
        return TAPER_OK;
    }
    TAPER_TRY(TAPER_GROW(w->allocator, s->items, s->capacity, s->count + 1, w->error));
    TAPER_TRY(taper_pointer_add(w->allocator, &s->indexes, storage, s->count, w->error));
    kept_storage *item = &s->items[s->count++];
    *item = (kept_storage){.storage = storage, .record = s == &w->constants ? take_copied(w, storage) : NULL};
    make_key(s, item, key);
    while (item->record == NULL) {
        item->number = s->next++;
        make_key(s, item, key);
        if (!is_taken(w, s, key)) {
            break;
        }
    }
    return TAPER_OK;
}

static taper_status data_key(void *user, taper_storage *storage, char key[TAPER_PICKLE_KEY], taper_error *error)
{
    (void)error;
    writer *w = user;
    return key_of(w, &w->data, storage, key);
}

static taper_status constant_key(void *user, taper_storage *storage, char key[TAPER_PICKLE_KEY], taper_error *error)
{
    (void)error;
    writer *w = user;
    return key_of(w, &w->constants, storage, key);
}

static taper_status write_storages(writer *w, const storages *s)
{
    for (size_t i = 0; i < s->count; i++) {
        char key[TAPER_PICKLE_KEY], name[TAPER_PICKLE_KEY + 16];
        if (s->items[i].record == NULL) {
            make_key(s, &s->items[i], key);
            (void)snprintf(name, sizeof name, "%s%s", s->folder, key);
            TAPER_TRY(taper_zip_write_storage(&w->zip, name, strlen(name), s->items[i].storage, w->error));
        }
    }
    return TAPER_OK;
}

// ---- pickles

// Ends a pickle: writes the records of its storages, then the record of the pickle.
static taper_status finish_pickle(writer *w, taper_pickler *p, taper_status status, const storages *s)
{
    status = status == TAPER_OK ? taper_pickler_finish(p) : status;
    if (status == TAPER_OK && s != NULL) {
        status = write_storages(w, s);
    }
    if (status == TAPER_OK) {
        status = write_record(w, p->name, p->bytes.data, p->bytes.size);
    }
    taper_pickler_free(p);
    return status;
}

static taper_status state_of(void *user, const taper_object *object, taper_saved_as *as, taper_val *value,
                             taper_error *error)
{
    writer *w = user;
    const taper_val *state;
    size_t function;
    TAPER_TRY(taper_set_states_find(&w->states, object, &state, &function, error));
    if (state != NULL) {
        *as = TAPER_SAVED_STATE;
        *value = *state;
    }
    return TAPER_OK;
}

// Fails for an object that needs its __setstate__, because readers do not call __setstate__ for constants in
// bytecode.pkl.
static taper_status constant_state_of(void *user, const taper_object *object, taper_saved_as *as, taper_val *value,
                                      taper_error *error)
{
    const writer *w = user;
    (void)as;
    (void)value;
    if (taper_set_states_has(&w->states, object)) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED,
                   "bytecode.pkl cannot be written: a constant of the class %.200s would need its __setstate__",
                   object->klass->name);
    }
    return TAPER_OK;
}

static taper_status write_root(writer *w)
{
    const taper_pickle_saver saver = {.user = w, .storage = data_key, .state = state_of};
    taper_pickler p;
    taper_pickler_start(&p, w->allocator, &saver, "data.pkl", w->error);
    return finish_pickle(w, &p, taper_pickler_value(&p, w->module->root, 0), &w->data);
}

// Writes constants.pkl and the storages of constants/ in order. Storages that only bytecode.pkl uses come last.
static taper_status copy_constants(writer *w)
{
    static const char name[] = "constants.pkl";
    for (size_t i = 0; i < w->source.count; i++) {
        const taper_zip_entry *entry = &w->source.entries[i];
        if ((starts_with(entry, "constants/") || (entry->name_length == sizeof name - 1 && ends_with(entry, name))) &&
            taper_zip_find(&w->source, entry->name, entry->name_length) == entry) {
            TAPER_TRY(taper_zip_copy(&w->zip, &w->source, entry, w->error));
        }
    }
    return TAPER_OK;
}

static taper_status write_code(writer *w)
{
    if (w->has_code) {
        TAPER_TRY(copy_folder(w, "code/", ""));
        TAPER_TRY(copy_constants(w));
    }
    if (!w->has_code || find(w, "constants.pkl") == NULL) {
        static const char empty[] = "\x80\x02).";
        return write_record(w, "constants.pkl", empty, sizeof empty - 1);
    }
    return TAPER_OK;
}

static taper_status write_functions(writer *w)
{
    const taper_pickle_saver saver = {.user = w, .storage = constant_key, .state = constant_state_of};
    taper_pickler p;
    if (w->has_code && w->version > OWN_FOLDER_UNTIL) {
        TAPER_TRY(remember_constants(w));
    }
    taper_pickler_start(&p, w->allocator, &saver, "bytecode.pkl", w->error);
    return finish_pickle(w, &p, taper_lite_bytecode_write(&p, w->module, w->version), &w->constants);
}

static taper_status write_debug(writer *w)
{
    if (w->options->without_debug || !taper_write_has_handles(w->module)) {
        return TAPER_OK;
    }
    const taper_pickle_saver saver = {.user = w};
    taper_pickler p;
    taper_pickler_start(&p, w->allocator, &saver, "mobile_debug_handles.pkl", w->error);
    taper_lite_handles_write(&p, w->module, w->version);
    TAPER_TRY(finish_pickle(w, &p, TAPER_OK, NULL));
    if (!w->has_code) { // the map of call stacks is useless without the sources that it refers to
        TAPER_TRY(copy_folder(w, "code/", ".debug_pkl"));
    }
    TAPER_TRY(copy_record(w, "delegated_backends.debug_pkl"));
    if (w->module->callstacks == NULL || !w->has_source) {
        return copy_record(w, "callstack_debug_map.pkl");
    }
    taper_pickler_start(&p, w->allocator, &saver, "callstack_debug_map.pkl", w->error);
    return finish_pickle(w, &p, taper_lite_callstacks_write(&p, w->module, &w->source), NULL);
}

// ---- extra files and operator version

static taper_status write_extra(writer *w, const taper_module_extra *extra)
{
    static const char folder[] = "extra/";
    const size_t length = strlen(extra->name);
    if (length == 0) {
        TAPER_FAIL(w->error, TAPER_ERROR_ARGUMENT, "an extra file without a name: an archive has none");
    }
    taper_text name = taper_text_make(w->allocator);
    taper_text_string(&name, folder);
    taper_text_append(&name, extra->name, length);
    taper_status status;
    if (name.failed) {
        status = taper_fail_memory(w->error);
    } else if (extra->data != NULL) {
        status = taper_zip_write(&w->zip, name.data, name.length, extra->data, extra->size, w->error);
    } else { // the extra file was compressed and has not been unpacked
        const taper_zip_entry *entry = w->has_source ? taper_zip_find(&w->source, name.data, name.length) : NULL;
        status = entry != NULL ? taper_zip_copy(&w->zip, &w->source, entry, w->error)
                               : taper_fail(w->error, TAPER_ERROR_ARGUMENT,
                                            "extra file %.200s: its contents could not be read; leave it out or "
                                            "replace it",
                                            extra->name);
    }
    taper_text_free(&name);
    return status;
}

static taper_status write_extras(writer *w)
{
    taper_module_extra *extras;
    size_t count, capacity;
    TAPER_TRY(taper_write_extras(w->module, w->options, &extras, &count, &capacity, w->error));
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < count && status == TAPER_OK; i++) {
        status = write_extra(w, &extras[i]);
    }
    taper_free(w->allocator, extras, capacity * sizeof *extras);
    return status;
}

static taper_status write_operator_version(writer *w)
{
    char text[24];
    const int64_t own = code_version(w), lowest = taper_write_operator_version(w->module);
    // `lowest` is the operator version that the bytecode needs. The sources were written for the version `own`, so an
    // archive with sources states the higher version.
    const int64_t version = w->has_code && own > lowest ? own : lowest;
    const int length = snprintf(text, sizeof text, "%lld\n", (long long)version);
    return write_record(w, version < NAMED_VERSION_FROM ? "version" : ".data/version", text, (size_t)length);
}

// ----

static taper_status write_all(writer *w)
{
    TAPER_TRY(taper_write_version(w->module, w->options, false, &w->version, w->error));
    if (w->module->root.tag != TAPER_OBJECT) {
        TAPER_FAIL(w->error, TAPER_ERROR_ARGUMENT, "the module has a %s for its object",
                   taper_val_kind_name(w->module->root));
    }
    const bool own_folder = w->version <= OWN_FOLDER_UNTIL;
    w->data = (storages){.folder = "data/", .suffix = ""};
    w->constants =
        (storages){.folder = own_folder ? "bytecode/" : "constants/", .suffix = own_folder ? "" : ".storage"};
    TAPER_TRY(open_source(w));
    TAPER_TRY(taper_set_states_start(&w->states, w->module, w->error));
    TAPER_TRY(write_extras(w));
    TAPER_TRY(write_root(w));
    TAPER_TRY(write_code(w));
    TAPER_TRY(write_functions(w));
    TAPER_TRY(write_debug(w));
    TAPER_TRY(write_operator_version(w));
    return taper_zip_writer_finish(&w->zip, w->error);
}

static void free_storages(const writer *w, storages *s)
{
    taper_free(w->allocator, s->items, s->capacity * sizeof *s->items);
    taper_pointer_free(w->allocator, &s->indexes);
}

taper_status taper_lite_archive_write(const taper_module *module, const taper_write_options *options,
                                      const taper_sink *sink, taper_error *error)
{
    static const taper_write_options plain = {.bytecode_version = 0};
    options = options != NULL ? options : &plain;
    writer w = {.module = module, .options = options, .allocator = module->allocator, .error = error};
    w.states.module = module;
    taper_status status = taper_zip_writer_start(
        &w.zip, module->allocator, sink, options->archive_name != NULL ? options->archive_name : "archive", error);
    status = status == TAPER_OK ? write_all(&w) : status;
    taper_zip_writer_free(&w.zip);
    if (w.has_source) {
        taper_zip_close(&w.source);
    }
    taper_set_states_free(&w.states);
    free_storages(&w, &w.data);
    free_storages(&w, &w.constants);
    taper_pointer_free(w.allocator, &w.copied);
    return status;
}
