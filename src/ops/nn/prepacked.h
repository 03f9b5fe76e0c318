// SPDX-License-Identifier: BSD-2-Clause
// The packed-weight objects of files that were prepared for XNNPACK, Vulkan or Metal. The objects remain as the file
// stores them: objects of a torchbind class whose slot 0 is the pickled state, a tuple or a list. Each use checks the
// state.
#ifndef TAPER_OPS_PREPACKED_H
#define TAPER_OPS_PREPACKED_H

#include "ops/nn/conv.h"
#include "ops/nn/linear.h"

// These functions read a call whose argument 0 is the input and whose argument 1 is the packed weights.
// taper_conv_parse and taper_linear_parse call them.
TAPER_MUST_USE taper_status taper_prepacked_conv_parse(taper_call *call, taper_conv_args *args);
TAPER_MUST_USE taper_status taper_prepacked_linear_parse(taper_call *call, taper_linear_args *args);

// Reads the object's state into args, except for the input. args must be zeroed; the tensors in it are borrowed from
// the object.
TAPER_MUST_USE taper_status taper_prepacked_conv_state(const taper_call *call, const taper_object *object,
                                                       taper_conv_args *args);
TAPER_MUST_USE taper_status taper_prepacked_linear_state(const taper_call *call, const taper_object *object,
                                                         taper_linear_args *args);

#endif
