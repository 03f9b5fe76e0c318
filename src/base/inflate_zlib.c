// SPDX-License-Identifier: BSD-2-Clause
// Implements inflate.h with zlib.
#include "base/inflate.h"

#include <string.h>

#include <zlib.h>

#include "base/checked.h"

// zlib passes no size to its free function, so each block begins with its size.
enum { BLOCK_HEAD = 16 };

static voidpf zlib_alloc(voidpf opaque, uInt items, uInt size)
{
    size_t bytes;
    if (!taper_mul_size(items, size, &bytes) || !taper_add_size(bytes, BLOCK_HEAD, &bytes)) {
        return Z_NULL;
    }
    char *block = taper_alloc(opaque, bytes);
    if (block == NULL) {
        return Z_NULL;
    }
    memcpy(block, &bytes, sizeof bytes);
    return block + BLOCK_HEAD;
}

static void zlib_free(voidpf opaque, voidpf address)
{
    char *block = (char *)address - BLOCK_HEAD;
    size_t bytes;
    memcpy(&bytes, block, sizeof bytes);
    taper_free(opaque, block, bytes);
}

taper_status taper_inflate(const taper_allocator *allocator, const uint8_t *packed, uint64_t packed_size, uint8_t *to,
                           uint64_t size)
{
    enum { STEP = 1 << 30 }; // zlib counts bytes in 32 bits, so larger data is passed in steps
    taper_allocator own = *allocator;
    z_stream stream = {.zalloc = zlib_alloc, .zfree = zlib_free, .opaque = &own};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
        return TAPER_ERROR_RESOURCE;
    }
    uint64_t in_left = packed_size, out_left = size;
    int result = Z_OK;
    // One extra byte after the end of `to` detects a stream that is too long. A stream that is too short ends before
    // all bytes are filled.
    uint8_t beyond;
    stream.next_in = (z_const Bytef *)packed;
    while (result == Z_OK) {
        const uInt in_step = (uInt)(in_left < STEP ? in_left : STEP);
        const uInt out_step = (uInt)(out_left < STEP ? out_left : STEP);
        stream.avail_in = in_step;
        stream.avail_out = out_step != 0 ? out_step : 1;
        stream.next_out = out_step != 0 ? to + (size - out_left) : &beyond;
        result = inflate(&stream, Z_NO_FLUSH);
        in_left -= in_step - stream.avail_in;
        if (out_step != 0) {
            out_left -= out_step - stream.avail_out;
        } else if (stream.avail_out == 0) {
            result = Z_DATA_ERROR; // the stream has more bytes than announced
        }
    }
    (void)inflateEnd(&stream);
    if (result == Z_MEM_ERROR) {
        return TAPER_ERROR_RESOURCE;
    }
    return result == Z_STREAM_END && out_left == 0 ? TAPER_OK : TAPER_ERROR_FILE;
}
