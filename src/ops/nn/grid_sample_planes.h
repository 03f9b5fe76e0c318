// SPDX-License-Identifier: BSD-2-Clause
// Part of grid_sample.c: planes of floats, at many positions together.
#ifndef TAPER_OPS_NN_GRID_SAMPLE_PLANES_H
#define TAPER_OPS_NN_GRID_SAMPLE_PLANES_H

enum { MOST_SIZE = 1 << 22 };

typedef struct grid_block {
    float at[3][POSITIONS]; // x, y and z of each output position, in elements of the input
    float weight[4][POSITIONS];
    int32_t offset[POSITIONS];
    bool inside[POSITIONS]; // true if all taps of the position are inside the image
} grid_block;

// Positions with some taps outside the image. The value of such a tap counts as 0.
typedef struct grid_edges {
    int64_t count;
    int32_t position[POSITIONS];
    float weight[4][POSITIONS];
    int32_t offset[4][POSITIONS];
    uint32_t kept[4][POSITIONS]; // bit mask for each tap's value: all ones if the tap is inside the image, otherwise 0
} grid_edges;

// Computes input positions with the arithmetic of unnormalize() and place(), so that the results are equal to the last
// bit.
static void place_block(const grid_work *work, const float *grid, int64_t step_w, int64_t step_c, int64_t count,
                        grid_block *b)
{
    for (int64_t i = 0; i < (work->volume ? 3 : 2); i++) {
        const float n = (float)work->x.size[2 - i], last = n - 1.0f, half = (work->align_corners ? last : n) / 2.0f;
        const float shift = work->align_corners ? 0.0f : 0.5f;
        float *const at = b->at[i];
        for (int64_t p = 0; p < count; p++) {
            at[p] = (grid[p * step_w + i * step_c] + 1.0f) * half - shift;
        }
        for (int64_t p = 0; p < count && work->padding == BORDER; p++) { // replaces NaN by the result of place()
            const float none = work->volume ? last : 0.0f, x = at[p] == at[p] ? at[p] : none;
            const float held = x < last ? x : last;
            at[p] = held > 0.0f ? held : 0.0f;
        }
        for (int64_t p = 0; p < count && work->padding == REFLECTION; p++) {
            at[p] = (float)place(work, (double)at[p], work->x.size[2 - i]);
        }
    }
}

// Computes the offset of the nearest element, axis after axis.
static void weigh_nearest(const grid_work *work, int64_t count, grid_block *b)
{
    const float round = 0x1.8p23f; // adding this number rounds to an integer, because the sum has no bits for fractions
    for (int64_t p = 0; p < count; p++) {
        b->offset[p] = 0;
        b->inside[p] = true;
    }
    for (int64_t i = 0; i < (work->volume ? 3 : 2); i++) {
        const float last = (float)(work->x.size[2 - i] - 1), *const at = b->at[i];
        const int32_t step = (int32_t)work->x.stride[2 - i];
        for (int64_t p = 0; p < count; p++) {
            const float x = (at[p] + round) - round;
            const bool inside = b->inside[p] & (at[p] >= -1.0f) & (at[p] <= last + 1.0f) & (x >= 0.0f) & (x <= last);
            b->offset[p] = inside ? b->offset[p] + (int32_t)x * step : 0;
            b->inside[p] = inside;
        }
    }
}

// Computes the weights and the offset of the first tap. A position that has taps outside the image is marked, and reads
// the first pixel instead.
static void weigh_block(const grid_work *work, int64_t count, grid_block *b)
{
    const float last_x = (float)(work->x.size[2] - 1), last_y = (float)(work->x.size[1] - 1);
    const int32_t step_x = (int32_t)work->x.stride[2], step_y = (int32_t)work->x.stride[1];
    for (int64_t p = 0; p < count; p++) {
        const bool inside =
            (b->at[0][p] >= 0.0f) & (b->at[1][p] >= 0.0f) & (b->at[0][p] < last_x) & (b->at[1][p] < last_y);
        const float x = inside ? b->at[0][p] : 0.0f, y = inside ? b->at[1][p] : 0.0f;
        const int32_t left = (int32_t)x, top = (int32_t)y;
        const float right = x - (float)left, bottom = y - (float)top;
        b->offset[p] = top * step_y + left * step_x;
        b->inside[p] = inside;
        b->weight[0][p] = (1.0f - right) * (1.0f - bottom);
        b->weight[1][p] = right * (1.0f - bottom);
        b->weight[2][p] = (1.0f - right) * bottom;
        b->weight[3][p] = right * bottom;
    }
}

// Returns true if a position that has taps outside the image has no tap inside, so that its result is 0 for any image.
static bool is_far(const grid_work *work, float x, float y)
{
    const float width = (float)work->x.size[2], height = (float)work->x.size[1];
    return work->padding == ZEROS && (work->mode == NEAREST || (isfinite(x) && isfinite(y) &&
                                                                (x < -1.0f || y < -1.0f || x >= width || y >= height)));
}

