// SPDX-License-Identifier: BSD-2-Clause
// Pipelines that are made in the background, while the CPU does what they are for: drivers take milliseconds for each,
// or seconds, and a run with little time cannot wait for them.
#ifndef TAPER_BACKENDS_GPU_MAKER_H
#define TAPER_BACKENDS_GPU_MAKER_H

#include "backends/gpu/gpu_state.h"

// All under the lock.

// Whether it is there. False: it is wished for, and will be, or failed: then whoever asks for it hears why.
bool taper_gpu_wish_pipeline(taper_gpu_state *state, taper_gpu_kernel kernel, bool texels, const uint32_t *constants);
// What was wished for and is not there is made from here on, by a thread that ends with it. False: there is none, so
// nothing is wished for any more.
bool taper_gpu_make_wishes(taper_gpu_state *state);
static inline bool taper_gpu_is_making(const taper_gpu_state *state)
{
    return state->wishes != NULL;
}

// Not under the lock: nothing more is made, and no thread is left.
void taper_gpu_stop_making(taper_gpu_state *state);

#endif
