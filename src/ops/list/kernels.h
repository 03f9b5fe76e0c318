// SPDX-License-Identifier: BSD-2-Clause
// Prototypes of every operator's kernel, made from the operator list and the list of those for quantized tensors.
#ifndef TAPER_OPS_KERNELS_H
#define TAPER_OPS_KERNELS_H

#include "ops/call/call.h"

#define OP(id, schema, kernel, param, flags) taper_status kernel(taper_call *call);
#define IN_PLACE(id, of, flags)
#define OUT(id, of, flags)
#include "ops/list/op_list.h"
#undef OP
#undef IN_PLACE
#undef OUT
#define QUANTIZED(id, kernel, schemes) taper_status kernel(taper_call *call);
#include "ops/quantized/quantized_kernels.inc"
#undef QUANTIZED

#endif
