// SPDX-License-Identifier: BSD-2-Clause
// Recurrent networks: layers of cells over sequences, plain or packed.
#ifndef TAPER_OPS_RECURRENT_H
#define TAPER_OPS_RECURRENT_H

#include "ops/call/call.h"

typedef enum taper_rnn_kind { TAPER_RNN_TANH, TAPER_RNN_RELU, TAPER_RNN_LSTM, TAPER_RNN_GRU } taper_rnn_kind;

// The weights of one direction of one layer; biases may be NULL, project (LSTM) too.
typedef struct taper_rnn_weights {
    taper_tensor *input, *hidden, *input_bias, *hidden_bias, *project;
} taper_rnn_weights;

// Steps of a batch of sequences, sorted by falling length: batch_sizes[t] of them reach step t.
typedef struct taper_rnn_steps {
    const int64_t *batch_sizes;
    int64_t steps;
    int64_t rows; // of all steps
} taper_rnn_steps;

// One direction of one layer. All tensors have the working dtype (float or double). x is [rows, in]; h [batch, hidden
// or projected] and c [batch, hidden] are contiguous and hold the first state, then the last one. out, unless NULL,
// gets h of every row, out_step elements apart.
TAPER_MUST_USE taper_status taper_rnn_run(taper_call *call, taper_rnn_kind kind, const taper_rnn_weights *weights,
                                          const taper_tensor *x, const taper_rnn_steps *steps, bool reverse,
                                          taper_tensor *h, taper_tensor *c, void *out, int64_t out_step);
// Checks the shapes of weights against each other and against sizes of input and state.
TAPER_MUST_USE taper_status taper_rnn_check(taper_run *run, taper_rnn_kind kind, const taper_rnn_weights *weights,
                                            int64_t in, int64_t hidden, int64_t projected, taper_dtype dtype);

// A whole network: what the operators' arguments say.
typedef struct taper_rnn_network taper_rnn_network;
struct taper_rnn_network {
    taper_rnn_kind kind;
    taper_tensor *input, *h, *c; // borrowed; c of LSTM
    taper_tensor *batch_sizes;   // of packed input, otherwise NULL
    const taper_val *params;
    size_t param_count;
    bool has_biases, bidirectional, batch_first;
    int64_t layers;
    // Quantized networks: params holds one item for each direction of each layer, which this runs instead of
    // taper_rnn_run.
    taper_status (*run_direction)(taper_call *call, const taper_rnn_network *network, size_t direction,
                                  const taper_tensor *x, const taper_rnn_steps *steps, bool reverse, taper_tensor *h,
                                  taper_tensor *c, void *out, int64_t out_step);
};

// Whether the call is of the form for packed input, whose argument 1 is the sizes of batches: states follow, which of
// LSTM are a list.
static inline bool taper_rnn_takes_packed(const taper_call *call, taper_rnn_kind kind)
{
    const size_t at = kind == TAPER_RNN_LSTM ? 1 : 2;
    return call->schema->arg_count > at && call->schema->args[at].type->kind == TAPER_TYPE_TENSOR;
}

// What the packed object of a file prepared for Vulkan says of one: borrowed. False: it cannot be read.
bool taper_rnn_context_read(const taper_object *object, taper_rnn_network *network);

// Results 0 (outputs), 1 (last h) and, of LSTM, 2 (last c).
TAPER_MUST_USE taper_status taper_rnn_network_run(taper_call *call, const taper_rnn_network *network);

#endif
