// SPDX-License-Identifier: BSD-2-Clause
// Reads any bytes as a pickle with a host that returns a storage for each key, and uses the result as loading does:
// prints types, clones values, frees. Repeats this with a failing allocation, and with a host that returns nothing.
#include <string.h>

#include "format/pickle.h"
#include "ir/storage.h"
#include "tests/fuzz/failing_allocator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static taper_status get_storage(void *user, const char *key, size_t length, taper_dtype dtype, int64_t numel,
                                taper_storage **storage, taper_error *error)
{
    (void)key;
    (void)length;
    const size_t item = taper_max_size(taper_dtype_size(dtype), 1);
    if (numel > 1000) {
        return taper_fail(error, TAPER_ERROR_FILE, "too large for the fuzzer");
    }
    taper_status status = taper_storage_new(user, (size_t)numel * item, storage, error);
    if (status == TAPER_OK) {
        memset((*storage)->data, 7, (*storage)->bytes);
    }
    return status;
}

static taper_status set_state(void *user, taper_object *object, taper_val state, bool *taken, taper_error *error)
{
    (void)user;
    const char *class_name = object->klass->name;
    const char last = class_name[strlen(class_name) - 1];
    *taken = last == 'S';
    if (last == 'F') {
        return taper_fail(error, TAPER_ERROR_UNSUPPORTED, "the host refuses the class %s", class_name);
    }
    return *taken ? taper_object_set(object, 0, state, error) : TAPER_OK;
}

// Clones a value, and checks that the copy has the types of the original.
static void use(taper_heap *heap, taper_val value, bool whole)
{
    taper_text text = taper_text_make(&taper_allocator_system), same = taper_text_make(&taper_allocator_system);
    taper_clone_memo *memo;
    taper_val copy;
    taper_val_type_print(value, &text);
    if (taper_clone_begin(heap, &memo, NULL) == TAPER_OK) {
        if (taper_clone_value(memo, value, &copy, NULL) == TAPER_OK) {
            taper_val_type_print(copy, &same);
            if (whole && strcmp(taper_text_get(&text), taper_text_get(&same)) != 0) {
                abort();
            }
            taper_val_release(copy);
        }
        taper_clone_end(memo);
    }
    taper_text_free(&text);
    taper_text_free(&same);
}

static taper_status read_with(failing_allocator *failing, bool gives, const uint8_t *data, size_t size)
{
    taper_types *types;
    taper_heap *heap = NULL;
    taper_type_scope *scope = NULL;
    taper_error *error = taper_error_create();
    taper_status status = taper_types_create(&failing->allocator, &types, error);
    if (status == TAPER_OK) {
        status = taper_heap_create(&failing->allocator, types, &heap, error);
    }
    if (status == TAPER_OK) {
        status = taper_type_scope_create(&failing->allocator, &scope, error);
    }
    if (status == TAPER_OK) {
        static const taper_class_host classes = {.set_state = set_state};
        const taper_pickle_host host = {
            .user = heap, .storage = gives ? get_storage : NULL, .classes = gives ? &classes : NULL};
        const taper_pickle_source source = {.data = data, .size = size, .name = "fuzz.pkl"};
        taper_val value;
        status = taper_pickle_read(heap, scope, &host, &source, &value, error);
        if (status == TAPER_OK) {
            use(heap, value, failing->fail_at == 0);
            taper_val_release(value);
        }
    }
    if (status != taper_error_status(error)) {
        abort(); // the reader failed without a message
    }
    taper_error_destroy(error);
    taper_type_scope_destroy(scope);
    if (heap != NULL) {
        taper_heap_close(heap);
    }
    taper_types_release(types);
    failing_end(failing);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    failing_allocator failing;
    failing_start(&failing, 0);
    const taper_status status = read_with(&failing, true, data, size);
    failing_start(&failing, failing_place(data, size, failing.calls));
    const taper_status failed = read_with(&failing, true, data, size);
    if (failed != status && failed != TAPER_ERROR_RESOURCE) {
        abort();
    }
    failing_start(&failing, 0);
    if (read_with(&failing, false, data, size) == TAPER_OK && status != TAPER_OK && status != TAPER_ERROR_UNSUPPORTED) {
        // A pickle that the reader refuses with storages must also be refused without storages, unless the host refused
        // it.
        abort();
    }
    return 0;
}
