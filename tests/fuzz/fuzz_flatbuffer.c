// SPDX-License-Identifier: BSD-2-Clause
// Any bytes as a flatbuffer module; then what loading does with the result: printing types, cloning, freeing.
#include <stdlib.h>
#include <string.h>

#include "format/lite_module.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const taper_lite_module *module)
{
    taper_text text = taper_text_make(&taper_allocator_system);
    taper_val_type_print(module->root, &text);
    for (size_t i = 0; i < module->function_count; i++) {
        const taper_lite_function *function = &module->functions[i];
        for (size_t k = 0; k < function->argument_count; k++) {
            taper_type_print(function->arguments[k].type, &text);
        }
        for (size_t k = 0; k < function->constant_count; k++) {
            text.length = 0;
            taper_val_type_print(function->constants[k], &text);
        }
    }
    taper_text_free(&text);
    taper_clone_memo *memo;
    taper_val copy;
    if (taper_clone_begin(module->heap, &memo, NULL) == TAPER_OK) {
        if (taper_clone_value(memo, module->root, &copy, NULL) == TAPER_OK) {
            taper_val_release(copy);
        }
        taper_clone_end(memo);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    // The identifier is given, and the bytes start off alignment every other time.
    const size_t shift = size % 2;
    uint8_t *copy = malloc(size + shift + 1);
    taper_types *types;
    taper_blob *blob;
    if (copy == NULL || taper_types_create(&taper_allocator_system, &types, NULL) != TAPER_OK) {
        abort();
    }
    memcpy(copy + shift, data, size);
    if (size >= 8) {
        memcpy(copy + shift + 4, "PTMF", 4);
    }
    if (taper_blob_from_memory(&taper_allocator_system, copy + shift, size, NULL, NULL, &blob, NULL) != TAPER_OK) {
        abort();
    }
    taper_error *error = taper_error_create();
    taper_lite_module module;
    if (taper_lite_read(&taper_allocator_system, types, blob, &module, error) == TAPER_OK) {
        use(&module);
        taper_lite_module_free(&module);
    } else if (taper_error_status(error) == TAPER_OK) {
        abort(); // failed without saying why
    }
    taper_error_destroy(error);
    taper_obj_release(&blob->head);
    taper_types_release(types);
    free(copy);
    return 0;
}
