// SPDX-License-Identifier: BSD-2-Clause
// Extremes with their positions: max and min along a dimension, argmax and argmin. The first of equal elements counts;
// the first NaN wins over everything.
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/reduce.h"
#include "ops/kernels/kernel_select.h"

enum { LANES = 128, SHORT = 32, FEW = 7 }; // FEW: neighbours that fill no vectors

typedef struct picker {
    const taper_tensor *x;
    bool smallest;
    taper_ew_class class_; // F64 or I64
    union {
        double f[LANES];
        int64_t i[LANES];
    } best;
    int64_t where[LANES];
    taper_ew_block elements, temp;
} picker;

#define PICK(name, type, field, improves)                                                                              \
    static void name(picker *p, const void *from, size_t m, bool lanes, int64_t at)                                    \
    {                                                                                                                  \
        const type *xs = from;                                                                                         \
        for (size_t k = 0; k < m; k++) {                                                                               \
            const size_t j = lanes ? k : 0;                                                                            \
            const int64_t position = lanes ? at : at + (int64_t)k;                                                     \
            const type x = p->smallest ? -xs[k] : xs[k], b = p->best.field[j];                                         \
            if (position == 0 || (improves)) {                                                                         \
                p->best.field[j] = x;                                                                                  \
                p->where[j] = position;                                                                                \
            }                                                                                                          \
        }                                                                                                              \
    }
PICK(pick_f64, double, f, x > b || (x != x && b == b))

// Lines element by element; neighbours without a jump for each.
static void pick_i64(picker *p, const void *from, size_t m, bool lanes, int64_t at)
{
    const int64_t *xs = from;
    for (size_t k = 0; k < m && lanes; k++) {
        const bool better = at == 0 || (p->smallest ? xs[k] < p->best.i[k] : xs[k] > p->best.i[k]);
        p->best.i[k] = better ? xs[k] : p->best.i[k];
        p->where[k] = better ? at : p->where[k];
    }
    for (size_t k = 0; k < m && !lanes; k++) {
        const int64_t position = at + (int64_t)k;
        if (position == 0 || (p->smallest ? xs[k] < p->best.i[0] : xs[k] > p->best.i[0])) {
            p->best.i[0] = xs[k];
            p->where[0] = position;
        }
    }
}

static void pick(picker *p, const char *from, int64_t step, size_t m, bool lanes, int64_t at)
{
    taper_ew_load((taper_dtype)p->x->dtype, p->class_, &p->elements, from, step, m, &p->temp);
    if (p->class_ == TAPER_EW_I64) {
        pick_i64(p, &p->elements, m, lanes, at);
    } else {
        pick_f64(p, &p->elements, m, lanes, at);
    }
}

// values (may be NULL) and indices are contiguous and have the shape without dim.
static void pick_lines(taper_run *run, const taper_tensor *x, size_t dim, bool smallest, bool keep,
                       taper_tensor *values, taper_tensor *indices)
{
    picker p;
    taper_lines lines;
    p.x = x;
    p.smallest = smallest;
    p.class_ = taper_dtype_is_integral((taper_dtype)x->dtype) || x->dtype == TAPER_BOOL ? TAPER_EW_I64 : TAPER_EW_F64;
    taper_lines_make(&lines, x, dim, indices, true, keep);
    char *const base = taper_tensor_mutable(indices);
    const int64_t value_item = (int64_t)taper_tensor_item(x), index_item = 8;
    const size_t block = TAPER_EW_BLOCK_BYTES / 16;
    taper_walk walk;
    taper_reduce_walk(&walk, lines.kept, lines.side_by_side ? 1 : 0, lines.kept_count);
    do {
        const char *from = (const char *)taper_tensor_data(x) + walk.at[0];
        char *to = base + walk.at[1];
        const int64_t width = lines.side_by_side ? lines.kept[0].size : 1;
        for (int64_t lane = 0; lane < width; lane += LANES) {
            const size_t m = (size_t)taper_min_i64(LANES, width - lane);
            if (lines.side_by_side) {
                for (int64_t r = 0; r < lines.line.size && taper_run_goes_on(run, m * 5); r++) {
                    pick(&p, from + lane * lines.kept[0].in + r * lines.line.in, lines.kept[0].in, m, true, r);
                }
            } else {
                for (int64_t r = 0; r < lines.line.size && taper_run_goes_on(run, block * 5); r += (int64_t)block) {
                    pick(&p, from + r * lines.line.in, lines.line.in,
                         (size_t)taper_min_i64((int64_t)block, lines.line.size - r), false, r);
                }
            }
            const int64_t step = lines.side_by_side ? lines.kept[0].out : 0;
            char *const target = to + lane * step;
            taper_ew_store(TAPER_I64, TAPER_EW_I64, target, step, p.where, m, &p.temp);
            if (values != NULL) {
                if (smallest && p.class_ == TAPER_EW_F64) {
                    for (size_t k = 0; k < m; k++) {
                        p.best.f[k] = -p.best.f[k];
                    }
                }
                char *const place = (char *)taper_tensor_mutable(values) + (target - base) / index_item * value_item;
                taper_ew_store((taper_dtype)x->dtype, p.class_, place, step / index_item * value_item, &p.best, m,
                               &p.temp);
            }
        }
    } while (taper_run_goes_on(run, 50) && taper_walk_next(&walk));
}

