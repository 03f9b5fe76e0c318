// SPDX-License-Identifier: BSD-2-Clause
// Implements the GPU interface that failing_gpu.h describes.
#include "tests/gpu/failing_gpu.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/cpu_backend.h"
#include "backends/gpu/gpu_state.h"
#include "platform/platform.h"
#include "runtime/device.h"

// GPU_INTERFACE names the interface; the default is vulkan.
#ifndef GPU_INTERFACE
#define GPU_INTERFACE vulkan
#endif
#define JOIN(a, b) a##b
#define NAME(a, b) JOIN(a, b)
#define TEXT(a) #a
#define NAMED(a) TEXT(a)
extern const taper_backend NAME(taper_backend_, GPU_INTERFACE);

static gpu_call failing;
static size_t fails_at;
static atomic_size_t calls[GPU_CALLS], alive;

void gpu_fail(gpu_call call, size_t n)
{
    failing = call;
    fails_at = n;
    for (size_t i = 0; i < GPU_CALLS; i++) {
        atomic_store(&calls[i], 0);
    }
}

static gpu_wrong answers;

void gpu_answer(gpu_wrong how)
{
    answers = how;
}

static void (*after_run)(void *user);
static void *after_user;

void gpu_after_runs(void (*what)(void *user), void *user)
{
    after_run = what;
    after_user = user;
}

size_t gpu_calls(gpu_call call)
{
    return atomic_load(&calls[call]);
}

size_t gpu_alive(void)
{
    return atomic_load(&alive);
}

static bool fails(taper_gpu *gpu, gpu_call call)
{
    const size_t n = atomic_fetch_add(&calls[call], 1) + 1;
    const bool now = call == failing && fails_at != 0 && n >= fails_at;
    if (now && gpu != NULL) {
        taper_gpu_note(gpu, "call %d was made to fail, the one of number %zu", (int)call, n);
    }
    return now;
}

static const taper_gpu_api *real(void)
{
    return &NAME(taper_gpu_, GPU_INTERFACE);
}

static taper_gpu_api table;
static unsigned newer;
static bool crashes_now, crashes_opening;
static size_t taken;
static const char compiled_text[] =
    "what a driver compiled: more than a header, which is all that some of them have to give";

void gpu_is_newer(unsigned versions)
{
    newer = versions;
}

void gpu_crash(bool opening)
{
    crashes_now = !opening;
    crashes_opening = opening;
}

size_t gpu_taken(void)
{
    return taken;
}

static taper_status take_compiled(taper_gpu *gpu, const void *data, size_t bytes)
{
    (void)gpu;
    taken = bytes == sizeof compiled_text && memcmp(data, compiled_text, bytes) == 0 ? bytes : 0;
    return TAPER_OK;
}

static taper_status compiled(taper_gpu *gpu, void *data, size_t *bytes)
{
    (void)gpu;
    if (data != NULL) {
        memcpy(data, compiled_text, sizeof compiled_text);
    }
    *bytes = sizeof compiled_text;
    return TAPER_OK;
}

static taper_status open(const taper_allocator *allocator, unsigned index, const char *called, bool software,
                         taper_gpu **gpu, const char **why)
{
    if (fails(NULL, GPU_OPEN)) {
        *why = "it was made to fail";
        return TAPER_DEVICE_LOST;
    }
    if (crashes_opening) {
        abort();
    }
    const taper_status status = real()->open(allocator, index, called, software, gpu, why);
    if (status == TAPER_OK) {
        (*gpu)->driver += newer;
        taken = 0;
        (*gpu)->api = &table;
        atomic_fetch_add(&alive, 1);
    }
    return status;
}

static void close(taper_gpu *gpu)
{
    atomic_fetch_sub(&alive, 1);
    real()->close(gpu);
}

static bool hides;
static atomic_size_t copies;

void gpu_hide(bool hidden)
{
    hides = hidden;
}

size_t gpu_copies(void)
{
    return atomic_load(&copies);
}

static taper_status copy(taper_gpu *gpu, const taper_gpu_range *from, const taper_gpu_range *to, size_t count)
{
    atomic_fetch_add(&copies, 1);
    return real()->copy(gpu, from, to, count);
}

static taper_status buffer_new(taper_gpu *gpu, uint64_t bytes, taper_gpu_use use, taper_gpu_buffer *buffer)
{
    *buffer = (taper_gpu_buffer){0};
    if (fails(gpu, GPU_BUFFER)) {
        return TAPER_DEVICE_LOST;
    }
    const taper_status status = real()->buffer_new(gpu, bytes, use, buffer);
    atomic_fetch_add(&alive, status == TAPER_OK);
    if (hides && use == TAPER_GPU_FOR_DEVICE) {
        buffer->data = NULL;
    }
    return status;
}

static atomic_bool slow_pipelines;

void gpu_slow_pipelines(bool is_slow)
{
    atomic_store(&slow_pipelines, is_slow);
}

static void wait_if_slow(double seconds)
{
    const double begin = taper_clock();
    while (atomic_load_explicit(&slow_pipelines, memory_order_relaxed) && taper_clock() - begin < seconds) {
    }
}

