// SPDX-License-Identifier: BSD-2-Clause
// The pickles of a zip archive that hold functions. Not for others than lite_archive_write.c.
#ifndef TAPER_FORMAT_LITE_BYTECODE_WRITE_H
#define TAPER_FORMAT_LITE_BYTECODE_WRITE_H

#include "format/module_write.h"
#include "format/pickle_write.h"

// bytecode.pkl
TAPER_MUST_USE taper_status taper_lite_bytecode_write(taper_pickler *p, const taper_module *module, int version);
// mobile_debug_handles.pkl
void taper_lite_handles_write(taper_pickler *p, const taper_module *module, int version);

#endif
