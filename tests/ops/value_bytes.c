// SPDX-License-Identifier: BSD-2-Clause
#include "tests/ops/value_bytes.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void value_bytes_put(value_bytes *b, const void *data, size_t size)
{
    if (b->size + size > b->capacity) {
        b->capacity = 2 * (b->size + size);
        b->data = realloc(b->data, b->capacity);
        if (b->data == NULL) {
            fprintf(stderr, "no memory\n");
            exit(2);
        }
    }
    if (size != 0) {
        memcpy(b->data + b->size, data, size);
    }
    b->size += size;
}

static void put_elements(value_bytes *b, const taper_tensor_info *info)
{
    const size_t width = taper_dtype_size(info->dtype);
    int64_t place[TAPER_MAX_RANK] = {0}, left = 1;
    for (size_t d = 0; d < info->rank; d++) {
        left *= info->sizes[d];
    }
    for (; left > 0; left--) {
        int64_t offset = 0;
        for (size_t d = 0; d < info->rank; d++) {
            offset += place[d] * info->strides[d];
        }
        value_bytes_put(b, (const unsigned char *)info->data + offset * (int64_t)width, width);
        for (size_t d = info->rank; d-- > 0 && ++place[d] == info->sizes[d];) {
            place[d] = 0;
        }
    }
}

static void put_items(value_bytes *b, const taper_value *value, bool keys)
{
    for (size_t i = 0; i < taper_value_count(value); i++) {
        taper_value *item = NULL;
        if (keys && taper_value_key(value, i, &item, NULL) == TAPER_OK) {
            value_bytes_add(b, item);
            taper_value_release(item);
            item = NULL;
        }
        if (taper_value_item(value, i, &item, NULL) == TAPER_OK) {
            value_bytes_add(b, item);
            taper_value_release(item);
        }
    }
}

void value_bytes_add(value_bytes *b, const taper_value *value)
{
    const taper_kind kind = taper_value_kind(value);
    taper_tensor_info info = {.struct_size = sizeof info};
    int64_t number = 0;
    int flag = 0;
    double real = 0, imaginary = 0;
    value_bytes_put(b, &kind, sizeof kind);
    switch (kind) {
    case TAPER_KIND_TENSOR:
        if (taper_value_get_tensor(value, &info, NULL) == TAPER_OK) {
            value_bytes_put(b, info.sizes, info.rank * sizeof *info.sizes);
            value_bytes_put(b, info.strides, info.rank * sizeof *info.strides);
            value_bytes_put(b, &info.scale, sizeof info.scale);
            put_elements(b, &info);
        }
        break;
    case TAPER_KIND_BOOL:
        if (taper_value_get_bool(value, &flag, NULL) == TAPER_OK) {
            value_bytes_put(b, &flag, sizeof flag);
        }
        break;
    case TAPER_KIND_INT:
        if (taper_value_get_int(value, &number, NULL) == TAPER_OK) {
            value_bytes_put(b, &number, sizeof number);
        }
        break;
    case TAPER_KIND_DOUBLE:
        if (taper_value_get_double(value, &real, NULL) == TAPER_OK) {
            value_bytes_put(b, &real, sizeof real);
        }
        break;
    case TAPER_KIND_COMPLEX:
        if (taper_value_get_complex(value, &real, &imaginary, NULL) == TAPER_OK) {
            value_bytes_put(b, &real, sizeof real);
            value_bytes_put(b, &imaginary, sizeof imaginary);
        }
        break;
    case TAPER_KIND_LIST:
    case TAPER_KIND_TUPLE:
    case TAPER_KIND_DICT:
        put_items(b, value, kind == TAPER_KIND_DICT);
        break;
    default:
        break;
    }
}
