// SPDX-License-Identifier: BSD-2-Clause
// gather and scatter by rows. The rows of a gather are independent, so gathers run on all threads.
#include "ops/tensor/gather_rows.h"

#include "base/atomic.h"
#include "ops/call/parallel.h"

typedef struct gather_job gather_job;
// A loop over a row. Returns false if an index is out of bounds.
typedef bool row_function(const gather_job *job, const int64_t *index, char *table, char *other, size_t n);

// The dimensions of the index, without those of size 1. Two neighbouring dimensions are joined if one stride covers
// both in the index, the table and the other tensor. For example, if the index was expanded to whole rows of the table,
// the elements of such a row become one dimension. Strides are in elements.
typedef struct gather_dims {
    size_t rank; // number of dimensions, at least 1
    int64_t sizes[TAPER_MAX_RANK], index[TAPER_MAX_RANK], table[TAPER_MAX_RANK], other[TAPER_MAX_RANK];
} gather_dims;

struct gather_job {
    taper_gather g;
    gather_dims dims;
    row_function *row;
    taper_run *run;
    taper_into_function into; // combines the elements of a line of a scatter
    size_t n, pieces;         // number of elements of a row; number of pieces of a row
    int64_t index_step, table_step, other_step;
    size_t rank, outer[TAPER_MAX_RANK]; // number and list of the dimensions other than the dimension of a row
    atomic_bool bad;
};

enum { PIECE = 16384 };         // largest number of elements in a row for one step of a task
static const double EACH = 1.5; // time for an element, in nanoseconds

#include "ops/tensor/gather_rows_steps.h"

#define GATHER(type)                                                                                                   \
    static inline bool gather_steps_##type(const type *t, type *o, const int64_t *index, size_t n, uint64_t size,      \
                                           int64_t step, int64_t is, int64_t os, int64_t ts)                           \
    {                                                                                                                  \
        size_t done = 0;                                                                                               \
        GATHER_FOUR(type)                                                                                              \
        for (; done < n; done++, index += is, o += os, t += ts) {                                                      \
            if ((uint64_t)*index >= size) {                                                                            \
                return false;                                                                                          \
            }                                                                                                          \
            *o = t[*index * step];                                                                                     \
        }                                                                                                              \
        return true;                                                                                                   \
    }                                                                                                                  \
    static bool gather_##type(const gather_job *job, const int64_t *index, char *table, char *other, size_t n)         \
    {                                                                                                                  \
        return CALL(gather_steps_##type, (const type *)(void *)table, (type *)(void *)other, index, n,                 \
                    (uint64_t)job->g.size);                                                                            \
    }

// In the expression, x is the element of the table and y the element that is combined with it.
#define SCATTER(name, type, expression)                                                                                \
    static inline bool steps_##name(type *t, const type *o, const int64_t *index, size_t n, uint64_t size,             \
                                    int64_t step, int64_t is, int64_t os, int64_t ts)                                  \
    {                                                                                                                  \
        enum { TOGETHER = SCATTERED };                                                                                 \
        for (size_t left = n, m; left > 0; left -= m) {                                                                \
            m = left < TOGETHER ? 1 : TOGETHER;                                                                        \
            bool beyond = false;                                                                                       \
            for (size_t k = 0; k < m; k++) {                                                                           \
                beyond |= (uint64_t)index[(int64_t)k * is] >= size;                                                    \
            }                                                                                                          \
            if (beyond) {                                                                                              \
                return false;                                                                                          \
            }                                                                                                          \
            for (size_t k = 0; k < m; k++, index += is, o += os, t += ts) {                                            \
                type *const to = t + *index * step;                                                                    \
                const type x = *to, y = *o;                                                                            \
                (void)x;                                                                                               \
                *to = (type)(expression);                                                                              \
            }                                                                                                          \
        }                                                                                                              \
        return true;                                                                                                   \
    }                                                                                                                  \
    static bool scatter_##name(const gather_job *job, const int64_t *index, char *table, char *other, size_t n)        \
    {                                                                                                                  \
        return CALL(steps_##name, (type *)(void *)table, (const type *)(const void *)other, index, n,                  \
                    (uint64_t)job->g.size);                                                                            \
    }

GATHER(uint8_t)
GATHER(uint32_t)
GATHER(uint64_t)
SCATTER(uint8_t, uint8_t, y)
SCATTER(uint32_t, uint32_t, y)
SCATTER(uint64_t, uint64_t, y)
#include "ops/tensor/gather_rows_joined.h"

static row_function *find_row(const taper_gather *g)
{
    if (!g->scatter || g->operation == TAPER_INTO_SET) {
        return g->item == 1   ? (g->scatter ? scatter_uint8_t : gather_uint8_t)
               : g->item == 4 ? (g->scatter ? scatter_uint32_t : gather_uint32_t)
               : g->item == 8 ? (g->scatter ? scatter_uint64_t : gather_uint64_t)
                              : NULL;
    }
    return find_joined(g);
}

