// SPDX-License-Identifier: BSD-2-Clause
// Any bytes as a model file. What looks like a pickle is read a second time as the program and the debug records of an
// archive that is otherwise in order, where sizes and checksums do not stand in the fuzzer's way.
#include <stdlib.h>

#include "format/lite_module.h"
#include "tests/unit/archive_builder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void load(const uint8_t *data, size_t size)
{
    taper_types *types;
    taper_blob *blob;
    if (taper_types_create(&taper_allocator_system, &types, NULL) != TAPER_OK ||
        taper_blob_from_memory(&taper_allocator_system, data, size, NULL, NULL, &blob, NULL) != TAPER_OK) {
        abort();
    }
    taper_error *error = taper_error_create();
    taper_lite_module module;
    if (taper_lite_read(&taper_allocator_system, types, blob, &module, error) == TAPER_OK) {
        taper_lite_module_free(&module);
    } else if (taper_error_status(error) == TAPER_OK) {
        abort(); // failed without saying why
    }
    taper_error_destroy(error);
    taper_obj_release(&blob->head);
    taper_types_release(types);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    load(data, size);
    if (size < 2 || data[0] != 0x80) {
        return 0;
    }
    static const char object[] = "c__torch__\nM\n)\x81}b.",
                      program[] =
                          "K\x08X\0\0\0\0((X\x0c\0\0\0instructions)\x86X\x09\0\0\0operators)\x86"
                          "X\x09\0\0\0constants)\x86X\x05\0\0\0types)\x86X\x0d\0\0\0register_sizeK\0\x86t\x86\x86.";
    for (int pass = 0; pass < 2; pass++) {
        builder b = {.count = 0};
        builder_add(&b, "m/data.pkl", object, sizeof object - 1, BUILD_NO_PADDING);
        builder_add(&b, "m/version", "3", 1, BUILD_NO_PADDING);
        builder_add(&b, "m/constants/w", "0123456789abcdef", 16, 0);
        if (pass == 0) {
            builder_add(&b, "m/bytecode.pkl", data, size, BUILD_NO_PADDING);
        } else {
            builder_add(&b, "m/bytecode.pkl", program, sizeof program - 1, BUILD_NO_PADDING);
            builder_add(&b, "m/mobile_debug_handles.pkl", data, size, BUILD_NO_PADDING);
            builder_add(&b, "m/callstack_debug_map.pkl", data, size, BUILD_NO_PADDING);
        }
        bytes file = builder_finish(&b, false, "");
        load(file.data, file.size);
        bytes_free(&file);
    }
    return 0;
}
