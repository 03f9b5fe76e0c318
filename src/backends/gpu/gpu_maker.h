// SPDX-License-Identifier: BSD-2-Clause
// Makes pipelines in the background while the CPU runs the segments that need them. A driver takes milliseconds or
// seconds for each pipeline, and a run with a time limit cannot wait.
#ifndef TAPER_BACKENDS_GPU_MAKER_H
#define TAPER_BACKENDS_GPU_MAKER_H

#include "backends/gpu/gpu_state.h"

// The caller must hold the lock when it calls the functions below.

// Returns true if the pipeline exists. If it does not exist, a thread will make it. If the thread fails to make it, the
// caller that needs the pipeline gets the error.
bool taper_gpu_wish_pipeline(taper_gpu_state *state, taper_gpu_kernel kernel, bool texels, const uint32_t *constants);
// Starts a thread that makes all requested pipelines and then ends. Returns false, and drops all requests, if no thread
// can be started.
bool taper_gpu_make_wishes(taper_gpu_state *state);
static inline bool taper_gpu_is_making(const taper_gpu_state *state)
{
    return state->wishes != NULL;
}

// Stops making pipelines, and joins the thread. The caller must not hold the lock.
void taper_gpu_stop_making(taper_gpu_state *state);

#endif
