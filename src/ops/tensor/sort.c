// SPDX-License-Identifier: BSD-2-Clause
// Sorting along a dimension and what follows from it: argsort, topk, kthvalue, median, mode. Lines are sorted as pairs
// of key and position, stably where that is asked for and as sort_order.h has it elsewhere; NaN counts as the largest
// number.
#include <math.h>

#include "ops/engine/reduce.h"
#include "ops/engine/sort_order.h"
#include "ops/list/kernels.h"

typedef taper_sort_entry entry;

typedef struct sorter {
    taper_run *run;
    const taper_tensor *x;
    bool whole; // keys are integers
    size_t n;
    entry *entries, *spare; // n each, one block
    size_t bytes;
    taper_ew_block elements, temp;
} sorter;

enum { BLOCK = TAPER_EW_BLOCK_BYTES / 16, RUN = 12 };

static taper_status sorter_begin(sorter *s, taper_call *call, const taper_tensor *x, size_t dim)
{
    s->run = call->run;
    s->x = x;
    s->whole = taper_dtype_is_integral((taper_dtype)x->dtype) || x->dtype == TAPER_BOOL;
    s->n = x->rank == 0 ? 1 : (size_t)x->sizes[dim];
    if (!taper_mul_size(s->n, 2 * sizeof(entry), &s->bytes)) {
        return taper_fail_memory(call->run->error);
    }
    s->entries = s->bytes == 0 ? NULL : taper_heap_alloc(s->run->heap, s->bytes);
    if (s->entries == NULL && s->bytes != 0) {
        return taper_fail_memory(call->run->error);
    }
    s->spare = s->entries == NULL ? NULL : s->entries + s->n;
    return TAPER_OK;
}

static void sorter_end(sorter *s)
{
    if (s->bytes != 0) {
        entry *block = s->entries < s->spare ? s->entries : s->spare; // they change places
        taper_heap_free(s->run->heap, block, s->bytes);
    }
}

static void read_line(sorter *s, const char *from, int64_t step)
{
    for (size_t at = 0; at < s->n && taper_run_goes_on(s->run, BLOCK * 5); at += BLOCK) {
        const size_t m = taper_min_size(BLOCK, s->n - at);
        taper_ew_load((taper_dtype)s->x->dtype, s->whole ? TAPER_EW_I64 : TAPER_EW_F64, &s->elements,
                      from + (int64_t)at * step, step, m, &s->temp);
        for (size_t k = 0; k < m; k++) {
            entry *e = &s->entries[at + k];
            if (s->whole) {
                e->key.i = s->elements.i64[k];
            } else {
                e->key.f = s->elements.f64[k];
            }
            e->at = (int64_t)(at + k);
        }
    }
}

// Merge sort of runs that insertion sorted. before(a, b): a must stand before b.
#define SORT(name, before)                                                                                             \
    static void name(sorter *s)                                                                                        \
    {                                                                                                                  \
        const size_t n = s->n;                                                                                         \
        for (size_t low = 0; low < n && taper_run_goes_on(s->run, RUN * 20); low += RUN) {                             \
            const size_t end = taper_min_size(n, low + RUN);                                                           \
            for (size_t i = low + 1; i < end; i++) {                                                                   \
                const entry e = s->entries[i];                                                                         \
                size_t j = i;                                                                                          \
                for (; j > low && before(e, s->entries[j - 1]); j--) {                                                 \
                    s->entries[j] = s->entries[j - 1];                                                                 \
                }                                                                                                      \
                s->entries[j] = e;                                                                                     \
            }                                                                                                          \
        }                                                                                                              \
        for (size_t width = RUN; width < n; width *= 2) {                                                              \
            for (size_t low = 0; low < n; low += 2 * width) {                                                          \
                const size_t middle = taper_min_size(n, low + width), high = taper_min_size(n, low + 2 * width);       \
                size_t i = low, j = middle;                                                                            \
                if (!taper_run_goes_on(s->run, (high - low) * 5)) {                                                    \
                    return;                                                                                            \
                }                                                                                                      \
                for (size_t k = low; k < high; k++) {                                                                  \
                    const bool right = j < high && (i == middle || before(s->entries[j], s->entries[i]));              \
                    s->spare[k] = s->entries[right ? j++ : i++];                                                       \
                }                                                                                                      \
            }                                                                                                          \
            entry *t = s->entries;                                                                                     \
            s->entries = s->spare;                                                                                     \
            s->spare = t;                                                                                              \
        }                                                                                                              \
    }
