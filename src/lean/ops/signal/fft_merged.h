// SPDX-License-Identifier: BSD-2-Clause
// Small builds do without.
#ifndef TAPER_OPS_SIGNAL_FFT_MERGED_H
#define TAPER_OPS_SIGNAL_FFT_MERGED_H

static inline bool taper_fft_merges(const taper_fft *fft, bool wide)
{
    (void)fft, (void)wide;
    return false;
}

#endif
