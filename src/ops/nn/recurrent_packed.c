// SPDX-License-Identifier: BSD-2-Clause
// Recurrent layers with packed weights. The weights of all gates of a block of units are contiguous, and rows of gates
// have the same order. A step is therefore one loop over blocks, which the threads share. A task computes the gates of
// a block from the state, reading its weights as one stream of memory, and then the block's new state. Biases are
// packed with their weights.
#include "ops/nn/recurrent_packed.h"

#include <math.h>

#include "ops/engine/linear_rows.h"
#include "ops/engine/matmul.h"
#include "ops/engine/tiles.h"
#include "ops/nn/recurrent_cells.h"

// ---- packed weights

typedef struct packing {
    const taper_rnn_packed *packed;
    taper_tensor *weight, *bias;
} packing;

static void fill_panels(const taper_pack_request *request, void *data, size_t first, size_t end)
{
    const packing *p = request->user;
    const taper_rnn_packed *r = p->packed;
    const taper_gemm_entry *entry = request->kind;
    const size_t nr = entry->nr, each = r->block / nr, floats = request->bytes / sizeof(float) / request->parts;
    for (size_t i = first; i < end; i++) {
        const size_t unit = i / each / r->gates * r->block + i % each * nr, gate = i / each % r->gates;
        float *to = (float *)data + i * floats;
        if (unit >= r->hidden) {
            memset(to, 0, floats * sizeof *to);
            continue;
        }
        const size_t row = gate * r->hidden + unit, stride = (size_t)p->weight->strides[0];
        const float *bias = p->bias != NULL ? taper_tensor_data(p->bias) : NULL;
        const taper_gemm_pack pack = {.n = taper_min_size(nr, r->hidden - unit),
                                      .ks = 1,
                                      .kc = (size_t)p->weight->sizes[1],
                                      .n_stride = stride,
                                      .k_stride = (size_t)p->weight->strides[1],
                                      .weights = (const float *)taper_tensor_data(p->weight) + row * stride,
                                      .bias = bias != NULL ? bias + row : NULL,
                                      .transpose = taper_vector_f32_select(r->call->run->cpu)->transpose};
        taper_gemm_pack_panels(entry, &pack, 0, 1, to);
    }
}

static taper_pack_request request_for(const taper_rnn_packed *r, const packing *p)
{
    const size_t k = (size_t)p->weight->sizes[1], panels = r->width / r->entry->nr;
    return (taper_pack_request){.kind = r->entry,
                                .layout = "recurrent",
                                .kernel = r->entry->name,
                                .tensors = {p->weight, p->bias},
                                .numbers = {-3, (int64_t)r->gates, (int64_t)r->block},
                                .bytes = taper_gemm_packed_count(r->entry, r->width, 1, k) * sizeof(float),
                                .fill_parts = fill_panels,
                                .parts = panels,
                                .user = p};
}

static bool is_weight(const taper_tensor *weight)
{
    return weight->dtype == TAPER_F32 && weight->sizes[0] > 0 && weight->sizes[1] > 0 && weight->strides[0] >= 0 &&
           weight->strides[1] >= 0;
}

static bool is_bias(const taper_tensor *bias)
{
    return bias == NULL || (bias->dtype == TAPER_F32 && bias->strides[0] == 1);
}

static bool fits(const taper_run *run, const taper_rnn_weights *weights, const taper_tensor *x)
{
    return !run->portable && x->dtype == TAPER_F32 && x->strides[1] == 1 && x->strides[0] >= 0 &&
           is_weight(weights->input) && is_weight(weights->hidden) && is_bias(weights->input_bias) &&
           is_bias(weights->hidden_bias) && (weights->project == NULL || is_weight(weights->project));
}

