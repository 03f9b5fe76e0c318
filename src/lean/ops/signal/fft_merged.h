// SPDX-License-Identifier: BSD-2-Clause
// In place of src/ops/signal/fft_merged.h: small builds omit this code.
#ifndef TAPER_OPS_SIGNAL_FFT_MERGED_H
#define TAPER_OPS_SIGNAL_FFT_MERGED_H

static inline bool taper_fft_merges(const taper_fft *fft, bool wide)
{
    (void)fft, (void)wide;
    return false;
}

#endif
