// SPDX-License-Identifier: BSD-2-Clause
// One direction of one recurrent layer in float32 with packed weights, which the model keeps where they are its own.
#ifndef TAPER_OPS_RECURRENT_PACKED_H
#define TAPER_OPS_RECURRENT_PACKED_H

#include "ops/call/packs.h"
#include "ops/nn/recurrent.h"

typedef struct taper_rnn_packed {
    taper_call *call;
    const struct taper_gemm_entry *entry;
    taper_rnn_kind kind;
    const taper_rnn_weights *weights; // borrowed, as all that is given to open
    size_t in, hidden, projected, gates;
    size_t block, blocks;             // units of one, the last one's missing ones included
    size_t width;                     // floats of a row of gates: block after block, gate after gate
    size_t panel_floats;              // of the state's weights
    taper_pack input, state, project; // packed weights
    float *fresh, *products;          // new states; GRU: what the new gate gets of the state
    size_t scratch_bytes;
    size_t batch;
} taper_rnn_packed;

// TAPER_DECLINED: something is not as it should be, or packing would take longer than it saves. Whatever else it says,
// close follows.
TAPER_MUST_USE taper_status taper_rnn_packed_open(taper_call *call, taper_rnn_kind kind,
                                                  const taper_rnn_weights *weights, const taper_tensor *x,
                                                  int64_t batch, int64_t hidden, int64_t projected,
                                                  taper_rnn_packed *packed);
// The gates of all rows of x as far as they depend on it.
TAPER_MUST_USE taper_status taper_rnn_packed_start(const taper_rnn_packed *packed, const taper_tensor *x, float *gates);
// One step of `rows` sequences, whose states h (and c, of LSTM) are updated. backward: of the state's weights the last
// ones come first. Who asks for that in every second step finds in the cache what was read last.
TAPER_MUST_USE taper_status taper_rnn_packed_step(const taper_rnn_packed *packed, float *gates, size_t rows, float *h,
                                                  float *c, bool backward);
void taper_rnn_packed_close(taper_rnn_packed *packed);

#endif