SORT(sort_up_f64, TAPER_BEFORE_UP_F64)
SORT(sort_down_f64, TAPER_BEFORE_DOWN_F64)
SORT(sort_up_i64, TAPER_BEFORE_UP_I64)
SORT(sort_down_i64, TAPER_BEFORE_DOWN_I64)

static taper_order order_of(const sorter *s, bool descending)
{
    return s->whole ? (descending ? TAPER_DOWN_I64 : TAPER_UP_I64) : descending ? TAPER_DOWN_F64 : TAPER_UP_F64;
}

static void sort_line_stably(sorter *s, bool descending)
{
    if (s->whole) {
        (descending ? sort_down_i64 : sort_up_i64)(s);
    } else {
        (descending ? sort_down_f64 : sort_up_f64)(s);
    }
}

// Writes the keys and positions of `count` entries; value NULL: positions only.
static void write_line(sorter *s, const entry *entries, size_t count, char *value, int64_t value_step, char *place,
                       int64_t place_step)
{
    for (size_t at = 0; at < count; at += BLOCK) {
        const size_t m = taper_min_size(BLOCK, count - at);
        for (size_t k = 0; k < m && value != NULL; k++) {
            if (s->whole) {
                s->elements.i64[k] = entries[at + k].key.i;
            } else {
                s->elements.f64[k] = entries[at + k].key.f;
            }
        }
        if (value != NULL) {
            taper_ew_store((taper_dtype)s->x->dtype, s->whole ? TAPER_EW_I64 : TAPER_EW_F64,
                           value + (int64_t)at * value_step, value_step, &s->elements, m, &s->temp);
        }
        for (size_t k = 0; k < m; k++) {
            *(int64_t *)(void *)(place + (int64_t)(at + k) * place_step) = entries[at + k].at;
        }
    }
}

// What a line gives: writes the results for the line that was read.
typedef struct job job;
struct job {
    void (*line)(job *j, sorter *s, char *value, int64_t value_step, char *place, int64_t place_step);
    bool descending, skip_nan, stable, sorted;
    int64_t k;
};

static void sorted_line(job *j, sorter *s, char *value, int64_t value_step, char *place, int64_t place_step)
{
    if (j->stable) {
        sort_line_stably(s, j->descending);
    } else {
        taper_sort_all(s->run, order_of(s, j->descending), s->entries, s->n);
    }
    write_line(s, s->entries, (size_t)j->k, value, value_step, place, place_step);
}

// Few of many are kept in a heap; otherwise the line is divided behind them.
static void top_line(job *j, sorter *s, char *value, int64_t value_step, char *place, int64_t place_step)
{
    const taper_order order = order_of(s, j->descending);
    const size_t k = (size_t)j->k;
    if (k <= s->n / 64) {
        taper_sort_first(s->run, order, s->entries, s->n, k);
    } else {
        taper_sort_nth(s->run, order, s->entries, s->n, k - 1);
        if (j->sorted) {
            taper_sort_all(s->run, order, s->entries, k - 1);
        }
    }
    write_line(s, s->entries, k, value, value_step, place, place_step);
}

static void kth_line(job *j, sorter *s, char *value, int64_t value_step, char *place, int64_t place_step)
{
    taper_sort_kth(s->run, s->whole, s->entries, s->n, (size_t)(j->k - 1));
    write_line(s, s->entries + (j->k - 1), 1, value, value_step, place, place_step);
}

// The lower of the two middle elements, stably; the first NaN, unless they are skipped.
static void median_line(job *j, sorter *s, char *value, int64_t value_step, char *place, int64_t place_step)
{
    sort_line_stably(s, false);
    size_t numbers = s->n;
    while (!s->whole && numbers > 0 && isnan(s->entries[numbers - 1].key.f)) {
        numbers--;
    }
    size_t at = (s->n - 1) / 2;
    if (numbers < s->n) {
        at = !j->skip_nan || numbers == 0 ? numbers : (numbers - 1) / 2;
    }
    write_line(s, s->entries + at, 1, value, value_step, place, place_step);
}

