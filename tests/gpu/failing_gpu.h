// SPDX-License-Identifier: BSD-2-Clause
// A GPU interface (backends/gpu/gpu_api.h: Vulkan, or the interface in GPU_INTERFACE) whose calls fail on command.
// set_failing_gpu installs it in a context.
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

// Makes the n-th call of this kind from now on fail as if the device were lost. n counts from 1; with 0 no call fails.
void gpu_fail(gpu_call call, size_t n);
size_t gpu_calls(gpu_call call); // returns the number of calls so far
size_t gpu_alive(void);          // returns the number of live buffers, pipelines, recordings and devices
// Makes the results of runs wrong from now on: of every run, or of every second run.
typedef enum gpu_wrong { GPU_RIGHT, GPU_WRONG, GPU_WRONG_NOW_AND_THEN } gpu_wrong;
void gpu_answer(gpu_wrong how);
// Calls `what` after each run from now on; with NULL calls nothing.
void gpu_after_runs(void (*what)(void *user), void *user);
// gpu_is_newer makes the driver report a version that is higher by `versions`. gpu_crash ends the process in the next
// run, or, if `opening` is true, when a driver is opened the next time.
void gpu_is_newer(unsigned versions);
void gpu_crash(bool opening);
// Returns the size of the compiled data that a driver last received from an earlier process, in bytes.
size_t gpu_taken(void);
// gpu_hide hides the device's memory from the host from now on, as on graphics cards. gpu_copies returns the number of
// copies between buffers so far.
void gpu_hide(bool hidden);
size_t gpu_copies(void);
// Turns estimates on or off (off at first) for devices that are opened from now on, unless their options turn them off.
// most: number of operations per second, and of bytes per second, that the estimates assume as measured; 0 to assume no
// measurement.
void gpu_estimate(bool on, double most);
double gpu_seconds(void); // returns the seconds that the last run took in the interface
void gpu_slow(bool slow); // makes runs a tenth of a second slower; with sanitizers, a second
// Makes creating a pipeline a tenth of a second slower, and freeing a buffer a little slower.
void gpu_slow_pipelines(bool slow);
// Installs the failing interface in the context's device "vulkan", or in the device that GPU_INTERFACE names.
taper_status set_failing_gpu(taper_context *context, taper_error *error);

#endif
