// SPDX-License-Identifier: BSD-2-Clause
#include "tests/ops/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/inflate.h"

static _Noreturn void broken(const char *what)
{
    fprintf(stderr, "the recording is broken: %s\n", what);
    exit(2);
}

static void *memory(size_t size)
{
    void *data = calloc(size != 0 ? size : 1, 1);
    if (data == NULL) {
        broken("too little memory");
    }
    return data;
}

static unsigned char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    long length;
    if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (length = ftell(file)) < 16 || fseek(file, 0, SEEK_SET) != 0) {
        broken(path);
    }
    unsigned char *bytes = memory((size_t)length);
    if (fread(bytes, 1, (size_t)length, file) != (size_t)length) {
        broken(path);
    }
    (void)fclose(file);
    *size = (size_t)length;
    return bytes;
}

void recording_open(const char *path, recording *r)
{
    size_t packed_size;
    unsigned char *packed = read_file(path, &packed_size);
    uint64_t size;
    memcpy(&size, packed + 8, sizeof size);
    if (memcmp(packed, "TAPERREC", 8) != 0 || size > (uint64_t)1 << 30) {
        broken(path);
    }
    *r = (recording){.bytes = memory((size_t)size)};
    enum { HEAD = 16, ZLIB_HEAD = 2 };
    if (packed_size < HEAD + ZLIB_HEAD || taper_inflate(&taper_allocator_system, packed + HEAD + ZLIB_HEAD,
                                                        packed_size - HEAD - ZLIB_HEAD, r->bytes, size) != TAPER_OK) {
        broken("it does not unpack");
    }
    free(packed);
    r->at = r->bytes;
    r->end = r->bytes + size;
    r->blob_count = recording_count(r);
    r->blobs = memory(r->blob_count * sizeof *r->blobs);
    for (size_t i = 0; i < r->blob_count; i++) {
        r->blobs[i] = recording_text(r);
    }
    r->case_count = recording_count(r);
}

void recording_close(recording *r)
{
    if (r->at != r->end) {
        broken("more lies behind its last case");
    }
    free(r->blobs);
    free(r->bytes);
}

static const unsigned char *take(recording *r, size_t size)
{
    if ((size_t)(r->end - r->at) < size) {
        broken("it ends early");
    }
    const unsigned char *data = r->at;
    r->at += size;
    return data;
}

unsigned char recording_byte(recording *r)
{
    return *take(r, 1);
}

uint32_t recording_count(recording *r)
{
    uint32_t n;
    memcpy(&n, take(r, sizeof n), sizeof n);
    return n;
}

int64_t recording_int(recording *r)
{
    int64_t n;
    memcpy(&n, take(r, sizeof n), sizeof n);
    return n;
}

double recording_double(recording *r)
{
    double n;
    memcpy(&n, take(r, sizeof n), sizeof n);
    return n;
}

blob recording_text(recording *r)
{
    const size_t size = recording_count(r);
    return (blob){take(r, size), size};
}

blob recording_blob(recording *r)
{
    const size_t index = recording_count(r);
    if (index >= r->blob_count) {
        broken("a blob that it does not have");
    }
    return r->blobs[index];
}

recorded_tensor recording_tensor(recording *r, bool result)
{
    recorded_tensor t = {.dtype = (taper_dtype)recording_byte(r)};
    t.rank = recording_byte(r);
    t.quantized = recording_byte(r) != 0;
    if (t.rank > TAPER_MAX_RANK) {
        broken("a tensor of too many dimensions");
    }
    for (size_t i = 0; i < t.rank; i++) {
        t.sizes[i] = recording_int(r);
    }
    for (size_t i = 0; i < t.rank; i++) {
        t.strides[i] = recording_int(r);
    }
    if (t.quantized) {
        t.scale = recording_double(r);
        t.zero_point = recording_int(r);
    }
    t.elements = recording_blob(r);
    if (result) {
        t.agreement = (enum agreement)recording_byte(r);
        t.relative = recording_double(r);
        t.absolute = recording_double(r);
    }
    return t;
}

// ---- inputs

