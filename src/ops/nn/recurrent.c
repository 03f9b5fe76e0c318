// SPDX-License-Identifier: BSD-2-Clause
// The operators of recurrent networks: lstm, gru, rnn_tanh and rnn_relu over plain and packed sequences, single cells,
// and the networks of files prepared for Vulkan.
#include "ops/nn/recurrent.h"

#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"

// Reads the arguments after the states: params, has_biases, num_layers, dropout, train, bidirectional[, batch_first].
static taper_status read_settings(const taper_call *call, size_t at, taper_rnn_network *network)
{
    taper_list *params;
    double dropout;
    bool train;
    TAPER_TRY(taper_arg_list(call, at, &params));
    network->params = params->items;
    network->param_count = params->count;
    TAPER_TRY(taper_arg_bool(call, at + 1, &network->has_biases));
    TAPER_TRY(taper_arg_int(call, at + 2, &network->layers));
    TAPER_TRY(taper_arg_double(call, at + 3, &dropout));
    TAPER_TRY(taper_arg_bool(call, at + 4, &train));
    TAPER_TRY(taper_arg_bool(call, at + 5, &network->bidirectional));
    if (network->batch_sizes == NULL) {
        TAPER_TRY(taper_arg_bool(call, at + 6, &network->batch_first));
    }
    if (train && dropout > 0.0 && network->layers > 1) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED,
                   "dropout between recurrent layers while training is not supported; call eval() before saving");
    }
    return TAPER_OK;
}

static taper_status run_states(taper_call *call, taper_rnn_kind kind)
{
    taper_rnn_network network = {.kind = kind};
    const bool packed = taper_rnn_takes_packed(call, kind);
    const size_t hx = packed ? 2 : 1;
    TAPER_TRY(taper_arg_tensor(call, 0, &network.input));
    if (packed) {
        TAPER_TRY(taper_arg_tensor(call, 1, &network.batch_sizes));
    }
    if (kind == TAPER_RNN_LSTM) {
        taper_list *states;
        TAPER_TRY(taper_arg_list(call, hx, &states));
        if (states->count != 2) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "lstm expects two hidden states, got %zu",
                       states->count);
        }
        TAPER_TRY(taper_arg_tensor_item(call, hx, 0, false, &network.h));
        TAPER_TRY(taper_arg_tensor_item(call, hx, 1, false, &network.c));
    } else {
        TAPER_TRY(taper_arg_tensor(call, hx, &network.h));
    }
    TAPER_TRY(read_settings(call, hx + 1, &network));
    return taper_rnn_network_run(call, &network);
}

TAPER_KERNEL(taper_op_lstm)
{
    return run_states(call, TAPER_RNN_LSTM);
}

TAPER_KERNEL(taper_op_gru)
{
    return run_states(call, TAPER_RNN_GRU);
}

TAPER_KERNEL(taper_op_rnn_tanh)
{
    return run_states(call, TAPER_RNN_TANH);
}

TAPER_KERNEL(taper_op_rnn_relu)
{
    return run_states(call, TAPER_RNN_RELU);
}

// ---- networks of files prepared for Vulkan: [params, has_biases, num_layers, dropout, train, bidirectional,
// batch_first]

bool taper_rnn_context_read(const taper_object *object, taper_rnn_network *network)
{
    const taper_val state = object->count != 0 ? object->slots[0] : taper_val_none();
    const taper_val *items = state.tag == TAPER_LIST && state.as.list->count == 7     ? state.as.list->items
                             : state.tag == TAPER_TUPLE && state.as.tuple->count == 7 ? state.as.tuple->items
                                                                                      : NULL;
    if (items == NULL || items[0].tag != TAPER_LIST || items[1].tag != TAPER_BOOLEAN || items[2].tag != TAPER_INT ||
        items[5].tag != TAPER_BOOLEAN || items[6].tag != TAPER_BOOLEAN) {
        return false;
    }
    network->params = items[0].as.list->items;
    network->param_count = items[0].as.list->count;
    network->has_biases = items[1].as.i != 0;
    network->layers = items[2].as.i;
    network->bidirectional = items[5].as.i != 0;
    network->batch_first = items[6].as.i != 0;
    return true;
}

static taper_status run_context(taper_call *call, taper_rnn_kind kind)
{
    taper_rnn_network network = {.kind = kind};
    taper_object *object;
    const size_t at = kind == TAPER_RNN_LSTM ? 3 : 2;
    TAPER_TRY(taper_arg_tensor(call, 0, &network.input));
    TAPER_TRY(taper_arg_tensor(call, 1, &network.h));
    if (kind == TAPER_RNN_LSTM) {
        TAPER_TRY(taper_arg_tensor(call, 2, &network.c));
    }
    TAPER_TRY(taper_arg_object(call, at, &object));
    if (!taper_rnn_context_read(object, &network)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_FILE,
                   "the state of the packed network is not [params, has_biases, num_layers, dropout, train, "
                   "bidirectional, batch_first]");
    }
    return taper_rnn_network_run(call, &network);
}

TAPER_KERNEL(taper_op_vulkan_gru)
{
    return run_context(call, TAPER_RNN_GRU);
}

TAPER_KERNEL(taper_op_vulkan_lstm)
{
    return run_context(call, TAPER_RNN_LSTM);
}

