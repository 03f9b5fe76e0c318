// SPDX-License-Identifier: BSD-2-Clause
// Runs the elementwise loops that take most of a network's time with vector kernels and on all threads: activations,
// sums, products and quotients, of whole tensors or with one factor per channel, row or plane.
#include <math.h>

#include "ops/call/parallel.h"
#include "ops/engine/elementwise_loops.h"
#include "ops/engine/elementwise_vector.h"

enum { FUNCTION = 4 }; // cost of a function such as exp, in simple operations

typedef struct loop_job {
    const taper_ew_walk *walk;
    const taper_ew_vector_plan *plan;
    bool crossed; // true if short rows must be computed one by one (taper_ew_is_crossed)
} loop_job;

// ---- overlaps of inputs with the result

// Computes the address of the first byte of a side (the result or an input), and the address after its last byte.
static void side_extent(const taper_ew_walk *w, size_t side, size_t item, uintptr_t *begin, uintptr_t *end)
{
    int64_t low = 0, high = (int64_t)item;
    for (size_t d = 0; d < w->rank; d++) {
        // The product cannot overflow, because the distance is within the storage.
        const int64_t way = (w->sizes[d] - 1) * w->steps[side][d];
        *(way < 0 ? &low : &high) += way;
    }
    *begin = (uintptr_t)w->data[side] + (uintptr_t)low;
    *end = (uintptr_t)w->data[side] + (uintptr_t)high;
}

bool taper_ew_is_crossed(const taper_ew_walk *walk, const size_t *items)
{
    uintptr_t begin, end, from, to;
    side_extent(walk, 0, items[0], &begin, &end);
    for (size_t k = 1; k < walk->sides; k++) {
        side_extent(walk, k, items[k], &from, &to);
        const bool same = walk->data[k] == walk->data[0] && items[k] == items[0] &&
                          memcmp(walk->steps[k], walk->steps[0], walk->rank * sizeof *walk->steps[0]) == 0;
        if (!same && from < end && begin < to) {
            return true;
        }
    }
    return false;
}

// ---- the choice of a kernel

static bool choose_unary(const taper_ew_op *op, const taper_ew_args *args, taper_ew_vector_loop *loop)
{
    const bool relu = op->kernel == TAPER_EW_KERNEL_RELU;
    if (op->kernel == 0 || op->kernel > TAPER_EW_KERNEL_RELU) {
        return false;
    }
    loop->unary = loop->vector->unary[relu ? TAPER_UNARY_CLAMP : op->kernel - 1];
    loop->numbers[0] = relu ? 0 : (float)args->f[0];
    loop->numbers[1] = relu ? INFINITY : (float)args->f[1];
    if (op->kernel == 1 + TAPER_UNARY_ELU) { // the arguments are alpha, scale and input scale
        loop->numbers[0] = (float)(args->f[0] * args->f[1]);
        loop->numbers[2] = (float)args->f[2];
    }
    return loop->unary != NULL && (op->kernel != 1 + TAPER_UNARY_CLAMP || loop->numbers[0] <= loop->numbers[1]);
}

// Chooses the binary kernel for operands of this kind: two vectors, or a vector and a scalar. Returns false if there is
// none.
static bool choose_binary(const taper_ew_op *op, const taper_ew_args *args, taper_operands operands,
                          taper_ew_vector_loop *loop)
{
    if (op->kernel < TAPER_EW_KERNEL_BINARY) {
        return false;
    }
    const taper_binary kernel = (taper_binary)(op->kernel - TAPER_EW_KERNEL_BINARY);
    loop->binary = loop->vector->binary[kernel][operands];
    if ((kernel == TAPER_BINARY_ADD || kernel == TAPER_BINARY_SUB) && args->f[0] != 1.0) {
        loop->factor = (float)(kernel == TAPER_BINARY_ADD ? args->f[0] : -args->f[0]);
        return operands == TAPER_OPERANDS_VV && loop->vector->blend != NULL && loop->factor != 0;
    }
    return loop->binary != NULL;
}

bool taper_ew_choose_vector(const taper_ew_op *op, const taper_ew_args *args, taper_ew_vector_loop *loop)
{
    return choose_unary(op, args, loop) || choose_binary(op, args, TAPER_OPERANDS_VV, loop);
}

#include "ops/engine/elementwise_rows.h"

static bool choose_operands(taper_ew_vector_plan *plan, const taper_ew_op *op, const taper_ew_args *args,
                            const taper_ew_walk *w)
{
    const int64_t a = w->steps[1][0], b = w->steps[2][0], item = sizeof(float);
    const bool alone = w->rank == 1 && w->sizes[0] == 1;
    if (!alone && ((a != item && a != 0) || (b != item && b != 0) || (a == 0 && b == 0))) {
        return false;
    }
    plan->spread = !alone && (a == 0 || b == 0) && plan->beside;
    const taper_operands operands = alone || plan->spread || (a != 0 && b != 0) ? TAPER_OPERANDS_VV
                                    : b == 0                                    ? TAPER_OPERANDS_VS
                                                                                : TAPER_OPERANDS_SV;
    if (!choose_binary(op, args, operands, &plan->loop)) {
        return false;
    }
    if (plan->spread) {
        return true;
    }
    // If all rows share one vector of factors, a special kernel computes many rows per call. This saves most time if
    // rows are short.
    if (w->rank > 1 && operands == TAPER_OPERANDS_VV && w->steps[1][1] != w->steps[2][1] &&
        (w->steps[1][1] == 0 || w->steps[2][1] == 0)) {
        plan->scale = op->kernel == TAPER_EW_KERNEL_BINARY + TAPER_BINARY_MUL;
        plan->shift = op->kernel == TAPER_EW_KERNEL_BINARY + TAPER_BINARY_ADD && plan->loop.factor == 0;
        plan->narrow = w->steps[2][1] == 0 ? 2 : 1;
        plan->wide = 3 - plan->narrow;
    } else {
        choose_outer(plan, w, op, operands);
    }
    return true;
}

