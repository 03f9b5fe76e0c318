// SPDX-License-Identifier: BSD-2-Clause
// softmax over lines of floats. If a line is contiguous, kernels compute one line after the other. If neighbouring
// lines are contiguous instead, kernels run along rows of neighbours: first the maxima, then the exponentials and their
// sums, then the quotients. A group of neighbours is narrow enough that the exponentials are still in the cache when
// they are divided. Short contiguous lines are faster as rows of neighbours, and long lines with few neighbours are
// faster one by one. Lines of these last two kinds are first transposed, in the cache.
#include "ops/engine/softmax_lines.h"

#include <math.h>

#include "ops/engine/elementwise_math.h"
#include "ops/kernels/kernel_select.h"

// MOST_LANES, FEWEST_LANES: largest and smallest number of floats in a row of neighbours. GROUP: approximate largest
// number of floats in a group of rows. TOGETHER: number of contiguous lines that a task takes at a time.
enum { MOST_LANES = 512, FEWEST_LANES = 64, GROUP = 32768, TOGETHER = 16 };
// SHORT: largest number of elements in a short line. FEW: with fewer neighbours, lines are computed one by one.
// FEWEST_ROWS: with this many neighbours or more, rows are used in place. TURNED: largest number of floats of a
// transposed block.
enum { SHORT = 56, FEW = 32, FEWEST_ROWS = 16, TURNED = 8192 };
static const double EXP_WORK = 2;

typedef struct soft_job {
    const taper_vector_entry *vector;
    const taper_lines *lines;
    taper_softmax_kind kind;
    const char *x;
    char *y;
    taper_reduce_dim inner; // the dimension of the neighbours within a block, for block_lines
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

// Computes the lines as rows of `lanes` neighbours. Rows are line.in bytes apart in x and line.out bytes apart in y. x
// and y may be the same.
static void make_rows(const soft_job *job, taper_reduce_dim line, const char *x, char *y, size_t lanes)
{
    const taper_vector_entry *v = job->vector;
    float top[MOST_LANES], sum[MOST_LANES] = {0}, spare[MOST_LANES];
    taper_binary_f32_function *const sub = v->binary[TAPER_BINARY_SUB][TAPER_OPERANDS_VV],
                                     *const add = v->binary[TAPER_BINARY_ADD][TAPER_OPERANDS_VV],
                                     *const mul = v->binary[TAPER_BINARY_MUL][TAPER_OPERANDS_VV];
    v->fold_rows[TAPER_REDUCTION_MOST]((size_t)line.size, lanes, (const float *)(const void *)x,
                                       (size_t)line.in / sizeof(float), top);
    for (size_t k = 0; k < lanes && job->kind == TAPER_LOG_SUM_EXP; k++) {
        top[k] = isinf(top[k]) ? 0 : top[k];
    }
    // Contiguous rows are computed as one long line, which is faster than row by row if the rows are short.
    const bool dense = job->kind != TAPER_LOG_SUM_EXP && x != y && line.out == (int64_t)(lanes * sizeof(float));
    for (int64_t r = 0; r < line.size; r++) {
        float *e = job->kind == TAPER_SOFTMAX || dense ? (float *)(void *)(y + r * line.out) : spare;
        sub(lanes, (const float *)(const void *)(x + r * line.in), top, e, -INFINITY, INFINITY);
        if (!dense) {
            v->unary[TAPER_UNARY_EXP](lanes, e, e, NULL);
            add(lanes, sum, e, sum, -INFINITY, INFINITY);
        }
    }
    if (dense) {
        float *const e = (float *)(void *)y;
        v->unary[TAPER_UNARY_EXP](lanes * (size_t)line.size, e, e, NULL);
        v->fold_rows[TAPER_REDUCTION_SUM]((size_t)line.size, lanes, e, lanes, sum);
    }
    taper_unary_f32_function *const log = v->unary[TAPER_UNARY_LOG];
    if (job->kind != TAPER_SOFTMAX && log != NULL) {
        log(lanes, sum, sum, NULL);
    }
    for (size_t k = 0; k < lanes && (job->kind == TAPER_SOFTMAX || log == NULL); k++) {
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
            // Subtracts the maximum and the logarithm in two steps, because their sum would round away a logarithm that
            // is small compared with the maximum.
            sub(lanes, (const float *)(const void *)(x + r * line.in), top, to, -INFINITY, INFINITY);
            sub(lanes, to, sum, to, -INFINITY, INFINITY);
        }
    }
}

