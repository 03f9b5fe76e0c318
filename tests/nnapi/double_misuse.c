// SPDX-License-Identifier: BSD-2-Clause
// Tests misuse of NNAPI while a model is built: each misuse must return the error that the API specifies and be logged.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "nnapi_fixture.h"

#define F32 ANEURALNETWORKS_TENSOR_FLOAT32
#define Q8 ANEURALNETWORKS_TENSOR_QUANT8_ASYMM
#define I32 ANEURALNETWORKS_TENSOR_INT32

// Adds an operand type that is invalid.
static void wrong_type(nnapi *n, ANeuralNetworksModel *model, int32_t type, uint32_t rank, float scale,
                       int32_t zero_point, const char *needle)
{
    const uint32_t sizes[16] = {2, 3, 1, 1};
    const ANeuralNetworksOperandType of = {type, rank, rank > 0 ? sizes : NULL, scale, zero_point};
    WRONG(BAD_DATA, needle, n->Model_addOperand(model, &of));
}

static void misuse_types(nnapi *n)
{
    const uint32_t sizes[2] = {2, 3}, huge[3] = {65536, 65536, 2};
    ANeuralNetworksOperandType of = {F32, 2, NULL, 0.0f, 0};
    builder b = build(n);
    WRONG(UNEXPECTED_NULL, "type is NULL", n->Model_addOperand(b.model, NULL));
    WRONG(UNEXPECTED_NULL, "model is NULL", n->Model_addOperand(NULL, &of));
    WRONG(BAD_DATA, "pointer", n->Model_addOperand(b.model, &of));
    of = (ANeuralNetworksOperandType){F32, 0, sizes, 0.0f, 0};
    WRONG(BAD_DATA, "pointer", n->Model_addOperand(b.model, &of));
    of = (ANeuralNetworksOperandType){F32, 3, huge, 0.0f, 0};
    WRONG(BAD_DATA, "4 GiB", n->Model_addOperand(b.model, &of));
    wrong_type(n, b.model, ANEURALNETWORKS_INT32, 1, 0.0f, 0, "scalar with 1 dimensions");
    wrong_type(n, b.model, -1, 0, 0.0f, 0, "operand type -1");
    wrong_type(n, b.model, 99, 0, 0.0f, 0, "operand type 99");
    wrong_type(n, b.model, F32, 2, 0.5f, 0, "scale 0.5");
    wrong_type(n, b.model, F32, 2, 0.0f, 1, "zero point 1");
    wrong_type(n, b.model, F32, 9, 0.0f, 0, "9 dimensions");
    wrong_type(n, b.model, Q8, 2, 0.0f, 0, "scale 0");
    wrong_type(n, b.model, Q8, 2, -1.0f, 0, "scale -1");
    wrong_type(n, b.model, Q8, 2, 1.0f, 256, "zero point 256");
    wrong_type(n, b.model, Q8, 2, 1.0f, -1, "zero point -1");
    wrong_type(n, b.model, I32, 1, -0.5f, 0, "scale -0.5");
    wrong_type(n, b.model, I32, 1, 0.5f, 3, "zero point 3");
    if (n->level < 29) {
        wrong_type(n, b.model, ANEURALNETWORKS_BOOL, 0, 0.0f, 0, "does not have");
        wrong_type(n, b.model, ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, 2, 0.0f, 0, "does not have");
    } else {
        wrong_type(n, b.model, ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, 2, 0.5f, 0, "scale 0.5");
        wrong_type(n, b.model, ANEURALNETWORKS_TENSOR_QUANT8_SYMM, 2, 0.5f, 1, "zero point 1");
    }
    if (n->level < 30) {
        wrong_type(n, b.model, ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, 2, 0.5f, 0, "does not have");
    } else {
        wrong_type(n, b.model, ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, 2, 0.5f, 128, "zero point 128");
    }
    n->Model_free(b.model);
}

