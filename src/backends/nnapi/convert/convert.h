// SPDX-License-Identifier: BSD-2-Clause
// Conversion of files for NNAPI. convert_draft.c finds the segments of forward that NNAPI supports and translates them.
// convert_module.c writes each segment as PyTorch's NnapiModule, and adds calls of it.
#ifndef TAPER_NNAPI_CONVERT_H
#define TAPER_NNAPI_CONVERT_H

#include <taper/taper_compile.h>

#include "backends/nnapi/network.h"
#include "backends/nnapi/nnapi_options.h"
#include "compiler_hook.h"
#include "ir/infer.h"

// A segment of forward that becomes a module.
typedef struct taper_nnapi_part {
    taper_compilation *compilation;
    taper_graph *graph;
    taper_node *segment; // segment that the module replaces
    const taper_network *network;
    const taper_ir_value *const *inputs; // values of the network's inputs
    const double *scales;                // exact scales of the network's quantized outputs
    size_t number;                       // number of the module within the file
    int preference;                      // code ANEURALNETWORKS_PREFER_…: whether speed or low power matters most
    bool relax;
} taper_nnapi_part;

// Replaces the segment by calls of a new attribute of the root. *results receives the new values of the segment's
// outputs.
TAPER_MUST_USE taper_status taper_nnapi_write_module(const taper_nnapi_part *part, taper_ir_value ***results,
                                                     taper_error *error);

// taper_nnapi_conversion_read copies and checks the settings of a conversion, with defaults for members that are 0.
// taper_nnapi_sample_shape returns the shape of an input's sample. Sizes of 0, and flexible sizes, are unknown.
TAPER_MUST_USE taper_status taper_nnapi_conversion_read(const taper_nnapi_conversion *given,
                                                        taper_nnapi_conversion *conversion, taper_error *error);
taper_shape taper_nnapi_sample_shape(const taper_value *sample, taper_nnapi_sizes free_sizes);
// Adds a check at the start of the graph: the inputs must have these shapes. `count` includes self, the first
// parameter.
TAPER_MUST_USE taper_status taper_nnapi_check_inputs(taper_compilation *compilation, taper_graph *graph,
                                                     const taper_shape *inputs, size_t count);

#endif
