// SPDX-License-Identifier: BSD-2-Clause
// The cells of recurrent networks in float32, by the vector kernels. For runs that are not portable.
#ifndef TAPER_OPS_RECURRENT_CELLS_H
#define TAPER_OPS_RECURRENT_CELLS_H

#include "ops/kernels/kernel_select.h"
#include "ops/nn/recurrent.h"

// h = tanh(gates), or their positive part.
void taper_plain_cell(const taper_vector_entry *vector, bool relu, size_t count, const float *gates, float *h);
// Rows of all gates of `hidden` units, one gate after the other, and rows of states; gates are scratch afterwards.
// of_state: of GRU, what all gates get of the state; those of others have it.
void taper_rnn_cells(const taper_vector_entry *vector, taper_rnn_kind kind, int64_t rows, int64_t hidden, float *gates,
                     const float *of_state, float *c, float *h);

#endif
