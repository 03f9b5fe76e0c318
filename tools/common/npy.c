// SPDX-License-Identifier: BSD-2-Clause
#include "common/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/errors.h"

static bool little_endian(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1;
}

static const struct {
    const char *code; // NumPy's name without the byte order
    taper_dtype dtype;
} dtypes[] = {
    {"f4", TAPER_F32}, {"f8", TAPER_F64}, {"f2", TAPER_F16},  {"u1", TAPER_U8},  {"i1", TAPER_I8},    {"i2", TAPER_I16},
    {"i4", TAPER_I32}, {"i8", TAPER_I64}, {"b1", TAPER_BOOL}, {"c8", TAPER_C64}, {"c16", TAPER_C128},
};

// Finds the value of a key in the dict of the header. *left is the length from the value to the end of the header.
// Returns NULL if the key is absent.
static const char *find_key(const char *header, size_t length, const char *key, size_t *left)
{
    const size_t key_length = strlen(key);
    for (size_t i = 0; i + key_length + 2 < length; i++) {
        const char quote = header[i];
        if ((quote == '\'' || quote == '"') && memcmp(header + i + 1, key, key_length) == 0 &&
            header[i + 1 + key_length] == quote) {
            i += key_length + 2;
            while (i < length && (header[i] == ' ' || header[i] == ':')) {
                i++;
            }
            *left = length - i;
            return header + i;
        }
    }
    return NULL;
}

static bool parse_descr(const char *path, const char *text, size_t left, npy_array *array)
{
    char code[16] = "";
    const char quote = left > 0 ? *text : '\0';
    size_t length = 0;
    if (quote != '\'' && quote != '"') {
        return error_report(path, "arrays of records are not supported; save a plain array");
    }
    while (length + 1 < left && length + 1 < sizeof code && text[length + 1] != quote) {
        code[length] = text[length + 1];
        length++;
    }
    code[length] = '\0';
    const bool ordered = code[0] == '<' || code[0] == '>' || code[0] == '|' || code[0] == '=';
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        if (strcmp(code + ordered, dtypes[i].code) == 0) {
            array->dtype = dtypes[i].dtype;
            array->swapped = code[0] == (little_endian() ? '>' : '<');
            return true;
        }
    }
    return error_report(path, "elements of type \"%s\" have no PyTorch dtype; convert the array with astype", code);
}

static bool parse_shape(const char *path, const char *text, size_t left, npy_array *array)
{
    size_t i = 0;
    if (left == 0 || text[i++] != '(') {
        return error_report(path, "damaged .npy header: no shape");
    }
    for (;;) {
        while (i < left && (text[i] == ' ' || text[i] == ',')) {
            i++;
        }
        if (i < left && text[i] == ')') {
            return true;
        }
        int64_t size = 0;
        const size_t first = i;
        while (i < left && text[i] >= '0' && text[i] <= '9') {
            if (size > (INT64_MAX - 9) / 10) {
                return error_report(path, "damaged .npy header: a size is too large");
            }
            size = size * 10 + (text[i++] - '0');
        }
        if (i == first) {
            return error_report(path, "damaged .npy header: the shape cannot be read");
        }
        if (array->rank == TAPER_MAX_RANK) {
            return error_report(path, "more than %d dimensions", TAPER_MAX_RANK);
        }
        array->sizes[array->rank++] = size;
    }
}

