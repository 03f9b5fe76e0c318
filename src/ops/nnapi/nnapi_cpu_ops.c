// SPDX-License-Identifier: BSD-2-Clause
// The NNAPI operations that the converter emits, on float tensors. Images are [N, H, W, C] unless an operation's last
// argument says [N, C, H, W].
#include <math.h>

#include "ir/walk.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"
#include "ops/nn/conv.h"
#include "ops/nn/linear.h"
#include "ops/nnapi/nnapi_cpu.h"

typedef taper_status (*nnapi_kernel)(taper_nnapi_run *state, const taper_nnapi_operation *op);

static taper_status read_int(taper_nnapi_run *state, uint32_t operand, int64_t *number)
{
    size_t count;
    *number = 0;
    TAPER_TRY(taper_nnapi_ints(state, operand, 1, number, &count));
    if (count != 1) {
        TAPER_FAIL(state->run->error, TAPER_ERROR_FILE, "operand %u should be one int", operand);
    }
    return TAPER_OK;
}

static taper_status read_axis(taper_nnapi_run *state, uint32_t operand, size_t rank, size_t *axis)
{
    int64_t number;
    TAPER_TRY(read_int(state, operand, &number));
    number += number < 0 ? (int64_t)rank : 0;
    if (number < 0 || number >= (int64_t)rank) {
        TAPER_FAIL(state->run->error, TAPER_ERROR_FILE, "axis %lld of a tensor with %zu dimensions", (long long)number,
                   rank);
    }
    *axis = (size_t)number;
    return TAPER_OK;
}

static taper_status new_like(taper_nnapi_run *state, size_t rank, const int64_t *sizes, taper_tensor **tensor)
{
    return taper_tensor_new(state->run->heap, TAPER_F32, rank, sizes, NULL, tensor, state->run->error);
}

// NNAPI's fuse codes: none, relu, relu1, relu6.
static taper_status apply_fuse(taper_nnapi_run *state, int64_t code, taper_tensor *tensor)
{
    static const float lows[] = {-INFINITY, 0.0f, -1.0f, 0.0f}, highs[] = {INFINITY, INFINITY, 1.0f, 6.0f};
    if (code < 0 || code > 3) {
        TAPER_FAIL(state->run->error, TAPER_ERROR_FILE, "fuse code %lld", (long long)code);
    }
    float *x = taper_tensor_mutable(tensor);
    const int64_t count = taper_tensor_numel(tensor);
    for (int64_t i = 0; code != 0 && i < count; i++) {
        x[i] = x[i] < lows[code] ? lows[code] : x[i] > highs[code] ? highs[code] : x[i];
    }
    return TAPER_OK;
}

static taper_status give_fused(taper_nnapi_run *state, const taper_nnapi_operation *op, int64_t fuse,
                               taper_tensor *tensor)
{
    const taper_status status = apply_fuse(state, fuse, tensor);
    if (status != TAPER_OK) {
        taper_tensor_drop(tensor);
        return status;
    }
    return taper_nnapi_put(state, op->out[0], tensor);
}

// A copy of the tensor seen with other sizes and strides.
static taper_status give_view(taper_nnapi_run *state, const taper_nnapi_operation *op, const taper_tensor *view)
{
    taper_tensor *out = NULL;
    TAPER_TRY(new_like(state, view->rank, view->sizes, &out));
    const taper_status status = taper_run_copy(state->run, out, view);
    if (status != TAPER_OK) {
        taper_tensor_drop(out);
        return status;
    }
    return taper_nnapi_put(state, op->out[0], out);
}

// ---- elementwise

enum {
    CODE_ADD = 0,
    CODE_MUL = 18,
    CODE_DIV = 30,
    CODE_SUB = 36,
    CODE_RELU = 19,
    CODE_RELU1 = 20,
    CODE_RELU6 = 21,
    CODE_LOGISTIC = 14,
    CODE_PRELU = 71
};

static float combine(uint32_t code, float a, float b)
{
    switch (code) {
    case CODE_ADD:
        return a + b;
    case CODE_SUB:
        return a - b;
    case CODE_MUL:
        return a * b;
    case CODE_DIV:
        return a / b;
    default:
        return a >= 0.0f ? a : a * b; // PRELU
    }
}

