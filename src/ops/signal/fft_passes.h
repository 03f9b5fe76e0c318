// SPDX-License-Identifier: BSD-2-Clause
// The passes of a transform, for one precision and one number of lanes. fft_plan.c includes this file once for each
// pair. fft_plan.c defines FFT_REAL (the type), FFT_LANES, FFT_NAME(x), FFT_PASS (the function for factors up to 5),
// FFT_TURN (the function that multiplies points by roots) and FFT_LINES (calls fft_lines.c, and is false if the call
// did nothing). Lanes are innermost, so every loop over them is a vector operation.
//
// A pass takes a factor f out of a length. It turns `blocks` transforms of length f * inner into blocks * f transforms
// of length inner. The pass puts the transforms where the next pass expects them, and the last pass leaves the result
// in order. Exponents are negative. For positive exponents, the real and imaginary parts are exchanged before and after
// the same transform.

#include "ops/kernels/fft_radix_tmpl.h"

static void FFT_NAME(pass_small)(taper_run *run, size_t factor, size_t inner, size_t blocks, const FFT_NAME(point) * in,
                                 FFT_NAME(point) * out, const FFT_REAL *roots)
{
    const size_t count = inner * blocks;
    for (size_t at = 0; at < count && taper_run_goes_on(run, PIECE * FFT_LANES * 4 * factor); at += PIECE) {
        FFT_PASS(run)(factor, inner, blocks, at, taper_min_size(PIECE, count - at), in, out, roots);
    }
}

// Computes the pass for any odd prime. Elements j and prime - j are combined to their sum and their difference, which
// halves the number of multiplications.
static void FFT_NAME(pass_prime)(taper_run *run, size_t prime, size_t inner, size_t blocks,
                                 const FFT_NAME(point) *restrict in, FFT_NAME(point) *restrict out,
                                 const FFT_REAL *restrict roots)
{
    const FFT_REAL *circle = roots + 2 * inner * (prime - 1); // exp(-2 pi i j / prime), for j below prime
    const size_t half = prime / 2, step = inner * blocks;
    FFT_NAME(point) sum[LARGEST_PRIME / 2 + 1], difference[LARGEST_PRIME / 2 + 1];
    for (size_t k = 0; k < blocks; k++) {
        for (size_t i = 0; i < inner; i++) {
            if (!taper_run_goes_on(run, FFT_LANES * prime * prime)) {
                return;
            }
            const FFT_NAME(point) *x = &in[i + inner * prime * k];
            FFT_NAME(point) *y = &out[i + inner * k], total = *x;
            const FFT_REAL *w = &roots[2 * i * (prime - 1)];
            for (size_t b = 1; b <= half; b++) {
                const FFT_NAME(point) *left = x + inner * b, *right = x + inner * (prime - b);
                TAPER_EW_VECTOR
                for (size_t l = 0; l < FFT_LANES; l++) {
                    sum[b].re[l] = left->re[l] + right->re[l];
                    sum[b].im[l] = left->im[l] + right->im[l];
                    difference[b].re[l] = left->re[l] - right->re[l];
                    difference[b].im[l] = left->im[l] - right->im[l];
                    total.re[l] += sum[b].re[l];
                    total.im[l] += sum[b].im[l];
                }
            }
            *y = total;
            for (size_t j = 1; j <= half; j++) {
                FFT_NAME(point) even = *x, odd;
                memset(&odd, 0, sizeof odd);
                size_t at = 0;
                for (size_t b = 1; b <= half; b++) {
                    at = at + j >= prime ? at + j - prime : at + j;
                    const FFT_REAL cosine = circle[2 * at], sine = -circle[2 * at + 1];
                    TAPER_EW_VECTOR
                    for (size_t l = 0; l < FFT_LANES; l++) {
                        even.re[l] += cosine * sum[b].re[l];
                        even.im[l] += cosine * sum[b].im[l];
                        odd.re[l] += sine * difference[b].im[l];
                        odd.im[l] += sine * difference[b].re[l];
                    }
                }
                FFT_NAME(point) *restrict near = y + j * step, *restrict far = y + (prime - j) * step;
                const FFT_REAL *near_w = w + 2 * (j - 1), *far_w = w + 2 * (prime - j - 1);
                TAPER_EW_VECTOR
                for (size_t l = 0; l < FFT_LANES; l++) {
                    FFT_NAME(put)(near, l, even.re[l] + odd.re[l], even.im[l] - odd.im[l], near_w);
                    FFT_NAME(put)(far, l, even.re[l] - odd.re[l], even.im[l] + odd.im[l], far_w);
                }
            }
        }
    }
}

