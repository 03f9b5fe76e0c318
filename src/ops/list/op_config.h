// SPDX-License-Identifier: BSD-2-Clause
// Selective builds. With TAPER_OP_CONFIG naming a header made by `taper ops --config` (one `#define TAPER_USE_<id> 1`
// for each row that is wanted), a row of the operator list or of the list of classes exists only when its TAPER_USE_ is
// 1, and the linker drops the code of the others. frontend/needs.c says what a file wants: the rows that its
// instructions and the upgraders of its version stand for are among them.
//
// TAPER_OP_IF(id, rows) expands to rows when id is wanted; TAPER_OP_OR_NULL(id, row) to row, and to NULL when it is
// not. TAPER_HAS_OP(id) is whether it is.
#ifndef TAPER_OPS_OP_CONFIG_H
#define TAPER_OPS_OP_CONFIG_H

#include "base/choose.h"

#ifdef TAPER_OP_CONFIG
#include TAPER_OP_CONFIG

#ifdef TAPER_USE_class__nnapi_Compilation
#include "ops/list/op_config_nnapi.h"
#endif

#define TAPER_WANTED(id) TAPER_IS_ONE(TAPER_USE_##id)
#define TAPER_OP_IF(id, ...) TAPER_IF(TAPER_USE_##id, __VA_ARGS__)
#define TAPER_HAS_OP(id) TAPER_WANTED(id)
#define TAPER_OR_NULL_0(row) NULL
#define TAPER_OR_NULL_1(row) row
#define TAPER_OP_OR_NULL(id, row) TAPER_JOIN(TAPER_OR_NULL_, TAPER_IS_ONE(TAPER_USE_##id))(row)
#else
#define TAPER_OP_IF(id, ...) __VA_ARGS__
#define TAPER_HAS_OP(id) 1
#define TAPER_OP_OR_NULL(id, row) (row)
#endif

#endif
