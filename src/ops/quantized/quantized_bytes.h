// SPDX-License-Identifier: BSD-2-Clause
// Quantizes floats to bytes and back by the vector kernels, per tensor and per channel, on the run's threads. The
// formulas in quantized.h give the same results, to the last bit. run->portable must be false: a portable run uses only
// the portable loops.
#ifndef TAPER_OPS_QUANTIZED_BYTES_H
#define TAPER_OPS_QUANTIZED_BYTES_H

#include "ops/quantized/quantized.h"

// The order of channels in memory: a run of `inner` elements for each channel, and all of this `outer` times. A tensor
// that is quantized per tensor counts as a single channel.
typedef struct taper_q_runs {
    int64_t outer, channels, inner;
} taper_q_runs;

// Returns true if this run uses these functions for the dtype.
static inline bool taper_q_has_kernels(const taper_run *run, taper_dtype dtype)
{
    return !run->portable && (dtype == TAPER_QU8 || dtype == TAPER_QI8);
}
TAPER_MUST_USE taper_status taper_q_quantize_bytes(taper_run *run, taper_dtype dtype, const taper_quantizer *z,
                                                   const taper_q_runs *runs, const float *x, uint8_t *y);
TAPER_MUST_USE taper_status taper_q_dequantize_bytes(taper_run *run, taper_dtype dtype, const taper_quantizer *z,
                                                     const taper_q_runs *runs, const uint8_t *x, float *y);

#endif
