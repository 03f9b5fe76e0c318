// SPDX-License-Identifier: BSD-2-Clause
// The operator list: every operator of Taper. Each family has a list file, and each row is
//     OP(id, "schema", kernel, param, flags)
// id names the row in C (name and overload, with '_' for other characters). A selective build (TAPER_OP_CONFIG) keeps
// only the rows whose TAPER_USE_<id> is 1. kernel is a function in a file of the family, defined by
// TAPER_KERNEL(kernel), which also declares it. param is 0 or the address of a `const` object that the family's header
// declares. Code names a row by TAPER_OP(id).
//
//     IN_PLACE(id, of, flags)
//     OUT(id, of, flags)
// are the variant of an operator that writes to `self`, and the variant that writes to an out tensor. `of` is the id of
// the functional row, which has all arguments except that tensor. Schema, kernel, param and flags follow from that row
// (expand_rows.h). The flags here are added to the flags of the functional row, and say how the variant writes. A
// variant with another kernel, with other arguments or with several out tensors has a separate OP( ).
//
// Words that are not facts of the library follow the flags, in this order. All except WANTS( ) belong only to the row,
// not to its variants.
//
// WANTS(what) A selective build with this row contains the part `what` of the library (op_features.h).
//
//     FORM(id)
// The row is the in-place variant of the row with this id, and has the same arguments. The row is not an IN_PLACE( ),
// because its kernel or facts differ.
//
//     ON_QUANTIZED(what, kernel)
// How a call with a quantized tensor runs. UNIFORM: the kernel runs it (the row's own if none is named), and tensors
// quantized per channel are refused. CHANNELS: the kernel takes tensors quantized per channel too. ANY, without a
// kernel: the row takes all quantized tensors. A row without the word refuses quantized tensors.
//
//     CPP(FUNCTION), METHOD, BOTH or NONE
// Says that the C++ binding has at::name( ), Tensor::name( ), both or neither, if that differs from the usual choice
// for such a schema (bindings/cpp/make_operators.c). The library ignores the word.
//
// TorchScript source uses the first row of a name that fits a call. Within a file, the rows are therefore in PyTorch's
// order (scripts/overload_order.py), and the files whose rows take anything are last.
//
// This file is included several times with different definitions of OP, IN_PLACE and OUT.
// clang-format off
#include "ops/list/list_caffe2.inc"
#include "ops/list/list_conv.inc"
#include "ops/list/list_create.inc"
#include "ops/list/list_decomposed.inc"
#ifdef TAPER_WITH_GRADIENTS
#include "ops/list/list_derivative.inc"
#endif
#include "ops/list/list_elementwise.inc"
#include "ops/list/list_fft.inc"
#include "ops/list/list_gradient.inc"
#include "ops/list/list_index.inc"
#include "ops/list/list_linalg.inc"
#include "ops/list/list_linear.inc"
#include "ops/list/list_norm.inc"
#include "ops/list/list_pool.inc"
#include "ops/list/list_prepacked.inc"
#include "ops/list/list_quantized.inc"
#include "ops/list/list_quantized_layer.inc"
#include "ops/list/list_recurrent.inc"
#include "ops/list/list_reduce.inc"
#include "ops/list/list_resize.inc"
#include "ops/list/list_view.inc"
#include "ops/list/list_vision.inc"
#include "ops/list/list_container.inc"
#include "ops/list/list_string.inc"
#include "ops/list/list_scalar.inc"
#include "ops/list/list_prim.inc"
// clang-format on
