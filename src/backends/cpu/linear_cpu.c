// SPDX-License-Identifier: BSD-2-Clause
// Fully connected layers of floats. One row is a matrix-vector product straight from the weights of the file; more rows
// use packed weights and the gemm kernels, in strips of rows and blocks of columns as conv2d_dense.c does.
#include <math.h>
#include <stdint.h>

#include "backends/cpu/epilogue.h"
#include "backends/cpu/kernel_select.h"
#include "ops/linear.h"
#include "ops/packs.h"
#include "platform/platform.h"
#include "platform/threads.h"

typedef struct linear_job {
    taper_call *call;
    taper_linear_args args;
    const taper_gemm_entry *entry;
    const taper_vector_entry *vector;
    const float *x, *packed, *weight, *bias;
    float *y;
    size_t rows, in, out;
    size_t strips, panels, panel_floats, block_panels, row_tasks, column_tasks;
    taper_epilogue epilogue;
} linear_job;

static size_t out_stride(const linear_job *job) // of the weight, from one output to the next
{
    return (size_t)job->args.weight->strides[job->args.weight_is_in_out ? 1 : 0];
}

static size_t in_stride(const linear_job *job)
{
    return (size_t)job->args.weight->strides[job->args.weight_is_in_out ? 0 : 1];
}

// ---- one row

enum { GEMV_GRAIN = 16 };

static void gemv_range(void *argument, size_t begin, size_t end)
{
    const linear_job *job = argument;
    const size_t stride = out_stride(job);
    job->vector->gemv(end - begin, job->in, job->x, job->weight + begin * stride, stride,
                      job->bias != NULL ? job->bias + begin : NULL, job->y + begin, job->epilogue.min,
                      job->epilogue.max);
    taper_epilogue_finish(&job->epilogue, 1, end - begin, job->y + begin, 0);
}

// ---- several rows

static void run_task(void *argument, size_t index)
{
    const linear_job *job = argument;
    const size_t row = index / job->column_tasks, column = index % job->column_tasks;
    const size_t strip_begin = row * job->strips / job->row_tasks, strip_end = (row + 1) * job->strips / job->row_tasks;
    const size_t panel_begin = column * job->panels / job->column_tasks,
                 panel_end = (column + 1) * job->panels / job->column_tasks;
    const size_t base = job->rows / job->strips, extra = job->rows % job->strips;
    for (size_t panel = panel_begin; panel < panel_end; panel += job->block_panels) {
        const size_t stop = taper_min_size(panel + job->block_panels, panel_end);
        const size_t first_column = panel * job->entry->nr;
        const size_t columns = taper_min_size(stop * job->entry->nr, job->out) - first_column;
        for (size_t strip = strip_begin; strip < strip_end; strip++) {
            const size_t first = strip * base + taper_min_size(strip, extra), count = base + (strip < extra);
            float *y = job->y + first * job->out + first_column;
            taper_gemm_epilogue e = {.min = job->epilogue.min, .max = job->epilogue.max};
            if (job->epilogue.add != NULL) {
                e.add = job->epilogue.add + first * job->out + first_column;
                e.add_stride = job->out;
            }
            job->entry->gemm(count, columns, job->in, job->x + first * job->in, job->in,
                             job->packed + panel * job->panel_floats, y, job->out, &e);
            taper_epilogue_finish(&job->epilogue, count, columns, y, job->out);
        }
    }
}

static void fill_weights(const taper_pack_request *request, void *data)
{
    const linear_job *job = request->user;
    const taper_gemm_pack pack = {.n = job->out,
                                  .ks = 1,
                                  .kc = job->in,
                                  .n_stride = out_stride(job),
                                  .k_stride = in_stride(job),
                                  .weights = job->weight,
                                  .bias = job->bias,
                                  .transpose = job->vector->transpose};
    taper_gemm_f32_pack(job->entry->nr, &pack, 0, job->panels, data);
}

