// SPDX-License-Identifier: BSD-2-Clause
// Products of doubles, and batches of small products of floats, by the kernels of native.h. The right matrix is copied
// to panels of eight columns; the left matrix is read in place. If all products have the same right matrix, its panels
// are made once, and the threads share the rows. Otherwise the threads share the products.
#include "ops/engine/matmul_blocks.h"

#include "ops/call/parallel.h"
#include "ops/kernels/kernel_select.h"

enum {
    WIDTH = TAPER_BLOCK_COLUMNS,
    DEPTH = 256,    // elements of a sum that is computed at once; the sums of such parts are added
    ROWS = 64,      // rows of the left matrix that are multiplied with all panels while they are in the cache
    SMALL = 8,      // largest number of columns and of summed elements of a small product of floats
    OWN = 1 << 16,  // largest number of elements of the panels of a thread
    LEAST_WORK = 64 // smallest number of multiplications for which panels are made
};

typedef struct blocks_job {
    const taper_native_entry *native;
    const taper_gemm *gemm;
    const taper_gemm_batch *batch;
    size_t count;        // number of products
    void *panels;        // panels that all threads use, or NULL
    taper_places places; // otherwise: memory for the panels of each thread
    int64_t product;     // number of the product whose rows the threads share
} blocks_job;

