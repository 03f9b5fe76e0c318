// SPDX-License-Identifier: BSD-2-Clause
// The GPU backend: its side of the seam. Tensors stay in the host's memory; each call copies them to and from memory
// that shaders read and write.
#include "backends/gpu/gpu_backend.h"

#include "backends/gpu/gpu_emit.h"
#include "backends/gpu/gpu_options.h"
#include "backends/gpu/gpu_recording.h"
#include "backends/gpu/gpu_state.h"

static taper_status open_api(taper_device *device, const taper_gpu_api *api, const char **why, taper_error *error)
{
    taper_gpu_state *s = device->state;
    taper_gpu_options options;
    TAPER_TRY(taper_gpu_options_read(device->options, &options, error));
    s->api = api;
    s->allocator = device->allocator;
    const taper_status status =
        api->open(device->allocator, device->index, device->called, options.software > 0, &s->gpu, why);
    if (status == TAPER_DEVICE_LOST) {
        return TAPER_DECLINED;
    }
    TAPER_TRY(taper_gpu_status(status, error));
    TAPER_TRY(taper_mutex_create(device->allocator, &s->lock, error));
    s->reads_texels = s->gpu->has_texels && (options.texels >= 0 ? options.texels > 0 : s->gpu->is_cpu);
    s->alias = options.alias != 0;
    s->wide = options.tiles >= 0 ? options.tiles > 0 : s->gpu->is_cpu || s->gpu->discrete;
    s->times = options.times > 0;
    s->checks = options.checks != 0;
    s->group_x = 64;
    s->group_y = 1;
    return TAPER_OK;
}

taper_status taper_gpu_open(taper_device *device, const taper_gpu_api *api, const char **why, taper_error *error)
{
    const taper_status status = open_api(device, api, why, error);
    if (status != TAPER_OK) {
        taper_gpu_state_free(device->state);
    }
    return status;
}

void taper_gpu_close(taper_device *device)
{
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
        segment->forms[i] = TAPER_FORM_HOST;
    }
    return TAPER_OK;
}
