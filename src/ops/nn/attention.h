// SPDX-License-Identifier: BSD-2-Clause
// The steps of the fused attention operators, on contiguous tensors of a working dtype (float or double).
#ifndef TAPER_OPS_ATTENTION_H
#define TAPER_OPS_ATTENTION_H

#include "ops/call/call.h"

// The arguments of a fused multi-head attention. All tensors are borrowed.
typedef struct taper_mha {
    taper_tensor *query, *key, *value;
    int64_t embed, heads;
    taper_tensor *qkv_weight, *qkv_bias, *out_weight, *out_bias;
    taper_tensor *mask; // bool mask, true for keys that are ignored; or NULL
    int64_t mask_type;  // shape of the mask: 0: [T, T], 1: [B, T], 2: [B, heads, T, T]; -1: not given
    bool need_weights, average;
    taper_tensor *add; // contiguous [B, T, embed] in the working dtype, added to the result; or NULL
} taper_mha;

// Makes *result, [B, T, embed] in the working dtype of query. If `need_weights` is set, also makes *weights, [B, T, T]
// or [B, heads, T, T]. The caller owns both tensors.
TAPER_MUST_USE taper_status taper_mha_run(taper_call *call, const taper_mha *mha, taper_tensor **result,
                                          taper_tensor **weights);
// Computes result[r] = x[r] weight' + bias + add[r] as a new tensor in the working dtype of x. The result has the
// sizes of x, except for the last one. weight [out, in] and bias [out] have the dtype of x or its working dtype. add is
// contiguous and has the working dtype, or is NULL. Weights of the model are packed once.
TAPER_MUST_USE taper_status taper_attention_linear(taper_call *call, taper_tensor *x, taper_tensor *weight,
                                                   taper_tensor *bias, const taper_tensor *add, taper_tensor **result);

// The variants of scaled_dot_product_attention: the operator of PyTorch 1.13, which returns the weights too, the
// operator of PyTorch 2, and taper::attention_expanded (compiler/expanded_heads.c).
typedef struct taper_sdpa_form {
    bool weights, expanded;
} taper_sdpa_form;
extern const taper_sdpa_form taper_sdpa_1, taper_sdpa_2, taper_sdpa_expanded;

// Computes softmax along the last dimension, in place.
TAPER_MUST_USE taper_status taper_softmax_rows(taper_run *run, taper_tensor *tensor);
// Computes (x - mean) / sqrt(var + eps) * weight + bias for each row of `width` elements of the tensor x, in place.
// weight and bias are contiguous and have the dtype of x.
TAPER_MUST_USE taper_status taper_layer_norm_rows(taper_run *run, taper_tensor *tensor, int64_t width,
                                                  const taper_tensor *weight, const taper_tensor *bias, double eps);
// Applies gelu (the exact variant) or relu to each element, in place.
TAPER_MUST_USE taper_status taper_activate_rows(taper_run *run, taper_tensor *tensor, bool gelu);
void taper_add_rows(taper_tensor *tensor, const taper_tensor *other);

#endif
