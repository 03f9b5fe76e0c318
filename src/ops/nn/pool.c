// SPDX-License-Identifier: BSD-2-Clause
// Arguments and geometry of the pooling operators. pool_max.c, pool_avg.c and pool_index.c compute them.
#include "ops/nn/pool.h"

#include "ops/call/call.h"

// The definition that compilers link if they call the inline function instead of inlining it.
extern taper_pool_window taper_pool_window_at(const taper_pool_axis *axis, int64_t o);

// Bound for kernel, stride, padding and dilation, as in PyTorch. The product of two such numbers fits into 64 bits.
enum { LARGEST = INT32_MAX };

static taper_status read_numbers(const taper_call *call, size_t at, size_t spatial, const char *what, int64_t least,
                                 int64_t *numbers)
{
    size_t count;
    TAPER_TRY(taper_arg_ints(call, at, spatial, spatial, numbers, &count));
    for (size_t i = 0; i < spatial; i++) {
        if (numbers[i] < least || numbers[i] > LARGEST) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "%s is %lld, expected %lld or more", what,
                       (long long)numbers[i], (long long)least);
        }
    }
    return TAPER_OK;
}

static bool is_empty_list(const taper_call *call, size_t at)
{
    return taper_arg_is_none(call, at) || (call->args[at].tag == TAPER_LIST && call->args[at].as.list->count == 0);
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

static const taper_pool_axis one_axis = {
    .input = 1, .output = 1, .kernel = 1, .stride = 1, .padding = 0, .dilation = 1};

taper_status taper_pooling_read(const taper_call *call, size_t at, bool has_dilation, const taper_tensor *x,
                                size_t spatial, taper_pooling *pooling)
{
    TAPER_TRY(taper_volume_check(call, x, spatial, true));
    int64_t kernel[3], stride[3], padding[3], dilation[3] = {1, 1, 1};
    TAPER_TRY(read_numbers(call, at, spatial, "kernel_size", 1, kernel));
    if (is_empty_list(call, at + 1)) {
        memcpy(stride, kernel, sizeof stride);
    } else {
        TAPER_TRY(read_numbers(call, at + 1, spatial, "stride", 1, stride));
    }
    TAPER_TRY(read_numbers(call, at + 2, spatial, "padding", 0, padding));
    if (has_dilation) {
        TAPER_TRY(read_numbers(call, at + 3, spatial, "dilation", 1, dilation));
    }
    bool ceil_mode;
    TAPER_TRY(taper_arg_bool(call, at + (has_dilation ? 4 : 3), &ceil_mode));

    *pooling = (taper_pooling){.spatial = spatial, .axis = {one_axis, one_axis, one_axis}, .size = {1, 1, 1}};
    for (size_t i = 0; i < spatial; i++) {
        const int64_t input = x->sizes[x->rank - spatial + i];
        if (padding[i] > kernel[i] / 2) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "padding %lld is more than half of the kernel size %lld",
                       (long long)padding[i], (long long)kernel[i]);
        }
        int64_t span = input + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1;
        int64_t output = floor_divide(span + (ceil_mode ? stride[i] - 1 : 0), stride[i]) + 1;
        if (ceil_mode && (output - 1) * stride[i] >= input + padding[i]) {
            output--; // drops the last window if it starts after the input and its left padding
        }
        if (output < 1) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                       "an input of size %lld is too small for a kernel of size %lld", (long long)input,
                       (long long)kernel[i]);
        }
        pooling->axis[3 - spatial + i] = (taper_pool_axis){.input = input,
                                                           .output = output,
                                                           .kernel = kernel[i],
                                                           .stride = stride[i],
                                                           .padding = padding[i],
                                                           .dilation = dilation[i]};
        pooling->size[3 - spatial + i] = output;
    }
    return TAPER_OK;
}

taper_status taper_pooling_adaptive(const taper_call *call, const taper_tensor *x, size_t spatial,
                                    const int64_t size[3], taper_pooling *pooling)
{
    *pooling = (taper_pooling){.spatial = spatial, .axis = {one_axis, one_axis, one_axis}, .size = {1, 1, 1}};
    for (size_t i = 3 - spatial; i < 3; i++) {
        const int64_t input = x->sizes[x->rank - 3 + i];
        if (input > LARGEST || size[i] < 0 || size[i] > LARGEST) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "cannot pool an input of size %lld to %lld",
                       (long long)input, (long long)size[i]);
        }
        pooling->axis[i] = (taper_pool_axis){.input = input, .output = size[i], .adaptive = true};
        pooling->size[i] = size[i];
    }
    return TAPER_OK;
}

taper_status taper_pooling_read_adaptive(const taper_call *call, size_t at, const taper_tensor *x, size_t spatial,
                                         taper_pooling *pooling)
{
    int64_t size[3] = {1, 1, 1};
    size_t count;
    TAPER_TRY(taper_volume_check(call, x, spatial, true));
    TAPER_TRY(taper_arg_ints(call, at, spatial, spatial, size + 3 - spatial, &count));
    return taper_pooling_adaptive(call, x, spatial, size, pooling);
}

double taper_sum_f32(taper_run *run, const float *x, int64_t count)
{
    // Floats are added in LANES lanes. After LEVEL floats the lanes are added to the sums of a block of BLOCK floats.
    // The blocks are added as doubles.
    enum { LANES = 16, LEVEL = 256, BLOCK = 1024 };
    double total = 0.0;
    while (count > 0 && (count <= BLOCK || taper_run_goes_on(run, BLOCK / 2))) {
        const int64_t n = count < BLOCK ? count : BLOCK;
        float sums[LANES] = {0.0f};
        for (int64_t i = 0; i < n;) {
            const int64_t end = taper_min_i64(n, i + LEVEL);
            float lanes[LANES] = {0.0f};
            for (; i + LANES <= end; i += LANES) {
                for (int64_t j = 0; j < LANES; j++) {
                    lanes[j] += x[i + j];
                }
            }
            for (int64_t j = 0; i < end; i++, j++) {
                lanes[j] += x[i];
            }
            for (int64_t j = 0; j < LANES; j++) {
                sums[j] += lanes[j];
            }
        }
        for (int64_t j = 0; j < LANES; j++) {
            total += (double)sums[j];
        }
        x += n;
        count -= n;
    }
    return total;
}
