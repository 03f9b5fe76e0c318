// SPDX-License-Identifier: BSD-2-Clause
// The product of strided matrices that the reference operators use. It packs blocks of both matrices and multiplies
// them tile by tile. Small products, and products of few rows, are computed without packing.
#include "ops/engine/matmul_blocks.h"
#include "ops/kernels/kernel_select.h"

// The definition that compilers link if they call the inline function instead of inlining it.
extern taper_scalar taper_scalar_one(void);

enum {
    MR = TAPER_TILE_ROWS,
    NR = TAPER_TILE_COLUMNS,
    KC = 256,
    MC = 64, // number of rows of a block, a multiple of MR
    NC = 256 // number of columns of a block, a multiple of NR
};

typedef void tile_function_f32(const float *a, const float *b, int64_t k, float *sums);
#define ELEMENT float
#define NAME(x) x##_f32
#include "ops/engine/matmul_tile.h"
#undef ELEMENT
#undef NAME

typedef void tile_function_f64(const double *a, const double *b, int64_t k, double *sums);
#define ELEMENT double
#define NAME(x) x##_f64
#include "ops/engine/matmul_tile.h"
#undef ELEMENT
#undef NAME

// Integers are multiplied as unsigned integers, so that they wrap around.
typedef taper_tile_u64 tile_function_u64;
#define ELEMENT uint64_t
#define NAME(x) x##_u64
#include "ops/engine/matmul_tile.h"
#undef ELEMENT
#undef NAME

