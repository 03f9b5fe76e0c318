// SPDX-License-Identifier: BSD-2-Clause
// The passes of a transform, for one precision and one number of lanes: fft_plan.c includes this file for each pair,
// with FFT_REAL, FFT_LANES and FFT_NAME(x) defined. Lanes are innermost, so every loop over them is a vector operation.
//
// A pass takes a factor f out of a length: of `blocks` transforms of length f * inner it makes blocks * f of length
// inner, and puts them where the next pass, and in the end the caller, finds them in order. Exponents are negative; a
// transform with positive ones is the same with real and imaginary parts exchanged.

typedef struct FFT_NAME(point) {
    FFT_REAL re[FFT_LANES];
    FFT_REAL im[FFT_LANES];
} FFT_NAME(point);

// out = (r + i im) * (w[0] + i w[1])
static inline void FFT_NAME(put)(FFT_NAME(point) *restrict out, size_t l, FFT_REAL r, FFT_REAL i,
                                 const FFT_REAL *restrict w)
{
    out->re[l] = r * w[0] - i * w[1];
    out->im[l] = r * w[1] + i * w[0];
}

static void FFT_NAME(radix2)(const FFT_NAME(point) *restrict a, const FFT_NAME(point) *restrict b,
                             FFT_NAME(point) *restrict y0, FFT_NAME(point) *restrict y1, const FFT_REAL *restrict w)
{
    TAPER_EW_VECTOR
    for (size_t l = 0; l < FFT_LANES; l++) {
        const FFT_REAL r = a->re[l] - b->re[l], s = a->im[l] - b->im[l];
        y0->re[l] = a->re[l] + b->re[l];
        y0->im[l] = a->im[l] + b->im[l];
        FFT_NAME(put)(y1, l, r, s, w);
    }
}

static void FFT_NAME(radix3)(const FFT_NAME(point) *restrict x, size_t in, FFT_NAME(point) *restrict y0,
                             FFT_NAME(point) *restrict y1, FFT_NAME(point) *restrict y2, const FFT_REAL *restrict w)
{
    const FFT_REAL sine = (FFT_REAL)0.86602540378443864676, half = (FFT_REAL)0.5;
    const FFT_NAME(point) *a = x, *b = x + in, *c = x + 2 * in;
    TAPER_EW_VECTOR
    for (size_t l = 0; l < FFT_LANES; l++) {
        const FFT_REAL sum_re = b->re[l] + c->re[l], sum_im = b->im[l] + c->im[l];
        const FFT_REAL turn_re = sine * (b->im[l] - c->im[l]), turn_im = sine * (b->re[l] - c->re[l]);
        const FFT_REAL r = a->re[l] - half * sum_re, s = a->im[l] - half * sum_im;
        y0->re[l] = a->re[l] + sum_re;
        y0->im[l] = a->im[l] + sum_im;
        FFT_NAME(put)(y1, l, r + turn_re, s - turn_im, w);
        FFT_NAME(put)(y2, l, r - turn_re, s + turn_im, w + 2);
    }
}

static void FFT_NAME(radix4)(const FFT_NAME(point) *restrict x, size_t in, FFT_NAME(point) *restrict y0,
                             FFT_NAME(point) *restrict y1, FFT_NAME(point) *restrict y2, FFT_NAME(point) *restrict y3,
                             const FFT_REAL *restrict w)
{
    const FFT_NAME(point) *a = x, *b = x + in, *c = x + 2 * in, *d = x + 3 * in;
    TAPER_EW_VECTOR
    for (size_t l = 0; l < FFT_LANES; l++) {
        const FFT_REAL even_re = a->re[l] + c->re[l], even_im = a->im[l] + c->im[l];
        const FFT_REAL ac_re = a->re[l] - c->re[l], ac_im = a->im[l] - c->im[l];
        const FFT_REAL odd_re = b->re[l] + d->re[l], odd_im = b->im[l] + d->im[l];
        const FFT_REAL bd_re = b->re[l] - d->re[l], bd_im = b->im[l] - d->im[l];
        y0->re[l] = even_re + odd_re;
        y0->im[l] = even_im + odd_im;
        FFT_NAME(put)(y1, l, ac_re + bd_im, ac_im - bd_re, w);
        FFT_NAME(put)(y2, l, even_re - odd_re, even_im - odd_im, w + 2);
        FFT_NAME(put)(y3, l, ac_re - bd_im, ac_im + bd_re, w + 4);
    }
}

