// SPDX-License-Identifier: BSD-2-Clause
// Either lines lie in one piece each, and kernels do one after the other; or neighbours do, and kernels go along rows
// of neighbours: their maxima, the exponentials that are written and added up, the quotients. A group of neighbours is
// so wide that what is written is still in the cache when it is divided.
#include "ops/engine/softmax_lines.h"

#include <math.h>

#include "ops/engine/elementwise_math.h"
#include "ops/kernels/kernel_select.h"

// Floats of a row of neighbours, at most; of all its rows, about.
enum { MOST_LANES = 512, FEWEST_LANES = 64, GROUP = 32768, TOGETHER = 16 };
static const double EXP_WORK = 2;

typedef struct soft_job {
    const taper_vector_entry *vector;
    const taper_lines *lines;
    taper_softmax_kind kind;
    const char *x;
    char *y;
} soft_job;

static void whole_lines(void *argument, int64_t in, int64_t out, size_t lanes)
{
    const soft_job *job = argument;
    const size_t n = (size_t)job->lines->line.size;
    const taper_reduce_dim *next = job->lines->kept_count != 0 ? &job->lines->kept[0] : &(taper_reduce_dim){1, 0, 0};
    for (size_t i = 0; i < lanes; i++) {
        const float *x = (const float *)(const void *)(job->x + in + (int64_t)i * next->in);
        float *y = (float *)(void *)(job->y + out + (int64_t)i * next->out);
        if (job->kind == TAPER_LOG_SUM_EXP) {
            *y = job->vector->log_sum_exp(n, x);
        } else {
            (job->kind == TAPER_LOG_SOFTMAX ? job->vector->log_softmax : job->vector->softmax)(n, x, y);
        }
    }
}

static void rows_of_lanes(void *argument, int64_t in, int64_t out, size_t lanes)
{
    const soft_job *job = argument;
    const taper_vector_entry *v = job->vector;
    const taper_reduce_dim line = job->lines->line;
    const char *x = job->x + in;
    char *y = job->y + out;
    float top[MOST_LANES], sum[MOST_LANES] = {0}, spare[MOST_LANES];
    taper_binary_f32_function *const sub = v->binary[TAPER_BINARY_SUB][TAPER_OPERANDS_VV],
                                     *const add = v->binary[TAPER_BINARY_ADD][TAPER_OPERANDS_VV],
                                     *const mul = v->binary[TAPER_BINARY_MUL][TAPER_OPERANDS_VV];
    v->fold_rows[TAPER_REDUCTION_MOST]((size_t)line.size, lanes, (const float *)(const void *)x,
                                       (size_t)line.in / sizeof(float), top);
    for (size_t k = 0; k < lanes && job->kind == TAPER_LOG_SUM_EXP; k++) {
        top[k] = isinf(top[k]) ? 0 : top[k];
    }
    for (int64_t r = 0; r < line.size; r++) {
        float *e = job->kind == TAPER_SOFTMAX ? (float *)(void *)(y + r * line.out) : spare;
        sub(lanes, (const float *)(const void *)(x + r * line.in), top, e, -INFINITY, INFINITY);
        v->unary[TAPER_UNARY_EXP](lanes, e, e, NULL);
        add(lanes, sum, e, sum, -INFINITY, INFINITY);
    }
    for (size_t k = 0; k < lanes; k++) {
        sum[k] = job->kind == TAPER_SOFTMAX ? 1 / sum[k] : logf(sum[k]);
    }
    if (job->kind == TAPER_LOG_SUM_EXP) {
        add(lanes, top, sum, (float *)(void *)y, -INFINITY, INFINITY);
        return;
    }
    for (int64_t r = 0; r < line.size; r++) {
        float *to = (float *)(void *)(y + r * line.out);
        if (job->kind == TAPER_SOFTMAX) {
            mul(lanes, to, sum, to, -INFINITY, INFINITY);
        } else {
            // In two steps, as the logarithm is small against the maximum.
            sub(lanes, (const float *)(const void *)(x + r * line.in), top, to, -INFINITY, INFINITY);
            sub(lanes, to, sum, to, -INFINITY, INFINITY);
        }
    }
}

static bool in_floats(const taper_reduce_dim *dim)
{
    return dim->in % (int64_t)sizeof(float) == 0 && dim->out % (int64_t)sizeof(float) == 0;
}

taper_status taper_softmax_lines(taper_run *run, const taper_lines *lines, taper_softmax_kind kind, const float *x,
                                 float *y)
{
    const int64_t item = sizeof(float);
    soft_job job = {taper_vector_f32_select(run->cpu), lines, kind, (const char *)x, (char *)y};
    const bool results = kind != TAPER_LOG_SUM_EXP;
    if (run->portable || job.vector->softmax == NULL || !in_floats(&lines->line)) {
        return TAPER_DECLINED;
    }
    run->kernel = job.vector->name;
    if (!lines->side_by_side) {
        const bool dense = lines->line.size == 1 || (lines->line.in == item && (!results || lines->line.out == item));
        return dense ? taper_lines_run(run, lines, TOGETHER, whole_lines, &job, EXP_WORK) : TAPER_DECLINED;
    }
    if (lines->kept[0].in != item || lines->kept[0].out != item) {
        return TAPER_DECLINED;
    }
    const size_t fit = GROUP / (size_t)taper_min_i64(lines->line.size, GROUP) / FEWEST_LANES * FEWEST_LANES;
    const size_t width = fit < FEWEST_LANES ? FEWEST_LANES : taper_min_size(fit, MOST_LANES);
    return taper_lines_run(run, lines, width, rows_of_lanes, &job, EXP_WORK);
}
