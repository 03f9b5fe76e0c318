// SPDX-License-Identifier: BSD-2-Clause
// torchvision::deform_conv2d: a convolution that reads its input at positions shifted by offsets.
#include <math.h>

#include "ops/call/call.h"
#include "ops/engine/matmul.h"
#include "ops/engine/volume.h"

typedef struct deform_work {
    taper_volume x, weight, offset, mask;
    taper_dtype dtype;
    int64_t stride[2], pad[2], dilation[2];
    int64_t groups, offset_groups;
    bool use_mask;
    const void *in, *weights, *offsets, *masks, *biases;
    int64_t bias_stride;
    void *out;
    int64_t out_high, out_wide;
} deform_work;

static double at_or_zero(const deform_work *work, int64_t base, int64_t y, int64_t x)
{
    if (y < 0 || x < 0 || y >= work->x.size[1] || x >= work->x.size[2]) {
        return 0.0;
    }
    return taper_number_load(work->dtype, work->in, base + y * work->x.stride[1] + x * work->x.stride[2]);
}

static double interpolate(const deform_work *work, int64_t base, double y, double x)
{
    if (!(y > -1.0 && y < (double)work->x.size[1] && x > -1.0 && x < (double)work->x.size[2])) {
        return 0.0;
    }
    const int64_t y0 = (int64_t)floor(y), x0 = (int64_t)floor(x);
    const double ly = y - (double)y0, lx = x - (double)x0;
    return (1.0 - ly) * (1.0 - lx) * at_or_zero(work, base, y0, x0) +
           (1.0 - ly) * lx * at_or_zero(work, base, y0, x0 + 1) + ly * (1.0 - lx) * at_or_zero(work, base, y0 + 1, x0) +
           ly * lx * at_or_zero(work, base, y0 + 1, x0 + 1);
}

// Fills the column of input values that one output position reads, ordered by channel, kernel row and kernel column.
static void fill_column(const deform_work *work, int64_t n, int64_t oy, int64_t ox, double *column)
{
    const int64_t kernel_high = work->weight.size[1], kernel_wide = work->weight.size[2],
                  taps = kernel_high * kernel_wide;
    const int64_t per_group = work->x.c / work->offset_groups;
    const taper_volume *o = &work->offset, *m = &work->mask;
    for (int64_t c = 0; c < work->x.c; c++) {
        const int64_t base = n * work->x.stride_n + c * work->x.stride_c, first = c / per_group * taps;
        for (int64_t tap = 0; tap < taps; tap++) {
            const int64_t at =
                n * o->stride_n + 2 * (first + tap) * o->stride_c + oy * o->stride[1] + ox * o->stride[2];
            const double dy = taper_number_load(work->dtype, work->offsets, at);
            const double dx = taper_number_load(work->dtype, work->offsets, at + o->stride_c);
            const double y = (double)(oy * work->stride[0] - work->pad[0] + tap / kernel_wide * work->dilation[0]) + dy;
            const double x = (double)(ox * work->stride[1] - work->pad[1] + tap % kernel_wide * work->dilation[1]) + dx;
            double value = interpolate(work, base, y, x);
            if (work->use_mask) {
                value *= taper_number_load(work->dtype, work->masks,
                                           n * m->stride_n + (first + tap) * m->stride_c + oy * m->stride[1] +
                                               ox * m->stride[2]);
            }
            *column++ = value;
        }
    }
}

static void run_deform(taper_run *run, const deform_work *work, double *column)
{
    const int64_t outputs = work->weight.n, inner = work->weight.c, kernel_wide = work->weight.size[2];
    const int64_t taps = work->weight.size[1] * kernel_wide, per_group = outputs / work->groups;
    // The work of one position, in nanoseconds.
    const uint64_t position = (uint64_t)(work->x.c * taps) * 60 + (uint64_t)(outputs * (inner * taps * 5 + 5));
    for (int64_t n = 0; n < work->x.n; n++) {
        for (int64_t oy = 0; oy < work->out_high; oy++) {
            for (int64_t ox = 0; ox < work->out_wide && taper_run_goes_on(run, position); ox++) {
                fill_column(work, n, oy, ox, column);
                for (int64_t k = 0; k < outputs; k++) {
                    const double *from = column + k / per_group * inner * taps;
                    double sum = 0.0;
                    for (int64_t c = 0; c < inner; c++) {
                        for (int64_t tap = 0; tap < taps; tap++) {
                            const int64_t at = k * work->weight.stride_n + c * work->weight.stride_c +
                                               tap / kernel_wide * work->weight.stride[1] +
                                               tap % kernel_wide * work->weight.stride[2];
                            sum += taper_number_load(work->dtype, work->weights, at) * *from++;
                        }
                    }
                    sum += taper_number_load(work->dtype, work->biases, k * work->bias_stride);
                    taper_number_store(work->dtype, work->out,
                                       ((n * outputs + k) * work->out_high + oy) * work->out_wide + ox, sum);
                }
            }
        }
    }
}

#include "ops/vision/vision_deform_floats.h"

