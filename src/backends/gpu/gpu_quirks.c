// SPDX-License-Identifier: BSD-2-Clause
// The table of devices: see gpu_quirks.h. A vendor is identified by its PCI number, or by a number of Khronos if the
// vendor has no PCI number.
#include "backends/gpu/gpu_quirks.h"

enum { ADRENO = 0x5143, MALI = 0x13B5, POWERVR = 0x1010, NVIDIA = 0x10DE, INTEL = 0x8086, APPLE = 0x106B };

enum { MOST_LANES = 64 }; // every device supports workgroups of this many threads

// The number of threads that keeps the cores of a device busy while some threads wait for memory: FILL_DISCRETE for a
// device with memory of its own, FILL_SHARED for other devices.
enum { FILL_DISCRETE = 1 << 16, FILL_SHARED = 1 << 13 };

typedef enum use { NO, YES, AUTO } use;

// The table of devices. The first matching row applies.
static const struct {
    uint32_t vendor;
    const char *called; // text in the device's name, or NULL for all devices
    use texels, alias, wide;
    uint32_t group_x, group_y;
    const char *quirk; // how the use of the device differs from that of other devices, and why
} rows[] = {
    {ADRENO, "adreno (tm) 5", YES, YES, NO, 64, 1, "small tiles, for it has few registers"},
    {ADRENO, "adreno (tm) 6", YES, YES, NO, 64, 1, "small tiles, for it has few registers"},
    // On Adreno 8xx, nearly square workgroups gave results with damaged patches.
    {ADRENO, NULL, YES, YES, YES, 64, 1, "workgroups of 64 x 1: square ones gave wrong results"},
    {MALI, NULL, NO, YES, NO, 16, 4, "small tiles, for it has 64 registers"},
    // On three generations of PowerVR's DXT GPUs, reuse of memory within a submission gave wrong results.
    {POWERVR, NULL, NO, NO, NO, 32, 1, "memory is not used twice in a run: that gave wrong results"},
    {APPLE, NULL, NO, YES, YES, 32, 1, NULL},
    {NVIDIA, NULL, AUTO, YES, YES, 32, 1, NULL},
    {INTEL, NULL, AUTO, YES, AUTO, 32, 1, NULL},
};

static bool settled(int option, use row, bool otherwise)
{
    return option >= 0 ? option > 0 : row == AUTO ? otherwise : row == YES;
}

void taper_gpu_settle(taper_gpu_state *s, const taper_gpu_options *options)
{
    const taper_gpu *gpu = s->gpu;
    size_t i = 0;
    while (i < sizeof rows / sizeof *rows &&
           (gpu->is_cpu || rows[i].vendor != gpu->vendor ||
            (rows[i].called != NULL && !taper_gpu_is_called(gpu->name, rows[i].called)))) {
        i++;
    }
    const bool known = i < sizeof rows / sizeof *rows;
    // Drivers that compute on the CPU read texel buffers faster than storage buffers. They also have enough registers
    // for large tiles (`wide`).
    s->reads_texels = gpu->has_texels && settled(options->texels, known ? rows[i].texels : AUTO, gpu->is_cpu);
    s->alias = settled(options->alias, known ? rows[i].alias : AUTO, true);
    s->wide = settled(options->tiles, known ? rows[i].wide : AUTO, gpu->is_cpu || gpu->discrete);
    // On a CPU, a load takes about twelve times as long as an exchange between threads. GPUs combine equal loads of
    // threads, so their threads do not share loads by default.
    s->shares = s->wide && s->reads_texels && gpu->lanes >= TAPER_GPU_LANES && (gpu->lanes & (gpu->lanes - 1)) == 0 &&
                gpu->lanes <= MOST_LANES && settled(options->share, AUTO, gpu->is_cpu);
    s->fill = !settled(options->teams, AUTO, !gpu->is_cpu) ? 0 : gpu->discrete ? FILL_DISCRETE : FILL_SHARED;
    s->row = gpu->is_cpu && s->fill == 0 ? gpu->lanes : 0; // 0 for a GPU, and for a CPU if teams are requested
    s->group_x = known ? rows[i].group_x : 64;
    s->group_y = known ? rows[i].group_y : 1;
    s->half = options->half > 0;
    s->winograd = s->half ? 0 : options->winograd;
    s->times = options->times > 0;
    s->background = options->background;
    s->checks = options->checks != 0;
    // Users who name a driver that computes on the CPU want to test it, even if it seems slow.
    s->estimates = settled(options->estimate, AUTO, !gpu->is_cpu);
    s->quirk = known ? rows[i].quirk : NULL;
}
