// SPDX-License-Identifier: BSD-2-Clause
// Tensors seen as N × C × D × H × W, and access to their elements: see ops/engine/volume.h.
#include "ops/engine/volume.h"

#include <math.h>

#include "base/half.h"
#include "ir/tensor.h"

// The definition that compilers link if they call the inline function instead of inlining it.
extern bool taper_volume_channels_inner(const taper_volume *volume);

const taper_spatial taper_spatial_1d = {1}, taper_spatial_2d = {2}, taper_spatial_3d = {3};

taper_volume taper_volume_of(const taper_tensor *tensor, size_t spatial)
{
    taper_volume volume = {.n = 1, .c = 1, .size = {1, 1, 1}};
    const size_t rank = tensor->rank;
    const size_t channel = rank - spatial - 1;
    if (channel > 0) {
        volume.n = tensor->sizes[0];
        volume.stride_n = tensor->strides[0];
    }
    volume.c = tensor->sizes[channel];
    volume.stride_c = tensor->strides[channel];
    for (size_t i = 0; i < spatial; i++) {
        volume.size[3 - spatial + i] = tensor->sizes[channel + 1 + i];
        volume.stride[3 - spatial + i] = tensor->strides[channel + 1 + i];
    }
    return volume;
}

taper_status taper_volume_check(const taper_call *call, const taper_tensor *tensor, size_t spatial, bool unbatched)
{
    const size_t rank = tensor->rank;
    if (rank != spatial + 2 && !(unbatched && rank == spatial + 1)) {
        if (unbatched) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "the input has %zu dimensions, expected %zu or %zu",
                       rank, spatial + 1, spatial + 2);
        }
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "the input has %zu dimensions, expected %zu", rank,
                   spatial + 2);
    }
    for (size_t i = rank == spatial + 2 ? 1 : 0; i < rank; i++) {
        if (tensor->sizes[i] == 0) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "dimension %zu of the input is empty", i);
        }
    }
    return TAPER_OK;
}

taper_status taper_out_check(const taper_call *call, size_t at, const taper_tensor *x, taper_dtype dtype)
{
    const taper_tensor *out = taper_ret_target(call, at);
    if (out == NULL) {
        return TAPER_OK;
    }
    if (out->dtype != dtype) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "the out tensor must have the dtype of the result");
    }
    if (out->storage == x->storage) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "the out tensor shares memory with the input");
    }
    return TAPER_OK;
}

// Returns true if PyTorch sees the input as channels-last. PyTorch computes 1-D operators as 2-D operators with height
// 1.
static bool line_suggests_channels_last(const taper_tensor *x)
{
    taper_tensor plane = {.dtype = x->dtype, .rank = 4};
    for (size_t i = 0; i < 2; i++) {
        plane.sizes[i] = x->sizes[i];
        plane.strides[i] = x->strides[i];
    }
    plane.sizes[2] = 1;
    plane.strides[2] = taper_wrap_mul(x->sizes[2], x->strides[2]);
    plane.sizes[3] = x->sizes[2];
    plane.strides[3] = x->strides[2];
    return taper_tensor_suggests_channels_last(&plane);
}

taper_status taper_volume_result(taper_call *call, size_t at, const taper_tensor *x, taper_dtype dtype, size_t spatial,
                                 const int64_t size[3], bool follows, taper_tensor **out)
{
    TAPER_TRY(taper_out_check(call, at, x, dtype));
    int64_t sizes[TAPER_MAX_RANK];
    const size_t rank = x->rank, lead = rank - spatial;
    for (size_t i = 0; i < rank; i++) {
        sizes[i] = i < lead ? x->sizes[i] : size[3 - rank + i];
    }
    const bool hidden = x->hidden_nhwc;
    if (lead == 2 && rank >= 4 && (hidden || taper_tensor_suggests_channels_last(x))) {
        TAPER_TRY(taper_ret_new_nhwc(call, at, dtype, rank, sizes, hidden || !follows, out));
    } else if (lead == 2 && rank == 3 && follows && line_suggests_channels_last(x)) {
        // This product cannot overflow, because the tensor's own checks cover it.
        const int64_t strides[3] = {sizes[1] * sizes[2], 1, sizes[1]};
        TAPER_TRY(taper_ret_new(call, at, dtype, rank, sizes, strides, out));
    } else {
        TAPER_TRY(taper_ret_new(call, at, dtype, rank, sizes, NULL, out));
    }
    if (x->quantizer != NULL && x->dtype == dtype) {
        TAPER_TRY(taper_tensor_set_quantizer(*out, x->quantizer, call->run->error));
    }
    return TAPER_OK;
}

// ---- loading and storing elements

