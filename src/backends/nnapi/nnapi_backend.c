// SPDX-License-Identifier: BSD-2-Clause
// The NNAPI backend: its functions for ops/backend.h. Tensors remain in the host's memory. Each call copies them to and
// from memory that the driver maps.
#include "backends/nnapi/nnapi_recording.h"

static taper_status open(taper_device *device, const char **why, taper_error *error)
{
    taper_nnapi_driver *driver = device->state;
    taper_nnapi_options options = {.preference = ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER, .level = 31};
    (void)error;
    taper_nnapi_options_set(device->settings, device->setting_count, &options);
    if (!taper_nnapi_open(driver, &options, device->called, device->index)) {
        *why = driver->why;
        return TAPER_DECLINED;
    }
    return TAPER_OK;
}

static void close(taper_device *device)
{
    taper_nnapi_close(device->state);
}

static taper_status claim(taper_device *device, taper_region *region, taper_claim *claim, taper_error *error)
{
    const taper_nnapi_driver *driver = device->state;
    const taper_translate_options options = {
        .level = driver->level, .allocator = device->allocator, .heap = taper_graph_heap(region->graph)};
    const taper_claimer claimer = {.refuses = taper_nnapi_refuses, .pays = taper_translate_is_layer, .user = &options};
    (void)error;
    return taper_claim_nodes(&claimer, region, claim);
}

static taper_status plan(taper_device *device, taper_segment *segment, taper_arena *arena, taper_error *error)
{
    (void)device, (void)arena, (void)error;
    for (size_t i = 0; i < segment->node->input_count; i++) {
        segment->forms[i] = TAPER_FORM_HOST;
    }
    return TAPER_OK;
}

const taper_backend taper_backend_nnapi = {.struct_size = sizeof taper_backend_nnapi,
                                           .name = "nnapi",
                                           .kind = TAPER_DEVICE_NNAPI,
                                           .state_bytes = sizeof(taper_nnapi_driver),
                                           .copies = true,
                                           .half = TAPER_NNAPI_RELAX_F32_TO_F16,
                                           .recording_bytes = sizeof(taper_nnapi_recording),
                                           .open = open,
                                           .close = close,
                                           .claim = claim,
                                           .plan = plan,
                                           .record = taper_nnapi_record,
                                           .run = taper_nnapi_run,
                                           .forget = taper_nnapi_forget,
                                           .measured = taper_nnapi_measured,
                                           .lasting = true};
