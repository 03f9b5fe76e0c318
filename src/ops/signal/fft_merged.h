// SPDX-License-Identifier: BSD-2-Clause
// Long lines alone are transformed as several that are merged.
#ifndef TAPER_OPS_SIGNAL_FFT_MERGED_H
#define TAPER_OPS_SIGNAL_FFT_MERGED_H

static inline bool taper_fft_merges(const taper_fft *fft, bool wide)
{
    enum { LONG_LINE = 1024, MOST = TAPER_FFT_LANES };
    return !wide && fft->padded == 0 && fft->m >= LONG_LINE && fft->m % (MOST * MOST) == 0;
}

#endif