static taper_status run_binary(taper_nnapi_run *state, const taper_nnapi_operation *op)
{
    taper_tensor *a, *b, *out = NULL;
    int64_t fuse = 0, sizes[TAPER_MAX_RANK] = {0}, a_steps[TAPER_MAX_RANK], b_steps[TAPER_MAX_RANK];
    size_t rank;
    TAPER_TRY(taper_nnapi_real(state, op->in[0], &a));
    TAPER_TRY(taper_nnapi_real(state, op->in[1], &b));
    if (op->code != CODE_PRELU) {
        TAPER_TRY(read_int(state, op->in[2], &fuse));
    }
    if (!taper_broadcast_shapes(a->rank, a->sizes, b->rank, b->sizes, &rank, sizes)) {
        TAPER_FAIL(state->run->error, TAPER_ERROR_ARGUMENT, "sizes %s and %s do not fit together", TAPER_SHAPE(a),
                   TAPER_SHAPE(b));
    }
    TAPER_TRY(new_like(state, rank, sizes, &out));
    (void)taper_broadcast_strides(a, rank, sizes, a_steps);
    (void)taper_broadcast_strides(b, rank, sizes, b_steps);
    const float *x = taper_tensor_data(a), *y = taper_tensor_data(b);
    float *to = taper_tensor_mutable(out);
    const int64_t count = taper_tensor_numel(out);
    taper_walk walk;
    taper_walk_over(&walk, rank, sizes, SIZE_MAX, a_steps, b_steps);
    for (int64_t i = 0; i < count; i++) {
        to[i] = combine(op->code, x[walk.at[0]], y[walk.at[1]]);
        (void)taper_walk_next(&walk);
    }
    return give_fused(state, op, fuse, out);
}

static taper_status run_unary(taper_nnapi_run *state, const taper_nnapi_operation *op)
{
    taper_tensor *x, *out = NULL;
    TAPER_TRY(taper_nnapi_real(state, op->in[0], &x));
    TAPER_TRY(new_like(state, x->rank, x->sizes, &out));
    const taper_status status = taper_run_copy(state->run, out, x);
    if (status != TAPER_OK) {
        taper_tensor_drop(out);
        return status;
    }
    if (op->code == CODE_LOGISTIC) {
        float *y = taper_tensor_mutable(out);
        const int64_t count = taper_tensor_numel(out);
        for (int64_t i = 0; i < count; i++) {
            y[i] = 1.0f / (1.0f + expf(-y[i]));
        }
    }
    const int64_t fuse = op->code == CODE_RELU ? 1 : op->code == CODE_RELU1 ? 2 : op->code == CODE_RELU6 ? 3 : 0;
    return give_fused(state, op, fuse, out);
}

// ---- images

// [N, H, W, C] or [N, C, H, W] seen as [N, C, H, W].
static taper_status as_image(taper_nnapi_run *state, const taper_tensor *tensor, bool nchw, taper_tensor *image)
{
    if (tensor->rank != 4) {
        TAPER_FAIL(state->run->error, TAPER_ERROR_ARGUMENT, "an image should have 4 dimensions, its sizes are %s",
                   TAPER_SHAPE(tensor));
    }
    static const uint8_t order[2][4] = {{0, 3, 1, 2}, {0, 1, 2, 3}};
    int64_t sizes[4], strides[4];
    for (size_t i = 0; i < 4; i++) {
        sizes[i] = tensor->sizes[order[nchw][i]];
        strides[i] = tensor->strides[order[nchw][i]];
    }
    *image = taper_tensor_twin(tensor, 4, sizes, strides);
    return TAPER_OK;
}

// A new tensor for an image of sizes [N, C, H, W], in the order of dimensions that the model wants.
static taper_status new_image(taper_nnapi_run *state, const int64_t *sizes, bool nchw, taper_tensor **tensor,
                              taper_tensor *image)
{
    const int64_t last[4] = {sizes[0], sizes[2], sizes[3], sizes[1]};
    TAPER_TRY(new_like(state, 4, nchw ? sizes : last, tensor));
    return as_image(state, *tensor, nchw, image);
}

