// SPDX-License-Identifier: BSD-2-Clause
// Tests results of the NNAPI emulation. The expected results can be calculated on paper.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nnapi_fixture.h"

#define F32 ANEURALNETWORKS_TENSOR_FLOAT32
#define Q8 ANEURALNETWORKS_TENSOR_QUANT8_ASYMM
#define S8 ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED
#define I32 ANEURALNETWORKS_TENSOR_INT32

static void check_floats(const float *got, const float *want, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!(fabsf(got[i] - want[i]) <= 1e-5f + 1e-5f * fabsf(want[i]))) {
            fail_msg("element %zu is %g, not %g", i, (double)got[i], (double)want[i]);
        }
    }
}

// The input is an image whose elements are all 1. The results are the sums of all 3 by 3 windows, the maxima of 2 by 2
// blocks, and a matrix product with two rows that select the first and the last maximum.
void results_float(nnapi *n)
{
    float ones[16], got[2];
    for (size_t i = 0; i < 16; i++) {
        ones[i] = 1.0f;
    }
    const float rows[8] = {1.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 1.0f}, zero = 0.0f, biases[2] = {0.0f, logf(3.0f)};
    builder b = build(n);
    const uint32_t x = add_input(&b, F32, 0.0f, 0, SIZES(1, 4, 4, 1));
    const uint32_t weight = add_constant(&b, F32, 0.0f, 0, SIZES(1, 3, 3, 1), ones, 9 * sizeof(float));
    const uint32_t bias = add_constant(&b, F32, 0.0f, 0, SIZES(1), &zero, sizeof zero);
    const uint32_t one = add_int(&b, 1), two = add_int(&b, 2), none = add_int(&b, 0);
    const uint32_t summed = add_operand(&b, F32, 0.0f, 0, SIZES(1, 4, 4, 1));
    OPERATION(&b, CONV_2D, summed, x, weight, bias, one, one, one, one); // with padding scheme SAME and fuse code RELU
    const uint32_t pooled = add_operand(&b, F32, 0.0f, 0, SIZES(1, 2, 2, 1));
    OPERATION(&b, MAX_POOL_2D, pooled, summed, none, none, none, none, two, two, two, two, none);
    const uint32_t flat = add_operand(&b, F32, 0.0f, 0, SIZES(1, 4));
    OPERATION(&b, RESHAPE, flat, pooled, add_ints(&b, 2, (const int32_t[]){1, -1}));
    const uint32_t matrix = add_constant(&b, F32, 0.0f, 0, SIZES(2, 4), rows, sizeof rows);
    const uint32_t shifts = add_constant(&b, F32, 0.0f, 0, SIZES(2), biases, sizeof biases);
    const uint32_t scores = add_operand(&b, F32, 0.0f, 0, SIZES(1, 2));
    OPERATION(&b, FULLY_CONNECTED, scores, flat, matrix, shifts, none);
    OPERATION(&b, SOFTMAX, add_result(&b, F32, 0.0f, 0, SIZES(1, 2)), scores, add_float(&b, 1.0f));
    compiled c = compile(&b);
    OK(run_once(n, &c, ones, sizeof ones, got, sizeof got));
    check_floats(got, (const float[]){0.25f, 0.75f}, 2);
    free_compiled(n, &c);
}

