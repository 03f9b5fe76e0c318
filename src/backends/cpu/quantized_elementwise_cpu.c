// SPDX-License-Identifier: BSD-2-Clause
// Operators on quantized tensors element by element: quantizing, dequantizing, sums. Tensors of quint8, quantized per
// tensor, that lie densely in the order the result has; everything else is left to the references.
#include <math.h>

#include "backends/cpu/quantized_sum_cpu.h"
#include "ops/call/parallel.h"
#include "ops/kernels/kernel_select.h"
#include "ops/quantized/quantized_walk.h"

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
    return taper_run_floats(call->run, quantize_range, &job, (size_t)taper_tensor_numel(x), 0.5);
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
    return taper_run_floats(call->run, dequantize_range, &job, (size_t)taper_tensor_numel(x), 0.5);
}

// ---- sums

typedef struct sum_job {
    const taper_vector_u8_entry *vector;
    const uint8_t *a, *b;
    uint8_t *y;
    taper_u8_sum sum;
} sum_job;

static void sum_range(void *argument, size_t begin, size_t end)
{
    const sum_job *job = argument;
    job->vector->add(end - begin, job->a + begin, job->b + begin, &job->sum, job->y + begin);
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
    const int shift = 22 - exponent; // 14 .. 31
    sum->shift = (uint32_t)shift;
    sum->a_factor = (int32_t)lrintf(ldexpf(of_a, shift));
    sum->b_factor = (int32_t)lrintf(ldexpf(of_b, shift));
    sum->offset = (int32_t) - ((int64_t)sum->a_factor * a->zero_point + (int64_t)sum->b_factor * b->zero_point);
    return true;
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
    if (!is_plain_quint8(a) || !is_plain_quint8(b) || a->rank != b->rank ||
        memcmp(a->sizes, b->sizes, a->rank * sizeof *a->sizes) != 0 || !lies_in_format(a, strides) ||
        !lies_in_format(b, other) || memcmp(strides, other, a->rank * sizeof *strides) != 0 || !(scale > 0) ||
        isinf(scale) || zero_point < 0 || zero_point > 255 ||
        !taper_u8_sum_factors(a->quantizer, b->quantizer, scale, &job.sum)) {
        return TAPER_DECLINED;
    }
    TAPER_TRY(taper_ret_quantized(call, 0, TAPER_QU8, a->rank, a->sizes, strides, scale, zero_point, &y));
    job.a = taper_tensor_data(a);
    job.b = taper_tensor_data(b);
    job.y = taper_tensor_mutable(y);
    job.sum.zero_point = (int32_t)zero_point;
    job.sum.min = relu ? (int32_t)zero_point : 0;
    job.sum.max = 255;
    call->run->kernel = job.vector->name;
    return taper_run_floats(call->run, sum_range, &job, (size_t)taper_tensor_numel(a), 0.5);
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

// ---- products

// Of elements that lie apart: brought together by blocks, as images of one order times such of another are.
static void product_apart(const taper_vector_u8_entry *vector, const taper_q_row *row, const taper_u8_product *p,
                          const uint8_t *a, const uint8_t *b, uint8_t *y)
{
    enum { BLOCK = 256 };
    uint8_t of_a[BLOCK], of_b[BLOCK], of_y[BLOCK];
    for (int64_t at = 0; at < row->count; at += BLOCK) {
        const int64_t n = taper_min_i64(row->count - at, BLOCK);
        for (int64_t i = 0; i < n; i++) {
            of_a[i] = a[(at + i) * row->a_step];
        }
        for (int64_t i = 0; i < n; i++) {
            of_b[i] = b[(at + i) * row->b_step];
        }
        vector->multiply((size_t)n, of_a, of_b, 1, p, of_y);
        for (int64_t i = 0; i < n; i++) {
            y[(at + i) * row->y_step] = of_y[i];
        }
    }
}

static void product_row(const void *argument, const taper_q_row *row)
{
    const taper_q_product *work = argument;
    const taper_vector_u8_entry *vector = work->kernels;
    taper_u8_product p = {.multiplier = work->multiplier,
                          .a_point = (int32_t)work->a_point,
                          .b_point = (int32_t)work->b_point,
                          .zero_point = (int32_t)work->point,
                          .min = work->relu ? (int32_t)work->point : 0};
    const uint8_t *a = (const uint8_t *)row->a + row->a_at, *b = (const uint8_t *)row->b + row->b_at;
    uint8_t *y = (uint8_t *)row->y + row->y_at;
    const size_t count = (size_t)row->count;
    if (row->y_step == 1 && row->a_step == 1 && (row->b_step == 1 || row->b_step == 0)) {
        vector->multiply(count, a, b, (size_t)row->b_step, &p, y);
    } else if (row->y_step == 1 && row->a_step == 0 && row->b_step == 1) {
        p.a_point = (int32_t)work->b_point;
        p.b_point = (int32_t)work->a_point;
        vector->multiply(count, b, a, 0, &p, y);
    } else {
        product_apart(vector, row, &p, a, b, y);
    }
}

static taper_status multiply(taper_call *call, bool relu)
{
    const taper_vector_u8_entry *vector = taper_vector_u8_select(call->run->cpu);
    call->run->kernel = vector->name;
    return taper_q_multiply(call, relu, product_row, vector);
}

taper_status taper_cpu_quantized_mul(taper_call *call);
taper_status taper_cpu_quantized_mul(taper_call *call)
{
    return multiply(call, false);
}

taper_status taper_cpu_quantized_mul_relu(taper_call *call);
taper_status taper_cpu_quantized_mul_relu(taper_call *call)
{
    return multiply(call, true);
}
