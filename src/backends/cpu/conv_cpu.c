// SPDX-License-Identifier: BSD-2-Clause
// 2-D convolution on the CPU: reads the call, converts the input to NHWC, and chooses the algorithm. Unsupported
// dtypes, unsupported ranks and out variants are declined, so that the reference runs.
#include "backends/cpu/conv_cpu.h"
#include "backends/cpu/conv_images.h"
#include "backends/cpu/conv_volume.h"
#include "ir/storage.h"
#include "ir/tensor.h"
#include "ops/call/prepared.h"
#include "ops/list/op_features.h"

#include <math.h>

// ---- supported calls

static bool plain_vector(const taper_tensor *t, size_t count)
{
    return t == NULL || (t->dtype == TAPER_F32 && t->rank == 1 && (size_t)t->sizes[0] == count &&
                         (count == 1 || t->strides[0] == 1));
}

static bool norm_is_plain(const taper_conv2d *job)
{
    if (!taper_conv2d_has_norm(job)) {
        return true;
    }
    for (size_t i = 0; i < 4; i++) {
        const taper_val value = job->call->args[taper_fusion_of(job->call)->norm_at + i];
        if ((value.tag != TAPER_TENSOR && value.tag != TAPER_NONE) ||
            !plain_vector(taper_conv2d_norm_tensor(job, i), job->out_c)) {
            return false;
        }
    }
    return taper_conv2d_norm_tensor(job, 2) != NULL && taper_conv2d_norm_tensor(job, 3) != NULL;
}

static bool weights_are_regular(const taper_tensor *w)
{
    return w->dtype == TAPER_F32 && (w->rank != 4 || w->sizes[2] == 1 || w->sizes[3] == 1 ||
                                     w->strides[2] == taper_wrap_mul(w->sizes[3], w->strides[3]));
}

static bool does(const taper_conv2d *job)
{
    const taper_conv_args *a = &job->args;
    return (a->params.rank == 2 || taper_conv_is_pixels(a)) && !a->unbatched && a->input->dtype == TAPER_F32 &&
           a->input->rank == a->params.rank + 2 && weights_are_regular(a->weight) &&
           plain_vector(a->bias, (size_t)a->out_sizes[1]) &&
           (!a->params.transposed || (TAPER_CONVOLVES_TRANSPOSED && taper_conv2d_does_transposed(job))) &&
           taper_ret_target(job->call, 0) == NULL && taper_tensor_numel(a->input) > 0 &&
           taper_tensor_numel(a->weight) > 0;
}

static void describe(taper_conv2d *job)
{
    const taper_conv_args *a = &job->args;
    job->batch = (size_t)a->input->sizes[0];
    job->in_c = (size_t)a->input->sizes[1];
    job->in_h = (size_t)a->input->sizes[2];
    job->in_w = (size_t)a->input->sizes[3];
    job->out_h = (size_t)a->out_sizes[2];
    job->out_w = (size_t)a->out_sizes[3];
    job->out_c = (size_t)a->out_sizes[1];
    job->kernel_h = (size_t)a->weight->sizes[2];
    job->kernel_w = (size_t)a->weight->sizes[3];
    job->groups = (size_t)a->params.groups;
    job->stride_h = (size_t)a->params.stride[0];
    job->stride_w = (size_t)a->params.stride[1];
    job->dilation_h = (size_t)a->params.dilation[0];
    job->dilation_w = (size_t)a->params.dilation[1];
    job->pad_top = a->params.padding[0];
    job->pad_left = a->params.padding[1];
    if (a->params.rank == 3) { // a 1x1x1 kernel reads each pixel alone, so the order of pixels does not matter
        job->in_w *= (size_t)a->input->sizes[4];
        job->out_w *= (size_t)a->out_sizes[4];
    }
}

// ---- NHWC input

static bool is_depthwise(const taper_conv2d *job)
{
    return job->groups > 1 && job->groups == job->in_c && job->groups == job->out_c;
}

typedef struct to_nhwc {
    const taper_vector_entry *vector;
    const float *from;
    float *to;
    size_t channels, pixels;
} to_nhwc;

static void transpose_pixels(void *argument, size_t begin, size_t end)
{
    const to_nhwc *t = argument;
    while (begin < end) {
        const size_t image = begin / t->pixels * t->channels * t->pixels, first = begin % t->pixels;
        const size_t count = taper_min_size(end - begin, t->pixels - first);
        t->vector->transpose(t->channels, count, t->from + image + first, t->pixels,
                             t->to + image + first * t->channels, t->channels);
        begin += count;
    }
}

