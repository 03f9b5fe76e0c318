// SPDX-License-Identifier: BSD-2-Clause
// A segment for given shapes: the commands of the device, their memory, and the places of arguments and results in this
// memory.
#ifndef TAPER_BACKENDS_GPU_RECORDING_H
#define TAPER_BACKENDS_GPU_RECORDING_H

#include "backends/common/trial.h"
#include "backends/gpu/gpu_estimate.h"
#include "backends/gpu/gpu_program.h"

typedef struct taper_gpu_port {
    uint32_t number; // number of the argument or result
    uint64_t offset; // offset in the buffer of all inputs, of all outputs, or of tensors that stay
    bool stays;      // true if the tensor is on the device (gpu_held.h)
    uint64_t bytes;
    uint8_t rank; // rank, dtype, sizes and scale are set only for a result
    uint8_t dtype;
    uint32_t most, below; // limits of an argument's integers and indices, as in taper_gpu_memory
    bool wraps;           // true if negative indices count from the end, as in taper_gpu_memory
    int64_t sizes[TAPER_MAX_RANK];
    double scale; // scale of a quint8 tensor
    int32_t zero_point;
} taper_gpu_port;

typedef struct taper_gpu_recording {
    taper_gpu_program program;
    taper_gpu_shared *shared; // the shared arena, or NULL if the recording uses none
    taper_gpu_buffer arena, inputs, outputs, parameters, stays_in, stays_out;
    taper_gpu_recorded *recorded;
    taper_gpu_port *ports; // ports (places of arguments and results): of the inputs, then of the outputs
    size_t in_count, out_count;
    // Time of each dispatch in the last run, then the shortest time of each so far, in seconds; NULL if times are not
    // logged.
    double *seconds;
    unsigned runs;
    bool waits; // true while pipelines of the recording are made; the CPU runs the segment until they are complete
    bool tried; // true if the device is marked as being tried until this recording's first results exist (gpu_kept.h)
    bool checked,
        // `checked` is true after first results were compared with the CPU's, and `refused` is true if the results
        // differed.
        refused;
    uint64_t trial_hash; // hash of everything that decides which is faster, the device or the CPU
    taper_trial trial;
    taper_gpu_estimate estimate; // estimate without corrections by measurements
} taper_gpu_recording;

// The functions of taper_backend for recordings.
taper_status taper_gpu_record(const taper_segment *segment, taper_call *call, void *recording);
taper_status taper_gpu_run(const taper_segment *segment, taper_call *call, void *recording);
void taper_gpu_forget(const taper_segment *segment, void *recording);
void taper_gpu_storages(const taper_segment *segment, const void *recording, taper_each_storage *each, void *user);
void taper_gpu_measured(const taper_segment *segment, taper_run *run, void *recording, double seconds);

// Returns the tensor itself, or a quantized tensor's integers as uint8 (gpu_submit.c).
taper_tensor taper_gpu_plain(const taper_tensor *tensor);
// Copies arguments to the device, submits the recording, and stores results in call->rets (gpu_submit.c).
TAPER_MUST_USE taper_status taper_gpu_run_device(const taper_segment *segment, taper_call *call,
                                                 taper_gpu_recording *recording);
extern const char taper_gpu_was_slower[], taper_gpu_no_such_index[]; // reasons why a call is declined
// Records a segment whose pipelines are now complete. Returns TAPER_DECLINED if they are not complete, or if the
// segment cannot be recorded.
TAPER_MUST_USE taper_status taper_gpu_stop_waiting(const taper_segment *segment, taper_call *call,
                                                   taper_gpu_recording *recording);
// Removes the mark (gpu_kept.h) that this recording set on the device, if it set one. The caller holds the lock.
void taper_gpu_end_trying(const taper_segment *segment, taper_gpu_recording *recording);
// Makes the first run, and repeats it. If both results are equal and agree with the CPU's, they are returned. Otherwise
// returns TAPER_DECLINED and refuses the recording from now on (gpu_check.c).
TAPER_MUST_USE taper_status taper_gpu_check(const taper_segment *segment, taper_call *call,
                                            taper_gpu_recording *recording);

#endif
