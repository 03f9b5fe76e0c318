// SPDX-License-Identifier: BSD-2-Clause
// Files converted for NNAPI. convert_draft.c finds the parts of forward that NNAPI takes and translates them;
// convert_module.c writes each as PyTorch's NnapiModule, and the calls of it.
#ifndef TAPER_NNAPI_CONVERT_H
#define TAPER_NNAPI_CONVERT_H

#include <taper/taper_compile.h>

#include "backends/nnapi/network.h"
#include "backends/nnapi/nnapi_options.h"
#include "compiler_hook.h"
#include "ir/infer.h"

// A part of forward, as a module.
typedef struct taper_nnapi_part {
    taper_compilation *compilation;
    taper_graph *graph;
    taper_node *segment; // it stands for
    const taper_network *network;
    const taper_ir_value *const *inputs; // of the network's inputs
    const double *scales;                // of the network's outputs, exactly, where they are quantized
    size_t number;                       // of several
    int preference;                      // ANEURALNETWORKS_PREFER_
    bool relax;
} taper_nnapi_part;

// The segment's node goes, and calls of a new attribute of the root take its place. *results: its outputs' values now.
TAPER_MUST_USE taper_status taper_nnapi_write_module(const taper_nnapi_part *part, taper_ir_value ***results,
                                                     taper_error *error);

// What is known of an input by its sample: sizes of 0, and those that shall be flexible, are not.
// Copies the settings of a conversion, with the defaults in place of what is 0, and checks them.
TAPER_MUST_USE taper_status taper_nnapi_conversion_read(const taper_nnapi_conversion *given,
                                                        taper_nnapi_conversion *conversion, taper_error *error);
taper_shape taper_nnapi_sample_shape(const taper_value *sample, taper_nnapi_sizes free_sizes);
// The graph begins with a check that its inputs are such; count: with self, which is the first.
TAPER_MUST_USE taper_status taper_nnapi_check_inputs(taper_compilation *compilation, taper_graph *graph,
                                                     const taper_shape *inputs, size_t count);

#endif
