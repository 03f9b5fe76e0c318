// SPDX-License-Identifier: BSD-2-Clause
// Selective builds. With TAPER_OP_CONFIG naming a header made by `taper ops --config` (one `#define TAPER_USE_<id> 1` for each
// row that is wanted), a row of the operator list exists only when its TAPER_USE_ is 1, and the linker drops the code of
// the others. Rows that instructions and upgraders stand for are always there.
//
// TAPER_OP_IF(id, rows) expands to rows when id is wanted.
#ifndef TAPER_OPS_OP_CONFIG_H
#define TAPER_OPS_OP_CONFIG_H

#ifdef TAPER_OP_CONFIG
#include TAPER_OP_CONFIG

#define TAPER_ALWAYS_prim_TupleIndex 1
#define TAPER_ALWAYS_prim_RaiseException 1
#define TAPER_ALWAYS_aten___getitem___Dict_str 1
#define TAPER_ALWAYS_aten___is__ 1
#define TAPER_ALWAYS_aten___isnot__ 1
#define TAPER_ALWAYS_aten_format 1
#define TAPER_ALWAYS_prim_device 1
#define TAPER_ALWAYS_prim_dtype 1
#define TAPER_ALWAYS_aten_dim 1
#define TAPER_ALWAYS_aten___not__ 1
#define TAPER_ALWAYS_prim_tolist 1
#define TAPER_ALWAYS_prim_NumToTensor_Scalar 1
#define TAPER_ALWAYS_prim_is_cuda 1
#define TAPER_ALWAYS_aten_warn 1
#define TAPER_ALWAYS_aten_is_floating_point 1
#define TAPER_ALWAYS_aten___or___bool 1

// 1 when the macro that x names is defined to 1, otherwise 0 (the way of the Linux kernel's IS_ENABLED).
#define TAPER_PLACE_1 0,
#define TAPER_SECOND(ignored, value, ...) value
#define TAPER_IS_ONE(x) TAPER_IS_ONE_(x)
#define TAPER_IS_ONE_(x) TAPER_IS_ONE__(TAPER_PLACE_##x)
#define TAPER_IS_ONE__(comma_or_junk) TAPER_SECOND(comma_or_junk 1, 0, 0)

#define TAPER_JOIN(a, b) TAPER_JOIN_(a, b)
#define TAPER_JOIN_(a, b) a##b
#define TAPER_OR_00 0
#define TAPER_OR_01 1
#define TAPER_OR_10 1
#define TAPER_OR_11 1
#define TAPER_OR(a, b) TAPER_OR_(a, b)
#define TAPER_OR_(a, b) TAPER_OR_##a##b
#define TAPER_WANTED(id) TAPER_OR(TAPER_IS_ONE(TAPER_USE_##id), TAPER_IS_ONE(TAPER_ALWAYS_##id))
#define TAPER_OP_IF_0(...)
#define TAPER_OP_IF_1(...) __VA_ARGS__
#define TAPER_OP_IF(id, ...) TAPER_JOIN(TAPER_OP_IF_, TAPER_WANTED(id))(__VA_ARGS__)
#else
#define TAPER_OP_IF(id, ...) __VA_ARGS__
#endif

#endif
