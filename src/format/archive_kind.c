// SPDX-License-Identifier: BSD-2-Clause
// Determines the kind of an archive without bytecode: TorchScript, an exported program, or a file that is not
// supported.
#include "format/lite_archive.h"
#include "format/pt2_program.h"

const char taper_save_hint[] =
    "script or trace the model in Python and save it with model._save_for_lite_interpreter(\"model.ptl\")";

static bool archive_has(const taper_zip *zip, const char *name)
{
    return taper_zip_find(zip, name, strlen(name)) != NULL;
}

bool taper_archive_has_code(const taper_zip *zip)
{
    for (size_t i = 0; i < zip->count; i++) {
        if (zip->entries[i].name_length > 5 && memcmp(zip->entries[i].name, "code/", 5) == 0) {
            return true;
        }
    }
    return false;
}

taper_status taper_archive_without_bytecode(const taper_zip *zip, taper_module *module, taper_error *error)
{
    (void)module; // the module is unused in builds without TorchScript and exported programs
    if (archive_has(zip, "model.json")) {
        return taper_fail(error, TAPER_ERROR_UNSUPPORTED,
                          "a TorchScript file of PyTorch 1.0 to 1.2 (it holds model.json), which is not supported: "
                          "load it with a newer "
                          "PyTorch and save it with _save_for_lite_interpreter");
    }
    if (archive_has(zip, "data.pkl") && taper_archive_has_code(zip)) {
#if TAPER_WITH_TORCHSCRIPT
        module->torchscript = true;
        return TAPER_OK;
#else
        return taper_fail(
            error, TAPER_ERROR_UNSUPPORTED,
            "a TorchScript file, which this build of Taper does not run (TAPER_WITH_TORCHSCRIPT is off): save "
            "torch.jit.load(FILE) with _save_for_lite_interpreter(\"model.ptl\")");
#endif
    }
    if (archive_has(zip, "archive_format") || archive_has(zip, "models/model.json") ||
        archive_has(zip, "serialized_exported_program.json")) {
#if TAPER_WITH_PT2
        module->exported = taper_arena_alloc(&module->arena, sizeof *module->exported);
        return module->exported != NULL ? TAPER_OK : taper_fail_memory(error);
#else
        return taper_fail(error, TAPER_ERROR_UNSUPPORTED,
                          "an exported program (.pt2), which this build of Taper does not run (TAPER_WITH_PT2 is off): "
                          "script or trace its module, or torch.export.load(FILE).module(), and save that");
#endif
    }
    if (archive_has(zip, "data.pkl")) {
        return taper_fail(error, TAPER_ERROR_UNSUPPORTED,
                          "tensors or an eager model written by torch.save, which hold no program: %s",
                          taper_save_hint);
    }
    return taper_fail(error, TAPER_ERROR_FILE,
                      "this zip archive is no PyTorch model: it holds neither bytecode.pkl nor data.pkl");
}
