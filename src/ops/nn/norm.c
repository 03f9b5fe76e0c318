// SPDX-License-Identifier: BSD-2-Clause
// batch_norm, instance_norm and group_norm. Each is one affine map per channel (and sample), with coefficients from
// given or measured statistics.
#include "ops/nn/norm.h"

#include <math.h>

#include "ir/storage.h"
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/view_move.h"
#include "ops/list/op_features.h"

// An optional parameter per channel. If it is missing, every channel has the value `otherwise`.
typedef struct norm_param {
    taper_tensor *tensor;
    int64_t stride;
    double otherwise;
} norm_param;

static taper_status param_read(const taper_call *call, size_t at, int64_t channels, double otherwise, const char *name,
                               norm_param *param)
{
    param->otherwise = otherwise;
    param->stride = 1;
    TAPER_TRY(taper_arg_tensor_or_none(call, at, &param->tensor));
    taper_tensor *t = param->tensor;
    if (t == NULL) {
        return TAPER_OK;
    }
    if (taper_tensor_numel(t) != channels || !taper_dtype_is_float((taper_dtype)t->dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "%s should hold %lld floating-point numbers, one per channel", name, (long long)channels);
    }
    if (t->rank == 1) {
        param->stride = t->strides[0];
    } else if (!taper_tensor_is_contiguous(t)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "%s should have one dimension", name);
    }
    return TAPER_OK;
}

static double param_get(const norm_param *param, int64_t channel)
{
    const taper_tensor *t = param->tensor;
    return t == NULL ? param->otherwise
                     : taper_number_load((taper_dtype)t->dtype, taper_tensor_data(t), channel * param->stride);
}

static void param_set(const norm_param *param, int64_t channel, double value)
{
    taper_number_store((taper_dtype)param->tensor->dtype, taper_tensor_mutable(param->tensor), channel * param->stride,
                       value);
}

// ---- tensors of rank 2 and above as volumes

static taper_volume volume_of(const taper_tensor *t)
{
    if (t->rank <= 5) {
        return taper_volume_of(t, t->rank - 2u);
    }
    // The caller has made tensors of rank 6 or more contiguous.
    taper_volume volume = {.n = t->sizes[0],
                           .c = t->sizes[1],
                           .size = {1, 1, 1},
                           .stride_n = t->strides[0],
                           .stride_c = t->strides[1],
                           .stride = {1, 1, 1}};
    for (size_t i = 2; i < t->rank; i++) {
        volume.size[2] *= t->sizes[i];
    }
    return volume;
}

typedef enum norm_layout { NORM_CONTIGUOUS, NORM_BATCH, NORM_SUGGESTED } norm_layout;

typedef struct norm_work {
    taper_norm norm;
    taper_tensor *x; // the input, as a retained reference
    taper_tensor *y;
    int64_t groups_of_scale; // number of (scale, shift) pairs
    double *mean, *squares;  // statistics per channel and sample, or per `joined` channels of a sample
    int64_t joined;
    void *scale, *shift; // coefficients, as float or double, the dtype of the computation
    size_t plane_bytes, scale_bytes;
} norm_work;

static void work_free(taper_call *call, norm_work *work)
{
    taper_heap *heap = call->run->heap;
    void *const planes[2] = {work->mean, work->squares}, *const pairs[2] = {work->scale, work->shift};
    for (size_t i = 0; i < 2; i++) {
        if (planes[i] != NULL) {
            taper_heap_free(heap, planes[i], work->plane_bytes);
        }
        if (pairs[i] != NULL) {
            taper_heap_free(heap, pairs[i], work->scale_bytes);
        }
    }
    if (work->x != NULL) {
        taper_obj_release(&work->x->head);
    }
}

#include "ops/nn/norm_lines.h"

// Measures the statistics of each channel, or of each group of `channels` channels if the channels are contiguous.
static taper_status measure(norm_work *work, int64_t channels)
{
    taper_norm norm = work->norm;
    taper_volume *x = &norm.x;
    work->joined = 1;
    if (follow_each_other(x)) {
        work->joined = channels;
        x->c /= channels;
        x->stride_c *= channels;
        x->size[2] *= channels;
        norm.spatial *= channels;
    }
    return taper_norm_planes(&norm, work->mean, work->squares);
}

