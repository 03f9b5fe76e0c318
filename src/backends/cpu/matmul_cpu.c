// SPDX-License-Identifier: BSD-2-Clause
// Products of matrices that nobody knows beforehand (attention, einsum, matmul): the right side is packed for the gemm
// kernels on the way, once per matrix, or once for all where the batch shares it. With many matrices the threads take
// whole ones; with few they share the strips and panels of each. Rows of the left side must be contiguous, or are
// copied. A few rows times a transposed matrix (the step of a recurrent network) are dot products with its rows as they
// lie.
#include <math.h>
#include <stdint.h>

#include "backends/cpu/denormals.h"
#include "backends/cpu/fast_cpu.h"
#include "backends/cpu/kernel_select.h"
#include "platform/platform.h"
#include "platform/threads.h"

typedef struct product_job {
    const taper_gemm_entry *entry;
    const taper_vector_entry *vector;
    const taper_gemm_batch *batch;
    const float *a, *b;
    float *c;
    size_t m, n, k;
    size_t a_row, a_column, b_row, b_column, c_row;
    size_t panels, panel_floats, strips, block_panels;
    size_t count, tasks;     // of matrices; of tasks that share them
    size_t turned_floats;    // of a copy of one left matrix; 0: none is needed
    size_t scratch_floats;   // per task: packed right matrix unless all share one, then the left one
    size_t turned_at;        // in a task's scratch
    float *scratch, *target; // target: of packing by all threads
    bool shared, add;        // shared: all products have the same right matrix
    // of the matrix at hand, when the threads share one
    const float *left, *right, *packed;
    size_t left_stride;
    float *result;
    size_t row_tasks, column_tasks;
} product_job;

// ---- packing

static void pack_panels(const product_job *job, const float *b, size_t first, size_t last, float *packed)
{
    const size_t nr = job->entry->nr;
    for (size_t p = first; p < last; p++) {
        const size_t column = p * nr, width = taper_min_size(nr, job->n - column);
        const float *from = b + column * job->b_column;
        float *to = packed + p * job->panel_floats;
        memset(to, 0, nr * sizeof *to); // the bias
        to += nr;
        if (width < nr) {
            memset(to, 0, job->k * nr * sizeof *to);
        }
        if (job->b_column == 1) {
            for (size_t k = 0; k < job->k; k++) {
                memcpy(to + k * nr, from + k * job->b_row, width * sizeof *to);
            }
        } else if (job->b_row == 1) {
            job->vector->transpose(width, job->k, from, job->b_column, to, nr);
        } else {
            for (size_t k = 0; k < job->k; k++) {
                for (size_t j = 0; j < width; j++) {
                    to[k * nr + j] = from[k * job->b_row + j * job->b_column];
                }
            }
        }
    }
}

// Rows [first, last) of the left matrix, made contiguous.
static void turn_rows(const product_job *job, const float *a, size_t first, size_t last, float *rows)
{
    if (job->a_row == 1) {
        job->vector->transpose(job->k, last - first, a + first, job->a_column, rows + first * job->k, job->k);
        return;
    }
    for (size_t i = first; i < last; i++) {
        for (size_t k = 0; k < job->k; k++) {
            rows[i * job->k + k] = a[i * job->a_row + k * job->a_column];
        }
    }
}

// ---- products

static void multiply(const product_job *job, const float *a, size_t a_stride, const float *packed, float *c,
                     size_t strip_begin, size_t strip_end, size_t panel_begin, size_t panel_end)
{
    const size_t base = job->m / job->strips, extra = job->m % job->strips, nr = job->entry->nr;
    const unsigned denormals = taper_denormals_off();
    for (size_t panel = panel_begin; panel < panel_end; panel += job->block_panels) {
        const size_t stop = taper_min_size(panel + job->block_panels, panel_end);
        const size_t column = panel * nr, columns = taper_min_size(stop * nr, job->n) - column;
        for (size_t strip = strip_begin; strip < strip_end; strip++) {
            const size_t first = strip * base + taper_min_size(strip, extra), count = base + (strip < extra);
            float *to = c + first * job->c_row + column;
            const taper_gemm_epilogue e = {
                .add = job->add ? to : NULL, .add_stride = job->c_row, .min = -INFINITY, .max = INFINITY};
            job->entry->gemm(count, columns, job->k, a + first * a_stride, a_stride, packed + panel * job->panel_floats,
                             to, job->c_row, &e);
        }
    }
    taper_denormals_on(denormals);
}