static void misuse_values(nnapi *n)
{
    float *big = calloc(64, sizeof *big);
    const float small[6] = {0};
    assert_non_null(big);
    builder b = build(n);
    const int32_t x = (int32_t)add_input(&b, F32, 0.0f, 0, SIZES(2, 3));
    const int32_t open = (int32_t)add_operand(&b, F32, 0.0f, 0, SIZES(0, 3));
    const int32_t y = (int32_t)add_operand(&b, F32, 0.0f, 0, SIZES(2, 3));
    const int32_t fuse = (int32_t)add_int(&b, 0);
    const int32_t out = (int32_t)add_result(&b, F32, 0.0f, 0, SIZES(2, 3));
    WRONG(BAD_DATA, "operand -1", n->Model_setOperandValue(b.model, -1, small, 24));
    WRONG(BAD_DATA, "operand 5 of 5", n->Model_setOperandValue(b.model, 5, small, 24));
    WRONG(UNEXPECTED_NULL, "at NULL", n->Model_setOperandValue(b.model, y, NULL, 24));
    WRONG(BAD_DATA, "has 24 bytes, not 20", n->Model_setOperandValue(b.model, y, small, 20));
    WRONG(BAD_DATA, "unknown dimensions", n->Model_setOperandValue(b.model, open, small, 24));
    OK(n->Model_setOperandValue(b.model, y, small, 24));
    WRONG(BAD_DATA, "already", n->Model_setOperandValue(b.model, y, small, 24));
    WRONG(BAD_DATA, "used already", n->Model_setOperandValue(b.model, fuse, NULL, 0));
    OPERATION(&b, ADD, (uint32_t)out, (uint32_t)x, (uint32_t)y, (uint32_t)fuse);
    WRONG(BAD_DATA, "written by an operation", n->Model_setOperandValue(b.model, out, small, 24));
    identify(&b);
    WRONG(BAD_DATA, "an input of the model", n->Model_setOperandValue(b.model, x, small, 24));
    WRONG(BAD_DATA, "operand 1 has no value", n->Model_finish(b.model)); // although nothing reads operand 1
    WRONG(BAD_STATE, "invalid", n->Model_setOperandValue(b.model, open, NULL, 0));
    WRONG(BAD_STATE, "invalid", n->Model_finish(b.model));
    n->Model_free(b.model);
    // A long value is not copied, so it must not change before the last run.
    for (int stage = 0; stage < 3; stage++) {
        ANeuralNetworksCompilation *compilation = NULL;
        ANeuralNetworksExecution *execution = NULL;
        float got[64];
        b = build(n);
        const uint32_t in = add_input(&b, F32, 0.0f, 0, SIZES(64));
        const uint32_t constant = add_constant(&b, F32, 0.0f, 0, SIZES(64), big, 256);
        OPERATION(&b, ADD, add_result(&b, F32, 0.0f, 0, SIZES(64)), in, constant, add_int(&b, 0));
        identify(&b);
        if (stage == 0) {
            big[3] += 1.0f;
            WRONG(BAD_DATA, "were changed", n->Model_finish(b.model));
        } else {
            OK(n->Model_finish(b.model));
            OK(n->Compilation_create(b.model, &compilation));
            big[3] += stage == 1 ? 1.0f : 0.0f;
        }
        if (stage == 1) {
            WRONG(BAD_DATA, "were changed", n->Compilation_finish(compilation));
        } else if (stage == 2) {
            OK(n->Compilation_finish(compilation));
            OK(n->Execution_create(compilation, &execution));
            OK(n->Execution_setInput(execution, 0, NULL, big, 256));
            OK(n->Execution_setOutput(execution, 0, NULL, got, 256));
            big[3] += 1.0f;
            ANeuralNetworksEvent *event;
            WRONG(BAD_DATA, "were changed", n->Execution_startCompute(execution, &event));
        }
        n->Execution_free(execution);
        n->Compilation_free(compilation);
        n->Model_free(b.model);
    }
    free(big);
}

