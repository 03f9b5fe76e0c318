// SPDX-License-Identifier: BSD-2-Clause
// The loops of resizing. A channels-last image is one plane whose elements are pixels. An input row is interpolated
// along the width once and used for every output row that reads it.
#include "ops/list/op_features.h"
#include "ops/nn/resize.h"

#include <math.h>

// ---- nearest: elements of any kind are copied

static void gather(size_t item, int64_t count, char *to, int64_t to_stride, const char *from, int64_t from_stride,
                   const int64_t *index)
{
#define GATHER(type)                                                                                                   \
    do {                                                                                                               \
        type *t = (type *)(void *)to;                                                                                  \
        const type *f = (const type *)(const void *)from;                                                              \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            t[i * to_stride] = f[index[i] * from_stride];                                                              \
        }                                                                                                              \
    } while (0)
    switch (item) {
    case 1:
        GATHER(uint8_t);
        break;
    case 2:
        GATHER(uint16_t);
        break;
    case 4:
        GATHER(uint32_t);
        break;
    case 8:
        GATHER(uint64_t);
        break;
    default:
        for (int64_t i = 0; i < count; i++) {
            memcpy(to + i * to_stride * (int64_t)item, from + index[i] * from_stride * (int64_t)item, item);
        }
        break;
    }
#undef GATHER
}

#include "ops/nn/resize_runs.h"

void taper_resize_nearest(taper_run *run, const taper_resize_axis *axes, const taper_volume *x, const void *in,
                          const taper_volume *y, void *out, size_t item)
{
    const bool inner = taper_volume_channels_inner(x) && taper_volume_channels_inner(y);
    const int64_t planes = inner ? 1 : x->c, wide = axes[2].output, size = (int64_t)item;
    const size_t pixel = (size_t)x->c * item;
    // An output row that reads the same input row as the row before it is a copy of that row.
    const bool dense = y->stride[2] == (inner ? y->c : 1);
    const size_t row_bytes = (size_t)wide * (inner ? pixel : item);
    const uint64_t row_work = (uint64_t)wide * 2 + row_bytes / 2 + 20;
    const bool as_is = !inner && dense && x->stride[2] == 1 && has_long_run(&axes[2]);
    const int64_t first = axes[2].run_at, length = axes[2].run, end = first + length;
    for (int64_t n = 0; n < x->n; n++) {
        for (int64_t c = 0; c < planes; c++) {
            for (int64_t d = 0; d < axes[0].output; d++) {
                for (int64_t h = 0; h < axes[1].output && taper_run_goes_on(run, row_work); h++) {
                    const char *from =
                        (const char *)in + (n * x->stride_n + c * x->stride_c + axes[0].index[d] * x->stride[0] +
                                            axes[1].index[h] * x->stride[1]) *
                                               size;
                    char *to =
                        (char *)out + (n * y->stride_n + c * y->stride_c + d * y->stride[0] + h * y->stride[1]) * size;
                    if (dense && h > 0 && axes[1].index[h] == axes[1].index[h - 1]) {
                        memcpy(to, to - y->stride[1] * size, row_bytes);
                    } else if (inner) {
                        for (int64_t w = 0; w < wide; w++) {
                            memcpy(to + w * y->stride[2] * size, from + axes[2].index[w] * x->stride[2] * size, pixel);
                        }
                    } else if (as_is) {
                        const int64_t *const index = axes[2].index;
                        gather(item, first, to, 1, from, 1, index);
                        memcpy(to + first * size, from + index[first] * size, (size_t)length * item);
                        gather(item, wide - end, to + end * size, 1, from, 1, index + end);
                    } else {
                        gather(item, wide, to, y->stride[2], from, x->stride[2], axes[2].index);
                    }
                }
            }
        }
    }
}

// ---- weighted sums of pixels

enum { ROWS = 4 }; // input rows of one output row: 2 · 2 for trilinear, 4 for bicubic

