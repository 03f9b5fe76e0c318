// SPDX-License-Identifier: BSD-2-Clause
// Generates values: of a given type, of any kind, and tensors with unusual dtypes, sizes, strides and contents.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/tensor.h"
#include "tests/limits/made_calls.h"

#define PICK(b, array) ((array)[draw((b), (uint32_t)(sizeof(array) / sizeof *(array)))])

static int64_t any_int(bench *b)
{
    static const int64_t usual[] = {0, 1, 1, 2, 2, 3, -1, -2};
    static const int64_t odd[] = {4,
                                  5,
                                  7,
                                  11,
                                  16,
                                  -3,
                                  -5,
                                  64,
                                  1000,
                                  65536,
                                  -65536,
                                  INT32_MAX,
                                  INT32_MIN,
                                  (int64_t)1 << 32,
                                  (int64_t)1 << 40,
                                  INT64_MAX,
                                  INT64_MIN,
                                  INT64_MAX - 1,
                                  (int64_t)1 << 62};
    return draw(b, b->hostile ? 3 : 4) != 0 ? PICK(b, usual) : PICK(b, odd);
}

static double any_double(bench *b)
{
    static const double numbers[] = {0, 1,     0.5,    -1,     2,    1e-5,     0.1,       -0.0,
                                     3, 1e308, -1e308, 1e-320, 1e19, INFINITY, -INFINITY, NAN};
    static const double odd[] = {1e300,
                                 -1e300,
                                 9223372036854775807.0,
                                 -9223372036854775808.0,
                                 9.3e18,
                                 4294967296.0,
                                 2147483647.5,
                                 -2147483649.0,
                                 3.5e38,
                                 -3.5e38,
                                 65536,
                                 255.5,
                                 DBL_MIN,
                                 DBL_EPSILON,
                                 1e-300,
                                 -1e-40,
                                 16777217};
    return b->hostile && draw(b, 3) == 0 ? PICK(b, odd) : PICK(b, numbers);
}

static taper_val of(void *object)
{
    if (object == NULL) {
        fprintf(stderr, "the test itself is out of memory\n");
        abort();
    }
    return TAPER_VAL(object);
}

// ---- tensors

static int64_t any_stride(bench *b)
{
    static const int64_t strides[] = {0,
                                      1,
                                      2,
                                      7,
                                      1000003,
                                      (int64_t)1 << 31,
                                      (int64_t)1 << 40,
                                      (int64_t)1 << 58,
                                      (int64_t)1 << 60,
                                      ((int64_t)1 << 61) + 1,
                                      (int64_t)1 << 62,
                                      INT64_MAX / 3,
                                      INT64_MAX - 1,
                                      INT64_MAX};
    return PICK(b, strides);
}