static void buffer_free(taper_gpu *gpu, taper_gpu_buffer *buffer)
{
    atomic_fetch_sub(&alive, buffer->handles[0] != 0);
    wait_if_slow(0.005);
    real()->buffer_free(gpu, buffer);
}

static taper_status flush(taper_gpu *gpu, const taper_gpu_buffer *buffer)
{
    return fails(gpu, GPU_FLUSH) ? TAPER_DEVICE_LOST : real()->flush(gpu, buffer);
}

static taper_status invalidate(taper_gpu *gpu, const taper_gpu_buffer *buffer)
{
    if (fails(gpu, GPU_INVALIDATE)) {
        return TAPER_DEVICE_LOST;
    }
    const taper_status status = real()->invalidate(gpu, buffer);
    if (answers == GPU_WRONG || (answers == GPU_WRONG_NOW_AND_THEN && gpu_calls(GPU_INVALIDATE) % 2 == 0)) {
        ((float *)buffer->data)[0] += 1;
    }
    return status;
}

static taper_status pipeline_new(taper_gpu *gpu, const taper_gpu_shader *shader, const uint32_t *constants,
                                 uint32_t constant_count, taper_gpu_pipeline **pipeline)
{
    wait_if_slow(0.1);
    if (fails(gpu, GPU_PIPELINE)) {
        return TAPER_DEVICE_LOST;
    }
    const taper_status status = real()->pipeline_new(gpu, shader, constants, constant_count, pipeline);
    atomic_fetch_add(&alive, status == TAPER_OK);
    return status;
}

static void pipeline_free(taper_gpu *gpu, taper_gpu_pipeline *pipeline)
{
    atomic_fetch_sub(&alive, 1);
    real()->pipeline_free(gpu, pipeline);
}

static taper_status record(taper_gpu *gpu, const taper_gpu_dispatch *dispatches, size_t count, bool timed,
                           taper_gpu_recorded **recorded)
{
    if (fails(gpu, GPU_RECORD)) {
        return TAPER_DEVICE_LOST;
    }
    const taper_status status = real()->record(gpu, dispatches, count, timed, recorded);
    atomic_fetch_add(&alive, status == TAPER_OK);
    return status;
}

// With sanitizers the device must be slower than without them, because sanitizers also slow down the CPU.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const double slower = 1;
#else
static const double slower = 0.1;
#endif
static bool slow;
static _Thread_local double last_seconds;

double gpu_seconds(void)
{
    return last_seconds;
}

void gpu_slow(bool is_slow)
{
    slow = is_slow;
}

static taper_status run(taper_gpu *gpu, taper_gpu_recorded *recorded, double *seconds)
{
    if (crashes_now) {
        abort();
    }
    const double begin = taper_clock();
    while (slow && taper_clock() - begin < slower) {
    }
    const taper_status status = fails(gpu, GPU_RUN) ? TAPER_DEVICE_LOST : real()->run(gpu, recorded, seconds);
    last_seconds = taper_clock() - begin;
    if (after_run != NULL) {
        after_run(after_user);
    }
    return status;
}

static void recorded_free(taper_gpu *gpu, taper_gpu_recorded *recorded)
{
    atomic_fetch_sub(&alive, 1);
    real()->recorded_free(gpu, recorded);
}

static bool estimates;
static double most_measured;

void gpu_estimate(bool on, double most)
{
    estimates = on;
    most_measured = most;
}

static bool asks_no_estimates(const taper_device *device)
{
    bool asks = false;
    for (size_t i = 0; i < device->setting_count; i++) {
        asks |= device->settings[i].option == TAPER_GPU_ESTIMATE && device->settings[i].value == 0;
    }
    return asks;
}

static taper_status open_device(taper_device *device, const char **why, taper_error *error)
{
    const taper_status status = taper_gpu_open(device, &table, why, error);
    if (status == TAPER_OK) {
        taper_gpu_state *s = device->state;
        s->estimates = estimates && !asks_no_estimates(device);
        s->peak_flops = s->peak_bytes = most_measured;
    }
    return status;
}

taper_status set_failing_gpu(taper_context *context, taper_error *error)
{
    static taper_backend backend;
    static const taper_backend *backends[] = {NULL, NULL, NULL};
    table = (taper_gpu_api){.name = NAMED(GPU_INTERFACE),
                            .shaders = real()->shaders,
                            .open = open,
                            .close = close,
                            .buffer_new = buffer_new,
                            .buffer_free = buffer_free,
                            .flush = flush,
                            .invalidate = invalidate,
                            .copy = copy,
                            .pipeline_new = pipeline_new,
                            .pipeline_free = pipeline_free,
                            .take_compiled = take_compiled,
                            .compiled = compiled,
                            .record = record,
                            .run = run,
                            .recorded_free = recorded_free};
    if (backend.name != NULL) { // the table is already filled, because all contexts share it
        return taper_context_set_backends(context, backends, error);
    }
    backend = NAME(taper_backend_, GPU_INTERFACE);
    backend.open = open_device;
    backends[0] = &backend;
    backends[1] = &taper_backend_cpu;
    return taper_context_set_backends(context, backends, error);
}
