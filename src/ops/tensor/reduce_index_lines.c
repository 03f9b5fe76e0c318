// SPDX-License-Identifier: BSD-2-Clause
// Positions of maxima and minima, for floats and integers that are read in place.
#include "ops/tensor/reduce_index_lines.h"
#include "ops/engine/reduce.h"
#include "ops/kernels/kernel_select.h"

// LANES: largest number of neighbouring lines handled together. SHORT: largest number of elements of a short line. FEW:
// largest number of neighbouring lines that do not fill a vector.
enum { LANES = 128, SHORT = 32, FEW = 7 };

typedef struct float_job {
    const char *x;
    char *indices, *values; // results; values may be NULL
    const taper_vector_entry *vector;
    taper_pick_rows *pick;
    const taper_lines *lines;
    bool smallest;
} float_job;

// Returns the first position of the extreme, which is one of the elements. For NaN it returns the position of the first
// NaN.
static size_t find(const float *x, size_t n, float extreme)
{
    enum { GROUP = 64 };
    const bool nan = extreme != extreme;
    size_t i = 0;
    for (; i + GROUP <= n; i += GROUP) {
        uint32_t found = 0;
        for (size_t k = 0; k < GROUP; k++) {
            found |= (uint32_t)(x[i + k] == extreme) | (uint32_t)(x[i + k] != x[i + k]);
        }
        if (found != 0) {
            break;
        }
    }
    while (i + 1 < n && (nan ? x[i] == x[i] : x[i] != extreme)) {
        i++;
    }
    return i;
}

// Finds the extremes of contiguous lines of floats, `step` floats apart, and their positions.
static void pick_each(const float_job *job, const float *x, size_t n, size_t lines, size_t step, float *best,
                      int32_t *where)
{
    for (size_t k = 0; k < lines; k++, x += step) {
        best[k] = job->vector->fold[job->smallest ? TAPER_REDUCTION_LEAST : TAPER_REDUCTION_MOST](n, x);
        where[k] = (int32_t)find(x, n, best[k]);
        best[k] = x[where[k]]; // takes the sign of the first of equal zeros
    }
}

static void floats_task(void *argument, int64_t in, int64_t out, size_t lanes)
{
    const float_job *job = argument;
    const taper_lines *l = job->lines;
    // The step is in bytes of int64 indices; float values have half this step.
    const int64_t step = l->kept_count != 0 ? l->kept[0].out : 0;
    float best[LANES];
    int32_t where[LANES];
    const size_t n = (size_t)l->line.size;
    // A few neighbouring lines are transposed to contiguous lines.
    if (l->side_by_side && lanes <= FEW && n >= SHORT && n * lanes <= SHORT * LANES) {
        float turned[SHORT * LANES];
        job->vector->transpose(n, lanes, (const float *)(const void *)(job->x + in), (size_t)l->line.in / sizeof(float),
                               turned, n);
        pick_each(job, turned, n, lanes, n, best, where);
    } else if (l->side_by_side) {
        job->pick((size_t)l->line.size, lanes, (const float *)(const void *)(job->x + in),
                  (size_t)l->line.in / sizeof(float), job->smallest, best, where);
    } else if (l->line.size <= SHORT && lanes >= SHORT) {
        // transposes short lines, so that the elements at one position become neighbours
        float turned[SHORT * LANES];
        job->vector->transpose(lanes, (size_t)l->line.size, (const float *)(const void *)(job->x + in),
                               (size_t)l->kept[0].in / sizeof(float), turned, lanes);
        job->pick((size_t)l->line.size, lanes, turned, lanes, job->smallest, best, where);
    } else {
        pick_each(job, (const float *)(const void *)(job->x + in), n, lanes,
                  lanes > 1 ? (size_t)l->kept[0].in / sizeof(float) : 0, best, where);
    }
    for (size_t k = 0; k < lanes; k++) {
        const int64_t at = out + (int64_t)k * step;
        *(int64_t *)(void *)(job->indices + at) = where[k];
        if (job->values != NULL) {
            *(float *)(void *)(job->values + at / 2) = best[k];
        }
    }
}

// Finds extremes of floats. Returns false, with nothing done, unless lines or neighbouring lines are contiguous, and
// short enough that a task ends soon.
static bool pick_floats(taper_run *run, const taper_tensor *x, size_t dim, bool smallest, bool keep,
                        taper_tensor *values, taper_tensor *indices, taper_status *status)
{
    enum { MOST = 1 << 18, TOGETHER = 8192 };
    taper_lines lines;
    taper_lines_make(&lines, x, dim, indices, true, keep);
    const int64_t step = lines.side_by_side ? lines.kept[0].in : lines.line.in;
    float_job job = {.x = taper_tensor_data(x), .indices = taper_tensor_mutable(indices), .lines = &lines};
    job.vector = taper_vector_f32_select(run->cpu);
    job.pick = taper_native_select(run->cpu)->pick_f32;
    job.smallest = smallest;
    job.values = values != NULL ? taper_tensor_mutable(values) : NULL;
    if (run->portable || x->dtype != TAPER_F32 || step != sizeof(float) || lines.line.size > MOST ||
        job.vector->fold[TAPER_REDUCTION_MOST] == NULL) {
        return false;
    }
    const size_t width = lines.side_by_side ? LANES : taper_min_size(LANES, (size_t)(TOGETHER / lines.line.size) + 1);
    *status = taper_lines_run(run, &lines, width, floats_task, &job, 0.3);
    return true;
}