enum { CODE_CONV = 3, CODE_DEPTHWISE = 4, CODE_CONV_TRANSPOSED = 91 };

// The weight's dimensions in the order that convolutions here expect.
static taper_tensor turn_weight(uint32_t code, const taper_tensor *weight)
{
    // [out, H, W, in] to [out, in, H, W]; depthwise [1, H, W, C] to [C, 1, H, W]; transposed [out, H, W, in] to [in,
    // out, H, W].
    static const uint8_t plain[4] = {0, 3, 1, 2}, turned[4] = {3, 0, 1, 2};
    const uint8_t *order = code == CODE_CONV ? plain : turned;
    int64_t sizes[4], strides[4];
    for (size_t i = 0; i < 4; i++) {
        sizes[i] = weight->sizes[order[i]];
        strides[i] = weight->strides[order[i]];
    }
    return taper_tensor_twin(weight, 4, sizes, strides);
}

static taper_status run_conv(taper_nnapi_run *state, const taper_nnapi_operation *op)
{
    taper_tensor *input, *weight, *bias, *out = NULL, x, y;
    int64_t numbers[12] = {0};
    TAPER_TRY(taper_nnapi_real(state, op->in[0], &input));
    TAPER_TRY(taper_nnapi_real(state, op->in[1], &weight));
    TAPER_TRY(taper_nnapi_real(state, op->in[2], &bias));
    for (uint32_t i = 3; i < op->in_count && i < 12; i++) {
        TAPER_TRY(read_int(state, op->in[i], &numbers[i]));
    }
    const bool depthwise = op->code == CODE_DEPTHWISE;
    const bool nchw = numbers[depthwise ? 11 : 10] != 0;
    if (weight->rank != 4) {
        TAPER_FAIL(state->run->error, TAPER_ERROR_ARGUMENT,
                   "the weight of a convolution should have 4 dimensions, its sizes are %s", TAPER_SHAPE(weight));
    }
    TAPER_TRY(as_image(state, input, nchw, &x));
    taper_tensor w = turn_weight(op->code, weight);
    taper_conv_args args = {.input = &x, .weight = &w, .bias = bias, .out_rank = 4};
    // left, right, top, bottom, stride over width, over height
    args.params = (taper_conv_params){.rank = 2,
                                      .transposed = op->code == CODE_CONV_TRANSPOSED,
                                      .groups = depthwise ? x.sizes[1] : 1,
                                      .stride = {numbers[8], numbers[7]},
                                      .padding = {numbers[5], numbers[3]},
                                      .padding_end = {numbers[6], numbers[4]},
                                      .dilation = {1, 1}};
    taper_call call = {.run = state->run};
    TAPER_TRY(taper_conv_check(&call, &x, &w, bias, &args.params, args.out_sizes));
    TAPER_TRY(new_image(state, args.out_sizes, nchw, &out, &y));
    const taper_status status = taper_conv_compute(state->run, &args, &y);
    if (status != TAPER_OK) {
        taper_tensor_drop(out);
        return status;
    }
    return give_fused(state, op, numbers[depthwise ? 10 : 9], out);
}

enum { CODE_AVERAGE_POOL = 1, CODE_MAX_POOL = 17 };

static int64_t pooled(int64_t size, int64_t before, int64_t after, int64_t kernel, int64_t stride)
{
    int64_t padded;
    if (before < 0 || after < 0 || kernel < 1 || stride < 1 || !taper_add_i64(size, before, &padded) ||
        !taper_add_i64(padded, after, &padded) || padded < kernel) {
        return -1;
    }
    return (padded - kernel) / stride + 1;
}