// Makes a view that no layer produces: any strides for dimensions of size 1, empty tensors with huge sizes and strides,
// elements that overlap. Returns NULL if the chosen view cannot be made.
static taper_tensor *hostile_view(bench *b, taper_tensor *tensor)
{
    int64_t size[TAPER_MAX_RANK + 1], stride[TAPER_MAX_RANK + 1], offset = tensor->offset;
    size_t rank = tensor->rank;
    memcpy(size, tensor->sizes, sizeof tensor->sizes);
    memcpy(stride, tensor->strides, sizeof tensor->strides);
    const uint32_t way = draw(b, 6);
    if (way == 0 && rank != 0) { // an empty tensor, whose other sizes are arbitrary
        static const int64_t sizes[] = {0, 1, 1, 2, 3, 5, 1 << 16, (int64_t)1 << 40};
        for (size_t i = 0; i < rank; i++) {
            size[i] = PICK(b, sizes);
        }
        size[draw(b, (uint32_t)rank)] = 0;
    } else if (way == 1 && rank != 0) { // a tensor of one element, or with one dimension that is not 1
        const size_t line = draw(b, (uint32_t)rank + 1);
        for (size_t i = 0; i < rank; i++) {
            size[i] = i == line ? size[i] : taper_min_i64(size[i], 1);
        }
    } else if (way == 2) { // a tensor with overlapping elements
        const int64_t count = taper_max_i64((int64_t)(tensor->storage->bytes / taper_tensor_item(tensor)), 1);
        int64_t left = count - 1;
        rank = draw(b, 5);
        for (size_t i = 0; i < rank; i++) {
            size[i] = 1 + (int64_t)draw(b, 4);
            stride[i] = (int64_t)draw(b, 4);
            if ((size[i] - 1) * stride[i] > left) {
                stride[i] = 0;
            }
            left -= (size[i] - 1) * stride[i];
        }
        offset = left > 0 ? (int64_t)draw(b, (uint32_t)taper_min_i64(left + 1, 1000)) : 0;
    } else if (way <= 4) { // a tensor with one more dimension, of size 1 or repeated
        if (rank == TAPER_MAX_RANK) {
            return NULL;
        }
        const size_t at = draw(b, (uint32_t)rank + 1);
        memmove(size + at + 1, size + at, (rank - at) * sizeof *size);
        memmove(stride + at + 1, stride + at, (rank - at) * sizeof *stride);
        size[at] = way == 3 ? 1 : 1 + (int64_t)draw(b, 5);
        stride[at] = 0;
        rank++;
    }
    bool empty = false;
    for (size_t i = 0; i < rank; i++) {
        empty = empty || size[i] == 0;
    }
    for (size_t i = 0; i < rank; i++) {
        if ((empty || size[i] == 1) && draw(b, 4) != 0) {
            stride[i] = any_stride(b);
        }
    }
    taper_tensor *view = NULL;
    return taper_tensor_alias(b->heap, tensor, offset, rank, size, stride, &view, NULL) == TAPER_OK ? view : NULL;
}

