// SPDX-License-Identifier: BSD-2-Clause
// Sums of quint8 tensors that have one scale each and are dense in the order of the result. All other tensors are left
// to the reference.
#include "backends/cpu/quantized_sum_cpu.h"

#include <math.h>

#include "ops/call/parallel.h"
#include "ops/call/prepared.h"
#include "ops/kernels/kernel_select.h"
#include "ops/quantized/quantized_walk.h"

bool taper_u8_lies_in_format(const taper_tensor *x, int64_t *strides)
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

bool taper_is_plain_quint8(const taper_tensor *x)
{
    const taper_quantizer *z = x->quantizer;
    return x->dtype == TAPER_QU8 && z != NULL && z->scales == NULL && z->scale > 0 && !isinf(z->scale) &&
           z->zero_point >= 0 && z->zero_point <= 255;
}

bool taper_u8_sum_factors(const taper_quantizer *a, const taper_quantizer *b, double scale, taper_u8_sum *sum)
{
    const float of_a = (float)a->scale / (float)scale, of_b = (float)b->scale / (float)scale;
    const float greater = of_a > of_b ? of_a : of_b;
    if (!(of_a >= 0x1p-14f && of_b >= 0x1p-14f && greater >= 0x1p-10f && greater < 256.0f)) {
        return false;
    }
    int exponent;
    frexpf(greater, &exponent);
    const int shift = 22 - exponent; // the shift is from 14 to 31
    sum->shift = (uint32_t)shift;
    sum->a_factor = (int32_t)lrintf(ldexpf(of_a, shift));
    sum->b_factor = (int32_t)lrintf(ldexpf(of_b, shift));
    sum->offset = (int32_t) - ((int64_t)sum->a_factor * a->zero_point + (int64_t)sum->b_factor * b->zero_point);
    return true;
}

// ---- runs and prepared calls

typedef struct sum_job {
    const taper_vector_u8_entry *vector;
    const uint8_t *a, *b;
    uint8_t *y;
    taper_u8_sum sum;
    size_t count;
} sum_job;

static void sum_range(void *argument, size_t begin, size_t end)
{
    const sum_job *job = argument;
    job->vector->add(end - begin, job->a + begin, job->b + begin, &job->sum, job->y + begin);
}

static taper_status run_job(taper_call *call, sum_job *job, taper_tensor *y)
{
    job->a = taper_tensor_data(call->args[0].as.tensor);
    job->b = taper_tensor_data(call->args[1].as.tensor);
    job->y = taper_tensor_mutable(y);
    call->run->kernel = job->vector->name;
    return taper_run_floats(call->run, sum_range, job, job->count, 0.5);
}

static taper_status run_kept(taper_call *call, void *data)
{
    sum_job job = *(const sum_job *)data;
    taper_tensor *y;
    TAPER_TRY(taper_ret_prepared(call, &y));
    return run_job(call, &job, y);
}

static taper_status add(taper_call *call, bool relu)
{
    taper_tensor *a, *b, *y;
    double scale;
    int64_t zero_point, strides[TAPER_MAX_RANK], other[TAPER_MAX_RANK];
    TAPER_TRY(taper_arg_quantized(call, 0, &a));
    TAPER_TRY(taper_arg_quantized(call, 1, &b));
    TAPER_TRY(taper_arg_double(call, 2, &scale));
    TAPER_TRY(taper_arg_int(call, 3, &zero_point));
    sum_job job = {.vector = taper_vector_u8_select(call->run->cpu)};
    if (!taper_is_plain_quint8(a) || !taper_is_plain_quint8(b) || a->rank != b->rank ||
        memcmp(a->sizes, b->sizes, a->rank * sizeof *a->sizes) != 0 || !taper_u8_lies_in_format(a, strides) ||
        !taper_u8_lies_in_format(b, other) || memcmp(strides, other, a->rank * sizeof *strides) != 0 || !(scale > 0) ||
        isinf(scale) || zero_point < 0 || zero_point > 255 ||
        !taper_u8_sum_factors(a->quantizer, b->quantizer, scale, &job.sum)) {
        return TAPER_DECLINED;
    }
    TAPER_TRY(taper_ret_quantized(call, 0, TAPER_QU8, a->rank, a->sizes, strides, scale, zero_point, &y));
    job.sum.zero_point = (int32_t)zero_point;
    job.sum.min = relu ? (int32_t)zero_point : 0;
    job.sum.max = 255;
    job.count = (size_t)taper_tensor_numel(a);
    TAPER_TRY(run_job(call, &job, y));
    sum_job *kept = taper_prepare(call, run_kept, sizeof *kept);
    if (kept != NULL) {
        *kept = job;
    }
    return TAPER_OK;
}

taper_status taper_cpu_quantized_add(taper_call *call);
taper_status taper_cpu_quantized_add(taper_call *call)
{
    return add(call, false);
}

taper_status taper_cpu_quantized_add_relu(taper_call *call);
taper_status taper_cpu_quantized_add_relu(taper_call *call)
{
    return add(call, true);
}