#define ELEMENT float
#define NAME(name) name##_f32
#include "ops/nn/resize_weighted.h"
#undef ELEMENT
#undef NAME
#include "ops/nn/resize_doubles.h"

static void weighted_plane_any(taper_run *run, const taper_resize_axis *axes, taper_dtype dtype, const taper_volume *x,
                               const void *in, int64_t in_at, const taper_volume *y, void *out, int64_t out_at)
{
    const int64_t taps = axes[0].taps * axes[1].taps * axes[2].taps;
    for (int64_t d = 0; d < axes[0].output; d++) {
        for (int64_t h = 0; h < axes[1].output; h++) {
            for (int64_t w = 0; w < axes[2].output && taper_run_goes_on(run, (uint64_t)taps * 8 + 20); w++) {
                double sum = 0.0;
                for (int64_t i = d * axes[0].taps; i < (d + 1) * axes[0].taps; i++) {
                    for (int64_t j = h * axes[1].taps; j < (h + 1) * axes[1].taps; j++) {
                        const int64_t row = in_at + axes[0].index[i] * x->stride[0] + axes[1].index[j] * x->stride[1];
                        const double weight = axes[0].weight[i] * axes[1].weight[j];
                        for (int64_t k = w * axes[2].taps; k < (w + 1) * axes[2].taps; k++) {
                            sum += weight * axes[2].weight[k] *
                                   taper_number_load(dtype, in, row + axes[2].index[k] * x->stride[2]);
                        }
                    }
                }
                taper_number_store(dtype, out, out_at + d * y->stride[0] + h * y->stride[1] + w * y->stride[2], sum);
            }
        }
    }
}

// The arithmetic of bilinear interpolation of a quantized plane, which is in floats and rounds the distance from the
// zero point. The last bit of a sum can decide between two integers. The enum therefore says which of the two products
// PyTorch fuses with the addition. PLAIN: neither, in its loops over planes. WIDE: the second, in the vectors of its
// loops over channels. FUSED: the first, for the other channels of these loops.
typedef enum plane_form { PLANE_PLAIN, PLANE_FUSED, PLANE_WIDE } plane_form;

static float weigh(plane_form form, float a, float x, float b, float y) // returns a · x + b · y
{
    return form == PLANE_PLAIN ? a * x + b * y : form == PLANE_FUSED ? fmaf(a, x, b * y) : fmaf(b, y, a * x);
}

static void quantized_plane(taper_run *run, const taper_resize_axis *axes, taper_dtype dtype, const taper_volume *x,
                            const void *in, int64_t in_at, const taper_volume *y, void *out, int64_t out_at,
                            double zero, plane_form form)
{
    for (int64_t h = 0; h < axes[1].output && taper_run_goes_on(run, (uint64_t)axes[2].output * 30 + 20); h++) {
        const float up = (float)axes[1].weight[2 * h], down = (float)axes[1].weight[2 * h + 1];
        for (int64_t w = 0; w < axes[2].output; w++) {
            const float left = (float)axes[2].weight[2 * w], right = (float)axes[2].weight[2 * w + 1];
            float rows[2];
            for (int64_t i = 0; i < 2; i++) {
                const int64_t row = in_at + axes[1].index[2 * h + i] * x->stride[1];
                const float a = (float)taper_number_load(dtype, in, row + axes[2].index[2 * w] * x->stride[2]);
                const float b = (float)taper_number_load(dtype, in, row + axes[2].index[2 * w + 1] * x->stride[2]);
                rows[i] = weigh(form, left, a, right, b);
            }
            const float sum = weigh(form, up, rows[0], down, rows[1]) - (float)zero;
            taper_number_store(dtype, out, out_at + h * y->stride[1] + w * y->stride[2], rint((double)sum) + zero);
        }
    }
}