// The smallest of the most frequent elements; of those the one that is sorted to the end.
static void mode_line(job *j, sorter *s, char *value, int64_t value_step, char *place, int64_t place_step)
{
    (void)j;
    taper_sort_all(s->run, order_of(s, false), s->entries, s->n);
    size_t best = 0, best_count = 0, count = 0;
    for (size_t i = 0; i < s->n && taper_run_step(s->run, (int64_t)i, 3); i++) {
        const entry *e = &s->entries[i];
        const bool same = i != 0 && (s->whole ? e->key.i == e[-1].key.i : e->key.f == e[-1].key.f);
        count = same ? count + 1 : 1;
        if (count > best_count) {
            best_count = count;
            best = i;
        }
    }
    write_line(s, s->entries + best, 1, value, value_step, place, place_step);
}

// Runs the job over all lines of x. out (may be NULL) and indices have x's dimensions, with another size at dim, and
// the same strides as each other.
static taper_status run_lines(taper_call *call, job *j, const taper_tensor *x, size_t dim, taper_tensor *out,
                              taper_tensor *indices, bool without, bool keep)
{
    sorter s;
    taper_lines lines;
    TAPER_TRY(sorter_begin(&s, call, x, dim));
    taper_lines_make(&lines, x, dim, indices, without, keep);
    const int64_t item = (int64_t)taper_tensor_item(x);
    taper_walk walk;
    taper_reduce_walk(&walk, lines.kept, 0, lines.kept_count);
    char *const values = out == NULL ? NULL : taper_tensor_mutable(out);
    do {
        read_line(&s, (const char *)taper_tensor_data(x) + walk.at[0], lines.line.in);
        j->line(j, &s, values == NULL ? NULL : values + walk.at[1] / 8 * item, lines.line.out / 8 * item,
                (char *)taper_tensor_mutable(indices) + walk.at[1], lines.line.out);
    } while (taper_run_goes_on(call->run, 100) && taper_walk_next(&walk));
    sorter_end(&s);
    return TAPER_OK;
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

// Makes values and indices of these sizes, runs the job and returns them. which: bit 0 values, bit 1 indices.
static taper_status run_job(taper_call *call, job *j, taper_tensor *x, size_t dim, size_t rank, const int64_t *sizes,
                            const int64_t *strides, bool without, bool keep, unsigned which)
{
    taper_error *error = call->run->error;
    taper_tensor *values = NULL, *indices = NULL;
    taper_status status = taper_tensor_new(call->run->heap, TAPER_I64, rank, sizes, strides, &indices, error);
    if (status == TAPER_OK && (which & 1) != 0) {
        status = taper_tensor_new(call->run->heap, (taper_dtype)x->dtype, rank, sizes, strides, &values, error);
    }
    if (status == TAPER_OK && taper_tensor_numel(indices) != 0) {
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

// stable_at: where the argument is; 0 for none.
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

taper_status taper_op_sort(taper_call *call)
{
    return run_sort(call, 1, 0, 3);
}
taper_status taper_op_sort_stable(taper_call *call)
{
    return run_sort(call, 2, 1, 3);
}
taper_status taper_op_argsort(taper_call *call)
{
    return run_sort(call, 1, 0, 2);
}
taper_status taper_op_argsort_stable(taper_call *call)
{
    return run_sort(call, 2, 1, 2);
}
taper_status taper_op_msort(taper_call *call)
{
    return run_sort(call, SIZE_MAX, 0, 1);
}

taper_status taper_op_topk(taper_call *call)
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
    job j = {.line = top_line, .descending = largest, .sorted = sorted, .k = k};
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

taper_status taper_op_kthvalue(taper_call *call)
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

taper_status taper_op_mode(taper_call *call)
{
    job j = {.line = mode_line};
    return run_dim(call, &j);
}
taper_status taper_op_median_dim(taper_call *call)
{
    job j = {.line = median_line};
    return run_dim(call, &j);
}
taper_status taper_op_nanmedian_dim(taper_call *call)
{
    job j = {.line = median_line, .skip_nan = true};
    return run_dim(call, &j);
}

// The median of all elements. That of none is NaN.
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

taper_status taper_op_median(taper_call *call)
{
    return median_all(call, false);
}
taper_status taper_op_nanmedian(taper_call *call)
{
    return median_all(call, true);
}
