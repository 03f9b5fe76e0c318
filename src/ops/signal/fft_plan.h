// SPDX-License-Identifier: BSD-2-Clause
// Discrete Fourier transforms of many lines of the same length. A plan has the factors and the roots of unity of one
// length, in the precision of the transform, and the buffers for a group of lines, which are computed side by side.
// Made for a call and freed with it: the operators are in fft.c and stft.c.
#ifndef TAPER_OPS_FFT_PLAN_H
#define TAPER_OPS_FFT_PLAN_H

#include "ops/call/call.h"
#include "ops/kernels/fft_f32.h"

enum { TAPER_FFT_STAGES = 64 }; // more than a length has factors; of a group's lines there are TAPER_FFT_LANES at most

typedef enum taper_fft_kind {
    TAPER_FFT_C2C,
    TAPER_FFT_R2C, // n real numbers to n / 2 + 1 complex ones
    TAPER_FFT_C2R  // and back; the other half of the input follows from its symmetry
} taper_fft_kind;

typedef struct taper_fft {
    taper_run *run;
    taper_fft_kind kind;
    bool wide;     // double; float otherwise
    bool forward;  // sign of the exponent: -1 forward, +1 backward
    bool halved;   // a real transform of even length is a complex one of half the length
    size_t n;      // of the transform as asked for
    size_t m;      // of the complex transform
    size_t wanted; // of its points, from the first on: m, or those that a real transform's result is made of
    size_t padded; // Bluestein's: the length of the convolution that computes m; 0: m has small factors only
    size_t length; // that the passes transform: padded or m, or of one line an eighth of m, of every eighth number
    size_t lanes;  // lines in a group
    double scale;  // of the results
    size_t stage_count;
    uint32_t stages[TAPER_FFT_STAGES]; // factors of padded or m
    // Tables of pairs (re, im) of the plan's precision, all in one block.
    void *block;
    size_t block_bytes;
    void *roots;    // for every stage its twiddles, then for a prime stage the roots of the prime
    void *merged;   // of passes over an eighth: what the eighths are multiplied by, a point of them for each place
    void *real;     // of halved plans: exp(-2 pi i k / n), k to m
    void *chirp;    // exp(-pi i k k / m), k below m
    void *spectrum; // the transformed chirp, divided by padded
    void *buffers[2];
} taper_fft;

// Where the lines of a group are. Steps are in numbers for real sides and in pairs for complex ones.
typedef struct taper_fft_group {
    const void *from[TAPER_FFT_LANES]; // of every lane, those beyond count too: any readable line
    void *to[TAPER_FFT_LANES];
    int64_t from_step, to_step;
    size_t count;
    const void *window; // multiplies the input of TAPER_FFT_R2C; NULL: 1
    bool twosided;      // TAPER_FFT_R2C writes all n numbers
} taper_fft_group;

// A plan for `lines` lines of length n > 0. taper_fft_end frees what it holds, also after a failure.
TAPER_MUST_USE taper_status taper_fft_begin(taper_run *run, taper_fft *fft, taper_fft_kind kind, bool wide,
                                            bool forward, size_t n, size_t lines);
void taper_fft_end(taper_fft *fft);
// Transforms a group: all is read before anything is written. Fails only when the run is stopped.
TAPER_MUST_USE taper_status taper_fft_group_run(const taper_fft *fft, const taper_fft_group *group);

// ---- lines that lie evenly, by the kernels that transpose (fft_lines.c)

#endif
