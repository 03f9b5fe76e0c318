// SPDX-License-Identifier: BSD-2-Clause
// The functions of fft_f32.h. FFT_ENTRY(instruction set) defines the entry. The including file is built with that set's
// flags.
#include "ops/kernels/fft_f32.h"

enum { LANES = TAPER_FFT_LANES };

#define FFT_REAL float
#define FFT_LANES TAPER_FFT_LANES
#define FFT_NAME(name) fft_##name
#include "ops/kernels/fft_radix_tmpl.h"

#include "ops/kernels/fft_lines_tmpl.h"
#undef FFT_REAL
#undef FFT_LANES
#undef FFT_NAME

#define FFT_REAL double
#define FFT_LANES TAPER_FFT_LANES
#define FFT_NAME(name) fft_wide_##name
#include "ops/kernels/fft_radix_tmpl.h"

#include "ops/kernels/fft_lines_tmpl.h"
#undef FFT_REAL
#undef FFT_LANES
#undef FFT_NAME

// Writes contiguous rows of lanes, from numbers that are x_step apart.
static void fft_to_lanes(size_t count, const double *restrict x, size_t x_step, double *restrict y, size_t y_step)
{
    for (size_t k = 0; k < count; k++, y += y_step) {
        for (size_t l = 0; l < LANES; l++)
            y[l] = x[l * x_step + k];
    }
}

static void fft_of_lanes(size_t count, const double *restrict x, size_t x_step, double *restrict y, size_t y_step)
{
    size_t k = 0;
    for (; k + LANES <= count; k += LANES, x += LANES * x_step) {
        for (size_t l = 0; l < LANES; l++) {
            for (size_t q = 0; q < LANES; q++)
                y[l * y_step + k + q] = x[q * x_step + l];
        }
    }
    for (; k < count; k++, x += x_step) {
        for (size_t l = 0; l < LANES; l++)
            y[l * y_step + k] = x[l];
    }
}

// Combines eight points at a time: transposes their lanes to numbers of eight lines, then computes a transform of
// eight.
static void fft_merge(size_t m, const float *restrict w, const float *restrict in, float *restrict out)
{
    const float root = 0.70710678118654752440f;
    for (size_t k = 0; k < m; k += LANES) {
        float re[LANES][LANES], im[LANES][LANES], to[LANES][2][LANES];
        for (size_t q = 0; q < LANES; q++, in += 2 * LANES, w += 2 * LANES) {
            for (size_t l = 0; l < LANES; l++) {
                re[l][q] = in[l] * w[l] - in[LANES + l] * w[LANES + l];
                im[l][q] = in[l] * w[LANES + l] + in[LANES + l] * w[l];
            }
        }
        for (size_t q = 0; q < LANES; q++) {
            const float a0 = re[0][q] + re[4][q], a0i = im[0][q] + im[4][q], a1 = re[0][q] - re[4][q],
                        a1i = im[0][q] - im[4][q];
            const float a2 = re[2][q] + re[6][q], a2i = im[2][q] + im[6][q], a3 = re[2][q] - re[6][q],
                        a3i = im[2][q] - im[6][q];
            const float b0 = re[1][q] + re[5][q], b0i = im[1][q] + im[5][q], b1 = re[1][q] - re[5][q],
                        b1i = im[1][q] - im[5][q];
            const float b2 = re[3][q] + re[7][q], b2i = im[3][q] + im[7][q], b3 = re[3][q] - re[7][q],
                        b3i = im[3][q] - im[7][q];
            to[0][0][q] = a0 + a2 + (b0 + b2), to[0][1][q] = a0i + a2i + (b0i + b2i);
            to[4][0][q] = a0 + a2 - (b0 + b2), to[4][1][q] = a0i + a2i - (b0i + b2i);
            to[2][0][q] = a0 - a2 + (b0i - b2i), to[2][1][q] = a0i - a2i - (b0 - b2);
            to[6][0][q] = a0 - a2 - (b0i - b2i), to[6][1][q] = a0i - a2i + (b0 - b2);
            // The odd results come from a1 - i a3 and (b1 - i b3) * (1 - i) / sqrt(2), and from a1 + i a3 and (b1 + i
            // b3) * (-1 - i) / sqrt(2).
            const float e1 = a1 + a3i, e1i = a1i - a3, e3 = a1 - a3i, e3i = a1i + a3;
            const float o1 = b1 + b3i, o1i = b1i - b3, o3 = b1 - b3i, o3i = b1i + b3;
            const float p = root * (o1 + o1i), pi = root * (o1i - o1), r = root * (o3i - o3), ri = -root * (o3 + o3i);
            to[1][0][q] = e1 + p, to[1][1][q] = e1i + pi;
            to[5][0][q] = e1 - p, to[5][1][q] = e1i - pi;
            to[3][0][q] = e3 + r, to[3][1][q] = e3i + ri;
            to[7][0][q] = e3 - r, to[7][1][q] = e3i - ri;
        }
        for (size_t part = 0; part < LANES; part++) {
            float *y = out + 2 * (part * m + k);
            for (size_t q = 0; q < LANES; q++) {
                y[2 * q] = to[part][0][q];
                y[2 * q + 1] = to[part][1][q];
            }
        }
    }
}

#define FFT_ENTRY(isa)                                                                                                 \
    const taper_fft_entry taper_fft_f32_##isa = {.name = #isa,                                                         \
                                                 .cpu = TAPER_ISA_##isa,                                               \
                                                 .pass = fft_pass,                                                     \
                                                 .pass_f64 = fft_wide_pass,                                            \
                                                 .part = fft_part,                                                     \
                                                 .join = fft_join,                                                     \
                                                 .turn = fft_turn,                                                     \
                                                 .unzip = fft_unzip,                                                   \
                                                 .zip = fft_zip,                                                       \
                                                 .part_f64 = fft_wide_part,                                            \
                                                 .join_f64 = fft_wide_join,                                            \
                                                 .turn_f64 = fft_wide_turn,                                            \
                                                 .unzip_f64 = fft_wide_unzip,                                          \
                                                 .zip_f64 = fft_wide_zip,                                              \
                                                 .to_lanes_f64 = fft_to_lanes,                                         \
                                                 .of_lanes_f64 = fft_of_lanes,                                         \
                                                 .merge = fft_merge};
