// SPDX-License-Identifier: BSD-2-Clause
// A sink receives the bytes of a file while it is written, from the first byte to the last, in chunks of any size. The
// writers keep the description of a module in memory, but not its tensors, whose bytes go from their storages directly
// to the sink.
#ifndef TAPER_FORMAT_SINK_H
#define TAPER_FORMAT_SINK_H

#include "base/memory.h"

typedef struct taper_sink {
    // Writes all `size` bytes or fails. After a failure the sink is not called again.
    taper_status (*write)(void *user, const void *data, size_t size, taper_error *error);
    void *user;
} taper_sink;

static inline taper_status taper_sink_write(const taper_sink *sink, const void *data, size_t size, taper_error *error)
{
    return size != 0 ? sink->write(sink->user, data, size, error) : TAPER_OK;
}

// A growing array of bytes. Appending after a failure does nothing, so it is sufficient to check `failed` at the end.
typedef struct taper_bytes {
    const taper_allocator *allocator;
    uint8_t *data;
    size_t size, capacity;
    bool failed; // true if an allocation failed
} taper_bytes;

static inline taper_bytes taper_bytes_make(const taper_allocator *allocator)
{
    return (taper_bytes){.allocator = allocator};
}
void taper_bytes_free(taper_bytes *bytes);
void taper_bytes_append(taper_bytes *bytes, const void *data, size_t size);
// Appends the lowest `size` bytes of a number, little-endian.
void taper_bytes_number(taper_bytes *bytes, uint64_t number, size_t size);
static inline void taper_bytes_byte(taper_bytes *bytes, unsigned byte)
{
    const uint8_t small = (uint8_t)byte;
    taper_bytes_append(bytes, &small, 1);
}
// Returns a sink that appends to `bytes`, which must outlive the sink.
taper_sink taper_bytes_sink(taper_bytes *bytes);

#endif
