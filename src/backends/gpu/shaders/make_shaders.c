// SPDX-License-Identifier: BSD-2-Clause
// Build tool: `make_shaders OUT ARRAY FILE…` writes compiled shaders, deflated, as C source: their bytes, and ARRAY (of
// taper_gpu_packed, gpu_api.h) in the order of the names. "-" stands for a missing shader. Most words of SPIR-V are
// small numbers. The result is a fifth smaller if all first bytes of words come first, then all second bytes, and so
// on.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static unsigned char *read_file(const char *name, size_t *size)
{
    FILE *file = fopen(name, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        return NULL;
    }
    const long end = ftell(file);
    unsigned char *bytes = end > 0 ? malloc((size_t)end) : NULL;
    rewind(file);
    if (bytes == NULL || fread(bytes, 1, (size_t)end, file) != (size_t)end) {
        return NULL;
    }
    fclose(file);
    *size = (size_t)end;
    return bytes;
}

static int is_words(const unsigned char *bytes, size_t size)
{
    static const unsigned char magic[] = {0x03, 0x02, 0x23, 0x07};
    return size % 4 == 0 && size >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

static unsigned char *by_planes(const unsigned char *bytes, size_t size)
{
    unsigned char *planes = malloc(size);
    for (size_t i = 0; planes != NULL && i < size; i++) {
        planes[i % 4 * (size / 4) + i / 4] = bytes[i];
    }
    return planes;
}

// HEAD: bytes of zlib's header before the deflated data; SUM: bytes of its checksum after the data.
enum { HEAD = 2, SUM = 4 };

int main(int argc, char **argv)
{
    FILE *out = argc > 2 ? fopen(argv[1], "w") : NULL;
    if (out == NULL) {
        fprintf(stderr, "usage: make_shaders OUT ARRAY FILE...\n");
        return 2;
    }
    uLongf packed[256] = {0};
    int words[256] = {0};
    size_t sizes[256] = {0};
    for (int i = 3; i < argc && i < 256; i++) {
        if (strcmp(argv[i], "-") == 0) {
            continue;
        }
        unsigned char *bytes = read_file(argv[i], &sizes[i]);
        if (bytes == NULL) {
            fprintf(stderr, "make_shaders: %s cannot be read\n", argv[i]);
            return 1;
        }
        words[i] = is_words(bytes, sizes[i]);
        if (words[i]) {
            unsigned char *planes = by_planes(bytes, sizes[i]);
            free(bytes);
            bytes = planes;
        }
        packed[i] = compressBound(sizes[i]);
        unsigned char *to = malloc(packed[i]);
        if (bytes == NULL || to == NULL || compress2(to, &packed[i], bytes, sizes[i], 9) != Z_OK) {
            fprintf(stderr, "make_shaders: %s cannot be deflated\n", argv[i]);
            return 1;
        }
        packed[i] -= HEAD + SUM;
        fprintf(out, "static const unsigned char shader_%d[] = {", i - 3);
        for (uLongf k = 0; k < packed[i]; k++) {
            fprintf(out, "%s%u", k == 0 ? "" : k % 32 == 0 ? ",\n" : ",", to[HEAD + k]);
        }
        fprintf(out, "};\n");
        free(to);
        free(bytes);
    }
    fprintf(out, "const taper_gpu_packed %s[] = {\n", argv[2]);
    for (int i = 3; i < argc; i++) {
        if (sizes[i] == 0) {
            fprintf(out, "{0, 0, 0, false},\n");
        } else {
            fprintf(out, "{shader_%d, %lu, %lu, %s},\n", i - 3, (unsigned long)packed[i], (unsigned long)sizes[i],
                    words[i] ? "true" : "false");
        }
    }
    fprintf(out, "};\n");
    return fclose(out) == 0 ? 0 : 1;
}