static void misuse_channels(nnapi *n)
{
    if (n->level < 29) {
        return;
    }
    const float scales[3] = {0.5f, 0.25f, 0.0f};
    builder b = build(n);
    const int32_t x = (int32_t)add_operand(&b, ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, 0.0f, 0, SIZES(3, 2));
    const int32_t plain = (int32_t)add_operand(&b, Q8, 0.5f, 0, SIZES(3, 2));
    const ANeuralNetworksSymmPerChannelQuantParams zero = {0, 3, scales}, few = {0, 2, scales}, beyond = {2, 2, scales},
                                                   none = {0, 3, NULL}, good = {1, 2, scales};
    WRONG(UNEXPECTED_NULL, "no scales", n->Model_setOperandSymmPerChannelQuantParams(b.model, x, NULL));
    WRONG(UNEXPECTED_NULL, "no scales", n->Model_setOperandSymmPerChannelQuantParams(b.model, x, &none));
    WRONG(BAD_DATA, "scale 2 is 0", n->Model_setOperandSymmPerChannelQuantParams(b.model, x, &zero));
    WRONG(BAD_DATA, "2 scales", n->Model_setOperandSymmPerChannelQuantParams(b.model, x, &few));
    WRONG(BAD_DATA, "dimension 2", n->Model_setOperandSymmPerChannelQuantParams(b.model, x, &beyond));
    WRONG(BAD_DATA, "type 5", n->Model_setOperandSymmPerChannelQuantParams(b.model, plain, &good));
    OK(n->Model_setOperandSymmPerChannelQuantParams(b.model, x, &good));
    WRONG(BAD_DATA, "already", n->Model_setOperandSymmPerChannelQuantParams(b.model, x, &good));
    n->Model_free(b.model);
}

