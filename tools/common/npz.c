// SPDX-License-Identifier: BSD-2-Clause
// Writes zip archives without the extension zip64, so an archive or an array of more than 4 GiB is an error.
#include "common/npz.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/errors.h"
#include "common/npy.h"

enum { LOCAL_SIZE = 30, CENTRAL_SIZE = 46, END_SIZE = 22, NAME_LIMIT = 4096 };

static void put16(unsigned char *out, unsigned value)
{
    out[0] = (unsigned char)value;
    out[1] = (unsigned char)(value >> 8);
}

static void put32(unsigned char *out, uint64_t value)
{
    put16(out, (unsigned)(value & 0xFFFF));
    put16(out + 2, (unsigned)(value >> 16 & 0xFFFF));
}

// Writes the fields shared by the local and the central header, from "version needed" to the length of the extra field.
static void put_common(unsigned char *out, bool utf8, uint32_t crc, uint64_t size, size_t name_length)
{
    put16(out, 20);
    put16(out + 2, utf8 ? 0x800 : 0);
    put16(out + 4, 0);    // method: stored
    put16(out + 6, 0);    // time: midnight
    put16(out + 8, 0x21); // date: 1980-01-01
    put32(out + 10, crc);
    put32(out + 14, size);
    put32(out + 18, size);
    put16(out + 22, (unsigned)name_length);
    put16(out + 24, 0);
}

static bool write_bytes(npz_writer *npz, const void *bytes, size_t size)
{
    if (size != 0 && !output_write(&npz->output, bytes, size)) {
        return error_report(npz->output.path, "cannot write: the device is full or failed");
    }
    npz->position += size;
    return true;
}

bool npz_open(npz_writer *npz, const char *path)
{
    *npz = (npz_writer){0};
    return output_open(&npz->output, path);
}

static bool reserve(npz_writer *npz, size_t size)
{
    if (npz->directory_capacity - npz->directory_size < size) {
        const size_t capacity = npz->directory_capacity * 2 + size;
        unsigned char *grown = realloc(npz->directory, capacity);
        if (grown == NULL) {
            return error_report_memory(npz->output.path);
        }
        npz->directory = grown;
        npz->directory_capacity = capacity;
    }
    return true;
}

static uint32_t checksum(const char *header, size_t header_size, const void *data, size_t bytes)
{
    uLong crc = crc32(0, (const Bytef *)header, (uInt)header_size);
    const Bytef *at = data;
    while (bytes != 0) { // zlib counts bytes in 32 bits, so larger data is passed in steps
        const size_t part = bytes < 1u << 30 ? bytes : 1u << 30;
        crc = crc32(crc, at, (uInt)part);
        at += part;
        bytes -= part;
    }
    return (uint32_t)crc;
}

bool npz_add(npz_writer *npz, const char *name, size_t name_length, const char *descr, size_t rank,
             const int64_t *sizes, const void *data, size_t bytes)
{
    char header[NPY_HEADER_MAX];
    const size_t header_size = npy_header(header, descr, rank, sizes);
    const size_t full_length = name_length + 4;
    if (name_length > NAME_LIMIT) {
        return error_report(npz->output.path, "the key of a result is longer than %d bytes", NAME_LIMIT);
    }
    if (npz->count == 0xFFFF) {
        return error_report(npz->output.path, "the result has more than 65535 arrays; use --json");
    }
    if (bytes > UINT32_MAX - 65536 || npz->position > UINT32_MAX - 65536 - bytes) {
        return error_report(npz->output.path, "an .npz file holds up to 4 GiB, the result has more");
    }
    bool utf8 = false;
    for (size_t i = 0; i < name_length; i++) {
        utf8 = utf8 || (name[i] & 0x80) != 0;
    }
    const uint32_t crc = checksum(header, header_size, data, bytes);
    const uint64_t position = npz->position, size = header_size + bytes;
    unsigned char local[LOCAL_SIZE] = "PK\3\4";
    put_common(local + 4, utf8, crc, size, full_length);
    if (!reserve(npz, CENTRAL_SIZE + full_length)) {
        return false;
    }
    unsigned char *central = npz->directory + npz->directory_size;
    memset(central, 0, CENTRAL_SIZE);
    memcpy(central, "PK\1\2", 4);
    put16(central + 4, 3 << 8 | 20); // "made by": Unix, which makes the file mode below valid
    put_common(central + 6, utf8, crc, size, full_length);
    put32(central + 38, UINT64_C(0100644) << 16);
    put32(central + 42, position);
    memcpy(central + CENTRAL_SIZE, name, name_length);
    memcpy(central + CENTRAL_SIZE + name_length, ".npy", 4);
    npz->directory_size += CENTRAL_SIZE + full_length;
    npz->count++;
    return write_bytes(npz, local, LOCAL_SIZE) && write_bytes(npz, name, name_length) && write_bytes(npz, ".npy", 4) &&
           write_bytes(npz, header, header_size) && write_bytes(npz, data, bytes);
}

bool npz_commit(npz_writer *npz)
{
    const uint64_t position = npz->position;
    unsigned char end[END_SIZE] = "PK\5\6";
    put16(end + 8, (unsigned)npz->count);
    put16(end + 10, (unsigned)npz->count);
    put32(end + 12, npz->directory_size);
    put32(end + 16, position);
    const bool done = write_bytes(npz, npz->directory, npz->directory_size) && write_bytes(npz, end, END_SIZE) &&
                      output_commit(&npz->output);
    npz_discard(npz);
    return done;
}

void npz_discard(npz_writer *npz)
{
    output_discard(&npz->output);
    free(npz->directory);
    *npz = (npz_writer){0};
}