// ---- floats, as they lie in memory

typedef struct float_job {
    const char *x;
    char *indices, *values; // values may be NULL
    const taper_vector_entry *vector;
    taper_pick_rows *pick;
    const taper_lines *lines;
    bool smallest;
} float_job;

// The first place of the extreme, which is among the elements; of NaN the first NaN.
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

// The extremes of lines of contiguous floats, `step` floats apart, and their places.
static void pick_each(const float_job *job, const float *x, size_t n, size_t lines, size_t step, float *best,
                      int32_t *where)
{
    for (size_t k = 0; k < lines; k++, x += step) {
        best[k] = job->vector->fold[job->smallest ? TAPER_REDUCTION_LEAST : TAPER_REDUCTION_MOST](n, x);
        where[k] = (int32_t)find(x, n, best[k]);
        best[k] = x[where[k]]; // of two zeros the first
    }
}

static void floats_task(void *argument, int64_t in, int64_t out, size_t lanes)
{
    const float_job *job = argument;
    const taper_lines *l = job->lines;
    const int64_t step = l->kept_count != 0 ? l->kept[0].out : 0; // of indices, of which values take half
    float best[LANES];
    int32_t where[LANES];
    const size_t n = (size_t)l->line.size;
    if (l->side_by_side && lanes <= FEW && n >= SHORT && n * lanes <= SHORT * LANES) { // so that they become lines
        float turned[SHORT * LANES];
        job->vector->transpose(n, lanes, (const float *)(const void *)(job->x + in), (size_t)l->line.in / sizeof(float),
                               turned, n);
        pick_each(job, turned, n, lanes, n, best, where);
    } else if (l->side_by_side) {
        job->pick((size_t)l->line.size, lanes, (const float *)(const void *)(job->x + in),
                  (size_t)l->line.in / sizeof(float), job->smallest, best, where);
    } else if (l->line.size <= SHORT && lanes >= SHORT) { // turned, so that short lines become neighbours
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

// Whether it is done: lines, or neighbouring ones, without gaps, and short enough that a task is soon over.
static bool pick_floats(taper_run *run, const taper_tensor *x, size_t dim, bool smallest, bool keep,
                        taper_tensor *values, taper_tensor *indices, taper_status *status)
{
    enum { MOST = 1 << 18, TOGETHER = 8192 };
    taper_lines lines;
    taper_lines_make(&lines, x, dim, indices, true, keep);
    const int64_t step = lines.side_by_side ? lines.kept[0].in : lines.line.in;
    float_job job = {.x = taper_tensor_data(x), .indices = taper_tensor_mutable(indices), .lines = &lines};
    job.vector = taper_vector_f32_select(run->cpu);
    job.pick = TAPER_SMALL ? NULL : taper_native_select(run->cpu)->pick_f32;
    job.smallest = smallest;
    job.values = values != NULL ? taper_tensor_mutable(values) : NULL;
    if (TAPER_SMALL || run->portable || x->dtype != TAPER_F32 || step != sizeof(float) || lines.line.size > MOST ||
        job.vector->fold[TAPER_REDUCTION_MOST] == NULL) {
        return false;
    }
    const size_t width = lines.side_by_side ? LANES : taper_min_size(LANES, (size_t)(TOGETHER / lines.line.size) + 1);
    *status = taper_lines_run(run, &lines, width, floats_task, &job, 0.3);
    return true;
}

// ---- lines of whole numbers, as they lie in memory

#if !TAPER_SMALL
typedef struct whole_job {
    const char *x;
    char *indices, *values; // values may be NULL
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

#endif

// Whether it is done.
static bool pick_wholes(taper_run *run, const taper_tensor *x, size_t dim, bool smallest, bool keep,
                        taper_tensor *values, taper_tensor *indices, taper_status *status)
{
#if TAPER_SMALL
    (void)run, (void)x, (void)dim, (void)smallest, (void)keep, (void)values, (void)indices, (void)status;
    return false;
#else
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
#endif
}

// Both.
static bool pick_kernels(taper_run *run, const taper_tensor *x, size_t dim, bool smallest, bool keep,
                         taper_tensor *values, taper_tensor *indices, taper_status *status)
{
    return pick_floats(run, x, dim, smallest, keep, values, indices, status) ||
           pick_wholes(run, x, dim, smallest, keep, values, indices, status);
}

static taper_status check_ordered(const taper_call *call, const taper_tensor *x)
{
    TAPER_TRY(taper_reduce_supported(call, x));
    if (taper_dtype_is_complex((taper_dtype)x->dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "not implemented for '%s': complex numbers have no order",
                   taper_dtype_torch_name((taper_dtype)x->dtype));
    }
    return TAPER_OK;
}

static taper_status pick_dim(taper_call *call, taper_tensor *x, size_t dim, bool keep, bool smallest, bool with_values)
{
    taper_heap *heap = call->run->heap;
    taper_error *error = call->run->error;
    if (x->rank != 0 && x->sizes[dim] == 0) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "Expected reduction dim %zu to have non-zero size.", dim);
    }
    bool over[TAPER_MAX_RANK] = {false};
    int64_t sizes[TAPER_MAX_RANK];
    over[dim] = true;
    const size_t rank = taper_reduce_sizes(x, over, keep, sizes);
    taper_tensor *values = NULL, *indices = NULL;
    TAPER_TRY(taper_tensor_new(heap, TAPER_I64, rank, sizes, NULL, &indices, error));
    if (with_values) {
        const taper_status made = taper_tensor_new(heap, (taper_dtype)x->dtype, rank, sizes, NULL, &values, error);
        if (made != TAPER_OK) {
            taper_tensor_drop(indices);
            return made;
        }
    }
    taper_status status = TAPER_OK;
    if (!TAPER_SMALL && x->rank != 0 && x->sizes[dim] == 1) {
        taper_lines_of_one(call->run, x, dim, keep, values, indices);
    } else if (taper_tensor_numel(indices) != 0 &&
               !pick_kernels(call->run, x, dim, smallest, keep, values, indices, &status)) {
        pick_lines(call->run, x, dim, smallest, keep, values, indices);
    }
    if (status != TAPER_OK) {
        taper_tensor_drop(values);
        taper_tensor_drop(indices);
        return status;
    }
    if (values != NULL) {
        status = taper_ret_tensor(call, 0, values);
        if (status != TAPER_OK) {
            taper_tensor_drop(indices);
            return status;
        }
    }
    return taper_ret_tensor(call, with_values ? 1 : 0, indices);
}

static taper_status extreme_dim(taper_call *call, bool smallest)
{
    taper_tensor *x;
    size_t dim;
    bool keep;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_dim(call, 1, x->rank, &dim));
    TAPER_TRY(taper_arg_bool(call, 2, &keep));
    TAPER_TRY(check_ordered(call, x));
    return pick_dim(call, x, dim, keep, smallest, true);
}