void misuse_models(nnapi *n)
{
    misuse_types(n);
    misuse_values(n);
    misuse_channels(n);
    WRONG(UNEXPECTED_NULL, "should go is NULL", n->Model_create(NULL));
    builder b = build(n);
    const uint32_t x = add_operand(&b, F32, 0.0f, 0, SIZES(2)), y = add_operand(&b, F32, 0.0f, 0, SIZES(2));
    const uint32_t fuse = add_int(&b, 0), out = add_operand(&b, F32, 0.0f, 0, SIZES(2)), far = 77;
    const uint32_t lost = add_operand(&b, F32, 0.0f, 0, SIZES(2));
    const uint32_t in[3] = {x, y, fuse}, both[2] = {x, x}, outs[2] = {out, out};
    WRONG(UNEXPECTED_NULL, "no input", n->Model_addOperation(b.model, ANEURALNETWORKS_ADD, 3, NULL, 1, &out));
    WRONG(UNEXPECTED_NULL, "no output", n->Model_addOperation(b.model, ANEURALNETWORKS_ADD, 3, in, 1, NULL));
    WRONG(BAD_DATA, "no input", n->Model_addOperation(b.model, ANEURALNETWORKS_ADD, 0, in, 1, &out));
    WRONG(BAD_DATA, "operand 77 of", n->Model_addOperation(b.model, ANEURALNETWORKS_ADD, 1, &far, 1, &out));
    WRONG(BAD_DATA, "operand 77 of", n->Model_addOperation(b.model, ANEURALNETWORKS_ADD, 3, in, 1, &far));
    WRONG(BAD_DATA, "has a value", n->Model_addOperation(b.model, ANEURALNETWORKS_ADD, 3, in, 1, &fuse));
    WRONG(BAD_DATA, "another operation", n->Model_addOperation(b.model, ANEURALNETWORKS_ADD, 3, in, 2, outs));
    WRONG(BAD_DATA, "operation 102", n->Model_addOperation(b.model, 102, 3, in, 1, &out));
    WRONG(BAD_DATA, "operation -1", n->Model_addOperation(b.model, -1, 3, in, 1, &out));
    OK(n->Model_addOperation(b.model, ANEURALNETWORKS_ADD, 3, in, 1, &out));
    WRONG(BAD_DATA, "another operation", n->Model_addOperation(b.model, ANEURALNETWORKS_ADD, 3, in, 1, &out));
    if (n->level >= 30) {
        builder other = build(n);
        WRONG(BAD_STATE, "the value is not finished", n->Model_setOperandValueFromModel(b.model, 4, other.model));
        WRONG(BAD_DATA, "not identified", n->Model_finish(other.model));
        n->Model_free(other.model);
    }
    WRONG(BAD_DATA, "input twice", n->Model_identifyInputsAndOutputs(b.model, 2, both, 1, &out));
    WRONG(BAD_DATA, "output twice", n->Model_identifyInputsAndOutputs(b.model, 2, in, 2, outs));
    WRONG(BAD_DATA, "has a value", n->Model_identifyInputsAndOutputs(b.model, 3, in, 1, &out));
    WRONG(BAD_DATA, "operation writes", n->Model_identifyInputsAndOutputs(b.model, 1, &out, 1, &out));
    WRONG(BAD_DATA, "no output", n->Model_identifyInputsAndOutputs(b.model, 2, in, 0, &out));
    WRONG(UNEXPECTED_NULL, "no output", n->Model_identifyInputsAndOutputs(b.model, 2, in, 1, NULL));
    WRONG(UNEXPECTED_NULL, "no input", n->Model_identifyInputsAndOutputs(b.model, 0, NULL, 1, &out));
    WRONG(BAD_DATA, "operand 77", n->Model_identifyInputsAndOutputs(b.model, 1, &far, 1, &out));
    WRONG(BAD_DATA, "an input and an output", n->Model_identifyInputsAndOutputs(b.model, 2, in, 1, in));
    OK(n->Model_identifyInputsAndOutputs(b.model, 1, in, 1, &out));
    WRONG(BAD_DATA, "identified before", n->Model_identifyInputsAndOutputs(b.model, 1, in, 1, &out));
    WRONG(BAD_DATA, "has no value", n->Model_finish(b.model)); // an error because operand y has no value
    n->Model_free(b.model);
    // Tests an output that no operation writes, operations in a cycle, and changes after finish.
    b = build(n);
    const uint32_t p = add_input(&b, F32, 0.0f, 0, SIZES(2)), zero = add_int(&b, 0);
    const uint32_t q = add_operand(&b, F32, 0.0f, 0, SIZES(2)), r = add_operand(&b, F32, 0.0f, 0, SIZES(2));
    OPERATION(&b, ADD, q, p, r, zero);
    OPERATION(&b, ADD, r, p, q, zero);
    b.outputs[b.output_count++] = q;
    identify(&b);
    WRONG(BAD_DATA, "wait for each other", n->Model_finish(b.model));
    n->Model_free(b.model);
    b = build(n);
    const uint32_t u = add_input(&b, F32, 0.0f, 0, SIZES(2)), v = add_result(&b, F32, 0.0f, 0, SIZES(2));
    (void)add_result(&b, F32, 0.0f, 0, SIZES(2));
    OPERATION(&b, RELU, v, u);
    identify(&b);
    WRONG(BAD_DATA, "writes output 1", n->Model_finish(b.model));
    n->Model_free(b.model);
    compiled c = compile_add(n, 2);
    const ANeuralNetworksOperandType scalar = {ANEURALNETWORKS_INT32, 0, NULL, 0.0f, 0};
    WRONG(BAD_STATE, "finished", n->Model_finish(c.model));
    WRONG(BAD_STATE, "finished", n->Model_setOperandValue(c.model, 0, &far, 4));
    WRONG(BAD_STATE, "finished", n->Model_addOperand(c.model, &scalar));
    WRONG(BAD_STATE, "finished", n->Model_addOperation(c.model, ANEURALNETWORKS_ADD, 3, in, 1, &lost));
    WRONG(BAD_STATE, "finished", n->Model_identifyInputsAndOutputs(c.model, 1, in, 1, &out));
    if (n->level >= 28) {
        WRONG(BAD_STATE, "finished", n->Model_relaxComputationFloat32toFloat16(c.model, true));
    }
    free_compiled(n, &c);
}

// ---- operations with wrong operands

// Finishes a model with one operation, which must be refused.
static void wrong_finish(nnapi *n, builder *b, const char *needle)
{
    identify(b);
    WRONG(BAD_DATA, needle, n->Model_finish(b->model));
    n->Model_free(b->model);
}

static void wrong_signature(builder *b, int32_t code, uint32_t count, const uint32_t *in, uint32_t out,
                            const char *needle)
{
    nnapi *n = b->n;
    WRONG(BAD_DATA, needle, n->Model_addOperation(b->model, code, count, in, 1, &out));
}

