// SPDX-License-Identifier: BSD-2-Clause
// Operators on two numbers: arithmetic, bits, comparison. One kernel takes ints, floats, bools and complex numbers in
// any mixture and looks at the values' kinds, so the overloads of an operator share it. Ints wrap around.
#include "ops/lang/scalar.h"

#include <math.h>

#include "ops/call/call.h"

const uint8_t taper_codes[64] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
    22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
    44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
};

int64_t taper_double_to_int(double number)
{
    if (!(number >= -9223372036854775808.0 && number < 9223372036854775808.0)) {
        return INT64_MIN;
    }
    return (int64_t)number;
}

taper_status taper_ret_complex(taper_call *call, size_t at, taper_pair z)
{
    taper_complex *complex = taper_complex_new(call->run->heap, z.re, z.im);
    if (complex == NULL) {
        return taper_fail_memory(call->run->error);
    }
    taper_ret(call, at, TAPER_VAL(complex));
    return TAPER_OK;
}

static taper_status ret_int(taper_call *call, uint64_t bits)
{
    taper_ret(call, 0, taper_val_int((int64_t)bits));
    return TAPER_OK;
}

static taper_status ret_double(taper_call *call, double number)
{
    taper_ret(call, 0, taper_val_double(number));
    return TAPER_OK;
}

// Returns a float for any two numbers, because in PyTorch even pow.int_to_int returns a float.
static taper_status ret_pow(taper_call *call, unsigned code, double a, double b)
{
    if (a == 0 && b < 0 && code != TAPER_NUMBER_POW_SCALAR) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED, "0.0 cannot be raised to a negative power");
    }
    return ret_double(call, pow(a, b));
}

static uint64_t magnitude(int64_t a)
{
    return a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    if (b == -1) {
        return (int64_t)(0 - (uint64_t)a);
    }
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t floor_mod(int64_t a, int64_t b)
{
    const int64_t r = b == -1 ? 0 : a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static double float_mod(double a, double b)
{
    return fmod(b + fmod(a, b), b);
}

static taper_status ints(taper_call *call, unsigned code, int64_t a, int64_t b)
{
    const uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
    const bool divides =
        code == TAPER_NUMBER_FLOORDIV || code == TAPER_NUMBER_REMAINDER || code == TAPER_NUMBER_TRUNCDIV;
    if (divides && b == 0) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED,
                          code == TAPER_NUMBER_REMAINDER ? "integer division or modulo by zero" : "division by 0");
    }
    const double fa = (double)a, fb = (double)b;
    switch (code) {
    case TAPER_NUMBER_ADD:
        return ret_int(call, ua + ub);
    case TAPER_NUMBER_SUB:
        return ret_int(call, ua - ub);
    case TAPER_NUMBER_MUL:
        return ret_int(call, ua * ub);
    case TAPER_NUMBER_FLOORDIV:
        return ret_int(call, (uint64_t)floor_div(a, b));
    case TAPER_NUMBER_REMAINDER:
        return ret_int(call, (uint64_t)floor_mod(a, b));
    case TAPER_NUMBER_TRUNCDIV:
        return ret_int(call, b == -1 ? 0 - ua : (uint64_t)(a / b));
    case TAPER_NUMBER_MIN:
        return ret_int(call, a < b ? ua : ub);
    case TAPER_NUMBER_MAX:
        return ret_int(call, a > b ? ua : ub);
    case TAPER_NUMBER_AND:
        return ret_int(call, ua & ub);
    case TAPER_NUMBER_OR:
        return ret_int(call, ua | ub);
    case TAPER_NUMBER_XOR:
        return ret_int(call, ua ^ ub);
    case TAPER_NUMBER_LSHIFT: // a shift count outside 0 to 63 is taken modulo 64, as by x86's instruction
        return ret_int(call, ua << (ub & 63));
    case TAPER_NUMBER_RSHIFT:
        return ret_int(call, a < 0 ? ~(~ua >> (ub & 63)) : ua >> (ub & 63));
    case TAPER_NUMBER_GCD: {
        uint64_t x = magnitude(a), y = magnitude(b);
        while (y != 0) {
            const uint64_t r = x % y;
            x = y;
            y = r;
        }
        return ret_int(call, x);
    }
    case TAPER_NUMBER_DIV:
        return ret_double(call, fa / fb);
    case TAPER_NUMBER_POW:
    case TAPER_NUMBER_POW_SCALAR:
        return ret_pow(call, code, fa, fb);
    case TAPER_NUMBER_FMOD:
        return ret_double(call, fmod(fa, fb));
    case TAPER_NUMBER_MATHREMAINDER:
        return ret_double(call, remainder(fa, fb));
    case TAPER_NUMBER_COPYSIGN:
        return ret_double(call, copysign(fa, fb));
    case TAPER_NUMBER_ATAN2:
        return ret_double(call, atan2(fa, fb));
    case TAPER_NUMBER_LOG:
        return ret_double(call, log(fa) / log(fb));
    default:
        return taper_ret_complex(call, 0, (taper_pair){fa * cos(fb), fa * sin(fb)});
    }
}

