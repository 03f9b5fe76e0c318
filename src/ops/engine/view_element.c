// SPDX-License-Identifier: BSD-2-Clause
// Loads, stores and fills elements of any dtype, and prints sizes.
#include <math.h>
#include <stdio.h>

#include "base/half.h"
#include "ops/engine/view_move.h"

typedef struct dtype_range {
    const char *name; // C++ name in PyTorch's messages
    double most;      // largest finite value of the dtype
} dtype_range;

static const dtype_range *range_of(taper_dtype dtype)
{
    static const dtype_range ranges[] = {
        [TAPER_U8] = {"uint8_t", 255},           [TAPER_I8] = {"int8_t", 127},
        [TAPER_I16] = {"int16_t", 32767},        [TAPER_I32] = {"int", 2147483647.0},
        [TAPER_I64] = {"int64_t", 0x1p63},       [TAPER_F16] = {"at::Half", 65504.0},
        [TAPER_F32] = {"float", 0x1.fffffep127}, [TAPER_BF16] = {"at::BFloat16", 0x1.fep127},
    };
    return (size_t)dtype < sizeof ranges / sizeof ranges[0] && ranges[dtype].name != NULL ? &ranges[dtype] : NULL;
}

taper_status taper_scalar_check(taper_dtype dtype, const taper_scalar *scalar, taper_error *error)
{
    const dtype_range *range = range_of(dtype);
    const char *name = range != NULL ? range->name : "double";
    bool bad = scalar->kind == TAPER_SCALAR_COMPLEX && scalar->im != 0 && !taper_dtype_is_complex(dtype) &&
               dtype != TAPER_BOOL;
    if (range != NULL && taper_dtype_is_integral(dtype)) {
        // Every integer of a scalar fits into int64. `most` of int64 is 2^63, because no double equals the largest
        // int64.
        const bool whole = dtype == TAPER_I64;
        const double least = dtype == TAPER_U8 ? 0 : whole ? -range->most : -range->most - 1;
        if (scalar->kind == TAPER_SCALAR_DOUBLE || scalar->kind == TAPER_SCALAR_COMPLEX) {
            bad |= !(scalar->f >= least && scalar->f <= range->most) || scalar->f >= 0x1p63;
        } else if (!whole) { // negative numbers wrap in unsigned dtypes as long as their magnitude fits
            const int64_t most = (int64_t)range->most;
            bad |= scalar->i > most || scalar->i < -most - (dtype != TAPER_U8);
        }
    } else if (range != NULL) {
        bad |= isfinite(scalar->f) && fabs(scalar->f) > range->most;
    }
    return !bad
               ? TAPER_OK
               : taper_fail(error, TAPER_ERROR_ARGUMENT, "value cannot be converted to type %s without overflow", name);
}

// Converts to an integer of `bits` bits: 64, or 32 for narrower dtypes.
static int64_t scalar_to_int(const taper_scalar *s, int bits)
{
    if (s->kind == TAPER_SCALAR_BOOL || s->kind == TAPER_SCALAR_INT) {
        return s->i;
    }
    const double end = bits == 64 ? 9223372036854775808.0 : 2147483648.0;
    if (s->f > -end - 1 && s->f < end) {
        return (int64_t)s->f;
    }
    return bits == 64 ? INT64_MIN : INT32_MIN; // the value that x86 conversions give
}

void taper_scalar_store(taper_dtype dtype, void *p, const taper_scalar *s)
{
    const bool whole = s->kind == TAPER_SCALAR_BOOL || s->kind == TAPER_SCALAR_INT;
    const float f = whole ? (float)s->i : (float)s->f;
    const double d = whole ? (double)s->i : s->f;
    switch (dtype) {
    case TAPER_BOOL: {
        const uint8_t v = (whole ? s->i != 0 : s->f != 0) || (s->kind == TAPER_SCALAR_COMPLEX && s->im != 0);
        memcpy(p, &v, 1);
        break;
    }
    case TAPER_U8:
    case TAPER_I8:
    case TAPER_QI8:
    case TAPER_QU8: {
        const uint8_t v = (uint8_t)((uint64_t)scalar_to_int(s, 32) & 0xff);
        memcpy(p, &v, 1);
        break;
    }
    case TAPER_I16: {
        const uint16_t v = (uint16_t)((uint64_t)scalar_to_int(s, 32) & 0xffff);
        memcpy(p, &v, 2);
        break;
    }
    case TAPER_I32:
    case TAPER_QI32: {
        const uint32_t v = (uint32_t)((uint64_t)scalar_to_int(s, 32) & 0xffffffffu);
        memcpy(p, &v, 4);
        break;
    }
    case TAPER_I64: {
        const int64_t v = scalar_to_int(s, 64);
        memcpy(p, &v, 8);
        break;
    }
    case TAPER_F16: {
        const uint16_t v = taper_float_to_f16(f);
        memcpy(p, &v, 2);
        break;
    }
    case TAPER_BF16: {
        const uint16_t v = taper_float_to_bf16(f);
        memcpy(p, &v, 2);
        break;
    }
    case TAPER_F32:
        memcpy(p, &f, 4);
        break;
    case TAPER_F64:
        memcpy(p, &d, 8);
        break;
    case TAPER_C32: {
        const uint16_t v[2] = {taper_float_to_f16(f),
                               taper_float_to_f16(s->kind == TAPER_SCALAR_COMPLEX ? (float)s->im : 0)};
        memcpy(p, v, 4);
        break;
    }
    case TAPER_C64: {
        const float v[2] = {f, s->kind == TAPER_SCALAR_COMPLEX ? (float)s->im : 0};
        memcpy(p, v, 8);
        break;
    }
    case TAPER_C128: {
        const double v[2] = {d, s->kind == TAPER_SCALAR_COMPLEX ? s->im : 0};
        memcpy(p, v, 16);
        break;
    }
    default:
        break;
    }
}