double taper_number_load(taper_dtype dtype, const void *data, int64_t index)
{
    switch (dtype) {
    case TAPER_F32:
        return (double)((const float *)data)[index];
    case TAPER_F64:
        return ((const double *)data)[index];
    case TAPER_F16:
        return (double)taper_f16_to_float(((const uint16_t *)data)[index]);
    case TAPER_BF16:
        return (double)taper_bf16_to_float(((const uint16_t *)data)[index]);
    case TAPER_U8:
    case TAPER_QU8:
    case TAPER_BOOL:
        return (double)((const uint8_t *)data)[index];
    case TAPER_I8:
    case TAPER_QI8:
        return (double)((const int8_t *)data)[index];
    case TAPER_I16:
        return (double)((const int16_t *)data)[index];
    case TAPER_I32:
    case TAPER_QI32:
        return (double)((const int32_t *)data)[index];
    case TAPER_I64:
        return (double)((const int64_t *)data)[index];
    default:
        return 0.0;
    }
}

static double saturate(double value, double low, double high)
{
    const double rounded = rint(value);
    return rounded >= low ? (rounded <= high ? rounded : high) : low; // a NaN becomes `low`
}

void taper_number_store(taper_dtype dtype, void *data, int64_t index, double value)
{
    switch (dtype) {
    case TAPER_F32:
        ((float *)data)[index] = (float)value;
        break;
    case TAPER_F64:
        ((double *)data)[index] = value;
        break;
    case TAPER_F16:
        ((uint16_t *)data)[index] = taper_float_to_f16((float)value);
        break;
    case TAPER_BF16:
        ((uint16_t *)data)[index] = taper_float_to_bf16((float)value);
        break;
    case TAPER_U8:
    case TAPER_QU8:
        ((uint8_t *)data)[index] = (uint8_t)saturate(value, 0.0, 255.0);
        break;
    case TAPER_BOOL:
        ((uint8_t *)data)[index] = value != 0.0 ? 1 : 0;
        break;
    case TAPER_I8:
    case TAPER_QI8:
        ((int8_t *)data)[index] = (int8_t)saturate(value, -128.0, 127.0);
        break;
    case TAPER_I16:
        ((int16_t *)data)[index] = (int16_t)saturate(value, -32768.0, 32767.0);
        break;
    case TAPER_I32:
    case TAPER_QI32:
        ((int32_t *)data)[index] = (int32_t)saturate(value, -2147483648.0, 2147483647.0);
        break;
    case TAPER_I64: // the largest double below 2^63
        ((int64_t *)data)[index] = (int64_t)saturate(value, -9223372036854775808.0, 9223372036854774784.0);
        break;
    default:
        break;
    }
}

// ---- strides of empty_like

// Returns true if the elements fill the memory between the first and the last without gaps or overlap.
static bool is_dense(size_t rank, const int64_t *sizes, const int64_t *strides)
{
    bool used[TAPER_MAX_RANK] = {false};
    int64_t expected = 1;
    for (size_t i = 0; i < rank; i++) {
        if (sizes[i] == 0) {
            return true;
        }
    }
    for (size_t step = 0; step < rank; step++) {
        size_t found = rank;
        for (size_t i = 0; i < rank; i++) {
            if (!used[i] && (sizes[i] < 2 || strides[i] == expected)) {
                found = i;
                break;
            }
        }
        if (found == rank) {
            return false;
        }
        used[found] = true;
        if (sizes[found] >= 2) {
            expected *= sizes[found];
        }
    }
    return true;
}

void taper_strides_like(const taper_tensor *tensor, const int64_t *sizes, int64_t *strides)
{
    const size_t rank = tensor->rank;
    const int64_t *own = tensor->strides;
    if (is_dense(rank, sizes, own)) {
        memcpy(strides, own, rank * sizeof *own);
        return;
    }
    // Insertion sort, innermost first. A stride of 0, or equal strides with equal sizes, do not decide the order. The
    // next dimension is then compared.
    size_t order[TAPER_MAX_RANK] = {0};
    for (size_t i = 0; i < rank; i++) {
        order[i] = rank - 1 - i;
    }
    for (size_t i = 1; i < rank; i++) {
        size_t moving = i;
        for (size_t at = i; at-- > 0;) {
            const size_t a = order[at], b = order[moving];
            if (own[a] == 0 || own[b] == 0 || (own[a] == own[b] && sizes[a] <= sizes[b])) {
                continue;
            }
            if (own[a] < own[b]) {
                break;
            }
            order[at] = b;
            order[moving] = a;
            moving = at;
        }
    }
    int64_t next = 1;
    for (size_t i = 0; i < rank; i++) {
        strides[order[i]] = next;
        // The product is at most the number of elements, which was checked, so it cannot overflow.
        next *= sizes[order[i]];
    }
}