static void run_matrices(void *argument, size_t task)
{
    const product_job *job = argument;
    float *own =
        job->scratch != NULL ? job->scratch + task * job->scratch_floats : NULL; // NULL: neither packs nor turns
    float *rows = own != NULL ? own + job->turned_at : NULL;
    const size_t begin = task * job->count / job->tasks, end = (task + 1) * job->count / job->tasks;
    for (size_t i = begin; i < end; i++) {
        int64_t at_a, at_b, at_c;
        taper_gemm_batch_at(job->batch, (int64_t)i, &at_a, &at_b, &at_c);
        const float *a = job->a + at_a;
        size_t a_stride = job->a_row;
        if (job->turned_floats != 0) {
            turn_rows(job, a, 0, job->m, rows);
            a = rows;
            a_stride = job->k;
        }
        if (!job->shared) {
            pack_panels(job, job->b + at_b, 0, job->panels, own);
        }
        multiply(job, a, a_stride, job->shared ? job->packed : own, job->c + at_c, 0, job->strips, 0, job->panels);
    }
}

static void pack_range(void *argument, size_t begin, size_t end)
{
    const product_job *job = argument;
    pack_panels(job, job->b, begin, end, job->target);
}

static void turn_range(void *argument, size_t begin, size_t end)
{
    const product_job *job = argument;
    turn_rows(job, job->a, begin, end, job->scratch + job->turned_at);
}

static void run_tiles(void *argument, size_t index)
{
    const product_job *job = argument;
    const size_t row = index / job->column_tasks, column = index % job->column_tasks;
    multiply(job, job->left, job->left_stride, job->packed, job->result, row * job->strips / job->row_tasks,
             (row + 1) * job->strips / job->row_tasks, column * job->panels / job->column_tasks,
             (column + 1) * job->panels / job->column_tasks);
}

// All threads on one matrix after the other.
static void run_in_turn(const taper_run *run, product_job *job, unsigned threads)
{
    const float *const a = job->a, *const b = job->b;
    job->row_tasks = taper_min_size(job->strips, 4 * (size_t)threads);
    job->column_tasks = 1;
    if (job->row_tasks < 2 * (size_t)threads) {
        job->row_tasks = 1;
        job->column_tasks = taper_min_size(job->panels, 4 * (size_t)threads);
    }
    for (size_t i = 0; i < job->count; i++) {
        int64_t at_a, at_b, at_c;
        taper_gemm_batch_at(job->batch, (int64_t)i, &at_a, &at_b, &at_c);
        job->a = a + at_a;
        job->b = b + at_b;
        job->result = job->c + at_c;
        job->left = job->a;
        job->left_stride = job->a_row;
        if (job->turned_floats != 0) {
            taper_pool_range(run->pool, turn_range, job, job->m, taper_cpu_grain(job->k));
            job->left = job->scratch + job->turned_at;
            job->left_stride = job->k;
        }
        if (!job->shared) {
            job->packed = job->target = job->scratch;
            taper_pool_range(run->pool, pack_range, job, job->panels, taper_cpu_grain(job->panel_floats));
        }
        taper_pool_each(run->pool, run_tiles, job, job->row_tasks * job->column_tasks);
    }
}

// ---- few rows

enum { FEW_ROWS = 6, DOT_GRAIN = 64 };

static void dots_range(void *argument, size_t begin, size_t end)
{
    const product_job *job = argument;
    const unsigned denormals = taper_denormals_off();
    for (size_t i = 0; i < job->m; i++) {
        float *c = job->result + i * job->c_row + begin;
        job->vector->gemv(end - begin, job->k, job->left + i * job->a_row, job->right + begin * job->b_column,
                          job->b_column, job->add ? c : NULL, c, -INFINITY, INFINITY);
    }
    taper_denormals_on(denormals);
}

static bool are_dots(const taper_gemm *gemm)
{
    return gemm->m <= FEW_ROWS && gemm->b_row == 1 && gemm->b_column >= 0 && gemm->a_column == 1 && gemm->a_row >= 0 &&
           gemm->c_column == 1 && gemm->c_row >= 0 && gemm->k >= 8;
}

static void run_dots(const taper_run *run, product_job *job)
{
    for (size_t i = 0; i < job->count; i++) {
        int64_t at_a, at_b, at_c;
        taper_gemm_batch_at(job->batch, (int64_t)i, &at_a, &at_b, &at_c);
        job->left = job->a + at_a;
        job->right = job->b + at_b;
        job->result = job->c + at_c;
        taper_pool_range(run->pool, dots_range, job, job->n,
                         taper_max_size(DOT_GRAIN, taper_cpu_grain(job->m * job->k)));
    }
}

