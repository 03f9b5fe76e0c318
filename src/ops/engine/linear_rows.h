// SPDX-License-Identifier: BSD-2-Clause
// Multiplies rows of floats by a layer's weights, which the model keeps packed for the gemm kernels. Operators that
// contain linear layers call these functions.
#ifndef TAPER_OPS_LINEAR_ROWS_H
#define TAPER_OPS_LINEAR_ROWS_H

#include "ops/call/packs.h"
#include "ops/kernels/kernel_select.h"
#include "ops/list/op_config.h"

// The weights of a linear layer. weight is [out, in], or [in, out] if weight_is_in_out is set; its strides may be any.
// bias is [out] and contiguous, or NULL. Neither tensor is empty. Both are float32, except that taper_linear_pack also
// accepts a weight in the half precision of the entry.
typedef struct taper_linear_weights {
    taper_tensor *weight, *bias; // tensors borrowed from the caller
    bool weight_is_in_out;
    const taper_vector_entry *vector; // vector kernels, of which `transpose` is used to pack the weights
#if TAPER_HAS_OP(linear_halves)
    taper_tensor *model_bias; // the model's tensor from which bias was converted, or NULL
#endif
} taper_linear_weights;

// Returns the gemm kernel for linear layers in the precision of the run.
const taper_gemm_entry *taper_linear_entry(const taper_run *run);
// Packs the weights into `panels` panels of entry->nr outputs. The caller passes *pack to taper_pack_done. Returns
// TAPER_DECLINED if a size overflows.
TAPER_MUST_USE taper_status taper_linear_pack(taper_call *call, const taper_gemm_entry *entry,
                                              const taper_linear_weights *weights, size_t panels, taper_pack *pack);

// The product y[r] = weight x[r] + bias + add[r] for each row r. Steps are the distances between rows, in floats.
typedef struct taper_linear_rows {
    taper_linear_weights weights;
    size_t rows, in, out;
    const float *x;
    size_t x_step;
    const float *add; // rows to add, or NULL; may be y if add_step is y_step
    size_t add_step;
    float *y;
    size_t y_step;
} taper_linear_rows;

// Computes the product. Returns TAPER_DECLINED, with nothing written, if call->run->portable is set, if an argument
// does not satisfy the conditions of the structs, or if there are no rows.
TAPER_MUST_USE taper_status taper_linear_rows_run(taper_call *call, const taper_linear_rows *rows);
// Computes the product with weights that are packed already, by taper_linear_pack or by other code that packs panels of
// the entry. The pack contains the bias. rows->weights is not read.
TAPER_MUST_USE taper_status taper_linear_rows_packed(taper_run *run, const taper_gemm_entry *entry,
                                                     const taper_linear_rows *rows, const taper_pack *pack);

#endif
