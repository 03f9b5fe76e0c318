// SPDX-License-Identifier: BSD-2-Clause
#include "common/input_made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/errors.h"

#define BYTES_MOST ((uint64_t)1 << 40)

enum { ELEMENT_MOST = 8 };

static const taper_dtype dtypes[] = {TAPER_F32, TAPER_F64, TAPER_BOOL, TAPER_U8,
                                     TAPER_I8,  TAPER_I16, TAPER_I32,  TAPER_I64};

static bool find_dtype(const input_source *source, const char *name, taper_dtype *dtype)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        if (strcmp(taper_dtype_name(dtypes[i]), name) == 0) {
            *dtype = dtypes[i];
            return true;
        }
    }
    return error_report(source->subject,
                        "there is no dtype \"%.100s\" for this: float32, float64, bool, uint8, int8, int16, int32 and "
                        "int64 are",
                        name);
}

// Allocates elements that are zero. Returns NULL after reporting a failure.
static unsigned char *elements_create(const input_source *source, taper_dtype dtype, size_t rank, const int64_t *sizes,
                                      size_t *count)
{
    const uint64_t element = taper_dtype_size(dtype);
    uint64_t product = 1;
    for (size_t i = 0; i < rank; i++) {
        const uint64_t size = (uint64_t)sizes[i];
        if (size != 0 && product > BYTES_MOST / element / size) {
            error_report(source->subject, "the tensor would be larger than 1 TiB");
            return NULL;
        }
        product *= size;
    }
    unsigned char *data = product < SIZE_MAX / element ? calloc((size_t)product + 1, (size_t)element) : NULL;
    if (data == NULL) {
        error_report_memory(source->subject);
    }
    *count = (size_t)product;
    return data;
}

// Makes a tensor of the elements and takes ownership of them: the tensor owns the elements, or a failure frees them.
static bool make_tensor(const input_source *source, taper_dtype dtype, size_t rank, const int64_t *sizes,
                        unsigned char *data, size_t count, taper_value **value)
{
    const size_t bytes = count * taper_dtype_size(dtype);
    if (taper_value_tensor_from(source->context, dtype, rank, sizes, NULL, data, bytes, 0, free, data, value,
                                source->error) != TAPER_OK) {
        free(data);
        return error_report_library(source->subject, source->error);
    }
    return true;
}

// Writes a number in the format of its dtype. Integer dtypes take the value of the argument `integer`, other dtypes
// the value of `number`. Returns the number of bytes.
static size_t store_number(taper_dtype dtype, double number, int64_t integer, unsigned char out[ELEMENT_MOST])
{
    const float single = (float)number;
    const int32_t int32 = (int32_t)integer;
    const int16_t int16 = (int16_t)integer;
    const size_t size = taper_dtype_size(dtype);
    memset(out, 0, ELEMENT_MOST);
    switch (dtype) {
    case TAPER_F32:
        memcpy(out, &single, size);
        break;
    case TAPER_F64:
        memcpy(out, &number, size);
        break;
    case TAPER_I64:
        memcpy(out, &integer, size);
        break;
    case TAPER_I32:
        memcpy(out, &int32, size);
        break;
    case TAPER_I16:
        memcpy(out, &int16, size);
        break;
    default:
        out[0] = (unsigned char)(dtype == TAPER_BOOL ? number != 0 : integer & 255);
    }
    return size;
}

// ---- zeros, ones, rand

typedef enum made_kind { MADE_ZEROS, MADE_ONES, MADE_RAND, MADE_COUNT } made_kind;

static made_kind find_kind(const char *text, size_t *length)
{
    static const char *const heads[MADE_COUNT] = {"zeros:", "ones:", "rand:"};
    made_kind kind = MADE_ZEROS;
    while (kind < MADE_COUNT && strncmp(text, heads[kind], strlen(heads[kind])) != 0) {
        kind++;
    }
    *length = kind < MADE_COUNT ? strlen(heads[kind]) : 0;
    return kind;
}

bool input_made_is(const char *text)
{
    size_t length;
    return find_kind(text, &length) != MADE_COUNT;
}

// Parses "1x3x224x224" or "1,3,224,224". An empty text means rank 0. *text moves to the end of the sizes.
static bool parse_sizes(const input_source *source, const char **text, int64_t sizes[TAPER_MAX_RANK], size_t *rank)
{
    const char *at = *text;
    bool more = *at != '\0' && *at != ':';
    *rank = 0;
    while (more) {
        const size_t digits = strspn(at, "0123456789");
        if (digits == 0 || digits > 12) {
            return error_report(source->subject, "\"%.100s\" gives no sizes; give them as in 1x3x224x224", *text);
        }
        if (*rank == TAPER_MAX_RANK) {
            return error_report(source->subject, "a tensor has up to %d dimensions", TAPER_MAX_RANK);
        }
        sizes[(*rank)++] = strtoll(at, NULL, 10);
        at += digits;
        more = *at == 'x' || *at == ',';
        at += more;
    }
    if (*at != '\0' && *at != ':') {
        return error_report(source->subject, "\"%.100s\" gives no sizes; give them as in 1x3x224x224", *text);
    }
    *text = at;
    return true;
}

// Returns a number uniform in [0, 1) with 24 bits. The number depends only on the index of the input and the index of
// the element (splitmix64).
static double random_number(size_t input, size_t index)
{
    uint64_t x = ((uint64_t)input + 1) * UINT64_C(0xD1342543DE82EF95) + (index + 1) * UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    x ^= x >> 31;
    return (double)(x >> 40) / 16777216;
}