// The average counts the padding, as the model's own pooling did (the converter accepts no other).
static taper_status run_pool(taper_nnapi_run *state, const taper_nnapi_operation *op)
{
    taper_tensor *input, *out = NULL, x, y;
    int64_t n[11] = {
        0}; // from 1: left, right, top, bottom, stride over width, over height, kernel width, height, fuse, nchw
    TAPER_TRY(taper_nnapi_real(state, op->in[0], &input));
    for (uint32_t i = 1; i < 11; i++) {
        TAPER_TRY(read_int(state, op->in[i], &n[i]));
    }
    TAPER_TRY(as_image(state, input, n[10] != 0, &x));
    const int64_t sizes[4] = {x.sizes[0], x.sizes[1], pooled(x.sizes[2], n[3], n[4], n[8], n[6]),
                              pooled(x.sizes[3], n[1], n[2], n[7], n[5])};
    if (sizes[2] < 1 || sizes[3] < 1 || n[3] >= n[8] || n[4] >= n[8] || n[1] >= n[7] || n[2] >= n[7]) {
        TAPER_FAIL(state->run->error, TAPER_ERROR_ARGUMENT,
                   "a pooling kernel of (%lld, %lld) does not fit the image %s", (long long)n[8], (long long)n[7],
                   TAPER_SHAPE(&x));
    }
    TAPER_TRY(new_image(state, sizes, n[10] != 0, &out, &y));
    const float *from = taper_tensor_data(&x);
    float *to = taper_tensor_mutable(&y);
    const int64_t count = taper_tensor_numel(&y);
    const float area = (float)n[7] * (float)n[8];
    for (int64_t i = 0; i < count; i++) {
        const int64_t w = i % sizes[3], h = i / sizes[3] % sizes[2], c = i / (sizes[3] * sizes[2]) % sizes[1];
        const int64_t b = i / (sizes[3] * sizes[2] * sizes[1]);
        const int64_t top = h * n[6] - n[3], left = w * n[5] - n[1];
        float max = -INFINITY, sum = 0.0f;
        for (int64_t r = taper_max_i64(top, 0); r < taper_min_i64(top + n[8], x.sizes[2]); r++) {
            for (int64_t s = taper_max_i64(left, 0); s < taper_min_i64(left + n[7], x.sizes[3]); s++) {
                const float v = from[b * x.strides[0] + c * x.strides[1] + r * x.strides[2] + s * x.strides[3]];
                max = v > max || v != v ? v : max;
                sum += v;
            }
        }
        to[b * y.strides[0] + c * y.strides[1] + h * y.strides[2] + w * y.strides[3]] =
            op->code == CODE_MAX_POOL ? max : sum / area;
    }
    return give_fused(state, op, n[9], out);
}

// x, width and height (ints: sizes, floats: scales), nchw
static taper_status run_resize(taper_nnapi_run *state, const taper_nnapi_operation *op)
{
    taper_tensor *input, *out = NULL, x, y;
    double wanted[2]; // width, height
    int64_t nchw, sizes[4];
    TAPER_TRY(taper_nnapi_real(state, op->in[0], &input));
    TAPER_TRY(taper_nnapi_number(state, op->in[1], &wanted[0]));
    TAPER_TRY(taper_nnapi_number(state, op->in[2], &wanted[1]));
    TAPER_TRY(read_int(state, op->in[3], &nchw));
    TAPER_TRY(as_image(state, input, nchw != 0, &x));
    memcpy(sizes, x.sizes, sizeof sizes);
    for (size_t i = 0; i < 2; i++) {
        const bool scale = state->model->operands[op->in[1 + i]].type == TAPER_NNAPI_FLOAT32;
        const double size = scale ? floor(wanted[i] * (double)x.sizes[3 - i]) : wanted[i];
        if (!(size >= 1.0 && size < 2147483648.0) || x.sizes[3 - i] < 1) {
            TAPER_FAIL(state->run->error, TAPER_ERROR_ARGUMENT, "an image %s cannot be resized to a side of %g",
                       TAPER_SHAPE(&x), size);
        }
        sizes[3 - i] = (int64_t)size;
    }
    TAPER_TRY(new_image(state, sizes, nchw != 0, &out, &y));
    const float *from = taper_tensor_data(&x);
    float *to = taper_tensor_mutable(&y);
    const int64_t count = taper_tensor_numel(&y);
    const float step_h = (float)x.sizes[2] / (float)sizes[2], step_w = (float)x.sizes[3] / (float)sizes[3];
    for (int64_t i = 0; i < count; i++) {
        const int64_t w = i % sizes[3], h = i / sizes[3] % sizes[2], c = i / (sizes[3] * sizes[2]) % sizes[1];
        const int64_t b = i / (sizes[3] * sizes[2] * sizes[1]);
        const int64_t r = taper_min_i64((int64_t)((float)h * step_h), x.sizes[2] - 1);
        const int64_t s = taper_min_i64((int64_t)((float)w * step_w), x.sizes[3] - 1);
        to[b * y.strides[0] + c * y.strides[1] + h * y.strides[2] + w * y.strides[3]] =
            from[b * x.strides[0] + c * x.strides[1] + r * x.strides[2] + s * x.strides[3]];
    }
    return taper_nnapi_put(state, op->out[0], out);
}

