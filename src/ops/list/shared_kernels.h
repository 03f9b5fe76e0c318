// SPDX-License-Identifier: BSD-2-Clause
// Prototypes of kernels that other operators call: loss.c calls taper_op_mean, quantile.c calls taper_op_sort. A kernel
// that only a row of the operator list names needs no prototype, because TAPER_KERNEL (ops/call/call.h) declares and
// defines it.
#ifndef TAPER_OPS_SHARED_KERNELS_H
#define TAPER_OPS_SHARED_KERNELS_H

#include "ops/call/call.h"

taper_status taper_op_amax(taper_call *call);
taper_status taper_op_amin(taper_call *call);
taper_status taper_op_any(taper_call *call);
taper_status taper_op_binary(taper_call *call);
taper_status taper_op_cat(taper_call *call);
taper_status taper_op_clamp(taper_call *call);
taper_status taper_op_complex(taper_call *call);
taper_status taper_op_conj(taper_call *call);
taper_status taper_op_conv(taper_call *call);
taper_status taper_op_copy_(taper_call *call);
taper_status taper_op_cumsum(taper_call *call);
taper_status taper_op_dequantize(taper_call *call);
taper_status taper_op_diag(taper_call *call);
taper_status taper_op_every(taper_call *call);
taper_status taper_op_imag(taper_call *call);
taper_status taper_op_index_put(taper_call *call);
taper_status taper_op_ints_to_tensor(taper_call *call);
taper_status taper_op_list_copy(taper_call *call);
taper_status taper_op_loss(taper_call *call);
taper_status taper_op_matmul(taper_call *call);
taper_status taper_op_max_pool(taper_call *call);
taper_status taper_op_mean(taper_call *call);
taper_status taper_op_mm(taper_call *call);
taper_status taper_op_native_batch_norm(taper_call *call);
taper_status taper_op_none(taper_call *call);
taper_status taper_op_norm(taper_call *call);
taper_status taper_op_nothing(taper_call *call);
taper_status taper_op_prepacked_linear(taper_call *call);
taper_status taper_op_quantize_per_tensor(taper_call *call);
taper_status taper_op_real(taper_call *call);
taper_status taper_op_reshape(taper_call *call);
taper_status taper_op_rsub(taper_call *call);
taper_status taper_op_select(taper_call *call);
taper_status taper_op_slice(taper_call *call);
taper_status taper_op_softmax(taper_call *call);
taper_status taper_op_sort(taper_call *call);
taper_status taper_op_squeeze(taper_call *call);
taper_status taper_op_sum(taper_call *call);
taper_status taper_op_sum2(taper_call *call);
taper_status taper_op_t(taper_call *call);
taper_status taper_op_to(taper_call *call);
taper_status taper_op_to_bool(taper_call *call);
taper_status taper_op_unary(taper_call *call);
taper_status taper_op_unsqueeze(taper_call *call);
taper_status taper_op_vector_norm(taper_call *call);
taper_status taper_op_where(taper_call *call);

#endif