static taper_status doubles(taper_call *call, unsigned code, double a, double b)
{
    switch (code) {
    case TAPER_NUMBER_ADD:
        return ret_double(call, a + b);
    case TAPER_NUMBER_SUB:
        return ret_double(call, a - b);
    case TAPER_NUMBER_MUL:
        return ret_double(call, a * b);
    case TAPER_NUMBER_DIV:
        return ret_double(call, a / b);
    case TAPER_NUMBER_FLOORDIV:
        return ret_double(call, floor(a / b));
    case TAPER_NUMBER_REMAINDER:
        return ret_double(call, float_mod(a, b));
    case TAPER_NUMBER_MATHREMAINDER:
        return ret_double(call, remainder(a, b));
    case TAPER_NUMBER_FMOD:
        return ret_double(call, fmod(a, b));
    case TAPER_NUMBER_POW:
    case TAPER_NUMBER_POW_SCALAR:
        return ret_pow(call, code, a, b);
    case TAPER_NUMBER_COPYSIGN:
        return ret_double(call, copysign(a, b));
    case TAPER_NUMBER_ATAN2:
        return ret_double(call, atan2(a, b));
    case TAPER_NUMBER_LOG:
        return ret_double(call, log(a) / log(b));
    case TAPER_NUMBER_MIN:
        return ret_double(call, a < b ? a : b);
    case TAPER_NUMBER_MAX:
        return ret_double(call, a > b ? a : b);
    case TAPER_NUMBER_POLAR:
        return taper_ret_complex(call, 0, (taper_pair){a * cos(b), a * sin(b)});
    default:
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "the arguments must be ints, not float");
    }
}

// Returns the logarithm of a number. A real operand has no imaginary part. If it had an imaginary part of 0, infinities
// would give NaN.
static taper_pair number_log(const taper_scalar *a, taper_pair z)
{
    return a->kind == TAPER_SCALAR_COMPLEX ? taper_pair_math(TAPER_MATH_LOG, z) : (taper_pair){log(a->f), 0};
}

static taper_pair divide(taper_pair a, taper_pair b, bool real_divisor)
{
    return real_divisor ? (taper_pair){a.re / b.re, a.im / b.re} : taper_pair_div(a, b);
}

static taper_status complexes(taper_call *call, unsigned code, const taper_scalar *x, const taper_scalar *y)
{
    const bool real_x = x->kind != TAPER_SCALAR_COMPLEX, real_y = y->kind != TAPER_SCALAR_COMPLEX;
    const taper_pair a = {x->f, real_x ? 0 : x->im}, b = {y->f, real_y ? 0 : y->im};
    taper_pair result;
    switch (code) {
    case TAPER_NUMBER_ADD:
        result = (taper_pair){a.re + b.re, real_x ? b.im : real_y ? a.im : a.im + b.im};
        break;
    case TAPER_NUMBER_SUB:
        result = (taper_pair){a.re - b.re, real_x ? -b.im : real_y ? a.im : a.im - b.im};
        break;
    case TAPER_NUMBER_MUL:
        result = real_x   ? (taper_pair){a.re * b.re, a.re * b.im}
                 : real_y ? (taper_pair){a.re * b.re, a.im * b.re}
                          : taper_pair_mul(a, b);
        break;
    case TAPER_NUMBER_DIV:
        result = divide(a, b, real_y);
        break;
    case TAPER_NUMBER_POW:
        result = taper_pair_pow(a, b);
        break;
    case TAPER_NUMBER_LOG:
        result = divide(number_log(x, a), number_log(y, b), real_y);
        break;
    default:
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "not defined for complex numbers");
    }
    return taper_ret_complex(call, 0, result);
}

static bool int_like(const taper_scalar *n)
{
    return n->kind == TAPER_SCALAR_INT || n->kind == TAPER_SCALAR_BOOL;
}

TAPER_KERNEL(taper_op_number_binary)
{
    const unsigned code = taper_call_code(call);
    if (call->arg_count >= 2 && call->args[0].tag == TAPER_INT && call->args[1].tag == TAPER_INT) {
        return ints(call, code, call->args[0].as.i, call->args[1].as.i);
    }
    taper_scalar a, b;
    TAPER_TRY(taper_arg_scalar(call, 0, &a));
    TAPER_TRY(taper_arg_scalar(call, 1, &b));
    if (a.kind == TAPER_SCALAR_COMPLEX || b.kind == TAPER_SCALAR_COMPLEX) {
        return complexes(call, code, &a, &b);
    }
    if (int_like(&a) && int_like(&b)) {
        const bool bits = code == TAPER_NUMBER_AND || code == TAPER_NUMBER_OR || code == TAPER_NUMBER_XOR;
        if (bits && a.kind == TAPER_SCALAR_BOOL && b.kind == TAPER_SCALAR_BOOL) {
            const bool x = a.i != 0, y = b.i != 0;
            taper_ret(call, 0,
                      taper_val_bool(code == TAPER_NUMBER_AND  ? x && y
                                     : code == TAPER_NUMBER_OR ? x || y
                                                               : x != y));
            return TAPER_OK;
        }
        return ints(call, code, a.i, b.i);
    }
    return doubles(call, code, a.f, b.f);
}