// Computes sums of windows on 8-bit integers, with results in steps of 0.3. The sums 4 6 6 9 of a corner are 13 20 20
// 30 steps, and their mean is 21. A second channel has 0.5 more: 15 22 22 32 steps, with the mean 23.
static void run_sums(nnapi *n, int32_t type, bool channels)
{
    const bool is_signed = type == S8;
    const int32_t shift = is_signed ? 128 : 0;
    uint8_t image[16], weights[18];
    float got[8];
    const int32_t outputs = channels ? 2 : 1, biases[2] = {0, 4};
    memset(image, 12 - shift, sizeof image);        // each byte represents (12 - 10) * 0.5 = 1
    memset(weights, channels ? 2 : 102 - shift, 9); // each weight represents 2 * 0.5 = 1
    memset(weights + 9, 4, 9);                      // weights of 4 * 0.25 = 1, and of 4 * 0.125 = 0.5
    builder b = build(n);
    const uint32_t x = add_input(&b, type, 0.5f, 10 - shift, SIZES(1, 4, 4, 1));
    uint32_t weight;
    if (channels) {
        const float scales[2] = {0.5f, 0.25f};
        weight =
            add_constant(&b, ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, 0.0f, 0, SIZES(2, 3, 3, 1), weights, 18);
        const ANeuralNetworksSymmPerChannelQuantParams params = {0, 2, scales};
        OK(n->Model_setOperandSymmPerChannelQuantParams(b.model, (int32_t)weight, &params));
    } else {
        weight = add_constant(&b, type, 0.5f, 100 - shift, SIZES(1, 3, 3, 1), weights, 9);
    }
    const uint32_t bias =
        add_constant(&b, I32, channels ? 0.0f : 0.25f, 0, SIZES(outputs), biases, (size_t)outputs * sizeof biases[0]);
    const uint32_t one = add_int(&b, 1), two = add_int(&b, 2), none = add_int(&b, 0);
    // Below API level 29 the scale of the result must be larger than the product of the input's and the weight's scale.
    const float scale = 0.3f;
    const uint32_t summed = add_operand(&b, type, scale, 3 - shift, SIZES(1, 4, 4, outputs));
    OPERATION(&b, CONV_2D, summed, x, weight, bias, one, one, one, one, one, one, none);
    const uint32_t pooled = add_operand(&b, type, scale, 3 - shift, SIZES(1, 2, 2, outputs));
    OPERATION(&b, AVERAGE_POOL_2D, pooled, summed, two, two, two, two, two, none);
    OPERATION(&b, DEQUANTIZE, add_result(&b, F32, 0.0f, 0, SIZES(1, 2, 2, outputs)), pooled);
    compiled c = compile(&b);
    OK(run_once(n, &c, image, sizeof image, got, 4 * (size_t)outputs * sizeof *got));
    for (int32_t i = 0; i < 4 * outputs; i++) {
        check_floats(&got[i], &(const float){channels && i % 2 == 1 ? 6.9f : 6.3f}, 1);
    }
    free_compiled(n, &c);
}

void results_quantized(nnapi *n)
{
    run_sums(n, Q8, false);
    if (n->level >= 29) {
        run_sums(n, Q8, true);
    }
    if (n->level >= 30) {
        run_sums(n, S8, false);
        run_sums(n, S8, true);
    }
}

// ---- single operations

// Each letter of `kinds` is an argument after the input: i is a list of ints, p a [n, 2] list, I an int, F a float, B a
// bool, x floats of the input's sizes.
typedef struct one_case {
    int level;
    const char *name;
    int32_t code;
    const int32_t *in;
    const float *x;
    const char *kinds;
    const float *arguments; // numbers of the arguments; a list is preceded by its length
    const int32_t *out;
    const float *want;
} one_case;

#define NUMBERS(...) ((const float[]){__VA_ARGS__})
#define CASE(level, code, in, x, kinds, arguments, out, want)                                                          \
    {                                                                                                                  \
        level, #code, ANEURALNETWORKS_##code, in, x, kinds, arguments, out, want                                       \
    }

static size_t count_of(const int32_t *sizes)
{
    size_t count = 1;
    for (; *sizes >= 0; sizes++) {
        count *= (size_t)*sizes;
    }
    return count;
}