static void rows_of_lanes(void *argument, int64_t in, int64_t out, size_t lanes)
{
    const soft_job *job = argument;
    make_rows(job, job->lines->line, job->x + in, job->y + out, lanes);
}

// Copies elements [row][column], with steps in floats, to rows of `width` floats. scatter copies them back.
static void gather(const soft_job *job, size_t rows, size_t row_step, size_t columns, size_t column_step,
                   const float *x, float *to, size_t width)
{
    if (row_step == 1) {
        job->vector->transpose(columns, rows, x, column_step, to, width);
        return;
    }
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < columns; c++) {
            to[r * width + c] = x[r * row_step + c * column_step];
        }
    }
}

static void scatter(const soft_job *job, size_t rows, size_t row_step, size_t columns, size_t column_step,
                    const float *from, size_t width, float *y)
{
    if (row_step == 1) {
        job->vector->transpose(rows, columns, from, width, y, column_step);
        return;
    }
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < columns; c++) {
            y[r * row_step + c * column_step] = from[r * width + c];
        }
    }
}

static size_t floats_of(int64_t bytes)
{
    return (size_t)bytes / sizeof(float);
}

// Copies `lanes` short lines, which are kept[0] apart, side by side into a block, and computes them there as rows of
// neighbours.
static void short_lines(void *argument, int64_t in, int64_t out, size_t lanes)
{
    const soft_job *job = argument;
    const taper_reduce_dim line = job->lines->line, next = job->lines->kept[0];
    const size_t n = (size_t)line.size;
    float block[SHORT * FEWEST_LANES];
    const taper_reduce_dim rows = {line.size, FEWEST_LANES * sizeof(float), FEWEST_LANES * sizeof(float)};
    float *y = (float *)(void *)(job->y + out);
    gather(job, n, floats_of(line.in), lanes, floats_of(next.in), (const float *)(const void *)(job->x + in), block,
           FEWEST_LANES);
    make_rows(job, rows, (const char *)block, (char *)block, lanes);
    if (job->kind != TAPER_LOG_SUM_EXP) {
        scatter(job, n, floats_of(line.out), lanes, floats_of(next.out), block, FEWEST_LANES, y);
        return;
    }
    for (size_t i = 0; i < lanes; i++) {
        y[i * floats_of(next.out)] = block[i];
    }
}

static bool in_floats(const taper_reduce_dim *dim)
{
    return dim->in % (int64_t)sizeof(float) == 0 && dim->out % (int64_t)sizeof(float) == 0;
}

// Transposes `lanes` blocks, which are kept[0] apart, so that the neighbours of all blocks become one row. A block
// contains the elements of a few neighbouring short lines.
static void block_lines(void *argument, int64_t in, int64_t out, size_t lanes)
{
    const soft_job *job = argument;
    const taper_reduce_dim line = job->lines->line, next = job->lines->kept[0];
    const size_t n = (size_t)line.size, beside = (size_t)job->inner.size;
    const size_t width = beside * lanes; // number of floats of a row
    const int64_t step = (int64_t)(width * sizeof(float));
    float block[TURNED];
    float *y = (float *)(void *)(job->y + out);
    job->vector->transpose(lanes, n * beside, (const float *)(const void *)(job->x + in), floats_of(next.in), block,
                           lanes);
    for (size_t at = 0, some; at < width; at += some) {
        some = taper_min_size(width - at, MOST_LANES);
        make_rows(job, (taper_reduce_dim){line.size, step, step}, (const char *)(block + at), (char *)(block + at),
                  some);
    }
    job->vector->transpose(job->kind == TAPER_LOG_SUM_EXP ? beside : n * beside, lanes, block, lanes, y,
                           floats_of(next.out));
}

