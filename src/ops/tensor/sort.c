// SPDX-License-Identifier: BSD-2-Clause
// Sorting along a dimension, and operators based on it: argsort, topk, kthvalue, median and mode. Lines are sorted as
// keys with positions (sort_order.h), stably if the operator requests it. Values are then copied from the line by
// position, which keeps NaN and -0 unchanged.
#include <math.h>

#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/lines_of_one.h"
#include "ops/engine/reduce.h"
#include "ops/engine/sort_order.h"

typedef struct sorter {
    taper_sort_line line;
    const char *from; // first element of the line; bytes from one element to the next
    int64_t step;
    size_t item;
} sorter;

// Writes the positions of `count` entries, from `first` on, and their elements. If value is NULL, it writes only
// positions.
#define TAKE(type)                                                                                                     \
    for (size_t k = 0; k < count; k++) {                                                                               \
        *(type *)(void *)(value + (int64_t)k * value_step) =                                                           \
            *(const type *)(const void *)(s->from + taper_sort_at(&s->line, first + k) * s->step);                     \
    }
static void write_line(const sorter *s, size_t first, size_t count, char *value, int64_t value_step, char *place,
                       int64_t place_step)
{
    for (size_t k = 0; k < count; k++) {
        *(int64_t *)(void *)(place + (int64_t)k * place_step) = taper_sort_at(&s->line, first + k);
    }
    if (value == NULL) {
        return;
    }
    switch (s->item) {
    case 1:
        TAKE(uint8_t)
        break;
    case 2:
        TAKE(uint16_t)
        break;
    case 4:
        TAKE(uint32_t)
        break;
    default:
        TAKE(uint64_t)
        break;
    }
}
#undef TAKE

static void write_one(const sorter *s, int64_t at, char *value, char *place)
{
    *(int64_t *)(void *)place = at;
    if (value != NULL) {
        memcpy(value, s->from + at * s->step, s->item);
    }
}

// A job reads lines; `line` writes the results of the line that was read.
typedef struct job job;
struct job {
    void (*line)(job *j, sorter *s, char *value, int64_t value_step, char *place, int64_t place_step);
    bool descending, skip_nan, stable, sorted, few;
    bool tried; // true if a heap is tried first; if its entries are all different, they are the result
    bool found; // true if the heap gave the result, because all its entries were different
    int64_t k;
};

static void sorted_line(job *j, sorter *s, char *value, int64_t value_step, char *place, int64_t place_step)
{
    if (j->stable) {
        taper_sort_stably(&s->line);
    } else {
        taper_sort_all(&s->line, s->line.n);
    }
    write_line(s, 0, (size_t)j->k, value, value_step, place, place_step);
}

// Writes the largest or smallest entries of topk. If few of many elements are wanted, the line was read into a heap.
// Otherwise the line is partitioned after the wanted entries.
static void top_line(job *j, sorter *s, char *value, int64_t value_step, char *place, int64_t place_step)
{
    const size_t k = (size_t)j->k;
    if (!j->few && !j->found) {
        taper_sort_nth(&s->line, k - 1);
        if (j->sorted) {
            taper_sort_all(&s->line, k - 1);
        }
    }
    write_line(s, 0, k, value, value_step, place, place_step);
}

static void kth_line(job *j, sorter *s, char *value, int64_t value_step, char *place, int64_t place_step)
{
    (void)value_step, (void)place_step;
    taper_sort_kth(&s->line, (size_t)(j->k - 1));
    write_one(s, taper_sort_at(&s->line, (size_t)(j->k - 1)), value, place);
}

// Writes the lower of the two middle elements of the stable order, or the first NaN unless NaN is skipped.
static void median_line(job *j, sorter *s, char *value, int64_t value_step, char *place, int64_t place_step)
{
    (void)value_step, (void)place_step;
    const size_t n = s->line.n;
    size_t numbers = n;
    for (size_t i = 0; i < n && s->line.floats; i++) {
        numbers -= taper_sort_is_nan(&s->line, i) ? 1u : 0u;
    }
    size_t at = (n - 1) / 2;
    if (numbers < n) {
        at = !j->skip_nan || numbers == 0 ? numbers : (numbers - 1) / 2;
    }
    write_one(s, taper_sort_pick(&s->line, at), value, place);
}

// Writes the most frequent element; of several such elements, the smallest one. The position that is written is the
// position of this element's last copy in the sorted line.
static void mode_line(job *j, sorter *s, char *value, int64_t value_step, char *place, int64_t place_step)
{
    (void)j, (void)value_step, (void)place_step;
    taper_sort_all(&s->line, s->line.n);
    size_t best = 0, best_count = 0, count = 0;
    for (size_t i = 0; i < s->line.n && taper_run_step(s->line.run, (int64_t)i, 3); i++) {
        const bool same = i != 0 && taper_sort_same(&s->line, i, i - 1) && !taper_sort_is_nan(&s->line, i);
        count = same ? count + 1 : 1;
        if (count > best_count) {
            best_count = count;
            best = i;
        }
    }
    write_one(s, taper_sort_at(&s->line, best), value, place);
}