#define REFUSED(b, code, needle, out, ...)                                                                             \
    wrong_signature(b, ANEURALNETWORKS_##code, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),                   \
                    (const uint32_t[]){__VA_ARGS__}, out, needle)

static void misuse_signatures(nnapi *n)
{
    builder b = build(n);
    const uint32_t x = add_operand(&b, F32, 0.0f, 0, SIZES(1, 2, 2, 1)),
                   q = add_operand(&b, Q8, 0.5f, 0, SIZES(1, 2, 2, 1));
    const uint32_t five = add_operand(&b, F32, 0.0f, 0, SIZES(1, 1, 1, 2, 2)),
                   list = add_ints(&b, 1, (const int32_t[]){0});
    const uint32_t zero = add_int(&b, 0), half = add_float(&b, 0.5f);
    const uint32_t out = add_operand(&b, F32, 0.0f, 0, SIZES(1, 2, 2, 1));
    const uint32_t qout = add_operand(&b, Q8, 0.5f, 0, SIZES(1, 2, 2, 1));
    REFUSED(&b, ADD, "does not take these 2 inputs", out, x, x);
    REFUSED(&b, ADD, "does not take", out, x, q, zero);
    REFUSED(&b, ADD, "does not take", qout, x, x, zero);
    REFUSED(&b, ADD, "does not take", out, x, x, half);
    REFUSED(&b, ADD, "does not take", out, x, x, list);
    REFUSED(&b, ADD, "on 5 dimensions", out, five, five, zero);
    REFUSED(&b, SOFTMAX, "does not take", out, x, zero);
    REFUSED(&b, CONCATENATION, "does not take", out, zero);
    REFUSED(&b, CONCATENATION, "does not take", out, x, q, zero);
    REFUSED(&b, RESHAPE, "does not take", out, x, zero);
    REFUSED(&b, CONV_2D, "does not take", out, x, x, x, zero);
    REFUSED(&b, MAX_POOL_2D, "does not take", qout, x, zero, zero, zero, zero, zero, zero);
    REFUSED(&b, DEQUANTIZE, "does not take", out, x);
    REFUSED(&b, FLOOR, "does not take", qout, q);
    REFUSED(&b, FLOOR, "on 5 dimensions", out, five);
    REFUSED(&b, DEPTH_TO_SPACE, "does not take", out, x, half);
    if (n->level < 28) {
        REFUSED(&b, SUB, "does not have", out, x, x, zero);
        REFUSED(&b, MEAN, "does not have", out, x, list, zero);
    }
    if (n->level < 29) {
        REFUSED(&b, PRELU, "does not have", out, x, x);
        REFUSED(&b, TANH, "from level 29", qout, q);
        REFUSED(&b, POW, "does not have", out, x, x);
        REFUSED(&b, CHANNEL_SHUFFLE, "does not have", out, x, zero, zero);
        REFUSED(&b, SOFTMAX, "from level 29", out, x, half, zero);
    } else {
        const uint32_t nchw = add_bool(&b, true);
        REFUSED(&b, MAX_POOL_2D, "does not take", out, x, nchw, zero, zero, zero, zero, zero);
        REFUSED(&b, LOG_SOFTMAX, "does not take", qout, q, half, zero);
        REFUSED(&b, REDUCE_SUM, "does not take", qout, q, list, nchw);
        REFUSED(&b, REDUCE_MAX, "does not take", out, x, list, zero);
        REFUSED(&b, REDUCE_MIN, "on 5 dimensions", out, five, list, nchw);
        REFUSED(&b, POW, "does not take", qout, q, q);
        REFUSED(&b, LOG, "does not take", qout, q);
        REFUSED(&b, RSQRT, "does not take", out, x, x);
        REFUSED(&b, CHANNEL_SHUFFLE, "does not take", out, x, zero);
        REFUSED(&b, DEPTH_TO_SPACE, "does not take", out, x, nchw);
    }
    if (n->level < 30) {
        const uint32_t i = add_operand(&b, I32, 0.0f, 0, SIZES(2)), iout = add_operand(&b, I32, 0.0f, 0, SIZES(2));
        REFUSED(&b, ADD, "from level 30", iout, i, i, zero);
    }
    n->Model_free(b.model);
}

