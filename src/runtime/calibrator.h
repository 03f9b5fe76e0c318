// SPDX-License-Identifier: BSD-2-Clause
// What is behind taper_calibrator. calibrator.c loads, calibrates and makes drafts; calibrator_compare.c runs the float
// model beside the quantized one.
#ifndef TAPER_RUNTIME_CALIBRATOR_H
#define TAPER_RUNTIME_CALIBRATOR_H

#include <taper/taper_inspect.h>

#include "runtime/draft.h"

typedef struct taper_noise { // sums of squares
    double signal, noise;
} taper_noise;

struct taper_calibrator {
    taper_context *context;
    const struct taper_compiler *compiler;
    // What was given, kept for the drafts to come.
    taper_arena arena;
    const char *path; // NULL: bytes
    const void *bytes;
    size_t size;
    taper_load_options load;
    taper_quantize_options options;

    taper_quantization *quantization;
    taper_draft *draft; // to be planned after the first run; then NULL
    taper_model *model; // float
    taper_session *session;
    const char *forward; // the graph's name
    uint32_t param_count;
    const uint32_t *params; // their numbers
    taper_error *failure;   // of the run in progress, as observing has no result
    taper_status status;
    bool planned;
    bool running; // a call is under way: its callbacks make no other

    // Of comparisons.
    taper_model *quantized;
    taper_session *quantized_session;
    uint32_t *value_steps, *made_steps; // step + 1 by number of value, in the float and the quantized graph
    uint32_t made_count;
    taper_tensor **seen; // by step: the float result of the run in progress
    taper_noise *noises;
    taper_noise total;
};

// A draft that is prepared, and quantized as planned. keep_root: to be run rather than saved.
TAPER_MUST_USE taper_status taper_calibrator_draft(taper_calibrator *calibrator, bool keep_root, taper_draft **draft,
                                                   taper_error *error);
// Returns TAPER_ERROR_ARGUMENT if a call of the calibrator is under way: a callback of the host, which the call runs,
// has called it again.
TAPER_MUST_USE taper_status taper_calibrator_idle(const taper_calibrator *calibrator, taper_error *error);
// Returns TAPER_ERROR_ARGUMENT if nothing was calibrated, or a call is under way.
TAPER_MUST_USE taper_status taper_calibrator_ready(taper_calibrator *calibrator, taper_error *error);
void taper_calibrator_free_comparison(taper_calibrator *calibrator);

#endif
