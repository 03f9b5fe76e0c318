// SPDX-License-Identifier: BSD-2-Clause
// Functions that the operators that make tensors share: they read dtype and layout arguments.
#ifndef TAPER_OPS_CREATE_H
#define TAPER_OPS_CREATE_H

#include "ops/engine/view_move.h"

// Reads argument `at`, the dtype, and the next argument, the layout. The .out overloads have neither argument and use
// the target's dtype.
TAPER_MUST_USE taper_status taper_create_options(const taper_call *call, size_t at, taper_dtype otherwise,
                                                 taper_dtype *dtype);
// Makes a contiguous tensor. taper_ret_tensor takes it over as a result.
TAPER_MUST_USE taper_status taper_create_new(taper_call *call, taper_dtype dtype, size_t rank, const int64_t *sizes,
                                             taper_tensor **tensor);
// Returns the dtype of a tensor that is made from this number alone: int64, bool, float32 or complex64.
taper_dtype taper_create_dtype(const taper_scalar *scalar);
// Reads sizes with taper_arg_ints.
TAPER_MUST_USE taper_status taper_create_sizes(const taper_call *call, size_t at, size_t *rank, int64_t *sizes);
// Sets result 0 to an uninitialized tensor, as empty_like(args[0], dtype, …, memory_format) does. The dtype is argument
// dtype_at.
TAPER_MUST_USE taper_status taper_create_like(taper_call *call, size_t dtype_at, taper_tensor **result);

// Fails unless a result of one dimension may have this number of elements.
TAPER_MUST_USE taper_status taper_create_count(taper_error *error, const char *name, int64_t count);

// Stores value as an element of a floating dtype, for loops that do not need a version per dtype.
inline void taper_put_double(taper_dtype dtype, void *data, int64_t index, double value)
{
    if (dtype == TAPER_F32) {
        ((float *)data)[index] = (float)value;
    } else if (dtype == TAPER_F64) {
        ((double *)data)[index] = value;
    } else {
        const taper_scalar scalar = taper_scalar_double(value);
        taper_scalar_store(dtype, (char *)data + (size_t)index * taper_dtype_size(dtype), &scalar);
    }
}

#endif
