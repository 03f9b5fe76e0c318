// SPDX-License-Identifier: BSD-2-Clause
// The parts of Fourier transforms of floats, TAPER_FFT_LANES lines at a time: a point is the lanes' real and then their
// imaginary parts. ops/signal/fft_plan.c puts them together.
//
// Plain C that the compiler makes vectors of, once for each instruction set; every entry gives the same bits. Nothing
// is read or written outside the named points.
#ifndef TAPER_KERNELS_FFT_F32_H
#define TAPER_KERNELS_FFT_F32_H

#include "ops/kernels/arch.h"

enum { TAPER_FFT_LANES = 8 };

// A factor of 2, 3, 4 or 5 out of `blocks` transforms of factor * inner points each, apart in `in` and `out`, with a
// table of the factor - 1 roots of each of inner places: `count` places of all inner * blocks, from `first` on.
typedef void taper_fft_pass_f32_function(size_t factor, size_t inner, size_t blocks, size_t first, size_t count,
                                         const void *in, void *out, const float *roots);
// The same of doubles.
typedef void taper_fft_pass_f64_function(size_t factor, size_t inner, size_t blocks, size_t first, size_t count,
                                         const void *in, void *out, const double *roots);
// The first m of m + 1 numbers of a real transform, from the m points of one of half its length, times scale, imaginary
// parts times sign; w: the roots, m pairs.
typedef void taper_fft_part_f32_function(size_t m, const float *w, float scale, float sign, const float *in,
                                         float *out);
// And back: the m points from m numbers, imaginary parts times sign, and the real part of the one behind them.
typedef void taper_fft_join_f32_function(size_t m, const float *w, float sign, const float *in, const float *last,
                                         float *out);
// Points times the roots w, and the imaginary parts of the products times sign, in place.
typedef void taper_fft_turn_f32_function(size_t count, const float *w, float sign, float *points);
// count points from eight pairs each, `step` floats apart, and back.
typedef void taper_fft_unzip_f32_function(size_t count, const float *x, size_t step, float *points);
typedef void taper_fft_zip_f32_function(size_t count, const float *points, float *y, size_t step);
// The same of doubles.
typedef void taper_fft_part_f64_function(size_t m, const double *w, double scale, double sign, const double *in,
                                         double *out);
typedef void taper_fft_join_f64_function(size_t m, const double *w, double sign, const double *in, const double *last,
                                         double *out);
typedef void taper_fft_turn_f64_function(size_t count, const double *w, double sign, double *points);
typedef void taper_fft_unzip_f64_function(size_t count, const double *x, size_t step, double *points);
typedef void taper_fft_zip_f64_function(size_t count, const double *points, double *y, size_t step);
// count numbers of each of TAPER_FFT_LANES lines beside each other, and back: steps are from line to line, and from the
// lanes of one number to those of the next. (vector_f32.h transposes floats.)
typedef void taper_fft_lanes_f64_function(size_t count, const double *x, size_t x_step, double *y, size_t y_step);

// One transform of 8 * m numbers in the end: of those of its lanes' numbers, which are every eighth of its own, at m
// points; w: a point of roots for each, those that the numbers of a lane are multiplied by. out: pairs. m is a multiple
// of 8.
typedef void taper_fft_merge_f32_function(size_t m, const float *w, const float *in, float *out);

typedef struct taper_fft_entry {
    const char *name;
    uint64_t cpu;
    taper_fft_pass_f32_function *pass;
    taper_fft_pass_f64_function *pass_f64;
    taper_fft_part_f32_function *part;
    taper_fft_join_f32_function *join;
    taper_fft_turn_f32_function *turn;
    taper_fft_unzip_f32_function *unzip;
    taper_fft_zip_f32_function *zip;
    taper_fft_part_f64_function *part_f64;
    taper_fft_join_f64_function *join_f64;
    taper_fft_turn_f64_function *turn_f64;
    taper_fft_unzip_f64_function *unzip_f64;
    taper_fft_zip_f64_function *zip_f64;
    taper_fft_lanes_f64_function *to_lanes_f64, *of_lanes_f64;
    taper_fft_merge_f32_function *merge;
} taper_fft_entry;

#define KERNEL(isa) extern const taper_fft_entry taper_fft_f32_##isa;
#include "ops/kernels/fft_f32_list.inc"
#undef KERNEL

#endif
