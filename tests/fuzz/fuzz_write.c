// SPDX-License-Identifier: BSD-2-Clause
// Reads any bytes as a model file. A valid module is written, as a zip archive and as a flatbuffer, and the file is
// read and compared. Pickles are also used as the module and as the program of a valid archive. Repeats each write with
// a failing allocation.
#include "format/module_write.h"
#include "tests/fuzz/failing_allocator.h"
#include "tests/unit/archive_builder.h"
#include "tests/unit/module_compare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static taper_status read_module(const taper_allocator *allocator, taper_types *types, const void *data, size_t size,
                                taper_module *module)
{
    taper_blob *blob;
    taper_status status = taper_blob_from_memory(allocator, data, size, NULL, NULL, &blob, NULL);
    if (status == TAPER_OK) {
        status = taper_module_read(allocator, types, blob, module, NULL);
        taper_obj_release(&blob->head);
    }
    return status;
}

static taper_status write_module(const taper_module *module, bool flatbuffer, taper_bytes *out)
{
    const taper_write_options options = {.bytecode_version = flatbuffer ? 9 : module->bytecode_version < 4 ? 4 : 0};
    const taper_sink sink = taper_bytes_sink(out);
    taper_error *error = taper_error_create();
    const taper_status status = flatbuffer ? taper_lite_flatbuffer_write(module, &options, &sink, error)
                                           : taper_lite_archive_write(module, &options, &sink, error);
    if (taper_error_status(error) != status) {
        abort(); // the writer failed without a message
    }
    taper_error_destroy(error);
    return status;
}

// Checks that the written file can be read and is the same module.
static void compare(const taper_module *module, const taper_bytes *written)
{
    taper_types *types;
    taper_module again;
    if (taper_types_create(&taper_allocator_system, &types, NULL) != TAPER_OK ||
        read_module(&taper_allocator_system, types, written->data, written->size, &again) != TAPER_OK) {
        abort();
    }
    module_comparison c;
    if (!module_same(&c, module, &again, false)) {
        (void)fprintf(stderr, "%s\n", c.difference);
        abort();
    }
    taper_module_free(&again);
    taper_types_release(types);
}

static void go_round(const uint8_t *data, size_t size)
{
    failing_allocator failing;
    taper_types *types;
    taper_module module;
    failing_start(&failing, 0);
    if (taper_types_create(&failing.allocator, &types, NULL) != TAPER_OK) {
        abort();
    }
    if (read_module(&failing.allocator, types, data, size, &module) == TAPER_OK) {
        for (int form = 0; form < 2 && !module.torchscript; form++) {
            size_t calls = failing.calls;
            taper_bytes out = taper_bytes_make(&failing.allocator);
            const taper_status status = write_module(&module, form == 1, &out);
            if (status == TAPER_OK) {
                compare(&module, &out);
            }
            taper_bytes_free(&out);
            calls = failing.calls - calls;
            failing.fail_at = failing.calls + failing_place(data, size, calls);
            const taper_status failed = write_module(&module, form == 1, &out);
            if (failed != status && failed != TAPER_ERROR_RESOURCE) {
                abort();
            }
            taper_bytes_free(&out);
            failing.fail_at = 0;
        }
        taper_module_free(&module);
    }
    taper_types_release(types);
    failing_end(&failing);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    go_round(data, size);
    if (size < 2 || data[0] != 0x80) {
        return 0;
    }
    static const char object[] = "c__torch__\nM\n)\x81}b.",
                      program[] =
                          "K\x04X\x13\0\0\0__torch__.M.forward(X\x0c\0\0\0instructions((X\x03\0\0\0RETK\0K\0t"
                          "(X\x03\0\0\0RETK\0K\0tt\x86X\x09\0\0\0operators)\x86"
                          "X\x09\0\0\0constants)\x86X\x05\0\0\0types)\x86X\x0d\0\0\0register_sizeK\0\x86t\x86"
                          "X\x18\0\0\0__torch__.S.__setstate__(X\x0c\0\0\0instructions)\x86X\x09\0\0\0operators)\x86"
                          "X\x09\0\0\0constants)\x86X\x05\0\0\0types)\x86X\x0d\0\0\0register_sizeK\0\x86t\x86\x87.";
    for (int pass = 0; pass < 2; pass++) {
        builder b = {.count = 0};
        builder_add(&b, "m/data.pkl", pass == 1 ? data : (const void *)object, pass == 1 ? size : sizeof object - 1,
                    BUILD_NO_PADDING);
        builder_add(&b, "m/version", "3", 1, BUILD_NO_PADDING);
        builder_add(&b, "m/constants/w", "0123456789abcdef", 16, 0);
        builder_add(&b, "m/data/0", "0123456789abcdef", 16, 0);
        builder_add(&b, "m/data/1", "0123456789abcdef", 16, 0);
        builder_add(&b, "m/code/a.py", "class", 5, size % 2 == 0 ? BUILD_DEFLATE : 0);
        builder_add(&b, "m/bytecode.pkl", pass == 0 ? data : (const void *)program,
                    pass == 0 ? size : sizeof program - 1, BUILD_NO_PADDING);
        bytes file = builder_finish(&b, false, "");
        go_round(file.data, file.size);
        bytes_free(&file);
    }
    return 0;
}
