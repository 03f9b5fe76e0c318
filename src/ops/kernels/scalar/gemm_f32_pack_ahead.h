// SPDX-License-Identifier: BSD-2-Clause
// Part of gemm_f32_pack.c: rows are transposed directly into the panel, and their memory is read ahead.
#ifndef TAPER_OPS_KERNELS_SCALAR_GEMM_F32_PACK_AHEAD_H
#define TAPER_OPS_KERNELS_SCALAR_GEMM_F32_PACK_AHEAD_H

// Completes rows of a panel that already contain `width` numbers: multiplies them by scale (NULL: 1), and fills the
// rows up to nr with zeros.
static void finish_rows(const float *restrict scale, size_t width, size_t rows, size_t nr, float *restrict to)
{
    enum { LANES = 8 };
    size_t j = 0;
    for (; scale != NULL && width - j >= LANES; j += LANES) {
        for (size_t i = 0; i < rows; i++) {
            for (size_t l = 0; l < LANES; l++) {
                to[i * nr + j + l] *= scale[j + l];
            }
        }
    }
    for (size_t i = 0; i < rows && (scale != NULL || width < nr); i++) {
        for (size_t l = j; scale != NULL && l < width; l++) {
            to[i * nr + l] *= scale[l];
        }
        memset(to + i * nr + width, 0, (nr - width) * sizeof *to);
    }
}

static void pack_turned(const taper_gemm_pack *pack, const float *from, const float *scale, size_t width, size_t depth,
                        size_t nr, float *block, float *to)
{
    (void)block;
    pack->transpose(width, depth, from, pack->n_stride, to, nr);
    finish_rows(scale, width, depth, nr, to);
}

// Reads the next numbers row by row. A CPU then sees one stream after the other and prefetches far ahead. A read column
// by column gives the CPU too many streams to prefetch. Packing then waits for each cache line.
static void read_ahead(const float *next, size_t count, size_t rows, size_t stride)
{
    const size_t step = TAPER_FETCH_LINE / sizeof *next;
    for (size_t j = 0; j < rows; j++) {
        const volatile float *row = next + j * stride;
        for (size_t i = 0; i < count; i += step) {
            (void)row[i];
        }
    }
}

// Returns the number of k for which a panel's rows fit into the L2 cache.
static size_t depth_ahead(const taper_gemm_pack *pack, size_t width)
{
    enum { MOST_AHEAD = 1 << 17 };
    const size_t blocks = MOST_AHEAD / (width * pack->ks * PACK_DEPTH * sizeof *pack->weights);
    return (blocks != 0 ? blocks : 1) * PACK_DEPTH;
}

static void read_panel_ahead(const taper_gemm_pack *pack, size_t n, size_t width, size_t k)
{
    const size_t most = depth_ahead(pack, width);
    if (k % most != 0)
        return;
    const size_t depth = pack->kc - k < most ? pack->kc - k : most;
    const float *source = pack->weights + n * pack->n_stride;
    if (pack->k_stride != 1) {
        read_ahead(source + k * pack->ks, depth * pack->ks, width, pack->n_stride);
        return;
    }
    for (size_t tap = 0; tap < pack->ks; tap++) {
        read_ahead(source + tap * pack->tap_stride + k, depth, width, pack->n_stride);
    }
}

#endif
