// SPDX-License-Identifier: BSD-2-Clause
// Makes quantized tensors, with given scales and zero points or with the quantizer of another tensor.
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/view_shape.h"
#include "ops/quantized/quantized.h"
#include "ops/tensor/create.h"

// Makes result 0 with the sizes of argument 0, in the memory format of argument `format_at`.
static taper_status ret_sized(taper_call *call, size_t format_at, taper_dtype dtype, const taper_quantizer *z)
{
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK], format;
    size_t rank;
    taper_tensor *made;
    TAPER_TRY(taper_create_sizes(call, 0, &rank, sizes));
    TAPER_TRY(taper_arg_int_or(call, format_at, TAPER_FORMAT_CONTIGUOUS, &format));
    const size_t planes = format == TAPER_FORMAT_CHANNELS_LAST ? 4 : format == TAPER_FORMAT_CHANNELS_LAST_3D ? 5 : 0;
    if ((planes == 0 && format != TAPER_FORMAT_CONTIGUOUS) || (planes != 0 && rank != planes)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument 'memory_format': %lld is not possible for %zu dimensions", (long long)format, rank);
    }
    if (planes != 0) {
        taper_strides_channels_last(rank, sizes, strides);
    }
    TAPER_TRY(
        taper_tensor_new(call->run->heap, dtype, rank, sizes, planes != 0 ? strides : NULL, &made, call->run->error));
    taper_ret(call, 0, TAPER_VAL(made));
    TAPER_TRY(taper_tensor_set_quantizer(made, z, call->run->error));
    return taper_q_check_tensor(call->run, "size", made);
}

static taper_status arg_dtype(const taper_call *call, size_t at, taper_dtype otherwise, taper_dtype *dtype)
{
    TAPER_TRY(taper_create_options(call, at, otherwise, dtype));
    if (!taper_q_is_dtype(*dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument 'dtype': a quantized tensor is quint8, qint8 or qint32, not %s", taper_dtype_name(*dtype));
    }
    return TAPER_OK;
}

// Computes _empty_affine_quantized(size, dtype, layout, device, pin_memory, scale, zero_point, memory_format).
TAPER_KERNEL(taper_op_empty_affine_quantized)
{
    taper_quantizer z = {.scheme = TAPER_PER_TENSOR_AFFINE};
    taper_dtype dtype;
    TAPER_TRY(arg_dtype(call, 1, TAPER_F32, &dtype));
    TAPER_TRY(taper_arg_qparams(call, 5, dtype, &z.scale, &z.zero_point));
    return ret_sized(call, 7, dtype, &z);
}

// Computes _empty_per_channel_affine_quantized(size, scales, zero_points, axis, dtype, layout, device, pin_memory,
// memory_format).
TAPER_KERNEL(taper_op_empty_channels_quantized)
{
    taper_tensor *scales, *points;
    int64_t axis;
    taper_quantizer z;
    taper_dtype dtype;
    TAPER_TRY(taper_arg_plain(call, 1, &scales));
    TAPER_TRY(taper_arg_plain(call, 2, &points));
    TAPER_TRY(taper_arg_int(call, 3, &axis));
    TAPER_TRY(arg_dtype(call, 4, TAPER_F32, &dtype));
    TAPER_TRY(taper_q_channel_quantizer(call, scales, points, axis, &z));
    const taper_status status = ret_sized(call, 8, dtype, &z);
    taper_q_release(&z);
    return status;
}

// Computes empty_quantized(size, qtensor, dtype, layout, device, pin_memory, memory_format).
TAPER_KERNEL(taper_op_empty_quantized)
{
    taper_tensor *like;
    taper_dtype dtype;
    TAPER_TRY(taper_arg_quantized(call, 1, &like));
    TAPER_TRY(arg_dtype(call, 2, (taper_dtype)like->dtype, &dtype));
    return ret_sized(call, 6, dtype, like->quantizer);
}

TAPER_KERNEL(taper_op_q_ones_like)
{
    taper_tensor *x, *y;
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    TAPER_TRY(taper_create_like(call, 1, &y));
    if (y->dtype != x->dtype) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument 'dtype' must be %s, as self",
                   taper_dtype_name((taper_dtype)x->dtype));
    }
    const taper_scalar one = taper_scalar_int(taper_q_round(1.0f / (float)x->quantizer->scale, x->quantizer->zero_point,
                                                            taper_q_range_of((taper_dtype)x->dtype)));
    return taper_tensor_fill(call->run, y, &one);
}
