// SPDX-License-Identifier: BSD-2-Clause
// Declarations for the files that read a lite module from a zip archive, or that detect the format of a file. No other
// code includes this header.
#ifndef TAPER_FORMAT_LITE_ARCHIVE_H
#define TAPER_FORMAT_LITE_ARCHIVE_H

#include "format/module.h"
#include "format/zip.h"

// Sets version and functions of the module from the value of bytecode.pkl (lite_bytecode.c). file_size: size of the
// file in bytes, which bounds the work.
TAPER_MUST_USE taper_status taper_lite_bytecode_read(taper_module *module, taper_type_scope *scope, taper_val bytecode,
                                                     size_t file_size, taper_error *error);

// Sets the debug handles and their texts from the values of the two records; a missing record is None (lite_debug.c).
// Invalid entries are skipped. size: bytes of the records, which bounds the texts.
void taper_lite_debug_read(taper_module *module, taper_val handles, taper_val callstacks, size_t size);

// Advice for error messages about a model that cannot be loaded (archive_kind.c).
extern const char taper_save_hint[];
// Returns true if an archive contains TorchScript sources (archive_kind.c).
bool taper_archive_has_code(const taper_zip *zip);
// Handles an archive without bytecode.pkl (archive_kind.c). If it contains TorchScript, marks this in the module;
// otherwise fails.
TAPER_MUST_USE taper_status taper_archive_without_bytecode(const taper_zip *zip, taper_module *module,
                                                           taper_error *error);

#endif
