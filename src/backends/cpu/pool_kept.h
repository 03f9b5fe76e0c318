// SPDX-License-Identifier: BSD-2-Clause
// Part of pool_cpu.c: prepares calls for later runs, also for runs in bands of rows (ops/call/bands.h).
#ifndef TAPER_BACKENDS_CPU_POOL_KEPT_H
#define TAPER_BACKENDS_CPU_POOL_KEPT_H

typedef struct kept_pool {
    pool_job job;
    taper_pooling pooling;
    taper_banded banded;
} kept_pool;

static taper_status run_kept(taper_call *call, void *data)
{
    kept_pool *k = data;
    taper_tensor *y;
    TAPER_TRY(taper_ret_prepared(call, &y));
    k->job.call = call;
    k->job.in = taper_tensor_data(call->args[0].as.tensor);
    k->job.out = taper_tensor_mutable(y);
    return run_job(&k->job);
}

static taper_status begin_bands(taper_call *call, void *data)
{
    (void)call, (void)data;
    return TAPER_OK;
}

static void run_band(void *data, const taper_band *band)
{
    const kept_pool *k = data;
    const size_t row = k->banded.out_row / sizeof(float);
    float *to = (float *)(void *)band->y.at + (band->begin - band->y.from) % band->y.ring * row;
    for (size_t y = band->begin; y < band->end; y++, to += row) {
        run_row(&k->job, &band->x, (int64_t)y, to);
    }
}

// Declares that the pooling can run in bands, if rows are consecutive and all windows are equal.
static void say_bands(taper_call *call, kept_pool *k)
{
    const taper_pool_axis *h = &k->pooling.axis[1];
    const taper_volume *x = &k->job.x, *y = &k->job.y;
    const int64_t in_row = k->pooling.axis[2].input * x->c, out_row = k->pooling.axis[2].output * y->c;
    if (k->job.sums || h->adaptive || x->stride[1] != in_row || x->stride_n != in_row * h->input ||
        y->stride[1] != out_row || y->stride_n != out_row * h->output) {
        return;
    }
    k->banded = (taper_banded){.images = (size_t)x->n,
                               .in_rows = (size_t)h->input,
                               .out_rows = (size_t)h->output,
                               .in_row = (size_t)in_row * sizeof(float),
                               .out_row = (size_t)out_row * sizeof(float),
                               .stride = (size_t)h->stride,
                               .span = (size_t)((h->kernel - 1) * h->dilation + 1),
                               .pad = (size_t)h->padding,
                               .work = taper_floats_work(k->job.work),
                               .begin = begin_bands,
                               .run = run_band};
    taper_prepare_bands(call, &k->banded);
}

static void keep(const pool_job *job)
{
    kept_pool *kept = taper_prepare(job->call, run_kept, sizeof *kept);
    if (kept != NULL) {
        kept->job = *job;
        kept->pooling = *job->pooling;
        kept->job.pooling = &kept->pooling;
        say_bands(job->call, kept);
    }
}

#endif
