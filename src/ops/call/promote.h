// SPDX-License-Identifier: BSD-2-Clause
// Type promotion as in PyTorch. Tensors with dimensions have priority over 0-dim tensors, and 0-dim tensors over
// numbers, within the categories bool < integer < float < complex.
#ifndef TAPER_OPS_PROMOTE_H
#define TAPER_OPS_PROMOTE_H

#include "ops/call/call.h"

typedef struct taper_promotion {
    // Promoted dtype of the arguments so far: of tensors with dimensions, of 0-dim tensors, and of numbers. -1 if there
    // is no such argument.
    int dim, zero, wrapped;
} taper_promotion;

static inline taper_promotion taper_promotion_start(void)
{
    return (taper_promotion){-1, -1, -1};
}
void taper_promotion_tensor(taper_promotion *promotion, const taper_tensor *tensor);
void taper_promotion_scalar(taper_promotion *promotion, const taper_scalar *scalar);
taper_dtype taper_promotion_result(const taper_promotion *promotion); // returns f32 if no argument was added

// Returns the smallest dtype that contains the numbers of both dtypes.
taper_dtype taper_promote(taper_dtype a, taper_dtype b);
// Returns true if a result of dtype `from` may be stored in a tensor of dtype `to`.
bool taper_can_cast(taper_dtype from, taper_dtype to);
TAPER_MUST_USE taper_status taper_check_cast(taper_dtype from, taper_dtype to, taper_error *error);

// Returns float32 for integers and bool, otherwise the dtype itself.
inline taper_dtype taper_dtype_to_float(taper_dtype d)
{
    return taper_dtype_is_float(d) || taper_dtype_is_complex(d) ? d : TAPER_F32;
}
// Returns the real dtype of a complex dtype, otherwise the dtype itself.
inline taper_dtype taper_dtype_to_real(taper_dtype d)
{
    return d == TAPER_C32 ? TAPER_F16 : d == TAPER_C64 ? TAPER_F32 : d == TAPER_C128 ? TAPER_F64 : d;
}
inline taper_dtype taper_dtype_to_complex(taper_dtype d)
{
    return d == TAPER_F16                      ? TAPER_C32
           : d == TAPER_F64 || d == TAPER_C128 ? TAPER_C128
           : d == TAPER_C32                    ? TAPER_C32
                                               : TAPER_C64;
}
// Returns the dtype of a 0-dim tensor made from the number.
static inline taper_dtype taper_scalar_dtype(const taper_scalar *scalar)
{
    static const taper_dtype dtypes[] = {TAPER_BOOL, TAPER_I64, TAPER_F64, TAPER_C128};
    return dtypes[scalar->kind];
}
const char *taper_dtype_torch_name(taper_dtype dtype); // name in PyTorch's messages: "Float", "Long", "QUInt8", …

#endif
