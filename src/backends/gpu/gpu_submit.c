// SPDX-License-Identifier: BSD-2-Clause
// One run on the device: copies arguments in, submits the recording, and copies results out.
#include "backends/gpu/gpu_recording.h"

#include <string.h>

#include "backends/gpu/gpu_held.h"
#include "backends/gpu/gpu_log.h"
#include "ir/tensor.h"
#include "ops/quantized/quantized.h"
#include "platform/platform.h"
#include "platform/threads.h"

static taper_gpu_state *state_of(const taper_segment *segment)
{
    return segment->device->state;
}

static taper_tensor tensor_over(taper_storage *storage, void *data, size_t rank, const int64_t *sizes)
{
    taper_tensor there = {.storage = storage, .dtype = TAPER_F32, .rank = (uint8_t)rank};
    memcpy(there.sizes, sizes, rank * sizeof *sizes);
    taper_strides_contiguous(rank, sizes, there.strides);
    *storage = (taper_storage){.kind = TAPER_STORAGE_HOST, .data = data, .bytes = SIZE_MAX / 2};
    return there;
}

taper_tensor taper_gpu_plain(const taper_tensor *tensor)
{
    taper_tensor plain = taper_tensor_local(tensor);
    if (plain.dtype == TAPER_QU8) {
        plain.dtype = TAPER_U8;
        plain.quantizer = NULL;
    }
    return plain;
}

const char taper_gpu_no_such_index[] = "an index that is not there";

// Checks integers that were copied as floats: indices must be in range, and other integers must be exact.
static taper_status check_numbers(taper_call *call, const taper_gpu_port *port, float *numbers, int64_t count)
{
    const float most = (float)(port->most != 0 ? port->most : TAPER_GPU_MOST_WHOLE), below = (float)port->below;
    bool holds = true, leads = true;
    for (int64_t i = 0; i < count; i++) {
        if (port->wraps && numbers[i] < 0) {
            numbers[i] += below;
        }
        holds = holds && numbers[i] < most && numbers[i] > -most;
        leads = leads && numbers[i] >= 0 && numbers[i] < below;
    }
    if (port->below != 0 && !leads) {
        call->run->why = taper_gpu_no_such_index;
        return TAPER_DECLINED;
    }
    if (!holds) {
        call->run->why = "whole numbers that are too large";
        return TAPER_DECLINED;
    }
    return TAPER_OK;
}

static taper_status copy_in(taper_call *call, const taper_gpu_recording *r)
{
    for (size_t i = 0; i < r->in_count; i++) {
        const taper_gpu_port *port = &r->ports[i];
        const taper_tensor *x = call->args[port->number].as.tensor;
        if (port->stays) {
            continue;
        }
        taper_storage storage;
        taper_tensor there = tensor_over(&storage, (char *)r->inputs.data + port->offset, x->rank, x->sizes);
        const taper_tensor plain = taper_gpu_plain(x);
        TAPER_TRY(taper_run_copy(call->run, &there, &plain));
        if (port->most != 0 || port->below != 0) {
            float *numbers = (float *)(void *)((char *)r->inputs.data + port->offset);
            TAPER_TRY(check_numbers(call, port, numbers, taper_tensor_numel(x)));
        }
    }
    return TAPER_OK;
}

// Makes the results. Results that remain on the device get memory, which the run fills.
static taper_status make_results(const taper_segment *segment, taper_call *call, const taper_gpu_recording *r)
{
    for (size_t i = 0; i < r->program.number_count; i++) {
        taper_ret(call, r->program.numbers[i].result, taper_val_int(r->program.numbers[i].value));
    }
    for (size_t i = r->in_count; i < r->in_count + r->out_count; i++) {
        const taper_gpu_port *port = &r->ports[i];
        taper_tensor *y;
        if (!port->stays) {
            continue;
        }
        taper_gpu_held *held;
        TAPER_TRY(taper_gpu_status(taper_gpu_hold(segment->device, port->bytes, &held), call->run->error));
        TAPER_TRY(taper_tensor_of_memory(call->run->heap, &held->memory, TAPER_F32, port->rank, port->sizes, NULL, &y,
                                         call->run->error));
        taper_ret(call, port->number, TAPER_VAL(y));
    }
    return TAPER_OK;
}

static taper_status copy_out(taper_call *call, const taper_gpu_recording *r)
{
    for (size_t i = r->in_count; i < r->in_count + r->out_count; i++) {
        const taper_gpu_port *port = &r->ports[i];
        taper_tensor *y;
        if (port->stays) {
            continue;
        }
        int64_t strides[TAPER_MAX_RANK];
        taper_strides_contiguous(port->rank, port->sizes, strides);
        if (port->dtype == TAPER_QU8) {
            TAPER_TRY(taper_ret_quantized(call, port->number, TAPER_QU8, port->rank, port->sizes, strides, port->scale,
                                          port->zero_point, &y));
        } else {
            TAPER_TRY(taper_tensor_new(call->run->heap, (taper_dtype)port->dtype, port->rank, port->sizes, strides, &y,
                                       call->run->error));
            taper_ret(call, port->number, TAPER_VAL(y));
        }
        taper_storage storage;
        const taper_tensor there =
            tensor_over(&storage, (char *)r->outputs.data + port->offset, port->rank, port->sizes);
        taper_tensor plain = taper_gpu_plain(y);
        TAPER_TRY(taper_run_copy(call->run, &plain, &there));
    }
    return TAPER_OK;
}

