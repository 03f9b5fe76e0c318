// SPDX-License-Identifier: BSD-2-Clause
// The reference convolution, for tensors of any strides and 1 to 3 dimensions; missing dimensions have size 1. A
// depthwise convolution is computed directly. A 1x1 convolution is a matrix product in place. Other convolutions gather
// patches into a block of columns, then multiply. A transposed convolution multiplies first, then adds the products to
// the result.
#include "ir/tensor.h"
#include "ops/call/parallel.h"
#include "ops/engine/matmul.h"
#include "ops/kernels/kernel_select.h"
#include "ops/list/op_features.h"
#include "ops/nn/conv.h"

enum { BLOCK_ITEMS = 1 << 18 };

typedef struct conv_job {
    taper_run *run;
    taper_dtype dtype; // dtype in which the convolution is computed
    size_t item;
    // sizes; in_channels and out_channels count the channels of one group
    int64_t batch, groups, in_channels, out_channels;
    int64_t taps;
    int64_t in[3], out[3], kernel[3], stride[3], pad[3], dilation[3];
    const char *x;
    int64_t x_batch, x_channel, x_space[3];
    char *y;
    int64_t y_batch, y_channel, y_space[3];
    const char *w; // packed weight, followed by its strides
} conv_job;

// The argument of the task that gathers a block of columns.
typedef struct patches {
    const conv_job *job;
    const void *x;
    bool points;
    int64_t first, count; // output positions: the first one, and their number
    void *column;
} patches;

enum { TAPS = 16 }; // number of taps between two checks of the run's time

// A tap of a kernel. The tap reads the input at position * stride + shift.
typedef struct conv_tap {
    int64_t shift[3];
} conv_tap;

static conv_tap tap_of(const conv_job *job, int64_t tap)
{
    const int64_t kw = tap % job->kernel[2], kh = tap / job->kernel[2] % job->kernel[1],
                  kd = tap / (job->kernel[2] * job->kernel[1]);
    return (conv_tap){{kd * job->dilation[0] - job->pad[0], kh * job->dilation[1] - job->pad[1],
                       kw * job->dilation[2] - job->pad[2]}};
}

// The range of i in [0, count) for which start + i * stride is in [0, limit).
typedef struct conv_range {
    int64_t first, end;
} conv_range;

static conv_range range_inside(int64_t start, int64_t stride, int64_t limit, int64_t count)
{
    const int64_t first = start >= 0 ? 0 : (-start - 1) / stride + 1;
    const int64_t end = start >= limit ? 0 : (limit - 1 - start) / stride + 1;
    conv_range range = {taper_min_i64(first, count), taper_min_i64(end, count)};
    if (range.end < range.first) {
        range.end = range.first;
    }
    return range;
}

#include "ops/nn/conv_patches.h"

#define ELEMENT float
#define NAME(x) f32_##x
#include "ops/nn/conv_direct.h"
#undef ELEMENT
#undef NAME
#define ELEMENT double
#define NAME(x) f64_##x
#include "ops/engine/view_move.h"
#include "ops/nn/conv_direct.h"
#undef ELEMENT
#undef NAME

static taper_status gather(const conv_job *job, const char *x, bool points, int64_t first, int64_t count, void *column)
{
    patches p = {job, x, points, first, count, column};
    const int64_t depth = job->in_channels * job->taps, items = points ? count : depth;
    return taper_run_floats(job->run, gather_range, &p, (size_t)items,
                            (double)(points ? depth : count) * (double)job->item / sizeof(float));
}