TAPER_KERNEL(taper_op_number_divmod)
{
    taper_scalar a, b;
    TAPER_TRY(taper_arg_scalar(call, 0, &a));
    TAPER_TRY(taper_arg_scalar(call, 1, &b));
    if (a.kind == TAPER_SCALAR_COMPLEX || b.kind == TAPER_SCALAR_COMPLEX) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "not defined for complex numbers");
    }
    if (int_like(&a) && int_like(&b)) {
        if (b.i == 0) {
            return taper_fail(call->run->error, TAPER_ERROR_RAISED,
                              "ZeroDivisionError: integer division or modulo by zero");
        }
        taper_ret(call, 0, taper_val_int(floor_div(a.i, b.i)));
        taper_ret(call, 1, taper_val_int(floor_mod(a.i, b.i)));
        return TAPER_OK;
    }
    if (b.f == 0) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED, "ZeroDivisionError: float divmod()");
    }
    double rest = fmod(a.f, b.f);
    if (rest != 0 && (rest < 0) != (b.f < 0)) {
        rest += b.f;
    }
    taper_ret(call, 0, taper_val_double((a.f - rest) / b.f));
    taper_ret(call, 1, taper_val_double(rest));
    return TAPER_OK;
}

// Returns true if the comparison holds. order is negative, 0 or positive. If `unordered` is set, an operand is NaN, so
// only NE holds.
static bool holds(unsigned code, int order, bool unordered)
{
    switch (code) {
    case TAPER_COMPARE_EQ:
        return !unordered && order == 0;
    case TAPER_COMPARE_NE:
        return unordered || order != 0;
    case TAPER_COMPARE_LT:
        return !unordered && order < 0;
    case TAPER_COMPARE_GT:
        return !unordered && order > 0;
    case TAPER_COMPARE_LE:
        return !unordered && order <= 0;
    default:
        return !unordered && order >= 0;
    }
}

TAPER_KERNEL(taper_op_number_compare)
{
    const unsigned code = taper_call_code(call);
    taper_scalar a, b;
    TAPER_TRY(taper_arg_scalar(call, 0, &a));
    TAPER_TRY(taper_arg_scalar(call, 1, &b));
    bool result;
    if (a.kind == TAPER_SCALAR_COMPLEX || b.kind == TAPER_SCALAR_COMPLEX) {
        const double aim = a.kind == TAPER_SCALAR_COMPLEX ? a.im : 0, bim = b.kind == TAPER_SCALAR_COMPLEX ? b.im : 0;
        if (code > TAPER_COMPARE_NE) {
            return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "complex numbers have no order");
        }
        result = (a.f == b.f && aim == bim) == (code == TAPER_COMPARE_EQ);
    } else if (int_like(&a) && int_like(&b)) {
        result = holds(code, (a.i > b.i) - (a.i < b.i), false);
    } else {
        result = holds(code, (a.f > b.f) - (a.f < b.f), isnan(a.f) || isnan(b.f));
    }
    taper_ret(call, 0, taper_val_bool(result));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_string_compare)
{
    const taper_string *a, *b;
    TAPER_TRY(taper_arg_string(call, 0, &a));
    TAPER_TRY(taper_arg_string(call, 1, &b));
    int order = memcmp(a->data, b->data, taper_min_size(a->length, b->length));
    if (order == 0) {
        order = (a->length > b->length) - (a->length < b->length);
    }
    taper_ret(call, 0, taper_val_bool(holds(taper_call_code(call), order, false)));
    return TAPER_OK;
}

// Compares devices or enum values (eq and ne).
TAPER_KERNEL(taper_op_value_equal)
{
    if (call->arg_count < 2) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "expected two arguments");
    }
    const bool same = taper_val_same(call->args[0], call->args[1]);
    taper_ret(call, 0, taper_val_bool(same == (taper_call_code(call) == TAPER_COMPARE_EQ)));
    return TAPER_OK;
}

// Returns the number of iterations of range(low, high, step).
TAPER_KERNEL(taper_op_range_length)
{
    int64_t low, high, step;
    TAPER_TRY(taper_arg_int(call, 0, &low));
    TAPER_TRY(taper_arg_int(call, 1, &high));
    TAPER_TRY(taper_arg_int(call, 2, &step));
    if (step == 0) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED, "range() arg 3 must not be zero");
    }
    uint64_t length = 0;
    if (step > 0 && low < high) {
        length = 1 + ((uint64_t)high - 1 - (uint64_t)low) / (uint64_t)step;
    } else if (step < 0 && low > high) {
        length = 1 + ((uint64_t)low - 1 - (uint64_t)high) / magnitude(step);
    }
    return ret_int(call, length > INT64_MAX ? INT64_MAX : length);
}

TAPER_KERNEL(taper_op_derive_index)
{
    int64_t index, start, step;
    TAPER_TRY(taper_arg_int(call, 0, &index));
    TAPER_TRY(taper_arg_int(call, 1, &start));
    TAPER_TRY(taper_arg_int(call, 2, &step));
    return ret_int(call, (uint64_t)start + (uint64_t)index * (uint64_t)step);
}