static void run_case(nnapi *n, const one_case *one)
{
    uint32_t inputs[16], count = 1;
    builder b = build(n);
    inputs[0] = add_input(&b, F32, 0.0f, 0, one->in);
    const float *at = one->arguments;
    for (const char *kind = one->kinds; *kind != '\0'; kind++) {
        int32_t list[16];
        if (*kind == 'i' || *kind == 'p') {
            const int32_t length = (int32_t)*at++;
            for (int32_t i = 0; i < length; i++) {
                list[i] = (int32_t)*at++;
            }
            inputs[count++] = *kind == 'i' ? add_ints(&b, length, list)
                                           : add_constant(&b, I32, 0.0f, 0, SIZES(length / 2, 2), list,
                                                          (size_t)length * sizeof list[0]);
        } else if (*kind == 'x') {
            inputs[count++] = add_constant(&b, F32, 0.0f, 0, one->in, at, count_of(one->in) * sizeof *at);
            at += count_of(one->in);
        } else {
            const float value = *at++;
            inputs[count++] = *kind == 'I'   ? add_int(&b, (int32_t)value)
                              : *kind == 'F' ? add_float(&b, value)
                                             : add_bool(&b, value != 0.0f);
        }
    }
    add_operation(&b, one->code, count, inputs, add_result(&b, F32, 0.0f, 0, one->out));
    compiled c = compile(&b);
    float got[64];
    const int code = run_once(n, &c, one->x, count_of(one->in) * sizeof *one->x, got, count_of(one->out) * sizeof *got);
    if (code != ANEURALNETWORKS_NO_ERROR) {
        fail_msg("%s gave %d: %s", one->name, code, nnapi_log());
    }
    check_floats(got, one->want, count_of(one->out));
    free_compiled(n, &c);
}

