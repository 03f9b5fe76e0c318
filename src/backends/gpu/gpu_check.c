// SPDX-License-Identifier: BSD-2-Clause
// Checks drivers before they are trusted. The results of a recording for its first inputs are compared with the CPU's
// results, and with the results of a second run. A success is remembered in the cache directory, by a hash of
// everything that decides the results: device, driver, shaders, and the recording.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backends/cpu/cpu_backend.h"
#include "backends/gpu/gpu_kept.h"
#include "backends/gpu/gpu_log.h"
#include "backends/gpu/gpu_recording.h"
#include "ir/tensor.h"

// The largest differences that count as rounding, as fractions of the largest element: most_apart if vectors are
// floats, most_apart_half if they are halves. most_apart_from_zero is added to the allowed difference. Faulty drivers
// exceed these bounds by far.
static const double most_apart = 1e-3, most_apart_half = 5e-2, most_apart_from_zero = 1e-4;

// ---- comparing results

// Copies a result to contiguous floats of the host. *y is an owned reference, also on failure. A tensor in the device's
// memory stays there.
static taper_status flat(taper_run *run, const taper_tensor *x, taper_tensor **y)
{
    int64_t strides[TAPER_MAX_RANK];
    taper_strides_contiguous(x->rank, x->sizes, strides);
    TAPER_TRY(taper_tensor_new(run->heap, TAPER_F32, x->rank, x->sizes, strides, y, run->error));
    if (taper_tensor_is_away(x)) {
        return x->storage->memory->fetch(x->storage->memory, *y, run->error);
    }
    const taper_tensor plain = taper_gpu_plain(x);
    return taper_run_copy(run, *y, &plain);
}

static void drop_flat(taper_tensor **tensors, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (tensors[i] != NULL) {
            taper_obj_release(&tensors[i]->head);
        }
    }
}

// Returns the largest difference between an element of a and the same element of b, divided by the allowed difference.
// Returns infinity if only one of the two elements is NaN.
static double apart(const float *a, const float *b, int64_t count, double most_part)
{
    double most = 0, largest = 0;
    for (int64_t i = 0; i < count; i++) {
        const double x = (double)a[i], y = (double)b[i];
        if (x == y || (isnan(x) && isnan(y))) {
            largest = isfinite(y) ? fmax(largest, fabs(y)) : largest;
            continue;
        }
        if (!isfinite(x) || !isfinite(y)) {
            return INFINITY;
        }
        most = fmax(most, fabs(x - y));
        largest = fmax(largest, fabs(y));
    }
    return most / (most_part * largest + most_apart_from_zero);
}

static taper_status compare(taper_call *call, const taper_val *plain, double most_part, double *most)
{
    *most = 0;
    for (size_t i = 0; i < call->ret_count; i++) {
        const taper_tensor *x = call->rets[i].as.tensor;
        if (call->rets[i].tag != TAPER_TENSOR) { // the result is an integer
            *most = plain[i].tag == TAPER_INT && plain[i].as.i == call->rets[i].as.i ? *most : INFINITY;
            continue;
        }
        if (plain[i].tag != TAPER_TENSOR || plain[i].as.tensor->dtype != x->dtype ||
            plain[i].as.tensor->rank != x->rank ||
            memcmp(plain[i].as.tensor->sizes, x->sizes, x->rank * sizeof *x->sizes) != 0) {
            *most = INFINITY;
            return TAPER_OK;
        }
        taper_tensor *both[2] = {NULL, NULL}; // the expected result and the actual result
        taper_status status = flat(call->run, plain[i].as.tensor, &both[0]);
        if (status == TAPER_OK) {
            status = flat(call->run, x, &both[1]);
        }
        if (status == TAPER_OK) {
            *most = fmax(
                *most, apart(taper_tensor_data(both[1]), taper_tensor_data(both[0]), taper_tensor_numel(x), most_part));
        }
        drop_flat(both, 2);
        TAPER_TRY(status);
    }
    return TAPER_OK;
}

static taper_status against_cpu(const taper_segment *segment, taper_call *call, double *most)
{
    taper_device cpu = {.backend = &taper_backend_cpu, .name = "cpu", .cpu = segment->device->cpu};
    const size_t bytes = (call->ret_count + 1) * sizeof(taper_val);
    taper_val *rets = taper_heap_alloc(call->run->heap, bytes);
    if (rets == NULL) {
        return taper_fail_memory(call->run->error);
    }
    memset(rets, 0, bytes);
    taper_call plain = *call;
    plain.rets = rets;
    const bool stood_in = call->run->stands_in;
    call->run->stands_in = true;
    taper_status status = taper_segment_run_plain(segment, &cpu, &plain);
    call->run->stands_in = stood_in;
    if (status == TAPER_OK) {
        const taper_gpu_state *s = segment->device->state;
        status = compare(call, rets, s->half ? most_apart_half : most_apart, most);
    }
    for (size_t i = 0; i < call->ret_count; i++) {
        taper_val_release(rets[i]);
    }
    taper_heap_free(call->run->heap, rets, bytes);
    return status;
}

