// SPDX-License-Identifier: BSD-2-Clause
// Tests half and bfloat16: conversion of every half to float and back, and rounding to nearest even between neighbours.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/half.h"

static void every_half(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 0x10000; h++) {
        const float f = taper_f16_to_float((uint16_t)h);
        if ((h & 0x7c00) == 0x7c00 && (h & 0x3ff) != 0) {
            assert_true(isnan(f));
            assert_true((taper_float_to_f16(f) & 0x7fff) > 0x7c00);
            continue;
        }
        const int exponent = (int)(h >> 10 & 31), fraction = (int)(h & 0x3ff);
        const float wanted = exponent == 31  ? INFINITY
                             : exponent == 0 ? ldexpf((float)fraction, -24)
                                             : ldexpf((float)(fraction + 1024), exponent - 25);
        assert_true(fabsf(f) == wanted);
        assert_int_equal(taper_float_to_f16(f), h);
    }
}

static void half_rounding(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 0x7bff; h++) {
        const double low = (double)taper_f16_to_float((uint16_t)h),
                     high = (double)taper_f16_to_float((uint16_t)(h + 1));
        const float middle = (float)((low + high) / 2); // the mean of two neighbours is exact in float
        assert_int_equal(taper_float_to_f16(middle), (h & 1) == 0 ? h : h + 1);
        assert_int_equal(taper_float_to_f16(nextafterf(middle, 0)), h);
        assert_int_equal(taper_float_to_f16(nextafterf(middle, INFINITY)), h + 1);
        assert_int_equal(taper_float_to_f16(-middle), 0x8000 | ((h & 1) == 0 ? h : h + 1));
    }
    assert_int_equal(taper_float_to_f16(65519.996f), 0x7bff);
    assert_int_equal(taper_float_to_f16(65520.0f), 0x7c00);
    assert_int_equal(taper_float_to_f16(1e30f), 0x7c00);
    assert_int_equal(taper_float_to_f16(-INFINITY), 0xfc00);
    assert_int_equal(taper_float_to_f16(1e-30f), 0);
}

static void bfloat(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 0x7f80; h++) {
        assert_int_equal(taper_float_to_bf16(taper_bf16_to_float((uint16_t)h)), h);
        const float middle = taper_bits_to_float(h << 16 | 0x8000);
        assert_int_equal(taper_float_to_bf16(middle), (h & 1) == 0 ? h : h + 1);
        assert_int_equal(taper_float_to_bf16(taper_bits_to_float(h << 16 | 0x8001)), h + 1);
        assert_int_equal(taper_float_to_bf16(taper_bits_to_float(h << 16 | 0x7fff)), h);
    }
    assert_true(isnan(taper_bf16_to_float(taper_float_to_bf16(NAN))));
    assert_true(isnan(taper_bf16_to_float(taper_float_to_bf16(taper_bits_to_float(0x7f800001)))));
    assert_int_equal(taper_float_to_bf16(-INFINITY), 0xff80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_half), cmocka_unit_test(half_rounding),
                                       cmocka_unit_test(bfloat)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
