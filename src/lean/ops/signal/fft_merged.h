// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/signal/fft_merged.h in small builds, which omit its code.
#ifndef TAPER_OPS_SIGNAL_FFT_MERGED_H
#define TAPER_OPS_SIGNAL_FFT_MERGED_H

static inline bool taper_fft_merges(const taper_fft *fft, bool wide)
{
    (void)fft, (void)wide;
    return false;
}

#endif