void results_operations(nnapi *n)
{
    const float *six = NUMBERS(1, 2, 3, 4, 5, 6), *four = NUMBERS(-2, -0.5f, 0.5f, 8), *none = NUMBERS(0);
    const one_case cases[] = {
        CASE(27, ADD, SIZES(2, 3), six, "xI", NUMBERS(1, 1, 1, 2, 2, 2, 0), SIZES(2, 3), NUMBERS(2, 3, 4, 6, 7, 8)),
        CASE(27, ADD, SIZES(4), four, "xI", NUMBERS(1, 1, 1, 1, 3), SIZES(4), NUMBERS(0, 0.5f, 1.5f, 6)),
        CASE(27, MUL, SIZES(4), four, "xI", NUMBERS(2, 2, 2, 2, 2), SIZES(4), NUMBERS(-1, -1, 1, 1)),
        CASE(28, SUB, SIZES(4), four, "xI", NUMBERS(1, 1, 1, 1, 1), SIZES(4), NUMBERS(0, 0, 0, 7)),
        CASE(28, DIV, SIZES(4), four, "xI", NUMBERS(2, 2, 2, 2, 0), SIZES(4), NUMBERS(-1, -0.25f, 0.25f, 4)),
        CASE(29, MAXIMUM, SIZES(4), four, "x", NUMBERS(0, 0, 0, 9), SIZES(4), NUMBERS(0, 0, 0.5f, 9)),
        CASE(29, MINIMUM, SIZES(4), four, "x", NUMBERS(0, 0, 0, 9), SIZES(4), NUMBERS(-2, -0.5f, 0, 8)),
        CASE(29, PRELU, SIZES(4), four, "x", NUMBERS(2, 3, 4, 5), SIZES(4), NUMBERS(-4, -1.5f, 0.5f, 8)),
        CASE(27, RELU, SIZES(4), four, "", none, SIZES(4), NUMBERS(0, 0, 0.5f, 8)),
        CASE(27, RELU1, SIZES(4), four, "", none, SIZES(4), NUMBERS(-1, -0.5f, 0.5f, 1)),
        CASE(27, RELU6, SIZES(4), four, "", none, SIZES(4), NUMBERS(0, 0, 0.5f, 6)),
        CASE(27, LOGISTIC, SIZES(2), NUMBERS(0, 1.0986123f), "", none, SIZES(2), NUMBERS(0.5f, 0.75f)),
        CASE(27, TANH, SIZES(2), NUMBERS(0, 0.5493061f), "", none, SIZES(2), NUMBERS(0, 0.5f)),
        CASE(29, ABS, SIZES(4), four, "", none, SIZES(4), NUMBERS(2, 0.5f, 0.5f, 8)),
        CASE(29, NEG, SIZES(4), four, "", none, SIZES(4), NUMBERS(2, 0.5f, -0.5f, -8)),
        CASE(29, EXP, SIZES(2), NUMBERS(0, 0.6931472f), "", none, SIZES(2), NUMBERS(1, 2)),
        CASE(29, SQRT, SIZES(2), NUMBERS(9, 0.25f), "", none, SIZES(2), NUMBERS(3, 0.5f)),
        CASE(29, RSQRT, SIZES(2), NUMBERS(4, 0.25f), "", none, SIZES(2), NUMBERS(0.5f, 2)),
        CASE(29, LOG, SIZES(2), NUMBERS(1, 2), "", none, SIZES(2), NUMBERS(0, 0.6931472f)),
        CASE(27, FLOOR, SIZES(4), four, "", none, SIZES(4), NUMBERS(-2, -1, 0, 8)),
        CASE(29, POW, SIZES(4), four, "x", NUMBERS(2, 0, 2, -1), SIZES(4), NUMBERS(4, 1, 0.25f, 0.125f)),
        CASE(29, REDUCE_SUM, SIZES(2, 3), six, "iB", NUMBERS(1, -1, 0), SIZES(2), NUMBERS(6, 15)),
        CASE(29, REDUCE_MAX, SIZES(2, 3), six, "iB", NUMBERS(1, 0, 1), SIZES(1, 3), NUMBERS(4, 5, 6)),
        CASE(29, REDUCE_MIN, SIZES(2, 3), six, "iB", NUMBERS(2, 0, 1, 0), SIZES(1), NUMBERS(1)),
        CASE(27, DEPTH_TO_SPACE, SIZES(1, 1, 1, 8), NUMBERS(1, 2, 3, 4, 5, 6, 7, 8), "I", NUMBERS(2), SIZES(1, 2, 2, 2),
             NUMBERS(1, 2, 3, 4, 5, 6, 7, 8)),
        CASE(29, DEPTH_TO_SPACE, SIZES(1, 4, 1, 2), NUMBERS(1, 2, 3, 4, 5, 6, 7, 8), "IB", NUMBERS(2, 1),
             SIZES(1, 1, 2, 4), NUMBERS(1, 3, 2, 4, 5, 7, 6, 8)),
        CASE(29, CHANNEL_SHUFFLE, SIZES(1, 6), six, "II", NUMBERS(2, -1), SIZES(1, 6), NUMBERS(1, 4, 2, 5, 3, 6)),
        CASE(30, HARD_SWISH, SIZES(4), NUMBERS(-4, 0, 1, 5), "", none, SIZES(4), NUMBERS(0, 0, 0.6666667f, 5)),
        CASE(27, SOFTMAX, SIZES(1, 2), NUMBERS(0, 1.0986123f), "F", NUMBERS(1), SIZES(1, 2), NUMBERS(0.25f, 0.75f)),
        CASE(29, SOFTMAX, SIZES(2, 1), NUMBERS(0, 0.5493061f), "FI", NUMBERS(2, 0), SIZES(2, 1), NUMBERS(0.25f, 0.75f)),
        CASE(29, LOG_SOFTMAX, SIZES(1, 2), NUMBERS(0, 0), "FI", NUMBERS(1, -1), SIZES(1, 2),
             NUMBERS(-0.6931472f, -0.6931472f)),
        CASE(28, MEAN, SIZES(2, 3), six, "iI", NUMBERS(1, -1, 0), SIZES(2), NUMBERS(2, 5)),
        CASE(28, MEAN, SIZES(2, 3), six, "iI", NUMBERS(1, 0, 1), SIZES(1, 3), NUMBERS(2.5f, 3.5f, 4.5f)),
        CASE(27, RESHAPE, SIZES(2, 3), six, "i", NUMBERS(2, 3, -1), SIZES(3, 2), six),
        CASE(28, SQUEEZE, SIZES(1, 6, 1), six, "i", NUMBERS(1, 0), SIZES(6, 1), six),
        CASE(29, EXPAND_DIMS, SIZES(6), six, "I", NUMBERS(-1), SIZES(6, 1), six),
        CASE(28, TRANSPOSE, SIZES(2, 3), six, "i", NUMBERS(2, 1, 0), SIZES(3, 2), NUMBERS(1, 4, 2, 5, 3, 6)),
        CASE(29, SLICE, SIZES(2, 3), six, "ii", NUMBERS(2, 0, 1, 2, 2, -1), SIZES(2, 2), NUMBERS(2, 3, 5, 6)),
        CASE(28, STRIDED_SLICE, SIZES(2, 3), six, "iiiIII", NUMBERS(2, 1, 2, 2, 0, -4, 2, 1, -2, 2, 0, 1), SIZES(2),
             NUMBERS(6, 4)),
        CASE(28, PAD, SIZES(1, 2), NUMBERS(7, 8), "p", NUMBERS(4, 0, 1, 1, 0), SIZES(2, 3), NUMBERS(0, 7, 8, 0, 0, 0)),
        CASE(29, PAD_V2, SIZES(1, 2), NUMBERS(7, 8), "pF", NUMBERS(4, 0, 1, 1, 0, 5), SIZES(2, 3),
             NUMBERS(5, 7, 8, 5, 5, 5)),
        CASE(27, CONCATENATION, SIZES(2, 1), NUMBERS(1, 2), "xI", NUMBERS(3, 4, 1), SIZES(2, 2), NUMBERS(1, 3, 2, 4)),
        CASE(27, AVERAGE_POOL_2D, SIZES(1, 2, 2, 1), NUMBERS(1, 2, 3, 6), "IIIIII", NUMBERS(1, 2, 2, 3, 3, 0),
             SIZES(1, 1, 1, 1), NUMBERS(3)), // the average does not count padding
        CASE(29, MAX_POOL_2D, SIZES(1, 1, 2, 2), NUMBERS(1, 2, 3, 6), "IIIIIIIIIB",
             NUMBERS(1, 0, 0, 0, 1, 1, 2, 1, 0, 1), SIZES(1, 1, 2, 2), NUMBERS(1, 2, 3, 6)),
        CASE(27, RESIZE_BILINEAR, SIZES(1, 1, 2, 1), NUMBERS(0, 4), "II", NUMBERS(4, 1), SIZES(1, 1, 4, 1),
             NUMBERS(0, 2, 4, 4)),
        CASE(30, RESIZE_BILINEAR, SIZES(1, 1, 2, 1), NUMBERS(0, 4), "IIBBB", NUMBERS(4, 1, 0, 0, 1), SIZES(1, 1, 4, 1),
             NUMBERS(0, 1, 3, 4)),
        CASE(29, RESIZE_NEAREST_NEIGHBOR, SIZES(1, 1, 1, 2), NUMBERS(1, 4), "FFB", NUMBERS(2, 1, 1), SIZES(1, 1, 1, 4),
             NUMBERS(1, 1, 4, 4)),
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (n->level >= cases[i].level) {
            run_case(n, &cases[i]);
        }
    }
}

