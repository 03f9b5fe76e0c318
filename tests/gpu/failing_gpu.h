// SPDX-License-Identifier: BSD-2-Clause
// An interface (backends/gpu/gpu_api.h; Vulkan, or what GPU_INTERFACE says) with a call that fails, for a context:
// set_failing_gpu.
#ifndef TAPER_TESTS_FAILING_GPU_H
#define TAPER_TESTS_FAILING_GPU_H

#include <stdbool.h>

#include <taper/taper.h>

typedef enum gpu_call {
    GPU_OPEN,
    GPU_BUFFER,
    GPU_FLUSH,
    GPU_INVALIDATE,
    GPU_PIPELINE,
    GPU_RECORD,
    GPU_RUN,
    GPU_CALLS
} gpu_call;

// The n-th call of this kind fails from now on, as if the device were lost (n counts from 1; 0: none does).
void gpu_fail(gpu_call call, size_t n);
size_t gpu_calls(gpu_call call); // so far
size_t gpu_alive(void);          // buffers, pipelines, recordings and devices that are there
// From now on results are wrong: every run's, or every second one's.
typedef enum gpu_wrong { GPU_RIGHT, GPU_WRONG, GPU_WRONG_NOW_AND_THEN } gpu_wrong;
void gpu_answer(gpu_wrong how);
void gpu_after_runs(void (*what)(void *user), void *user); // is called behind each, from now on; NULL: nothing is
// The driver says that it is this many versions later; ends the process in the next run or, `opening`, when it is
// opened next.
void gpu_is_newer(unsigned versions);
void gpu_crash(bool opening);
size_t gpu_taken(void); // bytes of what a driver compiled that it was given back, last
// The host does not see the device's own memory any more, as that of graphics cards; copies between buffers so far.
void gpu_hide(bool hidden);
size_t gpu_copies(void);
// Devices that are opened from now on are estimated, or not (which is how it begins), unless their options say that
// they are not; most: as if so many operations, and bytes, in a second had been measured, 0: nothing was.
void gpu_estimate(bool on, double most);
double gpu_seconds(void);           // that the last run took in the interface
void gpu_slow(bool slow);           // runs take a tenth of a second longer, with sanitizers a second
void gpu_slow_pipelines(bool slow); // making one takes a tenth of a second longer, freeing a buffer a bit
// The device "vulkan" (or GPU_INTERFACE) of the context goes through this.
taper_status set_failing_gpu(taper_context *context, taper_error *error);

#endif
