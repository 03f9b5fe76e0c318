// SPDX-License-Identifier: BSD-2-Clause
// Deflated bytes, without a header around them (RFC 1951), as zip archives hold them. inflate_zlib.c is zlib's; builds
// without zlib, for browsers say, have our own: inflate.c. CMake's TAPER_WITH_ZLIB chooses.
#ifndef TAPER_BASE_INFLATE_H
#define TAPER_BASE_INFLATE_H

#include "base/memory.h"

// All of `to` is filled and the stream ends there. TAPER_ERROR_FILE: it does not, or it is no stream;
// TAPER_ERROR_RESOURCE: there is no memory. What stands behind the stream's end is not looked at.
taper_status taper_inflate(const taper_allocator *allocator, const uint8_t *packed, uint64_t packed_size, uint8_t *to,
                           uint64_t size);

#endif
