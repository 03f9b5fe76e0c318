// SPDX-License-Identifier: BSD-2-Clause
// Any bytes as a pickle, with a host that gives a storage for every key; then what loading does with the result:
// printing types, cloning, freeing.
#include <stdlib.h>

#include "format/pickle.h"

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

static taper_status set_state(void *user, taper_object *object, const char *class_name, taper_val state, bool *taken,
                              taper_error *error)
{
    (void)user;
    *taken = class_name[strlen(class_name) - 1] == 'S';
    return *taken ? taper_object_set(object, 0, state, error) : TAPER_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    taper_types *types;
    taper_heap *heap;
    taper_type_scope *scope;
    if (taper_types_create(&taper_allocator_system, &types, NULL) != TAPER_OK ||
        taper_heap_create(&taper_allocator_system, types, &heap, NULL) != TAPER_OK ||
        taper_type_scope_create(&taper_allocator_system, &scope, NULL) != TAPER_OK) {
        abort();
    }
    const taper_pickle_host host = {.user = heap, .storage = get_storage, .set_state = set_state};
    const taper_pickle_source source = {.data = data, .size = size, .name = "fuzz.pkl"};
    taper_error *error = taper_error_create();
    taper_val value;
    if (taper_pickle_read(heap, scope, &host, &source, &value, error) == TAPER_OK) {
        taper_text text = taper_text_make(&taper_allocator_system);
        taper_val_type_print(value, &text);
        taper_text_free(&text);
        taper_clone_memo *memo;
        taper_val copy;
        if (taper_clone_begin(heap, &memo, NULL) == TAPER_OK) {
            if (taper_clone_value(memo, value, &copy, NULL) == TAPER_OK) {
                taper_val_release(copy);
            }
            taper_clone_end(memo);
        }
        taper_val_release(value);
    } else if (taper_error_status(error) == TAPER_OK) {
        abort(); // failed without saying why
    }
    taper_error_destroy(error);
    taper_type_scope_destroy(scope);
    taper_heap_close(heap);
    taper_types_release(types);
    return 0;
}