bool input_made(const input_source *source, const char *text, taper_value **value)
{
    size_t length, rank, count;
    const made_kind kind = find_kind(text, &length);
    int64_t sizes[TAPER_MAX_RANK];
    taper_dtype dtype = TAPER_F32;
    *value = NULL;
    text += length;
    if (!parse_sizes(source, &text, sizes, &rank) || (*text == ':' && !find_dtype(source, text + 1, &dtype))) {
        return false;
    }
    if (kind == MADE_RAND && dtype != TAPER_F32 && dtype != TAPER_F64) {
        return error_report(source->subject, "rand: makes float32 and float64 numbers, not %s",
                            taper_dtype_name(dtype));
    }
    unsigned char *data = elements_create(source, dtype, rank, sizes, &count);
    if (data == NULL) {
        return false;
    }
    const size_t size = taper_dtype_size(dtype);
    for (size_t i = 0; i < count && kind != MADE_ZEROS; i++) {
        unsigned char element[ELEMENT_MOST];
        store_number(dtype, kind == MADE_ONES ? 1 : random_number(source->number, i), 1, element);
        memcpy(data + i * size, element, size);
    }
    return make_tensor(source, dtype, rank, sizes, data, count, value);
}

// ---- arrays of JSON

typedef struct array_shape {
    size_t rank;
    int64_t sizes[TAPER_MAX_RANK];
    bool has_double, has_int, has_bool;
} array_shape;

static bool read_rank(const input_source *source, const json_value *json, array_shape *shape)
{
    for (; json->kind == JSON_ARRAY; json = &json->items[0]) {
        if (shape->rank == TAPER_MAX_RANK) {
            return error_report(source->subject, "a tensor has up to %d dimensions", TAPER_MAX_RANK);
        }
        shape->sizes[shape->rank++] = (int64_t)json->count;
        if (json->count == 0) {
            break;
        }
    }
    return true;
}

// Checks that each array at `depth` has the size of the first array at this depth, and that all numbers are nested as
// deep as the first number.
static bool check_items(const input_source *source, const json_value *json, size_t depth, array_shape *shape)
{
    if (depth == shape->rank) {
        shape->has_double = shape->has_double || json->kind == JSON_DOUBLE;
        shape->has_int = shape->has_int || json->kind == JSON_INT;
        shape->has_bool = shape->has_bool || json->kind == JSON_BOOL;
        return json->kind == JSON_DOUBLE || json->kind == JSON_INT || json->kind == JSON_BOOL ||
               error_report(source->subject, "%s stands where a tensor has a number", json_kind_name(json->kind));
    }
    if (json->kind != JSON_ARRAY) {
        return error_report(source->subject, "%s stands where a tensor has a row of %lld", json_kind_name(json->kind),
                            (long long)shape->sizes[depth]);
    }
    if ((int64_t)json->count != shape->sizes[depth]) {
        return error_report(source->subject, "rows of a tensor have one length: one of %lld and one of %zu are given",
                            (long long)shape->sizes[depth], json->count);
    }
    for (size_t i = 0; i < json->count; i++) { // recursive up to the maximum rank
        if (!check_items(source, &json->items[i], depth + 1, shape)) {
            return false;
        }
    }
    return true;
}

static bool fits(taper_dtype dtype, const json_value *json)
{
    const size_t bits = 8 * taper_dtype_size(dtype);
    if (dtype == TAPER_F32 || dtype == TAPER_F64 || dtype == TAPER_BOOL) {
        return true;
    }
    if (json->kind != JSON_INT) {
        return json->kind == JSON_BOOL;
    }
    const int64_t most = dtype == TAPER_U8 ? 255 : (int64_t)(UINT64_MAX >> (65 - bits));
    return json->integer <= most && json->integer >= (dtype == TAPER_U8 ? 0 : -most - 1);
}

static bool store_items(const input_source *source, const json_value *json, taper_dtype dtype, unsigned char **at)
{
    if (json->kind == JSON_ARRAY) {
        for (size_t i = 0; i < json->count; i++) {
            if (!store_items(source, &json->items[i], dtype, at)) {
                return false;
            }
        }
        return true;
    }
    if (!fits(dtype, json)) {
        char number[40];
        if (json->kind == JSON_INT) {
            snprintf(number, sizeof number, "%lld", (long long)json->integer);
        } else {
            json_double_text(number, json->number);
        }
        return error_report(source->subject, "%s is no %s", number, taper_dtype_name(dtype));
    }
    const bool truth = json->kind == JSON_BOOL;
    unsigned char element[ELEMENT_MOST];
    const size_t size =
        store_number(dtype, truth ? json->flag : json->number, truth ? json->flag : json->integer, element);
    memcpy(*at, element, size);
    *at += size;
    return true;
}

bool input_array(const input_source *source, const json_value *json, const char *dtype_name, taper_value **value)
{
    array_shape shape = {0};
    size_t count;
    *value = NULL;
    if (!read_rank(source, json, &shape) || !check_items(source, json, 0, &shape)) {
        return false;
    }
    taper_dtype dtype = shape.has_double ? TAPER_F32
                        : shape.has_int  ? TAPER_I64
                        : shape.has_bool ? TAPER_BOOL
                                         : TAPER_F32;
    if (dtype_name != NULL && !find_dtype(source, dtype_name, &dtype)) {
        return false;
    }
    unsigned char *data = elements_create(source, dtype, shape.rank, shape.sizes, &count), *at = data;
    if (data == NULL) {
        return false;
    }
    if (!store_items(source, json, dtype, &at)) {
        free(data);
        return false;
    }
    return make_tensor(source, dtype, shape.rank, shape.sizes, data, count, value);
}
