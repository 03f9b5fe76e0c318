// SPDX-License-Identifier: BSD-2-Clause
// What those share that pack layers' weights into a backend's objects, and that unpack them.
#ifndef TAPER_COMPILER_PREPACK_H
#define TAPER_COMPILER_PREPACK_H

#include "compiler/pass.h"

// Calls a prepack operator. *object is what it gave, a reference; None when this build lacks the operator or it refused
// the arguments.
TAPER_MUST_USE taper_status taper_prepack_object(taper_compilation *compilation, const taper_op *op, taper_val *args,
                                                 size_t count, taper_val *object);
// The matrix seen with its dimensions swapped.
TAPER_MUST_USE taper_status taper_transposed_weight(const taper_compilation *compilation, const taper_tensor *w,
                                                    taper_tensor **made);
// The row that packs (TAPER_OP_PACKS) or runs (TAPER_OP_PACKED) a layer for whom the model is prepared; NULL: there is
// none.
const taper_op *taper_prepack_row(const taper_compilation *compilation, uint64_t what, taper_op_layer layer);
// Rewrites a GRU or LSTM layer where those rows are there; leaves any other node alone (prepack_recurrent.c).
TAPER_MUST_USE taper_status taper_prepack_recurrent(taper_compilation *compilation, taper_node *node);

#endif
