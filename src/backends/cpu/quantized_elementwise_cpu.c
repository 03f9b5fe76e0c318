// SPDX-License-Identifier: BSD-2-Clause
// Element-wise operators on quantized tensors: quantize, dequantize, products (sums are in quantized_sum_cpu.c). They
// support quint8 tensors with one scale that are dense in the order of the result. All other tensors are left to the
// references.
#include <math.h>

#include "backends/cpu/quantized_sum_cpu.h"
#include "ops/call/parallel.h"
#include "ops/call/prepared.h"
#include "ops/kernels/kernel_select.h"
#include "ops/quantized/quantized_walk.h"

typedef struct convert_job {
    const taper_vector_u8_entry *vector;
    const void *x;
    void *y;
    float scale; // scale (to dequantize) or its inverse (to quantize)
    int32_t zero_point;
    // Number of planes of the image; number of floats of a plane; number of floats of a row; number of rows of a plane.
    size_t planes, plane, row, rows;
} convert_job;

#include "backends/cpu/quantized_planes.h"

static void quantize_range(void *argument, size_t begin, size_t end)
{
    const convert_job *job = argument;
    quantize_rows(job, begin, end);
}

static void dequantize_range(void *argument, size_t begin, size_t end)
{
    const convert_job *job = argument;
    job->vector->dequantize(end - begin, (const uint8_t *)job->x + begin, job->scale, job->zero_point,
                            (float *)job->y + begin);
}

static taper_status run_quantize(taper_call *call, convert_job *job)
{
    call->run->kernel = job->vector->name;
    return taper_run_floats(call->run, quantize_range, job, job->rows, 0.5 * (double)(job->planes * job->row));
}

static taper_status quantize_kept(taper_call *call, void *data)
{
    convert_job job = *(const convert_job *)data;
    taper_tensor *y;
    TAPER_TRY(taper_ret_prepared(call, &y));
    job.x = taper_tensor_data(call->args[0].as.tensor);
    job.y = taper_tensor_mutable(y);
    return run_quantize(call, &job);
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
    if (dtype != TAPER_QU8 || x->dtype != TAPER_F32 || !taper_u8_lies_in_format(x, strides) || !(scale > 0) ||
        isinf(scale) || zero_point < 0 || zero_point > 255) {
        return TAPER_DECLINED;
    }
    TAPER_TRY(taper_ret_quantized(call, 0, dtype, x->rank, x->sizes, strides, scale, zero_point, &y));
    const size_t count = (size_t)taper_tensor_numel(x);
    convert_job job = {.vector = taper_vector_u8_select(call->run->cpu),
                       .x = taper_tensor_data(x),
                       .y = taper_tensor_mutable(y),
                       .scale = 1.0f / (float)scale,
                       .zero_point = (int32_t)zero_point,
                       .planes = 1,
                       .plane = count,
                       .row = 1,
                       .rows = count};
    take_planes(&job, x, count);
    TAPER_TRY(run_quantize(call, &job));
    convert_job *kept = taper_prepare(call, quantize_kept, sizeof *kept);
    if (kept != NULL) {
        *kept = job;
    }
    return TAPER_OK;
}

taper_status taper_cpu_dequantize(taper_call *call);
taper_status taper_cpu_dequantize(taper_call *call)
{
    taper_tensor *x, *y;
    int64_t strides[TAPER_MAX_RANK];
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    if (!taper_is_plain_quint8(x) || !taper_u8_lies_in_format(x, strides)) {
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

// ---- products

// Multiplies elements that are not contiguous, such as images in different memory orders. This function first copies
// blocks of the elements to contiguous memory.
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