// Appends position p, whose coordinates are finite, to `edges`. The arithmetic is that of find_taps.
static void add_edge(const grid_work *work, const grid_block *b, int64_t p, grid_edges *edges)
{
    const taper_volume *v = &work->x;
    const int64_t e = edges->count++;
    float weight[2][2];
    int32_t offset[2][2];
    uint32_t kept[2][2];
    for (int i = 0; i < 2; i++) {
        const int32_t size = (int32_t)v->size[2 - i], step_i = (int32_t)v->stride[2 - i];
        const float x = b->at[i][p];
        int32_t first = (int32_t)x;
        first -= x < (float)first;
        weight[i][1] = x - (float)first;
        weight[i][0] = 1.0f - weight[i][1];
        for (int32_t t = 0; t < 2; t++) {
            const bool inside = first + t >= 0 && first + t < size;
            kept[i][t] = inside ? UINT32_MAX : 0;
            offset[i][t] = inside ? (first + t) * step_i : 0;
        }
    }
    edges->position[e] = (int32_t)p;
    for (int t = 0; t < 4; t++) {
        edges->weight[t][e] = weight[0][t % 2] * weight[1][t / 2];
        edges->offset[t][e] = offset[0][t % 2] + offset[1][t / 2];
        edges->kept[t][e] = kept[0][t % 2] & kept[1][t / 2];
    }
}

static void sample_edges(const grid_edges *edges, const float *plane, float *out, int64_t step_out)
{
    for (int64_t e = 0; e < edges->count; e++) {
        float product[4];
        for (int t = 0; t < 4; t++) {
            uint32_t bits;
            float value;
            memcpy(&bits, plane + edges->offset[t][e], sizeof bits);
            bits &= edges->kept[t][e];
            memcpy(&value, &bits, sizeof value);
            product[t] = value * edges->weight[t][e];
        }
        out[edges->position[e] * step_out] = ((product[0] + product[1]) + product[2]) + product[3];
    }
}

static void sample_planes(const grid_work *work, int64_t n, int64_t d, int64_t h, int64_t w, int64_t count)
{
    const taper_volume *x = &work->x, *y = &work->y;
    const int64_t *strides = work->grid_strides;
    grid_block b;
    grid_edges edges;
    place_block(work, (const float *)work->grid + n * strides[0] + d * strides[1] + h * strides[2] + w * strides[3],
                strides[3], strides[4], count, &b);
    (work->mode == NEAREST ? weigh_nearest : weigh_block)(work, count, &b);
    int64_t beyond = 0;
    edges.count = 0;
    for (int64_t p = 0; p < count; p++) {
        beyond += !b.inside[p];
        if (!b.inside[p] && work->mode != NEAREST && fabsf(b.at[0][p]) < (float)MOST_SIZE &&
            fabsf(b.at[1][p]) < (float)MOST_SIZE && !is_far(work, b.at[0][p], b.at[1][p])) {
            add_edge(work, &b, p, &edges);
            b.inside[p] = true; // the position needs no further work
        }
    }
    const int64_t step_out = y->stride[2], first = n * y->stride_n + d * y->stride[0] + h * y->stride[1] + w * step_out;
    const int64_t to_right = x->size[2] > 1 ? x->stride[2] : 0, to_below = x->size[1] > 1 ? x->stride[1] : 0;
    for (int64_t c = 0; c < x->c; c++) {
        const float *plane = (const float *)work->in + n * x->stride_n + c * x->stride_c;
        const float *right = plane + to_right, *below = plane + to_below, *across = below + to_right;
        float *out = (float *)work->out + first + c * y->stride_c;
        for (int64_t p = 0; p < count && work->mode == NEAREST; p++, out += step_out) {
            *out = plane[b.offset[p]];
        }
        if (work->mode == NEAREST) {
            continue;
        }
        for (int64_t p = 0; p < count && beyond < count; p++) {
            const int32_t at = b.offset[p];
            out[p * step_out] =
                ((plane[at] * b.weight[0][p] + right[at] * b.weight[1][p]) + below[at] * b.weight[2][p]) +
                across[at] * b.weight[3][p];
        }
        sample_edges(&edges, plane, out, step_out);
    }
    for (int64_t p = 0; p < count && beyond > 0; p++) {
        if (b.inside[p]) {
            continue;
        }
        if (!is_far(work, b.at[0][p], b.at[1][p])) {
            sample_at(work, n, d, h, w + p);
            continue;
        }
        float *const out = (float *)work->out + first + p * step_out;
        for (int64_t c = 0; c < x->c; c++) {
            out[c * y->stride_c] = 0.0f;
        }
    }
}

// Returns true if sample_planes can compute the call.
static bool has_planes(const grid_work *work)
{
    const taper_volume *x = &work->x;
    // Positions are contiguous, or there are so few channels that finding the taps takes most of the time.
    const bool side_by_side = work->y.stride[2] == 1 || x->c < 40;
    return work->dtype == TAPER_F32 && (!work->volume || work->mode == NEAREST) && work->mode != BICUBIC &&
           (work->padding != REFLECTION || !work->volume) && side_by_side && x->size[1] >= 1 && x->size[2] >= 1 &&
           x->size[0] < MOST_SIZE && x->size[1] < MOST_SIZE && x->size[2] < MOST_SIZE && x->stride[0] >= 0 &&
           x->stride[1] >= 0 && x->stride[2] >= 0 && x->stride[0] <= INT32_MAX && x->stride[1] <= INT32_MAX &&
           x->stride[2] <= INT32_MAX &&
           x->stride[0] * (x->size[0] - 1) + x->stride[1] * (x->size[1] - 1) + x->stride[2] * (x->size[2] - 1) <=
               INT32_MAX;
}

#endif
