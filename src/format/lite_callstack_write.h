// SPDX-License-Identifier: BSD-2-Clause
// callstack_debug_map.pkl of functions that were made of TorchScript; lite_debug.c tells what it looks like.
#ifndef TAPER_FORMAT_LITE_CALLSTACK_WRITE_H
#define TAPER_FORMAT_LITE_CALLSTACK_WRITE_H

#include "format/module.h"
#include "format/pickle_write.h"
#include "format/zip.h"

// module->callstacks is set. source: the archive the module was read from, whose code/….debug_pkl the file will have
// too: they hold the ranges of source that the map refers to. What they do not know is left out.
TAPER_MUST_USE taper_status taper_lite_callstacks_write(taper_pickler *p, const taper_module *module,
                                                        taper_zip *source);

#endif