// Returns true if the lines and their neighbours are dense blocks that fit into a transposed block, and there are many
// of them. kept[0] is then the dimension of the blocks.
static bool take_blocks(soft_job *job, taper_lines *lines)
{
    const taper_reduce_dim line = lines->line, next = lines->kept[0];
    const int64_t item = sizeof(float);
    const bool results = job->kind != TAPER_LOG_SUM_EXP;
    if (lines->kept_count != 2 || next.in != item || next.out != item || line.in != next.size * item ||
        (results && line.out != line.in) || line.size * next.size > TURNED / FEWEST_LANES ||
        lines->kept[1].size < FEWEST_LANES / 4 || !in_floats(&lines->kept[1])) {
        return false;
    }
    job->inner = next;
    lines->kept[0] = lines->kept[1];
    lines->kept_count = 1;
    return true;
}

// Transposes `lanes` neighbouring lines, which are few and long, then computes one line after the other.
static void few_lanes(void *argument, int64_t in, int64_t out, size_t lanes)
{
    const soft_job *job = argument;
    const taper_reduce_dim line = job->lines->line;
    const size_t n = (size_t)line.size;
    float block[TURNED];
    job->vector->transpose(n, lanes, (const float *)(const void *)(job->x + in), floats_of(line.in), block, n);
    float *y = (float *)(void *)(job->y + out);
    for (size_t i = 0; i < lanes; i++) {
        if (job->kind == TAPER_LOG_SUM_EXP) {
            y[i] = job->vector->log_sum_exp(n, block + i * n);
        } else {
            (job->kind == TAPER_LOG_SOFTMAX ? job->vector->log_softmax : job->vector->softmax)(n, block + i * n,
                                                                                               block + i * n);
        }
    }
    if (job->kind != TAPER_LOG_SUM_EXP) {
        job->vector->transpose(lanes, n, block, n, y, floats_of(line.out));
    }
}

taper_status taper_softmax_lines(taper_run *run, const taper_lines *lines, taper_softmax_kind kind, const float *x,
                                 float *y)
{
    const int64_t item = sizeof(float);
    taper_lines own = *lines;
    soft_job job = {taper_vector_f32_select(run->cpu), &own, kind, (const char *)x, (char *)y, {0, 0, 0}};
    const bool results = kind != TAPER_LOG_SUM_EXP, many = own.kept_count != 0;
    taper_reduce_dim *next = &own.kept[0];
    if (run->portable || job.vector->softmax == NULL || !in_floats(&own.line) || (many && !in_floats(next))) {
        return TAPER_DECLINED;
    }
    run->kernel = job.vector->name;
    const bool beside = many && next->in == item && next->out == item && (own.side_by_side || own.line.size == 1);
    if (own.side_by_side && own.line.size <= SHORT && next->size < FEW && take_blocks(&job, &own)) {
        return taper_lines_run(run, &own, FEWEST_LANES, block_lines, &job, EXP_WORK * (double)job.inner.size);
    }
    if (many && own.line.size <= SHORT && !(beside && next->size >= FEWEST_ROWS)) {
        for (size_t d = 1; d < own.kept_count; d++) { // chooses the dimension with the most lines
            if (own.kept[d].size > next->size && in_floats(&own.kept[d])) {
                const taper_reduce_dim larger = own.kept[d];
                own.kept[d] = *next;
                *next = larger;
            }
        }
        return taper_lines_run(run, &own, FEWEST_LANES, short_lines, &job, EXP_WORK);
    }
    if (!own.side_by_side && !beside) {
        const bool dense = own.line.size == 1 || (own.line.in == item && (!results || own.line.out == item));
        return dense ? taper_lines_run(run, &own, TOGETHER, whole_lines, &job, EXP_WORK) : TAPER_DECLINED;
    }
    if (!beside) {
        return TAPER_DECLINED;
    }
    if (next->size < FEW && own.line.size > SHORT && own.line.size <= TURNED) {
        const size_t width = taper_min_size(TURNED / (size_t)own.line.size, (size_t)next->size);
        return taper_lines_run(run, &own, width, few_lanes, &job, EXP_WORK);
    }
    const size_t fit = GROUP / (size_t)taper_min_i64(own.line.size, GROUP) / FEWEST_LANES * FEWEST_LANES;
    const size_t width = fit < FEWEST_LANES ? FEWEST_LANES : taper_min_size(fit, MOST_LANES);
    return taper_lines_run(run, &own, width, rows_of_lanes, &job, EXP_WORK);
}
