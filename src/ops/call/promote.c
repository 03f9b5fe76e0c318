// SPDX-License-Identifier: BSD-2-Clause
// Type promotion, see promote.h.
#include "ops/call/promote.h"

// Definitions that compilers link if they call an inline function instead of inlining it.
extern taper_dtype taper_dtype_to_float(taper_dtype d);
extern taper_dtype taper_dtype_to_real(taper_dtype d);
extern taper_dtype taper_dtype_to_complex(taper_dtype d);

taper_dtype taper_promote(taper_dtype a, taper_dtype b)
{
    if (a == b) {
        return a;
    }
    if (taper_dtype_is_quantized(a) || taper_dtype_is_quantized(b)) {
        return taper_dtype_is_quantized(a) ? a : b;
    }
    if (taper_dtype_is_complex(a) || taper_dtype_is_complex(b)) {
        if (a == TAPER_C128 || b == TAPER_C128 || a == TAPER_F64 || b == TAPER_F64) {
            return TAPER_C128;
        }
        const taper_dtype other = a == TAPER_C32 ? b : a;
        const bool half =
            (a == TAPER_C32 || b == TAPER_C32) && other != TAPER_C64 && other != TAPER_F32 && other != TAPER_BF16;
        return half ? TAPER_C32 : TAPER_C64;
    }
    const bool a_float = taper_dtype_is_float(a), b_float = taper_dtype_is_float(b);
    if (a_float != b_float) {
        return a_float ? a : b;
    }
    if (a_float) {
        return a == TAPER_F64 || b == TAPER_F64 ? TAPER_F64 : TAPER_F32; // f16 with bf16 gives f32
    }
    if (a == TAPER_BOOL || b == TAPER_BOOL) {
        return a == TAPER_BOOL ? b : a;
    }
    if (a == TAPER_U8 || b == TAPER_U8) {
        const taper_dtype other = a == TAPER_U8 ? b : a;
        return other == TAPER_I8 ? TAPER_I16 : other;
    }
    return a > b ? a : b; // the enumerators of the signed integer dtypes are in the order of the dtypes' widths
}

static int promote_some(int a, int b)
{
    return a < 0 ? b : b < 0 ? a : (int)taper_promote((taper_dtype)a, (taper_dtype)b);
}

void taper_promotion_tensor(taper_promotion *promotion, const taper_tensor *tensor)
{
    int dtype = tensor->dtype;
    if (tensor->wrapped_number && tensor->rank == 0) {
        dtype = taper_dtype_is_complex(tensor->dtype) ? TAPER_C64
                : taper_dtype_is_float(tensor->dtype) ? TAPER_F32
                                                      : dtype;
        promotion->wrapped = promote_some(promotion->wrapped, dtype);
    } else if (tensor->rank == 0) {
        promotion->zero = promote_some(promotion->zero, dtype);
    } else {
        promotion->dim = promote_some(promotion->dim, dtype);
    }
}

void taper_promotion_scalar(taper_promotion *promotion, const taper_scalar *scalar)
{
    static const int dtypes[] = {TAPER_BOOL, TAPER_I64, TAPER_F32, TAPER_C64};
    promotion->wrapped = promote_some(promotion->wrapped, dtypes[scalar->kind]);
}

static int combine(int higher, int lower)
{
    if (higher < 0 || lower < 0) {
        return higher < 0 ? lower : higher;
    }
    const taper_dtype h = (taper_dtype)higher, l = (taper_dtype)lower;
    if (taper_dtype_is_complex(h)) {
        return higher;
    }
    if (taper_dtype_is_float(h)) {
        return taper_dtype_is_complex(l) ? (int)taper_dtype_to_complex(h) : higher;
    }
    if (h == TAPER_BOOL || taper_dtype_is_float(l) || taper_dtype_is_complex(l)) {
        return (int)taper_promote(h, l);
    }
    return higher;
}

taper_dtype taper_promotion_result(const taper_promotion *promotion)
{
    const int result = combine(promotion->dim, combine(promotion->zero, promotion->wrapped));
    return result < 0 ? TAPER_F32 : (taper_dtype)result;
}

bool taper_can_cast(taper_dtype from, taper_dtype to)
{
    if (taper_dtype_is_complex(from) && !taper_dtype_is_complex(to)) {
        return false;
    }
    if (taper_dtype_is_float(from) && (taper_dtype_is_integral(to) || to == TAPER_BOOL)) {
        return false;
    }
    return from == TAPER_BOOL || to != TAPER_BOOL;
}

taper_status taper_check_cast(taper_dtype from, taper_dtype to, taper_error *error)
{
    if (!taper_can_cast(from, to)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "result type %s can't be cast to the desired output type %s",
                   taper_dtype_torch_name(from), taper_dtype_torch_name(to));
    }
    return TAPER_OK;
}

const char *taper_dtype_torch_name(taper_dtype dtype)
{
    static const char *const names[TAPER_DTYPE_COUNT] = {
        "Byte",         "Char",          "Short", "Int",   "Long",   "Half",   "Float",    "Double",   "ComplexHalf",
        "ComplexFloat", "ComplexDouble", "Bool",  "QInt8", "QUInt8", "QInt32", "BFloat16", "QUInt4x2", "QUInt2x4",
    };
    return (unsigned)dtype < TAPER_DTYPE_COUNT ? names[dtype] : "Undefined";
}
