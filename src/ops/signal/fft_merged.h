// SPDX-License-Identifier: BSD-2-Clause
// The choice of merging. If there are too few lines to fill the lanes, a long line of floats is transformed as eight
// interleaved shorter lines, whose results are then merged (fft_plan.c).
#ifndef TAPER_OPS_SIGNAL_FFT_MERGED_H
#define TAPER_OPS_SIGNAL_FFT_MERGED_H

static inline bool taper_fft_merges(const taper_fft *fft, bool wide)
{
    enum { LONG_LINE = 1024, MOST = TAPER_FFT_LANES };
    return !wide && fft->padded == 0 && fft->m >= LONG_LINE && fft->m % (MOST * MOST) == 0;
}

#endif