// Builds a quantized convolution with one wrong operand.
static void wrong_conv(nnapi *n, float bias_scale, int32_t bias_size, int32_t channels, int32_t out_width,
                       int32_t scheme, int32_t stride, int32_t fuse, float out_scale, const char *needle)
{
    const uint8_t weights[16] = {0};
    const int32_t biases[4] = {0};
    builder b = build(n);
    const uint32_t x = add_input(&b, Q8, 0.5f, 1, SIZES(1, 4, 4, 2));
    const uint32_t weight = add_constant(&b, Q8, 0.5f, 2, SIZES(2, 2, 2, channels), weights, 8 * (size_t)channels);
    const uint32_t bias = add_constant(&b, I32, bias_scale, 0, SIZES(bias_size), biases, 4 * (size_t)bias_size);
    const uint32_t step = add_int(&b, stride);
    OPERATION(&b, CONV_2D, add_result(&b, Q8, out_scale, 0, SIZES(1, 3, out_width, 2)), x, weight, bias,
              add_int(&b, scheme), step, step, add_int(&b, fuse));
    wrong_finish(n, &b, needle);
}

static void wrong_unary(nnapi *n, int32_t code, float scale, int32_t zero_point, const char *needle)
{
    builder b = build(n);
    const uint32_t x = add_input(&b, Q8, 0.5f, 1, SIZES(2, 3));
    uint32_t in[2] = {x, 0}, count = 1;
    if (code == ANEURALNETWORKS_SOFTMAX) {
        in[count++] = add_float(&b, 1.0f);
    }
    add_operation(&b, code, count, in, add_result(&b, Q8, scale, zero_point, SIZES(2, 3)));
    wrong_finish(n, &b, needle);
}

