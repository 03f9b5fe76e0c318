// SPDX-License-Identifier: BSD-2-Clause
// Rows times packed weights (linear_rows.h).
#include "ops/engine/linear_rows.h"

#include <math.h>

#include "ops/engine/tiles.h"
#include "ops/kernels/precisions.h"
#include "ops/list/op_config.h"

const taper_gemm_entry *taper_linear_entry(const taper_run *run)
{
    return taper_gemm_of(run->cpu, run->precision);
}

// ---- packed weights

static void fill_panels(const taper_pack_request *request, void *data, size_t first, size_t end)
{
    const taper_linear_weights *w = request->user;
    const int out = w->weight_is_in_out ? 1 : 0;
    const taper_gemm_pack pack = {.n = (size_t)w->weight->sizes[out],
                                  .ks = 1,
                                  .kc = (size_t)w->weight->sizes[1 - out],
                                  .n_stride = (size_t)w->weight->strides[out],
                                  .k_stride = (size_t)w->weight->strides[1 - out],
                                  // If the weights are halves, the code below reads them as halves.
                                  .weights = taper_tensor_data(w->weight),
                                  .bias = w->bias != NULL ? taper_tensor_data(w->bias) : NULL,
                                  .transpose = w->vector->transpose};
    if (w->weight->dtype == TAPER_F32 || !TAPER_HAS_OP(linear_halves)) {
        taper_gemm_pack_panels(request->kind, &pack, first, end, data);
    } else {
        taper_gemm_pack_halves(request->kind, &pack, taper_tensor_data(w->weight), first, end, data);
    }
}

// Returns the bias that identifies a pack. If the bias was converted from a tensor of the model, the function returns
// that tensor, because a pack is kept only if it is made of the model's own tensors.
static taper_tensor *key_bias(const taper_linear_weights *weights)
{
#if TAPER_HAS_OP(linear_halves)
    return weights->model_bias != NULL ? weights->model_bias : weights->bias;
#else
    return weights->bias;
#endif
}

taper_status taper_linear_pack(taper_call *call, const taper_gemm_entry *entry, const taper_linear_weights *weights,
                               size_t panels, taper_pack *pack)
{
    const int out = weights->weight_is_in_out ? 1 : 0;
    const size_t floats =
        taper_gemm_packed_count(entry, (size_t)weights->weight->sizes[out], 1, (size_t)weights->weight->sizes[1 - out]);
    if (floats == 0) {
        return TAPER_DECLINED;
    }
    const taper_pack_request request = {.kind = entry,
                                        .layout = "linear",
                                        .kernel = entry->name,
                                        .tensors = {weights->weight, key_bias(weights)},
                                        .numbers = {-1, out},
                                        .bytes = floats * sizeof(float),
                                        .fill_parts = fill_panels,
                                        .parts = panels,
                                        .user = weights};
    return taper_pack_get(call, &request, pack);
}

// ---- products

typedef struct rows_job {
    const taper_linear_rows *rows;
    const taper_gemm_entry *entry;
    const float *packed;
    size_t panel_floats;
    taper_tiles tiles;
} rows_job;

static void run_tiles(void *argument, size_t begin, size_t end)
{
    const rows_job *job = argument;
    const taper_linear_rows *r = job->rows;
    taper_tile t = taper_tile_at(&job->tiles, begin);
    for (size_t i = begin; i < end; taper_tile_next(&job->tiles, &t)) {
        i += taper_tile_join(&job->tiles, &t, end - i);
        const size_t column = t.panel * job->entry->nr;
        const size_t columns = taper_min_size(t.panel_end * job->entry->nr, r->out) - column;
        const taper_gemm_epilogue e = {.add = r->add != NULL ? r->add + t.first * r->add_step + column : NULL,
                                       .add_stride = r->add_step,
                                       .min = -INFINITY,
                                       .max = INFINITY};
        job->entry->gemm(t.count, columns, r->in, r->x + t.first * r->x_step, r->x_step,
                         job->packed + t.panel * job->panel_floats, r->y + t.first * r->y_step + column, r->y_step, &e);
    }
}

static bool fits(const taper_linear_rows *r)
{
    const taper_tensor *weight = r->weights.weight, *bias = r->weights.bias;
    return r->rows != 0 && r->in != 0 && r->out != 0 && weight->dtype == TAPER_F32 && weight->rank == 2 &&
           !weight->hidden_nhwc &&
           (bias == NULL || (bias->dtype == TAPER_F32 && bias->rank == 1 && (bias->strides[0] == 1 || r->out == 1)));
}

taper_status taper_linear_rows_packed(taper_run *run, const taper_gemm_entry *entry, const taper_linear_rows *rows,
                                      const taper_pack *pack)
{
    const size_t panels = (rows->out + entry->nr - 1) / entry->nr;
    const double flops = 2.0 * (double)rows->rows * (double)rows->in * (double)rows->out;
    rows_job job = {.rows = rows,
                    .entry = entry,
                    .packed = pack->data,
                    .panel_floats = taper_gemm_panel_floats(entry, 1, rows->in)};
    const double work = taper_gemm_work(entry, flops, (double)(pack->bytes / sizeof(float)));
    job.tiles = taper_tiles_make(run, rows->rows, entry->mr, rows->in * sizeof(float), panels,
                                 job.panel_floats * sizeof(float), work);
    run->kernel = entry->name;
    run->flops += flops;
    return taper_run_range(run, run_tiles, &job, job.tiles.count, 1, work);
}

taper_status taper_linear_rows_run(taper_call *call, const taper_linear_rows *rows)
{
    taper_run *const run = call->run;
    if (run->portable || !fits(rows)) {
        return TAPER_DECLINED;
    }
    const taper_gemm_entry *entry = taper_linear_entry(run);
    taper_pack pack;
    TAPER_TRY(taper_linear_pack(call, entry, &rows->weights, (rows->out + entry->nr - 1) / entry->nr, &pack));
    const taper_status status = taper_linear_rows_packed(run, entry, rows, &pack);
    taper_pack_done(call, &pack);
    return status;
}