#include "ops/tensor/sort_first.h"

// Runs the job over all lines of x. out and indices have x's sizes, except that the size at dim may differ. Both have
// equal strides. out may be NULL.
static taper_status run_lines(taper_call *call, job *j, const taper_tensor *x, size_t dim, taper_tensor *out,
                              taper_tensor *indices, bool without, bool keep)
{
    sorter s;
    taper_lines lines;
    const size_t n = x->rank == 0 ? 1 : (size_t)x->sizes[dim];
    TAPER_TRY(taper_sort_open(&s.line, call->run, n));
    taper_lines_make(&lines, x, dim, indices, without, keep);
    s.item = taper_tensor_item(x);
    s.step = lines.line.in;
    const int64_t item = (int64_t)s.item;
    taper_walk walk;
    taper_reduce_walk(&walk, lines.kept, 0, lines.kept_count);
    char *const values = out == NULL ? NULL : taper_tensor_mutable(out);
    taper_status status;
    do {
        s.from = (const char *)taper_tensor_data(x) + walk.at[0];
        j->found = false;
        status = try_first(j, &s, x, n);
        if (status == TAPER_OK && !j->found) {
            status = j->few ? taper_sort_read_first(&s.line, (taper_dtype)x->dtype, s.from, s.step, n, j->descending,
                                                    (size_t)j->k)
                            : taper_sort_read(&s.line, (taper_dtype)x->dtype, s.from, s.step, n, j->descending);
        }
        if (status == TAPER_OK) {
            j->line(j, &s, values == NULL ? NULL : values + walk.at[1] / 8 * item, lines.line.out / 8 * item,
                    (char *)taper_tensor_mutable(indices) + walk.at[1], lines.line.out);
            status = taper_run_spend(call->run, 100);
        }
    } while (status == TAPER_OK && taper_walk_next(&walk));
    taper_sort_close(&s.line);
    return status;
}

static taper_status check(const taper_call *call, const taper_tensor *x)
{
    TAPER_TRY(taper_reduce_supported(call, x));
    if (taper_dtype_is_complex((taper_dtype)x->dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "not implemented for '%s': complex numbers have no order",
                   taper_dtype_torch_name((taper_dtype)x->dtype));
    }
    return TAPER_OK;
}

// Makes values and indices of these sizes, runs the job, and sets the results. If bit 0 of `which` is set, the values
// are a result. If bit 1 is set, the indices are a result.
static taper_status run_job(taper_call *call, job *j, taper_tensor *x, size_t dim, size_t rank, const int64_t *sizes,
                            const int64_t *strides, bool without, bool keep, unsigned which)
{
    taper_error *error = call->run->error;
    taper_tensor *values = NULL, *indices = NULL;
    taper_status status = taper_tensor_new(call->run->heap, TAPER_I64, rank, sizes, strides, &indices, error);
    if (status == TAPER_OK && (which & 1) != 0) {
        status = taper_tensor_new(call->run->heap, (taper_dtype)x->dtype, rank, sizes, strides, &values, error);
    }
    const bool done = status == TAPER_OK && taper_tensor_numel(indices) == taper_tensor_numel(x) &&
                      taper_lines_of_one(call->run, x, dim, !without || keep, values, indices);
    if (status == TAPER_OK && !done && taper_tensor_numel(indices) != 0) {
        status = run_lines(call, j, x, dim, values, indices, without, keep);
    }
    if (status == TAPER_OK && values != NULL) {
        status = taper_ret_tensor(call, 0, values);
        values = NULL;
    }
    if (status == TAPER_OK && (which & 2) != 0) {
        return taper_ret_tensor(call, which == 2 ? 0 : 1, indices);
    }
    taper_tensor_drop(values);
    taper_tensor_drop(indices);
    return status;
}

// ---- sort

// Sorts along a dimension. stable_at is the position of the argument `stable`, or 0 if there is none.
static taper_status run_sort(taper_call *call, size_t dim_at, size_t stable_at, unsigned which)
{
    bool descending = false, stable = false;
    taper_tensor *x;
    size_t dim = 0;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    if (dim_at != SIZE_MAX) {
        TAPER_TRY(taper_arg_dim(call, dim_at, x->rank, &dim));
        TAPER_TRY(taper_arg_bool(call, dim_at + 1, &descending));
    }
    if (stable_at != 0 && !taper_arg_is_none(call, stable_at)) {
        TAPER_TRY(taper_arg_bool(call, stable_at, &stable));
    }
    TAPER_TRY(check(call, x));
    int64_t strides[TAPER_MAX_RANK];
    TAPER_TRY(taper_like_strides(x, TAPER_FORMAT_PRESERVE, strides, call->run->error));
    job j = {.line = sorted_line, .descending = descending, .stable = stable, .k = x->rank == 0 ? 1 : x->sizes[dim]};
    return run_job(call, &j, x, dim, x->rank, x->sizes, strides, false, false, which);
}

