// SPDX-License-Identifier: BSD-2-Clause
// The rows that serialized NNAPI models become (frontend/nnapi): a selective build for such a model has them, as its
// file does not say which.
#ifndef TAPER_OPS_OP_CONFIG_NNAPI_H
#define TAPER_OPS_OP_CONFIG_NNAPI_H

#undef TAPER_USE_aten___getitem___t
#define TAPER_USE_aten___getitem___t 1
#undef TAPER_USE_aten__make_per_tensor_quantized_tensor
#define TAPER_USE_aten__make_per_tensor_quantized_tensor 1
#undef TAPER_USE_aten__upsample_nearest_exact2d_vec
#define TAPER_USE_aten__upsample_nearest_exact2d_vec 1
#undef TAPER_USE_aten_abs
#define TAPER_USE_aten_abs 1
#undef TAPER_USE_aten_adaptive_avg_pool2d
#define TAPER_USE_aten_adaptive_avg_pool2d 1
#undef TAPER_USE_aten_add_Scalar
#define TAPER_USE_aten_add_Scalar 1
#undef TAPER_USE_aten_add_Tensor
#define TAPER_USE_aten_add_Tensor 1
#undef TAPER_USE_aten_amax
#define TAPER_USE_aten_amax 1
#undef TAPER_USE_aten_amin
#define TAPER_USE_aten_amin 1
#undef TAPER_USE_aten_avg_pool2d
#define TAPER_USE_aten_avg_pool2d 1
#undef TAPER_USE_aten_cat
#define TAPER_USE_aten_cat 1
#undef TAPER_USE_aten_channel_shuffle
#define TAPER_USE_aten_channel_shuffle 1
#undef TAPER_USE_aten_clone
#define TAPER_USE_aten_clone 1
#undef TAPER_USE_aten_constant_pad_nd
#define TAPER_USE_aten_constant_pad_nd 1
#undef TAPER_USE_aten_contiguous
#define TAPER_USE_aten_contiguous 1
#undef TAPER_USE_aten_conv2d
#define TAPER_USE_aten_conv2d 1
#undef TAPER_USE_aten_conv_transpose2d_input
#define TAPER_USE_aten_conv_transpose2d_input 1
#undef TAPER_USE_aten_dequantize_self
#define TAPER_USE_aten_dequantize_self 1
#undef TAPER_USE_aten_dim
#define TAPER_USE_aten_dim 1
#undef TAPER_USE_aten_div_Scalar
#define TAPER_USE_aten_div_Scalar 1
#undef TAPER_USE_aten_div_Tensor
#define TAPER_USE_aten_div_Tensor 1
#undef TAPER_USE_aten_eq_int
#define TAPER_USE_aten_eq_int 1
#undef TAPER_USE_aten_eq_int_list
#define TAPER_USE_aten_eq_int_list 1
#undef TAPER_USE_aten_exp
#define TAPER_USE_aten_exp 1
#undef TAPER_USE_aten_fake_quantize_per_tensor_affine
#define TAPER_USE_aten_fake_quantize_per_tensor_affine 1
#undef TAPER_USE_aten_floor
#define TAPER_USE_aten_floor 1
#undef TAPER_USE_aten_ge_Scalar
#define TAPER_USE_aten_ge_Scalar 1
#undef TAPER_USE_aten_ge_float
#define TAPER_USE_aten_ge_float 1
#undef TAPER_USE_aten_hardswish
#define TAPER_USE_aten_hardswish 1
#undef TAPER_USE_aten_hardtanh
#define TAPER_USE_aten_hardtanh 1
#undef TAPER_USE_aten_int_repr
#define TAPER_USE_aten_int_repr 1
#undef TAPER_USE_aten_le_float
#define TAPER_USE_aten_le_float 1
#undef TAPER_USE_aten_linear
#define TAPER_USE_aten_linear 1
#undef TAPER_USE_aten_log
#define TAPER_USE_aten_log 1
#undef TAPER_USE_aten_log_softmax_int
#define TAPER_USE_aten_log_softmax_int 1
#undef TAPER_USE_aten_max_pool2d
#define TAPER_USE_aten_max_pool2d 1
#undef TAPER_USE_aten_maximum
#define TAPER_USE_aten_maximum 1
#undef TAPER_USE_aten_mean_dim
#define TAPER_USE_aten_mean_dim 1
#undef TAPER_USE_aten_minimum
#define TAPER_USE_aten_minimum 1
#undef TAPER_USE_aten_mul_Scalar
#define TAPER_USE_aten_mul_Scalar 1
#undef TAPER_USE_aten_mul_Tensor
#define TAPER_USE_aten_mul_Tensor 1
#undef TAPER_USE_aten_neg
#define TAPER_USE_aten_neg 1
#undef TAPER_USE_aten_permute
#define TAPER_USE_aten_permute 1
#undef TAPER_USE_aten_pow_Tensor_Tensor
#define TAPER_USE_aten_pow_Tensor_Tensor 1
#undef TAPER_USE_aten_prelu
#define TAPER_USE_aten_prelu 1
#undef TAPER_USE_aten_q_scale
#define TAPER_USE_aten_q_scale 1
#undef TAPER_USE_aten_q_zero_point
#define TAPER_USE_aten_q_zero_point 1
#undef TAPER_USE_aten_quantize_per_tensor
#define TAPER_USE_aten_quantize_per_tensor 1
#undef TAPER_USE_aten_relu
#define TAPER_USE_aten_relu 1
#undef TAPER_USE_aten_reshape
#define TAPER_USE_aten_reshape 1
#undef TAPER_USE_aten_round
#define TAPER_USE_aten_round 1
#undef TAPER_USE_aten_rsqrt
#define TAPER_USE_aten_rsqrt 1
#undef TAPER_USE_aten_sigmoid
#define TAPER_USE_aten_sigmoid 1
#undef TAPER_USE_aten_size
#define TAPER_USE_aten_size 1
#undef TAPER_USE_aten_size_int
#define TAPER_USE_aten_size_int 1
#undef TAPER_USE_aten_slice_Tensor
#define TAPER_USE_aten_slice_Tensor 1
#undef TAPER_USE_aten_softmax_int
#define TAPER_USE_aten_softmax_int 1
#undef TAPER_USE_aten_sqrt
#define TAPER_USE_aten_sqrt 1
#undef TAPER_USE_aten_squeeze_dim
#define TAPER_USE_aten_squeeze_dim 1
#undef TAPER_USE_aten_sub_Scalar
#define TAPER_USE_aten_sub_Scalar 1
#undef TAPER_USE_aten_sub_Tensor
#define TAPER_USE_aten_sub_Tensor 1
#undef TAPER_USE_aten_sum_dim_IntList
#define TAPER_USE_aten_sum_dim_IntList 1
#undef TAPER_USE_aten_tanh
#define TAPER_USE_aten_tanh 1
#undef TAPER_USE_aten_to_dtype
#define TAPER_USE_aten_to_dtype 1
#undef TAPER_USE_aten_unsqueeze
#define TAPER_USE_aten_unsqueeze 1
#undef TAPER_USE_aten_upsample_bilinear2d_vec
#define TAPER_USE_aten_upsample_bilinear2d_vec 1
#undef TAPER_USE_aten_upsample_nearest2d_vec
#define TAPER_USE_aten_upsample_nearest2d_vec 1
#undef TAPER_USE_aten_where_self
#define TAPER_USE_aten_where_self 1
#undef TAPER_USE_prim_RaiseException
#define TAPER_USE_prim_RaiseException 1
#undef TAPER_USE_prim_dtype
#define TAPER_USE_prim_dtype 1
#undef TAPER_USE_quantized_add
#define TAPER_USE_quantized_add 1
#undef TAPER_USE_quantized_add_relu
#define TAPER_USE_quantized_add_relu 1
#undef TAPER_USE_quantized_cat
#define TAPER_USE_quantized_cat 1
#undef TAPER_USE_quantized_conv2d_new
#define TAPER_USE_quantized_conv2d_new 1
#undef TAPER_USE_quantized_conv2d_prepack
#define TAPER_USE_quantized_conv2d_prepack 1
#undef TAPER_USE_quantized_conv2d_relu_new
#define TAPER_USE_quantized_conv2d_relu_new 1
#undef TAPER_USE_quantized_conv_transpose2d
#define TAPER_USE_quantized_conv_transpose2d 1
#undef TAPER_USE_quantized_conv_transpose2d_prepack
#define TAPER_USE_quantized_conv_transpose2d_prepack 1
#undef TAPER_USE_quantized_hardswish
#define TAPER_USE_quantized_hardswish 1
#undef TAPER_USE_quantized_linear
#define TAPER_USE_quantized_linear 1
#undef TAPER_USE_quantized_linear_prepack
#define TAPER_USE_quantized_linear_prepack 1
#undef TAPER_USE_quantized_linear_relu
#define TAPER_USE_quantized_linear_relu 1
#undef TAPER_USE_quantized_mul
#define TAPER_USE_quantized_mul 1
#undef TAPER_USE_quantized_mul_relu
#define TAPER_USE_quantized_mul_relu 1

#endif
