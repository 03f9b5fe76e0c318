// SPDX-License-Identifier: BSD-2-Clause
// A TorchScript module in a zip archive, without bytecode for the lite interpreter:
//   code/…py              the sources
//   data.pkl              the module object
//   constants.pkl         a tuple with the constants that the sources call CONSTANTS.cN
//   data/K, constants/K   storages of both
//   version, .data/version, byteorder, extra/NAME
#ifndef TAPER_FORMAT_SCRIPT_ARCHIVE_H
#define TAPER_FORMAT_SCRIPT_ARCHIVE_H

#include "format/archive.h"

// Reads the version, the extra files and the sources.
TAPER_MUST_USE taper_status taper_script_archive_read(taper_archive *archive, taper_error *error);
// Reads the tuple of constants.pkl. *constants receives a reference to it, or to an empty tuple if the archive has
// none.
TAPER_MUST_USE taper_status taper_script_archive_constants(taper_archive *archive, const taper_class_host *classes,
                                                           taper_val *constants, taper_error *error);

#endif