// ---- loops over rows

void taper_ew_run_vector(const taper_ew_vector_loop *loop, size_t n, const float *const *x, float *y)
{
    if (loop->unary != NULL) {
        loop->unary(n, x[0], y, loop->numbers);
    } else if (loop->factor != 0) {
        loop->vector->blend(n, x[0], x[1], 1, loop->factor, y);
    } else {
        loop->binary(n, x[0], x[1], y, -INFINITY, INFINITY);
    }
}

// Computes `count` rows along dimension 1. `at` contains the first address of each side: of the result, then of the
// inputs.
static void run_rows(const loop_job *job, size_t count, char *const *at)
{
    const taper_ew_walk *w = job->walk;
    const taper_ew_vector_plan *plan = job->plan;
    const size_t n = (size_t)w->sizes[0];
    const bool flat = w->rank == 1, factors_fill = (plan->scale || plan->shift) && n % plan->loop.vector->lanes == 0;
    if (!factors_fill && plan->beside) {
        run_short(job, count, at);
        return;
    }
    if ((plan->scale || plan->shift) && !flat) {
        const float *factors = (const float *)(const void *)at[plan->narrow];
        plan->loop.vector->channels(count, n, (const float *)(const void *)at[plan->wide],
                                    (size_t)w->steps[plan->wide][1] / sizeof(float), plan->scale ? factors : NULL,
                                    plan->shift ? factors : NULL, (float *)(void *)at[0],
                                    (size_t)w->steps[0][1] / sizeof(float), -INFINITY, INFINITY);
        return;
    }
    if (run_outer(job, count, n, at)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const float *x[2] = {NULL, NULL};
        for (size_t k = 1; k < w->sides; k++) {
            x[k - 1] = (const float *)(const void *)(at[k] + (flat ? 0 : (int64_t)i * w->steps[k][1]));
        }
        float *y = (float *)(void *)(at[0] + (flat ? 0 : (int64_t)i * w->steps[0][1]));
        taper_ew_run_vector(&job->plan->loop, n, x, y);
    }
}

// Computes rows [begin, end), numbered through all dimensions except the innermost.
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
    taper_ew_run_vector(&job->plan->loop, end - begin, x, y);
}

enum { ALONE = 1024 }; // number of elements up to which one thread is faster than several

bool taper_ew_vector_plan_make(taper_ew_vector_plan *plan, uint64_t cpu, const taper_ew_op *op,
                               const taper_ew_args *args, const taper_ew_walk *walk)
{
    const bool alone = walk->rank == 1 && walk->sizes[0] == 1;
    *plan = (taper_ew_vector_plan){.loop = {.vector = taper_vector_f32_select(cpu)}};
    if (walk->steps[0][0] != sizeof(float) && !alone) {
        return false;
    }
    plan->beside = are_short(walk);
    if (walk->sides == 2) {
        return (walk->steps[1][0] == sizeof(float) || alone) && choose_unary(op, args, &plan->loop);
    }
    return walk->sides == 3 && choose_operands(plan, op, args, walk);
}

taper_status taper_ew_vector(taper_run *run, const taper_ew_vector_plan *plan, const taper_ew_walk *walk)
{
    static const size_t items[TAPER_EW_INPUTS + 1] = {sizeof(float), sizeof(float), sizeof(float), sizeof(float)};
    loop_job job = {.walk = walk, .plan = plan, .crossed = plan->beside && taper_ew_is_crossed(walk, items)};
    run->kernel = plan->loop.vector->name;
    const double floats = plan->loop.unary != NULL ? FUNCTION : 1; // cost of an element, in simple operations
    if (walk->rank == 1 && walk->sizes[0] <= ALONE) {
        flat_range(&job, 0, (size_t)walk->sizes[0]);
        return taper_run_spend(run, (uint64_t)walk->sizes[0]);
    }
    if (walk->rank == 1) {
        return taper_run_floats(run, flat_range, &job, (size_t)walk->sizes[0], floats);
    }
    size_t rows = 1;
    for (size_t d = 1; d < walk->rank; d++) {
        rows *= (size_t)walk->sizes[d]; // the product is at most the number of elements, so it cannot overflow
    }
    if (job.crossed) { // rows run in order, because each row may read the results of the row before it
        rows_range(&job, 0, rows);
        return taper_run_spend(run, (uint64_t)rows * (uint64_t)walk->sizes[0]);
    }
    return taper_run_floats(run, rows_range, &job, rows, floats * (double)walk->sizes[0]);
}
