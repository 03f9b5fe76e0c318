// SPDX-License-Identifier: BSD-2-Clause
// quantized::linear, linear_dynamic and their forms with relu: rows of bytes times packed weights, in the
// tiles of tiles.h. Dynamic layers quantize their float input by its range first.
#include <math.h>

#include "backends/cpu/fast_cpu.h"
#include "backends/cpu/quantized_layer_cpu.h"
#include "backends/cpu/tiles.h"
#include "ops/quantized/quantized_layer.h"

enum { MOST_ROWS = 64 }; // of a strip

typedef struct linear_i8 {
    taper_call *call;
    taper_qlinear_params params;
    const taper_gemm_i8_entry *entry;
    taper_i8_layer layer;
    size_t rows, in, out;
    const uint8_t *x;
    void *y;                    // floats of dynamic layers, otherwise bytes
    double in_scale, out_scale; // out_scale 0: dynamic
    int32_t in_zero_point, zero_point;
    bool relu;
    const int32_t *bias;
    const float *factor;
    size_t panel_bytes;
    taper_tiles tiles;
    double work;
} linear_i8;

// ---- the product

static void run_tile(const linear_i8 *job, const taper_tile *t)
{
    const uint8_t *rows[MOST_ROWS];
    for (size_t i = 0; i < t->count; i++) {
        rows[i] = job->x + (t->first + i) * job->in;
    }
    const size_t column = t->panel * job->entry->nr, at = t->first * job->out + column;
    const bool floats = job->out_scale == 0;
    const taper_gemm_i8 call = {.mr = t->count,
                                .nc = taper_min_size(t->panel_end * job->entry->nr, job->out) - column,
                                .kc = job->in,
                                .ks = 1,
                                .a = rows,
                                .a_tap_stride = t->count,
                                .w = job->layer.weights + t->panel * job->panel_bytes,
                                .c = floats ? (void *)((float *)job->y + at) : (void *)((uint8_t *)job->y + at),
                                .c_stride = job->out,
                                .e = {.bias = job->bias + column,
                                      .scale = job->factor + column,
                                      .zero_point = job->zero_point,
                                      .min = job->relu ? job->zero_point : 0,
                                      .max = 255,
                                      .shift = floats ? job->layer.bias + column : NULL,
                                      .floor = job->relu ? 0.0f : -INFINITY}};
    job->entry->run(&call);
}

static void run_tiles(void *argument, size_t begin, size_t end)
{
    const linear_i8 *job = argument;
    taper_tile tile = taper_tile_at(&job->tiles, begin);
    for (size_t i = begin; i < end; i++, taper_tile_next(&job->tiles, &tile)) {
        run_tile(job, &tile);
    }
}

static size_t place_of(const void *context, size_t channel)
{
    (void)context;
    return channel;
}

static void fill_pack(const taper_pack_request *request, void *data)
{
    const linear_i8 *job = request->user;
    const taper_tensor *w = job->params.weight;
    const taper_i8_layer layer = taper_i8_layer_of(data, job->layer.places);
    taper_i8_fill_channels(&layer, w, job->params.bias, job->out, place_of, NULL);
    const taper_gemm_i8_pack pack = {.n = job->out,
                                     .ks = 1,
                                     .kc = job->in,
                                     .n_stride = (size_t)w->strides[0],
                                     .k_stride = (size_t)w->strides[1],
                                     .weights = taper_tensor_data(w)};
    taper_gemm_i8_pack_weights(job->entry, &pack, layer.weights, layer.sums);
}

static taper_status run_packed(linear_i8 *job, size_t weight_bytes)
{
    taper_run *run = job->call->run;
    const size_t places = job->layer.places, scratch_bytes = places * (sizeof(int32_t) + sizeof(float));
    taper_pack_request request;
    taper_pack pack;
    taper_i8_pack_key(job->entry, job->params.weight, job->params.bias, &request);
    request.numbers[1] = -1; // not a convolution
    request.bytes = taper_i8_layer_bytes(places, weight_bytes);
    request.fill = fill_pack;
    request.user = job;
    uint8_t *scratch = taper_heap_alloc(run->heap, scratch_bytes);
    if (scratch == NULL) {
        return taper_fail_memory(run->error);
    }
    taper_status status = taper_pack_get(job->call, &request, &pack);
    if (status == TAPER_OK) {
        job->layer = taper_i8_layer_of(pack.data, places);
        int32_t *bias = (int32_t *)(void *)scratch;
        float *factor = (float *)(void *)(scratch + places * sizeof *bias);
        job->bias = bias;
        job->factor = factor;
        if (taper_i8_layer_fold(&job->layer, job->in_scale, job->in_zero_point, job->entry->shift, job->out_scale, bias,
                                factor)) {
            status = taper_run_range(run, run_tiles, job, job->tiles.count, 1, job->work);
        } else {
            status = TAPER_DECLINED;
        }
        taper_pack_done(job->call, &pack);
    }
    taper_heap_free(run->heap, scratch, scratch_bytes);
    return status;
}

