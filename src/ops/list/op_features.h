// SPDX-License-Identifier: BSD-2-Clause
// Parts that selective builds (op_config.h) leave out and that are not the kernel of a row. A row says which of them it
// needs by WANTS( ) in the operator list. TAPER_QUANTIZES: the model makes or reads quantized tensors.
// TAPER_QUANTIZES_STATES: the model has recurrent layers with dynamically quantized weights. TAPER_INTERPOLATES: the
// model resizes images by interpolation between pixels. TAPER_COMPUTES_ERF: the model computes erf, or gelu in either
// of its two variants. TAPER_CONVOLVES_TRANSPOSED: the model has a row that may compute a transposed convolution.
//
// TAPER_USES(name) is 1 if a wanted row has this kernel or param. TAPER_ATTENDS and TAPER_RECURS combine the kernels of
// one purpose that call the vector kernels directly. If a kernel that was left out is needed after all, the reference
// runs.
#ifndef TAPER_OPS_OP_FEATURES_H
#define TAPER_OPS_OP_FEATURES_H

#include "ops/list/op_config.h"

#ifdef TAPER_OP_CONFIG
#include "ops/list/op_uses.h"
#define TAPER_USES(name) TAPER_IS_ONE(TAPER_USES_##name)
#define TAPER_WANTS(what) TAPER_IS_ONE(TAPER_WANTS_##what)
#else
#define TAPER_USES(name) 1
#define TAPER_WANTS(what) 1
#endif

#define TAPER_COMPUTES_ERF TAPER_WANTS(COMPUTES_ERF)
#define TAPER_INTERPOLATES TAPER_WANTS(INTERPOLATES)
#define TAPER_QUANTIZES TAPER_WANTS(QUANTIZES)
#define TAPER_QUANTIZES_STATES TAPER_WANTS(QUANTIZES_STATES)
#define TAPER_CONVOLVES_TRANSPOSED (TAPER_WANTS(CONVOLVES_TRANSPOSED) || TAPER_HAS_OP(class__nnapi_Compilation))

#define TAPER_ATTENDS                                                                                                  \
    (TAPER_USES(taper_op_scaled_dot_product_attention) || TAPER_USES(taper_op_native_multi_head_attention) ||          \
     TAPER_USES(taper_op_transformer_encoder_layer))
#define TAPER_RECURS                                                                                                   \
    (TAPER_USES(taper_op_gru) || TAPER_USES(taper_op_gru_cell) || TAPER_USES(taper_op_lstm) ||                         \
     TAPER_USES(taper_op_lstm_cell) || TAPER_USES(taper_op_rnn_relu) || TAPER_USES(taper_op_rnn_relu_cell) ||          \
     TAPER_USES(taper_op_rnn_tanh) || TAPER_USES(taper_op_rnn_tanh_cell) || TAPER_USES(taper_op_vulkan_gru) ||         \
     TAPER_USES(taper_op_vulkan_lstm) || TAPER_QUANTIZES_STATES)
#define TAPER_COMPUTES_ELU (TAPER_USES(taper_ew_elu) || TAPER_USES(taper_op_selu) || TAPER_USES(taper_op_celu))
#define TAPER_RAISES (TAPER_USES(taper_op_pow) || TAPER_USES(taper_op_square) || TAPER_USES(taper_op_float_power))
#define TAPER_REDUCES                                                                                                  \
    (TAPER_USES(taper_op_sum) || TAPER_USES(taper_op_mean) || TAPER_USES(taper_op_norm) ||                             \
     TAPER_USES(taper_op_amax) || TAPER_USES(taper_op_amin) || TAPER_USES(taper_op_aminmax) ||                         \
     TAPER_USES(taper_op_vector_norm) || TAPER_USES(taper_op_max_pool) || TAPER_USES(taper_op_avg_pool) ||             \
     TAPER_MEASURES || TAPER_COMPUTES_SOFTMAX || TAPER_USES(taper_op_rms_norm))
#define TAPER_COMPUTES_SOFTMAX                                                                                         \
    (TAPER_USES(taper_op_softmax) || TAPER_USES(taper_op_log_softmax) || TAPER_USES(taper_op_softmax_inner) ||         \
     TAPER_USES(taper_op_log_softmax_inner) || TAPER_USES(taper_op_logsumexp) || TAPER_ATTENDS)
#define TAPER_MEASURES                                                                                                 \
    (TAPER_USES(taper_op_group_norm) || TAPER_USES(taper_op_native_group_norm) || TAPER_USES(taper_op_instance_norm))
// True if a kernel that copies many elements is wanted.
#define TAPER_MOVES                                                                                                    \
    (TAPER_USES(taper_op_cat) || TAPER_USES(taper_op_stack) || TAPER_USES(taper_op_contiguous) ||                      \
     TAPER_USES(taper_op_clone) || TAPER_USES(taper_op_permute) || TAPER_USES(taper_op_transpose) ||                   \
     TAPER_USES(taper_op_reshape) || TAPER_USES(taper_op_expand) || TAPER_USES(taper_op_pixel_shuffle) ||              \
     TAPER_USES(taper_op_repeat) || TAPER_USES(taper_op_roll) || TAPER_USES(taper_op_slice))
// True if copies from one dtype to another use the conversion kernels.
#define TAPER_COPIES_CONVERT                                                                                           \
    (TAPER_USES(taper_op_to) || TAPER_HAS_OP(linear_halves) || TAPER_HAS_OP(taper_linear_integers))
#define TAPER_NORMS_LAYERS (TAPER_USES(taper_op_layer_norm) || TAPER_ATTENDS)

#endif
