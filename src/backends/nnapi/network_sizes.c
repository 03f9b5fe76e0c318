// SPDX-License-Identifier: BSD-2-Clause
// Finds the sizes of a network's operands, with one rule for each kind of operation. Operations are in order, so the
// sizes of their inputs are already known.
#include "backends/nnapi/network_sizes.h"

#include <string.h>

#include "base/checked.h"

enum { HASHES = 1024 };

typedef struct finder {
    const taper_network *network;
    taper_arena *arena;
    taper_network_sizes *found;
    size_t capacity;
    uint32_t heads[HASHES];
    taper_error *error;
} finder;

// ---- sizes, of which each exists once

static size_t hash_of(const taper_size *size)
{
    uint64_t hash = (uint64_t)size->number * 0x9e3779b97f4a7c15u;
    hash ^= ((uint64_t)size->kind << 58) ^ ((uint64_t)size->a << 20) ^ size->b;
    hash *= 0xff51afd7ed558ccdu;
    return (size_t)(hash >> 40) % HASHES;
}

static taper_status make(finder *f, taper_size size, uint32_t *made)
{
    const size_t hash = hash_of(&size);
    for (uint32_t at = f->heads[hash]; at != 0; at = f->found->sizes[at - 1].next) {
        const taper_size *have = &f->found->sizes[at - 1];
        if (have->kind == size.kind && have->a == size.a && have->b == size.b && have->number == size.number) {
            *made = at - 1;
            return TAPER_OK;
        }
    }
    if (f->found->count == f->capacity) {
        const size_t capacity = f->capacity == 0 ? 64 : 2 * f->capacity;
        taper_size *sizes = taper_arena_array(f->arena, capacity, sizeof *sizes);
        if (sizes == NULL) {
            return taper_fail_memory(f->error);
        }
        for (size_t i = 0; i < f->found->count; i++) {
            sizes[i] = f->found->sizes[i];
        }
        f->found->sizes = sizes;
        f->capacity = capacity;
    }
    size.next = f->heads[hash];
    *made = (uint32_t)f->found->count;
    f->found->sizes[f->found->count++] = size;
    f->heads[hash] = *made + 1;
    return TAPER_OK;
}

static taper_status known(finder *f, int64_t number, uint32_t *made)
{
    return make(f, (taper_size){.kind = TAPER_SIZE_KNOWN, .number = number}, made);
}

// Makes the size "a + number", "a * number" or "a / number".
static taper_status with(finder *f, taper_size_kind kind, uint32_t a, int64_t number, uint32_t *made)
{
    const taper_size from = f->found->sizes[a];
    const bool same = kind == TAPER_SIZE_ADD ? number == 0 : number == 1;
    if (same) {
        *made = a;
        return TAPER_OK;
    }
    if (kind == TAPER_SIZE_ADD && from.kind == TAPER_SIZE_ADD) {
        return with(f, kind, from.a, from.number + number, made);
    }
    return make(f, (taper_size){.kind = kind, .a = a, .number = number}, made);
}

// ---- arguments of an operation

static const taper_network_operand *operand(const finder *f, uint32_t at)
{
    return &f->network->operands[at];
}

// Returns the value of a scalar, or one number of a vector or of paddings.
static int64_t number_at(const finder *f, uint32_t at, size_t index)
{
    const taper_network_operand *o = operand(f, at);
    const void *data = o->immediate != NULL ? o->immediate : taper_tensor_data(o->tensor);
    int32_t number;
    float single;
    if (o->type == ANEURALNETWORKS_FLOAT32) {
        memcpy(&single, data, sizeof single);
        return (int64_t)single;
    }
    memcpy(&number, (const uint8_t *)data + index * sizeof number, sizeof number);
    return number;
}

static uint32_t size_of(const finder *f, uint32_t at, uint32_t d)
{
    return f->found->of[at][d];
}

// ---- rules: the size of dimension d of the result

typedef taper_status size_rule(finder *f, const taper_network_operation *op, uint32_t d, uint32_t *made);

static taper_status as_first(finder *f, const taper_network_operation *op, uint32_t d, uint32_t *made)
{
    *made = size_of(f, op->in[0], d);
    return TAPER_OK;
}

