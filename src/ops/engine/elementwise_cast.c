// SPDX-License-Identifier: BSD-2-Clause
// Conversions between dtypes by the kernels of ops/kernels/cast.h, on all threads.
#include "ops/call/parallel.h"
#include "ops/engine/elementwise.h"
#include "ops/kernels/kernel_select.h"

static const struct {
    uint8_t from, to;
} casts[] = {
#define CAST(from, to, x_type, y_type, value) {TAPER_##from, TAPER_##to},
    TAPER_CASTS(CAST) TAPER_CASTS_OF_HALVES(CAST)
#undef CAST
};

taper_cast_function *taper_ew_find_cast(uint64_t cpu, taper_dtype from, taper_dtype to)
{
    // Signed and unsigned elements of one width (or bools) have the same bits after this conversion, so one kernel
    // serves both dtypes.
    const bool whole = from <= TAPER_I64 || from == TAPER_BOOL;
    const taper_dtype x = from == TAPER_I8 && (to == TAPER_U8 || to == TAPER_BOOL) ? TAPER_U8 : from;
    const taper_dtype y = whole && to == TAPER_I8 ? TAPER_U8 : to;
    for (size_t i = 0; i < TAPER_CAST_COUNT; i++) {
        if (casts[i].from == x && casts[i].to == y) {
            return taper_cast_select(cpu)->casts[i];
        }
    }
    return NULL;
}

typedef struct cast_job {
    taper_cast_function *cast;
    const taper_ew_walk *walk;
} cast_job;

// Converts lines [begin, end) along the innermost dimension, numbered through the other dimensions.
static void lines_range(void *argument, size_t begin, size_t end)
{
    const cast_job *job = argument;
    const taper_ew_walk *w = job->walk;
    for (size_t line = begin; line < end; line++) {
        char *at[2] = {w->data[0], w->data[1]};
        size_t left = line;
        for (size_t d = 1; d < w->rank; d++) {
            const int64_t i = (int64_t)(left % (size_t)w->sizes[d]);
            left /= (size_t)w->sizes[d];
            at[0] += i * w->steps[0][d];
            at[1] += i * w->steps[1][d];
        }
        job->cast((size_t)w->sizes[0], at[1], at[0]);
    }
}

static void flat_range(void *argument, size_t begin, size_t end)
{
    const cast_job *job = argument;
    const taper_ew_walk *w = job->walk;
    job->cast(end - begin, w->data[1] + (int64_t)begin * w->steps[1][0], w->data[0] + (int64_t)begin * w->steps[0][0]);
}

taper_status taper_ew_cast(taper_run *run, taper_dtype from, taper_dtype to, const taper_ew_walk *walk)
{
    cast_job job = {.cast = taper_ew_find_cast(run->cpu, from, to), .walk = walk};
    if (job.cast == NULL || walk->steps[0][0] != (int64_t)taper_dtype_size(to) ||
        walk->steps[1][0] != (int64_t)taper_dtype_size(from)) {
        return TAPER_DECLINED;
    }
    run->kernel = taper_cast_select(run->cpu)->name;
    if (walk->rank == 1) {
        return taper_run_floats(run, flat_range, &job, (size_t)walk->sizes[0], 2);
    }
    size_t lines = 1;
    for (size_t d = 1; d < walk->rank; d++) {
        lines *= (size_t)walk->sizes[d]; // the product is at most the number of elements, so it cannot overflow
    }
    return taper_run_floats(run, lines_range, &job, lines, 2 * (double)walk->sizes[0] + 16);
}