// Computes the layout of the units and the size of the scratch memory. Returns false if a size overflows.
static bool measure(taper_rnn_packed *r)
{
    enum { UNITS = 32 };
    size_t units, bytes;
    // The block is a multiple of nr, the columns of a panel. nr is not a power of two in every kernel.
    r->block = ((UNITS - 1) / r->entry->nr + 1) * r->entry->nr;
    r->blocks = (r->hidden - 1) / r->block + 1;
    return taper_mul_size(r->blocks, r->block, &units) && taper_mul_size(units, r->gates, &r->width) &&
           taper_mul_size(2 * units, sizeof(float), &bytes) && taper_mul_size(bytes, r->batch, &r->scratch_bytes) &&
           taper_gemm_packed_count(r->entry, r->width, 1, r->in) != 0 &&
           taper_gemm_packed_count(r->entry, r->width, 1, r->projected) != 0;
}

static taper_status get_packs(taper_rnn_packed *r)
{
    packing of_input = {r, r->weights->input, r->weights->input_bias};
    packing of_state = {r, r->weights->hidden, r->weights->hidden_bias};
    taper_pack_request request = request_for(r, &of_input);
    TAPER_TRY(taper_pack_get(r->call, &request, &r->input));
    request = request_for(r, &of_state);
    TAPER_TRY(taper_pack_get(r->call, &request, &r->state));
    if (r->weights->project == NULL) {
        return TAPER_OK;
    }
    const taper_linear_weights project = {.weight = r->weights->project,
                                          .vector = taper_vector_f32_select(r->call->run->cpu)};
    return taper_linear_pack(r->call, r->entry, &project, (r->projected - 1) / r->entry->nr + 1, &r->project);
}

taper_status taper_rnn_packed_open(taper_call *call, taper_rnn_kind kind, const taper_rnn_weights *weights,
                                   const taper_tensor *x, int64_t batch, int64_t hidden, int64_t projected,
                                   taper_rnn_packed *packed)
{
    taper_run *const run = call->run;
    *packed = (taper_rnn_packed){.call = call, .kind = kind, .weights = weights};
    taper_rnn_packed *const r = packed;
    if (!fits(run, weights, x)) {
        return TAPER_DECLINED;
    }
    const taper_gemm_entry *of_precision = taper_linear_entry(run);
    // If the CPU does not multiply halves, the kernels widen the weights in each product. This takes too long for a
    // step, which has few rows, so float weights are used.
    r->entry = of_precision->rounds != 0 ? of_precision : taper_gemm_f32_select(run->cpu);
    r->in = (size_t)x->sizes[1];
    r->hidden = (size_t)hidden;
    r->projected = (size_t)projected;
    r->gates = kind == TAPER_RNN_LSTM ? 4 : kind == TAPER_RNN_GRU ? 3 : 1;
    r->batch = (size_t)batch;
    // For a few units most of a panel would be padding.
    if (r->batch == 0 || 4 * r->hidden < r->entry->nr || !measure(r)) {
        return TAPER_DECLINED;
    }
    r->panel_floats = taper_gemm_panel_floats(r->entry, 1, r->projected);
    const packing of_state = {r, weights->hidden, weights->hidden_bias};
    const taper_pack_request request = request_for(r, &of_state);
    if (x->sizes[0] <= TAPER_GEMM_FEW_ROWS && !taper_packs_keep(call, &request)) {
        return TAPER_DECLINED;
    }
    r->fresh = taper_heap_alloc(run->heap, r->scratch_bytes);
    if (r->fresh == NULL) {
        return taper_fail_memory(run->error);
    }
    r->products = r->fresh + r->batch * r->blocks * r->block;
    run->kernel = r->entry->name;
    return get_packs(r);
}

void taper_rnn_packed_close(taper_rnn_packed *packed)
{
    taper_pack_done(packed->call, &packed->input);
    taper_pack_done(packed->call, &packed->state);
    taper_pack_done(packed->call, &packed->project);
    taper_heap_free(packed->call->run->heap, packed->fresh, packed->fresh != NULL ? packed->scratch_bytes : 0);
    packed->fresh = NULL;
}

// ---- the parts of the gates that depend on the input

taper_status taper_rnn_packed_start(const taper_rnn_packed *packed, const taper_tensor *x, float *gates)
{
    const taper_linear_rows rows = {.rows = (size_t)x->sizes[0],
                                    .in = packed->in,
                                    .out = packed->width,
                                    .x = taper_tensor_data(x),
                                    .x_step = (size_t)x->strides[0],
                                    .y = gates,
                                    .y_step = packed->width};
    return taper_linear_rows_packed(packed->call->run, packed->entry, &rows, &packed->input);
}

