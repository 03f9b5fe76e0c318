// SPDX-License-Identifier: BSD-2-Clause
// Quantized recurrent networks and cells: float states, and gates from dynamically quantized linear layers. The layer
// of the input is computed for all steps together, so all steps share one quantization range. The layer of the state is
// computed step by step. recurrent_network.c has the structure of networks.
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"
#include "ops/nn/recurrent_cells.h"
#include "ops/quantized/quantized_cells.h"

#define ELEMENT float
#define NAME(x) x##_f32
#define EXP expf
#define TANH tanhf
#include "ops/nn/recurrent_cell.h"
#undef ELEMENT
#undef NAME
#undef EXP
#undef TANH

static int64_t gate_count(taper_rnn_kind kind)
{
    return kind == TAPER_RNN_LSTM ? 4 : kind == TAPER_RNN_GRU ? 3 : 1;
}

// ---- one step of a cell

// Computes one step. x has the rows of all gates that the layer of the input computed, and is overwritten. y is scratch
// memory of equal size.
static taper_status run_step(taper_call *call, taper_rnn_kind kind, const taper_qcell_params *params, int64_t rows,
                             float *x, float *y, taper_tensor *h, float *c)
{
    const int64_t hidden = params->hidden.in, width = params->hidden.out;
    float *state = taper_tensor_mutable(h);
    TAPER_TRY(taper_qlinear_dynamic(call, &params->hidden, h, rows, false, y));
    for (int64_t i = 0; kind != TAPER_RNN_GRU && i < rows * width; i++) {
        x[i] += y[i];
    }
    if (call->run->portable) {
        cells_f32(kind, rows, hidden, x, y, c, state);
    } else {
        taper_rnn_cells(taper_vector_f32_select(call->run->cpu), kind, rows, hidden, x, y, c, state);
    }
    return TAPER_OK;
}

static taper_status check_cell(taper_run *run, taper_rnn_kind kind, const taper_qcell_params *params, int64_t in,
                               int64_t hidden)
{
    int64_t width;
    if (!taper_mul_i64(gate_count(kind), hidden, &width) || params->input.in != in || params->input.out != width ||
        params->hidden.in != hidden || params->hidden.out != width) {
        TAPER_FAIL(
            run->error, TAPER_ERROR_ARGUMENT,
            "for %lld inputs and a hidden size of %lld the weights should have sizes [%lld, %lld] and [%lld, %lld], "
            "they have %s and %s",
            (long long)in, (long long)hidden, (long long)width, (long long)in, (long long)width, (long long)hidden,
            TAPER_SHAPE(params->input.weight), TAPER_SHAPE(params->hidden.weight));
    }
    return TAPER_OK;
}

// ---- recurrent networks

static taper_status run_steps(taper_call *call, taper_rnn_kind kind, const taper_qcell_params *params,
                              const taper_tensor *x, const taper_rnn_steps *steps, bool reverse, taper_tensor *h,
                              taper_tensor *c, float *gates, float *scratch, float *out, int64_t out_step)
{
    const int64_t hidden = params->hidden.in, width = params->hidden.out;
    taper_tensor rows = taper_tensor_local(x);
    TAPER_TRY(taper_qlinear_dynamic(call, &params->input, &rows, steps->rows, false, gates));
    int64_t row = reverse ? steps->rows : 0;
    for (int64_t i = 0; i < steps->steps; i++) {
        const int64_t t = reverse ? steps->steps - 1 - i : i, active = steps->batch_sizes[t];
        row -= reverse ? active : 0;
        TAPER_TRY(run_step(call, kind, params, active, gates + row * width, scratch, h,
                           c != NULL ? taper_tensor_mutable(c) : NULL));
        const float *from = taper_tensor_data(h);
        for (int64_t b = 0; b < active; b++) {
            memcpy(out + (row + b) * out_step, from + b * hidden, (size_t)hidden * sizeof *from);
        }
        row += reverse ? 0 : active;
    }
    return TAPER_OK;
}

static taper_status run_direction(taper_call *call, const taper_rnn_network *network, size_t direction,
                                  const taper_tensor *x, const taper_rnn_steps *steps, bool reverse, taper_tensor *h,
                                  taper_tensor *c, void *out, int64_t out_step)
{
    taper_run *run = call->run;
    const taper_val item = network->params[direction];
    taper_qcell_params params;
    if (item.tag != TAPER_OBJECT) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "params: item %zu is not an object of rnn.CellParamsBase but %s",
                   direction, taper_val_kind_name(item));
    }
    TAPER_TRY(taper_qcell_open(run, item.as.object, &params));
    TAPER_TRY(check_cell(run, network->kind, &params, x->sizes[1], h->sizes[1]));
    if (c != NULL && c->sizes[1] != h->sizes[1]) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                   "the cell state has sizes %s, the hidden state %s: they should be equal", TAPER_SHAPE(c),
                   TAPER_SHAPE(h));
    }
    size_t all, one;
    if (!taper_mul_size((size_t)steps->rows, (size_t)params.hidden.out, &all) ||
        !taper_mul_size(all, sizeof(float), &all) ||
        !taper_mul_size((size_t)h->sizes[0], (size_t)params.hidden.out, &one) ||
        !taper_mul_size(one, sizeof(float), &one)) {
        TAPER_FAIL(run->error, TAPER_ERROR_RESOURCE, "the recurrent layer is too large");
    }
    all = taper_max_size(all, 1);
    one = taper_max_size(one, 1);
    float *gates = taper_heap_alloc(run->heap, all), *scratch = taper_heap_alloc(run->heap, one);
    taper_status status = gates == NULL || scratch == NULL ? taper_fail_memory(run->error) : TAPER_OK;
    if (status == TAPER_OK) {
        status = run_steps(call, network->kind, &params, x, steps, reverse, h, c, gates, scratch, out, out_step);
    }
    taper_heap_free(run->heap, gates, gates != NULL ? all : 0);
    taper_heap_free(run->heap, scratch, scratch != NULL ? one : 0);
    return status;
}

