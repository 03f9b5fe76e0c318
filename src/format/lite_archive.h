// SPDX-License-Identifier: BSD-2-Clause
// Between the parts that read a lite module from a zip archive. Not for others.
#ifndef TAPER_FORMAT_LITE_ARCHIVE_H
#define TAPER_FORMAT_LITE_ARCHIVE_H

#include "format/module.h"
#include "format/zip.h"

// lite_bytecode.c: fills version and functions of the module from the value of bytecode.pkl. file_size bounds the work.
TAPER_MUST_USE taper_status taper_lite_bytecode_read(taper_module *module, taper_type_scope *scope, taper_val bytecode,
                                                     size_t file_size, taper_error *error);

// lite_debug.c: fills the debug handles and their texts from the values of the two records (None where there is none).
// What cannot be made sense of is left out. size is that of the records, and bounds the texts.
void taper_lite_debug_read(taper_module *module, taper_val handles, taper_val callstacks, size_t size);

// archive_kind.c: what to do about a model that cannot be loaded.
extern const char taper_save_hint[];
// archive_kind.c: whether there are TorchScript sources in an archive.
bool taper_archive_has_code(const taper_zip *zip);
// archive_kind.c: what an archive without bytecode.pkl is: TorchScript, or something to be refused.
TAPER_MUST_USE taper_status taper_archive_without_bytecode(const taper_zip *zip, taper_module *module,
                                                           taper_error *error);

#endif