// ---- operators that compute one step of one cell

static taper_status check_cell_state(taper_call *call, const taper_tensor *input, const taper_tensor *state,
                                     const char *name)
{
    if (input->rank != 2 || state->rank != 2 || input->sizes[0] != state->sizes[0]) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "input and %s should be matrices with equal numbers of rows, but their sizes are %s and %s", name,
                   TAPER_SHAPE(input), TAPER_SHAPE(state));
    }
    if (input->dtype != state->dtype || !taper_dtype_is_float((taper_dtype)input->dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "input and %s should have the same floating-point dtype, got %s and %s", name,
                   taper_dtype_torch_name((taper_dtype)input->dtype),
                   taper_dtype_torch_name((taper_dtype)state->dtype));
    }
    return TAPER_OK;
}

typedef struct cell_tensors {
    taper_rnn_weights weights;
    taper_tensor *x, *h, *c;
} cell_tensors;

static taper_status own_state(taper_run *run, const taper_tensor *from, taper_dtype work, taper_tensor **copy)
{
    TAPER_TRY(taper_tensor_new(run->heap, work, 2, from->sizes, NULL, copy, run->error));
    return taper_run_copy(run, *copy, from);
}

static taper_status run_owned(taper_call *call, taper_rnn_kind kind, const taper_rnn_weights *given,
                              taper_tensor *input, const taper_tensor *h, const taper_tensor *c, taper_dtype work,
                              cell_tensors *own)
{
    taper_run *run = call->run;
    taper_tensor *const from[] = {input, given->input, given->hidden, given->input_bias, given->hidden_bias};
    taper_tensor **const to[] = {&own->x, &own->weights.input, &own->weights.hidden, &own->weights.input_bias,
                                 &own->weights.hidden_bias};
    for (size_t i = 0; i < 5; i++) {
        if (from[i] != NULL) {
            TAPER_TRY(taper_tensor_cast(run, from[i], work, to[i]));
        }
    }
    TAPER_TRY(own_state(run, h, work, &own->h));
    if (c != NULL) {
        TAPER_TRY(own_state(run, c, work, &own->c));
    }
    const int64_t batch = h->sizes[0];
    const taper_rnn_steps steps = {.batch_sizes = &batch, .steps = 1, .rows = batch};
    return taper_rnn_run(call, kind, &own->weights, own->x, &steps, false, own->h, own->c, NULL, 0);
}

static taper_status run_cell(taper_call *call, taper_rnn_kind kind)
{
    taper_tensor *input, *h, *c = NULL;
    taper_rnn_weights given = {0};
    TAPER_TRY(taper_arg_tensor(call, 0, &input));
    if (kind == TAPER_RNN_LSTM) {
        TAPER_TRY(taper_arg_tensor_item(call, 1, 0, false, &h));
        TAPER_TRY(taper_arg_tensor_item(call, 1, 1, false, &c));
        TAPER_TRY(check_cell_state(call, input, c, "hx[1]"));
    } else {
        TAPER_TRY(taper_arg_tensor(call, 1, &h));
    }
    TAPER_TRY(check_cell_state(call, input, h, "hx"));
    TAPER_TRY(taper_arg_tensor(call, 2, &given.input));
    TAPER_TRY(taper_arg_tensor(call, 3, &given.hidden));
    TAPER_TRY(taper_arg_tensor_or_none(call, 4, &given.input_bias));
    TAPER_TRY(taper_arg_tensor_or_none(call, 5, &given.hidden_bias));
    const taper_dtype dtype = (taper_dtype)input->dtype, work = dtype == TAPER_F64 ? TAPER_F64 : TAPER_F32;
    const int64_t hidden = c != NULL ? c->sizes[1] : h->sizes[1];
    if (hidden != h->sizes[1]) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "the two states in hx should have the same sizes, have %s and %s", TAPER_SHAPE(h), TAPER_SHAPE(c));
    }
    TAPER_TRY(taper_rnn_check(call->run, kind, &given, input->sizes[1], hidden, hidden, dtype));
    cell_tensors own = {0};
    taper_status status = run_owned(call, kind, &given, input, h, c, work, &own);
    taper_tensor_drop(own.x);
    taper_tensor_drop(own.weights.input);
    taper_tensor_drop(own.weights.hidden);
    taper_tensor_drop(own.weights.input_bias);
    taper_tensor_drop(own.weights.hidden_bias);
    if (status != TAPER_OK) {
        taper_tensor_drop(own.h);
        taper_tensor_drop(own.c);
        return status;
    }
    status = taper_ret_cast(call, 0, own.h, dtype);
    if (c != NULL) {
        if (status != TAPER_OK) {
            taper_tensor_drop(own.c);
            return status;
        }
        status = taper_ret_cast(call, 1, own.c, dtype);
    }
    return status;
}

TAPER_KERNEL(taper_op_lstm_cell)
{
    return run_cell(call, TAPER_RNN_LSTM);
}

TAPER_KERNEL(taper_op_gru_cell)
{
    return run_cell(call, TAPER_RNN_GRU);
}

TAPER_KERNEL(taper_op_rnn_tanh_cell)
{
    return run_cell(call, TAPER_RNN_TANH);
}

TAPER_KERNEL(taper_op_rnn_relu_cell)
{
    return run_cell(call, TAPER_RNN_RELU);
}
