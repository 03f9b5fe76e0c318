// SPDX-License-Identifier: BSD-2-Clause
// Part of quantized_conv_plan.c: runs a convolution in bands, some rows of the result at a time (ops/call/bands.h).
#ifndef TAPER_BACKENDS_CPU_QUANTIZED_CONV_BANDS_H
#define TAPER_BACKENDS_CPU_QUANTIZED_CONV_BANDS_H

static taper_status begin_bands(taper_call *call, void *data)
{
    kept_conv *k = data;
    k->job.call = call;
    return k->plan->begin != NULL ? k->plan->begin(k->plan) : TAPER_OK;
}

static void run_band(void *data, const taper_band *band)
{
    const kept_conv *k = data;
    k->plan->rows(k->plan, band);
}

static void end_bands(taper_call *call, void *data)
{
    const kept_conv *k = data;
    (void)call;
    if (k->plan->end != NULL) {
        k->plan->end(k->plan);
    }
}

static void say_bands(kept_conv *k, size_t weights)
{
    const taper_conv2d_i8 *job = &k->job;
    if (k->plan->rows == NULL) {
        return;
    }
    k->banded = (taper_banded){.images = job->batch,
                               .in_rows = job->in_h,
                               .out_rows = job->out_h,
                               .in_row = job->in_w * job->in_c,
                               .out_row = job->out_w * job->out_c,
                               .stride = job->stride_h,
                               .span = (job->kernel_h - 1) * job->dilation_h + 1,
                               .pad = job->pad_top,
                               .weights = weights,
                               .work = k->plan->work,
                               .begin = begin_bands,
                               .run = run_band,
                               .end = end_bands};
    taper_prepare_bands(job->call, &k->banded);
}

#endif
