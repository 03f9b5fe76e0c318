// SPDX-License-Identifier: BSD-2-Clause
// Copies elements between layouts and dtypes. Dimensions are sorted by the target's strides and merged if both sides
// are contiguous. An inner loop copies the innermost dimension. If the two sides have different innermost dimensions (a
// transpose, NCHW to NHWC), two dimensions are visited in tiles.
#include "base/half.h"
#include "ir/tensor.h"
#include "ir/walk.h"

typedef struct copy_dim {
    int64_t size, to, from; // size in elements; strides of the target and of the source in bytes
} copy_dim;

enum { TILE = 16 };

#define DEFINE_TILES(type)                                                                                             \
    static void tiles_##type(char *to, const char *from, copy_dim a, copy_dim b)                                       \
    {                                                                                                                  \
        for (int64_t ai = 0; ai < a.size; ai += TILE) {                                                                \
            const int64_t ae = taper_min_i64(a.size, ai + TILE);                                                       \
            for (int64_t bi = 0; bi < b.size; bi += TILE) {                                                            \
                const int64_t be = taper_min_i64(b.size, bi + TILE);                                                   \
                for (int64_t y = bi; y < be; y++) {                                                                    \
                    for (int64_t x = ai; x < ae; x++) {                                                                \
                        *(type *)(void *)(to + x * a.to + y * b.to) =                                                  \
                            *(const type *)(const void *)(from + x * a.from + y * b.from);                             \
                    }                                                                                                  \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }
DEFINE_TILES(uint8_t)
DEFINE_TILES(uint16_t)
DEFINE_TILES(uint32_t)
DEFINE_TILES(uint64_t)

typedef struct pair64 {
    uint64_t a, b;
} pair64;
DEFINE_TILES(pair64)

static void tiles(size_t item, char *to, const char *from, copy_dim a, copy_dim b)
{
    if (a.to == (int64_t)item && a.from == (int64_t)item) {
        for (int64_t y = 0; y < b.size; y++) {
            memcpy(to + y * b.to, from + y * b.from, (size_t)a.size * item);
        }
        return;
    }
    switch (item) {
    case 1:
        tiles_uint8_t(to, from, a, b);
        break;
    case 2:
        tiles_uint16_t(to, from, a, b);
        break;
    case 4:
        tiles_uint32_t(to, from, a, b);
        break;
    case 8:
        tiles_uint64_t(to, from, a, b);
        break;
    default:
        tiles_pair64(to, from, a, b);
        break;
    }
}

// ---- conversion of single elements, through double, int64 or a pair of doubles

static void store_double(taper_dtype dtype, void *to, double re, double im)
{
    switch (dtype) {
    case TAPER_F32:
        *(float *)to = (float)re;
        break;
    case TAPER_F64:
        *(double *)to = re;
        break;
    case TAPER_F16:
        *(uint16_t *)to = taper_float_to_f16((float)re);
        break;
    case TAPER_BF16:
        *(uint16_t *)to = taper_float_to_bf16((float)re);
        break;
    case TAPER_C64:
        ((float *)to)[0] = (float)re;
        ((float *)to)[1] = (float)im;
        break;
    case TAPER_C128:
        ((double *)to)[0] = re;
        ((double *)to)[1] = im;
        break;
    case TAPER_C32:
        ((uint16_t *)to)[0] = taper_float_to_f16((float)re);
        ((uint16_t *)to)[1] = taper_float_to_f16((float)im);
        break;
    case TAPER_BOOL:
        *(uint8_t *)to = re != 0 || im != 0; // NaN becomes true
        break;
    default:
        break;
    }
}

static void store_int(taper_dtype dtype, void *to, int64_t i)
{
    switch (dtype) {
    case TAPER_U8:
    case TAPER_QU8:
        *(uint8_t *)to = (uint8_t)i;
        break;
    case TAPER_I8:
    case TAPER_QI8:
        *(int8_t *)to = (int8_t)(uint8_t)i;
        break;
    case TAPER_I16:
        *(int16_t *)to = (int16_t)(uint16_t)i;
        break;
    case TAPER_I32:
    case TAPER_QI32:
        *(int32_t *)to = (int32_t)(uint32_t)i;
        break;
    case TAPER_I64:
        *(int64_t *)to = i;
        break;
    case TAPER_BOOL:
        *(uint8_t *)to = i != 0;
        break;
    default:
        store_double(dtype, to, (double)i, 0);
        break;
    }
}

static double imaginary(taper_dtype dtype, const void *from)
{
    switch (dtype) {
    case TAPER_C64:
        return (double)((const float *)from)[1];
    case TAPER_C128:
        return ((const double *)from)[1];
    case TAPER_C32:
        return (double)taper_f16_to_float(((const uint16_t *)from)[1]);
    default:
        return 0;
    }
}

#define CONVERT(to_type, from_type)                                                                                    \
    for (int64_t i = 0; i < count; i++) {                                                                              \
        *(to_type *)(void *)(to + i * to_step) = (to_type) * (const from_type *)(const void *)(from + i * from_step);  \
    }                                                                                                                  \
    return
static void convert_run(taper_dtype to_dtype, char *to, int64_t to_step, taper_dtype from_dtype, const char *from,
                        int64_t from_step, int64_t count)
{
    if (to_dtype == TAPER_F64 && from_dtype == TAPER_F32) { // frequent, because matrix products convert their factors
                                                            // and results
        CONVERT(double, float);
    }
    if (to_dtype == TAPER_F32 && from_dtype == TAPER_F64) {
        CONVERT(float, double);
    }
    if (to_dtype == TAPER_I64 && from_dtype == TAPER_I32) {
        CONVERT(int64_t, int32_t);
    }
    // Numbers out of range wrap, as in the general conversion below.
    if (to_dtype == TAPER_I32 && from_dtype == TAPER_I64) {
        CONVERT(uint32_t, uint64_t);
    }
    if (to_dtype == TAPER_F32 && from_dtype == TAPER_U8) { // frequent, because bytes of images become floats
        CONVERT(float, uint8_t);
    }
    const bool from_int =
        taper_dtype_is_integral(from_dtype) || from_dtype == TAPER_BOOL || taper_dtype_is_quantized(from_dtype);
    const bool to_int = taper_dtype_is_integral(to_dtype) || taper_dtype_is_quantized(to_dtype);
    for (int64_t i = 0; i < count; i++) {
        void *target = to + i * to_step;
        const void *source = from + i * from_step;
        if (from_int || to_int) {
            store_int(to_dtype, target, taper_load_int(from_dtype, source, 0));
        } else {
            store_double(to_dtype, target, taper_load_double(from_dtype, source, 0), imaginary(from_dtype, source));
        }
    }
}

// ---- copying a tensor

static void swap_dims(copy_dim *a, copy_dim *b)
{
    const copy_dim t = *a;
    *a = *b;
    *b = t;
}

// Sorts the dimensions so that dims[0] has the target's smallest stride, and merges neighbours that are contiguous on
// both sides. Returns the number of dimensions that remain.
static size_t prepare_dims(copy_dim *dims, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        for (size_t j = i; j > 0 && (dims[j].to < dims[j - 1].to ||
                                     (dims[j].to == dims[j - 1].to && dims[j].from < dims[j - 1].from));
             j--) {
            swap_dims(&dims[j], &dims[j - 1]);
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept != 0 && dims[kept - 1].to * dims[kept - 1].size == dims[i].to &&
            dims[kept - 1].from * dims[kept - 1].size == dims[i].from) {
            dims[kept - 1].size *= dims[i].size;
        } else {
            dims[kept++] = dims[i];
        }
    }
    return kept;
}

// Returns the integer dtype with the same bytes, so that quantized elements are copied as integers.
static taper_dtype integers_of(taper_dtype dtype)
{
    return dtype == TAPER_QU8 ? TAPER_U8 : dtype == TAPER_QI8 ? TAPER_I8 : dtype == TAPER_QI32 ? TAPER_I32 : dtype;
}

taper_status taper_tensor_copy(taper_tensor *to, const taper_tensor *from, taper_error *error)
{
    if (from->rank > to->rank) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "a tensor of %u dimensions cannot be copied into one of %u", from->rank,
                   to->rank);
    }
    const taper_dtype to_dtype = integers_of((taper_dtype)to->dtype),
                      from_dtype = integers_of((taper_dtype)from->dtype);
    const int64_t to_item = (int64_t)taper_dtype_size(to_dtype), from_item = (int64_t)taper_dtype_size(from_dtype);
    int64_t to_steps[TAPER_MAX_RANK], from_steps[TAPER_MAX_RANK];
    taper_tensor_steps(to, (size_t)to_item, to_steps);
    taper_tensor_steps(from, (size_t)from_item, from_steps);
    copy_dim dims[TAPER_MAX_RANK + 2];
    size_t count = 0;
    const size_t lead = (size_t)(to->rank - from->rank);
    for (size_t i = 0; i < to->rank; i++) {
        int64_t step = 0;
        if (i >= lead) {
            const int64_t size = from->sizes[i - lead];
            if (size != to->sizes[i] && size != 1) {
                TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                           "sizes do not match: dimension %zu is %lld in the source and %lld in the target", i,
                           (long long)size, (long long)to->sizes[i]);
            }
            step = from_steps[i - lead];
        }
        if (to->sizes[i] == 0) {
            return TAPER_OK;
        }
        if (to->sizes[i] != 1) {
            dims[count++] = (copy_dim){to->sizes[i], to_steps[i], step};
        }
    }
    count = prepare_dims(dims, count);
    while (count < 2) {
        dims[count++] = (copy_dim){1, 0, 0};
    }
    // The second dimension of a tile is the one with the smallest stride in the source.
    size_t second = 1;
    if (to_dtype == from_dtype && dims[0].from != from_item) {
        for (size_t i = 2; i < count; i++) {
            if (dims[i].from != 0 && (dims[i].from < dims[second].from || dims[second].from == 0)) {
                second = i;
            }
        }
    }
    swap_dims(&dims[1], &dims[second]);
    taper_walk walk;
    taper_walk_begin(&walk, 2);
    for (size_t i = 2; i < count; i++) {
        int64_t *const steps = taper_walk_add(&walk, dims[i].size);
        steps[0] = dims[i].to;
        steps[1] = dims[i].from;
    }
    do {
        char *target = (char *)taper_tensor_mutable(to) + walk.at[0];
        const char *source = (const char *)taper_tensor_data(from) + walk.at[1];
        if (to_dtype == from_dtype) {
            tiles((size_t)to_item, target, source, dims[0], dims[1]);
        } else {
            for (int64_t i = 0; i < dims[1].size; i++) {
                convert_run(to_dtype, target + i * dims[1].to, dims[0].to, from_dtype, source + i * dims[1].from,
                            dims[0].from, dims[0].size);
            }
        }
    } while (taper_walk_next(&walk));
    return TAPER_OK;
}