void misuse_operations(nnapi *n)
{
    misuse_signatures(n);
    wrong_conv(n, 0.3f, 2, 2, 3, 2, 1, 0, 0.5f, "bias of scale 0.3");
    wrong_conv(n, 0.0f, 2, 2, 3, 2, 1, 0, 0.5f, "bias of scale 0");
    wrong_conv(n, 0.25f, 3, 2, 3, 2, 1, 0, 0.5f, "one dimension of 2");
    wrong_conv(n, 0.25f, 2, 1, 3, 2, 1, 0, 0.5f, "weights for 1 channels of 2");
    wrong_conv(n, 0.25f, 2, 2, 4, 2, 1, 0, 0.5f, "other sizes");
    wrong_conv(n, 0.25f, 2, 2, 3, 3, 1, 0, 0.5f, "padding scheme 3");
    wrong_conv(n, 0.25f, 2, 2, 3, 2, 0, 0, 0.5f, "strides 0");
    wrong_conv(n, 0.25f, 2, 2, 3, 2, 1, 4, 0.5f, "fuse code 4");
    if (n->level < 29) {
        wrong_conv(n, 0.25f, 2, 2, 3, 2, 1, 0, 0.25f, "from level 29 on");
    }
    wrong_unary(n, ANEURALNETWORKS_LOGISTIC, 0.5f, 0, "has 0.00390625 and 0");
    wrong_unary(n, ANEURALNETWORKS_LOGISTIC, 1.0f / 256.0f, 1, "zero point 1");
    wrong_unary(n, ANEURALNETWORKS_SOFTMAX, 0.5f, 0, "has 0.00390625 and 0");
    wrong_unary(n, ANEURALNETWORKS_RELU, 0.25f, 1, "an input of 0.5 and 1");
    wrong_unary(n, ANEURALNETWORKS_RELU6, 0.5f, 2, "an input of 0.5 and 1");
    builder b = build(n);
    uint32_t x = add_input(&b, Q8, 0.5f, 1, SIZES(2, 3));
    OPERATION(&b, MUL, add_result(&b, Q8, 0.25f, 0, SIZES(2, 3)), x, x, add_int(&b, 0));
    wrong_finish(n, &b, "a product of scale 0.25");
    b = build(n);
    x = add_input(&b, F32, 0.0f, 0, SIZES(2, 3));
    OPERATION(&b, RESHAPE, add_result(&b, F32, 0.0f, 0, SIZES(5)), x, add_ints(&b, 1, (const int32_t[]){5}));
    wrong_finish(n, &b, "6 elements cannot become 5");
    b = build(n);
    x = add_input(&b, F32, 0.0f, 0, SIZES(2, 3));
    OPERATION(&b, ADD, add_result(&b, F32, 0.0f, 0, SIZES(2, 3)), x,
              add_constant(&b, F32, 0.0f, 0, SIZES(2), (const float[]){1, 2}, 8), add_int(&b, 0));
    wrong_finish(n, &b, "do not fit together");
    b = build(n);
    x = add_input(&b, F32, 0.0f, 0, SIZES(2, 3));
    OPERATION(&b, CONCATENATION, add_result(&b, F32, 0.0f, 0, SIZES(2, 6)), x, x, add_int(&b, 2));
    wrong_finish(n, &b, "dimension 2 of 2");
    b = build(n);
    x = add_input(&b, F32, 0.0f, 0, SIZES(1, 2, 2, 1));
    const uint32_t pad = add_int(&b, 2), two = add_int(&b, 2), zero = add_int(&b, 0);
    OPERATION(&b, MAX_POOL_2D, add_result(&b, F32, 0.0f, 0, SIZES(1, 2, 2, 1)), x, pad, zero, zero, zero, two, two, two,
              two, zero);
    wrong_finish(n, &b, "not smaller than the window");
    b = build(n);
    x = add_input(&b, F32, 0.0f, 0, SIZES(2, 3));
    const uint32_t omitted = add_operand(&b, I32, 0.0f, 0, SIZES(2));
    OK(n->Model_setOperandValue(b.model, (int32_t)omitted, NULL, 0));
    OPERATION(&b, RESHAPE, add_result(&b, F32, 0.0f, 0, SIZES(6, 1)), x, omitted);
    wrong_finish(n, &b, "needs its input 1");
    b = build(n);
    x = add_input(&b, F32, 0.0f, 0, SIZES(1, 1, 1, 8));
    OPERATION(&b, DEPTH_TO_SPACE, add_result(&b, F32, 0.0f, 0, SIZES(1, 3, 3, 1)), x, add_int(&b, 3));
    wrong_finish(n, &b, "blocks of 3 by 3 of 8 channels");
    if (n->level >= 29) {
        b = build(n);
        x = add_input(&b, F32, 0.0f, 0, SIZES(1, 6));
        OPERATION(&b, CHANNEL_SHUFFLE, add_result(&b, F32, 0.0f, 0, SIZES(1, 6)), x, add_int(&b, 4), add_int(&b, 1));
        wrong_finish(n, &b, "6 in 4 groups");
        b = build(n);
        x = add_input(&b, Q8, 0.5f, 1, SIZES(2, 3));
        OPERATION(&b, REDUCE_MAX, add_result(&b, Q8, 0.25f, 1, SIZES(1, 3)), x, add_ints(&b, 1, (const int32_t[]){0}),
                  add_bool(&b, true));
        wrong_finish(n, &b, "an input of 0.5 and 1");
    }
    if (n->level >= 28) {
        b = build(n);
        x = add_input(&b, F32, 0.0f, 0, SIZES(2, 3));
        OPERATION(&b, TRANSPOSE, add_result(&b, F32, 0.0f, 0, SIZES(3, 2)), x,
                  add_ints(&b, 2, (const int32_t[]){1, 1}));
        wrong_finish(n, &b, "dimension 1 in an order");
    }
    if (n->level >= 29) {
        b = build(n);
        x = add_input(&b, Q8, 0.5f, 1, SIZES(1, 1, 1, 2));
        const uint32_t weight =
            add_constant(&b, ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, 0.0f, 0, SIZES(1, 1, 1, 2), "ab", 2);
        const uint32_t bias = add_constant(&b, I32, 0.0f, 0, SIZES(1), (const int32_t[]){0}, 4), one = add_int(&b, 1);
        OPERATION(&b, CONV_2D, add_result(&b, Q8, 0.5f, 1, SIZES(1, 1, 1, 1)), x, weight, bias, one, one, one,
                  add_int(&b, 0));
        wrong_finish(n, &b, "no scales per channel");
    }
}