// Scatters elements for which there is no special loop: integers, complex numbers, and in small builds doubles.
static void other_scatter(const conv_job *job, const char *column, int64_t first, int64_t count, char *y)
{
    const int64_t width = job->in[2], item = (int64_t)job->item;
    for (int64_t row = 0; row < job->out_channels * job->taps; row++) {
        const conv_tap at = tap_of(job, row % job->taps);
        if (!taper_run_goes_on(job->run, (uint64_t)count * 10)) {
            return;
        }
        for (int64_t p = 0; p < count; p++, column += item) {
            const int64_t q = first + p;
            const int64_t d = q / (job->in[1] * width) * job->stride[0] + at.shift[0];
            const int64_t h = q / width % job->in[1] * job->stride[1] + at.shift[1],
                          w = q % width * job->stride[2] + at.shift[2];
            if (d < 0 || d >= job->out[0] || h < 0 || h >= job->out[1] || w < 0 || w >= job->out[2]) {
                continue;
            }
            void *to = y + (row / job->taps * job->y_channel + d * job->y_space[0] + h * job->y_space[1] +
                            w * job->y_space[2]) *
                               item;
            if (job->dtype == TAPER_F64) {
                *(double *)to += *(const double *)(const void *)column;
            } else if (job->dtype == TAPER_C128) {
                ((double *)to)[0] += ((const double *)(const void *)column)[0];
                ((double *)to)[1] += ((const double *)(const void *)column)[1];
            } else {
                *(uint64_t *)to += *(const uint64_t *)(const void *)column;
            }
        }
    }
}

// Returns true if consecutive positions have one constant step. *step receives it: the step of the last dimension
// larger than 1.
static bool flat(const int64_t *sizes, const int64_t *strides, int64_t *step)
{
    bool known = false;
    int64_t next = 0;
    *step = 1;
    for (int i = 2; i >= 0; i--) {
        if (sizes[i] == 1) {
            continue;
        }
        if (!known) {
            *step = strides[i];
            known = true;
        } else if (strides[i] != next) {
            return false;
        }
        next = strides[i] * sizes[i];
    }
    return true;
}

static int64_t volume(const int64_t *sizes)
{
    return sizes[0] * sizes[1] * sizes[2];
}

static taper_status run_depthwise(const conv_job *job, bool points)
{
    const int64_t out_total = job->groups * job->out_channels, item = (int64_t)job->item;
    for (int64_t n = 0; n < job->batch; n++) {
        const char *x = job->x + n * job->x_batch * item;
        char *y = job->y + n * job->y_batch * item;
        if (points) {
            if (!has_doubles(job->dtype)) {
                f32_depthwise_points(job, (const void *)x, (const void *)job->w, out_total, (void *)y);
            } else {
                f64_depthwise_points(job, (const void *)x, (const void *)job->w, out_total, (void *)y);
            }
            continue;
        }
        for (int64_t c = 0; c < out_total; c++) {
            const void *plane = x + c / job->out_channels * job->x_channel * item;
            const void *weight = job->w + c * item;
            void *to = y + c * job->y_channel * item;
            if (!has_doubles(job->dtype)) {
                f32_depthwise_plane(job, plane, weight, out_total, to);
            } else {
                f64_depthwise_plane(job, plane, weight, out_total, to);
            }
        }
    }
    return TAPER_OK;
}

static int64_t block_of(int64_t depth)
{
    return taper_max_i64(16, taper_min_i64(1024, BLOCK_ITEMS / taper_max_i64(depth, 1)));
}

// Computes the bytes of a block of columns. Returns false on overflow.
static bool block_bytes(const conv_job *job, int64_t depth, int64_t block, size_t *bytes)
{
    return taper_mul_size((size_t)depth, (size_t)block, bytes) && taper_mul_size(*bytes, job->item, bytes);
}

