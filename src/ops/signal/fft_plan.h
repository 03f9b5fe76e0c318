// SPDX-License-Identifier: BSD-2-Clause
// Discrete Fourier transforms of many lines of the same length. A plan contains the factors and the roots of unity of
// one length, in the transform's precision. It also contains the buffers for a group of lines, which are computed side
// by side as lanes. A plan is made for one call and freed at its end. The operators are in fft.c and stft.c.
#ifndef TAPER_OPS_FFT_PLAN_H
#define TAPER_OPS_FFT_PLAN_H

#include "ops/call/call.h"
#include "ops/kernels/fft_f32.h"

enum { TAPER_FFT_STAGES = 64 }; // no length has this many factors

typedef enum taper_fft_kind {
    TAPER_FFT_C2C,
    TAPER_FFT_R2C, // transforms n real numbers to n / 2 + 1 complex numbers
    TAPER_FFT_C2R  // the inverse of R2C: the missing half of its input follows from the symmetry
} taper_fft_kind;

typedef struct taper_fft {
    taper_run *run;
    taper_fft_kind kind;
    bool wide;    // true for double precision, false for float
    bool forward; // true if the exponent is negative, as in fft
    bool halved;  // true if a real transform of even length is computed as a complex transform of half the length
    size_t n;     // length of the transform that the caller asked for
    size_t m;     // length of the complex transform: n, or n / 2 if `halved` is true
    // Number of points, from the first on, that the result is made from: m, or fewer for a real transform.
    size_t wanted;
    // Length of the convolution of Bluestein's algorithm; 0 if m has only small factors, for which the algorithm is not
    // needed.
    size_t padded;
    // Length of the passes: `padded`, or m, or m / 8 if eight interleaved parts of one line are transformed.
    size_t length;
    size_t lanes; // number of lines in a group: 1 or TAPER_FFT_LANES
    double scale; // factor for the results; taper_fft_begin sets 1, and the caller may change it afterwards
    size_t stage_count;
    uint32_t stages[TAPER_FFT_STAGES]; // the factors of `length`, in the order of the passes
    // Tables of pairs (re, im) of the plan's precision. They share one block with the buffers.
    void *block;
    size_t block_bytes;
    void *roots; // for each stage, its twiddle factors, then for a prime stage the roots of unity of that prime
    // Factors of the eight parts, one point of eight lanes for each index; NULL if the plan does not merge.
    void *merged;
    void *real;     // for halved plans: exp(-2 pi i k / n) for k from 0 to m
    void *chirp;    // exp(-pi i k k / m) for k below m, for Bluestein's algorithm
    void *spectrum; // transform of the chirp's conjugate, divided by `padded`
    void *buffers[2];
} taper_fft;

// The addresses of a group's lines. Steps are counted in numbers on a real side and in pairs on a complex side.
typedef struct taper_fft_group {
    // The first number of each lane's line. Lanes from `count` on are read too and may repeat a line.
    const void *from[TAPER_FFT_LANES];
    void *to[TAPER_FFT_LANES];
    int64_t from_step, to_step;
    size_t count;
    const void *window; // n factors for the input of TAPER_FFT_R2C, in the plan's precision; NULL if all factors are 1
    bool twosided;      // true if TAPER_FFT_R2C writes all n numbers
} taper_fft_group;

// Makes a plan for `lines` lines of length n. Fails if n is 0 or above TAPER_LIMIT_TRANSFORM. Call taper_fft_end
// afterwards, also after a failure, to free the plan's memory.
TAPER_MUST_USE taper_status taper_fft_begin(taper_run *run, taper_fft *fft, taper_fft_kind kind, bool wide,
                                            bool forward, size_t n, size_t lines);
void taper_fft_end(taper_fft *fft);
// Transforms a group. It reads all lines before it writes any, so from and to may be the same memory. It fails only if
// the run must stop. If the run must stop during the passes, the results are unfinished, and the next charge of the run
// fails.
TAPER_MUST_USE taper_status taper_fft_group_run(const taper_fft *fft, const taper_fft_group *group);

// ---- lines at equal distances, by the kernels that transpose (fft_lines.c)

#endif