TAPER_KERNEL(taper_op_max_dim)
{
    return extreme_dim(call, false);
}
TAPER_KERNEL(taper_op_min_dim)
{
    return extreme_dim(call, true);
}

static taper_status arg_extreme(taper_call *call, bool smallest)
{
    taper_tensor *x, *flat, *line;
    size_t dim;
    bool keep;
    taper_error *error = call->run->error;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_bool(call, 2, &keep));
    TAPER_TRY(taper_tensor_numel(x) != 0 ? check_ordered(call, x) : taper_reduce_supported(call, x));
    if (!taper_arg_is_none(call, 1)) {
        TAPER_TRY(taper_arg_dim(call, 1, x->rank, &dim));
        return pick_dim(call, x, dim, keep, smallest, false);
    }
    const int64_t count = taper_tensor_numel(x), step = 1;
    if (count == 0) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
                   "'dim' argument.");
    }
    TAPER_TRY(taper_run_contiguous(call->run, x, &flat));
    taper_status status = taper_tensor_alias(call->run->heap, flat, flat->offset, 1, &count, &step, &line, error);
    taper_tensor_drop(flat);
    TAPER_TRY(status);
    taper_tensor *result = NULL;
    int64_t ones[TAPER_MAX_RANK];
    for (size_t i = 0; i < x->rank; i++) {
        ones[i] = 1;
    }
    status = taper_tensor_new(call->run->heap, TAPER_I64, keep ? x->rank : 0, ones, NULL, &result, error);
    if (status == TAPER_OK) {
        taper_tensor scalar = taper_tensor_local(result); // as a result of rank 0
        scalar.rank = 0;
        if (!pick_kernels(call->run, line, 0, smallest, false, NULL, &scalar, &status)) {
            pick_lines(call->run, line, 0, smallest, false, NULL, &scalar);
        }
        if (status == TAPER_OK) {
            status = taper_ret_tensor(call, 0, result);
        } else {
            taper_tensor_drop(result);
        }
    }
    taper_tensor_drop(line);
    return status;
}

TAPER_KERNEL(taper_op_argmax)
{
    return arg_extreme(call, false);
}
TAPER_KERNEL(taper_op_argmin)
{
    return arg_extreme(call, true);
}
