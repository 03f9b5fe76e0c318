// SPDX-License-Identifier: BSD-2-Clause
// Parameters of quantized recurrent cells: objects of rnn.CellParamsBase, whose state is
//   (kind, [tensors], [floats], [ints], [objects of LinearPackedParamsBase])
//   "quantized_dynamic"  b_ih, b_hh; reduce_range, which QNNPACK ignores; the layers of input and state
//   "quantized_fp16"     the layers, with half-precision weights
//   "quantized"          w_ih, w_hh int8, b_ih, b_hh, column offsets (derived); scales; zero points
#ifndef TAPER_OPS_QUANTIZED_CELLS_H
#define TAPER_OPS_QUANTIZED_CELLS_H

#include "ops/quantized/quantized_layer.h"

// The linear layers of the input and of the state. Their pointers are borrowed, or point to the members below, so a
// taper_qcell_params must not be copied.
typedef struct taper_qcell_params {
    taper_qlinear_params input, hidden;
    taper_tensor weights[2]; // for plain int8 weights: views of the weights with a quantizer
    taper_quantizer quantizers[2];
} taper_qcell_params;

TAPER_MUST_USE taper_status taper_qcell_open(taper_run *run, taper_object *object, taper_qcell_params *params);
// Fills *params from plain int8 weights. Each weight has one scale and one zero point.
TAPER_MUST_USE taper_status taper_qcell_of_weights(taper_run *run, taper_tensor *const *weights,
                                                   taper_tensor *const *biases, const double *scales,
                                                   const int64_t *zero_points, taper_qcell_params *params);

#endif