#include "backends/cpu/conv_sampled.h"

typedef struct sampled {
    const taper_vector_entry *vector;
    const taper_conv2d *job;
    float *to;
} sampled;

static void sample_rows(void *argument, size_t begin, size_t end)
{
    enum { CHANNELS = 64, PIXELS = 64 };
    const sampled *s = argument;
    const taper_conv2d *job = s->job;
    float block[CHANNELS * PIXELS];
    for (size_t row = begin; row < end; row++) {
        const float *x = (const float *)taper_tensor_data(job->args.input) +
                         (row / job->out_h * job->in_c * job->in_h + row % job->out_h * job->stride_h) * job->in_w;
        float *to = s->to + row * job->out_w * job->in_c;
        for (size_t c = 0; c < job->in_c; c += CHANNELS) {
            const size_t channels = taper_min_size(CHANNELS, job->in_c - c);
            for (size_t first = 0; first < job->out_w; first += PIXELS) {
                const size_t pixels = taper_min_size(PIXELS, job->out_w - first);
                for (size_t k = 0; k < channels; k++) {
                    const float *from = x + (c + k) * job->in_h * job->in_w + first * job->stride_w;
                    float *line = block + k * PIXELS;
                    if (job->stride_w == 2) {
                        s->vector->every_second(pixels, from, line);
                    }
                    for (size_t i = 0; i < pixels && job->stride_w != 2; i++) {
                        line[i] = from[i * job->stride_w];
                    }
                }
                s->vector->transpose(channels, pixels, block, PIXELS, to + first * job->in_c + c, job->in_c);
            }
        }
    }
}

// Returns true if Winograd's transforms may be used: only if the transformed weights are kept for later runs, because
// otherwise every run would transform them.
static bool may_transform(const taper_conv2d *job)
{
    taper_pack_request request;
    taper_conv2d_pack_key(job, NULL, &request);
    return !job->call->run->low_memory && taper_packs_keep(job->call, &request);
}

static const taper_winograd_entry *winograd_of(const taper_conv2d *job)
{
    return TAPER_HAS_OP(winograd_k3) && may_transform(job) ? taper_conv2d_winograd_choose(job) : NULL;
}

#include "backends/cpu/conv_orders.h"

// Sets job->x to the input in NHWC. Unless the algorithm is a product, readable bytes follow the input, because
// kernels read past its end. job->x is the tensor's own data, or a copy in *scratch that the caller frees.
static taper_status nhwc_input(taper_conv2d *job, float **scratch, size_t *scratch_bytes)
{
    taper_run *run = job->call->run;
    const taper_tensor *x = job->args.input;
    const uint8_t kind = x->storage->kind;
    *scratch = NULL;
    if (taper_tensor_is_channels_last(x) &&
        (kind == TAPER_STORAGE_OWNED || kind == TAPER_STORAGE_PLANNED || is_product(job))) {
        job->x = taper_tensor_data(x);
        return TAPER_OK;
    }
    const size_t count = (size_t)taper_tensor_numel(x);
    *scratch_bytes = count * sizeof(float) + TAPER_OVERREAD + 1024;
    *scratch = taper_heap_alloc(run->heap, *scratch_bytes);
    if (*scratch == NULL) {
        return taper_fail_memory(run->error);
    }
    memset(*scratch + count, 0, TAPER_OVERREAD);
    job->x = *scratch;
    if (is_sampled(job)) { // only the pixels that are read are copied, so the copy is smaller than *scratch
        sampled s = {taper_vector_f32_select(run->cpu), job, *scratch};
        const taper_status status =
            taper_run_floats(run, sample_rows, &s, job->batch * job->out_h, 4.0 * (double)(job->in_c * job->out_w));
        job->in_h = job->out_h;
        job->in_w = job->out_w;
        job->stride_h = job->stride_w = 1;
        memset(*scratch + job->batch * job->in_h * job->in_w * job->in_c, 0, TAPER_OVERREAD);
        return status;
    }
    if (taper_tensor_is_contiguous(x) && !x->hidden_nhwc) {
        to_nhwc t = {taper_vector_f32_select(run->cpu), taper_tensor_data(x), *scratch, job->in_c,
                     job->in_h * job->in_w};
        return taper_run_floats(run, transpose_pixels, &t, job->batch * t.pixels, 4.0 * (double)job->in_c);
    }
    // Inputs that are not contiguous are copied through a tensor that borrows the scratch block.
    taper_storage *storage;
    taper_tensor *view;
    int64_t strides[4];
    taper_strides_channels_last(4, x->sizes, strides);
    taper_status status = taper_storage_borrow(run->heap, TAPER_STORAGE_BORROWED, *scratch, count * sizeof(float), NULL,
                                               &storage, run->error);
    if (status == TAPER_OK) {
        status = taper_tensor_view(run->heap, storage, TAPER_F32, 0, 4, x->sizes, strides, &view, run->error);
        taper_obj_release(&storage->head);
    }
    if (status == TAPER_OK) {
        status = taper_run_copy(run, view, x);
        taper_obj_release(&view->head);
    }
    return status;
}

