// SPDX-License-Identifier: BSD-2-Clause
// Tests quantized operations of the NNAPI emulation, whose integers can be calculated on paper. Also tests sizes that
// only a part of the model specifies.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nnapi_fixture.h"

#define F32 ANEURALNETWORKS_TENSOR_FLOAT32
#define Q8 ANEURALNETWORKS_TENSOR_QUANT8_ASYMM
#define I32 ANEURALNETWORKS_TENSOR_INT32

static void check_bytes(nnapi *n, compiled *c, const void *x, size_t size, const uint8_t *want, size_t count)
{
    uint8_t got[16];
    OK(run_once(n, c, x, size, got, count));
    for (size_t i = 0; i < count; i++) {
        if (got[i] != want[i]) {
            fail_msg("level %d: integer %zu is %d, not %d", n->level, i, got[i], want[i]);
        }
    }
    free_compiled(n, c);
}

// Runs an activation of x with sizes [1, 3], whose results have the given scale and zero point.
static void run_activation(nnapi *n, int32_t code, float in_scale, float scale, int32_t zero_point, const uint8_t *want)
{
    const uint8_t x[3] = {100, 101, 99};
    builder b = build(n);
    const uint32_t in = add_input(&b, Q8, in_scale, 100, SIZES(1, 3));
    add_operation(&b, code, 1, &in, add_result(&b, Q8, scale, zero_point, SIZES(1, 3)));
    compiled c = compile(&b);
    check_bytes(n, &c, x, sizeof x, want, 3);
}

static void run_arithmetic(nnapi *n, int32_t code, const uint8_t *want)
{
    const uint8_t x[2] = {10, 20}; // represents 5 and 10
    builder b = build(n);
    const uint32_t in = add_input(&b, Q8, 0.5f, 0, SIZES(2));
    const uint32_t inputs[3] = {in, in, add_int(&b, 0)};
    add_operation(&b, code, 3, inputs, add_result(&b, Q8, 1.0f, 3, SIZES(2)));
    compiled c = compile(&b);
    check_bytes(n, &c, x, sizeof x, want, 2);
}

void results_integers(nnapi *n)
{
    // The input scales are log 3 and half of it, so that logistic and tanh of one step are 3/4 and 1/2.
    run_activation(n, ANEURALNETWORKS_LOGISTIC, 1.0986123f, 1.0f / 256.0f, 0, (const uint8_t[]){128, 192, 64});
    run_arithmetic(n, ANEURALNETWORKS_ADD, (const uint8_t[]){13, 23});
    run_arithmetic(n, ANEURALNETWORKS_MUL, (const uint8_t[]){28, 103});
    // The product of (50, -25) and (25, -25) plus the bias 125 is 2000, which is 200 steps above the zero point 5.
    const uint8_t x[2] = {200, 50}, row[2] = {228, 28};
    builder b = build(n);
    uint32_t in = add_input(&b, Q8, 0.5f, 100, SIZES(1, 2));
    const uint32_t weight = add_constant(&b, Q8, 0.25f, 128, SIZES(1, 2), row, sizeof row);
    const uint32_t bias = add_constant(&b, I32, 0.125f, 0, SIZES(1), (const int32_t[]){1000}, 4);
    OPERATION(&b, FULLY_CONNECTED, add_result(&b, Q8, 10.0f, 5, SIZES(1, 1)), in, weight, bias, add_int(&b, 0));
    compiled c = compile(&b);
    check_bytes(n, &c, x, sizeof x, (const uint8_t[]){205}, 1);
    // With RELU6 the result is clamped to 6, which is less than one step.
    b = build(n);
    in = add_input(&b, Q8, 0.5f, 100, SIZES(1, 2));
    const uint32_t same = add_constant(&b, Q8, 0.25f, 128, SIZES(1, 2), row, sizeof row);
    const uint32_t shift = add_constant(&b, I32, 0.125f, 0, SIZES(1), (const int32_t[]){1000}, 4);
    OPERATION(&b, FULLY_CONNECTED, add_result(&b, Q8, 2.0f, 5, SIZES(1, 1)), in, same, shift,
              add_int(&b, ANEURALNETWORKS_FUSED_RELU6));
    c = compile(&b);
    check_bytes(n, &c, x, sizeof x, (const uint8_t[]){8}, 1);
    if (n->level >= 28) { // padding represents the number 0
        b = build(n);
        in = add_input(&b, Q8, 0.5f, 9, SIZES(2));
        const uint32_t pads = add_constant(&b, I32, 0.0f, 0, SIZES(1, 2), (const int32_t[]){1, 2}, 8);
        OPERATION(&b, PAD, add_result(&b, Q8, 0.5f, 9, SIZES(5)), in, pads);
        c = compile(&b);
        check_bytes(n, &c, x, sizeof x, (const uint8_t[]){9, 200, 50, 9, 9}, 5);
    }
    if (n->level >= 29) {
        run_activation(n, ANEURALNETWORKS_TANH, 0.5493061f, 1.0f / 128.0f, 128, (const uint8_t[]){128, 192, 64});
        const float reals[3] = {-1.0f, 0.26f, 3.0f};
        b = build(n);
        OPERATION(&b, QUANTIZE, add_result(&b, Q8, 0.5f, 1, SIZES(3)), add_input(&b, F32, 0.0f, 0, SIZES(3)));
        c = compile(&b);
        check_bytes(n, &c, reals, sizeof reals, (const uint8_t[]){0, 2, 7}, 3);
        b = build(n); // the input is 100 and 25 in steps of 0.5, the constant is 1 and 2 in steps of 1
        in = add_input(&b, Q8, 0.5f, 0, SIZES(2));
        const uint32_t other = add_constant(&b, Q8, 1.0f, 10, SIZES(2), (const uint8_t[]){11, 12}, 2);
        OPERATION(&b, CONCATENATION, add_result(&b, Q8, 1.0f, 0, SIZES(4)), in, other, add_int(&b, 0));
        c = compile(&b);
        check_bytes(n, &c, x, sizeof x, (const uint8_t[]){100, 25, 1, 2}, 4);
    }
    // The model leaves the first size of the result open, although it can be inferred.
    const float y[3] = {-1.0f, 0.0f, 2.0f};
    float got[3];
    if (n->level >= 29) {
        b = build(n);
        in = add_input(&b, F32, 0.0f, 0, SIZES(1, 3));
        const uint32_t open = add_operand(&b, F32, 0.0f, 0, SIZES(0, 3));
        OPERATION(&b, RELU, open, in);
        OPERATION(&b, RELU6, add_result(&b, F32, 0.0f, 0, SIZES(0, 3)), open);
        c = compile(&b);
        OK(run_once(n, &c, y, sizeof y, got, sizeof got));
        assert_true(got[0] == 0.0f && got[1] == 0.0f && got[2] == 2.0f);
        free_compiled(n, &c);
    }
}
