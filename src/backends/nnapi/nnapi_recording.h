// SPDX-License-Identifier: BSD-2-Clause
// A segment for given shapes: its network, compiled, and where arguments and results of a call stand in it.
#ifndef TAPER_BACKENDS_NNAPI_RECORDING_H
#define TAPER_BACKENDS_NNAPI_RECORDING_H

#include "backends/common/trial.h"
#include "backends/nnapi/execution.h"
#include "backends/nnapi/translate.h"
#include "ops/backend.h"

// How a tensor lies in an input or an output of the network.
typedef struct taper_nnapi_recorded_tensor {
    uint32_t arg;       // of an input: which argument
    taper_dtype stored; // of the elements there
    bool image;         // [N, H, W, C] there
    // Of a result.
    bool last, quantized, sized; // last: in channels-last order for PyTorch, too
    taper_dtype dtype;
    double scale;
    int64_t zero_point;
    size_t rank; // sized: as PyTorch has it
    int64_t sizes[TAPER_MAX_RANK];
} taper_nnapi_recorded_tensor;

typedef struct taper_nnapi_recording {
    taper_translated translated; // kept where the compilation refers to it
    taper_nnapi_compiled compiled;
    taper_nnapi_execution execution;
    taper_nnapi_recorded_tensor *tensors; // inputs, then outputs
    taper_trial trial;
} taper_nnapi_recording;

// taper_backend's
taper_status taper_nnapi_record(const taper_segment *segment, taper_call *call, void *recording);
taper_status taper_nnapi_run(const taper_segment *segment, taper_call *call, void *recording);
void taper_nnapi_forget(const taper_segment *segment, void *recording);
void taper_nnapi_measured(const taper_segment *segment, taper_run *run, void *recording, double seconds);

// One line, with the device's name in front.
TAPER_COLD void taper_nnapi_say(const taper_segment *segment, const taper_run *run, taper_log_level level,
                                const char *format, ...) TAPER_PRINTF(4, 5);

#endif
