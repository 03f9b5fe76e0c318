// SPDX-License-Identifier: BSD-2-Clause
// The GPU backend: its functions for ops/backend.h. Each call copies tensors of the host to and from memory that
// shaders use. Tensors that only segments of the device use remain there (gpu_held.h).
#include "backends/gpu/gpu_backend.h"

#include <stdio.h>

#include "backends/gpu/gpu_emit.h"
#include "backends/gpu/gpu_held.h"
#include "backends/gpu/gpu_kept.h"
#include "backends/gpu/gpu_maker.h"
#include "backends/gpu/gpu_options.h"
#include "backends/gpu/gpu_quirks.h"
#include "backends/gpu/gpu_recording.h"
#include "backends/gpu/gpu_state.h"

#define CRASHED                                                                                                        \
    "an earlier process ended while it tried the driver; \"checks=0\" or deleting gpu-NAME.trying in the cache "       \
    "directory tries it again"

// Marks the device as tried (gpu_kept.h), and opens it. Does not open it if an existing mark says that the device has
// crashed.
static taper_status open_interface(taper_device *device, const taper_gpu_options *options, const char **why)
{
    taper_gpu_state *s = device->state;
    uint64_t driver = 0;
    const bool crashed = options->checks != 0 && taper_gpu_has_crashed(s, device->cache_dir, &driver);
    *why = CRASHED;
    if (crashed && driver == 0) {
        return TAPER_DECLINED;
    }
    if (!crashed) {
        taper_gpu_try(s, device->cache_dir);
    }
    const taper_status status =
        s->api->open(device->allocator, device->index, device->called, options->software > 0, &s->gpu, why);
    if (!crashed) {
        taper_gpu_tried(s, device->cache_dir);
    }
    if (status == TAPER_OK && crashed && driver == taper_gpu_driver_hash(s)) {
        *why = CRASHED;
        return TAPER_DECLINED;
    }
    return status == TAPER_DEVICE_LOST ? TAPER_DECLINED : status;
}

static taper_status open_api(taper_device *device, const taper_gpu_api *api, const char **why, taper_error *error)
{
    taper_gpu_state *s = device->state;
    taper_gpu_options options;
    s->api = api;
    s->allocator = device->allocator;
    s->mark.fd = -1;
    s->shaders_hash = taper_gpu_shaders_hash(api->shaders);
    taper_gpu_options_set(device->settings, device->setting_count, &options);
    const taper_status status = open_interface(device, &options, why);
    if (status != TAPER_OK) {
        return taper_gpu_status(status, error);
    }
    taper_gpu_settle(s, &options);
    taper_gpu_take_compiled(s, device->cache_dir);
    taper_gpu_take_learned(s, device->cache_dir);
    TAPER_TRY(taper_mutex_create(device->allocator, &s->make_lock, error));
    return taper_mutex_create(device->allocator, &s->lock, error);
}

taper_status taper_gpu_open(taper_device *device, const taper_gpu_api *api, const char **why, taper_error *error)
{
    const taper_status status = open_api(device, api, why, error);
    if (status != TAPER_OK) {
        taper_gpu_state_free(device->state);
    }
    return status;
}

void taper_gpu_describe(const taper_device *device, taper_device_words *words)
{
    const taper_gpu_state *s = device->state;
    const taper_gpu *gpu = s->gpu;
    snprintf(words->called, sizeof words->called, "%s", gpu->name);
    words->by_name = gpu->is_cpu;
    snprintf(words->facts, sizeof words->facts,
             "%s, driver %#x, buffers of up to %.0f MB, workgroups of up to %u threads, %u KB shared; used with "
             "workgroups of %u x %u, %s tiles, %s%s%s%s%s",
             gpu->is_cpu     ? "computes on the CPU"
             : gpu->discrete ? "its own memory"
                             : "the host's memory",
             (unsigned)gpu->driver, (double)gpu->most_bytes * 1e-6, (unsigned)gpu->most_threads,
             (unsigned)gpu->shared_bytes / 1024, (unsigned)s->group_x, (unsigned)s->group_y,
             s->wide ? "large" : "small", s->reads_texels ? "texel buffers" : "storage buffers",
             s->shares ? ", weights loaded by subgroups" : "", s->alias ? "" : ", memory used once in a run",
             s->quirk != NULL ? "; " : "", s->quirk != NULL ? s->quirk : "");
}

void taper_gpu_close(taper_device *device)
{
    taper_gpu_stop_making(device->state);
    taper_gpu_free_spares(device->state);
    taper_gpu_state_free(device->state);
}

taper_status taper_gpu_claim(taper_device *device, taper_region *region, taper_claim *claim, taper_error *error)
{
    const taper_claimer claimer = {.refuses = taper_gpu_refuses, .pays = taper_gpu_pays, .computes_sizes = true};
    (void)device, (void)error;
    return taper_claim_nodes(&claimer, region, claim);
}

taper_status taper_gpu_plan(taper_device *device, taper_segment *segment, taper_arena *arena, taper_error *error)
{
    (void)device, (void)arena, (void)error;
    for (size_t i = 0; i < segment->node->input_count; i++) {
        segment->forms[i] = TAPER_FORM_EITHER;
    }
    return TAPER_OK;
}
