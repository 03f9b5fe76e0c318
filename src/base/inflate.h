// SPDX-License-Identifier: BSD-2-Clause
// Inflates raw deflate data (RFC 1951, no header), the form in zip archives. inflate_zlib.c uses zlib; inflate.c is our
// own code for builds without zlib, browsers for example. CMake's TAPER_WITH_ZLIB chooses.
#ifndef TAPER_BASE_INFLATE_H
#define TAPER_BASE_INFLATE_H

#include "base/memory.h"

// Inflates the stream at `packed` into `to`. The stream must give exactly `size` bytes. Returns TAPER_ERROR_FILE if the
// stream is damaged or gives another number of bytes, and TAPER_ERROR_RESOURCE if memory is missing. Bytes of `packed`
// after the end of the stream are ignored.
taper_status taper_inflate(const taper_allocator *allocator, const uint8_t *packed, uint64_t packed_size, uint8_t *to,
                           uint64_t size);

#endif
