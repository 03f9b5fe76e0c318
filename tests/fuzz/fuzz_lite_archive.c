// SPDX-License-Identifier: BSD-2-Clause
// Reads any bytes as a model file. Bytes that look like a pickle are also read as the program, the debug records and
// the module of a valid archive, so that sizes and checksums do not stop the fuzzer. Repeats everything with a failing
// allocation.
#include "format/module.h"
#include "tests/fuzz/failing_allocator.h"
#include "tests/unit/archive_builder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static taper_status load_with(failing_allocator *failing, const uint8_t *data, size_t size)
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

static void load(const uint8_t *data, size_t size)
{
    failing_allocator failing;
    failing_start(&failing, 0);
    const taper_status status = load_with(&failing, data, size);
    failing_start(&failing, failing_place(data, size, failing.calls));
    const taper_status failed = load_with(&failing, data, size);
    if (failed != status && failed != TAPER_ERROR_RESOURCE) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    load(data, size);
    if (size < 2 || data[0] != 0x80) {
        return 0;
    }
    static const char object[] = "c__torch__\nM\n)\x81}b.",
                      program[] =
                          "K\x08X\x13\0\0\0__torch__.M.forward(X\x0c\0\0\0instructions((X\x03\0\0\0RETK\0K\0t"
                          "(X\x03\0\0\0RETK\0K\0tt\x86X\x09\0\0\0operators)\x86"
                          "X\x09\0\0\0constants)\x86X\x05\0\0\0types)\x86X\x0d\0\0\0register_sizeK\0\x86t\x86\x86.";
    for (int pass = 0; pass < 3; pass++) {
        builder b = {.count = 0};
        builder_add(&b, "m/data.pkl", pass == 2 ? data : (const void *)object, pass == 2 ? size : sizeof object - 1,
                    BUILD_NO_PADDING);
        builder_add(&b, "m/version", "3", 1, BUILD_NO_PADDING);
        builder_add(&b, "m/constants/w", "0123456789abcdef", 16, 0);
        builder_add(&b, "m/data/0", "0123456789abcdef", 16, pass == 2 ? BUILD_DEFLATE : 0);
        if (pass == 0) {
            builder_add(&b, "m/bytecode.pkl", data, size, BUILD_NO_PADDING);
        } else {
            builder_add(&b, "m/bytecode.pkl", program, sizeof program - 1, BUILD_NO_PADDING);
        }
        if (pass == 1) {
            builder_add(&b, "m/mobile_debug_handles.pkl", data, size, BUILD_NO_PADDING);
            builder_add(&b, "m/callstack_debug_map.pkl", data, size, BUILD_NO_PADDING);
        }
        bytes file = builder_finish(&b, false, "");
        load(file.data, file.size);
        bytes_free(&file);
    }
    return 0;
}
