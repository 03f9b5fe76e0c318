// SPDX-License-Identifier: BSD-2-Clause
// Helpers of the passes that pack the weights of layers into a backend's objects, and of the pass that unpacks them.
#ifndef TAPER_COMPILER_PREPACK_H
#define TAPER_COMPILER_PREPACK_H

#include "compiler/pass.h"

// Calls a prepack operator. *object is its result, a reference, or None if this build lacks the operator or the
// operator refused the arguments.
TAPER_MUST_USE taper_status taper_prepack_object(taper_compilation *compilation, const taper_op *op, taper_val *args,
                                                 size_t count, taper_val *object);
// Makes a view of the matrix with its two dimensions swapped.
TAPER_MUST_USE taper_status taper_transposed_weight(const taper_compilation *compilation, const taper_tensor *w,
                                                    taper_tensor **made);
// Returns the row that packs (TAPER_OP_PACKS) or runs (TAPER_OP_PACKED) a layer for the device that the model is
// prepared for, or NULL if there is none.
const taper_op *taper_prepack_row(const taper_compilation *compilation, uint64_t what, taper_op_layer layer);
// Rewrites a GRU or LSTM layer if the device has rows for it. Leaves every other node alone (prepack_recurrent.c).
TAPER_MUST_USE taper_status taper_prepack_recurrent(taper_compilation *compilation, taper_node *node);

#endif
