// SPDX-License-Identifier: BSD-2-Clause
// Normalization of quantized tensors. Batch norm maps integers to integers with two floats per channel. The other
// operators compute mean and variance of the integers of a group exactly, then map them in the same way. A product is
// fused with the sum after it, as in PyTorch's compiled loops.
#include <inttypes.h>

#include "ir/walk.h"
#include "ops/call/call.h"
#include "ops/call/parallel.h"
#include "ops/engine/view_move.h"
#include "ops/kernels/kernel_select.h"
#include "ops/quantized/quantized.h"
#include "ops/quantized/quantized_bytes.h"

typedef struct norm_work {
    taper_dtype dtype;
    taper_q_range range;
    int64_t x_point, point;
    float scale, inverse; // scale: scale of x; inverse: 1 / scale of the result
} norm_work;

// Reads a contiguous float32 vector of `count` elements and retains it. *vector is NULL if the argument is None.
static taper_status arg_floats(const taper_call *call, size_t at, int64_t count, taper_tensor **vector)
{
    taper_tensor *t;
    *vector = NULL;
    TAPER_TRY(taper_arg_tensor_or_none(call, at, &t));
    if (t == NULL) {
        return TAPER_OK;
    }
    if (t->dtype != TAPER_F32 || taper_tensor_numel(t) != count) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument '%s': expected %" PRId64 " numbers of float32, got %" PRId64 " of %s",
                   taper_arg_name(call, at), count, taper_tensor_numel(t), taper_dtype_name((taper_dtype)t->dtype));
    }
    return taper_run_contiguous(call->run, t, vector);
}

static const float *floats(const taper_tensor *vector)
{
    return vector != NULL ? taper_tensor_data(vector) : NULL;
}

static void drop(taper_tensor **vectors, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        taper_tensor_drop(vectors[i]);
    }
}

// ---- batch norm

typedef struct batch_work {
    norm_work norm;
    const float *vectors[4]; // weight, bias, mean and variance
    double eps, x_scale, y_scale;
    bool relu;
} batch_work;

static void run_batch(taper_run *run, const batch_work *b, const taper_tensor *x, taper_tensor *y)
{
    const norm_work *w = &b->norm;
    const int64_t channels = x->sizes[1];
    int64_t in[TAPER_MAX_RANK], out[TAPER_MAX_RANK];
    taper_walk walk;
    taper_tensor_steps(x, 1, in);
    taper_tensor_steps(y, 1, out);
    for (int64_t c = 0; c < channels; c++) {
        const float sigma = (float)(1.0 / (double)sqrtf(b->vectors[3][c] + (float)b->eps));
        const float alpha = (float)((double)(sigma * b->vectors[0][c]) * (b->x_scale / b->y_scale));
        const float beta =
            (float)((double)(b->vectors[1][c] - b->vectors[2][c] * sigma * b->vectors[0][c]) / b->y_scale);
        const int64_t count = taper_tensor_numel(x) / channels;
        taper_walk_over(&walk, x->rank, x->sizes, 1, in, out);
        for (int64_t n = 0; n < count && taper_run_step(run, n, 15); n++) {
            const int64_t from = c * in[1] + walk.at[0], to = c * out[1] + walk.at[1];
            const int64_t q = taper_q_load(w->dtype, taper_tensor_data(x), from);
            const int64_t r = taper_q_round(fmaf(alpha, (float)(q - w->x_point), beta), w->point, w->range);
            taper_q_store(w->dtype, taper_tensor_mutable(y), to, b->relu && r < w->point ? w->point : r);
            (void)taper_walk_next(&walk);
        }
    }
}