// Multiplies a tile if there is no kernel for it.
#define PLAIN_TILE(name, T)                                                                                            \
    static void plain_tile_##name(const T *a, const T *b, int64_t k, T *sums)                                          \
    {                                                                                                                  \
        T s[MR][NR] = {{0}};                                                                                           \
        for (int64_t p = 0; p < k; p++, a += MR, b += NR) {                                                            \
            for (int r = 0; r < MR; r++) {                                                                             \
                for (int c = 0; c < NR; c++) {                                                                         \
                    s[r][c] += a[r] * b[c];                                                                            \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        memcpy(sums, s, sizeof s);                                                                                     \
    }
PLAIN_TILE(f32, float)

// Computes a product of complex matrices without packing. The real and imaginary parts of an element are neighbours.
static void simple_c128(taper_run *run, const taper_gemm *gemm)
{
    for (int64_t i = 0; i < gemm->m; i++) {
        for (int64_t j = 0; j < gemm->n; j++) {
            const double *a = (const double *)gemm->a + 2 * i * gemm->a_row;
            const double *b = (const double *)gemm->b + 2 * j * gemm->b_column;
            double re = 0.0, im = 0.0;
            for (int64_t p = 0; p < gemm->k; p++) {
                if (p % KC == 0 && !taper_run_goes_on(run, 2 * KC)) {
                    return;
                }
                const double *x = a + 2 * p * gemm->a_column, *y = b + 2 * p * gemm->b_row;
                re += x[0] * y[0] - x[1] * y[1];
                im += x[0] * y[1] + x[1] * y[0];
            }
            double *c = (double *)gemm->c + 2 * (i * gemm->c_row + j * gemm->c_column);
            c[0] = gemm->add ? c[0] + re : re;
            c[1] = gemm->add ? c[1] + im : im;
        }
    }
}

// Largest number of multiplications of a product for which choosing a method takes longer than multiplying.
enum { TINY = 256 };
#include "ops/engine/matmul_gemm_tiles.h"
#undef PLAIN_TILE

static void gemm_simple(taper_run *run, const taper_gemm *gemm)
{
    switch (gemm->dtype) {
    case TAPER_F32:
        simple_f32(run, gemm);
        break;
    case TAPER_F64:
        simple_f64(run, gemm);
        break;
    case TAPER_I64:
        simple_u64(run, gemm);
        break;
    default:
        simple_c128(run, gemm);
        break;
    }
}

static taper_status run_one(taper_run *run, const taper_gemm *gemm)
{
    if (has_pairs(gemm)) {
        return run_pairs(run, gemm);
    }
    taper_gemm turned = *gemm;
    if (gemm->n < gemm->m && gemm->n < MR) { // computes the transpose, c' = b' a', which has fewer rows
        turned = (taper_gemm){.dtype = gemm->dtype,
                              .m = gemm->n,
                              .n = gemm->m,
                              .k = gemm->k,
                              .a = gemm->b,
                              .a_row = gemm->b_column,
                              .a_column = gemm->b_row,
                              .b = gemm->a,
                              .b_row = gemm->a_column,
                              .b_column = gemm->a_row,
                              .c = gemm->c,
                              .c_row = gemm->c_column,
                              .c_column = gemm->c_row,
                              .add = gemm->add};
    }
    if (!has_tile(turned.dtype) || turned.m < MR || turned.k < 4 ||
        (double)turned.m * (double)turned.n * (double)turned.k < 8192.0) {
        gemm_simple(run, &turned);
        return TAPER_OK;
    }
    const size_t item = turned.dtype == TAPER_F32 ? 4 : 8;
    const size_t bytes = item * KC * (MC + NC);
    void *pack = taper_heap_alloc(run->heap, bytes);
    if (pack == NULL) {
        return taper_fail_memory(run->error);
    }
    run_tiles(run, &turned, pack);
    taper_heap_free(run->heap, pack, bytes);
    return TAPER_OK;
}

static taper_status run_each(taper_run *run, const taper_gemm *gemm, const taper_gemm_batch *batch)
{
    const int64_t item = (int64_t)taper_dtype_size(gemm->dtype), count = taper_gemm_batch_count(batch);
    taper_gemm one = *gemm;
    const bool tiny = is_tiny(gemm);
    for (int64_t i = 0; i < count; i++) {
        int64_t a, b, c;
        taper_gemm_batch_at(batch, i, &a, &b, &c);
        one.a = (const char *)gemm->a + a * item;
        one.b = (const char *)gemm->b + b * item;
        one.c = (char *)gemm->c + c * item;
        if (tiny) {
            enum { TOGETHER = 16 };
            if (i % TOGETHER == 0) {
                TAPER_TRY(taper_run_spend(run, TINY * TOGETHER));
            }
            tiny_f32(&one);
            continue;
        }
        TAPER_TRY(run_one(run, &one));
        TAPER_TRY(taper_run_spend(run, 20));
    }
    return TAPER_OK;
}

enum {
    DEEPEST = 1 << 20
}; // largest number of summed elements for one kernel call, because a kernel cannot be stopped within a sum

static taper_status run_packed(taper_run *run, const taper_gemm *gemm, const taper_gemm_batch *batch)
{
    taper_gemm part = *gemm;
    for (int64_t at = 0; gemm->k > DEEPEST && at < gemm->k; at += DEEPEST, part.add = true) {
        part.k = taper_min_i64(DEEPEST, gemm->k - at);
        part.a = (const float *)gemm->a + at * gemm->a_column;
        part.b = (const float *)gemm->b + at * gemm->b_row;
        const taper_status status = taper_gemm_packed(run, &part, batch);
        if (status == TAPER_DECLINED && at != 0) { // the kernels decline the remaining depth, which is too small
            return run_each(run, &part, batch);
        }
        TAPER_TRY(status);
        TAPER_TRY(taper_run_spend(run, DEEPEST));
    }
    return gemm->k > DEEPEST ? TAPER_OK : taper_gemm_packed(run, gemm, batch);
}

taper_status taper_gemm_run_batch(taper_run *run, const taper_gemm *gemm, const taper_gemm_batch *batch)
{
    if (gemm->m <= 0 || gemm->n <= 0) {
        return TAPER_OK;
    }
    for (size_t d = 0; d < batch->rank; d++) {
        if (batch->sizes[d] <= 0) {
            return TAPER_OK;
        }
    }
    taper_gemm one = *gemm;
    if (one.k <= 0) { // an empty matrix is not read and may have any strides
        one.a_row = one.a_column = one.b_row = one.b_column = 0;
    }
    taper_status status = taper_gemm_blocks(run, &one, batch);
    if (status == TAPER_DECLINED && !run->portable && gemm->dtype == TAPER_F32) {
        status = run_packed(run, &one, batch);
    }
    return status == TAPER_DECLINED ? run_each(run, &one, batch) : status;
}

taper_status taper_gemm_run(taper_run *run, const taper_gemm *gemm)
{
    const taper_gemm_batch single = {.rank = 0};
    return taper_gemm_run_batch(run, gemm, &single);
}