static taper_status run_columns(const conv_job *job, bool points, int64_t y_step)
{
    const int64_t positions = volume(job->out), depth = job->in_channels * job->taps, item = (int64_t)job->item;
    int64_t x_step = 1;
    const bool direct = job->taps == 1 && job->stride[0] == 1 && job->stride[1] == 1 && job->stride[2] == 1 &&
                        job->pad[0] == 0 && job->pad[1] == 0 && job->pad[2] == 0 && volume(job->in) == positions &&
                        flat(job->in, job->x_space, &x_step);
    const int64_t block = direct ? positions : taper_min_i64(block_of(depth), positions);
    size_t bytes = 0;
    void *column = NULL;
    if (!direct) {
        column = block_bytes(job, depth, block, &bytes) ? taper_heap_alloc(job->run->heap, bytes) : NULL;
        if (column == NULL && bytes != 0) {
            return taper_fail_memory(job->run->error);
        }
    }
    taper_status status = TAPER_OK;
    for (int64_t n = 0; n < job->batch && status == TAPER_OK; n++) {
        for (int64_t g = 0; g < job->groups && status == TAPER_OK; g++) {
            const char *x = job->x + (n * job->x_batch + g * job->in_channels * job->x_channel) * item;
            char *y = job->y + (n * job->y_batch + g * job->out_channels * job->y_channel) * item;
            for (int64_t p = 0; p < positions && status == TAPER_OK; p += block) {
                const int64_t count = taper_min_i64(block, positions - p);
                taper_gemm gemm = {.dtype = job->dtype,
                                   .m = job->out_channels,
                                   .n = count,
                                   .k = depth,
                                   .a = job->w + g * job->out_channels * depth * item,
                                   .a_row = depth,
                                   .a_column = 1,
                                   .c = y + p * y_step * item,
                                   .c_row = job->y_channel,
                                   .c_column = y_step,
                                   .add = true};
                if (direct) {
                    gemm.b = x;
                    gemm.b_row = job->x_channel;
                    gemm.b_column = x_step;
                } else {
                    status = gather(job, x, points, p, count, column);
                    gemm.b = column;
                    gemm.b_row = points ? 1 : count;
                    gemm.b_column = points ? depth : 1;
                }
                if (status == TAPER_OK) {
                    status = taper_gemm_run(job->run, &gemm);
                }
            }
        }
    }
    taper_heap_free(job->run->heap, column, bytes);
    return status;
}

static taper_status run_transposed(const conv_job *job, int64_t x_step)
{
    const int64_t positions = volume(job->in), depth = job->out_channels * job->taps, item = (int64_t)job->item;
    const int64_t block = taper_min_i64(block_of(depth), positions);
    size_t bytes = 0;
    void *column = block_bytes(job, depth, block, &bytes) ? taper_heap_alloc(job->run->heap, bytes) : NULL;
    if (column == NULL) {
        return bytes == 0 ? TAPER_OK : taper_fail_memory(job->run->error);
    }
    taper_status status = TAPER_OK;
    for (int64_t n = 0; n < job->batch && status == TAPER_OK; n++) {
        for (int64_t g = 0; g < job->groups && status == TAPER_OK; g++) {
            const char *x = job->x + (n * job->x_batch + g * job->in_channels * job->x_channel) * item;
            char *y = job->y + (n * job->y_batch + g * job->out_channels * job->y_channel) * item;
            for (int64_t p = 0; p < positions && status == TAPER_OK; p += block) {
                const int64_t count = taper_min_i64(block, positions - p);
                const taper_gemm gemm = {.dtype = job->dtype,
                                         .m = depth,
                                         .n = count,
                                         .k = job->in_channels,
                                         .a = job->w + g * job->in_channels * depth * item,
                                         .a_row = 1,
                                         .a_column = depth,
                                         .b = x + p * x_step * item,
                                         .b_row = job->x_channel,
                                         .b_column = x_step,
                                         .c = column,
                                         .c_row = count,
                                         .c_column = 1};
                status = taper_gemm_run(job->run, &gemm);
                if (status != TAPER_OK) {
                    break;
                }
                if (job->dtype == TAPER_F32) {
                    f32_scatter(job, column, p, count, (void *)y);
                } else if (has_doubles(job->dtype)) {
                    f64_scatter(job, column, p, count, (void *)y);
                } else {
                    other_scatter(job, column, p, count, y);
                }
            }
        }
    }
    taper_heap_free(job->run->heap, column, bytes);
    return status;
}

#include "ops/nn/conv_phases.h"

// Sets each output to the bias of its channel, or to 0.
static void fill_bias(const conv_job *job, const taper_tensor *bias)
{
    static const char zero[16] = {0};
    const int64_t sizes[] = {job->batch, job->groups * job->out_channels, job->out[0], job->out[1], job->out[2]};
    const int64_t to[] = {job->y_batch, job->y_channel, job->y_space[0], job->y_space[1], job->y_space[2]};
    const int64_t from[] = {0, bias == NULL ? 0 : bias->strides[0], 0, 0, 0};
    taper_move(job->run, job->item, 5, sizes, job->y, to, bias == NULL ? zero : taper_tensor_data(bias), from);
}

