// SPDX-License-Identifier: BSD-2-Clause
// The steps before and after the passes of a transform, for one precision; a part of fft_f32_tmpl.h. FFT_REAL and
// FFT_NAME(x) must be defined. Points have TAPER_FFT_LANES lanes.

static void FFT_NAME(part)(size_t m, const FFT_REAL *restrict w, FFT_REAL scale, FFT_REAL sign,
                           const FFT_REAL *restrict in, FFT_REAL *restrict out)
{
    for (size_t k = 0; k < m; k++, w += 2, out += 2 * LANES) {
        const FFT_REAL *x = in + 2 * LANES * k, *y = in + 2 * LANES * (k == 0 ? 0 : m - k);
        FFT_VECTOR TAPER_NO_UNROLL for (size_t l = 0; l < LANES; l++)
        {
            const FFT_REAL even_re = x[l] + y[l], even_im = x[LANES + l] - y[LANES + l];
            const FFT_REAL r = x[l] - y[l], i = x[LANES + l] + y[LANES + l];
            // Adds (r + j i) times -j * w, where j is the imaginary unit.
            out[l] = (even_re + r * w[1] + i * w[0]) * scale;
            out[LANES + l] = (even_im + i * w[1] - r * w[0]) * sign;
        }
    }
}

static void FFT_NAME(join)(size_t m, const FFT_REAL *restrict w, FFT_REAL sign, const FFT_REAL *restrict in,
                           const FFT_REAL *restrict last, FFT_REAL *restrict out)
{
    FFT_VECTOR TAPER_NO_UNROLL for (size_t l = 0; l < LANES; l++)
    { // the first and the last number have no imaginary part
        out[LANES + l] = in[l] + last[l] + (in[l] - last[l]) * w[1];
        out[l] = (in[l] - last[l]) * w[0];
    }
    for (size_t k = 1; k < m; k++) {
        const FFT_REAL *x = in + 2 * LANES * k, *y = in + 2 * LANES * (m - k), re = w[2 * k], im = w[2 * k + 1];
        FFT_REAL *z = out + 2 * LANES * k;
        FFT_VECTOR TAPER_NO_UNROLL for (size_t l = 0; l < LANES; l++)
        {
            const FFT_REAL x_im = sign * x[LANES + l], y_im = sign * y[LANES + l];
            const FFT_REAL even_re = x[l] + y[l], even_im = x_im - y_im, r = x[l] - y[l], i = x_im + y_im;
            // Adds (r + j i) times j * conj(w), where j is the imaginary unit, and stores the real and imaginary parts
            // exchanged.
            z[LANES + l] = even_re + r * im - i * re;
            z[l] = even_im + r * re + i * im;
        }
    }
}

static void FFT_NAME(turn)(size_t count, const FFT_REAL *restrict w, FFT_REAL sign, FFT_REAL *restrict points)
{
    for (size_t k = 0; k < count; k++, points += 2 * LANES) {
        const FFT_REAL re = w[2 * k], im = w[2 * k + 1];
        FFT_VECTOR TAPER_NO_UNROLL for (size_t l = 0; l < LANES; l++)
        {
            const FFT_REAL r = points[l], i = points[LANES + l];
            points[l] = r * re - i * im;
            points[LANES + l] = sign * (r * im + i * re);
        }
    }
}

static void FFT_NAME(unzip)(size_t count, const FFT_REAL *restrict x, size_t step, FFT_REAL *restrict points)
{
    for (size_t k = 0; k < count; k++, x += step, points += 2 * LANES) {
        FFT_VECTOR TAPER_NO_UNROLL for (size_t l = 0; l < LANES; l++)
        {
            points[l] = x[2 * l];
            points[LANES + l] = x[2 * l + 1];
        }
    }
}

static void FFT_NAME(zip)(size_t count, const FFT_REAL *restrict points, FFT_REAL *restrict y, size_t step)
{
    for (size_t k = 0; k < count; k++, y += step, points += 2 * LANES) {
        FFT_VECTOR TAPER_NO_UNROLL for (size_t l = 0; l < LANES; l++)
        {
            y[2 * l] = points[l];
            y[2 * l + 1] = points[LANES + l];
        }
    }
}
