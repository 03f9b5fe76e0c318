// SPDX-License-Identifier: BSD-2-Clause
// Reads NumPy's archives. Offsets and sizes come from the central directory, and each is compared with the size of the
// file.
#include "common/npz_read.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/errors.h"

enum { LOCAL_SIZE = 30, CENTRAL_SIZE = 46, END_SIZE = 22, COMMENT_MOST = 65535 };
enum { STORED = 0, DEFLATED = 8 };
#define INFLATED_MOST 1032 // largest ratio of an entry's inflated size to its deflated size

typedef struct entry {
    const char *name; // name in the archive, with ".npy"
    size_t name_length;
    unsigned method;
    uint32_t crc, packed, size, position;
} entry;

static unsigned get16(const unsigned char *at)
{
    return (unsigned)at[0] | (unsigned)at[1] << 8;
}

static uint32_t get32(const unsigned char *at)
{
    return (uint32_t)get16(at) | (uint32_t)get16(at + 2) << 16;
}

static bool damaged(const npz_archive *npz)
{
    return error_report(npz->path, "not an .npz archive, or a damaged one");
}

bool npz_read(npz_archive *npz, const char *path, const unsigned char *bytes, size_t size)
{
    *npz = (npz_archive){.path = path, .bytes = bytes, .size = size};
    for (size_t back = END_SIZE; back <= size && back <= END_SIZE + COMMENT_MOST; back++) {
        const unsigned char *end = bytes + size - back;
        if (memcmp(end, "PK\5\6", 4) == 0) {
            npz->count = get16(end + 10);
            npz->directory = get32(end + 16);
            return npz->directory <= size - back || damaged(npz);
        }
    }
    return damaged(npz);
}

// Reads the entry at *at of the directory and moves *at to the next entry. Returns false if the entry is damaged.
static bool next_entry(const npz_archive *npz, size_t *at, entry *e)
{
    const unsigned char *c = npz->bytes + *at;
    if (npz->size - *at < CENTRAL_SIZE || memcmp(c, "PK\1\2", 4) != 0) {
        return false;
    }
    const size_t name = get16(c + 28), rest = (size_t)get16(c + 30) + get16(c + 32);
    if (npz->size - *at - CENTRAL_SIZE < name + rest) {
        return false;
    }
    *e = (entry){(const char *)c + CENTRAL_SIZE,
                 name,
                 get16(c + 10),
                 get32(c + 16),
                 get32(c + 20),
                 get32(c + 24),
                 get32(c + 42)};
    *at += CENTRAL_SIZE + name + rest;
    return true;
}

static bool is_key(const entry *e, const char *key, size_t length)
{
    return e->name_length == length + 4 && memcmp(e->name, key, length) == 0 &&
           memcmp(e->name + length, ".npy", 4) == 0;
}

static bool find(const npz_archive *npz, const char *key, size_t length, entry *e)
{
    size_t at = npz->directory;
    for (size_t i = 0; i < npz->count && next_entry(npz, &at, e); i++) {
        if (is_key(e, key, length)) {
            return true;
        }
    }
    return false;
}

bool npz_has(const npz_archive *npz, const char *key)
{
    entry e;
    return find(npz, key, strlen(key), &e);
}

// Returns true for "x.scale" and "x.zero_point" if the archive has "x": they describe the quantization of x.
static bool belongs_to_another(const npz_archive *npz, const entry *e)
{
    static const char *const suffixes[] = {".scale.npy", ".zero_point.npy"};
    entry whole;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        const size_t suffix = strlen(suffixes[i]);
        if (e->name_length > suffix && memcmp(e->name + e->name_length - suffix, suffixes[i], suffix) == 0 &&
            find(npz, e->name, e->name_length - suffix, &whole)) {
            return true;
        }
    }
    return false;
}

bool npz_only(const npz_archive *npz, char key[512], char known[256])
{
    size_t at = npz->directory, found = 0, used = 0;
    entry e;
    key[0] = known[0] = '\0';
    for (size_t i = 0; i < npz->count && next_entry(npz, &at, &e); i++) {
        if (e.name_length < 5 || e.name_length >= 512 || memcmp(e.name + e.name_length - 4, ".npy", 4) != 0 ||
            belongs_to_another(npz, &e)) {
            continue;
        }
        found++;
        snprintf(key, 512, "%.*s", (int)(e.name_length - 4), e.name);
        if (used + strlen(key) + 8 < 256) {
            used += (size_t)snprintf(known + used, 256 - used, "%s%s", used != 0 ? ", " : "", key);
        } else if (used < 250) {
            snprintf(known + used, 256 - used, ", …");
            used = 256;
        }
    }
    return found == 1;
}

static bool unpack(const npz_archive *npz, const entry *e, const unsigned char *data, unsigned char *out)
{
    if (e->method == STORED) {
        memcpy(out, data, e->size);
        return true;
    }
    z_stream stream = {
        .next_in = (Bytef *)(uintptr_t)data, .avail_in = e->packed, .next_out = out, .avail_out = e->size};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
        return error_report_memory(npz->path);
    }
    const int status = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    return (status == Z_STREAM_END && stream.avail_out == 0) || damaged(npz);
}

static uint32_t checksum(const unsigned char *bytes, size_t size)
{
    // The size of an entry has 32 bits, so the cast to uInt loses nothing.
    return (uint32_t)crc32(crc32(0, NULL, 0), bytes, (uInt)size);
}

bool npz_take(const npz_archive *npz, const char *key, unsigned char **npy, size_t *size)
{
    entry e;
    *npy = NULL;
    if (!find(npz, key, strlen(key), &e)) {
        char only[512], known[256];
        npz_only(npz, only, known);
        return error_report(npz->path, "there is no array \"%.200s\" in it: it holds %s", key,
                            *known != '\0' ? known : "none");
    }
    if (e.packed == UINT32_MAX || e.size == UINT32_MAX || e.position == UINT32_MAX) {
        return error_report(npz->path, "arrays of 4 GiB and more are read from .npy files only");
    }
    const unsigned char *local = npz->bytes + e.position;
    if (e.position > npz->size || npz->size - e.position < LOCAL_SIZE || memcmp(local, "PK\3\4", 4) != 0) {
        return damaged(npz);
    }
    const size_t skip = LOCAL_SIZE + (size_t)get16(local + 26) + get16(local + 28), left = npz->size - e.position;
    const bool fits = skip <= left && e.packed <= left - skip;
    if (!fits || (e.method != STORED && e.method != DEFLATED) || (e.method == STORED && e.size != e.packed) ||
        e.size / INFLATED_MOST > e.packed) {
        return damaged(npz);
    }
    *npy = malloc((size_t)e.size + 1);
    if (*npy == NULL) {
        return error_report_memory(npz->path);
    }
    *size = e.size;
    if (!unpack(npz, &e, local + skip, *npy) || (checksum(*npy, *size) != e.crc && !damaged(npz))) {
        free(*npy);
        *npy = NULL;
        return false;
    }
    return true;
}
