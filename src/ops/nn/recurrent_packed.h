// SPDX-License-Identifier: BSD-2-Clause
// One direction of one recurrent layer in float32 with packed weights. The model keeps the packed weights if it owns
// the weights.
#ifndef TAPER_OPS_RECURRENT_PACKED_H
#define TAPER_OPS_RECURRENT_PACKED_H

#include "ops/call/packs.h"
#include "ops/nn/recurrent.h"

typedef struct taper_rnn_packed {
    taper_call *call;
    const struct taper_gemm_entry *entry;
    taper_rnn_kind kind;
    const taper_rnn_weights *weights; // weights, borrowed like every argument of taper_rnn_packed_open
    size_t in, hidden, projected, gates;
    size_t block, blocks;             // number of units of a block; number of blocks, of which the last one is padded
    size_t width;                     // number of floats in a row of gates; its order is by block, then by gate
    size_t panel_floats;              // number of floats in a panel of the weights for the state
    taper_pack input, state, project; // packed weights of the input, the state and the projection
    float *fresh, *products;          // new states; for GRU, the part of the new gate that comes from the state
    size_t scratch_bytes;
    size_t batch;
} taper_rnn_packed;

// Packs the weights. Returns TAPER_DECLINED if the arguments do not fit, or if packing would take longer than it saves.
// The caller calls taper_rnn_packed_close in every case.
TAPER_MUST_USE taper_status taper_rnn_packed_open(taper_call *call, taper_rnn_kind kind,
                                                  const taper_rnn_weights *weights, const taper_tensor *x,
                                                  int64_t batch, int64_t hidden, int64_t projected,
                                                  taper_rnn_packed *packed);
// Computes the parts of the gates that depend on the input, for all rows of x.
TAPER_MUST_USE taper_status taper_rnn_packed_start(const taper_rnn_packed *packed, const taper_tensor *x, float *gates);
// Runs one step of `rows` sequences, and updates their states h and, for an LSTM, c. If `backward` is set, the state's
// weights are read from the last to the first. If a caller alternates `backward` from step to step, the weights that
// were read last are still in the cache.
TAPER_MUST_USE taper_status taper_rnn_packed_step(const taper_rnn_packed *packed, float *gates, size_t rows, float *h,
                                                  float *c, bool backward);
void taper_rnn_packed_close(taper_rnn_packed *packed);

#endif
