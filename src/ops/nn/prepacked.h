// SPDX-License-Identifier: BSD-2-Clause
// The packed-weight objects of files that were prepared for XNNPACK, Vulkan or Metal. They stay what the file holds:
// objects of a torchbind class whose slot 0 is the pickled state, a tuple or list. Each use checks it.
#ifndef TAPER_OPS_PREPACKED_H
#define TAPER_OPS_PREPACKED_H

#include "ops/nn/conv.h"
#include "ops/nn/linear.h"

// Argument 0 is the input, argument 1 the packed weights. Called by taper_conv_parse and taper_linear_parse.
TAPER_MUST_USE taper_status taper_prepacked_conv_parse(taper_call *call, taper_conv_args *args);
TAPER_MUST_USE taper_status taper_prepacked_linear_parse(taper_call *call, taper_linear_args *args);

// What the object says; args are zeroed, without input.
TAPER_MUST_USE taper_status taper_prepacked_conv_state(const taper_call *call, const taper_object *object,
                                                       taper_conv_args *args);
TAPER_MUST_USE taper_status taper_prepacked_linear_state(const taper_call *call, const taper_object *object,
                                                         taper_linear_args *args);

#endif
