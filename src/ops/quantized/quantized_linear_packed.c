// SPDX-License-Identifier: BSD-2-Clause
// The products of quantized linear layers (quantized_linear_packed.h).
#include "ops/quantized/quantized_linear_packed.h"

#include <math.h>

#include "ops/call/prepared.h"
#include "ops/quantized/quantized_layer.h"

enum { MOST_ROWS = 64 }; // largest number of rows in a strip

// ---- the product of rows and packed weights

static void run_tile(const taper_linear_i8 *job, const taper_tile *t)
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
                                      .shift = floats ? job->layer.bias + column : NULL,
                                      .floor = job->relu ? 0.0f : -INFINITY}};
    job->entry->run(&call);
}

static void run_tiles(void *argument, size_t begin, size_t end)
{
    const taper_linear_i8 *job = argument;
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
    const taper_linear_i8 *job = request->user;
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

// ---- running a layer, and the data kept for its next calls

static taper_status run_job(taper_linear_i8 *job)
{
    taper_run *run = job->call->run;
    run->kernel = job->entry->name;
    run->flops = 2.0 * (double)job->rows * (double)job->in * (double)job->out;
    return taper_run_range(run, run_tiles, job, job->tiles.count, 1, job->work);
}

typedef struct kept_linear {
    taper_linear_i8 job; // the job's bias and factor follow in the same memory
    int32_t folded[];
} kept_linear;

static taper_status run_kept(taper_call *call, void *data)
{
    kept_linear *k = data;
    taper_tensor *y;
    TAPER_TRY(taper_ret_prepared(call, &y));
    k->job.call = call;
    k->job.x = taper_tensor_data(call->args[0].as.tensor);
    k->job.y = taper_tensor_mutable(y);
    return run_job(&k->job);
}

static void keep(const taper_linear_i8 *job, const uint8_t *folded, size_t bytes, const taper_pack *pack)
{
    kept_linear *kept = taper_prepare(job->call, run_kept, sizeof *kept + bytes);
    if (kept != NULL) {
        kept->job = *job;
        memcpy(kept->folded, folded, bytes);
        kept->job.bias = kept->folded;
        kept->job.factor = (const float *)(const void *)(kept->folded + job->layer.places);
        kept->job.layer = taper_i8_layer_of(pack->lies, job->layer.places);
        taper_prepared_reads(job->call, pack);
    }
}

static taper_status run_packed(taper_linear_i8 *job, size_t weight_bytes)
{
    taper_run *run = job->call->run;
    const size_t places = job->layer.places, scratch_bytes = places * (sizeof(int32_t) + sizeof(float));
    taper_pack_request request;
    taper_pack pack;
    taper_i8_pack_key(job->entry, job->params.weight, job->params.bias, &request);
    request.layout = "quantized linear";
    request.kernel = job->entry->name;
    request.numbers[1] = -1; // says that the pack is not for a convolution
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
            status = run_job(job);
        } else {
            status = TAPER_DECLINED;
        }
        if (status == TAPER_OK && job->keeps && pack.kept) {
            keep(job, scratch, scratch_bytes, &pack);
        }
        taper_pack_done(job->call, &pack);
    }
    taper_heap_free(run->heap, scratch, scratch_bytes);
    return status;
}

taper_status taper_linear_i8_run(taper_linear_i8 *job)
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
    job->work = taper_gemm_i8_work(entry, 2.0 * (double)job->rows * (double)job->in * (double)job->out);
    job->tiles =
        taper_tiles_make(run, job->rows, taper_min_size(entry->mr, MOST_ROWS), 0, panels, job->panel_bytes, job->work);
    return run_packed(job, weight_bytes);
}

// ---- functions that operators call

bool taper_linear_i8_describe(taper_linear_i8 *job, size_t rows)
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

typedef struct quantize_job {
    const taper_vector_u8_entry *vector;
    const taper_vector_entry *floats; // kernels that clamp infinities in x; NULL if x has no infinities
    const float *x;
    float inverse;
    int32_t zero_point;
    uint8_t *y;
} quantize_job;

static void quantize_range(void *argument, size_t begin, size_t end)
{
    enum { BLOCK = 1024 };
    const quantize_job *q = argument;
    const float low = (float)-q->zero_point, high = (float)(255 - q->zero_point);
    while (q->floats != NULL && begin < end) {
        float held[BLOCK];
        const size_t n = taper_min_size(end - begin, BLOCK);
        q->floats->binary[TAPER_BINARY_MUL][TAPER_OPERANDS_VS](n, q->x + begin, &q->inverse, held, low, high);
        q->vector->quantize(n, held, 1.0f, q->zero_point, q->y + begin);
        begin += n;
    }
    q->vector->quantize(end - begin, q->x + begin, q->inverse, q->zero_point, q->y + begin);
}

taper_status taper_linear_i8_choose(taper_linear_i8 *job, const float *x)
{
    taper_run *run = job->call->run;
    int64_t zero_point;
    float min, max;
    taper_vector_u8_select(run->cpu)->range(job->rows * job->in, x, &min, &max);
    if (min != min) {
        return TAPER_DECLINED; // the reference code then reports the error
    }
    TAPER_TRY(taper_q_choose(run, taper_q_range_of(TAPER_QU8), min, max, &job->in_scale, &zero_point));
    job->in_zero_point = (int32_t)zero_point;
    return TAPER_OK;
}

taper_status taper_linear_i8_run_floats(taper_linear_i8 *job, const float *x, const taper_vector_entry *held)
{
    taper_run *run = job->call->run;
    quantize_job quantize = {.vector = taper_vector_u8_select(run->cpu),
                             .floats = held,
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
    taper_status status = taper_run_floats(run, quantize_range, &quantize, count, 1);
    if (status == TAPER_OK) {
        status = taper_linear_i8_run(job);
    }
    taper_heap_free(run->heap, bytes, count + 1024);
    return status;
}

// Declines weights that are not part of the model. Recurrent cells request their weights in every step, and only packs
// of the model's weights are kept.
taper_status taper_qlinear_packed_dynamic(taper_call *call, const taper_qlinear_params *params, const float *x,
                                          size_t rows, bool relu, float *y)
{
    taper_linear_i8 job = {.call = call, .params = *params, .relu = relu, .y = y};
    if (params->weight == NULL || params->weight->storage->kind != TAPER_STORAGE_SHARED ||
        !taper_linear_i8_describe(&job, rows)) {
        return TAPER_DECLINED;
    }
    TAPER_TRY(taper_linear_i8_choose(&job, x));
    return taper_linear_i8_run_floats(&job, x, NULL);
}