static taper_status batch_norm(taper_call *call, size_t least, size_t most, bool relu)
{
    taper_error *error = call->run->error;
    taper_tensor *x, *y, *vectors[4] = {NULL, NULL, NULL, NULL};
    batch_work b = {.relu = relu};
    int64_t point;
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    TAPER_TRY(taper_arg_double(call, 5, &b.eps));
    TAPER_TRY(taper_arg_qparams(call, 6, (taper_dtype)x->dtype, &b.y_scale, &point));
    if (taper_tensor_numel(x) == 0) { // PyTorch returns x.clone() with its quantizer
        taper_tensor *clone;
        TAPER_TRY(taper_view_clone(call->run, x, TAPER_FORMAT_CONTIGUOUS, &clone));
        return taper_ret_tensor(call, 0, clone);
    }
    if (x->rank < least || x->rank > most) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the input has %u dimensions, expected %zu to %zu", x->rank, least,
                   most);
    }
    int64_t strides[TAPER_MAX_RANK];
    if (x->rank > 3) {
        taper_strides_channels_last(x->rank, x->sizes, strides);
    }
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < 4 && status == TAPER_OK; i++) {
        status = arg_floats(call, 1 + i, x->sizes[1], &vectors[i]);
        if (status == TAPER_OK && vectors[i] == NULL) {
            status =
                taper_fail(error, TAPER_ERROR_ARGUMENT, "argument '%s' must be provided", taper_arg_name(call, 1 + i));
        }
        b.vectors[i] = floats(vectors[i]);
    }
    if (status == TAPER_OK) {
        status = taper_ret_quantized(call, 0, (taper_dtype)x->dtype, x->rank, x->sizes, x->rank > 3 ? strides : NULL,
                                     b.y_scale, point, &y);
    }
    if (status == TAPER_OK) {
        b.x_scale = x->quantizer->scale;
        b.norm = (norm_work){.dtype = (taper_dtype)x->dtype,
                             .range = taper_q_range_of((taper_dtype)x->dtype),
                             .x_point = x->quantizer->zero_point,
                             .point = point};
        run_batch(call->run, &b, x, y);
    }
    drop(vectors, 4);
    return status;
}