// ---- time steps

typedef struct step_job {
    const taper_rnn_packed *packed;
    const taper_vector_entry *vector;
    taper_gemm_strips strips; // division of the rows into strips
    float *gates, *c, *fresh;
    const float *h;
    bool backward;
} step_job;

static void multiply(const step_job *job, size_t first, size_t rows, size_t panel, size_t columns, const float *add,
                     float *to, size_t step)
{
    const taper_rnn_packed *r = job->packed;
    const taper_gemm_epilogue e = {.add = add, .add_stride = step, .min = -INFINITY, .max = INFINITY};
    r->entry->gemm(rows, columns, r->projected, job->h + first * r->projected, r->projected,
                   (const float *)r->state.data + panel * r->panel_floats, to, step, &e);
}

static void run_block(const step_job *job, size_t first, size_t rows, size_t block)
{
    const taper_rnn_packed *r = job->packed;
    const size_t panels = r->block / r->entry->nr, panel = block * r->gates * panels, unit = block * r->block;
    const size_t count = taper_min_size(r->block, r->hidden - unit), units = r->blocks * r->block;
    float *gates = job->gates + first * r->width + block * r->gates * r->block, *products = r->products;
    if (r->kind == TAPER_RNN_GRU) {
        products += first * units + unit;
        multiply(job, first, rows, panel, 2 * r->block, gates, gates, r->width);
        multiply(job, first, rows, panel + 2 * panels, r->block, NULL, products, units);
    } else {
        multiply(job, first, rows, panel, r->gates * r->block, gates, gates, r->width);
    }
    for (size_t i = first; i < first + rows; i++, gates += r->width, products += units) {
        float *fresh = job->fresh + i * r->hidden + unit;
        if (r->kind == TAPER_RNN_LSTM) {
            job->vector->lstm_cell(count, gates, r->block, job->c + i * r->hidden + unit, fresh);
        } else if (r->kind == TAPER_RNN_GRU) {
            job->vector->gru_cell(count, gates, r->block, products, job->h + i * r->hidden + unit, fresh);
        } else {
            taper_plain_cell(job->vector, r->kind == TAPER_RNN_RELU, count, gates, fresh);
        }
    }
}

static void step_range(void *argument, size_t begin, size_t end)
{
    const step_job *job = argument;
    for (size_t n = begin; n < end; n++) {
        const size_t i = job->backward ? end - 1 - (n - begin) : n;
        const size_t strip = i % job->strips.count, longer = taper_min_size(strip, job->strips.longer);
        run_block(job, strip * job->strips.even + longer, job->strips.even + (strip < job->strips.longer),
                  i / job->strips.count);
    }
}

taper_status taper_rnn_packed_step(const taper_rnn_packed *packed, float *gates, size_t rows, float *h, float *c,
                                   bool backward)
{
    const taper_rnn_packed *const r = packed;
    taper_run *const run = r->call->run;
    const double weights = (double)r->width * (double)r->projected, flops = 2.0 * (double)rows * weights;
    step_job job = {.packed = r,
                    .vector = taper_vector_f32_select(run->cpu),
                    .strips = taper_gemm_cut(rows, r->entry->mr),
                    .gates = gates,
                    .c = c,
                    .fresh = r->fresh,
                    .h = h,
                    .backward = backward};
    run->flops += flops;
    TAPER_TRY(taper_run_range(run, step_range, &job, job.strips.count * r->blocks, 1,
                              taper_gemm_work(r->entry, flops, weights)));
    if (r->weights->project == NULL) {
        memcpy(h, r->fresh, rows * r->hidden * sizeof *h);
        return TAPER_OK;
    }
    const taper_linear_rows project = {.rows = rows,
                                       .in = r->hidden,
                                       .out = r->projected,
                                       .x = r->fresh,
                                       .x_step = r->hidden,
                                       .y = h,
                                       .y_step = r->projected};
    return taper_linear_rows_packed(run, r->entry, &project, &r->project);
}
