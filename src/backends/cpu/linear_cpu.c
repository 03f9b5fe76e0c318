// SPDX-License-Identifier: BSD-2-Clause
// Fully connected layers of floats. One row, or few outputs of many inputs, are computed as matrix-vector products that
// read the file's weights in place. All other cases, and all half-precision weights, use packed weights and the gemm
// kernels in the tiles of tiles.h.
#include <math.h>
#include <stdint.h>

#include "backends/cpu/epilogue.h"
#include "backends/cpu/few_outputs.h"
#include "backends/cpu/linear_halves.h"
#include "ops/call/prepared.h"
#include "ops/engine/linear_rows.h"
#include "ops/engine/tiles.h"
#include "ops/kernels/kernel_select.h"
#include "ops/list/op_features.h"
#include "ops/nn/linear.h"

typedef struct linear_job {
    taper_call *call;
    taper_linear_args args;
    const taper_gemm_entry *entry;
    const taper_vector_entry *vector;
    const float *x, *weight, *bias;
    const float *packed; // packed weights; NULL for one row or few outputs, which read the weights in place
    float *y;
    size_t rows, in, out;
    size_t panel_floats;
    taper_tiles tiles;
    taper_epilogue epilogue;
    double work;
} linear_job;

static size_t out_stride(const linear_job *job) // distance in elements from one output's weights to the next output's
{
    return (size_t)job->args.weight->strides[job->args.weight_is_in_out ? 1 : 0];
}

static size_t in_stride(const linear_job *job)
{
    return (size_t)job->args.weight->strides[job->args.weight_is_in_out ? 0 : 1];
}

// ---- products of one row

enum { GEMV_GRAIN = 16 };

// Returns the gemv kernel for weights that come from memory if this kernel is faster for the layer, otherwise the
// ordinary gemv kernel.
static taper_gemv_f32_function *find_gemv(const linear_job *job)
{
    // LONG_ROW: largest number of inputs for which the kernel for weights from memory is used. CACHED: number of
    // weights that stay in the cache.
    enum { LONG_ROW = 2048, CACHED = 1 << 19 };
    const bool streams =
        TAPER_ATTENDS && job->vector->gemv_stream != NULL && job->in <= LONG_ROW && job->in * job->out > CACHED;
    return streams ? job->vector->gemv_stream : job->vector->gemv;
}

static void gemv_range(void *argument, size_t begin, size_t end)
{
    const linear_job *job = argument;
    const size_t stride = out_stride(job);
    find_gemv(job)(end - begin, job->in, job->x, job->weight + begin * stride, stride,
                   job->bias != NULL ? job->bias + begin : NULL, job->y + begin, job->epilogue.min, job->epilogue.max);
    taper_epilogue_finish(&job->epilogue, 1, end - begin, job->y + begin, 0);
}

// ---- products with few outputs

static void few_range(void *argument, size_t begin, size_t end)
{
    const linear_job *job = argument;
    const taper_few_outputs layer = {.vector = job->vector,
                                     .in = job->in,
                                     .out = job->out,
                                     .weights = job->weight,
                                     .weights_step = out_stride(job),
                                     .bias = job->bias,
                                     .min = job->epilogue.min,
                                     .max = job->epilogue.max};
    float *y = job->y + begin * job->out;
    taper_few_outputs_rows(&layer, end - begin, job->x + begin * job->in, job->in, y);
    taper_epilogue_finish(&job->epilogue, end - begin, job->out, y, job->out);
}

// ---- products of several rows

static void run_tiles(void *argument, size_t begin, size_t end)
{
    const linear_job *job = argument;
    taper_tile t = taper_tile_at(&job->tiles, begin);
    for (size_t i = begin; i < end; taper_tile_next(&job->tiles, &t)) {
        i +=
            taper_tile_join(&job->tiles, &t, taper_epilogue_strips(&job->epilogue, job->entry->mr * job->out, end - i));
        const size_t column = t.panel * job->entry->nr, at = t.first * job->out + column;
        const size_t columns = taper_min_size(t.panel_end * job->entry->nr, job->out) - column;
        taper_gemm_epilogue e = {.min = job->epilogue.min, .max = job->epilogue.max};
        if (job->epilogue.add != NULL) {
            e.add = job->epilogue.add + at;
            e.add_stride = job->out;
        }
        job->entry->gemm(t.count, columns, job->in, job->x + t.first * job->in, job->in,
                         job->packed + t.panel * job->panel_floats, job->y + at, job->out, &e);
        taper_epilogue_finish(&job->epilogue, t.count, columns, job->y + at, job->out);
    }
}

// ---- runs and prepared calls

// Runs the layer. x, y and the summand must be set.
static taper_status run(linear_job *job)
{
    taper_run *const run = job->call->run;
    run->kernel = job->packed == NULL ? job->vector->name : job->entry->name;
    run->flops = 2.0 * (double)job->rows * (double)job->in * (double)job->out;
    if (job->packed != NULL) {
        return taper_run_range(run, run_tiles, job, job->tiles.count, 1, job->work);
    }
    return !TAPER_HAS_OP(few_outputs) || job->rows == 1
               ? taper_run_range(run, gemv_range, job, job->out, GEMV_GRAIN, job->work)
               : taper_run_range(run, few_range, job, job->rows, TAPER_FEW_OUTPUTS_GRAIN, job->work);
}