taper_val any_tensor(bench *b)
{
    static const int64_t shapes[][TAPER_MAX_RANK] = {{2, 3, 4, 4},
                                                     {4, 3, 3, 3},
                                                     {2, 3},
                                                     {3},
                                                     {3, 3},
                                                     {1},
                                                     {2, 3, 4},
                                                     {1, 1, 1, 1},
                                                     {0},
                                                     {0, 3},
                                                     {2, 0, 4, 4},
                                                     {2, 3, 4, 5, 2},
                                                     {2, 1, 3, 1, 2, 1, 2},
                                                     {17},
                                                     {4, 4},
                                                     {3, 0},
                                                     {1, 3, 8, 8},
                                                     {4},
                                                     {5},
                                                     {8, 2}};
    static const size_t ranks[] = {4, 4, 2, 1, 2, 1, 3, 4, 1, 2, 4, 5, 7, 1, 2, 2, 4, 1, 1, 2};
    static const taper_dtype dtypes[] = {TAPER_F32, TAPER_F32,  TAPER_F32, TAPER_F32, TAPER_I64,  TAPER_I64, TAPER_BOOL,
                                         TAPER_F64, TAPER_U8,   TAPER_I32, TAPER_F16, TAPER_BF16, TAPER_C64, TAPER_I8,
                                         TAPER_I16, TAPER_C128, TAPER_QU8, TAPER_QI8, TAPER_QI32};
    const size_t shape = draw(b, 8) == 0 ? SIZE_MAX : draw(b, sizeof ranks / sizeof *ranks);
    const taper_dtype dtype = PICK(b, dtypes);
    const size_t rank = shape == SIZE_MAX ? 0 : ranks[shape];
    const int64_t *sizes = shape == SIZE_MAX ? NULL : shapes[shape];
    taper_tensor *tensor;
    check(taper_tensor_new(b->heap, dtype, rank, sizes, NULL, &tensor, b->error), b);
    uint8_t *bytes = taper_tensor_mutable(tensor);
    const size_t count = tensor->storage->bytes;
    if (dtype == TAPER_I64 || dtype == TAPER_I32) {
        // Makes indices, which are valid half of the time.
        const bool good = draw(b, 2) == 0;
        for (int64_t i = 0; i < taper_tensor_numel(tensor); i++) {
            const int64_t number = good ? (int64_t)draw(b, 3) : any_int(b);
            if (dtype == TAPER_I64) {
                memcpy(bytes + i * 8, &number, 8);
            } else {
                const int32_t small = (int32_t)(uint32_t)(uint64_t)number;
                memcpy(bytes + i * 4, &small, 4);
            }
        }
    } else if (dtype == TAPER_F32 && draw(b, 4) != 0) {
        for (int64_t i = 0; i < taper_tensor_numel(tensor); i++) {
            const float number = draw(b, 16) == 0 ? (float)any_double(b) : (float)draw(b, 100) / 25.0f - 2.0f;
            memcpy(bytes + i * 4, &number, 4);
        }
    } else {
        for (size_t i = 0; i < count; i++) {
            bytes[i] = dtype == TAPER_BOOL ? (uint8_t)draw(b, 2) : (uint8_t)draw(b, 256);
        }
    }
    if (dtype == TAPER_QU8 || dtype == TAPER_QI8 || dtype == TAPER_QI32) {
        const taper_quantizer quantizer = {.scheme = TAPER_PER_TENSOR_AFFINE,
                                           .scale = b->hostile && draw(b, 4) == 0 ? 1e-30 : 0.5,
                                           .zero_point = b->hostile && draw(b, 4) == 0 ? 127 : 3};
        check(taper_tensor_set_quantizer(tensor, &quantizer, b->error), b);
    }
    // Sometimes returns a view of the tensor: transposed, expanded (even to huge sizes), or every second element.
    taper_tensor *view = NULL;
    int64_t size[TAPER_MAX_RANK], stride[TAPER_MAX_RANK];
    memcpy(size, tensor->sizes, sizeof size);
    memcpy(stride, tensor->strides, sizeof stride);
    if (b->hostile && draw(b, 2) == 0) {
        view = hostile_view(b, tensor);
        if (view != NULL) {
            taper_obj_release(&tensor->head);
            tensor = view;
        }
        return TAPER_VAL(tensor);
    }
    switch (draw(b, 8)) {
    case 0:
        if (rank >= 2) {
            const int64_t t = size[0], s = stride[0];
            size[0] = size[rank - 1], stride[0] = stride[rank - 1];
            size[rank - 1] = t, stride[rank - 1] = s;
            check(taper_tensor_alias(b->heap, tensor, 0, rank, size, stride, &view, b->error), b);
        }
        break;
    case 1:
        if (rank >= 1 && size[0] == 1) {
            static const int64_t lengths[] = {2, 3, 7, 100000, (int64_t)1 << 33};
            size[0] = lengths[draw(b, b->hostile || sizeof(size_t) < 8 ? 4 : 5)];
            stride[0] = 0;
            check(taper_tensor_alias(b->heap, tensor, 0, rank, size, stride, &view, b->error), b);
        }
        break;
    case 2:
        if (rank >= 1 && size[rank - 1] >= 2) {
            size[rank - 1] = (size[rank - 1] + 1) / 2;
            stride[rank - 1] = 2 * stride[rank - 1];
            check(taper_tensor_alias(b->heap, tensor, 0, rank, size, stride, &view, b->error), b);
        }
        break;
    case 3:
        if (rank == 4) {
            taper_strides_channels_last(rank, size, stride);
            check(taper_tensor_alias(b->heap, tensor, 0, rank, size, stride, &view, b->error), b);
        }
        break;
    default:
        break;
    }
    if (view != NULL) {
        taper_obj_release(&tensor->head);
        tensor = view;
    }
    return TAPER_VAL(tensor);
}

static taper_val any_string(bench *b)
{
    static const char *const texts[] = {"",          "mean",  "sum",   "none",    "reflect", "constant",  "fro",
                                        "nuc",       "left",  "floor", "trunc",   "linear",  "a",         "abc",
                                        "ij,jk->ik", "ii->i", "...",   "{}",      "{} {:d}", "%d",        "\xc3\xa9",
                                        "\xff\xfe",  "-12",   "1e5",   "reduced", "amax",    "none,none", "tanh"};
    const char *text = PICK(b, texts);
    return of(taper_string_new(b->heap, text, strlen(text)));
}

static taper_val list_of(bench *b, const taper_type *element, int depth);

