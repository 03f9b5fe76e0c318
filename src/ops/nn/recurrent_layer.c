// SPDX-License-Identifier: BSD-2-Clause
// One direction of one recurrent layer. The products with the input are made for all steps at once; each step then adds
// those with the state. In both directions the active sequences of a step are the first ones, so the state's rows that
// are not active simply keep their values: the first state going backwards, the last one going forwards.
#include <math.h>

#include "ops/engine/linear_rows.h"
#include "ops/engine/matmul.h"
#include "ops/engine/rows.h"
#include "ops/nn/recurrent.h"

#define ELEMENT float
#define NAME(x) x##_f32
#define EXP expf
#define TANH tanhf
#include "ops/nn/recurrent_cell.h"
#include "ops/nn/recurrent_rows.h"
#undef ELEMENT
#undef NAME
#undef EXP
#undef TANH
#define ELEMENT double
#define NAME(x) x##_f64
#define EXP exp
#define TANH tanh
#include "ops/nn/recurrent_cell.h"
#include "ops/nn/recurrent_rows.h"
#undef ELEMENT
#undef NAME
#undef EXP
#undef TANH

static int64_t gate_count(taper_rnn_kind kind)
{
    return kind == TAPER_RNN_LSTM ? 4 : kind == TAPER_RNN_GRU ? 3 : 1;
}

static taper_status check_matrix(taper_run *run, const taper_tensor *tensor, const char *name, int64_t rows,
                                 int64_t columns, taper_dtype dtype)
{
    const bool vector = columns < 0;
    if (tensor->rank != (vector ? 1 : 2) || tensor->sizes[0] != rows || (!vector && tensor->sizes[1] != columns)) {
        const int64_t wanted[2] = {rows, columns};
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "%s should have sizes %s, has %s", name,
                   taper_shape_print(vector ? 1 : 2, wanted).text, TAPER_SHAPE(tensor));
    }
    if (tensor->dtype != dtype) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "%s should have the dtype of the input, %s, but is %s", name,
                   taper_dtype_torch_name(dtype), taper_dtype_torch_name((taper_dtype)tensor->dtype));
    }
    return TAPER_OK;
}

taper_status taper_rnn_check(taper_run *run, taper_rnn_kind kind, const taper_rnn_weights *weights, int64_t in,
                             int64_t hidden, int64_t projected, taper_dtype dtype)
{
    int64_t rows;
    if (!taper_mul_i64(gate_count(kind), hidden, &rows)) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "the hidden size is too large");
    }
    TAPER_TRY(check_matrix(run, weights->input, "the weight of the input (w_ih)", rows, in, dtype));
    TAPER_TRY(check_matrix(run, weights->hidden, "the weight of the state (w_hh)", rows, projected, dtype));
    if (weights->input_bias != NULL) {
        TAPER_TRY(check_matrix(run, weights->input_bias, "the bias of the input (b_ih)", rows, -1, dtype));
    }
    if (weights->hidden_bias != NULL) {
        TAPER_TRY(check_matrix(run, weights->hidden_bias, "the bias of the state (b_hh)", rows, -1, dtype));
    }
    if (weights->project != NULL) {
        TAPER_TRY(check_matrix(run, weights->project, "the weight of the projection (w_hr)", projected, hidden, dtype));
    }
    return TAPER_OK;
}

// Every row starts as the sum of the biases that there are.
static void start_rows(taper_dtype dtype, void *to, int64_t rows, int64_t columns, const taper_tensor *bias,
                       const taper_tensor *second)
{
    const taper_tensor *biases[2] = {bias, second};
    const size_t bytes = (size_t)columns * (dtype == TAPER_F32 ? sizeof(float) : sizeof(double));
    if (rows == 0) {
        return;
    }
    memset(to, 0, bytes);
    for (size_t i = 0; i < 2; i++) {
        if (biases[i] != NULL && dtype == TAPER_F32) {
            add_bias_f32(to, columns, taper_tensor_data(biases[i]), biases[i]->strides[0]);
        } else if (biases[i] != NULL) {
            add_bias_f64(to, columns, taper_tensor_data(biases[i]), biases[i]->strides[0]);
        }
    }
    for (int64_t r = 1; r < rows; r++) {
        memcpy((char *)to + (size_t)r * bytes, to, bytes);
    }
}

// c (+)= a weight', a of contiguous rows.
static taper_status times_weight(taper_run *run, taper_dtype dtype, const void *a, int64_t a_row, int64_t a_column,
                                 int64_t rows, const taper_tensor *weight, void *c, bool add, bool backward,
                                 taper_gemm_kept *kept)
{
    const taper_gemm gemm = {.dtype = dtype,
                             .m = rows,
                             .n = weight->sizes[0],
                             .k = weight->sizes[1],
                             .a = a,
                             .a_row = a_row,
                             .a_column = a_column,
                             .b = taper_tensor_data(weight),
                             .b_row = weight->strides[1],
                             .b_column = weight->strides[0],
                             .c = c,
                             .c_row = weight->sizes[0],
                             .c_column = 1,
                             .add = add,
                             .backward = backward,
                             .kept = kept};
    return taper_gemm_run(run, &gemm);
}

