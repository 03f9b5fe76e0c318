// SPDX-License-Identifier: BSD-2-Clause
// Products of two matrices that both change from call to call (attention, einsum, matmul). The right matrices are
// packed for the gemm kernels first; a matrix that all products of the batch share is packed once. If there are many
// products, each thread computes whole products; otherwise the threads share the tiles of each product. Rows of the
// left matrix must be contiguous, or they are copied. A product of a few rows with a transposed matrix (for example in
// a recurrent cell whose weights change) is computed as dot products with the matrix's rows in place.
#include <math.h>
#include <stdint.h>

#include "ops/engine/matmul.h"
#include "ops/engine/tiles.h"

typedef struct product_job {
    const taper_gemm_entry *entry;
    const taper_vector_entry *vector;
    const taper_planar_entry *planar;
    const taper_gemm_batch *batch;
    const float *a, *b;
    float *c;
    size_t m, n, k;
    size_t a_row, a_column, b_row, b_column, c_row;
    size_t panel_floats;
    taper_tiles tiles;    // division of one product into tiles
    size_t count;         // number of products
    size_t turned_floats; // number of floats of a contiguous copy of a left matrix; 0 if no copy is needed
    // Memory per thread: the packed right matrix unless it is shared, then the copy of the left matrix.
    taper_places scratch;
    size_t turned_at;    // offset of the left matrix's copy in `scratch`, in floats
    float *own, *target; // if threads share a product: the scratch memory, and the packed right matrix
    bool shared, add;    // shared: all products have the same right matrix; add: products are added to the result
    // The left matrix, the right matrix and the packed right matrix of the current product, if the threads share it.
    const float *left, *right, *packed;
    size_t left_stride;
    float *result;
} product_job;

static const double APART = 300e3; // nanoseconds; a product that takes longer is shared by the threads, tile by tile

// ---- packing of matrices

static void pack_panels(const product_job *job, const float *b, size_t first, size_t last, float *packed)
{
    const size_t nr = job->entry->nr;
    for (size_t p = first; p < last; p++) {
        const size_t column = p * nr, width = taper_min_size(nr, job->n - column);
        const float *from = b + column * job->b_column;
        float *to = packed + p * job->panel_floats;
        memset(to, 0, nr * sizeof *to); // the panel begins with a zero bias
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

// Copies rows [first, last) of the left matrix to contiguous rows.
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

// ---- products with packed matrices

static void multiply(const product_job *job, const float *a, size_t a_stride, const float *packed, float *c,
                     size_t begin, size_t end)
{
    taper_tile t = taper_tile_at(&job->tiles, begin);
    for (size_t i = begin; i < end; taper_tile_next(&job->tiles, &t)) {
        i += taper_tile_join(&job->tiles, &t, end - i);
        const size_t column = t.panel * job->entry->nr;
        const size_t columns = taper_min_size(t.panel_end * job->entry->nr, job->n) - column;
        float *to = c + t.first * job->c_row + column;
        const taper_gemm_epilogue e = {
            .add = job->add ? to : NULL, .add_stride = job->c_row, .min = -INFINITY, .max = INFINITY};
        job->entry->gemm(t.count, columns, job->k, a + t.first * a_stride, a_stride,
                         packed + t.panel * job->panel_floats, to, job->c_row, &e);
    }
}

static void run_matrices(void *argument, size_t begin, size_t end)
{
    const product_job *job = argument;
    float *const own = taper_place_take(&job->scratch, begin, job->count); // NULL if no matrix is packed or copied
    float *const rows = own != NULL ? own + job->turned_at : NULL;
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
            pack_panels(job, job->b + at_b, 0, job->tiles.panels, own);
        }
        multiply(job, a, a_stride, job->shared ? job->packed : own, job->c + at_c, 0, job->tiles.count);
    }
    taper_place_leave(own);
}

static void pack_range(void *argument, size_t begin, size_t end)
{
    const product_job *job = argument;
    pack_panels(job, job->b, begin, end, job->target);
}

static void turn_range(void *argument, size_t begin, size_t end)
{
    const product_job *job = argument;
    turn_rows(job, job->a, begin, end, job->own + job->turned_at);
}

static void run_tiles(void *argument, size_t begin, size_t end)
{
    const product_job *job = argument;
    multiply(job, job->left, job->left_stride, job->packed, job->result, begin, end);
}

// Computes the products one after the other, each with all threads.
static taper_status run_in_turn(taper_run *run, product_job *job, double work)
{
    const float *const a = job->a, *const b = job->b;
    for (size_t i = 0; i < job->count; i++) {
        int64_t at_a, at_b, at_c;
        taper_gemm_batch_at(job->batch, (int64_t)i, &at_a, &at_b, &at_c);
        job->a = a + at_a;
        job->b = b + at_b;
        job->result = job->c + at_c;
        job->left = job->a;
        job->left_stride = job->a_row;
        if (job->turned_floats != 0) {
            TAPER_TRY(taper_run_floats(run, turn_range, job, job->m, (double)job->k));
            job->left = job->own + job->turned_at;
            job->left_stride = job->k;
        }
        if (!job->shared) {
            job->packed = job->target = job->own;
            TAPER_TRY(taper_run_floats(run, pack_range, job, job->tiles.panels, (double)job->panel_floats));
        }
        TAPER_TRY(taper_run_range(run, run_tiles, job, job->tiles.count, 1, work));
    }
    return TAPER_OK;
}

