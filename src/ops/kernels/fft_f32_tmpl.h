// SPDX-License-Identifier: BSD-2-Clause
// The functions of fft_f32.h; FFT_ENTRY(instruction set) makes the entry. Whoever includes it is built with that set's
// flags.
#include "ops/kernels/fft_f32.h"

#define FFT_REAL float
#define FFT_LANES TAPER_FFT_LANES
#define FFT_NAME(name) fft_##name
#include "ops/kernels/fft_radix_tmpl.h"
#undef FFT_REAL
#undef FFT_LANES
#undef FFT_NAME

enum { LANES = TAPER_FFT_LANES };

static void fft_part(size_t m, const float *restrict w, float scale, float sign, const float *restrict in,
                     float *restrict out)
{
    for (size_t k = 0; k < m; k++, w += 2, out += 2 * LANES) {
        const float *x = in + 2 * LANES * k, *y = in + 2 * LANES * (k == 0 ? 0 : m - k);
        for (size_t l = 0; l < LANES; l++) {
            const float even_re = x[l] + y[l], even_im = x[LANES + l] - y[LANES + l];
            const float r = x[l] - y[l], i = x[LANES + l] + y[LANES + l];
            // minus i * w times (r + i im)
            out[l] = (even_re + r * w[1] + i * w[0]) * scale;
            out[LANES + l] = (even_im + i * w[1] - r * w[0]) * sign;
        }
    }
}

static void fft_join(size_t m, const float *restrict w, float sign, const float *restrict in,
                     const float *restrict last, float *restrict out)
{
    for (size_t l = 0; l < LANES; l++) { // neither end has an imaginary part
        out[LANES + l] = in[l] + last[l] + (in[l] - last[l]) * w[1];
        out[l] = (in[l] - last[l]) * w[0];
    }
    for (size_t k = 1; k < m; k++) {
        const float *x = in + 2 * LANES * k, *y = in + 2 * LANES * (m - k), re = w[2 * k], im = w[2 * k + 1];
        float *z = out + 2 * LANES * k;
        for (size_t l = 0; l < LANES; l++) {
            const float x_im = sign * x[LANES + l], y_im = sign * y[LANES + l];
            const float even_re = x[l] + y[l], even_im = x_im - y_im, r = x[l] - y[l], i = x_im + y_im;
            // times i * conj(w), parts exchanged
            z[LANES + l] = even_re + r * im - i * re;
            z[l] = even_im + r * re + i * im;
        }
    }
}

#define FFT_ENTRY(isa)                                                                                                 \
    const taper_fft_entry taper_fft_f32_##isa = {                                                                      \
        .name = #isa, .cpu = TAPER_ISA_##isa, .pass = fft_pass, .part = fft_part, .join = fft_join};
