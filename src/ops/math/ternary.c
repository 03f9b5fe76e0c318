// SPDX-License-Identifier: BSD-2-Clause
// Operators with three operands x, y and z: where, clamp by tensors, lerp, addcmul, addcdiv.
#include "ops/engine/elementwise_loops.h"
#include "ops/math/elementwise_ops.h"

#define WHERE(name, type) TAPER_EW_LOOP3(where_##name, type, uint8_t, type, (void)args;, x != 0 ? y : z)
WHERE(f32, float)
WHERE(f64, double)
WHERE(i64, int64_t)
WHERE(u8, uint8_t)
WHERE(c128, taper_c128)
const taper_ew_op taper_ew_where = {
    .loops = {where_f32, where_f64, where_i64, where_u8, where_c128}, .masks = 1, .native = TAPER_EW_NATIVE(where)};

// Macros for clamp, whose result is NaN if any of the three operands is NaN.
#define UP(v, low) ((v) != (v) ? (v) : (low) != (low) ? (low) : (v) < (low) ? (low) : (v))
#define DOWN(v, high) ((v) != (v) ? (v) : (high) != (high) ? (high) : (v) > (high) ? (high) : (v))
#define REALS(name, type)                                                                                              \
    TAPER_EW_LOOP3(clamp_##name, type, type, type, (void)args;, DOWN(UP(x, y), z))                                     \
    TAPER_EW_LOOP3(lerp_##name, type, type, type, (void)args;                                                          \
                   , z < (type)0.5 ? x + z * (y - x) : y - (y - x) * (1 - z))                                          \
    TAPER_EW_LOOP3(addcmul_##name, type, type, type, TAPER_EW_NUMBERS_F(type), x + p0 * y * z)                         \
    TAPER_EW_LOOP3(addcdiv_##name, type, type, type, TAPER_EW_NUMBERS_F(type), x + p0 * y / z)
REALS(f32, float)
REALS(f64, double)

TAPER_EW_LOOP3(clamp_i64, int64_t, int64_t, int64_t, (void)args;, x<y ? (y > z ? z : y) : x> z ? z : x)
TAPER_EW_LOOP3(addcmul_i64, int64_t, int64_t, int64_t, TAPER_EW_NUMBERS_I,
               taper_wrap_add(x, taper_wrap_mul(taper_wrap_mul(p0, y), z)))
TAPER_EW_LOOP3(addcmul_c128, taper_c128, taper_c128, taper_c128, TAPER_EW_NUMBERS_C,
               taper_c_add(x, taper_c_mul(p0, taper_c_mul(y, z))))
TAPER_EW_LOOP3(addcdiv_c128, taper_c128, taper_c128, taper_c128, TAPER_EW_NUMBERS_C,
               taper_c_add(x, taper_c_mul(p0, taper_c_div(y, z))))
TAPER_EW_LOOP3(lerp_c128, taper_c128, taper_c128, taper_c128, (void)args;
               , taper_c_abs(z) < 0.5 ? taper_c_add(x, taper_c_mul(z, taper_c_sub(y, x)))
                                      : taper_c_sub(y, taper_c_mul(taper_c_sub(y, x), taper_c_sub(taper_c(1, 0), z))))

TAPER_EW_RECORD(clamp, NOBOOL, SAME, 0, clamp_f32, clamp_f64, clamp_i64)
TAPER_EW_RECORD(lerp, NOBOOL, SAME, 0, lerp_f32, lerp_f64, NULL, NULL, lerp_c128)
TAPER_EW_RECORD(addcmul, NOBOOL, SAME, 1, addcmul_f32, addcmul_f64, addcmul_i64, NULL, addcmul_c128)
TAPER_EW_RECORD(addcdiv, NOBOOL, SAME, 1, addcdiv_f32, addcdiv_f64, NULL, NULL, addcdiv_c128)
