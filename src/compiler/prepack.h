// SPDX-License-Identifier: BSD-2-Clause
// Helpers of the passes that pack the weights of layers into a backend's objects, and of the pass that unpacks them.
#ifndef TAPER_COMPILER_PREPACK_H
#define TAPER_COMPILER_PREPACK_H

#include "compiler/pass.h"

// Calls a prepack operator. *object receives its result, a reference that the caller releases. *object is None if this
// build lacks the operator or the operator refused the arguments.
TAPER_MUST_USE taper_status taper_prepack_object(taper_compilation *compilation, const taper_op *op, taper_val *args,
                                                 size_t count, taper_val *object);
// Makes a view of the matrix w with its two dimensions swapped.
TAPER_MUST_USE taper_status taper_transposed_weight(const taper_compilation *compilation, const taper_tensor *w,
                                                    taper_tensor **made);
// Returns the operator for this kind of layer on the device for which the model is prepared: the operator that packs
// the weights if `what` is TAPER_OP_PACKS, or the operator that runs the layer if it is TAPER_OP_PACKED. Returns NULL
// if there is none.
const taper_op *taper_prepack_row(const taper_compilation *compilation, uint64_t what, taper_op_layer layer);
// Rewrites a GRU or LSTM layer if the device has operators for it (prepack_recurrent.c). Leaves every other node
// unchanged.
TAPER_MUST_USE taper_status taper_prepack_recurrent(taper_compilation *compilation, taper_node *node);

#endif