// Transforms the points in *a, with *b as the other buffer. It exchanges the two pointers as needed, so that the result
// is in *a.
static void FFT_NAME(transform)(const taper_fft *fft, FFT_NAME(point) * *a, FFT_NAME(point) * *b)
{
    const FFT_REAL *roots = fft->roots;
    size_t inner = fft->length, blocks = 1;
    for (size_t s = 0; s < fft->stage_count; s++) {
        const size_t factor = fft->stages[s];
        inner /= factor;
        if (factor <= 5) {
            FFT_NAME(pass_small)(fft->run, factor, inner, blocks, *a, *b, roots);
        } else {
            FFT_NAME(pass_prime)(fft->run, factor, inner, blocks, *a, *b, roots);
        }
        roots += 2 * stage_roots(factor, inner);
        blocks *= factor;
        FFT_NAME(point) *swap = *a;
        *a = *b;
        *b = swap;
    }
}

// Multiplies point k by the pair w[k], and then the product's imaginary part by sign, which is 1 or -1.
static inline void FFT_NAME(turn)(size_t count, const FFT_REAL *w, FFT_REAL sign, FFT_REAL *points)
{
    FFT_NAME(point) *x = (FFT_NAME(point) *)(void *)points;
    for (size_t k = 0; k < count; k++, x++, w += 2) {
        TAPER_EW_VECTOR
        for (size_t l = 0; l < FFT_LANES; l++) {
            const FFT_REAL r = x->re[l], i = x->im[l];
            x->re[l] = r * w[0] - i * w[1];
            x->im[l] = sign * (r * w[1] + i * w[0]);
        }
    }
}

// Bluestein's algorithm, for lengths with a large prime factor: the transform is a convolution with a chirp, which may
// have any length that is large enough. It multiplies by the chirp, transforms, multiplies by the chirp's transform,
// transforms back (by conjugating before and after), and multiplies by the chirp again. Only the first `wanted` results
// are valid.
static void FFT_NAME(bluestein)(const taper_fft *fft, FFT_NAME(point) * *a, FFT_NAME(point) * *b)
{
    FFT_TURN(fft->run)(fft->m, fft->chirp, 1, (*a)->re);
    memset(*a + fft->m, 0, (fft->padded - fft->m) * sizeof **a);
    FFT_NAME(transform)(fft, a, b);
    FFT_TURN(fft->run)(fft->padded, fft->spectrum, -1, (*a)->re);
    FFT_NAME(transform)(fft, a, b);
    for (size_t k = 0; k < fft->wanted; k++) {
        TAPER_EW_VECTOR
        for (size_t l = 0; l < FFT_LANES; l++) {
            (*a)[k].im[l] = -(*a)[k].im[l];
        }
    }
    FFT_TURN(fft->run)(fft->wanted, fft->chirp, 1, (*a)->re);
}

// ---- loading and storing lines

static void FFT_NAME(load)(const taper_fft *fft, const taper_fft_group *g, FFT_NAME(point) * a)
{
    const int64_t step = g->from_step;
    const FFT_REAL *window = g->window;
    if (fft->kind == TAPER_FFT_C2C) {
        const size_t re = fft->forward ? 0 : 1;
        for (size_t k = 0; k < fft->m; k++) {
            TAPER_EW_VECTOR
            for (size_t l = 0; l < FFT_LANES; l++) {
                const FFT_REAL *x = (const FFT_REAL *)g->from[l] + 2 * (int64_t)k * step;
                a[k].re[l] = x[re];
                a[k].im[l] = x[1 - re];
            }
        }
    } else if (fft->kind == TAPER_FFT_R2C) {
        const size_t pair = fft->halved ? 2 : 1;
        for (size_t k = 0; k < fft->m; k++) {
            const FFT_REAL first = window != NULL ? window[pair * k] : 1;
            const FFT_REAL second = !fft->halved ? 0 : window != NULL ? window[2 * k + 1] : 1;
            const int64_t at = (int64_t)(pair * k) * step, next = fft->halved ? at + step : at;
            TAPER_EW_VECTOR
            for (size_t l = 0; l < FFT_LANES; l++) {
                const FFT_REAL *x = g->from[l];
                a[k].re[l] = x[at] * first;
                a[k].im[l] = fft->halved ? x[next] * second : 0;
            }
        }
    } else if (!fft->halved) { // real and imaginary parts are exchanged, because the exponents are positive
        const FFT_REAL sign = fft->forward ? -1 : 1;
        for (size_t k = 0; 2 * k < fft->m; k++) {
            TAPER_EW_VECTOR
            for (size_t l = 0; l < FFT_LANES; l++) {
                const FFT_REAL *x = (const FFT_REAL *)g->from[l] + 2 * (int64_t)k * step;
                const FFT_REAL im = k == 0 ? 0 : sign * x[1];
                a[k].im[l] = x[0];
                a[k].re[l] = im;
                if (k != 0) {
                    a[fft->m - k].im[l] = x[0];
                    a[fft->m - k].re[l] = -im;
                }
            }
        }
    } else {
        const FFT_REAL *w = fft->real, sign = fft->forward ? -1 : 1;
        for (size_t k = 0; k < fft->m; k++, w += 2) {
            const bool edge = k == 0;
            TAPER_EW_VECTOR
            for (size_t l = 0; l < FFT_LANES; l++) {
                const FFT_REAL *x = (const FFT_REAL *)g->from[l] + 2 * (int64_t)k * step;
                const FFT_REAL *y = (const FFT_REAL *)g->from[l] + 2 * (int64_t)(fft->m - k) * step;
                const FFT_REAL x_im = edge ? 0 : sign * x[1], y_im = edge ? 0 : sign * y[1];
                const FFT_REAL even_re = x[0] + y[0], even_im = x_im - y_im;
                const FFT_REAL r = x[0] - y[0], i = x_im + y_im;
                // Computes even + j * conj(w) * (r + j i), where j is the imaginary unit, and exchanges the real and
                // imaginary parts.
                a[k].im[l] = even_re + r * w[1] - i * w[0];
                a[k].re[l] = even_im + r * w[0] + i * w[1];
            }
        }
    }
}