// ---- rows

static taper_status run_linear(taper_nnapi_run *state, const taper_nnapi_operation *op)
{
    taper_tensor *input, *weight, *bias, *out = NULL;
    int64_t fuse;
    TAPER_TRY(taper_nnapi_real(state, op->in[0], &input));
    TAPER_TRY(taper_nnapi_real(state, op->in[1], &weight));
    TAPER_TRY(taper_nnapi_real(state, op->in[2], &bias));
    TAPER_TRY(read_int(state, op->in[3], &fuse));
    const int64_t count = taper_tensor_numel(input), in = weight->rank == 2 ? weight->sizes[1] : 0;
    if (in == 0 || count % in != 0 || bias->rank != 1 || bias->sizes[0] != weight->sizes[0]) {
        TAPER_FAIL(state->run->error, TAPER_ERROR_ARGUMENT,
                   "input %s, weight %s and bias %s of a linear layer do not fit", TAPER_SHAPE(input),
                   TAPER_SHAPE(weight), TAPER_SHAPE(bias));
    }
    taper_tensor rows = taper_tensor_twin(input, 2, (const int64_t[]){count / in, in}, (const int64_t[]){in, 1});
    TAPER_TRY(taper_linear_new(state->run, &rows, weight, bias, &out));
    return give_fused(state, op, fuse, out);
}

enum { CODE_SOFTMAX = 25, CODE_LOG_SOFTMAX = 64 };

static taper_status run_softmax(taper_nnapi_run *state, const taper_nnapi_operation *op)
{
    taper_tensor *x, *out = NULL;
    double beta;
    size_t axis = 0;
    TAPER_TRY(taper_nnapi_real(state, op->in[0], &x));
    TAPER_TRY(taper_nnapi_number(state, op->in[1], &beta));
    TAPER_TRY(read_axis(state, op->in[2], x->rank, &axis));
    TAPER_TRY(new_like(state, x->rank, x->sizes, &out));
    const float *from = taper_tensor_data(x);
    float *to = taper_tensor_mutable(out);
    const int64_t size = x->sizes[axis], step = x->strides[axis];
    const int64_t lines = size == 0 ? 0 : taper_tensor_numel(x) / size;
    for (int64_t i = 0; i < lines; i++) {
        const int64_t at = i / step * step * size + i % step;
        float max = -INFINITY;
        double sum = 0.0;
        for (int64_t j = 0; j < size; j++) {
            const float v = from[at + j * step];
            max = v > max || v != v ? v : max;
        }
        for (int64_t j = 0; j < size; j++) {
            sum += exp(beta * ((double)from[at + j * step] - (double)max));
        }
        for (int64_t j = 0; j < size; j++) {
            const double v = beta * ((double)from[at + j * step] - (double)max);
            to[at + j * step] = (float)(op->code == CODE_SOFTMAX ? exp(v) / sum : v - log(sum));
        }
    }
    return taper_nnapi_put(state, op->out[0], out);
}