static void clamp_all(const conv_job *job, double min, double max)
{
    for (int64_t n = 0; n < job->batch; n++) {
        for (int64_t c = 0; c < job->groups * job->out_channels; c++) {
            for (int64_t d = 0; d < job->out[0]; d++) {
                for (int64_t h = 0; h < job->out[1] && taper_run_goes_on(job->run, (uint64_t)job->out[2] * 2); h++) {
                    void *row =
                        job->y + (n * job->y_batch + c * job->y_channel + d * job->y_space[0] + h * job->y_space[1]) *
                                     (int64_t)job->item;
                    if (job->dtype == TAPER_F32) {
                        f32_clamp_row(row, job->y_space[2], job->out[2], min, max);
                    } else if (job->dtype == TAPER_F64) {
                        f64_clamp_row(row, job->y_space[2], job->out[2], min, max);
                    }
                }
            }
        }
    }
}

// Reads sizes and strides of a batched or unbatched tensor, as if it had three spatial dimensions.
static void describe(const taper_tensor *tensor, size_t rank, bool unbatched, int64_t *batch_step,
                     int64_t *channel_step, int64_t *sizes, int64_t *steps)
{
    const size_t at = unbatched ? 0 : 1;
    *batch_step = unbatched ? 0 : tensor->strides[0];
    *channel_step = tensor->strides[at];
    for (size_t i = 0; i < 3; i++) {
        const bool there = i + rank >= 3;
        sizes[i] = there ? tensor->sizes[at + 1 + i + rank - 3] : 1;
        steps[i] = there ? tensor->strides[at + 1 + i + rank - 3] : 0;
    }
}

typedef enum weight_order {
    ORDER_FIRST,
    ORDER_LAST,
    ORDER_TAPS
} weight_order; // orders of the weight: [o][i][t], [o][t][i] and [t][o]; o: output, i: input, t: tap

// Converts the weight to the working dtype and the wanted order. Shares the original's storage if the original has this
// dtype and order already.
static taper_status pack_weight(taper_run *run, const taper_conv_args *args, taper_dtype work, weight_order order,
                                int64_t taps, taper_tensor **packed)
{
    const taper_tensor *weight = args->weight;
    int64_t strides[TAPER_MAX_RANK] = {0};
    const int64_t rows = weight->sizes[0], inner = weight->sizes[1];
    int64_t step = order == ORDER_FIRST ? 1 : order == ORDER_LAST ? inner : rows;
    for (size_t i = weight->rank; i-- > 2;) {
        strides[i] = step;
        step *= weight->sizes[i];
    }
    strides[0] = order == ORDER_TAPS ? 1 : inner * taps;
    strides[1] = order == ORDER_FIRST ? taps : 1;
    bool same = weight->dtype == work;
    for (size_t i = 0; i < weight->rank; i++) {
        same = same && (weight->sizes[i] == 1 || weight->strides[i] == strides[i]);
    }
    if (same) {
        *packed = taper_tensor_keep(args->weight);
        return TAPER_OK;
    }
    TAPER_TRY(taper_tensor_new(run->heap, work, weight->rank, weight->sizes, strides, packed, run->error));
    return taper_run_copy(run, *packed, weight);
}

static taper_status run_job(conv_job *job, const taper_conv_args *args, const taper_tensor *bias, taper_tensor **weight)
{
    const bool depthwise = !args->params.transposed && job->in_channels == 1 && job->groups > 1 &&
                           (job->dtype == TAPER_F32 || has_doubles(job->dtype));
    const bool last = job->x_channel == 1 && job->in_channels > 1;
    bool points = false;
    const bool phases = phases_fit(job, args->params.transposed, &points);
    const weight_order order = depthwise || (phases && points)    ? ORDER_TAPS
                               : last && !args->params.transposed ? ORDER_LAST
                                                                  : ORDER_FIRST;
    TAPER_TRY(pack_weight(job->run, args, job->dtype, order, job->taps, weight));
    job->w = taper_tensor_data(*weight);
    fill_bias(job, bias);
    int64_t step;
    taper_status status;
    if (args->params.transposed && !TAPER_CONVOLVES_TRANSPOSED) {
        TAPER_FAIL(job->run->error, TAPER_ERROR_UNSUPPORTED, "this build has no transposed convolutions");
    }
    if (phases) {
        status = run_phases(job, points);
    } else if (args->params.transposed) {
        (void)flat(job->in, job->x_space, &step);
        status = run_transposed(job, step);
    } else if (depthwise) {
        status = run_depthwise(job, job->x_channel == 1 && job->y_channel == 1 && job->out_channels == 1);
    } else {
        (void)flat(job->out, job->y_space, &step);
        status = run_columns(job, last, step);
    }
    if (status == TAPER_OK && args->clamped) {
        clamp_all(job, args->min, args->max);
    }
    return status;
}

