// SPDX-License-Identifier: BSD-2-Clause
// Bytes that grow in memory, and a sink that appends to them.
#include "format/sink.h"

#include <string.h>

void taper_bytes_free(taper_bytes *bytes)
{
    taper_free(bytes->allocator, bytes->data, bytes->capacity);
    *bytes = taper_bytes_make(bytes->allocator);
}

void taper_bytes_append(taper_bytes *bytes, const void *data, size_t size)
{
    size_t want;
    if (bytes->failed || size == 0) {
        return;
    }
    if (!taper_add_size(bytes->size, size, &want) ||
        TAPER_GROW(bytes->allocator, bytes->data, bytes->capacity, want, NULL) != TAPER_OK) {
        bytes->failed = true;
        return;
    }
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size = want;
}

void taper_bytes_number(taper_bytes *bytes, uint64_t number, size_t size)
{
    uint8_t little[8];
    for (size_t i = 0; i < size; i++) {
        little[i] = (uint8_t)(number >> (8 * i));
    }
    taper_bytes_append(bytes, little, size);
}

static taper_status append(void *user, const void *data, size_t size, taper_error *error)
{
    taper_bytes *bytes = user;
    taper_bytes_append(bytes, data, size);
    return bytes->failed ? taper_fail_memory(error) : TAPER_OK;
}

taper_sink taper_bytes_sink(taper_bytes *bytes)
{
    return (taper_sink){.write = append, .user = bytes};
}