// Stores number k of lane l of a real transform's result and, if the result is twosided, its conjugate at n - k.
static inline void FFT_NAME(put_real)(const taper_fft *fft, const taper_fft_group *g, size_t k, size_t l, FFT_REAL r,
                                      FFT_REAL i)
{
    FFT_REAL *y = (FFT_REAL *)g->to[l] + 2 * (int64_t)k * g->to_step;
    y[0] = r;
    y[1] = i;
    if (g->twosided && k != 0 && 2 * k != fft->n) {
        y = (FFT_REAL *)g->to[l] + 2 * (int64_t)(fft->n - k) * g->to_step;
        y[0] = r;
        y[1] = -i;
    }
}

static void FFT_NAME(store)(const taper_fft *fft, const taper_fft_group *g, const FFT_NAME(point) * a)
{
    const int64_t step = g->to_step;
    const FFT_REAL scale = (FFT_REAL)fft->scale, sign = fft->forward ? scale : -scale;
    if (fft->kind == TAPER_FFT_C2C) {
        const size_t re = fft->forward ? 0 : 1;
        for (size_t k = 0; k < fft->m; k++) {
            for (size_t l = 0; l < g->count; l++) {
                FFT_REAL *y = (FFT_REAL *)g->to[l] + 2 * (int64_t)k * step;
                y[re] = a[k].re[l] * scale;
                y[1 - re] = a[k].im[l] * scale;
            }
        }
    } else if (fft->kind == TAPER_FFT_C2R) { // the real and imaginary parts are exchanged, as in load
        for (size_t k = 0; k < fft->m; k++) {
            for (size_t l = 0; l < g->count; l++) {
                FFT_REAL *y = (FFT_REAL *)g->to[l] + (int64_t)(fft->halved ? 2 * k : k) * step;
                y[0] = a[k].im[l] * scale;
                if (fft->halved) {
                    y[step] = a[k].re[l] * scale;
                }
            }
        }
    } else if (!fft->halved) {
        for (size_t k = 0; 2 * k < fft->m; k++) {
            for (size_t l = 0; l < g->count; l++) {
                FFT_NAME(put_real)(fft, g, k, l, a[k].re[l] * scale, a[k].im[l] * sign);
            }
        }
    } else {
        const FFT_REAL *w = fft->real;
        for (size_t k = 0; k <= fft->m; k++, w += 2) {
            const FFT_NAME(point) *x = &a[k == fft->m ? 0 : k], *y = &a[k == 0 ? 0 : fft->m - k];
            for (size_t l = 0; l < g->count; l++) {
                const FFT_REAL even_re = x->re[l] + y->re[l], even_im = x->im[l] - y->im[l];
                const FFT_REAL r = x->re[l] - y->re[l], i = x->im[l] + y->im[l];
                // Computes even - j * w * (r + j i), where j is the imaginary unit.
                const FFT_REAL re = even_re + r * w[1] + i * w[0], im = even_im + i * w[1] - r * w[0];
                FFT_NAME(put_real)(fft, g, k, l, re * scale * (FFT_REAL)0.5, im * sign * (FFT_REAL)0.5);
            }
        }
    }
}

static void FFT_NAME(group)(const taper_fft *fft, const taper_fft_group *g)
{
    FFT_NAME(point) *a = fft->buffers[0], *b = fft->buffers[1];
    if (FFT_LANES == 1 && fft->merged != NULL) {
        if (transform_merged(fft, g, (void **)&a, (void **)&b)) {
            return;
        }
    } else {
        if (!FFT_LINES(load, fft, g, (FFT_REAL *)a, (FFT_REAL *)b)) {
            FFT_NAME(load)(fft, g, a);
        }
        if (fft->padded != 0) {
            FFT_NAME(bluestein)(fft, &a, &b);
        } else {
            FFT_NAME(transform)(fft, &a, &b);
        }
    }
    if (!FFT_LINES(store, fft, g, (FFT_REAL *)a, (FFT_REAL *)b)) {
        FFT_NAME(store)(fft, g, a);
    }
}