// Returns one of the kept values that matches the type, sometimes as another view of a tensor. Draws only one value,
// and returns None if this value does not match.
static taper_val kept_value(bench *b, const taper_type *type)
{
    const taper_val value = b->kept[draw(b, (uint32_t)b->kept_count)];
    if (!taper_val_is_a(value, type)) {
        return taper_val_none();
    }
    if (value.tag == TAPER_TENSOR && !value.as.tensor->hidden_nhwc && draw(b, 4) == 0) {
        taper_tensor *view = hostile_view(b, value.as.tensor);
        if (view != NULL) {
            return TAPER_VAL(view);
        }
    }
    return taper_val_retain(value);
}

taper_val typed(bench *b, const taper_type *type, int depth)
{
    if (b->kept_count != 0 && draw(b, 2) == 0) {
        const taper_val value = kept_value(b, type);
        if (value.tag != TAPER_NONE) {
            return value;
        }
    }
    switch (type->kind) {
    case TAPER_TYPE_TENSOR:
        return any_tensor(b);
    case TAPER_TYPE_INT:
        return taper_val_int(any_int(b));
    case TAPER_TYPE_FLOAT:
        return taper_val_double(any_double(b));
    case TAPER_TYPE_BOOL:
        return taper_val_bool(draw(b, 2) == 0);
    case TAPER_TYPE_COMPLEX:
        return of(taper_complex_new(b->heap, any_double(b), any_double(b)));
    case TAPER_TYPE_NUMBER:
        return draw(b, 2) == 0 ? taper_val_int(any_int(b)) : taper_val_double(any_double(b));
    case TAPER_TYPE_STRING:
        return any_string(b);
    case TAPER_TYPE_DEVICE:
        return taper_val_device((int)draw(b, 4), (int)draw(b, 3) - 1);
    case TAPER_TYPE_OPTIONAL:
        return draw(b, 3) == 0 ? taper_val_none() : typed(b, type->items[0], depth);
    case TAPER_TYPE_LIST:
        return list_of(b, type->items[0], depth);
    case TAPER_TYPE_DICT: {
        taper_val dict = of(taper_dict_new(b->heap, type->items[0], type->items[1]));
        for (uint32_t n = draw(b, 4); n > 0 && depth < 3; n--) {
            const taper_val key = type->items[0]->kind == TAPER_TYPE_VARIABLE ? taper_val_int(any_int(b))
                                                                              : typed(b, type->items[0], depth + 1);
            check(taper_dict_set(dict.as.dict, key, typed(b, type->items[1], depth + 1), b->error), b);
        }
        return dict;
    }
    case TAPER_TYPE_VARIABLE:
    case TAPER_TYPE_ANY:
        return any_value(b, depth + 1);
    case TAPER_TYPE_NONE:
        return taper_val_none();
    default:
        return any_value(b, depth + 1);
    }
}

static taper_val list_of(bench *b, const taper_type *element, int depth)
{
    static const uint32_t counts[] = {0, 1, 1, 2, 2, 2, 3, 3, 4, 5, 9, 70};
    uint32_t count = depth > 2 ? 0 : PICK(b, counts);
    taper_val list = of(taper_list_new(b->heap, element, count));
    const taper_type any = {.kind = TAPER_TYPE_ANY};
    for (uint32_t i = 0; i < count; i++) {
        list.as.list->items[i] = typed(b, element != NULL ? element : &any, depth + 1);
        list.as.list->count = i + 1;
    }
    return list;
}

taper_val any_value(bench *b, int depth)
{
    switch (draw(b, depth > 2 ? 6 : 9)) {
    case 0:
        return taper_val_none();
    case 1:
        return taper_val_int(any_int(b));
    case 2:
        return taper_val_double(any_double(b));
    case 3:
        return taper_val_bool(draw(b, 2) == 0);
    case 4:
        return any_string(b);
    case 5:
        return any_tensor(b);
    case 6:
        return list_of(b, NULL, depth + 1);
    case 7: {
        taper_val tuple = of(taper_tuple_new(b->heap, NULL, 2));
        tuple.as.tuple->items[0] = any_value(b, depth + 1);
        tuple.as.tuple->items[1] = any_value(b, depth + 1);
        return tuple;
    }
    default:
        return of(taper_dict_new(b->heap, NULL, NULL));
    }
}