static void FFT_NAME(radix5)(const FFT_NAME(point) *restrict x, size_t in, FFT_NAME(point) *restrict y0,
                             FFT_NAME(point) *restrict y1, FFT_NAME(point) *restrict y2, FFT_NAME(point) *restrict y3,
                             FFT_NAME(point) *restrict y4, const FFT_REAL *restrict w)
{
    const FFT_REAL c1 = (FFT_REAL)0.30901699437494742410, c2 = (FFT_REAL)-0.80901699437494742410;
    const FFT_REAL s1 = (FFT_REAL)0.95105651629515357212, s2 = (FFT_REAL)0.58778525229247312917;
    const FFT_NAME(point) *b = x + in, *c = x + 2 * in, *d = x + 3 * in, *e = x + 4 * in;
    TAPER_EW_VECTOR
    for (size_t l = 0; l < FFT_LANES; l++) {
        const FFT_REAL p_re = b->re[l] + e->re[l], p_im = b->im[l] + e->im[l];
        const FFT_REAL q_re = c->re[l] + d->re[l], q_im = c->im[l] + d->im[l];
        const FFT_REAL u_re = b->re[l] - e->re[l], u_im = b->im[l] - e->im[l];
        const FFT_REAL v_re = c->re[l] - d->re[l], v_im = c->im[l] - d->im[l];
        const FFT_REAL r1 = x->re[l] + c1 * p_re + c2 * q_re, i1 = x->im[l] + c1 * p_im + c2 * q_im;
        const FFT_REAL r2 = x->re[l] + c2 * p_re + c1 * q_re, i2 = x->im[l] + c2 * p_im + c1 * q_im;
        const FFT_REAL t1_re = s1 * u_im + s2 * v_im, t1_im = s1 * u_re + s2 * v_re;
        const FFT_REAL t2_re = s2 * u_im - s1 * v_im, t2_im = s2 * u_re - s1 * v_re;
        y0->re[l] = x->re[l] + p_re + q_re;
        y0->im[l] = x->im[l] + p_im + q_im;
        FFT_NAME(put)(y1, l, r1 + t1_re, i1 - t1_im, w);
        FFT_NAME(put)(y2, l, r2 + t2_re, i2 - t2_im, w + 2);
        FFT_NAME(put)(y3, l, r2 - t2_re, i2 + t2_im, w + 4);
        FFT_NAME(put)(y4, l, r1 - t1_re, i1 + t1_im, w + 6);
    }
}

static void FFT_NAME(pass_small)(taper_run *run, size_t factor, size_t inner, size_t blocks, const FFT_NAME(point) * in,
                                 FFT_NAME(point) * out, const FFT_REAL *roots)
{
    const size_t step = inner * blocks;
    size_t left = 0;
    for (size_t k = 0; k < blocks; k++) {
        for (size_t i = 0; i < inner; i++) {
            if (left-- == 0) {
                left = PIECE - 1;
                if (!taper_run_goes_on(run, PIECE * FFT_LANES * 4 * factor)) {
                    return;
                }
            }
            const FFT_NAME(point) *x = &in[i + inner * factor * k];
            FFT_NAME(point) *y = &out[i + inner * k];
            const FFT_REAL *w = &roots[2 * (factor - 1) * i];
            switch (factor) {
            case 2:
                FFT_NAME(radix2)(x, x + inner, y, y + step, w);
                break;
            case 3:
                FFT_NAME(radix3)(x, inner, y, y + step, y + 2 * step, w);
                break;
            case 4:
                FFT_NAME(radix4)(x, inner, y, y + step, y + 2 * step, y + 3 * step, w);
                break;
            default:
                FFT_NAME(radix5)(x, inner, y, y + step, y + 2 * step, y + 3 * step, y + 4 * step, w);
                break;
            }
        }
    }
}

