// SPDX-License-Identifier: BSD-2-Clause
// The record in which the Fourier operators differ (the operator's param), and the transform along one dimension, which
// fft.c and stft.c share.
#ifndef TAPER_OPS_FFT_H
#define TAPER_OPS_FFT_H

#include "ops/signal/fft_plan.h"

typedef struct taper_fft_op {
    const char *name;
    uint8_t kind; // kind of the transform, a taper_fft_kind
    bool forward; // true if the exponent is negative, as in fft
    bool many;    // true for transforms of several dimensions: the arguments s and dim are lists
} taper_fft_op;

extern const taper_fft_op taper_fft_fft, taper_fft_ifft, taper_fft_rfft, taper_fft_irfft, taper_fft_hfft,
    taper_fft_ihfft, taper_fft_fftn, taper_fft_ifftn, taper_fft_rfftn, taper_fft_irfftn, taper_fft_hfftn,
    taper_fft_ihfftn;

// Transforms all lines along dim and multiplies the results by scale. Both tensors are contiguous and have the dtypes
// of the kind, in one precision. For TAPER_FFT_C2C they may be the same tensor. The transform's length is the size of
// `to` along dim for TAPER_FFT_C2R, otherwise the size of `from`. If `twosided` is set, TAPER_FFT_R2C writes all n
// numbers of each line, not only the first n / 2 + 1.
TAPER_MUST_USE taper_status taper_fft_along(taper_run *run, taper_fft_kind kind, bool forward, double scale,
                                            const taper_tensor *from, taper_tensor *to, size_t dim, bool twosided);
// Sets *scale to the factor of PyTorch's fft_norm_mode for n points: 0 gives 1, 1 gives the square root of 1 / n, 2
// gives 1 / n. Fails for other modes.
TAPER_MUST_USE taper_status taper_fft_scale(taper_run *run, int64_t mode, double n, double *scale);

#endif