static taper_status run_kept(taper_call *call, void *data)
{
    linear_job *job = data;
    taper_tensor *y;
    TAPER_TRY(taper_ret_prepared(call, &y));
    job->call = call;
    job->x = taper_tensor_data(call->args[0].as.tensor);
    job->y = taper_tensor_mutable(y);
    if (job->epilogue.add != NULL) {
        job->epilogue.add = taper_tensor_data(call->args[taper_fusion_of(call)->add_at].as.tensor);
    }
    return run(job);
}

// Runs the layer, and prepares the call for later runs if `keeps` is set. pack is NULL if the weights are read in
// place.
static taper_status run_and_keep(linear_job *job, bool keeps, const taper_pack *pack)
{
    TAPER_TRY(run(job));
    linear_job *kept = keeps ? taper_prepare(job->call, run_kept, sizeof *kept) : NULL;
    if (kept != NULL) {
        *kept = *job;
        if (taper_prepared_moves(pack)) {
            kept->packed = pack->lies;
            taper_prepared_reads(job->call, pack);
        }
    }
    return TAPER_OK;
}

static taper_status run_packed(linear_job *job, bool keeps)
{
    const taper_gemm_entry *entry = job->entry;
    const size_t panels = (job->out + entry->nr - 1) / entry->nr;
    const taper_linear_weights weights = {.weight = job->args.weight,
                                          .bias = job->args.bias,
                                          .weight_is_in_out = job->args.weight_is_in_out,
                                          .vector = job->vector};
    taper_pack pack;
    TAPER_TRY(taper_linear_pack(job->call, entry, &weights, panels, &pack));
    job->panel_floats = taper_gemm_panel_floats(entry, 1, job->in);
    job->work = taper_gemm_work(entry, 2.0 * (double)job->rows * (double)job->in * (double)job->out,
                                (double)(pack.bytes / sizeof(float)));
    job->tiles = taper_tiles_make(job->call->run, job->rows, entry->mr, job->in * sizeof(float), panels,
                                  job->panel_floats * sizeof(float), job->work);
    job->packed = pack.data;
    const taper_status status = run_and_keep(job, keeps && pack.kept, &pack);
    taper_pack_done(job->call, &pack);
    return status;
}

static bool plain(const taper_tensor *t)
{
    return t->dtype == TAPER_F32 && !t->hidden_nhwc && taper_tensor_numel(t) > 0;
}

taper_status taper_cpu_linear(taper_call *call);
taper_status taper_cpu_linear(taper_call *call)
{
    linear_job job = {
        .call = call, .entry = taper_linear_entry(call->run), .vector = taper_vector_f32_select(call->run->cpu)};
    TAPER_TRY(taper_linear_parse(call, &job.args));
    const taper_linear_args *a = &job.args;
    if (TAPER_HAS_OP(linear_halves) && a->input->dtype != TAPER_F32) {
        return taper_cpu_linear_halves(call, a);
    }
    if (!plain(a->input) || !plain(a->weight) || a->weight->rank != 2 || taper_ret_target(call, 0) != NULL ||
        (taper_fusion_of(call) != NULL && taper_fusion_of(call)->norm_at != 0) ||
        (a->bias != NULL &&
         (a->bias->dtype != TAPER_F32 || a->bias->rank != 1 || (a->bias->strides[0] != 1 && a->bias->sizes[0] != 1)))) {
        return TAPER_DECLINED;
    }
    job.out = (size_t)a->out_sizes[a->out_rank - 1];
    job.in = (size_t)a->input->sizes[a->input->rank - 1];
    job.rows = (size_t)taper_tensor_numel(a->input) / job.in;
    job.weight = taper_tensor_data(a->weight);
    job.bias = a->bias != NULL ? taper_tensor_data(a->bias) : NULL;
    TAPER_TRY(taper_epilogue_make(call, a->clamped, a->min, a->max, a->out_rank, a->out_sizes, false, false, NULL,
                                  &job.epilogue));
    taper_tensor *x, *y;
    TAPER_TRY(taper_run_contiguous(call->run, a->input, &x));
    taper_status status = taper_ret_new(call, 0, TAPER_F32, a->out_rank, a->out_sizes, NULL, &y);
    if (status == TAPER_OK) {
        const bool keeps = x == a->input && taper_call_has_constant_weights(call, a->weight, a->bias);
        job.x = taper_tensor_data(x);
        job.y = taper_tensor_mutable(y);
        if ((job.rows == 1 || (TAPER_HAS_OP(few_outputs) && taper_few_outputs_pay(job.rows, job.in, job.out))) &&
            call->run->precision == TAPER_PRECISION_fp32 && job.epilogue.add == NULL &&
            (in_stride(&job) == 1 || job.in == 1)) {
            job.work = taper_floats_work((double)job.rows * (double)job.in * (double)job.out);
            status = run_and_keep(&job, keeps, NULL);
        } else {
            status = run_packed(&job, keeps);
        }
    }
    taper_obj_release(&x->head);
    return status;
}
