// SPDX-License-Identifier: BSD-2-Clause
// Fully connected layers of halves. The input is converted to floats, products are summed as floats, and each result is
// rounded once, together with its bias, as PyTorch does on CPUs. With few rows, reading the weights takes nearly all of
// the time, so they are read from the file's storage without packing. With more rows, the weights are packed and stay
// halves.
#include "backends/cpu/linear_halves.h"

#include "backends/cpu/fusion.h"
#include "ir/tensor.h"
#include "ops/call/parallel.h"
#include "ops/engine/linear_rows.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"
#include "ops/kernels/kernel_select.h"

// FEW_ROWS is the largest number of rows for which reading the weights from the cache for each row costs less than
// packing them. OUTPUTS_AT_ONCE is the number of outputs that are computed for all rows before the next outputs.
enum { FEW_ROWS = 4, OUTPUTS_AT_ONCE = 16 };

typedef struct halves_job {
    taper_gemv_half_function *gemv;
    const float *x, *bias; // input and bias as floats; bias may be NULL
    const uint16_t *weight;
    size_t weight_step; // number of elements from the weights of one output to the weights of the next output
    float *y;
    size_t rows, in, out;
} halves_job;

static void run_outputs(void *argument, size_t begin, size_t end)
{
    const halves_job *job = argument;
    for (size_t n = begin; n < end; n += OUTPUTS_AT_ONCE) {
        const size_t count = taper_min_size(OUTPUTS_AT_ONCE, end - n);
        for (size_t r = 0; r < job->rows; r++) {
            float *y = job->y + r * job->out + n;
            job->gemv(count, job->in, job->x + r * job->in, job->weight + n * job->weight_step, job->weight_step, y);
            for (size_t i = 0; i < count && job->bias != NULL; i++) {
                y[i] += job->bias[n + i];
            }
        }
    }
}

static taper_status run_few(taper_run *run, halves_job *job)
{
    const double products = (double)job->rows * (double)job->in * (double)job->out;
    run->kernel = taper_narrow_f32_select(run->cpu)->name;
    run->flops = 2.0 * products;
    return taper_run_range(run, run_outputs, job, job->out, OUTPUTS_AT_ONCE, taper_floats_work(products) / 2);
}

// Multiplies with packed weights. bias: the layer's bias as floats, or NULL if the layer has no bias.
static taper_status run_packed(taper_call *call, const halves_job *job, taper_precision precision,
                               const taper_linear_args *args, taper_tensor *bias)
{
    const taper_gemm_entry *entry = taper_gemm_select(call->run->cpu, precision);
    const taper_linear_rows rows = {.weights = {.weight = args->weight,
                                                .bias = bias,
#if TAPER_HAS_OP(linear_halves) // builds without this operator never call this function
                                                .model_bias = args->bias,
#endif
                                                .vector = taper_vector_f32_select(call->run->cpu)},
                                    .rows = job->rows,
                                    .in = job->in,
                                    .out = job->out,
                                    .x = job->x,
                                    .x_step = job->in,
                                    .y = job->y,
                                    .y_step = job->out};
    taper_pack pack;
    TAPER_TRY(taper_linear_pack(call, entry, &rows.weights, (job->out + entry->nr - 1) / entry->nr, &pack));
    const taper_status status = taper_linear_rows_packed(call->run, entry, &rows, &pack);
    taper_pack_done(call, &pack);
    return status;
}

static bool is_half(const taper_tensor *t)
{
    return (t->dtype == TAPER_BF16 || t->dtype == TAPER_F16) && !t->hidden_nhwc && taper_tensor_numel(t) > 0;
}

// Computes y, a new float tensor, from x and bias as floats. `bias` may be NULL.
static taper_status compute(taper_call *call, const taper_linear_args *a, const taper_tensor *x, taper_tensor *y,
                            taper_tensor *bias)
{
    const taper_narrow_entry *entry = taper_narrow_f32_select(call->run->cpu);
    const bool bf16 = a->input->dtype == TAPER_BF16;
    halves_job job = {.gemv = bf16 ? entry->gemv_bf16 : entry->gemv_fp16,
                      .x = taper_tensor_data(x),
                      .bias = bias != NULL ? taper_tensor_data(bias) : NULL,
                      .weight = taper_tensor_data(a->weight),
                      .weight_step = (size_t)a->weight->strides[0],
                      .y = taper_tensor_mutable(y),
                      .in = (size_t)a->weight->sizes[1],
                      .out = (size_t)a->weight->sizes[0]};
    job.rows = (size_t)taper_tensor_numel(x) / job.in;
    if (job.rows <= FEW_ROWS && (a->weight->strides[1] == 1 || job.in == 1)) {
        return run_few(call->run, &job);
    }
    return run_packed(call, &job, bf16 ? TAPER_PRECISION_bf16 : TAPER_PRECISION_fp16, a, bias);
}

taper_status taper_cpu_linear_halves(taper_call *call, const taper_linear_args *args)
{
    const taper_linear_args *a = args;
    if (!is_half(a->input) || !is_half(a->weight) || a->weight->rank != 2 || a->weight_is_in_out || a->clamped ||
        taper_fusion_of(call) != NULL || (a->bias != NULL && a->bias->rank != 1)) {
        return TAPER_DECLINED;
    }
    taper_tensor *x = NULL, *bias = NULL, *y = NULL;
    taper_status status = taper_tensor_floats(call->run, a->input, &x);
    if (status == TAPER_OK && a->bias != NULL) {
        status = taper_tensor_floats(call->run, a->bias, &bias);
    }
    if (status == TAPER_OK) {
        status = taper_tensor_new(call->run->heap, TAPER_F32, a->out_rank, a->out_sizes, NULL, &y, call->run->error);
    }
    if (status == TAPER_OK) {
        status = compute(call, a, x, y, bias);
    }
    taper_tensor_drop(x);
    taper_tensor_drop(bias);
    if (status != TAPER_OK) {
        taper_tensor_drop(y);
        return status;
    }
    return taper_ret_cast(call, 0, y, (taper_dtype)a->input->dtype);
}
