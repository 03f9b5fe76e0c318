// SPDX-License-Identifier: BSD-2-Clause
// quantized::linear, linear_dynamic and their variants with relu, by the gemm kernels. Dynamic layers first quantize
// their float input by its range.
#include "ops/quantized/quantized_linear_packed.h"

#include <math.h>

#include "ops/call/prepared.h"
#include "ops/kernels/kernel_select.h"
#include "ops/quantized/quantized_layer.h"

// Describes the layer for this input. Returns false if the reference must run. `sizes` receives the sizes of the
// result, which are the sizes of the input except the last.
static bool describe_input(taper_linear_i8 *job, const taper_tensor *input, int64_t *sizes)
{
    if (input->rank < 2 || input->hidden_nhwc || !taper_tensor_is_contiguous(input) ||
        input->sizes[input->rank - 1u] != job->params.in || job->params.in <= 0) {
        return false;
    }
    memcpy(sizes, input->sizes, input->rank * sizeof *sizes);
    sizes[input->rank - 1u] = job->params.out;
    return taper_linear_i8_describe(job, (size_t)(taper_tensor_numel(input) / job->params.in));
}

static taper_status run_static(taper_call *call, bool relu)
{
    taper_run *run = call->run;
    taper_linear_i8 job = {.call = call, .relu = relu};
    taper_tensor *input, *y;
    int64_t zero_point, sizes[TAPER_MAX_RANK];
    TAPER_TRY(taper_arg_quantized(call, 0, &input));
    TAPER_TRY(taper_arg_qlinear(call, 1, &job.params));
    TAPER_TRY(taper_arg_double(call, 2, &job.out_scale));
    TAPER_TRY(taper_arg_int(call, 3, &zero_point));
    const taper_quantizer *z = input->quantizer;
    if (input->dtype != TAPER_QU8 || z->scales != NULL || !(z->scale > 0) || isinf(z->scale) || z->zero_point < 0 ||
        z->zero_point > 255 || !describe_input(&job, input, sizes)) {
        return TAPER_DECLINED;
    }
    TAPER_TRY(taper_q_check(TAPER_QU8, job.out_scale, zero_point, call->run->error));
    job.in_scale = z->scale;
    job.in_zero_point = (int32_t)z->zero_point;
    job.zero_point = (int32_t)zero_point;
    job.x = taper_tensor_data(input);
    const uint8_t kind = input->storage->kind;
    const size_t bytes = job.rows * job.in;
    uint8_t *copy = NULL;
    if (job.in % job.entry->kr != 0 && kind != TAPER_STORAGE_OWNED && kind != TAPER_STORAGE_PLANNED) {
        copy = taper_heap_alloc(run->heap, bytes + 1024); // the kernel reads some bytes past the input
        if (copy == NULL) {
            return taper_fail_memory(run->error);
        }
        memcpy(copy, job.x, bytes);
        job.x = copy;
    }
    job.keeps = copy == NULL && taper_call_has_constant_weights(call, job.params.weight, job.params.bias);
    taper_status status =
        taper_ret_quantized(call, 0, TAPER_QU8, input->rank, sizes, NULL, job.out_scale, zero_point, &y);
    if (status == TAPER_OK) {
        job.y = taper_tensor_mutable(y);
        status = taper_linear_i8_run(&job);
    }
    taper_heap_free(run->heap, copy, copy != NULL ? bytes + 1024 : 0);
    return status;
}

static taper_status run_dynamic(taper_call *call, bool relu)
{
    taper_linear_i8 job = {.call = call, .relu = relu};
    taper_tensor *input, *y;
    int64_t sizes[TAPER_MAX_RANK];
    TAPER_TRY(taper_arg_tensor(call, 0, &input));
    TAPER_TRY(taper_arg_qlinear(call, 1, &job.params));
    if (input->dtype != TAPER_F32 || !describe_input(&job, input, sizes)) {
        return TAPER_DECLINED;
    }
    TAPER_TRY(taper_linear_i8_choose(&job, taper_tensor_data(input)));
    TAPER_TRY(taper_ret_new(call, 0, TAPER_F32, input->rank, sizes, NULL, &y));
    job.y = taper_tensor_mutable(y);
    return taper_linear_i8_run_floats(&job, taper_tensor_data(input), NULL);
}

// Runs a layer with float input and result. The scale and zero point of the input are arguments.
static taper_status run_told(taper_call *call, bool relu)
{
    taper_linear_i8 job = {.call = call, .relu = relu};
    taper_tensor *input, *y;
    int64_t zero_point, sizes[TAPER_MAX_RANK];
    TAPER_TRY(taper_arg_tensor(call, 0, &input));
    TAPER_TRY(taper_arg_double(call, 1, &job.in_scale));
    TAPER_TRY(taper_arg_int(call, 2, &zero_point));
    TAPER_TRY(taper_arg_qlinear(call, 3, &job.params));
    if (input->dtype != TAPER_F32 || !((float)job.in_scale >= 0x1p-126f && (float)job.in_scale <= 0x1p+126f) ||
        zero_point < 0 || zero_point > 255 || !describe_input(&job, input, sizes)) {
        return TAPER_DECLINED;
    }
    job.in_zero_point = (int32_t)zero_point;
    TAPER_TRY(taper_ret_new(call, 0, TAPER_F32, input->rank, sizes, NULL, &y));
    job.y = taper_tensor_mutable(y);
    return taper_linear_i8_run_floats(&job, taper_tensor_data(input), taper_vector_f32_select(call->run->cpu));
}

taper_status taper_cpu_qlinear_told(taper_call *call);
taper_status taper_cpu_qlinear_told(taper_call *call)
{
    return run_told(call, false);
}

taper_status taper_cpu_qlinear_told_relu(taper_call *call);
taper_status taper_cpu_qlinear_told_relu(taper_call *call)
{
    return run_told(call, true);
}

taper_status taper_cpu_qlinear(taper_call *call);
taper_status taper_cpu_qlinear(taper_call *call)
{
    return run_static(call, false);
}

taper_status taper_cpu_qlinear_relu(taper_call *call);
taper_status taper_cpu_qlinear_relu(taper_call *call)
{
    return run_static(call, true);
}

taper_status taper_cpu_qlinear_dynamic(taper_call *call);
taper_status taper_cpu_qlinear_dynamic(taper_call *call)
{
    return run_dynamic(call, false);
}

taper_status taper_cpu_qlinear_relu_dynamic(taper_call *call);
taper_status taper_cpu_qlinear_relu_dynamic(taper_call *call)
{
    return run_dynamic(call, true);
}
