// SPDX-License-Identifier: BSD-2-Clause
// Recurrent networks: layers of cells over plain or packed sequences.
#ifndef TAPER_OPS_RECURRENT_H
#define TAPER_OPS_RECURRENT_H

#include "ops/call/call.h"

typedef enum taper_rnn_kind { TAPER_RNN_TANH, TAPER_RNN_RELU, TAPER_RNN_LSTM, TAPER_RNN_GRU } taper_rnn_kind;

// The weights of one direction of one layer. Biases may be NULL. project is NULL except for an LSTM with projection.
typedef struct taper_rnn_weights {
    taper_tensor *input, *hidden, *input_bias, *hidden_bias, *project;
} taper_rnn_weights;

// The steps of a batch of sequences, sorted by decreasing length. batch_sizes[t] sequences are active at step t.
typedef struct taper_rnn_steps {
    const int64_t *batch_sizes;
    int64_t steps;
    int64_t rows; // sum of batch_sizes
} taper_rnn_steps;

// Runs one direction of one layer. All tensors have the working dtype (float or double). x is [rows, in]. h [batch,
// hidden or projected] and c [batch, hidden] are contiguous; they contain the first state, and afterwards the last
// state. If out is not NULL, it receives h of each row, out_step elements apart.
TAPER_MUST_USE taper_status taper_rnn_run(taper_call *call, taper_rnn_kind kind, const taper_rnn_weights *weights,
                                          const taper_tensor *x, const taper_rnn_steps *steps, bool reverse,
                                          taper_tensor *h, taper_tensor *c, void *out, int64_t out_step);
// Fails if the shapes of the weights do not fit each other or the sizes of the input and the state.
TAPER_MUST_USE taper_status taper_rnn_check(taper_run *run, taper_rnn_kind kind, const taper_rnn_weights *weights,
                                            int64_t in, int64_t hidden, int64_t projected, taper_dtype dtype);

// A whole network, as an operator's arguments describe it.
typedef struct taper_rnn_network taper_rnn_network;
struct taper_rnn_network {
    taper_rnn_kind kind;
    taper_tensor *input, *h, *c; // borrowed tensors; c is used only by LSTM
    taper_tensor *batch_sizes;   // batch sizes of a packed input, otherwise NULL
    const taper_val *params;
    size_t param_count;
    bool has_biases, bidirectional, batch_first;
    int64_t layers;
    // For a quantized network: runs one direction, instead of taper_rnn_run; params has one item for each direction of
    // each layer. NULL for other networks.
    taper_status (*run_direction)(taper_call *call, const taper_rnn_network *network, size_t direction,
                                  const taper_tensor *x, const taper_rnn_steps *steps, bool reverse, taper_tensor *h,
                                  taper_tensor *c, void *out, int64_t out_step);
};

// Returns true if the schema is for packed input, with the batch sizes as argument 1. The state is the next argument, a
// list for an LSTM.
static inline bool taper_rnn_takes_packed(const taper_call *call, taper_rnn_kind kind)
{
    const size_t at = kind == TAPER_RNN_LSTM ? 1 : 2;
    return call->schema->arg_count > at && call->schema->args[at].type->kind == TAPER_TYPE_TENSOR;
}

// Reads the packed object of a file prepared for Vulkan. The tensors in *network are borrowed from it. Returns false if
// the object is not readable.
bool taper_rnn_context_read(const taper_object *object, taper_rnn_network *network);

// Runs the network and sets result 0 (outputs), result 1 (last h) and, for an LSTM, result 2 (last c).
TAPER_MUST_USE taper_status taper_rnn_network_run(taper_call *call, const taper_rnn_network *network);

#endif