static taper_status run_layer(linear_i8 *job)
{
    taper_run *run = job->call->run;
    const taper_gemm_i8_entry *entry = job->entry;
    const size_t weight_bytes = taper_gemm_i8_packed_bytes(entry, job->out, 1, job->in);
    const size_t panels = (job->out + entry->nr - 1) / entry->nr;
    job->panel_bytes = taper_gemm_i8_panel_bytes(entry, 1, job->in);
    job->layer.places = panels * entry->nr;
    if (weight_bytes == 0 || taper_i8_layer_bytes(job->layer.places, weight_bytes) == 0) {
        return TAPER_DECLINED;
    }
    run->kernel = entry->name;
    run->flops = 2.0 * (double)job->rows * (double)job->in * (double)job->out;
    job->work = taper_cpu_gemm_i8_work(entry, run->flops);
    job->tiles =
        taper_tiles_make(run, job->rows, taper_min_size(entry->mr, MOST_ROWS), panels, job->panel_bytes, job->work);
    return run_packed(job, weight_bytes);
}

// ---- the call

// False for what is left to the reference.
static bool describe(linear_i8 *job, size_t rows)
{
    const taper_qlinear_params *params = &job->params;
    if (params->half || rows == 0 || params->in <= 0 || params->out <= 0 || !taper_i8_is_symmetric(params->weight)) {
        return false;
    }
    job->entry = taper_gemm_i8_select(job->call->run->cpu);
    job->in = (size_t)params->in;
    job->out = (size_t)params->out;
    job->rows = rows;
    return true;
}

// The same of a tensor; the result's sizes are the input's with the last one replaced.
static bool describe_input(linear_i8 *job, const taper_tensor *input, int64_t *sizes)
{
    if (input->rank < 2 || input->hidden_nhwc || !taper_tensor_is_contiguous(input) ||
        input->sizes[input->rank - 1u] != job->params.in || job->params.in <= 0) {
        return false;
    }
    memcpy(sizes, input->sizes, input->rank * sizeof *sizes);
    sizes[input->rank - 1u] = job->params.out;
    return describe(job, (size_t)(taper_tensor_numel(input) / job->params.in));
}

static taper_status run_static(taper_call *call, bool relu)
{
    taper_run *run = call->run;
    linear_i8 job = {.call = call, .relu = relu};
    taper_tensor *input, *y;
    int64_t zero_point, sizes[TAPER_MAX_RANK];
    TAPER_TRY(taper_arg_quantized(call, 0, &input));
    TAPER_TRY(taper_arg_qlinear(call, 1, &job.params));
    TAPER_TRY(taper_arg_double(call, 2, &job.out_scale));
    TAPER_TRY(taper_arg_int(call, 3, &zero_point));
    const taper_quantizer *z = input->quantizer;
    if (input->dtype != TAPER_QU8 || z->scales != NULL || !(z->scale > 0) || isinf(z->scale) || z->zero_point < 0 ||
        z->zero_point > 255 || !describe_input(&job, input, sizes)) {
        return TAPER_DECLINED;
    }
    TAPER_TRY(taper_q_check(TAPER_QU8, job.out_scale, zero_point, call->run->error));
    job.in_scale = z->scale;
    job.in_zero_point = (int32_t)z->zero_point;
    job.zero_point = (int32_t)zero_point;
    job.x = taper_tensor_data(input);
    const uint8_t kind = input->storage->kind;
    const size_t bytes = job.rows * job.in;
    uint8_t *copy = NULL;
    if (job.in % job.entry->kr != 0 && kind != TAPER_STORAGE_OWNED && kind != TAPER_STORAGE_PLANNED) {
        copy = taper_heap_alloc(run->heap, bytes + 1024); // the kernel reads a little further
        if (copy == NULL) {
            return taper_fail_memory(run->error);
        }
        memcpy(copy, job.x, bytes);
        job.x = copy;
    }
    taper_status status =
        taper_ret_quantized(call, 0, TAPER_QU8, input->rank, sizes, NULL, job.out_scale, zero_point, &y);
    if (status == TAPER_OK) {
        job.y = taper_tensor_mutable(y);
        status = run_layer(&job);
    }
    taper_heap_free(run->heap, copy, copy != NULL ? bytes + 1024 : 0);
    return status;
}