// Checks the input, makes the result in its layout, and allocates the coefficients. If `statistics` is not 0, it also
// measures statistics, over `statistics` channels at a time.
static taper_status work_begin(taper_call *call, norm_layout layout, int64_t statistics, bool per_sample,
                               norm_work *work)
{
    taper_error *error = call->run->error;
    taper_tensor *x;
    memset(work, 0, sizeof *work);
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    const taper_dtype dtype = (taper_dtype)x->dtype;
    if (x->rank < 2) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the input has %u dimensions, expected at least 2", (unsigned)x->rank);
    }
    if (!taper_dtype_is_float(dtype)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the input must be a tensor of floating-point numbers");
    }
    TAPER_TRY(taper_out_check(call, 0, x, dtype));
    if (x->rank > 5) {
        TAPER_TRY(taper_run_contiguous(call->run, x, &work->x));
    } else {
        taper_obj_retain(&x->head);
        work->x = x;
    }
    x = work->x;
    taper_status status;
    // For batch norm PyTorch ignores the strides of dimensions of size 1 in a dense tensor.
    const bool last =
        x->rank >= 4 && x->rank <= 5 &&
        (taper_tensor_suggests_channels_last(x) || (layout == NORM_BATCH && taper_tensor_is_channels_last(x)));
    const bool follows = layout == NORM_SUGGESTED || (layout == NORM_BATCH && !taper_tensor_is_contiguous(x));
    if (x->hidden_nhwc || last) {
        const bool hidden = x->hidden_nhwc || !follows;
        status = taper_ret_new_nhwc(call, 0, dtype, x->rank, x->sizes, hidden, &work->y);
    } else {
        status = taper_ret_new(call, 0, dtype, x->rank, x->sizes, NULL, &work->y);
    }
    if (status != TAPER_OK) {
        goto fail;
    }
    work->norm.run = call->run;
    work->norm.dtype = dtype;
    if (taper_tensor_numel(x) == 0) {
        return TAPER_OK; // a volume cannot describe a tensor with a size of 0, because its other sizes may be very
                         // large
    }
    work->norm.x = volume_of(x);
    work->norm.y = volume_of(work->y);
    taper_norm_merge(&work->norm);

    // The product is at most the number of elements, so it cannot overflow.
    const int64_t planes = work->norm.x.n * work->norm.x.c;
    work->groups_of_scale = per_sample ? planes : work->norm.x.c;
    work->scale_bytes = (size_t)work->groups_of_scale * (dtype == TAPER_F32 ? sizeof(float) : sizeof(double));
    work->plane_bytes = (size_t)planes * sizeof(double);
    taper_heap *heap = call->run->heap;
    work->scale = taper_heap_alloc(heap, work->scale_bytes);
    work->shift = taper_heap_alloc(heap, work->scale_bytes);
    if (statistics > 0) {
        work->mean = taper_heap_alloc(heap, work->plane_bytes);
        work->squares = taper_heap_alloc(heap, work->plane_bytes);
    }
    if (work->scale == NULL || work->shift == NULL ||
        (statistics > 0 && (work->mean == NULL || work->squares == NULL))) {
        status = taper_fail_memory(error);
        goto fail;
    }
    work->norm.in = taper_tensor_data(x);
    work->norm.out = taper_tensor_mutable(work->y);
    if (statistics > 0) {
        status = measure(work, statistics);
        if (status != TAPER_OK) {
            goto fail;
        }
    }
    return TAPER_OK;

fail:
    work_free(call, work);
    return status;
}

// Computes scale = weight / √(variance + eps) and shift = bias - mean · scale. The precision is single where it is
// single in PyTorch. shift is computed from the rounded scale and is rounded once, so that the rounding of scale
// cancels for a large mean.
static void work_coefficients(norm_work *work, int64_t at, double mean, double inverse, double weight, double bias)
{
    if (work->norm.dtype == TAPER_F32) {
        const float scale = (float)inverse * (float)weight;
        ((float *)work->scale)[at] = scale;
        ((float *)work->shift)[at] = (float)(bias - mean * (double)scale);
    } else {
        ((double *)work->scale)[at] = inverse * weight;
        ((double *)work->shift)[at] = bias - mean * inverse * weight;
    }
}

static double inverse_of(taper_dtype dtype, double variance, double eps, bool measured)
{
    if (dtype == TAPER_F32 && !measured) {
        return (double)(1.0f / sqrtf((float)variance + (float)eps));
    }
    return 1.0 / sqrt(variance + eps);
}

// ---- batch norm

typedef struct batch_args {
    norm_param weight, bias, mean, variance;
    bool training;
    double momentum, eps;
} batch_args;

