// SPDX-License-Identifier: BSD-2-Clause
// A bounds-checked reader. Readers of file formats access untrusted bytes only through it. Numbers are little-endian
// unless a function's name says otherwise. A failed read reports the absolute position in the file and does not move
// the reader.
#ifndef TAPER_BASE_READER_H
#define TAPER_BASE_READER_H

#include <string.h>

#include "base/checked.h"
#include "base/status.h"

typedef struct taper_reader {
    const uint8_t *data;
    size_t size;
    size_t position;
    uint64_t base;    // position of `data` in the file, in bytes, for messages
    const char *what; // name of the data for messages, such as "bytecode.pkl"
    taper_error *error;
} taper_reader;

static inline taper_reader taper_reader_make(const void *data, size_t size, uint64_t base, const char *what,
                                             taper_error *error)
{
    return (taper_reader){.data = data, .size = size, .base = base, .what = what, .error = error};
}

static inline size_t taper_reader_left(const taper_reader *reader)
{
    return reader->size - reader->position;
}

static inline taper_status taper_reader_truncated(const taper_reader *reader, size_t want)
{
    (void)taper_fail_at(reader->error, TAPER_ERROR_FILE, (int64_t)(reader->base + reader->position),
                        "%s ends early: %zu bytes wanted, %zu left", reader->what, want, taper_reader_left(reader));
    return TAPER_ERROR_FILE;
}

// Sets *bytes to the next n bytes of the underlying data, which still owns them, and moves past these bytes.
static inline taper_status taper_read_bytes(taper_reader *reader, size_t n, const uint8_t **bytes)
{
    if (n > taper_reader_left(reader)) {
        (void)taper_reader_truncated(reader, n);
        return TAPER_ERROR_FILE; // a constant, so that compilers see that a failed read sets no result
    }
    *bytes = reader->data + reader->position;
    reader->position += n;
    return TAPER_OK;
}

static inline taper_status taper_read_u8(taper_reader *reader, uint8_t *value)
{
    const uint8_t *p;
    TAPER_TRY(taper_read_bytes(reader, 1, &p));
    *value = p[0];
    return TAPER_OK;
}

static inline uint16_t taper_load_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

inline uint32_t taper_load_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t taper_load_u64(const uint8_t *p)
{
    return (uint64_t)taper_load_u32(p) | (uint64_t)taper_load_u32(p + 4) << 32;
}

static inline taper_status taper_read_u16(taper_reader *reader, uint16_t *value)
{
    const uint8_t *p;
    TAPER_TRY(taper_read_bytes(reader, 2, &p));
    *value = taper_load_u16(p);
    return TAPER_OK;
}

static inline taper_status taper_read_u32(taper_reader *reader, uint32_t *value)
{
    const uint8_t *p;
    TAPER_TRY(taper_read_bytes(reader, 4, &p));
    *value = taper_load_u32(p);
    return TAPER_OK;
}

static inline taper_status taper_read_u64(taper_reader *reader, uint64_t *value)
{
    const uint8_t *p;
    TAPER_TRY(taper_read_bytes(reader, 8, &p));
    *value = taper_load_u64(p);
    return TAPER_OK;
}

static inline taper_status taper_read_f64_big(taper_reader *reader, double *value)
{
    const uint8_t *p;
    TAPER_TRY(taper_read_bytes(reader, 8, &p));
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++) {
        bits = bits << 8 | p[i];
    }
    memcpy(value, &bits, sizeof bits);
    return TAPER_OK;
}

// Reads a line that ends in '
// '. *line points into the underlying data. *length excludes the newline.
static inline taper_status taper_read_line(taper_reader *reader, const char **line, size_t *length)
{
    const uint8_t *start = reader->data + reader->position;
    const size_t left = taper_reader_left(reader);
    const uint8_t *end = left == 0 ? NULL : memchr(start, '\n', left);
    if (end == NULL) {
        (void)taper_reader_truncated(reader, left + 1);
        return TAPER_ERROR_FILE;
    }
    *line = (const char *)start;
    *length = (size_t)(end - start);
    reader->position += *length + 1;
    return TAPER_OK;
}

#endif