// Makes a broadcast size. The sizes of both arguments are aligned at the end. Dimension d of the result has the size
// that is not 1.
static taper_status broadcast(finder *f, const taper_network_operation *op, uint32_t d, uint32_t *made)
{
    const uint32_t rank = operand(f, op->out[0])->rank;
    for (size_t i = 0; i < 2; i++) {
        const taper_network_operand *in = operand(f, op->in[i]);
        if (in->rank + d >= rank && in->sizes[in->rank + d - rank] != 1) {
            *made = size_of(f, op->in[i], in->rank + d - rank);
            return TAPER_OK;
        }
    }
    return known(f, 1, made);
}

// Reads the padding (before plus after) and stride of an image's dimension d (1: height, 2: width). These arguments
// start at number `from`.
static void read_window(const finder *f, const taper_network_operation *op, size_t from, uint32_t d, int64_t *padding,
                        int64_t *stride)
{
    const size_t first = from + (d == 1 ? 2 : 0);
    *padding = number_at(f, op->in[first], 0) + number_at(f, op->in[first + 1], 0);
    *stride = number_at(f, op->in[from + (d == 1 ? 5 : 4)], 0);
}

// Makes the size (size + padding - window) / stride + 1.
static taper_status windows(finder *f, uint32_t size, int64_t padding, int64_t window, int64_t stride, uint32_t *made)
{
    TAPER_TRY(with(f, TAPER_SIZE_ADD, size, padding - window, made));
    TAPER_TRY(with(f, TAPER_SIZE_OVER, *made, stride, made));
    return with(f, TAPER_SIZE_ADD, *made, 1, made);
}

static taper_status convolution(finder *f, const taper_network_operation *op, uint32_t d, uint32_t *made)
{
    int64_t padding, stride, dilation = 1;
    if (d == 0) {
        return as_first(f, op, d, made);
    }
    const int64_t kernel = operand(f, op->in[1])->sizes[d];
    const uint32_t plain = op->code == ANEURALNETWORKS_CONV_2D ? 11 : 12; // number of arguments without dilation
    read_window(f, op, 3, d, &padding, &stride);
    if (op->in_count > plain && op->code != ANEURALNETWORKS_TRANSPOSE_CONV_2D) {
        dilation = number_at(f, op->in[op->in_count - (d == 1 ? 1 : 2)], 0);
    }
    if (op->code == ANEURALNETWORKS_TRANSPOSE_CONV_2D) { // the result is (size - 1) * stride + kernel - padding
        TAPER_TRY(with(f, TAPER_SIZE_ADD, size_of(f, op->in[0], d), -1, made));
        TAPER_TRY(with(f, TAPER_SIZE_TIMES, *made, stride, made));
        return with(f, TAPER_SIZE_ADD, *made, kernel - padding, made);
    }
    return windows(f, size_of(f, op->in[0], d), padding, dilation * (kernel - 1) + 1, stride, made);
}

static taper_status pool(finder *f, const taper_network_operation *op, uint32_t d, uint32_t *made)
{
    int64_t padding, stride;
    if (d == 0) {
        return as_first(f, op, d, made);
    }
    read_window(f, op, 1, d, &padding, &stride);
    return windows(f, size_of(f, op->in[0], d), padding, number_at(f, op->in[d == 1 ? 8 : 7], 0), stride, made);
}

static taper_status too_large(const finder *f)
{
    TAPER_FAIL(f->error, TAPER_ERROR_UNSUPPORTED, "flexible sizes of a tensor with more elements than 63 bits count");
}

// Makes the size that is the product of all sizes of the first argument, divided by `others`.
static taper_status elements(finder *f, const taper_network_operation *op, int64_t others, uint32_t *made)
{
    const taper_network_operand *in = operand(f, op->in[0]);
    int64_t factor = 1;
    bool any = false;
    *made = 0;
    for (uint32_t d = 0; d < in->rank; d++) {
        const uint32_t size = size_of(f, op->in[0], d);
        if (in->sizes[d] != 0) {
            if (!taper_mul_i64(factor, in->sizes[d], &factor)) {
                return too_large(f);
            }
        } else if (!any) {
            *made = size;
            any = true;
        } else {
            TAPER_TRY(make(f, (taper_size){.kind = TAPER_SIZE_PRODUCT, .a = *made, .b = size}, made));
        }
    }
    if (factor % others == 0) {
        return with(f, TAPER_SIZE_TIMES, *made, factor / others, made);
    }
    TAPER_TRY(with(f, TAPER_SIZE_TIMES, *made, factor, made));
    return with(f, TAPER_SIZE_OVER, *made, others, made);
}

