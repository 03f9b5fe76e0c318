// SPDX-License-Identifier: BSD-2-Clause
// The struct of taper_calibrator. calibrator.c loads, calibrates and makes drafts. calibrator_compare.c runs the
// float model beside the quantized one.
#ifndef TAPER_RUNTIME_CALIBRATOR_H
#define TAPER_RUNTIME_CALIBRATOR_H

#include <taper/taper_inspect.h>

#include "runtime/draft.h"

typedef struct taper_noise { // both are sums of squares
    double signal, noise;
} taper_noise;

struct taper_calibrator {
    taper_context *context;
    const struct taper_compiler *compiler;
    // Copies of the arguments, for later drafts.
    taper_arena arena;
    const char *path; // NULL if the model is in bytes
    const void *bytes;
    size_t size;
    taper_load_options load;
    taper_quantize_options options;

    taper_quantization *quantization;
    taper_draft *draft; // planned after the first run, then NULL
    taper_model *model; // the float model
    taper_session *session;
    const char *forward; // name of forward's graph
    uint32_t param_count;
    const uint32_t *params; // ids of forward's parameters
    taper_error *failure;   // error of the current run, because observe functions return no status
    taper_status status;
    bool planned;
    bool running; // true during a call, in which callbacks must not call again

    // Members for comparisons.
    taper_model *quantized;
    taper_session *quantized_session;
    uint32_t *value_steps, *made_steps; // step + 1 by id of the value, in the float and the quantized graph
    uint32_t made_count;
    taper_tensor **seen; // by step: the float result of the current run
    taper_noise *noises;
    taper_noise total;
};

// Makes a draft that is prepared and quantized as planned. keep_root: the draft will run and not be saved.
TAPER_MUST_USE taper_status taper_calibrator_draft(taper_calibrator *calibrator, bool keep_root, taper_draft **draft,
                                                   taper_error *error);
// Returns TAPER_ERROR_ARGUMENT during a call of the calibrator, that is if a callback of the host calls it again.
TAPER_MUST_USE taper_status taper_calibrator_idle(const taper_calibrator *calibrator, taper_error *error);
// Returns TAPER_ERROR_ARGUMENT if nothing was calibrated, or during a call.
TAPER_MUST_USE taper_status taper_calibrator_ready(taper_calibrator *calibrator, taper_error *error);
void taper_calibrator_free_comparison(taper_calibrator *calibrator);

#endif