// Copies the columns of the right matrix to panels, and fills the last panel with zeros.
#define PACK(name, T)                                                                                                  \
    static void pack_##name(const taper_gemm *g, const T *b, T *to)                                                    \
    {                                                                                                                  \
        for (int64_t j = 0; j < g->n; j += WIDTH) {                                                                    \
            const int64_t columns = taper_min_i64(WIDTH, g->n - j);                                                    \
            for (int64_t p = 0; p < g->k; p++, to += WIDTH) {                                                          \
                const T *from = b + p * g->b_row + j * g->b_column;                                                    \
                if (columns == WIDTH && g->b_column == 1) {                                                            \
                    memcpy(to, from, WIDTH * sizeof *to);                                                              \
                    continue;                                                                                          \
                }                                                                                                      \
                for (int64_t c = 0; c < columns; c++) {                                                                \
                    to[c] = from[c * g->b_column];                                                                     \
                }                                                                                                      \
                for (int64_t c = columns; c < WIDTH; c++) {                                                            \
                    to[c] = 0;                                                                                         \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }
PACK(f32, float)
PACK(f64, double)
#undef PACK

static void pack(const blocks_job *job, int64_t b, void *to)
{
    if (job->gemm->dtype == TAPER_F32) {
        pack_f32(job->gemm, (const float *)job->gemm->b + b, to);
    } else {
        pack_f64(job->gemm, (const double *)job->gemm->b + b, to);
    }
}

// Multiplies rows of one product with the panels. a and c are at the product's first row.
#define MULTIPLY(name, T)                                                                                              \
    static void multiply_##name(const blocks_job *job, const T *panels, const T *a, T *c, size_t begin, size_t end)    \
    {                                                                                                                  \
        const taper_gemm *const g = job->gemm;                                                                         \
        for (size_t row = begin; row < end; row += ROWS) {                                                             \
            const size_t rows = taper_min_size(ROWS, end - row);                                                       \
            for (int64_t p = 0; p < g->k; p += DEPTH) {                                                                \
                const T *const left = a + (int64_t)row * g->a_row + p * g->a_column;                                   \
                for (int64_t j = 0; j < g->n; j += WIDTH) {                                                            \
                    job->native->block_##name(rows, (size_t)taper_min_i64(WIDTH, g->n - j),                            \
                                              (size_t)taper_min_i64(DEPTH, g->k - p), left, g->a_row, g->a_column,     \
                                              panels + j * g->k + p * WIDTH, c + (int64_t)row * g->c_row + j,          \
                                              g->c_row, g->add || p != 0);                                             \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }
MULTIPLY(f32, float)
MULTIPLY(f64, double)
#undef MULTIPLY

static void multiply(const blocks_job *job, const void *panels, int64_t a, int64_t c, size_t begin, size_t end)
{
    const taper_gemm *const g = job->gemm;
    if (g->dtype == TAPER_F32) {
        multiply_f32(job, panels, (const float *)g->a + a, (float *)g->c + c, begin, end);
    } else {
        multiply_f64(job, panels, (const double *)g->a + a, (double *)g->c + c, begin, end);
    }
}

// ---- the division among threads

static void products_range(void *argument, size_t begin, size_t end)
{
    const blocks_job *job = argument;
    void *const place = job->panels == NULL ? taper_place_take(&job->places, begin, job->count) : NULL;
    void *const own = place != NULL ? place : job->panels;
    for (size_t i = begin; i < end; i++) {
        int64_t a, b, c;
        taper_gemm_batch_at(job->batch, (int64_t)i, &a, &b, &c);
        if (place != NULL) {
            pack(job, b, own);
        }
        multiply(job, own, a, c, 0, (size_t)job->gemm->m);
    }
    taper_place_leave(place);
}

static void rows_range(void *argument, size_t begin, size_t end)
{
    const blocks_job *job = argument;
    int64_t a, b, c;
    taper_gemm_batch_at(job->batch, job->product, &a, &b, &c);
    multiply(job, job->panels, a, c, begin, end);
}

// Returns the estimated time of the products in nanoseconds.
static double work_of(const taper_gemm *g, double products)
{
    return products * ((double)g->m * (double)g->n * (double)g->k / 12 + (double)g->k * (double)g->n / 4 + 20);
}

// Computes the products one by one; the threads share the rows of each.
static taper_status run_rows(taper_run *run, blocks_job *job, bool shared)
{
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < job->count && status == TAPER_OK; i++) {
        int64_t a, b, c;
        job->product = (int64_t)i;
        taper_gemm_batch_at(job->batch, job->product, &a, &b, &c);
        if (i == 0 || !shared) {
            pack(job, b, job->panels);
        }
        status = taper_run_range(run, rows_range, job, (size_t)job->gemm->m, ROWS, work_of(job->gemm, 1));
    }
    return status;
}

static bool shares_right(const taper_gemm_batch *batch)
{
    for (size_t d = 0; d < batch->rank; d++) {
        if (batch->b[d] != 0 && batch->sizes[d] != 1) {
            return false;
        }
    }
    return true;
}

// Other kernels multiply larger matrices of floats faster. With few rows, sums along contiguous rows of the transposed
// right matrix take less time than panels.
static bool fits(const taper_run *run, const taper_gemm *g, double count)
{
    const double work = (double)g->m * (double)g->n * (double)g->k;
    if (run->portable || g->c_column != 1 || g->m < 2 || g->n < 2 || g->k < 1) {
        return false;
    }
    if (g->dtype == TAPER_F32) {
        return count >= 4 && g->k > 1 && g->k <= SMALL && g->n <= SMALL && g->m >= 4 && g->m <= ROWS &&
               (g->b_column == 1 || g->m >= 2 * g->n);
    }
    const bool sums = g->b_row == 1 && g->a_column == 1 && g->m <= 4 && g->k >= 32;
    return g->dtype == TAPER_F64 && !sums && work * count >= LEAST_WORK;
}

taper_status taper_gemm_blocks(taper_run *run, const taper_gemm *gemm, const taper_gemm_batch *batch)
{
    const size_t count = (size_t)taper_gemm_batch_count(batch);
    blocks_job job = {.gemm = gemm, .batch = batch, .count = count};
    size_t elements, bytes;
    if (!fits(run, gemm, (double)count)) {
        return TAPER_DECLINED;
    }
    job.native = taper_native_select(run->cpu);
    run->kernel = job.native->name;
    if (!taper_mul_size((size_t)gemm->k, ((size_t)gemm->n + WIDTH - 1) / WIDTH * WIDTH, &elements) ||
        !taper_mul_size(elements, taper_dtype_size(gemm->dtype), &bytes)) {
        return taper_fail_memory(run->error);
    }
    const bool shared = shares_right(batch), apart = count > 1 && gemm->m <= 2 * ROWS && elements <= OWN;
    const double work = work_of(gemm, (double)count);
    taper_status status;
    if (apart && !shared) {
        if (!taper_places_open(run, bytes, count, &job.places)) {
            return taper_fail_memory(run->error);
        }
        status = taper_run_range(run, products_range, &job, count, 1, work);
        taper_places_close(run, &job.places);
        return status;
    }
    job.panels = taper_heap_alloc(run->heap, bytes);
    if (job.panels == NULL) {
        return taper_fail_memory(run->error);
    }
    if (apart) {
        int64_t a, b, c;
        taper_gemm_batch_at(batch, 0, &a, &b, &c);
        pack(&job, b, job.panels);
        status = taper_run_range(run, products_range, &job, count, 1, work);
    } else {
        status = run_rows(run, &job, shared);
    }
    taper_heap_free(run->heap, job.panels, bytes);
    return status;
}