static taper_status rows(finder *f, const taper_network_operation *op, uint32_t d, uint32_t *made)
{
    (void)d; // d is 0: only unknown dimensions are asked for, and the weight determines the size of dimension 1
    return elements(f, op, operand(f, op->in[1])->sizes[1], made);
}

static taper_status reshape(finder *f, const taper_network_operation *op, uint32_t d, uint32_t *made)
{
    const taper_network_operand *out = operand(f, op->out[0]);
    int64_t others = 1;
    for (uint32_t i = 0; i < out->rank; i++) { // finds the unknown size; the other sizes are known
        if (i != d && !taper_mul_i64(others, out->sizes[i], &others)) {
            return too_large(f);
        }
    }
    return elements(f, op, others, made);
}

static taper_status mean(finder *f, const taper_network_operation *op, uint32_t d, uint32_t *made)
{
    const taper_network_operand *in = operand(f, op->in[0]), *axes = operand(f, op->in[1]);
    const bool keep = number_at(f, op->in[2], 0) != 0;
    uint32_t left = 0;
    for (uint32_t i = 0; i < in->rank; i++) {
        bool gone = false;
        for (uint32_t a = 0; a < axes->bytes / sizeof(int32_t); a++) {
            const int64_t axis = number_at(f, op->in[1], a);
            gone = gone || (axis < 0 ? axis + in->rank : axis) == i;
        }
        if ((keep || !gone) && left++ == d) {
            *made = size_of(f, op->in[0], i);
        }
    }
    return TAPER_OK;
}

static taper_status transpose(finder *f, const taper_network_operation *op, uint32_t d, uint32_t *made)
{
    *made = size_of(f, op->in[0], (uint32_t)number_at(f, op->in[1], d));
    return TAPER_OK;
}

static taper_status concatenation(finder *f, const taper_network_operation *op, uint32_t d, uint32_t *made)
{
    *made = size_of(f, op->in[0], d);
    for (uint32_t i = 1; i + 1 < op->in_count && number_at(f, op->in[op->in_count - 1], 0) == d; i++) {
        TAPER_TRY(make(f, (taper_size){.kind = TAPER_SIZE_SUM, .a = *made, .b = size_of(f, op->in[i], d)}, made));
    }
    return TAPER_OK;
}

static taper_status pad(finder *f, const taper_network_operation *op, uint32_t d, uint32_t *made)
{
    return with(f, TAPER_SIZE_ADD, size_of(f, op->in[0], d),
                number_at(f, op->in[1], 2 * (size_t)d) + number_at(f, op->in[1], 2 * (size_t)d + 1), made);
}

// Makes the size of a resize. Unknown sizes are resized only by integer factors.
static taper_status resize(finder *f, const taper_network_operation *op, uint32_t d, uint32_t *made)
{
    return d == 0 ? as_first(f, op, d, made)
                  : with(f, TAPER_SIZE_TIMES, size_of(f, op->in[0], d), number_at(f, op->in[d == 1 ? 2 : 1], 0), made);
}

