// SPDX-License-Identifier: BSD-2-Clause
// What tells the Fourier operators apart, and the walk over a tensor's lines that they share with stft.
#ifndef TAPER_OPS_FFT_H
#define TAPER_OPS_FFT_H

#include "ops/signal/fft_plan.h"

typedef struct taper_fft_op {
    const char *name;
    uint8_t kind; // taper_fft_kind
    bool forward; // sign of the exponent
    bool many;    // several dimensions: s and dim are lists
} taper_fft_op;

extern const taper_fft_op taper_fft_fft, taper_fft_ifft, taper_fft_rfft, taper_fft_irfft, taper_fft_hfft,
    taper_fft_ihfft, taper_fft_fftn, taper_fft_ifftn, taper_fft_rfftn, taper_fft_irfftn, taper_fft_hfftn,
    taper_fft_ihfftn;

// Transforms along dim. Both are contiguous and of the plan's dtypes; they may be the same tensor for complex
// transforms. The length is that of `to` for TAPER_FFT_C2R, else that of `from`. twosided: all of a real transform's
// result.
TAPER_MUST_USE taper_status taper_fft_along(taper_run *run, taper_fft_kind kind, bool forward, double scale,
                                            const taper_tensor *from, taper_tensor *to, size_t dim, bool twosided);
// The factor that PyTorch's fft_norm_mode stands for: 0: none, 1: the root of 1 / n, 2: 1 / n.
TAPER_MUST_USE taper_status taper_fft_scale(taper_run *run, int64_t mode, double n, double *scale);

#endif
