// SPDX-License-Identifier: BSD-2-Clause
// Estimates: see gpu_estimate.h. Each dispatch takes a fixed time to start, plus the longer of the times for its
// arithmetic and for its bytes. The CPU's nodes are estimated in the same way.
#include "backends/gpu/gpu_estimate.h"

#include <math.h>

#include "platform/isa.h"

// Rates that layers reach in practice; data sheets have higher rates.
typedef struct rates {
    double flops, bytes;     // floating-point operations per second; bytes per second
    double dispatch, submit; // seconds for each dispatch; seconds for each submission
    double host;             // bytes per second from and to the host
} rates;

static const rates discrete = {2e12, 150e9, 6e-6, 60e-6, 6e9}, shared = {0.3e12, 20e9, 12e-6, 150e-6, 5e9},
                   // software: rates of each CPU thread, for a driver that computes on the CPU.
    software = {10e9, 5e9, 14e-6, 100e-6, 5e9};

// Fractions of the measured peak of operations and of bytes per second that layers reach.
static const double share_of_flops = 0.4, share_of_bytes = 0.7;

// Rates of each thread of a CPU. The first row with an instruction set of this CPU applies.
static const struct {
    uint64_t isa;
    double flops, bytes;
} cpus[] = {
    {TAPER_ISA_avx512, 100e9, 12e9}, {TAPER_ISA_avx2, 50e9, 12e9}, {TAPER_ISA_neon, 12e9, 6e9},
    {TAPER_ISA_simd128, 5e9, 5e9},   {TAPER_ISA_scalar, 2e9, 4e9},
};

static const double node = 1e-6; // seconds to call a kernel of the CPU
// The largest ratio of the device's time to the CPU's time with which a device is tried: most_unsure before any
// measurement, most_sure after one.
static const double most_unsure = 2, most_sure = 1.25;

enum { MOST_LEARNED = 8 }; // number of recordings in the running mean; older recordings count less and less

static rates rates_of(const taper_gpu_state *s, size_t threads)
{
    rates r = s->gpu->is_cpu ? software : s->gpu->discrete ? discrete : shared;
    if (s->gpu->is_cpu) {
        r.flops *= (double)threads;
        r.bytes *= (double)threads;
    }
    r.flops = s->peak_flops > 0 ? s->peak_flops * share_of_flops : r.flops;
    r.bytes = s->peak_bytes > 0 ? s->peak_bytes * share_of_bytes : r.bytes;
    return r;
}

taper_gpu_estimate taper_gpu_estimate_program(const taper_gpu_state *s, const taper_gpu_program *p, uint64_t host_bytes,
                                              uint64_t cpu, size_t threads)
{
    const size_t count = threads > 0 ? threads : 1;
    const rates r = rates_of(s, count);
    size_t row = 0;
    while (cpus[row].isa != TAPER_ISA_scalar && (cpu & cpus[row].isa) == 0) {
        row++;
    }
    const double cpu_flops = cpus[row].flops * (double)count;
    const double cpu_bytes =
        cpus[row].bytes * (double)(count < 4 ? count : 4); // four threads already use the whole memory bandwidth
    taper_gpu_estimate e = {.device = r.submit + (double)host_bytes / r.host};
    for (size_t i = 0; i < p->work_count; i++) {
        const taper_gpu_work *w = &p->works[i];
        double bytes = 0;
        for (size_t b = 0; b < TAPER_GPU_BINDINGS; b++) {
            bytes += w->buffers[b] != TAPER_GPU_NONE ? (double)p->memories[w->buffers[b]].bytes : 0;
        }
        e.device += r.dispatch + fmax(w->operations / r.flops, bytes / r.bytes);
        // Data that has half precision on the device is float32 on the CPU.
        e.plain += node + fmax(w->operations / cpu_flops, (s->half ? 2 : 1) * bytes / cpu_bytes);
    }
    return e;
}

void taper_gpu_estimate_learn(taper_gpu_state *s, const taper_gpu_estimate *e, const taper_gpu_estimate *measured)
{
    const double device = measured->device / e->device, plain = measured->plain / e->plain;
    if (!(device > 0) || !(plain > 0) || !isfinite(device) || !isfinite(plain)) {
        return;
    }
    const double weight = 1.0 / ++s->learned;
    s->learned = s->learned < MOST_LEARNED ? s->learned : MOST_LEARNED - 1;
    s->log_device += weight * (log(device) - s->log_device);
    s->log_plain += weight * (log(plain) - s->log_plain);
}

taper_gpu_estimate taper_gpu_estimate_corrected(const taper_gpu_state *s, const taper_gpu_estimate *e)
{
    return (taper_gpu_estimate){e->device * exp(s->log_device), e->plain * exp(s->log_plain)};
}

bool taper_gpu_estimate_pays(const taper_gpu_state *s, const taper_gpu_estimate *corrected)
{
    return corrected->device <= (s->learned != 0 ? most_sure : most_unsure) * corrected->plain;
}