static taper_status run_network(taper_call *call, taper_rnn_kind kind)
{
    taper_error *error = call->run->error;
    taper_rnn_network network = {.kind = kind, .run_direction = run_direction};
    const bool packed = taper_rnn_takes_packed(call, kind);
    const size_t hx = packed ? 2 : 1;
    taper_list *params;
    double dropout;
    bool train;
    TAPER_TRY(taper_arg_tensor(call, 0, &network.input));
    if (packed) {
        TAPER_TRY(taper_arg_tensor(call, 1, &network.batch_sizes));
    }
    if (kind == TAPER_RNN_LSTM) {
        taper_list *states;
        TAPER_TRY(taper_arg_list(call, hx, &states));
        if (states->count != 2) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "lstm expects two hidden states, got %zu", states->count);
        }
        TAPER_TRY(taper_arg_tensor_item(call, hx, 0, false, &network.h));
        TAPER_TRY(taper_arg_tensor_item(call, hx, 1, false, &network.c));
    } else {
        TAPER_TRY(taper_arg_tensor(call, hx, &network.h));
    }
    TAPER_TRY(taper_arg_list(call, hx + 1, &params));
    TAPER_TRY(taper_arg_bool(call, hx + 2, &network.has_biases));
    TAPER_TRY(taper_arg_int(call, hx + 3, &network.layers));
    TAPER_TRY(taper_arg_double(call, hx + 4, &dropout));
    TAPER_TRY(taper_arg_bool(call, hx + 5, &train));
    TAPER_TRY(taper_arg_bool(call, hx + 6, &network.bidirectional));
    if (!packed) {
        TAPER_TRY(taper_arg_bool(call, hx + 7, &network.batch_first));
    }
    if (!network.has_biases && kind == TAPER_RNN_LSTM && !packed) { // PyTorch requires biases only for an unpacked LSTM
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "quantized LSTM requires biases");
    }
    if (train && dropout > 0.0 && network.layers > 1) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED,
                   "dropout between recurrent layers while training is not supported; call eval() before saving");
    }
    if (network.input->dtype != TAPER_F32) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "argument '%s' should be float32 but is %s", taper_arg_name(call, 0),
                   taper_dtype_torch_name((taper_dtype)network.input->dtype));
    }
    network.params = params->items;
    network.param_count = params->count;
    return taper_rnn_network_run(call, &network);
}

TAPER_KERNEL(taper_op_quantized_lstm)
{
    return run_network(call, TAPER_RNN_LSTM);
}

TAPER_KERNEL(taper_op_quantized_gru)
{
    return run_network(call, TAPER_RNN_GRU);
}

// ---- single recurrent cells

// Fails unless all sizes of the state except the last fit the input. *rows is the product of the other sizes.
static taper_status check_state(taper_call *call, const taper_tensor *input, const taper_tensor *state,
                                const char *name, int64_t *rows)
{
    bool same = input->rank == state->rank && input->rank >= 2;
    *rows = 1;
    for (size_t d = 0; same && d + 1 < input->rank; d++) {
        same = input->sizes[d] == state->sizes[d] && taper_mul_i64(*rows, input->sizes[d], rows);
    }
    if (!same || input->dtype != TAPER_F32 || state->dtype != TAPER_F32) {
        TAPER_FAIL(
            call->run->error, TAPER_ERROR_ARGUMENT,
            "input and %s should be float32 with at least 2 dimensions and the same sizes but for the last; they "
            "are %s of sizes %s and %s of sizes %s",
            name, taper_dtype_torch_name((taper_dtype)input->dtype), TAPER_SHAPE(input),
            taper_dtype_torch_name((taper_dtype)state->dtype), TAPER_SHAPE(state));
    }
    return TAPER_OK;
}

// Makes a contiguous copy, and sets it as result `at`.
static taper_status copy_state(taper_call *call, size_t at, const taper_tensor *from, taper_tensor **copy)
{
    TAPER_TRY(taper_ret_new(call, at, TAPER_F32, from->rank, from->sizes, NULL, copy));
    return taper_run_copy(call->run, *copy, from);
}