bool npy_parse(const char *path, const unsigned char *bytes, size_t size, npy_array *array)
{
    *array = (npy_array){0};
    if (size < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0) {
        return error_report(path, "not a .npy file");
    }
    const size_t prefix = bytes[6] == 1 ? 10 : 12;
    if (bytes[6] < 1 || bytes[6] > 3 || size < prefix) {
        return error_report(path, "unknown version %u of the .npy format", (unsigned)bytes[6]);
    }
    size_t length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (prefix == 12) {
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    }
    if (length > size - prefix) {
        return error_report(path, "the .npy header is cut off");
    }
    const char *header = (const char *)bytes + prefix;
    size_t descr_left, order_left, shape_left;
    const char *descr = find_key(header, length, "descr", &descr_left);
    const char *order = find_key(header, length, "fortran_order", &order_left);
    const char *shape = find_key(header, length, "shape", &shape_left);
    if (descr == NULL || order == NULL || shape == NULL) {
        return error_report(path, "damaged .npy header: descr, fortran_order or shape is missing");
    }
    if (!parse_descr(path, descr, descr_left, array) || !parse_shape(path, shape, shape_left, array)) {
        return false;
    }
    array->fortran_order = order_left >= 4 && memcmp(order, "True", 4) == 0;
    array->offset = prefix + length;
    array->bytes = taper_dtype_size(array->dtype);
    const size_t held = size - array->offset;
    for (size_t i = 0; i < array->rank; i++) {
        // The size of the file bounds the product, so that it cannot overflow.
        if (array->sizes[i] != 0 && array->bytes > held / (uint64_t)array->sizes[i]) {
            bool empty = false;
            for (size_t k = 0; k < array->rank; k++) {
                empty = empty || array->sizes[k] == 0;
            }
            if (!empty) {
                return error_report(path, "cut off: the header promises more elements than the file holds");
            }
            array->bytes = 0;
        }
        array->bytes *= (size_t)array->sizes[i];
    }
    return array->bytes <= held || error_report(path, "cut off: the header promises more elements than the file holds");
}

const char *npy_descr(taper_dtype dtype)
{
    enum { DTYPE_COUNT = TAPER_QU2X4 + 1 };
    static const char *const little[DTYPE_COUNT] = {
        [TAPER_U8] = "|u1",   [TAPER_I8] = "|i1",  [TAPER_I16] = "<i2", [TAPER_I32] = "<i4",  [TAPER_I64] = "<i8",
        [TAPER_F16] = "<f2",  [TAPER_F32] = "<f4", [TAPER_F64] = "<f8", [TAPER_C64] = "<c8",  [TAPER_C128] = "<c16",
        [TAPER_BOOL] = "|b1", [TAPER_QI8] = "|i1", [TAPER_QU8] = "|u1", [TAPER_QI32] = "<i4", [TAPER_BF16] = "<f4",
    };
    static const char *const big[DTYPE_COUNT] = {
        [TAPER_U8] = "|u1",   [TAPER_I8] = "|i1",  [TAPER_I16] = ">i2", [TAPER_I32] = ">i4",  [TAPER_I64] = ">i8",
        [TAPER_F16] = ">f2",  [TAPER_F32] = ">f4", [TAPER_F64] = ">f8", [TAPER_C64] = ">c8",  [TAPER_C128] = ">c16",
        [TAPER_BOOL] = "|b1", [TAPER_QI8] = "|i1", [TAPER_QU8] = "|u1", [TAPER_QI32] = ">i4", [TAPER_BF16] = ">f4",
    };
    return (unsigned)dtype >= DTYPE_COUNT ? NULL : little_endian() ? little[dtype] : big[dtype];
}

size_t npy_header(char header[NPY_HEADER_MAX], const char *descr, size_t rank, const int64_t *sizes)
{
    char *text = header + 10;
    const size_t room = NPY_HEADER_MAX - 10 - 65; // bytes for the dict, without prefix, padding and newline
    size_t used = (size_t)snprintf(text, room, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (size_t i = 0; i < rank; i++) { // at most TAPER_MAX_RANK sizes of 20 characters
        used += (size_t)snprintf(text + used, room - used, "%" PRId64 "%s", sizes[i],
                                 rank == 1      ? ","
                                 : i + 1 < rank ? ", "
                                                : "");
    }
    used += (size_t)snprintf(text + used, room - used, "), }");
    while ((10 + used + 1) % 64 != 0) {
        text[used++] = ' ';
    }
    text[used++] = '\n';
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)(used & 255);
    header[9] = (char)(used >> 8);
    return 10 + used;
}
