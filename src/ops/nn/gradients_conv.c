// SPDX-License-Identifier: BSD-2-Clause
// convolution_backward in one to three dimensions, transposed or not. It computes in doubles, product by product.
#include "base/checked.h"
#include "ops/call/call.h"
#include "ops/engine/view_move.h"
#include "ops/engine/volume.h"

// A convolution has a side with few positions and a side with many: many = few * stride - padding + kernel * dilation.
// The side with few positions is the output, or for a transposed convolution the input. The weight is [channels of few,
// channels of many / groups, kernel].
typedef struct conv_gradient {
    taper_call *call;
    taper_tensor *few, *many, *weight; // contiguous tensors, owned by this struct
    size_t dims;
    int64_t stride[3], padding[3], dilation[3], groups;
    bool transposed;
    int64_t kernel[3], few_size[3], many_size[3], few_channels, many_channels, samples;
    double *sums[3]; // gradients of the input, the weight and the bias
    size_t bytes[3];
} conv_gradient;

static double at(const taper_tensor *x, int64_t i)
{
    return taper_number_load((taper_dtype)x->dtype, taper_tensor_data(x), i);
}

static void one_kernel(conv_gradient *g, int64_t sample, int64_t f, int64_t m, int64_t weight_at)
{
    const int64_t few_at = (sample * g->few_channels + f) * g->few_size[0] * g->few_size[1] * g->few_size[2];
    const int64_t many_at = (sample * g->many_channels + m) * g->many_size[0] * g->many_size[1] * g->many_size[2];
    const int64_t taps = g->kernel[0] * g->kernel[1] * g->kernel[2];
    const int64_t pixels = g->few_size[0] * g->few_size[1] * g->few_size[2];
    for (int64_t tap = 0; tap < taps; tap++) {
        const int64_t k[3] = {tap / (g->kernel[1] * g->kernel[2]), tap / g->kernel[2] % g->kernel[1],
                              tap % g->kernel[2]};
        const double w = at(g->weight, weight_at + tap);
        for (int64_t p = 0; p < pixels && taper_run_step(g->call->run, p, 20); p++) {
            const int64_t s[3] = {p / (g->few_size[1] * g->few_size[2]), p / g->few_size[2] % g->few_size[1],
                                  p % g->few_size[2]};
            int64_t there = 0;
            bool inside = true;
            for (size_t d = 0; d < 3; d++) {
                const int64_t i = s[d] * g->stride[d] - g->padding[d] + k[d] * g->dilation[d];
                inside = inside && i >= 0 && i < g->many_size[d];
                there = there * g->many_size[d] + i;
            }
            if (inside) {
                const double few = at(g->few, few_at + p), many = at(g->many, many_at + there);
                g->sums[0][g->transposed ? few_at + p : many_at + there] += (g->transposed ? many : few) * w;
                g->sums[1][weight_at + tap] += few * many;
            }
        }
    }
}

static void add_bias(conv_gradient *g)
{
    const taper_tensor *from = g->transposed ? g->many : g->few;
    const int64_t channels = g->transposed ? g->many_channels : g->few_channels;
    const int64_t count = taper_tensor_numel(from), plane = count / (g->samples * channels);
    for (int64_t i = 0; i < count && taper_run_step(g->call->run, i, 10); i++) {
        g->sums[2][i / plane % channels] += at(from, i);
    }
}

static taper_status compute(conv_gradient *g)
{
    const int64_t per_group = g->many_channels / g->groups, few_per_group = g->few_channels / g->groups;
    const int64_t taps = g->kernel[0] * g->kernel[1] * g->kernel[2];
    for (int64_t n = 0; n < g->samples; n++) {
        for (int64_t f = 0; f < g->few_channels; f++) {
            for (int64_t m = 0; m < per_group && taper_run_goes_on(g->call->run, 20); m++) {
                one_kernel(g, n, f, f / few_per_group * per_group + m, (f * per_group + m) * taps);
            }
        }
    }
    add_bias(g);
    return TAPER_OK;
}

static taper_status read_numbers(conv_gradient *g)
{
    const taper_call *call = g->call;
    int64_t *const lists[] = {g->stride, g->padding, g->dilation};
    size_t count;
    TAPER_TRY(taper_arg_bool(call, 7, &g->transposed));
    TAPER_TRY(taper_arg_int(call, 9, &g->groups));
    for (size_t i = 0; i < 3; i++) {
        int64_t numbers[3];
        TAPER_TRY(taper_arg_ints(call, 4 + i, g->dims, 3, numbers, &count));
        for (size_t d = 0; d < 3; d++) { // dimensions that the convolution lacks come first and have size 1
            const bool there = d + g->dims >= 3;
            lists[i][d] = there ? numbers[d + g->dims - 3] : i == 1 ? 0 : 1;
            if (lists[i][d] < (i == 1 ? 0 : 1) || lists[i][d] > INT32_MAX) {
                return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "argument '%s' is out of range",
                                  taper_arg_name(call, 4 + i));
            }
        }
    }
    return TAPER_OK;
}