static const struct {
    int32_t code;
    size_rule *rule;
} rules[] = {
    {ANEURALNETWORKS_ABS, as_first},
    {ANEURALNETWORKS_ADD, broadcast},
    {ANEURALNETWORKS_AVERAGE_POOL_2D, pool},
    {ANEURALNETWORKS_CHANNEL_SHUFFLE, as_first},
    {ANEURALNETWORKS_CONCATENATION, concatenation},
    {ANEURALNETWORKS_CONV_2D, convolution},
    {ANEURALNETWORKS_DEPTHWISE_CONV_2D, convolution},
    {ANEURALNETWORKS_DEQUANTIZE, as_first},
    {ANEURALNETWORKS_DIV, broadcast},
    {ANEURALNETWORKS_EXP, as_first},
    {ANEURALNETWORKS_FLOOR, as_first},
    {ANEURALNETWORKS_FULLY_CONNECTED, rows},
    {ANEURALNETWORKS_GROUPED_CONV_2D, convolution},
    {ANEURALNETWORKS_HARD_SWISH, as_first},
    {ANEURALNETWORKS_LOG, as_first},
    {ANEURALNETWORKS_LOGISTIC, as_first},
    {ANEURALNETWORKS_LOG_SOFTMAX, as_first},
    {ANEURALNETWORKS_MAXIMUM, broadcast},
    {ANEURALNETWORKS_MAX_POOL_2D, pool},
    {ANEURALNETWORKS_MEAN, mean},
    {ANEURALNETWORKS_MINIMUM, broadcast},
    {ANEURALNETWORKS_MUL, broadcast},
    {ANEURALNETWORKS_NEG, as_first},
    {ANEURALNETWORKS_PAD, pad},
    {ANEURALNETWORKS_PAD_V2, pad},
    {ANEURALNETWORKS_PRELU, as_first},
    {ANEURALNETWORKS_QUANTIZE, as_first},
    {ANEURALNETWORKS_RELU, as_first},
    {ANEURALNETWORKS_RELU1, as_first},
    {ANEURALNETWORKS_RELU6, as_first},
    {ANEURALNETWORKS_RESHAPE, reshape},
    {ANEURALNETWORKS_RESIZE_BILINEAR, resize},
    {ANEURALNETWORKS_RESIZE_NEAREST_NEIGHBOR, resize},
    {ANEURALNETWORKS_RSQRT, as_first},
    {ANEURALNETWORKS_SOFTMAX, as_first},
    {ANEURALNETWORKS_SQRT, as_first},
    {ANEURALNETWORKS_STRIDED_SLICE,
     as_first}, // an unknown size stays the same, because only dimensions of known size are sliced
    {ANEURALNETWORKS_SUB, broadcast},
    {ANEURALNETWORKS_TANH, as_first},
    {ANEURALNETWORKS_TRANSPOSE, transpose},
    {ANEURALNETWORKS_TRANSPOSE_CONV_2D, convolution},
};

static taper_status find_result(finder *f, const taper_network_operation *op)
{
    const taper_network_operand *out = operand(f, op->out[0]);
    size_rule *rule = NULL;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        rule = rules[i].code == op->code ? rules[i].rule : rule;
    }
    for (uint32_t d = 0; d < out->rank; d++) {
        if (out->sizes[d] == 0) {
            if (rule == NULL) {
                TAPER_FAIL(f->error, TAPER_ERROR_UNSUPPORTED, "flexible sizes of what NNAPI's operation %d gives",
                           (int)op->code);
            }
            TAPER_TRY(rule(f, op, d, &f->found->of[op->out[0]][d]));
        }
    }
    return TAPER_OK;
}

taper_status taper_network_find_sizes(const taper_network *network, taper_arena *arena, taper_network_sizes *sizes,
                                      taper_error *error)
{
    finder f = {.network = network, .arena = arena, .found = sizes, .error = error};
    *sizes = (taper_network_sizes){.of = taper_arena_array(arena, network->operand_count, sizeof *sizes->of)};
    if (sizes->of == NULL) {
        return taper_fail_memory(error);
    }
    for (size_t i = 0; i < network->operand_count; i++) {
        for (uint32_t d = 0; d < network->operands[i].rank; d++) {
            TAPER_TRY(known(&f, network->operands[i].sizes[d], &sizes->of[i][d]));
        }
    }
    for (uint32_t i = 0; i < network->input_count; i++) {
        for (uint32_t d = 0; d < operand(&f, network->inputs[i])->rank; d++) {
            if (operand(&f, network->inputs[i])->sizes[d] == 0) {
                TAPER_TRY(make(&f, (taper_size){.kind = TAPER_SIZE_INPUT, .a = i, .b = d},
                               &sizes->of[network->inputs[i]][d]));
            }
        }
    }
    for (size_t i = 0; i < network->operation_count; i++) {
        TAPER_TRY(find_result(&f, &network->operations[i]));
    }
    return TAPER_OK;
}