// ---- lines of integers that are read in place

typedef struct whole_job {
    const char *x;
    char *indices, *values; // results; values may be NULL
    const taper_native_folder *folder;
    const taper_lines *lines;
    size_t item;
    bool smallest;
} whole_job;

#define FIND(name, type)                                                                                               \
    static int64_t name(const type *x, int64_t n, int64_t extreme)                                                     \
    {                                                                                                                  \
        enum { GROUP = 64 };                                                                                           \
        int64_t i = 0;                                                                                                 \
        for (uint32_t found = 0; i + GROUP <= n && found == 0; i += found == 0 ? GROUP : 0) {                          \
            for (int64_t k = 0; k < GROUP; k++) {                                                                      \
                found |= (uint32_t)(x[i + k] == (type)extreme);                                                        \
            }                                                                                                          \
        }                                                                                                              \
        while (i + 1 < n && x[i] != (type)extreme) {                                                                   \
            i++;                                                                                                       \
        }                                                                                                              \
        return i;                                                                                                      \
    }
FIND(find_i64, int64_t)
FIND(find_i32, int32_t)
FIND(find_u8, uint8_t)

static void wholes_task(void *argument, int64_t in, int64_t out, size_t lanes)
{
    const whole_job *job = argument;
    const taper_lines *l = job->lines;
    const int64_t step = l->kept_count != 0 ? l->kept[0].out : 0, n = l->line.size;
    for (size_t k = 0; k < lanes; k++) {
        const char *x = job->x + in + (lanes > 1 ? (int64_t)k * l->kept[0].in : 0);
        const int64_t at = out + (int64_t)k * step;
        int64_t best = job->smallest ? INT64_MAX : INT64_MIN, where;
        job->folder->line((size_t)n, x, &best);
        if (job->item == 8) {
            where = find_i64((const int64_t *)(const void *)x, n, best);
        } else if (job->item == 4) {
            where = find_i32((const int32_t *)(const void *)x, n, best);
        } else {
            where = find_u8((const uint8_t *)x, n, best);
        }
        *(int64_t *)(void *)(job->indices + at) = where;
        if (job->values != NULL) {
            memcpy(job->values + at / 8 * (int64_t)job->item, x + where * (int64_t)job->item, job->item);
        }
    }
}

// Finds extremes of integers. Returns false, with nothing done, unless lines are contiguous and short enough that a
// task ends soon.
static bool pick_wholes(taper_run *run, const taper_tensor *x, size_t dim, bool smallest, bool keep,
                        taper_tensor *values, taper_tensor *indices, taper_status *status)
{
    enum { MOST = 1 << 18, TOGETHER = 8192 };
    const taper_fold_type type = x->dtype == TAPER_I64   ? TAPER_FOLD_I64
                                 : x->dtype == TAPER_I32 ? TAPER_FOLD_I32
                                 : x->dtype == TAPER_U8  ? TAPER_FOLD_U8
                                                         : TAPER_FOLD_TYPES;
    taper_lines lines;
    taper_lines_make(&lines, x, dim, indices, true, keep);
    if (run->portable || type == TAPER_FOLD_TYPES || lines.side_by_side || lines.line.size > MOST ||
        lines.line.in != (int64_t)taper_tensor_item(x)) {
        return false;
    }
    whole_job job = {.x = taper_tensor_data(x), .indices = taper_tensor_mutable(indices), .lines = &lines};
    job.values = values != NULL ? taper_tensor_mutable(values) : NULL;
    job.folder = &taper_native_select(run->cpu)->folds[smallest ? TAPER_FOLD_LEAST : TAPER_FOLD_MOST][type];
    job.item = taper_tensor_item(x);
    job.smallest = smallest;
    const size_t width = taper_min_size(LANES, (size_t)(TOGETHER / lines.line.size) + 1);
    *status = taper_lines_run(run, &lines, width, wholes_task, &job, 0.5);
    return true;
}

bool taper_pick_lines(taper_run *run, const taper_tensor *x, size_t dim, bool smallest, bool keep, taper_tensor *values,
                      taper_tensor *indices, taper_status *status)
{
    return pick_floats(run, x, dim, smallest, keep, values, indices, status) ||
           pick_wholes(run, x, dim, smallest, keep, values, indices, status);
}