// ---- products of few rows with a transposed matrix

enum { DOT_GRAIN = 64 };

static void dots_range(void *argument, size_t begin, size_t end)
{
    const product_job *job = argument;
    for (size_t i = 0; i < job->m; i++) {
        float *c = job->result + i * job->c_row + begin;
        job->vector->gemv(end - begin, job->k, job->left + i * job->a_row, job->right + begin * job->b_column,
                          job->b_column, job->add ? c : NULL, c, -INFINITY, INFINITY);
    }
}

static bool are_dots(const taper_gemm *gemm)
{
    return gemm->m <= TAPER_GEMM_FEW_ROWS && gemm->b_row == 1 && gemm->b_column >= 0 && gemm->a_column == 1 &&
           gemm->a_row >= 0 && gemm->c_column == 1 && gemm->c_row >= 0 && gemm->k >= 8;
}

static taper_status run_dots(taper_run *run, product_job *job, taper_range_task task, size_t items)
{
    for (size_t i = 0; i < job->count; i++) {
        int64_t at_a, at_b, at_c;
        taper_gemm_batch_at(job->batch, (int64_t)i, &at_a, &at_b, &at_c);
        job->left = job->a + at_a;
        job->right = job->b + at_b;
        job->result = job->c + at_c;
        TAPER_TRY(taper_run_range(run, task, job, items, DOT_GRAIN,
                                  taper_floats_work((double)job->n * (double)job->m * (double)job->k)));
    }
    return TAPER_OK;
}

// ---- products with few rows, for which the right matrix is not packed

// If the left matrix has only a few rows, packing the right matrix would take longer than the product. The planar
// kernels then read the right matrix in place, with its rows as planes. MOST_ROWS: largest number of rows for this
// method. LEAST_COLUMNS: number of columns of a block, the part of the columns that a task computes.
enum { MOST_ROWS = 16, LEAST_COLUMNS = 64 };

// Packs rows of the left matrix as weights for planar_f32.h, a block of outputs at a time.
static void pack_rows(const product_job *job, size_t block, float *to)
{
    for (size_t first = 0, rows; first < job->m; first += rows) {
        rows = taper_min_size(block, job->m - first);
        memset(to, 0, rows * sizeof *to);
        to += rows;
        for (size_t k = 0; k < job->k; k++) {
            for (size_t i = 0; i < rows; i++) {
                *to++ = job->left[(first + i) * job->a_row + k * job->a_column];
            }
        }
    }
}

// Computes blocks [begin, end) of LEAST_COLUMNS columns. The last block also contains the columns that remain.
static void rows_range(void *argument, size_t begin, size_t end)
{
    static const size_t none[] = {0};
    const product_job *job = argument;
    const taper_planar_entry *entry = job->planar;
    const size_t first = begin * LEAST_COLUMNS;
    const size_t last = end == job->n / LEAST_COLUMNS ? job->n : end * LEAST_COLUMNS;
    const size_t whole = (last - first) / entry->lanes * entry->lanes;
    taper_planar p = {.inputs = job->k,
                      .taps = 1,
                      .x_plane = job->b_row,
                      .offsets = none,
                      .y_plane = job->c_row,
                      .w = job->own,
                      .min = -INFINITY,
                      .max = INFINITY};
    for (size_t row = 0; row < job->m; row += p.outputs) {
        p.outputs = taper_min_size(entry->block, job->m - row);
        p.x = job->right + first;
        p.y = job->result + row * job->c_row + first;
        entry->run(&p, whole);
        // The last vector overlaps the one before it, so that nothing is read beyond the row.
        if (first + whole != last) {
            p.x = job->right + last - entry->lanes;
            p.y = job->result + row * job->c_row + last - entry->lanes;
            entry->run(&p, entry->lanes);
        }
        p.w += p.outputs * (1 + job->k);
    }
}

#include "ops/engine/matmul_packed_rows.h"

static taper_status run_rows(taper_run *run, product_job *job)
{
    size_t floats, bytes;
    if (!taper_mul_size(job->m, job->k + 1, &floats) || !taper_mul_size(floats, sizeof(float), &bytes)) {
        return taper_fail_memory(run->error);
    }
    job->planar = taper_planar_f32_select(run->cpu);
    job->own = taper_heap_alloc(run->heap, bytes);
    taper_status status = job->own != NULL ? TAPER_OK : taper_fail_memory(run->error);
    for (size_t i = 0; i < job->count && status == TAPER_OK; i++) {
        int64_t at_a, at_b, at_c;
        taper_gemm_batch_at(job->batch, (int64_t)i, &at_a, &at_b, &at_c);
        job->left = job->a + at_a;
        job->right = job->b + at_b;
        job->result = job->c + at_c;
        pack_rows(job, job->planar->block, job->own);
        status = taper_run_range(run, rows_range, job, job->n / LEAST_COLUMNS, 1,
                                 taper_floats_work((double)job->n * (double)job->m * (double)job->k));
    }
    taper_heap_free(run->heap, job->own, bytes);
    return status;
}

