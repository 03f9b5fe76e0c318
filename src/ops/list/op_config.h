// SPDX-License-Identifier: BSD-2-Clause
// Selective builds. TAPER_OP_CONFIG names a header that `taper ops --config` made, with one `#define TAPER_USE_<id> 1`
// for each wanted row. A row of the operator list or of the list of classes then exists only if its TAPER_USE_ is 1,
// and the linker drops the code of the other rows. frontend/needs.c finds the rows that a file needs. These include the
// rows that the file's instructions become, and the rows that the upgraders of its version use.
//
// TAPER_OP_IF(id, rows) expands to rows if id is wanted. TAPER_OP_OR_NULL(id, row) expands to row if id is wanted,
// otherwise to NULL. TAPER_HAS_OP(id) is 1 if id is wanted, otherwise 0.
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
