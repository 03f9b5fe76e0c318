// SPDX-License-Identifier: BSD-2-Clause
// Recurrent networks of several layers and directions.
#include "ir/tensor.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"
#include "ops/nn/recurrent.h"

// Sets *work to the dtype to compute in: float for half precision, otherwise the dtype of the input.
static taper_status working_dtype(taper_run *run, const taper_tensor *input, taper_dtype *work)
{
    const taper_dtype dtype = (taper_dtype)input->dtype;
    if (!taper_dtype_is_float(dtype)) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "recurrent layers need floating-point input, got %s",
                   taper_dtype_torch_name(dtype));
    }
    *work = dtype == TAPER_F64 ? TAPER_F64 : TAPER_F32;
    return TAPER_OK;
}

// Makes a contiguous copy in the working dtype, of the whole tensor or of one index along dimension 0.
static taper_status copy_of(taper_run *run, const taper_tensor *from, taper_dtype work, taper_tensor **copy)
{
    TAPER_TRY(taper_tensor_new(run->heap, work, from->rank, from->sizes, NULL, copy, run->error));
    return taper_run_copy(run, *copy, from);
}

static taper_tensor at_index(const taper_tensor *tensor, int64_t index)
{
    taper_tensor twin = taper_tensor_twin(tensor, tensor->rank - 1u, tensor->sizes + 1, tensor->strides + 1);
    twin.offset += index * tensor->strides[0];
    return twin;
}

static taper_status param(const taper_call *call, const taper_rnn_network *network, size_t at, taper_tensor **tensor)
{
    if (network->params[at].tag != TAPER_TENSOR) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "params: item %zu is not a Tensor but %s", at,
                   taper_val_kind_name(network->params[at]));
    }
    *tensor = network->params[at].as.tensor;
    return TAPER_OK;
}

static taper_status weights_at(const taper_call *call, const taper_rnn_network *network, size_t direction, bool project,
                               taper_rnn_weights *weights)
{
    const size_t each = (network->has_biases ? 4u : 2u) + (project ? 1u : 0u);
    size_t at = direction * each;
    *weights = (taper_rnn_weights){0};
    TAPER_TRY(param(call, network, at++, &weights->input));
    TAPER_TRY(param(call, network, at++, &weights->hidden));
    if (network->has_biases) {
        TAPER_TRY(param(call, network, at++, &weights->input_bias));
        TAPER_TRY(param(call, network, at++, &weights->hidden_bias));
    }
    return project ? param(call, network, at, &weights->project) : TAPER_OK;
}

static taper_status cast_one(taper_run *run, taper_tensor **tensor, taper_dtype work)
{
    return *tensor == NULL ? TAPER_OK : taper_tensor_cast(run, *tensor, work, tensor);
}

static void drop_weights(taper_rnn_weights *weights)
{
    taper_tensor_drop(weights->input);
    taper_tensor_drop(weights->hidden);
    taper_tensor_drop(weights->input_bias);
    taper_tensor_drop(weights->hidden_bias);
    taper_tensor_drop(weights->project);
}

// Copies borrowed weights to the working dtype. The caller owns the copies.
static taper_status cast_weights(taper_run *run, const taper_rnn_weights *from, taper_dtype work, taper_rnn_weights *to)
{
    *to = *from;
    taper_tensor **all[] = {&to->input, &to->hidden, &to->input_bias, &to->hidden_bias, &to->project};
    for (size_t i = 0; i < 5; i++) {
        const taper_status status = cast_one(run, all[i], work);
        if (status != TAPER_OK) {
            for (size_t j = i; j < 5; j++) {
                *all[j] = NULL;
            }
            drop_weights(to);
            *to = (taper_rnn_weights){0};
            return status;
        }
    }
    return TAPER_OK;
}

// ---- the time steps of packed and plain sequences

static taper_status packed_steps(const taper_call *call, const taper_rnn_network *network, const int64_t *batch_sizes,
                                 taper_rnn_steps *steps)
{
    const taper_tensor *sizes = network->batch_sizes;
    steps->batch_sizes = batch_sizes;
    steps->steps = sizes->sizes[0];
    steps->rows = 0;
    for (int64_t i = 0; i < steps->steps; i++) {
        const int64_t limit = i == 0 ? network->h->sizes[1] : batch_sizes[i - 1];
        if (batch_sizes[i] <= 0 || batch_sizes[i] > limit ||
            !taper_add_i64(steps->rows, batch_sizes[i], &steps->rows)) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                       "batch_sizes should fall from %lld (the batch of hx) to at least 1, but item %lld is %lld",
                       (long long)network->h->sizes[1], (long long)i, (long long)batch_sizes[i]);
        }
    }
    if (steps->steps == 0 || steps->rows != network->input->sizes[0] || batch_sizes[0] != network->h->sizes[1]) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "batch_sizes (sum %lld) do not fit data of sizes %s and hx of sizes %s", (long long)steps->rows,
                   TAPER_SHAPE(network->input), TAPER_SHAPE(network->h));
    }
    return TAPER_OK;
}

