// SPDX-License-Identifier: BSD-2-Clause
// The cells of recurrent networks in float32, by the vector kernels. run->portable must be false: a portable run uses
// only the portable loops.
#ifndef TAPER_OPS_RECURRENT_CELLS_H
#define TAPER_OPS_RECURRENT_CELLS_H

#include "ops/kernels/kernel_select.h"
#include "ops/nn/recurrent.h"

// Computes h = tanh(gates), or h = max(gates, 0).
void taper_plain_cell(const taper_vector_entry *vector, bool relu, size_t count, const float *gates, float *h);
// Updates rows of states. A row of gates has `hidden` units per gate, one gate after the other; the function overwrites
// it. For GRU, of_state contains the parts of all gates that come from the state; for other cells the gates already
// contain these parts.
void taper_rnn_cells(const taper_vector_entry *vector, taper_rnn_kind kind, int64_t rows, int64_t hidden, float *gates,
                     const float *of_state, float *c, float *h);

#endif