static bool does(const taper_gemm *gemm)
{
    if (gemm->k <= 0 || gemm->c_column != 1 || gemm->a_row < 0 || gemm->a_column < 0 || gemm->b_row < 0 ||
        gemm->b_column < 0 || gemm->c_row < 0) {
        return false;
    }
    // Few rows do not repay the packing, tiny products not even the call.
    return gemm->m >= 4 && gemm->k >= 4 && (double)gemm->m * (double)gemm->n * (double)gemm->k >= 4096.0;
}

// The right matrix that all products share, packed in *kept, where it may lie already.
static bool pack_shared(const taper_run *run, product_job *job, size_t floats, taper_gemm_kept *kept)
{
    if (kept->data == NULL) {
        kept->bytes = floats * sizeof(float);
        kept->data = taper_heap_alloc(run->heap, kept->bytes);
        if (kept->data == NULL) {
            return false;
        }
        job->target = kept->data;
        taper_pool_range(run->pool, pack_range, job, job->panels, taper_cpu_grain(job->panel_floats));
    }
    job->packed = kept->data;
    return true;
}

taper_status taper_cpu_gemm(taper_run *run, const taper_gemm *gemm, const taper_gemm_batch *batch)
{
    if (!are_dots(gemm) && !does(gemm)) {
        return TAPER_DECLINED;
    }
    const taper_gemm_entry *entry = taper_gemm_f32_select(run->cpu);
    run->kernel = entry->name;
    run->flops += 2.0 * (double)gemm->m * (double)gemm->n * (double)gemm->k * (double)taper_gemm_batch_count(batch);
    product_job job = {.entry = entry,
                       .vector = taper_vector_f32_select(run->cpu),
                       .batch = batch,
                       .a = gemm->a,
                       .b = gemm->b,
                       .c = gemm->c,
                       .m = (size_t)gemm->m,
                       .n = (size_t)gemm->n,
                       .k = (size_t)gemm->k,
                       .a_row = (size_t)gemm->a_row,
                       .a_column = (size_t)gemm->a_column,
                       .b_row = (size_t)gemm->b_row,
                       .b_column = (size_t)gemm->b_column,
                       .c_row = (size_t)gemm->c_row,
                       .count = (size_t)taper_gemm_batch_count(batch),
                       .add = gemm->add,
                       .shared = true};
    if (are_dots(gemm)) {
        run_dots(run, &job);
        return TAPER_OK;
    }
    for (size_t d = 0; d < batch->rank; d++) {
        job.shared = job.shared && (batch->sizes[d] == 1 || batch->b[d] == 0);
    }
    const size_t packed_floats = taper_gemm_f32_packed_count(entry->nr, job.n, 1, job.k);
    if (gemm->a_column != 1 && !taper_mul_size(job.m, job.k, &job.turned_floats)) {
        return TAPER_DECLINED;
    }
    job.panels = (job.n + entry->nr - 1) / entry->nr;
    job.panel_floats = (job.k + 1) * entry->nr;
    job.strips = (job.m + entry->mr - 1) / entry->mr;
    const size_t budget = taper_cpu_l2_bytes() / 2 / sizeof(float);
    job.block_panels = taper_max_size(1, taper_min_size(job.panels, budget / job.panel_floats));
    const unsigned threads = taper_pool_threads(run->pool);
    const bool apart = threads == 1 || job.count >= 2 * (size_t)threads;
    job.tasks = !apart || threads == 1 ? 1 : taper_min_size(job.count, 4 * (size_t)threads);
    job.turned_at = job.shared ? 0 : packed_floats;
    size_t bytes;
    if (packed_floats == 0 || packed_floats > SIZE_MAX / sizeof(float) ||
        !taper_add_size(job.turned_at, job.turned_floats, &job.scratch_floats) ||
        !taper_mul_size(job.scratch_floats, job.tasks, &bytes) || !taper_mul_size(bytes, sizeof(float), &bytes)) {
        return TAPER_DECLINED;
    }
    taper_gemm_kept own = {NULL, 0}, *const kept = gemm->kept != NULL && job.count == 1 ? gemm->kept : &own;
    if (job.shared && !pack_shared(run, &job, packed_floats, kept)) {
        return taper_fail_memory(run->error);
    }
    job.scratch = bytes != 0 ? taper_heap_alloc(run->heap, bytes) : NULL;
    if (job.scratch == NULL && bytes != 0) {
        taper_gemm_kept_free(run, &own);
        return taper_fail_memory(run->error);
    }
    float *const scratch = job.scratch;
    if (apart) {
        taper_pool_each(run->pool, run_matrices, &job, job.tasks);
    } else {
        run_in_turn(run, &job, threads);
    }
    taper_heap_free(run->heap, scratch, bytes);
    taper_gemm_kept_free(run, &own);
    return TAPER_OK;
}