void taper_scalar_load(taper_dtype dtype, const void *p, taper_scalar *s)
{
    *s = (taper_scalar){.kind = TAPER_SCALAR_INT};
    const unsigned char *bytes = p;
    switch (dtype) {
    case TAPER_BOOL:
        s->kind = TAPER_SCALAR_BOOL;
        s->i = bytes[0] != 0;
        break;
    case TAPER_U8:
    case TAPER_QU8:
        s->i = bytes[0];
        break;
    case TAPER_I8:
    case TAPER_QI8:
        s->i = (int8_t)bytes[0];
        break;
    case TAPER_I16: {
        int16_t v;
        memcpy(&v, p, 2);
        s->i = v;
        break;
    }
    case TAPER_I32:
    case TAPER_QI32: {
        int32_t v;
        memcpy(&v, p, 4);
        s->i = v;
        break;
    }
    case TAPER_I64:
        memcpy(&s->i, p, 8);
        break;
    case TAPER_C32:
    case TAPER_C64:
    case TAPER_C128:
        s->kind = TAPER_SCALAR_COMPLEX;
        if (dtype == TAPER_C128) {
            double v[2];
            memcpy(v, p, 16);
            s->f = v[0];
            s->im = v[1];
        } else if (dtype == TAPER_C64) {
            float v[2];
            memcpy(v, p, 8);
            s->f = (double)v[0];
            s->im = (double)v[1];
        } else {
            uint16_t v[2];
            memcpy(v, p, 4);
            s->f = (double)taper_f16_to_float(v[0]);
            s->im = (double)taper_f16_to_float(v[1]);
        }
        return;
    default: {
        s->kind = TAPER_SCALAR_DOUBLE;
        if (dtype == TAPER_F64) {
            memcpy(&s->f, p, 8);
        } else if (dtype == TAPER_F32) {
            float v;
            memcpy(&v, p, 4);
            s->f = (double)v;
        } else if (dtype == TAPER_F16 || dtype == TAPER_BF16) {
            uint16_t v;
            memcpy(&v, p, 2);
            s->f = (double)(dtype == TAPER_F16 ? taper_f16_to_float(v) : taper_bf16_to_float(v));
        }
        return;
    }
    }
    s->f = (double)s->i;
}

taper_status taper_tensor_fill(taper_run *run, taper_tensor *tensor, const taper_scalar *scalar)
{
    size_t item;
    TAPER_TRY(taper_move_item(tensor, &item, run->error));
    TAPER_TRY(taper_scalar_check((taper_dtype)tensor->dtype, scalar, run->error));
    const int64_t count = taper_tensor_numel(tensor);
    TAPER_TRY(taper_run_spend(run, 50));
    if (count == 0) {
        return TAPER_OK;
    }
    unsigned char pattern[16] = {0};
    taper_scalar_store((taper_dtype)tensor->dtype, pattern, scalar);
    char *data = taper_tensor_mutable(tensor);
    if (!taper_tensor_is_dense(tensor)) {
        static const int64_t zero[TAPER_MAX_RANK] = {0};
        int64_t sizes[TAPER_MAX_RANK]; // an expanded dimension is filled as one element
        for (size_t d = 0; d < tensor->rank; d++) {
            sizes[d] = tensor->strides[d] == 0 ? 1 : tensor->sizes[d];
        }
        taper_move(run, item, tensor->rank, sizes, data, tensor->strides, pattern, zero);
        return TAPER_OK;
    }
    const size_t bytes = (size_t)count * item;
    bool same = true;
    for (size_t i = 1; i < item; i++) {
        same = same && pattern[i] == pattern[0];
    }
    if (same) {
        return taper_run_memset(run, data, pattern[0], bytes);
    }
    // Each copy doubles the filled part, up to a size that fits into the L1 cache.
    memcpy(data, pattern, item);
    size_t filled = item;
    while (filled < bytes) {
        const size_t more = taper_min_size(taper_min_size(filled, 8192), bytes - filled);
        TAPER_TRY(taper_run_spend(run, more / 2));
        memcpy(data + filled, data, more);
        filled += more;
    }
    return TAPER_OK;
}

taper_status taper_wrap_dim_or_fail(int64_t dim, size_t rank, size_t *wrapped, taper_error *error)
{
    const int64_t at = taper_wrap_dim(dim, rank);
    if (at < 0) {
        const int64_t n = rank == 0 ? 1 : (int64_t)rank;
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "Dimension out of range (expected to be in range of [%lld, %lld], but got %lld)",
                          (long long)-n, (long long)(n - 1), (long long)dim);
    }
    *wrapped = (size_t)at;
    return TAPER_OK;
}

taper_sizes_text taper_sizes_print(size_t rank, const int64_t *sizes)
{
    taper_sizes_text out;
    size_t at = 0;
    out.text[at++] = '[';
    for (size_t i = 0; i < rank && at + 24 < sizeof out.text; i++) {
        const int n =
            snprintf(out.text + at, sizeof out.text - at - 2, "%s%lld", i > 0 ? ", " : "", (long long)sizes[i]);
        at += n > 0 ? (size_t)n : 0;
    }
    out.text[at++] = ']';
    out.text[at] = '\0';
    return out;
}
