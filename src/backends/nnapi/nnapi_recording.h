// SPDX-License-Identifier: BSD-2-Clause
// A segment for given shapes: its compiled network, and the network's inputs and outputs for a call's arguments and
// results.
#ifndef TAPER_BACKENDS_NNAPI_RECORDING_H
#define TAPER_BACKENDS_NNAPI_RECORDING_H

#include "backends/common/trial.h"
#include "backends/nnapi/execution.h"
#include "backends/nnapi/translate.h"
#include "ops/backend.h"

// How a tensor is stored in an input or an output of the network.
typedef struct taper_nnapi_recorded_tensor {
    uint32_t arg;       // number of the argument; only for an input
    taper_dtype stored; // dtype of the elements in the network
    bool image;         // true if the tensor is [N, H, W, C] in the network
    // The members below are for a result. last: true if the result is channels-last in PyTorch too. quantized: true if
    // the result has a scale. sized: true if the sizes of the result are known.
    bool last, quantized, sized;
    taper_dtype dtype;
    double scale;
    int64_t zero_point;
    size_t rank; // PyTorch's rank and sizes, valid if `sized`
    int64_t sizes[TAPER_MAX_RANK];
} taper_nnapi_recorded_tensor;

typedef struct taper_nnapi_recording {
    taper_translated translated; // translation, kept if the compilation refers to it
    taper_nnapi_compiled compiled;
    taper_nnapi_execution execution;
    taper_nnapi_recorded_tensor *tensors; // tensors of the inputs, then of the outputs
    taper_trial trial;
} taper_nnapi_recording;

// The functions of taper_backend for recordings.
taper_status taper_nnapi_record(const taper_segment *segment, taper_call *call, void *recording);
taper_status taper_nnapi_run(const taper_segment *segment, taper_call *call, void *recording);
void taper_nnapi_forget(const taper_segment *segment, void *recording);
void taper_nnapi_measured(const taper_segment *segment, taper_run *run, void *recording, double seconds);

// Writes one log line that starts with the name of the device.
TAPER_COLD void taper_nnapi_say(const taper_segment *segment, const taper_run *run, taper_log_level level,
                                const char *format, ...) TAPER_PRINTF(4, 5);

#endif
