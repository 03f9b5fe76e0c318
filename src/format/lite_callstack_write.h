// SPDX-License-Identifier: BSD-2-Clause
// Writes callstack_debug_map.pkl for functions made from TorchScript. lite_debug.c describes the layout of this file.
#ifndef TAPER_FORMAT_LITE_CALLSTACK_WRITE_H
#define TAPER_FORMAT_LITE_CALLSTACK_WRITE_H

#include "format/module.h"
#include "format/pickle_write.h"
#include "format/zip.h"

// Writes the map. module->callstacks must be set. source: the archive from which the module was read. The
// files code/….debug_pkl of this archive contain the ranges of source that the map refers to, and will also be in the
// new file. Positions
// without such a range are skipped.
TAPER_MUST_USE taper_status taper_lite_callstacks_write(taper_pickler *p, const taper_module *module,
                                                        taper_zip *source);

#endif