#define BATCH_NORM(name, least, most)                                                                                  \
    TAPER_KERNEL(taper_op_q_##name)                                                                                    \
    {                                                                                                                  \
        return batch_norm(call, least, most, false);                                                                   \
    }                                                                                                                  \
    TAPER_KERNEL(taper_op_q_##name##_relu)                                                                             \
    {                                                                                                                  \
        return batch_norm(call, least, most, true);                                                                    \
    }
BATCH_NORM(batch_norm, 2, 5)
BATCH_NORM(batch_norm1d, 2, 3)
BATCH_NORM(batch_norm2d, 4, 4)
BATCH_NORM(batch_norm3d, 5, 5)

// ---- moments of groups of elements

typedef struct moments {
    float mean; // mean distance from the zero point, in units of the scale
    float step; // scale of x divided by the standard deviation
} moments;

static moments finish(const norm_work *w, float sum, float squares, int64_t count, double eps)
{
    const float mean = sum / (float)count;
    float variance = fmaf(-mean, mean, squares / (float)count);
    variance = variance > 0 ? variance : 0;
    const double spread = sqrt((double)(variance * w->scale * w->scale) + eps);
    return (moments){mean - (float)w->x_point, (float)((double)w->scale / spread)};
}

// Computes the moments of `count` consecutive elements.
static moments moments_of(const norm_work *w, const void *x, int64_t at, int64_t count, double eps)
{
    int64_t sum = 0, squares = 0;
    float wide_squares = 0; // sum of squares of qint32, whose squares do not fit into an integer
    for (int64_t i = 0; i < count; i++) {
        const int64_t q = taper_q_load(w->dtype, x, at + i);
        sum += q;
        if (w->dtype == TAPER_QI32) {
            wide_squares += (float)q * (float)q;
        } else {
            squares += q * q;
        }
    }
    return finish(w, (float)sum, w->dtype == TAPER_QI32 ? wide_squares : (float)squares, count, eps);
}

static void store_number(const norm_work *w, taper_tensor *y, int64_t at, float number)
{
    const float q = number * w->inverse;
    taper_q_store(w->dtype, taper_tensor_mutable(y), at,
                  w->dtype == TAPER_QI32 ? taper_q_round(q, w->point, w->range)
                                         : taper_q_round_wide(q, w->point, w->range));
}

static float distance(const norm_work *w, const void *x, int64_t at)
{
    return (float)taper_q_load(w->dtype, x, at) - (float)w->x_point;
}

// ---- groups of bytes, computed by the kernels with the same bits as by the plain code

typedef struct byte_groups {
    const taper_native_entry *native;
    const norm_work *norm;
    const uint8_t *x;
    uint8_t *y;
    const float *weight, *bias; // one number per element; NULL if all weights are 1, or all biases are 0
    // If channels is not 0, weight and bias have one number for each channel, not for each element. per_group: number
    // of channels of a group. pixels: number of elements of a channel.
    int64_t channels, per_group, pixels;
    int64_t count; // number of elements of a group
    double eps;
} byte_groups;

static void run_byte_groups(void *argument, size_t begin, size_t end)
{
    static const float one = 1, none = 0;
    const byte_groups *g = argument;
    const norm_work *w = g->norm;
    const int64_t turned = w->dtype == TAPER_QI8 ? 128 : 0;
    taper_norm_numbers p = {.x_point = (float)(w->x_point + turned),
                            .inverse = w->inverse,
                            .low = (float)(w->range.low - w->point),
                            .high = (float)(w->range.high - w->point),
                            .point = (int32_t)(w->point + turned),
                            .flip = (uint8_t)turned};
    for (size_t group = begin; group < end; group++) {
        const uint8_t *x = g->x + (int64_t)group * g->count;
        uint8_t *y = g->y + (int64_t)group * g->count;
        uint64_t all, all_squares;
        g->native->moments_u8((size_t)g->count, x, p.flip, &all, &all_squares);
        const int64_t sum = (int64_t)all - turned * g->count;
        const int64_t squares = (int64_t)all_squares - 2 * turned * (int64_t)all + turned * turned * g->count;
        const moments m = finish(w, (float)sum, (float)squares, g->count, g->eps);
        p.mean = m.mean;
        if (g->channels == 0) {
            p.step = m.step;
            const bool given = g->weight != NULL;
            g->native->norm_u8((size_t)g->count, x, given ? g->weight : &one, given ? g->bias : &none, given ? 1 : 0,
                               &p, y);
            continue;
        }
        p.step = 1;
        for (int64_t k = 0; k < g->per_group; k++, x += g->pixels, y += g->pixels) {
            const int64_t c = ((int64_t)group * g->per_group + k) % g->channels;
            const float step = m.step * (g->weight != NULL ? g->weight[c] : 1), bias = g->bias != NULL ? g->bias[c] : 0;
            g->native->norm_u8((size_t)g->pixels, x, &step, &bias, 0, &p, y);
        }
    }
}

static taper_status spread_byte_groups(taper_run *run, byte_groups *g, int64_t groups)
{
    g->native = taper_native_select(run->cpu);
    run->kernel = g->native->name;
    return taper_run_floats(run, run_byte_groups, g, (size_t)groups, (double)g->count * 0.5);
}

static taper_status begin(taper_call *call, size_t eps_at, const taper_tensor *x, norm_work *w, double *eps,
                          double *scale)
{
    TAPER_TRY(taper_arg_double(call, eps_at, eps));
    *w = (norm_work){.dtype = (taper_dtype)x->dtype,
                     .range = taper_q_range_of((taper_dtype)x->dtype),
                     .x_point = x->quantizer->zero_point,
                     .scale = (float)x->quantizer->scale};
    TAPER_TRY(taper_arg_qparams(call, eps_at + 1, (taper_dtype)x->dtype, scale, &w->point));
    w->inverse = 1.0f / (float)*scale;
    return TAPER_OK;
}

// Reads quantized::layer_norm(input, normalized_shape, weight, bias, eps, output_scale, output_zero_point) and computes
// it.
TAPER_KERNEL(taper_op_q_layer_norm)
{
    taper_error *error = call->run->error;
    taper_tensor *x, *y, *plain, *vectors[2] = {NULL, NULL};
    int64_t shape[TAPER_MAX_RANK], count = 1;
    size_t dims;
    norm_work w;
    double eps, scale;
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, shape, &dims));
    TAPER_TRY(begin(call, 4, x, &w, &eps, &scale));
    bool fits = dims > 0 && dims <= x->rank;
    for (size_t i = 0; fits && i < dims; i++) {
        fits = shape[i] == x->sizes[x->rank - dims + i];
        count *= fits ? shape[i] : 1;
    }
    if (!fits) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "normalized_shape %s does not end the sizes %s of the input",
                   taper_sizes_print(dims, shape).text, taper_sizes_print(x->rank, x->sizes).text);
    }
    TAPER_TRY(taper_run_contiguous(call->run, x, &plain));
    taper_status status = arg_floats(call, 2, count, &vectors[0]);
    status = status == TAPER_OK ? arg_floats(call, 3, count, &vectors[1]) : status;
    status = status == TAPER_OK ? taper_ret_quantized(call, 0, w.dtype, x->rank, x->sizes, NULL, scale, w.point, &y)
                                : status;
    const float *weight = floats(vectors[0]), *bias = floats(vectors[1]);
    if (status == TAPER_OK && taper_tensor_numel(x) != 0 && taper_q_has_kernels(call->run, w.dtype) &&
        (weight == NULL) == (bias == NULL)) {
        byte_groups g = {.norm = &w,
                         .x = taper_tensor_data(plain),
                         .y = taper_tensor_mutable(y),
                         .weight = weight,
                         .bias = bias,
                         .count = count,
                         .eps = eps};
        status = spread_byte_groups(call->run, &g, taper_tensor_numel(x) / count);
    } else if (status == TAPER_OK && taper_tensor_numel(x) != 0) {
        const void *from = taper_tensor_data(plain);
        for (int64_t at = 0; at < taper_tensor_numel(x); at += count) {
            status = taper_run_spend(call->run, (uint64_t)count * 15 + 50);
            if (status != TAPER_OK) {
                break;
            }
            const moments m = moments_of(&w, from, at, count, eps);
            for (int64_t i = 0; i < count; i++) {
                store_number(&w, y, at + i,
                             fmaf((distance(&w, from, at + i) - m.mean) * m.step, weight != NULL ? weight[i] : 1,
                                  bias != NULL ? bias[i] : 0));
            }
        }
    }
    drop(vectors, 2);
    taper_tensor_drop(plain);
    return status;
}