// Any odd prime: elements j and prime - j are taken together, once as sum and once as difference.
static void FFT_NAME(pass_prime)(taper_run *run, size_t prime, size_t inner, size_t blocks,
                                 const FFT_NAME(point) *restrict in, FFT_NAME(point) *restrict out,
                                 const FFT_REAL *restrict roots)
{
    const FFT_REAL *circle = roots + 2 * inner * (prime - 1); // exp(-2 pi i j / prime)
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

// The transform of the points in *a, with *b as the other buffer; exchanges them so that the result is in *a.
static void FFT_NAME(transform)(const taper_fft *fft, FFT_NAME(point) * *a, FFT_NAME(point) * *b)
{
    const FFT_REAL *roots = fft->roots;
    size_t inner = fft->padded != 0 ? fft->padded : fft->m, blocks = 1;
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

// x *= w, then real and imaginary parts of the product have the signs' signs.
static inline void FFT_NAME(turn)(FFT_NAME(point) * x, const FFT_REAL *w, FFT_REAL sign)
{
    TAPER_EW_VECTOR
    for (size_t l = 0; l < FFT_LANES; l++) {
        const FFT_REAL r = x->re[l], i = x->im[l];
        x->re[l] = r * w[0] - i * w[1];
        x->im[l] = sign * (r * w[1] + i * w[0]);
    }
}

// A length with a large prime factor is a convolution with a chirp, of any length that is large enough: multiply,
// transform, multiply by the chirp's transform, transform back (by conjugating before and after), multiply.
static void FFT_NAME(bluestein)(const taper_fft *fft, FFT_NAME(point) * *a, FFT_NAME(point) * *b)
{
    const FFT_REAL *chirp = fft->chirp, *spectrum = fft->spectrum;
    for (size_t k = 0; k < fft->m; k++) {
        FFT_NAME(turn)(&(*a)[k], chirp + 2 * k, 1);
    }
    memset(*a + fft->m, 0, (fft->padded - fft->m) * sizeof **a);
    FFT_NAME(transform)(fft, a, b);
    for (size_t k = 0; k < fft->padded; k++) {
        FFT_NAME(turn)(&(*a)[k], spectrum + 2 * k, -1);
    }
    FFT_NAME(transform)(fft, a, b);
    for (size_t k = 0; k < fft->m; k++) {
        TAPER_EW_VECTOR
        for (size_t l = 0; l < FFT_LANES; l++) {
            (*a)[k].im[l] = -(*a)[k].im[l];
        }
        FFT_NAME(turn)(&(*a)[k], chirp + 2 * k, 1);
    }
}

// ---- lines in and out

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
    } else if (!fft->halved) { // exchanged parts: a transform with positive exponents
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
                // times i * conj(w)
                a[k].im[l] = even_re + r * w[1] - i * w[0];
                a[k].re[l] = even_im + r * w[0] + i * w[1];
            }
        }
    }
}

// One number of the result of a real transform, at k and where wanted at n - k.
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
    } else if (fft->kind == TAPER_FFT_C2R) { // exchanged parts: see load
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
                // minus i * w times (r + i im)
                const FFT_REAL re = even_re + r * w[1] + i * w[0], im = even_im + i * w[1] - r * w[0];
                FFT_NAME(put_real)(fft, g, k, l, re * scale * (FFT_REAL)0.5, im * sign * (FFT_REAL)0.5);
            }
        }
    }
}

static void FFT_NAME(group)(const taper_fft *fft, const taper_fft_group *g)
{
    FFT_NAME(point) *a = fft->buffers[0], *b = fft->buffers[1];
    FFT_NAME(load)(fft, g, a);
    if (fft->padded != 0) {
        FFT_NAME(bluestein)(fft, &a, &b);
    } else {
        FFT_NAME(transform)(fft, &a, &b);
    }
    FFT_NAME(store)(fft, g, a);
}
