// SPDX-License-Identifier: BSD-2-Clause
// 1x1 convolutions in NHWC with many input and one to four output channels: the last layers of networks for masks and
// depths.
#include "backends/cpu/conv_cpu.h"
#include "backends/cpu/few_outputs.h"
#include "base/checked.h"

typedef struct few_plan {
    taper_conv2d_plan head;
    const taper_vector_entry *vector;
} few_plan;

// Computes pixels [begin, end). `packed` contains, for each output, the bias and then the weights.
static void run_pixels(void *argument, size_t begin, size_t end)
{
    const few_plan *plan = argument;
    const taper_conv2d *job = plan->head.job;
    const float *packed = plan->head.packed;
    const taper_few_outputs layer = {.vector = plan->vector,
                                     .in = job->in_c,
                                     .out = job->out_c,
                                     .weights = packed + job->out_c,
                                     .weights_step = job->in_c,
                                     .bias = packed,
                                     .min = job->epilogue.min,
                                     .max = job->epilogue.max};
    float *y = job->y + begin * job->out_c;
    // Without a stride, the pixels of all rows are contiguous and form one long row.
    const bool joined = job->stride_h == 1 && job->stride_w == 1;
    const size_t row = joined ? job->batch * job->out_h * job->out_w : job->out_w;
    for (size_t at = begin, some; at < end; at += some, y += some * job->out_c) {
        some = taper_min_size(end - at, row - at % row);
        const size_t line = at / row / job->out_h * job->in_h + at / row % job->out_h * job->stride_h;
        const float *x = job->x + (line * job->in_w + at % row * job->stride_w) * job->in_c;
        taper_few_outputs_rows(&layer, some, x, job->stride_w * job->in_c, y);
        taper_epilogue_finish(&job->epilogue, some, job->out_c, y, job->out_c);
    }
}

static taper_status run_plan(const taper_conv2d_plan *head)
{
    const size_t pixels = head->job->batch * head->job->out_h * head->job->out_w;
    return taper_run_range(head->job->call->run, run_pixels, (void *)(uintptr_t)head, pixels, TAPER_FEW_OUTPUTS_GRAIN,
                           head->work);
}

static void fill_weights(const taper_pack_request *request, void *data)
{
    const taper_conv2d *job = request->user;
    const taper_tensor *t = job->args.weight;
    taper_conv2d_fold(job);
    const float *bias = taper_conv2d_bias(job), *from = taper_tensor_data(t);
    float *to = data;
    for (size_t o = 0; o < job->out_c; o++) {
        *to++ = bias != NULL ? bias[o] : 0.0f;
    }
    for (size_t o = 0; o < job->out_c; o++) {
        const float scale = job->scale != NULL ? job->scale[o] : 1.0f;
        for (size_t c = 0; c < job->in_c; c++) {
            *to++ = from[o * (size_t)t->strides[0] + c * (size_t)t->strides[1]] * scale;
        }
    }
}

bool taper_conv2d_is_few(const taper_conv2d *job)
{
    return job->kernel_h == 1 && job->kernel_w == 1 && job->pad_top == 0 && job->pad_left == 0 &&
           (job->out_h - 1) * job->stride_h < job->in_h && (job->out_w - 1) * job->stride_w < job->in_w &&
           job->groups == 1 && job->epilogue.add == NULL && job->call->run->precision == TAPER_PRECISION_fp32 &&
           taper_few_outputs_pay(job->batch * job->out_h * job->out_w, job->in_c, job->out_c);
}

taper_status taper_conv2d_few(taper_conv2d *job)
{
    few_plan plan = {.head = {.job = job, .run = run_plan, .bytes = sizeof plan},
                     .vector = taper_vector_f32_select(job->call->run->cpu)};
    const size_t weights = job->out_c * (1 + job->in_c);
    if (weights > SIZE_MAX / sizeof(float)) {
        return TAPER_DECLINED;
    }
    taper_pack_request request;
    taper_conv2d_pack_key(job, plan.vector, &request);
    request.layout = "convolution to few channels";
    request.kernel = plan.vector->name;
    request.bytes = weights * sizeof(float);
    request.fill = fill_weights;
    plan.head.name = plan.vector->name;
    plan.head.flops = 2.0 * (double)(job->batch * job->out_h * job->out_w) * (double)job->out_c * (double)job->in_c;
    plan.head.work = taper_floats_work((double)(job->batch * job->out_h * job->out_w) * (double)job->in_c);
    return taper_conv2d_do(&plan.head, &request);
}