typedef struct group_work {
    norm_work norm;
    const float *weight, *bias; // one number per channel; NULL if all weights are 1, or all biases are 0
    int64_t channels, per_group, pixels;
    double eps;
} group_work;

static void run_groups_plain(taper_run *run, const group_work *g, const void *x, taper_tensor *y)
{
    const norm_work *w = &g->norm;
    const int64_t count = g->per_group * g->pixels, total = taper_tensor_numel(y);
    for (int64_t at = 0, group = 0; at < total; at += count, group++) {
        if (!taper_run_goes_on(run, (uint64_t)count * 15 + 50)) {
            return;
        }
        const moments m = moments_of(w, x, at, count, g->eps);
        for (int64_t k = 0; k < g->per_group; k++) {
            const int64_t c = (group * g->per_group + k) % g->channels;
            const float step = m.step * (g->weight != NULL ? g->weight[c] : 1), bias = g->bias != NULL ? g->bias[c] : 0;
            for (int64_t i = k * g->pixels; i < (k + 1) * g->pixels; i++) {
                store_number(w, y, at + i, fmaf(distance(w, x, at + i) - m.mean, step, bias));
            }
        }
    }
}

enum { PIXELS_BY_CHANNEL = 512 }; // from this number of pixels on PyTorch adds floats, channel by channel

static moments moments_of_pixels(const group_work *g, const void *x, int64_t at)
{
    const norm_work *w = &g->norm;
    int64_t sum = 0, squares = 0;
    float sum_f32 = 0, squares_f32 = 0;
    for (int64_t k = 0; k < g->per_group; k++) {
        float own = 0, own_squares = 0;
        for (int64_t p = 0; p < g->pixels; p++) {
            const int64_t q = taper_q_load(w->dtype, x, at + p * g->channels + k);
            sum += q;
            squares += w->dtype == TAPER_QI32 ? 0 : q * q; // 0 for qint32, whose squares do not fit into an integer
            own += (float)q;
            own_squares += (float)q * (float)q;
        }
        sum_f32 += own;
        squares_f32 += own_squares;
    }
    const bool in_floats = g->pixels >= PIXELS_BY_CHANNEL;
    return finish(w, in_floats ? sum_f32 : (float)sum,
                  in_floats || w->dtype == TAPER_QI32 ? squares_f32 : (float)squares, g->per_group * g->pixels, g->eps);
}

