// SPDX-License-Identifier: BSD-2-Clause
// The struct taper_calibrator. calibrator.c loads a model, calibrates it, and makes drafts (editable copies) of the
// quantized model. calibrator_compare.c runs the float model and the quantized model and compares their results.
#ifndef TAPER_RUNTIME_CALIBRATOR_H
#define TAPER_RUNTIME_CALIBRATOR_H

#include <taper/taper_inspect.h>

#include "runtime/draft.h"

typedef struct taper_noise { // sums of squares of a signal and of its error
    double signal, noise;
} taper_noise;

struct taper_calibrator {
    taper_context *context;
    const struct taper_compiler *compiler;
    // Copies of the arguments of the create call, for later drafts.
    taper_arena arena;
    const char *path; // path of the model; NULL if the model is in `bytes`
    const void *bytes;
    size_t size;
    taper_load_options load;
    taper_quantize_options options;

    taper_quantization *quantization;
    taper_draft *draft; // draft that is planned after the first run; NULL afterwards
    taper_model *model; // model with float operators
    taper_session *session;
    const char *forward; // name of forward's graph
    uint32_t param_count;
    const uint32_t *params; // ids of the parameters of forward
    taper_error *failure;   // error of the current run, stored because observe functions return no status
    taper_status status;
    bool planned;
    bool running; // true during a call, in which a callback must not call the calibrator again

    // The following members are for comparisons.
    taper_model *quantized;
    taper_session *quantized_session;
    // For each value id of the float graph, and of the quantized graph: 1 + the number of the step that computes the
    // value, or 0 if no step does.
    uint32_t *value_steps, *made_steps;
    uint32_t made_count;
    taper_tensor **seen; // for each step: float result in the current run
    taper_noise *noises;
    taper_noise total;
};

// Makes a draft that is prepared and then quantized according to the plan. keep_root: true if the draft will be run and
// not saved.
TAPER_MUST_USE taper_status taper_calibrator_draft(taper_calibrator *calibrator, bool keep_root, taper_draft **draft,
                                                   taper_error *error);
// Returns TAPER_ERROR_ARGUMENT if a call of the calibrator is active, which means that a callback of the host calls it
// again.
TAPER_MUST_USE taper_status taper_calibrator_idle(const taper_calibrator *calibrator, taper_error *error);
// Returns TAPER_ERROR_ARGUMENT if no run was calibrated, or if a call of the calibrator is active.
TAPER_MUST_USE taper_status taper_calibrator_ready(taper_calibrator *calibrator, taper_error *error);
void taper_calibrator_free_comparison(taper_calibrator *calibrator);

#endif
