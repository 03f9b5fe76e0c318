// SPDX-License-Identifier: BSD-2-Clause
// Attention: the steps that the fused attention operators are made of, on contiguous tensors of a working dtype (float
// or double).
#ifndef TAPER_OPS_ATTENTION_H
#define TAPER_OPS_ATTENTION_H

#include "ops/call/call.h"

// What a fused multi-head attention gets, borrowed.
typedef struct taper_mha {
    taper_tensor *query, *key, *value;
    int64_t embed, heads;
    taper_tensor *qkv_weight, *qkv_bias, *out_weight, *out_bias;
    taper_tensor *mask; // NULL: none; true where a key is not looked at
    int64_t mask_type;  // 0: [T, T], 1: [B, T], 2: [B, heads, T, T]; -1: not given
    bool need_weights, average;
    taper_tensor *add; // NULL: nothing; [B, T, embed], contiguous, of the working dtype, for the result
} taper_mha;

// result: new, [B, T, embed] in the working dtype of query. weights (when needed): new, [B, T, T] or [B, heads, T, T].
TAPER_MUST_USE taper_status taper_mha_run(taper_call *call, const taper_mha *mha, taper_tensor **result,
                                          taper_tensor **weights);
// result[r] = x[r] weight' + bias + add[r]: new, of the working dtype of x, whose rows are the others' but for the last
// dimension. weight [out, in] and bias [out] have the dtype of x or, like add (contiguous, or NULL), the working one.
// Weights of the model are packed once.
TAPER_MUST_USE taper_status taper_attention_linear(taper_call *call, taper_tensor *x, taper_tensor *weight,
                                                   taper_tensor *bias, const taper_tensor *add, taper_tensor **result);

// scaled_dot_product_attention of PyTorch 1.13, which gives the weights too, and of PyTorch 2.
typedef struct taper_sdpa_form {
    bool weights;
} taper_sdpa_form;
extern const taper_sdpa_form taper_sdpa_1, taper_sdpa_2;

// In place, over the last dimension.
TAPER_MUST_USE taper_status taper_softmax_rows(taper_run *run, taper_tensor *tensor);
// In place: (x - mean) / sqrt(var + eps) * weight + bias over rows of `width`; weight and bias in the dtype of x,
// contiguous.
TAPER_MUST_USE taper_status taper_layer_norm_rows(taper_run *run, taper_tensor *tensor, int64_t width,
                                                  const taper_tensor *weight, const taper_tensor *bias, double eps);
// gelu (exact) or relu
TAPER_MUST_USE taper_status taper_activate_rows(taper_run *run, taper_tensor *tensor, bool gelu);
void taper_add_rows(taper_tensor *tensor, const taper_tensor *other);

#endif
