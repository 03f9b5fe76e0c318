// SPDX-License-Identifier: BSD-2-Clause
// Rows are independent of each other when they are gathered, so these go to all threads.
#include "ops/tensor/gather_rows.h"

#include "base/atomic.h"
#include "ops/call/parallel.h"
#include "ops/list/op_config.h"

typedef struct gather_job gather_job;
// Whether all indices of the row are in bounds.
typedef bool row_function(const gather_job *job, const int64_t *index, int64_t index_step, char *table, char *other,
                          size_t n);

struct gather_job {
    taper_gather g;
    row_function *row;
    size_t n, pieces; // elements of a row, and pieces
    int64_t index_step, table_step, other_step;
    size_t rank; // of the dimensions outside the row
    atomic_bool bad;
};

enum { PIECE = 16384 };         // elements of a row that are done at a time
static const double EACH = 1.5; // nanoseconds

#define ROW(type)                                                                                                      \
    static bool row_##type(const gather_job *job, const int64_t *index, int64_t is, char *table, char *other,          \
                           size_t n)                                                                                   \
    {                                                                                                                  \
        type *t = (type *)(void *)table, *o = (type *)(void *)other;                                                   \
        const uint64_t size = (uint64_t)job->g.size;                                                                   \
        const int64_t step = job->g.step, ts = job->table_step, os = job->other_step;                                  \
        if (!TAPER_SMALL && step == 1 && is == 1 && os == 1 && ts == 0 && !job->g.scatter) {                           \
            size_t done = 0;                                                                                           \
            for (; done + 4 <= n; done += 4) {                                                                         \
                const uint64_t a = (uint64_t)index[done], b = (uint64_t)index[done + 1],                               \
                               c = (uint64_t)index[done + 2], d = (uint64_t)index[done + 3];                           \
                if ((a >= size) | (b >= size) | (c >= size) | (d >= size)) {                                           \
                    return false;                                                                                      \
                }                                                                                                      \
                const type v = t[a], w = t[b], x = t[c], y = t[d];                                                     \
                o[done] = v, o[done + 1] = w, o[done + 2] = x, o[done + 3] = y;                                        \
            }                                                                                                          \
            index += done, o += done, n -= done;                                                                       \
        }                                                                                                              \
        for (int64_t k = 0; k < (int64_t)n; k++) {                                                                     \
            const int64_t at = index[k * is];                                                                          \
            if ((uint64_t)at >= size) {                                                                                \
                return false;                                                                                          \
            }                                                                                                          \
            if (job->g.scatter) {                                                                                      \
                t[k * ts + at * step] = o[k * os];                                                                     \
            } else {                                                                                                   \
                o[k * os] = t[k * ts + at * step];                                                                     \
            }                                                                                                          \
        }                                                                                                              \
        return true;                                                                                                   \
    }
ROW(uint8_t)
ROW(uint32_t)
ROW(uint64_t)

static bool row_add(const gather_job *job, const int64_t *index, int64_t is, char *table, char *other, size_t n)
{
    float *t = (float *)(void *)table;
    const float *o = (const float *)(const void *)other;
    for (int64_t k = 0; k < (int64_t)n; k++) {
        const int64_t at = index[k * is];
        if ((uint64_t)at >= (uint64_t)job->g.size) {
            return false;
        }
        t[k * job->table_step + at * job->g.step] += o[k * job->other_step];
    }
    return true;
}

// 32-bit indices, some at a time.
static bool narrow_row(const gather_job *job, const int32_t *index, char *table, char *other, size_t n)
{
    enum { SOME = 512 };
    int64_t wide[SOME];
    const int64_t item = (int64_t)job->g.item;
    for (size_t first = 0; first < n; first += SOME) {
        const size_t count = taper_min_size(SOME, n - first);
        const int64_t at = (int64_t)first;
        for (size_t i = 0; i < count; i++) {
            wide[i] = index[(at + (int64_t)i) * job->index_step];
        }
        if (!job->row(job, wide, 1, table + at * job->table_step * item, other + at * job->other_step * item, count)) {
            return false;
        }
    }
    return true;
}

static void rows_range(void *argument, size_t begin, size_t end)
{
    gather_job *job = argument;
    const taper_gather *g = &job->g;
    const bool narrow = g->index->dtype == TAPER_I32;
    const void *indices = taper_tensor_data(g->index);
    for (size_t r = begin; r < end; r++) {
        size_t left = r / job->pieces;
        const size_t from = r % job->pieces * PIECE;
        const int64_t first = (int64_t)from;
        int64_t index_at = first * job->index_step, table_at = first * job->table_step,
                other_at = first * job->other_step;
        for (size_t d = job->rank; d-- > 0;) {
            const int64_t i = (int64_t)(left % (size_t)g->index->sizes[d]);
            left /= (size_t)g->index->sizes[d];
            index_at += i * g->index->strides[d];
            table_at += i * g->table_strides[d];
            other_at += i * g->other_strides[d];
        }
        const int64_t item = (int64_t)g->item;
        const size_t n = taper_min_size(PIECE, job->n - from);
        char *table = g->table + table_at * item, *other = g->other + other_at * item;
        const bool inside = narrow
                                ? narrow_row(job, (const int32_t *)indices + index_at, table, other, n)
                                : job->row(job, (const int64_t *)indices + index_at, job->index_step, table, other, n);
        if (!inside) {
            atomic_store_explicit(&job->bad, true, memory_order_relaxed);
            return;
        }
    }
}

taper_status taper_gather_rows(taper_run *run, const taper_gather *gather, bool *bad)
{
    const taper_tensor *index = gather->index;
    gather_job job = {.g = *gather};
    job.row = !TAPER_SMALL && gather->add ? row_add
              : gather->item == 1         ? row_uint8_t
              : gather->item == 4         ? row_uint32_t
              : gather->item == 8         ? row_uint64_t
                                          : NULL;
    *bad = false;
    if ((index->dtype != TAPER_I64 && index->dtype != TAPER_I32) || index->rank == 0 || job.row == NULL) {
        return TAPER_DECLINED;
    }
    job.rank = index->rank - 1u;
    job.n = (size_t)index->sizes[job.rank];
    job.index_step = index->strides[job.rank];
    job.table_step = gather->table_strides[job.rank];
    job.other_step = gather->other_strides[job.rank];
    job.pieces = (job.n + PIECE - 1) / PIECE;
    const size_t rows = (size_t)taper_tensor_numel(index) / job.n * job.pieces;
    taper_status status = TAPER_OK;
    if (gather->scatter) {
        const size_t longest = taper_min_size(job.n, PIECE), some = PIECE / longest;
        for (size_t r = 0; r < rows && !job.bad && status == TAPER_OK; r += some) {
            const size_t end = taper_min_size(r + some, rows);
            rows_range(&job, r, end);
            status = taper_run_spend(run, (uint64_t)(end - r) * longest * 2);
        }
    } else {
        status = taper_run_range(run, rows_range, &job, rows, 1, EACH * (double)taper_tensor_numel(index));
    }
    *bad = job.bad;
    return status;
}