// ---- products with few columns

enum { FEW_COLUMNS = 4, LEAST_DEPTH = 32, MOST_DEPTH = 1024 };

// Copies each column to contiguous memory, and multiplies it with the left matrix's rows, which are contiguous.
static void columns_range(void *argument, size_t begin, size_t end)
{
    const product_job *job = argument;
    float column[MOST_DEPTH], made[DOT_GRAIN];
    for (size_t j = 0; j < job->n; j++) {
        for (size_t k = 0; k < job->k; k++) {
            column[k] = job->right[k * job->b_row + j * job->b_column];
        }
        for (size_t i = begin, count; i < end; i += count) {
            float *to = job->result + i * job->c_row + j;
            count = taper_min_size(DOT_GRAIN, end - i);
            job->vector->gemv(count, job->k, column, job->left + i * job->a_row, job->a_row, NULL, made, -INFINITY,
                              INFINITY);
            for (size_t r = 0; r < count; r++) {
                to[r * job->c_row] = job->add ? to[r * job->c_row] + made[r] : made[r];
            }
        }
    }
}

#include "ops/engine/matmul_packed_shapes.h"

static bool does(const taper_gemm *gemm)
{
    if (gemm->k <= 0 || gemm->c_column != 1 || gemm->a_row < 0 || gemm->a_column < 0 || gemm->b_row < 0 ||
        gemm->b_column < 0 || gemm->c_row < 0) {
        return false;
    }
    // For few rows packing takes too long, and for tiny products the call of the kernel takes too long.
    const int64_t least = least_rows(gemm), depth = least_depth(gemm);
    return gemm->m >= least && gemm->k >= depth && (double)gemm->m * (double)gemm->n * (double)gemm->k >= 256.0;
}

// Packs the right matrix that all products share. The caller frees *data.
static taper_status pack_shared(taper_run *run, product_job *job, size_t floats, float **data)
{
    *data = taper_heap_alloc(run->heap, floats * sizeof(float));
    if (*data == NULL) {
        return taper_fail_memory(run->error);
    }
    job->packed = job->target = *data;
    return taper_run_floats(run, pack_range, job, job->tiles.panels, (double)job->panel_floats);
}

taper_status taper_gemm_packed(taper_run *run, const taper_gemm *gemm, const taper_gemm_batch *batch)
{
    if (!are_dots(gemm) && !are_columns(gemm) && !does(gemm)) {
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
        return run_dots(run, &job, dots_range, job.n);
    }
    if (are_columns(gemm)) {
        return run_dots(run, &job, columns_range, job.m);
    }
    for (size_t d = 0; d < batch->rank; d++) {
        job.shared = job.shared && (batch->sizes[d] == 1 || batch->b[d] == 0);
    }
    if (are_rows(gemm, &job)) {
        return run_rows(run, &job);
    }
    const size_t packed_floats = taper_gemm_f32_packed_count(entry->nr, job.n, 1, job.k);
    if (gemm->a_column != 1 && !taper_mul_size(job.m, job.k, &job.turned_floats)) {
        return TAPER_DECLINED;
    }
    job.panel_floats = (job.k + 1) * entry->nr;
    const double work =
        taper_gemm_work(entry, 2.0 * (double)job.m * (double)job.n * (double)job.k, (double)job.n * (double)job.k) +
        taper_floats_work((job.shared ? 0 : (double)packed_floats) + (double)job.turned_floats);
    const size_t threads = taper_pool_threads(run->pool);
    const bool apart = threads == 1 || (job.count >= 2 * threads && work < APART);
    job.tiles = taper_tiles_make(run, job.m, entry->mr, job.k * sizeof(float), (job.n + entry->nr - 1) / entry->nr,
                                 job.panel_floats * sizeof(float), apart ? 0 : work);
    job.turned_at = job.shared ? 0 : packed_floats;
    size_t floats, bytes;
    if (packed_floats == 0 || packed_floats > SIZE_MAX / sizeof(float) ||
        !taper_add_size(job.turned_at, job.turned_floats, &floats) || !taper_mul_size(floats, sizeof(float), &bytes)) {
        return TAPER_DECLINED;
    }
    float *shared = NULL;
    taper_status status = job.shared ? pack_shared(run, &job, packed_floats, &shared) : TAPER_OK;
    if (status != TAPER_OK) {
        job.scratch = (taper_places){0};
    } else if (!taper_places_open(run, bytes, apart ? job.count : 1, &job.scratch)) {
        status = taper_fail_memory(run->error);
    } else if (apart) {
        status = taper_run_range(run, run_matrices, &job, job.count, 1, work * (double)job.count);
    } else {
        job.own = taper_place_take(&job.scratch, 0, 1);
        status = run_in_turn(run, &job, work);
    }
    taper_places_close(run, &job.scratch);
    taper_heap_free(run->heap, shared, shared != NULL ? packed_floats * sizeof(float) : 0);
    return status;
}
