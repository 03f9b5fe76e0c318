// SPDX-License-Identifier: BSD-2-Clause
// Functions that all algorithms of a quantized convolution use: they make pixels of four bytes, run a plan, and keep
// the plan, so that later runs of the call can use it, whole or in bands.
#include "backends/cpu/quantized_conv_cpu.h"
#include "ops/call/prepared.h"
#include "ops/kernels/kernel_select.h"

enum { LINE = 64 }; // number of bytes of a cache line

// Interleaves four planes. With restrict, compilers vectorize this loop.
static void interleave(size_t pixels, const uint8_t *const planes[4], uint8_t *restrict to)
{
    const uint8_t *restrict a = planes[0], *restrict b = planes[1], *restrict c = planes[2], *restrict d = planes[3];
    for (size_t i = 0; i < pixels; i++) {
        to[4 * i] = a[i];
        to[4 * i + 1] = b[i];
        to[4 * i + 2] = c[i];
        to[4 * i + 3] = d[i];
    }
}

void taper_conv2d_i8_interleave(const taper_vector_u8_entry *vector, size_t pixels, const uint8_t *const planes[4],
                                uint8_t *to)
{
    if (vector->interleave != NULL) {
        vector->interleave(pixels, planes, to);
    } else {
        interleave(pixels, planes, to);
    }
}

// ---- runs and prepared calls

typedef struct kept_conv {
    taper_conv2d_i8 job;
    taper_conv2d_i8_plan *plan; // plan, stored after this struct and followed by bias, factor and padding
    taper_banded banded;
} kept_conv;

static taper_status run_kept(taper_call *call, void *data)
{
    kept_conv *k = data;
    taper_tensor *y;
    TAPER_TRY(taper_ret_prepared(call, &y));
    k->job.call = call;
    k->job.x = taper_tensor_data(call->args[0].as.tensor);
    k->job.y = taper_tensor_mutable(y);
    call->run->kernel = k->plan->name;
    call->run->flops = k->plan->flops;
    return k->plan->run(k->plan);
}

#include "backends/cpu/quantized_conv_bands.h"

static size_t folded_bytes(const taper_conv2d_i8_plan *plan)
{
    const size_t middle = plan->centred ? sizeof *plan->middle : 0;
    return plan->layer.places * (sizeof *plan->bias + sizeof *plan->factor + middle) + plan->padding_bytes;
}

static void place_folded(taper_conv2d_i8_plan *plan, uint8_t *folded)
{
    plan->bias = (const int32_t *)(const void *)folded;
    plan->factor = (const float *)(const void *)(plan->bias + plan->layer.places);
    plan->middle = (const int32_t *)(const void *)(plan->factor + plan->layer.places);
    plan->padding = (const uint8_t *)(plan->middle + (plan->centred ? plan->layer.places : 0));
}

static void keep(const taper_conv2d_i8_plan *plan, const uint8_t *folded, const taper_pack *pack)
{
    const size_t plan_at = taper_round_up(sizeof(kept_conv), 16);
    const size_t bytes = folded_bytes(plan), room = plan_at + plan->bytes + LINE;
    kept_conv *kept = taper_prepare(plan->job->call, run_kept, room + bytes);
    if (kept != NULL) {
        // A tile reads biases and factors one vector at a time. Both arrays are aligned so that no vector crosses a
        // cache line.
        const size_t folded_at = room - ((uintptr_t)kept + room) % LINE;
        kept->job = *plan->job;
        kept->plan = (taper_conv2d_i8_plan *)(void *)((char *)kept + plan_at);
        memcpy(kept->plan, plan, plan->bytes);
        memcpy((char *)kept + folded_at, folded, bytes);
        place_folded(kept->plan, (uint8_t *)kept + folded_at);
        kept->plan->job = &kept->job;
        kept->plan->layer = taper_i8_layer_of(pack->lies, plan->layer.places);
        say_bands(kept, pack->bytes);
        taper_prepared_reads(plan->job->call, pack);
    }
}

taper_status taper_conv2d_i8_do(taper_conv2d_i8_plan *plan, const taper_pack_request *request)
{
    const taper_conv2d_i8 *job = plan->job;
    taper_run *run = job->call->run;
    const size_t bytes = folded_bytes(plan);
    uint8_t *folded = taper_heap_alloc(run->heap, bytes);
    if (folded == NULL) {
        return taper_fail_memory(run->error);
    }
    run->kernel = plan->name;
    run->flops = plan->flops;
    taper_pack pack;
    taper_status status = taper_pack_get(job->call, request, &pack);
    if (status == TAPER_OK) {
        plan->layer = taper_i8_layer_of(pack.data, plan->layer.places);
        place_folded(plan, folded);
        memset(folded + bytes - plan->padding_bytes, job->in_zero_point, plan->padding_bytes);
        for (size_t p = 0; plan->centred && p < plan->layer.places; p++) {
            ((int32_t *)(uintptr_t)plan->middle)[p] = taper_winograd_i8_middle(plan->layer.sums[p], job->in_zero_point);
        }
        status = taper_i8_layer_fold(&plan->layer, job->in_scale, job->in_zero_point, plan->shift, job->out_scale,
                                     (int32_t *)(uintptr_t)plan->bias, (float *)(uintptr_t)plan->factor)
                     ? plan->run(plan)
                     : TAPER_DECLINED;
        if (status == TAPER_OK && job->keeps && pack.kept) {
            keep(plan, folded, &pack);
        }
        taper_pack_done(job->call, &pack);
    }
    taper_heap_free(run->heap, folded, bytes);
    return status;
}
