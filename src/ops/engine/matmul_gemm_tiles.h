// SPDX-License-Identifier: BSD-2-Clause
// Part of matmul_gemm.c: tiles of doubles and integers, products of complex matrices, and very small products.
#ifndef TAPER_OPS_ENGINE_MATMUL_GEMM_TILES_H
#define TAPER_OPS_ENGINE_MATMUL_GEMM_TILES_H

PLAIN_TILE(f64, double)

static bool has_tile(taper_dtype dtype)
{
    return dtype != TAPER_C128;
}

static void run_tiles(taper_run *run, const taper_gemm *gemm, void *pack)
{
    switch (gemm->dtype) {
    case TAPER_F32:
        tiled_f32(run, gemm, pack, plain_tile_f32);
        break;
    case TAPER_F64:
        tiled_f64(run, gemm, pack, plain_tile_f64);
        break;
    default:
        tiled_u64(run, gemm, pack, taper_native_select(run->portable ? TAPER_ISA_scalar : run->cpu)->tile_u64);
        break;
    }
}

static bool is_tiny(const taper_gemm *gemm)
{
    return gemm->dtype == TAPER_F32 && (double)gemm->m * (double)gemm->n * ((double)gemm->k + 1) <= TINY;
}

static void tiny_f32(const taper_gemm *gemm)
{
    // Addresses are computed for each element, because a dimension of size 1 may have any stride, and a pointer that is
    // advanced by it would leave the matrix.
    for (int64_t i = 0; i < gemm->m; i++) {
        const float *a = (const float *)gemm->a + i * gemm->a_row;
        float *c = (float *)gemm->c + i * gemm->c_row;
        for (int64_t j = 0; j < gemm->n; j++) {
            const float *b = (const float *)gemm->b + j * gemm->b_column;
            float sum = 0;
            for (int64_t p = 0; p < gemm->k; p++) {
                sum += a[p * gemm->a_column] * b[p * gemm->b_row];
            }
            c[j * gemm->c_column] = gemm->add ? c[j * gemm->c_column] + sum : sum;
        }
    }
}

// A complex product is computed as a real product of twice the depth and width. The right matrix of the real product
// has the square [re im; -im re] for each complex number. The left matrix and the result are used in place, as pairs of
// reals. The squares are made block by block, for CB columns and CB elements of k at a time. SMALLEST: smallest number
// of multiplications for which this method is used.
enum { CB = 128, SMALLEST = 4096 };

static bool has_pairs(const taper_gemm *gemm)
{
    return gemm->dtype == TAPER_C128 && gemm->c_column == 1 && gemm->m >= MR / 2 && gemm->n >= NR / 2 &&
           (double)gemm->m * (double)gemm->n * (double)gemm->k >= SMALLEST;
}

static void squares_of(const taper_gemm *gemm, int64_t p0, int64_t kb, int64_t j0, int64_t nb, double *to)
{
    for (int64_t p = 0; p < kb; p++, to += 4 * nb) {
        for (int64_t j = 0; j < nb; j++) {
            const double *b = (const double *)gemm->b + 2 * ((p0 + p) * gemm->b_row + (j0 + j) * gemm->b_column);
            to[2 * j] = to[2 * nb + 2 * j + 1] = b[0];
            to[2 * j + 1] = b[1];
            to[2 * nb + 2 * j] = -b[1];
        }
    }
}

static taper_status run_pairs(taper_run *run, const taper_gemm *gemm)
{
    const size_t squares = 4 * CB * CB, rows = 2 * CB * CB, bytes = (squares + rows) * sizeof(double);
    double *const right = taper_heap_alloc(run->heap, bytes);
    if (right == NULL) {
        return taper_fail_memory(run->error);
    }
    double *const left = right + squares;
    taper_status status = TAPER_OK;
    for (int64_t j0 = 0; j0 < gemm->n && status == TAPER_OK; j0 += CB) {
        const int64_t nb = taper_min_i64(CB, gemm->n - j0);
        for (int64_t p0 = 0; p0 < gemm->k && status == TAPER_OK; p0 += CB) {
            const int64_t kb = taper_min_i64(CB, gemm->k - p0);
            if (!taper_run_goes_on(run, (uint64_t)(kb * nb) * 4)) {
                break;
            }
            squares_of(gemm, p0, kb, j0, nb, right);
            for (int64_t i0 = 0; i0 < gemm->m && status == TAPER_OK; i0 += CB) {
                const int64_t mb = taper_min_i64(CB, gemm->m - i0);
                const double *a = (const double *)gemm->a + 2 * (i0 * gemm->a_row + p0 * gemm->a_column);
                taper_gemm part = {.dtype = TAPER_F64,
                                   .m = mb,
                                   .n = 2 * nb,
                                   .k = 2 * kb,
                                   .a = a,
                                   .a_row = 2 * gemm->a_row,
                                   .a_column = 1,
                                   .b = right,
                                   .b_row = 2 * nb,
                                   .b_column = 1,
                                   .c = (double *)gemm->c + 2 * (i0 * gemm->c_row + j0),
                                   .c_row = 2 * gemm->c_row,
                                   .c_column = 1,
                                   .add = gemm->add || p0 != 0};
                if (gemm->a_column != 1) { // the pairs of a row are not contiguous
                    if (!taper_run_goes_on(run, (uint64_t)(mb * kb) * 4)) {
                        break;
                    }
                    for (int64_t i = 0; i < mb * kb; i++) {
                        const double *x = a + 2 * (i / kb * gemm->a_row + i % kb * gemm->a_column);
                        left[2 * i] = x[0];
                        left[2 * i + 1] = x[1];
                    }
                    part.a = left;
                    part.a_row = 2 * kb;
                }
                status = taper_gemm_run(run, &part);
            }
        }
    }
    taper_heap_free(run->heap, right, bytes);
    return status;
}

#endif