static taper_status run_mean(taper_nnapi_run *state, const taper_nnapi_operation *op)
{
    taper_tensor *x, *out = NULL;
    int64_t axes[TAPER_MAX_RANK], keep, sizes[TAPER_MAX_RANK], kept[TAPER_MAX_RANK], steps[TAPER_MAX_RANK];
    size_t count, rank = 0;
    bool reduced[TAPER_MAX_RANK] = {false};
    TAPER_TRY(taper_nnapi_real(state, op->in[0], &x));
    TAPER_TRY(taper_nnapi_ints(state, op->in[1], TAPER_MAX_RANK, axes, &count));
    TAPER_TRY(read_int(state, op->in[2], &keep));
    for (size_t i = 0; i < count; i++) {
        const int64_t axis = axes[i] < 0 ? axes[i] + x->rank : axes[i];
        if (axis < 0 || axis >= x->rank) {
            TAPER_FAIL(state->run->error, TAPER_ERROR_FILE, "axis %lld of a tensor with %u dimensions",
                       (long long)axes[i], x->rank);
        }
        reduced[axis] = true;
    }
    for (size_t i = 0; i < x->rank; i++) {
        sizes[i] = reduced[i] ? 1 : x->sizes[i];
        if (!reduced[i] || keep != 0) {
            kept[rank++] = sizes[i];
        }
    }
    taper_strides_contiguous(x->rank, sizes, steps);
    TAPER_TRY(taper_run_zeros(state->run, TAPER_F32, rank, kept, &out));
    float *to = taper_tensor_mutable(out);
    const float *from = taper_tensor_data(x);
    const int64_t total = taper_tensor_numel(x), results = taper_tensor_numel(out);
    for (size_t d = 0; d < x->rank; d++) {
        steps[d] = reduced[d] ? 0 : steps[d];
    }
    taper_walk walk;
    taper_walk_over(&walk, x->rank, x->sizes, SIZE_MAX, steps, NULL);
    for (int64_t i = 0; i < total; i++) {
        to[walk.at[0]] += from[i];
        (void)taper_walk_next(&walk);
    }
    for (int64_t i = 0; i < results; i++) {
        to[i] /= (float)(total / results);
    }
    return taper_nnapi_put(state, op->out[0], out);
}

// ---- shapes

static taper_status run_copy(taper_nnapi_run *state, const taper_nnapi_operation *op) // QUANTIZE, DEQUANTIZE
{
    taper_tensor *x;
    TAPER_TRY(taper_nnapi_real(state, op->in[0], &x));
    return give_view(state, op, x);
}

static taper_status run_reshape(taper_nnapi_run *state, const taper_nnapi_operation *op)
{
    taper_tensor *x;
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK], known = 1, total;
    size_t rank, open = TAPER_MAX_RANK;
    TAPER_TRY(taper_nnapi_real(state, op->in[0], &x));
    TAPER_TRY(taper_nnapi_ints(state, op->in[1], TAPER_MAX_RANK, sizes, &rank));
    total = taper_tensor_numel(x);
    bool fits = true;
    for (size_t i = 0; i < rank; i++) {
        if (sizes[i] == -1 && open == TAPER_MAX_RANK) {
            open = i;
        } else {
            fits = fits && sizes[i] >= 0 && taper_mul_i64(known, sizes[i], &known);
        }
    }
    if (fits && open != TAPER_MAX_RANK) {
        fits = known > 0 && total % known == 0;
        sizes[open] = fits ? total / known : 0;
    } else {
        fits = fits && known == total;
    }
    if (!fits) {
        TAPER_FAIL(state->run->error, TAPER_ERROR_ARGUMENT, "a tensor of sizes %s cannot be reshaped to %s",
                   TAPER_SHAPE(x), taper_shape_print(rank, sizes).text);
    }
    taper_strides_contiguous(rank, sizes, strides);
    const taper_tensor view = taper_tensor_twin(x, rank, sizes, strides);
    return give_view(state, op, &view);
}

static taper_status run_expand_dims(taper_nnapi_run *state, const taper_nnapi_operation *op)
{
    taper_tensor *x;
    size_t axis = 0;
    int64_t sizes[TAPER_MAX_RANK + 1], strides[TAPER_MAX_RANK + 1];
    TAPER_TRY(taper_nnapi_real(state, op->in[0], &x));
    TAPER_TRY(read_axis(state, op->in[1], x->rank + 1u, &axis));
    if (x->rank == TAPER_MAX_RANK) {
        TAPER_FAIL(state->run->error, TAPER_ERROR_UNSUPPORTED, "more than %d dimensions", TAPER_MAX_RANK);
    }
    for (size_t i = 0, from = 0; i <= x->rank; i++) {
        sizes[i] = i == axis ? 1 : x->sizes[from];
        strides[i] = i == axis ? 1 : x->strides[from];
        from += i == axis ? 0 : 1;
    }
    const taper_tensor view = taper_tensor_twin(x, x->rank + 1u, sizes, strides);
    return give_view(state, op, &view);
}

