// SPDX-License-Identifier: BSD-2-Clause
// What the operators that make tensors share: their dtype and layout arguments.
#ifndef TAPER_OPS_CREATE_H
#define TAPER_OPS_CREATE_H

#include "ops/engine/view_move.h"

// The arguments dtype and layout at `at` and after it; the dtype of the target in the .out form, which has none of
// them.
TAPER_MUST_USE taper_status taper_create_options(const taper_call *call, size_t at, taper_dtype otherwise,
                                                 taper_dtype *dtype);
// A fresh contiguous tensor of that dtype; taper_ret_tensor ends it.
TAPER_MUST_USE taper_status taper_create_new(taper_call *call, taper_dtype dtype, size_t rank, const int64_t *sizes,
                                             taper_tensor **tensor);
// The dtype that a tensor gets which is made from the number alone: int64, bool, float32 or complex64.
taper_dtype taper_create_dtype(const taper_scalar *scalar);
// Sizes, wrapped by taper_arg_ints.
TAPER_MUST_USE taper_status taper_create_sizes(const taper_call *call, size_t at, size_t *rank, int64_t *sizes);
// An uninitialized tensor as empty_like(args[0], dtype.., memory_format) makes it: result 0.
TAPER_MUST_USE taper_status taper_create_like(taper_call *call, size_t dtype_at, taper_tensor **result);

// A count of elements that a result of one dimension may have.
TAPER_MUST_USE taper_status taper_create_count(taper_error *error, const char *name, int64_t count);

// value as an element of a floating dtype, in loops that are not worth a version per dtype.
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