static taper_status check(const taper_call *call, bool fits, const char *what)
{
    if (!fits) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "%s do not fit the other arguments", what);
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_deform_conv2d)
{
    taper_tensor *t[5], *y; // arguments: input, weight, offset, mask, bias
    deform_work work;
    memset(&work, 0, sizeof work);
    int64_t numbers[8];
    for (size_t i = 0; i < 5; i++) {
        TAPER_TRY(taper_arg_tensor(call, i, &t[i]));
    }
    for (size_t i = 0; i < 8; i++) {
        TAPER_TRY(taper_arg_int(call, 5 + i, &numbers[i]));
        if (numbers[i] < (i == 2 || i == 3 ? 0 : 1) || numbers[i] > INT32_MAX) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "stride, padding, dilation and groups must be positive");
        }
    }
    TAPER_TRY(taper_arg_bool(call, 13, &work.use_mask));
    TAPER_TRY(taper_volume_check(call, t[0], 2, false));
    TAPER_TRY(taper_volume_check(call, t[1], 2, false));
    for (size_t i = 0; i < 5; i++) {
        const bool needed = i != 3 || work.use_mask;
        TAPER_TRY(check(call, !needed || (t[i]->dtype == t[0]->dtype && t[i]->rank == (i == 4 ? 1 : 4)),
                        "dtypes and dimensions"));
    }
    work.dtype = (taper_dtype)t[0]->dtype;
    TAPER_TRY(check(call, taper_dtype_is_float(work.dtype), "dtypes"));
    work.x = taper_volume_of(t[0], 2);
    work.weight = taper_volume_of(t[1], 2);
    work.offset = taper_volume_of(t[2], 2);
    memcpy(work.stride, numbers, sizeof work.stride);
    memcpy(work.pad, numbers + 2, sizeof work.pad);
    memcpy(work.dilation, numbers + 4, sizeof work.dilation);
    work.groups = numbers[6];
    work.offset_groups = numbers[7];
    TAPER_TRY(check(call,
                    work.x.c % work.groups == 0 && work.weight.c == work.x.c / work.groups &&
                        work.weight.n % work.groups == 0 && work.x.c % work.offset_groups == 0,
                    "channels and groups"));
    int64_t size[2];
    for (size_t i = 0; i < 2; i++) {
        if (work.weight.size[1 + i] > INT32_MAX || work.x.size[1 + i] > INT32_MAX) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "the input or the kernel is too large");
        }
        const int64_t span =
            work.x.size[1 + i] + 2 * work.pad[i] - work.dilation[i] * (work.weight.size[1 + i] - 1) - 1;
        size[i] = span < 0 ? 0 : span / work.stride[i] + 1;
        if (size[i] < 1) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "the input is too small for the kernel");
        }
    }
    // The kernel's area cannot overflow, since both sizes are at most INT32_MAX. Its product with the groups may
    // overflow.
    int64_t wanted;
    const bool fits = taper_mul_i64(work.offset_groups * 2, work.weight.size[1] * work.weight.size[2], &wanted);
    TAPER_TRY(check(call,
                    fits && work.offset.n == work.x.n && work.offset.c == wanted && work.offset.size[1] == size[0] &&
                        work.offset.size[2] == size[1],
                    "the sizes of offset"));
    if (work.use_mask) {
        work.mask = taper_volume_of(t[3], 2);
        TAPER_TRY(check(call,
                        work.mask.n == work.x.n && work.mask.c * 2 == wanted && work.mask.size[1] == size[0] &&
                            work.mask.size[2] == size[1],
                        "the sizes of mask"));
    }
    TAPER_TRY(check(call, t[4]->sizes[0] == work.weight.n, "the sizes of bias"));
    size_t cells, bytes;
    if (!taper_mul_size((size_t)work.x.c, (size_t)(work.weight.size[1] * work.weight.size[2]), &cells) ||
        !taper_mul_size(cells, sizeof(double), &bytes)) {
        return taper_fail_memory(call->run->error);
    }
    const int64_t sizes[4] = {work.x.n, work.weight.n, size[0], size[1]};
    TAPER_TRY(taper_ret_new(call, 0, work.dtype, 4, sizes, NULL, &y));
    if (taper_tensor_numel(y) == 0) {
        return TAPER_OK;
    }
    work.in = taper_tensor_data(t[0]);
    work.weights = taper_tensor_data(t[1]);
    work.offsets = taper_tensor_data(t[2]);
    work.masks = taper_tensor_data(t[3]);
    work.biases = taper_tensor_data(t[4]);
    work.bias_stride = t[4]->strides[0];
    work.out = taper_tensor_mutable(y);
    work.out_high = size[0];
    work.out_wide = size[1];
    const taper_status status = run_floats(call->run, &work);
    if (status != TAPER_DECLINED) {
        return status;
    }
    double *column = taper_heap_alloc(call->run->heap, bytes);
    if (column == NULL) {
        return taper_fail_memory(call->run->error);
    }
    run_deform(call->run, &work, column);
    taper_heap_free(call->run->heap, column, bytes);
    return TAPER_OK;
}