static taper_status run_slice(taper_nnapi_run *state, const taper_nnapi_operation *op)
{
    taper_tensor *x;
    int64_t begin[TAPER_MAX_RANK], end[TAPER_MAX_RANK], step[TAPER_MAX_RANK], masks[3], sizes[TAPER_MAX_RANK],
        strides[TAPER_MAX_RANK];
    int64_t offset = 0;
    size_t counts[3];
    TAPER_TRY(taper_nnapi_real(state, op->in[0], &x));
    TAPER_TRY(taper_nnapi_ints(state, op->in[1], TAPER_MAX_RANK, begin, &counts[0]));
    TAPER_TRY(taper_nnapi_ints(state, op->in[2], TAPER_MAX_RANK, end, &counts[1]));
    TAPER_TRY(taper_nnapi_ints(state, op->in[3], TAPER_MAX_RANK, step, &counts[2]));
    for (size_t i = 0; i < 3; i++) {
        TAPER_TRY(read_int(state, op->in[4 + i], &masks[i]));
    }
    if (counts[0] != x->rank || counts[1] != x->rank || counts[2] != x->rank || masks[2] != 0) {
        TAPER_FAIL(state->run->error, TAPER_ERROR_UNSUPPORTED,
                   "a slice of a tensor of sizes %s with %zu, %zu and %zu numbers and shrink mask %lld", TAPER_SHAPE(x),
                   counts[0], counts[1], counts[2], (long long)masks[2]);
    }
    for (size_t i = 0; i < x->rank; i++) {
        const int64_t size = x->sizes[i];
        int64_t from = (masks[0] >> i & 1) != 0 ? 0 : begin[i], to = (masks[1] >> i & 1) != 0 ? size : end[i];
        from = taper_min_i64(taper_max_i64(from < 0 ? from + size : from, 0), size);
        to = taper_min_i64(taper_max_i64(to < 0 ? to + size : to, from), size);
        if (step[i] < 1) {
            TAPER_FAIL(state->run->error, TAPER_ERROR_UNSUPPORTED, "a slice with step %lld", (long long)step[i]);
        }
        sizes[i] = (to - from + step[i] - 1) / step[i];
        strides[i] = sizes[i] > 1 ? x->strides[i] * step[i] : x->strides[i];
        offset += sizes[i] > 0 ? from * x->strides[i] : 0;
    }
    taper_tensor view = taper_tensor_twin(x, x->rank, sizes, strides);
    view.offset += offset;
    return give_view(state, op, &view);
}

static taper_status run_concat(taper_nnapi_run *state, const taper_nnapi_operation *op)
{
    taper_tensor *first, *x, *out = NULL;
    size_t axis = 0;
    int64_t sizes[TAPER_MAX_RANK], total = 0;
    TAPER_TRY(taper_nnapi_real(state, op->in[0], &first));
    TAPER_TRY(read_axis(state, op->in[op->in_count - 1], first->rank, &axis));
    for (uint32_t i = 0; i + 1 < op->in_count; i++) {
        TAPER_TRY(taper_nnapi_real(state, op->in[i], &x));
        bool fits = x->rank == first->rank;
        for (size_t d = 0; fits && d < x->rank; d++) {
            fits = d == axis || x->sizes[d] == first->sizes[d];
        }
        if (!fits || !taper_add_i64(total, x->sizes[axis], &total)) {
            TAPER_FAIL(state->run->error, TAPER_ERROR_ARGUMENT, "sizes %s and %s cannot be joined at dimension %zu",
                       TAPER_SHAPE(first), TAPER_SHAPE(x), axis);
        }
    }
    memcpy(sizes, first->sizes, first->rank * sizeof *sizes);
    sizes[axis] = total;
    TAPER_TRY(new_like(state, first->rank, sizes, &out));
    int64_t at = 0;
    for (uint32_t i = 0; i + 1 < op->in_count; i++) {
        taper_status status = taper_nnapi_real(state, op->in[i], &x);
        if (status == TAPER_OK) {
            taper_tensor part = taper_tensor_twin(out, out->rank, x->sizes, out->strides);
            part.offset += at * out->strides[axis];
            status = taper_run_copy(state->run, &part, x);
            at += x->sizes[axis];
        }
        if (status != TAPER_OK) {
            taper_tensor_drop(out);
            return status;
        }
    }
    return taper_nnapi_put(state, op->out[0], out);
}

