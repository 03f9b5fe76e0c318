// SPDX-License-Identifier: BSD-2-Clause
#include "common/tensor_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/errors.h"

#define GATHER_LIMIT ((size_t)UINT32_MAX)

bool tensor_info(const char *subject, const taper_value *value, taper_error *error, taper_tensor_info *info)
{
    *info = (taper_tensor_info){.struct_size = sizeof *info};
    return taper_value_get_tensor(value, info, error) == TAPER_OK || error_report_library(subject, error);
}

bool tensor_count(const char *subject, const taper_tensor_info *info, size_t limit, size_t *count)
{
    const size_t element = taper_dtype_size(info->dtype);
    if (element == 0) {
        return error_report(subject, "tensors of dtype %s cannot be written", taper_dtype_name(info->dtype));
    }
    *count = 1;
    for (size_t i = 0; i < info->rank; i++) {
        if (info->sizes[i] == 0) {
            *count = 0;
            return true;
        }
    }
    // The product is checked, because expanded tensors may have more elements than memory has bytes.
    for (size_t i = 0; i < info->rank; i++) {
        if ((uint64_t)info->sizes[i] > limit / element / *count) {
            return error_report(subject, "the tensor has more than %zu MiB of elements", limit >> 20);
        }
        *count *= (size_t)info->sizes[i];
    }
    return true;
}

const void *tensor_element(const taper_tensor_info *info, size_t index)
{
    int64_t offset = 0;
    for (size_t i = info->rank; i > 0; i--) {
        offset += (int64_t)(index % (size_t)info->sizes[i - 1]) * info->strides[i - 1];
        index /= (size_t)info->sizes[i - 1];
    }
    return (const char *)info->data + offset * (int64_t)taper_dtype_size(info->dtype);
}

float tensor_half(const void *element)
{
    uint16_t bits;
    memcpy(&bits, element, 2);
    const int exponent = bits >> 10 & 31;
    const float mantissa = (float)(bits & 1023);
    float number;
    if (exponent == 31) {
        number = (bits & 1023) != 0 ? NAN : INFINITY;
    } else if (exponent == 0) {
        number = ldexpf(mantissa, -24);
    } else {
        number = ldexpf(mantissa + 1024, exponent - 25);
    }
    return (bits & 0x8000) != 0 ? -number : number;
}

float tensor_bfloat16(const void *element)
{
    uint16_t half;
    memcpy(&half, element, 2);
    const uint32_t bits = (uint32_t)half << 16;
    float number;
    memcpy(&number, &bits, 4);
    return number;
}

static bool is_contiguous(const taper_tensor_info *info)
{
    int64_t expected = 1;
    for (size_t i = info->rank; i > 0; i--) {
        if (info->sizes[i - 1] != 1 && info->strides[i - 1] != expected) {
            return false;
        }
        expected *= info->sizes[i - 1];
    }
    return true;
}

// Copies one row of the last dimension after the other.
static void copy_strided(const taper_tensor_info *info, size_t count, char *out)
{
    const size_t element = taper_dtype_size(info->dtype);
    const size_t row = info->rank != 0 ? (size_t)info->sizes[info->rank - 1] : 1;
    const int64_t step = info->rank != 0 ? info->strides[info->rank - 1] * (int64_t)element : 0;
    for (size_t done = 0; done < count; done += row) {
        const char *from = tensor_element(info, done);
        for (size_t i = 0; i < row; i++, from += step, out += element) {
            memcpy(out, from, element);
        }
    }
}

void *tensor_gather(const char *subject, const taper_tensor_info *info, size_t *bytes)
{
    size_t count;
    if (!tensor_count(subject, info, GATHER_LIMIT, &count)) {
        return NULL;
    }
    const bool widen = info->dtype == TAPER_BF16;
    const size_t element = taper_dtype_size(info->dtype);
    *bytes = count * element * (widen ? 2 : 1);
    char *out = malloc(*bytes + 1);
    if (out == NULL) {
        error_report_memory(subject);
        return NULL;
    }
    // bfloat16 elements are first copied to the second half of the memory, so that converting them from the front does
    // not overwrite unread elements.
    char *packed = widen ? out + count * element : out;
    if (is_contiguous(info) && count != 0) {
        memcpy(packed, info->data, count * element);
    } else {
        copy_strided(info, count, packed);
    }
    for (size_t i = 0; widen && i < count; i++) {
        const float number = tensor_bfloat16(packed + 2 * i);
        memcpy(out + 4 * i, &number, 4);
    }
    return out;
}

double tensor_number(taper_dtype dtype, const void *element)
{
    double f64;
    float f32;
    int64_t i64;
    int32_t i32;
    int16_t i16;
    switch (dtype) {
    case TAPER_U8:
    case TAPER_QU8:
    case TAPER_BOOL:
        return (double)*(const unsigned char *)element;
    case TAPER_I8:
    case TAPER_QI8:
        return (double)*(const signed char *)element;
    case TAPER_I16:
        memcpy(&i16, element, sizeof i16);
        return (double)i16;
    case TAPER_I32:
    case TAPER_QI32:
        memcpy(&i32, element, sizeof i32);
        return (double)i32;
    case TAPER_I64:
        memcpy(&i64, element, sizeof i64);
        return (double)i64;
    case TAPER_F16:
        return (double)tensor_half(element);
    case TAPER_F64:
        memcpy(&f64, element, sizeof f64);
        return f64;
    default:
        memcpy(&f32, element, sizeof f32);
        return (double)f32;
    }
}

float *tensor_floats(const char *subject, const taper_tensor_info *info, size_t *count)
{
    size_t bytes;
    if (info->dtype == TAPER_C32 || info->dtype == TAPER_C64 || info->dtype == TAPER_C128 || info->quantized == 2) {
        error_report(subject, "the result is a %s%s tensor, scores are plain numbers",
                     info->quantized == 2 ? "per-channel " : "", taper_dtype_name(info->dtype));
        return NULL;
    }
    char *packed = tensor_gather(subject, info, &bytes);
    if (packed == NULL) {
        return NULL;
    }
    const taper_dtype dtype = info->dtype == TAPER_BF16 ? TAPER_F32 : info->dtype;
    const size_t element = taper_dtype_size(dtype);
    *count = bytes / element;
    float *numbers = malloc(*count * sizeof *numbers + 1);
    if (numbers == NULL) {
        error_report_memory(subject);
    }
    for (size_t i = 0; numbers != NULL && i < *count; i++) {
        const float number = (float)tensor_number(dtype, packed + i * element);
        numbers[i] = info->quantized == 1 ? (number - (float)info->zero_point) * (float)info->scale : number;
    }
    free(packed);
    return numbers;
}
