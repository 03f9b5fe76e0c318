// SPDX-License-Identifier: BSD-2-Clause
// Measures the device's peak by shaders/peak.comp: see gpu_peak.h. One dispatch does arithmetic without memory, the
// other one reads and writes memory that exceeds the caches.
#include "backends/gpu/gpu_peak.h"

#include <string.h>

#include "backends/gpu/gpu_program.h"

enum {
    GROUP = 64,
    FLOPS_OF_THREAD = 256 * 12 * 2,
    VECTORS_OF_THREAD = 4,
    MOST_BYTES = 64 << 20,
    FEWEST = 1 << 10, // largest number of threads in the first measurement
    RUNS = 12,
    FLOATING = 0,
    MOVING = 1
};

// A run of this many seconds is long enough for a measurement: it is not repeated a third time, or with more threads.
static const double long_enough = 0.02;

typedef struct peak_work {
    taper_gpu_buffer from, to, parameters;
    uint32_t mode, threads, vectors;
} peak_work;

static taper_status fill(taper_gpu_state *s, peak_work *w, taper_gpu_dispatch *d)
{
    uint32_t constants[TAPER_GPU_CONSTANTS] = {[0] = GROUP, [1] = 1, [TAPER_GPU_TEAM] = 1, [11] = w->mode};
    taper_gpu_parameters p = {.more = {w->vectors, w->threads}};
    for (size_t i = 0; i < TAPER_GPU_STEPS; i++) {
        p.low[i] = 0.5F;
        p.high[i] = 1;
    }
    TAPER_TRY(s->api->buffer_new(s->gpu, (uint64_t)w->vectors * 16, TAPER_GPU_FOR_DEVICE, &w->from));
    TAPER_TRY(s->api->buffer_new(s->gpu, (uint64_t)w->vectors * 16, TAPER_GPU_FOR_DEVICE, &w->to));
    TAPER_TRY(s->api->buffer_new(s->gpu, sizeof p, TAPER_GPU_FOR_PARAMETERS, &w->parameters));
    memcpy(w->parameters.data, &p, sizeof p);
    TAPER_TRY(s->api->flush(s->gpu, &w->parameters));
    *d = (taper_gpu_dispatch){.ranges = {{&w->to, 0, w->to.bytes}, {&w->from, 0, w->from.bytes}},
                              .parameters = {&w->parameters, 0, sizeof p},
                              .groups = {w->threads / GROUP, 1, 1}};
    return taper_gpu_pipeline_get(s, TAPER_GPU_KERNEL_PEAK, false, constants, &d->pipeline);
}

static taper_status time_it(taper_gpu_state *s, peak_work *w, double *least)
{
    taper_gpu_dispatch dispatch;
    taper_gpu_recorded *recorded;
    TAPER_TRY(fill(s, w, &dispatch));
    TAPER_TRY(s->api->record(s->gpu, &dispatch, 1, true, &recorded));
    taper_status status = TAPER_OK;
    *least = 0;
    for (int run = 0; run < RUNS && status == TAPER_OK && (run < 2 || *least < long_enough); run++) {
        double seconds = 0;
        status = s->api->run(s->gpu, recorded, &seconds);
        *least = run > 0 && (*least <= 0 || seconds < *least) ? seconds : *least; // the first run is not representative
    }
    s->api->recorded_free(s->gpu, recorded);
    return status;
}

static taper_status measure(taper_gpu_state *s, uint32_t mode, uint32_t vectors, uint32_t threads, double *seconds)
{
    peak_work w = {.mode = mode, .threads = threads, .vectors = vectors};
    const taper_status status = time_it(s, &w, seconds);
    s->api->buffer_free(s->gpu, &w.from);
    s->api->buffer_free(s->gpu, &w.to);
    s->api->buffer_free(s->gpu, &w.parameters);
    return status;
}

static uint32_t next_of(uint32_t count, uint32_t most)
{
    return count > most / 4 ? most : count * 4;
}

taper_status taper_gpu_measure_peak(taper_gpu_state *s)
{
    const uint64_t bytes = s->gpu->most_bytes < MOST_BYTES ? s->gpu->most_bytes : MOST_BYTES;
    const uint32_t vectors = (uint32_t)(bytes / 16 / (GROUP * VECTORS_OF_THREAD)) * GROUP * VECTORS_OF_THREAD;
    // Largest number of threads for the measurement of arithmetic.
    const uint32_t threads = s->gpu->is_cpu ? 1 << 14 : 1 << 20;
    double seconds[2] = {0, 0};
    if (s->measured) {
        return TAPER_OK;
    }
    s->measured = true;
    // One row of many small workgroups is supported by every device.
    const uint32_t most = s->gpu->most_groups[0] < UINT32_MAX / GROUP ? s->gpu->most_groups[0] * GROUP : UINT32_MAX;
    const uint32_t floating = threads < most ? threads : most;
    const uint32_t moving = vectors / VECTORS_OF_THREAD < most ? vectors / VECTORS_OF_THREAD : most;
    // The first measurement has few threads, because the device may be slow.
    uint32_t count = floating < FEWEST ? floating : FEWEST;
    for (bool more = true; more; count = more ? next_of(count, floating) : count) {
        TAPER_TRY(measure(s, FLOATING, count, count, &seconds[0]));
        more = count < floating && seconds[0] < long_enough;
    }
    s->peak_flops = seconds[0] > 0 ? (double)count * FLOPS_OF_THREAD / seconds[0] : 0;
    count = moving < FEWEST ? moving : FEWEST;
    for (bool more = true; more; count = more ? next_of(count, moving) : count) {
        TAPER_TRY(measure(s, MOVING, count * VECTORS_OF_THREAD, count, &seconds[1]));
        more = count < moving && seconds[1] < long_enough;
    }
    s->peak_bytes = seconds[1] > 0 ? (double)count * VECTORS_OF_THREAD * 32 / seconds[1] : 0;
    return TAPER_OK;
}
