// SPDX-License-Identifier: BSD-2-Clause
// A segment for given shapes: what the device was given to do, its memory, and where arguments and results stand in it.
#ifndef TAPER_BACKENDS_GPU_RECORDING_H
#define TAPER_BACKENDS_GPU_RECORDING_H

#include "backends/common/trial.h"
#include "backends/gpu/gpu_estimate.h"
#include "backends/gpu/gpu_program.h"

typedef struct taper_gpu_port {
    uint32_t number; // of the argument or result
    uint64_t offset; // in the buffer of all inputs, or outputs, or of what stays
    bool stays;      // the tensor is with the device (gpu_held.h)
    uint64_t bytes;
    uint8_t rank; // of a result, as dtype
    uint8_t dtype;
    uint32_t most, below; // of an argument: as those of its memory
    bool wraps;           // the same
    int64_t sizes[TAPER_MAX_RANK];
    double scale; // of quint8
    int32_t zero_point;
} taper_gpu_port;

typedef struct taper_gpu_recording {
    taper_gpu_program program;
    taper_gpu_shared *shared; // whose the arena is; NULL: there is none
    taper_gpu_buffer arena, inputs, outputs, parameters, stays_in, stays_out;
    taper_gpu_recorded *recorded;
    taper_gpu_port *ports; // of inputs, then of outputs
    size_t in_count, out_count;
    double *seconds; // of the last run, then the least so far, of each dispatch; NULL: nobody asks
    unsigned runs;
    bool waits;            // for its pipelines: nothing is recorded yet, the CPU does it
    bool tried;            // the device is marked as tried until it has shown what it gives (gpu_kept.h)
    bool checked, refused; // its first results were held against the CPU's; and were others
    uint64_t trial_hash;   // of what the trial is about
    taper_trial trial;
    taper_gpu_estimate estimate; // before anything was learned
} taper_gpu_recording;

// taper_backend's
taper_status taper_gpu_record(const taper_segment *segment, taper_call *call, void *recording);
taper_status taper_gpu_run(const taper_segment *segment, taper_call *call, void *recording);
void taper_gpu_forget(const taper_segment *segment, void *recording);
void taper_gpu_storages(const taper_segment *segment, const void *recording, taper_each_storage *each, void *user);
void taper_gpu_measured(const taper_segment *segment, taper_run *run, void *recording, double seconds);

// The tensor; of a quantized one its numbers, as uint8 (gpu_submit.c).
taper_tensor taper_gpu_plain(const taper_tensor *tensor);
// Copies arguments in, submits, and leaves results in call->rets (gpu_submit.c).
TAPER_MUST_USE taper_status taper_gpu_run_device(const taper_segment *segment, taper_call *call,
                                                 taper_gpu_recording *recording);
extern const char taper_gpu_was_slower[], taper_gpu_no_such_index[]; // why a call is declined
// What waits for pipelines is recorded when they are there. TAPER_DECLINED: not yet, or it cannot be.
TAPER_MUST_USE taper_status taper_gpu_stop_waiting(const taper_segment *segment, taper_call *call,
                                                   taper_gpu_recording *recording);
// The recording is no longer what the device is marked for, if it was. Under the lock.
void taper_gpu_end_trying(const taper_segment *segment, taper_gpu_recording *recording);
// The first run: the device's results, if they are the CPU's and the same once more; TAPER_DECLINED: they are not, and
// the recording is refused from now on (gpu_check.c).
TAPER_MUST_USE taper_status taper_gpu_check(const taper_segment *segment, taper_call *call,
                                            taper_gpu_recording *recording);

#endif