TAPER_KERNEL(taper_op_sort)
{
    return run_sort(call, 1, 0, 3);
}
TAPER_KERNEL(taper_op_sort_stable)
{
    return run_sort(call, 2, 1, 3);
}
TAPER_KERNEL(taper_op_argsort)
{
    return run_sort(call, 1, 0, 2);
}
TAPER_KERNEL(taper_op_argsort_stable)
{
    return run_sort(call, 2, 1, 2);
}
TAPER_KERNEL(taper_op_msort)
{
    return run_sort(call, SIZE_MAX, 0, 1);
}

TAPER_KERNEL(taper_op_topk)
{
    taper_tensor *x;
    size_t dim;
    int64_t k;
    bool largest, sorted;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_int(call, 1, &k));
    TAPER_TRY(taper_arg_dim(call, 2, x->rank, &dim));
    TAPER_TRY(taper_arg_bool(call, 3, &largest));
    TAPER_TRY(taper_arg_bool(call, 4, &sorted));
    TAPER_TRY(check(call, x));
    if (k < 0 || k > (x->rank == 0 ? 1 : x->sizes[dim])) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "selected index k out of range");
    }
    int64_t sizes[TAPER_MAX_RANK];
    memcpy(sizes, x->sizes, sizeof sizes);
    sizes[dim] = k;
    const bool few = x->rank != 0 && k <= x->sizes[dim] / 64; // PyTorch's condition for a heap
    // topk of a tensor without dimensions returns its element, even for k = 0, as PyTorch does.
    job j = {.line = top_line, .descending = largest, .sorted = sorted, .few = few, .k = x->rank == 0 ? 1 : k};
    j.tried = !few && sorted && k > 0 && x->rank != 0 && k <= x->sizes[dim] / 32 &&
              taper_dtype_is_float((taper_dtype)x->dtype);
    return run_job(call, &j, x, dim, x->rank, sizes, NULL, false, false, 3);
}

// ---- one element of every line

static taper_status run_one(taper_call *call, job *j, taper_tensor *x, size_t dim_at)
{
    size_t dim;
    bool keep;
    TAPER_TRY(taper_arg_dim(call, dim_at, x->rank, &dim));
    TAPER_TRY(taper_arg_bool(call, dim_at + 1, &keep));
    TAPER_TRY(check(call, x));
    const int64_t n = x->rank == 0 ? 1 : x->sizes[dim];
    if (n == 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "Expected reduction dim %zu to have non-zero size.", dim);
    }
    if (j->line == kth_line && (j->k < 1 || j->k > n)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "selected number k out of range for dimension %zu", dim);
    }
    bool over[TAPER_MAX_RANK] = {false};
    int64_t sizes[TAPER_MAX_RANK];
    over[dim] = true;
    const size_t rank = taper_reduce_sizes(x, over, keep, sizes);
    return run_job(call, j, x, dim, rank, sizes, NULL, true, keep, 3);
}

TAPER_KERNEL(taper_op_kthvalue)
{
    taper_tensor *x;
    job j = {.line = kth_line};
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_int(call, 1, &j.k));
    return run_one(call, &j, x, 2);
}

static taper_status run_dim(taper_call *call, job *j)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    return run_one(call, j, x, 1);
}

TAPER_KERNEL(taper_op_mode)
{
    job j = {.line = mode_line};
    return run_dim(call, &j);
}
TAPER_KERNEL(taper_op_median_dim)
{
    job j = {.line = median_line};
    return run_dim(call, &j);
}
TAPER_KERNEL(taper_op_nanmedian_dim)
{
    job j = {.line = median_line, .skip_nan = true};
    return run_dim(call, &j);
}

// Computes the median of all elements. If there are no elements, the median is NaN.
static taper_status median_all(taper_call *call, bool skip_nan)
{
    taper_tensor *x, *flat, *line, *out;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(check(call, x));
    const int64_t count = taper_tensor_numel(x), step = 1;
    if (count == 0) {
        const taper_scalar nan = taper_scalar_double(NAN);
        TAPER_TRY(taper_ret_new(call, 0, (taper_dtype)x->dtype, 0, NULL, NULL, &out));
        return taper_tensor_fill(call->run, out, &nan);
    }
    TAPER_TRY(taper_run_contiguous(call->run, x, &flat));
    taper_status status =
        taper_tensor_alias(call->run->heap, flat, flat->offset, 1, &count, &step, &line, call->run->error);
    taper_tensor_drop(flat);
    TAPER_TRY(status);
    job j = {.line = median_line, .skip_nan = skip_nan};
    status = run_job(call, &j, line, 0, 0, NULL, NULL, true, false, 1);
    taper_tensor_drop(line);
    return status;
}

TAPER_KERNEL(taper_op_median)
{
    return median_all(call, false);
}
TAPER_KERNEL(taper_op_nanmedian)
{
    return median_all(call, true);
}
