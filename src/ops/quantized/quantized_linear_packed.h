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
    void *y;                    // floats of dynamic layers, otherwise bytes
    double in_scale, out_scale; // out_scale 0: dynamic
    int32_t in_zero_point, zero_point;
    bool relu;
    bool keeps; // argument 0 is read where it lies, and the weights are constants: the call may be prepared
    const int32_t *bias;
    const float *factor;
    size_t panel_bytes;
    taper_tiles tiles;
    double work;
} taper_linear_i8;

// Finds the rest of a job with call, params and relu. False for what is left to the reference.
bool taper_linear_i8_describe(taper_linear_i8 *job, size_t rows);
// y from x, which is bytes with the scale and zero point of the job. TAPER_DECLINED: nothing was done.
TAPER_MUST_USE taper_status taper_linear_i8_run(taper_linear_i8 *job);
// Chooses the scale and zero point for the rows of floats. TAPER_DECLINED: there is a NaN among them.
TAPER_MUST_USE taper_status taper_linear_i8_choose(taper_linear_i8 *job, const float *x);
// Quantizes the rows of floats as was chosen, and runs. held: by whose kernels they are held within the range first, as
// there may be infinities; NULL: there are none.
TAPER_MUST_USE taper_status taper_linear_i8_run_floats(taper_linear_i8 *job, const float *x,
                                                       const taper_vector_entry *held);

// As taper_qlinear_dynamic, of `rows` rows, for int8 weights of the model. TAPER_DECLINED before anything was written.
TAPER_MUST_USE taper_status taper_qlinear_packed_dynamic(taper_call *call, const taper_qlinear_params *params,
                                                         const float *x, size_t rows, bool relu, float *y);

#endif
