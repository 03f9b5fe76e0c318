// SPDX-License-Identifier: BSD-2-Clause
// The small factors of a transform, for one precision and one number of lanes. FFT_REAL, FFT_LANES and FFT_NAME(x) must
// be defined. ops/signal/fft_passes.h, which explains a pass, includes this file, and so do the kernels of fft_f32.h.
#ifdef FFT_VECTOR
#elif defined(__GNUC__) && !defined(__clang__)
#define FFT_VECTOR _Pragma("GCC ivdep")
#else
#define FFT_VECTOR
#endif

typedef struct FFT_NAME(point) {
    FFT_REAL re[FFT_LANES];
    FFT_REAL im[FFT_LANES];
} FFT_NAME(point);

// Stores the product (r + j i) * (w[0] + j w[1]) in out, where j is the imaginary unit.
static inline void FFT_NAME(put)(FFT_NAME(point) *restrict out, size_t l, FFT_REAL r, FFT_REAL i,
                                 const FFT_REAL *restrict w)
{
    out->re[l] = r * w[0] - i * w[1];
    out->im[l] = r * w[1] + i * w[0];
}

static inline void FFT_NAME(radix2)(const FFT_NAME(point) *restrict a, const FFT_NAME(point) *restrict b,
                                    FFT_NAME(point) *restrict y0, FFT_NAME(point) *restrict y1,
                                    const FFT_REAL *restrict w)
{
    FFT_VECTOR
    for (size_t l = 0; l < FFT_LANES; l++) {
        const FFT_REAL r = a->re[l] - b->re[l], s = a->im[l] - b->im[l];
        y0->re[l] = a->re[l] + b->re[l];
        y0->im[l] = a->im[l] + b->im[l];
        FFT_NAME(put)(y1, l, r, s, w);
    }
}

static inline void FFT_NAME(radix3)(const FFT_NAME(point) *restrict x, size_t in, FFT_NAME(point) *restrict y0,
                                    FFT_NAME(point) *restrict y1, FFT_NAME(point) *restrict y2,
                                    const FFT_REAL *restrict w)
{
    const FFT_REAL sine = (FFT_REAL)0.86602540378443864676, half = (FFT_REAL)0.5;
    const FFT_NAME(point) *a = x, *b = x + in, *c = x + 2 * in;
    FFT_VECTOR
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

static inline void FFT_NAME(radix4)(const FFT_NAME(point) *restrict x, size_t in, FFT_NAME(point) *restrict y0,
                                    FFT_NAME(point) *restrict y1, FFT_NAME(point) *restrict y2,
                                    FFT_NAME(point) *restrict y3, const FFT_REAL *restrict w)
{
    const FFT_NAME(point) *a = x, *b = x + in, *c = x + 2 * in, *d = x + 3 * in;
    FFT_VECTOR
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

static inline void FFT_NAME(radix5)(const FFT_NAME(point) *restrict x, size_t in, FFT_NAME(point) *restrict y0,
                                    FFT_NAME(point) *restrict y1, FFT_NAME(point) *restrict y2,
                                    FFT_NAME(point) *restrict y3, FFT_NAME(point) *restrict y4,
                                    const FFT_REAL *restrict w)
{
    const FFT_REAL c1 = (FFT_REAL)0.30901699437494742410, c2 = (FFT_REAL)-0.80901699437494742410;
    const FFT_REAL s1 = (FFT_REAL)0.95105651629515357212, s2 = (FFT_REAL)0.58778525229247312917;
    const FFT_NAME(point) *b = x + in, *c = x + 2 * in, *d = x + 3 * in, *e = x + 4 * in;
    FFT_VECTOR
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

// Computes `count` of the inner * blocks groups of points of a pass, from `first` on.
static inline void FFT_NAME(pass)(size_t factor, size_t inner, size_t blocks, size_t first, size_t count,
                                  const void *from, void *to, const FFT_REAL *roots)
{
    const FFT_NAME(point) *in = from;
    FFT_NAME(point) *out = to;
    const size_t step = inner * blocks;
    size_t k = first / inner, i = first % inner;
    for (; count > 0; count--) {
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
        k += i + 1 == inner;
        i = i + 1 == inner ? 0 : i + 1;
    }
}