static taper_status input_tensor(recording *r, taper_context *context, taper_value **value, taper_error *error)
{
    const recorded_tensor t = recording_tensor(r, false);
    if (t.quantized) {
        return taper_value_tensor_quantized(context, t.dtype, t.rank, t.sizes, t.elements.data, t.elements.size,
                                            t.scale, t.zero_point, value, error);
    }
    void *copy = memory(t.elements.size);
    if (t.elements.size != 0) {
        memcpy(copy, t.elements.data, t.elements.size);
    }
    const taper_status status = taper_value_tensor_from(context, t.dtype, t.rank, t.sizes, t.strides, copy,
                                                        t.elements.size, 0, free, copy, value, error);
    if (status != TAPER_OK) {
        free(copy);
    }
    return status;
}

// Returns the text NUL-terminated, or NULL for an empty text.
static char *type_text(recording *r)
{
    const blob b = recording_text(r);
    char *text = b.size != 0 ? memory(b.size + 1) : NULL;
    if (text != NULL) {
        memcpy(text, b.data, b.size);
    }
    return text;
}

static taper_status input_container(recording *r, unsigned char letter, taper_context *context, taper_value **value,
                                    taper_error *error)
{
    char *first = letter != 't' ? type_text(r) : NULL, *second = letter == 'm' ? type_text(r) : NULL;
    const size_t count = recording_count(r), each = letter == 'm' ? 2 : 1;
    taper_value **items = memory(2 * count * sizeof(taper_value *)), **values = items + count;
    bool whole = true;
    for (size_t i = 0; i < count; i++) {
        items[i] = recording_input(r, context, error);
        values[i] = each == 2 ? recording_input(r, context, error) : NULL;
        whole = whole && items[i] != NULL && (each == 1 || values[i] != NULL);
    }
    taper_status status = TAPER_ERROR_ARGUMENT;
    if (whole && letter == 'l') {
        status = taper_value_list(context, first, items, count, value, error);
    } else if (whole && letter == 't') {
        status = taper_value_tuple(context, items, count, value, error);
    } else if (whole) {
        status = taper_value_dict(context, first, second, items, values, count, value, error);
    }
    for (size_t i = 0; i < 2 * count; i++) {
        taper_value_release(items[i]);
    }
    free(items);
    free(first);
    free(second);
    return status;
}

static taper_status input(recording *r, taper_context *context, taper_value **value, taper_error *error)
{
    const unsigned char letter = recording_byte(r);
    switch (letter) {
    case 'N':
        return taper_value_none(context, value, error);
    case 'b':
        return taper_value_bool(context, recording_byte(r), value, error);
    case 'i':
        return taper_value_int(context, recording_int(r), value, error);
    case 'd':
        return taper_value_double(context, recording_double(r), value, error);
    case 'c': {
        const double re = recording_double(r), im = recording_double(r);
        return taper_value_complex(context, re, im, value, error);
    }
    case 's': {
        const blob b = recording_text(r);
        return taper_value_string(context, (const char *)b.data, b.size, value, error);
    }
    case 'T':
        return input_tensor(r, context, value, error);
    case 'l':
    case 't':
    case 'm':
        return input_container(r, letter, context, value, error);
    default:
        broken("a value of no kind");
    }
}

taper_value *recording_input(recording *r, taper_context *context, taper_error *error)
{
    taper_value *value = NULL;
    const taper_status status = input(r, context, &value, error);
    return status == TAPER_OK ? value : NULL;
}

void recording_skip_outcome(recording *r)
{
    const unsigned char letter = recording_byte(r);
    size_t count = 0;
    switch (letter) {
    case 'N':
        return;
    case 'b':
        (void)recording_byte(r);
        return;
    case 'c':
        (void)recording_double(r);
        (void)recording_double(r);
        return;
    case 'i':
    case 'd':
        (void)recording_double(r);
        return;
    case 's':
    case 'E':
        (void)recording_text(r);
        return;
    case 'T':
        (void)recording_tensor(r, true);
        return;
    default:
        (void)recording_text(r);
        if (letter == 'm') {
            (void)recording_text(r);
        }
        count = recording_count(r);
        for (size_t i = 0; i < (letter == 'm' ? 2 * count : count); i++) {
            recording_skip_outcome(r);
        }
    }
}