static taper_status batch_read(const taper_call *call, batch_args *args)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    const int64_t channels = x->rank > 1 ? x->sizes[1] : 1;
    TAPER_TRY(param_read(call, 1, channels, 1.0, "weight", &args->weight));
    TAPER_TRY(param_read(call, 2, channels, 0.0, "bias", &args->bias));
    TAPER_TRY(param_read(call, 3, channels, 0.0, "running_mean", &args->mean));
    TAPER_TRY(param_read(call, 4, channels, 1.0, "running_var", &args->variance));
    TAPER_TRY(taper_arg_bool(call, 5, &args->training));
    TAPER_TRY(taper_arg_double(call, 6, &args->momentum));
    TAPER_TRY(taper_arg_double(call, 7, &args->eps));
    if (!args->training && (args->mean.tensor == NULL || args->variance.tensor == NULL)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "running_mean and running_var must be given in evaluation mode");
    }
    return TAPER_OK;
}

static taper_status running_begin(const taper_call *call, const batch_args *args)
{
    if (args->mean.tensor != NULL) {
        TAPER_TRY(taper_storage_write(args->mean.tensor->storage, call->run->error));
    }
    if (args->variance.tensor != NULL) {
        TAPER_TRY(taper_storage_write(args->variance.tensor->storage, call->run->error));
    }
    return TAPER_OK;
}

static void running_update(const batch_args *args, int64_t channel, double mean, double variance)
{
    const double m = args->momentum;
    if (args->mean.tensor != NULL) {
        param_set(&args->mean, channel, m * mean + (1.0 - m) * param_get(&args->mean, channel));
    }
    if (args->variance.tensor != NULL) {
        param_set(&args->variance, channel, m * variance + (1.0 - m) * param_get(&args->variance, channel));
    }
}

// Computes the mean of a channel and the sum of squared distances from it, out of the same two numbers for each
// sample's part of the channel.
static void batch_combine(const norm_work *work, int64_t channel, double *mean, double *squares)
{
    const int64_t samples = work->norm.x.n, channels = work->norm.x.c;
    double sum = 0.0, total = 0.0;
    for (int64_t n = 0; n < samples; n++) {
        sum += work->mean[n * channels + channel];
    }
    *mean = sum / (double)samples;
    for (int64_t n = 0; n < samples; n++) {
        const double off = work->mean[n * channels + channel] - *mean;
        total += work->squares[n * channels + channel] + off * off * (double)work->norm.spatial;
    }
    *squares = total;
}

// Makes results 1 and 2: zeroed statistics of these sizes, in the weight's dtype.
static taper_status make_saved(taper_call *call, const norm_work *work, const norm_param *weight, size_t rank,
                               const int64_t *sizes, taper_tensor *save[2])
{
    const taper_dtype dtype = weight->tensor != NULL ? (taper_dtype)weight->tensor->dtype : work->norm.dtype;
    for (size_t i = 0; i < 2; i++) {
        static const uint64_t zero = 0;
        const int64_t none[2] = {0, 0};
        TAPER_TRY(taper_out_check(call, i + 1, work->x, dtype));
        TAPER_TRY(taper_ret_new(call, i + 1, dtype, rank, sizes, NULL, &save[i]));
        taper_move(call->run, taper_tensor_item(save[i]), rank, sizes, taper_tensor_mutable(save[i]), save[i]->strides,
                   &zero, none);
    }
    return TAPER_OK;
}

// Computes batch norm. If `saved` is set, the schema also returns save_mean and save_invstd as results 1 and 2. These
// have one number per channel in training, and otherwise no elements.
static taper_status batch_norm(taper_call *call, bool saved)
{
    batch_args args;
    norm_work work;
    taper_tensor *save[2] = {NULL, NULL};
    TAPER_TRY(batch_read(call, &args));
    TAPER_TRY(work_begin(call, NORM_BATCH, args.training, false, &work));
    const int64_t channels = work.x->sizes[1], stored = args.training ? channels : 0;
    taper_status status = saved ? make_saved(call, &work, &args.weight, 1, &stored, save) : TAPER_OK;
    if (status == TAPER_OK && args.training) {
        status = running_begin(call, &args);
    }
    if (status == TAPER_OK && taper_tensor_numel(work.x) > 0) {
        const double count = (double)(work.norm.x.n * work.norm.spatial);
        for (int64_t c = 0; c < channels && taper_run_goes_on(call->run, 100 + 10 * (uint64_t)work.norm.x.n); c++) {
            double mean, inverse;
            if (args.training) {
                double squares;
                batch_combine(&work, c, &mean, &squares);
                inverse = inverse_of(work.norm.dtype, squares / count, args.eps, true);
                running_update(&args, c, mean, squares / (count - 1.0));
            } else {
                mean = param_get(&args.mean, c);
                inverse = inverse_of(work.norm.dtype, param_get(&args.variance, c), args.eps, false);
            }
            work_coefficients(&work, c, mean, inverse, param_get(&args.weight, c), param_get(&args.bias, c));
            for (size_t i = 0; args.training && saved && i < 2; i++) {
                taper_number_store((taper_dtype)save[i]->dtype, taper_tensor_mutable(save[i]), c * save[i]->strides[0],
                                   i == 0 ? mean : inverse);
            }
        }
        // If the running statistics share the storage of x, taper_storage_write may have moved that storage.
        work.norm.in = taper_tensor_data(work.x);
        status = taper_norm_affine(call->run, &work.norm, work.scale, work.shift, 0);
    }
    work_free(call, &work);
    return status;
}

