// SPDX-License-Identifier: BSD-2-Clause
// Operators on quantized tensors element by element: quantizing, dequantizing. Tensors of quint8, quantized per tensor,
// that lie densely in the order the result has; everything else is left to the references.
#include <math.h>

#include "backends/cpu/fast_cpu.h"
#include "backends/cpu/kernel_select.h"
#include "ops/quantized.h"
#include "platform/threads.h"

enum { GRAIN = 4 * TAPER_CPU_GRAIN };

// Does the tensor lie in the format that its strides suggest? That format's strides, which are those of a result.
static bool lies_in_format(const taper_tensor *x, int64_t *strides)
{
    if (x->hidden_nhwc || taper_tensor_numel(x) == 0) {
        return false;
    }
    if (taper_tensor_suggests_channels_last(x)) {
        taper_strides_channels_last(x->rank, x->sizes, strides);
        return taper_tensor_is_channels_last(x);
    }
    taper_strides_contiguous(x->rank, x->sizes, strides);
    return taper_tensor_is_contiguous(x);
}

static bool is_plain_quint8(const taper_tensor *x)
{
    const taper_quantizer *z = x->quantizer;
    return x->dtype == TAPER_QU8 && z != NULL && z->scales == NULL && z->scale > 0 && !isinf(z->scale) &&
           z->zero_point >= 0 && z->zero_point <= 255;
}

typedef struct convert_job {
    const taper_vector_u8_entry *vector;
    const void *x;
    void *y;
    float scale; // or its inverse
    int32_t zero_point;
} convert_job;

static void quantize_range(void *argument, size_t begin, size_t end)
{
    const convert_job *job = argument;
    job->vector->quantize(end - begin, (const float *)job->x + begin, job->scale, job->zero_point,
                          (uint8_t *)job->y + begin);
}

static void dequantize_range(void *argument, size_t begin, size_t end)
{
    const convert_job *job = argument;
    job->vector->dequantize(end - begin, (const uint8_t *)job->x + begin, job->scale, job->zero_point,
                            (float *)job->y + begin);
}

taper_status taper_cpu_quantize_per_tensor(taper_call *call);
taper_status taper_cpu_quantize_per_tensor(taper_call *call)
{
    taper_tensor *x, *y;
    double scale;
    int64_t zero_point, strides[TAPER_MAX_RANK];
    taper_dtype dtype;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_double(call, 1, &scale));
    TAPER_TRY(taper_arg_int(call, 2, &zero_point));
    TAPER_TRY(taper_arg_dtype_or(call, 3, TAPER_QU8, &dtype));
    if (dtype != TAPER_QU8 || x->dtype != TAPER_F32 || !lies_in_format(x, strides) || !(scale > 0) || isinf(scale) ||
        zero_point < 0 || zero_point > 255) {
        return TAPER_DECLINED;
    }
    TAPER_TRY(taper_ret_quantized(call, 0, dtype, x->rank, x->sizes, strides, scale, zero_point, &y));
    convert_job job = {.vector = taper_vector_u8_select(call->run->cpu),
                       .x = taper_tensor_data(x),
                       .y = taper_tensor_mutable(y),
                       .scale = 1.0f / (float)scale,
                       .zero_point = (int32_t)zero_point};
    call->run->kernel = job.vector->name;
    taper_pool_range(call->run->pool, quantize_range, &job, (size_t)taper_tensor_numel(x), GRAIN);
    return TAPER_OK;
}

taper_status taper_cpu_dequantize(taper_call *call);
taper_status taper_cpu_dequantize(taper_call *call)
{
    taper_tensor *x, *y;
    int64_t strides[TAPER_MAX_RANK];
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    if (!is_plain_quint8(x) || !lies_in_format(x, strides)) {
        return TAPER_DECLINED;
    }
    TAPER_TRY(taper_ret_new(call, 0, TAPER_F32, x->rank, x->sizes, strides, &y));
    convert_job job = {.vector = taper_vector_u8_select(call->run->cpu),
                       .x = taper_tensor_data(x),
                       .y = taper_tensor_mutable(y),
                       .scale = (float)x->quantizer->scale,
                       .zero_point = (int32_t)x->quantizer->zero_point};
    call->run->kernel = job.vector->name;
    taper_pool_range(call->run->pool, dequantize_range, &job, (size_t)taper_tensor_numel(x), GRAIN);
    return TAPER_OK;
}