// ---- other kinds of convolutions, in floats: [1, 2, 2, 2] images with two channels

static void run_layer(nnapi *n, int32_t code, const int32_t *in, const float *x, const int32_t *weight_sizes,
                      const float *weight, int32_t outputs, uint32_t count, const int32_t *ints, bool nchw,
                      const int32_t *out, const float *want)
{
    const float zeros[4] = {0};
    float got[32];
    uint32_t inputs[16], made = 0;
    builder b = build(n);
    inputs[made++] = add_input(&b, F32, 0.0f, 0, in);
    inputs[made++] = add_constant(&b, F32, 0.0f, 0, weight_sizes, weight, count_of(weight_sizes) * sizeof *weight);
    inputs[made++] = add_constant(&b, F32, 0.0f, 0, SIZES(outputs), zeros, (size_t)outputs * sizeof zeros[0]);
    for (uint32_t i = 0; i < count; i++) {
        inputs[made++] = add_int(&b, ints[i]);
    }
    if (n->level >= 29) {
        inputs[made++] = add_bool(&b, nchw);
    }
    add_operation(&b, code, made, inputs, add_result(&b, F32, 0.0f, 0, out));
    compiled c = compile(&b);
    OK(run_once(n, &c, x, count_of(in) * sizeof *x, got, count_of(out) * sizeof *got));
    check_floats(got, want, count_of(out));
    free_compiled(n, &c);
}