static taper_status turn_input(taper_conv2d *job, taper_tensor **turned)
{
    taper_run *run = job->call->run;
    const taper_tensor *x = job->args.input;
    TAPER_TRY(taper_tensor_new(run->heap, TAPER_F32, 4, x->sizes, NULL, turned, run->error));
    job->args.input = *turned;
    job->keeps = false;
    return taper_run_copy(run, *turned, x);
}

// Returns the tensor that the layer adds to its result, if this tensor is contiguous while the result is NHWC. The
// tensor must then be converted first. Otherwise returns NULL.
static const taper_tensor *plain_summand(const taper_conv2d *job)
{
    const taper_fusion *f = taper_fusion_of(job->call);
    const taper_val other = f != NULL && f->add_at != 0 ? job->call->args[f->add_at] : taper_val_none();
    const taper_tensor *t = other.tag == TAPER_TENSOR ? other.as.tensor : NULL;
    const bool plain = t != NULL && !job->args.out_channels_last && t->dtype == TAPER_F32 && t->rank == 4 &&
                       memcmp(t->sizes, job->args.out_sizes, 4 * sizeof *t->sizes) == 0 &&
                       taper_tensor_is_contiguous(t) && !t->hidden_nhwc && !taper_tensor_is_channels_last(t);
    return plain && taper_tensor_numel(t) != 0 ? t : NULL;
}

static taper_status bring_summand(const taper_conv2d *job, const taper_tensor *from, float *to)
{
    taper_run *run = job->call->run;
    to_nhwc t = {taper_vector_f32_select(run->cpu), taper_tensor_data(from), to, job->out_c, job->out_h * job->out_w};
    return taper_run_floats(run, transpose_pixels, &t, job->batch * t.pixels, 4.0 * (double)job->out_c);
}

// Returns true if all arguments except the input and the added tensor are constant.
static bool has_constant_weights(const taper_conv2d *job)
{
    bool all = taper_call_has_constant_weights(job->call, job->args.weight, job->args.bias);
    for (size_t i = 0; taper_conv2d_has_norm(job) && i < 4; i++) {
        all = all && taper_arg_is_constant(job->call, taper_fusion_of(job->call)->norm_at + i) &&
              taper_tensor_stands(taper_conv2d_norm_tensor(job, i));
    }
    return all;
}

static taper_status run_path(taper_conv2d *job)
{
    const bool constant = has_constant_weights(job) && job->keeps;
    job->keeps = constant;
    const bool transposed = TAPER_CONVOLVES_TRANSPOSED && job->args.params.transposed;
    if (TAPER_HAS_OP(conv_planar) && job->lines) {
        return taper_conv2d_lines(job);
    }
    if (TAPER_HAS_OP(conv_planar) && !transposed && !is_depthwise(job) && taper_conv2d_is_planar(job)) {
        return taper_conv2d_planar(job);
    }
    if (!transposed && taper_conv2d_is_stem(job)) {
        return taper_conv2d_is_windows(job) ? taper_conv2d_windows(job) : taper_conv2d_stem(job);
    }
    float *scratch = NULL;
    size_t scratch_bytes = 0;
    taper_status status = nhwc_input(job, &scratch, &scratch_bytes);
    job->keeps &= scratch == NULL;
    if (status == TAPER_OK && transposed) {
        status = taper_conv2d_transposed(job);
    } else if (status == TAPER_OK) {
        const taper_winograd_entry *winograd = winograd_of(job);
        if (is_depthwise(job)) {
            status = taper_conv2d_depthwise(job);
        } else if (TAPER_HAS_OP(few_outputs) && taper_conv2d_is_few(job)) {
            status = taper_conv2d_few(job);
        } else if (TAPER_HAS_OP(winograd_k3) && winograd != NULL) {
            status = taper_conv2d_winograd(job, winograd);
        } else {
            status = taper_conv2d_dense(job);
        }
    }
    taper_heap_free(job->call->run->heap, scratch, scratch_bytes);
    return status;
}

