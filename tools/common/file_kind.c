// SPDX-License-Identifier: BSD-2-Clause
#include "common/file_kind.h"

#include <string.h>

#include "common/utf8.h"

typedef struct signature {
    const char *bytes;
    size_t length, at;
    file_kind kind;
    const char *name;
} signature;

static const signature signatures[] = {
    {"\x93NUMPY", 6, 0, FILE_KIND_NPY, "a NumPy array"},
    {"PK\3\4", 4, 0, FILE_KIND_ZIP, "a zip archive"},
    {"PK\5\6", 4, 0, FILE_KIND_ZIP, "an empty zip archive"},
    {"\x89PNG\r\n\x1a\n", 8, 0, FILE_KIND_PICTURE, "a PNG picture"},
    {"\xFF\xD8\xFF", 3, 0, FILE_KIND_PICTURE, "a JPEG picture"},
    {"GIF8", 4, 0, FILE_KIND_OTHER, "a GIF picture"},
    {"WEBP", 4, 8, FILE_KIND_OTHER, "a WebP picture"},
    {"BM", 2, 0, FILE_KIND_OTHER, "a BMP picture"},
    {"II*\0", 4, 0, FILE_KIND_OTHER, "a TIFF picture"},
    {"MM\0*", 4, 0, FILE_KIND_OTHER, "a TIFF picture"},
    {"ftyphei", 7, 4, FILE_KIND_OTHER, "a HEIC picture"},
    {"ftypavif", 8, 4, FILE_KIND_OTHER, "an AVIF picture"},
    {"WAVE", 4, 8, FILE_KIND_OTHER, "a WAVE sound"},
    {"\x1f\x8b", 2, 0, FILE_KIND_OTHER, "a gzip file"},
    {"\x89HDF", 4, 0, FILE_KIND_OTHER, "an HDF5 file"},
    {"PTMF", 4, 4, FILE_KIND_OTHER, "a model"},
    {"\x80\2", 2, 0, FILE_KIND_OTHER, "a pickle"},
    {"\x80\4", 2, 0, FILE_KIND_OTHER, "a pickle"},
};

// Returns true if the bytes begin like text: valid UTF-8 without control characters, except white space.
static int is_text(const char *bytes, size_t size)
{
    const size_t looked = size < 512 ? size : 512;
    for (size_t i = 0; i < looked;) {
        const size_t length = utf8_length(bytes + i, size - i);
        const int line = bytes[i] == '\n' || bytes[i] == '\r' || bytes[i] == '\t';
        if (length == 0 || (!line && utf8_is_control(bytes + i, length))) {
            return 0;
        }
        i += length;
    }
    return 1;
}

file_kind file_kind_of(const unsigned char *bytes, size_t size, const char **name)
{
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
        const signature *s = &signatures[i];
        if (size >= s->at + s->length && memcmp(bytes + s->at, s->bytes, s->length) == 0) {
            *name = s->name;
            return s->kind;
        }
    }
    *name = size == 0 ? "nothing" : is_text((const char *)bytes, size) ? "text" : "something else";
    return FILE_KIND_OTHER;
}
