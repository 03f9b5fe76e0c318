// SPDX-License-Identifier: BSD-2-Clause
// Rows of floats times a layer's weights, which the model keeps packed for the gemm kernels: for operators that have
// linear layers within.
#ifndef TAPER_OPS_LINEAR_ROWS_H
#define TAPER_OPS_LINEAR_ROWS_H

#include "ops/call/packs.h"
#include "ops/kernels/kernel_select.h"

// The weights of a linear layer: [out, in], or [in, out] where weight_is_in_out; any strides. bias: [out], its numbers
// one behind the other; or NULL. Neither is empty. The bias is float32, and so is the weight; for taper_linear_pack it
// may also be of the halves of the entry's precision.
typedef struct taper_linear_weights {
    taper_tensor *weight, *bias; // borrowed
    bool weight_is_in_out;
    const taper_vector_entry *vector; // whose transpose packs
} taper_linear_weights;

// The kernel of linear layers in the precision of the run.
const taper_gemm_entry *taper_linear_entry(const taper_run *run);
// For taper_pack_done; `panels` of entry->nr outputs. TAPER_DECLINED: the sizes are more than fits.
TAPER_MUST_USE taper_status taper_linear_pack(taper_call *call, const taper_gemm_entry *entry,
                                              const taper_linear_weights *weights, size_t panels, taper_pack *pack);

// y[r] = weight x[r] + bias + add[r]; steps in floats from one row to the next.
typedef struct taper_linear_rows {
    taper_linear_weights weights;
    size_t rows, in, out;
    const float *x;
    size_t x_step;
    const float *add; // NULL: nothing; may be y, with its steps
    size_t add_step;
    float *y;
    size_t y_step;
} taper_linear_rows;

// TAPER_DECLINED before anything was written: the run is to be portable, something is not as said above, or nothing is
// there.
TAPER_MUST_USE taper_status taper_linear_rows_run(taper_call *call, const taper_linear_rows *rows);
// With what taper_linear_pack or another packing into the entry's panels gave, bias included: rows->weights is not
// read.
TAPER_MUST_USE taper_status taper_linear_rows_packed(taper_run *run, const taper_gemm_entry *entry,
                                                     const taper_linear_rows *rows, const taper_pack *pack);

#endif