static taper_status flat_results(const taper_call *call, taper_tensor **flats)
{
    for (size_t i = 0; i < call->ret_count; i++) {
        if (call->rets[i].tag == TAPER_TENSOR) {
            TAPER_TRY(flat(call->run, call->rets[i].as.tensor, &flats[i]));
        }
    }
    return TAPER_OK;
}

// Runs the recording twice. *same is true if both results have the same bits. `flats` has room for all results of both
// runs.
static taper_status run_both(const taper_segment *segment, taper_call *call, taper_gpu_recording *r,
                             taper_tensor **flats, bool *same)
{
    const size_t count = call->ret_count;
    TAPER_TRY(taper_gpu_run_device(segment, call, r));
    TAPER_TRY(flat_results(call, flats));
    TAPER_TRY(taper_gpu_run_device(segment, call, r));
    TAPER_TRY(flat_results(call, flats + count));
    *same = true;
    for (size_t i = 0; *same && i < count; i++) {
        if (flats[i] == NULL) { // the result is an integer
            continue;
        }
        const size_t bytes = (size_t)taper_tensor_numel(flats[i]) * sizeof(float);
        *same = memcmp(taper_tensor_data(flats[i]), taper_tensor_data(flats[count + i]), bytes) == 0;
    }
    return TAPER_OK;
}

static taper_status run_twice(const taper_segment *segment, taper_call *call, taper_gpu_recording *r, bool *same)
{
    const size_t bytes = (2 * call->ret_count + 1) * sizeof(taper_tensor *);
    taper_tensor **flats = taper_heap_alloc(call->run->heap, bytes);
    if (flats == NULL) {
        return taper_fail_memory(call->run->error);
    }
    memset((void *)flats, 0, bytes);
    const taper_status status = run_both(segment, call, r, flats, same);
    drop_flat(flats, 2 * call->ret_count);
    taper_heap_free(call->run->heap, (void *)flats, bytes);
    return status;
}

static void drop_results(taper_call *call)
{
    for (size_t i = 0; i < call->ret_count; i++) {
        taper_val_replace(&call->rets[i], taper_val_none());
    }
}

static taper_status refuse(const taper_segment *segment, taper_call *call, taper_gpu_recording *r, const char *why)
{
    drop_results(call);
    r->refused = true;
    call->run->why = why;
    taper_gpu_say(segment, call->run, TAPER_LOG_WARNING, "the CPU runs this segment: %s", why);
    return TAPER_DECLINED;
}

// Returns true if a recording with this hash passed the check before in this process, even if that recording was freed
// since.
static bool is_known(const taper_gpu_state *s, uint64_t hash)
{
    bool known = false;
    taper_mutex_lock(s->lock);
    for (size_t i = 0; i < TAPER_GPU_PASSED; i++) {
        known = known || s->passed[i] == hash;
    }
    taper_mutex_unlock(s->lock);
    return known;
}

static void remember(taper_gpu_state *s, uint64_t hash)
{
    taper_mutex_lock(s->lock);
    s->passed[s->passed_count++ % TAPER_GPU_PASSED] = hash;
    taper_mutex_unlock(s->lock);
}

static taper_status check(const taper_segment *segment, taper_call *call, taper_gpu_recording *r)
{
    taper_gpu_state *s = segment->device->state;
    const char *cache_dir = segment->device->cache_dir;
    const uint64_t hash = taper_gpu_program_hash(s, &r->program);
    bool same;
    double most;
    if (!s->checks || is_known(s, hash) || taper_gpu_is_trusted(cache_dir, hash)) {
        return taper_gpu_run_device(segment, call, r);
    }
    taper_status status = run_twice(segment, call, r, &same);
    if (status != TAPER_OK) {
        drop_results(call);
        return status;
    }
    if (!same) {
        return refuse(segment, call, r, "the driver gave two results for one input");
    }
    status = against_cpu(segment, call, &most);
    if (status != TAPER_OK) { // the segment's nodes then run on the CPU, from the first one on
        drop_results(call);
        return status;
    }
    if (!(most <= 1)) {
        return refuse(segment, call, r, "the driver's results differ from the CPU's");
    }
    remember(s, hash);
    taper_gpu_trust(cache_dir, hash);
    call->run->kernel = s->api->name;
    return TAPER_OK;
}

taper_status taper_gpu_check(const taper_segment *segment, taper_call *call, taper_gpu_recording *r)
{
    taper_gpu_state *s = segment->device->state;
    const taper_status status = check(segment, call, r);
    // The run was declined because of its inputs, not because of its results.
    if (status == TAPER_DECLINED && !r->refused) {
        return status;
    }
    r->checked = status == TAPER_OK || r->refused; // if the CPU failed, nothing was compared
    taper_mutex_lock(s->lock);
    taper_gpu_end_trying(segment, r);
    taper_gpu_keep_compiled(s, segment->device->cache_dir);
    taper_mutex_unlock(s->lock);
    return status;
}
