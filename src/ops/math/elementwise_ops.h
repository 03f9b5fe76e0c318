// SPDX-License-Identifier: BSD-2-Clause
// Declares the records that elementwise_unary.inc, elementwise_binary.inc, elementwise_polynomial.c and ternary.c
// define: taper_ew_exp and so on.
#ifndef TAPER_OPS_ELEMENTWISE_OPS_H
#define TAPER_OPS_ELEMENTWISE_OPS_H

#include "ops/engine/elementwise.h"

#define UNARY_F(name, promotion, result, scalars, f) extern const taper_ew_op taper_ew_##name;
#define UNARY_FI(name, promotion, result, scalars, f, i) extern const taper_ew_op taper_ew_##name;
#define UNARY_FC(name, promotion, result, scalars, f, c) extern const taper_ew_op taper_ew_##name;
#define UNARY_FIC(name, promotion, result, scalars, f, i, c) extern const taper_ew_op taper_ew_##name;
#include "ops/math/elementwise_unary.inc"
#undef UNARY_F
#undef UNARY_FI
#undef UNARY_FC
#undef UNARY_FIC
#define BINARY_F(name, promotion, result, scalars, f) extern const taper_ew_op taper_ew_##name;
#define BINARY_I(name, promotion, result, scalars, i) extern const taper_ew_op taper_ew_##name;
#define BINARY_FI(name, promotion, result, scalars, f, i) extern const taper_ew_op taper_ew_##name;
#define BINARY_FC(name, promotion, result, scalars, f, c) extern const taper_ew_op taper_ew_##name;
#define BINARY_FIC(name, promotion, result, scalars, f, i, c) extern const taper_ew_op taper_ew_##name;
#include "ops/math/elementwise_binary.inc"
#undef BINARY_F
#undef BINARY_I
#undef BINARY_FI
#undef BINARY_FC
#undef BINARY_FIC
#define TAPER_EW_POLYNOMIALS(X)                                                                                        \
    X(chebyshev_t)                                                                                                     \
    X(chebyshev_u)                                                                                                     \
    X(chebyshev_v)                                                                                                     \
    X(chebyshev_w)                                                                                                     \
    X(shifted_chebyshev_t)                                                                                             \
    X(shifted_chebyshev_u)                                                                                             \
    X(shifted_chebyshev_v) X(shifted_chebyshev_w) X(hermite_h) X(hermite_he) X(laguerre_l) X(legendre_p)
#define POLYNOMIAL(name) extern const taper_ew_op taper_ew_##name;
TAPER_EW_POLYNOMIALS(POLYNOMIAL)
#undef POLYNOMIAL
extern const taper_ew_op taper_ew_bitwise_not, taper_ew_where, taper_ew_clamp, taper_ew_lerp, taper_ew_addcmul,
    taper_ew_addcdiv;

// Reads the five arguments of isclose and allclose (self, other, rtol, atol, equal_nan) into *ew, which is then ready
// for taper_ew_run. The tensors stay borrowed from the call.
TAPER_MUST_USE taper_status taper_ew_isclose_args(const taper_call *call, taper_ew *ew);

#endif