static taper_status run_packed(linear_job *job)
{
    taper_run *run = job->call->run;
    const taper_gemm_entry *entry = job->entry;
    const size_t floats = taper_gemm_f32_packed_count(entry->nr, job->out, 1, job->in);
    if (floats == 0) {
        return TAPER_DECLINED;
    }
    job->panels = (job->out + entry->nr - 1) / entry->nr;
    job->panel_floats = (job->in + 1) * entry->nr;
    job->strips = (job->rows + entry->mr - 1) / entry->mr;
    const size_t budget = taper_cpu_l2_bytes() / 2 / sizeof(float);
    job->block_panels = taper_max_size(1, taper_min_size(job->panels, budget / job->panel_floats));
    job->row_tasks = job->column_tasks = 1;
    const unsigned threads = taper_pool_threads(run->pool);
    if (threads > 1) {
        job->row_tasks = taper_min_size(job->strips, 4 * (size_t)threads);
        if (job->row_tasks < 2 * (size_t)threads) {
            job->row_tasks = 1;
            job->column_tasks = taper_min_size(job->panels, 4 * (size_t)threads);
        }
    }
    taper_pack_request request = {.kind = entry,
                                  .tensors = {job->args.weight, job->args.bias},
                                  .numbers = {-1, job->args.weight_is_in_out},
                                  .bytes = floats * sizeof(float),
                                  .fill = fill_weights,
                                  .user = job};
    taper_pack pack;
    TAPER_TRY(taper_pack_get(job->call, &request, &pack));
    job->packed = pack.data;
    taper_pool_each(run->pool, run_task, job, job->row_tasks * job->column_tasks);
    taper_pack_done(job->call, &pack);
    return TAPER_OK;
}

static bool plain(const taper_tensor *t)
{
    return t->dtype == TAPER_F32 && !t->hidden_nhwc && taper_tensor_numel(t) > 0;
}

taper_status taper_cpu_linear(taper_call *call);
taper_status taper_cpu_linear(taper_call *call)
{
    taper_run *run = call->run;
    linear_job job = {
        .call = call, .entry = taper_gemm_f32_select(run->cpu), .vector = taper_vector_f32_select(run->cpu)};
    TAPER_TRY(taper_linear_parse(call, &job.args));
    const taper_linear_args *a = &job.args;
    if (!plain(a->input) || !plain(a->weight) || a->weight->rank != 2 || taper_ret_target(call, 0) != NULL ||
        (call->fusion != NULL && call->fusion->norm_at != 0) ||
        (a->bias != NULL &&
         (a->bias->dtype != TAPER_F32 || a->bias->rank != 1 || (a->bias->strides[0] != 1 && a->bias->sizes[0] != 1)))) {
        return TAPER_DECLINED;
    }
    job.out = (size_t)a->out_sizes[a->out_rank - 1];
    job.in = (size_t)a->input->sizes[a->input->rank - 1];
    job.rows = (size_t)taper_tensor_numel(a->input) / job.in;
    job.weight = taper_tensor_data(a->weight);
    job.bias = a->bias != NULL ? taper_tensor_data(a->bias) : NULL;
    TAPER_TRY(
        taper_epilogue_make(call, a->clamped, a->min, a->max, a->out_rank, a->out_sizes, false, false, &job.epilogue));
    taper_tensor *x, *y;
    TAPER_TRY(taper_run_contiguous(run, a->input, &x));
    taper_status status = taper_ret_new(call, 0, TAPER_F32, a->out_rank, a->out_sizes, NULL, &y);
    if (status == TAPER_OK) {
        run->kernel = job.rows == 1 ? job.vector->name : job.entry->name;
        run->flops = 2.0 * (double)job.rows * (double)job.in * (double)job.out;
        job.x = taper_tensor_data(x);
        job.y = taper_tensor_mutable(y);
        if (job.rows == 1 && job.epilogue.add == NULL && (in_stride(&job) == 1 || job.in == 1)) {
            taper_pool_range(run->pool, gemv_range, &job, job.out, GEMV_GRAIN);
        } else {
            status = run_packed(&job);
        }
    }
    taper_obj_release(&x->head);
    return status;
}