static void spatial_of(const taper_tensor *x, size_t dims, int64_t sizes[3])
{
    for (size_t d = 0; d < 3; d++) {
        sizes[d] = d + dims >= 3 ? x->sizes[2 + d + dims - 3] : 1;
    }
}

static taper_status open_all(conv_gradient *g)
{
    taper_tensor *given[3];
    for (size_t i = 0; i < 3; i++) {
        TAPER_TRY(taper_arg_tensor(g->call, i, &given[i]));
        if (!taper_dtype_is_float((taper_dtype)given[i]->dtype) || given[i]->rank < 3 || given[i]->rank > 5 ||
            given[i]->rank != given[0]->rank || taper_tensor_numel(given[i]) == 0) {
            return taper_fail(g->call->run->error, TAPER_ERROR_ARGUMENT,
                              "argument '%s': a tensor of floats with 3 to 5 dimensions is needed, as the others",
                              taper_arg_name(g->call, i));
        }
    }
    g->dims = given[0]->rank - 2u;
    TAPER_TRY(read_numbers(g));
    TAPER_TRY(taper_run_contiguous(g->call->run, given[g->transposed ? 1 : 0], &g->few));
    TAPER_TRY(taper_run_contiguous(g->call->run, given[g->transposed ? 0 : 1], &g->many));
    TAPER_TRY(taper_run_contiguous(g->call->run, given[2], &g->weight));
    spatial_of(g->few, g->dims, g->few_size);
    spatial_of(g->many, g->dims, g->many_size);
    spatial_of(g->weight, g->dims, g->kernel);
    g->samples = g->few->sizes[0];
    g->few_channels = g->few->sizes[1];
    g->many_channels = g->many->sizes[1];
    if (g->groups < 1 || g->samples != g->many->sizes[0] || g->few_channels % g->groups != 0 ||
        g->many_channels % g->groups != 0 || g->weight->sizes[0] != g->few_channels ||
        g->weight->sizes[1] != g->many_channels / g->groups) {
        return taper_fail(g->call->run->error, TAPER_ERROR_ARGUMENT,
                          "grad_output, input and weight do not fit each other");
    }
    const int64_t counts[] = {taper_tensor_numel(g->transposed ? g->few : g->many), taper_tensor_numel(g->weight),
                              g->transposed ? g->many_channels : g->few_channels};
    for (size_t i = 0; i < 3; i++) {
        size_t bytes;
        if (!taper_mul_size((size_t)counts[i], sizeof(double), &bytes) ||
            (g->sums[i] = taper_heap_alloc(g->call->run->heap, bytes)) == NULL) {
            return taper_fail_memory(g->call->run->error);
        }
        g->bytes[i] = bytes;
        memset(g->sums[i], 0, bytes);
    }
    return TAPER_OK;
}

static taper_status give_all(const conv_gradient *g)
{
    taper_list *mask;
    TAPER_TRY(taper_arg_list(g->call, 10, &mask));
    const taper_tensor *input = g->transposed ? g->few : g->many;
    const int64_t outputs = g->transposed ? g->many_channels : g->few_channels;
    for (size_t i = 0; i < 3 && i < mask->count; i++) {
        taper_tensor *y;
        const taper_tensor *like = i == 0 ? input : g->weight;
        if (mask->items[i].tag != TAPER_BOOLEAN || !mask->items[i].as.b) {
            continue;
        }
        TAPER_TRY(taper_ret_new(g->call, i, (taper_dtype)input->dtype, i == 2 ? 1 : like->rank,
                                i == 2 ? &outputs : like->sizes, NULL, &y));
        for (int64_t k = 0; k < taper_tensor_numel(y) && taper_run_step(g->call->run, k, 10); k++) {
            taper_number_store((taper_dtype)y->dtype, taper_tensor_mutable(y), k, g->sums[i][k]);
        }
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_convolution_backward)
{
    conv_gradient g = {.call = call};
    taper_status status = open_all(&g);
    status = status == TAPER_OK ? compute(&g) : status;
    status = status == TAPER_OK ? give_all(&g) : status;
    taper_tensor_drop(g.few);
    taper_tensor_drop(g.many);
    taper_tensor_drop(g.weight);
    for (size_t i = 0; i < 3; i++) {
        if (g.sums[i] != NULL) {
            taper_heap_free(call->run->heap, g.sums[i], g.bytes[i]);
        }
    }
    return status;
}
