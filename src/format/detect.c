// SPDX-License-Identifier: BSD-2-Clause
// Detects the kind of a file. If the file is not a lite module, the error explains what to do with the file.
#include "format/lite_archive.h"
#include "format/pt2_program.h"

// Files that people mistake for a model. Each kind is recognized by certain bytes at a fixed position.
static const struct {
    size_t at;
    const char *bytes;
    const char *what;
} foreign[] = {
    {0, "PYTORCH1",
     "a module in the container of PyTorch before 1.0, which is not supported: load it with an old PyTorch and save it "
     "again"},
    {0, "PK\5\6", "an empty zip archive"},
    {0, "\x1f\x8b", "compressed with gzip: unpack it first"},
    {0, "BZh", "compressed with bzip2: unpack it first"},
    {0,
     "\xfd"
     "7zXZ",
     "compressed with xz: unpack it first"},
    {0, "\x28\xb5\x2f\xfd", "compressed with zstd: unpack it first"},
    {0, "7z\xbc\xaf", "a 7z archive: unpack it first"},
    {0, "\x93NUMPY", "a NumPy array, not a model"},
    {0, "\x89PNG", "a PNG picture, not a model"},
    {0, "\xff\xd8\xff", "a JPEG picture, not a model"},
    {0, "GGUF", "a GGUF model, not a PyTorch one"},
    {0, "version https://git-lfs", "a Git LFS pointer, not the model itself: fetch it with \"git lfs pull\""},
    {0, "<!DOCTYPE", "a web page, not a model: the download went wrong"},
    {0, "<!doctype", "a web page, not a model: the download went wrong"},
    {0, "<html", "a web page, not a model: the download went wrong"},
    {4, "TFL3", "a TensorFlow Lite model, not a PyTorch one"},
    {4, "ET12", "an ExecuTorch program, not a PyTorch Mobile one"},
    {257, "ustar",
     "a tar archive: unpack it first, or, if torch.save of an old PyTorch wrote it, save the model again"},
};

static bool has(const taper_blob *blob, size_t at, const char *bytes)
{
    const size_t length = strlen(bytes);
    return blob->size >= at && blob->size - at >= length && memcmp(blob->data + at, bytes, length) == 0;
}

TAPER_COLD static taper_status refuse(const taper_blob *blob, taper_error *error)
{
    if (blob->size == 0) {
        return taper_fail_at(error, TAPER_ERROR_FILE, 0, "the file is empty");
    }
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        if (has(blob, foreign[i].at, foreign[i].bytes)) {
            return taper_fail_at(error, TAPER_ERROR_UNSUPPORTED, 0, "the file is %s", foreign[i].what);
        }
    }
    if (blob->size >= 2 && blob->data[0] == 0x80 && blob->data[1] >= 2 && blob->data[1] <= 5) {
        return taper_fail_at(error, TAPER_ERROR_UNSUPPORTED, 0,
                             "the file is a Python pickle (torch.save of an old PyTorch), which holds no program: %s",
                             taper_save_hint);
    }
    return taper_fail_at(error, TAPER_ERROR_FILE, 0,
                         "the file is no PyTorch Mobile model: it begins with neither the bytes of a zip archive nor "
                         "those of a flatbuffer "
                         "module (%zu bytes in all)",
                         blob->size);
}

static taper_status read_file(taper_blob *blob, taper_module *module, taper_error *error)
{
    if (has(blob, 4, "PTMF")) {
#if TAPER_WITH_FLATBUFFER
        module->flatbuffer = true;
        return taper_lite_flatbuffer_read(blob, module, error);
#else
        return taper_fail_at(error, TAPER_ERROR_UNSUPPORTED, 0,
                             "the file is a flatbuffer module, and this build of Taper reads zip archives only "
                             "(TAPER_WITH_FLATBUFFER is off)");
#endif
    }
    if (has(blob, 0, "PK\3\4")) {
        TAPER_TRY(taper_lite_archive_read(blob, module, error));
#if TAPER_WITH_PT2
        if (module->exported != NULL) {
            module->release_exported = taper_pt2_release;
            return taper_pt2_read(blob, module, module->exported, error);
        }
        return TAPER_OK;
#else
        return TAPER_OK;
#endif
    }
    return refuse(blob, error);
}

static taper_status read_module(const taper_allocator *allocator, taper_types *types, taper_blob *blob, bool to_save,
                                taper_module *module, taper_error *error)
{
    taper_status status = taper_module_init(allocator, types, module, error);
    if (status == TAPER_OK) {
        module->to_save = to_save;
        module->blob = &blob->head;
        taper_obj_retain(module->blob);
        status = read_file(blob, module, error);
    }
    if (status != TAPER_OK) {
        taper_module_free(module);
    }
    return status;
}

taper_status taper_module_read(const taper_allocator *allocator, taper_types *types, taper_blob *blob,
                               taper_module *module, taper_error *error)
{
    return read_module(allocator, types, blob, false, module, error);
}

taper_status taper_module_read_to_save(const taper_allocator *allocator, taper_types *types, taper_blob *blob,
                                       taper_module *module, taper_error *error)
{
    return read_module(allocator, types, blob, true, module, error);
}

taper_status taper_module_verify(const taper_allocator *allocator, const taper_blob *blob, taper_error *error)
{
    if (has(blob, 4, "PTMF")) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "the file is a flatbuffer, which carries no checksums to verify");
    }
    // Files other than zip archives have no checksums. If such a file is not supported, its reader refuses it later,
    // and the message says why.
    return has(blob, 0, "PK\3\4") ? taper_zip_verify(allocator, blob->data, blob->size, error) : TAPER_OK;
}