taper_status taper_resize_weighted(const taper_call *call, const taper_resize_axis *axes, taper_dtype dtype,
                                   const taper_volume *x, const void *in, const taper_volume *y, void *out, double zero,
                                   bool fused)
{
    const bool f32 = dtype == TAPER_F32;
    const bool f64 = has_doubles(dtype);
    const bool inner = (f32 || f64) && taper_volume_channels_inner(x) && taper_volume_channels_inner(y);
    const int64_t group = inner ? x->c : 1;
    const bool vectors = TAPER_INTERPOLATES && !call->run->portable;
    taper_status done = TAPER_DECLINED;
    if (vectors && f32) {
        done = taper_resize_bilinear(call->run, axes, x, in, y, out);
    } else if (TAPER_QUANTIZES && vectors && dtype == TAPER_QU8 && fused) {
        done = taper_resize_bilinear_u8(call->run, axes, x, in, y, out, (int32_t)zero);
    }
    if (done != TAPER_DECLINED) {
        return done;
    }
    void *rows = NULL; // scratch memory for ROWS rows that are interpolated along the width
    const size_t rows_bytes = (size_t)axes[2].output * (size_t)group * ROWS * (f64 ? sizeof(double) : sizeof(float));
    if (f32 || f64) {
        rows = taper_heap_alloc(call->run->heap, rows_bytes);
        if (rows == NULL) {
            return taper_fail_memory(call->run->error);
        }
    }
    for (int64_t n = 0; n < x->n; n++) {
        for (int64_t c = 0; c < (inner ? 1 : x->c); c++) {
            const int64_t in_at = n * x->stride_n + c * x->stride_c, out_at = n * y->stride_n + c * y->stride_c;
            if (f64) {
                weighted_f64(call->run, axes, group, x, (const double *)in + in_at, y, (double *)out + out_at, rows);
            } else if (f32) {
                weighted_f32(call->run, axes, group, x, (const float *)in + in_at, y, (float *)out + out_at, rows);
            } else if (taper_dtype_is_quantized(dtype)) {
                const plane_form form = !fused ? PLANE_PLAIN : c < x->c / 8 * 8 ? PLANE_WIDE : PLANE_FUSED;
                quantized_plane(call->run, axes, dtype, x, in, in_at, y, out, out_at, zero, form);
            } else {
                weighted_plane_any(call->run, axes, dtype, x, in, in_at, y, out, out_at);
            }
        }
    }
    if (rows != NULL) {
        taper_heap_free(call->run->heap, rows, rows_bytes);
    }
    return TAPER_OK;
}

// ---- antialiased: first along the width into rows of the input's height, then along the height

typedef struct aa_step {
    int64_t group; // number of contiguous elements of a position: the channels of a pixel, or 1
    const double *weight;
    const int64_t *index;
    int64_t count;
} aa_step;

static void aa_f32(const aa_step *step, const float *in, int64_t stride, float *restrict out)
{
    if (step->group == 1) {
        float sum = 0.0f;
        const float *from = in + step->index[0] * stride; // the positions that are read are consecutive
        for (int64_t t = 0; t < step->count; t++) {
            sum += (float)step->weight[t] * from[t * stride];
        }
        *out = sum;
        return;
    }
    for (int64_t t = 0; t < step->count; t++) {
        const float *restrict from = in + step->index[t] * stride;
        const float weight = (float)step->weight[t];
        if (t == 0) {
            for (int64_t i = 0; i < step->group; i++) {
                out[i] = weight * from[i];
            }
        } else {
            for (int64_t i = 0; i < step->group; i++) {
                out[i] += weight * from[i];
            }
        }
    }
}

#include "ops/nn/resize_aa_rows.h"

