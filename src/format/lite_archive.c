// SPDX-License-Identifier: BSD-2-Clause
// A lite module in a zip archive:
//   bytecode.pkl          the functions; required
//   data.pkl              the module object
//   data/K, constants/K   storages of data.pkl and of bytecode.pkl ("bytecode/K" in files of bytecode version 4)
//   version, .data/version, byteorder, extra/NAME
//   mobile_debug_handles.pkl, callstack_debug_map.pkl
// constants.pkl and code/ belong to the full TorchScript form of the same module. They are read only if the module will
// be written again and its functions lack the schemas that later versions require (bytecode 3 and some of 4). Then the
// whole file is read as TorchScript, as in PyTorch.
#include "format/lite_archive.h"

#include "base/pointer_map.h"
#include "format/archive.h"

typedef struct reader {
    taper_archive archive;
    taper_name *set_states; // names of the classes that have a __setstate__, sorted
    size_t set_state_count;
    taper_pointer_map classes; // cache that maps each class to true if the class has a __setstate__
} reader;

static taper_status set_state(void *user, taper_object *object, taper_val state, bool *taken, taper_error *error)
{
    reader *r = user;
    // The answer is cached for each class, because looking up a long name takes time and there may be many objects.
    const size_t *known = taper_pointer_find(&r->classes, object->klass);
    bool has;
    *taken = false;
    if (known != NULL) {
        has = *known != 0;
    } else {
        size_t unused;
        const char *name = object->klass->name;
        has = taper_names_find(r->set_states, r->set_state_count, name, strlen(name), &unused);
        TAPER_TRY(taper_pointer_add(r->archive.module->allocator, &r->classes, object->klass, has, error));
    }
    *taken = has;
    return *taken ? taper_archive_set_pending(&r->archive, object, state, error) : TAPER_OK;
}

// Collects the names of classes whose __setstate__ is among the functions.
static taper_status collect_set_states(reader *r, taper_error *error)
{
    static const char suffix[] = ".__setstate__";
    const size_t suffix_length = sizeof suffix - 1;
    taper_module *module = r->archive.module;
    r->set_states = taper_arena_array(&module->arena, module->function_count, sizeof *r->set_states);
    if (r->set_states == NULL) {
        return taper_fail_memory(error);
    }
    for (size_t i = 0; i < module->function_count; i++) {
        const char *name = module->functions[i].name;
        const size_t length = strlen(name);
        if (length > suffix_length && strcmp(name + length - suffix_length, suffix) == 0) {
            r->set_states[r->set_state_count++] = (taper_name){.text = name, .length = length - suffix_length};
        }
    }
    return taper_names_sort(module->allocator, r->set_states, r->set_state_count, error);
}

static bool any_in_folder(const taper_archive *a, const char *folder)
{
    const size_t length = strlen(folder);
    for (size_t i = 0; i < a->zip.count; i++) {
        if (a->zip.entries[i].name_length > length && memcmp(a->zip.entries[i].name, folder, length) == 0) {
            return true;
        }
    }
    return false;
}

static taper_status read_program(taper_archive *a, taper_error *error)
{
    taper_val bytecode;
    const char *folder = any_in_folder(a, "bytecode/") ? "bytecode/" : "constants/";
    TAPER_TRY(taper_archive_read_pickle(a, "bytecode.pkl", folder, NULL, &bytecode, error));
    const taper_status status = taper_lite_bytecode_read(a->module, a->scope, bytecode, a->zip.size, error);
    taper_val_release(bytecode);
    return status;
}

// Reads debug records. Errors in them are not reported, because running the model does not need them.
static void read_debug(taper_archive *a)
{
    static const char handles_name[] = "mobile_debug_handles.pkl", callstacks_name[] = "callstack_debug_map.pkl";
    const taper_zip_entry *handles_entry = taper_archive_find(a, handles_name),
                          *callstacks_entry = taper_archive_find(a, callstacks_name);
    if (handles_entry == NULL) {
        return;
    }
    taper_val handles, callstacks = taper_val_none();
    size_t size = (size_t)handles_entry->size;
    if (taper_archive_read_pickle(a, handles_name, NULL, NULL, &handles, NULL) != TAPER_OK) {
        return;
    }
    if (callstacks_entry != NULL &&
        taper_archive_read_pickle(a, callstacks_name, NULL, NULL, &callstacks, NULL) == TAPER_OK) {
        size += (size_t)callstacks_entry->size;
    }
    taper_lite_debug_read(a->module, handles, callstacks, size);
    taper_val_release(handles);
    taper_val_release(callstacks);
}

#if TAPER_WITH_TORCHSCRIPT
static bool sources_are_better(const taper_archive *a)
{
    const taper_module *module = a->module;
    bool schemas = true;
    for (size_t i = 0; i < module->function_count; i++) {
        schemas &= module->functions[i].has_schema;
    }
    return module->to_save && !schemas && taper_archive_has_code(&a->zip);
}
#endif

static taper_status read_records(reader *r, taper_error *error)
{
    taper_archive *a = &r->archive;
    const taper_class_host classes = {.user = r, .set_state = set_state};
    TAPER_TRY(taper_archive_read_version(a, error));
    TAPER_TRY(read_program(a, error));
#if TAPER_WITH_TORCHSCRIPT
    if (sources_are_better(a)) {
        taper_module_drop_functions(a->module);
        a->module->bytecode_version = 0;
        a->module->torchscript = true;
        return TAPER_OK;
    }
#endif
    TAPER_TRY(collect_set_states(r, error));
    TAPER_TRY(taper_archive_read_root(a, &classes, error));
    TAPER_TRY(taper_archive_read_extras(a, "extra/", error));
    read_debug(a);
    return TAPER_OK;
}

taper_status taper_lite_archive_read(taper_blob *blob, taper_module *module, taper_error *error)
{
    reader r = {.set_state_count = 0};
    TAPER_TRY(taper_archive_open(blob, module, &r.archive, error));
    taper_status status;
    if (taper_archive_find(&r.archive, "bytecode.pkl") == NULL) {
        status = taper_archive_without_bytecode(&r.archive.zip, module, error);
    } else {
        status = read_records(&r, error);
    }
    taper_pointer_free(module->allocator, &r.classes);
    taper_archive_close(&r.archive);
    return status;
}
