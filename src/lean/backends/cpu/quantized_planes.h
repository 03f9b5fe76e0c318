// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/backends/cpu/quantized_planes.h in small builds, which omit its code.
#ifndef TAPER_BACKENDS_CPU_QUANTIZED_PLANES_H
#define TAPER_BACKENDS_CPU_QUANTIZED_PLANES_H

static inline void quantize_rows(const convert_job *job, size_t begin, size_t end)
{
    job->vector->quantize(end - begin, (const float *)job->x + begin, job->scale, job->zero_point,
                          (uint8_t *)job->y + begin);
}

static inline void take_planes(convert_job *job, const taper_tensor *x, size_t count)
{
    (void)job, (void)x, (void)count;
}

#endif