// Moves a row of n contiguous elements that has one index. Returns false if the index is out of bounds.
static bool line(const gather_job *job, const int64_t *index, char *table, char *other, size_t n)
{
    const int64_t item = (int64_t)job->g.item;
    if ((uint64_t)*index >= (uint64_t)job->g.size) {
        return false;
    }
    char *const part = table + *index * job->g.step * item;
    if (job->g.scatter) {
        taper_into_line(job->run, job->into, part, item, other, item, (int64_t)n);
    } else {
        memcpy(other, part, n * (size_t)item);
    }
    return true;
}

static void rows_range(void *argument, size_t begin, size_t end)
{
    gather_job *job = argument;
    const taper_gather *g = &job->g;
    const int64_t *index = taper_tensor_data(g->index);
    for (size_t r = begin; r < end; r++) {
        size_t left = r / job->pieces;
        const size_t from = r % job->pieces * PIECE;
        const int64_t first = (int64_t)from;
        int64_t index_at = first * job->index_step, table_at = first * job->table_step,
                other_at = first * job->other_step;
        for (size_t k = job->rank; k-- > 0;) {
            const size_t d = job->outer[k];
            const int64_t i = (int64_t)(left % (size_t)job->dims.sizes[d]);
            left /= (size_t)job->dims.sizes[d];
            index_at += i * job->dims.index[d];
            table_at += i * job->dims.table[d];
            other_at += i * job->dims.other[d];
        }
        const int64_t item = (int64_t)g->item;
        if (!job->row(job, index + index_at, g->table + table_at * item, g->other + other_at * item,
                      taper_min_size(PIECE, job->n - from))) {
            atomic_store_explicit(&job->bad, true, memory_order_relaxed);
            return;
        }
    }
}

// Returns the dimension that rows extend along: the last one. If that dimension is short, and the order of the elements
// does not matter (it matters in a scatter), the function returns a dimension that is long enough for a call per row.
static size_t row_dimension(const gather_dims *dims, bool scatter)
{
    enum { SHORT = 16 };
    size_t row = dims->rank - 1;
    for (size_t d = row; d-- > 0 && !scatter && dims->sizes[row] < SHORT;) {
        row = dims->sizes[d] > dims->sizes[row] ? d : row;
    }
    return row;
}

static void join_dims(const taper_gather *g, gather_dims *dims)
{
    const taper_tensor *const x = g->index;
    size_t rank = 0;
    *dims = (gather_dims){.sizes = {1}}; // the dimension of a single element
    for (size_t d = 0; d < x->rank; d++) {
        const int64_t size = x->sizes[d];
        if (size == 1) {
            continue;
        }
        const bool joins = rank > 0 && dims->index[rank - 1] == taper_wrap_mul(size, x->strides[d]) &&
                           dims->table[rank - 1] == taper_wrap_mul(size, g->table_strides[d]) &&
                           dims->other[rank - 1] == taper_wrap_mul(size, g->other_strides[d]);
        rank += joins ? 0 : 1;
        dims->sizes[rank - 1] = joins ? taper_wrap_mul(dims->sizes[rank - 1], size) : size;
        dims->index[rank - 1] = x->strides[d];
        dims->table[rank - 1] = g->table_strides[d];
        dims->other[rank - 1] = g->other_strides[d];
    }
    dims->rank = rank == 0 ? 1 : rank;
}

taper_status taper_gather_rows(taper_run *run, const taper_gather *g, bool *bad)
{
    *bad = false;
    if (g->index->dtype != TAPER_I64 || g->index->rank == 0) {
        return TAPER_DECLINED;
    }
    if (taper_tensor_numel(g->index) == 0) {
        return TAPER_OK;
    }
    gather_job job = {.g = *g, .run = run};
    gather_dims *const dims = &job.dims;
    join_dims(g, dims);
    const size_t row = row_dimension(dims, g->scatter);
    const bool is_line = dims->index[row] == 0 && dims->table[row] == 1 && dims->other[row] == 1;
    job.into = taper_into_find(g->dtype, g->scatter ? g->operation : TAPER_INTO_SET);
    job.row = is_line && (job.into != NULL || !g->scatter) ? line : find_row(g);
    if (job.row == NULL) {
        return TAPER_DECLINED;
    }
    for (size_t d = 0; d < dims->rank; d++) {
        if (d != row) {
            job.outer[job.rank++] = d;
        }
    }
    job.n = (size_t)dims->sizes[row];
    job.index_step = dims->index[row];
    job.table_step = dims->table[row];
    job.other_step = dims->other[row];
    job.pieces = (job.n + PIECE - 1) / PIECE;
    const size_t rows = (size_t)taper_tensor_numel(g->index) / job.n * job.pieces;
    taper_status status = TAPER_OK;
    if (g->scatter) {
        const size_t longest = taper_min_size(job.n, PIECE), some = PIECE / longest;
        for (size_t r = 0; r < rows && !job.bad && status == TAPER_OK; r += some) {
            const size_t end = taper_min_size(r + some, rows);
            rows_range(&job, r, end);
            status = taper_run_spend(run, (uint64_t)(end - r) * longest * 2);
        }
    } else {
        status = taper_run_range(run, rows_range, &job, rows, 1, EACH * (double)taper_tensor_numel(g->index));
    }
    *bad = job.bad;
    return status;
}
