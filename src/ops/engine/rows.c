// SPDX-License-Identifier: BSD-2-Clause
// Operators on contiguous rows of floats (rows.h).
#include "ops/engine/rows.h"

#include <math.h>

#include "ops/kernels/kernel_select.h"

typedef struct rows_job {
    const taper_vector_entry *vector;
    const float *x, *scale, *shift;
    float *y;
    size_t width, x_stride, y_stride;
    double eps;
    bool logarithm;
} rows_job;

static void softmax_range(void *argument, size_t begin, size_t end)
{
    const rows_job *job = argument;
    taper_softmax_f32_function *const function = job->logarithm ? job->vector->log_softmax : job->vector->softmax;
    for (size_t r = begin; r < end; r++) {
        function(job->width, job->x + r * job->width, job->y + r * job->width);
    }
}

taper_status taper_rows_softmax(taper_run *run, bool logarithm, size_t rows, size_t width, const float *x, float *y)
{
    rows_job job = {
        .vector = taper_vector_f32_select(run->cpu), .x = x, .y = y, .width = width, .logarithm = logarithm};
    return taper_run_floats(run, softmax_range, &job, rows, 8 * (double)width);
}

static void layer_norm_range(void *argument, size_t begin, size_t end)
{
    const rows_job *job = argument;
    for (size_t r = begin; r < end; r++) {
        job->vector->layer_norm(job->width, job->x + r * job->width, job->scale, job->shift, (float)job->eps,
                                job->y + r * job->width);
    }
}

taper_status taper_rows_layer_norm(taper_run *run, size_t rows, size_t width, const float *x, const float *weight,
                                   const float *bias, double eps, float *y)
{
    rows_job job = {.vector = taper_vector_f32_select(run->cpu),
                    .x = x,
                    .y = y,
                    .scale = weight,
                    .shift = bias,
                    .width = width,
                    .eps = eps};
    return taper_run_floats(run, layer_norm_range, &job, rows, 2 * (double)width);
}

static void rms_norm_range(void *argument, size_t begin, size_t end)
{
    const rows_job *job = argument;
    const taper_vector_entry *v = job->vector;
    // Largest number of floats whose squares are added as floats, as in reduce_vector.c.
    const size_t at_once = (size_t)v->lanes * 256;
    for (size_t r = begin; r < end; r++) {
        const float *x = job->x + r * job->width;
        float *y = job->y + r * job->width;
        double squares = 0;
        for (size_t i = 0; i < job->width; i += at_once) {
            squares += (double)v->fold[TAPER_REDUCTION_SQUARES](taper_min_size(at_once, job->width - i), x + i);
        }
        const float scale = (float)(1 / sqrt(squares / (double)job->width + job->eps));
        v->binary[TAPER_BINARY_MUL][TAPER_OPERANDS_VS](job->width, x, &scale, y, -INFINITY, INFINITY);
        if (job->scale != NULL) {
            v->binary[TAPER_BINARY_MUL][TAPER_OPERANDS_VV](job->width, y, job->scale, y, -INFINITY, INFINITY);
        }
    }
}

taper_status taper_rows_rms_norm(taper_run *run, size_t rows, size_t width, const float *x, const float *weight,
                                 double eps, float *y)
{
    rows_job job = {
        .vector = taper_vector_f32_select(run->cpu), .x = x, .y = y, .scale = weight, .width = width, .eps = eps};
    return taper_run_floats(run, rms_norm_range, &job, rows, 2 * (double)width);
}

static void channels_range(void *argument, size_t begin, size_t end)
{
    const rows_job *job = argument;
    job->vector->channels(end - begin, job->width, job->x + begin * job->x_stride, job->x_stride, job->scale,
                          job->shift, job->y + begin * job->y_stride, job->y_stride, -INFINITY, INFINITY);
}

taper_status taper_rows_channels(taper_run *run, size_t rows, size_t count, const float *x, size_t x_stride,
                                 const float *scale, const float *shift, float *y, size_t y_stride)
{
    rows_job job = {.vector = taper_vector_f32_select(run->cpu),
                    .x = x,
                    .y = y,
                    .scale = scale,
                    .shift = shift,
                    .width = count,
                    .x_stride = x_stride,
                    .y_stride = y_stride};
    return taper_run_floats(run, channels_range, &job, rows, (double)count);
}

static void planes_range(void *argument, size_t begin, size_t end)
{
    const rows_job *job = argument;
    enum { SHORT = 12 }; // number of floats of a row up to which a kernel call takes longer than the loop
    for (size_t p = begin; p < end && job->width <= SHORT; p++) {
        const float *x = job->x + p * job->width;
        // Arithmetic with doubles is as exact here as the kernels' fused multiply-add.
        const double scale = (double)job->scale[p], shift = (double)job->shift[p];
        float *y = job->y + p * job->width;
        for (size_t i = 0; i < job->width; i++) {
            y[i] = (float)((double)x[i] * scale + shift);
        }
    }
    for (size_t p = begin; p < end && job->width > SHORT; p++) {
        const float numbers[] = {job->scale[p], job->shift[p], -INFINITY, INFINITY};
        job->vector->unary[TAPER_UNARY_AFFINE](job->width, job->x + p * job->width, job->y + p * job->width, numbers);
    }
}

taper_status taper_rows_planes(taper_run *run, size_t planes, size_t count, const float *x, const float *scale,
                               const float *shift, float *y)
{
    rows_job job = {
        .vector = taper_vector_f32_select(run->cpu), .x = x, .y = y, .scale = scale, .shift = shift, .width = count};
    return taper_run_floats(run, planes_range, &job, planes, (double)count);
}

enum { FUNCTION = 4 }; // cost of a function such as exp, in simple operations

typedef struct activate_job {
    taper_unary_f32_function *function;
    float *x;
} activate_job;

static void activate_range(void *argument, size_t begin, size_t end)
{
    static const float relu[] = {0.0f, INFINITY};
    const activate_job *job = argument;
    job->function(end - begin, job->x + begin, job->x + begin, relu);
}

taper_status taper_rows_activate(taper_run *run, taper_rows_function function, size_t count, float *x)
{
    static const uint8_t kernels[] = {[TAPER_ROWS_RELU] = TAPER_UNARY_CLAMP, [TAPER_ROWS_GELU] = TAPER_UNARY_GELU};
    activate_job job = {taper_vector_f32_select(run->cpu)->unary[kernels[function]], x};
    return taper_run_floats(run, activate_range, &job, count, FUNCTION);
}