static void run_groups_last(taper_run *run, const group_work *g, const void *x, taper_tensor *y)
{
    const norm_work *w = &g->norm;
    const int64_t batch = g->channels * g->pixels, total = taper_tensor_numel(y);
    for (int64_t start = 0; start < total; start += batch) {
        for (int64_t first = 0; first < g->channels; first += g->per_group) {
            if (!taper_run_goes_on(run, (uint64_t)(g->per_group * g->pixels) * 15 + 50)) {
                return;
            }
            const moments m = moments_of_pixels(g, x, start + first);
            for (int64_t c = first; c < first + g->per_group; c++) {
                const float step = m.step * (g->weight != NULL ? g->weight[c] : 1);
                const float bias = fmaf(-step, m.mean, g->bias != NULL ? g->bias[c] : 0);
                for (int64_t p = 0; p < g->pixels; p++) {
                    const int64_t at = start + p * g->channels + c;
                    store_number(w, y, at, fmaf(distance(w, x, at), step, bias));
                }
            }
        }
    }
}

// Computes group norm. groups is 0 for one group per channel. The vectors are arguments `at` and `at` + 1, followed by
// eps.
static taper_status group_norm(taper_call *call, int64_t groups, size_t at)
{
    taper_error *error = call->run->error;
    taper_tensor *x, *y, *plain, *vectors[2] = {NULL, NULL};
    group_work g = {0};
    double scale;
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    TAPER_TRY(begin(call, at + 2, x, &g.norm, &g.eps, &scale));
    if (x->rank < 3 || groups < 0 || x->sizes[1] == 0 || (groups != 0 && x->sizes[1] % groups != 0)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "the input needs three dimensions or more and channels that %" PRId64 " groups divide, got sizes %s",
                   groups, taper_sizes_print(x->rank, x->sizes).text);
    }
    g.channels = x->sizes[1];
    g.per_group = groups == 0 ? 1 : g.channels / groups;
    const bool planes = x->rank == 4 && taper_tensor_suggests_channels_last(x);
    int64_t strides[TAPER_MAX_RANK];
    if (planes) {
        taper_strides_channels_last(4, x->sizes, strides);
    }
    TAPER_TRY(taper_view_clone(call->run, x, planes ? TAPER_FORMAT_CHANNELS_LAST : TAPER_FORMAT_CONTIGUOUS, &plain));
    taper_status status = arg_floats(call, at, g.channels, &vectors[0]);
    status = status == TAPER_OK ? arg_floats(call, at + 1, g.channels, &vectors[1]) : status;
    status = status == TAPER_OK ? taper_ret_quantized(call, 0, g.norm.dtype, x->rank, x->sizes, planes ? strides : NULL,
                                                      scale, g.norm.point, &y)
                                : status;
    if (status == TAPER_OK && taper_tensor_numel(x) != 0) {
        g.pixels = taper_tensor_numel(x) / (x->sizes[0] * g.channels);
        g.weight = floats(vectors[0]);
        g.bias = floats(vectors[1]);
        if (!planes && taper_q_has_kernels(call->run, g.norm.dtype)) {
            byte_groups bytes = {.norm = &g.norm,
                                 .x = taper_tensor_data(plain),
                                 .y = taper_tensor_mutable(y),
                                 .weight = g.weight,
                                 .bias = g.bias,
                                 .channels = g.channels,
                                 .per_group = g.per_group,
                                 .pixels = g.pixels,
                                 .count = g.per_group * g.pixels,
                                 .eps = g.eps};
            status = spread_byte_groups(call->run, &bytes, taper_tensor_numel(x) / bytes.count);
        } else {
            (planes ? run_groups_last : run_groups_plain)(call->run, &g, taper_tensor_data(plain), y);
        }
    }
    drop(vectors, 2);
    taper_tensor_drop(plain);
    return status;
}

TAPER_KERNEL(taper_op_q_group_norm)
{
    int64_t groups;
    TAPER_TRY(taper_arg_int(call, 1, &groups));
    if (groups < 1) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument 'num_groups' must be positive, not %" PRId64,
                   groups);
    }
    return group_norm(call, groups, 2);
}

TAPER_KERNEL(taper_op_q_instance_norm)
{
    return group_norm(call, 0, 1);
}