taper_status taper_conv_compute(taper_run *run, const taper_conv_args *args, taper_tensor *result)
{
    const taper_conv_params *params = &args->params;
    const taper_dtype work = taper_work_dtype((taper_dtype)args->input->dtype);
    if (taper_tensor_numel(result) == 0) {
        return TAPER_OK;
    }
    conv_job job = {.run = run,
                    .dtype = work,
                    .item = work == TAPER_F32    ? 4
                            : work == TAPER_C128 ? 16
                                                 : 8,
                    .groups = params->groups,
                    .taps = 1,
                    .batch = args->unbatched ? 1 : args->input->sizes[0]};
    taper_tensor *input = NULL, *weight = NULL, *bias = NULL, *made = NULL, *copy = NULL;
    int64_t step;

    taper_status status = taper_tensor_cast(run, args->input, work, &input);
    if (status == TAPER_OK && args->bias != NULL) {
        status = taper_tensor_cast(run, args->bias, work, &bias);
    }
    if (status != TAPER_OK) {
        goto out;
    }
    describe(input, params->rank, args->unbatched, &job.x_batch, &job.x_channel, job.in, job.x_space);
    // If channels are contiguous in the input only, loops along rows would read elements far apart.
    const bool apart = are_apart(args, &job, result);
    if (params->transposed && (apart || !flat(job.in, job.x_space, &step))) {
        status = taper_tensor_new(run->heap, work, input->rank, input->sizes, NULL, &copy, run->error);
        if (status == TAPER_OK) {
            status = taper_run_copy(run, copy, input);
        }
        if (status != TAPER_OK) {
            goto out;
        }
        taper_tensor_drop(input);
        input = copy;
        copy = NULL;
        describe(input, params->rank, args->unbatched, &job.x_batch, &job.x_channel, job.in, job.x_space);
    }
    describe(result, params->rank, args->unbatched, &job.y_batch, &job.y_channel, job.out, job.y_space);
    if (result->dtype == work && flat(job.out, job.y_space, &step)) {
        made = taper_tensor_keep(result);
    } else {
        status = taper_tensor_new(run->heap, work, result->rank, result->sizes, NULL, &made, run->error);
        if (status != TAPER_OK) {
            goto out;
        }
        describe(made, params->rank, args->unbatched, &job.y_batch, &job.y_channel, job.out, job.y_space);
    }
    for (size_t i = 0; i < 3; i++) {
        const bool there = i + params->rank >= 3;
        const size_t from = there ? i + params->rank - 3 : 0;
        job.kernel[i] = there ? args->weight->sizes[2 + from] : 1;
        job.stride[i] = there ? params->stride[from] : 1;
        job.dilation[i] = there ? params->dilation[from] : 1;
        job.pad[i] = there ? params->padding[from] : 0;
        job.taps *= job.kernel[i];
    }
    job.in_channels = args->weight->sizes[params->transposed ? 0 : 1] / (params->transposed ? params->groups : 1);
    job.out_channels = args->weight->sizes[params->transposed ? 1 : 0] / (params->transposed ? 1 : params->groups);
    job.x = taper_tensor_data(input);
    job.y = taper_tensor_mutable(made);
    status = run_job(&job, args, bias, &weight);
    if (status == TAPER_OK && made != result) {
        status = taper_run_copy(run, result, made);
    }
out:
    taper_tensor_drop(input);
    taper_tensor_drop(weight);
    taper_tensor_drop(bias);
    taper_tensor_drop(made);
    taper_tensor_drop(copy);
    return status;
}