static taper_status check_states(const taper_call *call, const taper_rnn_network *network, int64_t batch,
                                 size_t *directions)
{
    taper_error *error = call->run->error;
    const taper_tensor *h = network->h, *c = network->c;
    if (network->layers < 1 || network->layers > (1 << 20)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "num_layers should be positive, got %lld", (long long)network->layers);
    }
    *directions = (size_t)network->layers * (network->bidirectional ? 2u : 1u);
    if (h->rank != 3 || h->sizes[0] != (int64_t)*directions || (batch >= 0 && h->sizes[1] != batch)) {
        const int64_t wanted[2] = {(int64_t)*directions, batch};
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "hx should have sizes %s and the hidden size, has %s",
                   taper_shape_print(batch >= 0 ? 2 : 1, wanted).text, TAPER_SHAPE(h));
    }
    if (c != NULL && (c->rank != 3 || c->sizes[0] != h->sizes[0] || c->sizes[1] != h->sizes[1])) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "the cell state in hx has sizes %s, which do not fit those of the hidden state, %s", TAPER_SHAPE(c),
                   TAPER_SHAPE(h));
    }
    if (h->dtype != network->input->dtype || (c != NULL && c->dtype != network->input->dtype)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "hx should have the dtype of the input, %s",
                   taper_dtype_torch_name((taper_dtype)network->input->dtype));
    }
    return TAPER_OK;
}

// ---- layers

typedef struct progress {
    taper_tensor *x;     // input of the current layer, [rows, in], in the working dtype
    taper_tensor *h, *c; // states of all layers, contiguous, which are updated in place
} progress;

static taper_status run_layer(taper_call *call, const taper_rnn_network *network, const taper_rnn_steps *steps,
                              size_t layer, bool project, progress *state)
{
    taper_run *run = call->run;
    const size_t ways = network->bidirectional ? 2 : 1;
    const int64_t width = state->h->sizes[2], hidden = state->c != NULL ? state->c->sizes[2] : width;
    taper_tensor *out = NULL;
    int64_t total;
    if (!taper_mul_i64(width, (int64_t)ways, &total)) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "the hidden size is too large");
    }
    TAPER_TRY(taper_tensor_new(run->heap, (taper_dtype)state->x->dtype, 2, (const int64_t[]){steps->rows, total}, NULL,
                               &out, run->error));
    taper_status status = TAPER_OK;
    for (size_t way = 0; way < ways && status == TAPER_OK; way++) {
        const size_t direction = layer * ways + way;
        taper_tensor h = at_index(state->h, (int64_t)direction), c = h;
        if (state->c != NULL) {
            c = at_index(state->c, (int64_t)direction);
        }
        taper_tensor *cell = state->c != NULL ? &c : NULL;
        char *to = (char *)taper_tensor_mutable(out) + way * (size_t)width * taper_tensor_item(out);
        if (network->run_direction != NULL) {
            status = network->run_direction(call, network, direction, state->x, steps, way == 1, &h, cell, to, total);
            continue;
        }
        taper_rnn_weights borrowed, weights;
        status = weights_at(call, network, direction, project, &borrowed);
        if (status == TAPER_OK) {
            status = taper_rnn_check(run, network->kind, &borrowed, state->x->sizes[1], hidden, width,
                                     (taper_dtype)network->input->dtype);
        }
        if (status == TAPER_OK) {
            status = cast_weights(run, &borrowed, (taper_dtype)state->x->dtype, &weights);
        }
        if (status == TAPER_OK) {
            status = taper_rnn_run(call, network->kind, &weights, state->x, steps, way == 1, &h, cell, to, total);
            drop_weights(&weights);
        }
    }
    if (status != TAPER_OK) {
        taper_tensor_drop(out);
        return status;
    }
    taper_tensor_drop(state->x);
    state->x = out;
    return TAPER_OK;
}

// Sets the results, with the shape and the strides of PyTorch's results.
static taper_status finish(taper_call *call, const taper_rnn_network *network, const taper_rnn_steps *steps,
                           progress *state)
{
    const taper_dtype dtype = (taper_dtype)network->input->dtype;
    taper_tensor *out = state->x;
    state->x = NULL;
    if (network->batch_sizes == NULL) {
        const int64_t width = out->sizes[1], batch = network->h->sizes[1];
        const size_t time_at = network->batch_first ? 1 : 0;
        out->rank = 3;
        out->sizes[time_at] = steps->steps;
        out->sizes[1 - time_at] = batch;
        out->sizes[2] = width;
        out->strides[time_at] = taper_max_i64(batch, 1) * taper_max_i64(width, 1);
        out->strides[1 - time_at] = taper_max_i64(width, 1);
        out->strides[2] = 1;
    }
    TAPER_TRY(taper_ret_cast(call, 0, out, dtype));
    taper_tensor *h = state->h, *c = state->c;
    state->h = NULL;
    state->c = NULL;
    taper_status status = taper_ret_cast(call, 1, h, dtype);
    if (c != NULL) {
        if (status != TAPER_OK) {
            taper_tensor_drop(c);
            return status;
        }
        status = taper_ret_cast(call, 2, c, dtype);
    }
    return status;
}