typedef struct quantize_job {
    const taper_vector_u8_entry *vector;
    const float *x;
    float inverse;
    int32_t zero_point;
    uint8_t *y;
} quantize_job;

static void quantize_range(void *argument, size_t begin, size_t end)
{
    const quantize_job *q = argument;
    q->vector->quantize(end - begin, q->x + begin, q->inverse, q->zero_point, q->y + begin);
}

static taper_status choose(linear_i8 *job, const float *x)
{
    taper_run *run = job->call->run;
    int64_t zero_point;
    float min, max;
    taper_vector_u8_select(run->cpu)->range(job->rows * job->in, x, &min, &max);
    if (min != min) {
        return TAPER_DECLINED; // the reference says what is wrong
    }
    TAPER_TRY(taper_q_choose(run, taper_q_range_of(TAPER_QU8), min, max, &job->in_scale, &zero_point));
    job->in_zero_point = (int32_t)zero_point;
    return TAPER_OK;
}

// Quantizes the rows of floats as was chosen, and multiplies.
static taper_status multiply_floats(linear_i8 *job, const float *x)
{
    taper_run *run = job->call->run;
    quantize_job quantize = {.vector = taper_vector_u8_select(run->cpu),
                             .x = x,
                             .inverse = 1.0f / (float)job->in_scale,
                             .zero_point = job->in_zero_point};
    const size_t count = job->rows * job->in;
    uint8_t *bytes = taper_heap_alloc(run->heap, count + 1024);
    if (bytes == NULL) {
        return taper_fail_memory(run->error);
    }
    quantize.y = bytes;
    job->x = bytes;
    taper_status status = taper_cpu_range(run, quantize_range, &quantize, count, 1);
    if (status == TAPER_OK) {
        status = run_layer(job);
    }
    taper_heap_free(run->heap, bytes, count + 1024);
    return status;
}

static taper_status run_dynamic(taper_call *call, bool relu)
{
    linear_i8 job = {.call = call, .relu = relu};
    taper_tensor *input, *y;
    int64_t sizes[TAPER_MAX_RANK];
    TAPER_TRY(taper_arg_tensor(call, 0, &input));
    TAPER_TRY(taper_arg_qlinear(call, 1, &job.params));
    if (input->dtype != TAPER_F32 || !describe_input(&job, input, sizes)) {
        return TAPER_DECLINED;
    }
    TAPER_TRY(choose(&job, taper_tensor_data(input)));
    TAPER_TRY(taper_ret_new(call, 0, TAPER_F32, input->rank, sizes, NULL, &y));
    job.y = taper_tensor_mutable(y);
    return multiply_floats(&job, taper_tensor_data(input));
}

// Of recurrent cells, whose weights are asked for in every step: only those of the model, whose packs are kept.
taper_status taper_cpu_linear_dynamic(taper_call *call, const struct taper_qlinear_params *params, const float *x,
                                      size_t rows, bool relu, float *y)
{
    linear_i8 job = {.call = call, .params = *params, .relu = relu, .y = y};
    if (params->weight == NULL || params->weight->storage->kind != TAPER_STORAGE_SHARED || !describe(&job, rows)) {
        return TAPER_DECLINED;
    }
    TAPER_TRY(choose(&job, x));
    return multiply_floats(&job, x);
}

taper_status taper_cpu_qlinear(taper_call *call);
taper_status taper_cpu_qlinear(taper_call *call)
{
    return run_static(call, false);
}

taper_status taper_cpu_qlinear_relu(taper_call *call);
taper_status taper_cpu_qlinear_relu(taper_call *call)
{
    return run_static(call, true);
}

taper_status taper_cpu_qlinear_dynamic(taper_call *call);
taper_status taper_cpu_qlinear_dynamic(taper_call *call)
{
    return run_dynamic(call, false);
}

taper_status taper_cpu_qlinear_relu_dynamic(taper_call *call);
taper_status taper_cpu_qlinear_relu_dynamic(taper_call *call)
{
    return run_dynamic(call, true);
}