static void aa_plane_f32(taper_run *run, const taper_resize_axis *axes, int64_t group, const taper_volume *x,
                         const float *in, const taper_volume *y, float *out, float *scratch)
{
    const taper_resize_axis *wide = &axes[2], *high = &axes[1];
    const int64_t line = wide->output * group;
    int64_t done = 0;
    if (group == 1) {
        done = aa_many(run, axes, x, in, scratch);
    }
    for (int64_t h = done; h < high->input; h++) {
        for (int64_t w = 0; w < wide->output; w++) {
            const aa_step step = {.group = group,
                                  .weight = wide->weight + w * wide->taps,
                                  .index = wide->index + w * wide->taps,
                                  .count = wide->count[w]};
            if (!taper_run_goes_on(run, (uint64_t)(step.count * group) * 2 + 10)) {
                return;
            }
            aa_f32(&step, in + h * x->stride[1], x->stride[2], scratch + h * line + w * group);
        }
    }
    const bool dense = y->stride[2] == group;
    for (int64_t h = 0; h < high->output; h++) {
        aa_step step = {.group = dense ? line : group,
                        .weight = high->weight + h * high->taps,
                        .index = high->index + h * high->taps,
                        .count = high->count[h]};
        for (int64_t w = 0; w < (dense ? 1 : wide->output); w++) {
            if (!taper_run_goes_on(run, (uint64_t)(step.count * step.group) * 2 + 10)) {
                return;
            }
            aa_f32(&step, scratch + w * group, line, out + h * y->stride[1] + w * y->stride[2]);
        }
    }
}

static void aa_plane_any(taper_run *run, const taper_resize_axis *axes, taper_dtype dtype, const taper_volume *x,
                         const void *in, int64_t in_at, const taper_volume *y, void *out, int64_t out_at,
                         double *scratch)
{
    const taper_resize_axis *wide = &axes[2], *high = &axes[1];
    for (int64_t h = 0; h < high->input; h++) {
        for (int64_t w = 0; w < wide->output && taper_run_goes_on(run, (uint64_t)wide->count[w] * 6 + 10); w++) {
            double sum = 0.0;
            for (int64_t t = w * wide->taps; t < w * wide->taps + wide->count[w]; t++) {
                sum += wide->weight[t] *
                       taper_number_load(dtype, in, in_at + h * x->stride[1] + wide->index[t] * x->stride[2]);
            }
            scratch[h * wide->output + w] = sum;
        }
    }
    for (int64_t h = 0; h < high->output; h++) {
        for (int64_t w = 0; w < wide->output && taper_run_goes_on(run, (uint64_t)high->count[h] * 3 + 10); w++) {
            double sum = 0.0;
            for (int64_t t = h * high->taps; t < h * high->taps + high->count[h]; t++) {
                sum += high->weight[t] * scratch[high->index[t] * wide->output + w];
            }
            taper_number_store(dtype, out, out_at + h * y->stride[1] + w * y->stride[2], sum);
        }
    }
}

taper_status taper_resize_antialiased(const taper_call *call, const taper_resize_axis *axes, taper_dtype dtype,
                                      const taper_volume *x, const void *in, const taper_volume *y, void *out)
{
    const bool f32 = dtype == TAPER_F32;
    const bool f64 = has_doubles(dtype);
    const bool inner = (f32 || f64) && taper_volume_channels_inner(x) && taper_volume_channels_inner(y);
    const int64_t group = inner ? x->c : 1;
    size_t bytes;
    if (!taper_mul_size((size_t)axes[1].input, (size_t)axes[2].output, &bytes) ||
        !taper_mul_size(bytes, (size_t)group, &bytes) ||
        !taper_mul_size(bytes, f32 ? sizeof(float) : sizeof(double), &bytes)) {
        return taper_fail_memory(call->run->error);
    }
    void *scratch = taper_heap_alloc(call->run->heap, bytes);
    if (scratch == NULL) {
        return taper_fail_memory(call->run->error);
    }
    for (int64_t n = 0; n < x->n; n++) {
        for (int64_t c = 0; c < (inner ? 1 : x->c); c++) {
            const int64_t in_at = n * x->stride_n + c * x->stride_c, out_at = n * y->stride_n + c * y->stride_c;
            if (f32) {
                aa_plane_f32(call->run, axes, group, x, (const float *)in + in_at, y, (float *)out + out_at, scratch);
            } else {
                aa_plane_any(call->run, axes, dtype, x, in, in_at, y, out, out_at, scratch);
            }
        }
    }
    taper_heap_free(call->run->heap, scratch, bytes);
    return TAPER_OK;
}