static taper_status run_transpose(taper_nnapi_run *state, const taper_nnapi_operation *op)
{
    taper_tensor *x;
    int64_t order[TAPER_MAX_RANK], sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
    size_t count;
    bool seen[TAPER_MAX_RANK] = {false};
    TAPER_TRY(taper_nnapi_real(state, op->in[0], &x));
    TAPER_TRY(taper_nnapi_ints(state, op->in[1], TAPER_MAX_RANK, order, &count));
    bool fits = count == x->rank;
    for (size_t i = 0; fits && i < count; i++) {
        fits = order[i] >= 0 && order[i] < x->rank && !seen[order[i]];
        if (fits) {
            seen[order[i]] = true;
            sizes[i] = x->sizes[order[i]];
            strides[i] = x->strides[order[i]];
        }
    }
    if (!fits) {
        TAPER_FAIL(state->run->error, TAPER_ERROR_FILE, "%s is no order of the dimensions of %s",
                   taper_shape_print(count, order).text, TAPER_SHAPE(x));
    }
    const taper_tensor view = taper_tensor_twin(x, count, sizes, strides);
    return give_view(state, op, &view);
}

// ---- the table

typedef struct nnapi_entry {
    uint32_t code, least, most; // inputs
    nnapi_kernel kernel;
} nnapi_entry;

static const nnapi_entry entries[] = {
    {CODE_ADD, 3, 3, run_binary},
    {CODE_SUB, 3, 3, run_binary},
    {CODE_MUL, 3, 3, run_binary},
    {CODE_DIV, 3, 3, run_binary},
    {CODE_PRELU, 2, 2, run_binary},
    {CODE_RELU, 1, 1, run_unary},
    {CODE_RELU1, 1, 1, run_unary},
    {CODE_RELU6, 1, 1, run_unary},
    {CODE_LOGISTIC, 1, 1, run_unary},
    {CODE_CONV, 11, 11, run_conv},
    {CODE_DEPTHWISE, 12, 12, run_conv},
    {CODE_CONV_TRANSPOSED, 11, 11, run_conv},
    {CODE_MAX_POOL, 11, 11, run_pool},
    {CODE_AVERAGE_POOL, 11, 11, run_pool},
    {94, 4, 4, run_resize},
    {9, 4, 4, run_linear},
    {CODE_SOFTMAX, 3, 3, run_softmax},
    {CODE_LOG_SOFTMAX, 3, 3, run_softmax},
    {31, 3, 3, run_mean},
    {22, 2, 2, run_reshape},
    {50, 2, 2, run_expand_dims},
    {35, 7, 7, run_slice},
    {2, 2, UINT32_MAX, run_concat},
    {37, 2, 2, run_transpose},
    {72, 1, 1, run_copy},
    {6, 1, 1, run_copy},
};

taper_status taper_nnapi_operate(taper_nnapi_run *state, const taper_nnapi_operation *operation)
{
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        if (entries[i].code != operation->code) {
            continue;
        }
        if (operation->in_count < entries[i].least || operation->in_count > entries[i].most ||
            operation->out_count != 1) {
            TAPER_FAIL(state->run->error, TAPER_ERROR_FILE, "%u inputs and %u outputs are not possible",
                       operation->in_count, operation->out_count);
        }
        return entries[i].kernel(state, operation);
    }
    TAPER_FAIL(state->run->error, TAPER_ERROR_UNSUPPORTED, "the operation is not supported");
}
