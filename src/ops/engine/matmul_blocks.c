// SPDX-License-Identifier: BSD-2-Clause
// Products of doubles, and batches of small products of floats, by the kernels of native.h. The right matrix is copied
// to panels of eight columns; the left matrix is read in place. Small products are divided among the threads, each with
// panels of its own unless all products have the same right matrix. The threads share the tiles of larger products.
#include "ops/engine/matmul_blocks.h"

#include "ops/engine/tiles.h"

enum {
    WIDTH = TAPER_BLOCK_COLUMNS,
    DEPTH = 256,  // number of elements of a sum that one call adds; the sums of the calls are added afterwards
    ROWS = 64,    // largest number of rows of a strip of the left matrix, which stays in the cache
    FEW_ROWS = 4, // if the left matrix has fewer rows, a right matrix of over LITTLE elements gets no panels
    LITTLE = 1024,
    SMALL = 8,      // largest number of columns and of summed elements of a small product of floats
    OWN = 1 << 16,  // largest number of elements of the panels of a thread
    LEAST_WORK = 64 // smallest number of multiplications for which panels are made
};

typedef struct blocks_job {
    const taper_native_entry *native;
    const taper_gemm *gemm;
    const taper_gemm_batch *batch;
    size_t count;        // number of products
    size_t panel_count;  // number of panels of a right matrix
    void *panels;        // panels that all threads use, or NULL
    taper_places places; // if `panels` is NULL: memory for the panels of each thread
    taper_tiles tiles;   // division of a product whose tiles the threads share
    // Offsets of the left matrix (a), the right matrix (b) and the result (c) of the product whose tiles the threads
    // share.
    int64_t a, b, c;
} blocks_job;

