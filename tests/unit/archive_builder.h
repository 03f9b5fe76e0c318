// SPDX-License-Identifier: BSD-2-Clause
// Writes zip archives into memory, in ordinary and unusual forms, for tests of the readers.
#ifndef TAPER_TESTS_ARCHIVE_BUILDER_H
#define TAPER_TESTS_ARCHIVE_BUILDER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    BUILD_DEFLATE = 1,
    BUILD_ZIP64 = 2,      // the sizes and the offset are in the zip64 field
    BUILD_DESCRIPTOR = 4, // the sizes and the checksum follow the data
    BUILD_NO_PADDING = 8,
    BUILD_NO_CRC = 16,
    BUILD_BAD_CRC = 32,
    BUILD_ENCRYPTED = 64,
    BUILD_OTHER_METHOD = 128
};

typedef struct bytes {
    uint8_t *data;
    size_t size, capacity;
} bytes;

static inline void bytes_add(bytes *b, const void *data, size_t size)
{
    if (b->size + size > b->capacity) {
        b->capacity = 2 * (b->size + size) + 64;
        b->data = realloc(b->data, b->capacity);
        if (b->data == NULL) {
            abort();
        }
    }
    if (size != 0) {
        memcpy(b->data + b->size, data, size);
    }
    b->size += size;
}

static inline void bytes_number(bytes *b, uint64_t number, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const uint8_t byte = (uint8_t)(i < 8 ? number >> (8 * i) : 0);
        bytes_add(b, &byte, 1);
    }
}

static inline void bytes_free(bytes *b)
{
    free(b->data);
    *b = (bytes){.data = NULL};
}

typedef struct builder {
    bytes file, directory;
    unsigned count;
} builder;

static inline bytes builder_pack(const void *data, size_t size, unsigned flags)
{
    bytes packed = {.data = NULL};
    if ((flags & BUILD_DEFLATE) == 0) {
        bytes_add(&packed, data, size);
        return packed;
    }
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)size};
    if (deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
        abort();
    }
    packed.capacity = deflateBound(&stream, (uLong)size);
    packed.data = malloc(packed.capacity);
    stream.next_out = packed.data;
    stream.avail_out = (uInt)packed.capacity;
    if (packed.data == NULL || deflate(&stream, Z_FINISH) != Z_STREAM_END) {
        abort();
    }
    packed.size = stream.total_out;
    (void)deflateEnd(&stream);
    return packed;
}

