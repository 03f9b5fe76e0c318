// SPDX-License-Identifier: BSD-2-Clause
// The steps of Fourier transforms of floats, for TAPER_FFT_LANES lines (arrays to transform) at a time, one per lane. A
// point has the lanes' real parts, then their imaginary parts. ops/signal/fft_plan.c combines the steps.
//
// The loops are plain C that the compiler vectorizes, once for each instruction set; every entry gives the same bits.
// Only the points that the arguments name are read or written.
#ifndef TAPER_KERNELS_FFT_F32_H
#define TAPER_KERNELS_FFT_F32_H

#include "ops/kernels/arch.h"

enum { TAPER_FFT_LANES = 8 };

// Splits each of `blocks` transforms of factor * inner points into `factor` transforms of `inner` points; factor is 2,
// 3, 4 or 5 (a pass, ops/signal/fft_passes.h). `in` and `out` must not overlap. `roots` contains factor - 1 roots of
// unity for each of the `inner` points. The call computes `count` of the inner * blocks groups of points, from `first`
// on.
typedef void taper_fft_pass_f32_function(size_t factor, size_t inner, size_t blocks, size_t first, size_t count,
                                         const void *in, void *out, const float *roots);
// Does what taper_fft_pass_f32_function does, for doubles.
typedef void taper_fft_pass_f64_function(size_t factor, size_t inner, size_t blocks, size_t first, size_t count,
                                         const void *in, void *out, const double *roots);
// Computes the first m of the m + 1 numbers of a real transform from the m points of a transform of half its length.
// Results are multiplied by scale, and imaginary parts also by sign. w has the m roots.
typedef void taper_fft_part_f32_function(size_t m, const float *w, float scale, float sign, const float *in,
                                         float *out);
// Reverses taper_fft_part_f32_function: computes the m points from m numbers, with imaginary parts multiplied by sign,
// and from the real part of the last number.
typedef void taper_fft_join_f32_function(size_t m, const float *w, float sign, const float *in, const float *last,
                                         float *out);
// Multiplies points by the roots w, and the imaginary parts of the products by sign, in place.
typedef void taper_fft_turn_f32_function(size_t count, const float *w, float sign, float *points);
// unzip makes `count` points from pairs of numbers of eight lines, which are `step` floats apart. zip does the reverse.
typedef void taper_fft_unzip_f32_function(size_t count, const float *x, size_t step, float *points);
typedef void taper_fft_zip_f32_function(size_t count, const float *points, float *y, size_t step);
// The types of the functions for doubles.
typedef void taper_fft_part_f64_function(size_t m, const double *w, double scale, double sign, const double *in,
                                         double *out);
typedef void taper_fft_join_f64_function(size_t m, const double *w, double sign, const double *in, const double *last,
                                         double *out);
typedef void taper_fft_turn_f64_function(size_t count, const double *w, double sign, double *points);
typedef void taper_fft_unzip_f64_function(size_t count, const double *x, size_t step, double *points);
typedef void taper_fft_zip_f64_function(size_t count, const double *points, double *y, size_t step);
// to_lanes gathers `count` numbers of each of TAPER_FFT_LANES lines, so that the numbers with the same index in all
// lines are contiguous. of_lanes does the reverse. x_step is the distance between lines, y_step the distance between
// the lanes of one number and the lanes of the next number. (vector_f32.h transposes floats.)
typedef void taper_fft_lanes_f64_function(size_t count, const double *x, size_t x_step, double *y, size_t y_step);

// Combines the transforms of eight lanes to one transform of 8 * m numbers. Lane l has every eighth number, from l on,
// as m points. The numbers of each point are multiplied by the roots in the corresponding point of w. out has pairs of
// real and imaginary parts. m is a multiple of 8.
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
