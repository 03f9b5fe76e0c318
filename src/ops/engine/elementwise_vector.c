// SPDX-License-Identifier: BSD-2-Clause
// The elementwise loops that networks spend time in, with the vector kernels and on all threads: activations, sums,
// products, quotients, whole tensors or one factor per channel, row or plane.
#include <math.h>

#include "ops/call/parallel.h"
#include "ops/engine/elementwise_loops.h"
#include "ops/kernels/kernel_select.h"

enum { FUNCTION = 4 }; // simple operations that a function takes, about

typedef struct loop_job {
    const taper_vector_entry *vector;
    const taper_ew_walk *walk;
    taper_unary_f32_function *unary;
    taper_binary_f32_function *binary;
    float factor;        // of a sum's second operand, which is then a blend
    float numbers[4];    // of unary
    bool scale, shift;   // rows of a binary one repeat the second operand: it multiplies, is added
    size_t wide, narrow; // then: the sides of the rows and of the factors
} loop_job;

// ---- which kernel

static bool choose_unary(loop_job *job, const taper_ew_op *op, const taper_ew_args *args)
{
    const bool relu = op->kernel == TAPER_EW_KERNEL_RELU;
    if (op->kernel == 0 || op->kernel > TAPER_EW_KERNEL_RELU) {
        return false;
    }
    job->unary = job->vector->unary[relu ? TAPER_UNARY_CLAMP : op->kernel - 1];
    job->numbers[0] = relu ? 0 : (float)args->f[0];
    job->numbers[1] = relu ? INFINITY : (float)args->f[1];
    if (op->kernel == 1 + TAPER_UNARY_ELU) { // alpha, scale, scale of the input
        job->numbers[0] = (float)(args->f[0] * args->f[1]);
        job->numbers[2] = (float)args->f[2];
    }
    return job->unary != NULL && (op->kernel != 1 + TAPER_UNARY_CLAMP || job->numbers[0] <= job->numbers[1]);
}

static bool choose_binary(loop_job *job, const taper_ew_op *op, const taper_ew_args *args)
{
    if (op->kernel < TAPER_EW_KERNEL_BINARY) {
        return false;
    }
    const taper_binary kernel = (taper_binary)(op->kernel - TAPER_EW_KERNEL_BINARY);
    const taper_ew_walk *w = job->walk;
    const int64_t a = w->steps[1][0], b = w->steps[2][0], item = sizeof(float);
    const bool alone = w->rank == 1 && w->sizes[0] == 1;
    if (!alone && ((a != item && a != 0) || (b != item && b != 0) || (a == 0 && b == 0))) {
        return false;
    }
    const taper_operands operands = alone || (a != 0 && b != 0) ? TAPER_OPERANDS_VV
                                    : b == 0                    ? TAPER_OPERANDS_VS
                                                                : TAPER_OPERANDS_SV;
    job->binary = job->vector->binary[kernel][operands];
    if ((kernel == TAPER_BINARY_ADD || kernel == TAPER_BINARY_SUB) && args->f[0] != 1.0) {
        job->factor = (float)(kernel == TAPER_BINARY_ADD ? args->f[0] : -args->f[0]);
        return operands == TAPER_OPERANDS_VV && job->vector->blend != NULL && job->factor != 0;
    }
    // One vector of factors for many rows, short ones above all: a kernel of its own.
    if (w->rank > 1 && operands == TAPER_OPERANDS_VV && w->steps[1][1] != w->steps[2][1] &&
        (w->steps[1][1] == 0 || w->steps[2][1] == 0)) {
        job->scale = kernel == TAPER_BINARY_MUL;
        job->shift = kernel == TAPER_BINARY_ADD;
        job->narrow = w->steps[2][1] == 0 ? 2 : 1;
        job->wide = 3 - job->narrow;
    }
    return job->binary != NULL;
}

// ---- loops

static void run_loop(const loop_job *job, size_t n, const float *const *x, float *y)
{
    if (job->unary != NULL) {
        job->unary(n, x[0], y, job->numbers);
    } else if (job->factor != 0) {
        job->vector->blend(n, x[0], x[1], 1, job->factor, y);
    } else {
        job->binary(n, x[0], x[1], y, -INFINITY, INFINITY);
    }
}