static void results_layers(nnapi *n)
{
    const float *image = NUMBERS(1, 10, 2, 20, 3, 30, 4, 40); // [2, 2, 2]: the multiples of ten are the second channel
    const float *planes = NUMBERS(1, 2, 3, 4, 10, 20, 30, 40);
    // Depthwise convolution with multiplier 2: the channels are multiplied by 1, 2 and 3, 4; the window has one
    // element.
    run_layer(n, ANEURALNETWORKS_DEPTHWISE_CONV_2D, SIZES(1, 2, 2, 2), image, SIZES(1, 1, 1, 4), NUMBERS(1, 2, 3, 4), 4,
              5, (const int32_t[]){2, 2, 2, 2, 0}, false, SIZES(1, 1, 1, 4), NUMBERS(1, 2, 30, 40));
    if (n->level < 29) {
        return;
    }
    run_layer(n, ANEURALNETWORKS_CONV_2D, SIZES(1, 2, 2, 2), planes, SIZES(1, 2, 2, 2), NUMBERS(1, 0, 0, 1, 0, 0, 1, 1),
              // The expected result is the sum 1 + 20 + 4 + 40.
              1, 7, (const int32_t[]){0, 0, 0, 0, 1, 1, 0}, true, SIZES(1, 1, 1, 1), NUMBERS(65));
    run_layer(n, ANEURALNETWORKS_GROUPED_CONV_2D, SIZES(1, 2, 2, 2), planes, SIZES(2, 1, 1, 1), NUMBERS(2, 3), 2, 8,
              (const int32_t[]){0, 0, 0, 0, 2, 2, 2, 0}, true, SIZES(1, 2, 1, 1), NUMBERS(2, 30));
    run_layer(n, ANEURALNETWORKS_TRANSPOSE_CONV_2D, SIZES(1, 1, 2, 1), NUMBERS(1, 2), SIZES(1, 1, 3, 1),
              NUMBERS(1, 10, 100), 1, 7, (const int32_t[]){0, 0, 0, 0, 2, 1, 0}, false, SIZES(1, 1, 5, 1),
              NUMBERS(1, 10, 102, 20, 200));
}

// ---- sizes known only to the run

void results_sizes(nnapi *n)
{
    results_layers(n);
    const float x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {10, 20, 30, 40, 50, 60};
    float got[6] = {0};
    const uint32_t sizes[2] = {2, 3};
    const ANeuralNetworksOperandType type = {F32, 2, sizes, 0.0f, 0};
    ANeuralNetworksExecution *execution;
    compiled c = compile_add(n, 0);
    OK(n->Execution_create(c.compilation, &execution));
    OK(n->Execution_setInput(execution, 0, &type, x, sizeof x));
    OK(n->Execution_setInput(execution, 1, &type, y, sizeof y));
    OK(n->Execution_setOutput(execution, 0, n->level < 29 ? &type : NULL, got, sizeof got));
    OK(run_execution(n, execution));
    check_floats(got, NUMBERS(11, 22, 33, 44, 55, 66), 6);
    uint32_t rank = 0, dimensions[2] = {0};
    if (n->level >= 29) {
        OK(n->Execution_getOutputOperandRank(execution, 0, &rank));
        OK(n->Execution_getOutputOperandDimensions(execution, 0, dimensions));
        assert_int_equal(rank, 2);
        assert_memory_equal(dimensions, sizes, sizeof sizes);
    }
    n->Execution_free(execution);
    if (n->level >= 29) { // the buffer is too small, but the sizes are available afterwards
        OK(n->Execution_create(c.compilation, &execution));
        OK(n->Execution_setInput(execution, 0, &type, x, sizeof x));
        OK(n->Execution_setInput(execution, 1, &type, y, sizeof y));
        OK(n->Execution_setOutput(execution, 0, NULL, got, 4));
        assert_int_equal(n->Execution_compute(execution), ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE);
        assert_int_equal(n->Execution_getOutputOperandDimensions(execution, 0, dimensions),
                         ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE);
        assert_memory_equal(dimensions, sizes, sizeof sizes);
        n->Execution_free(execution);
    }
    free_compiled(n, &c);
}

