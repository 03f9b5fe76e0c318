// SPDX-License-Identifier: BSD-2-Clause
// One direction of one recurrent layer. The products with the input are computed for all steps at once. Each step then
// adds the products with the state. In both directions the active sequences of a step come first, so rows of the state
// that are not active keep their values. A backward layer keeps the first state in these rows, a forward layer keeps
// the last state.
#include <math.h>

#include "ops/engine/matmul.h"
#include "ops/nn/recurrent_cells.h"
#include "ops/nn/recurrent_packed.h"

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

// Sets each row to the sum of the biases that exist.
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

// Computes c = a weight', or adds this product to c if `add` is set. The rows of `a` are contiguous.
static taper_status times_weight(taper_run *run, taper_dtype dtype, const void *a, int64_t a_row, int64_t a_column,
                                 int64_t rows, const taper_tensor *weight, void *c, bool add)
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
                             .add = add};
    return taper_gemm_run(run, &gemm);
}

typedef struct layer {
    taper_run *run;
    taper_rnn_kind kind;
    const taper_rnn_weights *weights;
    taper_dtype dtype;
    int64_t hidden, projected, width; // width: number of gates, multiplied by `hidden`
    char *scratch; // for GRU: products with the state; for LSTM with projection: h before the projection
} layer;

static taper_status run_step(const layer *l, void *gates, int64_t rows, taper_tensor *h, taper_tensor *c)
{
    void *state = taper_tensor_mutable(h), *cell = c != NULL ? taper_tensor_mutable(c) : NULL;
    const bool apart = l->kind == TAPER_RNN_GRU, projects = l->weights->project != NULL;
    if (apart) {
        start_rows(l->dtype, l->scratch, rows, l->width, l->weights->hidden_bias, NULL);
    }
    TAPER_TRY(times_weight(l->run, l->dtype, state, l->projected, 1, rows, l->weights->hidden,
                           apart ? (void *)l->scratch : gates, true));
    void *fresh = projects ? l->scratch : state;
    if (l->dtype == TAPER_F64) {
        cells_f64(l->kind, rows, l->hidden, gates, (const void *)l->scratch, cell, fresh);
    } else if (l->run->portable) {
        cells_f32(l->kind, rows, l->hidden, gates, (const void *)l->scratch, cell, fresh);
    } else {
        taper_rnn_cells(taper_vector_f32_select(l->run->cpu), l->kind, rows, l->hidden, gates, (const void *)l->scratch,
                        cell, fresh);
    }
    return projects ? times_weight(l->run, l->dtype, fresh, l->hidden, 1, rows, l->weights->project, state, false)
                    : TAPER_OK;
}

// Computes the parts of the gates of all steps that depend on the input, and adds the biases that do not depend on the
// state.
static taper_status start_gates(const layer *l, const taper_tensor *x, void *gates)
{
    start_rows(l->dtype, gates, x->sizes[0], l->width, l->weights->input_bias,
               l->kind != TAPER_RNN_GRU ? l->weights->hidden_bias : NULL);
    return times_weight(l->run, l->dtype, taper_tensor_data(x), x->strides[0], x->strides[1], x->sizes[0],
                        l->weights->input, gates, true);
}

// Runs the steps. packed has the packed weights, or is NULL.
static taper_status run_steps(const layer *l, const taper_rnn_packed *packed, const taper_tensor *x,
                              const taper_rnn_steps *steps, bool reverse, char *gates, taper_tensor *h, taper_tensor *c,
                              char *out, int64_t out_step)
{
    const size_t item = taper_tensor_item(x);
    int64_t row = reverse ? steps->rows : 0;
    TAPER_TRY(packed != NULL ? taper_rnn_packed_start(packed, x, (void *)gates) : start_gates(l, x, gates));
    for (int64_t i = 0; i < steps->steps; i++) {
        const int64_t t = reverse ? steps->steps - 1 - i : i, active = steps->batch_sizes[t];
        row -= reverse ? active : 0;
        char *here = gates + (size_t)(row * l->width) * item;
        TAPER_TRY(packed != NULL ? taper_rnn_packed_step(packed, (void *)here, (size_t)active, taper_tensor_mutable(h),
                                                         c != NULL ? taper_tensor_mutable(c) : NULL, i % 2 == 1)
                                 : run_step(l, here, active, h, c));
        const char *from = taper_tensor_data(h);
        const size_t bytes = (size_t)l->projected * item;
        for (int64_t b = 0; out != NULL && b < active; b++) {
            memcpy(out + (row + b) * out_step * (int64_t)item, from + (size_t)b * bytes, bytes);
        }
        row += reverse ? 0 : active;
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
    const int64_t batch = h->sizes[0];
    l.width = gate_count(kind) * l.hidden;
    if (steps->rows == 0 || l.width == 0) {
        return TAPER_OK;
    }
    taper_rnn_packed packed;
    taper_status status = taper_rnn_packed_open(call, kind, weights, x, batch, l.hidden, l.projected, &packed);
    const bool is_packed = status != TAPER_DECLINED;
    size_t gate_bytes, scratch_bytes = 0;
    l.width = is_packed ? (int64_t)packed.width : l.width;
    const size_t item = taper_tensor_item(x);
    if (!taper_mul_size((size_t)steps->rows, (size_t)l.width, &gate_bytes) ||
        !taper_mul_size(gate_bytes, item, &gate_bytes) ||
        (!is_packed && (!taper_mul_size((size_t)batch, (size_t)l.width, &scratch_bytes) ||
                        !taper_mul_size(scratch_bytes, item, &scratch_bytes)))) {
        status = taper_fail(run->error, TAPER_ERROR_RESOURCE, "the recurrent layer is too large");
    }
    char *gates = NULL;
    if (status == TAPER_OK || status == TAPER_DECLINED) {
        gates = taper_heap_alloc(run->heap, gate_bytes);
        l.scratch = scratch_bytes != 0 ? taper_heap_alloc(run->heap, scratch_bytes) : NULL;
        status = gates == NULL || (l.scratch == NULL && scratch_bytes != 0)
                     ? taper_fail_memory(run->error)
                     : run_steps(&l, is_packed ? &packed : NULL, x, steps, reverse, gates, h, c, out, out_step);
    }
    taper_rnn_packed_close(&packed);
    taper_heap_free(run->heap, gates, gates != NULL ? gate_bytes : 0);
    taper_heap_free(run->heap, l.scratch, l.scratch != NULL ? scratch_bytes : 0);
    return status;
}
