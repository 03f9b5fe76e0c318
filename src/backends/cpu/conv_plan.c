// SPDX-License-Identifier: BSD-2-Clause
// Functions that all algorithms of a convolution use: they fold batch norm into the weights, describe packed weights,
// run a plan, and keep the plan, so that later runs of the call can use it, whole or in bands.
#include <math.h>

#include "backends/cpu/conv_cpu.h"
#include "ops/call/prepared.h"
#include "ops/list/op_features.h"

const taper_tensor *taper_conv2d_norm_tensor(const taper_conv2d *job, size_t which)
{
    const taper_fusion *f = taper_fusion_of(job->call);
    const taper_val value = job->call->args[f->norm_at + which];
    return value.tag == TAPER_TENSOR ? value.as.tensor : NULL;
}

bool taper_conv2d_has_norm(const taper_conv2d *job)
{
    return taper_fusion_of(job->call) != NULL && taper_fusion_of(job->call)->norm_at != 0;
}

static const float *channel_data(const taper_tensor *t)
{
    return t != NULL ? taper_tensor_data(t) : NULL;
}

// Turns (conv - mean) / sqrt(variance + eps) * weight + bias into conv * scale + shift. shift includes the
// convolution's bias.
void taper_conv2d_fold(const taper_conv2d *job)
{
    if (job->scale == NULL) {
        return;
    }
    const float *weight = channel_data(taper_conv2d_norm_tensor(job, 0)),
                *bias = channel_data(taper_conv2d_norm_tensor(job, 1));
    const float *mean = channel_data(taper_conv2d_norm_tensor(job, 2)),
                *variance = channel_data(taper_conv2d_norm_tensor(job, 3));
    const float *own = job->args.bias != NULL ? taper_tensor_data(job->args.bias) : NULL;
    const double eps = taper_fusion_of(job->call)->norm_eps;
    for (size_t c = 0; c < job->out_c; c++) {
        const double scale = (weight != NULL ? (double)weight[c] : 1.0) / sqrt((double)variance[c] + eps);
        job->scale[c] = (float)scale;
        job->shift[c] = (float)(((own != NULL ? (double)own[c] : 0.0) - (double)mean[c]) * scale +
                                (bias != NULL ? (double)bias[c] : 0.0));
    }
}

void taper_conv2d_pack_key(const taper_conv2d *job, const void *kind, taper_pack_request *request)
{
    *request = (taper_pack_request){.kind = kind, .tensors = {job->args.weight, job->args.bias}, .user = job};
    request->numbers[0] = (int64_t)job->groups;
    if (taper_conv2d_has_norm(job)) {
        for (size_t i = 0; i < 4; i++) {
            const taper_val value = job->call->args[taper_fusion_of(job->call)->norm_at + i];
            request->tensors[2 + i] = value.tag == TAPER_TENSOR ? value.as.tensor : NULL;
        }
        memcpy(&request->numbers[1], &taper_fusion_of(job->call)->norm_eps, sizeof request->numbers[1]);
        request->numbers[2] = 1;
    }
}

// ---- runs and prepared calls

typedef struct kept_conv {
    taper_conv2d job;
    taper_conv2d_plan *plan; // plan, stored after this struct and followed by the zeros for taps outside the image
    taper_banded banded;
} kept_conv;

static void take_arguments(taper_conv2d *job, taper_call *call)
{
    job->call = call;
    job->args.input = call->args[0].as.tensor;
    if (job->epilogue.add != NULL) {
        job->epilogue.add = taper_tensor_data(call->args[taper_fusion_of(call)->add_at].as.tensor);
    }
}

static taper_status run_kept(taper_call *call, void *data)
{
    kept_conv *k = data;
    taper_conv2d *job = &k->job;
    taper_tensor *y;
    TAPER_TRY(taper_ret_prepared(call, &y));
    take_arguments(job, call);
    job->x = taper_tensor_data(job->args.input);
    job->y = taper_tensor_mutable(y);
    call->run->kernel = k->plan->name;
    call->run->flops = k->plan->flops;
    return k->plan->run(k->plan);
}

#include "backends/cpu/conv_bands.h"

static void keep(const taper_conv2d_plan *plan, const taper_pack *pack)
{
    const taper_conv2d *job = plan->job;
    const size_t plan_at = taper_round_up(sizeof(kept_conv), 16), zero_at = taper_round_up(plan_at + plan->bytes, 16);
    kept_conv *kept = taper_prepare(job->call, run_kept, zero_at + taper_conv2d_zero_bytes(job));
    if (kept != NULL) { // taper_prepare returns zeroed memory
        kept->job = *job;
        kept->plan = (taper_conv2d_plan *)(void *)((char *)kept + plan_at);
        kept->job.zero = (const float *)(const void *)((const char *)kept + zero_at);
        memcpy(kept->plan, plan, plan->bytes);
        kept->plan->job = &kept->job;
        kept->plan->packed = pack->lies;
        say_bands(kept, pack->bytes);
        taper_prepared_reads(job->call, pack);
    }
}

taper_status taper_conv2d_do(taper_conv2d_plan *plan, const taper_pack_request *request)
{
    taper_call *call = plan->job->call;
    taper_pack pack;
    call->run->kernel = plan->name;
    call->run->flops = plan->flops;
    TAPER_TRY(taper_pack_get(call, request, &pack));
    plan->packed = pack.data;
    const taper_status status = plan->run(plan);
    if (status == TAPER_OK && plan->job->keeps && pack.kept) {
        keep(plan, &pack);
    }
    taper_pack_done(call, &pack);
    return status;
}