static taper_status run_network(taper_call *call, const taper_rnn_network *network, const taper_rnn_steps *steps,
                                taper_dtype work, size_t directions, progress *state)
{
    taper_run *run = call->run;
    const bool project = network->c != NULL && network->c->sizes[2] != network->h->sizes[2];
    const size_t each = network->run_direction != NULL ? 1u : (network->has_biases ? 4u : 2u) + (project ? 1u : 0u);
    if (network->param_count != directions * each) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "params should hold %zu items, but has %zu", directions * each,
                   network->param_count);
    }
    TAPER_TRY(copy_of(run, network->h, work, &state->h));
    if (network->c != NULL) {
        TAPER_TRY(copy_of(run, network->c, work, &state->c));
    }
    // Copies the input to rows, ordered by step.
    const taper_tensor *input = network->input;
    if (network->batch_sizes != NULL) {
        TAPER_TRY(copy_of(run, input, work, &state->x));
    } else {
        const size_t time_at = network->batch_first ? 1 : 0;
        const int64_t sizes[3] = {input->sizes[time_at], input->sizes[1 - time_at], input->sizes[2]};
        const int64_t strides[3] = {input->strides[time_at], input->strides[1 - time_at], input->strides[2]};
        const taper_tensor turned = taper_tensor_twin(input, 3, sizes, strides);
        TAPER_TRY(copy_of(run, &turned, work, &state->x));
        state->x->rank = 2;
        state->x->sizes[0] = steps->rows;
        state->x->sizes[1] = sizes[2];
        taper_strides_contiguous(2, state->x->sizes, state->x->strides);
    }
    for (size_t layer = 0; layer < (size_t)network->layers; layer++) {
        TAPER_TRY(run_layer(call, network, steps, layer, project, state));
    }
    return finish(call, network, steps, state);
}

taper_status taper_rnn_network_run(taper_call *call, const taper_rnn_network *network)
{
    taper_run *run = call->run;
    const taper_tensor *input = network->input;
    const bool packed = network->batch_sizes != NULL;
    taper_dtype work = TAPER_F32;
    TAPER_TRY(working_dtype(run, input, &work));
    if (input->rank != (packed ? 2 : 3)) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "the input should have %d dimensions, its sizes are %s",
                   packed ? 2 : 3, TAPER_SHAPE(input));
    }
    if (packed && (network->batch_sizes->rank != 1 || network->batch_sizes->dtype != TAPER_I64)) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "batch_sizes should be a vector of int64, its sizes are %s",
                   TAPER_SHAPE(network->batch_sizes));
    }
    const size_t time_at = network->batch_first ? 1 : 0;
    const int64_t batch = packed ? -1 : input->sizes[1 - time_at],
                  count = packed ? network->batch_sizes->sizes[0] : input->sizes[time_at];
    size_t directions = 0, bytes;
    TAPER_TRY(check_states(call, network, batch, &directions));
    if (count == 0) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "Expected sequence length to be larger than 0 in RNN");
    }
    if (!taper_mul_size((size_t)count, sizeof(int64_t), &bytes)) {
        return taper_fail_memory(run->error);
    }
    int64_t *batch_sizes = taper_heap_alloc(run->heap, bytes);
    if (batch_sizes == NULL) {
        return taper_fail_memory(run->error);
    }
    taper_rnn_steps steps = {.batch_sizes = batch_sizes, .steps = count};
    taper_status status = TAPER_OK;
    for (int64_t i = 0; i < count; i++) {
        batch_sizes[i] = packed ? taper_load_int(TAPER_I64, taper_tensor_data(network->batch_sizes),
                                                 i * network->batch_sizes->strides[0])
                                : batch;
    }
    if (packed) {
        status = packed_steps(call, network, batch_sizes, &steps);
    } else if (!taper_mul_i64(count, batch, &steps.rows)) {
        status = taper_fail_memory(run->error);
    }
    progress state = {0};
    if (status == TAPER_OK) {
        status = run_network(call, network, &steps, work, directions, &state);
    }
    taper_tensor_drop(state.x);
    taper_tensor_drop(state.h);
    taper_tensor_drop(state.c);
    taper_heap_free(run->heap, batch_sizes, bytes);
    return status;
}
