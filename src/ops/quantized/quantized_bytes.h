// SPDX-License-Identifier: BSD-2-Clause
// Quantizing to bytes and back by the vector kernels, per tensor and per channel, on the run's threads. The results are
// those of the formulas in quantized.h to the last bit; for runs that are not portable.
#ifndef TAPER_OPS_QUANTIZED_BYTES_H
#define TAPER_OPS_QUANTIZED_BYTES_H

#include "ops/quantized/quantized.h"

// Channels in the order of the bytes: runs of `inner` elements, `channels` in turn, `outer` times. One channel of
// everything when quantized per tensor.
typedef struct taper_q_runs {
    int64_t outer, channels, inner;
} taper_q_runs;

// Whether this run quantizes to the dtype by these functions, and back.
static inline bool taper_q_has_kernels(const taper_run *run, taper_dtype dtype)
{
    return !run->portable && (dtype == TAPER_QU8 || dtype == TAPER_QI8);
}
TAPER_MUST_USE taper_status taper_q_quantize_bytes(taper_run *run, taper_dtype dtype, const taper_quantizer *z,
                                                   const taper_q_runs *runs, const float *x, uint8_t *y);
TAPER_MUST_USE taper_status taper_q_dequantize_bytes(taper_run *run, taper_dtype dtype, const taper_quantizer *z,
                                                     const taper_q_runs *runs, const uint8_t *x, float *y);

#endif