// gates = x weight' + bias + second, with weights that the model keeps packed. A few rows do without: they are dot
// products with the weights as they lie. TAPER_DECLINED as taper_linear_rows_run.
static taper_status times_kept(taper_call *call, const taper_rnn_weights *weights, const taper_tensor *x,
                               const taper_tensor *second, float *gates)
{
    taper_tensor *const weight = weights->input;
    if (x->dtype != TAPER_F32 || x->sizes[0] <= TAPER_GEMM_FEW_ROWS || x->strides[1] != 1 || x->strides[0] < 0 ||
        (second != NULL && second->strides[0] != 1)) {
        return TAPER_DECLINED;
    }
    const taper_linear_rows rows = {
        .weights = {weight, weights->input_bias, false, taper_vector_f32_select(call->run->cpu)},
        .rows = (size_t)x->sizes[0],
        .in = (size_t)weight->sizes[1],
        .out = (size_t)weight->sizes[0],
        .x = taper_tensor_data(x),
        .x_step = (size_t)x->strides[0],
        .add = second != NULL ? taper_tensor_data(second) : NULL,
        .y = gates,
        .y_step = (size_t)weight->sizes[0]};
    return taper_linear_rows_run(call, &rows);
}

// The gates of all steps so far: what they get from the input, and biases that need not wait for the state.
static taper_status start_gates(taper_call *call, taper_rnn_kind kind, const taper_rnn_weights *weights,
                                const taper_tensor *x, void *gates)
{
    const taper_dtype dtype = (taper_dtype)x->dtype;
    const taper_tensor *second = kind != TAPER_RNN_GRU ? weights->hidden_bias : NULL;
    const taper_status status = times_kept(call, weights, x, second, gates);
    if (status != TAPER_DECLINED) {
        return status;
    }
    start_rows(dtype, gates, x->sizes[0], weights->input->sizes[0], weights->input_bias, second);
    return times_weight(call->run, dtype, taper_tensor_data(x), x->strides[0], x->strides[1], x->sizes[0],
                        weights->input, gates, true, false, NULL);
}

typedef struct layer {
    taper_run *run;
    taper_rnn_kind kind;
    const taper_rnn_weights *weights;
    taper_dtype dtype;
    int64_t hidden, projected, width; // width: gates times hidden
    bool backward;                    // in every second step: the state's weight is read from its last row on
    taper_gemm_kept *kept;            // of the state's weight
    char *scratch;                    // GRU: products of the state; projecting LSTM: h before it is projected
} layer;

// The cells of float32 with the vector kernels; gates and products are scratch.
static taper_status lstm_cell_vector(taper_run *run, int64_t rows, int64_t hidden, float *gates, float *c, float *h)
{
    const size_t n = (size_t)hidden;
    for (int64_t r = 0; r < rows; r++, gates += 4 * n, c += n, h += n) {
        TAPER_TRY(taper_rows_activate(run, TAPER_ROWS_SIGMOID, 2 * n, gates));
        TAPER_TRY(taper_rows_activate(run, TAPER_ROWS_TANH, n, gates + 2 * n));
        TAPER_TRY(taper_rows_activate(run, TAPER_ROWS_SIGMOID, n, gates + 3 * n));
        for (size_t j = 0; j < n; j++) {
            c[j] = gates[n + j] * c[j] + gates[j] * gates[2 * n + j];
            h[j] = c[j];
        }
        TAPER_TRY(taper_rows_activate(run, TAPER_ROWS_TANH, n, h));
        for (size_t j = 0; j < n; j++) {
            h[j] *= gates[3 * n + j];
        }
    }
    return TAPER_OK;
}

static taper_status gru_cell_vector(taper_run *run, int64_t rows, int64_t hidden, float *x, const float *y, float *h)
{
    const size_t n = (size_t)hidden;
    for (int64_t r = 0; r < rows; r++, x += 3 * n, y += 3 * n, h += n) {
        for (size_t j = 0; j < 2 * n; j++) {
            x[j] += y[j];
        }
        TAPER_TRY(taper_rows_activate(run, TAPER_ROWS_SIGMOID, 2 * n, x));
        for (size_t j = 0; j < n; j++) {
            x[2 * n + j] += x[j] * y[2 * n + j];
        }
        TAPER_TRY(taper_rows_activate(run, TAPER_ROWS_TANH, n, x + 2 * n));
        for (size_t j = 0; j < n; j++) {
            h[j] = (h[j] - x[2 * n + j]) * x[n + j] + x[2 * n + j];
        }
    }
    return TAPER_OK;
}