// Copies columns of the right matrix to panels [first, end), and fills the unused columns of the last panel with zeros.
#define PACK(name, T)                                                                                                  \
    static void pack_##name(const taper_gemm *g, const T *b, size_t first, size_t end, T *to)                          \
    {                                                                                                                  \
        for (size_t panel = first; panel < end; panel++) {                                                             \
            const int64_t j = (int64_t)panel * WIDTH, columns = taper_min_i64(WIDTH, g->n - j);                        \
            T *out = to + j * g->k;                                                                                    \
            for (int64_t p = 0; p < g->k; p++, out += WIDTH) {                                                         \
                const T *from = b + p * g->b_row + j * g->b_column;                                                    \
                if (columns == WIDTH && g->b_column == 1) {                                                            \
                    memcpy(out, from, WIDTH * sizeof *out);                                                            \
                    continue;                                                                                          \
                }                                                                                                      \
                for (int64_t c = 0; c < WIDTH; c++) {                                                                  \
                    out[c] = c < columns ? from[c * g->b_column] : 0;                                                  \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }
PACK(f32, float)
PACK(f64, double)
#undef PACK

static void pack(const blocks_job *job, int64_t b, size_t first, size_t end, void *to)
{
    if (job->gemm->dtype == TAPER_F32) {
        pack_f32(job->gemm, (const float *)job->gemm->b + b, first, end, to);
    } else {
        pack_f64(job->gemm, (const double *)job->gemm->b + b, first, end, to);
    }
}

// Multiplies the rows and panels of a tile. `a` and `c` point to the product's first row.
#define MULTIPLY(name, T)                                                                                              \
    static void multiply_##name(const blocks_job *job, const T *panels, const T *a, T *c, const taper_tile *t)         \
    {                                                                                                                  \
        const taper_gemm *const g = job->gemm;                                                                         \
        const int64_t row = (int64_t)t->first;                                                                         \
        for (int64_t p = 0; p < g->k; p += DEPTH) {                                                                    \
            for (size_t panel = t->panel; panel < t->panel_end; panel++) {                                             \
                const int64_t j = (int64_t)panel * WIDTH;                                                              \
                job->native->block_##name(                                                                             \
                    t->count, (size_t)taper_min_i64(WIDTH, g->n - j), (size_t)taper_min_i64(DEPTH, g->k - p),          \
                    a + row * g->a_row + p * g->a_column, g->a_row, g->a_column, panels + j * g->k + p * WIDTH,        \
                    c + row * g->c_row + j, g->c_row, g->add || p != 0);                                               \
            }                                                                                                          \
        }                                                                                                              \
    }
MULTIPLY(f32, float)
MULTIPLY(f64, double)
#undef MULTIPLY

static void multiply(const blocks_job *job, const void *panels, int64_t a, int64_t c, const taper_tile *t)
{
    const taper_gemm *const g = job->gemm;
    if (g->dtype == TAPER_F32) {
        multiply_f32(job, panels, (const float *)g->a + a, (float *)g->c + c, t);
    } else {
        multiply_f64(job, panels, (const double *)g->a + a, (double *)g->c + c, t);
    }
}

// ---- the division among threads

static void products_range(void *argument, size_t begin, size_t end)
{
    const blocks_job *job = argument;
    const taper_tile all = {.count = (size_t)job->gemm->m, .panel_end = job->panel_count};
    void *const place = job->panels == NULL ? taper_place_take(&job->places, begin, job->count) : NULL;
    void *const own = place != NULL ? place : job->panels;
    for (size_t i = begin; i < end; i++) {
        int64_t a, b, c;
        taper_gemm_batch_at(job->batch, (int64_t)i, &a, &b, &c);
        if (place != NULL) {
            pack(job, b, 0, job->panel_count, own);
        }
        multiply(job, own, a, c, &all);
    }
    taper_place_leave(place);
}

static void panels_range(void *argument, size_t begin, size_t end)
{
    const blocks_job *job = argument;
    pack(job, job->b, begin, end, job->panels);
}

static void tiles_range(void *argument, size_t begin, size_t end)
{
    const blocks_job *job = argument;
    taper_tile t = taper_tile_at(&job->tiles, begin);
    for (size_t i = begin; i < end; i++) {
        multiply(job, job->panels, job->a, job->c, &t);
        if (i + 1 < end) {
            taper_tile_next(&job->tiles, &t);
        }
    }
}

// Returns the estimated time of the products in nanoseconds.
static double work_of(const taper_gemm *g, double products)
{
    return products * ((double)g->m * (double)g->n * (double)g->k / 12 + (double)g->k * (double)g->n / 4 + 20);
}

static taper_status make_panels(taper_run *run, blocks_job *job)
{
    return taper_run_floats(run, panels_range, job, job->panel_count, 2.0 * WIDTH * (double)job->gemm->k);
}

// Computes the products one by one; the threads share the tiles of each product.
static taper_status run_tiles(taper_run *run, blocks_job *job, bool shared)
{
    const taper_gemm *const g = job->gemm;
    const size_t row_bytes = (size_t)g->k * taper_dtype_size(g->dtype);
    job->tiles =
        taper_tiles_make(run, (size_t)g->m, ROWS, row_bytes, job->panel_count, WIDTH * row_bytes, work_of(g, 1));
    for (size_t i = 0; i < job->count; i++) {
        taper_gemm_batch_at(job->batch, (int64_t)i, &job->a, &job->b, &job->c);
        if (i == 0 || !shared) {
            TAPER_TRY(make_panels(run, job));
        }
        TAPER_TRY(taper_run_range(run, tiles_range, job, job->tiles.count, 1, work_of(g, 1)));
    }
    return TAPER_OK;
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

// Returns true if the kernels of this file are the fastest for `count` such products. Other kernels multiply larger
// matrices of floats faster. With few rows, sums along contiguous rows of the transposed right matrix take less time
// than panels.
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
    return g->dtype == TAPER_F64 && !sums && work * count >= LEAST_WORK &&
           (g->m >= FEW_ROWS || (double)g->k * (double)g->n <= LITTLE);
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
    job.panel_count = ((size_t)gemm->n + WIDTH - 1) / WIDTH;
    run->kernel = job.native->name;
    if (!taper_mul_size((size_t)gemm->k, job.panel_count * WIDTH, &elements) ||
        !taper_mul_size(elements, taper_dtype_size(gemm->dtype), &bytes)) {
        return taper_fail_memory(run->error);
    }
    const bool shared = shares_right(batch), apart = count > 1 && gemm->m <= 2 * ROWS && elements <= OWN;
    const double work = work_of(gemm, (double)count);
    taper_status status = TAPER_OK;
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
        status = make_panels(run, &job);
        status = status == TAPER_OK ? taper_run_range(run, products_range, &job, count, 1, work) : status;
    } else {
        status = run_tiles(run, &job, shared);
    }
    taper_heap_free(run->heap, job.panels, bytes);
    return status;
}