// Adds a record. name includes the folder, for example "model/data.pkl".
static inline void builder_add(builder *b, const char *name, const void *data, size_t size, unsigned flags)
{
    bytes packed = builder_pack(data, size, flags);
    const bool zip64 = (flags & BUILD_ZIP64) != 0, descriptor = (flags & BUILD_DESCRIPTOR) != 0;
    const uint32_t crc = (flags & BUILD_NO_CRC) != 0
                             ? 0
                             : (uint32_t)crc32(0, data, (uInt)size) ^ ((flags & BUILD_BAD_CRC) != 0 ? 1u : 0u);
    const unsigned method = (flags & BUILD_OTHER_METHOD) != 0 ? 12 : (flags & BUILD_DEFLATE) != 0 ? 8 : 0;
    const unsigned bits = (descriptor ? 8u : 0u) | ((flags & BUILD_ENCRYPTED) != 0 ? 1u : 0u) | 0x800u;
    const size_t header = b->file.size, name_length = strlen(name);
    size_t padding = 0;
    if ((flags & BUILD_NO_PADDING) == 0) { // field "FB", its length, and bytes Z that align the data to 64 bytes
        padding = 4 + (64 - (header + 30 + name_length + 4) % 64) % 64;
    }
    bytes_number(&b->file, 0x04034b50, 4);
    bytes_number(&b->file, zip64 ? 45 : 20, 2);
    bytes_number(&b->file, bits, 2);
    bytes_number(&b->file, method, 2);
    bytes_number(&b->file, 0, 4);
    bytes_number(&b->file, descriptor ? 0 : crc, 4);
    bytes_number(&b->file, descriptor ? 0 : packed.size, 4);
    bytes_number(&b->file, descriptor ? 0 : size, 4);
    bytes_number(&b->file, name_length, 2);
    bytes_number(&b->file, padding, 2);
    bytes_add(&b->file, name, name_length);
    if (padding != 0) {
        bytes_add(&b->file, "FB", 2);
        bytes_number(&b->file, padding - 4, 2);
        for (size_t i = 4; i < padding; i++) {
            bytes_add(&b->file, "Z", 1);
        }
    }
    bytes_add(&b->file, packed.data, packed.size);
    if (descriptor) {
        bytes_number(&b->file, 0x08074b50, 4);
        bytes_number(&b->file, crc, 4);
        bytes_number(&b->file, packed.size, 4);
        bytes_number(&b->file, size, 4);
    }
    bytes_number(&b->directory, 0x02014b50, 4);
    bytes_number(&b->directory, 45, 2);
    bytes_number(&b->directory, 45, 2);
    bytes_number(&b->directory, bits, 2);
    bytes_number(&b->directory, method, 2);
    bytes_number(&b->directory, 0, 4);
    bytes_number(&b->directory, crc, 4);
    bytes_number(&b->directory, zip64 ? UINT32_MAX : packed.size, 4);
    bytes_number(&b->directory, zip64 ? UINT32_MAX : size, 4);
    bytes_number(&b->directory, name_length, 2);
    bytes_number(&b->directory, zip64 ? 28 + 6 : 0, 2);
    bytes_number(&b->directory, 0, 2 + 2 + 2 + 4);
    bytes_number(&b->directory, zip64 ? UINT32_MAX : header, 4);
    bytes_add(&b->directory, name, name_length);
    if (zip64) {
        bytes_number(&b->directory, 0x9999, 2); // an unknown field before the zip64 field
        bytes_number(&b->directory, 2, 2);
        bytes_number(&b->directory, 0, 2);
        bytes_number(&b->directory, 1, 2);
        bytes_number(&b->directory, 24, 2);
        bytes_number(&b->directory, size, 8);
        bytes_number(&b->directory, packed.size, 8);
        bytes_number(&b->directory, header, 8);
    }
    b->count++;
    bytes_free(&packed);
}

// Appends the directory and the end records. Returns the whole file, which the caller frees.
static inline bytes builder_finish(builder *b, bool zip64, const char *comment)
{
    const size_t start = b->file.size, size = b->directory.size;
    bytes_add(&b->file, b->directory.data, size);
    if (zip64) {
        const size_t at = b->file.size;
        bytes_number(&b->file, 0x06064b50, 4);
        bytes_number(&b->file, 44, 8);
        bytes_number(&b->file, 45, 2);
        bytes_number(&b->file, 45, 2);
        bytes_number(&b->file, 0, 8);
        bytes_number(&b->file, b->count, 8);
        bytes_number(&b->file, b->count, 8);
        bytes_number(&b->file, size, 8);
        bytes_number(&b->file, start, 8);
        bytes_number(&b->file, 0x07064b50, 4);
        bytes_number(&b->file, 0, 4);
        bytes_number(&b->file, at, 8);
        bytes_number(&b->file, 1, 4);
    }
    bytes_number(&b->file, 0x06054b50, 4);
    bytes_number(&b->file, 0, 4);
    bytes_number(&b->file, zip64 ? UINT16_MAX : b->count, 2);
    bytes_number(&b->file, zip64 ? UINT16_MAX : b->count, 2);
    bytes_number(&b->file, zip64 ? UINT32_MAX : size, 4);
    bytes_number(&b->file, zip64 ? UINT32_MAX : start, 4);
    bytes_number(&b->file, strlen(comment), 2);
    bytes_add(&b->file, comment, strlen(comment));
    bytes_free(&b->directory);
    return b->file;
}

#endif
