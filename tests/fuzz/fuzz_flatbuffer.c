// SPDX-License-Identifier: BSD-2-Clause
// Reads any bytes as a flatbuffer module and uses the result as loading does: prints types, clones values, frees.
// Repeats this with a failing allocation.
#include <string.h>

#include "format/module.h"
#include "tests/fuzz/failing_allocator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const taper_module *module)
{
    taper_text text = taper_text_make(&taper_allocator_system);
    taper_val_type_print(module->root, &text);
    for (size_t i = 0; i < module->function_count; i++) {
        const taper_module_function *function = &module->functions[i];
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

static taper_status read_module(failing_allocator *failing, const uint8_t *data, size_t size)
{
    taper_types *types;
    taper_blob *blob;
    taper_error *error = taper_error_create();
    taper_status status = taper_types_create(&failing->allocator, &types, error);
    if (status == TAPER_OK) {
        status = taper_blob_from_memory(&failing->allocator, data, size, NULL, NULL, &blob, error);
        if (status == TAPER_OK) {
            taper_module module;
            status = taper_module_read(&failing->allocator, types, blob, &module, error);
            if (status == TAPER_OK) {
                use(&module);
                taper_module_free(&module);
            }
            taper_obj_release(&blob->head);
        }
    }
    if (taper_error_status(error) != status) {
        abort(); // the reader failed without a message
    }
    taper_error_destroy(error);
    taper_types_release(types);
    failing_end(failing);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    // The copy has the identifier of a flatbuffer, and is unaligned for odd sizes.
    const size_t shift = size % 2;
    uint8_t *copy = malloc(size + shift + 1);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy + shift, data, size);
    if (size >= 8) {
        memcpy(copy + shift + 4, "PTMF", 4);
    }
    failing_allocator failing;
    failing_start(&failing, 0);
    const taper_status status = read_module(&failing, copy + shift, size);
    failing_start(&failing, failing_place(data, size, failing.calls));
    const taper_status failed = read_module(&failing, copy + shift, size);
    if (failed != status && failed != TAPER_ERROR_RESOURCE) {
        abort();
    }
    free(copy);
    return 0;
}