TAPER_KERNEL(taper_op_batch_norm)
{
    taper_tensor *x, *copy;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    if (taper_tensor_numel(x) == 0 && x->rank < 2) { // true if there is nothing to normalize
        TAPER_TRY(taper_view_clone(call->run, x, TAPER_FORMAT_PRESERVE, &copy));
        return taper_ret_tensor(call, 0, copy);
    }
    return batch_norm(call, false);
}

TAPER_KERNEL(taper_op_batch_norm_line)
{
    taper_run *run = call->run;
    taper_tensor *x, *line, *image;
    taper_val args[9];
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    if (x->rank != 3 || x->sizes[1] != 1 || call->arg_count != sizeof args / sizeof *args) {
        return taper_op_batch_norm(call);
    }
    const int64_t sizes[2] = {x->sizes[0], x->sizes[2]}, strides[2] = {x->strides[0], x->strides[2]};
    TAPER_TRY(taper_tensor_alias(run->heap, x, x->offset, 2, sizes, strides, &line, run->error));
    memcpy(args, call->args, sizeof args);
    args[0] = TAPER_VAL(line);
    taper_val result = taper_val_none();
    taper_call inner = {.run = run,
                        .op = call->op,
                        .schema = call->schema,
                        .args = args,
                        .arg_count = 9,
                        .rets = &result,
                        .ret_count = 1};
    taper_status status = taper_op_batch_norm(&inner);
    taper_tensor_drop(line);
    if (status == TAPER_OK) {
        const taper_tensor *y = result.as.tensor;
        const int64_t wide[3] = {y->sizes[0], 1, y->sizes[1]};
        const int64_t steps[3] = {y->strides[0], taper_wrap_mul(y->sizes[1], y->strides[1]), y->strides[1]};
        status = taper_tensor_alias(run->heap, result.as.tensor, y->offset, 3, wide, steps, &image, run->error);
    }
    taper_val_release(result);
    return status == TAPER_OK ? taper_ret_tensor(call, 0, image) : status;
}

TAPER_KERNEL(taper_op_native_batch_norm)
{
    return batch_norm(call, true);
}

TAPER_KERNEL(taper_op_batch_norm_impl_index)
{
    TAPER_TRY(batch_norm(call, true));
    taper_tensor *reserve;
    const int64_t none = 0;
    TAPER_TRY(taper_ret_new(call, 3, TAPER_U8, 1, &none, NULL, &reserve));
    taper_ret(call, 4, taper_val_int(0));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_instance_norm)
{
    batch_args args;
    norm_work work;
    TAPER_TRY(batch_read(call, &args)); // the argument use_input_stats is at the position of `training`
    TAPER_TRY(work_begin(call, NORM_CONTIGUOUS, args.training, args.training, &work));
    taper_status status = args.training ? running_begin(call, &args) : TAPER_OK;
    if (status == TAPER_OK && taper_tensor_numel(work.x) > 0) {
        const int64_t samples = work.norm.x.n, channels = work.norm.x.c;
        const double count = (double)work.norm.spatial;
        for (int64_t c = 0; c < channels && taper_run_goes_on(call->run, 50 * (uint64_t)samples); c++) {
            const double weight = param_get(&args.weight, c), bias = param_get(&args.bias, c);
            if (!args.training) {
                const double inverse = inverse_of(work.norm.dtype, param_get(&args.variance, c), args.eps, false);
                work_coefficients(&work, c, param_get(&args.mean, c), inverse, weight, bias);
                continue;
            }
            double means = 0.0, variances = 0.0;
            for (int64_t n = 0; n < samples; n++) {
                const double mean = work.mean[n * channels + c], squares = work.squares[n * channels + c];
                means += mean / (double)samples;
                variances += squares / (count - 1.0) / (double)samples;
                work_coefficients(&work, n * channels + c, mean,
                                  inverse_of(work.norm.dtype, squares / count, args.eps, true), weight, bias);
            }
            running_update(&args, c, means, variances);
        }
        work.norm.in = taper_tensor_data(work.x);
        status = taper_norm_affine(call->run, &work.norm, work.scale, work.shift, args.training ? channels : 0);
    }
    work_free(call, &work);
    return status;
}

