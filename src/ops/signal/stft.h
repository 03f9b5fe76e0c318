// SPDX-License-Identifier: BSD-2-Clause
// The arguments and the window that stft and istft share.
#ifndef TAPER_OPS_STFT_H
#define TAPER_OPS_STFT_H

#include "ops/signal/fft.h"

// The arguments that both operators have: n_fft, hop and win_length in samples.
typedef struct taper_frames {
    int64_t n_fft, hop, win_length;
    taper_tensor *window; // window, borrowed from the call; NULL if all its elements are 1
    bool normalized;
} taper_frames;

// Reads and checks arguments 1 to 4: n_fft, hop_length, win_length and window. `back` is true for istft, whose
// hop_length must not exceed win_length. f->normalized is not changed.
TAPER_MUST_USE taper_status taper_stft_frames(const taper_call *call, taper_frames *f, bool back);
// Makes a new tensor of n_fft numbers of this dtype. Its middle is the window, or win_length ones if no window is
// given. The other numbers are zeros. The caller releases it.
TAPER_MUST_USE taper_status taper_stft_window(taper_run *run, const taper_frames *f, taper_dtype dtype,
                                              taper_tensor **window);

#endif
