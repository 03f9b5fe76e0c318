// SPDX-License-Identifier: BSD-2-Clause
// Quantized linear layers by the gemm kernels of bytes: rows of bytes times packed weights, in the tiles of tiles.h.
#ifndef TAPER_OPS_QUANTIZED_LINEAR_PACKED_H
#define TAPER_OPS_QUANTIZED_LINEAR_PACKED_H

#include "ops/engine/tiles.h"
#include "ops/kernels/vector_f32.h"
#include "ops/quantized/quantized_pack.h"

typedef struct taper_linear_i8 {
    taper_call *call;
    taper_qlinear_params params;
    const taper_gemm_i8_entry *entry;
    taper_i8_layer layer;
    size_t rows, in, out;
    const uint8_t *x;
    void *y;                    // results, floats for dynamic layers, otherwise bytes
    double in_scale, out_scale; // scales; out_scale is 0 for a dynamic layer
    int32_t in_zero_point, zero_point;
    bool relu;
    bool keeps; // true if the call may be prepared: argument 0 is read in place, and the weights are constants
    const int32_t *bias;
    const float *factor;
    size_t panel_bytes;
    taper_tiles tiles;
    double work;
} taper_linear_i8;

// Fills the other members of a job whose call, params and relu are set. Returns false if the reference code must
// compute the job.
bool taper_linear_i8_describe(taper_linear_i8 *job, size_t rows);
// Computes y from x, which consists of bytes with the job's scale and zero point. Returns TAPER_DECLINED, with nothing
// written, if the reference code must compute y.
TAPER_MUST_USE taper_status taper_linear_i8_run(taper_linear_i8 *job);
// Chooses the job's scale and zero point for rows of floats. Returns TAPER_DECLINED if an element is NaN.
TAPER_MUST_USE taper_status taper_linear_i8_choose(taper_linear_i8 *job, const float *x);
// Quantizes rows of floats with the job's scale and zero point, and computes y. held is the entry of the kernels that
// first clamp the floats to the range, for rows that may contain infinities; NULL if there are no infinities.
TAPER_MUST_USE taper_status taper_linear_i8_run_floats(taper_linear_i8 *job, const float *x,
                                                       const taper_vector_entry *held);

// Does the work of taper_qlinear_dynamic for `rows` rows, with int8 weights of the model. Returns TAPER_DECLINED before
// anything is written.
TAPER_MUST_USE taper_status taper_qlinear_packed_dynamic(taper_call *call, const taper_qlinear_params *params,
                                                         const float *x, size_t rows, bool relu, float *y);

#endif
