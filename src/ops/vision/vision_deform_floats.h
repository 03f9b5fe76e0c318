// SPDX-License-Identifier: BSD-2-Clause
// Part of vision_deform.c: computes the columns of many positions at a time and multiplies them with all weights.
#ifndef TAPER_OPS_VISION_VISION_DEFORM_FLOATS_H
#define TAPER_OPS_VISION_VISION_DEFORM_FLOATS_H

enum { PLACES = 128, CORNERS = 4 };

// The four input elements that one tap of a group of channels reads for each position, and their weights. An offset of
// -1 means outside the image.
typedef struct corners {
    int64_t at[CORNERS][PLACES];
    float weight[CORNERS][PLACES];
} corners;

static void find_corners(const deform_work *work, int64_t n, int64_t first, int64_t tap, int64_t place, size_t count,
                         corners *to)
{
    const taper_volume *x = &work->x, *o = &work->offset, *m = &work->mask;
    const int64_t kernel_wide = work->weight.size[2];
    const float *offsets = (const float *)work->offsets + n * o->stride_n + 2 * (first + tap) * o->stride_c;
    const float *masks = (const float *)work->masks + n * m->stride_n + (first + tap) * m->stride_c;
    for (size_t i = 0; i < count; i++) {
        const int64_t oy = (place + (int64_t)i) / work->out_wide, ox = (place + (int64_t)i) % work->out_wide;
        const float *offset = offsets + oy * o->stride[1] + ox * o->stride[2];
        const float y =
            (float)(oy * work->stride[0] - work->pad[0] + tap / kernel_wide * work->dilation[0]) + offset[0];
        const float left =
            (float)(ox * work->stride[1] - work->pad[1] + tap % kernel_wide * work->dilation[1]) + offset[o->stride_c];
        const bool inside = y > -1.0f && y < (float)x->size[1] && left > -1.0f && left < (float)x->size[2];
        const float floor_y = inside ? floorf(y) : -2.0f, floor_x = inside ? floorf(left) : -2.0f;
        const float ly = y - floor_y, lx = left - floor_x;
        const float factor = work->use_mask ? masks[oy * m->stride[1] + ox * m->stride[2]] : 1.0f;
        for (int k = 0; k < CORNERS; k++) {
            const int64_t row = (int64_t)floor_y + k / 2, column = (int64_t)floor_x + k % 2;
            const bool there = row >= 0 && row < x->size[1] && column >= 0 && column < x->size[2];
            to->at[k][i] = there ? row * x->stride[1] + column * x->stride[2] : -1;
            to->weight[k][i] = (k / 2 != 0 ? ly : 1 - ly) * (k % 2 != 0 ? lx : 1 - lx) * factor;
        }
    }
}

static void fill_columns(const deform_work *work, int64_t n, int64_t place, size_t count, float *columns)
{
    const int64_t taps = work->weight.size[1] * work->weight.size[2], per_group = work->x.c / work->offset_groups;
    corners read;
    for (int64_t group = 0; group < work->offset_groups; group++) {
        for (int64_t tap = 0; tap < taps; tap++) {
            find_corners(work, n, group * taps, tap, place, count, &read);
            for (int64_t c = group * per_group; c < (group + 1) * per_group; c++) {
                const float *plane = (const float *)work->in + n * work->x.stride_n + c * work->x.stride_c;
                float *to = columns + (c * taps + tap) * PLACES;
                for (size_t i = 0; i < count; i++) {
                    float value = 0;
                    for (int k = 0; k < CORNERS; k++) {
                        value += read.at[k][i] >= 0 ? read.weight[k][i] * plane[read.at[k][i]] : 0.0f;
                    }
                    to[i] = value;
                }
            }
        }
    }
}

// Computes the whole operator in float. Returns TAPER_DECLINED, with nothing written, for other dtypes, for weights in
// another order, and if run->portable is set.
static taper_status run_floats(taper_run *run, const deform_work *work)
{
    const taper_volume *w = &work->weight;
    const int64_t outputs = w->n, taps = w->size[1] * w->size[2], depth = w->c * taps;
    const int64_t per_group = outputs / work->groups, places = work->out_high * work->out_wide;
    size_t bytes;
    if (run->portable || work->dtype != TAPER_F32 || (w->c > 1 && w->stride_c != taps) ||
        (w->size[1] > 1 && w->stride[1] != w->size[2]) || (w->size[2] > 1 && w->stride[2] != 1)) {
        return TAPER_DECLINED;
    }
    if (!taper_mul_size((size_t)(work->x.c * taps), PLACES * sizeof(float), &bytes)) {
        return taper_fail_memory(run->error);
    }
    float *columns = taper_heap_alloc(run->heap, bytes);
    taper_status status = columns != NULL ? TAPER_OK : taper_fail_memory(run->error);
    for (int64_t n = 0; n < work->x.n && status == TAPER_OK; n++) {
        for (int64_t place = 0; place < places && status == TAPER_OK; place += PLACES) {
            const size_t count = (size_t)taper_min_i64(PLACES, places - place);
            status = taper_run_spend(run, (uint64_t)(work->x.c * taps) * count * 10);
            if (status == TAPER_OK) {
                fill_columns(work, n, place, count, columns);
            }
            for (int64_t g = 0; g < work->groups && status == TAPER_OK; g++) {
                float *out = (float *)work->out + (n * outputs + g * per_group) * places + place;
                const taper_gemm gemm = {.dtype = TAPER_F32,
                                         .m = per_group,
                                         .n = (int64_t)count,
                                         .k = depth,
                                         .a = (const float *)work->weights + g * per_group * w->stride_n,
                                         .a_row = w->stride_n,
                                         .a_column = 1,
                                         .b = columns + g * depth * PLACES,
                                         .b_row = PLACES,
                                         .b_column = 1,
                                         .c = out,
                                         .c_row = places,
                                         .c_column = 1};
                status = taper_gemm_run(run, &gemm);
                for (int64_t k = 0; k < per_group && status == TAPER_OK; k++) {
                    const float bias = ((const float *)work->biases)[(g * per_group + k) * work->bias_stride];
                    for (size_t i = 0; i < count; i++) {
                        out[k * places + (int64_t)i] += bias;
                    }
                }
            }
        }
    }
    taper_heap_free(run->heap, columns, bytes);
    return status;
}

#endif