// Returns true if the strides of the result depend on the operators after the convolution, so that they must not be
// fused with it. A channels-last result with one pixel or one channel is also contiguous, and element-wise operators
// then give contiguous strides unless they work in place. To get the strides that PyTorch gives, these operators run
// one by one.
static bool strides_depend_on_tail(const taper_conv2d *job)
{
    const taper_fusion *f = taper_fusion_of(job->call);
    return f != NULL && job->args.out_channels_last && (job->out_c == 1 || job->out_h * job->out_w == 1) &&
           (f->add_at != 0 || f->activation != TAPER_ACTIVATION_CLAMP || isfinite(f->min) || isfinite(f->max));
}

// Runs a fused convolution. `summand` is the data, in NHWC, of the tensor that is added to the result. `summand` is
// NULL if nothing is added, or if the added tensor is read in place.
static taper_status run_fused(taper_conv2d *job, const float *summand)
{
    taper_run *run = job->call->run;
    const bool hidden = !job->args.out_channels_last;
    TAPER_TRY(taper_epilogue_make(job->call, job->args.clamped, job->args.min, job->args.max, job->args.out_rank,
                                  job->args.out_sizes, true, hidden, summand, &job->epilogue));
    job->lines = TAPER_HAS_OP(conv_planar) && !job->args.params.transposed && taper_conv2d_as_lines(job);
    taper_tensor *y;
    TAPER_TRY(job->lines ? taper_ret_new(job->call, 0, TAPER_F32, job->args.out_rank, job->args.out_sizes, NULL, &y)
                         : taper_ret_new_nhwc(job->call, 0, TAPER_F32, 4, job->args.out_sizes, hidden, &y));
    if (taper_tensor_numel(y) == 0) {
        return TAPER_OK;
    }
    job->y = taper_tensor_mutable(y);
    const size_t fold_bytes = taper_conv2d_has_norm(job) ? 2 * job->out_c * sizeof(float) : 0;
    float *scratch = taper_heap_alloc(run->heap, fold_bytes + taper_conv2d_zero_bytes(job));
    if (scratch == NULL) {
        return taper_fail_memory(run->error);
    }
    if (fold_bytes != 0) {
        job->scale = scratch;
        job->shift = scratch + job->out_c;
    }
    job->zero = scratch + fold_bytes / sizeof(float);
    memset(scratch, 0, fold_bytes + taper_conv2d_zero_bytes(job));
    const taper_status status = run_path(job);
    taper_heap_free(run->heap, scratch, fold_bytes + taper_conv2d_zero_bytes(job));
    return status;
}

taper_status taper_cpu_conv2d(taper_call *call);
taper_status taper_cpu_conv2d(taper_call *call)
{
    taper_run *run = call->run;
    taper_conv2d job = {.call = call};
    TAPER_TRY(taper_conv_parse(call, &job.args));
    if (TAPER_HAS_OP(conv_planar) && taper_conv_volume_does(call, &job.args)) {
        return taper_conv_volume_is_dense(call, &job.args) ? taper_conv_volume_dense(call, &job.args)
                                                           : taper_conv_volume(call, &job.args);
    }
    if (!does(&job)) {
        return TAPER_DECLINED;
    }
    describe(&job);
    if (job.args.params.rank != 2 && !(TAPER_HAS_OP(conv_planar) && taper_conv2d_as_lines(&job))) {
        return TAPER_DECLINED;
    }
    if (!norm_is_plain(&job) || strides_depend_on_tail(&job)) {
        return TAPER_DECLINED;
    }
    // Depthwise kernels cannot add the other tensor of a fused sum (summand).
    const taper_tensor *summand = is_depthwise(&job) ? NULL : plain_summand(&job);
    const size_t summand_bytes = summand != NULL ? (size_t)taper_tensor_numel(summand) * sizeof(float) + 1024 : 0;
    float *brought = summand != NULL ? taper_heap_alloc(run->heap, summand_bytes) : NULL;
    if (summand != NULL && brought == NULL) {
        return taper_fail_memory(run->error);
    }
    job.keeps = summand == NULL;
    taper_tensor *turned = NULL;
    taper_status status = summand != NULL ? bring_summand(&job, summand, brought) : TAPER_OK;
    if (status == TAPER_OK && is_turned(&job)) {
        status = turn_input(&job, &turned);
    }
    if (status == TAPER_OK) {
        status = run_fused(&job, brought);
    }
    if (turned != NULL) {
        taper_obj_release(&turned->head);
    }
    taper_heap_free(run->heap, brought, summand_bytes);
    return status;
}
