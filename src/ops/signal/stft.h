// SPDX-License-Identifier: BSD-2-Clause
// What stft and istft share: their arguments and the window.
#ifndef TAPER_OPS_STFT_H
#define TAPER_OPS_STFT_H

#include "ops/signal/fft.h"

// The arguments that both have in common.
typedef struct taper_frames {
    int64_t n_fft, hop, win_length;
    taper_tensor *window; // borrowed; NULL: ones
    bool normalized;
} taper_frames;

// Arguments 1 to 4. back: of istft.
TAPER_MUST_USE taper_status taper_stft_frames(const taper_call *call, taper_frames *f, bool back);
// n_fft numbers of that dtype: the window in the middle of zeros.
TAPER_MUST_USE taper_status taper_stft_window(taper_run *run, const taper_frames *f, taper_dtype dtype,
                                              taper_tensor **window);

#endif
