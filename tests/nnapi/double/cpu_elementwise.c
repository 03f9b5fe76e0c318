// SPDX-License-Identifier: BSD-2-Clause
// Element-wise operations with broadcasting.
#include <math.h>

#include "cpu.h"

bool prepare_binary(call *c)
{
    const tensor *a = &c->in[0], *b = &c->in[1];
    const uint32_t rank = a->rank > b->rank ? a->rank : b->rank;
    uint32_t sizes[DOUBLE_RANK];
    for (uint32_t i = 0; i < rank; i++) { // visits the dimensions from the last to the first
        const uint32_t x = i < a->rank ? a->sizes[a->rank - 1 - i] : 1;
        const uint32_t y = i < b->rank ? b->sizes[b->rank - 1 - i] : 1;
        if (x != y && x != 1 && y != 1) {
            return refuse(c, "sizes %u and %u do not fit together", x, y);
        }
        sizes[rank - 1 - i] = x > y ? x : y;
    }
    set_sizes(&c->out[0], rank, sizes);
    if (c->in_count == 3) {
        c->window.fuse = scalar_int(c, 2);
        if (c->in[0].type == ANEURALNETWORKS_TENSOR_INT32 && c->window.fuse != 0) {
            return refuse(c, "an activation on integers");
        }
    }
    return check_fuse(c, c->window.fuse);
}

// Returns the index of the operand's element for the result's element `at`.
static size_t meet(const tensor *operand, const tensor *out, size_t at)
{
    size_t where = 0, step = 1;
    for (uint32_t i = 0; i < operand->rank; i++) {
        const uint32_t size = operand->sizes[operand->rank - 1 - i], wide = out->sizes[out->rank - 1 - i];
        where += size == 1 ? 0 : at % wide * step;
        step *= size;
        at /= wide;
    }
    return where;
}

static float combine(int32_t code, float a, float b)
{
    switch (code) {
    case ANEURALNETWORKS_ADD:
        return a + b;
    case ANEURALNETWORKS_SUB:
        return a - b;
    case ANEURALNETWORKS_MUL:
        return a * b;
    case ANEURALNETWORKS_DIV:
        return a / b;
    case ANEURALNETWORKS_MAXIMUM:
        return a > b ? a : b;
    case ANEURALNETWORKS_MINIMUM:
        return a < b ? a : b;
    case ANEURALNETWORKS_POW:
        return powf(a, b);
    default: // the operation is PRELU
        return a >= 0.0f ? a : a * b;
    }
}

static int32_t combine_ints(int32_t code, int32_t a, int32_t b)
{
    int64_t result;
    switch (code) {
    case ANEURALNETWORKS_ADD:
        result = (int64_t)a + b;
        break;
    case ANEURALNETWORKS_SUB:
        result = (int64_t)a - b;
        break;
    case ANEURALNETWORKS_MUL:
        result = (int64_t)a * b;
        break;
    case ANEURALNETWORKS_DIV: // integer division rounds down
        result = b == 0 ? 0 : (int64_t)a / b - ((int64_t)a % b != 0 && (a < 0) != (b < 0));
        break;
    case ANEURALNETWORKS_MAXIMUM:
        result = a > b ? a : b;
        break;
    default: // the operation is MINIMUM
        result = a < b ? a : b;
    }
    return (int32_t)(uint32_t)(uint64_t)result;
}

void run_binary(const call *c)
{
    const tensor *a = &c->in[0], *b = &c->in[1], *out = &c->out[0];
    const size_t count = tensor_count(out);
    for (size_t i = 0; i < count; i++) {
        const size_t x = meet(a, out, i), y = meet(b, out, i);
        if (out->type == ANEURALNETWORKS_TENSOR_INT32) {
            ((int32_t *)out->data)[i] = combine_ints(c->code, list_int(a, (uint32_t)x), list_int(b, (uint32_t)y));
        } else {
            put_real(out, i, apply_fuse(c->window.fuse, combine(c->code, get_real(a, x), get_real(b, y))));
        }
    }
}

bool prepare_unary(call *c)
{
    return prepare_like_first(c);
}

static float transform(int32_t code, float x)
{
    switch (code) {
    case ANEURALNETWORKS_RELU:
        return apply_fuse(ANEURALNETWORKS_FUSED_RELU, x);
    case ANEURALNETWORKS_RELU1:
        return apply_fuse(ANEURALNETWORKS_FUSED_RELU1, x);
    case ANEURALNETWORKS_RELU6:
        return apply_fuse(ANEURALNETWORKS_FUSED_RELU6, x);
    case ANEURALNETWORKS_LOGISTIC:
        return 1.0f / (1.0f + expf(-x));
    case ANEURALNETWORKS_TANH:
        return tanhf(x);
    case ANEURALNETWORKS_ABS:
        return fabsf(x);
    case ANEURALNETWORKS_NEG:
        return -x;
    case ANEURALNETWORKS_EXP:
        return expf(x);
    case ANEURALNETWORKS_SQRT:
        return sqrtf(x);
    case ANEURALNETWORKS_RSQRT:
        return 1.0f / sqrtf(x);
    case ANEURALNETWORKS_LOG:
        return logf(x);
    case ANEURALNETWORKS_FLOOR:
        return floorf(x);
    default: // the operation is HARD_SWISH
        return x * apply_fuse(ANEURALNETWORKS_FUSED_RELU6, x + 3.0f) / 6.0f;
    }
}

void run_unary(const call *c)
{
    const tensor *in = &c->in[0], *out = &c->out[0];
    const size_t count = tensor_count(out);
    for (size_t i = 0; i < count; i++) {
        if (out->type == ANEURALNETWORKS_TENSOR_INT32) { // ABS and NEG; both return the smallest integer unchanged
            const uint32_t x = (uint32_t)list_int(in, (uint32_t)i);
            const bool keep = c->code == ANEURALNETWORKS_ABS && (int32_t)x >= 0;
            ((uint32_t *)out->data)[i] = keep ? x : 0u - x;
        } else {
            put_real(out, i, transform(c->code, get_real(in, i)));
        }
    }
}

bool prepare_cast(call *c)
{
    return prepare_like_first(c);
}

// Computes QUANTIZE and DEQUANTIZE.
void run_cast(const call *c)
{
    const tensor *in = &c->in[0], *out = &c->out[0];
    const size_t count = tensor_count(out);
    size_t inner = 1; // number of consecutive elements of one channel
    for (uint32_t i = in->channel_dim + 1; i < in->rank; i++) {
        inner *= in->sizes[i];
    }
    for (size_t i = 0; i < count; i++) {
        if (in->type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL) {
            const float scale = in->channel_scales[i / inner % in->sizes[in->channel_dim]];
            put_real(out, i, scale * (float)((const int8_t *)in->data)[i]);
        } else {
            put_real(out, i, get_real(in, i));
        }
    }
}
