// SPDX-License-Identifier: BSD-2-Clause
// Writes the pickles of a zip archive that contain functions. Only lite_archive_write.c includes this header.
#ifndef TAPER_FORMAT_LITE_BYTECODE_WRITE_H
#define TAPER_FORMAT_LITE_BYTECODE_WRITE_H

#include "format/module_write.h"
#include "format/pickle_write.h"

// Writes bytecode.pkl.
TAPER_MUST_USE taper_status taper_lite_bytecode_write(taper_pickler *p, const taper_module *module, int version);
// Writes mobile_debug_handles.pkl.
void taper_lite_handles_write(taper_pickler *p, const taper_module *module, int version);

#endif