// ---- weights, inputs and outputs in memory of files and of descriptors

static int make_file(size_t size)
{
    char path[] = "/tmp/taper_nnapi_XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    return fd;
}

static void run_descriptors(nnapi *n, const float *x)
{
    compiled c = compile_add(n, 2);
    ANeuralNetworksMemoryDesc *desc;
    ANeuralNetworksMemory *hidden, *seen;
    ANeuralNetworksExecution *execution;
    const int fd = make_file(24);
    OK(n->MemoryDesc_create(&desc));
    OK(n->MemoryDesc_addOutputRole(desc, c.compilation, 0, 1.0f));
    OK(n->MemoryDesc_addInputRole(desc, c.compilation, 1, 0.5f));
    OK(n->MemoryDesc_finish(desc));
    OK(n->Memory_createFromDesc(desc, &hidden));
    n->MemoryDesc_free(desc);
    for (int turn = 0; turn < 2; turn++) { // computes x + x in the first turn, and x + (x + x) in the second turn
        OK(n->Execution_create(c.compilation, &execution));
        OK(n->Execution_setInput(execution, 0, NULL, x, 24));
        if (turn == 0) {
            OK(n->Execution_setInput(execution, 1, NULL, x, 24));
        } else {
            OK(n->Execution_setInputFromMemory(execution, 1, NULL, hidden, 0, 0));
        }
        OK(n->Execution_setOutputFromMemory(execution, 0, NULL, hidden, 0, 0));
        OK(n->Execution_compute(execution));
        n->Execution_free(execution);
    }
    OK(n->Memory_createFromFd(24, PROT_READ | PROT_WRITE, fd, 0, &seen));
    OK(n->Memory_copy(hidden, seen));
    float got[6];
    assert_int_equal(pread(fd, got, sizeof got, 0), sizeof got);
    for (size_t i = 0; i < 6; i++) {
        assert_true(got[i] == 3.0f * x[i]);
    }
    n->Memory_free(seen);
    n->Memory_free(hidden);
    close(fd);
    free_compiled(n, &c);
}

void results_memory(nnapi *n)
{
    const int fd = make_file(4096);
    const float x[6] = {1, 2, 3, 4, 5, 6};
    float got[6];
    ANeuralNetworksMemory *memory;
    ANeuralNetworksExecution *execution;
    assert_int_equal(pwrite(fd, x, sizeof x, 64), sizeof x);
    OK(n->Memory_createFromFd(4096, PROT_READ | PROT_WRITE, fd, 0, &memory));
    builder b = build(n);
    const uint32_t in = add_input(&b, F32, 0.0f, 0, SIZES(2, 3));
    const uint32_t constant = add_operand(&b, F32, 0.0f, 0, SIZES(2, 3));
    OK(n->Model_setOperandValueFromMemory(b.model, (int32_t)constant, memory, 64, sizeof x));
    OPERATION(&b, MUL, add_result(&b, F32, 0.0f, 0, SIZES(2, 3)), in, constant, add_int(&b, 0));
    compiled c = compile(&b);
    OK(n->Execution_create(c.compilation, &execution));
    OK(n->Execution_setInputFromMemory(execution, 0, NULL, memory, 64, sizeof x));
    OK(n->Execution_setOutputFromMemory(execution, 0, NULL, memory, 128, sizeof x));
    OK(run_execution(n, execution));
    n->Execution_free(execution);
    assert_int_equal(pread(fd, got, sizeof got, 128), sizeof got);
    check_floats(got, NUMBERS(1, 4, 9, 16, 25, 36), 6);
    free_compiled(n, &c);
    n->Memory_free(memory);
    close(fd);
    if (n->level >= 30) {
        run_descriptors(n, x);
    }
}
