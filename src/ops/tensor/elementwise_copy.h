// SPDX-License-Identifier: BSD-2-Clause
// The positions of arguments in the operators that share the kernel taper_op_to.
#ifndef TAPER_OPS_ELEMENTWISE_COPY_H
#define TAPER_OPS_ELEMENTWISE_COPY_H

#include "ops/call/call.h"

typedef struct taper_to_args {
    uint8_t dtype, other, copy, format; // positions of these arguments in the schema; 0 if the argument does not exist
    bool always;                        // true if the result is a copy even if nothing changes
    bool cast;                          // true if the operator converts to `target`
    uint8_t target;
} taper_to_args;

extern const taper_to_args taper_to_dtype, taper_to_device, taper_to_dtype_layout, taper_to_other, taper_to_prim_dtype,
    taper_to_prim_device, taper_to_prim_other, taper_to_type_as, taper_to_to_copy, taper_to_to_copy_out, taper_to_u8,
    taper_to_i8, taper_to_i16, taper_to_i32, taper_to_i64, taper_to_f16, taper_to_f32, taper_to_f64, taper_to_c32;

// Sets result 0 to a copy of x, converted to dtype.
TAPER_MUST_USE taper_status taper_ret_copy(taper_call *call, taper_tensor *x, taper_dtype dtype, int64_t format);

#endif