// Copies between the buffers of the recording and tensors that remain on the device. Copies that the host cannot do are
// submitted together, up to ROOM at a time.
static taper_status move_within(taper_gpu_state *s, const taper_call *call, const taper_gpu_recording *r, bool in)
{
    enum { ROOM = 16 };
    taper_gpu_range from[ROOM], to[ROOM];
    size_t count = 0;
    for (size_t i = in ? 0 : r->in_count; i < r->in_count + (in ? 0 : r->out_count); i++) {
        const taper_gpu_port *port = &r->ports[i];
        if (!port->stays) {
            continue;
        }
        const taper_val val = in ? call->args[port->number] : call->rets[port->number];
        const taper_gpu_range held = {&taper_gpu_held_of(val.as.tensor)->buffer, 0, port->bytes};
        const taper_gpu_range here = {in ? &r->stays_in : &r->stays_out, port->offset, port->bytes};
        from[count] = in ? held : here;
        to[count] = in ? here : held;
        if (taper_gpu_sees(&from[count], &to[count])) {
            TAPER_TRY(taper_gpu_transfer(s, &from[count], &to[count]));
        } else if (++count == ROOM) {
            TAPER_TRY(s->api->copy(s->gpu, from, to, count));
            count = 0;
        }
    }
    return count != 0 ? s->api->copy(s->gpu, from, to, count) : TAPER_OK;
}

static taper_status submit(taper_gpu_state *s, const taper_call *call, const taper_gpu_recording *r)
{
    TAPER_TRY(r->inputs.bytes != 0 ? s->api->flush(s->gpu, &r->inputs) : TAPER_OK);
    TAPER_TRY(move_within(s, call, r, true));
    TAPER_TRY(s->api->run(s->gpu, r->recorded, r->seconds));
    TAPER_TRY(move_within(s, call, r, false));
    return r->outputs.bytes != 0 ? s->api->invalidate(s->gpu, &r->outputs) : TAPER_OK;
}

static double bytes_of(const taper_gpu_recording *r, const taper_gpu_work *w)
{
    double bytes = 0;
    for (size_t b = 0; b < TAPER_GPU_BINDINGS; b++) {
        bytes += w->buffers[b] != TAPER_GPU_NONE ? (double)r->program.memories[w->buffers[b]].bytes : 0;
    }
    return bytes;
}

// Logs the shortest time of each dispatch so far.
static void tell_times(const taper_segment *segment, const taper_run *run, taper_gpu_recording *r)
{
    enum { EVERY = 10 };
    const taper_gpu_state *s = state_of(segment);
    const size_t count = r->program.work_count;
    double *least = r->seconds + count, all = 0;
    for (size_t i = 0; i < count; i++) {
        if (run->part != NULL) {
            const taper_gpu_work *w = &r->program.works[i];
            run->part(run->part_user, i, count,
                      &(taper_part){.node = w->node,
                                    .kernel = taper_gpu_kernel_name(w->kernel),
                                    .seconds = r->seconds[i],
                                    .flops = w->operations,
                                    .bytes = bytes_of(r, w),
                                    .peak_flops = s->peak_flops,
                                    .peak_bytes = s->peak_bytes});
        }
        least[i] = r->runs == 0 || r->seconds[i] < least[i] ? r->seconds[i] : least[i];
        all += least[i];
    }
    if (++r->runs % EVERY != 0) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const taper_gpu_work *w = &r->program.works[i];
        const char *op = w->node != NULL && w->node->op_name != NULL ? w->node->op_name : "";
        taper_gpu_say(segment, run, TAPER_LOG_INFO, "%8.3f ms %6.1f GFLOP/s  %-16s %5u x %5u x %5u  %.*s",
                      least[i] * 1e3, w->operations / least[i] * 1e-9, taper_gpu_kernel_name(w->kernel),
                      (unsigned)w->threads[0], (unsigned)w->threads[1], (unsigned)w->threads[2], (int)strcspn(op, "("),
                      op);
    }
    taper_gpu_say(segment, run, TAPER_LOG_INFO, "all dispatches together take %.3f ms", all * 1e3);
}

taper_status taper_gpu_run_device(const taper_segment *segment, taper_call *call, taper_gpu_recording *r)
{
    taper_gpu_state *s = state_of(segment);
    TAPER_TRY(copy_in(call, r));
    taper_status status = make_results(segment, call, r);
    if (status == TAPER_OK) {
        taper_mutex_lock(s->lock);
        status = submit(s, call, r);
        taper_mutex_unlock(s->lock);
    }
    if (status == TAPER_OK && r->seconds != NULL) {
        tell_times(segment, call->run, r);
    }
    if (status == TAPER_OK) {
        status = copy_out(call, r);
    }
    if (status != TAPER_OK) { // the segment's nodes then run on the CPU, from the first one on
        for (size_t i = 0; i < call->ret_count; i++) {
            taper_val_replace(&call->rets[i], taper_val_none());
        }
    }
    if (status == TAPER_DEVICE_LOST) {
        return taper_gpu_tell_trouble(segment, call->run);
    }
    call->run->kernel = s->api->name;
    return status;
}
