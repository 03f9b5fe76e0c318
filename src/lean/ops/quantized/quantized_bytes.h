// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/quantized/quantized_bytes.h in small builds, which quantize element by element.
#ifndef TAPER_OPS_QUANTIZED_QUANTIZED_BYTES_H
#define TAPER_OPS_QUANTIZED_QUANTIZED_BYTES_H

#include "ops/quantized/quantized.h"

// The order of channels in memory: a run of `inner` elements for each channel, and all of this `outer` times. A tensor
// that is quantized per tensor counts as one channel.
typedef struct taper_q_runs {
    int64_t outer, channels, inner;
} taper_q_runs;

static inline bool taper_q_has_kernels(const taper_run *run, taper_dtype dtype)
{
    (void)run, (void)dtype;
    return false;
}

static inline taper_status taper_q_quantize_bytes(taper_run *run, taper_dtype dtype, const taper_quantizer *z,
                                                  const taper_q_runs *runs, const float *x, uint8_t *y)
{
    (void)run, (void)dtype, (void)z, (void)runs, (void)x, (void)y;
    return TAPER_DECLINED;
}

static inline taper_status taper_q_dequantize_bytes(taper_run *run, taper_dtype dtype, const taper_quantizer *z,
                                                    const taper_q_runs *runs, const uint8_t *x, float *y)
{
    (void)run, (void)dtype, (void)z, (void)runs, (void)x, (void)y;
    return TAPER_DECLINED;
}

#endif