// Rows [first, first + count) along dimension 1, from the sides' places.
static void run_rows(const loop_job *job, size_t count, char *const *at)
{
    const taper_ew_walk *w = job->walk;
    const size_t n = (size_t)w->sizes[0];
    const bool flat = w->rank == 1;
    if ((job->scale || job->shift) && !flat) {
        const float *factors = (const float *)(const void *)at[job->narrow];
        job->vector->channels(count, n, (const float *)(const void *)at[job->wide],
                              (size_t)w->steps[job->wide][1] / sizeof(float), job->scale ? factors : NULL,
                              job->shift ? factors : NULL, (float *)(void *)at[0],
                              (size_t)w->steps[0][1] / sizeof(float), -INFINITY, INFINITY);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const float *x[2] = {NULL, NULL};
        for (size_t k = 1; k < w->sides; k++) {
            x[k - 1] = (const float *)(const void *)(at[k] + (flat ? 0 : (int64_t)i * w->steps[k][1]));
        }
        float *y = (float *)(void *)(at[0] + (flat ? 0 : (int64_t)i * w->steps[0][1]));
        run_loop(job, n, x, y);
    }
}

// Rows are numbered through all dimensions but the innermost.
static void rows_range(void *argument, size_t begin, size_t end)
{
    const loop_job *job = argument;
    const taper_ew_walk *w = job->walk;
    while (begin < end) {
        char *at[TAPER_EW_INPUTS + 1];
        memcpy(at, w->data, sizeof at);
        size_t left = begin;
        for (size_t d = 1; d < w->rank; d++) {
            const size_t i = left % (size_t)w->sizes[d];
            left /= (size_t)w->sizes[d];
            for (size_t k = 0; k < w->sides; k++) {
                at[k] += (int64_t)i * w->steps[k][d];
            }
        }
        const size_t line = w->rank > 1 ? (size_t)w->sizes[1] : 1;
        const size_t count = taper_min_size(end - begin, line - begin % line);
        run_rows(job, count, at);
        begin += count;
    }
}

static void flat_range(void *argument, size_t begin, size_t end)
{
    const loop_job *job = argument;
    const taper_ew_walk *w = job->walk;
    const float *x[2] = {NULL, NULL};
    for (size_t k = 1; k < w->sides; k++) {
        x[k - 1] = (const float *)(const void *)(w->data[k] + (int64_t)begin * w->steps[k][0]);
    }
    float *y = (float *)(void *)(w->data[0] + (int64_t)begin * w->steps[0][0]);
    run_loop(job, end - begin, x, y);
}

enum { ALONE = 1024 }; // elements that are not worth dividing

taper_status taper_ew_vector(taper_run *run, const taper_ew_op *op, const taper_ew_args *args,
                             const taper_ew_walk *walk)
{
    loop_job job = {.vector = taper_vector_f32_select(run->cpu), .walk = walk};
    const bool alone = walk->rank == 1 && walk->sizes[0] == 1;
    if (walk->steps[0][0] != sizeof(float) && !alone) {
        return TAPER_DECLINED;
    }
    if (walk->sides == 2) {
        if ((walk->steps[1][0] != sizeof(float) && !alone) || !choose_unary(&job, op, args)) {
            return TAPER_DECLINED;
        }
    } else if (walk->sides != 3 || !choose_binary(&job, op, args)) {
        return TAPER_DECLINED;
    }
    run->kernel = job.vector->name;
    const double floats = job.unary != NULL ? FUNCTION : 1; // that take as long as one
    if (walk->rank == 1 && walk->sizes[0] <= ALONE) {
        flat_range(&job, 0, (size_t)walk->sizes[0]);
        return taper_run_spend(run, (uint64_t)walk->sizes[0]);
    }
    if (walk->rank == 1) {
        return taper_run_floats(run, flat_range, &job, (size_t)walk->sizes[0], floats);
    }
    size_t rows = 1;
    for (size_t d = 1; d < walk->rank; d++) {
        rows *= (size_t)walk->sizes[d]; // at most the number of elements
    }
    return taper_run_floats(run, rows_range, &job, rows, floats * (double)walk->sizes[0]);
}
