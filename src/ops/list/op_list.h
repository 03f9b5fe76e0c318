// SPDX-License-Identifier: BSD-2-Clause
// The operator list: every operator Taper has, one list file per family, each row
//     OP(id, "schema", kernel, param, flags)
// id names the row in C (name and overload, non-letters as '_'); in a selective build (TAPER_OP_CONFIG) only the rows
// whose TAPER_USE_<id> is defined to 1 are kept. kernel is a function of a family's file, defined there by
// TAPER_KERNEL(kernel), which declares it too. param is 0 or the address of a `const` object declared in the family's
// header. Code names a row as TAPER_OP(id).
//
//     IN_PLACE(id, of, flags)
//     OUT(id, of, flags)
// is the form of an operator that writes to `self`, or to an out tensor: of is the id of the functional row, which has
// all arguments but that tensor. Schema, kernel, param and flags follow from it (expand_rows.h); flags here are those
// that the form adds, on how it writes. A form of another kernel, or with other arguments or several out tensors, is a
// row of its own.
//
// Behind the flags stand words that are no facts of the library, in this order; all but the first are a row's own, and
// no form's of it:
//
//     WANTS(what)
// a selective build with this row has that part of the library (op_features.h).
//
//     FORM(id)
// it is the form in place of that row, with the same arguments, and no IN_PLACE( ), as its kernel or facts are others.
//
//     ON_QUANTIZED(what, kernel)
// what a call with a quantized tensor does. UNIFORM: the kernel runs it (without one, the row's own), and what is
// quantized per channel is refused. CHANNELS: that is taken, too. ANY, without a kernel: the row takes them as they
// are. A row without the word refuses them.
//
//     CPP(FUNCTION), METHOD, BOTH or NONE
// whether the C++ binding has at::name( ), Tensor::name( ), both or neither, where that is not what is usual for such a
// schema (bindings/cpp/make_operators.c). The library has nothing of it.
//
// Of several rows of one name TorchScript source takes the first that fits a call: within a file they stand in
// PyTorch's order (scripts/overload_order.py), and files whose rows take anything come last.
//
// This file is included several times with different definitions of OP, IN_PLACE and OUT.
// clang-format off
#include "ops/list/list_caffe2.inc"
#include "ops/list/list_conv.inc"
#include "ops/list/list_create.inc"
#include "ops/list/list_decomposed.inc"
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