// ---- group norm

// Sets the coefficients of `count` channels of a sample, from channel `first` on. The coefficients begin at index `at`.
static void group_coefficients(norm_work *work, int64_t at, int64_t first, int64_t count, double mean, double inverse,
                               const norm_param *weight, const norm_param *bias)
{
    if (group_of_floats(work, at, first, count, mean, inverse, weight, bias)) {
        return;
    }
    for (int64_t c = first; c < first + count; c++) {
        work_coefficients(work, at + c, mean, inverse, param_get(weight, c), param_get(bias, c));
    }
}

static taper_status group_norm(taper_call *call, size_t weight_at, int64_t groups, double eps, bool saved)
{
    taper_tensor *x;
    norm_param weight, bias;
    norm_work work;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    const int64_t channels = x->rank > 1 ? x->sizes[1] : 1;
    if (groups < 1 || channels % groups != 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "%lld channels cannot be divided into %lld groups",
                   (long long)channels, (long long)groups);
    }
    TAPER_TRY(param_read(call, weight_at, channels, 1.0, "weight", &weight));
    TAPER_TRY(param_read(call, weight_at + 1, channels, 0.0, "bias", &bias));
    TAPER_TRY(work_begin(call, NORM_SUGGESTED, channels / groups, true, &work));
    taper_tensor *save[2] = {NULL, NULL};
    const int64_t sizes[2] = {x->sizes[0], groups};
    taper_status status = saved ? make_saved(call, &work, &weight, 2, sizes, save) : TAPER_OK;
    if (status == TAPER_OK && taper_tensor_numel(work.x) > 0) {
        const int64_t samples = work.norm.x.n, per_group = channels / groups;
        const double spatial = (double)work.norm.spatial, count = spatial * (double)per_group;
        for (int64_t n = 0; n < samples; n++) {
            for (int64_t g = 0; g < groups && taper_run_goes_on(call->run, 50 * (uint64_t)per_group); g++) {
                const int64_t first = n * channels + g * per_group;
                double mean = 0.0, squares = 0.0;
                for (int64_t c = first; c < first + per_group && work.joined == 1; c++) {
                    mean += work.mean[c] / (double)per_group;
                }
                for (int64_t c = first; c < first + per_group && work.joined == 1; c++) {
                    const double off = work.mean[c] - mean;
                    squares += work.squares[c] + off * off * spatial;
                }
                if (work.joined != 1) {
                    mean = work.mean[n * groups + g];
                    squares = work.squares[n * groups + g];
                }
                const double inverse = inverse_of(work.norm.dtype, squares / count, eps, true);
                group_coefficients(&work, n * channels, g * per_group, per_group, mean, inverse, &weight, &bias);
                for (size_t i = 0; saved && i < 2; i++) {
                    taper_number_store((taper_dtype)save[i]->dtype, taper_tensor_mutable(save[i]),
                                       n * save[i]->strides[0] + g * save[i]->strides[1], i == 0 ? mean : inverse);
                }
            }
        }
        status = taper_norm_affine(call->run, &work.norm, work.scale, work.shift, channels);
    }
    work_free(call, &work);
    return status;
}

TAPER_KERNEL(taper_op_group_norm)
{
    int64_t groups;
    double eps;
    TAPER_TRY(taper_arg_int(call, 1, &groups));
    TAPER_TRY(taper_arg_double(call, 4, &eps));
    return group_norm(call, 2, groups, eps, false);
}

TAPER_KERNEL(taper_op_native_group_norm)
{
    taper_tensor *x;
    int64_t numbers[4]; // the arguments N, C, HxW and group
    double eps;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    for (size_t i = 0; i < 4; i++) {
        TAPER_TRY(taper_arg_int(call, 3 + i, &numbers[i]));
    }
    TAPER_TRY(taper_arg_double(call, 7, &eps));
    int64_t spatial = 1;
    for (size_t i = 2; i < x->rank; i++) {
        spatial *= x->sizes[i];
    }
    if (x->rank < 2 || x->sizes[0] != numbers[0] || x->sizes[1] != numbers[1] || spatial != numbers[2]) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "N, C and HxW do not match the input");
    }
    return group_norm(call, 1, numbers[3], eps, true);
}