static taper_status run_step(const layer *l, void *gates, int64_t rows, taper_tensor *h, taper_tensor *c)
{
    void *state = taper_tensor_mutable(h), *cell = c != NULL ? taper_tensor_mutable(c) : NULL;
    const bool wide = l->dtype == TAPER_F64;
    const bool fast = !wide && !l->run->portable;
    if (l->kind == TAPER_RNN_GRU) {
        start_rows(l->dtype, l->scratch, rows, l->width, l->weights->hidden_bias, NULL);
        TAPER_TRY(times_weight(l->run, l->dtype, state, l->hidden, 1, rows, l->weights->hidden, l->scratch, true,
                               l->backward, l->kept));
        if (fast) {
            return gru_cell_vector(l->run, rows, l->hidden, gates, (const void *)l->scratch, state);
        }
        wide ? gru_cell_f64(rows, l->hidden, gates, (const void *)l->scratch, state)
             : gru_cell_f32(rows, l->hidden, gates, (const void *)l->scratch, state);
        return TAPER_OK;
    }
    TAPER_TRY(times_weight(l->run, l->dtype, state, l->projected, 1, rows, l->weights->hidden, gates, true, l->backward,
                           l->kept));
    if (l->kind != TAPER_RNN_LSTM) {
        const bool relu = l->kind == TAPER_RNN_RELU;
        wide ? plain_cell_f64(relu, rows, l->hidden, gates, state)
             : plain_cell_f32(relu, rows, l->hidden, gates, state);
        return TAPER_OK;
    }
    void *fresh = l->weights->project != NULL ? l->scratch : state;
    if (fast) {
        TAPER_TRY(lstm_cell_vector(l->run, rows, l->hidden, gates, cell, fresh));
    } else {
        wide ? lstm_cell_f64(rows, l->hidden, gates, cell, fresh) : lstm_cell_f32(rows, l->hidden, gates, cell, fresh);
    }
    if (l->weights->project != NULL) {
        return times_weight(l->run, l->dtype, fresh, l->hidden, 1, rows, l->weights->project, state, false, false,
                            NULL);
    }
    return TAPER_OK;
}

taper_status taper_rnn_run(taper_call *call, taper_rnn_kind kind, const taper_rnn_weights *weights,
                           const taper_tensor *x, const taper_rnn_steps *steps, bool reverse, taper_tensor *h,
                           taper_tensor *c, void *out, int64_t out_step)
{
    taper_run *const run = call->run;
    layer l = {.run = run,
               .kind = kind,
               .weights = weights,
               .dtype = (taper_dtype)x->dtype,
               .hidden = kind == TAPER_RNN_LSTM ? c->sizes[1] : h->sizes[1],
               .projected = h->sizes[1]};
    taper_gemm_kept kept = {NULL, 0};
    l.kept = steps->steps > 1 ? &kept : NULL;
    l.width = gate_count(kind) * l.hidden;
    const size_t item = taper_tensor_item(x);
    const int64_t batch = h->sizes[0];
    size_t gate_bytes, scratch_bytes;
    if (!taper_mul_size((size_t)steps->rows, (size_t)l.width, &gate_bytes) ||
        !taper_mul_size(gate_bytes, item, &gate_bytes) ||
        !taper_mul_size((size_t)batch, (size_t)l.width, &scratch_bytes) ||
        !taper_mul_size(scratch_bytes, item, &scratch_bytes)) {
        TAPER_FAIL(run->error, TAPER_ERROR_RESOURCE, "the recurrent layer is too large");
    }
    if (gate_bytes == 0) {
        return TAPER_OK;
    }
    char *gates = taper_heap_alloc(run->heap, gate_bytes);
    l.scratch = scratch_bytes != 0 ? taper_heap_alloc(run->heap, scratch_bytes) : NULL;
    taper_status status =
        gates == NULL || (l.scratch == NULL && scratch_bytes != 0) ? taper_fail_memory(run->error) : TAPER_OK;
    if (status == TAPER_OK) {
        status = start_gates(call, kind, weights, x, gates);
    }
    int64_t row = reverse ? steps->rows : 0;
    for (int64_t i = 0; i < steps->steps && status == TAPER_OK; i++) {
        const int64_t t = reverse ? steps->steps - 1 - i : i, active = steps->batch_sizes[t];
        row -= reverse ? active : 0;
        l.backward = i % 2 == 1;
        status = run_step(&l, gates + (size_t)(row * l.width) * item, active, h, c);
        if (status == TAPER_OK && out != NULL) {
            const char *from = taper_tensor_data(h);
            const size_t bytes = (size_t)l.projected * item;
            for (int64_t b = 0; b < active; b++) {
                memcpy((char *)out + (row + b) * out_step * (int64_t)item, from + (size_t)b * bytes, bytes);
            }
        }
        row += reverse ? 0 : active;
    }
    taper_gemm_kept_free(run, &kept);
    taper_heap_free(run->heap, gates, gates != NULL ? gate_bytes : 0);
    taper_heap_free(run->heap, l.scratch, l.scratch != NULL ? scratch_bytes : 0);
    return status;
}