static taper_status compute_cell(taper_call *call, taper_rnn_kind kind, const taper_qcell_params *params,
                                 taper_tensor *input, int64_t rows, const taper_tensor *h, const taper_tensor *c)
{
    taper_run *run = call->run;
    taper_tensor *plain, *next, *cell = NULL;
    size_t bytes;
    if (!taper_mul_size((size_t)rows, (size_t)params->hidden.out, &bytes) ||
        !taper_mul_size(bytes, 2 * sizeof(float), &bytes)) {
        TAPER_FAIL(run->error, TAPER_ERROR_RESOURCE, "the recurrent cell is too large");
    }
    bytes = taper_max_size(bytes, 1);
    TAPER_TRY(taper_run_contiguous(run, input, &plain));
    float *gates = taper_heap_alloc(run->heap, bytes);
    taper_status status = gates == NULL ? taper_fail_memory(run->error) : copy_state(call, 0, h, &next);
    if (status == TAPER_OK && c != NULL) {
        status = copy_state(call, 1, c, &cell);
    }
    if (status == TAPER_OK) {
        status = taper_qlinear_dynamic(call, &params->input, plain, rows, false, gates);
    }
    if (status == TAPER_OK) {
        status = run_step(call, kind, params, rows, gates, gates + rows * params->hidden.out, next,
                          cell != NULL ? taper_tensor_mutable(cell) : NULL);
    }
    taper_heap_free(run->heap, gates, gates != NULL ? bytes : 0);
    taper_tensor_drop(plain);
    return status;
}

// Computes a cell. If `plain` is set, the overload has int8 tensors, scales and zero points instead of packed
// parameters.
static taper_status run_cell(taper_call *call, taper_rnn_kind kind, bool plain)
{
    taper_tensor *input, *h, *c = NULL;
    taper_qcell_params params = {0};
    int64_t rows;
    TAPER_TRY(taper_arg_tensor(call, 0, &input));
    if (kind == TAPER_RNN_LSTM) {
        TAPER_TRY(taper_arg_tensor_item(call, 1, 0, false, &h));
        TAPER_TRY(taper_arg_tensor_item(call, 1, 1, false, &c));
        TAPER_TRY(check_state(call, input, c, "hx[1]", &rows));
    } else {
        TAPER_TRY(taper_arg_tensor(call, 1, &h));
    }
    TAPER_TRY(check_state(call, input, h, "hx", &rows));
    if (!plain) {
        TAPER_TRY(taper_arg_qlinear(call, 2, &params.input));
        TAPER_TRY(taper_arg_qlinear(call, 3, &params.hidden));
    } else {
        taper_tensor *weights[2], *biases[2];
        double scales[2];
        int64_t zero_points[2];
        for (size_t i = 0; i < 2; i++) {
            taper_scalar scale, point;
            TAPER_TRY(taper_arg_tensor(call, 2 + i, &weights[i]));
            TAPER_TRY(taper_arg_tensor(call, 4 + i, &biases[i]));
            TAPER_TRY(taper_arg_scalar(call, 10 + i, &scale));
            TAPER_TRY(taper_arg_scalar(call, 12 + i, &point));
            scales[i] = scale.f;
            zero_points[i] = point.i;
        }
        TAPER_TRY(taper_qcell_of_weights(call->run, weights, biases, scales, zero_points, &params));
    }
    const int64_t hidden = h->sizes[h->rank - 1u];
    if (c != NULL && c->sizes[c->rank - 1u] != hidden) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "the two states in hx should have the same sizes, have %s and %s", TAPER_SHAPE(h), TAPER_SHAPE(c));
    }
    TAPER_TRY(check_cell(call->run, kind, &params, input->sizes[input->rank - 1u], hidden));
    return compute_cell(call, kind, &params, input, rows, h, c);
}

TAPER_KERNEL(taper_op_quantized_lstm_cell_dynamic)
{
    return run_cell(call, TAPER_RNN_LSTM, false);
}

TAPER_KERNEL(taper_op_quantized_gru_cell_dynamic)
{
    return run_cell(call, TAPER_RNN_GRU, false);
}

TAPER_KERNEL(taper_op_quantized_rnn_relu_cell_dynamic)
{
    return run_cell(call, TAPER_RNN_RELU, false);
}

TAPER_KERNEL(taper_op_quantized_rnn_tanh_cell_dynamic)
{
    return run_cell(call, TAPER_RNN_TANH, false);
}

TAPER_KERNEL(taper_op_quantized_lstm_cell)
{
    return run_cell(call, TAPER_RNN_LSTM, true);
}

TAPER_KERNEL(taper_op_quantized_gru_cell)
{
    return run_cell(call, TAPER_RNN_GRU, true);
}

TAPER_KERNEL(taper_op_quantized_rnn_relu_cell)
{
    return run_cell(call, TAPER_RNN_RELU, true);
}

TAPER_KERNEL(taper_op_quantized_rnn_tanh_cell)
{
    return run_cell(call, TAPER_RNN_TANH, true);
}
